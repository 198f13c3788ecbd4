"""The tables of a scene where things may touch, and the second matrix, which has the rows of contacts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.kernels.points import DISCRETE, SPLINE, WORLD, ZONE
from sennit.contact.kernels.rows import SIDE
from sennit.contact.rules import Rules, touched_on_faces, write_laws
from sennit.contact.table import ContactRows, Contacts, Memory, Slots, Touch
from sennit.linalg.kernels.ldlt import unpermute
from sennit.linalg.plan import Plan, plan_of
from sennit.solve.kernels.codes import CONTACT_MISSED
from sennit.solve.kernels.pattern import ROWS, list_bounded
from sennit.solve.layout import SceneLayout
from sennit.solve.plan import MatrixPlan
from sennit.solve.table import Matrix, SceneTable
from sennit.tables import Table, table
from sennit.touching.kept import Kept, KeptContacts, KeptForces, KeptSlots
from sennit.touching.kernels.ends import RODS_MISSED
from sennit.touching.kernels.march import march_touching
from sennit.touching.kernels.settle import factorise_held, note_forces
from sennit.touching.kernels.speed import CONTACT_FAST
from sennit.touching.kernels.windings import CONTACT_STIFF, LONGEST
from sennit.touching.numbering import Numbering
from sennit.validation import FloatArray

__all__ = ["TouchingScene", "TouchingTables"]

ROOM = 64
"""Contacts that a scene has room for at first."""
IDLE = 8
"""Steps for which a slot without a contact is kept: as long as nothing new comes, all are."""
BLOCK = SIDE * (2 * SIDE + 1)
"""Second derivatives of a contact's gap by its degrees of freedom: a lower triangle."""
NO_GAP = 1e-6
"""Gap that is none, over what a contact's overlap is small against."""
NUMBERS = 6 * SIDE + 3
"""Of a slot in the matrix: three rows and their diagonal."""


class TouchingScene(SceneTable):
    """Everything that a step reads and writes, where things may touch."""

    touch = table(Touch, "what may touch, and what does")
    whole_plan = table(Plan, "plan of the second matrix, which has the rows of contacts, too")
    whole_matrix = table(Matrix, "its numbers and factor")


class TouchingTables:
    """What may touch in a scene: rules and shapes given by the scene, contacts found by its steps."""

    def __init__(self, layout: SceneLayout, rules: Rules) -> None:
        self.layout = layout
        self.things, self._tied, self._sleeves, self._given = rules.tables(layout)
        """The colliders, by their numbers."""
        self.made = False
        """Whether there are tables to read."""
        self._tables = self._with_room(ROOM)
        self.slots = Slots(rows=0)
        self._beginning: tuple[MatrixPlan, _Beginning] | None = None
        self._numbering = Numbering(self._given, layout.tables)
        self._shown: tuple[int, KeptContacts] | None = None
        """What was gone on from: the count of steps then, and the contacts."""
        self.outgrown = 0
        """Room that there was before the tables grew; 0: that was told, or there was enough."""

    march = staticmethod(march_touching)
    """What makes steps of such a scene."""

    def laws_between(self) -> NDArray[Any]:
        """The number of the law between any two of `things`; 0: they do not touch."""
        given: Any = self._given
        return np.asarray(given["colliders"].law)

    def points(self) -> NDArray[np.int64]:
        """The points of the world that carry obstacles and zones."""
        given: Any = self._given
        zones = np.unique(given["skins"].point)
        return np.concatenate((given["obstacles"].point, zones[zones >= 0]))

    def _with_room(self, count: int) -> dict[str, Table]:
        return {
            "contacts": Contacts(rows=count), "ends": Contacts(rows=max(count, 1)), "rows": ContactRows(rows=count),
            "memory": Memory(rows=count),
        }  # fmt: skip

    def sides(self, contact: int, *, at_end: bool = False) -> tuple[Any, Any]:
        """The two things of a contact, or of one that was found where the step ends."""
        first, second = self._numbers_of(np.array([contact]), self._touch.ends if at_end else self._touch.contacts)
        return self.things[first[0]], self.things[second[0]]

    def blamed(self, missed: int, culprit: int) -> tuple[Any, Any] | None:
        """The two things by which the last try at a step has `missed` its aim; None: it was no contact."""
        if missed not in (CONTACT_MISSED, CONTACT_FAST, CONTACT_STIFF, RODS_MISSED):
            return None
        return self.sides(culprit, at_end=missed == RODS_MISSED)

    def _numbers_of(self, contacts: NDArray[Any], table: Contacts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the two things of each of some contacts."""
        touch, sides = self._touch, []
        for kind, body, shape in (
            (table.first_kind, table.first, table.first_shape), (table.second_kind, table.second, table.second_shape),
        ):  # fmt: skip
            found = np.zeros(len(contacts), np.int64)
            for rods, own in ((SPLINE, touch.splines), (DISCRETE, touch.discretes)):
                on_rod = kind[contacts] == rods
                found[on_rod] = own.collider[body[contacts][on_rod]]
            soft = kind[contacts] == ZONE
            rows = shape[contacts][soft]
            found[soft] = touch.skins.collider[rows if kind is table.first_kind else touch.faces.corner[rows, 0]]
            others = ~soft & (kind[contacts] != SPLINE) & (kind[contacts] != DISCRETE)
            found[others] = touch.shapes.collider[shape[contacts][others]]
            sides.append(found)
        return sides[0], sides[1]

    def overlap_at_start(self) -> tuple[float, float, tuple[Any, Any] | None]:
        """Deepest overlap where the last step began, over what a contact's overlap is small against; the same in m; and
        whose it is.
        """
        if not self.made:
            return 0.0, 0.0, None
        rows = self._touch.rows
        found = min(int(self._touch.state.found[0]), len(rows))
        if not found:
            return 0.0, 0.0, None
        deep = rows.overlap[:found] / rows.size[:found]
        worst = int(np.argmax(deep))
        return float(deep[worst]), float(rows.overlap[worst]), self.sides(worst)

    def coarse_rods(self) -> list[tuple[Any, int]]:
        """Rods that wind too tightly for their spans, and the numbers of control points that they should have."""
        given, tables = self._given, self.layout.tables
        made: list[tuple[Any, int]] = []
        for name in ("splines", "discretes"):
            rods, sides = tables[name].rods, given[name]
            for row in np.flatnonzero(sides.coarse).tolist():
                spans = math.ceil(float(rods.length[row]) / (LONGEST * float(rods.radius[row])))
                count = int(rods.count[row]) + spans - int(rods.spans[row])
                made.append((self.things[int(sides.collider[row])], count))
        return made

    def forget(self) -> None:
        """Go on as if nothing had touched yet."""
        self.go_on(Kept.nothing())

    def refill_laws(self, rules: Rules) -> bool:
        """Take over other numbers of laws; False if there are more laws than the tables have room for."""
        given: Any = self._given
        square = np.zeros_like(given["colliders"].law)
        numbers = given["sleeves"].law.copy()
        laws = rules.fill(self.things, self._tied, square, self._sleeves)
        on_faces = touched_on_faces(self.things, given["colliders"].law)
        if len(laws) + 1 > len(given["laws"]) or touched_on_faces(self.things, square) != on_faces:
            given["sleeves"].law[:] = numbers
            return False
        given["colliders"].law[:] = square
        write_laws(given["laws"], laws)
        return True

    @property
    def touch(self) -> Touch:
        """The table that the last scene was made with."""
        return self._touch

    def scene(self, plan: MatrixPlan) -> TouchingScene:
        """The tables that `march` takes: those of a plan, and contact with the slots that there are."""
        # Rows of cables have as many numbers as they have elements at present.
        if self._beginning is None or self._beginning[0] is not plan or self.layout.cables.rows:
            self._beginning = plan, _Beginning(self.layout, plan)
        begun = self._beginning[1]
        slots = self.slots
        slots.place[:] = begun.numbers + NUMBERS * np.arange(len(slots))
        whole = plan_of(*begun.with_slots(slots))
        matrix = Matrix(
            numbers=begun.numbers + NUMBERS * len(slots), factors=whole.factor_length, lanes=whole.size,
            unknowns=begun.unknowns + 3 * len(slots),
        )  # fmt: skip
        matrix.ratio[:] = 1.0
        self.made = True
        self._touch = Touch(**self._given, **self._tables, slots=slots, dofs=self.layout.dofs)
        state = self._touch.state
        state.dual[0], state.cables[0] = begun.unknowns, begun.cables
        state.cable_numbers[0] = begun.numbers - begun.cables
        tables = {name: getattr(plan.bare, name) for name in plan.bare._fields}
        plan.touch = self._tables["rows"], self.slots
        return TouchingScene(**tables, touch=self._touch, whole_plan=whole, whole_matrix=matrix)

    def is_new_to(self, plan: MatrixPlan) -> bool:
        """Whether a plan's scene must be made anew, since it has other tables of contact or slots."""
        if self._beginning is None or self._beginning[0] is not plan:
            return True  # slots have their places in another matrix
        return plan.touch is None or plan.touch[0] is not self._tables["rows"] or plan.touch[1] is not self.slots

    def list_bends(self, numbers: int) -> tuple[tuple[NDArray[Any], ...], int]:
        """Rows, columns and numbers of what slots add to a static solve's matrix, from `numbers` on, and the next."""
        slots = self.slots
        slots.bend[:] = numbers + BLOCK * np.arange(len(slots))
        a, b = np.tril_indices(2 * SIDE)
        row, col = slots.index[:, a], slots.index[:, b]
        number = slots.bend[:, None] + np.arange(BLOCK)
        used = (row >= 0) & (col >= 0)
        twice = used & (row == col) & (a != b)  # a rod with itself: the diagonal takes both halves
        lists = tuple(
            np.concatenate((x[used], x[twice])).astype(np.uint32) for x in (row, col, number)
        )  # fmt: skip
        return lists, numbers + BLOCK * len(slots)

    def touch_state(self) -> Any:
        """Numbers of contact as a whole."""
        return self._state()

    def is_converged(self) -> bool:
        """Whether the last iteration of a static solve has found its forces, and contacts that press have no gap."""
        rows, contacts, found = self._touch.rows, self._touch.contacts, int(self._touch.state.found[0])
        inside = (rows.slot[:found] >= 0) & (rows.lever[:found] == 0.0)
        gap = contacts.gap[:found][inside] / rows.size[:found][inside]
        presses = rows.force[:found, 0][inside] > 0.0
        return bool(self._touch.state.converged[0] and (gap > -NO_GAP).all() and (gap[presses] < NO_GAP).all())

    def note_iteration(self, scene: TouchingScene) -> None:
        """Let the next static iteration go on from the forces of the last one."""
        note_forces(scene)

    def held_pivots(self, scene: TouchingScene, least: float) -> tuple[FloatArray, FloatArray, int]:
        """Pivots and diagonal of the matrix with contacts that press by more than `least` (N) as rows, and how many
        rows it has.
        """
        factorise_held(least, scene)
        assert self._beginning is not None
        matrix, begun = scene.whole_matrix, self._beginning[1]
        pivots, diagonal = np.zeros(len(matrix.natural)), np.zeros(len(matrix.natural))
        unpermute(scene.whole_plan, matrix.diagonal, pivots)
        _, _, row, col, slot = begun.with_slots(self.slots)
        own = row == col
        np.add.at(diagonal, row[own], matrix.values[slot[own]])
        return pivots, diagonal, len(pivots) - self.layout.dofs

    @contextmanager
    def without_friction(self) -> Iterator[None]:
        """All laws without friction, for a while."""
        laws: Any = self._given["laws"]
        numbers = laws.friction, laws.static_friction, laws.rolling_friction, laws.twisting_friction
        kept = [array.copy() for array in numbers]
        for array in numbers:
            array[:] = 0.0
        try:
            yield
        finally:
            for array, given in zip(numbers, kept, strict=True):
                array[:] = given

    def pairs(self) -> tuple[tuple[Any, Any], ...]:
        """The things that press on each other."""
        shown: Any = None if self._shown is None or self._shown[0] != self._state().step[0] else self._shown[1]
        if shown is not None:
            first, second = shown.first, shown.second
        elif self.made:
            first, second = self._numbers_of(self._pressing(), self._touch.contacts)
        else:
            return ()
        pairs = dict.fromkeys(zip(first.tolist(), second.tolist(), strict=True))
        return tuple((self.things[a], self.things[b]) for a, b in pairs)

    def met_within(self, parts: int) -> list[tuple[Any, Any]]:
        """The things that pressed on each other in any of the last accepted `parts` of a step; none if that is one."""
        if parts <= 1 or not self.made:
            return []
        given: Any = self._given
        pressed = np.triu(given["colliders"].pressed)
        last = int(self._state().step[0])
        return [(self.things[a], self.things[b]) for a, b in np.argwhere(pressed > max(last - parts, 0)).tolist()]

    def _pressing(self) -> NDArray[np.int64]:
        """The contacts that carry a force, without those that resist turning."""
        rows = self._touch.rows
        found = min(int(self._touch.state.found[0]), len(rows))
        return np.flatnonzero((rows.slot[:found] >= 0) & (rows.force[:found, 0] > 0.0) & (rows.lever[:found] == 0.0))

    def come_to_rest(self) -> None:
        """Static solves are done: nothing slides, and steps look for contacts as they do."""
        if self.made:
            self._touch.rows.way[:] = 0.0
            self._touch.search.spans.rests[:] = 0

    @property
    def room(self) -> int:
        """How many contacts the tables have room for."""
        return len(self._tables["rows"])

    def makes_room(self) -> bool:
        """Make room for what was found: in the tables of contacts, or in the matrix.

        Returns False if that was not it: the step has gone farther than others were looked for.
        """
        state = self._touch.state
        if state.unseen[0] == 1:
            state.unseen[0] = 0
            return False
        self._make_room()
        return True

    def _make_room(self) -> None:
        state, rows = self._touch.state, self._touch.rows
        found = max(int(state.found[0]), int(state.ended[0]))
        state.ended[0] = 0
        if found > len(rows):
            state.again[0] = 0  # the forces go with the tables
            self.outgrown = self.outgrown or len(rows)
            memory: Any = self._tables["memory"]
            self._tables = self._with_room(max(found + found // 4, 2 * len(rows)))
            grown: Any = self._tables["memory"]
            for name, array in memory.fields().items():
                getattr(grown, name)[: len(array)] = array
            return
        found = int(state.found[0])
        wanted, old = np.flatnonzero(rows.slot[:found] != -1), self.slots
        kept = np.flatnonzero((old.contact < 0) & (old.idle <= IDLE))
        keys = np.concatenate((rows.key[wanted], old.key[kept]))
        order = np.lexsort(keys.T[::-1])
        self.slots = Slots(rows=len(keys))
        self.slots.key[:] = keys[order]
        self.slots.index[:] = np.concatenate((rows.index[wanted], old.index[kept]))[order]
        self.slots.idle[:] = np.concatenate((np.zeros(len(wanted), np.int64), old.idle[kept]))[order]
        self.slots.contact[:] = -1

    # ---------------------------------------------------------------------------------------- from one step to the next

    def shown(self) -> KeptContacts:
        """The contacts that carry a force, as the last step left them, in a fixed order."""
        given: Any = self._given
        if self._shown is not None and self._shown[0] == given["state"].step[0]:
            return self._shown[1]
        if not self.made:
            return KeptContacts(rows=0)
        contacts, rows = self._touch.contacts, self._touch.rows
        found = min(int(self._touch.state.found[0]), len(rows))
        turning = np.flatnonzero(rows.lever[:found] > 0.0)
        pressing = self._pressing()
        made, axes, force = KeptContacts(rows=len(pressing)), rows.axes[pressing], rows.force[pressing]
        made.first[:], made.second[:] = self._numbers_of(pressing, contacts)
        made.position[:], made.normal[:] = contacts.second_place[pressing], axes[:, 0]
        made.gap[:] = contacts.gap[pressing]
        made.force[:] = np.einsum("kr,krc->kc", force, axes)
        made.slip[:] = np.einsum("kr,krc->kc", rows.way[pressing, 1:], axes[:, 1:])
        made.stuck[:] = rows.stuck[pressing]
        place = np.full(found, -1)
        place[pressing] = np.arange(len(pressing))
        turning = turning[place[contacts.pressed_by[turning]] >= 0]
        by = place[contacts.pressed_by[turning]]
        made.torque[by] = rows.lever[turning, None] * np.einsum("kr,krc->kc", rows.force[turning], axes[by])
        return made

    def kept(self) -> Kept:
        """What is carried to the next step, told by the numbers of `things`."""
        memory: Any = self._tables["memory"]
        slots, state, numbering = self.slots, self._state(), self._numbering
        forces = KeptForces(rows=int(memory.count[0]))
        for i in range(len(forces)):
            forces.first[i], forces.second[i] = memory.pair[i]
            forces.feature[i] = memory.key[i, 4]
            a, b = memory.pair[i].tolist()
            forces.first_part[i], forces.second_part[i] = numbering.parts(a, b, int(memory.key[i, 5]))
            forces.stuck[i], forces.normal[i], forces.force[i] = memory.stuck[i], memory.normal[i], memory.force[i]
        rooms = KeptSlots(rows=len(slots))
        for s, (kind, body, at, other_kind, other, other_at) in enumerate(slots.key.tolist()):
            rooms.first[s], rooms.first_at[s] = numbering.numbers[kind, body], at
            rooms.second[s], rooms.second_at[s] = numbering.numbers[other_kind, other], other_at
        rooms.idle[:] = slots.idle
        last = np.array((state.deepest[0], state.newton[0]), float)
        return Kept(self.things, forces, rooms, self.shown(), last, self.room)

    def go_on(self, kept: Kept) -> None:
        """Carry on what `kept` tells of these things."""
        kept = kept.over(self.things)
        numbering, forces, rooms = self._numbering, kept.forces, kept.slots
        count = len(forces)
        if max(count, kept.room) > self.room:
            self._tables = self._with_room(max(count + count // 4, kept.room))
        memory: Any = self._tables["memory"]
        memory.count[0] = count
        for i in range(count):
            a, b = memory.pair[i] = forces.first[i], forces.second[i]
            last = numbering.feature(a, b, int(forces.first_part[i]), int(forces.second_part[i]))
            memory.key[i] = (*numbering.sides[a], *numbering.sides[b], forces.feature[i], last)
            memory.stuck[i], memory.normal[i], memory.force[i] = forces.stuck[i], forces.normal[i], forces.force[i]
        columns = (rooms.first, rooms.first_at, rooms.second, rooms.second_at)
        keys = [
            (*numbering.sides[a], at, *(numbering.sides[b] if b >= 0 else (WORLD, -1)), other_at)
            for a, at, b, other_at in zip(*(column.tolist() for column in columns), strict=True)
        ]
        order = sorted((s for s, key in enumerate(keys) if numbering.is_there(key)), key=keys.__getitem__)
        self.slots = Slots(rows=len(order))
        for s, old in enumerate(order):
            self.slots.key[s], self.slots.index[s] = keys[old], numbering.index(keys[old])
            self.slots.idle[s] = rooms.idle[old]
        self.slots.contact[:] = -1
        given: Any = self._given
        # What has met and parted since then is not known: the next step looks at all pairs.
        given["colliders"].pressed[:] = 0
        state = self._state()
        state.found[0] = state.reach[0] = state.again[0] = 0
        state.deepest[0], state.newton[0] = kept.last
        self._shown = int(state.step[0]), kept.contacts

    def room_of(self, number: int) -> tuple[int, int, int]:
        """Of a thing: its kind (`bodies.kernels.points`), how many shapes it has, its last first control point."""
        return self._numbering.room_of(number)

    def _state(self) -> Any:
        return self._given["state"]


class _Beginning:
    """The entries of the second matrix but for contacts: those of the scene's own, rows with bounds, and cables."""

    def __init__(self, layout: SceneLayout, plan: MatrixPlan) -> None:
        model = layout.model
        first, self.cables = layout.dofs + layout.duals, len(plan.matrix.values)
        more = layout.bounded + len(model.rigging.rows)
        count = 0
        for _ in range(2):  # first they are counted
            row, col, slot = (np.zeros(count, np.uint32) for _ in range(3))
            count, self.numbers = list_bounded(model, first, self.cables, row, col, slot)
        self.unknowns = first + more
        """Unknowns before those of contacts; `numbers` likewise, of which those of cables begin at `cables`."""
        self._row, self._col, self._slot = (
            np.concatenate(parts) for parts in ((plan.row, row), (plan.col, col), (plan.slot, slot))
        )
        starts = np.arange(first, self.unknowns)
        self._start = np.concatenate((plan.block_start[:-1], starts))
        self._kind = np.concatenate((plan.block_kind, np.full(len(starts), ROWS, np.uint8)))

    def with_slots(self, slots: Slots) -> tuple[NDArray[Any], ...]:
        """Blocks and entries with those of the slots: see `plan_of`."""
        count, begun = len(slots), len(self._row)
        s, i = np.nonzero(slots.index >= 0)
        entries = len(s)
        dof, place, first = slots.index[s, i], slots.place, self.unknowns + 3 * np.arange(count)
        row, col, slot = lists = np.empty((3, begun + 3 * (entries + count)), np.uint32)
        row[:begun], col[:begun], slot[:begun] = self._row, self._col, self._slot
        at = begun
        for a in range(3):
            end = at + entries
            row[at:end], col[at:end], slot[at:end] = first[s] + a, dof, place[s] + 2 * SIDE * a + i
            at = end + count
            row[end:at] = col[end:at] = first + a
            slot[end:at] = place + 6 * SIDE + a
        start = np.concatenate((self._start, first, [self.unknowns + 3 * count])).astype(np.uint32)
        kind = np.concatenate((self._kind, np.full(count, ROWS, np.uint8)))
        return start, kind, *lists
