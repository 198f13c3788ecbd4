"""Where two zones of a chain are joined in a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.zone.point import ZonePoint
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.join import Ball
from sennit.validation import FloatArray

__all__ = ["SeamTie"]


class SeamTie(Ball):
    """A seam between two zones of a `ZoneChain` that is in a scene: 3 rows for each of its places. Made by `Scene.add`.

    Its places are the seam's vertices, or fewer means of them. Switched off (`enabled`) the seam is open; `compliance`
    and `damping` are those of each place.
    """

    def __init__(self, first: Sequence[ZonePoint], second: Sequence[ZonePoint], name: str | None = None) -> None:
        super().__init__(first[0], second[0], name=name)
        self._take(
            [
                Ball(p, q, name=f"{self.name}, place {k + 1}")
                for k, (p, q) in enumerate(zip(first[1:], second[1:], strict=True))
            ]
        )

    def _take(self, parts: list[Ball]) -> None:
        self._parts = parts
        """What ties its other places."""

    @property
    def zones(self) -> tuple[Any, Any]:
        """The two zones that it joins."""
        first, second = self._points
        return first.body, second.body

    @property
    def places(self) -> int:
        """Number of places at which it is tied."""
        return 1 + len(self._parts)

    @property
    def vertices(self) -> tuple[FloatArray, FloatArray]:
        """The vertices of either zone on the seam, (k,) each."""
        both = []
        for side in (0, 1):
            points: Any = [part._points[side] for part in (self, *self._parts)]
            ids = np.concatenate([point._vertices for point in points])
            both.append(ids[np.sort(np.unique(ids, return_index=True)[1])])
        return both[0], both[1]

    @property
    def gap(self) -> float:
        """Largest distance of two vertices that are one, m: 0 where every vertex is tied."""
        sides = [zone.positions[ids] for zone, ids in zip(self.zones, self.vertices, strict=True)]
        return float(np.linalg.norm(sides[0] - sides[1], axis=1).max())

    @property
    def multipliers(self) -> FloatArray:
        """Forces of its rows, N: three for each place."""
        return np.concatenate([super().multipliers, *(part.multipliers for part in self._parts)])

    def _measured(self) -> FloatArray:
        """Force and torque of all its places at the first of them; by how far the rows there are off."""
        out = super()._measured()
        start = self._points[0].position
        for part in self._parts:
            wrench = part._measured()[:6]
            out[:3] += wrench[:3]
            out[3:6] += wrench[3:] + np.cross(part._points[0].position - start, wrench[:3])
        return out

    @property
    def enabled(self) -> bool:
        """Whether it holds. Can be set: one that is switched off is an open seam, and closes when it is on again."""
        return bool(self._rows.enabled[0])

    @enabled.setter
    def enabled(self, value: bool) -> None:
        AbstractConstraint.enabled.fset(self, value)  # type: ignore[attr-defined]
        for part in self._parts:
            part.enabled = self.enabled

    def _set_softness(self, field: str, angular: bool, value: float) -> None:
        super()._set_softness(field, angular, value)
        for part in self._parts:
            part._set_softness(field, angular, value)

    # ------------------------------------------------------------------------------------------------- for scenes

    def _companions(self) -> list[Ball]:
        return self._parts

    def _held_points(self) -> list[Point]:
        return [point for part in self._parts for point in part.points]

    def _describe(self, out: Any) -> dict[str, Any]:
        places = [[out.point(point) for point in part.points] for part in self._parts]
        return {**super()._describe(out), "places": places}

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Any:
        made: Any = super()._rebuilt(entry, read)
        pairs = [made.points, *([read.point(place) for place in pair] for pair in entry["places"])]
        first, second = made.points
        if not all(len(pair) == 2 and all(isinstance(point, ZonePoint) for point in pair) for pair in pairs) or any(
            p.body is not first.body or q.body is not second.body for p, q in pairs
        ):
            raise ValueError("a seam has places of other zones")
        if len(made._rows) != 3:
            raise ValueError("a seam has other rows")
        parts = []
        for p, q in pairs[1:]:
            part = Ball(p, q)
            for field in ("compliance", "damping", "closing"):
                getattr(part._rows, field)[:] = getattr(made._rows, field)
            part._rows.enabled[:] = made._rows.enabled
            parts.append(part)
        made._take(parts)
        return made
