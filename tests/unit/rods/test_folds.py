"""How evenly a spline runs between its stretching points, and what `settle` does with a rod that is folded."""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_runner import bits

import sennit as sn
from sennit.bodies.kernels import kinds
from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.spline.kernels.folds import FOLDED, least_speed_ratio, speed_ratio
from sennit.solve import folds

ROPE, HEMP = sn.Section.circle(5e-3), sn.Material(1e7, 0.4, 1000)


def straight(n: int = 20, **more) -> sn.Rod:
    return sn.Rod.straight((0, 0, 0), (1, 0, 0), section=ROPE, material=HEMP, control_points=n, **more)


def ring(n: int = 16) -> sn.Rod:
    angle = np.linspace(0.0, 2 * np.pi, 40, endpoint=False)
    circle = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle))
    return sn.Rod.through(circle, section=ROPE, material=HEMP, control_points=n, closed=True)


def ratio(rod: sn.Rod) -> float:
    t = rod.tables
    return speed_ratio(t.row, t.kind, rod._home.q)


def measured(rod: sn.Rod) -> float:
    """The same from the curve: places and their neighbours sought by their parameters."""
    t = rod.tables

    def speed(u):
        now, rest = (shape.curve(x, t.closed, u)[:, 1] for x in (rod.control_points, t.rest[:, :3]))
        return np.linalg.norm(now, axis=1) / np.linalg.norm(rest, axis=1)

    u = t.stretch_u
    if t.closed:
        places = np.arange(t.spans, dtype=float)
        low, high = (np.searchsorted(u, places) - 1) % len(u), np.searchsorted(u, places) % len(u)
    else:
        places = np.arange(t.spans + 1.0)
        places[0], places[-1] = (0.5, t.spans - 0.5) if t.spans > 1 else (0.3, 0.7)
        high = np.searchsorted(u, places)
        low = high - 1
    x, a, b = speed(places), speed(u[low]), speed(u[high])
    least = min(1.0, (x / np.minimum(a, b)).min(), (np.maximum(a, b) / x).min())
    if not t.closed:
        ends, next_to = speed([0.0, float(t.spans)]), speed(u[[0, -1]])
        least = min(least, (ends / next_to).min(), (1.2 * next_to / ends).min())
    return float(least)


@pytest.mark.parametrize("made", [lambda: straight(4), lambda: straight(5), straight, lambda: straight(120), ring])
def test_a_rod_as_it_was_made_runs_evenly(made):
    assert ratio(made()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("made", [lambda: straight(4), lambda: straight(6), straight, ring])
def test_the_measure_is_that_of_the_curve(made, rng=np.random.default_rng(5)):  # noqa: B008
    for size in (0.01, 0.1, 0.5):
        rod = made()
        rod.control_points = rod.control_points + size * rng.normal(size=rod.control_points.shape) / rod.tables.n
        assert ratio(rod) == pytest.approx(measured(rod), rel=1e-12)


def test_stretching_and_turning_are_no_folds():
    """A rod that is drawn out evenly, bent into a circle or moved about runs as evenly as before."""
    rod = straight(40)
    rod.control_points = 1.7 * rod.control_points[:, [2, 0, 1]] + (1, 2, 3)
    assert ratio(rod) == pytest.approx(1.0, abs=1e-12)
    angle = np.linspace(0.0, 2 * np.pi, 200)
    rod.set_shape(np.column_stack((np.cos(angle), np.sin(angle), 0 * angle)) / (2 * np.pi))
    assert ratio(rod) > 0.999


def test_a_cusp_at_a_knot_is_a_fold():
    """Control points that go back and forth: |r'| = 0 at a knot, and hardly any stretch in the middles of spans."""
    rod = straight(20)
    points = rod.control_points
    # the knot at u = 8 has r' = (P10 - P8)/2
    points[10] = points[8] + (0, 0, 1e-6)
    rod.control_points = points
    assert ratio(rod) < 1e-3


def test_numbers_that_are_not_finite_are_not_even():
    t = straight(12).tables
    q = t.rest.ravel().copy()
    q[20] = np.nan
    assert np.isnan(speed_ratio(0, t.kind, q))
    assert not least_speed_ratio(t.kind, q) >= FOLDED


def test_all_rods_of_a_scene():
    scene = sn.Scene()
    rods = [scene.add(straight(20)), scene.add(ring()), scene.add(straight(8, model="discrete"))]
    points = rods[1].control_points
    points[5] = points[3] + (0, 0, 1e-3)  # r' at the knot between them is half their distance
    rods[1].control_points = points
    model = scene._compiled().system.model
    assert kinds.least_speed_ratio(model, model.motion.q) == min(ratio(rods[0]), ratio(rods[1])) < FOLDED
    assert folds.folded_rods(scene._compiled().system) == [rods[1]]


def slack() -> tuple[sn.Scene, sn.Rod]:
    scene = sn.Scene()
    rope = scene.add(straight(20))
    scene.add(sn.Fix(rope.at(0.0)))
    scene.add(sn.Fix(rope.at(1.0))).target = (0.8, 0, 0)
    return scene, rope


def test_a_rope_that_folds_is_led_again(monkeypatch):
    """Its ends moved at once, it folds (middle at -0.1 m, stable); that is seen, and it is led."""
    scene, rope = slack()
    assert scene.settle().stable
    made = folds.Led.__init__

    def hasty(self, system):
        made(self, system)
        self.parts = 0

    monkeypatch.setattr(folds.Led, "__init__", hasty)
    again, other = slack()
    report = again.settle()
    assert report.stable
    assert np.abs(other.centerline() - rope.centerline()).max() < 1e-6
    assert other.at(0.5).position[2] == pytest.approx(-0.266, abs=1e-3)


def test_a_fold_is_a_failure_with_the_state_as_it_was(monkeypatch):
    monkeypatch.setattr(folds, "FOLDED", 2.0)  # nothing is even enough
    scene, rope = slack()
    before = bits(scene)
    report = scene.settle(throw=False)
    assert (report.status, report.stable) == ("failed", False)
    assert rope.name in report.message
    assert "folded" in report.message
    assert bits(scene) == before
    with pytest.raises(sn.SolveError, match="folded"):
        scene.settle()
