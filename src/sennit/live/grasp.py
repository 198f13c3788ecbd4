"""Where a hand takes hold of what is seen, and which points of the world a gizmo moves.

`point_at` and `handle_points` are registries: a body says here where it can be grabbed, a constraint which of its
points are handles. What is unknown can't be dragged, and has no handles.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from sennit import validation
from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.constraints.cable.cable import Cable
from sennit.constraints.cable.sheave import Sheave
from sennit.constraints.constraint import AbstractConstraint
from sennit.constraints.join import Distance, Fuse
from sennit.constraints.place import Clamp, Fix
from sennit.constraints.slide import Keyhole
from sennit.errors import InputError
from sennit.live.play import Place

__all__ = ["handle_points", "point_at"]


@functools.singledispatch
def point_at(subject: Any, part: Any, place: Place) -> Point:
    """The material point at `place` of a part of the picture that shows `subject`."""
    name = getattr(subject, "name", None)
    raise InputError(f"{name or 'this'} can't be dragged: only bodies can")


_refused = point_at.dispatch(object)


@point_at.register(Slider)
def _on_slider(subject: Slider, part: Any, place: Place) -> Point:
    return subject.at()


@point_at.register(Sheave)
def _on_sheave(subject: Sheave, part: Any, place: Place) -> Point:
    return subject.point


@point_at.register(Rod)
def _on_rod(subject: Rod, part: Any, place: Place) -> Point:
    if part.kind != "tube":
        return _refused(subject, part, place)
    return subject.at(min(max(validation.number("place", place), 0.0), 1.0) * subject.length)


@point_at.register(RigidBody)
def _on_rigid(subject: RigidBody, part: Any, place: Place) -> Point:
    if part.kind != "solid":
        return _refused(subject, part, place)
    return subject.at(validation.vector("place", place))


@point_at.register(ZonePlaces)
def _on_zone(subject: ZonePlaces, part: Any, place: Place) -> Point:
    if part.kind != "surface":
        return _refused(subject, part, place)
    vertex = validation.count("place", place, 0)
    if vertex >= part.count:
        raise InputError(f"there is no vertex {vertex}")
    return subject.at(vertex)


@point_at.register(Cable)
def _on_cable(subject: Cable, part: Any, place: Place) -> Point:
    raise InputError(f"{subject.name} has no mass of its own to hold: drag what hangs on it")


# ---------------------------------------------------------------------------------------------------------- handles


@functools.singledispatch
def handle_points(constraint: AbstractConstraint) -> Sequence[Point]:
    """Points of a constraint that gizmos move, as far as they are of the world."""
    return ()


@handle_points.register(Fix)
@handle_points.register(Clamp)
def _target(constraint: AbstractConstraint) -> Sequence[Point]:
    return constraint.points[1:]


@handle_points.register(Cable)
@handle_points.register(Fuse)
@handle_points.register(Distance)
@handle_points.register(Keyhole)
def _all_points(constraint: AbstractConstraint) -> Sequence[Point]:
    return constraint.points
