"""Energy, work and reciprocity: the tip's wrench is the gradient of the energy, and compliance at rest is symmetric."""

from __future__ import annotations

import numpy as np
import pytest
from references.library import loads, pose, strand
from references.rods import Rod, constant
from references.rotation import exp, log
from references.samples import FULL, coupled_rod, extensible_rod, flat_rod, full_rod

import sennit as sn

MAKERS = [flat_rod, full_rod, extensible_rod, coupled_rod]
SIZE = 1e-3
POSITION, ROTATION = np.array([0.3, 0.2, 0.6]), exp(np.array([0.5, -0.8, 0.6]))


@pytest.mark.parametrize("make", MAKERS)
def test_tip_wrench_is_the_gradient_of_the_energy(make, validated):
    # fourth-order differences: SIZE^4 times fifth derivatives of order 1e4 and less
    thread = strand(make(), nodes=101)
    centre = thread.solve(base=sn.Pose(), tip=pose(POSITION, ROTATION))

    def energy(move: np.ndarray, turn: np.ndarray) -> float:
        state = thread.solve(base=sn.Pose(), tip=pose(POSITION + move, exp(turn) @ ROTATION), guess=centre)
        return state.energy.total

    zero = np.zeros(3)
    scale = max(1.0, np.abs(centre.tip_force).max(), np.abs(centre.tip_torque).max())
    for k, axis in enumerate(np.eye(3)):
        moved = [energy(c * SIZE * axis, zero) for c in (2, 1, -1, -2)]
        turned = [energy(zero, c * SIZE * axis) for c in (2, 1, -1, -2)]
        for values, wrench in ((moved, centre.tip_force), (turned, centre.tip_torque)):
            slope = (-values[0] + 8 * values[1] - 8 * values[2] + values[3]) / (12 * SIZE)
            validated(
                "Wrench at the tip",
                area="strand",
                quantity="wrench, of its size",
                reference="gradient of the energy by differences",
                error=abs(slope - wrench[k]) / scale,
                bound=1e-6,
            )


@pytest.mark.parametrize("make", MAKERS)
def test_base_wrench_is_the_gradient_too(make):
    thread = strand(make(), nodes=101)
    tip = pose(POSITION, ROTATION)
    centre = thread.solve(base=sn.Pose(), tip=tip)
    for k, axis in enumerate(np.eye(3)):
        values = [
            thread.solve(base=sn.Pose(c * SIZE * axis), tip=tip, guess=centre).energy.total for c in (2, 1, -1, -2)
        ]
        slope = (-values[0] + 8 * values[1] - 8 * values[2] + values[3]) / (12 * SIZE)
        assert slope == pytest.approx(centre.base_force[k], abs=1e-5)


@pytest.mark.parametrize("make", MAKERS)
def test_held_point_is_the_gradient(make):
    thread = strand(make(), nodes=101)
    centre = thread.solve(base=sn.Pose(), tip_position=POSITION)
    for k, axis in enumerate(np.eye(3)):
        values = [
            thread.solve(base=sn.Pose(), tip_position=POSITION + c * SIZE * axis, guess=centre).energy.total
            for c in (2, 1, -1, -2)
        ]
        slope = (-values[0] + 8 * values[1] - 8 * values[2] + values[3]) / (12 * SIZE)
        assert slope == pytest.approx(centre.tip_force[k], abs=1e-6)


@pytest.mark.parametrize("make", MAKERS)
def test_potential_of_dead_loads_is_counted(make):
    # under weight and a point load the gradient of the total energy, not of the elastic one, is the tip's force
    thread = strand(make(), nodes=101)
    dead = {"force": (0.5, -2.0, 1.0), "point_loads": [sn.PointLoad(0.4, (1.0, 0.5, -0.5), (0, 0, 0))]}
    centre = thread.solve(base=sn.Pose(), tip=pose(POSITION, ROTATION), **dead)
    for k, axis in enumerate(np.eye(3)):
        values = [
            thread.solve(base=sn.Pose(), tip=pose(POSITION + c * SIZE * axis, ROTATION), guess=centre, **dead)
            for c in (2, 1, -1, -2)
        ]
        total = [v.energy.total for v in values]
        slope = (-total[0] + 8 * total[1] - 8 * total[2] + total[3]) / (12 * SIZE)
        assert slope == pytest.approx(centre.tip_force[k], abs=1e-5)
    # the potential itself: minus load times position, the line load by Simpson's rule
    weights = np.full(101, 4.0)
    weights[::2], weights[[0, -1]] = 2.0, 1.0
    potential = -weights @ (centre.positions @ [0.5, -2.0, 1.0]) / 300 - centre.positions[40] @ [1.0, 0.5, -0.5]
    assert centre.energy.load == pytest.approx(potential, abs=1e-7)
    assert centre.energy.total == pytest.approx(centre.energy.elastic + centre.energy.load, abs=1e-14)


def test_energy_of_known_states(validated):
    # a circle: EI kappa^2 L/2; a twisted line: GJ phi^2/(2 L); a stretched one: EA e^2 L/2
    stiffness = np.diag([2.0, 3.0, 0.7, 50.0, 60.0, 400.0])
    thread = strand(Rod(1.0, stiffness), nodes=101)
    bent = thread.solve(base=sn.Pose(), tip_torque=(2.0 * np.pi / 2, 0, 0), follower=True)
    validated(
        "Quarter circle under an end moment",
        area="strand",
        quantity="energy",
        reference="EI κ²L/2",
        error=abs(bent.energy.total / (np.pi**2 / 4) - 1),
        bound=1e-9,
    )
    twisted = thread.solve(base=sn.Pose(), tip_torque=(0, 0, 0.7 * 1.3), follower=True)
    assert twisted.energy.total == pytest.approx(0.7 * 1.3**2 / 2, rel=1e-9)
    pulled = thread.solve(base=sn.Pose(), tip_force=(0, 0, 8.0), follower=True)
    assert pulled.energy.total == pytest.approx(400.0 * 0.02**2 / 2, rel=1e-9)
    assert pulled.positions[-1, 2] == pytest.approx(1.02, abs=1e-12)


@pytest.mark.parametrize("make", MAKERS)
def test_compliance_at_rest_is_symmetric(make, validated):
    # Maxwell and Betti: the tip's motion per wrench is a symmetric matrix; central differences, error SIZE^2
    thread = strand(make(), nodes=101)
    rest = thread.solve(base=sn.Pose())
    compliance = np.empty((6, 6))
    size = 1e-4
    for k, wrench in enumerate(np.eye(6)):
        ends = [
            thread.solve(base=sn.Pose(), tip_force=c * size * wrench[:3], tip_torque=c * size * wrench[3:])
            for c in (1, -1)
        ]
        compliance[:3, k] = (ends[0].positions[-1] - ends[1].positions[-1]) / (2 * size)
        compliance[3:, k] = log(ends[0].rotations[-1] @ ends[1].rotations[-1].T) / (2 * size)
    validated(
        "Compliance of the tip",
        area="strand",
        quantity="asymmetry, of the largest entry",
        reference="Maxwell's theorem",
        error=np.abs(compliance - compliance.T).max() / np.abs(compliance).max(),
        bound=1e-6,
    )
    assert np.linalg.eigvalsh((compliance + compliance.T) / 2).min() > -1e-7
    assert np.abs(rest.tip_force).max() == 0.0


@pytest.mark.parametrize("make", MAKERS)
def test_betti_between_two_places(make, validated):
    # what a unit load at A moves B along b is what one at B along b moves A
    thread = strand(make(), nodes=101)
    size, at = 1e-4, (40, 80)
    directions = np.array([[1.0, 0.5, -0.3], [-0.2, 1.0, 0.6]])

    def motion(source: int) -> np.ndarray:
        ends = []
        for c in (1, -1):
            load = sn.PointLoad(at[source] / 100, c * size * directions[source], (0, 0, 0))
            ends.append(thread.solve(base=sn.Pose(), point_loads=[load]).positions)
        return (ends[0] - ends[1]) / (2 * size)

    there = motion(0)[at[1]] @ directions[1]
    back = motion(1)[at[0]] @ directions[0]
    validated(
        "Two loads at two places",
        area="strand",
        quantity="mutual work",
        reference="Betti's theorem",
        error=abs(there / back - 1),
        bound=1e-6,
    )


@pytest.mark.parametrize("make", MAKERS)
def test_tangent_stiffness_is_symmetric(make):
    # about a loaded state: the second derivative of the energy in the tip's position
    thread = strand(make(), nodes=101)
    centre = thread.solve(base=sn.Pose(), tip=pose(POSITION, ROTATION))
    size = 1e-4
    columns = []
    for axis in np.eye(3):
        ends = [
            thread.solve(base=sn.Pose(), tip=pose(POSITION + c * size * axis, ROTATION), guess=centre).tip_force
            for c in (1, -1)
        ]
        columns.append((ends[0] - ends[1]) / (2 * size))
    stiffness = np.column_stack(columns)
    assert np.abs(stiffness - stiffness.T).max() < 1e-5 * np.abs(stiffness).max()


def test_clapeyron(validated):
    # a load raised slowly: stored energy is the integral of force over the tip's path
    rod = Rod(1.0, FULL, rest_curvature=constant((0.3, 0.4, 0.5)))
    thread = strand(rod, nodes=101)
    final = np.array([1.0, -2.0, 1.5])
    steps = 200
    states = [thread.solve(tip_force=k / steps * final, **loads(rod, tip=False)) for k in range(steps + 1)]

    def done(chosen) -> float:
        return sum(
            float((a.tip_force + b.tip_force) @ (b.positions[-1] - a.positions[-1])) / 2
            for a, b in zip(chosen[:-1], chosen[1:], strict=True)
        )

    stored = states[-1].energy.elastic - states[0].energy.elastic
    extrapolated = (4 * done(states) - done(states[::2])) / 3  # the trapezoid's error is of second order
    validated(
        "Load raised slowly",
        area="strand",
        quantity="stored energy",
        reference="Clapeyron: work of the load",
        error=abs(stored / extrapolated - 1),
        bound=1e-7,
    )
