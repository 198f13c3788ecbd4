"""Stacks stand, balls bounce, shocks keep momentum."""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn

G = 9.81


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_stack_of_ten(ratio, validated):
    """Ten boxes, equal or each twice as heavy as the one below: the ground carries the weight, and nothing sinks."""
    scene = sn.Scene()
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    masses = ratio ** np.arange(10)
    boxes = [
        scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=m, position=(0, 0, 0.05 + 0.1 * k)))
        for k, m in enumerate(masses)
    ]
    scene.collide(friction=0.5)
    scene.run(2.0, 1 / 240)
    top = boxes[-1].position
    ground = scene.contacts.between(boxes[0], floor).force
    validated(
        "Stack of ten boxes, equal or of masses 1 … 512", area="contact", quantity="sink of the top after 2 s, m",
        reference="equilibrium", error=abs(top[2] - 0.95), bound=2e-5,
    )  # fmt: skip
    assert np.linalg.norm(top[:2]) < 1e-6
    assert ground == pytest.approx((0, 0, masses.sum() * G), rel=1e-5, abs=1e-4 * masses.sum())


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_bounces(restitution, validated):
    """Heights of bounces fall by e²; without restitution the ball stays down."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0, 0, 0.05 + 0.5)))
    scene.collide(friction=0.0, restitution=restitution)
    h = 1e-4
    heights, last, rising = [], -1.0, False
    for _ in range(15000):
        scene.step(h)
        v = ball.velocity[2]
        if rising and v <= 0.0:
            heights.append(ball.position[2] - 0.05)
        rising = v > 0.0
        last = v
    if restitution == 0.0:
        assert not heights or max(heights) < 1e-4
        assert abs(last) < 1e-3 and abs(ball.position[2] - 0.05) < 1e-6
    else:
        for k in range(2):
            validated(
                "Ball bounces", area="contact", quantity="heights, each of e² times the one before",
                reference="law of restitution", error=abs(heights[k] / (0.5 * restitution ** (2 * k + 2)) - 1.0),
                bound=0.01 * (k + 1),
            )  # fmt: skip


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_shock_does_not_throw_apart_what_overlaps(restitution):
    """A ball that has sunk into the ground and sinks on at 2 m/s leaves no faster than a rebound or a gentle push."""
    scene = sn.Scene(gravity=(0, 0, 0))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0, 0, 0.046)))
    ball.velocity = (0, 0, -2.0)
    scene.collide(restitution=restitution)
    scene.step(1e-4)
    assert 2.0 * restitution <= ball.velocity[2] < 2.3


def clash(h):
    """Two boxes that clash in free flight, with friction, at steps of `h`: scene, one, momenta and energy before."""
    scene = sn.Scene(gravity=(0, 0, 0))
    a = scene.add(sn.RigidBody.box((0.2, 0.1, 0.1), mass=1.0, position=(-0.3, 0.03, 0.02)))
    b = scene.add(sn.RigidBody.box((0.1, 0.2, 0.1), mass=2.0, position=(0.3, 0.0, 0.0)))
    a.velocity, b.velocity = (2.0, 0.3, 0.0), (-1.0, 0.0, 0.1)
    a.angular_velocity = (0.0, 3.0, 1.0)
    scene.collide(friction=0.4, restitution=0.2)
    momentum, spin = scene.linear_momentum, scene.angular_momentum
    energy = scene.energy.kinetic
    scene.run(0.5, h)
    assert np.linalg.norm(a.velocity - (2.0, 0.3, 0.0)) > 0.5
    assert scene.linear_momentum == pytest.approx(momentum, abs=1e-12)
    assert scene.energy.kinetic < energy
    return np.linalg.norm(scene.angular_momentum - spin) / np.linalg.norm(spin)


def test_shock_of_free_bodies_keeps_momenta():
    """Momentum to rounding, angular momentum to the scheme's order: a shock is where the step begins, not in it."""
    steps = 1 / 1000, 1 / 4000, 1 / 16000
    errors = [clash(h) for h in steps]
    assert errors[0] < 0.02
    assert errors[2] < errors[0] / 6.0
