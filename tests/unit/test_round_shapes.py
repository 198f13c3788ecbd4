"""Cylinders, capsules and height fields against independent formulas and exhaustive search; many in a table."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from sennit.geometry import Pose
from sennit.geometry.kernels.distances import box_round, closest_many
from sennit.geometry.shapes import Capsule, Cylinder, HeightField, Mesh, Plane, Sphere
from sennit.geometry.tables import ShapeTable, stacked
from sennit.geometry.tubes import Tubes
from tests.unit.test_shapes import TURN, exhaustive_distance, hills, points, shapes, torus


def row_distances(table: ShapeTable, s: int, places: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    distances, feet, normals = np.empty(len(places)), np.empty_like(places), np.empty_like(places)
    closest_many(table, s, places, distances, feet, normals)
    return distances, feet, normals


def test_cylinder() -> None:
    """Distance of a rectangle in the half-plane through the axis: outside by both excesses, inside by the smaller."""
    places = points()
    out = np.stack((np.hypot(places[:, 0], places[:, 1]) - 0.5, np.abs(places[:, 2]) - 0.6), axis=1)
    expected = np.linalg.norm(np.maximum(out, 0.0), axis=1) + np.minimum(out.max(axis=1), 0.0)
    np.testing.assert_allclose(Cylinder(0.5, 1.2).signed_distance(places), expected, atol=1e-15)
    assert (expected < 0).sum() > 10
    np.testing.assert_allclose(Cylinder(0.5, 1.2, TURN).signed_distance(TURN @ places), expected, atol=1e-14)


@pytest.mark.parametrize(
    ("shape", "mesh"),
    [
        (Cylinder(0.5, 1.2), trimesh.creation.cylinder(0.5, 1.2, sections=256)),
        (Capsule(0.4, 0.9), trimesh.creation.capsule(0.9, 0.4, count=(128, 128))),
    ],
)
def test_round_solids_against_their_meshes(shape, mesh) -> None:
    """A mesh with corners on the circle lies inside by up to r (1 − cos π/n)."""
    if isinstance(shape, Capsule):
        mesh.apply_translation(-mesh.bounds.mean(axis=0))
    sag = 0.5 * (1.0 - np.cos(np.pi / 120))
    difference = exhaustive_distance(np.array(mesh.vertices), np.array(mesh.faces), points(60)) - shape.signed_distance(
        points(60)
    )
    assert (difference > -1e-12).all()
    assert (difference < 2.5 * sag).all()


def test_capsule() -> None:
    """Distance from a straight line between two places, less the radius."""
    places = points(size=1.0)
    first, second = TURN @ (0, 0, -0.45), TURN @ (0, 0, 0.45)
    along = np.clip((places - first) @ (second - first) / 0.9**2, 0.0, 1.0)
    expected = np.linalg.norm(places - first - along[:, None] * (second - first), axis=1) - 0.4
    np.testing.assert_allclose(Capsule(0.4, 0.9, TURN).signed_distance(places), expected, atol=1e-14)
    assert (expected < 0).sum() > 10


@pytest.mark.parametrize(
    ("shape", "place", "distance", "foot", "normal"),
    [
        (Cylinder(0.5, 1.2), (0, 0, 0), -0.5, (0.5, 0, 0), (1, 0, 0)),  # the axis
        (Cylinder(0.5, 1.0), (0, 0, 0), -0.5, (0.5, 0, 0), (1, 0, 0)),  # side before ends
        (Cylinder(2.0, 1.0), (0.1, 0, 0), -0.5, (0.1, 0, 0.5), (0, 0, 1)),  # the upper end
        (Cylinder(0.5, 1.2), (0.3, 0.4, 0.6), 0.0, (0.3, 0.4, 0.6), (0.6, 0.8, 0)),  # on its rim
        (Capsule(0.4, 0.9), (0, 0, 0.2), -0.4, (0.4, 0, 0.2), (1, 0, 0)),
        (Capsule(0.4, 0.9), (0, 0, 0.45), -0.4, (0.4, 0, 0.45), (1, 0, 0)),
        (Capsule(0.4, 0.9), (0, 0, 0.55), -0.3, (0, 0, 0.85), (0, 0, 1)),
        (HeightField(np.zeros((2, 3)), (2, 4)), (0.9, 0.1, -0.5), -0.1, (1, 0.1, -0.5), (1, 0, 0)),  # a side is nearer
        (HeightField(np.zeros((2, 3)), (2, 4)), (0.1, 0.1, -0.5), -0.5, (0.1, 0.1, 0), (0, 0, 1)),
        (HeightField(np.zeros((2, 3)), (2, 4)), (1.3, 2.4, -9), 0.5, (1, 2, -9), (0.6, 0.8, 0)),  # beside it, deep
        (HeightField(np.zeros((2, 3)), (2, 4)), (1.3, 0, 0.4), 0.5, (1, 0, 0), (0.6, 0, 0.8)),  # over its rim
        (HeightField(np.zeros((2, 3)), (2, 4)), (0.3, 0.3, 0.0), 0.0, (0.3, 0.3, 0), (0, 0, 1)),  # on it
    ],
)
def test_where_several_are_near(shape, place, distance, foot, normal) -> None:
    assert shape.signed_distance(place) == pytest.approx(distance, abs=1e-15)
    found, direction = shape.closest(place)
    np.testing.assert_allclose(found, foot, atol=1e-15)
    np.testing.assert_allclose(direction, normal, atol=1e-15)


def solid_below(heights: np.ndarray, size: tuple[float, float], bottom: float) -> tuple[np.ndarray, np.ndarray]:
    """The closed mesh of a height field that ends at a level `bottom`, from its definition."""
    n, m = heights.shape
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, n) * size[0], np.linspace(-0.5, 0.5, m) * size[1], indexing="ij")
    top = np.stack((x, y, heights), axis=2).reshape(-1, 3)
    low = top * (1, 1, 0) + (0, 0, bottom)
    faces = []
    for i in range(n - 1):
        for j in range(m - 1):
            a, b, c, d = i * m + j, (i + 1) * m + j, (i + 1) * m + j + 1, i * m + j + 1
            faces += [(a, b, c), (a, c, d), (a + n * m, c + n * m, b + n * m), (a + n * m, d + n * m, c + n * m)]
    rim = [i * m for i in range(n)] + [(n - 1) * m + j for j in range(1, m)]
    rim += [i * m + m - 1 for i in range(n - 2, -1, -1)] + list(range(m - 2, 0, -1))
    for k, a in enumerate(rim):
        b = rim[(k + 1) % len(rim)]
        faces += [(a, a + n * m, b + n * m), (a, b + n * m, b)]
    return np.concatenate((top, low)), np.array(faces)


@pytest.mark.parametrize(("columns", "rows"), [(6, 5), (2, 2), (2, 9)])
@pytest.mark.parametrize("steep", [0.3, 1.0, 4.0])
def test_height_field_against_exhaustive_search(columns, rows, steep) -> None:
    """A closed mesh whose bottom is too deep to matter has the same distances."""
    heights, size = steep * hills(columns, rows), (1.8, 1.4)
    surface = solid_below(heights, size, -20.0)
    assert trimesh.Trimesh(*surface).is_volume
    places = np.concatenate((points(150, 2.5), points(150, 0.8), points(30, 0.8) * (1, 1, 0) + (0, 0, -3)))
    field = HeightField(heights, size)
    np.testing.assert_allclose(field.signed_distance(places), exhaustive_distance(*surface, places), atol=1e-13)
    ours, theirs = field.closest(places), Mesh(*surface).closest(places)
    # two feet may be equally near: then the normals differ
    same = np.linalg.norm(ours[0] - theirs[0], axis=1) < 1e-12
    assert same.mean() > 0.98
    np.testing.assert_allclose(ours[1][same], theirs[1][same], atol=1e-9)


def test_a_fine_height_field_far_and_near() -> None:
    """300 by 200 cells of a plane that leans: the distance is the plane's, wherever its foot is on the field."""
    x = np.linspace(-1.5, 1.5, 301)
    field = HeightField(np.tile(0.5 * x[:, None], (1, 201)), (3.0, 2.0))
    normal = np.array((-0.5, 0.0, 1.0)) / np.hypot(1.0, 0.5)
    places = np.random.default_rng(3).uniform(-0.3, 0.3, (200, 3))
    np.testing.assert_allclose(field.signed_distance(places), places @ normal, atol=1e-14)
    np.testing.assert_allclose(field.closest(places)[1], np.tile(normal, (200, 1)), atol=1e-12)
    assert field.signed_distance((0, 0, 100.0)) == pytest.approx(np.hypot(1.5, 99.25))  # its highest rim


def test_many_shapes_in_one_table_are_each_as_alone() -> None:
    """Bit for bit, with several meshes, height fields and tubes whose numbers stand one after the other."""
    alone = [*shapes(), Mesh(*torus()), HeightField(hills(4, 7), (1.0, 2.0)), Sphere((0, 0, 0), 0.3)]
    alone += [Tubes([np.eye(3)], [np.full(3, k)], True) for k in (0.1, 0.2)]
    table = stacked([stacked([shape._table for shape in alone[:6]]), *(shape._table for shape in alone[6:])])
    assert len(table) == len(alone)
    for s, shape in enumerate(alone):
        distances, feet, normals = row_distances(table, s, points())
        np.testing.assert_array_equal(distances, shape.signed_distance(points()))
        np.testing.assert_array_equal(feet, shape.closest(points())[0])
        np.testing.assert_array_equal(normals, shape.closest(points())[1])


@pytest.mark.parametrize("shape", shapes())
def test_box_round(shape) -> None:
    """It holds every place of the solid, and touches it (but for meshes)."""
    low, high = np.empty((1, 3)), np.empty((1, 3))
    box_round(shape._table, 0, low, high)
    places = shape.closest(np.concatenate((points(4000, 3.0), 40.0 * np.eye(3), -40.0 * np.eye(3))))[0]
    assert (places >= low - 1e-12).all()
    assert (places <= high + 1e-12).all()
    if not isinstance(shape, Mesh | Plane | HeightField):
        np.testing.assert_allclose(places.min(axis=0), low[0], atol=0.02)
        np.testing.assert_allclose(places.max(axis=0), high[0], atol=0.02)


def test_box_round_a_floor() -> None:
    low, high = np.empty((1, 3)), np.empty((1, 3))
    box_round(Plane((1, 2, 3), (0, 0, 1))._table, 0, low, high)
    np.testing.assert_array_equal(low[0], -np.inf)
    np.testing.assert_array_equal(high[0], (np.inf, np.inf, 3.0))
    box_round(HeightField([[0.0, 0.5], [0.1, 0.2]], (2, 4), Pose((1, 2, 3)))._table, 0, low, high)
    np.testing.assert_array_equal(low[0], (0.0, 0.0, -np.inf))
    np.testing.assert_array_equal(high[0], (2.0, 4.0, 3.5))
