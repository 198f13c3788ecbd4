"""What slides on a rod: holes that it runs through, and pearls that run on it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.constraints.constraint import AbstractConstraint, Row, Softness, across, checked_point, in_frame
from sennit.constraints.kernels.rows import APART, BEADS, FRICTION, SLIDING, SQUARE
from sennit.errors import InputError
from sennit.point.point import Point, WorldPoint

__all__ = ["BeadContact", "Keyhole", "Pearl", "SliderRows", "pearl_contacts"]

_AXES = np.eye(3)
_FIRM = Softness()


class Keyhole(AbstractConstraint):
    """A rod runs through a hole: a massless `Slider` joined to the point `hole`: 3 rows.

    The hole may be a point of any body, the world included, and of the same rod (a slipknot). `direction`: the rod's
    tangent in the hole is kept along it (2 more rows; world frame now, then carried by the hole). `at`: rest length of
    the rod that is in the hole at first; where it is next to the hole, if left out. `friction` is Coulomb's,
    `sliding_drag` N·s/m, `speed` (m/s) feeds the rod through. When the rod's end runs out, it is released and
    `scene.events` says so.
    """

    def __init__(
        self,
        rod: Rod,
        at: float | None = None,
        hole: Point | ArrayLike | None = None,
        direction: ArrayLike | None = None,
        *,
        friction: float = 0.0,
        sliding_drag: float = 0.0,
        speed: float | None = None,
        compliance: float = 0.0,
        damping: float = 0.0,
        name: str | None = None,
    ) -> None:
        if hole is None:
            raise InputError("hole is missing: give the point that the rod runs through, such as World.at((0, 0, 1))")
        target = hole if isinstance(hole, Point) else WorldPoint(validation.vector("hole", hole))
        if at is None:
            if not isinstance(rod, Rod):
                raise InputError(f"rod must be a sennit.Rod, got {validation.quoted(rod)}")
            line = rod.centerline(1001)
            at = rod.length * int(np.argmin(np.linalg.norm(line - target.position, axis=1))) / 1000.0
        self._slider = Slider(rod, at, friction=friction, sliding_drag=sliding_drag, speed=speed)
        point = self._slider.at()
        rows = [Row(APART, axis=axis) for axis in _AXES]
        if direction is not None:
            wanted = validation.direction("direction", direction)
            rows += [Row(SQUARE, axis=in_frame(target, a), other=(0.0, 0.0, 1.0)) for a in across(wanted)]
        super().__init__(point, target, rows, Softness.checked(compliance, damping, 0.0, 0.0), name)

    @property
    def slider(self) -> Slider:
        """The body that slides."""
        return self._slider

    @property
    def s(self) -> float:
        """Rest length of the rod that is in the hole now, m."""
        return self._slider.s

    @property
    def released(self) -> bool:
        """Whether the rod has run out of the hole."""
        return not self._slider.attached

    @property
    def hole(self) -> Point:
        """The point that the rod runs through."""
        return checked_point("hole", self._points[1])


class Pearl(Slider):
    """A bead threaded on a rod: a `Slider` with mass and a `radius` (m).

    Pearls on the same rod, and the rod's ends, keep apart: shocks with `restitution` (1 keeps energy), and resting
    contact.
    """

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

    @property
    def radius(self) -> float:
        """M."""
        return self._radius

    @property
    def restitution(self) -> float:
        """Speed after a shock over speed before, from 0 to 1."""
        return self._restitution


class SliderRows(AbstractConstraint):
    """What acts on a slider along its rod: friction, a drive, and for a pearl the rod's ends."""

    def __init__(self, slider: Slider) -> None:
        rows = []
        if slider.friction > 0.0:
            rows.append(Row(SLIDING, friction=slider.friction))
        if slider._speed is not None:
            rows.append(Row(SLIDING, speed=slider._speed / slider._stretch()))
        if isinstance(slider, Pearl) and not slider.rod.closed:
            ends = (slider.radius, slider.rod.length - slider.radius)
            if not ends[0] < ends[1]:
                raise InputError(f"{slider.name} of radius {slider.radius:g} m is as wide as its rod is long")
            rows.append(Row(SLIDING, target=ends[0], bound="at_least", restitution=slider.restitution))
            rows.append(Row(SLIDING, target=ends[1], bound="at_most", restitution=slider.restitution))
        super().__init__(slider.at(), WorldPoint((0.0, 0.0, 0.0)), rows, _FIRM, f"{slider.name} on {slider.rod.name}")
        self._slider = slider

    def _number_friction(self) -> None:
        if self._slider.friction > 0.0:
            self._ints[0, FRICTION] = self._slider._index


class BeadContact(AbstractConstraint):
    """Contact between two neighbouring pearls of a rod."""

    def __init__(self, before: Pearl, after: Pearl) -> None:
        loop = before.rod.length if before.rod.closed else 0.0
        gap = after.position - before.position
        axis = gap / max(float(np.linalg.norm(gap)), 1e-300)
        row = Row(BEADS, axis=axis, other=(loop, 0.0, 0.0), target=before.radius + after.radius, bound="at_least",
                  restitution=min(before.restitution, after.restitution))  # fmt: skip
        super().__init__(after.at(), before.at(), [row], _FIRM, f"contact of {before.name} and {after.name}")
        self._pair = (before, after)


def pearl_contacts(pearls: Iterable[Pearl], known: Iterable[BeadContact]) -> list[BeadContact]:
    """A contact for each pair of neighbours on each rod; those in `known` are kept, with their forces."""
    have = {contact._pair: contact for contact in known}
    threads: dict[Rod, list[Pearl]] = {}
    for pearl in pearls:
        if pearl.attached:
            threads.setdefault(pearl.rod, []).append(pearl)
    contacts = []
    for rod, thread in threads.items():
        thread.sort(key=lambda pearl: pearl.s)
        pairs = list(zip(thread[:-1], thread[1:], strict=True))
        if rod.closed and len(thread) > 1:
            pairs.append((thread[-1], thread[0]))
        contacts += [have.get(pair) or BeadContact(*pair) for pair in pairs]
    # in an order that does not change while they go round
    return sorted(contacts, key=lambda contact: (contact._pair[0]._number, contact._pair[1]._number))
