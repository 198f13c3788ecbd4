"""The numbers of many scenes in one memory: each has the tables of a scene, one after the other, and their blocks.

A kernel takes a table by the address of its block, which tells where its arrays lie (`tables`). So a scene that exists
as numbers alone is a copy of all arrays of a scene that Python knows, and of the blocks with other addresses in them.
`Region` says what lies where; `Shelf` is the part that depends on the pattern of the matrix.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.linalg.plan import Plan
from sennit.solve.table import Kept
from sennit.tables import Table

__all__ = ["Region", "Shelf", "Words", "lined", "pointers", "rows_of", "tables_in"]

Words = NDArray[np.int64]

LINE = 8
"""Words of a line of cache: each scene begins a new one, so that two threads never write to the same."""


def tables_in(root: Table, name: str = "", known: set[int] | None = None) -> Iterator[tuple[str, Table]]:
    """A table and all tables in it, each once, by their dotted names."""
    seen = set() if known is None else known
    if id(root) in seen:
        return
    seen.add(id(root))
    yield name, root
    for field, declared in root._fields.items():
        if not declared.shape:
            yield from tables_in(getattr(root, field), f"{name}.{field}" if name else field, seen)


def _entries(table: Table) -> Iterator[tuple[int, Any]]:
    """Where the addresses stand in a table's block, and the arrays and tables that they are those of."""
    at = 0
    for name, field in table._fields.items():
        value = getattr(table, name)
        if field.shape:
            yield at + 4, value
            at += 5 + 2 * value.ndim
        else:
            yield at, value
            at += 1


def _lines(words: int) -> int:
    return -(-words // LINE) * LINE


class Region:
    """Some tables of a scene, as one stretch of words: first their blocks, then their numbers."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = list(tables)
        self.blocks: dict[int, int] = {}
        """Where the block of each table begins, by its address in the scene that Python knows."""
        at = 0
        for table in self.tables:
            self.blocks[table._address] = at
            at += len(table._block)
        self.head = at = _lines(at)
        """Words of blocks."""
        spans: list[list[int]] = []
        for table in self.tables:
            for array in table.fields().values():
                if array.size:
                    begin = array.__array_interface__["data"][0]
                    spans.append([begin, begin + -(-array.nbytes // 8) * 8])
        order = {begin: k for k, (begin, _) in reversed(list(enumerate(spans)))}
        merged: list[list[int]] = []
        for begin, end in sorted(spans):
            if merged and begin <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
                merged[-1][2] = min(merged[-1][2], order[begin])
            else:
                merged.append([begin, end, order[begin]])
        self._pieces: list[tuple[Words, int, int]] = []
        """The memory of the scene that Python knows, and where it lies among the words."""
        places: list[tuple[int, int, int]] = []
        for begin, end, _ in sorted(merged, key=lambda piece: piece[2]):
            count = (end - begin) // 8
            memory: Words = np.ctypeslib.as_array((ctypes.c_int64 * count).from_address(begin))
            self._pieces.append((memory, at, at + count))
            places.append((begin, end, 8 * at))
            at += count
        self.size = _lines(at)
        """Words in all."""
        self._places = sorted(places)
        self._begins = [begin for begin, _, _ in self._places]

    def spans(self, left_out: Callable[[Table, str], bool], gap: int = 32) -> list[slice]:
        """Where its numbers lie but for those `left_out`, by table and name; as one what is `gap` words apart."""
        kept: list[list[int]] = []
        for table in self.tables:
            for name, array in table.fields().items():
                if array.size and not left_out(table, name):
                    byte = self.byte_of(array.__array_interface__["data"][0])
                    assert byte is not None
                    kept.append([byte // 8, -(-(byte + array.nbytes) // 8)])
        joined: list[list[int]] = []
        for begin, end in sorted(kept):
            if joined and begin <= joined[-1][1] + gap:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([begin, end])
        return [slice(begin, end) for begin, end in joined]

    def byte_of(self, address: int) -> int | None:
        """Where something lies among its bytes that Python knows at an address; None: not here."""
        k = bisect_right(self._begins, address) - 1
        if k < 0:
            return None
        begin, end, at = self._places[k]
        return at + address - begin if address < end else None

    def floats(self) -> list[tuple[int, int]]:
        """First words and lengths of its arrays of float64, in their order; those that are kept as words, too."""
        found: dict[int, int] = {}
        for table in self.tables:
            for array in table.fields().values():
                if array.size and array.dtype == np.float64:
                    byte = self.byte_of(array.__array_interface__["data"][0])
                    assert byte is not None
                    found[byte // 8] = max(found.get(byte // 8, 0), array.size)
        for kept in (table for table in self.tables if isinstance(table, Kept)):
            for now, before in ((kept.rows, kept.rows_before), (kept.cables, kept.cables_before)):
                if now.size:
                    at, to = (self.byte_of(words.__array_interface__["data"][0]) for words in (now, before))
                    assert at is not None and to is not None
                    own = [pair for pair in found.items() if at <= 8 * pair[0] < at + now.nbytes]
                    found |= {first + (to - at) // 8: size for first, size in own}
        return sorted(found.items())

    def template(self) -> Words:
        """Its words as they are now; addresses are those of the scene that Python knows."""
        made = np.zeros(self.size, np.int64)
        for table in self.tables:
            at = self.blocks[table._address]
            made[at : at + len(table._block)] = table._block
        self.read(made)
        return made

    def read(self, words: Words) -> None:
        """Copy the numbers from the scene that Python knows."""
        for memory, begin, end in self._pieces:
            words[begin:end] = memory

    def write(self, words: Words) -> None:
        """Copy the numbers to the scene that Python knows."""
        for memory, begin, end in self._pieces:
            memory[:] = words[begin:end]


def pointers(region: Region, target: Region) -> tuple[Words, Words]:
    """Which words of `region` are addresses of what lies in `target`, and at which of its bytes that is."""
    at: list[int] = []
    to: list[int] = []
    for table in region.tables:
        first = region.blocks[table._address]
        for entry, value in _entries(table):
            if isinstance(value, Table):
                found = target.blocks.get(value._address)
                byte = None if found is None else 8 * found
            else:
                byte = target.byte_of(value.__array_interface__["data"][0]) if value.size else None
            if byte is not None:
                at.append(first + entry)
                to.append(byte)
    return np.array(at, np.int64), np.array(to, np.int64)


def rows_of(words: Words, region: Region, array: NDArray[Any]) -> NDArray[Any]:
    """The same array of every scene, (B, …): a view of `words` (B, size)."""
    if not array.size:
        return np.zeros((len(words), *array.shape), array.dtype)
    byte = region.byte_of(array.__array_interface__["data"][0])
    assert byte is not None
    strides = (words.strides[0], *array.strides)
    return np.ndarray((len(words), *array.shape), array.dtype, words, byte, strides)


def lined(count: int, size: int) -> Words:
    """Room for `count` rows of `size` words, of which each begins a line of cache."""
    memory = np.empty(count * size + LINE, np.int64)
    skip = (-memory.ctypes.data // 8) % LINE
    return memory[skip : skip + count * size].reshape(count, size)


class Shelf:
    """What of a scene's tables depends on the pattern of its matrix: rooms for those scenes that have this pattern."""

    def __init__(self, root: Table, main: Region, region: Region, install: Callable[[], None]) -> None:
        self.region = region
        self.install = install
        """Lets the scene that Python knows have this pattern."""
        self._template = region.template()
        self.to_main, self.to_own = pointers(region, main), pointers(region, region)
        self.root = 8 * region.blocks[root._address]
        """Where the block of its root begins, bytes."""
        self.plans = [table for _, table in tables_in(root) if isinstance(table, Plan)]
        """Tables that tell the pattern: all scenes on the shelf use these, which Python has."""
        self._free: list[Words] = []
        self.used = 0
        """How many rooms are in use."""

    def take(self, mains: NDArray[np.int64]) -> tuple[list[Words], NDArray[np.int64]]:
        """Rooms for scenes whose other tables begin at the addresses `mains`; and the addresses of their roots."""
        count = len(mains)
        self.used += count
        again = min(count, len(self._free))
        rooms = [self._free.pop() for _ in range(again)]
        fresh = lined(count - again, self.region.size)
        fresh[:] = self._template
        places = [room.__array_interface__["data"][0] for room in rooms]
        bases = np.concatenate(
            (np.array(places, np.int64), fresh.ctypes.data + 8 * self.region.size * np.arange(len(fresh)))
        )
        at, to = self.to_main
        own, there = self.to_own
        for room, main, base in zip(rooms, mains.tolist(), bases.tolist(), strict=False):
            room[at] = main + to
            room[own] = base + there
        fresh[:, at] = mains[again:, None] + to
        fresh[:, own] = bases[again:, None] + there
        return [*rooms, *fresh], bases + self.root

    def first_room(self) -> Words:
        """Numbers of a room as they were when the pattern was met first."""
        return self._template.copy()

    def fill(self, room: Words, numbers: Words) -> None:
        """Put numbers into a room; its blocks, which are addresses, stay."""
        room[self.region.head :] = numbers[self.region.head :]

    def give_back(self, room: Words) -> None:
        """A scene has left the pattern."""
        self.used -= 1
        self._free.append(room)
