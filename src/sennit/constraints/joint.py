"""Joints with one freedom left, with limits and motors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import unchanging
from sennit.bodies.point.point import Point
from sennit.constraints.constraint import (
    AbstractConstraint,
    Row,
    across,
    in_frame,
    relative_rotation,
    tilt_rows,
)  # fmt: skip
from sennit.constraints.kernels.rows import ANGLE, APART, ROTATE, SCREW, TRANSLATE
from sennit.constraints.place import framed
from sennit.constraints.softness import Softness
from sennit.errors import InputError
from sennit.validation import quoted

__all__ = ["Hinge", "Motor", "Prismatic", "Screw"]

_AXES = np.eye(3)


@unchanging
@dataclass(frozen=True)
class Motor:
    """Drives a Hinge at `speed` (rad/s) with at most `max_torque` (N·m), a Prismatic (m/s) with `max_force` (N)."""

    speed: float = 0.0
    max_torque: float = math.inf
    max_force: float = math.inf

    def __post_init__(self) -> None:
        validation.number("speed", self.speed)
        for name in ("max_torque", "max_force"):
            value = getattr(self, name)
            if not validation.infinite(value):
                validation.number(name, value, minimum=0.0)


def _checked_limits(limits: ArrayLike | None, unit: str) -> tuple[float, float] | None:
    if limits is None:
        return None
    low, high = validation.array("limits", limits, (2,)).tolist()
    if not low < high:
        raise InputError(f"limits must be (lowest, highest) in {unit}, lowest below highest, got {quoted(limits)}")
    return low, high


def _checked_motor(motor: object) -> Motor | None:
    if motor is None or isinstance(motor, Motor):
        return motor
    if isinstance(motor, bool):
        raise InputError(f"motor must be a sennit.Motor or a speed, got {quoted(motor)}")
    return Motor(speed=validation.number("motor", motor))


class _Driven(AbstractConstraint):
    """A joint with a coordinate of its own, whose motor's speed can be set."""

    _coordinate: int
    """Row that measures the freedom: a limit or the motor; -1 if there is none."""
    _motor_row: int
    _soft_rows = 5  # softness is the joint's; its stops and motor are firm
    _kept = {"_motor_row": "row", "_coordinate": "row"}

    @property
    def driven(self) -> bool:
        """Whether it has a motor."""
        return self._motor_row >= 0

    @property
    def motor_speed(self) -> float:
        """Speed that the motor drives at, rad/s or m/s. Can be set while running, if the joint was made with one."""
        if self._motor_row < 0:
            raise InputError(f"{self.name} has no motor: make it with motor=sennit.Motor(speed=...)")
        return float(self._rows.speed[self._motor_row])

    @motor_speed.setter
    def motor_speed(self, value: float) -> None:
        if self._motor_row < 0:
            raise InputError(f"{self.name} has no motor: make it with motor=sennit.Motor(speed=...)")
        self._rows.speed[self._motor_row] = validation.number("motor_speed", value)

    @property
    def motor_effort(self) -> float:
        """Torque (N·m) or force (N) of the motor along the axis, on the first point."""
        return float(self._rows.multiplier[self._motor_row]) if self._motor_row >= 0 else 0.0


class Hinge(_Driven):
    """Join two points so that they turn about one axis: 5 rows.

    `axis`: world frame now, then carried by q. `limits`: (lowest, highest) angle of p against q from the present one,
    rad. `motor`: a `Motor`, or a speed in rad/s. Positive is counter-clockwise about the axis.
    """

    _kept = {**_Driven._kept, "_angle_axis": "directions", "_angle_side": "directions"}

    def __init__(
        self, p: Point, q: Point, axis: ArrayLike, *, limits: ArrayLike | None = None,
        motor: Motor | float | None = None,
        compliance: float = 0.0, damping: float = 0.0, angular_compliance: float = 0.0, angular_damping: float = 0.0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        first, second = framed("p", p, "Hinge"), framed("q", q, "Hinge")
        d = validation.direction("axis", axis)
        side, _ = across(d)
        bounds, drive = _checked_limits(limits, "rad"), _checked_motor(motor)
        if bounds is not None and drive is not None and drive.max_torque == math.inf:
            raise InputError("a motor of unlimited torque would break the limits: give Motor(..., max_torque=)")
        own = in_frame(first, d)
        angle = {"axis": in_frame(second, d), "other": in_frame(first, side), "zero": in_frame(second, side)}
        rows = [Row(APART, axis=axis_) for axis_ in _AXES]
        rows += tilt_rows(second, d, own)
        if bounds is not None:
            rows += [Row(ANGLE, target=bounds[0], bound="at_least", **angle)]  # type: ignore[arg-type]
            rows += [Row(ANGLE, target=bounds[1], bound="at_most", **angle)]  # type: ignore[arg-type]
        self._motor_row = -1
        if drive is not None:
            self._motor_row = len(rows)
            rows += [Row(ANGLE, speed=drive.speed, limit=drive.max_torque, **angle)]  # type: ignore[arg-type]
        self._coordinate = 5 if len(rows) > 5 else -1
        self._angle_axis, self._angle_side = (own, in_frame(first, side)), (in_frame(second, d), in_frame(second, side))
        softness = Softness.checked(compliance, damping, angular_compliance, angular_damping)
        super().__init__(first, second, rows, softness, name)

    @property
    def angle(self) -> float:
        """Angle of p against q since the joint was made, rad; whole turns count if it has limits or a motor."""
        if self._coordinate >= 0:
            return float(self._rows.angle[self._coordinate])
        p, q = self._points
        d = q.frame @ self._angle_side[0]
        b, e = p.frame @ self._angle_axis[1], q.frame @ self._angle_side[1]
        return math.atan2(float(d @ np.cross(e, b)), float(e @ b))


class Prismatic(_Driven):
    """Join two points so that p moves along one axis of q, without turning: 5 rows.

    `axis`: world frame now, then carried by q. `limits`: (lowest, highest) displacement from the present one, m.
    `motor`: a `Motor`, or a speed in m/s.
    """

    _kept = {**_Driven._kept, "_axis": "direction", "_start": "number"}

    def __init__(
        self, p: Point, q: Point, axis: ArrayLike, *, limits: ArrayLike | None = None,
        motor: Motor | float | None = None,
        compliance: float = 0.0, damping: float = 0.0, angular_compliance: float = 0.0, angular_damping: float = 0.0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        first, second = framed("p", p, "Prismatic"), framed("q", q, "Prismatic")
        d = validation.direction("axis", axis)
        bounds, drive = _checked_limits(limits, "m"), _checked_motor(motor)
        if bounds is not None and drive is not None and drive.max_force == math.inf:
            raise InputError("a motor of unlimited force would break the limits: give Motor(..., max_force=)")
        away = first.position - second.position
        turn = relative_rotation(first, second)
        rows = [Row(TRANSLATE, axis=in_frame(second, a), target=float(a @ away)) for a in across(d)]
        rows += [Row(ROTATE, axis=axis_, relative=turn) for axis_ in _AXES]
        start = float(d @ away)
        along = in_frame(second, d)
        self._axis, self._start = along, start
        if bounds is not None:
            rows += [Row(TRANSLATE, axis=along, target=start + bounds[0], bound="at_least")]
            rows += [Row(TRANSLATE, axis=along, target=start + bounds[1], bound="at_most")]
        self._motor_row = -1
        if drive is not None:
            self._motor_row = len(rows)
            rows += [Row(TRANSLATE, axis=along, target=start, speed=drive.speed, limit=drive.max_force)]
        self._coordinate = -1
        softness = Softness.checked(compliance, damping, angular_compliance, angular_damping)
        super().__init__(first, second, rows, softness, name)

    @property
    def stops(self) -> tuple[float, float] | None:
        """Lowest and highest coordinate of p along the axis from q, m; None without limits."""
        return (self._row_target(5), self._row_target(6)) if len(self._rows) >= 7 else None

    @property
    def displacement(self) -> float:
        """How far p has moved along the axis since the joint was made, m."""
        p, q = self._points
        return float((q.frame @ self._axis) @ (p.position - q.position)) - self._start


class Screw(AbstractConstraint):
    """Join two points so that p moves along one axis of q as it turns about it: 5 rows, of which the last is

        d·(x_p − x_q) − c = lead θ / 2π,

    θ the angle of p against q about d with its whole turns. Without friction: a force f along d on p goes with the
    torque −lead f / 2π about it.

    `axis`: d, world frame now, then carried by q. `lead`: metres along d a turn, > 0 right-handed, < 0 left-handed.
    """

    def __init__(
        self, p: Point, q: Point, axis: ArrayLike, *, lead: float,
        compliance: float = 0.0, damping: float = 0.0, angular_compliance: float = 0.0, angular_damping: float = 0.0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        first, second = framed("p", p, "Screw"), framed("q", q, "Screw")
        d = validation.direction("axis", axis)
        rate = validation.number("lead", lead) / (2.0 * math.pi)
        if rate == 0.0:
            raise InputError(f"lead must not be 0, got {quoted(lead)}: without a lead a screw is a Hinge")
        away = first.position - second.position
        along, own = in_frame(second, d), in_frame(first, d)
        side, _ = across(along)  # in q's frame: the same however both lie in the world
        angle = {"axis": along, "other": in_frame(first, second.frame @ side), "zero": side}
        rows = [Row(TRANSLATE, axis=in_frame(second, a), target=float(a @ away)) for a in across(d)]
        rows += tilt_rows(second, d, own)
        rows += [Row(SCREW, target=float(d @ away), lead=rate, **angle)]  # type: ignore[arg-type]
        softness = Softness.checked(compliance, damping, angular_compliance, angular_damping)
        super().__init__(first, second, rows, softness, name)

    @property
    def lead(self) -> float:
        """How far p moves along the axis a turn, m; negative if left-handed."""
        return 2.0 * math.pi * float(self._rows.lead[4])

    @property
    def angle(self) -> float:
        """Angle of p against q since the joint was made, rad; whole turns count."""
        return float(self._evaluated()[0].turned[4])

    @property
    def displacement(self) -> float:
        """How far p has moved along the axis since the joint was made, m."""
        p, q = self._points
        return float((q.frame @ self._row_axis(4)) @ (p.position - q.position)) - self._row_target(4)
