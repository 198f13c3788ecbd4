"""Meshes of what is only looked at: instruments, tables, handsets. Lengths in metres."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit.geometry.pose import Pose
from sennit.portrait.parts import Colour, Role, Solid
from sennit.validation import FloatArray

__all__ = ["Mesh", "ball", "box", "circle", "lofted", "pipe", "plate", "turned"]


@dataclass(frozen=True, eq=False, slots=True)
class Mesh:
    """Triangles with a colour each."""

    vertices: FloatArray
    """(n, 3), m."""
    faces: NDArray[np.int64]
    """(m, 3), counter-clockwise seen from outside."""
    colours: NDArray[np.uint8]
    """(m, 3)."""

    @classmethod
    def joined(cls, parts: Iterable[Mesh]) -> Mesh:
        """All of them as one."""
        listed = list(parts)
        starts = np.cumsum([0, *(len(part.vertices) for part in listed[:-1])])
        return cls(
            np.concatenate([part.vertices for part in listed]),
            np.concatenate([part.faces + start for part, start in zip(listed, starts, strict=True)]),
            np.concatenate([part.colours for part in listed]),
        )

    def moved(self, pose: Pose) -> Mesh:
        """This one at another place."""
        return Mesh(pose @ self.vertices, self.faces, self.colours)

    def solid(self, name: str, *, role: Role = "decor", smooth: bool = False, opacity: float = 1.0) -> Solid:
        """As a part of a picture."""
        mean = self.colours.mean(axis=0).round().astype(int).tolist()
        return Solid(
            name=name, colour=(mean[0], mean[1], mean[2]), role=role, opacity=opacity, vertices=self.vertices,
            faces=self.faces, face_colours=self.colours, smooth=smooth,
        )  # fmt: skip


def circle(sides: int) -> FloatArray:
    """Corners of a regular polygon with radius 1, counter-clockwise: (sides, 2)."""
    angle = np.arange(sides) * (2.0 * math.pi / sides)
    return np.column_stack((np.cos(angle), np.sin(angle)))


def lofted(
    centres: ArrayLike, first: ArrayLike, second: ArrayLike, outline: FloatArray, colours: ArrayLike, *,
    capped: bool = True,
) -> Mesh:  # fmt: skip
    """The skin over sections along `centres`, (n, 3): places ``centre + outline[:, 0] first + outline[:, 1] second``.

    `first` and `second`, (3,) or (n, 3), m; `outline` (k, 2), counter-clockwise seen against the direction of travel
    when first × second is along it; `colours` (3,), one for each side, (k, 3), or for each stretch, (n − 1, 1, 3).
    """
    line = np.asarray(centres, dtype=np.float64)
    n, k = len(line), len(outline)
    ones = np.ones((n, 1))
    a, b = np.asarray(first, dtype=np.float64) * ones, np.asarray(second, dtype=np.float64) * ones
    rings = line[:, None] + outline[None, :, :1] * a[:, None] + outline[None, :, 1:] * b[:, None]
    ids = np.arange(n * k).reshape(n, k)
    after = np.roll(ids, -1, axis=1)
    p, q, r, s = ids[:-1], after[:-1], after[1:], ids[1:]
    quads = np.stack((np.stack((p, q, r), -1), np.stack((p, r, s), -1)), axis=2)  # (n − 1, k, 2, 3)
    painted = np.broadcast_to(np.asarray(colours)[..., None, :] if np.ndim(colours) > 1 else colours, (n - 1, k, 2, 3))
    vertices, faces = rings.reshape(-1, 3), quads.reshape(-1, 3)
    shades = painted.reshape(-1, 3)
    if capped:
        fans, tints = [], []
        for end, ring, flip in ((0, ids[0], True), (n - 1, ids[-1], False)):
            middle = len(vertices)
            vertices = np.concatenate((vertices, line[end][None]))
            nxt = np.roll(ring, -1)
            fan = np.column_stack((np.full(k, middle), ring, nxt))
            fans.append(fan[:, ::-1] if flip else fan)
            tints.append(np.broadcast_to(painted[0 if flip else -1, :, 0].mean(axis=0), (k, 3)))
        faces, shades = np.concatenate((faces, *fans)), np.concatenate((shades, *tints))
    return Mesh(vertices, faces.astype(np.int64), np.clip(np.rint(shades), 0, 255).astype(np.uint8))


def pipe(line: ArrayLike, radii: ArrayLike, colours: ArrayLike, *, sides: int = 16) -> Mesh:
    """A round pipe along the points of `line`, (n, 3), with `radii`, a number or (n,)."""
    points = np.asarray(line, dtype=np.float64)
    along = np.gradient(points, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    first = np.empty_like(points)
    side = Pose.along((0.0, 0.0, 0.0), along[0]).rotation[:, 0]
    for k, way in enumerate(along):  # carried along without twist
        side = side - (side @ way) * way
        side = side / np.linalg.norm(side)
        first[k] = side
    size = np.broadcast_to(np.asarray(radii, dtype=np.float64), (len(points),))[:, None]
    return lofted(points, size * first, size * np.cross(along, first), circle(sides), colours)


def turned(profile: ArrayLike, colours: ArrayLike, *, sides: int = 32) -> Mesh:
    """What a lathe makes: `profile`, (n, 2), of places along z and radii."""
    along, radii = np.asarray(profile, dtype=np.float64).T
    line = np.outer(along, (0.0, 0.0, 1.0))
    return lofted(line, np.outer(radii, (1.0, 0.0, 0.0)), np.outer(radii, (0.0, 1.0, 0.0)), circle(sides), colours)


def ball(radius: float, colour: Colour, *, centre: ArrayLike = (0.0, 0.0, 0.0), sides: int = 32) -> Mesh:
    """A ball."""
    low = np.linspace(0.03, math.pi - 0.03, sides // 2 + 1)
    return turned(radius * np.column_stack((-np.cos(low), np.sin(low))), colour, sides=sides).moved(Pose(centre))


def box(size: ArrayLike, colour: Colour, *, centre: ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
    """A box with edges `size`, (3,), m."""
    x, y, z = (0.5 * np.asarray(size, dtype=np.float64)).tolist()
    square = np.array(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)))
    return lofted(((0, 0, -z), (0, 0, z)), (x, 0, 0), (0, y, 0), square, colour).moved(Pose(centre))


def plate(rim: FloatArray, low: float, high: float, colours: ArrayLike) -> Mesh:
    """What stands over `rim`, (k, 2), m, counter-clockwise seen from above and seen whole from its middle."""
    x, y = rim.mean(axis=0)
    line = ((x, y, low), (x, y, high))
    return lofted(line, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), rim - (x, y), colours)
