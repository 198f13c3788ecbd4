"""A hand that follows a script: for tests, demonstrations and benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import slerp
from sennit.haptics.devices import DeviceState
from sennit.validation import FloatArray, quoted

__all__ = ["ScriptedDevice"]

LONGEST = 10_000_000
"""Samples: nearly three hours at 1 kHz, 1 GB."""


@guarded()
class ScriptedDevice:
    """A hand on a path, and a record of what it felt.

    Arguments: `path`, a function of time (s) that returns a `Pose` or a position (3,), m, of which the first `seconds`
    are taken; or an array, (n, 3) positions or (n, 7) positions and quaternions, one row a tick, or with `times` (n,),
    s, to be interpolated. `rate`: samples per second, that of the loop. `repeat`: begin again at the end, instead of
    staying there; a loop with a script that does not repeat ends with it.

    The path is sampled when the device is made: a tick takes the next sample, however late it is, so that the same
    script gives the same simulation on every machine.

    Example:
        >>> import math
        >>> hand = ScriptedDevice(lambda t: (0.1 * math.sin(t), 0.0, 0.0), seconds=0.5)
        >>> len(hand.samples)
        500
    """

    rate: float
    """Samples per second."""
    repeat: bool
    """Whether it begins again at the end."""
    samples: FloatArray
    """(n, 7), read-only: position (m) and quaternion of each tick."""

    def __init__(
        self,
        path: Callable[[float], ArrayLike | Pose] | ArrayLike,
        seconds: float | None = None,
        *,
        rate: float = 1000.0,
        times: ArrayLike | None = None,
        repeat: bool = False,
    ) -> None:
        self.rate = validation.number("rate", rate, positive=True)
        self.repeat = validation.flag("repeat", repeat)
        if callable(path):
            if seconds is None or times is not None:
                raise InputError("a path that is a function needs seconds=, how long it is, and no times=")
            count = _count(validation.number("seconds", seconds, positive=True) * self.rate)
            self.samples = _sampled(path, count, self.rate)
        else:
            rows = _with_rotations(validation.array("path", path, (None, 3), (None, 7)))
            if times is not None:
                at = validation.array("times", times, (len(rows),))
                if len(at) < 2 or (np.diff(at) <= 0.0).any():
                    raise InputError(f"times must be two or more that grow, got {quoted(times)}")
                rows = _interpolated(rows, at, self.rate)
            if seconds is not None:
                rows = rows[: _count(validation.number("seconds", seconds, positive=True) * self.rate)]
            self.samples = rows
        self.samples.flags.writeable = False
        self._wrenches = np.zeros((len(self.samples), 6))
        self._at = self._felt = 0

    paced_by_ticks = True
    """Each reading is the next sample, however late it is."""

    def recipe(self) -> dict[str, Any]:
        """What makes it again in the loop's process."""
        return {"path": self.samples, "rate": self.rate, "repeat": self.repeat}

    @property
    def ticks(self) -> int | None:
        """After how many ticks the script is over; None if it repeats."""
        return None if self.repeat else len(self.samples)

    @property
    def wrenches(self) -> FloatArray:
        """What the hand felt: (k, 6), force (N) and torque (N·m) of the k ticks so far, the last n if it repeats.

        Oldest first: the last row is the last tick's, also of a script that repeats.

        After a loop has ended they are here, in the device that it was given.
        """
        n = len(self._wrenches)
        if self.repeat and self._felt > n:  # rows are written over in turn; the next in turn is the oldest
            return np.roll(self._wrenches, -(self._felt % n), axis=0)
        return self._wrenches[: min(self._felt, n)].copy()

    @property
    def forces(self) -> FloatArray:
        """What the hand felt: (k, 3), N."""
        return self.wrenches[:, :3]

    @property
    def torques(self) -> FloatArray:
        """What the hand felt: (k, 3), N·m."""
        return self.wrenches[:, 3:]

    def record(self) -> FloatArray:
        """What travels back from the loop's process."""
        return self.wrenches

    def take_record(self, record: FloatArray) -> None:
        """Keep the `record` that came back from the loop's process."""
        self._at = self._felt = len(record)
        self._wrenches[: self._at] = record

    def state(self) -> DeviceState:
        """The next sample."""
        n = len(self.samples)
        k = self._at % n if self.repeat else min(self._at, n - 1)
        row = self.samples[k]
        before = self.samples[max(k - 1, 0)]
        velocity = np.zeros(6)
        velocity[:3] = (row[:3] - before[:3]) * self.rate
        self._at += 1
        return DeviceState(Pose._trusted(row[:3].copy(), row[3:].copy()), velocity)

    def set_wrench(self, force: FloatArray, torque: FloatArray) -> None:
        """Note what is felt at the present sample; what comes after it, as the zero at the end, is not part of it."""
        n = len(self._wrenches)
        if self._felt < self._at:
            self._felt = self._at
            if self.repeat or self._at <= n:
                row = self._wrenches[(self._at - 1) % n]
                row[:3], row[3:] = force, torque

    def close(self) -> None:
        """Nothing to let go of."""


def _count(samples: float) -> int:
    number = validation.number("seconds × rate", samples, maximum=LONGEST)
    return validation.count("seconds × rate", max(round(number), 1), 1, LONGEST)


def _sampled(path: Callable[[float], ArrayLike | Pose], count: int, rate: float) -> FloatArray:
    rows = np.empty((count, 7))
    for k in range(count):
        place = path(k / rate)
        if isinstance(place, Pose):
            rows[k, :3], rows[k, 3:] = place.position, place.quaternion
        else:
            rows[k, :3] = validation.vector(f"path({k / rate:g})", place)
            rows[k, 3:] = (1.0, 0.0, 0.0, 0.0)
    return rows


def _with_rotations(rows: FloatArray) -> FloatArray:
    """Rows of 7 numbers with unit quaternions."""
    if not 1 <= len(rows) <= LONGEST:
        raise InputError(f"path must have 1 to {LONGEST:,} rows, got {len(rows):,}")
    full = np.zeros((len(rows), 7))
    full[:, : rows.shape[1]] = rows
    if rows.shape[1] == 3:
        full[:, 3] = 1.0
    lengths = np.linalg.norm(full[:, 3:], axis=1)
    if (lengths == 0.0).any():
        raise InputError(f"path: row {int(np.argmin(lengths))} has a quaternion of zeros, which is no rotation")
    # Rows that are unit already stay as they are, bit for bit: they come from here.
    off = np.abs(lengths - 1.0) > 1e-12
    full[off, 3:] /= lengths[off, None]
    return full


def _interpolated(rows: FloatArray, times: FloatArray, rate: float) -> FloatArray:
    """At `rate` from the first time to the last: straight between positions, along great circles between rotations."""
    count = _count((times[-1] - times[0]) * rate + 1.0)
    at = times[0] + np.arange(count) / rate
    k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    part = np.clip((at - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0)[:, None]
    out = np.empty((count, 7))
    out[:, :3] = (1.0 - part) * rows[k, :3] + part * rows[k + 1, :3]
    out[:, 3:] = slerp(rows[k, 3:], rows[k + 1, 3:], part[:, 0])
    return out
