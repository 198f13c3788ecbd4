"""One gram of wire holds a tonne, a million times its mass: T = W, elongation W L/EA, at rest and in motion.

The wire's strain is 4 %, so it is a spring k = EA/L and the load swings up and down at sqrt(k/m): Euler's scheme
divides the square of the amplitude by 1 + k dt^2/m each step, and has it below 1e-12 after 150 steps of 10 ms.
"""

from __future__ import annotations

import numpy as np
import pytest
from references.scene_cases import MODELS

import sennit as sn

LENGTH, GRAVITY = 0.1, 9.81
STEEL = sn.Material(200e9, 0.3, 7850)
AREA = 1e-3 / (7850 * LENGTH)  # one gram
SECTION = sn.Section.circle(np.sqrt(AREA / np.pi))
LOAD, BALL = 1000.0, 0.3
STIFFNESS = 200e9 * AREA
WEIGHT = LOAD * GRAVITY


def hanging(model: str = "spline", integrator: str = "euler"):
    scene = sn.Scene(gravity=(0, 0, -GRAVITY), integrator=integrator)
    wire = scene.add(
        sn.Rod.straight((0, 0, 0), (0, 0, -LENGTH), section=SECTION, material=STEEL, control_points=12, model=model)
    )
    ball = scene.add(sn.RigidBody.sphere(radius=BALL, mass=LOAD, position=(0, 0, -LENGTH - BALL)))
    top = scene.add(sn.Clamp(wire.at(0.0)))
    joint = scene.add(sn.Fuse(wire.at(wire.length), ball.at((0, 0, BALL))))
    return scene, wire, ball, top, joint


def check(wire, ball, top, joint, tolerance: float) -> float:
    """The error of the stretched length."""
    own = 1e-3 * GRAVITY
    assert np.abs(joint.force - [0, 0, -WEIGHT]).max() < tolerance * WEIGHT
    assert np.abs(top.force - [0, 0, WEIGHT + own]).max() < tolerance * WEIGHT
    assert np.abs(wire.tensions(11) / WEIGHT - 1).max() < tolerance + 1e-6
    stretched = LENGTH * (1 + (WEIGHT + own / 2) / STIFFNESS)
    assert np.abs(wire.centerline(2)[-1] - [0, 0, -stretched]).max() < tolerance * LENGTH
    assert np.abs(ball.pose.position - [0, 0, -stretched - BALL]).max() < tolerance * LENGTH
    return float(np.abs(wire.centerline(2)[-1] - [0, 0, -stretched]).max() / LENGTH)


@pytest.mark.parametrize("model", MODELS)
def test_at_rest(model, validated):
    scene, *parts = hanging(model)
    report = scene.settle()
    assert report.converged
    assert report.stable is True
    validated(
        "1,000 kg on one gram of steel wire",
        area="rods in scenes",
        quantity="stretched length",
        reference="Hooke's law",
        error=check(*parts, 1e-6),
        bound=1e-6,
    )


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
@pytest.mark.parametrize("model", MODELS)
def test_dropped_into_the_wire(model, integrator):
    scene, *parts = hanging(model, integrator)
    start = scene.energy.total
    for _ in range(300):
        scene.step(1e-2)
        assert scene.energy.total < start + 1e-3 * WEIGHT * LENGTH
    # BDF2 damps sqrt(k/m) dt = 0.5 by 1 % a step or more
    check(*parts, 1e-6 if integrator == "euler" else 5e-2)


def test_swinging():
    # a pendulum on a wire: it stays on its sphere, and its energy does not grow
    scene, wire, ball, *_ = hanging()
    scene.settle()
    ball.velocity = (0.2, 0.1, 0.0)
    start = scene.energy.total
    for _ in range(500):
        scene.step(1e-2)
        assert np.isfinite(scene.energy.total)
        assert scene.energy.total < start + 1e-2 * 0.5 * LOAD * 0.05
        assert abs(np.linalg.norm(wire.centerline(2)[-1]) / LENGTH - 1.04) < 0.02
