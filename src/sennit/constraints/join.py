"""Constraints that tie two points to each other."""

from __future__ import annotations

import numpy as np

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.constraints.constraint import AbstractConstraint, Row, checked_point, relative_rotation
from sennit.constraints.kernels.rows import APART, DISTANCE, ROTATE, TRANSLATE
from sennit.constraints.place import Bound, checked_bound, framed
from sennit.constraints.softness import Softness
from sennit.errors import InputError
from sennit.validation import quoted

__all__ = ["Ball", "Distance", "Fuse", "Lock"]

_AXES = np.eye(3)


class Distance(AbstractConstraint):
    """Keep two points at a distance: 1 row. ``bound="at_most"`` is a string that goes slack, ``"at_least"`` a strut.

    `length`: m, the present distance if left out; set it while running.
    """

    def __init__(
        self, p: Point, q: Point, length: float | None = None, bound: Bound = "equal", *, compliance: float = 0.0,
        damping: float = 0.0, restitution: float = 0.0, name: str | None = None,
    ) -> None:  # fmt: skip
        first, second = checked_point("p", p), checked_point("q", q)
        gap = first.position - second.position
        present = float(np.linalg.norm(gap))
        wanted = present if length is None else validation.number("length", length, minimum=0.0)
        if wanted == 0.0 and checked_bound(bound) != "at_least":
            raise InputError(f"length must be above 0 (use Fuse to join two points), got {quoted(wanted)}")
        axis = gap / present if present > 0.0 else (0.0, 0.0, 1.0)
        bounce = validation.number("restitution", restitution, minimum=0.0, maximum=1.0)
        row = Row(DISTANCE, axis=axis, target=wanted, bound=checked_bound(bound), restitution=bounce)
        super().__init__(first, second, [row], Softness.checked(compliance, damping, 0.0, 0.0), name)

    @property
    def length(self) -> float:
        """The distance that is kept, m. Can be set."""
        return float(self._rows.target[0])

    @length.setter
    def length(self, value: float) -> None:
        self._rows.target[0] = validation.number("length", value, positive=True)

    @property
    def bound(self) -> Bound:
        """``"equal"``, ``"at_most"`` (a string) or ``"at_least"`` (a strut)."""
        if self._rows.dual[0] >= 0:
            return "equal"
        return "at_most" if self._rows.sign[0] < 0.0 else "at_least"

    @property
    def tension(self) -> float:
        """The pull between the points, N; negative where it pushes."""
        return float(-self._rows.multiplier[0] * self._rows.sign[0])


class Fuse(AbstractConstraint):
    """Join two points: 3 rows, and with `align` 3 more that keep their present relative rotation.

    `closing_speed` (m/s, and ten times as many rad/s): points that are apart are brought together no faster.
    """

    def __init__(
        self, p: Point, q: Point, align: bool = True, *, compliance: float = 0.0, damping: float = 0.0,
        angular_compliance: float = 0.0, angular_damping: float = 0.0, closing_speed: float = 10.0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        first, second = checked_point("p", p), checked_point("q", q)
        if not isinstance(align, bool | np.bool_):
            raise InputError(f"align must be True or False, got {quoted(align)}")
        rows = [Row(APART, axis=axis) for axis in _AXES]
        if align:
            framed("p", p, "Fuse with align=True")
            framed("q", q, "Fuse with align=True")
            turn = relative_rotation(first, second)
            rows += [Row(ROTATE, axis=axis, relative=turn) for axis in _AXES]
        softness = Softness.checked(compliance, damping, angular_compliance, angular_damping)
        super().__init__(first, second, rows, softness, name)
        self.closing_speed = closing_speed


class Lock(Fuse):
    """Join two points rigidly, at their present relative rotation: 6 rows. `closing_speed`: as of `Fuse`."""

    def __init__(
        self, p: Point, q: Point, *, compliance: float = 0.0, damping: float = 0.0, angular_compliance: float = 0.0,
        angular_damping: float = 0.0, closing_speed: float = 10.0, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            p, q, True, compliance=compliance, damping=damping, angular_compliance=angular_compliance,
            angular_damping=angular_damping, closing_speed=closing_speed, name=name,
        )  # fmt: skip

    def hold(self) -> None:
        """Hold the points to each other as they are now, apart by what they are apart, and switch on."""
        if self._scene is not None:
            self._scene._check_here(self.name)
        first, second = self._points
        away = second.frame.T @ (first.position - second.position)
        self._rows.kind[:3], self._rows.target[:3] = TRANSLATE, away
        self._rows.relative[3:] = relative_rotation(first, second)
        self.enabled = True


class Ball(Fuse):
    """Join two points by a ball and socket: 3 rows; they turn freely."""

    def __init__(
        self, p: Point, q: Point, *, compliance: float = 0.0, damping: float = 0.0, name: str | None = None
    ) -> None:
        super().__init__(p, q, False, compliance=compliance, damping=damping, name=name)
