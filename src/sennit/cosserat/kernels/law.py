"""Elements of order 4 for any elastic law: an energy density W(u − û, v − v̂) that couples what it likes.

The law is called through its address, so that one compiled kernel serves every law that a user writes. The force b is
given, so the stretch v is found from ∂W/∂v = b by Newton's method at each slot; what remains is
Φ(u, b) = min over v of W − b·v, with ∂Φ/∂u = m, ∂Φ/∂b = −v and the second derivatives

    Φuu = Wuu − Wuv Wvv⁻¹ Wvu,   Φub = Wuv Wvv⁻¹,   Φbb = −Wvv⁻¹.

The formulas of `element.kernels` follow with K → Φuu, C → Wvv⁻¹ per slot, and the mixed terms Φub added.
"""

from __future__ import annotations

import ctypes

import numpy as np

from sennit.compilation import PLAIN, inlined, intrinsic, kernel
from sennit.geometry.kernels.algebra import (
    add3, add9, cross3, dot3, inverse3, log_curvature, log_jacobian, mat_mul, mat_mul_t, mat_t_mul, mat_t_vec, mat_vec,
    mul_skew, put3, quat_matrix, row3, scale3, scale9, skew, sub3, sub9, transpose,
)  # fmt: skip
from sennit.cosserat.kernels.element import (
    COUPLED, VARIED_COUPLED, border_block, compliance_block, force_block,
)  # fmt: skip
from sennit.cosserat.kernels.lanes import C0, block_and_lane, load3, load4, load9, store3, store9

# A law's six numbers, in the order in which users' functions take them: bending about d1 and d2, twist, shear along d1
# and d2, stretch. Three begin at BEND, three at SHEAR.
BEND, TWIST, SHEAR, STRETCH = 0, 2, 3, 5
IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@intrinsic
def call_law(typingctx, address, strain, stress, tangent):
    """Call the C function double f(double* strain, double* stress, double* tangent) at `address`."""
    from llvmlite import ir
    from numba.core import types

    def generate(context, builder, signature, args):
        pointer = ir.DoubleType().as_pointer()
        function = ir.FunctionType(ir.DoubleType(), [pointer, pointer, pointer]).as_pointer()
        data = []
        for kind, value in zip(signature.args[1:], args[1:], strict=True):
            array = context.make_array(kind)(context, builder, value)
            data.append(builder.bitcast(array.data, pointer))
        return builder.call(builder.inttoptr(args[0], function), data)

    return types.float64(types.int64, strain, stress, tangent), generate


if PLAIN:
    _DOUBLES = ctypes.POINTER(ctypes.c_double)
    _LAW = ctypes.CFUNCTYPE(ctypes.c_double, _DOUBLES, _DOUBLES, _DOUBLES)

    def call_law(address, strain, stress, tangent):
        return _LAW(int(address))(*(array.ctypes.data_as(_DOUBLES) for array in (strain, stress, tangent)))


@inlined
def three(values, first):
    return values[first], values[first + 1], values[first + 2]


@kernel
def evaluate_density(law, row, u, v):
    """W and its derivatives in the units of the kernels, left in the law's table; strains are u − û and v − v̂.

    `row` is the slot's in the law's table.
    """
    strain, stress, tangent, stiffness = law.strain, law.stress, law.tangent, law.stiffness
    length, bending, address = law.length[0], law.bending[0], law.address[0]
    for i in range(3):
        strain[BEND + i] = u[i] / length
        strain[SHEAR + i] = v[i]
    if address == COUPLED or address == VARIED_COUPLED:
        first = 6 * row if address == VARIED_COUPLED else 0
        density = 0.0
        for i in range(6):
            stress[i] = 0.0
            for j in range(6):
                stress[i] += stiffness[first + i, j] * strain[j]
                tangent[i, j] = stiffness[first + i, j]
            density += 0.5 * stress[i] * strain[i]
    else:
        density = call_law(address, strain, stress, tangent)
    k = length / bending
    for i in range(3):
        stress[BEND + i] *= k
        stress[SHEAR + i] *= k * length
        for j in range(3):
            tangent[BEND + i, BEND + j] /= bending
            tangent[BEND + i, SHEAR + j] *= k
            tangent[SHEAR + i, BEND + j] *= k
            tangent[SHEAR + i, SHEAR + j] *= k * length
    return density * k * length


@kernel
def tangent_block(tangent, row, column):
    return (
        tangent[row, column], tangent[row, column + 1], tangent[row, column + 2],
        tangent[row + 1, column], tangent[row + 1, column + 1], tangent[row + 1, column + 2],
        tangent[row + 2, column], tangent[row + 2, column + 1], tangent[row + 2, column + 2],
    )  # fmt: skip


@kernel
def reduced_law(law, row, u, b, start):
    """Stretch strain, W, m, Φuu, Φub and Wvv⁻¹ at one slot for the curvature strain u and the force b (body frame).

    Newton on ∂W/∂v = b with halved steps; the answer is NaN if the law cannot carry the force, and the solver then
    tries a shorter step.
    """
    stress, tangent = law.stress, law.tangent
    if not law.extensible[0]:  # v = v̂
        density = evaluate_density(law, row, u, (0.0, 0.0, 0.0))
        m = three(stress, BEND)
        nothing = scale9(0.0, IDENTITY)
        return (0.0, 0.0, 0.0), density, m, tangent_block(tangent, BEND, BEND), nothing, nothing
    found = False
    v = start
    density = 0.0
    for attempt in range(2):  # from the last state, and if that leads nowhere from rest
        v = start if attempt == 0 else (0.0, 0.0, 0.0)
        density = evaluate_density(law, row, u, v)
        r = sub3(b, three(stress, SHEAR))
        for _ in range(60):
            C, _ = inverse3(tangent_block(tangent, SHEAR, SHEAR))
            d = mat_vec(C, r)
            if dot3(d, d) <= 1e-18 * (1.0 + dot3(v, v)):
                # one more step squares this error; it need not, and at rounding cannot, lower the function
                found = True
                v = add3(v, d)
                density = evaluate_density(law, row, u, v)
                break
            # shorten the step until the unbalanced force, measured as a strain, gets smaller; energies of laws written
            # with cancelling terms are too coarse to compare
            missing = dot3(d, d)
            length = 1.0
            accepted = False
            for _ in range(40):
                trial = add3(v, scale3(length, d))
                density = evaluate_density(law, row, u, trial)
                r = sub3(b, three(stress, SHEAR))
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
        C, _ = inverse3(tangent_block(tangent, SHEAR, SHEAR))
        Wuv = tangent_block(tangent, BEND, SHEAR)
        mixed = mat_mul(Wuv, C)
        m = three(stress, BEND)
        return v, density, m, sub9(tangent_block(tangent, BEND, BEND), mat_mul_t(mixed, Wuv)), mixed, C
    bad = scale9(np.nan, IDENTITY)
    return (np.nan, np.nan, np.nan), np.nan, (np.nan, np.nan, np.nan), bad, bad, bad


@kernel
def law_slot(law, row, u, rest_v, n, turn, lam):
    """One slot: law, rotation, force (body), stretch, R v, and its share of the potential per weight.

    `row` is the slot's in the law's table, u the curvature strain u − û, n the known force and `turn` the quaternion.
    """
    R = quat_matrix(turn)
    b = mat_t_vec(R, add3(n, lam))
    x, density, m, Huu, Hub, C = reduced_law(law, row, u, b, row3(law.stretch, row))
    if x[0] == x[0]:
        put3(law.stretch, row, x)
    v = add3(rest_v, x)
    t = mat_vec(R, v)
    return (R, b, v), t, m, Huu, Hub, C, density - dot3(n, t)


@kernel
def evaluate_law_elements(P, plan, law, tangent):
    """Energies, chords, unbalanced moments and, with `tangent`, second derivatives of all elements."""
    for e in range(plan.segment.shape[0]):
        o, i = block_and_lane(e)
        h = P.length[o, C0, i]
        a, c = load3(P.log_a, o, i), load3(P.log_c, o, i)
        lam = load3(P.lam, o, i)
        ca = scale3(0.5, cross3(c, a))
        k = 1.0 / h
        u0 = sub3(scale3(k, add3(sub3(scale3(3.0, a), c), ca)), load3(P.rest_u0, o, i))
        um = sub3(scale3(k, add3(a, c)), load3(P.rest_um, o, i))
        u1 = sub3(scale3(k, add3(sub3(scale3(3.0, c), a), ca)), load3(P.rest_u1, o, i))
        v0, vm, v1 = load3(P.rest_v0, o, i), load3(P.rest_vm, o, i), load3(P.rest_v1, o, i)
        n0, nm, n1 = load3(P.load_n0, o, i), load3(P.load_nm, o, i), load3(P.load_n1, o, i)
        q0, qm, q1 = load4(P.quat0, o, i), load4(P.quatm, o, i), load4(P.quat1, o, i)
        slot0, t0, m0, K0, X0, C_0, p0 = law_slot(law, 3 * e, u0, v0, n0, q0, lam)
        slotm, tm, mm, Km, Xm, C_m, pm = law_slot(law, 3 * e + 1, um, vm, nm, qm, lam)
        slot1, t1, m1, K1, X1, C_1, p1 = law_slot(law, 3 * e + 2, u1, v1, n1, q1, lam)
        w, wm = h / 6.0, 4.0 * h / 6.0
        P.potential[o, C0, i] = w * (p0 + p1) + wm * pm
        store3(P.chord, o, i, add3(scale3(w, add3(t0, t1)), scale3(wm, tm)))
        sum_m = add3(m0, m1)
        m4 = scale3(4.0, mm)
        ga = scale3(1 / 6, add3(add3(sub3(scale3(3.0, m0), m1), m4), scale3(0.5, cross3(sum_m, c))))
        gc = scale3(1 / 6, add3(add3(sub3(scale3(3.0, m1), m0), m4), scale3(0.5, cross3(a, sum_m))))
        Aa = log_jacobian(a, P.beta_a[o, C0, i])
        Ac = log_jacobian(c, P.beta_c[o, C0, i])
        store3(P.g0, o, i, sub3(scale3(w, cross3(slot0[1], slot0[2])), mat_vec(Aa, ga)))
        middle = sub3(mat_t_vec(Aa, ga), mat_vec(Ac, gc))
        store3(P.gm, o, i, add3(scale3(wm, cross3(slotm[1], slotm[2])), middle))
        store3(P.g1, o, i, add3(scale3(w, cross3(slot1[1], slot1[2])), mat_t_vec(Ac, gc)))
        if not tangent:
            continue

        # ∂u/∂(a, c) at the slots, then ∂u/∂φ with δa = A(a)φm − A(a)ᵀφ0, δc = A(c)φ1 − A(c)ᵀφm
        half_a, half_c = scale9(0.5 * k, skew(a)), scale9(0.5 * k, skew(c))
        Ba = add9(scale9(3.0 * k, IDENTITY), half_c), scale9(k, IDENTITY), add9(scale9(-k, IDENTITY), half_c)
        Bc = sub9(scale9(-k, IDENTITY), half_a), scale9(k, IDENTITY), sub9(scale9(3.0 * k, IDENTITY), half_a)
        store_geometry(P, o, i, a, c, ga, gc, Aa, Ac, sum_m)
        for slot in range(3):
            weight = wm if slot == 1 else w
            bA = Ba[slot]
            bC = Bc[slot]
            T0 = scale9(-1.0, mat_mul_t(bA, Aa))
            Tm = sub9(mat_mul(bA, Aa), mat_mul_t(bC, Ac))
            T1 = mat_mul(bC, Ac)
            if slot == 0:
                Kuu, Kub, point, C = K0, X0, slot0, C_0
            elif slot == 1:
                Kuu, Kub, point, C = Km, Xm, slotm, C_m
            else:
                Kuu, Kub, point, C = K1, X1, slot1, C_1
            Kuu = scale9(weight, Kuu)
            Kub = scale9(weight, Kub)
            KT0, KTm, KT1 = mat_mul(Kuu, T0), mat_mul(Kuu, Tm), mat_mul(Kuu, T1)
            accumulate9(P.d00, o, i, mat_t_mul(T0, KT0))
            accumulate9(P.o0m, o, i, mat_t_mul(T0, KTm))
            accumulate9(P.o01, o, i, mat_t_mul(T0, KT1))
            accumulate9(P.dmm, o, i, mat_t_mul(Tm, KTm))
            accumulate9(P.om1, o, i, mat_t_mul(Tm, KT1))
            accumulate9(P.d11, o, i, mat_t_mul(T1, KT1))
            # the mixed terms: δu·Φub δb with δb = [b]φ + Rᵀδλ at the slot's own node
            R, b, v = point
            F = mul_skew(Kub, b)
            E0, Em, E1 = mat_t_mul(T0, F), mat_t_mul(Tm, F), mat_t_mul(T1, F)
            L = mat_mul_t(Kub, R)
            Bfull = border_block(weight, point, C)
            Dfull = force_block(weight, b, v, C)
            accumulate9(P.b0, o, i, mat_t_mul(T0, L))
            accumulate9(P.bm, o, i, mat_t_mul(Tm, L))
            accumulate9(P.b1, o, i, mat_t_mul(T1, L))
            accumulate9(P.s, o, i, compliance_block(weight, R, C))
            if slot == 0:
                accumulate9(P.d00, o, i, add9(Dfull, add9(E0, transpose(E0))))
                accumulate9(P.o0m, o, i, transpose(Em))
                accumulate9(P.o01, o, i, transpose(E1))
                accumulate9(P.b0, o, i, Bfull)
            elif slot == 1:
                accumulate9(P.dmm, o, i, add9(Dfull, add9(Em, transpose(Em))))
                accumulate9(P.o0m, o, i, E0)
                accumulate9(P.om1, o, i, transpose(E1))
                accumulate9(P.bm, o, i, Bfull)
            else:
                accumulate9(P.d11, o, i, add9(Dfull, add9(E1, transpose(E1))))
                accumulate9(P.o01, o, i, E0)
                accumulate9(P.om1, o, i, Em)
                accumulate9(P.b1, o, i, Bfull)


@kernel
def accumulate9(field, o, i, m):
    store9(field, o, i, add9(load9(field, o, i), m))


@kernel
def store_geometry(P, o, i, a, c, ga, gc, Aa, Ac, sum_m):
    """Start the second derivatives with what the curvature of the rotations gives: Q ± ½[g], and [m0 + m1]/12."""
    Qa = log_curvature(a, ga, P.beta_a[o, C0, i], P.slope_a[o, C0, i])
    Qc = log_curvature(c, gc, P.beta_c[o, C0, i], P.slope_c[o, C0, i])
    half_a, half_c = scale9(0.5, skew(ga)), scale9(0.5, skew(gc))
    minus_a, plus_a = sub9(Qa, half_a), add9(Qa, half_a)
    minus_c, plus_c = sub9(Qc, half_c), add9(Qc, half_c)
    twist = scale9(1 / 12, skew(sum_m))
    V, Vm = mat_mul(Aa, twist), mat_t_mul(Aa, twist)
    VmAc = mat_mul_t(Vm, Ac)
    store9(P.d00, o, i, mat_mul_t(minus_a, Aa))
    store9(P.o0m, o, i, sub9(mat_mul_t(V, Ac), mat_mul(minus_a, Aa)))
    store9(P.o01, o, i, scale9(-1.0, mat_mul(V, Ac)))
    middle = add9(mat_mul(plus_a, Aa), mat_mul_t(minus_c, Ac))
    store9(P.dmm, o, i, sub9(middle, add9(VmAc, transpose(VmAc))))
    store9(P.om1, o, i, mat_mul(sub9(Vm, minus_c), Ac))
    store9(P.d11, o, i, mat_mul(plus_c, Ac))
    nothing = scale9(0.0, IDENTITY)
    store9(P.b0, o, i, nothing)
    store9(P.bm, o, i, nothing)
    store9(P.b1, o, i, nothing)
    store9(P.s, o, i, nothing)


@kernel
def invert_law(law, m, b, given_curvature, u, v):
    """Strains u, v (k, 3) for moments m and forces b; with `given_curvature` m holds u, and v alone is found.

    Newton on W(u, v) − b·v for v, and outside it on m − Φu(u, b) for u, whose derivative Φuu is positive. Where the law
    varies, its table has a stiffness for each row.
    """
    for row in range(m.shape[0]):
        force, given = row3(b, row), row3(m, row)
        x = (0.0, 0.0, 0.0)
        curvature = given if given_curvature else (0.0, 0.0, 0.0)
        for _ in range(60):
            x, _, moment, Huu, _, _ = reduced_law(law, row, curvature, force, x)
            if given_curvature:
                break
            inverse, _ = inverse3(Huu)
            d = mat_vec(inverse, sub3(given, moment))
            curvature = add3(curvature, d)
            if not dot3(d, d) > 1e-26 * (1.0 + dot3(curvature, curvature)):
                break
        put3(u, row, curvature)
        put3(v, row, x)


@kernel
def evaluate_densities(law, u, v, densities):
    """Energy density at each row of strains u, v (k, 3)."""
    for row in range(u.shape[0]):
        densities[row] = evaluate_density(law, row, row3(u, row), row3(v, row))


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
    for i in range(STRETCH):
        k = twist if i == TWIST else bend if i < TWIST else shear
        stress[i] = k * strain[i]
        tangent[i, i] = k
        energy += 0.5 * k * strain[i] * strain[i]
    stress[STRETCH] = 0.0
    # in tension the length of v counts: with v3 alone a strong pull would turn the cross-sections over
    pull = strain[STRETCH]
    v = (strain[SHEAR], strain[SHEAR + 1], 1.0 + pull)
    length = np.sqrt(dot3(v, v))
    if pull <= 0.0 or length <= 1.0:  # in compression linear, and convex however the cross-section stands
        stress[STRETCH] = compression * pull
        tangent[STRETCH, STRETCH] = compression
        energy += 0.5 * compression * pull * pull
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
        stress[SHEAR + i] += across * v[i]
        tangent[SHEAR + i, SHEAR + i] += across
        for j in range(3):
            tangent[SHEAR + i, SHEAR + j] += (slope - across) * v[i] * v[j] / (length * length)
    return energy + area * (w + dw * beyond + 0.5 * ddw * beyond * beyond)
