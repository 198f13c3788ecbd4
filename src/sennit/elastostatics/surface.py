"""The surface of a solid: a closed triangle mesh, its areas, its normals, and its traction nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sennit.validation import FloatArray

__all__ = ["IntArray", "Surface"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Surface:
    """A closed triangle mesh wound outwards, already checked."""

    vertices: FloatArray
    """(n, 3), m."""
    faces: IntArray
    """(m, 3), counter-clockwise seen from outside."""

    @cached_property
    def _crosses(self) -> FloatArray:
        a, b, c = (self.vertices[self.faces[:, k]] for k in range(3))
        return np.asarray(np.cross(b - a, c - a))

    @cached_property
    def areas(self) -> FloatArray:
        """(m,), m²."""
        return 0.5 * np.asarray(np.linalg.norm(self._crosses, axis=1))

    @cached_property
    def normals(self) -> FloatArray:
        """(m, 3), outward unit normals of the faces."""
        return self._crosses / (2.0 * self.areas[:, None])

    @cached_property
    def vertex_areas(self) -> FloatArray:
        """(n,), m²: a third of the faces round each vertex, which is ∫N."""
        return np.bincount(self.faces.ravel(), np.repeat(self.areas / 3.0, 3), minlength=len(self.vertices))

    @cached_property
    def vertex_normals(self) -> FloatArray:
        """(n, 3), unit: the faces' normals, weighted by area."""
        total = np.zeros_like(self.vertices)
        for corner in range(3):
            np.add.at(total, self.faces[:, corner], self._crosses)
        return np.asarray(total / np.linalg.norm(total, axis=1, keepdims=True))
