"""Betti's theorem through contact: what presses and sticks is one linear body for small loads more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from references.rotation import exp
from verification.contact.test_pads_touch import OVER, SIDE, TOP, pad

import sennit as sn

STICKS = 5.0
"""Friction with which nothing slips under what the loads here add."""
PULL, PUSH = np.array((0.3, -0.5, 0.8)), np.array((-0.6, 0.2, 0.7))
FORCE = 1e-3


def near(zone: sn.Zone, place: tuple[float, float, float]) -> int:
    return int(np.argmin(np.linalg.norm(zone.vertices - np.array(place), axis=1)))


def two_pads() -> tuple[Any, ...]:
    """Pads of unlike meshes, pressed on each other askew; loads on the side of each."""
    scene, start = sn.Scene(gravity=(0, 0, 0)), np.array((0.002, 0.001, 2 * TOP + 1e-5))
    hand = sn.World.at(sn.Pose.from_rotation(start, OVER @ exp(np.array((0, 0, 0.3)))))
    low, high = pad(scene, "low", cells=4), pad(scene, "high", on=hand, cells=5)
    pairs = [scene.collide(high, low, friction=STICKS)]
    loads = [scene.add(sn.Load(z.at(near(z, (SIDE / 2, 0.0, 2 * TOP / 3))), force=(0, 0, 0))) for z in (low, high)]
    for i in range(20):
        hand.position = start - (0, 0, 1.5e-3 * (i + 1) / 20)
        scene.step(0.01)
    return scene, loads, pairs


def ball_between() -> tuple[Any, ...]:
    """A ball that two pads hold between them; loads beside its middle and at the rim of a pad."""
    scene, gap = sn.Scene(gravity=(0, 0, 0)), 2 * TOP + 0.02
    hand = sn.World.at(sn.Pose.from_rotation((0, 0, gap), OVER))
    low, high = pad(scene, "low", cells=6), pad(scene, "high", on=hand, cells=6)
    ball = scene.add(sn.RigidBody.sphere(radius=0.01, mass=0.01, position=(0.001, 0.0005, TOP + 0.01)))
    pairs = [scene.collide(ball, zone, friction=STICKS) for zone in (low, high)]
    places = ball.at((0.004, 0.003, 0.005)), low.at(near(low, (SIDE / 2, 0.0, TOP)))
    loads = [scene.add(sn.Load(place, force=(0, 0, 0))) for place in places]
    for i in range(30):
        hand.position = (0, 0, gap - 4e-3 * (i + 1) / 30)
        scene.step(0.01)
    return scene, loads, pairs


@pytest.mark.parametrize("made", [two_pads, ball_between])
def test_two_loads_do_the_same_mutual_work(made: Any, validated: Any) -> None:
    scene, loads, pairs = made()
    assert scene.settle(tolerance=1e-10).converged
    counts, begun = [pair.count for pair in pairs], scene.snapshot()
    assert min(counts) >= 4 and all(np.linalg.norm(pair.force) > 0.3 for pair in pairs)

    def moved(at: int, direction: np.ndarray, read: int) -> np.ndarray:
        places = []
        for sign in (1, -1):
            scene.restore(begun)
            loads[at].force = sign * FORCE * direction
            assert scene.settle(tolerance=1e-11).converged
            assert [pair.count for pair in pairs] == counts
            places.append(loads[read].point.position.copy())
            loads[at].force = (0, 0, 0)
        return np.asarray((places[0] - places[1]) / (2 * FORCE))

    there, back = moved(0, PULL, 1) @ PUSH, moved(1, PUSH, 0) @ PULL
    direct = abs(moved(0, PULL, 0) @ PULL)
    assert abs(there) > 5e-3 * direct  # loads on one feel the other through what touches
    error = abs(there - back) / direct
    if made is two_pads:  # faces whose normals go over from corner to corner: forces along these are no exact gradient
        validated(
            "Two loads on pads that touch and stick", area="contact", quantity="mutual compliance, of the direct one",
            reference="Betti's theorem", error=error, bound=1e-3,
        )  # fmt: skip
    else:
        validated(
            "Two loads on a ball that sticks between pads", area="contact", reference="Betti's theorem",
            quantity="mutual compliance, of the direct one", error=error, bound=1e-6,
        )  # fmt: skip
