"""Batches and hair on a graphics card: steps a second against their number, in both layouts, beside what a card can do.

Two floors are told: the time in which the card copies the numbers of all scenes once, and that in which it does the
arithmetic of a step, if it did nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import sennit as sn
from sennit.batch.device import CardBatch
from sennit.batch.near import NearBatch
from sennit.bench.table import Case, Progress, Seconds, Table, measure
from sennit.errors import InputError
from sennit.gpu_driver import Device, DeviceError

__all__ = ["hair_on_card", "on_card"]

STEPS = 20
"""Steps of a call."""
WORK = 2e5
"""Products and sums of a step of a led rope of 20 control points: counted in a prototype, to a factor of two."""
GENERAL, HAIR = 2.5e6, 1e7
"""Aims: ropes, and free rods of hair in float32, stepped a second."""
LAYOUTS: dict[str, type[CardBatch]] = {"in rows": CardBatch, "brought near": NearBatch}

Subject = Callable[[], tuple[sn.Scene, Any, float]]


def on_card(
    progress: Progress, name: str, subject: Subject, counts: Sequence[int], dtype: str, seconds: float = 20.0
) -> Table:  # fmt: skip
    """A scene step of many, in calls of `STEPS`, through which a hand is led if there is one; and how far scenes are
    from those of the processor.
    """
    device = Device()
    scene, hand, dt = subject()
    _settle(scene, hand, dt)
    cases: list[Case] = []
    notes: list[str] = []
    for count in counts:
        for layout, kind in LAYOUTS.items():
            try:
                batch = kind(scene, count, device="cuda", dtype=dtype)
                step = _led(batch, hand, dt)
                step()
            except (InputError, DeviceError) as problem:
                notes.append(f"{count} {layout}: {problem}")
                continue
            function = batch._program()
            floor = 2 * 8 * batch._main.size / _copied_a_second(device)
            values: dict[str, Any] = {"memory's floor": Seconds(floor)}
            if hand is not None:
                values["arithmetic's"] = Seconds(WORK / _arithmetic_a_second(device, dtype))
            values |= {"registers": float(function.registers), "own bytes": float(function.local_bytes)}
            cases.append(Case(f"{count} {layout}", step, per=count * STEPS, values=values))
    if not cases:
        raise InputError(f"nothing can be timed on {device.name}: {'; '.join(notes)}")
    table = measure(f"{name} on {device.name}, {dtype}: a step of one", cases, per="scene step", samples=6,
                    seconds=seconds, progress=progress)  # fmt: skip
    table.notes.extend(notes)
    table.notes.append(f"places after 300 steps: {_off(subject, dtype):.1e} m from the processor's")
    if hand is not None:
        table.aim("scene steps a second", 1.0 / min(row.median for row in table.rows), at_least=GENERAL)
    return table


def _settle(scene: sn.Scene, hand: Any, dt: float) -> None:
    """What nobody leads comes to rest: what first touches is looked at in Python, one scene after the other."""
    if hand is None:
        scene.run(40 * dt, dt)


def _led(batch: Any, hand: Any, dt: float) -> Callable[[], None]:
    if hand is None:
        return partial(batch.step, dt, STEPS)
    turn = [0]
    phases = np.linspace(0.0, 2.0 * np.pi, batch.count, endpoint=False)

    def step() -> None:
        turn[0] += 1
        angle = phases + 0.6 * turn[0]
        batch.set(hand, "target", np.column_stack((0.94 + 0.01 * np.cos(angle), 0.01 * np.sin(angle), 0.5 + 0 * angle)))
        batch.step(dt, STEPS)

    return step


def _off(subject: Subject, dtype: str) -> float:
    """How far places on the card are from those of the processor after 15 calls, m, at most."""
    scene, hand, dt = subject()
    _settle(scene, hand, dt)
    card, own = sn.Batch(scene, 8, device="cuda", dtype=dtype), sn.Batch(scene, 8)
    for batch in (card, own):
        step = _led(batch, hand, dt)
        for _ in range(15):
            step()
    return float(np.abs(np.asarray(card.q) - own.q).max())


def _copied_a_second(device: Device, nbytes: int = 1 << 28) -> float:
    """Bytes that the card reads or writes in a second."""
    first, second = device.memory(nbytes), device.memory(nbytes)
    times = []
    for _ in range(4):
        with device.clock() as clock:
            first.copy_from(second)
        times.append(clock.seconds)
    return 2 * nbytes / min(times)


def _arithmetic_a_second(device: Device, dtype: str) -> float:
    """Products and sums that the card's processors do in a second, by NVIDIA's table of their units."""
    major, minor = device.capability
    if dtype == "float32":
        units = 64 if (major, minor) in ((7, 0), (7, 5), (8, 0)) else 128
    else:
        units = {(7, 0): 32, (8, 0): 32, (9, 0): 64, (10, 0): 64}.get((major, minor), 2)
    return 2.0 * units * device.processors * device.clock_rate


def hair_on_card(progress: Progress, counts: Sequence[int], dtype: str, seconds: float = 10.0) -> Table:
    """A step of a rod of hair of 20 control points: free, on a ball, and on a grid of distances."""
    keratin, wisp = sn.Material(2e7, 0.4, 1300.0, relaxation_time=0.02), sn.Section.circle(5e-4)
    ball = sn.Sphere((0.0, 0.0, 0.0), 0.1)
    heads: dict[str, Any] = {"free": (), "on a ball": (ball,), "on a grid": (sn.DistanceGrid.of(ball, 0.01),)}
    cases = []
    for count in counts:
        ways = np.random.default_rng(0).normal(size=(count, 3))
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        for name, head in heads.items():
            made = sn.Hair(0.1 * ways, ways, length=0.25, section=wisp, material=keratin, head=head, device="cuda",
                           dtype=dtype)  # fmt: skip
            made.step(1.0 / 60.0, 120)  # it hangs
            cases.append(Case(f"{count} rods, {name}", partial(made.step, 1.0 / 60.0, STEPS), per=count * STEPS))
    table = measure(f"hair on {Device().name}, {dtype}: a step of one rod", cases, per="rod step", samples=6,
                    seconds=seconds, progress=progress)  # fmt: skip
    free = min(row.median for row in table.rows if row.name.endswith("free"))
    table.aim("free rods stepped a second", 1.0 / free, at_least=HAIR)
    return table
