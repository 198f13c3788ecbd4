"""Forces and stiffness of a spline rod, summed over its integration points. The equations are those of `strain`.

Kelvin–Voigt damping adds `rate` (ε − ε_last) to each strain in excess of rest, rate = relaxation time / step.
"""

from __future__ import annotations

import math

from sennit.bodies.rod.spline.kernels.basis import blend3, blend_roll, control_dofs
from sennit.bodies.rod.spline.kernels.strain import directors, tangent_of
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import cross3, dot3, scale3

HALF = 256  # where `span_block` holds H B: after the 16 × 16 numbers of a span


@inlined
def bending(q, dofs, B1, B2, GJ, bends, frames, row, rate):
    """What force and stiffness share at a bending point: 1/j, t, β, β₃, d1, d2, M1, M2 and Mt."""
    a, b = blend3(q, dofs, bends.slope_basis, row), blend3(q, dofs, bends.bend_basis, row)
    theta, dtheta = blend_roll(q, dofs, bends.basis, row), blend_roll(q, dofs, bends.slope_basis, row)
    k, t, beta, beta3 = tangent_of(a, b)
    d1, d2 = directors(theta, t, frames, row)
    w, per_rest = bends.weight[row], 1.0 / bends.speed[row]
    rest, last = bends.rest, frames.strain
    kappa1, kappa2 = -dot3(beta, d2) * per_rest, dot3(beta, d1) * per_rest
    tau = (dtheta + frames.twist[row]) * per_rest
    M1 = w * B1 * (kappa1 - rest[row, 0] + rate * (kappa1 - last[row, 0]))
    M2 = w * B2 * (kappa2 - rest[row, 1] + rate * (kappa2 - last[row, 1]))
    Mt = w * GJ * (tau - rest[row, 2] + rate * (tau - last[row, 2]))
    return k, t, beta, beta3, d1, d2, M1, M2, Mt


@inlined
def add_bending_force(k, t, beta, beta3, d1, d2, M1, M2, Mt, dofs, bends, row, weight, force):
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
        value, slope, curve = bends.basis[row, i], bends.slope_basis[row, i], bends.bend_basis[row, i]
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
def put_bending(x, rows, bends, row, work):
    """Write rows x, 3 + x of G = H B (8, 16), which follows the 16 × 16 numbers of a span in `work`; see `HALF`.

    B holds the derivatives of the 8 local variables a, b, θ, θ′ by the span's 16 degrees of freedom.
    """
    aa, ab, ba, bb, a_roll, b_roll, a_twist = rows
    for i in range(4):
        value, slope, curve = bends.basis[row, i], bends.slope_basis[row, i], bends.bend_basis[row, i]
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
def add_bending_stiffness(k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact, bends, row, weight, width, work):
    """Add weight × the Hessian of a bending point's energy to the span's 16 × 16 numbers in `work`: Bᵀ (H B)."""
    put_bending(0, bending_rows(0, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact), bends, row, work)
    put_bending(1, bending_rows(1, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact), bends, row, work)
    put_bending(2, bending_rows(2, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact), bends, row, work)
    on1, on2 = dot3(beta, d1), dot3(beta, d2)
    roll = w1 * on1 * on1 + w2 * on2 * on2
    if exact:
        roll += M1 * on2 - M2 * on1
    for i in range(4):
        work[HALF + 99 + 4 * i] = bends.basis[row, i] * roll
        work[HALF + 115 + 4 * i] = bends.slope_basis[row, i] * wt
    for p in range(4):
        value, slope = weight * bends.basis[row, p], weight * bends.slope_basis[row, p]
        curve = weight * bends.bend_basis[row, p]
        for c in range(3 * width):
            work[64 * p + c] += slope * work[HALF + c] + curve * work[HALF + 48 + c]
        for c in range(width):
            work[64 * p + 48 + c] += value * work[HALF + 96 + c] + slope * work[HALF + 112 + c]


@inlined
def stretching(q, dofs, stretches, row):
    """t and j = |r′| at a stretching point."""
    a = blend3(q, dofs, stretches.slope_basis, row)
    j = math.sqrt(dot3(a, a))
    return scale3(1.0 / j, a), j


@inlined
def add_stretching_force(t, pull, dofs, stretches, row, force):
    """Add the force of a stretching point; the gradient of its energy by a is w N t, `pull` is −weight w N."""
    for i in range(4):
        slope = pull * stretches.slope_basis[row, i]
        at = dofs[i]
        force[at] += slope * t[0]
        force[at + 1] += slope * t[1]
        force[at + 2] += slope * t[2]


@inlined
def add_stretching_stiffness(t, along, across, stretches, row, width, work):
    """Add N′ᵢ N′ⱼ (along t tᵀ + across 1) to the span's 16 × 16 numbers in `work`."""
    for i in range(4):
        slope = along * stretches.slope_basis[row, i]
        s0, s1, s2, s = slope * t[0], slope * t[1], slope * t[2], across * stretches.slope_basis[row, i]
        at = HALF + 4 * i
        work[at], work[at + 1], work[at + 2], work[at + 3] = s0 * t[0] + s, s0 * t[1], s0 * t[2], 0.0
        work[at + 16], work[at + 17], work[at + 18], work[at + 19] = s1 * t[0], s1 * t[1] + s, s1 * t[2], 0.0
        work[at + 32], work[at + 33], work[at + 34], work[at + 35] = s2 * t[0], s2 * t[1], s2 * t[2] + s, 0.0
    for p in range(4):
        slope = stretches.slope_basis[row, p]
        for c in range(3 * width):
            work[64 * p + c] += slope * work[HALF + c]


@kernel
def assemble(rod, kind, q, frames, tensions, rate, exact, weight_f, weight_k, push, force, values):
    """Add weight_f × (elastic and damping force) of a rod to `force`, weight_k × (its stiffness) to `values`.

    `frames` are carried to q. `rate` is relaxation time over step (0.0 in statics); `exact` 1 for the exact Hessian of
    bending and twist, 0 for Gauss–Newton; `weight_k` 0.0 skips the stiffness; `push` 1 to use a negative stored tension
    as it is, 0 to take 0 for it.

    The entry between DOF a of control point i and DOF b of control point i + k is at values[band + 64 i + 16 a + 4 k +
    b]; at k = 0 both triangles are written. Both outputs are added to: the caller clears them.
    """
    rods, bends, stretches, work = kind.rods, kind.bends, kind.stretches, kind.span_block
    dof, n, band = rods.dof[rod], rods.count[rod], rods.band[rod]
    EA, B1, B2 = rods.stretch_stiffness[rod], rods.bend_stiffness1[rod], rods.bend_stiffness2[rod]
    GJ = rods.twist_stiffness[rod]
    # Sixteen, unknown to the compiler: a loop with a known count is unrolled, and then not turned into vectors.
    width = min(16, 4 * n)
    bend, bend_end = rods.bend_first[rod], rods.bend_end[rod]
    stretch, stretch_end = rods.stretch_first[rod], rods.stretch_end[rod]
    while bend < bend_end or stretch < stretch_end:
        # Points come span by span.
        first = bends.span[bend] if bend < bend_end else stretches.span[stretch]
        if stretch < stretch_end:
            first = min(first, stretches.span[stretch])
        dofs = control_dofs(first, dof, n)
        if weight_k != 0.0:
            for c in range(256):
                work[c] = 0.0
        while bend < bend_end and bends.span[bend] == first:
            k, t, beta, beta3, d1, d2, M1, M2, Mt = bending(q, dofs, B1, B2, GJ, bends, frames, bend, rate)
            add_bending_force(k, t, beta, beta3, d1, d2, M1, M2, Mt, dofs, bends, bend, weight_f, force)
            if weight_k != 0.0:
                scale = (1.0 + rate) * bends.weight[bend] / bends.speed[bend]
                add_bending_stiffness(
                    k, t, beta, beta3, d1, d2, M1, M2, Mt, scale * B1, scale * B2, scale * GJ, exact,
                    bends, bend, weight_k, width, work,
                )  # fmt: skip
            bend += 1
        while stretch < stretch_end and stretches.span[stretch] == first:
            # Force from N = EA (ε + rate (ε − ε_last)), stiffness (EA w/J) t tᵀ + (w N/j)(1 − t tᵀ), where the second N
            # is the stored tension: an unknown of its own, which the step updates linearly.
            t, j = stretching(q, dofs, stretches, stretch)
            w, J, strain_last = stretches.weight[stretch], stretches.speed[stretch], tensions.strain[stretch]
            strain = j / J - 1.0
            pull = -weight_f * w * EA * (strain + rate * (strain - strain_last))
            add_stretching_force(t, pull, dofs, stretches, stretch, force)
            if weight_k != 0.0:
                tension = tensions.tension[stretch]
                if push == 0:
                    tension = max(tension, 0.0)
                across = weight_k * w * tension / j
                along = weight_k * w * EA * (1.0 + rate) / J - across
                add_stretching_stiffness(t, along, across, stretches, stretch, width, work)
            stretch += 1
        if weight_k != 0.0:
            for p in range(4):
                at = band + 16 * (dofs[p] - dof)
                for x in range(4):
                    for c in range(4 * p, 16):
                        values[at + 16 * x + c - 4 * p] += work[64 * p + 16 * x + c]
