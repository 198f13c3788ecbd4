"""The rows that every constraint is made of.

A row ties point p to point q: its value g, and the wrench (f, m) at p that its unit multiplier applies,
g' = f·ẋ_p + m·ω_p + (the same at q). Moving p and q together as one rigid body leaves g as it is, so q receives the
opposite wrench: −f at x_q and the moment −(m + (x_p − x_q) × f). Action and reaction are equal by construction.

    kind         g                                 f               m (at p)
    TRANSLATE    d·(x_p − x_q) − c                 d               0            d carried by q
    APART        e·(x_p − x_q) − c                 e               0            e fixed in the world; no moment on q
    DISTANCE     ±|x_p − x_q| − c                  ±(x_p − x_q)/|·| 0           − where they passed through each other
    ROTATE       d·log(R_p Cᵀ R_qᵀ)                0               A d          A: derivative of the logarithm
    TILT         d·b φ/sin φ                       0               see `tilt`   a, d ⟂ a carried by q, b by p; φ: a to b
    ANGLE        angle of b from e about d, − c    0               d            b carried by p, d and e by q
    SLIDING      σ − c                             (entry 1 at the slider's own coordinate)
    BEADS        ±|x_p − x_q| − c                  ±(x_p − x_q)/|·| 0           + while slider p is beyond slider q
    SCREW        d·(x_p − x_q) − k θ − c           d               −k d         θ: angle as of ANGLE; k: lead, m/rad

The three APART rows of one tie keep angular momentum when their compliances are equal: their force then points along
x_p − x_q.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.points import WIDTH, WORLD, dof_of, pull_back
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import (
    add3, beta, cross3, dot3, log_jacobian, mat_vec, quat_between, quat_log, quat_mul, quat_normalised, quat_rotate,
    scale3, sub3,
)  # fmt: skip
from sennit.bodies.kernels.frames import get3, place_of, put3, turn_out

TRANSLATE, APART, DISTANCE, ROTATE, TILT, ANGLE, SLIDING, BEADS, SCREW = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Kinds of rows."""
ANGULAR, DIRECTED, COUNTS_TURNS, STORED = 1, 2, 4, 8
"""Traits of a kind: its value is an angle and its multiplier a torque; it holds a direction, so that a rod on which it
acts does not tumble; it counts whole turns; files hold it (the others are made anew by the scene)."""
TRAITS = (
    STORED,  # TRANSLATE
    STORED,  # APART
    STORED,  # DISTANCE
    ANGULAR | DIRECTED | STORED,  # ROTATE
    ANGULAR | DIRECTED | STORED,  # TILT
    ANGULAR | DIRECTED | COUNTS_TURNS | STORED,  # ANGLE
    0,  # SLIDING
    0,  # BEADS
    DIRECTED | COUNTS_TURNS | STORED,  # SCREW
)
"""By kind."""
OPPOSITE = 1e-7  # sine of the angle between opposite directions
ROW_WIDTH = 2 * WIDTH
"""Numbers of a row's Jacobian: the pull-backs of both points."""


@inlined
def row_dof(r, entry, rows, points):
    """The degree of freedom behind an entry of a row's Jacobian; -1: none."""
    return dof_of(rows.first[r], entry, points) if entry < WIDTH else dof_of(rows.second[r], entry - WIDTH, points)


@inlined
def counted(angle, last):
    """The angle, whole turns added, that is nearest to its last value."""
    return angle + 2.0 * math.pi * round((last - angle) / (2.0 * math.pi))


@inlined
def angle_about(d, e, b):
    """Angle of b from e about d, rad."""
    return math.atan2(dot3(d, cross3(e, b)), dot3(e, b))


@inlined
def tilt(a, d, b):
    """Part along d ⟂ a of the angle φ by which b is tilted from a, and the moment m with g' = m·ω as b turns by ω.

    With b' = ω × b and φ' = −ω·(b × a)/sin φ::

        g = f d·b,   f = φ/sin φ,   m = f b × d − (d·b) (sin φ − φ cos φ)/sin³φ  b × a

    By the angle itself and not its sine: linearised, a sine sends a row that is off by φ back by tan φ, and past its
    aim from φ = 1.17 on.
    """
    across = cross3(b, a)
    sin, cos = math.sqrt(dot3(across, across)), dot3(a, b)
    if sin < OPPOSITE and cos < 0.0:
        # Straight against a no way back is the shortest: one across a is taken.
        side = cross3(a, (1.0, 0.0, 0.0) if abs(a[0]) < 0.6 else (0.0, 1.0, 0.0))
        return math.pi * dot3(d, side) / math.sqrt(dot3(side, side)), cross3(a, d)
    if sin < 3e-3 and cos > 0.0:
        f, k = 1.0 + sin * sin / 6.0, 1.0 / 3.0 + sin * sin / 7.5
    else:
        phi = math.atan2(sin, cos)
        f, k = phi / sin, (sin - phi * cos) / (sin * sin * sin)
    return f * dot3(d, b), sub3(scale3(f, cross3(b, d)), scale3(k * dot3(d, b), across))


@inlined
def quaternion_of(places, p):
    """Quaternion of a point's frame, by the largest of its four components."""
    a, b, c = places.frame[p, 0], places.frame[p, 4], places.frame[p, 8]
    # the antisymmetric and the symmetric parts off the diagonal
    x, y, z = (
        places.frame[p, 7] - places.frame[p, 5],
        places.frame[p, 2] - places.frame[p, 6],
        places.frame[p, 3] - places.frame[p, 1],
    )
    xy, xz, yz = (
        places.frame[p, 1] + places.frame[p, 3],
        places.frame[p, 2] + places.frame[p, 6],
        places.frame[p, 5] + places.frame[p, 7],
    )
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
def row_wrench(r, rows, places, q_dofs, points):
    """Value, force and moment at p, 1 if q takes the moment of the arm, and the angle of a row that counts it."""
    kind, p, q = rows.kind[r], rows.first[r], rows.second[r]
    f = (0.0, 0.0, 0.0)
    m = (0.0, 0.0, 0.0)
    arm = 1
    turned = 0.0
    axis = get3(rows.axis, r)
    if kind == TRANSLATE:
        f = turn_out(places, q, axis)
        g = dot3(f, sub3(place_of(places, p), place_of(places, q))) - rows.target[r]
    elif kind == APART:
        f = axis
        g = dot3(f, sub3(place_of(places, p), place_of(places, q))) - rows.target[r]
        arm = 0
    elif kind == DISTANCE:
        gap = sub3(place_of(places, p), place_of(places, q))
        length = math.sqrt(dot3(gap, gap))
        # A gap of zero has no direction: the stored one serves until the points part.
        f = scale3(1.0 / length, gap) if length > 0.0 else axis
        if dot3(f, get3(rows.heading, r)) < 0.0:
            f, length = scale3(-1.0, f), -length
        g = length - rows.target[r]
        arm = 0
    elif kind == ROTATE:
        relative = (rows.relative[r, 0], rows.relative[r, 1], rows.relative[r, 2], rows.relative[r, 3])
        wanted = quat_mul(quaternion_of(places, q), relative)
        # R_p (R_q C)ᵀ in world axes: rotate the error seen in the wanted frame back out
        error = quat_rotate(wanted, quat_log(quat_between(wanted, quaternion_of(places, p))))
        d = turn_out(places, q, axis)
        g = dot3(d, error)
        b, _ = beta(dot3(error, error))
        m = mat_vec(log_jacobian(error, b), d)
    elif kind == TILT:
        d, a = turn_out(places, q, axis), turn_out(places, q, get3(rows.zero, r))
        g, m = tilt(a, d, turn_out(places, p, get3(rows.other, r)))
        g -= rows.target[r]
    elif kind == ANGLE:
        m = turn_out(places, q, axis)
        b = turn_out(places, p, get3(rows.other, r))
        e = turn_out(places, q, get3(rows.zero, r))
        g = counted(angle_about(m, e, b), rows.angle[r]) - rows.target[r]
        turned = g + rows.target[r]
    elif kind == SCREW:
        f = turn_out(places, q, axis)
        b = turn_out(places, p, get3(rows.other, r))
        e = turn_out(places, q, get3(rows.zero, r))
        turned = counted(angle_about(f, e, b), rows.angle[r])
        way = dot3(f, sub3(place_of(places, p), place_of(places, q)))
        g = way - rows.lead[r] * turned - rows.target[r]
        m = scale3(-rows.lead[r], f)
    elif kind == BEADS:
        gap = sub3(place_of(places, p), place_of(places, q))
        length = math.sqrt(dot3(gap, gap))
        between = q_dofs[points.slide[p]] - q_dofs[points.slide[q]]
        loop = rows.loop[r]  # length of a closed rod, 0 of an open one
        if loop > 0.0:
            # p is the next one on: a gap may be nearly the whole loop, an overlap is never a large part of it
            between -= loop * math.floor(between / loop + min(0.05, 0.5 * rows.target[r] / loop))
        way = 1.0 if between >= 0.0 else -1.0
        f = scale3(way / length, gap) if length > 0.0 else axis
        g = way * length - rows.target[r]
        arm = 0
    else:
        g = q_dofs[points.slide[p]] - rows.target[r]
    sign = rows.sign[r]
    return sign * g, scale3(sign, f), scale3(sign, m), arm, turned


@kernel
def evaluate_rows(r0, r1, rows, places, q_dofs, points):
    """Values, less how far their targets are ahead, and wrenches of the rows r0 … r1 where their points are."""
    for r in range(r0, r1):
        g, f, m, arm, turned = row_wrench(r, rows, places, q_dofs, points)
        rows.g[r] = g - rows.ahead[r]
        put3(rows.force, r, f)
        put3(rows.moment, r, m)
        rows.has_arm[r] = arm
        rows.turned[r] = turned


@kernel
def note_headings(rows, places):
    """Keep on which side of each other the points are that distance rows keep apart.

    A step that would take them through each other is to push them back, not on.
    """
    for r in range(rows.kind.size):
        if rows.kind[r] == DISTANCE and rows.dual[r] < 0 and rows.sign[r] > 0.0:
            gap = sub3(place_of(places, rows.first[r]), place_of(places, rows.second[r]))
            put3(rows.heading, r, gap)


@kernel
def pull_rows(r0, r1, weight, rows, points, places, values, at):
    """Add weight·(Jacobian of each row r0 … r1) to values[at + ROW_WIDTH (r − r0) …]: p's pull-back, then q's."""
    for r in range(r0, r1):
        if rows.kind[r] == SLIDING:
            values[at + WIDTH - 1] += weight * rows.sign[r]
        else:
            p, q = rows.first[r], rows.second[r]
            f, m = get3(rows.force, r), get3(rows.moment, r)
            pull_back(p, f, m, weight, points, places, values, at)
            if points.kind[q] != WORLD:
                if rows.has_arm[r] == 1.0:
                    m = add3(m, cross3(sub3(place_of(places, p), place_of(places, q)), f))
                pull_back(q, f, m, -weight, points, places, values, at + WIDTH)
        at += ROW_WIDTH
