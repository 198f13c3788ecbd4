"""Contact of k nodes with planes that support a rigid shape: forces f from a compliance B (3k, 3k), with friction.

    u = u⁰ + B f,   γ_i = n_i·(u_i − a_i),   σ_i = (1 − n_i n_iᵀ)(u_i − r_i)

    0 ≤ f_n ⊥ γ ≥ 0,   |f_t| ≤ μ f_n,   σ = 0 where |f_t| < μ f_n,   f_t = −μ f_n σ/|σ| where σ ≠ 0

a_i: displacement that takes node i to a point of its plane, r_i: displacement that takes it to where it sticks. With
μ = 0 it is the bounded problem of `linalg.bounded`; with friction it is solved by block Gauss–Seidel, one exact solve
for a node at a time (F. Jourdan, P. Alart, M. Jean, Comput. Methods Appl. Mech. Eng. 155, 1998, 31–47), sped up by
Anderson's mixing.

Arrays have room for more than k nodes. `frames` (·, 9): n, t₁, t₂; `local` (·, 15): the node's own block of B in its
frame (nn, n1, n2, 11, 12, 22), its inverse (likewise), the largest eigenvalue of the tangential part; 2 not used.
Nothing is allocated.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.linalg.kernels.bounded import SOLVED, solve_bounded

FRAME = 9
LOCAL = 15
MEMORY = 8
"""Sweeps that are remembered."""
_DIRECTIONS = 2


@kernel
def frame_of(frames, i, nx, ny, nz):
    """Put the unit normal and two tangents into row i."""
    # J. R. Duff et al., Building an orthonormal basis, revisited, J. Comput. Graph. Tech. 6 (2017) 1–8.
    sign = 1.0 if nz >= 0.0 else -1.0
    a = -1.0 / (sign + nz)
    b = nx * ny * a
    frames[i, 0], frames[i, 1], frames[i, 2] = nx, ny, nz
    frames[i, 3], frames[i, 4], frames[i, 5] = 1.0 + sign * nx * nx * a, sign * b, -sign * nx
    frames[i, 6], frames[i, 7], frames[i, 8] = b, sign + ny * ny * a, -ny


@inlined
def turned_entry(B, i, frames, p, q):
    """Entry (p, q) of RᵀB_iiR, R the node's frame."""
    total = 0.0
    for a in range(3):
        for b in range(3):
            total += frames[i, 3 * p + a] * B[3 * i + a, 3 * i + b] * frames[i, 3 * q + b]
    return total


@kernel
def local_block(B, i, frames, local):
    """Row i of `local`: the node's own compliance in its frame, and the inverse."""
    a = turned_entry(B, i, frames, 0, 0)
    b = turned_entry(B, i, frames, 0, 1)
    c = turned_entry(B, i, frames, 0, 2)
    d = turned_entry(B, i, frames, 1, 1)
    e = turned_entry(B, i, frames, 1, 2)
    f = turned_entry(B, i, frames, 2, 2)
    local[i, 0], local[i, 1], local[i, 2], local[i, 3], local[i, 4], local[i, 5] = a, b, c, d, e, f
    A, D, E = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1.0 / (a * A + b * D + c * E)
    local[i, 6], local[i, 7], local[i, 8] = scale * A, scale * D, scale * E
    local[i, 9], local[i, 10], local[i, 11] = scale * (a * f - c * c), scale * (b * c - a * e), scale * (a * d - b * b)
    local[i, 12] = 0.5 * (d + f) + math.sqrt(0.25 * (d - f) * (d - f) + e * e)


@kernel
def coulomb(local, i, mu, q0, q1, q2, f1, f2):
    """Force of one node in its frame, when its gap and slip without force are q; (f1, f2): tangential guess.

    Open, stuck, or slipping in the direction e that a fixed point finds: f_t = μ f_n e, e ∥ f_t − σ/λ_t, with λ_t the
    largest eigenvalue of the tangential block.
    """
    if q0 >= 0.0:
        return 0.0, 0.0, 0.0
    if mu == 0.0:
        return -q0 / local[i, 0], 0.0, 0.0
    s0 = -(local[i, 6] * q0 + local[i, 7] * q1 + local[i, 8] * q2)
    s1 = -(local[i, 7] * q0 + local[i, 9] * q1 + local[i, 10] * q2)
    s2 = -(local[i, 8] * q0 + local[i, 10] * q1 + local[i, 11] * q2)
    if s0 >= 0.0 and s1 * s1 + s2 * s2 <= mu * mu * s0 * s0:
        return s0, s1, s2
    size = math.sqrt(f1 * f1 + f2 * f2)
    if size == 0.0:
        f1, f2 = s1, s2
        size = math.sqrt(f1 * f1 + f2 * f2)
    if size == 0.0:
        return -q0 / local[i, 0], 0.0, 0.0
    e1, e2 = f1 / size, f2 / size
    p = 0.0
    for _ in range(_DIRECTIONS):
        stiff = local[i, 0] + mu * (local[i, 1] * e1 + local[i, 2] * e2)
        # Friction so large that it would pull the node out: the normal force alone closes the gap.
        p = -q0 / (stiff if stiff > 0.0 else local[i, 0])
        t1, t2 = mu * p * e1, mu * p * e2
        r1 = t1 - (q1 + local[i, 1] * p + local[i, 3] * t1 + local[i, 4] * t2) / local[i, 12]
        r2 = t2 - (q2 + local[i, 2] * p + local[i, 4] * t1 + local[i, 5] * t2) / local[i, 12]
        size = math.sqrt(r1 * r1 + r2 * r2)
        if size == 0.0:
            break
        r1 /= size
        r2 /= size
        change = abs(r1 - e1) + abs(r2 - e2)
        e1, e2 = r1, r2
        if change < 1e-13:
            break
    return p, mu * p * e1, mu * p * e2


@inlined
def node_update(i, mu, frames, local, a, r, f, u):
    """By the exact solve of one node: (change of its force in its frame, that as a displacement, new normal force)."""
    n0, n1, n2 = frames[i, 0], frames[i, 1], frames[i, 2]
    o0, o1, o2 = frames[i, 3], frames[i, 4], frames[i, 5]
    w0, w1, w2 = frames[i, 6], frames[i, 7], frames[i, 8]
    x, y, z = u[3 * i], u[3 * i + 1], u[3 * i + 2]
    gap = n0 * (x - a[i, 0]) + n1 * (y - a[i, 1]) + n2 * (z - a[i, 2])
    slip1 = o0 * (x - r[i, 0]) + o1 * (y - r[i, 1]) + o2 * (z - r[i, 2])
    slip2 = w0 * (x - r[i, 0]) + w1 * (y - r[i, 1]) + w2 * (z - r[i, 2])
    f0 = n0 * f[i, 0] + n1 * f[i, 1] + n2 * f[i, 2]
    f1 = o0 * f[i, 0] + o1 * f[i, 1] + o2 * f[i, 2]
    f2 = w0 * f[i, 0] + w1 * f[i, 1] + w2 * f[i, 2]
    q0 = gap - (local[i, 0] * f0 + local[i, 1] * f1 + local[i, 2] * f2)
    q1 = slip1 - (local[i, 1] * f0 + local[i, 3] * f1 + local[i, 4] * f2)
    q2 = slip2 - (local[i, 2] * f0 + local[i, 4] * f1 + local[i, 5] * f2)
    g0, g1, g2 = coulomb(local, i, mu, q0, q1, q2, f1, f2)
    d0, d1, d2 = g0 - f0, g1 - f1, g2 - f2
    return d0, d1, d2, max(local[i, 0] * abs(d0), local[i, 12] * max(abs(d1), abs(d2))), g0


@kernel
def unsolved(k, mu, frames, local, a, r, f, u):
    """How far the forces are from a solution: the largest displacement by which one node's own solve would move it."""
    largest = 0.0
    for i in range(k):
        largest = max(largest, node_update(i, mu, frames, local, a, r, f, u)[3])
    return largest


@kernel
def sweep(B, k, mu, frames, local, a, r, f, u):
    """Solve the nodes one after another. Returns the largest move (m).

    In and out: f (·, 3) and u (·,) = u⁰ + B f. B is symmetric: its columns are read as rows.
    """
    largest = 0.0
    for i in range(k):
        d0, d1, d2, move, pressed = node_update(i, mu, frames, local, a, r, f, u)
        if move == 0.0:
            continue
        largest = max(largest, move)
        x = frames[i, 0] * d0 + frames[i, 3] * d1 + frames[i, 6] * d2
        y = frames[i, 1] * d0 + frames[i, 4] * d1 + frames[i, 7] * d2
        z = frames[i, 2] * d0 + frames[i, 5] * d1 + frames[i, 8] * d2
        if pressed > 0.0:
            f[i, 0] += x
            f[i, 1] += y
            f[i, 2] += z
        else:  # nothing that rounding left: what is not zero counts as closed
            f[i, 0], f[i, 1], f[i, 2] = 0.0, 0.0, 0.0
        for j in range(3 * k):
            u[j] += (x * B[3 * i, j] + y * B[3 * i + 1, j]) + z * B[3 * i + 2, j]
    return largest


@kernel
def remember(k, f, past):
    """Keep the forces before a sweep, for `mix`."""
    for i in range(k):
        for c in range(3):
            past[0, 3 * i + c] = f[i, c]


@inlined
def dot_rows(past, p, q, n):
    """Four sums at once: one alone would wait for itself."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 4 <= n:
        s0 += past[p, j] * past[q, j]
        s1 += past[p, j + 1] * past[q, j + 1]
        s2 += past[p, j + 2] * past[q, j + 2]
        s3 += past[p, j + 3] * past[q, j + 3]
        j += 4
    while j < n:
        s0 += past[p, j] * past[q, j]
        j += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def mix(k, count, f, u, past, gram):
    """Let sweeps help each other: from the last few take the combination whose changes cancel best.

    D. G. Anderson, Iterative procedures for nonlinear integral equations, J. ACM 12 (1965) 547–560; H. F. Walker, P.
    Ni, SIAM J. Numer. Anal. 49 (2011) 1715–1735, eq. 2.2. u = u⁰ + B f is combined as f is. `count`: sweeps since the
    start. past (4 + 3 MEMORY, ·): forces before the sweep; forces, displacements and change of the last one; and their
    differences from sweep to sweep. gram (2 MEMORY + 1, MEMORY): products of the changes' differences; scratch.
    """
    n = 3 * k
    m = min(count, MEMORY)
    if count > 0:
        newest = (count - 1) % MEMORY
        row = 4 + 3 * newest
        for i in range(k):
            for c in range(3):
                j = 3 * i + c
                past[row, j] = f[i, c] - past[1, j]
                past[row + 2, j] = (f[i, c] - past[0, j]) - past[3, j]
        for j in range(n):
            past[row + 1, j] = u[j] - past[2, j]
        for p in range(m):
            gram[p, newest] = dot_rows(past, 6 + 3 * p, row + 2, n)
            gram[newest, p] = gram[p, newest]
    for i in range(k):
        for c in range(3):
            j = 3 * i + c
            past[1, j] = f[i, c]
            past[3, j] = f[i, c] - past[0, j]
    for j in range(n):
        past[2, j] = u[j]
    trace = 0.0
    for p in range(m):
        trace += gram[p, p]
    if not trace > 0.0:
        return
    # Cholesky, and the two triangles; a ridge keeps sweeps apart that say the same.
    L = MEMORY
    x = 2 * MEMORY
    for p in range(m):
        for q in range(p + 1):
            total = gram[p, q] + (1e-13 * trace if p == q else 0.0)
            for c in range(q):
                total -= gram[L + p, c] * gram[L + q, c]
            gram[L + p, q] = math.sqrt(max(total, 1e-16 * trace)) if p == q else total / gram[L + q, q]
    for p in range(m):
        total = dot_rows(past, 6 + 3 * p, 3, n)
        for c in range(p):
            total -= gram[L + p, c] * gram[x, c]
        gram[x, p] = total / gram[L + p, p]
    for p in range(m - 1, -1, -1):
        for c in range(p + 1, m):
            gram[x, p] -= gram[L + c, p] * gram[x, c]
        gram[x, p] /= gram[L + p, p]
    for p in range(m):
        share = gram[x, p]
        for i in range(k):
            for c in range(3):
                f[i, c] -= share * past[4 + 3 * p, 3 * i + c]
        for j in range(n):
            u[j] -= share * past[5 + 3 * p, j]


@kernel
def gauss_seidel(B, k, mu, frames, local, a, r, f, u, past, gram, tolerance, max_sweeps):
    """Sweeps, helped by those before, until none moves a node by more than `tolerance` (m). Returns (sweeps, move)."""
    move = math.inf
    count = 0
    for turn in range(max_sweeps):
        remember(k, f, past)
        last = move
        move = sweep(B, k, mu, frames, local, a, r, f, u)
        if not move > tolerance:
            return turn + 1, move
        if move > 10.0 * last:
            count = 0
        mix(k, count, f, u, past, gram)
        count += 1
    return max_sweeps, move


@kernel
def displaced(B, k, u0, f, u):
    """u ← u⁰ + B f."""
    for j in range(3 * k):
        u[j] = u0[j]
    for i in range(k):
        x, y, z = f[i, 0], f[i, 1], f[i, 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            for j in range(3 * k):
                u[j] += (x * B[3 * i, j] + y * B[3 * i + 1, j]) + z * B[3 * i + 2, j]


@kernel
def normal_forces(B, k, frames, a, u0, f, u, state, matrices, vectors, order):
    """The frictionless problem by an active set. Returns (0 if solved, solves).

    In and out: state (·,), −1 open, 0 closed. Out: f, u. Scratch: matrices (2, ·, ·), vectors (10, ·), order (2, ·).
    """
    normal = matrices[0]
    b, lo, hi, lam, y = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
    for i in range(k):
        n0, n1, n2 = frames[i, 0], frames[i, 1], frames[i, 2]
        for j in range(3 * k):
            u[j] = n0 * B[3 * i, j] + n1 * B[3 * i + 1, j] + n2 * B[3 * i + 2, j]
        for j in range(k):
            normal[i, j] = u[3 * j] * frames[j, 0] + u[3 * j + 1] * frames[j, 1] + u[3 * j + 2] * frames[j, 2]
        b[i] = n0 * (u0[3 * i] - a[i, 0]) + n1 * (u0[3 * i + 1] - a[i, 1]) + n2 * (u0[3 * i + 2] - a[i, 2])
        lo[i], hi[i] = 0.0, math.inf
    status, solves = solve_bounded(normal, b, lo, hi, k, lam, y, state, matrices[1], vectors[5:10], order, 4 * k + 40)
    for i in range(k):
        p = max(lam[i], 0.0)
        f[i, 0], f[i, 1], f[i, 2] = p * frames[i, 0], p * frames[i, 1], p * frames[i, 2]
    displaced(B, k, u0, f, u)
    return 0 if status == SOLVED else 1, solves
