"""Who leads the needle on the page of `sew`: the script, three sliders or the gizmo of the needle holder.

Each of them goes on where the needle is: nothing moves because another one took over.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

import sennit as sn
from sennit.controls import Control
from sennit.demos.sewing_path import AWAY
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.demos.sew import Theatre

__all__ = ["PageHand"]

ROUND, ALONG, RISE = range(3)
"""The sliders: degrees about the needle's circle, mm along the wound, mm away from it."""


class PageHand:
    """Leads `theatre`'s needle holder by `sliders` or as its gizmo was moved; `speed`, `turning`: of sliders, m/s and
    rad/s.
    """

    def __init__(self, theatre: Theatre, sliders: tuple[Control, Control, Control], speed: float, turning: float):
        self.theatre, self.sliders, self.speed, self.turning = theatre, sliders, speed, turning
        self.restart()

    def restart(self) -> None:
        """The script leads, from the first bite on."""
        self.leader: Literal["script", "sliders", "gizmo"] = "script"
        self.angle = 0.0
        """About the needle's circle, rad, while sliders lead."""
        self.centre = self.theatre.way.centre(0)
        """Of the needle's circle, (3,), m, likewise."""
        self._asked = np.zeros(3)
        self._beside, self._tilt = np.zeros(3), np.eye(3)
        self._led = self.theatre.hand.target
        self._left: sn.Pose | None = None

    def moved(self) -> bool:
        """Whether the gizmo has moved the needle holder since the last step; it leads then."""
        found = self.theatre.hand.target != self._led
        if found:
            self._leave()
            self.leader = "gizmo"
            self._led = self.theatre.hand.target
        return found

    def _leave(self) -> None:
        """Remember where the script was left."""
        if self.leader == "script":
            self._left = self._led

    def set(self, slider: int, value: float) -> None:
        """One of the sliders asks for `value`; the others then show where the needle is."""
        self.take()
        self._asked[slider] = value

    def take(self) -> None:
        """Sliders lead from now on."""
        if self.leader == "sliders":
            return
        self._leave()
        self.leader = "sliders"
        theatre, way = self.theatre, self.theatre.way
        now = theatre.hand.points[0].pose
        self.centre, self.angle, self._tilt = way.found(now, theatre.begin)
        off = self.centre - way.centre(0)
        rise = float(off @ AWAY / (AWAY @ AWAY))
        self._asked[:] = math.degrees(self.angle), 1e3 * self.centre[1], 1e3 * rise
        for slider, value in zip(self.sliders, self._asked, strict=True):
            assert slider.range is not None
            slider.value = min(max(float(value), slider.range[0]), slider.range[1])
        self._beside = self.centre - self._aim()

    def _aim(self) -> FloatArray:
        first = self.theatre.way.centre(0)
        return np.asarray((first[0], 1e-3 * self._asked[ALONG], first[2]) + 1e-3 * self._asked[RISE] * AWAY)

    def resumed(self, dt: float) -> bool:
        """Whether the script can go on: the needle is brought back to where it was left, if another one led."""
        if self.leader == "script":
            return True
        assert self._left is not None
        here = self.theatre.hand.points[0].pose
        turn = sn.Pose((0.0, 0.0, 0.0), here.quaternion).inverse() @ sn.Pose((0.0, 0.0, 0.0), self._left.quaternion)
        apart = float(np.linalg.norm(self._left.position - here.position))
        angle = 2.0 * math.acos(min(abs(float(turn.quaternion[0])), 1.0))
        self.theatre.hand.target = self._left  # approached no faster than the clamp's closing speed
        self.keep()
        if apart > 1e-4 or angle > 1e-2:
            return False
        self.leader = "script"
        return True

    def advance(self, dt: float) -> None:
        """Lead by the sliders for `dt` seconds; a needle holder that its gizmo leads stays where that is."""
        if self.leader == "gizmo":
            return
        gap = self._aim() + self._beside - self.centre
        self.centre = self.centre + gap * min(1.0, self.speed * dt / max(float(np.linalg.norm(gap)), 1e-12))
        turn = math.radians(self._asked[ROUND]) - self.angle
        self.angle += math.copysign(min(abs(turn), self.turning * dt), turn)
        theatre = self.theatre
        theatre.hand.target = theatre.way.pose(self.centre, self.angle, theatre.begin, self._tilt)
        self.keep()

    def keep(self) -> None:
        """Where the needle holder is asked to be now was not the gizmo's doing."""
        self._led = self.theatre.hand.target
