"""Named groups of arrays: Python sees attributes, kernels get one pointer.

A subclass of `Table` declares its fields once: type, shape, role and meaning. Python reads and fills them as arrays,
``rows.axis[r]``; a kernel takes the table as an argument and says the same, ``rows.axis[r, 0]``. What is handed over is
the address of a block of whole numbers that describes each array (place, shape, strides: Numba's own layout), so that a
call costs the same for four arrays as for forty. A table may hold tables: ``scene.points.kind[p]``.

The role of a field says who writes it and who may share it::

    PLAN        what is where: kinds, indices, sizes. Changes when things are added or removed
    PARAMETER   what users set: stiffnesses, targets, switches
    STATE       what a step carries to the next one: kept by snapshots and files
    WORK        what a solve makes anew

All fields of a table lie in one array of 8-byte words, role after role: to keep what a role holds is one copy of its
`words`. A field of shorter numbers takes whole words too. Arrays are never exchanged, only filled: kernels and parts of
the table hold their addresses. To grow, make a new table.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["PARAMETER", "PLAN", "STATE", "WORK", "Field", "Table", "number", "table", "whole"]

PLAN, PARAMETER, STATE, WORK = "plan", "parameter", "state", "work"
ROLES = (PLAN, PARAMETER, STATE, WORK)


@dataclass(frozen=True, eq=False)
class Field:
    """One field of a table: see `number`, `whole` and `table`."""

    role: str
    meaning: str
    kind: Any
    """What NumPy makes a dtype of (``float`` and ``int`` are of 8 bytes), or the class of a table."""
    shape: tuple[int | str, ...] = ()
    """Length of each axis: a number, or the name of one of the table's sizes."""


def number(role: str, meaning: str, *columns: int | str, of: int | str = "rows") -> Any:
    """A field of float64 with one entry (of shape `columns`) for each of the table's `of`."""
    return Field(role, meaning, float, (of, *columns))


def whole(role: str, meaning: str, *columns: int | str, of: int | str = "rows", kind: type = int) -> Any:
    """A field of int64, or of another `kind` (``np.uint32``), with one entry for each of the table's `of`."""
    return Field(role, meaning, kind, (of, *columns))


def table(kind: type[Table], meaning: str) -> Any:
    """A field that is another table."""
    return Field(PLAN, meaning, kind)


class Table:
    """Base of named groups of arrays: see the module.

    ``Rows(rows=12)`` makes one with every number 0; sizes are named by the fields' shapes. Tables inside it are given
    by their fields' names.
    """

    _fields: ClassVar[dict[str, Field]] = {}
    _sizes: ClassVar[tuple[str, ...]] = ()
    """Names of its sizes, in the order in which they first occur."""
    _numba_type_: ClassVar[Any]
    """What the compiler calls it; made when something must be compiled."""
    _compiler_types: ClassVar[str] = "sennit.table_types"
    """The module that makes it, by ``type_of``."""
    _handed_over: ClassVar[tuple[str, ...]] = ("_address",)
    """Names of the whole numbers that a kernel gets for it."""

    def __init_subclass__(cls) -> None:
        cls._fields = {
            name: field
            for base in reversed(cls.__mro__)
            for name, field in vars(base).items()
            if isinstance(field, Field)
        }
        hidden = [name for name in cls._fields if hasattr(Table, name)]
        if hidden:
            raise TypeError(f"{cls.__name__} can't have fields called {', '.join(hidden)}: so are methods of tables")
        cls._sizes = tuple(dict.fromkeys(n for f in cls._fields.values() for n in f.shape if isinstance(n, str)))

    def __init__(self, memory: NDArray[np.int64] | None = None, /, **given: Any) -> None:
        """`memory`: words that its numbers are to lie in, as many as `all_words` has; its own if left out."""
        sizes = {name: int(given.pop(name)) for name in self._sizes}
        layout = _layout(type(self), tuple(sizes.values()))  # type: ignore[arg-type]  # classes are hashable
        words = np.zeros(layout.length, np.int64) if memory is None else memory
        self._adopt(
            given | {name: np.ndarray(shape, kind, words, at) for name, shape, kind, at in layout.arrays}, sizes
        )
        self.__dict__["all_words"] = words
        self.__dict__["_words"] = {role: words[part] for role, part in layout.roles.items()}
        self.__dict__["_layout"] = layout

    def _adopt(self, arrays: dict[str, Any], sizes: dict[str, int]) -> None:
        if arrays.keys() != self._fields.keys():
            raise TypeError(f"{type(self).__name__} has the fields {', '.join(self._fields)}, got {', '.join(arrays)}")
        self.__dict__.update(arrays)
        self.__dict__["_size"] = sizes

    @classmethod
    def of(cls, **arrays: Any) -> Self:
        """A table of arrays that exist already: contiguous, of the declared types and shapes; they are not copied."""
        sizes: dict[str, int] = {}
        for name, field in cls._fields.items():
            if not field.shape:
                continue
            array = arrays[name]
            fits = array.dtype == np.dtype(field.kind) and array.ndim == len(field.shape) and array.flags.c_contiguous
            for have, want in zip(array.shape, field.shape, strict=False):
                fits = fits and have == (sizes.setdefault(want, have) if isinstance(want, str) else want)
            if not fits:
                raise TypeError(f"{cls.__name__}.{name} can't be an array of {array.dtype} and shape {array.shape}")
        made = cls.__new__(cls)
        made._adopt(arrays, sizes)
        return made

    def __reduce__(self) -> Any:
        return _sent, (type(self), self._size, {name: getattr(self, name) for name in self._fields})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} is never exchanged, only filled: .{name}[...] = value")

    def __len__(self) -> int:
        """Its first size: the number of its rows."""
        return self._size[self._sizes[0]]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(f'{name}={size}' for name, size in self._size.items())}>"

    _size: dict[str, int]
    _words: dict[str, NDArray[np.int64]]
    _layout: _Layout | None = None
    """Where its numbers lie, if it has memory of its own."""
    all_words: NDArray[np.int64]
    """All of its numbers, as words of 8 bytes: of a table that has memory of its own."""

    def part(self, start: int, stop: int) -> Self:
        """The rows `start` to `stop` as a table of their own, which shares its numbers with this one."""
        (size,) = self._sizes
        made = type(self).__new__(type(self))
        arrays = {name: getattr(self, name)[start:stop] for name in self._fields}
        made._adopt(arrays, {size: len(range(self._size[size])[start:stop])})
        return made

    def copy(self) -> Self:
        """A table of its own with the same numbers; the tables in it are copied too."""
        inner = {name: getattr(self, name).copy() for name, field in self._fields.items() if not field.shape}
        made = type(self)(**self._size, **inner)
        made.fill(self)
        return made

    @staticmethod
    def side_by_side(tables: Sequence[Any]) -> tuple[list[Any], NDArray[np.int64]]:
        """The same tables in one array of words, and that array: keeping them all is one copy."""
        memory = np.zeros(sum(len(table.all_words) for table in tables), np.int64)
        moved, at = [], 0
        for table in tables:
            end = at + len(table.all_words)
            moved.append(type(table)(memory[at:end], **table._size))
            moved[-1].fill(table)
            at = end
        return moved, memory

    def fill(self, other: Self) -> None:
        """Take over every number of a table of the same class and sizes; tables inside are left alone."""
        for name, field in self._fields.items():
            if field.shape:
                getattr(self, name)[...] = getattr(other, name)

    def fill_fields(self, other: Self, names: Iterable[str]) -> None:
        """Take over some fields of a table of the same class and sizes."""
        for name in names:
            getattr(self, name)[...] = getattr(other, name)

    @classmethod
    def joined(cls, tables: Iterable[Self]) -> Self:
        """The rows of several tables, one after the other, in a new one."""
        parts = list(tables)
        (size,) = cls._sizes
        made = cls(**{size: sum(len(part) for part in parts)})
        at = 0
        for part in parts:
            made.part(at, at + len(part)).fill(part)
            at += len(part)
        return made

    def fields(self, *roles: str) -> dict[str, NDArray[Any]]:
        """Its arrays by name: those of some roles, or all."""
        return {
            name: getattr(self, name)
            for name, field in self._fields.items()
            if field.shape and (not roles or field.role in roles)
        }

    def words(self, role: str) -> NDArray[np.int64]:
        """All numbers of a role, as words of 8 bytes: of a table that has memory of its own."""
        return self._words[role]

    def __getattr__(self, name: str) -> Any:
        """`_block` and `_address`, made when a kernel first asks: most parts of tables are only read by Python.

        The block is what kernels are given the address of: for each array 0, 0, entries, bytes of an entry, place,
        shape and strides; for each table inside, the address of its block.
        """
        if name not in ("_block", "_address"):
            raise AttributeError(f"{type(self).__name__} has no field {name!r}: {', '.join(self._fields)}")
        if self._layout is None:
            arrays = {field: getattr(self, field) for field in self.fields()}
            block, at, inner = _block(type(self), arrays)
            block[at] = [_place(array) for array in arrays.values()]
        else:
            block, at, inner = self._layout.block.copy(), self._layout.at, self._layout.inner
            block[at] += _place(self.all_words)
        for field, entry in inner.items():
            block[entry] = getattr(self, field)._address
        self.__dict__["_block"], self.__dict__["_address"] = block, _place(block)
        return self.__dict__[name]


def _sent(kind: type[Table], sizes: dict[str, int], fields: dict[str, Any]) -> Table:
    """A table that was pickled: its numbers are its own, whatever it was a part of."""
    made = kind(**sizes, **{name: field for name, field in fields.items() if isinstance(field, Table)})
    for name, field in fields.items():
        if not isinstance(field, Table):
            getattr(made, name)[...] = field
    return made


def _place(array: NDArray[Any]) -> int:
    """Address of its first number."""
    return int(array.__array_interface__["data"][0])


def _block(
    kind: type[Table], arrays: dict[str, NDArray[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, int]]:
    """The block of a table of some arrays with every address 0; where those of the arrays and of each table stand."""
    numbers: list[int] = []
    at: list[int] = []
    inner: dict[str, int] = {}
    for name in kind._fields:
        if name in arrays:
            array = arrays[name]
            at.append(len(numbers) + 4)
            numbers += (0, 0, array.size, array.itemsize, 0, *array.shape, *array.strides)
        else:
            inner[name] = len(numbers)
            numbers.append(0)
    return np.array(numbers, np.int64), np.array(at, np.int64), inner


@dataclass(frozen=True, eq=False)
class _Layout:
    """Where the numbers of a table lie in its words, in the order of its fields."""

    arrays: list[tuple[str, tuple[int, ...], np.dtype[Any], int]]
    """Name, shape, type and first byte of each array."""
    roles: dict[str, slice]
    length: int
    block: NDArray[np.int64]
    """What its block would be if the words lay at address 0."""
    at: NDArray[np.int64]
    """Where the addresses of arrays stand in the block."""
    inner: dict[str, int]
    """Where those of the tables inside stand."""


@functools.lru_cache(maxsize=1024)  # a shape that moves makes a table each time
def _layout(kind: type[Table], sizes: tuple[int, ...]) -> _Layout:
    size = dict(zip(kind._sizes, sizes, strict=True))
    first: dict[str, int] = {}
    arrays = {
        name: np.empty([size[n] if isinstance(n, str) else n for n in field.shape], field.kind)
        for name, field in kind._fields.items()
        if field.shape
    }
    roles, length = {}, 0
    for role in ROLES:
        start = length
        for name, array in arrays.items():
            if kind._fields[name].role == role:
                first[name] = 8 * length
                length += (array.nbytes + 7) // 8
        roles[role] = slice(start, length)
    block, at, inner = _block(kind, arrays)
    block[at] = [first[name] for name in arrays]
    places = [(name, array.shape, array.dtype, first[name]) for name, array in arrays.items()]
    return _Layout(places, roles, length, block, at, inner)
