"""One row of a constraint, and the table of a scene's rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, whole

__all__ = ["Row", "Rows"]


@dataclass(frozen=True)
class Row:
    """One row of a constraint, in the terms of `kernels.rows`."""

    kind: int
    axis: ArrayLike = (0.0, 0.0, 0.0)
    other: ArrayLike = (0.0, 0.0, 0.0)
    zero: ArrayLike = (0.0, 0.0, 0.0)
    """Direction, carried by the second point, from which an angle is measured."""
    relative: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    """Quaternion of the rotation that is kept."""
    target: float = 0.0
    loop: float = 0.0
    """Length of the closed rod that two beads share, m; 0 on an open one."""
    lead: float = 0.0
    """Metres per radian of a screw."""
    bound: Literal["equal", "at_most", "at_least"] = "equal"
    speed: float | None = None
    """Drives the row's value at this rate, instead of holding it."""
    limit: float = math.inf
    """Largest |multiplier| of a driven row."""
    restitution: float = 0.0
    friction: float = 0.0
    """Coefficient of a friction row on a slider."""


class Rows(Table):
    """One row for each number that a constraint holds; see `kernels.rows` for the kinds."""

    kind = whole(PLAN, "kind of the row")
    first = whole(PLAN, "its point p")
    second = whole(PLAN, "its point q")
    owner = whole(PLAN, "number of the constraint")
    dual = whole(PLAN, "number of its unknown; -1: it has bounds, and is found after the factorisation")
    slider = whole(PLAN, "slider whose pressure bounds its friction; -1: none")
    rate = whole(PLAN, "1: it acts on the step's displacement, 0: on its value")

    enabled = whole(PARAMETER, "1 while it is switched on")
    axis = number(PARAMETER, "direction d, carried by q (or fixed in the world)", 3)
    other = number(PARAMETER, "direction b, carried by p", 3)
    zero = number(PARAMETER, "direction e, carried by q, from which an angle is measured", 3)
    relative = number(PARAMETER, "quaternion C of the rotation that is kept", 4)
    target = number(PARAMETER, "value c that is held, m or rad")
    loop = number(PARAMETER, "length of the closed rod that two beads share, m; 0 on an open one")
    lead = number(PARAMETER, "metres per radian of a screw")
    compliance = number(PARAMETER, "m/N or rad/(N·m); infinite: only the damper acts")
    damping = number(PARAMETER, "N·s/m or N·m·s")
    lower = number(PARAMETER, "least multiplier of a row with bounds")
    upper = number(PARAMETER, "largest multiplier of a row with bounds")
    friction = number(PARAMETER, "Coulomb's coefficient")
    restitution = number(PARAMETER, "speed after a shock over speed before")
    speed = number(PARAMETER, "rate of a driven row, m/s or rad/s")
    sign = number(PARAMETER, "-1 for a row that must not grow, else 1")
    spare = number(PARAMETER, "compliance given to a row that others make redundant")
    closing = number(PARAMETER, "largest speed at which a gap is closed that a target's jump opens, m/s or rad/s")

    multiplier = number(STATE, "force N, or torque N·m")
    value = number(STATE, "value at the last accepted state, less `ahead`")
    value_last = number(STATE, "value one state before")
    angle = number(STATE, "angle with its turns, of a row that counts them, rad")
    side = number(STATE, "side of its bounds: -1, 0, 1")
    ahead = number(STATE, "how far its target is ahead of where the step leads it to, m or rad")
    acted = whole(STATE, "1 if it was switched on in the last step")

    side_before = number(WORK, "side of its bounds when the step begins")
    force_before = number(WORK, "multiplier when the step begins")
    target_seen = number(WORK, "its target in the last step")
    spare_share = number(WORK, "its spare compliance over what it would be without the others")
    gave = whole(WORK, "1: it has bounds, and gave way to rows that contradict it")
    pace = number(WORK, "rate that a driven row can have in this step, m/s or rad/s")
    stalled = number(WORK, "how far a driven row is held back in this step, m or rad")
    give = number(WORK, "compliance of a driven row while it is held back")
    rebound = number(WORK, "largest gap that a shock may leave a row with, m or rad")
    driven = whole(WORK, "1: its gap was made from outside, so that closing it is work put in")
    gap = number(WORK, "by how far the target is ahead where the whole step begins")
    gap_after = number(WORK, "and where it ends")
    origin = number(WORK, "value where the step begins, seen from the target itself")
    tolerance = number(WORK, "largest miss of a step that is accepted, m or rad")
    start = number(WORK, "value where the step begins")
    heading = number(WORK, "x_p − x_q where the step begins, of a distance that only keeps apart; else 0", 3)
    predicted = number(WORK, "value after free flight")
    wanted = number(WORK, "right side e of the solve")
    softness = number(WORK, "Σ of the solve")
    found = number(WORK, "multiplier that the solve found")
    gain = number(WORK, "1/(1 − γΣ) of an anchored row, else 1")
    g = number(WORK, "value at the iterate less `ahead`, times the sign")
    force = number(WORK, "force on p of a unit multiplier", 3)
    moment = number(WORK, "moment on p of a unit multiplier, m", 3)
    turned = number(WORK, "angle with its turns at the iterate, of a row that counts them, rad")
    has_arm = number(WORK, "1 if q takes the moment of the arm between the points")
