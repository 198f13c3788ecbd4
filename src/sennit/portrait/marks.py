"""The marks of constraints: small solids that look like what holds a point there in the workshop.

`marks_of` and `shown_by` are registries: a kind of constraint says here what it looks like, beside the code that draws
it; one that says nothing gets the mark of all others.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sennit.bodies.zone.places import ZonePlaces
from sennit.constraints.constraint import AbstractConstraint, across
from sennit.constraints.join import Fuse
from sennit.constraints.joint import Hinge, Prismatic, Screw
from sennit.constraints.place import Align, Clamp, Fix, Follow, OnAxis, OnPlane
from sennit.constraints.seam import SeamTie
from sennit.constraints.slide import Keyhole
from sennit.portrait import colours
from sennit.portrait.looks import BARE, Finish
from sennit.portrait.now import Carried
from sennit.portrait.parts import Colour
from sennit.portrait.sizes import mark_size, rod_of, rod_radius
from sennit.portrait.solids import Mesh, ball, bevelled, box, cylinder, joined, lathe, ring
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.body import AbstractBody
    from sennit.bodies.rod.rod import Rod

__all__ = ["Mark", "along", "marks_of", "pinned_rod", "shown_by"]


@dataclass(frozen=True, eq=False, slots=True)
class Mark:
    """A solid that shows a constraint, and what carries it."""

    mesh: Mesh
    carried: Carried
    colour: Colour = colours.TIE
    opacity: float = 1.0
    finish: Finish = BARE


def along(axis: ArrayLike) -> FloatArray:
    """A rotation (3, 3) whose third column is the unit vector `axis`."""
    direction = np.asarray(axis, dtype=np.float64)
    first, second = across(direction)
    return np.column_stack((first, second, direction))


CROWD = 8
"""Pins and hands on one rod: where there are more, each is a ball, or nothing would be seen of the rod."""


def marks_of(constraint: AbstractConstraint, size: float, beside: int = 0) -> list[Mark]:
    """The marks of a constraint in a scene of `size` (m); `beside`: how many like it hold the same rod."""
    own = mark_size(constraint.points[0], size)
    if beside > CROWD:
        least = min(own, 1.4 * rod_radius(constraint.points[0]))
        return [Mark(ball(least, 12), Carried(constraint.points[1], None))]
    return _marks(constraint, own)


def pinned_rod(constraint: AbstractConstraint) -> Rod | None:
    """The rod that a pin or a hand holds, if it is one."""
    pins = isinstance(constraint, Fix | Follow) and not constraint.turns
    return rod_of(constraint.points[0].body) if pins else None


@functools.singledispatch
def _marks(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """Of a kind that has no mark of its own: a small ball in a ring, where its first point is."""
    return [Mark(_socket(0.8 * size), Carried(constraint.points[0], None))]


@_marks.register(SeamTie)
def _seam(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """Nothing: what it joins lies closed."""
    return []


@functools.singledispatch
def shown_by(constraint: AbstractConstraint) -> tuple[AbstractBody, ...]:
    """Bodies that the marks of a constraint show besides it, and that are not drawn by themselves."""
    return ()


# ---------------------------------------------------------------------------------------------- held in the world


@_marks.register(Fix)
def _fix(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """A pin with a round head on a foot; where it holds, which a soft one may be away from."""
    foot = np.array(((1.45, -2.6), (1.45, -2.35), (1.2, -2.15), (0.6, -1.85), (0.48, -1.3), (0.42, -0.6)))
    pin = lathe(size * foot[:, 0], size * foot[:, 1], 20)
    return [Mark(joined((ball(0.9 * size, 18), pin)), Carried(constraint.points[1], None))]


@_marks.register(Clamp)
def _clamp(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """Two jaws and the bolts between them."""
    gap = rod_radius(constraint.points[0])
    anchor = constraint.points[1]
    return [Mark(_jaws(size, gap), Carried(anchor, anchor))]


def _jaws(size: float, gap: float) -> Mesh:
    thick, high = 0.9 * size, gap + 0.9 * size
    parts = [
        bevelled((2.0 * gap + 2.6 * size, thick, 2.4 * size), 0.16 * size).moved((0.0, s * (gap + 0.45 * size), 0.0))
        for s in (-1, 1)
    ]
    turn = along((0.0, 1.0, 0.0))
    for s in (-1, 1):
        place = np.array((s * (gap + 0.75 * size), 0.0, 0.0))
        parts.append(cylinder(0.26 * size, 2.0 * high + 0.7 * size, 12).moved(place, turn))
        head = cylinder(0.5 * size, 0.34 * size, 6)
        parts += [head.moved((place[0], t * (high + 0.17 * size), 0.0), turn) for t in (-1, 1)]
    return joined(parts)


@_marks.register(Follow)
def _follow(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """As what it holds is held by, in the colour of what moves."""
    marks = (_clamp if constraint.turns else _fix)(constraint, size)
    return [Mark(mark.mesh, mark.carried, colours.DRIVE) for mark in marks]


@_marks.register(Align)
def _align(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """A needle along the direction, with a disc across it."""
    point, carrier = constraint.points
    needle = [cylinder(0.22 * size, 9.0 * size, 8), cylinder(1.5 * size, 0.25 * size, 20)]
    return [Mark(joined(needle), Carried(point, carrier, rotation=along(_square_axis(constraint, 0))))]


# ------------------------------------------------------------------------------------------ free along something


@_marks.register(OnPlane)
def _plane(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """Two pins that a rod runs between; a ring in the plane round a body, next to where it is now."""
    point, carrier = constraint.points
    if isinstance(point.body, ZonePlaces):
        return []  # soft solids are kept off a plane by dozens of them
    normal = constraint._row_axis(0)
    seen = carrier.frame.T @ (point.position - carrier.position)
    offset = seen + (constraint._row_target(0) - float(normal @ seen)) * normal
    inside = rod_radius(point)
    if inside > 0.0:
        way = carrier.frame.T @ point.frame[:, 2]
        up = np.cross(normal, way)
        long = math.hypot(*up)
        if long > 0.3:  # else the plane lies across the rod, which no pins would hold
            pin = joined([_pin(0.5 * size, 5.0 * size).moved((s * (inside + 0.55 * size), 0.0, 0.0)) for s in (-1, 1)])
            turn = np.column_stack((normal, np.cross(up / long, normal), up / long))
            return [Mark(pin, Carried(carrier, carrier, offset, turn))]
    return [Mark(ring(max(2.2 * size, 1.4 * inside), 0.28 * size), Carried(carrier, carrier, offset, along(normal)))]


def _pin(radius: float, length: float) -> Mesh:
    """A pin about z with a wider head at either end."""
    h, r = 0.5 * length, radius
    return lathe((1.5 * r, 1.5 * r, r, r, 1.5 * r, 1.5 * r), (-h, r - h, r - h, h - r, h - r, h), 16)


@_marks.register(OnAxis)
def _axis(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """A rail along the line and a sleeve at the point."""
    point, carrier = constraint.points
    turn = along(_square_axis(constraint, 0))
    offset = carrier.frame.T @ (point.position - carrier.position)
    rail = cylinder(0.28 * size, 24.0 * size, 10)
    sleeve = cylinder(0.9 * size, 2.4 * size, 16)
    return [
        Mark(rail, Carried(carrier, carrier, offset, turn)),
        Mark(sleeve, Carried(point, carrier, rotation=turn), colours.darker(colours.TIE, 0.25)),
    ]


@_marks.register(Keyhole)
def _keyhole(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """A ring across the rod."""
    point, hole = constraint.points
    inside = rod_radius(point)
    thick = 0.42 * size
    return [Mark(ring(max(1.15 * inside, 0.8 * size) + thick, thick), Carried(hole, point))]


@shown_by.register(Keyhole)
def _slider_in_hole(constraint: Keyhole) -> tuple[AbstractBody, ...]:
    return (constraint.slider,)


# ----------------------------------------------------------------------------------------------------------- joints


@_marks.register(Fuse)
def _fuse(constraint: AbstractConstraint, size: float) -> list[Mark]:
    """A collar on a rod, a block where there is none; of a joint that turns freely, a ball in a ring."""
    point = constraint.points[0]
    if constraint.turns:
        inside = max(map(rod_radius, constraint.points))
        if inside > 0.0:
            on = point if rod_radius(point) > 0.0 else constraint.points[1]
            return [Mark(_collar(inside, size), Carried(on, on))]
        return [Mark(bevelled(np.full(3, 2.2 * size), 0.4 * size), Carried(point, point))]
    return [Mark(_socket(size), Carried(point, constraint.points[1]))]


def _socket(size: float) -> Mesh:
    return joined((ball(0.9 * size, 14), ring(1.25 * size, 0.3 * size, 24, 8)))


def _collar(inside: float, size: float) -> Mesh:
    """A sleeve about z that a rod is held in, with rounded rims."""
    rim, out, h = inside + 0.35 * size, inside + 0.6 * size, 1.5 * size
    return lathe((inside, rim, out, out, rim, inside), (-h, -h, -0.8 * h, 0.8 * h, h, h), 22)


@_marks.register(Hinge)
def _hinge(constraint: Hinge, size: float) -> list[Mark]:
    """A pin along the axis, with a head at each end."""
    carrier = constraint.points[1]
    parts = [cylinder(0.8 * size, 4.2 * size, 18)]
    parts += [cylinder(1.15 * size, 0.5 * size, 18).moved((0.0, 0.0, s * 2.1 * size)) for s in (-1, 1)]
    colour = colours.DRIVE if constraint.driven else colours.TIE
    return [Mark(joined(parts), Carried(carrier, carrier, rotation=along(_square_axis(constraint, 3))), colour)]


@_marks.register(Prismatic)
def _prismatic(constraint: Prismatic, size: float) -> list[Mark]:
    """A rail along the axis, as long as the limits say, and a block on it."""
    point, carrier = constraint.points
    axis = _square_axis(constraint, 0)
    seen = carrier.frame.T @ (point.position - carrier.position)
    middle, length = seen, 16.0 * size
    if constraint.stops is not None:
        low, high = constraint.stops
        middle = seen + (0.5 * (low + high) - float(axis @ seen)) * axis
        length = float(high - low) + 3.0 * size
    turn = along(axis)
    rails = joined([box((0.5 * size, 0.5 * size, length)).moved((s * 0.7 * size, 0.0, 0.0)) for s in (-1, 1)])
    block = bevelled((2.6 * size, 1.1 * size, 2.4 * size), 0.14 * size)
    colour = colours.DRIVE if constraint.driven else colours.darker(colours.TIE, 0.25)
    return [
        Mark(rails, Carried(carrier, carrier, middle, turn)),
        Mark(block, Carried(point, carrier, rotation=turn), colour),
    ]


@_marks.register(Screw)
def _screw(constraint: Screw, size: float) -> list[Mark]:
    """A threaded bolt along the axis, and a nut that turns on it."""
    point, carrier = constraint.points
    axis = _square_axis(constraint, 0)
    offset = carrier.frame.T @ (point.position - carrier.position)
    bolt = lathe(np.tile((0.8, 0.55), 16) * size, np.linspace(-8.0, 8.0, 32) * size, 18)
    nut = cylinder(1.7 * size, 1.8 * size, 6)
    turn = along(point.frame.T @ carrier.frame @ axis)
    return [
        Mark(bolt, Carried(carrier, carrier, offset, along(axis))),
        Mark(nut, Carried(point, point, rotation=turn), colours.darker(colours.TIE, 0.25)),
    ]


def _square_axis(constraint: AbstractConstraint, row: int) -> FloatArray:
    """The direction that two rows of a constraint, from `row` on, are across: in the frame of its second point."""
    direction = np.cross(constraint._row_axis(row), constraint._row_axis(row + 1))
    return np.asarray(direction / max(math.hypot(*direction), 1e-300))
