"""Signed distances of convex shapes by looking in all directions, and random shapes to try them with.

The signed distance of two convex shapes is the largest separation over all directions. Here it is found by brute force:
from thousands of directions, then among ever nearer ones about the best. No code of the kernels is used but that of
the shapes' own frames.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.contact.kernels.pairs import touch_shapes
from sennit.contact.table import Manifold
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import Box, Capsule, Cylinder, Mesh, Sphere
from sennit.geometry.tables import stacked

KINDS = ("sphere", "capsule", "box", "cylinder")


def reaches(shape: Any, directions: Any) -> Any:
    """max n · x over the points x of a shape, for unit vectors n, (k, 3): (k,)."""
    centre, own = directions @ shape.pose.position, directions @ shape.pose.rotation
    across, along = np.linalg.norm(own[:, :2], axis=1), np.abs(own[:, 2])
    if isinstance(shape, Sphere):
        return centre + shape.radius
    if isinstance(shape, Box):
        return centre + np.abs(own) @ (0.5 * np.asarray(shape.size))
    if isinstance(shape, Cylinder):
        return centre + shape.radius * across + 0.5 * shape.length * along
    return centre + shape.radius + 0.5 * shape.length * along


def separations(first: Any, second: Any, directions: Any) -> Any:
    """How far two shapes are apart along each direction from the second to the first."""
    return -reaches(first, -directions) - reaches(second, directions)


def signed_distance(first: Any, second: Any, seeds: int = 4000, rounds: int = 60) -> float:
    """The largest separation: distance, or minus the depth of the overlap. Within about 1e-7 of the sizes."""
    rng = np.random.default_rng(7)
    k = np.arange(seeds) + 0.5
    z, angle = 1.0 - 2.0 * k / seeds, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - z * z)
    directions = np.stack([across * np.cos(angle), across * np.sin(angle), z], axis=1)
    directions = np.concatenate([directions, *(s.pose.rotation.T for s in (first, second))])
    directions = np.concatenate([directions, -directions])
    values = separations(first, second, directions)
    best = directions[np.argsort(values)[-12:]]
    width = 0.06
    for _ in range(rounds):
        near = best[:, None] + width * rng.standard_normal((len(best), 24, 3))
        near[:, 0] = best
        near /= np.linalg.norm(near, axis=2, keepdims=True)
        values = separations(first, second, near.reshape(-1, 3)).reshape(near.shape[:2])
        best = near[np.arange(len(best)), values.argmax(axis=1)]
        width *= 0.75
    return float(values.max())


def random_pose(rng: Any, spread: float = 0.0) -> Pose:
    """A random turn, somewhere within `spread`."""
    return Pose(rng.uniform(-spread, spread, 3), rng.standard_normal(4))


def random_shape(rng: Any, kind: str, pose: Pose) -> Any:
    """A shape of a kind with sizes from 0.1 to 0.8 m."""
    a, b, c = rng.uniform(0.1, 0.8, 3)
    if kind == "sphere":
        return Sphere((0, 0, 0), a).moved(pose)
    if kind == "box":
        return Box((a, b, c), pose)
    return Cylinder(0.5 * a, b, pose) if kind == "cylinder" else Capsule(0.5 * a, b, pose)


def touch(first: Any, second: Any, margin: float) -> dict[str, Any]:
    """The points of contact of two shapes, as arrays."""
    found = Manifold(rows=64)
    count = touch_shapes(stacked([first._table, second._table]), 0, 1, margin, found)
    names = ("first_place", "second_place", "normal", "gap", "feature")
    return {name: getattr(found, name)[:count].copy() for name in names}


def placed_apart(rng: Any, first: Any, second: Any, gap: float) -> Any:
    """The first shape, moved along some direction until it is about `gap` from the second along it."""
    n = rng.standard_normal(3)
    n /= np.linalg.norm(n)
    way = gap - float(separations(first, second, n[None])[0])
    return first.moved(Pose(way * n))


def box_mesh(size: Any, pose: Pose = Pose()) -> Mesh:  # noqa: B008
    """A box as a closed mesh of twelve triangles."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * np.asarray(size)
    faces = []
    for i, j, k in ((4, 2, 1), (2, 1, 4), (1, 4, 2)):
        # The face through corner 0 across the axis of corner k, and the one opposite.
        faces += [(0, j, i), (i, j, i + j), (k, k + i, k + j), (k + i, k + i + j, k + j)]
    return Mesh(corners, np.array(faces), pose)
