"""Forces and stiffness of a discrete elastic rod, summed over its nodes and edges.

The equations are those of `strain`.
"""

from __future__ import annotations

import math

from sennit.bodies.rod.branches.kernels.act import has_branches
from sennit.bodies.rod.discrete.kernels.basis import edge_of
from sennit.bodies.rod.discrete.kernels.strain import combine3, directors, row3, turn_at
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import cross3, dot3, scale3


@inlined
def add_node(q, at, bends, elastic, frames, row, per_time, exact, weight_f, weight_k, force, values, band):
    """Add the force and stiffness of bending and twist at one node; `at`, `band` belong to the node before it.

    Derivatives by the edge vectors a, b and the rolls φ_a, φ_b, which are the degrees of freedom of three nodes. With
    t̃ = (t + s)/χ and dⱼ = djᵃ + djᵇ (the frames' own change drops out, since they move along t and s ⟂ k)::

        ∂Kj/∂a = (−Kj t̃ + s × dⱼ/χ)/|a|     ∂Kj/∂b = (−Kj t̃ − t × dⱼ/χ)/|b|     ∂Kj/∂φ = k·∂dⱼ/∂φ/2
        ∂T/∂a = k/(2|a|)     ∂T/∂b = k/(2|b|)     ∂T/∂φ = ∓1

    The first two of T are how the reference twist m follows the shape. `elastic`: stiffness and rest strains.
    """
    stiffness, rest = elastic
    B1, B2, GJ = row3(stiffness, row)
    rate = per_time * bends.relaxation[row]
    a, b = edge_of(q, at), edge_of(q, at + 4)
    ka, kb = 1.0 / math.sqrt(dot3(a, a)), 1.0 / math.sqrt(dot3(b, b))
    t, s = scale3(ka, a), scale3(kb, b)
    per, k = turn_at(t, s)
    a1, a2 = directors(q[at + 3], t, row3(frames.reference, row - 1))
    b1, b2 = directors(q[at + 7], s, row3(frames.reference, row))
    a1k, a2k, b1k, b2k = 0.5 * dot3(k, a1), 0.5 * dot3(k, a2), 0.5 * dot3(k, b1), 0.5 * dot3(k, b2)
    K1, K2 = a1k + b1k, a2k + b2k
    w, per_rest, last = bends.weight[row], 1.0 / bends.speed[row], frames.strain
    kappa1, kappa2, tau = K1 * per_rest, K2 * per_rest, (q[at + 7] - q[at + 3] + frames.twist[row]) * per_rest
    M1 = w * B1 * (kappa1 - rest[row, 0] + rate * (kappa1 - last[row, 0]))
    M2 = w * B2 * (kappa2 - rest[row, 1] + rate * (kappa2 - last[row, 1]))
    Mt = w * GJ * (tau - rest[row, 2] + rate * (tau - last[row, 2]))

    mean = combine3(per, t, per, s)  # t̃
    d1, d2 = combine3(per, a1, per, b1), combine3(per, a2, per, b2)
    A1, A2 = combine3(-ka * K1, mean, ka, cross3(s, d1)), combine3(-ka * K2, mean, ka, cross3(s, d2))
    C1, C2 = combine3(-kb * K1, mean, -kb, cross3(t, d1)), combine3(-kb * K2, mean, -kb, cross3(t, d2))
    ha, hb = 0.5 * ka, 0.5 * kb

    # Force.
    ga, gb = combine3(M1, A1, M2, A2), combine3(M1, C1, M2, C2)  # of bending alone
    roll_a, roll_b = M1 * a2k - M2 * a1k, M1 * b2k - M2 * b1k
    fa, fb = combine3(weight_f, ga, weight_f * Mt * ha, k), combine3(weight_f, gb, weight_f * Mt * hb, k)
    for x in range(3):
        force[at + x] += fa[x]
        force[at + 4 + x] += fb[x] - fa[x]
        force[at + 8 + x] -= fb[x]
    force[at + 3] -= weight_f * (roll_a - Mt)
    force[at + 7] -= weight_f * (roll_b + Mt)

    if weight_k == 0.0:
        return
    # Gauss–Newton: one row for each of K1, K2, T.
    scale = weight_k * (1.0 + rate) * w * per_rest
    w1, w2, wt = scale * B1, scale * B2, scale * GJ
    aa_twist, ab_twist, bb_twist = wt * ha * ha, wt * ha * hb, wt * hb * hb
    # exact, with μᵃ = M1 d1ᵃ + M2 d2ᵃ, μ = μᵃ + μᵇ, c = M1 K1 + M2 K2, symmetric part of the derivative of the gradient
    # (what is left out is the turn that a reference vector takes on a closed path of its tangent):
    #   aa: −(g_a t̃ᵀ + t̃ g_aᵀ)/|a| − c (1 − t tᵀ)/(χ |a|²) + (k vᵀ + v kᵀ)/(4 |a|²),  v = μᵃ − Mt (t + t̃); bb alike
    #   ab: −g_a t̃ᵀ/|b| − t̃ g_bᵀ/|a| + [−c (1 + t sᵀ)/χ − [μ]/χ + Mt ([t]/χ − k t̃ᵀ/2)]/(|a| |b|)
    #   aφ_a: (−g_φ t̃ + s × (t × μᵃ)/χ)/|a|   aφ_b: (−g_φ t̃ − μᵇ/χ)/|a|   φφ: −k·μ/2 of the edge
    #   bφ_b: (−g_φ t̃ − t × (s × μᵇ)/χ)/|b|   bφ_a: (−g_φ t̃ + μᵃ/χ)/|b|
    on = weight_k if exact else 0.0
    mu_a, mu_b = combine3(M1, a1, M2, a2), combine3(M1, b1, M2, b2)
    c = on * per * (M1 * K1 + M2 * K2)
    caa, cab, cbb = c * ka * ka, c * ka * kb, c * kb * kb
    va = combine3(on * ha * ha, mu_a, -on * ha * ha * Mt, combine3(1.0, t, 1.0, mean))
    vb = combine3(on * hb * hb, mu_b, -on * hb * hb * Mt, combine3(1.0, s, 1.0, mean))
    ea, eb = scale3(-on * ka, ga), scale3(-on * kb, gb)
    left, right = combine3(-on * kb, ga, -2.0 * on * ha * hb * Mt, k), scale3(-on * ka, gb)
    z = on * ka * kb * per
    spin = combine3(z * Mt, t, -z, combine3(1.0, mu_a, 1.0, mu_b))
    cos = dot3(t, s)
    za, zb = on * ka * per, on * kb * per
    aa_roll = combine3(-on * ka * roll_a, mean, za, combine3(dot3(s, mu_a), t, -cos, mu_a))
    ab_roll = combine3(-on * ka * roll_b, mean, -za, mu_b)
    ba_roll = combine3(-on * kb * roll_a, mean, zb, mu_a)
    bb_roll = combine3(-on * kb * roll_b, mean, -zb, combine3(dot3(t, mu_b), s, -cos, mu_b))

    for x in range(3):
        x1 = 1 if x == 0 else (2 if x == 1 else 0)
        x2 = 3 - x - x1
        r0, r1, r2 = band + 16 * x, band + 64 + 16 * x, band + 128 + 16 * x
        p1, p2, pt, r1c, r2c = w1 * A1[x], w2 * A2[x], k[x], w1 * C1[x], w2 * C2[x]
        for y in range(3):
            aa = (
                p1 * A1[y] + p2 * A2[y] + aa_twist * pt * k[y]
                + ea[x] * mean[y] + mean[x] * ea[y] + caa * t[x] * t[y] + va[x] * k[y] + k[x] * va[y]
            )  # fmt: skip
            bb = (
                r1c * C1[y] + r2c * C2[y] + bb_twist * pt * k[y]
                + eb[x] * mean[y] + mean[x] * eb[y] + cbb * s[x] * s[y] + vb[x] * k[y] + k[x] * vb[y]
            )  # fmt: skip
            ab = (
                p1 * C1[y] + p2 * C2[y] + ab_twist * pt * k[y]
                + left[x] * mean[y] + mean[x] * right[y] - cab * t[x] * s[y]
            )  # fmt: skip
            if x == y:
                aa -= caa
                bb -= cbb
                ab -= cab
            elif y == x1:  # [spin] has −spin of the third axis at (x, x + 1)
                ab -= spin[x2]
            else:
                ab += spin[x1]
            # a = P1 − P0, b = P2 − P1
            values[r0 + y] += aa
            values[r0 + 4 + y] += ab - aa
            values[r0 + 8 + y] -= ab
            values[r1 + y] += aa - ab + bb
            values[band + 64 + 16 * y + x] -= ab
            values[r1 + 4 + y] += ab - bb
            values[r2 + y] += bb
        # Rolls of edges a and b: the fourth degrees of freedom of P0 and P1.
        aa = p1 * a2k - p2 * a1k - wt * ha * pt + aa_roll[x]
        ab = p1 * b2k - p2 * b1k + wt * ha * pt + ab_roll[x]
        ba = r1c * a2k - r2c * a1k - wt * hb * pt + ba_roll[x]
        bb = r1c * b2k - r2c * b1k + wt * hb * pt + bb_roll[x]
        values[r0 + 3] -= aa
        values[band + 48 + x] -= aa
        values[r0 + 7] -= ab
        values[band + 52 + x] += aa - ba
        values[band + 56 + x] += ba
        values[r1 + 3] += ab - bb
        values[band + 112 + x] += ab - bb
        values[band + 116 + x] += bb
    values[band + 51] += w1 * a2k * a2k + w2 * a1k * a1k + wt - on * (M1 * a1k + M2 * a2k)
    values[band + 55] += w1 * a2k * b2k + w2 * a1k * b1k - wt
    values[band + 115] += w1 * b2k * b2k + w2 * b1k * b1k + wt - on * (M1 * b1k + M2 * b2k)


@inlined
def add_edge(q, at, stretches, tensions, row, per_time, push, weight_f, weight_k, force, values, band):
    """Add the force and stiffness of one edge's stretching: the spline's formulas with a the edge vector."""
    a = edge_of(q, at)
    j = math.sqrt(dot3(a, a))
    t = scale3(1.0 / j, a)
    J, EA, rate = stretches.speed[row], stretches.stiffness[row], per_time * stretches.relaxation[row]
    strain = j / J - 1.0
    pull = weight_f * EA * (strain + rate * (strain - tensions.strain[row]))
    for x in range(3):
        force[at + x] += pull * t[x]
        force[at + 4 + x] -= pull * t[x]
    if weight_k == 0.0:
        return
    tension = tensions.tension[row]
    if push == 0:
        tension = max(tension, 0.0)
    across = weight_k * tension / j
    along = weight_k * EA * (1.0 + rate) / J - across
    for x in range(3):
        for y in range(3):
            h = along * t[x] * t[y] + (across if x == y else 0.0)
            values[band + 16 * x + y] += h
            values[band + 16 * x + 4 + y] -= h
            values[band + 64 + 16 * x + y] += h


@kernel
def assemble(rod, kind, q, frames, tensions, per_time, exact, weight_f, weight_k, push, force, values):
    """Add weight_f × (elastic and damping force) of a rod to `force`, weight_k × (its stiffness) to `values`.

    Arguments and outputs as of spline rods.
    """
    rods = kind.rods
    dof, band = rods.dof[rod], rods.band[rod]
    elastic = kind.bends.stiffness, kind.bends.rest
    if has_branches(rod, kind):
        elastic = kind.acting.stiffness, kind.acting.rest
    first = rods.bend_first[rod]
    for row in range(first + 1, rods.bend_end[rod]):
        before = row - first - 1
        add_node(
            q, dof + 4 * before, kind.bends, elastic, frames, row, per_time, exact, weight_f, weight_k, force, values,
            band + 64 * before,
        )  # fmt: skip
    first = rods.stretch_first[rod]
    for row in range(first, rods.stretch_end[rod]):
        e = row - first
        add_edge(
            q, dof + 4 * e, kind.stretches, tensions, row, per_time, push, weight_f, weight_k, force, values,
            band + 64 * e,
        )  # fmt: skip
    if weight_k != 0.0:
        # The last node's roll belongs to no edge: any positive number keeps it where it is.
        GJ = kind.bends.stiffness[rods.bend_end[rod] - 1, 2]
        values[band + 64 * (rods.count[rod] - 1) + 51] += weight_k * GJ / rods.length[rod]
