"""Stations of all spline rods of a scene at once: what `Rod.centerline`, `frames` and so on give, in one sweep.

All numbers along rods are linear in their control points and rolls, up to a few operations on rows. One sparse matrix
takes the scene's control points to positions and derivatives at the stations of all rods, at their bending and their
stretching points; what the frames need besides is kept for each station. The formulas are those of
`bodies.rod.spline.fields`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from sennit.bodies.rod.rod import Rod
from sennit.bodies.rod.spline import fields, shape
from sennit.portrait.rows import cross, dots, lengths, unit
from sennit.validation import FloatArray

__all__ = ["RodStations", "station_counts", "station_places"]

_STATIONS_PER_SPAN = 6
_FEWEST, _FEWEST_OF_MANY = 33, 9
_OF_ALL = 16_000
"""Stations of all rods together from which on short rods get fewer than `_FEWEST`."""
_MOST = 2400
"""Stations of all rods, as far as three for each span are fewer."""


def station_counts(rods: Sequence[Rod]) -> list[int]:
    """How many stations each rod is drawn with."""
    spans = [rod.tables.spans for rod in rods]
    per_span = next((k for k in (_STATIONS_PER_SPAN, 4) if k * sum(spans) <= _MOST), 3)
    fewest = min(_FEWEST, max(_FEWEST_OF_MANY, _OF_ALL // max(len(rods), 1)))
    return [max(per_span * count, fewest - 1) + 1 for count in spans]


def station_places(rod: Rod, count: int) -> FloatArray:
    """Parameters u of `count` equal steps of a spline rod's rest length: `Rod._stations`, as exactly as one sees."""
    t = rod.tables
    return shape.parameter_at(
        t.rest[:, :3], t.closed, t.knot_lengths, np.linspace(0.0, t.length, count), tolerance=1e-11
    )


class RodStations:
    """Positions, directors and fields at the stations of spline rods that one scene holds.

    `rods` are in the order of the scene, `places` has the parameters u of the stations of each. `read` brings the
    arrays up to date; the stations of rod i are the rows `slices[i]`.
    """

    def __init__(self, rods: Sequence[Rod], places: Sequence[FloatArray]) -> None:
        ends = np.cumsum([0, *map(len, places)])
        self.slices = [slice(a, b) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
        self._count = int(ends[-1])
        self.centres = np.zeros((self._count, 3))
        self.directors = np.zeros((self._count, 3))
        self.tangents = np.zeros((self._count, 3))
        self.curvature = np.zeros(self._count)
        self.twist = np.zeros(self._count)
        self.tension = np.zeros(self._count)
        if rods:
            self._prepare(rods, places)

    def _prepare(self, rods: Sequence[Rod], places: Sequence[FloatArray]) -> None:
        points = max(rod.first_dof // 4 + rod.tables.n for rod in rods)
        stations, bending, stretching = _Rows(), _Rows(), _Rows()
        near: list[Any] = []
        pulls: list[Any] = []
        speeds: list[FloatArray] = []
        rest: list[FloatArray] = []
        bends = stretches = 0
        for rod, u in zip(rods, places, strict=True):
            t = rod.tables
            stations.add(rod, u)
            bending.add(rod, t.bend_u)
            stretching.add(rod, t.stretch_u)
            near.append(_neighbours(rod, u, bends))
            pulls.append(_between(rod, u, stretches))
            bends += len(t.bend_u)
            stretches += len(t.stretch_u)
            speeds.append(np.linalg.norm(shape.curve(t.rest[:, :3], t.closed, u)[:, 1], axis=1))
            rest.append(t.stretches.speed)
        blocks = [stations.matrix(k, points) for k in range(3)]  # r, r′, r″
        self._matrix = scipy.sparse.vstack(
            [*blocks, bending.matrix(0, points), stretching.matrix(1, points)], format="csr"
        )
        self._points = points
        self._rods = list(rods)
        both, self._weight, self._way = (np.concatenate(parts, axis=-1) for parts in zip(*near, strict=True))
        self._both = both.reshape(-1)
        self._blend = np.clip(self._weight, 0.0, 1.0)
        self._bends = bends
        entries, columns = (np.concatenate(parts) for parts in zip(*pulls, strict=True))
        starts = np.arange(0, 2 * len(entries) + 1, 2)
        self._pulls = scipy.sparse.csr_matrix((entries.ravel(), columns.ravel(), starts), (len(entries), stretches))
        self._rest = np.concatenate(rest)
        self._speeds = np.concatenate(speeds)

    def read(self, q: FloatArray) -> None:
        """Bring the arrays up to date with the scene's degrees of freedom `q`."""
        if not self._count:
            return
        k = self._count
        rows = self._matrix @ q[: 4 * self._points].reshape(-1, 4)
        bend = [rod.tables.bend for rod in self._rods]
        self.centres[:] = rows[:k, :3]
        slopes, second = rows[k : 2 * k, :3], rows[2 * k : 3 * k, :3]
        j = lengths(slopes)[:, None]
        t = self.tangents
        np.divide(slopes, j, out=t)
        turning = (second - dots(second, t) * t) / j
        carried = self._carried(rows[3 * k : 3 * k + self._bends, :3], bend, t)
        m = np.concatenate([frames.twist for frames in bend])[self._both].reshape(2, k)
        here = m[0] + self._weight * (m[1] - m[0])
        angle = 0.5 * (m + here) * self._way
        # what comes from both sides differs by a small angle, which is shared out
        low, high = carried[:k], carried[k:]
        side = cross(t, low)
        gap = np.arctan2(np.einsum("ij,ij->i", side, high), np.einsum("ij,ij->i", low, high)) + angle[1] - angle[0]
        gap -= 2.0 * math.pi * np.round(gap / (2.0 * math.pi))
        turn = (angle[0] + self._blend * gap + rows[:k, 3])[:, None]
        self.directors[:] = np.cos(turn) * low + np.sin(turn) * side
        self.curvature[:] = lengths(turning) / self._speeds
        self.twist[:] = (rows[k : 2 * k, 3] + here) / self._speeds
        stretch = rows[3 * k + self._bends :, :3]
        stiffness = np.concatenate([rod.tables.stretches.stiffness for rod in self._rods])
        pull = stiffness * (lengths(stretch) / self._rest - 1.0)
        self.tension[:] = self._pulls @ pull

    def _carried(self, starts: FloatArray, bend: list[Any], t: FloatArray) -> FloatArray:
        """The reference directors of the bending points on both sides of each station carried to it: (2 k, 3)."""
        vector = np.concatenate([frames.reference for frames in bend])[self._both]
        old = np.concatenate([frames.tangent for frames in bend])[self._both]
        both = np.concatenate((t, t))
        way = np.concatenate((self.centres, self.centres)) - starts[self._both]
        square = dots(way, way)
        at_point = square == 0.0
        square = 2.0 / np.where(at_point, 1.0, square)
        mirrored = vector - (dots(way, vector) * square) * way
        old = old - (dots(way, old) * square) * way
        change = both - old
        square = dots(change, change)
        square = 2.0 / np.where(square == 0.0, 1.0, square)
        mirrored -= (dots(change, mirrored) * square) * change
        result = np.where(at_point, vector, mirrored)
        result -= dots(result, both) * both
        return unit(result)


class _Rows:
    """Rows of the matrices that give r, r′ and r″ at places of rods from the control points of their scene."""

    def __init__(self) -> None:
        self._rows: list[FloatArray] = []
        self._columns: list[Any] = []

    def add(self, rod: Rod, u: FloatArray) -> None:
        """Those of a rod at `u`."""
        t = rod.tables
        first, rows = shape.basis(u, t.spans, t.closed)
        self._rows.append(rows)
        self._columns.append(rod.first_dof // 4 + (first[:, None] + np.arange(4)) % t.n)

    def matrix(self, order: int, points: int) -> Any:
        """That of r, r′ or r″ (0, 1, 2), with a column for each of `points` control points."""
        rows, columns = np.concatenate(self._rows)[:, order], np.concatenate(self._columns)
        start = np.arange(0, 4 * len(rows) + 1, 4)
        return scipy.sparse.csr_matrix((rows.ravel(), columns.ravel(), start), (len(rows), points))


def _neighbours(rod: Rod, u: FloatArray, start: int) -> tuple[Any, FloatArray, FloatArray]:
    """Bending points (2, k) on both sides of places, share of the upper one, ways (2, k) from both to the place."""
    t = rod.tables
    count = len(t.bend_u)
    right = np.searchsorted(t.bend_u, u, side="right")
    if t.closed:
        turns = np.array((-float(t.spans), 0.0, float(t.spans)))
        low, high = right - 1, right
        u_low = t.bend_u[low % count] + turns[low // count + 1]
        u_high = t.bend_u[high % count] + turns[high // count + 1]
        low, high = low % count, high % count
    else:
        high = np.clip(right, 1, count - 1)
        low = high - 1
        u_low, u_high = t.bend_u[low], t.bend_u[high]
    weight = (u - u_low) / (u_high - u_low)
    return start + np.stack((low, high)), weight, np.stack((u - u_low, u - u_high))


def _between(rod: Rod, u: FloatArray, first: int) -> tuple[FloatArray, Any]:
    """Shares (k, 2) of tensions at stretching points, the rod's from `first` on, and which they are: linear in s."""
    t = rod.tables
    s, at = fields.rest_length(t, t.stretch_u), fields.rest_length(t, u)
    count = len(s)
    if t.closed:
        low = np.searchsorted(s, at, side="right") - 1
        high = (low + 1) % count
        start, end = s[low % count] - t.length * (low < 0), s[high] + t.length * (low == count - 1)
        low %= count
    else:
        high = np.clip(np.searchsorted(s, at), 1, count - 1)
        low = high - 1
        start, end = s[low], s[high]
    weight = (at - start) / (end - start)
    return np.stack((1.0 - weight, weight), axis=1), first + np.stack((low, high), axis=1)
