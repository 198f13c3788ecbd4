"""The first use of a part on a machine: what compiles its kernels, and what is told meanwhile."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from sennit.compilation import PLAIN
from sennit.kernel_cache import PARTS, kernel_folder, remove_unused

__all__ = ["compile_once"]

_UNITS = {"scene": 1780, "strand": 750, "zone": 620, "contact": 640, "chain": 900}
"""What there is to do for a group, as `whole_program.watch` counts it, from which the time that is left is estimated;
of other groups only the steps are counted."""
_PAUSE = 5.0
"""Seconds between lines where nobody sees a bar move."""

_compiled_groups: set[str] = set()


class _Course:
    """How far a compilation is."""

    def __init__(self, group: str, steps: int) -> None:
        self.text = f"Compiling the {group} kernels (once on this machine)"
        self.begun = time.perf_counter()
        self._steps, self._steps_done = steps, 0
        self._units, self._units_done = _UNITS.get(group, 0), 0

    def advance(self, units: int) -> None:
        """So much was typed or coded."""
        self._units_done += units

    def finish_step(self) -> None:
        """A step has ended."""
        self._steps_done += 1

    @property
    def share(self) -> float:
        """Part of the work that is done, as far as one can tell."""
        by_steps = self._steps_done / self._steps
        return min(0.99, max(by_steps, self._units_done / self._units)) if self._units else by_steps

    def __str__(self) -> str:
        spent, share = time.perf_counter() - self.begun, self.share
        if share < 0.03:
            return f"{spent:.0f} s"
        return f"{100 * share:.0f} %, {spent:.0f} s, about {spent * (1.0 - share) / share:.0f} s to go"


def compile_once(group: str, steps: Sequence[tuple[str, Callable[[], object]]]) -> None:
    """Run `steps` (name, call) and tell how far they are if `group`'s kernels were never compiled on this machine.

    Nothing is run or shown when they were: machine code is then loaded as it is needed.
    """
    if PLAIN or group in _compiled_groups:
        return
    _compiled_groups.add(group)
    # The mesh's, boundary elements', columns', contacts' and chains' are parts of the zones'.
    marker = kernel_folder(group if group in PARTS else "zone") / f"{group}.ready"
    if marker.exists():
        return
    course = _Course(group, len(steps))
    with _watched(course), _told(course):
        for _, step in steps:
            step()
            course.finish_step()
    with contextlib.suppress(OSError):  # a full disk; or another process deleted the folder, see `kernel_cache`
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    remove_unused()


@contextlib.contextmanager
def _watched(course: _Course) -> Iterator[None]:
    """`course` hears of what is compiled."""
    from sennit import whole_program

    before, whole_program.watch = whole_program.watch, course.advance
    try:
        yield
    finally:
        whole_program.watch = before


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
        task = progress.add_task(course.text, total=1.0, left="")
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
