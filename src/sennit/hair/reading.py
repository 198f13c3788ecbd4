"""What is read of hair: curves, energies, how deep samples lie in the head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sennit.bodies.rod.spline import fields, shape
from sennit.bodies.rod.table import RodTables
from sennit.geometry.pose import Pose
from sennit.hair.head import HeadPart, distances_of
from sennit.hair.kernels.strand import FRAME
from sennit.validation import FloatArray

__all__ = ["centerlines", "energies", "sample_places"]


def _matrix(tables: RodTables, u: FloatArray, derivative: int = 0) -> FloatArray:
    """What takes control points to values at the parameters `u`, (k, n)."""
    first, rows = shape.basis(u, tables.spans, tables.closed)
    matrix = np.zeros((len(u), tables.n))
    matrix[np.arange(len(u))[:, None], first[:, None] + np.arange(4)] = rows[:, derivative]
    return matrix


def centerlines(tables: RodTables, points: FloatArray, count: int) -> FloatArray:
    """Places (rods, count, 3) of curves at equal steps of rest length, from control points (rods, n, 3)."""
    return np.asarray(_matrix(tables, fields.stations(tables, count)) @ points)


def sample_places(
    tables: RodTables, head: Sequence[HeadPart], pose: Pose, points: FloatArray, radius: float
) -> FloatArray:
    """How deep the deepest sample of each rod lies in the head, (rods,), m."""
    u = np.append(tables.bend_u[2:], tables.spans)
    places = (_matrix(tables, u) @ points - pose.position) @ pose.rotation
    distances = distances_of(head, places.reshape(-1, 3)).reshape(len(points), -1)
    return np.asarray(radius - distances.min(axis=1))


def energies(
    tables: RodTables, state: FloatArray, factors: FloatArray, rest: FloatArray, gravity: FloatArray
) -> dict[str, FloatArray]:
    """Energies of each rod, J, from its numbers (rods, size)."""
    n, bends, stretches = tables.n, tables.bends, tables.stretches
    rods, nb, ns = len(state), len(tables.bend_u), len(tables.stretch_u)
    q, v = (state[:, a : a + 4 * n].reshape(rods, n, 4) for a in (0, 4 * n))
    kinetic = np.zeros(rods)
    for k in range(4):
        mass, roll = tables.masses.mass[: n - k, k], tables.masses.roll[: n - k, k]
        both = v[:, : n - k] * v[:, k:]
        share = 0.5 if k == 0 else 1.0
        kinetic += share * (both[:, :, :3].sum(axis=2) @ mass + both[:, :, 3] @ roll)
    strains = state[:, 8 * n : 8 * n + FRAME * nb].reshape(rods, nb, FRAME)[:, :, 10:] - rest[:, None]
    half = 0.5 * bends.weight * bends.speed
    squares = np.einsum("rbk,b->rk", strains * strains, half) * factors[:, None]
    pulled = state[:, 8 * n + FRAME * nb : 8 * n + FRAME * nb + 2 * ns].reshape(rods, ns, 2)[:, :, 1]
    EA, B1, B2, GJ = tables.stiffness
    stretch = 0.5 * EA * factors * (pulled * pulled @ (stretches.weight * stretches.speed))
    found = {
        "kinetic": kinetic,
        "stretch": stretch,
        "bend": squares[:, :2] @ (B1, B2),
        "twist": GJ * squares[:, 2],
        "gravity": -np.einsum("rnk,n,k->r", q[:, :, :3], tables.masses.total, gravity),
    }
    return found | {"total": np.sum(list(found.values()), axis=0)}
