"""Loads: forces and torques that the outside applies to points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.bodies.point.point import Point
from sennit.constraints.constraint import checked_point
from sennit.errors import InputError
from sennit.given import remembers
from sennit.sending import Placed
from sennit.tables import PARAMETER, PLAN, WORK, Table, number, whole
from sennit.validation import FloatArray, quoted

__all__ = ["Load", "Loads"]


class Loads(Table):
    """One row for each load."""

    point = whole(PLAN, "where it acts")
    follows = whole(PARAMETER, "1 if it turns with the point")
    enabled = whole(PARAMETER, "1 while it acts")
    force = number(PARAMETER, "N: world frame, or the point's if it follows", 3)
    torque = number(PARAMETER, "N·m: world frame, or the point's if it follows", 3)
    start = number(WORK, "where its point is when the step begins, m", 3)
    turning = number(WORK, "angular velocity of its point then, rad/s", 3)


JUMP = 0.5
"""Change of a force over its size that is a jump."""


@guarded()
class Load(Placed):
    """A `force` (N) and a `torque` (N·m) on a point, in the world frame.

    ``follower=True``: they are given in the point's frame and turn with it. Both can be set while running.
    """

    @remembers
    def __init__(
        self,
        point: Point,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        *,
        follower: bool = False,
        name: str | None = None,
    ) -> None:
        self._point = checked_point("point", point)
        if self._point.body is None:
            raise InputError("a load on a point of the world moves nothing: put it on a body's point")
        if not isinstance(follower, bool | np.bool_):
            raise InputError(f"follower must be True or False, got {quoted(follower)}")
        self._name = validation.label("name", name)
        self._scene: Any = None
        self._row = Loads(rows=1)
        """Its row of the scene's table of loads, or its own."""
        self._row.point[0], self._row.follows[0], self._row.enabled[0] = -1, int(follower), 1
        self._row.force[0] = validation.vector("force", force)
        self._row.torque[0] = self._checked_torque(torque)

    def _checked_torque(self, value: ArrayLike) -> FloatArray:
        torque = validation.vector("torque", value)
        if torque.any() and not self._point.has_direction:
            raise InputError(
                f"torque must be zero on {self._point!r}, a bare place of a surface, which cannot turn, got "
                f"{quoted(value)}: give it an area with zone.at(place, radius=...)"
            )
        return torque

    @property
    def name(self) -> str:
        """What messages call it."""
        return self._name or f"Load ({self._point!r})"

    def __repr__(self) -> str:
        return f"<{self.name}>"

    @property
    def scene(self) -> Any:
        """The scene that it was added to, or None."""
        return self._scene

    @property
    def points(self) -> tuple[Point]:
        """Where it acts, as a tuple of one."""
        return (self._point,)

    @property
    def point(self) -> Point:
        """Where it acts."""
        return self._point

    @property
    def follower(self) -> bool:
        """Whether it turns with the point."""
        return bool(self._row.follows[0])

    @property
    def force(self) -> FloatArray:
        """(3,), N: world frame, or the point's if it follows. Can be set."""
        return np.array(self._row.force[0])

    @force.setter
    def force(self, value: ArrayLike) -> None:
        self._set(self._row.force, validation.vector("force", value))

    def _set(self, field: FloatArray, value: FloatArray) -> None:
        """Set its force or torque; one that changes by more than half is a jump, not a course that steps sample."""
        change, size = np.abs(value - field[0]).max(), max(np.abs(value).max(), np.abs(field[0]).max())
        field[0] = value
        if self._scene is not None and change > JUMP * size:
            self._scene._forces_jumped()

    @property
    def torque(self) -> FloatArray:
        """(3,), N·m: world frame, or the point's if it follows. Can be set."""
        return np.array(self._row.torque[0])

    @torque.setter
    def torque(self, value: ArrayLike) -> None:
        self._set(self._row.torque, self._checked_torque(value))

    @property
    def enabled(self) -> bool:
        """Whether it acts. Can be set."""
        return bool(self._row.enabled[0])

    @enabled.setter
    def enabled(self, value: bool) -> None:
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"enabled must be True or False, got {quoted(value)}")
        if self.enabled != bool(value) and self._scene is not None:
            self._scene._forces_jumped()
        self._row.enabled[0] = int(value)

    # ------------------------------------------------------------------------------------------------- for scenes

    def _enter(self, loads: Loads, index: int) -> None:
        """Be number `index` of a scene's loads."""
        row = loads.part(index, index + 1)
        row.fill(self._row)
        self._row = row
        row.point[0] = self._point._index

    def _may_be_infinite(self, name: str) -> bool:
        """Whether infinity has a meaning in an array of its state."""
        return False

    def _check_state(self) -> None:
        """Any finite numbers are a state of it."""

    def _beginning(self) -> dict[str, Any]:
        """What `reset` takes instead of the numbers of its first state: nothing."""
        return {}

    def _state_arrays(self) -> dict[str, Any]:
        """The arrays that hold its part of a scene's state, by name."""
        return dict(self._row.fields(PARAMETER))
