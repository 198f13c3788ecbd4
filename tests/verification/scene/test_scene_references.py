"""The references of the scene tests, against something else: schemes run on one oscillator, modes put into their
equations by Chebyshev differentiation, spline controls evaluated by scipy."""

from __future__ import annotations

import numpy as np
import pytest
from references import vibration
from references.scene_cases import controls, greville, round_rod
from scipy.interpolate import BSpline
from scipy.linalg import eig


def chebyshev(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on [0, 1] and the matrix of the derivative there."""
    k = np.arange(degree + 1)
    x = np.cos(np.pi * k / degree)
    c = np.where((k == 0) | (k == degree), 2.0, 1.0) * (-1.0) ** k
    d = np.outer(c, 1 / c) / (x[:, None] - x[None, :] + np.eye(degree + 1))
    d -= np.diag(d.sum(axis=1))
    return (1 - x) / 2, -2 * d


@pytest.mark.parametrize("scheme", ["euler", "bdf2", "midpoint"])
def test_exponents(scheme):
    dt, decay, omega = 0.1, 0.05, 1.3
    a = np.array([[0.0, 1.0], [-(omega**2 + decay**2), -2 * decay]])
    one = np.eye(2)
    y, before, values = np.array([1.0, 0.0]), None, []
    for _ in range(300):
        if scheme == "midpoint":
            y = np.linalg.solve(one - dt / 2 * a, y + dt / 2 * a @ y)
        elif scheme == "euler" or before is None:
            before, y = y, np.linalg.solve(one - dt * a, y)
        else:
            before, y = y, np.linalg.solve(1.5 * one - dt * a, 2 * y - 0.5 * before)
        values.append(y[0])
    assert vibration.exponent(np.array(values[20:]), dt, scheme) == pytest.approx(complex(-decay, omega), abs=1e-9)


@pytest.mark.parametrize("mode", [1, 2, 3])
def test_cantilever_modes(mode):
    # y'''' = b^4 y, y = y' = 0 at the clamp, y'' = y''' = 0 at the tip
    x, d = chebyshev(40)
    b, y = vibration.cantilever_root(mode), vibration.cantilever_mode(mode, x)
    assert np.abs(d @ d @ d @ d @ y - b**4 * y)[8:-8].max() < 1e-3 * b**4
    ends = [y[0], (d @ y)[0], (d @ d @ y)[-1] / b**2, (d @ d @ d @ y)[-1] / b**3]
    assert np.abs(ends).max() < 1e-6
    assert y[-1] == pytest.approx(1.0)


def test_chain():
    # EI y'''' - (T y'/(1 + T/EA))' = omega^2 y with T = 1 - s; pinned at the top, free below
    bend, give = 1e-5, 1e-3
    s, d = chebyshev(100)
    tension = (1 - s) / (1 + give * (1 - s))
    left, right = bend * d @ d @ d @ d - d @ np.diag(tension) @ d, np.eye(101)
    left[0], left[1], left[-1], left[-2] = np.eye(101)[0], (d @ d)[0], (d @ d)[-1], (d @ d @ d)[-1]
    right[[0, 1, -1, -2]] = 0.0
    squares = eig(left, right)[0]
    squares = squares[np.isfinite(squares) & (np.abs(squares.imag) < 1e-6 * np.abs(squares)) & (squares.real > 0.1)]
    found = np.sqrt(np.sort(squares.real)[:2])
    assert found[0] == pytest.approx(vibration.chain_frequency(1, bend, give), rel=1e-5)
    assert found[1] == pytest.approx(vibration.chain_frequency(2, bend, give), rel=3e-4)
    assert found == pytest.approx([vibration.chain_frequency(k) for k in (1, 2)], rel=1e-3)


def test_controls():
    # a cubic is held exactly; the first and last control values are the ends
    n = 11
    knots = np.concatenate([np.zeros(3), np.arange(n - 2.0), np.full(3, n - 3.0)])

    def cubic(x):
        return 1 - 2 * x + 3 * x**2 - x**3

    spline = BSpline(knots, controls(cubic, n, "spline"), 3)
    x = np.linspace(0, 1, 57)
    assert np.abs(spline(x * (n - 3)) - cubic(x)).max() < 1e-13
    # x itself has its Greville abscissae as control values
    assert np.abs(controls(lambda x: x, n, "spline") - greville(n)).max() < 1e-14


@pytest.mark.parametrize("slenderness", [1e3, 1e8])
def test_round_rod(slenderness):
    make = round_rod(slenderness, 0.25)
    assert (make.bend1, make.bend2) == pytest.approx((1.0, 1.0))
    assert make.twist == pytest.approx(0.8)
    assert make.stretch == pytest.approx(slenderness)
    assert make.mass_per_length == pytest.approx(1.0)
