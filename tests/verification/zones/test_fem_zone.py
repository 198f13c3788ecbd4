"""Quadratic tetrahedra against closed forms, a fine finite element solution, boundary elements and beam theory.

All at E = 1. Tolerances of exact properties are rounding times the condition of the bodies; those of approximations
stand beside what was measured.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from references.meshes import block, hollow_sphere, rows, sphere

from sennit.elastostatics import tetrahedra as module
from sennit.elastostatics.boundary.elements import affine_fields, boundary_stiffness
from sennit.elastostatics.stiffness import traction_mass
from sennit.elastostatics.surface import checked_surface, thin_walls
from sennit.elastostatics.tetrahedra import checked_tetrahedra, fem_stiffness
from sennit.errors import InputError

pytest.importorskip("skfem")
pytest.importorskip("tetgen")


def clamped(S, fixed, forces):
    """Displacements (3n,) with the vertices `fixed` held."""
    free = np.setdiff1d(np.arange(len(S)), rows(fixed))
    u = np.zeros(len(S))
    u[free] = scipy.linalg.cho_solve(scipy.linalg.cho_factor(S[np.ix_(free, free)]), forces[free])
    return u


def uniform(surface, where, traction):
    """Nodal forces (3n,) of a traction that is the same on some faces."""
    forces = np.zeros_like(surface.vertices)
    for corner in range(3):
        np.add.at(forces, surface.faces[where, corner], surface.areas[where, None] / 3.0 * np.asarray(traction))
    return forces.ravel()


TETRAHEDRON = (np.eye(4, 3), np.array([(3, 1, 0), (3, 0, 2), (0, 1, 2), (3, 2, 1)]))
BODIES = {
    "tetrahedron": (TETRAHEDRON, 0.3),
    "cube": (block(cells=(1, 1, 1)), 0.0),
    "bar": (block((2.0, 1.0, 1.0), (6, 3, 3)), -0.5),
    "ball": (sphere(0.01, 2, (3.0, 0.0, 0.0)), 0.49),
    "shell": (hollow_sphere(0.5, 1.0, (2, 1)), 0.3),
    "plate": (block((1.0, 1.0, 0.02), (4, 4, 1)), 0.3),
    "micrometres": (block((2e-6, 1e-6, 1e-6), (2, 2, 2)), 0.45),
}


@pytest.fixture(scope="module", params=BODIES)
def body(request):
    mesh, nu = BODIES[request.param]
    surface = checked_surface(*mesh)
    return surface, nu, fem_stiffness(surface, nu)


def test_symmetric_positive_and_six_rigid_motions(body):
    surface, nu, result = body
    S = result.stiffness
    np.testing.assert_array_equal(S, S.T)
    values = np.linalg.eigvalsh(S)
    assert np.abs(values[:6]).max() < 1e-13 * values[-1]
    assert values[6] > 1e4 * np.abs(values[:6]).max()
    X, _, _ = affine_fields(surface, nu)
    moves = X[:, 6:] / np.abs(X[:, 6:]).max(axis=0)
    assert np.abs(S @ moves).max() < 1e-12 * values[-1]  # forces and moments balance, as S is symmetric
    assert result.source == "fem"


def test_affine_displacements_are_exact(body, validated):
    surface, nu, result = body
    X, _, F = affine_fields(surface, nu)
    validated(
        "Tetrahedra under uniform strain",
        area="zones",
        quantity="forces",
        reference="uniform stress",
        error=np.abs(result.stiffness @ X[:, :6] - F).max() / np.abs(F).max(),
        bound=1e-12,
    )


def test_tractions_give_the_forces(body):
    surface, _, result = body
    mass = scipy.sparse.kron(traction_mass(surface, result.corner_nodes), np.eye(3))
    assert np.abs(mass @ result.tractions - result.stiffness).max() < 1e-12 * np.abs(result.stiffness).max()


@pytest.mark.parametrize("fixed", ["bottom", "three", "all"])
def test_patch_test_for_any_fixed_set(fixed):
    """Uniaxial tension: u = (x − ν…)σ, with σ on the faces that are not held."""
    nu = 0.35
    surface = checked_surface(*block((2.0, 1.0, 1.0), (4, 3, 2)))
    S = fem_stiffness(surface, nu)
    x = surface.vertices
    exact = (x * np.array((1.0, -nu, -nu))).ravel()
    pull = uniform(surface, np.abs(surface.normals[:, 0]) > 0.9, (1.0, 0.0, 0.0))
    pull *= np.repeat(np.where(x[:, 0] > 1.0, 1.0, -1.0), 3)
    held = {
        "bottom": np.flatnonzero(x[:, 2] == 0.0),
        "three": np.array([0, 5, 11]),
        "all": np.arange(len(x) - 1),
    }[fixed]
    free = np.setdiff1d(np.arange(len(pull)), rows(held))
    right = pull[free] - S.stiffness[np.ix_(free, rows(held))] @ exact[rows(held)]
    u = exact.copy()
    u[free] = np.linalg.solve(S.stiffness[np.ix_(free, free)], right)
    assert np.abs(u - exact).max() < 1e-10 * np.abs(exact).max()
    tractions = (S.tractions @ u).reshape(-1, 3)[S.corner_nodes]
    wanted = surface.normals[:, None, :1] * np.array((1.0, 0.0, 0.0))
    assert np.abs(tractions - wanted).max() < 1e-10


def test_clamped_bar_in_shear(validated):
    """2 × 1 × 1, ν = 0.3, one end held, shear traction 1 on the other: work 37.14 ± 0.03.

    Bricks with 27 nodes gave 36.64, 36.99, 37.09 with 4, 8, 16 of them along the bar, which extrapolates to 37.14.
    """
    errors = []
    for cells in ((4, 2, 2), (8, 4, 4)):
        surface = checked_surface(*block((2.0, 1.0, 1.0), cells))
        S = fem_stiffness(surface, 0.3).stiffness
        load = uniform(surface, surface.normals[:, 0] > 0.9, (0.0, 0.0, 1.0))
        u = clamped(S, np.flatnonzero(surface.vertices[:, 0] == 0.0), load)
        errors.append(load @ u / 37.14 - 1.0)
    validated(
        "Clamped bar in shear, tetrahedra",
        area="zones",
        quantity="deflection",
        reference="finite elements, extrapolated",
        error=abs(errors[1]),
        bound=0.008,
    )
    assert abs(errors[1]) < 0.5 * abs(errors[0])


def test_ball_under_pressure_through_a_cavity(validated):
    """Thick sphere, inner pressure p: u(a) = p a (1 + ν)/(2(b³ − a³)) · (b³ + 2 a³ (1 − 2ν)/(1 + ν)) with E = 1."""
    nu, a, b = 0.3, 0.5, 1.0
    surface = checked_surface(*hollow_sphere(a, b, (2, 2)))
    S = fem_stiffness(surface, nu).stiffness
    inner = surface.faces.min(axis=1) >= 162
    load = np.zeros_like(surface.vertices)
    for corner in range(3):
        push = -surface.areas[inner, None] / 3.0 * surface.normals[inner]
        np.add.at(load, surface.faces[inner, corner], push)
    moves = affine_fields(surface, nu)[0][:, 6:]
    u = np.linalg.solve(S + moves @ moves.T, load.ravel()).reshape(-1, 3)  # nothing is held
    radial = np.einsum("ij,ij->i", u, surface.vertices) / np.linalg.norm(surface.vertices, axis=1)
    exact = a * (1 + nu) / (2 * (b**3 - a**3)) * (b**3 + 2 * a**3 * (1 - 2 * nu) / (1 + nu))
    # The inscribed polyhedron has 5 % less area and 7 % less volume than the sphere inside: of that order.
    validated(
        "Thick sphere of tetrahedra under pressure",
        area="zones",
        quantity="displacement",
        reference="Lamé",
        error=abs(radial[162:].mean() / exact - 1),
        bound=0.06,
    )
    assert np.ptp(radial[162:]) < 0.06 * exact


@pytest.mark.parametrize(
    ("cells", "worst"),
    [((8, 8, 4), 0.015), pytest.param((12, 12, 6), 0.01, marks=pytest.mark.slow)],
)
def test_a_soft_pad_agrees_with_boundary_elements(cells, worst):
    """20 × 20 × 10 mm, ν = 0.45, held below. Measured at 578 vertices: 0.9993, 1.0047, 1.0052."""
    surface = checked_surface(*block((0.02, 0.02, 0.01), cells))
    one, two = (make(surface, 0.45).stiffness for make in (fem_stiffness, boundary_stiffness))
    x = surface.vertices
    fixed, top = np.flatnonzero(x[:, 2] == 0.0), surface.normals[:, 2] > 0.9
    bump = np.zeros_like(x)
    bump[:, 2] = np.where(x[:, 2] > 0.0099, np.exp(-((x[:, :2] - 0.01) ** 2).sum(axis=1) / (2 * 0.004**2)), 0.0)
    mass = scipy.sparse.kron(traction_mass(surface, surface.faces), np.eye(3))
    loads = [uniform(surface, top, (0, 0, 1)), uniform(surface, top, (1, 0, 0)), mass @ bump.ravel()]
    for load in loads:
        ratio = (load @ clamped(one, fixed, load)) / (load @ clamped(two, fixed, load))
        assert abs(ratio - 1.0) < worst


@pytest.mark.parametrize(("thickness", "tolerance"), [(0.5, 0.003), (0.2, 0.015)])
def test_a_thin_strip_bends_as_it_should(thickness, tolerance):
    """Cantilever with edges 0.5 (1 to 2.5 times the thickness), ν = 0: P²(L³/3EI + L/(⅚GA)). Measured: 0.999, 0.991.

    Boundary elements are not positive on it, and the wall is reported where its triangles are larger than twice it.
    """
    length, width = 10.0, 2.0
    surface = checked_surface(*block((length, width, thickness), (20, 4, 1)))
    fixed = np.flatnonzero(surface.vertices[:, 0] == 0.0)
    load = uniform(surface, surface.normals[:, 0] > 0.9, (0.0, 0.0, 1.0))
    P = load.sum()
    exact = P**2 * (length**3 / (3 * width * thickness**3 / 12) + length / (5 / 6 * 0.5 * width * thickness))
    S = fem_stiffness(surface, 0.0).stiffness
    assert load @ clamped(S, fixed, load) == pytest.approx(exact, rel=tolerance)
    assert len(thin_walls(surface)) == (len(surface.vertices) if thickness < 0.25 else 0)
    with pytest.raises((InputError, np.linalg.LinAlgError)):
        clamped(boundary_stiffness(surface, 0.0).stiffness, fixed, load)


# Input


def test_given_tetrahedra_in_any_order_and_sense():
    """A cube of six cells about its diagonal, points shuffled, some cells left-handed."""
    surface = checked_surface(*block(cells=(1, 1, 1)))
    points, cells = checked_tetrahedra(surface, module._meshed(surface))
    np.testing.assert_array_equal(points[:8], surface.vertices)
    order = np.random.default_rng(1).permutation(len(points))
    shuffled = np.empty_like(points)
    shuffled[order] = points
    other = order[cells]
    other[::2] = other[::2][:, [1, 0, 2, 3]]
    one = fem_stiffness(surface, 0.3, (shuffled.tolist(), other.tolist()))
    two = fem_stiffness(surface, 0.3)
    np.testing.assert_allclose(one.stiffness, two.stiffness, atol=1e-13)


def test_wrong_tetrahedra():
    surface = checked_surface(*block(cells=(2, 2, 2)))
    points, cells = checked_tetrahedra(surface, module._meshed(surface))

    def refused(tetrahedra, word):
        with pytest.raises(InputError, match=word):
            fem_stiffness(surface, 0.3, tetrahedra)

    refused("mesh", "pair")
    refused((points,), "pair")
    refused((points[:, :2], cells), r"\(n, 3\)")
    refused((points, cells[:, :3]), r"\(c, 4\)")
    refused((points, cells.astype(float)), "whole numbers")
    refused((points, [[0, 1, 2, 3], [0, 1]]), r"\(c, 4\)")
    refused((points, np.where(cells == 3, len(points), cells)), "indices")
    refused((np.concatenate((points, [[0.5, 0.5, 0.5]])), cells), "1 others")
    refused((points * 1.01, cells), "vertices")
    refused((points, cells[1:]), "fill the surface|points of cells")
    refused((points, np.concatenate((cells, cells[:1]))), "two at a face")
    flat = np.concatenate((cells, [[0, 1, 2, 2]]))
    refused((points, flat), "flat")


@pytest.mark.parametrize(("name", "title"), [("skfem", "scikit-fem"), ("tetgen", "tetgen")])
def test_a_missing_package_is_named_with_its_extra(monkeypatch, name, title):
    monkeypatch.setitem(sys.modules, name, None)
    surface = checked_surface(*TETRAHEDRON)
    with pytest.raises(InputError, match=title) as caught:
        fem_stiffness(surface, 0.3)
    assert "sennit[fem]" in str(caught.value)


def test_progress_runs_from_nothing_to_all():
    told = []
    fem_stiffness(checked_surface(*TETRAHEDRON), 0.3, progress=lambda text, done: told.append(done))
    assert told[0] == 0.0
    assert told[-1] == 1.0
    assert told == sorted(told)
