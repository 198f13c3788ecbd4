"""Parts of a picture as few meshes, each of one colour.

A browser's mesh has one colour, and each mesh that changes costs a message. So all tubes, surfaces and small marks lie
in one array of vertices; their faces are sorted by colour, and each colour is one mesh with the vertices that it needs.
Without a field the colours stand still and only vertices move. With one, a face takes one of `LEVELS` colours after the
mean of the field over its corners.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sennit.portrait.cast import Cast
from sennit.portrait.meshing import (
    stripe_faces,
    stripe_vertices,
    tube_faces,
    tube_stations,
    tube_vertices,
)
from sennit.portrait.parts import Solid, Surface, Tube

__all__ = ["LEVELS", "Painting", "Patch", "Shade", "painted"]

LEVELS = 20
"""How many colours a field has."""
SMALL = 600
"""Vertices of a mark that is painted together with others, at most; a larger one is a mesh of its own."""


class Shade(NamedTuple):
    """What a mesh looks like."""

    colour: tuple[int, int, int]
    opacity: float
    flat: bool
    """Edges are seen."""
    double: bool
    """Seen from behind, too."""
    role: str


class Patch(NamedTuple):
    """One mesh: what it looks like, its vertices (v, 3) and faces (f, 3)."""

    shade: Shade
    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]


@dataclass(eq=False, slots=True)
class _Skin:
    """A part, or its stripe, in the common arrays: its vertices are from `start`, its faces from `first`."""

    number: int
    part: Any
    start: int
    stop: int
    first: int
    last: int
    stripe: bool
    stations: NDArray[np.int64] | None
    """Of a tube, the station of each vertex."""


class Painting:
    """The tubes, surfaces and small marks of `cast`; lengths are multiplied by `scale`."""

    def __init__(self, cast: Cast, scale: float, sides: int = 10) -> None:
        self.cast, self.scale, self._sides = cast, scale, sides
        self._skins: list[_Skin] = []
        self._shades: dict[Shade, int] = {}
        faces: list[NDArray[np.int64]] = []
        owner: list[NDArray[np.int64]] = []
        vertices = first = 0
        for number, part in enumerate(cast.parts):
            if not painted(part):
                continue
            for stripe in (False, True) if isinstance(part, Tube) and part.stripe is not None else (False,):
                own, count, stations = self._mesh(part, stripe)
                skin = _Skin(number, part, vertices, vertices + count, first, first + len(own), stripe, stations)
                self._skins.append(skin)
                faces.append(own + vertices)
                owner.append(np.full(len(own), self._shade(part, stripe)))
                vertices, first = skin.stop, skin.last
        self._faces = np.concatenate([np.zeros((0, 3), np.int64), *faces])
        self._owner = np.concatenate([np.zeros(0, np.int64), *owner])
        """Of each face, the number of its shade."""
        self._vertices = np.zeros((vertices, 3))
        self._plain = _sorted(self._faces, self._owner, list(self._shades), vertices)

    def _mesh(self, part: Any, stripe: bool) -> tuple[NDArray[np.int64], int, NDArray[np.int64] | None]:
        """Faces, number of vertices and, of a tube, the station of each vertex."""
        if stripe:
            faces = stripe_faces(part)
            return faces, int(faces.max()) + 1, None
        if isinstance(part, Tube):
            stations = tube_stations(part, self._sides)
            return tube_faces(part, self._sides), len(stations), stations
        return part.faces, part.count if isinstance(part, Surface) else len(part.vertices), None

    def _shade(self, part: Any, stripe: bool) -> int:
        flat = isinstance(part, Solid) and not part.smooth
        colour = part.stripe if stripe else part.colour
        shade = Shade(tuple(colour), part.opacity, flat, isinstance(part, Surface), part.role)
        return self._shades.setdefault(shade, len(self._shades))

    def place(self, views: Sequence[Any]) -> None:
        """Move all vertices to where they are in a frame; `views` is what ``cast.views`` gives."""
        for skin in self._skins:
            part, view = skin.part, views[skin.number]
            target = self._vertices[skin.start : skin.stop]
            if view.shown[0] == 0.0:
                target[:] = 0.0  # all faces vanish
            elif skin.stripe:
                target[:] = stripe_vertices(part, view)
            elif isinstance(part, Tube):
                target[:] = tube_vertices(part, view, self._sides)
            else:
                target[:] = part.places(view)
        self._vertices *= self.scale

    def plain(self) -> list[Patch]:
        """One mesh for each colour of bodies."""
        points = self._vertices.astype(np.float32)
        return [Patch(shade, points[used], faces) for shade, used, faces in self._plain]

    def shaded(self, views: Sequence[Any], field: str, low: float, high: float, ramp: NDArray[np.uint8]) -> list[Patch]:
        """As `plain`, but what carries `field` has the colours of `ramp`, (LEVELS, 3), from `low` to `high`."""
        owner = self._owner.copy()
        shades = list(self._shades)
        known: dict[Shade, int] = {}
        for skin in self._skins:
            values = getattr(views[skin.number], "fields", {}).get(field)
            if values is None:
                continue
            if skin.stripe:  # it would hide what the colours show
                owner[skin.first : skin.last] = -1
                continue
            local = values if skin.stations is None else values[skin.stations]
            mean = local[self._faces[skin.first : skin.last] - skin.start].mean(axis=1)
            with np.errstate(invalid="ignore"):
                level = np.clip((mean - low) / max(high - low, 1e-300) * LEVELS, 0, LEVELS - 1)
            level = np.nan_to_num(level).astype(np.int64)
            plain = shades[self._owner[skin.first]]
            base = known.setdefault(plain._replace(colour=(0, 0, 0)), len(shades))
            if base == len(shades):
                shades += [plain._replace(colour=(int(r), int(g), int(b))) for r, g, b in ramp]
            owner[skin.first : skin.last] = base + level
        points = self._vertices.astype(np.float32)
        patches = _sorted(self._faces, owner, shades, len(points))
        return [Patch(shade, points[used], faces) for shade, used, faces in patches]


def painted(part: Any) -> bool:
    """Whether a part is painted together with others: what deforms, and small marks."""
    if isinstance(part, Solid):
        return part.role == "tie" and len(part.vertices) <= SMALL and part.face_colours is None
    return isinstance(part, Tube | Surface)


def _sorted(
    faces: NDArray[np.int64], owner: NDArray[np.int64], shades: list[Shade], count: int
) -> list[tuple[Shade, NDArray[np.int64], NDArray[np.uint32]]]:
    """Of each shade that a face has: the numbers of the vertices that it needs, and faces among those."""
    order = np.argsort(owner, kind="stable")
    numbers, starts = np.unique(owner[order], return_index=True)
    found = []
    for number, own in zip(numbers.tolist(), np.split(order, starts[1:]) if len(numbers) else [], strict=True):
        if number < 0:
            continue
        chosen = faces[own]
        used = np.zeros(count, bool)
        used[chosen.ravel()] = True
        new = np.cumsum(used) - 1
        found.append((shades[number], np.flatnonzero(used), new[chosen].astype(np.uint32)))
    return found
