"""The closest points of triangles and of closed meshes, inside compiled loops.

`tree` is a `MeshTree`: see `geometry.tables`. Nothing is allocated.

Sign of a mesh's distance: J. A. Bærentzen, H. Aanæs, Signed distance computation using the angle weighted pseudonormal,
IEEE Trans. Vis. Comput. Graph. 11 (2005) 243–253.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel

FACE = 0
_EDGE = 1
_CORNER = 4
ON_SURFACE = 1e-12
"""Below this part of the shape's size a point counts as on the surface: its direction from there means nothing."""


@inlined
def box_distance2(tree, node, x, y, z):
    """Squared distance from a box of a tree, 0 inside: of a `MeshTree`, or of a `Skin`."""
    low, high = tree.low, tree.high
    dx = max(low[node, 0] - x, 0.0, x - high[node, 0])
    dy = max(low[node, 1] - y, 0.0, y - high[node, 1])
    dz = max(low[node, 2] - z, 0.0, z - high[node, 2])
    return dx * dx + dy * dy + dz * dz


@inlined
def closest_of_triangle(abx, aby, abz, acx, acy, acz, px, py, pz):
    """Closest point of a triangle: squared distance, barycentric coordinates of its second and third corner, feature.

    Its second and third corner and the place are given from the first one. Feature: 0 face, 1, 2, 3 edges 01, 12, 20,
    4, 5, 6 corners. Regions of Voronoi as in C. Ericson, Real-Time Collision Detection, 2005, §5.1.5.
    """
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
        v, w, feature = vb * scale, vc * scale, FACE
    qx, qy, qz = v * abx + w * acx, v * aby + w * acy, v * abz + w * acz
    rx, ry, rz = px - qx, py - qy, pz - qz
    return rx * rx + ry * ry + rz * rz, v, w, feature


@kernel
def closest_on_triangle(corners, t, x, y, z):
    """`closest_of_triangle` for triangle t of corners (m, 3, 3)."""
    ax, ay, az = corners[t, 0, 0], corners[t, 0, 1], corners[t, 0, 2]
    return closest_of_triangle(
        corners[t, 1, 0] - ax, corners[t, 1, 1] - ay, corners[t, 1, 2] - az,
        corners[t, 2, 0] - ax, corners[t, 2, 1] - ay, corners[t, 2, 2] - az,
        x - ax, y - ay, z - az,
    )  # fmt: skip


@kernel
def closest_on_mesh(tree, begin, end, size, x, y, z):
    """(signed distance, closest place, normal) for a place in the frame of the mesh with the boxes begin … end − 1."""
    skip, first, count, corners, normals = tree.skip, tree.first, tree.count, tree.corners, tree.normals
    # A greedy descent gives a near triangle, so that the walk through the tree leaves most of it out.
    node = begin
    while count[node] == 0:
        left, right = node + 1, skip[node + 1]
        node = left if box_distance2(tree, left, x, y, z) <= box_distance2(tree, right, x, y, z) else right
    best = math.inf
    second, third = 0.0, 0.0
    face, feature = 0, FACE
    for t in range(first[node], first[node] + count[node]):
        d2, v, w, f = closest_on_triangle(corners, t, x, y, z)
        if d2 < best:
            best, second, third, face, feature = d2, v, w, t, f
    done = node
    node = begin
    while node < end:
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
    if distance > ON_SURFACE * size and feature != FACE:
        nx, ny, nz = sign * rx / distance, sign * ry / distance, sign * rz / distance
    return sign * distance, cx, cy, cz, nx, ny, nz
