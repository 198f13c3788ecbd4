"""The slider: a point that moves along a rod."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit import validation
from sennit.bodies.body import AbstractBody, Home
from sennit.bodies.kernels.points import WIDTH
from sennit.bodies.rod.rod import Rod
from sennit.bodies.rod.spline import shape
from sennit.bodies.slider.point import SliderPoint
from sennit.bodies.slider.table import Sliders
from sennit.bodies.table import Motion
from sennit.errors import InputError
from sennit.given import remembers
from sennit.tables import Table
from sennit.validation import FloatArray, quoted

__all__ = ["Slider"]

GIVE = 0.1
"""Compliance of a drive that is held back, over that of a span of its rod: it lets go of a rod that it has stretched
between two pearls within some steps, and falls back by next to nothing under a weight."""


class Slider(AbstractBody):
    """A body of one degree of freedom: a place on a `rod` that slides along it.

    Arguments: `at`, where it starts (rest length, m); `mass`, kg; `friction`, Coulomb's coefficient against the rod;
    `sliding_drag`, N·s/m; `speed`, m/s along the rod towards its end, drives it (None: it slides as forces want).

    ``slider.at()`` is its point: tie it to anything. It takes the rod's tangent, but no roll: it turns about the rod as
    it likes. At the end of an open rod it comes off, and `scene.events` says so. A massless one that nothing holds
    stays where it is on its rod.
    """

    _rank = 2

    @remembers
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
        if not rod.tables.model.smooth:
            raise InputError(f'nothing slides on a {rod.model} rod, whose tangent jumps: make it with model="spline"')
        self._rod = rod
        self._mass = validation.number("mass", mass, minimum=0.0)
        self._friction = validation.number("friction", friction, minimum=0.0)
        self._drag = validation.number("sliding_drag", sliding_drag, minimum=0.0)
        self._speed = None if speed is None else validation.number("speed", speed)
        self._restitution = 0.0
        self._scale = rod._tables.spans / rod.length
        """du/dσ: the coordinate σ is the parameter u in units of the mean rest length of a span."""
        s = rod._checked_s("at", at)
        self._motion = Motion(dofs=1)
        self._motion.q[0] = float(rod._u_at(s)[0]) / self._scale
        self._home = Home.of(self._motion)
        self._row = Sliders(rows=1)
        """Its row of the scene's table of sliders, or its own."""
        self._row.mass[0], self._row.drag[0] = self._effective_mass(), self._drag
        self._row.scale[0], self._row.attached[0], self._row.span[0] = self._scale, 1, -1
        self._point = SliderPoint(self)
        self._settle_point()
        self._row.position[0] = self._point.position

    @property
    def rod(self) -> Rod:
        """The rod that it slides on."""
        return self._rod

    @property
    def mass(self) -> float:
        """Its mass, kg; 0 if it has none."""
        return self._mass

    def _effective_mass(self) -> float:
        """A massless slider counts with a billionth of its rod, so that one that nothing holds has a place."""
        return self._mass if self._mass > 0.0 else 1e-9 * self._rod.mass

    @property
    def friction(self) -> float:
        """Coulomb's coefficient, dimensionless. That of a slider that was made with friction can be set at any time, to
        another above 0.
        """
        return self._friction

    @friction.setter
    def friction(self, value: float) -> None:
        given = validation.number("friction", value, minimum=0.0)
        if self._friction == 0.0:
            raise InputError(
                f"friction of {self.name} can't be set to {quoted(value)}: it was made without. Make it with a little "
                "(1e-6, say), which can be changed then"
            )
        if given == 0.0:
            raise InputError(f"friction of {self.name}, made with some, must stay above 0: set a little, 1e-6")
        self._become(given)

    @property
    def sliding_drag(self) -> float:
        """Viscous resistance to sliding, N·s/m."""
        return self._drag

    @property
    def attached(self) -> bool:
        """Whether it is still on its rod."""
        return bool(self._row.attached[0])

    @property
    def s(self) -> float:
        """Where it is: rest length from the rod's start, m."""
        tables = self._rod._tables
        u = min(max(float(self._motion.q[0]) * self._scale, 0.0), float(tables.spans))
        return tables.model.length_here(tables, u)

    @property
    def sliding_velocity(self) -> float:
        """Rate of `s`, m/s. Can be set."""
        return float(self._motion.v[0] * self._stretch())

    @sliding_velocity.setter
    def sliding_velocity(self, value: float) -> None:
        rate = validation.number("sliding_velocity", value) / self._stretch()
        self._motion.v[0] = rate
        self._row.velocity[0] = self._point.velocity
        self._touched()

    def _go_to(self, s: float) -> None:
        """Be at the rest length `s` (m), at rest and on the rod."""
        self._motion.q[0] = float(self._rod._u_at(s)[0]) / self._scale
        self._motion.q_last[0], self._motion.v[0], self._motion.v_last[0] = self._motion.q[0], 0.0, 0.0
        self._row.attached[0] = 1
        if self._scene is not None:
            self._scene._released.discard(self)
        self._touched(moved=True)
        self._row.position_last[0], self._row.velocity_last[0] = self._row.position[0], self._row.velocity[0]

    def _seat(self) -> Rod:
        return self._rod

    def _sit(self, seat: Rod) -> None:
        """Be on another rod, at the same parameter: whoever moves it then says where."""
        u = self._motion.copy()
        before, self._rod, self._scale = self._scale, seat, seat._tables.spans / seat.length
        for name in ("q", "v", "q_last", "v_last"):
            getattr(self._motion, name)[:] = getattr(u, name) * before / self._scale
        self._row.scale[0], self._row.span[0] = self._scale, -1
        self._point._row.count[0] = seat._tables.n

    def _passed_to(self, rod: Rod, u: float) -> None:
        """Be on a piece of its rod, at the parameter `u` there; it moves on as it did."""
        self._sit(rod)
        self._motion.q_last[0] += u / self._scale - self._motion.q[0]
        self._motion.q[0] = u / self._scale
        self._settle_point()

    def _stretch(self) -> float:
        """ds/dσ here."""
        rod = self._rod
        u = np.clip(self._motion.q[0] * self._scale, 0.0, rod._tables.spans)
        slope = shape.curve(rod._tables.rest[:, :3], rod.closed, u)[0, 1]
        return float(np.linalg.norm(slope) * self._scale)

    def _stops(self) -> tuple[float, float] | None:
        """Least and largest coordinate σ (m) that the rod's ends leave it; None: it runs off them."""
        return None

    def _reach(self) -> float | None:
        """Radius (m) by which it keeps others of its rod away; None: it lets them pass."""
        return None

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
        u = float(self._motion.q[0] * self._scale)
        first, rows = shape.basis(u, t.spans, t.closed)
        row = point._row
        row.first[0], row.scale[0] = first[0], self._scale
        row.basis[0], row.slope_basis[0], row.bend_basis[0] = rows[0]
        if point._index < 0:
            self._turn_point()

    def _turn_point(self) -> None:
        """Take the point's frame from the rod."""
        reference, frames = self._rod._reference_at(self.s), self._point._frames
        frames.tangent[0], frames.reference[0] = reference[:3], reference[3:]

    def _follow_carrier(self, moved: bool) -> None:
        if moved:
            self._settle_point()
            self._turn_point()
        self._row.position[0], self._row.velocity[0] = self._point.position, self._point.velocity

    # ------------------------------------------------------------------------------------------------- for scenes

    @classmethod
    def _join(cls, bodies: Sequence[Slider]) -> dict[str, Table]:
        sliders = Sliders.joined(body._row for body in bodies)
        for i, body in enumerate(bodies):
            body._index, body._row = i, sliders.part(i, i + 1)
        return {"sliders": sliders}

    def _take_place(self, motion: Motion, home: Home, dof: int, block: int) -> int:
        super()._take_place(motion, home, dof, block)
        row = self._row
        row.rod[0], row.dof[0], row.slots[0], row.span[0] = self._rod._index, dof, block, -1
        self._carrier_changed()
        return block + WIDTH

    def _carrier_changed(self) -> None:
        self._row.mass[0] = self._effective_mass()
        self._row.give[0] = GIVE * self._rod.length / (self._rod._tables.spans * self._rod._firmness())

    def _leave_tables(self) -> None:
        super()._leave_tables()
        self._row = self._row.copy()

    def _own_tables(self) -> dict[str, Table]:
        return {"sliders": self._row}

    def _own_points(self) -> Sequence[SliderPoint]:
        return (self._point,)

    def _note_points(self) -> None:
        self._row.point[0] = self._point._index

    def _matter(self) -> float:
        return self._friction

    def _is_of(self, matter: float) -> bool:
        return self._friction == matter

    def _be_of(self, matter: float) -> None:
        self._friction = matter
        if matter > 0.0 and self._scene is not None and self in self._scene._slider_rows:
            self._scene._slider_rows[self]._rows.friction[0] = matter

    def _has_left(self) -> bool:
        return not self.attached

    def _rides_on(self) -> tuple[AbstractBody, ...]:
        return (self._rod,)

    def _describe(self, out: Any) -> dict[str, Any]:
        numbers = {"mass": self._mass, "friction": self._friction, "drag": self._drag, "speed": self._speed}
        return {"rod": out.body(self._rod), **numbers}

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Slider:
        return cls(read.body(entry["rod"], Rod), 0.0, name=entry["name"], **cls._options(entry))

    @classmethod
    def _options(cls, entry: dict[str, Any]) -> dict[str, Any]:
        """Arguments that a file's entry holds."""
        return {key: entry[key] for key in ("mass", "friction", "speed")} | {"sliding_drag": entry["drag"]}

    def _point_from(self, entry: dict[str, Any]) -> SliderPoint:
        return self._point

    def _home_table(self) -> str:
        return "sliders"

    def _extent(self) -> float:
        return self._rod.length

    def _weight_mass(self) -> float:
        return self._mass

    def _angles(self) -> NDArray[np.int64]:
        return np.zeros(0, np.int64)
