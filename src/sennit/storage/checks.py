"""Checks of what a scene's file holds, before kernels see it: they trust the numbers of their tables as indices.

Anybody can write a file. What a file says is compared with what sennit could have written: names, types, shapes, and
the range of whatever is used as an index or ends a loop. Every function raises `ValueError`, which `load_scene` turns
into an `InputError` with the file's name.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.tables import RodTables
from sennit.constraints.cable.kernels import tables as cables
from sennit.constraints.cable.setup import fresh_tables
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.kernels.rows import ANGLE, DUAL, ENABLED, FRICTION, KIND, RATE, ROW_FLOATS, ROW_INTS
from sennit.point.point import Point
from sennit.validation import number

__all__ = [
    "cable_tables",
    "checked_extra",
    "constraint_rows",
    "extras",
    "read_arrays",
    "rigid_form",
    "rod_tables",
    "take",
    "take_cable",
]

LARGEST = 1 << 31
"""Bytes that a file's arrays may take together once they are unpacked."""
_INFINITE = {"floats", "cable_floats", "element_floats"}
"""Arrays in which infinity has a meaning: a force without a bound, a cable that never breaks."""


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file, without pickle, none larger than what the file really holds.

    NumPy allocates what an array's header asks for; here the header is compared with the size of its member first.
    """
    arrays: dict[str, NDArray[Any]] = {}
    with path.open("rb") as opened, zipfile.ZipFile(opened) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > LARGEST:
            raise ValueError(f"its arrays would take more than {LARGEST >> 30} GiB")
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in arrays or name == member.filename:
                raise ValueError(f"it holds {name[:40]!r} twice, or something that is no array")
            with archive.open(member) as file:
                arrays[name] = _array(file, member.file_size)
    return arrays


def _array(file: IO[bytes], size: int) -> NDArray[Any]:
    version = np.lib.format.read_magic(file)
    reader = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if reader is None:
        raise ValueError(f"an array has version {version}")
    shape, fortran, dtype = reader(file)
    if dtype.hasobject or dtype.kind not in "fiu" or fortran not in (False, True) or len(shape) > 4:
        raise ValueError(f"an array has the type {str(dtype)[:40]}")
    content = file.read(size)
    if math.prod(shape) * dtype.itemsize != len(content) or min(shape, default=0) < 0:
        raise ValueError(f"an array of shape {shape} has {len(content)} bytes")
    flat = np.frombuffer(bytearray(content), dtype)
    return flat.reshape(shape, order="F" if fortran else "C").astype(dtype.newbyteorder("="), order="C")


def _checked(name: str, value: Any, shape: tuple[int | None, ...], kind: str = "f") -> NDArray[Any]:
    """`value`, an array of float64 ("f") or int64 ("i") of `shape`, without NaN."""
    wanted = np.float64 if kind == "f" else np.int64
    if not isinstance(value, np.ndarray) or value.dtype != wanted or value.ndim != len(shape):
        raise ValueError(f"{name} is not the array that it should be")
    if any(want is not None and have != want for have, want in zip(value.shape, shape, strict=True)):
        raise ValueError(f"{name} has the shape {value.shape}")
    if kind == "f" and not (np.isfinite(value) | (np.isinf(value) & (name.rpartition("/")[2] in _INFINITE))).all():
        raise ValueError(f"{name} holds numbers that are not finite")
    return value


def _within(name: str, values: Any, low: float, high: float) -> None:
    if np.size(values) and not (low <= np.min(values) and np.max(values) <= high):
        raise ValueError(f"{name} has entries outside {low:g} to {high:g}")


def rod_tables(given: dict[str, Any]) -> RodTables:
    """The tables of a rod; what kernels use to find control points is in range."""
    if set(given) != {field.name for field in fields(RodTables)}:
        raise ValueError("a rod has other tables")
    model, n, spans, closed = given["model"], given["n"], given["spans"], given["closed"]
    if model not in ("spline", "discrete") or type(n) is not int or not 2 <= n < 1 << 24 or type(closed) is not bool:
        raise ValueError("a rod is of no known kind")
    if type(spans) is not int or spans != (n - 1 if model == "discrete" else n if closed else n - 3) or spans < 1:
        raise ValueError(f"a rod of {n} control points has {spans} spans")
    nb, ns = len(given["bend_u"]), len(given["stretch_u"])
    shapes: dict[str, tuple[int, ...]] = {
        "rest": (n, 4), "knot_lengths": (spans + 1,), "constants": (8,), "bend_u": (nb,), "bend_table": (nb, 17),
        "bend_state": (nb, 13), "stretch_u": (ns,), "stretch_table": (ns, 6), "stretch_state": (ns, 2),
        "mass_table": (n, 9),
    }  # fmt: skip
    for name, shape in shapes.items():
        _checked(name, given[name], shape)
    last = n - 1 if closed else max(n - 4, 0)  # the first of four control points
    for name, count in (("bend", nb), ("stretch", ns)):
        _within(name, _checked(f"{name}_span", given[f"{name}_span"], (count,), "i"), 0, last)
        _within(name, given[f"{name}_u"], 0.0, spans)
    lengths = given["knot_lengths"]
    if lengths[0] != 0.0 or (np.diff(lengths) <= 0.0).any() or given["constants"][6] <= 0.0:
        raise ValueError("the lengths of a rod do not grow")
    if (given["constants"][[0, 1, 2, 3, 5, 7]] <= 0.0).any() or (given["mass_table"][:, 8] <= 0.0).any():
        raise ValueError("a rod has stiffnesses or masses that are not positive")
    return RodTables(**given)


def rigid_form(form: Any) -> dict[str, Any]:
    """What a rigid body looks like: its lengths are positive, its faces name vertices."""
    kind = form["kind"]
    keys = {"box": {"size"}, "sphere": {"radius"}, "cylinder": {"radius", "length"}, "inertia": set(),
            "mesh": {"vertices", "faces"}}.get(kind)  # fmt: skip
    if keys is None or set(form) != keys | {"kind"}:
        raise ValueError("a rigid body has no known form")
    if kind == "mesh":
        vertices, faces = np.array(form["vertices"]), np.array(form["faces"])
        _checked("vertices", vertices, (None, 3))
        _within("faces", _checked("faces", faces, (None, 3), "i"), 0, len(vertices) - 1)
    else:
        for key in keys:
            _within(key, np.array(form[key], dtype=np.float64), np.nextafter(0.0, 1.0), np.finfo(float).max)
        if kind == "box":
            _checked("size", np.array(form["size"], dtype=np.float64), (3,))
    return dict(form)


def constraint_rows(ints: Any, floats: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The rows of a constraint: of known kinds, switched on or off; points and unknowns are numbered by the scene."""
    _checked("ints", ints, (None, ROW_INTS), "i")
    _checked("floats", floats, (len(ints), ROW_FLOATS))
    _within("kinds of rows", ints[:, KIND], 0, ANGLE)
    _within("switches", ints[:, [ENABLED, RATE]], 0, 1)
    _within("unknowns", ints[:, DUAL], -1, np.iinfo(np.int64).max)
    _within("friction", ints[:, FRICTION], -1, -1)
    return ints, floats


def extras(kind: str) -> tuple[str, ...]:
    """What a constraint of a kind keeps besides its points and rows."""
    own = {"Hinge": ("_angle_axis", "_angle_side"), "Prismatic": ("_axis", "_start")}.get(kind)
    return () if own is None else ("_motor_row", "_coordinate", *own)


def checked_extra(name: str, value: Any, rows: int) -> Any:
    """One of them: the number of a row or −1, a length, or one or two directions."""
    if name in ("_motor_row", "_coordinate"):
        if type(value) is not int or not -1 <= value < rows:
            raise ValueError(f"{name} names no row")
        return value
    if name == "_start":
        return number(name, value)
    return _checked(name, value, (3,) if name == "_axis" else (2, 3))


def cable_tables(
    given: dict[str, Any], entries: Sequence[Point | Sheave], obstacles: Sequence[RigidBody]
) -> dict[str, Any]:
    """The tables of a cable: those of one that is made of the same parts, but for what changes as it runs."""
    shapes = ("box", "sphere", "cylinder")
    if not all(isinstance(body, RigidBody) and body.form["kind"] in shapes for body in obstacles):
        raise ValueError("a cable runs around something that it can't")
    if len(entries) < 2 or isinstance(entries[0], Sheave) or isinstance(entries[-1], Sheave):
        raise ValueError("a cable has no ends")
    twists = bool(_checked("cable_ints", given["cable_ints"], (1, cables.CABLE_INTS), "i")[0, cables.TWIST_ROW] >= 0)
    fresh = fresh_tables(entries, obstacles, twists)
    if set(given) != set(fresh):
        raise ValueError("a cable has other tables")
    for name, table in fresh.items():
        _checked(name, given[name], table.shape, table.dtype.kind)
    own = (cables.ROOM, cables.PARTS, cables.OBSTACLES)
    if (given["cable_ints"][0, own] != fresh["cable_ints"][0, own]).any():
        raise ValueError("a cable has other parts")
    if (given["obstacle_ints"][:, cables.OB_SHAPE] != fresh["obstacle_ints"][:, cables.OB_SHAPE]).any():
        raise ValueError("a cable runs around other shapes")
    if (given["row_ints"][:, cables.ROW_PART] != fresh["row_ints"][:, cables.ROW_PART]).any():
        raise ValueError("a cable has other rows")
    _elements(given["cable_ints"][0, cables.COUNT], given["element_ints"], given["element_state"], entries, obstacles)
    return given


def _elements(count: int, ints: Any, state: Any, entries: Sequence[Any], obstacles: Sequence[Any]) -> None:
    _within("count", count, len(entries), len(ints))
    _within("kinds of elements", ints[:, cables.KIND], cables.END, cables.SPHERE)
    _within("obstacles", ints[:count, cables.OBSTACLE], -1, len(obstacles) - 1)
    _within("edges", ints[:, cables.EDGE_NUMBER], -1, 11)
    _within("marks", ints[:, [cables.DIVIDES, cables.ROTOR]], 0, 1)
    if int((ints[:count, cables.OBSTACLE] < 0).sum()) != len(entries):
        raise ValueError("a cable has other entries")
    sheaves = np.flatnonzero(ints[:count, cables.OBSTACLE] < 0)
    for row, entry in zip(ints[sheaves], entries, strict=True):
        if (row[cables.KIND] == cables.SHEAVE) != isinstance(entry, Sheave):
            raise ValueError("a cable has other sheaves")
        if bool(row[cables.DIVIDES]) != (isinstance(entry, Sheave) and entry.divides):
            raise ValueError("a cable has other sheaves")
    _within("contacts", state[:, cables.ON], 0.0, 1.0)


def take(arrays: dict[str, Any], state: dict[str, Any], i: int) -> None:
    """Put the numbers of the thing numbered `i` into its own arrays, if they fit."""
    for key, array in state.items():
        name = f"state/{i}/{key}"
        given = _checked(name, arrays[name], array.shape, array.dtype.kind)
        if key in ("enabled", "ints"):
            _within(name, given, 0, 1)
        if key in ("quat", "last quat") and len(given):
            with np.errstate(over="ignore"):
                norm = np.linalg.norm(given, axis=1)
            if not ((abs(norm - 1.0) < 1e-6) | ((norm == 0.0) & (key != "quat"))).all():
                raise ValueError(f"{name} is no rotation")
        array[...] = given


def take_cable(arrays: dict[str, Any], cable: Any, i: int) -> None:
    """As `take`, for a cable: its path is a chain that ends."""
    state, n = cable._state_arrays(), len(cable._tables["element_ints"])
    given = {key: _checked(key, arrays[f"state/{i}/{key}"], a.shape, a.dtype.kind) for key, a in state.items()}
    ints = cable._tables["element_ints"].copy()
    ints[:, cables.KIND : cables.KIND + 1], ints[:, cables.OBSTACLE :] = given["kinds"], given["marks"]
    count = int(given["count"][0, 0])
    _elements(count, ints, given["element_state"], cable.entries, cable.around)
    first = int(cable._tables["cable_ints"][0, cables.FIRST])
    following = given["element_place"][:count, cables.NEXT]
    forward = following > first + np.arange(count)
    if not ((following < 0.0) | (forward & (following < first + min(count, n)))).all():
        raise ValueError("the path of a cable does not end")
    take(arrays, state, i)
