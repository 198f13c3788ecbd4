"""Families of random scenes as users build them, played by `references.played_scenes`."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

import sennit as sn
from references.meshes import block

MATERIALS = (
    sn.Material(1e7, 0.4, 1000, relaxation_time=0.02),
    sn.Material(2e11, 0.3, 7850),
    sn.Material(2e5, 0.49, 900),
    sn.Material(3e9, 0.35, 1150, relaxation_time=1e-4),
)


@dataclass
class Played:
    """A scene, and what is expected of it."""

    scene: Any
    drive: Callable[[float], None] | None = None
    """Called before each step with the scene's time; None: nothing is driven, and no energy may appear."""
    speed: float = 10.0
    """Of the drive, m/s: what mean speeds are small against."""
    free: bool = False
    """Whether nothing holds it, so that momentum is kept."""
    linked: tuple[Any, Any] | None = None
    """Two closed rods that go through each other once."""


def spread(random: Random, low: float, high: float) -> float:
    """A number between two of one sign, evenly by its logarithm."""
    return math.exp(random.uniform(math.log(low), math.log(high)))


def vector(random: Random, size: float) -> tuple[float, float, float]:
    return random.uniform(-size, size), random.uniform(-size, size), random.uniform(-size, size)


def rope(
    random: Random, start: Any, end: Any, *, radius: float, points: Any = (8, 12, 20), model: str = "spline"
) -> Any:
    section, material = sn.Section.circle(radius), random.choice(MATERIALS)
    return sn.Rod.straight(
        start, end, section=section, material=material, control_points=random.choice(points), model=model
    )


# ---------------------------------------------------------------------------------------------------------- families


def harness(random: Random) -> Played:
    """A trunk with branches, one of them dragged by its end."""
    scene = sn.Scene(drag=0.1)
    material, radius, n = random.choice(MATERIALS), spread(random, 1e-3, 1e-2), random.choice((8, 12, 16))

    def wire(start: Any, end: Any, r: float) -> Any:
        section = sn.Section.circle(r)
        return scene.add(sn.Rod.straight(start, end, section=section, material=material, control_points=n))

    trunk = wire((0, 0, 0), (1, 0, 0), radius)
    scene.add(sn.Clamp(trunk.at(0)))
    branches = []
    for k in range(random.randint(1, 3)):
        at, way = 0.3 + 0.2 * k, random.choice((1, -1))
        branches.append(wire((at, 0, 0), (at, 0.5 * way, 0), 0.7 * radius))
        scene.add(sn.Fuse(branches[-1].at(0), trunk.at(at)))
    hand = scene.add(sn.Fix(branches[0].at(branches[0].length)))
    reach, rate, start = random.uniform(0.05, 0.3), spread(random, 1, 20), hand.target.copy()

    def drive(time: float) -> None:
        a = rate * time
        away = (math.sin(a), -(1 - math.cos(a)) * np.sign(start[1]), math.sin(0.7 * a))
        hand.target = start + reach * np.array(away)

    return Played(scene, drive, reach * rate + 3)


def net(random: Random) -> Played:
    """Balls joined by taut strings, held at corners, one of them struck."""
    scene, n, balls = sn.Scene(drag=0.05), random.randint(3, 6), {}
    for i in range(n):
        for j in range(n):
            ball = sn.RigidBody.sphere(0.01, mass=spread(random, 0.005, 0.5), position=(0.1 * i, 0.1 * j, 0))
            balls[i, j] = scene.add(ball)
    for (i, j), ball in balls.items():
        for other in ((i + 1, j), (i, j + 1)):
            if other in balls:
                bound = random.choice(("at_most", "equal")) if random.random() < 0.3 else "at_most"
                scene.add(sn.Distance(ball.at(), balls[other].at(), bound=bound))
    for corner in ((0, 0), (0, n - 1), (n - 1, 0), (n - 1, n - 1))[: random.randint(1, 4)]:
        scene.add(sn.Fix(balls[corner].at()))
    random.choice(list(balls.values())).velocity = vector(random, random.choice((1, 5, 20)))
    return Played(scene)


def crane(random: Random) -> Played:
    """A load on slings below a hook, hoisted, stopped and lowered."""
    scene, mass = sn.Scene(), spread(random, 1, 2000)
    hook = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=mass * spread(random, 1e-3, 1), position=(3, 0, 2)))
    load = scene.add(sn.RigidBody.box((1, 1, 1), mass=mass, position=(3, 0, 0.5)))
    inertia = {"inertia": spread(random, 0.01, 5)} if random.random() < 0.5 else {}
    wheel = sn.Sheave(sn.World.at((2.8, 0, 6)), axis=(0, 1, 0), radius=0.2, **inertia)
    stiffness = spread(random, 1e4, 1e7)
    cable = scene.add(sn.Cable([sn.World.at((0, 0, 1)), wheel, hook.at((0, 0, 0.05))], stretch_stiffness=stiffness))
    corners = ((0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5))
    for corner in corners[: random.choice((1, 2, 4))]:
        scene.add(sn.Cable([hook.at((0, 0, -0.05)), load.at((*corner, 0.5))], stretch_stiffness=stiffness))
    speed = random.uniform(0.2, 5)
    load.velocity = vector(random, random.choice((0.1, 2)))

    def drive(time: float) -> None:
        phase = time % 1.0
        cable.drive(speed=-speed if phase < 0.4 else (0.0 if phase < 0.6 else 0.8 * speed))

    return Played(scene, drive, speed + 6)


def bead_chain(random: Random) -> Played:
    """Pearls that slide along a thrown string."""
    scene = sn.Scene(gravity=random.choice(((0, 0, 0), (0, 0, -9.81))))
    string = scene.add(rope(random, (0, 0, 0), (1, 0, 0), radius=spread(random, 1e-3, 5e-3)))
    held = random.random() < 0.5
    if held:
        scene.add(sn.Fix(string.at(0)))
    if random.random() < 0.3:
        scene.add(sn.Fix(string.at(string.length)))
        held = True
    for k in range(random.randint(1, 5)):
        mass, restitution, friction = spread(random, 1e-3, 0.5), random.choice((0, 0.5, 1)), random.choice((0, 0.3))
        pearl = sn.Pearl(string, 0.1 + 0.17 * k, mass=mass, radius=0.02, restitution=restitution, friction=friction)
        scene.add(pearl).sliding_velocity = random.uniform(-2, 2)
    string.set_velocity((0, 0, 0), vector(random, random.choice((2, 8))))
    return Played(scene, free=not held)


def hinged_chain(random: Random) -> Played:
    """Boxes on hinges with limits that fall on a floor."""
    scene, last = sn.Scene(drag=0.05), None
    for i in range(random.randint(2, 7)):
        box = scene.add(
            sn.RigidBody.box((0.3, 0.06, 0.06), mass=spread(random, 0.1, 5), position=(0.15 + 0.3 * i, 0, 0.5))
        )
        if last is not None:
            limits = (-random.uniform(0.05, 1.5), random.uniform(0.05, 1.5))
            scene.add(sn.Hinge(box.at((-0.15, 0, 0)), last, vector(random, 1), limits=limits))
        for x in (-0.15, 0.15):
            scene.add(sn.OnPlane(box.at((x, 0, -0.03)), (0, 0, 1), (0, 0, 0), bound="at_least"))
        if random.random() < 0.3:
            box.angular_velocity = vector(random, 10)
        last = box.at((0.15, 0, 0))
    return Played(scene)


def linkage(random: Random) -> Played:
    """A slider-crank with a motor."""
    scene, rate, mass = sn.Scene(), spread(random, 1, 60) * random.choice((1, -1)), spread(random, 0.05, 5)
    crank = scene.add(sn.RigidBody.box((0.1, 0.02, 0.02), mass=mass, position=(0.05, 0, 0)))
    rod = scene.add(sn.RigidBody.box((0.4, 0.02, 0.02), mass=mass, position=(0.3, 0, 0)))
    slide = scene.add(sn.RigidBody.box((0.05, 0.05, 0.05), mass=spread(random, 0.05, 20), position=(0.5, 0, 0)))
    motor = sn.Motor(rate, max_torque=spread(random, 1, 1e3))
    soft: Any = {"angular_compliance": 1e-6, "compliance": 1e-8}
    scene.add(sn.Hinge(crank.at((-0.05, 0, 0)), sn.World.at((0, 0, 0)), (0, 1, 0), motor=motor))
    scene.add(sn.Hinge(rod.at((-0.2, 0, 0)), crank.at((0.05, 0, 0)), (0, 1, 0), **soft))
    scene.add(sn.Hinge(slide.at(), rod.at((0.2, 0, 0)), (0, 1, 0), **soft))
    scene.add(sn.Prismatic(slide.at(), sn.World.at((0.5, 0, 0)), (1, 0, 0), **soft))
    return Played(scene, lambda time: None, abs(rate) * 0.1 + 2)


def hand(random: Random) -> Played:
    """A wire held at one end, dragged by a spring at a box or along it: smoothly, or by jumps."""
    scene = sn.Scene(drag=random.choice((0, 0.5)))
    wire = scene.add(rope(random, (0, 0, 1), (1, 0, 1), radius=spread(random, 5e-4, 8e-3)))
    scene.add(sn.Clamp(wire.at(0)) if random.random() < 0.5 else sn.Fix(wire.at(0)))
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=spread(random, 0.01, 5), position=(1, 0, 0.95)))
    scene.add(sn.Ball(box.at((0, 0, 0.05)), wire.at(wire.length)))
    point = box.at((0.05, 0.05, -0.05)) if random.random() < 0.5 else wire.at(0.5)
    stiffness = spread(random, 100, 1e6)
    grip = scene.add(sn.Fix(point, compliance=1 / stiffness, damping=spread(random, 0.1, 100)))
    start, reach, rate = grip.target.copy(), random.uniform(0.1, 1.0), spread(random, 1, 30)
    jumps = random.random() < 0.5

    def drive(time: float) -> None:
        a = rate * time
        if jumps:
            a = math.floor(2 * a) / 2 * math.pi
        grip.target = start + reach * np.array((math.cos(a) - 1, math.sin(a), 0.5 * math.sin(2 * a)))

    # a spring that jumps has an energy of its own
    own = 0.4 * reach * math.sqrt(stiffness / (box.mass + wire.mass)) if jumps else 0.0
    return Played(scene, drive, reach * rate * (5 if jumps else 1) + 5 + own)


def mass_ratios(random: Random) -> Played:
    """A chain of bodies whose masses differ by up to ten million, on ties of all kinds."""
    scene, last = sn.Scene(drag=random.choice((0, 0.1))), sn.World.at((0, 0, 0))
    heavy = spread(random, 1e3, 1e7)
    for i in range(random.randint(2, 6)):
        mass = random.choice((1e-3, 1e-3 * heavy)) * spread(random, 0.3, 3)
        box = scene.add(sn.RigidBody.box((0.2, 0.05, 0.05), mass=mass, position=(0.1 + 0.2 * i, 0, 0)))
        end = box.at((-0.1, 0, 0))
        tie = random.choice(("ball", "hinge", "string", "lock", "rod"))
        if tie == "ball":
            scene.add(sn.Ball(end, last))
        elif tie == "hinge":
            scene.add(sn.Hinge(end, last, vector(random, 1)))
        elif tie == "lock":
            scene.add(sn.Lock(end, last))
        elif tie == "string":
            scene.add(sn.Distance(box.at(), last, bound="at_most"))
        else:
            scene.add(sn.Distance(box.at((0.1, 0, 0)), last))
        if random.random() < 0.4:
            box.velocity = vector(random, 5)
        last = box.at((0.1, 0, 0))
    return Played(scene)


def keyholes(random: Random) -> Played:
    """A rope through holes, pulled at one end."""
    scene = sn.Scene(drag=0.1)
    string = scene.add(rope(random, (0, 0, 0), (1, 0, 0), radius=spread(random, 1e-3, 5e-3), points=(16, 24, 32)))
    for k in range(random.randint(1, 3)):
        at = 0.3 + 0.2 * k
        direction = random.choice((None, (1, 0, 0), vector(random, 1)))
        friction = random.choice((0, 0.2))
        scene.add(sn.Keyhole(string, at, sn.World.at((at, 0, 0)), direction, friction=friction))
    stiffness = spread(random, 10, 1e4)
    grip = scene.add(sn.Fix(string.at(string.length), compliance=1 / stiffness, damping=1.0))
    start, speed, way = grip.target.copy(), spread(random, 0.1, 5), np.array(vector(random, 1))
    way /= np.linalg.norm(way)

    def drive(time: float) -> None:
        grip.target = start + min(speed * time, 0.6) * way

    # the spring's own energy, where the rope is stuck
    return Played(scene, drive, speed + 5 + 0.4 * 0.6 * math.sqrt(stiffness / string.mass))


def cable_with_bodies(random: Random) -> Played:
    """Bodies that slide on a hanging cable, by their centres or off them."""
    scene, count = sn.Scene(drag=random.choice((0, 0.1))), random.randint(2, 8)
    passed = []
    for i in range(count):
        size, x = random.uniform(0.05, 0.3), (i + 1) / (count + 1) * 4.0
        box = scene.add(sn.RigidBody.box((size, size, size), mass=spread(random, 0.01, 50), position=(x, 0, -0.2)))
        passed.append(box.at((0, 0, 0.5 * size) if random.random() < 0.5 else (0, 0, 0)))
        box.velocity = vector(random, 1)
    ends = sn.World.at((0, 0, 0)), sn.World.at((4, 0, 0))
    scene.add(sn.Cable([ends[0], *passed, ends[1]], stretch_stiffness=spread(random, 1e4, 1e6)))
    return Played(scene)


def light_body_on_a_cable(random: Random) -> Played:
    """A light box held off its centre, with a heavy load below it."""
    scene = sn.Scene()
    box = scene.add(sn.RigidBody.box((0.6, 0.6, 0.6), mass=spread(random, 1e-3, 0.1), position=(0, 0, 0)))
    load = scene.add(sn.RigidBody.box((0.4, 0.4, 0.4), mass=random.choice((1, 50)), position=(0.3, 0, -2)))
    off, stiffness = random.uniform(0, 0.3), spread(random, 1e4, 1e6)
    scene.add(sn.Cable([sn.World.at((0, 0, 3)), box.at((off, 0, 0.3))], stretch_stiffness=stiffness))
    scene.add(sn.Cable([box.at((0.3, 0, -0.3)), load.at((0, 0, 0.2))], stretch_stiffness=stiffness))
    return Played(scene)


def falling_thread(random: Random) -> Played:
    """A thread with a weight at its end that falls."""
    scene = sn.Scene(drag=random.choice((0, 5)))
    end = (random.uniform(0.02, 0.05), 0, random.uniform(0.02, 0.08))
    thread = scene.add(rope(random, (0, 0, 0), end, radius=spread(random, 5e-5, 1e-3), points=(12, 30, 60)))
    scene.add(sn.Fix(thread.at(0)))
    ball = scene.add(sn.RigidBody.sphere(0.004, mass=spread(random, 1e-3, 0.1), position=end))
    scene.add(sn.Ball(ball.at(), thread.at(thread.length)))
    return Played(scene)


def let_go(random: Random) -> Played:
    """A rope whose end is brought nearer, let go of, and later caught again: where it is, or where it was."""
    scene = sn.Scene(drag=random.choice((0, 0.3)))
    model = random.choice(("spline", "discrete"))
    line = scene.add(rope(random, (0, 0, 0), (1, 0, 0), radius=spread(random, 5e-4, 1e-2), model=model))
    scene.add(random.choice((sn.Fix, sn.Clamp))(line.at(0)))
    other, sag = scene.add(sn.Fix(line.at(line.length))), random.uniform(0.01, 0.4)
    here = random.random() < 0.5

    def drive(time: float) -> None:
        other.target = (1 - sag * min(time / 0.2, 1.0), 0, 0)
        wanted = time < 0.3 or (0.6 < time < 0.7)
        if wanted and not other.enabled and here:
            other.hold()
        other.enabled = wanted

    return Played(scene, drive, 8)


def thrown(random: Random) -> Played:
    """Hinged boxes, a rope and a pearl that fly and tumble: nothing holds them."""
    scene = sn.Scene(gravity=(0, 0, 0))
    line = scene.add(rope(random, (0, 0, 0), (1, 0, 0), radius=spread(random, 1e-3, 1e-2)))
    line.set_velocity(vector(random, 2), vector(random, 5))
    last = line.at(line.length)
    for i in range(random.randint(0, 3)):
        box = scene.add(
            sn.RigidBody.box((0.2, 0.05, 0.1), mass=spread(random, 0.05, 2), position=(1.1 + 0.2 * i, 0, 0))
        )
        box.velocity, box.angular_velocity = vector(random, 2), vector(random, 6)
        if i == 0:
            scene.add(sn.Ball(box.at((-0.1, 0, 0)), last))
        elif random.random() < 0.7:
            scene.add(sn.Hinge(box.at((-0.1, 0, 0)), last, vector(random, 1)))
        else:
            scene.add(sn.Cable([box.at((0.1, 0, 0)), last], stretch_stiffness=1e4))
        last = box.at((0.1, 0, 0))
    if random.random() < 0.5:
        pearl = scene.add(sn.Pearl(line, 0.3, mass=spread(random, 0.01, 0.3), radius=0.01))
        pearl.sliding_velocity = random.uniform(-1, 1)
    return Played(scene, free=True)


def driven_pearls(random: Random) -> Played:
    """Pearls on a string or a ring, some driven, some braked, some that rub: drives meet each other and the ends."""
    scene = sn.Scene(gravity=random.choice(((0, 0, 0), (0, 0, -9.81))))
    radius, closed = spread(random, 1e-3, 5e-3), random.random() < 0.5
    if closed:
        angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
        places = np.stack((np.cos(angles), np.sin(angles), 0.0 * angles), axis=1) / (2.0 * np.pi)
        section, material = sn.Section.circle(radius), random.choice(MATERIALS)
        string = scene.add(sn.Rod.through(places, section=section, material=material, control_points=24, closed=True))
        held = (0.0, 0.5)
    else:
        string = scene.add(rope(random, (0, 0, 0), (1, 0, 0), radius=radius))
        held = random.choice(((0.0,), (0.0, 1.0)))
    for s in held:
        scene.add(sn.Clamp(string.at(s * string.length)))
    fastest = 0.0
    for k in range(random.randint(1, 5)):
        speed = random.choice((None, None, 0.0, random.uniform(-2, 2)))
        mass, restitution, friction = spread(random, 1e-3, 0.5), random.choice((0, 0.5, 1)), random.choice((0, 0, 0.3))
        at = (0.1 + 0.17 * k) * string.length
        pearl = sn.Pearl(
            string, at, mass=mass, radius=0.02, restitution=restitution, friction=friction, speed=speed
        )  # fmt: skip
        scene.add(pearl)
        if speed is None:
            pearl.sliding_velocity = random.uniform(-1, 1)
        fastest = max(fastest, abs(speed or 0.0))
    # what is thrown to and fro between two of them gets faster as they close in
    return Played(scene, lambda time: None, 3 * fastest + 3)


PAD = (0.02, 0.012, 0.012)


@functools.cache
def _pad() -> sn.Zone:
    """A block of gel on its bone, which is below it."""
    vertices, faces = block(PAD, (4, 2, 2), (-0.01, -0.006, 0.0))
    under = (vertices[:, 2] < 1e-9) & (abs(vertices[:, 0]) < 0.006)
    return sn.Zone.from_mesh(vertices, faces, material=sn.Material(5e4, 0.4, 1000), fixed=under)


def fingers(random: Random) -> Played:
    """Bones on hinges under one flesh, a chain of zones: driven by motors, hanging, pulled at, or thrown."""
    kind = random.choice(("driven", "driven", "hanging", "thrown"))
    scene = sn.Scene(gravity=(0, 0, 0) if kind == "thrown" else (0, 0, -9.81))
    flesh = sn.Material(spread(random, 1e4, 1e6), 0.4, 1000, relaxation_time=random.choice((0.0, 0.01)))
    count = random.randint(2, 3)
    zones = [_pad().with_material(flesh, name=f"pad {k}") for k in range(count)]
    heavy = random.random() < 0.5
    mass = zones[0].mass * spread(random, 1.0, 30.0)
    bones: list[Any] = []
    rate, torque = spread(random, 0.5, 20) * random.choice((1, -1)), spread(random, 1e-3, 0.1)
    for k in range(count):
        bone = scene.add(sn.RigidBody.box((0.02, 0.01, 0.008), mass=mass, position=(0.02 * k, 0, -0.004)))
        if bones:
            more: dict[str, Any] = {"limits": (-0.8, 0.8)}
            if kind == "driven":
                more["motor"] = sn.Motor(rate, max_torque=torque)
            axis = (0.0, 1.0, random.choice((0.0, 0.3)))
            scene.add(sn.Hinge(bone.at((-0.01, 0, 0)), bones[-1].at((0.01, 0, 0)), axis, **more))
        if kind == "thrown":
            bone.velocity, bone.angular_velocity = vector(random, 0.3), vector(random, 5.0)
        bones.append(bone)
    x = _pad().vertices[:, 0]
    ends = [np.flatnonzero(abs(x - at) < 1e-9) for at in (0.01, -0.01)]
    ends = [ids[np.lexsort(np.round(_pad().vertices[ids], 9).T)] for ids in ends]
    chain = sn.ZoneChain(
        zones, [tuple(ends)] * (count - 1), rest_poses=[sn.Pose((0.02 * k, 0, 0)) for k in range(count)]
    )
    scene.add(chain, on=[bone.at((0, 0, 0.004)) for bone in bones], weight=heavy)
    if kind != "thrown":
        scene.add(sn.Clamp(bones[0].at()))
    if random.random() < 0.5:
        place = chain.at(count - 1, (0.004, 0, 0.012), radius=random.choice((None, 0.008)))
        ball = scene.add(sn.RigidBody.sphere(0.005, mass=spread(random, 1e-3, 0.05), position=place.position))
        scene.add(sn.Ball(ball.at(), place))
    if kind == "driven":
        return Played(scene, lambda time: None, abs(rate) * 0.1 + 2)
    return Played(scene, free=kind == "thrown")


def cut_ropes(random: Random) -> Played:
    """Ropes and rings with boxes, pearls, holes and loads on them, which are cut, or break, while they move."""
    scene = sn.Scene()
    rods = []
    for i in range(random.randint(1, 3)):
        y = 0.3 * i
        if random.random() < 0.25:
            turn = np.linspace(0, 2 * np.pi, 12, endpoint=False)
            ring = np.column_stack((0.5 + 0.3 * np.cos(turn), np.full(12, y), 1 + 0.3 * np.sin(turn)))
            rod = sn.Rod.through(
                ring, section=sn.Section.circle(spread(random, 1e-3, 1e-2)), material=random.choice(MATERIALS),
                control_points=random.choice((12, 20)), closed=True,
            )  # fmt: skip
        else:
            model = "discrete" if random.random() < 0.2 else "spline"
            rod = rope(random, (0, y, 1), (1, y, 1), radius=spread(random, 1e-3, 1e-2), points=(12, 20), model=model)
        rods.append(scene.add(rod))
        for s in random.sample((0.0, 0.5, 0.999), random.randint(1, 2)):
            scene.add(sn.Fix(rod.at(s * rod.length)))
        if random.random() < 0.6:
            s = random.uniform(0.1, 0.9) * rod.length
            place = rod.at(s).position - (0, 0, 0.1)
            box = scene.add(sn.RigidBody.box((0.05, 0.05, 0.05), mass=spread(random, 0.01, 10), position=place))
            scene.add(sn.Ball(box.at((0, 0, 0.1)), rod.at(s)))
        if random.random() < 0.5:
            scene.add(sn.Load(rod.at(random.random() * rod.length), force=vector(random, 2)))
        if rod.model == "spline" and random.random() < 0.5:
            at = random.uniform(0.2, 0.8) * rod.length
            scene.add(
                sn.Pearl(rod, at, mass=spread(random, 0.01, 0.3), radius=0.01, friction=random.choice((0.0, 0.3)))
            )
        if rod.model == "spline" and random.random() < 0.3:
            at = random.uniform(0.2, 0.8) * rod.length
            scene.add(sn.Keyhole(rod, at, hole=rod.at(at).position))
    if random.random() < 0.3:
        scene.collide(friction=0.3)
    due = sorted(random.uniform(0.0, 1.5) for _ in range(random.randint(1, 4)))
    fragile = random.random() < 0.3

    def drive(time: float) -> None:
        if fragile and time > 0.2:
            for rod in scene.bodies:
                if isinstance(rod, sn.Rod) and rod.breaking_load is None and len(rod.knots) > 8:
                    rod.breaking_load = 30.0
        while due and time >= due[0]:
            due.pop(0)
            rod = random.choice([body for body in scene.bodies if isinstance(body, sn.Rod)])
            with contextlib.suppress(sn.InputError):  # next to an end
                rod.cut(random.random() * rod.length)

    return Played(scene, drive, 10)


def bent_wires(random: Random) -> Played:
    """Wires that yield, creep or transform, with boxes on them, bent by hands that jerk and let go, or left alone."""
    scene = sn.Scene(drag=random.choice((0.0, 0.5)))
    E = spread(random, 1e7, 2e11)
    kinds = (
        {"yield_stress": E * spread(random, 1e-4, 1e-2), "hardening": random.choice((0.0, 0.05)) * E},
        {"prony": [(0.6, spread(random, 1e-3, 1e2)), (0.3, spread(random, 1e-3, 1e2))][: random.randint(1, 2)]},
        {"superelastic": (8e-3 * E, random.choice((0.0, 3e-3, 7e-3)) * E, spread(random, 1e-3, 0.1))},
    )

    def made() -> dict[str, Any]:
        r, w = spread(random, 5e-4, 5e-3), random.uniform(1.0, 3.0)
        section = random.choice((sn.Section.circle(r), sn.Section.tube(r, 0.7 * r), sn.Section.rectangle(r, w * r)))
        material = sn.Material(
            E, 0.33, 10 ** random.uniform(2.5, 4), random.choice((0.0, 1e-3)), **random.choice(kinds)
        )
        return {"section": section, "material": material}

    return bent(random, scene, made)


def sticking_strands(random: Random) -> Played:
    """Cables whose strands stick and slip, as `bent_wires`."""

    def made() -> dict[str, Any]:
        r, stuck = spread(random, 1e-3, 1e-2), spread(random, 1e-3, 1e1)
        return {
            "properties": sn.Properties(
                EA=stuck / r**2 * spread(random, 0.1, 10), EI=stuck / random.choice((1.01, 5.0, 30.0, 1000.0)),
                GJ=stuck * spread(random, 0.01, 1), mass=spread(random, 0.01, 1), radius=r, EI_stuck=stuck,
                slip_moment=stuck * spread(random, 1e-2, 10), relaxation_time=random.choice((0.0, 0.01)),
            )
        }  # fmt: skip

    return bent(random, sn.Scene(drag=random.choice((0.0, 0.5))), made)


def bent(random: Random, scene: sn.Scene, made: Callable[[], dict[str, Any]]) -> Played:
    """Rods made of what `made` tells, with boxes on them, bent by hands that jerk and let go, or left alone."""
    wires, held = [], []
    for i in range(random.randint(1, 3)):
        y, of = 0.2 * i, made()
        line = np.array([(s, y + 0.05 * math.sin(7 * s), 1 + 0.1 * math.cos(5 * s)) for s in np.linspace(0, 0.6, 16)])
        wires.append(
            scene.add(
                sn.Rod.through(
                    line, **of, control_points=random.choice((8, 16)),
                    straight=random.random() < 0.3, model=random.choice(("spline", "spline", "discrete")),
                )
            )
        )  # fmt: skip
        wire = wires[-1]
        if random.random() < 0.8:
            scene.add(random.choice((sn.Clamp, sn.Fix))(wire.at(0)))
        if random.random() < 0.5:
            box = sn.RigidBody.box((0.04, 0.04, 0.04), mass=spread(random, 0.01, 3), position=wire.at(0.5).position)
            scene.add(box)
            scene.add(random.choice((sn.Ball, sn.Fuse))(box.at(), wire.at(0.5)))
        if random.random() < 0.6:
            held.append(scene.add(sn.Fix(wire.at(wire.length), compliance=random.choice((0.0, 1e-3)))))
    if not held or random.random() < 0.4:
        return Played(scene)
    start, way, rate = [fix.target for fix in held], np.array(vector(random, 0.4)), random.uniform(0.5, 8)
    gone = random.uniform(0.2, 1.5)

    def drive(time: float) -> None:
        for fix, place in zip(held, start, strict=True):
            fix.target = place + way * math.sin(rate * time)
            if time > gone:
                fix.enabled = False

    return Played(scene, drive, float(np.abs(way).sum()) * rate + 2)


def _varied(random: Random, size: float) -> dict[str, Any]:
    """What a rod of a length of 1 m and about this thickness is made of, which changes along it."""
    thick, thin = (sn.Section.circle(size * spread(random, low, high)) for low, high in ((0.7, 1.5), (0.1, 0.7)))
    one, other = random.choice(MATERIALS), random.choice(MATERIALS)
    kind = random.choice(("list", "function", "pieces", "properties"))
    if kind == "list":
        return {
            "section": [thick, thin, thick][: random.choice((2, 3))],
            "material": random.choice((one, [one, other])),
        }
    if kind == "function":
        wave = random.uniform(0.5, 6)
        return {"section": lambda s: sn.Section.circle(size * (1 + 0.7 * math.sin(wave * s))), "material": one}
    if kind == "pieces":
        cuts = sorted(random.uniform(0.05, 0.95) for _ in range(random.randint(1, 3)))
        sizes = [b - a for a, b in zip([0.0, *cuts], cuts, strict=False)]
        parts = [(thick, one), (thin, other), (thin, one), (thick, other)]
        return {"pieces": [(x, *part) for x, part in zip([*sizes, None], parts, strict=False)]}
    EI = spread(random, 1e-4, 1e2) * size**2 / 1e-4
    numbers = sn.Properties(
        EA=EI / size**2 * spread(random, 0.1, 100), EI=[EI, EI * spread(random, 0.01, 1)],
        GJ=EI * spread(random, 0.01, 1), mass=spread(random, 0.01, 1), radius=[size, 0.5 * size],
        relaxation_time=random.choice((0.0, 0.01)),
    )  # fmt: skip
    return {"properties": numbers}


def varied_rods(random: Random) -> Played:
    """Rods that vary along their length, with masses on them, boxes, pearls and ties; free, held or changed."""
    scene, free = sn.Scene(), random.random() < 0.3
    rods = []
    for i in range(random.randint(1, 3)):
        model = "discrete" if random.random() < 0.25 else "spline"
        rod = sn.Rod.straight(
            (0, 0.3 * i, 1), (1, 0.3 * i, 1), control_points=random.choice((8, 12, 20)), model=model,
            **_varied(random, spread(random, 1e-3, 1e-2)),
        )  # fmt: skip
        rods.append(scene.add(rod))
        for _ in range(random.choice((0, 0, 1, 3))):
            length = random.choice((0.0, random.uniform(0.01, 0.3)))
            rod.add_mass(at=random.uniform(0.5 * length, 1 - 0.5 * length), mass=spread(random, 1e-3, 1), length=length)
        if free:
            rod.control_velocities = vector(random, 1)
            continue
        scene.add(random.choice((sn.Fix, sn.Clamp))(rod.at(0)))
        if random.random() < 0.5:
            s = random.uniform(0.1, 1.0)
            box = sn.RigidBody.box((0.05,) * 3, mass=spread(random, 0.01, 3), position=rod.at(s).position - (0, 0, 0.1))
            scene.add(sn.Ball(scene.add(box).at((0, 0, 0.1)), rod.at(s)))
        if model == "spline" and random.random() < 0.4:
            scene.add(sn.Pearl(rod, random.uniform(0.2, 0.8), mass=spread(random, 0.01, 0.3), radius=0.02))
    due = [random.uniform(0.1, 1.0)] if not free and random.random() < 0.5 else []

    def drive(time: float) -> None:
        if due and time >= due[0]:
            due.pop()
            rod = random.choice(rods)
            if rod.properties is None and random.random() < 0.5:
                rod.material = random.choice(MATERIALS)
            else:
                rod.add_mass(at=random.random(), mass=spread(random, 1e-3, 0.3))

    return Played(scene, drive if due else None, 10, free=free)


FAMILIES: dict[str, Callable[[Random], Played]] = {
    family.__name__: family
    for family in (
        harness, net, crane, bead_chain, hinged_chain, linkage, hand, mass_ratios, keyholes, cable_with_bodies,
        light_body_on_a_cable, falling_thread, let_go, thrown, driven_pearls, fingers,
        cut_ropes, bent_wires, varied_rods, sticking_strands,
    )
}  # fmt: skip
