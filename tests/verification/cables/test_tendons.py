"""Tendons: cables through eyelets with friction, on points beside a rod, at a tension that is kept."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from unit.scene.kit import bits, refused
from verification.cables.rig import ball, rope

import sennit as sn

H = 1 / 120
LENGTH, RADIUS, OFFSET, EYELETS = 0.30, 8e-3, 12e-3, 10  # m
SILICONE = sn.Material(youngs_modulus=2e6, poisson_ratio=0.48, density=1100, relaxation_time=0.02)
SLIDES = "Cable that slides through five eyelets"
KEEPS = "Winch that keeps a tension"
EA, EI = 2e6 * math.pi * RADIUS**2, 2e6 * math.pi * RADIUS**4 / 4


def arm(friction: float = 0.0, **options: Any) -> tuple[sn.Scene, sn.Rod, sn.Cable]:
    """A hanging arm without weight, and its tendon."""
    scene = sn.Scene(gravity=(0, 0, 0), drag=2.0)
    section = sn.Section.circle(RADIUS)
    rod = scene.add(sn.Rod.straight((0, 0, 0), (0, 0, -LENGTH), section=section, material=SILICONE))
    scene.add(sn.Clamp(rod.at(0)))
    beside = [rod.at(LENGTH * k / EYELETS, offset=(OFFSET, 0)) for k in range(EYELETS + 1)]
    way = [sn.World.at(beside[0].position), *beside[1:]]
    return scene, rod, scene.add(rope(way, 1e6, eyelet_friction=friction, **options))


def tip_angle(rod: sn.Rod) -> float:
    return math.acos(-rod.at(rod.length).frame[2, 2])


def polygon(friction: Any, m1: float, m2: float) -> tuple[sn.Scene, sn.RigidBody, sn.Cable, float]:
    """Two loads on a cable over five eyelets of an arch: scene, second load, cable, sum of the angles it turns by."""
    scene = sn.Scene()
    angles = np.linspace(np.pi, 0, 5)
    arch = [(0.3 * math.cos(a), 0, 0.3 * math.sin(a) ** 2) for a in angles]
    one, two = ball(scene, m1, (arch[0][0], 0, -3)), ball(scene, m2, (arch[-1][0], 0, -2))
    way = [one.at(), *(sn.World.at(place) for place in arch), two.at()]
    cable = scene.add(rope(way, 1e6, eyelet_friction=friction))
    lines = np.diff([one.position, *arch, two.position], axis=0)
    lines /= np.linalg.norm(lines, axis=1)[:, None]
    return scene, two, cable, float(np.arccos((lines[:-1] * lines[1:]).sum(axis=1)).sum())


@pytest.mark.parametrize("friction", [0.1, 0.3])
def test_a_cable_slides_through_eyelets_at_the_ratio_of_all_their_angles(friction: float, validated: Any) -> None:
    *_, total = polygon(friction, 1, 1)
    rho = math.exp(friction * total)
    scene, two, cable, _ = polygon(friction, 10.0, 13.0 * rho)
    cable.damping = 3000.0  # of what it rings with as it is let go
    scene.run(0.3, dt=H)
    t, v = scene.time, two.velocity[2]
    scene.run(0.2, dt=H)
    validated(
        SLIDES, area="cables", quantity="ratio of tensions", reference="Euler and Eytelwein: exp(μ Σθ)",
        error=abs(cable.tensions[-1] / cable.tensions[0] / rho - 1), bound=1e-3,
    )  # fmt: skip
    expected = 9.81 * (13.0 * rho - 10.0 * rho) / (13.0 * rho + 10.0 * rho)
    validated(
        SLIDES, area="cables", quantity="acceleration", reference="Newton, with that ratio",
        error=abs((v - two.velocity[2]) / (scene.time - t) / expected - 1), bound=2e-3,
    )  # fmt: skip


def test_it_holds_below_that_ratio_and_each_eyelet_has_its_own() -> None:
    *_, total = polygon(0.2, 1, 1)
    scene, two, cable, _ = polygon(0.2, 10.0, 9.7 * math.exp(0.2 * total))
    scene.drag = 20.0  # one hung loose would jolt its way past the limit: let the load down gently
    scene.run(3.0, dt=H)
    scene.drag, start = 0.0, two.position[2]
    scene.run(1.0, dt=H)
    assert abs(two.position[2] - start) < 1e-5
    cable.eyelet_friction = (0.2, 0.2, 0.1, 0.2, 0.2)
    assert cable.eyelet_friction == (0.2, 0.2, 0.1, 0.2, 0.2)
    scene.run(0.5, dt=H)
    assert two.position[2] < start - 0.05


def test_hysteresis_of_an_arm(validated: Any) -> None:
    """What the tendon loses on its way is what its angles say; as the arm straightens, the other way round."""
    mu = 0.3
    scene, rod, tendon = arm(mu)
    bent = {}
    for way, pulls in (("loading", (0.5, 1.0, 2.0)), ("unloading", (1.5, 1.0))):
        for pull in pulls:
            tendon.pull = pull
            assert scene.settle().stable
        places = np.array([point.position for point in tendon.points])
        lines = np.diff(places, axis=0)
        lines /= np.linalg.norm(lines, axis=1)[:, None]
        total = float(np.arccos((lines[:-1] * lines[1:]).sum(axis=1)).sum())
        ratio = tendon.tensions[0] / tendon.tensions[-1]
        if way == "loading":
            validated(
                "Tendon in the eyelets of an arm that it bends", area="cables", quantity="ratio of tensions",
                reference="Euler and Eytelwein: exp(μ Σθ)", error=abs(ratio / math.exp(mu * total) - 1),
                bound=1e-6,
            )  # fmt: skip
        else:
            assert math.exp(-mu * total) * (1 - 1e-6) <= ratio < 1.0
        bent[way] = tip_angle(rod)
    scene, rod, tendon = arm(mu)
    tendon.pull = 1.0
    scene.settle()
    assert bent["unloading"] > 1.1 * tip_angle(rod)  # at the same pull: it has stayed bent


def bent_by(pull: float) -> float:
    """Angle of the tip under a pull without friction, rad: constant curvature, of least energy.

    U = EI θ²/2ℓ + EA e²/2 ℓ + T n chords, chord = 2 (ℓ(1 − e)/θ − a) sin(θ/2n); ∂U/∂θ = 0 where ∂U/∂e = 0.
    """
    n = EYELETS

    def slope(angle: float) -> float:
        half = angle / (2 * n)
        e = pull * 2 * n * math.sin(half) / (angle * EA)
        radius = LENGTH * (1 - e) / angle
        way = 2 * n * (-(radius / angle) * math.sin(half) + (radius - OFFSET) * math.cos(half) / (2 * n))
        return EI * angle / LENGTH + pull * way

    return float(brentq(slope, 1e-6, 4.0))


def test_an_arm_at_a_pull_that_is_kept(validated: Any) -> None:
    scene, rod, tendon = arm()
    for pull in (1.0, 3.0):
        tendon.pull = pull
        assert tendon.pull == pull
        assert scene.settle().stable
        assert (tendon.tensions == pull).all()
        # between eyelets the moment varies by the sagitta of a chord, 5 % of the lever: of second order here
        validated(
            "Tendon at a pull that is kept", area="cables", quantity="angle of the arm's tip",
            reference="constant curvature, least energy", error=abs(tip_angle(rod) / bent_by(pull) - 1), bound=1e-3,
        )  # fmt: skip
    angle = tip_angle(rod)
    tendon.pull = None
    assert tendon.pull is None
    scene.run(0.1, dt=5e-3)
    assert tip_angle(rod) == pytest.approx(angle, rel=1e-6)  # the length that there is holds it


@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint", "fourth"])
def test_a_kept_pull_lifts(integrator: str, validated: Any) -> None:
    """m a = T − m g, and what the load gains is T times what was hauled in."""
    scene = sn.Scene(integrator=integrator)
    load = ball(scene, 1.0, (0, 0, -3))
    cable = scene.add(rope([sn.World.at((0, 0, 0)), load.at()], 1e5))
    scene.settle()
    length, energy = cable.length, scene.energy.total
    cable.pull = 12.0
    scene.run(0.5, dt=5e-3)
    speed = float(load.velocity[2])
    validated(
        KEEPS, area="cables", quantity="speed of what it lifts", reference="Newton: (T/m − g) t",
        error=abs(speed / (0.5 * (12.0 - 9.81)) - 1), bound=1e-6 if integrator != "fourth" else 1e-5,
    )  # fmt: skip
    # what "euler" makes of its half step between places and velocities
    half = 0.5 * 5e-3 * (12.0 - 9.81) * speed if integrator in ("euler", "bdf2") else 0.0
    gained = scene.energy.total - energy
    done = 12.0 * (length - cable.length)
    validated(
        KEEPS, area="cables", quantity="energy that it puts in", reference="T ΔL",
        error=abs((gained + half) / done - 1), bound=2e-2,
    )  # fmt: skip
    assert not scene.events
    cable.brake()
    assert cable.pull is None


@pytest.mark.parametrize("friction", [0.0, 0.1])
@pytest.mark.parametrize("integrator", ["euler", "bdf2", "midpoint"])
def test_an_arm_at_a_kept_pull_is_not_thrown_away_in_long_steps(integrator: Any, friction: float) -> None:
    """No row holds such a cable: what the linearised step missed its winch took in, and threw the arm 10 m away."""
    scene = sn.Scene(gravity=(0, 0, 0), integrator=integrator)
    soft = sn.Material(1e8, 0.4, 1000, relaxation_time=0.01)
    rod = scene.add(sn.Rod.straight((0, 0, 0), (0.3, 0, 0), section=sn.Section.circle(3e-3), material=soft))
    scene.add(sn.Clamp(rod.at(0)))
    way = [sn.World.at((-0.05, 0.01, 0)), *(rod.at(s, offset=(0.01, 0)) for s in np.linspace(0.02, 0.3, 8))]
    cable = scene.add(rope(way, 25e3, eyelet_friction=friction))
    cable.pull = 5.0
    for _ in range(80):
        scene.step(0.1)
        assert np.linalg.norm(rod.at(0.3).position) < 0.35, scene.time  # the rod is 0.3 m long
        assert scene.energy.kinetic < 5.0 * 0.36  # the pull's work over all of the cable
    told = [event.subjects for event in scene.events if event.kind == "divided"]
    assert told if integrator == "midpoint" else (cable,) in told
    if integrator == "midpoint" and friction == 0.0:
        there = rod.at(0.3).position
        scene.settle()
        assert np.linalg.norm(rod.at(0.3).position - there) < 0.003  # after 8 s it is nearly at rest


def test_it_takes_in_slack_and_stops_at_both_ends() -> None:
    scene = sn.Scene()
    load = ball(scene, 1.0, (0, 0, -1))
    cable = scene.add(rope([sn.World.at((0, 0, 0)), load.at()], 1e5, length=2.0, longest=2.5))
    cable.pull = 5.0
    scene.step(H)
    assert (cable.tension, cable.length) == (5.0, pytest.approx(1.0, rel=1e-3))
    while cable.length < 2.4999:  # too little to hold it
        scene.step(H)
    scene.run(1.0, dt=H)
    assert (cable.length, cable.pull) == (2.5, 5.0)
    assert {event.kind for event in scene.events} == {"paid_out"}  # again each time that it bounces there
    scene.drag = 5.0
    scene.run(5.0, dt=H)
    assert cable.tension == pytest.approx(9.81, rel=1e-3)  # more than it keeps: there is no more to let out
    cable.pull = 15.0
    scene.run(0.5, dt=H)
    assert cable.tension == 15.0
    assert load.velocity[2] > 0.0
    assert cable.length < 2.5


def test_files_copies_resets_and_batches_follow(tmp_path: Path) -> None:
    scene, rod, tendon = arm(0.2)
    tendon.pull = 1.0
    scene.settle()
    start = scene.snapshot()
    scene.save(tmp_path / "arm.npz")
    again = sn.Scene.load(tmp_path / "arm.npz")
    twin = copy.deepcopy(scene)
    assert again.constraints[1].pull == 1.0
    assert again.constraints[1].eyelet_friction == tendon.eyelet_friction
    assert again.constraints[1].points[3].offset.tolist() == [OFFSET, 0.0]
    for each in (scene, again, twin):
        each.constraints[1].pull = 2.0
        each.run(0.05, dt=5e-3)
    assert bits(again) == bits(scene) == bits(twin)
    scene.restore(start)
    assert tendon.pull == 1.0
    batch = sn.Batch(scene, 3)
    batch.set(tendon, "pull", np.array((0.5, 1.0, 1.5)))
    batch.run(0.1, dt=5e-3)
    assert batch.read(tendon, "tension").tolist() == [0.5, 1.0, 1.5]
    tip = rod.at(LENGTH, offset=(OFFSET, 0))
    for i, place in enumerate(batch.positions(tip)):
        scene.restore(start)
        tendon.pull = (0.5, 1.0, 1.5)[i]
        scene.run(0.1, dt=5e-3)
        assert np.abs(place - tip.position).max() < 1e-15
    tendon.pull = None
    scene.reset()
    assert tendon.pull == 1.0


def test_bad_input_changes_nothing() -> None:
    scene, rod, tendon = arm(0.2)
    before = bits(scene)
    for value in (-1.0, math.nan, math.inf, "3", (1.0,), True):
        refused(lambda value=value: setattr(tendon, "pull", value), "pull")
    for friction in (-0.1, math.nan, (0.1, 0.2), "much", [0.0] * 9):
        refused(lambda friction=friction: setattr(tendon, "eyelet_friction", friction), "eyelet_friction")
        if friction != [0.0] * 9:
            refused(lambda friction=friction: arm(friction), "eyelet_friction")
    for offset in (0.01, (0.01,), (0.01, 0.0, 0.0), (math.nan, 0.0), "x", None):
        refused(lambda offset=offset: rod.at(0.1, offset=offset), "offset")
    ends = [sn.World.at((0, 0, 1)), rod.at(0.1)]
    refused(lambda: rope(ends, 1e3, eyelet_friction=0.1), "eyelet_friction", "0.1")
    assert bits(scene) == before


def test_it_is_written_as_text(tmp_path: Path) -> None:
    scene, _, tendon = arm(0.2)
    tendon.pull = 1.5
    scene.write(tmp_path / "arm.toml")
    again = sn.Scene.read(tmp_path / "arm.toml")
    for each in (scene, again):
        each.run(0.02, dt=5e-3)
    twin = next(c for c in again.constraints if isinstance(c, sn.Cable))
    assert (twin.pull, twin.eyelet_friction) == (1.5, tendon.eyelet_friction)
    assert np.array_equal(twin.tensions, tendon.tensions)
