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


def wound(friction: float, turns: float, points: int, h: float) -> float:
    """Logarithm of the ratio of the forces at both ends of a rope that is drawn along a helix of so many turns.

    A helix is a geodesic: nothing leads the rope sideways, if its legs leave along its tangents.
    """
    r, R, rise, pull, speed, arm = 2e-3, 0.1, 0.02, 40.0, 0.6, 0.15
    scene = sn.Scene(gravity=(0, 0, 0))
    lying = sn.Pose((0, 0, 0), (math.sqrt(0.5), math.sqrt(0.5), 0, 0))
    drum = scene.add(sn.Obstacle(sn.Cylinder(R, 0.4, lying)))
    soft = sn.Material(youngs_modulus=2e8, poisson_ratio=0.4, density=1100, relaxation_time=5e-3)
    turn = np.linspace(0.0, 2 * math.pi * turns, round(40 * turns) + 1)
    along = rise / (2 * math.pi)
    arc = np.column_stack(((R + r) * np.cos(math.pi - turn), along * turn, (R + r) * np.sin(math.pi - turn)))
    tangents = np.column_stack((
        (R + r) * np.sin(math.pi - turn), np.full(len(turn), along), -(R + r) * np.cos(math.pi - turn)
    )) / math.hypot(R + r, along)  # fmt: skip
    leg = np.linspace(arm, 0.0, 16)[:-1, None]
    way = np.vstack((arc[0] - leg * tangents[0], arc, arc[-1] + leg[::-1] * tangents[-1]))
    rope = scene.add(sn.Rod.through(way, section=sn.Section.circle(r), material=soft, control_points=points))
    scene.add(sn.Load(rope.at(0.0), force=-pull * tangents[0]))
    hand = scene.add(sn.Follow(rope.at(rope.length), lambda t: way[-1] + speed * max(t - 0.05, 0.0) * tangents[-1]))
    scene.collide(rope, drum, friction=friction)
    scene.run(0.3, h)  # by 15 cm, of which its stretch takes 9
    return math.log(abs(hand.force @ tangents[-1]) / pull)


def test_three_wraps(validated):
    """θ is the angle by which the tangent turns, cos β of that about the axis; to 1 % of the exponent."""
    friction, turns, r, R, rise = 0.1, 3, 2e-3, 0.1, 0.02
    lead = (R + r) / math.hypot(R + r, rise / (2 * math.pi))
    exact = friction * 2 * math.pi * turns * lead * R / (R + r)
    validated(
        "Capstan, three wraps", area="contact", quantity="logarithm of the ratio of tensions",
        reference="μθR/(R+r)", error=abs(wound(friction, turns, points=200, h=1 / 240) / exact - 1.0), bound=0.01,
    )  # fmt: skip
