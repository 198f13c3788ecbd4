"""Elements of the energy method: strains, unbalanced moments and tangents of all elements of one strand.

The unknowns are the nodes' rotations R and one force λ per segment; a position is their consequence. An element of
order 4 has three nodes (0, m, 1) and the length h; one of order 1 or 2 has two. With R → R exp[φ], its energy is

    Σ weights · W(u) − Σ w (b·v̂ + ½ b·C b),   b = Rᵀ(λ + N),   v = v̂ + C b,

where N is the known part of the internal force (loads beyond) and C the compliance in shear and stretch (0 if
inextensible). The second sum is the complementary energy of the force: it makes v, and with it the positions, a
consequence of R and λ (Simo & Vu-Quoc's strain measures; the elimination of v is a Legendre transform).

Storage: blocks of LANES elements, component after component, ``P[block·BLOCK + component + lane]``. With unsigned
offsets that are known when the kernel is compiled, the loops over lanes become vector instructions (four times as fast
as scalar ones). Lengths are in units of the strand's length L, forces in EI/L², moments in EI/L.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import (
    SMALL_SIN2, add3, add9, beta, beta_small, cross3, dot3, log_curvature, log_factor_small, log_jacobian, mat_mul,
    mat_mul_t, mat_t_mul, mat_t_vec, mat_vec, mul_skew, outer, quat_between, quat_log, quat_matrix, scale3, scale9,
    skew, skew_mul, sub3, sub9, transpose,
)  # fmt: skip

LANES = 8
U8 = np.uint64(8)
U24 = np.uint64(24)


def _component(index: int) -> np.uint64:
    return np.uint64(index * LANES)


# What an element is given: its length, and at its three slots (0, m, 1) rest curvature, rest stretch, known force.
H = _component(0)
REST_U0, REST_UM, REST_U1 = _component(1), _component(4), _component(7)
REST_V0, REST_VM, REST_V1 = _component(10), _component(13), _component(16)
LOAD_N0, LOAD_NM, LOAD_N1 = _component(19), _component(22), _component(25)
CONSTANTS = 28
# What changes with the state.
LAMBDA = _component(28)
QUAT0, QUATM, QUAT1 = _component(31), _component(35), _component(39)
LOG_A, LOG_C = _component(43), _component(46)  # a = log(R0ᵀRm), c = log(RmᵀR1)
BETA_A, SLOPE_A, BETA_C, SLOPE_C = _component(49), _component(50), _component(51), _component(52)
OMEGA, OMEGA_SLOPE = _component(53), _component(54)  # end weight of the position quadrature
# What comes out: potential, unbalanced moments, ∫R v, second derivatives in (φ0, φm, φ1, λ).
POTENTIAL = _component(55)
G0, GM, G1 = _component(56), _component(59), _component(62)
CHORD = _component(65)
DMM, O0M, OM1, BM = _component(68), _component(77), _component(86), _component(95)
D00, D11, O01, B0, B1, S = (_component(i) for i in (104, 113, 122, 131, 140, 149))
# The same with φm eliminated (shifted by δ): what the chain of element ends sees.
CD00, CD11, CO01, CB0, CB1, CS = (_component(i) for i in (158, 167, 176, 185, 194, 203))
PIVOTS = _component(212)  # of the middle block: 1/d0, 1/d1, 1/d2, l10, l20, l21
X0, X1, XB = _component(218), _component(227), _component(236)  # Dmm⁻¹ (Om0, Om1, Bm)
NEGATIVE = _component(245)  # number of negative middle pivots
WIDTH = 246
BLOCK = WIDTH * LANES


@inlined
def load3(P, i):
    return P[i], P[i + U8], P[i + np.uint64(16)]


@inlined
def load4(P, i):
    return P[i], P[i + U8], P[i + np.uint64(16)], P[i + U24]


@inlined
def load9(P, i):
    return load3(P, i) + load3(P, i + U24) + load3(P, i + np.uint64(48))


@inlined
def store3(P, i, a):
    P[i] = a[0]
    P[i + U8] = a[1]
    P[i + np.uint64(16)] = a[2]


@inlined
def store9(P, i, a):
    store3(P, i, (a[0], a[1], a[2]))
    store3(P, i + U24, (a[3], a[4], a[5]))
    store3(P, i + np.uint64(48), (a[6], a[7], a[8]))


@inlined
def element_offset(element):
    """Where element's components begin in P."""
    block = element // 8
    return np.uint64(block * BLOCK + element - 8 * block)


@kernel
def scatter_state(P, elements, stride, q, lam, segment):
    """Copy node quaternions q and segment forces lam into the elements; `stride` nodes from end to end."""
    for e in range(elements):
        i = element_offset(e)
        s = segment[e]
        P[i + LAMBDA] = lam[s, 0]
        P[i + LAMBDA + U8] = lam[s, 1]
        P[i + LAMBDA + np.uint64(16)] = lam[s, 2]
        for k in range(4):
            at = i + np.uint64(8 * k)
            P[at + QUAT0] = q[stride * e, k]
            P[at + QUAT1] = q[stride * e + stride, k]
            if stride == 2:
                P[at + QUATM] = q[2 * e + 1, k]


# ------------------------------------------------------------------------------------------------ rotation logarithms


@inlined
def omega_small(y):
    """End weight ω of the position quadrature ∫R v ≈ h (ω R0v0 + (1−2ω) Rmvm + ω R1v1), and dω/dy.

    ω = (1 − sin θ/θ) / (2 − 2 cos θ) with y = θ², θ half the element's angle: Simpson's 1/6 for a small element, and
    exact when the element is an arc of a helix, however large.
    """
    value = 1 / 6 + y * (1 / 180 + y * (1 / 5040 + y * (1 / 151200 + y * (1 / 4790016 + y * (691 / 108972864000
        + y * (1 / 5337446400 + y * (3617 / 666913927680000)))))))  # fmt: skip
    slope = 1 / 180 + y * (2 / 5040 + y * (3 / 151200 + y * (4 / 4790016 + y * (5 * 691 / 108972864000
        + y * (6 / 5337446400 + y * (7 * 3617 / 666913927680000))))))  # fmt: skip
    return value, slope


@kernel
def omega(y):
    if y < 0.25:
        return omega_small(y)
    theta = np.sqrt(min(y, 9.0))
    sin, cos = np.sin(theta), np.cos(theta)
    top, bottom = 1.0 - sin / theta, 2.0 - 2.0 * cos
    value = top / bottom
    slope = ((sin / theta - cos) / theta - value * 2.0 * sin) / bottom / (2.0 * theta)
    return value, slope if y < 9.0 else 0.0


@kernel
def logarithms_small(P, o, lanes):
    """a, c and their coefficients for one block by series; returns the largest sin² of half an angle (or NaN)."""
    for lane in range(lanes):
        i = o + np.uint64(lane)
        qm = load4(P, i + QUATM)
        ra = quat_between(load4(P, i + QUAT0), qm)
        rc = quat_between(qm, load4(P, i + QUAT1))
        # q and −q are one rotation: take the one with positive scalar part
        va = (ra[1], ra[2], ra[3]) if ra[0] >= 0.0 else (-ra[1], -ra[2], -ra[3])
        vc = (rc[1], rc[2], rc[3]) if rc[0] >= 0.0 else (-rc[1], -rc[2], -rc[3])
        xa, xc = dot3(va, va), dot3(vc, vc)
        a = scale3(log_factor_small(xa), va)
        c = scale3(log_factor_small(xc), vc)
        store3(P, i + LOG_A, a)
        store3(P, i + LOG_C, c)
        P[i + BETA_A], P[i + SLOPE_A] = beta_small(dot3(a, a))
        P[i + BETA_C], P[i + SLOPE_C] = beta_small(dot3(c, c))
        half = add3(a, c)
        P[i + OMEGA], P[i + OMEGA_SLOPE] = omega_small(0.25 * dot3(half, half))
        P[i + POTENTIAL] = xa + xc  # free until the forces are evaluated; a maximum here would not be vectorised
    largest = 0.0
    for lane in range(lanes):
        x = P[o + POTENTIAL + np.uint64(lane)]
        largest = largest if x <= largest else x
    return largest


@kernel
def logarithms(P, o, lanes):
    """The same for any angle up to π."""
    for lane in range(lanes):
        i = o + np.uint64(lane)
        qm = load4(P, i + QUATM)
        a = quat_log(quat_between(load4(P, i + QUAT0), qm))
        c = quat_log(quat_between(qm, load4(P, i + QUAT1)))
        store3(P, i + LOG_A, a)
        store3(P, i + LOG_C, c)
        P[i + BETA_A], P[i + SLOPE_A] = beta(dot3(a, a))
        P[i + BETA_C], P[i + SLOPE_C] = beta(dot3(c, c))
        half = add3(a, c)
        P[i + OMEGA], P[i + OMEGA_SLOPE] = omega(0.25 * dot3(half, half))


@kernel
def element_logarithms(P, blocks, lanes):
    for block in range(blocks):
        o = np.uint64(block * BLOCK)
        # written so that a NaN takes the general path as well
        if not logarithms_small(P, o, lanes) < SMALL_SIN2:
            logarithms(P, o, lanes)


# ------------------------------------------------------------------------------------------- order 4, linear elasticity


@inlined
def slot_force(P, i, rest, load, quat, lam, C):
    """Rotation, force in the body frame, stretch, R v, complementary energy and potential at one slot."""
    R = quat_matrix(load4(P, i + quat))
    n = load3(P, i + load)
    b = mat_t_vec(R, add3(n, lam))
    v_rest = load3(P, i + rest)
    x = mat_vec(C, b)
    v = add3(v_rest, x)
    t = mat_vec(R, v)
    stored = 0.5 * dot3(b, x)
    return R, b, v, t, dot3(b, v_rest) + stored, stored - dot3(n, t)


@inlined
def element_forces(P, i, K, C):
    """Energy, ∫R v and unbalanced moments of one element of order 4: stored in P, and what the tangent needs."""
    h = P[i + H]
    a = load3(P, i + LOG_A)
    c = load3(P, i + LOG_C)
    w = h * P[i + OMEGA]
    wm = h - 2.0 * w
    lam = load3(P, i + LAMBDA)

    # u at the slots, of order 4 from two logarithms: u0 = (3a − c + ½c×a)/h, um = (a + c)/h, u1 = (3c − a + ½c×a)/h
    ca = scale3(0.5, cross3(c, a))
    k = 1.0 / h
    e0 = sub3(scale3(k, add3(sub3(scale3(3.0, a), c), ca)), load3(P, i + REST_U0))
    em = sub3(scale3(k, add3(a, c)), load3(P, i + REST_UM))
    e1 = sub3(scale3(k, add3(sub3(scale3(3.0, c), a), ca)), load3(P, i + REST_U1))
    m0, mm, m1 = mat_vec(K, e0), mat_vec(K, em), mat_vec(K, e1)
    bending = h / 12.0 * (dot3(m0, e0) + 4.0 * dot3(mm, em) + dot3(m1, e1))

    R0, b0, v0, t0, psi0, potential0 = slot_force(P, i, REST_V0, LOAD_N0, QUAT0, lam, C)
    Rm, bm, vm, tm, psim, potentialm = slot_force(P, i, REST_VM, LOAD_NM, QUATM, lam, C)
    R1, b1, v1, t1, psi1, potential1 = slot_force(P, i, REST_V1, LOAD_N1, QUAT1, lam, C)
    P[i + POTENTIAL] = bending + w * (potential0 + potential1) + wm * potentialm
    store3(P, i + CHORD, add3(scale3(w, add3(t0, t1)), scale3(wm, tm)))

    # moments conjugate to a and c; the last term comes from the weight ω, which depends on |a + c|
    sum_m = add3(m0, m1)
    m4 = scale3(4.0, mm)
    weight = scale3(0.5 * h * P[i + OMEGA_SLOPE] * (2.0 * psim - psi0 - psi1), add3(a, c))
    ga = add3(scale3(1 / 6, add3(add3(sub3(scale3(3.0, m0), m1), m4), scale3(0.5, cross3(sum_m, c)))), weight)
    gc = add3(scale3(1 / 6, add3(add3(sub3(scale3(3.0, m1), m0), m4), scale3(0.5, cross3(a, sum_m)))), weight)
    Aa = log_jacobian(a, P[i + BETA_A])
    Ac = log_jacobian(c, P[i + BETA_C])
    store3(P, i + G0, sub3(scale3(w, cross3(b0, v0)), mat_vec(Aa, ga)))
    store3(P, i + GM, add3(scale3(wm, cross3(bm, vm)), sub3(mat_t_vec(Aa, ga), mat_vec(Ac, gc))))
    store3(P, i + G1, add3(scale3(w, cross3(b1, v1)), mat_t_vec(Ac, gc)))
    return h, a, c, w, wm, sum_m, ga, gc, Aa, Ac, (R0, b0, v0), (Rm, bm, vm), (R1, b1, v1)


@inlined
def force_block(w, b, v, C):
    """Second derivative of a slot's complementary energy in φ: w (−[v][b] + [b] C [b])."""
    d = w * dot3(b, v)
    return add9(scale9(w, sub9(skew_mul(b, mul_skew(C, b)), outer(b, v))), (d, 0.0, 0.0, 0.0, d, 0.0, 0.0, 0.0, d))


@inlined
def border_block(w, slot, C):
    """Mixed derivative in φ and λ: w ([b] C − [v]) Rᵀ."""
    R, b, v = slot
    return scale9(w, mat_mul_t(sub9(skew_mul(b, C), skew(v)), R))


@inlined
def compliance_block(w, R, C):
    return scale9(-w, mat_mul_t(mat_mul(R, C), R))


@kernel
def evaluate_elements(P, blocks, lanes, K, C):
    """Energies, chords and unbalanced moments of all elements of order 4."""
    for block in range(blocks):
        o = np.uint64(block * BLOCK)
        for lane in range(lanes):
            element_forces(P, o + np.uint64(lane), K, C)


@kernel
def assemble_elements(P, blocks, lanes, K, C):
    """The same with the tangents. The derivative of ω is left out of them: relative to the rest it is θ²/90."""
    for block in range(blocks):
        o = np.uint64(block * BLOCK)
        for lane in range(lanes):
            i = o + np.uint64(lane)
            h, a, c, w, wm, sum_m, ga, gc, Aa, Ac, slot0, slotm, slot1 = element_forces(P, i, K, C)

            # second derivatives of the bending energy in (a, c)
            Kc = mul_skew(K, c)
            Ka = mul_skew(K, a)
            k = 1.0 / (6.0 * h)
            K14 = scale9(14.0, K)
            Haa = scale9(k, add9(K14, sub9(add9(Kc, transpose(Kc)), scale9(0.5, skew_mul(c, Kc)))))
            Hcc = scale9(k, sub9(K14, add9(add9(Ka, transpose(Ka)), scale9(0.5, skew_mul(a, Ka)))))
            Hac = sub9(transpose(Kc), add9(scale9(2.0, K), Ka))
            Hac = add9(scale9(k, add9(Hac, scale9(0.5, skew_mul(c, Ka)))), scale9(1 / 12, skew(sum_m)))

            # chained with δa = A(a)φm − A(a)ᵀφ0 and δc = A(c)φ1 − A(c)ᵀφm; Q and ½[g] come from the change of A
            Qa = log_curvature(a, ga, P[i + BETA_A], P[i + SLOPE_A])
            Qc = log_curvature(c, gc, P[i + BETA_C], P[i + SLOPE_C])
            half_a = scale9(0.5, skew(ga))
            half_c = scale9(0.5, skew(gc))
            U = add9(mat_mul(Aa, Haa), sub9(Qa, half_a))
            V = mat_mul(Aa, Hac)
            Um = add9(mat_t_mul(Aa, Haa), add9(Qa, half_a))
            Vm = mat_t_mul(Aa, Hac)
            Y = add9(mat_mul(Ac, Hcc), sub9(Qc, half_c))
            Y1 = add9(mat_t_mul(Ac, Hcc), add9(Qc, half_c))
            VmAc = mat_mul_t(Vm, Ac)
            middle = sub9(add9(mat_mul(Um, Aa), mat_mul_t(Y, Ac)), add9(VmAc, transpose(VmAc)))

            store9(P, i + D00, add9(mat_mul_t(U, Aa), force_block(w, slot0[1], slot0[2], C)))
            store9(P, i + DMM, add9(middle, force_block(wm, slotm[1], slotm[2], C)))
            store9(P, i + D11, add9(mat_mul(Y1, Ac), force_block(w, slot1[1], slot1[2], C)))
            store9(P, i + O0M, sub9(mat_mul_t(V, Ac), mat_mul(U, Aa)))
            store9(P, i + O01, scale9(-1.0, mat_mul(V, Ac)))
            store9(P, i + OM1, mat_mul(sub9(Vm, Y), Ac))
            store9(P, i + B0, border_block(w, slot0, C))
            store9(P, i + BM, border_block(wm, slotm, C))
            store9(P, i + B1, border_block(w, slot1, C))
            ends = add9(compliance_block(w, slot0[0], C), compliance_block(w, slot1[0], C))
            store9(P, i + S, add9(ends, compliance_block(wm, slotm[0], C)))


# -------------------------------------------------------------------------------------- elimination of the middle nodes


@inlined
def solve_pivots(f, b):
    """Solve with (1/d0, 1/d1, 1/d2, l10, l20, l21)."""
    y1 = b[1] - f[3] * b[0]
    y2 = b[2] - f[4] * b[0] - f[5] * y1
    x2 = y2 * f[2]
    x1 = y1 * f[1] - f[5] * x2
    return b[0] * f[0] - f[3] * x1 - f[4] * x2, x1, x2


@inlined
def solve_columns(f, M):
    x = solve_pivots(f, (M[0], M[3], M[6]))
    y = solve_pivots(f, (M[1], M[4], M[7]))
    z = solve_pivots(f, (M[2], M[5], M[8]))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@inlined
def factor_symmetric(a, shift):
    """LDLᵀ of the symmetric part of a + shift·I as `solve_pivots` takes it, and the number of negative pivots."""
    m10, m20, m21 = 0.5 * (a[1] + a[3]), 0.5 * (a[2] + a[6]), 0.5 * (a[5] + a[7])
    d0 = a[0] + shift
    d0 = d0 if d0 != 0.0 else 1e-300
    i0 = 1.0 / d0
    l10, l20 = m10 * i0, m20 * i0
    d1 = a[4] + shift - l10 * m10
    d1 = d1 if d1 != 0.0 else 1e-300
    i1 = 1.0 / d1
    t = m21 - l20 * m10
    l21 = t * i1
    d2 = a[8] + shift - l20 * m20 - l21 * t
    d2 = d2 if d2 != 0.0 else 1e-300
    negative = (1.0 if d0 < 0.0 else 0.0) + (1.0 if d1 < 0.0 else 0.0) + (1.0 if d2 < 0.0 else 0.0)
    return (i0, i1, 1.0 / d2, l10, l20, l21), negative


@kernel
def condense_elements(P, blocks, lanes, delta):
    """Eliminate the middle rotations (shifted by δ times their share of the length) from all elements of order 4."""
    for block in range(blocks):
        o = np.uint64(block * BLOCK)
        for lane in range(lanes):
            i = o + np.uint64(lane)
            f, negative = factor_symmetric(load9(P, i + DMM), 0.5 * delta * P[i + H])
            O0m, Om1, Bm = load9(P, i + O0M), load9(P, i + OM1), load9(P, i + BM)
            x0 = solve_columns(f, transpose(O0m))
            x1 = solve_columns(f, Om1)
            xb = solve_columns(f, Bm)
            store9(P, i + CD00, sub9(load9(P, i + D00), mat_mul(O0m, x0)))
            store9(P, i + CO01, sub9(load9(P, i + O01), mat_mul(O0m, x1)))
            store9(P, i + CD11, sub9(load9(P, i + D11), mat_t_mul(Om1, x1)))
            store9(P, i + CB0, sub9(load9(P, i + B0), mat_mul(O0m, xb)))
            store9(P, i + CB1, sub9(load9(P, i + B1), mat_t_mul(Om1, xb)))
            store9(P, i + CS, sub9(load9(P, i + S), mat_t_mul(Bm, xb)))
            store9(P, i + X0, x0)
            store9(P, i + X1, x1)
            store9(P, i + XB, xb)
            store3(P, i + PIVOTS, (f[0], f[1], f[2]))
            store3(P, i + PIVOTS + U24, (f[3], f[4], f[5]))
            P[i + NEGATIVE] = negative


# ----------------------------------------------------------------------------------- orders 1 and 2, linear elasticity


@kernel
def evaluate_short_elements(P, blocks, order, K, C, tangent):
    """Two-node elements: u = log(R0ᵀR1)/h; the force's energy by trapezoids (order 2) or from the left end (order 1).

    With `tangent`, their second derivatives go where `condense_elements` would put them.
    """
    for e in range(blocks * LANES):
        i = element_offset(e)
        h = P[i + H]
        lam = load3(P, i + LAMBDA)
        a = quat_log(quat_between(load4(P, i + QUAT0), load4(P, i + QUAT1)))
        b, slope = beta(dot3(a, a))
        strain = sub3(scale3(1.0 / h, a), load3(P, i + (REST_UM if order == 2 else REST_U0)))
        ga = mat_vec(K, strain)
        w0, w1 = (0.5 * h, 0.5 * h) if order == 2 else (h, 0.0)
        R0, b0, v0, t0, _, potential0 = slot_force(P, i, REST_V0, LOAD_N0, QUAT0, lam, C)
        R1, b1, v1, t1, _, potential1 = slot_force(P, i, REST_V1, LOAD_N1, QUAT1, lam, C)
        P[i + POTENTIAL] = 0.5 * h * dot3(ga, strain) + w0 * potential0 + w1 * potential1
        store3(P, i + CHORD, add3(scale3(w0, t0), scale3(w1, t1)))
        A = log_jacobian(a, b)
        store3(P, i + G0, sub3(scale3(w0, cross3(b0, v0)), mat_vec(A, ga)))
        store3(P, i + G1, add3(scale3(w1, cross3(b1, v1)), mat_t_vec(A, ga)))
        if tangent:
            Haa = scale9(1.0 / h, K)
            Q = log_curvature(a, ga, b, slope)
            half = scale9(0.5, skew(ga))
            U = add9(mat_mul(A, Haa), sub9(Q, half))
            Y = add9(mat_t_mul(A, Haa), add9(Q, half))
            store9(P, i + CD00, add9(mat_mul_t(U, A), force_block(w0, b0, v0, C)))
            store9(P, i + CD11, add9(mat_mul(Y, A), force_block(w1, b1, v1, C)))
            store9(P, i + CO01, scale9(-1.0, mat_mul(U, A)))
            store9(P, i + CB0, border_block(w0, (R0, b0, v0), C))
            store9(P, i + CB1, border_block(w1, (R1, b1, v1), C))
            store9(P, i + CS, add9(compliance_block(w0, R0, C), compliance_block(w1, R1, C)))
            P[i + NEGATIVE] = 0.0
