"""One file with some arrays in it: written whole or not at all, every byte checked on reading, no pickle.

8 bytes     magic
4 + 4       length and CRC-32 of the description, little-endian
...         the description: JSON, with name, type, shape, order and the CRC-32 of each 16 MiB of every array
...         zeros up to the next multiple of 4096, then each array as it lies in memory, likewise filled up
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = ["PART", "DamagedFileError", "read_arrays", "read_description", "write_arrays"]

PART = ".part"
"""How the names of files end that are being written."""
_MAGIC = b"sennit\x1a\n"
_PREFIX = struct.Struct("<8sII")
_PAGE = 4096
_BLOCK = 1 << 24
_LONGEST_DESCRIPTION = 1 << 20
_DTYPES = {"<f8": np.dtype("<f8"), "<i8": np.dtype("<i8")}
_FORGOTTEN = 24 * 3600.0
_SPARE_DISK = 1 << 24


class DamagedFileError(Exception):
    """The file is not what was written; the message says how that shows."""


def write_arrays(path: Path, notes: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write `arrays` (float64 or int64, contiguous in either order) and `notes` (JSON) to `path`.

    The file appears under its name when all of it is on the disk, so that neither a second writer nor the end of the
    process in the middle leaves half a file there.

    Raises:
        OSError: it can't be written; nothing is left behind.
    """
    entries = []
    for name, values in arrays.items():
        entries.append(
            {
                "name": name,
                "dtype": values.dtype.newbyteorder("<").str,
                "shape": list(values.shape),
                "order": "C" if values.flags.c_contiguous else "F",
                "crc": _checksums(_bytes(values)),
            }
        )
    text = json.dumps({"notes": dict(notes), "arrays": entries}).encode()
    size = _filled(_PREFIX.size + len(text)) + sum(_filled(values.nbytes) for values in arrays.values())
    path.parent.mkdir(parents=True, exist_ok=True)
    _forget_parts(path.parent)
    if shutil.disk_usage(path.parent).free < size + _SPARE_DISK:
        raise OSError(f"the disk has too little room for {size / 1e6:.0f} MB")
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.stem + "-", suffix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_PREFIX.pack(_MAGIC, len(text), zlib.crc32(text)))
            file.write(text)
            _fill(file)
            for values in arrays.values():
                file.write(_bytes(values))
                _fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def read_description(path: Path) -> dict[str, Any]:
    """The `notes` of the file at `path`; the arrays are not looked at."""
    with path.open("rb") as file:
        notes: dict[str, Any] = _description(file)[0]
    return notes


def read_arrays(path: Path, mapped: frozenset[str] = frozenset()) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Notes and arrays of the file at `path`, after a look at every byte of it.

    Those named in `mapped` stay on the disk: pages come into memory as they are used, and changes stay private.

    Raises:
        DamagedFileError: a byte is not what was written.
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        notes, entries, offset = _description(file)
        length = os.fstat(file.fileno()).st_size
        expected = offset + sum(_filled(_size(entry)) for entry in entries)
        if length != expected:
            raise DamagedFileError(f"it has {length} bytes in place of {expected}")
        arrays: dict[str, NDArray[Any]] = {}
        for entry in entries:
            count, dtype = _size(entry) // 8, _DTYPES[entry["dtype"]]
            flat: NDArray[Any]
            if entry["name"] in mapped and count:
                flat = np.asarray(np.memmap(file, dtype=dtype, mode="c", offset=offset, shape=(count,)))
                file.seek(offset + count * 8)
            else:
                file.seek(offset)
                flat = np.fromfile(file, dtype=dtype, count=count)
            if len(flat) != count or _checksums(_bytes(flat)) != entry["crc"]:
                raise DamagedFileError(f"the checksum of its array {entry['name']} is wrong")
            if any(file.read(_filled(count * 8) - count * 8)):
                raise DamagedFileError("there is something between its arrays")
            arrays[entry["name"]] = flat.reshape(entry["shape"], order=entry["order"])
            offset += _filled(count * 8)
    return notes, arrays


def _description(file: BinaryIO) -> tuple[dict[str, Any], list[dict[str, Any]], int]:
    """Notes, entries of the arrays, and where the first array begins."""
    prefix = file.read(_PREFIX.size)
    if len(prefix) < _PREFIX.size:
        raise DamagedFileError("it is too short")
    magic, length, checksum = _PREFIX.unpack(prefix)
    if magic != _MAGIC:
        raise DamagedFileError("it does not begin as such files do")
    if length > _LONGEST_DESCRIPTION:
        raise DamagedFileError("its description is too long")
    text = file.read(length)
    if len(text) < length or zlib.crc32(text) != checksum:
        raise DamagedFileError("the checksum of its description is wrong")
    begin = _filled(_PREFIX.size + length)
    if any(file.read(begin - _PREFIX.size - length)):
        raise DamagedFileError("there is something between its description and its arrays")
    # A right checksum does not make a sound description: anybody can write one.
    try:
        content = json.loads(text)
        notes, entries = content["notes"], content["arrays"]
        if not isinstance(notes, dict) or len({entry["name"] for entry in entries}) != len(entries):
            raise ValueError
        for entry in entries:
            if entry["dtype"] not in _DTYPES or entry["order"] not in ("C", "F"):
                raise ValueError
            if not all(type(n) is int and 0 <= n < 1 << 40 for n in entry["shape"]) or len(entry["shape"]) > 4:
                raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DamagedFileError("its description makes no sense") from None
    return notes, entries, begin


def _size(entry: dict[str, Any]) -> int:
    size = 8
    for length in entry["shape"]:
        size *= length
    return size


def _bytes(values: NDArray[Any]) -> memoryview:
    """The numbers as they lie in memory, without a copy."""
    flat = values.ravel(order="K")
    if flat.size and not np.shares_memory(flat, values):
        raise ValueError("arrays must be contiguous")
    little: Any = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
    return memoryview(little).cast("B")


def _checksums(data: memoryview) -> list[int]:
    return [zlib.crc32(data[k : k + _BLOCK]) for k in range(0, len(data), _BLOCK)]


def _filled(size: int) -> int:
    return -(-size // _PAGE) * _PAGE


def _fill(file: BinaryIO) -> None:
    file.write(bytes(-file.tell() % _PAGE))


def _forget_parts(folder: Path) -> None:
    """Delete what writers that were killed left behind a day ago or longer."""
    for part in folder.glob("*" + PART):
        try:
            if time.time() - part.stat().st_mtime > _FORGOTTEN:
                part.unlink()
        except OSError:
            continue


def _sync_folder(folder: Path) -> None:
    """The new name survives a power cut too, where folders can be flushed."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
