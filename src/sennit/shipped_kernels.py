"""Machine code that came with the wheel: one file for each part, ``shipped/PART.kernels`` inside the package.

A file is a SHA-256 of all that follows, a line of JSON, and object files one after the other::

    {"facts": {"sources": ..., "python": ..., ...}, "groups": [...], "objects": {name: [begin, end], ...}}

It is taken whole or not at all: if it is not damaged, if its facts are those of this process, and if this machine's
processor has what the code needs. Otherwise kernels are looked for in the cache and compiled, as in a checkout, which
has no such files. Object files hold nothing of Numba's: its version is not asked for. Nor is Python's: they call what
all its releases have, and `fits_this_python` looks whether its objects lie where they are read.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from sennit.kernel_cache import MODE, sources
from sennit.machine_code import fits_this_python
from sennit.processor import CHOICE, NATIVE, host, lacking, platform_name, target

__all__ = ["FOLDER", "described", "facts", "shipped_code", "shipped_file", "shipped_groups", "write_shipped"]

FOLDER = Path(__file__).parent / "shipped"
_MARK = 32


class _Shipped(NamedTuple):
    """What a file holds, or why it is not used."""

    why_unused: str
    processor: str = ""
    groups: frozenset[str] = frozenset()
    objects: Mapping[str, tuple[int, int]] = {}
    code: bytes = b""


def facts(part: str) -> dict[str, str]:
    """What decides whether object files for `target` fit a process."""
    return {
        "platform": platform_name(),
        "python": sys.implementation.name,
        "mode": MODE,
        "processor": target(),
        "sources": sources(part),
    }


def shipped_file(part: str) -> Path:
    """Where a part's object files are, in an installed wheel."""
    return FOLDER / f"{part}.kernels"


def _unfit(part: str, of: Mapping[str, str]) -> str:
    """Why object files are not for this process, or nothing."""
    if of["platform"] != platform_name():
        return f"for {of['platform']}, this is {platform_name()}"
    if of["python"] != sys.implementation.name:
        return f"for {of['python']}, this is {sys.implementation.name}"
    if not fits_this_python():
        return "in this Python objects lie otherwise"
    if of["mode"] != MODE:
        return f"SENNIT_KERNELS={MODE} asks for others"
    if CHOICE and of["processor"] != (host() if CHOICE == NATIVE else CHOICE):
        return f"for {of['processor']}, SENNIT_KERNELS_CPU={CHOICE} asks for others"
    if missing := lacking(of["processor"]):
        return f"for {of['processor']}, this processor lacks {', '.join(missing)}"
    if of["sources"] != sources(part):
        return "the sources were edited"
    return ""


@functools.cache
def _shipped(part: str) -> _Shipped | None:
    """What came with the wheel, or None if nothing did."""
    try:
        content = shipped_file(part).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        return _Shipped(f"it can't be read: {problem.strerror}")
    rest = content[_MARK:]
    if hashlib.sha256(rest).digest() != content[:_MARK]:
        return _Shipped("the file is damaged")
    line, _, code = rest.partition(b"\n")
    known = json.loads(line)
    if why := _unfit(part, known["facts"]):
        return _Shipped(why)
    return _Shipped("", known["facts"]["processor"], frozenset(known["groups"]), known["objects"], code)


def shipped_code(part: str, name: str) -> bytes | None:
    """The object file of a name, or None."""
    known = _shipped(part)
    if known is None or name not in known.objects:
        return None
    begin, end = known.objects[name]
    return known.code[begin:end]


def shipped_groups(part: str) -> frozenset[str]:
    """Groups of kernels, as `compile_once` names them, of which nothing is left to compile."""
    known = _shipped(part)
    return frozenset() if known is None else known.groups


def described(part: str) -> str | None:
    """What came with the wheel, and why it is not used if it is not; None if nothing came."""
    known = _shipped(part)
    if known is None:
        return None
    if known.why_unused:
        return f"not used: {known.why_unused}"
    count = len(known.objects)
    return f"{count} {'kernel' if count == 1 else 'kernels'} for {known.processor}, used"


def write_shipped(path: Path, of: Mapping[str, str], groups: Iterable[str], objects: Mapping[str, bytes]) -> None:
    """Write a part's file: its `facts`, the groups that it completes, and its object files by their names."""
    places, end = {}, 0
    for name, code in sorted(objects.items()):
        places[name] = (end, end + len(code))
        end += len(code)
    line = json.dumps({"facts": of, "groups": sorted(groups), "objects": places}, sort_keys=True)
    rest = line.encode() + b"\n" + b"".join(code for _, code in sorted(objects.items()))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(hashlib.sha256(rest).digest() + rest)
