"""The time-stepping schemes, as the numbers that the kernels work with.

Every scheme takes the bodies from free flight x̂ to x₊ by forces at (or on the way to) x₊::

    wM M (x₊ − x̂) = f,   v₊ = V̂ + β (x₊ − x̂),   x̂ = X̂ + c V̂,   X̂ = A x + B x₋ + C v,   V̂ = D v + E v₋

euler     linearised backward Euler (MICADO): x̂ = x + h v, wM = 1/h². One solve, order 1.
bdf2      two-step backward formula at any ratio w of steps. One solve, order 2. Starts with a step of Euler.
midpoint  average vector field: the mean elastic force over the way from x to x₊, wM = 2/h². Newton, order 2; keeps the
          energy of what moves in a plane to rounding (Quispel & McLaren, J. Phys. A 41 (2008) 045206).
fourth    five steps of midpoint, one of them back in time (`kernels.stages`): order 4.
"""

from __future__ import annotations

from sennit.solve.table import Scheme, Step

__all__ = ["bdf2", "euler", "mean_force"]


def _fill(
    scheme: Scheme, step: Step, coefficients: tuple[float, ...], c: float, beta: float, weight: float,
    h: float, drag: float, drag_time: float,
) -> None:  # fmt: skip
    scheme.a[0], scheme.b[0], scheme.c[0], scheme.d[0], scheme.e[0] = coefficients
    scheme.reach[0], scheme.beta[0], scheme.ratio[0], scheme.mean[0] = c, beta, 0.0, 0.0
    step.step[0], step.advance[0], step.mass_weight[0] = h, h, weight
    step.relaxing[0] = h
    step.drag[0], step.drag_weight[0] = drag, drag / drag_time
    step.strain_rate[0], step.memory[0], step.mean[0] = 1.0 / drag_time, 0.0, 0.0


def euler(scheme: Scheme, step: Step, h: float, drag: float) -> None:
    """Backward Euler over `h` (s) with mass-proportional `drag` (1/s)."""
    _fill(scheme, step, (1.0, 0.0, 0.0, 1.0, 0.0), h, 1.0 / h, 1.0 / (h * h), h, drag, h)


def bdf2(scheme: Scheme, step: Step, h: float, drag: float, before: float) -> None:
    """The two-step formula after a step of `before` (s)."""
    w = h / before
    a, b, c = (1.0 + w) ** 2 / (1.0 + 2.0 * w), w * w / (1.0 + 2.0 * w), h * (1.0 + w) / (1.0 + 2.0 * w)
    _fill(scheme, step, (a, -b, 0.0, a, -b), c, 1.0 / c, 1.0 / (c * c), h, drag, c)
    scheme.ratio[0], step.memory[0] = w, -b


def mean_force(scheme: Scheme, step: Step, h: float, drag: float) -> None:
    """The average vector field method; drag acts on the mean velocity."""
    _fill(scheme, step, (1.0, 0.0, 0.0, 1.0, 0.0), h, 2.0 / h, 2.0 / (h * h), h, drag, h)
    scheme.mean[0] = step.mean[0] = 1.0
