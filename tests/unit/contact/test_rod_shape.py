"""Contacts of rods with shapes, against signed distances along densely sampled curves, in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from unit.contact.ropes import Ropes, rod_along
from unit.contact.shapes_of_rods import ring, smooth

import sennit as sn
from sennit.bodies.kernels.points import RIGID, WORLD
from sennit.contact.table import Contacts
from sennit.geometry.shapes import Cylinder, HeightField

R = 0.01
"""Radius of most rods, m."""
SPANS = 20


def straight(z, *, y=0.0, model="spline", start=0.0, length=1.0, spans=SPANS):
    """A rod along x."""
    return rod_along([(start, y, z), (start + length, y, z)], R, spans, model=model)


def upright(x, radius, *, z=0.0, length=4.0):
    """A cylinder along y through (x, 0, z)."""
    return Cylinder(radius, length, sn.Pose((x, 0, z), (np.sqrt(0.5), np.sqrt(0.5), 0, 0)))


def at(rows):
    return np.array([float(row["first_at"]) for row in rows])


@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_a_rope_on_a_plane_touches_once_a_span(model):
    floor = sn.Plane((0, 0, 0), (0, 0, 1))
    ropes = Ropes([straight(1.1 * R, model=model)], shapes=[floor], margin=0.2 * R)
    rows = ropes.found_on_shapes()
    np.testing.assert_allclose(at(rows), np.arange(SPANS + 1.0))
    for row in rows:
        np.testing.assert_allclose(row["normal"], (0, 0, 1), atol=1e-12)
        assert row["gap"] == pytest.approx(0.1 * R) and row["law"] == 1 and row["at_start"] == 0
        assert (row["second_kind"], row["second"], row["second_shape"]) == (WORLD, -1, 0)
        assert row["first_feature"] == 2 * round(float(row["first_at"]))
        np.testing.assert_allclose(row["first_place"][2], 0.1 * R)
        np.testing.assert_allclose(row["second_place"], row["first_place"] - (0, 0, 0.1 * R), atol=1e-12)
    ropes.shapes.rigid[0] = 3
    assert {(row["second_kind"], row["second"]) for row in map(ropes.row, range(ropes.rod_shape()))} == {(RIGID, 3)}
    assert not Ropes([straight(1.3 * R, model=model)], shapes=[floor], margin=0.2 * R).found_on_shapes()


def test_a_ring_on_a_plane_touches_once_a_span():
    """Closed: as many contacts as spans. Where it stands upright, one, wherever its seam is."""
    floor = sn.Plane((0, 0, 0), (0, 0, 1))
    flat = Ropes([rod_along(ring(0.2, (0, 0, R)), R, 24, closed=True)], shapes=[floor], margin=0.1 * R)
    assert len(flat.found_on_shapes()) == 24
    standing = rod_along(ring(0.2, (0, 0, 0.2 + R), normal=0), R, 24, closed=True)
    for turn in np.linspace(0.0, 2 * np.pi, 49):
        ropes = Ropes([standing], shapes=[floor], margin=0.02 * R)
        points = ropes[0][:, :3] - (0, 0, 0.2 + R)
        c, s = np.cos(turn), np.sin(turn)
        ropes[0][:, 1], ropes[0][:, 2] = c * points[:, 1] - s * points[:, 2], s * points[:, 1] + c * points[:, 2]
        ropes[0][:, 2] += 0.2 + R
        rows = ropes.found_on_shapes()
        assert len(rows) == 1, turn
        lowest = ropes.curve(0, np.linspace(0, 24, 4801))[:, 2].min() - R
        assert row_gap(rows) == pytest.approx(lowest, abs=0.021 * R)
        ropes.sides["spline"].margin[:] = 0.4 * R  # as far as the knots beside it, across the seam too
        u = at(ropes.found_on_shapes())
        way = np.abs(u[:, None] - u[None]) + 24.0 * np.eye(len(u))
        assert np.minimum(way, np.where(way < 24, 24 - way, 24)).min() > 0.59


def row_gap(rows):
    return min(float(row["gap"]) for row in rows)


@pytest.mark.parametrize("model", ["spline", "discrete"])
@pytest.mark.parametrize("x", [0.5, 0.5125, 0.525, 0.537, 0.01, 0.9999])
def test_a_thin_cylinder_between_two_knots_is_found(model, x):
    """A needle across a rope, anywhere along a span: one contact, at the needle."""
    needle = upright(x, 0.1 * R)
    ropes = Ropes([straight(1.05 * R, model=model)], shapes=[needle], margin=0.1 * R)
    (row,) = ropes.found_on_shapes()
    assert row["first_at"] == pytest.approx(SPANS * x, abs=0.05)
    assert row["gap"] == pytest.approx(-0.05 * R, abs=0.01 * R)
    np.testing.assert_allclose(row["normal"], (0, 0, 1), atol=0.3)


def test_edges_of_boxes_and_small_spheres_are_found():
    """A rope across the edge of a table: nowhere deeper than at a contact, but for the tolerance."""
    rng = np.random.default_rng(1)
    for case in range(60):
        ball = case % 2 == 1
        if ball:
            shape = sn.Sphere(rng.normal(0, 0.05, 3), rng.uniform(0.2, 3.0) * R)
        else:
            shape = sn.Box((0.3, 0.4, 0.2), sn.Pose(rng.normal(0, 0.05, 3)))
        ropes = Ropes([rod_along(smooth(rng, 0.8, 2), R, 16)], shapes=[shape], margin=0.1 * R)
        u = np.linspace(0, 16, 16 * 64 + 1)
        x = ropes.curve(0, u) - shape.pose.position
        if ball:
            d = np.linalg.norm(x, axis=1) - shape.radius
        else:
            q = np.abs(x) - 0.5 * np.array(shape.size)
            d = np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)
        rows = ropes.found_on_shapes()
        deep = d < R
        if d.min() < R:
            assert rows
            # overlaps that do not lie within the shape, each with a contact as deep
            if d.min() > 0:
                assert row_gap(rows) == pytest.approx(d.min() - R, abs=0.025 * R)
        for place in u[deep]:
            assert np.min(np.abs(at(rows) - place)) < 1.6  # knots within 0.6 of a minimum are left out
        assert np.diff(np.sort(at(rows))).min(initial=1.0) > 0.39


def test_one_contact_a_span_around_a_cylinder():
    """A rope wound on a drum."""
    angle = np.linspace(0, 3 * np.pi, 300)
    drum = 0.1
    helix = np.stack(((drum + R) * np.cos(angle), 0.02 * angle, (drum + R) * np.sin(angle)), axis=-1)
    for spans in (24, 40, 80):
        rows = Ropes([rod_along(helix, R, spans)], shapes=[upright(0, drum)], margin=0.1 * R).found_on_shapes()
        assert len(rows) == spans + 1
        normals = np.array([row["normal"] for row in rows])
        places = np.array([row["second_place"] for row in rows])
        np.testing.assert_allclose(normals[:, [0, 2]], places[:, [0, 2]] / drum, atol=1e-9)


@pytest.mark.parametrize("model", ["spline", "discrete"])
def test_free_flight_and_the_side_of_the_start(model):
    """Measured at free flight; if the normal turns, because the rope flies through a slab, at the start."""
    slab = sn.Box((4, 4, 0.04))
    ropes = Ropes([straight(0.02 + 1.5 * R, model=model)], shapes=[slab], margin=0.2)
    flown = ropes.q.copy()
    height = flown.reshape(-1, 4)[:, 2]
    height -= R
    rows = ropes.found_on_shapes(flown)
    assert len(rows) == SPANS + 1
    assert all(row["at_start"] == 0 and row["gap"] == pytest.approx(-0.5 * R) for row in rows)
    height -= 0.1
    for row in ropes.found_on_shapes(flown):
        assert row["at_start"] == 1 and row["gap"] == pytest.approx(0.5 * R)
        np.testing.assert_allclose(row["normal"], (0, 0, 1), atol=1e-12)


def test_shapes_that_move():
    """A slab that comes up: candidates where it was, measured where it comes to; poses are left as they were."""
    slab = sn.Box((4, 4, 0.04))
    ropes = Ropes([straight(0.02 + 1.5 * R)], shapes=[slab], margin=R)
    ropes.shapes.shapes.place[0, 2] = 1.2 * R
    rows = ropes.found_on_shapes()
    assert len(rows) == SPANS + 1
    for row in rows:
        assert row["at_start"] == 0 and row["gap"] == pytest.approx(-0.7 * R)
        assert row["second_place"][2] == pytest.approx(0.02 + 1.2 * R)
    assert ropes.shapes.shapes.place[0, 2] == 1.2 * R and ropes.shapes.place_before[0, 2] == 0.0
    ropes.shapes.place_before[0, 2], ropes.shapes.shapes.place[0, 2] = -2 * R, 0.0
    assert not ropes.found_on_shapes()  # too far away when the step began
    ropes.shapes.margin[0] = 2 * R
    assert len(ropes.found_on_shapes()) == SPANS + 1


def test_laws_ties_and_full_tables():
    floor = sn.Plane((0, 0, 0), (0, 0, 1))
    far = sn.Sphere((0.5, 0, -1), 0.5)
    ropes = Ropes([straight(R)], shapes=[floor, far], margin=0.1 * R, ties=[(0, 10.0, 1, 0.0, 0.101)])
    assert [f for f in at(ropes.found_on_shapes()) if abs(f - 10) < 2.5] == []
    ties = [(1, 0.0, 0, 10.0, 0.101)]
    assert len(Ropes([straight(R)], shapes=[floor], margin=0.1 * R, ties=ties).found_on_shapes()) == SPANS + 1 - 5
    ropes = Ropes([straight(R)], shapes=[floor], margin=0.1 * R)
    assert ropes.rod_shape(contacts=Contacts(rows=3)) == SPANS + 1
    assert ropes.rod_shape(contacts=Contacts(rows=40), count=7) == SPANS + 8
    ropes.colliders.law[...] = 0
    assert not ropes.found_on_shapes()


def test_a_bump_of_a_height_field_between_two_knots_is_found():
    """A ridge a third of a span wide across the rope, which lies flat on both sides of it."""
    x = np.linspace(-0.5, 0.5, 201)
    heights = np.where(np.abs(x - 0.02) < 0.011, 0.5 * R, 0.0)[:, None] * np.ones((1, 5))
    field = HeightField(heights, (1.0, 1.0))
    ropes = Ropes([straight(R, start=-0.4, length=0.8)], shapes=[field], margin=0.1 * R)
    rows = ropes.found_on_shapes()
    assert row_gap(rows) < -0.4 * R
    ridge = min(rows, key=lambda row: row["gap"])
    assert abs(-0.4 + 0.04 * ridge["first_at"] - 0.02) < 0.012
