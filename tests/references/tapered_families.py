"""Families of random scenes of rods that vary along their length and are not elastic, played by
`references.played_scenes`.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np

import sennit as sn
from references.scene_families import MATERIALS, Played, bent, spread, vector

__all__ = ["bent_tapers", "tapers_touch"]


def _laws(random: Random, E: float) -> tuple[dict[str, Any], ...]:
    return (
        {"yield_stress": E * spread(random, 1e-4, 1e-2), "hardening": random.choice((0.0, 0.05)) * E},
        {"prony": [(0.6, spread(random, 1e-3, 1e2)), (0.3, spread(random, 1e-3, 1e2))][: random.randint(1, 2)]},
        {"superelastic": (8e-3 * E, random.choice((0.0, 3e-3, 7e-3)) * E, spread(random, 1e-3, 0.1))},
    )


def _made(random: Random, thick: float, length: float, E: float) -> dict[str, Any]:
    """What a rod of a length and a thickness (m) is made of."""
    thin, density = thick * random.uniform(0.15, 1.0), 10 ** random.uniform(2.5, 4)
    laws = _laws(random, E)
    time = random.choice((0.0, 1e-3))
    one = sn.Material(E, 0.33, density, time, **random.choice(laws))
    kind = random.choice(("taper", "list", "wall", "flat", "pieces", "strands"))
    if kind == "taper":
        return {"section": [sn.Section.circle(thick), sn.Section.circle(thin)], "material": one}
    if kind == "list":
        law = random.choice(laws)
        stuff = [sn.Material(E * x, 0.33, density, time, **law) for x in (1.0, random.uniform(1.0, 3.0))]
        return {"section": sn.Section.circle(thick), "material": stuff}
    if kind == "wall":
        wall = [sn.Section.tube(thick, x * thick) for x in (0.0, random.uniform(0.1, 0.9))]
        return {"section": wall, "material": one}
    if kind == "flat":
        sizes = [sn.Section.rectangle(a, b) for a, b in ((thick, 2.0 * thick), (thin, thick))]
        return {"section": sizes, "material": one}
    if kind == "pieces":
        cut = sorted(random.uniform(0.1, 0.9) * length for _ in range(2))
        stuff = [sn.Material(E * spread(random, 0.3, 1.0), 0.33, density, time, **law) for law in ({}, *laws)]
        parts = [(sn.Section.circle(r), random.choice(stuff)) for r in (thick, thin, thick)]
        return {"pieces": [(x, *part) for x, part in zip((cut[0], cut[1] - cut[0], None), parts, strict=True)]}
    stuck = E * thick**4
    numbers = sn.Properties(
        EA=E * thick**2, EI=[stuck / x for x in (random.choice((5.0, 100.0)), 1.5)], GJ=0.3 * stuck,
        mass=density * 3.0 * thick**2, radius=[thick, thin], EI_stuck=[stuck, 0.8 * stuck],
        slip_moment=[stuck * spread(random, 1e-2, 10), stuck * spread(random, 1e-2, 10)], relaxation_time=time,
    )  # fmt: skip
    return {"properties": numbers}


def bent_tapers(random: Random) -> Played:
    """As `bent_wires`, of rods that vary."""
    E = spread(random, 1e7, 2e11)
    scene = sn.Scene(drag=random.choice((0.0, 0.5)))
    return bent(random, scene, lambda: _made(random, spread(random, 5e-4, 5e-3), 0.6, E))


def tapers_touch(random: Random) -> Played:
    """Such rods on a floor, over a peg, on each other and in a tube, some led by hands; solids fall on them."""
    scene = sn.Scene(drag=random.choice((0.0, 0.5)))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))
    peg = random.random() < 0.5
    if peg:
        turned = (math.sqrt(0.5), math.sqrt(0.5), 0, 0)
        scene.add(sn.Obstacle(sn.Cylinder(0.04, 0.6, sn.Pose((0.02, 0, 0.04), turned)), name="peg"))
    hands = []
    for k in range(random.randint(1, 3)):
        thick, high, model = (
            spread(random, 2e-3, 6e-3),
            0.12 + 0.06 * k,
            random.choice(("spline", "spline", "discrete")),
        )
        if random.random() < 0.3:
            made = {"section": [sn.Section.circle(thick), sn.Section.circle(0.3 * thick)],
                    "material": random.choice(MATERIALS)}  # fmt: skip
        else:
            made = _made(random, thick, 0.4, spread(random, 1e7, 2e11))
        rod = scene.add(
            sn.Rod.straight((-0.2, 0.02 * k, high), (0.2, random.uniform(-0.1, 0.1), high), **made,
                            control_points=random.choice((12, 16, 24)), model=model)
        )  # fmt: skip
        rod.set_velocity(vector(random, random.choice((0.1, 1.0))))
        if random.random() < 0.5:
            hands.append(scene.add(sn.Fix(rod.at(random.choice((0.0, 0.5, 1.0)) * rod.length),
                                          compliance=spread(random, 1e-4, 1e-2))))  # fmt: skip
        if random.random() < 0.25:
            line = np.array([(x, rod.at(0.5 * rod.length).position[1], high) for x in (-0.6, 0.6)])
            line[:, 1] = [rod.at(s).position[1] for s in (0.0, rod.length)] + np.array((-1.0, 1.0)) * (
                rod.at(rod.length).position[1] - rod.at(0.0).position[1]
            )
            scene.add(sn.Inside(rod, line, rod.radius * random.uniform(1.1, 3.0)))
    if not peg:
        size = spread(random, 0.04, 0.1)
        scene.add(sn.RigidBody.box((size,) * 3, mass=spread(random, 1e-2, 5.0), position=(0.05, 0.03, 0.5)))
    reach, rate = random.uniform(0.02, 0.15), spread(random, 1, 15)
    starts, gone = [hand.target.copy() for hand in hands], random.uniform(0.2, 1.5)
    scene.collide(friction=random.choice((0.0, 0.1, 0.3, 0.6)))

    def drive(time: float) -> None:
        for hand, start in zip(hands, starts, strict=True):
            hand.enabled = time < gone
            hand.target = start + reach * np.array((math.sin(rate * time), math.sin(0.7 * rate * time), 0.0))

    return Played(scene, drive if hands else None, reach * rate + 3)
