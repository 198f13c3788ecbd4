"""Scenes, what is in them and their snapshots go by pickle, and go on bitwise where they arrive."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from references.batches import drawn
from references.played_scenes import FAMILIES
from unit.scene import kit

import sennit as sn


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_sent_scene_goes_on_bitwise(family) -> None:
    played, dt = drawn(family, 3)
    scene = played.scene
    for _ in range(6):
        if played.drive is not None:
            played.drive(scene.time)
        scene.step(dt)
    sent = pickle.loads(pickle.dumps(scene))
    assert kit.bits(sent) == kit.bits(scene)
    for _ in range(6):
        scene.step(dt)
        sent.step(dt)
    assert kit.bits(sent) == kit.bits(scene)
    sent.reset()
    scene.reset()
    sent.step(dt)
    scene.step(dt)
    assert np.array_equal(sent._system.model.motion.q, scene._system.model.motion.q)


def sagging():
    scene = sn.Scene()
    hemp = sn.Material(1e7, 0.4, 1000)
    rod = scene.add(
        sn.Rod.straight((0, 0, 0), (1, 0, 0), section=sn.Section.circle(5e-3), material=hemp, control_points=8)
    )
    return scene, rod, scene.add(sn.Fix(rod.at(0)))


def test_what_is_sent_together_belongs_together() -> None:
    """A function that knows a scene, its rope and a hand finds them the same three there, whichever comes first."""
    scene, rod, hand = sagging()
    pair = scene.collide(rod, itself=True)
    scene.run(0.05, 5e-3)
    snapshot = scene.snapshot()
    hand2, point2, rod2, pair2, scene2, snapshot2 = pickle.loads(
        pickle.dumps((hand, hand.points[0], rod, pair, scene, snapshot))
    )
    assert scene2.bodies[0] is rod2
    assert scene2.constraints[0] is hand2
    assert hand2.points[0] is point2
    assert rod2.scene is scene2
    pair2.friction = 0.7
    assert scene2.contacts.between(rod2, rod2).friction == 0.7
    scene2.run(0.05, 5e-3)
    scene2.restore(snapshot2)
    for each in (scene, scene2):
        each.run(0.05, 5e-3)
    assert np.array_equal(rod.control_points, rod2.control_points)


def test_a_scene_that_was_never_stepped_is_sent() -> None:
    scene, rod, _ = sagging()
    sent = pickle.loads(pickle.dumps(scene))
    twin = copy.deepcopy(scene)
    for each in (scene, sent, twin):
        each.run(0.02, 5e-3)
    assert np.array_equal(sent.bodies[0].control_points, rod.control_points)
    assert np.array_equal(twin.bodies[0].control_points, rod.control_points)


def test_what_has_no_scene_is_sent_by_itself() -> None:
    _, rod, _ = sagging()
    lone = sn.Rod.straight((0, 0, 0), (1, 0, 0), section=rod.section, material=rod.material, control_points=6)
    sent = pickle.loads(pickle.dumps(lone))
    assert np.array_equal(sent.control_points, lone.control_points)
    assert sent.energy.total == lone.energy.total


def test_a_path_that_is_a_function_here_alone_is_refused() -> None:
    scene, rod, _ = sagging()
    scene.add(sn.Follow(rod.at(1.0), lambda t: (1, 0, t)))
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(scene)


def test_a_page_stays_where_it_is() -> None:
    """Sliders and plots are functions of this process."""
    scene, rod, _ = sagging()
    scene.watch("tip", lambda: rod.control_points[-1, 2])
    assert pickle.loads(pickle.dumps(scene)).watches == ()
