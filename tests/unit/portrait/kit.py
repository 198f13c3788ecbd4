"""Scenes for the tests of portraits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from references import meshes

import sennit as sn
from sennit import World
from sennit.portrait.of_scene import ScenePortrait

MATERIAL = sn.Material(2e7, 0.4, 1100.0, relaxation_time=2e-3)
ROUND = sn.Section.circle(0.012)


def rope(scene: sn.Scene, y: float = 0.0, length: float = 0.8, **options: Any) -> sn.Rod:
    """A rope along x at the height 1, in a scene."""
    settings: dict[str, Any] = {"section": ROUND, "material": MATERIAL, "control_points": 12} | options
    return scene.add(sn.Rod.straight((0.0, y, 1.0), (length, y, 1.0), **settings))


def held_ropes() -> sn.Scene:
    """Ropes that are held in all the ways in which a point can be put somewhere."""
    scene = sn.Scene()
    a, b, c, d, e = (rope(scene, 0.5 * k) for k in range(5))
    scene.add(sn.Clamp(a.at(0.0)))
    scene.add(sn.Fix(a.at(a.length)))
    scene.add(sn.Fix(b.at(0.0)))
    scene.add(sn.OnPlane(b.at(b.length), (1.0, 0.0, 0.0)))
    scene.add(sn.OnAxis(b.at(0.4), (0.0, 0.0, 1.0)))
    scene.add(sn.Follow(c.at(0.0), lambda t: (0.0, 1.0, 1.0 + 0.05 * math.sin(t))))
    scene.add(sn.Align(c.at(0.0), (1.0, 0.0, 0.0)))
    scene.add(sn.OnSphere(c.at(c.length), (0.8, 1.0, 1.25), 0.25))
    scene.add(sn.Fix(d.at(0.0)))
    scene.add(sn.OnCircle(d.at(d.length), (0.8, 1.5, 1.2), (1.0, 0.0, 0.0), 0.2))
    scene.add(sn.Load(d.at(0.4), (0.0, 0.0, -5.0), (0.0, 0.3, 0.0)))
    scene.add(sn.Fix(e.at(0.0)))
    scene.add(sn.Keyhole(e, 0.6, World.at((0.6, 2.0, 1.0))))
    scene.add(sn.Pearl(e, 0.3, mass=0.05, radius=0.04))
    scene.add(sn.Slider(e, 0.15, mass=0.01))
    return scene


def jointed_bodies() -> sn.Scene:
    """Rigid bodies of all forms and all joints."""
    scene = sn.Scene()
    tetra = np.array(((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.3)))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    box = scene.add(sn.RigidBody.box((0.2, 0.15, 0.1), mass=0.5, position=(0.0, 0.0, 1.0)))
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=0.5, position=(0.0, 0.5, 1.0)))
    can = scene.add(sn.RigidBody.cylinder(0.08, 0.2, mass=0.5, position=(0.0, 1.0, 1.0)))
    egg = scene.add(sn.RigidBody.from_inertia(0.5, (1e-3, 2e-3, 2.5e-3), position=(0.0, 1.5, 1.0)))
    wedge = scene.add(sn.RigidBody.from_mesh(tetra, faces, mass=0.4, position=(0.0, 2.0, 1.0)))
    scene.add(sn.Hinge(box.at((-0.1, 0.0, 0.0)), World.at((-0.1, 0.0, 1.0)), (0.0, 1.0, 0.0), motor=1.0))
    scene.add(sn.Ball(ball.at((0.0, 0.0, 0.1)), World.at((0.0, 0.5, 1.1))))
    motor = sn.Motor(0.1, max_force=50.0)
    rail = World.at((0.0, 1.0, 1.1))
    scene.add(sn.Prismatic(can.at((0.0, 0.0, 0.1)), rail, (1.0, 0.0, 0.0), limits=(-0.15, 0.15), motor=motor))
    scene.add(sn.Lock(egg.at(), World.at((0.0, 1.5, 1.0))))
    nut = scene.add(sn.RigidBody.cylinder(0.06, 0.1, mass=0.5, position=(0.0, 2.5, 1.0)))
    scene.add(sn.Screw(nut.at(), World.at((0.0, 2.5, 1.0)), (0.0, 0.0, 1.0), lead=0.3))
    scene.add(sn.Fuse(wedge.at(), World.at((0.0, 2.0, 1.0)), align=False))
    scene.add(sn.Distance(box.at((0.1, 0.0, 0.0)), ball.at()))
    scene.add(sn.Distance(wedge.at(), World.at((0.5, 2.0, 1.0)), 0.9, "at_most"))
    scene.add(sn.Distance(can.at(), egg.at(), 0.3, "at_least"))
    return scene


def cabled() -> tuple[sn.Scene, list[sn.Cable], list[sn.Sheave]]:
    """A load over a sheave, a slack cable, and a load on a bollard."""
    scene = sn.Scene()
    thick = sn.Section.circle(0.008)
    load = scene.add(sn.RigidBody.box((0.15, 0.15, 0.15), mass=2.0, position=(0.6, 0.0, 0.6)))
    wheel = sn.Sheave(World.at((0.5, 0.0, 1.5)), (0.0, 1.0, 0.0), 0.1)
    hoist = scene.add(sn.Cable([World.at((0.0, 0.0, 0.8)), wheel, load.at((0.0, 0.0, 0.075))], thick, MATERIAL))
    ball = scene.add(sn.RigidBody.sphere(0.05, mass=1.0, position=(0.9, 0.8, 1.0)))
    scene.add(sn.Fix(ball.at()))
    slack = scene.add(sn.Cable([World.at((0.1, 0.8, 1.2)), ball.at()], stretch_stiffness=500.0, length=1.1))
    weight = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0.75, 1.5, 0.6)))
    post = sn.Sheave(World.at((0.6, 1.5, 1.4)), (0.0, 1.0, 0.0), 0.12, fixed=True, friction=0.2, turns=1)
    wound = scene.add(sn.Cable([World.at((0.0, 1.5, 0.8)), post, weight.at((0.0, 0.0, 0.05))], thick, MATERIAL))
    return scene, [hoist, slack, wound], [wheel, post]


def odd_rods() -> sn.Scene:
    """A ribbon, a ring, and a discrete rod."""
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0))
    rope(scene, 0.0, section=sn.Section.rectangle(0.06, 0.01), name="ribbon")
    t = np.linspace(0.0, 2.0 * math.pi, 41)[:-1]
    curve = np.column_stack((0.25 * np.cos(t), 1.0 + 0.25 * np.sin(t), 0.05 * np.sin(2.0 * t)))
    scene.add(sn.Rod.through(curve, section=ROUND, material=MATERIAL, closed=True, name="ring"))
    scene.add(sn.Clamp(rope(scene, 2.0, model="discrete", name="chain").at(0.0)))
    return scene


def sewing() -> sn.Scene:
    """A needle on a thread, above a slab of tissue."""
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0))
    vertices, faces = meshes.block((0.3, 0.2, 0.1), (4, 3, 1))
    gel = sn.Material(1e5, 0.45, 1000.0, relaxation_time=0.02)
    slab = scene.add(sn.Zone.from_mesh(vertices, faces, material=gel, fixed=np.flatnonzero(vertices[:, 2] < 1e-9)))
    thread = rope(scene, 0.1, section=sn.Section.circle(2e-3))
    forces = {"piercing": 1.0, "cutting": 0.2, "friction": 20.0}
    scene.add(sn.Needle(thread.at(0.0), slab, length=0.1, radius=0.05, thickness=3e-3, holes=2, **forces))
    return scene


def nested() -> sn.Scene:
    """A curved tube in another one."""
    scene = sn.Scene(gravity=(0.0, 0.0, 0.0))
    tubes = [
        sn.Rod.straight((0.0, 0.0, 0.0), (0.0, 0.0, length), section=sn.Section.tube(radius, 0.8 * radius),
                        material=MATERIAL, rest_curvature=(0.0, 1.0 / length))
        for radius, length in ((0.02, 0.5), (0.012, 0.8))
    ]  # fmt: skip
    scene.add(sn.Nest(tubes))
    return scene


SCENES: dict[str, Callable[[], sn.Scene]] = {
    "held ropes": held_ropes, "jointed bodies": jointed_bodies, "cables": lambda: cabled()[0], "odd rods": odd_rods,
    "sewing": sewing, "nested tubes": nested,
}  # fmt: skip
"""Between them they have all kinds of bodies and constraints."""


def views_of(portrait: ScenePortrait) -> list[tuple[Any, Any, Any]]:
    """Part, view and subject of each part, in a frame that is captured now and kept."""
    frame = portrait.capture().copy()
    views = portrait.cast.views(frame)
    return [
        (part, view, portrait.subject(k)) for k, (part, view) in enumerate(zip(portrait.cast.parts, views, strict=True))
    ]


def is_there(subject: object) -> bool:
    """Whether there is anything to see of it: spare holes of a needle hold a slider that is on no thread yet."""
    return not isinstance(subject, sn.Slider) or subject.attached


def seen(portrait: ScenePortrait, subject: object) -> tuple[Any, Any]:
    """The first part that shows `subject`, and its view now."""
    return next((part, view) for part, view, shown in views_of(portrait) if shown is subject)
