"""Crane, tackle and elevator as demonstrations: what they check, that they notice defects, what they draw."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from references import hoists

import sennit as sn
from sennit.demos import crane, elevator, hoisting, stage, tackle

MODULES = {"crane": crane, "tackle": tackle, "elevator": elevator}
SHOWS = {"crane": crane.Manoeuvre, "tackle": tackle.Lift, "elevator": elevator.Ride}


def arguments(module: ModuleType, *given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return parser.parse_args(["--headless", *given])


@pytest.fixture(scope="module")
def shows() -> dict[str, hoisting.Hoist]:
    """Each show after its whole run, not drawn."""
    made = {}
    for name, kind in SHOWS.items():
        show = kind()
        show.begin()
        stage.simulate(show, arguments(MODULES[name]).seconds)
        made[name] = show
    return made


@pytest.mark.parametrize("name", MODULES)
def test_the_physics_holds(name: str, shows: dict[str, hoisting.Hoist]) -> None:
    show = shows[name]
    assert show.check() == []
    table = show.findings().splitlines()
    assert len(table) == 2 + len(show.facts())
    assert "measured" in table[1] and "expected" in table[1]


@pytest.mark.parametrize("name", MODULES)
def test_building_is_pure(name: str) -> None:
    scenes = [MODULES[name].build() for _ in range(2)]
    for scene in scenes:
        scene.run(0.2, dt=1e-2)
    assert scenes[0].energy.total == scenes[1].energy.total
    assert np.isfinite(scenes[0].energy.total)


def test_crane(shows: dict[str, hoisting.Hoist], validated) -> None:
    show = shows["crane"]
    assert isinstance(show, crane.Manoeuvre)
    assert show.settled.stable
    assert show.scene.events == ()
    # where the drives were told to go
    parts = show.crane
    angle = crane.SLEW[-1] * (crane.SLEW[1] - crane.SLEW[0] - crane.SLEW[2])
    assert parts.slewing.angle == pytest.approx(angle, rel=1e-3)
    assert parts.travel.displacement == pytest.approx(5.5, rel=1e-3)
    # hook and load hang on two falls: half the difference of what the winch took and gave
    height, length, tension, swing, _ = np.array(show.log).T
    validated(
        "Tower crane, hoisting on two falls",
        area="demonstrations",
        quantity="lift",
        reference="half the cable",
        error=abs(np.ptp(height) / (0.5 * np.ptp(length)) - 1),
        bound=0.01,
    )
    # a jolt of a m/s² makes the load bounce by as much again
    jolt = 2.0 * max(abs(way[-1]) / (2.0 * way[2]) for way in (crane.RAISE, crane.LOWER)) / crane.GRAVITY
    assert np.abs(tension / tension[0] - 1.0).max() < 1.05 * jolt
    assert 0.3 < np.abs(swing).max() < 1.5
    # the slings carry the load, by equal shares when it hangs still
    fresh = crane.assemble()
    fresh.scene.settle()
    steep = crane.SLING / math.sqrt(crane.SLING**2 + (crane.CRATE[0] - 0.1) ** 2 + (crane.CRATE[1] - 0.1) ** 2)
    share = crane.LOAD * crane.GRAVITY / (4.0 * steep)
    assert [sling.tension for sling in fresh.slings] == pytest.approx([share] * 4, rel=2e-3)


def test_period_of_three_pendulums(monkeypatch: pytest.MonkeyPatch) -> None:
    # with long falls the rest hardly counts: one pendulum down to the common centre of mass, nearly
    leg = crane.AXLE - crane.EYE + crane.SLING + crane.CRATE[2]
    assert crane.swing_period(500.0) == pytest.approx(hoists.pendulum_period(500.0 + leg, 1e-6), rel=2e-3)
    assert crane.swing_period(8.0) == pytest.approx(hoists.pendulum_period(8.0 + leg, 1e-6), rel=0.03)
    # a hook without mass below no falls: two bodies less
    monkeypatch.setattr(crane, "HOOK", 1e-9)
    assert crane.swing_period(8.0) > 2.0 * math.pi * math.sqrt(8.0 / 9.81)


def test_period_of_samples() -> None:
    t = np.linspace(0.0, 9.0, 541)
    assert crane.period_of(t, 0.3 + 0.1 * np.sin(2.0 * t + 0.4)) == pytest.approx(math.pi, rel=1e-3)
    assert math.isnan(crane.period_of(t, t))


def test_tackle(shows: dict[str, hoisting.Hoist], validated) -> None:
    assert tackle.falling(tackle.LIGHT, 4.0) == pytest.approx(hoists.tackle_acceleration(tackle.LIGHT, 300.0, 4))
    rubbed = hoists.tackle_acceleration(tackle.HEAVY, 300.0, 4, tackle.RATIO)
    assert tackle.falling(tackle.HEAVY, tackle.SHARE) == pytest.approx(rubbed)
    # (m − M/4) g/(m + M/16)
    m, load = tackle.LIGHT, tackle.LOAD
    assert tackle.falling(m, 4.0) == pytest.approx((m - load / 4) * 9.81 / (m + load / 16))
    show = shows["tackle"]
    assert isinstance(show, tackle.Lift)
    free, stuck, rubbing = show.tackles
    for lifted in (free, rubbing):
        fell = tackle.START - lifted.weight.position[2]
        validated(
            "Tackle of four falls",
            area="demonstrations",
            quantity="lift (m)",
            reference="a quarter of the fall",
            error=abs(lifted.load.position[2] - show.begun[0] - fell / 4),
            bound=5e-3,
        )
    # the rope turns the free sheaves, back towards its first point, each by a quarter less than the one before
    angle = -(tackle.START - free.weight.position[2]) / tackle.RADIUS
    assert [sheave.angle for sheave in free.sheaves] == pytest.approx([k / 4 * angle for k in (4, 3, 2, 1)], rel=5e-3)
    assert all(sheave.angle == 0.0 for sheave in (*stuck.sheaves, *rubbing.sheaves))


def test_elevator(shows: dict[str, hoisting.Hoist]) -> None:
    show = shows["elevator"]
    assert isinstance(show, elevator.Ride)
    # m_w (g + d) = rho m_c (g - d)
    d, rho = elevator.SLOWING, math.exp(elevator.FRICTION * math.pi)
    assert elevator.COUNTER * (9.81 + d) == pytest.approx(rho * elevator.CAR * (9.81 - d))
    assert show.elevator.sheave.wrap == pytest.approx(math.pi, rel=1e-6)
    # car and counterweight went as far as each other
    start = elevator.assemble()
    rose = show.elevator.car.position[2] - start.car.position[2]
    sank = start.counterweight.position[2] - show.elevator.counterweight.position[2]
    assert rose == pytest.approx(sank, abs=0.03)
    assert rose > 3.5


@pytest.mark.parametrize(
    ("name", "attribute", "value", "message"),
    [
        ("crane", "stray", 0.1, "length off the elastic one"),
        ("crane", "stray", math.nan, "length off the elastic one"),
        (
            "crane",
            "log",
            [(5.0 + 1e-3 * k, 20.0 - 0.01 * k, 9e3, 0.01 * k, 1e9) for k in range(1800)],
            "energy",
        ),
        ("tackle", "speeds", [np.zeros((3, 2))] * 320, "85 kg fall at"),
        ("tackle", "pulls", [[np.ones(5)] * 3] * 320, "a sheave divides the pull by"),
        ("elevator", "log", [(k / 120.0, 1.0, 1.0, 2.0, 0.1) for k in range(2160)], "largest ratio"),
    ],
)
def test_a_defect_is_named(
    name: str,
    attribute: str,
    value: object,
    message: str,
    shows: dict[str, hoisting.Hoist],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert hasattr(shows[name], attribute)
    monkeypatch.setattr(shows[name], attribute, value)
    assert any(message in line for line in shows[name].check())


def test_facts() -> None:
    assert hoisting.Fact("a", 1.0, 1.1, 0.2).holds
    assert not hoisting.Fact("a", 1.0, 1.3, 0.2).holds
    assert not hoisting.Fact("a", math.nan, 1.3, 0.2).holds
    assert hoisting.Fact("a", 1.0, 1.3, 0.0, below=True).holds
    assert not hoisting.Fact("a", math.nan, 1.3, 0.0, below=True).holds
    assert hoisting.Fact("pull", 735.75, 735.8, 1.0, "N").line.split() == ["pull", "735.75", "735.8", "N"]


def test_ramps() -> None:
    speeds = [hoisting.ramped(t, 1.0, 5.0, 2.0) for t in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)]
    assert speeds == [0.0, 0.0, 0.5, 1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize(
    ("name", "seconds", "seen"),
    [("crane", 3, 2), ("crane", 5, 5), ("elevator", 3, 3), ("tackle", 1, 1), ("tackle", 5, 7)],
)
def test_shows_of_any_length_check_what_they_saw(name: str, seconds: float, seen: int) -> None:
    show = SHOWS[name]()
    show.begin()
    stage.simulate(show, seconds)
    assert show.check() == []
    assert len(show.facts()) == seen


def test_driving() -> None:
    # braking ends where it should, from any distance, and rests there
    place = speed = 0.0
    for _ in range(4000):
        speed = hoisting.eased(speed, hoisting.towards(7.0 - place, 2.0, 0.5), 0.6 * 0.01)
        place += 0.01 * speed
        assert place < 7.0 + 1e-6 and abs(speed) <= 2.0
    assert place == pytest.approx(7.0, abs=1e-3)
    assert hoisting.between(3.0, 1.0, 2.0, 1.0) == 2.0  # √(2 · 1 · 2)
    assert hoisting.between(-3.0, 0.5, 2.0, 1.0) == -1.0
    assert hoisting.between(-3.0, -0.1, 2.0, 1.0) == 0.0


def test_lines_know_their_tension() -> None:
    scene = sn.Scene()
    one, two = (scene.add(sn.RigidBody.sphere(0.1, mass=m, position=(x, 0, -3))) for m, x in ((10, -0.2), (12, 0.2)))
    bollard = sn.Sheave(sn.World.at((0, 0, 0)), (0, 1, 0), 0.2, friction=0.3, fixed=True)
    cable = scene.add(sn.Cable([one.at(), bollard, two.at()], stretch_stiffness=1e6, damping=1e4, torsion=False))
    scene.run(1.0, dt=1e-2)
    line, tension = hoisting.line_of(cable, 0.5)
    assert line.shape == (len(tension), 3)
    assert np.linalg.norm(np.diff(line, axis=0), axis=1).max() <= 0.5 + 1e-9
    assert tension[line[:, 0] < -0.199] == pytest.approx(cable.tensions[0])
    assert tension[-1] == pytest.approx(cable.tensions[1])
    assert cable.tensions[1] > cable.tensions[0]


def test_solids_face_outwards() -> None:
    pytest.importorskip("PIL")
    place = (np.array((1.0, 2.0, 3.0)), np.eye(3))
    wheel = hoisting.wheel((1.0, 2.0, 3.0), (0.0, -1.0, 0.0), 0.5, 0.3, 0.2)
    for solid in (hoisting.block(place, (0.3, 0.2, 0.1), (9, 9, 9)), wheel):
        away = solid.corners.mean(axis=1) - place[0]
        assert (np.einsum("ij,ij->i", away, solid.normals) > 0.0).all()
    rim = np.linalg.norm((wheel.corners - place[0])[..., [0, 2]], axis=-1)
    assert rim.max() == pytest.approx(0.5)


@pytest.mark.parametrize("name", MODULES)
def test_the_command_writes_a_sheet(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Image = pytest.importorskip("PIL.Image")
    target = tmp_path / "sheet.png"
    assert MODULES[name].main(arguments(MODULES[name], "--output", str(target))) == 0
    with Image.open(target) as sheet:
        assert len(sheet.convert("RGB").getcolors(1 << 22)) > 200
    assert "measured" in capsys.readouterr().out


def test_bad_physics_ends_with_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("PIL")
    monkeypatch.setattr(tackle, "SHARE", 3.0)
    target = tmp_path / "tackle.png"
    assert tackle.main(arguments(tackle, "--output", str(target))) == 1
    assert "friction: efficiency" in capsys.readouterr().err
    assert not target.exists()
