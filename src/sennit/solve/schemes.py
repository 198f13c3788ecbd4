"""The time-stepping schemes, as the numbers that `motion.kernels` and `assembly.kernels` work with.

Every scheme takes the bodies from free flight x̂ to x₊ by forces at (or on the way to) x₊::

    wM M (x₊ − x̂) = f,   v₊ = V̂ + β (x₊ − x̂),   x̂ = X̂ + c V̂,   X̂ = A x + B x₋ + C v,   V̂ = D v + E v₋

euler     linearised backward Euler (MICADO): x̂ = x + h v, wM = 1/h². One solve, order 1.
bdf2      two-step backward formula at any ratio w of steps. One solve, order 2. Starts with a step of Euler.
midpoint  average vector field: the mean elastic force over the way from x to x₊, wM = 2/h². Newton, order 2; keeps the
          energy of what moves in a plane to rounding (Quispel & McLaren, J. Phys. A 41 (2008) 045206).
sdirk2    two stages of backward Euler, γ = 1 − 1/√2 (Alexander, SIAM J. Numer. Anal. 14 (1977) 1006): what "midpoint"
          redoes a step with when Newton does not converge.
"""

from __future__ import annotations

import math

from sennit.solve.kernels.assembly import ADVANCE, DAMP, DRAG, MEMORY, STEP, WD, WM
from sennit.solve.kernels.motion import BETA, MEAN, RATIO, REACH, A, B, C, D, E
from sennit.validation import FloatArray

__all__ = ["bdf2", "euler", "mean_force", "sdirk2_first", "sdirk2_second"]

GAMMA = 1.0 - 1.0 / math.sqrt(2.0)


def _fill(
    scheme: FloatArray, parameters: FloatArray, coefficients: tuple[float, ...], c: float, beta: float, weight: float,
    h: float, drag: float, drag_time: float,
) -> None:  # fmt: skip
    scheme[A], scheme[B], scheme[C], scheme[D], scheme[E] = coefficients
    scheme[REACH], scheme[BETA], scheme[RATIO], scheme[MEAN] = c, beta, 0.0, 0.0
    parameters[STEP], parameters[WM], parameters[DRAG], parameters[WD] = h, weight, drag, drag / drag_time
    parameters[DAMP], parameters[ADVANCE], parameters[MEMORY] = 1.0 / drag_time, h, 0.0


def euler(scheme: FloatArray, parameters: FloatArray, h: float, drag: float) -> None:
    """Backward Euler over `h` (s) with mass-proportional `drag` (1/s)."""
    _fill(scheme, parameters, (1.0, 0.0, 0.0, 1.0, 0.0), h, 1.0 / h, 1.0 / (h * h), h, drag, h)


def bdf2(scheme: FloatArray, parameters: FloatArray, h: float, drag: float, before: float) -> None:
    """The two-step formula after a step of `before` (s)."""
    w = h / before
    a, b, c = (1.0 + w) ** 2 / (1.0 + 2.0 * w), w * w / (1.0 + 2.0 * w), h * (1.0 + w) / (1.0 + 2.0 * w)
    _fill(scheme, parameters, (a, -b, 0.0, a, -b), c, 1.0 / c, 1.0 / (c * c), h, drag, c)
    scheme[RATIO], parameters[MEMORY] = w, -b


def mean_force(scheme: FloatArray, parameters: FloatArray, h: float, drag: float) -> None:
    """The average vector field method; drag acts on the mean velocity."""
    _fill(scheme, parameters, (1.0, 0.0, 0.0, 1.0, 0.0), h, 2.0 / h, 2.0 / (h * h), h, drag, h)
    scheme[MEAN] = 1.0


def sdirk2_first(scheme: FloatArray, parameters: FloatArray, h: float, drag: float) -> None:
    """First stage: backward Euler over γh."""
    euler(scheme, parameters, GAMMA * h, drag)


def sdirk2_second(scheme: FloatArray, parameters: FloatArray, h: float, drag: float) -> None:
    """Second stage, from the first's state with the step's start as the state before it."""
    c = GAMMA * h
    rest = (1.0 - GAMMA) / GAMMA
    _fill(scheme, parameters, (0.0, 1.0, (1.0 - GAMMA) * h, rest, 1.0 - rest), c, 1.0 / c, 1.0 / (c * c), c, drag, c)
    parameters[ADVANCE] = h - c
