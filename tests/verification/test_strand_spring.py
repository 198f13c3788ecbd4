"""A helical spring pulled along its axis: closed forms to first order and for any pull; and pulled at its end.

small: delta/F = L rho^2 (cos^2(alpha)/GJ + sin^2(alpha)/EI)      (8 D^3 N/(G d^4) when close-coiled)
any:   a helix again; n = nu u, u x K(u - u^) + nu v x u = 0
"""

from __future__ import annotations

import numpy as np
import pytest
from references import helix
from references.library import loads, strand
from references.rods import Rod, constant, pose_error, solve_bvp
from references.samples import ROUND

import sennit as sn

RADIUS, PITCH = 0.1, 0.15
REST = helix.helix_curvature(RADIUS, PITCH)
AXIS = REST / np.linalg.norm(REST)


def spring_rod(turns: float, **options) -> Rod:
    length = 2 * np.pi * RADIUS * turns / np.cos(PITCH)
    return Rod(length, ROUND, rest_curvature=constant(REST), **options)


def tolerance(rod: Rod, nodes: int) -> float:
    """Order 4 on a helix: the angle between two nodes to the fourth power, over the turns."""
    angle = np.linalg.norm(REST) * rod.length / (nodes - 1)
    return angle**4 * rod.length / 20


@pytest.mark.parametrize("force", [-3.0, 1.0, 20.0])
@pytest.mark.parametrize("nodes", [201, 801])
def test_large_pull(force, nodes, validated):
    plain = spring_rod(3.0)
    pulled = (
        helix.pulled_spring(1.0, 0.77, REST, plain.length, force)
        if force > 0
        else helix.spring_by_strain(1.0, 0.77, REST, REST * np.array([1.0, 1.02, 0.9]), plain.length)
    )
    rod = spring_rod(3.0, tip_force=tuple(pulled.force), tip_torque=tuple(pulled.torque))
    state = strand(rod, nodes=nodes).solve(**loads(rod))
    positions, rotations = helix.uniform(pulled.curvature, np.array([0.0, 0.0, 1.0]), state.s)
    error = pose_error(state.positions[-1], state.rotations[-1], positions[-1], rotations[-1])
    validated(
        "Helical spring, large pull",
        area="strand",
        quantity="tip's pose, of the length",
        reference="Kirchhoff's helix, closed form",
        error=error,
        bound=tolerance(rod, nodes) * max(1.0, abs(pulled.axial_force)),
    )
    # the extension along the axis is the closed form's
    axis = pulled.curvature / np.linalg.norm(pulled.curvature)
    rest = plain.length * REST[2] / np.linalg.norm(REST)
    assert state.positions[-1] @ axis - rest == pytest.approx(pulled.extension, abs=10 * tolerance(rod, nodes) * 20)


def test_small_pull_through_the_axis(validated):
    # central difference in F: the error is of second order, (1e-3 F_scale)^2
    plain = spring_rod(3.0)
    spring = strand(plain, nodes=801)
    unloaded = spring.solve(base=sn.Pose())
    size = 1e-3
    # the force acts on the axis; its moment about the tip's centroid: (axis - tip) x F
    centre = RADIUS * np.array([1.0, 0.0, 0.0])  # u^ = (0, kappa, tau) curves towards +d1
    tip = unloaded.positions[-1]
    to_axis = (np.eye(3) - np.outer(AXIS, AXIS)) @ (centre - tip)
    assert np.linalg.norm(to_axis) == pytest.approx(RADIUS, rel=1e-8)
    ends = []
    for sign in (1.0, -1.0):
        force = sign * size * AXIS
        state = spring.solve(base=sn.Pose(), tip_force=force, tip_torque=np.cross(to_axis, force))
        # follow the point of the tip's section that lies on the axis
        ends.append(state.positions[-1] + state.rotations[-1] @ unloaded.rotations[-1].T @ to_axis)
    compliance = (ends[0] - ends[1]) @ AXIS / (2 * size)
    validated(
        "Helical spring, small pull",
        area="strand",
        quantity="compliance",
        reference="closed form, bending and twist",
        error=abs(compliance / helix.spring_compliance(1.0, 0.77, RADIUS, PITCH, plain.length) - 1),
        bound=1e-6,
    )


def test_textbook_spring(validated):
    # delta = 8 F D^3 N/(G d^4): music wire, close-coiled; the pitch and the bending change it by tan^2(alpha) or so
    wire, radius, turns, pitch = 1e-3, 5e-3, 6.0, 0.05
    steel = sn.Material(youngs_modulus=206e9, poisson_ratio=0.3, density=7850)
    length = 2 * np.pi * radius * turns / np.cos(pitch)
    rest = helix.helix_curvature(radius, pitch)
    spring = sn.Strand(
        length=length, section=sn.Section.circle(wire / 2), material=steel, rest_curvature=tuple(rest), nodes=801
    )
    axis = rest / np.linalg.norm(rest)
    unloaded = spring.solve(base=sn.Pose())
    to_axis = (np.eye(3) - np.outer(axis, axis)) @ (radius * np.array([1.0, 0, 0]) - unloaded.positions[-1])
    ends = []
    for force in (0.01 * axis, -0.01 * axis):
        state = spring.solve(base=sn.Pose(), tip_force=force, tip_torque=np.cross(to_axis, force))
        ends.append(state.positions[-1] + state.rotations[-1] @ unloaded.rotations[-1].T @ to_axis)
    measured = (ends[0] - ends[1]) @ axis / 0.02
    shear = 206e9 / 2.6
    textbook = 8 * (2 * radius) ** 3 * turns / (shear * wire**4)
    validated(
        "Music-wire spring, close-coiled",
        area="strand",
        quantity="compliance",
        reference="8 D³N/(G d⁴)",
        error=abs(measured / textbook - 1),
        bound=2e-3,
    )
    bend, twist = 206e9 * np.pi * wire**4 / 64, shear * np.pi * wire**4 / 32
    assert measured == pytest.approx(helix.spring_compliance(bend, twist, radius, pitch, length), rel=1e-5)


def test_pulled_at_its_end(validated):
    # the force acts at the tip's centroid, off the axis: the spring bends over as well
    rod = spring_rod(1.5, tip_force=tuple(15.0 * AXIS))
    reference = solve_bvp(rod, tol=1e-9, loads=(0.25, 0.5, 1.0))
    state = strand(rod, nodes=401).solve(**loads(rod))
    error = pose_error(state.positions[-1], state.rotations[-1], reference.positions[-1], reference.rotations[-1])
    validated(
        "Helical spring, pulled off its axis",
        area="strand",
        quantity="tip's pose, of the length",
        reference="scipy's boundary value solver",
        error=error,
        bound=tolerance(rod, 401) * 15.0,
    )
