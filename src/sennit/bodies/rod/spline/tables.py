"""The tables of spline rods."""

from __future__ import annotations

from sennit.bodies.rod.table import RodKind
from sennit.tables import PARAMETER, PLAN, STATE, WORK, Field, Table, number, table, whole

__all__ = ["BendStates", "Bends", "Halfway", "Splines", "Stretches"]


class Bends(Table):
    """One row for each integration point of bending and twist."""

    span = whole(PLAN, "first control point of its span")
    weight = number(PARAMETER, "weight w of the integration by u")
    speed = number(PARAMETER, "J = |r0′| at rest, m")
    basis = number(PARAMETER, "N of the span's control points", 4)
    slope_basis = number(PARAMETER, "N′", 4)
    bend_basis = number(PARAMETER, "N″", 4)
    rest = number(PARAMETER, "strains κ̂1, κ̂2, τ̂ at rest, 1/m", 3)
    stiffness = number(
        PARAMETER, "E I1 about d1, E I2 about d2, G J, N·m²: read by each step, may change between two of them", 3
    )
    relaxation = number(PARAMETER, "relaxation time of its damping, s")


class BendStates(Table):
    """One row for each bending point: its frame on a shape, and strains."""

    tangent = number(STATE, "t", 3)
    reference = number(STATE, "u1, on which the roll is counted", 3)
    bending = number(STATE, "t′", 3)
    twist = number(STATE, "m: twist of u1 along the rod, rad per u")
    strain = number(STATE, "κ1, κ2, τ of the last accepted shape, 1/m", 3)


class Stretches(Table):
    """One row for each integration point of stretching."""

    span = whole(PLAN, "first control point of its span")
    weight = number(PARAMETER, "weight w of the integration by u")
    speed = number(PARAMETER, "J = |r0′| at rest, m")
    slope_basis = number(PARAMETER, "N′ of the span's control points", 4)
    stiffness = number(PARAMETER, "EA, N: read by each step, may change between two of them")
    relaxation = number(PARAMETER, "relaxation time of its damping, s")


class Halfway(Table):
    """One row for each control point: places half-way between stretching points, where folds show.

    Of a closed rod, the knots. Of an open one of n control points, the n − 2 knots, but the middles of the end spans
    for the first and last of them; then the two ends.
    """

    span = whole(PLAN, "first control point of its span")
    speed = number(PARAMETER, "J = |r0′| at rest, m")
    slope_basis = number(PARAMETER, "N′ of the span's control points", 4)


class Splines(RodKind):
    """All spline rods of a scene, or one of its own."""

    bends = table(Bends, "their bending points")
    bend = table(BendStates, "frames and strains of the state")
    bend_trial = table(BendStates, "those of the iterate")
    bend_way = table(BendStates, "those on the way to the iterate")
    stretches = table(Stretches, "their stretching points")
    halfway = table(Halfway, "places half-way between stretching points")
    span_block = Field(WORK, "room for the force and stiffness of four spans, see `kernels.forces`", float, (412, 4))
