"""Shapes of slack cables, for drawing: they carry nothing, but should hang as a cable of that length does.

A cable with weight w per metre between two points is a catenary: with s along the horizontal and z up,

    z = z₀ + a cosh((s − s₀)/a),   horizontal pull H = w a,   tension T = w (z − z₀)

z = z₀ is the directrix. For a span dx to the side, dz up and of length L, x = dx/2a follows from

    sinh x / x = R = √(L² − dz²) / dx
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["hang", "hang_spans", "span_lengths"]

Array = NDArray[np.float64]

_NARROW = 1e-9
"""Spans narrower than this part of their spare length hang as two straight falls."""
_EVEN = 1e-12
"""A cable longer than its span by less than this part is drawn straight."""


def _sinhc(x: float) -> float:
    return float(np.sinh(x)) / x if x > 1e-4 else 1.0 + x * x / 6.0


def solve_sinhc(excess: float) -> tuple[float, int]:
    """Return x > 0 with sinh x / x = 1 + excess, by Newton on the logarithm, and the number of iterations.

    The starts are the first terms of the series for small and for large x. The excess is asked for, not the ratio: of a
    nearly straight cable only its digits are left.
    """
    ratio = 1.0 + excess
    target = float(np.log1p(excess))
    x = float(np.sqrt(6.0 * excess) if ratio < 3.0 else np.log(2.0 * ratio) + np.log(np.log(2.0 * ratio)))
    iterations = 0
    while iterations < 50:
        iterations += 1
        if x < 1e-2:
            value, slope = x * x / 6.0 - x**4 / 180.0, x / 3.0 - x**3 / 45.0
        else:
            value = x + float(np.log(-np.expm1(-2.0 * x) / (2.0 * x)))
            slope = 1.0 / float(np.tanh(x)) - 1.0 / x
        step = (value - target) / slope
        x = max(x - step, 0.1 * x)
        # Newton doubles the digits: what comes after a step of 1e-8 is rounding
        if abs(step) <= 1e-8 * x:
            break
    return x, iterations


def _frame(p: Array, q: Array, up: Array) -> tuple[Array, float, float]:
    """Unit horizontal direction from p to q (any one if q is above p), distance along it, and height of q over p."""
    dz = float((q - p) @ up)
    side = (q - p) - dz * up
    dx = float(np.linalg.norm(side))
    if dx > 1e-14 * (abs(dz) + 1e-300):
        return side / dx, dx, dz
    other = np.eye(3)[int(np.argmin(np.abs(up)))]
    other = other - (other @ up) * up
    return other / np.linalg.norm(other), 0.0, dz


def _falls(p: Array, q: Array, up: Array, dz: float, length: float, count: int) -> Array:
    """Down from p, up to q, straight: the limit of a narrow loop, H → 0."""
    bottom = p - 0.5 * (length - dz) * up
    first = 0.5 * (length - dz) / length
    t = np.linspace(0.0, 1.0, count)[:, None]
    # one point at the turn, so that the drawn length is right
    t[int(np.argmin(np.abs(t[:, 0] - first)))] = first
    down = p + (bottom - p) * (t / first if first > 0.0 else t)
    rise = bottom + (q - bottom) * ((t - first) / (1.0 - first) if first < 1.0 else t)
    points = np.where(t <= first, down, rise) if 0.0 < first < 1.0 else p + (q - p) * t
    return points


def _excess(dx: float, dz: float, length: float) -> float:
    """R − 1 of the module's docstring, (L² − D²) / dx (√(L² − dz²) + dx) with D² = dx² + dz², without cancellation."""
    distance = float(np.hypot(dx, dz))
    return (length - distance) * (length + distance) / (dx * (float(np.sqrt((length - dz) * (length + dz))) + dx))


def _lowest(x: float, dx: float, dz: float) -> float:
    """(s − s₀)/a at the start of a span: half way along it, 2a sinh x · sinh((s − s₀)/a) = dz."""
    return float(np.arcsinh(dz / (dx * _sinhc(x)))) - x


def _catenary(x: float, dx: float, dz: float, length: float, count: int) -> tuple[Array, Array]:
    """Points of a span with x = dx/2a, equally spaced along the cable: to the side and up from its start."""
    a = dx / (2.0 * x)
    low = _lowest(x, dx, dz)
    # from the lowest point along the cable
    arc = a * np.sinh(low) + np.linspace(0.0, length, count)
    s = a * (np.arcsinh(arc / a) - low)
    # a (cosh u − cosh u₀) as a difference of squares: no loss where the cable is nearly straight
    z = (arc - arc[0]) * (arc + arc[0]) / (np.hypot(arc, a) + np.hypot(arc[0], a))
    return s, z


def hang(p: ArrayLike, q: ArrayLike, length: float, gravity: ArrayLike = (0.0, 0.0, -9.81), count: int = 33) -> Array:
    """Points (count, 3) of a slack cable of `length` (m) from `p` to `q` (m), in the plane of `gravity` (m/s²).

    Points are equally spaced along the cable. If q is right above or below p, it hangs as a narrow loop: two straight
    falls. Without gravity, or if the length is not more than the distance, it is the straight line from p to q, and the
    spare length is not shown.
    """
    start, end = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    force = np.asarray(gravity, dtype=np.float64)
    strength = float(np.linalg.norm(force))
    distance = float(np.linalg.norm(end - start))
    t = np.linspace(0.0, 1.0, count)[:, None]
    straight: Array = start + (end - start) * t
    if strength == 0.0 or not length > distance * (1.0 + _EVEN) or count < 3:
        return straight
    up = -force / strength
    side, dx, dz = _frame(start, end, up)
    if dx <= _NARROW * (length - abs(dz)):
        return _falls(start, end, up, dz, length, count)
    x, _ = solve_sinhc(_excess(dx, dz, length))
    s, z = _catenary(x, dx, dz, length, count)
    points: Array = start + s[:, None] * side + z[:, None] * up
    points[-1] = end
    return points


class _Span:
    """One span between two fixed points, with heights from the start of the first span.

    On its way from straight to very long its directrix first rises from −∞ to `highest`, then sinks again: below that
    every directrix belongs to a shallow shape and to a deep one.
    """

    def __init__(self, dx: float, dz: float, height: float) -> None:
        self.dx, self.dz, self.height = dx, dz, height
        self.distance = float(np.hypot(dx, dz))
        self.narrow = dx <= _NARROW * self.distance
        self.fold = 0.0
        self.highest = height + min(dz, 0.0)
        if not self.narrow:
            from scipy.optimize import minimize_scalar  # here, because it takes long to import and is seldom needed

            best = minimize_scalar(
                lambda v: -self.directrix(float(np.exp(v))), bounds=(-5.0, 4.5), method="bounded",
                options={"xatol": 1e-9},
            )  # fmt: skip
            self.fold = float(np.exp(best.x))
            self.highest = self.directrix(self.fold)

    def directrix(self, x: float) -> float:
        return self.height - self.dx / (2.0 * x) * float(np.cosh(_lowest(x, self.dx, self.dz)))

    def directrix_of(self, length: float) -> float:
        if self.narrow:
            # the loop's bottom lies on it
            return self.highest - 0.5 * max(length - self.distance, 0.0)
        if length <= self.distance * (1.0 + _EVEN):
            return -float(np.inf)
        return self.directrix(solve_sinhc(_excess(self.dx, self.dz, length))[0])

    def shallow_length(self, level: float) -> float:
        """Length of the shallow shape with the directrix at `level`."""
        shortest = 1e-7
        if self.narrow or level <= self.directrix(shortest):
            return self.distance
        x = self.fold
        if level < self.highest:
            from scipy.optimize import brentq

            x = float(brentq(lambda v: self.directrix(v) - level, shortest, self.fold, xtol=1e-15, rtol=1e-14))
        return float(np.hypot(self.dz, self.dx * _sinhc(x)))


def span_lengths(
    starts: ArrayLike, ends: ArrayLike, length: float, gravity: ArrayLike = (0.0, 0.0, -9.81)
) -> Array:  # fmt: skip
    """Lengths (m) of the spans of a slack cable of `length` (m) in all that slides freely between its spans.

    `starts`, `ends`: (n, 3), m; the next span starts where the last one ends, or behind the arc on a sheave.

    Tension w (z − z₀) is the same on both sides of a point, so that all spans have one directrix z₀. The span whose
    directrix cannot rise as far as the others' takes what the others have no use for: all are shallow, or it alone is
    deep, as two deep loops would not be stable. Its length is the one unknown. Straight spans if the cable is too
    short; the spare length in proportion to the spans' if there is no gravity, or no answer is found.
    """
    at, to = np.asarray(starts, dtype=np.float64), np.asarray(ends, dtype=np.float64)
    force = np.asarray(gravity, dtype=np.float64)
    distances: Array = np.linalg.norm(to - at, axis=1)
    spare = length - float(distances.sum())
    strength = float(np.linalg.norm(force))
    if not spare > _EVEN * length:
        return distances
    if strength > 0.0:
        up = -force / strength
        from scipy.optimize import brentq

        spans = []
        for p, q in zip(at, to, strict=True):
            _, dx, dz = _frame(p, q, up)
            spans.append(_Span(dx, dz, float((p - at[0]) @ up)))
        deep = min(range(len(spans)), key=lambda i: spans[i].highest)

        def lengths(own: float) -> Array:
            level = spans[deep].directrix_of(own)
            return np.array([own if i == deep else span.shallow_length(level) for i, span in enumerate(spans)])

        try:
            shortest = spans[deep].distance
            own = brentq(
                lambda x: float(lengths(x).sum()) - length, shortest, shortest + spare * (1.0 + 1e-9), xtol=1e-14
            )
            shared = lengths(float(own))
            shared[deep] += length - float(shared.sum())
            if np.isfinite(shared).all() and (shared >= distances * (1.0 - 1e-9)).all():
                return shared
        except (ValueError, RuntimeError):
            pass
    total = float(distances.sum())
    return distances + spare * (distances / total if total > 0.0 else 1.0 / len(distances))


def hang_spans(
    starts: ArrayLike, ends: ArrayLike, length: float, gravity: ArrayLike = (0.0, 0.0, -9.81), count: int = 33
) -> list[Array]:  # fmt: skip
    """Shapes of the spans of a slack cable of `length` (m) that slides freely over what it touches.

    One array (count, 3) per span, as of `hang`, with the lengths of `span_lengths`; `gravity` in m/s².
    """
    at, to = np.asarray(starts, dtype=np.float64), np.asarray(ends, dtype=np.float64)
    shared = span_lengths(at, to, length, gravity)
    return [hang(at[i], to[i], float(shared[i]), gravity, count) for i in range(len(shared))]
