"""The compliance C (3k, 3k) of a zone's free nodes: symmetric, so that its columns are read as contiguous rows."""

from __future__ import annotations

from sennit.compilation import inlined, kernel

TILE = 64
CHUNK = 2048


@inlined
def dot(x, y):
    """Σ x y in eight sums: one alone would wait for itself."""
    s0, s1, s2, s3, s4, s5, s6, s7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    eights = x.size // 8
    for k in range(eights):
        c = 8 * k
        s0 += x[c] * y[c]
        s1 += x[c + 1] * y[c + 1]
        s2 += x[c + 2] * y[c + 2]
        s3 += x[c + 3] * y[c + 3]
        s4 += x[c + 4] * y[c + 4]
        s5 += x[c + 5] * y[c + 5]
        s6 += x[c + 6] * y[c + 6]
        s7 += x[c + 7] * y[c + 7]
    for c in range(8 * eights, x.size):
        s0 += x[c] * y[c]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@kernel
def gather_lower(S, rows, C):
    """Lower triangle of C = S[rows, rows]; what is above the diagonal is left as it is."""
    n = rows.size
    for i in range(n):
        r = rows[i]
        for j in range(i + 1):
            C[i, j] = S[r, rows[j]]


@kernel
def shift_lower(C, G, scale):
    """C += scale G Gᵀ, lower triangle only."""
    n, q = G.shape
    for i in range(n):
        row = C[i, : i + 1]
        for k in range(q):
            a = scale * G[i, k]
            for j in range(row.size):
                row[j] += a * G[j, k]


@kernel
def mirror_lower(C):
    """Copy the lower triangle of C over the upper one, tile by tile, in place."""
    n = C.shape[0]
    for top in range(0, n, TILE):
        bottom = min(top + TILE, n)
        for left in range(0, top + 1, TILE):
            right = min(left + TILE, n)
            for i in range(top, bottom):
                for j in range(left, min(right, i)):
                    C[j, i] = C[i, j]


@kernel
def spread(C, rows, values, out):
    """out = Σ_k values[k] C[rows[k], :], four rows at a time: contiguous reads, and few passes over `out`."""
    n = C.shape[1]
    m = rows.size
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        part = out[start:stop]
        for c in range(part.size):
            part[c] = 0.0
        k = 0
        while k + 4 <= m:
            w, x = C[rows[k], start:stop], C[rows[k + 1], start:stop]
            y, z = C[rows[k + 2], start:stop], C[rows[k + 3], start:stop]
            a0, a1, a2, a3 = values[k], values[k + 1], values[k + 2], values[k + 3]
            for c in range(part.size):
                part[c] += (a0 * w[c] + a1 * x[c]) + (a2 * y[c] + a3 * z[c])
            k += 4
        while k < m:
            w, a0 = C[rows[k], start:stop], values[k]
            for c in range(part.size):
                part[c] += a0 * w[c]
            k += 1


@kernel
def picked(C, rows, columns, values, out):
    """out[i] = Σ_j C[rows[i], columns[j]] values[j]."""
    for i in range(rows.size):
        r = rows[i]
        total = 0.0
        for j in range(columns.size):
            total += C[r, columns[j]] * values[j]
        out[i] = total


@kernel
def row_products(S, rows, x, out):
    """out = S[rows] x, without a copy of those rows."""
    for i in range(rows.size):
        out[i] = dot(S[rows[i]], x)


@kernel
def place_free(free, packed, out):
    """Rows of free nodes, packed (3k,), to their vertices in `out` (n, 3); the others become 0."""
    for i in range(out.shape[0]):
        out[i, 0] = 0.0
        out[i, 1] = 0.0
        out[i, 2] = 0.0
    for k in range(free.size):
        v = free[k]
        out[v, 0] = packed[3 * k]
        out[v, 1] = packed[3 * k + 1]
        out[v, 2] = packed[3 * k + 2]
