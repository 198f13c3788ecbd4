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

One with options of its own has `add_arguments` and `run_with` besides, as `BenchWithOptions` says. Those in
`IN_CHECKOUT` are folders at the top of the repository and not part of the installed package.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Protocol, cast, runtime_checkable

from sennit.bench.sheet import Sheet
from sennit.bench.table import Progress, Table
from sennit.errors import InputError

__all__ = ["BENCHES", "IN_CHECKOUT", "Bench", "BenchWithOptions", "Progress", "Sheet", "Table", "load"]

BENCHES: dict[str, str] = {
    "strand": "one strand: two sweeps with follower loads, pose to pose with a warm start",
    "micado": "scenes of rods: MICADO's six, its method on the same matrices, sliding constraints, growth",
    "step": "a step of small scenes: in a run, one by one, in its parts; reading a result",
    "batch": "many scenes at once: in a loop, in processes, in a batch; building and resetting one",
    "cable": "hoisting cables: bodies on one cable, a crane, a hoist beside a rod and MuJoCo's tendon",
    "contact": "things that touch: a step against the number of contacts, real time, a rope at rest, and its parts",
    "page": "the page and the haptic loop: frames and pace with a browser, late ticks at 1 kHz",
    "zones": "elastic zones: precomputation beside LAPACK, touch and press, a finger at 1 kHz, chains of 2 to 64",
    "felt": "tissue under a hand: a tick of a finger that bends, its loop at 1 kHz, all ways to solve seams",
    "peers": "PyElastica, MuJoCo, Newton and pypbd beside sennit: six tasks, time at equal error; in a checkout",
    "start": "the first step and the first solve of a machine and of a process, beside plain Numba",
    "soak": "an hour of the crane at 60 Hz and of the suture at 1 kHz: drift, memory, open files",
}
"""Name of each benchmark, and the line that ``sennit bench`` shows for it."""
IN_CHECKOUT = ("peers",)
"""Benchmarks that stand in a folder of the repository: what they measure has nothing to do with using sennit."""
_ROOT = Path(__file__).parents[3]
"""The repository, where this file is part of one."""


class Bench(Protocol):
    """What a module of this package offers."""

    @property
    def DESCRIPTION(self) -> str:
        """What is timed and against what, for ``sennit bench NAME --help``."""

    def run(self, progress: Progress) -> Sequence[Table | Sheet]:
        """Time everything and return the tables; call `progress` between samples, never inside one."""


@runtime_checkable
class BenchWithOptions(Protocol):
    """What a module offers besides when it has options of its own."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add its options; ``--json`` is there already."""

    def run_with(self, progress: Progress, arguments: argparse.Namespace) -> Sequence[Table | Sheet]:
        """As `Bench.run`, with the options as they were given."""


def load(name: str) -> Bench:
    """Import the benchmark called `name`."""
    if name not in BENCHES:
        raise InputError(f"there is no bench {name!r}; choose from: {', '.join(BENCHES)}")
    return cast(Bench, _from_checkout(name) if name in IN_CHECKOUT else importlib.import_module(f"sennit.bench.{name}"))


def _from_checkout(name: str) -> ModuleType:
    file = _ROOT / name / "__init__.py"
    if not (file.is_file() and (_ROOT / "pyproject.toml").is_file()):
        raise InputError(
            f"the bench {name!r} is not part of the installed package: it needs a checkout. Clone the repository of "
            f"sennit and run, in the clone: uv run sennit bench {name}"
        )
    if name in sys.modules:
        return sys.modules[name]
    # By its place, not by the search path: another package may be called the same.
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=[str(file.parent)])
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
