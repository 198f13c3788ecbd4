"""Helical springs with a force at their tip, against the Cosserat strand (order 4, 401 nodes; EA alike, no shear).

Rest curvature u^ = (0, kappa, tau) with kappa = cos^2(a)/rho, tau = sin(a) cos(a)/rho in Frenet's frame.  A round
section does not feel which frame it is described in, as long as rest and present twist are measured alike.
"""

from __future__ import annotations

import numpy as np
import pytest
from references import helix
from references.scene_cases import MODELS, free_scene, mesh_error, round_rod

import sennit as sn

TURNS, PITCH = 2.0, 0.25
RADIUS = np.cos(PITCH) / (2 * np.pi * TURNS)  # length 1
POINTS = {"spline": 32, "discrete": 128}


def curve(n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) and Frenet's frame (normal, binormal, tangent) at the first of them; axis z."""
    angle = np.linspace(0.0, 2 * np.pi * TURNS, n)
    rise = RADIUS * np.tan(PITCH)
    points = np.column_stack([RADIUS * np.cos(angle), RADIUS * np.sin(angle), rise * angle])
    tangent = np.array([0.0, np.cos(PITCH), np.sin(PITCH)])
    normal = np.array([-1.0, 0.0, 0.0])
    return points, np.column_stack([normal, np.cross(tangent, normal), tangent])


@pytest.mark.parametrize("load", [(0, 0, 8.0), (2.0, -3.0, 4.0), (0, 0, -4.0)])
@pytest.mark.parametrize("model", MODELS)
def test_pulled_at_its_end(model, load, validated):
    make = round_rod(1e6)
    points, frame = curve()
    scene = free_scene()
    spring = scene.add(make.through(points, POINTS[model], model=model))
    assert spring.length == pytest.approx(1.0, rel=1e-3)
    scene.add(sn.Clamp(spring.at(0.0)))
    scene.add(sn.Load(spring.at(spring.length), force=load))
    report = scene.settle()
    assert report.converged

    strand = make.strand(1.0, rest_curvature=tuple(helix.helix_curvature(RADIUS, PITCH)))
    base = sn.Pose.from_rotation(points[0], frame)
    rest = strand.solve(base=base)
    assert np.abs(rest.positions[-1] - points[-1]).max() < 1e-6
    state = strand.solve(base=base, tip_force=load)
    assert state.report.converged
    # one turn is 2 pi RADIUS: the rest shape varies as exp(2 pi TURNS s), with amplitude RADIUS; the moment of the
    # force, 8 RADIUS, changes it by about as much again; and its error turns
    # the coil that follows
    tolerance = 6 * RADIUS * mesh_error(2 * np.pi * TURNS, POINTS[model], model)
    validated(
        "Helical spring pulled at its end",
        area="rods in scenes",
        quantity="tip, of the length, splines" if model == "spline" else "tip, of the length, discrete",
        reference="our strand",
        error=np.abs(spring.centerline(401)[-1] - state.positions[-1]).max(),
        bound=tolerance,
    )
