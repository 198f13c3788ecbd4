"""What it takes to make a cable: checks of what users gave, and its tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit import validation
from sennit.bodies.rigid.body import RigidBody
from sennit.constraints.cable.kernels import tables as columns
from sennit.constraints.cable.sheave import Sheave
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.point.point import Point
from sennit.validation import quoted

__all__ = [
    "check_apart",
    "check_clear",
    "checked_entries",
    "checked_obstacles",
    "fresh_tables",
    "or_infinite",
    "point_of",
    "stiffen",
]

_SHAPES = {"box": columns.EDGE, "cylinder": columns.CYLINDER, "sphere": columns.SPHERE}
_ROOM = {"box": 16, "cylinder": 2, "sphere": 2}
"""Places that a cable may bend at on one body."""


def fresh_tables(
    entries: Sequence[Point | Sheave], obstacles: Sequence[RigidBody], twists: bool
) -> dict[str, Any]:  # fmt: skip
    """The tables of a cable through `entries`, numbered from 0, before its path is known."""
    n = len(entries)
    room = n + sum(_ROOM[body.form["kind"]] for body in obstacles)
    ints = np.zeros((room, columns.ELEMENT_INTS), np.int64)
    floats = np.zeros((room, columns.ELEMENT_FLOATS))
    state = np.zeros((room, columns.ELEMENT_STATE))
    ints[:, columns.OBSTACLE] = ints[:, columns.EDGE_NUMBER] = -1
    state[:n, columns.ON] = 1.0
    for i, entry in enumerate(entries):
        if isinstance(entry, Sheave):
            ints[i, columns.KIND] = columns.SHEAVE
            ints[i, columns.DIVIDES], ints[i, columns.ROTOR] = int(entry.divides), int(entry.turning)
            floats[i, columns.AXIS : columns.AXIS + 3] = entry._axis
            floats[i, columns.MARK : columns.MARK + 3] = entry._mark
            floats[i, columns.RADIUS], floats[i, columns.SENSE] = entry.radius, 1.0
            floats[i, columns.INERTIA], floats[i, columns.MU] = entry.inertia, entry.friction
    parts = 1 + int(ints[:n, columns.DIVIDES].sum())
    rows = parts + int(twists)
    row_ints = np.zeros((rows, columns.CABLE_ROW_INTS), np.int64)
    row_ints[:, columns.ROW_PART] = np.arange(rows)
    row_state = np.zeros((rows, columns.CABLE_ROW_STATE))
    row_state[:parts, columns.SIDE] = -1.0
    if twists:
        row_ints[-1, columns.ROW_PART] = -1
    cable = np.zeros((1, columns.CABLE_INTS), np.int64)
    cable[0, [columns.COUNT, columns.ROOM, columns.PARTS, columns.OBSTACLES]] = n, room, parts, len(obstacles)
    cable[0, columns.TWIST_ROW] = parts if twists else -1
    shapes = [(0, _SHAPES[body.form["kind"]]) for body in obstacles]
    sizes = [_sizes(body.form) for body in obstacles]
    return {
        "cable_ints": cable,
        "cable_floats": np.zeros((1, columns.CABLE_FLOATS)),
        "ends": np.zeros((1, columns.CABLE_ENDS)),
        "cable_state": np.zeros((1, columns.CABLE_STATE)),
        "element_ints": ints,
        "element_floats": floats,
        "element_state": state,
        "element_place": np.zeros((room, columns.ELEMENT_PLACE)),
        "obstacle_ints": np.array(shapes, np.int64).reshape(-1, columns.OBSTACLE_INTS),
        "obstacle_floats": np.array(sizes, float).reshape(-1, columns.OBSTACLE_FLOATS),
        "row_ints": row_ints,
        "row_state": row_state,
    }


def stiffen(
    f: Any, length: float, section: Section | None, material: Material | None, stretch: float | None,
    twist: float | None, damping: float, twist_damping: float,
) -> None:  # fmt: skip
    """Write EA, GJ and the times of the dampers of a cable of `length` (m) to its numbers `f`."""
    c = validation.number("damping", damping, minimum=0.0)
    k = validation.number("twist_damping", twist_damping, minimum=0.0)
    if section is not None or material is not None:
        if not isinstance(section, Section) or not isinstance(material, Material):
            raise InputError(
                "a cable needs both a section and a material, or stretch_stiffness in place of them, got "
                f"section={quoted(section)}, material={quoted(material)}"
            )
        for name, given in (("stretch_stiffness", stretch), ("twist_stiffness", twist)):
            if given is not None:
                raise InputError(f"give section and material, or stiffnesses, not both, got {name}={quoted(given)}")
        f[columns.EA] = material.youngs_modulus * section.area
        f[columns.GJ] = material.shear_modulus * section.J
        relaxation = material.relaxation_time
    else:
        if stretch is None:
            raise InputError("a cable needs section= and material=, or stretch_stiffness= (N/m), got neither")
        f[columns.EA] = length * _stiffness("stretch_stiffness", stretch)
        f[columns.GJ] = length * _stiffness("twist_stiffness", twist) if twist is not None else math.inf
        relaxation = 0.0
    f[columns.TAU] = relaxation + (c * length / f[columns.EA] if c > 0.0 else 0.0)
    f[columns.TWIST_TAU] = relaxation + (k * length / f[columns.GJ] if k > 0.0 else 0.0)


def checked_entries(points: object) -> list[Point | Sheave]:
    """What users gave as the points of a cable, checked."""
    entries = validation.listed("points", points, (Point, Sheave), "points and sheaves")
    if len(entries) < 2:
        raise InputError(f"a cable needs two points or more, got {len(entries)}: {quoted(entries)}")
    for i, entry in enumerate(entries):
        if isinstance(entry, Sheave) and i in (0, len(entries) - 1):
            which = "first" if i == 0 else "last"
            raise InputError(f"the {which} entry of a cable must be a point, got {entry!r} as points[{i}]")
        if isinstance(entry, Sheave) and (entry._cable is not None or entry in entries[:i]):
            raise InputError(f"{entry!r} is an entry of a cable already: make another one for points[{i}]")
    for i, (a, b) in enumerate(zip(entries[:-1], entries[1:], strict=True)):
        if isinstance(a, Point) and isinstance(b, Point):
            gap = float(np.linalg.norm(a.position - b.position))
            if gap < 1e-9:
                place = np.round(a.position, 6).tolist()
                raise InputError(f"points[{i}] and points[{i + 1}] are at the same place, {place}: leave one out")
    return entries


def checked_obstacles(around: object) -> list[RigidBody]:
    """What users gave as bodies that a cable may lie on, checked."""
    bodies = validation.listed("around", around, (RigidBody,), "rigid boxes, cylinders and spheres")
    for body in bodies:
        if body.form["kind"] not in _SHAPES:
            raise InputError(f"around takes rigid boxes, cylinders and spheres, got {quoted(body)}")
    return bodies


def check_clear(sheave: Sheave, before: Point, after: Point) -> None:
    """Raise if a sheave's neighbours lie within its radius."""
    axis = sheave.point.frame @ sheave._axis
    for point in (before, after):
        gap = point.position - sheave.point.position
        off = float(np.linalg.norm(gap - (gap @ axis) * axis))
        if off <= sheave.radius and point is not sheave.point:
            raise InputError(
                f"{point!r} lies within the radius of {sheave!r}, {off:g} m from its axis: no cable can reach it there"
            )


def check_apart(first: Sheave, second: Sheave) -> None:
    """Raise if two sheaves in one plane, one after the other, leave the cable no way between them."""
    axes = [sheave.point.frame @ sheave._axis for sheave in (first, second)]
    along = float(axes[0] @ axes[1])
    gap = second.point.position - first.point.position
    off = float(np.linalg.norm(gap - (gap @ axes[0]) * axes[0]))
    needed = abs(first.radius - second.radius) if along > 0.0 else first.radius + second.radius
    if abs(along) > 0.9 and off <= needed:
        raise InputError(f"{second!r} is {off:g} m from {first!r}: a cable between them needs more than {needed:g} m")


def point_of(entry: Point | Sheave) -> Point:
    """The point of an entry: a sheave's is its centre."""
    return entry.point if isinstance(entry, Sheave) else entry


def _sizes(form: dict[str, Any]) -> tuple[float, float, float]:
    if form["kind"] == "box":
        x, y, z = form["size"]
        return 0.5 * x, 0.5 * y, 0.5 * z
    return form["radius"], 0.5 * form.get("length", 0.0), 0.0


def _stiffness(name: str, value: object) -> float:
    if validation.infinite(value):
        return math.inf
    found = validation.number(name, value, positive=True)
    if math.isinf(1.0 / found):
        raise InputError(f"{name} must have an inverse, the compliance, got {quoted(value)}")
    return found


def or_infinite(name: str, value: object) -> float:
    """A positive number; infinite if none was given."""
    return math.inf if value is None else validation.number(name, value, positive=True)
