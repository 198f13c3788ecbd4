"""Walls of tubes: distances against formulas of their own, and against places on the surface."""

from __future__ import annotations

import numpy as np
import pytest

from sennit.geometry.shapes import Cylinder
from sennit.geometry.tubes import Tubes
from tests.unit.test_shapes import TURN, points

R, HALF = 0.5, 0.8
AXIS = np.array(((0, 0, -HALF), (0, 0, HALF)), float)


def pipe(open_ends: bool = True, pose=TURN) -> Tubes:
    return Tubes([AXIS], [np.full(2, R)], open_ends, pose)


def test_a_straight_pipe() -> None:
    """Its wall is a ring as thick as its bore's radius, with half round ends: a stadium in a plane through the axis."""
    places = np.concatenate((points(300), points(300, 0.4)))
    rho, z = np.hypot(places[:, 0], places[:, 1]), places[:, 2]
    wall = 0.5 * R
    expected = np.hypot(rho - R - wall, np.maximum(np.abs(z) - HALF, 0.0)) - wall
    distances = pipe().signed_distance(TURN @ places)
    np.testing.assert_allclose(distances, expected, atol=1e-14)
    feet, normals = pipe().closest(TURN @ places)
    np.testing.assert_allclose(TURN @ places, feet + distances[:, None] * normals, atol=1e-14)
    np.testing.assert_allclose(pipe().signed_distance(feet), 0.0, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-14)


def test_inside_it_is_a_cylinder_the_other_way_round() -> None:
    inside = points(200, 0.4)
    long = Cylinder(R, 1e3, TURN)
    np.testing.assert_allclose(pipe().signed_distance(TURN @ inside), -long.signed_distance(TURN @ inside), atol=1e-13)


def test_closed_ends_are_half_balls() -> None:
    deep = np.array(((0.1, 0.2, HALF + 0.2), (0.0, 0.0, -HALF - 0.3), (0.0, 0.0, HALF + 0.7)))
    ends = np.array(((0, 0, HALF), (0, 0, -HALF), (0, 0, HALF)))
    expected = R - np.linalg.norm(deep - ends, axis=1)
    np.testing.assert_allclose(pipe(False).signed_distance(TURN @ deep), expected, atol=1e-14)


def test_where_tubes_meet_the_wider_way_counts() -> None:
    """The bore of the union is the union of the bores: gaps are the largest of both."""
    arm = np.array(((0, 0, 0), (2.0, 0, 0)), float)
    both, other = Tubes([AXIS, arm], [np.full(2, R), np.full(2, 0.3)], True), Tubes([arm], [np.full(2, 0.3)], False)
    places = points(800, 0.8)
    rho = np.hypot(places[:, 0], places[:, 1])
    t = np.clip(places[:, 0], 0.0, 2.0)
    away = np.hypot(np.hypot(places[:, 1], places[:, 2]), places[:, 0] - t)
    gaps = np.maximum(R - rho, 0.3 - away)
    held = (np.abs(places[:, 2]) < HALF) & (gaps > 0.0)
    assert held.sum() > 100
    np.testing.assert_allclose(both.signed_distance(places)[held], gaps[held], atol=1e-14)
    assert both._parts.opens.tolist() == [3, 2]  # the arm begins inside the other tube
    assert other._parts.opens.tolist() == [0]


def test_the_distance_is_continuous_and_never_steeper_than_the_way() -> None:
    bend = np.array(((0, 0, -1), (0, 0, 0), (0.7, 0, 0.7), (1.5, 0, 0.7)), float)
    shape = Tubes([bend, np.array(((0, 0, 0), (-0.6, 0.2, 0.9)), float)], [np.full(4, 0.3), np.full(2, 0.2)], True)
    rng = np.random.default_rng(3)
    places = rng.uniform((-1, -1, -1.5), (2, 1, 1.5), (4000, 3))
    step = 1e-3 * rng.standard_normal(places.shape)
    change = np.abs(shape.signed_distance(places + step) - shape.signed_distance(places))
    assert (change <= np.linalg.norm(step, axis=1) * (1 + 1e-9)).all()


def test_a_widening_bore_is_a_cone() -> None:
    """Distance and normal are those of the cone within, by a plane through the axis."""
    shape = Tubes([AXIS], [np.array((0.3, 0.7))], True)
    slope = np.arctan2(0.4, 2 * HALF)
    places = points(400, 0.15)
    rho = np.hypot(places[:, 0], places[:, 1])
    expected = (0.5 + np.tan(slope) * places[:, 2] - rho) * np.cos(slope)
    np.testing.assert_allclose(shape.signed_distance(places), expected, atol=1e-14)
    d, normals = shape.signed_distance(places), shape.closest(places)[1]
    np.testing.assert_allclose(normals[:, 2], np.sin(slope), atol=1e-14)
    h = 1e-6
    for k in range(3):
        ahead = shape.signed_distance(places + h * np.eye(3)[k])
        np.testing.assert_allclose((ahead - d) / h, normals[:, k], atol=1e-4)


@pytest.mark.parametrize("open_ends", [True, False])
def test_clearance_says_who_is_outside(open_ends) -> None:
    shape = pipe(open_ends)
    places = TURN @ np.array(((0, 0, 0), (0.4, 0, 0.1), (0.6, 0, 0), (3.0, 0, 0), (0, 0, 2.0)), float)
    expected = [R, 0.1, -0.1, -2.5, np.inf if open_ends else R - (2.0 - HALF)]
    np.testing.assert_allclose(shape.clearance(places), expected, atol=1e-14)


def test_nothing_of_a_bent_tube_is_in_front_of_its_open_end() -> None:
    """With parts far shorter than the bore is wide: there the wall is the rim alone, as of a straight pipe."""
    angle = np.linspace(0.0, 0.5 * np.pi, 91)
    bent = Tubes([3.0 * np.column_stack((np.sin(angle), 0 * angle, np.cos(angle)))], [np.full(91, R)], True)
    rng = np.random.default_rng(5)
    places = np.array((3.0, 0, 0)) + rng.uniform((-1.2, -1.2, -2.0), (1.2, 1.2, 0.0), (400, 3))
    turn = 0.25 * np.pi / 90  # half of the angle of a chord: of the last part against the z axis
    end = np.array((np.sin(turn), 0, -np.cos(turn)))
    way = places - (3.0, 0, 0)
    ahead = way @ end
    rho = np.linalg.norm(way - ahead[:, None] * end, axis=1)
    front = ahead > 0.0
    rim = np.hypot(ahead, rho - 1.5 * R) - 0.5 * R
    assert front.sum() > 300
    np.testing.assert_allclose(bent.signed_distance(places)[front], rim[front], atol=1e-12)
