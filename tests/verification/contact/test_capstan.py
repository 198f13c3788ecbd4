"""A rope drawn over a fixed cylinder: T₂/T₁ = e^{μ θ R/(R + r)}, with friction on the rope's surface."""

from __future__ import annotations

import math

import numpy as np

import sennit as sn


def capstan(friction: float, points: int, h: float, pull: float = 40.0, speed: float = 0.1, time: float = 0.6) -> float:
    """Ratio of the forces at both ends of a rope that slides over half a turn of a cylinder."""
    r, R = 2e-3, 0.1
    scene = sn.Scene(gravity=(0, 0, 0))
    scene.add(sn.Obstacle(sn.Cylinder(R, 0.2, sn.Pose((0, 0, 0), (math.sqrt(0.5), math.sqrt(0.5), 0, 0)))))
    soft = sn.Material(youngs_modulus=2e8, poisson_ratio=0.4, density=1100, relaxation_time=5e-3)
    arm = 0.15
    angles = np.linspace(math.pi, 0.0, 61)
    arc = (R + r) * np.column_stack((np.cos(angles), np.zeros(61), np.sin(angles)))
    down = np.linspace(-arm, 0.0, 16)[:-1]
    left = np.column_stack((np.full(15, -(R + r)), np.zeros(15), down))
    right = np.column_stack((np.full(15, R + r), np.zeros(15), down[::-1]))
    rope = scene.add(sn.Rod.through(
        np.vstack((left, arc, right)), section=sn.Section.circle(r), material=soft, control_points=points
    ))  # fmt: skip
    load = scene.add(sn.Load(rope.at(0.0), force=(0, 0, -pull)))
    end = (R + r, 0.0, -arm)
    hand = scene.add(sn.Follow(rope.at(rope.length), lambda t: (end[0], 0.0, end[2] - speed * max(t - 0.3, 0.0))))
    scene.collide(friction=friction)
    scene.run(0.3 + time, h)
    assert load.enabled
    return abs(hand.force[2]) / pull


def test_half_a_wrap(validated):
    friction, r, R = 0.3, 2e-3, 0.1
    exact = math.exp(friction * math.pi * R / (R + r))
    found = capstan(friction, points=60, h=1 / 240)
    validated(
        "Capstan, half a wrap", area="contact", quantity="ratio of tensions", reference="e^{μθR/(R+r)}",
        error=abs(found / exact - 1.0), bound=0.01,
    )  # fmt: skip
