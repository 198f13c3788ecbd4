"""Where the machine code of kernels is kept, what it is stamped with, and when it is thrown away.

Numba's own cache looks at the file of the compiled function alone and keeps stale code after an edit in a helper that
it calls. Compiled functions live in folders called ``kernels`` and call only there (a test holds that), and here they
are kept by parts of the package, `PARTS`: a part's folder ``kernels/PART-STAMP`` is named by a hash over all its
kernel files, those that they import, directly or not, and what else decides the machine code. An edit starts new
folders for the parts that can reach the edited file, and no others; two versions never share a folder.

A folder is marked as used when a process opens it. After a compilation the folders used longest ago are deleted while
all together are larger than ``SENNIT_CACHE_LIMIT_MB`` (1024 unless set); those used within two weeks stay until there
is four times as much. Whoever still runs from a deleted folder keeps what it has loaded, and compiles the rest again.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from sennit.processor import target

__all__ = [
    "MODE",
    "PARTS",
    "cache_folder",
    "keep_code",
    "kept_code",
    "kept_folders",
    "kernel_folder",
    "part_of",
    "part_of_tables",
    "remove_unused",
    "size_limit",
    "sources",
    "stamp",
]

MODE = os.environ.get("SENNIT_KERNELS", "")
"""How kernels are compiled, see `compilation`."""

PARTS = ("geometry", "linalg", "strand", "zone", "scene", "touching", "batch", "hair")
"""What is stamped and kept by itself."""
_PART_OF_FOLDER = {
    "geometry": "geometry",
    "linalg": "linalg",
    "cosserat": "strand",
    "elastostatics": "zone",
    "contact": "touching",
    "touching": "touching",
    "batch": "batch",
    "hair": "hair",
}
"""By the first folder below the package; the kernels in all others are the scene's."""

_COMPILER = (
    "compilation.py", "kernel_arguments.py", "lane_types.py", "lanes.py", "machine_code.py", "numba_release.py",
    "python_entry.py", "table_types.py", "threads.py", "whole_program.py",
)  # fmt: skip
"""What makes machine code, and with it all of it."""

_PACKAGE = Path(__file__).parent
_RECENT = 14 * 86400.0
"""Seconds for which a folder counts as in use after a process opened it."""
_MARK = 32
"""Bytes before an object file, by which damage is noticed."""
_MUCH = 4
"""Folders in use are deleted only while there is more than this many times the limit."""


def cache_folder() -> Path:
    """Folder for all that sennit keeps on disk: ``$SENNIT_CACHE_DIR``, or the user's cache folder."""
    if chosen := os.environ.get("SENNIT_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "sennit"


# Stamps


def part_of(module: str) -> str | None:
    """The part that a module of kernels belongs to, "sennit.solve.kernels.stage"; None for any other module."""
    names = module.split(".")
    if names[0] != __package__ or names[-2:-1] != ["kernels"]:
        return None
    return _PART_OF_FOLDER.get(names[1], "scene")


def part_of_tables(kind: type) -> str | None:
    """The part that has a class of tables, whose kernels answer for it (`compilation.overload`); None outside the
    package.
    """
    names = kind.__module__.split(".")
    return _PART_OF_FOLDER.get(names[1], "scene") if names[0] == __package__ else None


@functools.cache
def _imports(path: Path, root: Path) -> list[Path]:
    """Kernel files that the one at `path` imports; where it names a folder, all those below it."""
    found: list[Path] = []
    # A line of a text may look like an import, which does no harm. A parser takes 0.2 s for the package.
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line.lstrip().startswith(("from ", "import ")):
            continue
        name = [*line.split(), ""][1]
        dots = len(name) - len(name.lstrip("."))
        names = name[dots:].split(".") if name[dots:] else []
        if dots:
            target = path.parents[dots - 1].joinpath(*names)
        elif names[:1] == [root.name]:
            target = root.joinpath(*names[1:])
        else:
            continue
        if target.parent.name == "kernels" and (file := target.with_suffix(".py")).is_file():
            found.append(file)
        elif target.is_dir():
            found += target.glob("*.py") if target.name == "kernels" else target.rglob("kernels/*.py")
    return found


def _reached(files: Iterable[Path], root: Path) -> list[Path]:
    """The files and all kernel files that they import, directly or not."""
    known: set[Path] = set()
    pending = list(files)
    while pending:
        path = pending.pop()
        if path not in known:
            known.add(path)
            pending.extend(_imports(path, root))
    return sorted(known)


@functools.cache
def sources(part: str, root: Path = _PACKAGE) -> str:
    """Hash of a part's sources: all its kernel files, those that they import, and the compiler's."""
    files = root.rglob("kernels/*.py")
    own = [p for p in files if part_of(".".join((root.name, *p.relative_to(root).with_suffix("").parts))) == part]
    digest = hashlib.sha256()
    for path in [*(root / name for name in _COMPILER), *_reached(own, root)]:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@functools.cache
def stamp(part: str, root: Path = _PACKAGE) -> str:
    """Hash of what decides a part's machine code: its sources, how they are compiled, Numba, Python, the processor."""
    words = (sources(part, root), MODE, _numba(), platform.python_version(), target())
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


@functools.cache
def _numba() -> str:
    return version("numba")  # without an import


# Object files


def kept_code(part: str, name: str) -> bytes | None:
    """What was kept by a name, or None: an object file that is not whole is as good as none."""
    try:
        content = (kernel_folder(part) / f"{name}.o").read_bytes()
    except OSError:
        return None
    mark, code = content[:_MARK], content[_MARK:]
    return code if hashlib.sha256(code).digest() == mark else None


def keep_code(part: str, name: str, code: bytes) -> None:
    """Keep an object file, at once or not at all; what can't be written is compiled again by the next process."""
    path = kernel_folder(part) / f"{name}.o"
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)  # another process may have deleted it
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_bytes(hashlib.sha256(code).digest() + code)
        beside.replace(path)


# Folders


@functools.cache
def kernel_folder(part: str) -> Path:
    """Folder of a part's machine code, marked as used now; a temporary one where the cache folder can't be written."""
    folder = cache_folder() / "kernels" / f"{part}-{stamp(part)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        folder = _temporary_folder() / folder.name
        folder.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):
        os.utime(folder)
    return folder


@functools.cache
def _temporary_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="sennit-kernels-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def kept_folders() -> list[tuple[Path, str]]:
    """Folders of machine code in the cache folder, of all versions, and the part of each; "" before there were parts.

    Nothing else that may lie there is returned.
    """
    found = []
    for path in sorted((cache_folder() / "kernels").glob("*")):
        name = re.fullmatch(r"(?:([a-z]+)-)?[0-9a-f]{16}", path.name)
        if name and path.is_dir() and not path.is_symlink():
            found.append((path, name[1] or ""))
    return found


def size_limit() -> int:
    """Bytes of machine code that may be kept: ``$SENNIT_CACHE_LIMIT_MB``, or 1 GiB where that is not a number."""
    try:
        return int(float(os.environ.get("SENNIT_CACHE_LIMIT_MB", "")) * 2**20)
    except (ValueError, OverflowError):
        return 2**30


def remove_unused() -> None:
    """Delete the folders used longest ago until all are small enough: see the module. Never those of this version."""
    ours = {kernel_folder(part) for part in PARTS}
    folders = [(_last_use(path), _size(path), path) for path, _ in kept_folders()]
    total, limit, now = sum(size for _, size, _ in folders), size_limit(), time.time()
    for used, size, path in sorted(folders):
        if total <= (_MUCH * limit if now - used < _RECENT else limit):
            return
        if path not in ours:
            # First what says that all is there: whoever opens the folder meanwhile compiles with a progress bar.
            with contextlib.suppress(OSError):
                for marker in path.glob("*.ready"):
                    marker.unlink(missing_ok=True)
            shutil.rmtree(path, ignore_errors=True)
            total -= size


def _last_use(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # deleted by another process
        return 0.0


def _size(folder: Path) -> int:
    size = 0
    for path in folder.glob("*"):
        with contextlib.suppress(OSError):
            size += path.stat().st_size
    return size
