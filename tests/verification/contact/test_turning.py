"""Rolling and twisting friction against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sennit as sn

G, R = 9.81, 0.1


def ball_on_floor(tilt: float = 0.0, **law: float) -> tuple[sn.Scene, sn.RigidBody]:
    """A ball of a kilogram on a floor that slopes down along x by `tilt` (rad)."""
    scene = sn.Scene(gravity=(G * math.sin(tilt), 0.0, -G * math.cos(tilt)))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    ball = scene.add(sn.RigidBody.sphere(R, mass=1.0, position=(0, 0, R), name="ball"))
    scene.collide(friction=0.5, **law)
    return scene, ball


def test_ball_rolls_to_rest(validated):
    """A torque ρ m g against rolling takes 5/7 ρ g/r from its speed; then it stays."""
    rolling, time = 2e-3, 0.5
    scene, ball = ball_on_floor(rolling_friction=rolling)
    ball.velocity, ball.angular_velocity = (1.0, 0, 0), (0, 1.0 / R, 0)
    scene.run(time, 1 / 240)
    lost = 5 / 7 * rolling * G / R * time
    validated(
        "Ball with rolling friction", area="contact", quantity="speed lost, of 5/7 ρ g t/r", reference="closed form",
        error=abs((1.0 - ball.velocity[0]) / lost - 1.0), bound=1e-3,
    )  # fmt: skip
    (contact,) = scene.contacts
    np.testing.assert_allclose(contact.torque, (0, -rolling * G, 0), atol=1e-6)
    assert scene.contacts.between(ball).torque[1] == pytest.approx(
        -rolling * G - contact.position[0] * contact.force[2], rel=1e-6
    )
    ball.velocity, ball.angular_velocity = (0.1, 0, 0), (0, 0.1 / R, 0)
    scene.run(1.0, 1 / 240)
    there = ball.position
    scene.run(1.0, 1 / 240)
    assert np.linalg.norm(ball.position - there) < 1e-10


@pytest.mark.parametrize(("share", "rolls"), [(0.98, False), (1.05, True)])
def test_ball_on_slope_begins_to_roll_at_rho_over_r(share, rolls):
    rolling = 5e-3
    tilt = math.atan(rolling / R) * share
    scene, ball = ball_on_floor(tilt, rolling_friction=rolling)
    scene.run(0.5, 1 / 240)
    if rolls:
        acceleration = 5 / 7 * G * (math.sin(tilt) - rolling / R * math.cos(tilt))
        assert ball.velocity[0] == pytest.approx(0.5 * acceleration, rel=0.02)
    else:
        assert abs(ball.velocity[0]) < 1e-9


def test_ball_spins_down(validated):
    """A torque σ m g about the normal takes σ g/(2/5 r²) from its spin."""
    twisting, time = 3e-3, 0.3
    scene, ball = ball_on_floor(twisting_friction=twisting)
    ball.angular_velocity = (0, 0, 4.0)
    scene.run(time, 1 / 240)
    lost = twisting * G / (0.4 * R * R) * time
    validated(
        "Ball with twisting friction", area="contact", quantity="spin lost, of σ g t/(2/5 r²)",
        reference="closed form", error=abs((4.0 - ball.angular_velocity[2]) / lost - 1.0), bound=1e-3,
    )  # fmt: skip
    assert np.linalg.norm(ball.velocity) < 1e-6


def test_rod_rolls_down_a_slope(validated):
    """A round bar rolls with 2/3 (g sin α − ρ/r g cos α)."""
    tilt, radius, time = math.radians(8.0), 0.01, 0.25
    rolling = 0.3 * math.tan(tilt) * radius
    scene = sn.Scene(gravity=(G * math.sin(tilt), 0.0, -G * math.cos(tilt)))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    steel = sn.Material(youngs_modulus=2e9, poisson_ratio=0.3, density=8000)
    bar = scene.add(sn.Rod.straight(
        (0, 0, radius), (0, 0.2, radius), section=sn.Section.circle(radius), material=steel, control_points=5
    ))  # fmt: skip
    scene.collide(friction=0.6, rolling_friction=rolling)
    scene.run(time, 1 / 240)
    exact = 2 / 3 * G * (math.sin(tilt) - rolling / radius * math.cos(tilt)) * time
    speed = bar.control_velocities[:, 0].mean()
    validated(
        "Bar with rolling friction", area="contact", quantity="speed, of 2/3 (g sin α − ρ/r g cos α) t",
        reference="closed form", error=abs(speed / exact - 1.0), bound=0.01,
    )  # fmt: skip


def test_torques_are_of_action_and_reaction():
    """Two balls that spin against each other in free space keep their angular momentum."""
    scene = sn.Scene(gravity=(0, 0, 0))
    first = scene.add(sn.RigidBody.sphere(R, mass=1.0, position=(-R, 0, 0)))
    second = scene.add(sn.RigidBody.sphere(R, mass=2.0, position=(R, 0, 0)))
    first.angular_velocity = (5.0, 0, 0)
    first.velocity, second.velocity = (0.2, 0, 0), (-0.1, 0, 0)  # they press on each other in a shock
    scene.collide(friction=0.5, twisting_friction=5e-2)
    spin = 0.4 * R * R * (first.angular_velocity + 2.0 * second.angular_velocity)
    scene.run(0.05, 1 / 1000)
    after = 0.4 * R * R * (first.angular_velocity + 2.0 * second.angular_velocity)
    assert second.angular_velocity[0] > 0.01
    np.testing.assert_allclose(after, spin, atol=1e-9)
