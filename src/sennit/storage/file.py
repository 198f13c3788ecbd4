"""Files of arrays: one .npz, written whole or not at all, read without trust. No pickle is written or read.

Anybody can write a file. What a file says is compared with what sennit could have written: names, types, shapes, and
the range of whatever is used as an index or ends a loop: kernels trust the numbers of their tables. Checks raise
`ValueError`, which `load_scene` turns into an `InputError` with the file's name.
"""

from __future__ import annotations

import math
import os
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["checked", "read_arrays", "within", "write_arrays"]

LARGEST = 1 << 31
"""Bytes that a file's arrays may take together once they are unpacked."""


def write_arrays(target: Path, arrays: dict[str, Any]) -> None:
    """Write `arrays` to the file `target`, which appears whole or not at all."""
    handle, name = tempfile.mkstemp(dir=target.parent or Path("."), suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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


def checked(
    name: str, value: Any, shape: tuple[int | None, ...], kind: str = "f", *, infinite: bool = False
) -> NDArray[Any]:
    """`value`, an array of float64 ("f") or int64 ("i") of `shape`, without NaN, and finite unless it may not be."""
    wanted = np.float64 if kind == "f" else np.int64
    if not isinstance(value, np.ndarray) or value.dtype != wanted or value.ndim != len(shape):
        raise ValueError(f"{name} is not the array that it should be")
    if any(want is not None and have != want for have, want in zip(value.shape, shape, strict=True)):
        raise ValueError(f"{name} has the shape {value.shape}")
    if kind == "f" and not (np.isfinite(value) | (infinite & np.isinf(value))).all():
        raise ValueError(f"{name} holds numbers that are not finite")
    return value


def within(name: str, values: Any, low: float, high: float) -> None:
    """Raise unless all of `values` lie from `low` to `high`."""
    if np.size(values) and not (low <= np.min(values) and np.max(values) <= high):
        raise ValueError(f"{name} has entries outside {low:g} to {high:g}")
