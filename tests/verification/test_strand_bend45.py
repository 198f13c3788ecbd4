"""Curved cantilevers in space, with shear and extension, against scipy's boundary value solver (tol 1e-10): 1e-7.

The 45-degree bend of Bathe and Bolourchi (1979) and rods with full stiffness under dead force, torque and weight.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.library import loads, strand
from references.rods import Rod, constant, pose_error, solve_bvp
from references.samples import COUPLED, CURVED, EXTENSIBLE, FULL, wavy

import sennit as sn


def test_bathe_and_bolourchi(validated):
    # R = 100, unit square section, E = 1e7, nu = 0, 600 across the plane of the bend
    radius, force = 100.0, 600.0
    material = sn.Material(youngs_modulus=1e7, poisson_ratio=0.0, density=1.0)
    section = sn.Section.rectangle(1.0, 1.0)
    length = radius * np.pi / 4
    bend = sn.Strand(
        length=length,
        section=section,
        material=material,
        rest_curvature=(1 / radius, 0, 0),
        extensible=True,
        nodes=201,
    )
    # torsion constant of the square: 0.140577... a^4 (Timoshenko and Goodier)
    stiffness = np.diag([1e7 / 12, 1e7 / 12, 5e6 * 0.14057701495515551, 5e6 * 5 / 6, 5e6 * 5 / 6, 1e7])
    # scipy in units of the radius and of the bending stiffness
    unit = 1e7 / 12
    stiffness[:3, :3] /= unit
    stiffness[3:, 3:] *= radius**2 / unit
    rod = Rod(
        np.pi / 4, stiffness, rest_curvature=constant((1.0, 0, 0)), tip_force=(force * radius**2 / unit, 0.0, 0.0)
    )
    state = bend.solve(base=sn.Pose(), tip_force=(force, 0.0, 0.0))
    reference = solve_bvp(rod, loads=(0.3, 0.6, 1.0))
    validated(
        "45° bend of Bathe and Bolourchi",
        area="strand",
        quantity="centreline, of the radius",
        reference="scipy's boundary value solver",
        error=np.abs(state.positions / radius - reference.positions).max(),
        bound=1e-7,
    )
    # published: Simo and Vu-Quoc (1986), eight elements: (15.79, 47.23, 53.37)
    found = np.array([-state.positions[-1, 1], state.positions[-1, 2], state.positions[-1, 0]])
    validated(
        "45° bend of Bathe and Bolourchi",
        area="strand",
        quantity="tip, of the length of 78.5",
        reference="Simo and Vu-Quoc 1986, eight elements",
        error=np.abs(found - [15.79, 47.23, 53.37]).max() / length,
        bound=0.5 / length,
    )


@pytest.mark.parametrize(
    ("stiffness", "rest"),
    [(FULL, CURVED), (EXTENSIBLE, CURVED), (EXTENSIBLE, wavy), (COUPLED, wavy)],
    ids=["inextensible", "extensible", "varying", "coupled"],
)
def test_full_stiffness(stiffness, rest, validated):
    rod = Rod(
        np.pi / 4,
        stiffness,
        rest_curvature=rest,
        tip_force=(1.5, 4.0, -2.0),
        tip_torque=(0.6, -0.4, 0.8),
        force=constant((0.0, 0.0, -3.0)),
    )
    state = strand(rod, nodes=201).solve(**loads(rod))
    reference = solve_bvp(rod, loads=(0.5, 1.0), places=state.s)
    assert state.report.converged
    error = pose_error(state.positions[-1], state.rotations[-1], reference.positions[-1], reference.rotations[-1])
    validated(
        "Curved rod, full stiffness, shear and stretch",
        area="strand",
        quantity="tip's pose, of the length",
        reference="scipy's boundary value solver",
        error=error,
        bound=1e-7,
    )
    assert np.abs(state.positions - reference.positions).max() < 1e-7
    assert np.abs(state.rotations - reference.rotations).max() < 1e-7
    assert np.abs(state.forces - reference.forces).max() < 1e-9
    validated(
        "Curved rod, full stiffness, shear and stretch",
        area="strand",
        quantity="moments, of EI/L",
        reference="scipy's boundary value solver",
        error=np.abs(state.moments - reference.moments).max(),
        bound=1e-6,
    )
    assert np.abs(state.base_torque + reference.moments[0]).max() < 1e-6


def test_loads_that_vary_along_the_strand():
    rod = Rod(
        1.0,
        EXTENSIBLE,
        rest_curvature=wavy,
        force=lambda s: np.vstack([3 * np.sin(2 * s), -4 * s, -3 + 0 * s]),
        torque=lambda s: np.vstack([0 * s, 0.5 * np.cos(3 * s), 0.4 - s]),
    )
    state = strand(rod, nodes=201).solve(**loads(rod))
    reference = solve_bvp(rod, loads=(0.5, 1.0), places=state.s)
    assert np.abs(state.positions - reference.positions).max() < 1e-7
    assert np.abs(state.moments - reference.moments).max() < 1e-6
