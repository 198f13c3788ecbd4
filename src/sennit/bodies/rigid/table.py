"""The table of rigid bodies."""

from __future__ import annotations

from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, whole

__all__ = ["Rigids"]


class Rigids(Table):
    """One row for each rigid body."""

    dof = whole(PLAN, "its first degree of freedom, of six")
    block = whole(PLAN, "where its 6×6 block begins in the matrix")
    mass = number(PARAMETER, "kg")
    inertia = number(PARAMETER, "about the centre of mass in the body's frame, kg·m², row by row", 9)
    inverse = number(PARAMETER, "its inverse, row by row", 9)
    quat = number(STATE, "attitude, a unit quaternion with the scalar first", 4)
    spin = number(STATE, "angular momentum about the centre of mass, world frame, N·m·s", 3)
    quat_last = number(STATE, "attitude of the state before", 4)
    spin_last = number(STATE, "angular momentum of the state before", 3)
    quat_base = number(WORK, "attitude after free rotation", 4)
    quat_trial = number(WORK, "attitude of the iterate", 4)
    quat_eval = number(WORK, "attitude where forces are evaluated on the way", 4)
    turned = number(WORK, "rotation vector of the iterate since free rotation, rad", 3)
    spin_trial = number(WORK, "angular momentum that the step gives it, N·m·s", 3)
