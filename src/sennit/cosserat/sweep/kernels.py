"""The explicit method of Pai (2002): two sweeps for a strand whose loads all turn with it.

In the body frame the balance n′ = −u×n − f, m′ = −u×m − v×n − τ does not know the rotations, so forces and moments
are integrated from the tip to the base first, and then the frame, R′ = R[u], r′ = R v, from the base to the tip.

Order 1 is the paper's scheme with its force equation put right (the rotation of the frame is either a term of the
equation or a change of frame after it, not both). Order 4 takes classical Runge–Kutta steps for (n, m) and Magnus
steps for the frame: Ω = h/6 (A₀ + 4A½ + A₁) + h²/12 [A₀, A₁], with A½ from the moments' cubic Hermite interpolant.
"""

from __future__ import annotations

import math

import numpy as np
from numba.extending import overload

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels import (
    add3, cross3, dot3, mat_vec, put3, quat_exp, quat_mul, quat_rotate, row3, scale3, sub3,
)  # fmt: skip


def compliance_times(C, a):
    """C a for no C (an empty tuple), a diagonal one (3-tuple) or a full one (9-tuple)."""
    raise TypeError("compiled code only")


@overload(compliance_times)
def _compliance_times(C, a):
    if len(C) == 0:
        return lambda C, a: (0.0, 0.0, 0.0)
    if len(C) == 3:
        return lambda C, a: (C[0] * a[0], C[1] * a[1], C[2] * a[2])
    return lambda C, a: mat_vec(C, a)


@inlined
def slopes(n, m, u_rest, v_rest, f, t, K_inverse, C):
    """−n′ and −m′ (the sweep goes backwards), u and v."""
    u = add3(u_rest, compliance_times(K_inverse, m))
    v = add3(v_rest, compliance_times(C, n))
    dn = add3(cross3(u, n), f)
    dm = add3(add3(cross3(u, m), cross3(v, n)), t)
    return dn, dm, u, v


@kernel
def stress_sweep(order, h, rest_u, rest_v, force, torque, points, moments, K_inverse, C, n_out, m_out):
    """Internal force and moment (body frame) just before each node, from the tip to the base.

    `rest_u`, `rest_v`, `force`, `torque` hold values at the nodes and between them, (2·intervals + 1, 3); `points` and
    `moments` (nodes, 3) are what acts at the nodes, the tip's load in the last row.
    """
    last = n_out.shape[0] - 1
    n, m = row3(points, last), row3(moments, last)
    put3(n_out, last, n)
    put3(m_out, last, m)
    for i in range(last - 1, -1, -1):
        d = h[i]
        a, b, c = 2 * i + 2, 2 * i + 1, 2 * i  # tip side, middle, base side
        if order == 4:
            half = 0.5 * d
            um, vm, fm, tm = row3(rest_u, b), row3(rest_v, b), row3(force, b), row3(torque, b)
            n1, m1, _, _ = slopes(n, m, row3(rest_u, a), row3(rest_v, a), row3(force, a), row3(torque, a), K_inverse, C)
            n2, m2, _, _ = slopes(add3(n, scale3(half, n1)), add3(m, scale3(half, m1)), um, vm, fm, tm, K_inverse, C)
            n3, m3, _, _ = slopes(add3(n, scale3(half, n2)), add3(m, scale3(half, m2)), um, vm, fm, tm, K_inverse, C)
            n4, m4, _, _ = slopes(
                add3(n, scale3(d, n3)), add3(m, scale3(d, m3)), row3(rest_u, c), row3(rest_v, c), row3(force, c),
                row3(torque, c), K_inverse, C,
            )  # fmt: skip
            sixth = d / 6.0
            n = add3(n, scale3(sixth, add3(add3(n1, n4), scale3(2.0, add3(n2, n3)))))
            m = add3(m, scale3(sixth, add3(add3(m1, m4), scale3(2.0, add3(m2, m3)))))
        elif order == 2:
            half = 0.5 * d
            n1, m1, _, _ = slopes(n, m, row3(rest_u, a), row3(rest_v, a), row3(force, a), row3(torque, a), K_inverse, C)
            n2, m2, _, _ = slopes(
                add3(n, scale3(half, n1)), add3(m, scale3(half, m1)), row3(rest_u, b), row3(rest_v, b), row3(force, b),
                row3(torque, b), K_inverse, C,
            )  # fmt: skip
            n, m = add3(n, scale3(d, n2)), add3(m, scale3(d, m2))
        else:
            # load and lever arm first, then the change of frame: |n| is kept exactly where nothing acts
            u = add3(row3(rest_u, a), compliance_times(K_inverse, m))
            v = add3(row3(rest_v, a), compliance_times(C, n))
            turn = quat_exp(scale3(d, u))
            m = quat_rotate(turn, add3(m, scale3(d, add3(cross3(v, n), row3(torque, a)))))
            n = quat_rotate(turn, add3(n, scale3(d, row3(force, a))))
        if i > 0:
            n = add3(n, row3(points, i))
            m = add3(m, row3(moments, i))
        put3(n_out, i, n)
        put3(m_out, i, m)


@inlined
def screw(rotation, translation):
    """Translation of the rigid motion exp of a twist: (I + k1[ρ] + k2[ρ]²) t."""
    x = dot3(rotation, rotation)
    if x < 0.25:
        k1 = 1 / 2 + x * (-1 / 24 + x * (1 / 720 + x * (-1 / 40320 + x * (1 / 3628800 - x / 479001600))))
        k2 = 1 / 6 + x * (-1 / 120 + x * (1 / 5040 + x * (-1 / 362880 + x * (1 / 39916800 - x / 6227020800))))
    else:
        angle = math.sqrt(x)
        k1 = (1.0 - math.cos(angle)) / x
        k2 = (angle - math.sin(angle)) / (x * angle)
    c = cross3(rotation, translation)
    return add3(translation, add3(scale3(k1, c), scale3(k2, cross3(rotation, c))))


@kernel
def frame_sweep(order, h, rest_u, rest_v, force, torque, points, moments, K_inverse, C, n, m, q, r, u_out, v_out):
    """Rotations q (nodes, 4) and positions r (nodes, 3) from the base, whose rows are given; strains at the nodes."""
    last = n.shape[0] - 1
    jumps = False
    for i in range(1, last):
        for k in range(3):
            jumps = jumps or points[i, k] != 0.0 or moments[i, k] != 0.0
    turn = (q[0, 0], q[0, 1], q[0, 2], q[0, 3])
    place = row3(r, 0)
    ahead = slopes(
        row3(n, 0), row3(m, 0), row3(rest_u, 0), row3(rest_v, 0), row3(force, 0), row3(torque, 0), K_inverse, C
    )
    for i in range(last):
        d = h[i]
        c, b, a = 2 * i, 2 * i + 1, 2 * i + 2
        n0, m0, n1, m1 = row3(n, i), row3(m, i), row3(n, i + 1), row3(m, i + 1)
        dn0, dm0, u0, v0 = ahead
        if jumps and i > 0:  # just beyond node i
            n0 = sub3(n0, row3(points, i))
            m0 = sub3(m0, row3(moments, i))
            dn0, dm0, u0, v0 = slopes(
                n0, m0, row3(rest_u, c), row3(rest_v, c), row3(force, c), row3(torque, c), K_inverse, C
            )
        ahead = slopes(n1, m1, row3(rest_u, a), row3(rest_v, a), row3(force, a), row3(torque, a), K_inverse, C)
        dn1, dm1, u1, v1 = ahead
        if order == 4:
            # values between by Hermite's cubic; the slopes are those of −n, −m
            eighth = 0.125 * d
            mm = add3(scale3(0.5, add3(m0, m1)), scale3(eighth, sub3(dm1, dm0)))
            nm = add3(scale3(0.5, add3(n0, n1)), scale3(eighth, sub3(dn1, dn0)))
            um = add3(row3(rest_u, b), compliance_times(K_inverse, mm))
            vm = add3(row3(rest_v, b), compliance_times(C, nm))
            k, k2 = d / 6.0, d * d / 12.0
            rotation = add3(scale3(k, add3(add3(u0, u1), scale3(4.0, um))), scale3(k2, cross3(u0, u1)))
            bracket = sub3(cross3(u0, v1), cross3(u1, v0))
            translation = add3(scale3(k, add3(add3(v0, v1), scale3(4.0, vm))), scale3(k2, bracket))
        elif order == 2:
            rotation = scale3(0.5 * d, add3(u0, u1))
            translation = scale3(0.5 * d, add3(v0, v1))
        else:
            rotation = scale3(d, u0)
            translation = scale3(d, v0)
        put3(u_out, i, u0)
        put3(v_out, i, v0)
        place = add3(place, quat_rotate(turn, screw(rotation, translation)))
        turn = quat_mul(turn, quat_exp(rotation))
        # one Newton step for 1/|q| keeps the norm at rounding
        k = 1.5 - 0.5 * (turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3])
        turn = (k * turn[0], k * turn[1], k * turn[2], k * turn[3])
        q[i + 1, 0], q[i + 1, 1], q[i + 1, 2], q[i + 1, 3] = turn
        put3(r, i + 1, place)
    put3(u_out, last, ahead[2])
    put3(v_out, last, ahead[3])


@kernel
def rotation_sweep(h, rest_u, q):
    """Rotations of the rest shape from q[0] on, by Magnus steps; `rest_u` at the nodes and between them."""
    for i in range(q.shape[0] - 1):
        d = h[i]
        u0, um, u1 = row3(rest_u, 2 * i), row3(rest_u, 2 * i + 1), row3(rest_u, 2 * i + 2)
        rotation = add3(scale3(d / 6.0, add3(add3(u0, u1), scale3(4.0, um))), scale3(d * d / 12.0, cross3(u0, u1)))
        turn = quat_mul((q[i, 0], q[i, 1], q[i, 2], q[i, 3]), quat_exp(rotation))
        k = 1.0 / math.sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3])
        for j in range(4):
            q[i + 1, j] = k * turn[j]


@kernel
def two_sweeps(order, h, rest_u, rest_v, force, torque, points, moments, K_inverse, C, n, m, q, r, u, v):
    """Both sweeps; returns whether the result is finite."""
    stress_sweep(order, h, rest_u, rest_v, force, torque, points, moments, K_inverse, C, n, m)
    frame_sweep(order, h, rest_u, rest_v, force, torque, points, moments, K_inverse, C, n, m, q, r, u, v)
    return np.isfinite(r[-1, 0] + r[-1, 1] + r[-1, 2] + q[-1, 0])
