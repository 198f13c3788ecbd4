"""A scene whose things are made of something else than at first goes to a loop so, and comes back so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from unit.haptics.test_loop import COUPLING, path, until

import sennit as sn
from sennit import InputError
from sennit.haptics import HapticLoop, ScriptedDevice
from sennit.haptics import loop as loops
from sennit.haptics.subjects import SceneSubject

GUM = sn.Material(2e6, 0.45, 1400, relaxation_time=2e-2)


def changed() -> tuple[sn.Scene, sn.Rod]:
    """A rope with a pearl, a box on a cable over a bollard and past a post: all of it made anew after some steps."""
    scene = sn.Scene(drag=0.2, integrator="bdf2")
    hemp, thin = sn.Material(5e6, 0.4, 1100.0, relaxation_time=2e-3), sn.Section.circle(0.01)
    rope = scene.add(sn.Rod.straight((0, 0, 1), (1, 0, 1), section=thin, material=hemp, control_points=8))
    scene.add(sn.Clamp(rope.at(0.0)))
    pearl = scene.add(sn.Pearl(rope, 0.3, mass=0.01, radius=0.012, friction=0.05))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=0.3, position=(3.7, 0, -2)))
    post = scene.add(sn.RigidBody.cylinder(0.3, 1.0, mass=5, pose=sn.Pose.along((1.85, 0, -1.1), (0, 1, 0))))
    scene.add(sn.Lock(post.at(), sn.World.at((1.85, 0, -1.1))))
    drum = sn.Sheave(sn.World.at((0, 0, 0)), axis=(0, 1, 0), radius=0.15, friction=0.05, fixed=True)
    weight = scene.add(sn.RigidBody.sphere(0.05, mass=0.4, position=(-0.15, 0, -2)))
    cable = scene.add(
        sn.Cable([weight.at(), drum, box.at((0, 0, 0.05))], stretch_stiffness=500.0, around=[post], friction=0.02)
    )
    scene.run(0.02, 1e-3)
    rope.material, rope.section = GUM, sn.Section.circle(0.012)
    rope.rest_curvature, rope.rest_twist = np.linspace((0, 1, 0), (2, 0, 1), 5), 0.5
    box.mass = 0.5
    box.inertia = (1e-3, 2e-3, 2.5e-3)
    pearl.friction, cable.friction, drum.friction = 0.2, 0.15, 0.1
    return scene, rope


def made_of(scene: sn.Scene) -> list[Any]:
    """What its things are made of, as plain values."""
    told: list[Any] = []
    for body in scene.bodies:
        if isinstance(body, sn.Rod):
            told += [body.material, body.section, body.rest_curvature.tolist(), body.rest_twist.tolist()]
            told += [body.mass, body.stiffness.tolist()]
        elif isinstance(body, sn.RigidBody):
            told += [body.mass, body.inertia.tolist()]
        elif isinstance(body, sn.Slider):
            told.append(body.friction)
    for tie in scene.constraints:
        if isinstance(tie, sn.Cable):
            told += [tie.friction, [sheave.friction for sheave in tie.sheaves if sheave is not None]]
    return told


def test_a_loop_has_the_changed_numbers_and_taking_it_back_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the loop's own copy, in its steps, to the last bit, and here afterwards; it can't be changed meanwhile."""
    copies: list[sn.Scene] = []
    take_back = loops.handover.take_back

    def looked_at(loan: Any, file: Path) -> None:
        copies.append(sn.Scene.load(file))
        take_back(loan, file)

    monkeypatch.setattr(loops.handover, "take_back", looked_at)
    ticks = 60
    scene, rope = changed()
    before = made_of(scene)
    put_in = scene.energy_put_in
    assert put_in != 0.0
    box = next(body for body in scene.bodies if isinstance(body, sn.RigidBody))
    pearl = next(body for body in scene.bodies if isinstance(body, sn.Pearl))
    cable = next(tie for tie in scene.constraints if isinstance(tie, sn.Cable))
    drum = next(sheave for sheave in cable.sheaves if sheave is not None)
    assert drum.friction == 0.1 and cable.friction == (0.15,) and pearl.friction == 0.2
    hand = ScriptedDevice(path, seconds=ticks / 1000)
    with HapticLoop(scene, hand, grip=rope.at(0.6), coupling=COUPLING) as loop:
        for thing, name, value in (
            (rope, "material", GUM), (rope, "rest_curvature", (1, 2)), (rope, "damping", 0.1), (box, "mass", 2.0),
            (pearl, "friction", 0.3), (cable, "friction", 0.3), (drum, "friction", 0.3),
        ):  # fmt: skip
            with pytest.raises(InputError, match="haptic loop"):
                setattr(thing, name, value)
        loop.wait()
        until(lambda: not loop.running)
    assert loop.statistics.ticks == ticks and not loop.statistics.lost
    assert made_of(scene) == before
    (copy,) = copies
    assert made_of(copy) == before

    other, other_rope = changed()
    subject = SceneSubject(other, other_rope.at(0.6), COUPLING, 1e-3)
    for k in range(ticks):
        subject.step(path(k / 1000))
    np.testing.assert_array_equal(hand.wrenches[-1], -subject.wrench)
    subject.let_go()
    other._compiled()
    for each in (scene, other):
        each.run(0.03, 1e-3)
    for mine, theirs in zip(scene._numbered(), other._numbered(), strict=True):
        for key, array in mine._state_arrays().items():
            np.testing.assert_array_equal(array, theirs._state_arrays()[key], err_msg=f"{mine} {key}")
    assert made_of(scene) == before and scene.energy_put_in == put_in
