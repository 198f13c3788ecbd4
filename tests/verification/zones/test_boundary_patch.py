"""What a boundary stiffness owes exactly: affine fields, balance, symmetry, six rigid motions, any frame and unit."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from references.boundary import affine, rigid_motions, solid, solve
from references.meshes import block

from sennit.elastostatics.boundary.elements import boundary_stiffness, explain_indefinite, traction_nodes
from sennit.elastostatics.stiffness import traction_mass
from sennit.elastostatics.surface import Surface
from sennit.errors import InputError

SOLIDS = ["block", "noisy sphere", "cavity"]
RATIOS = [-0.5, 0.0, 0.3, 0.45, 0.499]


@functools.cache
def made(name, nu):
    surface = solid(name)
    return surface, boundary_stiffness(surface, nu)


def fixed_sets(surface):
    """Just enough, one end, one side, both ends, every other vertex."""
    x = surface.vertices
    low, high = x.min(axis=0), x.max(axis=0)
    corners = [int(np.argmin(x @ d)) for d in ((1, 0.1, 0.2), (-1, 0.2, 0.1), (0.1, 1, -0.1))]
    band = 0.1 * (high - low)
    return {
        "three vertices": np.unique(corners),
        "one end": np.flatnonzero(x[:, 0] < low[0] + band[0]),
        "both ends": np.flatnonzero((x[:, 2] < low[2] + band[2]) | (x[:, 2] > high[2] - band[2])),
        "every other": np.arange(0, len(x), 2),
    }


@pytest.mark.parametrize("nu", RATIOS)
@pytest.mark.parametrize("name", SOLIDS)
def test_affine_fields_are_exact(name, nu):
    surface, result = made(name, nu)
    for seed in range(3):
        u, force = affine(surface, nu, seed)
        np.testing.assert_allclose(result.stiffness @ u, force, atol=2e-13 * np.abs(result.stiffness).max() * len(u))


@pytest.mark.parametrize("nu", RATIOS)
@pytest.mark.parametrize("name", SOLIDS)
def test_patch_for_any_fixed_set(name, nu, validated):
    surface, result = made(name, nu)
    u, force = affine(surface, nu)
    for fixed in fixed_sets(surface).values():
        got = solve(result.stiffness, force, fixed, u)
        validated(
            "Patch test, three solids, ν from −0.5 to 0.499",
            area="zones",
            quantity="displacement",
            reference="uniform strain",
            error=np.abs(got - u).max() / np.abs(u).max(),
            bound=1e-10,
        )


@pytest.mark.parametrize("nu", RATIOS)
@pytest.mark.parametrize("name", SOLIDS)
def test_forces_balance_and_work_is_positive(name, nu, validated):
    surface, result = made(name, nu)
    S = result.stiffness
    assert np.array_equal(S, S.T)
    largest = np.abs(S).max()
    assert np.abs(S @ rigid_motions(surface.vertices)).max() < 1e-12 * largest
    values = np.linalg.eigvalsh(S)
    assert np.abs(values[:6]).max() < 1e-13 * values[-1]
    assert values[6] > 1e-7 * values[-1]  # bulk against shear at ν = 0.499: about 1/500, and this mesh's own 1e-3
    load = S @ np.random.default_rng(1).normal(size=len(S))
    f = load.reshape(-1, 3)
    validated(
        "Forces of any displacement",
        area="zones",
        quantity="sum of forces",
        reference="balance",
        error=np.abs(f.sum(axis=0)).max() / np.abs(f).max(),
        bound=1e-11,
    )
    assert np.abs(np.cross(surface.vertices, f).sum(axis=0)).max() < 1e-11 * np.abs(f).max()


def test_tractions_and_forces_agree():
    """Before its repair S is M Y; on flat sides both are exact for affine fields but for Gauss's error."""
    surface, result = made("block", 0.3)
    mass = traction_mass(surface, result.corner_nodes)
    u, force = affine(surface, 0.3)
    f = mass @ (result.tractions @ u).reshape(-1, 3)
    np.testing.assert_allclose(f.ravel(), force, atol=1e-5 * np.abs(force).max())
    np.testing.assert_allclose(mass.sum(), surface.areas.sum(), rtol=1e-13)


def test_tractions_of_a_uniform_strain_at_edges_and_corners(validated):
    """Each side of a block has its own traction at the block's edges: σn, to what six Gauss points leave (1e-6)."""
    surface, result = made("block", 0.3)
    u, _ = affine(surface, 0.3)
    gradient = np.linalg.lstsq(np.hstack((surface.vertices, np.ones((len(surface.vertices), 1)))), u.reshape(-1, 3))[0]
    strain = 0.5 * (gradient[:3] + gradient[:3].T)
    stress = (strain + 0.3 / 0.4 * np.trace(strain) * np.eye(3)) / 1.3
    t = (result.tractions @ u).reshape(-1, 3)[result.corner_nodes]
    validated(
        "Tractions at edges and corners of a block",
        area="zones",
        quantity="traction, of E times the strain",
        reference="uniform stress",
        error=np.abs(t - (surface.normals @ stress)[:, None]).max(),
        bound=5e-6,
    )


@pytest.mark.parametrize("name", SOLIDS)
def test_turned_moved_and_measured_otherwise(name, validated):
    surface, result = made(name, 0.3)
    R, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))
    R *= np.linalg.det(R)
    other = boundary_stiffness(Surface(1e-3 * (surface.vertices @ R.T) + (0.4, -0.2, 0.1), surface.faces), 0.3)
    n = len(surface.vertices)
    S = np.einsum("ai,nimj,bj->namb", R, result.stiffness.reshape(n, 3, n, 3), R, optimize=True).reshape(3 * n, 3 * n)
    validated(
        "Solid turned, moved and scaled",
        area="zones",
        quantity="stiffness",
        reference="invariance",
        error=np.abs(1e3 * other.stiffness - S).max() / np.abs(S).max(),
        bound=1e-9,
    )
    assert np.array_equal(other.corner_nodes, result.corner_nodes)


def test_numbering_of_traction_nodes():
    """Three at a cube's corners, two on its edges, one inside its sides; one on a sphere."""
    v, f = block((1, 1, 1), (3, 3, 3))
    nodes = traction_nodes(Surface(v, f))
    sides = ((v < 1e-9) | (v > 1 - 1e-9)).sum(axis=1)
    per_vertex = np.bincount(np.unique(np.stack((f.ravel(), nodes.ravel()), 1), axis=0)[:, 0])
    assert np.array_equal(per_vertex, sides)
    assert np.array_equal(np.unique(nodes), np.arange(sides.sum()))
    surface = solid("cavity")
    assert np.array_equal(traction_nodes(surface), surface.faces)


def test_progress_is_told():
    said = []
    boundary_stiffness(solid("block"), 0.3, lambda text, fraction: said.append((text, fraction)))
    fractions = [fraction for _, fraction in said]
    assert fractions[0] == 0.0 and fractions[-1] == 1.0 and fractions == sorted(fractions)
    assert all(text for text, _ in said)


@pytest.mark.parametrize("nu", [0.5, -1.0, 0.7, np.nan, "soft"])
def test_ratios_that_no_solid_has(nu):
    with pytest.raises(InputError, match="poisson_ratio"):
        boundary_stiffness(solid("block"), nu)


def test_volume_kept_says_what_to_use():
    with pytest.raises(InputError, match=r"0\.5; .*0\.499"):
        boundary_stiffness(solid("block"), 0.5)


def test_walls_too_thin():
    """A plate a third as thick as its triangles are long, on a thick foot: the plate's vertices are named."""
    thin = Surface(*block((1, 1, 0.05), (6, 6, 1)))
    with pytest.raises(InputError, match=r'too thin .* near vertices .*method="fem"'):
        boundary_stiffness(thin, 0.3)
    assert "0.21 times as thick" in explain_indefinite(thin)
    finer = Surface(*block((1, 1, 0.25), (4, 4, 1)))
    boundary_stiffness(finer, 0.3)
