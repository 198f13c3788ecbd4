"""Fitted order of convergence, within 0.2 of the declared one, for every method and order, planar and in space.

Errors of the tip's pose against scipy: DOP853 from the tip for follower wrenches, solve_bvp for dead loads; 1e-12 both.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from references.library import loads, planar_frame, pose, strand
from references.rods import Rod, constant, pose_error, solve_bvp, sweep_back
from references.samples import COUPLED, EXTENSIBLE, FLAT, FULL, tapered, wavy

import sennit as sn

SECOND = "order 2: departure of the fit"
FOURTH = "order 4: departure of the fit"
MESHES = {1: (101, 201, 401, 801), 2: (41, 81, 161, 321), 4: (21, 41, 81, 161)}


def planar(**options) -> Rod:
    """Bends in a plane only, anisotropic, with a varying rest curvature."""
    return Rod(1.0, FLAT, rest_curvature=lambda s: np.vstack([1.0 + np.sin(2 * s), 0 * s, 0 * s]), **options)


def spatial(**options) -> Rod:
    return Rod(1.0, FULL, rest_curvature=wavy, **options)


def extensible(**options) -> Rod:
    return Rod(1.0, EXTENSIBLE, rest_curvature=wavy, **options)


def coupled(**options) -> Rod:
    return Rod(1.0, COUPLED, rest_curvature=wavy, **options)


def varied(**options) -> Rod:
    return tapered(FULL, rest_curvature=wavy, **options)


def varied_extensible(**options) -> Rod:
    return tapered(EXTENSIBLE, rest_curvature=wavy, **options)


def varied_coupled(**options) -> Rod:
    return tapered(COUPLED, rest_curvature=wavy, **options)


VARIED = (varied, varied_extensible, varied_coupled)
LINEAR = (planar, spatial, extensible, varied, varied_extensible)
# laws that couple strains come at order 4 only
CASES = [(make, order) for make in LINEAR for order in (1, 2, 4)] + [(coupled, 4), (varied_coupled, 4)]


def plane_only(make, vector):
    """Loads of the planar rod stay in its plane (d2, d3); torques are about d1."""
    return vector if make is not planar else (0.0, *vector[1:])


def about_d1(make, vector):
    return vector if make is not planar else (vector[0], 0.0, 0.0)


@cache
def with_dead_loads(make):
    rod = make(tip_force=plane_only(make, (2.0, -3.0, 2.5)), force=constant(plane_only(make, (0.5, -2.0, 1.0))))
    return rod, solve_bvp(rod, np.linspace(0, 1, 161), loads=(0.5, 1.0))


@cache
def with_dead_torque(make):
    rod = make(
        tip_force=plane_only(make, (1.0, -2.0, 1.5)),
        tip_torque=about_d1(make, (0.8, 0.5, -0.6)),
        torque=constant(about_d1(make, (0.4, -0.3, 0.5))),
    )
    return rod, solve_bvp(rod, np.array([0.0, 1.0]), loads=(0.5, 1.0))


@cache
def with_wrench(make):
    rod = make(tip_force=(1.0, -1.5, 1.2), tip_torque=(0.4, 0.5, -0.6), force=constant((0.3, -1.0, 0.5)))
    return rod, solve_bvp(rod, np.array([0.0, 0.5, 1.0]), loads=(0.5, 1.0))


@cache
def cantilever():
    """A bent cantilever and its energy, EI/2 int theta'^2, by Gauss quadrature of the reference's moments."""
    rod = Rod(1.0, FLAT, base_rotation=planar_frame(0.0), tip_force=(0.0, -3.0, 0.0))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    reference = solve_bvp(rod, (nodes + 1) / 2, loads=(0.5, 1.0))
    return rod, float(weights @ (reference.moments[:, 2] ** 2)) / 4


def fitted(meshes, errors) -> float:
    return -float(np.polyfit(np.log(np.array(meshes) - 1.0), np.log(errors), 1)[0])


def check(rod: Rod, reference, order: int, method: str | None = None) -> float:
    """The fitted order."""
    errors = []
    for nodes in MESHES[order]:
        state = strand(rod, nodes=nodes, order=order).solve(**loads(rod))
        if method is not None:
            assert state.report.method == method
        errors.append(
            pose_error(state.positions[-1], state.rotations[-1], reference.positions[-1], reference.rotations[-1])
        )
    slope = fitted(MESHES[order], errors)
    assert abs(slope - order) < 0.2, (slope, errors)
    return slope


@pytest.mark.parametrize(("make", "order"), CASES)
def test_follower_wrench(make, order, validated):
    rod = make(
        tip_force=plane_only(make, (2.0, -3.0, 2.5)),
        tip_torque=about_d1(make, (1.0, 0.7, -1.2)),
        follower=True,
    )
    slope = check(
        rod, sweep_back(rod, np.array([0.0, 1.0])), order, None if make in (coupled, varied_coupled) else "sweep"
    )
    if order == 4:
        validated(
            "Follower wrench, stiffness that varies" if make in VARIED else "Follower wrench",
            area="strand",
            quantity=FOURTH,
            reference="DOP853 from the tip",
            error=abs(slope - order),
            bound=0.2,
            order=slope,
        )


@pytest.mark.parametrize(("make", "order"), CASES)
def test_dead_loads(make, order, validated):
    rod, reference = with_dead_loads(make)
    slope = check(rod, reference, order)
    if order == 4:
        validated(
            "Dead loads, stiffness that varies" if make in VARIED else "Dead loads",
            area="strand",
            quantity=FOURTH,
            reference="scipy's boundary value solver",
            error=abs(slope - order),
            bound=0.2,
            order=slope,
        )


@pytest.mark.parametrize(("make", "order"), [case for case in CASES if case[1] > 1])
def test_dead_torque(make, order):
    rod, reference = with_dead_torque(make)
    check(rod, reference, order)


@pytest.mark.parametrize(("make", "order"), [case for case in CASES if case[1] > 1])
def test_line_follower(make, order, validated):
    rod = make(
        tip_force=plane_only(make, (1.0, -1.0, 1.5)),
        follower=True,
        force=lambda s: np.array(plane_only(make, (1.0, -2.0, 0.5)))[:, None] * (1 + s),
        torque=constant(about_d1(make, (0.4, -0.3, 0.5))),
        line_follower=True,
    )
    slope = check(rod, sweep_back(rod, np.array([0.0, 1.0])), order)
    if order == 4:
        validated(
            "Loads along the strand that follow it, stiffness that varies"
            if make in VARIED
            else "Loads along the strand that follow it",
            area="strand",
            quantity=FOURTH,
            reference="DOP853 from the tip",
            error=abs(slope - order),
            bound=0.2,
            order=slope,
        )


@pytest.mark.parametrize(("make", "order"), [case for case in CASES if case[1] > 1 and case[0] is not planar])
def test_pose_to_pose(make, order, validated):
    # the wrench that comes back converges as the shape does
    rod, reference = with_wrench(make)
    tip = pose(reference.positions[-1], reference.rotations[-1])
    errors = []
    for nodes in MESHES[order]:
        thread = strand(rod, nodes=nodes, order=order)
        # soft ends have several equilibria: the one that the reference has
        near = thread.solve(**loads(rod)) if make in VARIED else None
        state = thread.solve(tip=tip, guess=near, **loads(rod, tip=False))
        middle = nodes // 2
        errors.append(
            max(
                pose_error(
                    state.positions[middle], state.rotations[middle], reference.positions[1], reference.rotations[1]
                ),
                float(np.abs(state.tip_force - rod.tip_force).max()),
                float(np.abs(state.tip_torque - rod.tip_torque).max()),
            )
        )
    slope = fitted(MESHES[order], errors)
    validated(
        "Both ends held, stiffness that varies" if make in VARIED else "Both ends held: poses, wrenches",
        area="strand",
        quantity=FOURTH if order == 4 else SECOND,
        reference="scipy's boundary value solver",
        error=abs(slope - order),
        bound=0.2,
        order=slope,
    )


@pytest.mark.parametrize("make", [extensible, varied_extensible, varied_coupled])
def test_every_node_converges(make):
    # not the tip alone: positions, rotations, moments and curvatures all along, middle nodes of elements included
    rod, fine = with_dead_loads(make)
    names = ("positions", "rotations", "moments", "curvatures", "stretches")
    back = np.swapaxes(fine.rotations, 1, 2)
    u, v = rod.strains(fine.s, np.einsum("kij,kj->ik", back, fine.moments), np.einsum("kij,kj->ik", back, fine.forces))
    truth = {
        "positions": fine.positions,
        "rotations": fine.rotations,
        "moments": fine.moments,
        "curvatures": u.T,
        "stretches": v.T,
    }
    errors = {name: [] for name in names}
    # with a stiffness that varies the coarsest mesh is not yet on the way that the others go
    meshes = (41, 81, 161) if make in VARIED else (21, 41, 81, 161)
    for nodes in meshes:
        state = strand(rod, nodes=nodes).solve(**loads(rod))
        every = 160 // (nodes - 1)
        for name in names:
            errors[name].append(float(np.abs(getattr(state, name) - truth[name][::every]).max()))
    for name in names:
        assert fitted(meshes, errors[name]) > 3.8, (name, errors[name])


@pytest.mark.parametrize("order", [1, 2, 4])
def test_energy_converges(order):
    rod, energy = cantilever()
    errors = []
    for n in MESHES[order]:
        state = strand(rod, nodes=n, order=order).solve(**loads(rod))
        errors.append(abs(state.energy.elastic - energy))
    assert fitted(MESHES[order], errors) > order - 0.2, errors


def test_even_node_counts():
    # order 4 takes elements of two intervals: the error names the next odd count; orders 1 and 2 take any
    with pytest.raises(sn.InputError, match="201"):
        strand(Rod(1.0, FULL), nodes=200, order=4)
    assert strand(Rod(1.0, FULL), nodes=200, order=2).solve(base=sn.Pose()).s.size == 200
