"""Energies and fields of known curves: helix, ring, hanging rope; and the twist that a closed rod keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sennit.bodies.rod.spline import fields, shape
from sennit.bodies.rod.spline.model import SPLINE

RADIUS, RISE, TURN = 0.3, 0.1, 5.0
CURVATURE, TORSION = RADIUS / (RADIUS**2 + RISE**2), RISE / (RADIUS**2 + RISE**2)
LENGTH = TURN * math.hypot(RADIUS, RISE)

FRAME = "tangent", "reference", "bending", "twist"


def helix(angle):
    return np.column_stack((RADIUS * np.cos(angle), RADIUS * np.sin(angle), RISE * angle))


def helix_points(n):
    return shape.fitted_points(helix(np.linspace(0.0, TURN, 3000)), n)


def frenet_roll(tables):
    """Roll that puts d1 on the helix's normal: from the carried frame it turns by the torsion."""
    t, u1, _ = shape.start_frames(tables.rest[:, :3], False, np.array((1e-9,)))
    normal = np.array((-1.0, 0.0, 0.0))
    start = math.atan2(np.cross(u1[0], normal) @ t[0], u1[0] @ normal)
    return start + TORSION * LENGTH * shape.greville(tables.n, False) / tables.spans


def test_helix_energy_and_its_stress_free_twin(posed, slender):
    section, material = slender(1e4)
    errors = []
    for n in (15, 27):
        tables = SPLINE.tables(helix_points(n), section, material, straight=True)
        rod = posed(tables)
        stretch, bend, twist = rod.energy()
        assert stretch == pytest.approx(0.0, abs=1e-20) and twist == pytest.approx(0.0, abs=1e-20)
        errors.append(abs(bend / (0.5 * CURVATURE**2 * LENGTH) - 1.0))
        q = tables.rest.copy()
        q[:, 3] = frenet_roll(tables)
        rod.move(q)
        assert rod.energy()[2] == pytest.approx(0.5 / 1.3 * TORSION**2 * LENGTH, rel=1e-4)
        # With d1 on the normal κ2 is all the curvature, and τ the torsion: nothing is left of the energy.
        twin = posed(SPLINE.tables(helix_points(n), section, material, rest_curvature=(0.0, CURVATURE, TORSION)), q)
        errors.append(sum(twin.energy()) / bend)
    assert errors[0] < 4e-3 and errors[2] < 2e-4 and errors[1] < 1e-3 and errors[3] < 1e-5


def test_ring(posed, slender):
    section, material = slender(1e4)
    angle = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    tables = SPLINE.tables(
        shape.fitted_points(np.column_stack((np.cos(angle), np.sin(angle), 0.0 * angle)), 24, closed=True),
        section, material, closed=True, straight=True,
    )  # fmt: skip
    rod = posed(tables)
    assert tables.length == pytest.approx(2.0 * math.pi, rel=1e-4)
    assert rod.energy()[1] == pytest.approx(math.pi, rel=2e-4)
    assert fields.minimum_bend_radius(tables, tables.rest) == pytest.approx(1.0, rel=0.01)
    assert np.allclose(fields.curvatures(tables, tables.rest, tables.bend, fields.stations(tables, 9))[:, 2], 0.0)


def writhe(points, tangents):
    """Gauss's double integral over a closed curve; `tangents` are dr/du, u from 0 to 1."""
    apart = points[:, None] - points
    distance = np.linalg.norm(apart, axis=2) + np.eye(len(points))
    triple = np.einsum("abi,abi->ab", apart, np.cross(tangents[:, None], tangents[None]))
    return float(np.sum(triple / distance**3) / (4.0 * np.pi * len(points) ** 2))


def test_closed_rod_keeps_twist_plus_writhe(posed, slender):
    """Călugăreanu: (1/2π)∮m du + writhe is constant while the loop is bent out of its plane in large steps."""
    n = 64
    angle = np.linspace(0.0, 2.0 * np.pi, 600, endpoint=False)
    tables = None
    sums, writhes = [], []
    for bend in (0.0, 0.3, 0.6):
        curve = np.column_stack(
            (np.cos(angle) + 0.3 * bend * np.cos(2.0 * angle), np.sin(angle), bend * np.sin(2.0 * angle + 0.3))
        )
        points = shape.fitted_points(curve, n, closed=True)
        q = np.column_stack((points, np.zeros(n)))
        if tables is None:
            tables = SPLINE.tables(points, *slender(1e4), closed=True)
            rod = posed(tables)
        rod.move(q)
        u = np.linspace(0.0, n, 900, endpoint=False)
        found = shape.curve(points, True, u)
        writhes.append(writhe(found[:, 0], n * found[:, 1]))
        sums.append(float(tables.bends.weight @ rod.frames.twist) / (2.0 * np.pi) + writhes[-1])
    assert max(writhes) - min(writhes) > 0.05
    assert np.allclose(sums, 0.0, atol=5e-5)  # two Gauss points a span for the integral of m


# ------------------------------------------------------------------------------------------------------------ fields


def test_positions_and_stations_of_a_straight_rod(slender):
    tables = SPLINE.tables(shape.straight_points((0, 0, 0), (0, 3, 4), 9), *slender(1e4))
    u = fields.stations(tables, 11)
    assert np.allclose(fields.positions(tables, tables.rest, u), np.outer(np.linspace(0, 1, 11), (0, 3, 4)), atol=1e-12)
    assert np.allclose(fields.rest_length(tables, u), np.linspace(0.0, 5.0, 11), atol=1e-13)
    assert fields.minimum_bend_radius(tables, tables.rest) > 1e12
    assert np.allclose(fields.values_along(tables, np.ones((9, 2)), u), 1.0)


def test_frames_and_curvatures_of_the_helix(slender):
    n = 40
    tables = SPLINE.tables(helix_points(n), *slender(1e4))
    q = tables.rest.copy()
    q[:, 3] = frenet_roll(tables)
    u = fields.stations(tables, 101)
    angle = np.linspace(0.0, TURN, 101)
    found = fields.frames(tables, q, tables.bend, u)
    normal = np.column_stack((-np.cos(angle), -np.sin(angle), np.zeros(101)))
    tangent = np.column_stack((-RADIUS * np.sin(angle), RADIUS * np.cos(angle), 0.0 * angle + RISE))
    tangent /= math.hypot(RADIUS, RISE)
    wanted = np.stack((normal, np.cross(tangent, normal), tangent), axis=2)
    assert np.allclose(found, wanted, rtol=0.0, atol=2e-4)
    assert np.allclose(np.swapaxes(found, 1, 2) @ found, np.eye(3), rtol=0.0, atol=1e-14)
    strains = fields.curvatures(tables, q, tables.bend, u)[5:-5]
    assert np.allclose(strains, (0.0, CURVATURE, TORSION), rtol=0.0, atol=0.01 * CURVATURE)


@pytest.mark.parametrize("closed", [False, True])
def test_frames_between_points_converge_where_the_reference_twists(posed, slender, closed):
    """Carried to another shape m is not zero; between the points the frame must be the one carried there on its own."""
    angle = np.linspace(0.0, 2.0 * np.pi if closed else 4.0, 800, endpoint=not closed)
    first = np.column_stack((np.cos(angle), np.sin(angle), 0.0 * angle))
    then = np.column_stack((np.cos(angle), np.sin(angle), 0.4 * np.sin(2.0 * angle) + 0.1 * np.cos(angle)))
    errors = []
    for n in (15, 27):
        tables = SPLINE.tables(shape.fitted_points(first, n, closed=closed), *slender(1e4), closed=closed)
        q = np.column_stack((shape.fitted_points(then, n, closed=closed), np.zeros(n)))
        rod = posed(tables, q)
        assert np.max(np.abs(rod.frames.twist)) * n > 0.5
        u = np.linspace(0.0, tables.spans, 401)
        found = fields.references(tables, q, rod.frames, u)
        t, u1, _ = shape.start_frames(tables.rest[:, :3], closed, u)
        new = found[:, :3]
        mean = (t + new) / (1.0 + np.sum(t * new, axis=1))[:, None]
        wanted = u1 - np.sum(u1 * new, axis=1)[:, None] * mean
        errors.append(np.max(np.linalg.norm(found[:, 3:6] - wanted, axis=1)))
        at = fields.references(tables, q, rod.frames, tables.bend_u)
        assert np.allclose(at, np.column_stack([getattr(rod.frames, name) for name in FRAME]), rtol=0.0, atol=1e-12)
    assert errors[1] < 1e-3
    spans = (15, 27) if closed else (12, 24)
    assert math.log(errors[0] / errors[1]) / math.log(spans[1] / spans[0]) > 2.5


def test_tensions_of_a_linear_load(slender):
    """r with EA ε linear in s (a rope that hangs): quadratic in s, which the spline holds exactly."""
    EA, n = 1e4, 12
    tables = SPLINE.tables(shape.straight_points((0, 0, 0), (1, 0, 0), n), *slender(EA))
    s = np.linspace(0.0, 1.0, 200)
    stretched = s + (s - 0.5 * s * s) * 0.01  # ε = 0.01 (1 − s)
    matrix = shape.basis_matrix(s * tables.spans, n, False)
    q = tables.rest.copy()
    q[:, 0] = np.linalg.lstsq(matrix, stretched, rcond=None)[0]
    u = fields.stations(tables, 30)
    assert np.allclose(
        fields.tensions(tables, q, u), EA * 0.01 * (1.0 - np.linspace(0, 1, 30)), rtol=0.0, atol=1e-9 * EA
    )
    loop_angle = np.linspace(0.0, 2.0 * np.pi, 300, endpoint=False)
    circle = np.column_stack((np.cos(loop_angle), np.sin(loop_angle), 0.0 * loop_angle))
    ring = SPLINE.tables(shape.fitted_points(circle, 20, closed=True), *slender(EA), closed=True)
    grown = ring.rest * (1.01, 1.01, 1.01, 1.0)
    assert np.allclose(fields.tensions(ring, grown, fields.stations(ring, 50)), 0.01 * EA, rtol=1e-9)
