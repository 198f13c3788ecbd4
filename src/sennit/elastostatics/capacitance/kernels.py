"""A Cholesky factor that follows its rows: C_DD = RᵀR with R upper, kept when rows enter and leave D.

R is stored by rows in a square array with room to grow; only [:m, :m] on and above the diagonal means anything.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel


@inlined
def _dot_from(R, j, start, stop, x):
    """Σ_c R[j, c] x[c] in four sums: one alone would wait for itself."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    c = start
    while c + 4 <= stop:
        s0 += R[j, c] * x[c]
        s1 += R[j, c + 1] * x[c + 1]
        s2 += R[j, c + 2] * x[c + 2]
        s3 += R[j, c + 3] * x[c + 3]
        c += 4
    while c < stop:
        s0 += R[j, c] * x[c]
        c += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def forward(R, m, x):
    """x ← R⁻ᵀ x."""
    for j in range(m):
        a = x[j] / R[j, j]
        x[j] = a
        for c in range(j + 1, m):
            x[c] -= a * R[j, c]


@kernel
def backward(R, m, x):
    """x ← R⁻¹ x."""
    for i in range(m):
        j = m - 1 - i
        x[j] = (x[j] - _dot_from(R, j, j + 1, m, x)) / R[j, j]


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
        for c in range(j + 1, m):
            r = R[j, c]
            work[0, c] -= x * r
            work[1, c] -= y * r
            work[2, c] -= z * r
    for a in range(k):
        n = m + a
        row = entering[a]
        for b in range(a):
            total = C[entering[b], row]
            for i in range(m + b):
                total -= R[i, m + b] * work[a, i]
            work[a, m + b] = total / R[m + b, m + b]
        square = C[row, row]
        for i in range(n):
            square -= work[a, i] * work[a, i]
        if not square > 1e-14 * C[row, row]:
            return -1
        for i in range(n):
            R[i, n] = work[a, i]
        R[n, n] = math.sqrt(square)
        rows[n] = row
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
        for c in range(j + 1, m - 1):
            p, q = R[j, c], R[j + 1, c]
            R[j, c] = cosine * p + sine * q
            R[j + 1, c] = cosine * q - sine * p
    return m - 1


@kernel
def block(C, rows, m, out):
    """out[:m, :m] = C_DD."""
    for i in range(m):
        r = rows[i]
        for j in range(m):
            out[i, j] = C[r, rows[j]]
