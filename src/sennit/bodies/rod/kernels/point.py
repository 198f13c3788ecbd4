"""Points of rods of either model, at rest or sliding.

With basis N, its derivative N′, roll basis NR, j = |r′|, tangent t (δω = t×δr′/j + t δφ) a wrench pulls back to::

    on P_i: N_i f + (N′_i/j) (m × t)        on φ_i: NR_i (m·t)

A slider's point does not hold the roll; it adds one entry, for its coordinate σ: f·∂r/∂σ + ((m × t)·r″)/j dσ.

A point beside the axis, at x d1 + y d2 from it, moves with the section: its arm a = R (x, y, 0) makes the moment
m + a × f of a wrench, and its place r + a. By an increment it moves by N_i δP_i − (N′_i/j) t (a·δP_i) + NR_i t×a δφ_i.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, cross3, dot3, mat_vec, scale3, sub3
from sennit.geometry.kernels.angles import sincos
from sennit.bodies.kernels.frames import carried_director, get3, put3, put_frame, tangent_of

SLIDE = 16
"""Entry of a slider's own coordinate, after those of four control points."""


@inlined
def place(p, points, frames, q, places, slides):
    base, first, count = points.base[p], points.first[p], points.count[p]
    x0 = x1 = x2 = a0 = a1 = a2 = roll = 0.0
    b0 = b1 = b2 = 0.0
    for k in range(4):
        c = first + k
        if c >= count:
            c -= count
        o = base + 4 * c
        n, d, s = points.basis[p, k], points.slope_basis[p, k], points.bend_basis[p, k]
        x0 += n * q[o]
        x1 += n * q[o + 1]
        x2 += n * q[o + 2]
        a0 += d * q[o]
        a1 += d * q[o + 1]
        a2 += d * q[o + 2]
        b0 += s * q[o]
        b1 += s * q[o + 1]
        b2 += s * q[o + 2]
        roll += points.roll_basis[p, k] * q[o + 3]
    j = math.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    k = 1.0 / j
    t = (k * a0, k * a1, k * a2)
    put3(places.position, p, (x0, x1, x2))
    places.speed[p] = j
    u1 = carried_director(get3(frames.reference, p), get3(frames.tangent, p), t)
    u2 = cross3(t, u1)
    if slides:
        scale = points.scale[p]
        put3(places.slope, p, (scale * a0, scale * a1, scale * a2))
        put3(places.bend, p, (scale * b0, scale * b1, scale * b2))
        put_frame(places, p, u1, u2, t)
    else:
        sin, cos = sincos(roll)
        d1 = add3(scale3(cos, u1), scale3(sin, u2))
        d2 = cross3(t, d1)
        put_frame(places, p, d1, d2, t)
        arm = add3(scale3(points.local[p, 0], d1), scale3(points.local[p, 1], d2))
        put3(places.arm, p, arm)
        put3(places.position, p, add3((x0, x1, x2), arm))


@inlined
def place_moved(p, x, points, dq):
    """x + Σ Nᵢ ΔPᵢ: how the displacements `dq` of its control points move the place of point `p`."""
    x0, x1, x2 = x
    for k in range(4):
        c = points.first[p] + k
        if c >= points.count[p]:
            c -= points.count[p]
        o = points.base[p] + 4 * c
        x0 += points.basis[p, k] * dq[o]
        x1 += points.basis[p, k] * dq[o + 1]
        x2 += points.basis[p, k] * dq[o + 2]
    return x0, x1, x2


@inlined
def accept(p, frames, places):
    """Carry the stored tangent and reference vector to the point's place, squared up to rounding."""
    t = tangent_of(places, p)
    u1 = carried_director(get3(frames.reference, p), get3(frames.tangent, p), t)
    u1 = sub3(u1, scale3(dot3(u1, t), t))
    u1 = scale3(1.0 / math.sqrt(dot3(u1, u1)), u1)
    put3(frames.tangent, p, t)
    put3(frames.reference, p, u1)


@inlined
def pull_back(p, f, m, weight, points, places, out, at, slides):
    t = tangent_of(places, p)
    if not slides:
        m = add3(m, cross3(get3(places.arm, p), f))
    mt = scale3(1.0 / places.speed[p], cross3(m, t))
    spin = 0.0 if slides else weight * dot3(m, t)
    for k in range(4):
        n, d = weight * points.basis[p, k], weight * points.slope_basis[p, k]
        out[at + 4 * k] += n * f[0] + d * mt[0]
        out[at + 4 * k + 1] += n * f[1] + d * mt[1]
        out[at + 4 * k + 2] += n * f[2] + d * mt[2]
        out[at + 4 * k + 3] += spin * points.roll_basis[p, k]
    if slides:
        along = dot3(f, get3(places.slope, p))
        out[at + SLIDE] += weight * (along + dot3(mt, get3(places.bend, p)))


@inlined
def dof_of(p, entry, points, slides):
    if entry == SLIDE:
        return points.slide[p] if slides else -1
    if slides and entry & 3 == 3:
        return -1
    c = points.first[p] + (entry >> 2)
    if c >= points.count[p]:
        c -= points.count[p]
    return points.base[p] + 4 * c + (entry & 3)


@inlined
def rates(p, points, places, v, out, slides):
    base, first, count = points.base[p], points.first[p], points.count[p]
    s0 = s1 = s2 = roll = 0.0
    for k in range(4):
        c = first + k
        if c >= count:
            c -= count
        o = base + 4 * c
        n, d = points.basis[p, k], points.slope_basis[p, k]
        out[0] += n * v[o]
        out[1] += n * v[o + 1]
        out[2] += n * v[o + 2]
        s0 += d * v[o]
        s1 += d * v[o + 1]
        s2 += d * v[o + 2]
        roll += points.roll_basis[p, k] * v[o + 3]
    if slides:
        rate = v[points.slide[p]]
        for a in range(3):
            out[a] += rate * places.slope[p, a]
        s0 += rate * places.bend[p, 0]
        s1 += rate * places.bend[p, 1]
        s2 += rate * places.bend[p, 2]
        roll = 0.0
    t = tangent_of(places, p)
    turn = cross3(t, (s0, s1, s2))
    for a in range(3):
        out[3 + a] = turn[a] / places.speed[p] + roll * t[a]
    if not slides:
        lever = cross3((out[3], out[4], out[5]), get3(places.arm, p))
        for a in range(3):
            out[a] += lever[a]


@inlined
def is_beside(p, points):
    """Whether a rod's point lies beside the axis."""
    return points.local[p, 0] != 0.0 or points.local[p, 1] != 0.0


@inlined
def way_of(k, b, p, points, places):
    """How far the point goes by a unit of the entry 4k + b of its pull-back."""
    t = tangent_of(places, p)
    if b == 3:
        return scale3(points.roll_basis[p, k], cross3(t, get3(places.arm, p)))
    n, d = points.basis[p, k], -points.slope_basis[p, k] / places.speed[p] * places.arm[p, b]
    return (
        d * t[0] + (n if b == 0 else 0.0), d * t[1] + (n if b == 1 else 0.0), d * t[2] + (n if b == 2 else 0.0)
    )  # fmt: skip


@inlined
def turn_of(k, b, p, points, places):
    """How far the section turns by that unit, rad."""
    t = tangent_of(places, p)
    if b == 3:
        return scale3(points.roll_basis[p, k], t)
    unit = (1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0, 1.0 if b == 2 else 0.0)
    return scale3(points.slope_basis[p, k] / places.speed[p], cross3(t, unit))


@kernel
def add_entries(p, K, turns, points, places, values):
    """Add JᵀKJ of a point that does not slide to the rod's band, J that of its way or (`turns`) of its turn."""
    at, first, count = points.block[p], points.first[p], points.count[p]
    for k in range(4):
        c = first + k
        if c >= count:
            c -= count
        for a in range(4):
            x = turn_of(k, a, p, points, places) if turns else way_of(k, a, p, points, places)
            x = mat_vec(K, x)
            for m in range(k, 4):
                for b in range(4):
                    y = turn_of(m, b, p, points, places) if turns else way_of(m, b, p, points, places)
                    values[at + 64 * c + 16 * a + 4 * (m - k) + b] += dot3(x, y)


@kernel
def turn_ratio(p, points, places, values):
    """How stiff a unit of stiffness against the section's turn is beside what the matrix has already.

    Of the three coordinates of a control point together, so that it does not depend on the world's axes.
    """
    total = 0.0
    for k in range(4):
        turned = own = 0.0
        for b in range(3):
            x = turn_of(k, b, p, points, places)
            turned += dot3(x, x)
            own += values[diagonal_slot(p, 4 * k + b, points)]
        if own > 0.0:
            total += 3.0 * turned / own
        roll, about = values[diagonal_slot(p, 4 * k + 3, points)], points.roll_basis[p, k]
        if roll > 0.0:
            total += about * about / roll
    return total


@inlined
def add_stiffness(p, K, points, places, values, slides):
    """To the rod's band, and to the slider's own row."""
    if not slides and is_beside(p, points):
        add_entries(p, K, False, points, places, values)
        return
    at = points.block[p]
    first, count = points.first[p], points.count[p]
    for k in range(4):
        c = first + k
        if c >= count:
            c -= count
        for m in range(k, 4):
            n = points.basis[p, k] * points.basis[p, m]
            for a in range(3):
                for b in range(3):
                    values[at + 64 * c + 16 * a + 4 * (m - k) + b] += n * K[3 * a + b]
    if slides:
        at = points.slots[p]
        slope = get3(places.slope, p)
        for a in range(3):
            pulled = K[3 * a] * slope[0] + K[3 * a + 1] * slope[1] + K[3 * a + 2] * slope[2]
            for k in range(4):
                values[at + 4 * k + a] += points.basis[p, k] * pulled
            values[at + SLIDE] += slope[a] * pulled


@inlined
def diagonal_slot(p, entry, points):
    if entry == SLIDE:
        return points.slots[p] + SLIDE
    c = points.first[p] + (entry >> 2)
    if c >= points.count[p]:
        c -= points.count[p]
    return points.block[p] + 64 * c + 17 * (entry & 3)


@inlined
def is_angle(entry):
    return entry & 3 == 3 and entry < SLIDE
