"""Points of rods of either model, at rest or sliding.

With basis N, its derivative N′, roll basis NR, j = |r′|, tangent t (δω = t×δr′/j + t δφ) a wrench pulls back to::

    on P_i: N_i f + (N′_i/j) (m × t)        on φ_i: NR_i (m·t)

A slider's point does not hold the roll; it adds one entry, for its coordinate σ: f·∂r/∂σ + ((m × t)·r″)/j dσ.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
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
        put_frame(places, p, d1, cross3(t, d1), t)


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


@inlined
def add_stiffness(p, K, points, places, values, slides):
    """To the rod's band, and to the slider's own row."""
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
