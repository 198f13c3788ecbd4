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
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

__all__ = [
    "MODE",
    "PARTS",
    "KernelCache",
    "cache_folder",
    "kept_folders",
    "kernel_folder",
    "part_of",
    "remove_unused",
    "size_limit",
    "stamp",
]

MODE = os.environ.get("SENNIT_KERNELS", "")
"""How kernels are compiled, see `compilation`."""

PARTS = ("geometry", "linalg", "strand", "zone", "scene")
"""What is stamped and kept by itself."""
_PART_OF_FOLDER = {"geometry": "geometry", "linalg": "linalg", "cosserat": "strand", "elastostatics": "zone"}
"""By the first folder below the package; the kernels in all others are the scene's."""

_PACKAGE = Path(__file__).parent
_RECENT = 14 * 86400.0
"""Seconds for which a folder counts as in use after a process opened it."""
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
def stamp(part: str, root: Path = _PACKAGE) -> str:
    """Hash of what decides a part's machine code: its sources, how they are compiled, Numba, Python, the processor."""
    files = root.rglob("kernels/*.py")
    own = [p for p in files if part_of(".".join((root.name, *p.relative_to(root).with_suffix("").parts))) == part]
    digest = hashlib.sha256()
    for path in [root / "compilation.py", root / "table_types.py", *_reached(own, root)]:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    for word in (MODE, numba.__version__, platform.python_version(), llvmlite.binding.get_host_cpu_name()):
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()[:16]


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


# What Numba is told


class _Locator(_CacheLocator):
    """Tells Numba to keep a function's machine code in the folder of its part."""

    def __init__(self, py_func: Any, part: str) -> None:
        self._line, self._folder, self._stamp = py_func.__code__.co_firstlineno, kernel_folder(part), stamp(part)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator | None:
        part = part_of(py_func.__module__)
        return None if part is None else cls(py_func, part)


class _Implementation(CompileResultCacheImpl):
    _locator_classes = [_Locator]

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        # NUMBA_CACHE_LOCATOR_CLASSES may have chosen another locator: ours decides.
        self._locator = _Locator.from_function(py_func, py_func.__code__.co_filename)
        # Two kernels of one name may stand on one line of two files of one name: the module's path tells them apart.
        name = f"{py_func.__module__}.{py_func.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _Files(IndexDataCacheFile):
    """Numba's files, with the machine code in one that is named by its signature.

    Numba numbers them: two processes that compile two signatures at once may both take a number, and the index of one
    then leads to the code of the other.
    """

    def save(self, key: Any, data: Any) -> None:
        try:
            overloads = self._load_index()
        except Exception:  # damaged
            overloads = {}
        name = self._index_name.removesuffix("nbi") + hashlib.sha256(repr(key).encode()).hexdigest()[:16] + ".nbc"
        self._save_data(name, data)
        self._save_index(overloads | {key: name})


class KernelCache(FunctionCache):
    """A function's machine code on disk: what can't be read is compiled again, what can't be written is not kept."""

    _impl_class = _Implementation

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        files = self._cache_file
        self._cache_file = _Files(files._cache_path, self._impl.filename_base, files._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code of a signature."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)
