"""What a scene asks of its spline rods. The functions of `bodies.rod.discrete.kernels.kind` have the same names.

`kind` is the scene's table of `Splines`, `rod` a row of its rods. Functions of one rod are those of `strain` and
`forces`; the others below go through all of them.
"""

from __future__ import annotations

from sennit.bodies.rod.kernels.inertia import add_inertia as add_inertia
from sennit.bodies.rod.kernels.inertia import (
    add_rod_momenta, add_rod_to_group, blend_rod_motion, kinetic_bound as kinetic_bound,
    kinetic_energy as kinetic_energy, shift as shift, weigh as weigh, weight_energy as weight_energy,
)  # fmt: skip
from sennit.bodies.rod.kernels.strain import extrapolate_strains, hold_strains, keep_strains
from sennit.bodies.rod.kernels.strain import place_tensions as place_tensions
from sennit.bodies.rod.kernels.turn import find_turn, roll_of_turn
from sennit.bodies.rod.kernels.turn import shift_rolls as shift_rolls
from sennit.bodies.rod.spline.kernels.forces import assemble as assemble
from sennit.bodies.rod.spline.kernels.strain import (
    accept_strains as accept_strains, carry_frames as carry_frames, copy_frame, energy as energy,
    find_strains as find_strains, largest_turn as largest_turn, missed_energy as missed_energy,
    rotate_frames as rotate_frames, update_tensions as update_tensions,
)  # fmt: skip
from sennit.compilation import kernel
from sennit.geometry.kernels.algebra import quat_exp, quat_matrix


@kernel
def predict(kind, turning, memory, q, q_base):
    """Trial frames and tensions where free flight takes the rods, q_base, from which the turn's roll is taken off.

    `turning` 0 leaves frames as they are; `memory`: see `extrapolate_strains`.
    """
    rods = kind.rods
    for rod in range(rods.dof.size):
        turn = find_turn(rod, kind, turning, q, q_base)
        dof, n = rods.dof[rod], rods.count[rod]
        for i in range(n):
            lo, hi = max(i - 1, 0), min(i + 1, n - 1)
            if rods.closed[rod] == 1:
                lo, hi = (i + n - 1) % n, (i + 1) % n
            q_base[dof + 4 * i + 3] -= roll_of_turn(turn, dof + 4 * lo, dof + 4 * hi, q)
        extrapolate_strains(rod, kind, memory)
        rotate_frames(rod, kind, kind.bend, kind.bend_trial, quat_matrix(quat_exp(turn)))


@kernel
def hold(kind):
    """Trial frames and tensions of a static solve begin at the state."""
    for row in range(kind.bend.twist.size):
        copy_frame(row, kind.bend, kind.bend_trial)
    hold_strains(kind)


@kernel
def carry(kind, q):
    """Trial frames of every rod carried on, in place, to the shape q."""
    for rod in range(kind.rods.dof.size):
        carry_frames(rod, kind, q, kind.bend_trial, kind.bend_trial)


@kernel
def accept(kind, q):
    """Make the trial frames, which are carried to q, and the trial tensions the state, with the strains of q."""
    keep_strains(kind)
    for row in range(kind.bend.twist.size):
        copy_frame(row, kind.bend_trial, kind.bend)
    for rod in range(kind.rods.dof.size):
        accept_strains(rod, kind, q, kind.bend, kind.stretch)


@kernel
def add_momenta(rod, kind, q, v, out):
    """Add a rod's linear momentum and angular momentum about the origin to `out` (6,)."""
    add_rod_momenta(rod, kind, kind.rods.count[rod], False, q, v, out)


@kernel
def add_to_group(rod, kind, q, v, groups, g):
    """Add a rod's momentum, angular momentum and inertia to its group's."""
    add_rod_to_group(rod, kind, kind.rods.count[rod], False, q, v, groups, g)


@kernel
def blend_motion(rod, kind, q, v, share, groups, g):
    """Rates become `share` times their own plus the rigid motion of the group."""
    blend_rod_motion(rod, kind, kind.rods.count[rod], False, q, v, share, groups, g)
