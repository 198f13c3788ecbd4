"""Forces and stiffness of a discrete elastic rod, summed over its nodes and edges.

Nodes P_i are joined by straight edges a = P_{e+1} − P_e with unit tangents t. Edge e has a roll φ_e (the fourth degree
of freedom of the node that it starts from) and the frame d1 = cos φ u1 + sin φ u2, d2 = t × d1 on a reference vector
u1 ⟂ t, which is carried from shape to shape without turning about t. The node between the edges a (t, d1ᵃ, …) and
b (s, d1ᵇ, …) turns the rod by (Bergou et al., Discrete Elastic Rods, 2008, §4; Discrete Viscous Threads, 2010, §4)::

    k = 2 t × s/χ     χ = 1 + t·s               curvature binormal, |k| = 2 tan(turn/2)
    K1 = k·(d1ᵃ + d1ᵇ)/2     K2 = k·(d2ᵃ + d2ᵇ)/2     T = φ_b − φ_a + m
    κ1 = K1/l    κ2 = K2/l    τ = T/l           l: mean rest length of the two edges
    energy = Σ_edges J/2 EA ε² + Σ_nodes w l/2 [B1 (κ1 − κ̂1)² + B2 (κ2 − κ̂2)² + GJ (τ − τ̂)²]

m is the angle about s from u1 of a, turned by the smallest rotation from t to s, to u1 of b. The weight w is 1, and
3/2 at the second node and at the last but one: their cells reach to the rod's ends, so that the cells cover the rod.
With tangent and roll extrapolated to the ends (`discrete_basis`) a clamp, a torque or a free end then costs an error of
second order in the edges' length; w = 1 everywhere would cost one of first order.

Arguments and tables are those of `bodies.rod.spline.kernels.forces`, with other columns: row e of the bending tables
(one for each edge) holds edge e's frame, and for e ≥ 1 the node at which edge e starts; `bend_table` 0 w, 1 l, 14:17
rest strains; `bend_state` 0:3 t, 3:6 u1, 9 m, 10:13 strains. Row e of the stretching tables is edge e: 0 weight 1, 1 J.
Other columns are not read here. Rods are open: `closed` is 0. The roll of the last node belongs to no edge: no force
acts on it and its stiffness is a number on the diagonal, so that it never moves.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import cross3, dot3, scale3

# ------------------------------------------------------------------------------------------------------------- basis


@kernel
def discrete_basis(u, n, out):
    """Write N, N′, N″ and NR at u into out (16,), and return the first of the four nodes that they belong to.

    Position Σ Nᵢ Pᵢ is linear along edges. Σ N′ᵢ Pᵢ and the roll Σ NRᵢ φᵢ are linear between the middles of the edges,
    where tangent and roll of a discrete rod live, and go on to the rod's ends: continuous and of second order at every
    u, (−3/2, 2, −1/2, 0) and (3/2, −1/2, 0, 0) at u = 0. N″ is the derivative of N′. Open rods of n ≥ 4 nodes;
    0 ≤ first ≤ n − 4. Beyond the ends the end edges go on.
    """
    e = min(max(math.floor(u), 0), n - 2)
    c = min(max(math.floor(u + 0.5), 1), n - 2)  # the node between the middles of edges c − 1 and c
    first = min(max(min(e, c - 1), 0), n - 4)
    for i in range(16):
        out[i] = 0.0
    x = u - e
    out[e - first] = 1.0 - x
    out[e - first + 1] = x
    y = u - c + 0.5  # 0 at the middle of edge c − 1, 1 at that of edge c
    at = 4 + c - 1 - first
    out[at] = y - 1.0
    out[at + 1] = 1.0 - 2.0 * y
    out[at + 2] = y
    out[at + 4] = 1.0
    out[at + 5] = -2.0
    out[at + 6] = 1.0
    out[at + 8] = 1.0 - y
    out[at + 9] = y
    return first


@kernel
def discrete_basis_rows(u, n, first, out):
    """`discrete_basis` for every entry of u (k,), into out (k, 16), the first nodes into first (k,) int64."""
    for row in range(u.shape[0]):
        first[row] = discrete_basis(u[row], n, out[row])


# -------------------------------------------------------------------------------------------------- one edge, one node


@inlined
def edge_of(q, at):
    """The vector of the edge from the node whose first degree of freedom is `at` to the next."""
    return q[at + 4] - q[at], q[at + 5] - q[at + 1], q[at + 6] - q[at + 2]


@inlined
def combine3(x, a, y, b):
    """x a + y b."""
    return x * a[0] + y * b[0], x * a[1] + y * b[1], x * a[2] + y * b[2]


@inlined
def state3(state, row, column):
    return state[row, column], state[row, column + 1], state[row, column + 2]


@inlined
def directors(theta, t, u1):
    """d1 and d2 of an edge from its roll and reference vector."""
    u2 = cross3(t, u1)
    c, s = math.cos(theta), math.sin(theta)
    return combine3(c, u1, s, u2), combine3(-s, u1, c, u2)


@inlined
def carried(u, p, t):
    """u ⟂ p after the smallest rotation that takes p to t, freed of rounding along t and in its length."""
    # A tangent turned right round has no smallest rotation; u then stays as it is.
    k = dot3(u, t) / max(1.0 + dot3(p, t), 1e-12)
    u = u[0] - k * (p[0] + t[0]), u[1] - k * (p[1] + t[1]), u[2] - k * (p[2] + t[2])
    u = combine3(1.0, u, -dot3(u, t), t)
    return scale3(1.5 - 0.5 * dot3(u, u), u)


@inlined
def turn_at(t, s):
    """1/χ and the curvature binormal k between two edges. A rod folded right back has a huge one, not an infinite."""
    per = 1.0 / max(1.0 + dot3(t, s), 1e-9)
    return per, scale3(2.0 * per, cross3(t, s))


@inlined
def node_strains(q, at, table, state, row):
    """κ1, κ2, τ at the node where edge `row` starts (degrees of freedom from `at`); frames carried to q."""
    t, s = state3(state, row - 1, 0), state3(state, row, 0)
    per, k = turn_at(t, s)
    a1, a2 = directors(q[at - 1], t, state3(state, row - 1, 3))
    b1, b2 = directors(q[at + 3], s, state3(state, row, 3))
    per_rest = 1.0 / table[row, 1]
    return (
        0.5 * per_rest * (dot3(k, a1) + dot3(k, b1)),
        0.5 * per_rest * (dot3(k, a2) + dot3(k, b2)),
        per_rest * (q[at + 3] - q[at - 1] + state[row, 9]),
    )


@inlined
def edge_strain(q, at, rest):
    a = edge_of(q, at)
    return math.sqrt(dot3(a, a)) / rest - 1.0


# ------------------------------------------------------------------------------------------------------------ frames


@kernel
def carry_frames_discrete(q, dof0, n, closed, bend_table, bend_span, state_in, state_out, b0, b1):
    """Carry the frames of rows b0 ≤ row < b1 from the shape that `state_in` (nb, 13) belongs to, to the shape q.

    u1 follows its edge by the smallest rotation. m is read off the new reference vectors, exactly, and given the whole
    turns that bring it next to the old m. `state_out` receives t, u1, m and the unchanged rest of the row; it may be
    `state_in` itself.
    """
    t, u = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    for row in range(b0, b1):
        edge = edge_of(q, dof0 + 4 * (row - b0))
        s = scale3(1.0 / math.sqrt(dot3(edge, edge)), edge)
        v = carried(state3(state_in, row, 3), state3(state_in, row, 0), s)
        m = state_in[row, 9]
        if row > b0:
            along = carried(u, t, s)
            angle = math.atan2(dot3(s, cross3(along, v)), dot3(along, v))
            m = angle + 2.0 * math.pi * math.floor((m - angle) / (2.0 * math.pi) + 0.5)
        t, u = s, v
        for i in range(6, 13):
            state_out[row, i] = state_in[row, i]
        state_out[row, 0], state_out[row, 1], state_out[row, 2] = s
        state_out[row, 3], state_out[row, 4], state_out[row, 5] = v
        state_out[row, 9] = m


# -------------------------------------------------------------------------------------------------- forces, stiffness


@inlined
def add_node(q, at, B1, B2, GJ, table, state, row, rate, exact, weight_f, weight_k, force, values, band):
    """Add the force and stiffness of bending and twist at one node; `at`, `band` belong to the node before it.

    Derivatives by the edge vectors a, b and the rolls φ_a, φ_b, which are the degrees of freedom of three nodes. With
    t̃ = (t + s)/χ and dⱼ = djᵃ + djᵇ (the frames' own change drops out, since they move along t and s ⟂ k)::

        ∂Kj/∂a = (−Kj t̃ + s × dⱼ/χ)/|a|     ∂Kj/∂b = (−Kj t̃ − t × dⱼ/χ)/|b|     ∂Kj/∂φ = k·∂dⱼ/∂φ/2
        ∂T/∂a = k/(2|a|)     ∂T/∂b = k/(2|b|)     ∂T/∂φ = ∓1

    The first two of T are how the reference twist m follows the shape.
    """
    a, b = edge_of(q, at), edge_of(q, at + 4)
    ka, kb = 1.0 / math.sqrt(dot3(a, a)), 1.0 / math.sqrt(dot3(b, b))
    t, s = scale3(ka, a), scale3(kb, b)
    per, k = turn_at(t, s)
    a1, a2 = directors(q[at + 3], t, state3(state, row - 1, 3))
    b1, b2 = directors(q[at + 7], s, state3(state, row, 3))
    a1k, a2k, b1k, b2k = 0.5 * dot3(k, a1), 0.5 * dot3(k, a2), 0.5 * dot3(k, b1), 0.5 * dot3(k, b2)
    K1, K2 = a1k + b1k, a2k + b2k
    w, per_rest = table[row, 0], 1.0 / table[row, 1]
    kappa1, kappa2, tau = K1 * per_rest, K2 * per_rest, (q[at + 7] - q[at + 3] + state[row, 9]) * per_rest
    M1 = w * B1 * (kappa1 - table[row, 14] + rate * (kappa1 - state[row, 10]))
    M2 = w * B2 * (kappa2 - table[row, 15] + rate * (kappa2 - state[row, 11]))
    Mt = w * GJ * (tau - table[row, 16] + rate * (tau - state[row, 12]))

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
def add_edge(q, at, EA, table, state, row, rate, push, weight_f, weight_k, force, values, band):
    """Add the force and stiffness of one edge's stretching: the spline's formulas with a the edge vector."""
    a = edge_of(q, at)
    j = math.sqrt(dot3(a, a))
    t = scale3(1.0 / j, a)
    w, J = table[row, 0], table[row, 1]
    strain = j / J - 1.0
    pull = weight_f * w * EA * (strain + rate * (strain - state[row, 1]))
    for x in range(3):
        force[at + x] += pull * t[x]
        force[at + 4 + x] -= pull * t[x]
    if weight_k == 0.0:
        return
    tension = state[row, 0]
    if push == 0:
        tension = max(tension, 0.0)
    across = weight_k * w * tension / j
    along = weight_k * w * EA * (1.0 + rate) / J - across
    for x in range(3):
        for y in range(3):
            h = along * t[x] * t[y] + (across if x == y else 0.0)
            values[band + 16 * x + y] += h
            values[band + 16 * x + 4 + y] -= h
            values[band + 64 + 16 * x + y] += h


@kernel
def assemble_discrete(
    q, dof0, n, closed, constants, rod,
    bend_table, bend_span, bend_state, b0, b1, stretch_table, stretch_span, stretch_state, s0, s1,
    rate, exact, weight_f, weight_k, push, force, values, band0,
):  # fmt: skip
    """Add weight_f × (elastic and damping force) to force[dof0 …], weight_k × (its stiffness) to values[band0 …].

    Arguments as in `sennit.rods.spline.kernels.assemble_spline`.
    """
    EA, B1, B2, GJ = constants[rod, 0], constants[rod, 1], constants[rod, 2], constants[rod, 3]
    for row in range(b0 + 1, b1):
        before = row - b0 - 1
        add_node(
            q, dof0 + 4 * before, B1, B2, GJ, bend_table, bend_state, row, rate, exact, weight_f, weight_k,
            force, values, band0 + 64 * before,
        )  # fmt: skip
    for row in range(s0, s1):
        e = row - s0
        add_edge(
            q, dof0 + 4 * e, EA, stretch_table, stretch_state, row, rate, push, weight_f, weight_k,
            force, values, band0 + 64 * e,
        )  # fmt: skip
    if weight_k != 0.0:
        # The last node's roll belongs to no edge: any positive number keeps it where it is.
        values[band0 + 64 * (n - 1) + 51] += weight_k * GJ / constants[rod, 6]


# ----------------------------------------------------------------------------------------------------------- strains


@kernel
def update_tensions_discrete(
    q, dq, dof0, n, closed, constants, rod, stretch_table, stretch_span, stretch_state, s0, s1, rate
):
    """Store N = EA (1 + rate)(ε + ∇ε·Δq) − EA rate ε_last, ε and ∇ε at the iterate q *before* `dq` is added to it."""
    EA = constants[rod, 0]
    for row in range(s0, s1):
        at = dof0 + 4 * (row - s0)
        a, da = edge_of(q, at), edge_of(dq, at)
        j, J = math.sqrt(dot3(a, a)), stretch_table[row, 1]
        strain = j / J - 1.0 + dot3(a, da) / (j * J)
        stretch_state[row, 0] = EA * ((1.0 + rate) * strain - rate * stretch_state[row, 1])


@kernel
def accept_strains_discrete(
    q, dof0, n, closed, bend_table, bend_span, bend_state, b0, b1, stretch_table, stretch_span, stretch_state, s0, s1
):
    """Write κ1, κ2, τ into `bend_state`[:, 10:13] and ε into `stretch_state`[:, 1]; frames are carried to q already."""
    for row in range(b0 + 1, b1):
        at = dof0 + 4 * (row - b0)
        bend_state[row, 10], bend_state[row, 11], bend_state[row, 12] = node_strains(q, at, bend_table, bend_state, row)
    for row in range(s0, s1):
        stretch_state[row, 1] = edge_strain(q, dof0 + 4 * (row - s0), stretch_table[row, 1])


@kernel
def energy_discrete(
    q, dof0, n, closed, constants, rod,
    bend_table, bend_span, bend_state, b0, b1, stretch_table, stretch_span, stretch_state, s0, s1,
):  # fmt: skip
    """Return the energies of stretching, bending and twist, J, of the shape q, to which the frames are carried."""
    stretching, bending, twisting = 0.0, 0.0, 0.0
    for row in range(b0 + 1, b1):
        kappa1, kappa2, tau = node_strains(q, dof0 + 4 * (row - b0), bend_table, bend_state, row)
        x1, x2, xt = kappa1 - bend_table[row, 14], kappa2 - bend_table[row, 15], tau - bend_table[row, 16]
        half = 0.5 * bend_table[row, 0] * bend_table[row, 1]
        bending += half * (constants[rod, 1] * x1 * x1 + constants[rod, 2] * x2 * x2)
        twisting += half * constants[rod, 3] * xt * xt
    for row in range(s0, s1):
        strain = edge_strain(q, dof0 + 4 * (row - s0), stretch_table[row, 1])
        stretching += 0.5 * stretch_table[row, 0] * stretch_table[row, 1] * constants[rod, 0] * strain * strain
    return stretching, bending, twisting


@kernel
def largest_turn_discrete(q, dq, dof0, n, closed, bend_table, bend_span, b0, b1):
    """Return the largest angle (rad, 0 to π) between an edge's tangents at q and at q + dq."""
    largest = 0.0
    for row in range(b0, b1):
        at = dof0 + 4 * (row - b0)
        a, da = edge_of(q, at), edge_of(dq, at)
        new = a[0] + da[0], a[1] + da[1], a[2] + da[2]
        across = cross3(a, new)
        largest = max(largest, math.atan2(math.sqrt(dot3(across, across)), dot3(a, new)))
    return largest
