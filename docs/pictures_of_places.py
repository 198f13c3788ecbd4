"""Pictures of constraints that put a point somewhere; see ``make_constraint_pictures.py``."""

from __future__ import annotations

import numpy as np
from sketching import CORD, FORCE, HELD, INK, STIFF, WORLD, Sketch, cord, hung

import sennit as sn
from sennit.export.solids import ball, bar, block

__all__ = ["align", "clamp", "fix", "follow", "onaxis", "oncircle", "onplane", "onsphere"]


def fix() -> Sketch:
    """A rope between two posts."""
    scene = sn.Scene()
    rope = scene.add(hung((0, 0, 0.72), (1.0, 0, 0.6), 1.25))
    ends = [scene.add(sn.Fix(rope.at(0))), scene.add(sn.Fix(rope.at(rope.length)))]
    scene.settle()
    sketch = Sketch((0.5, 0, 0.52), 1.9)
    sketch.rod(rope, radius=0.012)
    for end, shift in zip(ends, ((-26.0, 4.0), (26.0, 4.0)), strict=True):
        sketch.post(end.target)
        sketch.arrow(end.target, 0.22 * end.force, "f", shift=(14.0, -4.0))
        sketch.dot(end.target, "p", shift)
    return sketch


def clamp() -> Sketch:
    """A cord that stands out from a wall."""
    scene = sn.Scene()
    rod = scene.add(cord((0, 0, 0.56), (0.6, 0, 0.56)))
    hold = scene.add(sn.Clamp(rod.at(0)))
    scene.settle()
    sketch = Sketch((0.22, 0, 0.46), 1.5)
    sketch.rod(rod, radius=0.012)
    sketch.add(block((-0.07, 0, 0.35), np.eye(3), (0.14, 0.26, 0.7), WORLD, pieces=12))
    p = hold.target.position
    sketch.arrow(p, 0.4 * hold.force, "f", shift=(14.0, -2.0))
    sketch.arc(p, hold.torque, (-0.16, 0.0, 0.0), 2.2, FORCE)
    sketch.write(p, "m", (-92.0, -30.0), FORCE)
    sketch.arrow(p, (0.26, 0, 0), "d_3", HELD, (14.0, -12.0), 2.4)
    sketch.dot(p, "p", (-20.0, -18.0))
    return sketch


def align() -> Sketch:
    """A rope that leaves its post in a given direction."""
    scene = sn.Scene(drag=3.0)
    u = np.linspace(0.0, 1.0, 60)[:, None]  # a cubic with the wanted tangents at its ends
    start, end, leaving, arriving = ((0, 0, 0.55), (0.9, 0, 0.62), (1.0, 0, 0.4), (0.8, 0, 1.2))
    line = (1 + 2 * u) * (1 - u) ** 2 * np.array(start) + u * (1 - u) ** 2 * np.array(leaving)
    line = line + u**2 * (3 - 2 * u) * np.array(end) + u**2 * (u - 1) * np.array(arriving)
    rod = scene.add(sn.Rod.through(line, section=CORD, material=STIFF, control_points=40, straight=True))
    scene.add(sn.Fix(rod.at(0)))
    scene.add(sn.Fix(rod.at(rod.length)))
    hold = scene.add(sn.Align(rod.at(0), (1, 0, 0.4)))
    scene.run(4.0, dt=5e-3)
    scene.settle()
    sketch = Sketch((0.42, 0, 0.45), 1.75)
    sketch.rod(rod, radius=0.012)
    p = rod.at(0).position
    for end in (p, rod.at(rod.length).position):
        sketch.post(end, 0.012)
    sketch.axis(p, (1, 0, 0.4), 0.2, 0.5, "d", (14.0, -4.0))
    sketch.arc(p, hold.torque, (-0.12, 0, -0.12), 2.2, FORCE)
    sketch.write(p, "m", (-34.0, 76.0), FORCE)
    sketch.dot(p, "p", (20.0, 22.0))
    return sketch


def follow() -> Sketch:
    """A rope whose upper end is led round a circle."""

    def path(t: float) -> tuple[float, float, float]:
        return 0.22 * np.cos(3.0 * t), 0.22 * np.sin(3.0 * t), 0.85

    scene = sn.Scene(integrator="bdf2", drag=0.5)
    rope = scene.add(hung((0.22, 0, 0.85), (0.22, 0, 0.25), 0.6))
    lead = scene.add(sn.Follow(rope.at(0), path))
    scene.run(3.2, dt=2e-3)
    sketch = Sketch((0.0, 0, 0.6), 1.75, (-0.26, -1.0, 0.45))
    sketch.rod(rope, radius=0.012)
    circle = np.array([path(t) for t in np.linspace(0.0, 2.0 * np.pi / 3.0, 90)])
    sketch.line(circle, HELD, 1.8, dashed=True)
    p = lead.target
    way = np.array(path(scene.time + 1e-3)) - np.array(path(scene.time))
    sketch.arrow(p, 0.25 * way / np.linalg.norm(way), "path(t)", HELD, (38.0, 6.0), 2.4)
    sketch.arrow(p, 0.28 * lead.force, "f", shift=(14.0, -2.0))
    sketch.dot(p, "p", (-20.0, 12.0))
    return sketch


def onplane() -> Sketch:
    """The end of a cord rests on a sloping plane."""
    scene = sn.Scene(drag=2.0)
    n = np.array((0.35, 0.0, 1.0)) / np.hypot(0.35, 1.0)
    rod = scene.add(cord((-0.5, 0, 0.6), (0.25, 0, 0.6)))
    scene.add(sn.Clamp(rod.at(0)))
    floor = scene.add(sn.OnPlane(rod.at(rod.length), n, (0.15, 0, 0.2), bound="at_least"))
    scene.run(3.0, dt=5e-3)
    scene.settle()
    sketch = Sketch((-0.1, 0, 0.42), 1.6, (-0.3, -1.0, 0.42))
    sketch.rod(rod, radius=0.012)
    sketch.add(block((-0.57, 0, 0.35), np.eye(3), (0.14, 0.26, 0.7), WORLD, pieces=12))
    along = np.array((n[2], 0.0, -n[0]))
    centre = np.array((0.15, 0.0, 0.2))
    axes = np.stack((along, (0.0, 1.0, 0.0), n), axis=1)
    sketch.add(block(centre - 0.02 * n, axes, (0.62, 0.5, 0.004), (196, 212, 234), pieces=16))
    p = rod.at(rod.length).position
    sketch.arrow(centre + 0.22 * along - (0, 0.15, 0), 0.17 * n, "n", HELD, (14.0, -6.0), 2.4)
    sketch.arrow(p, 1.2 * floor.force, "f", shift=(14.0, -4.0))
    sketch.dot(p, "p", (20.0, 16.0))
    return sketch


def onaxis() -> Sketch:
    """The end of a cord slides on a rail."""
    scene = sn.Scene()
    rod = scene.add(cord((-0.5, 0, 0.6), (0.4, 0, 0.6)))
    scene.add(sn.Clamp(rod.at(0)))
    rail = scene.add(sn.OnAxis(rod.at(rod.length), (1, 0, 0.25), (0.3, 0, 0.45)))
    scene.settle()
    sketch = Sketch((0.0, 0, 0.45), 1.75)
    sketch.rod(rod, radius=0.012)
    d = np.array((1, 0, 0.25)) / np.hypot(1, 0.25)
    p = rod.at(rod.length).position
    start, end = p - 0.45 * d, p + 0.45 * d
    sketch.add(bar(start, end, 0.006, (150, 172, 204), pieces=30))
    sketch.ball(p, 0.022, WORLD)
    sketch.add(block((-0.57, 0, 0.37), np.eye(3), (0.14, 0.26, 0.74), WORLD, pieces=12))
    sketch.axis(p, d, 0.5, 0.5, "d", (14.0, -2.0))
    sketch.arrow(p, 0.7 * rail.force, "f", shift=(14.0, -4.0))
    sketch.dot(p, "p", (4.0, 26.0))
    return sketch


def onsphere() -> Sketch:
    """A bob swings about a centre."""
    scene = sn.Scene()
    bob = scene.add(sn.RigidBody.sphere(0.05, mass=0.5, position=(0.24, -0.2, 0.42)))
    centre = (0.0, 0.0, 0.65)
    radius = float(np.linalg.norm(bob.position - centre))
    hold = scene.add(sn.OnSphere(bob.at(), centre, radius))
    bob.velocity = (0.55, 0.62, 0.0)
    trail = [bob.position]
    scene.run(0.5, dt=2e-3, each=lambda s: trail.append(bob.position))
    sketch = Sketch((0.0, 0, 0.62), 1.9)
    sketch.ball(bob.position, 0.05)
    sketch.glass(ball(centre, radius, HELD, sides=60, gloss=0.4), 0.25)
    sketch.line([centre, bob.position], HELD, 1.8, dashed=True)
    sketch.line(trail, INK, 1.4)
    p = bob.position
    sketch.write(0.3 * p + 0.7 * np.array(centre), "c", (16.0, 8.0), HELD)
    sketch.arrow(p, 0.026 * hold.force, "f", shift=(-10.0, -12.0))
    sketch.dot(centre, "q", (4.0, -20.0))
    sketch.dot(p, "p", (18.0, 16.0))
    return sketch


def oncircle() -> Sketch:
    """A bead slides on a tilted hoop."""
    scene = sn.Scene()
    n = np.array((0.25, 0.3, 1.0)) / np.linalg.norm((0.25, 0.3, 1.0))
    centre = np.array((0.0, 0.0, 0.5))
    side = np.cross(n, (0.0, 1.0, 0.0))
    side /= np.linalg.norm(side)
    bead = scene.add(sn.RigidBody.sphere(0.045, mass=0.4, position=centre + 0.36 * side))
    ring = scene.add(sn.OnCircle(bead.at(), centre, n, 0.36))
    scene.run(0.42, dt=2e-3)
    sketch = Sketch((0.0, 0, 0.5), 1.7, (-0.3, -1.0, 0.62))
    sketch.ring(centre, n, 0.36, (150, 172, 204))
    sketch.ball(bead.position, 0.045)
    p = bead.position
    sketch.axis(centre, n, 0.0, 0.3, "n", (14.0, 0.0))
    sketch.line([centre, p], HELD, 1.8, dashed=True)
    sketch.write(0.5 * (p + centre), "c", (-2.0, 20.0), HELD)
    sketch.arrow(p, 0.05 * ring.force, "f", shift=(14.0, -4.0))
    sketch.dot(centre, "q", (-16.0, -10.0))
    sketch.dot(p, "p", (22.0, 12.0))
    return sketch
