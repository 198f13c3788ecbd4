"""Triangle meshes of tubes: their rings, caps and stripes as arrays, without a loop over stations.

The vertices of a tube come ring by ring, from its first station to its last, the corners of a ring counter-clockwise
about the direction of the tube; after them, of an open tube, those of its two caps. All faces are wound outwards.
What depends on a frame is in `tube_vertices`, `tube_normals` and `stripe_vertices`; the rest stays the same for good.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from sennit.portrait.parts import Tube, TubeView
from sennit.portrait.rows import cross, lengths
from sennit.validation import FloatArray

__all__ = [
    "SIDES",
    "corner_normals",
    "sealed_tube",
    "stripe_faces",
    "stripe_stations",
    "stripe_vertices",
    "tangents",
    "tube_faces",
    "tube_normals",
    "tube_stations",
    "tube_vertices",
    "vertex_normals",
]

IntArray = NDArray[np.int64]

SIDES = 12
"""Corners of a round tube's rings, if nothing else is asked for."""
_STRIPE = 0.36
"""Half of the angle that a stripe takes of a round tube, rad."""
_STRIPE_WIDTH = 0.3
"""Half of the width of a stripe on a flat tube, over half of the tube's."""
_STRIPE_CORNERS = 3
_RAISED = 1.03
"""How far a stripe is from the centreline, over where the surface is: far enough not to flicker."""


# --------------------------------------------------------------------------------------------------------- sections


def _outline(tube: Tube, sides: int) -> tuple[FloatArray, FloatArray]:
    """Corners (k, 2), m, of the section along d1 and d2, and unit normals there; a rectangle's corners stand twice."""
    a, b = tube.half
    if tube.rectangular:
        signs = np.array(((1, -1), (1, 1), (1, 1), (-1, 1), (-1, 1), (-1, -1), (-1, -1), (1, -1)), dtype=np.float64)
        normals = np.repeat(np.array(((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))), 2, axis=0)
        return signs * (a, b), normals
    angles = np.arange(sides) * (2.0 * math.pi / sides)
    around = np.column_stack((np.cos(angles), np.sin(angles)))
    normals = around / (a, b)
    return around * (a, b), normals / np.linalg.norm(normals, axis=1, keepdims=True)


def tangents(centres: FloatArray, closed: bool = False) -> FloatArray:
    """Unit directions (n, 3) of a line through `centres` (n, 3): at a corner, half way between its two sides.

    Where a line turns right back, or its points coincide, that of the piece before, or any.
    """
    steps = centres[1:] - centres[:-1]
    sizes = lengths(steps)[:, None]
    steps = np.divide(steps, sizes, out=np.zeros_like(steps), where=sizes > 0.0)
    result = np.empty_like(centres)
    result[1:-1] = steps[:-1] + steps[1:]
    result[0], result[-1] = steps[0], steps[-1]
    if closed:
        result[0] = result[-1] = steps[0] + steps[-1]
    sizes = lengths(result)[:, None]
    if not sizes.min() > 1e-9:
        lost = sizes[:, 0] <= 1e-9
        result[lost] = np.concatenate((steps[:1], steps))[lost]
        still = lost & ~result.any(axis=1)
        result[still] = (1.0, 0.0, 0.0)
        sizes = np.linalg.norm(result, axis=1, keepdims=True)
    return np.asarray(result / sizes)


def _axes(tube: Tube, view: TubeView) -> tuple[FloatArray, FloatArray]:
    """d1 and d2 of the sections, (n, 3) each, both unit and square to each other."""
    d1 = view.directors
    d2 = cross(tangents(view.centres, tube.closed), d1)
    sizes = lengths(d2)[:, None]
    if not sizes.min() > 1e-9:  # a director along the line
        lost = sizes[:, 0] <= 1e-9
        other = np.eye(3)[np.argmin(np.abs(d1[lost]), axis=1)]
        d2[lost] = cross(other, np.ascontiguousarray(d1[lost]))
        sizes = np.linalg.norm(d2, axis=1, keepdims=True)
    return d1, d2 / sizes


# ------------------------------------------------------------------------------------------------------------ tubes


def tube_vertices(tube: Tube, view: TubeView, sides: int = SIDES) -> FloatArray:
    """Vertices (v, 3), m, of a tube in one frame; `sides`: corners of a round ring (a rectangle has 8)."""
    corners, _ = _outline(tube, sides)
    d1, d2 = _axes(tube, view)
    rings = _rings(tube, view, corners, d1, d2)
    flat = rings.reshape(-1, 3)
    if tube.closed:
        return flat
    return np.concatenate((flat, view.centres[:1], rings[0], view.centres[-1:], rings[-1]))


def _rings(tube: Tube, view: TubeView, corners: FloatArray, d1: FloatArray, d2: FloatArray) -> FloatArray:
    """The corners (k, 2), m, of a section at each station: (n, k, 3), m."""
    out = corners[:, :1] * d1[:, None] + corners[:, 1:] * d2[:, None]
    if tube.widths is not None:
        out *= tube.widths[:, None, None]
    return np.asarray(view.centres[:, None] + out)


def tube_normals(tube: Tube, view: TubeView, sides: int = SIDES) -> FloatArray:
    """Unit normals (v, 3) at the vertices that `tube_vertices` gives."""
    _, normals = _outline(tube, sides)
    d1, d2 = _axes(tube, view)
    rings = normals[:, :1] * d1[:, None] + normals[:, 1:] * d2[:, None]
    flat = rings.reshape(-1, 3)
    if tube.closed:
        return flat
    along = cross(d1, d2)
    caps = np.repeat(np.stack((-along[0], along[-1])), len(normals) + 1, axis=0)
    return np.concatenate((flat, caps))


def tube_stations(tube: Tube, sides: int = SIDES) -> IntArray:
    """The station that each vertex belongs to, (v,): ``shade(view.fields["tension"], …)[tube_stations(tube)]``."""
    k = 8 if tube.rectangular else sides
    rings = np.repeat(np.arange(tube.count), k)
    return rings if tube.closed else np.concatenate((rings, np.zeros(k + 1, int), np.full(k + 1, tube.count - 1)))


def tube_faces(tube: Tube, sides: int = SIDES) -> IntArray:
    """Faces (f, 3) of the vertices that `tube_vertices` gives."""
    return _tube_faces(tube.count, tube.rectangular, tube.closed, sides).copy()


@functools.lru_cache(maxsize=256)
def _tube_faces(count: int, rectangular: bool, closed: bool, sides: int) -> IntArray:
    k = 8 if rectangular else sides
    edges = np.arange(0, 8, 2) if rectangular else np.arange(sides)
    here = (np.arange(count - 1)[:, None] * k + edges).ravel()
    beside = (np.arange(count - 1)[:, None] * k + (edges + 1) % k).ravel()
    faces = np.concatenate((np.column_stack((here, beside, beside + k)), np.column_stack((here, beside + k, here + k))))
    if closed:
        return faces
    hub = count * k
    around, after = 1 + np.arange(k), 1 + np.roll(np.arange(k), -1)
    start = np.column_stack((np.full(k, hub), hub + after, hub + around))
    hub += k + 1
    end = np.column_stack((np.full(k, hub), hub + around, hub + after))
    if rectangular:  # a corner that stands twice makes a face without an area
        start, end = start[::2], end[::2]
    return np.concatenate((faces, start, end))


def sealed_tube(tube: Tube, view: TubeView, sides: int = SIDES) -> tuple[FloatArray, IntArray]:
    """Vertices (v, 3), m, and faces (f, 3) of a tube as a closed surface in one frame: no vertex stands twice.

    Its corners lie on the surface of the tube, so that a round one has sides/2π · sin(2π/sides) of its volume.
    """
    corners, _ = _outline(tube, sides)
    if tube.rectangular:  # each corner stands twice there, with the normals of both sides
        corners = corners[::2]
    k = len(corners)
    d1, d2 = _axes(tube, view)
    rings = view.centres[:, None] + corners[:, :1] * d1[:, None] + corners[:, 1:] * d2[:, None]
    if tube.closed:
        rings = rings[:-1]
    count = len(rings)
    spans, around = np.arange(count if tube.closed else count - 1)[:, None], np.arange(k)
    here, beside = (spans * k + around).ravel(), (spans * k + (around + 1) % k).ravel()
    above, across = (np.asarray(each + k) % (count * k) for each in (here, beside))
    faces = np.concatenate((np.column_stack((here, beside, across)), np.column_stack((here, across, above))))
    if tube.closed:
        return rings.reshape(-1, 3), faces
    last, hub = (count - 1) * k, count * k
    after = np.roll(around, -1)
    start = np.column_stack((np.full(k, hub), after, around))
    end = np.column_stack((np.full(k, hub + 1), last + around, last + after))
    return np.concatenate((rings.reshape(-1, 3), view.centres[[0, -1]])), np.concatenate((faces, start, end))


# ---------------------------------------------------------------------------------------------------------- stripes


def _stripe_outline(tube: Tube) -> FloatArray:
    """Corners (6, 2), m, of the two stripes of a section: along d1 and −d1, or on the wide sides of a flat tube."""
    a, b = tube.half
    if tube.rectangular:
        across = np.linspace(-_STRIPE_WIDTH, _STRIPE_WIDTH, _STRIPE_CORNERS)
        if a >= b:
            corners = np.column_stack((-across * a, np.full(_STRIPE_CORNERS, _RAISED * b)))
        else:
            corners = np.column_stack((np.full(_STRIPE_CORNERS, _RAISED * a), across * b))
    else:
        angles = np.linspace(-_STRIPE, _STRIPE, _STRIPE_CORNERS)
        # its chords must not dip below the surface between its corners
        lift = _RAISED / math.cos(0.5 * (angles[1] - angles[0]))
        corners = lift * np.column_stack((a * np.cos(angles), b * np.sin(angles)))
    return np.concatenate((corners, -corners))


def stripe_vertices(tube: Tube, view: TubeView) -> FloatArray:
    """Vertices (6 n, 3), m, of two stripes on opposite sides of a tube, a little above its surface.

    They follow d1 and −d1, so that one of them is seen from everywhere; on a flat tube, the middles of its wide sides.
    """
    corners = _stripe_outline(tube)
    d1, d2 = _axes(tube, view)
    return _rings(tube, view, corners, d1, d2).reshape(-1, 3)


def stripe_faces(tube: Tube) -> IntArray:
    """Faces (f, 3) of the vertices that `stripe_vertices` gives; they face away from the tube."""
    k = 2 * _STRIPE_CORNERS
    edges = np.concatenate((np.arange(_STRIPE_CORNERS - 1), _STRIPE_CORNERS + np.arange(_STRIPE_CORNERS - 1)))
    here = (np.arange(tube.count - 1)[:, None] * k + edges).ravel()
    return np.concatenate(
        (np.column_stack((here, here + 1, here + 1 + k)), np.column_stack((here, here + 1 + k, here + k)))
    )


def stripe_stations(tube: Tube) -> IntArray:
    """The station that each vertex of the stripes belongs to, (6 n,)."""
    return np.repeat(np.arange(tube.count), 2 * _STRIPE_CORNERS)


# ----------------------------------------------------------------------------------------------------- other meshes


def vertex_normals(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Unit normals (v, 3): means of those of the faces round each vertex, by their areas."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    crossed = cross(b - a, c - a)
    total = np.empty_like(vertices)
    for k in range(3):
        total[:, k] = np.bincount(faces.ravel(), np.repeat(crossed[:, k], 3), len(vertices))
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300))


def corner_normals(vertices: FloatArray, faces: IntArray, crease: float = 0.6) -> FloatArray:
    """Unit normals (f, 3, 3) at the corners of faces: rounded off where faces meet at less than `crease` (rad)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    flat = cross(b - a, c - a)
    flat /= np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-300)
    smooth = vertex_normals(vertices, faces)[faces]
    near = np.einsum("fkc,fc->fk", smooth, flat) > math.cos(crease)
    return np.where(near[:, :, None], smooth, flat[:, None])
