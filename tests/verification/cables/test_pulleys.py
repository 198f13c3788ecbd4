"""Atwood's machine and tackles: accelerations and tensions of their closed forms.

A machine that starts with the stretch of its final tension moves with it from the first step: exact to rounding. With
a massive pulley or friction each part of the cable has its own tension, the stretch is redistributed in the first
steps, and cable that runs from one part to the next takes its strain along: 2e-5 of the acceleration at EA = 1.6e7 N.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from verification.cables.rig import G, ball, rope

import sennit as sn

H = 0.01
STIFFNESS = 1.57e7 / 9.6  # EA = 1.57e7 N; a relaxation time of 20 ms takes out the jolt at the start


def sheave(at, axis=(0, 1, 0), radius=0.2, **options):
    return sn.Sheave(sn.World.at(at), axis=axis, radius=radius, **options)


@pytest.mark.parametrize("kind", ["point", "massless", "slippery"])
@pytest.mark.parametrize(("m1", "m2"), [(100.0, 150.0), (70.0, 20.0)])
def test_atwood(kind, m1, m2, validated):
    scene, r, stiffness = sn.Scene(), 0.2, 1e5
    tension, a = hoists.atwood_tension(m1, m2), hoists.atwood_acceleration(m1, m2)
    if kind == "point":
        one, two = ball(scene, m1, (0, 0, -5)), ball(scene, m2, (0, 0, -4))
        over, path = sn.World.at((0, 0, 0)), 9.0
    else:
        one, two = ball(scene, m1, (-r, 0, -5)), ball(scene, m2, (r, 0, -4))
        over, path = sheave((0, 0, 0), friction=0.0 if kind == "slippery" else None), 9.0 + np.pi * r
    cable = scene.add(rope([one.at(), over, two.at()], stiffness, length=path - tension / stiffness))
    assert cable.path_length == pytest.approx(path, rel=1e-12)
    for _ in range(80):
        scene.step(H)
        assert cable.tension == pytest.approx(tension, rel=1e-6)
    validated(
        "Atwood's machine, point or sheave",
        area="cables",
        quantity="tension",
        reference="2m₁m₂g/(m₁ + m₂)",
        error=np.abs(np.array(cable.tensions) / tension - 1).max(),
        bound=1e-6,
    )
    assert two.velocity == pytest.approx((0, 0, -a * 0.8), abs=1e-6 * abs(a))
    assert one.velocity == pytest.approx((0, 0, a * 0.8), abs=1e-6 * abs(a))
    assert cable.elongation == pytest.approx(tension / stiffness, rel=1e-6)
    if kind == "massless":
        # the cable runs without slipping: towards the heavier one
        travel = -two.position[2] - 4.0
        assert over.rate == pytest.approx(a * 0.8 / r, rel=1e-3)
        assert over.angle == pytest.approx(travel / r, rel=1e-3)
        assert over.wrap == pytest.approx(np.pi, rel=1e-9)


def settled_acceleration(scene, body, start: float = 0.5, stop: float = 1.0) -> float:
    """Mean acceleration of a body along z between two times."""
    scene.run(start, dt=H)
    before, v = scene.time, body.velocity[2]
    scene.run(stop - start, dt=H)
    return (body.velocity[2] - v) / (scene.time - before)


def test_massive_pulley(validated):
    scene, r, inertia, m1, m2 = sn.Scene(), 0.2, 2.0, 100.0, 150.0
    one, two = ball(scene, m1, (-r, 0, -5)), ball(scene, m2, (r, 0, -4))
    wheel = sheave((0, 0, 0), inertia=inertia)
    cable = scene.add(rope([one.at(), wheel, two.at()], STIFFNESS, damping=0.02 * STIFFNESS))
    a = hoists.atwood_acceleration(m1, m2, inertia / r**2)
    validated(
        "Pulley with inertia",
        area="cables",
        quantity="acceleration",
        reference="(m₂ − m₁)g/(m₁ + m₂ + I/r²)",
        error=abs(settled_acceleration(scene, two) / -a - 1),
        bound=1e-4,
    )
    assert cable.tensions == pytest.approx([m1 * (G + a), m2 * (G - a)], rel=1e-3)
    assert cable.tension == pytest.approx(m1 * (G + a), rel=1e-3)
    # it turns with the cable, about its axis from the first point to the last
    assert wheel.rate == pytest.approx(-two.velocity[2] / r, rel=1e-3)
    assert wheel.angle == pytest.approx((-4 - two.position[2]) / r, rel=1e-3)


def test_pulley_that_slips(validated):
    # a heavy wheel with little friction: the cable slides, one tension is exp(mu pi) times the other
    scene, r, m1, m2, mu = sn.Scene(), 0.2, 100.0, 150.0, 0.05
    one, two = ball(scene, m1, (-r, 0, -5)), ball(scene, m2, (r, 0, -4))
    wheel = sheave((0, 0, 0), inertia=50.0, friction=mu)
    cable = scene.add(rope([one.at(), wheel, two.at()], STIFFNESS, damping=0.02 * STIFFNESS))
    rho = np.exp(mu * np.pi)
    a = hoists.capstan_acceleration(m1, m2, rho)
    assert settled_acceleration(scene, two) == pytest.approx(-a, rel=3e-4)
    t1, t2 = cable.tensions
    validated(
        "Pulley on which the cable slips",
        area="cables",
        quantity="ratio of tensions",
        reference="exp(μπ)",
        error=abs(t2 / t1 / rho - 1),
        bound=1e-6,
    )
    # the wheel is turned by the difference alone
    assert wheel.rate == pytest.approx((t2 - t1) * r / 50.0 * scene.time, rel=0.05)
    assert wheel.rate * r < -two.velocity[2]


def tackle(falls: int, pull: float, load: float, mu: float | None, preload: bool):
    """The free end with mass `pull` goes up over a fixed sheave, under one of the block's, and so on, to an anchor.

    All falls are vertical, 2 r apart. The block hardly turns: its moments of inertia are huge.
    """
    scene, r, high, low = sn.Scene(), 0.1, 0.0, -5.0
    options = {"friction": 0.0} if mu is None else {"friction": mu, "fixed": True}
    weight = ball(scene, pull, (0, 0, low))
    pairs = falls // 2
    middle = r * (4 * (pairs - 1) + 6) / 2
    block = scene.add(sn.RigidBody.from_inertia(load, (1e9, 1e9, 1e9), position=(middle, 0, low)))
    points: list = [weight.at()]
    for k in range(pairs):
        x = r + 4 * r * k
        points.append(sheave((x, 0, high), axis=(0, 1, 0), radius=r, **options))
        points.append(sn.Sheave(block.at((x + 2 * r - middle, 0, 0)), axis=(0, -1, 0), radius=r, **options))
    points.append(sn.World.at((4 * r * pairs, 0, high)))
    path = (falls + 1) * (high - low) + falls * np.pi * r
    a = hoists.tackle_acceleration(pull, load, falls)
    stretch = pull * (G - a) / 1e6 if preload else 0.0
    cable = scene.add(rope(points, 1e6, length=path - stretch, damping=0.0 if preload else 2e4))
    assert cable.path_length == pytest.approx(path, rel=1e-12)
    return scene, weight, block, cable


@pytest.mark.parametrize("falls", [2, 4])
def test_tackle_without_friction(falls, validated):
    # 300 kg held by a half or a fourth of it, and 10 kg more
    load = 300.0
    scene, weight, block, cable = tackle(falls, load / falls + 10.0, load, None, True)
    a = hoists.tackle_acceleration(load / falls + 10.0, load, falls)
    scene.run(0.5, dt=H)
    validated(
        "Tackle, 2 and 4 falls",
        area="cables",
        quantity="speed",
        reference="Lagrange",
        error=abs(weight.velocity[2] / (-a * 0.5) - 1),
        bound=1e-6,
    )
    assert block.velocity[2] == pytest.approx(a * 0.5 / falls, rel=1e-6)
    assert cable.tension == pytest.approx((load / falls + 10.0) * (G - a), rel=1e-6)
    assert cable.tensions == pytest.approx(np.full(falls + 1, cable.tension), rel=1e-9)


@pytest.mark.parametrize("falls", [2, 4])
def test_tackle_in_balance(falls):
    scene, weight, block, cable = tackle(falls, 300.0 / falls, 300.0, None, True)
    scene.run(1.0, dt=H)
    assert abs(weight.velocity[2]) < 1e-9
    assert abs(block.velocity[2]) < 1e-9
    assert falls * cable.tension == pytest.approx(300.0 * G, rel=1e-9)


@pytest.mark.parametrize("falls", [2, 4])
def test_tackle_with_friction(falls, validated):
    mu, load = 0.05, 300.0
    rho = np.exp(mu * np.pi)
    least = load / hoists.tackle_sum(falls, rho)  # what it takes to lift
    pull = 1.1 * least
    scene, weight, block, cable = tackle(falls, pull, load, mu, False)
    a = hoists.tackle_acceleration(pull, load, falls, rho)
    validated(
        "Tackle with friction, 2 and 4 falls",
        area="cables",
        quantity="acceleration",
        reference="Newton, exp(μπ) at each sheave",
        error=abs(settled_acceleration(scene, weight) / -a - 1),
        bound=1e-3,
    )
    assert block.velocity[2] == pytest.approx(-weight.velocity[2] / falls, rel=1e-2)
    # every sheave takes its share
    tensions = np.asarray(cable.tensions)
    assert tensions[:-1] / tensions[1:] == pytest.approx(np.full(falls, rho), rel=1e-3)
    assert tensions[0] == pytest.approx(pull * (G - a), rel=2e-3)


def test_tackle_that_friction_holds():
    # more than it takes to hold, less than it takes to lift
    mu, load, falls = 0.05, 300.0, 4
    rho = np.exp(mu * np.pi)
    scene, weight, block, _ = tackle(falls, 0.5 * (load / 4 + load / hoists.tackle_sum(falls, rho)), load, mu, False)
    scene.run(2.0, dt=H)
    z, b = weight.position[2], block.position[2]
    scene.run(2.0, dt=H)
    assert weight.position[2] == pytest.approx(z, abs=1e-5)
    assert block.position[2] == pytest.approx(b, abs=1e-5)


def test_sliding_ring_lifts_twice():
    # a movable point pulley: 2:1 without any sheave
    scene = sn.Scene()
    weight, load = ball(scene, 60.0, (0, 0, -3)), ball(scene, 100.0, (1, 0, -4))
    points = [weight.at(), sn.World.at((0, 0, 0)), sn.World.at((1, 0, 0)), load.at(), sn.World.at((1, 0, 0))]
    a = hoists.tackle_acceleration(60.0, 100.0, 2)
    tension = 60.0 * (G - a)
    cable = scene.add(rope(points, 1e6, length=12.0 - tension / 1e6))
    scene.run(0.5, dt=H)
    assert weight.velocity[2] == pytest.approx(-a * 0.5, rel=1e-6)
    assert load.velocity[2] == pytest.approx(a * 0.25, rel=1e-6)
    assert cable.tensions == pytest.approx(np.full(4, tension), rel=1e-6)
