"""All cables of a scene in common tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sennit.bodies.kernels.points import RIGID, WIDTH, WORLD
from sennit.bodies.point.point import Point
from sennit.bodies.point.table import Points
from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.table import (
    CableRows,
    Cables,
    CableTables,
    ChainWork,
    Dividers,
    Elements,
    Obstacles,
    Pulls,
    Rigging,
)
from sennit.tables import Table

__all__ = ["SceneCables"]


class SceneCables:
    """The cables of a scene, and their tables joined: the cables keep parts of these.

    `points`: all of the scene, in order; `dofs`: its degrees of freedom; `bounded`: its other rows with bounds.
    """

    def __init__(self, cables: Sequence[Cable], points: Sequence[Point], dofs: int, bounded: int) -> None:
        self.cables = list(cables)
        given = [cable._tables for cable in cables]
        whole = [
            Cables.joined(t.cables for t in given),
            Elements.joined(t.elements for t in given),
            Obstacles.joined(t.obstacles for t in given),
            CableRows.joined(t.rows for t in given),
        ]
        (joined, elements, obstacles, rows), self.words = Table.side_by_side(whole)
        """The tables, and every number of theirs that a step changes, as words of 8 bytes."""
        dividers = int((joined.row_room - 1).sum())
        self.rigging = Rigging(
            cables=joined,
            elements=elements,
            obstacles=obstacles,
            rows=rows,
            dividers=Dividers(rows=dividers),
            pulls=Pulls.sized(len(elements), dofs),
            chain=ChainWork(rows=max(2 * max(bounded + len(rows), 1), dividers)),
        )
        first = row = obstacle = 0
        for index, (cable, t) in enumerate(zip(cables, given, strict=True)):
            ends = first + len(t.elements), row + len(t.rows), obstacle + len(t.obstacles)
            cable._tables = CableTables(
                self.rigging.cables.part(index, index + 1),
                self.rigging.elements.part(first, ends[0]),
                self.rigging.obstacles.part(obstacle, ends[2]),
                self.rigging.rows.part(row, ends[1]),
            )
            cable._tables.renumber(index, first, row, obstacle)
            first, row, obstacle = ends
        self.rows = len(rows)
        """Number of their rows."""
        self.largest = max((len(t.elements) for t in given), default=0)
        """Most elements of one cable."""
        self._numbers = {id(point): i for i, point in enumerate(points)}
        self.number_carriers()

    def number_carriers(self) -> None:
        """Find the points that carry the elements, after elements were put back."""
        for cable in self.cables:
            cable._course.number(cable._tables, self._numbers)

    def lay_spans(self, points: Points, at: int) -> int:
        """Give every span between two moving bodies a place in the matrix's numbers from `at` on; returns the end."""
        elements, slot = self.rigging.elements, self.rigging.pulls.slot
        slot[:] = -1
        for cable in self.cables:
            first, count = int(cable._tables.cables.first[0]), cable._tables.count
            on = np.arange(first, first + count)[elements.on[first : first + count] == 1]
            elements.following[on[:-1]] = on[1:]
            p, q = elements.carrier[on[:-1]], elements.carrier[on[1:]]
            rigid_p, rigid_q = points.kind[p] == RIGID, points.kind[q] == RIGID
            free = (points.kind[p] != WORLD) & (points.kind[q] != WORLD)
            same = rigid_p & rigid_q & (points.body[p] == points.body[q])
            sizes = np.where(rigid_p, 6, WIDTH) * np.where(rigid_q, 6, WIDTH)
            sizes = np.where(free & ~same, sizes, 0)
            starts = at + np.concatenate(([0], np.cumsum(sizes)))
            used = sizes > 0
            slot[on[:-1][used]] = starts[:-1][used]
            at = int(starts[-1])
        return at
