"""Properties that any strand has, over random stiffnesses, loads and poses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from references import equilibrium
from references.library import loads, pose, strand
from references.rods import Rod, constant
from references.rotation import exp

import sennit as sn

SETTINGS = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
NODES = 61


def vectors(size: float):
    return st.tuples(*[st.floats(-size, size, allow_nan=False, width=32)] * 3).map(np.array)


EITHER = st.booleans()


@st.composite
def rods(draw, extensible=EITHER, curved=True) -> Rod:
    bend = draw(st.tuples(*[st.floats(0.5, 2.0, width=32)] * 3))
    turn = exp(draw(vectors(1.0)))
    stiffness = turn @ np.diag(bend) @ turn.T
    if draw(extensible):
        big = np.zeros((6, 6))
        big[:3, :3] = stiffness
        big[3:, 3:] = turn.T @ np.diag(draw(st.tuples(*[st.floats(50.0, 500.0, width=32)] * 3))) @ turn
        stiffness = big
    rest = draw(vectors(1.5)) if curved else np.zeros(3)
    return Rod(1.0, (stiffness + stiffness.T) / 2, rest_curvature=constant(rest))


@SETTINGS
@given(rods(), vectors(3.0), vectors(1.5), vectors(3.0), vectors(1.0))
def test_rigid_motion(rod, force, torque, turn, shift):
    thread = strand(rod, nodes=NODES)
    place = pose(shift, exp(turn))
    a = thread.solve(base=sn.Pose(), tip_force=force, tip_torque=torque, follower=True)
    b = thread.solve(base=place, tip_force=force, tip_torque=torque, follower=True)
    assert np.abs(place.position + a.positions @ place.rotation.T - b.positions).max() < 1e-12
    c = thread.solve(base=sn.Pose(), tip=a.tip_pose)
    d = thread.solve(base=place, tip=place @ a.tip_pose)
    # a pose may have several equilibria of nearly equal standing, which round-off then chooses from
    if abs(c.energy.total - d.energy.total) < 1e-9:
        assert np.abs(place.position + c.positions @ place.rotation.T - d.positions).max() < 1e-9


@SETTINGS
@given(rods(), vectors(4.0), vectors(2.0), vectors(2.0))
def test_any_dead_load_is_balanced_and_in_equilibrium(rod, tip_force, force, torque):
    rod = replace(rod, tip_force=tuple(tip_force), tip_torque=tuple(0.3 * torque), force=constant(force))
    state = strand(rod, nodes=NODES).solve(**loads(rod))
    total = equilibrium.balance(rod, state)
    assert total.force < 1e-9
    assert total.moment < 1e-5  # h^4/180 = 4e-10 times the fourth derivative of r x f
    assert equilibrium.defects(rod, state, substeps=4).worst < 1e-3


@SETTINGS
@given(rods(), vectors(3.0), vectors(1.5))
def test_solving_back(rod, force, torque):
    thread = strand(rod, nodes=NODES)
    there = thread.solve(base=sn.Pose(), tip_force=force, tip_torque=torque, follower=True)
    back = thread.solve(base=sn.Pose(), tip=there.tip_pose)
    assert back.report.converged
    assert equilibrium.defects(rod, back, substeps=4).worst < 1e-2
    # it may be another equilibrium, which then has its own energy; from there it is the same
    same = thread.solve(base=sn.Pose(), tip=there.tip_pose, guess=there)
    assert same.report.converged
    assert same.stable is True


@SETTINGS
@given(rods(extensible=st.just(True)), vectors(2.0), vectors(1.0))
def test_swapping_the_ends(rod, force, torque):
    # the strand described from its other end: half a turn about d2, u -> (u1, -u2, u3) read backward
    flip = np.diag([-1.0, 1.0, -1.0])
    signs = np.diag([1.0, -1.0, 1.0, 1.0, -1.0, 1.0])
    forward = strand(rod, nodes=NODES)
    rest = rod.rest_curvature(np.zeros(1))[:, 0]
    # strains transform by (u1, -u2, u3) and, for v = R^T r', (v1, -v2, v3)
    other = Rod(1.0, signs @ rod.stiffness @ signs, rest_curvature=constant((rest[0], -rest[1], rest[2])))
    backward = strand(other, nodes=NODES)
    a = forward.solve(base=sn.Pose(), tip_force=force, tip_torque=torque, follower=True)
    held = forward.solve(base=sn.Pose(), tip=a.tip_pose, guess=a)
    turned = backward.solve(
        base=pose(a.tip_pose.position, a.tip_pose.rotation @ flip), tip=pose((0, 0, 0), flip), throw=False
    )
    assert turned.report.converged
    if abs(turned.energy.total - held.energy.total) > 1e-6:  # another equilibrium of the same ends
        return
    assert np.abs(turned.positions[::-1] - held.positions).max() < 1e-6
    assert np.abs(turned.tip_force - held.base_force).max() < 1e-4
    assert np.abs(turned.base_torque - held.tip_torque).max() < 1e-4


@SETTINGS
@given(rods(), vectors(3.0), vectors(1.5))
def test_mirror_image(rod, force, torque):
    # reflected in the plane x = 0: vectors change their first component, axial vectors the two others; a rod that is
    # mirrored in its own frame (d1 -> -d1) has rest curvature and stiffness of axial kind
    assume(np.linalg.norm(force[:2]) > 0.05)  # a column could buckle either way
    mirror, axial = np.array([-1.0, 1.0, 1.0]), np.array([1.0, -1.0, -1.0])
    rest = rod.rest_curvature(np.zeros(1))[:, 0]
    signs = np.concatenate([axial, mirror]) if rod.stiffness.shape == (6, 6) else axial
    other = Rod(1.0, np.outer(signs, signs) * rod.stiffness, rest_curvature=constant(axial * rest))
    a = strand(rod, nodes=NODES).solve(base=sn.Pose(), tip_force=force, tip_torque=0.3 * torque)
    b = strand(other, nodes=NODES).solve(base=sn.Pose(), tip_force=mirror * force, tip_torque=0.3 * axial * torque)
    assert np.abs(a.positions * mirror - b.positions).max() < 1e-9
    assert np.abs(a.moments * axial - b.moments).max() < 1e-8


@SETTINGS
@given(vectors(5.0), vectors(3.0), st.floats(0.3, 3.0))
def test_a_round_strand_does_not_know_its_roll(force, torque, roll):
    assume(np.linalg.norm(force[:2]) > 0.05)  # a column could buckle any way
    rod = Rod(1.0, np.diag([1.0, 1.0, 0.7]))
    thread = strand(rod, nodes=NODES)
    turn = exp(np.array([0.0, 0.0, roll]))
    a = thread.solve(base=sn.Pose(), tip_force=force)
    b = thread.solve(base=pose((0, 0, 0), turn), tip_force=force)
    assert np.abs(a.positions - b.positions).max() < 1e-8
    c = thread.solve(base=sn.Pose(), tip_force=force, tip_torque=torque, follower=True)
    d = thread.solve(base=pose((0, 0, 0), turn), tip_force=turn.T @ force, tip_torque=turn.T @ torque, follower=True)
    assert np.abs(c.positions - d.positions).max() < 1e-11
    assert np.abs(c.rotations @ turn - d.rotations).max() < 1e-11
