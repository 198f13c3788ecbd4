"""Which material place a ray from the pointer meets, in the present frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sennit.portrait.cast import Cast
from sennit.portrait.parts import Solid, Surface, Tube
from sennit.validation import FloatArray

__all__ = ["Hit", "Ray", "along_tube", "in_solid", "nearest_hit", "on_surface", "place_of", "rotated"]


@dataclass(frozen=True, eq=False, slots=True)
class Ray:
    """A half line: `origin` (3,), m, and unit `direction` (3,)."""

    origin: FloatArray
    direction: FloatArray

    @classmethod
    def through(cls, eye: Any, place: Any) -> Ray:
        """From `eye` towards `place`."""
        origin = np.asarray(eye, float)
        way = np.asarray(place, float) - origin
        return cls(origin, way / max(float(np.linalg.norm(way)), 1e-300))


@dataclass(frozen=True, eq=False, slots=True)
class Hit:
    """Where a ray meets a part."""

    part: int
    place: float | list[float] | int
    """As commands name it: part of the length, point in the solid's frame, or number of a vertex."""
    position: FloatArray
    """(3,), m, world frame."""
    depth: float
    """Distance along the ray, m."""


def rotated(quaternion: FloatArray, vectors: FloatArray, back: bool = False) -> FloatArray:
    """`vectors`, (..., 3), turned by the unit `quaternion` (4,), or back."""
    scalar, axis = quaternion[0], -quaternion[1:] if back else quaternion[1:]
    once = 2.0 * np.cross(axis, vectors)
    turned: FloatArray = vectors + scalar * once + np.cross(axis, once)
    return turned


def along_tube(centres: FloatArray, ray: Ray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each piece of the polyline `centres`, (n, 3): the point nearest to the ray as part 0…1 of the piece, its
    distance to the ray and its depth; (n - 1,) each.
    """
    start, piece = centres[:-1], np.diff(centres, axis=0)
    to_start = start - ray.origin
    # Everything as seen along the ray: only what is perpendicular to it counts.
    flat_piece = piece - np.outer(piece @ ray.direction, ray.direction)
    flat_start = to_start - np.outer(to_start @ ray.direction, ray.direction)
    length = np.einsum("ij,ij->i", flat_piece, flat_piece)
    part = np.clip(-np.einsum("ij,ij->i", flat_start, flat_piece) / np.maximum(length, 1e-300), 0.0, 1.0)
    distance = np.linalg.norm(flat_start + part[:, None] * flat_piece, axis=1)
    depth = (to_start + part[:, None] * piece) @ ray.direction
    return part, distance, depth


def _triangles(vertices: FloatArray, faces: Any, ray: Ray) -> tuple[int, float] | None:
    """The first face that the ray meets, and the depth; None if it meets none (Möller and Trumbore)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    first, second = b - a, c - a
    across = np.cross(ray.direction, second)
    size = np.einsum("ij,ij->i", first, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / size
        away = ray.origin - a
        u = np.einsum("ij,ij->i", away, across) * inverse
        other = np.cross(away, first)
        v = (other @ ray.direction) * inverse
        depth = np.einsum("ij,ij->i", second, other) * inverse
        meets = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (depth > 0.0) & (size != 0.0)
    if not meets.any():
        return None
    face = int(np.argmin(np.where(meets, depth, np.inf)))
    return face, float(depth[face])


def in_solid(number: int, part: Solid, view: Any, ray: Ray) -> Hit | None:
    """Where the ray meets a solid."""
    local = Ray(
        rotated(view.quaternion, ray.origin - view.position, back=True),
        rotated(view.quaternion, ray.direction, back=True),
    )
    met = _triangles(part.vertices, part.faces, local)
    if met is None:
        return None
    position = ray.origin + met[1] * ray.direction
    place = local.origin + met[1] * local.direction
    return Hit(number, place.tolist(), position, met[1])


def on_surface(number: int, part: Surface, view: Any, ray: Ray) -> Hit | None:
    """The vertex next to where the ray meets a surface."""
    met = _triangles(view.vertices, part.faces, ray)
    if met is None:
        return None
    position = ray.origin + met[1] * ray.direction
    corners = part.faces[met[0]]
    vertex = int(corners[np.argmin(np.linalg.norm(view.vertices[corners] - position, axis=1))])
    return Hit(number, vertex, view.vertices[vertex].copy(), met[1])


def _on_tube(number: int, part: Tube, view: Any, ray: Ray, radius: float) -> Hit | None:
    """The place of a tube's centre line that the ray passes within `radius`, m; the nearest such."""
    share, distance, depth = along_tube(view.centres, ray)
    within = (distance <= max(radius, *part.half)) & (depth > 0.0)
    if not within.any():
        return None
    # Of what the ray passes, the front; there, the piece that it passes most closely.
    front = np.min(depth[within])
    near = within & (depth <= front + 4.0 * max(radius, *part.half))
    return _tube_hit(number, view.centres, share, depth, int(np.argmin(np.where(near, distance, np.inf))))


def _tube_hit(number: int, centres: FloatArray, share: FloatArray, depth: FloatArray, k: int) -> Hit:
    position = centres[k] + share[k] * (centres[k + 1] - centres[k])
    return Hit(number, float((k + share[k]) / (len(centres) - 1)), position, float(depth[k]))


def nearest_hit(cast: Cast, frame: FloatArray, ray: Ray, radius: float, roles: tuple[str, ...]) -> Hit | None:
    """The first thing of one of the `roles` that the ray meets; tubes are met within `radius`, m, of their middle."""
    best: Hit | None = None
    for number, (part, view) in enumerate(zip(cast.parts, cast.views(frame), strict=True)):
        if part.role not in roles or view.shown[0] == 0.0:
            continue
        hit: Hit | None
        if isinstance(part, Tube):
            hit = _on_tube(number, part, view, ray, radius)
        elif isinstance(part, Solid):
            hit = in_solid(number, part, view, ray)
        else:
            hit = on_surface(number, part, view, ray)
        if hit is not None and (best is None or hit.depth < best.depth):
            best = hit
    return best


def place_of(number: int, part: Any, view: Any, ray: Ray, met: FloatArray) -> Hit:
    """The material place of a part that was grabbed at `met`, (3,), m, on a ray: always one, even where what was seen
    lagged behind what is there.
    """
    if isinstance(part, Tube):
        share, distance, depth = along_tube(view.centres, ray)
        points = view.centres[:-1] + share[:, None] * np.diff(view.centres, axis=0)
        # Near the ray, and of several turns that lie behind each other the one that was met.
        cost = distance + 0.1 * np.linalg.norm(points - met, axis=1)
        return _tube_hit(number, view.centres, share, depth, int(np.argmin(cost)))
    if isinstance(part, Solid):
        hit = in_solid(number, part, view, ray)
        if hit is not None:
            return hit
        place = rotated(view.quaternion, met - view.position, back=True)
        return Hit(number, place.tolist(), met, float((met - ray.origin) @ ray.direction))
    hit = on_surface(number, part, view, ray)
    if hit is not None:
        return hit
    vertex = int(np.argmin(np.linalg.norm(view.vertices - met, axis=1)))
    place = view.vertices[vertex].copy()
    return Hit(number, vertex, place, float((place - ray.origin) @ ray.direction))
