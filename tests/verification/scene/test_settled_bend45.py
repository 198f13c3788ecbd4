"""The 45-degree bend of Bathe and Bolourchi (1979): a curved cantilever pulled out of its plane, P L^2/EI = 8.

EA L^2/EI from 1e4 to 1e8, round and 4:1 rectangular, against the Cosserat strand with the same EA and shear forbidden
(1e-7).  Bending and twist work together here: a rod that forgets how its frames turn with its tangents is 4 % of L off.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import MODELS, flat_rod, free_scene, mesh_error, pose_at, round_rod

import sennit as sn

ANGLE = np.pi / 4
LOAD = 8.0
POINTS = {"spline": 16, "discrete": 64}


def points() -> np.ndarray:
    """An arc of length 1 in the (x, y) plane that turns left."""
    theta = np.linspace(0.0, ANGLE, 800)
    return np.column_stack([np.sin(theta), 1 - np.cos(theta), 0 * theta]) / ANGLE


def bend_error(make, control_points: int, model: str, load=(0.0, 0.0, LOAD)) -> float:
    scene = free_scene()
    rod = scene.add(make.through(points(), control_points, model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    scene.add(sn.Load(rod.at(rod.length), force=load))
    report = scene.settle()
    assert report.converged
    assert report.stable is True
    # d2 = z is up and d1 = d2 x d3 points left: u2 = 1/R
    frame = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    base = sn.Pose.from_rotation(np.zeros(3), frame)
    state = make.strand(1.0, rest_curvature=(0.0, ANGLE, 0.0)).solve(base=base, tip_force=load)
    assert state.report.converged
    return float(np.abs(rod.centerline(401) - state.positions).max())


@pytest.mark.parametrize("model", MODELS)
def test_no_locking(model, validated):
    errors = [bend_error(round_rod(slenderness), POINTS[model], model) for slenderness in (1e4, 1e5, 1e6, 1e7, 1e8)]
    validated(
        "45° bend, EAL²/EI from 1e4 to 1e8",
        area="rods in scenes",
        quantity="centreline, of the length, splines" if model == "spline" else "centreline, of the length, discrete",
        reference="our strand",
        error=max(errors),
        bound=mesh_error(np.sqrt(LOAD), POINTS[model], model),
    )
    assert max(errors) < 3 * errors[0] + 1e-6, errors


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_rectangle(ratio):
    # soft about d2 = z (1) or about d1 (1/4): both bending stiffnesses and the frames are used
    make = flat_rod(1e6, ratio)
    assert bend_error(make, 24, "spline", (0.0, 2.0, 4.0 * ratio)) < mesh_error(np.sqrt(LOAD), 24, "spline")


def test_frames_at_rest():
    make = flat_rod(1e6, 2.0)
    rod = make.through(points(), 24)
    frame = pose_at(rod, 0).rotation
    assert np.abs(frame - [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).max() < 1e-4
    # along a plane curve frames without twist turn about its normal: d2 stays up
    assert np.abs(rod.frames(50)[:, :, 1] - [0.0, 0.0, 1.0]).max() < 1e-10
    assert np.abs(rod.curvatures(51)[25] - [0.0, ANGLE, 0.0]).max() < 1e-4
