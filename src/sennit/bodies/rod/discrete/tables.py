"""The tables of discrete rods. Rows of bending and of stretching are edges."""

from __future__ import annotations

from sennit.bodies.rod.table import RodKind
from sennit.tables import PARAMETER, STATE, Table, number, table

__all__ = ["BendStates", "Bends", "Discretes", "Stretches"]


class Bends(Table):
    """One row for each edge: the node at which it starts, where the rod bends; that of a rod's first edge is unused."""

    weight = number(PARAMETER, "weight w of the node: 1, or 3/2 next to an end")
    speed = number(PARAMETER, "mean length l of its two edges at rest, m")
    rest = number(PARAMETER, "strains κ̂1, κ̂2, τ̂ at rest, 1/m", 3)
    stiffness = number(
        PARAMETER, "E I1 about d1, E I2 about d2, G J, N·m²: read by each step, may change between two of them", 3
    )
    relaxation = number(PARAMETER, "relaxation time of its damping, s")


class BendStates(Table):
    """One row for each edge: its frame on a shape, and what belongs to the node at which it starts."""

    tangent = number(STATE, "t", 3)
    reference = number(STATE, "u1, on which the roll is counted", 3)
    twist = number(STATE, "m: angle from the u1 of the edge before, carried to this edge, rad")
    strain = number(STATE, "κ1, κ2, τ of the last accepted shape, 1/m", 3)


class Stretches(Table):
    """One row for each edge."""

    speed = number(PARAMETER, "length J at rest, m")
    stiffness = number(PARAMETER, "EA, N: read by each step, may change between two of them")
    relaxation = number(PARAMETER, "relaxation time of its damping, s")


class Discretes(RodKind):
    """All discrete rods of a scene, or one of its own."""

    bends = table(Bends, "their edges and nodes")
    bend = table(BendStates, "frames and strains of the state")
    bend_trial = table(BendStates, "those of the iterate")
    bend_way = table(BendStates, "those on the way to the iterate")
    stretches = table(Stretches, "their edges")
