"""What kernels take from Python: the kind of each argument, which chooses the machine code and names it on disk.

A kind is ``int``, ``float``, ``bool``, ``NoneType``, a class of tables, an `Array`, or a `Several` of kinds. Nothing
here needs a compiler: where the machine code is there already, Numba is never imported.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from sennit.tables import Table

__all__ = ["Array", "Kind", "NotForKernels", "Several", "description", "exact", "expected", "kind_of"]

Kind = Any
"""See the module: they are hashable, and equal where the machine code is."""


class Array(NamedTuple):
    """An array. Whether it may be written is no part of its kind: kernels are trusted."""

    dtype: str
    ndim: int
    layout: str
    """As Numba names it: rows one after the other ("C"), columns ("F"), anyhow ("A")."""


class Several(NamedTuple):
    """A tuple."""

    kinds: tuple[Kind, ...]


class NotForKernels(TypeError):
    """An argument that is none of those."""


_NUMBERS = {int: (int, np.int64), float: (float, np.float64), bool: (bool, np.bool_)}
"""What is taken for a number as it is; others are converted first."""


def kind_of(value: Any) -> Kind:
    """The kind of an argument."""
    if isinstance(value, Table):
        return type(value)
    if isinstance(value, np.ndarray):
        flags = value.flags
        if not (flags.aligned and value.dtype.isnative and value.dtype.kind in "buif"):
            raise NotForKernels(f"an array of {value.dtype}")
        return Array(value.dtype.str, value.ndim, "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A")
    if isinstance(value, bool | np.bool_):
        return bool
    if isinstance(value, int | np.signedinteger):
        return int
    if isinstance(value, float | np.float64):
        return float
    if value is None:
        return type(None)
    if type(value) is tuple:
        return Several(tuple(map(kind_of, value)))
    raise NotForKernels(f"{type(value).__name__}")


def exact(value: Any, kind: Kind) -> Any:
    """The same value as an object of the very types that `expected` lists: no subclasses, no narrow numbers."""
    if isinstance(kind, Array):
        dtype = np.dtype(kind.dtype)
        if type(value) is not np.ndarray:
            value = value.view(np.ndarray)
        return value if value.dtype is dtype else value.view(dtype)
    if isinstance(kind, Several):
        return tuple(exact(inner, k) for inner, k in zip(value, kind.kinds, strict=True))
    return kind(value) if kind in _NUMBERS else value


def expected(kind: Kind) -> tuple[Any, ...]:
    """What the machine code compares an argument with, or asks it for: see `python_entry`."""
    if isinstance(kind, Array):
        return np.ndarray, np.dtype(kind.dtype)
    if isinstance(kind, Several):
        return (tuple, *(word for inner in kind.kinds for word in expected(inner)))
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    return (kind, *kind._handed_over) if issubclass(kind, Table) else (kind,)


@functools.cache
def description(kind: Kind) -> str:
    """All of a kind that decides the machine code, as text; of a table its fields with their types and shapes."""
    if isinstance(kind, Several):
        return f"({', '.join(map(description, kind.kinds))})"
    if isinstance(kind, Array) or not issubclass(kind, Table):
        return str(kind)
    fields = (
        f"{name}{field.shape}: {np.dtype(field.kind).str if field.shape else description(field.kind)}"
        for name, field in kind._fields.items()
    )
    return f"{kind.__name__}({', '.join(fields)})"
