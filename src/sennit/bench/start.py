"""How long one waits: the first scene and the first strand on a machine, and in a new process.

Each is a process of its own, from the start of Python to the first step or solve, in a cache folder of its own: empty
("cold"), once on one core and once on all, and again with what these left there ("warm"). Beside it the same with
kernels compiled one by one by plain Numba, which uses one core anyway.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sennit.bench.sheet import Sheet
from sennit.bench.table import Progress
from sennit.errors import InputError

__all__ = ["DESCRIPTION", "PROGRAMS", "Start", "add_arguments", "run", "run_with", "start_of"]

DESCRIPTION = (
    "Starts new processes that make a first scene's step and a first strand's solve, with an empty cache and with a "
    "warm one, by whole programs and by plain Numba: processor and wall seconds, megabytes kept. Some ten minutes; "
    "four with --only whole."
)

PROGRAMS = {
    "scene": (
        "import sennit as sn\n"
        "scene = sn.Scene()\n"
        "rope = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=sn.Section.circle(0.01),\n"
        "                                 material=sn.Material(1e7, 0.4, 1000.0), control_points=6))\n"
        "scene.add(sn.Clamp(rope.at(0.0)))\n"
        "scene.step(1e-3)\n"
    ),
    "strand": (
        "import sennit as sn\n"
        "strand = sn.Strand(0.5, section=sn.Section.circle(0.002), material=sn.Material(1e9, 0.4, 1000.0), nodes=9)\n"
        "strand.solve(base=sn.Pose(), tip_force=(0.1, 0, 0))\n"
    ),
}
"""What a process runs."""
_MODES = {"whole": "whole programs", "numba": "plain Numba"}
_AIMS = {"scene": 60.0, "strand": 15.0}
_WARM_AIM = 0.6
_ON_ONE_CORE = (
    "import os\nif hasattr(os, 'sched_setaffinity'):\n    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
)
_WARM_RUNS = 5


@dataclass(frozen=True, slots=True)
class Start:
    """What one process took."""

    processor: float
    """User and system, s."""
    wall: float
    """Seconds on the wall."""


def start_of(program: str, mode: str, cache: Path) -> Start:
    """Run a program in a new process, with a mode of ``SENNIT_KERNELS``."""
    environment = os.environ | {"SENNIT_CACHE_DIR": str(cache), "SENNIT_KERNELS": "" if mode == "whole" else mode}
    before, begun = os.times(), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - begun, os.times()
    if done.returncode:
        raise InputError(f"the process failed: {done.stderr.strip()}")
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return Start(used, wall)


def _kept(cache: Path) -> float:
    """Megabytes in a cache folder."""
    return sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()) / 1e6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--only``."""
    parser.add_argument("--only", choices=tuple(_MODES), help="whole programs, or plain Numba, alone")


def run(progress: Progress) -> list[Sheet]:
    """Both ways to compile."""
    return _run(progress, tuple(_MODES))


def run_with(progress: Progress, arguments: argparse.Namespace) -> list[Sheet]:
    """As `run`, with the options as they were given."""
    return _run(progress, tuple(_MODES) if arguments.only is None else (arguments.only,))


def _run(progress: Progress, modes: Sequence[str]) -> list[Sheet]:
    sheet = Sheet(
        "From the start of Python to the first step or solve",
        {"what": "left", "compiled by": "left", "cold, one core, CPU s": "right", "cold, all cores, s": "right",
         "warm, CPU s": "right", "warm, s": "right", "kept, MB": "right"},
    )  # fmt: skip
    figures = {}
    runs = [(name, mode) for name in PROGRAMS for mode in modes]
    for k, (name, mode) in enumerate(runs):
        progress(f"{name}, {_MODES[mode]}", k / len(runs))
        with tempfile.TemporaryDirectory() as alone, tempfile.TemporaryDirectory() as folder:
            cold = start_of(_ON_ONE_CORE + PROGRAMS[name], mode, Path(alone))
            beside = start_of(PROGRAMS[name], mode, Path(folder))
            warm = min((start_of(PROGRAMS[name], mode, Path(folder)) for _ in range(_WARM_RUNS)), key=_processor)
            kept = _kept(Path(folder))
        sheet.add(
            name, _MODES[mode], f"{cold.processor:.1f}", f"{beside.wall:.1f}", f"{warm.processor:.2f}",
            f"{warm.wall:.2f}", f"{kept:.1f}",
        )  # fmt: skip
        figures[f"{name}, {mode}"] = {"cold": cold.processor, "wall": beside.wall, "warm": warm.processor, "kept": kept}
        if mode == "whole":
            sheet.aim(f"{name}, cold, one core, CPU s", cold.processor, at_most=_AIMS[name])
            sheet.aim(f"{name}, warm, CPU s", warm.processor, at_most=_WARM_AIM)
    sheet.notes.append(f"Warm is the best of {_WARM_RUNS} new processes.")
    sheet.data = figures
    return [sheet]


def _processor(start: Start) -> float:
    return start.processor
