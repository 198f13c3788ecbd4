"""Tables of hair where numbers have 4 bytes, and in memory that Python does not see.

Programs in float32 find arrays where those of float64 are, in the first half of their room (`gpu_program`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit import gpu_program
from sennit.machine_code import _engine
from sennit.tables import Table

__all__ = ["block_elsewhere", "halve", "halved", "host_program"]


def halved(table: Table, name: str) -> NDArray[np.float32]:
    """The numbers of 4 bytes in an array of a table, flat."""
    array: NDArray[np.float64] = getattr(table, name)
    return array.reshape(-1).view(np.float32)[: array.size]


def halve(table: Table) -> None:
    """Make numbers of 4 bytes of all numbers in a table that has memory of its own."""
    for name, array in table.fields().items():
        if array.dtype == np.float64:
            halved(table, name)[:] = array.reshape(-1).copy()


def block_elsewhere(table: Table, address: int, others: dict[str, tuple[int, int]]) -> NDArray[np.int64]:
    """The block (`tables`) of a table whose words lie at `address`; of the flat arrays in `others`, which are empty in
    this one, the place and the length are given.
    """
    layout = table._layout
    assert layout is not None
    block = layout.block.copy()
    block[layout.at] += address
    for at, name in zip(layout.at.tolist(), table.fields(), strict=True):
        if name in others:
            place, length = others[name]
            block[at - 2], block[at], block[at + 1] = length, place, length
    return block


def host_program(kernel: Any, kinds: tuple[Any, ...], dtype: str) -> Callable[..., None]:
    """A kernel of whole numbers and tables' addresses as a card would run it, on this processor."""
    made = gpu_program.compiled(kernel, kinds, gpu_program.Target("host", dtype))
    place = loaded_address(made)
    call = ctypes.CFUNCTYPE(None, *(ctypes.c_int64,) * (len(kinds) + 1))(place)
    return lambda *words: call(0, *words)


def loaded_address(made: gpu_program.Program) -> int:
    """Where a program of this processor is."""
    import llvmlite.binding as llvm

    loader = _engine()
    loader.add_object_file(llvm.ObjectFileRef.from_data(made.code))
    loader.finalize_object()
    return int(loader.get_function_address(made.symbol))
