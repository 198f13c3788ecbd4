"""Hyperelastic laws: a law that equals the linear one gives its answer; nonlinear ones meet closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from references import helix
from references.library import loads, pose, strand
from references.rods import constant, solve_bvp
from references.rotation import exp
from references.samples import COUPLED, EXTENSIBLE, coupled_rod, extensible_rod
from scipy.optimize import brentq

import sennit as sn

LINEAR = COUPLED.copy()
UNCOUPLED = EXTENSIBLE.copy()


@njit
def linear(strain, stress, tangent):
    energy = 0.0
    for i in range(6):
        stress[i] = 0.0
        for j in range(6):
            tangent[i, j] = LINEAR[i, j]
            stress[i] += LINEAR[i, j] * strain[j]
        energy += 0.5 * stress[i] * strain[i]
    return energy


@njit
def uncoupled(strain, stress, tangent):
    energy = 0.0
    for i in range(6):
        stress[i] = 0.0
        for j in range(6):
            tangent[i, j] = UNCOUPLED[i, j]
            stress[i] += UNCOUPLED[i, j] * strain[j]
        energy += 0.5 * stress[i] * strain[i]
    return energy


@njit
def stiffening(strain, stress, tangent):
    """W = sum of k x^2/2 + c x^4/4, each strain by itself."""
    energy = 0.0
    for i in range(6):
        k = 1.0 if i < 3 else 100.0
        c = 0.3 if i < 3 else 3e4
        x = strain[i]
        for j in range(6):
            tangent[i, j] = 0.0
        tangent[i, i] = k + 3.0 * c * x * x
        stress[i] = k * x + c * x**3
        energy += 0.5 * k * x * x + 0.25 * c * x**4
    return energy


def test_linear_law_equals_linear_stiffness():
    rod = coupled_rod(tip_force=(1.0, -2.0, 1.5), tip_torque=(0.5, 0.3, -0.4), force=constant((0.0, -1.0, 0.5)))
    ordinary = strand(rod, nodes=101)
    user = sn.Strand(
        length=1.0, law=sn.Law(linear), rest_curvature=lambda s: rod.rest_curvature(np.array([s]))[:, 0],
        extensible=True, nodes=101,
    )  # fmt: skip
    cases = [
        loads(rod),
        {"base": sn.Pose(), "tip": pose((0.3, 0.2, 0.6), exp(np.array([0.5, -0.8, 0.6])))},
        {"base": sn.Pose(), "tip_position": (0.3, 0.2, 0.6), "force": (0.0, -1.0, 0.5)},
        {"base": sn.Pose(), "tip_force": (1.0, 2.0, -1.0), "tip_torque": (0.3, 0.2, 0.1), "follower": True},
    ]
    for case in cases:
        a, b = ordinary.solve(**case), user.solve(**case)
        assert np.abs(a.positions - b.positions).max() < 1e-9
        assert np.abs(a.moments - b.moments).max() < 1e-8
        assert np.abs(a.forces - b.forces).max() < 1e-8
        assert np.abs(a.stretches - b.stretches).max() < 1e-9
        assert a.energy.total == pytest.approx(b.energy.total, rel=1e-8)
        assert a.stable == b.stable


def test_uncoupled_law_against_scipy():
    rod = extensible_rod(tip_force=(1.0, -2.0, 1.5), force=constant((0.0, -1.0, 0.5)))
    user = sn.Strand(length=1.0, law=sn.Law(uncoupled), rest_curvature=(0.4, -0.7, 0.9), extensible=True, nodes=201)
    state = user.solve(**loads(rod))
    reference = solve_bvp(rod, places=state.s, loads=(0.5, 1.0))
    assert np.abs(state.positions - reference.positions).max() < 1e-7


def test_inextensible_law_has_no_stretch():
    user = sn.Strand(length=1.0, law=sn.Law(uncoupled), rest_curvature=(0.4, -0.7, 0.9), extensible=False, nodes=101)
    stiff = sn.Strand(length=1.0, stiffness=UNCOUPLED, rest_curvature=(0.4, -0.7, 0.9), extensible=False, nodes=101)
    a, b = (s.solve(base=sn.Pose(), tip_force=(1.0, -2.0, 1.5)) for s in (user, stiff))
    assert np.abs(a.positions - b.positions).max() < 1e-9
    assert np.abs(a.stretches - [0, 0, 1]).max() == 0.0


@pytest.mark.parametrize("moment", [0.5, 3.0])
@pytest.mark.parametrize("follower", [True, False])
def test_stiffening_circle(moment, follower, validated):
    # pure bending: kappa + 0.3 kappa^3 = M everywhere, a circle
    kappa = brentq(lambda k: k + 0.3 * k**3 - moment, 0, 10, xtol=1e-15)
    user = sn.Strand(length=1.0, law=sn.Law(stiffening), extensible=True, nodes=201)
    state = user.solve(base=sn.Pose(), tip_torque=(moment, 0, 0), follower=follower)
    positions, rotations = helix.uniform(np.array([kappa, 0, 0]), np.array([0, 0, 1.0]), state.s)
    validated(
        "Law W = kx²/2 + cx⁴/4, end moment: a circle",
        area="strand",
        quantity="centreline, of the length",
        reference="closed form",
        error=np.abs(state.positions - positions).max(),
        bound=1e-9,
    )
    assert np.abs(state.rotations - rotations).max() < 1e-9
    assert state.energy.total == pytest.approx(0.5 * kappa**2 + 0.25 * 0.3 * kappa**4, rel=1e-8)


@pytest.mark.parametrize("pull", [1.0, 50.0, -2.0])
def test_stiffening_bar(pull, validated):
    # pure stretch: 100 e + 3e4 e^3 = N; the push stays below the first buckling load pi^2/4
    stretch = brentq(lambda e: 100 * e + 3e4 * e**3 - pull, -0.9, 0.9, xtol=1e-15)
    user = sn.Strand(length=1.0, law=sn.Law(stiffening), extensible=True, nodes=101)
    state = user.solve(base=sn.Pose(), tip_force=(0, 0, pull))
    validated(
        "Law W = kx²/2 + cx⁴/4, pulled",
        area="strand",
        quantity="length",
        reference="closed form",
        error=abs(state.positions[-1, 2] - 1 - stretch),
        bound=1e-10,
    )
    assert state.stable is True
    held = user.solve(base=sn.Pose(), tip=sn.Pose((0, 0, 1 + stretch)), guess=state)
    assert held.tip_force[2] == pytest.approx(pull, rel=1e-7)


def test_stiffening_pose_to_pose_is_the_gradient_of_its_energy():
    user = sn.Strand(length=1.0, law=sn.Law(stiffening), rest_curvature=(0.3, 0.2, 0.5), extensible=True, nodes=101)
    position, turn = np.array([0.3, 0.2, 0.6]), exp(np.array([0.5, -0.8, 0.6]))
    centre = user.solve(base=sn.Pose(), tip=pose(position, turn))
    for k, axis in enumerate(np.eye(3)):
        values = [
            user.solve(base=sn.Pose(), tip=pose(position + c * 1e-3 * axis, turn), guess=centre).energy.total
            for c in (2, 1, -1, -2)
        ]
        slope = (-values[0] + 8 * values[1] - 8 * values[2] + values[3]) / 12e-3
        assert slope == pytest.approx(centre.tip_force[k], abs=1e-5)


def test_a_wrong_derivative_is_refused():
    @njit
    def wrong(strain, stress, tangent):
        energy = 0.0
        for i in range(6):
            for j in range(6):
                tangent[i, j] = 0.0
            tangent[i, i] = 1.0
            stress[i] = 1.1 * strain[i]
            energy += 0.5 * strain[i] ** 2
        return energy

    with pytest.raises(sn.InputError):
        sn.Law(wrong)


def test_extensible_strand_between_its_ends():
    # straight, 10 % longer than at rest: T = EA e
    stiffness = np.diag([1.0, 1.0, 0.77, 300.0, 300.0, 1e3])
    rope = sn.Strand(length=1.0, stiffness=stiffness, extensible=True, nodes=101)
    state = rope.solve(base=sn.Pose(), tip=sn.Pose((0, 0, 1.1)))
    assert state.tip_force[2] == pytest.approx(100.0, rel=1e-8)
    assert np.abs(state.stretches - [0, 0, 1.1]).max() < 1e-9
    with pytest.raises(sn.InputError):
        sn.Strand(length=1.0, stiffness=stiffness, extensible=False, nodes=101).solve(
            base=sn.Pose(), tip=sn.Pose((0, 0, 1.1))
        )
