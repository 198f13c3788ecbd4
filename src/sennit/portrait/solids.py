"""Triangle meshes of simple solids: boxes, balls, cylinders, rings, wheels and arrows; faces wound outwards.

Each is a `Mesh` about the origin of its own frame. Lengths in metres, colours (red, green, blue) from 0 to 255.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit.portrait.colours import darker, lighter
from sennit.portrait.parts import Colour
from sennit.validation import FloatArray

__all__ = [
    "Mesh",
    "ball",
    "bevelled",
    "bollard",
    "box",
    "capsule",
    "cone",
    "cylinder",
    "ellipsoid",
    "equal_inertia",
    "form_mesh",
    "joined",
    "lathe",
    "ring",
    "two_shades",
    "wheel",
]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Mesh:
    """A triangle mesh."""

    vertices: FloatArray
    """Their places, (v, 3), m."""
    faces: IntArray
    """Numbers of each triangle's vertices, (f, 3)."""
    colours: NDArray[np.uint8] | None = None
    """(f, 3), one for each face; None: all take the colour of the part."""
    smooth: bool = False
    """Whether what is round is shaded as that; corners stay sharp, see `meshing.corner_normals`."""

    def moved(self, offset: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> Mesh:
        """Turned by the matrix `rotation` (3, 3), then moved by `offset` (3,), m."""
        turned = self.vertices if rotation is None else self.vertices @ np.asarray(rotation, dtype=np.float64).T
        return Mesh(turned + np.asarray(offset, dtype=np.float64), self.faces, self.colours, self.smooth)

    def painted(self, colour: Colour) -> Mesh:
        """With one colour for all faces, to be joined with others."""
        return Mesh(self.vertices, self.faces, np.tile(np.array(colour, np.uint8), (len(self.faces), 1)), self.smooth)


def joined(meshes: Iterable[Mesh]) -> Mesh:
    """All of them as one; either all of them are painted or none."""
    parts = list(meshes)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
    colours = [part.colours for part in parts if part.colours is not None]
    return Mesh(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate(colours) if colours else None,
        all(part.smooth for part in parts),
    )


# ------------------------------------------------------------------------------------------------------ flat solids


def box(size: ArrayLike) -> Mesh:
    """A box with edges `size` (3,), m."""
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
    quads = np.array(((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)))
    faces = np.concatenate((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]))
    return Mesh(corners * np.asarray(size, dtype=np.float64), faces, smooth=True)


def bevelled(size: ArrayLike, bevel: float | None = None) -> Mesh:
    """A box with edges `size` (3,), m, whose rims are cut off by `bevel` (m): they catch the light, as real ones do.

    By default a twentieth of its shortest edge, and no more than a hundredth of its longest.
    """
    half = 0.5 * np.asarray(size, dtype=np.float64)
    cut = min(0.1 * float(half.min()), 0.02 * float(half.max())) if bevel is None else bevel
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    # three vertices at each corner: vertex 3 i + k of corner i lies in the face across axis k
    inwards = cut * (1.0 - np.tile(np.eye(3), (8, 1)))
    vertices = np.repeat(signs, 3, axis=0) * (np.tile(half, (24, 1)) - inwards)
    rings = []
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        for side in (-1.0, 1.0):
            around = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)][:: int(side)]
            corners = [_corner(axis, side, a, u, b, v) for u, v in around]
            rings.append([3 * corner + axis for corner in corners])
        for u, v in itertools.product((-1.0, 1.0), repeat=2):  # the rim along this axis
            low, high = _corner(axis, -1.0, a, u, b, v), _corner(axis, 1.0, a, u, b, v)
            strip = [3 * low + a, 3 * high + a, 3 * high + b, 3 * low + b]
            rings.append(strip if u * v < 0.0 else strip[::-1])
    quads = np.array(rings)
    tips = 3 * np.arange(8)[:, None] + np.arange(3)
    tips[signs.prod(axis=1) < 0.0] = tips[signs.prod(axis=1) < 0.0][:, ::-1]
    return Mesh(vertices, np.concatenate((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]], tips)), smooth=True)


def _corner(first: int, x: float, second: int, y: float, third: int, z: float) -> int:
    """Number of a box's corner by the signs of its three coordinates."""
    return sum((sign > 0.0) << (2 - axis) for axis, sign in ((first, x), (second, y), (third, z)))


# ----------------------------------------------------------------------------------------------------- round solids


def lathe(radii: ArrayLike, heights: ArrayLike, sides: int = 24) -> Mesh:
    """The solid of revolution about z whose outline goes through (radius, height), from its lowest end to its top.

    An end with a radius above 0 is closed by a disc. An outline that runs upwards outside is wound outwards.
    """
    r, z = np.asarray(radii, dtype=np.float64), np.asarray(heights, dtype=np.float64)
    if r[0] > 0.0:
        r, z = np.concatenate(((0.0,), r)), np.concatenate((z[:1], z))
    if r[-1] > 0.0:
        r, z = np.concatenate((r, (0.0,))), np.concatenate((z, z[-1:]))
    angles = np.arange(sides) * (2.0 * math.pi / sides)
    around = np.stack((np.cos(angles), np.sin(angles), np.zeros(sides)), axis=1)
    rings = r[1:-1, None, None] * around + z[1:-1, None, None] * np.array((0.0, 0.0, 1.0))
    vertices = np.concatenate((((0.0, 0.0, z[0]),), rings.reshape(-1, 3), ((0.0, 0.0, z[-1]),)))
    k, after = np.arange(sides), (np.arange(sides) + 1) % sides
    count = len(r) - 2
    first, last = 1, 1 + (count - 1) * sides
    apart = np.flatnonzero((np.diff(r[1:-1]) != 0.0) | (np.diff(z[1:-1]) != 0.0))  # a rim that stands twice is sharp
    here = (first + apart[:, None] * sides + k).ravel()
    beside = (first + apart[:, None] * sides + after).ravel()
    faces = [
        np.column_stack((np.zeros(sides, int), first + after, first + k)),
        np.column_stack((here, beside, beside + sides)),
        np.column_stack((here, beside + sides, here + sides)),
        np.column_stack((np.full(sides, len(vertices) - 1), last + k, last + after)),
    ]
    return Mesh(vertices, np.concatenate(faces), smooth=True)


@functools.lru_cache(maxsize=16)
def _unit_ball(sides: int) -> Mesh:
    angles = np.linspace(0.0, math.pi, sides // 2 + 1)
    return lathe(np.where(np.sin(angles) < 1e-9, 0.0, np.sin(angles)), -np.cos(angles), sides)


def ball(radius: float, sides: int = 20) -> Mesh:
    """A ball."""
    unit = _unit_ball(sides)
    return Mesh(radius * unit.vertices, unit.faces, smooth=True)


def ellipsoid(half: ArrayLike, sides: int = 20) -> Mesh:
    """An ellipsoid with half axes `half` (3,), m."""
    unit = _unit_ball(sides)
    return Mesh(unit.vertices * np.asarray(half, dtype=np.float64), unit.faces, smooth=True)


def cylinder(radius: float, length: float, sides: int = 28) -> Mesh:
    """A cylinder about z; its rims are doubled, so that they stay sharp in shading."""
    h = 0.5 * length
    return lathe((radius, radius, radius, radius), (-h, -h, h, h), sides)


def capsule(radius: float, length: float, sides: int = 28) -> Mesh:
    """A capsule about z, with a straight part of `length`."""
    angles = np.linspace(0.0, 0.5 * math.pi, sides // 4 + 1)
    r, z = radius * np.sin(angles), -0.5 * length - radius * np.cos(angles)
    return lathe(np.concatenate((r, r[::-1])), np.concatenate((z, -z[::-1])), sides)


def cone(radius: float, length: float, sides: int = 20) -> Mesh:
    """A cone along z, its base at 0 and its tip at `length`."""
    return lathe((radius, radius, 0.0), (0.0, 0.0, length), sides)


def ring(radius: float, thickness: float, sides: int = 28, corners: int = 10) -> Mesh:
    """A ring about z: `radius` of its middle line, `thickness` the radius of its section, m."""
    a = np.arange(sides) * (2.0 * math.pi / sides)
    b = np.arange(corners) * (2.0 * math.pi / corners)
    out = radius + thickness * np.cos(b)
    vertices = np.stack(
        (np.outer(np.cos(a), out), np.outer(np.sin(a), out), np.tile(thickness * np.sin(b), (sides, 1))), axis=2
    ).reshape(-1, 3)
    i, j = (x.ravel() for x in np.meshgrid(np.arange(sides), np.arange(corners), indexing="ij"))
    after, beside = (i + 1) % sides, (j + 1) % corners
    p, q, r, s = i * corners + j, after * corners + j, after * corners + beside, i * corners + beside
    return Mesh(vertices, np.concatenate((np.column_stack((p, q, r)), np.column_stack((p, r, s)))), smooth=True)


# ---------------------------------------------------------------------------------------------------------- sheaves


def _groove(radius: float, rope: float, inside: float) -> tuple[FloatArray, FloatArray, float]:
    """Outline of a grooved rim from `inside` outwards and back, from below to above, and half of its width."""
    half = max(1.7 * rope, 0.1 * radius)
    deep, lip = max(radius - rope, 0.5 * radius), radius + min(1.1 * rope, 0.5 * radius)
    z = np.array((-half, -half, -0.75 * half, -0.35 * half, 0.35 * half, 0.75 * half, half, half))
    r = np.array((inside, lip, lip, deep, deep, lip, lip, inside))
    return r, z, half


def wheel(radius: float, rope: float, colour: Colour, spokes: int = 5) -> Mesh:
    """A spoked wheel about z in whose groove a cable of the radius `rope` (m) runs `radius` (m) from its axle.

    One of its spokes is light: it shows how the wheel turns.
    """
    inside = 0.76 * max(radius - rope, 0.5 * radius)
    r, z, half = _groove(radius, rope, inside)
    sides = 40
    closed_r, closed_z = np.append(r, r[0]), np.append(z, z[0])
    angles = np.arange(sides) * (2.0 * math.pi / sides)
    around = np.stack((np.cos(angles), np.sin(angles), np.zeros(sides)), axis=1)
    loops = closed_r[:, None, None] * around + closed_z[:, None, None] * np.array((0.0, 0.0, 1.0))
    k, after = np.arange(sides), (np.arange(sides) + 1) % sides
    here = (np.arange(len(loops) - 1)[:, None] * sides + k).ravel()
    beside = (np.arange(len(loops) - 1)[:, None] * sides + after).ravel()
    faces = np.concatenate(
        (np.column_stack((here, beside, beside + sides)), np.column_stack((here, beside + sides, here + sides)))
    )
    parts = [Mesh(loops.reshape(-1, 3), faces, smooth=True).painted(colour)]
    hub = 0.2 * radius
    parts.append(cylinder(hub, 2.3 * half, 20).painted(darker(colour, 0.3)))
    for spoke in range(spokes):
        angle = 2.0 * math.pi * spoke / spokes
        length = inside - 0.6 * hub + 0.04 * radius
        turn = np.array(((math.cos(angle), -math.sin(angle), 0.0), (math.sin(angle), math.cos(angle), 0.0), (0, 0, 1)))
        bar = box((length, 0.13 * radius, 1.1 * half)).moved((0.6 * hub + 0.5 * length, 0.0, 0.0))
        parts.append(bar.moved(rotation=turn).painted(lighter(colour, 0.75) if spoke == 0 else darker(colour, 0.15)))
    return joined(parts)


def bollard(radius: float, rope: float, colour: Colour) -> Mesh:
    """A drum about z that does not turn by itself, with a light mark on its rim."""
    r, z, half = _groove(radius, rope, 0.4 * radius)
    drum = lathe(r, z, 40).painted(colour)
    mark = box((0.5 * radius, 0.1 * radius, 2.06 * half)).moved((0.65 * radius, 0.0, 0.0))
    return joined((drum, mark.painted(lighter(colour, 0.7))))


# ----------------------------------------------------------------------------------------------------- rigid bodies


def equal_inertia(mass: float, inertia: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Half axes (3,), m, of the solid ellipsoid with this `mass` (kg) and `inertia` (3, 3), and its axes, columns.

    I_x = m (b² + c²)/5 and so on; a body flatter than any ellipsoid is given a hundredth of its size.
    """
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    squares = 2.5 / mass * (moments.sum() - 2.0 * moments)
    half = np.sqrt(np.maximum(squares, 0.0))
    return np.maximum(half, 0.01 * float(half.max())), axes


def form_mesh(
    form: dict[str, Any], mass: float, inertia: FloatArray, colour: Colour, *, plain: bool = False
) -> Mesh:  # fmt: skip
    """The mesh of a rigid body's ``form``; round ones are in two shades, so that they are seen to turn.

    `plain`: of few faces, as one of very many.
    """
    kind = form["kind"]
    if kind == "box":
        return box(form["size"]) if plain else bevelled(form["size"])
    if kind == "sphere":
        return two_shades(ball(form["radius"], 12 if plain else 24), colour)
    if kind == "cylinder":
        return two_shades(cylinder(form["radius"], form["length"], 12 if plain else 32), colour)
    if kind == "capsule":
        return two_shades(capsule(form["radius"], form["length"], 12 if plain else 32), colour)
    if kind == "mesh":
        return Mesh(np.asarray(form["vertices"], dtype=np.float64), np.asarray(form["faces"], np.int64))
    half, axes = equal_inertia(mass, inertia)
    mesh = ellipsoid(half, 12 if plain else 24).moved(rotation=axes)
    return two_shades(mesh, colour, axes)


def two_shades(mesh: Mesh, colour: Colour, axes: FloatArray | None = None) -> Mesh:
    """Opposite quarters about the body's z axis in a darker shade."""
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    if axes is not None:
        middles = middles @ axes
    dark = (middles[:, 0] * middles[:, 1]) > 0.0
    shades = np.array((colour, darker(colour, 0.22)), np.uint8)
    return Mesh(mesh.vertices, mesh.faces, shades[dark.astype(int)], mesh.smooth)
