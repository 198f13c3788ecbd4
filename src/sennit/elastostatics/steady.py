"""Dense algebra whose bits do not depend on how many threads BLAS has.

BLAS and LAPACK share large problems out among their threads, and the sums then depend on their number. Matrices are
therefore multiplied and factored in blocks that are too small to be shared out, and vectors by compiled loops.
"""

from __future__ import annotations

import math

import numpy as np

from sennit.elastostatics.kernels.compliance import row_products, spread
from sennit.validation import FloatArray

__all__ = ["cholesky", "product", "solve", "times", "upper_inverse"]

_BLOCK = 60
"""OpenBLAS takes one thread up to 64³ multiplications, and for a factorisation below 64 rows."""
_PANEL = 30


def times(A: FloatArray, x: FloatArray) -> FloatArray:
    """A x for `A` (m, n), contiguous in either order, and `x` (n,)."""
    out = np.empty(len(A))
    values = np.array(x, dtype=np.float64)  # one that can't be written would be another type to Numba
    if A.flags.c_contiguous:
        row_products(A, np.arange(len(A)), values, out)
    elif A.flags.f_contiguous:
        spread(A.T, np.arange(A.shape[1]), values, out)
    else:
        row_products(np.ascontiguousarray(A), np.arange(len(A)), values, out)
    return out


def product(A: FloatArray, B: FloatArray) -> FloatArray:
    """A B for `A` (m, k) and `B` (k, n)."""
    (m, k), n = A.shape, B.shape[1]
    out = np.zeros((m, n))
    wide = min(n, _BLOCK)
    tall = max(int(math.sqrt(_BLOCK**3 / max(wide, 1))), 1)  # rows of A and of B in a block
    tall = min(tall, 9 * _BLOCK // 4)  # few columns: less than BLAS shares out of a matrix and a vector
    for left in range(0, n, _BLOCK):
        columns = B[:, left : left + _BLOCK]
        for top in range(0, m, tall):
            part = out[top : top + tall, left : left + _BLOCK]
            for start in range(0, k, tall):
                part += A[top : top + tall, start : start + tall] @ columns[start : start + tall]
    return out


def cholesky(A: FloatArray) -> FloatArray | None:
    """R upper with A = RᵀR for `A` (m, m), symmetric; None if it is not positive."""
    from scipy.linalg import lapack  # here, because it takes long to import and only zones need it

    m = len(A)
    R = np.array(A, dtype=np.float64, order="C")
    for start in range(0, m, _BLOCK):
        stop = min(start + _BLOCK, m)
        factor, info = lapack.dpotrf(R[start:stop, start:stop], lower=0, clean=1)
        if info != 0:
            return None
        R[start:stop, start:stop] = factor
        R[start:stop, :start] = 0.0
        if stop == m:
            break
        rows = R[start:stop, stop:] = product(_inverse(factor).T, R[start:stop, stop:])
        for top in range(stop, m, _BLOCK):  # on and above the diagonal only
            these = rows[:, top - stop : top - stop + _BLOCK]
            R[top : top + _BLOCK, top:] -= product(these.T, rows[:, top - stop :])
    return R


def _inverse(small: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(small), dtype=np.float64)


def upper_inverse(R: FloatArray) -> FloatArray:
    """R⁻¹ for `R` (m, m), upper triangular."""
    m = len(R)
    out = np.zeros((m, m))
    for start in range(0, m, _BLOCK):
        stop = min(start + _BLOCK, m)
        own = out[start:stop, start:stop] = _inverse(R[start:stop, start:stop])
        above = product(out[:start, :start], R[:start, start:stop])
        out[:start, start:stop] = -product(above, own)
    return out


def solve(A: FloatArray, b: FloatArray) -> FloatArray:
    """A⁻¹ b for `A` (m, m) and `b` (m,), by elimination with row pivots.

    Raises `numpy.linalg.LinAlgError` if A is singular.
    """
    m = len(A)
    if m <= _BLOCK:
        return np.asarray(np.linalg.solve(A, b))
    LU = np.column_stack((A, b))  # the right side is eliminated along
    for start in range(0, m, _PANEL):
        stop = min(start + _PANEL, m)
        panel = LU[start:, start:stop].copy()
        order = np.arange(start, m)
        for j in range(stop - start):
            best = j + int(np.argmax(np.abs(panel[j:, j])))
            if panel[best, j] == 0.0:
                raise np.linalg.LinAlgError("Singular matrix")
            if best != j:
                panel[[j, best]], order[[j, best]] = panel[[best, j]], order[[best, j]]
            panel[j + 1 :, j] /= panel[j, j]
            panel[j + 1 :, j + 1 :] -= panel[j + 1 :, j, None] * panel[j, j + 1 :]
        LU[start:] = LU[order]
        LU[start:, start:stop] = panel
        lower = np.tril(panel[: stop - start], -1) + np.eye(stop - start)
        LU[start:stop, stop:] = product(_inverse(lower), LU[start:stop, stop:])
        if stop < m:
            LU[stop:, stop:] -= product(panel[stop - start :], LU[start:stop, stop:])
    x = LU[:, m].copy()
    for start in range((m - 1) // _BLOCK * _BLOCK, -1, -_BLOCK):
        stop = min(start + _BLOCK, m)
        x[start:stop] = np.linalg.solve(np.triu(LU[start:stop, start:stop]), x[start:stop])
        x[:start] -= times(np.ascontiguousarray(LU[:start, start:stop]), x[start:stop])
    return x
