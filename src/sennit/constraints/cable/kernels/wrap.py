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

from sennit.constraints.cable.kernels.path import get3, norm3, place_path, set3, step3
from sennit.constraints.cable.kernels.tables import (
    ALONG, ARC, AXIS, BETA_IN, BETA_OUT, CARRIER, CENTRE, COUNT, CYLINDER, EDGE, EDGE_NUMBER, FIRST, HALF, KIND, MARK,
    NEXT, NORMAL, OBSTACLE, OBSTACLE0, OBSTACLES, OB_POINT, OB_SHAPE, OB_SIZE, ON, RADIUS, ROOM, SENSE, SPAN, SPHERE, U,
    X_IN, X_OUT,
)  # fmt: skip
from sennit.compilation import allocating, inlined, kernel
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
from sennit.point.kernels.points import R, place_of, turn_out

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
def turn_in(PX, p, a):
    """A vector of the world, in the point's frame."""
    return (
        PX[p, R] * a[0] + PX[p, R + 3] * a[1] + PX[p, R + 6] * a[2],
        PX[p, R + 1] * a[0] + PX[p, R + 4] * a[1] + PX[p, R + 7] * a[2],
        PX[p, R + 2] * a[0] + PX[p, R + 5] * a[1] + PX[p, R + 8] * a[2],
    )


@inlined
def seen_from(PX, p, x):
    """A point of the world, in the point's frame."""
    return turn_in(PX, p, sub3(x, place_of(PX, p)))


@inlined
def size_of(o, OI, OF):
    """What tolerances are relative to: the radius, or the smallest half size of a box."""
    if OI[o, OB_SHAPE] == EDGE:
        return min(OF[o, OB_SIZE], OF[o, OB_SIZE + 1], OF[o, OB_SIZE + 2])
    return OF[o, OB_SIZE]


@inlined
def depth_at(o, OI, OF, y):
    """How deep y, a point in the body's frame, lies in obstacle o (negative: outside)."""
    if OI[o, OB_SHAPE] == EDGE:
        return min(OF[o, OB_SIZE] - abs(y[0]), OF[o, OB_SIZE + 1] - abs(y[1]), OF[o, OB_SIZE + 2] - abs(y[2]))
    if OI[o, OB_SHAPE] == CYLINDER:
        return min(OF[o, OB_SIZE] - math.sqrt(y[0] * y[0] + y[1] * y[1]), OF[o, OB_SIZE + 1] - abs(y[2]))
    return OF[o, OB_SIZE] - norm3(y)


@kernel
def inside(o, OI, OF, PX, x):
    """1 if the world's point x lies inside obstacle o."""
    return 1 if depth_at(o, OI, OF, seen_from(PX, OI[o, OB_POINT], x)) > INSIDE * size_of(o, OI, OF) else 0


@inlined
def across(shape, y):
    """y without its part along a cylinder's axis."""
    return (y[0], y[1], 0.0) if shape == CYLINDER else y


@kernel
def segment_depth(o, OI, OF, p, q):
    """How deep the segment p → q, in the body's frame, passes through obstacle o, if the cable is to go round it; or 0.

    For a box the depth in the middle of its inside part; the cylinder counts where the segment is nearest to its axis.
    """
    size, shape = size_of(o, OI, OF), OI[o, OB_SHAPE]
    if shape == EDGE:
        if depth_at(o, OI, OF, p) > SUNK * size or depth_at(o, OI, OF, q) > SUNK * size:
            return 0.0
        first, last = 0.0, 1.0
        for a in range(3):
            h, d = OF[o, OB_SIZE + a] - DEEP * size, q[a] - p[a]
            if abs(d) < 1e-300:
                if abs(p[a]) >= h:
                    return 0.0
            else:
                t0, t1 = (-h - p[a]) / d, (h - p[a]) / d
                first, last = max(first, min(t0, t1)), min(last, max(t0, t1))
        if not last > first:
            return 0.0
        return depth_at(o, OI, OF, step3(p, 0.5 * (first + last), sub3(q, p)))
    a, b, r = across(shape, p), across(shape, q), OF[o, OB_SIZE]
    d = sub3(b, a)
    dd = dot3(d, d)
    outside = (r * (1.0 - INSIDE)) ** 2
    if dd == 0.0 or dot3(a, a) < outside or dot3(b, b) < outside:
        return 0.0
    t = -dot3(a, d) / dd
    depth = r - norm3(step3(a, t, d))
    past = shape == CYLINDER and abs(p[2] + t * (q[2] - p[2])) >= OF[o, OB_SIZE + 1]
    return depth if 0.0 < t < 1.0 and depth > DEEP * r and not past else 0.0


# ------------------------------------------------------------------------------------------------ rows of elements


@allocating
def open_row(c, at, CI, EI, EF, ES, EX):
    """Move the cable's rows from `at` on by one and clear that row."""
    for i in range(CI[c, FIRST] + CI[c, COUNT], at, -1):
        EI[i], EF[i], ES[i], EX[i] = EI[i - 1], EF[i - 1], ES[i - 1], EX[i - 1]
    EI[at], EF[at], ES[at], EX[at] = 0, 0.0, 0.0, 0.0
    CI[c, COUNT] += 1


@allocating
def close_row(c, at, CI, EI, EF, ES, EX):
    """Take row `at` out of the cable."""
    CI[c, COUNT] -= 1
    for i in range(at, CI[c, FIRST] + CI[c, COUNT]):
        EI[i], EF[i], ES[i], EX[i] = EI[i + 1], EF[i + 1], ES[i + 1], EX[i + 1]


@inlined
def last_on(c, i, CI, ES):
    """The element before i that the cable touches; -1: none."""
    for j in range(i - 1, CI[c, FIRST] - 1, -1):
        if ES[j, ON] != 0.0:
            return j
    return -1


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
def face_at(EF, i, column):
    """The face whose outward normal stands in that column."""
    for a in range(3):
        if abs(EF[i, column + a]) > 0.5:
            return 2 * a + (1 if EF[i, column + a] > 0.0 else 0)
    return 0


@kernel
def put_edge(i, o, f, g, u, EI, EF, ES, OI, OF):
    """Write into the cleared row i the edge of box o over which the cable runs from face f to face g, at u."""
    EI[i, KIND], EI[i, CARRIER], EI[i, OBSTACLE], EI[i, EDGE_NUMBER] = EDGE, OI[o, OB_POINT], o, edge_between(f, g)
    d = 3 - (f >> 1) - (g >> 1)
    EF[i, MARK + (f >> 1)], EF[i, NORMAL + (g >> 1)] = 2.0 * (f & 1) - 1.0, 2.0 * (g & 1) - 1.0
    EF[i, AXIS + d] = 2.0 * OF[o, OB_SIZE + d]
    for a in range(3):
        side = EF[i, MARK + a] + EF[i, NORMAL + a] - (1.0 if a == d else 0.0)
        EF[i, CENTRE + a] = side * OF[o, OB_SIZE + a]
    ES[i, ON], ES[i, U] = 1.0, u


@inlined
def turn_to(ds, dt, vs, vt):
    """Angle from (ds, dt) to (vs, vt), clockwise, from 0 (but for rounding) to 3π/2."""
    turn = math.atan2(dt * vs - ds * vt, ds * vs + dt * vt)
    return turn + 2.0 * math.pi if turn < -0.5 * math.pi else turn


@kernel
def next_corner(o, OF, p, q, e, w, s0, t0, ds, dt, skip, skip_p, skip_q):
    """Next corner of the hull round half a cut of box o: (its edge, or -1 for q; u; s; t).

    The cut lies in the half plane p + s e + t w, t > 0; the hull has come to (s0, t0) along (ds, dt), and the corner is
    where it turns least towards q from there.
    """
    n, length = cross3(e, w), dot3(sub3(q, p), e)
    near = INSIDE * min(OF[o, OB_SIZE], OF[o, OB_SIZE + 1], OF[o, OB_SIZE + 2])
    least = turn_to(ds, dt, length - s0, -t0)
    edge, at, s_edge, t_edge = -1, 0.0, length, 0.0
    for k in range(12):
        if k == skip or k == skip_p or k == skip_q:
            continue
        d = k >> 2
        a, b = (d + 1) % 3, (d + 2) % 3
        ya = OF[o, OB_SIZE + a] * (1.0 if (k >> 1) & 1 else -1.0) - p[a]
        yb = OF[o, OB_SIZE + b] * (1.0 if k & 1 else -1.0) - p[b]
        h = OF[o, OB_SIZE + d]
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
def insert_edges(c, at, o, p, q, skip_p, skip_q, CI, EI, EF, ES, EX, OI, OF):
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
        if chosen and (edges == 0 or CI[c, COUNT] + edges > CI[c, ROOM]):
            return 0
        angle = best_angle if chosen else 2.0 * math.pi * (m + 0.3) / HALF_PLANES
        w = step3(scale3(math.cos(angle), u), math.sin(angle), v)
        s, t, ds, dt, skip, length, corners = 0.0, 0.0, -1.0, 0.0, -1, 0.0, 0
        while corners < 8:
            skip, place, s1, t1 = next_corner(o, OF, p, q, e, w, s, t, ds, dt, skip, skip_p, skip_q)
            ds, dt, s, t = s1 - s, t1 - t, s1, t1
            length += math.sqrt(ds * ds + dt * dt)
            if skip < 0:
                break
            if chosen:
                # the hull turns about w × e; n_f × n_g is along the edge's axis, with the sign of both faces
                f, g = faces_of(skip)
                if (1.0 if (f ^ g) & 1 == 0 else -1.0) * cross3(w, e)[skip >> 2] < 0.0:
                    f, g = g, f
                open_row(c, at + corners, CI, EI, EF, ES, EX)
                put_edge(at + corners, o, f, g, place, EI, EF, ES, OI, OF)
            corners += 1
        if corners > 0 and skip < 0 and length < best:
            best, best_angle, edges = length, angle, corners
    return edges


@kernel
def insert_round(c, at, o, p, q, CI, EI, EF, ES, EX, OI, OF):
    """Put sphere or cylinder o in front of row `at`; 0: no room."""
    if CI[c, COUNT] + 1 > CI[c, ROOM]:
        return 0
    shape, r = OI[o, OB_SHAPE], OF[o, OB_SIZE]
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
    open_row(c, at, CI, EI, EF, ES, EX)
    EI[at, KIND], EI[at, CARRIER], EI[at, OBSTACLE], EI[at, EDGE_NUMBER] = shape, OI[o, OB_POINT], o, -1
    set3(EF, at, AXIS, axis)
    set3(EF, at, MARK, mark)
    EF[at, RADIUS], EF[at, SENSE], EF[at, HALF] = r, sense, OF[o, OB_SIZE + 1] if shape == CYLINDER else 0.0
    ES[at, ON] = 1.0
    ES[at, BETA_IN] = math.acos(foot / da) - math.acos(r / da)
    ES[at, BETA_OUT] = math.acos(foot / db) - math.acos(r / db)
    return 1


@kernel
def insert_deepest(c, CI, EI, EF, ES, EX, OI, OF, PX):
    """Put the body that a span passes through deepest between the span's elements; 0: none."""
    deepest, at, end, body, first = 0.0, -1, -1, -1, CI[c, FIRST]
    for i in range(first, first + CI[c, COUNT] - 1):
        j = int(EX[i, NEXT])
        if ES[i, ON] == 0.0:
            continue
        x, y = get3(EX, i, X_OUT), get3(EX, j, X_IN)
        for o in range(CI[c, OBSTACLE0], CI[c, OBSTACLE0] + CI[c, OBSTACLES]):
            # a span that starts or ends on a round body is tangent to it
            if OI[o, OB_SHAPE] != EDGE and (EI[i, OBSTACLE] == o or EI[j, OBSTACLE] == o):
                continue
            point = OI[o, OB_POINT]
            depth = segment_depth(o, OI, OF, seen_from(PX, point, x), seen_from(PX, point, y))
            if depth > deepest:
                deepest, at, end, body = depth, i, j, o
    if body < 0:
        return 0
    point = OI[body, OB_POINT]
    x, y = get3(EX, at, X_OUT), get3(EX, end, X_IN)
    # elements in between that the cable does not touch now stay in order along it
    row, along = at + 1, sub3(y, x)
    middle = dot3(sub3(place_of(PX, point), x), along)
    while row < end:
        carrier = EI[row, CARRIER]
        centre = add3(place_of(PX, carrier), turn_out(PX, carrier, get3(EF, row, CENTRE)))
        if dot3(sub3(centre, x), along) > middle:
            break
        row += 1
    p, q = seen_from(PX, point, x), seen_from(PX, point, y)
    if OI[body, OB_SHAPE] != EDGE:
        return insert_round(c, row, body, p, q, CI, EI, EF, ES, EX, OI, OF)
    skip_p = EI[at, EDGE_NUMBER] if EI[at, OBSTACLE] == body else -1
    skip_q = EI[end, EDGE_NUMBER] if EI[end, OBSTACLE] == body else -1
    return insert_edges(c, row, body, p, q, skip_p, skip_q, CI, EI, EF, ES, EX, OI, OF)


# ------------------------------------------------------------------------------------------------------------ release


@inlined
def swallows(i, x, EI, EF, PX):
    """1 if the world's point x lies within the radius of the round element i: there is no tangent from it."""
    y = across(EI[i, KIND], seen_from(PX, EI[i, CARRIER], x))
    least = EF[i, RADIUS] * (1.0 - 2.0 * INSIDE)
    return 0 if dot3(y, y) >= least * least else 1


@kernel
def round_vertex(c, i, last, CI, EI, EF, ES, EX, OI, OF, PX):
    """Lead the cable the shorter way round the vertex where its elements i … last lie; 0: it is there already.

    Let a and b be the directions to the neighbours, in a frame whose axes are the vertex's three edges: the body is the
    octant of positive numbers. The ways by edge m, or by edges m and n, are as long as their angles; an arc from a to
    edge m stays outside where a's other numbers are not both positive.
    """
    o, f, g = EI[i, OBSTACLE], face_at(EF, i, MARK), face_at(EF, i, NORMAL)
    h = 2 * (3 - (f >> 1) - (g >> 1)) + (1 if ES[i, U] > 0.5 else 0)
    corner = ((f & 1) << (f >> 1)) | ((g & 1) << (g >> 1)) | ((h & 1) << (h >> 1))
    before, after, point = last_on(c, i, CI, ES), int(EX[last, NEXT]), EI[i, CARRIER]
    x = get3(EX, i, X_IN)
    a, b = turn_in(PX, point, sub3(get3(EX, before, X_OUT), x)), turn_in(PX, point, sub3(get3(EX, after, X_IN), x))
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
        if last == i + rest - 1 and EI[i, EDGE_NUMBER] == first_edge and EI[last, EDGE_NUMBER] == last_edge:
            return 0
    # a neighbour on the same edge serves
    put_last = rest > 0 and not (EI[after, OBSTACLE] == o and EI[after, EDGE_NUMBER] == last_edge)
    put_first = rest > 0 and not (EI[before, OBSTACLE] == o and EI[before, EDGE_NUMBER] == first_edge)
    if rest == 1:
        put_first, put_last = put_first and put_last, False
    if CI[c, COUNT] == CI[c, ROOM] and last == i and put_first and put_last:
        return 0
    for k in range(last, i - 1, -1):
        if ES[k, ON] != 0.0:
            close_row(c, k, CI, EI, EF, ES, EX)
    if put_last:
        open_row(c, i, CI, EI, EF, ES, EX)
        put_edge(i, o, g, h, 0.9 if f & 1 else 0.1, EI, EF, ES, OI, OF)
    if put_first:
        open_row(c, i, CI, EI, EF, ES, EX)
        put_edge(i, o, f, g, 0.9 if (corner >> m_best) & 1 else 0.1, EI, EF, ES, OI, OF)
    return 1


@kernel
def lifts_off(c, i, CI, EI, EF, ES, EX, OI, OF, PX):
    """How strongly the cable pulls away from element i; 0: it presses."""
    j, k, carrier = last_on(c, i, CI, ES), int(EX[i, NEXT]), EI[i, CARRIER]
    if EI[i, KIND] == EDGE:
        if EI[k, OBSTACLE] == EI[i, OBSTACLE] and EI[k, EDGE_NUMBER] == EI[i, EDGE_NUMBER]:
            return 1.0  # one of two on the same edge is enough
        if min(EX[j, SPAN], EX[i, SPAN]) < NEAR * size_of(EI[i, OBSTACLE], OI, OF):
            return 0.0
        axis = turn_out(PX, carrier, cross3(get3(EF, i, MARK), get3(EF, i, NORMAL)))
        turn = dot3(cross3(get3(EX, j, ALONG), get3(EX, i, ALONG)), axis)
        return -turn if turn < -SLACK else 0.0
    wrap = EX[i, ARC] if EI[i, KIND] == SPHERE else ES[i, BETA_IN] + ES[i, BETA_OUT]
    lost = max(swallows(i, get3(EX, j, X_OUT), EI, EF, PX), swallows(i, get3(EX, k, X_IN), EI, EF, PX))
    if EI[i, KIND] == CYLINDER:
        z0, z1 = seen_from(PX, carrier, get3(EX, i, X_IN))[2], seen_from(PX, carrier, get3(EX, i, X_OUT))[2]
        if min(z0, z1) > EF[i, HALF] or max(z0, z1) < -EF[i, HALF]:
            lost = 1
    return 1.0 if lost or not wrap > 0.0 else 0.0


@kernel
def release_one(c, CI, EI, EF, ES, EX, OI, OF, PX):
    """Take out the element that the cable pulls away from most, or else lead it round one vertex; 0: neither."""
    worst, at, first = 0.0, -1, CI[c, FIRST]
    for i in range(first, first + CI[c, COUNT]):
        if EI[i, OBSTACLE] >= 0:
            pull = lifts_off(c, i, CI, EI, EF, ES, EX, OI, OF, PX)
            if pull > worst:
                worst, at = pull, i
    if at >= 0:
        close_row(c, at, CI, EI, EF, ES, EX)
        return 1
    i = first
    while i < first + CI[c, COUNT]:
        o, last = EI[i, OBSTACLE], i
        if o >= 0 and EI[i, KIND] == EDGE and not NEAR < ES[i, U] < 1.0 - NEAR:
            k = int(EX[i, NEXT])
            while EI[k, OBSTACLE] == o and EX[last, SPAN] < NEAR * size_of(o, OI, OF):
                last, k = k, int(EX[k, NEXT])
            d = turn_out(PX, EI[i, CARRIER], get3(EF, i, AXIS))
            j = last_on(c, i, CI, ES)
            slope = dot3(sub3(get3(EX, j, ALONG), get3(EX, i, ALONG)), d) / norm3(d)
            past = (slope if ES[i, U] < 0.5 else -slope) > SLACK
            if (last > i or past) and round_vertex(c, i, last, CI, EI, EF, ES, EX, OI, OF, PX) != 0:
                return 1
        i = last + 1
    return 0


@kernel
def update_wraps(c, CI, EI, EF, ES, EX, OI, OF, PX):
    """Let cable c come to lie on its obstacles and leave them, for the carriers' places in PX; 1 if elements changed.

    Called once at the beginning of a step; the path is to be evaluated afterwards.
    """
    if CI[c, OBSTACLES] == 0:
        return 0
    for turn in range(ROUNDS):
        place_path(c, CI, EI, EF, ES, EX, PX)
        released = turn < LAST_RELEASE and release_one(c, CI, EI, EF, ES, EX, OI, OF, PX) != 0
        if not released and insert_deepest(c, CI, EI, EF, ES, EX, OI, OF, PX) == 0:
            return min(turn, 1)
    return 1
