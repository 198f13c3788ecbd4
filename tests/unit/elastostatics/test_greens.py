"""Green's functions: C = S_ff⁻¹, symmetric to the last bit; what is left where the body is not held."""

from __future__ import annotations

import numpy as np
import pytest
from references.meshes import block, rows
from references.solids import fem_block

from sennit.elastostatics.greens import GreensFunctions, rigid_motions, surface_moments, unheld_modes
from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.surface import Surface
from sennit.errors import InputError


@pytest.fixture(scope="module")
def solid():
    return fem_block(size=(1.0, 0.8, 1.2), cells=(3, 3, 4), poisson_ratio=0.4)


def bottom(surface):
    return np.flatnonzero(surface.vertices[:, 2] < 1e-9)


def test_the_compliance_is_the_inverse_and_symmetric(solid) -> None:
    surface, boundary = solid
    greens = GreensFunctions(surface, boundary, bottom(surface))
    C = greens.compliance
    assert greens.held and C.flags.c_contiguous
    assert np.array_equal(C, C.T)
    block_ff = boundary.stiffness[np.ix_(rows(greens.free), rows(greens.free))]
    assert np.abs(C @ block_ff - np.eye(len(C))).max() < 1e-12
    assert np.array_equal(greens.slot[greens.free], np.arange(len(greens.free)))
    assert (greens.slot[bottom(surface)] == -1).all()


def test_a_stiffness_stored_by_columns_gives_the_same(solid) -> None:
    surface, boundary = solid
    by_columns = BoundaryStiffness(np.asfortranarray(boundary.stiffness), boundary.tractions, surface.faces, "bem")
    one = GreensFunctions(surface, boundary, bottom(surface)).compliance
    assert np.array_equal(one, GreensFunctions(surface, by_columns, bottom(surface)).compliance)


def test_products_with_few_and_with_many_forces(solid) -> None:
    surface, boundary = solid
    greens = GreensFunctions(surface, boundary, bottom(surface))
    rng = np.random.default_rng(1)
    size = len(greens.compliance)
    for count in (0, 1, 2, 3, 4, 7, size):
        forces = np.zeros(size)
        forces[rng.choice(size, count, replace=False)] = rng.normal(size=count)
        wanted = greens.compliance @ forces
        scale = np.abs(wanted).max() + 1e-300
        assert np.abs(greens.displacements(forces) - wanted).max() <= 1e-14 * scale
        some = rng.choice(size, 5, replace=False)
        assert np.abs(greens.displacements_at(some, forces) - wanted[some]).max() <= 1e-14 * scale


def test_rigid_motions_are_orthonormal_over_the_surface_and_force_nothing(solid) -> None:
    surface, boundary = solid
    motions = rigid_motions(surface)
    everywhere = np.arange(len(surface.vertices))
    assert np.abs(motions.T @ surface_moments(surface, motions, everywhere) - np.eye(6)).max() < 1e-13
    assert np.abs(boundary.stiffness @ motions).max() < 1e-13 * np.abs(boundary.stiffness).max()


@pytest.mark.parametrize(("axis", "held"), [((), 0), ((0,), 3), ((0, 1), 5), ((0, 1, 2), 6)])
def test_how_many_motions_fixed_vertices_leave(solid, axis, held) -> None:
    """A vertex holds three, two hold five, and three that are not on a line all six."""
    surface, _ = solid
    corners = [0, *(int(np.argmax(surface.vertices @ np.eye(3)[a] - surface.vertices.sum(1) * 1e-3)) for a in range(3))]
    fixed = np.array(corners[: len(axis)], dtype=np.int64)
    modes = unheld_modes(surface, fixed)
    assert modes.shape[1] == 6 - held
    assert not modes[rows(fixed)].any()


def test_vertices_on_a_line_leave_a_rotation(solid) -> None:
    surface, boundary = solid
    line = np.flatnonzero(np.abs(surface.vertices[:, 1:]).max(axis=1) < 1e-9)
    assert len(line) == 4
    assert GreensFunctions(surface, boundary, line).modes.shape[1] == 1


@pytest.mark.parametrize("fixed", [[], [0], [0, 1]])
def test_balanced_loads_on_a_body_that_is_not_held(solid, fixed) -> None:
    surface, boundary = solid
    greens = GreensFunctions(surface, boundary, np.array(fixed, dtype=np.int64))
    B = greens.modes
    forces = np.random.default_rng(2).normal(size=len(B))
    forces -= B @ np.linalg.solve(B.T @ B, B.T @ forces)
    u = greens.displacements(forces)
    block_ff = boundary.stiffness[np.ix_(greens.rows, greens.rows)]
    assert np.abs(block_ff @ u - forces).max() < 1e-11
    assert np.abs(B.T @ surface_moments(surface, u[:, None], greens.free)).max() < 1e-11 * np.abs(u).max()


def test_a_stiffness_that_is_not_positive_is_refused() -> None:
    vertices, faces = block(cells=(2, 2, 2))
    surface = Surface(vertices, faces)
    S = np.eye(3 * len(vertices))
    fixed = bottom(surface)
    S[(3 * np.setdiff1d(np.arange(len(vertices)), fixed)[4],) * 2] = -1e-3
    with pytest.raises(InputError, match="walls are too thin.*fem"):
        GreensFunctions(surface, BoundaryStiffness(S, S, faces, "bem"), fixed)
    with pytest.raises(InputError, match="tetrahedra"):
        GreensFunctions(surface, BoundaryStiffness(S, S, faces, "fem"), fixed)
