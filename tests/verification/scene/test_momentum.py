"""Free rods keep their momentum: p = sum of mass times velocity exactly, whatever the scheme.

Internal forces sum to zero to rounding, each step; 200 steps leave some 1e-13 of the largest momentum in the rod.  With
gravity p' = m g exactly, and the centre of mass follows the scheme's own parabola.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import INTEGRATORS, MODELS, round_rod

import sennit as sn

RATE, DRIFT = np.array([1.0, -2.0, 3.0]), np.array([0.4, 0.7, -0.2])


def tumbling(model: str, integrator: str, gravity=(0.0, 0.0, 0.0)):
    """A bent rod that flies and turns about three axes."""
    scene = sn.Scene(gravity=gravity, integrator=integrator)
    angle = np.linspace(0.0, 2.0, 300)
    points = np.column_stack([np.sin(angle), 1 - np.cos(angle), 0.1 * angle**2]) / 2
    rod = scene.add(round_rod(1e4).through(points, 12 if model == "spline" else 24, model=model))
    places = np.array(rod.control_points)
    rod.control_velocities = DRIFT + np.cross(RATE, places)
    return scene, rod


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", MODELS)
def test_linear_momentum(model, integrator, validated):
    scene, rod = tumbling(model, integrator)
    before = np.array(scene.linear_momentum)
    mass = round_rod(1e4).mass_per_length * rod.length
    line, speeds = rod.centerline(401), rod.velocities(401)
    # the velocity field is linear in place: so is the spline's, exactly
    assert np.abs(speeds - DRIFT - np.cross(RATE, line)).max() < 1e-6
    mean = np.trapezoid(speeds, dx=1 / 400, axis=0)
    assert np.abs(before - mass * mean).max() < 3e-3 * mass
    scale = np.linalg.norm(before)
    for _ in range(200):
        scene.step(5e-3)
    validated(
        "Bent rod that tumbles and flies, every scheme",
        area="time schemes",
        quantity="momentum after 200 steps",
        reference="conservation",
        error=np.abs(np.array(scene.linear_momentum) - before).max() / scale,
        bound=1e-10,
    )


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_weight_changes_it(integrator):
    gravity = np.array([0.0, 1.0, -2.0])
    scene, rod = tumbling("spline", integrator, gravity)
    before = np.array(scene.linear_momentum)
    mass = round_rod(1e4).mass_per_length * rod.length
    for _ in range(100):
        scene.step(5e-3)
    expected = before + mass * gravity * scene.time
    assert scene.time == pytest.approx(0.5, rel=1e-12)
    assert np.abs(np.array(scene.linear_momentum) - expected).max() < 1e-10 * np.linalg.norm(expected)


def test_angular_momentum_is_about_the_origin():
    # L = int rho A r x v; the sections' own spin is rho (I1 + I2) times less, 1e-4 here
    scene, rod = tumbling("spline", "euler")
    line, speeds = rod.centerline(2001), rod.velocities(2001)
    expected = np.trapezoid(np.cross(line, speeds), dx=1 / 2000, axis=0) * rod.length
    assert np.abs(np.array(scene.angular_momentum) - expected).max() < 2e-3 * np.linalg.norm(expected)
    mass = round_rod(1e4).mass_per_length * rod.length
    # kinetic energy of the same field
    kinetic = 0.5 * mass * np.trapezoid((speeds**2).sum(axis=1), dx=1 / 2000)
    assert scene.energy.kinetic == pytest.approx(kinetic, rel=2e-3)
