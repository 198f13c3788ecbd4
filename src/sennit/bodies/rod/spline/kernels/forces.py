"""Forces and stiffness of a spline rod, summed over its integration points.

The centreline r(u) = Σ Nᵢ Pᵢ and the roll θ(u) = Σ Nᵢ φᵢ are cubic splines; u runs over the spans, a prime is d/du.
With a = r′, b = r″, j = |a|, t = a/j, the frame d1 = cos θ u1 + sin θ u2, d2 = t × d1, d3 = t stands on a reference
vector u1 ⟂ t that is carried from shape to shape without turning about t; m is its twist along the rod::

    β = t′ = (b − (b·t) t)/j      β₃ = b·t/j
    ε = j/J − 1    κ1 = −β·d2/J    κ2 = β·d1/J    τ = (θ′ + m)/J          J = |r0′| at rest
    energy = Σ w J/2 [EA ε² + B1 (κ1 − κ̂1)² + B2 (κ2 − κ̂2)² + GJ (τ − τ̂)²]

Kelvin–Voigt damping adds `rate` (ε − ε_last) to each strain in excess of rest, rate = relaxation time / step.

The tables and their columns are those of `sennit.rods.tables.RodTables`, stacked over all rods of a scene: `b0`, `b1`
and `s0`, `s1` are a rod's rows, `rod` its row of `constants`, `dof0` its first degree of freedom in the flat `q`,
`n` its number of control points. Integers are int, everything else float64; `closed`, `exact` and `push` are 0 or 1.
"""

from __future__ import annotations

import math

import numpy as np

from sennit.compilation import allocating, inlined, kernel
from sennit.geometry.kernels.algebra import cross3, dot3, mat_vec, scale3
from sennit.bodies.rod.spline.kernels.basis import (  # for those who use both
    span_basis as span_basis,
    spline_basis as spline_basis,
    spline_basis_rows as spline_basis_rows,
    spline_span as spline_span,
    transport_along as transport_along,
)

HALF = 256  # where the scratch of `assemble_spline` holds H B: after the 16 × 16 numbers of a span

# ---------------------------------------------------------------------------------------------------- one point of it


@inlined
def control_dofs(first, dof0, n):
    """The first degrees of freedom of a span's four control points."""
    i1, i2, i3 = first + 1, first + 2, first + 3
    if i1 >= n:
        i1 -= n
    if i2 >= n:
        i2 -= n
    if i3 >= n:
        i3 -= n
    return dof0 + 4 * first, dof0 + 4 * i1, dof0 + 4 * i2, dof0 + 4 * i3


@inlined
def blend3(q, dofs, table, row, column):
    """Σ Nᵢ Pᵢ with the four weights from `column` of a table's row."""
    n0, n1, n2, n3 = table[row, column], table[row, column + 1], table[row, column + 2], table[row, column + 3]
    i0, i1, i2, i3 = dofs
    return (
        n0 * q[i0] + n1 * q[i1] + n2 * q[i2] + n3 * q[i3],
        n0 * q[i0 + 1] + n1 * q[i1 + 1] + n2 * q[i2 + 1] + n3 * q[i3 + 1],
        n0 * q[i0 + 2] + n1 * q[i1 + 2] + n2 * q[i2 + 2] + n3 * q[i3 + 2],
    )


@inlined
def blend_roll(q, dofs, table, row, column):
    """Σ Nᵢ φᵢ with the four weights from `column` of a table's row."""
    i0, i1, i2, i3 = dofs
    return (
        table[row, column] * q[i0 + 3]
        + table[row, column + 1] * q[i1 + 3]
        + table[row, column + 2] * q[i2 + 3]
        + table[row, column + 3] * q[i3 + 3]
    )


@inlined
def tangent_of(a, b):
    """1/j, t, β and β₃ of a = r′ and b = r″."""
    per_j = 1.0 / math.sqrt(dot3(a, a))
    t = scale3(per_j, a)
    along = dot3(b, t)
    beta = (b[0] - along * t[0]) * per_j, (b[1] - along * t[1]) * per_j, (b[2] - along * t[2]) * per_j
    return per_j, t, beta, along * per_j


@inlined
def directors(theta, t, state, row):
    """d1 and d2 from the roll and the reference vector u1 in a state's row."""
    u1 = state[row, 3], state[row, 4], state[row, 5]
    u2 = cross3(t, u1)
    c, s = math.cos(theta), math.sin(theta)
    d1 = c * u1[0] + s * u2[0], c * u1[1] + s * u2[1], c * u1[2] + s * u2[2]
    d2 = c * u2[0] - s * u1[0], c * u2[1] - s * u1[1], c * u2[2] - s * u1[2]
    return d1, d2


@inlined
def bend_strains(q, dofs, table, state, row):
    """κ1, κ2, τ at a bending point whose frame was carried to q."""
    a, b = blend3(q, dofs, table, row, 6), blend3(q, dofs, table, row, 10)
    theta, dtheta = blend_roll(q, dofs, table, row, 2), blend_roll(q, dofs, table, row, 6)
    per_j, t, beta, beta3 = tangent_of(a, b)
    d1, d2 = directors(theta, t, state, row)
    per_rest = 1.0 / table[row, 1]
    return -dot3(beta, d2) * per_rest, dot3(beta, d1) * per_rest, (dtheta + state[row, 9]) * per_rest


@inlined
def stretch_strain(q, dofs, table, row):
    """ε at a stretching point."""
    a = blend3(q, dofs, table, row, 2)
    return math.sqrt(dot3(a, a)) / table[row, 1] - 1.0


# ------------------------------------------------------------------------------------------------------------ frames


@kernel
def carry_frames_spline(q, dof0, n, closed, bend_table, bend_span, state_in, state_out, b0, b1):
    """Carry the frames of rows b0 ≤ row < b1 from the shape that `state_in` (nb, 13) belongs to, to the shape q.

    From the old tangent p to the new one t, by the smallest rotation; exact for steps of any size below π::

        u1 ← u1 − (u1·t)(p + t)/(1 + p·t)        m ← m + (t × p)·(p′ + t′)/(1 + p·t)

    `state_out` receives t, u1, t′, m and the unchanged strains; it may be `state_in` itself.
    """
    for row in range(b0, b1):
        dofs = control_dofs(bend_span[row], dof0, n)
        a, b = blend3(q, dofs, bend_table, row, 6), blend3(q, dofs, bend_table, row, 10)
        per_j, t, beta, beta3 = tangent_of(a, b)
        p = state_in[row, 0], state_in[row, 1], state_in[row, 2]
        u = state_in[row, 3], state_in[row, 4], state_in[row, 5]
        dp = state_in[row, 6], state_in[row, 7], state_in[row, 8]
        # A tangent turned right round has no smallest rotation; u1 then stays as it is.
        k = 1.0 / max(1.0 + dot3(p, t), 1e-12)
        m = state_in[row, 9] + k * dot3(cross3(t, p), (dp[0] + beta[0], dp[1] + beta[1], dp[2] + beta[2]))
        ku = k * dot3(u, t)
        u = u[0] - ku * (p[0] + t[0]), u[1] - ku * (p[1] + t[1]), u[2] - ku * (p[2] + t[2])
        # Rounding must not build up over millions of steps.
        ku = dot3(u, t)
        u = u[0] - ku * t[0], u[1] - ku * t[1], u[2] - ku * t[2]
        u = scale3(1.5 - 0.5 * dot3(u, u), u)
        for i in range(10, 13):
            state_out[row, i] = state_in[row, i]
        state_out[row, 0], state_out[row, 1], state_out[row, 2] = t
        state_out[row, 3], state_out[row, 4], state_out[row, 5] = u
        state_out[row, 6], state_out[row, 7], state_out[row, 8] = beta
        state_out[row, 9] = m


@kernel
def rotate_frames(state, b0, b1, rotation):
    """Turn t, u1 and t′ of the rows b0 ≤ row < b1 of `state` (nb, 13) by a rotation matrix (9-tuple, row by row).

    With the control points turned alike this is a rigid rotation: strains, energy and m stay. Done before a step by the
    rod's own rigid rotation, it keeps the roll of a tumbling rod small (roll alone follows ω·t, which is no spline).
    """
    for row in range(b0, b1):
        for i in range(0, 9, 3):
            state[row, i], state[row, i + 1], state[row, i + 2] = mat_vec(
                rotation, (state[row, i], state[row, i + 1], state[row, i + 2])
            )


# -------------------------------------------------------------------------------------------------- forces, stiffness


@inlined
def bending(q, dofs, B1, B2, GJ, table, state, row, rate):
    """What force and stiffness share at a bending point: 1/j, t, β, β₃, d1, d2, M1, M2 and Mt."""
    a, b = blend3(q, dofs, table, row, 6), blend3(q, dofs, table, row, 10)
    theta, dtheta = blend_roll(q, dofs, table, row, 2), blend_roll(q, dofs, table, row, 6)
    k, t, beta, beta3 = tangent_of(a, b)
    d1, d2 = directors(theta, t, state, row)
    w, per_rest = table[row, 0], 1.0 / table[row, 1]
    kappa1, kappa2 = -dot3(beta, d2) * per_rest, dot3(beta, d1) * per_rest
    tau = (dtheta + state[row, 9]) * per_rest
    M1 = w * B1 * (kappa1 - table[row, 14] + rate * (kappa1 - state[row, 10]))
    M2 = w * B2 * (kappa2 - table[row, 15] + rate * (kappa2 - state[row, 11]))
    Mt = w * GJ * (tau - table[row, 16] + rate * (tau - state[row, 12]))
    return k, t, beta, beta3, d1, d2, M1, M2, Mt


@inlined
def add_bending_force(k, t, beta, beta3, d1, d2, M1, M2, Mt, dofs, table, row, weight, force):
    """Subtract weight × the gradient of a bending point's energy from `force`.

    With M = M1 d1 + M2 d2 and p = t × M it is, by a, b, θ and θ′: (β₃ p + Mt t×β + (p·β) t)/j, −p/j, M·β and Mt. The
    term t×β/j is how the reference twist m follows the shape; leaving it out gives wrong equilibria, not slow ones.
    """
    on1, on2 = dot3(beta, d1), dot3(beta, d2)
    p_beta, f = M1 * on2 - M2 * on1, -weight * k
    turn = cross3(t, beta)
    fp, fb, ft = f * beta3, f * Mt, f * p_beta
    p0, p1, p2 = M1 * d2[0] - M2 * d1[0], M1 * d2[1] - M2 * d1[1], M1 * d2[2] - M2 * d1[2]
    a0, a1, a2 = (
        fp * p0 + fb * turn[0] + ft * t[0],
        fp * p1 + fb * turn[1] + ft * t[1],
        fp * p2 + fb * turn[2] + ft * t[2],
    )
    b0, b1, b2 = -f * p0, -f * p1, -f * p2
    roll, twist = -weight * (M1 * on1 + M2 * on2), -weight * Mt
    for i in range(4):
        value, slope, curve = table[row, 2 + i], table[row, 6 + i], table[row, 10 + i]
        at = dofs[i]
        force[at] += slope * a0 + curve * b0
        force[at + 1] += slope * a1 + curve * b1
        force[at + 2] += slope * a2 + curve * b2
        force[at + 3] += value * roll + slope * twist


@inlined
def bending_rows(x, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact):
    """Rows a_x and b_x of the Hessian by a, b, θ, θ′: over a (3), over b (3), over a (3), over b (3), aθ, bθ, aθ′.

    Gauss–Newton from the rows of J κ1, J κ2 and J τ::

        κ1: (β₃ d2 + (β·d2) t)/j, −d2/j, β·d1, 0     κ2: −(β₃ d1 + (β·d1) t)/j, d1/j, β·d2, 0     τ: t×β/j, 0, 0, 1

    and the rest of the exact one::

        aa: [½(p βᵀ + β pᵀ) + (p·β)(1 − 3 t tᵀ) + t qᵀ + q tᵀ]/j²,  q = −2 β₃ p − (3/2) Mt t×β
        ab: [p tᵀ + t pᵀ + ½ Mt [t]]/j²    bb: 0    aθ: −(β₃ M + (M·β) t)/j    bθ: M/j    θθ: p·β
    """
    on1, on2 = dot3(beta, d1), dot3(beta, d2)
    turn = cross3(t, beta)
    k1, k2 = k * beta3, k * on2
    c1 = k1 * d2[0] + k2 * t[0], k1 * d2[1] + k2 * t[1], k1 * d2[2] + k2 * t[2]
    k2 = k * on1
    c2 = -k1 * d1[0] - k2 * t[0], -k1 * d1[1] - k2 * t[1], -k1 * d1[2] - k2 * t[2]
    wa1, wa2, wat, wb1, wb2 = w1 * c1[x], w2 * c2[x], wt * k * turn[x], -w1 * k * d2[x], w2 * k * d1[x]
    kt = k * wat
    aa0 = wa1 * c1[0] + wa2 * c2[0] + kt * turn[0]
    aa1 = wa1 * c1[1] + wa2 * c2[1] + kt * turn[1]
    aa2 = wa1 * c1[2] + wa2 * c2[2] + kt * turn[2]
    ba0, ba1, ba2 = wb1 * c1[0] + wb2 * c2[0], wb1 * c1[1] + wb2 * c2[1], wb1 * c1[2] + wb2 * c2[2]
    k1, k2 = k * wa1, k * wa2
    ab0, ab1, ab2 = k2 * d1[0] - k1 * d2[0], k2 * d1[1] - k1 * d2[1], k2 * d1[2] - k1 * d2[2]
    k1, k2 = k * wb1, k * wb2
    bb = k2 * d1[0] - k1 * d2[0], k2 * d1[1] - k1 * d2[1], k2 * d1[2] - k1 * d2[2]
    a_roll, b_roll = wa1 * on1 + wa2 * on2, wb1 * on1 + wb2 * on2
    if exact:
        p = M1 * d2[0] - M2 * d1[0], M1 * d2[1] - M2 * d1[1], M1 * d2[2] - M2 * d1[2]
        p_beta, kk = M1 * on2 - M2 * on1, k * k
        g, h = -2.0 * beta3, -1.5 * Mt
        # Row x of the sum is a combination of p, β, t and t×β, and (p·β) on the diagonal.
        by_p, by_beta, by_turn = kk * (0.5 * beta[x] + g * t[x]), 0.5 * kk * p[x], kk * h * t[x]
        by_t = kk * (g * p[x] + h * turn[x] - 3.0 * p_beta * t[x])
        aa0 += by_p * p[0] + by_beta * beta[0] + by_turn * turn[0] + by_t * t[0]
        aa1 += by_p * p[1] + by_beta * beta[1] + by_turn * turn[1] + by_t * t[1]
        aa2 += by_p * p[2] + by_beta * beta[2] + by_turn * turn[2] + by_t * t[2]
        by_p, by_t, spin = kk * t[x], kk * p[x], 0.5 * kk * Mt
        e0, e1, e2 = by_p * p[0] + by_t * t[0], by_p * p[1] + by_t * t[1], by_p * p[2] + by_t * t[2]
        if x == 0:
            aa0 += kk * p_beta
            s0, s1, s2 = 0.0, -spin * t[2], spin * t[1]
        elif x == 1:
            aa1 += kk * p_beta
            s0, s1, s2 = spin * t[2], 0.0, -spin * t[0]
        else:
            aa2 += kk * p_beta
            s0, s1, s2 = -spin * t[1], spin * t[0], 0.0
        ab0, ab1, ab2 = ab0 + e0 + s0, ab1 + e1 + s1, ab2 + e2 + s2
        ba0, ba1, ba2 = ba0 + e0 - s0, ba1 + e1 - s1, ba2 + e2 - s2
        Mx = M1 * d1[x] + M2 * d2[x]
        a_roll -= k * (beta3 * Mx + (M1 * on1 + M2 * on2) * t[x])
        b_roll += k * Mx
    return (aa0, aa1, aa2), (ab0, ab1, ab2), (ba0, ba1, ba2), bb, a_roll, b_roll, wat


@inlined
def put_bending(x, rows, table, row, work):
    """Write rows x, 3 + x of G = H B (8, 16), which follows the 16 × 16 numbers of a span in `work`; see `HALF`.

    B holds the derivatives of the 8 local variables a, b, θ, θ′ by the span's 16 degrees of freedom.
    """
    aa, ab, ba, bb, a_roll, b_roll, a_twist = rows
    for i in range(4):
        value, slope, curve = table[row, 2 + i], table[row, 6 + i], table[row, 10 + i]
        at = HALF + 16 * x + 4 * i
        work[at] = slope * aa[0] + curve * ab[0]
        work[at + 1] = slope * aa[1] + curve * ab[1]
        work[at + 2] = slope * aa[2] + curve * ab[2]
        work[at + 3] = value * a_roll + slope * a_twist
        work[at + 48] = slope * ba[0] + curve * bb[0]
        work[at + 49] = slope * ba[1] + curve * bb[1]
        work[at + 50] = slope * ba[2] + curve * bb[2]
        work[at + 51] = value * b_roll
        work[HALF + 96 + 4 * i + x] = slope * a_roll + curve * b_roll
        work[HALF + 112 + 4 * i + x] = slope * a_twist


@inlined
def add_bending_stiffness(k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact, table, row, weight, width, work):
    """Add weight × the Hessian of a bending point's energy to the span's 16 × 16 numbers in `work`: Bᵀ (H B)."""
    put_bending(0, bending_rows(0, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact), table, row, work)
    put_bending(1, bending_rows(1, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact), table, row, work)
    put_bending(2, bending_rows(2, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact), table, row, work)
    on1, on2 = dot3(beta, d1), dot3(beta, d2)
    roll = w1 * on1 * on1 + w2 * on2 * on2
    if exact:
        roll += M1 * on2 - M2 * on1
    for i in range(4):
        work[HALF + 99 + 4 * i] = table[row, 2 + i] * roll
        work[HALF + 115 + 4 * i] = table[row, 6 + i] * wt
    for p in range(4):
        value, slope, curve = weight * table[row, 2 + p], weight * table[row, 6 + p], weight * table[row, 10 + p]
        for c in range(3 * width):
            work[64 * p + c] += slope * work[HALF + c] + curve * work[HALF + 48 + c]
        for c in range(width):
            work[64 * p + 48 + c] += value * work[HALF + 96 + c] + slope * work[HALF + 112 + c]


@inlined
def stretching(q, dofs, table, row):
    """t and j = |r′| at a stretching point."""
    a = blend3(q, dofs, table, row, 2)
    j = math.sqrt(dot3(a, a))
    return scale3(1.0 / j, a), j


@inlined
def add_stretching_force(t, pull, dofs, table, row, force):
    """Add the force of a stretching point; the gradient of its energy by a is w N t, `pull` is −weight w N."""
    for i in range(4):
        slope = pull * table[row, 2 + i]
        at = dofs[i]
        force[at] += slope * t[0]
        force[at + 1] += slope * t[1]
        force[at + 2] += slope * t[2]


@inlined
def add_stretching_stiffness(t, along, across, table, row, width, work):
    """Add N′ᵢ N′ⱼ (along t tᵀ + across 1) to the span's 16 × 16 numbers in `work`."""
    for i in range(4):
        slope = along * table[row, 2 + i]
        s0, s1, s2, s = slope * t[0], slope * t[1], slope * t[2], across * table[row, 2 + i]
        at = HALF + 4 * i
        work[at], work[at + 1], work[at + 2], work[at + 3] = s0 * t[0] + s, s0 * t[1], s0 * t[2], 0.0
        work[at + 16], work[at + 17], work[at + 18], work[at + 19] = s1 * t[0], s1 * t[1] + s, s1 * t[2], 0.0
        work[at + 32], work[at + 33], work[at + 34], work[at + 35] = s2 * t[0], s2 * t[1], s2 * t[2] + s, 0.0
    for p in range(4):
        slope = table[row, 2 + p]
        for c in range(3 * width):
            work[64 * p + c] += slope * work[HALF + c]


@allocating
def assemble_spline(
    q, dof0, n, closed, constants, rod,
    bend_table, bend_span, bend_state, b0, b1, stretch_table, stretch_span, stretch_state, s0, s1,
    rate, exact, weight_f, weight_k, push, force, values, band0,
):  # fmt: skip
    """Add weight_f × (elastic and damping force) to force[dof0 …], weight_k × (its stiffness) to values[band0 …].

    Arguments, in order: `q` (DOFs,), `dof0`, `n`, `closed`; `constants` (rods, 8) and the row `rod` in it; `bend_table`
    (nb, 17), `bend_span` (nb,) int64, `bend_state` (nb, 13) with frames carried to q, rows `b0` to `b1`;
    `stretch_table` (ns, 6), `stretch_span` (ns,) int64, `stretch_state` (ns, 2), rows `s0` to `s1`; `rate`
    (relaxation time over step, 0.0 in statics); `exact` 1 for the exact Hessian of bending and twist, 0 for
    Gauss–Newton; `weight_f`, `weight_k` (0.0 skips the stiffness); `push` 1 to use a negative stored tension as it is,
    0 to take 0 for it; `force` (DOFs,); `values` (flat arena) and `band0`.

    The entry between DOF a of control point i and DOF b of control point i + k is at values[band0 + 64 i + 16 a + 4 k +
    b]; at k = 0 both triangles are written. Both outputs are added to: the caller clears them.
    """
    EA, B1, B2, GJ = constants[rod, 0], constants[rod, 1], constants[rod, 2], constants[rod, 3]
    work = np.empty(HALF + 128)
    # Sixteen, unknown to the compiler: a loop with a known count is unrolled, and then not turned into vectors.
    width = min(16, 4 * n)
    bend, stretch = b0, s0
    while bend < b1 or stretch < s1:
        # Points come span by span.
        first = bend_span[bend] if bend < b1 else stretch_span[stretch]
        if stretch < s1:
            first = min(first, stretch_span[stretch])
        dofs = control_dofs(first, dof0, n)
        if weight_k != 0.0:
            for c in range(256):
                work[c] = 0.0
        while bend < b1 and bend_span[bend] == first:
            k, t, beta, beta3, d1, d2, M1, M2, Mt = bending(q, dofs, B1, B2, GJ, bend_table, bend_state, bend, rate)
            add_bending_force(k, t, beta, beta3, d1, d2, M1, M2, Mt, dofs, bend_table, bend, weight_f, force)
            if weight_k != 0.0:
                scale = (1.0 + rate) * bend_table[bend, 0] / bend_table[bend, 1]
                add_bending_stiffness(
                    k, t, beta, beta3, d1, d2, M1, M2, Mt, scale * B1, scale * B2, scale * GJ, exact,
                    bend_table, bend, weight_k, width, work,
                )  # fmt: skip
            bend += 1
        while stretch < s1 and stretch_span[stretch] == first:
            # Force from N = EA (ε + rate (ε − ε_last)), stiffness (EA w/J) t tᵀ + (w N/j)(1 − t tᵀ), where the second N
            # is the stored tension: an unknown of its own, which the step updates linearly.
            t, j = stretching(q, dofs, stretch_table, stretch)
            w, J, strain_last = stretch_table[stretch, 0], stretch_table[stretch, 1], stretch_state[stretch, 1]
            strain = j / J - 1.0
            pull = -weight_f * w * EA * (strain + rate * (strain - strain_last))
            add_stretching_force(t, pull, dofs, stretch_table, stretch, force)
            if weight_k != 0.0:
                tension = stretch_state[stretch, 0]
                if push == 0:
                    tension = max(tension, 0.0)
                across = weight_k * w * tension / j
                along = weight_k * w * EA * (1.0 + rate) / J - across
                add_stretching_stiffness(t, along, across, stretch_table, stretch, width, work)
            stretch += 1
        if weight_k != 0.0:
            for p in range(4):
                at = band0 + 16 * (dofs[p] - dof0)
                for x in range(4):
                    for c in range(4 * p, 16):
                        values[at + 16 * x + c - 4 * p] += work[64 * p + 16 * x + c]


# ----------------------------------------------------------------------------------------------------------- strains


@kernel
def update_tensions_spline(
    q, dq, dof0, n, closed, constants, rod, stretch_table, stretch_span, stretch_state, s0, s1, rate
):
    """Store N = EA (1 + rate)(ε + ∇ε·Δq) − EA rate ε_last, ε and ∇ε at the iterate q *before* `dq` is added to it.

    Linear in Δq: the tension that the linearised step expects. `q` and `dq` (DOFs,), `stretch_state` (ns, 2) changed.
    """
    EA = constants[rod, 0]
    for row in range(s0, s1):
        dofs = control_dofs(stretch_span[row], dof0, n)
        a, da = blend3(q, dofs, stretch_table, row, 2), blend3(dq, dofs, stretch_table, row, 2)
        j, J = math.sqrt(dot3(a, a)), stretch_table[row, 1]
        strain = j / J - 1.0 + dot3(a, da) / (j * J)
        stretch_state[row, 0] = EA * ((1.0 + rate) * strain - rate * stretch_state[row, 1])


@kernel
def accept_strains_spline(
    q, dof0, n, closed, bend_table, bend_span, bend_state, b0, b1, stretch_table, stretch_span, stretch_state, s0, s1
):
    """Write κ1, κ2, τ into `bend_state`[:, 10:13] and ε into `stretch_state`[:, 1]; frames are carried to q already."""
    for row in range(b0, b1):
        dofs = control_dofs(bend_span[row], dof0, n)
        bend_state[row, 10], bend_state[row, 11], bend_state[row, 12] = bend_strains(
            q, dofs, bend_table, bend_state, row
        )
    for row in range(s0, s1):
        dofs = control_dofs(stretch_span[row], dof0, n)
        stretch_state[row, 1] = stretch_strain(q, dofs, stretch_table, row)


@kernel
def energy_spline(
    q, dof0, n, closed, constants, rod,
    bend_table, bend_span, bend_state, b0, b1, stretch_table, stretch_span, stretch_state, s0, s1,
):  # fmt: skip
    """Return the energies of stretching, bending and twist, J, of the shape q, to which the frames are carried."""
    stretching, bending, twisting = 0.0, 0.0, 0.0
    for row in range(b0, b1):
        dofs = control_dofs(bend_span[row], dof0, n)
        kappa1, kappa2, tau = bend_strains(q, dofs, bend_table, bend_state, row)
        x1, x2, xt = kappa1 - bend_table[row, 14], kappa2 - bend_table[row, 15], tau - bend_table[row, 16]
        half = 0.5 * bend_table[row, 0] * bend_table[row, 1]
        bending += half * (constants[rod, 1] * x1 * x1 + constants[rod, 2] * x2 * x2)
        twisting += half * constants[rod, 3] * xt * xt
    for row in range(s0, s1):
        dofs = control_dofs(stretch_span[row], dof0, n)
        strain = stretch_strain(q, dofs, stretch_table, row)
        stretching += 0.5 * stretch_table[row, 0] * stretch_table[row, 1] * constants[rod, 0] * strain * strain
    return stretching, bending, twisting


@kernel
def largest_turn_spline(q, dq, dof0, n, closed, bend_table, bend_span, b0, b1):
    """Return the largest angle (rad, 0 to π) between a bending point's tangents at q and at q + dq."""
    largest = 0.0
    for row in range(b0, b1):
        dofs = control_dofs(bend_span[row], dof0, n)
        a, da = blend3(q, dofs, bend_table, row, 6), blend3(dq, dofs, bend_table, row, 6)
        new = a[0] + da[0], a[1] + da[1], a[2] + da[2]
        across = cross3(a, new)
        angle = math.atan2(math.sqrt(dot3(across, across)), dot3(a, new))
        # NaN is kept, so that no test against a limit passes.
        if angle > largest or angle != angle:
            largest = angle
    return largest
