"""What rigid shapes look like: those of obstacles, and those that rigid bodies touch with."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from sennit.contact.obstacle import Obstacle
from sennit.geometry.shapes import AbstractShape, Box, Capsule, Cylinder, HeightField, Plane, Sphere
from sennit.geometry.shapes import Mesh as MeshShape
from sennit.geometry.tubes import Tubes
from sennit.portrait import colours, looks
from sennit.portrait.meshing import tangents
from sennit.portrait.now import Carried
from sennit.portrait.parts import Colour, Solid
from sennit.portrait.solids import Mesh, ball, bevelled, capsule, cylinder, joined, two_shades
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.portrait.of_scene import ScenePortrait

__all__ = ["draw_obstacle", "shapes_mesh"]

_CELLS = 24
"""Cells along a side of what is drawn of a plane; an even number."""
_SIDES = 20
"""Corners of the rings of a tube."""
_MOST_HEIGHTS = 160
"""Heights along a side of a height field that are drawn; of a finer one some are left out."""


def draw_obstacle(obstacle: Obstacle, portrait: ScenePortrait) -> None:
    """Add an obstacle to a portrait: it is seen, but can't be taken in hand.

    One without an end has the role of decor: it does not make the rest small. Tubes can be seen through; one that is a
    rod is drawn as that.
    """
    if not obstacle.shapes:
        return
    colour, (low, high) = portrait.next_colour(colours.OBSTACLES), portrait.room
    middle = obstacle.pose.inverse() @ (0.5 * (low + high))
    mesh = joined(_painted(shape, colour, middle, portrait.size) for shape in obstacle.shapes)
    endless = any(isinstance(shape, Plane | HeightField) for shape in obstacle.shapes)
    part = Solid(
        name=portrait.named(obstacle.name), colour=colour, role="decor" if endless else "obstacle",
        vertices=mesh.vertices, faces=mesh.faces, face_colours=mesh.colours, smooth=mesh.smooth,
        opacity=0.36 if isinstance(obstacle.shapes[0], Tubes) else 1.0, rough=looks.MATT.rough,
    )  # fmt: skip
    (anchor,) = obstacle.points
    portrait.add_carried(part, Carried(anchor, anchor), obstacle)


def shapes_mesh(shapes: Iterable[AbstractShape], colour: Colour) -> Mesh:
    """The shapes of a rigid body as one mesh; round ones are in two shades, so that they are seen to turn."""
    return joined(_painted(shape, colour, np.zeros(3), 1.0) for shape in shapes)


def _painted(shape: AbstractShape, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    """A shape as a painted mesh, where its pose says; of one without an end, a piece of `size` (m) about `middle`."""
    pose = shape.pose
    mesh = _mesh(shape, colour, pose.inverse() @ middle, size)
    painted = mesh if mesh.colours is not None else mesh.painted(colour)
    return painted.moved(pose.position, pose.rotation)


@functools.singledispatch
def _mesh(shape: Any, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    """The mesh of a shape in its own frame."""
    raise NotImplementedError(f"no picture of a {type(shape).__name__}")


@_mesh.register(Sphere)
def _sphere(shape: Sphere, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    return two_shades(ball(shape.radius, 32), colour)


@_mesh.register(Box)
def _box(shape: Box, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    return bevelled(shape.size)


@_mesh.register(Cylinder)
def _cylinder(shape: Cylinder, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    return two_shades(cylinder(shape.radius, shape.length, 40), colour)


@_mesh.register(Capsule)
def _capsule(shape: Capsule, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    return two_shades(capsule(shape.radius, shape.length, 32), colour)


@_mesh.register(MeshShape)
def _closed_mesh(shape: MeshShape, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    return Mesh(np.array(shape.vertices), np.array(shape.faces, np.int64))


@_mesh.register(HeightField)
def _ground(shape: HeightField, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    n, m = (np.unique(np.linspace(0, k - 1, min(k, _MOST_HEIGHTS)).astype(int)) for k in shape.heights.shape)
    heights = shape.heights[np.ix_(n, m)]
    x = (n / n[-1] - 0.5) * shape.size[0]
    y = (m / m[-1] - 0.5) * shape.size[1]
    bottom = heights.min() - 0.05 * float(shape.size.max())  # it has none: this much is shown
    return _slab(x, y, heights, bottom)


@_mesh.register(Tubes)
def _walls(shape: Tubes, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    """The bores, as red as vessels."""
    bores = (_bore(line, radius) for line, radius in zip(shape.axes, shape.radii, strict=True))
    return joined(bore.painted(colours.VESSEL) for bore in bores)


def _bore(line: FloatArray, radius: FloatArray) -> Mesh:
    """The surface of a round tube along a chain of places."""
    along = tangents(line)
    across = np.eye(3)[int(np.argmin(np.abs(along[0])))]
    first = np.empty_like(line)
    for i, t in enumerate(along):  # each ring is turned as little as can be against the one before
        across = across - (across @ t) * t
        first[i] = across = across / np.linalg.norm(across)
    second = np.cross(along, first)
    angle = np.arange(_SIDES) * (2.0 * np.pi / _SIDES)
    ring = np.cos(angle)[:, None] * first[:, None] + np.sin(angle)[:, None] * second[:, None]
    vertices = line[:, None] + radius[:, None, None] * ring
    a = np.arange((len(line) - 1) * _SIDES)
    b = a - a % _SIDES + (a + 1) % _SIDES
    faces = np.concatenate((np.column_stack((a, b, b + _SIDES)), np.column_stack((a, b + _SIDES, a + _SIDES))))
    return Mesh(vertices.reshape(-1, 3), faces, smooth=True)


@_mesh.register(Plane)
def _plane(shape: Plane, colour: Colour, middle: FloatArray, size: float) -> Mesh:
    """A thin chequered slab under what is seen, whose lines go through the plane's point."""
    cell = 2.5 * size / _CELLS
    x, y = (cell * (np.round(place / cell) + np.arange(-_CELLS // 2, _CELLS // 2 + 1)) for place in middle[:2])
    slab = _slab(x, y, np.zeros((len(x), len(y))), -0.002 * size)
    cells = np.add.outer(np.round(x[:-1] / cell), np.round(y[:-1] / cell)).astype(int).ravel() % 2
    dark = np.zeros(len(slab.faces), int)
    dark[: 2 * len(cells)] = np.repeat(cells, 2)
    shades = np.array((colour, colours.darker(colour, 0.08)), np.uint8)
    return Mesh(slab.vertices, slab.faces, shades[dark])


def _slab(x: FloatArray, y: FloatArray, heights: FloatArray, bottom: float) -> Mesh:
    """What lies below `heights` (n, m) over a grid, down to a level, m: two triangles a cell first, cell after cell."""
    n, m = heights.shape
    grid = np.stack((*np.meshgrid(x, y, indexing="ij"), heights), axis=2).reshape(-1, 3)
    rim = [i * m for i in range(n)] + [(n - 1) * m + j for j in range(1, m)]
    rim += [i * m + m - 1 for i in range(n - 2, -1, -1)] + list(range(m - 2, 0, -1))
    low = grid[rim] * (1.0, 1.0, 0.0) + (0.0, 0.0, bottom)
    a = (np.arange(n - 1)[:, None] * m + np.arange(m - 1)).ravel()
    top = np.stack((a, a + m, a + m + 1, a, a + m + 1, a + 1), axis=1).reshape(-1, 3)
    here, beside = np.array(rim), np.roll(rim, -1)
    under = n * m + np.arange(len(rim))
    after = np.roll(under, -1)
    sides = np.concatenate((np.column_stack((here, under, after)), np.column_stack((here, after, beside))))
    middle = n * m + len(rim)
    floor = np.column_stack((np.full(len(rim), middle), after, under))
    centre = np.array(((x.mean(), y.mean(), bottom),))
    return Mesh(np.concatenate((grid, low, centre)), np.concatenate((top, sides, floor)))
