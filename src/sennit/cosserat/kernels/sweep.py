"""The explicit method of Pai (2002): two sweeps for a strand whose loads all turn with it.

In the body frame the balance n′ = −u×n − f, m′ = −u×m − v×n − τ does not know the rotations, so forces and moments
are integrated from the tip to the base first, and then the frame, R′ = R[u], r′ = R v, from the base to the tip.

Order 1 is the paper's scheme with its force equation put right (the rotation of the frame is either a term of the
equation or a change of frame after it, not both). Order 4 takes classical Runge–Kutta steps for (n, m) and Magnus
steps for the frame: Ω = h/6 (A₀ + 4A½ + A₁) + h²/12 [A₀, A₁], with A½ from the moments' cubic Hermite interpolant.

The rigid motions over the intervals do not depend on one another: the first sweep leaves the strains in blocks of
LANES intervals, component after component, where vector instructions turn them into motions; the second sweep only
composes these.
"""

from __future__ import annotations

import math

import numpy as np

from sennit.compilation import inlined, kernel, overload
from sennit.cosserat.kernels.lanes import C0, LANES, block_and_lane, load3, load4, store3, store4
from sennit.cosserat.kernels.rows import put4, row4, row9
from sennit.geometry.kernels.algebra import (
    add3, cross3, dot3, mat_vec, put3, quat_exp, quat_mul, quat_rotate, row3, scale3,
)  # fmt: skip

# What a strand does not have is left out when its kernels are compiled: the types of the arguments tell.


def strain(rest, C, a):
    """rest + C a for a compliance that is diagonal (3-tuple), full (9-tuple) or none at all (empty)."""
    if len(C) == 0:
        return rest
    if len(C) == 3:
        return rest[0] + C[0] * a[0], rest[1] + C[1] * a[1], rest[2] + C[2] * a[2]
    return add3(rest, mat_vec(C, a))


@overload(strain, forceinline=True)
def _strain(rest, C, a):
    if len(C) == 0:
        return lambda rest, C, a: rest
    if len(C) == 3:
        return lambda rest, C, a: (rest[0] + C[0] * a[0], rest[1] + C[1] * a[1], rest[2] + C[2] * a[2])
    return lambda rest, C, a: add3(rest, mat_vec(C, a))


def rest_stretch(intervals, i):
    """Rest stretch at sample i: (0, 0, 1) for intervals that have none of their own."""
    return row3(intervals.rest_v, i) if hasattr(intervals, "rest_v") else (0.0, 0.0, 1.0)


@overload(rest_stretch, forceinline=True)
def _rest_stretch(intervals, i):
    if "rest_v" in dict(intervals.fields):
        return lambda intervals, i: row3(intervals.rest_v, i)
    return lambda intervals, i: (0.0, 0.0, 1.0)


def bend_at(intervals, K_inverse, slot):
    """K⁻¹ at a slot, of which an interval has three from the base on: the one for all, where intervals have none."""
    return row9(intervals.bend, slot) if hasattr(intervals, "bend") else K_inverse


@overload(bend_at, forceinline=True)
def _bend_at(intervals, K_inverse, slot):
    if "bend" in dict(intervals.fields):
        return lambda intervals, K_inverse, slot: row9(intervals.bend, slot)
    return lambda intervals, K_inverse, slot: K_inverse


def give_at(intervals, C, slot):
    """C at a slot, likewise."""
    return row9(intervals.give, slot) if hasattr(intervals, "give") else C


@overload(give_at, forceinline=True)
def _give_at(intervals, C, slot):
    if "give" in dict(intervals.fields):
        return lambda intervals, C, slot: row9(intervals.give, slot)
    return lambda intervals, C, slot: C


def lever(intervals, C, v, n, t):
    """t + v × n."""
    if hasattr(intervals, "rest_v") or len(C) > 0:
        return plus_cross(t, v, n)
    return t[0] - n[1], t[1] + n[0], t[2]


@overload(lever, forceinline=True)
def _lever(intervals, C, v, n, t):
    if "rest_v" in dict(intervals.fields) or len(C) > 0:
        return lambda intervals, C, v, n, t: plus_cross(t, v, n)
    return lambda intervals, C, v, n, t: (t[0] - n[1], t[1] + n[0], t[2])


@inlined
def plus(a, k, b):
    """a + k b: three fused operations."""
    return a[0] + k * b[0], a[1] + k * b[1], a[2] + k * b[2]


@inlined
def plus_cross(c, a, b):
    """c + a × b: six fused operations, where the cross product and the sum would be nine."""
    return c[0] + a[1] * b[2] - a[2] * b[1], c[1] + a[2] * b[0] - a[0] * b[2], c[2] + a[0] * b[1] - a[1] * b[0]


@inlined
def average(y, y2, y3, y4):
    """y + ⅓((y2 − y) + 2(y3 − y) + (y4 − y)): a Runge–Kutta step from its stages, without its last slope."""
    k = 1 / 3
    return (
        y[0] + k * (y2[0] + 2.0 * y3[0] - 4.0 * y[0] + y4[0]),
        y[1] + k * (y2[1] + 2.0 * y3[1] - 4.0 * y[1] + y4[1]),
        y[2] + k * (y2[2] + 2.0 * y3[2] - 4.0 * y[2] + y4[2]),
    )


@inlined
def between(a, b, eighth, da, db):
    """Hermite's cubic at the middle, for slopes da at a and db at b in the direction from a to b."""
    return (
        0.5 * (a[0] + b[0]) + eighth * (da[0] - db[0]),
        0.5 * (a[1] + b[1]) + eighth * (da[1] - db[1]),
        0.5 * (a[2] + b[2]) + eighth * (da[2] - db[2]),
    )


@kernel
def fourth_order_stress(intervals, loads, K_inverse, C, n_out, m_out, u_out, v_out, P):
    """Internal force and moment (body frame) just before each node, from the tip to the base; the strains go to P."""
    h, rest_u, force, torque = intervals.h, intervals.rest_u, intervals.force, intervals.torque
    points, moments = loads.force, loads.moment
    last = n_out.shape[0] - 1
    n, m = row3(points, last), row3(moments, last)
    put3(n_out, last, n)
    put3(m_out, last, m)
    put3(u_out, last, strain(row3(rest_u, 2 * last), bend_at(intervals, K_inverse, 3 * last - 1), m))
    put3(v_out, last, strain(rest_stretch(intervals, 2 * last), give_at(intervals, C, 3 * last - 1), n))
    for i in range(last - 1, -1, -1):
        d = h[i]
        half, sixth, eighth = 0.5 * d, (1 / 6) * d, 0.125 * d
        a, b, c = 2 * i + 2, 2 * i + 1, 2 * i  # tip side, middle, base side
        bend1, give1 = bend_at(intervals, K_inverse, 3 * i + 2), give_at(intervals, C, 3 * i + 2)
        bendm, givem = bend_at(intervals, K_inverse, 3 * i + 1), give_at(intervals, C, 3 * i + 1)
        bend0, give0 = bend_at(intervals, K_inverse, 3 * i), give_at(intervals, C, 3 * i)
        u1, v1 = strain(row3(rest_u, a), bend1, m), strain(rest_stretch(intervals, a), give1, n)
        n1 = plus_cross(row3(force, a), u1, n)
        m1 = plus_cross(lever(intervals, C, v1, n, row3(torque, a)), u1, m)
        u_rest, v_rest, f, t = row3(rest_u, b), rest_stretch(intervals, b), row3(force, b), row3(torque, b)
        y2, z2 = plus(n, half, n1), plus(m, half, m1)
        u = strain(u_rest, bendm, z2)
        n2 = plus_cross(f, u, y2)
        m2 = plus_cross(lever(intervals, C, strain(v_rest, givem, y2), y2, t), u, z2)
        y3, z3 = plus(n, half, n2), plus(m, half, m2)
        u = strain(u_rest, bendm, z3)
        n3 = plus_cross(f, u, y3)
        m3 = plus_cross(lever(intervals, C, strain(v_rest, givem, y3), y3, t), u, z3)
        y4, z4 = plus(n, d, n3), plus(m, d, m3)
        u0_rest, v0_rest = row3(rest_u, c), rest_stretch(intervals, c)
        u = strain(u0_rest, bend0, z4)
        n4 = plus_cross(row3(force, c), u, y4)
        m4 = plus_cross(lever(intervals, C, strain(v0_rest, give0, y4), y4, row3(torque, c)), u, z4)
        n_new = plus(average(n, y2, y3, y4), sixth, n4)
        m_new = plus(average(m, z2, z3, z4), sixth, m4)
        # the last slope differs from the one at the step's end by h³, the cubic's middle by h⁴
        o, lane = block_and_lane(i)
        um = strain(u_rest, bendm, between(m, m_new, eighth, m1, m4))
        vm = strain(v_rest, givem, between(n, n_new, eighth, n1, n4))
        u0, v0 = strain(u0_rest, bend0, m_new), strain(v0_rest, give0, n_new)
        put_strains(P, o, lane, d, u0, um, u1, v0, vm, v1)
        put3(u_out, i, u0)
        put3(v_out, i, v0)
        n, m = n_new, m_new
        if i > 0:
            n = add3(n, row3(points, i))
            m = add3(m, row3(moments, i))
        put3(n_out, i, n)
        put3(m_out, i, m)


@kernel
def low_order_stress(order, intervals, loads, K_inverse, C, n_out, m_out, u_out, v_out, P):
    """The same for orders 1 and 2."""
    h, rest_u, force, torque = intervals.h, intervals.rest_u, intervals.force, intervals.torque
    points, moments = loads.force, loads.moment
    last = n_out.shape[0] - 1
    n, m = row3(points, last), row3(moments, last)
    put3(n_out, last, n)
    put3(m_out, last, m)
    put3(u_out, last, strain(row3(rest_u, 2 * last), bend_at(intervals, K_inverse, 3 * last - 1), m))
    put3(v_out, last, strain(rest_stretch(intervals, 2 * last), give_at(intervals, C, 3 * last - 1), n))
    for i in range(last - 1, -1, -1):
        d = h[i]
        a, b, c = 2 * i + 2, 2 * i + 1, 2 * i
        o, lane = block_and_lane(i)
        bend1, give1 = bend_at(intervals, K_inverse, 3 * i + 2), give_at(intervals, C, 3 * i + 2)
        bend0, give0 = bend_at(intervals, K_inverse, 3 * i), give_at(intervals, C, 3 * i)
        u1, v1 = strain(row3(rest_u, a), bend1, m), strain(rest_stretch(intervals, a), give1, n)
        if order == 2:
            half = 0.5 * d
            n1 = plus_cross(row3(force, a), u1, n)
            m1 = plus_cross(lever(intervals, C, v1, n, row3(torque, a)), u1, m)
            y2, z2 = plus(n, half, n1), plus(m, half, m1)
            bendm, givem = bend_at(intervals, K_inverse, 3 * i + 1), give_at(intervals, C, 3 * i + 1)
            u, v = strain(row3(rest_u, b), bendm, z2), strain(rest_stretch(intervals, b), givem, y2)
            n = plus(n, d, plus_cross(row3(force, b), u, y2))
            m = plus(m, d, plus_cross(lever(intervals, C, v, y2, row3(torque, b)), u, z2))
        else:
            # load and lever arm first, then the change of frame: |n| is kept exactly where nothing acts
            turn = quat_exp(scale3(d, u1))
            m = quat_rotate(turn, plus(m, d, lever(intervals, C, v1, n, row3(torque, a))))
            n = quat_rotate(turn, plus(n, d, row3(force, a)))
        u0, v0 = strain(row3(rest_u, c), bend0, m), strain(rest_stretch(intervals, c), give0, n)
        if order == 1:
            u1, v1 = u0, v0
        put_strains(P, o, lane, d, u0, scale3(0.5, add3(u0, u1)), u1, v0, scale3(0.5, add3(v0, v1)), v1)
        put3(u_out, i, u0)
        put3(v_out, i, v0)
        if i > 0:
            n = add3(n, row3(points, i))
            m = add3(m, row3(moments, i))
        put3(n_out, i, n)
        put3(m_out, i, m)


@inlined
def interval_twist(P, o, i, bracket):
    """Ω of one interval: rotation vector and translation; `bracket` is 1/12 or, for orders 1 and 2, 0."""
    d = P.length[o, C0, i]
    u0, um, u1 = load3(P.u0, o, i), load3(P.um, o, i), load3(P.u1, o, i)
    v0, vm, v1 = load3(P.v0, o, i), load3(P.vm, o, i), load3(P.v1, o, i)
    k, k2 = d * (1 / 6), bracket * d * d
    rotation = plus(scale3(k, plus(add3(u0, u1), 4.0, um)), k2, cross3(u0, u1))
    translation = plus(scale3(k, plus(add3(v0, v1), 4.0, vm)), k2, plus_cross(cross3(u0, v1), v0, u1))
    return rotation, translation


@inlined
def screw_small(x, rotation, translation):
    """Translation of the rigid motion exp of a twist, (I + k1[ρ] + k2[ρ]²) t, for x = |ρ|² < ¼."""
    k1 = 1 / 2 + x * (-1 / 24 + x * (1 / 720 + x * (-1 / 40320 + x * (1 / 3628800 - x * (1 / 479001600)))))
    k2 = 1 / 6 + x * (-1 / 120 + x * (1 / 5040 + x * (-1 / 362880 + x * (1 / 39916800 - x * (1 / 6227020800)))))
    c = cross3(rotation, translation)
    return plus(plus(translation, k1, c), k2, cross3(rotation, c))


@inlined
def screw(x, rotation, translation):
    """The same for any angle."""
    if x < 0.25:
        return screw_small(x, rotation, translation)
    angle = math.sqrt(x)
    k1 = (1.0 - math.cos(angle)) / x
    k2 = (angle - math.sin(angle)) / (x * angle)
    c = cross3(rotation, translation)
    return plus(plus(translation, k1, c), k2, cross3(rotation, c))


@inlined
def exp_small(x, a):
    """Quaternion of the rotation vector a for x = |a|² < ¼."""
    y = 0.25 * x
    w = 1.0 + y * (-1 / 2 + y * (1 / 24 + y * (-1 / 720 + y * (1 / 40320 + y * (-1 / 3628800)))))
    k = 0.5 + y * (-1 / 12 + y * (1 / 240 + y * (-1 / 10080 + y * (1 / 725760 + y * (-1 / 79833600)))))
    return w, k * a[0], k * a[1], k * a[2]


@kernel
def interval_motions(P, lanes, bracket):
    """Rigid motions of all intervals from the strains that the first sweep has left in P."""
    for block in range(P.length.shape[0]):
        o = np.uint64(block)
        for lane in range(lanes):
            i = np.uint64(lane)
            rotation, translation = interval_twist(P, o, i, bracket)
            x = dot3(rotation, rotation)
            P.angle2[o, C0, i] = x
            store4(P.turn, o, i, exp_small(x, rotation))
            store3(P.shift, o, i, screw_small(x, rotation, translation))
        largest = 0.0
        for lane in range(lanes):
            x = P.angle2[o, C0, np.uint64(lane)]
            largest = largest if x <= largest else x
        # written so that a NaN takes the general path as well
        if not largest < 0.25:
            for lane in range(lanes):
                i = np.uint64(lane)
                rotation, translation = interval_twist(P, o, i, bracket)
                store4(P.turn, o, i, quat_exp(rotation))
                store3(P.shift, o, i, screw(P.angle2[o, C0, i], rotation, translation))


@inlined
def put_strains(P, o, lane, d, u0, um, u1, v0, vm, v1):
    """Length and strains of one interval."""
    P.length[o, C0, lane] = d
    store3(P.u0, o, lane, u0)
    store3(P.um, o, lane, um)
    store3(P.u1, o, lane, u1)
    store3(P.v0, o, lane, v0)
    store3(P.vm, o, lane, vm)
    store3(P.v1, o, lane, v1)


@kernel
def frame_sweep(P, q, r):
    """Rotations q (nodes, 4) and positions r (nodes, 3) from the base, whose rows are given."""
    last = q.shape[0] - 1
    turn = row4(q, 0)
    place = row3(r, 0)
    k = 1.0
    for i in range(last):
        o, lane = block_and_lane(i)
        place = add3(place, quat_rotate(turn, load3(P.shift, o, lane)))
        w, x, y, z = load4(P.turn, o, lane)
        step = (k * w, k * x, k * y, k * z)
        # half a Newton step for 1/|q|, applied one interval later: it keeps the norm at rounding, and nothing waits
        k = 1.25 - 0.25 * (turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3])
        turn = quat_mul(turn, step)
        put4(q, i + 1, turn)
        put3(r, i + 1, place)


@kernel
def rotation_sweep(intervals, q):
    """Rotations of the rest shape from q[0] on, by Magnus steps."""
    rest_u = intervals.rest_u
    for i in range(q.shape[0] - 1):
        d = intervals.h[i]
        u0, um, u1 = row3(rest_u, 2 * i), row3(rest_u, 2 * i + 1), row3(rest_u, 2 * i + 2)
        rotation = add3(scale3(d / 6.0, add3(add3(u0, u1), scale3(4.0, um))), scale3(d * d / 12.0, cross3(u0, u1)))
        turn = quat_mul(row4(q, i), quat_exp(rotation))
        k = 1.0 / math.sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3])
        for j in range(4):
            q[i + 1, j] = k * turn[j]


@kernel
def two_sweeps(order, intervals, loads, K_inverse, C, n, m, q, r, u, v, P):
    """Both sweeps; returns whether everything stayed finite (an explicit method has no residual).

    `n`, `m` receive the internal force and moment (body frame) just before each node, `q`, `r` (nodes 4 and 3; their
    first rows are given) the frames, `u`, `v` the strains just beyond each node: they become the solution's own arrays.
    """
    if order == 4:
        fourth_order_stress(intervals, loads, K_inverse, C, n, m, u, v, P)
        bracket = 1 / 12
    else:
        low_order_stress(order, intervals, loads, K_inverse, C, n, m, u, v, P)
        bracket = 0.0
    interval_motions(P, LANES, bracket)
    frame_sweep(P, q, r)
    return np.isfinite(r[-1, 0] + r[-1, 1] + r[-1, 2] + q[-1, 0])
