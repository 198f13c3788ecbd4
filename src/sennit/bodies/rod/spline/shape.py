"""Curves of spline rods: control points, rest length along the curve, and the frames that a rod starts with.

Nothing here runs in a step. A curve is an array of control points (n, 3), open (spans = n − 3, u from 0 to spans, the
first and last control points are the ends) or closed (spans = n, u and the control points go round).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.rod.spline.kernels.basis import rest_length, spline_basis_rows, transport_along
from sennit.bodies.rod.table import IntArray
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.validation import FloatArray

__all__ = [
    "basis",
    "curve",
    "fitted_points",
    "greville",
    "knot_lengths",
    "length_at",
    "length_here",
    "parameter_at",
    "start_frames",
    "straight_points",
]

SMALLEST_OPEN = 4
SMALLEST_CLOSED = 7  # fewer, and two control points would be neighbours both ways round

_GAUSS_X, _GAUSS_W = np.polynomial.legendre.leggauss(24)


def span_count(n: int, closed: bool) -> int:
    """Spans of a curve with `n` control points."""
    return n if closed else n - 3


def basis(u: ArrayLike, spans: int, closed: bool) -> tuple[IntArray, FloatArray]:
    """First control points (k,) and N, N′, N″ (k, 3, 4) at the parameters `u` (k,)."""
    places = np.atleast_1d(np.asarray(u, dtype=np.float64))
    first = np.empty(places.size, np.int64)
    rows = np.empty((places.size, 12))
    spline_basis_rows(places, spans, int(closed), first, rows)
    return first, rows.reshape(-1, 3, 4)


def curve(points: FloatArray, closed: bool, u: ArrayLike) -> FloatArray:
    """r, r′ and r″ at the parameters `u` (k,), as (k, 3, columns); `points` is (n, columns)."""
    n = len(points)
    first, rows = basis(u, span_count(n, closed), closed)
    around = points[(first[:, None] + np.arange(4)) % n]
    return np.asarray(np.einsum("kdi,kic->kdc", rows, around))


def basis_matrix(u: ArrayLike, n: int, closed: bool) -> FloatArray:
    """The values N as a matrix (k, n), so that positions are its product with the control points."""
    first, rows = basis(u, span_count(n, closed), closed)
    matrix = np.zeros((len(first), n))
    places = (first[:, None] + np.arange(4)) % n
    np.put_along_axis(matrix, places, rows[:, 0], axis=1)
    return matrix


def greville(n: int, closed: bool) -> FloatArray:
    """The parameters (n,) at which control points placed on a straight line give r′ constant."""
    if closed:
        return np.arange(-1.0, n - 1.0)
    knots = np.clip(np.arange(-2.0, float(n)), 0.0, n - 3.0)
    return np.asarray((knots[:-2] + knots[1:-1] + knots[2:]) / 3.0, np.float64)


def straight_points(start: ArrayLike, end: ArrayLike, n: int) -> FloatArray:
    """Control points (n, 3), m, of the segment from `start` to `end` (m), run through at constant speed."""
    a, b = validation.vector("start", start), validation.vector("end", end)
    fraction = greville(n, False) / (n - 3.0)
    return np.asarray(a + fraction[:, None] * (b - a))


def fitted_points(points: ArrayLike, n: int, *, closed: bool = False) -> FloatArray:
    """Control points (n, 3), m, of a curve through `points` (k, 3), m, with nearly constant speed |r′|.

    A cubic spline by chord length goes through all of them; it is sampled densely at equal steps of its own length, and
    the curve with `n` control points fits these samples by least squares, the ends of an open one exactly. A smooth
    curve comes within O(spacing⁴) of the points; detail finer than the spans is smoothed away.

    Raises `InputError` for fewer than 2 points (3 if closed) and for neighbours that coincide.
    """
    from scipy.interpolate import CubicSpline  # here, because it takes long to import and is seldom needed

    given = validation.array("points", points, (None, 3))
    if closed and len(given) > 1 and np.array_equal(given[0], given[-1]):
        given = given[:-1]
    least = 3 if closed else 2
    if len(given) < least:
        raise InputError(f"points must hold {least} different points or more, got {len(given)}")
    if closed:
        given = np.concatenate((given, given[:1]))
    chords = np.linalg.norm(np.diff(given, axis=0), axis=1)
    if not np.all(chords > 0.0):
        index = int(np.argmin(chords))
        raise InputError(f"points {index} and {(index + 1) % (len(given) - closed)} coincide: leave out one of them")
    sigma = np.concatenate(((0.0,), np.cumsum(chords)))
    through = CubicSpline(sigma, given, bc_type="periodic" if closed else "not-a-knot")
    # Length along it, at fine steps by Gauss quadrature, then its inverse by interpolation and one Newton step.
    fine = np.unique(np.concatenate([np.linspace(a, b, 9) for a, b in zip(sigma[:-1], sigma[1:], strict=True)]))
    middle, half = 0.5 * (fine[1:] + fine[:-1]), 0.5 * np.diff(fine)
    x, w = np.polynomial.legendre.leggauss(4)
    speeds = np.linalg.norm(through(middle[:, None] + half[:, None] * x, 1), axis=2)
    lengths = np.concatenate(((0.0,), np.cumsum(half * (speeds @ w))))
    spans = span_count(n, closed)
    samples = max(16 * spans, 4 * len(given))
    u = np.linspace(0.0, spans, samples + 1)
    place = np.interp(u * (lengths[-1] / spans), lengths, fine)
    if closed:
        u, place = u[:-1], place[:-1]
    matrix, wanted = basis_matrix(u, n, closed), through(place)
    if closed:
        return np.asarray(np.linalg.lstsq(matrix, wanted, rcond=None)[0])
    # The end control points are the end points: they leave the unknowns.
    result = np.empty((n, 3))
    result[0], result[-1] = given[0], given[-1]
    wanted = wanted - matrix[:, :1] * result[0] - matrix[:, -1:] * result[-1]
    result[1:-1] = np.linalg.lstsq(matrix[:, 1:-1], wanted, rcond=None)[0]
    return result


# ------------------------------------------------------------------------------------------------------- rest length


def _part_lengths(points: FloatArray, closed: bool, e: IntArray, u: FloatArray) -> FloatArray:
    """∫|r′| du from e to u, (k,), by Gauss quadrature, where u lies in span e."""
    half = 0.5 * (u - e)
    at = (e + half)[:, None] + half[:, None] * _GAUSS_X
    slopes = curve(points, closed, at.ravel())[:, 1]
    return np.asarray(half * (np.linalg.norm(slopes, axis=1).reshape(at.shape) @ _GAUSS_W))


def knot_lengths(points: FloatArray, closed: bool) -> FloatArray:
    """The length s(u) = ∫|r′| du at u = 0, 1, …, spans: (spans + 1,), m."""
    e = np.arange(span_count(len(points), closed))
    lengths = np.zeros(len(e) + 1)
    np.cumsum(_part_lengths(points, closed, e, np.asarray(e + 1.0, np.float64)), out=lengths[1:])
    return lengths


def length_at(points: FloatArray, closed: bool, knots: FloatArray, u: ArrayLike) -> FloatArray:
    """The length s (k,), m, at parameters `u` (k,) from 0 to spans; `knots` comes from `knot_lengths`."""
    places = np.atleast_1d(np.asarray(u, dtype=np.float64))
    if places.size == 1:
        return np.array((length_here(points, closed, knots, float(places[0])),))
    e = np.clip(np.floor(places).astype(np.int64), 0, len(knots) - 2)
    return np.asarray(knots[e] + _part_lengths(points, closed, e, places))


def length_here(points: FloatArray, closed: bool, knots: FloatArray, u: float) -> float:
    """As `length_at` of one place, without what many cost: sliders are asked for theirs often."""
    return float(rest_length(points, int(closed), knots, _GAUSS_X, _GAUSS_W, u))


def parameter_at(
    points: FloatArray, closed: bool, knots: FloatArray, s: ArrayLike, tolerance: float = 4e-16
) -> FloatArray:
    """The parameters u (k,) at which the length is `s` (k,), m, from 0 to the whole; the inverse of `length_at`.

    Newton's method inside the span that the knots tell, kept in it by bisection; `tolerance` is of the whole length.
    """
    wanted = np.clip(np.atleast_1d(np.asarray(s, dtype=np.float64)), 0.0, knots[-1])
    e = np.clip(np.searchsorted(knots, wanted, side="right") - 1, 0, len(knots) - 2)
    low, high = e.astype(np.float64), e + 1.0
    u = e + (wanted - knots[e]) / (knots[e + 1] - knots[e])
    for _ in range(60):
        error = knots[e] + _part_lengths(points, closed, e, u) - wanted
        if np.max(np.abs(error), initial=0.0) <= tolerance * knots[-1]:
            break
        low, high = np.where(error < 0.0, u, low), np.where(error > 0.0, u, high)
        speed = np.linalg.norm(curve(points, closed, u)[:, 1], axis=1)
        new = u - error / np.maximum(speed, 1e-300)
        new = np.where((new >= low) & (new <= high), new, 0.5 * (low + high))
        if np.array_equal(new, u):
            break
        u = new
    return u


# ------------------------------------------------------------------------------------------------------------ frames


def start_frames(
    points: FloatArray, closed: bool, u: FloatArray, up: ArrayLike = (0.0, 0.0, 1.0)
) -> tuple[FloatArray, FloatArray, float]:
    """Tangents t (k, 3), reference vectors u1 (k, 3) at ascending parameters `u` (k,), and their twist m (rad per u).

    At u = 0 d2 = t × u1 is as close to `up` as the tangent allows; from there u1 is carried along the curve without
    turning about it (m = 0). On a closed curve it comes back turned by its holonomy Θ in (−π, π], so it is turned by
    −Θ u/spans on the way, and m = −Θ/spans.
    """
    spans = span_count(len(points), closed)
    stops = np.concatenate(((0.0,), u, (float(spans),)))
    pieces = 48  # to a span: transport's error is then near 1e-10 where a span turns by a radian
    counts = np.maximum(np.ceil(pieces * np.diff(stops)).astype(int), 1)
    fine = np.concatenate(
        [np.linspace(a, b, k, endpoint=False) for a, b, k in zip(stops[:-1], stops[1:], counts, strict=True)]
        + [np.array((float(spans),))]
    )
    samples = curve(points, closed, fine)
    slopes = samples[:, 1]
    speeds = np.linalg.norm(slopes, axis=1)
    if not np.all(speeds > 1e-9 * np.max(speeds)):
        raise InputError("the rod's curve stands still or turns back on itself: its tangent is not defined everywhere")
    tangents = slopes / speeds[:, None]
    vectors = np.empty_like(tangents)
    vectors[0] = Pose.along(samples[0, 0], tangents[0], up).rotation[:, 0]
    transport_along(np.ascontiguousarray(samples[:, 0]), tangents, vectors)
    at = np.cumsum(counts)[:-1]
    t, u1 = tangents[at], vectors[at]
    u1 -= np.sum(u1 * t, axis=1)[:, None] * t
    u1 /= np.linalg.norm(u1, axis=1)[:, None]
    if not closed:
        return t, u1, 0.0
    side = np.cross(tangents[0], vectors[0])
    holonomy = math.atan2(float(vectors[-1] @ side), float(vectors[-1] @ vectors[0]))
    angle = (-holonomy / spans * u)[:, None]
    return t, np.cos(angle) * u1 + np.sin(angle) * np.cross(t, u1), -holonomy / spans
