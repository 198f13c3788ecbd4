"""Pictures of constraints between bodies, of what slides, of cables and loads; see ``make_constraint_pictures.py``."""

from __future__ import annotations

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation
from sketching import CORD, FORCE, HELD, INK, ROD, ROD2, RUBBER, WORLD, Sketch, cord, hung

import sennit as sn
from sennit.demos.tissue_picture import Skin
from sennit.export.solids import bar, block, tube

__all__ = [
    "ball_joint", "cable", "distance", "fuse", "hinge", "keyhole", "load", "needle", "nest", "pearl", "prismatic",
    "screw", "sheave", "slider",
]  # fmt: skip


def distance() -> Sketch:
    """Two boxes swing on two links."""
    scene = sn.Scene()
    upper = scene.add(sn.RigidBody.box((0.16, 0.12, 0.12), mass=1.0, position=(0.12, 0, 0.62)))
    lower = scene.add(sn.RigidBody.box((0.12, 0.12, 0.12), mass=0.7, position=(0.5, 0, 0.3)))
    hook = sn.World.at((0.0, 0, 1.0))
    first = scene.add(sn.Distance(upper.at((0, 0, 0.06)), hook))
    tie = scene.add(sn.Distance(lower.at((0, 0, 0.06)), upper.at((0.08, 0, 0)), bound="at_most"))
    scene.run(0.12, dt=1e-3)
    sketch = Sketch((0.25, 0, 0.58), 1.9)
    sketch.box(upper, (0.16, 0.12, 0.12))
    sketch.box(lower, (0.12, 0.12, 0.12))
    sketch.add(bar((-0.12, 0, 1.0), (0.12, 0, 1.0), 0.018, WORLD, pieces=8))
    for each in (first, tie):
        p, q = (point.position for point in each.points)
        sketch.line([p, q], HELD, 2.2)
        sketch.write(0.4 * p + 0.6 * q, "c", (14.0, -12.0), HELD)
    p, q = (point.position for point in tie.points)
    sketch.arrow(p, 0.02 * tie.force, "f", shift=(-16.0, 4.0))
    sketch.dot(p, "p", (-20.0, 10.0))
    sketch.dot(q, "q", (6.0, -20.0))
    return sketch


def fuse() -> Sketch:
    """A branch is fused to a cord between two walls."""
    scene = sn.Scene()
    trunk = scene.add(cord((-0.55, 0, 0.7), (0.55, 0, 0.7)))
    scene.add(sn.Clamp(trunk.at(0)))
    scene.add(sn.Clamp(trunk.at(trunk.length)))
    branch = scene.add(cord((0.0, 0, 0.7), (0.3, 0, 0.4)))
    joint = scene.add(sn.Fuse(branch.at(0), trunk.at(0.55)))
    scene.settle()
    sketch = Sketch((0.0, 0, 0.5), 1.75, (-0.5, -1.0, 0.34))
    sketch.rod(trunk, radius=0.013)
    sketch.rod(branch, ROD2, radius=0.012)
    for x in (-0.55, 0.55):
        sketch.add(block((np.sign(x) * 0.6, 0, 0.42), np.eye(3), (0.1, 0.2, 0.84), WORLD, pieces=12))
    p = branch.at(0).position
    sketch.arrow(p, 0.45 * joint.force, "f", shift=(14.0, -4.0))
    sketch.arc(p, joint.torque, (0.15, 0.0, -0.06), 1.9, FORCE)
    sketch.write(p, "m", (70.0, -34.0), FORCE)
    sketch.dot(p, "p = q", (-34.0, 20.0))
    return sketch


def ball_joint() -> Sketch:
    """A box hangs askew from a rope."""
    scene = sn.Scene()
    rope = scene.add(hung((-0.5, 0, 0.85), (0.5, 0, 0.85), 1.25))
    scene.add(sn.Fix(rope.at(0)))
    scene.add(sn.Fix(rope.at(rope.length)))
    box = scene.add(sn.RigidBody.box((0.18, 0.14, 0.14), mass=0.12, position=(-0.1, 0, 0.4)))
    joint = scene.add(sn.Ball(box.at((0.05, 0, 0.07)), rope.at(0.5)))
    scene.settle()
    sketch = Sketch((0.0, 0, 0.5), 1.75)
    sketch.rod(rope, radius=0.012)
    sketch.box(box, (0.18, 0.14, 0.14))
    for end in (rope.at(0), rope.at(rope.length)):
        sketch.post(end.position, 0.012)
    p = joint.points[0].position
    sketch.ball(p, 0.02, WORLD)
    sketch.arrow(p, 0.16 * joint.force, "f", shift=(14.0, -4.0))
    sketch.dot(p, "p = q", (40.0, 8.0))
    return sketch


def hinge() -> Sketch:
    """A door has been turned by a motor."""
    scene = sn.Scene(gravity=(0, 0, 0))
    door = scene.add(sn.RigidBody.box((0.46, 0.03, 0.66), mass=2.0, position=(0.23, 0, 0.37)))
    joint = scene.add(sn.Hinge(door.at((-0.23, 0, 0)), sn.World.at((0, 0, 0.37)), (0, 0, 1), motor=sn.Motor(-0.9)))
    scene.run(1.0, dt=1e-2)
    sketch = Sketch((0.12, 0, 0.42), 1.75, (-0.35, -1.0, 0.5))
    sketch.box(door, (0.46, 0.03, 0.66))
    sketch.post((-0.025, 0, 0.78), 0.016)
    p = joint.points[0].position
    sketch.axis(p, (0, 0, 1), 0.37, 0.56, "d", (14.0, 0.0))
    base = np.array((0.0, 0.0, 0.04))
    sketch.line([base, base + np.array((0.52, 0, 0))], HELD, 1.6, dashed=True)
    sketch.arc(base, (0, 0, 1), (0.5, 0, 0), joint.angle, HELD)
    half = 0.5 * joint.angle
    sketch.write(base + 0.5 * np.array((np.cos(half), np.sin(half), 0)), "angle", (36.0, 10.0), HELD)
    sketch.dot(p, "p = q", (-40.0, 0.0))
    return sketch


def prismatic() -> Sketch:
    """A carriage has been driven along its rail."""
    scene = sn.Scene(gravity=(0, 0, 0))
    cart = scene.add(sn.RigidBody.box((0.2, 0.16, 0.12), mass=1.0, position=(-0.35, 0, 0.45)))
    rail = sn.World.at((-0.35, 0, 0.45))
    joint = scene.add(sn.Prismatic(cart.at(), rail, (1, 0, 0), limits=(0, 0.85), motor=sn.Motor(0.5, max_force=20.0)))
    scene.run(1.0, dt=1e-2)
    sketch = Sketch((0.05, 0, 0.38), 1.75, (-0.35, -1.0, 0.42))
    sketch.add(bar((-0.52, 0, 0.45), (0.68, 0, 0.45), 0.016, WORLD, sides=14, pieces=40))
    for x in (-0.56, 0.72):
        sketch.add(block((x, 0, 0.28), np.eye(3), (0.08, 0.14, 0.56), WORLD, pieces=10))
    sketch.box(cart, (0.2, 0.16, 0.12))
    q, p = rail.position, cart.position
    sketch.axis(q, (1, 0, 0), 0.1, 1.2, "d", (10.0, -16.0))
    low = np.array((0, -0.1, -0.16))
    sketch.arrow(q + low, (joint.displacement, 0, 0), "", HELD, width=2.2)
    sketch.write(q + low + (0.5 * joint.displacement, 0, 0), "displacement", (0.0, 20.0), HELD)
    sketch.dot(q, "q", (0.0, -22.0))
    sketch.dot(p, "p", (0.0, -22.0))
    return sketch


def screw() -> Sketch:
    """A nut has run down its bolt by its weight."""
    scene = sn.Scene()
    lead, size = 0.2, (0.26, 0.26, 0.13)
    nut = scene.add(sn.RigidBody.box(size, mass=2.0, position=(0, 0, 0.84)))
    bolt = sn.World.at((0, 0, 0.84))
    joint = scene.add(sn.Screw(nut.at(), bolt, (0, 0, 1), lead=lead))
    while joint.displacement > -0.36:
        scene.step(2e-3)
    sketch = Sketch((0.06, 0, 0.5), 1.95, (-0.35, -1.0, 0.42))
    radius = 0.045
    sketch.add(bar((0, 0, 0), (0, 0, 0.98), 0.9 * radius, WORLD, sides=18, pieces=60))
    turns = np.linspace(0.0, 0.98 / lead, 400)
    angles = 2.0 * np.pi * turns
    thread = np.column_stack((radius * np.cos(angles), radius * np.sin(angles), lead * turns))
    sketch.add(tube(thread, 0.014, WORLD, sides=10))
    sketch.box(nut, size)
    q, p = bolt.position, nut.position
    sketch.axis(q, (0, 0, 1), 0.0, 0.22, "d", (14.0, 4.0))
    aside = np.array((0.94, -0.33, 0))  # to the right in the picture
    sketch.arrow(q + 0.3 * aside, (0, 0, joint.displacement), "", HELD, width=2.2)
    sketch.write(q + 0.3 * aside + (0, 0, 0.45 * joint.displacement), "displacement", (76.0, 0.0), HELD)
    crest = lead * np.arctan2(-aside[1], -aside[0]) / (2.0 * np.pi)
    low, high = (np.array((0, 0, crest + k * lead)) for k in range(2))
    for place in (low, high):
        sketch.line([place - 0.3 * aside, place - 1.4 * radius * aside], HELD, 1.4, dashed=True)
    sketch.line([low - 0.26 * aside, high - 0.26 * aside], HELD, 1.8)
    sketch.write(0.5 * (low + high) - 0.26 * aside, "lead", (-28.0, 0.0), HELD)
    sketch.arc(p - np.array((0, 0, 0.5 * size[2])), (0, 0, -1), (0.24, -0.06, 0), 2.2, HELD)
    sketch.write(p, "angle", (112.0, 44.0), HELD)
    sketch.arrow(p, 0.014 * joint.force, "f", shift=(-18.0, 6.0))
    sketch.dot(q, "q", (-22.0, 0.0))
    sketch.dot(p, "p", (-20.0, 8.0))
    return sketch


def wire(scene: sn.Scene) -> sn.Rod:
    """A stiff wire in a wave, held at both ends."""
    s = np.linspace(0.0, 1.0, 90)
    line = np.column_stack((1.2 * s - 0.6, 0.0 * s, 0.62 - 0.16 * np.sin(2.2 * np.pi * s) - 0.14 * s))
    steel = sn.Material(youngs_modulus=200e9, poisson_ratio=0.3, density=7850)
    rod = scene.add(sn.Rod.through(line, section=sn.Section.circle(4e-3), material=steel, control_points=40))
    scene.add(sn.Clamp(rod.at(0)))
    scene.add(sn.Clamp(rod.at(rod.length)))
    return rod


def slider() -> Sketch:
    """A box swings from a slider on a wire."""
    scene = sn.Scene()
    rod = wire(scene)
    bead = scene.add(sn.Slider(rod, 0.5, mass=0.05))
    box = scene.add(sn.RigidBody.box((0.12, 0.1, 0.1), mass=0.3, position=bead.position - (0, 0, 0.27)))
    tie = scene.add(sn.Distance(bead.at(), box.at((0, 0, 0.05))))
    scene.run(0.16, dt=1e-3)
    sketch = Sketch((0.0, 0, 0.42), 1.75)
    sketch.rod(rod, (150, 158, 168), 0.01)
    for end in (rod.at(0), rod.at(rod.length)):
        sketch.post(end.position, 0.012)
    sketch.ball(bead.position, 0.026, ROD)
    sketch.box(box, (0.12, 0.1, 0.1))
    p = bead.position
    sketch.line([point.position for point in tie.points], INK, 1.8)
    t = bead.at().frame[:, 2]
    sketch.arrow(p, 0.2 * t, "t", HELD, (14.0, -8.0), 2.4)
    line = rod.centerline(200)[: int(200 * bead.s / rod.length)] + np.array((0, 0, 0.05))
    sketch.line(line, HELD, 1.6, dashed=True)
    sketch.write(line[len(line) // 2], "s", (0.0, -18.0), HELD)
    sketch.dot(p, "p", (-20.0, 14.0))
    return sketch


def keyhole() -> Sketch:
    """A rope runs through a ring."""
    scene = sn.Scene(drag=3.0)
    hole = np.array((0.2, 0, 0.8))
    s = np.linspace(0.0, np.pi, 40)[:, None]
    arc = np.array((-0.2, 0, 0.8)) - 0.4 * np.cos(s) * (1.0, 0, 0) - 0.34 * np.sin(s) * (0, 0, 1.0)
    down = hole - np.linspace(0.02, 0.4, 20)[:, None] * (0, 0, 1.0) + (0.03, 0, 0.03)
    line = np.concatenate((arc, [hole + np.array((0.015, 0, 0.03))], down))
    rope = scene.add(sn.Rod.through(line, section=CORD, material=RUBBER, control_points=60, straight=True))
    scene.add(sn.Fix(rope.at(0)))
    load = scene.add(sn.RigidBody.sphere(0.06, mass=0.03, position=line[-1] - (0, 0, 0.06)))
    scene.add(sn.Ball(load.at((0, 0, 0.06)), rope.at(rope.length)))
    ring = scene.add(sn.Keyhole(rope, hole=hole, friction=0.5))
    scene.run(3.0, dt=2e-3)
    sketch = Sketch((-0.05, 0, 0.56), 1.75)
    sketch.rod(rope, radius=0.012)
    sketch.ball(load.position, 0.06)
    sketch.post((-0.6, 0, 0.8), 0.012)
    sketch.add(bar((0.5, 0, 0), (0.5, 0, 0.81), 0.012, WORLD, pieces=14))
    sketch.add(bar((0.5, 0, 0.8), (0.245, 0, 0.8), 0.008, WORLD))
    sketch.ring(hole, ring.slider.at().frame[:, 2], 0.04)
    sketch.arrow(hole, 0.1 * ring.force, "f", shift=(14.0, -4.0))
    sketch.dot(hole, "p = q", (44.0, -20.0))
    return sketch


def nest() -> Sketch:
    """A thin curved tube in a stiffer one."""
    scene = sn.Scene(gravity=(0, 0, 0))
    made = []
    for outer, bend, length in ((0.032, 0.8, 0.75), (0.02, 4.5, 1.25)):
        made.append(
            sn.Rod.straight(
                (-0.6, 0, 0.35), (-0.6 + length, 0, 0.35), section=sn.Section.tube(outer, 0.8 * outer),
                material=RUBBER, rest_curvature=(-bend, 0), up=(0, 0, 1),
            )
        )  # fmt: skip
    scene.add(sn.Nest(made))
    scene.settle()
    sketch = Sketch((-0.05, 0, 0.56), 1.75)
    sketch.rod(made[1], radius=0.02)
    sketch.rod(made[0], radius=0.032)
    sketch.add(bar((-0.72, 0, 0.35), (-0.58, 0, 0.35), 0.06, WORLD, pieces=4))
    return sketch


def needle() -> Sketch:
    """A curved needle has gone through a block of tissue and comes out again, its thread behind it."""
    scene = sn.Scene(gravity=(0, 0, 0), drag=20.0)
    box = trimesh.creation.box((1.5, 0.7, 0.4)).subdivide_to_size(0.14)
    held = box.vertices[:, 2] < -0.19
    pad = scene.add(sn.Zone.from_mesh(box, material=RUBBER, fixed=held), on=sn.World.at((0, 0, 0.2)))
    radius, centre, arc = 0.34, np.array((0.0, 0.0, 0.52)), 2.3

    def out(angle: float) -> np.ndarray:
        return np.array((np.cos(angle), 0.0, np.sin(angle)))

    end = np.pi + 0.2 - arc
    way = np.array((-np.sin(end), 0.0, np.cos(end)))
    line = centre + radius * out(end) - np.linspace(0.0, 0.9, 30)[:, None] * way
    thread = scene.add(sn.Rod.through(line, section=CORD, material=RUBBER, control_points=40, straight=True))
    tool = scene.add(
        sn.Needle(
            thread.at(0), pad, length=arc * radius, radius=radius, thickness=0.03, piercing=2e4, cutting=8e3,
            friction=2e4, patch=0.2, holes=2, normal=(0, -1, 0),
        )
    )  # fmt: skip
    hand = scene.add(sn.Clamp(tool.at(0.9 * tool.length)))
    start = hand.target
    for angle in np.linspace(0.0, 3.2, 1000)[1:]:
        turn = Rotation.from_rotvec((0.0, -angle, 0.0)).as_matrix()
        hand.target = sn.Pose.from_rotation(centre + turn @ (start.position - centre), turn @ start.rotation)
        scene.step(2e-3)
    sketch = Sketch((0.0, 0, 0.4), 1.75)
    skin = Skin(pad.vertices, pad.faces)
    pink = np.tile((226.0, 172.0, 156.0), (len(pad.vertices), 1))
    sketch.glass(skin.facets(pad.positions, pink), 0.7)
    curve = np.array([tool.at(s).position for s in np.linspace(tool.length, 0.0, 60)])
    thick = np.r_[np.full(48, 0.016), np.linspace(0.016, 0.002, 12)]
    sketch.add(tube(curve, thick, WORLD, sides=14))
    sketch.rod(thread, radius=0.008)
    for hole in tool.holes:
        place = hole.points[0].position
        sketch.arrow(place, -2e-5 * hole.force, "f", shift=(16.0, 0.0))
        sketch.dot(place, "p", (-20.0, 14.0))
    sketch.line(centre + radius * np.array([out(a) for a in np.linspace(0.0, 2.0 * np.pi, 90)]), HELD, 1.4, dashed=True)
    return sketch


def pearl() -> Sketch:
    """Pearls on a rope, of which the last one comes sliding."""
    scene = sn.Scene(drag=1.0)
    rope = scene.add(hung((-0.6, 0, 0.8), (0.6, 0, 0.8), 1.5))
    scene.add(sn.Fix(rope.at(0)))
    scene.add(sn.Fix(rope.at(rope.length)))
    radii = (0.05, 0.065, 0.055, 0.05, 0.05)
    places = (0.35, 0.52, 0.75, 0.98, 1.3)
    colours = ((120, 144, 172), (172, 138, 106), (128, 152, 122), (158, 132, 158), (196, 92, 80))
    pearls = [
        scene.add(sn.Pearl(rope, at=s, mass=0.01, radius=r, restitution=0.6))
        for s, r in zip(places, radii, strict=True)
    ]
    scene.run(0.2, dt=1e-3)
    sketch = Sketch((0.0, 0, 0.5), 1.75)
    sketch.rod(rope, radius=0.009)
    for each, colour in zip(pearls, colours, strict=True):
        sketch.ball(each.position, each.radius, colour)
    for end in (rope.at(0), rope.at(rope.length)):
        sketch.post(end.position, 0.012)
    fast = pearls[-1]
    sketch.arrow(fast.position, 0.15 * fast.at().velocity, "v", HELD, (-2.0, -18.0), 2.4)
    return sketch


def cable() -> Sketch:
    """A box on a cable that slides through its eye."""
    scene = sn.Scene()
    load = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=40.0, position=(-0.12, 0, 0.2)))
    ends = [sn.World.at((-0.62, 0, 0.85)), load.at((0, 0, 0.1)), sn.World.at((0.55, 0, 1.0))]
    rope = scene.add(sn.Cable(ends, stretch_stiffness=1e6))
    scene.settle()
    sketch = Sketch((0.0, 0, 0.6), 2.05)
    sketch.box(load, (0.2, 0.2, 0.2))
    sketch.add(tube(rope.path(), 0.006, WORLD, sides=10))
    for end in (ends[0], ends[2]):
        sketch.post(end.position, 0.016)
    names = (("first", (-36.0, -8.0)), ("p", (-22.0, 4.0)), ("last", (34.0, -8.0)))
    for entry, force, (name, shift) in zip(ends, rope.forces, names, strict=True):
        sketch.arrow(entry.position, 0.0009 * force, "", width=3.0)
        sketch.dot(entry.position, name, shift)
    sketch.write(0.5 * (ends[0].position + ends[1].position), "T", (-8.0, 20.0), FORCE)
    sketch.write(0.5 * (ends[2].position + ends[1].position), "T", (4.0, 22.0), FORCE)
    return sketch


def sheave() -> Sketch:
    """A cable over a wheel."""
    scene = sn.Scene()
    load = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=40.0, position=(0.37, 0, 0.25)))
    centre, radius = np.array((0.15, 0, 0.85)), 0.22
    drum = sn.Sheave(sn.World.at(centre), (0, 1, 0), radius)
    start = sn.World.at((-0.6, 0, 0.3))
    rope = scene.add(sn.Cable([start, drum, load.at((0, 0, 0.1))], stretch_stiffness=1e6))
    scene.settle()
    sketch = Sketch((-0.05, 0, 0.58), 1.9, (-0.2, -1.0, 0.22))
    sketch.wheel(centre, (0, 1, 0), radius, 0.4)
    sketch.add(tube(rope.path(), 0.008, ROD, sides=10))
    sketch.box(load, (0.2, 0.2, 0.2))
    sketch.post(start.position, 0.016)
    sketch.add(bar((0.15, 0.12, 0), (0.15, 0.12, 0.87), 0.016, WORLD, pieces=14))
    sketch.axis(centre, (0, -1, 0), 0.1, 0.0)
    inward = start.position - centre
    d = float(np.linalg.norm(inward))
    lean = np.arctan2(inward[2], inward[0]) - np.arccos(radius / d)
    first = radius * np.array((np.cos(lean), 0.0, np.sin(lean)))
    sketch.line([centre + first, centre, centre + np.array((radius, 0, 0))], HELD, 1.8, dashed=True)
    sketch.arc(centre, (0, 1, 0), 0.4 * first, drum.wrap, HELD)
    sketch.write(centre, "θ", (-2.0, -52.0), HELD)
    sketch.write(centre + np.array((0.7 * radius, 0, 0)), "r", (0.0, -12.0), HELD)
    sketch.arrow(centre, 0.0009 * rope.forces[1], "f", shift=(16.0, 0.0))
    sketch.dot(centre, "n", (18.0, 14.0))
    sketch.dot(start.position, "first", (-36.0, -8.0))
    return sketch


def load() -> Sketch:
    """A dead load and a follower load on two cords."""
    sketch = Sketch((0.12, 0, 0.4), 1.6)
    for follower, colour in ((False, ROD), (True, ROD2)):
        scene = sn.Scene(gravity=(0, 0, 0))
        rod = scene.add(cord((-0.3, 0, 0.62), (0.5, 0, 0.62)))
        scene.add(sn.Clamp(rod.at(0)))
        force = np.array((0.0, 0.0, -0.055))
        frame = rod.at(rod.length).frame
        scene.add(sn.Load(rod.at(rod.length), frame.T @ force if follower else force, follower=follower))
        scene.settle()
        sketch.rod(rod, colour, 0.012)
        p = rod.at(rod.length)
        way = p.frame @ frame.T @ force if follower else force
        sketch.arrow(p.position, 4.0 * way, "follower" if follower else "dead", shift=(8.0, 16.0))
        sketch.dot(p.position, "p", (18.0, -14.0))
    sketch.add(block((-0.37, 0, 0.37), np.eye(3), (0.14, 0.26, 0.74), WORLD, pieces=12))
    return sketch
