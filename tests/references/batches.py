"""Scenes by themselves and the same ones in a batch: the bits of both.

A scene of a family (`references.played_scenes`) is built twice. One is driven and stepped as users do; of the other a
batch is made, to which what the drive has set is told.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from unit.scene import kit

import sennit as sn
from references.played_scenes import FAMILIES, SCHEMES, STEPS
from references.touching_families import TOUCHING


def drawn(family: str, seed: int) -> tuple[Any, float]:
    """Scene number `seed` of a family with its scheme, and its step, s."""
    random = Random(f"{family} {seed}")
    played = FAMILIES[family](random)
    dt, played.scene.integrator = random.choice(STEPS), random.choice(SCHEMES)
    return played, min(dt, 1 / 60) if family in TOUCHING else dt


def tell(batch: Any, scene: sn.Scene, driven: sn.Scene) -> None:
    """Set in the batch, by the things of `scene`, what has been set in `driven`."""
    for thing, other in zip(scene.constraints, driven.constraints, strict=True):
        place = getattr(other, "target", None)
        if isinstance(place, np.ndarray) and place.shape == (3,) and not isinstance(other, sn.Follow):
            batch.set(thing, "target", place)
        if getattr(other, "driven", False):
            batch.set(thing, "motor_speed", other.motor_speed)
        if isinstance(other, sn.Cable):
            batch.set(thing, "speed", other._tables.cables.winch_speed[0])
        if other.enabled != bool(batch.read(thing, "enabled")[0]):
            batch.set(thing, "enabled", other.enabled)
    for load, other in zip(scene.loads, driven.loads, strict=True):
        batch.set(load, "force", other.force)


def differing(family: str, seed: int, *, steps: int, count: int = 3, threads: int = 2) -> tuple[str, sn.Batch]:
    """Where a batch and a scene by itself part, in words; "" if nowhere."""
    (first, dt), (second, _) = drawn(family, seed), drawn(family, seed)
    batch = sn.Batch(first.scene, count, threads=threads)
    second.scene._compiled()  # as the batch has seen the scene
    for k in range(steps):
        if second.drive is not None:
            second.drive(second.scene.time)
            tell(batch, first.scene, second.scene)
        try:
            second.scene.step(dt)
        except (sn.InputError, sn.SolveError) as problem:
            batch.step(dt)
            return ("" if set(batch.failures.values()) == {str(problem)} else f"{problem}, {batch.failures}"), batch
        batch.step(dt)
        q = second.scene._system.model.motion.q
        for i in range(count):
            if not np.array_equal(batch.q[i], q):
                return f"{family} {seed}, step {k}, scene {i}: {np.abs(batch.q[i] - q).max():.3g}", batch
    last = batch.scene(count - 1)
    if kit.bits(last) != kit.bits(second.scene):
        return f"{family} {seed}: the state differs", batch
    told = [[(e.time, e.kind, len(e.subjects), e.steps) for e in s.events] for s in (last, second.scene)]
    return ("" if told[0] == told[1] else f"{family} {seed}: events {told}"), batch
