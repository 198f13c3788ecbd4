"""How simulated time keeps up with real time: what is owed, when to stop and show it, and what steps cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

__all__ = ["FRAMES", "Pace"]

FRAMES = 60.0  # a second
LONGEST = 0.25  # s: a simulation that falls further behind than this lets the time go
SHARE = 3.0
"""Steps of a simulation that is too slow take so many times as long as all else, before it is shown: no more, or
pictures would come as seldom as time is lost.
"""
SAMPLES, RECENT = 512, 3.0
"""Steps, at most, and seconds, of which it is told what they took."""


class Pace:
    """Simulated time against real time, by `clock` (s); `speed`: simulated seconds in a real one."""

    def __init__(self, clock: Callable[[], float], speed: float) -> None:
        self.speed = speed
        self._clock = clock
        self._debt = 0.0
        self._last = 0.0
        """Time that was spent in steps when they were made last, s."""
        self._spent: deque[tuple[float, float]] = deque(maxlen=SAMPLES)
        """Of each step: when it was made, and what it took, s."""
        self._work: deque[tuple[float, float, float]] = deque(maxlen=240)
        """Of each turn: when it ended, time simulated, time spent in steps; s."""
        self._known = (0.0, 0.0, -1.0)

    def forgive(self) -> None:
        """Owe nothing."""
        self._debt = 0.0

    def begin_again(self) -> None:
        """Owe nothing, and forget what steps have cost."""
        self._debt = 0.0
        self._spent.clear()

    def rest(self) -> None:
        """A turn without steps."""
        self._last = 0.0
        self.count(0.0, 0.0)

    def turn(self, elapsed: float, dt: float, step: Callable[[], bool]) -> int:
        """Make the steps of `dt` (s) that `elapsed` (s) of real time ask for, as long as `step` says that it may go on;
        returns how many. It stops early where steps take longer than they simulate.
        """
        begin, steps = self._clock(), 0
        self._debt = min(self._debt + self.speed * elapsed, LONGEST * max(self.speed, 1.0))
        besides = min(max(elapsed - self._last, 0.0), LONGEST)
        enough = begin + max(1.5 / FRAMES, SHARE * besides)
        while self._debt >= dt and self._clock() < enough:
            if not step():
                break
            self._debt -= dt
            steps += 1
        end = self._clock()
        if end >= enough:
            self._debt = min(self._debt, 1.0 / FRAMES)
        self._last = end - begin
        self.count(steps * dt, self._last if steps else 0.0)
        return steps

    def took(self, seconds: float) -> None:
        """A step took that long."""
        self._spent.append((self._clock(), seconds))

    def count(self, simulated: float, spent: float) -> None:
        """So much time was simulated in this turn, and spent in steps; s."""
        self._work.append((self._clock(), simulated, spent))

    @property
    def ratio(self) -> float:
        """Simulated seconds in a real one, over the last seconds."""
        return self._share(1)

    @property
    def busy(self) -> float:
        """Part of real time that was spent in steps, over the last seconds."""
        return self._share(2)

    def _share(self, column: int) -> float:
        if len(self._work) < 2 or self._work[-1][0] <= self._work[0][0]:
            return 0.0
        return sum(entry[column] for entry in list(self._work)[1:]) / (self._work[-1][0] - self._work[0][0])

    @property
    def step_times(self) -> tuple[float, float]:
        """Median and 99th percentile of what the last steps took, µs; new ones a few times a second."""
        now = self._clock()
        spent = [took for at, took in self._spent if at > now - RECENT] if now - self._known[2] > 0.25 else []
        if spent:
            self._known = (1e6 * float(np.median(spent)), 1e6 * float(np.quantile(spent, 0.99)), now)
        return self._known[:2]
