"""Strands led through points and poses, and strands held only by points.

The reference is the same strand with point loads in the place of the supports (scipy's boundary value solver): a
support that finds itself where a load would bring the strand must apply that load.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from references import equilibrium
from references.library import loads, pose, strand
from references.rods import Point, constant, pose_error, solve_bvp
from references.rotation import exp
from references.samples import coupled_rod, extensible_rod, flat_rod, full_rod, round_rod

import sennit as sn

MAKERS = [flat_rod, full_rod, extensible_rod, coupled_rod]
NODES = 201


def node(state, s: float) -> int:
    at = int(np.argmin(np.abs(state.s - s)))
    assert abs(state.s[at] - s) < 1e-9, "a support is a node"
    return at


def hermite(state, s: float) -> np.ndarray:
    """Position at any s from the neighbouring nodes: cubic, 1e-9 at 201 nodes."""
    i = min(int(np.searchsorted(state.s, s, side="right")) - 1, state.s.size - 2)
    h = state.s[i + 1] - state.s[i]
    t = (s - state.s[i]) / h
    a, b = (state.rotations[j] @ state.stretches[j] * h for j in (i, i + 1))
    p, q = state.positions[i], state.positions[i + 1]
    return (1 + 2 * t) * (1 - t) ** 2 * p + t * (1 - t) ** 2 * a + t * t * (3 - 2 * t) * q - t * t * (1 - t) * b


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("end", ["tip", "tip_position", "free"])
def test_through_two_points(make, end, validated):
    # supports at 0.4 and 0.7 that apply these forces
    rod = make(
        tip_force=(0.4, -0.3, 0.5) if end != "free" else (0.0, 0.0, 0.0),
        tip_torque=(0.1, 0.1, -0.1) if end == "tip" else (0.0, 0.0, 0.0),
        points=(Point(0.4, (1.0, -0.8, 0.5)), Point(0.7, (-0.7, 1.0, 0.6))),
        force=constant((0.0, -0.5, 0.2)),
    )
    reference = solve_bvp(rod, places=np.linspace(0, 1, NODES))
    supports = [(0.4, False), (0.7, False)]
    free = replace(rod, points=())
    chosen = loads(free, tip=False)
    if end == "tip":
        chosen["tip"] = pose(reference.positions[-1], reference.rotations[-1])
    elif end == "tip_position":
        chosen["tip_position"] = reference.positions[-1]
    via = [(0.4, reference.positions[80]), (0.7, reference.positions[140])]
    state = strand(rod, nodes=NODES).solve(via=via, **chosen)
    assert state.report.converged
    assert state.stable is True
    for s, k in ((0.4, 80), (0.7, 140)):
        assert np.abs(state.positions[node(state, s)] - reference.positions[k]).max() < 1e-9
    validated(
        "Led through two points",
        area="strand",
        quantity="centreline, of the length",
        reference="scipy's boundary value solver",
        error=np.abs(state.positions - reference.positions).max(),
        bound=1e-7,
    )
    # nearly straight spans of an inextensible strand answer a change of slack with 1e5 times as much pull
    tolerance = 5e-4 if make is flat_rod else 2e-5
    assert np.abs(state.forces - reference.forces).max() < tolerance
    assert np.abs(state.moments - reference.moments).max() < 2e-5
    assert equilibrium.defects(free, state, supports=supports).worst < 1e-6
    assert np.abs(state.via_forces - [p.force for p in rod.points]).max() < tolerance
    assert np.abs(state.via_torques).max() < 1e-12
    held = [(s, f, np.zeros(3)) for (s, _), f in zip(via, state.via_forces, strict=True)]
    total = equilibrium.balance(free, state, supports=held)
    assert total.force < 1e-9
    assert total.moment < 1e-8


@pytest.mark.parametrize("make", MAKERS)
def test_through_a_pose(make, validated):
    rod = make(
        tip_force=(0.4, -0.3, 0.5),
        tip_torque=(0.1, 0.1, -0.1),
        points=(Point(0.45, (1.0, -0.8, 0.5), (0.5, -0.3, 0.2)),),
    )
    reference = solve_bvp(rod, places=np.linspace(0, 1, NODES))
    gate = pose(reference.positions[90], reference.rotations[90])
    tip = pose(reference.positions[-1], reference.rotations[-1])
    state = strand(rod, nodes=NODES).solve(base=sn.Pose(), tip=tip, via=[(0.45, gate)])
    at = node(state, 0.45)
    assert pose_error(state.positions[at], state.rotations[at], gate.position, gate.rotation) < 1e-9
    assert np.abs(state.positions - reference.positions).max() < 1e-7
    assert np.abs(state.moments - reference.moments).max() < 2e-5
    assert state.stable is True
    assert np.abs(state.via_forces - [rod.points[0].force]).max() < 2e-5
    validated(
        "Led through a pose",
        area="strand",
        quantity="torque of the support, of EI/L",
        reference="scipy's boundary value solver",
        error=np.abs(state.via_torques - [rod.points[0].torque]).max(),
        bound=2e-5,
    )
    # the two spans do not know of each other: each is a pose-to-pose strand
    assert equilibrium.defects(replace(rod, points=()), state, supports=[(0.45, True)]).worst < 1e-6


def test_a_pose_cuts_the_strand_in_two():
    rod = full_rod()
    gate = pose((0.1, 0.2, 0.35), exp(np.array([-0.4, 0.3, 0.2])))
    tip = pose((0.3, 0.3, 0.7), exp(np.array([0.5, -0.3, 0.6])))
    state = strand(rod, nodes=201).solve(base=sn.Pose(), tip=tip, via=[(0.5, gate)])
    half = replace(rod, length=0.5)
    first = strand(half, nodes=101).solve(base=sn.Pose(), tip=gate, guess=None)
    second = strand(half, nodes=101).solve(base=gate, tip=tip)
    # unless a half has found another of its equilibria
    assert state.energy.total == pytest.approx(first.energy.total + second.energy.total, rel=1e-6)
    assert np.abs(state.positions[:101] - first.positions).max() < 1e-6
    assert np.abs(state.positions[100:] - second.positions).max() < 1e-6


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("count", [1, 2])
def test_cold_random_points(make, count):
    """Points that the strand can reach, drawn from its own bent shapes; STRAND prototypes: 79 of 80."""
    rod = make()
    thread = strand(rod, nodes=101)
    generator = np.random.default_rng(5 + count)
    failures = 0
    for _ in range(15):
        wrench = generator.normal(size=6) * [2, 2, 2, 1, 1, 1]
        bent = thread.solve(base=sn.Pose(), tip_force=wrench[:3], tip_torque=wrench[3:], follower=True)
        at = [50] if count == 1 else [35, 70]
        # off the shape, towards the base: every span is shorter than 95 % of its strand
        via = [(bent.s[k], 0.93 * bent.positions[k] + generator.uniform(-0.003, 0.003, size=3)) for k in at]
        tip = pose(0.93 * bent.positions[-1], bent.rotations[-1])
        state = thread.solve(base=sn.Pose(), tip=tip, via=via, throw=False)
        if not state.report.converged:
            failures += 1
            continue
        for s, p in via:
            assert np.abs(state.positions[node(state, s)] - p).max() < 1e-8
        found = equilibrium.defects(rod, state, supports=[(s, False) for s, _ in via])
        assert found.worst < 5e-3
        assert state.stable is True
    assert failures <= 1


def test_a_point_between_nodes():
    rod = full_rod(force=constant((0.0, -1.0, 0.0)))
    thread = strand(rod, nodes=101)
    goal = np.array([0.08, -0.05, 0.38])
    state = thread.solve(via=[(0.4137, goal)], tip_position=(0.2, 0.1, 0.75), **loads(rod, tip=False))
    assert state.report.converged
    assert np.abs(hermite(state, 0.4137) - goal).max() < 1e-6


def test_held_by_three_points_only():
    rod = full_rod(force=constant((0.0, 0.0, -2.0)))
    points = [(0.1, (0.0, 0.0, 0.0)), (0.5, (0.3, 0.05, 0.1)), (0.85, (0.5, 0.25, 0.0))]
    state = strand(rod, nodes=NODES).solve(base=None, via=points, force=(0.0, 0.0, -2.0))
    assert state.report.converged
    assert state.stable is True
    # both ends are free
    for name in ("base_force", "base_torque", "tip_force", "tip_torque"):
        assert np.abs(getattr(state, name)).max() < 1e-9, name
    assert np.abs(state.forces[0]).max() + np.abs(state.moments[0]).max() < 1e-9
    assert np.abs(state.forces[-1]).max() + np.abs(state.moments[-1]).max() < 1e-9
    for s, p in points:
        assert np.abs(state.positions[node(state, s)] - p).max() < 1e-9
    assert equilibrium.defects(rod, state, supports=[(s, False) for s, _ in points]).worst < 1e-5


@pytest.mark.parametrize("make", [round_rod, extensible_rod])
def test_held_by_poses_only(make):
    rod = make(force=constant((0.0, 0.0, -2.0)))
    first, second = np.array([0.0, 1.4, 0.0]), np.array([0.1, 1.6, 0.3])
    gates = [(0.2, pose((0, 0, 0), exp(first))), (0.7, pose((0.4, 0.05, 0.1), exp(second)))]
    state = strand(rod, nodes=NODES).solve(base=None, via=gates, force=(0.0, 0.0, -2.0))
    assert state.report.converged
    assert state.stable is True
    for s, gate in gates:
        at = node(state, s)
        assert pose_error(state.positions[at], state.rotations[at], gate.position, gate.rotation) < 1e-9
    assert np.abs(state.base_force).max() + np.abs(state.base_torque).max() < 1e-9
    assert np.abs(state.tip_force).max() + np.abs(state.tip_torque).max() < 1e-9
    # h^4 times forces of 150 EI/L^2
    assert equilibrium.defects(rod, state, supports=[(s, True) for s, _ in gates]).worst < 1e-4
    # what the free ends weigh is what the nearest gate carries: the overhang beyond 0.7 is a cantilever
    over = replace(rod, length=0.3, rest_curvature=lambda s: rod.rest_curvature(s + 0.7))
    cantilever = strand(over, nodes=61).solve(base=gates[1][1], force=(0.0, 0.0, -2.0))
    assert np.abs(state.positions[node(state, 0.7) :] - cantilever.positions).max() < 1e-7


def test_free_base_and_held_tip():
    # held by its tip only, a strand is a cantilever seen from the other end
    rod = flat_rod(force=constant((0.0, -3.0, 0.0)))
    tip = pose((0.2, 0.1, 0.7), exp(np.array([0.2, -0.3, 0.5])))
    state = strand(rod, nodes=NODES).solve(base=None, tip=tip, force=(0.0, -3.0, 0.0))
    flip = np.diag([-1.0, 1.0, -1.0])  # half a turn about d2: d3 now points back
    mirror = strand(flat_rod(), nodes=NODES).solve(base=pose(tip.position, tip.rotation @ flip), force=(0.0, -3.0, 0.0))
    assert np.abs(state.positions[::-1] - mirror.positions).max() < 1e-9
    assert np.abs(state.tip_force - mirror.base_force).max() < 1e-9
    assert np.abs(state.tip_torque - mirror.base_torque).max() < 1e-8
    assert np.abs(state.base_force).max() < 1e-9
