"""Transient rows: constraint rows that come and go without a new analysis (contacts, stops, slack cables).

For a row b (few natural indices and coefficients) y = L⁻¹ P b is nonzero only on the paths from its panels to the roots
of the elimination tree. With Y the matrix of all such y, the Schur complement of the rows is

    C = Yᵀ D⁻¹ Y = B K⁻¹ Bᵀ,

and their multipliers change a forward-solved right-hand side by −Y λ before the backward solve.

A set of rows is held in `y` (rows, 4 panels), zero outside each row's reach, `reach` (rows, panels) uint32, panels in
an order that puts children before parents, and `reached` (rows,) uint32, how many. `y` must be zero before its first
use; `clear_row` restores that.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import kernel
from sennit.linalg.kernels.ldlt import forward_panel
from sennit.linalg.kernels.symbolic import PANEL, PANELS, PARENT, POSITION


@kernel
def panel_row(plan, factor, index, coefficient, begin, end, y, reach, reached, r, mark):
    """Row r of `y` <- L⁻¹ P b, with b the sum of ``coefficient[k]`` at natural ``index[k]``, begin ≤ k < end.

    `mark` is a workspace of `panels` bytes, zero at the call and after it.
    """
    panels = np.int64(plan[PANELS])
    at_panel = np.int64(plan[PANEL])
    at_parent = np.int64(plan[PARENT])
    at_position = np.int64(plan[POSITION])
    row = y[r]
    path = reach[r]
    # Depth-first: each new path ends at a panel that is already listed, so it goes in front of what is there. The
    # list grows down from the end of its storage; the path found so far grows up from the beginning.
    top = panels
    for k in range(begin, end):
        at = np.int64(plan[at_position + np.int64(index[k])])
        row[at] += coefficient[k]
        p = at >> 2
        depth = 0
        while p != panels and mark[p] == 0:
            mark[p] = 1
            path[depth] = p
            depth += 1
            p = np.int64(plan[at_parent + p])
        while depth > 0:
            depth -= 1
            top -= 1
            path[top] = path[depth]
    count = panels - top
    for k in range(count):
        p = np.int64(path[top + k])
        path[k] = p
        mark[p] = 0
        forward_panel(plan, at_panel + 8 * p, factor, row, 4 * p)
    reached[r] = count


@kernel
def clear_row(y, reach, reached, r):
    """Make row r of `y` zero again."""
    for k in range(np.int64(reached[r])):
        c = 4 * np.int64(reach[r, k])
        y[r, c] = 0.0
        y[r, c + 1] = 0.0
        y[r, c + 2] = 0.0
        y[r, c + 3] = 0.0
    reached[r] = 0


@kernel
def schur(diagonal, y, reach, reached, rows, complement):
    """``complement[:rows, :rows]`` <- Yᵀ D⁻¹ Y."""
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
def row_dot(diagonal, y, reach, reached, r, w):
    """y_rᵀ D⁻¹ w, for w = L⁻¹ P f: the row's value b·K⁻¹ f."""
    total = 0.0
    for k in range(np.int64(reached[r])):
        c = 4 * np.int64(reach[r, k])
        total += y[r, c] * w[c] / diagonal[c] + y[r, c + 1] * w[c + 1] / diagonal[c + 1]
        total += y[r, c + 2] * w[c + 2] / diagonal[c + 2] + y[r, c + 3] * w[c + 3] / diagonal[c + 3]
    return total


@kernel
def add_row(y, reach, reached, r, scale, w):
    """w <- w + scale y_r."""
    for k in range(np.int64(reached[r])):
        c = 4 * np.int64(reach[r, k])
        w[c] += scale * y[r, c]
        w[c + 1] += scale * y[r, c + 1]
        w[c + 2] += scale * y[r, c + 2]
        w[c + 3] += scale * y[r, c + 3]
