"""Hair lies on its head: it comes no deeper than it may, rests, and is held by friction as Coulomb has it."""

from __future__ import annotations

import numpy as np
import pytest
from references.hairs import KERATIN, LENGTH, WISP, hair_of

import sennit as sn

BALL = sn.Sphere((0.0, 0.0, 0.0), 0.1)


def nodding(hair: sn.Hair, seconds: float, sub: int = 1) -> float:
    """Shake the head at 0.8 Hz by 0.6 rad (3 rad/s), 60 poses a second; how deep a sample was at worst, m."""
    worst = -np.inf
    for k in range(round(60 * seconds)):
        angle = 0.6 * np.sin(2.0 * np.pi * 0.8 * k / 60.0)
        place = (0.02 * np.sin(5.0 * k / 60.0), 0.0, 0.0)
        hair.pose = sn.Pose(place, (np.cos(0.5 * angle), 0.0, 0.0, np.sin(0.5 * angle)))
        hair.step(1.0 / 60.0 / sub, sub)
        worst = max(worst, float(hair.depths().max()))
    return worst


@pytest.mark.parametrize("head", [BALL, sn.DistanceGrid.of(BALL, 0.005, 0.08)], ids=["ball", "grid"])
def test_no_sample_is_deeper_than_the_tolerance(validated, head) -> None:
    """200 rods of 0.25 m fall down on a ball and are shaken, in steps of 1/60 s."""
    hair = hair_of(200, head=head)
    worst = nodding(hair, 4.0)
    assert not hair.status.any()
    assert (hair.depths() > -1e-3).sum() > 30, "they lie on it"
    validated(
        "Hair shaken on a ball", area="hair", quantity="depth of the deepest sample, mm",
        reference="tolerance of half a radius", error=1e3 * max(worst, 0.0), bound=0.25 + 1e-6,
    )  # fmt: skip


def test_it_comes_to_rest_on_the_head() -> None:
    """All motion dies away, and what was in it; the head lets no energy in."""
    hair = hair_of(60, head=BALL)
    first = hair.energies()["total"]
    hair.step(1.0 / 60.0, 900)
    last = hair.energies()
    mass = WISP.mass_per_length(KERATIN) * LENGTH
    assert last["kinetic"].max() < 0.5 * mass * 1e-3**2  # of friction's least slip
    assert (last["total"] < first).all()
    before = hair.positions
    hair.step(1.0 / 60.0, 60)
    # friction below its least slip is as a damper's: what slopes creeps, by less than that slip
    assert np.abs(hair.positions - before).max() < 1e-3


def test_blows_are_survived() -> None:
    """The head jumps by half a ball's radius and turns by 34° in a sixtieth of a second, again and again: 36 rad/s."""
    hair = hair_of(60, head=[BALL, sn.Capsule(0.04, 0.1, sn.Pose((0.03, 0.0, -0.1)))])
    for k in range(6):
        side = k % 2
        hair.pose = sn.Pose((0.05 * side, 0.0, 0.0), (np.cos(0.3 * side), 0.0, 0.0, np.sin(0.3 * side)))
        hair.step(1.0 / 60.0, 1)
        hair.step(1.0 / 60.0, 11)
    hair.step(1.0 / 60.0, 180)
    assert not hair.status.any()
    stored = hair.energies()
    assert max(stored[name].max() for name in ("stretch", "bend", "twist")) < 1e-3, "no rod is left stretched or folded"
    assert np.linalg.norm(hair.positions[:, -1], axis=1).max() < 0.1 + 1.2 * LENGTH


@pytest.mark.parametrize(("share", "holds"), [(0.7, True), (1.5, False)])
def test_friction_holds_below_its_limit(share, holds) -> None:
    """A limp rod lies on a slab; wind across pulls by `share` of the friction that its weight allows."""
    mu, drag = 0.5, 2.0
    slab = sn.DistanceGrid.of(sn.Box((0.6, 0.6, 0.1), sn.Pose((0.0, 0.0, -0.05))), 0.01, 0.06)
    limp = sn.Material(2e5, 0.4, 1300.0, relaxation_time=0.02)
    hair = sn.Hair(
        np.array(((-0.12, 0.0, WISP.radius),)), (1.0, 0.0, 0.0), length=LENGTH, section=WISP, material=limp, head=slab,
        friction=mu, drag=drag,
    )  # fmt: skip
    hair.step(1e-3, 300)
    before = hair.positions[0]
    hair.wind = (0.0, share * mu * 9.81 / drag, 0.0)
    hair.step(1e-3, 500)
    moved = hair.positions[0, -1, 1] - before[-1, 1]
    creep = 1e-3 * 0.5  # the least slip, for half a second
    if holds:
        assert 0.0 <= moved < 1.5 * creep
    else:
        # what is beyond friction's limit accelerates it, against the air: μ g (share − 1) t²/2 and a little less
        free = 0.5 * (share - 1.0) * mu * 9.81 * 0.5**2
        assert 0.2 * free < moved < free
    assert abs(hair.positions[0, 8:, 2] - WISP.radius).max() < 0.5 * WISP.radius


def test_deeper_is_only_what_was_asked_for() -> None:
    """A smaller tolerance is kept, too, and what lies on the head lies there."""
    hair = hair_of(40, head=BALL, tolerance=2e-5)
    assert nodding(hair, 2.0) <= 2e-5 * (1.0 + 1e-9)
