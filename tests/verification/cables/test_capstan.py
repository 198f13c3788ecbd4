"""A cable over a fixed drum: it holds while one tension is less than exp(mu theta) times the other, and slides at it.

Sliding:  m2 g - T2 = m2 a,  T1 - m1 g = m1 a,  T2 = exp(mu theta) T1.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from verification.cables.rig import ball, rope

import sennit as sn

H = 1 / 120


def capstan(m1: float, m2: float, mu: float, turns: int = 0, swap: bool = False):
    scene, r = sn.Scene(), 0.15
    one, two = ball(scene, m1, (-r, 0, -3)), ball(scene, m2, (r, 0, -2))
    drum = sn.Sheave(
        sn.World.at((0, 0, 0)), axis=(0, -1, 0) if swap else (0, 1, 0), radius=r, friction=mu, fixed=True, turns=turns
    )
    ends = [two.at(), drum, one.at()] if swap else [one.at(), drum, two.at()]
    cable = scene.add(rope(ends, 1e6))
    return scene, one, two, drum, cable


@pytest.mark.parametrize(("mu", "turns"), [(0.1, 0), (0.3, 0), (0.1, 1), (0.08, 3)])
@pytest.mark.parametrize("swap", [False, True])
def test_slides_at_the_ratio(mu, turns, swap, validated):
    rho = np.exp(mu * (np.pi + 2 * np.pi * turns))
    m1, m2 = 10.0, 10.0 * rho * 1.3
    scene, _, two, drum, cable = capstan(m1, m2, mu, turns, swap)
    assert drum.wrap == pytest.approx(np.pi * (1 + 2 * turns), rel=1e-9)
    scene.run(0.3, dt=H)
    t, v = scene.time, two.velocity[2]
    scene.run(0.3, dt=H)
    t1, t2 = cable.tensions[::-1] if swap else cable.tensions
    validated(
        "Cable that slides on a fixed drum, half a turn to 3½",
        area="cables",
        quantity="ratio of tensions",
        reference="Euler and Eytelwein: exp(μθ)",
        error=abs(t2 / t1 / rho - 1),
        bound=1e-3,
    )
    a = hoists.capstan_acceleration(m1, m2, rho)
    validated(
        "Cable that slides on a fixed drum, half a turn to 3½",
        area="cables",
        quantity="acceleration",
        reference="Newton, with that ratio",
        error=abs((v - two.velocity[2]) / (scene.time - t) / a - 1),
        bound=2e-3,
    )
    assert (drum.angle, drum.rate) == (0.0, 0.0)


@pytest.mark.parametrize(("mu", "turns"), [(0.1, 0), (0.1, 1), (0.08, 3)])
@pytest.mark.parametrize("heavier", [0.97, 1 / 0.97])
def test_holds_below_the_ratio_and_gives_above(mu, turns, heavier):
    rho = np.exp(mu * (np.pi + 2 * np.pi * turns))
    scene, one, two, _, cable = capstan(10.0, 10.0 * rho * heavier, mu, turns)
    if heavier < 1:
        # a cable hung loose would jolt its way past the limit: let the load down gently
        scene.drag = 20.0
        scene.run(3.0, dt=H)
        scene.drag = 0.0
    start = np.array([one.position[2], two.position[2]])
    scene.run(2.0, dt=H)
    moved = np.array([one.position[2], two.position[2]]) - start
    if heavier < 1:
        assert np.abs(moved).max() < 1e-5
        t1, t2 = cable.tensions
        assert (t1, t2) == pytest.approx((10.0 * 9.81, 10.0 * rho * heavier * 9.81), rel=1e-4)
    else:
        assert moved[0] > 0.05
        assert moved[1] < -0.05


def test_stays_when_loads_change_within_the_limit():
    # pulled this way and that: what slid does not come back, what sticks does not creep
    scene, one, two, _, cable = capstan(10.0, 12.0, 0.2)  # ratio up to 1.87
    scene.drag = 20.0
    scene.run(2.0, dt=H)
    scene.drag = 0.0
    z = one.position[2]
    push = scene.add(sn.Load(two.at(), force=(0, 0, 0)))
    for k in range(600):
        push.force = (0, 0, 25.0 * np.sin(2 * np.pi * k / 120))
        scene.step(H)
    push.force = (0, 0, 0)
    scene.run(1.0, dt=H)
    assert one.position[2] == pytest.approx(z, abs=2e-4)
    assert cable.tensions == pytest.approx([10 * 9.81, 12 * 9.81], rel=0.02)


def test_length_is_kept_while_it_slides():
    scene, one, two, _, cable = capstan(10.0, 40.0, 0.1)
    total = cable.length
    for _ in range(60):
        scene.step(H)
        lowest = np.array([-one.position[2], -two.position[2]]).sum() + np.pi * 0.15
        assert cable.path_length == pytest.approx(lowest, rel=1e-9)
        assert cable.path_length - total < 1e-6 * 3 * 40 * 9.81
        assert cable.length == total
