"""Families of random continuum robots, played by `references.played_scenes`: tendon arms, and tubes one in another."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from random import Random

import numpy as np

import sennit as sn
from references.scene_families import MATERIALS, Played, spread, vector

__all__ = ["ROBOTS"]


def tendon_arms(random: Random) -> Played:
    """An arm with tendons through eyelets beside its axis, drawn, pulled and let go, with a load at its tip."""
    scene = sn.Scene(drag=random.choice((0.0, 1.0)))
    length, radius, n = spread(random, 0.05, 0.5), spread(random, 1e-3, 1e-2), random.randint(2, 12)
    material, points = random.choice(MATERIALS), random.choice((8, 12, 20))
    model = "discrete" if random.random() < 0.2 else "spline"
    rod = scene.add(
        sn.Rod.straight((0, 0, 0), (0, 0, -length), section=sn.Section.circle(radius), material=material,
                        control_points=points, model=model)
    )  # fmt: skip
    scene.add(sn.Clamp(rod.at(0)))
    friction = random.choice((0.0, 0.1, 0.5))
    tendons = []
    for k in range(random.randint(1, 4)):
        angle, beside = 2 * math.pi * k / 3 + random.random(), radius * spread(random, 1, 5)
        offset = beside * math.cos(angle), beside * math.sin(angle)
        eyelets = [rod.at(length * j / n, offset=offset) for j in range(1, n + 1)]
        way = [sn.World.at(rod.at(0, offset=offset).position), *eyelets]
        stiff = spread(random, 1e3, 1e6)
        tendons.append(
            scene.add(sn.Cable(way, stretch_stiffness=stiff, torsion=False, eyelet_friction=friction if n > 1 else 0.0))
        )
    if random.random() < 0.5:
        ball = scene.add(sn.RigidBody.sphere(radius, mass=spread(random, 1e-3, 1), position=(0, 0, -length - radius)))
        scene.add(sn.Ball(ball.at((0, 0, radius)), rod.at(length)))
    if random.random() < 0.3:
        scene.add(sn.Load(rod.at(length, offset=(3 * radius, 0)), force=vector(random, 0.5)))
    bends = material.youngs_modulus * math.pi * radius**4 / 4 / length**2  # N
    due = sorted(random.uniform(0.0, 1.5) for _ in range(random.randint(2, 8)))

    def drive(time: float) -> None:
        while due and time >= due[0]:
            due.pop(0)
            tendon, what = random.choice(tendons), random.random()
            if what < 0.4:
                tendon.pull = random.choice((0.0, bends * spread(random, 0.1, 10)))
            elif what < 0.6:
                tendon.pull = None
            elif what < 0.8:
                with contextlib.suppress(sn.InputError):  # as short as it gets
                    tendon.length = length * random.uniform(0.85, 1.1)
            elif what < 0.9:
                tendon.drive(random.choice((-1, 1)) * spread(random, 0.01, 1), max_pull=bends * spread(random, 1, 10))
            else:
                tendon.release()

    # what a pull stores in a stiff arm is fast when it is let go
    return Played(scene, drive, 10)


def nests(random: Random) -> Played:
    """Curved tubes one in another, pushed, turned, jerked, and dragged by the tip."""
    scene = sn.Scene(drag=random.choice((0.0, 1.0)))
    count, points = random.randint(2, 3), random.choice((12, 20, 32))
    material = random.choice(MATERIALS)
    outer, length, start = 1.5e-3, spread(random, 0.05, 0.2), 0.0
    tubes = []
    for _ in range(count):
        section = sn.Section.tube(outer, 0.8 * outer)
        curvature = random.choice((0.0, 1.0)) * random.uniform(-1.5, 1.5) / length
        tubes.append(
            sn.Rod.straight((0, 0, start), (0, 0, start + length), section=section, material=material,
                            control_points=points, rest_curvature=(0, curvature))
        )  # fmt: skip
        behind = random.choice((0.0, 0.1 * length))
        start, length, outer = start - behind, length * random.uniform(1.1, 1.6) + behind, 0.7 * outer
    nest = scene.add(sn.Nest(tubes, friction=random.choice((0.0, 0.2))))
    hand = scene.add(sn.Fix(tubes[-1].at(tubes[-1].length)))
    hand.enabled = False
    home = np.array(hand.target)
    due = sorted(random.uniform(0.0, 1.5) for _ in range(random.randint(2, 10)))

    def drive(time: float) -> None:
        while due and time >= due[0]:
            due.pop(0)
            k, what = random.randrange(count), random.random()
            if what < 0.4:
                nest.turn(k, random.uniform(-3, 3))
            elif what < 0.8:
                with contextlib.suppress(sn.InputError):  # out of order
                    nest.advance(k, random.uniform(-0.03, 0.03))
            elif hand.enabled:
                hand.enabled = False
            else:
                hand.target, hand.enabled = home + np.array(vector(random, 0.02)), True

    return Played(scene, drive, 10)


ROBOTS: dict[str, Callable[[Random], Played]] = {family.__name__: family for family in (tendon_arms, nests)}
