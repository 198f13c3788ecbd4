"""A factorisation that owns its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit.linalg.kernels import ldlt as ldlt
from sennit.linalg.plan import Plan, plan_of
from sennit.validation import FloatArray

__all__ = ["Factorisation", "Inertia"]


@dataclass(frozen=True)
class Inertia:
    """What the pivots of a factorisation tell.

    `negative`: number of negative pivots; without dependent rows that is the number of negative eigenvalues.
    `dependent`: constraint rows that depend on rows before them. `bad`: natural index of the first primal unknown whose
    pivot is not positive, or -1.
    """

    negative: int
    dependent: int
    bad: int


class Factorisation:
    """LDLᵀ factorisation of a sparse symmetric quasi-definite matrix whose pattern stays and whose values change.

    Arguments:

    * `block_start` (blocks + 1,): first unknown of each block of consecutive unknowns.
    * `block_kind` (blocks,): 0 primal with a definite diagonal, 1 constraint rows, 2 primal whose diagonal may be zero.
    * `row`, `col` (entries,): unknowns of each entry, in either triangle; a pair may come more than once (its values
      are added), but not as (i, j) and (j, i) for the same entry.
    * `slot` (entries,): where an entry's value stands in the `values` of `factorise`.

    Entries whose slots follow each other along one row of a block are read four at a time: list them in that order.

    For kernels: `plan` (a `sennit.linalg.plan.Plan`) and the arrays `factor`, `diagonal`, `ratio`, `work`; `panels`,
    and `size` = 4 panels, the length of a permuted vector.
    """

    def __init__(
        self, block_start: ArrayLike, block_kind: ArrayLike, row: ArrayLike, col: ArrayLike, slot: ArrayLike
    ) -> None:
        self.row: NDArray[np.uint32] = np.ascontiguousarray(row, np.uint32)
        self.col: NDArray[np.uint32] = np.ascontiguousarray(col, np.uint32)
        self.slot: NDArray[np.uint32] = np.ascontiguousarray(slot, np.uint32)
        self.block_start: NDArray[np.uint32] = np.ascontiguousarray(block_start, np.uint32)
        self.block_kind: NDArray[np.uint8] = np.ascontiguousarray(block_kind, np.uint8)
        self.plan: Plan = plan_of(self.block_start, self.block_kind, self.row, self.col, self.slot)
        self.n = len(self.plan.position)
        self.panels, self.size = self.plan.panels, self.plan.size
        self.nonzeros = int(self.plan.nonzeros[0])
        self.factor: FloatArray = np.zeros(self.plan.factor_length)
        self.diagonal: FloatArray = np.ones(self.size)
        self.ratio: FloatArray = np.ones(self.size)
        self.work: FloatArray = np.zeros(self.size)

    @property
    def position(self) -> NDArray[np.uint32]:
        """Permuted position of each natural unknown."""
        position: NDArray[np.uint32] = self.plan.position
        return position

    def factorise(self, values: FloatArray) -> Inertia:
        """Factorise the matrix with these values (1-D float64)."""
        negative, dependent, bad = ldlt.factorise(self.plan, values, self.factor, self.diagonal, self.ratio)
        if bad >= 0:
            bad = int(np.flatnonzero(self.position == bad)[0])
        return Inertia(int(negative), int(dependent), int(bad))

    def pivots(self) -> FloatArray:
        """Pivots in natural numbering."""
        return self.diagonal[self.position]

    def row_ratio(self) -> FloatArray:
        """For constraint rows, in natural numbering, |pivot| over what made it negative; 1 for primal unknowns."""
        return self.ratio[self.position]

    def solve(self, right: ArrayLike, values: FloatArray | None = None, refinements: int = 0) -> FloatArray:
        """Solution for one right-hand side (n,); `refinements` need the `values` that were factorised."""
        target = np.array(right, np.float64)
        x = target.copy()
        ldlt.solve(self.plan, self.factor, self.diagonal, x, self.work)
        for _ in range(refinements if values is not None else 0):
            residual = target - self.multiply(values, x)
            ldlt.solve(self.plan, self.factor, self.diagonal, residual, self.work)
            x += residual
        return x

    def multiply(self, values: Any, x: ArrayLike) -> FloatArray:
        """Product of the matrix with a vector (n,)."""
        y = np.empty(self.n)
        ldlt.multiply(values, self.row, self.col, self.slot, np.ascontiguousarray(x, np.float64), y)
        return y
