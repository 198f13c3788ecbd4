"""Two closed rods through each other, and random hands that pull at them: linked as long as nothing passes through."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import sennit as sn
from references.linking import linking_number
from references.scene_families import MATERIALS, spread

__all__ = ["LinkedRings"]

SIZE = 0.08
"""Radius of the rings, m."""


@dataclass
class Hand:
    """A hand that flies on with one velocity, and takes another one now and then."""

    hold: Any
    velocity: Any
    place: Any
    steady: bool
    """Whether it keeps its velocity: what it holds is drawn out without end."""


class LinkedRings:
    """One draw of two rings and what pulls at them. All numbers come from one `Random`."""

    def __init__(self, seed: int) -> None:
        random = self.random = Random(f"linked rings {seed}")
        self.scene = sn.Scene(gravity=(0, 0, 0), drag=random.choice((0.0, 0.5)))
        self.scene.integrator = random.choice(("euler", "euler", "bdf2"))
        self.dt = random.choice((1 / 60, 1 / 120, 1 / 240, 1 / 1000))
        radius, angles = spread(random, 3e-3, 1e-2), np.linspace(0, 2 * math.pi, 32, endpoint=False)
        self.radius = radius
        self.rings = []
        material = random.choice(MATERIALS[::2])
        for k, other in enumerate(((0, 1, 0), (0, 0, 1))):
            places = SIZE * (
                np.cos(angles)[:, None] * np.array((1.0, 0, 0)) + np.sin(angles)[:, None] * np.array(other)
            )
            self.rings.append(self.scene.add(sn.Rod.through(
                places + np.array((1.1 * SIZE * k, 0, 0)), section=sn.Section.circle(radius), material=material,
                control_points=random.choice((12, 16, 24)), closed=True, name=f"ring {k + 1}",
            )))  # fmt: skip
        self.hands = []
        steady = random.random() < 0.5
        for ring, side in zip(self.rings, (-1.0, 1.0), strict=True):
            at = random.uniform(0.0, ring.length)
            compliance = 0.0 if random.random() < 0.5 else spread(random, 1e-5, 1e-2)
            hold = self.scene.add(sn.Fix(ring.at(at), compliance=compliance))
            self.hands.append(Hand(hold, None, hold.target.copy(), steady))
            self.turn(self.hands[-1], side)
        self.scene.collide(friction=random.choice((0.0, 0.3, 1.0)))
        self.linked = self.linking_number

    def turn(self, hand: Hand, side: float | None = None) -> None:
        """Give a hand another velocity: of 1 to 30 m/s, apart from the other ring if `side` says where that is."""
        way = np.array([self.random.gauss(0, 1) for _ in range(3)])
        if side is not None:
            way = 0.5 * way + np.array((2.0 * side, 0, 0))
        hand.velocity = spread(self.random, 1.0, 30.0) * way / np.linalg.norm(way)

    def step(self) -> None:
        """A step, after the hands were moved."""
        for hand in self.hands:
            if not hand.steady and self.random.random() < 20 * self.dt:
                self.turn(hand)
            hand.place = hand.place + self.dt * hand.velocity
            if not hand.steady and np.linalg.norm(hand.place) > 0.5:
                hand.velocity = -np.linalg.norm(hand.velocity) * hand.place / np.linalg.norm(hand.place)
            hand.hold.target = hand.place
        self.scene.step(self.dt)

    @property
    def linking_number(self) -> float:
        """How often one ring goes through the other.

        Where it seems to have changed it is asked for again of finer polygons: coarse ones cut corners that touch.
        """
        linked = linking_number(*self.rings)
        if hasattr(self, "linked") and abs(linked - self.linked) > 0.5:
            return linking_number(*self.rings, count=600)
        return linked


def main(first: int, last: int, steps: int) -> None:
    """Make so many steps of the scenes from one seed to another, and print what became of each."""
    for seed in range(first, last):
        rings, parts, still, worst = LinkedRings(seed), 0, 0, 0.0
        for step in range(steps):
            rings.step()
            parts, still = parts + rings.scene.report.parts, still + (rings.scene.report.held > 0.0)
            if step % 4 == 3 or step == steps - 1:
                worst = max(worst, abs(rings.linking_number - rings.linked))
        told = f"{parts} parts, {still} steps in which it stood still, linking number off by {worst:.1e} at most"
        print(f"seed {seed}, dt {rings.dt:.3g}, {rings.scene.integrator}, {steps} steps: {told}", flush=True)


if __name__ == "__main__":
    import sys

    main(*map(int, sys.argv[1:]))
