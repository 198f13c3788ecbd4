"""Single shooting: integrate from the base with a guessed wrench, and correct the guess by what is missed at the tip.

State in the world frame: r, q, n, m with r′ = R v, R′ = R[u], n′ = −f, m′ = −r′×n − τ. Its derivative in the base
wrench is integrated along, six columns of (δφ, δr, δm) with δR = [δφ]R:

    δφ′ = R K⁻¹ Rᵀ (δm + m×δφ),   δr′ = δφ×r′ + R C Rᵀ (δn + n×δφ),   δm′ = −δr′×n − r′×δn,   δn′ = 0.

Errors grow by exp(⅔ √(wL³/EI)) along a hanging strand: this is the paper's method, kept for comparison.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import allocating, inlined
from sennit.geometry.kernels.algebra import (
    add3, cross3, mat_vec, put3, quat_mul, quat_normalised, quat_rotate, quat_rotate_back, row3, scale3, sub3,
)  # fmt: skip

COLUMNS = 6


@inlined
def rates(r, q, n, m, u_rest, v_rest, f, t, K_inverse, C):
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


@allocating
def shoot(h, rest_u, rest_v, force, torque, points, moments, K_inverse, C, q, r, n, m, derivative):
    """Integrate from the first rows of q, r, n, m to the last by RK4, with the derivative in the base wrench.

    `derivative` (9, 6) receives the columns' δφ, δr, δm at the tip; the first three columns vary the base force, the
    others the base moment. n and m are given just before each node; at the base, just beyond it.
    """
    phi, dr, dm = np.zeros((COLUMNS, 3)), np.zeros((COLUMNS, 3)), np.zeros((COLUMNS, 3))
    dn = np.zeros((COLUMNS, 3))
    for k in range(3):
        dn[k, k] = 1.0
        dm[k + 3, k] = 1.0
    last = r.shape[0] - 1
    for i in range(last):
        d, half = h[i], 0.5 * h[i]
        y_r, y_n, y_m = row3(r, i), row3(n, i), row3(m, i)
        y_q = (q[i, 0], q[i, 1], q[i, 2], q[i, 3])
        if i > 0:
            y_n, y_m = sub3(y_n, row3(points, i)), sub3(y_m, row3(moments, i))
        a, b, c = 2 * i, 2 * i + 1, 2 * i + 2
        r1, q1, n1, m1 = rates(
            y_r, y_q, y_n, y_m, row3(rest_u, a), row3(rest_v, a), row3(force, a), row3(torque, a), K_inverse, C
        )
        qb, nb, mb = along4(y_q, half, q1), along(y_n, half, n1), along(y_m, half, m1)
        r2, q2, n2, m2 = rates(
            y_r, qb, nb, mb, row3(rest_u, b), row3(rest_v, b), row3(force, b), row3(torque, b), K_inverse, C
        )
        qc, nc, mc = along4(y_q, half, q2), along(y_n, half, n2), along(y_m, half, m2)
        r3, q3, n3, m3 = rates(
            y_r, qc, nc, mc, row3(rest_u, b), row3(rest_v, b), row3(force, b), row3(torque, b), K_inverse, C
        )
        qd, nd, md = along4(y_q, d, q3), along(y_n, d, n3), along(y_m, d, m3)
        r4, q4, n4, m4 = rates(
            y_r, qd, nd, md, row3(rest_u, c), row3(rest_v, c), row3(force, c), row3(torque, c), K_inverse, C
        )
        for k in range(COLUMNS):
            p0, v0, s0, g = row3(phi, k), row3(dr, k), row3(dm, k), row3(dn, k)
            p1, v1, s1 = variation_rates(y_q, y_n, y_m, r1, p0, g, s0, K_inverse, C)
            p2, v2, s2 = variation_rates(qb, nb, mb, r2, along(p0, half, p1), g, along(s0, half, s1), K_inverse, C)
            p3, v3, s3 = variation_rates(qc, nc, mc, r3, along(p0, half, p2), g, along(s0, half, s2), K_inverse, C)
            p4, v4, s4 = variation_rates(qd, nd, md, r4, along(p0, d, p3), g, along(s0, d, s3), K_inverse, C)
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
        turn = quat_normalised(along4(turn, d / 6.0, q4))
        q[i + 1, 0], q[i + 1, 1], q[i + 1, 2], q[i + 1, 3] = turn
    for k in range(COLUMNS):
        for j in range(3):
            derivative[j, k] = phi[k, j]
            derivative[3 + j, k] = dr[k, j]
            derivative[6 + j, k] = dm[k, j]
