"""Pearls that meet: shocks with restitution, resting contact, stops at the ends of the rod."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene.kit import STIFF, WIRE, G

import sennit as sn

DT = 2e-3
R = 0.01


def level(places, masses, restitution=1.0, **options):
    scene = sn.Scene(gravity=(0, 0, 0))
    wire = scene.add(sn.Rod.straight((0, 0, 0), (1, 0, 0), section=WIRE, material=STIFF, control_points=8))
    for s in (0.0, 1.0):
        scene.add(sn.Clamp(wire.at(s)))
    pearls = [
        scene.add(sn.Pearl(wire, at=s, mass=m, radius=R, restitution=restitution, **options))
        for s, m in zip(places, masses, strict=True)
    ]
    return scene, pearls


def throw(scene, pearl, mass: float, speed: float, steps: int = 5) -> None:
    push = scene.add(sn.Load(pearl.at(), force=(mass * speed / (steps * DT), 0, 0)))
    for _ in range(steps):
        scene.step(DT)
    scene.remove(push)
    assert velocities([pearl])[0] == pytest.approx(speed, rel=1e-9)


def velocities(pearls) -> np.ndarray:
    return np.array([pearl.at().velocity[0] for pearl in pearls])


def apart(pearls) -> bool:
    s = [pearl.s for pearl in pearls]
    return bool((np.diff(s) > 2 * R - 1e-6).all())


def test_equal_pearls_swap_velocities() -> None:
    scene, pearls = level((0.2, 0.4), (0.01, 0.01))
    throw(scene, pearls[0], 0.01, 1.0)
    for _ in range(150):
        scene.step(DT)
        assert apart(pearls)
    assert velocities(pearls) == pytest.approx((0, 1), abs=1e-6)
    assert pearls[1].s > 0.45


def test_head_on() -> None:
    scene, pearls = level((0.2, 0.8), (0.01, 0.01))
    push = scene.add(sn.Load(pearls[1].at(), force=(-0.01 * 0.5 / (5 * DT), 0, 0)))
    throw(scene, pearls[0], 0.01, 1.0)
    scene.remove(push)
    assert velocities(pearls) == pytest.approx((1.0, -0.5), rel=1e-9)
    for _ in range(220):
        scene.step(DT)
        assert apart(pearls)
    assert velocities(pearls) == pytest.approx((-0.5, 1.0), abs=1e-6)


@pytest.mark.parametrize("e", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("masses", [(0.01, 0.01), (0.01, 0.03), (0.02, 0.005)])
def test_restitution(e: float, masses: tuple[float, float], validated) -> None:
    """v2' = m1 (1 + e) v / (m1 + m2), v1' = (m1 - e m2) v / (m1 + m2)."""
    m1, m2 = masses
    scene, pearls = level((0.3, 0.4), masses, restitution=e)
    throw(scene, pearls[0], m1, 0.8)
    for _ in range(75):
        scene.step(DT)
        assert apart(pearls)
    wanted = (0.8 * (m1 - e * m2) / (m1 + m2), 0.8 * m1 * (1 + e) / (m1 + m2))
    validated(
        "Two pearls that meet, restitution 0 to 1",
        area="constraints",
        quantity="speeds (m/s)",
        reference="Newton's law of impact",
        error=np.abs(velocities(pearls) - wanted).max(),
        bound=1e-5,
    )


def test_a_row_of_pearls_passes_the_shock_on() -> None:
    scene, pearls = level((0.1, 0.3, 0.3 + 2 * R + 2e-3, 0.3 + 4 * R + 4e-3), (0.01,) * 4)
    throw(scene, pearls[0], 0.01, 1.0)
    for _ in range(200):
        scene.step(DT)
        assert apart(pearls)
        if velocities(pearls)[-1] > 0.5:
            break
    scene.step(DT)
    assert velocities(pearls) == pytest.approx((0, 0, 0, 1), abs=1e-5)


def test_touching_pearls_keep_momentum_and_energy() -> None:
    """Without gaps a shock of three bodies has many answers; none may gain energy or lose momentum."""
    scene, pearls = level((0.1, 0.3, 0.3 + 2 * R, 0.3 + 4 * R), (0.01,) * 4)
    throw(scene, pearls[0], 0.01, 1.0)
    for _ in range(150):
        scene.step(DT)
        v = velocities(pearls)
        assert v.sum() == pytest.approx(1.0, abs=1e-6)
        assert (v * v).sum() < 1 + 1e-6
        assert apart(pearls)
    assert v[-1] > 0.3


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_stops_at_the_end_of_the_rod(e: float) -> None:
    scene, pearls = level((0.9,), (0.01,), restitution=e)
    throw(scene, pearls[0], 0.01, 0.8)
    for _ in range(80):
        scene.step(DT)
        assert pearls[0].s <= 1.0 + 1e-6
    assert velocities(pearls)[0] == pytest.approx(-0.8 * e, abs=1e-5)


def test_no_shock_no_force() -> None:
    scene, pearls = level((0.2, 0.4), (0.01, 0.01))
    throw(scene, pearls[1], 0.01, 1.0)  # away from the other
    for _ in range(60):
        scene.step(DT)
    assert velocities(pearls) == pytest.approx((0, 1), abs=1e-9)
    assert pearls[0].s == pytest.approx(0.2, abs=1e-12)


def test_a_stack_rests_on_the_end(validated) -> None:
    """Three pearls fall down an upright wire, come to rest on each other and weigh on its end."""
    scene = sn.Scene()
    wire = scene.add(sn.Rod.straight((0, 0, 1), (0, 0, 0), section=WIRE, material=STIFF, control_points=8))
    clamps = [scene.add(sn.Clamp(wire.at(s))) for s in (0.0, 1.0)]
    masses = (0.01, 0.03, 0.02)
    pearls = [
        scene.add(sn.Pearl(wire, at=s, mass=m, radius=R, restitution=0.0))
        for s, m in zip((0.8, 0.85, 0.9), masses, strict=True)
    ]
    scene.run(1.0, dt=0.01)
    s = [pearl.s for pearl in pearls]
    assert np.diff(s) == pytest.approx((2 * R, 2 * R), abs=1e-7)
    assert 1.0 - R - 1e-6 < s[-1] < 1.0 + 1e-6
    for pearl in pearls:
        assert np.abs(pearl.at().velocity).max() < 1e-6
    weight = (sum(masses) + STIFF.density * WIRE.area) * G
    validated(
        "Three pearls at rest on each other",
        area="constraints",
        quantity="force at the end",
        reference="their weight",
        error=abs(sum(clamp.force[2] for clamp in clamps) / weight - 1),
        bound=1e-4,
    )
    # turned off, gravity would not make them cling: pulled up, the upper one leaves alone
    lift = scene.add(sn.Load(pearls[0].at(), force=(0, 0, 0.01 * G + 0.02)))
    scene.run(0.1, dt=0.01)
    assert s[0] - pearls[0].s == pytest.approx(0.02 / 0.01 * 0.01 * 0.01 * 10 * 11 / 2, rel=1e-2)
    assert pearls[1].s == pytest.approx(s[1], abs=1e-7)
    scene.remove(lift)


def test_a_bouncing_stack_never_gains_energy() -> None:
    scene = sn.Scene()
    wire = scene.add(sn.Rod.straight((0, 0, 1), (0, 0, 0), section=WIRE, material=STIFF, control_points=8))
    for s in (0.0, 1.0):
        scene.add(sn.Clamp(wire.at(s)))
    pearls = [scene.add(sn.Pearl(wire, at=s, mass=0.01, radius=R, restitution=0.7)) for s in (0.5, 0.6)]

    def energy() -> float:
        return sum(0.01 * (0.5 * p.at().velocity[2] ** 2 + G * p.at().position[2]) for p in pearls)

    start = energy()
    for _ in range(300):
        scene.step(5e-3)
        assert energy() < start * (1 + 2e-2)
        assert apart(pearls)
    assert energy() < 0.8 * start
