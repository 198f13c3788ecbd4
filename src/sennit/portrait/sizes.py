"""How large things are, for marks that can be seen and do not hide what they mark."""

from __future__ import annotations

import numpy as np

from sennit.bodies.point.point import Point
from sennit.bodies.rigid.body import RigidBody
from sennit.bodies.rod.rod import Rod
from sennit.bodies.slider.slider import Slider
from sennit.bodies.zone.places import ZonePlaces
from sennit.portrait.solids import equal_inertia
from sennit.scene.scene import Scene

__all__ = ["body_reach", "mark_size", "rod_radius", "scene_size"]

_LEAST, _MOST = 0.006, 0.012
"""Size of a mark over that of the scene, as far as rods are not thicker."""


def body_reach(body: RigidBody) -> float:
    """Radius of the ball about its centre that a rigid body fits in, m."""
    form = body.form
    if form["kind"] == "box":
        return 0.5 * float(np.linalg.norm(form["size"]))
    if form["kind"] == "sphere":
        return float(form["radius"])
    if form["kind"] == "cylinder":
        return float(np.hypot(form["radius"], 0.5 * form["length"]))
    if form["kind"] == "mesh":
        return float(np.linalg.norm(np.asarray(form["vertices"]), axis=1).max())
    return float(equal_inertia(body.mass, body.inertia)[0].max())


def rod_radius(point: Point) -> float:
    """Radius of the rod that a point belongs to, m; 0 for a point of something else."""
    body = point.body
    rod = body.rod if isinstance(body, Slider) else body
    return float(rod.section.radius) if isinstance(rod, Rod) else 0.0


def mark_size(point: Point, size: float) -> float:
    """Size of the marks at a point in a scene of `size` (m): about the radius of a small ball there."""
    body = point.body
    if isinstance(body, RigidBody):
        return float(np.clip(0.12 * body_reach(body), _LEAST * size, _MOST * size))
    return max(1.25 * rod_radius(point), _LEAST * size)


def scene_size(scene: Scene) -> float:
    """The diagonal of the box round bodies and what holds them, m; 1 for a scene without any size."""
    points = [np.zeros((0, 3))]
    for body in scene.bodies:
        if isinstance(body, Rod):
            points.append(body.control_points)
        elif isinstance(body, RigidBody):
            points.append(body.position + body_reach(body) * np.array(((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))))
        elif isinstance(body, ZonePlaces):
            points.append(body.positions)
    for constraint in scene.constraints:
        points.append(np.array([point.position for point in constraint.points]))
    every = np.concatenate(points)
    size = float(np.linalg.norm(np.ptp(every, axis=0))) if len(every) else 0.0
    return size if size > 0.0 else 1.0
