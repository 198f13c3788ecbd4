"""Planar cantilever under a dead end force: EI theta'' = -n x t, tip by elliptic integrals (exact to 1e-14).

An order-4 solution on 201 nodes has h^4 = 6e-10; the load's scale enters as (P L^2/EI)^2 h^4/100 or so: 1e-8 at 10.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import elastica
from references.library import planar_frame, pose, strand
from references.samples import flat_rod

import sennit as sn

TOLERANCE = 1e-8


def solve(load: float, clamp: float, nodes: int = 201, **options):
    return strand(flat_rod(), nodes=nodes).solve(
        base=pose((0, 0, 0), planar_frame(clamp)), tip_force=(0.0, -load, 0.0), **options
    )


@pytest.mark.parametrize("load", [0.1, 1.0, 3.0, 10.0])
def test_tip(load, validated):
    tip, state = elastica.end_loaded(load), solve(load, 0.0)
    validated(
        "Cantilever, dead end force, PL²/EI to 10",
        area="strand",
        quantity="tip, of the length",
        reference="elliptic integrals",
        error=np.abs(state.positions[-1] - [tip.x, tip.y, 0.0]).max(),
        bound=TOLERANCE,
    )
    assert np.abs(state.rotations[-1] - planar_frame(tip.theta)).max() < TOLERANCE
    assert np.abs(state.tip_pose.position - state.positions[-1]).max() == 0.0
    assert state.report.converged
    assert state.stable is True


@pytest.mark.parametrize("clamp", [-2.5, -1.2, 0.5, 1.2, 2.0, 3.0])
@pytest.mark.parametrize("load", [1.0, 10.0])
def test_clamp_at_any_angle(load, clamp, validated):
    tip, state = elastica.end_loaded(load, clamp), solve(load, clamp)
    validated(
        "Cantilever clamped at any angle",
        area="strand",
        quantity="tip, of the length",
        reference="elliptic integrals",
        error=np.abs(state.positions[-1] - [tip.x, tip.y, 0.0]).max(),
        bound=TOLERANCE,
    )
    # the grip at the base applies minus the internal wrench there: force +P y, torque -EI theta'(0) z
    assert np.abs(state.base_force - [0.0, load, 0.0]).max() < 1e-12 * load
    validated(
        "Cantilever clamped at any angle",
        area="strand",
        quantity="moment of the clamp, of PL",
        reference="elliptic integrals",
        error=np.abs(state.base_torque - [0.0, 0.0, -tip.base_curvature]).max() / load,
        bound=TOLERANCE,
    )
    assert state.curvatures[0, 0] == pytest.approx(tip.base_curvature, abs=1e2 * TOLERANCE * load)


def test_internal_force_is_what_lies_beyond_exerts():
    state = solve(3.0, 0.0)
    assert np.abs(state.forces - [0.0, -3.0, 0.0]).max() < 1e-12
    arm = state.positions[-1] - state.positions
    assert np.abs(state.moments - np.cross(arm, state.forces)).max() < 1e-8


@pytest.mark.parametrize("angle", [-2.0, -0.4, 0.8, 2.6])
def test_load_in_any_direction(angle):
    tip = elastica.end_loaded(5.0, 0.0, angle)
    state = strand(flat_rod()).solve(
        base=pose((0, 0, 0), planar_frame(0.0)), tip_force=(5.0 * np.cos(angle), 5.0 * np.sin(angle), 0.0)
    )
    assert np.abs(state.positions[-1] - [tip.x, tip.y, 0.0]).max() < TOLERANCE


def test_steel_ruler_in_its_own_units(validated):
    # width along d1, height along d2: bending about d1 has I1 = width height^3/12
    width, height, length = 0.02, 5e-4, 0.3
    steel = sn.Material(youngs_modulus=210e9, poisson_ratio=0.3, density=7850)
    ruler = sn.Strand(length=length, section=sn.Section.rectangle(width, height), material=steel, nodes=201)
    stiffness = 210e9 * width * height**3 / 12
    load = 3.0 * stiffness / length**2
    tip = elastica.end_loaded(3.0)
    state = ruler.solve(base=pose((0, 0, 0), planar_frame(0.0)), tip_force=(0.0, -load, 0.0))
    validated(
        "Steel ruler, 0.5 mm by 20 mm by 0.3 m",
        area="strand",
        quantity="tip, of the length",
        reference="elliptic integrals",
        error=np.abs(state.positions[-1] / length - [tip.x, tip.y, 0.0]).max(),
        bound=TOLERANCE,
    )
    # turned a quarter about its tangent, it bends about d2 with I2 = height width^3/12, 1,600 times as stiff
    across = planar_frame(0.0) @ np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    stiff = 210e9 * height * width**3 / 12
    state = ruler.solve(base=pose((0, 0, 0), across), tip_force=(0.0, -1e-6 * load, 0.0))
    assert state.positions[-1, 1] == pytest.approx(-1e-6 * load * length**3 / (3 * stiff), rel=1e-6)


@pytest.mark.parametrize("nodes", ["auto"])
def test_automatic_mesh(nodes, validated):
    tip = elastica.end_loaded(10.0)
    fine = strand(flat_rod(), nodes=nodes, tolerance=1e-7)
    state = fine.solve(base=pose((0, 0, 0), planar_frame(0.0)), tip_force=(0.0, -10.0, 0.0))
    validated(
        "Cantilever on an automatic mesh",
        area="strand",
        quantity="tip, of the length",
        reference="elliptic integrals",
        error=np.abs(state.positions[-1] - [tip.x, tip.y, 0.0]).max(),
        bound=1e-7,
    )
    assert state.report.nodes == state.s.size
    assert state.report.error_estimate <= 1e-7
