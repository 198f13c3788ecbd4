"""What ties two bodies in a free scene keeps their momentum."""

from __future__ import annotations

import numpy as np
import pytest
from unit.scene import kit
from unit.scene.kit import CONSTRAINTS, STILL

import sennit as sn

DT = 5e-3
STRAIGHT = ("spline", "discrete", "rigid", "patch")  # whose momentum can be had from their points exactly
APART = ("distance", "distance, at most", "plane of", "axis of")  # the others join points that coincide
PAIRS = [
    (name, first, second) for name, rows in CONSTRAINTS.items() if rows.two for first in STRAIGHT for second in STRAIGHT
]


@pytest.mark.parametrize(("name", "first", "second"), PAIRS)
def test_linear_momentum(name: str, first: str, second: str, validated) -> None:
    scene, p, q = kit.pair(first, second, gap=name in APART, stir=0.0)
    scene.add(CONSTRAINTS[name].make(p, q, STILL))
    force = np.array((0.02, -0.03, 0.05))
    push = scene.add(sn.Load(p, force=force))
    for _ in range(4):
        scene.step(DT)
    scene.remove(push)
    for _ in range(4):
        scene.step(DT)
    total, _ = kit.total_momentum(*scene.bodies)
    scale = 0.5 + sum(np.linalg.norm(kit.momentum(body)[0]) for body in scene.bodies)
    validated(
        "Every constraint between every two kinds of bodies, free",
        area="constraints",
        quantity="momentum",
        reference="the impulse applied",
        error=np.abs(total - 4 * DT * force).max() / scale,
        bound=1e-10,
    )


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("ball", "rigid", "rigid"),
        ("lock", "rigid", "rigid"),
        ("hinge", "rigid", "rigid"),
        ("prismatic", "rigid", "rigid"),
        ("screw", "rigid", "rigid"),
        ("distance", "rigid", "rigid"),
        ("plane of", "rigid", "rigid"),
        ("ball", "spline", "rigid"),
        ("lock", "spline", "rigid"),
        ("distance", "spline", "rigid"),
        ("axis of", "spline", "rigid"),
        ("ball", "spline", "spline"),
        ("lock", "spline", "spline"),
    ],
)
def test_angular_momentum(name: str, first: str, second: str) -> None:
    """Two bodies made coincident and set going by a body's spin: what backward Euler loses is given back.

    The spin of a rod's sections about their tangents is reckoned otherwise here than in a step.
    """
    drifts = []
    for dt in (4e-3, 2e-3, 1e-3):
        scene, p, q = kit.pair(first, second, gap=name in APART, stir=0.0)
        scene.add(CONSTRAINTS[name].make(p, q, STILL))
        body = scene.bodies[-1]
        if isinstance(body, sn.RigidBody):
            body.angular_velocity = (1.0, 2.0, -1.5)
        else:
            push = scene.add(sn.Load(p, force=(0, 0, 0.3)))
            scene.run(0.02, dt=dt)
            scene.remove(push)
        scene.run(0.004, dt=dt)  # an impulse makes the velocities agree
        before = kit.total_momentum(*scene.bodies)[1]
        scene.run(0.08, dt=dt)
        after = kit.total_momentum(*scene.bodies)[1]
        drifts.append(np.linalg.norm(after - before) / np.linalg.norm(before))
    assert max(drifts) < (1e-9 if first == second == "rigid" else 1e-6)


def test_an_impulse_through_a_joint() -> None:
    """A spinning body tied off its centre to one at rest: both momenta are kept in the first step already."""
    scene, p, q = kit.pair("rigid", "rigid", gap=False, stir=0.0)
    scene.add(sn.Ball(p, q))
    a, b = scene.bodies
    a.velocity, a.angular_velocity = (1, 0, 0), (0, 3, 1)
    linear, angular = kit.total_momentum(a, b)
    scene.step(1e-3)
    after = kit.total_momentum(a, b)
    assert after[0] == pytest.approx(linear, abs=1e-12)
    assert after[1] == pytest.approx(angular, abs=5e-3)
    assert np.abs(p.velocity - q.velocity).max() < 0.05


def test_tied_to_the_world_the_world_takes_it() -> None:
    scene, p, _ = kit.pair("rigid", "world", stir=0.0)
    body = scene.bodies[0]
    body.velocity = (1, 0, 0)
    grip = scene.add(sn.Fix(p))
    impulse = np.zeros(3)
    before = kit.momentum(body)[0]
    for _ in range(10):
        scene.step(DT)
        impulse += DT * grip.force
    assert kit.momentum(body)[0] - before == pytest.approx(impulse, abs=1e-10)
