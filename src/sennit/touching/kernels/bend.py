"""What contacts that press add to a static solve's matrix: how their forces turn as things move, and anchors.

The force λ ∇g of a contact with the gap g changes with the degrees of freedom: −λ ∂²g/∂q² belongs to the stiffness.
Without it a ball on a ball would seem to rest as safely as one between two.

A rod's place is x(u): u is fixed where it touches at a knot or at the middle of a span, and free, so that g is least,
where it touches between. With d the distance of x − y from the other side, n and H its first and second derivatives,
b_i how x − y moves with q_i, and indices for derivatives,

    ∂²g/∂q_i∂q_j = b_i·H b_j − (g_ui, g_vi) [g_uu g_uv; g_uv g_vv]⁻¹ (g_uj, g_vj),
    g_ui = x′·H b_i + n·∂x′/∂q_i,  g_uu = x′·H x′ + n·x″,  g_uv = −x′·H y′,  and likewise for y(v) of the other rod.

H is (1 − n nᵀ)/|x − y| between two rods. Of a shape it comes by differences of its normal. If a rigid body carries it,
x − y moves by δ − ω × c and to second order by −ω × δ + ½ ω × (ω × c), c from the body's centre to x.
Points of two rigid bodies are found again with either of them moved a little: the differences of their rows.

A pearl is at x(σ) with σ among the q: b_σ = ∂x/∂σ, u is never free, and n·∂²x/∂q_i∂q_j is added, which only σ has.

Anchors, γ J Jᵀ with −γ J g on the right side: see `solve.kernels.curvature`. What contacts alone hold would leave a
singular matrix.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import DISCRETE, RIGID, SLIDER, SPLINE, ZONE
from sennit.bodies.rod.kernels.point import SLIDE
from sennit.compilation import inlined, kernel, merged
from sennit.contact.kernels.curves import discrete_at, spline_at
from sennit.contact.kernels.pairs import touch_shapes
from sennit.contact.kernels.rows import SIDE, put_basis
from sennit.contact.kernels.skin_faces import nearest_at
from sennit.contact.kernels.skins import frame_of, vertex_at
from sennit.geometry.kernels.algebra import add3, cross3, dot3, mat_vec, put3, quat_exp, quat_matrix, scale3, sub3
from sennit.geometry.kernels.distances import closest
from sennit.touching.kernels.find import note_diagonal, pearl_radius

ANCHOR = 10.0
"""Anchor of a contact over the least one of a constraint's row."""
ON_SURFACE = 1e-5
"""Radii of a rod by which its place is moved to see how a shape's normal turns."""
LENGTH, ANGLE = 1e-6, 1e-6
"""By which a rigid body is moved to see how its contacts change: over the scene's size, and rad."""
FLAT = 0.02
"""Radii of a rod by which a gap must grow over a span, twice, for its least place to be taken as free."""
PART = 1e-3
"""Part of its diagonal that must be left of the second derivatives by both places."""


@inlined
def rods_of(kind, scene):
    """The rods of a kind; of pearls those that they sit on."""
    return scene.discretes.rods if kind == DISCRETE else scene.splines.rods


@inlined
def rod_behind(kind, body, scene):
    """The number of a side's rod: its own, or that under a pearl."""
    return scene.sliders.rod[body] if kind == SLIDER else body


@inlined
def is_rod(kind):
    """Whether a side of a contact is a rod."""
    return kind == SPLINE or kind == DISCRETE


@inlined
def curve_at(kind, body, u, scene):
    """r, r′ and r″ of a rod, or of that under a pearl, at u."""
    if kind == DISCRETE:
        return discrete_at(scene.discretes.rods, body, scene.trial.q, u)
    return spline_at(scene.splines.rods, rod_behind(kind, body, scene), scene.trial.q, u)


@inlined
def is_inside(kind, body, u, scene):
    """Whether u is not at an end of its rod, where it can't move on."""
    rods = rods_of(kind, scene)
    return rods.closed[body] == 1 or 0.0 < u < rods.spans[body]


@merged
def put_rod_moves(k, side, n, scene):
    """How the place of a contact on a rod or a pearl, and its slope along the normal n, change with what moves it."""
    touch = scene.touch
    contacts, rows, moves, slopes = touch.contacts, touch.rows, touch.moves, touch.slopes
    kind = contacts.first_kind[k] if side == 0 else contacts.second_kind[k]
    own = contacts.first[k] if side == 0 else contacts.second[k]
    u = contacts.first_at[k] if side == 0 else contacts.second_at[k]
    rods, sign = rods_of(kind, scene), 1.0 if side == 0 else -1.0
    body = rod_behind(kind, own, scene)
    first = put_basis(rows.basis, k, u, rods, body, kind != DISCRETE)
    edge = min(max(math.floor(u), 0), rods.spans[body] - 1) - first
    for i in range(4):
        value, slope = rows.basis[k, i], rows.basis[k, 4 + i]
        if kind == DISCRETE:  # edges are straight: N′ is that of the smooth curve
            slope = -1.0 if i == edge else (1.0 if i == edge + 1 else 0.0)
        for c in range(3):
            row = SIDE * side + 4 * i + c
            moves[row, c] = sign * value
            slopes[row, side] = sign * slope * n[c]
    if kind == SLIDER:
        along = spline_at(rods, body, scene.trial.q, u)[1]
        put3(moves, SIDE * side + SLIDE, scale3(sign * scene.sliders.scale[own], along))


@inlined
def radius_at(k, scene):
    """Radius of the rod or the pearl on the first side of contact k, m; of a zone the length of its edges."""
    contacts = scene.touch.contacts
    if contacts.first_kind[k] == SLIDER:
        return pearl_radius(k, False, scene)
    if contacts.first_kind[k] == ZONE:
        return scene.touch.skins.edge[contacts.first_shape[k]]
    return rods_of(contacts.first_kind[k], scene).radius[contacts.first[k]]


@kernel
def put_hessian(k, n, x, scene):
    """Second derivatives of the distance of x from the other side into `hessian`, symmetric."""
    touch = scene.touch
    contacts, H = touch.contacts, touch.hessian
    if is_rod(contacts.second_kind[k]) or contacts.second_kind[k] == SLIDER:
        y = curve_at(contacts.second_kind[k], contacts.second[k], contacts.second_at[k], scene)[0]
        d = sub3(x, y)
        per = 1.0 / max(math.sqrt(dot3(d, d)), 1e-300)
        for a in range(3):
            for b in range(3):
                H[a, b] = per * ((1.0 if a == b else 0.0) - n[a] * n[b])
        return
    shapes, s = touch.shapes.shapes, contacts.second_shape[k]
    soft, step = contacts.second_kind[k] == ZONE, ON_SURFACE * radius_at(k, scene)
    for a in range(3):
        shift = (step if a == 0 else 0.0, step if a == 1 else 0.0, step if a == 2 else 0.0)
        p, m = add3(x, shift), sub3(x, shift)
        if soft:
            z, faces, normals = touch.faces.soft[s], touch.faces.place, touch.fans.normal
            _, _, _, _, p0, p1, p2 = nearest_at(faces, normals, z, p, touch)
            _, _, _, _, m0, m1, m2 = nearest_at(faces, normals, z, m, touch)
        else:
            _, _, _, _, p0, p1, p2 = closest(shapes, s, p[0], p[1], p[2])
            _, _, _, _, m0, m1, m2 = closest(shapes, s, m[0], m[1], m[2])
        H[a, 0], H[a, 1], H[a, 2] = (p0 - m0) / (2.0 * step), (p1 - m1) / (2.0 * step), (p2 - m2) / (2.0 * step)
    for a in range(3):
        for b in range(a):
            H[a, b] = H[b, a] = 0.5 * (H[a, b] + H[b, a])


@inlined
def carried_face(k, touch):
    """Whether a rigid body carries the zone on the second side of contact k."""
    return touch.skins.carrier[touch.faces.corner[touch.contacts.second_shape[k], 0]] >= 0


@inlined
def turned_by(H, x):
    """H x."""
    return (
        H[0, 0] * x[0] + H[0, 1] * x[1] + H[0, 2] * x[2],
        H[1, 0] * x[0] + H[1, 1] * x[1] + H[1, 2] * x[2],
        H[2, 0] * x[0] + H[2, 1] * x[1] + H[2, 2] * x[2],
    )


@inlined
def unit(a):
    """A coordinate axis."""
    return 1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0


@inlined
def add_to(values, at, i, j, x):
    """Add x to the entry (i, j) of a symmetric block, of which the lower triangle is kept."""
    if i >= j:
        values[at + i * (i + 1) // 2 + j] += x


@kernel
def add_sliding(k, at, side, pull, n, scene):
    """Add −λ n·∂²x/∂q∂q of a pearl's place x, which is linear in its control points but not in σ."""
    contacts, sliders, values = scene.touch.contacts, scene.sliders, scene.matrix.values
    own = contacts.first[k] if side == 0 else contacts.second[k]
    u = contacts.first_at[k] if side == 0 else contacts.second_at[k]
    rods, rod, basis = scene.splines.rods, sliders.rod[own], scene.touch.rows.basis
    per, row = pull * sliders.scale[own] * (1.0 if side == 0 else -1.0), SIDE * side + SLIDE
    put_basis(basis, k, u, rods, rod, True)
    for i in range(4):
        for c in range(3):
            add_to(values, at, row, SIDE * side + 4 * i + c, -per * basis[k, 4 + i] * n[c])
    bend = spline_at(rods, rod, scene.trial.q, u)[2]
    add_to(values, at, row, row, -per * sliders.scale[own] * dot3(n, bend))


@kernel
def add_turning(k, at, begin, pull, n, arm, scene):
    """What a rigid body that carries the other side adds by its rotation; `arm`: from its centre to the rod's place,
    `begin`: the first of its entries.
    """
    moves, values = scene.touch.moves, scene.matrix.values
    for j in range(3):
        row = begin + 3 + j
        for i in range(begin + 3):
            # n·(−ω × δ), with δ the way of the rod's place less that of the body's centre
            way = get3(moves, i)
            add_to(values, at, row, i, pull * dot3(n, cross3(unit(j), way)))
        for i in range(j + 1):
            second = 0.5 * (n[i] * arm[j] + n[j] * arm[i]) - (dot3(n, arm) if i == j else 0.0)
            add_to(values, at, row, begin + 3 + i, -pull * second)


@merged
def put_face_moves(k, x, scene):
    """How the place of a contact's second side, on a face of a zone, moves with what moves it. Returns the arm of x
    from the centre of the body that carries the zone.
    """
    touch = scene.touch
    moves, faces, f = touch.moves, touch.faces, touch.contacts.second_shape[k]
    i = faces.corner[f, 0]
    origin, m = frame_of(i, scene, scene.trial.q, scene.rigids.quat_trial, False)
    arm = sub3(x, origin)
    for a in range(3):
        for c in range(3):
            if faces.corner[f, c] >= 0:
                put3(moves, SIDE + 3 * c + a, scale3(-touch.contacts.shares[k, c], mat_vec(m, unit(a))))
        if touch.skins.carrier[i] >= 0:
            put3(moves, SIDE + 9 + a, scale3(-1.0, unit(a)))
            put3(moves, SIDE + 12 + a, cross3(arm, unit(a)))
    return arm


@kernel
def bend_rod(k, s, pull, scene):
    """Add −λ ∂²g/∂q² of a contact of a rod or a pearl, λ = `pull`."""
    touch = scene.touch
    contacts, moves, slopes, H = touch.contacts, touch.moves, touch.slopes, touch.hessian
    values, at = scene.matrix.values, touch.slots.bend[s]
    n = get3(contacts.normal, k)
    first, second = contacts.first_kind[k], contacts.second_kind[k]
    x, dx, ddx = curve_at(first, contacts.first[k], contacts.first_at[k], scene)
    for i in range(2 * SIDE):
        slopes[i, 0] = slopes[i, 1] = 0.0
        for c in range(3):
            moves[i, c] = 0.0
    put_rod_moves(k, 0, n, scene)
    put_hessian(k, n, x, scene)
    between = contacts.first_feature[k] & 1 == 1 and first != SLIDER
    free, other_free = between and is_inside(first, contacts.first[k], contacts.first_at[k], scene), False
    dy = ddy = arm = (0.0, 0.0, 0.0)
    if is_rod(second):
        put_rod_moves(k, 1, n, scene)
        _, dy, ddy = curve_at(second, contacts.second[k], contacts.second_at[k], scene)
        free = is_inside(first, contacts.first[k], contacts.first_at[k], scene)
        other_free = is_inside(second, contacts.second[k], contacts.second_at[k], scene)
        if between:  # a foot: the middle of the longer span is where it is
            one, two = rods_of(first, scene), rods_of(second, scene)
            a, b = contacts.first[k], contacts.second[k]
            sampled = one.length[a] / one.spans[a] >= two.length[b] / two.spans[b]
            free, other_free = free and not sampled, other_free and sampled
    elif second == SLIDER:
        put_rod_moves(k, 1, n, scene)
    elif second == RIGID:
        o = scene.rigids.dof[contacts.second[k]]
        arm = sub3(x, (scene.trial.q[o], scene.trial.q[o + 1], scene.trial.q[o + 2]))
        for a in range(3):
            put3(moves, SIDE + a, scale3(-1.0, unit(a)))
            put3(moves, SIDE + 3 + a, cross3(arm, unit(a)))
            slopes[SIDE + 3 + a, 0] = dot3(dx, cross3(unit(a), n))
    elif second == ZONE:
        arm = put_face_moves(k, x, scene)
        if carried_face(k, touch):
            for a in range(3):
                slopes[SIDE + 12 + a, 0] = dot3(dx, cross3(unit(a), n))
    uu, vv = dot3(dx, turned_by(H, dx)) + dot3(n, ddx), dot3(dy, turned_by(H, dy)) - dot3(n, ddy)
    uv = -dot3(dx, turned_by(H, dy))
    least = FLAT * radius_at(k, scene)
    free, other_free = free and uu > least, other_free and vv > least
    iu = iv = iuv = 0.0  # the inverse
    if free and other_free:
        left = uu * vv - uv * uv
        if left > PART * uu * vv:
            iu, iv, iuv = vv / left, uu / left, -uv / left
    elif free:
        iu = 1.0 / uu
    elif other_free:
        iv = 1.0 / vv
    for i in range(2 * SIDE):
        b = turned_by(H, get3(moves, i))
        slopes[i, 0] += dot3(dx, b)
        slopes[i, 1] -= dot3(dy, b)
    for i in range(2 * SIDE):
        b = turned_by(H, get3(moves, i))
        su, sv = iu * slopes[i, 0] + iuv * slopes[i, 1], iuv * slopes[i, 0] + iv * slopes[i, 1]
        for j in range(i + 1):
            second_derivative = dot3(b, get3(moves, j)) - su * slopes[j, 0] - sv * slopes[j, 1]
            values[at + i * (i + 1) // 2 + j] -= pull * second_derivative
    if second == RIGID:
        add_turning(k, at, SIDE, pull, n, arm, scene)
    if second == ZONE and carried_face(k, touch):
        add_turning(k, at, SIDE + 9, pull, n, arm, scene)
    if first == SLIDER:
        add_sliding(k, at, 0, pull, n, scene)
    if second == SLIDER:
        add_sliding(k, at, 1, pull, n, scene)


# ------------------------------------------------------------------------------------------------------------- zones


@kernel
def bend_skin(k, s, pull, scene):
    """Add −λ ∂²g/∂q² of a contact of a zone's vertex x = c + R (X + u), λ = `pull`.

    To second order x moves by ω × R δu and by ½ ω × (ω × (x − c)) as the body turns that carries the zone.
    """
    touch = scene.touch
    contacts, moves, H, i = touch.contacts, touch.moves, touch.hessian, touch.contacts.first_shape[k]
    values, at, n = scene.matrix.values, touch.slots.bend[s], get3(contacts.normal, k)
    q, quat = scene.trial.q, scene.rigids.quat_trial
    x, (origin, m) = vertex_at(i, scene, q, quat, False), frame_of(i, scene, q, quat, False)
    own = sub3(x, origin)
    for j in range(2 * SIDE):
        put3(moves, j, (0.0, 0.0, 0.0))
    for a in range(3):
        put3(moves, a, mat_vec(m, unit(a)))
        if touch.skins.carrier[i] >= 0:
            put3(moves, 3 + a, unit(a))
            put3(moves, 6 + a, cross3(unit(a), own))
    put_hessian(k, n, x, scene)
    second, arm = contacts.second_kind[k], (0.0, 0.0, 0.0)
    if second == SLIDER:
        put_rod_moves(k, 1, n, scene)
    elif second == RIGID:
        o = scene.rigids.dof[contacts.second[k]]
        arm = sub3(x, (q[o], q[o + 1], q[o + 2]))
        for a in range(3):
            put3(moves, SIDE + a, scale3(-1.0, unit(a)))
            put3(moves, SIDE + 3 + a, cross3(arm, unit(a)))
    elif second == ZONE:
        arm = put_face_moves(k, x, scene)
    for a in range(2 * SIDE):
        b = turned_by(H, get3(moves, a))
        for j in range(a + 1):
            values[at + a * (a + 1) // 2 + j] -= pull * dot3(b, get3(moves, j))
    if touch.skins.carrier[i] >= 0:
        for j in range(3):
            for a in range(3):
                add_to(values, at, 6 + j, a, -pull * dot3(n, cross3(unit(j), get3(moves, a))))
            for a in range(j + 1):
                turned = 0.5 * (n[a] * own[j] + n[j] * own[a]) - (dot3(n, own) if a == j else 0.0)
                add_to(values, at, 6 + j, 6 + a, -pull * turned)
    if second == RIGID:
        add_turning(k, at, SIDE, pull, n, arm, scene)
    if second == ZONE and carried_face(k, touch):
        add_turning(k, at, SIDE + 9, pull, n, arm, scene)
    if second == SLIDER:
        add_sliding(k, at, 1, pull, n, scene)


# ------------------------------------------------------------------------------------------------- two rigid bodies


@inlined
def centre_of(body, scene):
    """Centre of mass of a rigid body; of the world, the origin."""
    if body < 0:
        return 0.0, 0.0, 0.0
    o = scene.rigids.dof[body]
    return scene.trial.q[o], scene.trial.q[o + 1], scene.trial.q[o + 2]


@inlined
def move_shape(shapes, s, centre, entry, amount):
    """Move a shape with one of six degrees of freedom of what carries it, whose centre is given."""
    if entry < 3:
        shapes.place[s, entry] += amount
        return
    m = quat_matrix(quat_exp(scale3(amount, unit(entry - 3))))
    put3(shapes.place, s, add3(centre, mat_vec(m, sub3(get3(shapes.place, s), centre))))
    for b in range(3):
        column = mat_vec(m, (shapes.turn[s, 0, b], shapes.turn[s, 1, b], shapes.turn[s, 2, b]))
        shapes.turn[s, 0, b], shapes.turn[s, 1, b], shapes.turn[s, 2, b] = column


@kernel
def bend_rigids(k, s, pull, scene):
    """Add −λ ∂²g/∂q² of a contact of a rigid body with another one or with the world."""
    touch = scene.touch
    contacts, shapes, found, slopes = touch.contacts, touch.shapes.shapes, touch.manifold, touch.slopes
    values, at = scene.matrix.values, touch.slots.bend[s]
    a, b = contacts.first_shape[k], contacts.second_shape[k]
    first, second = contacts.first[k], contacts.second[k]
    margin = touch.shapes.margin[a] + touch.shapes.margin[b] + touch.laws.margin[contacts.law[k]]
    for side in range(2):
        shape, body = (a, first) if side == 0 else (b, second)
        if body < 0:
            continue
        for entry in range(6):
            step = LENGTH * scene.trial.size[0] if entry < 3 else ANGLE
            seen = 0
            for way in range(2):
                amount = step if way == 0 else -step
                place, centre = get3(shapes.place, shape), centre_of(body, scene)
                t0, t1, t2 = get3(shapes.turn[shape], 0), get3(shapes.turn[shape], 1), get3(shapes.turn[shape], 2)
                move_shape(shapes, shape, centre, entry, amount)
                count = touch_shapes(shapes, a, b, margin, found)
                put3(shapes.place, shape, place)
                put3(shapes.turn[shape], 0, t0)
                put3(shapes.turn[shape], 1, t1)
                put3(shapes.turn[shape], 2, t2)
                for p in range(count):
                    if found.feature[p] != contacts.first_feature[k]:
                        continue
                    seen += 1
                    n, x = get3(found.normal, p), get3(found.second_place, p)
                    for other in range(2):
                        turned, sign = (first, 1.0) if other == 0 else (second, -1.0)
                        c = centre_of(turned, scene)
                        if other == side and entry < 3:
                            c = add3(c, scale3(amount, unit(entry)))
                        m = cross3(sub3(x, c), n)
                        for i in range(3):
                            slopes[SIDE * other + i, way] = sign * n[i] if turned >= 0 else 0.0
                            slopes[SIDE * other + 3 + i, way] = sign * m[i] if turned >= 0 else 0.0
                    break
            if seen < 2:
                continue  # another corner or edge comes into play: nothing is known of it
            j = SIDE * side + entry
            for other in range(2):
                for i in range(6):
                    row = SIDE * other + i
                    half = -0.25 * pull * (slopes[row, 0] - slopes[row, 1]) / step
                    add_to(values, at, row, j, half)  # the mean of both halves: a diagonal entry takes both
                    add_to(values, at, j, row, half)


# ------------------------------------------------------------------------------------------------------------ anchors


@merged
def add_anchor(k, s, scene):
    """Hold a contact that presses by a stiffness of the size of what it moves."""
    touch = scene.touch
    rows, values, at = touch.rows, scene.matrix.values, touch.slots.bend[s]
    square = stiff = 0.0
    for i in range(2 * SIDE):
        dof = rows.index[k, i]
        if dof >= 0:
            x = rows.jacobian[k, 0, i] * rows.jacobian[k, 0, i]
            square += x
            stiff += x * max(touch.diagonal[dof], 0.0)
    gamma = max(stiff / (square * square), ANCHOR * scene.step.anchor[0])
    rows.anchor[k] = gamma
    # What sticks is held along the surface, too.
    sticks = rows.stuck[k] == 1 and touch.laws.friction[touch.contacts.law[k]] > 0.0
    rows.anchor_along[k] = gamma if sticks else 0.0
    for row in range(3 if sticks else 1):
        for i in range(2 * SIDE):
            dof = rows.index[k, i]
            if dof >= 0:
                pull = gamma * rows.jacobian[k, row, i]
                scene.trial.force[dof] -= pull * rows.offset[k, row]
                for j in range(i + 1):
                    values[at + i * (i + 1) // 2 + j] += pull * rows.jacobian[k, row, j]


@kernel
def bend_all(scene):
    """Add second derivatives and anchors of all contacts that pressed in the iteration before."""
    touch = scene.touch
    contacts, rows, slots = touch.contacts, touch.rows, touch.slots
    note_diagonal(scene)
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k < 0:
            continue
        rows.anchor[k] = rows.anchor_along[k] = 0.0
        if rows.force[k, 0] > 0.0 and rows.lever[k] == 0.0:
            if touch.state.straight[0] == 1:
                pass
            elif contacts.first_kind[k] == RIGID:
                bend_rigids(k, s, rows.force[k, 0], scene)
            elif contacts.first_kind[k] == ZONE:
                bend_skin(k, s, rows.force[k, 0], scene)
            else:
                bend_rod(k, s, rows.force[k, 0], scene)
            add_anchor(k, s, scene)
