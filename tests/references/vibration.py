"""Small vibrations in closed form, and how time-stepping schemes turn an exponent into a factor per step.

Cantilever (Euler and Bernoulli, no rotary inertia): cos(b) cosh(b) = -1, omega = (b/L)^2 sqrt(EI/(rho A)).
Clamped-free bar in torsion or along itself: omega = (k - 1/2) pi c/L, c^2 = GJ/(rho (I1 + I2)) or E/rho.
Hanging chain (Bernoulli 1732, Lamb, Hydrodynamics art. 186): y = J0(2 omega sqrt(x/g)), x from the free end, J0 = 0 at
x = L, so that omega = j_0k/2 sqrt(g/L).

A step of a linear scheme multiplies a mode exp(p t) by a factor z that solves, exactly (E. Hairer and G. Wanner,
Solving Ordinary Differential Equations II, chapters IV.3 and V.1),

    Euler p h = 1 - 1/z,    BDF2 p h = 3/2 - 2/z + 1/(2 z^2),    midpoint p h = 2 (z - 1)/(z + 1),

and Suzuki's five midpoint steps of lengths g h, g h, (1 - 4 g) h, g h, g h with g = 1/(4 - 4^(1/3)) by the product of
their factors (1 + p k/2)/(1 - p k/2), k the length, of which the root next to log(z)/h is found by Newton's method.

A measured z thus gives the exponent of the model in space alone, free of the error of the scheme in time.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import j0, jn_zeros, jv


def cantilever_root(mode: int) -> float:
    """The ``mode``-th positive root of cos(b) cosh(b) = -1; 1e-14."""
    middle = (mode - 0.5) * np.pi
    return float(brentq(lambda b: np.cos(b) + 1.0 / np.cosh(b), middle - 0.5, middle + 0.5, xtol=1e-15))


def cantilever_mode(mode: int, x: np.ndarray) -> np.ndarray:
    """Deflection at x = s/L, clamped at 0; 1 at the tip."""
    b = cantilever_root(mode)
    ratio = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))

    def raw(x):
        return np.cosh(b * x) - np.cos(b * x) - ratio * (np.sinh(b * x) - np.sin(b * x))

    return raw(np.asarray(x, dtype=float)) / raw(1.0)


def bar_root(mode: int) -> float:
    """(k - 1/2) pi."""
    return (mode - 0.5) * np.pi


def chain_mode(mode: int, x: np.ndarray) -> np.ndarray:
    """Deflection at x = s/L from the top; 1 at the free end."""
    return np.asarray(j0(jn_zeros(0, mode)[-1] * np.sqrt(np.maximum(1.0 - np.asarray(x, dtype=float), 0.0))))


def chain_frequency(mode: int, bend: float = 0.0, give: float = 0.0) -> float:
    """omega sqrt(L/g) of a chain pinned at its top, with bend = EI/(w L^3) and give = w L/EA to first order (Rayleigh).

    Energies: tension int T y'^2/2, bending int EI y''^2/2, and in coordinates of the unstretched chain the tension acts
    as T/(1 + T/EA).  With z = 2 omega sqrt(x): y' = -2 omega^2 J1/z, y'' = (2 omega^2)^2 J2/z^2.
    """
    root = float(jn_zeros(0, mode)[-1])
    square = root**2 / 4.0
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x, weights = (nodes + 1.0) / 2.0, weights / 2.0
    z = root * np.sqrt(x)
    y, slope, curve = j0(z), 2.0 * square * jv(1, z) / z, (2.0 * square) ** 2 * jv(2, z) / z**2
    change = bend * (weights @ curve**2) - give * (weights @ (x * slope) ** 2)
    return float(np.sqrt(square + change / (weights @ y**2)))


def _exponent(z: complex, dt: float, scheme: str) -> complex:
    if scheme == "euler":
        return (1.0 - 1.0 / z) / dt
    if scheme == "bdf2":
        return (1.5 - 2.0 / z + 0.5 / z**2) / dt
    if scheme == "midpoint":
        return 2.0 * (z - 1.0) / (z + 1.0) / dt
    if scheme == "fourth":
        return _composed_exponent(z) / dt
    raise ValueError(scheme)


def _composed_exponent(z: complex) -> complex:
    """p h of Suzuki's five midpoint steps."""
    part = 1.0 / (4.0 - 4.0 ** (1.0 / 3.0))
    lengths = np.array([part, part, 1.0 - 4.0 * part, part, part])
    wanted = found = np.log(z)
    for _ in range(20):
        off = np.sum(np.log((1.0 + found * lengths / 2.0) / (1.0 - found * lengths / 2.0))) - wanted
        found = found - off / np.sum(lengths / (1.0 - (found * lengths / 2.0) ** 2))
    return complex(found)


def factor(values: np.ndarray) -> complex:
    """The factor per step z (imaginary part positive) of an oscillation q_k = Re(c z^k), by least squares on

    q_(k+1) = a q_k + b q_(k-1), whose roots are z and its conjugate.  Exact for one mode.
    """
    values = np.asarray(values, dtype=float)
    a, b = np.linalg.lstsq(np.column_stack([values[1:-1], values[:-2]]), values[2:], rcond=None)[0]
    inside = a * a / 4.0 + b
    if inside >= 0.0:
        raise ArithmeticError(f"no oscillation: roots of z^2 = {a} z + {b} are real")
    return complex(a / 2.0, np.sqrt(-inside))


def exponent(values: np.ndarray, dt: float, scheme: str) -> complex:
    """-decay + i omega of the model in space, from a mode's coordinate after every step of ``scheme``."""
    return _exponent(factor(values), dt, scheme)


def rotating_exponent(values: np.ndarray, dt: float, scheme: str) -> complex:
    """The same from complex samples of one rotating mode, q_k = c z^k."""
    values = np.asarray(values, dtype=complex)
    z = np.vdot(values[:-1], values[1:]) / np.vdot(values[:-1], values[:-1])
    return _exponent(complex(z), dt, scheme)
