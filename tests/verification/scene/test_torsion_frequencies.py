"""Torsional frequencies of a clamped-free bar: omega = (k - 1/2) pi/L sqrt(GJ/(rho (I1 + I2))).

Exactly linear on a straight rod, so the amplitude may be large.  A round bar has J = I1 + I2, hence the shear wave
speed sqrt(G/rho); a rectangle has not, and tells J from I1 + I2.  Mesh: (root/cells)^4/50, or ^2/10 for a discrete rod.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import MODELS, cells, controls, flat_rod, free_scene, round_rod
from references.vibration import bar_root, exponent

import sennit as sn

POINTS = {"spline": 16, "discrete": 48}


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("shape", ["round", "flat"])
@pytest.mark.parametrize("model", MODELS)
def test_frequency(model, shape, mode, validated):
    make = round_rod(1e4) if shape == "round" else flat_rod(1e4, 3.0)
    root, n = bar_root(mode), POINTS[model]
    speed = np.sqrt(make.twist / (make.material.density * (make.section.I1 + make.section.I2)))
    scene = free_scene(integrator="midpoint")
    rod = scene.add(make.straight((0, 0, 0), (1, 0, 0), n, model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    # rolls of a discrete rod belong to its edges, of which the last node has none
    if model == "spline":
        rolls = controls(lambda x: np.sin(root * x), n, model)
    else:
        rolls = np.append(np.sin(root * (np.arange(n - 1) + 0.5) / (n - 1)), 0.0)
    rolls[0] = 0.0
    rod.rolls = 0.1 * rolls
    dt = 2 * np.pi / (root * speed) / 60
    s = (np.arange(100) + 0.5) / 100
    values = []
    for _ in range(180):
        scene.step(dt)
        frames = rod.frames(201)[1::2]
        turn = np.arctan2(frames[:, 2, 0], frames[:, 1, 0])  # of d1 about x, from y
        values.append(float(np.sin(root * s) @ turn))
    found = exponent(np.array(values), dt, "midpoint")
    ratio = root / cells(n, model)
    # rolls that are constant along an edge reach the clamp half an edge away: one order less than the rest
    tolerance = 1e-6 + (ratio**4 / 50 if model == "spline" else ratio**2 / 10 + 0.6 / (n - 1))
    validated(
        "Bar, torsional modes 1 and 2",
        area="rods in scenes",
        quantity="frequency, splines" if model == "spline" else "frequency, discrete",
        reference="(2k − 1)πc/2L",
        error=abs(found.imag / (root * speed) - 1),
        bound=tolerance,
    )
    # the bar stays straight
    assert np.abs(rod.centerline(11)[:, 1:]).max() < 1e-9


def test_frames_follow_the_rolls():
    make = round_rod(1e4)
    scene = free_scene()
    rod = scene.add(make.straight((0, 0, 0), (1, 0, 0), 8))
    rod.rolls = np.full(8, 0.3)
    c, s = np.cos(0.3), np.sin(0.3)
    # d1 = cos u1 + sin u2 with u1 = y, u2 = z
    assert np.abs(rod.frames(5) - np.array([[0, 0, 1], [c, -s, 0], [s, c, 0]])).max() < 1e-12
