"""How firmly a mouse holds: the virtual coupling between the cursor and the place that it grabbed.

A hand that is to hold what hangs at it must be stiffer than that, and still never tear at it. For the grabbed body and
all that constraints tie to it and no joint holds to the world, of mass m and extent L, under gravity g::

    k = m max(ω², 100 g/L) + 100 Σ EI/ℓ³ + E a / 10 (zones)     the load sags by at most a hundredth of L
    b = 1.4 √(k m₁)                                            m₁: mass of the grabbed body; well damped
    F ≤ 30 m g + k L / 5                                       greatest force of spring and of damper each

with ℓ the length of a grabbed rod and a the extent of a grabbed zone. A grabbed rod is pulled with at most EA/10, or
2 m g if that is more; a grabbed rigid body with at most 2 m g + 2 L Σ EI/ℓ³, ℓ the lengths of the rods that it is tied
to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.constraints.join import Lock
from sennit.constraints.joint import Hinge, Prismatic
from sennit.constraints.place import Clamp
from sennit.scene.scene import Scene

__all__ = ["Touch", "touch_for"]

QUICK = 2.0 * math.pi * 2.5  # 1/s: how fast what is held follows, at least
STANDARD = 9.81  # m/s²


@dataclass(frozen=True, slots=True)
class Touch:
    """A spring and a damper: `stiffness` (N/m), `damping` (N·s/m), and the greatest `force` (N) of each."""

    stiffness: float
    damping: float
    force: float

    @property
    def reach(self) -> float:
        """How far the spring can be pulled, m."""
        return self.force / self.stiffness

    @property
    def fastest(self) -> float:
        """How fast the hand can move, m/s."""
        return self.force / self.damping


def touch_for(scene: Scene, point: Point) -> Touch:
    """The coupling for a hand that holds `point` of `scene`."""
    body = point.body
    together = _tied_to(scene, body)
    mass = sum(_mass(other) for other in together)
    size = max(_extent(together), 1e-6)
    gravity = max(float(np.linalg.norm(scene.gravity)), 0.1 * STANDARD)
    stiffness = mass * max(QUICK**2, 100.0 * gravity / size)
    if isinstance(body, Slider):
        body = body.rod
    if isinstance(body, Rod):
        stiffness += 100.0 * _bending(body) / body.length**3
    elif isinstance(body, ZonePlaces):
        stiffness += 0.1 * body.material.youngs_modulus * body.extent  # type: ignore[attr-defined]
    own = max(_mass(body), 1e-3 * mass, 1e-6)
    force = 30.0 * mass * gravity + 0.2 * stiffness * size
    if isinstance(body, Rod):  # stretched by a tenth at most, however much hangs on it
        force = min(force, max(0.1 * float(body._tables.stretch_stiffness), 2.0 * mass * gravity))
    elif isinstance(body, RigidBody):  # what it is tied to, such as a cable over sheaves, is not to be torn apart
        bending = sum(_bending(rod) / rod.length**3 for rod in together if isinstance(rod, Rod))
        force = min(force, 2.0 * mass * gravity + 2.0 * bending * size)
    return Touch(stiffness, 1.4 * math.sqrt(stiffness * own), force)


def _tied_to(scene: Scene, body: Any) -> list[Any]:
    """`body` and all bodies that constraints tie to it, directly or through others."""
    neighbours: dict[int, set[Any]] = {}
    for constraint in scene.constraints:
        bodies = {point.body for point in constraint.points if point.body is not None}
        for one in bodies:
            neighbours.setdefault(id(one), set()).update(bodies)
    for other in scene.bodies:
        carriers: tuple[Any, ...] = ()
        if isinstance(other, Slider):
            carriers = (other.rod,)
        elif isinstance(other, ZonePlaces) and other.on.body is not None:
            carriers = (other.on.body,)
        for carrier in carriers:
            neighbours.setdefault(id(other), set()).add(carrier)
            neighbours.setdefault(id(carrier), set()).add(other)
    held = _held_by_the_world(scene)
    found, pending = {id(body): body}, [body]
    while pending:
        for other in neighbours.get(id(pending.pop()), ()):
            if id(other) not in found and id(other) not in held:
                found[id(other)] = other
                pending.append(other)
    return list(found.values())


def _held_by_the_world(scene: Scene) -> set[int]:
    """Rigid bodies, by id, that joints hold to the world, directly or through others: no hand has to carry them."""
    held: set[int] = set()
    joints = [c for c in scene.constraints if isinstance(c, Clamp | Lock | Hinge | Prismatic) and c.enabled]
    for _ in joints:
        before = len(held)
        for joint in joints:
            bodies = [point.body for point in joint.points]
            if any(other is None or id(other) in held for other in bodies):
                held.update(id(other) for other in bodies if isinstance(other, RigidBody))
        if len(held) == before:
            break
    return held


def _bending(rod: Rod) -> float:
    """The larger bending stiffness, N·m²."""
    return float(max(rod._tables.bend_stiffness))


def _mass(body: Any) -> float:
    return float(body.mass) if isinstance(body, Rod | RigidBody | Slider) else 0.0


def _extent(bodies: list[Any]) -> float:
    """Diagonal of the box around all of `bodies`, m."""
    points = []
    for body in bodies:
        if isinstance(body, Rod):
            points.append(body.control_points)
        elif isinstance(body, RigidBody):
            # A body as long as its mass is spread: its radius of gyration, twice
            reach = 2.0 * math.sqrt(float(np.trace(body.inertia)) / (2.0 * body.mass))
            points += [body.position[None] - reach, body.position[None] + reach]
        elif isinstance(body, ZonePlaces):
            points += [body.pose.position[None], body.pose.position[None] + body.extent]
    if not points:
        return 0.0
    places = np.concatenate(points)
    return float(np.linalg.norm(places.max(axis=0) - places.min(axis=0)))
