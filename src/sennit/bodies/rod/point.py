"""A place on a rod."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.kernels.points import SPLINE, accept_point
from sennit.bodies.point.point import Point
from sennit.bodies.point.table import Places
from sennit.validation import FloatArray

__all__ = ["RodPoint", "checked_offset"]


class RodPoint(Point):
    """A place at the rest length `s` (m) of a rod, on its axis or at an `offset` (m) from it along d1 and d2."""

    _kind = SPLINE

    def __init__(self, rod: Any, s: float, offset: tuple[float, float] = (0.0, 0.0)) -> None:
        super().__init__(rod)
        self._offset = offset
        self._row.local[0, :2] = offset
        self._sit((rod, s))

    @property
    def offset(self) -> FloatArray:
        """How far it lies from the rod's axis along d1 and d2: (2,), m."""
        return np.array(self._offset)

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
        x, y = self._offset
        return f"<{self._body.name}.at({self.s:g}{f', offset=({x:g}, {y:g})' if self._beside else ''})>"

    @property
    def _beside(self) -> bool:
        """Whether it lies beside the axis."""
        return any(self._offset)

    def _placed(self, framed: bool = True) -> Places:
        return super()._placed(framed or self._beside)  # it lies where the frame of its section says

    def _describe(self) -> dict[str, Any]:
        return {"s": self.s} | ({"offset": list(self._offset)} if self._beside else {})

    def _check_state(self) -> None:
        self._row.local[0] = (*self._offset, 0.0)  # no state, and in old files some other number

    def _rod(self) -> Any:
        return self._body

    def _crowding(self) -> Any:
        return int(self._row.first[0])

    def _mass_felt(self, near: int, whole: int) -> float:
        felt = float(self._body._mass_felt(int(self._row.first[0]), self._row.basis[0]) / near)
        if not self._beside:
            return felt
        # A push beside the axis turns the section as well, whose mass is at its radius of gyration.
        masses = self._body._tables.masses
        square = float(masses.roll[:, 0].sum() / masses.mass[:, 0].sum())
        return felt / (1.0 + sum(x * x for x in self._offset) / square)


def checked_offset(offset: ArrayLike) -> tuple[float, float]:
    """What users gave as the place of a point beside a rod's axis."""
    x, y = validation.array("offset", offset, (2,)).tolist()
    return x, y
