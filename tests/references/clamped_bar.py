"""Reference for a clamped bar in shear, from three-dimensional finite elements with nothing in common with the library.

A bar of length 2 along x and of section 1 × 1, E = 1, ν = 0.3, is clamped at x = 0; at x = 2 it carries a uniform shear
traction of total force 1 along z. The number is the mean of u_z over that end (twice the energy).

Run ``python -m references.clamped_bar`` in the tests' folder to make it again (scikit-fem, some minutes). Hexahedra
with 27 nodes on a quarter of the bar: u_y = 0 on the plane y = 0, u_x = u_y = 0 on z = 0; cells shrink towards the
clamped rim, where the stress is singular. Measured, cells along x, y, z and mean deflection:

    8 × 3 × 3      37.11381
    12 × 4 × 4     37.13651
    16 × 6 × 6     37.14644
    24 × 8 × 8     37.15117
    32 × 12 × 12   37.15297

Halving the cells divides the change by five, which leaves 37.1545, good to 0.01 %.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg

NU = 0.3
DEFLECTION = 37.1545


def _graded(cells: int, length: float, power: float) -> np.ndarray:
    """Grid lines on [0, length], dense at 0."""
    return length * np.linspace(0.0, 1.0, cells + 1) ** power


def deflection(cells: tuple[int, int, int]) -> float:
    """Mean end deflection on a grid of `cells`, quadratic in each direction."""
    import skfem
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    lines = (
        _graded(cells[0], 2.0, 2.0),
        0.5 - _graded(cells[1], 0.5, 2.0)[::-1],
        0.5 - _graded(cells[2], 0.5, 2.0)[::-1],
    )
    mesh = skfem.MeshHex.init_tensor(*lines)
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementHex2()), intorder=5)
    K = skfem.asm(linear_elasticity(*lame_parameters(1.0, NU)), basis)
    facets = mesh.facets_satisfying(lambda x: np.isclose(x[0], 2.0))
    end = skfem.FacetBasis(mesh, basis.elem, facets=facets, intorder=5)
    load = skfem.LinearForm(lambda v, w: v[2]).assemble(end)
    fixed = np.concatenate(
        (
            basis.get_dofs(lambda x: np.isclose(x[0], 0.0)).all(),
            basis.get_dofs(lambda x: np.isclose(x[1], 0.0)).all(["u^2"]),
            basis.get_dofs(lambda x: np.isclose(x[2], 0.0)).all(["u^1", "u^2"]),
        )
    )
    free = np.setdiff1d(np.arange(basis.N), fixed)
    A = K[free][:, free]
    u = np.zeros(basis.N)
    u[free], failed = scipy.sparse.linalg.cg(A, load[free], rtol=1e-9, M=scipy.sparse.diags_array(1.0 / A.diagonal()))
    assert not failed
    # The quarter carries a quarter of the force: its end area is 1/4, and load·u = ∫u_z over it.
    return float(load @ u / 0.25)


if __name__ == "__main__":
    for grid in ((8, 3, 3), (12, 4, 4), (16, 6, 6), (24, 8, 8), (32, 12, 12)):
        print(grid, f"{deflection(grid):.6f}", flush=True)
