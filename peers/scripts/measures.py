"""Errors of the tasks, as every program measures them: NumPy and SciPy alone, so that any environment can import it.

It stands beside the programs that import it (``import measures``); nothing of sennit is imported here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["arc", "distance_error", "frequency_error", "period_error"]


def distance_error(point: Any, reference: Any, length: float) -> float:
    """Distance of two points divided by a length: the error of tasks a, e and f."""
    return float(np.linalg.norm(np.asarray(point, float) - np.asarray(reference, float))) / length


def frequency_error(times: Any, heights: Any, reference: float, modes: int = 3) -> tuple[float, float]:
    """Signed relative error of the first frequency and its decay (1/s): task b.

    Least squares of an offset and `modes` decaying oscillations, those above the first started at a cantilever's
    ratios; amplitudes and phases are linear and eliminated. `reference`: Hz. Few samples: fewer modes.
    """
    from scipy.optimize import least_squares

    t, z = np.asarray(times, float), np.asarray(heights, float)
    ratios = (1.0, 6.2669, 17.547)
    sampling = (len(t) - 1) / (t[-1] - t[0])
    # A mode that the samples can't resolve is left out.
    used = [r for r in ratios[:modes] if r * reference < 0.45 * sampling]

    def columns(p: Any) -> Any:
        parts = [np.ones_like(t)]
        for omega, decay in zip(p[::2], p[1::2], strict=True):
            fade = np.exp(-np.clip(decay, -50.0, 1e4) * (t - t[0]))
            parts += [fade * np.cos(omega * (t - t[0])), fade * np.sin(omega * (t - t[0]))]
        return np.stack(parts, axis=1)

    def left(p: Any) -> Any:
        basis = columns(p)
        amplitudes, *_ = np.linalg.lstsq(basis, z, rcond=None)
        return (basis @ amplitudes - z) / np.ptp(z)

    best: Any = None
    for shift in (1.0, 0.95, 0.85, 1.05):
        start: list[float] = []
        found: Any = None
        for count, ratio in enumerate(used):  # the slow ones first, the rest from there
            start += [2.0 * math.pi * reference * ratio * (shift if count == 0 else 1.0), 0.0]
            scale = np.maximum(np.abs(start), 1.0)
            found = least_squares(left, start, x_scale=scale, xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=400)
            start = list(found.x)
        if best is None or found.cost < 0.999 * best.cost:
            best = found
        if best.cost < 1e-8 * len(t):
            break
    return float(best.x[0]) / (2.0 * math.pi * reference) - 1.0, float(best.x[1])


def period_error(times: Any, x: Any, reference: float) -> float:
    """Signed relative error of the period: task c. From the first crossing of x = 0 to the fifth, two periods.

    A crossing is the root of the cubic through the four samples around it. Samples may be as far apart as 0.2 s.
    """
    t, x = np.asarray(times, float), np.asarray(x, float)
    crossings = []
    for i in np.flatnonzero(x[:-1] * x[1:] < 0.0):
        first = min(max(int(i) - 1, 0), len(t) - 4)
        middle = t[i]
        cubic = np.polynomial.Polynomial.fit(t[first : first + 4] - middle, x[first : first + 4], 3)
        lower, upper = 0.0, t[i + 1] - middle
        for _ in range(60):
            mid = 0.5 * (lower + upper)
            if cubic(lower) * cubic(mid) <= 0.0:
                upper = mid
            else:
                lower = mid
        crossings.append(middle + 0.5 * (lower + upper))
    if len(crossings) < 5:
        raise ValueError(f"{len(crossings)} crossings of x = 0 in {t[-1] - t[0]:g} s; five are needed")
    return float(crossings[4] - crossings[0]) / (2.0 * reference) - 1.0


def arc(problem: dict[str, Any], places: Any) -> Array:
    """Points (k, 3) of a bridge's rope before it falls, in the plane y = 0, at the rest lengths `places`: task d."""
    radius, angle = problem["arc_radius"], problem["arc_angle"]
    a = np.asarray(places, float) / radius - 0.5 * angle
    top = radius * math.cos(0.5 * angle)
    return np.stack((radius * np.sin(a), np.zeros_like(a), top - radius * np.cos(a)), axis=1)
