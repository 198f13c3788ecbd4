"""Green's functions of solids held at some of their vertices, computed once and kept on disk beside the stiffness."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import warnings
from typing import Any

import numpy as np

from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.store import FORMAT, Bar, file_of, key_of
from sennit.elastostatics.storefile import DamagedFileError, read_arrays, write_arrays
from sennit.elastostatics.surface import IntArray, Surface
from sennit.validation import FloatArray

__all__ = ["MOST", "stored_greens"]

MOST = 8
"""So many sets of fixed vertices of one solid are kept: those used last."""
_QUICK = 5.0
_SAMPLES = 16


def stored_greens(surface: Surface, boundary: BoundaryStiffness, fixed: IntArray) -> GreensFunctions:
    """The Green's functions of a body held at `fixed` vertices: from the disk, or computed and kept there.

    They are kept not for the time, but for the bits: LAPACK's depend on its threads. Those of a stiffness that is not
    in the store itself are computed. Raises `InputError` if the stiffness is not positive.

    Warns:
        UserWarning: a file was damaged, or the result could not be kept.
    """
    key = key_of(boundary)
    if key is None or len(np.unique(fixed)) == len(surface.vertices):
        return GreensFunctions(surface, boundary, fixed)
    ids = np.unique(np.asarray(fixed, dtype=np.int64))
    place = hashlib.sha256(key.encode() + ids.astype("<i8").tobytes()).hexdigest()
    path = file_of(key, place)
    notes = {
        "format": FORMAT,
        "solid": key,
        "key": place,
        "stiffness": _fingerprint(boundary.stiffness),
        "fixed": len(ids),
        "free": len(surface.vertices) - len(ids),
    }
    try:
        told, arrays = read_arrays(path)
        compliance = _checked(told, arrays, notes)
        if compliance is not None:
            with contextlib.suppress(OSError):
                os.utime(path)  # used last
            return GreensFunctions(surface, boundary, fixed, compliance)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (DamagedFileError, OSError, MemoryError) as problem:
        _warn(f"the Green's functions in {path} can't be used ({problem}): they are computed again")
    count = len(surface.vertices) - len(ids)
    expected = 2e-10 * count**3  # factor and inverse, on two cores
    text = f"Computing the compliance of a zone of {count:,} free vertices (once, then kept on disk)"
    with Bar(text, quick=expected < _QUICK, expected=expected) as bar:
        bar("factor and inverse", 0.0)
        result = GreensFunctions(surface, boundary, fixed)
    try:
        write_arrays(path, notes, {"C": result.compliance})
        _forget_others(key)
    except OSError as problem:
        _warn(f"the Green's functions could not be kept in {path} ({problem}): they will be computed again next time")
    return result


def _fingerprint(stiffness: FloatArray) -> str:
    """Of a few numbers of S: one that was computed again, by other threads, needs its own compliance."""
    some = np.ascontiguousarray(stiffness[:: max(len(stiffness) // _SAMPLES, 1)], "<f8")
    return hashlib.sha256(np.ascontiguousarray(np.diag(stiffness), "<f8").tobytes() + some.tobytes()).hexdigest()


def _checked(told: dict[str, Any], arrays: dict[str, Any], wanted: dict[str, Any]) -> FloatArray | None:
    """The compliance in a file; None if it is that of another stiffness of the same solid."""
    if told.get("format") != FORMAT:
        raise DamagedFileError(f"its format is {str(told.get('format'))[:20]}, not {FORMAT}")
    if any(told.get(name) != wanted[name] for name in ("solid", "key")):
        raise DamagedFileError("it belongs to another solid, or to other fixed vertices")
    rows = 3 * int(wanted["free"])
    C = arrays.get("C")
    if set(arrays) != {"C"} or C is None or C.shape != (rows, rows) or C.dtype != float:
        raise DamagedFileError("it holds other arrays")
    if not C.flags.c_contiguous:
        raise DamagedFileError("its numbers are in another order")
    flat = C.ravel()
    # A sum of squares is finite only if every number is.
    if not math.isfinite(np.dot(flat, flat)) or not np.diag(C).min(initial=1.0) > 0.0:
        raise DamagedFileError("not all of its numbers are finite, or it is not positive")
    some = np.random.default_rng(0).integers(rows, size=_SAMPLES)
    if not np.array_equal(C[some], C[:, some].T):
        raise DamagedFileError("its compliance is not symmetric")
    return C if told.get("stiffness") == wanted["stiffness"] else None


def _forget_others(key: str) -> None:
    """Delete what was used longest ago where there is more than `MOST` of one solid."""
    pattern = file_of(key, "?" * 16).name
    with contextlib.suppress(OSError):
        found = sorted(file_of(key).parent.glob(pattern), key=lambda path: path.stat().st_mtime_ns)
        for path in found[:-MOST]:
            path.unlink()


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=4)
