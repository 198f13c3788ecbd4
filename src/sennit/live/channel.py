"""Frames in memory that two processes share: the newest one can be read at any time, and is never half of another.

The memory is a small file (in RAM where the system has such a folder), mapped by both. Two slots take turns::

    head   magic, numbers in a frame, sequence of the newest frame          (int64 each)
    slot   sequence, checksum, numbers (float64)                            twice; frame k is in slot k mod 2

The writer fills the slot that is not the newest and then raises the head's sequence; the reader copies, and takes the
copy only if the slot's sequence and checksum say that it is whole. The checksum makes that true on processors that
reorder writes, too. The writer never waits.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
import weakref
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["STATUS", "FrameReader", "FrameWriter", "Layout", "clear_away"]

STATUS = (
    "time", "paused", "speed", "pace", "step_us", "step_us_99", "busy", "holding",
    "hand_x", "hand_y", "hand_z", "grip_x", "grip_y", "grip_z",
)  # fmt: skip
"""What every frame begins with: simulated time (s); whether it stands still; simulated seconds wanted and had in a real
one; median and 99th percentile of a step's time (µs); part of real time spent in steps; whether something is held, and
if so, where the hand and the held place are (m)."""

_MAGIC = 0x73656E6E6974  # "sennit"
_HEAD = 64  # bytes
_SLOT = 16  # bytes before a slot's numbers


@dataclass(frozen=True)
class Layout:
    """How many numbers of each kind a frame has."""

    watches: int
    controls: int
    ties: int
    handles: int
    arrows: int
    parts: int

    @property
    def size(self) -> int:
        """Numbers in a frame."""
        return len(STATUS) + self.watches + self.controls + self.ties + 7 * self.handles + 6 * self.arrows + self.parts

    def split(self, frame: FloatArray) -> dict[str, FloatArray]:
        """`frame`, (size,), by kind: status, watches, controls, ties, handles (n, 7): position and quaternion; arrows
        (n, 6): place (m) and force (N), parts. Nothing is copied.
        """
        counts = (
            len(STATUS), self.watches, self.controls, self.ties, 7 * self.handles, 6 * self.arrows, self.parts,
        )  # fmt: skip
        pieces = np.split(frame, np.cumsum(counts)[:-1])
        named = dict(zip(("status", "watches", "controls", "ties", "handles", "arrows", "parts"), pieces, strict=True))
        named["handles"], named["arrows"] = named["handles"].reshape(-1, 7), named["arrows"].reshape(-1, 6)
        return named

    def as_dict(self) -> dict[str, int]:
        """For a message."""
        return asdict(self)


class FrameWriter:
    """Makes the shared memory and writes frames of `size` numbers into it."""

    def __init__(self, size: int) -> None:
        self.size = size
        prefix = _prefix(os.getpid())
        handle, self.name = tempfile.mkstemp(prefix=prefix, suffix=".frames", dir=_folder())  # readable by its owner
        try:
            length = _HEAD + 2 * (_SLOT + 8 * size)
            os.ftruncate(handle, length)
            self._map = mmap.mmap(handle, length)
        finally:
            os.close(handle)
        self._head, self._slots = _mapped(self._map, size)
        self._head[:3] = _MAGIC, size, 0
        # Nobody may call `close`: the file goes with this object, or with the process.
        self._delete = weakref.finalize(self, _deleted, self.name)

    def write(self, frame: FloatArray) -> int:
        """Make `frame`, (size,), the newest one; returns its sequence number, from 1."""
        sequence = int(self._head[2]) + 1
        marks, numbers = self._slots[sequence % 2]
        marks[0] = -1  # whoever still reads this slot learns that it is gone
        numbers[:] = frame
        marks[1] = zlib.crc32(numbers.data)
        marks[0] = sequence
        self._head[2] = sequence
        return sequence

    def close(self) -> None:
        """Let go of the memory and delete the file."""
        self._delete()
        self._head, self._slots = np.zeros(8, np.int64), []
        with contextlib.suppress(BufferError):  # views that a caller kept end with the process
            self._map.close()


class FrameReader:
    """Reads what a `FrameWriter` in another process writes into the memory called `name`."""

    def __init__(self, name: str) -> None:
        try:
            with open(name, "r+b") as file:
                self._map = mmap.mmap(file.fileno(), 0)
        except (OSError, ValueError) as problem:
            raise InputError(f"there are no frames at {name!r}: {problem}") from None
        head = np.frombuffer(self._map, np.int64, 3) if len(self._map) >= _HEAD else np.zeros(3, np.int64)
        size = int(head[1])
        if head[0] != _MAGIC or size < 0 or len(self._map) != _HEAD + 2 * (_SLOT + 8 * size):
            raise InputError(f"{name!r} does not hold frames")
        self.size = size
        self._head, self._slots = _mapped(self._map, size)
        self._copy = np.zeros(size)
        self._seen = 0

    def read(self) -> tuple[int, FloatArray] | None:
        """Sequence number and numbers, (size,), of the newest frame; None if there is none newer than the last read.

        The array is another one at each call.
        """
        for _ in range(8):
            sequence = int(self._head[2])
            if sequence == self._seen:
                return None
            marks, numbers = self._slots[sequence % 2]
            if int(marks[0]) != sequence:
                continue
            self._copy[:] = numbers
            checksum = int(marks[1])
            if int(marks[0]) == sequence and zlib.crc32(self._copy.data) == checksum:
                self._seen = sequence
                return sequence, self._copy.copy()
        return None

    def close(self) -> None:
        """Let go of the memory."""
        self._head, self._slots = np.zeros(8, np.int64), []
        with contextlib.suppress(BufferError):
            self._map.close()


def clear_away(process: int) -> None:
    """Delete all frames of a process that has gone without doing so, whether anybody was told of them or not."""
    for path in Path(_folder() or tempfile.gettempdir()).glob(f"{_prefix(process)}*.frames"):
        _deleted(str(path))


def _prefix(process: int) -> str:
    """What the names of a process's frames begin with."""
    return f"sennit-{process}-"


def _folder() -> str | None:
    """Folder in RAM, where the system has one that can be written to."""
    ram = "/dev/shm"
    return ram if os.path.isdir(ram) and os.access(ram, os.W_OK) else None


def _deleted(name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name)


def _mapped(memory: mmap.mmap, size: int) -> tuple[Any, list[tuple[Any, Any]]]:
    """The head and the two slots (marks, numbers), as arrays in `memory`."""
    head = np.frombuffer(memory, np.int64, _HEAD // 8)
    length = _SLOT + 8 * size
    slots = []
    for k in range(2):
        at = _HEAD + k * length
        marks = np.frombuffer(memory, np.int64, 2, at)
        slots.append((marks, np.frombuffer(memory, np.float64, size, at + _SLOT)))
    return head, slots


def numbers_of(status: dict[str, float]) -> Sequence[float]:
    """`status` by name, in the order of `STATUS`."""
    return [status[name] for name in STATUS]
