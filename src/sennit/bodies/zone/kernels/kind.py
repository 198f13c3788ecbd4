"""What a zone does in a step: the elastic force of the places that are held."""

from __future__ import annotations

from sennit.bodies.kernels.entries import put, put_block
from sennit.compilation import merged


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
def stored_energy(zones, q):
    """½ uᵀKu of all zones, J."""
    total = 0.0
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
