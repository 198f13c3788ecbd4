"""A thread under its own weight: EI theta'' = w (L - s) cos(theta), w L^3/EI up to 1e5, from the straight state.

The reference is multi-domain Chebyshev collocation with load continuation, 1e-11.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import buckling, elastica
from references.library import planar_frame, pose, strand
from references.samples import flat_rod

import sennit as sn


def error(state, tip: elastica.Tip) -> float:
    return float(np.abs(state.positions[-1] - [tip.x, tip.y, 0.0]).max())


@pytest.mark.parametrize("weight", [1.0, 10.0, 1e2, 1e3, 1e4, 1e5])
@pytest.mark.parametrize("clamp", [0.2, 0.0])
def test_limp_thread(weight, clamp, validated):
    thread = strand(flat_rod(), nodes="auto", tolerance=1e-6)
    base = pose((0, 0, 0), planar_frame(clamp))
    state = thread.solve(base=base, force=(0.0, -weight, 0.0))
    tip = elastica.heavy(weight, clamp).tip
    validated(
        "Thread under its own weight, wL³/EI to 1e5",
        area="strand",
        quantity="tip, of the length",
        reference="Chebyshev collocation, 1e-11",
        error=error(state, tip),
        bound=1e-6,
    )
    assert state.stable is True
    assert state.report.converged
    assert state.report.nodes == state.s.size
    assert np.isfinite(state.report.error_estimate)
    assert state.base_torque[2] == pytest.approx(-tip.base_curvature, rel=1e-3)  # the mesh serves positions


@pytest.mark.parametrize("weight", [1e2, 1e5])
def test_limp_thread_from_the_straight_state(weight):
    thread = strand(flat_rod(), nodes="auto", tolerance=1e-6)
    base = pose((0, 0, 0), planar_frame(0.2))
    straight = thread.solve(base=base)
    assert np.abs(straight.positions - straight.s[:, None] * straight.rotations[0][:, 2]).max() < 1e-12
    state = thread.solve(base=base, force=(0.0, -weight, 0.0), guess=straight)
    assert error(state, elastica.heavy(weight, 0.2).tip) < 1e-6


@pytest.mark.parametrize("clamp", [1.0, 1.5, -1.2, -2.5, -4.0])
@pytest.mark.parametrize("weight", [3.0, 1e3, 1e5])
def test_clamp_at_any_angle(weight, clamp, validated):
    thread = strand(flat_rod(), nodes="auto", tolerance=1e-6)
    state = thread.solve(base=pose((0, 0, 0), planar_frame(clamp)), force=(0.0, -weight, 0.0))
    validated(
        "Thread under its own weight, clamped at any angle",
        area="strand",
        quantity="tip, of the length",
        reference="Chebyshev collocation, 1e-11",
        error=error(state, elastica.heavy(weight, clamp).tip),
        bound=1e-6,
    )
    assert state.stable is True


@pytest.mark.parametrize("weight", [1.0, 1e2, 1e3])
def test_uniform_mesh(weight):
    # order 4 with a clamp layer of 1/sqrt(w): (h sqrt(w))^4/100, no less than the reference's error
    tolerance = max(1e-10, (np.sqrt(weight) / 200) ** 4 / 100)
    state = strand(flat_rod(), nodes=201).solve(base=pose((0, 0, 0), planar_frame(0.2)), force=(0.0, -weight, 0.0))
    assert error(state, elastica.heavy(weight, 0.2).tip) < tolerance


def test_weight_is_density_times_area_times_gravity(validated):
    material, section = sn.Material(2.7e9, 0.39, 1150), sn.Section.circle(2e-4)
    suture = sn.Strand(length=0.25, section=section, material=material, nodes=201)
    base = pose((0.1, 0.2, 0.3), planar_frame(0.3))
    weight = 1150 * np.pi * 4e-8 * 9.81
    pulled = suture.solve(base=base, gravity=(0.0, -9.81, 0.0))
    loaded = suture.solve(base=base, force=(0.0, -weight, 0.0))
    assert np.abs(pulled.positions - loaded.positions).max() < 1e-12 * 0.25
    both = suture.solve(base=base, force=(0.0, -0.4 * weight, 0.0), gravity=(0.0, -0.6 * 9.81, 0.0))
    assert np.abs(both.positions - loaded.positions).max() < 1e-12 * 0.25
    array = suture.solve(base=base, force=np.tile([0.0, -weight, 0.0], (201, 1)))
    assert np.abs(array.positions - loaded.positions).max() < 1e-12 * 0.25
    function = suture.solve(base=base, force=lambda s: (0.0, -weight, 0.0))
    assert np.abs(function.positions - loaded.positions).max() < 1e-12 * 0.25
    assert pulled.base_force[1] == pytest.approx(weight * 0.25, rel=1e-12)
    stiffness = 2.7e9 * np.pi * (2e-4) ** 4 / 4
    tip = elastica.heavy(weight * 0.25**3 / stiffness, 0.3).tip
    expected = 0.25 * np.array([tip.x, tip.y, 0.0]) + [0.1, 0.2, 0.3]
    validated(
        "Nylon suture, 0.25 m, under its own weight",
        area="strand",
        quantity="tip, of the length",
        reference="Chebyshev collocation, 1e-11",
        error=np.abs(pulled.positions[-1] - expected).max() / 0.25,
        bound=1e-7,
    )


def test_a_tall_column_falls(validated):
    # Greenhill (1881): a clamped column falls under its own weight at w L^3/EI = 7.837
    critical = buckling.heavy_column()
    column = strand(flat_rod(), nodes=101)
    base = pose((0, 0, 0), planar_frame(np.pi / 2))
    up = column.solve(base=base, force=(0.0, -0.999 * critical, 0.0))
    assert up.stable is True
    assert np.abs(up.positions[-1] - [0.0, 1.0, 0.0]).max() < 1e-9
    fallen = column.solve(base=base, force=(0.0, -1.001 * critical, 0.0))
    straight = np.abs(fallen.positions[-1] - [0.0, 1.0, 0.0]).max() < 1e-6
    assert not (straight and fallen.stable)
    # an unstable equilibrium is left
    assert fallen.stable is True
    # up at 0.999 of it, fallen at 1.001
    validated(
        "Column under its own weight",
        area="strand",
        quantity="critical weight, bracket",
        reference="Greenhill 1881",
        error=1e-3,
        bound=1e-3,
    )
