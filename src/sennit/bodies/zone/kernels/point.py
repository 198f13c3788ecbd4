"""Points of a zone.

A zone's point at the place X of a carrier (c, R: a rigid body, or the world) is displaced by u, and turned by exp[θ] if
it has an area, both seen in the carrier's frame: x = c + R (X + u)::

    on the rigid body, if it carries: f and m + R(X + u) × f        on u: Rᵀf        on θ: (R J(θ))ᵀ m
"""

from __future__ import annotations

from sennit.bodies.rigid.kernels import point as rigid
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import (
    exp_jacobian, mat_mul, mat_t_mul, mat_vec, quat_exp, quat_matrix, row9,
)  # fmt: skip
from sennit.bodies.kernels.frames import get3


@kernel
def place(p, points, q, quat, places):
    base = points.base[p]
    o = points.carrier_dof[p]
    if o >= 0:
        body = points.carrier[p]
        m = quat_matrix((quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]))
        origin = (q[o], q[o + 1], q[o + 2])
    else:
        w = points.carrier_point[p]
        m = row9(points.anchor_frame, w, 0)
        origin = get3(points.anchor, w)
    at_rest = get3(points.anchor, p)
    arm = mat_vec(m, (at_rest[0] + q[base], at_rest[1] + q[base + 1], at_rest[2] + q[base + 2]))
    frame = row9(points.anchor_frame, p, 0)
    swing = m
    if points.numbers[p] == 6:
        turn = (q[base + 3], q[base + 4], q[base + 5])
        frame = mat_mul(quat_matrix(quat_exp(turn)), frame)
        swing = mat_mul(m, exp_jacobian(turn))
    frame = mat_mul(m, frame)
    for a in range(3):
        places.position[p, a] = origin[a] + arm[a]
        places.arm[p, a] = arm[a]
    for a in range(9):
        places.frame[p, a] = frame[a]
        places.carry[p, a] = m[a]
        places.swing[p, a] = swing[a]


@inlined
def pull_back(p, f, m, weight, places, out, at):
    rigid.pull_back(p, f, m, weight, places, out, at)
    carry, swing = places.carry, places.swing
    for a in range(3):
        out[at + 6 + a] += weight * (carry[p, a] * f[0] + carry[p, 3 + a] * f[1] + carry[p, 6 + a] * f[2])
        out[at + 9 + a] += weight * (swing[p, a] * m[0] + swing[p, 3 + a] * m[1] + swing[p, 6 + a] * m[2])


@inlined
def dof_of(p, entry, points):
    if entry < 6:
        return points.carrier_dof[p] + entry if points.carrier_dof[p] >= 0 else -1
    return points.base[p] + entry - 6 if entry < 6 + points.numbers[p] else -1


@inlined
def rates(p, points, places, v, out):
    base, o = points.base[p], points.carrier_dof[p]
    if o >= 0:
        rigid.rates(p, o, places, v, out)
    for a in range(3):
        for b in range(3):
            out[a] += places.carry[p, 3 * a + b] * v[base + b]
            if points.numbers[p] == 6:
                out[3 + a] += places.swing[p, 3 * a + b] * v[base + 3 + b]


@inlined
def add_stiffness(p, K, points, places, values):
    """The zone and what carries it take their parts apart."""
    m = row9(places.carry, p, 0)
    own = mat_t_mul(m, mat_mul(K, m))
    at = points.block[p]
    for a in range(3):
        for b in range(3):
            values[at + points.row_length[p] * a + b] += own[3 * a + b]
            if points.carrier_dof[p] >= 0:
                values[points.carrier_block[p] + 6 * a + b] += K[3 * a + b]


@inlined
def diagonal_slot(p, entry, points):
    if entry < 6:
        return points.carrier_block[p] + 7 * entry
    return points.block[p] + (points.row_length[p] + 1) * (entry - 6)


@inlined
def is_angle(entry):
    return 3 <= entry < 6 or entry >= 9


@inlined
def turning_body(p, entry, points):
    return points.carrier[p] if 3 <= entry < 6 else -1
