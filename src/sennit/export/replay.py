"""Recordings as one .html file that plays in a browser: nothing is fetched, no server is needed.

The page has the frames inside, as whole numbers: places in 65535 steps of the room that a part takes in the whole
recording, directors and fields in 255 steps; compressed and written as base64. ``replay.js`` plays them, and
``drawing.js`` of the page draws them, so that they look as they do there.
"""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.export.framing import boxes_of, drift_of, room_of
from sennit.export.recording import Recording
from sennit.portrait.bounds import camera_for
from sennit.portrait.colours import SIGNED, is_signed, palette
from sennit.portrait.packed import drawing_script, packed_cast
from sennit.portrait.parts import UNITS, Solid, Tube
from sennit.validation import FloatArray

__all__ = ["write_replay"]

_HERE = Path(__file__).parent


def write_replay(recording: Recording, path: Path, each: Callable[[int, int], object] | None = None) -> None:
    """Write a recording to `path`, one page that plays it."""
    described, meshes = packed_cast(recording.cast)
    data = _Data(meshes)
    ranges = _ranges(recording)
    parts = []
    for k, (name, part, track) in enumerate(recording.tracks()):
        parts.append(described[k] | {"name": name} | _moving(part, track, data, ranges))
        if each is not None:
            each(k, len(recording.cast.parts) + 1)
    low, high = room_of(recording)
    boxes, drift = boxes_of(recording).reshape(-1, 3), drift_of(recording)
    eye, target = recording.camera or camera_for(boxes.min(axis=0), boxes.max(axis=0))
    header = {
        "title": recording.title,
        "fps": recording.fps,
        "count": len(recording),
        "start": float(recording.times[0]),
        "ground": recording.ground,
        "low": low.tolist(),
        "high": high.tolist(),
        "fitted": recording.camera is None,
        "boxes": boxes.tolist(),
        "drift": data.add(drift.astype(np.float32)) if drift.any() else None,
        "eye": np.asarray(eye).tolist(),
        "target": np.asarray(target).tolist(),
        "fields": {
            name: {"low": a, "high": b, "unit": UNITS.get(name, ""), "ramp": "signed" if is_signed(a, b) else "amount"}
            for name, (a, b) in ranges.items()
        },
        "ramps": {name: palette(name).ravel().tolist() for name in ("amount", "signed")},
        "parts": parts,
    }
    contents = {
        "title": html.escape(recording.title),
        "style": (_HERE / "replay.css").read_text(encoding="utf-8"),
        "script": '"use strict";\n' + drawing_script() + (_HERE / "replay.js").read_text(encoding="utf-8"),
        "header": json.dumps(header, allow_nan=False).replace("<", "\\u003c"),
        "data": base64.b64encode(zlib.compress(bytes(data.bytes), 9)).decode(),
    }
    page = (_HERE / "replay.html").read_text(encoding="utf-8")
    text = re.sub(r"{{(\w+)}}", lambda found: contents[found[1]], page)
    path.write_text(text, encoding="utf-8")
    if each is not None:
        each(1, 1)


def _ranges(recording: Recording) -> dict[str, tuple[float, float]]:
    """The range of each field over the whole recording; a few extreme values, as of a shock, are let go beyond it."""
    found: dict[str, list[FloatArray]] = {}
    for _, _, track in recording.tracks():
        for name, values in getattr(track, "fields", {}).items():
            found.setdefault(name, []).append(values[track.shown > 0.5].ravel())
    ranges = {}
    for name, each in found.items():
        values = np.concatenate(each)
        low, high = np.percentile(values, (0.2, 99.8)) if len(values) else (0.0, 0.0)
        low, high = min(float(low), 0.0), max(float(high), 0.0)
        largest = max(high, -low) or 1.0
        ranges[name] = (-largest, largest) if name in SIGNED and -low > 0.02 * largest else (0.0, largest)
    return ranges


class _Data:
    """The arrays of a page, one after the other."""

    def __init__(self, first: bytes) -> None:
        self.bytes = bytearray(first)

    def add(self, values: NDArray[Any]) -> dict[str, Any]:
        """Append an array; what is returned says where it is."""
        flat = np.ascontiguousarray(values)
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        where = {"at": len(self.bytes), "type": flat.dtype.str[1:], "length": int(flat.size)}
        self.bytes += flat.astype(flat.dtype.newbyteorder("<")).tobytes()
        return where

    def moving(self, values: NDArray[Any]) -> dict[str, Any]:
        """Append whole numbers (k, …) that change with time, as differences from frame to frame: those compress well.

        Differences go round (65535 + 1 = 0), so that adding them up gives the numbers again.
        """
        rows = values.reshape(len(values), -1)
        changes = np.concatenate((rows[:1], rows[1:] - rows[:-1]))
        return {**self.add(changes), "row": int(rows.shape[1])}

    def places(self, values: FloatArray) -> dict[str, Any]:
        """Append coordinates (k, …, 3)."""
        flat = values.reshape(-1, 3)
        low = flat.min(axis=0)
        step = max(float(np.ptp(flat, axis=0).max()), 1e-12) / 65535.0
        whole = np.round((values - low) / step).astype(np.uint16)
        return {**self.moving(whole), "low": low.tolist(), "step": step}


def _moving(part: Any, track: Any, data: _Data, ranges: dict[str, Any]) -> dict[str, Any]:
    """What changes of a part, by name."""
    entry: dict[str, Any] = {"shown": data.moving((track.shown > 0.5).astype(np.uint8))}
    if isinstance(part, Solid):
        entry |= {"position": data.places(track.position)}
        size = np.maximum(np.linalg.norm(track.quaternion, axis=1, keepdims=True), 1e-300)
        entry |= {"quaternion": data.moving(np.round(32767.0 * track.quaternion / size).astype(np.int16))}
        return entry
    if isinstance(part, Tube):
        entry |= {"centres": data.places(track.centres)}
        entry |= {"directors": data.moving(np.round(127.0 * np.clip(track.directors, -1.0, 1.0)).astype(np.int8))}
    else:
        entry |= {"vertices": data.places(track.vertices)}
    entry["fields"] = {}
    for field, values in track.fields.items():
        low, high = ranges[field]
        whole = np.round(255.0 * np.clip((values - low) / (high - low), 0.0, 1.0)).astype(np.uint8)
        entry["fields"][field] = data.moving(whole)
    return entry
