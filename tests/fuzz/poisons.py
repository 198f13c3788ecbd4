"""What no argument was made for: numbers at the edge of their range, wrong types, and objects that bite."""

from __future__ import annotations

import array as plain_arrays
import decimal
import fractions
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import sennit as sn


@dataclass(frozen=True)
class Poison:
    """A value, and what it may pass for: "number", "flag", "text", "array", "empty", "function",
    "thing", "none", "junk".

    Junk may pass for nothing. `make` gives a fresh one, since what is called may keep or use up what it is given.
    """

    name: str
    kind: str
    make: Callable[[], Any]


class Biting:
    """Every protocol that a check may call raises."""

    def _bite(self, *_: object) -> Any:
        raise RuntimeError("bitten")

    __float__ = __int__ = __index__ = __complex__ = __len__ = __iter__ = __getitem__ = __array__ = _bite
    __bool__ = __eq__ = __lt__ = __str__ = __repr__ = __fspath__ = __round__ = __abs__ = _bite  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Hidden:
    """An object whose text raises."""

    def __repr__(self) -> str:
        raise ValueError("no text")


class Shape(list):  # type: ignore[type-arg]
    """A list that says that it is longer than it is."""

    def __len__(self) -> int:
        return 3


def raises(*_: object, **__: object) -> Any:
    raise ZeroDivisionError("a function of the user's failed")


def cyclic() -> list[Any]:
    ring: list[Any] = [1.0, 2.0]
    ring.append(ring)
    return ring


def read_only() -> np.ndarray:
    values = np.array((0.1, 0.2, 0.3))
    values.flags.writeable = False
    return values


def foreign_rod() -> sn.Rod:
    return sn.Rod.straight(
        (5, 5, 5), (6, 5, 5), section=sn.Section.circle(0.01), material=sn.Material(1e7, 0.4, 1000), control_points=6
    )


def foreign_point() -> sn.Point:
    """A point of a rod in another scene."""
    return sn.Scene().add(foreign_rod()).at(0.5)


def endless() -> Iterator[Any]:
    return itertools.repeat(None)


def _numbers() -> Iterator[Poison]:
    for name, value in {
        "-0.0": -0.0, "0": 0, "-1": -1, "1e308": 1e308, "-1e308": -1e308, "1e-308": 1e-308, "5e-324": 5e-324,
        "1e200": 1e200, "1e-200": 1e-200, "1e20": 1e20, "1e-20": 1e-20, "0.5": 0.5, "2**63": 2**63, "-2**63": -(2**63),
        "2**31": 2**31, "3": 3, "Fraction": fractions.Fraction(1, 3), "float32": np.float32(0.3),
        "int8": np.int8(-128), "0-d": np.array(0.25),
    }.items():  # fmt: skip
        yield Poison(name, "number", lambda value=value: value)
    for name, value in {
        "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "10**400": 10**400, "-10**400": -(10**400),
        "1j": 1j, "nan+nanj": complex(math.nan, math.nan), "Decimal": decimal.Decimal("0.5"),
        "Decimal nan": decimal.Decimal("sNaN"), "float32 nan": np.float32("nan"), "0-d nan": np.array(math.nan),
        "longdouble": np.longdouble("1e4000"), "datetime": np.datetime64("2020-01-01"), "NaT": np.timedelta64("NaT"),
    }.items():  # fmt: skip
        yield Poison(name, "junk", lambda value=value: value)
    yield Poison("True", "flag", lambda: True)
    yield Poison("False", "flag", lambda: False)
    yield Poison("bool_", "flag", lambda: np.True_)
    yield Poison("None", "none", lambda: None)


def _texts() -> Iterator[Poison]:
    for name, value in {
        "empty text": "", "text": "1.0", "auto": "auto", "equal": "equal", "long text": "a" * 100_000,
        "half a pair": "\ud800", "zero byte": "a\0b", "control": "\x1b[2J\n", "markup": "<script>[bold]{0}%s",
        "traversal": "../../etc/passwd",
    }.items():  # fmt: skip
        yield Poison(name, "text", lambda value=value: value)
    yield Poison("bytes", "junk", lambda: b"1.0")


def _arrays() -> Iterator[Poison]:
    makers: dict[str, Callable[[], Any]] = {
        "3 zeros": lambda: (0.0, 0.0, 0.0),
        "3 huge": lambda: (1e308, -1e308, 1e308),
        "3 tiny": lambda: (5e-324, 1e-308, -5e-324),
        "3 large": lambda: (1e200, 0, 0),
        "2": lambda: [1.0, 2.0],
        "2 falling": lambda: (2.0, 1.0),
        "5": lambda: [1, 2, 3, 4, 5],
        "4 zeros": lambda: np.zeros(4),
        "read only": read_only,
        "ints": lambda: np.array((1, 2, 3), np.int8),
        "uint64": lambda: np.array((1, 2, 2**64 - 1), np.uint64),
        "float16": lambda: np.array((1, 2, 3), np.float16),
        "(3, 3) zeros": lambda: np.zeros((3, 3)),
        "(3, 3) same": lambda: np.ones((3, 3)),
        "(2, 3)": lambda: [[0.0, 0, 0], [1.0, 0, 0]],
        "(1, 1, 1)": lambda: [[[1.0]]],
        "strided": lambda: np.zeros((6, 6))[::-2, ::2],
        "big-endian": lambda: np.array((1.0, 2.0, 3.0), ">f8"),
        "huge stride": lambda: np.broadcast_to(np.zeros(3), (1_000, 3)),
        "range": lambda: range(3),
        "memoryview": lambda: memoryview(b"abc"),
        "array.array": lambda: plain_arrays.array("d", (1.0, 2.0, 3.0)),
    }
    for name, make in makers.items():
        yield Poison(name, "array", make)
    makers = {
        "3 nan": lambda: (math.nan,) * 3,
        "3 inf": lambda: np.array((1.0, math.inf, 0.0)),
        "4 nan": lambda: (math.nan,) * 4,
        "(3, 3) nan": lambda: np.full((3, 3), math.nan),
        "complex": lambda: np.array((1j, 2, 3)),
        "bools": lambda: np.ones(3, bool),
        "list of bools": lambda: [True, False, True],
        "texts": lambda: ["1", "2", "3"],
        "text array": lambda: np.array(("a", "b", "c")),
        "objects": lambda: np.array((1.0, None, "x"), object),
        "objects of floats": lambda: np.array((1.0, 2.0, 3.0), object),
        "Nones": lambda: [None, None, None],
        "ragged": lambda: [[1.0], [2.0, 3.0]],
        "huge ints": lambda: [10**400, 0, 0],
        "dates": lambda: np.zeros(3, "datetime64[s]"),
        "records": lambda: np.zeros(3, [("a", float), ("b", "i4")]),
        "cyclic": cyclic,
        "deep list": lambda: [[[[[[[[[[1.0]]]]]]]]]],
        "false length": lambda: Shape([1.0]),
        "bite in list": lambda: [Biting(), 1.0, 2.0],
        "bite in tuples": lambda: [(Biting(), Biting()), (0, Biting())],
    }
    for name, make in makers.items():
        yield Poison(name, "junk", make)
    for name, make in {
        "[]": list, "()": tuple, "empty": lambda: np.zeros(0), "(0, 3)": lambda: np.zeros((0, 3)), "dict": dict,
    }.items():  # fmt: skip
        yield Poison(name, "empty", make)
    # NumPy warns, and cuts off: which is the user's to hear of, not ours to say.
    yield Poison("masked", "array", lambda: np.ma.masked_array([1.0, math.inf, 2.0], mask=[0, 0, 0]))


def _things() -> Iterator[Poison]:
    makers: dict[str, Callable[[], Any]] = {
        "object": object,
        "biting": Biting,
        "hidden": Hidden,
        "dict of junk": lambda: {None: math.nan, "a": []},
        "set": lambda: {1.0, 2.0, 3.0},
        "generator": lambda: (x for x in (1.0, 2.0, 3.0)),
        "endless": endless,
        "class": lambda: sn.Rod,
        "module": lambda: math,
        "type": lambda: float,
        "ellipsis": lambda: ...,
        "NotImplemented": lambda: NotImplemented,
    }
    for name, make in makers.items():
        yield Poison(name, "junk" if name not in ("class", "type") else "function", make)
    yield Poison("raises", "function", lambda: raises)
    yield Poison("returns junk", "function", lambda: lambda *_, **__: "junk")
    yield Poison("returns nan", "function", lambda: lambda *_, **__: (math.nan, 0.0, 0.0))
    yield Poison("no arguments", "function", lambda: lambda: None)
    foreign: dict[str, Callable[[], Any]] = {
        "foreign rod": foreign_rod,
        "foreign point": foreign_point,
        "foreign scene": sn.Scene,
        "pose": sn.Pose,
        "world point": lambda: sn.World.at((0, 0, 0)),
        "section": lambda: sn.Section.circle(1e-3),
        "material": lambda: sn.Material(1e5, 0.3, 1000.0),
        "shape": lambda: sn.Sphere((0, 0, 0), 1.0),
    }
    for name, make in foreign.items():
        yield Poison(name, "thing", make)


POISONS = (*_numbers(), *_texts(), *_arrays(), *_things())
