"""What constraints and loads look like whose size changes: links, circles and spheres, arrows of forces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sennit.constraints.join import Distance
from sennit.constraints.load import Load
from sennit.constraints.place import OnCircle, OnSphere
from sennit.constraints.rows.kernels import AXIS
from sennit.portrait import colours
from sennit.portrait.marks import along
from sennit.portrait.now import SceneNow
from sennit.portrait.parts import Surface, SurfaceView, Tube, TubeView
from sennit.portrait.sizes import mark_size
from sennit.portrait.solids import ball, cone, cylinder, joined
from sennit.scene import Scene
from sennit.validation import FloatArray

__all__ = ["Reader", "arrow_part", "circle_part", "link_part", "sphere_part", "weight"]

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


def link_part(link: Distance, now: SceneNow, size: float, name: str) -> tuple[Tube, Reader]:
    """A thin bar between two points; a string that is longer than their distance hangs down."""
    p, q = link.points
    string = bool(link._ints[0, 6] < 0 and link._floats[0, 18] < 0.0)  # bounded from above
    strut = bool(link._ints[0, 6] < 0 and not string)
    radius = (0.3 if string else 0.4) * min(mark_size(p, size), mark_size(q, size))
    part = Tube(
        name=name, colour=colours.TIE, role="tie", opacity=0.5 if strut else 1.0, count=_SAGGING if string else 2,
        half=(radius, radius), fields=("tension",),
    )  # fmt: skip
    now.follow(p, q)
    share = np.linspace(0.0, 1.0, part.count)[:, None]
    arch = 4.0 * share * (1.0 - share)

    def read(view: TubeView) -> None:
        a, b = now.place_of(p), now.place_of(q)
        view.centres[:] = a + share * (b - a)
        view.directors[:] = _side(b - a)
        if string:
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
    part = Tube(name=name, colour=colours.TIE, role="tie", count=65, half=(radius, radius), closed=True)
    now.follow(centre)
    turn = along(constraint._floats[0, AXIS : AXIS + 3])
    angles = np.linspace(0.0, 2.0 * math.pi, part.count)
    ring = np.stack((np.cos(angles), np.sin(angles), np.zeros(part.count)), axis=1) @ turn.T

    def read(view: TubeView) -> None:
        frame = now.frame_of(centre)
        spokes = ring @ frame.T
        view.centres[:] = now.place_of(centre) + constraint._floats[1, 6] * spokes
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


def weight(scene: Scene) -> float:
    """The weight of all that moves, N, or the largest load if that is more: what forces are compared with."""
    masses = sum(float(getattr(body, "mass", 0.0)) for body in scene.bodies)
    gravity = float(np.linalg.norm(scene.gravity)) or 9.81
    largest = max((float(np.linalg.norm(load.force)) for load in scene.loads), default=0.0)
    return max(masses * gravity, largest) or 1.0


def arrow_part(load: Load, now: SceneNow, size: float, scale: float, name: str) -> tuple[Surface, Reader]:
    """An arrow that ends where a force f pulls to; one with two heads shows a torque by the right-hand rule.

    Its length is `_LONGEST` f/(f + scale) of the scene's size: in proportion to small forces, bounded for large ones.
    A torque counts as the force that makes it with an arm of a tenth of that size.
    """
    thick = max(0.6 * mark_size(load.point, size), 0.004 * size)
    shaft, head = cylinder(0.4 * thick, 1.0, 10).moved((0.0, 0.0, 0.5)), cone(thick, 1.0, 12)
    # of each vertex: radius and direction stay; z is a share of the shaft's length and one of the head's
    straight, double = joined((shaft, head)), joined((shaft, head, head))
    mesh = joined((straight, double))
    n, m = len(straight.vertices), len(double.vertices)
    body = np.concatenate((shaft.vertices[:, 2], np.ones(len(head.vertices))))
    tip = np.concatenate((np.zeros(len(shaft.vertices)), head.vertices[:, 2]))
    second = np.concatenate((body, np.ones(len(head.vertices)))), np.concatenate((tip, head.vertices[:, 2] - 0.75))
    part = Surface(name=name, colour=colours.LOAD, role="tie", count=n + m, faces=mesh.faces)
    now.follow(load.point)
    flat = mesh.vertices * (1.0, 1.0, 0.0)
    reach = 0.1 * size

    def put(view: FloatArray, start: FloatArray, pull: FloatArray, force: float, z: Any, xy: FloatArray) -> None:
        length = _LONGEST * size * force / (force + scale)
        tall = min(2.6 * thick, 0.5 * length)
        turn = along(pull / math.hypot(*pull))
        local = xy * min(1.0, tall / (2.6 * thick) + 0.3)
        local[:, 2] = z[0] * (length - tall) + z[1] * tall
        view[:] = start + local @ turn.T

    def read(view: SurfaceView) -> None:
        force, torque = load._floats[0, :3], load._floats[0, 3:]
        pull, moment = math.hypot(*force), math.hypot(*torque)
        view.shown[0] = float(load.enabled and now.holds(load) and (pull > 0.0 or moment > 0.0))
        start = now.place_of(load.point)
        view.vertices[:] = start
        if load.follower:
            frame = now.frame_of(load.point)
            force, torque = frame @ force, frame @ torque
        if pull > 0.0:
            put(view.vertices[:n], start, force, pull, (body, tip), flat[:n])
        if moment > 0.0:
            put(view.vertices[n:], start, torque, moment / reach, second, flat[n:])

    return part, read
