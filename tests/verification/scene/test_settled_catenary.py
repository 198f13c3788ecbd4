"""A rope between two points under its weight, with bending: n' = w z, m' = -t x n, against the Cosserat strand.

The strand has the same EA and EI, shear forbidden; pinned or clamped at both ends; 1e-7.  The rope starts on a circular
arc and is straight at rest.  Its ends vary as exp(sqrt(H/EI) s).
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import MODELS, mesh_error, pose_at, round_rod

import sennit as sn

POINTS = {"spline": 28, "discrete": 80}
WEIGHT = 60.0  # w L^3/EI


def arc(angle: float) -> np.ndarray:
    """A sagging arc of length 1 with end tangents ``angle`` from the horizontal, in the (x, z) plane."""
    theta = np.linspace(-angle, angle, 400)
    radius = 0.5 / angle
    return radius * np.column_stack([np.sin(theta) + np.sin(angle), 0 * theta, np.cos(angle) - np.cos(theta)])


@pytest.mark.parametrize("hold", ["pinned", "clamped"])
@pytest.mark.parametrize("model", MODELS)
def test_catenary(model, hold, validated):
    make = round_rod(1e5)
    scene = sn.Scene(gravity=(0.0, 0.0, -WEIGHT))
    rope = scene.add(make.through(arc(1.0), POINTS[model], straight=True, model=model))
    grip = sn.Fix if hold == "pinned" else sn.Clamp
    start, end = pose_at(rope, 0), pose_at(rope, -1)
    left, right = scene.add(grip(rope.at(0.0))), scene.add(grip(rope.at(rope.length)))
    report = scene.settle()
    assert report.converged

    strand = make.strand(rope.length)
    gravity = (0.0, 0.0, -WEIGHT)
    guess = strand.solve(base=start, tip=end, gravity=gravity)
    if hold == "pinned":
        state = strand.solve(
            via=[(0.0, start.position)], tip_position=end.position, gravity=gravity, guess=guess, throw=False
        )
    else:
        state = guess
    assert state.report.converged
    rate = np.sqrt(np.linalg.norm(state.tip_force))
    tolerance = mesh_error(max(rate, np.pi), POINTS[model], model)
    validated(
        "Rope hung between two points, wL³/EI = 60",
        area="rods in scenes",
        quantity="centreline, of the length, splines" if model == "spline" else "centreline, of the length, discrete",
        reference="our strand",
        error=np.abs(rope.centerline(401) - state.positions).max(),
        bound=tolerance,
    )
    # statics: the two grips carry the weight between them, alike, and pull apart as the strand's do
    weight = WEIGHT * rope.length
    validated(
        "Rope hung between two points, wL³/EI = 60",
        area="rods in scenes",
        quantity="forces of the grips",
        reference="the weight",
        error=np.abs(left.force + right.force - [0.0, 0.0, weight]).max() / weight,
        bound=1e-6,
    )
    assert np.abs(right.force - state.tip_force).max() < max(1e-4, 10 * tolerance) * weight
