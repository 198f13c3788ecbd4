"""Assembly of the boundary elements' matrices, and of the stiffness from their solution.

Rows belong to collocation points, which come in an order that keeps neighbours together, in blocks of LANES points
with the first axis of all of them first: one triangle's integrals for a block are vector instructions, and a column's
part in it is one piece of memory. The order of rows does not matter to what is solved for. Matrices are flat, column
after column.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, kernel, parallel, prange
from sennit.elastostatics.kernels.kelvin import LANES, NEAR, TENSORS, far_integrals, far_tensors, near_integrals


@inlined
def _add(matrix, at, source, of, lanes):
    for lane in range(lanes):
        matrix[at + lane] += source[of + lane]


@kernel
def assemble_block(block, points, elements, nu, G, H, work):
    """The rows of one block of points: see `assemble`."""
    px, py, pz, vertex, face = points.x, points.y, points.z, points.vertex, points.face
    corners, nodes, centre = elements.vertices, elements.nodes, elements.centre
    tensors, integrals, totals = work.tensors[block], work.integrals[block], work.totals[block]
    unused, weight = work.unused[block], work.weight[block]
    near_u, near_t = work.near_u[block], work.near_t[block]
    count_of_points = len(px)
    height = 3 * count_of_points
    first = block * LANES
    lanes = min(LANES, count_of_points - first)
    first3 = 3 * first
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

    for f in range(len(corners)):
        mx, my, mz = centre[f, 0], centre[f, 1], centre[f, 2]
        reach = NEAR * elements.reach[f]
        close = (mx - cx) ** 2 + (my - cy) ** 2 + (mz - cz) ** 2 < (radius + reach) ** 2
        if close:
            for lane in range(lanes):
                k = first + lane
                distance = (mx - px[k]) ** 2 + (my - py[k]) ** 2 + (mz - pz[k]) ** 2
                weight[lane] = 0.0 if distance < reach * reach else 1.0
        far_tensors(points, first, lanes, weight, elements, f, nu, tensors)
        for component in range(TENSORS):
            if component < 6:
                far_integrals(tensors, component, lanes, integrals, unused)
                # xx xy xz yy yz zz
                i = 0 if component < 3 else (1 if component < 5 else 2)
                j = component if component < 3 else (component - 2 if component < 5 else 2)
                for corner in range(3):
                    column = 3 * nodes[f, corner]
                    of = np.uint64(corner * LANES)
                    _add(G, np.uint64((column + j) * height + first3 + i * lanes), integrals, of, count)
                    if i != j:
                        _add(G, np.uint64((column + i) * height + first3 + j * lanes), integrals, of, count)
            else:
                i, j = (component - 6) // 3, (component - 6) % 3
                far_integrals(tensors, component, lanes, integrals, totals[LANES * (component - 6) :])
                for corner in range(3):
                    column = 3 * corners[f, corner]
                    of = np.uint64(corner * LANES)
                    _add(H, np.uint64((column + j) * height + first3 + i * lanes), integrals, of, count)
        if close:
            for lane in range(lanes):
                if weight[lane] == 0.0:
                    k = first + lane
                    v = vertex[k]
                    inside = face[k] == f or v == corners[f, 0] or v == corners[f, 1] or v == corners[f, 2]
                    near_integrals(px[k], py[k], pz[k], elements, f, nu, inside, near_u, near_t)
                    _scatter(near_u, nodes[f], first3 + lane, lanes, height, G)
                    _scatter(near_t, corners[f], first3 + lane, lanes, height, H)
                    if not inside:
                        for i in range(3):
                            for j in range(3):
                                total = near_t[0, i, j] + near_t[1, i, j] + near_t[2, i, j]
                                totals[(3 * i + j) * LANES + lane] += total
            for lane in range(lanes):
                weight[lane] = 1.0

    # The free term: H_xj −= N_j(x) Σ ∫T over the triangles that do not hold x.
    for lane in range(lanes):
        k = first + lane
        for corner in range(3):
            if vertex[k] >= 0:
                column, part = 3 * vertex[k], (1.0 if corner == 0 else 0.0)
            else:
                column, part = 3 * corners[face[k], corner], points.share[k, corner]
            for i in range(3):
                for j in range(3):
                    H[(column + j) * height + first3 + i * lanes + lane] -= part * totals[(3 * i + j) * LANES + lane]


@kernel
def _scatter(values, columns, row, lanes, height, matrix):
    """Add one point's integrals (3, 3, 3) over one triangle to its rows, in the `columns` of the three corners."""
    for corner in range(3):
        column = 3 * columns[corner]
        for i in range(3):
            for j in range(3):
                matrix[(column + j) * height + row + i * lanes] += values[corner, i, j]


@parallel
def assemble(points, elements, nu, G, H, work):
    """G and H of H u = G t, for E = 1, added to zeros; flat, (3g, 3g) and (3g, 3n), column after column.

    ∫T(x, y) (u(y) − u(x)) dA = ∫U(x, y) t(y) dA at each of the g collocation points: translations, and so far as the
    integrals are exact rotations, give no traction, and the solid angle at x never appears.

    `points`, `elements` and `work` are the tables `Points`, `Elements` and `LaneWork`, the last with a row a block.
    """
    for block in prange(len(work.weight)):
        assemble_block(block, points, elements, nu, G, H, work)


@kernel
def _forces_columns(start, index, weight, Y, at, height, S, to, side):
    """Two columns of S₀, so that the numbers of M are read once for both."""
    for i in range(len(start) - 1):
        x0, y0, z0, x1, y1, z1 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(start[i], start[i + 1]):
            w = weight[k]
            g = at + index[k]
            x0 += w * Y[g]
            y0 += w * Y[g + np.uint64(1)]
            z0 += w * Y[g + np.uint64(2)]
            g += height
            x1 += w * Y[g]
            y1 += w * Y[g + np.uint64(1)]
            z1 += w * Y[g + np.uint64(2)]
        o = to + np.uint64(3 * i)
        S[o], S[o + np.uint64(1)], S[o + np.uint64(2)] = x0, y0, z0
        o += side
        S[o], S[o + np.uint64(1)], S[o + np.uint64(2)] = x1, y1, z1


@parallel
def forces(start, index, weight, Y, height, S):
    """S₀ = M Y; M (n, g) in compressed rows, Y flat with columns of `height`.

    `start` (n + 1,), `index` (three times the traction node) and `weight` are M's; unsigned, which makes reading twice
    as fast.
    """
    side = 3 * (len(start) - 1)
    for pair in prange((side + 1) // 2):
        # An odd number of columns: the last pair takes the last column and the one before, again.
        column = min(2 * pair, side - 2)
        _forces_columns(
            start, index, weight, Y, np.uint64(column * height), np.uint64(height), S, np.uint64(column * side),
            np.uint64(side),
        )  # fmt: skip


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


@kernel
def _thickness_below(face, vertices, faces, normals):
    """Distance from the face's centroid against its normal to the first other face; infinite if there is none."""
    a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
    ox = (vertices[a, 0] + vertices[b, 0] + vertices[c, 0]) / 3.0
    oy = (vertices[a, 1] + vertices[b, 1] + vertices[c, 1]) / 3.0
    oz = (vertices[a, 2] + vertices[b, 2] + vertices[c, 2]) / 3.0
    dx, dy, dz = -normals[face, 0], -normals[face, 1], -normals[face, 2]
    nearest = np.inf
    for other in range(len(faces)):
        a, b, c = faces[other, 0], faces[other, 1], faces[other, 2]
        nx, ny, nz = normals[other, 0], normals[other, 1], normals[other, 2]
        slope = dx * nx + dy * ny + dz * nz
        if slope <= 0.0:
            continue  # the ray leaves the body through a face that looks its way; its own face does not
        ax, ay, az = vertices[a, 0] - ox, vertices[a, 1] - oy, vertices[a, 2] - oz
        distance = (ax * nx + ay * ny + az * nz) / slope
        if distance <= 0.0 or distance >= nearest:
            continue
        bx, by, bz = vertices[b, 0] - ox, vertices[b, 1] - oy, vertices[b, 2] - oz
        cx, cy, cz = vertices[c, 0] - ox, vertices[c, 1] - oy, vertices[c, 2] - oz
        # The ray meets the triangle if it has all three edges on its left.
        if (
            dx * (ay * bz - az * by) + dy * (az * bx - ax * bz) + dz * (ax * by - ay * bx) >= 0.0
            and dx * (by * cz - bz * cy) + dy * (bz * cx - bx * cz) + dz * (bx * cy - by * cx) >= 0.0
            and dx * (cy * az - cz * ay) + dy * (cz * ax - cx * az) + dz * (cx * ay - cy * ax) >= 0.0
        ):
            nearest = distance
    return nearest


@parallel
def wall_thickness(vertices, faces, normals, out):
    """How far the other side is, straight through the body from each face's centroid <- `out` (m,)."""
    for face in prange(len(faces)):
        out[face] = _thickness_below(face, vertices, faces, normals)
