"""Panels of dense blocks: Cholesky factors, triangular solves, products.

Seams are numbered in their order of elimination. Panel p holds column block p of A (or of its Cholesky factor) from the
diagonal down: entry (row i, column j) of it stands at ``panel + j height + i``. All sizes are multiples of 4. `seams`,
`links` and `plan` are tables of `chain.tables`.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import kernel
from sennit.elastostatics.chain.kernels.vector import axpy4, dot4, tile4, tile8


@kernel
def factor_panel(panels, at, ld, size, height):
    """Cholesky factor of a panel's first `size` columns, from the diagonal down to `height`; 0, or a bad pivot + 1.

    Four columns at a time: what is left of them is taken off in tiles, then they are divided by their triangle.
    """
    for J in range(0, size, 4):
        c0 = at + J * ld
        if J > 0:
            i = J
            while i + 8 <= height:
                tile8(panels, panels, panels, c0 + i, ld, at + i, ld, at + J, ld, J)
                i += 8
            while i < height:
                tile4(panels, panels, panels, c0 + i, ld, at + i, ld, at + J, ld, J)
                i += 4
        c1, c2, c3 = c0 + ld, c0 + 2 * ld, c0 + 3 * ld
        d0 = panels[c0 + J]
        if not d0 > 0.0:
            return J + 1
        r0 = 1.0 / np.sqrt(d0)
        l10, l20, l30 = panels[c0 + J + 1] * r0, panels[c0 + J + 2] * r0, panels[c0 + J + 3] * r0
        d1 = panels[c1 + J + 1] - l10 * l10
        if not d1 > 0.0:
            return J + 2
        r1 = 1.0 / np.sqrt(d1)
        l21 = (panels[c1 + J + 2] - l20 * l10) * r1
        l31 = (panels[c1 + J + 3] - l30 * l10) * r1
        d2 = panels[c2 + J + 2] - l20 * l20 - l21 * l21
        if not d2 > 0.0:
            return J + 3
        r2 = 1.0 / np.sqrt(d2)
        l32 = (panels[c2 + J + 3] - l30 * l20 - l31 * l21) * r2
        d3 = panels[c3 + J + 3] - l30 * l30 - l31 * l31 - l32 * l32
        if not d3 > 0.0:
            return J + 4
        r3 = 1.0 / np.sqrt(d3)
        for i in range(J, height):
            x0 = panels[c0 + i] * r0
            x1 = (panels[c1 + i] - l10 * x0) * r1
            x2 = (panels[c2 + i] - l20 * x0 - l21 * x1) * r2
            x3 = (panels[c3 + i] - l30 * x0 - l31 * x1 - l32 * x2) * r3
            panels[c0 + i] = x0
            panels[c1 + i] = x1
            panels[c2 + i] = x2
            panels[c3 + i] = x3
    return 0


@kernel
def factor_diagonals(seams, panels):
    """Factor the diagonal blocks alone; 0, or the seam + 1 whose block is not positive."""
    for s in range(len(seams.nodes)):
        n = 3 * seams.nodes[s]
        if factor_panel(panels, seams.panel[s], seams.height[s], n, n) != 0:
            return s + 1
    return 0


@kernel
def factor_whole(plan, panels):
    """Block Cholesky factor of A, panel after panel; 0, or the seam + 1 at which it stopped."""
    seams, updates = plan.seams, plan.updates
    for s in range(len(seams.nodes)):
        at, ld = seams.panel[s], seams.height[s]
        n = 3 * seams.nodes[s]
        if factor_panel(panels, at, ld, n, ld) != 0:
            return s + 1
        for e in range(updates.starts[s], updates.starts[s + 1]):
            q, r = at + updates.q_begin[e], at + updates.r_begin[e]
            to, to_ld = updates.target[e], updates.target_height[e]
            rows, lower = updates.q_size[e], updates.lower[e] == 1
            for J in range(0, updates.r_size[e], 4):
                i = J if lower else 0
                c0 = to + J * to_ld
                while i + 8 <= rows:
                    tile8(panels, panels, panels, c0 + i, to_ld, q + i, ld, r + J, ld, n)
                    i += 8
                while i < rows:
                    tile4(panels, panels, panels, c0 + i, to_ld, q + i, ld, r + J, ld, n)
                    i += 4
    return 0


@kernel
def forward(panels, at, ld, size, y, y0):
    """y <- L⁻¹ y for one diagonal block."""
    for J in range(0, size, 4):
        c0 = at + J * ld + J
        c1, c2, c3 = c0 + ld, c0 + 2 * ld, c0 + 3 * ld
        i = y0 + J
        x0 = y[i] / panels[c0]
        x1 = (y[i + 1] - panels[c0 + 1] * x0) / panels[c1 + 1]
        x2 = (y[i + 2] - panels[c0 + 2] * x0 - panels[c1 + 2] * x1) / panels[c2 + 2]
        x3 = (y[i + 3] - panels[c0 + 3] * x0 - panels[c1 + 3] * x1 - panels[c2 + 3] * x2) / panels[c3 + 3]
        y[i], y[i + 1], y[i + 2], y[i + 3] = x0, x1, x2, x3
        axpy4(panels, c0 + 4, ld, -x0, -x1, -x2, -x3, y, i + 4, size - J - 4)


@kernel
def backward(panels, at, ld, size, y, y0):
    """y <- L⁻ᵀ y for one diagonal block."""
    for J in range(size - 4, -1, -4):
        c0 = at + J * ld + J
        c1, c2, c3 = c0 + ld, c0 + 2 * ld, c0 + 3 * ld
        i = y0 + J
        s0, s1, s2, s3 = dot4(panels, c0 + 4, ld, y, i + 4, size - J - 4)
        x3 = (y[i + 3] - s3) / panels[c3 + 3]
        x2 = (y[i + 2] - s2 - panels[c2 + 3] * x3) / panels[c2 + 2]
        x1 = (y[i + 1] - s1 - panels[c1 + 2] * x2 - panels[c1 + 3] * x3) / panels[c1 + 1]
        x0 = (y[i] - s0 - panels[c0 + 1] * x1 - panels[c0 + 2] * x2 - panels[c0 + 3] * x3) / panels[c0]
        y[i], y[i + 1], y[i + 2], y[i + 3] = x0, x1, x2, x3


@kernel
def take_down(panels, at, ld, columns, rows, x, x0, y, y0):
    """y −= B x for a block B of a panel."""
    for J in range(0, columns, 4):
        i = x0 + J
        axpy4(panels, at + J * ld, ld, -x[i], -x[i + 1], -x[i + 2], -x[i + 3], y, y0, rows)


@kernel
def take_up(panels, at, ld, columns, rows, x, x0, y, y0):
    """y −= Bᵀ x for a block B of a panel."""
    for J in range(0, columns, 4):
        s0, s1, s2, s3 = dot4(panels, at + J * ld, ld, x, x0, rows)
        i = y0 + J
        y[i] -= s0
        y[i + 1] -= s1
        y[i + 2] -= s2
        y[i + 3] -= s3


@kernel
def solve_whole(plan, panels, y):
    """y <- A⁻¹ y with the whole factor."""
    seams, links = plan.seams, plan.factored
    for s in range(len(seams.nodes)):
        at, ld, n, y0 = seams.panel[s], seams.height[s], 3 * seams.nodes[s], seams.at[s]
        forward(panels, at, ld, n, y, y0)
        for e in range(links.starts[s], links.starts[s + 1]):
            q = links.row[e]
            take_down(panels, at + links.begin[e], ld, n, 3 * seams.nodes[q], y, y0, y, seams.at[q])
    backward_whole(seams, links, panels, y)


@kernel
def backward_whole(seams, links, panels, y):
    """y <- L⁻ᵀ y with the factor that has the blocks `links` below its diagonal."""
    for s in range(len(seams.nodes) - 1, -1, -1):
        at, ld, n, y0 = seams.panel[s], seams.height[s], 3 * seams.nodes[s], seams.at[s]
        for e in range(links.starts[s], links.starts[s + 1]):
            q = links.row[e]
            take_up(panels, at + links.begin[e], ld, n, 3 * seams.nodes[q], y, seams.at[q], y, y0)
        backward(panels, at, ld, n, y, y0)


@kernel
def solve_diagonals(seams, panels, y):
    """y <- D⁻¹ y, each seam by its own factored diagonal block."""
    for s in range(len(seams.nodes)):
        at, ld, n, y0 = seams.panel[s], seams.height[s], 3 * seams.nodes[s], seams.at[s]
        forward(panels, at, ld, n, y, y0)
        backward(panels, at, ld, n, y, y0)


@kernel
def forward_many(seams, links, panels, Y, width):
    """Y <- L⁻¹ Y with the factor that has the blocks `links` below its diagonal.

    `Y` (dofs, width) has one right side a column, `width` a multiple of 4.
    """
    ld_y = Y.shape[1]
    for s in range(len(seams.nodes)):
        at, ld, n, y0 = seams.panel[s], seams.height[s], 3 * seams.nodes[s], seams.at[s]
        for J in range(0, n, 4):
            i = 0
            while i + 8 <= width and J > 0:
                tile8(Y, Y, panels, (y0 + J) * ld_y + i, ld_y, y0 * ld_y + i, ld_y, at + J, ld, J)
                i += 8
            while i < width and J > 0:
                tile4(Y, Y, panels, (y0 + J) * ld_y + i, ld_y, y0 * ld_y + i, ld_y, at + J, ld, J)
                i += 4
            for c in range(J, J + 4):
                row = Y[y0 + c]
                for k in range(J, c):
                    factor = panels[at + k * ld + c]
                    above = Y[y0 + k]
                    for i in range(width):
                        row[i] -= factor * above[i]
                scale = 1.0 / panels[at + c * ld + c]
                for i in range(width):
                    row[i] *= scale
        for e in range(links.starts[s], links.starts[s + 1]):
            q = links.row[e]
            q0, begin = seams.at[q], at + links.begin[e]
            for J in range(0, 3 * seams.nodes[q], 4):
                i = 0
                while i + 8 <= width:
                    tile8(Y, Y, panels, (q0 + J) * ld_y + i, ld_y, y0 * ld_y + i, ld_y, begin + J, ld, n)
                    i += 8
                while i < width:
                    tile4(Y, Y, panels, (q0 + J) * ld_y + i, ld_y, y0 * ld_y + i, ld_y, begin + J, ld, n)
                    i += 4
