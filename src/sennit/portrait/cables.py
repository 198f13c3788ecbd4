"""Cables as lines with a fixed number of stations, and directors along them that show their twist."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.cables.tables.kernels import ANGLE, FIRST, ROW0, ROW_CABLE, TENSION, VALUE
from sennit.constraints.cable import Cable
from sennit.constraints.cable_path import CablePath
from sennit.constraints.sheave import Sheave
from sennit.portrait.meshing import tangents
from sennit.portrait.rows import cross, dots, lengths, unit
from sennit.validation import FloatArray

__all__ = ["CableLine", "carried", "resampled", "station_count"]

_SAGGING = 25
"""Stations of a span that sags."""
_ARC = 49
"""Stations of a whole turn: the steps of a cable's own arcs."""
_MOST = 720
_DOWN = np.array((0.0, 0.0, -9.81))


def station_count(cable: Cable) -> int:
    """How many stations a cable is drawn with: enough for each span to sag and for what it lies on."""
    spans, arcs = len(cable.entries) - 1 + len(cable.around), len(cable.around)
    for entry in cable.entries:
        if isinstance(entry, Sheave):
            arcs += 1 + entry._turns
    return min(_SAGGING * spans + _ARC * arcs, _MOST)


def resampled(line: FloatArray, count: int) -> FloatArray:
    """`line` (m, 3) as `count` points: all of it, with more points where its pieces are longest.

    Of a line with more points than that, some are left out.
    """
    m = len(line)
    if m >= count:
        return np.asarray(line[np.round(np.linspace(0, m - 1, count)).astype(int)])
    steps = np.diff(line, axis=0)
    ends = np.concatenate(((0.0,), np.cumsum(lengths(steps))))
    total = ends[-1] if ends[-1] > 0.0 else 1.0
    more = np.diff(np.round((count - m) * ends / total).astype(int))
    more[-1] += count - m - int(more.sum())
    pieces = more + 1
    start = np.repeat(np.cumsum(pieces) - pieces, pieces)
    part = (np.arange(count - 1) - start) / np.repeat(pieces, pieces)
    piece = np.repeat(np.arange(m - 1), pieces)
    return np.concatenate((line[piece] + part[:, None] * steps[piece], line[-1:]))


def carried(centres: FloatArray, first: FloatArray, turn: float) -> FloatArray:
    """Unit directors (n, 3) across a line: `first` (3,) carried along without turning, and turned by `turn` (rad)
    more towards its end, evenly along its length.

    Between neighbours the tangent goes over by the smallest rotation. What such a rotation turns a director by, against
    others that were chosen for each station by itself, adds up along the line: no station waits for the one before.
    """
    t = tangents(centres)
    chosen = np.eye(3)[np.argmin(np.abs(t), axis=1)]
    side = unit(chosen - dots(chosen, t) * t)
    other = cross(t, side)
    a, b = t[:-1], t[1:]
    cosine = np.einsum("ij,ij->i", a, b)
    # of a line that turns right back any rotation is as small as another: here, none about the tangent
    share = np.einsum("ij,ij->i", side[:-1], b) / np.maximum(1.0 + cosine, 1e-9)
    moved = side[:-1] - share[:, None] * (a + b)
    angles = np.arctan2(np.einsum("ij,ij->i", moved, other[1:]), np.einsum("ij,ij->i", moved, side[1:]))
    begin = np.arctan2(first @ other[0], first @ side[0])
    along = lengths(np.diff(centres, axis=0))
    length = float(along.sum())
    angle = np.full(len(t), begin)
    angle[1:] += np.cumsum(angles) + turn * np.cumsum(along) / (length if length > 0.0 else 1.0)
    return np.asarray(np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * other)


class CableLine:
    """What is seen of one cable: its line, directors and tensions, and how far its sheaves have turned.

    `read` brings the arrays up to date from the joined tables of a scene's cables, `System.cables_now`.
    """

    def __init__(self, cable: Cable) -> None:
        self.cable = cable
        n = station_count(cable)
        self.centres, self.directors, self.tension = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
        self.angles: dict[Sheave, float] = {}
        self._sheaves = [(i, e) for i, e in enumerate(cable.entries) if isinstance(e, Sheave)]

    def read(self, joined: dict[str, Any], gravity: FloatArray) -> None:
        """Bring the arrays up to date."""
        cable = self.cable
        path = CablePath(_own_rows(cable, joined), cable._stretchers, cable._around)
        for i, sheave in self._sheaves:
            angle = float(path.element(i)[ANGLE])
            self.angles[sheave] = angle + path.beyond(i) / sheave.radius if sheave._idle else angle
        slack = max(cable.length - path.length, 0.0) if cable.slack else 0.0
        line = path.drawn(slack, gravity if gravity.any() else _DOWN, _SAGGING)
        self.centres[:] = resampled(line, len(self.centres)) if len(line) > 1 else line[0]
        if cable._twists:
            start = cable._stretchers[0].frame @ cable._tables["ends"][0, 3:6]
            self.directors[:] = carried(self.centres, start, float(path.rows[-1, VALUE]))
        else:
            self.directors[:] = carried(self.centres, np.array((0.3, 0.5, 0.8)), 0.0)
        self._read_tension(path)

    def _read_tension(self, path: CablePath) -> None:
        """Tensions change only on sheaves that divide the cable: each station takes that of its part."""
        if path.parts == 1:
            self.tension[:] = path.rows[0, TENSION]
            return
        ends = np.cumsum([path.part_length(d) for d in range(path.parts)])
        steps = np.diff(self.centres, axis=0)
        along = np.concatenate(((0.0,), np.cumsum(lengths(steps))))
        part = np.searchsorted(ends[:-1] * along[-1] / ends[-1], along)
        self.tension[:] = path.rows[: path.parts, TENSION][part]


def _own_rows(cable: Cable, joined: dict[str, Any]) -> dict[str, Any]:
    """The rows of one cable in joined tables."""
    index = int(cable._tables["row_ints"][0, ROW_CABLE])
    first, row0 = (int(x) for x in joined["cable_ints"][index, [FIRST, ROW0]])
    rooms = {
        "cable": slice(index, index + 1),
        "element": slice(first, first + len(cable._tables["element_ints"])),
        "row": slice(row0, row0 + len(cable._tables["row_ints"])),
    }
    return {name: whole[rooms.get(name.split("_")[0], slice(0, 0))] for name, whole in joined.items()}
