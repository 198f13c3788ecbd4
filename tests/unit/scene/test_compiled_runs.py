"""`Scene.run` makes many steps in one compiled call: the same bits, times and events as one step after the other."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from references.played_scenes import FAMILIES

import sennit as sn

STEPS = 60
STILL = [name for name, build in FAMILIES.items() if build(Random(name)).drive is None]
"""Families in which nothing is driven between steps."""


def state(scene: sn.Scene) -> bytes:
    """Every number that steps change."""
    return b"".join(array.tobytes() for array in scene._compiled().system.kept())


@pytest.mark.parametrize("scheme", ["euler", "bdf2", "midpoint", "fourth"])
@pytest.mark.parametrize("family", STILL)
def test_a_run_is_its_steps(family: str, scheme: str) -> None:
    for seed in range(2):
        by_run, by_step = (FAMILIES[family](Random(f"{family} {seed}")).scene for _ in range(2))
        dt = (1e-3, 5e-3)[seed]
        for scene in (by_run, by_step):
            scene.integrator = scheme
        by_run.run(STEPS * dt, dt=dt)
        for _ in range(STEPS):
            by_step.step(dt)
        assert by_run.time == by_step.time
        assert state(by_run) == state(by_step)
        assert by_run.report == by_step.report
        told = [[(e.time, e.kind, e.steps) for e in scene.events] for scene in (by_run, by_step)]
        assert told[0] == told[1]


def test_a_run_crosses_spans_and_ends_in_between() -> None:
    """A pearl slides from span to span, each of which asks for a new plan; a rest of a step ends the run."""
    scenes = []
    for _ in range(2):
        scene = sn.Scene()
        rubber = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)
        section = sn.Section.circle(5e-3)
        rope = scene.add(sn.Rod.straight((0, 0, 1), (1, 0, 1), section=section, material=rubber))
        scene.add(sn.Fix(rope.at(0)))
        scene.add(sn.Pearl(rope, at=0.3, mass=0.05, radius=0.015))
        scenes.append(scene)
    scenes[0].run(0.6005, dt=1e-3)
    for _ in range(600):
        scenes[1].step(1e-3)
    scenes[1].step(0.6005 - 600 * 1e-3)
    assert scenes[0].time == pytest.approx(0.6005, rel=1e-12)
    assert state(scenes[0]) == state(scenes[1])


def test_each_is_called_after_every_step() -> None:
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    heights: list[float] = []
    scene.run(0.1, dt=1e-2, each=lambda s: heights.append(float(ball.position[2])))
    assert len(heights) == 10
    assert np.all(np.diff(heights) < 0.0)
