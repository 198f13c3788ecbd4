"""Figures of the tasks in which things touch, from centre lines as polygons. Needs NumPy alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def resampled(points: Any, count: int) -> Any:
    """`count` points at even distances along a polygon, (count, 3)."""
    line = np.asarray(points, dtype=float)
    way = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))))
    at = np.linspace(0.0, way[-1], count)
    return np.column_stack([np.interp(at, way, line[:, k]) for k in range(3)])


def length_of(points: Any) -> float:
    """Of a polygon."""
    return float(np.linalg.norm(np.diff(np.asarray(points, dtype=float), axis=0), axis=1).sum())


def closest_of_self(line: Any, radius: float) -> float:
    """Least distance of two places of one line that are more than 4 radii apart along it, over 2 radii."""
    fine = resampled(line, 800)
    each = length_of(fine) / 799
    best = math.inf
    for i in range(0, 800, 2):
        far = np.abs(np.arange(800) - i) * each > 4.0 * radius
        best = min(best, float(np.linalg.norm(fine[far] - fine[i], axis=1).min()))
    return best / (2.0 * radius)


def closest_of_all(lines: Any, radius: float) -> tuple[float, float]:
    """Least distance of two of the lines, over 2 radii, and the lowest height, over one."""
    fine = [resampled(line, 120) for line in lines]
    best = math.inf
    for i, a in enumerate(fine):
        for b in fine[:i]:
            best = min(best, float(np.linalg.norm(a[:, None] - b[None], axis=2).min()))
    return best / (2.0 * radius), min(float(line[:, 2].min()) for line in fine) / radius


def is_knotted(line: Any, radius: float) -> bool:
    """Whether the rope is longer than the way between its ends and still touches itself."""
    ends = float(np.linalg.norm(np.asarray(line[-1]) - np.asarray(line[0])))
    return length_of(line) > ends + 10.0 * radius and 0.5 < closest_of_self(line, radius) < 1.2
