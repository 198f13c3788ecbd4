"""How punctual a loop is: counts and histograms that stay small however long it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sennit.attributes import unchanging

__all__ = ["BINS", "Histogram", "Statistics"]

IntArray = NDArray[np.int64]

_SHORTEST, _PER_OCTAVE = 1e-8, 16  # s; a bin is 4.4 % wide
BINS = 32 * _PER_OCTAVE
"""Bins of a histogram: from 10 ns to 43 s."""


class Histogram:
    """Counts of times in bins whose width grows with the time: 4.4 % of it."""

    def __init__(self, counts: IntArray | None = None) -> None:
        self.counts = np.zeros(BINS, np.int64) if counts is None else counts

    def add(self, seconds: float) -> None:
        """Count one time, s."""
        if seconds <= _SHORTEST:
            self.counts[0] += 1
        else:
            self.counts[min(int(_PER_OCTAVE * math.log2(seconds / _SHORTEST)) + 1, BINS - 1)] += 1

    def quantile(self, part: float) -> float:
        """The time that a `part`, 0 to 1, of all do not exceed: s, up to 4.4 % above it; NaN without any."""
        total = int(self.counts.sum())
        if total == 0:
            return math.nan
        k = int(np.searchsorted(np.cumsum(self.counts), math.ceil(part * total)))
        return _SHORTEST * 2.0 ** (k / _PER_OCTAVE) if k else 0.0


@unchanging
@dataclass(frozen=True, slots=True)
class Statistics:
    """How a loop has kept its times so far; times in s.

    Tick k is due at k periods, and in time if its wrench is set before tick k + 1 is due. A tick that takes longer is
    an overrun: the device keeps the last wrench until it is done, and periods that pass meanwhile are skipped.
    """

    ticks: int
    """Ticks that were done."""
    overruns: int
    """Those of them that were not done within their period."""
    skipped: int
    """Periods that passed without a tick, since one before took so long, or the system did not wake the loop: their
    ticks are more than one period late."""
    p50: float
    """Median lateness: how long after its due time a tick began."""
    p99: float
    """Lateness that 99 % of the ticks do not exceed."""
    max: float
    """Largest lateness."""
    step_p50: float
    """Median time of a step of the simulation."""
    step_p99: float
    """Time that 99 % of the steps do not exceed."""
    longest_step: float
    """Longest step of the simulation."""
    limited: int
    """Ticks whose wrench was changed more slowly than the coupling asked for, or cut, so that nothing jumps."""
    failed: int
    """Steps that had no solution; the wrench goes to zero while they last."""
    realtime: bool
    """Whether the system granted real-time scheduling."""
    lost: bool
    """Whether the device was lost."""

    @property
    def late(self) -> int:
        """Ticks that were not done within their period: overruns and skipped ones."""
        return self.overruns + self.skipped

    @property
    def late_part(self) -> float:
        """`late` over all periods, 0 to 1; 0 before the first."""
        total = self.ticks + self.skipped
        return self.late / total if total else 0.0

    def __str__(self) -> str:
        micro = 1e6
        lines = [
            f"{self.ticks:,} ticks, {self.late:,} late ({100.0 * self.late_part:.3g} %): {self.overruns:,} overran, "
            f"{self.skipped:,} skipped",
            f"began late by {micro * self.p50:.0f} µs (median), {micro * self.p99:.0f} µs (99 %), "
            f"{micro * self.max:.0f} µs (most)",
            f"steps took {micro * self.step_p50:.0f} µs (median), {micro * self.step_p99:.0f} µs (99 %), "
            f"{micro * self.longest_step:.0f} µs (longest)",
            f"real-time scheduling {'on' if self.realtime else 'off'}",
        ]
        if self.limited:
            lines.append(f"wrench limited in {self.limited:,} ticks")
        if self.failed:
            lines.append(f"{self.failed:,} steps had no solution")
        if self.lost:
            lines.append("the device was lost")
        return "\n".join(lines)
