"""Signed distances, closest points and normals of rigid shapes, against closed forms and exhaustive search."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import trimesh

from sennit.errors import InputError
from sennit.geometry import Pose
from sennit.geometry.kernels.distances import crossing
from sennit.geometry.shapes import AbstractShape, Box, Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
from tests.references.meshes import block, sphere

TURN = Pose((0.3, -0.2, 0.5), (0.9, 0.1, -0.3, 0.2))


def torus():
    mesh = trimesh.creation.torus(1.0, 0.4, major_sections=24, minor_sections=12)
    return np.array(mesh.vertices), np.array(mesh.faces)


def hills(columns: int = 6, rows: int = 5) -> np.ndarray:
    return np.random.default_rng(8).uniform(-0.4, 0.4, (columns, rows))


def shapes() -> list[AbstractShape]:
    return [
        Sphere((0.1, 0.2, -0.3), 0.7),
        Plane((0.1, 0.0, 0.2), (1.0, 2.0, -2.0)),
        Box((1.0, 0.6, 1.4), TURN),
        Mesh(*torus(), TURN),
        Mesh(*block((1.0, 0.6, 1.4), (3, 2, 4))),
        Cylinder(0.5, 1.2, TURN),
        Capsule(0.4, 0.9, TURN),
        HeightField(hills(), (1.8, 1.4), TURN),
    ]


def points(count: int = 400, size: float = 1.5) -> np.ndarray:
    return np.random.default_rng(5).uniform(-size, size, (count, 3))


def exhaustive_distance(vertices, faces, places):
    """Distance from the nearest triangle, and the sign from the solid angle that the surface fills."""
    corners = vertices[faces]
    nearest = np.array(
        [
            np.linalg.norm(
                trimesh.triangles.closest_point(corners, np.tile(place, (len(faces), 1))) - place, axis=1
            ).min()
            for place in places
        ]
    )
    a, b, c = (corners[None, :, k] - places[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=2) for x in (a, b, c))
    top = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
    dot = np.einsum
    bottom = (
        la * lb * lc + dot("ijk,ijk->ij", a, b) * lc + dot("ijk,ijk->ij", b, c) * la + dot("ijk,ijk->ij", c, a) * lb
    )
    inside = 2.0 * np.arctan2(top, bottom).sum(axis=1) > 2.0 * np.pi
    return np.where(inside, -nearest, nearest)


def test_sphere() -> None:
    centre, radius = np.array((0.1, 0.2, -0.3)), 0.7
    ball = Sphere(centre, radius)
    away = points() - centre
    r = np.linalg.norm(away, axis=1)
    np.testing.assert_allclose(ball.signed_distance(points()), r - radius, atol=1e-15)
    places, normals = ball.closest(points())
    np.testing.assert_allclose(normals, away / r[:, None], atol=1e-15)
    np.testing.assert_allclose(places, centre + radius * away / r[:, None], atol=1e-15)
    assert ball.signed_distance(centre) == -radius
    assert np.linalg.norm(ball.closest(centre)[1]) == 1.0


def test_plane() -> None:
    wall = Plane((0.1, 0.0, 0.2), (1.0, 2.0, -2.0))
    normal = np.array((1.0, 2.0, -2.0)) / 3.0
    height = (points() - (0.1, 0.0, 0.2)) @ normal
    np.testing.assert_allclose(wall.normal, normal, atol=1e-15)
    np.testing.assert_allclose(wall.signed_distance(points()), height, atol=1e-15)
    places, normals = wall.closest(points())
    np.testing.assert_allclose(places, points() - height[:, None] * normal, atol=1e-15)
    np.testing.assert_allclose(normals, np.tile(normal, (400, 1)), atol=1e-15)


@pytest.mark.parametrize(
    ("place", "distance", "closest", "normal"),
    [
        ((0.9, 0.1, 0.2), 0.4, (0.5, 0.1, 0.2), (1, 0, 0)),
        ((0.0, 0.2, 0.1), -0.1, (0.0, 0.3, 0.1), (0, 1, 0)),
        ((0.0, 0.0, -0.65), -0.05, (0.0, 0.0, -0.7), (0, 0, -1)),
        ((0.8, 0.7, 0.0), 0.5, (0.5, 0.3, 0.0), (0.6, 0.8, 0)),  # next to an edge
        ((0.6, 0.5, 0.9), 0.3, (0.5, 0.3, 0.7), (1 / 3, 2 / 3, 2 / 3)),  # next to a corner
        ((0.5, 0.1, 0.2), 0.0, (0.5, 0.1, 0.2), (1, 0, 0)),  # on a side
        ((0.5, -0.3, 0.7), 0.0, (0.5, -0.3, 0.7), (1, 0, 0)),  # a corner: the first of three sides
    ],
)
@pytest.mark.parametrize("pose", [Pose(), TURN])
def test_box(place, distance, closest, normal, pose) -> None:
    box = Box((1.0, 0.6, 1.4), pose)
    if pose != Pose() and distance == 0.0:
        pytest.skip("rounding decides the side")
    assert box.signed_distance(pose @ place) == pytest.approx(distance, abs=1e-15)
    foot, direction = box.closest(pose @ place)
    np.testing.assert_allclose(foot, pose @ closest, atol=1e-15)
    np.testing.assert_allclose(direction, pose.rotation @ np.array(normal, dtype=float), atol=1e-14)


@pytest.mark.parametrize("surface", [torus(), sphere(1.0, 2), block((1.0, 0.6, 1.4), (3, 2, 4))])
def test_mesh_against_exhaustive_search(surface) -> None:
    places = np.concatenate((points(150), points(150, 0.8)))
    np.testing.assert_allclose(
        Mesh(*surface).signed_distance(places), exhaustive_distance(*surface, places), atol=1e-14
    )


def test_mesh_of_a_box_is_the_box() -> None:
    box, mesh = Box((1.0, 0.6, 1.4), TURN), Mesh(*block((1.0, 0.6, 1.4), (3, 2, 4), (-0.5, -0.3, -0.7)), TURN)
    np.testing.assert_allclose(mesh.signed_distance(points()), box.signed_distance(points()), atol=1e-14)
    for ours, theirs in zip(mesh.closest(points()), box.closest(points()), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)


def test_mesh_at_its_own_vertices_and_edges() -> None:
    """On the surface the distance is 0 and the normal the mean of the faces there."""
    vertices, faces = sphere(1.0, 2)
    ball = Mesh(vertices, faces)
    middle = vertices[faces].mean(axis=1)
    edge = 0.5 * (vertices[faces[:, 0]] + vertices[faces[:, 1]])
    for places in (vertices, middle, edge):
        np.testing.assert_allclose(ball.signed_distance(places), 0.0, atol=1e-15)
        normals = ball.closest(places)[1]
        outward = places / np.linalg.norm(places, axis=1, keepdims=True)
        assert np.einsum("ij,ij->i", normals, outward).min() > 0.99
        assert (ball.signed_distance(places + 1e-9 * normals) > 0.0).all()
        assert (ball.signed_distance(places - 1e-9 * normals) < 0.0).all()


@pytest.mark.parametrize("shape", shapes())
def test_normals_are_the_gradient(shape) -> None:
    """Central differences, away from where the distance has a kink (there they are not of length 1)."""
    step = 1e-6
    gradient = np.stack(
        [
            (shape.signed_distance(points() + d) - shape.signed_distance(points() - d)) / (2 * step)
            for d in step * np.eye(3)
        ],
        axis=1,
    )
    smooth = abs(np.linalg.norm(gradient, axis=1) - 1.0) < 1e-7
    assert smooth.mean() > 0.97
    np.testing.assert_allclose(shape.closest(points())[1][smooth], gradient[smooth], atol=1e-5)


@pytest.mark.parametrize("shape", shapes())
def test_closest_places_are_on_the_surface(shape) -> None:
    places, normals = shape.closest(points())
    np.testing.assert_allclose(shape.signed_distance(places), 0.0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(places + shape.signed_distance(points())[:, None] * normals, points(), atol=1e-9)


@pytest.mark.parametrize("shape", shapes())
def test_moved(shape) -> None:
    moved = shape.moved(TURN)
    np.testing.assert_allclose(moved.signed_distance(TURN @ points()), shape.signed_distance(points()), atol=1e-14)
    np.testing.assert_allclose(moved.closest(TURN @ points())[0], TURN @ shape.closest(points())[0], atol=1e-13)
    assert moved.pose == TURN @ shape.pose
    assert moved._same_form(shape)
    assert not moved._same_form(Sphere((0, 0, 0), 0.1))


@pytest.mark.parametrize("shape", shapes())
def test_shapes_survive_pickling_and_never_change(shape) -> None:
    shape = shape.moved(TURN)
    twin = pickle.loads(pickle.dumps(shape))
    assert twin.pose == shape.pose
    np.testing.assert_array_equal(twin.signed_distance(points()), shape.signed_distance(points()))
    with pytest.raises(AttributeError, match="never changes"):
        shape.radius = 2.0
    assert repr(shape).startswith(type(shape).__name__)


def test_one_point_or_many() -> None:
    ball = Sphere((0, 0, 0), 1.0)
    assert ball.signed_distance((2, 0, 0)).shape == ()
    assert ball.signed_distance(np.empty((0, 3))).shape == (0,)
    assert ball.closest((2, 0, 0))[0].shape == (3,)


@pytest.mark.parametrize("shape", shapes())
def test_crossing(shape) -> None:
    """Where a way from outside to inside passes the surface."""
    distances = shape.signed_distance(points())
    outside, inside = points()[distances > 0.05], points()[distances < -0.05]
    for start, end in zip(outside, inside, strict=False):
        place = np.array(crossing(shape._table, 0, *start, *end, 1e-12))
        assert abs(shape.signed_distance(place)) < 1e-12
        along = (place - start) @ (end - start) / ((end - start) @ (end - start))
        assert 0.0 <= along <= 1.0
        np.testing.assert_allclose(place, start + along * (end - start), atol=1e-14)


CUBE = block((1.0, 1.0, 1.0), (2, 2, 2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sphere((0, 0, 0), 0.0), "radius must be a finite number above 0, got 0.0"),
        (lambda: Sphere((0, 0), 1.0), "centre must be"),
        (lambda: Sphere((0, 0, np.nan), 1.0), "centre must hold finite numbers"),
        (lambda: Plane((0, 0, 0), (0, 0, 0)), "normal must be a vector that is not zero"),
        (lambda: Box((1, 1, 0)), r"size must be three edges above 0, got \(1, 1, 0\)"),
        (lambda: Box((1, 1, 1), (0, 0, 0)), "pose must be a Pose"),
        (lambda: Cylinder(0.0, 1.0), "radius must be a finite number above 0, got 0.0"),
        (lambda: Cylinder(1.0, -1.0), "length must be a finite number above 0, got -1.0"),
        (lambda: Cylinder(1.0, 1.0, "up"), "pose must be a Pose, got 'up'"),
        (lambda: Capsule(np.inf, 1.0), "radius must be a finite number above 0, got inf"),
        (lambda: Capsule(1.0, 0.0), "length must be a finite number above 0, got 0.0"),
        (
            lambda: HeightField([[0.0, 1.0]], (1, 1)),
            r"two or more in each row and column, got an array of shape \(1, 2\)",
        ),
        (lambda: HeightField([0.0, 1.0], (1, 1)), "heights must"),
        (lambda: HeightField([[0.0, 1.0], [0.0, np.nan]], (1, 1)), "heights must hold finite numbers"),
        (lambda: HeightField(np.zeros((2, 2)), (1, 0)), r"size must be two edges above 0, got \(1, 0\)"),
        (lambda: HeightField(np.zeros((2, 2)), (1, 1, 1)), "size must"),
        (lambda: Mesh(CUBE[0], CUBE[1][1:]), "faces must close the mesh"),
        (lambda: Mesh(CUBE[0], CUBE[1][:, ::-1]), "wound outwards"),
        (lambda: Mesh(CUBE[0], np.concatenate((CUBE[1][:1, ::-1], CUBE[1][1:]))), "faces must close the mesh"),
        (lambda: Mesh(CUBE[0], CUBE[1] + 20), "faces must hold numbers from 0 to 25"),
        (lambda: Mesh(CUBE[0], CUBE[1].astype(float)), "faces must be an array of vertex numbers"),
        (lambda: Mesh(CUBE[0], [[0, 1], [2]]), "faces must be an array of vertex numbers"),
        (lambda: Mesh(CUBE[0] * (1, 1, 0), CUBE[1]), "faces must have an area"),
        (lambda: Sphere((0, 0, 0), 1.0).moved((1, 0, 0)), "pose must be a Pose"),
        (lambda: Sphere((0, 0, 0), 1.0).signed_distance((1, 0)), "points must be"),
    ],
)
def test_bad_input(make, message) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_a_mesh_object_alone() -> None:
    solid = trimesh.creation.icosphere(subdivisions=2, radius=0.5)
    one, two = Mesh(solid), Mesh(solid.vertices, solid.faces)
    points = np.random.default_rng(4).normal(size=(20, 3))
    np.testing.assert_array_equal(one.signed_distance(points), two.signed_distance(points))
    with pytest.raises(InputError, match="without faces"):
        Mesh(solid.vertices)
