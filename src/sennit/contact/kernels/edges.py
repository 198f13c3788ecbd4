"""Contacts of two boxes that stand edge on edge, with parallel edges: two cards that lean on each other.

Seen along the edges, two corners meet, and every direction between the normals n₁ and n₂ of two faces parts them. Of
sharp corners the least overlap would take one of the faces, and which one would depend on rounding. As if all edges
were round, with a radius ε too small to be seen, the normal n lies along

    w = α n₁ + β n₂,   w · n₁ = s₁ + ε,   w · n₂ = s₂ + ε,

s the separations along both faces' normals. Where α or β is not positive one face meets an edge, n is its normal, and
all is as without this; the normal goes from the one to the other without a jump.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, tolerance
from sennit.contact.kernels.forms import axis_of
from sennit.contact.kernels.rounds import put_contact
from sennit.geometry.kernels.algebra import add3, dot3, scale3, sub3

ROUND = 2e-4
"""Radius of edges, over the size of both boxes."""
APART = 10.0
"""Radii of edges from which on sharp ones have a normal of their own: along their distance."""
_PARALLEL = tolerance(1.0 - 5e-7, 1.0 - 2e-6)
"""Cosine from which on edges count as parallel."""
_CORNER = 0.9987
"""Cosine of the angle between two faces' normals from which on they are no corner, but one face on another."""
_SAME = tolerance(1e-7, 1e-5)
"""Part of the boxes' size below which two separations are the same."""
FEATURE = 1 << 10
"""Features from here on are ends of parallel edges."""


@inlined
def _sign(x):
    return 1.0 if x >= 0.0 else -1.0


@inlined
def _normal(shapes, a, b, i, j, k):
    """Of the four normals of faces beside two parallel edges, i of a and j of b, the k-th."""
    return axis_of(shapes, a, (i + 1 + k) % 3) if k < 2 else axis_of(shapes, b, (j - 1 + k) % 3)


@inlined
def _corner(shapes, s, i, d):
    """Middle of the edge along axis i of a box that lies farthest along d, from its centre; and which of four it is."""
    j, k = (i + 1) % 3, (i + 2) % 3
    u, v = axis_of(shapes, s, j), axis_of(shapes, s, k)
    p, q = _sign(dot3(u, d)), _sign(dot3(v, d))
    return add3(scale3(p * shapes.size[s, j], u), scale3(q * shapes.size[s, k], v)), int(p > 0.0) + 2 * int(q > 0.0)


@kernel
def _corner_normal(shapes, a, b, i, j, between, scale):
    """(found, normal, middles of both edges from the centres, number of both): of edges i of a and j of b."""
    nothing = (0.0, 0.0, 0.0)
    best, second = -math.inf, -math.inf
    n, m = nothing, nothing
    for k in range(4):
        d = _normal(shapes, a, b, i, j, k)
        d = scale3(_sign(dot3(d, between)), d)
        pa, _ = _corner(shapes, a, i, scale3(-1.0, d))
        pb, _ = _corner(shapes, b, j, d)
        s = dot3(add3(between, sub3(pa, pb)), d)
        if s > best:
            if dot3(d, n) < _CORNER:
                second, m = best, n
            best, n = s, d
        elif s > second and dot3(d, n) < _CORNER:
            second, m = s, d
    radius, c = ROUND * scale, dot3(n, m)
    if not (second > -radius and best < APART * radius and c > -_CORNER):
        return False, n, nothing, nothing, 0
    middle = add3(n, m)
    pa, corner_a = _corner(shapes, a, i, scale3(-1.0, middle))
    pb, corner_b = _corner(shapes, b, j, middle)
    way = add3(between, sub3(pa, pb))
    if abs(dot3(way, n) - best) > _SAME() * scale or abs(dot3(way, m) - second) > _SAME() * scale:
        return False, n, nothing, nothing, 0  # another face is between the two
    alpha = best + radius - c * (second + radius)
    beta = second + radius - c * (best + radius)
    if alpha <= 0.0 or beta <= 0.0:
        return False, n, nothing, nothing, 0
    w = add3(scale3(alpha, n), scale3(beta, m))
    number = 12 * (4 * i + corner_a) + 4 * j + corner_b
    return True, scale3(1.0 / math.sqrt(dot3(w, w)), w), pa, pb, number


@kernel
def touch_edges(shapes, a, b, cb, between, sep, scale, margin, found):
    """Points where two boxes stand edge on edge, relative to the centre of a: how many; -1: they do not.

    `sep`: their separation along the best direction of all.
    """
    if sep < -ROUND * scale or sep > APART * ROUND * scale:
        return -1
    for i in range(3):
        e = axis_of(shapes, a, i)
        for j in range(3):
            f = axis_of(shapes, b, j)
            c = dot3(e, f)
            along = dot3(cb, e)
            low = max(-shapes.size[a, i], along - shapes.size[b, j])
            high = min(shapes.size[a, i], along + shapes.size[b, j])
            if abs(c) < _PARALLEL() or not low < high:
                continue
            stands, n, pa, pb, number = _corner_normal(shapes, a, b, i, j, between, scale)
            if not stands:
                continue
            count = 0
            for end in range(2):
                s = low if end == 0 else high
                p = add3(pa, scale3(s, e))
                q = add3(add3(cb, pb), scale3((s - along) / c, f))
                gap = dot3(sub3(p, q), n)
                if gap < margin:
                    count = put_contact(found, count, p, q, n, gap, FEATURE + 2 * number + end)
            return count
    return -1
