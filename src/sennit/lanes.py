"""Packs: four numbers that kernels compute with as if they were one, in the four lanes of a vector register.

``+ − × /``, minus and comparisons work lane by lane, also between a pack and a number; the functions below do the rest.
Most of them take a number as well as a pack, and one place as well as four, so that a formula is written once and
holds for both. Without a compiler (``SENNIT_KERNELS=python``) a pack is a NumPy array of four; what it is in machine
code, `lane_types` tells.

A *place* is an index of a flat array or a row of a table's array; places of a pack are a tuple of four of them, which
need not follow each other and may be the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "WIDTH",
    "add_four_at",
    "add_lanes",
    "add_pack_at",
    "at",
    "every",
    "four_at",
    "lanes_of",
    "larger",
    "load",
    "pack",
    "pack_at",
    "put_at",
    "put_three_at",
    "root",
    "store",
    "three_at",
    "where",
]

WIDTH = 4
"""Numbers in a pack: AVX2's registers hold so many. Other processors' are joined or left half empty."""


def pack(a: float, b: float, c: float, d: float) -> Any:
    """A pack of four numbers."""
    return np.array((a, b, c, d), np.float64)


def lanes_of(x: Any) -> Any:
    """The four numbers of a pack."""
    return x[0], x[1], x[2], x[3]


def root(x: Any) -> Any:
    """√x."""
    return np.sqrt(x) if isinstance(x, np.ndarray) else math.sqrt(x)


def where(condition: Any, x: Any, y: Any) -> Any:
    """``x if condition else y``, lane by lane; both are computed."""
    return np.where(condition, x, y) if isinstance(condition, np.ndarray) else (x if condition else y)


def larger(x: Any, y: Any) -> Any:
    """``max(x, y)`` as Python has it: x where neither is the larger one, and where one of them is NaN."""
    return where(y > x, y, x)


def every(condition: Any) -> bool:
    """Whether a condition holds in all lanes."""
    return bool(np.all(condition))


def add_lanes(total: float, x: Any, count: int) -> Any:
    """The number `total` plus the first `count` lanes of x (all, if there are more), one by one.

    If x is a number, plus x.
    """
    if not isinstance(x, np.ndarray):
        return total + x
    for lane in range(min(count, WIDTH)):
        total += x[lane]
    return total


# -------------------------------------------------------------------------------------------------------- arrays


def at(array: Any, place: Any) -> Any:
    """The number at a place of an array (n,)."""
    return pack(*(array[p] for p in place)) if isinstance(place, tuple) else array[place]


def three_at(array: Any, place: Any) -> Any:
    """A row of an array (n, 3), as a tuple."""
    return tuple(at(array[:, k], place) for k in range(3))


def four_at(array: Any, place: Any) -> Any:
    """A row of an array (n, 4), or four numbers of a flat array from a place on, as a tuple."""
    if array.ndim == 2:
        return tuple(at(array[:, k], place) for k in range(4))
    return tuple(at(array[k:], place) for k in range(4))


def put_at(array: Any, place: Any, x: Any) -> None:
    """Write x at a place of an array (n,)."""
    if not isinstance(place, tuple):
        array[place] = x
        return
    for lane, p in enumerate(place):
        array[p] = x[lane]


def put_three_at(array: Any, place: Any, x: Any) -> None:
    """Write the tuple x into a row of an array (n, 3)."""
    for k in range(3):
        put_at(array[:, k], place, x[k])


def add_four_at(array: Any, place: Any, stride: int, offset: int, count: int, x: Any) -> None:
    """Add the tuple x of four to ``array[stride * place + offset]`` and the three numbers after it.

    Of a pack the first `count` lanes, one after the other: places may overlap.
    """
    places = place if isinstance(place, tuple) else (place,)
    for lane in range(min(count, len(places))):
        for k in range(4):
            array[stride * places[lane] + offset + k] += x[k][lane] if isinstance(place, tuple) else x[k]


def pack_at(array: Any, place: int) -> Any:
    """Four numbers of a flat array, from a place on, as one pack: a control point's x, y, z and roll."""
    return array[place : place + WIDTH].copy()


def add_pack_at(array: Any, place: int, x: Any) -> None:
    """Add a pack to four numbers of a flat array."""
    array[place : place + WIDTH] += x


def load(memory: Any, row: int) -> Any:
    """A pack that was stored in `memory` (n, 4), or a number in `memory` (n,)."""
    return memory[row].copy()


def store(memory: Any, row: int, x: Any) -> None:
    """Keep a pack, or a number in every lane, in a row of `memory` (n, 4); a number in `memory` (n,)."""
    memory[row] = x
