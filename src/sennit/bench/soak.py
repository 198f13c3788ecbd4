"""An hour of the crane and of the suture in the hand: does anything drift, does anything grow?

The crane repeats one closed manoeuvre of a minute at its own step; a little drag lets what swings forget how it began,
so that every lap ends as the one before, but for what the scheme adds. The suture's holder goes round the closed path
of ``sennit demo suture`` in the ticks of the haptic loop, one after the other without waiting; forces of a lap are
compared with those of the lap before, pose by pose. After each lap the process is looked at from outside: resident
memory, objects that Python keeps track of, open files, maps of shared memory.
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import sennit as sn
from sennit import validation
from sennit.bench.sheet import Sheet
from sennit.bench.table import Progress
from sennit.demos import crane as crane_demo
from sennit.demos import suture as suture_demo
from sennit.haptics.board import FAILED, Board
from sennit.haptics.engine import Engine, Limits
from sennit.haptics.scripted import ScriptedDevice
from sennit.haptics.subjects import StrandSubject
from sennit.validation import FloatArray

__all__ = ["DESCRIPTION", "CraneLaps", "Looks", "SutureLaps", "add_arguments", "growth", "run", "run_with"]

DESCRIPTION = (
    "Runs a simulated hour (or --hours) of the crane at 60 Hz and of the suture at 1 kHz without waiting for ticks, "
    "round closed paths. Tells how far laps differ from each other, and how memory, objects, open files and shared "
    "memory grow by the hour. An hour takes half a minute for the crane and some 20 minutes for the suture."
)

CRANE_LAP, SUTURE_LAP = 60.0, 8.0  # s
DRAG = 0.2  # 1/s: the crane's swing forgets in some laps how it began
RATE = 1000.0  # Hz
COUPLING = sn.VirtualCoupling(stiffness=150.0, damping=0.5, rotational_stiffness=0.02, rotational_damping=2e-5)
LIMITS = Limits(force=10.0, torque=1.0, force_rate=1e5, torque_rate=1e4)
WARM = 0.2  # part of the laps after which growth is measured: caches and allocators have filled by then
DRIFT = 1e-5  # m, rad, N or part of a length that a finding may be after an hour
MEMORY = 2.0  # MB/h that a growth may seem to be: what the system's accounting of pages varies by


@dataclass(slots=True)
class Looks:
    """What the process holds after each lap: MB, objects, open files, maps of shared memory or of `folder`."""

    folder: str = "/dev/shm"
    hours: list[float] = field(default_factory=list)
    numbers: list[tuple[float, int, int, int]] = field(default_factory=list)

    def look(self, hours: float) -> None:
        """Look at this process after so many simulated `hours`."""
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        memory = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
        places = ("/dev/shm/", f"{self.folder}/")
        maps = Path("/proc/self/maps").read_text().splitlines()
        shared = sum(any(place in line for place in places) for line in maps)
        self.hours.append(hours)
        self.numbers.append((memory, len(gc.get_objects()), len(os.listdir("/proc/self/fd")), shared))


def growth(hours: FloatArray, numbers: FloatArray) -> FloatArray:
    """Slopes by the hour of the columns of `numbers` (n, k) over `hours` (n,), after the warm-up, by least squares."""
    first = min(int(WARM * len(hours)), max(len(hours) - 2, 0))
    x, y = np.asarray(hours, float)[first:], np.asarray(numbers, float)[first:]
    away = x - x.mean()
    spread = float(away @ away)
    return np.asarray(away @ (y - y.mean(axis=0)) / spread if spread > 0.0 else np.zeros(y.shape[1]))


class CraneLaps:
    """The crane on a closed manoeuvre: up, round, out; and all of it back."""

    seconds, unit = CRANE_LAP, "m"

    def __init__(self) -> None:
        self.crane = crane_demo.assemble()
        self.crane.scene.drag = DRAG
        self.crane.scene.settle()
        self.began = self._drives()
        self.ends: list[FloatArray] = []
        """At the end of each lap: places of hook and load, m; then length, angle and way of the drives."""
        self.failed = 0

    def lap(self) -> int:
        """One lap; returns its number of steps."""
        crane, steps = self.crane, round(CRANE_LAP / crane_demo.STEP)
        for k in range(steps):
            # speeds whose sums over a lap are zero
            turn = 2.0 * math.pi * (k + 0.5) / steps
            crane.hoist.drive(-0.6 * math.sin(turn))
            crane.slewing.motor_speed = 0.08 * math.sin(turn)
            crane.travel.motor_speed = 0.25 * math.sin(2.0 * turn)
            try:
                crane.scene.step(crane_demo.STEP)
            except sn.SolveError:
                self.failed += 1
        self.ends.append(np.concatenate((crane.hook.position, crane.load.position, self._drives())))
        return steps

    def _drives(self) -> FloatArray:
        crane = self.crane
        return np.array((crane.hoist.length, crane.slewing.angle, crane.travel.displacement))

    def findings(self) -> dict[str, float]:
        """How far the last lap ended from the one before, and the drives from where they began."""
        ends = np.array(self.ends)
        return {
            "hook and load, last lap against the one before, m": float(np.abs(ends[-1, :6] - ends[-2, :6]).max()),
            "drives against their beginning, m or rad": float(np.abs(ends[-1, 6:] - self.began).max()),
            "steps that failed": float(self.failed),
        }


class SutureLaps:
    """The suture's needle holder on its closed path, in ticks of the haptic loop."""

    seconds, unit = SUTURE_LAP, "N"

    def __init__(self, folder: str) -> None:
        ticks = round(SUTURE_LAP * RATE)
        poses = [suture_demo.grip(k / ticks) for k in range(ticks)]
        rows = np.array([(*pose.position, *pose.quaternion) for pose in poses])
        self.device = ScriptedDevice(rows, rate=RATE, repeat=True)
        gravity = np.array(suture_demo.GRAVITY)
        self.strand = suture_demo.thread()
        self.subject = StrandSubject(self.strand, suture_demo.base(), COUPLING, 1.0 / RATE, gravity)
        self.board = Board(Path(folder) / "board", make=True)
        self.engine = Engine(self.subject, self.device, self.board, period=1.0 / RATE, limits=LIMITS)
        self.subject.rehearse()
        self.before = np.zeros((0, 3))
        self.differences: list[float] = []
        """Largest difference of a lap's forces from those of the lap before, N."""
        self.lengths: list[float] = []
        """Of the thread at the end of each lap, over its length at rest, less 1."""

    def lap(self) -> int:
        """One lap; returns its number of ticks."""
        ticks = len(self.device.samples)
        for _ in range(ticks):
            self.engine.tick()
        forces = self.device.forces
        if len(self.before) == len(forces):
            self.differences.append(float(np.abs(forces - self.before).max()))
        self.before = forces
        assert self.subject.state is not None
        line = self.subject.state.positions
        steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
        self.lengths.append(float(steps.sum() / self.strand.length - 1.0))
        return ticks

    def findings(self) -> dict[str, float]:
        """How far the last lap's forces were from those of the lap before, and what the thread's length has done."""
        return {
            "forces, last lap against the one before, N": self.differences[-1] if self.differences else math.nan,
            "length of the thread, last lap against the first, of it": abs(self.lengths[-1] - self.lengths[0]),
            "ticks that failed": float(self.board.counts[FAILED]),
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--hours`` and ``--only``."""
    parser.add_argument("--hours", type=float, default=1.0, metavar="H", help="simulated hours of each; 1 by default")
    parser.add_argument("--only", choices=("crane", "suture"), help="run one of the two")


def run(progress: Progress) -> list[Sheet]:
    """An hour of both."""
    return _soak(progress, 1.0, ("crane", "suture"))


def run_with(progress: Progress, arguments: argparse.Namespace) -> list[Sheet]:
    """As asked for."""
    hours = validation.number("--hours", arguments.hours, positive=True)
    return _soak(progress, hours, ("crane", "suture") if arguments.only is None else (arguments.only,))


def _soak(progress: Progress, hours: float, names: tuple[str, ...]) -> list[Sheet]:
    columns = {"": "left", "figure": "right", "growth by the hour": "right"}
    sheets = []
    with tempfile.TemporaryDirectory(prefix="sennit-soak-") as folder:
        makers: dict[str, Callable[[], CraneLaps | SutureLaps]] = {
            "crane": CraneLaps,
            "suture": lambda: SutureLaps(folder),
        }
        for name in names:
            sheets.append(_laps(name, makers[name](), hours, columns, progress, folder))
    return sheets


def _laps(
    name: str, soaked: CraneLaps | SutureLaps, hours: float, columns: dict[str, str], progress: Progress, folder: str
) -> Sheet:
    laps = max(round(3600.0 * hours / soaked.seconds), 3)
    looks = Looks(folder)
    steps, begin = 0, time.perf_counter()
    for k in range(laps):
        steps += soaked.lap()
        looks.look((k + 1) * soaked.seconds / 3600.0)
        progress(f"{name}: lap {k + 1} of {laps}", (k + 1) / laps)
    took = time.perf_counter() - begin
    simulated = laps * soaked.seconds
    sheet = Sheet(f"Soak of the {name}: {laps} laps of {soaked.seconds:g} s, {steps:,} steps", columns)
    sheet.add("simulated time over wall time", f"{simulated / took:.3g}", "")
    findings = soaked.findings()
    for what, value in findings.items():
        sheet.add(what, f"{value:.3g}", "")
    rates = growth(np.array(looks.hours), np.array(looks.numbers))
    for what, last, rate in zip(("memory, MB", "objects", "open files", "shared memory, maps"), looks.numbers[-1],
                                rates, strict=True):  # fmt: skip
        sheet.add(what, f"{last:.6g}", f"{rate:+.3g}")
    sheet.aim("growth of memory, MB/h", float(rates[0]), at_most=MEMORY * max(1.0, 1.0 / hours))
    sheet.aim("growth of open files, 1/h", float(rates[2]), at_most=0.0)
    sheet.aim("growth of maps, 1/h", float(rates[3]), at_most=0.0)
    for what, value in findings.items():
        sheet.aim(what, value, at_most=0.0 if what.endswith("failed") else DRIFT * max(1.0, hours))
    sheet.data = {"findings": findings, "growth_per_hour": rates.tolist(), "seconds": took, "steps": steps}
    return sheet
