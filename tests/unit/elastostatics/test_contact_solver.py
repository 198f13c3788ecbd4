"""Contact forces of a few nodes: conditions, agreement of the methods, and an independent solver.

The compliance is Boussinesq's and Cerruti's of points on a half-space, or random. Tolerances: the methods stop at 1e-10
of the largest gap; forces are worse by the condition of the compliance (below 1e3 here).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from sennit.elastostatics.contact.solver import contact_forces


def half_space(places, poisson_ratio: float, size: float):
    """Displacements of points of a half-space z ≤ 0 (E = 1) under point forces there, (3k, 3k).

    Boussinesq and Cerruti: Johnson, Contact Mechanics, 1985, eqs. 3.18 and 3.75, with z outwards; a point's own
    displacement is that under a uniform disk of radius `size`, averaged over directions for tangential forces.
    """
    nu = poisson_ratio
    d = places[:, None] - places[None]
    r = np.linalg.norm(d, axis=2)
    np.fill_diagonal(r, 1.0)
    x, y = d[..., 0] / r, d[..., 1] / r
    C = np.empty((len(places), 3, len(places), 3))
    k = (1.0 + nu) / np.pi / r
    for a, b, value in (
        (0, 0, (1 - nu) + nu * x * x), (1, 1, (1 - nu) + nu * y * y), (0, 1, nu * x * y), (1, 0, nu * x * y),
        (2, 2, 1 - nu + 0 * x), (2, 0, 0.5 * (1 - 2 * nu) * x), (2, 1, 0.5 * (1 - 2 * nu) * y),
        (0, 2, -0.5 * (1 - 2 * nu) * x), (1, 2, -0.5 * (1 - 2 * nu) * y),
    ):  # fmt: skip
        C[:, a, :, b] = k * value
    own = 2.0 * (1.0 - nu**2) / (np.pi * size)
    for i in range(len(places)):
        C[i, :, i] = np.diag((own * (1 - nu / 2) / (1 - nu), own * (1 - nu / 2) / (1 - nu), own))
    return C.reshape(3 * len(places), -1)


def sphere_on_half_space(poisson_ratio: float = 0.3):
    """k nodes of a grid under a sphere: compliance, normals, gaps."""
    line = np.arange(-5, 6) * 0.1
    places = np.stack(np.meshgrid(line, line, indexing="ij"), axis=2).reshape(-1, 2)
    C = half_space(places, poisson_ratio, 0.1 / np.sqrt(np.pi))
    np.testing.assert_allclose(C, C.T, atol=1e-14)
    assert np.linalg.eigvalsh(C)[0] > 0.0
    gaps = 0.5 * (places**2).sum(axis=1) - 0.1
    return C, np.tile((0.0, 0.0, -1.0), (len(places), 1)), gaps, places


def random_problem(seed: int, k: int = 24):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3 * k, 3 * k + 5))
    C = root @ root.T / (3 * k) + 0.3 * np.eye(3 * k)
    normals = rng.normal(size=(k, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return C, normals, rng.normal(size=k), 0.5 * rng.normal(size=(k, 3))


def check(C, normals, gaps, slips, friction, answer, tolerance=1e-8) -> None:
    """Signorini's and Coulomb's conditions in plain numpy."""
    f = answer.forces
    u = (C @ f.ravel()).reshape(-1, 3)
    scale, largest = np.abs(gaps).max(), np.abs(f).max()
    gap = gaps + np.einsum("ij,ij->i", normals, u)
    pressed = np.einsum("ij,ij->i", normals, f)
    friction_force = f - pressed[:, None] * normals
    slip = slips + u
    slip = slip - np.einsum("ij,ij->i", normals, slip)[:, None] * normals
    size, sliding = np.linalg.norm(friction_force, axis=1), np.linalg.norm(slip, axis=1)
    assert answer.converged
    assert answer.residual <= tolerance * scale
    assert pressed.min() >= -tolerance * largest
    assert gap.min() >= -tolerance * scale
    assert np.abs(gap * pressed).max() <= tolerance * scale * largest
    assert (size <= friction * pressed + tolerance * largest).all()
    # Where it slips, friction is at its limit and against the slip.
    np.testing.assert_allclose(
        sliding[:, None] * friction_force, -(friction * pressed)[:, None] * slip, atol=3 * tolerance * scale * largest
    )


@pytest.mark.parametrize("seed", range(6))
def test_frictionless_against_least_squares(seed: int) -> None:
    """min ½ λᵀAλ + γᵀλ over λ ≥ 0 is least squares with A = LLᵀ: |Lᵀλ + L⁻¹γ|."""
    C, normals, gaps, slips = random_problem(seed)
    k = len(gaps)
    A = np.einsum("ia,iajb,jb->ij", normals, C.reshape(k, 3, k, 3), normals)
    L = np.linalg.cholesky(A)
    expected, _ = nnls(L.T, -np.linalg.solve(L, gaps))
    for method in ("active-set", "gauss-seidel", "newton"):
        answer = contact_forces(C, normals, gaps, method=method)
        np.testing.assert_allclose(answer.forces, expected[:, None] * normals, atol=1e-8 * expected.max())
        check(C, normals, gaps, 0 * slips, 0.0, answer)


@pytest.mark.parametrize("friction", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_friction(seed: int, friction: float) -> None:
    C, normals, gaps, slips = random_problem(seed)
    sweeps = contact_forces(C, normals, gaps, slips, friction=friction, method="gauss-seidel")
    newton = contact_forces(C, normals, gaps, slips, friction=friction, method="newton")
    check(C, normals, gaps, slips, friction, sweeps)
    check(C, normals, gaps, slips, friction, newton)
    if friction < 0.5:  # unique then, in these problems
        np.testing.assert_allclose(sweeps.forces, newton.forces, atol=1e-8 * np.abs(newton.forces).max())


@pytest.mark.parametrize("drag", [(0.0, 0.0), (0.005, 0.0), (0.12, 0.16)])
def test_sphere_dragged_over_a_half_space(drag) -> None:
    C, normals, gaps, _ = sphere_on_half_space()
    slips = np.tile((-drag[0], -drag[1], 0.0), (len(gaps), 1))
    sweeps = contact_forces(C, normals, gaps, slips, friction=0.3)
    assert sweeps.method == "gauss-seidel"
    check(C, normals, gaps, slips, 0.3, sweeps)
    newton = contact_forces(C, normals, gaps, slips, friction=0.3, method="newton")
    check(C, normals, gaps, slips, 0.3, newton)
    np.testing.assert_allclose(sweeps.forces, newton.forces, atol=1e-8 * np.abs(newton.forces).max())
    assert newton.iterations < 25
    total = sweeps.forces.sum(axis=0)
    if drag[0] == 0.12:  # all slips: friction points along the drag
        assert np.hypot(*total[:2]) == pytest.approx(-0.3 * total[2], rel=0.01)
        assert total[1] / total[0] == pytest.approx(4.0 / 3.0, rel=0.01)


def test_hertz_on_the_half_space(validated) -> None:
    """The solver alone, with a compliance that it did not make: P = 4/3 E*√R δ^{3/2} with R = 1, δ = 0.1."""
    C, normals, gaps, _ = sphere_on_half_space()
    force = contact_forces(C, normals, gaps).forces[:, 2].sum()
    validated(
        "Sphere on Boussinesq's half-space",
        area="contact",
        quantity="force",
        reference="Hertz",
        error=abs(-force / (4.0 / 3.0 / (1.0 - 0.3**2) * 0.1**1.5) - 1),
        bound=0.02,
    )


def test_warm_start() -> None:
    C, normals, gaps, _ = sphere_on_half_space()
    cold = contact_forces(C, normals, gaps, friction=0.3)
    warm = contact_forces(C, normals, gaps * 1.0001, friction=0.3, guess=cold.forces)
    again = contact_forces(C, normals, gaps, friction=0.3, guess=cold.forces)
    assert again.iterations <= 2
    assert warm.iterations < cold.iterations


def test_a_disk_not_a_box() -> None:
    """One node, dragged in any direction: the same friction."""
    normals = np.array(((0.0, 0.0, 1.0),))
    for angle in np.linspace(0.0, 6.0, 13):
        slip = -10.0 * np.array(((np.cos(angle), np.sin(angle), 0.0),))
        answer = contact_forces(np.eye(3), normals, np.array((-1.0,)), slip, friction=0.5)
        np.testing.assert_allclose(answer.forces, [[0.5 * np.cos(angle), 0.5 * np.sin(angle), 1.0]], atol=1e-10)


def test_energy_is_least() -> None:
    """Without friction the forces minimise the complementary energy ½ fᵀCf + γᵀf_n among pushing forces."""
    C, normals, gaps, _ = random_problem(11)
    k = len(gaps)
    A = np.einsum("ia,iajb,jb->ij", normals, C.reshape(k, 3, k, 3), normals)
    best = np.einsum("ij,ij->i", contact_forces(C, normals, gaps).forces, normals)
    rng = np.random.default_rng(3)
    for _ in range(200):
        other = np.maximum(best + 0.1 * rng.normal(size=k), 0.0)
        assert 0.5 * other @ A @ other + gaps @ other >= 0.5 * best @ A @ best + gaps @ best - 1e-10


def test_nothing_touches() -> None:
    C, normals, gaps, slips = random_problem(2)
    for friction in (0.0, 0.5):
        answer = contact_forces(C, normals, np.abs(gaps), slips, friction=friction)
        assert answer.converged and not answer.forces.any()
