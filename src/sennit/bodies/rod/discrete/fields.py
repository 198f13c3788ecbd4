"""What users read off a discrete rod: positions, frames, strains and tensions at parameters u.

Positions live at nodes, tangents, rolls and tensions at the middles of edges, curvature and twist at inner nodes; each
is linear in u between its places and goes on linearly to the ends: second order everywhere.

In all functions `q` is (n, 4), nodes (m) and rolls (rad), `bend` the state with the frames carried to q; `stations`
gives the parameters u (k,) of equal steps of the rest length.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sennit.bodies.rod.discrete import shape
from sennit.bodies.rod.discrete.kernels.strain import strains_at_nodes
from sennit.bodies.rod.discrete.tables import BendStates
from sennit.bodies.rod.table import RodTables
from sennit.validation import FloatArray

__all__ = ["centerline", "curvatures", "frames", "minimum_bend_radius", "references", "stations", "tensions"]


def stations(tables: RodTables, k: int) -> FloatArray:
    """Parameters u (k,) of `k` places equally spaced in rest length, both ends included."""
    return shape.parameter_at(tables.rest[:, :3], tables.knot_lengths, np.linspace(0.0, tables.length, k))


def centerline(q: FloatArray, u: FloatArray) -> FloatArray:
    """Positions (k, 3), m; with velocities in place of `q`, velocities."""
    return np.ascontiguousarray(shape.curve(q, u)[:, 0, :3])


def frames(tables: RodTables, q: FloatArray, bend: BendStates, u: FloatArray) -> FloatArray:
    """Frames (k, 3, 3): columns d1, d2, d3."""
    roll = shape.curve(q, u)[:, 3, 3:]
    reference = references(tables, q, bend, u)
    t, u1 = reference[:, :3], reference[:, 3:]
    d1 = np.cos(roll) * u1 + np.sin(roll) * np.cross(t, u1)
    return np.stack((d1, np.cross(t, d1), t), axis=2)


def references(tables: RodTables, q: FloatArray, bend: BendStates, u: ArrayLike) -> FloatArray:
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
    old, u1 = bend.tangent[e], bend.reference[e]
    u1 = u1 - (_dots(u1, t) / (1.0 + _dots(old, t))) * (old + t)
    angle = (bend.twist[node] * away)[:, None]
    u1 = np.cos(angle) * u1 + np.sin(angle) * np.cross(t, u1)
    u1 -= _dots(u1, t) * t
    return np.hstack((t, u1 / np.linalg.norm(u1, axis=1)[:, None]))


def curvatures(tables: RodTables, q: FloatArray, bend: BendStates, u: FloatArray) -> FloatArray:
    """κ1, κ2 (1/m) and twist τ (rad/m): (k, 3)."""
    return _between(np.arange(1.0, tables.n - 1.0), _node_strains(tables, q, bend), u)


def tensions(tables: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
    """Tension EA ε (k,), N."""
    lengths = np.linalg.norm(np.diff(q[:, :3], axis=0), axis=1)
    pulls = tables.stretches.stiffness * (lengths / tables.stretches.speed - 1.0)
    return _between(tables.stretch_u, pulls[:, None], u)[:, 0]


def minimum_bend_radius(tables: RodTables, q: FloatArray, bend: BendStates) -> float:
    """The smallest radius of curvature at a node, m; inf if the rod is straight."""
    strains = _node_strains(tables, q, bend)
    largest = float(np.max(np.hypot(strains[:, 0], strains[:, 1])))
    return 1.0 / largest if largest > 0.0 else math.inf


def _node_strains(tables: RodTables, q: FloatArray, bend: BendStates) -> FloatArray:
    """κ1, κ2, τ at the inner nodes: (n − 2, 3)."""
    result = np.zeros((tables.n - 2, 3))
    strains_at_nodes(np.ascontiguousarray(q).ravel(), tables.bends, bend, result)
    return result


def _between(places: FloatArray, values: FloatArray, u: FloatArray) -> FloatArray:
    """`values` (k, columns) at `places` (k,), one apart, linear between and beyond them, at `u`."""
    row = np.clip(np.floor(u - places[0]).astype(np.int64), 0, len(places) - 2)
    x = (u - places[row])[:, None]
    return np.asarray((1.0 - x) * values[row] + x * values[row + 1])


def _dots(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.sum(a * b, axis=1, keepdims=True))
