"""Cables as lines with a fixed number of stations, and directors along them that show their twist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit.cables.tables.kernels import ANGLE, FIRST, ROW0, ROW_CABLE, TENSION, VALUE
from sennit.constraints.cable import Cable
from sennit.constraints.cable_path import CablePath
from sennit.constraints.sheave import Sheave
from sennit.portrait.rows import cross, dots, lengths, sides_of, unit
from sennit.validation import FloatArray

__all__ = ["CableLines", "LineFrames", "resampled", "station_count"]

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
    if m == 2:
        return np.asarray(line[0] + np.linspace(0.0, 1.0, count)[:, None] * (line[1] - line[0]))
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


class LineFrames:
    """Directors along several lines at once, with `counts` (lines,) stations each, one line after the other.

    Between neighbours the tangent goes over by the smallest rotation. What such a rotation turns a director by, against
    others that were chosen for each station by itself, adds up along the line: no station waits for the one before.
    """

    def __init__(self, counts: Sequence[int]) -> None:
        ends = np.cumsum(counts)
        starts = ends - counts
        self.slices = [slice(a, b) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        self._first, self._line = starts, np.repeat(np.arange(len(starts)), counts)
        stations = np.arange(int(ends[-1]))
        # the piece after each station and the one before it, on its own line
        self._after = np.minimum(stations, np.repeat(ends - 2, counts))
        self._before = np.maximum(stations - 1, np.repeat(starts, counts))
        self._inside = np.diff(self._line) == 0

    def tangents(self, centres: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Unit directions (n, 3) at `centres` (n, 3), and the lengths (n − 1,) of the pieces, 0 between two lines."""
        steps = np.diff(centres, axis=0)
        sizes = lengths(steps) * self._inside
        steps = np.divide(steps, sizes[:, None], out=np.zeros_like(steps), where=sizes[:, None] > 0.0)
        result = steps[self._before] + steps[self._after]
        lost = lengths(result) <= 1e-9  # it turns right back, or stands still
        if lost.any():
            result[lost] = steps[self._before[lost]]
            result[~result.any(axis=1)] = (1.0, 0.0, 0.0)
        return unit(result), sizes

    def carried(self, centres: FloatArray, first: FloatArray, turns: FloatArray) -> FloatArray:
        """Unit directors (n, 3): `first` (lines, 3) at the start of each line, carried along it without turning about
        it, and turned by `turns` (lines,), rad, towards its end, evenly along its length.
        """
        t, sizes = self.tangents(centres)
        side = sides_of(t)
        other = cross(t, side)
        a, b = t[:-1], t[1:]
        # of a line that turns right back any rotation is as small as another: here, none about the tangent
        share = np.einsum("ij,ij->i", side[:-1], b) / np.maximum(1.0 + np.einsum("ij,ij->i", a, b), 1e-9)
        moved = side[:-1] - share[:, None] * (a + b)
        angles = np.arctan2(np.einsum("ij,ij->i", moved, other[1:]), np.einsum("ij,ij->i", moved, side[1:]))
        begin = np.arctan2(dots(first, other[self._first])[:, 0], dots(first, side[self._first])[:, 0])
        total = np.bincount(self._line[1:], sizes, len(first))
        rates = np.divide(turns, total, out=np.zeros_like(turns), where=total > 0.0)
        angles += sizes * rates[self._line[1:]]
        turned = np.concatenate(((0.0,), np.cumsum(angles * self._inside)))
        angle = (turned + (begin - turned[self._first])[self._line])[:, None]
        return np.asarray(np.cos(angle) * side + np.sin(angle) * other)


class CableLines:
    """What is seen of a scene's cables: lines, directors and tensions, and how far sheaves have turned.

    `read` brings the arrays up to date from the joined tables of the scene's cables, `System.cables_now`. The stations
    of a cable are the rows ``slices[cable]``.
    """

    def __init__(self, cables: Sequence[Cable]) -> None:
        self.cables = list(cables)
        self._frames = LineFrames([station_count(cable) for cable in cables])
        self.slices = dict(zip(self.cables, self._frames.slices, strict=True))
        n = self._frames.slices[-1].stop
        self.centres, self.directors, self.tension = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
        self.angles: dict[Sheave, float] = {}
        self._sheaves = {
            cable: [(i, e) for i, e in enumerate(cable.entries) if isinstance(e, Sheave)] for cable in cables
        }
        self._first = np.tile((0.3, 0.5, 0.8), (len(self.cables), 1))
        self._turns = np.zeros(len(self.cables))

    def read(self, scene: Any, joined: dict[str, Any], gravity: FloatArray) -> None:
        """Bring the arrays up to date for those cables that `scene` holds; others stay as they are."""
        for k, cable in enumerate(self.cables):
            if cable._scene is scene:
                self._read_cable(k, cable, joined, gravity)
        self.directors[:] = self._frames.carried(self.centres, self._first, self._turns)

    def _read_cable(self, k: int, cable: Cable, joined: dict[str, Any], gravity: FloatArray) -> None:
        path = CablePath(_own_rows(cable, joined), cable._stretchers, cable._around)
        for i, sheave in self._sheaves[cable]:
            angle = float(path.element(i)[ANGLE])
            self.angles[sheave] = angle + path.beyond(i) / sheave.radius if sheave._idle else angle
        slack = max(cable.length - path.length, 0.0) if cable.slack else 0.0
        line = path.drawn(slack, gravity if gravity.any() else _DOWN, _SAGGING)
        where = self.slices[cable]
        centres = self.centres[where]
        centres[:] = resampled(line, len(centres)) if len(line) > 1 else line[0]
        if cable._twists:
            self._first[k] = cable._stretchers[0].frame @ cable._tables["ends"][0, 3:6]
            self._turns[k] = path.rows[-1, VALUE]
        # tensions change only on sheaves that divide the cable: each station takes that of its part
        if path.parts == 1:
            self.tension[where] = path.rows[0, TENSION]
        else:
            ends = np.cumsum([path.part_length(d) for d in range(path.parts)])
            along = np.concatenate(((0.0,), np.cumsum(lengths(np.diff(centres, axis=0)))))
            part = np.searchsorted(ends[:-1] * along[-1] / ends[-1], along)
            self.tension[where] = path.rows[: path.parts, TENSION][part]


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
