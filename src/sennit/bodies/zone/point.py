"""A place of a zone's surface."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit import validation
from sennit.bodies.body import Home
from sennit.bodies.kernels.points import ZONE, evaluate_point
from sennit.bodies.point.point import Point
from sennit.bodies.point.table import Frames, Places, Points
from sennit.validation import FloatArray

__all__ = ["ZonePoint"]


class ZonePoint(Point):
    """A place of a zone's surface, made by ``zone.at(...)``: the mean of some vertices.

    d3 of its frame is the outward normal. Without a radius it turns with the zone's frame only, and no constraint can
    hold its direction; with one it is a patch, which turns with the surface too.
    """

    _kind = ZONE

    def __init__(
        self, zone: Any, place: FloatArray, frame: FloatArray, vertices: NDArray[np.int64], weights: FloatArray,
        given: dict[str, Any],
    ) -> None:  # fmt: skip
        super().__init__(zone)
        self._place, self._vertices, self._weights = place, vertices, weights
        """Where it is at rest in the zone's frame; its numbers are Σ weights (k, 3 or 6, 3) · displacements (k, 3)."""
        self._given = given
        """What `at` was called with."""
        self._known: tuple[Any, ...] | None = None
        self._row.numbers[0] = weights.shape[1]
        self._row.anchor_frame[0] = frame.ravel()

    @classmethod
    def mean(cls, zone: Any, vertices: NDArray[np.int64], shares: FloatArray) -> ZonePoint:
        """The mean of free vertices (k,) with `shares` (k,), which sum to 1; some may be negative."""
        place = shares @ zone._surface.vertices[vertices]
        given = {"vertices": vertices.tolist(), "shares": shares.tolist()}
        weights = shares[:, None, None] * np.eye(3)
        return cls(zone, place, np.eye(3), vertices, weights, {"place": given, "radius": None})

    @classmethod
    def described(cls, zone: Any, given: dict[str, Any]) -> ZonePoint:
        """The mean that a file describes."""
        count = len(zone._surface.vertices)
        vertices = [validation.count("vertices", vertex, 0, count - 1) for vertex in given["vertices"]]
        ids, shares = np.array(vertices, np.int64), validation.array("shares", given["shares"], (len(vertices),))
        if len(np.unique(ids)) < len(ids) or (zone._greens.slot[ids] < 0).any() or abs(shares.sum() - 1.0) > 1e-6:
            raise ValueError("a place of a zone has other vertices")
        return cls.mean(zone, ids, shares)

    @property
    def has_frame(self) -> bool:
        """Whether it has a radius."""
        return bool(self._row.numbers[0] == 6)

    @property
    def has_direction(self) -> bool:
        """Whether it has a radius."""
        return self.has_frame

    @property
    def radius(self) -> float | None:
        """Of the patch, m; None for a bare place."""
        radius: float | None = self._given["radius"]
        return radius

    def _take_over(self, there: ZonePoint) -> None:
        """Be another place of the same zone, with as many numbers."""
        self._place, self._vertices, self._weights = there._place, there._vertices, there._weights
        self._given, self._known = there._given, there._known
        self._row.anchor_frame[0] = there._row.anchor_frame[0]
        on = self._body._on
        self._row.anchor[0] = self._place if on.body is None else self._place + on.local

    def _key(self) -> tuple[Any, ...]:
        """Equal for points that are the same place: they share their numbers."""
        if self._known is None:
            self._known = self._place.tobytes(), self._vertices.tobytes(), self._weights.tobytes()
        return self._known

    def _number(self) -> None:
        zone, row = self._body, self._row
        on = zone._on
        offset, size = zone._slot_of(self)
        row.body[0], row.base[0], row.row_length[0] = zone._index, zone._dof0 + offset, size
        row.block[0] = zone._block0 + offset * (size + 1)
        place = self._place
        row.carrier[0] = row.carrier_dof[0] = row.carrier_block[0] = row.carrier_point[0] = -1
        if on.body is None:
            row.carrier_point[0] = on._index
        else:
            body = on.body
            row.carrier[0], row.carrier_dof[0], row.carrier_block[0] = body._index, body._dof0, body._block0
            place = place + on.local
        row.anchor[0] = place

    def _describe(self) -> dict[str, Any]:
        return {"zone": self._given["place"], "radius": self._given["radius"]}

    def _refresh(self) -> None:
        """A point that no scene keeps has its numbers behind those of its carrier."""
        self._number()
        if self._index < 0:
            self._row.base[0] = len(self._carrier_home().q)

    def _carrier_home(self) -> Any:
        on: Point = self._body._on
        return on._where()

    def _where(self) -> Any:
        if self._index >= 0:
            return self._body._home
        home = self._carrier_home()
        q, v = self._body._numbers_of(self)
        return Home(np.concatenate((home.q, q)), np.concatenate((home.v, v)), home.quat)

    def _placed(self, framed: bool = True) -> Places:
        if self._index < 0:
            self._refresh()
        # The kernel looks a carrier of the world up in the same table: it stands behind the point here.
        both, placed = Points.joined((self._row, self._body._on._row)), Places(rows=2)
        both.carrier_point[0] = 1
        home = self._where()
        evaluate_point(0, both, Frames(rows=2), home.q, home.quat, placed)
        return placed.part(0, 1)

    def __repr__(self) -> str:
        place = self._given["place"]
        if isinstance(place, dict):
            return f"<mean of {len(self._vertices)} vertices of {self._body.name}>"
        text = str(place) if isinstance(place, int) else f"({', '.join(f'{x:g}' for x in self._place)})"
        return f"<{self._body.name}.at({text})>"
