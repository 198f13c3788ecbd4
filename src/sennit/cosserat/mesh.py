"""Where a strand's nodes stand. Arclength is in units of the strand's length here: s runs from 0 to 1."""

from __future__ import annotations

import numpy as np

from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["element_ends", "equidistributed_ends", "nodes_of", "thirds_of"]


def _shares(weights: FloatArray, elements: int) -> list[int]:
    """Whole numbers, at least one each, that sum to `elements` and follow `weights` (largest remainders)."""
    exact = weights / weights.sum() * elements
    counts = np.maximum(1, np.floor(exact)).astype(int)
    while counts.sum() > elements:
        counts[np.argmax(np.where(counts > 1, counts - exact, -np.inf))] -= 1
    while counts.sum() < elements:
        counts[np.argmax(exact - counts)] += 1
    return [int(count) for count in counts]


def element_ends(elements: int, breaks: FloatArray, density: FloatArray | None = None) -> FloatArray:
    """Ends (elements + 1,) of elements, one at each of `breaks` (increasing, from 0 to 1) and evenly between them.

    `density` (m, 2), columns s and wanted density, replaces evenly.
    """
    parts = len(breaks) - 1
    if elements < parts:
        raise InputError(
            f"nodes is too small: {parts} stretches between held points, point loads and ends of pieces need at "
            f"least as many elements, got {elements}; raise nodes"
        )
    if density is None:
        s = breaks
        total = breaks
    else:
        s = np.union1d(density[:, 0], breaks)
        rate = np.interp(s, density[:, 0], density[:, 1])
        total = np.concatenate(([0.0], np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(s))))
    at_breaks = np.interp(breaks, s, total)
    pieces = []
    for k, count in enumerate(_shares(np.diff(at_breaks), elements)):
        wanted = np.linspace(at_breaks[k], at_breaks[k + 1], count + 1)
        pieces.append(np.interp(wanted, total, s)[:-1])
    ends = np.concatenate([*pieces, [1.0]])
    ends[0] = 0.0
    # breaks are met to the last bit, since loads and holds are looked up by their place
    ends[np.searchsorted(ends, breaks - 1e-12)] = breaks
    return ends


def nodes_of(ends: FloatArray, stride: int) -> FloatArray:
    """Nodes of elements with these ends: the ends (stride 1), or the ends and the middles (stride 2)."""
    if stride == 1:
        return ends
    s = np.empty(2 * len(ends) - 1)
    s[::2] = ends
    s[1::2] = 0.5 * (ends[1:] + ends[:-1])
    return s


def thirds_of(ends: FloatArray) -> FloatArray:
    """Start, middle and end of elements, or of intervals, with these ends: (k, 3)."""
    return np.stack((ends[:-1], 0.5 * (ends[:-1] + ends[1:]), ends[1:]), axis=1)


def equidistributed_ends(elements: int, breaks: FloatArray, ends: FloatArray, curvature: FloatArray) -> FloatArray:
    """New ends that spread the error of an order-4 solution evenly.

    The position error of an element goes with |u‴| h⁴, so the density of elements should follow |u‴|^¼; third
    differences of the elements' mean curvature (elements, 3) estimate it. A floor of 0.3 times the mean, and smoothing,
    keep neighbours of similar size.
    """
    middle = 0.5 * (ends[1:] + ends[:-1])
    derivative, at = curvature, middle
    for _ in range(3):
        derivative = np.diff(derivative, axis=0) / np.diff(at)[:, None]
        at = 0.5 * (at[1:] + at[:-1])
    size = np.linalg.norm(derivative, axis=1) ** 0.25
    widths = np.interp(at, middle, np.diff(ends))
    # a maximum over three neighbours, then a mean over five: the estimate vanishes where u‴ changes sign
    padded = np.pad(size, 1, mode="edge")
    size = np.max([padded[:-2], padded[1:-1], padded[2:]], axis=0)
    size = np.convolve(np.pad(size, 2, mode="edge"), np.full(5, 0.2), mode="valid")
    mean = float(np.sum(size * widths) / np.sum(widths))
    density = np.column_stack((np.r_[0.0, at, 1.0], np.r_[size[0], size, size[-1]] + 0.3 * mean + 1e-300))
    return element_ends(elements, breaks, density)
