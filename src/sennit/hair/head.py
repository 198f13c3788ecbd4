"""What hair grows on and lies against: spheres, capsules and grids of distances, in the head's own frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import unchanging
from sennit.errors import InputError
from sennit.geometry.kernels.distances import box_round
from sennit.geometry.shapes import AbstractShape, Capsule, Sphere
from sennit.validation import FloatArray, quoted

__all__ = ["DistanceGrid", "HeadPart", "checked_head", "distances_of", "shape_rows"]

_LARGEST = 1 << 26
"""Most numbers of a grid: half a gigabyte."""


@unchanging
class DistanceGrid:
    """Signed distances of a solid at the corners of a grid of cubes, for `Hair`: negative inside, linear in between.

    Arguments: `values`, (nx, ny, nz), m, at ``origin + spacing * (i, j, k)``; `origin`, (3,), m; `spacing`, m. Beyond
    its last corners there is nothing to touch: let it reach as far out as hair comes near. Two corners or more along
    each axis.

    Raises `InputError` for other shapes, numbers that are not finite, a spacing that is not positive.

    >>> from sennit import DistanceGrid, Sphere
    >>> ball = DistanceGrid.of(Sphere((0, 0, 0), 0.1), 0.01)
    >>> round(float(ball.values[0, 0, 0]), 3)
    0.151
    """

    values: FloatArray
    """Distances, (nx, ny, nz), m, read-only."""
    origin: FloatArray
    """Where the first corner is, (3,), m, read-only."""
    spacing: float
    """Edge of a cube, m."""

    def __init__(self, values: ArrayLike, origin: ArrayLike, spacing: float) -> None:
        grid = validation.array("values", values, (None, None, None))
        if min(grid.shape) < 2 or grid.size > _LARGEST:
            raise InputError(
                f"values must be distances at two corners or more along each axis, and {_LARGEST} in all at most, got "
                f"an array of shape {grid.shape}"
            )
        first = validation.vector("origin", origin)
        edge = validation.number("spacing", spacing, positive=True)
        for array in (grid, first):
            array.setflags(write=False)
        self.__dict__.update(values=grid, origin=first, spacing=edge)

    @classmethod
    def of(cls, shape: AbstractShape, spacing: float, margin: float | None = None) -> DistanceGrid:
        """The distances of a `shape` (a `Mesh`, say), at a `spacing` (m); `margin`: how far it reaches beyond the
        shape, m (four spacings, if left out).

        Raises `InputError` for a shape without an end, and for a grid that would be too large.
        """
        if not isinstance(shape, AbstractShape):
            raise InputError(f"shape must be a shape, such as a sennit.Mesh, got {quoted(shape)}")
        edge = validation.number("spacing", spacing, positive=True)
        beyond = 4.0 * edge if margin is None else validation.number("margin", margin, positive=True)
        low, high = np.zeros((1, 3)), np.zeros((1, 3))
        box_round(shape._table, 0, low, high)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            raise InputError(f"a grid can't hold {shape!r}, which has no end: use a sphere, a capsule, a box or a mesh")
        counts = np.ceil((high[0] - low[0] + 2.0 * beyond) / edge).astype(np.int64) + 1
        if np.prod(counts.astype(float)) > _LARGEST:
            raise InputError(f"a grid of {' × '.join(map(str, counts))} corners is too large: choose a larger spacing")
        origin = 0.5 * (low[0] + high[0]) - 0.5 * edge * (counts - 1)
        places = np.stack(np.meshgrid(*(edge * np.arange(n) for n in counts), indexing="ij"), axis=-1) + origin
        return cls(shape.signed_distance(places.reshape(-1, 3)).reshape(counts), origin, edge)

    def __repr__(self) -> str:
        return f"<DistanceGrid of {' × '.join(map(str, self.values.shape))} corners, {self.spacing:g} m apart>"


HeadPart = Sphere | Capsule | DistanceGrid


def checked_head(given: object) -> tuple[HeadPart, ...]:
    """What a head is made of."""
    parts = (given,) if isinstance(given, HeadPart) else given
    if not isinstance(parts, Sequence) or not all(isinstance(part, HeadPart) for part in parts):
        raise InputError(
            f"head must be made of sennit.Sphere, sennit.Capsule and sennit.DistanceGrid, one or a list of them, got "
            f"{quoted(given)}; DistanceGrid.of(shape, spacing) takes other shapes"
        )
    if sum(isinstance(part, DistanceGrid) for part in parts) > 1:
        raise InputError("head may have one sennit.DistanceGrid: make one grid of all")
    return tuple(parts)


def shape_rows(parts: Sequence[HeadPart]) -> FloatArray:
    """Spheres and capsules as `HairTable.shapes` has them, (k, 8)."""
    rows = []
    for part in parts:
        if isinstance(part, Sphere):
            rows.append((*part.centre, 0.0, 0.0, 0.0, 0.0, part.radius))
        elif isinstance(part, Capsule):
            along = part.pose.rotation[:, 2] * part.length
            start = part.pose.position - 0.5 * along
            rows.append((*start, *along, 1.0 / part.length**2, part.radius))
    return np.array(rows, dtype=np.float64).reshape(-1, 8)


def distances_of(parts: Sequence[HeadPart], places: FloatArray) -> FloatArray:
    """Signed distances of places (k, 3), m, in the head's frame, from all of it, as steps of hair find them."""
    least = np.full(len(places), np.inf)
    for part in parts:
        if isinstance(part, DistanceGrid):
            least = np.minimum(least, _in_grid(part, places))
        else:
            least = np.minimum(least, part.signed_distance(places))
    return least


def _in_grid(grid: DistanceGrid, places: FloatArray) -> FloatArray:
    x = (places - grid.origin) / grid.spacing
    last = np.array(grid.values.shape) - 1
    cell = np.clip(np.floor(x), 0, last - 1).astype(np.int64)
    part = np.clip(x - cell, 0.0, 1.0)
    found = np.zeros(len(places))
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(np.array(corner) == 1, part, 1.0 - part), axis=1)
        found += weight * grid.values[tuple((cell + corner).T)]
    outside = ((x < 0.0) | (x > last)).any(axis=1)
    return np.where(outside, np.inf, found)
