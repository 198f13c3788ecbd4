"""A scene of a batch on a page: led along while another thread steps the batch, and only looked at."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from references.windows import wait_until

import sennit as sn
from sennit.live.batch_play import BatchPlay


def batch(count=3):
    """Balls on ropes: the batch, the hand, the rope."""
    scene = sn.Scene(integrator="bdf2")
    hemp = sn.Material(1e7, 0.4, 1000, relaxation_time=0.02)
    rope = scene.add(
        sn.Rod.straight((0, 0, 1), (0, 0, 0.5), section=sn.Section.circle(5e-3), material=hemp, control_points=8)
    )
    hand = scene.add(sn.Fix(rope.at(0)))
    ball = scene.add(sn.RigidBody.sphere(0.04, mass=0.2, position=(0, 0, 0.46)))
    scene.add(sn.Ball(ball.at((0, 0, 0.04)), rope.at(rope.length)))
    return sn.Batch(scene, count, threads=1), hand, rope


def test_it_shows_what_the_batch_has() -> None:
    many, hand, rope = batch()
    many.vary(rope, "youngs_modulus", (1e6, 1e7, 1e8))
    play = BatchPlay(many, 2)
    many.set(hand, "target", np.array(((0, 0, 1), (0, 0.02, 1), (0.03, 0, 1.02))))
    for _ in range(4):
        many.step(5e-3)
        play.step()
        own = play.scene
        assert own.time == many.time[2]
        assert np.array_equal(own.bodies[0].control_points, many.positions(rope)[2])
        assert np.array_equal(own.bodies[1].velocity, many.velocities(many._scene.bodies[1])[2])
        assert np.array_equal(own.constraints[0].target, (0.03, 0, 1.02))
    assert own.bodies[0].material.youngs_modulus == 1e8
    many.reset()
    play.step()
    assert play.time == 0.0
    assert play.title == "scene 2 of 3"


def test_nothing_can_be_done_to_it() -> None:
    play = BatchPlay(batch()[0], 1)
    acts = [play.reset, lambda: play.grab(0, 0.5), lambda: play.pin(0, 0.5), lambda: play.switch(0, False),
            lambda: play.remove(0), lambda: play.set_gravity(np.zeros(3))]  # fmt: skip
    for act in acts:
        with pytest.raises(sn.InputError, match="only looked at"):
            act()
    assert play.gravity is None
    assert not play.handles
    assert not play.holding


def test_looking_and_stepping_wait_for_each_other() -> None:
    """A page's looks neither disturb the bits of a batch that is stepped meanwhile, nor have it refuse."""
    (many, hand, rope), (alone, its_hand, its_rope) = batch(), batch()
    play, done = BatchPlay(many, 1), threading.Event()
    seen: list[float] = []

    def look() -> None:
        while not done.is_set():
            play.step()
            seen.append(play.time)

    looker = threading.Thread(target=look)
    looker.start()
    try:
        for k in range(60):
            place = (0.01 * np.sin(0.3 * k), 0.0, 1.0)
            many.set(hand, "target", place)
            many.step(5e-3, 2)
            many.positions(rope.at(0.2))
            many.energies()
    finally:
        done.set()
        looker.join()
    for k in range(60):
        alone.set(its_hand, "target", (0.01 * np.sin(0.3 * k), 0.0, 1.0))
        alone.step(5e-3, 2)
    assert np.array_equal(many.q, alone.q)
    assert np.array_equal(many.positions(rope), alone.positions(its_rope))
    assert len(set(seen)) > 1
    assert seen == sorted(seen)


def test_a_page_of_a_batch() -> None:
    many, hand, _ = batch()
    for bad in (3, -1, 1.5, "first"):
        with pytest.raises(sn.InputError, match="number must"):
            sn.view(many, number=bad, block=False, browser=False)
    with pytest.raises(sn.InputError, match="stepped by whoever"):
        sn.view(many, dt=1e-2, block=False, browser=False)
    with pytest.raises(sn.InputError, match="number says which"):
        sn.view(many.scene(0), number=0, block=False, browser=False)
    shown = sn.view(many, number=1, port=0, browser=False, block=False)
    try:
        play = shown.host.play
        many.set(hand, "target", (0.02, 0, 1))
        many.step(5e-3, 10)
        wait_until(lambda: play.time == many.time[1])
    finally:
        shown.close()
    many.step(5e-3)
    assert not shown.running
