"""Constraints that put a point somewhere: in the world, or (with ``of=``) relative to another point."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.bodies.world import WorldPoint
from sennit.constraints.constraint import (
    AbstractConstraint,
    Row,
    across,
    checked_point,
    in_frame,
    relative_rotation,
    tilt_rows,
)  # fmt: skip
from sennit.constraints.kernels.rows import APART, DISTANCE, ROTATE, TRANSLATE
from sennit.constraints.route import Route
from sennit.constraints.softness import Softness
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.validation import FloatArray, quoted

__all__ = ["Align", "Clamp", "Fix", "Follow", "OnAxis", "OnCircle", "OnPlane", "OnSphere"]

Bound = Literal["equal", "at_most", "at_least"]
_AXES = np.eye(3)


def checked_bound(bound: object) -> Bound:
    """`bound` as one of the three that there are."""
    return cast(Bound, validation.choice("bound", bound, ("equal", "at_most", "at_least")))


class Fix(AbstractConstraint):
    """Hold a point in place: 3 rows. Set `target` (m) to move it; it is there at the end of the next step.

    `target`: where it is held; where it is now, if left out. Its direction and roll stay free. `closing_speed` (m/s): a
    target that jumps further in a step is approached no faster.
    """

    def __init__(
        self, p: Point, target: ArrayLike | None = None, *, compliance: float = 0.0, damping: float = 0.0,
        closing_speed: float = 10.0, name: str | None = None,
    ) -> None:  # fmt: skip
        point = checked_point("p", p)
        self._anchor = WorldPoint(point.position if target is None else validation.vector("target", target))
        softness = Softness.checked(compliance, damping, 0.0, 0.0)
        super().__init__(point, self._anchor, [Row(APART, axis=axis) for axis in _AXES], softness, name)
        self.closing_speed = closing_speed

    @property
    def target(self) -> FloatArray:
        """Where the point is held: (3,), m. Can be set while running."""
        return self._anchor.position

    @target.setter
    def target(self, value: ArrayLike) -> None:
        self._anchor.position = validation.vector("target", value)

    def hold(self) -> None:
        """Hold the point where it is now, and switch on."""
        self.target, self.enabled = self._points[0].position, True


class Clamp(AbstractConstraint):
    """Hold a point's position, direction and roll: 6 rows. Set `target`, a `Pose`, to move and turn it.

    A rod held so stays free to stretch. `target`: its present pose, if left out; a position (3,) moves it alone.
    `closing_speed` (m/s, and ten times as many rad/s): a target that jumps further in a step is approached no faster.
    """

    def __init__(
        self, p: Point, target: Pose | None = None, *, compliance: float = 0.0, damping: float = 0.0,
        angular_compliance: float = 0.0, angular_damping: float = 0.0, closing_speed: float = 10.0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        point = framed("p", p, "Clamp")
        if target is not None and not isinstance(target, Pose):
            raise InputError(f"target must be a sennit.Pose (a Fix takes a position), got {quoted(target)}")
        self._anchor = WorldPoint(point.pose if target is None else target)
        softness = Softness.checked(compliance, damping, angular_compliance, angular_damping)
        rows = [Row(APART, axis=axis) for axis in _AXES] + [Row(ROTATE, axis=axis) for axis in _AXES]
        super().__init__(point, self._anchor, rows, softness, name)
        self.closing_speed = closing_speed

    @property
    def target(self) -> Pose:
        """Where the point is held: a `Pose`. Can be set while running, also to a position (3,), m."""
        return self._anchor.pose

    @target.setter
    def target(self, value: Pose | ArrayLike) -> None:
        self._anchor.position = value if isinstance(value, Pose) else validation.vector("target", value)

    def hold(self) -> None:
        """Hold the point as it is now, place and rotation, and switch on."""
        self.target, self.enabled = self._points[0].pose, True


class Align(AbstractConstraint):
    """Hold a point's direction d3 (a rod's tangent): 2 rows; position and roll stay free, and so does stretch.

    `direction`: world frame, the present one if left out; with ``of=q`` it is carried by q.
    """

    def __init__(
        self, p: Point, direction: ArrayLike | None = None, *, of: Point | None = None,
        angular_compliance: float = 0.0, angular_damping: float = 0.0, name: str | None = None,
    ) -> None:  # fmt: skip
        point = directed("p", p, "Align")
        carrier = reference(of, point)
        wanted = point.frame[:, 2] if direction is None else validation.direction("direction", direction)
        softness = Softness.checked(0.0, 0.0, angular_compliance, angular_damping)
        rows = tilt_rows(carrier, wanted, (0.0, 0.0, 1.0))
        super().__init__(point, carrier, rows, softness, name)


class OnPlane(AbstractConstraint):
    """Hold a point on the plane with this `normal` through a place: 1 row.

    `through`: (3,), m, where the point is now if left out. ``of=q``: the plane moves with q. ``bound="at_least"``
    keeps it on the side that the normal points to (a floor), ``"at_most"`` on the other.
    """

    def __init__(
        self, p: Point, normal: ArrayLike, through: ArrayLike | None = None, *, of: Point | None = None,
        bound: Bound = "equal", compliance: float = 0.0, damping: float = 0.0, restitution: float = 0.0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        point = checked_point("p", p)
        n = validation.direction("normal", normal)
        place = point.position if through is None else validation.vector("through", through)
        carrier = reference(of, point, place)
        offset = float(n @ (place - carrier.position))
        bounce = validation.number("restitution", restitution, minimum=0.0, maximum=1.0)
        row = Row(TRANSLATE, axis=in_frame(carrier, n), target=offset, bound=checked_bound(bound), restitution=bounce)
        super().__init__(point, carrier, [row], Softness.checked(compliance, damping, 0.0, 0.0), name)


class OnAxis(AbstractConstraint):
    """Hold a point on a straight line along `direction` through a place: 2 rows. ``of=q``: the line moves with q."""

    def __init__(
        self, p: Point, direction: ArrayLike, through: ArrayLike | None = None, *, of: Point | None = None,
        compliance: float = 0.0, damping: float = 0.0, name: str | None = None,
    ) -> None:  # fmt: skip
        point = checked_point("p", p)
        along = validation.direction("direction", direction)
        place = point.position if through is None else validation.vector("through", through)
        carrier = reference(of, point, place)
        away = place - carrier.position
        rows = [Row(TRANSLATE, axis=in_frame(carrier, a), target=float(a @ away)) for a in across(along)]
        super().__init__(point, carrier, rows, Softness.checked(compliance, damping, 0.0, 0.0), name)


class OnSphere(AbstractConstraint):
    """Hold a point on a sphere: 1 row. ``bound="at_most"`` keeps it inside, ``"at_least"`` outside.

    `centre`: (3,), m, or a point that carries the sphere.
    """

    def __init__(
        self, p: Point, centre: ArrayLike | Point, radius: float, *, bound: Bound = "equal", compliance: float = 0.0,
        damping: float = 0.0, name: str | None = None,
    ) -> None:  # fmt: skip
        point = checked_point("p", p)
        middle = centre if isinstance(centre, Point) else WorldPoint(validation.vector("centre", centre))
        r = validation.number("radius", radius, positive=True)
        away = point.position - middle.position
        with validation.in_range("centre and radius"):
            gap = np.linalg.norm(away)
        if not gap > 0.0:
            raise InputError(f"the point is at the centre {quoted(middle.position)}: it has no direction to be held in")
        row = Row(DISTANCE, axis=away / np.linalg.norm(away), target=r, bound=checked_bound(bound))
        super().__init__(point, middle, [row], Softness.checked(compliance, damping, 0.0, 0.0), name)

    @property
    def radius(self) -> float:
        """Of the sphere, m. Can be set."""
        return float(self._rows.target[0])

    @radius.setter
    def radius(self, value: float) -> None:
        self._rows.target[0] = validation.number("radius", value, positive=True)


class OnCircle(AbstractConstraint):
    """Hold a point on a circle about `centre` (m) in the plane across `normal`: 2 rows, a plane's and a sphere's."""

    def __init__(
        self, p: Point, centre: ArrayLike | Point, normal: ArrayLike, radius: float, *, compliance: float = 0.0,
        damping: float = 0.0, name: str | None = None,
    ) -> None:  # fmt: skip
        point = checked_point("p", p)
        middle = centre if isinstance(centre, Point) else WorldPoint(validation.vector("centre", centre))
        n = validation.direction("normal", normal)
        r = validation.number("radius", radius, positive=True)
        away = point.position - middle.position
        with validation.in_range("centre and radius"):
            flat = away - (away @ n) * n
            gap = np.linalg.norm(flat)
        if not gap > 0.0:
            place = quoted(point.position)
            raise InputError(f"the point is on the circle's axis, at {place}: it has no direction to be held in")
        rows = [
            Row(TRANSLATE, axis=in_frame(middle, n)),
            Row(DISTANCE, axis=flat / np.linalg.norm(flat), target=r),
        ]
        super().__init__(point, middle, rows, Softness.checked(compliance, damping, 0.0, 0.0), name)


class Follow(AbstractConstraint):
    """Lead a point along a `path`: a function of the scene's time (s) that returns a position (3,), m, or a `Pose`.

    A path of positions leaves the direction free (3 rows); one of poses holds it too (6 rows). A `Route`, places at
    times, is a path that can be saved, and that runs without Python between steps, in haptic loops too.
    """

    _closing_speeds = (math.inf, math.inf)

    @property
    def _is_led(self) -> bool:  # type: ignore[override]
        return not isinstance(self._path, Route)

    def _route(self) -> Route | None:
        return self._path if isinstance(self._path, Route) else None

    def _describe(self, out: Any) -> dict[str, Any]:
        if not isinstance(self._path, Route):
            raise InputError(
                f"{self.name} cannot be saved, since its path is a function: give it a Route, or remove it first"
            )
        return {**super()._describe(out), "route": self._path._describe(out)}

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Any:
        made = super()._rebuilt(entry, read)
        made._path = Route._rebuilt(entry["route"], read)
        made._turns = made._path._turns
        if len(made._rows) != (6 if made._turns else 3):
            raise ValueError("a Follow has rows that its route does not lead")
        return made

    def __init__(
        self, p: Point, path: Callable[[float], ArrayLike | Pose], *, compliance: float = 0.0, damping: float = 0.0,
        angular_compliance: float = 0.0, angular_damping: float = 0.0, name: str | None = None,
    ) -> None:  # fmt: skip
        point = checked_point("p", p)
        if not callable(path):
            raise InputError(
                f"path must be a Route, or a function of time that returns a position or a Pose, got {quoted(path)}"
            )
        self._path = path
        start = path(0.0)
        self._turns = isinstance(start, Pose)
        self._anchor = WorldPoint(start if isinstance(start, Pose) else validation.vector("path(0)", start))
        softness = Softness.checked(compliance, damping, angular_compliance, angular_damping)
        rows = [Row(APART, axis=axis) for axis in _AXES]
        if self._turns:
            framed("p", p, "Follow with a path of poses")
            rows += [Row(ROTATE, axis=axis) for axis in _AXES]
        super().__init__(point, self._anchor, rows, softness, name)

    def _place_at(self, time: float) -> FloatArray | Pose:
        """Where the path is at `time`; checked, and nothing changed yet."""
        place = self._path(time)
        if isinstance(place, Pose) != self._turns:
            kind = "a Pose" if self._turns else "a position"
            raise InputError(f"path({time:g}) must return {kind}, as path(0) did, got {quoted(place)}")
        return place if isinstance(place, Pose) else validation.vector(f"path({time:g})", place)

    @property
    def target(self) -> FloatArray:
        """Where the point is held now: (3,), m."""
        return self._anchor.position


def framed(name: str, value: object, user: str) -> Point:
    """A point whose full rotation can be held."""
    point = checked_point(name, value)
    if not point.has_frame:
        if not point.has_direction:
            raise InputError(f"{user} holds a rotation, but {point!r} is a bare place of a surface: {_PATCH}")
        raise InputError(f"{user} holds a rotation, but {point!r} turns freely about its rod: use Align or Fix")
    return point


def directed(name: str, value: object, user: str) -> Point:
    """A point whose direction can be held."""
    point = checked_point(name, value)
    if not point.has_direction:
        raise InputError(f"{user} holds a direction, but {point!r} is a bare place of a surface: {_PATCH}")
    return point


_PATCH = "give it an area with zone.at(place, radius=...), or use Fix"


def reference(of: Point | None, point: Point, place: FloatArray | None = None) -> Point:
    """The point that carries a constraint's directions: `of`, or a fresh point of the world at `place`."""
    if of is not None:
        return checked_point("of", of)
    return WorldPoint(point.position if place is None else place)


__all__ += ["checked_bound", "framed", "reference", "relative_rotation"]
