"""What convex shapes offer to the search for contacts: how far they reach, and which point of them lies farthest.

`shapes` is a `ShapeTable`, s a row of it. Spheres, capsules, boxes and cylinders are symmetric about their origin: with
h(n) = max n · (x − c) over the points x of a shape with origin c, two shapes are apart along the unit vector n by

    sep(n) = n · (c_a − c_b) − h_a(n) − h_b(n),

and their signed distance is the largest of all sep(n): positive it is their distance, negative the depth of the overlap
(the shortest way by which one can leave the other). Capsules and spheres are a segment or a point, their *core*, and a
radius.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.distances import BOX, CAPSULE, SPHERE

LEVEL = 0.02
"""Slope up to which the side of a capsule is a straight line. The line between the two points that stand for it lies
inside the capsule by up to half its square times the radius, 2e-4 of it; the points themselves are exact."""


@inlined
def axis_of(shapes, s, k):
    """Axis k of the shape's own frame, in the world."""
    R = shapes.turn
    return R[s, 0, k], R[s, 1, k], R[s, 2, k]


@inlined
def along_axes(shapes, s, d):
    """Components of a vector of the world in the shape's own frame."""
    R = shapes.turn
    return (
        R[s, 0, 0] * d[0] + R[s, 1, 0] * d[1] + R[s, 2, 0] * d[2],
        R[s, 0, 1] * d[0] + R[s, 1, 1] * d[1] + R[s, 2, 1] * d[2],
        R[s, 0, 2] * d[0] + R[s, 1, 2] * d[1] + R[s, 2, 2] * d[2],
    )


@inlined
def out_of(shapes, s, c, x, y, z):
    """The place in the world of (x, y, z) in the frame of a shape with origin c."""
    R = shapes.turn
    return (
        c[0] + R[s, 0, 0] * x + R[s, 0, 1] * y + R[s, 0, 2] * z,
        c[1] + R[s, 1, 0] * x + R[s, 1, 1] * y + R[s, 1, 2] * z,
        c[2] + R[s, 2, 0] * x + R[s, 2, 1] * y + R[s, 2, 2] * z,
    )


@inlined
def radius_of(shapes, s):
    """Radius about the core: of spheres and capsules, 0 of others, m."""
    return shapes.size[s, 0] if shapes.kind[s] == SPHERE or shapes.kind[s] == CAPSULE else 0.0


@kernel
def reach(shapes, s, d):
    """h(d): how far the shape reaches from its origin along d, |d| = 1, m."""
    kind, size = shapes.kind[s], shapes.size
    if kind == SPHERE:
        return size[s, 0]
    x, y, z = along_axes(shapes, s, d)
    if kind == BOX:
        return size[s, 0] * abs(x) + size[s, 1] * abs(y) + size[s, 2] * abs(z)
    if kind == CAPSULE:
        return size[s, 0] + size[s, 1] * abs(z)
    return size[s, 0] * math.sqrt(x * x + y * y) + size[s, 1] * abs(z)


@kernel
def farthest(shapes, s, c, d):
    """The point of the core, with origin c, that lies farthest along d (of any length)."""
    kind, size = shapes.kind[s], shapes.size
    if kind == SPHERE:
        return c[0], c[1], c[2]
    x, y, z = along_axes(shapes, s, d)
    if kind == BOX:
        return out_of(
            shapes, s, c,
            size[s, 0] if x >= 0.0 else -size[s, 0],
            size[s, 1] if y >= 0.0 else -size[s, 1],
            size[s, 2] if z >= 0.0 else -size[s, 2],
        )  # fmt: skip
    end = size[s, 1] if z >= 0.0 else -size[s, 1]
    if kind == CAPSULE:
        return out_of(shapes, s, c, 0.0, 0.0, end)
    across = math.sqrt(x * x + y * y)
    radius = size[s, 0] / across if across > 1e-14 * abs(z) else 0.0
    return out_of(shapes, s, c, radius * x, radius * y, end)


@inlined
def separation(shapes, a, b, between, n):
    """sep(n), m; between: from the origin of b to that of a."""
    return between[0] * n[0] + between[1] * n[1] + between[2] * n[2] - reach(shapes, a, n) - reach(shapes, b, n)


@inlined
def beside(n):
    """Two unit vectors that make a right-handed frame with the unit vector n.

    T. Duff and others, Building an orthonormal basis, revisited, J. Comput. Graph. Tech. 6 (2017) 1.
    """
    sign = 1.0 if n[2] >= 0.0 else -1.0
    k = -1.0 / (sign + n[2])
    m = n[0] * n[1] * k
    return (1.0 + sign * n[0] * n[0] * k, sign * m, -sign * n[0]), (m, sign + n[1] * n[1] * k, -n[1])
