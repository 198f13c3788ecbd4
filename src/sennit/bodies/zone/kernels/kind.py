"""What a zone does in a step: the elastic force of the places that are held."""

from __future__ import annotations

from sennit.bodies.kernels.entries import put, put_block
from sennit.bodies.kernels.frames import get3
from sennit.compilation import kernel, merged
from sennit.geometry.kernels.algebra import cross3, mat_t_vec, mat_vec, quat_matrix, row9


@merged
def list_entries(zones, n, row, col, slot):
    """Entries of the zones' dense blocks, from number `n` on."""
    for z in range(zones.dof.size):
        o, count, at = zones.dof[z], zones.count[z], zones.block[z]
        for a in range(count):
            for b in range(a, count):
                n = put(n, o + a, o + b, at + count * a + b, row, col, slot)
    return n


@merged
def list_blocks(zones, b, at, primal, start, kind):
    """A block for each place."""
    for place in range(zones.place_size.size):
        b = put_block(b, at, primal, start, kind)
        at += zones.place_size[place]
    return b, at


@kernel
def turn_of(z, zones, rigids, points, moved):
    """R of a zone's frame, at the state or (`moved`) at the iterate."""
    body = zones.carrier[z]
    if body < 0:
        return row9(points.anchor_frame, zones.point[z], 0)
    quat = rigids.quat_trial if moved else rigids.quat
    return quat_matrix((quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]))


@kernel
def moment_of_mass(z, zones, q, pull):
    """D = Bᵀu + A γ: by how far the weight displaces the centre of mass, times the mass, in the zone's frame, kg m."""
    o, n, first = zones.dof[z], zones.count[z], zones.number_first[z]
    d = mat_vec(row9(zones.give, z, 0), pull)
    x, y, w = d[0], d[1], d[2]
    for i in range(n):
        u = q[o + i]
        x += zones.borne[first + i, 0] * u
        y += zones.borne[first + i, 1] * u
        w += zones.borne[first + i, 2] * u
    return x, y, w


@merged
def add_weight(zones, rigids, points, gravity, trial):
    """Weight on the places of heavy zones, and what their displaced centres of mass turn their carriers by."""
    for z in range(zones.dof.size):
        if zones.heavy[z] == 0:
            continue
        m = turn_of(z, zones, rigids, points, True)
        pull = mat_t_vec(m, gravity)
        o, first = zones.dof[z], zones.number_first[z]
        for i in range(zones.count[z]):
            b = get3(zones.borne, first + i)
            trial.force[o + i] += b[0] * pull[0] + b[1] * pull[1] + b[2] * pull[2]
        if zones.carrier[z] >= 0:
            torque = mat_vec(m, cross3(moment_of_mass(z, zones, trial.q, pull), pull))
            for a in range(3):
                trial.force[zones.carrier_dof[z] + 3 + a] += torque[a]


@merged
def assemble(zones, step, trial, values):
    """Elastic and viscous force −K (u + τ u̇) of every zone on the places that are held, at the iterate.

    A zone has no inertia. Its force is that of the step's end in every scheme: the mean over the step, which "midpoint"
    takes of rods, would leave a zone under a load ringing for ever.
    """
    q, q_base, v_base, force = trial.q, trial.q_base, trial.v_base, trial.force
    per_time = step.strain_rate[0]
    for z in range(zones.dof.size):
        o, n, at, k0 = zones.dof[z], zones.count[z], zones.block[z], zones.stiffness_first[z]
        relaxation = zones.relaxation[z]
        stiff = 1.0 + relaxation * per_time
        for j in range(n):
            rate = v_base[o + j] + per_time * (q[o + j] - q_base[o + j])
            u = q[o + j] + relaxation * rate
            for i in range(n):
                force[o + i] -= zones.stiffness[k0 + n * j + i] * u
            for i in range(j, n):
                values[at + n * j + i] += stiff * zones.stiffness[k0 + n * j + i]


@merged
def find_mean_rates(zones, step, motion, trial):
    """Rates after a step of the mean force: 2Δ/h − v, which keeps the energy of a mass, would swing for ever here."""
    for z in range(zones.dof.size):
        for i in range(zones.dof[z], zones.dof[z] + zones.count[z]):
            trial.v[i] = (trial.q[i] - motion.q[i]) * step.strain_rate[0]


@merged
def weight_energy(zones, rigids, points, q, gravity, moved):
    """−γ·D of all heavy zones, J: of the weight of what is displaced, besides that of their carriers."""
    total = 0.0
    for z in range(zones.dof.size):
        if zones.heavy[z] != 0:
            pull = mat_t_vec(turn_of(z, zones, rigids, points, moved), gravity)
            d = moment_of_mass(z, zones, q, pull)
            total -= d[0] * pull[0] + d[1] * pull[1] + d[2] * pull[2]
    return total


@merged
def stored_energy(zones, rigids, points, q, gravity, moved):
    """½ uᵀKu of all zones, and ½ γᵀAγ of heavy ones, J."""
    total = 0.0
    for z in range(zones.dof.size):
        if zones.heavy[z] != 0:
            pull = mat_t_vec(turn_of(z, zones, rigids, points, moved), gravity)
            d = mat_vec(row9(zones.give, z, 0), pull)
            total += 0.5 * (d[0] * pull[0] + d[1] * pull[1] + d[2] * pull[2])
    for z in range(zones.dof.size):
        o, n, k0 = zones.dof[z], zones.count[z], zones.stiffness_first[z]
        for i in range(n):
            for j in range(n):
                total += 0.5 * zones.stiffness[k0 + n * i + j] * q[o + i] * q[o + j]
    return total


@merged
def slow(zones, v, share):
    """Rates become `share` times their own."""
    for z in range(zones.dof.size):
        for i in range(zones.dof[z], zones.dof[z] + zones.count[z]):
            v[i] *= share
