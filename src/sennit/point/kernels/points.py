"""Where a point of any body is, how it is turned, and what a wrench at it does to the body's degrees of freedom.

A point is a row of two tables: `PI` (what and where) and `PF` (numbers), and a row of `PS`, the tangent and the
reference director of its last accepted place. `evaluate_point` writes its place into `PX`. The pull-back of a force f
and a moment m at the point, J_xᵀ f + J_ωᵀ m, has at most `WIDTH` entries; it is all that constraints and loads need.

Rod point with basis N, its derivative N′, roll basis NR, j = |r′|, tangent t (δω = t×δr′/j + t δφ)::

    on P_i: N_i f + (N′_i/j) (m × t)        on φ_i: NR_i (m·t)

A slider's point adds one entry, for its coordinate σ: f·∂r/∂σ + ((m × t)·r″)/j dσ; it does not hold the roll.

A zone's point at the place X of a carrier (c, R: a rigid body, or the world) is displaced by u, and turned by exp[θ] if
it has an area, both seen in the carrier's frame: x = c + R (X + u)::

    on the rigid body, if it carries: f and m + R(X + u) × f        on u: Rᵀf        on θ: (R J(θ))ᵀ m
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import (
    add3, cross3, dot3, exp_jacobian, mat_mul, mat_t_mul, mat_vec, quat_exp, quat_matrix, row9,
    scale3, sub3,
)  # fmt: skip

# Columns of PI
KIND, BODY, BASE, FIRST, COUNT, SLIDE, BLOCK, SLOTS = 0, 1, 2, 3, 4, 5, 6, 7
# Those of a zone's point: its own numbers (BASE; COUNT of them, 3 or 6), where they stand on the diagonal of the zone's
# block (BLOCK, rows of ROW_LENGTH), and its carrier: number and first degree of freedom of the rigid body (-1: none),
# and where that body's block begins, or which point of the world carries
CARRIER, CARRIER_DOF, CARRIER_AT, ROW_LENGTH = 3, 5, 7, 8
POINT_INTS = 9
# Kinds
WORLD, ROD, RIGID, SLIDER, ZONE = 0, 1, 2, 3, 4
# Columns of PF: bases of a rod point, a slider's du/dσ, mass felt there; place of a rigid body's point; place and
# frame of the world's and, seen by its carrier, of a zone's
N0, D0, NR0, C0, SCALE, FELT = 0, 4, 8, 12, 16, 17
LOCAL = 0
PLACE, FRAME = 0, 3
POINT_FLOATS = 18
# Columns of PS: tangent, reference director u1; of a world point its place and frame when the state was reached
POINT_STATE = 12
# Columns of PX
X, R, ARM, SPEED, SLOPE, BEND = 0, 3, 12, 15, 16, 19
CARRY, SWING = 15, 24  # of a zone's point: its carrier's frame, and R J(θ)
POINT_PLACE = 33
# Entries of a pull-back: four control points of 4, then a slider's own; or a rigid body's 6, then a zone's own 6
WIDTH = 17


@inlined
def carried_director(u1, old, new):
    """u1 ⟂ old, carried to the tangent `new` by the smallest rotation."""
    # A tangent turned right round has no smallest rotation; u1 then stays as it is.
    k = dot3(u1, new) / max(1.0 + dot3(old, new), 1e-12)
    return u1[0] - k * (old[0] + new[0]), u1[1] - k * (old[1] + new[1]), u1[2] - k * (old[2] + new[2])


@inlined
def place_of(PX, p):
    return PX[p, X], PX[p, X + 1], PX[p, X + 2]


@inlined
def tangent_of(PX, p):
    """d3: the third column of the frame."""
    return PX[p, R + 2], PX[p, R + 5], PX[p, R + 8]


@inlined
def turn_out(PX, p, a):
    """A vector of the point's frame, in the world."""
    return (
        PX[p, R] * a[0] + PX[p, R + 1] * a[1] + PX[p, R + 2] * a[2],
        PX[p, R + 3] * a[0] + PX[p, R + 4] * a[1] + PX[p, R + 5] * a[2],
        PX[p, R + 6] * a[0] + PX[p, R + 7] * a[1] + PX[p, R + 8] * a[2],
    )


@inlined
def put_frame(PX, p, d1, d2, d3):
    for a in range(3):
        PX[p, R + 3 * a] = d1[a]
        PX[p, R + 3 * a + 1] = d2[a]
        PX[p, R + 3 * a + 2] = d3[a]


@kernel
def evaluate_zone_point(p, PI, PF, q, quat, PX):
    """`evaluate_point` for a zone's."""
    base = PI[p, BASE]
    o = PI[p, CARRIER_DOF]
    if o >= 0:
        body = PI[p, CARRIER]
        m = quat_matrix((quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]))
        origin = (q[o], q[o + 1], q[o + 2])
    else:
        w = PI[p, CARRIER_AT]
        m = row9(PF, w, FRAME)
        origin = (PF[w, PLACE], PF[w, PLACE + 1], PF[w, PLACE + 2])
    place = (PF[p, PLACE] + q[base], PF[p, PLACE + 1] + q[base + 1], PF[p, PLACE + 2] + q[base + 2])
    arm = mat_vec(m, place)
    frame = row9(PF, p, FRAME)
    swing = m
    if PI[p, COUNT] == 6:
        turn = (q[base + 3], q[base + 4], q[base + 5])
        frame = mat_mul(quat_matrix(quat_exp(turn)), frame)
        swing = mat_mul(m, exp_jacobian(turn))
    frame = mat_mul(m, frame)
    for a in range(3):
        PX[p, X + a] = origin[a] + arm[a]
        PX[p, ARM + a] = arm[a]
    for a in range(9):
        PX[p, R + a] = frame[a]
        PX[p, CARRY + a] = m[a]
        PX[p, SWING + a] = swing[a]


@kernel
def evaluate_point(p, PI, PF, PS, q, quat, PX):
    """Write place, frame and what the pull-back needs of point `p` for the degrees of freedom `q` into PX[p]."""
    kind = PI[p, KIND]
    if kind == WORLD:
        for a in range(12):
            PX[p, a] = PF[p, a]
        return
    if kind == RIGID:
        body, base = PI[p, BODY], PI[p, BASE]
        m = quat_matrix((quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]))
        x, y, z = PF[p, LOCAL], PF[p, LOCAL + 1], PF[p, LOCAL + 2]
        for a in range(3):
            arm = m[3 * a] * x + m[3 * a + 1] * y + m[3 * a + 2] * z
            PX[p, ARM + a] = arm
            PX[p, X + a] = q[base + a] + arm
        for a in range(9):
            PX[p, R + a] = m[a]
        return
    if kind == ZONE:
        evaluate_zone_point(p, PI, PF, q, quat, PX)
        return
    base, first, count = PI[p, BASE], PI[p, FIRST], PI[p, COUNT]
    x0 = x1 = x2 = a0 = a1 = a2 = roll = 0.0
    b0 = b1 = b2 = 0.0
    for k in range(4):
        c = first + k
        if c >= count:
            c -= count
        o = base + 4 * c
        n, d, s = PF[p, N0 + k], PF[p, D0 + k], PF[p, C0 + k]
        x0 += n * q[o]
        x1 += n * q[o + 1]
        x2 += n * q[o + 2]
        a0 += d * q[o]
        a1 += d * q[o + 1]
        a2 += d * q[o + 2]
        b0 += s * q[o]
        b1 += s * q[o + 1]
        b2 += s * q[o + 2]
        roll += PF[p, NR0 + k] * q[o + 3]
    j = math.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    k = 1.0 / j
    t = (k * a0, k * a1, k * a2)
    PX[p, X], PX[p, X + 1], PX[p, X + 2] = x0, x1, x2
    PX[p, SPEED] = j
    u1 = carried_director((PS[p, 3], PS[p, 4], PS[p, 5]), (PS[p, 0], PS[p, 1], PS[p, 2]), t)
    u2 = cross3(t, u1)
    if kind == SLIDER:
        scale = PF[p, SCALE]
        PX[p, SLOPE], PX[p, SLOPE + 1], PX[p, SLOPE + 2] = scale * a0, scale * a1, scale * a2
        PX[p, BEND], PX[p, BEND + 1], PX[p, BEND + 2] = scale * b0, scale * b1, scale * b2
        put_frame(PX, p, u1, u2, t)
    else:
        cos, sin = math.cos(roll), math.sin(roll)
        d1 = add3(scale3(cos, u1), scale3(sin, u2))
        put_frame(PX, p, d1, cross3(t, d1), t)


@kernel
def accept_point(p, PI, PF, PS, q, PX):
    """Carry the stored tangent and reference director of point `p` to its place in PX, squared up to rounding."""
    if PI[p, KIND] != ROD and PI[p, KIND] != SLIDER:
        return
    t = tangent_of(PX, p)
    u1 = carried_director((PS[p, 3], PS[p, 4], PS[p, 5]), (PS[p, 0], PS[p, 1], PS[p, 2]), t)
    u1 = sub3(u1, scale3(dot3(u1, t), t))
    u1 = scale3(1.0 / math.sqrt(dot3(u1, u1)), u1)
    PS[p, 0], PS[p, 1], PS[p, 2] = t
    PS[p, 3], PS[p, 4], PS[p, 5] = u1


@kernel
def pull_back(p, f, m, weight, PI, PF, PX, out, at):
    """Add weight·(J_xᵀ f + J_ωᵀ m) of point `p` to out[at : at + WIDTH]."""
    kind = PI[p, KIND]
    if kind == RIGID:
        turned = add3(cross3((PX[p, ARM], PX[p, ARM + 1], PX[p, ARM + 2]), f), m)
        for a in range(3):
            out[at + a] += weight * f[a]
            out[at + 3 + a] += weight * turned[a]
    elif kind == ZONE:
        turned = add3(cross3((PX[p, ARM], PX[p, ARM + 1], PX[p, ARM + 2]), f), m)
        for a in range(3):
            out[at + a] += weight * f[a]
            out[at + 3 + a] += weight * turned[a]
            out[at + 6 + a] += weight * (
                PX[p, CARRY + a] * f[0] + PX[p, CARRY + 3 + a] * f[1] + PX[p, CARRY + 6 + a] * f[2]
            )
            out[at + 9 + a] += weight * (
                PX[p, SWING + a] * m[0] + PX[p, SWING + 3 + a] * m[1] + PX[p, SWING + 6 + a] * m[2]
            )
    elif kind != WORLD:
        t = tangent_of(PX, p)
        mt = scale3(1.0 / PX[p, SPEED], cross3(m, t))
        spin = weight * dot3(m, t) if kind == ROD else 0.0
        for k in range(4):
            n, d = weight * PF[p, N0 + k], weight * PF[p, D0 + k]
            out[at + 4 * k] += n * f[0] + d * mt[0]
            out[at + 4 * k + 1] += n * f[1] + d * mt[1]
            out[at + 4 * k + 2] += n * f[2] + d * mt[2]
            out[at + 4 * k + 3] += spin * PF[p, NR0 + k]
        if kind == SLIDER:
            along = dot3(f, (PX[p, SLOPE], PX[p, SLOPE + 1], PX[p, SLOPE + 2]))
            out[at + 16] += weight * (along + dot3(mt, (PX[p, BEND], PX[p, BEND + 1], PX[p, BEND + 2])))


@inlined
def dof_of(p, entry, PI):
    """The degree of freedom behind an entry of the pull-back; -1: none."""
    kind = PI[p, KIND]
    if kind == WORLD:
        return -1
    if kind == RIGID:
        return PI[p, BASE] + entry if entry < 6 else -1
    if kind == ZONE:
        if entry < 6:
            return PI[p, CARRIER_DOF] + entry if PI[p, CARRIER_DOF] >= 0 else -1
        return PI[p, BASE] + entry - 6 if entry < 6 + PI[p, COUNT] else -1
    if entry == 16:
        return PI[p, SLIDE] if kind == SLIDER else -1
    if kind == SLIDER and entry & 3 == 3:
        return -1
    c = PI[p, FIRST] + (entry >> 2)
    if c >= PI[p, COUNT]:
        c -= PI[p, COUNT]
    return PI[p, BASE] + 4 * c + (entry & 3)


@kernel
def add_wrench(p, f, m, weight, PI, PF, PX, work, force):
    """Add the generalised forces of the wrench (f, m) at point `p` to `force`; `work` has WIDTH entries."""
    for i in range(WIDTH):
        work[i] = 0.0
    pull_back(p, f, m, weight, PI, PF, PX, work, 0)
    for i in range(WIDTH):
        dof = dof_of(p, i, PI)
        if dof >= 0:
            force[dof] += work[i]


@kernel
def point_rates(p, PI, PF, PX, v, out):
    """Velocity (m/s) and angular velocity (rad/s) of point `p` for the rates `v`, into out[0:6]."""
    kind = PI[p, KIND]
    for a in range(6):
        out[a] = 0.0
    if kind == RIGID:
        base = PI[p, BASE]
        spin = (v[base + 3], v[base + 4], v[base + 5])
        lever = cross3(spin, (PX[p, ARM], PX[p, ARM + 1], PX[p, ARM + 2]))
        for a in range(3):
            out[a] = v[base + a] + lever[a]
            out[3 + a] = spin[a]
    elif kind == ZONE:
        base, o = PI[p, BASE], PI[p, CARRIER_DOF]
        if o >= 0:
            spin = (v[o + 3], v[o + 4], v[o + 5])
            lever = cross3(spin, (PX[p, ARM], PX[p, ARM + 1], PX[p, ARM + 2]))
            for a in range(3):
                out[a] = v[o + a] + lever[a]
                out[3 + a] = spin[a]
        for a in range(3):
            for b in range(3):
                out[a] += PX[p, CARRY + 3 * a + b] * v[base + b]
                if PI[p, COUNT] == 6:
                    out[3 + a] += PX[p, SWING + 3 * a + b] * v[base + 3 + b]
    elif kind != WORLD:
        base, first, count = PI[p, BASE], PI[p, FIRST], PI[p, COUNT]
        s0 = s1 = s2 = roll = 0.0
        for k in range(4):
            c = first + k
            if c >= count:
                c -= count
            o = base + 4 * c
            n, d = PF[p, N0 + k], PF[p, D0 + k]
            out[0] += n * v[o]
            out[1] += n * v[o + 1]
            out[2] += n * v[o + 2]
            s0 += d * v[o]
            s1 += d * v[o + 1]
            s2 += d * v[o + 2]
            roll += PF[p, NR0 + k] * v[o + 3]
        if kind == SLIDER:
            rate = v[PI[p, SLIDE]]
            for a in range(3):
                out[a] += rate * PX[p, SLOPE + a]
            s0 += rate * PX[p, BEND]
            s1 += rate * PX[p, BEND + 1]
            s2 += rate * PX[p, BEND + 2]
            roll = 0.0
        t = tangent_of(PX, p)
        turn = cross3(t, (s0, s1, s2))
        for a in range(3):
            out[3 + a] = turn[a] / PX[p, SPEED] + roll * t[a]


@kernel
def add_point_stiffness(p, K, PI, PF, PX, values):
    """Add JᵀKJ of point `p`, K a symmetric 3×3 stiffness (9-tuple) of its place, to its own body's part of `values`.

    PI's BLOCK says where a rod's band (or a rigid body's 6×6 block) begins, SLOTS where the WIDTH numbers of a slider's
    own row do. A rigid body takes the force part only; a zone and what carries it take their parts apart.
    """
    kind = PI[p, KIND]
    if kind == WORLD:
        return
    at = PI[p, BLOCK]
    if kind == RIGID:
        for a in range(3):
            for b in range(3):
                values[at + 6 * a + b] += K[3 * a + b]
        return
    if kind == ZONE:
        m = row9(PX, p, CARRY)
        own = mat_t_mul(m, mat_mul(K, m))
        for a in range(3):
            for b in range(3):
                values[at + PI[p, ROW_LENGTH] * a + b] += own[3 * a + b]
                if PI[p, CARRIER_DOF] >= 0:
                    values[PI[p, CARRIER_AT] + 6 * a + b] += K[3 * a + b]
        return
    first, count = PI[p, FIRST], PI[p, COUNT]
    for k in range(4):
        c = first + k
        if c >= count:
            c -= count
        for m in range(k, 4):
            n = PF[p, N0 + k] * PF[p, N0 + m]
            for a in range(3):
                for b in range(3):
                    values[at + 64 * c + 16 * a + 4 * (m - k) + b] += n * K[3 * a + b]
    if kind == SLIDER:
        at = PI[p, SLOTS]
        slope = (PX[p, SLOPE], PX[p, SLOPE + 1], PX[p, SLOPE + 2])
        for a in range(3):
            pulled = K[3 * a] * slope[0] + K[3 * a + 1] * slope[1] + K[3 * a + 2] * slope[2]
            for k in range(4):
                values[at + 4 * k + a] += PF[p, N0 + k] * pulled
            values[at + 16] += slope[a] * pulled
