"""Builds the tables of a spline rod from its control points."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.along import Along, rest_strains
from sennit.bodies.rod.model import RodModel
from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.spline.tables import Bends, BendStates, Halfway, Splines, Stretches
from sennit.bodies.rod.table import (
    BendStrains,
    IntArray,
    Masses,
    RodTables,
    StretchStates,
    StretchStrains,
    fill_points,
    new_rod,
)  # fmt: skip
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.validation import FloatArray

__all__ = ["halfway_places", "lumped_masses", "speeds", "spline_masses", "spline_tables"]

_LARGEST_DENSE = 200
"""Control points up to which a dense matrix takes less time than a sparse one takes to import."""


def spline_tables(
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
    """The tables of the rod with these `control_points` (n, 3), m: n ≥ 4, or n ≥ 7 of a closed one.

    The curve's length is the rod's length at rest. Its curvature and twist are stress free, unless `straight` (the rod
    is straight and untwisted at rest) or `rest_curvature` (1/m) is given: κ̂1, κ̂2 or κ̂1, κ̂2, τ̂ in the rod's own frame,
    as `along.numbers_along`
    takes them; without τ̂ that is 0. `rest_twist`, rad/m, is added to τ̂. `up` is where d2
    points at s = 0, as nearly as the tangent allows.

    There are `bending_points` (2 or 3) Gauss points to a span for bending and twist; for stretching there is 1, and one
    more at each end of an open rod. That leaves a free rod its 6 rigid motions and does not lock.
    """
    given = validation.array("control_points", control_points, (None, 3))
    n, least = len(given), shape.SMALLEST_CLOSED if closed else shape.SMALLEST_OPEN
    if n < least:
        raise InputError(f"a {'closed' if closed else 'open'} rod needs {least} control points or more, got {n}")
    per_span = validation.count("bending_points", bending_points, 2, 3)
    twist = validation.number("rest_twist", rest_twist)
    if straight and rest_curvature is not None:
        raise InputError("give straight=True or rest_curvature, not both")
    spans = shape.span_count(n, closed)
    knots = shape.knot_lengths(given, closed)
    # One span of a free rod needs a third point: two of them leave a spline of degree 3 a mode without strain.
    bend_u, bend_w = _gauss(np.full(spans, max(per_span, 3 if spans == 1 else 2)))
    stretch_counts = np.ones(spans, np.int64)
    if not closed:
        stretch_counts[0] += 1
        stretch_counts[-1] += 1
    stretch_u, stretch_w = _gauss(stretch_counts)

    bends, bend, bend_last = (kind(rows=len(bend_u)) for kind in (Bends, BendStates, BendStrains))
    bends.span[:], rows = shape.basis(bend_u, spans, closed)
    bends.weight[:], bends.speed[:] = bend_w, speeds(given, closed, bend_u)
    bends.basis[:], bends.slope_basis[:], bends.bend_basis[:] = rows[:, 0], rows[:, 1], rows[:, 2]
    stretches, stretch, stretch_last = (
        kind(rows=len(stretch_u)) for kind in (Stretches, StretchStates, StretchStrains)
    )
    stretches.span[:], rows = shape.basis(stretch_u, spans, closed)
    if not closed and spans > 1:
        stretch_w = _patch_weights(stretches.span, rows[:, 1], n)
    stretches.weight[:], stretches.speed[:] = stretch_w, speeds(given, closed, stretch_u)
    stretches.slope_basis[:] = rows[:, 1]

    fill_points(bends, stretches, section, material)

    tangents, vectors, m = shape.start_frames(given, closed, bend_u, up)
    slope, curving = np.moveaxis(shape.curve(given, closed, bend_u)[:, 1:], 1, 0)
    along = np.sum(curving * tangents, axis=1)[:, None]
    bend.tangent[:], bend.reference[:], bend.twist[:] = tangents, vectors, m
    bend.bending[:] = (curving - along * tangents) / np.linalg.norm(slope, axis=1)[:, None]

    rods = new_rod(section, material, float(knots[-1]), n=n, spans=spans, closed=closed)
    rods.bend_end[0], rods.stretch_end[0] = len(bend_u), len(stretch_u)
    inertia = material.density * (section.I1 + section.I2)
    kind = Splines.holding(
        rods=rods, masses=spline_masses(given, closed, rods.mass_per_length[0], inertia),
        bends=bends, bend=bend, bend_last=bend_last, stretches=stretches, stretch=stretch, stretch_last=stretch_last,
        halfway=halfway_places(given, closed),
    )  # fmt: skip
    rest = np.zeros((n, 4))
    rest[:, :3] = given
    model.accept_strains(0, kind, rest.ravel(), bend, stretch)
    if rest_curvature is not None:
        at = shape.length_at(given, closed, knots, bend_u)
        bends.rest[:] = rest_strains(rest_curvature, at, float(knots[-1]))
    elif not straight:
        bends.rest[:] = bend.strain
    bends.rest[:, 2] += twist
    return RodTables(model, kind, rest=rest, knot_lengths=knots, bend_u=bend_u, stretch_u=stretch_u)


def halfway_places(points: FloatArray, closed: bool) -> Halfway:
    """Places half-way between the stretching points of a rod with the control points `points` (n, 3), m, at rest."""
    n = len(points)
    spans = shape.span_count(n, closed)
    u = np.arange(n, dtype=np.float64)
    if not closed:
        u[0], u[spans], u[-2:] = 0.5, spans - 0.5, (0.0, spans)
        if spans == 1:
            u[:2] = 0.3, 0.7  # between its three stretching points
    places = Halfway(rows=n)
    places.span[:], rows = shape.basis(u, spans, closed)
    places.speed[:], places.slope_basis[:] = speeds(points, closed, u), rows[:, 1]
    return places


@cache
def _rule(count: int) -> tuple[FloatArray, FloatArray]:
    """Gauss's points and weights on −1 … 1; who takes them leaves them as they are."""
    return np.polynomial.legendre.leggauss(count)


def _gauss(counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Gauss points u and weights, counts[e] of them in span e."""
    u, w = [], []
    for e, count in enumerate(counts.tolist()):
        x, weight = _rule(count)
        u.append(e + 0.5 * (1.0 + x))
        w.append(0.5 * weight)
    return np.concatenate(u), np.concatenate(w)


def speeds(points: FloatArray, closed: bool, u: FloatArray) -> FloatArray:
    """|r′| (k,), m, at the parameters `u`."""
    return np.asarray(np.linalg.norm(shape.curve(points, closed, u)[:, 1], axis=1))


def spline_masses(points: FloatArray, closed: bool, mass: float, inertia: float) -> Masses:
    """∫ρA Nᵢ Nⱼ J du, and the same with the polar moment ρ (I1 + I2) for roll; six Gauss points to a span."""
    n = len(points)
    u, w = _gauss(np.full(shape.span_count(n, closed), 6))
    lengths = w * speeds(points, closed, u)
    return lumped_masses(n, closed, u, mass * lengths, inertia * lengths)


def lumped_masses(n: int, closed: bool, u: FloatArray, mass: FloatArray, inertia: FloatArray) -> Masses:
    """Σ m_k Nᵢ Nⱼ of masses (k,), kg, at the parameters `u`, and the same with their polar inertia, kg·m²."""
    first, rows = shape.basis(u, shape.span_count(n, closed), closed)
    masses = Masses(rows=n)
    for p in range(4):
        place = (first + p) % n
        for k in range(4 - p):
            product = rows[:, 0, p] * rows[:, 0, p + k]
            np.add.at(masses.mass[:, k], place, mass * product)
            np.add.at(masses.roll[:, k], place, inertia * product)
        np.add.at(masses.total, place, mass * rows[:, 0, p])
    return masses


def _patch_weights(span: IntArray, slopes: FloatArray, n: int) -> FloatArray:
    """Weights w_k of the stretching points with Σ_k w_k N′_i(u_k) = N_i(end) − N_i(start) for every control point i.

    Then a tension that is the same everywhere balances end forces exactly, as in a rod that is pulled straight (the
    patch test); Gauss's weights leave ripples of 15 % next to the ends. There are n − 1 points and as many independent
    equations, since the N′ sum to zero.
    """
    rows = (span[:, None] + np.arange(4)).ravel()
    columns = np.repeat(np.arange(len(span)), 4)
    kept = rows < n - 1  # the last equation follows from the others
    ends = np.zeros(n - 1)
    ends[0] = -1.0
    if n <= _LARGEST_DENSE:
        dense = np.zeros((n - 1, n - 1))
        dense[rows[kept], columns[kept]] = slopes.ravel()[kept]
        return np.asarray(np.linalg.solve(dense, ends))
    from scipy.sparse import csc_matrix  # here, because it takes long to import and most rods are shorter
    from scipy.sparse.linalg import splu

    matrix = csc_matrix((slopes.ravel()[kept], (rows[kept], columns[kept])), shape=(n - 1, n - 1))
    return np.asarray(splu(matrix).solve(ends))
