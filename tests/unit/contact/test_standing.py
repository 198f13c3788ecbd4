"""Points of contact of shapes that stand, lie, roll and slide on flat ground: closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from references.touching import box_mesh, touch

from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Box, Capsule, Cylinder, HeightField, Plane, Sphere

GROUNDS = {
    "plane": Plane((0, 0, 0), (0, 0, 1)),
    "box": Box((4.0, 4.0, 1.0), Pose((0, 0, -0.5))),
    "mesh": box_mesh((4.0, 4.0, 1.0), Pose((0, 0, -0.5))),
    "heights": HeightField(np.zeros((12, 9)), (4.0, 4.0)),
}
ground = pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)


def turned(axis: tuple[float, float, float], angle: float, place: Any = (0, 0, 0)) -> Pose:
    return Pose(place, (np.cos(0.5 * angle), *(np.sin(0.5 * angle) * np.array(axis))))


def same_places(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """Whether the places on the first shape are the expected ones, in any order."""
    places = found["first_place"]
    assert len(places) == len(expected)
    for place in np.atleast_2d(expected):
        assert np.linalg.norm(places - place, axis=1).min() < tolerance


@ground
@pytest.mark.parametrize("gap", [5e-3, 0.0, -1e-3])
def test_box_stands_on_four_corners(ground: Any, gap: float) -> None:
    """Within the margin too: a box that hovers at half of it."""
    found = touch(Box((1.0, 0.6, 0.4), Pose((0.11, 0.07, 0.2 + gap))), ground, 1e-2)
    same_places(found, [(0.11 + x, 0.07 + y, gap) for x in (-0.5, 0.5) for y in (-0.3, 0.3)])
    np.testing.assert_allclose(found["gap"], gap, atol=1e-12)
    np.testing.assert_allclose(found["normal"], [(0, 0, 1)] * 4, atol=1e-12)


@ground
def test_sphere_and_capsules(ground: Any) -> None:
    same_places(touch(Sphere((0.1, 0.2, 0.299), 0.3), ground, 1e-2), [(0.1, 0.2, -0.001)])
    lying = Capsule(0.3, 1.0, turned((1, 0, 0), np.pi / 2, (0.1, 0.2, 0.299)))
    same_places(touch(lying, ground, 1e-2), [(0.1, 0.7, -0.001), (0.1, -0.3, -0.001)])
    same_places(touch(Capsule(0.3, 1.0, Pose((0.1, 0.2, 0.799))), ground, 1e-2), [(0.1, 0.2, -0.001)])


@ground
def test_cylinder_stands_on_its_rim(ground: Any) -> None:
    """Four points of the rim, which turn with it."""
    for angle in (0.0, 0.4):
        found = touch(Cylinder(0.3, 1.0, turned((0, 0, 1), angle, (0.1, 0.2, 0.499))), ground, 1e-2)
        around = angle + np.pi / 2 * np.arange(4)
        same_places(found, np.stack([0.1 + 0.3 * np.cos(around), 0.2 + 0.3 * np.sin(around), np.full(4, -0.001)], 1))


@ground
@pytest.mark.parametrize("tilt", [1e-3, 0.1, 0.7, 0.8, 1.4])
def test_tilted_cylinder_touches_with_its_lowest_point(ground: Any, tilt: float) -> None:
    """r sin θ + (l/2) cos θ above the ground its middle touches, by the rim's lowest point."""
    height = 0.3 * np.sin(tilt) + 0.5 * np.cos(tilt)
    shape = Cylinder(0.3, 1.0, turned((0, 1, 0), tilt, (0.1, 0.2, height)))
    found = touch(shape, ground, 1e-2)
    deepest = found["gap"].argmin()
    assert found["gap"][deepest] == pytest.approx(0.0, abs=1e-12)
    lowest = (0.1 + 0.3 * np.cos(tilt) - 0.5 * np.sin(tilt), 0.2, 0.0)
    np.testing.assert_allclose(found["first_place"][deepest], lowest, atol=1e-9)
    np.testing.assert_allclose(found["normal"], [(0, 0, 1)] * len(found["gap"]), atol=1e-12)


@ground
def test_rolling_cylinder_touches_along_its_line(ground: Any) -> None:
    """Two points right below the axis at every angle, with the same features: no facets."""
    features = set()
    for angle in np.linspace(0.0, 7.0, 40):
        lie = Pose((0.3 * angle - 1.0, 0.2, 0.2999)) @ turned((0, 1, 0), angle) @ turned((1, 0, 0), np.pi / 2)
        found = touch(Cylinder(0.3, 1.0, lie), ground, 1e-3)
        x = 0.3 * angle - 1.0
        same_places(found, [(x, -0.3, -1e-4), (x, 0.7, -1e-4)], 1e-9)
        np.testing.assert_allclose(found["normal"], [(0, 0, 1)] * 2, atol=1e-12)
        features.add(tuple(sorted(found["feature"].tolist())))
    assert len(features) == 1


@pytest.mark.parametrize("kind", ["plane", "box", "mesh"])
def test_features_stay_while_a_box_slides(kind: str) -> None:
    """By small steps, with rounding and a little noise in its height and tilt."""
    rng = np.random.default_rng(0)
    features = set()
    for step in range(60):
        noise = turned((0.6, 0.8, 0.0), 1e-9 * rng.standard_normal())
        pose = Pose((-0.8 + 0.02 * step, 0.1 + 0.003 * step, 0.2 + 1e-9 * rng.standard_normal())) @ noise
        found = touch(Box((1.0, 0.6, 0.4), pose), GROUNDS[kind], 1e-3)
        features.add(tuple(sorted(found["feature"].tolist())))
        np.testing.assert_allclose(found["normal"], [(0, 0, 1)] * len(found["gap"]), atol=1e-8)
    assert len(features) == 1


def test_features_of_equal_boxes_in_a_stack_stay() -> None:
    """Corners over corners: rounding must not exchange those of the upper and of the lower box."""
    rng = np.random.default_rng(1)
    features = set()
    for _ in range(50):
        upper = Box((1.0, 1.0, 1.0), Pose(np.array((0, 0, 1.0)) + 1e-8 * rng.standard_normal(3)))
        found = touch(upper, Box((1.0, 1.0, 1.0)), 1e-3)
        assert len(found["gap"]) == 4
        features.add(tuple(sorted(found["feature"].tolist())))
    assert len(features) == 1


def test_box_that_sticks_out() -> None:
    """Over the rim of another box, turned: the corners of the common part of both faces."""
    upper = Box((1.0, 1.0, 1.0), turned((0, 0, 1), np.pi / 4, (0.5, 0.0, 0.999)))
    found = touch(upper, Box((1.0, 1.0, 1.0)), 1e-2)
    tip, rise = 0.5 - np.sqrt(0.5), np.sqrt(0.5)
    # The upper box's wide corners are beyond the lower face: its edges cross that one's, at y = ±1/2.
    expected = [(tip, 0.0, 0.499)] + [(x, y, 0.499) for x in (1.0 - rise, 0.5) for y in (-0.5, 0.5)]
    same_places(found, expected, 1e-9)


def test_crossed_edges_of_boxes() -> None:
    """Two edges at right angles: one point where they cross, normal across both."""
    lower = Box((1.0, 1.0, 1.0), turned((1, 0, 0), np.pi / 4))
    upper = Box((1.0, 1.0, 1.0), turned((0, 1, 0), np.pi / 4, (0.2, 0.1, 2 * np.sqrt(0.5) - 1e-3)))
    found = touch(upper, lower, 1e-2)
    deepest = found["gap"].argmin()
    np.testing.assert_allclose(found["first_place"][deepest], (0.2, 0.1 - 0.1, np.sqrt(0.5) - 1e-3), atol=1e-9)
    np.testing.assert_allclose(found["normal"][deepest], (0, 0, 1), atol=1e-9)
    assert found["gap"][deepest] == pytest.approx(-1e-3, abs=1e-12)


def test_cylinders_side_by_side_and_crossed() -> None:
    lie = turned((1, 0, 0), np.pi / 2)
    beside = Cylinder(0.2, 1.0, Pose((0.499, 0.3, 0)) @ lie)
    found = touch(beside, Cylinder(0.3, 1.0, lie), 1e-2)
    same_places(found, [(0.299, -0.2, 0), (0.299, 0.5, 0)], 1e-9)
    np.testing.assert_allclose(found["gap"], -1e-3, atol=1e-12)
    across = Cylinder(0.2, 1.0, Pose((0.1, 0.05, 0.499)) @ turned((0, 1, 0), np.pi / 2))
    found = touch(across, Cylinder(0.3, 1.0, lie), 1e-2)
    same_places(found, [(0.0, 0.05, 0.299)], 1e-9)


def test_cylinder_on_cylinder() -> None:
    """Stacked off their axes: rims cross, and points of each rim lie over the other."""
    found = touch(Cylinder(0.3, 1.0, Pose((0.1, 0.0, 0.999))), Cylinder(0.3, 1.0), 1e-2)
    np.testing.assert_allclose(found["gap"], -1e-3, atol=1e-12)
    across = np.sqrt(0.3**2 - 0.05**2)
    for place in ((0.05, across, 0.499), (0.05, -across, 0.499), (-0.2, 0, 0.499), (0.3, 0, 0.499)):
        assert np.linalg.norm(found["first_place"] - place, axis=1).min() < 1e-9
