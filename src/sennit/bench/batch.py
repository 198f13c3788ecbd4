"""Many scenes at once: scene steps a second against their number, in a loop, in processes and in a batch."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

import sennit as sn
from sennit.bench import step as small
from sennit.bench.batch_peer import beside_mujoco
from sennit.bench.table import Case, Progress, Table, measure

__all__ = ["DESCRIPTION", "SUBJECTS", "run"]

DESCRIPTION = (
    "Times many scenes: a rope whose hand moves, a bridge, a crane, a rope on a table. In a loop over scenes, in as "
    "many processes as there are cores, and in a `Batch` with one thread and with all; building and resetting a batch. "
    "Where MuJoCo is installed (sennit[bench]), a led rope in batches of both, at equal error."
)
STEPS = 20
"""Steps in one sample."""
LARGEST = 256
"""Scenes in the largest batch that is timed: the figures hardly change beyond."""

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


def run(progress: Progress) -> list[Table]:
    """Time everything: one or two minutes, and the compilation on top of it the first time."""
    tables = [steps(progress, name, (1, 16, LARGEST)) for name in SUBJECTS]
    tables.append(building(progress, LARGEST))
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


def _in_process(name: str, count: int) -> None:
    """What a worker does: its scenes are made once."""
    own = _own.setdefault(name, [])
    while len(own) < count:
        own.append(SUBJECTS[name]())
        _warm(*own[-1])
    _loop(own[:count])


def _batch(subject: Subject, count: int, threads: int) -> Callable[[], None]:
    scene, hand, dt = subject()
    _warm(scene, hand, dt)
    batch = sn.Batch(scene, count, threads=threads)

    def make() -> None:
        if hand is None:
            batch.step(dt, STEPS)
            return
        for k in range(STEPS):
            batch.set(hand, "target", _place(k))
            batch.step(dt)

    return make


def steps(progress: Progress, name: str, counts: tuple[int, ...], samples: int = 12, seconds: float = 8.0) -> Table:
    """A step of one scene of many."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    subject = SUBJECTS[name]
    few = min(max(counts), 16)
    scenes = [subject() for _ in range(few)]
    for each in scenes:
        _warm(*each)
    cases = [Case(f"loop over {few}", partial(_loop, scenes), per=few * STEPS)]
    for count in counts:
        for threads in sorted({1, cores}):
            if threads == 1 or count > 1:
                make = _batch(subject, count, threads)
                cases.append(Case(f"batch of {count}, {threads} threads", make, per=count * STEPS))
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        share = max(few // cores, 1)

        def processes() -> None:
            for done in [pool.submit(_in_process, name, share) for _ in range(cores)]:
                done.result()

        processes()
        cases.append(Case(f"{cores} processes", processes, per=cores * share * STEPS))
        title = f"{name}: a step of one of many scenes"
        table = measure(title, cases, per="scene step", samples=samples, seconds=seconds, progress=progress)
    table = Table(title, table.rows, baseline=table.rows[0].name, per="scene step")
    best = min(table.rows, key=lambda row: row.median)
    table.notes.append(f"best: {best.name}, {1.0 / best.median:,.0f} scene steps a second")
    return table


def building(progress: Progress, count: int, samples: int = 8) -> Table:
    """Building a batch, and letting all or a tenth of its scenes begin again: for one scene."""
    scene, hand, dt = rope()
    _warm(scene, hand, dt)
    batch = sn.Batch(scene, count)
    few = np.arange(count) % 10 == 0
    made: list[sn.Batch] = []

    def build() -> None:
        made[:] = [sn.Batch(scene, count)]

    cases = [
        Case("building", build, per=count),
        Case("reset of all", batch.reset, per=count, prepare=lambda: batch.step(dt)),
        Case("reset of a tenth", lambda: batch.reset(few), per=int(few.sum()), prepare=lambda: batch.step(dt)),
        Case("saving", batch.save, per=count),
        Case("a step", lambda: batch.step(dt), per=count),
    ]
    return measure(f"a batch of {count} ropes", cases, per="scene", samples=samples, seconds=5.0, progress=progress)
