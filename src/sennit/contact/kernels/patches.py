"""The sides by which two convex shapes face each other along a normal, and the points where they lie over each other.

Seen along the normal n, a side is a point, a segment, four corners, a disc or a whole plane over two coordinates (u, v)
across n, with a height along n. Points of contact are corners of one side over the other side, and crossings of their
edges: the corners of the common part of both, each with the true distance of the surfaces along n there.

Rims of cylinders have no corners. Flat on something, four points of the rim stand for it, which turn with the cylinder,
so that friction finds them again; tilted by more than `_FLAT`, its lowest point and two at a third of the rim from it,
so that a coin rolls on its exact rim. On its side a cylinder has two points, the ends of its line of contact.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, tolerance
from sennit.contact.kernels.forms import LEVEL, along_axes, axis_of, out_of
from sennit.geometry.kernels.algebra import dot3
from sennit.geometry.kernels.distances import BOX, CAPSULE, CYLINDER, SPHERE

POINT = 0
SEGMENT = 1
FACE = 2
DISC = 3
ALL = 4

_FLAT = 3e-5
"""Tilt (rad) below which a rim is touched by four points of its own. The lowest point of the rim is then deeper than
these by up to 0.3 times the tilt times the radius: 1e-5 of the radius."""
_SLACK = tolerance(1e-6, 1e-5)
"""Part of the size by which a point may lie outside a side and still counts as over it: corners of equal boxes in a
stack stay where they are, whatever rounding does."""
_PARALLEL, _SHORT = tolerance(1e-9, 1e-5), tolerance(1e-20, 1e-12)
"""Sine of the angle of parallel edges; squared length, over that of a disc's radius, of an edge that crosses no rim."""
CROSSING = 1 << 12
"""Features from here on are crossings of edges."""


@inlined
def _put(found, side, i, x, e1, e2, n, label):
    found.corner[side, i, 0] = dot3(x, e1)
    found.corner[side, i, 1] = dot3(x, e2)
    found.corner[side, i, 2] = dot3(x, n)
    found.label[side, i] = label


@kernel
def lay_side(shapes, s, side, c, d, e1, e2, n, found):
    """Lay the part of a shape that faces the direction d = ±n into row `side`: (form, number of corners)."""
    kind, size = shapes.kind[s], shapes.size
    if kind == SPHERE:
        _put(
            found, side, 0, (c[0] + size[s, 0] * d[0], c[1] + size[s, 0] * d[1], c[2] + size[s, 0] * d[2]), e1, e2, n, 0
        )
        return POINT, 1
    x, y, z = along_axes(shapes, s, d)
    if kind == CAPSULE:
        r, low = size[s, 0], 1 if z >= 0.0 else 0
        across = math.sqrt(x * x + y * y)
        for i in range(2):
            # The end that lies farther back touches with its round side, not with its cap.
            k = r if i == low else r / max(across, 1e-300)
            h = r * z if i == low else 0.0
            _put(found, side, i, out_of(shapes, s, c, k * x, k * y, h + (2 * i - 1) * size[s, 1]), e1, e2, n, i)
        if across < 0.5:
            # Upright: the lower end alone.
            for k in range(3):
                found.corner[side, 0, k] = found.corner[side, low, k]
            found.label[side, 0] = low
            return POINT, 1
        return SEGMENT if abs(z) < LEVEL else POINT, 2
    if kind == BOX:
        return FACE, _lay_face(shapes, s, side, c, x, y, z, e1, e2, n, found)
    if kind == CYLINDER:
        across = math.sqrt(x * x + y * y)
        if abs(z) >= across:
            return DISC, _lay_disc(shapes, s, side, c, x, y, z, across, e1, e2, n, found)
        x, y = size[s, 0] * x / across, size[s, 0] * y / across
        for i in range(2):
            _put(found, side, i, out_of(shapes, s, c, x, y, (2 * i - 1) * size[s, 1]), e1, e2, n, 16 + i)
        return SEGMENT, 2
    found.map[side, 0] = dot3(c, n)
    return ALL, 0


@kernel
def _lay_face(shapes, s, side, c, x, y, z, e1, e2, n, found):
    """The face of a box that faces (x, y, z) in its own frame most."""
    size = shapes.size
    k, most, sign = 2, abs(z), 1 if z >= 0.0 else -1
    if abs(y) > most:
        k, most, sign = 1, abs(y), 1 if y >= 0.0 else -1
    if abs(x) > most:
        k, most, sign = 0, abs(x), 1 if x >= 0.0 else -1
    i, j = (k + 1) % 3, (k + 2) % 3
    for m in range(4):
        si = 1 if m == 0 or m == 3 else -1
        sj = 1 if m < 2 else -1
        a = si if i == 0 else (sj if j == 0 else sign)
        b = si if i == 1 else (sj if j == 1 else sign)
        g = si if i == 2 else (sj if j == 2 else sign)
        label = (a > 0) + 2 * (b > 0) + 4 * (g > 0)
        _put(found, side, m, out_of(shapes, s, c, a * size[s, 0], b * size[s, 1], g * size[s, 2]), e1, e2, n, label)
    _lay_map(shapes, s, side, out_of(shapes, s, c, sign * size[s, 0] if k == 0 else 0.0,
                                     sign * size[s, 1] if k == 1 else 0.0, sign * size[s, 2] if k == 2 else 0.0),
             i, j, size[s, i], size[s, j], e1, e2, n, found)  # fmt: skip
    return 4


@inlined
def _lay_map(shapes, s, side, middle, i, j, a, b, e1, e2, n, found):
    """What leads from (u, v) to the coordinates along axes i and j of a flat side about `middle`: see `_on_side`."""
    X, Y = axis_of(shapes, s, i), axis_of(shapes, s, j)
    u1, u2, v1, v2 = dot3(X, e1), dot3(Y, e1), dot3(X, e2), dot3(Y, e2)
    k = 1.0 / (u1 * v2 - u2 * v1)
    M = found.map
    M[side, 0], M[side, 1], M[side, 2] = dot3(middle, e1), dot3(middle, e2), dot3(middle, n)
    M[side, 3], M[side, 4], M[side, 5], M[side, 6] = k * v2, -k * u2, -k * v1, k * u1
    M[side, 7], M[side, 8], M[side, 9], M[side, 10] = a, b, dot3(X, n), dot3(Y, n)


@kernel
def _lay_disc(shapes, s, side, c, x, y, z, across, e1, e2, n, found):
    """The end of a cylinder that faces (x, y, z) in its own frame."""
    r, h = shapes.size[s, 0], shapes.size[s, 1]
    end = 1 if z >= 0.0 else 0
    middle = out_of(shapes, s, c, 0.0, 0.0, h if end == 1 else -h)
    _lay_map(shapes, s, side, middle, 0, 1, r, r, e1, e2, n, found)
    height = h if end == 1 else -h
    if across < _FLAT:
        for i in range(4):
            a = r if i == 0 else (-r if i == 2 else 0.0)
            b = r if i == 1 else (-r if i == 3 else 0.0)
            _put(found, side, i, out_of(shapes, s, c, a, b, height), e1, e2, n, 4 * end + i)
        return 4
    x, y = r * x / across, r * y / across
    third = math.sqrt(0.75)
    for i in range(3):
        sine = 0.0 if i == 0 else (third if i == 1 else -third)
        cosine = 1.0 if i == 0 else -0.5
        p = out_of(shapes, s, c, cosine * x - sine * y, sine * x + cosine * y, height)
        _put(found, side, i, p, e1, e2, n, 8 + 4 * end + i)
    return 3


@inlined
def _on_side(found, side, u, v):
    """Coordinates of a face's or a disc's own below (u, v), from its middle, m."""
    M = found.map
    du, dv = u - M[side, 0], v - M[side, 1]
    return M[side, 3] * du + M[side, 4] * dv, M[side, 5] * du + M[side, 6] * dv


@inlined
def _height(found, form, side, u, v):
    """Height of a side over (u, v), m."""
    M = found.map
    if form == ALL:
        return M[side, 0]
    a, b = _on_side(found, side, u, v)
    return M[side, 2] + M[side, 9] * a + M[side, 10] * b


@inlined
def _is_over(found, form, side, u, v, slack):
    """Whether (u, v) lies over a side that has an area."""
    if form == ALL:
        return True
    a, b = _on_side(found, side, u, v)
    if form == DISC:
        r = found.map[side, 7] + slack
        return a * a + b * b <= r * r
    return abs(a) <= found.map[side, 7] + slack and abs(b) <= found.map[side, 8] + slack


@inlined
def put_point(found, count, u, v, height, below, e1, e2, n, feature):
    """Add the point over (u, v) with the heights of both sides: the new number of points."""
    if count >= len(found.gap):
        return count
    for k in range(3):
        across = u * e1[k] + v * e2[k]
        found.first_place[count, k] = across + height * n[k]
        found.second_place[count, k] = across + below * n[k]
        found.normal[count, k] = n[k]
    found.gap[count] = height - below
    found.feature[count] = feature
    return count + 1


@kernel
def overlay(form_a, count_a, form_b, count_b, e1, e2, n, scale, margin, found):
    """Points of contact of the two sides that were laid, closer than `margin`: how many."""
    corner, label = found.corner, found.label
    slack = _SLACK() * scale
    count = over_a = over_b = 0
    for i in range(count_a):
        u, v, h = corner[0, i, 0], corner[0, i, 1], corner[0, i, 2]
        if form_b >= FACE and _is_over(found, form_b, 1, u, v, slack):
            over_a += 1
            below = _height(found, form_b, 1, u, v)
            if h - below < margin:
                count = put_point(found, count, u, v, h, below, e1, e2, n, label[0, i])
    for i in range(count_b):
        u, v, h = corner[1, i, 0], corner[1, i, 1], corner[1, i, 2]
        if form_a >= FACE and _is_over(found, form_a, 0, u, v, slack):
            over_b += 1
            above = _height(found, form_a, 0, u, v)
            if above - h < margin:
                count = put_point(found, count, u, v, above, h, e1, e2, n, 64 + label[1, i])
    if (over_a == count_a and form_a != DISC) or (over_b == count_b and form_b != DISC) or form_b == ALL:
        return count  # one lies wholly over the other: no edge crosses
    edges_a = 1 if form_a == SEGMENT else (4 if form_a == FACE else 0)
    edges_b = 1 if form_b == SEGMENT else (4 if form_b == FACE else 0)
    for i in range(edges_a):
        for j in range(edges_b):
            count = _cross(found, count, i, (i + 1) % count_a, j, (j + 1) % count_b, e1, e2, n, margin)
    if form_b == DISC:
        for i in range(edges_a):
            count = _pierce(found, count, 0, i, (i + 1) % count_a, e1, e2, n, margin)
    if form_a == DISC:
        for j in range(edges_b):
            count = _pierce(found, count, 1, j, (j + 1) % count_b, e1, e2, n, margin)
    if form_a == DISC and form_b == DISC:
        count = _cross_rims(found, count, e1, e2, n, margin)
    return count


@inlined
def _edge(label, side, i, j):
    """A number below 1024 for the edge between two corners."""
    a, b = label[side, i], label[side, j]
    return 32 * min(a, b) + max(a, b)


@kernel
def _cross(found, count, i, i2, j, j2, e1, e2, n, margin):
    """Where edge i of the first side crosses edge j of the second."""
    C = found.corner
    au, av = C[0, i2, 0] - C[0, i, 0], C[0, i2, 1] - C[0, i, 1]
    bu, bv = C[1, j2, 0] - C[1, j, 0], C[1, j2, 1] - C[1, j, 1]
    wu, wv = C[1, j, 0] - C[0, i, 0], C[1, j, 1] - C[0, i, 1]
    area = au * bv - av * bu
    if abs(area) <= _PARALLEL() * math.sqrt((au * au + av * av) * (bu * bu + bv * bv)):
        return count  # parallel: corners say where they touch
    s, t = (wu * bv - wv * bu) / area, (wu * av - wv * au) / area
    if not (0.0 < s < 1.0 and 0.0 < t < 1.0):
        return count
    above = C[0, i, 2] + s * (C[0, i2, 2] - C[0, i, 2])
    below = C[1, j, 2] + t * (C[1, j2, 2] - C[1, j, 2])
    if above - below >= margin:
        return count
    feature = CROSSING + 1024 * _edge(found.label, 0, i, i2) + _edge(found.label, 1, j, j2)
    return put_point(found, count, C[0, i, 0] + s * au, C[0, i, 1] + s * av, above, below, e1, e2, n, feature)


@kernel
def _pierce(found, count, side, i, j, e1, e2, n, margin):
    """Where an edge of one side crosses the rim of the other, a disc."""
    C, disc = found.corner, 1 - side
    a0, b0 = _on_side(found, disc, C[side, i, 0], C[side, i, 1])
    a1, b1 = _on_side(found, disc, C[side, j, 0], C[side, j, 1])
    da, db = a1 - a0, b1 - b0
    r = found.map[disc, 7]
    square, half, rest = da * da + db * db, a0 * da + b0 * db, a0 * a0 + b0 * b0 - r * r
    root = half * half - square * rest
    if not (root > 0.0 and square > _SHORT() * r * r):
        return count
    root = math.sqrt(root)
    for k in range(2):
        t = (-half + (2 * k - 1) * root) / square
        if 0.0 < t < 1.0:
            u, v = (
                C[side, i, 0] + t * (C[side, j, 0] - C[side, i, 0]),
                C[side, i, 1] + t * (C[side, j, 1] - C[side, i, 1]),
            )
            own = C[side, i, 2] + t * (C[side, j, 2] - C[side, i, 2])
            other = _height(found, DISC, disc, u, v)
            above, below = (own, other) if side == 0 else (other, own)
            if above - below < margin:
                # Both crossings of an edge: which is which depends on its direction, which its corners give.
                way = k if found.label[side, i] < found.label[side, j] else 1 - k
                feature = CROSSING * 512 + 4 * _edge(found.label, side, i, j) + 2 * way + side
                count = put_point(found, count, u, v, above, below, e1, e2, n, feature)
    return count


@kernel
def _cross_rims(found, count, e1, e2, n, margin):
    """Where the rims of two discs cross that lie flat on each other."""
    M = found.map
    if M[0, 9] ** 2 + M[0, 10] ** 2 > 1e-4 or M[1, 9] ** 2 + M[1, 10] ** 2 > 1e-4:
        return count
    du, dv = M[1, 0] - M[0, 0], M[1, 1] - M[0, 1]
    ra, rb = M[0, 7], M[1, 7]
    d2 = du * du + dv * dv
    d = math.sqrt(d2)
    if not (d < ra + rb and d > abs(ra - rb) and d > 1e-6 * (ra + rb)):
        return count
    along = (d2 + ra * ra - rb * rb) / (2.0 * d)
    across = math.sqrt(max(ra * ra - along * along, 0.0))
    for k in range(2):
        q = (2 * k - 1) * across
        u, v = M[0, 0] + (along * du - q * dv) / d, M[0, 1] + (along * dv + q * du) / d
        above, below = _height(found, DISC, 0, u, v), _height(found, DISC, 1, u, v)
        if above - below < margin:
            count = put_point(found, count, u, v, above, below, e1, e2, n, CROSSING * 1024 + k)
    return count
