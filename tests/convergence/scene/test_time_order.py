"""Order of convergence in time: "euler" 1, "bdf2" and "midpoint" 2, and all three to the same motion.

A thick cantilever (EA L^2/EI = 400, so that its stretch is resolved too) is thrown out of its plane; the reference is
the midpoint scheme at a step 16 times finer than the finest, 1/256 of its error.  Then a bent rod that tumbles freely
in a plane that lies askew: its angular momentum is off by the scheme's order.  There the sections' own inertia, which
the model has about the tangent only, plays no part; in space it would leave 1e-4 of the momentum.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from references.rotation import exp
from references.scene_cases import INTEGRATORS, MODELS, controls, fitted_slope, free_scene, round_rod

import sennit as sn

ORDERS = {"euler": 1.0, "bdf2": 2.0, "midpoint": 2.0}
STEPS = {"euler": (200, 400, 800), "bdf2": (50, 100, 200), "midpoint": (50, 100, 200)}
POINTS = {"spline": 8, "discrete": 9}
DURATION = 0.5


@cache
def thrown(model: str, integrator: str, steps: int) -> np.ndarray:
    n = POINTS[model]
    scene = free_scene(integrator=integrator)
    rod = scene.add(round_rod(400.0).straight((0, 0, 0), (1, 0, 0), n, model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    # s^2 and s^3: at rest at the clamp, with its direction
    velocities = np.column_stack(
        [np.zeros(n), controls(lambda x: 1.5 * x**2, n, model), controls(lambda x: -1.0 * x**3, n, model)]
    )
    velocities[:2] = 0.0
    rod.control_velocities = velocities
    for _ in range(steps):
        scene.step(DURATION / steps)
    assert scene.time == pytest.approx(DURATION, rel=1e-9)
    return np.array(rod.control_points)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", MODELS)
def test_order(model, integrator):
    reference = thrown(model, "midpoint", 3200)
    errors = [float(np.abs(thrown(model, integrator, k) - reference).max()) for k in STEPS[integrator]]
    # it moves half its length: the errors are small
    assert np.abs(reference[-1] - [1.0, 0.0, 0.0]).max() > 0.2
    slope = -fitted_slope(STEPS[integrator], errors)
    assert abs(slope - ORDERS[integrator]) < 0.3, (slope, errors)


def spun(model: str, integrator: str, steps: int) -> float:
    """Relative error of the angular momentum after a third of a turn or so."""
    askew = exp(np.array([0.5, -0.8, 0.3]))
    scene = free_scene(integrator=integrator)
    angle = np.linspace(0.0, 1.5, 300)
    points = np.column_stack([np.sin(angle), 1 - np.cos(angle), 0 * angle]) / 1.5
    rod = scene.add(round_rod(400.0).through(points @ askew.T, 10 if model == "spline" else 16, model=model))
    places = np.array(rod.control_points)
    rod.control_velocities = askew @ np.array([0.5, -0.3, 0.0]) + np.cross(askew @ np.array([0.0, 0.0, 4.0]), places)
    before = np.array(scene.angular_momentum)
    for _ in range(steps):
        scene.step(DURATION / steps)
    return float(np.linalg.norm(np.array(scene.angular_momentum) - before) / np.linalg.norm(before))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", MODELS)
def test_angular_momentum(model, integrator):
    errors = [spun(model, integrator, k) for k in STEPS[integrator]]
    if max(errors) < 1e-9:  # a scheme that keeps it is welcome
        return
    slope = -fitted_slope(STEPS[integrator], errors)
    assert slope > ORDERS[integrator] - 0.3, (slope, errors)
    assert errors[-1] < 0.1
