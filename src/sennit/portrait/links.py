"""What constraints and loads look like whose size changes: links, circles and spheres, arrows of forces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.zone.places import ZonePlaces
from sennit.constraints.join import Distance
from sennit.constraints.load import Load
from sennit.constraints.place import OnCircle, OnSphere
from sennit.portrait import colours
from sennit.portrait.marks import along
from sennit.portrait.now import SceneNow
from sennit.portrait.parts import Surface, SurfaceView, Tube, TubeView
from sennit.portrait.sizes import mark_size, rod_of, rod_radius
from sennit.portrait.solids import ball, cone, cylinder, joined
from sennit.validation import FloatArray

__all__ = ["Reader", "arrow_part", "circle_part", "link_part", "link_radius", "sphere_part"]

Reader = Callable[[Any], None]

_SAGGING = 17
"""Stations of a string that may go slack."""
_LONGEST = 0.22
"""Length of the arrow of an endless force, over the size of the scene."""


def _side(direction: FloatArray) -> tuple[float, float, float]:
    """A unit vector across `direction` (3,); plain numbers are quickest for one."""
    x, y, z = direction.tolist()
    if abs(x) <= abs(y) and abs(x) <= abs(z):
        size = math.hypot(y, z)
        return (0.0, z / size, -y / size) if size > 0.0 else (1.0, 0.0, 0.0)
    if abs(y) <= abs(z):
        size = math.hypot(x, z)
        return -z / size, 0.0, x / size
    size = math.hypot(x, y)
    return y / size, -x / size, 0.0


# ------------------------------------------------------------------------------------------------------------ links


def link_radius(p: Point, q: Point, size: float) -> float:
    """Radius of the thinner one of the rods that a link joins, m; one that can be seen, where there is none."""
    radii = [radius for radius in (rod_radius(p), rod_radius(q)) if radius > 0.0]
    return max(min(radii, default=0.004 * size), 0.0012 * size)


def link_part(link: Distance, now: SceneNow, size: float, name: str) -> tuple[Tube, Reader]:
    """A thin bar between two points; a string that is longer than their distance hangs down."""
    p, q = link.points
    string, strut = link.bound == "at_most", link.bound == "at_least"
    radius = (0.6 if string else 0.8) * link_radius(p, q, size)
    part = Tube(
        name=name, colour=colours.TIE, role="tie", opacity=0.5 if strut else 1.0, count=_SAGGING if string else 2,
        half=(radius, radius), fields=("tension",), mark=True,
    )  # fmt: skip
    number = now.span(p, q)
    share = np.linspace(0.0, 1.0, part.count)[:, None]
    arch = 4.0 * share * (1.0 - share)

    def read(view: TubeView) -> None:
        ends = now.ends[number]
        view.directors[:] = now.sides[number]
        if not string:
            view.centres[:] = ends
        else:
            a, b = ends
            view.centres[:] = a + share * (b - a)
            far = math.dist(a, b)
            spare = link.length - far
            if spare > 0.0:
                # a parabola of about this length: exact where it is nearly straight and where the ends meet
                view.centres[:] += arch * math.sqrt(0.375 * far * spare + 0.25 * spare * spare) * now.down
                _square(view)
        view.fields["tension"][:] = link.tension
        view.shown[0] = float(link.enabled and now.holds(link))

    return part, read


def _square(view: TubeView) -> None:
    """Make directors that are alike square to a line that hangs in a plane."""
    steps = np.gradient(view.centres, axis=0)
    out = np.cross(view.centres[-1] - view.centres[0], steps[0])
    size = math.hypot(*out)
    view.directors[:] = out / size if size > 0.0 else _side(steps[0])


# ---------------------------------------------------------------------------------------------- circles and spheres


def circle_part(constraint: OnCircle, now: SceneNow, size: float, name: str) -> tuple[Tube, Reader]:
    """The circle that a point is held on."""
    point, centre = constraint.points
    radius = 0.3 * mark_size(point, size)
    part = Tube(name=name, colour=colours.TIE, role="tie", count=65, half=(radius, radius), closed=True, mark=True)
    now.follow(centre)
    turn = along(constraint._row_axis(0))
    angles = np.linspace(0.0, 2.0 * math.pi, part.count)
    ring = np.stack((np.cos(angles), np.sin(angles), np.zeros(part.count)), axis=1) @ turn.T

    def read(view: TubeView) -> None:
        frame = now.frame_of(centre)
        spokes = ring @ frame.T
        view.centres[:] = now.place_of(centre) + constraint._row_target(1) * spokes
        view.directors[:] = spokes
        view.shown[0] = float(constraint.enabled and now.holds(constraint))

    return part, read


def sphere_part(constraint: OnSphere, now: SceneNow, name: str) -> tuple[Surface, Reader]:
    """The sphere that a point is held on, faintly."""
    unit = ball(1.0, 32)
    part = Surface(name=name, colour=colours.TIE, role="tie", opacity=0.16, count=len(unit.vertices), faces=unit.faces)
    centre = constraint.points[1]
    now.follow(centre)

    def read(view: SurfaceView) -> None:
        view.vertices[:] = now.place_of(centre) + constraint.radius * unit.vertices
        view.shown[0] = float(constraint.enabled and now.holds(constraint))

    return part, read


# ----------------------------------------------------------------------------------------------------------- arrows


def _typical_force(load: Load) -> float:
    """What the force of a load is compared with, N: the weight of its body, or itself where that weighs nothing."""
    body = load.point.body
    weight = 0.0 if isinstance(body, ZonePlaces) else 9.81 * float(getattr(rod_of(body) or body, "mass", 0.0))
    return weight or float(np.linalg.norm(load.force)) or 1.0


def arrow_part(load: Load, now: SceneNow, size: float, name: str) -> tuple[Surface, Reader]:
    """An arrow that points to where a force f pulls; one with two heads shows a torque by the right-hand rule.

    Its length is `_LONGEST` f/(f + f₀) of the scene's size with the weight f₀ of the body: in proportion to small
    forces, bounded for large ones. A torque counts as the force that makes it with an arm of a tenth of that size.
    """
    thick = max(0.7 * mark_size(load.point, size), 0.004 * size)
    shaft, head = cylinder(0.4 * thick, 1.0, 10).moved((0.0, 0.0, 0.5)), cone(thick, 1.0, 12)
    straight, double = joined((shaft, head)), joined((shaft, head, head))
    mesh, n = joined((straight, double)), len(straight.vertices)
    part = Surface(name=name, colour=colours.LOAD, role="tie", count=len(mesh.vertices), faces=mesh.faces)
    now.follow(load.point)
    across = mesh.vertices * (1.0, 1.0, 0.0)
    # how far up each vertex is: a share of the shaft's length and one of the head's height
    up = np.concatenate(
        [
            np.column_stack((shaft.vertices[:, 2], np.zeros(len(shaft.vertices)))),
            np.column_stack((np.ones(len(head.vertices)), head.vertices[:, 2])),
        ]
    )
    again = np.column_stack((np.ones(len(head.vertices)), head.vertices[:, 2] - 0.75))
    up = np.concatenate((up, up, again))
    scale, arm, high = _typical_force(load), 0.1 * size, 2.6 * thick

    def put(rows: slice, view: SurfaceView, start: FloatArray, pull: FloatArray, force: float) -> None:
        length = _LONGEST * size * force / (force + scale)
        head = min(high, 0.5 * length)
        local = across[rows] * (0.3 + 0.7 * head / high)
        local[:, 2] = up[rows] @ (length - head, head)
        view.vertices[rows] = start + local @ _along(pull)

    def read(view: SurfaceView) -> None:
        force, torque = load.force, load.torque
        pull, moment = math.hypot(*force.tolist()), math.hypot(*torque.tolist())
        if not (pull > 0.0 or moment > 0.0) or not load.enabled or not now.holds(load):
            view.shown[0] = 0.0
            return
        start = now.place_of(load.point)
        if load.follower:
            frame = now.frame_of(load.point)
            force, torque = frame @ force, frame @ torque
        view.vertices[:] = start  # the arrow of what is zero shrinks to a point
        if pull > 0.0:
            put(slice(0, n), view, start, force, pull)
        if moment > 0.0:
            put(slice(n, None), view, start, torque, moment / arm)

    return part, read


def _along(direction: FloatArray) -> FloatArray:
    """(3, 3): rows are unit vectors, the third along `direction`."""
    x, y, z = direction.tolist()
    size = math.hypot(x, y, z)
    x, y, z = x / size, y / size, z / size
    a, b, c = _side(direction)
    return np.array(((a, b, c), (y * c - z * b, z * a - x * c, x * b - y * a), (x, y, z)))
