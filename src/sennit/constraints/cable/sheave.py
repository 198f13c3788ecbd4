"""The sheave: a grooved wheel, a drum or a bollard that a cable runs over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.bodies.point.point import Point
from sennit.constraints.constraint import across, checked_point, in_frame
from sennit.errors import InputError
from sennit.given import remembers
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.constraints.cable.cable import Cable
    from sennit.constraints.cable.path import CablePath

__all__ = ["Sheave"]


@guarded()
class Sheave:
    """A wheel of `radius` (m) about the point `at`, as an entry of a `Cable`'s list.

    `axis`: direction of its axle, in the world now, then carried by the point. The cable runs round it by the
    right-hand rule, thumb along the axis, as it goes from its first to its last point.

    * As it is, it turns without resistance and weighs nothing: the tension is the same on both sides.
    * `inertia` (kg·m² about the axle): the cable turns it, and the tensions differ while it spins up.
    * `friction` (Coulomb's, dimensionless): the cable slips on it when the tensions differ by more than e^{μθ}, θ the
      angle of wrap. None: it never slips. 0: it slips without resistance and never turns the wheel.
    * `fixed`: it cannot turn on its carrier: a bollard, or the drum that a rigid body is.

    `turns`: whole turns that the cable makes round it besides.
    """

    _given: Any = None

    @remembers
    def __init__(
        self,
        at: Point,
        axis: ArrayLike,
        radius: float,
        *,
        inertia: float = 0.0,
        friction: float | None = None,
        fixed: bool = False,
        turns: int = 0,
    ) -> None:
        self._point = checked_point("at", at)
        self._axis = in_frame(self._point, validation.direction("axis", axis))
        self._mark, _ = across(self._axis)
        self._radius = validation.number("radius", radius, positive=True)
        self._inertia = validation.number("inertia", inertia, minimum=0.0)
        self._friction = math.inf if friction is None else validation.number("friction", friction, minimum=0.0)
        self._fixed = validation.flag("fixed", fixed)
        self._turns = validation.count("turns", turns, 0)
        self._cable: Cable | None = None
        self._entry = -1

    def __repr__(self) -> str:
        return f"<Sheave at {self._point!r}, radius {self._radius:g} m>"

    @property
    def divides(self) -> bool:
        """Whether tensions on its two sides can differ."""
        return self._friction > 0.0 and (self._fixed or self._inertia > 0.0)

    @property
    def turning(self) -> bool:
        """Whether it has a motion of its own that the cable drives."""
        return self.divides and not self._fixed

    @property
    def point(self) -> Point:
        """Its centre."""
        return self._point

    @property
    def radius(self) -> float:
        """Distance of the cable from its axle, m."""
        return self._radius

    @property
    def inertia(self) -> float:
        """Moment of inertia about its axle, kg·m²."""
        return self._inertia

    @property
    def friction(self) -> float:
        """Coulomb's coefficient, dimensionless; infinite if the cable does not slip on it.

        Can be set at any time to another above 0, or to None (it never slips), unless it was made with 0.
        """
        if self._cable is None:
            return self._friction
        return float(self._cable._tables.elements.friction[self._element(self._cable)])

    @friction.setter
    def friction(self, value: float | None) -> None:
        given = math.inf if value is None else validation.number("friction", value, minimum=0.0)
        if (given > 0.0) != (self._friction > 0.0):
            raise InputError(
                f"friction of {self!r}, made with{'' if self._friction > 0.0 else 'out any'}, can't become "
                f"{validation.quoted(value)}: "
                + (
                    "it must stay above 0, set a little, 1e-6"
                    if self._friction > 0.0
                    else "make it with a little, 1e-6"
                )
            )
        if self._cable is None:
            self._friction = given
            return
        self._cable._forces_change()
        self._cable._tables.elements.friction[self._element(self._cable)] = given

    def _element(self, cable: Cable) -> int:
        """Which of the cable's elements it is now."""
        return int(cable._tables.own[self._entry])

    @property
    def fixed(self) -> bool:
        """Whether it cannot turn on its carrier."""
        return self._fixed

    @property
    def axis(self) -> FloatArray:
        """Direction of its axle in the frame of its point: (3,)."""
        return self._axis.copy()

    @property
    def mark(self) -> FloatArray:
        """The spoke from which its angle is counted, in the frame of its point: (3,), a unit vector."""
        return self._mark.copy()

    @property
    def turns(self) -> int:
        """Whole turns that the cable makes round it besides."""
        return self._turns

    @property
    def idle(self) -> bool:
        """Whether it weighs nothing and turns with the cable: then its motion is the cable's."""
        return self._idle

    def _describe(self) -> dict[str, Any]:
        """What a file has of it besides its point."""
        return {
            "axis": self._axis.tolist(), "mark": self._mark.tolist(), "turns": self._turns, "radius": self.radius,
            "inertia": self.inertia, "fixed": self.fixed,
            "friction": self.friction if self.friction < math.inf else None,
        }  # fmt: skip

    @classmethod
    def _rebuilt(cls, point: Point, entry: dict[str, Any]) -> Sheave:
        """The sheave that a file's entry describes."""
        names = ("radius", "inertia", "friction", "fixed", "turns")
        sheave = cls(point, (0.0, 0.0, 1.0), **{name: entry[name] for name in names})
        sheave._axis, sheave._mark = (validation.vector(key, entry[key]) for key in ("axis", "mark"))
        return sheave

    def _path(self) -> CablePath:
        """The path of its cable as it is now."""
        if self._cable is None:
            raise InputError(f"{self!r} is in no cable yet: give it to a Cable as one of its points")
        return self._cable._now()

    @property
    def _idle(self) -> bool:
        """Whether it weighs nothing and turns with the cable: then its motion is the cable's."""
        return not self.divides and not self._fixed and self._friction > 0.0

    @property
    def angle(self) -> float:
        """How far the cable has turned it on its carrier, rad; positive as the cable runs to its last point."""
        return self._path().angle(self._entry)

    @property
    def rate(self) -> float:
        """How fast it turns on its carrier, rad/s."""
        path = self._path()
        if self._idle:
            return path.speed_past(self._entry) / self._radius
        if not self.turning:
            return 0.0
        carried = float(self._point.angular_velocity @ (self._point.frame @ self._axis))
        return float(path.elements.spin[path.element(self._entry)]) - carried

    @property
    def wrap(self) -> float:
        """Angle over which the cable lies on it, rad, with whole turns; 0 where it passes clear."""
        return self._path().wrap(self._entry)

    def _check_clear(self, before: Point, after: Point) -> None:
        """Raise if one of its neighbours lies within its radius."""
        axis = self._point.frame @ self._axis
        for point in (before, after):
            gap = point.position - self._point.position
            off = float(np.linalg.norm(gap - (gap @ axis) * axis))
            if off <= self._radius and point is not self._point:
                raise InputError(
                    f"{point!r} lies within the radius of {self!r}, {off:g} m from its axis: no cable can reach it "
                    "there"
                )

    def _check_apart(self, following: Sheave) -> None:
        """Raise if the next sheave, in one plane with it, leaves the cable no way between them."""
        axes = [sheave.point.frame @ sheave._axis for sheave in (self, following)]
        along = float(axes[0] @ axes[1])
        gap = following.point.position - self._point.position
        off = float(np.linalg.norm(gap - (gap @ axes[0]) * axes[0]))
        needed = abs(self._radius - following.radius) if along > 0.0 else self._radius + following.radius
        if abs(along) > 0.9 and off <= needed:
            raise InputError(
                f"{following!r} is {off:g} m from {self!r}: a cable between them needs more than {needed:g} m"
            )
