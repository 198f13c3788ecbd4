"""A hanging chain: omega = j_0k/2 sqrt(g/L) (D. Bernoulli 1732), and the same modes as steady whirls.

The chain is pinned at its top, stretched by its weight (z = -(s + (w/EA)(L s - s^2/2)), a parabola, which both models
hold) and has EI/(w L^3) = 1e-5, w L/EA = 1e-3, so that EA L^2/EI = 1e8; Rayleigh's first-order terms in these two are
added (4e-4 of omega and less).  What is left of second order is a fifth of the first for mode 2, 1e-4.  Mesh: y varies
as exp(root s) next to the free end.

Two modes a quarter turn and a quarter period apart make a chain that whirls as a rigid curve, at omega.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import MODELS, controls, mesh_error
from references.vibration import chain_frequency, chain_mode, exponent, rotating_exponent
from scipy.special import jn_zeros

import sennit as sn

POINTS = {"spline": 24, "discrete": 64}
BEND, GIVE = 1e-5, 1e-3
AMPLITUDE = 1e-4


def hanging(model: str, integrator: str = "midpoint"):
    """A chain of length 1, w = 1 and g = 1, in equilibrium below the origin."""
    n = POINTS[model]
    radius = 2 * np.sqrt(BEND * GIVE)  # r^2 = 4 EI/EA
    section = sn.Section.circle(radius)
    material = sn.Material(1 / GIVE / section.area, 0.3, 1 / section.area)
    scene = sn.Scene(gravity=(0, 0, -1.0), integrator=integrator)
    rod = scene.add(
        sn.Rod.straight((0, 0, 0), (0, 0, -1), section=section, material=material, control_points=n, model=model)
    )
    scene.add(sn.Fix(rod.at(0.0)))
    down = controls(lambda x: -(x + GIVE * (x - x**2 / 2)), n, model)
    rest = np.column_stack([0 * down, 0 * down, down])
    rod.control_points = rest
    return scene, rod, rest


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("integrator", ["bdf2", "midpoint", "fourth"])
@pytest.mark.parametrize("model", MODELS)
def test_frequency(model, integrator, mode, validated):
    scene, rod, rest = hanging(model, integrator)
    omega = chain_frequency(mode, BEND, GIVE)
    side = controls(lambda x: chain_mode(mode, x), POINTS[model], model)
    direction = np.array([0.8, 0.6, 0.0])
    rod.control_points = rest + AMPLITUDE * side[:, None] * direction
    dt = 2 * np.pi / omega / 80
    weight = chain_mode(mode, np.linspace(0.0, 1.0, 101))
    values = []
    for _ in range(200):
        scene.step(dt)
        values.append(float(weight @ (rod.centerline(101) @ direction)) / AMPLITUDE)
    found = exponent(np.array(values[20:]), dt, integrator)
    # frequencies converge twice as fast as shapes; shapes are what mesh_error is for
    tolerance = 2e-4 * mode**2 + mesh_error(jn_zeros(0, mode)[-1], POINTS[model], model)
    validated(
        "Hanging chain, modes 1 and 2",
        area="rods in scenes",
        quantity="frequency, splines" if model == "spline" else "frequency, discrete",
        reference="Bessel functions, corrected for stiffness",
        error=abs(found.imag / omega - 1),
        bound=tolerance,
    )
    assert abs(found.real) < 1e-3 * omega
    assert omega == pytest.approx(jn_zeros(0, mode)[-1] / 2, rel=1e-3)


@pytest.mark.parametrize("mode", [1, 2])
@pytest.mark.parametrize("model", MODELS)
def test_whirl(model, mode, validated):
    scene, rod, rest = hanging(model)
    omega = chain_frequency(mode, BEND, GIVE)
    side = AMPLITUDE * controls(lambda x: chain_mode(mode, x), POINTS[model], model)
    rod.control_points = rest + side[:, None] * np.array([1.0, 0.0, 0.0])
    rod.control_velocities = omega * side[:, None] * np.array([0.0, 1.0, 0.0])
    dt, turns = 2 * np.pi / omega / 80, 6
    s = np.linspace(0.0, 1.0, 101)
    weight = chain_mode(mode, s)
    values = []
    for _ in range(80 * turns):
        scene.step(dt)
        line = rod.centerline(101)
        values.append(complex(weight @ line[:, 0], weight @ line[:, 1]))
    sizes = np.abs(values) / AMPLITUDE / (weight @ weight)
    # a mesh mode that is not quite this one beats with it: mesh_error of the amplitude
    tolerance = 2e-4 * mode**2 + mesh_error(jn_zeros(0, mode)[-1], POINTS[model], model)
    assert np.abs(sizes - 1).max() < 5e-3 + 10 * tolerance
    validated(
        "Whirling chain",
        area="rods in scenes",
        quantity="rate, splines" if model == "spline" else "rate, discrete",
        reference="Bessel functions, corrected for stiffness",
        error=abs(rotating_exponent(np.array(values), dt, "midpoint").imag / omega - 1),
        bound=tolerance + 1e-4,
    )
    # it is still this curve, turned
    turned = (line[:, 0] + 1j * line[:, 1]) / AMPLITUDE * np.conj(values[-1]) / np.abs(values[-1])
    assert np.abs(turned - weight).max() < 2e-2
