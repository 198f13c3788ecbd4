"""The memory that a loop shares with the process that started it: counts, the present state, and the mouse.

One file, mapped by both. Each number has one writer. Counts are read as they are; what belongs together (the present
state, the mouse) stands behind a sequence number, which is odd while it is written: a reader tries again until it has
seen the same even number before and after.
"""

from __future__ import annotations

import mmap
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sennit.errors import InputError
from sennit.haptics.statistics import BINS, Histogram, IntArray, Statistics
from sennit.validation import FloatArray

__all__ = ["MOUSE", "NOW", "Board", "Sheet"]

_COUNTS = ("ticks", "overruns", "skipped", "limited", "failed", "realtime", "lost", "running")
TICKS, OVERRUNS, SKIPPED, LIMITED, FAILED, REALTIME, LOST, RUNNING = range(len(_COUNTS))
_TIMES = ("max", "longest_step")
MAX, LONGEST = range(len(_TIMES))
NOW = {"time": 1, "hand": 7, "grip": 7, "force": 3, "torque": 3, "buttons": 1, "engaged": 1, "spell": 2}
"""What is told about the present, and how many numbers each takes; force and torque are what the hand feels. Of a
spell: the number of its kind in `live.spells.KINDS`, from 1 on (0: there is none), and its steps."""
MOUSE = {"hand": 7, "holding": 1}
_TRIES = 10_000


class Sheet:
    """Some numbers that belong together, behind a sequence number."""

    def __init__(self, block: FloatArray, fields: dict[str, int]) -> None:
        self._sequence = block[:1].view(np.int64)
        self._numbers = block[1:]
        self.parts: dict[str, slice] = {}
        at = 0
        for name, size in fields.items():
            self.parts[name] = slice(at, at + size)
            at += size

    def write(self, numbers: FloatArray) -> None:
        """Put all numbers there."""
        self._sequence[0] += 1
        self._numbers[:] = numbers
        self._sequence[0] += 1

    @property
    def written(self) -> bool:
        """Whether anything was written yet."""
        return bool(self._sequence[0] > 1)

    def read(self) -> FloatArray:
        """A copy of numbers that belong together; the last that could be had if the writer died in the middle."""
        numbers = self._numbers.copy()
        for attempt in range(_TRIES):
            before = int(self._sequence[0])
            numbers = self._numbers.copy()
            if before % 2 == 0 and int(self._sequence[0]) == before:
                break
            if attempt > 100:
                time.sleep(0)
        return numbers


def _size(fields: dict[str, int]) -> int:
    return 1 + sum(fields.values())


@dataclass(frozen=True, slots=True)
class _Layout:
    counts: slice
    times: slice
    lateness: slice
    steps: slice
    now: slice
    mouse: slice
    size: int


def _layout() -> _Layout:
    at = 0

    def after(size: int) -> slice:
        nonlocal at
        part = slice(at, at + size)
        at += -(-size // 8) * 8  # each on cache lines of its own: their writers differ
        return part

    parts = [after(size) for size in (len(_COUNTS), len(_TIMES), BINS, BINS, _size(NOW), _size(MOUSE))]
    counts, times, lateness, steps, now, mouse = parts
    return _Layout(counts, times, lateness, steps, now, mouse, at)


class Board:
    """The shared memory in the file at `path`, made by the process that starts the loop (`make`)."""

    def __init__(self, path: str | Path, *, make: bool = False) -> None:
        layout = _layout()
        if make:
            with open(path, "xb") as file:
                file.truncate(8 * layout.size)
        with open(path, "r+b") as file:
            if os.fstat(file.fileno()).st_size != 8 * layout.size:
                raise InputError(f"{str(path)!r} is not a board of this version of sennit")
            self._map = mmap.mmap(file.fileno(), 8 * layout.size)
        numbers: FloatArray = np.frombuffer(self._map, np.float64)
        self.counts: IntArray = numbers[layout.counts].view(np.int64)
        self.times = numbers[layout.times]
        self.lateness = Histogram(numbers[layout.lateness].view(np.int64))
        self.steps = Histogram(numbers[layout.steps].view(np.int64))
        self.now = Sheet(numbers[layout.now], NOW)
        self.mouse = Sheet(numbers[layout.mouse], MOUSE)

    @property
    def statistics(self) -> Statistics:
        """What has been counted so far."""
        counts, times = self.counts.tolist(), self.times.tolist()
        return Statistics(
            ticks=counts[TICKS],
            overruns=counts[OVERRUNS],
            skipped=counts[SKIPPED],
            p50=self.lateness.quantile(0.5),
            p99=self.lateness.quantile(0.99),
            max=times[MAX],
            step_p50=self.steps.quantile(0.5),
            step_p99=self.steps.quantile(0.99),
            longest_step=times[LONGEST],
            limited=counts[LIMITED],
            failed=counts[FAILED],
            realtime=bool(counts[REALTIME]),
            lost=bool(counts[LOST]),
        )
