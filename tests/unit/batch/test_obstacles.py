"""Obstacles in batches: led by their position, by routes, and refused where Python would have to be asked."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn

DT = 5e-3


def test_an_obstacle_that_follows_a_function_is_refused_and_one_on_a_route_goes_its_way() -> None:
    """By its name, beside the others that do; with a route it moves in each scene as it does in a scene by itself."""

    def made(path):
        scene = sn.Scene()
        ball = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0, 0, 0.0502)))
        lift = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="lift"))
        lift.path = path
        scene.collide(friction=0.4)
        return scene, ball

    scene, ball = made(lambda t: (0, 0, 0.2 * t))
    with pytest.raises(sn.InputError, match=r"lift follows a function.*Route"):
        sn.Batch(scene, 2)
    scene.add(sn.Follow(ball.at(), lambda t: (0, 0, 0.1), name="led"))
    with pytest.raises(sn.InputError, match=r"(lift, led|led, lift) follows a function"):
        sn.Batch(scene, 2)
    route = sn.Route([0.0, 0.5], [(0, 0, 0), (0, 0, 0.1)])
    (scene, ball), (alone, own) = made(route), made(route)
    batch = sn.Batch(scene, 2)
    batch.step(DT, 40)
    for _ in range(40):
        alone.step(DT)
    assert np.array_equal(batch.positions(ball), np.tile(own.position, (2, 1)))
    assert own.position[2] > 0.07, "it was lifted"


def test_obstacles_are_led_as_in_scenes_by_themselves() -> None:
    """A plate that pushes a ball, to another place in each scene, at once and over several steps."""

    def made():
        scene = sn.Scene()
        ball = scene.add(sn.RigidBody.sphere(0.05, mass=0.2, position=(0.1, 0, 0.05)))
        scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
        plate = scene.add(sn.Obstacle(sn.Box((0.02, 0.3, 0.3), sn.Pose((0, 0, 0.15))), name="plate"))
        scene.collide(friction=0.3)
        return scene, ball, plate

    scene, ball, plate = made()
    goals = np.array(((0.02, 0, 0), (0.05, 0.01, 0), (0.08, 0, 0.02)))
    batch = sn.Batch(scene, 3)
    batch.set(plate, "position", goals)
    batch.step(DT, 8)
    batch.set(plate, "position", goals + np.array((0.001, 0, 0)))
    batch.step(DT, 2, "hold")
    for i, goal in enumerate(goals):
        own, own_ball, own_plate = made()
        for k in range(1, 9):
            own_plate.position = goal if k == 8 else np.zeros(3) + (k / 8) * (goal - np.zeros(3))
            own.step(DT)
        own_plate.position = goal + np.array((0.001, 0, 0))
        own.run(2 * DT, DT)
        assert np.array_equal(batch.positions(ball)[i], own_ball.position)
        assert np.array_equal(batch.scene(i).obstacles[1].position, own_plate.position)
    assert np.ptp(batch.positions(ball)[:, 0]) > 0.01
    assert np.array_equal(own_plate.pose.rotation, np.eye(3))
    plate.path = sn.Route([0, 1], [(0, 0, 0), (0, 0, 1)])
    with pytest.raises(sn.InputError, match="plate follows a path"):
        plate.position = (0, 0, 0)
    led = sn.Batch(scene, 2)
    with pytest.raises(sn.InputError, match="plate follows a path"):
        led.set(plate, "position", (0, 0, 0))
