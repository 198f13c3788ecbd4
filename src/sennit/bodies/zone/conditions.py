"""What holds and loads a zone: what users pass, as nodal displacements and loads."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.elastostatics.greens import surface_moments
from sennit.elastostatics.surface import IntArray, Surface
from sennit.errors import InputError
from sennit.validation import FloatArray, quoted

__all__ = ["Conditions", "PerFace", "PerVertex", "checked_displacement", "vertex_ids"]

PerVertex: TypeAlias = Mapping[int, object] | ArrayLike | None
"""Vectors at some vertices, ``{vertex: (x, y, z)}``, or at all of them, (n, 3)."""
PerFace: TypeAlias = Mapping[int, ArrayLike] | ArrayLike | None
"""Vectors on some faces, ``{face: (x, y, z)}``, or on all of them, (m, 3)."""

_AXES = "xyz"


@dataclass(frozen=True)
class Conditions:
    """What holds and loads a zone, checked."""

    displacements: FloatArray
    """Prescribed displacements, (n, 3), m; NaN where nothing is prescribed."""
    loads: FloatArray
    """Nodal forces of all loads and tractions, (n, 3), N."""
    released: IntArray
    """Sorted ids of fixed vertices that are let go."""

    @classmethod
    def checked(
        cls, surface: Surface, fixed: IntArray, displacements: PerVertex, tractions: PerVertex, face_tractions: PerFace,
        loads: PerVertex, released: object = (),
    ) -> Self:  # fmt: skip
        """The arguments of `Zone.solve` as nodal displacements and loads.

        Raises `InputError` for vertices and faces that do not exist, values that are no vectors, and components that
        are both displaced (or fixed) and loaded.
        """
        n, m = len(surface.vertices), len(surface.faces)
        let_go = _released(released, fixed, n)
        moves = _displacements(displacements, n)
        held = np.isfinite(moves)
        support = np.setdiff1d(fixed, let_go, assume_unique=True) if len(let_go) else fixed
        nodal = _vectors("loads", loads, n, "vertex")
        hats = _vectors("tractions", tractions, n, "vertex")
        for name, values in (("loads", nodal), ("tractions", hats)):
            _refuse_both(name, values, held, support)
        total = nodal
        if hats.any():
            total += surface_moments(surface, hats.reshape(-1, 1), np.arange(n, dtype=np.int64)).reshape(n, 3)
        on_faces = _vectors("face_tractions", face_tractions, m, "face")
        if on_faces.any():
            shares = on_faces * (surface.areas / 3.0)[:, None]
            for corner in range(3):
                np.add.at(total, surface.faces[:, corner], shares)
        return cls(moves, total, let_go)


def vertex_ids(name: str, given: object, count: int) -> IntArray:
    """Sorted vertex ids from a list of them or from a mask (n,); an id may come twice."""
    if isinstance(given, Mapping | str | bytes):
        raise InputError(f"{name} must be vertex ids or a mask of {count} booleans, got {quoted(given)}")
    what = f"vertex ids or a mask of {count} booleans"
    try:
        values = np.asarray(validation.entries(name, given, what) if isinstance(given, Iterable) else [given])
    except InputError:
        raise
    except Exception:  # whatever the value's own methods raise
        raise InputError(f"{name} must be {what}, got {quoted(given)}") from None
    if values.size == 0 and values.ndim == 1:
        return np.zeros(0, dtype=np.int64)
    if values.ndim != 1 or values.dtype.kind not in "iub":
        raise InputError(f"{name} must be vertex ids or a mask of {count} booleans, got {quoted(given)}")
    if values.dtype.kind == "b":
        if len(values) != count:
            raise InputError(
                f"{name} must have an entry for each of {count} vertices if it is a mask, got {len(values)}"
            )
        return np.flatnonzero(values).astype(np.int64)
    for wrong in values[(values < 0) | (values >= count)][:1].tolist():
        raise InputError(f"{name} must hold vertex ids from 0 to {count - 1}, got {wrong}")
    return np.unique(values).astype(np.int64)


def checked_displacement(name: str, value: object, *, nan: bool = True) -> FloatArray:
    """`value` (3,), m, of which entries None (or NaN, if `nan`), but not all, leave their component free: NaN then."""
    try:
        whole = isinstance(value, np.ndarray) and value.ndim == 1
        entries = value.tolist() if whole else list(itertools.islice(value, 4))  # type: ignore[attr-defined, call-overload]
    except Exception:  # whatever the value's own methods raise
        entries = []
    if len(entries) != 3:
        raise InputError(f"{name} must be three numbers, or None where a component is left free, got {quoted(value)}")
    free = [entry is None or (nan and isinstance(entry, float) and math.isnan(entry)) for entry in entries]
    if not any(free):
        return validation.vector(name, value)
    if all(free):
        raise InputError(f"{name} must prescribe a component at least, got {quoted(value)}: leave it out instead")
    result = validation.vector(name, [0.0 if skip else entry for skip, entry in zip(free, entries, strict=True)])
    result[free] = np.nan
    return result


def _released(given: object, fixed: IntArray, count: int) -> IntArray:
    ids = vertex_ids("released", given, count)
    for wrong in np.setdiff1d(ids, fixed)[:1].tolist() if len(ids) else ():
        raise InputError(f"released must hold fixed vertices only, got {wrong}, which is free")
    return ids


def _displacements(given: PerVertex, count: int) -> FloatArray:
    result = np.full((count, 3), np.nan)
    if isinstance(given, Mapping):
        for vertex, value in given.items():
            place = validation.count("displacements: vertex", vertex, 0, count - 1)
            result[place] = checked_displacement(f"displacements[{place}]", value)
    elif given is not None:
        try:
            values = np.array(given, dtype=object)
        except Exception:  # whatever the value's own methods raise
            values = np.zeros(0, dtype=object)
        if values.shape != (count, 3):
            raise InputError(
                f"displacements must be {{vertex: (x, y, z)}} or an array of shape ({count}, 3) with NaN where nothing "
                f"is prescribed, got {quoted(given)}"
            )
        free = np.array([entry is None for entry in values.ravel()]).reshape(values.shape)
        values[free] = 0.0
        try:
            numbers = values.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(f"displacements must hold real numbers, got {quoted(given)}") from None
        free |= np.isnan(numbers)
        numbers[free] = 0.0
        result = validation.array("displacements", numbers, (count, 3))
        result[free] = np.nan
    return result


def _vectors(name: str, given: PerVertex | PerFace, count: int, what: str) -> FloatArray:
    if given is None:
        return np.zeros((count, 3))
    if not isinstance(given, Mapping):
        return validation.array(name, given, (count, 3))
    result = np.zeros((count, 3))
    for key, value in given.items():
        place = validation.count(f"{name}: {what}", key, 0, count - 1)
        result[place] = validation.vector(f"{name}[{place}]", value)
    return result


def _refuse_both(name: str, values: FloatArray, held: object, support: IntArray) -> None:
    loaded = values != 0.0
    for vertex in support[loaded[support].any(axis=1)][:1].tolist():
        raise InputError(
            f"{name} must be at free vertices: vertex {vertex} is fixed, and the support carries what acts there. "
            "Leave it out, let the vertex go with released=, or give face_tractions=, which may reach the support"
        )
    for vertex, axis in np.argwhere(loaded & np.asarray(held))[:1].tolist():
        raise InputError(
            f"{name} and displacements both prescribe {_AXES[axis]} of vertex {vertex}: give one of them, or None for "
            "that component of the displacement"
        )
