"""L U X = B for many columns, with a sparse L and U: a row of X holds the numbers of several columns side by side.

SuperLU takes the columns one after the other and reads the factors anew for each. Here every entry of the factors is
used for all columns of a block at once, with vector instructions.
"""

from __future__ import annotations


from sennit.compilation import kernel, parallel, prange


@kernel
def solve_block(factors, X):
    """X (rows, lanes) <- (L U)⁻¹ X; `factors` is the table `SparseFactors`."""
    lower_start, lower_row, lower = factors.lower_start, factors.lower_row, factors.lower
    upper_start, upper_row, upper = factors.upper_start, factors.upper_row, factors.upper
    rows, lanes = X.shape
    for j in range(rows):
        some = False  # most rows of a right side are zero, and stay so for a while
        for lane in range(lanes):
            some = some or X[j, lane] != 0.0
        if some:
            for k in range(lower_start[j], lower_start[j + 1]):
                i, value = lower_row[k], lower[k]
                for lane in range(lanes):
                    X[i, lane] -= value * X[j, lane]
    for j in range(rows - 1, -1, -1):
        scale = 1.0 / factors.pivot[j]
        for lane in range(lanes):
            X[j, lane] *= scale
        for k in range(upper_start[j], upper_start[j + 1]):
            i, value = upper_row[k], upper[k]
            for lane in range(lanes):
                X[i, lane] -= value * X[j, lane]


@parallel
def solve_blocks(factors, X):
    """The same for every X[b] (rows, lanes), shared among the cores."""
    for b in prange(X.shape[0]):
        solve_block(factors, X[b])
