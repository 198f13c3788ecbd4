"""Closed triangle meshes for the tests of zones: (vertices (n, 3), faces (m, 3)), wound outwards."""

from __future__ import annotations

import numpy as np
import trimesh


def _merged(corners, faces):
    """Vertices that coincide become one; the order is that of their first appearance."""
    scale = np.ptp(corners, axis=0).max()
    keys = np.round(corners / (1e-9 * scale)).astype(np.int64)
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return corners[first[order]], rank[inverse.ravel()][faces]


def block(size=(1.0, 1.0, 1.0), cells=(4, 4, 4), origin=(0.0, 0.0, 0.0), lines=None):
    """A block with a structured grid on each side, diagonals alternating.

    `origin` is its lowest corner; `lines` gives the coordinates of the grid lines along each axis in place of `size`,
    `cells` and `origin`.
    """
    if lines is None:
        lines = [np.linspace(o, o + s, c + 1) for o, s, c in zip(origin, size, cells, strict=True)]
    points, faces, count = [], [], 0
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        nu, nv = len(lines[u]), len(lines[v])
        gu, gv = np.meshgrid(lines[u], lines[v], indexing="ij")
        for end in (0, -1):
            side = np.zeros((nu * nv, 3))
            side[:, axis] = lines[axis][end]
            side[:, u], side[:, v] = gu.ravel(), gv.ravel()
            i, j = (a.ravel() for a in np.meshgrid(np.arange(nu - 1), np.arange(nv - 1), indexing="ij"))
            a, b, c, d = i * nv + j, (i + 1) * nv + j, (i + 1) * nv + j + 1, i * nv + j + 1
            even = ((i + j) % 2 == 0)[:, None]
            one = np.where(even, np.stack((a, b, c), 1), np.stack((a, b, d), 1))
            two = np.where(even, np.stack((a, c, d), 1), np.stack((b, c, d), 1))
            side_faces = np.concatenate((one, two))
            faces.append((side_faces if end == -1 else side_faces[:, ::-1]) + count)
            points.append(side)
            count += len(side)
    return _merged(np.concatenate(points), np.concatenate(faces))


def hilly(x, heights, depth=0.3):
    """A closed mesh whose top stands at `heights` (n, n) over the square grid of `x`, and whose bottom is flat."""
    vertices, faces = block(lines=(x, x, np.array((-depth, 0.0))))
    top = vertices[:, 2] == 0.0
    i, j = (np.searchsorted(x, vertices[top, k] - 1e-9) for k in range(2))
    vertices[top, 2] = heights[i, j]
    return vertices, faces


def sphere(radius=1.0, subdivisions=3, centre=(0.0, 0.0, 0.0)):
    """An icosphere: 162, 642, 2562 vertices for 2, 3, 4 subdivisions."""
    mesh = trimesh.creation.icosphere(subdivisions=subdivisions, radius=radius)
    return np.array(mesh.vertices) + np.asarray(centre), np.array(mesh.faces)


def hollow_sphere(inner=0.5, outer=1.0, subdivisions=(3, 3)):
    """A thick spherical shell: the outer surface's vertices first, then the inner one's."""
    v0, f0 = sphere(outer, subdivisions[0])
    v1, f1 = sphere(inner, subdivisions[1])
    return np.concatenate((v0, v1)), np.concatenate((f0, f1[:, ::-1] + len(v0)))


def volume(vertices, faces):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def rows(ids):
    """Degrees of freedom of some vertices."""
    ids = np.asarray(ids, dtype=np.int64)
    return (3 * ids[:, None] + np.arange(3)).ravel()
