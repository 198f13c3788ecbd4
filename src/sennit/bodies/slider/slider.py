"""The slider: a point that moves along a rod."""

from __future__ import annotations

import numpy as np

from sennit import validation
from sennit.bodies.body import AbstractBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.rod.spline import shape
from sennit.errors import InputError
from sennit.point.kernels.points import C0, D0, FIRST, N0, SCALE
from sennit.point.point import SliderPoint
from sennit.validation import FloatArray, quoted

__all__ = ["Slider"]


class Slider(AbstractBody):
    """A body of one degree of freedom: a place on a `rod` that slides along it.

    Arguments: `at`, where it starts (rest length, m); `mass`, kg; `friction`, Coulomb's coefficient against the rod;
    `sliding_drag`, N·s/m; `speed`, m/s along the rod towards its end, drives it (None: it slides as forces want).

    ``slider.at()`` is its point: tie it to anything. It takes the rod's tangent, but no roll: it turns about the rod as
    it likes. At the end of an open rod it comes off, and `scene.events` says so. A massless one that nothing holds
    stays where it is on its rod.
    """

    def __init__(
        self,
        rod: Rod,
        at: float,
        *,
        mass: float = 0.0,
        friction: float = 0.0,
        sliding_drag: float = 0.0,
        speed: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        if not isinstance(rod, Rod):
            raise InputError(f"rod must be a sennit.Rod, got {quoted(rod)}")
        if rod.model == "discrete":
            raise InputError('nothing slides on a discrete rod, whose tangent jumps: make it with model="spline"')
        self._rod = rod
        self._mass = validation.number("mass", mass, minimum=0.0)
        self._friction = validation.number("friction", friction, minimum=0.0)
        self._drag = validation.number("sliding_drag", sliding_drag, minimum=0.0)
        self._speed = None if speed is None else validation.number("speed", speed)
        self._scale = rod._tables.spans / rod.length
        """du/dσ: the coordinate σ is the parameter u in units of the mean rest length of a span."""
        s = rod._checked_s("at", at)
        self._own(q=np.array([float(rod._u_at(s)[0]) / self._scale]), v=np.zeros(1), bead=np.zeros((1, 7)))
        self._arrays["bead"][0, 6] = 1.0
        self._point = SliderPoint(self)
        self._settle_point()
        self._arrays["bead"][0, :3] = self._point.position

    @property
    def rod(self) -> Rod:
        """The rod that it slides on."""
        return self._rod

    @property
    def mass(self) -> float:
        """Kg."""
        return self._mass

    def _effective_mass(self) -> float:
        """A massless slider counts with a billionth of its rod, so that one that nothing holds has a place."""
        return self._mass if self._mass > 0.0 else 1e-9 * self._rod.mass

    @property
    def friction(self) -> float:
        """Coulomb's coefficient, dimensionless."""
        return self._friction

    @property
    def sliding_drag(self) -> float:
        """Viscous resistance to sliding, N·s/m."""
        return self._drag

    @property
    def attached(self) -> bool:
        """Whether it is still on its rod."""
        return bool(self._arrays["bead"][0, 6] == 1.0)

    @property
    def s(self) -> float:
        """Where it is: rest length from the rod's start, m."""
        u = np.clip(self._arrays["q"][0] * self._scale, 0.0, self._rod._tables.spans)
        return float(self._rod._s_at(u)[0])

    @property
    def sliding_velocity(self) -> float:
        """Rate of `s`, m/s. Can be set."""
        return float(self._arrays["v"][0] * self._stretch())

    @sliding_velocity.setter
    def sliding_velocity(self, value: float) -> None:
        rate = validation.number("sliding_velocity", value) / self._stretch()
        self._arrays["v"][0] = rate
        self._arrays["bead"][0, 3:6] = self._point.velocity
        self._touched()

    def _stretch(self) -> float:
        """ds/dσ here."""
        rod = self._rod
        u = np.clip(self._arrays["q"][0] * self._scale, 0.0, rod._tables.spans)
        slope = shape.curve(rod._tables.rest[:, :3], rod.closed, u)[0, 1]
        return float(np.linalg.norm(slope) * self._scale)

    def at(self) -> SliderPoint:
        """Its point."""
        return self._point

    @property
    def position(self) -> FloatArray:
        """Where its point is: (3,), m."""
        return self._point.position

    def _settle_point(self) -> None:
        """Put the point's basis and frame where the coordinate says."""
        point, rod = self._point, self._rod
        t = rod._tables
        point._number()
        u = float(self._arrays["q"][0] * self._scale)
        first, rows = shape.basis(u, t.spans, t.closed)
        point._ints[0, FIRST] = first[0]
        point._floats[0, N0 : N0 + 4] = rows[0, 0]
        point._floats[0, D0 : D0 + 4] = rows[0, 1]
        point._floats[0, C0 : C0 + 4] = rows[0, 2]
        point._floats[0, SCALE] = self._scale
        if point._index < 0:
            point._state[0, :6] = rod._reference_at(self.s)
