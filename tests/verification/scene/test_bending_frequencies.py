"""Bending frequencies of a cantilever: omega = (b/L)^2 sqrt(EI/(rho A)), cos(b) cosh(b) = -1 (Euler and Bernoulli).

The rod starts in a mode's shape, so small that the stretch it implies (amplitude^2 EA) is 1e-6 of its bending, and the
mode's coordinate is fitted after every step.  ``references.vibration`` takes the scheme's own error in time out of the
fit; what is left is that of the mesh.  A cubic spline with consistent mass: below (b/cells)^4/100 (measured: 4e-8 at 24
points, 1.4e-5 at 8; lumped mass would be 2 % off); a chain of hinges: (b/cells)^2/4.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import INTEGRATORS, MODELS, cells, controls, free_scene, round_rod
from references.vibration import cantilever_mode, cantilever_root, exponent

import sennit as sn

POINTS = {"spline": 16, "discrete": 48}
AMPLITUDE = 1e-5


def measured(model: str, integrator: str, mode: int, steps_per_period: int = 60, periods: int = 3) -> complex:
    make, n = round_rod(1e4), POINTS[model]
    scene = free_scene(integrator=integrator)
    rod = scene.add(make.straight((0, 0, 0), (1, 0, 0), n, model=model))
    scene.add(sn.Clamp(rod.at(0.0)))
    rest = np.array(rod.control_points)
    side = controls(lambda x: cantilever_mode(mode, x), n, model)
    # clamped: the spline's first two control points make up its end and its direction
    side[:2] = 0.0
    # not along an axis, so that a formula that favours one of them shows
    direction = np.array([0.0, 0.6, 0.8])
    rod.control_points = rest + AMPLITUDE * side[:, None] * direction
    dt = 2 * np.pi / cantilever_root(mode) ** 2 / steps_per_period
    s = np.linspace(0.0, 1.0, 101)
    weight = cantilever_mode(mode, s)
    values = []
    for _ in range(steps_per_period * periods):
        scene.step(dt)
        values.append(float(weight @ (rod.centerline(101) @ direction)))
    # the first steps start a multistep scheme, and let its second root die out
    return exponent(np.array(values[10:]) / AMPLITUDE, dt, integrator)


@pytest.mark.parametrize("mode", [1, 2, 3])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", MODELS)
def test_frequency(model, integrator, mode, validated):
    root = cantilever_root(mode)
    found = measured(model, integrator, mode)
    ratio = root / cells(POINTS[model], model)
    tolerance = 2e-5 + (ratio**4 / 100 if model == "spline" else ratio**2 / 4)
    validated(
        "Cantilever, bending modes 1 to 3",
        area="rods in scenes",
        quantity="frequency, splines" if model == "spline" else "frequency, discrete",
        reference="Euler and Bernoulli",
        error=abs(found.imag / root**2 - 1),
        bound=tolerance,
    )
    # nothing damps but the scheme
    assert abs(found.real) < (2e-4 + tolerance) * root**2
