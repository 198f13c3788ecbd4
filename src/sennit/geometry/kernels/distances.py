"""Signed distance from rigid shapes, their closest points and normals, inside compiled loops.

`shape` is a `ShapeTable` and `tree` the `MeshTree` in it: see `geometry.tables`.

In its own frame a plane is z = 0 with the solid below, a sphere and a box are centred. The distance is negative inside
the solid; its gradient is the normal. Nothing is allocated.

Sign of a mesh's distance: J. A. Bærentzen, H. Aanæs, Signed distance computation using the angle weighted pseudonormal,
IEEE Trans. Vis. Comput. Graph. 11 (2005) 243–253.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel

SPHERE = 0
PLANE = 1
BOX = 2
MESH = 3

_FACE = 0
_EDGE = 1
_CORNER = 4
_ON_SURFACE = 1e-12
"""Below this part of the shape's size a point counts as on the surface: its direction from there means nothing."""


@inlined
def to_own(shape, x, y, z):
    """Components of the place (x, y, z) in the shape's own frame."""
    p, R = shape.place, shape.turn
    dx, dy, dz = x - p[0, 0], y - p[0, 1], z - p[0, 2]
    return (
        R[0, 0, 0] * dx + R[0, 1, 0] * dy + R[0, 2, 0] * dz,
        R[0, 0, 1] * dx + R[0, 1, 1] * dy + R[0, 2, 1] * dz,
        R[0, 0, 2] * dx + R[0, 1, 2] * dy + R[0, 2, 2] * dz,
    )


@inlined
def turned(shape, x, y, z):
    """A vector of the shape's own frame, turned to the world."""
    R = shape.turn
    return (
        R[0, 0, 0] * x + R[0, 0, 1] * y + R[0, 0, 2] * z,
        R[0, 1, 0] * x + R[0, 1, 1] * y + R[0, 1, 2] * z,
        R[0, 2, 0] * x + R[0, 2, 1] * y + R[0, 2, 2] * z,
    )


@inlined
def to_world(shape, x, y, z):
    """The place in the world of a place in the shape's own frame."""
    a, b, c = turned(shape, x, y, z)
    return a + shape.place[0, 0], b + shape.place[0, 1], c + shape.place[0, 2]


# ------------------------------------------------------------------------------------------------------------ meshes


@inlined
def box_distance2(tree, node, x, y, z):
    """Squared distance from a box of a tree, 0 inside: of a `MeshTree`, or of a `Skin`."""
    low, high = tree.low, tree.high
    dx = max(low[node, 0] - x, 0.0, x - high[node, 0])
    dy = max(low[node, 1] - y, 0.0, y - high[node, 1])
    dz = max(low[node, 2] - z, 0.0, z - high[node, 2])
    return dx * dx + dy * dy + dz * dz


@kernel
def closest_on_triangle(corners, t, x, y, z):
    """Closest point of a triangle: squared distance, barycentric coordinates of its second and third corner, feature.

    corners (m, 3, 3); feature: 0 face, 1, 2, 3 edges 01, 12, 20, 4, 5, 6 corners. Regions of Voronoi as in C. Ericson,
    Real-Time Collision Detection, 2005, §5.1.5.
    """
    ax, ay, az = corners[t, 0, 0], corners[t, 0, 1], corners[t, 0, 2]
    abx, aby, abz = corners[t, 1, 0] - ax, corners[t, 1, 1] - ay, corners[t, 1, 2] - az
    acx, acy, acz = corners[t, 2, 0] - ax, corners[t, 2, 1] - ay, corners[t, 2, 2] - az
    px, py, pz = x - ax, y - ay, z - az
    d1 = abx * px + aby * py + abz * pz
    d2 = acx * px + acy * py + acz * pz
    bb = abx * abx + aby * aby + abz * abz
    cc = acx * acx + acy * acy + acz * acz
    bc = abx * acx + aby * acy + abz * acz
    d3, d4 = d1 - bb, d2 - bc
    d5, d6 = d1 - bc, d2 - cc
    va = d3 * d6 - d5 * d4
    vb = d5 * d2 - d1 * d6
    vc = d1 * d4 - d3 * d2
    if d1 <= 0.0 and d2 <= 0.0:
        v, w, feature = 0.0, 0.0, _CORNER
    elif d3 >= 0.0 and d4 <= d3:
        v, w, feature = 1.0, 0.0, _CORNER + 1
    elif d6 >= 0.0 and d5 <= d6:
        v, w, feature = 0.0, 1.0, _CORNER + 2
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v, w, feature = d1 / (d1 - d3), 0.0, _EDGE
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        v, w, feature = 0.0, d2 / (d2 - d6), _EDGE + 2
    elif va <= 0.0 and d4 >= d3 and d5 >= d6:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        v, feature = 1.0 - w, _EDGE + 1
    else:
        scale = 1.0 / (va + vb + vc)
        v, w, feature = vb * scale, vc * scale, _FACE
    qx, qy, qz = v * abx + w * acx, v * aby + w * acy, v * abz + w * acz
    rx, ry, rz = px - qx, py - qy, pz - qz
    return rx * rx + ry * ry + rz * rz, v, w, feature


@kernel
def closest_on_mesh(tree, size, x, y, z):
    """(signed distance, closest place, normal) for a place in the mesh's own frame."""
    skip, first, count, corners, normals = tree.skip, tree.first, tree.count, tree.corners, tree.normals
    # A greedy descent gives a near triangle, so that the walk through the tree leaves most of it out.
    node = 0
    while count[node] == 0:
        left, right = node + 1, skip[node + 1]
        node = left if box_distance2(tree, left, x, y, z) <= box_distance2(tree, right, x, y, z) else right
    best = math.inf
    second, third = 0.0, 0.0
    face, feature = 0, _FACE
    for t in range(first[node], first[node] + count[node]):
        d2, v, w, f = closest_on_triangle(corners, t, x, y, z)
        if d2 < best:
            best, second, third, face, feature = d2, v, w, t, f
    done = node
    node = 0
    while node < len(skip):
        if node == done or box_distance2(tree, node, x, y, z) >= best:
            node = skip[node]
            continue
        for t in range(first[node], first[node] + count[node]):
            d2, v, w, f = closest_on_triangle(corners, t, x, y, z)
            if d2 < best:
                best, second, third, face, feature = d2, v, w, t, f
        node += 1
    nx, ny, nz = normals[face, feature, 0], normals[face, feature, 1], normals[face, feature, 2]
    ax, ay, az = corners[face, 0, 0], corners[face, 0, 1], corners[face, 0, 2]
    cx = ax + second * (corners[face, 1, 0] - ax) + third * (corners[face, 2, 0] - ax)
    cy = ay + second * (corners[face, 1, 1] - ay) + third * (corners[face, 2, 1] - ay)
    cz = az + second * (corners[face, 1, 2] - az) + third * (corners[face, 2, 2] - az)
    rx, ry, rz = x - cx, y - cy, z - cz
    distance = math.sqrt(best)
    sign = 1.0 if rx * nx + ry * ny + rz * nz >= 0.0 else -1.0
    if distance > _ON_SURFACE * size and feature != _FACE:
        nx, ny, nz = sign * rx / distance, sign * ry / distance, sign * rz / distance
    return sign * distance, cx, cy, cz, nx, ny, nz


# ------------------------------------------------------------------------------------------------------- every shape


@kernel
def closest_on_box(hx, hy, hz, x, y, z):
    """(signed distance, closest place, normal) for a place in the box's own frame; hx, hy, hz: half its edges."""
    qx, qy, qz = min(max(x, -hx), hx), min(max(y, -hy), hy), min(max(z, -hz), hz)
    rx, ry, rz = x - qx, y - qy, z - qz
    distance = math.sqrt(rx * rx + ry * ry + rz * rz)
    if distance > 0.0:
        return distance, qx, qy, qz, rx / distance, ry / distance, rz / distance
    # Inside, the nearest side counts; the first of sides that are equally near.
    dx, dy, dz = hx - abs(x), hy - abs(y), hz - abs(z)
    if dx <= dy and dx <= dz:
        side = 1.0 if x >= 0.0 else -1.0
        return -dx, side * hx, y, z, side, 0.0, 0.0
    if dy <= dz:
        side = 1.0 if y >= 0.0 else -1.0
        return -dy, x, side * hy, z, 0.0, side, 0.0
    side = 1.0 if z >= 0.0 else -1.0
    return -dz, x, y, side * hz, 0.0, 0.0, side


@kernel
def closest(shape, x, y, z):
    """(signed distance, closest place, normal) of a shape for the place (x, y, z), all in the world's frame."""
    kind = shape.kind[0]
    a, b, c = to_own(shape, x, y, z)
    if kind == SPHERE:
        radius = shape.size[0, 0]
        r = math.sqrt(a * a + b * b + c * c)
        if r > 0.0:
            n1, n2, n3 = a / r, b / r, c / r
        else:
            n1, n2, n3 = 0.0, 0.0, 1.0
        d, q1, q2, q3 = r - radius, radius * n1, radius * n2, radius * n3
    elif kind == PLANE:
        d, q1, q2, q3 = c, a, b, 0.0
        n1, n2, n3 = 0.0, 0.0, 1.0
    elif kind == BOX:
        d, q1, q2, q3, n1, n2, n3 = closest_on_box(shape.size[0, 0], shape.size[0, 1], shape.size[0, 2], a, b, c)
    else:
        d, q1, q2, q3, n1, n2, n3 = closest_on_mesh(shape.tree, shape.ball[0], a, b, c)
    q1, q2, q3 = to_world(shape, q1, q2, q3)
    n1, n2, n3 = turned(shape, n1, n2, n3)
    return d, q1, q2, q3, n1, n2, n3


@inlined
def out_of_reach(shape, x, y, z):
    """Whether the place is certainly outside the solid: a cheap test before a costly one."""
    place, ball = shape.place, shape.ball[0]
    dx, dy, dz = x - place[0, 0], y - place[0, 1], z - place[0, 2]
    if shape.kind[0] == PLANE:
        R = shape.turn
        return R[0, 0, 2] * dx + R[0, 1, 2] * dy + R[0, 2, 2] * dz > 0.0
    return dx * dx + dy * dy + dz * dz > ball * ball


@kernel
def closest_many(shape, points, distances, places, normals):
    """`closest` for points (n, 3) into distances (n,), places and normals (n, 3)."""
    for i in range(len(points)):
        d, q1, q2, q3, n1, n2, n3 = closest(shape, points[i, 0], points[i, 1], points[i, 2])
        distances[i] = d
        places[i, 0], places[i, 1], places[i, 2] = q1, q2, q3
        normals[i, 0], normals[i, 1], normals[i, 2] = n1, n2, n3


@kernel
def crossing(shape, x0, y0, z0, x1, y1, z1, tolerance):
    """Where the way from (x0, y0, z0), outside, to (x1, y1, z1), inside, passes the surface.

    False position with Illinois's rule on the signed distance along the way, until it is below `tolerance`. One end is
    returned where both are on the same side: the one nearer to the surface.
    """
    d0 = closest(shape, x0, y0, z0)[0]
    d1 = closest(shape, x1, y1, z1)[0]
    if (d0 <= 0.0) == (d1 <= 0.0):
        return (x0, y0, z0) if abs(d0) < abs(d1) else (x1, y1, z1)
    lower, upper = 0.0, 1.0
    s = 1.0
    kept = 0
    for _ in range(80):
        s = (lower * d1 - upper * d0) / (d1 - d0)
        d = closest(shape, x0 + s * (x1 - x0), y0 + s * (y1 - y0), z0 + s * (z1 - z0))[0]
        if abs(d) <= tolerance:
            break
        if (d <= 0.0) == (d1 <= 0.0):
            upper, d1 = s, d
            d0 *= 0.5 if kept == 1 else 1.0
            kept = 1
        else:
            lower, d0 = s, d
            d1 *= 0.5 if kept == -1 else 1.0
            kept = -1
    return x0 + s * (x1 - x0), y0 + s * (y1 - y0), z0 + s * (z1 - z0)
