"""The midpoint scheme keeps energy: a rope pinned at one end swings in a plane from horizontal, 10,000 steps of 2 ms.

An average-vector-field step keeps the energy of a linear or quartic model exactly and this one to the solver's
tolerance and quadrature: 1e-6 of m g L is asked (9e-8 was measured in a prototype). Five of them make a step of fourth
order, whose Newton iterations end earlier.
"""

from __future__ import annotations

import numpy as np
import pytest

import sennit as sn
from sennit.solve.kernels.stages import SUZUKI
from sennit.solve.solver import LEFT


def rope_scene(angle: float = 90.0, **options):
    """A rope pinned at the origin, straight, at `angle` (degrees) from hanging."""
    scene = sn.Scene(gravity=(0, 0, -9.81), integrator="midpoint")
    a = np.radians(angle)
    rope = scene.add(
        sn.Rod.straight(
            (0, 0, 0),
            (np.sin(a), 0, -np.cos(a)),
            section=sn.Section.circle(5e-3),
            material=sn.Material(1e7, 0.49, 1000),
            **({"control_points": 16} | options),
        )
    )
    scene.add(sn.Fix(rope.at(0.0)))
    return scene, rope


def drift(scene, steps: int, dt: float) -> float:
    """Largest change of the total energy, over m g L."""
    unit = 1000 * np.pi * 25e-6 * 9.81
    start = scene.energy.total
    worst = 0.0
    for k in range(steps):
        scene.step(dt)
        if k % 10 == 0 or k == steps - 1:
            worst = max(worst, abs(scene.energy.total - start))
    return worst / unit


def test_a_second(validated):
    scene, rope = rope_scene()
    validated(
        "Rope let go level, 500 midpoint steps of 2 ms",
        area="time schemes",
        quantity="energy, of mgL",
        reference="conservation",
        error=drift(scene, 500, 2e-3),
        bound=1e-6,
    )
    # it did swing, to the other side of the pin
    assert rope.centerline(3)[-1, 0] < 0.0


def test_energy_is_what_it_should_be():
    # released from rest at z = 0: whatever is kinetic or elastic comes from the weight's fall
    scene, rope = rope_scene()
    mass = 1000 * np.pi * 25e-6
    start = scene.energy.total
    for _ in range(100):
        scene.step(2e-3)
    line, speeds = rope.centerline(4001), rope.velocities(4001)
    fallen = -mass * 9.81 * np.trapezoid(line[:, 2], dx=1 / 4000)
    kinetic = mass / 2 * np.trapezoid((speeds**2).sum(axis=1), dx=1 / 4000)
    assert scene.energy.kinetic == pytest.approx(kinetic, rel=1e-4)
    elastic = rope.energy.bend + rope.energy.stretch + rope.energy.twist
    assert kinetic + elastic == pytest.approx(fallen, rel=1e-4)
    assert scene.energy.total == pytest.approx(start, abs=1e-6 * mass * 9.81)


def bound_of_stages(steps: int, dt: float) -> float:
    """Energy, of mgL, that steps of fourth order may lose or gain, since Newton's method ends early in their stages.

    A stage of τ is left with places that are off by δ L, δ = `LEFT` at most. Its inertia is then off by 2 m δ L/τ² and
    elastic forces by about as much, over a way of v τ: 4 m v δ L/|τ| of energy, with v² = gL, since the weight falls by
    L/2. The stages have no sign in common: squares add. Quadrature leaves less than in steps of midpoint, whose bound
    is 1e-6: it falls with the third power of τ or faster.
    """
    shares = np.abs(np.diff(SUZUKI))
    each = 4.0 * np.sqrt(9.81) * LEFT / (shares * dt) / 9.81
    return np.sqrt(steps * (each**2).sum()) + 1e-6 * (shares**3).sum()


def test_fourth_order(validated):
    """The same rope in steps of fourth order (6e-9 seen)."""
    scene, _ = rope_scene()
    scene.integrator = "fourth"
    validated(
        "Rope let go level, 500 fourth-order steps of 2 ms",
        area="time schemes",
        quantity="energy, of mgL",
        reference="conservation",
        error=drift(scene, 500, 2e-3),
        bound=8e-6,
    )
    assert 7e-6 < bound_of_stages(500, 2e-3) < 8e-6
    assert scene.events == ()  # none of them was made by "bdf2"


@pytest.mark.slow
def test_twenty_seconds(validated):
    # Let go from 60 degrees it swings (5.6e-13 seen).
    scene, _ = rope_scene(60.0)
    validated(
        "Rope let go at 60°, 20 s in midpoint steps of 2 ms",
        area="time schemes",
        quantity="energy, of mgL",
        reference="conservation",
        error=drift(scene, 10_000, 2e-3),
        bound=1e-9,
    )
    assert scene.events == ()


@pytest.mark.slow
def test_the_crack_of_a_whip(validated):
    """Let go level, its end cracks like a whip. Steps for which Newton finds no solution are halved: made by damped
    methods they lost 0.14 of m g L in 20 s.
    """
    scene, _ = rope_scene(control_points=24)
    validated(
        "Rope of 24 control points let go level, 20 s in midpoint steps of 2 ms",
        area="time schemes",
        quantity="energy, of mgL",
        reference="conservation",
        error=drift(scene, 10_000, 2e-3),
        bound=1e-4,
    )
    assert {event.kind for event in scene.events} <= {"divided"}


def test_discrete_model(validated):
    scene, _ = rope_scene(model="discrete")
    validated(
        "Discrete rope let go level, 500 midpoint steps of 2 ms",
        area="time schemes",
        quantity="energy, of mgL",
        reference="conservation",
        error=drift(scene, 500, 2e-3),
        bound=1e-5,
    )
