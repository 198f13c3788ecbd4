"""The tables of a scene's cables, joined from those that the cables bring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.kernels import tables as columns
from sennit.constraints.cable.kernels.chain import CHAIN_WORK_ROWS, MARK_ROWS
from sennit.constraints.cable.kernels.tables import CARRIER, COUNT, DIVIDES, FIRST, NEXT, ON
from sennit.point.kernels.points import BODY, KIND, RIGID, WIDTH, WORLD
from sennit.point.point import Point
from sennit.solve.report import Event

__all__ = ["CableTables"]

_WIDTHS = {
    "cable_ints": (columns.CABLE_INTS, np.int64),
    "cable_floats": (columns.CABLE_FLOATS, np.float64),
    "ends": (columns.CABLE_ENDS, np.float64),
    "cable_state": (columns.CABLE_STATE, np.float64),
    "element_ints": (columns.ELEMENT_INTS, np.int64),
    "element_floats": (columns.ELEMENT_FLOATS, np.float64),
    "element_state": (columns.ELEMENT_STATE, np.float64),
    "element_place": (columns.ELEMENT_PLACE, np.float64),
    "obstacle_ints": (columns.OBSTACLE_INTS, np.int64),
    "obstacle_floats": (columns.OBSTACLE_FLOATS, np.float64),
    "row_ints": (columns.CABLE_ROW_INTS, np.int64),
    "row_state": (columns.CABLE_ROW_STATE, np.float64),
}

_DIVIDERS = 16
"""Place of the table of dividers among the kernels' arrays."""


class CableTables:
    """Everything that the kernels know of cables. The cables keep views of it."""

    def __init__(self, cables: Sequence[Cable], points: Sequence[Point], dofs: int, bounded: int) -> None:
        self.cables = list(cables)
        sizes = [sum(cable._tables[name].size for cable in cables) for name in _WIDTHS]
        # One buffer of 8-byte numbers behind all tables: keeping them for a step that may fail is one copy.
        self._numbers_of_all = np.zeros(sum(sizes))
        self._kept = np.zeros(sum(sizes))
        joined: dict[str, Any] = {}
        ends = np.cumsum(sizes)
        for (name, (width, kind)), size, end in zip(_WIDTHS.items(), sizes, ends, strict=True):
            pieces = [cable._tables[name] for cable in cables]
            whole = self._numbers_of_all[end - size : end].view(kind).reshape(-1, width)
            np.concatenate([*pieces, np.zeros((0, width), kind)], out=whole)
            at = 0
            for cable, piece in zip(cables, pieces, strict=True):
                cable._tables[name] = whole[at : at + len(piece)]
                at += len(piece)
            joined[name] = whole
        self.joined = joined
        first = row0 = obstacle0 = 0
        for index, cable in enumerate(cables):
            t = cable._tables
            old = int(t["cable_ints"][0, FIRST])
            t["element_place"][:, NEXT] += np.where(t["element_place"][:, NEXT] >= 0.0, first - old, 0)
            cable._number_tables(index, first, row0, obstacle0)
            first, row0, obstacle0 = (
                first + len(t["element_ints"]), row0 + len(t["row_ints"]), obstacle0 + len(t["obstacle_ints"]),
            )  # fmt: skip
        self.rows = row0
        self._numbers = {id(point): i for i, point in enumerate(points)}
        self.number_carriers()
        dividers = int(joined["element_ints"][:, DIVIDES].sum())
        small = max(bounded + row0, 1)
        wide = max(2 * small, dividers)
        self.slots = np.full(first, -1, np.int64)
        self.largest = max((len(cable._tables["element_ints"]) for cable in cables), default=0)
        self.arrays = (
            *joined.values(),
            np.zeros(3 * WIDTH * first), np.full((first, WIDTH), -1, np.int64), self.slots, np.zeros(dofs),
            np.zeros((dividers, columns.DIVIDER_INTS), np.int64), np.zeros(6 * WIDTH),
            np.zeros((3, dividers), np.int64), np.zeros((2, dividers)), np.zeros((CHAIN_WORK_ROWS + 1, wide)),
            np.zeros((MARK_ROWS, wide), np.int64),
        )  # fmt: skip

    def copies(self) -> tuple[Any, ...]:
        """The kernels' arrays, with copies of all that evaluating a path writes to."""
        count = len(self.joined)
        return tuple(array.copy() if i < count or i == _DIVIDERS else array for i, array in enumerate(self.arrays))

    def keep(self) -> None:
        """Remember everything, for `put_back`."""
        np.copyto(self._kept, self._numbers_of_all)

    def put_back(self) -> None:
        """Go back to what was kept when a step began that was not accepted."""
        np.copyto(self._numbers_of_all, self._kept)

    def number_carriers(self) -> None:
        """Find the points that carry the elements, after elements were put back."""
        for cable in self.cables:
            cable._number_points(self._numbers)

    def events(self, time: float) -> list[Event]:
        """What has happened to cables since this was last asked."""
        events = []
        for cable in self.cables:
            state = cable._tables["cable_state"][0]
            happened, state[columns.HAPPENED] = int(state[columns.HAPPENED]), 0.0
            kinds: list[tuple[int, Any, str]] = [
                (columns.BROKE, "broke", f"{cable.name} broke at {state[columns.PEAK]:g} N"),
                (columns.PAID_OUT, "paid_out", f"{cable.name} has run out: {cable.length:g} m is all that there is"),
                (columns.WOUND_IN, "wound_in", f"{cable.name} is wound in: {cable.length:g} m is as short as it gets"),
            ]
            events += [Event(time, kind, (cable,), text) for bit, kind, text in kinds if happened & bit]
        return events

    def lay_spans(self, point_ints: Any, at: int) -> int:
        """Give every span between two moving bodies a place in the matrix's numbers from `at` on; returns the end."""
        self.slots[:] = -1
        ints, state, place = (self.joined[name] for name in ("element_ints", "element_state", "element_place"))
        for cable in self.cables:
            first, count = (int(x) for x in cable._tables["cable_ints"][0, [FIRST, COUNT]])
            on = np.arange(first, first + count)[state[first : first + count, ON] == 1.0]
            place[on[:-1], NEXT] = on[1:]
            p, q = point_ints[ints[on[:-1], CARRIER]], point_ints[ints[on[1:], CARRIER]]
            free = (p[:, KIND] != WORLD) & (q[:, KIND] != WORLD)
            same = (p[:, KIND] == RIGID) & (q[:, KIND] == RIGID) & (p[:, BODY] == q[:, BODY])
            sizes = np.where(p[:, KIND] == RIGID, 6, WIDTH) * np.where(q[:, KIND] == RIGID, 6, WIDTH)
            sizes = np.where(free & ~same, sizes, 0)
            starts = at + np.concatenate(([0], np.cumsum(sizes)))
            used = sizes > 0
            self.slots[on[:-1][used]] = starts[:-1][used]
            at = int(starts[-1])
        return at
