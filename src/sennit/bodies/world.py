"""The world: a body without degrees of freedom, whose points a person or a script moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.body import Home
from sennit.bodies.kernels.points import WORLD
from sennit.bodies.point.point import Point
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.validation import FloatArray

__all__ = ["World", "WorldPoint"]

_NOWHERE = Home(np.zeros(0), np.zeros(0), np.zeros((0, 4)))


class WorldPoint(Point):
    """A place that a person or a script moves: set `position` (m), or `pose` where a constraint holds a rotation."""

    _kind = WORLD
    _quaternion: FloatArray | None = None
    """Of the last pose that it was given, with every bit."""
    _scene: Any = None
    """The scene that uses it, while a haptic loop holds that."""

    def __init__(self, place: ArrayLike | Pose) -> None:
        super().__init__(None)
        self._row.anchor_frame[0] = np.eye(3).ravel()
        self._set(place)

    def _set(self, place: ArrayLike | Pose) -> None:
        row = self._row
        if isinstance(place, Pose):
            row.anchor[0] = place.position
            row.anchor_frame[0] = place.rotation.ravel()
            self._quaternion = place.quaternion
        else:
            row.anchor[0] = validation.vector("position", place)
        if self._index < 0:  # no scene has seen it elsewhere
            row.anchor_last[0], row.anchor_frame_last[0] = row.anchor[0], row.anchor_frame[0]

    @property
    def position(self) -> FloatArray:
        """Where it is: (3,), m. Set it to move it; what it holds is there at the end of the next step."""
        return np.array(self._row.anchor[0])

    @position.setter
    def position(self, value: ArrayLike | Pose) -> None:
        self._set(value)

    @property
    def pose(self) -> Pose:
        """Position and frame; set it to move and turn it."""
        return Pose.from_rotation(self.position, self._row.anchor_frame[0].reshape(3, 3))

    @pose.setter
    def pose(self, value: Pose) -> None:
        if not isinstance(value, Pose):
            raise InputError(f"pose must be a sennit.Pose, got {validation.quoted(value)}")
        self._set(value)

    def __repr__(self) -> str:
        x, y, z = self.position.tolist()
        return f"<World.at(({x:g}, {y:g}, {z:g}))>"

    def _number(self) -> None:
        """It has no degrees of freedom."""

    def _can_carry(self) -> bool:
        return True

    def _where(self) -> Any:
        return _NOWHERE


class World:
    """The fixed frame of reference. ``World.at(place)`` is a point of it; it is in every scene."""

    def __init__(self) -> None:
        raise TypeError("there is one World: take its points with World.at(position)")

    @staticmethod
    def at(place: ArrayLike | Pose) -> WorldPoint:
        """A point at a `place`: a position (3,), m, or a `Pose` where a constraint needs a frame."""
        return WorldPoint(place)
