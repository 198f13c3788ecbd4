"""A sparse matrix, factored, for very many right sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from sennit.compile_once import compile_once
from sennit.elastostatics.kernels.columns import solve_blocks
from sennit.elastostatics.tables import SparseFactors
from sennit.validation import FloatArray

__all__ = ["ColumnSolver", "prepare"]

LANES = 64
_BLOCKS = 4


class ColumnSolver:
    """LU factors of a sparse symmetric positive matrix (k, k)."""

    def __init__(self, matrix: scipy.sparse.csc_array) -> None:
        prepare()
        self._factor(matrix)

    def _factor(self, matrix: scipy.sparse.csc_array) -> None:
        # Positive: pivots may stay on the diagonal, in the order that fills in least.
        lu = scipy.sparse.linalg.splu(
            scipy.sparse.csc_matrix(matrix),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        lower, upper = scipy.sparse.tril(lu.L, -1, format="csc"), scipy.sparse.triu(lu.U, 1, format="csc")
        self._factors = SparseFactors.of(
            lower_start=lower.indptr.astype(np.int64), lower_row=lower.indices.astype(np.int64), lower=lower.data,
            upper_start=upper.indptr.astype(np.int64), upper_row=upper.indices.astype(np.int64), upper=upper.data,
            pivot=np.ascontiguousarray(lu.U.diagonal()),
        )  # fmt: skip
        self._rows = np.argsort(lu.perm_r)
        self._columns = lu.perm_c

    def blocks(self, count: int, right_sides: Callable[[slice], FloatArray]) -> Iterator[tuple[slice, FloatArray]]:
        """Solutions (k, some) for `count` columns, some of them at a time; right_sides(slice) gives (k, some)."""
        width = LANES * _BLOCKS
        X = np.zeros((_BLOCKS, len(self._factors.pivot), LANES))
        for start in range(0, count, width):
            part = slice(start, min(start + width, count))
            given = right_sides(part)
            used = part.stop - part.start
            needed = -(-used // LANES)
            for b in range(needed):
                columns = given[:, b * LANES : (b + 1) * LANES]
                X[b, :, : columns.shape[1]] = columns[self._rows]
                X[b, :, columns.shape[1] :] = 0.0
            solve_blocks(self._factors, X[:needed])
            yield part, np.hstack([X[b][self._columns] for b in range(needed)])[:, :used]


def prepare() -> None:
    """Compile the kernels now, where they never were: before something else draws a progress bar."""
    compile_once("column", [_compile])


def _compile() -> None:
    solver = object.__new__(ColumnSolver)
    solver._factor(scipy.sparse.csc_array(np.array([(2.0, 1.0), (1.0, 2.0)])))
    next(solver.blocks(1, lambda part: np.ones((2, 1))))
