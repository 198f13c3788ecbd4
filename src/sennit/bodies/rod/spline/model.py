"""The spline model of a rod."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit.bodies.kernels import points
from sennit.bodies.rod.model import RodModel
from sennit.bodies.rod.spline import fields, shape
from sennit.bodies.rod.spline.build import halfway_places, lumped_masses, speeds, spline_masses, spline_tables
from sennit.bodies.rod.spline.kernels import kind as kernels
from sennit.bodies.rod.spline.kernels.folds import speed_ratio
from sennit.bodies.rod.spline.reference import fresh_frames
from sennit.bodies.rod.spline.tables import Splines
from sennit.bodies.rod.table import Masses, RodTables
from sennit.material import Material, Section
from sennit.tables import Table
from sennit.validation import FloatArray

__all__ = ["SPLINE", "SplineModel"]


class SplineModel(RodModel):
    """A cubic B-spline with bending, twist and stretch at integration points."""

    name = "spline"
    kind = Splines
    table = "splines"
    smooth = True
    mass_points = 6
    point_kind = points.SPLINE
    carry_frames = staticmethod(kernels.carry_frames)
    accept_strains = staticmethod(kernels.accept_strains)
    energy = staticmethod(kernels.energy)

    def smallest(self, closed: bool) -> int:
        """The fewest control points; raises `InputError` if it can't be closed."""
        return shape.SMALLEST_CLOSED if closed else shape.SMALLEST_OPEN

    def spans(self, n: int, closed: bool) -> int:
        """Number of spans of a rod of `n` control points."""
        return shape.span_count(n, closed)

    def straight_points(self, start: ArrayLike, end: ArrayLike, n: int) -> FloatArray:
        """Control points (n, 3), m, of a straight rod."""
        return shape.straight_points(start, end, n)

    def fitted_points(self, points: ArrayLike, n: int, closed: bool) -> FloatArray:
        """Control points (n, 3), m, of a rod through `points` (k, 3), m."""
        return shape.fitted_points(points, n, closed=closed)

    def tables(self, points: FloatArray, section: Section, material: Material, **options: Any) -> RodTables:
        """The tables of a rod with these control points."""
        return spline_tables(self, points, section, material, **options)

    def masses(self, t: RodTables, mass: float, inertia: float) -> Masses:
        """See `RodModel`."""
        return spline_masses(t.rest[:, :3], t.closed, mass, inertia)

    def lumped(self, t: RodTables, u: FloatArray, mass: FloatArray, inertia: FloatArray) -> Masses:
        """See `RodModel`."""
        return lumped_masses(t.n, t.closed, u, mass, inertia)

    def cells(self, t: RodTables) -> tuple[FloatArray | None, FloatArray]:
        """Of the stretching points: parts of the length as large as their weights; the bending points share spans."""
        ends = np.concatenate(((0.0,), np.cumsum(t.stretches.weight * t.stretches.speed)))
        return None, self.parameter_at(t, ends * (t.length / ends[-1]))

    def speeds_at(self, t: RodTables, u: FloatArray) -> FloatArray:
        """|r′| (k,) at rest, m, at the parameters `u`."""
        return speeds(t.rest[:, :3], t.closed, u)

    def tables_at_rest(self, points: FloatArray, closed: bool) -> dict[str, Table]:
        """Tables of its kind, by name, that follow from the control points (n, 3) at rest: files do not have them."""
        return {"halfway": halfway_places(points, closed)}

    def hold_rolls(self, rolls: FloatArray) -> None:
        """Set those of the rolls (n,), or of their rates, to 0 that never move: there is none."""

    def parameter_at(self, t: RodTables, s: ArrayLike) -> FloatArray:
        """The parameters u (k,) at the rest lengths `s`, m."""
        return shape.parameter_at(t.rest[:, :3], t.closed, t.knot_lengths, s)

    def length_at(self, t: RodTables, u: ArrayLike) -> FloatArray:
        """The rest lengths s (k,), m, at the parameters `u`."""
        return shape.length_at(t.rest[:, :3], t.closed, t.knot_lengths, u)

    def length_here(self, t: RodTables, u: float) -> float:
        """The rest length s, m, at one parameter `u` within the rod."""
        return shape.length_here(t.rest[:, :3], t.closed, t.knot_lengths, u)

    def basis_at(self, t: RodTables, u: ArrayLike) -> tuple[int, FloatArray]:
        """First of four control points, and N, N′, NR (for the roll), N″ of them (16,), at one parameter."""
        first, rows = shape.basis(u, t.spans, t.closed)
        return int(first[0]), rows[0][[0, 1, 0, 2]].ravel()

    def stations(self, t: RodTables, count: int) -> FloatArray:
        """Parameters u of `count` equal steps of the rest length from end to end."""
        return fields.stations(t, count)

    def values_along(self, t: RodTables, nodal: FloatArray, u: FloatArray) -> FloatArray:
        """Positions (k, 3) at `u` from the control points, or velocities from theirs, in the columns of `nodal`."""
        return fields.positions(t, nodal, u)

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
        return fields.minimum_bend_radius(t, q)

    def speed_ratio(self, t: RodTables, q: FloatArray) -> float:
        """How evenly the curve of a scene's degrees of freedom q runs: 1, or less where it is nearly folded."""
        return float(speed_ratio(t.row, t.kind, q))

    def fresh_frames(self, t: RodTables, q: FloatArray, u: FloatArray) -> tuple[FloatArray, float]:
        """Make the reference vectors of its state anew, parallel along the present curve."""
        return fresh_frames(t, q, t.bend, u)

    def rest_strains(self, t: RodTables) -> tuple[FloatArray, FloatArray]:
        """Rest lengths s (k,), m, of the places that have strains of their own, and κ̂1, κ̂2, τ̂ (k, 3) there, 1/m."""
        return t.bend_s, t.bends.rest


SPLINE = SplineModel()
"""The one that rods are made with."""
