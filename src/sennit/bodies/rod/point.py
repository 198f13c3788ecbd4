"""A place on a rod."""

from __future__ import annotations

from typing import Any

from sennit.bodies.kernels.points import SPLINE, accept_point
from sennit.bodies.point.point import Point
from sennit.validation import FloatArray

__all__ = ["RodPoint"]


class RodPoint(Point):
    """A place at the rest length `s` (m) of a rod."""

    _kind = SPLINE

    def __init__(self, rod: Any, s: float) -> None:
        super().__init__(rod)
        self._sit((rod, s))

    @property
    def s(self) -> float:
        """Rest length from the rod's start, m."""
        return self._s

    def _seat(self) -> tuple[Any, float]:
        return self._body, self.s

    def _sit(self, seat: tuple[Any, float]) -> None:
        self._body, self._s = rod, s = seat
        row = self._row
        row.kind[0] = rod._tables.model.point_kind
        row.count[0] = rod._tables.n
        u = rod._u_at(s)
        self._u = float(u[0])
        """Its parameter, which never changes."""
        row.first[0], values = rod._tables.model.basis_at(rod._tables, u)
        row.basis[0], row.slope_basis[0] = values[:4], values[4:8]
        row.roll_basis[0], row.bend_basis[0] = values[8:12], values[12:16]

    def _refresh(self) -> None:
        self._number()
        self._set_reference(self._body._reference_at(self.s))

    def _set_reference(self, reference: FloatArray) -> None:
        self._frames.tangent[0], self._frames.reference[0] = reference[:3], reference[3:]

    def _carry(self) -> None:
        """The rod was laid elsewhere: carry the frame along, or begin afresh where it was turned right round."""
        placed = self._placed()
        if self._frames.tangent[0] @ placed.frame[0, 2::3] < -0.99:
            self._set_reference(self._body._reference_at(self.s))
        else:
            accept_point(0, self._row, self._frames, placed)

    def __repr__(self) -> str:
        return f"<{self._body.name}.at({self.s:g})>"

    def _describe(self) -> dict[str, Any]:
        return {"s": self.s}

    def _rod(self) -> Any:
        return self._body

    def _crowding(self) -> Any:
        return int(self._row.first[0])

    def _mass_felt(self, near: int, whole: int) -> float:
        return float(self._body._mass_felt(int(self._row.first[0]), self._row.basis[0]) / near)
