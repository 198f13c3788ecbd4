"""What contact costs: nothing where nothing may touch; room that grows with a word; far piles as alone."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np

import sennit as sn

HEMP = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.02)
H = 1 / 240

LAZY = """
import sennit as sn
from sennit import compilation
asked, kept_code = set(), compilation.kept_code
def noted(part, name):
    asked.add(part)
    return kept_code(part, name)
compilation.kept_code = noted
scene = sn.Scene()
floor = scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, 1.0)))
scene.add(sn.Fix(ball.at()))
scene.run(0.1, 1 / 240)
print(sorted(asked))
scene.collide()
scene.run(0.1, 1 / 240)
print(sorted(asked))
"""


def test_kernels_of_contact_wait_for_collide() -> None:
    """A process that steps an obstacle and a body looks for machine code of contact once something may touch."""
    told = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=True).stdout.split("\n")
    assert "scene" in told[0] and "touching" not in told[0]
    assert "touching" in told[1]


def long_rope(points: int) -> sn.Scene:
    scene = sn.Scene()
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="table"))
    ends = np.array(((0, 0, 8e-3), (0.025 * (points - 3), 0, 8e-3)))
    scene.add(sn.Rod.straight(*ends, section=sn.Section.circle(8e-3), material=HEMP, control_points=points))
    scene.collide()
    return scene


def test_tables_that_grow_are_told_of() -> None:
    """Once, and what comes of it is what comes of a scene that has the room from the beginning."""
    scene, few = long_rope(160), long_rope(40)
    scene.run(0.1, H)
    few.run(0.1, H)
    grown = [event for event in scene.events if event.kind == "grown"]
    assert len(grown) == 1
    assert grown[0].message.startswith("the table of contacts had room for 64 and has grown: now for ")
    assert not [event for event in few.events if event.kind == "grown"]
    again = long_rope(160)
    again.run(0.1, H)
    again.restore(again.snapshot())
    np.testing.assert_array_equal(again.bodies[0].control_points, scene.bodies[0].control_points)


def pile(scene: sn.Scene, x: float) -> list[Any]:
    """A rope that falls over two boxes, which slide."""
    made = []
    for k in range(2):
        box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(x + 0.01 * k, 0, 0.05 + 0.1 * k)))
        box.velocity = (0.3, 0.2 * k, 0.0)
        made.append(box)
    ends = np.array(((x - 0.2, 0.01, 0.23), (x + 0.2, 0.02, 0.23)))
    made.append(scene.add(sn.Rod.straight(*ends, section=sn.Section.circle(8e-3), material=HEMP, control_points=16)))
    return made


def places(things: list[Any], x: float) -> Any:
    return np.concatenate([
        thing.control_points - (x, 0, 0) if isinstance(thing, sn.Rod) else thing.position[None] - (x, 0, 0)
        for thing in things
    ])  # fmt: skip


def test_far_piles_are_as_alone() -> None:
    """Up to the millionth of the largest force to which all are found: the sum of both is solved as one."""
    alone, both = sn.Scene(), sn.Scene()
    for scene in (alone, both):
        scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    one = pile(alone, 0.0)
    two = [pile(both, x) for x in (0.0, 8.0)]
    for scene in (alone, both):
        scene.collide(friction=0.4)
    for _ in range(10):
        alone.run(0.05, H)
        both.run(0.05, H)
    for x, things in zip((0.0, 8.0), two, strict=True):
        np.testing.assert_allclose(places(things, x), places(one, 0.0), rtol=0, atol=1e-5)
