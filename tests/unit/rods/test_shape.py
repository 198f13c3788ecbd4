"""Basis functions, control points, rest length along a curve and the frames at the start."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import BSpline

import sennit as sn
from sennit.bodies.rod.spline import shape
from sennit.bodies.rod.spline.kernels.basis import spline_basis
from sennit.bodies.rod.spline.model import SPLINE
from sennit.errors import InputError

SECTION = sn.Section.rectangle(0.02, 0.01)
MATERIAL = sn.Material(1e7, 0.4, 1000.0, relaxation_time=0.02)


def helix(angle, radius=0.3, rise=0.1):
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle), rise * angle))


def loop(angle):
    return np.column_stack((np.cos(angle), 0.8 * np.sin(angle), 0.4 * np.sin(2.0 * angle)))


@pytest.mark.parametrize("n", [4, 5, 6, 9])
def test_open_basis_is_the_bspline_of_piled_up_knots(n):
    spans = n - 3
    knots = np.clip(np.arange(n + 4) - 3.0, 0.0, spans)
    points = np.random.default_rng(1).standard_normal((n, 3))
    reference = BSpline(knots, points, 3)
    u = np.concatenate((np.linspace(0.0, spans, 101), np.arange(spans + 1.0)))
    found = shape.curve(points, False, u)
    for derivative in range(3):
        assert np.allclose(found[:, derivative], reference(u, derivative), rtol=0.0, atol=1e-12 * 4.0**derivative)
    assert np.array_equal(found[100, 0], points[-1]) and np.array_equal(found[0, 0], points[0])


@pytest.mark.parametrize("closed", [False, True])
def test_basis_sums_to_one_and_its_derivatives_to_zero(closed):
    spans = 7
    u = np.linspace(0.0, spans, 200)
    first, rows = shape.basis(u, spans, closed)
    assert np.allclose(np.sum(rows, axis=2), (1.0, 0.0, 0.0), rtol=0.0, atol=2e-14)
    assert np.array_equal(first[:-1], np.floor(u[:-1])) and first[-1] == (0 if closed else spans - 1)
    h = 1e-5
    inside = (u % 1.0 > 2 * h) & (u % 1.0 < 1.0 - 2 * h)
    after, before = (shape.basis(u[inside] + step, spans, closed)[1] for step in (h, -h))
    assert np.allclose((after - before)[:, :2] / (2.0 * h), rows[inside, 1:], rtol=0.0, atol=1e-8)


def test_closed_basis_goes_round_and_is_smooth_across_the_seam():
    spans, row, other = 8, np.empty(12), np.empty(12)
    assert spline_basis(8.3, spans, 1, row) == spline_basis(0.3, spans, 1, other) == 0
    assert np.allclose(row, other, atol=1e-14)
    assert spline_basis(-0.25, spans, 1, row) == 7
    points = np.random.default_rng(2).standard_normal((8, 3))
    at = shape.curve(points, True, (8.0 - 1e-9, 0.0, 8.0))
    assert np.allclose(at[0], at[1], atol=1e-7) and np.allclose(at[2], at[1], atol=1e-13)


@pytest.mark.parametrize("n", [4, 5, 11])
def test_straight_rods_have_constant_speed(n):
    points = shape.straight_points((1.0, 2.0, 3.0), (2.0, 0.0, 5.0), n)
    found = shape.curve(points, False, np.linspace(0.0, n - 3.0, 50))
    assert np.allclose(found[:, 1], np.array((1.0, -2.0, 2.0)) / (n - 3.0), rtol=0.0, atol=1e-14)
    assert np.allclose(found[:, 2], 0.0, atol=1e-13)
    knots = shape.knot_lengths(points, False)
    assert np.allclose(knots, 3.0 * np.arange(n - 2.0) / (n - 3.0), rtol=1e-14)


@pytest.mark.parametrize("closed", [False, True])
def test_length_and_its_inverse(closed):
    n = 9
    rng = np.random.default_rng(3)
    points = helix(np.linspace(0.0, 3.0, n)) if not closed else loop(np.linspace(0.0, 2.0 * np.pi, n, endpoint=False))
    points = points + 0.05 * rng.standard_normal((n, 3))
    knots = shape.knot_lengths(points, closed)
    spans = len(knots) - 1

    def speed(u):
        return float(np.linalg.norm(shape.curve(points, closed, u)[0, 1]))

    whole = sum(quad(speed, e, e + 1, epsabs=1e-13, epsrel=1e-13)[0] for e in range(spans))
    assert knots[-1] == pytest.approx(whole, rel=1e-12)
    s = np.concatenate((np.linspace(0.0, knots[-1], 77), knots))
    u = shape.parameter_at(points, closed, knots, s)
    assert np.all((u >= 0.0) & (u <= spans))
    assert np.allclose(shape.length_at(points, closed, knots, u), s, rtol=0.0, atol=1e-14 * knots[-1])
    assert np.allclose(u[77:], np.arange(spans + 1), rtol=0.0, atol=1e-12)
    part = quad(speed, 0.0, 1.0, epsabs=1e-13)[0] + quad(speed, 1.0, 1.7, epsabs=1e-13)[0]
    assert shape.length_at(points, closed, knots, 1.7)[0] == pytest.approx(part, rel=1e-12)
    one_by_one = [shape.length_at(points, closed, knots, place)[0] for place in u]  # a way of its own
    assert np.allclose(one_by_one, shape.length_at(points, closed, knots, u), rtol=0.0, atol=1e-15 * knots[-1])


def test_fitted_curve_of_many_points_converges_with_order_four_and_constant_speed():
    angle = np.linspace(0.0, 4.0, 400)
    errors = []
    for n in (11, 19):
        points = shape.fitted_points(helix(angle), n)
        assert np.allclose(points[[0, -1]], helix(angle[[0, -1]]), rtol=0.0, atol=1e-15)
        u = np.linspace(0.0, n - 3.0, 500)
        found = shape.curve(points, False, u)
        errors.append(np.max(np.linalg.norm(found[:, 0] - helix(u * 4.0 / (n - 3.0)), axis=1)))
        speeds = np.linalg.norm(found[:, 1], axis=1)
        assert np.ptp(speeds) < 0.01 * np.mean(speeds)
    assert errors[1] < 3e-5 and math.log(errors[0] / errors[1]) / math.log(2.0) > 3.5


@pytest.mark.parametrize("repeat", [False, True])
def test_fitted_closed_curve(repeat):
    angle = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    points = loop(angle)
    if repeat:
        points = np.concatenate((points, points[:1]))
    control = shape.fitted_points(points, 40, closed=True)
    assert control.shape == (40, 3)
    u = np.linspace(0.0, 40.0, 4000)
    found = shape.curve(control, True, u)
    nearest = np.min(np.linalg.norm(found[:, 0][:, None] - points, axis=2), axis=0)
    assert np.max(nearest) < 2e-3  # half of the distance between samples is 8e-4
    speeds = np.linalg.norm(found[:, 1], axis=1)
    assert np.ptp(speeds) < 0.005 * np.mean(speeds)


def test_fitted_curve_goes_through_few_points():
    points = np.array(((0.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.0, 0.0, 1.0), (3.0, 0.0, 0.0)))
    control = shape.fitted_points(points, 30)
    found = shape.curve(control, False, np.linspace(0.0, 27.0, 20001))[:, 0]
    assert np.max(np.min(np.linalg.norm(found[:, None] - points, axis=2), axis=0)) < 3e-4
    line = shape.fitted_points(((0.0, 0.0, 0.0), (1.0, 2.0, 2.0)), 6)
    assert np.allclose(line, shape.straight_points((0.0, 0.0, 0.0), (1.0, 2.0, 2.0), 6), atol=1e-14)


def test_bad_points_are_named():
    with pytest.raises(InputError, match="points 1 and 2 coincide"):
        shape.fitted_points(((0, 0, 0), (1, 0, 0), (1, 0, 0), (2, 0, 0)), 8)
    with pytest.raises(InputError, match="2 different points"):
        shape.fitted_points(((0, 0, 0),), 8)
    with pytest.raises(InputError, match="7 control points"):
        SPLINE.tables(np.eye(6)[:, :3], SECTION, MATERIAL, closed=True)
    back = np.array(((0, 0, 0), (1, 0, 0), (1, 0, 0), (0, 0, 0)), float)
    with pytest.raises(InputError, match="tangent"):
        SPLINE.tables(back, SECTION, MATERIAL)


# --------------------------------------------------------------------------------------------------- frames and tables


def test_start_frames_of_a_helix_turn_back_by_its_torsion():
    """Against Frenet's normal the carried vector turns by −τ s: the closed form of parallel transport on a helix."""
    radius, rise, n = 0.3, 0.1, 60
    points = shape.fitted_points(helix(np.linspace(0.0, 5.0, 2000), radius, rise), n)
    u = np.linspace(0.0, n - 3.0, 40)
    t, u1, m = shape.start_frames(points, False, u)
    assert m == 0.0
    angle = u * 5.0 / (n - 3.0)
    normal = np.column_stack((-np.cos(angle), -np.sin(angle), np.zeros_like(angle)))
    seen = np.unwrap(np.arctan2(np.sum(np.cross(normal, u1) * t, axis=1), np.sum(normal * u1, axis=1)))
    torsion = rise / (radius**2 + rise**2)
    s = angle * math.hypot(radius, rise)
    assert np.allclose(seen - seen[0], -torsion * s, rtol=0.0, atol=2e-5)


def test_first_frame_follows_up():
    for tangent, up, d2 in (
        ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
        ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
        ((1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0)),
    ):
        points = shape.straight_points((0, 0, 0), tangent, 6)
        t, u1, _ = shape.start_frames(points, False, np.array((0.5, 2.5)), up)
        assert np.allclose(np.cross(t, u1), d2, atol=1e-14)


def test_closed_frames_close():
    points = shape.fitted_points(loop(np.linspace(0.0, 2.0 * np.pi, 300, endpoint=False)), 30, closed=True)
    h = 1e-3
    t, u1, m = shape.start_frames(points, True, np.array((h, 15.0, 15.0 + h, 30.0 - h)))
    assert abs(m) > 1e-3
    # Across the seam and inside: the same turn about t, m times the distance.
    for a, b, way in ((3, 0, 2.0 * h), (1, 2, h)):
        seen = np.cross(t[a], u1[a]) @ u1[b]
        assert seen == pytest.approx(m * way, abs=3e-8)
    flat = np.array(points)
    flat[:, 2] = 0.0
    assert shape.start_frames(flat, True, np.array((1.0, 2.0)))[2] == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("closed", [False, True])
def test_tables(closed):
    n = 16
    points = loop(np.linspace(0.0, 2.0 * np.pi, n, endpoint=False)) if closed else helix(np.linspace(0.0, 3.0, n))
    tables = SPLINE.tables(points, SECTION, MATERIAL, closed=closed)
    spans = n if closed else n - 3
    assert (tables.spans, len(tables.bend_u), len(tables.stretch_u)) == (spans, 2 * spans, spans + (0 if closed else 2))
    for table, u in ((tables.bends, tables.bend_u), (tables.stretches, tables.stretch_u)):
        assert np.sum(table.weight) == pytest.approx(spans)
        assert np.all(np.diff(u) > 0.0)
    mass = SECTION.area * MATERIAL.density * tables.length
    inertia = (SECTION.I1 + SECTION.I2) * MATERIAL.density * tables.length
    masses = tables.masses
    assert np.sum(masses.mass.sum(axis=0) * (1, 2, 2, 2)) == pytest.approx(mass, rel=1e-9)
    assert np.sum(masses.roll.sum(axis=0) * (1, 2, 2, 2)) == pytest.approx(inertia, rel=1e-9)
    assert np.sum(masses.total) == pytest.approx(mass, rel=1e-9)
    # A row: the moment of a hat-like N about the origin is that of its mass.
    for i in (0, 5, n - 1):
        around = sum(masses.mass[i, k] + masses.mass[(i - k) % n, k] for k in range(1, 4))
        assert masses.mass[i, 0] + around == pytest.approx(masses.total[i], rel=1e-12)
    assert (tables.bends.relaxation == 0.02).all() and tables.rods.length[0] == tables.length


def test_rest_strains():
    points = helix(np.linspace(0.0, 3.0, 12))
    own = SPLINE.tables(points, SECTION, MATERIAL)
    assert np.array_equal(own.bends.rest, own.bend.strain)
    assert np.allclose(np.hypot(*own.bend.strain[6:-6, :2].T), 3.0, rtol=0.02)  # R/(R² + c²)
    straight = SPLINE.tables(points, SECTION, MATERIAL, straight=True, rest_twist=0.5)
    assert np.array_equal(straight.bends.rest, np.tile((0.0, 0.0, 0.5), (18, 1)))
    assert np.array_equal(straight.bends.speed, own.bends.speed)
    given = SPLINE.tables(points, SECTION, MATERIAL, rest_curvature=lambda s: (s, 2.0), rest_twist=0.25)
    s = shape.length_at(points, False, own.knot_lengths, own.bend_u)
    assert np.allclose(given.bends.rest, np.column_stack((s, 0.0 * s + 2.0, 0.0 * s + 0.25)))
    full = SPLINE.tables(points, SECTION, MATERIAL, rest_curvature=(1.0, 2.0, 3.0))
    assert np.array_equal(full.bends.rest[3], (1.0, 2.0, 3.0))
    assert len(SPLINE.tables(points, SECTION, MATERIAL, bending_points=3).bend_u) == 27
    with pytest.raises(InputError, match="not both"):
        SPLINE.tables(points, SECTION, MATERIAL, straight=True, rest_curvature=(0, 0))
