"""Whether a polygon crosses itself."""

from __future__ import annotations

import numpy as np

from sennit.validation import FloatArray

__all__ = ["first_crossing"]

_PIECES = 1000
"""A polygon is cut into pieces no longer than its length over this, so that few are near each other."""
_CLOSE = 1e-6
"""Pieces that come as close as this, over the whole length, cross."""


def first_crossing(places: FloatArray) -> tuple[int, int, FloatArray] | None:
    """The numbers of the places where the first two sides begin that cross, and where, (3,), m; None if none do.

    Sides that follow each other meet at a place; if one runs back over the other, that is a crossing, too. A closed
    polygon, which ends where it begins, does not cross itself there.
    """
    from scipy.spatial import cKDTree

    sides = np.diff(places, axis=0)
    lengths = np.linalg.norm(sides, axis=1)
    whole = float(lengths.sum())
    counts = np.maximum(np.ceil(lengths * (_PIECES / whole)), 1).astype(int)
    side = np.repeat(np.arange(len(sides)), counts)
    share = (np.arange(len(side)) - np.repeat(np.cumsum(counts) - counts, counts)) / counts[side]
    start = places[side] + share[:, None] * sides[side]
    step = sides[side] / counts[side][:, None]
    half = 0.5 * np.linalg.norm(step, axis=1)
    near = cKDTree(start + 0.5 * step).query_pairs(2.0 * float(half.max()) + _CLOSE * whole, output_type="ndarray")
    # What lies between two pieces on the way from one to the other: nothing, or too little, of neighbours.
    ends = np.cumsum(2.0 * half)
    between = ends[near[:, 1]] - 2.0 * half[near[:, 1]] - ends[near[:, 0]]
    if np.linalg.norm(places[-1] - places[0]) <= _CLOSE * whole:
        between = np.minimum(between, whole - between - 2.0 * (half[near[:, 0]] + half[near[:, 1]]))
    near = near[between > 4.0 * _CLOSE * whole]
    if not len(near):
        return None
    a, b = near.T
    gap, at = _closest(start[a], step[a], start[b], step[b])
    crossed = np.flatnonzero(gap <= _CLOSE * whole)
    if not len(crossed):
        return None
    first = crossed[np.lexsort((b[crossed], a[crossed]))[0]]
    return int(side[a[first]]), int(side[b[first]]), np.asarray(at[first])


def _closest(p: FloatArray, u: FloatArray, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distance (n,) of the segments p + s u and q + t v, s and t from 0 to 1, and the place on the first, (n, 3).

    The quadratic |p + s u − q − t v|² has its minimum inside, or on one of four edges: the best of five is taken.
    """
    w = p - q
    uu, vv, uv = (np.einsum("ij,ij->i", x, y) for x, y in ((u, u), (v, v), (u, v)))
    uw, vw = np.einsum("ij,ij->i", u, w), np.einsum("ij,ij->i", v, w)
    det = uu * vv - uv * uv
    flat = det <= 1e-12 * uu * vv
    inner = np.where(flat, 0.0, (uv * vw - vv * uw) / np.where(flat, 1.0, det))
    best = np.full(len(p), np.inf)
    place = p.copy()
    for s in (inner, np.zeros(len(p)), np.ones(len(p)), -uw / uu, (uv - uw) / uu):
        s = np.clip(s, 0.0, 1.0)
        t = np.clip((vw + s * uv) / vv, 0.0, 1.0)
        gap = np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1)
        closer = gap < best
        best[closer], place[closer] = gap[closer], (p + s[:, None] * u)[closer]
    return best, place
