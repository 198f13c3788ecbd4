"""The tables of a scene's points: what they belong to, and where they are."""

from __future__ import annotations

from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, whole

__all__ = ["Frames", "Places", "Points"]


class Points(Table):
    """One row for each point: its body, and how it hangs on the body's degrees of freedom."""

    kind = whole(PLAN, "kind of body that it belongs to, see `bodies.kernels.points`")
    body = whole(PLAN, "number of the body among those of its kind")
    base = whole(PLAN, "first degree of freedom of the rod, the rigid body, or of a zone's place")
    block = whole(PLAN, "where the body's part of the matrix begins; of a zone's place, where its diagonal does")
    # on a rod
    first = whole(PLAN, "first of the four control points that move it; of a slider, its span")
    count = whole(PLAN, "control points of the rod")
    basis = number(STATE, "weights N of the four control points", 4)
    slope_basis = number(STATE, "their derivatives N' by the rod's parameter", 4)
    bend_basis = number(STATE, "their second derivatives N''", 4)
    roll_basis = number(STATE, "weights of the four rolls", 4)
    # of a slider
    slide = whole(PLAN, "degree of freedom along the rod (-1: none)")
    slots = whole(PLAN, "where the numbers of the slider's own row begin in the matrix")
    scale = number(STATE, "du/dσ: rod parameter per metre of rest length, 1/m")
    # on a rigid body, in the world, on a zone
    local = number(PARAMETER, "place in the rigid body's frame, or off a rod's axis in the frame of its section, m", 3)
    anchor = number(PARAMETER, "place in the world or, of a zone's point, in its carrier's frame, m", 3)
    anchor_frame = number(PARAMETER, "frame there, row by row", 9)
    anchor_last = number(STATE, "of a world point, where it was when the state was reached, m", 3)
    anchor_frame_last = number(STATE, "its frame then, row by row", 9)
    # on a zone
    numbers = whole(PLAN, "degrees of freedom of the place: 3, or 6 with an area")
    row_length = whole(PLAN, "degrees of freedom of its zone: length of a row of the zone's block")
    carrier = whole(PLAN, "number of the rigid body that carries the zone (-1: the world)")
    carrier_dof = whole(PLAN, "first degree of freedom of that body (-1: none)")
    carrier_block = whole(PLAN, "where that body's part of the matrix begins")
    carrier_point = whole(PLAN, "the point of the world that carries the zone")
    felt = number(PARAMETER, "mass that one of the ties there may reckon with, kg")


class Frames(Table):
    """Tangent and reference vector of each point of a rod: carried from shape to shape without turning about it."""

    tangent = number(STATE, "unit tangent", 3)
    reference = number(STATE, "unit vector across it, from which the roll is measured", 3)


class Places(Table):
    """Where points are, and what the pull-back of a wrench needs: written by `evaluate_point`."""

    position = number(WORK, "m, world frame", 3)
    frame = number(WORK, "axes d1, d2, d3 as columns, row by row", 9)
    arm = number(WORK, "from the origin of the rigid body or of a zone's carrier, or a rod's axis, to the point, m", 3)
    speed = number(WORK, "|r'| of a rod's curve by its parameter, m")
    slope = number(WORK, "dr/dσ of a slider", 3)
    bend = number(WORK, "dr'/dσ of a slider, m", 3)
    carry = number(WORK, "frame R of a zone's carrier, row by row", 9)
    swing = number(WORK, "R J(θ), which turns a patch's rates into an angular velocity, row by row", 9)
