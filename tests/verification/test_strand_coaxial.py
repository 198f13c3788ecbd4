"""Round strands, and nearly round ones, between clamps nearly on one axis: a flat, curved valley of the energy.

A strand that buckles between coaxial clamps may swing about their axis at no cost. Ends that are a little off it, some
weight, a rest curvature or a section that is round to a hundredth leave a stiffness of 1e-6 to 1e-3 against that swing.
The reference is shooting, with a count of conjugate points (references/coaxial.py). ``--thorough 50`` tries a thousand.
"""

from __future__ import annotations

import numpy as np
import pytest
import records
from references import coaxial
from references.rotation import quaternion_from_rotation

import sennit as sn

CASES = 20 * records.thorough()
NYLON = sn.Material(2.7e9, 0.39, 1150)


def strand(case: coaxial.Case) -> sn.Strand:
    return sn.Strand(
        1.0,
        stiffness=np.diag([*case.stiffness, 1e3, 1e3, 1e3]),
        nodes=case.nodes,
        rest_curvature=tuple(case.rest),
        mass_per_length=1.0,
    )


def tip(case: coaxial.Case, moved=(0.0, 0.0, 0.0)) -> sn.Pose:
    return sn.Pose(case.position + np.asarray(moved), quaternion_from_rotation(case.rotation))


def test_one_millimetre_off_the_axis():
    thread = sn.Strand(0.25, sn.Section.circle(2e-4), NYLON, nodes=41)
    for offset in (0.0, 1e-5, 1e-3):
        state = thread.solve(base=sn.Pose(), tip=sn.Pose((offset, 0, 0.2)))
        assert state.report.iterations < 15
        assert state.stable


def test_random_ends_cold(validated, tried):
    cases = [coaxial.random_case(seed) for seed in range(CASES)]
    states = []
    for seed, case in enumerate(cases):
        state = strand(case).solve(base=sn.Pose(), tip=tip(case), gravity=tuple(case.weight), throw=False)
        assert state.report.converged, (seed, state.report)
        assert state.report.iterations <= 30, seed
        assert state.stable, seed
        states.append(state)
        tried.count("strands between nearly coaxial clamps, cold")
    apart, stored = [], []
    for k, (case, state) in enumerate(zip(cases, states, strict=True)):
        if k % 100 == 0:
            some = states[k : k + 100]
            wrenches = np.array([np.concatenate([s.forces[0], s.moments[0]]) for s in some])
            exact = coaxial.shoot(cases[k : k + 100], wrenches)
            assert exact.miss.max() < 1e-11
            assert not exact.conjugate.any()
        positions, energy = exact.positions[k % 100], exact.energy[k % 100]
        every = coaxial.PLACES // (case.nodes - 1)
        apart.append(np.abs(state.positions - positions[::every]).max())
        stored.append(abs(state.energy.total - energy) / max(abs(energy), 1.0))
        if not (case.weight.any() or case.rest.any() or case.twist):
            # not a higher mode, of twice the energy: the ends' offsets do the work of the wrench there at most
            force, moment, least = coaxial.elastica(case.position[2])
            assert state.energy.total < least + force * case.offset + moment * case.tilt + 1e-3
    validated(
        "Round strands between nearly coaxial clamps",
        area="strand",
        quantity="energy",
        reference="shooting by Runge and Kutta, no conjugate points",
        error=max(stored),
        bound=1e-4,
    )
    validated(
        "Round strands between nearly coaxial clamps",
        area="strand",
        quantity="positions, of the length",
        reference="shooting by Runge and Kutta, no conjugate points",
        # where the strand leaves its plane, 0.41 apart, the shape goes with the root of the mesh's error, 1e-5
        error=max(apart),
        bound=3e-3,
    )


@pytest.mark.parametrize("amplitude", [2e-3, 2e-2])
def test_random_ends_dragged(amplitude, tried):
    for seed in range(2 * CASES):
        case = coaxial.random_case(seed)
        thread, gravity = strand(case), tuple(case.weight)
        state = thread.solve(base=sn.Pose(), tip=tip(case), gravity=gravity)
        moves = np.random.default_rng([18, seed]).normal(size=(3, 3)) * amplitude
        for moved in moves:
            moved[2] = min(moved[2], 0.995 - case.position[2])
            state = thread.solve(base=sn.Pose(), tip=tip(case, moved), gravity=gravity, guess=state, throw=False)
            assert state.report.converged, (seed, state.report)
            assert state.report.iterations <= 30, (seed, state.report)
            assert state.stable, seed
            tried.count("strands between nearly coaxial clamps, dragged")
