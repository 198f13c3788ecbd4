"""What the checks of hoisting cables share: loads, plain cables, energy at a step's end."""

from __future__ import annotations

from typing import Any

import numpy as np

import sennit as sn

G = 9.81
H = 1 / 60
STEEL = sn.Material(200e9, 0.3, 7850)
ROPE = sn.Section.circle(5e-3)
EA = 200e9 * np.pi * 25e-6


def ball(scene: sn.Scene, mass: float, position, velocity=(0.0, 0.0, 0.0), radius: float = 0.1) -> sn.RigidBody:
    """A load in the scene, to be held by its centre: it does not turn."""
    body = scene.add(sn.RigidBody.sphere(radius, mass=mass, position=position))
    body.velocity = velocity
    return body


def rope(points, stiffness: float, **options: Any) -> sn.Cable:
    """A cable of given stiffness that does not resist twist."""
    return sn.Cable(points, stretch_stiffness=stiffness, torsion=False, **options)


def hung(mass: float = 1000.0, length: float = 4.0, stiffness: float | None = None, slack: float = 0.0,
         settled: bool = False, scene: sn.Scene | None = None, **options: Any):  # fmt: skip
    """A load under the origin: scene, ball, cable. Without `stiffness` the cable is steel, 10 mm thick.

    The ball starts `length` below the anchor, `slack` metres short of what the cable has; `settled`: lower by m g/k.
    """
    scene = sn.Scene() if scene is None else scene
    k = EA / (length + slack) if stiffness is None else stiffness
    body = ball(scene, mass, (0, 0, -length - (mass * G / k if settled else 0.0)))
    points = [sn.World.at((0, 0, 0)), body.at()]
    if stiffness is None:
        cable = sn.Cable(points, ROPE, STEEL, length=length + slack, **options)
    else:
        cable = rope(points, stiffness, length=length + slack, **options)
    return scene, body, scene.add(cable)


def path_of(cable: sn.Cable) -> float:
    """Length of the polyline that is drawn."""
    return float(np.linalg.norm(np.diff(np.asarray(cable.path()), axis=0), axis=1).sum())


def energy(scene: sn.Scene, h: float) -> float:
    """Energy at the end of a step, less what the scheme's half step between places and velocities makes of it.

    A step adds h g to the velocities and then moves by h v: in free flight kinetic + potential energy falls by
    m g² h²/2 a step, whereas this, E + (h/2) g·P, stays the same to rounding.
    """
    return scene.energy.total + 0.5 * h * float(scene.gravity @ scene.linear_momentum)


def kinds(scene: sn.Scene) -> list[str]:
    """Kinds of the events so far."""
    return [event.kind for event in scene.events]
