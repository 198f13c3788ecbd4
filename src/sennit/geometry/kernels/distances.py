"""Signed distance from rigid shapes, their closest points and normals, inside compiled loops.

A shape is a tuple (kind, numbers, boxes, links, triangles, pseudonormals):

    kind            SPHERE, PLANE, BOX or MESH
    numbers (18,)   place of the shape's origin; its rotation, row by row; radius, or half the edges of a box; the
                    radius of a ball about the origin that holds the shape (∞ for a plane); 2 not used
    boxes (N, 6)    of the tree of a mesh, preorder: lowest corner, highest corner
    links (N, 3)    node that follows when the box is left out; first triangle; number of triangles (0: two children)
    triangles (m, 9), pseudonormals (m, 21): corners; normals of face, of edges 01, 12, 20 and of the corners

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

NUMBERS = 18
SIZE = 12
BALL = 15

_FACE = 0
_EDGE = 1
_CORNER = 4
_ON_SURFACE = 1e-12
"""Below this part of the shape's size a point counts as on the surface: its direction from there means nothing."""


@inlined
def to_own(numbers, x, y, z):
    """Components of the place (x, y, z) in the shape's own frame."""
    dx, dy, dz = x - numbers[0], y - numbers[1], z - numbers[2]
    return (
        numbers[3] * dx + numbers[6] * dy + numbers[9] * dz,
        numbers[4] * dx + numbers[7] * dy + numbers[10] * dz,
        numbers[5] * dx + numbers[8] * dy + numbers[11] * dz,
    )


@inlined
def turned(numbers, x, y, z):
    """A vector of the shape's own frame, turned to the world."""
    return (
        numbers[3] * x + numbers[4] * y + numbers[5] * z,
        numbers[6] * x + numbers[7] * y + numbers[8] * z,
        numbers[9] * x + numbers[10] * y + numbers[11] * z,
    )


@inlined
def to_world(numbers, x, y, z):
    a, b, c = turned(numbers, x, y, z)
    return a + numbers[0], b + numbers[1], c + numbers[2]


# ------------------------------------------------------------------------------------------------------------ meshes


@inlined
def box_distance2(boxes, node, x, y, z):
    """Squared distance from a box of the tree, 0 inside."""
    dx = max(boxes[node, 0] - x, 0.0, x - boxes[node, 3])
    dy = max(boxes[node, 1] - y, 0.0, y - boxes[node, 4])
    dz = max(boxes[node, 2] - z, 0.0, z - boxes[node, 5])
    return dx * dx + dy * dy + dz * dz


@kernel
def closest_on_triangle(triangles, t, x, y, z):
    """Closest point of a triangle: squared distance, barycentric coordinates of its second and third corner, feature.

    Regions of Voronoi as in C. Ericson, Real-Time Collision Detection, 2005, §5.1.5. feature: 0 face, 1, 2, 3 edges
    01, 12, 20, 4, 5, 6 corners.
    """
    ax, ay, az = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    abx, aby, abz = triangles[t, 3] - ax, triangles[t, 4] - ay, triangles[t, 5] - az
    acx, acy, acz = triangles[t, 6] - ax, triangles[t, 7] - ay, triangles[t, 8] - az
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
def closest_on_mesh(boxes, links, triangles, pseudonormals, size, x, y, z):
    """(signed distance, closest place, normal) for a place in the mesh's own frame."""
    # A greedy descent gives a near triangle, so that the walk through the tree leaves most of it out.
    node = 0
    while links[node, 2] == 0:
        left, right = node + 1, links[node + 1, 0]
        node = left if box_distance2(boxes, left, x, y, z) <= box_distance2(boxes, right, x, y, z) else right
    best = math.inf
    second, third = 0.0, 0.0
    face, feature = 0, _FACE
    for t in range(links[node, 1], links[node, 1] + links[node, 2]):
        d2, v, w, f = closest_on_triangle(triangles, t, x, y, z)
        if d2 < best:
            best, second, third, face, feature = d2, v, w, t, f
    done = node
    node = 0
    while node < len(links):
        if node == done or box_distance2(boxes, node, x, y, z) >= best:
            node = links[node, 0]
            continue
        for t in range(links[node, 1], links[node, 1] + links[node, 2]):
            d2, v, w, f = closest_on_triangle(triangles, t, x, y, z)
            if d2 < best:
                best, second, third, face, feature = d2, v, w, t, f
        node += 1
    nx, ny, nz = (
        pseudonormals[face, 3 * feature],
        pseudonormals[face, 3 * feature + 1],
        pseudonormals[face, 3 * feature + 2],
    )
    ax, ay, az = triangles[face, 0], triangles[face, 1], triangles[face, 2]
    cx = ax + second * (triangles[face, 3] - ax) + third * (triangles[face, 6] - ax)
    cy = ay + second * (triangles[face, 4] - ay) + third * (triangles[face, 7] - ay)
    cz = az + second * (triangles[face, 5] - az) + third * (triangles[face, 8] - az)
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
    kind, numbers, boxes, links, triangles, pseudonormals = shape
    a, b, c = to_own(numbers, x, y, z)
    if kind == SPHERE:
        radius = numbers[SIZE]
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
        d, q1, q2, q3, n1, n2, n3 = closest_on_box(numbers[SIZE], numbers[SIZE + 1], numbers[SIZE + 2], a, b, c)
    else:
        d, q1, q2, q3, n1, n2, n3 = closest_on_mesh(boxes, links, triangles, pseudonormals, numbers[BALL], a, b, c)
    q1, q2, q3 = to_world(numbers, q1, q2, q3)
    n1, n2, n3 = turned(numbers, n1, n2, n3)
    return d, q1, q2, q3, n1, n2, n3


@inlined
def out_of_reach(shape, x, y, z):
    """Whether the place is certainly outside the solid: a cheap test before a costly one."""
    kind, numbers = shape[0], shape[1]
    dx, dy, dz = x - numbers[0], y - numbers[1], z - numbers[2]
    if kind == PLANE:
        return numbers[5] * dx + numbers[8] * dy + numbers[11] * dz > 0.0
    return dx * dx + dy * dy + dz * dz > numbers[BALL] * numbers[BALL]


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
