"""Cables as lines with a fixed number of stations, and directors along them that show their twist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.kernels.kinds import SHEAVE
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.cable.table import Rigging
from sennit.portrait.rows import cross, dots, lengths, sides_of, unit
from sennit.validation import FloatArray

__all__ = ["CableLines", "LineFrames", "TautLines", "resampled", "station_count"]

_SAGGING = 25
"""Points of a span that sags."""
_BETWEEN = 23
"""Stations between two entries, so that a span can sag."""
_ARC = 25
"""Stations on a sheave, as long as the cable does not go right round it."""
_MOST = 600
"""Stations of all spans, but for three to each."""
_DOWN = np.array((0.0, 0.0, -9.81))


def station_count(cable: Cable) -> int:
    """How many stations a cable is drawn with: enough for each span to sag and for what it lies on."""
    arcs, between = _layout(cable)
    return sum(arcs) + between * (len(arcs) - 1) + 3 * _ARC * len(cable.around)


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

    `bind` finds the cables in the tables of their scene, `read` brings the arrays up to date from copies of these,
    `System.cables_now`. The stations of a cable are the rows ``slices[cable]``.
    """

    def __init__(self, cables: Sequence[Cable]) -> None:
        self.cables = list(cables)
        self._frames = LineFrames([station_count(cable) for cable in cables])
        self.slices = dict(zip(self.cables, self._frames.slices, strict=True))
        n = self._frames.slices[-1].stop
        self.centres, self.directors, self.tension = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
        self.angles: dict[Sheave, float] = {}
        self._first = np.tile((0.3, 0.5, 0.8), (len(self.cables), 1))
        self._turns = np.zeros(len(self.cables))
        self._held: list[tuple[int, Cable]] = []
        self._plain: TautLines | None = None

    def bind(self, scene: Any, rigging: Rigging) -> None:
        """Take the rows that the cables have in the tables of `scene` now; those of cables that left it stay."""
        self._held = [(k, cable) for k, cable in enumerate(self.cables) if cable.scene is scene]
        plain = [cable for _, cable in self._held if not cable.around]
        self._plain = TautLines(plain, [self.slices[cable] for cable in plain], rigging) if plain else None

    def read(self, rigging: Rigging, gravity: FloatArray) -> None:
        """Bring the arrays up to date."""
        done: set[Cable] = set()
        if self._plain is not None:
            done = self._plain.read(rigging, self)
        down = gravity if gravity.any() else _DOWN
        for k, cable in self._held:
            if cable not in done:
                self._read_path(cable, rigging, down)
            if cable.twists:
                self._first[k] = cable.first_mark
                self._turns[k] = rigging.rows.value[rigging.cables.twist_row[cable.number]]
        self.directors[:] = self._frames.carried(self.centres, self._first, self._turns)

    def _read_path(self, cable: Cable, rigging: Rigging, gravity: FloatArray) -> None:
        """A cable that sags, that may lie on bodies, or that passes a sheave clear."""
        path = cable._path_in(rigging)
        for i, sheave in enumerate(cable.sheaves):
            if sheave is not None:
                self.angles[sheave] = path.angle(i)
        slack = max(cable.length - path.length, 0.0) if cable.slack else 0.0
        line = path.drawn(slack, gravity, _SAGGING)
        where = self.slices[cable]
        centres = self.centres[where]
        centres[:] = resampled(line, len(centres)) if len(line) > 1 else line[0]
        # tensions change only on sheaves that divide the cable: each station takes that of its part
        if path.parts == 1:
            self.tension[where] = path.rows.tension[0]
        else:
            ends = np.cumsum([path.part_length(d) for d in range(path.parts)])
            along = np.concatenate(((0.0,), np.cumsum(lengths(np.diff(centres, axis=0)))))
            part = np.searchsorted(ends[:-1] * along[-1] / ends[-1], along)
            self.tension[where] = path.rows.tension[: path.parts][part]


class TautLines:
    """Taut cables that no body is in the way of, all at once: which elements they touch does not change.

    Each element gives stations on its arc, each span some between its ends; all are products of what a path holds of
    its elements. `slices` says where the stations of each cable are.
    """

    def __init__(self, cables: Sequence[Cable], slices: Sequence[slice], rigging: Rigging) -> None:
        self._cables = list(cables)
        elements: list[int] = []
        owners: list[int] = []
        arcs: list[tuple[Any, ...]] = []  # element, by its place in the list; share; station
        spans: list[tuple[Any, ...]] = []
        rows: list[int] = []
        row_owners: list[int] = []
        tensions: list[Any] = []
        self._sheaves: list[tuple[Sheave, int, int, int, int, int]] = []
        for c, (cable, where) in enumerate(zip(cables, slices, strict=True)):
            own = rigging.cables
            first, row0, parts = (int(x[cable.number]) for x in (own.first, own.row, own.parts))
            rows += range(row0, row0 + parts)
            row_owners += [c] * parts
            at, row, start = where.start, row0, len(elements)
            arc_counts, between = _layout(cable)
            for i, sheave in enumerate(cable.sheaves):
                here = len(elements)
                elements.append(first + i)
                owners.append(c)
                divides = sheave is not None and sheave.divides
                on = np.linspace(0.0, 1.0, arc_counts[i])
                arcs.append((np.full(len(on), here), on, at + np.arange(len(on))))
                tensions.append(np.where(on < 0.5, row, row + 1) if divides else np.full(len(on), row))
                at += len(on)
                if sheave is not None:
                    self._sheaves.append((sheave, here, start, row, row0 + parts, int(row > row0)))
                if divides:
                    row, start = row + 1, here
                if i < len(cable.entries) - 1:
                    inside = (1.0 + np.arange(between)) / (between + 1.0)
                    spans.append((np.full(between, here), inside, at + np.arange(between)))
                    tensions.append(np.full(between, row))
                    at += between
        self._elements, self._owners = np.array(elements), np.array(owners)
        self._arc_of, share, self._arc_at = (np.concatenate(x) for x in zip(*arcs, strict=True))
        self._arc_share = share[:, None]
        self._span_of, share, self._span_at = (np.concatenate(x) for x in zip(*spans, strict=True))
        self._span_share = share[:, None]
        self._stations = np.concatenate([np.arange(where.start, where.stop) for where in slices])
        self._tensions = np.concatenate(tensions)
        self._rows, self._row_owners = np.array(rows), np.array(row_owners)
        self._lies = rigging.elements.kind[self._elements] == SHEAVE

    def read(self, rigging: Rigging, lines: CableLines) -> set[Cable]:
        """Fill the rows of `lines` for cables that are taut and touch all that they were given; returns these."""
        elements, used, pulls = rigging.elements, self._elements, rigging.rows.tension
        lies = self._lies[:, None]
        start, end = elements.arrive[used], elements.leave[used]
        centre, axis = elements.centre_now[used], elements.axis_now[used]
        spoke = np.where(lies, start - centre, 0.0)
        along = dots(spoke, axis) * axis
        spoke -= along
        base, side = np.where(lies, centre + along, end), cross(axis, spoke)
        turn = (elements.sense[used] * (elements.wrap_before[used] + elements.wrap_after[used]))[:, None]
        angle = turn[self._arc_of] * self._arc_share
        lines.centres[self._arc_at] = (
            base[self._arc_of] + np.cos(angle) * spoke[self._arc_of] + np.sin(angle) * side[self._arc_of]
        )
        way = start[self._span_of + 1] - end[self._span_of]
        lines.centres[self._span_at] = end[self._span_of] + self._span_share * way
        lines.tension[self._stations] = pulls[self._tensions]
        self._read_sheaves(rigging, lines)
        count = len(self._cables)
        pulling = np.bincount(self._row_owners, pulls[self._rows] > 0.0, count) > 0.0
        touching = np.bincount(self._owners, elements.on[used] != 1, count) == 0.0
        return {cable for cable, taut in zip(self._cables, pulling & touching, strict=True) if taut}

    def _read_sheaves(self, rigging: Rigging, lines: CableLines) -> None:
        """How far sheaves have turned: what `Sheave.angle` says."""
        if not self._sheaves:
            return
        elements, used = rigging.elements, self._elements
        spans, arcs, rest = (
            np.concatenate(((0.0,), np.cumsum(x))).tolist()
            for x in (elements.span[used], elements.arc[used], rigging.rows.rest)
        )
        for sheave, at, start, row, end, later in self._sheaves:
            here, there = used[at], used[start]
            angle = float(elements.angle[here])
            if sheave.idle:
                along = spans[at] - spans[start] + (arcs[at] - arcs[start + 1])
                along += float(elements.radius[here] * elements.wrap_before[here])
                if later:
                    along += float(elements.radius[there] * elements.wrap_after[there])
                angle += (rest[end] - rest[row] - along) / sheave.radius
            lines.angles[sheave] = angle


def _layout(cable: Cable) -> tuple[list[int], int]:
    """Stations on each entry of a cable, and between two of them."""
    arcs = [1 if sheave is None else _ARC + 32 * sheave.turns for sheave in cable.sheaves]
    return arcs, min(_BETWEEN, max(_MOST // (len(arcs) - 1), 3))
