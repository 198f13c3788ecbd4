"""A pad of soft tissue beside a wound, as a closed triangle mesh: what `stitch` sews.

A slab whose side at the wound, its lip, curves away from the wound's line as a lens does, and is rounded above. In the
slab's own frame x runs from the wound's line (x = 0) into the tissue, y along the wound and z up; everything is the
same at y and -y, so that a second slab, turned by half a turn about z, is the opposite side of the wound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.elastostatics.surface import IntArray

__all__ = ["Slab"]


@dataclass(frozen=True, slots=True)
class Slab:
    """Measures of a pad, m, and how finely it is meshed."""

    width: float = 0.022
    """From the wound's line to the outer side."""
    length: float = 0.046
    thickness: float = 0.009
    open_middle: float = 1.5e-3
    """Half of the wound's gap in its middle."""
    open_end: float = 0.3e-3
    """Half of the gap at both ends."""
    rounding: float = 1.6e-3
    """Radius of the lip's upper edge."""
    undermined: float = 0.013
    """How far from the line the lower side is loose."""
    cells: tuple[int, int, int] = (8, 24, 5)
    """Along x, y and z."""

    def opening(self, y: FloatArray | float) -> FloatArray:
        """Half of the gap at `y`, m: open_end + (open_middle - open_end) cos²(π y/length)."""
        wave = np.cos(np.pi * np.asarray(y, dtype=np.float64) / self.length) ** 2
        return np.asarray(self.open_end + (self.open_middle - self.open_end) * wave)

    def section(self) -> FloatArray:
        """A cross-section without the opening: x and z of a grid (nx + 1, nz + 1, 2), m.

        Its four sides are the lip with one half of the rounding, the top with the other half, the outer side and the
        bottom; between them it is Coons's patch. Cells grow away from the lip.
        """
        nx, _, nz = self.cells
        w, h, r = self.width, self.thickness, self.rounding
        s = np.linspace(0.0, 1.0, nx + 1)
        s = 0.35 * s + 0.65 * s**2.2
        t = np.linspace(0.0, 1.0, nz + 1)
        t = t + 0.12 * np.sin(np.pi * t) * t  # finer towards the top
        bottom, outer = np.column_stack((w * s, 0.0 * s)), np.column_stack((np.full_like(t, w), h * t))
        quarter = r * np.pi / 4.0
        up = t * (h - r + quarter)
        angle = np.maximum(up - (h - r), 0.0) / r  # of the half of the rounding that the lip has
        lip = np.column_stack((r - r * np.cos(angle), np.minimum(up, h - r) + r * np.sin(angle)))
        along = s * (w - r + quarter)
        angle = np.pi / 4.0 + np.minimum(along, quarter) / r
        top = np.column_stack((r - r * np.cos(angle) + np.maximum(along - quarter, 0.0), h - r + r * np.sin(angle)))
        a, b = s[:, None, None], t[None, :, None]
        ruled = (1.0 - a) * lip[None] + a * outer[None] + (1.0 - b) * bottom[:, None] + b * top[:, None]
        corners = (1.0 - b) * ((1.0 - a) * bottom[0] + a * bottom[-1]) + b * ((1.0 - a) * top[0] + a * top[-1])
        return np.asarray(ruled - corners)

    def mesh(self) -> tuple[FloatArray, IntArray]:
        """Vertices (n, 3), m, and faces (m, 3), counter-clockwise seen from outside."""
        nx, ny, nz = self.cells
        flat = self.section()
        y = np.linspace(-0.5 * self.length, 0.5 * self.length, ny + 1)
        grid = np.empty((nx + 1, ny + 1, nz + 1, 3))
        grid[..., 0] = flat[:, None, :, 0] + self.opening(y)[None, :, None] * (1.0 - flat[:, None, :, 0] / self.width)
        grid[..., 1] = y[None, :, None]
        grid[..., 2] = flat[:, None, :, 1]
        ids = np.full(grid.shape[:3], -1, dtype=np.int64)
        outside = np.zeros(grid.shape[:3], dtype=bool)
        for axis in range(3):
            np.moveaxis(outside, axis, 0)[[0, -1]] = True
        ids[outside] = np.arange(np.count_nonzero(outside))
        faces = []
        for axis in range(3):
            for end in (0, -1):
                # the other two axes in the order that makes their product point along this one
                side = np.moveaxis(ids, ((axis + 1) % 3, (axis + 2) % 3), (-2, -1))[end]
                faces.append(_triangles(side) if end == -1 else _triangles(side)[:, ::-1])
        return grid[outside], np.concatenate(faces)

    def held(self, vertices: FloatArray) -> IntArray:
        """Ids of the vertices at the outer side and at the lower side where it is not undermined."""
        x, _, z = vertices.T
        tiny = 1e-9 * self.width
        return np.flatnonzero((x > self.width - tiny) | ((z < tiny) & (x > self.undermined)))

    def facing(self) -> IntArray:
        """Ids of the lip's vertices, (ny + 1, nz + 1): along the wound, then upwards."""
        _, ny, nz = self.cells
        return np.arange((ny + 1) * (nz + 1)).reshape(ny + 1, nz + 1)  # the first side of the grid comes first


def _triangles(ids: IntArray) -> IntArray:
    """A grid of vertex ids (p, q) as triangles, diagonals alternating; the normal is first axis × second."""
    a, b, c, d = ids[:-1, :-1], ids[1:, :-1], ids[1:, 1:], ids[:-1, 1:]
    even = (np.add.outer(np.arange(a.shape[0]), np.arange(a.shape[1])) % 2 == 0)[..., None]
    one = np.where(even, np.stack((a, b, c), -1), np.stack((a, b, d), -1))
    two = np.where(even, np.stack((a, c, d), -1), np.stack((b, c, d), -1))
    return np.concatenate((one.reshape(-1, 3), two.reshape(-1, 3)))
