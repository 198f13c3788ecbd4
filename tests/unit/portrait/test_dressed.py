"""Rigid bodies that look like something else, and how firmly a hand holds what joints hold too."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.errors import InputError
from sennit.live.scene_play import ScenePlay
from sennit.live.touch import touch_for
from sennit.portrait.of_scene import portrait_of

HULL = np.array(((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
FACES = np.array(((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)))


def test_a_look_takes_the_place_of_its_body() -> None:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((1, 1, 1), mass=2.0, position=(0, 0, 5)))
    other = scene.add(sn.RigidBody.sphere(0.2, mass=1.0, position=(3, 0, 5)))
    scene.decorate(HULL, FACES, on=box.at(), instead=True, name="hull")
    scene.decorate(HULL, FACES, on=box.at(), name="flag")
    portrait = portrait_of(scene)
    subjects = [portrait.subject(k) for k in range(len(portrait.cast.parts))]
    roles = {part.name: part.role for part in portrait.cast.parts}
    assert subjects.count(box) == 1 and subjects.count(other) == 1
    assert roles["hull"] == "body" and roles["flag"] == "decor"
    # it is dragged as the body would be
    play = ScenePlay(scene, dt=1e-2)
    part = next(k for k, p in enumerate(play.portrait.cast.parts) if p.name == "hull")
    play.grab(part, np.array((0.3, 0.0, 0.0)))
    play.drag(np.array((1.3, 0.0, 5.0)))
    for _ in range(100):
        play.step()
    assert box.position[0] > 0.5


def test_only_a_body_at_its_centre_can_be_dressed() -> None:
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((1, 1, 1), mass=2.0))
    for on in (None, box.at((0.1, 0.0, 0.0)), sn.World.at(sn.Pose())):
        with pytest.raises(InputError, match=r"body\.at\(\)"):
            scene.decorate(HULL, FACES, on=on, instead=True)
    with pytest.raises(InputError, match="instead must be True or False"):
        scene.decorate(HULL, FACES, on=box.at(), instead=1)  # type: ignore[arg-type]
    assert scene.decor == ()


def test_a_hand_need_not_carry_what_joints_hold() -> None:
    scene = sn.Scene()
    mast = scene.add(sn.RigidBody.box((1, 1, 9), mass=8000.0))
    jib = scene.add(sn.RigidBody.box((9, 1, 1), mass=6000.0, position=(0, 0, 5)))
    load = scene.add(sn.RigidBody.box((1, 1, 1), mass=100.0, position=(4, 0, 0)))
    lock = scene.add(sn.Lock(mast.at(), sn.World.at(sn.Pose())))
    scene.add(sn.Hinge(jib.at((0, 0, -0.5)), mast.at((0, 0, 4.5)), (0, 0, 1)))
    scene.add(sn.Cable([jib.at((4, 0, 0)), load.at((0, 0, 0.5))], stretch_stiffness=1e6))
    assert touch_for(scene, load.at()).force <= 2.0 * 100.0 * 9.81 * (1.0 + 1e-9)
    assert touch_for(scene, load.at()).force > 100.0 * 9.81  # enough to lift it
    lock.enabled = False
    assert touch_for(scene, load.at()).force > 2.0 * 8000.0 * 9.81
