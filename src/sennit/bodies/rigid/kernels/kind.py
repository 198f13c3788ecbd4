"""What a rigid body does in a step: free flight and rotation, inertia, the new state.

Its six degrees of freedom are the place of its centre of mass and a rotation vector in the world's frame; the attitude
itself is a quaternion in `Rigids`, so that the last three of q stay 0.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.entries import put, put_block
from sennit.bodies.kernels.momentum import add_momentum, add_to_group
from sennit.bodies.rigid.kernels.rotation import (
    free_rotation, free_rotation_bdf2, omega_from_momentum, world_inertia,
)  # fmt: skip
from sennit.compilation import inlined, kernel, merged
from sennit.geometry.kernels.algebra import (
    cross3, mat_vec, quat_exp, quat_log, quat_matrix, quat_mul, quat_normalised, row9,
    scale3, sub3,
)  # fmt: skip
from sennit.bodies.kernels.frames import get3


@inlined
def get4(field, i):
    return field[i, 0], field[i, 1], field[i, 2], field[i, 3]


@inlined
def put4(field, i, a):
    field[i, 0], field[i, 1], field[i, 2], field[i, 3] = a


@merged
def list_entries(rigids, n, row, col, slot):
    """Entries of the 6×6 blocks, from number `n` on."""
    for body in range(rigids.dof.size):
        o, at = rigids.dof[body], rigids.block[body]
        for a in range(6):
            for b in range(a, 6):
                n = put(n, o + a, o + b, at + 6 * a + b, row, col, slot)
    return n


@merged
def list_blocks(rigids, b, at, primal, start, kind):
    """A block of six unknowns each."""
    for _ in range(rigids.dof.size):
        b = put_block(b, at, primal, start, kind)
        at += 6
    return b, at


@merged
def predict(rigids, scheme, h, v, q_base):
    """Free rotation."""
    ratio = scheme.ratio[0]
    for body in range(rigids.dof.size):
        o = rigids.dof[body]
        for k in range(3, 6):
            q_base[o + k] = 0.0
        now, before = get4(rigids.quat, body), get4(rigids.quat_last, body)
        L, L_last = get3(rigids.spin, body), get3(rigids.spin_last, body)
        inertia, inverse = row9(rigids.inertia, body, 0), row9(rigids.inverse, body, 0)
        if ratio > 0.0:
            back = quat_mul(before, (now[0], -now[1], -now[2], -now[3]))
            turn = free_rotation_bdf2(quat_matrix(now), inverse, quat_log(back), L, L_last, h, ratio)
        else:
            turn = free_rotation(quat_matrix(now), inertia, (v[o + 3], v[o + 4], v[o + 5]), h)
        new = quat_normalised(quat_mul(quat_exp(turn), now))
        put4(rigids.quat_base, body, new)
        put4(rigids.quat_trial, body, new)
        for k in range(3):
            rigids.turned[body, k] = 0.0


@merged
def hold(rigids):
    """A static solve begins at the state."""
    for body in range(rigids.dof.size):
        put4(rigids.quat_base, body, get4(rigids.quat, body))
        put4(rigids.quat_trial, body, get4(rigids.quat, body))
        for k in range(3):
            rigids.turned[body, k] = 0.0


@kernel
def rotate_between(rigids, fraction):
    """Attitudes on the way from the state to the iterate."""
    for body in range(rigids.dof.size):
        old, new = get4(rigids.quat, body), get4(rigids.quat_trial, body)
        turn = quat_log(quat_mul(new, (old[0], -old[1], -old[2], -old[3])))
        put4(rigids.quat_eval, body, quat_mul(quat_exp(scale3(fraction - 1.0, turn)), new))


@merged
def assemble(rigids, step, trial, values):
    """Mass, inertia (at q̂), drag and gravity."""
    q_base, v_base, q, force, gravity = trial.q_base, trial.v_base, trial.q, trial.force, step.gravity
    weight, drag = step.mass_weight[0] + step.drag_weight[0], step.drag[0]
    for body in range(rigids.dof.size):
        o, at, mass = rigids.dof[body], rigids.block[body], rigids.mass[body]
        inertia = world_inertia(quat_matrix(get4(rigids.quat_base, body)), row9(rigids.inertia, body, 0))
        spin = (
            weight * rigids.turned[body, 0] + drag * v_base[o + 3],
            weight * rigids.turned[body, 1] + drag * v_base[o + 4],
            weight * rigids.turned[body, 2] + drag * v_base[o + 5],
        )
        torque = mat_vec(inertia, spin)
        for a in range(3):
            values[at + 7 * a] += weight * mass
            force[o + a] += mass * (gravity[0, a] - weight * (q[o + a] - q_base[o + a]) - drag * v_base[o + a])
            force[o + 3 + a] -= torque[a]
            for b in range(3):
                values[at + 6 * (3 + a) + 3 + b] += weight * inertia[3 * a + b]


@merged
def largest_turn(rigids, dq):
    """Largest rotation by `dq`, rad."""
    largest = 0.0
    for body in range(rigids.dof.size):
        o = rigids.dof[body] + 3
        largest = max(largest, math.sqrt(dq[o] * dq[o] + dq[o + 1] * dq[o + 1] + dq[o + 2] * dq[o + 2]))
    return largest


@kernel
def move(rigids, dq, q, quat, turned):
    """Turn by the last three of `dq`, a rotation vector in the world, which q does not keep."""
    for body in range(rigids.dof.size):
        o = rigids.dof[body] + 3
        turn = (dq[o], dq[o + 1], dq[o + 2])
        put4(quat, body, quat_normalised(quat_mul(quat_exp(turn), get4(quat, body))))
        for k in range(3):
            turned[body, k] += turn[k]
            q[o + k] = 0.0


@merged
def find_rates(rigids, scheme, v):
    """Angular momentum that the step gives, and the rate that follows from it, into `v`."""
    D, E, beta = scheme.d[0], scheme.e[0], scheme.beta[0]
    for body in range(rigids.dof.size):
        inertia = world_inertia(quat_matrix(get4(rigids.quat_base, body)), row9(rigids.inertia, body, 0))
        gain = mat_vec(inertia, get3(rigids.turned, body))
        for k in range(3):
            rigids.spin_trial[body, k] = D * rigids.spin[body, k] + E * rigids.spin_last[body, k] + beta * gain[k]
        o, m = rigids.dof[body], quat_matrix(get4(rigids.quat_trial, body))
        omega = omega_from_momentum(m, row9(rigids.inverse, body, 0), get3(rigids.spin_trial, body))
        v[o + 3], v[o + 4], v[o + 5] = omega


@merged
def accept(rigids, static):
    """Attitude and angular momentum of the iterate become the state's."""
    for body in range(rigids.dof.size):
        for k in range(3):
            rigids.spin_last[body, k] = rigids.spin[body, k]
            rigids.spin[body, k] = rigids.spin_trial[body, k] if static == 0 else 0.0
        put4(rigids.quat_last, body, get4(rigids.quat, body))
        put4(rigids.quat, body, get4(rigids.quat_trial, body))


@merged
def kinetic_energy(rigids, v, spin):
    """Of all rigid bodies with the rates v and angular momenta, J."""
    total = 0.0
    for body in range(rigids.dof.size):
        o, mass = rigids.dof[body], rigids.mass[body]
        for a in range(3):
            total += 0.5 * mass * v[o + a] * v[o + a] + 0.5 * spin[body, a] * v[o + 3 + a]
    return total


@merged
def weight_energy(rigids, q, gravity):
    """Of all rigid bodies against the origin, J."""
    total = 0.0
    for body in range(rigids.dof.size):
        o = rigids.dof[body]
        total -= rigids.mass[body] * (gravity[0] * q[o] + gravity[1] * q[o + 1] + gravity[2] * q[o + 2])
    return total


@merged
def weigh(rigids, q, groups):
    """Add masses and their first moments to the groups."""
    for body in range(rigids.dof.size):
        g, mass = groups.of_rigid[body], rigids.mass[body]
        groups.mass[g] += mass
        for k in range(3):
            groups.centre[g, k] += mass * q[rigids.dof[body] + k]


@merged
def add_to_groups(rigids, q, v, groups):
    """Add momenta, angular momenta and inertias to the groups'."""
    for body in range(rigids.dof.size):
        g, o = groups.of_rigid[body], rigids.dof[body]
        arm = sub3((q[o], q[o + 1], q[o + 2]), get3(groups.centre, g))
        add_to_group(rigids.mass[body], arm, (v[o], v[o + 1], v[o + 2]), groups, g)
        own = world_inertia(quat_matrix(get4(rigids.quat, body)), row9(rigids.inertia, body, 0))
        for k in range(3):
            groups.spin[g, k] += rigids.spin[body, k]
        for k in range(9):
            groups.inertia[g, k] += own[k]


@merged
def blend_motion(rigids, q, v, share, groups):
    """Rates become `share` times their own plus the rigid motion of the group."""
    for body in range(rigids.dof.size):
        g, o = groups.of_rigid[body], rigids.dof[body]
        turning = get3(groups.turning, g)
        lever = cross3(turning, sub3((q[o], q[o + 1], q[o + 2]), get3(groups.centre, g)))
        m = quat_matrix(get4(rigids.quat, body))
        gain = mat_vec(world_inertia(m, row9(rigids.inertia, body, 0)), turning)
        for k in range(3):
            v[o + k] = share * v[o + k] + groups.velocity[g, k] + lever[k]
            rigids.spin[body, k] = share * rigids.spin[body, k] + gain[k]
        omega = omega_from_momentum(m, row9(rigids.inverse, body, 0), get3(rigids.spin, body))
        v[o + 3], v[o + 4], v[o + 5] = omega


@merged
def energies(rigids, motion, gravity, out, first):
    """Kinetic and gravitational energy of each body, into the rows of `out` from `first` on, J."""
    q, v = motion.q, motion.v
    for body in range(rigids.dof.size):
        o, i = rigids.dof[body], first + body
        mass = rigids.mass[body]
        for a in range(3):
            out.kinetic[i] += 0.5 * mass * v[o + a] * v[o + a] + 0.5 * rigids.spin[body, a] * v[o + 3 + a]
            out.gravity[i] -= mass * gravity[a] * q[o + a]


@merged
def momenta(rigids, motion, out):
    """Add linear and angular momentum about the origin to out (6,)."""
    q, v = motion.q, motion.v
    for body in range(rigids.dof.size):
        o = rigids.dof[body]
        add_momentum(rigids.mass[body], (q[o], q[o + 1], q[o + 2]), (v[o], v[o + 1], v[o + 2]), out)
        for k in range(3):
            out[3 + k] += rigids.spin[body, k]
