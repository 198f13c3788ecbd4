"""The table of what slides along rods."""

from __future__ import annotations

from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, whole

__all__ = ["Sliders"]


class Sliders(Table):
    """One row for each slider."""

    rod = whole(PLAN, "number of its rod among the splines")
    dof = whole(PLAN, "its degree of freedom σ")
    point = whole(PLAN, "its point")
    slots = whole(PLAN, "where its row begins in the matrix")
    span = whole(PLAN, "span of the rod for which the matrix was analysed")
    give = number(PLAN, "compliance of its drive while that is held back, m/N")
    mass = number(PARAMETER, "kg")
    drag = number(PARAMETER, "viscous resistance to sliding, N·s/m")
    scale = number(PARAMETER, "du/dσ: rod parameter per metre of rest length, 1/m")
    attached = whole(STATE, "1 while it is on its rod")
    position = number(STATE, "m", 3)
    velocity = number(STATE, "m/s", 3)
    position_last = number(STATE, "of the state before, m", 3)
    velocity_last = number(STATE, "of the state before, m/s", 3)
    position_base = number(WORK, "after free flight, m", 3)
    velocity_base = number(WORK, "rate V̂ of the scheme, m/s", 3)
    drive = whole(WORK, "row that drives it; -1: none")
    first_stop = whole(WORK, "row of the rod's start that stops it; -1: none")
    last_stop = whole(WORK, "row of the rod's end that stops it; -1: none")
    last_row = whole(WORK, "row that keeps it from the one before it; -1: none")
    next_row = whole(WORK, "row that keeps it from the one after it; -1: none")
    way = number(WORK, "how far its drive takes it along the rod in the step, m")
    landed = number(WORK, "where the linearised solve puts it, m", 3)
    velocity_trial = number(WORK, "velocity that the step gives it, m/s", 3)
