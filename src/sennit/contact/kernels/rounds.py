"""Contacts of round shapes: a sphere with anything, and two segments with radii, each point with a normal of its own.

Everything here is in closed form.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, tolerance
from sennit.contact.kernels.forms import LEVEL, axis_of, beside
from sennit.geometry.kernels.algebra import cross3, dot3, put3, row3
from sennit.geometry.kernels.distances import closest

_SIDE = 128
"""Features from here on: ends of segments over the other segment."""
PARALLEL = 0.01
"""Sine of the angle below which two cylinders that lie side by side touch along a line. Places are then within the
radius times half its square of the surfaces: 5e-5 of it."""
_PARALLEL = tolerance(1e-12, 1e-6)
"""Squared sine below which no places of two segments are closer than others."""
_OVER, _ONE_POINT = tolerance(1e-9, 1e-6), tolerance(1e-6, 1e-4)
"""Parts of a segment's length: by which an end may lie outside the other, and within which two ends are one point."""
_NEARER = tolerance(1e-7, 1e-5)
"""Part of the radii by which the closest places must be nearer than ends over the other segment."""


@inlined
def put_contact(found, count, p, q, n, gap, feature):
    """Add a point with its places on both surfaces: the new number of points."""
    if count >= len(found.gap):
        return count
    put3(found.first_place, count, p)
    put3(found.second_place, count, q)
    put3(found.normal, count, n)
    found.gap[count] = gap
    found.feature[count] = feature
    return count + 1


@kernel
def touch_sphere(shapes, a, b, margin, found):
    """A sphere a and any b with a signed distance: one point."""
    r = shapes.size[a, 0]
    x, y, z = row3(shapes.place, a)
    d, qx, qy, qz, nx, ny, nz = closest(shapes, b, x, y, z)
    if not d - r < margin:
        return 0
    return put_contact(found, 0, (x - r * nx, y - r * ny, z - r * nz), (qx, qy, qz), (nx, ny, nz), d - r, 0)


@kernel
def closest_of_segments(w, za, ha, zb, hb):
    """Places s and t on two segments c ± h z, with unit vectors z, that are closest: w = c_a − c_b.

    C. Ericson, Real-Time Collision Detection, 2005, §5.1.9. Of parallel segments the middle of the common part.
    """
    k = dot3(za, zb)
    wa, wb = dot3(w, za), dot3(w, zb)
    rest = 1.0 - k * k
    if rest > _PARALLEL():
        s = min(max((k * wb - wa) / rest, -ha), ha)
    else:
        # The interval of b along a is −wa ± hb.
        s = min(max(0.5 * (max(-ha, -wa - hb) + min(ha, -wa + hb)), -ha), ha)
    t = wb + k * s
    if t > hb or t < -hb:
        t = hb if t > hb else -hb
        s = min(max(k * t - wa, -ha), ha)
    return s, t


@inlined
def _pair(shapes, a, b, w, za, zb, s, t):
    """(gap, normal) of the places s and t of two round segments."""
    dx = w[0] + s * za[0] - t * zb[0]
    dy = w[1] + s * za[1] - t * zb[1]
    dz = w[2] + s * za[2] - t * zb[2]
    d = math.sqrt(dx * dx + dy * dy + dz * dz)
    radii = shapes.size[a, 0] + shapes.size[b, 0]
    if d > 1e-12 * radii:
        return d - radii, (dx / d, dy / d, dz / d)
    n = cross3(za, zb)
    size = math.sqrt(dot3(n, n))
    if size > 1e-6:
        return d - radii, (n[0] / size, n[1] / size, n[2] / size)
    return d - radii, beside(za)[0]


@inlined
def _put_pair(shapes, a, b, ca, cb, za, zb, s, t, gap, n, feature, count, found):
    ra, rb = shapes.size[a, 0], shapes.size[b, 0]
    p = ca[0] + s * za[0] - ra * n[0], ca[1] + s * za[1] - ra * n[1], ca[2] + s * za[2] - ra * n[2]
    q = cb[0] + t * zb[0] + rb * n[0], cb[1] + t * zb[1] + rb * n[1], cb[2] + t * zb[2] + rb * n[2]
    return put_contact(found, count, p, q, n, gap, feature)


@kernel
def touch_segments(shapes, a, b, ca, cb, margin, found):
    """Capsules, and cylinders by their sides: the ends of the common part, the closest places if these are closer."""
    w = ca[0] - cb[0], ca[1] - cb[1], ca[2] - cb[2]
    za, zb = axis_of(shapes, a, 2), axis_of(shapes, b, 2)
    ha, hb = shapes.size[a, 1], shapes.size[b, 1]
    k, wa, wb = dot3(za, zb), dot3(w, za), dot3(w, zb)
    count = 0
    nearest = math.inf
    taken = math.inf
    for end in range(2):
        s = (2 * end - 1) * ha
        t = wb + k * s
        if abs(t) <= hb * (1.0 + _OVER()):
            gap, n = _pair(shapes, a, b, w, za, zb, s, t)
            if gap < margin and (1 - 2 * end) * dot3(n, za) > -LEVEL:
                count = _put_pair(shapes, a, b, ca, cb, za, zb, s, t, gap, n, _SIDE + end, count, found)
                nearest = min(nearest, gap)
                taken = t
    for end in range(2):
        t = (2 * end - 1) * hb
        s = k * t - wa
        # Two ends over each other are one point.
        if abs(s) <= ha * (1.0 + _OVER()) and not (count > 0 and abs(taken - t) < _ONE_POINT() * hb) and count < 2:
            gap, n = _pair(shapes, a, b, w, za, zb, s, t)
            if gap < margin and (2 * end - 1) * dot3(n, zb) > -LEVEL:
                count = _put_pair(shapes, a, b, ca, cb, za, zb, s, t, gap, n, _SIDE + 2 + end, count, found)
                nearest = min(nearest, gap)
    s, t = closest_of_segments(w, za, ha, zb, hb)
    gap, n = _pair(shapes, a, b, w, za, zb, s, t)
    if gap < margin and gap < nearest - _NEARER() * (shapes.size[a, 0] + shapes.size[b, 0]):
        count = _put_pair(shapes, a, b, ca, cb, za, zb, s, t, gap, n, _SIDE + 4, count, found)
    return count


@kernel
def side_by_side(shapes, a, b, ca, cb, best):
    """Whether a cylinder touches another or a capsule along their sides, near to parallel, and how far they are apart.

    `best`: separation along their axes, which must be smaller for the sides to be what touches.
    """
    za, zb = axis_of(shapes, a, 2), axis_of(shapes, b, 2)
    n = cross3(za, zb)
    if dot3(n, n) > PARALLEL * PARALLEL:
        return False
    w = ca[0] - cb[0], ca[1] - cb[1], ca[2] - cb[2]
    ha, hb = shapes.size[a, 1], shapes.size[b, 1]
    wa = dot3(w, za)
    if max(-ha, -wa - hb) >= min(ha, -wa + hb):
        return False  # no common part: a rim touches, or an end
    s, t = closest_of_segments(w, za, ha, zb, hb)
    gap, n = _pair(shapes, a, b, w, za, zb, s, t)
    tilted = max(abs(dot3(n, za)), abs(dot3(n, zb)))
    return gap >= best and tilted < 2.0 * PARALLEL
