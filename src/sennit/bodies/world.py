"""The world: a body without degrees of freedom, whose points a person or a script moves."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sennit.geometry.pose import Pose
from sennit.point.point import WorldPoint

__all__ = ["World"]


class World:
    """The fixed frame of reference. ``World.at(place)`` is a point of it; it is in every scene."""

    def __init__(self) -> None:
        raise TypeError("there is one World: take its points with World.at(position)")

    @staticmethod
    def at(place: ArrayLike | Pose) -> WorldPoint:
        """A point at a position (3,), m, or with a `Pose` where a constraint needs a frame."""
        return WorldPoint(place)
