"""The places along a rod at which its tables need numbers of what it is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sennit.validation import FloatArray

__all__ = ["Places", "gauss_between", "split"]


@dataclass(frozen=True, eq=False)
class Places:
    """Rest lengths, one group after the other: bending points, stretching points, those of masses, those near jumps."""

    s: FloatArray
    """All of them: (k,), m."""
    bend: slice
    """The bending points."""
    stretch: slice
    """The stretching points."""
    mass: slice
    """Where masses are integrated."""
    mass_u: FloatArray
    """Their parameters u."""
    mass_w: FloatArray
    """Their weights: parts of the rest length, m."""
    fine: slice
    """Where numbers that jump are integrated."""
    fine_u: FloatArray
    """Their parameters u."""
    fine_w: FloatArray
    """Their weights in u."""
    length: float
    """Of the rod, m."""


def split(edges: FloatArray, jumps: FloatArray) -> FloatArray:
    """Ends of intervals, ascending, with those of the `jumps` that lie between them."""
    inside = jumps[(jumps > edges[0]) & (jumps < edges[-1])]
    return np.unique(np.concatenate((edges, inside)))


def gauss_between(edges: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Gauss's places and weights, `count` of them in each interval between neighbouring `edges`."""
    x, w = np.polynomial.legendre.leggauss(count)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (1.0 + x)).ravel(), (half * w).ravel()
