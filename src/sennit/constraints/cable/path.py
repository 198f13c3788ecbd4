"""The path of a cable at one moment, for reading: what a step uses is left as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit.constraints.cable.drawing import polyline
from sennit.constraints.cable.kernels.path import part_length
from sennit.constraints.cable.kernels.tables import (
    ARC,
    BETA_IN,
    BETA_OUT,
    COUNT,
    DIVIDES,
    FIRST,
    NEXT,
    OBSTACLE,
    OBSTACLE0,
    ON,
    PARTS,
    RADIUS,
    REST,
    REST_RATE,
    ROW0,
    SPAN,
    TENSION,
    W_IN,
    W_OUT,
    W_TWIST,
)
from sennit.point.point import Point
from sennit.validation import FloatArray

__all__ = ["CablePath"]


class CablePath:
    """Copies of a cable's tables, numbered from 0, with its path evaluated."""

    def __init__(self, tables: dict[str, Any], carriers: Sequence[Point], around: Sequence[Point]) -> None:
        ints, place = tables["cable_ints"].copy(), tables["element_place"].copy()
        first = int(ints[0, FIRST])
        ints[0, [FIRST, ROW0, OBSTACLE0]] = 0
        place[:, NEXT] -= np.where(place[:, NEXT] >= 0.0, first, 0)
        self._tables = {**tables, "cable_ints": ints, "element_place": place}
        n = int(ints[0, COUNT])
        self.kinds, self.floats = tables["element_ints"][:n], tables["element_floats"][:n]
        self.state, self.place, self.rows = tables["element_state"][:n], place[:n], tables["row_state"]
        self.parts = int(ints[0, PARTS])
        self.fixed = np.flatnonzero(self.kinds[:, OBSTACLE] < 0)
        """Elements that users gave."""
        given = iter(carriers)
        self.points = [next(given) if o < 0 else around[o] for o in self.kinds[:, OBSTACLE]]

    def _arguments(self) -> tuple[Any, ...]:
        names = ("cable_ints", "element_ints", "element_floats", "element_state", "element_place")
        return tuple(self._tables[name] for name in names)

    def part_length(self, d: int) -> float:
        """Length of the way of part `d`, m."""
        return float(part_length(0, d, *self._arguments()))

    @property
    def length(self) -> float:
        """Length of the whole way, m."""
        return sum(self.part_length(d) for d in range(self.parts))

    def element(self, entry: int) -> FloatArray:
        """State of the element that one of the given entries is."""
        return np.asarray(self.state[self.fixed[entry]])

    def tensions(self) -> FloatArray:
        """Pull of the span that leaves each element: (elements,), N; at last that of the last part."""
        return np.asarray(self.rows[np.cumsum(self.kinds[:, DIVIDES]), TENSION])

    def wrenches(self) -> FloatArray:
        """Force and moment of pull and twist on the point of each given entry: (entries, 6), N and N·m."""
        leaving = self.tensions()
        arriving = np.asarray(self.rows[np.cumsum(self.kinds[:, DIVIDES]) - self.kinds[:, DIVIDES], TENSION])
        pulls = arriving[:, None] * self.place[:, W_IN : W_IN + 6] + leaving[:, None] * self.place[:, W_OUT : W_OUT + 6]
        if len(self.rows) > self.parts:
            pulls += self.rows[-1, TENSION] * self.place[:, W_TWIST : W_TWIST + 6]
        return np.asarray((-pulls * self.state[:, ON : ON + 1])[self.fixed])

    def _start_of_part(self, at: int) -> tuple[int, int]:
        """The divider (or first element) before element `at`, and the number of the part between them."""
        divides = np.flatnonzero(self.kinds[:at, DIVIDES])
        return (int(divides[-1]) if len(divides) else 0), len(divides)

    def beyond(self, entry: int) -> float:
        """Metres of cable beyond the mark of a sheave, all but a constant."""
        at = int(self.fixed[entry])
        start, part = self._start_of_part(at)
        along = float(self.place[start:at, SPAN].sum() + self.place[start + 1 : at, ARC].sum())
        along += float(self.floats[at, RADIUS] * self.state[at, BETA_IN])
        if part > 0:
            along += float(self.floats[start, RADIUS] * self.state[start, BETA_OUT])
        return float(self.rows[part : self.parts, REST].sum()) - along

    def speed_past(self, entry: int) -> float:
        """Speed at which the cable runs past the mark of a sheave towards its last end, m/s."""
        at = int(self.fixed[entry])
        start, part = self._start_of_part(at)
        speed = float(self.rows[part : self.parts, REST_RATE].sum())
        for e in range(start, at + 1):
            motion = np.concatenate((self.points[e].velocity, self.points[e].angular_velocity))
            if e > start:
                speed -= float(self.place[e, W_IN : W_IN + 6] @ motion)
            if e < at:
                speed -= float(self.place[e, W_OUT : W_OUT + 6] @ motion)
        return speed

    def drawn(self, slack: float, gravity: FloatArray, count: int) -> FloatArray:
        """Points (n, 3), m, with `slack` (m) to sag."""
        return polyline(self._arguments(), slack, gravity, count)
