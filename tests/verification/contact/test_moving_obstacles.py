"""Obstacles that move, belts, and things that overlap when a scene begins."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn

G = 9.81


def box_on(obstacle: sn.Obstacle) -> tuple[sn.Scene, sn.RigidBody]:
    """A box of a kilogram that stands on an obstacle whose top is at z = 0."""
    scene = sn.Scene()
    scene.add(obstacle)
    box = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1), name="box"))
    scene.collide(friction=0.4)
    return scene, box


def test_belt_takes_a_box_along(validated):
    """Friction accelerates it by μ g until it has the belt's speed: a way of v t − v²/2μg."""
    belt = sn.Obstacle(sn.Box((20, 1, 0.2), sn.Pose((0, 0, -0.1))), name="belt")
    belt.surface_velocity = (1.0, 0, 0)
    scene, box = box_on(belt)
    scene.run(1.0, 1 / 500)
    assert box.velocity == pytest.approx((1.0, 0, 0), abs=1e-6)
    exact = 1.0 - 1.0 / (2 * 0.4 * G)
    validated(
        "Belt takes a box along", area="contact", quantity="way in 1 s, of v t − v²/2μg", reference="Coulomb's law",
        error=abs(box.position[0] / exact - 1.0), bound=2e-3 / exact,
    )  # fmt: skip
    assert [event.kind for event in scene.events] == ["touch"]


def test_belt_takes_a_rope_along():
    """A rope that lies along the belt, ten radii off its middle line: it gets the belt's speed and is not bent."""
    scene, radius = sn.Scene(), 5e-3
    belt = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="belt"))
    belt.surface_velocity = (0.6, 0, 0)
    hemp = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000)
    rope = scene.add(sn.Rod.straight(
        (0, 0.05, radius), (0.3, 0.05, radius), section=sn.Section.circle(radius), material=hemp, control_points=9
    ))  # fmt: skip
    scene.collide(friction=0.4)
    scene.run(1.0, 1 / 500)
    way = rope.control_points.mean(axis=0) - (0.15, 0.05, radius)
    assert way[0] == pytest.approx(0.6 - 0.6**2 / (2 * 0.4 * G), abs=2e-3)
    assert abs(way[1]) < 1e-9 and abs(way[2]) < 1e-3 * radius
    assert rope.control_velocities == pytest.approx(np.tile((0.6, 0, 0), (9, 1)), abs=1e-6)


def test_work_of_belts_and_lifts_is_on_the_account():
    """A box on a belt that climbs: what it gains comes from outside, and no step is divided or calmed for it."""
    belt = sn.Obstacle(sn.Box((20, 1, 0.2), sn.Pose((0, 0, -0.1))), name="belt")
    belt.surface_velocity = (3.0, 0, 0)
    belt.path = sn.Route([0, 0.5, 2], [(0, 0, 0), (0, 0, 0), (0, 0, 3)])
    scene, _ = box_on(belt)
    before = scene.energy.total
    scene.run(1.5, 1 / 240)
    gained = 0.5 * 3.0**2 + 0.5 * 2.0**2 + G * 2.0  # its mass is a kilogram
    assert scene.energy.total - before == pytest.approx(gained, rel=0.02)
    assert {event.kind for event in scene.events} == {"touch"}
    assert scene.report.parts == 1


def test_groups_touch_as_they_are_named():
    """Balls touch pegs, pegs not each other; of a group with itself any two; what is ignored passes through."""
    scene = sn.Scene(gravity=(0, 0, 0))

    def ball(x: float, speed: float) -> sn.RigidBody:
        made = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(x, 0, 0)))
        made.velocity = (speed, 0, 0)
        return made

    balls, others = [ball(-0.4, 1.0), ball(-0.2, 0.0)], [ball(0.2, 0.0), ball(0.4, -1.0)]
    scene.collide(balls, others, restitution=1.0)  # not two of a group
    scene.run(0.25, 1 / 1000)
    assert [one.velocity[0] for one in balls + others] == pytest.approx([1.0, 0.0, 0.0, -1.0], abs=1e-12)
    scene.collide(balls, balls, restitution=1.0)
    scene.ignore(balls[1], others)
    scene.reset()
    scene.run(0.25, 1 / 1000)
    assert [one.velocity[0] for one in balls] == pytest.approx([0.0, 1.0], abs=2e-5)  # R is 1e-5
    assert others[1].velocity[0] == pytest.approx(-1.0, abs=1e-12)


def test_lift_raises_a_box():
    """A lift that rises evenly carries the weight, and the box stays on it."""
    lift = sn.Obstacle(sn.Box((1, 1, 0.2), sn.Pose((0, 0, -0.1))), name="lift")
    scene, box = box_on(lift)
    lift.path = sn.Route([0, 2], [(0, 0, 0), (0, 0, 1)])
    scene.run(1.0, 1 / 240)
    assert box.position == pytest.approx((0, 0, 0.6), abs=1e-5)
    assert scene.contacts.between(box, lift).force[2] == pytest.approx(G, rel=1e-4)
    assert not [event for event in scene.events if event.kind != "touch"]


def test_deep_overlap_is_refused_and_nothing_changes():
    scene, box = box_on(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    box.position = (0, 0, 0.03)
    with pytest.raises(sn.InputError, match="box and floor overlap where the scene begins"):
        scene.step(1 / 240)
    assert np.array_equal(box.position, (0, 0, 0.03)) and scene.time == 0.0


def test_shallow_overlap_is_taken_back_gently():
    scene, box = box_on(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    box.position = (0, 0, 0.1 - 0.005)
    fastest = 0.0
    for _ in range(240):
        scene.step(1 / 240)
        fastest = max(fastest, abs(box.velocity[2]))
    assert box.position[2] == pytest.approx(0.1, abs=1e-4)
    assert fastest < 0.45  # a tenth of its size in 0.05 s; at once it would be 1.2 m/s
    overlap = next(event for event in scene.events if event.kind == "overlap")
    assert overlap.subjects == (box, scene.obstacles[0]) and "box and floor overlap by 0.005 m" in overlap.message
    assert not [event for event in scene.events if event.kind in ("held", "calmed")]
