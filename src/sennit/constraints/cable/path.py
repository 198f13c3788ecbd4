"""The path of a cable at one moment, for reading: what a step uses is left as it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sennit.bodies.rigid.body import RigidBody
from sennit.constraints.cable.course import Course
from sennit.constraints.cable.drawing import polyline
from sennit.constraints.cable.kernels.kinds import ARRIVES, LEAVES, TWISTS
from sennit.constraints.cable.kernels.lengths import part_length, turn_of
from sennit.constraints.cable.table import CableTables
from sennit.validation import FloatArray

__all__ = ["CablePath", "Wrap"]


class Wrap(NamedTuple):
    """How a cable lies on a body of its `around`."""

    body: RigidBody
    """The body."""
    angle: float
    """Angle by which the cable turns on it, in the cable's own plane, rad."""
    arriving: float
    """Tension of the span that comes from the first point, N."""
    leaving: float
    """Tension of the span that goes to the last point, N."""
    slides: bool
    """Whether it slid on the body in the last step, anywhere; always without friction."""


class CablePath:
    """What can be measured along a cable whose path was evaluated. Its tables are copied, and numbered from 0."""

    def __init__(self, course: Course, tables: CableTables) -> None:
        own = tables.copy()
        own.renumber(0, 0, 0, 0)
        self._course, self._tables = course, own
        self.elements, self.rows = own.elements, own.rows
        self.count, self.parts = own.count, own.parts
        self.fixed = np.flatnonzero(self.elements.obstacle[: self.count] < 0)
        """Elements that users gave."""
        self._after = np.cumsum(self.elements.divides[: self.count])
        """Row of the part that leaves each element."""

    def part_length(self, d: int) -> float:
        """Length of the way of part `d`, m."""
        return float(part_length(0, d, self._tables.cables, self.elements))

    @property
    def length(self) -> float:
        """Length of the whole way, m."""
        return sum(self.part_length(d) for d in range(self.parts))

    def element(self, entry: int) -> int:
        """The element that one of the given entries is."""
        return int(self.fixed[entry])

    def tensions(self) -> FloatArray:
        """Pull of the span that leaves each element: (elements,), N; at last that of the last part."""
        return np.asarray(self.rows.tension[self._after])

    def wrenches(self) -> FloatArray:
        """Force and moment of pull and twist on the point of each given entry: (entries, 6), N and N·m."""
        n, elements = self.count, self.elements
        leaving = self.tensions()
        arriving = self.rows.tension[self._after - elements.divides[:n]]
        pulls = arriving[:, None] * elements.wrench[:n, ARRIVES] + leaving[:, None] * elements.wrench[:n, LEAVES]
        if self._tables.twists:
            pulls += self.rows.tension[-1] * elements.wrench[:n, TWISTS]
        return np.asarray((-pulls * elements.on[:n, None])[self.fixed])

    def _start_of_part(self, at: int) -> tuple[int, int]:
        """The divider (or first element) before element `at`, and the number of the part between them."""
        divides = np.flatnonzero(self.elements.divides[:at])
        return (int(divides[-1]) if len(divides) else 0), len(divides)

    def beyond(self, entry: int) -> float:
        """Metres of cable beyond the mark of a sheave, all but a constant."""
        at, elements = self.element(entry), self.elements
        start, part = self._start_of_part(at)
        along = float(elements.span[start:at].sum() + elements.arc[start + 1 : at].sum())
        along += float(elements.radius[at] * elements.wrap_before[at])
        if part > 0:
            along += float(elements.radius[start] * elements.wrap_after[start])
        return float(self.rows.rest[part : self.parts].sum()) - along

    def angle(self, entry: int) -> float:
        """How far the cable has turned the sheave that one of the given entries is, on its carrier, rad."""
        sheave = self._course.entries[entry]
        angle = float(self.elements.angle[self.element(entry)])
        return angle + self.beyond(entry) / sheave.radius if sheave._idle else angle  # type: ignore[union-attr]

    def speed_past(self, entry: int) -> float:
        """Speed at which the cable runs past the mark of a sheave towards its last end, m/s."""
        at, wrench = self.element(entry), self.elements.wrench
        start, part = self._start_of_part(at)
        speed = float(self.rows.rest_rate[part : self.parts].sum())
        carriers = self._course.carriers_of(self._tables)
        for e in range(start, at + 1):
            motion = np.concatenate((carriers[e].velocity, carriers[e].angular_velocity))
            if e > start:
                speed -= float(wrench[e, ARRIVES] @ motion)
            if e < at:
                speed -= float(wrench[e, LEAVES] @ motion)
        return speed

    def wrap(self, entry: int) -> float:
        """Angle over which the cable lies on a sheave, rad, with whole turns; 0 where it passes clear."""
        e, elements = self.element(entry), self.elements
        return max(float(elements.wrap_before[e] + elements.wrap_after[e]), 0.0) if elements.on[e] == 1 else 0.0

    def wraps(self) -> tuple[Wrap, ...]:
        """The bodies that it lies on, in order."""
        found: list[Wrap] = []
        elements, last = self.elements, -1
        leaving = self.tensions()
        arriving = self.rows.tension[self._after - elements.divides[: self.count]]
        for e in np.flatnonzero(elements.obstacle[: self.count] >= 0).tolist():
            body = self._course.obstacles[elements.obstacle[e]]
            slides = bool(elements.grip[e] or not elements.divides[e])
            angle, start = float(turn_of(e, elements)), float(arriving[e])
            if found and last == e - 1 and found[-1].body is body:
                before = found.pop()
                angle, start, slides = before.angle + angle, before.arriving, before.slides or slides
            found.append(Wrap(body, angle, start, float(leaving[e]), slides))
            last = e
        return tuple(found)

    def drawn(self, slack: float, gravity: FloatArray, count: int) -> FloatArray:
        """Points (n, 3), m, with `slack` (m) to sag."""
        return polyline(self.elements, self.count, slack, gravity, count)
