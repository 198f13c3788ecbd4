"""The three scenes of the cables' publication as demonstrations: what they check, what they write."""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sennit.demos import boxes, fishing, stage, turnabout

MODULES = {"boxes": boxes, "turnabout": turnabout, "fishing": fishing}
SHOWS = {"boxes": boxes.Validation, "turnabout": turnabout.Ride, "fishing": fishing.Outing}
SECONDS = {"boxes": 4.0, "turnabout": 8.5, "fishing": sum(setting.seconds for setting in fishing.SETTINGS)}


@pytest.fixture(scope="module")
def shows() -> dict[str, stage.Show]:
    """Each show after its run, not drawn."""
    made = {}
    for name, kind in SHOWS.items():
        show = kind()
        show.begin()
        stage.simulate(show, SECONDS[name])
        made[name] = show
    return made


@pytest.mark.parametrize("name", SHOWS)
def test_the_physics_holds(name, shows):
    assert shows[name].check() == []
    assert shows[name].findings().endswith(".")
    assert all(len(row) == 3 for row in shows[name].table())


@pytest.mark.parametrize("name", MODULES)
def test_building_is_pure(name):
    scenes = [MODULES[name].build() for _ in range(2)]
    for scene in scenes:
        scene.run(0.2, dt=0.01)
    assert scenes[0].energy.total == scenes[1].energy.total
    assert np.isfinite(scenes[0].energy.total)


def test_counts_of_the_ropeway():
    # six bodies; two clamps and what holds the trolley; three parts for each track, a hanger and a cable with twist
    ropeway = turnabout.assemble()
    assert ropeway.scene.dofs == 36
    assert len(ropeway.cables) == 4 and len(ropeway.wheels) == 4 and len(ropeway.pulleys) == 2


DEFECTS = [
    ("turnabout", "turned", np.array((10.0, 10.0, 0.0)), "do not turn against each other"),
    ("turnabout", "turned", np.array((35.0, -15.0, 0.0)), "not opposite"),
    ("turnabout", "twisted", 0.5, "is twisted by"),
    ("turnabout", "balance", np.array((0.0, 0.0, 500.0, 60.0)), "at rest the cables carry"),
    ("turnabout", "stretched", np.array((0.0, 0.01, 0.0, 0.0)), "is stretched by"),
    ("turnabout", "slipped", 0.1, "slipped"),
    ("turnabout", "gained", 50.0, "energy from nothing"),
    ("turnabout", "reach", 1.0, "rolled to"),
    ("fishing", "missed", 1e-3, "misses w + slip T"),
    ("fishing", "deepest", 0.1, "into the ice"),
    ("fishing", "landed", (5.0, 2.0), "lands at"),
    ("fishing", "landed", None, "lands at"),
    ("fishing", "steady", np.ones((4, 4)), "stalls at"),
    ("fishing", "steady", np.tile((-0.45, 2.0, 0.1, 1.0), (4, 1)), "rises at"),
    ("fishing", "steady", np.tile((-0.3, 2.0, 0.3, 1.0), (4, 1)), "the line runs at"),
]


@pytest.mark.parametrize(("name", "attribute", "value", "message"), DEFECTS)
def test_a_defect_is_named(name, attribute, value, message, shows, monkeypatch):
    assert hasattr(shows[name], attribute)
    monkeypatch.setattr(shows[name], attribute, value)
    assert any(message in line for line in shows[name].check())


@pytest.mark.parametrize("change", [1.01, 1.0 + 0.01j, math.nan])
def test_a_wrong_period_or_amplitude_is_named(change, shows, monkeypatch):
    results = [(pair, got * change, due) for pair, got, due in shows["boxes"].measure()]
    monkeypatch.setattr(shows["boxes"], "results", results)
    wrong = shows["boxes"].check()
    assert any("period is" in line or "of the swing is left" in line for line in wrong)


def test_growing_energy_of_boxes_is_named(shows, monkeypatch):
    pair = shows["boxes"].clocks.pairs[0]
    monkeypatch.setattr(pair, "kinetic", [*pair.kinetic[:-1], 2.0 * max(pair.kinetic)])
    assert any("energy grows" in line for line in shows["boxes"].check())


def test_published_periods(shows, validated):
    due = {"stretch": (44.0, 4.4, 0.14), "twist": (36.0, 3.6, 0.11)}
    for k, (pair, got, _) in enumerate(shows["boxes"].measure()[:6]):
        validated(
            "Two boxes on a cable",
            area="demonstrations",
            quantity="periods",
            reference="Servin and Lacoursière 2007, as read",
            error=abs(boxes.period(got) / due[pair.kind][k % 3] - 1),
            bound=0.08,
        )
        assert boxes.left(got) > 0.9
    for stiffest in (8, 11):
        assert boxes.left(shows["boxes"].measure()[stiffest][1]) < 0.01


def test_force_is_stiffness_times_elongation(shows):
    for pair in shows["boxes"].clocks.pairs[:6]:
        values, forces = np.array(pair.values), np.array(pair.forces[2:])
        mean = (values[:-2] + 2.0 * values[1:-1] + values[2:]) / 4.0
        # the damper of the stiffest adds to it
        tolerance = 0.02 if pair.stiffness == 1e6 else 2e-3
        assert np.abs(forces / pair.stiffness - mean).max() < tolerance * pair.amplitude


def test_a_short_outing_checks_what_it_saw():
    show = fishing.Outing()
    show.begin()
    record = stage.simulate(show, 1.0)
    assert record.times[-1] == pytest.approx(1.0)
    assert show.check() == []
    assert [row[0] for row in show.table()] == ["line against w + slip T"]


def test_they_start_without_what_they_need_later():
    names = ("PIL", "matplotlib", "numba", "scipy")
    imports = "; ".join(f"import sennit.demos.{name}" for name in MODULES)
    program = f"import sys; {imports}; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_the_command_writes_a_sheet(name: str, tmp_path: Path, capsys) -> None:
    Image = pytest.importorskip("PIL.Image")
    parser = argparse.ArgumentParser()
    MODULES[name].add_arguments(parser)
    target = tmp_path / "sheet.png"
    assert MODULES[name].main(parser.parse_args(["--headless", "--output", str(target)])) == 0
    with Image.open(target) as sheet:
        assert len(sheet.convert("RGB").getcolors(1 << 22)) > 200
    shown = capsys.readouterr().out
    assert "measured" in shown and "Checked:" in shown


# What they are drawn with


def test_block_wheel_and_rope_are_where_they_should_be():
    pytest.importorskip("PIL.Image")
    from sennit.export import solids

    made = solids.block((1.0, 2.0, 3.0), np.eye(3), (2.0, 4.0, 6.0), (200, 100, 50), pieces=2)
    assert made.corners.shape == (24, 4, 3)
    assert made.corners.reshape(-1, 3).min(axis=0) == pytest.approx((0.0, 0.0, 0.0))
    assert made.corners.reshape(-1, 3).max(axis=0) == pytest.approx((2.0, 4.0, 6.0))
    outward = made.corners.mean(axis=1) - (1.0, 2.0, 3.0)
    assert (np.einsum("ij,ij->i", outward, made.normals) > 0.9).all()

    wheel = solids.wheel(np.array(((0.0, 0.0, 5.0), (0.5, 0.0, 0.0), (0.0, 0.0, 0.5))), (60, 60, 60), thickness=0.1)
    assert np.abs(wheel.corners - (0.0, 0.0, 5.0)).max(axis=(0, 1)) == pytest.approx((0.55, 0.05, 0.55), abs=0.01)

    line = np.array(((0.0, 0.0, 0.0), (0.0, 0.0, 2.0), (0.0, 1.0, 2.0)))
    plain = solids.rope(line, 0.01, (200, 180, 120), piece=0.3)
    assert plain.corners[..., 1].max() == pytest.approx(1.0, abs=0.02)
    striped = solids.rope(line, 0.01, (200, 180, 120), piece=0.3, turn=(0.0, 3.0))
    assert len(np.unique(striped.colours, axis=0)) == 2


def test_sight_turns_with_the_wheel(shows):
    for wheel in shows["turnabout"].ropeway.wheels:
        centre, first, second = stage.sight(wheel)
        assert centre == pytest.approx(wheel.point.position)
        assert np.linalg.norm(first) == pytest.approx(wheel.radius) == pytest.approx(np.linalg.norm(second))
        assert first @ second == pytest.approx(0.0, abs=1e-12)


def test_labels_and_tables_are_optional():
    assert stage._columns([]) == []
    lines = stage._columns([("a", "1 m", "2 m"), ("longer", "10 m", "20 m")])
    assert lines[0].split() == ["measured", "expected"]
    assert lines[2].split() == ["longer", "10", "m", "20", "m"]
