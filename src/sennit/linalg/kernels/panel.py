"""Transient rows: constraint rows that come and go without a new analysis (contacts, stops, slack cables).

For a row b (few natural indices and coefficients) y = L⁻¹ P b is nonzero only on the paths from its panels to the roots
of the elimination tree. With Y the matrix of all such y, the Schur complement of the rows is

    C = Yᵀ D⁻¹ Y = B K⁻¹ Bᵀ,

and their multipliers change a forward-solved right-hand side by −Y λ before the backward solve.

A set of such rows is a table `sennit.linalg.panel_rows.PanelRows`. Its `vectors` must be zero before their first use;
`clear_row` restores that.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import kernel
from sennit.linalg.kernels.ldlt import forward_panel


@kernel
def panel_row(plan, factor, count, panel_rows, r):
    """Vector r of `panel_rows` <- L⁻¹ P b, with b the sum of ``coefficient[k]`` at natural ``index[k]``, k < count."""
    panels = plan.parent.shape[0]
    position, parent = plan.position, plan.parent
    index, coefficient, mark = panel_rows.index, panel_rows.coefficient, panel_rows.mark
    row = panel_rows.vectors[r]
    path = panel_rows.reach[r]
    # Depth-first: each new path ends at a panel that is already listed, so it goes in front of what is there. The
    # list grows down from the end of its storage; the path found so far grows up from the beginning.
    top = panels
    for k in range(count):
        at = np.int64(position[index[k]])
        row[at] += coefficient[k]
        p = at >> 2
        depth = 0
        while p != panels and mark[p] == 0:
            mark[p] = 1
            path[depth] = p
            depth += 1
            p = np.int64(parent[p])
        while depth > 0:
            depth -= 1
            top -= 1
            path[top] = path[depth]
    length = panels - top
    for k in range(length):
        p = np.int64(path[top + k])
        path[k] = p
        mark[p] = 0
        forward_panel(plan, p, factor, row)
    panel_rows.reached[r] = length


@kernel
def clear_row(panel_rows, r):
    """Make vector r of `panel_rows` zero again."""
    y, reach, reached = panel_rows.vectors, panel_rows.reach, panel_rows.reached
    for k in range(np.int64(reached[r])):
        c = 4 * np.int64(reach[r, k])
        y[r, c] = 0.0
        y[r, c + 1] = 0.0
        y[r, c + 2] = 0.0
        y[r, c + 3] = 0.0
    reached[r] = 0


@kernel
def schur(diagonal, panel_rows, rows, complement):
    """``complement[:rows, :rows]`` <- Yᵀ D⁻¹ Y."""
    y, reach, reached = panel_rows.vectors, panel_rows.reach, panel_rows.reached
    for i in range(rows):
        for j in range(i + 1):
            # The sum runs over what the two reaches share: the shorter list holds all of it.
            s = i if reached[i] <= reached[j] else j
            total = 0.0
            for k in range(np.int64(reached[s])):
                c = 4 * np.int64(reach[s, k])
                total += y[i, c] * y[j, c] / diagonal[c] + y[i, c + 1] * y[j, c + 1] / diagonal[c + 1]
                total += y[i, c + 2] * y[j, c + 2] / diagonal[c + 2] + y[i, c + 3] * y[j, c + 3] / diagonal[c + 3]
            complement[i, j] = total
            complement[j, i] = total


@kernel
def row_dot(diagonal, panel_rows, r, w):
    """y_rᵀ D⁻¹ w, for w = L⁻¹ P f: the row's value b·K⁻¹ f."""
    y, reach, reached = panel_rows.vectors, panel_rows.reach, panel_rows.reached
    total = 0.0
    for k in range(np.int64(reached[r])):
        c = 4 * np.int64(reach[r, k])
        total += y[r, c] * w[c] / diagonal[c] + y[r, c + 1] * w[c + 1] / diagonal[c + 1]
        total += y[r, c + 2] * w[c + 2] / diagonal[c + 2] + y[r, c + 3] * w[c + 3] / diagonal[c + 3]
    return total


@kernel
def add_row(panel_rows, r, scale, w):
    """w <- w + scale y_r."""
    y, reach, reached = panel_rows.vectors, panel_rows.reach, panel_rows.reached
    for k in range(np.int64(reached[r])):
        c = 4 * np.int64(reach[r, k])
        w[c] += scale * y[r, c]
        w[c + 1] += scale * y[r, c + 1]
        w[c + 2] += scale * y[r, c + 2]
        w[c + 3] += scale * y[r, c + 3]
