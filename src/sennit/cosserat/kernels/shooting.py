"""Single shooting: integrate from the base with a guessed wrench, and correct the guess by what is missed at the tip.

State in the world frame: r, q, n, m with r′ = R v, R′ = R[u], n′ = −f, m′ = −r′×n − τ. Its derivative in the base
wrench is integrated along, six columns of (δφ, δr, δm) with δR = [δφ]R:

    δφ′ = R K⁻¹ Rᵀ (δm + m×δφ),   δr′ = δφ×r′ + R C Rᵀ (δn + n×δφ),   δm′ = −δr′×n − r′×δn,   δn′ = 0.

Errors grow by exp(⅔ √(wL³/EI)) along a hanging strand: this is the paper's method, kept for comparison.
"""

from __future__ import annotations

from sennit.compilation import inlined, kernel, overload
from sennit.cosserat.kernels.rows import put4, row4
from sennit.cosserat.kernels.sweep import bend_at, give_at
from sennit.geometry.kernels.algebra import (
    add3, cross3, mat_vec, put3, quat_mul, quat_normalised, quat_rotate, quat_rotate_back, row3, scale3, sub3,
)  # fmt: skip


@inlined
def rates(q, n, m, u_rest, v_rest, f, t, K_inverse, C):
    """Derivatives of r, q, n, m along the strand."""
    u = add3(u_rest, mat_vec(K_inverse, quat_rotate_back(q, m)))
    v = add3(v_rest, mat_vec(C, quat_rotate_back(q, n)))
    tangent = quat_rotate(q, v)
    w, x, y, z = quat_mul(q, (0.0, u[0], u[1], u[2]))
    dm = scale3(-1.0, add3(cross3(tangent, n), t))
    return tangent, (0.5 * w, 0.5 * x, 0.5 * y, 0.5 * z), scale3(-1.0, f), dm


@inlined
def variation_rates(q, n, m, tangent, phi, dn, dm, K_inverse, C):
    """Derivatives of δφ, δr, δm for one column."""
    moment = quat_rotate_back(q, add3(dm, cross3(m, phi)))
    force = quat_rotate_back(q, add3(dn, cross3(n, phi)))
    turning = quat_rotate(q, mat_vec(K_inverse, moment))
    moving = add3(cross3(phi, tangent), quat_rotate(q, mat_vec(C, force)))
    return turning, moving, scale3(-1.0, add3(cross3(moving, n), cross3(tangent, dn)))


@inlined
def along(a, k, b):
    return a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]


@inlined
def along4(a, k, b):
    return a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2], a[3] + k * b[3]


def force_at(intervals, sample, slot):
    """Force per length at a sample; with the weight at a slot of an interval, where that varies."""
    force = row3(intervals.force, sample)
    return add3(force, row3(intervals.weight, slot)) if hasattr(intervals, "weight") else force


@overload(force_at, forceinline=True)
def _force_at(intervals, sample, slot):
    if "weight" in dict(intervals.fields):
        return lambda intervals, sample, slot: add3(row3(intervals.force, sample), row3(intervals.weight, slot))
    return lambda intervals, sample, slot: row3(intervals.force, sample)


@inlined
def rates_at(sample, slot, q, n, m, intervals, bend, give):
    """The same with the rest strains and loads of a sample."""
    return rates(
        q, n, m, row3(intervals.rest_u, sample), row3(intervals.rest_v, sample), force_at(intervals, sample, slot),
        row3(intervals.torque, sample), bend, give,
    )  # fmt: skip


@kernel
def shoot(intervals, loads, K_inverse, C, path, sensitivity):
    """Integrate from the first row of the path to the last by RK4, with the derivative in the base's wrench.

    n and m are given just before each node; at the base, just beyond it.
    """
    q, r, n, m = path.q, path.r, path.n, path.m
    phi, dr, dn, dm = sensitivity.turn, sensitivity.move, sensitivity.force, sensitivity.moment
    for k in range(3):
        for j in range(3):
            same = 1.0 if j == k else 0.0
            dn[k, j], dn[k + 3, j] = same, 0.0
            dm[k, j], dm[k + 3, j] = 0.0, same
            phi[k, j], phi[k + 3, j] = 0.0, 0.0
            dr[k, j], dr[k + 3, j] = 0.0, 0.0
    last = r.shape[0] - 1
    for i in range(last):
        d, half = intervals.h[i], 0.5 * intervals.h[i]
        y_r, y_n, y_m, y_q = row3(r, i), row3(n, i), row3(m, i), row4(q, i)
        if i > 0:
            y_n, y_m = sub3(y_n, row3(loads.force, i)), sub3(y_m, row3(loads.moment, i))
        a, b, c = 2 * i, 2 * i + 1, 2 * i + 2
        first, middle, last_slot = 3 * i, 3 * i + 1, 3 * i + 2
        bend0, give0 = bend_at(intervals, K_inverse, first), give_at(intervals, C, first)
        bendm, givem = bend_at(intervals, K_inverse, middle), give_at(intervals, C, middle)
        bend1, give1 = bend_at(intervals, K_inverse, last_slot), give_at(intervals, C, last_slot)
        r1, q1, n1, m1 = rates_at(a, first, y_q, y_n, y_m, intervals, bend0, give0)
        qb, nb, mb = along4(y_q, half, q1), along(y_n, half, n1), along(y_m, half, m1)
        r2, q2, n2, m2 = rates_at(b, middle, qb, nb, mb, intervals, bendm, givem)
        qc, nc, mc = along4(y_q, half, q2), along(y_n, half, n2), along(y_m, half, m2)
        r3, q3, n3, m3 = rates_at(b, middle, qc, nc, mc, intervals, bendm, givem)
        qd, nd, md = along4(y_q, d, q3), along(y_n, d, n3), along(y_m, d, m3)
        r4, q4, n4, m4 = rates_at(c, last_slot, qd, nd, md, intervals, bend1, give1)
        for k in range(phi.shape[0]):
            p0, v0, s0, g = row3(phi, k), row3(dr, k), row3(dm, k), row3(dn, k)
            p1, v1, s1 = variation_rates(y_q, y_n, y_m, r1, p0, g, s0, bend0, give0)
            p2, v2, s2 = variation_rates(qb, nb, mb, r2, along(p0, half, p1), g, along(s0, half, s1), bendm, givem)
            p3, v3, s3 = variation_rates(qc, nc, mc, r3, along(p0, half, p2), g, along(s0, half, s2), bendm, givem)
            p4, v4, s4 = variation_rates(qd, nd, md, r4, along(p0, d, p3), g, along(s0, d, s3), bend1, give1)
            put3(phi, k, along(p0, d / 6.0, add3(add3(p1, p4), scale3(2.0, add3(p2, p3)))))
            put3(dr, k, along(v0, d / 6.0, add3(add3(v1, v4), scale3(2.0, add3(v2, v3)))))
            put3(dm, k, along(s0, d / 6.0, add3(add3(s1, s4), scale3(2.0, add3(s2, s3)))))
        put3(r, i + 1, along(y_r, d / 6.0, add3(add3(r1, r4), scale3(2.0, add3(r2, r3)))))
        put3(n, i + 1, along(y_n, d / 6.0, add3(add3(n1, n4), scale3(2.0, add3(n2, n3)))))
        put3(m, i + 1, along(y_m, d / 6.0, add3(add3(m1, m4), scale3(2.0, add3(m2, m3)))))
        turn = y_q
        turn = along4(turn, d / 6.0, q1)
        turn = along4(turn, d / 3.0, q2)
        turn = along4(turn, d / 3.0, q3)
        put4(q, i + 1, quat_normalised(along4(turn, d / 6.0, q4)))
