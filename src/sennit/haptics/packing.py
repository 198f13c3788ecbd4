"""Nested values with arrays among them, as a JSON text and one block of bytes. No pickle."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from sennit.errors import InputError
from sennit.validation import quoted

__all__ = ["packed", "unpacked"]

_MARK = "array number"


def packed(value: Any) -> tuple[Any, bytes]:
    """`value` with each array replaced by its number, and the arrays. Raises `InputError` for other objects."""
    arrays: list[np.ndarray[Any, Any]] = []
    plain = _plain(value, arrays)
    file = io.BytesIO()
    np.savez(file, **{str(k): array for k, array in enumerate(arrays)})  # type: ignore[arg-type]
    return plain, file.getvalue()


def _plain(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays.append(value)
        return {_MARK: len(arrays) - 1}
    if isinstance(value, list | tuple):
        return [_plain(item, arrays) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(item, arrays) for key, item in value.items()}
    raise InputError(
        f"only numbers, texts, arrays, and lists and dictionaries of them can go to the loop's process, "
        f"got {quoted(value)}"
    )


def unpacked(plain: Any, payload: bytes) -> Any:
    """What `packed` was given; tuples come back as lists."""
    with np.load(io.BytesIO(payload), allow_pickle=False) as data:
        arrays = dict(data)
    return _whole(plain, arrays)


def _whole(plain: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(plain, list):
        return [_whole(item, arrays) for item in plain]
    if isinstance(plain, dict):
        if set(plain) == {_MARK}:
            return arrays[str(plain[_MARK])]
        return {key: _whole(item, arrays) for key, item in plain.items()}
    return plain
