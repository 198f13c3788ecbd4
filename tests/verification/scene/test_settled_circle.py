"""A torque M = 2 pi EI/L at the tip bends a straight cantilever into a full circle, curvature M/EI everywhere.

No force, hence no stretch: exact for any EA.  A fraction f of it bends the rod into the arc of angle 2 pi f.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import MODELS, cells, flat_rod, free_scene, mesh_error, round_rod

import sennit as sn

POINTS = {"spline": 24, "discrete": 64}


@pytest.mark.parametrize("follower", [False, True])
@pytest.mark.parametrize("fraction", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("shape", ["round", "strip"])
@pytest.mark.parametrize("model", MODELS)
def test_arc(model, shape, fraction, follower, validated):
    make = round_rod(1e6) if shape == "round" else flat_rod(1e6, 2.0)
    scene = free_scene()
    rod = scene.add(make.straight((0, 0, 0), (1, 0, 0), POINTS[model], model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    angle = 2 * np.pi * fraction
    if fraction > 0.25:
        # Past some 2 rad a couple whose axis stays where it is throws a free rod out of its plane: guides keep it in.
        for s in np.linspace(0.1, 1.0, 10):
            scene.add(sn.OnPlane(rod.at(s), (0, 0, 1)))
    # about z in the world; d2 starts as z and stays there, so that in the tip's frame the axis is d2
    torque = (0.0, angle, 0.0) if follower else (0.0, 0.0, angle)
    scene.add(sn.Load(rod.at(rod.length), torque=torque, follower=follower))
    assert scene.settle().converged
    s = np.linspace(0.0, 1.0, 101)
    expected = np.column_stack([np.sin(angle * s), 1 - np.cos(angle * s), 0 * s]) / angle
    tolerance = mesh_error(angle, POINTS[model], model)
    validated(
        "End moment, to a full circle",
        area="rods in scenes",
        quantity="centreline, of the length, splines" if model == "spline" else "centreline, of the length, discrete",
        reference="closed form",
        error=np.abs(rod.centerline(101) - expected).max(),
        bound=tolerance,
    )
    # second derivatives of a cubic: (curvature h)^2/12 of them; those of a polygon likewise
    rough = (angle / cells(POINTS[model], model)) ** 2 / 4
    assert np.abs(rod.curvatures(101)[50] - [0.0, angle, 0.0]).max() < rough * angle
    assert rod.minimum_bend_radius == pytest.approx(1 / angle, rel=rough)
    # energy EI/2 (M/EI)^2 L, all of it in bending
    assert rod.energy.bend == pytest.approx(angle**2 / 2, rel=2 * tolerance + 1e-6)
