"""Order of convergence in time: "euler" 1, "bdf2" and "midpoint" 2, "fourth" 4, and all to the same motion.

A thick curved cantilever (EA L^2/EI = 100) starts to fall from rest, in its plane or across it, where it twists.  A
load that sets in at once reaches modes of frequency w with 1/w^2 only, so that what the steps do not resolve is small.
The reference is the midpoint scheme at a quarter of the finest step, 1/16 of its error: 0.03 of a slope; that of
"fourth" is itself at a quarter of its finest step, which lies as near to the midpoint scheme's as that is exact.

Then a bent rod that tumbles freely in a plane that lies askew: its angular momentum is off by the scheme's order.
There the sections' own inertia, which the model has about the tangent only, plays no part; in space it would leave
1e-4 of the momentum.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from references.rotation import exp
from references.scene_cases import INTEGRATORS, MODELS, fitted_slope, free_scene, round_rod

import sennit as sn

ORDERS = {"euler": 1.0, "bdf2": 2.0, "midpoint": 2.0, "fourth": 4.0}
STEPS = {
    "euler": (200, 400, 800), "bdf2": (400, 800, 1600), "midpoint": (400, 800, 1600), "fourth": (300, 600, 1200)
}  # fmt: skip
FIRST = "order 1 (euler): departure of the fit"
SECOND = "order 2 (bdf2, midpoint): departure of the fit"
FOURTH = "order 4 (fourth): departure of the fit"
GRAVITY = {"plane": (0.0, -8.0, 0.0), "space": (0.0, 2.0, -8.0)}
POINTS = 8
DURATION = 0.5


def arc(angle: float) -> np.ndarray:
    """An arc of length 1 in the (x, y) plane."""
    theta = np.linspace(0.0, angle, 300)
    return np.column_stack([np.sin(theta), 1 - np.cos(theta), 0 * theta]) / angle


@cache
def fallen(model: str, integrator: str, where: str, steps: int) -> np.ndarray:
    scene = sn.Scene(gravity=GRAVITY[where], integrator=integrator)
    rod = scene.add(round_rod(100.0).through(arc(0.8), POINTS, model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    for _ in range(steps):
        scene.step(DURATION / steps)
    assert scene.time == pytest.approx(DURATION, rel=1e-9)
    assert not scene.events
    return rod.centerline(33)


@pytest.mark.parametrize("where", list(GRAVITY))
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", MODELS)
def test_order(model, integrator, where, validated):
    exact = integrator == "fourth"
    reference = fallen(model, "midpoint", where, 6400)
    if exact:
        reference, second = fallen(model, integrator, where, 4800), reference
        assert np.abs(reference - second).max() < 5e-7
    assert np.abs(reference[-1] - arc(0.8)[-1]).max() > 0.5  # far from where it began
    errors = [float(np.abs(fallen(model, integrator, where, k) - reference).max()) for k in STEPS[integrator]]
    slope = -fitted_slope(STEPS[integrator], errors)
    missed = abs(slope - ORDERS[integrator])
    if exact:
        validated(
            "Curved rod that falls", area="time schemes", quantity=FOURTH,
            reference="itself, a quarter of the step", error=missed, bound=0.2, order=slope,
        )  # fmt: skip
    else:
        validated(
            "Curved rod that falls", area="time schemes", quantity=FIRST if integrator == "euler" else SECOND,
            reference="midpoint scheme, a quarter of the step", error=missed, bound=0.3, order=slope,
        )  # fmt: skip


def spun(model: str, integrator: str, steps: int) -> float:
    """Relative error of the angular momentum after a third of a turn or so."""
    askew = exp(np.array([0.5, -0.8, 0.3]))
    scene = free_scene(integrator=integrator)
    rod = scene.add(round_rod(400.0).through(arc(1.5) @ askew.T, 10 if model == "spline" else 16, model=model))
    places = np.array(rod.control_points)
    rod.control_velocities = askew @ np.array([0.5, -0.3, 0.0]) + np.cross(askew @ np.array([0.0, 0.0, 4.0]), places)
    before = np.array(scene.angular_momentum)
    for _ in range(steps):
        scene.step(DURATION / steps)
    return float(np.linalg.norm(np.array(scene.angular_momentum) - before) / np.linalg.norm(before))


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", MODELS)
def test_angular_momentum(model, integrator, validated):
    errors = [spun(model, integrator, k) for k in (200, 400, 800)]
    if max(errors) < 1e-9:  # a scheme that keeps it is welcome
        return
    slope = -fitted_slope((200, 400, 800), errors)
    assert slope > ORDERS[integrator] - 0.3, (slope, errors)
    if integrator == "fourth":
        return  # 3e-10 and less: the last of these errors is near what Newton's method leaves
    validated(
        "Bent rod that tumbles, third of a turn",
        area="time schemes",
        quantity="angular momentum, euler" if integrator == "euler" else "angular momentum, bdf2 and midpoint",
        reference="conservation",
        error=errors[-1],
        bound=2e-3 if integrator == "euler" else 1e-5,
        order=slope,
    )
