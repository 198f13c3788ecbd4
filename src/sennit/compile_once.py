"""The first use of a part on a machine: what compiles its kernels, behind a progress bar."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

from sennit.compilation import PLAIN
from sennit.kernel_cache import PARTS, kernel_folder, remove_unused

__all__ = ["compile_once"]

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
