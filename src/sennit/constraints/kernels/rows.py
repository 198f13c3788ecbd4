"""The rows that every constraint is made of.

A row ties point p to point q: its value g, and the wrench (f, m) at p that its unit multiplier applies,
g' = f·ẋ_p + m·ω_p + (the same at q). Moving p and q together as one rigid body leaves g as it is, so q receives the
opposite wrench: −f at x_q and the moment −(m + (x_p − x_q) × f). Action and reaction are equal by construction.

    kind         g                                 f               m (at p)
    TRANSLATE    d·(x_p − x_q) − c                 d               0            d carried by q
    APART        e·(x_p − x_q) − c                 e               0            e fixed in the world; no moment on q
    DISTANCE     |x_p − x_q| − c                   (x_p − x_q)/|·|  0
    ROTATE       d·log(R_p Cᵀ R_qᵀ)                0               A d          A: derivative of the logarithm
    SQUARE       d·b                               0               b × d        d carried by q, b by p
    ANGLE        angle of b from e about d, − c    0               d            b carried by p, d and e by q
    SLIDING      σ − c                             (entry 1 at the slider's own coordinate)
    BEADS        ±|x_p − x_q| − c                  ±(x_p − x_q)/|·| 0           + while slider p is beyond slider q

The three APART rows of one tie keep angular momentum when their compliances are equal: their force then points along
x_p − x_q.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import (
    add3, beta, cross3, dot3, log_jacobian, mat_vec, quat_between, quat_log, quat_mul, quat_normalised, quat_rotate,
    scale3, sub3,
)  # fmt: skip
from sennit.point.kernels.points import KIND as POINT_KIND
from sennit.point.kernels.points import R, SLIDE, WIDTH, WORLD, place_of, pull_back, turn_out

TRANSLATE, APART, DISTANCE, ROTATE, SQUARE, ANGLE, SLIDING, BEADS = 0, 1, 2, 3, 4, 5, 6, 7

# Columns of the integer table: kind, points, constraint, switch, whether the row acts on the step's displacement (1) or
# on its value (0), unknown (−1: bounded row, found after the factorisation), slider whose friction bounds it (−1: none)
KIND, FIRST, SECOND, OWNER, ENABLED, RATE, DUAL, FRICTION = 0, 1, 2, 3, 4, 5, 6, 7
ROW_INTS = 8
# Columns of the number table; SPARE is compliance given to a row that others make redundant
AXIS, OTHER, TARGET, RELATIVE, COMPLIANCE, DAMPING, LOWER, UPPER = 0, 3, 6, 7, 11, 12, 13, 14
MU, RESTITUTION, SPEED, SIGN, SPARE = 15, 16, 17, 18, 19
ROW_FLOATS = 20
# Columns of the state: multiplier, value at the last accepted state, angle with its turns, side (−1, 0, 1) of a bounded
# row, value one state before
LAMBDA, VALUE, TURNS, SIDE, VALUE_LAST = 0, 1, 2, 3, 4
ROW_STATE = 5
# Columns of what rows evaluate to: value, force and moment at p, and 1 if q takes the moment of the arm
G, F, M, HAS_ARM = 0, 1, 4, 7
ROW_WRENCH = 8
# Numbers of a row's Jacobian: the pull-backs of both points
ROW_WIDTH = 2 * WIDTH


@inlined
def quaternion_of(PX, p):
    """Quaternion of a frame in PX, by the largest of its four components."""
    a, b, c = PX[p, R], PX[p, R + 4], PX[p, R + 8]
    # the antisymmetric and the symmetric parts off the diagonal
    x, y, z = PX[p, R + 7] - PX[p, R + 5], PX[p, R + 2] - PX[p, R + 6], PX[p, R + 3] - PX[p, R + 1]
    xy, xz, yz = PX[p, R + 1] + PX[p, R + 3], PX[p, R + 2] + PX[p, R + 6], PX[p, R + 5] + PX[p, R + 7]
    if a + b + c > 0.0:
        w = math.sqrt(1.0 + a + b + c)
        k = 0.5 / w
        q = (0.5 * w, k * x, k * y, k * z)
    elif a >= b and a >= c:
        w = math.sqrt(1.0 + a - b - c)
        k = 0.5 / w
        q = (k * x, 0.5 * w, k * xy, k * xz)
    elif b >= c:
        w = math.sqrt(1.0 - a + b - c)
        k = 0.5 / w
        q = (k * y, k * xy, 0.5 * w, k * yz)
    else:
        w = math.sqrt(1.0 - a - b + c)
        k = 0.5 / w
        q = (k * z, k * xz, k * yz, 0.5 * w)
    return quat_normalised(q)


@inlined
def row_wrench(r, RI, RF, RS, PX, q_dofs, PI):
    """Value, force and moment at p, and 1 if q takes the moment of the arm, of row `r`, signed by its SIGN."""
    kind, p, q = RI[r, KIND], RI[r, FIRST], RI[r, SECOND]
    f = (0.0, 0.0, 0.0)
    m = (0.0, 0.0, 0.0)
    arm = 1
    axis = (RF[r, AXIS], RF[r, AXIS + 1], RF[r, AXIS + 2])
    if kind == TRANSLATE:
        f = turn_out(PX, q, axis)
        g = dot3(f, sub3(place_of(PX, p), place_of(PX, q))) - RF[r, TARGET]
    elif kind == APART:
        f = axis
        g = dot3(f, sub3(place_of(PX, p), place_of(PX, q))) - RF[r, TARGET]
        arm = 0
    elif kind == DISTANCE:
        gap = sub3(place_of(PX, p), place_of(PX, q))
        length = math.sqrt(dot3(gap, gap))
        # A gap of zero has no direction: the stored one serves until the points part.
        f = scale3(1.0 / length, gap) if length > 0.0 else axis
        g = length - RF[r, TARGET]
        arm = 0
    elif kind == ROTATE:
        relative = (RF[r, RELATIVE], RF[r, RELATIVE + 1], RF[r, RELATIVE + 2], RF[r, RELATIVE + 3])
        wanted = quat_mul(quaternion_of(PX, q), relative)
        # R_p (R_q C)ᵀ in world axes: rotate the error seen in the wanted frame back out
        error = quat_rotate(wanted, quat_log(quat_between(wanted, quaternion_of(PX, p))))
        d = turn_out(PX, q, axis)
        g = dot3(d, error)
        b, _ = beta(dot3(error, error))
        m = mat_vec(log_jacobian(error, b), d)
    elif kind == SQUARE:
        d = turn_out(PX, q, axis)
        b = turn_out(PX, p, (RF[r, OTHER], RF[r, OTHER + 1], RF[r, OTHER + 2]))
        g = dot3(d, b) - RF[r, TARGET]
        m = cross3(b, d)
    elif kind == ANGLE:
        m = turn_out(PX, q, axis)
        b = turn_out(PX, p, (RF[r, OTHER], RF[r, OTHER + 1], RF[r, OTHER + 2]))
        e = turn_out(PX, q, (RF[r, RELATIVE], RF[r, RELATIVE + 1], RF[r, RELATIVE + 2]))
        angle = math.atan2(dot3(m, cross3(e, b)), dot3(e, b))
        turns = RS[r, TURNS]
        angle += 2.0 * math.pi * round((turns - angle) / (2.0 * math.pi))
        g = angle - RF[r, TARGET]
    elif kind == BEADS:
        gap = sub3(place_of(PX, p), place_of(PX, q))
        length = math.sqrt(dot3(gap, gap))
        between = q_dofs[PI[p, SLIDE]] - q_dofs[PI[q, SLIDE]]
        loop = RF[r, OTHER]  # length of a closed rod, 0 of an open one
        if loop > 0.0:
            # p is the next one on: a gap may be nearly the whole loop, an overlap is never a large part of it
            between -= loop * math.floor(between / loop + min(0.05, 0.5 * RF[r, TARGET] / loop))
        way = 1.0 if between >= 0.0 else -1.0
        f = scale3(way / length, gap) if length > 0.0 else axis
        g = way * length - RF[r, TARGET]
        arm = 0
    else:
        g = q_dofs[PI[p, SLIDE]] - RF[r, TARGET]
    sign = RF[r, SIGN]
    return sign * g, scale3(sign, f), scale3(sign, m), arm


@kernel
def evaluate_rows(r0, r1, RI, RF, RS, PX, q_dofs, PI, RW):
    """Values and wrenches of the rows r0 … r1 for the points in PX, into RW."""
    for r in range(r0, r1):
        g, f, m, arm = row_wrench(r, RI, RF, RS, PX, q_dofs, PI)
        RW[r, G] = g
        RW[r, F], RW[r, F + 1], RW[r, F + 2] = f
        RW[r, M], RW[r, M + 1], RW[r, M + 2] = m
        RW[r, HAS_ARM] = arm


@kernel
def pull_rows(r0, r1, weight, RI, RF, PI, PF, PX, RW, values, at):
    """Add weight·(Jacobian of each row r0 … r1) to values[at + ROW_WIDTH (r − r0) …]: p's pull-back, then q's."""
    for r in range(r0, r1):
        if RI[r, KIND] == SLIDING:
            values[at + WIDTH - 1] += weight * RF[r, SIGN]
        else:
            p, q = RI[r, FIRST], RI[r, SECOND]
            f, m = (RW[r, F], RW[r, F + 1], RW[r, F + 2]), (RW[r, M], RW[r, M + 1], RW[r, M + 2])
            pull_back(p, f, m, weight, PI, PF, PX, values, at)
            if PI[q, POINT_KIND] != WORLD:
                if RW[r, HAS_ARM] == 1.0:
                    m = add3(m, cross3(sub3(place_of(PX, p), place_of(PX, q)), f))
                pull_back(q, f, m, -weight, PI, PF, PX, values, at + WIDTH)
        at += ROW_WIDTH
