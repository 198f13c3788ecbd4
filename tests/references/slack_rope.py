"""A rope between two points at one height, under its weight, with bending and stretch: scipy's boundary value solver.

The plane is (x, z), s from the left end to the middle, theta the angle of the tangent from x. With the horizontal force
H (unknown), the vertical one V = w (s - L/2), the tension N = H cos(theta) + V sin(theta), stretch e = N/EA:

    x' = (1 + e) cos(theta)      z' = (1 + e) sin(theta)
    theta' = M/EI                M' = (1 + e) (H sin(theta) - V cos(theta))
    x = z = M = 0 at the end (pinned)         x = gap/2, theta = 0 in the middle

Lengths are in the rope's length, forces in the larger of its weight and EI/L^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import brentq


@dataclass(frozen=True)
class SlackRope:
    """Half of the rope: positions x, z at the material places s, in its length, and its sharpest bend, 1/length."""

    s: np.ndarray
    x: np.ndarray
    z: np.ndarray
    curvature: float


def _catenary(gap: float, s: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Parameter a, and x, z, theta of the catenary of length 1 over ``gap``."""
    y = brentq(lambda y: np.sinh(y) / y - 1.0 / gap, 1e-6, 60.0)  # gap = 2 a y, length 2 a sinh y
    a = 0.5 * gap / y
    along = s - 0.5
    x = a * np.arcsinh(along / a)
    return a, x + gap / 2, a * (np.cosh(x / a) - np.cosh(y)), np.arctan2(along, a)


def solve(gap: float, weight: float, bending: float, stretching: float, tolerance: float = 1e-7) -> SlackRope:
    """The rope that sags, for ``gap`` in lengths, and its weight, EI/L^2 and EA (N)."""
    unit = max(weight, bending)
    w, B, C = weight / unit, bending / unit, stretching / unit
    s = 0.5 * np.linspace(0.0, 1.0, 101) ** 1.5

    def slopes(s, y, p, B):
        theta, m = y[2:]
        h, v = p[0], w * (s - 0.5)
        e = (h * np.cos(theta) + v * np.sin(theta)) / C
        return np.vstack([
            (1 + e) * np.cos(theta), (1 + e) * np.sin(theta), m / B, (1 + e) * (h * np.sin(theta) - v * np.cos(theta)),
        ])  # fmt: skip

    def ends(a, b, p):
        return np.array([a[0], a[1], a[3], b[0] - gap / 2, b[2]])

    a, x, z, theta = _catenary(gap, s)
    guess, p, places = np.vstack([x, z, theta, B * np.gradient(theta, s)]), np.array([w * a]), s
    # from the catenary to the bending stiffness that it has, in steps
    present = min(B, 1e-3 * w)
    guess[3] *= present / B
    while True:
        found = solve_bvp(
            lambda s, y, p, B=present: slopes(s, y, p, B), ends, places, guess, p, tol=tolerance, max_nodes=20000
        )
        if not found.success:
            raise ArithmeticError(f"slack rope: {found.message} at EI/L^2 = {present} of {B}")
        if present == B:
            break
        step = min(B / present, 3.0)
        present = B if step < 3.0 else 3.0 * present
        places, guess, p = found.x, found.y * np.array([1.0, 1.0, 1.0, step])[:, None], found.p
    x, z, theta, m = found.y
    if not (z[1:-1] < 1e-12).all() or not theta[0] < 0.0:
        raise ArithmeticError("slack rope: it does not hang")
    return SlackRope(found.x, x, z, float(np.abs(m).max() / B))
