"""How long a step takes, one by one and in a run, and what of it is Python and which part of the kernel the rest.

A run is one compiled call for many steps; between two single steps there are Python and the hand-over. The parts of the
kernel are asked for one by one (`march` takes them as a sum), so that each is timed with the hand-over, which is taken
off again: that of a call that does nothing. Of the solve, `march` can be asked to stop after the factors, and these can
be made by themselves: what is left is assembly before them and rows after them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import sennit as sn
from sennit.bench.micado import OWN
from sennit.bench.table import Case, Progress, Seconds, Table, measure
from sennit.demos import bridge, crane
from sennit.linalg.kernels.ldlt import factorise
from sennit.solve.kernels.codes import ACCEPT, JUDGE, KEEP, PREDICT, SOLVE
from sennit.solve.kernels.entries import march

__all__ = ["DESCRIPTION", "run"]

DESCRIPTION = (
    "Times a step of small scenes, a crane and a bridge: in `Scene.run`, in `Scene.step`, and in the parts of the "
    "kernel (prediction, assembly, factors, rows, judgement, acceptance). And what it costs to read a result."
)
STEPS = 200
"""Steps in one run that is timed."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A scene, its step (s), and the times that are aimed at, in a run and one by one (s)."""

    build: Callable[[], sn.Scene]
    dt: float
    in_run: float
    in_step: float


def pendulum() -> sn.Scene:
    """A ball on an arm."""
    scene = sn.Scene()
    body = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(1.0, 0.0, 0.0)))
    scene.add(sn.Ball(body.at((-1.0, 0.0, 0.0)), sn.World.at((0.0, 0.0, 0.0))))
    return scene


def hoist() -> sn.Scene:
    """1,000 kg on 4 m of steel cable."""
    scene = sn.Scene()
    load = scene.add(sn.RigidBody.sphere(0.3, mass=1000.0, position=(0.4, 0.0, -4.0)))
    steel = sn.Material(youngs_modulus=200e9, poisson_ratio=0.3, density=7850)
    scene.add(sn.Cable([sn.World.at((0, 0, 0)), load.at()], sn.Section.circle(5e-3), steel, torsion=False))
    return scene


def atwood() -> sn.Scene:
    """Two weights on a cable over a sheave."""
    scene = sn.Scene()
    a = scene.add(sn.RigidBody.sphere(0.1, mass=10.0, position=(-0.2, 0.0, 0.0)))
    b = scene.add(sn.RigidBody.sphere(0.1, mass=10.5, position=(0.2, 0.0, 0.0)))
    wheel = sn.Sheave(sn.World.at((0.0, 0.0, 500.0)), axis=(0, 1, 0), radius=0.2)
    steel = sn.Material(youngs_modulus=200e9, poisson_ratio=0.3, density=7850)
    scene.add(sn.Cable([a.at(), wheel, b.at()], sn.Section.circle(5e-3), steel))
    return scene


def rope(points: int) -> sn.Scene:
    """A metre of rope, clamped at one end."""
    scene = sn.Scene(drag=0.5)
    hemp = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.02)
    section = sn.Section.circle(radius=8e-3)
    rod = scene.add(sn.Rod.straight((0, 0, 1), (1, 0, 1), section=section, material=hemp, control_points=points))
    scene.add(sn.Clamp(rod.at(0)))
    return scene


def crane_at_rest() -> sn.Scene:
    """The crane of the demonstration, its load hanging."""
    scene = crane.assemble().scene
    scene.settle()
    return scene


def loaded_bridge() -> sn.Scene:
    """The bridge of the demonstration, with loads on its planks."""
    built = bridge.assemble()
    built.scene.settle()
    for pair in built.loads:
        for load in pair:
            load.force = (0.0, 0.0, -40.0)
    return built.scene


SUBJECTS: dict[str, Subject] = {
    "pendulum": Subject(pendulum, 1e-2, 1.1e-6, 2.5e-6),
    "hoist": Subject(hoist, 1e-2, 1.5e-6, 3e-6),
    "Atwood": Subject(atwood, 1e-3, 3e-6, 5e-6),
    "rope 10": Subject(lambda: rope(10), 5e-3, 9e-6, 11e-6),
    "rope 20": Subject(lambda: rope(20), 5e-3, 11e-6, 13e-6),
    "rope 50": Subject(lambda: rope(50), 5e-3, 30e-6, 32e-6),
    "crane": Subject(crane_at_rest, 1e-2, 12.5e-6, 14e-6),
    "bridge": Subject(loaded_bridge, 5e-3, 45e-6, 47e-6),
}


def run(progress: Progress) -> list[Table]:
    """Time everything; about a minute, and the compilation on top of it the first time."""
    subjects = {name: Timed(subject) for name, subject in SUBJECTS.items()}
    return [steps(progress, subjects), parts(progress, subjects), readings(progress)]


class Timed:
    """A scene as something to time: runs, single steps, and parts of the kernel."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.scene = subject.build()
        self.scene.run(0.5, dt=subject.dt)
        self.start = self.scene.snapshot()
        self.own: dict[str, list[float]] = {"run": [], "step": []}

    def back(self) -> None:
        """Go back to the start, and make a step: outside the clock."""
        self.scene.restore(self.start)
        self.scene.run(3 * self.subject.dt, dt=self.subject.dt)

    def make_run(self) -> None:
        """Many steps in a run."""
        begin = time.thread_time()
        self.scene.run(STEPS * self.subject.dt, dt=self.subject.dt)
        self.own["run"].append((time.thread_time() - begin) / STEPS)

    def make_steps(self) -> None:
        """Many single steps."""
        step, dt = self.scene.step, self.subject.dt
        begin = time.thread_time()
        for _ in range(STEPS):
            step(dt)
        self.own["step"].append((time.thread_time() - begin) / STEPS)

    def part(self, parts: int, look: bool = False) -> float:
        """Median time of some parts of the kernel, s, after those before them were made. `look`: up to the factors."""
        table: Any = self.scene._compiled().system.plan(False).scene
        before = {PREDICT: KEEP, SOLVE: KEEP + PREDICT, JUDGE: KEEP + PREDICT + SOLVE}
        before[ACCEPT] = KEEP + PREDICT + SOLVE + JUDGE
        taken = []
        for _ in range(STEPS):
            if parts:
                march(before[parts], 1, table)
            table.settings.look[0] = look
            begin = time.perf_counter()
            march(parts, 1, table)
            taken.append(time.perf_counter() - begin)
            if look:
                table.settings.look[0] = 0
                march(parts, 1, table)
            if parts and parts != ACCEPT:
                rest = [p for p in (PREDICT, SOLVE, JUDGE, ACCEPT) if p > parts]
                march(sum(rest), 1, table)
        return float(np.median(taken))

    def factors(self) -> float:
        """Median time of the factors of the matrix, s."""
        table: Any = self.scene._compiled().system.plan(False).scene
        plan, matrix = table.plan, table.matrix
        taken = []
        for _ in range(STEPS):
            begin = time.perf_counter()
            factorise(plan, matrix.values, matrix.factor, matrix.diagonal, matrix.ratio)
            taken.append(time.perf_counter() - begin)
        return float(np.median(taken))


def steps(progress: Progress, subjects: dict[str, Timed], samples: int = 60) -> Table:
    """A step of each scene in a run and alone."""
    cases = []
    for name, timed in subjects.items():
        cases.append(Case(f"{name}, run", timed.make_run, per=STEPS, prepare=timed.back))
        cases.append(Case(f"{name}, step", timed.make_steps, per=STEPS, prepare=timed.back))
    title = "A step, in a run and one by one"
    table = measure(title, cases, per="step", samples=samples, seconds=25.0, progress=progress)
    rows = []
    for row in table.rows:
        name, way = row.name.split(", ")
        rows.append(replace(row, values={"own": Seconds(np.median(subjects[name].own[way]))}))
    table = Table(title, rows, per="step")
    for name, timed in subjects.items():
        for way, goal in (("run", timed.subject.in_run), ("step", timed.subject.in_step)):
            table.aim(f"{name}, {way}, µs", 1e6 * float(np.median(timed.own[way])), at_most=1e6 * goal)
    table.notes.append(OWN)
    return table


def parts(progress: Progress, subjects: dict[str, Timed]) -> Table:
    """Where a step's time goes."""
    rows = []
    for k, (name, timed) in enumerate(subjects.items()):
        progress("parts of a step", k / len(subjects))
        timed.back()
        nothing = timed.part(0)
        took = {part: max(timed.part(code) - nothing, 0.0) for part, code in _PARTS.items()}
        looked, factor = max(timed.part(SOLVE, look=True) - nothing, 0.0), max(timed.factors() - nothing, 0.0)
        solve = {"assemble": max(looked - factor, 0.0), "factor": factor, "rows": max(took.pop("solve") - looked, 0.0)}
        spent = {"predict": took.pop("predict")} | solve | took
        whole = float(np.median(timed.own["step"])) if timed.own["step"] else 0.0
        case = Case(name, timed.make_steps, per=STEPS, prepare=timed.back)
        (row,) = measure("parts", [case], per="step", samples=5, seconds=2.0, progress=lambda *_: None).rows
        values: dict[str, float | str] = {part: Seconds(seconds) for part, seconds in spent.items()}
        values |= {"hand-over": Seconds(nothing), "Python": Seconds(max(whole - nothing - sum(spent.values()), 0.0))}
        rows.append(replace(row, values=values))
    table = Table("Parts of a single step", rows, per="step")
    table.notes.append("Rows: with a second turn, where forces want one. Hand-over: a call that does nothing.")
    return table


_PARTS = {"predict": PREDICT, "solve": SOLVE, "judge": JUDGE, "accept": ACCEPT}


def readings(progress: Progress, samples: int = 300) -> Table:
    """What it costs to read a result."""
    scene = rope(20)
    rod: Any = scene.bodies[0]
    clamp: Any = scene.constraints[0]
    pearl = scene.add(sn.Pearl(rod, at=0.5, mass=0.01, radius=0.01))
    end = rod.at(rod.length)
    scene.run(0.1, dt=5e-3)
    thread = sn.Strand(0.25, sn.Section.circle(2e-4), sn.Material(2.7e9, 0.39, 1150), nodes=51)
    state = thread.solve(base=sn.Pose(), tip_force=(0.0, 1e-4, 0.0), gravity=(0.0, 0.0, -9.81))
    cases = [
        Case("constraint.force", lambda: clamp.force, repeat=20),
        Case("point.position", lambda: end.position, repeat=20),
        Case("rod.control_points", lambda: rod.control_points, repeat=20),
        Case("pearl.s", lambda: pearl.s, repeat=20),
        Case("scene.energy", lambda: scene.energy, repeat=20),
        Case("scene.report", lambda: scene.report, repeat=20),
        Case("state.positions", lambda: state.positions, repeat=20),
        Case("state.tip_force", lambda: state.tip_force, repeat=20),
        Case("state.energy", lambda: state.energy, repeat=20),
        Case("state.tip_pose", lambda: state.tip_pose, repeat=20),
    ]
    table = measure("Reading a result", cases, per="call", samples=samples, seconds=5.0, progress=progress)
    for row in table.rows:
        table.aim(f"{row.name}, µs", 1e6 * row.median, at_most=5.0 if row.name == "pearl.s" else 10.0)
    return table
