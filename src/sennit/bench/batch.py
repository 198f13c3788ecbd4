"""Many scenes at once: scene steps a second against their number, in a loop, in processes and in a batch."""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

import sennit as sn
from sennit.bench import step as small
from sennit.bench.batch_card import hair_on_card, on_card
from sennit.bench.batch_cores import by_threads, cores
from sennit.bench.batch_peer import beside_mujoco
from sennit.bench.table import Case, Progress, Seconds, Table, measure

__all__ = ["DESCRIPTION", "SUBJECTS", "add_arguments", "run", "run_with"]

DESCRIPTION = (
    "Times many scenes: a rope whose hand moves, a bridge, a crane, a rope on a table. In a loop over scenes, in as "
    "many processes as there are cores, and in a `Batch` with one thread and with all; building and resetting a batch, "
    "setting and varying. By the clock, and by the time of all processors, which other programs disturb less. "
    "Where MuJoCo is installed (sennit[bench]), a led rope in batches of both, at equal error. With --device cuda: "
    "ropes, ropes on a table, cranes and hair on a graphics card, from 1 to a million, in two layouts of memory, "
    "beside what it could do at best."
)
STEPS = 20
"""Steps in one sample."""
LARGEST = 256
"""Scenes in the largest batch whose steps are timed: the figures hardly change beyond."""
MOST = 4096
"""Scenes in the batch whose building, resets and settings are timed."""

Subject = Callable[[], tuple[sn.Scene, Any, float]]


def rope() -> tuple[sn.Scene, Any, float]:
    """20 control points, clamped at one end, held by a hand that is led: the scene, the hand, its step (s)."""
    scene = sn.Scene()
    hemp = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.02)
    section = sn.Section.circle(5e-3)
    rod = scene.add(sn.Rod.straight((0, 0, 0.5), (1, 0, 0.5), section=section, material=hemp, control_points=20))
    scene.add(sn.Clamp(rod.at(0)))
    return scene, scene.add(sn.Fix(rod.at(rod.length))), 5e-3


def bridge() -> tuple[sn.Scene, Any, float]:
    """The bridge of the demonstration, loaded."""
    return small.loaded_bridge(), None, 5e-3


def crane() -> tuple[sn.Scene, Any, float]:
    """The crane of the demonstration, its load hanging."""
    return small.crane_at_rest(), None, 1e-2


def rope_on_table() -> tuple[sn.Scene, Any, float]:
    """A rope that lies on a table, with friction."""
    scene = sn.Scene()
    hemp = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.02)
    rod = sn.Rod.straight((0, 0, 0.006), (1, 0, 0.006), section=sn.Section.circle(5e-3), material=hemp,
                          control_points=20)  # fmt: skip
    scene.add(rod)
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    scene.collide(friction=0.4)
    return scene, None, 5e-3


SUBJECTS: dict[str, Subject] = {"rope": rope, "bridge": bridge, "crane": crane, "rope on a table": rope_on_table}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``sennit bench batch``."""
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="what makes the steps")
    parser.add_argument(
        "--most", metavar="B", type=int, default=1_000_000, help="on a card: scenes of the largest batch"
    )


def run_with(progress: Progress, arguments: argparse.Namespace) -> list[Table]:
    """Time everything on the processor, or what a graphics card makes, by both types of numbers."""
    if arguments.device == "cpu":
        return run(progress)
    counts = [10**k for k in range(7) if 10**k <= arguments.most]
    dtypes = "float64", "float32"
    names = "rope", "rope on a table", "crane"
    scenes = [on_card(progress, name, SUBJECTS[name], counts, dtype) for name in names for dtype in dtypes]
    return scenes + [hair_on_card(progress, [n for n in counts if n >= 1000] or counts, dtype) for dtype in dtypes]


def run(progress: Progress) -> list[Table]:
    """Time everything: one or two minutes, and the compilation on top of it the first time."""
    tables = [steps(progress, name, (1, 16, LARGEST)) for name in SUBJECTS]
    if cores() > 1:
        tables += [by_threads(name, partial(_batch, subject), STEPS, progress) for name, subject in SUBJECTS.items()]
    tables.append(building(progress, MOST))
    tables.append(hair(progress, (64, 1024, 8192)))
    if importlib.util.find_spec("mujoco") is not None:
        tables.append(beside_mujoco(progress))
    return tables


def _warm(scene: sn.Scene, hand: Any, dt: float) -> None:
    if hand is not None:
        hand.target = (0.95, 0.0, 0.5)
    for _ in range(40):
        scene.step(dt)


def _loop(scenes: list[tuple[sn.Scene, Any, float]]) -> None:
    for k in range(STEPS):
        for scene, hand, dt in scenes:
            if hand is not None:
                hand.target = _place(k)
            scene.step(dt)


def _place(k: int) -> tuple[float, float, float]:
    angle = 2.0 * np.pi * k / 200
    return 0.95 + 0.01 * float(np.cos(angle)) - 0.01, 0.01 * float(np.sin(angle)), 0.5


_own: dict[str, list[tuple[sn.Scene, Any, float]]] = {}
"""Scenes of this process, by their subject."""


def _in_process(name: str, count: int) -> float:
    """What a worker does: its scenes are made once. Returns its processor time, s."""
    own = _own.setdefault(name, [])
    while len(own) < count:
        own.append(SUBJECTS[name]())
        _warm(*own[-1])
    begin = time.process_time()
    _loop(own[:count])
    return time.process_time() - begin


class _Timed:
    """A call whose processor time is noted besides: of all threads, or what a call tells that has others do it."""

    def __init__(self, name: str, call: Callable[[], object], per: int, prepare: Any = None) -> None:
        self._call = call
        self.case = Case(name, self, per=per, prepare=prepare)
        self._spent: list[float] = []

    def __call__(self) -> None:
        begin = time.process_time()
        told = self._call()
        self._spent.append(told if isinstance(told, float) else time.process_time() - begin)

    @property
    def spent(self) -> float:
        """Of the call that took least, for one scene, s."""
        return min(self._spent) / self.case.per


def _with_processors(table: Table, timed: list[_Timed]) -> Table:
    """The table with a column of processor time."""
    own = {each.case.name: Seconds(each.spent) for each in timed}
    rows = [replace(row, values={"processors": own[row.name]}) for row in table.rows]
    return Table(table.title, rows, baseline=table.baseline, per=table.per)


def _batch(subject: Subject, count: int, threads: int, led: bool = False) -> Callable[[], None]:
    """Steps of a batch; a hand is set before each of them, or `led` through all in one call."""
    scene, hand, dt = subject()
    _warm(scene, hand, dt)
    batch = sn.Batch(scene, count, threads=threads)
    turns = [1]

    def make() -> None:
        if led:
            batch.set(hand, "target", _place(STEPS * sum(turns)))
            turns.append(1)
        if led or hand is None:
            batch.step(dt, STEPS)
            return
        for k in range(STEPS):
            batch.set(hand, "target", _place(k))
            batch.step(dt)

    return make


def steps(progress: Progress, name: str, counts: tuple[int, ...], samples: int = 12, seconds: float = 8.0) -> Table:
    """A step of one scene of many."""
    processors = cores()
    subject = SUBJECTS[name]
    few = min(max(counts), 16)
    scenes = [subject() for _ in range(few)]
    for each in scenes:
        _warm(*each)
    timed = [_Timed(f"loop over {few}", partial(_loop, scenes), few * STEPS)]
    for count in counts:
        for threads in sorted({1, processors}):
            if threads == 1 or count > 1:
                make = _batch(subject, count, threads)
                timed.append(_Timed(f"batch of {count}, {threads} threads", make, count * STEPS))
    if scenes[0][1] is not None:
        count = max(counts)
        make = _batch(subject, count, 1, led=True)
        timed.append(_Timed(f"batch of {count}, 1 threads, {STEPS} steps a call", make, count * STEPS))
    with ProcessPoolExecutor(processors, mp_context=get_context("spawn")) as pool:
        share = max(few // processors, 1)

        def processes() -> float:
            return sum(done.result() for done in [pool.submit(_in_process, name, share) for _ in range(processors)])

        processes()
        timed.append(_Timed(f"{processors} processes", processes, processors * share * STEPS))
        title = f"{name}: a step of one of many scenes"
        cases = [each.case for each in timed]
        table = measure(title, cases, baseline=cases[0].name, per="scene step", samples=samples, seconds=seconds,
                        progress=progress)  # fmt: skip
    table = _with_processors(table, timed)
    best = min(timed, key=lambda each: each.spent)
    table.notes.append(
        f"least processor time: {best.case.name}, {1.0 / best.spent:,.0f} scene steps a second of a core"
    )
    return table


def hair(progress: Progress, counts: Sequence[int]) -> Table:
    """A step of a rod of hair of 20 control points that hangs, by all cores, and of a scene of one such rod."""
    keratin, wisp = sn.Material(2e7, 0.4, 1300.0, relaxation_time=0.02), sn.Section.circle(5e-4)
    ball, cases = sn.Sphere((0.0, 0.0, 0.0), 0.1), []
    for count in counts:
        ways = np.random.default_rng(0).normal(size=(count, 3))
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        for name, head in (("free", ()), ("on a ball", (ball,))):
            made = sn.Hair(0.1 * ways, ways, length=0.25, section=wisp, material=keratin, head=head)
            made.step(1.0 / 60.0, 240)  # it hangs
            cases.append(Case(f"{count} rods, {name}", partial(made.step, 1.0 / 60.0, STEPS), per=count * STEPS))
    scene = sn.Scene(drag=1.0)
    rod = scene.add(sn.Rod.straight((0, 0, 0), (0, 0, -0.25), section=wisp, material=keratin, control_points=20))
    scene.add(sn.Clamp(rod.at(0.0)))
    scene.run(4.0, dt=1.0 / 60.0)
    cases.append(Case("a scene of one", lambda: scene.run(STEPS / 60.0, dt=1.0 / 60.0), per=STEPS))
    return measure("hair: a step of one rod", cases, per="rod step", samples=8, seconds=3.0, progress=progress)


def building(progress: Progress, count: int, samples: int = 8) -> Table:
    """Building a batch, letting all or some of its scenes begin again, setting and varying: for one scene."""
    scene, hand, dt = rope()
    rod = scene.bodies[0]
    _warm(scene, hand, dt)
    batch = sn.Batch(scene, count)
    made: list[sn.Batch] = []
    places, moduli = np.tile(_place(0), (count, 1)), np.full(count, 1e7)

    def build() -> None:
        made[:] = [sn.Batch(scene, count)]

    def step() -> None:
        batch.step(dt)

    tenth, one = np.arange(0, count, 10), np.array([count // 2])
    timed = [
        _Timed("building", build, count),
        _Timed("reset of all", batch.reset, count, step),
        _Timed("reset of a tenth", partial(batch.reset, tenth), len(tenth), step),
        _Timed("reset of one", partial(batch.reset, one), 1, step),
        _Timed("save", batch.save, count),
        _Timed("set of targets", lambda: batch.set(hand, "target", places), count),
        _Timed("set of a switch", lambda: batch.set(hand, "enabled", True), count),
        _Timed("vary of a stiffness", lambda: batch.vary(rod, "youngs_modulus", moduli), count),
        _Timed("a step", step, count),
    ]
    cases = [each.case for each in timed]
    table = measure(f"a batch of {count} ropes", cases, per="scene", samples=samples, seconds=20.0, progress=progress)
    table = _with_processors(table, timed)
    spent = {each.case.name: each.spent for each in timed}
    table.aim("building, s of processor time", count * spent["building"], at_most=0.2)
    table.aim("reset of all over a step", spent["reset of all"] / spent["a step"], at_most=0.05)
    return table
