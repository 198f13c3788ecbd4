"""What flies at 1 to 30 m/s at what is thin passes through nothing, by many of its sizes a step."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
import records
from references.scene_families import spread

import sennit as sn

STEPS = (1 / 60, 1 / 240, 1 / 1000)
RUBBER = sn.Material(youngs_modulus=1e7, poisson_ratio=0.45, density=1100, relaxation_time=1e-3)
THICK = 0.01
"""m: of the board; the rope that is flown at has half of it as its radius."""


def _thrown(kind: str, target: str, scene: Any, random: Random, speed: float) -> Any:
    """Something in the air, which flies down: where its middle is."""
    aslant = random.uniform(-0.2, 0.2) * speed if kind == "rope" or target != "rope" else 0.0
    if kind == "rope":
        radius = spread(random, 3e-3, 1e-2)
        rope = scene.add(sn.Rod.straight(
            (0.02, -0.3, 0.3), (-0.02, 0.3, 0.3), section=sn.Section.circle(radius), material=RUBBER,
            control_points=random.choice((12, 20)), model=random.choice(("spline", "discrete")),
        ))  # fmt: skip
        rope.set_velocity((0, aslant, -speed))
        return lambda: rope.centerline(61)
    mass, size = spread(random, 1e-2, 10.0), spread(random, 0.02, 0.1)
    if kind == "ball":
        body = scene.add(sn.RigidBody.sphere(0.5 * size, mass=mass, position=(0, 0, 0.3)))
    else:
        body = scene.add(sn.RigidBody.box((size, 0.7 * size, 0.3 * size), mass=mass, position=(0, 0, 0.3)))
        body.angular_velocity = [random.uniform(-20, 20) for _ in range(3)]
    body.velocity = (0, aslant, -speed)
    return lambda: body.position[None]


def _flown_at(kind: str, scene: Any) -> Any:
    """What is in the way; its height below places (k, 3)."""
    if kind == "floor":
        scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
        return lambda places: np.zeros(len(places))
    if kind == "board":
        scene.add(sn.Obstacle(sn.Box((4, 4, THICK))))
        return lambda places: np.zeros(len(places))
    cord = scene.add(sn.Rod.straight(
        (-0.5, 0, 0), (0.5, 0, 0), section=sn.Section.circle(0.5 * THICK), material=RUBBER, control_points=40
    ))  # fmt: skip
    scene.add(sn.Clamp(cord.at(0.0)))
    scene.add(sn.Clamp(cord.at(cord.length)))

    def below(places: Any) -> Any:
        """Heights of the cord where it is nearest, of places beside it none: there is nothing to pass."""
        line = cord.centerline(201)
        away = np.linalg.norm(places[:, None, :2] - line[None, :, :2], axis=-1)
        return np.where(away.min(axis=1) < 0.2 * THICK, line[away.argmin(axis=1), 2], -np.inf)

    return below


@pytest.mark.parametrize("target", ["floor", "board", "rope"])
@pytest.mark.parametrize("kind", ["ball", "box", "rope"])
def test_nothing_passes_through(tried, kind: str, target: str) -> None:
    """Longer than free flight takes to what is in the way and beyond, its middle stays on its side."""
    for seed in range(4 * records.thorough()):
        tried.count("fast things thrown at a floor, a thin board and a rope")
        random = Random(f"{kind} {target} {seed}")
        speed, dt = spread(random, 1.0, 30.0), random.choice(STEPS)
        scene = sn.Scene(gravity=(0, 0, 0))
        below = _flown_at(target, scene)
        places = _thrown(kind, target, scene, random, speed)
        scene.collide(friction=random.choice((0.0, 0.3)), restitution=random.choice((0.0, 0.5)))
        # what tumbles on a rope may roll off it later
        far = 0.35 if target == "rope" and kind != "rope" else 0.6
        while scene.time < far / speed + 2 * dt:
            scene.step(dt)
            now = places()
            lowest = float(np.min(now[:, 2] - below(now)))
            where = f"seed {seed}, {speed:.3g} m/s, dt {dt:.3g}, {scene.time:.3g} s"
            assert lowest > 0.0, f"{where}: {-lowest:.3g} m beyond"
        assert now[:, 2].mean() > 0.3 - speed * scene.time + 1e-6, f"seed {seed} has missed"
