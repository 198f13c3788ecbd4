"""A Cholesky factor that follows its rows: C_DD = RᵀR with R upper, kept when rows enter and leave D.

R is stored by rows in a square array with room to grow; only [:m, :m] on and above the diagonal means anything. Inner
loops run from 0 over slices: that is what becomes vector instructions, at a third of the time.
"""

from __future__ import annotations

import math

from sennit.compilation import kernel
from sennit.elastostatics.kernels.compliance import dot


@kernel
def forward(R, m, x):
    """x ← R⁻ᵀ x."""
    for j in range(m):
        a = x[j] / R[j, j]
        x[j] = a
        row, rest = R[j, j + 1 : m], x[j + 1 : m]
        for c in range(row.size):
            rest[c] -= a * row[c]


@kernel
def backward(R, m, x):
    """x ← R⁻¹ x."""
    for i in range(m):
        j = m - 1 - i
        x[j] = (x[j] - dot(R[j, j + 1 : m], x[j + 1 : m])) / R[j, j]


@kernel
def solve(R, m, x):
    """x ← C_DD⁻¹ x."""
    forward(R, m, x)
    backward(R, m, x)


@kernel
def append(R, m, C, rows, entering, work):
    """Let up to three `entering` rows into D: the new columns are R⁻ᵀ C_D,new. Returns the new size, −1 on failure.

    `rows` (capacity,) are the rows in D, `work` (3, capacity). The new rows share each reading of R.
    """
    k = entering.size
    for a in range(3):
        for i in range(m):
            work[a, i] = C[entering[a], rows[i]] if a < k else 0.0
    for j in range(m):
        inverse = 1.0 / R[j, j]
        x, y, z = work[0, j] * inverse, work[1, j] * inverse, work[2, j] * inverse
        work[0, j], work[1, j], work[2, j] = x, y, z
        row = R[j, j + 1 : m]
        rest0, rest1, rest2 = work[0, j + 1 : m], work[1, j + 1 : m], work[2, j + 1 : m]
        for c in range(row.size):
            r = row[c]
            rest0[c] -= x * r
            rest1[c] -= y * r
            rest2[c] -= z * r
    for a in range(k):
        n = m + a
        row = entering[a]
        for b in range(a):
            total = C[entering[b], row] - dot(work[b, : m + b], work[a, : m + b])
            work[a, m + b] = total / R[m + b, m + b]
        square = C[row, row] - dot(work[a, :n], work[a, :n])
        if not square > 1e-14 * C[row, row]:
            return -1
        R[n, n] = math.sqrt(square)
        rows[n] = row
    for i in range(m + k):
        for a in range(max(i + 1 - m, 0), k):
            R[i, m + a] = work[a, i]
    return m + k


@kernel
def remove(R, m, rows, place):
    """Let the row at `place` of D leave: its column goes, and Givens rotations of rows j, j+1 restore the triangle."""
    for i in range(place, m - 1):
        rows[i] = rows[i + 1]
    # The columns right of the leaving one move left; each then reaches one row below the diagonal.
    for i in range(place):
        for c in range(place, m - 1):
            R[i, c] = R[i, c + 1]
    for i in range(place, m):
        for c in range(max(place, i - 1), m - 1):
            R[i, c] = R[i, c + 1]
    for j in range(place, m - 1):
        a, b = R[j, j], R[j + 1, j]
        r = math.hypot(a, b)
        cosine, sine = a / r, b / r
        R[j, j] = r
        upper, lower = R[j, j + 1 : m - 1], R[j + 1, j + 1 : m - 1]
        for c in range(upper.size):
            p, q = upper[c], lower[c]
            upper[c] = cosine * p + sine * q
            lower[c] = cosine * q - sine * p
    return m - 1


@kernel
def block(C, rows, m, out):
    """out[:m, :m] = C_DD."""
    for i in range(m):
        r = rows[i]
        for j in range(m):
            out[i, j] = C[r, rows[j]]
