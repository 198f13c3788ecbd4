"""The way of a hand that sews: where it leads a curved needle, bite by bite.

A bite is a circle in a plane across the wound, its centre above the skin: round through both lips, until the needle's
end is out. Then the thread is drawn, up and away, as far as its tension allows, and the needle goes on to the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

import sennit as sn
from sennit.validation import FloatArray

__all__ = ["AWAY", "Leg", "Way"]

AWAY = np.array((-0.35, 0.0, 0.94))
"""Which way the thread is drawn: up, and away from where it comes out."""
BACK = 0.5
"""A needle that is turned back by less, rad, is before its bite, not at the end of it."""


@dataclass(frozen=True, slots=True)
class Leg:
    """A part of the way: from one pose of the needle to another, turned by `angle` about the circle and moved."""

    what: str
    """"round", "draw" or "on"."""
    seconds: float
    centre: tuple[FloatArray, FloatArray]
    """Of the needle's circle at the leg's beginning and end, (3,), m."""
    angle: tuple[float, float]
    """By which the tip has turned from where it begins a bite, rad."""


@dataclass(frozen=True, slots=True)
class Way:
    """Bites at `places` along the wound (y, m), with circles of `radius`, their centres `above` the skin (m)."""

    places: tuple[float, ...]
    skin: float
    radius: float
    above: float
    length: float
    """Of the needle, m."""
    drawn: tuple[float, ...]
    """How far the needle goes away after each bite, m."""

    @property
    def first(self) -> float:
        """Angle of the tip from the x axis, about −y, where a bite begins: just above the skin."""
        return -float(np.arcsin(self.above / self.radius)) + 0.12

    @property
    def sweep(self) -> float:
        """Angle of a bite: until the needle's end is well out of the second skin."""
        chord = np.pi - 2.0 * float(np.arcsin(self.above / self.radius))
        return chord + self.length / self.radius + 0.5

    def centre(self, k: int) -> FloatArray:
        """Of bite number k, (3,), m."""
        return np.array((0.0, self.places[k], self.skin + self.above))

    def legs(self, speed: float, pull: float) -> list[Leg]:
        """All of it, the tip at `speed` and the drawing hand at `pull`, m/s."""
        found = []
        whole = 2.0 * np.pi
        for k in range(len(self.places)):
            here = self.centre(k)
            found.append(Leg("round", self.sweep * self.radius / speed, (here, here), (0.0, self.sweep)))
            away = here + self.drawn[k] * AWAY
            found.append(Leg("draw", self.drawn[k] / pull, (here, away), (self.sweep, self.sweep)))
            if k + 1 < len(self.places):
                over = self.centre(k + 1) + np.array((0.0, 0.0, 2.2 * self.radius))
                found.append(Leg("on", float(np.linalg.norm(over - away)) / pull, (away, over), (self.sweep, whole)))
                found.append(Leg("on", 0.25, (over, self.centre(k + 1)), (whole, whole)))
        return found

    def pose(self, centre: FloatArray, angle: float, begin: sn.Pose, tilt: FloatArray | None = None) -> sn.Pose:
        """Of what holds the needle, whose pose is `begin` where the first bite begins; `tilt` (3, 3) turns it there."""
        turn = Rotation.from_rotvec((0.0, angle, 0.0)).as_matrix()
        turned = turn if tilt is None else turn @ tilt
        return sn.Pose.from_rotation(centre + turn @ (begin.position - self.centre(0)), turned @ begin.rotation)

    def found(self, pose: sn.Pose, begin: sn.Pose) -> tuple[FloatArray, float, FloatArray]:
        """Centre, angle (a little below 0 to below 2π) and tilt for which `self.pose` is `pose`, with least tilt."""
        turned = pose.rotation @ begin.rotation.T
        angle = float(np.arctan2(turned[0, 2] - turned[2, 0], turned[0, 0] + turned[2, 2]))
        angle = (angle + BACK) % (2.0 * np.pi) - BACK
        turn = Rotation.from_rotvec((0.0, angle, 0.0)).as_matrix()
        return pose.position - turn @ (begin.position - self.centre(0)), angle, turn.T @ turned
