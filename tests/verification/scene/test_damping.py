"""Decay of a cantilever's first mode.

Kelvin and Voigt, stress = E (strain + tau d strain/dt): q'' + omega^2 tau q' + omega^2 q = 0, decay omega^2 tau/2.
Drag per mass c:                                         q'' + c q' + omega^2 q = 0,           decay c/2.

Both hold for every mode, the first growing with the square of its frequency.  Euler's scheme is inverted exactly
(``references.vibration``).  BDF2 and the midpoint scheme may difference the strain over one step only: omega dt of the
decay is allowed them.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import INTEGRATORS, MODELS, controls, free_scene, round_rod
from references.vibration import cantilever_mode, cantilever_root, exponent

import sennit as sn

POINTS = {"spline": 16, "discrete": 48}
AMPLITUDE = 1e-5


def measured(model: str, integrator: str, mode: int, tau: float, drag: float, dt: float, steps: int) -> complex:
    n = POINTS[model]
    scene = free_scene(integrator=integrator, drag=drag)
    rod = scene.add(round_rod(1e4, relaxation_time=tau).straight((0, 0, 0), (1, 0, 0), n, model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    side = controls(lambda x: cantilever_mode(mode, x), n, model)
    side[:2] = 0.0
    rod.control_points = np.array(rod.control_points) + AMPLITUDE * side[:, None] * np.array([0.0, 0.0, 1.0])
    weight = cantilever_mode(mode, np.linspace(0.0, 1.0, 101))
    values = []
    for _ in range(steps):
        scene.step(dt)
        values.append(float(weight @ rod.centerline(101)[:, 2]) / AMPLITUDE)
    return exponent(np.array(values[10:]), dt, integrator)


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", MODELS)
def test_relaxation_time(model, integrator, mode, validated):
    omega = cantilever_root(mode) ** 2
    tau, dt = 0.1 / omega, 2 * np.pi / omega / 100
    found = measured(model, integrator, mode, tau, 0.0, dt, 250)
    mesh = 0.0 if model == "spline" else (cantilever_root(mode) / POINTS[model]) ** 2
    scheme = 0.0 if integrator == "euler" else omega * dt
    validated(
        "Material that relaxes (Kelvin and Voigt)",
        area="rods in scenes",
        quantity="decay",
        reference="ω²τ/2",
        error=abs(-found.real / (omega**2 * tau / 2) - 1),
        bound=5e-3 + mesh + scheme,
    )
    assert abs(found) == pytest.approx(omega, rel=1e-3 + mesh + scheme / 10)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", MODELS)
def test_drag(model, integrator, validated):
    omega = cantilever_root(1) ** 2
    drag, dt = 0.1 * omega, 2 * np.pi / omega / 100
    found = measured(model, integrator, 1, 0.0, drag, dt, 250)
    mesh = 0.0 if model == "spline" else (2 / POINTS[model]) ** 2
    scheme = 0.0 if integrator == "euler" else omega * dt / 4
    validated(
        "Drag",
        area="rods in scenes",
        quantity="decay",
        reference="c/2",
        error=abs(-found.real / (drag / 2) - 1),
        bound=5e-3 + scheme,
    )
    assert abs(found) == pytest.approx(omega, rel=1e-3 + mesh)


def test_drag_slows_a_free_flight():
    # v = v0 exp(-c t); Euler's step divides by 1 + c dt
    scene = free_scene(drag=2.0)
    rod = scene.add(round_rod(1e4).straight((0, 0, 0), (1, 0, 0), 8))
    rod.control_velocities = np.tile([0.3, -0.2, 0.5], (8, 1))
    for _ in range(100):
        scene.step(0.01)
    expected = np.array([0.3, -0.2, 0.5]) / 1.02**100
    assert np.abs(rod.velocities(5) - expected).max() < 1e-9
