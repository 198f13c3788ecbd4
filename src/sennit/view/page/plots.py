"""Watched values over the last seconds, thinned to what a small plot can show."""

from __future__ import annotations

import numpy as np

from sennit.validation import FloatArray

__all__ = ["History"]


class History:
    """The last `span` seconds of simulated time of `count` values, in at most `length` samples each."""

    def __init__(self, count: int, span: float = 10.0, length: int = 300) -> None:
        self._every = span / length
        self._span = span
        self._room = np.zeros((1 + count, 2 * length))
        """Time and values; the newest sample is at `_end`. The second half is slack, so that few samples move."""
        self._end = 0
        self.taken = 0
        """How many samples were kept since it began."""

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
        self.taken += 1
        return True

    def continued(self, rows: list[int | None]) -> History:
        """A history of other values that goes on where this one is: of each new one, the number of the old value that
        it was, or None.
        """
        other = History(len(rows), self._span, self._room.shape[1] // 2)
        other._end, other.taken = self._end, self.taken
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

    def since(self, taken: int) -> tuple[FloatArray, int]:
        """Samples as `samples` has them, but those that came after `taken` of them were kept; and how many were."""
        samples = self.samples
        fresh = min(self.taken - taken, samples.shape[1])
        return samples[:, samples.shape[1] - fresh :], self.taken
