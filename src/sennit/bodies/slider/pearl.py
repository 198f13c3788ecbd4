"""The pearl: a slider with mass and a size."""

from __future__ import annotations

from typing import Any

from sennit import validation
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.errors import InputError
from sennit.geometry.shapes import Sphere
from sennit.given import remembers

__all__ = ["Pearl"]


class Pearl(Slider):
    """A bead threaded on a rod: a `Slider` with mass and a `radius` (m).

    `at`, `friction` and `sliding_drag` are as of a `Slider`.

    Pearls on the same rod, and the rod's ends, keep apart: shocks with `restitution` (1 keeps energy), and resting
    contact. A `speed` (m/s) drives it with any force that it takes, but not through them: against a stop, or another
    driven pearl, the drive gives way, and `scene.events` says so.

    One that is wider than its rod touches other things as a ball, if `Scene.collide` says so.
    """

    @remembers
    def __init__(
        self,
        rod: Rod,
        at: float,
        *,
        mass: float,
        radius: float,
        friction: float = 0.0,
        sliding_drag: float = 0.0,
        restitution: float = 1.0,
        speed: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            rod, at, mass=validation.number("mass", mass, positive=True), friction=friction, sliding_drag=sliding_drag,
            speed=speed, name=name,
        )  # fmt: skip
        self._radius = validation.number("radius", radius, positive=True)
        self._restitution = validation.number("restitution", restitution, minimum=0.0, maximum=1.0)

    def _describe(self, out: Any) -> dict[str, Any]:
        return {**super()._describe(out), "radius": self.radius, "restitution": self.restitution}

    @classmethod
    def _options(cls, entry: dict[str, Any]) -> dict[str, Any]:
        return {**super()._options(entry), "radius": entry["radius"], "restitution": entry["restitution"]}

    def _stops(self) -> tuple[float, float] | None:
        if self.rod.closed:
            return None
        ends = (self.radius, self.rod.length - self.radius)
        if not ends[0] < ends[1]:
            raise InputError(f"{self.name} of radius {self.radius:g} m is as wide as its rod is long")
        return ends

    def _reach(self) -> float | None:
        return self._radius

    @property
    def radius(self) -> float:
        """Of the bead, m."""
        return self._radius

    @property
    def shapes(self) -> tuple[Sphere, ...]:
        """What it touches with: a ball about its place; nothing if it is nowhere wider than its rod."""
        return (Sphere((0.0, 0.0, 0.0), self._radius),) if self._radius > self.rod._thinnest() else ()

    @property
    def restitution(self) -> float:
        """Speed after a shock over speed before, from 0 to 1."""
        return self._restitution
