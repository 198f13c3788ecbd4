"""Random mechanisms as MJCF text, and a family of scenes with them, played by `references.played_scenes`."""

from __future__ import annotations

import importlib.util
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np

import sennit as sn
from references.scene_families import Played, rope, spread, vector

__all__ = ["MECHANISMS", "random_mjcf"]


def random_mjcf(random: Random, *, limits: bool, loose: float = 0.3) -> str:
    """A tree of two to six bodies on hinges, slides, balls and fixed joints, turned and placed at random; free, or
    hung in the world. `loose`: how often nothing holds its root.
    """
    numbers = iter(range(1, 7))

    def body(depth: int) -> str:
        name = next(numbers, None)
        if name is None:
            return ""
        kind = random.choice(("hinge", "hinge", "hinge", "slide", "ball", "fixed"))
        if depth == 0 and random.random() < loose:
            kind = "free"
        joint = ""
        if kind == "free":
            joint = "<freejoint/>"
        elif kind != "fixed":
            where = f' axis="{said(random, 1.0)}"' if kind != "ball" else ""
            if limits and kind == "hinge" and random.random() < 0.5:
                where += f' range="{-random.uniform(0, 90):g} {random.uniform(1, 150):g}"'
            if limits and kind == "slide":
                where += f' range="{-random.uniform(0, 0.1):g} {random.uniform(0.01, 0.2):g}"'
            joint = f'<joint name="j{name}" type="{kind}" pos="{said(random, 0.1)}"{where}/>'
        a, b, c = (spread(random, 0.02, 0.2) for _ in range(3))
        mass = spread(random, 0.1, 5.0)
        moments = (mass * (x * x + y * y) / 3 for x, y in ((b, c), (a, c), (a, b)))  # of a box: no other is impossible
        inertia = " ".join(f"{x:.9g}" for x in moments)
        own = f'<inertial pos="{said(random, 0.1)}" mass="{mass:g}" quat="{turn(random)}" diaginertia="{inertia}"/>'
        rest = "".join(body(depth + 1) for _ in range(random.choice((1, 1, 2) if depth == 0 else (0, 1, 1, 2))))
        return f'<body name="b{name}" pos="{said(random, 0.3)}" quat="{turn(random)}">{joint}{own}{rest}</body>'

    return f'<mujoco><compiler angle="degree"/><worldbody>{body(0)}</worldbody></mujoco>'


def said(random: Random, size: float) -> str:
    return " ".join(f"{x:.9g}" for x in vector(random, size))


def turn(random: Random) -> str:
    return " ".join(f"{random.gauss(0, 1):.9g}" for _ in range(4))


def mechanisms(random: Random) -> Played:
    """A mechanism from a file, some of its joints driven, a rope on it, and a hand that drags one body and lets go."""
    scene = sn.Scene(drag=random.choice((0.0, 1.0)))
    text = random_mjcf(random, limits=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.xml"
        path.write_text(text)
        joints = [name for name, kind in sn.read_mechanism(path).joints.items() if isinstance(kind, sn.Hinge)]
        motors = {name: sn.Motor(random.uniform(-3, 3), max_torque=spread(random, 0.1, 100)) for name in joints}
        made = sn.read_mechanism(path, motors=motors if random.random() < 0.5 else None).add_to(scene)
    bodies = list(made.bodies.values())
    last = bodies[-1]
    if random.random() < 0.6:
        start = last.position
        line = scene.add(rope(random, start, start + np.array((0.3, 0, 0.1)), radius=spread(random, 1e-3, 6e-3)))
        scene.add(sn.Fuse(line.at(0), last.at(), align=False))
    begin, ends = random.uniform(0, 0.3), random.uniform(0.4, 0.8)
    place, way, rate = last.position, vector(random, 0.3), random.uniform(1, 20)
    hand = scene.add(sn.Fix(last.at(), place, compliance=spread(random, 1e-5, 1e-2), damping=1.0))

    def drive(time: float) -> None:
        hand.enabled = begin < time < ends
        hand.target = place + math.sin(rate * time) * sn.Pose(way).position

    return Played(scene, drive, 10)


MECHANISMS: dict[str, Callable[[Random], Played]] = (
    {"mechanisms": mechanisms} if importlib.util.find_spec("mujoco") else {}
)
"""None where there is no MuJoCo, which reads the files."""
