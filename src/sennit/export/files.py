"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

__all__ = ["replacing", "replacing_folder"]


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a name to write to, in the folder of `target`, and move what was written to `target` at the end.

    If the body raises, `target` is as it was and nothing else is left.
    """
    target = target.resolve()
    partial = _partial(target)
    try:
        yield partial
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Give a new folder to write to, beside `target`, that takes its place at the end; the old one is removed.

    If the body raises, `target` is as it was and nothing else is left.
    """
    target = target.resolve()
    partial, old = _partial(target), _partial(target, "old")
    try:
        partial.mkdir()
        yield partial
        if target.exists():
            os.replace(target, old)
        try:
            os.replace(partial, target)
        except OSError:
            if old.exists():
                os.replace(old, target)
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _partial(target: Path, word: str = "part") -> Path:
    return target.with_name(f".{target.stem}.{os.getpid()}.{word}{target.suffix}")
