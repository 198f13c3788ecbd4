"""Assembly of the boundary elements' matrices, and of the stiffness from their solution.

Rows belong to collocation points, which come in an order that keeps neighbours together, all rows of the first axis
first: LANES neighbouring points are neighbours in memory too, and one triangle's integrals for all of them are vector
instructions. The order of rows does not matter to what is solved for. Matrices are flat, column after column.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from sennit.compilation import inlined, kernel, parallel
from sennit.elastostatics.kelvin.kernels import (
    CENTRE,
    LANES,
    NEAR,
    POINTS,
    REACH,
    TENSORS,
    VALUES,
    far_integrals,
    far_tensors,
    near_integrals,
)

# A block's workspace: tensors at Gauss points, integrals over one triangle, ∫T over all, weights, one near point's.
_INTEGRALS = POINTS * TENSORS * LANES
_TOTALS = _INTEGRALS + 3 * LANES
_UNUSED = _TOTALS + 9 * LANES
_WEIGHT = _UNUSED + LANES
_VALUES = _WEIGHT + LANES
WORKSPACE = _VALUES + LANES


@inlined
def _add(matrix, at, source, of, lanes):
    for lane in range(lanes):
        matrix[at + lane] += source[of + lane]


@kernel
def assemble_block(block, px, py, pz, vertex, face, share, triangles, corners, nodes, nu, G, H, work):
    """The rows of one block of points: see `assemble`."""
    points = len(px)
    first = block * LANES
    lanes = min(LANES, points - first)
    tensors = work[:_INTEGRALS]
    integrals = work[_INTEGRALS:_TOTALS]
    totals = work[_TOTALS:_UNUSED]
    unused = work[_UNUSED:_WEIGHT]
    weight = work[_WEIGHT:_VALUES]
    values = work[_VALUES : _VALUES + VALUES]
    for k in range(9 * LANES):
        totals[k] = 0.0
    for k in range(LANES):
        weight[k] = 1.0
    count = np.uint64(lanes)
    cx, cy, cz = 0.0, 0.0, 0.0
    for k in range(first, first + lanes):
        cx += px[k] / lanes
        cy += py[k] / lanes
        cz += pz[k] / lanes
    radius = 0.0
    for k in range(first, first + lanes):
        radius = max(radius, (px[k] - cx) ** 2 + (py[k] - cy) ** 2 + (pz[k] - cz) ** 2)
    radius = np.sqrt(radius)

    for f in range(len(triangles)):
        triangle = triangles[f]
        mx, my, mz = triangle[CENTRE], triangle[CENTRE + 1], triangle[CENTRE + 2]
        reach = NEAR * triangle[REACH]
        close = (mx - cx) ** 2 + (my - cy) ** 2 + (mz - cz) ** 2 < (radius + reach) ** 2
        if close:
            for lane in range(lanes):
                k = first + lane
                distance = (mx - px[k]) ** 2 + (my - py[k]) ** 2 + (mz - pz[k]) ** 2
                weight[lane] = 0.0 if distance < reach * reach else 1.0
        far_tensors(px, py, pz, first, lanes, weight, triangle, nu, tensors)
        for component in range(TENSORS):
            if component < 6:
                far_integrals(tensors, component, lanes, integrals, unused)
                # xx xy xz yy yz zz
                i = 0 if component < 3 else (1 if component < 5 else 2)
                j = component if component < 3 else (component - 2 if component < 5 else 2)
                for corner in range(3):
                    column = 3 * nodes[f, corner]
                    of = np.uint64(corner * LANES)
                    _add(G, np.uint64((column + j) * 3 * points + i * points + first), integrals, of, count)
                    if i != j:
                        _add(G, np.uint64((column + i) * 3 * points + j * points + first), integrals, of, count)
            else:
                i, j = (component - 6) // 3, (component - 6) % 3
                far_integrals(tensors, component, lanes, integrals, totals[LANES * (component - 6) :])
                for corner in range(3):
                    column = 3 * corners[f, corner]
                    of = np.uint64(corner * LANES)
                    _add(H, np.uint64((column + j) * 3 * points + i * points + first), integrals, of, count)
        if close:
            for lane in range(lanes):
                if weight[lane] == 0.0:
                    k = first + lane
                    v = vertex[k]
                    inside = face[k] == f or v == corners[f, 0] or v == corners[f, 1] or v == corners[f, 2]
                    near_integrals(px[k], py[k], pz[k], triangle, nu, inside, values)
                    _scatter(values, nodes[f], corners[f], k, points, G, H)
                    if not inside:
                        for c in range(9):
                            totals[c * LANES + lane] += values[18 + c] + values[27 + c] + values[36 + c]
            for lane in range(lanes):
                weight[lane] = 1.0

    # The free term: H_xj −= N_j(x) Σ ∫T over the triangles that do not hold x.
    for lane in range(lanes):
        k = first + lane
        for corner in range(3):
            if vertex[k] >= 0:
                column, part = 3 * vertex[k], (1.0 if corner == 0 else 0.0)
            else:
                column, part = 3 * corners[face[k], corner], share[k, corner]
            for i in range(3):
                for j in range(3):
                    H[(column + j) * 3 * points + i * points + k] -= part * totals[(3 * i + j) * LANES + lane]


@kernel
def _scatter(values, nodes, corners, k, points, G, H):
    """Add one point's integrals over one triangle to its rows."""
    for corner in range(3):
        node, column = 3 * nodes[corner], 3 * corners[corner]
        for i in range(3):
            for j in range(3):
                low, high = min(i, j), max(i, j)
                u = values[6 * corner + (high if low == 0 else (high + 2 if low == 1 else 5))]
                row = i * points + k
                G[(node + j) * 3 * points + row] += u
                H[(column + j) * 3 * points + row] += values[18 + 9 * corner + 3 * i + j]


@parallel
def assemble(px, py, pz, vertex, face, share, triangles, corners, nodes, nu, G, H, work):
    """G and H of H u = G t, for E = 1, added to zeros; flat, (3g, 3g) and (3g, 3n), column after column.

    ∫T(x, y) (u(y) − u(x)) dA = ∫U(x, y) t(y) dA at each of the g collocation points: translations, and so far as the
    integrals are exact rotations, give no traction, and the solid angle at x never appears.

    `px`, `py`, `pz` (g,): collocation points. `vertex` (g,): the vertex on which the point lies, or −1, and then `face`
    (g,) is the triangle inside which it lies and `share` (g, 3) its shape functions there. `triangles` (m, TRIANGLE),
    `corners` (m, 3): vertices, `nodes` (m, 3): traction nodes. `work` (blocks, WORKSPACE).
    """
    for block in prange(work.shape[0]):
        assemble_block(block, px, py, pz, vertex, face, share, triangles, corners, nodes, nu, G, H, work[block])


@kernel
def _forces_column(start, index, weight, Y, at, S, to):
    for i in range(len(start) - 1):
        x, y, z = 0.0, 0.0, 0.0
        for k in range(start[i], start[i + 1]):
            g, w = at + 3 * index[k], weight[k]
            x += w * Y[g]
            y += w * Y[g + 1]
            z += w * Y[g + 2]
        S[to + 3 * i] = x
        S[to + 3 * i + 1] = y
        S[to + 3 * i + 2] = z


@parallel
def forces(start, index, weight, Y, height, S):
    """S₀ = M Y, column by column; M (n, g) in compressed rows, Y flat with columns of `height`."""
    side = 3 * (len(start) - 1)
    for column in prange(side):
        _forces_column(start, index, weight, Y, column * height, S, column * side)


_TILE = 64


@kernel
def _symmetrise_tiles(matrix, band):
    """Tiles of the band's rows below the diagonal and those across it become their mean."""
    side = len(matrix)
    begin, end = band * _TILE, min(side, (band + 1) * _TILE)
    for other in range(band + 1):
        left, right = other * _TILE, min(side, (other + 1) * _TILE)
        for i in range(begin, end):
            for j in range(left, min(right, i)):
                mean = 0.5 * (matrix[i, j] + matrix[j, i])
                matrix[i, j] = mean
                matrix[j, i] = mean


@parallel
def symmetrise(matrix):
    """``matrix`` <- ½ (matrix + matrixᵀ), in place."""
    bands = (len(matrix) + _TILE - 1) // _TILE
    for k in prange(bands):
        # Long bands and short ones alternate, so that threads get equal shares.
        _symmetrise_tiles(matrix, k // 2 if k % 2 == 0 else bands - 1 - k // 2)
