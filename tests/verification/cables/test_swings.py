"""Loads that swing: elastic pendulum against an accurate solution, plain pendulum, ring on a cable, hooks of 1 g.

Places and velocities stand half a step apart: from rest the places are of first order in h, and of second when the
velocity is started half a step back, v = -a h/2.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from references.scene_cases import fitted_slope
from verification.cables.rig import EA, ROPE, STEEL, G, H, ball, rope

import sennit as sn

LEFT = np.array([-3.0, 0.0, 0.0])  # one of two anchors 6 m apart


def elastic(h: float, half_step: bool) -> np.ndarray:
    """x and z after 1 s of a bob of 1 kg on 100 N/m, let go at 0.6 rad and 10 % of stretch."""
    place = (1.1 * np.sin(0.6), -1.1 * np.cos(0.6))
    scene = sn.Scene()
    bob = ball(scene, 1.0, (place[0], 0, place[1]))
    if half_step:
        a = hoists.elastic_acceleration(1.0, 100.0, 1.0, place)
        bob.velocity = (-a[0] * h / 2, 0, -a[1] * h / 2)
    scene.add(rope([sn.World.at((0, 0, 0)), bob.at()], 100.0, length=1.0))
    for _ in range(round(1.0 / h)):
        scene.step(h)
    return bob.position[[0, 2]]


@pytest.mark.parametrize(("half_step", "order", "worst"), [(False, 1.0, 4e-3), (True, 2.0, 4e-4)])
def test_elastic_pendulum(half_step, order, worst):
    place = (1.1 * np.sin(0.6), -1.1 * np.cos(0.6))
    exact = hoists.elastic_pendulum(1.0, 100.0, 1.0, place, np.array([1.0]))[0]
    steps = (100, 200, 400, 800)
    errors = [float(np.hypot(*(elastic(1 / n, half_step) - exact))) for n in steps]
    assert errors[0] < worst
    assert fitted_slope([1 / n for n in steps], errors) == pytest.approx(order, abs=0.1)


def pendulum(amplitude: float, length: float = 4.0, mass: float = 1000.0, **options):
    """Let go at rest with the stretch of its weight's share."""
    scene = sn.Scene(**options)
    reach = length * (1 + mass * G * np.cos(amplitude) / EA)
    bob = ball(scene, mass, (reach * np.sin(amplitude), 0, -reach * np.cos(amplitude)))
    return scene, bob, scene.add(sn.Cable([sn.World.at((0, 0, 0)), bob.at()], ROPE, STEEL, length=length))


def angles(scene, bob, seconds: float, h: float) -> np.ndarray:
    out = np.empty(round(seconds / h))
    for k in range(len(out)):
        scene.step(h)
        out[k] = np.arctan2(bob.position[0], -bob.position[2])
    return out


@pytest.mark.parametrize("amplitude", [0.1, 0.3, 1.0])
def test_pendulum_for_a_minute(amplitude, validated):
    # at 60 Hz the cable's own 10 Hz lie near what the step resolves: 2e-5 of the period at 0.3 rad
    scene, bob, cable = pendulum(amplitude)
    swing = angles(scene, bob, 60.0, H)
    period = np.diff(hoists.upward_crossings(swing, H)).mean()
    validated(
        "1,000 kg that swing on steel for a minute",
        area="cables",
        quantity="period",
        reference="elliptic integral",
        error=abs(period / hoists.pendulum_period(4.0 * (1 + 1000 * G / EA), amplitude) - 1),
        bound=1e-3,
    )
    last = swing[-round(1.1 * period / H) :]
    validated(
        "1,000 kg that swing on steel for a minute",
        area="cables",
        quantity="amplitude left",
        reference="conservation",
        error=abs(last.max() / amplitude - 1),
        bound=5e-3,
    )
    assert last.min() == pytest.approx(-amplitude, rel=5e-3)
    assert abs(bob.position[1]) < 1e-9
    # stays on its length to the stretch that m g cos a + m v²/l makes, twice over
    assert abs(cable.path_length - 4.0) < 2 * 4.0 * 3 * 1000 * G / EA


def test_pendulum_tension(validated):
    # at the lowest place: m g (3 - 2 cos a)
    scene, _, cable = pendulum(0.6)
    highest = 0.0
    for _ in range(300):
        scene.step(H)
        if scene.time > 0.5:
            highest = max(highest, cable.tension)
    validated(
        "Pendulum on a cable, lowest place",
        area="cables",
        quantity="tension",
        reference="mg(3 − 2 cos a)",
        error=abs(highest / (1000 * G * (3 - 2 * np.cos(0.6))) - 1),
        bound=0.02,
    )


@pytest.mark.parametrize("stiffness", [1e5, 1e7])
def test_ring_on_a_cable(stiffness, validated):
    # anchors 6 m apart, 10 m of cable: an ellipse, a = 5 m, b = 4 m
    scene = sn.Scene()
    low = 4.0
    tension = 100 * G * 5 / (2 * low)
    length = 10.0 - tension / stiffness  # so that the stretched cable has 10 m
    ring = ball(scene, 100.0, (0.2, 0, -low * np.sqrt(1 - 0.2**2 / 25)))
    cable = scene.add(rope([sn.World.at((-3, 0, 0)), ring.at(), sn.World.at((3, 0, 0))], stiffness, length=length))
    h, x, worst = 0.01, [], 0.0
    for _ in range(2500):
        scene.step(h)
        x.append(ring.position[0])
        worst = max(worst, abs(cable.path_length - 10.0))
        assert cable.tensions[0] == pytest.approx(cable.tensions[1], rel=1e-9)
    period = np.diff(hoists.upward_crossings(np.array(x), h)).mean()
    # 4 cm of amplitude squared over 25 m²: 4e-4 of the period; a soft cable gives 1 % of its length more or less
    validated(
        "Ring that swings along a cable",
        area="cables",
        quantity="period",
        reference="curvature of the ellipse",
        error=abs(period / hoists.ropeway_period(5.0, 3.0) - 1),
        bound=2e-3,
    )
    assert max(x[-600:]) == pytest.approx(0.2, rel=0.02)
    # the length is kept to a part of the stretch (m g moves by 1e-3 with the place), and to the scheme's (v h)²/l
    assert worst < 0.1 * tension / stiffness + 2e-5


def test_length_is_kept_under_wild_sliding():
    # thrown along the cable: path - length stays between nothing and the stretch of a multiple of the weight
    scene = sn.Scene()
    ring = ball(scene, 100.0, (0, 0, -4.0), velocity=(3.0, 1.0, 0))
    cable = scene.add(rope([sn.World.at((-3, 0, 0)), ring.at(), sn.World.at((3, 0, 0))], 1e6, length=10.0))
    for _ in range(2000):
        scene.step(0.005)
        a, b = np.linalg.norm(ring.position - LEFT), np.linalg.norm(ring.position + LEFT)
        assert cable.path_length == pytest.approx(a + b, rel=1e-12)
        assert a + b - 10.0 < 5 * 100 * G / 1e6
        assert cable.length == 10.0


def test_hook_of_a_gram_above_a_ton(validated):
    # one cable to the hook, one from it: a pendulum of 6 m, at 60 Hz for a minute
    scene = sn.Scene()
    along = np.array([np.sin(0.1), 0, -np.cos(0.1)])
    hook, load = ball(scene, 1e-3, 2 * along, radius=0.01), ball(scene, 1000.0, 6 * along)
    scene.add(sn.Cable([sn.World.at((0, 0, 0)), hook.at()], ROPE, STEEL))
    scene.add(sn.Cable([hook.at(), load.at()], ROPE, STEEL))
    swing, aside = [], 0.0
    for _ in range(3600):
        scene.step(H)
        swing.append(load.position[0])
        line = load.position / np.linalg.norm(load.position)
        aside = max(aside, float(np.linalg.norm(hook.position - 2 * line)))
    period = np.diff(hoists.upward_crossings(np.array(swing), H)).mean()
    validated(
        "Hook of a gram above 1,000 kg",
        area="cables",
        quantity="period",
        reference="elliptic integral",
        error=abs(period / hoists.pendulum_period(6.0 * (1 + 1000 * G / EA), 0.1) - 1),
        bound=0.01,
    )
    # what keeps the hook quiet may take from the swing, as backward Euler would: half of it in a minute
    assert 0.4 * 6 * np.sin(0.1) < max(swing[-400:]) < 1.02 * 6 * np.sin(0.1)
    assert aside < 0.05
    assert abs(load.position[1]) < 1e-6


def test_ring_of_a_gram_that_carries_a_ton():
    # the ring slides on a cable between two anchors and carries the load by another: across, all swing as one
    # pendulum of 4 m + 2 m about the line through the anchors
    scene = sn.Scene()
    along = np.array([0, np.sin(0.1), -np.cos(0.1)])
    ring, load = ball(scene, 1e-3, 4 * along, radius=0.01), ball(scene, 1000.0, 6 * along)
    carrier = scene.add(sn.Cable([sn.World.at((-3, 0, 0)), ring.at(), sn.World.at((3, 0, 0))], ROPE, STEEL))
    scene.add(sn.Cable([ring.at(), load.at()], ROPE, STEEL))
    swing, aside = [], 0.0
    for _ in range(3600):
        scene.step(H)
        swing.append(load.position[1])
        aside = max(aside, float(np.linalg.norm(ring.position - load.position * (2 / 3))))
    period = np.diff(hoists.upward_crossings(np.array(swing), H)).mean()
    assert period == pytest.approx(hoists.pendulum_period(6.0, 0.1), rel=0.01)
    assert max(swing[-400:]) < 1.02 * 6 * np.sin(0.1)
    assert aside < 0.1
    # 2 T b/a = m g
    assert carrier.tension == pytest.approx(1000 * G * 5 / 8, rel=0.05)
