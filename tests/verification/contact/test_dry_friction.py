"""Dry friction against closed forms: sliding to rest, sticking and slipping on a slope, a ball that rolls."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn

G = 9.81
HEMP = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000)
RADIUS = 5e-3


def floor_scene(friction: float, tilt: float = 0.0) -> sn.Scene:
    """A floor at z = 0, with gravity turned so that it slopes down along x by `tilt` (rad)."""
    scene = sn.Scene(gravity=(G * math.sin(tilt), 0.0, -G * math.cos(tilt)))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    scene.contacts.friction = friction
    return scene


def add_sliding(scene: sn.Scene, what: str, velocity: tuple[float, float, float]):
    """A rope or a box that lies on the floor, and a function that tells where it is."""
    if what == "rope":
        rope = scene.add(sn.Rod.straight(
            (0, 0, RADIUS), (0.3, 0, RADIUS), section=sn.Section.circle(RADIUS), material=HEMP, control_points=9
        ))  # fmt: skip
        rope.control_velocities = np.tile(velocity, (9, 1))
        return lambda: rope.control_points.mean(axis=0)
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.1), mass=2.0, position=(0, 0, 0.05)))
    box.velocity = velocity
    return lambda: box.position


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
@pytest.mark.parametrize("what", ["rope", "box"])
def test_slide_to_rest(what, integrator, validated):
    """v²/2μg; backward Euler itself makes the way shorter by v h/2 to first order."""
    friction, speed, h = 0.3, 1.0, 1 / 240
    scene = floor_scene(friction)
    scene.integrator = integrator
    place = add_sliding(scene, what, (speed, 0.0, 0.0))  # a rope along itself: across it would roll
    scene.collide()
    begin = place()
    scene.run(0.6, h)
    way = place() - begin
    exact = speed**2 / (2 * friction * G)
    validated(
        "Rope and box slide to rest", area="contact", quantity="way, of v²/2μg", reference="Coulomb's law",
        error=abs(way[0] / exact - 1.0), bound=1.2 * speed * h / (2 * exact),
    )  # fmt: skip
    assert abs(way[1]) < 1e-6 * exact
    assert all(contact.state == "stick" for contact in scene.contacts)


@pytest.mark.parametrize("what", ["rope", "box"])
@pytest.mark.parametrize(("share", "sticks"), [(0.999, True), (1.001, False), (1.05, False)])
def test_slope(what, share, sticks):
    """Where tan α is below μ nothing moves; above it the acceleration is g (sin α − μ cos α)."""
    friction = 0.4
    tilt = math.atan(friction * share)
    scene = floor_scene(friction, tilt)
    place = add_sliding(scene, what, (0.0, 0.0, 0.0))
    scene.collide()
    scene.run(0.5, 1 / 240)  # what was put there finds its forces
    begin, speed = place(), 0.5 * G * (math.sin(tilt) - friction * math.cos(tilt))
    scene.run(0.5, 1 / 240)
    way = (place() - begin)[0]
    if sticks:
        assert abs(way) < 1e-9
    else:
        assert way == pytest.approx(0.75 * speed, rel=0.02, abs=2e-4)


def test_ball_rolls(validated):
    """A ball on a slope that does not slip gets 5/7 g sin α."""
    tilt, h, time = math.radians(10.0), 1 / 240, 1.0
    scene = floor_scene(0.5, tilt)
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0, 0, 0.05)))
    scene.collide()
    scene.run(time, h)
    exact = 5 / 7 * G * math.sin(tilt) * time
    validated(
        "Ball rolls down a slope", area="contact", quantity="speed, of 5/7 g sin α t", reference="closed form",
        error=abs(ball.velocity[0] / exact - 1.0), bound=1e-4,
    )  # fmt: skip
    assert ball.angular_velocity[1] * 0.05 == pytest.approx(ball.velocity[0], rel=1e-4)


def test_creep_of_what_sticks():
    """A box on a slope for twenty seconds: in the last ten it moves by less than 1e-6 of its size an hour."""
    scene = floor_scene(0.5, math.atan(0.3))
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.1), mass=2.0, position=(0, 0, 0.05)))
    scene.collide()
    scene.run(10.0, 1 / 60)
    before = box.position
    scene.run(10.0, 1 / 60)
    an_hour = np.linalg.norm(box.position - before) * 360
    assert an_hour < 1e-6 * 0.2
