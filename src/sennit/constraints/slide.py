"""What slides on a rod: holes that it runs through, and pearls that run on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.pearl import Pearl
from sennit.bodies.slider.slider import Slider
from sennit.bodies.world import WorldPoint
from sennit.constraints.constraint import AbstractConstraint, Row, checked_point, tilt_rows
from sennit.constraints.kernels.rows import APART, BEADS, SLIDING
from sennit.constraints.softness import Softness
from sennit.errors import InputError

__all__ = ["BeadContact", "Keyhole", "SliderRows", "pearl_contacts"]

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
            rows += tilt_rows(target, wanted, (0.0, 0.0, 1.0))
        super().__init__(point, target, rows, Softness.checked(compliance, damping, 0.0, 0.0), name)

    _kept = {"_slider": "slider"}

    def _free_points(self) -> Sequence[Point]:
        return self._points[1:]

    def _bring(self, scene: Any) -> None:
        scene._check_member(self._slider.rod, self.name)
        scene._check_new(self._slider)
        scene._take_in(self._slider)

    def _holds(self, body: Any) -> bool:
        return body is self._slider

    def _take_away(self, scene: Any) -> None:
        scene._drop_body(self._slider)

    def _run_on(self, slider: Slider) -> None:
        """Be the hole of another slider, from a file."""
        self._slider = slider
        self._points = (slider.at(), self._points[1])

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


class SliderRows(AbstractConstraint):
    """What acts on a slider along its rod: friction, a drive, and for a pearl the rod's ends."""

    def __init__(self, slider: Slider) -> None:
        rows = []
        if slider.friction > 0.0:
            rows.append(Row(SLIDING, friction=slider.friction))
        if slider._speed is not None:
            rows.append(Row(SLIDING, speed=slider._speed / slider._stretch()))
        ends = slider._stops()
        if ends is not None:
            rows.append(Row(SLIDING, target=ends[0], bound="at_least", restitution=slider._restitution))
            rows.append(Row(SLIDING, target=ends[1], bound="at_most", restitution=slider._restitution))
        super().__init__(slider.at(), WorldPoint((0.0, 0.0, 0.0)), rows, _FIRM, f"{slider.name} on {slider.rod.name}")
        self._slider = slider

    @property
    def slider(self) -> Slider:
        """What they act on."""
        return self._slider

    @classmethod
    def of(cls, body: Any) -> SliderRows | None:
        """The rows of a body that slides; None for any other."""
        return cls(body) if isinstance(body, Slider) else None

    def _ties(self) -> bool:
        return False  # it acts between a slider and its own rod

    def _number_friction(self) -> None:
        if self._slider.friction > 0.0:
            self._rows.slider[0] = self._slider._index


class BeadContact(AbstractConstraint):
    """Contact between two neighbouring pearls of a rod."""

    def __init__(self, before: Pearl, after: Pearl) -> None:
        loop = before.rod.length if before.rod.closed else 0.0
        gap = after.position - before.position
        axis = gap / max(float(np.linalg.norm(gap)), 1e-300)
        row = Row(BEADS, axis=axis, loop=loop, target=before.radius + after.radius, bound="at_least",
                  restitution=min(before.restitution, after.restitution))  # fmt: skip
        super().__init__(after.at(), before.at(), [row], _FIRM, f"contact of {before.name} and {after.name}")
        self._pair = (before, after)


def pearl_contacts(sliders: Iterable[Slider], known: Iterable[BeadContact]) -> list[BeadContact]:
    """A contact for each pair of neighbours that keep apart on a rod; those in `known` are kept, with their forces."""
    have = {contact._pair: contact for contact in known}
    threads: dict[Rod, list[Any]] = {}
    for slider in sliders:
        if slider.attached and slider._reach() is not None:
            threads.setdefault(slider.rod, []).append(slider)
    contacts = []
    for rod, thread in threads.items():
        thread.sort(key=lambda pearl: pearl.s)
        pairs = list(zip(thread[:-1], thread[1:], strict=True))
        if rod.closed and len(thread) > 1:
            pairs.append((thread[-1], thread[0]))
        contacts += [have.get(pair) or BeadContact(*pair) for pair in pairs]
    # in an order that does not change while they go round
    return sorted(contacts, key=lambda contact: (contact._pair[0]._number, contact._pair[1]._number))
