"""Families of random scenes in which things touch, played by `references.played_scenes`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np
import trimesh

import sennit as sn
from references import meshes
from references.scene_families import MATERIALS, Played, rope, spread, vector
from references.tapered_families import tapers_touch

__all__ = ["TOUCHING"]

SQRT_HALF = math.sqrt(0.5)


def _numbers(random: Random) -> dict[str, float]:
    """A law of contact."""
    law = {"friction": random.choice((0.0, 0.1, 0.3, 0.6, 1.0))}
    if random.random() < 0.3:
        law["restitution"] = random.choice((0.3, 0.8, 1.0))
    if random.random() < 0.2:
        law["rolling_friction"] = law["twisting_friction"] = 1e-3
    return law


def _floor(scene: Any) -> Any:
    return scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1)), name="floor"))


def _solid(random: Random, place: Any, size: float, mass: float) -> Any:
    kind = random.choice(("box", "sphere", "capsule", "cylinder"))
    if kind == "box":
        return sn.RigidBody.box((size, size, size * random.choice((0.3, 1.0))), mass=mass, position=place)
    if kind == "sphere":
        return sn.RigidBody.sphere(0.5 * size, mass=mass, position=place)
    if kind == "capsule":
        return sn.RigidBody.capsule(0.25 * size, 0.5 * size, mass=mass, position=place)
    return sn.RigidBody.cylinder(0.5 * size, 0.6 * size, mass=mass, position=place)


def poured(random: Random) -> Played:
    """Ropes and solids of all masses that fall on a floor and on each other."""
    scene = sn.Scene()
    _floor(scene)
    for k in range(random.randint(1, 3)):
        y, radius = 0.08 * k, spread(random, 3e-3, 1e-2)
        start, end = (-0.2, y, 0.1 + 0.06 * k), (0.2, y + random.uniform(-0.1, 0.1), 0.1 + 0.06 * k)
        body = scene.add(
            rope(random, start, end, radius=radius, points=(12, 16), model=random.choice(("spline", "discrete")))
        )
        body.set_velocity(vector(random, random.choice((0.1, 2.0))))
    for k in range(random.randint(1, 3)):
        place = (random.uniform(-0.1, 0.1), 0.05 * k, 0.5 + 0.15 * k)
        solid = scene.add(_solid(random, place, spread(random, 0.04, 0.1), spread(random, 1e-2, 10.0)))
        solid.velocity = vector(random, random.choice((0.1, 3.0)))
        solid.angular_velocity = vector(random, random.choice((0.0, 10.0)))
    scene.collide(**_numbers(random))
    return Played(scene)


def piled_and_caught(random: Random) -> Played:
    """Ropes and solids of odd masses, that hands drag over a pile, let go of and catch again where they are."""
    scene = sn.Scene(drag=random.choice((0.0, 0.1)))
    _floor(scene)
    hands = []
    for k in range(random.randint(1, 3)):
        radius, high = spread(random, 3e-3, 1e-2), 0.05 + 0.06 * k
        cord = rope(random, (-0.2, 0, high), (0.2, random.uniform(-0.1, 0.1), high), radius=radius, points=(12, 16, 24))
        grip = scene.add(cord).at(random.choice((0.0, 0.5, 1.0)) * cord.length)
        hands.append(scene.add(sn.Fix(grip, compliance=spread(random, 1e-4, 1e-2))))
    for k in range(random.randint(1, 4)):
        place = (random.uniform(-0.12, 0.12), random.uniform(-0.1, 0.1), 0.3 + 0.12 * k)
        solid = scene.add(_solid(random, place, spread(random, 0.04, 0.1), spread(random, 1e-4, 10.0)))
        solid.velocity = vector(random, random.choice((0.1, 3.0)))
        if random.random() < 0.3:
            hands.append(scene.add(sn.Fix(solid.at(), compliance=random.choice((0.0, 1e-4)))))
    reach, rate = random.uniform(0.02, 0.15), spread(random, 1, 15)
    starts, phases = [hand.target.copy() for hand in hands], [random.uniform(0.0, 6.0) for _ in hands]
    held_for, free_for = random.uniform(0.1, 0.5), random.uniform(0.05, 0.4)
    scene.collide(**_numbers(random))

    def drive(time: float) -> None:
        for hand, start, phase in zip(hands, starts, phases, strict=True):
            holds = (time + 0.1 * phase) % (held_for + free_for) < held_for
            if holds and not hand.enabled:
                start += hand.points[0].position - hand.target
            hand.enabled = holds
            a = rate * time
            hand.target = start + reach * np.array((math.sin(a), math.sin(0.7 * a + phase) - math.sin(phase), 0.0))

    return Played(scene, drive, reach * rate + 3)


def over_a_peg(random: Random) -> Played:
    """A rope over a peg, one end dragged to and fro, a load at the other."""
    scene, radius = sn.Scene(drag=0.1), spread(random, 3e-3, 8e-3)
    scene.add(sn.Obstacle(sn.Cylinder(0.05, 0.5, sn.Pose((0, 0, 0), (SQRT_HALF, SQRT_HALF, 0, 0))), name="peg"))
    angles = np.linspace(0, math.pi, 13)
    round_peg = 1.02 * (0.05 + radius) * np.stack((-np.cos(angles), 0 * angles, np.sin(angles)), axis=1)
    left, right = round_peg[0] - (0, 0, 0.25), round_peg[-1] - (0, 0, 0.25)
    course = np.concatenate(
        (np.linspace(left, round_peg[0], 6)[:-1], round_peg, np.linspace(round_peg[-1], right, 6)[1:])
    )
    cord = scene.add(sn.Rod.through(
        course, section=sn.Section.circle(radius), material=random.choice((MATERIALS[0], MATERIALS[2])),
        control_points=random.choice((24, 32)), straight=True,
    ))  # fmt: skip
    place = cord.at(0.0).position - np.array((0, 0, 0.04))
    load = scene.add(sn.RigidBody.sphere(0.03, mass=spread(random, 1e-3, 1.0), position=place))
    scene.add(sn.Ball(load.at((0, 0, 0.04)), cord.at(0.0)))
    hand = scene.add(sn.Fix(cord.at(cord.length)))
    reach, rate, start = random.uniform(0.02, 0.2), spread(random, 1, 20), hand.target.copy()
    scene.collide(**_numbers(random))

    def drive(time: float) -> None:
        a = rate * time
        hand.target = start + reach * np.array((math.sin(a), math.sin(0.7 * a), -(1 - math.cos(a))))

    return Played(scene, drive, reach * rate + 3)


def struck(random: Random) -> Played:
    """Solids and ropes in free space that clash: momentum is kept."""
    scene = sn.Scene(gravity=(0, 0, 0))
    for k in range(random.randint(2, 4)):
        solid = scene.add(_solid(random, (0.3 * k, 0, 0), spread(random, 0.05, 0.2), spread(random, 1e-2, 10.0)))
        solid.velocity = (-random.choice((1.0, 5.0)) * k, random.uniform(-0.1, 0.1), 0)
        solid.angular_velocity = vector(random, random.choice((0.0, 10.0)))
    if random.random() < 0.5:
        cord = scene.add(
            rope(random, (-0.3, -0.2, 0), (-0.3, 0.2, 0), radius=spread(random, 3e-3, 1e-2), points=(12, 16))
        )
        cord.set_velocity((random.uniform(0.5, 5.0), 0, 0))
    scene.collide(**_numbers(random))
    return Played(scene, free=True)


def linked_rings(random: Random) -> Played:
    """Two closed rods, one through the other, dragged apart until they are stretched to twice their length."""
    scene, radius, size = sn.Scene(gravity=(0, 0, 0), drag=0.5), spread(random, 4e-3, 1e-2), 0.08
    angles = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    rings = []
    for k, other in enumerate(((0, 1, 0), (0, 0, 1))):
        places = size * (np.cos(angles)[:, None] * np.array((1.0, 0, 0)) + np.sin(angles)[:, None] * np.array(other))
        rings.append(scene.add(sn.Rod.through(
            places + np.array((1.2 * size * k, 0, 0)), section=sn.Section.circle(radius), control_points=12,
            material=random.choice(MATERIALS[::2]), closed=True,
        )))  # fmt: skip
    scene.add(sn.Fix(rings[0].at(0.5 * rings[0].length)))
    firm = random.random() < 0.5
    hand = scene.add(sn.Fix(rings[1].at(0.0), compliance=0.0 if firm else spread(random, 1e-4, 1e-2)))
    speed, start, way = spread(random, 0.3, 5.0), hand.target.copy(), np.add(vector(random, 1.0), (1.5, 0, 0))
    scene.collide(**_numbers(random))

    def drive(time: float) -> None:
        hand.target = start + min(speed * time, 5.0 * size) * way / np.linalg.norm(way)

    return Played(scene, drive, speed + 10.0, linked=(rings[0], rings[1]))


def strung(random: Random) -> Played:
    """Pearls of all masses on ropes that a hand jerks over a floor, a block and each other."""
    scene = sn.Scene(drag=0.1)
    _floor(scene)
    scene.add(_solid(random, (0.05, 0.02, 0.06), spread(random, 0.04, 0.1), spread(random, 1e-2, 10.0)))
    hands = []
    for k in range(random.randint(1, 2)):
        y, radius = 0.12 * k - 0.02, spread(random, 2e-3, 6e-3)
        cord = scene.add(
            rope(random, (-0.25, y, 0.2 + 0.05 * k), (0.25, y, 0.2 + 0.05 * k), radius=radius, points=(12, 16))
        )
        for at in (0.3, 0.6):
            scene.add(sn.Pearl(
                cord, at=at * cord.length, mass=spread(random, 1e-3, 0.3), radius=radius * random.uniform(1.5, 5.0),
                friction=random.choice((0.0, 0.3)), restitution=random.choice((0.0, 1.0)),
            ))  # fmt: skip
        hands.append(scene.add(sn.Fix(cord.at(0.0))))
    reach, rate = random.uniform(0.02, 0.15), spread(random, 1, 20)
    starts = [hand.target.copy() for hand in hands]
    scene.collide(**_numbers(random))

    def drive(time: float) -> None:
        a = rate * time
        for hand, start in zip(hands, starts, strict=True):
            hand.target = start + reach * np.array((math.sin(a), math.sin(0.7 * a), 1 - math.cos(a)))

    return Played(scene, drive, reach * rate + 3)


def on_pads(random: Random) -> Played:
    """Solids of all masses that fall on a pad, which rides on a body on a spring, or on a hand that shakes it."""
    scene = sn.Scene()
    stuff = sn.Material(spread(random, 1e4, 1e6), 0.45, 1000, relaxation_time=random.choice((0.0, 2e-3, 0.05)))
    corner, shaken = np.array((-0.06, -0.06, 0.0)), random.random() < 0.5
    zone = _gel().with_material(stuff, "pad")
    hand = sn.World.at(corner)
    if shaken:
        scene.add(zone, on=hand)
    else:
        bone = scene.add(sn.RigidBody.box((0.12, 0.12, 0.03), mass=spread(random, 0.05, 5.0), position=(0, 0, -0.015)))
        scene.add(sn.Fix(bone.at(), compliance=spread(random, 1e-4, 1e-2), damping=1.0))
        scene.add(zone, on=bone.at((*corner[:2], 0.015)))
    for k in range(random.randint(1, 3)):
        place = (random.uniform(-0.04, 0.04), random.uniform(-0.04, 0.04), 0.1 + 0.12 * k)
        solid = scene.add(_solid(random, place, spread(random, 0.03, 0.09), spread(random, 1e-3, 1.0)))
        solid.velocity = vector(random, random.choice((0.1, 2.0)))
        solid.angular_velocity = vector(random, random.choice((0.0, 10.0)))
    scene.collide(**_numbers(random))
    if not shaken:
        return Played(scene)
    reach, rate = random.uniform(2e-3, 0.03), spread(random, 1, 30)

    def drive(time: float) -> None:
        a = rate * time
        hand.position = corner + reach * np.array((math.sin(a), math.sin(0.7 * a), 1 - math.cos(a)))

    return Played(scene, drive, reach * rate + 3)


def thrown_on_pads(random: Random) -> Played:
    """Ropes and balls that are thrown on a pad, on which a hand that jerks presses another one, or does not."""
    scene = sn.Scene()
    stuff = sn.Material(spread(random, 1e4, 1e6), 0.45, 1000, relaxation_time=random.choice((0.0, 2e-3, 0.05)))
    corner, squeezed = np.array((-0.06, -0.06, 0.0)), random.random() < 0.5
    if random.random() < 0.5:
        scene.add(_gel().with_material(stuff, "pad"), on=sn.World.at(corner))
    else:
        bone = scene.add(sn.RigidBody.box((0.12, 0.12, 0.03), mass=spread(random, 0.05, 5.0), position=(0, 0, -0.015)))
        scene.add(sn.Fix(bone.at(), compliance=spread(random, 1e-4, 1e-2), damping=1.0))
        scene.add(_gel().with_material(stuff, "pad"), on=bone.at((*corner[:2], 0.015)))
    for k in range(random.randint(1, 2)):
        y, radius = 0.05 * k - 0.03, spread(random, 2e-3, 6e-3)
        start, end = (-0.08, y, 0.08 + 0.03 * k), (0.08, y + random.uniform(-0.02, 0.02), 0.08 + 0.03 * k)
        cord = scene.add(
            rope(random, start, end, radius=radius, points=(12, 16), model=random.choice(("spline", "discrete")))
        )
        cord.set_velocity(vector(random, random.choice((0.1, 2.0))))
    place, thick = (random.uniform(-0.03, 0.03), random.uniform(-0.03, 0.03), 0.17), 0.0
    if random.random() < 0.5:
        thick = 2.0 * spread(random, 0.01, 0.04)
        ball = scene.add(sn.RigidBody.sphere(0.5 * thick, mass=spread(random, 1e-3, 1.0), position=place))
        ball.velocity = vector(random, random.choice((0.1, 2.0)))
    upside, lid, high = (0.0, 1.0, 0.0, 0.0), _gel(4).with_material(stuff, "lid"), 0.28
    hand = None
    if squeezed:
        hand = sn.World.at(sn.Pose((-0.06, 0.06, high), upside))
        scene.add(lid, on=hand)
    scene.collide(**_numbers(random))
    if hand is None:
        return Played(scene)
    reach, rate, start = 0.2 - thick + random.uniform(-0.05, 0.015), spread(random, 1, 20), hand.position

    def drive(time: float) -> None:
        a = rate * time
        hand.position = start + np.array((0.01 * math.sin(0.7 * a), 0, -0.5 * reach * (1 - math.cos(a))))

    return Played(scene, drive, reach * rate + 3)


@cache
def _gel(cells: int = 6) -> Any:
    """A pad of 12 cm square and 4 cm high on the plane z = 0 of its frame."""
    vertices, faces = meshes.block((0.12, 0.12, 0.04), (cells, cells, 2))
    return sn.Zone.from_mesh(vertices, faces, material=sn.Material(1e5, 0.45, 1000), fixed=vertices[:, 2] < 1e-9)


def _hauled(random: Random, scene: Any) -> tuple[Any, list[Any]]:
    """A winch's cable over one to three bodies, fixed, on hinges or free, to a load: the cable, and the bodies."""
    bodies, rough, at = [], [], 0.0
    for _ in range(random.randint(1, 3)):
        size, mass = spread(random, 0.1, 0.4), spread(random, 0.05, 50.0)
        at += 0.9
        place, turned = (at, 0, random.uniform(-0.1, 0.1)), (SQRT_HALF, SQRT_HALF, 0, 0)
        kind = random.choice(("box", "cylinder", "sphere"))
        if kind == "box":
            body = sn.RigidBody.box((size, 2.0, size * random.choice((0.5, 1.0))), mass=mass, position=place)
        elif kind == "cylinder":
            body = sn.RigidBody.cylinder(0.5 * size, 2.0, mass=mass, pose=sn.Pose(place, turned))
        else:
            body = sn.RigidBody.sphere(0.5 * size, mass=mass, position=place)
        bodies.append(scene.add(body))
        tie = random.choice(("fixed", "hinge", "hinge", "free"))
        if tie == "fixed":
            scene.add(sn.Lock(body.at(), sn.World.at(place)))
        elif tie == "hinge":
            scene.add(sn.Hinge(body.at(), sn.World.at(place), axis=(0, 1, 0)))
        rough.append((body, random.choice((0.0, 0.1, 0.3, 1.0))))
    load = scene.add(sn.RigidBody.sphere(0.05, mass=spread(random, 0.1, 200.0), position=(at + 0.9, 0, 0)))
    load.velocity = vector(random, random.choice((0.0, 3.0)))
    cable = scene.add(
        sn.Cable(
            [sn.World.at((0, 0, 0)), load.at()], stretch_stiffness=spread(random, 1e3, 1e7), around=rough,
            torsion=False, length=random.choice((None, None, 1.3 * (at + 0.9))), longest=20.0,
        )
    )  # fmt: skip
    return cable, bodies


def rubbing_cable(random: Random) -> Played:
    """A cable with friction over bodies, that a winch hauls in, stops and pays out."""
    scene = sn.Scene(drag=random.choice((0.0, 0.1)))
    cable, bodies = _hauled(random, scene)
    if random.random() < 0.3:
        _floor(scene).pose = sn.Pose((0, 0, -1.0))
        scene.collide(**_numbers(random))
    speed, pulls = random.uniform(0.2, 5), random.random() < 0.8
    grip = scene.add(sn.Load(bodies[0].at((0.05, 0.05, 0.0)))) if random.random() < 0.5 else None
    weight = 9.81 * bodies[0].mass

    def drive(time: float) -> None:
        phase = time % 0.6
        if pulls:
            cable.drive(speed=-speed if phase < 0.2 else (0.0 if phase < 0.3 else speed))
        if grip is not None:
            grip.force = (weight * math.sin(7 * time), 0, weight * math.cos(11 * time))

    return Played(scene, drive if pulls or grip is not None else None, speed + 12)


def beads_in_a_tube(random: Random) -> Played:
    """Pearls on a rope in a bent tube of the world, drawn to and fro by a hand that jerks."""
    scene, bore = sn.Scene(drag=random.choice((0.0, 0.5))), spread(random, 0.01, 0.03)
    turn, wide = np.linspace(0, random.uniform(0.3, 0.5) * math.pi, 12), random.uniform(0.15, 0.4)
    bend = wide * np.stack((np.sin(turn), 0 * turn, random.choice((-1, 1)) * (1 - np.cos(turn))), axis=1)
    end = bend[-1] + 0.6 * (bend[-1] - bend[-2]) / np.linalg.norm(bend[-1] - bend[-2])
    cord = scene.add(
        rope(random, (-0.45, 0, 0), (-0.02, 0, 0), radius=bore * random.uniform(0.05, 0.3), points=(12, 16, 24))
    )
    tube = scene.add(sn.Inside(cord, np.concatenate(([(-0.6, 0, 0)], bend, [end])), bore, friction=0.0))
    for at in (0.3, 0.7):
        pearl = scene.add(sn.Pearl(
            cord, at=at * cord.length, mass=spread(random, 1e-3, 0.1), radius=bore * random.uniform(0.35, 0.9),
            friction=random.choice((0.0, 0.3)), restitution=random.choice((0.0, 1.0)),
        ))  # fmt: skip
        scene.collide(pearl, tube, **_numbers(random))
    scene.collide(cord, tube, friction=random.choice((0.0, 0.3)))
    hand = scene.add(sn.Fix(cord.at(cord.length), compliance=random.choice((0.0, 1e-4))))
    reach, rate, start = random.uniform(0.02, 0.12), spread(random, 1, 20), hand.target.copy()

    def drive(time: float) -> None:
        hand.target = start - (reach * (1 - math.cos(rate * time)), 0, 0)

    return Played(scene, drive, reach * rate + 3)


def _ground(random: Random, scene: Any) -> float:
    """A height field, or a closed mesh of the same ground, smooth or rough; returns how high it is at most."""
    cells, high = random.choice((16, 40)), random.choice((0.0, 0.03, 0.1))
    x = np.linspace(-1.5, 1.5, cells + 1)
    waves = [(random.uniform(1, 8), random.uniform(0, 6)) for _ in range(4)]
    across = [np.sin(k * x + a) for k, a in waves]
    heights = 0.5 * high * (np.outer(across[0], across[1]) + np.outer(across[2], across[3]))
    if random.random() < 0.3:
        rough = np.random.default_rng(random.randrange(1000))
        heights += 0.3 * high * rough.uniform(-1, 1, heights.shape)
    if random.random() < 0.5:
        shape = sn.HeightField(heights, (3.0, 3.0))
    else:
        shape = sn.Mesh(*meshes.hilly(x, heights))
    scene.add(sn.Obstacle(shape, name="ground"))
    return float(heights.max())


def _of_triangles(random: Random, place: Any, size: float, mass: float) -> Any:
    """A body that is a closed mesh: a box, a ball, a stone of few corners, a ring."""
    kind = random.choice(("box", "ball", "stone", "ring"))
    if kind == "box":
        solid = trimesh.creation.box((size, size, size * random.choice((0.3, 1.0))))
    elif kind == "ball":
        solid = trimesh.creation.icosphere(2, 0.5 * size)
    elif kind == "stone":
        corners = np.random.default_rng(random.randrange(1000)).standard_normal((12, 3))
        solid = trimesh.convex.convex_hull(0.5 * size * corners / np.linalg.norm(corners, axis=1)[:, None])
    else:
        solid = trimesh.creation.torus(0.5 * size, 0.15 * size, 16, 8)
    return sn.RigidBody.from_mesh(
        np.array(solid.vertices), np.array(solid.faces), density=mass / solid.volume, pose=sn.Pose(place)
    )


def on_ground(random: Random) -> Played:
    """Ropes, solids and bodies of triangles that fall, slide and roll on a height field or a closed mesh."""
    scene = sn.Scene()
    top = _ground(random, scene)
    for k in range(random.randint(0, 2)):
        y, radius = 0.15 * k, spread(random, 3e-3, 1e-2)
        start, end = (-0.3, y, top + 0.03 + 0.06 * k), (0.3, y + random.uniform(-0.1, 0.1), top + 0.03 + 0.06 * k)
        cord = rope(random, start, end, radius=radius, points=(12, 20), model=random.choice(("spline", "discrete")))
        scene.add(cord).set_velocity(vector(random, random.choice((0.1, 2.0))))
    for k in range(random.randint(1, 3)):
        place = np.array((random.uniform(-0.1, 0.1), 0.05 * k, top + 0.25 + 0.2 * k))
        make = random.choice((_solid, _of_triangles, _of_triangles))
        solid = scene.add(make(random, place, spread(random, 0.04, 0.15), spread(random, 1e-2, 10.0)))
        solid.velocity = vector(random, random.choice((0.1, 3.0)))
        solid.angular_velocity = vector(random, random.choice((0.0, 10.0)))
    scene.collide(**_numbers(random))
    return Played(scene)


TOUCHING: dict[str, Callable[[Random], Played]] = {
    family.__name__: family
    for family in (
        poured,
        piled_and_caught,
        over_a_peg,
        struck,
        linked_rings,
        strung,
        on_pads,
        thrown_on_pads,
        rubbing_cable,
        beads_in_a_tube,
        on_ground,
        tapers_touch,
    )
}
