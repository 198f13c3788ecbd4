"""Mass properties: closed forms against meshes of the same bodies, and what is refused.

A box's mesh is exact: 1e-13 of rounding. Flat triangles cut a sphere short by a relative O(1/triangles).
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from sennit.bodies.rigid.inertia import box, check_inertia, cylinder, mesh, sphere
from sennit.errors import InputError

SIZE = np.array([0.2, 0.5, 1.1])


def rotation(seed: int) -> np.ndarray:
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return Q * np.linalg.det(Q)


def box_mesh(size: np.ndarray = SIZE) -> tuple[np.ndarray, np.ndarray]:
    shape = trimesh.creation.box(extents=size)
    return np.array(shape.vertices), np.array(shape.faces)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_a_box_mesh_moved_and_turned(scale: float, far: float, validated) -> None:
    """I = R I_box Rᵀ about the centre; a place 1000 sizes away costs three digits of the vertices themselves."""
    vertices, faces = box_mesh()
    R, shift = rotation(3), np.array([far, -0.3, 0.7])
    given = mesh(scale * (vertices @ R.T + shift), faces, density=700.0)
    exact = box(scale * SIZE, density=700.0)
    tolerance = 1e-13 * (1.0 + 10.0 * far)
    assert given.mass == pytest.approx(exact.mass, rel=tolerance)
    np.testing.assert_allclose(given.centre, scale * shift, atol=tolerance * scale)
    error = np.abs(given.inertia - R @ exact.inertia @ R.T).max()
    validated(
        "Box as a mesh, anywhere and at any size",
        area="rigid bodies",
        quantity="inertia",
        reference="closed form",
        error=error / np.abs(exact.inertia).max(),
        bound=tolerance,
    )


def test_a_mesh_scales_to_the_mass() -> None:
    vertices, faces = box_mesh()
    np.testing.assert_allclose(mesh(vertices, faces, mass=3.0).inertia, box(SIZE, mass=3.0).inertia, atol=1e-13)
    assert mesh(vertices, faces, mass=3.0).mass == 3.0


def test_sphere_and_cylinder_meshes_converge_to_the_closed_forms(validated) -> None:
    """Inscribed: the error falls with the triangle's area, fourfold per division; 2 % at the coarsest."""
    exact = sphere(0.3, density=1000.0)
    errors = []
    for divisions in (3, 4, 5):
        shape = trimesh.creation.icosphere(subdivisions=divisions, radius=0.3)
        got = mesh(shape.vertices, shape.faces, density=1000.0)
        errors.append(np.abs(got.inertia - exact.inertia).max() / exact.inertia[0, 0])
    validated(
        "Sphere as a mesh of 1,280 triangles",
        area="rigid bodies",
        quantity="inertia",
        reference="2mr²/5",
        error=errors[0],
        bound=0.03,
        order=np.log2(errors[0] / errors[2]) / 2,
    )
    np.testing.assert_allclose(np.array(errors[:-1]) / errors[1:], 4.0, rtol=0.05)

    exact = cylinder(0.1, 0.8, density=1000.0)
    sections = 400
    shape = trimesh.creation.cylinder(radius=0.1, height=0.8, sections=sections)
    got = mesh(shape.vertices, shape.faces, density=1000.0)
    # area of the inscribed polygon: 1 − (2π/n)²/6; moments of the section: twice that
    np.testing.assert_allclose(np.diag(got.inertia), np.diag(exact.inertia), rtol=2.1 * (2 * np.pi / sections) ** 2 / 6)
    assert exact.inertia[2, 2] < exact.inertia[0, 0]


def test_a_cavity_is_subtracted() -> None:
    (outer, faces), (inner, _) = box_mesh(), box_mesh(0.5 * SIZE)
    vertices = np.vstack([outer, inner])
    got = mesh(vertices, np.vstack([faces, faces[:, ::-1] + len(outer)]), density=10.0)
    exact = box(SIZE, density=10.0).inertia - box(0.5 * SIZE, density=10.0).inertia
    np.testing.assert_allclose(got.inertia, exact, atol=1e-13)


def test_separate_corners_are_one_vertex() -> None:
    """STL files repeat each corner for every triangle."""
    vertices, faces = box_mesh()
    got = mesh(vertices[faces].reshape(-1, 3), np.arange(3 * len(faces)).reshape(-1, 3), mass=1.0)
    np.testing.assert_allclose(got.inertia, box(SIZE, mass=1.0).inertia, atol=1e-14)


def test_bad_meshes_are_refused_with_advice() -> None:
    vertices, faces = box_mesh()
    with pytest.raises(InputError, match="3 of 18 edges do not belong to exactly two triangles.*fill_holes"):
        mesh(vertices, faces[1:], mass=1.0)
    crossed = faces.copy()
    crossed[0] = crossed[0, ::-1]
    with pytest.raises(InputError, match="wound against their neighbours.*fix_normals"):
        mesh(vertices, crossed, mass=1.0)
    with pytest.raises(InputError, match=r"positive volume, got -0\.11 m³: the mesh is inside out"):
        mesh(vertices, faces[:, ::-1], mass=1.0)
    with pytest.raises(InputError, match="indices of vertices"):
        mesh(vertices, faces + 1, mass=1.0)
    with pytest.raises(InputError, match="enclose a volume"):
        mesh(np.zeros((0, 3)), np.zeros((0, 3)), mass=1.0)


def test_a_needle_is_a_body() -> None:
    size = np.array([1e-5, 2e-5, 1.0])
    got = mesh(*box_mesh(size), mass=1.0)
    np.testing.assert_allclose(np.diag(got.inertia), np.diag(box(size, mass=1.0).inertia), rtol=1e-9)


def test_mass_or_density() -> None:
    for wrong in ({}, {"mass": 1.0, "density": 1.0}):
        with pytest.raises(InputError, match="give mass .* or density"):
            sphere(1.0, **wrong)
    with pytest.raises(InputError, match="mass must be a finite number above 0"):
        sphere(1.0, mass=0.0)
    with pytest.raises(InputError, match="size must hold three lengths above 0"):
        box((1.0, 0.0, 1.0), mass=1.0)


def test_check_inertia() -> None:
    R = rotation(5)
    good = R @ np.diag([1.0, 2.0, 3.0]) @ R.T  # the limit: a flat body
    checked = check_inertia("inertia", good)
    assert np.array_equal(checked, checked.T)
    np.testing.assert_allclose(checked, good, atol=1e-15)
    with pytest.raises(InputError, match="none exceeds the sum"):
        check_inertia("inertia", R @ np.diag([1.0, 2.0, 3.01]) @ R.T)
    with pytest.raises(InputError, match="symmetric"):
        check_inertia("inertia", good + 1e-6 * np.eye(3)[[1, 2, 0]])
    with pytest.raises(InputError, match="positive principal moments"):
        check_inertia("inertia", np.diag([1.0, 1.0, 0.0]))
