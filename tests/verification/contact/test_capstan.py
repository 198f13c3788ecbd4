"""A rope drawn over a fixed cylinder: T₂/T₁ = e^{μ θ R/(R + r)}, with friction on the rope's surface."""

from __future__ import annotations

import math

import numpy as np
import pytest

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


R_BEAM, R_ROPE, HANGS, DENSITY = 0.5, 5e-4, 2.0, 8000.0
G = 9.81


def pull_over(friction: float, short: float, long: float, speed: float) -> float:
    """Acceleration (m/s²) of a heavy rope that slides over a round beam, its ends hanging `short` and `long` (m).

    Along the wrapped half turn dT/dθ = ρ (w cos θ + m a) + μ R (T/ρ + w sin θ − m v²/ρ), with ρ = R + r, from
    T = (w + m a) · short to T = (w − m a) · long: linear in a. Integrated by Runge and Kutta's formula.
    """
    m = DENSITY * math.pi * R_ROPE**2
    w, rho = m * G, R_BEAM + R_ROPE

    def left_over(a: float) -> float:
        def slope(angle: float, tension: float) -> float:
            press = tension / rho + w * math.sin(angle) - m * speed**2 / rho
            return rho * (w * math.cos(angle) + m * a) + friction * R_BEAM * press

        tension, count = (w + m * a) * short, 40
        step = math.pi / count
        for k in range(count):
            angle = k * step
            k1 = slope(angle, tension)
            k2 = slope(angle + 0.5 * step, tension + 0.5 * step * k1)
            k3 = slope(angle + 0.5 * step, tension + 0.5 * step * k2)
            tension += step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + slope(angle + step, tension + step * k3))
        return (w - m * a) * long - tension

    at_rest = left_over(0.0)
    return at_rest / (at_rest - left_over(1.0))


def rope_over_a_beam(friction: float, long: float, h: float, time: float) -> tuple[float, float]:
    """Way of the short end in a `time` (s) from when it is let go of, and how long that end was then (m)."""
    scene, rho = sn.Scene(), R_BEAM + R_ROPE
    scene.add(sn.Obstacle(sn.Cylinder(R_BEAM, 0.3, sn.Pose((0, 0, 0), (math.sqrt(0.5), math.sqrt(0.5), 0, 0)))))
    soft = sn.Material(youngs_modulus=3e8, poisson_ratio=0.4, density=DENSITY, relaxation_time=5e-3)
    angles = np.linspace(math.pi, 0.0, 61)
    arc = rho * np.column_stack((np.cos(angles), np.zeros(61), np.sin(angles)))
    legs = [
        np.column_stack((np.full(n, x), np.zeros(n), z))
        for n, x, z in ((30, -rho, np.linspace(-HANGS, 0, 31)[:-1]), (60, rho, np.linspace(0, -long, 61)[1:]))
    ]
    rope = scene.add(sn.Rod.through(
        np.vstack((legs[0], arc, legs[1])), section=sn.Section.circle(R_ROPE), material=soft, control_points=160
    ))  # fmt: skip
    hand = scene.add(sn.Fix(rope.at(0.0)))
    scene.collide(friction=friction)
    scene.run(0.5, h)
    hand.enabled = False
    begin = rope.at(0.0).position[2]
    scene.run(time, h)
    return rope.at(0.0).position[2] - begin, -begin


@pytest.mark.parametrize(("share", "slides"), [(0.93, False), (1.3, True)])
def test_heavy_rope_slides_over_a_beam(share, slides, validated):
    """With a leg that is too short it stays where it is; with a longer one it runs off, faster and faster.

    The leg that it takes is where the acceleration from rest is none. That is a small difference of large forces: what
    1 % of the tension after the beam (the bound of capstans above) makes of it is the bound here.
    """
    friction, h, time = 0.3, 1 / 240, 1.0
    low, high = HANGS, 10.0 * HANGS
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if pull_over(friction, HANGS, middle, 0.0) > 0.0 else (middle, high)
    long = share * low
    way, short = rope_over_a_beam(friction, long, h, time)
    if not slides:
        assert abs(way) < 5e-3  # of what it gives way by
        return
    start = pull_over(friction, HANGS, long, 0.0)
    bound = 0.01 * (G - start) * long / (start * (HANGS + long + math.pi * R_BEAM))
    x = v = 0.0
    long += HANGS - short  # what it has slid by before
    for _ in range(2000):
        v += time / 2000 * pull_over(friction, short - x, long + x, v)
        x += time / 2000 * v
    assert x > 0.5
    validated(
        "Heavy rope that slides over a round beam", area="contact", quantity="way of its end in 1 s",
        reference="balance along the beam, integrated", error=abs(way / x - 1.0), bound=bound,
    )  # fmt: skip
