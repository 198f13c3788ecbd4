"""A clamped shallow arch with a force at its crown, EA L^2/EI from 1e4 to 1e8, against the Cosserat strand.

The arch shortens hardly at all when it is slender, so a rod whose stretch is sampled too finely locks: its error grows
with EA L^2/EI (two stretch points in each span: 1.6e-2 instead of 1e-3 at 8 points and 1e8).  The strand has the same
stiffnesses, shear forbidden, and stretches without locking since its strain follows from its force.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import MODELS, free_scene, mesh_error, pose_at, round_rod

import sennit as sn

SLENDERNESS = (1e4, 1e5, 1e6, 1e7, 1e8)
ANGLE = 0.6  # half the angle that the arch spans: rise over span 0.15
LOAD = 15.0  # it snaps through between 20 and 40
POINTS = {"spline": 16, "discrete": 65}


def points() -> np.ndarray:
    theta = np.linspace(-ANGLE, ANGLE, 800)
    return 0.5 / ANGLE * np.column_stack([np.sin(theta), 0 * theta, np.cos(theta) - np.cos(ANGLE)])


def error(slenderness: float, control_points: int, model: str) -> float:
    make = round_rod(slenderness)
    scene = free_scene()
    arch = scene.add(make.through(points(), control_points, model=model))
    start, end = pose_at(arch, 0), pose_at(arch, -1)
    scene.add(sn.Clamp(arch.at(0.0)))
    scene.add(sn.Clamp(arch.at(arch.length)))
    scene.add(sn.Load(arch.at(arch.length / 2), force=(0.0, 0.0, -LOAD)))
    report = scene.settle()
    assert report.converged
    assert report.stable is True
    # d2 is up, the arch turns towards -d2: u1 = 1/R
    strand = make.strand(arch.length, rest_curvature=(2 * ANGLE, 0.0, 0.0))
    rest = strand.solve(base=start)
    assert np.abs(rest.positions[-1] - end.position).max() < 1e-3 * max(1.0, 64 / control_points**2)
    state = strand.solve(
        base=start, tip=end, point_loads=[sn.PointLoad(strand.length / 2, (0.0, 0.0, -LOAD), (0.0, 0.0, 0.0))]
    )
    assert state.report.converged
    return float(np.abs(arch.centerline(401) - state.positions).max())


@pytest.mark.parametrize("model", MODELS)
def test_no_locking(model, validated):
    errors = [error(slenderness, POINTS[model], model) for slenderness in SLENDERNESS]
    # four half waves between the clamps, and a jump of the third derivative at the crown
    tolerance = mesh_error(2 * np.pi, POINTS[model], model) / 4
    validated(
        "Loaded arch, EAL²/EI from 1e4 to 1e8",
        area="rods in scenes",
        quantity="centreline, of the length, splines" if model == "spline" else "centreline, of the length, discrete",
        reference="our strand",
        error=max(errors),
        bound=tolerance,
    )
    assert max(errors) < 3 * errors[0] + 1e-6, errors
