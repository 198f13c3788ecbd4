"""The cache's machine code in one file, to be carried to other machines: ``sennit cache pack`` and ``unpack``.

A file is a line that says what it is, a SHA-256 of all that follows, a line of JSON, and the kept files one after the
other::

    {"facts": {"numba": ..., ...}, "stamps": {part: ...}, "files": {"scene/NAME.o": [begin, end], ...}}

Nothing in it is compressed and nothing is a link, and no name that it has reaches beyond the folder of a part: names
are checked letter by letter, files must lie end to end. It is taken whole, where all of its stamps are those of this
process, or not at all. Plain Numba's files are left out, which hold pickles.

What is checked is that the file is whole and fits, not who wrote it: machine code does what it likes, as a program
does.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sennit.errors import InputError
from sennit.kernel_cache import MODE, PARTS, cache_folder, kernel_folder, stamp
from sennit.processor import baseline, platform_name, target

__all__ = ["pack_cache", "unpack_cache"]

_TITLE = b"sennit kernels 1\n"
_MARK = 32
_LARGEST = 1 << 30
"""Bytes of a file that is looked at: a hundred times what there is to carry."""
_LONGEST = 1 << 24
"""Bytes of its line of JSON."""
_OBJECT = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,199}-[0-9a-f]{16}\.o")
_READY = re.compile(r"[a-z][a-z ]{0,39}\.ready")
_WORDS = {
    "platform": "it is for {there}, this is {here}",
    "python": "it is for Python {there}, this is {here}",
    "numba": "it is for Numba {there}, this is {here}",
    "mode": "it was made with SENNIT_KERNELS={there}, here that is {here}",
    "processor": (
        "it is for the processor {there}, this is {here}: run your program with SENNIT_KERNELS_CPU={common} on both, "
        "and pack again what it compiles"
    ),
}
"""What is told of each fact that differs."""


def _facts() -> dict[str, str]:
    return {
        "platform": platform_name(), "python": f"{sys.implementation.name} {platform.python_version()}",
        "numba": version("numba"), "mode": MODE, "processor": target(),
    }  # fmt: skip


def _kept() -> dict[str, bytes]:
    """The files of this version's parts that can be carried, by ``PART/NAME``."""
    found = {}
    for part in PARTS:
        for path in sorted(kernel_folder(part).glob("*")):
            if (_OBJECT.fullmatch(path.name) or _READY.fullmatch(path.name)) and path.is_file():
                with contextlib.suppress(OSError):  # another process deletes the folder
                    content = path.read_bytes()
                    if _is_whole(path.name, content):
                        found[f"{part}/{path.name}"] = content
    return found


def _is_whole(name: str, content: bytes) -> bool:
    if _READY.fullmatch(name):
        return re.fullmatch(rb"[0-9]{1,12}\n", content) is not None
    return hashlib.sha256(content[_MARK:]).digest() == content[:_MARK]


def pack_cache(path: str | os.PathLike[str]) -> dict[str, int]:
    """Write the machine code that was compiled here to the file `path`; how many files of each part are in it.

    Raises `InputError` where nothing was compiled yet.
    """
    files = _kept()
    if not files:
        raise InputError(
            f"there are no compiled kernels of this version in {cache_folder()}: run your program once, then pack them"
        )
    places, end = {}, 0
    for name, content in files.items():
        places[name] = (end, end + len(content))
        end += len(content)
    counts = {part: sum(name.startswith(f"{part}/") for name in files) for part in PARTS}
    stamps = {part: stamp(part) for part, count in counts.items() if count}
    line = json.dumps({"facts": _facts(), "stamps": stamps, "files": places}, sort_keys=True).encode()
    rest = line + b"\n" + b"".join(files.values())
    _write(Path(path), _TITLE + hashlib.sha256(rest).digest() + rest)
    return {part: count for part, count in counts.items() if count}


def unpack_cache(path: str | os.PathLike[str]) -> dict[str, int]:
    """Put what `pack_cache` wrote into this machine's cache; how many files of each part came.

    Raises `InputError`, and writes nothing, for a file that is damaged, that is none of `pack_cache`, or that is for
    other sources, compilers or processors. What was compiled here stays.
    """
    files = _read(Path(path))
    folders = {name.partition("/")[0]: kernel_folder(name.partition("/")[0]) for name in files}
    for folder in folders.values():
        if folder.parent != cache_folder() / "kernels":
            raise InputError(f"the cache folder {cache_folder()} can't be written")
    counts = dict.fromkeys(folders, 0)
    # at the end the files that say that nothing is left to compile
    for name in sorted(files, key=lambda name: (name.endswith(".ready"), name)):
        part, _, file = name.partition("/")
        place = folders[part] / file
        if not _is_there(place):
            _write(place, files[name])
        counts[part] += 1
    return counts


def _is_there(place: Path) -> bool:
    try:
        return not place.is_symlink() and _is_whole(place.name, place.read_bytes())
    except OSError:
        return False


def _write(path: Path, content: bytes) -> None:
    """A file, whole or not at all."""
    beside = path.with_name(f".{path.name[:200]}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


# ------------------------------------------------------------------------------------------ what others have written


def _read(path: Path) -> dict[str, bytes]:
    """The files in it, by their names."""
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}")
    if path.stat().st_size > _LARGEST:
        raise InputError(f"{str(path)!r} is larger than any file of sennit cache pack, {_LARGEST >> 20} MB")
    content = path.read_bytes()
    if not content.startswith(_TITLE):
        raise InputError(f"{str(path)!r} was not written by sennit cache pack of this version")
    mark, rest = content[len(_TITLE) : len(_TITLE) + _MARK], content[len(_TITLE) + _MARK :]
    if hashlib.sha256(rest).digest() != mark:
        raise InputError(f"{str(path)!r} is damaged")
    end = rest.find(b"\n", 0, _LONGEST)
    try:
        known = json.loads(rest[: max(end, 0)])
    except (ValueError, RecursionError):
        known = None
    if not isinstance(known, dict) or set(known) != {"facts", "stamps", "files"}:
        raise _refused(path, "its list of files can't be read")
    _check_facts(path, known["facts"], known["stamps"])
    return _cut(path, known["files"], known["stamps"], rest[end + 1 :])


def _refused(path: Path, why: str) -> InputError:
    return InputError(f"{str(path)!r} is refused: {why}")


def _check_facts(path: Path, facts: Any, stamps: Any) -> None:
    if not _is_of_texts(facts) or not _is_of_texts(stamps) or not stamps:
        raise _refused(path, "its list of files can't be read")
    for name, here in _facts().items():
        there = facts.get(name, "")
        if there != here:
            told = _WORDS[name].format(there=there[:80] or "unset", here=here or "unset", common=baseline())
            raise _refused(path, told)
    for part, there in stamps.items():
        if part not in PARTS:
            raise _refused(path, f"there is no part {part[:80]!r}")
        if there != stamp(part):
            raise _refused(path, f"it is for other sources of sennit (part {part})")


def _is_of_texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())


def _cut(path: Path, places: Any, stamps: Mapping[str, str], code: bytes) -> dict[str, bytes]:
    """The files, checked one by one: names of ours alone, end to end, each whole."""
    if not isinstance(places, dict) or not all(_is_place(place) for place in places.values()):
        raise _refused(path, "its list of files can't be read")
    files, at = {}, 0
    for name, (begin, end) in sorted(places.items(), key=lambda item: (item[1], item[0])):
        part, _, file = name.partition("/")
        if part not in stamps or not (_OBJECT.fullmatch(file) or _READY.fullmatch(file)):
            raise _refused(path, f"{name[:80]!r} is no name of a compiled kernel")
        if begin != at or not begin < end <= len(code):
            raise _refused(path, f"{name[:80]!r} does not lie where it must")
        files[name], at = code[begin:end], end
        if not _is_whole(file, files[name]):
            raise _refused(path, f"{name[:80]!r} is damaged")
    if at != len(code) or not files:
        raise _refused(path, "there is more in it than its files" if files else "there are no files in it")
    return files


def _is_place(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(number) is int for number in value)
