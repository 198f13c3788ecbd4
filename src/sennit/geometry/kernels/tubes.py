"""Signed distance from the walls of tubes, which hold rods inside.

A tube is a chain of straight *parts* (`TubeParts`), round, about an axis, joined by balls; several tubes that meet are
one shape. Its solid is the wall: what is neither in a bore nor outside of all walls. With the distance ρ_i of a place
from the axis of part i, its inner radius R_i and its wall of 2 w_i,

    d = max(max_i (R_i − ρ_i), min_i (ρ_i − R_i − 2 w_i)),

so that a rod can pass from one bore into another where they meet. At an open end the wall ends in a half round rim, a
circle of radius w about a ring of radius R + w. The ball where two parts of a chain meet counts in the wedge between
them alone: elsewhere one of the parts is nearer, or it is an open end, in front of which there is nothing. What is
nearer to an open end that it is in front of than to any wall is held by none. Where the bore widens by R′ = dR/ds along
its part, its distance and normal are those of the cone, (R − ρ)/√(1 + R′²).
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel

OPEN_BEHIND, OPEN_AHEAD = 1, 2
"""What of a part is open: where it begins, where it ends."""
JOINED_BEHIND, JOINED_AHEAD = 4, 8
"""Where the part before it in its chain ends, where the next one begins."""
MOUTH = 2.0
"""Outer radii in front of an open end that still count as in the bore, as wide as its rim."""


@inlined
def _away(x, y, z, r, ax, ay, az):
    """(x, y, z)/r; where r = 0, a direction across the unit vector a."""
    if r > 0.0:
        return x / r, y / r, z / r
    if abs(ax) <= abs(ay) and abs(ax) <= abs(az):
        bx, by, bz = 1.0 - ax * ax, -ax * ay, -ax * az
    elif abs(ay) <= abs(az):
        bx, by, bz = -ay * ax, 1.0 - ay * ay, -ay * az
    else:
        bx, by, bz = -az * ax, -az * ay, 1.0 - az * az
    b = math.sqrt(bx * bx + by * by + bz * bz)
    return bx / b, by / b, bz / b


@kernel
def bore_and_outside(parts, first, end, x, y, z):
    """Both distances of a place in the shape's own frame, with their normals: (bore, n, outside, n).

    The bore's is −∞ where no part has one: far in front of open ends, and beside them.
    """
    bore, outside = -math.inf, math.inf
    mouth, ahead = -math.inf, -math.inf  # bore in front of an open end; R − ρ from the middle of the nearest of these
    k1, k2, k3 = 0.0, 0.0, 1.0
    n1, n2, n3, m1, m2, m3 = 0.0, 0.0, 1.0, 0.0, 0.0, 1.0
    for i in range(first, end):
        ax, ay, az = parts.axis[i, 0], parts.axis[i, 1], parts.axis[i, 2]
        dx, dy, dz = x - parts.begin[i, 0], y - parts.begin[i, 1], z - parts.begin[i, 2]
        s, length, wall = dx * ax + dy * ay + dz * az, parts.length[i], parts.wall[i]
        t = min(max(s, 0.0), length)
        radius = parts.radius[i] + parts.widening[i] * t
        opens = parts.opens[i]
        if (s < 0.0 and opens & OPEN_BEHIND > 0) or (s > length and opens & OPEN_AHEAD > 0):
            qx, qy, qz = dx - s * ax, dy - s * ay, dz - s * az
            r = math.sqrt(qx * qx + qy * qy + qz * qz)
            ex, ey, ez = _away(qx, qy, qz, r, ax, ay, az)
            beyond, across = s - t, r - radius - wall  # from the ring in the rim
            from_ring = math.sqrt(beyond * beyond + across * across)
            d = from_ring - wall
            k = 1.0 / from_ring if from_ring > 0.0 else 0.0
            u1 = k * (beyond * ax + across * ex)
            u2 = k * (beyond * ay + across * ey)
            u3 = k * (beyond * az + across * ez)
            if d < outside:
                outside, m1, m2, m3 = d, u1, u2, u3
            ahead = max(ahead, radius - math.sqrt(beyond * beyond + r * r))
            if across < 0.0 and abs(beyond) < MOUTH * (radius + wall) and d > mouth:
                mouth, k1, k2, k3 = d, u1, u2, u3
            continue
        if s > length and opens & JOINED_AHEAD > 0:
            bx, by, bz = dx - length * ax, dy - length * ay, dz - length * az
            if bx * parts.axis[i + 1, 0] + by * parts.axis[i + 1, 1] + bz * parts.axis[i + 1, 2] > 0.0:
                continue
        if s < 0.0 and opens & JOINED_BEHIND > 0:
            if dx * parts.axis[i - 1, 0] + dy * parts.axis[i - 1, 1] + dz * parts.axis[i - 1, 2] < 0.0:
                continue
        qx, qy, qz = dx - t * ax, dy - t * ay, dz - t * az
        r = math.sqrt(qx * qx + qy * qy + qz * qz)
        cosine = parts.cosine[i] if s == t else 1.0
        if (radius - r) * cosine > bore:
            bore = (radius - r) * cosine
            ex, ey, ez = _away(qx, qy, qz, r, ax, ay, az)
            rise = parts.widening[i] if s == t else 0.0
            n1, n2, n3 = cosine * (rise * ax - ex), cosine * (rise * ay - ey), cosine * (rise * az - ez)
        if r - radius - 2.0 * wall < outside:
            outside = r - radius - 2.0 * wall
            m1, m2, m3 = _away(qx, qy, qz, r, ax, ay, az)
    if mouth > bore or (bore < 0.0 and ahead > bore):
        bore, n1, n2, n3 = mouth, k1, k2, k3
    return bore, n1, n2, n3, outside, m1, m2, m3


@kernel
def closest_on_tubes(parts, first, end, x, y, z):
    """(signed distance, closest place, normal) for a place in the shape's own frame."""
    d, n1, n2, n3, outside, m1, m2, m3 = bore_and_outside(parts, first, end, x, y, z)
    if outside > d:
        d, n1, n2, n3 = outside, m1, m2, m3
    return d, x - d * n1, y - d * n2, z - d * n3, n1, n2, n3
