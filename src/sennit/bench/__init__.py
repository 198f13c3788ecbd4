"""Benchmarks, one file for each set of tables.

``sennit bench`` lists `BENCHES`; ``sennit bench NAME`` runs ``sennit.bench.NAME``, which offers what `Bench` says, and
prints the tables that it returns. The modules are imported only when one is asked for. A new benchmark is one file
here and one line in `BENCHES`::

    DESCRIPTION = "How long a strand takes."

    def run(progress: Progress) -> list[Table]:
        sizes = (101, 1001)
        cases = [Case(f"{n} nodes", sweep(n), per=n) for n in sizes]
        table = measure("Two sweeps", cases, per="node", baseline="101 nodes", progress=progress)
        # the rows hold times per node: the whole call's time is what grows
        times = [n * row.median for n, row in zip(sizes, table.rows)]
        table.aim("growth exponent", growth_exponent(sizes, times), at_most=1.05)
        return [table]
"""

from __future__ import annotations

import importlib
from typing import Protocol, cast

from sennit.bench.table import Progress, Table
from sennit.errors import InputError

__all__ = ["BENCHES", "Bench", "Progress", "Table", "load"]

BENCHES: dict[str, str] = {
    "strand": "one strand: two sweeps with follower loads, pose to pose with a warm start",
    "micado": "scenes of rods: MICADO's six, its method on the same matrices, sliding constraints, growth",
    "cable": "hoisting cables: bodies on one cable, a crane, a hoist beside a rod and MuJoCo's tendon",
    "page": "the page and the haptic loop: frames and pace with a browser, late ticks at 1 kHz",
    "zones": "elastic zones: precomputation beside LAPACK, touch and press, a finger at 1 kHz, chains of 2 to 64",
}
"""Name of each benchmark, and the line that ``sennit bench`` shows for it."""


class Bench(Protocol):
    """What a module of this package offers."""

    @property
    def DESCRIPTION(self) -> str:
        """What is timed and against what, for ``sennit bench NAME --help``."""

    def run(self, progress: Progress) -> list[Table]:
        """Time everything and return the tables; call `progress` between samples, never inside one."""


def load(name: str) -> Bench:
    """Import the benchmark called `name`."""
    if name not in BENCHES:
        raise InputError(f"there is no bench {name!r}; choose from: {', '.join(BENCHES)}")
    return cast(Bench, importlib.import_module(f"sennit.bench.{name}"))
