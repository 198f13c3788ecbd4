"""What all constraints have in common: rows between two points, switches, and the forces they apply."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.constraints.kernels.rows import (
    ANGLE,
    AXIS,
    COMPLIANCE,
    DAMPING,
    DUAL,
    ENABLED,
    FIRST,
    FRICTION,
    KIND,
    LAMBDA,
    LOWER,
    MU,
    OTHER,
    RATE,
    RELATIVE,
    RESTITUTION,
    ROTATE,
    ROW_FLOATS,
    ROW_INTS,
    ROW_STATE,
    ROW_WIDTH,
    ROW_WRENCH,
    SECOND,
    SIDE,
    SIGN,
    SPEED,
    SQUARE,
    TARGET,
    TURNS,
    UPPER,
    VALUE,
    VALUE_LAST,
    F,
    G,
    evaluate_rows,
    pull_rows,
)  # fmt: skip
from sennit.errors import InputError
from sennit.geometry.rotations import matrix_to_quaternion
from sennit.point.kernels.points import WIDTH, dof_of
from sennit.point.point import Point
from sennit.validation import FloatArray, quoted

__all__ = ["AbstractConstraint", "Row", "Softness"]

ANGULAR = (ROTATE, SQUARE, ANGLE)
"""Kinds of rows whose value is an angle and whose multiplier is a torque."""

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Row:
    """One row of a constraint, in the terms of `rows.kernels`."""

    kind: int
    axis: ArrayLike = (0.0, 0.0, 0.0)
    other: ArrayLike = (0.0, 0.0, 0.0)
    target: float = 0.0
    relative: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    bound: Literal["equal", "at_most", "at_least"] = "equal"
    speed: float | None = None
    """Drives the row's value at this rate, instead of holding it."""
    limit: float = math.inf
    """Largest |multiplier| of a driven row."""
    restitution: float = 0.0
    friction: float = 0.0
    """Coefficient of a friction row on a slider."""


@dataclass(frozen=True)
class Softness:
    """How far a constraint gives way: compliances m/N and rad/(N·m), dampings N·s/m and N·m·s."""

    compliance: float = 0.0
    damping: float = 0.0
    angular_compliance: float = 0.0
    angular_damping: float = 0.0

    @classmethod
    def checked(
        cls, compliance: object, damping: object, angular_compliance: object, angular_damping: object
    ) -> Softness:
        """What users gave, checked."""
        return cls(
            _compliance("compliance", compliance),
            validation.number("damping", damping, minimum=0.0),
            _compliance("angular_compliance", angular_compliance),
            validation.number("angular_damping", angular_damping, minimum=0.0),
        )


def _compliance(name: str, value: object) -> float:
    """A compliance may be infinite: then only the damper acts."""
    if validation.infinite(value):
        return math.inf
    return validation.number(name, value, minimum=0.0)


class AbstractConstraint:
    """Rows that tie a point to another (a point of the world for a place in space).

    `force` and `torque` are what the constraint applies to its first point. Switch it with `enabled`; soften it with
    `compliance` (m/N) and `damping` (N·s/m), and their angular fellows.
    """

    def __init__(
        self, first: Point, second: Point, rows: Sequence[Row], softness: Softness, name: str | None = None
    ) -> None:
        self._number = next(_numbers)
        self._name = validation.label("name", name)
        self._scene: Any = None
        self._points = (first, second)
        self._ints = np.zeros((len(rows), ROW_INTS), np.int64)
        self._floats = np.zeros((len(rows), ROW_FLOATS))
        self._state = np.zeros((len(rows), ROW_STATE))
        for r, row in enumerate(rows):
            self._fill(r, row, softness)

    def _fill(self, r: int, row: Row, softness: Softness) -> None:
        ints, floats = self._ints[r], self._floats[r]
        ints[KIND], ints[ENABLED], ints[FRICTION] = row.kind, 1, -1
        driven = row.speed is not None
        ints[RATE] = int(driven or row.friction > 0.0)
        bounded = row.bound != "equal" or row.friction > 0.0 or (driven and row.limit < math.inf)
        ints[DUAL] = -1 if bounded else 0
        floats[AXIS : AXIS + 3] = row.axis
        floats[OTHER : OTHER + 3] = row.other
        floats[TARGET] = row.target
        floats[RELATIVE : RELATIVE + 4] = np.resize(np.asarray(row.relative, dtype=float), 4)
        angular = row.kind in ANGULAR
        floats[COMPLIANCE] = softness.angular_compliance if angular else softness.compliance
        floats[DAMPING] = softness.angular_damping if angular else softness.damping
        floats[SIGN] = -1.0 if row.bound == "at_most" else 1.0
        floats[LOWER], floats[UPPER] = (-row.limit, row.limit) if driven or row.friction > 0.0 else (0.0, math.inf)
        # what holds from both sides cannot be struck: thrown back, it would be so at every step
        bounce = row.restitution if row.bound != "equal" else 0.0
        floats[MU], floats[RESTITUTION], floats[SPEED] = row.friction, bounce, row.speed or 0.0
        self._state[r, SIDE] = -1.0 if bounded and not driven and row.friction == 0.0 else 0.0

    def _state_arrays(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state, by name."""
        return {"enabled": self._ints[:, ENABLED], "floats": self._floats, "state": self._state}

    def _companions(self) -> Sequence[AbstractConstraint]:
        """Constraints that a scene solves with it, unseen."""
        return ()

    def _leave_tables(self) -> None:
        """No scene holds it any more: it keeps its own numbers."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name or f"{type(self).__name__} {self._number} ({self._points[0]!r})"

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def scene(self) -> Any:
        """The scene that it was added to, or None."""
        return self._scene

    @property
    def points(self) -> tuple[Point, Point]:
        """The two points that it ties; the second may be a point of the world."""
        return self._points

    @property
    def enabled(self) -> bool:
        """Whether it acts. Switching it costs nothing; one that is switched on again pulls back to its target."""
        return bool(self._ints[0, ENABLED])

    @enabled.setter
    def enabled(self, value: bool) -> None:
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"enabled must be True or False, got {quoted(value)}")
        self._ints[:, ENABLED] = int(value)
        if not value:
            self._state[:, LAMBDA] = 0.0
        if self._scene is not None:
            self._scene._rows_switched()

    def _softness(self, column: int, angular: bool) -> float:
        rows = np.isin(self._ints[:, KIND], ANGULAR) == angular
        return float(self._floats[rows, column][0]) if rows.any() else 0.0

    def _set_softness(self, column: int, angular: bool, value: float) -> None:
        rows = np.isin(self._ints[:, KIND], ANGULAR) == angular
        self._floats[rows, column] = value

    @property
    def compliance(self) -> float:
        """How far it gives way to a force, m/N; 0 is rigid. Can be set."""
        return self._softness(COMPLIANCE, False)

    @compliance.setter
    def compliance(self, value: float) -> None:
        self._set_softness(COMPLIANCE, False, _compliance("compliance", value))

    @property
    def damping(self) -> float:
        """Damper beside the compliance, N·s/m. Can be set."""
        return self._softness(DAMPING, False)

    @damping.setter
    def damping(self, value: float) -> None:
        self._set_softness(DAMPING, False, validation.number("damping", value, minimum=0.0))

    @property
    def angular_compliance(self) -> float:
        """How far it gives way to a torque, rad/(N·m). Can be set."""
        return self._softness(COMPLIANCE, True)

    @angular_compliance.setter
    def angular_compliance(self, value: float) -> None:
        self._set_softness(COMPLIANCE, True, _compliance("angular_compliance", value))

    @property
    def angular_damping(self) -> float:
        """Damper beside the angular compliance, N·m·s. Can be set."""
        return self._softness(DAMPING, True)

    @angular_damping.setter
    def angular_damping(self, value: float) -> None:
        self._set_softness(DAMPING, True, validation.number("angular_damping", value, minimum=0.0))

    # ------------------------------------------------------------------------------ what pictures and hands ask for

    @property
    def entries(self) -> tuple[Any, ...]:
        """What a line of it runs through, in order; empty for what is no line."""
        return ()

    @property
    def turns(self) -> bool:
        """Whether it holds a rotation in full."""
        return bool((self._ints[:, KIND] == ROTATE).any())

    def row_axis(self, row: int) -> FloatArray:
        """Direction (3,) of one row, in the frame of its second point."""
        return self._floats[row, AXIS : AXIS + 3].copy()

    def row_target(self, row: int) -> float:
        """What one row holds its value at, m or rad."""
        return float(self._floats[row, TARGET])

    @property
    def wrench(self) -> FloatArray:
        """`force` and `torque` in one, (6,)."""
        return self._measured()[:6]

    def rest_here(self) -> None:
        """Take the present values of the rows for those of the last steps: its dampers see no motion that led here."""
        self._state[:, VALUE] = self._state[:, VALUE_LAST] = self.violation

    def skip_way(self, share: float) -> None:
        """Take that share of what the rows have changed by since the last step for what was there before it."""
        before = share * (self.violation - self._state[:, VALUE])
        self._state[:, VALUE] += before
        self._state[:, VALUE_LAST] += before

    @property
    def force(self) -> FloatArray:
        """What it applies to its first point: (3,), N, world frame; of the last step or `settle`."""
        return self._measured()[:3]

    @property
    def torque(self) -> FloatArray:
        """The moment that it applies at its first point: (3,), N·m, world frame."""
        return self._measured()[3:6]

    @property
    def multipliers(self) -> FloatArray:
        """One number for each row: N, or N·m for a row that holds an angle."""
        return self._state[:, LAMBDA].copy()

    @property
    def violation(self) -> FloatArray:
        """How far each row is off now: m, or rad. One-sided rows are broken where this is negative."""
        return self._measured()[6:]

    def _evaluated(self) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray, FloatArray]:
        """The rows with their points numbered 0 and 1, the points' tables and places, and what the rows evaluate to."""
        if self._scene is not None:
            self._scene._compiled()
        placed = np.concatenate([point._placed() for point in self._points])
        ints = self._ints.copy()
        ints[:, FIRST], ints[:, SECOND] = 0, 1
        point_ints = np.concatenate([point._ints for point in self._points])
        point_floats = np.concatenate([point._floats for point in self._points])
        wrenches = np.zeros((len(ints), ROW_WRENCH))
        q = max((point._arrays()["q"] for point in self._points), key=len)
        evaluate_rows(0, len(ints), ints, self._floats, self._state, placed, q, point_ints, wrenches)
        return ints, point_ints, point_floats, placed, wrenches

    def _measured(self) -> FloatArray:
        wrenches = self._evaluated()[4]
        return np.concatenate((self._state[:, LAMBDA] @ wrenches[:, F : F + 6], wrenches[:, G]))

    def jacobian(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Degrees of freedom (k,) of the scene, and J (rows, k): rates of the rows' values = J · their rates."""
        if self._scene is None:
            raise InputError(f"{self.name} is in no scene, whose degrees of freedom its Jacobian is for: add it first")
        ints, point_ints, point_floats, placed, wrenches = self._evaluated()
        flat = np.zeros(len(ints) * ROW_WIDTH)
        pull_rows(0, len(ints), 1.0, ints, self._floats, point_ints, point_floats, placed, wrenches, flat, 0)
        dofs = np.array([dof_of(e // WIDTH, e % WIDTH, point_ints) for e in range(ROW_WIDTH)])
        used = np.unique(dofs[dofs >= 0])
        matrix = np.zeros((len(ints), len(used)))
        for entry, dof in enumerate(dofs.tolist()):
            if dof >= 0:
                matrix[:, np.searchsorted(used, dof)] += flat.reshape(len(ints), ROW_WIDTH)[:, entry]
        return used, matrix

    def _begin_turns(self) -> None:
        """Count the turns of angle rows from where they are."""
        values = self._measured()[6:]
        turning = self._ints[:, KIND] == ANGLE
        self._state[turning, TURNS] = (values * self._floats[:, SIGN] + self._floats[:, TARGET])[turning]


def checked_point(name: str, value: object) -> Point:
    """`value` as a point, or an error that tells how to make one."""
    if isinstance(value, Point):
        return value
    raise InputError(f"{name} must be a point: rope.at(0.5), box.at((0, 0, 1)) or World.at(p), got {quoted(value)}")


def in_frame(point: Point, direction: FloatArray) -> FloatArray:
    """A world direction in the frame of `point`, which carries it from now on."""
    return np.asarray(point.frame.T @ direction)


def across(direction: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two unit vectors that complete a unit `direction` to a right-handed frame."""
    start = np.eye(3)[int(np.argmin(np.abs(direction)))]
    first = np.cross(direction, start)
    first /= np.linalg.norm(first)
    return first, np.cross(direction, first)


def relative_rotation(first: Point, second: Point) -> FloatArray:
    """Quaternion of the first point's frame, seen in the second's."""
    return matrix_to_quaternion(second.frame.T @ first.frame)
