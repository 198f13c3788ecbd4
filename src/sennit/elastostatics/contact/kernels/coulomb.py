"""Contact of k nodes with planes that support a rigid shape: forces f from a compliance B (3k, 3k), with friction.

    u = u⁰ + B f,   γ_i = n_i·(u_i − a_i),   σ_i = (1 − n_i n_iᵀ)(u_i − r_i)

    0 ≤ f_n ⊥ γ ≥ 0,   |f_t| ≤ μ f_n,   σ = 0 where |f_t| < μ f_n,   f_t = −μ f_n σ/|σ| where σ ≠ 0

a_i: displacement that takes node i to a point of its plane, r_i: displacement that takes it to where it sticks. With
μ = 0 it is the bounded problem of `linalg.bounded`; with friction it is solved by block Gauss–Seidel, one exact solve
for a node at a time (F. Jourdan, P. Alart, M. Jean, Comput. Methods Appl. Mech. Eng. 155, 1998, 31–47), sped up by
Anderson's mixing.

`nodes`, `active` and `mixing` are the tables of these names in `touching.tables`; they have room for more than k nodes.
Nothing is allocated.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.linalg.kernels.bounded import SOLVED, solve_bounded

MEMORY = 8
"""Sweeps that are remembered."""
_DIRECTIONS = 2


@kernel
def set_frame(nodes, i, nx, ny, nz):
    """The frame of node i: its unit normal and two tangents."""
    # J. R. Duff et al., Building an orthonormal basis, revisited, J. Comput. Graph. Tech. 6 (2017) 1–8.
    sign = 1.0 if nz >= 0.0 else -1.0
    a = -1.0 / (sign + nz)
    b = nx * ny * a
    frame = nodes.frame
    frame[i, 0, 0], frame[i, 0, 1], frame[i, 0, 2] = nx, ny, nz
    frame[i, 1, 0], frame[i, 1, 1], frame[i, 1, 2] = 1.0 + sign * nx * nx * a, sign * b, -sign * nx
    frame[i, 2, 0], frame[i, 2, 1], frame[i, 2, 2] = b, sign + ny * ny * a, -ny


@inlined
def turned_entry(nodes, i, p, q):
    """Entry (p, q) of RᵀB_iiR, R the node's frame."""
    B, frame = nodes.compliance, nodes.frame
    total = 0.0
    for a in range(3):
        for b in range(3):
            total += frame[i, p, a] * B[3 * i + a, 3 * i + b] * frame[i, q, b]
    return total


@kernel
def set_own_block(nodes, i):
    """Node i's own compliance in its frame, and the inverse."""
    a = turned_entry(nodes, i, 0, 0)
    b = turned_entry(nodes, i, 0, 1)
    c = turned_entry(nodes, i, 0, 2)
    d = turned_entry(nodes, i, 1, 1)
    e = turned_entry(nodes, i, 1, 2)
    f = turned_entry(nodes, i, 2, 2)
    own, inverse = nodes.own, nodes.inverse
    own[i, 0, 0], own[i, 0, 1], own[i, 0, 2], own[i, 1, 1], own[i, 1, 2], own[i, 2, 2] = a, b, c, d, e, f
    A, D, E = d * f - e * e, c * e - b * f, b * e - c * d
    scale = 1.0 / (a * A + b * D + c * E)
    inverse[i, 0, 0], inverse[i, 0, 1], inverse[i, 0, 2] = scale * A, scale * D, scale * E
    inverse[i, 1, 1], inverse[i, 1, 2] = scale * (a * f - c * c), scale * (b * c - a * e)
    inverse[i, 2, 2] = scale * (a * d - b * b)
    nodes.yielding[i] = 0.5 * (d + f) + math.sqrt(0.25 * (d - f) * (d - f) + e * e)


@kernel
def coulomb(nodes, i, mu, q0, q1, q2, f1, f2):
    """Force of one node in its frame, when its gap and slip without force are q; (f1, f2): tangential guess.

    Open, stuck, or slipping in the direction e that a fixed point finds: f_t = μ f_n e, e ∥ f_t − σ/λ_t, with λ_t the
    largest eigenvalue of the tangential block.
    """
    own, inverse = nodes.own, nodes.inverse
    if q0 >= 0.0:
        return 0.0, 0.0, 0.0
    if mu == 0.0:
        return -q0 / own[i, 0, 0], 0.0, 0.0
    s0 = -(inverse[i, 0, 0] * q0 + inverse[i, 0, 1] * q1 + inverse[i, 0, 2] * q2)
    s1 = -(inverse[i, 0, 1] * q0 + inverse[i, 1, 1] * q1 + inverse[i, 1, 2] * q2)
    s2 = -(inverse[i, 0, 2] * q0 + inverse[i, 1, 2] * q1 + inverse[i, 2, 2] * q2)
    if s0 >= 0.0 and s1 * s1 + s2 * s2 <= mu * mu * s0 * s0:
        return s0, s1, s2
    size = math.sqrt(f1 * f1 + f2 * f2)
    if size == 0.0:
        f1, f2 = s1, s2
        size = math.sqrt(f1 * f1 + f2 * f2)
    if size == 0.0:
        return -q0 / own[i, 0, 0], 0.0, 0.0
    e1, e2 = f1 / size, f2 / size
    yielding = nodes.yielding[i]
    p = 0.0
    for _ in range(_DIRECTIONS):
        stiff = own[i, 0, 0] + mu * (own[i, 0, 1] * e1 + own[i, 0, 2] * e2)
        # Friction so large that it would pull the node out: the normal force alone closes the gap.
        p = -q0 / (stiff if stiff > 0.0 else own[i, 0, 0])
        t1, t2 = mu * p * e1, mu * p * e2
        r1 = t1 - (q1 + own[i, 0, 1] * p + own[i, 1, 1] * t1 + own[i, 1, 2] * t2) / yielding
        r2 = t2 - (q2 + own[i, 0, 2] * p + own[i, 1, 2] * t1 + own[i, 2, 2] * t2) / yielding
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
def node_update(nodes, i, mu):
    """By the exact solve of one node: (change of its force in its frame, that as a displacement, new normal force)."""
    frame, own, f, u, a, r = nodes.frame, nodes.own, nodes.force, nodes.displaced, nodes.plane, nodes.stick
    n0, n1, n2 = frame[i, 0, 0], frame[i, 0, 1], frame[i, 0, 2]
    o0, o1, o2 = frame[i, 1, 0], frame[i, 1, 1], frame[i, 1, 2]
    w0, w1, w2 = frame[i, 2, 0], frame[i, 2, 1], frame[i, 2, 2]
    x, y, z = u[3 * i], u[3 * i + 1], u[3 * i + 2]
    gap = n0 * (x - a[i, 0]) + n1 * (y - a[i, 1]) + n2 * (z - a[i, 2])
    slip1 = o0 * (x - r[i, 0]) + o1 * (y - r[i, 1]) + o2 * (z - r[i, 2])
    slip2 = w0 * (x - r[i, 0]) + w1 * (y - r[i, 1]) + w2 * (z - r[i, 2])
    f0 = n0 * f[i, 0] + n1 * f[i, 1] + n2 * f[i, 2]
    f1 = o0 * f[i, 0] + o1 * f[i, 1] + o2 * f[i, 2]
    f2 = w0 * f[i, 0] + w1 * f[i, 1] + w2 * f[i, 2]
    q0 = gap - (own[i, 0, 0] * f0 + own[i, 0, 1] * f1 + own[i, 0, 2] * f2)
    q1 = slip1 - (own[i, 0, 1] * f0 + own[i, 1, 1] * f1 + own[i, 1, 2] * f2)
    q2 = slip2 - (own[i, 0, 2] * f0 + own[i, 1, 2] * f1 + own[i, 2, 2] * f2)
    g0, g1, g2 = coulomb(nodes, i, mu, q0, q1, q2, f1, f2)
    d0, d1, d2 = g0 - f0, g1 - f1, g2 - f2
    return d0, d1, d2, max(own[i, 0, 0] * abs(d0), nodes.yielding[i] * max(abs(d1), abs(d2))), g0


@kernel
def unsolved(nodes, k, mu):
    """How far the forces are from a solution: the largest displacement by which one node's own solve would move it."""
    largest = 0.0
    for i in range(k):
        largest = max(largest, node_update(nodes, i, mu)[3])
    return largest


@kernel
def sweep(nodes, k, mu):
    """Solve the nodes one after another. Returns the largest move (m).

    In and out: forces and displacements u = u⁰ + B f. B is symmetric: its columns are read as rows.
    """
    B, frame, f, u = nodes.compliance, nodes.frame, nodes.force, nodes.displaced
    largest = 0.0
    for i in range(k):
        d0, d1, d2, move, pressed = node_update(nodes, i, mu)
        if move == 0.0:
            continue
        largest = max(largest, move)
        x = frame[i, 0, 0] * d0 + frame[i, 1, 0] * d1 + frame[i, 2, 0] * d2
        y = frame[i, 0, 1] * d0 + frame[i, 1, 1] * d1 + frame[i, 2, 1] * d2
        z = frame[i, 0, 2] * d0 + frame[i, 1, 2] * d1 + frame[i, 2, 2] * d2
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
def remember(nodes, k, mixing):
    """Keep the forces before a sweep, for `mix`."""
    f, before = nodes.force, mixing.before
    for i in range(k):
        for c in range(3):
            before[3 * i + c] = f[i, c]


@inlined
def dot(x, y, n):
    """Σ x y of the first n numbers in four sums at once: one alone would wait for itself."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 4 <= n:
        s0 += x[j] * y[j]
        s1 += x[j + 1] * y[j + 1]
        s2 += x[j + 2] * y[j + 2]
        s3 += x[j + 3] * y[j + 3]
        j += 4
    while j < n:
        s0 += x[j] * y[j]
        j += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def mix(nodes, k, count, mixing):
    """Let sweeps help each other: from the last few take the combination whose changes cancel best.

    D. G. Anderson, Iterative procedures for nonlinear integral equations, J. ACM 12 (1965) 547–560; H. F. Walker, P.
    Ni, SIAM J. Numer. Anal. 49 (2011) 1715–1735, eq. 2.2. u = u⁰ + B f is combined as f is. `count`: sweeps since the
    start.
    """
    f, u = nodes.force, nodes.displaced
    before, force, displaced, change = mixing.before, mixing.force, mixing.displaced, mixing.change
    force_steps, displaced_steps, change_steps = mixing.force_steps, mixing.displaced_steps, mixing.change_steps
    products, factor, shares = mixing.products, mixing.factor, mixing.shares
    n = 3 * k
    m = min(count, MEMORY)
    if count > 0:
        newest = (count - 1) % MEMORY
        for i in range(k):
            for c in range(3):
                j = 3 * i + c
                force_steps[newest, j] = f[i, c] - force[j]
                change_steps[newest, j] = (f[i, c] - before[j]) - change[j]
        for j in range(n):
            displaced_steps[newest, j] = u[j] - displaced[j]
        for p in range(m):
            products[p, newest] = dot(change_steps[p], change_steps[newest], n)
            products[newest, p] = products[p, newest]
    for i in range(k):
        for c in range(3):
            j = 3 * i + c
            force[j] = f[i, c]
            change[j] = f[i, c] - before[j]
    for j in range(n):
        displaced[j] = u[j]
    trace = 0.0
    for p in range(m):
        trace += products[p, p]
    if not trace > 0.0:
        return
    # Cholesky, and the two triangles; a ridge keeps sweeps apart that say the same.
    for p in range(m):
        for q in range(p + 1):
            total = products[p, q] + (1e-13 * trace if p == q else 0.0)
            for c in range(q):
                total -= factor[p, c] * factor[q, c]
            factor[p, q] = math.sqrt(max(total, 1e-16 * trace)) if p == q else total / factor[q, q]
    for p in range(m):
        total = dot(change_steps[p], change, n)
        for c in range(p):
            total -= factor[p, c] * shares[c]
        shares[p] = total / factor[p, p]
    for p in range(m - 1, -1, -1):
        for c in range(p + 1, m):
            shares[p] -= factor[c, p] * shares[c]
        shares[p] /= factor[p, p]
    for p in range(m):
        share = shares[p]
        for i in range(k):
            for c in range(3):
                f[i, c] -= share * force_steps[p, 3 * i + c]
        for j in range(n):
            u[j] -= share * displaced_steps[p, j]


@kernel
def gauss_seidel(nodes, k, mu, mixing, tolerance, max_sweeps):
    """Sweeps, helped by those before, until none moves a node by more than `tolerance` (m). Returns (sweeps, move)."""
    move = math.inf
    count = 0
    for turn in range(max_sweeps):
        remember(nodes, k, mixing)
        last = move
        move = sweep(nodes, k, mu)
        if not move > tolerance:
            return turn + 1, move
        if move > 10.0 * last:
            count = 0
        mix(nodes, k, count, mixing)
        count += 1
    return max_sweeps, move


@kernel
def displace(nodes, k):
    """u ← u⁰ + B f."""
    B, f, u, u0 = nodes.compliance, nodes.force, nodes.displaced, nodes.untouched
    for j in range(3 * k):
        u[j] = u0[j]
    for i in range(k):
        x, y, z = f[i, 0], f[i, 1], f[i, 2]
        if x != 0.0 or y != 0.0 or z != 0.0:
            for j in range(3 * k):
                u[j] += (x * B[3 * i, j] + y * B[3 * i + 1, j]) + z * B[3 * i + 2, j]


@kernel
def normal_forces(nodes, k, active):
    """The frictionless problem by an active set. Returns (0 if solved, solves).

    In and out: which nodes are closed. Out: forces and displacements.
    """
    B, frame, a, f = nodes.compliance, nodes.frame, nodes.plane, nodes.force
    u0, u = nodes.untouched, nodes.displaced
    normal = active.matrix
    for i in range(k):
        n0, n1, n2 = frame[i, 0, 0], frame[i, 0, 1], frame[i, 0, 2]
        for j in range(3 * k):
            u[j] = n0 * B[3 * i, j] + n1 * B[3 * i + 1, j] + n2 * B[3 * i + 2, j]
        for j in range(k):
            normal[i, j] = u[3 * j] * frame[j, 0, 0] + u[3 * j + 1] * frame[j, 0, 1] + u[3 * j + 2] * frame[j, 0, 2]
        active.gap[i] = n0 * (u0[3 * i] - a[i, 0]) + n1 * (u0[3 * i + 1] - a[i, 1]) + n2 * (u0[3 * i + 2] - a[i, 2])
        active.lower[i], active.upper[i], active.side[i] = 0.0, math.inf, nodes.closed[i]
    status, solves = solve_bounded(active, k, 4 * k + 40)
    for i in range(k):
        nodes.closed[i] = active.side[i]
        p = max(active.multiplier[i], 0.0)
        f[i, 0], f[i, 1], f[i, 2] = p * frame[i, 0, 0], p * frame[i, 0, 1], p * frame[i, 0, 2]
    displace(nodes, k)
    return 0 if status == SOLVED else 1, solves
