"""Tables whose rows stand in blocks of lanes, component after component, as vector instructions take them.

``Elements(rows=40)`` has five blocks of eight rows. In memory a block holds the first component of its eight rows, then
the second of all eight, and so on through all fields; in Python a field is a view of shape (blocks, components, lanes),
and `put` and `rows` translate from and to one row for each element.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sennit.cosserat.kernels.lanes import LANES
from sennit.tables import Field, Table
from sennit.validation import FloatArray

__all__ = ["Lanes", "lane"]


def lane(role: str, meaning: str, components: int = 1) -> Any:
    """A field of float64 with some components for each row of a table in lanes."""
    return Field(role, meaning, float, ("blocks", components, LANES))


class Lanes(Table):
    """Base of tables in lanes: see the module. Kernels get it by `sennit.cosserat.kernels.lane_types`."""

    _width: ClassVar[int] = 0
    """Components of a row, in all fields together."""
    _starts: ClassVar[tuple[tuple[str, int], ...]] = ()
    """Names of fields, and the component at which each begins."""
    _compiler_types = "sennit.cosserat.kernels.lane_types"
    _handed_over = ("_address", "blocks")
    blocks: int
    numbers: FloatArray
    """All of it: (blocks, components, lanes)."""
    _address: int

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        starts, at = [], 0
        for name, field in cls._fields.items():
            starts.append((name, at))
            at += int(field.shape[1])
        cls._width = at
        cls._starts = tuple(starts)

    def __init__(self, rows: int) -> None:
        blocks = -(-rows // LANES)
        numbers = np.zeros((blocks, self._width, LANES))
        arrays, at = {}, 0
        for name, field in self._fields.items():
            end = at + int(field.shape[1])
            arrays[name] = numbers[:, at:end]
            at = end
        self._adopt(arrays, {"blocks": blocks})
        self.__dict__.update(blocks=blocks, numbers=numbers, _address=numbers.ctypes.data)

    def put(self, name: str, rows: FloatArray) -> None:
        """Fill a field from rows (n,) or (n, components); the lanes beyond the last row become 0."""
        field = getattr(self, name)
        padded = np.zeros((self.blocks * LANES, field.shape[1]))
        padded[: len(rows)] = rows.reshape(len(rows), -1)
        field[...] = padded.reshape(self.blocks, LANES, -1).transpose(0, 2, 1)

    def rows(self, name: str, count: int) -> FloatArray:
        """A field's first `count` rows: (count, components)."""
        field = getattr(self, name)
        return np.ascontiguousarray(field.transpose(0, 2, 1).reshape(-1, field.shape[1])[:count])
