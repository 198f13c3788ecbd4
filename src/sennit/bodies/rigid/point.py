"""A place of a rigid body."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.bodies.kernels.points import RIGID
from sennit.bodies.point.point import Point
from sennit.validation import FloatArray

__all__ = ["RigidPoint"]


class RigidPoint(Point):
    """A place of a rigid body, in its frame (m)."""

    _kind = RIGID

    def __init__(self, body: Any, place: FloatArray) -> None:
        super().__init__(body)
        self._row.local[0] = place

    @property
    def local(self) -> FloatArray:
        """Where it is in the body's frame: (3,), m."""
        return np.array(self._row.local[0])

    def __repr__(self) -> str:
        x, y, z = self.local.tolist()
        return f"<{self._body.name}.at(({x:g}, {y:g}, {z:g}))>"

    def _describe(self) -> dict[str, Any]:
        return {"place": self.local.tolist()}

    def _can_carry(self) -> bool:
        return True

    def _is_rigid(self) -> bool:
        return True

    def _extent(self) -> float:
        return max(float(np.linalg.norm(self._row.local[0])), float(self._body._extent()))

    def _mass_felt(self, near: int, whole: int) -> float:
        return float(self._body.mass / whole)
