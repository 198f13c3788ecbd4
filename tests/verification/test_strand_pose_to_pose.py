"""Both ends held: random poses from random wrenches, the clamped-clamped elastica, a tip held by a point.

Whatever equilibrium is found must be one: the equations restarted at every node (``equilibrium.defects``) leave errors
of order h^4 summed over the strand; a state that is no equilibrium leaves errors of order one.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import elastica, equilibrium
from references.library import loads, pose, strand
from references.rods import Rod, constant, pose_error
from references.rotation import exp
from references.samples import coupled_rod, extensible_rod, flat_rod, full_rod, round_rod

import sennit as sn

NODES = 101
# curvature up to 20, elements of 0.02: (u h)^4/100 times moments of order 10
DEFECT = 2e-3


def random_wrenches(count: int, seed: int) -> np.ndarray:
    """Force up to 10 EI/L^2 and torque up to 5 EI/L, uniform in the balls."""
    generator = np.random.default_rng(seed)
    out = np.empty((count, 6))
    for row in out:
        for part, size in ((slice(0, 3), 10.0), (slice(3, 6), 5.0)):
            direction = generator.normal(size=3)
            row[part] = size * generator.uniform() ** (1 / 3) * direction / np.linalg.norm(direction)
    return out


@pytest.mark.slow
def test_a_thousand_random_poses():
    failed, problems = [], 0
    for seed, make in enumerate([round_rod, full_rod, extensible_rod, coupled_rod]):
        rod = make()
        thread = strand(rod, nodes=NODES)
        for k, wrench in enumerate(random_wrenches(250, seed)):
            problems += 1
            goal = thread.solve(base=sn.Pose(), tip_force=wrench[:3], tip_torque=wrench[3:], follower=True).tip_pose
            state = thread.solve(base=sn.Pose(), tip=goal, throw=False)
            label = (make.__name__, seed, tuple(np.round(wrench, 3)))
            if not (state.report.converged and state.report.residual <= 1e-9):
                failed.append((label, state.report.status, state.report.residual))
                continue
            error = pose_error(state.positions[-1], state.rotations[-1], goal.position, goal.rotation)
            assert error < 1e-8, label
            assert state.stable is True, label
            # a true equilibrium, that one or another; every fifth, since the check costs more than the solve
            if k % 5 == 0:
                assert equilibrium.defects(rod, state, substeps=3).worst < DEFECT, label
    assert problems == 1000
    assert len(failed) <= 1, failed


def test_round_trip_of_moderate_wrenches(validated):
    # loads too small for a second equilibrium: the same wrench must come back
    for make in (flat_rod, full_rod, extensible_rod, coupled_rod):
        thread = strand(make(), nodes=NODES)
        for wrench in 0.15 * random_wrenches(10, 99):
            there = thread.solve(base=sn.Pose(), tip_force=wrench[:3], tip_torque=wrench[3:])
            back = thread.solve(base=sn.Pose(), tip=there.tip_pose)
            validated(
                "Wrench to pose and back, 40 random wrenches",
                area="strand",
                quantity="force, of EI/L²",
                reference="the applied wrench",
                error=np.abs(back.tip_force - wrench[:3]).max(),
                bound=1e-6,
            )
            assert np.abs(back.tip_torque - wrench[3:]).max() < 1e-6
            assert np.abs(back.positions - there.positions).max() < 1e-8


@pytest.mark.parametrize("make", [full_rod, extensible_rod, coupled_rod])
def test_defects_are_of_fourth_order(make):
    rod = make(force=constant((0.0, -3.0, 1.0)))
    tip = pose((0.3, 0.25, 0.6), exp(np.array([0.5, -0.8, 0.6])))
    sums = []
    for nodes in (41, 81, 161):
        state = strand(rod, nodes=nodes).solve(tip=tip, **loads(rod, tip=False))
        found = equilibrium.defects(rod, state)
        sums.append([found.position, found.rotation, found.moment])
        assert max(found.curvature, found.stretch) < 1e-3
    slopes = np.polyfit(np.log([40.0, 80.0, 160.0]), np.log(np.array(sums)), 1)[0]
    assert np.all(slopes < -3.5), slopes


@pytest.mark.parametrize("shortening", [0.02, 0.1, 0.3])
def test_clamped_elastica(shortening, validated):
    # ends pushed together along the axis: sqrt(P) = 4 K(k), shortening 2 (1 - E/K); it bows about d1, the soft way
    known = elastica.buckled_at_shortening(shortening, 4)
    rod = flat_rod()
    state = strand(rod, nodes=201).solve(base=sn.Pose(), tip=sn.Pose((0.0, 0.0, 1.0 - shortening)))
    assert state.stable is True
    assert state.energy.total == pytest.approx(known.energy, rel=1e-7)
    validated(
        "Clamped ends pushed together",
        area="strand",
        quantity="load",
        reference="elliptic integrals",
        error=abs(state.tip_force[2] / known.load + 1),
        bound=1e-6,
    )
    assert np.abs(state.tip_force[:2]).max() < 1e-6 * known.load
    assert np.abs(state.positions[100]).max() < 1.0
    validated(
        "Clamped ends pushed together",
        area="strand",
        quantity="deflection, of the length",
        reference="elliptic integrals",
        error=abs(abs(state.positions[100, 1]) - known.deflection),
        bound=1e-7,
    )
    assert np.abs(state.positions[:, 0]).max() < 1e-7


@pytest.mark.parametrize("make", [round_rod, flat_rod, full_rod, extensible_rod, coupled_rod])
def test_tip_held_by_a_point(make):
    rod = make(force=constant((0.5, -2.0, 0.3)))
    goal = np.array([0.35, -0.2, 0.6])
    state = strand(rod, nodes=NODES).solve(tip_position=goal, **loads(rod, tip=False))
    assert np.abs(state.positions[-1] - goal).max() < 1e-9
    assert np.abs(state.moments[-1]).max() < 1e-9  # a point holds no moment
    assert np.abs(state.tip_torque).max() < 1e-9
    assert np.abs(state.forces[-1] - state.tip_force).max() < 1e-9
    assert state.stable is True
    assert equilibrium.defects(rod, state).worst < DEFECT


def test_pinned_elastica(validated):
    # clamped at the base, pinned at the tip, pushed along the axis: the load starts at 20.19 EI/L^2
    from references.buckling import CLAMPED_PINNED

    slack = 1e-4
    rod = Rod(1.0, np.diag([1.0, 3.0, 0.7]))
    state = strand(rod, nodes=201).solve(base=sn.Pose(), tip_position=(0.0, 0.0, 1.0 - slack))
    # P = P_c (1 + c slack) with c of order one
    validated(
        "Clamped and pinned column, just buckled",
        area="strand",
        quantity="load",
        reference="Euler: 20.19 EI/L²",
        error=abs(-state.tip_force[2] / CLAMPED_PINNED - 1),
        bound=1e-3,
    )
    assert state.stable is True


def test_zero_load_pose_is_the_rest_shape():
    rod = full_rod()
    thread = strand(rod, nodes=NODES)
    rest = thread.solve(base=sn.Pose())
    state = thread.solve(base=sn.Pose(), tip=rest.tip_pose)
    assert np.abs(state.tip_force).max() < 1e-8
    assert np.abs(state.tip_torque).max() < 1e-8
    assert state.energy.total < 1e-14


def test_warm_start_is_quicker():
    thread = strand(full_rod(), nodes=NODES)
    first = thread.solve(base=sn.Pose(), tip=pose((0.3, 0.2, 0.6), exp(np.array([0.5, -0.8, 0.6]))))
    close = pose((0.3005, 0.2, 0.6), exp(np.array([0.5, -0.8, 0.6005])))
    warm = thread.solve(base=sn.Pose(), tip=close, guess=first)
    assert warm.report.converged
    assert warm.report.iterations <= 4
    # an iteration cap returns the best state, marked as still moving
    far = pose((-0.3, 0.4, 0.2), exp(np.array([0.5, 1.8, 0.6])))
    capped = thread.solve(base=sn.Pose(), tip=far, guess=first, max_iterations=1, throw=False)
    assert capped.report.status == "moving"
    assert not capped.report.converged
    for _ in range(100):
        capped = thread.solve(base=sn.Pose(), tip=far, guess=capped, max_iterations=1, throw=False)
        if capped.report.converged:
            break
    assert capped.report.converged
    assert equilibrium.defects(full_rod(), capped).worst < DEFECT


@pytest.mark.parametrize("make", [full_rod, extensible_rod])
def test_shooting_agrees_where_it_converges(make):
    rod = make(tip_force=(0.6, -0.4, 0.5), tip_torque=(0.1, 0.2, -0.1))
    thread = strand(rod, nodes=NODES)
    energy = thread.solve(**loads(rod))
    shot = thread.solve(**loads(rod), method="shooting")
    assert shot.report.method == "shooting"
    assert np.abs(shot.positions - energy.positions).max() < 1e-7
    # and pose to pose
    shot = thread.solve(base=sn.Pose(), tip=energy.tip_pose, method="shooting")
    assert np.abs(shot.positions - energy.positions).max() < 1e-6
    assert np.abs(shot.tip_force - energy.tip_force).max() < 1e-5
