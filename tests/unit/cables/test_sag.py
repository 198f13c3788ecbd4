"""Slack cables for drawing: length, the equation of the catenary, limits, and one directrix for several spans."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from sennit.constraints.cable.sag import hang, hang_spans, solve_sinhc, span_lengths


def polygon_length(points: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def arc_length(p: object, q: object, length: float, gravity: object = (0, 0, -9.81)) -> float:
    """Extrapolated from polygons with 2,000 and 4,000 sides: chords miss the square of their length."""
    coarse, fine = (polygon_length(hang(p, q, length, gravity, n)) for n in (2001, 4001))
    return fine + (fine - coarse) / 3


@pytest.mark.parametrize("ratio", [1 + 1e-12, 1 + 1e-6, 1.01, 1.5, 2.9, 3.1, 10.0, 100.0, 500.0])
def test_sinhc(ratio: float) -> None:
    x, iterations = solve_sinhc(ratio - 1)
    assert math.sinh(x) / x == pytest.approx(ratio, rel=1e-13)
    assert x == pytest.approx(brentq(lambda v: math.log(math.sinh(v) / v / ratio), 1e-9, 20), rel=1e-4)
    assert iterations <= 5


@pytest.mark.parametrize("q", [(3.0, 0.0, 0.0), (2.0, 1.0, 4.0), (1.0, -2.0, -6.0), (0.1, 0.0, 5.0)])
@pytest.mark.parametrize("spare", [1e-6, 1e-3, 0.1, 2.0, 40.0])
def test_length_and_ends(q: tuple[float, float, float], spare: float) -> None:
    p = np.array([0.5, -0.25, 1.0])
    length = float(np.linalg.norm(np.array(q) - p)) + spare
    points = hang(p, q, length)
    assert points.shape == (33, 3)
    assert np.allclose(points[0], p, atol=1e-15) and np.allclose(points[-1], q, atol=1e-15)
    before_last = hang(p, q, length, count=100_001)[-2:]
    assert np.linalg.norm(np.diff(before_last, axis=0)) == pytest.approx(length / 100_000, rel=1e-4)
    assert arc_length(p, q, length) == pytest.approx(length, rel=2e-9 if spare < 40 else 1e-7)


def test_catenary_equation() -> None:
    """From the points alone: a from the ends' and the lowest slope, then length by an integral and z'' = √(1+z'²)/a."""
    points = hang((0, 0, 0), (4, 0, 1.5), 7.0, count=4001)
    s, z = points[:, 0], points[:, 2]
    assert np.abs(points[:, 1]).max() == 0.0
    slope = np.gradient(z, s, edge_order=2)
    arc = np.linspace(0, 7.0, 4001)
    # slope = (arc − arc₀)/a: a straight line in the arc
    a, offset = np.polyfit(slope[5:-5], arc[5:-5], 1)
    assert np.abs(slope * a + offset - arc)[5:-5].max() < 1e-4
    s0 = s[np.argmin(z)]
    s0 = brentq(lambda m: a * (math.cosh((4 - m) / a) - math.cosh(-m / a)) - 1.5, s0 - 1, s0 + 1)
    total, _ = quad(lambda v: math.sqrt(1 + math.sinh((v - s0) / a) ** 2), 0, 4)
    assert total == pytest.approx(7.0, rel=1e-5)
    assert np.allclose(z, a * (np.cosh((s - s0) / a) - math.cosh(s0 / a)), atol=1e-4)


def test_symmetry_and_gravity() -> None:
    level = hang((0, 0, 0), (2, 0, 0), 3.0)
    assert np.allclose(level[:, 2], level[::-1, 2], atol=1e-14)
    assert np.allclose(level[:, 0], 2 - level[::-1, 0], atol=1e-14)
    ahead, back = hang((0, 0, 0), (2, 1, 3), 6.0), hang((2, 1, 3), (0, 0, 0), 6.0)
    assert np.allclose(ahead, back[::-1], atol=1e-13)
    side = hang((0, 0, 0), (0, 0, 2), 3.0, gravity=(4.0, 0, 0))
    assert np.allclose(side, np.column_stack([-level[:, 2], level[:, 1], level[:, 0]]), atol=1e-14)
    assert np.allclose(hang((0, 0, 0), (2, 0, 0), 3.0, gravity=(0, 0, -1e-3)), level, atol=1e-15)


@pytest.mark.parametrize("ratio", [500.0, 1e5, 1e8])
def test_narrow_loops_are_falls(ratio: float) -> None:
    points = hang((0, 0, 0), (2.0 / ratio, 0, 1.0), 5.0, count=101)
    assert np.isfinite(points).all()
    assert points[:, 2].min() == pytest.approx(-2.0, abs=0.03)
    assert arc_length((0, 0, 0), (2.0 / ratio, 0, 1.0), 5.0) == pytest.approx(5.0, rel=1e-4)


@pytest.mark.parametrize("dz", [0.0, 1.0, -1.0])
def test_vertical(dz: float) -> None:
    points = hang((1, 2, 0), (1, 2, dz), 3.0)
    assert polygon_length(points) == pytest.approx(3.0, rel=1e-12)
    assert points[:, 2].min() == pytest.approx(min(dz, 0) - (3.0 - abs(dz)) / 2, rel=1e-12)
    assert np.allclose(points[:, :2], [1, 2], atol=1e-14)
    assert np.allclose(points[[0, -1], 2], [0, dz], atol=1e-15)


def test_straight() -> None:
    line = np.outer(np.linspace(0, 1, 33), [1.0, 2.0, 2.0])
    for length, gravity in ((3.0, (0, 0, -9.81)), (2.0, (0, 0, -9.81)), (5.0, (0, 0, 0))):
        assert np.allclose(hang((0, 0, 0), (1, 2, 2), length, gravity), line, atol=1e-15)
    assert np.allclose(hang((0, 0, 0), (1, 2, 2), 3.0 * (1 + 1e-11)), line, atol=1e-4)


def directrix(p: np.ndarray, q: np.ndarray, length: float) -> float:
    """Height, from the definition: a by bisection of the length, then the lowest point by bisection of the rise."""
    dx, dz = float(np.linalg.norm((q - p)[:2])), float((q - p)[2])
    chord = math.sqrt(length**2 - dz**2)
    a = brentq(lambda v: math.log(2 * v * math.sinh(dx / 2 / v) / chord), dx / 100, dx * 1e4, xtol=1e-15, rtol=1e-14)
    m = brentq(lambda v: math.cosh((dx - v) / a) - math.cosh(v / a) - dz / a, -30 * a - dx, 30 * a + 2 * dx, xtol=1e-15)
    return float(p[2]) - a * math.cosh(m / a)


@pytest.mark.parametrize("spare", [1e-3, 0.05, 0.5, 3.0, 30.0])
@pytest.mark.parametrize("heights", [(0, 0, 0), (0, 1, 0.5, 0), (0, 0.2, -0.3)])
def test_spans_share_a_directrix(spare: float, heights: tuple[float, ...]) -> None:
    points = np.array([[1.0 * i + 0.3 * i * i, 0.1 * i, z] for i, z in enumerate(heights)])
    distances = np.linalg.norm(np.diff(points, axis=0), axis=1)
    length = float(distances.sum()) + spare
    lengths = span_lengths(points[:-1], points[1:], length)
    assert lengths.sum() == pytest.approx(length, rel=1e-12)
    assert (lengths >= distances).all()
    levels = [directrix(p, q, L) for p, q, L in zip(points[:-1], points[1:], lengths, strict=True)]
    assert np.allclose(levels, levels[0], rtol=1e-6, atol=1e-6)
    shapes = hang_spans(points[:-1], points[1:], length, count=4001)
    assert [shape.shape for shape in shapes] == [(4001, 3)] * len(lengths)
    assert sum(map(polygon_length, shapes)) == pytest.approx(length, rel=1e-5)


def test_equal_spans_share_equally_while_shallow() -> None:
    assert np.allclose(span_lengths([(0, 0, 0), (1, 0, 0)], [(1, 0, 0), (2, 0, 0)], 2.2), [1.1, 1.1], rtol=1e-6)


def test_spans_without_a_catenary() -> None:
    upright = [(0, 0, 0), (0, 0, 2), (3, 0, 2)]
    assert span_lengths(upright[:-1], upright[1:], 5.5).sum() == pytest.approx(5.5, rel=1e-12)
    assert np.allclose(span_lengths(upright[:-1], upright[1:], 5.0), [2, 3])
    assert np.allclose(span_lengths(upright[:-1], upright[1:], 4.0), [2, 3])
    assert np.allclose(span_lengths(upright[:-1], upright[1:], 6.0, gravity=(0, 0, 0)), [2.4, 3.6])
    assert span_lengths([(0, 0, 0), (0, 0, 0)], [(0, 0, 0), (1, 0, 0)], 2.0).sum() == pytest.approx(2.0, rel=1e-12)
