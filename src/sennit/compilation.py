"""Numba kernels: how they are compiled, where the machine code is kept, and when it is thrown away.

Numba's own cache looks at the file of the compiled function alone and keeps stale code after an edit in a helper
that it calls. Here the cache folder's name is a hash over every file in a ``kernels`` folder of the package (compiled
functions live and call only there; a test holds that), so that any edit starts an empty folder; other packages' caches
are left where they are.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from sennit import table_types

__all__ = [
    "CONTRACT",
    "PLAIN",
    "allocating",
    "cache_folder",
    "compile_once",
    "inlined",
    "kernel",
    "kernel_folder",
    "merged",
    "parallel",
]

_MODE = os.environ.get("SENNIT_KERNELS", "")
"""``python``: kernels stay plain Python, for debuggers and for comparisons of bits (a thousand times slower);
``strict``: they are compiled without fused multiply-adds, which move with what LLVM inlines."""
PLAIN = _MODE == "python"
"""Whether kernels are left as they are written."""


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


@functools.cache
def _stamp() -> str:
    """Hash of what decides the machine code: the kernels' sources, Numba, Python and the processor."""
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in [Path(__file__), Path(table_types.__file__), *sorted(root.rglob("kernels/*.py"))]:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    for part in (_MODE, numba.__version__, platform.python_version(), llvmlite.binding.get_host_cpu_name()):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def kernel_folder() -> Path:
    """Folder of this version's compiled kernels; a temporary one where the cache folder can't be written."""
    folder = cache_folder() / "kernels" / _stamp()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return Path(tempfile.mkdtemp(prefix="sennit-kernels-"))
    return folder


class _PackageLocator(_CacheLocator):
    """Tells Numba to keep a function's machine code in `kernel_folder`."""

    def __init__(self, py_func: Any) -> None:
        # Two kernels of one name may stand on one line of two files of one name: the module's path tells them apart.
        self._place = f"{py_func.__module__}-{py_func.__code__.co_firstlineno}"

    def get_cache_path(self) -> str:
        return str(kernel_folder())

    def get_source_stamp(self) -> str:
        return _stamp()

    def get_disambiguator(self) -> str:
        return self._place

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _PackageLocator:
        return cls(py_func)


class _PackageCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_PackageLocator]

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        # NUMBA_CACHE_LOCATOR_CLASSES or another release may have chosen its own locator: ours decides.
        self._locator = _PackageLocator(py_func)


class _PackageCache(FunctionCache):
    _impl_class = _PackageCacheImpl


CONTRACT: tuple[str, ...] = () if _MODE == "strict" else ("contract",)
"""What LLVM may do with sums and products beyond the letter: fuse them."""
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": set(CONTRACT) or False,
    "no_cfunc_wrapper": True,  # nobody calls kernels through pointers: a fifth less to compile
}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call, without the GIL, and keep the machine code on disk.

    ``fastmath={'contract'}`` allows fused multiply-adds only: NaN, infinity and the order of sums keep their meaning.

    Kernels make no arrays, so that Numba's counting of the uses of arrays, a good part of a scene's step, is left out.
    One that does make arrays does not compile: it must be `allocating`, and so must what calls it if it returns one.
    """
    return _compiled(function, counted=False)


def allocating(function: Callable[..., Any]) -> Any:
    """Like `kernel`, for a function that makes arrays: counted, and given back when nobody uses them."""
    return _compiled(function, counted=True)


def _compiled(function: Callable[..., Any], counted: bool) -> Any:
    if PLAIN:
        return function
    options = _OPTIONS | {"_nrt": counted}
    dispatcher: Any = numba.njit(**options)(function)
    dispatcher._cache = _PackageCache(function)
    return dispatcher


_one_parallel_loop = threading.Lock()


def parallel(function: Callable[..., Any]) -> Any:
    """Like `allocating`, with the turns of its ``prange`` loops shared among the processor's cores.

    It is called from Python alone, one such call at a time: the plainest of Numba's ways to share loops ends the
    program when two threads begin at once. Keep a loop's body in a `kernel` of its own, which compiles faster.
    """
    if PLAIN:
        return function
    options = _OPTIONS | {"parallel": True}
    dispatcher: Any = numba.njit(**options)(function)
    dispatcher._cache = _PackageCache(function)

    @functools.wraps(function)
    def alone(*arguments: Any) -> Any:
        with _one_parallel_loop:
            return dispatcher(*arguments)

    return alone


def inlined(function: Callable[..., Any]) -> Any:
    """Like `kernel`, for a function that other kernels call in their innermost loops.

    Its code always goes into the caller's, and is kept with it: a loop that contains a call does not become vector
    instructions.
    """
    options = _OPTIONS | {"_nrt": False, "forceinline": True}
    return function if PLAIN else numba.njit(**options)(function)


def merged(function: Callable[..., Any]) -> Any:
    """For a part of one large kernel: it is copied into its caller before compilation, and never compiled alone."""
    return function if PLAIN else numba.njit(inline="always")(function)


_compiled_groups: set[str] = set()


def compile_once(group: str, steps: Sequence[tuple[str, Callable[[], object]]]) -> None:
    """Run `steps` (name, call) behind a progress bar if `group`'s kernels were never compiled on this machine.

    Nothing is run or shown when they were: Numba then loads the machine code as it needs it.
    """
    if PLAIN or group in _compiled_groups:
        return
    _compiled_groups.add(group)
    marker = kernel_folder() / f"{group}.ready"
    if marker.exists():
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    text = f"Compiling the {group} kernels (once on this machine)"
    if not console.is_terminal:
        console.print(text + " ...")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(text, total=len(steps))
        for name, step in steps:
            progress.update(task, description=f"{text}: {name}")
            step()
            progress.advance(task)
    marker.touch()
    _remove_stale_kernels()


def _remove_stale_kernels(keep: int = 3) -> None:
    """Delete the compiled kernels of older sources, all but the `keep` folders used last."""
    folders = [path for path in kernel_folder().parent.glob("*") if path.is_dir() and len(path.name) == 16]
    folders.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for folder in folders[keep:]:
        if folder != kernel_folder():
            shutil.rmtree(folder, ignore_errors=True)
