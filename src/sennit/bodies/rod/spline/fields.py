"""What users read along a spline rod: positions, frames, curvatures, tensions at any place of any state.

A state is q (n, 4), control points (m) and roll (rad), and the rod's `BendStates` with frames carried to q. The places
are parameters u (k,); `stations` gives those equally spaced in rest length. Nothing here runs in a step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.spline.tables import BendStates
from sennit.bodies.rod.table import RodTables
from sennit.validation import FloatArray

__all__ = [
    "curvatures",
    "frames",
    "minimum_bend_radius",
    "positions",
    "references",
    "rest_length",
    "stations",
    "tensions",
    "values_along",
]


def stations(tables: RodTables, k: int) -> FloatArray:
    """Parameters u (k,) of `k` places equally spaced in rest length, both ends included (a closed rod's are one)."""
    s = np.linspace(0.0, tables.length, k)
    return shape.parameter_at(tables.rest[:, :3], tables.closed, tables.knot_lengths, s)


def rest_length(tables: RodTables, u: FloatArray) -> FloatArray:
    """The rest lengths s (k,), m, at the parameters `u`."""
    return shape.length_at(tables.rest[:, :3], tables.closed, tables.knot_lengths, u)


def values_along(tables: RodTables, nodal: FloatArray, u: FloatArray) -> FloatArray:
    """Σ Nᵢ xᵢ (k, c) of values `nodal` (n, c) at the control points: velocities from those of the control points."""
    return np.asarray(shape.curve(nodal, tables.closed, u)[:, 0])


def positions(tables: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
    """Positions (k, 3), m."""
    return values_along(tables, q[:, :3], u)


def references(tables: RodTables, q: FloatArray, bend: BendStates, u: FloatArray) -> FloatArray:
    """Rows t (3), u1 (3), t′ (3), m (k, 10) at `u`: the start of a frame that is carried along at a place of its own.

    From the nearest bending points on both sides u1 is carried along the curve without turning about it, and then
    turned by ∫m du, m taken linearly between the points; the two answers are blended by distance. The error falls with
    the third power of the span's length or faster, and is zero where m is (a rod in its first shape).
    """
    curve = shape.curve(q[:, :3], tables.closed, u)
    t, dt = _tangents(curve)
    right = np.searchsorted(tables.bend_u, u, side="right")
    count = len(tables.bend_u)
    if tables.closed:
        turns = np.array((-float(tables.spans), 0.0, float(tables.spans)))
        low, high = right - 1, right
        u_low = tables.bend_u[low % count] + turns[low // count + 1]
        u_high = tables.bend_u[high % count] + turns[high // count + 1]
        low, high = low % count, high % count
    else:
        # Beyond the outermost points their span's line for m goes on.
        high = np.clip(right, 1, count - 1)
        low = high - 1
        u_low, u_high = tables.bend_u[low], tables.bend_u[high]
    weight = (u - u_low) / (u_high - u_low)
    m_low, m_high = bend.twist[low], bend.twist[high]
    m = m_low + weight * (m_high - m_low)
    # The two ways to the place; outside the outermost points only the nearer one counts.
    from_low = _turned(_carried(tables, q, bend, low, curve, t), t, 0.5 * (m_low + m) * (u - u_low))
    from_high = _turned(_carried(tables, q, bend, high, curve, t), t, -0.5 * (m + m_high) * (u_high - u))
    gap = np.arctan2(np.sum(np.cross(from_low, from_high) * t, axis=1), np.sum(from_low * from_high, axis=1))
    u1 = _turned(from_low, t, np.clip(weight, 0.0, 1.0) * gap)
    return np.column_stack((t, u1, dt, m))


def frames(tables: RodTables, q: FloatArray, bend: BendStates, u: FloatArray) -> FloatArray:
    """Rotations (k, 3, 3) with columns d1, d2, d3; see `references` for their accuracy between bending points."""
    return _frames(tables, q, references(tables, q, bend, u), u)


def curvatures(tables: RodTables, q: FloatArray, bend: BendStates, u: FloatArray) -> FloatArray:
    """κ1, κ2, τ (k, 3), 1/m of rest length."""
    reference = references(tables, q, bend, u)
    frame = _frames(tables, q, reference, u)
    J = np.linalg.norm(shape.curve(tables.rest[:, :3], tables.closed, u)[:, 1], axis=1)
    twist = shape.curve(q[:, 3:], tables.closed, u)[:, 1, 0] + reference[:, 9]
    bend1 = -np.sum(reference[:, 6:9] * frame[:, :, 1], axis=1)
    bend2 = np.sum(reference[:, 6:9] * frame[:, :, 0], axis=1)
    return np.asarray(np.column_stack((bend1, bend2, twist)) / J[:, None])


def tensions(tables: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
    """Tension EA ε (k,), N, without damping: exact at the stretching points, linear in s between and beyond them.

    Between these points the strain itself oscillates about the tension that balance asks for, far more than that
    varies: only its value there means something.
    """
    slopes = shape.curve(q[:, :3], tables.closed, tables.stretch_u)[:, 1]
    pull = tables.stretches.stiffness * (np.linalg.norm(slopes, axis=1) / tables.stretches.speed - 1.0)
    s, at = rest_length(tables, tables.stretch_u), rest_length(tables, u)
    if tables.closed:
        return np.asarray(np.interp(at, s, pull, period=tables.length))
    right = np.clip(np.searchsorted(s, at), 1, len(s) - 1)
    weight = (at - s[right - 1]) / (s[right] - s[right - 1])
    return np.asarray(pull[right - 1] + weight * (pull[right] - pull[right - 1]))


def minimum_bend_radius(tables: RodTables, q: FloatArray, per_span: int = 16) -> float:
    """Smallest radius of curvature of the centreline as it is, m, over `per_span` places a span; inf if straight."""
    u = np.linspace(0.0, tables.spans, per_span * tables.spans + 1)
    curve = shape.curve(q[:, :3], tables.closed, u)
    _, dt = _tangents(curve)
    largest = float(np.max(np.linalg.norm(dt, axis=1) / np.linalg.norm(curve[:, 1], axis=1)))
    return 1.0 / largest if largest > 0.0 else math.inf


def _tangents(curve: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Tangents t and t′ (k, 3) of r, r′, r″ (k, 3, 3)."""
    j = np.linalg.norm(curve[:, 1], axis=1)[:, None]
    t = curve[:, 1] / j
    return t, (curve[:, 2] - np.sum(curve[:, 2] * t, axis=1)[:, None] * t) / j


def _turned(vectors: FloatArray, t: FloatArray, angle: FloatArray) -> FloatArray:
    """`vectors` across t turned about t by `angle` (k,), rad."""
    return np.asarray(np.cos(angle)[:, None] * vectors + np.sin(angle)[:, None] * np.cross(t, vectors))


def _carried(
    tables: RodTables, q: FloatArray, bend: BendStates, rows: NDArray[np.intp], curve: FloatArray, t: FloatArray
) -> FloatArray:
    """u1 of the bending points `rows` (k,) carried to the places of `curve` by two reflections; unit, across t."""
    start = shape.curve(q[:, :3], tables.closed, tables.bend_u[rows])[:, 0]
    vector, old = bend.reference[rows], bend.tangent[rows]
    way = curve[:, 0] - start
    square = np.sum(way * way, axis=1)[:, None]
    at_point = square == 0.0
    square = np.where(at_point, 1.0, square)
    mirrored = vector - 2.0 * np.sum(way * vector, axis=1)[:, None] / square * way
    old = old - 2.0 * np.sum(way * old, axis=1)[:, None] / square * way
    change = t - old
    square = np.sum(change * change, axis=1)[:, None]
    square = np.where(square == 0.0, 1.0, square)
    mirrored = mirrored - 2.0 * np.sum(change * mirrored, axis=1)[:, None] / square * change
    result = np.where(at_point, vector, mirrored)
    result -= np.sum(result * t, axis=1)[:, None] * t
    return np.asarray(result / np.linalg.norm(result, axis=1)[:, None])


def _frames(tables: RodTables, q: FloatArray, reference: FloatArray, u: FloatArray) -> FloatArray:
    t = reference[:, :3]
    d1 = _turned(reference[:, 3:6], t, shape.curve(q[:, 3:], tables.closed, u)[:, 0, 0])
    return np.stack((d1, np.cross(t, d1), t), axis=2)
