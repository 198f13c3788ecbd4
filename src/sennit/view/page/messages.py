"""What goes to browsers: casts, frames and files as bytes, all else as JSON.

Bytes begin with two unsigned 32 bit numbers, the kind and another one; numbers are little-endian::

    1 cast    length of a JSON text, that text (filled up to a multiple of 4 with spaces), the parts' arrays
    2 frame   generation; then 64 bit: wall clock (s), the status; then single precision: number of samples, number of
              values in each, the samples (time, watched values) since the last frame that this browser got, all else
              of the frame
    3 file    length of a JSON text (name, type), that text, the file
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from sennit.live.channel import STATUS
from sennit.validation import FloatArray

__all__ = ["FRAME", "cast_message", "file_message", "frame_message", "heard"]

CAST, FRAME, FILE = 1, 2, 3


def cast_message(header: dict[str, Any], arrays: bytes) -> bytes:
    """What never changes of a frame."""
    return _headed(CAST, header, arrays)


def file_message(name: str, kind: str, data: bytes) -> bytes:
    """A file that the browser keeps."""
    return _headed(FILE, {"name": name, "type": kind}, data)


def _headed(kind: int, header: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(header, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return np.array([kind, len(text)], "<u4").tobytes() + text + data


def frame_message(generation: int, clock: float, frame: FloatArray, samples: FloatArray) -> bytes:
    """One frame at wall clock `clock`, s; `samples`: (1 + watches, k)."""
    count = len(STATUS)
    numbers = np.concatenate(([samples.shape[1], samples.shape[0]], samples.T.ravel(), frame[count:]))
    with np.errstate(over="ignore"):
        return b"".join(
            (
                np.array([FRAME, generation], "<u4").tobytes(),
                np.array([clock, *frame[:count]], "<f8").tobytes(),
                numbers.astype("<f4").tobytes(),
            )
        )


def heard(text: object) -> dict[str, Any] | None:
    """What a browser said; None if it is no message."""
    if not isinstance(text, str):
        return None
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) and isinstance(said.get("do"), str) else None
