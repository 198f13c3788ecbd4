"""Elements of the energy method: strains, unbalanced moments and tangents of all elements of one strand.

The unknowns are the nodes' rotations R and one force λ per segment; a position is their consequence. An element of
order 4 has three nodes (0, m, 1) and the length h; one of order 1 or 2 has two. With R → R exp[φ], its energy is

    Σ weights · W(u) − Σ w (b·v̂ + ½ b·C b),   b = Rᵀ(λ + N),   v = v̂ + C b,

where N is the known part of the internal force (loads beyond) and C the compliance in shear and stretch (0 if
inextensible). The second sum is the complementary energy of the force: it makes v, and with it the positions, a
consequence of R and λ (Simo & Vu-Quoc's strain measures; the elimination of v is a Legendre transform).

The elements P stand in blocks of lanes (see `lanes`), ``P.log_a[block, component, lane]``, so that loops over lanes
become vector instructions (four times as fast as scalar ones). Lengths are in units of the strand's length L, forces in
EI/L², moments in EI/L.

The stiffness K and the compliance C of a strand that is alike all along are nine numbers each, which registers hold;
of one that varies along its length they are three times nine, those of the element's slots. Kernels tell by the types.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, kernel, overload
from sennit.cosserat.kernels.lanes import (
    C0, block_and_lane, load3, load4, load9, store3, store4, store6, store9,
)  # fmt: skip
from sennit.cosserat.kernels.rows import row4, row9
from sennit.geometry.kernels.algebra import (
    SMALL_SIN2, add3, add9, beta, beta_small, cross3, dot3, log_curvature, log_factor_small, log_jacobian, mat_mul,
    mat_mul_t, mat_t_mul, mat_t_vec, mat_vec, mul_skew, outer, quat_between, quat_log, quat_matrix, row3, scale3,
    scale9, skew, skew_mul, sub3, sub9, transpose,
)  # fmt: skip

# Addresses of laws that have no compiled function of their own: linear ones, the same all along or not.
LINEAR = 0  # no strain couples with another: the elements of this file
COUPLED = -1  # a full 6×6 stiffness, from the law's table: the elements of `law`
VARIED, VARIED_COUPLED = -2, -3  # the same of strands that vary along their length


@kernel
def scatter_state(P, plan, state):
    """Copy the nodes' quaternions and the segments' forces into the elements."""
    q, stride = state.q, plan.stride[0]
    for e in range(plan.segment.shape[0]):
        o, i = block_and_lane(e)
        store3(P.lam, o, i, row3(state.lam, np.uint64(plan.segment[e])))
        store4(P.quat0, o, i, row4(q, stride * e))
        store4(P.quat1, o, i, row4(q, stride * e + stride))
        if stride == 2:
            store4(P.quatm, o, i, row4(q, 2 * e + 1))


# ------------------------------------------------------------------------------------------------ rotation logarithms


@inlined
def omega_small(y):
    """End weight ω of the position quadrature ∫R v ≈ h (ω R0v0 + (1−2ω) Rmvm + ω R1v1), dω/dy and d²ω/dy².

    ω = (1 − sin θ/θ) / (2 − 2 cos θ) with y = θ², θ half the element's angle: Simpson's 1/6 for a small element, and
    exact when the element is an arc of a helix, however large.
    """
    value = 1 / 6 + y * (1 / 180 + y * (1 / 5040 + y * (1 / 151200 + y * (1 / 4790016 + y * (691 / 108972864000
        + y * (1 / 5337446400 + y * (3617 / 666913927680000)))))))  # fmt: skip
    slope = 1 / 180 + y * (2 / 5040 + y * (3 / 151200 + y * (4 / 4790016 + y * (5 * 691 / 108972864000
        + y * (6 / 5337446400 + y * (7 * 3617 / 666913927680000))))))  # fmt: skip
    bend = 2 / 5040 + y * (6 / 151200 + y * (12 / 4790016 + y * (20 * 691 / 108972864000
        + y * (30 / 5337446400 + y * (42 * 3617 / 666913927680000)))))  # fmt: skip
    return value, slope, bend


@kernel
def omega(y):
    if y < 0.25:
        return omega_small(y)
    theta = np.sqrt(min(y, 9.0))
    sin, cos = np.sin(theta), np.cos(theta)
    top, bottom = 1.0 - sin / theta, 2.0 - 2.0 * cos
    # with ′ = d/dθ: d/dy = ′/2θ, d²/dy² = (″ − ′/θ)/4θ²
    value = top / bottom
    first = ((sin / theta - cos) / theta - value * 2.0 * sin) / bottom
    top_second = (2.0 * (cos - sin / theta) / theta + sin) / theta
    second = (top_second - 4.0 * first * sin - 2.0 * value * cos) / bottom
    if not y < 9.0:
        return value, 0.0, 0.0
    return value, first / (2.0 * theta), (second - first / theta) / (4.0 * theta * theta)


@kernel
def logarithms_small(P, o, lanes):
    """a, c and their coefficients for one block by series; returns the largest sin² of half an angle (or NaN)."""
    for lane in range(lanes):
        i = np.uint64(lane)
        qm = load4(P.quatm, o, i)
        ra = quat_between(load4(P.quat0, o, i), qm)
        rc = quat_between(qm, load4(P.quat1, o, i))
        # q and −q are one rotation: take the one with positive scalar part
        va = (ra[1], ra[2], ra[3]) if ra[0] >= 0.0 else (-ra[1], -ra[2], -ra[3])
        vc = (rc[1], rc[2], rc[3]) if rc[0] >= 0.0 else (-rc[1], -rc[2], -rc[3])
        xa, xc = dot3(va, va), dot3(vc, vc)
        a = scale3(log_factor_small(xa), va)
        c = scale3(log_factor_small(xc), vc)
        store3(P.log_a, o, i, a)
        store3(P.log_c, o, i, c)
        P.beta_a[o, C0, i], P.slope_a[o, C0, i] = beta_small(dot3(a, a))
        P.beta_c[o, C0, i], P.slope_c[o, C0, i] = beta_small(dot3(c, c))
        half = add3(a, c)
        P.omega[o, C0, i], P.omega_slope[o, C0, i], P.omega_bend[o, C0, i] = omega_small(0.25 * dot3(half, half))
        P.sines[o, C0, i] = xa + xc  # a maximum here would not be vectorised
    largest = 0.0
    for lane in range(lanes):
        x = P.sines[o, C0, np.uint64(lane)]
        largest = largest if x <= largest else x
    return largest


@kernel
def logarithms(P, o, lanes):
    """The same for any angle up to π."""
    for lane in range(lanes):
        i = np.uint64(lane)
        qm = load4(P.quatm, o, i)
        a = quat_log(quat_between(load4(P.quat0, o, i), qm))
        c = quat_log(quat_between(qm, load4(P.quat1, o, i)))
        store3(P.log_a, o, i, a)
        store3(P.log_c, o, i, c)
        P.beta_a[o, C0, i], P.slope_a[o, C0, i] = beta(dot3(a, a))
        P.beta_c[o, C0, i], P.slope_c[o, C0, i] = beta(dot3(c, c))
        half = add3(a, c)
        P.omega[o, C0, i], P.omega_slope[o, C0, i], P.omega_bend[o, C0, i] = omega(0.25 * dot3(half, half))


@kernel
def element_logarithms(P, lanes):
    for block in range(P.length.shape[0]):
        o = np.uint64(block)
        # written so that a NaN takes the general path as well
        if not logarithms_small(P, o, lanes) < SMALL_SIN2:
            logarithms(P, o, lanes)


# ------------------------------------------------------------------------------------------- order 4, linear elasticity


@inlined
def slot_force(rest_v, load_n, quat, o, i, lam, C):
    """Rotation, force in the body frame, stretch, R v, complementary energy and potential at one slot."""
    R = quat_matrix(load4(quat, o, i))
    n = load3(load_n, o, i)
    b = mat_t_vec(R, add3(n, lam))
    v_rest = load3(rest_v, o, i)
    x = mat_vec(C, b)
    v = add3(v_rest, x)
    t = mat_vec(R, v)
    stored = 0.5 * dot3(b, x)
    return R, b, v, t, dot3(b, v_rest) + stored, stored - dot3(n, t)


def of_slots(matrix):
    """The matrices of the slots 0, m and 1: one for all, or each its own."""
    return (matrix, matrix, matrix) if len(matrix) == 9 else matrix


@overload(of_slots, forceinline=True)
def _of_slots(matrix):
    if len(matrix) == 9:
        return lambda matrix: (matrix, matrix, matrix)
    return lambda matrix: matrix


@inlined
def element_forces(P, o, i, K, C):
    """Energy, ∫R v and unbalanced moments of one element of order 4: stored in P, and what the tangent needs."""
    K0, Km, K1 = of_slots(K)
    give0, givem, give1 = of_slots(C)
    h = P.length[o, C0, i]
    a = load3(P.log_a, o, i)
    c = load3(P.log_c, o, i)
    w = h * P.omega[o, C0, i]
    wm = h - 2.0 * w
    lam = load3(P.lam, o, i)

    # u at the slots, of order 4 from two logarithms: u0 = (3a − c + ½c×a)/h, um = (a + c)/h, u1 = (3c − a + ½c×a)/h
    ca = scale3(0.5, cross3(c, a))
    k = 1.0 / h
    e0 = sub3(scale3(k, add3(sub3(scale3(3.0, a), c), ca)), load3(P.rest_u0, o, i))
    em = sub3(scale3(k, add3(a, c)), load3(P.rest_um, o, i))
    e1 = sub3(scale3(k, add3(sub3(scale3(3.0, c), a), ca)), load3(P.rest_u1, o, i))
    m0, mm, m1 = mat_vec(K0, e0), mat_vec(Km, em), mat_vec(K1, e1)
    bending = h / 12.0 * (dot3(m0, e0) + 4.0 * dot3(mm, em) + dot3(m1, e1))

    R0, b0, v0, t0, psi0, potential0 = slot_force(P.rest_v0, P.load_n0, P.quat0, o, i, lam, give0)
    Rm, bm, vm, tm, psim, potentialm = slot_force(P.rest_vm, P.load_nm, P.quatm, o, i, lam, givem)
    R1, b1, v1, t1, psi1, potential1 = slot_force(P.rest_v1, P.load_n1, P.quat1, o, i, lam, give1)
    P.potential[o, C0, i] = bending + w * (potential0 + potential1) + wm * potentialm
    store3(P.chord, o, i, add3(scale3(w, add3(t0, t1)), scale3(wm, tm)))

    # moments conjugate to a and c; the last term comes from the weight ω, which depends on |a + c|
    sum_m = add3(m0, m1)
    m4 = scale3(4.0, mm)
    difference = 2.0 * psim - psi0 - psi1
    weight = scale3(0.5 * h * P.omega_slope[o, C0, i] * difference, add3(a, c))
    ga = add3(scale3(1 / 6, add3(add3(sub3(scale3(3.0, m0), m1), m4), scale3(0.5, cross3(sum_m, c)))), weight)
    gc = add3(scale3(1 / 6, add3(add3(sub3(scale3(3.0, m1), m0), m4), scale3(0.5, cross3(a, sum_m)))), weight)
    Aa = log_jacobian(a, P.beta_a[o, C0, i])
    Ac = log_jacobian(c, P.beta_c[o, C0, i])
    store3(P.g0, o, i, sub3(scale3(w, cross3(b0, v0)), mat_vec(Aa, ga)))
    store3(P.gm, o, i, add3(scale3(wm, cross3(bm, vm)), sub3(mat_t_vec(Aa, ga), mat_vec(Ac, gc))))
    store3(P.g1, o, i, add3(scale3(w, cross3(b1, v1)), mat_t_vec(Ac, gc)))
    # how the difference changes with φ0, φm, φ1 and λ
    changes = cross3(b0, v0), scale3(-2.0, cross3(bm, vm)), cross3(b1, v1), sub3(scale3(2.0, tm), add3(t0, t1))
    return h, a, c, w, wm, sum_m, ga, gc, Aa, Ac, (R0, b0, v0), (Rm, bm, vm), (R1, b1, v1), difference, changes


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


@inlined
def times_identity(k):
    return k, 0.0, 0.0, 0.0, k, 0.0, 0.0, 0.0, k


@inlined
def outers(a, b, c, d):
    """a bᵀ + c dᵀ."""
    return add9(outer(a, b), outer(c, d))


def bending_curvature(K, h, a, c, sum_m):
    """Second derivatives of an element's bending energy in (a, a), (c, c) and (a, c); `sum_m` is m0 + m1."""
    return _curvature_alike(K, h, a, c, sum_m) if len(K) == 9 else _curvature_varied(*K, h, a, c, sum_m)


@overload(bending_curvature, forceinline=True)
def _bending_curvature(K, h, a, c, sum_m):
    if len(K) == 9:
        return lambda K, h, a, c, sum_m: _curvature_alike(K, h, a, c, sum_m)
    return lambda K, h, a, c, sum_m: _curvature_varied(K[0], K[1], K[2], h, a, c, sum_m)


@inlined
def _curvature_alike(K, h, a, c, sum_m):
    Kc = mul_skew(K, c)
    Ka = mul_skew(K, a)
    k = 1.0 / (6.0 * h)
    K14 = scale9(14.0, K)
    Haa = scale9(k, add9(K14, sub9(add9(Kc, transpose(Kc)), scale9(0.5, skew_mul(c, Kc)))))
    Hcc = scale9(k, sub9(K14, add9(add9(Ka, transpose(Ka)), scale9(0.5, skew_mul(a, Ka)))))
    Hac = sub9(transpose(Kc), add9(scale9(2.0, K), Ka))
    Hac = add9(scale9(k, add9(Hac, scale9(0.5, skew_mul(c, Ka)))), scale9(1 / 12, skew(sum_m)))
    return Haa, Hcc, Hac


@inlined
def _curvature_varied(K0, Km, K1, h, a, c, sum_m):
    """h/6 Σ w BᵀKB over the slots, with B of u in (a, c): (3 + ½[c], −1 − ½[a]), (1, 1), (−1 + ½[c], 3 − ½[a])."""
    k = 1.0 / (6.0 * h)
    first, last = sub9(scale9(3.0, K0), K1), sub9(scale9(3.0, K1), K0)
    ends, middle = add9(K0, K1), scale9(4.0, Km)
    ends_a, ends_c = mul_skew(ends, a), mul_skew(ends, c)
    first_a, first_c, last_a = mul_skew(first, a), mul_skew(first, c), mul_skew(last, a)
    Haa = add9(add9(scale9(9.0, K0), K1), middle)
    Haa = add9(Haa, scale9(0.5, add9(first_c, transpose(first_c))))
    Haa = scale9(k, sub9(Haa, scale9(0.25, skew_mul(c, ends_c))))
    Hcc = add9(add9(K0, scale9(9.0, K1)), middle)
    Hcc = sub9(Hcc, scale9(0.5, add9(last_a, transpose(last_a))))
    Hcc = scale9(k, sub9(Hcc, scale9(0.25, skew_mul(a, ends_a))))
    Hac = sub9(middle, scale9(3.0, ends))
    Hac = sub9(Hac, scale9(0.5, add9(first_a, skew_mul(c, last))))
    Hac = scale9(k, add9(Hac, scale9(0.25, skew_mul(c, ends_a))))
    return Haa, Hcc, add9(Hac, scale9(1 / 12, skew(sum_m)))


@inlined
def assemble_element(P, o, i, K, C):
    """Forces and tangent of one element."""
    h, a, c, w, wm, sum_m, ga, gc, Aa, Ac, slot0, slotm, slot1, D, changes = element_forces(P, o, i, K, C)
    give0, givem, give1 = of_slots(C)
    Haa, Hcc, Hac = bending_curvature(K, h, a, c, sum_m)

    # and those of h ω D, D = 2ψm − ψ0 − ψ1, where ω depends on y = |a + c|²/4, and D on φ and λ:
    # h [ω′ (y_x D_xᵀ + D_x y_xᵀ) + D (ω″ y_x y_xᵀ + ½ω′ (δa + δc)ᵀ(δa + δc))]
    s = add3(a, c)
    slope = 0.5 * h * P.omega_slope[o, C0, i]
    W = add9(outer(s, scale3(0.25 * h * D * P.omega_bend[o, C0, i], s)), times_identity(slope * D))
    Haa, Hcc, Hac = add9(Haa, W), add9(Hcc, W), add9(Hac, W)
    y0, y1 = scale3(-slope, mat_vec(Aa, s)), scale3(slope, mat_t_vec(Ac, s))
    ym = scale3(slope, sub3(mat_t_vec(Aa, s), mat_vec(Ac, s)))
    d0, dm, d1, dl = changes

    # chained with δa = A(a)φm − A(a)ᵀφ0 and δc = A(c)φ1 − A(c)ᵀφm; Q and ½[g] come from the change of A
    Qa = log_curvature(a, ga, P.beta_a[o, C0, i], P.slope_a[o, C0, i])
    Qc = log_curvature(c, gc, P.beta_c[o, C0, i], P.slope_c[o, C0, i])
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

    first = add9(force_block(w, slot0[1], slot0[2], give0), outers(y0, d0, d0, y0))
    mid = add9(force_block(wm, slotm[1], slotm[2], givem), outers(ym, dm, dm, ym))
    last = add9(force_block(w, slot1[1], slot1[2], give1), outers(y1, d1, d1, y1))
    store9(P.d00, o, i, add9(mat_mul_t(U, Aa), first))
    store9(P.dmm, o, i, add9(middle, mid))
    store9(P.d11, o, i, add9(mat_mul(Y1, Ac), last))
    store9(P.o0m, o, i, add9(sub9(mat_mul_t(V, Ac), mat_mul(U, Aa)), outers(y0, dm, d0, ym)))
    store9(P.o01, o, i, sub9(outers(y0, d1, d0, y1), mat_mul(V, Ac)))
    store9(P.om1, o, i, add9(mat_mul(sub9(Vm, Y), Ac), outers(ym, d1, dm, y1)))
    store9(P.b0, o, i, add9(border_block(w, slot0, give0), outer(y0, dl)))
    store9(P.bm, o, i, add9(border_block(wm, slotm, givem), outer(ym, dl)))
    store9(P.b1, o, i, add9(border_block(w, slot1, give1), outer(y1, dl)))
    ends = add9(compliance_block(w, slot0[0], give0), compliance_block(w, slot1[0], give1))
    store9(P.s, o, i, add9(ends, compliance_block(wm, slotm[0], givem)))


@inlined
def own_stiffness(P, o, i):
    """K and C of the slots of an element whose strand varies."""
    K = load9(P.stiff0, o, i), load9(P.stiffm, o, i), load9(P.stiff1, o, i)
    return K, (load9(P.give0, o, i), load9(P.givem, o, i), load9(P.give1, o, i))


@kernel
def evaluate_elements(P, lanes, law):
    """Energies, chords and unbalanced moments of all elements of order 4."""
    K, C = row9(law.K, 0), row9(law.C, 0)
    for block in range(P.length.shape[0]):
        o = np.uint64(block)
        for lane in range(lanes):
            element_forces(P, o, np.uint64(lane), K, C)


@kernel
def evaluate_varied_elements(P, lanes):
    """The same of a strand that varies."""
    for block in range(P.length.shape[0]):
        o = np.uint64(block)
        for lane in range(lanes):
            i = np.uint64(lane)
            K, C = own_stiffness(P, o, i)
            element_forces(P, o, i, K, C)


@kernel
def assemble_elements(P, lanes, law):
    """The same with the tangents, exact: in a valley of the energy a relative error of 1e-5 is more than its slope."""
    K, C = row9(law.K, 0), row9(law.C, 0)
    for block in range(P.length.shape[0]):
        o = np.uint64(block)
        for lane in range(lanes):
            assemble_element(P, o, np.uint64(lane), K, C)


@kernel
def assemble_varied_elements(P, lanes):
    """The same of a strand that varies."""
    for block in range(P.length.shape[0]):
        o = np.uint64(block)
        for lane in range(lanes):
            i = np.uint64(lane)
            K, C = own_stiffness(P, o, i)
            assemble_element(P, o, i, K, C)


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
def condense_elements(P, lanes, delta):
    """Eliminate the middle rotations (shifted by δ times their share of the length) from all elements of order 4."""
    for block in range(P.length.shape[0]):
        o = np.uint64(block)
        for lane in range(lanes):
            i = np.uint64(lane)
            f, negative = factor_symmetric(load9(P.dmm, o, i), 0.5 * delta * P.length[o, C0, i])
            O0m, Om1, Bm = load9(P.o0m, o, i), load9(P.om1, o, i), load9(P.bm, o, i)
            x0 = solve_columns(f, transpose(O0m))
            x1 = solve_columns(f, Om1)
            xb = solve_columns(f, Bm)
            store9(P.cd00, o, i, sub9(load9(P.d00, o, i), mat_mul(O0m, x0)))
            store9(P.co01, o, i, sub9(load9(P.o01, o, i), mat_mul(O0m, x1)))
            store9(P.cd11, o, i, sub9(load9(P.d11, o, i), mat_t_mul(Om1, x1)))
            store9(P.cb0, o, i, sub9(load9(P.b0, o, i), mat_mul(O0m, xb)))
            store9(P.cb1, o, i, sub9(load9(P.b1, o, i), mat_t_mul(Om1, xb)))
            store9(P.cs, o, i, sub9(load9(P.s, o, i), mat_t_mul(Bm, xb)))
            store9(P.x0, o, i, x0)
            store9(P.x1, o, i, x1)
            store9(P.xb, o, i, xb)
            store6(P.pivots, o, i, f)
            P.negative[o, C0, i] = negative


# ----------------------------------------------------------------------------------- orders 1 and 2, linear elasticity


@kernel
def evaluate_short_elements(P, plan, law, tangent):
    """Two-node elements: u = log(R0ᵀR1)/h; the force's energy by trapezoids (order 2) or from the left end (order 1).

    With `tangent`, their second derivatives go where `condense_elements` would put them.
    """
    K, C, order = row9(law.K, 0), row9(law.C, 0), plan.order[0]
    give0, give1 = C, C
    for e in range(plan.segment.shape[0]):
        o, i = block_and_lane(e)
        h = P.length[o, C0, i]
        lam = load3(P.lam, o, i)
        if law.address[0] == VARIED:
            K = load9(P.stiffm, o, i) if order == 2 else load9(P.stiff0, o, i)
            give0, give1 = load9(P.give0, o, i), load9(P.give1, o, i)
        a = quat_log(quat_between(load4(P.quat0, o, i), load4(P.quat1, o, i)))
        b, slope = beta(dot3(a, a))
        rest = load3(P.rest_um, o, i) if order == 2 else load3(P.rest_u0, o, i)
        strain = sub3(scale3(1.0 / h, a), rest)
        ga = mat_vec(K, strain)
        w0, w1 = (0.5 * h, 0.5 * h) if order == 2 else (h, 0.0)
        R0, b0, v0, t0, _, potential0 = slot_force(P.rest_v0, P.load_n0, P.quat0, o, i, lam, give0)
        R1, b1, v1, t1, _, potential1 = slot_force(P.rest_v1, P.load_n1, P.quat1, o, i, lam, give1)
        P.potential[o, C0, i] = 0.5 * h * dot3(ga, strain) + w0 * potential0 + w1 * potential1
        store3(P.chord, o, i, add3(scale3(w0, t0), scale3(w1, t1)))
        A = log_jacobian(a, b)
        store3(P.g0, o, i, sub3(scale3(w0, cross3(b0, v0)), mat_vec(A, ga)))
        store3(P.g1, o, i, add3(scale3(w1, cross3(b1, v1)), mat_t_vec(A, ga)))
        if tangent:
            Haa = scale9(1.0 / h, K)
            Q = log_curvature(a, ga, b, slope)
            half = scale9(0.5, skew(ga))
            U = add9(mat_mul(A, Haa), sub9(Q, half))
            Y = add9(mat_t_mul(A, Haa), add9(Q, half))
            store9(P.cd00, o, i, add9(mat_mul_t(U, A), force_block(w0, b0, v0, give0)))
            store9(P.cd11, o, i, add9(mat_mul(Y, A), force_block(w1, b1, v1, give1)))
            store9(P.co01, o, i, scale9(-1.0, mat_mul(U, A)))
            store9(P.cb0, o, i, border_block(w0, (R0, b0, v0), give0))
            store9(P.cb1, o, i, border_block(w1, (R1, b1, v1), give1))
            store9(P.cs, o, i, add9(compliance_block(w0, R0, give0), compliance_block(w1, R1, give1)))
            P.negative[o, C0, i] = 0.0
