"""The rigid part of a rod's motion in a step, by which its frames are turned before they are carried on.

The roll that must follow ω·t is no spline, and a tumbling rod would wind up. A rod that a row holds by its direction
does not turn as a whole; there the turn would do the harm that it cures (`tumbles` is 0). Roll rates are those of the
material, so that the turn ρ·t is taken off the predicted roll.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, cross3, dot3, inverse3, mat_vec, scale3


@kernel
def rigid_turn(rod, kind, q, q_new):
    """Rotation vector of the rigid part of a rod's motion from q to q_new, from its control points.

    ω solves Σ(|ρ|² − ρρᵀ) ω = Σ ρ × Δx; a straight rod's spin about itself is not seen and left out.
    """
    dof, n = kind.rods.dof[rod], kind.rods.count[rod]
    cx = cy = cz = ux = uy = uz = 0.0
    for i in range(n):
        o = dof + 4 * i
        cx += q[o]
        cy += q[o + 1]
        cz += q[o + 2]
        ux += q_new[o] - q[o]
        uy += q_new[o + 1] - q[o + 1]
        uz += q_new[o + 2] - q[o + 2]
    k = 1.0 / n
    center, drift = (k * cx, k * cy, k * cz), (k * ux, k * uy, k * uz)
    xx = yy = zz = xy = xz = yz = 0.0
    spin = (0.0, 0.0, 0.0)
    for i in range(n):
        o = dof + 4 * i
        x, y, z = q[o] - center[0], q[o + 1] - center[1], q[o + 2] - center[2]
        shift = (q_new[o] - q[o] - drift[0], q_new[o + 1] - q[o + 1] - drift[1], q_new[o + 2] - q[o + 2] - drift[2])
        spin = add3(spin, cross3((x, y, z), shift))
        xx += x * x
        yy += y * y
        zz += z * z
        xy += x * y
        xz += x * z
        yz += y * z
    floor = 1e-6 * (xx + yy + zz)
    tensor = (yy + zz + floor, -xy, -xz, -xy, xx + zz + floor, -yz, -xz, -yz, xx + yy + floor)
    inverse, _ = inverse3(tensor)
    turn = mat_vec(inverse, spin)
    y = math.sqrt(dot3(turn, turn))
    # Free flight along straight lines turns a chord by atan of what the angular velocity would.
    return scale3(math.atan(y) / y, turn) if y > 0.0 else turn


@kernel
def find_turn(rod, kind, turning, q, q_base):
    """Write a rod's `turn` from the shape q to where free flight takes it, q_base, and return it.

    `turning` 0 leaves all frames as they are. The rolls of free flight are kept in `flown`, for `shift_rolls`.
    """
    rods, masses = kind.rods, kind.masses
    first, at = rods.mass_first[rod], rods.dof[rod] + 3
    for i in range(rods.count[rod]):
        masses.flown[first + i] = q_base[at + 4 * i]
    turn = (0.0, 0.0, 0.0)
    if turning == 1 and rods.tumbles[rod] == 1:
        turn = rigid_turn(rod, kind, q, q_base)
    rods.turn[rod, 0], rods.turn[rod, 1], rods.turn[rod, 2] = turn
    return turn


@inlined
def roll_of_turn(turn, start, end, q):
    """The part of a turn about the chord between the control points whose first degrees of freedom are given, rad."""
    chord = (q[end] - q[start], q[end + 1] - q[start + 1], q[end + 2] - q[start + 2])
    return dot3(chord, turn) / math.sqrt(dot3(chord, chord))


@kernel
def shift_rolls(kind, static, q, q_base):
    """Make the rolls in q those before the step as the turned frames see them, which `predict` took off q_base."""
    rods, masses = kind.rods, kind.masses
    for rod in range(rods.dof.size):
        for i in range(rods.count[rod]):
            o = rods.dof[rod] + 4 * i + 3
            q[o] += q_base[o] - masses.flown[rods.mass_first[rod] + i] if static == 0 else 0.0
