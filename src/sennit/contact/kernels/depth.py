"""Signed distance of two convex shapes without a closed form, and its normal.

Apart: the algorithm of Gilbert, Johnson and Keerthi (IEEE J. Robot. Autom. 4 (1988) 193–203) on the cores; the distance
is found to 1e-12 of itself. Overlapping: a polytope inside the set of all differences of points of the two grows where
it is nearest to the origin (G. van den Bergen, Proximity queries and penetration depth computation on 3D game objects,
2001), until it is within 1e-10 of the shapes' size.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, tolerance
from sennit.contact.kernels.forms import farthest
from sennit.geometry.kernels.algebra import cross3, dot3, put3, row3, scale3, sub3
from sennit.geometry.kernels.triangles import closest_on_triangle

_STEPS = 60
# Where rounding ends a search. Of lengths, by parts of the shapes' size; of squares and volumes, by its powers
_NOTHING, _OVERLAP = tolerance(1e-20, 1e-12), tolerance(1e-24, 1e-12)  # squared distances of centres, and of cores
_NEAREST = tolerance(1e-13, 1e-6)  # part of its square by which a distance is more than what is certain
_FLAT, _VOLUME = tolerance(1e-6, 1e-4), tolerance(1e-14, 1e-9)  # polytopes to begin with
_DEEPEST, _SEEN = tolerance(1e-10, 1e-5), tolerance(1e-14, 1e-6)  # by which a corner lies outside of a polytope


@inlined
def _difference(shapes, a, b, ca, cb, d):
    """The point of a − b that lies farthest along d, and the point of a that it comes from."""
    p = farthest(shapes, a, ca, d)
    q = farthest(shapes, b, cb, (-d[0], -d[1], -d[2]))
    return sub3(p, q), p


@kernel
def _reduce(found, count):
    """Closest point to the origin on a simplex of `count` corners, which keeps only the corners that it needs.

    (x, y, z, number of corners kept); 4 where the origin is inside.
    """
    S, weight = found.simplex, found.weight
    if count == 1:
        weight[0] = 1.0
        return S[0, 0], S[0, 1], S[0, 2], 1
    if count == 2:
        p, q = row3(S, 0), row3(S, 1)
        w = sub3(q, p)
        square = dot3(w, w)
        t = -dot3(p, w) / square if square > 0.0 else 0.0
        if t <= 0.0:
            weight[0] = 1.0
            return p[0], p[1], p[2], 1
        if t >= 1.0:
            _keep(found, 0, 1)
            weight[0] = 1.0
            return q[0], q[1], q[2], 1
        weight[0], weight[1] = 1.0 - t, t
        return p[0] + t * w[0], p[1] + t * w[1], p[2] + t * w[2], 2
    if count == 3:
        return _reduce_triangle(found, 0, 1, 2)
    # A tetrahedron: the nearest of the faces that the origin is beyond.
    best, missing = math.inf, -1
    for m in range(4):
        i, j, k = (m + 1) % 4, (m + 2) % 4, (m + 3) % 4
        p = row3(S, i)
        normal = cross3(sub3(row3(S, j), p), sub3(row3(S, k), p))
        inside = dot3(normal, sub3(row3(S, m), p))
        if dot3(normal, p) * inside < 0.0:
            continue  # the origin is on the side of the fourth corner
        _fill_triangle(found, i, j, k)
        d2 = closest_on_triangle(found.triangle, 0, 0.0, 0.0, 0.0)[0]
        if d2 < best:
            best, missing = d2, m
    if missing < 0:
        return 0.0, 0.0, 0.0, 4
    if missing != 3:
        _keep(found, missing, 3)
    return _reduce_triangle(found, 0, 1, 2)


@inlined
def _fill_triangle(found, i, j, k):
    for c in range(3):
        found.triangle[0, 0, c] = found.simplex[i, c]
        found.triangle[0, 1, c] = found.simplex[j, c]
        found.triangle[0, 2, c] = found.simplex[k, c]


@inlined
def _keep(found, to, start):
    """Move a corner of the simplex."""
    for c in range(3):
        found.simplex[to, c] = found.simplex[start, c]
        found.simplex_first[to, c] = found.simplex_first[start, c]


@kernel
def _reduce_triangle(found, i, j, k):
    weight = found.weight
    _fill_triangle(found, i, j, k)
    _, v, w, feature = closest_on_triangle(found.triangle, 0, 0.0, 0.0, 0.0)
    T = found.triangle
    x = T[0, 0, 0] + v * (T[0, 1, 0] - T[0, 0, 0]) + w * (T[0, 2, 0] - T[0, 0, 0])
    y = T[0, 0, 1] + v * (T[0, 1, 1] - T[0, 0, 1]) + w * (T[0, 2, 1] - T[0, 0, 1])
    z = T[0, 0, 2] + v * (T[0, 1, 2] - T[0, 0, 2]) + w * (T[0, 2, 2] - T[0, 0, 2])
    kept = 0
    for corner in range(3):
        share = 1.0 - v - w if corner == 0 else (v if corner == 1 else w)
        on = feature == 0 or feature == 4 + corner or (feature < 4 and corner != (feature + 1) % 3)
        if on:
            if kept != corner:
                _keep(found, kept, corner)
            weight[kept] = share
            kept += 1
    return x, y, z, kept


@kernel
def nearest(shapes, a, b, ca, cb, scale, found):
    """(distance of the cores, normal from b to a, place on the core of a): distance 0 where they overlap."""
    S, P = found.simplex, found.simplex_first
    v = sub3(ca, cb)
    if dot3(v, v) <= _NOTHING() * scale * scale:
        v = (1.0, 0.0, 0.0)
    count = 0
    square = math.inf
    # v · w / |v| is a distance that they certainly have. Its largest value has the best direction: at the end, when
    # the simplex is tiny, directions suffer from rounding long before distances do.
    certain, n, here = -math.inf, v, (0.0, 0.0, 0.0)
    for _ in range(_STEPS):
        w, p = _difference(shapes, a, b, ca, cb, (-v[0], -v[1], -v[2]))
        if count > 0:
            if dot3(v, w) > certain * math.sqrt(square):
                certain, n = dot3(v, w) / math.sqrt(square), v
            if square - dot3(v, w) <= _NEAREST() * square:
                break
            known = False
            for i in range(count):
                known = known or (S[i, 0] == w[0] and S[i, 1] == w[1] and S[i, 2] == w[2])
            if known:
                break
        put3(S, count, w)
        put3(P, count, p)
        x, y, z, count = _reduce(found, count + 1)
        now = x * x + y * y + z * z
        if count == 4 or now <= _OVERLAP() * scale * scale:
            return 0.0, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), count
        if now >= square:
            break  # rounding: nothing nearer is found
        square, v = now, (x, y, z)
        here = (0.0, 0.0, 0.0)
        for i in range(count):
            k = found.weight[i]
            here = (here[0] + k * P[i, 0], here[1] + k * P[i, 1], here[2] + k * P[i, 2])
    return math.sqrt(square), scale3(1.0 / math.sqrt(dot3(n, n)), n), here, count


# ---------------------------------------------------------------------------------------------------------- polytopes


@kernel
def _put_side(found, f, i, j, k, inside):
    """Triangle f of the polytope, wound outwards, seen from a place inside; False if it has no area."""
    H = found.hull
    p = row3(H, i)
    normal = cross3(sub3(row3(H, j), p), sub3(row3(H, k), p))
    length = math.sqrt(dot3(normal, normal))
    if not length > 0.0:
        found.side[f, 0] = -1
        return False
    out = 1.0 / length if dot3(normal, sub3(p, inside)) >= 0.0 else -1.0 / length
    for c in range(3):
        found.facing[f, c] = out * normal[c]
    found.facing[f, 3] = out * dot3(normal, p)
    found.side[f, 0], found.side[f, 1], found.side[f, 2] = i, j if out > 0.0 else k, k if out > 0.0 else j
    return True


@kernel
def _start_hull(shapes, a, b, ca, cb, count, scale, found):
    """A tetrahedron of differences that holds the simplex of `count` corners: whether there is one with a volume."""
    H = found.hull
    for i in range(min(count, 4)):
        put3(H, i, row3(found.simplex, i))
        put3(found.hull_first, i, row3(found.simplex_first, i))
    have = min(count, 4)
    for attempt in range(18):
        if have == 4:
            break
        sign = 1.0 if attempt % 2 == 0 else -1.0
        k = (attempt // 2) % 3
        d = (sign if k == 0 else 0.0, sign if k == 1 else 0.0, sign if k == 2 else 0.0)
        if have == 2:
            d = cross3(sub3(row3(H, 1), row3(H, 0)), d)
        elif have == 3:
            d = scale3(sign, cross3(sub3(row3(H, 1), row3(H, 0)), sub3(row3(H, 2), row3(H, 0))))
        if not dot3(d, d) > 0.0:
            continue
        w, p = _difference(shapes, a, b, ca, cb, d)
        e = sub3(w, row3(H, 0))
        if have == 1:
            size = math.sqrt(dot3(e, e))
        elif have == 2:
            f = sub3(row3(H, 1), row3(H, 0))
            g = cross3(e, f)
            size = math.sqrt(dot3(g, g) / dot3(f, f))
        else:
            g = cross3(sub3(row3(H, 1), row3(H, 0)), sub3(row3(H, 2), row3(H, 0)))
            size = abs(dot3(e, g)) / math.sqrt(dot3(g, g))
        if have == 0 or size > _FLAT() * scale:
            put3(H, have, w)
            put3(found.hull_first, have, p)
            have += 1
    if have < 4:
        return False
    p = row3(H, 0)
    g = cross3(sub3(row3(H, 1), p), sub3(row3(H, 2), p))
    return abs(dot3(g, sub3(row3(H, 3), p))) > _VOLUME() * scale * scale * scale


@kernel
def deepest(shapes, a, b, ca, cb, count, scale, found):
    """The shortest way by which a leaves b, where their cores overlap: (True, normal, place on the core of a).

    False where none was found, for want of a volume.

    `count` corners of a simplex are there from `nearest`.
    """
    H, side, facing, rim = found.hull, found.side, found.facing, found.rim
    nothing = (0.0, 0.0, 1.0)
    if not _start_hull(shapes, a, b, ca, cb, count, scale, found):
        return False, nothing, nothing
    inside = (
        0.25 * (H[0, 0] + H[1, 0] + H[2, 0] + H[3, 0]),
        0.25 * (H[0, 1] + H[1, 1] + H[2, 1] + H[3, 1]),
        0.25 * (H[0, 2] + H[1, 2] + H[2, 2] + H[3, 2]),
    )
    used = 4
    for m in range(4):
        if not _put_side(found, m, (m + 1) % 4, (m + 2) % 4, (m + 3) % 4, inside):
            return False, nothing, nothing
    corners = 4
    best = -1
    while True:
        best = -1
        for f in range(used):
            if side[f, 0] >= 0 and (best < 0 or facing[f, 3] < facing[best, 3]):
                best = f
        if best < 0:
            return False, nothing, nothing
        d = (facing[best, 0], facing[best, 1], facing[best, 2])
        outermost, p = _difference(shapes, a, b, ca, cb, d)
        if corners == len(H) or dot3(outermost, d) - facing[best, 3] <= _DEEPEST() * scale:
            break
        put3(H, corners, outermost)
        put3(found.hull_first, corners, p)
        edges = 0
        for f in range(used):
            seen = side[f, 0] >= 0 and (f == best or dot3(row3(facing, f), outermost) > facing[f, 3] + _SEEN() * scale)
            if not seen:
                continue
            for k in range(3):
                edges = _toggle(rim, edges, side[f, k], side[f, (k + 1) % 3])
            side[f, 0] = -1
        for e in range(edges):
            f = 0
            while f < used and side[f, 0] >= 0:
                f += 1
            if f == len(side):
                return False, nothing, nothing
            used = max(used, f + 1)
            _put_side(found, f, rim[e, 0], rim[e, 1], corners, inside)
        corners += 1
    # The place on a: the point of the nearest triangle that is closest to the origin, as a mean of its corners.
    for k in range(3):
        for c in range(3):
            found.triangle[0, k, c] = H[side[best, k], c]
    _, v, w, _ = closest_on_triangle(found.triangle, 0, 0.0, 0.0, 0.0)
    i, j, k = side[best, 0], side[best, 1], side[best, 2]
    F = found.hull_first
    p = (
        F[i, 0] + v * (F[j, 0] - F[i, 0]) + w * (F[k, 0] - F[i, 0]),
        F[i, 1] + v * (F[j, 1] - F[i, 1]) + w * (F[k, 1] - F[i, 1]),
        F[i, 2] + v * (F[j, 2] - F[i, 2]) + w * (F[k, 2] - F[i, 2]),
    )
    # d is a direction of a − b, along which a is moved into b: the way out is against it.
    return True, (-d[0], -d[1], -d[2]), p


@inlined
def _toggle(rim, edges, i, j):
    """Add an edge, or take it away where its other side is there."""
    for e in range(edges):
        if rim[e, 0] == j and rim[e, 1] == i:
            rim[e, 0], rim[e, 1] = rim[edges - 1, 0], rim[edges - 1, 1]
            return edges - 1
    if edges < len(rim):
        rim[edges, 0], rim[edges, 1] = i, j
        return edges + 1
    return edges
