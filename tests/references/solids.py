"""A small solid of linear tetrahedra, condensed on its surface: a source of boundary stiffness that is independent."""

from __future__ import annotations

import itertools

import numpy as np

from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.surface import Surface


def tetrahedra_of_block(size=(1.0, 1.0, 1.0), cells=(3, 3, 3)):
    """Points (p, 3) and cells (t, 4) of a block, six tetrahedra to a cube round its diagonal, positive volumes."""
    lines = [np.linspace(0.0, s, c + 1) for s, c in zip(size, cells, strict=True)]
    points = np.stack(np.meshgrid(*lines, indexing="ij"), -1).reshape(-1, 3)
    index = np.arange(len(points)).reshape([c + 1 for c in cells])
    tets = []
    for corner in itertools.product(*(range(c) for c in cells)):
        for order in itertools.permutations(range(3)):
            place = np.array(corner)
            path = [index[tuple(place)]]
            for axis in order:
                place[axis] += 1
                path.append(index[tuple(place)])
            odd = sum(order[i] > order[j] for i in range(3) for j in range(i + 1, 3)) % 2
            tets.append([path[0], path[2], path[1], path[3]] if odd else path)
    return points, np.array(tets)


def condensed(points, tets, poisson_ratio):
    """`Surface` and `BoundaryStiffness` at E = 1 Pa of linear tetrahedra; one traction node to a face."""
    faces = np.concatenate([tets[:, k] for k in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))])
    owner = np.tile(np.arange(len(tets)), 4)
    _, first, count = np.unique(np.sort(faces, 1), axis=0, return_index=True, return_counts=True)
    outer = np.sort(first[count == 1])
    faces, owner = faces[outer], owner[outer]
    ids = np.unique(faces)
    rank = np.full(len(points), -1)
    rank[ids] = np.arange(len(ids))
    surface = Surface(np.ascontiguousarray(points[ids]), rank[faces].astype(np.int64))

    lam = poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio))
    mu = 0.5 / (1 + poisson_ratio)
    D = np.diag([2 * mu] * 3 + [mu] * 3)
    D[:3, :3] += lam
    edges = points[tets[:, 1:]] - points[tets[:, :1]]
    volumes = np.linalg.det(edges) / 6.0
    assert volumes.min() > 0.0
    slopes = np.swapaxes(np.linalg.inv(edges), 1, 2)
    slopes = np.concatenate((-slopes.sum(1, keepdims=True), slopes), axis=1)
    strain = np.zeros((len(tets), 6, 12))
    for a in range(4):
        x, y, z = slopes[:, a].T
        for row, axis, value in (
            (0, 0, x), (1, 1, y), (2, 2, z), (3, 1, z), (3, 2, y), (4, 0, z), (4, 2, x), (5, 0, y), (5, 1, x),
        ):  # fmt: skip
            strain[:, row, 3 * a + axis] = value
    rows = (3 * tets[:, :, None] + np.arange(3)).reshape(len(tets), 12)
    K = np.zeros((3 * len(points),) * 2)
    local = np.einsum("t,tki,kl,tlj->tij", volumes, strain, D, strain, optimize=True)
    for r, k in zip(rows, local, strict=True):
        K[np.ix_(r, r)] += k
    on = (3 * ids[:, None] + np.arange(3)).ravel()
    inside = np.setdiff1d(np.arange(len(K)), on)
    fill = np.zeros((len(K), len(on)))
    fill[on, np.arange(len(on))] = 1.0
    if len(inside):
        fill[inside] = -np.linalg.solve(K[np.ix_(inside, inside)], K[np.ix_(inside, on)])
    S = fill.T @ K @ fill
    Y = np.zeros((len(faces), 3, len(on)))
    for f, (t, n) in enumerate(zip(owner, surface.normals, strict=True)):
        stress = D @ strain[t] @ fill[rows[t]]
        xx, yy, zz, yz, xz, xy = stress
        for axis, parts in enumerate(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))):
            Y[f, axis] = n[0] * parts[0] + n[1] * parts[1] + n[2] * parts[2]
    nodes = np.repeat(np.arange(len(faces), dtype=np.int64)[:, None], 3, axis=1)
    return surface, BoundaryStiffness(0.5 * (S + S.T), Y.reshape(-1, len(on)), nodes, "fem")


def fem_block(size=(1.0, 1.0, 1.0), cells=(3, 3, 3), poisson_ratio=0.3):
    return condensed(*tetrahedra_of_block(size, cells), poisson_ratio)
