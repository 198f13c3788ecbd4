"""Builds the tables of a discrete rod from its nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.along import Along, rest_strains
from sennit.bodies.rod.discrete import shape
from sennit.bodies.rod.discrete.tables import Bends, BendStates, Discretes, Stretches
from sennit.bodies.rod.model import RodModel
from sennit.bodies.rod.table import (
    BendStrains,
    Masses,
    RodTables,
    StretchStates,
    StretchStrains,
    fill_points,
    new_rod,
)  # fmt: skip
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.material import Material, Section
from sennit.validation import FloatArray

__all__ = ["discrete_masses", "discrete_tables", "lumped_masses"]


def discrete_tables(
    model: RodModel,
    control_points: ArrayLike,
    section: Section,
    material: Material,
    *,
    closed: bool = False,
    straight: bool = False,
    rest_curvature: Along | None = None,
    rest_twist: float = 0.0,
    up: ArrayLike = (0.0, 0.0, 1.0),
    bending_points: int = 2,
) -> RodTables:
    """The tables of the discrete elastic rod with its nodes at `control_points` (n, 3), m: n ≥ 4, open.

    Arguments as of `spline_tables`; `bending_points` must be left as it is, since a discrete rod bends at its nodes.
    Row e of the bending tables is edge e, at u = e + ½ (its frame, and the strains at the node where it starts); row e
    of the stretching tables is edge e, too. The order of convergence is 2 for nodes at nearly equal distances.

    The mass of position is consistent with linear interpolation, that of roll is diagonal. The roll of the last node
    belongs to no edge and never moves; its mass is that of the edge before it.
    """
    given = validation.array("control_points", control_points, (None, 3))
    n = len(given)
    if closed:
        raise InputError("a discrete rod is open: use the spline model for a closed one")
    if n < shape.SMALLEST_OPEN:
        raise InputError(f"a discrete rod needs {shape.SMALLEST_OPEN} nodes or more, got {n}")
    if bending_points != 2:
        raise InputError(f"a discrete rod bends at its nodes: bending_points={bending_points} is for the spline model")
    twist = validation.number("rest_twist", rest_twist)
    if straight and rest_curvature is not None:
        raise InputError("give straight=True or rest_curvature, not both")
    edges = np.diff(given, axis=0)
    lengths = np.linalg.norm(edges, axis=1)
    if not np.all(lengths > 1e-9 * np.max(lengths)):
        index = int(np.argmin(lengths))
        raise InputError(f"nodes {index} and {index + 1} of the rod coincide")
    tangents = edges / lengths[:, None]
    if np.any(np.sum(tangents[1:] * tangents[:-1], axis=1) < -1.0 + 1e-9):
        raise InputError("the rod turns back on itself at a node: its curvature is not defined there")
    knots = shape.knot_lengths(given)

    u = np.arange(n - 1, dtype=np.float64) + 0.5
    bends, bend, bend_last = (kind(rows=n - 1) for kind in (Bends, BendStates, BendStrains))
    mean = 0.5 * (lengths[1:] + lengths[:-1])
    cells = mean.copy()
    cells[0] += 0.5 * lengths[0]
    cells[-1] += 0.5 * lengths[-1]
    bends.speed[0], bends.speed[1:] = lengths[0], mean
    bends.weight[1:] = cells / mean
    stretches, stretch, stretch_last = (kind(rows=n - 1) for kind in (Stretches, StretchStates, StretchStrains))
    stretches.speed[:] = lengths
    bend.tangent[:], bend.reference[:] = tangents, _start_vectors(given, tangents, up)

    fill_points(bends, stretches, section, material)
    rods = new_rod(section, material, float(knots[-1]), n=n, spans=n - 1, closed=False)
    rods.bend_end[0] = rods.stretch_end[0] = n - 1
    inertia = material.density * (section.I1 + section.I2)
    kind = Discretes.holding(
        rods=rods, masses=discrete_masses(lengths, rods.mass_per_length[0], inertia),
        bends=bends, bend=bend, bend_last=bend_last, stretches=stretches, stretch=stretch, stretch_last=stretch_last,
    )  # fmt: skip
    rest = np.zeros((n, 4))
    rest[:, :3] = given
    model.accept_strains(0, kind, rest.ravel(), bend, stretch)
    stretch.strain[:] = 0.0
    if rest_curvature is not None:
        bends.rest[1:] = rest_strains(rest_curvature, knots[1:-1], float(knots[-1]))
    elif not straight:
        bends.rest[1:] = bend.strain[1:]
    bends.rest[1:, 2] += twist
    return RodTables(model, kind, rest=rest, knot_lengths=knots, bend_u=u, stretch_u=u.copy())


def _start_vectors(points: FloatArray, tangents: FloatArray, up: ArrayLike) -> FloatArray:
    """Reference vectors (n − 1, 3) of the edges: at s = 0 d2 is near `up`, then carried from edge to edge (m = 0)."""
    start = shape.curve(points, 0.0)[0]
    pose = Pose.along(start[0], start[1], up)
    before, vector = pose.rotation[:, 2], pose.rotation[:, 0]
    vectors = np.empty_like(tangents)
    for e, t in enumerate(tangents):
        vector = vector - (vector @ t) / (1.0 + before @ t) * (before + t)
        vector -= (vector @ t) * t
        vector /= np.linalg.norm(vector)
        vectors[e], before = vector, t
    return vectors


def discrete_masses(lengths: FloatArray, mass: float, inertia: float) -> Masses:
    """∫ρA Nᵢ Nⱼ ds of linear edges; each edge's whole polar inertia at its roll."""
    masses = Masses(rows=len(lengths) + 1)
    masses.mass[:-1, 0] += mass * lengths / 3.0
    masses.mass[1:, 0] += mass * lengths / 3.0
    masses.mass[:-1, 1] = mass * lengths / 6.0
    masses.roll[:-1, 0] = inertia * lengths
    masses.roll[-1, 0] = masses.roll[-2, 0]
    masses.total[:-1] += 0.5 * mass * lengths
    masses.total[1:] += 0.5 * mass * lengths
    return masses


def lumped_masses(n: int, u: FloatArray, mass: FloatArray, inertia: FloatArray) -> Masses:
    """Σ m_k Nᵢ Nⱼ of masses (k,), kg, at the parameters `u`; their polar inertia, kg·m², at the rolls of the edges."""
    masses = Masses(rows=n)
    e = np.minimum(u.astype(np.int64), n - 2)
    x = u - e
    np.add.at(masses.mass[:, 0], e, mass * (1.0 - x) ** 2)
    np.add.at(masses.mass[:, 0], e + 1, mass * x**2)
    np.add.at(masses.mass[:, 1], e, mass * x * (1.0 - x))
    np.add.at(masses.roll[:, 0], e, inertia)
    masses.roll[-1, 0] = masses.roll[-2, 0]
    np.add.at(masses.total, e, mass * (1.0 - x))
    np.add.at(masses.total, e + 1, mass * x)
    return masses
