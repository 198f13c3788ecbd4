"""Sliders of a page that change what things are made of, while the scene runs, and the page's reset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from unit.scene.kit import bits

import sennit as sn
from sennit.live.commands import Counts, checked_command
from sennit.live.scene_play import ScenePlay

HEMP = sn.Material(1e7, 0.4, 1000, relaxation_time=5e-3)


@dataclass
class Toy:
    """A rope with a pearl and a ball, and a weight on a cable over a bollard and past a post."""

    scene: sn.Scene
    rope: sn.Rod
    ball: sn.RigidBody
    pearl: sn.Pearl
    cable: sn.Cable
    drum: sn.Sheave
    pair: sn.ContactPair


def toy() -> Toy:
    scene = sn.Scene(integrator="bdf2")
    rope = scene.add(
        sn.Rod.straight((0, 0, 0), (0.8, 0, 0), section=sn.Section.circle(6e-3), material=HEMP, control_points=12)
    )
    scene.add(sn.Clamp(rope.at(0.0)))
    ball = scene.add(sn.RigidBody.sphere(0.02, mass=0.05, position=(0.8, 0, 0)))
    scene.add(sn.Ball(ball.at(), rope.at(0.8)))
    pearl = scene.add(sn.Pearl(rope, 0.4, mass=0.05, radius=0.015, friction=0.05))
    post = scene.add(
        sn.RigidBody.cylinder(0.3, 1.0, mass=5, pose=sn.Pose.along((1.85, 3, -1.1), (0, 1, 0)), name="post")
    )
    scene.add(sn.Lock(post.at(), sn.World.at((1.85, 3, -1.1))))
    one = scene.add(sn.RigidBody.sphere(0.05, mass=8, position=(-0.15, 3, -2)))
    two = scene.add(sn.RigidBody.sphere(0.05, mass=12, position=(3.7, 3, -2)))
    drum = sn.Sheave(sn.World.at((0, 3, 0)), axis=(0, 1, 0), radius=0.15, friction=0.05, fixed=True)
    points = [one.at(), drum, two.at()]
    cable = scene.add(sn.Cable(points, stretch_stiffness=1e5, around=[post], friction=0.02))
    sled = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0, -3, 0.05)))
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    pair = scene.collide(sled, floor, friction=0.2)
    sled.velocity = (2.0, 0, 0)
    return Toy(scene, rope, ball, pearl, cable, drum, pair)


SLIDERS: dict[str, tuple[Callable[[Toy, float], None], Callable[[Toy], Any], float, float]] = {
    "damping": (lambda t, x: setattr(t.rope, "damping", x), lambda t: t.rope.damping, 5e-3, 0.1),
    "material": (lambda t, x: setattr(t.rope, "material", sn.Material(x, 0.4, 1000, 5e-3)),
                 lambda t: t.rope.material.youngs_modulus, 1e7, 3e6),
    "section": (lambda t, x: setattr(t.rope, "section", sn.Section.circle(x)), lambda t: t.rope.section.radius,
                6e-3, 9e-3),
    "rest_curvature": (lambda t, x: setattr(t.rope, "rest_curvature", (x, -x)), lambda t: t.rope.rest_curvature[3, 0],
                       0.0, 2.0),
    "rest_twist": (lambda t, x: setattr(t.rope, "rest_twist", x), lambda t: t.rope.rest_twist[3], 0.0, 2.0),
    "mass": (lambda t, x: setattr(t.ball, "mass", x), lambda t: t.ball.mass, 0.05, 0.2),
    "friction of a pearl": (lambda t, x: setattr(t.pearl, "friction", x), lambda t: t.pearl.friction, 0.05, 0.5),
    "friction of a cable": (lambda t, x: setattr(t.cable, "friction", x), lambda t: t.cable.friction[0], 0.02, 0.3),
    "friction of a bollard": (lambda t, x: setattr(t.drum, "friction", x), lambda t: t.drum.friction, 0.05, 0.3),
    "friction of contact": (lambda t, x: setattr(t.pair, "friction", x), lambda t: t.pair.friction, 0.2, 0.9),
}  # fmt: skip


def drive(play: ScenePlay, value: float) -> None:
    """What a page does when its first slider is moved."""
    counts = Counts(1, 0, 0, 0, len(play.controls), 0)
    name, arguments = checked_command({"do": "control", "generation": 1, "control": 0, "value": value}, counts)
    assert name == "control"
    number, told = arguments
    play.controls[number].use(told)


def step(play: ScenePlay, count: int) -> None:
    for _ in range(count):
        play.step()


@pytest.mark.parametrize("what", SLIDERS)
def test_a_slider_changes_matter_and_reset_brings_it_back(what: str) -> None:
    """As the same assignments by a program, to the last bit; after reset the first run comes again."""
    write, read, begin, other = SLIDERS[what]
    ours, plain, never = toy(), toy(), toy()
    low, high = min(begin, other), max(begin, other)
    control = ours.scene.control(what, lambda value: write(ours, value), begin, range=(low, high))
    play = ScenePlay(ours.scene, dt=5e-3)
    first = bits(ours.scene)
    plain.scene._compiled()
    found = []
    for _ in range(2):
        assert bits(ours.scene) == first
        step(play, 10)
        drive(play, other)
        assert read(ours) == other and control.value == other
        step(play, 10)
        drive(play, 0.5 * (begin + other))
        step(play, 10)
        found.append(bits(ours.scene))
        with pytest.raises(sn.InputError, match=what):
            drive(play, high + 1.0 + abs(high))
        assert bits(ours.scene) == found[-1], "a slider that is refused changes nothing"
        play.reset()
        assert play.trouble == ""
        assert read(ours) == begin and control.value == begin
        assert ours.scene.time == 0.0 and ours.scene.energy_put_in == 0.0
    assert found[0] == found[1]
    for each in (plain, never):
        for count, value in ((10, other), (10, 0.5 * (begin + other)), (10, None)):
            for _ in range(count):
                each.scene.step(5e-3)
            if value is not None and each is plain:
                write(plain, value)
    assert bits(plain.scene) == found[0]
    places = [[body.position for body in t.scene.bodies if isinstance(body, sn.RigidBody)] for t in (plain, never)]
    moved = np.abs(np.array(places[0]) - np.array(places[1])).max()
    ropes = np.abs(plain.rope.control_points - never.rope.control_points).max()
    assert max(moved, ropes) > 1e-6, "what was changed is felt"
