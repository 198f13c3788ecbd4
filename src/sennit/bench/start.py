"""How long one waits: the first scene, strand, zone and contact on a machine, and in a new process.

Each is a process of its own, from the start of Python to the first step or solve, in a cache folder of its own: empty
("cold"), once on one core and once on all, and again with what these left there ("warm"); and in an empty one with the
kernels that a wheel brings. Beside it the same with kernels compiled one by one by plain Numba, which uses one core
anyway, and which no wheel carries.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
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
from sennit.processor import NATIVE, choice_for_wheels

__all__ = [
    "DESCRIPTION",
    "PROGRAMS",
    "USES_NUMBA",
    "Start",
    "add_arguments",
    "run",
    "run_with",
    "start_of",
    "unpack_wheel",
]

DESCRIPTION = (
    "Starts new processes that make the first step of a scene and of one in which things touch, and the first solve of "
    "a strand and of a zone, with an empty cache, with a warm one, and with the kernels of a wheel, by whole programs "
    "and by plain Numba: processor and wall seconds, megabytes kept. Half an hour, ten minutes with --only whole; "
    "three more where the kernels of wheels are not in the cache."
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
    "zone": (
        "import sennit as sn\n"
        "corners = [(x, y, z) for x in (0, 0.1) for y in (0, 0.1) for z in (0, 0.1)]\n"
        "faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),\n"
        "         (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]\n"
        "zone = sn.Zone.from_mesh(corners, faces, material=sn.Material(2e4, 0.45, 1000.0), fixed=[0, 2, 4, 6])\n"
        "zone.solve(displacements={1: (1e-3, 0, 0)})\n"
    ),
    "touching": (
        "import sennit as sn\n"
        "scene = sn.Scene()\n"
        "scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))\n"
        "scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1)))\n"
        "scene.collide()\n"
        "scene.step(1e-3)\n"
    ),
}
"""What a process runs."""
USES_NUMBA = ("zone",)
"""Those with loops over all cores, which plain Numba compiles in any case, and which no wheel carries."""
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


def start_of(program: str, mode: str, cache: Path, wheel: Path | None = None) -> Start:
    """Run a program in a new process, with a mode of ``SENNIT_KERNELS``, and from an unpacked `wheel` if one is given.

    Without one, kernels that came with this installation are not used.
    """
    environment = os.environ | {"SENNIT_CACHE_DIR": str(cache), "SENNIT_KERNELS": "" if mode == "whole" else mode}
    if wheel is None:
        environment["SENNIT_KERNELS_CPU"] = NATIVE
    else:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(wheel), environment.get("PYTHONPATH"))))
        environment.pop("SENNIT_KERNELS_CPU", None)
    before, begun = os.times(), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - begun, os.times()
    if done.returncode:
        raise InputError(f"the process failed: {done.stderr.strip()}")
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return Start(used, wall)


def unpack_wheel(folder: Path, chosen: str = "") -> Path:
    """What a wheel of this version brings, as if it were installed in `folder`; returns `folder`.

    It is for the processor `chosen`, as ``SENNIT_KERNELS_CPU`` names it; by default as wheels are.
    """
    package = folder / "sennit"
    shutil.copytree(Path(__file__).parents[1], package, ignore=shutil.ignore_patterns("__pycache__", "shipped"))
    chosen = chosen or choice_for_wheels()
    done = subprocess.run(
        [sys.executable, "-m", "sennit.pack_kernels", str(package / "shipped")], capture_output=True, text=True,
        env=os.environ | {"SENNIT_KERNELS": "", "SENNIT_KERNELS_CPU": chosen},
    )  # fmt: skip
    if done.returncode:
        raise InputError(f"the kernels of a wheel can't be made: {done.stderr.strip()}")
    compileall.compile_dir(package, quiet=2)  # as installers do
    return folder


def _from_wheel(program: str, wheel: Path) -> Start:
    with tempfile.TemporaryDirectory() as empty:
        return start_of(program, "whole", Path(empty), wheel)


def _measured(program: str, mode: str, wheel: Path) -> dict[str, float]:
    """Seconds and megabytes of one program: cold, then warm and from the wheel in turns."""
    warm, from_wheel = [], []
    with tempfile.TemporaryDirectory() as alone, tempfile.TemporaryDirectory() as folder:
        cold = start_of(_ON_ONE_CORE + program, mode, Path(alone))
        beside = start_of(program, mode, Path(folder))
        for _ in range(_WARM_RUNS):
            warm.append(start_of(program, mode, Path(folder)))
            if mode == "whole":
                from_wheel.append(_from_wheel(program, wheel))
        found = {"cold": cold.processor, "wall": beside.wall, "kept": _kept(Path(folder))}
    for name, starts in (("warm", warm), ("wheel", from_wheel)):
        if starts:
            best = min(starts, key=_processor)
            found |= {name: best.processor, f"{name} wall": best.wall}
    return found


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
         "warm, CPU s": "right", "warm, s": "right", "wheel, CPU s": "right", "wheel, s": "right", "kept, MB": "right"},
    )  # fmt: skip
    figures: dict[str, dict[str, float]] = {}
    runs = [(name, mode) for name in PROGRAMS for mode in modes]
    with tempfile.TemporaryDirectory() as installed:
        if "whole" in modes:
            progress("kernels of a wheel", 0.0)
            unpack_wheel(Path(installed))
        for k, (name, mode) in enumerate(runs):
            progress(f"{name}, {_MODES[mode]}", k / len(runs))
            figures[f"{name}, {mode}"] = _measured(PROGRAMS[name], mode, Path(installed))
    for name, mode in runs:
        found = figures[f"{name}, {mode}"]
        wheel = (f"{found['wheel']:.2f}", f"{found['wheel wall']:.2f}") if "wheel" in found else ("–", "–")
        sheet.add(
            name, _MODES[mode], f"{found['cold']:.1f}", f"{found['wall']:.1f}", f"{found['warm']:.2f}",
            f"{found['warm wall']:.2f}", *wheel, f"{found['kept']:.1f}",
        )  # fmt: skip
        if mode == "whole" and name in _AIMS:
            sheet.aim(f"{name}, cold, one core, CPU s", found["cold"], at_most=_AIMS[name])
        if mode == "whole" and name in USES_NUMBA and (plain := figures.get(f"{name}, numba")):
            sheet.aim(f"{name}, cold, over plain Numba's", found["cold"] / plain["cold"], at_most=0.5)
        if mode == "whole" and name not in USES_NUMBA:
            sheet.aim(f"{name}, warm, CPU s", found["warm"], at_most=_WARM_AIM)
            sheet.aim(f"{name}, wheel, CPU s", found["wheel"], at_most=_WARM_AIM)
    sheet.notes.append(
        f"Warm and wheel: the best of {_WARM_RUNS} new processes each, in turns; wheel with an empty cache."
    )
    sheet.data = figures
    return [sheet]


def _processor(start: Start) -> float:
    return start.processor
