"""What all constraints have in common: rows between two points, switches, and the forces they apply."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.attributes import guarded
from sennit.bodies.point.point import Point
from sennit.bodies.point.table import Places, Points
from sennit.constraints.kernels.measure import measure
from sennit.constraints.kernels.rows import (
    ANGULAR,
    COUNTS_TURNS,
    DIRECTED,
    DISTANCE,
    ROTATE,
    ROW_WIDTH,
    STORED,
    TILT,
    TRAITS,
    evaluate_rows,
    pull_rows,
    row_dof,
)  # fmt: skip
from sennit.constraints.row import Row, Rows
from sennit.constraints.softness import Softness, compliance_of
from sennit.errors import InputError
from sennit.geometry.rotations import matrix_to_quaternion
from sennit.given import remembers
from sennit.sending import Placed
from sennit.tables import PARAMETER, STATE
from sennit.validation import FloatArray, quoted

__all__ = ["AbstractConstraint", "Row"]

_TRAITS = np.array(TRAITS)
_STORED = ("kind", "dual", "rate", *(name for name, field in Rows._fields.items() if field.role == PARAMETER))
"""Fields of its rows that a file has besides the state."""
_INFINITE = frozenset({"compliance", "lower", "upper", "closing"})
"""Fields in which infinity has a meaning: a damper alone, a force or a speed without a bound."""
_numbers = itertools.count(1)


@guarded()
class AbstractConstraint(Placed):
    """Rows that tie a point to another (a point of the world for a place in space).

    `force` and `torque` are what the constraint applies to its first point. Switch it with `enabled`; soften it with
    `compliance` (m/N) and `damping` (N·s/m), and their angular fellows.
    """

    _kinds: ClassVar[dict[str, type[AbstractConstraint]]] = {}
    """sennit's own classes of constraints by name: those that files can hold."""
    _soft_rows: ClassVar[int | None] = None
    """How many of its rows have its compliance and damping; the others are firm. None: all."""
    _is_led: ClassVar[bool] = False
    """Whether its target follows a path."""
    _closing_speeds: ClassVar[tuple[float, float]] = (10.0, 100.0)
    """Largest speeds at which a gap is closed that a jump of its target opens, m/s and rad/s."""
    _attends: ClassVar[bool] = False
    """Whether it looks at every step, in Python, when that is done."""
    _leads: ClassVar[bool] = False
    """Whether what it brings unseen is set through it: copies of its scene follow that, too."""
    _kept: ClassVar[dict[str, str]] = {}
    """What files keep of it besides its points and rows: attributes, and what they are (see `storage.describe`)."""

    def __init_subclass__(cls) -> None:
        if cls.__module__.startswith("sennit."):
            AbstractConstraint._kinds[cls.__name__] = cls
            if "__init__" in vars(cls) and not cls.__name__.startswith("_"):
                cls.__init__ = remembers(cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self, first: Point, second: Point, rows: Sequence[Row], softness: Softness, name: str | None = None
    ) -> None:
        self._join(first, second, Rows(rows=len(rows)), name)
        for r, row in enumerate(rows):
            self._fill(r, row, softness)

    def _join(self, first: Point, second: Point, rows: Rows, name: str | None) -> None:
        """Tie two points by rows that are filled already, or will be."""
        self._number = next(_numbers)
        self._name = validation.label("name", name)
        self._scene: Any = None
        self._points = (first, second)
        self._rows = rows
        """Its rows of the scene's table, or its own."""
        self._first_row = -1
        """Number of the first of them in the scene; -1: it has none there."""

    def _fill(self, r: int, row: Row, softness: Softness) -> None:
        rows = self._rows
        driven, rubs = row.speed is not None, row.friction > 0.0
        bounded = row.bound != "equal" or rubs or (driven and row.limit < math.inf)
        rows.kind[r], rows.enabled[r], rows.slider[r] = row.kind, 1, -1
        rows.rate[r] = int(driven or rubs)
        rows.dual[r] = -1 if bounded else 0
        rows.axis[r], rows.other[r], rows.zero[r], rows.relative[r] = row.axis, row.other, row.zero, row.relative
        rows.target[r], rows.loop[r], rows.lead[r] = row.target, row.loop, row.lead
        if self._soft_rows is None or r < self._soft_rows:
            angular = TRAITS[row.kind] & ANGULAR
            rows.compliance[r] = softness.angular_compliance if angular else softness.compliance
            rows.damping[r] = softness.angular_damping if angular else softness.damping
        rows.sign[r] = -1.0 if row.bound == "at_most" else 1.0
        rows.lower[r], rows.upper[r] = (-row.limit, row.limit) if driven or rubs else (0.0, math.inf)
        # what holds from both sides cannot be struck: thrown back, it would be so at every step
        rows.restitution[r] = row.restitution if row.bound != "equal" else 0.0
        rows.friction[r], rows.speed[r] = row.friction, row.speed or 0.0
        rows.side[r] = -1.0 if bounded and not driven and not rubs else 0.0
        rows.gain[r] = 1.0
        rows.closing[r] = self._closing_speeds[1 if TRAITS[row.kind] & ANGULAR else 0]

    # ------------------------------------------------------------------------------------------------- for scenes

    def _state_arrays(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state, by name."""
        return dict(self._rows.fields(PARAMETER, STATE))

    def _enter(self, rows: Rows, at: int, owner: int, dual: int) -> tuple[int, int]:
        """Take rows of a scene's table from `at` on; returns where the next rows and unknowns begin."""
        end = at + len(self._rows)
        part = rows.part(at, end)
        part.fill(self._rows)
        self._rows, self._first_row = part, at if end > at else -1
        if end > at:
            first, second = self._points
            part.first[:], part.second[:], part.owner[:] = first._index, second._index, owner
            equal = part.dual >= 0
            count = int(equal.sum())
            part.dual[equal] = dual + np.arange(count)
            dual += count
        return end, dual

    def _route(self) -> Any:
        """The route that its second point is led along, or None."""
        return None

    def _cables(self) -> Sequence[Any]:
        """Cables that it is, whose rows are not among those that it brings."""
        return ()

    def _mass_sharers(self) -> list[Point]:
        """Points that share the mass of their bodies: each as often as a tie pulls on it across its direction."""
        return [p for p in self._points if p.body is not None] if (self._rows.kind == DISTANCE).any() else []

    def _directs(self) -> bool:
        """Whether it holds a direction: a rod on which it acts does not tumble."""
        return bool((self._traits() & DIRECTED).any())

    def _moves_nothing(self) -> bool:
        """Whether it ties points of one rigid body, which do not move against each other."""
        first, second = self._points
        return first.body is second.body and first._is_rigid()

    def _ties(self) -> bool:
        """Whether it ties the bodies of its points together."""
        return self.enabled

    def _bring(self, scene: Any) -> None:
        """Put what belongs to it into a scene, before itself."""

    def _take_away(self, scene: Any) -> None:
        """Take what belongs to it out of a scene, after itself."""

    def _free_points(self) -> Sequence[Point]:
        """Its points whose bodies must be in the scene before it."""
        return self.points

    def _holds(self, body: Any) -> bool:
        """Whether a body is there for its sake alone."""
        return False

    def _news(self) -> list[tuple[Any, str]]:
        """What has happened to it since this was last asked: kind of the event and its text."""
        return []

    def _attend(self) -> Sequence[tuple[Any, str]]:
        """Look at a step that is done (see `_attends`); returns the events that it has seen, as `_news` does."""
        return ()

    def _state_put(self) -> None:
        """The numbers of its state were put back (see `_attends`)."""

    def _held_points(self) -> Sequence[Point]:
        """Points of bodies that it holds besides its own two."""
        return ()

    def _energy(self) -> tuple[float, float]:
        """Elastic and kinetic energy of its own, J, besides what its rows store."""
        return 0.0, 0.0

    def _spin(self) -> FloatArray | None:
        """Angular momentum of its own, (3,), N·m·s."""
        return None

    def _beginning(self) -> dict[str, Any]:
        """What `reset` takes instead of the numbers of its first state: nothing."""
        return {}

    def _traits(self) -> NDArray[np.int64]:
        return np.asarray(_TRAITS[self._rows.kind])

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
        return bool(self._rows.enabled[0])

    @enabled.setter
    def enabled(self, value: bool) -> None:
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"enabled must be True or False, got {quoted(value)}")
        if bool(value) == self.enabled:
            return
        self._rows.enabled[:] = int(value)
        if not value:
            self._rows.multiplier[:] = 0.0
        if self._scene is not None:
            self._scene._rows_switched()

    def _soft(self, angular: bool) -> NDArray[np.bool_]:
        """Which of its rows are soft against forces, or (angular) against torques."""
        rows: NDArray[np.bool_] = ((self._traits() & ANGULAR) != 0) == angular
        if self._soft_rows is not None:
            rows[self._soft_rows :] = False
        return rows

    def _softness(self, field: str, angular: bool) -> float:
        rows = self._soft(angular)
        return float(getattr(self._rows, field)[rows][0]) if rows.any() else 0.0

    def _set_softness(self, field: str, angular: bool, value: float) -> None:
        getattr(self._rows, field)[self._soft(angular)] = value

    @property
    def compliance(self) -> float:
        """How far it gives way to a force, m/N; 0 is rigid. Can be set."""
        return self._softness("compliance", False)

    @compliance.setter
    def compliance(self, value: float) -> None:
        self._set_softness("compliance", False, compliance_of("compliance", value))

    @property
    def damping(self) -> float:
        """Damper beside the compliance, N·s/m. Can be set."""
        return self._softness("damping", False)

    @damping.setter
    def damping(self, value: float) -> None:
        self._set_softness("damping", False, validation.number("damping", value, minimum=0.0))

    @property
    def angular_compliance(self) -> float:
        """How far it gives way to a torque, rad/(N·m). Can be set."""
        return self._softness("compliance", True)

    @angular_compliance.setter
    def angular_compliance(self, value: float) -> None:
        self._set_softness("compliance", True, compliance_of("angular_compliance", value))

    @property
    def angular_damping(self) -> float:
        """Damper beside the angular compliance, N·m·s. Can be set."""
        return self._softness("damping", True)

    @angular_damping.setter
    def angular_damping(self, value: float) -> None:
        self._set_softness("damping", True, validation.number("angular_damping", value, minimum=0.0))

    @property
    def reached(self) -> bool:
        """Whether it holds where it is to hold; not while it closes a gap at its `closing_speed`."""
        return not self._rows.ahead.any()

    @property
    def closing_speed(self) -> float:
        """Largest speed at which it closes a gap, m/s; angles close at ten times as many rad/s. 10 unless set.

        A target that moves more slowly is met in every step. One that jumps, or a constraint that is switched on far
        from where it holds, is reached over several steps; ``math.inf``: always in one. Compliant ones pull as their
        compliance says, whatever this is. Can be set.
        """
        rows = self._rows
        angular = (self._traits() & ANGULAR) != 0
        return float(np.min(np.where(angular, 0.1, 1.0) * rows.closing)) if len(rows) else math.inf

    @closing_speed.setter
    def closing_speed(self, value: float) -> None:
        self._rows.closing[:] = closing_speeds(value, (self._traits() & ANGULAR) != 0)

    # ------------------------------------------------------------------------------ what pictures and hands ask for

    @property
    def entries(self) -> tuple[Any, ...]:
        """What a line of it runs through, in order; empty for what is no line."""
        return ()

    @property
    def turns(self) -> bool:
        """Whether it holds a rotation in full."""
        return bool((self._rows.kind == ROTATE).any())

    def _row_axis(self, row: int) -> FloatArray:
        """Direction (3,) of one row, in the frame of its second point."""
        return np.array(self._rows.axis[row])

    def _row_target(self, row: int) -> float:
        """What one row holds its value at, m or rad."""
        return float(self._rows.target[row])

    @property
    def wrench(self) -> FloatArray:
        """`force` and `torque` in one, (6,)."""
        return self._measured()[:6]

    def _rest_here(self) -> None:
        """Take the present values of the rows for those of the last steps: its dampers see no motion that led here."""
        self._rows.value[:] = self._rows.value_last[:] = self.violation

    def _skip_way(self, share: float) -> None:
        """Take that share of what the rows have changed by since the last step for what was there before it."""
        before = share * (self.violation - self._rows.value)
        self._rows.value[:] += before
        self._rows.value_last[:] += before

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
        return np.array(self._rows.multiplier)

    @property
    def violation(self) -> FloatArray:
        """How far each row is off now: m, or rad. One-sided rows are broken where this is negative."""
        return self._measured()[6:]

    def _evaluated(self) -> tuple[Rows, Points, Places]:
        """Its rows, evaluated, with their points numbered 0 and 1, and tables of those two."""
        if self._scene is not None:
            self._scene._compiled()
        first, second = self._points
        places = Places.joined(point._placed() for point in self._points)
        points = Points.joined((first._row, second._row))
        rows = self._rows.copy()
        rows.ahead[:] = 0.0  # as its target is, not as far as it is led
        rows.first[:], rows.second[:] = 0, 1
        q = max((point._where().q for point in self._points), key=len)
        evaluate_rows(0, len(rows), rows, places, q, points)
        return rows, points, places

    def _measured(self) -> FloatArray:
        """Force, torque, and by how far each row is off its target."""
        if self._scene is not None:
            model = self._scene._compiled().system.model
            if self._first_row >= 0:
                out = np.zeros(6 + len(self._rows))
                end = self._first_row + len(self._rows)
                measure(self._first_row, end, model.rows, model.points, model.places, model.motion.q, out)
                return out
        rows, _, _ = self._evaluated()
        wrench = np.hstack((rows.force, rows.moment))
        return np.concatenate((rows.multiplier @ wrench, rows.g))

    def jacobian(self) -> tuple[NDArray[np.int64], FloatArray]:
        """Degrees of freedom (k,) of the scene, and J (rows, k): rates of the rows' values = J · their rates."""
        if self._scene is None:
            raise InputError(f"{self.name} is in no scene, whose degrees of freedom its Jacobian is for: add it first")
        rows, points, places = self._evaluated()
        count = len(rows)
        flat = np.zeros(count * ROW_WIDTH)
        pull_rows(0, count, 1.0, rows, points, places, flat, 0)
        dofs = np.array([row_dof(0, entry, rows, points) for entry in range(ROW_WIDTH)])
        used = np.unique(dofs[dofs >= 0])
        matrix = np.zeros((count, len(used)))
        for entry, dof in enumerate(dofs.tolist()):
            if dof >= 0:
                matrix[:, np.searchsorted(used, dof)] += flat.reshape(count, ROW_WIDTH)[:, entry]
        return used, matrix

    # -------------------------------------------------------------------------------------- for files, see `storage`

    def _describe(self, out: Any) -> dict[str, Any]:
        """What a file's description has of it besides `_kept`; its rows go to `out`."""
        out.table("rows", self._rows, _STORED)
        return {"points": [out.point(point) for point in self._points]}

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Any:
        """The constraint that a file's entry describes."""
        made: Any = cls.__new__(cls)
        rows = read.table("rows", Rows, None, _STORED, infinite=_INFINITE)
        if not all(0 <= kind < len(TRAITS) and TRAITS[kind] & STORED for kind in rows.kind.tolist()):
            raise ValueError("a constraint has rows of no known kind")
        if (rows.dual < -1).any() or not np.isin(rows.rate, (0, 1)).all() or not np.isin(rows.enabled, (0, 1)).all():
            raise ValueError("a constraint has other rows")
        rows.slider[:] = -1
        first, second = (read.point(point) for point in entry["points"])
        made._join(first, second, rows, entry["name"])
        made._anchor = second  # of those that hold a point to a place
        for name, what in cls._kept.items():
            setattr(made, name, read.kept(entry, name, what, len(rows)))
        return made

    def _may_be_infinite(self, name: str) -> bool:
        """Whether infinity has a meaning in an array of its state."""
        return name in _INFINITE

    def _check_state(self) -> None:
        """Raise `ValueError` if the numbers of its state can't be those of a constraint."""

    def _begin_turns(self) -> None:
        """Count the turns of angle rows from where they are."""
        turning = (self._traits() & COUNTS_TURNS) != 0
        if turning.any():
            self._rows.angle[turning] = self._evaluated()[0].turned[turning]


def closing_speeds(value: object, angular: NDArray[np.bool_]) -> FloatArray:
    """What users gave, checked, for rows of lengths (m/s) and of angles (rad/s)."""
    speed = math.inf if validation.infinite(value) else validation.number("closing_speed", value, positive=True)
    return np.where(angular, 10.0 * speed, speed)


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


def tilt_rows(carrier: Point, wanted: FloatArray, other: ArrayLike) -> list[Row]:
    """The two rows that keep the direction `other` of the first point along `wanted` (world frame now)."""
    along = in_frame(carrier, wanted)
    return [Row(TILT, axis=in_frame(carrier, a), other=other, zero=along) for a in across(wanted)]


def relative_rotation(first: Point, second: Point) -> FloatArray:
    """Quaternion of the first point's frame, seen in the second's."""
    return matrix_to_quaternion(second.frame.T @ first.frame)
