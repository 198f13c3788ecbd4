"""Sets up the grid for the kernels that find which segments meet which triangles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.compile_once import compile_once
from sennit.elastostatics.kernels import crossings as kernels
from sennit.elastostatics.tables import FaceGrid, Pairs, Segments
from sennit.validation import FloatArray

__all__ = ["meetings"]

IntArray = NDArray[np.int64]
_CELLS_PER_FACE = 4
_KEPT = 1000


def meetings(
    segments: FloatArray,
    owners: IntArray,
    vertices: FloatArray,
    faces: IntArray,
    normals: FloatArray,
    *,
    tolerance: float,
    limit: int = _KEPT,
) -> tuple[int, IntArray]:
    """How many segments (s, 2, 3) come within `tolerance` of a face, and up to `limit` pairs (segment, face).

    Faces that contain one of the vertices owners[s] (s, w) do not count for segment s. `normals` (m, 3) are unit.
    """
    compile_once("mesh", [_compile])
    return _meetings(segments, owners, vertices, faces, normals, tolerance, limit)


def _meetings(
    segments: FloatArray,
    owners: IntArray,
    vertices: FloatArray,
    faces: IntArray,
    normals: FloatArray,
    tolerance: float,
    limit: int,
) -> tuple[int, IntArray]:
    corners = [vertices[faces[:, k]] for k in range(3)]  # minimum.reduce over a list is quick, min(axis=1) is not
    face_low = np.minimum.reduce(corners) - tolerance
    face_high = np.maximum.reduce(corners) + tolerance
    segment_low = np.minimum(segments[:, 0], segments[:, 1])
    segment_high = np.maximum(segments[:, 0], segments[:, 1])
    low = np.minimum(face_low.min(axis=0), segment_low.min(axis=0))
    extent = np.maximum(face_high.max(axis=0), segment_high.max(axis=0)) - low
    # Cells as large as a face is on average, and no more of them than a few per face: a flat body gets a flat grid.
    size = max(float((face_high - face_low).mean(axis=0).max()), 1e-3 * float(extent.max()))
    while math.prod(int(length / size) + 1 for length in extent) > _CELLS_PER_FACE * len(faces) + 64:
        size *= 1.2
    shape = np.floor(extent / size).astype(np.int64) + 1

    def cells(points: FloatArray) -> IntArray:
        return np.asarray(np.clip(np.floor((points - low) / size), 0, shape - 1), dtype=np.int64)

    first, last = cells(face_low), cells(face_high)
    counts = np.zeros(int(shape.prod()), np.int64)
    kernels.count_cells(first, last, shape, counts)
    starts = np.concatenate(([0], np.cumsum(counts)))
    entries = np.empty(int(starts[-1]), np.int64)
    kernels.fill_cells(first, last, shape, starts[:-1].copy(), entries)
    grid = FaceGrid.of(
        vertices=_plain(vertices), faces=_plain(faces), normals=_plain(normals), first=first, low=face_low,
        high=face_high, shape=shape, starts=starts, entries=entries,
    )  # fmt: skip
    pairs = Pairs(rows=limit)
    given = Segments.of(
        ends=_plain(segments), owners=_plain(owners), first=cells(segment_low), last=cells(segment_high)
    )
    found = int(kernels.find_meetings(given, grid, tolerance, pairs))
    kept = min(found, limit)
    return found, np.stack((pairs.segment[:kept], pairs.face[:kept]), axis=1)


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(values)


def _compile() -> None:
    vertices = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
    faces, normals = np.array([(0, 1, 2)]), np.array([(0.0, 0.0, 1.0)])
    for width in (2, 3):
        _meetings(vertices[None, :2], np.zeros((1, width), np.int64), vertices, faces, normals, 1e-9, 1)
