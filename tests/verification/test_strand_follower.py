"""Loads that turn with the strand: at the tip, along it, at points; and dead torques, which have no potential either.

Tip in the plane by elliptic functions; in space by DOP853 from the tip, or scipy's boundary value solver.  201 nodes,
order 4: h^4 = 6e-10, times the fourth power of the loads' scale.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from references import elastica, equilibrium
from references.library import loads, planar_frame, pose, strand
from references.rods import Point, Rod, constant, pose_error, solve_bvp, sweep_back
from references.samples import (
    CURVED,
    EXTENSIBLE,
    FULL,
    coupled_rod,
    extensible_rod,
    flat_rod,
    full_rod,
    round_rod,
    wavy,
)

import sennit as sn

RODS = {"flat": flat_rod, "full": full_rod, "extensible": extensible_rod, "coupled": coupled_rod}


def compare(state, reference, tolerance: float) -> float:
    """Checks all that a state has; the error of its positions."""
    assert state.report.converged
    error = float(np.abs(state.positions - reference.positions).max())
    assert error < tolerance
    assert np.abs(state.rotations - reference.rotations).max() < tolerance
    assert np.abs(state.forces - reference.forces).max() < 30 * tolerance
    assert np.abs(state.moments - reference.moments).max() < 30 * tolerance
    return error


@pytest.mark.parametrize(("load", "angle"), [(1.0, np.pi / 2), (5.0, np.pi / 2), (9.0, 2.5), (20.0, 0.7)])
def test_planar_tip_force(load, angle, validated):
    tip = elastica.follower_end_loaded(load, angle)
    # turned by +angle from the tangent in the plane: along d3 cos - d2 sin, since d2 = t x z points to -90 degrees
    force = (0.0, -load * np.sin(angle), load * np.cos(angle))
    state = strand(flat_rod(), nodes=201).solve(base=pose((0, 0, 0), planar_frame(0.0)), tip_force=force, follower=True)
    tolerance = 1e-8 * max(1.0, (load / 5) ** 2)  # h^4 P^2, over ten
    validated(
        "Cantilever, follower end force, PL²/EI to 20",
        area="strand",
        quantity="tip, of the length",
        reference="elliptic functions",
        error=np.abs(state.positions[-1] - [tip.x, tip.y, 0.0]).max(),
        bound=tolerance,
    )
    assert np.abs(state.rotations[-1] - planar_frame(tip.theta)).max() < tolerance
    # what the outside applies, in the world
    assert np.abs(state.tip_force - state.rotations[-1] @ force).max() < 1e-12 * load
    assert state.stable is None  # undefined: the load has no potential


@pytest.mark.parametrize("name", RODS)
def test_tip_wrench(name, validated):
    rod = RODS[name](tip_force=(3.0, -2.0, 4.0), tip_torque=(1.0, 2.0, -1.5), follower=True)
    state = strand(rod, nodes=201).solve(**loads(rod))
    validated(
        "Follower wrench in space",
        area="strand",
        quantity="centreline, of the length",
        reference="DOP853 from the tip",
        error=compare(state, sweep_back(rod, state.s), 1e-7),
        bound=1e-7,
    )
    if name != "coupled":  # laws that couple strains need more than the explicit sweeps
        assert state.report.method == "sweep"


@pytest.mark.parametrize("name", RODS)
def test_line_loads(name, validated):
    rod = RODS[name](
        tip_force=(1.0, -1.0, 2.0),
        tip_torque=(0.5, 1.0, -0.5),
        follower=True,
        force=lambda s: np.vstack([2.0 + s, -3.0 * np.cos(s), 0 * s]),
        torque=lambda s: np.vstack([0 * s, 0.5 + 0 * s, np.sin(3 * s)]),
        line_follower=True,
    )
    state = strand(rod, nodes=201).solve(**loads(rod))
    validated(
        "Forces and torques along the strand that follow it",
        area="strand",
        quantity="centreline, of the length",
        reference="DOP853 from the tip",
        error=compare(state, sweep_back(rod, state.s), 1e-7),
        bound=1e-7,
    )


@pytest.mark.parametrize("follower", [True, False])
@pytest.mark.parametrize("line_follower", [True, False])
def test_every_mixture_of_flags(follower, line_follower, validated):
    rod = full_rod(
        tip_force=(1.0, -1.0, 2.0),
        tip_torque=(0.5, 1.0, -0.5),
        follower=follower,
        force=constant((2.0, -1.0, 1.0)),
        torque=constant((0.3, 0.2, -0.4)),
        line_follower=line_follower,
        points=(
            Point(0.3, (1.0, 0.5, -1.0), (0.2, 0.1, 0.3), follower=True),
            Point(0.65, (-1.0, 0.5, 1.0), (-0.2, 0.3, 0.1), follower=False),
        ),
    )
    state = strand(rod, nodes=201).solve(**loads(rod))
    reference = solve_bvp(rod, places=state.s, loads=(0.5, 1.0), tol=1e-8)
    validated(
        "Dead and follower loads mixed, at points too",
        area="strand",
        quantity="centreline, of the length",
        reference="scipy's boundary value solver",
        error=compare(state, reference, 1e-7),
        bound=1e-7,
    )
    assert equilibrium.defects(rod, state).worst < 1e-6


def test_weight_beside_follower_line_loads():
    # gravity is dead whatever line_follower says
    density, modulus = 1000.0, 1e6
    section, material = sn.Section.circle(0.01), sn.Material(modulus, 0.3, density)
    bending = modulus * np.pi * 1e-8 / 4
    weight = density * np.pi * 1e-4 * 9.81
    length = (4.0 * bending / weight) ** (1 / 3)
    push = 3.0 * bending / length**3
    string = sn.Strand(length=length, section=section, material=material, nodes=201)
    state = string.solve(
        base=sn.Pose(), force=(push, 0.0, 0.0), line_follower=True, gravity=(0.0, -9.81, 0.0), follower=False
    )
    rod = Rod(
        length,
        bending * np.diag([1.0, 1.0, 1 / 1.3]),
        force=constant((push, 0, 0)),
        line_follower=True,
        dead_force=constant((0, -weight, 0)),
    )
    reference = solve_bvp(rod, places=state.s, loads=(0.5, 1.0), tol=1e-8)
    assert np.abs(state.positions - reference.positions).max() < 1e-7 * length


@pytest.mark.parametrize("follower", [True, False])
@pytest.mark.parametrize("s", [0.5, 0.37, 0.5013, 1.0])
def test_point_load_anywhere(s, follower):
    points = (Point(s, (2.0, -3.0, 1.0), (0.5, 0.3, -0.4), follower=follower),)
    rod = full_rod(points=points, tip_force=(0.5, 0.5, 0.0)) if s < 1.0 else full_rod()
    chosen = loads(rod)
    chosen["point_loads"] = [sn.PointLoad(s, points[0].force, points[0].torque, follower=follower)]
    state = strand(rod, nodes=201).solve(**chosen)
    if s == 1.0:  # at the tip it is a tip wrench
        rod = full_rod(tip_force=points[0].force, tip_torque=points[0].torque, follower=follower)
    reference = solve_bvp(rod, places=state.s, loads=(0.5, 1.0), tol=1e-8)
    assert state.report.converged
    assert np.abs(state.positions - reference.positions).max() < 1e-7
    assert np.abs(state.rotations - reference.rotations).max() < 1e-7
    assert np.abs(state.base_force + reference.forces[0]).max() < 1e-7
    assert np.abs(state.base_torque + reference.moments[0]).max() < 1e-6


def test_point_load_jumps_on_the_far_side():
    # at its node the state reports the base side: n there includes the load
    rod = round_rod(points=(Point(0.5, (2.0, -3.0, 1.0)),), tip_force=(0.0, 1.0, 0.0))
    state = strand(rod, nodes=101).solve(**loads(rod))
    at = int(np.argmin(np.abs(state.s - 0.5)))
    assert state.s[at] == pytest.approx(0.5, abs=1e-12)
    assert np.abs(state.forces[at] - [2.0, -2.0, 1.0]).max() < 1e-10
    assert np.abs(state.forces[at + 1] - [0.0, 1.0, 0.0]).max() < 1e-10


@pytest.mark.parametrize("name", ["full", "extensible", "coupled"])
@pytest.mark.parametrize("line_follower", [True, False])
def test_pose_to_pose_without_potential(name, line_follower):
    # a wrench problem gives the tip's pose; from that pose the same equilibrium, or another, must be found
    rod = RODS[name](
        tip_force=(1.0, -1.0, 1.5),
        tip_torque=(0.4, 0.6, -0.5),
        force=constant((1.5, -1.0, 0.5)),
        torque=lambda s: np.vstack([0.5 + 0 * s, -0.4 * s, 0.6 * np.cos(2 * s)]),
        line_follower=line_follower,
    )
    whip = strand(rod, nodes=201)
    reference = solve_bvp(rod, places=np.linspace(0, 1, 201), loads=(0.5, 1.0), tol=1e-8)
    tip = pose(reference.positions[-1], reference.rotations[-1])
    state = whip.solve(tip=tip, **loads(rod, tip=False))
    assert state.report.converged
    assert pose_error(state.positions[-1], state.rotations[-1], tip.position, tip.rotation) < 1e-9
    assert equilibrium.defects(rod, state).worst < 1e-6
    assert state.stable is None
    # from close by it is the same one
    near = whip.solve(**loads(rod))
    state = whip.solve(tip=tip, guess=near, **loads(rod, tip=False))
    compare(state, reference, 1e-7)
    assert np.abs(state.tip_force - rod.tip_force).max() < 1e-5
    assert np.abs(state.tip_torque - rod.tip_torque).max() < 1e-5


def test_dead_torque_pose_to_pose_in_closed_form(validated):
    # a straight round strand between coaxial clamps, a torque t per length about its axis: twist is quadratic
    total, twist = 0.6, 0.77
    stiffness = np.diag([1.0, 1.0, twist, 1e3, 1e3, 1e3])
    rod = Rod(1.0, stiffness, torque=constant((0, 0, total)))
    state = strand(rod, nodes=101).solve(tip=sn.Pose((0, 0, 1.0)), **loads(rod, tip=False))
    # m' = -t, no net rotation: m = t (1/2 - s)
    validated(
        "Torque along a clamped strand",
        area="strand",
        quantity="moments, of EI/L",
        reference="closed form",
        error=np.abs(state.moments[:, 2] - total * (0.5 - state.s)).max(),
        bound=1e-9,
    )
    assert np.abs(state.curvatures[:, 2] - total * (0.5 - state.s) / twist).max() < 1e-9
    assert state.tip_torque[2] == pytest.approx(-total / 2, abs=1e-9)
    assert state.base_torque[2] == pytest.approx(-total / 2, abs=1e-9)


def test_tip_position_with_follower_load():
    rod = Rod(1.0, FULL, rest_curvature=CURVED, force=constant((1.0, -1.0, 0.5)), line_follower=True)
    state = strand(rod, nodes=201).solve(tip_position=(0.3, 0.2, 0.7), **loads(rod, tip=False))
    assert np.abs(state.positions[-1] - [0.3, 0.2, 0.7]).max() < 1e-9
    assert np.abs(state.moments[-1]).max() < 1e-9
    assert np.abs(state.tip_torque).max() < 1e-9
    assert equilibrium.defects(rod, state).worst < 1e-6


@pytest.mark.parametrize("stiffness", [FULL, EXTENSIBLE], ids=["inextensible", "extensible"])
def test_dead_tip_torque(stiffness):
    rod = Rod(1.0, stiffness, rest_curvature=wavy, tip_force=(1.0, 2.0, -1.0), tip_torque=(1.5, -1.0, 2.0))
    state = strand(rod, nodes=201).solve(**loads(rod))
    compare(state, solve_bvp(rod, places=state.s, loads=(0.5, 1.0), tol=1e-8), 1e-7)
    assert state.stable is None
    only = replace(rod, tip_force=(0.0, 0.0, 0.0))
    compare(
        strand(only, nodes=201).solve(**loads(only)), solve_bvp(only, places=state.s, loads=(0.5, 1.0), tol=1e-8), 1e-7
    )
