"""The references of the cables' checks, against something else: recursions run, hulls, energy, convex minimisation."""

from __future__ import annotations

import numpy as np
import pytest
from references import hoists
from references.rotation import exp
from scipy.optimize import minimize, minimize_scalar
from scipy.spatial import ConvexHull


@pytest.mark.parametrize("omega", [0.3, 40.0, 900.0])
@pytest.mark.parametrize("factor", [0.0, 1.0])
def test_exponents_are_those_of_the_recursion(omega, factor):
    h = 0.01
    tau = factor * hoists.default_relaxation(omega, h)
    x = hoists.spook_motion(omega, h, tau, 0.3, 1.0, 400)
    s = hoists.fitted_exponent(x, h)
    expected = hoists.spook_exponent(omega, h, tau)
    assert s == pytest.approx(expected, rel=1e-6, abs=1e-7)
    if factor == 0.0:
        assert abs(expected.real) < 1e-9 / h
        assert 2 * np.pi / expected.imag == pytest.approx(hoists.spook_period(omega, h), rel=1e-9)


def test_backward_exponent():
    omega, h = 44.7, 0.01
    s = hoists.backward_exponent(omega, h)
    assert s.imag == pytest.approx(np.arctan(omega * h) / h, rel=1e-12)
    assert s.real == pytest.approx(-np.log1p((omega * h) ** 2) / (2 * h), rel=1e-12)


def test_crossings():
    t = 0.01 * np.arange(1, 2001)
    assert hoists.upward_crossings(np.sin(3 * t - 0.7), 0.01) == pytest.approx(
        (0.7 + 2 * np.pi * np.arange(10)) / 3, abs=1e-5
    )


def test_tackles():
    # one fall over one sheave without friction is Atwood's machine; an exact balance does not move
    assert hoists.tackle_acceleration(3.0, 2.0, 1) == pytest.approx(hoists.atwood_acceleration(2.0, 3.0))
    assert hoists.tackle_acceleration(1.0, 4.0, 4) == pytest.approx(0.0, abs=1e-15)
    rho = np.exp(0.05 * np.pi)
    assert 1 / hoists.tackle_sum(4, rho) == pytest.approx(0.3646, abs=5e-5)
    assert hoists.capstan_acceleration(1.0, 2.0, 1.0) == pytest.approx(hoists.atwood_acceleration(1.0, 2.0))
    assert hoists.capstan_acceleration(1.0, 2.0, 2.1) == 0.0
    assert hoists.capstan_acceleration(2.0, 1.0, 1.0) == pytest.approx(-hoists.atwood_acceleration(1.0, 2.0))


def test_elastic_pendulum_keeps_energy():
    m, k, length = 1.0, 100.0, 1.0
    t = np.linspace(0.1, 2.0, 39)
    h = 1e-4
    place = (0.62, -0.91)
    p = hoists.elastic_pendulum(m, k, length, place, t)
    ahead = hoists.elastic_pendulum(m, k, length, place, t + h)
    behind = hoists.elastic_pendulum(m, k, length, place, t - h)
    v = (ahead - behind) / (2 * h)
    energy = m / 2 * (v**2).sum(1) + m * 9.81 * p[:, 1] + k / 2 * (np.hypot(*p.T) - length) ** 2
    start = m * 9.81 * place[1] + k / 2 * (np.hypot(*place) - length) ** 2
    assert np.abs(energy - start).max() < 1e-5


def test_pendulum_period():
    # a stiff spring: T/4 later the bob hangs straight down
    quarter = hoists.pendulum_period(1.0, 0.9) / 4
    t = quarter + np.array([-1e-4, 1e-4])
    x = hoists.elastic_pendulum(1.0, 1e7, 1.0, (np.sin(0.9), -np.cos(0.9)), t)[:, 0]
    assert x[0] > 0 > x[1]
    assert hoists.pendulum_period(2.0, 1e-4) == pytest.approx(2 * np.pi * np.sqrt(2 / 9.81), rel=1e-8)


def test_peg_pendulum():
    peg = hoists.Peg(2.0, 0.15, -1.0, 0.1)
    t = np.linspace(0.01, 6.0, 600)
    h = 1e-5
    p = peg.swing(-0.8, t)
    v = (peg.swing(-0.8, t + h) - peg.swing(-0.8, t - h)) / (2 * h)
    energy = (v**2).sum(1) / 2 + 9.81 * p[:, 1]
    assert np.abs(energy + 9.81 * 2 * np.cos(0.8)).max() < 2e-4
    # both sides reach the height from which it was let go
    assert p[p[:, 0] > 0.3, 1].max() == pytest.approx(-2 * np.cos(0.8), abs=1e-3)
    # the string's length: tangent, arc, span
    right = p[np.argmax(p[:, 0])] - (0.15, -1.0)
    total = hoists.sheave_path((0, 0, 0), (0.15 + right[0], 0, -1.0 + right[1]), (0.15, 0, -1.0), (0, -1, 0), 0.1)[0]
    assert total == pytest.approx(2.0, abs=1e-9)
    # without a peg near it swings as a pendulum does
    far = hoists.Peg(2.0, 5.0, -1.0, 0.1).swing(-0.8, t)
    assert np.hypot(*far.T) == pytest.approx(np.full(len(t), 2.0), abs=1e-9)
    later = hoists.pendulum_period(2.0, 0.8)
    assert np.interp(later, t, far[:, 0]) == pytest.approx(2 * np.sin(-0.8), abs=1e-3)


def test_sheave_path_is_the_hull_of_its_circle():
    # perimeter of the hull of circle, p and q = path + the straight line from q to p, when that line passes beside
    p, q, r = np.array([-1.0, -2.0]), np.array([1.5, -1.2]), 0.4
    angle = np.linspace(0, 2 * np.pi, 20001)
    hull = ConvexHull(np.vstack([r * np.column_stack([np.cos(angle), np.sin(angle)]), p, q]))
    # y into the page, x to the right, z up: over the top from left to right is right-handed about +y
    length, wrap = hoists.sheave_path((p[0], 0, p[1]), (q[0], 0, q[1]), (0, 0, 0), (0, 1, 0), r)
    assert length + np.linalg.norm(q - p) == pytest.approx(hull.area, abs=1e-6)
    longer, more = hoists.sheave_path((p[0], 0, p[1]), (q[0], 0, q[1]), (0, 0, 0), (0, 1, 0), r, turns=2)
    assert (longer - length, more - wrap) == pytest.approx((4 * np.pi * r, 4 * np.pi))
    # straight up, over, straight down
    assert hoists.sheave_path((-r, 0, -3), (r, 0, -1), (0, 0, 0), (0, 1, 0), r) == pytest.approx((4 + np.pi * r, np.pi))


def test_sheave_path_with_fleet():
    # beside the plane: the span that is the shadow's slant ends where the shadow's does
    length, wrap = hoists.sheave_path((-0.4, 0.3, -3), (0.4, -0.5, -1), (0, 0, 0), (0, 1, 0), 0.4)
    assert length == pytest.approx(np.hypot(3, 0.3) + np.hypot(1, 0.5) + 0.4 * np.pi)
    assert wrap == pytest.approx(np.pi)


def test_belts():
    # a tangent touches both circles: the centres' offset along it, and across it r1 - r2 or r1 + r2
    assert hoists.belt_span(5.0, 3.0, 0.0) == pytest.approx(4.0)
    assert hoists.belt_span(5.0, 2.0, 1.0, crossed=True) == pytest.approx(4.0)
    assert hoists.belt_span(5.0, 1.0, 1.0) == pytest.approx(5.0)


def test_paths_over_solids():
    # box: the place on the edge that makes the two straight parts shortest
    p, q = np.array([-3.0, -0.4, 1.2]), np.array([3.0, 0.4, 0.5])

    def through(y):
        e = np.array([1.0, y, 1.0])
        return np.linalg.norm(p - e) + np.linalg.norm(q - e)

    least = minimize_scalar(through, bounds=(-1, 1), options={"xatol": 1e-9}, method="bounded").fun
    assert hoists.edges_path(np.hypot(4, 0.2), np.hypot(2, 0.5), 0.8) == pytest.approx(least, abs=1e-9)

    # ball: brute-force chain of points kept outside
    centre, r = np.array([0.1, -0.2, 0.3]), 0.7
    a, b = np.array([-2.0, 0.3, 0.2]), np.array([1.5, 0.1, 0.5])
    n = 40

    def chain(x):
        line = np.vstack([a, x.reshape(n, 3), b])
        inside = np.maximum(0.0, r - np.linalg.norm(line - centre, axis=1))
        return np.linalg.norm(np.diff(line, axis=0), axis=1).sum() + 1e3 * (inside**2).sum()

    start = np.linspace(a, b, n + 2)[1:-1] + 0.4 * np.array([0.0, 0.7, 0.1])
    found = minimize(chain, start.ravel(), method="L-BFGS-B", options={"maxiter": 3000, "maxfun": 10**6})
    assert hoists.sphere_path(a, b, centre, r) == pytest.approx(found.fun, rel=5e-3)
    assert hoists.sphere_path(a, b, centre + np.array([0, 5, 0]), r) == pytest.approx(np.linalg.norm(b - a))
    # a cylinder across the plane of the points acts as the ball's circle does
    axis = np.cross(a - centre, b - centre)
    assert hoists.cylinder_path(a, b, centre, axis, r) == pytest.approx(hoists.sphere_path(a, b, centre, r))
    shifted = hoists.cylinder_path(a, b + 0.9 * axis / np.linalg.norm(axis), centre, axis, r)
    assert shifted == pytest.approx(np.hypot(hoists.sphere_path(a, b, centre, r), 0.9))


def test_catch_peak():
    # the energy at the lowest place: k x²/2 = m v²/2 + m g x
    m, k, v = 1000.0, 1e5, 1.4
    x = hoists.catch_peak(m, k, v) / k
    assert k * x**2 / 2 == pytest.approx(m * v**2 / 2 + m * 9.81 * x)


def test_ropeway_period():
    # curvature of the ellipse at its lowest point by differences
    a, c = 5.0, 3.0
    x = 1e-3
    z = -4.0 * np.sqrt(1 - (x / a) ** 2)
    assert hoists.ropeway_period(a, c) == pytest.approx(2 * np.pi / np.sqrt(9.81 * 2 * (z + 4) / x**2), rel=1e-6)


def test_transported_twist():
    rng = np.random.default_rng(4)
    u = rng.normal(size=(5, 3))
    u[1:] += 2 * u[0]
    d = np.cross(u[0], (0.3, 0.2, 1.0))
    d /= np.linalg.norm(d)
    end = u[-1] / np.linalg.norm(u[-1])
    last = np.cross(end, (1.0, 0.3, 0.0))
    last /= np.linalg.norm(last)
    one = hoists.transported_twist(d, last, u)
    turn = exp(np.array([0.9, -0.3, 1.7]))
    assert hoists.transported_twist(turn @ d, turn @ last, u @ turn.T) == pytest.approx(one, abs=1e-13)
    assert hoists.transported_twist(d, exp(0.4 * end) @ last, u) == pytest.approx(one + 0.4, abs=1e-13)
    # along a straight line nothing turns
    assert hoists.transported_twist((1, 0, 0), (0, 1, 0), [(0, 0, 1)] * 3) == pytest.approx(np.pi / 2)
