"""The tables of ``sennit bench cable``: a few samples of each. No time is asserted."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import sennit as sn
from sennit.bench import cable as bench
from sennit.bench.table import Table


def silent(text: str, done: float) -> None:
    assert text and 0.0 <= done <= 1.0


def check(table: Table) -> None:
    assert table.rows and len({row.name for row in table.rows}) == len(table.rows)
    assert all(0.0 < row.median <= row.p99 <= row.worst for row in table.rows)
    assert all(np.isfinite(aim.value) for aim in table.aims)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()


class Oscillator:
    """The hoist as its closed forms have it, but for the periods, which are a given part longer."""

    swing_inertia, bounce_mass = 1.0, bench.MASS

    def __init__(self, longer: float = 0.0, decay: float = 0.0) -> None:
        self.longer, self.decay, self.time = longer, decay, 0.0

    def start(self, angle: float, pull: float) -> None:
        self.angle, self.time = angle, 0.0
        self.out = 0.0 if angle else (pull - 1.0) * bench.MASS * bench.G * bench.LENGTH / bench.EA

    def step(self, dt: float) -> None:
        self.time += dt

    def place(self) -> tuple[float, float]:
        t = self.time / (1.0 + self.longer)
        left = math.exp(-self.decay * self.time)
        stretch = self.out * left * math.cos(math.sqrt(bench.EA / bench.LENGTH / bench.MASS) * t)
        # a small pendulum's, whose period lacks the amplitude's 6e-4
        x = bench.REACH * math.sin(self.angle) * left * math.cos(math.sqrt(bench.G / bench.REACH) * t)
        return x, -bench.REACH - stretch


def test_periods_are_measured() -> None:
    assert bench.bounce(Oscillator(), 1 / 240)[0] == pytest.approx(0.0, abs=1e-9)
    error, kept = bench.bounce(Oscillator(0.05, 0.3), 1 / 240)
    assert error == pytest.approx(0.05, abs=1e-3)
    assert kept == pytest.approx(math.exp(-0.3 * 5 * 0.1003 * 1.05), rel=1e-3)
    assert bench.swing_error(Oscillator(), 1 / 60) == pytest.approx(-6.25e-4, abs=2e-5)
    assert bench.swing_error(Oscillator(0.05), 1 / 60) == pytest.approx(0.05, abs=2e-3)


def test_stability_is_judged() -> None:
    assert bench.is_stable(Oscillator(), 1 / 60)
    assert bench.is_stable(Oscillator(decay=0.01), 1 / 60)
    assert not bench.is_stable(Oscillator(decay=0.1), 1 / 60)
    assert not bench.is_stable(Oscillator(decay=-0.1), 1 / 60)


@pytest.mark.parametrize("bound", [1e-3, 4e-3, 0.0123, 0.3])
def test_largest_step(bound: float) -> None:
    found = bench.largest_step(lambda dt: dt <= bound)
    assert found <= bound < 1.05 * found


def test_largest_step_has_a_limit() -> None:
    assert bench.largest_step(lambda dt: True) == 0.5
    assert math.isnan(bench.largest_step(lambda dt: False))


def test_the_crane() -> None:
    scene = bench.build_crane().scene
    assert scene.dofs == 6 * 20
    kinds = [type(constraint) for constraint in scene.constraints]
    assert (kinds.count(sn.Lock), kinds.count(sn.Hinge)) == (16, 2)


def test_bodies() -> None:
    table = bench.bodies(silent, (2, 5), samples=2)
    check(table)
    assert len(table.rows) == 4 and len(table.aims) == 2


def test_strung_rings_stay_on_their_cable() -> None:
    for mass in (1.0, 1e-3):
        scene = bench.strung(20, mass)
        before = np.array([body.position for body in scene.bodies])
        scene.run(0.1, dt=5e-3)
        assert np.abs(np.array([body.position for body in scene.bodies]) - before).max() < 0.02


def test_crane() -> None:
    table = bench.crane(silent, samples=2)
    check(table)
    assert table.baseline == "crane" and len(table.rows) == 4
    assert [aim.at_most for aim in table.aims] == [0.1] * 3


@pytest.mark.parametrize("present", [True, False])
def test_hoists(present: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if present and bench.find_mujoco() is None:
        pytest.skip("MuJoCo is not installed")
    if not present:
        monkeypatch.setattr(bench, "find_mujoco", lambda: None)
    table = bench.hoists(silent, elements=6, samples=2, quick=True)
    check(table)
    assert len(table.rows) == 4 + present
    assert any("not installed" in note for note in table.notes) != present
    figures = table["cable"].values
    # what tests/verification/cables asserts of longer runs
    assert abs(float(figures["swing 1/240"])) < 1e-3
    assert abs(float(figures["bounce 1/240"])) < 0.02
    assert float(figures["largest dt, ms"]) == pytest.approx(20.0)
