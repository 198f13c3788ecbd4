"""The shape of a needle: an arc of a circle, or a straight line.

In its own frame it lies in the plane z = 0 and its tip points along y. With s the way back from the tip, m:

    arc of radius R:   x(s) = R (cos s/R, −sin s/R, 0),   t(s) = (sin s/R, cos s/R, 0),   origin at the circle's centre
    line:              x(s) = (0, −s, 0),                 t(s) = (0, 1, 0),               origin at the tip
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sennit.validation import FloatArray

__all__ = ["NeedleShape"]

SIDES, POINT = 10, 4.0
"""Sides of its drawn tube, and how long its pointed end is drawn, in diameters."""


@dataclass(frozen=True, slots=True)
class NeedleShape:
    """Length along the curve, radius of the arc (0: straight) and thickness, m."""

    length: float
    radius: float
    thickness: float

    def place(self, s: FloatArray | float) -> FloatArray:
        """x(s), (..., 3), m."""
        s = np.asarray(s, dtype=np.float64)
        if self.radius == 0.0:
            return np.stack((0.0 * s, -s, 0.0 * s), axis=-1)
        angle = s / self.radius
        return self.radius * np.stack((np.cos(angle), -np.sin(angle), 0.0 * s), axis=-1)

    def way(self, s: float) -> tuple[float, float, float]:
        """t(s), towards the tip."""
        if self.radius == 0.0:
            return 0.0, 1.0, 0.0
        return math.sin(s / self.radius), math.cos(s / self.radius), 0.0

    def find(self, x: float, y: float) -> float:
        """S of what is at (x, y, ·) beside the needle; negative ahead of its tip."""
        if self.radius == 0.0:
            return -y
        round_it = 2.0 * math.pi * self.radius
        before = 0.5 * (round_it - self.length)  # half of what is open of the circle belongs to the tip
        return (self.radius * math.atan2(-y, x) + before) % round_it - before

    def mesh(self) -> tuple[FloatArray, FloatArray]:
        """A closed tube with a point at the tip: vertices (n, 3), m, and faces (m, 3), wound outwards."""
        r = 0.5 * self.thickness
        point = min(POINT * self.thickness, 0.5 * self.length)
        bends = 2 if self.radius == 0.0 else max(math.ceil(8.0 * self.length / self.radius), 6)
        s = np.concatenate((point * np.array((0.0, 0.4)), np.linspace(point, self.length, bends)))[1:]
        turn = np.linspace(0.0, 2.0 * math.pi, SIDES, endpoint=False)
        rings = []
        for k, at in enumerate(s.tolist()):
            t = np.array(self.way(at))
            out = np.array((t[1], -t[0], 0.0))  # t, out and z: out × z = −t
            size = 0.55 * r if k == 0 else r
            rings.append(
                self.place(at) + size * (np.outer(np.cos(turn), out) + np.outer(np.sin(turn), (0.0, 0.0, 1.0)))
            )
        vertices = np.concatenate((self.place(0.0)[None], *rings, self.place(self.length)[None]))
        a, b = np.arange(SIDES), (np.arange(SIDES) + 1) % SIDES
        faces = [np.stack((np.zeros(SIDES, int), 1 + b, 1 + a), axis=1)]
        for k in range(len(rings) - 1):
            low, high = 1 + k * SIDES, 1 + (k + 1) * SIDES
            faces += [np.stack((low + a, high + b, high + a), axis=1), np.stack((low + a, low + b, high + b), axis=1)]
        last, end = 1 + (len(rings) - 1) * SIDES, len(vertices) - 1
        faces.append(np.stack((np.full(SIDES, end), last + a, last + b), axis=1))
        return vertices, np.concatenate(faces)
