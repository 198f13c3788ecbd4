"""Shapes of discrete rods: nodes, rest length along the edges, interpolation. The names are those of `spline.shape`.

Nothing here runs in a step. A shape is an array of nodes (n, 3); u = e + x is the place at fraction x of edge e.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.rod.discrete.kernels.basis import discrete_basis_rows
from sennit.bodies.rod.table import IntArray
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["basis", "curve", "fitted_points", "knot_lengths", "length_at", "parameter_at", "straight_points"]

SMALLEST_OPEN = 4


def basis(u: ArrayLike, n: int) -> tuple[IntArray, FloatArray]:
    """First nodes (k,) and N, N′, N″, NR (k, 4, 4) at the parameters `u` (k,) of a rod with `n` nodes."""
    places = np.atleast_1d(np.asarray(u, dtype=np.float64))
    first, rows = np.empty(places.size, np.int64), np.empty((places.size, 16))
    discrete_basis_rows(places, n, first, rows)
    return first, rows.reshape(-1, 4, 4)


def curve(points: FloatArray, u: ArrayLike) -> FloatArray:
    """r, r′, r″ and the blend by NR at the parameters `u` (k,): (k, 4, columns); `points` is (n, columns)."""
    first, rows = basis(u, len(points))
    return np.asarray(np.einsum("kdi,kic->kdc", rows, points[first[:, None] + np.arange(4)]))


def straight_points(start: ArrayLike, end: ArrayLike, n: int) -> FloatArray:
    """Nodes (n, 3), m, at equal distances from `start` to `end` (m)."""
    return np.linspace(validation.vector("start", start), validation.vector("end", end), n)


def fitted_points(points: ArrayLike, n: int) -> FloatArray:
    """Nodes (n, 3), m, at nearly equal distances on the cubic spline by chord length through `points` (k, 3), m.

    Raises `InputError` for fewer than 2 points and for neighbours that coincide.
    """
    from scipy.interpolate import CubicSpline  # here, because it takes long to import and is seldom needed

    given = validation.array("points", points, (None, 3))
    if len(given) < 2:
        raise InputError(f"points must hold 2 different points or more, got {len(given)}")
    chords = np.linalg.norm(np.diff(given, axis=0), axis=1)
    if not np.all(chords > 0.0):
        index = int(np.argmin(chords))
        raise InputError(f"points {index} and {index + 1} coincide: leave out one of them")
    sigma = np.concatenate(((0.0,), np.cumsum(chords)))
    through = CubicSpline(sigma, given)
    per_chord = max(32, -(-16 * n // len(chords)))
    fine = np.interp(np.arange(per_chord * len(chords) + 1) / per_chord, np.arange(len(sigma)), sigma)
    lengths = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(through(fine), axis=0), axis=1))))
    nodes = through(np.interp(np.linspace(0.0, lengths[-1], n), lengths, fine))
    nodes[0], nodes[-1] = given[0], given[-1]
    return np.asarray(nodes)


def knot_lengths(points: FloatArray) -> FloatArray:
    """The length s along the edges at the nodes: (n,), m."""
    return np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))))


def length_at(points: FloatArray, knots: FloatArray, u: ArrayLike) -> FloatArray:
    """The length s (k,), m, at parameters `u` (k,) from 0 to n − 1; `knots` comes from `knot_lengths`."""
    return np.interp(np.atleast_1d(np.asarray(u, dtype=np.float64)), np.arange(len(knots)), knots)


def parameter_at(points: FloatArray, knots: FloatArray, s: ArrayLike) -> FloatArray:
    """The parameters u (k,) at which the length is `s` (k,), m, from 0 to the whole; the inverse of `length_at`."""
    return np.interp(np.atleast_1d(np.asarray(s, dtype=np.float64)), knots, np.arange(len(knots)))
