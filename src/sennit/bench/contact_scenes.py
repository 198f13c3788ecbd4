"""Scenes in which much touches, of any size: a capstan, a rope on a table, a knot, a pile of ropes, stacks of boxes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import sennit as sn
from sennit.validation import FloatArray

__all__ = ["capstan", "knot", "line_of_knot", "pile", "rope_on_table", "stacks"]

HEMP = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=0.02)
FLOOR = sn.Plane((0, 0, 0), (0, 0, 1))


def rope_on_table(points: int, *, collide: bool = True, table: bool = True) -> sn.Scene:
    """A rope of `points` control points that lies straight on a table, spans of 25 mm, radius 8 mm."""
    scene = sn.Scene(drag=0.5)
    length = 0.025 * (points - 3)
    if table:
        scene.add(sn.Obstacle(FLOOR, name="table"))
    scene.add(
        sn.Rod.straight(
            (0, 0, 8e-3), (length, 0, 8e-3), section=sn.Section.circle(8e-3), material=HEMP, control_points=points
        )
    )
    if collide:
        scene.collide(friction=0.3)
    return scene


def capstan(points: int, *, wraps: float = 0.5, pull: float = 40.0, speed: float = 0.1) -> sn.Scene:
    """A rope that is drawn at `speed` (m/s) over a cylinder, `wraps` times round it, against `pull` (N).

    Cylinder 0.1 m, rope 2 mm in radius. The hand is the scene's last constraint.
    """
    r, R, arm = 2e-3, 0.1, 0.15
    scene = sn.Scene(gravity=(0, 0, 0))
    quarter = sn.Pose((0, 0, 0), (math.sqrt(0.5), math.sqrt(0.5), 0, 0))
    scene.add(sn.Obstacle(sn.Cylinder(R, 0.4, quarter), name="drum"))
    soft = sn.Material(youngs_modulus=2e8, poisson_ratio=0.4, density=1100, relaxation_time=5e-3)
    angles = np.linspace(math.pi, math.pi * (1.0 - 2.0 * wraps), 121)
    pitch = 3.0 * r * (math.pi - angles) / (2.0 * math.pi)  # turns lie beside each other
    arc = np.column_stack(((R + r) * np.cos(angles), pitch, (R + r) * np.sin(angles)))
    out = np.array((math.sin(angles[-1]), 0.0, -math.cos(angles[-1])))
    begin = arc[0] - np.outer(np.linspace(arm, 0.0, 16)[:-1], (0.0, 0.0, 1.0))
    end = arc[-1] + np.outer(np.linspace(0.0, arm, 16)[1:], out)
    line = np.vstack((begin, arc, end))
    section = sn.Section.circle(r)
    rope = scene.add(sn.Rod.through(line, section=section, material=soft, control_points=points))
    scene.add(sn.Load(rope.at(0.0), force=(0, 0, -pull)))
    place = line[-1]
    scene.add(sn.Follow(rope.at(rope.length), lambda t: place + speed * max(t - 0.3, 0.0) * out))
    scene.collide(friction=0.3)
    return scene


def pile(ropes: int, *, points: int = 16, seed: int = 1) -> sn.Scene:
    """Ropes of 0.3 m that fall on each other and on a table, crosswise: twenty in a column, or columns of ten."""
    rng = np.random.default_rng(seed)
    scene = sn.Scene(drag=0.5)
    scene.add(sn.Obstacle(FLOOR, name="table"))
    rubber = sn.Material(youngs_modulus=5e6, poisson_ratio=0.4, density=1000, relaxation_time=1e-3)
    high = 20 if ropes <= 20 else 10
    side = math.ceil(math.sqrt(ropes / high))
    for i in range(ropes):
        column, level = divmod(i, high)
        x, y = divmod(column, side)
        # columns are nearer than ropes are long, so that they grow together: neighbours begin at other heights
        height = 0.02 + 0.012 * (level if side == 1 else 4 * level + 2 * (x % 2) + y % 2)
        angle = rng.uniform(0, math.pi)
        middle = np.array((*rng.uniform(-0.03, 0.03, 2), height))
        middle[:2] += 0.2 * np.array((x, y))
        half = 0.15 * np.array((math.cos(angle), math.sin(angle), 0))
        section = sn.Section.circle(5e-3)
        scene.add(
            sn.Rod.straight(middle - half, middle + half, section=section, material=rubber, control_points=points)
        )
    scene.collide(friction=0.3)
    return scene


def stacks(boxes: int, *, height: int = 10) -> sn.Scene:
    """Boxes of 0.1 m and 1 kg on a floor, in stacks of `height` that touch nothing else."""
    scene = sn.Scene()
    scene.add(sn.Obstacle(FLOOR, name="floor"))
    side = math.ceil(math.sqrt(boxes / height))
    for i in range(boxes):
        column, level = divmod(i, height)
        x, y = divmod(column, side)
        scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0.3 * x, 0.3 * y, 0.05 + 0.1 * level)))
    scene.collide(friction=0.5)
    return scene


def line_of_knot(size: float = 0.045, tail: float = 0.15) -> FloatArray:
    """Points along an open overhand knot, (n, 3), m: a polynomial trefoil with straight tails."""
    t = np.linspace(-2.25, 2.25, 1200)
    loop = 0.5 * size * np.stack((t**3 - 3 * t, t**4 - 4 * t**2, (t**5 - 10 * t) / 5), 1)
    first, last = loop[0] - loop[1], loop[-1] - loop[-2]
    way = np.linspace(0.0, tail, 80)[1:, None]
    before = (loop[0] + way * first / np.linalg.norm(first))[::-1]
    return np.concatenate((before, loop, loop[-1] + way * last / np.linalg.norm(last)))


def knot(points: int = 110, *, radius: float = 4e-3, slack: float = 37.0, speed: float = 0.4) -> sn.Scene:
    """An overhand knot that two hands pull apart at `speed` (m/s) until `slack` radii of rope are left in it.

    The hands are the scene's two constraints; the rope is its one body.
    """
    scene = sn.Scene(gravity=(0, 0, 0), drag=3.0)
    rubber = sn.Material(youngs_modulus=1e7, poisson_ratio=0.4, density=1000, relaxation_time=2e-3)
    line = line_of_knot()
    rope = scene.add(
        sn.Rod.through(line, section=sn.Section.circle(radius), material=rubber, control_points=points, straight=True)
    )
    ends = np.array(rope.at(0.0).position), np.array(rope.at(rope.length).position)
    middle, apart = 0.5 * (ends[0] + ends[1]), float(np.linalg.norm(ends[1] - ends[0]))
    way = (ends[1] - ends[0]) / apart
    goal = rope.length - slack * radius

    def hand(side: float) -> Callable[[float], FloatArray]:
        return lambda t: middle + 0.5 * side * min(apart + speed * t, goal) * way

    scene.add(sn.Follow(rope.at(0.0), hand(-1.0)))
    scene.add(sn.Follow(rope.at(rope.length), hand(1.0)))
    scene.collide(rope, itself=True, friction=0.3)
    return scene
