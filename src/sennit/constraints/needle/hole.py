"""A hole in tissue that a needle runs through, or the place of the skin that its tip presses on."""

from __future__ import annotations

from typing import cast

from sennit.bodies.point.point import Point
from sennit.bodies.zone.point import ZonePoint
from sennit.constraints.constraint import AbstractConstraint, Row
from sennit.constraints.kernels.rows import TRANSLATE
from sennit.constraints.needle.arc import NeedleShape
from sennit.constraints.slide import Keyhole
from sennit.constraints.softness import Softness

__all__ = ["IDLE", "PIERCED", "PRESSED", "THREADED", "TIED", "NeedleHole"]

IDLE, PRESSED, PIERCED, THREADED, TIED = 0, 1, 2, 3, 4
"""What a hole is: laid out and not used; pressed on by the tip; with the needle in it; with the thread in it; with a
knot on it."""
ALONG = 2
"""Its row along the needle."""
FIRM = Softness()
LEAST = 1e-9
"""Least size of a bound, N: a row that bounds hold from one side only would be taken for a stop."""


class NeedleHole(AbstractConstraint):
    """A place of the skin is kept on the curve of a needle: 2 rows; along it: 1 row on the step's displacement, whose
    force is bounded.

    While the tip presses on the skin that force is between 0 and the threshold, so that the place stays at the tip; in
    a hole it is what cutting and friction can take. Points: the place of the zone, and the origin of the needle's
    frame.
    """

    def __init__(self, point: ZonePoint, frame: Point, shape: NeedleShape, thread: Keyhole, name: str) -> None:
        rows = [
            Row(TRANSLATE, axis=(0.0, 0.0, 1.0)),
            Row(TRANSLATE, axis=(1.0, 0.0, 0.0), target=shape.radius),
            Row(TRANSLATE, axis=(0.0, 1.0, 0.0), speed=0.0, limit=LEAST),
        ]
        super().__init__(point, frame, rows, FIRM, name)
        self._rows.enabled[:] = 0
        self._shape, self._thread = shape, thread

    @property
    def _place(self) -> ZonePoint:
        """The place of the skin that it is."""
        return cast(ZonePoint, self._points[0])

    @property
    def thread(self) -> Keyhole:
        """What holds the thread there once the needle is through."""
        return self._thread

    def _follow(self, s: float, x: float, y: float) -> None:
        """Turn the rows with the needle's direction at `s` (m), where the place is, at (x, y, ·) of the needle's frame.

        An arc turns by Δs/R in a step, so that a place that slides by Δs is off by Δs²/2R at its end; the next step
        closes that.
        """
        rows, (a, b, _) = self._rows, self._shape.way(s)
        rows.axis[1, 0], rows.axis[1, 1] = b, -a
        rows.axis[ALONG, 0], rows.axis[ALONG, 1] = a, b
        rows.value[1] = rows.value_last[1] = b * x - a * y - rows.target[1]
        rows.target[ALONG] = a * x + b * y
        rows.value[ALONG] = rows.value_last[ALONG] = 0.0

    def _bound(self, back: float, ahead: float) -> None:
        """Bounds of the force on the tissue along the needle towards its tip, N: from −`back` to `ahead`."""
        rows = self._rows
        rows.lower[ALONG], rows.upper[ALONG] = -max(back, LEAST), max(ahead, LEAST)

    @property
    def _pull(self) -> float:
        """Force on the tissue along the needle, towards its tip, N."""
        return float(self._rows.multiplier[ALONG])

    @property
    def _across(self) -> float:
        """Force on the tissue across the needle, N."""
        a, b = self._rows.multiplier[:ALONG].tolist()
        return float((a * a + b * b) ** 0.5)
