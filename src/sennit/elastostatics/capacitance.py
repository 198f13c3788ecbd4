"""Changed boundary conditions by the capacitance matrix C_DD, whose Cholesky factor follows what enters and leaves D.

Rows D of free nodes are held at displacements ū under loads f::

    λ = C_DD⁻¹ (ū − (C f)_D),   u = C f + C_:D λ

λ are the forces that hold them: Woodbury's formula, and exact. Reference: D. L. James and D. K. Pai, ArtDefo: accurate
real time deformable objects, Proc. SIGGRAPH (1999) 65–72, section 4.
"""

from __future__ import annotations

import numpy as np

from sennit.elastostatics import steady
from sennit.elastostatics.kernels.capacitance import append, block, remove, solve
from sennit.elastostatics.surface import IntArray
from sennit.validation import FloatArray

__all__ = ["Capacitance"]


class Capacitance:
    """The Cholesky factor of C_DD for a compliance C that does not change and rows D that do.

    Entering costs m² operations per row, leaving at most 3 m²; a new factor is made when that is less. Not for two
    threads at once.
    """

    def __init__(self, compliance: FloatArray) -> None:
        self._compliance = compliance
        self._factor = np.zeros((12, 12))
        self._rows = np.zeros(12, dtype=np.int64)
        self._work = np.zeros((3, 12))
        self._count = 0
        self.refactored = 0
        """How often a factor was made anew."""
        self.updated = 0
        """How many rows have entered or left by an update."""

    @property
    def rows(self) -> IntArray:
        """D (m,): the held rows, in the order of the factor."""
        return self._rows[: self._count].copy()

    def hold(self, rows: IntArray) -> None:
        """Make D the set of `rows` (m,), distinct rows of C: those that it has and shall not have leave, others enter.

        Their order is that of `self.rows` afterwards. Raises `ArithmeticError` if C_DD is not positive.
        """
        held = self._rows[: self._count]
        stays = np.isin(held, rows)
        entering = np.asarray(rows, dtype=np.int64)[~np.isin(rows, held)]
        m = len(rows)
        self._reserve(max(m, self._count))
        leaving = np.flatnonzero(~stays)
        tail = (self._count - leaving).astype(np.float64)
        if 3.0 * float(tail @ tail) + len(entering) * m * m > m**3 / 3.0 + 500.0:
            self._refactor(np.concatenate((held[stays], entering)))
            return
        for place in leaving[::-1].tolist():
            self._count = remove(self._factor, self._count, self._rows, place)
        self.updated += len(leaving) + len(entering)
        for start in range(0, len(entering), 3):
            grown = append(
                self._factor, self._count, self._compliance, self._rows, entering[start : start + 3], self._work
            )
            if grown < 0:
                self._refactor(np.concatenate((self._rows[: self._count], entering[start:])))
                return
            self._count = grown

    def solve(self, right: FloatArray) -> FloatArray:
        """C_DD⁻¹ `right` (m,), in the order of `rows`."""
        result = np.array(right, dtype=np.float64)
        solve(self._factor, self._count, result)
        return result

    def _reserve(self, m: int) -> None:
        have = len(self._rows)
        if m + 3 <= have:
            return
        size = max(m + 3, 2 * have)
        factor, rows = np.zeros((size, size)), np.zeros(size, dtype=np.int64)
        factor[:have, :have] = self._factor
        rows[:have] = self._rows
        self._factor, self._rows, self._work = factor, rows, np.zeros((3, size))

    def _refactor(self, rows: IntArray) -> None:
        m = len(rows)
        matrix = np.empty((m, m))
        block(self._compliance, rows, m, matrix)
        factor = steady.cholesky(matrix)
        if factor is None:
            self._count = 0
            raise ArithmeticError("the capacitance matrix is not positive")
        self._factor[:m, :m] = factor
        self._rows[:m] = rows
        self._count = m
        self.refactored += 1
