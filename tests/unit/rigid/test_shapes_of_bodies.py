"""What rigid bodies touch with: the shapes of their forms, or those that were given; in files and in pictures."""

from __future__ import annotations

import json

import numpy as np
import pytest
import trimesh

import sennit as sn
from sennit.portrait.of_scene import portrait_of
from sennit.portrait.sizes import body_reach

HALF = sn.Pose((0, 0.1, 0), (0.9, 0.1, -0.3, 0.2))
DUMBBELL = (sn.Sphere((0, 0, 0.15), 0.09), sn.Sphere((0, 0, -0.15), 0.09), sn.Cylinder(0.03, 0.3, HALF))


def horn() -> trimesh.Trimesh:
    return trimesh.creation.torus(0.2, 0.05, major_sections=12, minor_sections=8)


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        (sn.RigidBody.box((0.1, 0.2, 0.3), mass=1.0), sn.Box((0.1, 0.2, 0.3))),
        (sn.RigidBody.sphere(0.2, mass=1.0), sn.Sphere((0, 0, 0), 0.2)),
        (sn.RigidBody.cylinder(0.1, 0.4, mass=1.0), sn.Cylinder(0.1, 0.4)),
        (sn.RigidBody.capsule(0.1, 0.4, mass=1.0), sn.Capsule(0.1, 0.4)),
        (sn.RigidBody.from_mesh(np.add(horn().vertices, (1, 2, 3)), horn().faces, mass=1.0), sn.Mesh(horn())),
    ],
)
def test_the_shape_of_a_form(body, shape) -> None:
    """In the body's frame, wherever the body is: the mesh's about its centre of mass."""
    (own,) = body.shapes
    assert type(own) is type(shape)
    points = np.random.default_rng(6).uniform(-0.5, 0.5, (60, 3))
    np.testing.assert_allclose(own.signed_distance(points), shape.signed_distance(points), atol=1e-12)
    assert body.shapes is body.shapes


def test_a_mesh_whose_vertices_are_not_merged() -> None:
    """A mass is computed of it, and it can touch."""
    mesh = trimesh.creation.box((0.1, 0.2, 0.3))
    loose = mesh.triangles.reshape(-1, 3), np.arange(36).reshape(-1, 3)
    (shape,) = sn.RigidBody.from_mesh(*loose, mass=1.0).shapes
    points = np.random.default_rng(6).uniform(-0.5, 0.5, (60, 3))
    box = sn.Box((0.1, 0.2, 0.3))
    np.testing.assert_allclose(shape.signed_distance(points), box.signed_distance(points), atol=1e-8)


def test_an_inertia_alone_touches_nothing() -> None:
    assert sn.RigidBody.from_inertia(1.0, (1, 1, 1)).shapes == ()


def test_given_shapes_replace_the_form_and_leave_the_mass() -> None:
    ball = sn.Sphere((0, 0, 0), 0.1)
    plain, other = sn.RigidBody.box((1, 1, 1), mass=2.0), sn.RigidBody.box((1, 1, 1), mass=2.0, shape=ball)
    assert other.shapes == (ball,) and other.form == plain.form
    np.testing.assert_array_equal(plain.inertia, other.inertia)
    assert sn.RigidBody.from_inertia(1.0, (1, 1, 1), shape=list(DUMBBELL)).shapes == DUMBBELL
    for made in (
        sn.RigidBody.sphere(1.0, mass=1.0, shape=ball), sn.RigidBody.cylinder(1.0, 1.0, mass=1.0, shape=ball),
        sn.RigidBody.capsule(1.0, 1.0, mass=1.0, shape=ball),
        sn.RigidBody.from_mesh(horn().vertices, horn().faces, mass=1.0, shape=ball),
    ):  # fmt: skip
        assert made.shapes == (ball,)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (3, "shape must be a shape .* got 3"),
        ((), r"shape must be a shape .* got \(\)"),
        ([sn.Sphere((0, 0, 0), 1.0), None], "shape must be a shape"),
        (sn.Plane((0, 0, 0), (0, 0, 1)), "a Plane has none and stands in the world, as an Obstacle"),
        ([sn.HeightField(np.zeros((2, 2)), (1, 1))], "a HeightField has none and stands in the world, as an Obstacle"),
    ],
)
def test_bad_shapes(shape, message) -> None:
    with pytest.raises(sn.InputError, match=message):
        sn.RigidBody.box((1, 1, 1), mass=1.0, shape=shape)


def test_the_inertia_of_a_capsule() -> None:
    """Against sums over a fine grid of its volume: r = 0.1 m, l = 0.3 m, cells of r/40."""
    r, l, cell = 0.1, 0.3, 0.1 / 40
    x = np.arange(-r + 0.5 * cell, r, cell)
    z = np.arange(-0.5 * l - r + 0.5 * cell, 0.5 * l + r, cell)
    points = np.stack(np.meshgrid(x, x, z, indexing="ij"), axis=3).reshape(-1, 3)
    inside = points[sn.Capsule(r, l).signed_distance(points) < 0.0]
    squares = (inside**2).sum(axis=0) * cell**3
    body = sn.RigidBody.capsule(r, l, density=1000.0)
    assert body.mass == pytest.approx(1000.0 * len(inside) * cell**3, rel=2e-3)
    moments = 1000.0 * (squares.sum() - squares)
    np.testing.assert_allclose(body.inertia, np.diag(moments), rtol=4e-3, atol=1e-9)
    # and the mesh of trimesh, which is inscribed: from two refinements, by Richardson
    found = []
    for n in (32, 64):
        mesh = trimesh.creation.capsule(l, r, count=(n, n))
        found.append(np.sort(np.linalg.eigvalsh(mesh.moment_inertia * 1000.0)))
    np.testing.assert_allclose(np.sort(np.diag(body.inertia)), found[1] + (found[1] - found[0]) / 3.0, rtol=2e-4)
    light = sn.RigidBody.capsule(r, l, mass=2.0)
    np.testing.assert_allclose(light.inertia, body.inertia * 2.0 / body.mass, rtol=1e-14)


def test_a_long_capsule_is_a_cylinder_and_a_short_one_a_ball() -> None:
    long, rod = sn.RigidBody.capsule(1e-4, 1.0, mass=1.0), sn.RigidBody.cylinder(1e-4, 1.0, mass=1.0)
    np.testing.assert_allclose(long.inertia, rod.inertia, rtol=1e-3)
    short, ball = sn.RigidBody.capsule(1.0, 1e-9, mass=1.0), sn.RigidBody.sphere(1.0, mass=1.0)
    np.testing.assert_allclose(short.inertia, ball.inertia, rtol=1e-8)


@pytest.mark.parametrize("length", [0.0, -1.0, np.nan])
def test_no_capsule(length) -> None:
    with pytest.raises(sn.InputError, match="length must be a finite number above 0"):
        sn.RigidBody.capsule(0.1, length, mass=1.0)


def test_files(tmp_path) -> None:
    scene = sn.Scene()
    scene.add(sn.RigidBody.capsule(0.1, 0.4, mass=1.0))
    scene.add(sn.RigidBody.from_inertia(1.0, (1, 1, 1), position=(1, 0, 0), shape=[*DUMBBELL, sn.Mesh(horn())]))
    scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(2, 0, 0)))
    scene.save(tmp_path / "scene.npz")
    other = sn.Scene.load(tmp_path / "scene.npz")
    for ours, theirs in zip(scene.bodies, other.bodies, strict=True):
        assert isinstance(ours, sn.RigidBody) and isinstance(theirs, sn.RigidBody)
        assert ours.form == theirs.form and len(ours.shapes) == len(theirs.shapes)
        for one, two in zip(ours.shapes, theirs.shapes, strict=True):
            assert one._same_form(two) and one.pose == two.pose
    with np.load(tmp_path / "scene.npz") as file:
        described = json.loads(bytes(file["description"]).decode())
    # a body without shapes of its own is written as before: older files are read as they are
    assert ["shapes" in entry for entry in described["bodies"]] == [False, True, False]


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "Blob"}, {"radius": -1.0}, {"radius": "wide"}, {"pose": [0.0] * 7}, {"pose": [0, 0, 0, 2, 0, 0, 0]},
        {"kind": "Plane"}, {"kind": "Mesh"}, {"kind": "Cylinder"},
    ],
)  # fmt: skip
def test_damaged_files(tmp_path, damage) -> None:
    scene = sn.Scene()
    scene.add(sn.RigidBody.from_inertia(1.0, (1, 1, 1), shape=sn.Sphere((0, 0, 0), 0.1)))
    scene.save(tmp_path / "scene.npz")
    with np.load(tmp_path / "scene.npz") as file:
        arrays = dict(file)
    described = json.loads(bytes(arrays["description"]).decode())
    described["bodies"][0]["shapes"][0] |= damage
    arrays["description"] = np.frombuffer(json.dumps(described).encode(), np.uint8)
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(sn.InputError, match="damaged"):
        sn.Scene.load(tmp_path / "damaged.npz")


def test_pictures() -> None:
    """A body is drawn as what it touches with, and its reach holds that."""
    scene = sn.Scene()
    bodies = [
        scene.add(sn.RigidBody.capsule(0.1, 0.4, mass=1.0)),
        scene.add(sn.RigidBody.box((1, 1, 1), mass=1.0, position=(1, 0, 0), shape=DUMBBELL)),
    ]
    for body, part in zip(bodies, portrait_of(scene).cast.parts, strict=True):
        distances = np.min([shape.signed_distance(part.vertices) for shape in body.shapes], axis=0)
        assert distances.max() < 1e-3 and part.role == "body"
        assert np.linalg.norm(part.vertices, axis=1).max() <= body_reach(body) + 1e-12
