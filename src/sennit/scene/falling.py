"""What falls, and is slowed: gravity and drag of scenes and of hair."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sennit import validation
from sennit.validation import FloatArray

__all__ = ["Falling"]


class Falling:
    """The part of a `Scene`, or of `Hair`, that has gravity and drag."""

    _gravity: FloatArray
    _drag: float

    def _fall(self, gravity: ArrayLike, drag: float) -> None:
        """Check both, and take them."""
        self._gravity = validation.vector("gravity", gravity)
        self._drag = validation.number("drag", drag, minimum=0.0)

    def _check_pull(self, name: str) -> None:
        """Raise `InputError` if gravity or drag, by its `name`, can't be set now."""

    def _pulled_otherwise(self) -> None:
        """Gravity has changed."""

    @property
    def gravity(self) -> FloatArray:
        """Acceleration of free fall: (3,), m/s². Can be set."""
        return self._gravity.copy()

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        wanted = validation.vector("gravity", value)
        self._check_pull("gravity")
        self._gravity = wanted
        self._pulled_otherwise()

    @property
    def drag(self) -> float:
        """Mass-proportional damping, 1/s: this part of what moves is lost in a second. Can be set."""
        return self._drag

    @drag.setter
    def drag(self, value: float) -> None:
        wanted = validation.number("drag", value, minimum=0.0)
        self._check_pull("drag")
        self._drag = wanted
