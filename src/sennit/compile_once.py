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
from dataclasses import dataclass
from pathlib import Path

from sennit import numba_release
from sennit.compilation import ONE_BY_ONE, PLAIN
from sennit.kernel_cache import PARTS, kernel_folder, remove_unused
from sennit.shipped_kernels import shipped_groups

__all__ = ["Beside", "compile_beside", "compile_once", "part_of_group", "told"]

UNITS = {
    "scene": 360, "step": 1650, "touching": 2750, "cable": 100, "energy": 205, "dissection": 75,
    "strand": 460, "stability": 400, "follower": 600,
    "zone": 70, "mesh": 22, "contact": 190, "chain": 160, "felt": 24, "batch": 290, "hair": 360,
}  # fmt: skip
"""What there is to do for a group, about, as `numba_release.watch` counts it: to tell how much time is left.

Plain Numba, which compiles loops over all cores, counts nothing: of boundary elements and columns, which are hardly
anything else, no share is told, and of a zone's other groups the loops are not counted.
"""
_PAUSE = 5.0
"""Seconds between lines where nobody sees a bar move."""
_PARTS = {
    "step": "scene", "cable": "scene", "energy": "scene", "dissection": "linalg", "stability": "strand",
    "follower": "strand",
}  # fmt: skip

_compiled_groups: set[str] = set()
_here = threading.local()
"""Whether this thread compiles a group: what it calls then asks for none."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A group that a second process compiles meanwhile: its name, and what compiles it, "module:function"."""

    group: str
    function: str

    def run(self) -> None:
        """Call the function."""
        module, _, name = self.function.partition(":")
        getattr(importlib.import_module(module), name)()


def part_of_group(group: str) -> str:
    """The part that a group's kernels are kept with: mesh, boundary elements, columns, contacts, chains are zones'."""
    return group if group in PARTS else _PARTS.get(group, "zone")


class _Course:
    """How far a compilation is."""

    def __init__(self, *groups: str) -> None:
        self.text = f"Compiling the {' and '.join(groups)} kernels (once on this machine)"
        self._begun = time.perf_counter()
        known = not ONE_BY_ONE and all(group in UNITS for group in groups)
        self._expected = sum(UNITS[group] for group in groups) if known else 0
        self.done = dict.fromkeys(groups, 0)
        self.now = groups[0]
        """The group that this process compiles."""

    def advance(self, units: int, group: str = "") -> None:
        """So much was typed or coded."""
        self.done[group or self.now] += units

    @property
    def share(self) -> float | None:
        """Part of the work that is done, as far as one can tell."""
        return min(0.99, sum(self.done.values()) / self._expected) if self._expected else None

    def __str__(self) -> str:
        spent, share = time.perf_counter() - self._begun, self.share
        if share is None or share < 0.03:
            return f"{spent:.0f} s"
        return f"{100 * share:.0f} %, {spent:.0f} s, about {spent * (1.0 - share) / share:.0f} s to go"


def compile_once(group: str, steps: Sequence[Callable[[], object]], beside: Beside | None = None) -> None:
    """Run `steps` and tell how far they are if `group`'s kernels were never compiled on this machine.

    Nothing is run or shown when they were, or came with the wheel: machine code is then loaded as it is needed. A group
    that is wanted as well, `beside`, is compiled by a second process meanwhile where there are two cores; if that
    fails, or on one core, afterwards.
    """
    if PLAIN or (group in _compiled_groups and (beside is None or beside.group in _compiled_groups)):
        return
    if getattr(_here, "compiling", False):
        return
    wanted = [group] if beside is None else [group, beside.group]
    missing = [name for name in wanted if _is_missing(name)]
    if not missing:
        return
    course = _Course(*missing)
    _here.compiling = True
    try:
        with _watched(course), _told(course):
            with _beside(beside if beside is not None and missing == wanted else None, course):
                for step in steps if group in missing else ():
                    step()
            if beside is not None and beside.group in missing:
                course.now = beside.group
                beside.run()
    finally:
        _here.compiling = False
    for name in missing:
        marker = _marker(name)
        with contextlib.suppress(OSError):  # a full disk; or another process deleted the folder, see `kernel_cache`
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.write_text(f"{course.done[name]}\n")  # a test holds `UNITS` against it
    remove_unused()


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """A compilation that is no group's, but tells of itself: of programs of graphics cards, one for a kind of scene."""
    if getattr(_here, "compiling", False):
        yield
        return
    _here.compiling = True
    try:
        with _told(_Course(what)):
            yield
    finally:
        _here.compiling = False


def _is_missing(group: str) -> bool:
    """Whether a group is yet to be compiled on this machine; nobody in this process asks again."""
    if group in _compiled_groups:
        return False
    _compiled_groups.add(group)
    return group not in shipped_groups(part_of_group(group)) and not _marker(group).exists()


def _marker(group: str) -> Path:
    return kernel_folder(part_of_group(group)) / f"{group}.ready"


@contextlib.contextmanager
def _watched(course: _Course) -> Iterator[None]:
    """`course` hears of what is compiled."""
    before, numba_release.watch = numba_release.watch, course.advance
    try:
        yield
    finally:
        numba_release.watch = before


@contextlib.contextmanager
def _beside(other: Beside | None, course: _Course) -> Iterator[None]:
    """A second process meanwhile, whose end is awaited; `course` hears of it."""
    if other is None or ONE_BY_ONE or _cores() < 2:
        yield
        return
    command = [
        sys.executable,
        "-c",
        f"from sennit.compile_once import compile_beside; compile_beside({other.function!r})",
    ]
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
                course.advance(int(line), other.group)

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
    _here.compiling = True
    Beside("", function).run()


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
