"""The first use of a part on a machine: what compiles its kernels, and what is told meanwhile."""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from sennit import numba_release
from sennit.compilation import ONE_BY_ONE, PLAIN
from sennit.kernel_cache import PARTS, kernel_folder, remove_unused
from sennit.shipped_kernels import shipped_groups

__all__ = ["compile_beside", "compile_once", "part_of_group"]

UNITS = {"scene": 2000, "touching": 2600, "strand": 750, "zone": 70}
"""What there is to do for a group, about, as `numba_release.watch` counts it: to tell how much time is left."""
_PAUSE = 5.0
"""Seconds between lines where nobody sees a bar move."""

_compiled_groups: set[str] = set()


def part_of_group(group: str) -> str:
    """The part that a group's kernels are kept with: mesh, boundary elements, columns, contacts, chains are zones'."""
    return group if group in PARTS else "zone"


class _Course:
    """How far a compilation is."""

    def __init__(self, group: str) -> None:
        self.text = f"Compiling the {group} kernels (once on this machine)"
        self._begun = time.perf_counter()
        self._expected, self.done = 0 if ONE_BY_ONE else UNITS.get(group, 0), 0

    def advance(self, units: int) -> None:
        """So much was typed or coded."""
        self.done += units

    @property
    def share(self) -> float | None:
        """Part of the work that is done, as far as one can tell."""
        return min(0.99, self.done / self._expected) if self._expected else None

    def __str__(self) -> str:
        spent, share = time.perf_counter() - self._begun, self.share
        if share is None or share < 0.03:
            return f"{spent:.0f} s"
        return f"{100 * share:.0f} %, {spent:.0f} s, about {spent * (1.0 - share) / share:.0f} s to go"


def compile_once(group: str, steps: Sequence[Callable[[], object]], beside: str = "") -> None:
    """Run `steps` and tell how far they are if `group`'s kernels were never compiled on this machine.

    Nothing is run or shown when they were, or came with the wheel: machine code is then loaded as it is needed.
    `beside` names a function, "module:function", which a second process runs during the first step where there are two
    cores: it compiles what later steps need. If it fails, they compile it themselves.
    """
    if PLAIN or group in _compiled_groups:
        return
    _compiled_groups.add(group)
    part = part_of_group(group)
    if group in shipped_groups(part):
        return
    marker = kernel_folder(part) / f"{group}.ready"
    if marker.exists():
        return
    course = _Course(group)
    with _watched(course), _told(course):
        with _beside(beside, course):
            steps[0]()
        for step in steps[1:]:
            step()
    with contextlib.suppress(OSError):  # a full disk; or another process deleted the folder, see `kernel_cache`
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.write_text(f"{course.done}\n")  # a test holds `UNITS` against it
    remove_unused()


@contextlib.contextmanager
def _watched(course: _Course) -> Iterator[None]:
    """`course` hears of what is compiled."""
    before, numba_release.watch = numba_release.watch, course.advance
    try:
        yield
    finally:
        numba_release.watch = before


@contextlib.contextmanager
def _beside(function: str, course: _Course) -> Iterator[None]:
    """A second process meanwhile, whose end is awaited; `course` hears of it."""
    if not function or ONE_BY_ONE or _cores() < 2:
        yield
        return
    command = [sys.executable, "-c", f"from sennit.compile_once import compile_beside; compile_beside({function!r})"]
    places = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        child = subprocess.Popen(
            command, env=os.environ | places, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
    except OSError:
        yield
        return

    def listen() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            with contextlib.suppress(ValueError):
                course.advance(int(line))

    thread = threading.Thread(target=listen, name="sennit compilation beside", daemon=True)
    thread.start()
    try:
        yield
        thread.join()  # until it has ended, however it did
    finally:
        child.kill()
        child.wait()
        thread.join()
        if child.stdout is not None:
            child.stdout.close()


def _cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compile_beside(function: str) -> None:
    """What the second process runs: "module:function", with a line for each step of its way."""
    numba_release.watch = lambda units: print(units, flush=True)
    module, _, name = function.partition(":")
    getattr(importlib.import_module(module), name)()


@contextlib.contextmanager
def _told(course: _Course) -> Iterator[None]:
    """A bar that moves where standard error is a terminal, else a line now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        print(f"{course.text} ...", file=sys.stderr, flush=True)
        with _every(_PAUSE, lambda: print(f"{course.text}: {course}", file=sys.stderr, flush=True)):
            yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(course.text, total=None if course.share is None else 1.0, left="")
        with _every(0.5, lambda: progress.update(task, completed=course.share, left=str(course))):
            yield


@contextlib.contextmanager
def _every(seconds: float, call: Callable[[], None]) -> Iterator[None]:
    """Call meanwhile, from a thread of its own."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(seconds):
            call()

    thread = threading.Thread(target=repeat, name="sennit compilation", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
