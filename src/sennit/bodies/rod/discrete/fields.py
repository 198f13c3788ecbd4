"""What users read off a discrete rod: positions, frames, strains and tensions at equal steps of its rest length.

Positions live at nodes, tangents, rolls and tensions at the middles of edges, curvature and twist at inner nodes; each
is linear in u between its places and goes on linearly to the ends: second order everywhere.

In all functions `q` is (n, 4), nodes (m) and rolls (rad), `bend` (nb, 13) the state with the frames carried to q.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sennit.bodies.rod.discrete import shape
from sennit.bodies.rod.discrete.kernels.forces import accept_strains_discrete
from sennit.bodies.rod.tables import RodTables
from sennit.validation import FloatArray

__all__ = ["centerline", "curvatures", "frames", "minimum_bend_radius", "references", "tensions"]


def centerline(tables: RodTables, q: FloatArray, count: int) -> FloatArray:
    """Positions (count, 3), m, at equal steps of the rest length; with velocities in place of `q`, velocities."""
    return np.ascontiguousarray(shape.curve(q, _stations(tables, count))[:, 0, :3])


def frames(tables: RodTables, q: FloatArray, bend: FloatArray, count: int) -> FloatArray:
    """Frames (count, 3, 3) at the places of `centerline`: columns d1, d2, d3."""
    u = _stations(tables, count)
    roll = shape.curve(q, u)[:, 3, 3:]
    reference = references(tables, q, bend, u)
    t, u1 = reference[:, :3], reference[:, 3:]
    d1 = np.cos(roll) * u1 + np.sin(roll) * np.cross(t, u1)
    return np.stack((d1, np.cross(t, d1), t), axis=2)


def references(tables: RodTables, q: FloatArray, bend: FloatArray, u: ArrayLike) -> FloatArray:
    """Tangent t and reference vector u1 at parameters `u` (k,), side by side (k, 6), to which the blended roll belongs.

    u1 comes from the nearest edge e by the smallest rotation, and is turned about t by its reference twist on the way,
    m (u − e − ½) with the m of the node that lies between (or of the nearest one, at the ends).
    """
    places = np.atleast_1d(np.asarray(u, dtype=np.float64))
    slopes = shape.curve(q, places)[:, 1, :3]
    t = slopes / np.linalg.norm(slopes, axis=1)[:, None]
    e = np.clip(np.floor(places).astype(np.int64), 0, tables.n - 2)
    away = places - e - 0.5
    node = np.clip(np.where(away > 0.0, e + 1, e), 1, tables.n - 2)
    old, u1 = bend[e, :3], bend[e, 3:6]
    u1 = u1 - (_dots(u1, t) / (1.0 + _dots(old, t))) * (old + t)
    angle = (bend[node, 9] * away)[:, None]
    u1 = np.cos(angle) * u1 + np.sin(angle) * np.cross(t, u1)
    u1 -= _dots(u1, t) * t
    return np.hstack((t, u1 / np.linalg.norm(u1, axis=1)[:, None]))


def curvatures(tables: RodTables, q: FloatArray, bend: FloatArray, count: int) -> FloatArray:
    """κ1, κ2 (1/m) and twist τ (rad/m) at the places of `centerline`: (count, 3)."""
    return _between(np.arange(1.0, tables.n - 1.0), _node_strains(tables, q, bend), _stations(tables, count))


def tensions(tables: RodTables, q: FloatArray, count: int) -> FloatArray:
    """Tension EA ε (N) at the places of `centerline`: (count,)."""
    lengths = np.linalg.norm(np.diff(q[:, :3], axis=0), axis=1)
    pulls = tables.constants[0] * (lengths / tables.stretch_table[:, 1] - 1.0)
    return _between(tables.stretch_u, pulls[:, None], _stations(tables, count))[:, 0]


def minimum_bend_radius(tables: RodTables, q: FloatArray, bend: FloatArray) -> float:
    """The smallest radius of curvature at a node, m; inf if the rod is straight."""
    strains = _node_strains(tables, q, bend)
    largest = float(np.max(np.hypot(strains[:, 0], strains[:, 1])))
    return 1.0 / largest if largest > 0.0 else math.inf


def _stations(tables: RodTables, count: int) -> FloatArray:
    """Parameters at `count` equal steps of the rest length."""
    return shape.parameter_at(tables.rest[:, :3], tables.knot_lengths, np.linspace(0.0, tables.length, count))


def _node_strains(tables: RodTables, q: FloatArray, bend: FloatArray) -> FloatArray:
    """κ1, κ2, τ at the inner nodes: (n − 2, 3)."""
    state, edges = bend.copy(), tables.n - 1
    accept_strains_discrete(
        np.ascontiguousarray(q).ravel(), 0, tables.n, 0, tables.bend_table, tables.bend_span, state, 0, edges,
        tables.stretch_table, tables.stretch_span, tables.stretch_state.copy(), 0, edges,
    )  # fmt: skip
    return state[1:, 10:13]


def _between(places: FloatArray, values: FloatArray, u: FloatArray) -> FloatArray:
    """`values` (k, columns) at `places` (k,), one apart, linear between and beyond them, at `u`."""
    row = np.clip(np.floor(u - places[0]).astype(np.int64), 0, len(places) - 2)
    x = (u - places[row])[:, None]
    return np.asarray((1.0 - x) * values[row] + x * values[row + 1])


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.sum(a * b, axis=1, keepdims=True))
