"""Numba kernels: how they are compiled. `kernel_cache` says where their machine code is kept."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numba

from sennit import table_types  # noqa: F401  tells Numba what a table is
from sennit.kernel_cache import MODE, PARTS, KernelCache, cache_folder, kernel_folder, part_of, remove_unused

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

PLAIN = MODE == "python"
"""Whether kernels are left as they are written.

``SENNIT_KERNELS=python``: kernels stay plain Python, for debuggers and for comparisons of bits (a thousand times
slower); ``strict``: they are compiled without fused multiply-adds, which move with what LLVM inlines."""

CONTRACT: tuple[str, ...] = () if MODE == "strict" else ("contract",)
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
    return _kept(function, _OPTIONS | {"_nrt": counted})


def _kept(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Compiled at its first call; one that stands outside the package is compiled anew in each process."""
    dispatcher: Any = numba.njit(**options)(function)
    if part_of(function.__module__) is not None:
        dispatcher._cache = KernelCache(function)
    return dispatcher


_one_parallel_loop = threading.Lock()


def parallel(function: Callable[..., Any]) -> Any:
    """Like `allocating`, with the turns of its ``prange`` loops shared among the processor's cores.

    It is called from Python alone, one such call at a time: the plainest of Numba's ways to share loops ends the
    program when two threads begin at once. Keep a loop's body in a `kernel` of its own, which compiles faster.
    """
    if PLAIN:
        return function
    dispatcher = _kept(function, _OPTIONS | {"parallel": True})

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
    # The mesh's, boundary elements', columns', contacts' and chains' are parts of the zones'.
    marker = kernel_folder(group if group in PARTS else "zone") / f"{group}.ready"
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
    with contextlib.suppress(OSError):  # a full disk; or another process deleted the folder, see `kernel_cache`
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    remove_unused()
