"""Curves of knots, and what tells one knot from another: for demonstrations, benchmarks and whoever ties something.

Curves are lists of places, loose enough to lay a rope along them. `casson` tells whether a knot is still what it was:
an integer that no motion of a rope changes as long as it does not pass through itself and its ends stay outside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sennit.validation import FloatArray

__all__ = ["casson", "closest_own", "closest_two", "figure_eight", "joined", "overhand", "reef", "with_tails"]

_VIEW = np.array((0.31, -0.52, 0.79))  # a direction that no symmetric knot is seen edge-on from


def overhand(size: float = 0.01, count: int = 900) -> FloatArray:
    """A loose overhand knot whose ends leave it towards +x, (count, 3), m: 26 `size` long, 6 `size` wide.

    The trefoil that winds twice round an axis, cut open where it is farthest from it.
    """
    return _opened(3, 2, 3, size, count)


def figure_eight(size: float = 0.012, count: int = 1200) -> FloatArray:
    """A loose figure-eight knot whose ends leave it towards +x, (count, 3), m: 34 `size` long, 6 `size` wide."""
    return _opened(2, 3, 4, size, count)


def _opened(waves: int, turns: int, lifts: int, size: float, count: int) -> FloatArray:
    """A closed curve about the z axis without the piece where it begins: the ends cross on their way out."""
    t = np.linspace(0.5, 2.0 * math.pi - 0.5, count)
    wide = 2.0 + np.cos(waves * t)
    return size * np.stack((wide * np.cos(turns * t), wide * np.sin(turns * t), np.sin(lifts * t)), axis=1)


def reef(size: float = 0.03, tail: float = 0.12) -> tuple[FloatArray, FloatArray]:
    """A loose reef knot of two bights, one open to −x, one to +x: two curves, m.

    Each bight goes over, under and over the other where they cross above y = 0, and the same below: two overhand knots
    of opposite hand.
    """
    over = 0.45
    # from the tail to the tip of the bight: it passes through the other bight, crosses its leg, and goes round its legs
    half = np.array((
        (-2.6, 0.75, 0.0), (-2.1, 0.7, 0.5 * over), (-1.55, 0.65, over), (-0.8, 0.75, 0.3 * over), (0.0, 1.05, -over),
        (0.7, 1.4, -0.1 * over), (1.2, 1.3, 0.6 * over), (1.55, 0.7, over),
    ))  # fmt: skip
    tip = np.array(((1.68, 0.0, over),))
    back = half[::-1] * (1.0, -1.0, 1.0)
    far = np.array((-2.6 - tail / size, 0.75, 0.0))
    straight = far + np.linspace(0.0, 1.0, 8)[:-1, None] * (half[0] - far)
    places = np.concatenate((straight, half, tip, back, straight[::-1] * (1.0, -1.0, 1.0)))
    left = size * smooth(places, 900)
    return left, left * (-1.0, 1.0, -1.0)


def smooth(places: ArrayLike, count: int) -> FloatArray:
    """A smooth curve through `places`, (count, 3)."""
    from scipy.interpolate import CubicSpline

    through = np.asarray(places, dtype=np.float64)
    way = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(through, axis=0), axis=1) ** 0.5)))
    return np.asarray(CubicSpline(way, through)(np.linspace(0.0, way[-1], count)))


def with_tails(curve: FloatArray, before: float, after: float, count: int = 120) -> FloatArray:
    """`curve` with straight, level tails at its ends, so long (m)."""
    first, last = (curve[0] - curve[1]) * (1.0, 1.0, 0.0), (curve[-1] - curve[-2]) * (1.0, 1.0, 0.0)
    part = np.linspace(0.0, 1.0, count)[1:, None]
    start = curve[0] + before * part * first / np.linalg.norm(first)
    end = curve[-1] + after * part * last / np.linalg.norm(last)
    return np.concatenate((start[::-1], curve, end))


def joined(first: FloatArray, second: FloatArray) -> FloatArray:
    """Two curves as one: from the end of the first to the start of the second far outside of both.

    Of a reef knot, the two upper ends: ``joined(left[::-1], right)``.
    """
    both = np.concatenate((first, second))
    middle, size = both.mean(axis=0), float(np.ptp(both, axis=0).max())
    up = 0.5 * (first[-1] + second[0]) - middle
    up[0] = 0.0
    up *= 3.0 * size / max(float(np.linalg.norm(up)), 1e-300)
    return np.concatenate((first, (first[-1] + up, second[0] + up), second))


# ------------------------------------------------------------------------------------------------------ what knot is it


def casson(curve: ArrayLike, view: ArrayLike = _VIEW) -> int:
    """Vassiliev's invariant of degree two of a curve whose ends go on to infinity: 0 without a knot, 1 for an overhand
    knot of either hand, −1 for a figure-eight knot, 2 for a reef or a granny knot.

    From a picture of the curve, by Polyak and Viro's formula (1994): the sum of the products of signs over all pairs of
    crossings that are met in the order a b a b, a first from above and b first from below. `view`: where it is looked
    at from; the answer is the same from everywhere, as long as ends are outside.
    """
    places = _shown(np.asarray(curve, dtype=np.float64), np.asarray(view, dtype=np.float64))
    found = _crossings(places)
    total = 0
    for i, (first, last, over, sign) in enumerate(found):
        for start, end, other, its in found[i + 1 :]:
            # those are sorted by where they are met first
            if first < start < last < end and over and not other:
                total += sign * its
    return total


def _shown(places: FloatArray, view: FloatArray) -> FloatArray:
    """Places as seen along `view`: two coordinates of the picture, and the height over it."""
    up = view / np.linalg.norm(view)
    across = np.cross(up, (1.0, 0.0, 0.0))
    across /= np.linalg.norm(across)
    return np.asarray(places @ np.stack((across, np.cross(up, across), up), axis=1))


def _crossings(places: FloatArray) -> list[tuple[float, float, bool, int]]:
    """Crossings of a curve in its picture, in the order in which they are met: where first and where again (in pieces
    of the curve), whether the first is the upper one, and the sign.
    """
    start, way = places[:-1], np.diff(places, axis=0)
    count = len(start)
    i, j = np.triu_indices(count, 2)
    gap = start[j] - start[i]
    cross = way[i, 0] * way[j, 1] - way[i, 1] * way[j, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (gap[:, 0] * way[j, 1] - gap[:, 1] * way[j, 0]) / cross
        u = (gap[:, 0] * way[i, 1] - gap[:, 1] * way[i, 0]) / cross
    met = np.flatnonzero((t >= 0.0) & (t < 1.0) & (u >= 0.0) & (u < 1.0))
    found = []
    for k in met.tolist():
        a, b = int(i[k]), int(j[k])
        height = start[a, 2] + t[k] * way[a, 2] - start[b, 2] - u[k] * way[b, 2]
        over = bool(height > 0.0)
        # a right-handed crossing: the upper strand turned counter-clockwise gives the lower one
        sign = 1 if (cross[k] > 0.0) == over else -1
        found.append((a + float(t[k]), b + float(u[k]), over, sign))
    return sorted(found)


def closest_own(curve: ArrayLike, apart: float) -> float:
    """Smallest distance between places of a curve that are more than `apart` from each other along it, m."""
    places = np.asarray(curve, dtype=np.float64)
    way = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))))
    least = math.inf
    for k in range(0, len(places), 64):
        rows = slice(k, k + 64)
        square = ((places[rows, None] - places[None]) ** 2).sum(axis=2)
        square[np.abs(way[rows, None] - way[None]) <= apart] = math.inf
        least = min(least, float(square.min()))
    return math.sqrt(least)


def closest_two(first: ArrayLike, others: Sequence[ArrayLike]) -> float:
    """Smallest distance between a curve and others, m."""
    places = np.asarray(first, dtype=np.float64)
    return min(
        float(np.linalg.norm(places[:, None] - np.asarray(other, dtype=np.float64)[None], axis=2).min())
        for other in others
    )
