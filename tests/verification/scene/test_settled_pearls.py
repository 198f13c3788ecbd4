"""Pearls that rest on what stops them: static equilibria whose one-sided rows hold, and are judged as holding."""

from __future__ import annotations

import pytest

import sennit as sn

HEMP = sn.Material(1e7, 0.4, 1000)
STEEL = sn.Material(2e11, 0.3, 7850)
RADIUS = 0.02


def hanging(material: sn.Material, size: float = 1.0, end=(0, 0, -1)) -> tuple[sn.Scene, sn.Rod]:
    """A rod of length `size` (m) that is clamped at its upper end."""
    scene = sn.Scene()
    away = tuple(size * x for x in end)
    section = sn.Section.circle(5e-3 * size)
    rod = scene.add(sn.Rod.straight((0, 0, 0), away, section=section, material=material, control_points=12))
    scene.add(sn.Clamp(rod.at(0)))
    return scene, rod


@pytest.mark.parametrize("material", [HEMP, STEEL], ids=["hemp", "steel"])
@pytest.mark.parametrize("mass", [1e-3, 0.05, 1.0, 2.0])
@pytest.mark.parametrize("clamped", [1, 2])
def test_a_pearl_on_a_rods_end_is_stable(material: sn.Material, mass: float, clamped: int) -> None:
    scene, rod = hanging(material)
    if clamped == 2:
        scene.add(sn.Clamp(rod.at(rod.length)))
    pearl = scene.add(sn.Pearl(rod, at=0.3, mass=mass, radius=RADIUS))
    report = scene.settle()
    assert report.converged and report.stable, report
    assert pearl.s == pytest.approx(1.0 - RADIUS, abs=1e-9)


@pytest.mark.parametrize("weight", [1.0, 10.0, 30.0, 40.0, 49.0])
def test_a_pearl_on_its_stop_is_as_stable_as_a_load_there(weight: float) -> None:
    """The short piece below it buckles under 40 N: a pearl that its stop holds is a load at that place, no more."""
    directions = []
    for loaded in (True, False):
        scene, rod = hanging(HEMP)
        scene.add(sn.Clamp(rod.at(rod.length)))
        if loaded:
            scene.add(sn.Load(rod.at(1.0 - RADIUS), force=(0, 0, -weight)))
        else:
            scene.add(sn.Pearl(rod, at=0.3, mass=weight / 9.81, radius=RADIUS))
        report = scene.settle()
        directions.append(report.unstable_directions)
    assert directions[0] == directions[1] == (0 if weight < 35.0 else 2)


@pytest.mark.parametrize("material", [HEMP, STEEL], ids=["hemp", "steel"])
@pytest.mark.parametrize("mass", [1e-3, 0.05, 0.5])
def test_stacked_pearls_are_stable(material: sn.Material, mass: float) -> None:
    scene, rod = hanging(material)
    pearls = [scene.add(sn.Pearl(rod, at=at, mass=mass, radius=RADIUS)) for at in (0.3, 0.5, 0.7)]
    report = scene.settle()
    assert report.converged and report.stable, report
    assert pearls[2].s == pytest.approx(1.0 - RADIUS, abs=1e-9)
    for upper, lower in zip(pearls[:-1], pearls[1:], strict=True):
        apart = upper.position[2] - lower.position[2]
        assert apart == pytest.approx(2 * RADIUS, abs=1e-8)


@pytest.mark.parametrize("friction", [0.0, 0.9])
@pytest.mark.parametrize("mass", [1e-3, 0.05, 0.5])
def test_a_pearl_that_slides_down_a_slope_rests_on_the_end(friction: float, mass: float) -> None:
    """At 45° a friction of 0.9 does not hold it."""
    scene, rod = hanging(STEEL, end=(0.5**0.5, 0, -(0.5**0.5)))
    scene.add(sn.Clamp(rod.at(rod.length)))
    pearl = scene.add(sn.Pearl(rod, at=0.3, mass=mass, radius=RADIUS, friction=friction))
    report = scene.settle()
    assert report.converged and report.stable, report
    assert pearl.s == pytest.approx(1.0 - RADIUS, abs=1e-9)


@pytest.mark.parametrize("mass", [1e-3, 0.05, 0.5])
def test_a_pearl_that_friction_holds_is_stable(mass: float) -> None:
    scene, rod = hanging(STEEL, end=(0.5**0.5, 0, -(0.5**0.5)))
    scene.add(sn.Clamp(rod.at(rod.length)))
    pearl = scene.add(sn.Pearl(rod, at=0.3, mass=mass, radius=RADIUS, friction=1.5))
    report = scene.settle()
    assert report.converged and report.stable, report
    assert pearl.s == pytest.approx(0.3, abs=1e-6)


@pytest.mark.parametrize("mass", [1e-19, 1e-16, 1e-14])
def test_a_pearl_of_a_micrometre_rests_on_its_rods_end(mass: float) -> None:
    scene, rod = hanging(HEMP, size=1e-6)
    pearl = scene.add(sn.Pearl(rod, at=0.3e-6, mass=mass, radius=RADIUS * 1e-6))
    report = scene.settle()
    assert report.converged and report.stable, report
    assert pearl.s == pytest.approx(0.98e-6, abs=1e-15)


@pytest.mark.parametrize("where", ["on its end", "on its floor"])
def test_a_standing_pendulum_on_a_stop_is_judged_with_it(where: str) -> None:
    """A body that a one-sided tie holds up is stable where the tie holds it, and not on a tie that stands."""
    scene = sn.Scene()
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0, 0, 1)))
    if where == "on its floor":
        scene.add(sn.OnPlane(ball.at(), (0, 0, 1), (0, 0, 1), bound="at_least"))
        assert scene.settle().stable
    else:
        scene.add(sn.Distance(ball.at(), sn.World.at((0, 0, 0)), bound="at_least"))
        report = scene.settle(throw=False)
        assert not report.stable
