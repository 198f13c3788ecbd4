"""Where a firm hand and a contact contradict each other the hand gives way, is named, and nothing passes through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from references.linking import linking_number

import sennit as sn

RUBBER = sn.Material(youngs_modulus=1e7, poisson_ratio=0.45, density=1100, relaxation_time=1e-3)
STEEL = sn.Material(youngs_modulus=2e11, poisson_ratio=0.3, density=7800, relaxation_time=1e-4)


def _gave_way(scene: Any) -> set[str]:
    """Names of hands that events say have given way."""
    return {subject.name for event in scene.events if event.kind == "yielded" for subject in event.subjects}


def _ringed(centre: Any, other: Any, name: str) -> Any:
    """A closed rod in the plane of x and another direction."""
    angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)[:, None]
    places = np.array(centre) + 0.08 * (np.cos(angles) * np.array((1.0, 0, 0)) + np.sin(angles) * np.array(other))
    return sn.Rod.through(
        places, section=sn.Section.circle(5e-3), material=STEEL, control_points=24, closed=True, name=name
    )


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("what", ["rope", "box"])
def test_a_hand_cannot_push_things_into_the_floor(what: str, dt: float) -> None:
    """The target goes 0.3 m below the floor and comes back: what it holds lies on the floor, and is led on again."""
    scene = sn.Scene()
    floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    if what == "rope":
        half = 5e-3
        rope = scene.add(sn.Rod.straight(
            (-0.2, 0, 0.05), (0.2, 0, 0.05), section=sn.Section.circle(half), material=RUBBER, control_points=16
        ))  # fmt: skip
        held = rope.at(6 / 13 * rope.length)  # at a knot
        hand = scene.add(sn.Fix(held, name="hand"))
    else:
        half = 0.03
        box = scene.add(sn.RigidBody.box((0.1, 0.1, 2 * half), mass=0.5, position=(0, 0, 0.05)))
        held = box.at()
        hand = scene.add(sn.Fix(held, name="hand"))
    scene.collide(friction=0.3)
    heights, forces = [], []
    start = held.position.copy()
    for k in range(round(1.2 / dt)):
        t = k * dt
        hand.target = start - (0, 0, 0.35 * np.clip(min(t, 1.0 - t) / 0.3, 0.0, 1.0))
        scene.step(dt)
        heights.append(held.position[2])
        forces.append(scene.contacts.between(scene.bodies[0], floor).force[2])
    assert min(heights) > 0.85 * half
    assert "hand" in _gave_way(scene)
    assert np.linalg.norm(held.position - start) < 1e-4  # it is led on again
    assert np.all(np.isfinite(forces))


def test_hands_cannot_pull_a_ring_out_of_another() -> None:
    """Two firm hands drag two closed rods apart that hardly stretch, to ten times what would part them."""
    scene = sn.Scene(gravity=(0, 0, 0), drag=0.5)
    rings = [scene.add(_ringed((0, 0, 0), (0, 1, 0), "one")), scene.add(_ringed((0.088, 0, 0), (0, 0, 1), "other"))]
    hands = [
        scene.add(sn.Fix(rings[0].at(0.5 * rings[0].length), name="left")),
        scene.add(sn.Fix(rings[1].at(0.0), name="right")),
    ]
    scene.collide(friction=0.3)
    starts, linked = [hand.target.copy() for hand in hands], linking_number(*rings)
    for k in range(12):
        for hand, start, side in zip(hands, starts, (-1.0, 1.0), strict=True):
            hand.target = start + np.array((side * 5.0 * k / 60, 0.0, 0.0))
        scene.step(1 / 60)
    assert linking_number(*rings, count=600) == pytest.approx(linked, abs=1e-6)
    named = _gave_way(scene)
    assert named and named <= {"left", "right"}
