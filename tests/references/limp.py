"""Limp threads: the heavy elastica in a vertical plane, by scipy's boundary value solver from guesses of its own.

Length 1, bending stiffness 1, weight gamma (w L^3/EI). The tangent is (sin a, -cos a), a measured from straight down,
and with the horizontal and vertical internal force (H, V):

    a' = k,  k' = -(H cos a + V sin a),  H' = 0,  V' = gamma,  x' = sin a,  z' = -cos a.

The guess is what is left without stiffness, a straight or a catenary, with tan(theta/4) = tan(alpha/4) exp(-x sqrt T)
at each clamp that is turned by alpha from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import brentq


@dataclass(frozen=True)
class Thread:
    """A limp thread in the plane (x, z), clamped at the origin: hung free, or slung to a second clamp."""

    gamma: float
    base: float  # angle of the clamp's tangent from straight down
    tip: tuple[float, float, float] | None = None  # x, z and angle of the second clamp


@dataclass(frozen=True)
class Shape:
    """Its shape: positions (n, 2) at places s (n,); the curvature at the base; and the energy."""

    positions: Callable[[np.ndarray], np.ndarray]
    moment: float
    energy: float
    solved: bool


def random_thread(seed: int) -> Thread:
    """Hung for even seeds, slung for odd ones; weights to 1e9."""
    generator = np.random.default_rng([17, seed])
    if seed % 2 == 0:
        return Thread(10 ** generator.uniform(2, 9), generator.uniform(-2.8, 2.8))
    gamma, ratio, slope = 10 ** generator.uniform(3, 9), generator.uniform(0.3, 0.97), generator.uniform(-1.2, 1.2)
    span, rise = ratio * np.cos(slope), ratio * np.sin(slope)
    first, last = catenary_angles(span, rise, np.array([0.0, 1.0]))
    return Thread(gamma, first + generator.uniform(-2.4, 2.4), (span, rise, last + generator.uniform(-2.4, 2.4)))


def catenary(span: float, rise: float) -> tuple[float, float]:
    """Parameter a (horizontal force over weight) and vertical force over weight at the base, length 1."""
    ratio = np.sqrt(1 - rise**2) / span
    x = brentq(lambda x: np.sinh(x) / x - ratio, 1e-8, 50)
    a = span / (2 * x)
    # the slope is sinh((x - x0)/a) with x0 = span/2 - a artanh(rise): the force there is a times that
    return a, a * np.sinh(np.arctanh(rise) - x)


def catenary_angles(span: float, rise: float, s: np.ndarray) -> np.ndarray:
    a, vertical = catenary(span, rise)
    return np.arctan2(a, -(vertical + s))


def _layer(tilt: float, distance: np.ndarray, tension: float) -> np.ndarray:
    return 4 * np.arctan(np.tan(tilt / 4) * np.exp(-distance * np.sqrt(tension)))


def solve(thread: Thread, tolerance: float = 1e-7) -> Shape:
    """The equilibrium next to the guess."""
    gamma = thread.gamma
    fine = np.geomspace(1e-3 / np.sqrt(gamma), 0.5, 150)
    s = np.unique(np.concatenate(([0.0], fine, 1 - fine, [1.0])))
    if thread.tip is None:
        horizontal, vertical = 0.0, -gamma  # of the internal force at the base: it carries all the weight
        string = np.zeros_like(s)
        tensions = gamma, 1.0
        ends = thread.base, 0.0
    else:
        span, rise, last = thread.tip
        a, first = catenary(span, rise)
        horizontal, vertical = gamma * a, gamma * first
        string = catenary_angles(span, rise, s)
        tensions = gamma * np.hypot(a, first), gamma * np.hypot(a, first + 1)
        ends = thread.base - string[0], last - string[-1]
    angle = string + _layer(ends[0], s, tensions[0]) + _layer(ends[1], 1 - s, tensions[1])
    unit = np.sqrt(gamma)  # of curvatures; forces are in gamma

    def derivative(s, y, p):
        h, v = gamma * p[0], gamma * (p[1] + s)
        # moment balance: the internal force (h, v) turns the tangent towards itself
        return np.vstack([unit * y[1], -(h * np.cos(y[0]) + v * np.sin(y[0])) / unit, np.sin(y[0]), -np.cos(y[0])])

    def misses(first, last, p):
        if thread.tip is None:
            end = [last[1], p[0], p[1] + 1.0]
        else:
            end = [last[0] - thread.tip[2], last[2] - thread.tip[0], last[3] - thread.tip[1]]
        return np.array([first[0] - thread.base, first[2], first[3], *end])

    steps = np.diff(s)
    x, z = np.sin(angle), -np.cos(angle)
    guess = np.vstack(
        [
            angle,
            np.gradient(angle, s) / unit,
            np.concatenate(([0.0], np.cumsum(0.5 * (x[1:] + x[:-1]) * steps))),
            np.concatenate(([0.0], np.cumsum(0.5 * (z[1:] + z[:-1]) * steps))),
        ]
    )
    found = solve_bvp(
        derivative, misses, s, guess, p=[horizontal / gamma, vertical / gamma], tol=tolerance, max_nodes=20_000
    )
    # of bending and of the weight, which is zero at the base's height
    bend, height = 0.5 * gamma * found.y[1] ** 2, gamma * found.y[3]
    energy = float(np.trapezoid(bend + height, found.x))
    return Shape(lambda s: found.sol(s)[2:].T, float(unit * found.y[1, 0]), energy, found.status == 0)
