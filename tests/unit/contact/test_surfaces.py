"""Points of contact of meshes and height fields: against the same solids in closed form, and by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh
from references.touching import box_mesh, placed_apart, random_pose, random_shape, signed_distance, touch

from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Box, Cylinder, HeightField, Mesh, Plane, Sphere


def fine_ball(radius: float, pose: Pose) -> Mesh:
    mesh = trimesh.creation.icosphere(3, radius)
    return Mesh(mesh.vertices, mesh.faces, pose)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box", "cylinder", "mesh"])
def test_box_of_triangles_touches_as_a_box(kind: str) -> None:
    """The deepest gap is that of the closed form, outside and for shallow overlaps."""
    deviations = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        size = rng.uniform(0.4, 0.8, 3)
        other = random_shape(rng, "box" if kind == "mesh" else kind, random_pose(rng))
        pose = random_pose(rng)
        other = placed_apart(rng, other, Box(size, pose), rng.uniform(-0.03, 0.01))
        expected = signed_distance(other, Box(size, pose))
        touching = box_mesh(other.size, other.pose) if kind == "mesh" else other
        found = touch(touching, box_mesh(size, pose), 0.04)
        if expected > 0.039:
            continue
        assert len(found["gap"]), (seed, expected)
        assert np.isfinite(found["normal"]).all()
        deviations.append(found["gap"].min() - expected)
        between = found["first_place"] - found["second_place"]
        np.testing.assert_allclose(between, found["gap"][:, None] * found["normal"], atol=1e-9)
    assert len(deviations) > 10
    if kind == "cylinder":
        # Where an edge of the mesh is inside, near a rim, its normal is a mean of two: not quite the shortest way out.
        assert min(deviations) > -0.2 * 0.03
        assert np.median(np.abs(deviations)) < 1e-6
    else:
        assert np.abs(deviations).max() < 2e-5


def test_mesh_of_a_ball_on_everything() -> None:
    """An icosphere's lowest point on a plane, a box, a cylinder and a ball: by brute force over all its corners."""
    for seed in range(6):
        ball = fine_ball(0.5, random_pose(np.random.default_rng(seed)))
        corners = ball.vertices @ ball.pose.rotation.T + ball.pose.position
        for ground in (
            Plane((0, 0, -0.499), (0.1, 0.0, 1.0)),
            Box((2.0, 2.0, 1.0), Pose((0, 0, -0.999))),
            Cylinder(1.0, 1.0, Pose((0, 0, -0.999))),
        ):
            found, mirrored = touch(ball, ground, 0.01), touch(ground, ball, 0.01)
            assert found["gap"].min() == pytest.approx(ground.signed_distance(corners).min(), abs=1e-9)
            np.testing.assert_array_equal(found["gap"], mirrored["gap"])
            np.testing.assert_array_equal(found["normal"], -mirrored["normal"])
        other = Sphere((0.0, 0.0, -0.999), 0.5)
        assert touch(other, ball, 0.01)["gap"].min() == pytest.approx(
            ball.signed_distance(other.centre) - 0.5, abs=1e-9
        )


@pytest.mark.parametrize("form", ["box", "mesh"])
def test_nothing_catches_on_a_floor_of_triangles(form: str) -> None:
    """Every normal on a flat floor is its own, wherever a box lies on it, slightly sunk in or hovering."""
    floor = HeightField(np.zeros((21, 17)), (4.0, 4.0))
    rng = np.random.default_rng(0)
    for _ in range(40):
        x, y, turn = rng.uniform(-1.0, 1.0, 3)
        pose = Pose((x, y, 0.2 + rng.uniform(-1e-4, 1e-3)), (np.cos(turn), 0, 0, np.sin(turn)))
        size = (1.0, 0.6, 0.4)
        found = touch(Box(size, pose) if form == "box" else box_mesh(size, pose), floor, 1e-2)
        np.testing.assert_allclose(found["normal"], [(0, 0, 1)] * 4, atol=1e-9)


def test_ball_in_a_groove_touches_both_sides() -> None:
    """Between two slopes of 45 degrees at r √2 above their line."""
    x = np.linspace(-1.0, 1.0, 11)
    groove = HeightField(np.abs(x)[:, None] * np.ones(5), (2.0, 2.0))
    found = touch(Sphere((0.0, 0.13, 0.3 * np.sqrt(2.0) - 1e-3), 0.3), groove, 1e-2)
    assert len(found["gap"]) == 2
    np.testing.assert_allclose(found["gap"], -1e-3 * np.sqrt(0.5), atol=1e-9)
    normals = found["normal"][np.argsort(found["normal"][:, 0])]
    np.testing.assert_allclose(normals, np.sqrt(0.5) * np.array([(-1, 0, 1), (1, 0, 1)]), atol=1e-9)


def test_ball_on_a_ridge() -> None:
    """The edge itself touches, and nothing else."""
    x = np.linspace(-1.0, 1.0, 11)
    ridge = HeightField(-np.abs(x)[:, None] * np.ones(5), (2.0, 2.0))
    found = touch(Sphere((0.0, 0.13, 0.299), 0.3), ridge, 1e-3)
    # The smallest distance along the edge is found to rounding, its place to the root of that.
    np.testing.assert_allclose(found["normal"], [(0, 0, 1)], atol=1e-7)
    np.testing.assert_allclose(found["gap"], -1e-3, atol=1e-9)


def test_many_corners_are_reduced_to_extreme_ones() -> None:
    """The flat end of a cylinder of 60 sides: at most eight points, which span its area, the same ones again."""
    mesh = trimesh.creation.cylinder(0.5, 1.0, sections=60)
    rng = np.random.default_rng(0)
    features = set()
    for _ in range(10):
        pose = Pose(np.array((0.0, 0.0, 0.5)) + 1e-9 * rng.standard_normal(3))
        found = touch(Mesh(mesh.vertices, mesh.faces, pose), Plane((0, 0, 0), (0, 0, 1)), 1e-3)
        assert 4 <= len(found["gap"]) <= 8
        places: Any = found["first_place"][:, :2]
        np.testing.assert_allclose(np.linalg.norm(places, axis=1), 0.5, atol=1e-3)
        angles = np.sort(np.arctan2(places[:, 1], places[:, 0]))
        assert np.diff(np.append(angles, angles[0] + 2 * np.pi)).max() < 1.2
        features.add(tuple(sorted(found["feature"].tolist())))
    assert len(features) == 1
