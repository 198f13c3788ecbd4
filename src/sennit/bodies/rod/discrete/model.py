"""The discrete model of a rod."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit.bodies.kernels import points
from sennit.bodies.rod.discrete import fields, shape
from sennit.bodies.rod.discrete.build import discrete_masses, discrete_tables, lumped_masses
from sennit.bodies.rod.discrete.kernels import kind as kernels
from sennit.bodies.rod.discrete.reference import fresh_frames
from sennit.bodies.rod.discrete.tables import Discretes
from sennit.bodies.rod.model import RodModel
from sennit.bodies.rod.table import Masses, RodTables
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.validation import FloatArray

__all__ = ["DISCRETE", "DiscreteModel"]


class DiscreteModel(RodModel):
    """A chain of straight edges, with bending and twist at the nodes."""

    name = "discrete"
    kind = Discretes
    table = "discretes"
    smooth = False
    mass_points = 3
    point_kind = points.DISCRETE
    carry_frames = staticmethod(kernels.carry_frames)
    accept_strains = staticmethod(kernels.accept_strains)
    energy = staticmethod(kernels.energy)

    def smallest(self, closed: bool) -> int:
        """The fewest control points; raises `InputError` if it can't be closed."""
        if closed:
            raise InputError('a discrete rod is open: use model="spline" for a closed one')
        return shape.SMALLEST_OPEN

    def spans(self, n: int, closed: bool) -> int:
        """Number of spans of a rod of `n` control points."""
        return n - 1

    def straight_points(self, start: ArrayLike, end: ArrayLike, n: int) -> FloatArray:
        """Control points (n, 3), m, of a straight rod."""
        return shape.straight_points(start, end, n)

    def fitted_points(self, points: ArrayLike, n: int, closed: bool) -> FloatArray:
        """Control points (n, 3), m, of a rod through `points` (k, 3), m."""
        return shape.fitted_points(points, n)

    def tables(self, points: FloatArray, section: Section, material: Material, **options: Any) -> RodTables:
        """The tables of a rod with these control points."""
        return discrete_tables(self, points, section, material, **options)

    def masses(self, t: RodTables, mass: float, inertia: float) -> Masses:
        """See `RodModel`."""
        return discrete_masses(np.diff(t.knot_lengths), mass, inertia)

    def lumped(self, t: RodTables, u: FloatArray, mass: FloatArray, inertia: FloatArray) -> Masses:
        """See `RodModel`."""
        return lumped_masses(t.n, u, mass, inertia)

    def cells(self, t: RodTables) -> tuple[FloatArray | None, FloatArray]:
        """Of the nodes, from the middle of an edge to that of the next, or to the rod's ends; and the edges.

        The first edge has no node of its own: its cell is a point.
        """
        knots = np.arange(t.n, dtype=np.float64)
        nodes = np.concatenate(((0.0, 0.0), knots[1:-2] + 0.5, (float(t.n - 1),)))
        return nodes, knots

    def speeds_at(self, t: RodTables, u: FloatArray) -> FloatArray:
        """Length of the edges (k,), m, at the parameters `u`."""
        return np.asarray(np.diff(t.knot_lengths)[np.minimum(u.astype(np.int64), t.n - 2)])

    def hold_rolls(self, rolls: FloatArray) -> None:
        """Set those of the rolls (n,), or of their rates, to 0 that never move."""
        rolls[-1] = 0.0  # belongs to no edge

    def parameter_at(self, t: RodTables, s: ArrayLike) -> FloatArray:
        """The parameters u (k,) at the rest lengths `s`, m."""
        return shape.parameter_at(t.rest[:, :3], t.knot_lengths, s)

    def length_at(self, t: RodTables, u: ArrayLike) -> FloatArray:
        """The rest lengths s (k,), m, at the parameters `u`."""
        return shape.length_at(t.rest[:, :3], t.knot_lengths, u)

    def length_here(self, t: RodTables, u: float) -> float:
        """The rest length s, m, at one parameter `u` within the rod."""
        return float(self.length_at(t, u)[0])

    def basis_at(self, t: RodTables, u: ArrayLike) -> tuple[int, FloatArray]:
        """First of four control points, and N, N′, NR (for the roll), N″ of them (16,), at one parameter."""
        first, rows = shape.basis(u, t.n)
        return int(first[0]), rows[0][[0, 1, 3, 2]].ravel()

    def stations(self, t: RodTables, count: int) -> FloatArray:
        """Parameters u of `count` equal steps of the rest length from end to end."""
        return fields.stations(t, count)

    def values_along(self, t: RodTables, nodal: FloatArray, u: FloatArray) -> FloatArray:
        """Positions (k, 3) at `u` from the control points, or velocities from theirs, in the columns of `nodal`."""
        return fields.centerline(nodal, u)

    def references(self, t: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
        """Tangents and reference vectors in the first six columns of (k, …)."""
        return fields.references(t, q, t.bend, u)

    def frames(self, t: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
        """Rotations (k, 3, 3) with columns d1, d2, d3."""
        return fields.frames(t, q, t.bend, u)

    def curvatures(self, t: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
        """κ1, κ2, τ (k, 3), 1/m."""
        return fields.curvatures(t, q, t.bend, u)

    def tensions(self, t: RodTables, q: FloatArray, u: FloatArray) -> FloatArray:
        """Tension EA ε (k,), N."""
        return fields.tensions(t, q, u)

    def minimum_bend_radius(self, t: RodTables, q: FloatArray) -> float:
        """Smallest radius to which the rod is bent, m."""
        return fields.minimum_bend_radius(t, q, t.bend)

    def fresh_frames(self, t: RodTables, q: FloatArray, u: FloatArray) -> tuple[FloatArray, float]:
        """Make the reference vectors of its state anew, parallel along the present curve."""
        return fresh_frames(t, q, t.bend, u)

    def rest_strains(self, t: RodTables) -> tuple[FloatArray, FloatArray]:
        """Rest lengths s (k,), m, of the places that have strains of their own, and κ̂1, κ̂2, τ̂ (k, 3) there, 1/m."""
        # strains belong to inner nodes, which the second and later edges start from
        return t.knot_lengths[1:-1], np.asarray(t.bends.rest[1:])


DISCRETE = DiscreteModel()
"""The one that rods are made with."""
