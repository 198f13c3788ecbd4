"""Faces of zones, which rods and the vertices of other zones touch.

What touches is a ball about a place x: of a rod of its radius, of a vertex of none. It touches the place y of the faces
that is nearest to x, which is the mean of the face's corners with the shares w_c. So the opposite force acts on the
corners by the same shares: both forces act at one place, and no moment is left. The gap is the distance of x from y,
negative below the surface, less the radius.

Faces are flat, and forces that jump as something slides over an edge would leave no rest. So normals go over from
corner to corner, where they are the means of the faces that meet there without a sharp edge between them, and y is the
place whose normal leads to x: x − y is along it, and both forces are on one line. Round sharp edges, and at the rim of
what is known of the surface, y is the nearest place, and the normal along x − y, or the face's own where that says
nothing.

Pairs are measured where free flight takes both; where the normal has turned by more than 60° since the step began,
something has passed an edge or the whole zone, and all is measured where it was then.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import SPLINE, ZONE
from sennit.compilation import inlined, kernel, merged
from sennit.contact.kernels.curves import discrete_at, place_in, radius_at, spline_at, thinner_in
from sennit.contact.kernels.outline import widest_margin
from sennit.contact.kernels.put import put
from sennit.contact.kernels.rod_shape import BESIDE, BETWEEN, DEEPER, KNOT
from sennit.contact.kernels.rods import is_tied
from sennit.contact.kernels.skins import frame_of
from sennit.geometry.kernels.algebra import add3, cross3, dot3, mat_vec, put3, row3, scale3, sub3
from sennit.geometry.kernels.triangles import FACE, closest_on_triangle

_TURNED = 0.5
"""Cosine of the angle between normals at the start and at free flight from which on the start counts."""
_SAME = 1e-9
"""Part of a distance by which two faces are equally near."""
_ON_EDGE = 1e-6
"""Distance from an edge over the size of the face below which the direction to it says nothing."""
_BELOW = 0.7
"""Part of its distance from an edge by which a place must be below the face to be inside of the zone."""
_REFINED = 5
"""Steps of Newton's method for a place's foot on a face."""
_FOCUS = 1e-3
"""Part of the square of a face's size that must be left of its area at a place's distance."""
_ON_FACE = 1e-9
"""Share of a corner below which a place is beyond the edge that faces it."""
_WALK = 8
"""Faces on which a foot is looked for."""
_CLOSE = 0.1
"""Part of a face's size by which a foot may be farther than twice the nearest place."""
_PROBES = 4
"""Parts of a span at whose ends its distance is looked at."""
_NARROWER = 8
"""How often the part with the least distance is narrowed by the golden section."""
_GOLDEN = 0.6180339887498949


# ------------------------------------------------------------------------------------------------------ where they are


@inlined
def corner_at(f, c, frame, scene, q):
    """Where a corner of face f is for `q`, in a frame (origin and rotation)."""
    faces, (origin, m) = scene.touch.faces, frame
    i = faces.corner[f, c]
    x = (faces.rest[f, c, 0], faces.rest[f, c, 1], faces.rest[f, c, 2])
    if i >= 0:
        o = scene.touch.skins.dof[i]
        x = (x[0] + q[o], x[1] + q[o + 1], x[2] + q[o + 2])
    return add3(origin, mat_vec(m, x))


@kernel
def put_faces(target, scene, q, quat, before):
    """Where the corners of all faces are for `q` and the attitudes `quat`, into `target`."""
    faces = scene.touch.faces
    for f in range(faces.face.size):
        frame = frame_of(faces.corner[f, 0], scene, q, quat, before)
        for c in range(3):
            x = corner_at(f, c, frame, scene, q)
            for a in range(3):
                target[f, c, a] = x[a]


@kernel
def put_normals(target, corners, faces):
    """The normals at the corners of all faces, means of their fans by areas, into `target`."""
    for g in range(target.shape[0]):
        target[g, 0] = target[g, 1] = target[g, 2] = 0.0
    for f in range(faces.face.size):
        n = cross3(side_of(corners, f, 1), side_of(corners, f, 2))
        for c in range(3):
            for a in range(3):
                target[faces.fan[f, c], a] += n[a]
    for g in range(target.shape[0]):
        n = row3(target, g)
        put3(target, g, scale3(1.0 / math.sqrt(max(dot3(n, n), 1e-300)), n))


@merged
def place_faces(scene):
    """Faces of zones where the step begins and where free flight ends it; in statics both are at the iterate."""
    touch = scene.touch
    faces, soft = touch.faces, touch.soft
    if faces.face.size == 0:
        return
    put_faces(faces.place, scene, scene.trial.q_base, scene.rigids.quat_base, False)
    if scene.settings.static[0] == 1:
        put_faces(faces.place_before, scene, scene.trial.q_base, scene.rigids.quat_base, False)
    else:
        put_faces(faces.place_before, scene, scene.motion.q, scene.rigids.quat, True)
    put_normals(touch.fans.normal, faces.place, faces)
    put_normals(touch.fans.normal_before, faces.place_before, faces)
    for z in range(soft.zone.size):
        for a in range(3):
            soft.low[z, a], soft.high[z, a] = math.inf, -math.inf
        for f in range(soft.first_face[z], soft.first_face[z] + soft.faces[z]):
            for c in range(3):
                for a in range(3):
                    x, y = faces.place[f, c, a], faces.place_before[f, c, a]
                    soft.low[z, a] = min(soft.low[z, a], x, y)
                    soft.high[z, a] = max(soft.high[z, a], x, y)
            measure_face(f, faces)


@inlined
def side_of(corners, f, c):
    """From the first corner of face f to another one."""
    return (
        corners[f, c, 0] - corners[f, 0, 0], corners[f, c, 1] - corners[f, 0, 1], corners[f, c, 2] - corners[f, 0, 2],
    )  # fmt: skip


@kernel
def measure_face(f, faces):
    """How far a face reaches from its first corner, at both ends of the step."""
    largest = 0.0
    for c in range(1, 3):
        a, b = side_of(faces.place, f, c), side_of(faces.place_before, f, c)
        largest = max(largest, dot3(a, a), dot3(b, b))
    faces.reach[f] = math.sqrt(largest)


@inlined
def shift_on_face(f, shares, scene):
    """How far the world moves a place of face f in the step, m."""
    i, q, quat = scene.touch.faces.corner[f, 0], scene.trial.q_base, scene.rigids.quat_base
    out = (0.0, 0.0, 0.0)
    if scene.touch.skins.point[i] < 0 or scene.settings.static[0] == 1:
        return out
    after, before = frame_of(i, scene, q, quat, False), frame_of(i, scene, q, quat, True)
    for c in range(3):
        way = sub3(corner_at(f, c, after, scene, q), corner_at(f, c, before, scene, q))
        out = add3(out, scale3(shares[c], way))
    return out


# --------------------------------------------------------------------------------------------------------- the nearest


@kernel
def nearest_flat(corners, faces, begin, count, x):
    """The face nearest to a place, of `count` from `begin` on, whose corners are given: its row (-1: there is none),
    shares of its second and third corner, the signed distance, and the normal.

    Of faces that are equally near, as on both sides of an edge, that counts which x is most squarely above or below:
    on which side of the surface x is, it tells rightly. What is beside an edge rather than below it is outside: the
    face beyond it may be one that the scene does not hold.
    """
    face, second, third, best, side = -1, 0.0, 0.0, math.inf, 0.0
    normal, way, edge = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), False
    for f in range(begin, begin + count):
        d = (x[0] - corners[f, 0, 0], x[1] - corners[f, 0, 1], x[2] - corners[f, 0, 2])
        far = best + faces.reach[f]
        if dot3(d, d) > far * far * (1.0 + _SAME):
            continue
        square, v, w, feature = closest_on_triangle(corners, f, x[0], x[1], x[2])
        distance = math.sqrt(square)
        if face >= 0 and distance > best * (1.0 + _SAME):
            continue
        ab, ac = side_of(corners, f, 1), side_of(corners, f, 2)
        n = cross3(ab, ac)
        n = scale3(1.0 / math.sqrt(max(dot3(n, n), 1e-300)), n)
        off = sub3(d, add3(scale3(v, ab), scale3(w, ac)))
        height = dot3(n, off)
        if face < 0 or distance < best * (1.0 - _SAME) or abs(height) > abs(side):
            face, second, third, side = f, v, w, height
            normal, way, edge = n, off, feature != FACE and distance > _ON_EDGE * faces.reach[f]
            best = min(best, distance)
    sign = -1.0 if side < 0.0 and not (edge and abs(side) < _BELOW * best) else 1.0
    if edge:
        normal = scale3(sign / math.sqrt(dot3(way, way)), way)
    return face, second, third, sign * best, normal[0], normal[1], normal[2]


@kernel
def foot_on_face(corners, normals, faces, f, v, w, x):
    """Where the line through x along the normals of face f, which go over from corner to corner, meets it: shares of
    its second and third corner, the distance, and the normal there; begun at v and w. A distance that is not finite:
    there is no such line.
    """
    ab, ac = side_of(corners, f, 1), side_of(corners, f, 2)
    n = row3(normals, faces.fan[f, 0])
    nb, nc = sub3(row3(normals, faces.fan[f, 1]), n), sub3(row3(normals, faces.fan[f, 2]), n)
    from_first = (x[0] - corners[f, 0, 0], x[1] - corners[f, 0, 1], x[2] - corners[f, 0, 2])
    mean = add3(n, add3(scale3(v, nb), scale3(w, nc)))
    d = dot3(mean, sub3(from_first, add3(scale3(v, ab), scale3(w, ac)))) / max(dot3(mean, mean), 1e-300)
    for _ in range(_REFINED):
        left = sub3(sub3(from_first, add3(scale3(v, ab), scale3(w, ac))), scale3(d, mean))
        a, b = add3(ab, scale3(d, nb)), add3(ac, scale3(d, nc))
        across = cross3(a, b)
        volume = dot3(across, mean)
        if not volume > _FOCUS * faces.reach[f] * faces.reach[f]:
            return v, w, math.inf, mean
        v += dot3(cross3(left, b), mean) / volume
        w += dot3(cross3(a, left), mean) / volume
        d += dot3(across, left) / volume
        mean = add3(n, add3(scale3(v, nb), scale3(w, nc)))
    size = math.sqrt(dot3(mean, mean))
    return v, w, d * size, scale3(1.0 / size, mean)


@inlined
def edge_passed(v, w):
    """Which edge of a face a place is beyond, by the corner that faces it; -1: it is on the face."""
    least, edge = -_ON_FACE, -1
    if 1.0 - v - w < least:
        least, edge = 1.0 - v - w, 0
    if v < least:
        least, edge = v, 1
    if w < least:
        edge = 2
    return edge


@kernel
def nearest_face(corners, normals, faces, begin, count, x):
    """`nearest_flat` with normals that do not jump at edges, but at sharp ones: the foot of x is looked for along them,
    from the nearest face on from face to face.
    """
    face, second, third, flat, n0, n1, n2 = nearest_flat(corners, faces, begin, count, x)
    f, v, w = face, second, third
    for _ in range(_WALK):
        if f < 0:
            break
        v, w, distance, n = foot_on_face(corners, normals, faces, f, v, w, x)
        if not abs(distance) <= 2.0 * abs(flat) + _CLOSE * faces.reach[f]:
            break
        edge = edge_passed(v, w)
        if edge < 0:
            return f, v, w, distance, n[0], n[1], n[2]
        f, v, w = faces.beside[f, edge], 1.0 / 3.0, 1.0 / 3.0
    return face, second, third, flat, n0, n1, n2


@kernel
def nearest_at(corners, normals, z, x, touch):
    """`nearest_face` of zone z."""
    return nearest_face(corners, normals, touch.faces, touch.soft.first_face[z], touch.soft.faces[z], x)


@kernel
def place_on_face(corners, f, second, third):
    """The place of a face with shares of its second and third corner."""
    return add3(
        (corners[f, 0, 0], corners[f, 0, 1], corners[f, 0, 2]),
        add3(scale3(second, side_of(corners, f, 1)), scale3(third, side_of(corners, f, 2))),
    )


@inlined
def note_face(i, contacts, f, second, third):
    """Contact i is on face f, with these shares."""
    contacts.second_shape[i] = f
    contacts.shares[i, 0] = 1.0 - second - third
    contacts.shares[i, 1], contacts.shares[i, 2] = second, third


@inlined
def is_near(f, distance, gap, limit, radius, faces):
    """Whether what is as far as that from face f is looked at: not if it is deeper than the face is long, for then it
    is on the far side of what the scene holds of the zone.
    """
    return gap <= limit and distance >= -(radius + faces.reach[f])


@inlined
def is_near_zone(x, z, soft, wider):
    """Whether a place is within the box of a zone's faces, widened."""
    return (
        soft.low[z, 0] - wider <= x[0] <= soft.high[z, 0] + wider
        and soft.low[z, 1] - wider <= x[1] <= soft.high[z, 1] + wider
        and soft.low[z, 2] - wider <= x[2] <= soft.high[z, 2] + wider
    )


# ---------------------------------------------------------------------------------------------------------------- rods


@inlined
def meets_zone(low, high, i, z, soft, wider):
    """Whether a box of a rod meets that of a zone's faces, widened."""
    return (
        low[i, 0] <= soft.high[z, 0] + wider
        and soft.low[z, 0] - wider <= high[i, 0]
        and low[i, 1] <= soft.high[z, 1] + wider
        and soft.low[z, 1] - wider <= high[i, 1]
        and low[i, 2] <= soft.high[z, 2] + wider
        and soft.low[z, 2] - wider <= high[i, 2]
    )


@inlined
def height_over(touch, z, row, t):
    """Distance of a place of a span from zone z, where the step begins; more by what the rod is thinner there."""
    spans = touch.search.spans
    d = nearest_at(touch.faces.place_before, touch.fans.normal_before, z, place_in(spans.curve, row, t), touch)[3]
    return d + thinner_in(spans, row, t)


@kernel
def lowest_within(touch, z, row, ends, deep, limit):
    """Place t within a span that is nearer to zone z than both `ends` are, by `deep`, and than `limit`; -1: none."""
    best, found = min(ends[0], ends[1]) - deep, -1.0
    for i in range(1, _PROBES):
        t = i / _PROBES
        d = height_over(touch, z, row, t)
        if d < best and d < limit:
            best, found = d, t
    if found < 0.0:
        return found
    begin, end = found - 1.0 / _PROBES, found + 1.0 / _PROBES
    left, right = end - _GOLDEN * (end - begin), begin + _GOLDEN * (end - begin)
    first, last = height_over(touch, z, row, left), height_over(touch, z, row, right)
    for _ in range(_NARROWER):
        if first < last:
            end, right, last = right, left, first
            left = end - _GOLDEN * (end - begin)
            first = height_over(touch, z, row, left)
        else:
            begin, left, first = left, right, last
            right = begin + _GOLDEN * (end - begin)
            last = height_over(touch, z, row, right)
    t, d = (left, first) if first < last else (right, last)
    return t if d < best else found


@kernel
def touch_at(touch, pair, e, t, way, limit, contacts, count):
    """Add the contact of place t of span e of a rod with a zone, if it is closer than `limit`: how many then.

    `pair`: rod, zone, law, and whether there are ties at both.
    """
    rods, soft = touch.search.rods, touch.soft
    rod, z, law, tied = pair
    last = rods.spans[rod] - 1  # the end of the rod has no span of its own
    row, here = rods.first_span[rod] + min(e, last), t + (e - min(e, last))
    x = place_in(touch.search.spans.curve, row, here)
    radius = rods.radius[rod] - thinner_in(touch.search.spans, row, here)
    f, second, third, d, n0, n1, n2 = nearest_at(touch.faces.place_before, touch.fans.normal_before, z, x, touch)
    gap, u, normal = d - radius, e + t, (n0, n1, n2)
    if f < 0 or not is_near(f, d, gap, limit, radius, touch.faces):
        return count
    if tied > 0 and is_tied(touch.ties, rods, rods.collider[rod], rod, u, soft.collider[z], -1, 0.0):
        return count
    places = sub3(x, scale3(radius, normal)), place_on_face(touch.faces.place_before, f, second, third)
    put(
        contacts, count, (rods.kind[rod], ZONE), (rods.row[rod], soft.zone[z]), (2 * e + way, 0), f, law, 1, (u, 0.0),
        places, normal, gap,
    )  # fmt: skip
    if count < contacts.gap.size:
        note_face(count, contacts, f, second, third)
    return count + 1


@kernel
def touch_along(touch, pair, limit, wider, contacts, count):
    """All contacts of a rod with a zone whose boxes meet, at the start of the step: at its knots, and between two of
    them where it is nearer; never two in a span, but in statics (see `rod_shape`).
    """
    search = touch.search
    rods, spans = search.rods, search.spans
    rod, z = pair[0], pair[1]
    first, radius, last = rods.first_span[rod], rods.radius[rod], rods.spans[rod] - 1
    closed = rods.closed[rod] == 1
    known, covered, begun = False, False, False  # begun: the first knot of a ring may touch
    for e in range(last + 1):
        row = first + e
        if not meets_zone(spans.low, spans.high, row, z, touch.soft, wider):
            if known and not covered:
                count = touch_at(touch, pair, e, 0.0, KNOT, limit, contacts, count)
            known, covered = False, False
            continue
        ends = height_over(touch, z, row, 0.0), height_over(touch, z, row, 1.0)
        rests = spans.rests[row]
        deep = DEEPER * radius if rests < 2 else -math.inf
        t = lowest_within(touch, z, row, ends, deep, limit + radius)
        if rests > 0 or (not covered and not 0.0 <= t < BESIDE):
            if closed and e == 0:
                begun = True  # a minimum in the last span may be beside it
            else:
                count = touch_at(touch, pair, e, 0.0, KNOT, limit, contacts, count)
        if t >= 0.0:
            count = touch_at(touch, pair, e, t, BETWEEN, limit, contacts, count)
        known, covered = True, t > 1.0 - BESIDE and rests == 0
    if closed:
        if begun and not covered:
            count = touch_at(touch, pair, 0, 0.0, KNOT, limit, contacts, count)
    elif known and not covered:
        count = touch_at(touch, pair, last + 1, 0.0, KNOT, limit, contacts, count)
    return count


@kernel
def measure_on_zone(splines, discretes, touch, z, q_flown, contacts, begin, end):
    """Measure contacts of rods with zone z at free flight, but for those whose normals turn too far."""
    for i in range(begin, end):
        rod, u = contacts.first[i], contacts.first_at[i]
        if contacts.first_kind[i] == SPLINE:
            x, radius = spline_at(splines.rods, rod, q_flown, u)[0], radius_at(splines, rod, u)
        else:
            x, radius = discrete_at(discretes.rods, rod, q_flown, u)[0], radius_at(discretes, rod, u)
        f, second, third, d, n0, n1, n2 = nearest_at(touch.faces.place, touch.fans.normal, z, x, touch)
        normal = (n0, n1, n2)
        if dot3(normal, row3(contacts.normal, i)) > _TURNED:
            note_face(i, contacts, f, second, third)
            put3(contacts.first_place, i, sub3(x, scale3(radius, normal)))
            put3(contacts.second_place, i, place_on_face(touch.faces.place, f, second, third))
            put3(contacts.normal, i, normal)
            contacts.gap[i] = d - radius
            contacts.at_start[i] = 0


@kernel
def rod_skin(splines, discretes, touch, q_flown, contacts, count):
    """Add all contacts of rods with zones to the `count` that there are: how many then. `place_faces` has placed the
    faces; see `rod_shape` for the rest.
    """
    rods, soft, laws = touch.search.rods, touch.soft, touch.laws
    extra = widest_margin(laws)
    for z in range(soft.zone.size):
        if soft.faces[z] == 0:
            continue
        for rod in range(rods.collider.size):
            if rods.collider[rod] < 0:
                continue
            law = int(touch.colliders.law[rods.collider[rod], soft.collider[z]])
            wider = 0.5 * (rods.margin[rod] + extra) + soft.margin[z]  # boxes of rods have the other half
            if law > 0 and meets_zone(rods.low, rods.high, rod, z, soft, wider):
                limit, begin = rods.margin[rod] + soft.margin[z] + laws.margin[law], count
                tied = min(touch.colliders.tied[rods.collider[rod]], touch.colliders.tied[soft.collider[z]])
                count = touch_along(touch, (rod, z, law, tied), limit, wider, contacts, count)
                measure_on_zone(
                    splines, discretes, touch, z, q_flown, contacts, begin, min(count, contacts.gap.size)
                )  # fmt: skip
    return count


# --------------------------------------------------------------------------------------------------------- other zones


@inlined
def is_finer(a, b, soft):
    """Whether zone a touches zone b at its vertices, and not the other way round."""
    return soft.grain[a] < soft.grain[b] or (soft.grain[a] == soft.grain[b] and a < b)


@kernel
def skin_skin(touch, contacts, count):
    """Add all contacts of zones with zones, vertices of the finer with faces of the other, to the `count` that there
    are: how many then.
    """
    skins, soft, faces = touch.skins, touch.soft, touch.faces
    if faces.face.size == 0:
        return count
    for i in range(skins.collider.size):
        own = skins.soft[i]
        for z in range(soft.zone.size):
            law = int(touch.colliders.law[skins.collider[i], soft.collider[z]])
            if law == 0 or z == own or not is_finer(own, z, soft):
                continue
            limit = skins.margin[i] + soft.margin[z] + touch.laws.margin[law]
            x, y = get3(skins.place, i), get3(skins.place_before, i)
            if not (is_near_zone(x, z, soft, limit) or is_near_zone(y, z, soft, limit)):
                continue
            f, second, third, gap, n0, n1, n2 = nearest_at(faces.place, touch.fans.normal, z, x, touch)
            g, other_second, other_third, begun, m0, m1, m2 = nearest_at(
                faces.place_before, touch.fans.normal_before, z, y, touch
            )
            if f < 0:
                continue
            place, normal, at_start = place_on_face(faces.place, f, second, third), (n0, n1, n2), 0
            if dot3(normal, (m0, m1, m2)) <= _TURNED:
                f, second, third, gap, normal, at_start = g, other_second, other_third, begun, (m0, m1, m2), 1
                x, place = y, place_on_face(faces.place_before, f, second, third)
            if not is_near(f, gap, gap, limit, 0.0, faces):
                continue
            put(
                contacts, count, (ZONE, ZONE), (skins.zone[i], soft.zone[z]), (2 * skins.vertex[i], 0), f, law,
                at_start, (0.0, 0.0), (x, place), normal, gap,
            )  # fmt: skip
            if count < contacts.gap.size:
                note_face(count, contacts, f, second, third)
                contacts.first_shape[count], contacts.begun[count] = i, begun
            count += 1
    return count
