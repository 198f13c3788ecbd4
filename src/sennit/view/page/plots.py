"""Watched values over the last seconds, thinned to what a small plot can show."""

from __future__ import annotations

import itertools

import numpy as np

from sennit.validation import FloatArray

__all__ = ["History", "chart_title", "grouped_by_unit"]

QUANTITIES = {
    "N": "force", "mN": "force", "kN": "force", "N·m": "torque", "J": "energy", "W": "power", "Pa": "pressure",
    "kPa": "pressure", "MPa": "pressure", "m": "length", "mm": "length", "cm": "length", "m/s": "speed",
    "mm/s": "speed", "m/s²": "acceleration", "rad": "angle", "°": "angle", "turns": "angle", "rad/s": "turning speed",
    "kg": "mass", "g": "mass", "s": "time", "ms": "time", "1/m": "curvature", "Hz": "frequency",
}  # fmt: skip
"""What is measured in a unit."""
LONGEST_TITLE = 36
"""Characters that fit above a chart."""


class History:
    """The last `span` seconds of simulated time of `count` values, in at most `length` samples each."""

    def __init__(self, count: int, span: float = 10.0, length: int = 300) -> None:
        self._every = span / length
        self._span = span
        self._room = np.zeros((1 + count, 2 * length))
        """Time and values; the newest sample is at `_end`. The second half is slack, so that few samples move."""
        self._end = 0

    def add(self, time: float, values: FloatArray) -> bool:
        """Take a sample; returns whether it was kept (those that follow too closely are not).

        A time before the last one begins anew: the simulation was reset.
        """
        if self._end and time < self._room[0, self._end - 1]:
            self._end = 0
        if self._end and time - self._room[0, self._end - 1] < self._every:
            return False
        if self._end == self._room.shape[1]:
            half = self._end // 2
            self._room[:, :half] = self._room[:, half : self._end].copy()
            self._end = half
        self._room[0, self._end] = time
        self._room[1:, self._end] = values
        self._end += 1
        return True

    def continued(self, rows: list[int | None]) -> History:
        """A history of other values that goes on where this one is: of each new one, the number of the old value that
        it was, or None.
        """
        other = History(len(rows), self._span, self._room.shape[1] // 2)
        other._end = self._end
        other._room[0] = self._room[0]
        for k, row in enumerate(rows):
            other._room[1 + k] = np.nan if row is None else self._room[1 + row]
        return other

    @property
    def samples(self) -> FloatArray:
        """Time, s, and values, row by row: (1 + count, samples), over the last `span` seconds."""
        times = self._room[0, : self._end]
        first = int(np.searchsorted(times, times[-1] - self._span)) if self._end else 0
        return self._room[:, first : self._end].copy()


def chart_title(names: list[str], unit: str) -> str:
    """What a chart shows: its name; for several (they are in its legend) the words that all begin with, or what is
    measured in their unit.
    """
    title = names[0]
    if len(names) > 1:
        words = [name.replace(":", " ").replace(",", " ").split() for name in names]
        same = itertools.takewhile(lambda level: len(set(level)) == 1, zip(*words, strict=False))
        title = " ".join(level[0] for level in same)
        if len(title) < 3:
            title = QUANTITIES.get(unit) or ", ".join(names)
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1].rstrip(" ,") + "…"
    return title + (f" ({unit})" if unit else "")


def grouped_by_unit(units: list[str]) -> list[list[int]]:
    """Numbers of the values that share a plot: those of one unit, in order of first appearance."""
    return [[k for k, other in enumerate(units) if other == unit] for unit in dict.fromkeys(units)]
