"""Steps of a batch by one thread, by two, … by as many as there are cores, and how much of the added cores is used."""

from __future__ import annotations

import os
from collections.abc import Callable

from sennit.bench.table import Case, Progress, Table, measure

__all__ = ["by_threads", "cores", "numbers_of_threads"]

LEAST = 0.9
"""Aim: speed by all cores, over that by one, over their number."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def numbers_of_threads(most: int) -> list[int]:
    """1, 2, 4, … and `most`."""
    return sorted({*(2**k for k in range(most.bit_length()) if 2**k <= most), most})


def by_threads(
    name: str,
    batch: Callable[[int, int], Callable[[], None]],
    steps: int,
    progress: Progress,
    each: int = 32,
    samples: int = 8,
    seconds: float = 6.0,
) -> Table:
    """A table of `batch(count, threads)`, which makes what makes `steps` steps of all; `each` scenes for a core."""
    most = cores()
    count = each * most
    cases = [
        Case(f"{threads} threads", batch(count, threads), per=count * steps) for threads in numbers_of_threads(most)
    ]
    title = f"{name}: a batch of {count} by threads"
    table = measure(title, cases, baseline=cases[0].name, per="scene step", samples=samples, seconds=seconds,
                    progress=progress)  # fmt: skip
    if most > 1:
        one, together = table.rows[0].median, table.rows[-1].median
        table.aim(f"efficiency of {most} cores", one / together / most, at_least=LEAST)
    return table
