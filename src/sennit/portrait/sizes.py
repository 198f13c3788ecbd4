"""How large things are, for marks that can be seen and do not hide what they mark.

A kind of body says here, in registries, which rod it belongs to, how far it reaches and how large marks on it are.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.point import RodPoint
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.contact.obstacle import Obstacle
from sennit.portrait.solids import equal_inertia
from sennit.scene.scene import Scene
from sennit.validation import FloatArray

__all__ = ["body_reach", "mark_size", "rod_of", "rod_radius", "rods_in", "scene_box", "scene_size"]

_LEAST, _MOST = 0.006, 0.012
"""Size of a mark over that of the scene, as far as rods are not thicker."""


# ------------------------------------------------------------------------------------------------------------- rods


@functools.singledispatch
def rod_of(body: object) -> Rod | None:
    """The rod that a body is, or slides on; None for what has nothing to do with one."""
    return None


@rod_of.register(Rod)
def _rod_itself(body: Rod) -> Rod:
    return body


@rod_of.register(Slider)
def _rod_below(body: Slider) -> Rod:
    return body.rod


def rods_in(scene: Scene) -> list[Rod]:
    """The rods of a scene, in order."""
    return [rod for body in scene.bodies if (rod := rod_of(body)) is body]


def rod_radius(point: Point) -> float:
    """Radius of the rod that a point belongs to, m; 0 for a point of something else."""
    rod = rod_of(point.body)
    return 0.0 if rod is None else rod._radius_at(point.s) if isinstance(point, RodPoint) else rod.radius


# ------------------------------------------------------------------------------------------------------------ marks


def mark_size(point: Point, size: float) -> float:
    """Size of the marks at a point in a scene of `size` (m): about the radius of a small ball there."""
    return _mark_size(point.body, point, size)


@functools.singledispatch
def _mark_size(body: object, point: Point, size: float) -> float:
    return max(1.25 * rod_radius(point), _LEAST * size)


@_mark_size.register(RigidBody)
def _mark_on_rigid(body: RigidBody, point: Point, size: float) -> float:
    return float(np.clip(0.12 * body_reach(body), _LEAST * size, _MOST * size))


# ----------------------------------------------------------------------------------------------------------- scenes


def body_reach(body: RigidBody) -> float:
    """Radius of the ball about its centre that a rigid body fits in, m."""
    if body._given_shapes is not None:
        return max(float(np.linalg.norm(s.pose.position) + s._table.ball[0]) for s in body._given_shapes)
    form = body.form
    if form["kind"] == "box":
        return 0.5 * float(np.linalg.norm(form["size"]))
    if form["kind"] == "sphere":
        return float(form["radius"])
    if form["kind"] == "cylinder":
        return float(np.hypot(form["radius"], 0.5 * form["length"]))
    if form["kind"] == "capsule":
        return float(form["radius"] + 0.5 * form["length"])
    if form["kind"] == "mesh":
        return float(np.linalg.norm(np.asarray(form["vertices"]), axis=1).max())
    return float(equal_inertia(body.mass, body.inertia)[0].max())


@functools.singledispatch
def _corners(body: object) -> FloatArray:
    """Points (k, 3), m, that are in the same box as a body; none for what has no size of its own."""
    return np.zeros((0, 3))


@_corners.register(Rod)
def _rod_corners(body: Rod) -> FloatArray:
    return body.control_points


@_corners.register(RigidBody)
def _rigid_corners(body: RigidBody) -> FloatArray:
    return body.position + body_reach(body) * np.array(((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0)))


@_corners.register(ZonePlaces)
def _zone_corners(body: ZonePlaces) -> FloatArray:
    return body.positions


def scene_box(scene: Scene) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest corner (3,), m, of the box round bodies and what holds them, and round obstacles that have an
    end; of one without any of them, the origin.
    """
    points = [np.zeros((0, 3)), *map(_corners, scene.bodies)]
    for constraint in scene.constraints:
        points.append(np.array([point.position for point in constraint.points]))
    points += [_obstacle_corners(obstacle) for obstacle in scene.obstacles]
    every = np.concatenate(points)
    return (every.min(axis=0), every.max(axis=0)) if len(every) else (np.zeros(3), np.zeros(3))


def scene_size(scene: Scene) -> float:
    """The diagonal of that box, m; 1 for a scene without any size."""
    low, high = scene_box(scene)
    size = float(np.linalg.norm(high - low))
    return size if size > 0.0 else 1.0


def _obstacle_corners(obstacle: Obstacle) -> FloatArray:
    """Points (k, 3), m, in the same box as the shapes of an obstacle that have an end."""
    found = [np.zeros((0, 3))]
    for shape in obstacle.shapes:
        here, reach = obstacle.pose @ shape.pose.position, float(shape._table.ball[0])
        if math.isfinite(reach):
            found.append(here + reach * np.array(((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))))
    return np.concatenate(found)
