"""Elements of order 4 for any elastic law: an energy density W(u − û, v − v̂) that couples what it likes.

The law is called through its address, so that one compiled kernel serves every law that a user writes. The force b is
given, so the stretch v is found from ∂W/∂v = b by Newton's method at each slot; what remains is
Φ(u, b) = min over v of W − b·v, with ∂Φ/∂u = m, ∂Φ/∂b = −v and the second derivatives

    Φuu = Wuu − Wuv Wvv⁻¹ Wvu,   Φub = Wuv Wvv⁻¹,   Φbb = −Wvv⁻¹.

The formulas of `element.kernels` follow with K → Φuu, C → Wvv⁻¹ per slot, and the mixed terms Φub added.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import (
    add3, add9, cross3, dot3, inverse3, log_curvature, log_jacobian, mat_mul, mat_mul_t, mat_t_mul, mat_t_vec, mat_vec,
    mul_skew, quat_matrix, scale3, scale9, skew, sub3, sub9, transpose,
)  # fmt: skip
from sennit.cosserat.kernels.element import (
    B0, B1, BETA_A, BETA_C, BM, CHORD, D00, D11, DMM, G0, G1, GM, H, LAMBDA, LOAD_N0, LOAD_N1, LOAD_NM, LOG_A, LOG_C,
    O01, O0M, OM1, POTENTIAL, QUAT0, QUAT1, QUATM, REST_U0, REST_U1, REST_UM, REST_V0, REST_V1, REST_VM, SLOPE_A,
    SLOPE_C, S, border_block, compliance_block, element_offset, force_block, load3, load4, load9, store3, store9,
)  # fmt: skip

LINEAR = 0  # address of the uncoupled linear law, which `element.kernels` serves
COUPLED = -1  # address of the linear law with a full 6×6 stiffness, read from the law's workspace
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@intrinsic
def call_law(typingctx, address, strain, stress, tangent):
    """Call the C function double f(double* strain, double* stress, double* tangent) at `address`."""

    def generate(context, builder, signature, args):
        pointer = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.DoubleType(), [pointer, pointer, pointer]).as_pointer()
        data = []
        for kind, value in zip(signature.args[1:], args[1:], strict=True):
            array = context.make_array(kind)(context, builder, value)
            data.append(builder.bitcast(array.data, pointer))
        return builder.call(builder.inttoptr(args[0], function), data)

    return types.float64(types.int64, strain, stress, tangent), generate


@kernel
def evaluate_density(address, u, v, scales, law_work):
    """W and its derivatives in the units of the kernels, left in the workspace; strains are u − û and v − v̂."""
    strain, stress, tangent, stiffness, _ = law_work
    length, bending, _ = scales
    strain[0], strain[1], strain[2] = u[0] / length, u[1] / length, u[2] / length
    strain[3], strain[4], strain[5] = v
    if address == COUPLED:
        density = 0.0
        for i in range(6):
            stress[i] = 0.0
            for j in range(6):
                stress[i] += stiffness[i, j] * strain[j]
                tangent[i, j] = stiffness[i, j]
            density += 0.5 * stress[i] * strain[i]
    else:
        density = call_law(address, strain, stress, tangent)
    k = length / bending
    for i in range(3):
        stress[i] *= k
        stress[i + 3] *= k * length
        for j in range(3):
            tangent[i, j] /= bending
            tangent[i, j + 3] *= k
            tangent[i + 3, j] *= k
            tangent[i + 3, j + 3] *= k * length
    return density * k * length


@kernel
def tangent_block(tangent, row, column):
    return (
        tangent[row, column], tangent[row, column + 1], tangent[row, column + 2],
        tangent[row + 1, column], tangent[row + 1, column + 1], tangent[row + 1, column + 2],
        tangent[row + 2, column], tangent[row + 2, column + 1], tangent[row + 2, column + 2],
    )  # fmt: skip


@kernel
def reduced_law(address, u, b, start, scales, law_work):
    """Stretch strain, W, m, Φuu, Φub and Wvv⁻¹ at one slot for the curvature strain u and the force b (body frame).

    Newton on ∂W/∂v = b with halved steps; the answer is NaN if the law cannot carry the force, and the solver then
    tries a shorter step.
    """
    _, stress, tangent, _, _ = law_work
    if scales[2] == 0.0:  # inextensible: v = v̂
        density = evaluate_density(address, u, (0.0, 0.0, 0.0), scales, law_work)
        m = (stress[0], stress[1], stress[2])
        nothing = scale9(0.0, IDENTITY)
        return (0.0, 0.0, 0.0), density, m, tangent_block(tangent, 0, 0), nothing, nothing
    found = False
    v = start
    density = 0.0
    for attempt in range(2):  # from the last state, and if that leads nowhere from rest
        v = start if attempt == 0 else (0.0, 0.0, 0.0)
        density = evaluate_density(address, u, v, scales, law_work)
        r = sub3(b, (stress[3], stress[4], stress[5]))
        for _ in range(60):
            C, _ = inverse3(tangent_block(tangent, 3, 3))
            d = mat_vec(C, r)
            if dot3(d, d) <= 1e-18 * (1.0 + dot3(v, v)):
                # one more step squares this error; it need not, and at rounding cannot, lower the function
                found = True
                v = add3(v, d)
                density = evaluate_density(address, u, v, scales, law_work)
                break
            # shorten the step until the unbalanced force, measured as a strain, gets smaller; energies of laws written
            # with cancelling terms are too coarse to compare
            missing = dot3(d, d)
            length = 1.0
            accepted = False
            for _ in range(40):
                trial = add3(v, scale3(length, d))
                density = evaluate_density(address, u, trial, scales, law_work)
                r = sub3(b, (stress[3], stress[4], stress[5]))
                left = mat_vec(C, r)
                if dot3(left, left) < missing:
                    accepted = True
                    break
                length *= 0.5
            if not accepted:
                break
            v = trial
        if found:
            break
    if found:
        C, _ = inverse3(tangent_block(tangent, 3, 3))
        Wuv = tangent_block(tangent, 0, 3)
        mixed = mat_mul(Wuv, C)
        m = (stress[0], stress[1], stress[2])
        return v, density, m, sub9(tangent_block(tangent, 0, 0), mat_mul_t(mixed, Wuv)), mixed, C
    bad = scale9(np.nan, IDENTITY)
    return (np.nan, np.nan, np.nan), np.nan, (np.nan, np.nan, np.nan), bad, bad, bad


@kernel
def law_slot(P, i, e, slot, u, rest_u, rest_v, load, quat, lam, address, scales, law_work):
    """One slot: law, rotation, force (body), stretch, R v, and its share of the potential per weight."""
    stretch = law_work[4]
    row = 3 * e + slot
    R = quat_matrix(load4(P, i + quat))
    n = load3(P, i + load)
    b = mat_t_vec(R, add3(n, lam))
    start = (stretch[row, 0], stretch[row, 1], stretch[row, 2])
    x, density, m, Huu, Hub, C = reduced_law(address, sub3(u, load3(P, i + rest_u)), b, start, scales, law_work)
    if x[0] == x[0]:
        stretch[row, 0], stretch[row, 1], stretch[row, 2] = x
    v = add3(load3(P, i + rest_v), x)
    t = mat_vec(R, v)
    return (R, b, v), t, m, Huu, Hub, C, density - dot3(n, t)


@kernel
def evaluate_law_elements(P, elements, order, address, scales, law_work, tangent):
    """Energies, chords, unbalanced moments and, with `tangent`, second derivatives of all elements."""
    for e in range(elements):
        i = element_offset(e)
        h = P[i + H]
        a, c = load3(P, i + LOG_A), load3(P, i + LOG_C)
        lam = load3(P, i + LAMBDA)
        ca = scale3(0.5, cross3(c, a))
        k = 1.0 / h
        u0 = scale3(k, add3(sub3(scale3(3.0, a), c), ca))
        um = scale3(k, add3(a, c))
        u1 = scale3(k, add3(sub3(scale3(3.0, c), a), ca))
        slot0, t0, m0, K0, X0, C0, p0 = law_slot(
            P, i, e, 0, u0, REST_U0, REST_V0, LOAD_N0, QUAT0, lam, address, scales, law_work
        )
        slotm, tm, mm, Km, Xm, Cm, pm = law_slot(
            P, i, e, 1, um, REST_UM, REST_VM, LOAD_NM, QUATM, lam, address, scales, law_work
        )
        slot1, t1, m1, K1, X1, C1, p1 = law_slot(
            P, i, e, 2, u1, REST_U1, REST_V1, LOAD_N1, QUAT1, lam, address, scales, law_work
        )
        w, wm = h / 6.0, 4.0 * h / 6.0
        P[i + POTENTIAL] = w * (p0 + p1) + wm * pm
        store3(P, i + CHORD, add3(scale3(w, add3(t0, t1)), scale3(wm, tm)))
        sum_m = add3(m0, m1)
        m4 = scale3(4.0, mm)
        ga = scale3(1 / 6, add3(add3(sub3(scale3(3.0, m0), m1), m4), scale3(0.5, cross3(sum_m, c))))
        gc = scale3(1 / 6, add3(add3(sub3(scale3(3.0, m1), m0), m4), scale3(0.5, cross3(a, sum_m))))
        Aa = log_jacobian(a, P[i + BETA_A])
        Ac = log_jacobian(c, P[i + BETA_C])
        store3(P, i + G0, sub3(scale3(w, cross3(slot0[1], slot0[2])), mat_vec(Aa, ga)))
        middle = sub3(mat_t_vec(Aa, ga), mat_vec(Ac, gc))
        store3(P, i + GM, add3(scale3(wm, cross3(slotm[1], slotm[2])), middle))
        store3(P, i + G1, add3(scale3(w, cross3(slot1[1], slot1[2])), mat_t_vec(Ac, gc)))
        if not tangent:
            continue

        # ∂u/∂(a, c) at the slots, then ∂u/∂φ with δa = A(a)φm − A(a)ᵀφ0, δc = A(c)φ1 − A(c)ᵀφm
        half_a, half_c = scale9(0.5 * k, skew(a)), scale9(0.5 * k, skew(c))
        Ba = add9(scale9(3.0 * k, IDENTITY), half_c), scale9(k, IDENTITY), add9(scale9(-k, IDENTITY), half_c)
        Bc = sub9(scale9(-k, IDENTITY), half_a), scale9(k, IDENTITY), sub9(scale9(3.0 * k, IDENTITY), half_a)
        store_geometry(P, i, a, c, ga, gc, Aa, Ac, sum_m)
        for slot in range(3):
            weight = wm if slot == 1 else w
            bA = Ba[slot]
            bC = Bc[slot]
            T0 = scale9(-1.0, mat_mul_t(bA, Aa))
            Tm = sub9(mat_mul(bA, Aa), mat_mul_t(bC, Ac))
            T1 = mat_mul(bC, Ac)
            if slot == 0:
                Kuu, Kub, point, C = K0, X0, slot0, C0
            elif slot == 1:
                Kuu, Kub, point, C = Km, Xm, slotm, Cm
            else:
                Kuu, Kub, point, C = K1, X1, slot1, C1
            Kuu = scale9(weight, Kuu)
            Kub = scale9(weight, Kub)
            KT0, KTm, KT1 = mat_mul(Kuu, T0), mat_mul(Kuu, Tm), mat_mul(Kuu, T1)
            accumulate9(P, i + D00, mat_t_mul(T0, KT0))
            accumulate9(P, i + O0M, mat_t_mul(T0, KTm))
            accumulate9(P, i + O01, mat_t_mul(T0, KT1))
            accumulate9(P, i + DMM, mat_t_mul(Tm, KTm))
            accumulate9(P, i + OM1, mat_t_mul(Tm, KT1))
            accumulate9(P, i + D11, mat_t_mul(T1, KT1))
            # the mixed terms: δu·Φub δb with δb = [b]φ + Rᵀδλ at the slot's own node
            R, b, v = point
            F = mul_skew(Kub, b)
            E0, Em, E1 = mat_t_mul(T0, F), mat_t_mul(Tm, F), mat_t_mul(T1, F)
            L = mat_mul_t(Kub, R)
            Bfull = border_block(weight, point, C)
            Dfull = force_block(weight, b, v, C)
            accumulate9(P, i + B0, mat_t_mul(T0, L))
            accumulate9(P, i + BM, mat_t_mul(Tm, L))
            accumulate9(P, i + B1, mat_t_mul(T1, L))
            accumulate9(P, i + S, compliance_block(weight, R, C))
            if slot == 0:
                accumulate9(P, i + D00, add9(Dfull, add9(E0, transpose(E0))))
                accumulate9(P, i + O0M, transpose(Em))
                accumulate9(P, i + O01, transpose(E1))
                accumulate9(P, i + B0, Bfull)
            elif slot == 1:
                accumulate9(P, i + DMM, add9(Dfull, add9(Em, transpose(Em))))
                accumulate9(P, i + O0M, E0)
                accumulate9(P, i + OM1, transpose(E1))
                accumulate9(P, i + BM, Bfull)
            else:
                accumulate9(P, i + D11, add9(Dfull, add9(E1, transpose(E1))))
                accumulate9(P, i + O01, E0)
                accumulate9(P, i + OM1, Em)
                accumulate9(P, i + B1, Bfull)


@kernel
def accumulate9(P, i, m):
    store9(P, i, add9(load9(P, i), m))


@kernel
def store_geometry(P, i, a, c, ga, gc, Aa, Ac, sum_m):
    """Start the second derivatives with what the curvature of the rotations gives: Q ± ½[g], and [m0 + m1]/12."""
    Qa = log_curvature(a, ga, P[i + BETA_A], P[i + SLOPE_A])
    Qc = log_curvature(c, gc, P[i + BETA_C], P[i + SLOPE_C])
    half_a, half_c = scale9(0.5, skew(ga)), scale9(0.5, skew(gc))
    minus_a, plus_a = sub9(Qa, half_a), add9(Qa, half_a)
    minus_c, plus_c = sub9(Qc, half_c), add9(Qc, half_c)
    twist = scale9(1 / 12, skew(sum_m))
    V, Vm = mat_mul(Aa, twist), mat_t_mul(Aa, twist)
    VmAc = mat_mul_t(Vm, Ac)
    store9(P, i + D00, mat_mul_t(minus_a, Aa))
    store9(P, i + O0M, sub9(mat_mul_t(V, Ac), mat_mul(minus_a, Aa)))
    store9(P, i + O01, scale9(-1.0, mat_mul(V, Ac)))
    middle = add9(mat_mul(plus_a, Aa), mat_mul_t(minus_c, Ac))
    store9(P, i + DMM, sub9(middle, add9(VmAc, transpose(VmAc))))
    store9(P, i + OM1, mat_mul(sub9(Vm, minus_c), Ac))
    store9(P, i + D11, mat_mul(plus_c, Ac))
    for at in (B0, BM, B1, S):
        store9(P, i + at, scale9(0.0, IDENTITY))


@kernel
def invert_law(address, m, b, given_curvature, scales, law_work, u, v):
    """Strains u, v (k, 3) for moments m and forces b; with `given_curvature` m holds u, and v alone is found.

    Newton on W(u, v) − b·v for v, and outside it on m − Φu(u, b) for u, whose derivative Φuu is positive.
    """
    for row in range(m.shape[0]):
        force = (b[row, 0], b[row, 1], b[row, 2])
        given = (m[row, 0], m[row, 1], m[row, 2])
        x = (0.0, 0.0, 0.0)
        curvature = given if given_curvature else (0.0, 0.0, 0.0)
        for _ in range(60):
            x, _, moment, Huu, _, _ = reduced_law(address, curvature, force, x, scales, law_work)
            if given_curvature:
                break
            inverse, _ = inverse3(Huu)
            d = mat_vec(inverse, sub3(given, moment))
            curvature = add3(curvature, d)
            if not dot3(d, d) > 1e-26 * (1.0 + dot3(curvature, curvature)):
                break
        u[row, 0], u[row, 1], u[row, 2] = curvature
        v[row, 0], v[row, 1], v[row, 2] = x


@kernel
def evaluate_densities(address, u, v, scales, law_work, densities):
    """Energy density at each row of strains u, v (k, 3)."""
    for row in range(u.shape[0]):
        strain_u = (u[row, 0], u[row, 1], u[row, 2])
        strain_v = (v[row, 0], v[row, 1], v[row, 2])
        densities[row] = evaluate_density(address, strain_u, strain_v, scales, law_work)


@inlined
def carroll_density(strain, stress, tangent, linear, coefficients):
    """A round rubber cord: Carroll's energy A I₁ + B I₁⁴ + C √I₂ in tension, linear in all else; v̂ = (0, 0, 1).

    `linear` are the stiffnesses in bending, twist, shear and compression, `coefficients` A, B, C and the area.
    """
    bend, twist, shear, compression = linear
    A, B, C, area = coefficients
    energy = 0.0
    for i in range(6):
        for j in range(6):
            tangent[i, j] = 0.0
    for i in range(5):
        k = twist if i == 2 else bend if i < 2 else shear
        stress[i] = k * strain[i]
        tangent[i, i] = k
        energy += 0.5 * k * strain[i] * strain[i]
    stress[5] = 0.0
    # in tension the length of v counts: with v3 alone a strong pull would turn the cross-sections over
    v = (strain[3], strain[4], 1.0 + strain[5])
    length = np.sqrt(dot3(v, v))
    if strain[5] <= 0.0 or length <= 1.0:  # in compression linear, and convex however the cross-section stands
        stress[5] = compression * strain[5]
        tangent[5, 5] = compression
        energy += 0.5 * compression * strain[5] * strain[5]
    if length <= 1.0:
        return energy
    x = min(length, 9.0)
    beyond = length - x  # beyond all use the energy goes on as a parabola, so that it stays finite
    p, dp, ddp = x * x + 2.0 / x, 2.0 * x - 2.0 / x**2, 2.0 + 4.0 / x**3
    s, ds, dds = 2.0 * x + 1.0 / x**2, 2.0 - 2.0 / x**3, 6.0 / x**4
    root = np.sqrt(s)
    w = A * (p - 3.0) + B * (p**4 - 81.0) + C * (root - np.sqrt(3.0))
    dw = (A + 4.0 * B * p**3) * dp + 0.5 * C / root * ds
    ddw = 12.0 * B * p**2 * dp * dp + (A + 4.0 * B * p**3) * ddp + 0.5 * C / root * (dds - 0.5 * ds * ds / s)
    tension, slope = area * (dw + ddw * beyond), area * ddw
    across = tension / length
    for i in range(3):
        stress[3 + i] += across * v[i]
        tangent[3 + i, 3 + i] += across
        for j in range(3):
            tangent[3 + i, 3 + j] += (slope - across) * v[i] * v[j] / (length * length)
    return energy + area * (w + dw * beyond + 0.5 * ddw * beyond * beyond)
