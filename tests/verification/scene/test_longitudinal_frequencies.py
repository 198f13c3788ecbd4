"""Longitudinal frequencies of a clamped-free bar: omega = (k - 1/2) pi/L sqrt(E/rho).

Small strains, since the discrete energy EA/2 eps^2 is linear along a straight rod but bending would set in where the
bar is pushed.  Mesh: (root/cells)^4/20 for the spline (its stretch is sampled once in a span), ^2/10 for the discrete.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import INTEGRATORS, MODELS, cells, controls, free_scene, round_rod
from references.vibration import bar_root, exponent

import sennit as sn

POINTS = {"spline": 16, "discrete": 48}


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", MODELS)
def test_frequency(model, integrator, mode, validated):
    make, root, n, amplitude = round_rod(1e3), bar_root(mode), POINTS[model], 1e-5
    speed = np.sqrt(make.material.youngs_modulus / make.material.density)
    scene = free_scene(integrator=integrator)
    rod = scene.add(make.straight((0, 0, 0), (1, 0, 0), n, model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    along = controls(lambda x: np.sin(root * x), n, model)
    along[0] = 0.0
    rod.control_points = np.array(rod.control_points) + amplitude * along[:, None] * np.array([1.0, 0.0, 0.0])
    dt = 2 * np.pi / (root * speed) / 60
    s = np.linspace(0.0, 1.0, 101)
    values = []
    for _ in range(180):
        scene.step(dt)
        values.append(float(np.sin(root * s) @ (rod.centerline(101)[:, 0] - s)) / amplitude)
    found = exponent(np.array(values[10:]), dt, integrator)
    ratio = root / cells(n, model)
    tolerance = 2e-5 + (ratio**4 / 20 if model == "spline" else ratio**2 / 10)
    validated(
        "Bar, longitudinal modes 1 and 2",
        area="rods in scenes",
        quantity="frequency, splines" if model == "spline" else "frequency, discrete",
        reference="(2k − 1)πc/2L",
        error=abs(found.imag / (root * speed) - 1),
        bound=tolerance,
    )
    assert abs(found.real) < (1e-4 + tolerance) * root * speed
