"""Names of files that other programs wrote: plain files, no links. And packages that read them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from sennit.errors import InputError
from sennit.validation import quoted

__all__ = ["checked_path", "nearest", "needed"]

_MOST_LISTED = 2000


def checked_path(path: object, suffixes: Sequence[str], what: str) -> Path:
    """`path` as the name of a plain file that ends in one of `suffixes`; `what` says what it should be."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be the name of {what}, got {quoted(path)}")
    try:
        file = Path(path)
        if file.suffix.lower() not in suffixes:
            raise InputError(f"path must end in {' or '.join(suffixes)}, got {quoted(str(path))}")
        if "\0" in str(file):
            raise ValueError
        if file.is_symlink():
            raise InputError(f"{quoted(str(path))} is a link: give {what} itself")
        if not file.exists():
            raise InputError(f"there is no file {quoted(str(path))}{nearest(file)}")
        if not file.is_file():
            raise InputError(f"{quoted(str(path))} is no plain file: give {what}")
    except InputError:
        raise
    except Exception:  # whatever the value's own methods raise, and names with a zero byte
        raise InputError(f"path must be the name of {what}, got {quoted(path)}") from None
    return file


def nearest(file: Path) -> str:
    """``: did you mean 'arm.urdf'?`` if a file of nearly that name and the same kind lies in its folder."""
    try:
        there = [entry.name for entry in islice(file.parent.iterdir(), _MOST_LISTED) if entry.suffix == file.suffix]
    except (OSError, ValueError):
        return ""
    near = get_close_matches(file.name, there, 1)
    return f": did you mean {near[0]!r}?" if near else ""


def needed(package: str, extra: str, what: str) -> Any:
    """An optional package; raises `InputError` with the command that installs it."""
    try:
        return importlib.import_module(package)
    except ImportError as problem:
        raise InputError(
            f"{what} need the package {package}, which cannot be imported ({problem}): pip install 'sennit[{extra}]'"
        ) from problem
