"""Batches whose numbers live on a graphics card, where a thread makes the steps of each scene."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sennit.attributes import guarded
from sennit.batch import card_reading
from sennit.batch.batch import Batch
from sennit.batch.card import Card, CardArray, CardRows
from sennit.batch.kernels.march_each import march_each
from sennit.batch.launch import Launch
from sennit.batch.memory import Region, Shelf, Words, pointers
from sennit.batch.reading import ENERGIES
from sennit.batch.running import _NOT_LED
from sennit.batch.trial import try_step
from sennit.batch.workshop import changes_size
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.world import WorldPoint
from sennit.card_trial import Trials
from sennit.errors import InputError
from sennit.gpu_driver import Function
from sennit.linalg.plan import Plan
from sennit.scene.scene import Scene
from sennit.solve.kernels.codes import QUIET
from sennit.solve.solver import WHOLE
from sennit.tables import Table

__all__ = ["CardBatch"]

CONVERGED = 2e-6
"""Displacement of Newton's last turn over the scene's size, in float32: below it rounding is all that moves."""
_FEW = 8
"""Rooms that are made at once for scenes whose pattern changes."""

Room = tuple[CardRows, int]
"""Rows of rooms, and which of them."""


class Numbers:
    """How the words of a region are written on the card: of float32, each array begins where that of float64 does."""

    def __init__(self, region: Region, dtype: str) -> None:
        self._floats = region.floats() if dtype == "float32" else []
        for (first, size), (following, _) in zip(self._floats, self._floats[1:], strict=False):
            if first + size > following:
                raise AssertionError("arrays of numbers that overlap can't be narrowed")
        self._firsts = np.array([first for first, _ in self._floats], np.int64)
        self._ends = np.array([first + size for first, size in self._floats], np.int64)

    def narrow(self, words: Words) -> Words:
        """Words of the card, of words of this process: (…, words)."""
        if not self._floats:
            return words
        made = words.copy()
        for first, size in self._floats:
            there = made[..., first : first + size].view(np.float32)
            there[..., :size] = words[..., first : first + size].view(np.float64)
        return made

    def widen(self, words: Words) -> Words:
        """Words of this process, of words of the card."""
        if not self._floats:
            return words
        made = words.copy()
        for first, size in self._floats:
            here = made[..., first : first + size].view(np.float64)
            here[...] = np.ascontiguousarray(words[..., first : first + size]).view(np.float32)[..., :size]
        return made

    def write(self, rows: CardRows, which: Words, at: Words, values: Words) -> None:
        """Write single words of this process, `values` (rows, words), to where they are on the card."""
        k = np.searchsorted(self._firsts, at, "right") - 1
        single = (k >= 0) & (at < self._ends[k]) if len(self._firsts) else np.zeros(len(at), bool)
        rows.put(which, at[~single], values[:, ~single])
        if single.any():
            first = self._firsts[k[single]]
            numbers = np.ascontiguousarray(values[:, single]).view(np.float64).astype(np.float32)
            rows.put(which, 2 * first + (at[single] - first), numbers.view(np.int32))


class CardShelf:
    """Rooms on the card for scenes of one pattern."""

    def __init__(self, card: Card, shelf: Shelf) -> None:
        self.numbers = Numbers(shelf.region, card.dtype)
        self._card, self._shelf = card, shelf
        plans = Region(shelf.plans)
        words = plans.template()
        self._plans = card.device.memory(words.nbytes)
        at, to = pointers(plans, plans)
        words[at] = self._plans.address + to
        self._plans.put(words)
        self._to_plans = pointers(shelf.region, plans)
        self._template = self.numbers.narrow(shelf.first_room())
        self._free: list[tuple[Room, int]] = []
        self.used = 0

    def take(self, mains: Words) -> tuple[list[Room], Words]:
        """Rooms for scenes whose other numbers begin at the addresses `mains`, and the addresses of their roots."""
        shelf, count = self._shelf, len(mains)
        self.used += count
        if len(self._free) < count:
            fresh = CardRows(self._card, max(count, _FEW), shelf.region.size)
            every = np.arange(fresh.count)
            fresh.fill(every, np.arange(fresh.size), self._template)
            own, there = shelf.to_own
            fresh.fill(every, own, there, fresh.base)
            own, there = self._to_plans
            fresh.fill(every, own, there + self._plans.address)
            self._free = [((fresh, k), int(fresh.base[k])) for k in reversed(range(fresh.count))] + self._free
        taken = [self._free.pop() for _ in range(count)]
        at, to = shelf.to_main
        chunks: dict[int, list[int]] = {}
        for k, ((chunk, _), _) in enumerate(taken):
            chunks.setdefault(id(chunk), []).append(k)
        for members in chunks.values():
            chunk = taken[members[0]][0][0]
            chunk.fill(np.array([taken[k][0][1] for k in members]), at, to, mains[members])
        return [room for room, _ in taken], np.array([base for _, base in taken], np.int64) + shelf.root

    def give_back(self, room: Room) -> None:
        """A scene has left the pattern."""
        self.used -= 1
        self._free.append((room, int(room[0].base[room[1]])))


@guarded()
class CardBatch(Batch):
    """A `Batch` on a graphics card: see there."""

    _on_card = True

    # ------------------------------------------------------------------------------------------------ its memory

    def _refuse(self, scene: Scene) -> None:
        refuse(scene, self._dtype)
        self._card = Card(self._dtype)
        self._trials = Trials(self._dtype)

    def _lay_out(self) -> None:
        shop = self._shop
        card = self._card
        self._numbers = Numbers(shop.main, self._dtype)
        every, main = np.arange(self.count), shop.main
        self._main = CardRows(card, self.count, main.size)
        self._main.fill(every, np.arange(main.size), self._numbers.narrow(self._start_words))
        self._main.fill(every, *pointers(main, main), self._main.base)
        self._base = self._main.base
        self._card_shelves: dict[int, tuple[Shelf, CardShelf]] = {}
        rooms: Any
        rooms, self._roots = self._on_shelf(shop.shelf).take(self._base)
        self._rooms = rooms
        self._empty = empty_sizes(shop.root())
        self._program()

    def _program(self) -> Function:
        """What makes steps: compiled for the kinds of tables, without what is empty in them."""
        return self._card.function(march_each, (Launch, type(self._shop.root())), self._empty)

    def _run_program(self, threads: int, launch: int) -> None:
        """Let so many threads make steps, by what lies in a `Launch` at an address of the card."""
        self._program().launch(threads, [launch, 0], block=64)

    def _on_shelf(self, shelf: Shelf) -> CardShelf:
        if id(shelf) not in self._card_shelves:
            self._card_shelves[id(shelf)] = shelf, CardShelf(self._card, shelf)
        return self._card_shelves[id(shelf)][1]

    def _array(self, name: str) -> NDArray[Any]:
        table: Any = self._shop.system.model
        for part in name.split("."):
            table = getattr(table, part)
        found: NDArray[Any] = table
        return found

    def _place(self, array: NDArray[Any]) -> tuple[int, Any]:
        """First byte of an array of the tables in a row, and its type on the card."""
        byte = self._shop.main.byte_of(array.__array_interface__["data"][0])
        assert byte is not None
        return byte, np.dtype(self._dtype) if array.dtype == np.float64 else array.dtype

    def _live(self, name: str) -> CardArray:
        """An array of the tables by its dotted name, of all scenes: (B, …), where it is."""
        array = self._array(name)
        if not array.size:
            return CardArray(self._main.memory, self._dtype, (self.count, *array.shape))
        byte, dtype = self._place(array)
        inner = tuple(step * dtype.itemsize // array.itemsize for step in array.strides)
        return CardArray(self._main.memory, dtype, (self.count, *array.shape), byte, (8 * self._main.size, *inner))

    def _columns(self, array: NDArray[Any]) -> tuple[Words, Any]:
        byte, dtype = self._place(array)
        return byte // 8 + np.arange(-(-array.size * dtype.itemsize // 8)), dtype

    def _field(self, name: str) -> NDArray[Any]:
        """A copy of an array of the tables, of all scenes: (B, …)."""
        array = self._array(name)
        if not array.size:
            return np.zeros((self.count, *array.shape), array.dtype)
        at, dtype = self._columns(array)
        words = self._main.take(np.arange(self.count), at)
        found: NDArray[Any] = words.view(dtype)[:, : array.size].reshape(self.count, *array.shape).astype(array.dtype)
        return found

    def _write(self, name: str, key: Any, values: Any) -> None:
        array = self._array(name)
        if not array.size:
            return
        now = self._field(name)
        now[key] = values
        if name == "step.converged" and self._dtype == "float32":
            now = np.maximum(now, CONVERGED)
        at, dtype = self._columns(array)
        flat = np.zeros((self.count, 8 * len(at) // dtype.itemsize), dtype)
        flat[:, : array.size] = now.reshape(self.count, -1)
        self._main.put(np.arange(self.count), at, flat.view(np.int64))

    # ------------------------------------------------------------------------------------------------ its steps

    def step(self, dt: float, n: int = 1, lead: Literal["ramp", "hold"] = "ramp") -> None:
        """As `Batch.step`. Raises `InputError` if a step of the card was found not to be that of the processor
        (`card_trial`): it is not made, and so are no more.
        """
        goals, before = dict(self._goals), self._clock.copy()
        try:
            super().step(dt, n, lead)
        except InputError:
            self._led = None
            if np.array_equal(self._clock, before):
                self._goals |= goals
            raise

    def _march(self, rows: Words, counts: Words, left: Words) -> tuple[Words, Words]:
        if self._trials.is_due():
            try_step(self, self._trials, rows, left)
        return self._launch(rows, counts, left)

    def _launch(self, rows: Words, counts: Words, left: Words) -> tuple[Words, Words]:
        card = self._card
        anchors, path = self._led or _NOT_LED
        if not len(anchors):
            path = np.zeros((self.count, 0, 0, 3))
        ended = card.array(np.full(self.count, QUIET, np.int64))
        made = card.array(np.zeros(self.count, np.int64))
        block, kept = card.block(
            Launch,
            {"waiting": np.ascontiguousarray(rows), "parts": np.array([WHOLE]), "scenes": self._roots,
             "counts": counts, "ended": ended, "made": made, "anchors": anchors, "begun": self._asked - left,
             "path": path},
        )  # fmt: skip
        self._run_program(len(rows), block.address)
        how, many = ended.numpy(), made.numpy()
        del kept
        return how, many

    def _kept_rows(self, rows: Words) -> Any:
        return _KeptRows(self, rows) if len(rows) else None

    def _put_back(self, i: int, kept: Any) -> None:
        kept.put_back(i)
        self._prepared[i] = -1

    def _numbers_of(self, i: int) -> tuple[Words, Words]:
        chunk, number = self._rooms[i]
        room = self._on_shelf(self._shelves[i]).numbers.widen(chunk.get_row(number))
        return self._numbers.widen(self._main.get_row(i)), room

    def _take_numbers(self, i: int, shelf: Shelf) -> None:
        main, region = self._shop.main, shelf.region
        words = np.zeros(main.size, np.int64)
        main.read(words)
        self._main.put_row(i, self._numbers.narrow(words), main.head)
        room = np.zeros(region.size, np.int64)
        region.read(room)
        self._fill_room(i, room)

    def _fill_room(self, i: int, room: Any) -> None:
        chunk, number = self._rooms[i]
        head = self._shelves[i].region.head
        if isinstance(room, tuple):
            chunk.put_row(number, room[0].get_row(room[1]), head)
        else:
            chunk.put_row(number, self._on_shelf(self._shelves[i]).numbers.narrow(room), head)

    def _move(self, i: int, shelf: Any) -> None:
        rooms: Any = self._rooms
        taken, (root,) = self._on_shelf(shelf).take(self._base[i : i + 1])
        self._on_shelf(self._shelves[i]).give_back(rooms[i])
        rooms[i], self._roots[i], self._shelves[i] = taken[0], root, shelf

    # ------------------------------------------------------------------------------- states that are kept and set

    def _begin_again(self, rows: Words) -> None:
        at = np.concatenate([np.arange(span.start, span.stop) for span in self._spans])
        self._main.fill(rows, at, self._numbers.narrow(self._start_words)[at])
        if self._varied:
            given = np.array([numbers[rows] for numbers in self._varied.values()]).T
            self._numbers.write(self._main, rows, np.array(list(self._varied)), np.ascontiguousarray(given))

    def _change_words(self, done: list[tuple[int, Words, Words, float, Any]]) -> None:
        alike: dict[bytes, list[tuple[int, Words, Words]]] = {}
        for i, changed, numbers, _, _ in done:
            alike.setdefault(changed.tobytes(), []).append((i, changed, numbers))
        for group in alike.values():
            if len(group[0][1]):
                which = np.array([i for i, _, _ in group])
                self._numbers.write(self._main, which, group[0][1], np.array([numbers for _, _, numbers in group]))

    def _all_numbers(self) -> tuple[Any, list[tuple[Any, Any]]]:
        copies: dict[int, CardRows] = {}
        rooms = []
        for shelf, (chunk, number) in zip(self._shelves, self._rooms, strict=True):
            if id(chunk) not in copies:
                copies[id(chunk)] = chunk.copy()
            rooms.append((shelf, (copies[id(chunk)], number)))
        return self._main.copy(), rooms

    def _write_words(self, rows: Words, words: Any) -> None:
        if len(rows) == self.count:
            self._main.memory.copy_from(words.memory)
        else:
            self._main.take_over(rows, self._shop.main.head, words)

    # ------------------------------------------------------------------------------------------------- its arrays

    @property
    def q(self) -> Any:
        """Degrees of freedom of all scenes (B, dofs), as `Scene.dofs` counts them: a `CardArray`, to be read only."""
        return self._live("motion.q")

    @property
    def v(self) -> Any:
        """Their rates (B, dofs): a `CardArray`, to be read only."""
        return self._live("motion.v")

    def positions(self, thing: Any) -> Any:
        """Where it is in each scene, as `Batch.positions`: of a rod, a rigid body and a point that a constraint or a
        load uses a `CardArray`; of other points an array of NumPy.
        """
        own = self._thing(thing)
        if isinstance(own, Rod | RigidBody):
            return self._of_body(own, "motion.q")
        if own._index >= 0:
            return self._of_point(own)
        return super().positions(thing)

    def velocities(self, thing: Any) -> Any:
        """How fast it moves, m/s: of a rod and a rigid body a `CardArray`, of points an array of NumPy."""
        own = self._thing(thing)
        if isinstance(own, Rod | RigidBody):
            return self._of_body(own, "motion.v")
        return super().velocities(thing)

    def angular_velocities(self, thing: Any) -> Any:
        """How fast it turns, rad/s: of a rigid body a `CardArray`, of points an array of NumPy."""
        own = self._thing(thing)
        if isinstance(own, RigidBody):
            return self._live("motion.v").columns(own._dof0 + 3, own._dof0 + 6)
        return super().angular_velocities(thing)

    def frames(self, thing: Any, count: int = 200) -> Any:
        """Its axes as columns: of a rigid body a `CardArray`, of points and rods an array of NumPy."""
        own = self._thing(thing)
        if isinstance(own, RigidBody):
            return card_reading.axes(self._card, self._roots, own._index, self._shop.root(), self._empty)
        return super().frames(thing, count)

    def forces(self, constraint: Any) -> Any:
        """What a constraint applies to its first point, N: (B, 3), a `CardArray`."""
        return self._told_of(constraint).columns(0, 3)

    def torques(self, constraint: Any) -> Any:
        """The moment that it applies there, N·m: (B, 3), a `CardArray`."""
        return self._told_of(constraint).columns(3, 6)

    def energies(self) -> dict[str, Any]:
        """Energy by kind, J, and their sum ``"total"``: (B,) each, on the card, but for scenes with cables, whose
        energies are arrays of NumPy.
        """
        if not self._energies_of_bodies():
            return super().energies()
        told = card_reading.energies(
            self._card, self._roots, self._gravity, self._body_count(), self._shop.root(), self._empty
        )
        return {name: told.column(k) for k, name in enumerate((*ENERGIES, "total"))}

    def _told_of(self, constraint: Any) -> CardArray:
        own = self._tie(constraint)
        if own._first_row < 0:
            return self._card.array(self._read(lambda: own.wrench))
        ends = own._first_row, own._first_row + len(own._rows)
        return card_reading.wrenches(self._card, self._roots, *ends, self._shop.root(), self._empty)

    def _of_body(self, own: Any, name: str) -> CardArray:
        whole = self._live(name)
        step = whole.strides[1]
        offset = whole.offset + step * own._dof0
        if isinstance(own, Rod):
            many = (self.count, own._tables.n, 3), offset, (whole.strides[0], 4 * step, step)
            return CardArray(whole.memory, whole.dtype, *many)
        return CardArray(whole.memory, whole.dtype, (self.count, 3), offset, (whole.strides[0], step))

    def _of_point(self, own: Any) -> CardArray:
        name = "points.anchor" if isinstance(own, WorldPoint) else "places.position"
        whole = self._live(name)
        offset = whole.offset + whole.strides[1] * own._index
        return CardArray(whole.memory, whole.dtype, (self.count, 3), offset, (whole.strides[0], whole.strides[2]))


class _KeptRows:
    """Copies of the numbers of all scenes on the card, for some that were never stepped."""

    def __init__(self, batch: CardBatch, rows: Words) -> None:
        self._batch, self._which = batch, set(rows.tolist())
        self._main, self._rooms = batch._all_numbers()

    def __contains__(self, i: int) -> bool:
        return i in self._which

    def put_back(self, i: int) -> None:
        """Scene `i` is as it was."""
        head = self._batch._shop.main.head
        self._batch._main.put_row(i, self._main.get_row(i), head)
        self._batch._fill_room(i, self._rooms[i][1])


# --------------------------------------------------------------------------------------------- what a card does not do


OTHERWISE = 'use device="cpu"'


def refuse(scene: Scene, dtype: str) -> None:
    """Refuse, by name, what steps on a card can't do."""
    if scene._integrator == "fourth":
        raise InputError(f'device="cuda" has no integrator "fourth": {OTHERWISE}, or another integrator')
    flowing = [body.name for body in scene._bodies if isinstance(body, Rod) and len(body.tables.branches)]
    if flowing:
        raise InputError(f'device="cuda" has elastic rods alone, and {flowing[0]} is not: {OTHERWISE}')
    around = [c.name for c in scene._constraints for cable in c._cables() if cable.around]
    if around and dtype == "float32":
        raise InputError(
            f'where cables come to lie on bodies hangs on more digits than those of dtype="float32", and {around[0]} '
            f'may lie on some: use dtype="float64"'
        )
    zones = [body.name for body in scene._bodies if body._strain_energy() is not None]
    if zones:
        raise InputError(f'device="cuda" has no zones, and here is {zones[0]}: {OTHERWISE}')


def empty_sizes(root: Table) -> frozenset[tuple[str, str]]:
    """Sizes that are 0 in a scene's tables, whatever pattern its matrix has: see `gpu_program.Target`."""
    sizes: dict[tuple[str, str], int] = {}

    def look(table: Table, owner: str, within: str) -> None:
        for size, number in table._size.items():
            key = f"{owner}/{type(table).__name__}", size
            sizes[key] = max(sizes.get(key, 0), number)
        for name, field in table._fields.items():
            inner = None if field.shape else getattr(table, name)
            if inner is not None and not changes_size(within + name) and not isinstance(inner, Plan):
                look(inner, type(table).__name__, f"{within}{name}.")

    look(root, "", "")
    return frozenset(key for key, number in sizes.items() if number == 0)
