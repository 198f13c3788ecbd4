"""Bodies in a cable's way: it comes to lie on boxes, cylinders and spheres, slides to the shortest path, and leaves.

A span that passes through a body deeper than a tolerance gets elements of that body; `place_path` slides them to the
shortest path; elements that the cable no longer presses on are taken out.

    sphere      one great circle; leaves when its angle of wrap is not positive
    cylinder    one helix on the side on which the span passes the axis; leaves likewise, or past the cylinder's ends
    box         a chain of edges. Planes through the span p → q cut the box in polygons; the shortest hull of p, q and
                one half of a polygon gives the first chain, which does not touch the inside

An edge between faces F and G, with the cable arriving over F (outward normal f) and leaving over G (normal g), is
pressed while the cable turns about f × g: (k_in × k_out) · (f × g) > 0. At a vertex of faces F, G and H, let a and b
be the directions from the vertex to the neighbours and d the edge FG into the box. The cable goes past the vertex when
(a + b) · d < 0: the angles from a to d and on to b then sum to more than π. Those on the two ways round a convex
vertex sum to less than 2π, so that the way over H, by the edges FH and HG, is shorter there.

The length is that of the shortest path nearby. It is continuous through touch and release; it rises no faster than the
ends and bodies move, and drops at once where the cable slips over a vertex of a box, as it would in the world.

Limits: a cylinder is endless for the cable that lies on it, so that the rims of its ends do not hold it; it lets go
when both contacts are past the same end, and a span that cuts an end's cap with its point nearest to the axis past that
end passes freely. A span with an end inside a body, or within the radius of an endless cylinder, passes through it;
so may spans between bodies that overlap. What does not fit in the room is left out.
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.elements import close_row, last_on, open_row
from sennit.constraints.cable.kernels.path import norm3, place_path, step3
from sennit.constraints.cable.kernels.kinds import CYLINDER, EDGE, SPHERE
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
from sennit.bodies.kernels.frames import get3, place_of, put3, turn_out

# Relative to a body's size: a span this deep gets elements; a point this deep is inside; an end of a span may lie this
# deep in a box that the span is to go round
DEEP, INSIDE, SUNK = 1e-7, 1e-9, 1e-6
# Slopes and turns smaller than this are rounding: without it an element at rest on a body could come and go
SLACK = 1e-9
# Elements this near to each other, relative to the body's size, or to an end of an edge, lie at a vertex
NEAR = 1e-7
# Half planes in which a way round a box is looked for
HALF_PLANES = 32
# Changes in one call; none are taken out in the last third, so that a cycle ends with a cable outside the bodies
ROUNDS, LAST_RELEASE = 48, 32


# --------------------------------------------------------------------------------------------- a body and a segment


@inlined
def turn_in(places, p, a):
    """A vector of the world, in the point's frame."""
    return (
        places.frame[p, 0] * a[0] + places.frame[p, 3] * a[1] + places.frame[p, 6] * a[2],
        places.frame[p, 1] * a[0] + places.frame[p, 4] * a[1] + places.frame[p, 7] * a[2],
        places.frame[p, 2] * a[0] + places.frame[p, 5] * a[1] + places.frame[p, 8] * a[2],
    )


@inlined
def seen_from(places, p, x):
    """A point of the world, in the point's frame."""
    return turn_in(places, p, sub3(x, place_of(places, p)))


@inlined
def size_of(o, obstacles):
    """What tolerances are relative to: the radius, or the smallest half size of a box."""
    if obstacles.shape[o] == EDGE:
        return min(obstacles.size[o, 0], obstacles.size[o, 1], obstacles.size[o, 2])
    return obstacles.size[o, 0]


@inlined
def depth_at(o, obstacles, y):
    """How deep y, a point in the body's frame, lies in obstacle o (negative: outside)."""
    if obstacles.shape[o] == EDGE:
        return min(obstacles.size[o, 0] - abs(y[0]), obstacles.size[o, 1] - abs(y[1]), obstacles.size[o, 2] - abs(y[2]))
    if obstacles.shape[o] == CYLINDER:
        return min(obstacles.size[o, 0] - math.sqrt(y[0] * y[0] + y[1] * y[1]), obstacles.size[o, 1] - abs(y[2]))
    return obstacles.size[o, 0] - norm3(y)


@kernel
def inside(o, obstacles, places, x):
    """1 if the world's point x lies inside obstacle o."""
    return 1 if depth_at(o, obstacles, seen_from(places, obstacles.point[o], x)) > INSIDE * size_of(o, obstacles) else 0


@inlined
def across(shape, y):
    """y without its part along a cylinder's axis."""
    return (y[0], y[1], 0.0) if shape == CYLINDER else y


@kernel
def segment_depth(o, obstacles, p, q):
    """How deep the segment p → q, in the body's frame, passes through obstacle o, if the cable is to go round it; or 0.

    For a box the depth in the middle of its inside part; the cylinder counts where the segment is nearest to its axis.
    """
    size, shape = size_of(o, obstacles), obstacles.shape[o]
    if shape == EDGE:
        if depth_at(o, obstacles, p) > SUNK * size or depth_at(o, obstacles, q) > SUNK * size:
            return 0.0
        first, last = 0.0, 1.0
        for a in range(3):
            h, d = obstacles.size[o, a] - DEEP * size, q[a] - p[a]
            if abs(d) < 1e-300:
                if abs(p[a]) >= h:
                    return 0.0
            else:
                t0, t1 = (-h - p[a]) / d, (h - p[a]) / d
                first, last = max(first, min(t0, t1)), min(last, max(t0, t1))
        if not last > first:
            return 0.0
        return depth_at(o, obstacles, step3(p, 0.5 * (first + last), sub3(q, p)))
    a, b, r = across(shape, p), across(shape, q), obstacles.size[o, 0]
    d = sub3(b, a)
    dd = dot3(d, d)
    outside = (r * (1.0 - INSIDE)) ** 2
    if dd == 0.0 or dot3(a, a) < outside or dot3(b, b) < outside:
        return 0.0
    t = -dot3(a, d) / dd
    depth = r - norm3(step3(a, t, d))
    past = shape == CYLINDER and abs(p[2] + t * (q[2] - p[2])) >= obstacles.size[o, 1]
    return depth if 0.0 < t < 1.0 and depth > DEEP * r and not past else 0.0


# ------------------------------------------------------------------------- edges of a box. Face: 2 axis + (1 if at +h)


@inlined
def faces_of(k):
    """Faces of edge k = 4 d + 2 [+ on axis d+1] + [+ on axis d+2], which runs along axis d."""
    d = k >> 2
    return 2 * ((d + 1) % 3) + ((k >> 1) & 1), 2 * ((d + 2) % 3) + (k & 1)


@inlined
def edge_between(f, g):
    """The edge that two faces share."""
    d = 3 - (f >> 1) - (g >> 1)
    if (d + 1) % 3 == f >> 1:
        return 4 * d + 2 * (f & 1) + (g & 1)
    return 4 * d + 2 * (g & 1) + (f & 1)


@inlined
def face_at(normals, i):
    """The face of a box whose outward normal is number i of `normals`."""
    for a in range(3):
        if abs(normals[i, a]) > 0.5:
            return 2 * a + (1 if normals[i, a] > 0.0 else 0)
    return 0


@inlined
def rub(i, o, elements, obstacles):
    """Let element i, which belongs to body o, hold the cable by friction: it divides it then."""
    elements.friction[i] = obstacles.friction[o]
    elements.divides[i] = 1 if obstacles.friction[o] > 0.0 else 0


@kernel
def put_edge(i, o, f, g, u, elements, obstacles):
    """Write into the cleared row i the edge of box o over which the cable runs from face f to face g, at u."""
    elements.kind[i], elements.carrier[i], elements.obstacle[i] = EDGE, obstacles.point[o], o
    elements.edge[i] = edge_between(f, g)
    d = 3 - (f >> 1) - (g >> 1)
    elements.mark[i, f >> 1], elements.normal[i, g >> 1] = 2.0 * (f & 1) - 1.0, 2.0 * (g & 1) - 1.0
    elements.axis[i, d] = 2.0 * obstacles.size[o, d]
    for a in range(3):
        side = elements.mark[i, a] + elements.normal[i, a] - (1.0 if a == d else 0.0)
        elements.centre[i, a] = side * obstacles.size[o, a]
    elements.on[i], elements.u[i] = 1, u
    rub(i, o, elements, obstacles)


@inlined
def turn_to(ds, dt, vs, vt):
    """Angle from (ds, dt) to (vs, vt), clockwise, from 0 (but for rounding) to 3π/2."""
    turn = math.atan2(dt * vs - ds * vt, ds * vs + dt * vt)
    return turn + 2.0 * math.pi if turn < -0.5 * math.pi else turn


@kernel
def next_corner(o, obstacles, p, q, e, w, s0, t0, ds, dt, skip, skip_p, skip_q):
    """Next corner of the hull round half a cut of box o: (its edge, or -1 for q; u; s; t).

    The cut lies in the half plane p + s e + t w, t > 0; the hull has come to (s0, t0) along (ds, dt), and the corner is
    where it turns least towards q from there.
    """
    n, length = cross3(e, w), dot3(sub3(q, p), e)
    near = INSIDE * min(obstacles.size[o, 0], obstacles.size[o, 1], obstacles.size[o, 2])
    least = turn_to(ds, dt, length - s0, -t0)
    edge, at, s_edge, t_edge = -1, 0.0, length, 0.0
    for k in range(12):
        if k == skip or k == skip_p or k == skip_q:
            continue
        d = k >> 2
        a, b = (d + 1) % 3, (d + 2) % 3
        ya = obstacles.size[o, a] * (1.0 if (k >> 1) & 1 else -1.0) - p[a]
        yb = obstacles.size[o, b] * (1.0 if k & 1 else -1.0) - p[b]
        h = obstacles.size[o, d]
        # side of the plane on which the edge's two ends lie
        flat = n[a] * ya + n[b] * yb - n[d] * p[d]
        g0, g1 = flat - n[d] * h, flat + n[d] * h
        if g0 * g1 > 0.0 or g0 == g1:
            continue
        u = g0 / (g0 - g1)
        yd = (2.0 * u - 1.0) * h - p[d]
        s = e[a] * ya + e[b] * yb + e[d] * yd
        t = w[a] * ya + w[b] * yb + w[d] * yd
        vs, vt = s - s0, t - t0
        if t < near or vs * vs + vt * vt < near * near or (s - length) ** 2 + t * t < near * near:
            continue
        turn = turn_to(ds, dt, vs, vt)
        if turn < least:
            least, edge, at, s_edge, t_edge = turn, k, u, s, t
    return edge, at, s_edge, t_edge


@kernel
def insert_edges(c, at, o, p, q, skip_p, skip_q, cables, elements, obstacles):
    """Put the shortest chain of edges round box o, of those that lie in a plane through p → q, in front of row `at`.

    Returns the number of edges; 0: no room.
    """
    e = sub3(q, p)
    e = scale3(1.0 / norm3(e), e)
    u = cross3(e, (1.0, 0.0, 0.0) if abs(e[0]) < 0.7 else (0.0, 1.0, 0.0))
    u = scale3(1.0 / norm3(u), u)
    v = cross3(e, u)
    best, best_angle, edges = math.inf, 0.0, 0
    for m in range(HALF_PLANES + 1):
        # turned a little, so that the planes of a segment along an axis hold no edge of the box; the best comes again
        chosen = m == HALF_PLANES
        if chosen and (edges == 0 or cables.count[c] + edges > cables.room[c]):
            return 0
        angle = best_angle if chosen else 2.0 * math.pi * (m + 0.3) / HALF_PLANES
        w = step3(scale3(math.cos(angle), u), math.sin(angle), v)
        s, t, ds, dt, skip, length, corners = 0.0, 0.0, -1.0, 0.0, -1, 0.0, 0
        while corners < 8:
            skip, place, s1, t1 = next_corner(o, obstacles, p, q, e, w, s, t, ds, dt, skip, skip_p, skip_q)
            ds, dt, s, t = s1 - s, t1 - t, s1, t1
            length += math.sqrt(ds * ds + dt * dt)
            if skip < 0:
                break
            if chosen:
                # the hull turns about w × e; n_f × n_g is along the edge's axis, with the sign of both faces
                f, g = faces_of(skip)
                if (1.0 if (f ^ g) & 1 == 0 else -1.0) * cross3(w, e)[skip >> 2] < 0.0:
                    f, g = g, f
                open_row(c, at + corners, cables, elements)
                put_edge(at + corners, o, f, g, place, elements, obstacles)
            corners += 1
        if corners > 0 and skip < 0 and length < best:
            best, best_angle, edges = length, angle, corners
    return edges


@kernel
def insert_round(c, at, o, p, q, cables, elements, obstacles):
    """Put sphere or cylinder o in front of row `at`; 0: no room."""
    if cables.count[c] + 1 > cables.room[c]:
        return 0
    shape, r = obstacles.shape[o], obstacles.size[o, 0]
    a, b = across(shape, p), across(shape, q)
    d = sub3(b, a)
    d = scale3(1.0 / norm3(d), d)
    sense, axis = 1.0, cross3(a, b)
    if shape == CYLINDER:
        sense, axis = -1.0 if axis[2] < 0.0 else 1.0, (0.0, 0.0, 1.0)
    elif norm3(axis) < 1e-12 * r * r:  # through the centre: any way round is as short
        axis = cross3(d, (1.0, 0.0, 0.0) if abs(d[0]) < 0.7 else (0.0, 1.0, 0.0))
    axis = scale3(1.0 / norm3(axis), axis)
    # At the mark m the cable runs along the segment: sense · axis × m = d. The angle from a to the mark less that from
    # a to its tangent point is the angle of wrap before the mark
    mark = scale3(sense, cross3(d, axis))
    foot, da, db = abs(dot3(a, mark)), max(r, norm3(a)), max(r, norm3(b))
    open_row(c, at, cables, elements)
    elements.kind[at], elements.carrier[at], elements.obstacle[at] = shape, obstacles.point[o], o
    elements.edge[at] = -1
    put3(elements.axis, at, axis)
    put3(elements.mark, at, mark)
    elements.radius[at], elements.sense[at], elements.half_length[at] = (
        r,
        sense,
        obstacles.size[o, 1] if shape == CYLINDER else 0.0,
    )
    elements.on[at] = 1
    rub(at, o, elements, obstacles)
    # the mark is where the segment comes nearest to the axis
    aside = sub3(b, a)
    elements.u[at] = p[2] - dot3(a, aside) / dot3(aside, aside) * (q[2] - p[2]) if shape == CYLINDER else 0.0
    elements.wrap_before[at] = math.acos(foot / da) - math.acos(r / da)
    elements.wrap_after[at] = math.acos(foot / db) - math.acos(r / db)
    return 1


@kernel
def insert_deepest(c, cables, elements, obstacles, places):
    """Put the body that a span passes through deepest between the span's elements; 0: none."""
    deepest, at, end, body, first = 0.0, -1, -1, -1, cables.first[c]
    for i in range(first, first + cables.count[c] - 1):
        j = elements.following[i]
        if elements.on[i] == 0:
            continue
        x, y = get3(elements.leave, i), get3(elements.arrive, j)
        for o in range(cables.first_obstacle[c], cables.first_obstacle[c] + cables.obstacles[c]):
            # a span that starts or ends on a round body is tangent to it
            if obstacles.shape[o] != EDGE and (elements.obstacle[i] == o or elements.obstacle[j] == o):
                continue
            point = obstacles.point[o]
            depth = segment_depth(o, obstacles, seen_from(places, point, x), seen_from(places, point, y))
            if depth > deepest:
                deepest, at, end, body = depth, i, j, o
    if body < 0:
        return 0
    point = obstacles.point[body]
    x, y = get3(elements.leave, at), get3(elements.arrive, end)
    # elements in between that the cable does not touch now stay in order along it
    row, along = at + 1, sub3(y, x)
    middle = dot3(sub3(place_of(places, point), x), along)
    while row < end:
        carrier = elements.carrier[row]
        centre = add3(place_of(places, carrier), turn_out(places, carrier, get3(elements.centre, row)))
        if dot3(sub3(centre, x), along) > middle:
            break
        row += 1
    p, q = seen_from(places, point, x), seen_from(places, point, y)
    if obstacles.shape[body] != EDGE:
        return insert_round(c, row, body, p, q, cables, elements, obstacles)
    skip_p = elements.edge[at] if elements.obstacle[at] == body else -1
    skip_q = elements.edge[end] if elements.obstacle[end] == body else -1
    return insert_edges(c, row, body, p, q, skip_p, skip_q, cables, elements, obstacles)


# ------------------------------------------------------------------------------------------------------------ release


@inlined
def swallows(i, x, elements, places):
    """1 if the world's point x lies within the radius of the round element i: there is no tangent from it."""
    y = across(elements.kind[i], seen_from(places, elements.carrier[i], x))
    least = elements.radius[i] * (1.0 - 2.0 * INSIDE)
    return 0 if dot3(y, y) >= least * least else 1


@kernel
def round_vertex(c, i, last, cables, elements, obstacles, places):
    """Lead the cable the shorter way round the vertex where its elements i … last lie; 0: it is there already.

    Let a and b be the directions to the neighbours, in a frame whose axes are the vertex's three edges: the body is the
    octant of positive numbers. The ways by edge m, or by edges m and n, are as long as their angles; an arc from a to
    edge m stays outside where a's other numbers are not both positive.
    """
    o, f, g = elements.obstacle[i], face_at(elements.mark, i), face_at(elements.normal, i)
    h = 2 * (3 - (f >> 1) - (g >> 1)) + (1 if elements.u[i] > 0.5 else 0)
    corner = ((f & 1) << (f >> 1)) | ((g & 1) << (g >> 1)) | ((h & 1) << (h >> 1))
    before, after, point = last_on(c, i, cables, elements), elements.following[last], elements.carrier[i]
    x = get3(elements.arrive, i)
    a = turn_in(places, point, sub3(get3(elements.leave, before), x))
    b = turn_in(places, point, sub3(get3(elements.arrive, after), x))
    a, b = scale3(1.0 / max(norm3(a), 1e-300), a), scale3(1.0 / max(norm3(b), 1e-300), b)
    way = (1.0 - 2.0 * (corner & 1), 1.0 - 2.0 * ((corner >> 1) & 1), 1.0 - 2.0 * (corner >> 2))
    a8, b8 = (way[0] * a[0], way[1] * a[1], way[2] * a[2]), (way[0] * b[0], way[1] * b[1], way[2] * b[2])
    start, end, best, m_best, n_best = 0.0, 1.0, math.inf, -1, -1
    for m in range(3):
        # the part of a + t (b − a) where this number is positive
        if a8[m] <= SLACK and b8[m] <= SLACK:
            start = 1.0
        elif a8[m] <= SLACK:
            start = max(start, (SLACK - a8[m]) / (b8[m] - a8[m]))
        elif b8[m] <= SLACK:
            end = min(end, (a8[m] - SLACK) / (a8[m] - b8[m]))
        for n in range(3):
            if min(a8[(m + 1) % 3], a8[(m + 2) % 3]) <= SLACK and min(b8[(n + 1) % 3], b8[(n + 2) % 3]) <= SLACK:
                angle = math.acos(max(-1.0, min(1.0, a8[m]))) + math.acos(max(-1.0, min(1.0, b8[n])))
                angle += 0.0 if m == n else 0.5 * math.pi
                if angle < best:
                    best, m_best, n_best = angle, m, n
    first_edge, last_edge, rest = -1, -1, 0
    if end > start and m_best >= 0:
        # faces from which, over which and to which it runs
        m, n = m_best, n_best
        f, g = 2 * ((m + 1) % 3), 2 * ((m + 2) % 3)
        if m != n:
            f, g = 2 * n, 2 * (3 - m - n)
        elif cross3(a, b)[m] * way[(m + 1) % 3] * way[(m + 2) % 3] > 0.0:
            f, g = g, f
        f, g, h = f | ((corner >> (f >> 1)) & 1), g | ((corner >> (g >> 1)) & 1), 2 * m | ((corner >> m) & 1)
        first_edge = edge_between(f, g)
        last_edge = first_edge if m == n else edge_between(g, h)
        rest = 1 if m == n else 2
        if last == i + rest - 1 and elements.edge[i] == first_edge and elements.edge[last] == last_edge:
            return 0
    # a neighbour on the same edge serves
    put_last = rest > 0 and not (elements.obstacle[after] == o and elements.edge[after] == last_edge)
    put_first = rest > 0 and not (elements.obstacle[before] == o and elements.edge[before] == first_edge)
    if rest == 1:
        put_first, put_last = put_first and put_last, False
    if cables.count[c] == cables.room[c] and last == i and put_first and put_last:
        return 0
    for k in range(last, i - 1, -1):
        if elements.on[k] != 0:
            close_row(c, k, cables, elements)
    if put_last:
        open_row(c, i, cables, elements)
        put_edge(i, o, g, h, 0.9 if f & 1 else 0.1, elements, obstacles)
    if put_first:
        open_row(c, i, cables, elements)
        put_edge(i, o, f, g, 0.9 if (corner >> m_best) & 1 else 0.1, elements, obstacles)
    return 1


@kernel
def lifts_off(c, i, cables, elements, obstacles, places):
    """How strongly the cable pulls away from element i; 0: it presses."""
    j, k, carrier = last_on(c, i, cables, elements), elements.following[i], elements.carrier[i]
    if elements.kind[i] == EDGE:
        if elements.obstacle[k] == elements.obstacle[i] and elements.edge[k] == elements.edge[i]:
            return 1.0  # one of two on the same edge is enough
        if min(elements.span[j], elements.span[i]) < NEAR * size_of(elements.obstacle[i], obstacles):
            return 0.0
        axis = turn_out(places, carrier, cross3(get3(elements.mark, i), get3(elements.normal, i)))
        turn = dot3(cross3(get3(elements.along, j), get3(elements.along, i)), axis)
        return -turn if turn < -SLACK else 0.0
    wrap = elements.arc[i] if elements.kind[i] == SPHERE else elements.wrap_before[i] + elements.wrap_after[i]
    lost = max(
        swallows(i, get3(elements.leave, j), elements, places), swallows(i, get3(elements.arrive, k), elements, places)
    )
    if elements.kind[i] == CYLINDER:
        z0, z1 = (
            seen_from(places, carrier, get3(elements.arrive, i))[2],
            seen_from(places, carrier, get3(elements.leave, i))[2],
        )
        if min(z0, z1) > elements.half_length[i] or max(z0, z1) < -elements.half_length[i]:
            lost = 1
    return 1.0 if lost or not wrap > 0.0 else 0.0


@kernel
def release_one(c, cables, elements, obstacles, places):
    """Take out the element that the cable pulls away from most, or else lead it round one vertex; 0: neither."""
    worst, at, first = 0.0, -1, cables.first[c]
    for i in range(first, first + cables.count[c]):
        if elements.obstacle[i] >= 0:
            pull = lifts_off(c, i, cables, elements, obstacles, places)
            if pull > worst:
                worst, at = pull, i
    if at >= 0:
        close_row(c, at, cables, elements)
        return 1
    i = first
    while i < first + cables.count[c]:
        o, last = elements.obstacle[i], i
        if o >= 0 and elements.kind[i] == EDGE and not NEAR < elements.u[i] < 1.0 - NEAR:
            k = elements.following[i]
            while elements.obstacle[k] == o and elements.span[last] < NEAR * size_of(o, obstacles):
                last, k = k, elements.following[k]
            d = turn_out(places, elements.carrier[i], get3(elements.axis, i))
            j = last_on(c, i, cables, elements)
            slope = dot3(sub3(get3(elements.along, j), get3(elements.along, i)), d) / norm3(d)
            past = (slope if elements.u[i] < 0.5 else -slope) > SLACK
            if (last > i or past) and round_vertex(c, i, last, cables, elements, obstacles, places) != 0:
                return 1
        i = last + 1
    return 0


@kernel
def update_wraps(c, cables, elements, obstacles, places):
    """Let cable c come to lie on its obstacles and leave them, for the carriers' places in PX; 1 if elements changed.

    Called once at the beginning of a step; the path is to be evaluated afterwards.
    """
    if cables.obstacles[c] == 0:
        return 0
    for turn in range(ROUNDS):
        place_path(c, cables, elements, places)
        released = turn < LAST_RELEASE and release_one(c, cables, elements, obstacles, places) != 0
        if not released and insert_deepest(c, cables, elements, obstacles, places) == 0:
            return min(turn, 1)
    return 1
