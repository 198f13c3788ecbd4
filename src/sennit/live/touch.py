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

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.join import Lock
from sennit.constraints.joint import Hinge, Prismatic, Screw
from sennit.constraints.place import Clamp
from sennit.portrait.sizes import rod_of
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["Feel", "Touch", "feel_of", "holds_whole", "touch_for"]

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
    together = _tied_to(scene, point.body)
    load = _Load(
        mass=sum(_mass(other) for other in together),
        size=max(_extent(together), 1e-6),
        gravity=max(float(np.linalg.norm(scene.gravity)), 0.1 * STANDARD),
        bending=sum(feel_of(other).bending for other in together),
    )
    body = rod_of(point.body) or point.body
    feel = feel_of(body)
    stiffness = load.mass * max(QUICK**2, 100.0 * load.gravity / load.size) + feel.stiffness
    own = max(_mass(body), 1e-3 * load.mass, 1e-6)
    force = min(30.0 * load.mass * load.gravity + 0.2 * stiffness * load.size, feel.strongest(load))
    return Touch(stiffness, 1.4 * math.sqrt(stiffness * own), force)


@dataclass(frozen=True, slots=True)
class _Load:
    """What hangs together with the grabbed body: mass (kg), extent (m), gravity (m/s²), and Σ EI/ℓ³ of rods (N/m)."""

    mass: float
    size: float
    gravity: float
    bending: float


def _unlimited(load: _Load) -> float:
    return math.inf


# ---------------------------------------------------------------------------------------------------- kinds of bodies


@dataclass(frozen=True, eq=False, slots=True)
class Feel:
    """What a hand feels of a body."""

    corners: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    """(k, 3), m: the box round them is as large as the body."""
    stiffness: float = 0.0
    """What a hand that grabs it is stiffer by, N/m."""
    bending: float = 0.0
    """EI/ℓ³ of a rod, N/m."""
    carriers: tuple[Any, ...] = ()
    """Bodies that it goes with, whatever constraints there are."""
    whole: bool = False
    """Whether a joint that holds a point of it holds all of it."""
    strongest: Callable[[_Load], float] = _unlimited
    """The greatest force on it, N."""


@functools.singledispatch
def feel_of(body: Any) -> Feel:
    """What a hand feels of `body`: a registry of kinds; of what is unknown, its mass alone."""
    return Feel()


@feel_of.register(Rod)
def _feel_rod(rod: Rod) -> Feel:
    pull, *bends = rod.stiffness[:3].tolist()
    bending = float(max(bends))
    return Feel(
        rod.control_points,
        100.0 * bending / rod.length**3,
        bending / rod.length**3,
        # stretched by a tenth at most, however much hangs on it
        strongest=lambda load: max(0.1 * pull, 2.0 * load.mass * load.gravity),
    )


@feel_of.register(RigidBody)
def _feel_rigid(body: RigidBody) -> Feel:
    # A body as long as its mass is spread: its radius of gyration, twice
    reach = 2.0 * math.sqrt(float(np.trace(body.inertia)) / (2.0 * body.mass))
    return Feel(
        np.stack((body.position - reach, body.position + reach)),
        whole=True,
        # what it is tied to, such as a cable over sheaves, is not to be torn apart
        strongest=lambda load: 2.0 * load.mass * load.gravity + 2.0 * load.bending * load.size,
    )


@feel_of.register(Slider)
def _feel_slider(slider: Slider) -> Feel:
    return Feel(carriers=(slider.rod,))


@feel_of.register(ZonePlaces)
def _feel_zone(zone: Any) -> Feel:
    corner, carrier = zone.pose.position, zone.on.body
    return Feel(
        np.stack((corner, corner + zone.extent)),
        0.1 * zone.material.youngs_modulus * zone.extent,
        carriers=() if carrier is None else (carrier,),
    )


def _mass(body: Any) -> float:
    return 0.0 if isinstance(body, ZonePlaces) else float(getattr(body, "mass", 0.0))  # zones do not move by theirs


def _extent(bodies: list[Any]) -> float:
    """Diagonal of the box around all of `bodies`, m."""
    places = np.concatenate([np.zeros((0, 3)), *(feel_of(body).corners for body in bodies)])
    return float(np.linalg.norm(places.max(axis=0) - places.min(axis=0))) if len(places) else 0.0


# ------------------------------------------------------------------------------------------------- what goes together


def _tied_to(scene: Scene, body: Any) -> list[Any]:
    """`body` and all bodies that constraints tie to it, directly or through others."""
    neighbours: dict[int, dict[Any, None]] = {}  # in an order that is the same in every run, as a set's is not
    for constraint in scene.constraints:
        bodies = dict.fromkeys(point.body for point in constraint.points if point.body is not None)
        for one in bodies:
            neighbours.setdefault(id(one), {}).update(bodies)
    for other in scene.bodies:
        for carrier in feel_of(other).carriers:
            neighbours.setdefault(id(other), {})[carrier] = None
            neighbours.setdefault(id(carrier), {})[other] = None
    held = _held_by_the_world(scene)
    found, pending = {id(body): body}, [body]
    while pending:
        for other in neighbours.get(id(pending.pop()), ()):
            if id(other) not in found and id(other) not in held:
                found[id(other)] = other
                pending.append(other)
    return list(found.values())


@functools.singledispatch
def holds_whole(constraint: AbstractConstraint) -> bool:
    """Whether a constraint between a body and the world bears the body, so that no hand has to carry it."""
    return False


@holds_whole.register(Clamp)
@holds_whole.register(Lock)
@holds_whole.register(Hinge)
@holds_whole.register(Prismatic)
@holds_whole.register(Screw)
def _bears(constraint: AbstractConstraint) -> bool:
    return True


def _held_by_the_world(scene: Scene) -> set[int]:
    """Rigid bodies, by id, that joints hold to the world, directly or through others: no hand has to carry them."""
    held: set[int] = set()
    joints = [c for c in scene.constraints if holds_whole(c) and c.enabled]
    whole = {id(body) for body in scene.bodies if feel_of(body).whole}
    for _ in joints:
        before = len(held)
        for joint in joints:
            bodies = [point.body for point in joint.points]
            if any(other is None or id(other) in held for other in bodies):
                held.update(id(other) for other in bodies if id(other) in whole)
        if len(held) == before:
            break
    return held
