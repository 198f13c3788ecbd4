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
def test_slope(what, share, sticks, validated):
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
    elif share < 1.01:
        assert way == pytest.approx(0.75 * speed, rel=0.02, abs=2e-4)
    else:
        validated(
            "Rope and box slide down a slope", area="contact", quantity="acceleration, of g (sin α − μ cos α)",
            reference="Coulomb's law", error=abs(way / (0.75 * speed) - 1.0), bound=0.02,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("what", "share", "sticks"),
    [("box", 0.4, True), ("box", 0.4995, True), ("box", 0.5005, False), ("rope", 0.35, True), ("rope", 0.5005, False)],
)
def test_static_friction_must_be_overcome(what, share, sticks):
    """Between both coefficients what lies there stays; above the larger one it slides, held back by the smaller one.

    Where its places share the load unevenly some are at their bounds before all are: that alone moves nothing that is
    rigid. A rope gives way a little at each, and its places let go one after the other if they are not far below.
    """
    sliding, static = 0.3, 0.5
    tilt = math.atan(share)
    scene = floor_scene(sliding, tilt)
    place = add_sliding(scene, what, (0.0, 0.0, 0.0))
    scene.collide(static_friction=static)
    scene.run(0.25, 1 / 240)
    begin, half = place(), 0.25
    scene.run(half, 1 / 240)
    way = (place() - begin)[0]
    if sticks:
        assert abs(way) < 1e-9
        assert all(contact.state == "stick" for contact in scene.contacts)
    else:
        acceleration = G * (math.sin(tilt) - sliding * math.cos(tilt))
        # from rest, where the first steps are still held back by more
        assert way == pytest.approx(1.5 * acceleration * half**2, rel=0.05)
        assert all(contact.state == "slip" for contact in scene.contacts)


@pytest.mark.parametrize("what", ["rope", "box"])
@pytest.mark.parametrize(("speed", "stays"), [(0.3, False), (-0.3, True)])
def test_what_is_pushed_slides_and_what_comes_to_rest_stays(what, speed, stays):
    """On a slope between both coefficients: pushed down it goes on for ever, pushed up it comes to rest and stays."""
    sliding, tilt = 0.3, math.atan(0.4)
    scene = floor_scene(sliding, tilt)
    place = add_sliding(scene, what, (speed, 0.0, 0.0))
    scene.collide(static_friction=0.5)
    begin = place()
    scene.run(0.5, 1 / 240)
    way = (place() - begin)[0]
    pull = G * (math.sin(tilt) + (sliding if stays else -sliding) * math.cos(tilt))
    exact = -(speed**2) / (2 * pull) if stays else 0.5 * speed + 0.5 * pull * 0.25
    assert way == pytest.approx(exact, rel=0.02, abs=abs(speed) / 240)
    assert {contact.state for contact in scene.contacts} == {"stick" if stays else "slip"}


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


def hung_over_a_drum() -> tuple[sn.Scene, sn.Rod]:
    """A rope over a drum, heavier on one side by less than friction holds."""
    scene, drum = sn.Scene(), 0.1
    lying = sn.Pose((0, 0, 0), (math.sqrt(0.5), math.sqrt(0.5), 0, 0))
    scene.add(sn.Obstacle(sn.Cylinder(drum, 0.4, lying)))
    angles, reach = np.linspace(math.pi, 0.0, 31), drum + RADIUS
    arc = reach * np.column_stack((np.cos(angles), np.zeros(31), np.sin(angles)))
    short, long = (
        [(x, 0.0, -z) for z in np.linspace(0.0, length, 11)[1:]] for x, length in ((-reach, 0.2), (reach, 0.3))
    )
    limp = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.05)
    way = np.vstack((short[::-1], arc, long))
    rope = scene.add(sn.Rod.through(way, section=sn.Section.circle(RADIUS), material=limp, control_points=30))
    scene.contacts.friction = 0.5
    return scene, rope


@pytest.mark.parametrize("what", ["box", "rope", "rope over a drum"])
def test_creep_of_what_sticks(what):
    """Twenty seconds on a slope, or over a drum: in the last ten it moves by less than 1e-6 of its size an hour."""
    if what == "rope over a drum":
        scene, rope = hung_over_a_drum()
        size, where = rope.length, lambda: rope.control_points
    else:
        scene = floor_scene(0.5, math.atan(0.3))
        where, size = add_sliding(scene, what, (0.0, 0.0, 0.0)), 0.2
    scene.collide()
    scene.run(10.0, 1 / 60)
    before = where()
    scene.run(10.0, 1 / 60)
    an_hour = np.abs(where() - before).max() * 360
    assert an_hour < 1e-6 * size
