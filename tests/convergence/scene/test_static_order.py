"""Order of convergence of settled rods in space: 4 for cubic splines, 2 for discrete rods; and both to one answer.

Largest errors of the centreline against the Cosserat strand with the same EA and no shear (order 4, 801 nodes; 1e-9).
Slopes are fitted over meshes of h = L/cells, 5 to 29 spans (8 to 32 control points) or 15 to 95 edges.
0.4 either side: on so coarse meshes the next power of h still shows, and moves a fit by 0.3.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from references.scene_cases import MODELS, cells, fitted_slope, flat_rod, free_scene, round_rod

import sennit as sn

MESHES = {"spline": (8, 12, 16, 24, 32), "discrete": (16, 32, 64, 96)}
ORDERS = {"spline": 4.0, "discrete": 2.0}
ANGLE = np.pi / 4
BASE = sn.Pose.from_rotation(np.zeros(3), np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
"""Along x with d2 = z up and d1 = y."""

CASES = {
    # name: (section and material, curvature of the rest arc in the (x, y) plane, tip force)
    "elastica": (round_rod(1e6), 0.0, (0.0, 0.0, -10.0)),
    "stretching": (round_rod(1e5), 0.0, (4.0, 0.0, -10.0)),
    "bend": (round_rod(1e8), ANGLE, (0.0, 0.0, 8.0)),
    "flat bend": (flat_rod(1e6, 2.0), ANGLE, (0.0, 3.0, 10.0)),
}


@cache
def reference(case: str) -> np.ndarray:
    make, curvature, load = CASES[case]
    state = make.strand(1.0, nodes=801, rest_curvature=(0.0, curvature, 0.0)).solve(base=BASE, tip_force=load)
    assert state.report.converged
    return state.positions


@cache
def line(case: str, control_points: int, model: str) -> np.ndarray:
    make, curvature, load = CASES[case]
    scene = free_scene()
    if curvature == 0.0:
        rod = scene.add(make.straight((0, 0, 0), (1, 0, 0), control_points, model=model))
    else:
        theta = np.linspace(0.0, curvature, 2000)
        points = np.column_stack([np.sin(theta), 1 - np.cos(theta), 0 * theta]) / curvature
        rod = scene.add(make.through(points, control_points, model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    scene.add(sn.Load(rod.at(rod.length), force=load))
    report = scene.settle()
    assert report.converged
    return rod.centerline(801)


@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize("model", MODELS)
def test_order(model, case, validated):
    errors = [float(np.abs(line(case, n, model) - reference(case)).max()) for n in MESHES[model]]
    slope = -fitted_slope([cells(n, model) for n in MESHES[model]], errors)
    validated(
        "Elastica, bend and stretch in space",
        area="rods in scenes",
        quantity="order of the mesh: departure of the fit, splines"
        if model == "spline"
        else "order of the mesh: departure of the fit, discrete",
        reference="our strand, 801 nodes",
        error=abs(slope - ORDERS[model]),
        bound=0.4,
        order=slope,
    )


def test_order_of_a_rod_that_stretches_by_a_hundredth():
    # stretch sampled by a rule that does not integrate a constant tension exactly leaves h times the strain
    make, load = round_rod(1e3), (4.0, 0.0, -10.0)
    truth = make.strand(1.0, nodes=801).solve(base=BASE, tip_force=load).positions[-1]
    errors = []
    for n in MESHES["spline"]:
        scene = free_scene()
        rod = scene.add(make.straight((0, 0, 0), (1, 0, 0), n))
        scene.add(sn.Clamp(rod.at(0.0)))
        scene.add(sn.Load(rod.at(rod.length), force=load))
        assert scene.settle().converged
        errors.append(float(np.linalg.norm(rod.centerline(2)[-1] - truth)))
    slope = -fitted_slope([cells(n, "spline") for n in MESHES["spline"]], errors)
    assert abs(slope - 4.0) < 0.4, (slope, errors)


@pytest.mark.parametrize("case", list(CASES))
def test_one_answer(case):
    # Richardson: 4/3 of the finer discrete tip less 1/3 of the coarser one (half as many edges)
    coarse, fine = line(case, 49, "discrete")[-1], line(case, 97, "discrete")[-1]
    extrapolated = (4 * fine - coarse) / 3
    gap = np.linalg.norm(fine - coarse)
    spline = line(case, 32, "spline")[-1]
    # what is left of it, h^3 at worst: a tenth of the gap; the spline is h^4 away
    assert np.linalg.norm(extrapolated - spline) < 0.1 * gap + 2e-5
