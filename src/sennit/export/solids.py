"""Solids that the demonstrations of scenes are drawn with: tubes, bars, balls, blocks, wheels; colours for numbers.

All give `Facets` for the painter. Lengths are in metres, colours (red, green, blue) from 0 to 255.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sennit.export.facets import Facets, circle, loft
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.export.painting import Camera

__all__ = [
    "SQUARE",
    "ball",
    "bar",
    "block",
    "board",
    "floor",
    "parallel_axes",
    "ramp",
    "ribbon",
    "rope",
    "tube",
    "wheel",
]

SQUARE = np.array(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)))
"""Outline of a rectangle for `loft`, (4, 2)."""

_RAMP = np.array(((58, 82, 139), (72, 140, 160), (214, 196, 140), (226, 138, 66), (190, 46, 44)), dtype=np.float64)


def ramp(values: ArrayLike, low: float, high: float) -> FloatArray:
    """Colours (n, 3) of `values` (n,): blue at `low` and below, sand between, red at `high` and above."""
    part = np.clip((np.asarray(values, dtype=np.float64) - low) / max(high - low, 1e-300), 0.0, 1.0)
    place = part * (len(_RAMP) - 1)
    return np.column_stack([np.interp(place, np.arange(len(_RAMP)), _RAMP[:, k]) for k in range(3)])


def parallel_axes(centres: FloatArray, closed: bool = False) -> tuple[FloatArray, FloatArray]:
    """Unit vectors (n, 3) across the curve through `centres` (n, 3) that turn about it as little as they can."""
    along = np.gradient(centres, axis=0)
    if closed:
        along[0] = along[-1] = centres[1] - centres[-2]
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    first = np.empty_like(along)
    axis = np.eye(3)[np.argmin(np.abs(along[0]))]
    for k, t in enumerate(along):
        axis = axis - (axis @ t) * t
        axis /= np.linalg.norm(axis)
        first[k] = axis
    if closed:  # what the axes have turned by after one round is spread over it
        angle = np.arctan2(np.cross(first[-1], first[0]) @ along[0], first[-1] @ first[0])
        turn = (angle * np.linspace(0.0, 1.0, len(centres)))[:, None]
        first = np.cos(turn) * first + np.sin(turn) * np.cross(along, first)
    return first, np.cross(along, first)


def tube(
    centres: FloatArray,
    radius: ArrayLike,
    colours: ArrayLike,
    *,
    sides: int = 10,
    gloss: float = 0.35,
    closed: bool = False,
) -> Facets:
    """A round tube along `centres` (n, 3), m; `radius` and `colours` are one, or one for each centre: (n,), (n, 3)."""
    first, second = parallel_axes(centres, closed)
    size = np.broadcast_to(np.asarray(radius, dtype=np.float64), len(centres))[:, None]
    facets = loft(centres, size * first, size * second, circle(sides), (0, 0, 0), gloss=gloss, capped=not closed)
    each = np.broadcast_to(np.asarray(colours, dtype=np.float64), (len(centres), 3))
    painted = np.repeat((each[:-1] + each[1:]) / 2.0, sides, axis=0)
    if not closed:
        painted = np.concatenate((painted, np.repeat(each[[0, -1]], sides, axis=0)))
    return Facets(facets.corners, facets.normals, painted, facets.gloss)


def bar(
    start: ArrayLike, end: ArrayLike, radius: float, colour: ArrayLike, *, sides: int = 8, pieces: int = 2
) -> Facets:
    """A straight round bar. Long ones take more `pieces`, so that what is near covers what is far."""
    parts = np.linspace(0.0, 1.0, pieces + 1)[:, None]
    return tube(np.asarray(start) * (1.0 - parts) + np.asarray(end) * parts, radius, colour, sides=sides)


def ball(centre: ArrayLike, radius: float, colour: ArrayLike, *, sides: int = 14, gloss: float = 0.9) -> Facets:
    """A ball."""
    angles = np.linspace(1e-3, np.pi - 1e-3, sides // 2 + 1)
    heights, widths = -radius * np.cos(angles), radius * np.sin(angles)
    centres = np.asarray(centre, dtype=np.float64) + np.outer(heights, (0.0, 0.0, 1.0))
    x, y = np.outer(widths, (1.0, 0.0, 0.0)), np.outer(widths, (0.0, 1.0, 0.0))
    return loft(centres, x, y, circle(sides), colour, gloss=gloss)


def ribbon(
    centres: FloatArray, first: FloatArray, second: FloatArray, half: tuple[float, float], colours: ArrayLike
) -> Facets:
    """A rectangular rod along `centres` (n, 3); `first`, `second`: unit axes (n, 3); `half` its half sides, m."""
    facets = loft(centres, half[0] * first, half[1] * second, SQUARE, (0, 0, 0), gloss=0.3, capped=True)
    each = np.broadcast_to(np.asarray(colours, dtype=np.float64), (len(centres), 3))
    painted = np.concatenate((np.repeat((each[:-1] + each[1:]) / 2.0, 4, axis=0), np.repeat(each[[0, -1]], 4, axis=0)))
    return Facets(facets.corners, facets.normals, painted, facets.gloss)


def board(left: ArrayLike, right: ArrayLike, along: ArrayLike, half: tuple[float, float], colour: ArrayLike) -> Facets:
    """A flat board from `left` to `right`; `half` its half width, measured towards `along`, and half thickness, m."""
    ends = np.array((left, right), dtype=np.float64)
    across = ends[1] - ends[0]
    across /= np.linalg.norm(across)
    wide = np.asarray(along, dtype=np.float64) - (np.asarray(along) @ across) * across
    wide /= np.linalg.norm(wide)
    thick = np.cross(across, wide)
    centres = np.linspace(ends[0], ends[1], 4)
    ones = np.ones((4, 1))
    return loft(centres, half[0] * wide * ones, half[1] * thick * ones, SQUARE, colour, gloss=0.0, capped=True)


def block(
    centre: ArrayLike, axes: FloatArray, size: ArrayLike, colours: ArrayLike, *, pieces: int = 4, gloss: float = 0.1
) -> Facets:
    """A box about `centre` with edges `size` (3,), m, along the columns of `axes` (3, 3).

    `colours`: one, or six, of the faces at +x, -x, +y, -y, +z, -z of it. Each face is painted in `pieces`² pieces.
    """
    each = np.broadcast_to(np.asarray(colours, dtype=np.float64), (6, 3))
    half = np.asarray(axes) * (np.asarray(size, dtype=np.float64) / 2.0)
    edge = np.linspace(-1.0, 1.0, pieces + 1)
    low, high = np.meshgrid(edge[:-1], edge[:-1], indexing="ij")
    step = 2.0 / pieces
    square = np.stack(
        [np.stack((low + a * step, high + b * step), axis=-1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    )
    square = square.reshape(4, -1, 2)
    parts = []
    for face in range(6):
        axis, sign = face // 2, 1.0 - 2.0 * (face % 2)
        first, second = half[:, (axis + 1) % 3], half[:, (axis + 2) % 3]
        corners = sign * half[:, axis] + sign * square[..., :1] * first + square[..., 1:] * second
        count = corners.shape[1]
        normals = np.tile(sign * half[:, axis] / np.linalg.norm(half[:, axis]), (count, 1))
        parts.append(
            Facets(
                np.asarray(centre) + corners.transpose(1, 0, 2), normals, np.tile(each[face], (count, 1)),
                np.full(count, gloss),
            )
        )  # fmt: skip
    return Facets.joined(parts)


def rope(
    line: FloatArray,
    radius: float,
    colour: ArrayLike,
    *,
    piece: float,
    turn: tuple[float, float] | None = None,
    sides: int = 8,
) -> Facets:
    """A cable along `line` (n, 3), m, as `sennit.Cable.path` gives it, cut into pieces of at most `piece` (m).

    `turn`: angles by which its two ends are turned, rad: then a dark stripe along it shows how it is twisted.
    """
    gaps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    parts = [line[:1]]
    for start, end, gap in zip(line[:-1], line[1:], gaps, strict=True):
        part = np.linspace(0.0, 1.0, max(1, int(np.ceil(gap / piece))) + 1)[1:, None]
        parts.append(start + part * (end - start))
    centres = np.concatenate(parts)
    facets = tube(centres, radius, colour, sides=sides)
    if turn is None:
        return facets
    first, second = parallel_axes(centres)
    along = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(centres, axis=0), axis=1))))
    angle = (turn[0] + (turn[1] - turn[0]) * along / along[-1])[:, None]
    turned = np.cos(angle) * first + np.sin(angle) * second
    other = np.cos(angle) * second - np.sin(angle) * first
    striped = np.tile(np.asarray(colour, dtype=np.float64), (sides, 1))
    striped[: sides // 2] *= 0.35
    return loft(centres, radius * turned, radius * other, circle(sides), striped)


def wheel(sight: FloatArray, colour: ArrayLike, *, thickness: float = 0.16, sides: int = 6, spokes: int = 3) -> Facets:
    """A wheel: `sight` (3, 3) is its centre and two radii that turn with it; `thickness` of its rim over its radius."""
    centre, first, second = sight
    radius = float(np.linalg.norm(first))
    angles = np.linspace(0.0, 2.0 * np.pi, 25)
    rim = centre + np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second
    parts = [tube(rim, thickness * radius, colour, sides=sides, closed=True)]
    dark = 0.7 * np.asarray(colour, dtype=np.float64)
    for k in range(spokes):
        a = np.pi * k / spokes
        way = np.cos(a) * first + np.sin(a) * second
        parts.append(bar(centre - way, centre + way, 0.09 * radius, dark, sides=6, pieces=4))
    return Facets.joined(parts)


def floor(camera: Camera, low: tuple[float, float], high: tuple[float, float]) -> FloatArray:
    """The part that is well before the camera of the rectangle at z = 0 from `low` to `high`, (x, y): (n, 3), m."""
    corners = np.array(((*low, 0.0), (high[0], low[1], 0.0), (*high, 0.0), (low[0], high[1], 0.0)))
    near = 0.3 * float(camera.eye[2])
    ahead = camera.project(corners)[1] - near
    kept = []
    for k in range(4):
        here, after = ahead[k], ahead[k - 3]
        if here >= 0.0:
            kept.append(corners[k])
        if (here >= 0.0) != (after >= 0.0):
            kept.append(corners[k] + here / (here - after) * (corners[k - 3] - corners[k]))
    return np.array(kept)
