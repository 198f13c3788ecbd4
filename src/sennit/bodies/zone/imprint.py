"""The imprint of a shape in a zone: pressures, and the ellipse that a sphere leaves."""

from __future__ import annotations

import numpy as np

from sennit.elastostatics import steady
from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.surface import IntArray, Surface
from sennit.validation import FloatArray

__all__ = ["Imprint"]

_FACING = 0.3
"""Least cosine between the inward normal of a face and that of the shape where the face counts as pressed."""
_FEWEST = 7
"""Vertices below which an ellipse is not fitted: one and its six neighbours."""


class Imprint:
    """What the forces at the vertices of a patch tell of pressures.

    Arguments: `surface`, undeformed; `patch` (k,), vertices on which the shape presses; `forces` (k, 3), N, on them;
    `normals` (k, 3) of the shape there, into the body.
    """

    def __init__(self, surface: Surface, patch: IntArray, forces: FloatArray, normals: FloatArray) -> None:
        self._surface, self._patch, self._forces, self._normals = surface, patch, forces, normals
        place = np.full(len(surface.vertices), -1, dtype=np.int64)
        place[patch] = np.arange(len(patch))
        corners = np.flatnonzero(place[surface.faces.ravel()] >= 0)
        where = place[surface.faces.ravel()[corners]]
        cosine = -np.einsum("ij,ij->i", surface.normals[corners // 3], normals[where])
        kept = cosine > _FACING
        self._where = where[kept]
        """Place in the patch of each corner of a face that faces the shape."""
        self._corners = corners[kept]
        """Those corners: 3 face + corner."""
        self._weights = (surface.areas[corners // 3] * cosine / 3.0)[kept]
        """Their areas, seen along the shape's normals, m²."""

    @property
    def area(self) -> float:
        """Sum of the areas of the vertices in contact, m², seen along the shape's normals."""
        return float(self._weights.sum())

    def pressures(self, boundary: BoundaryStiffness, displacements: FloatArray, modulus: float) -> FloatArray:
        """Pressures (n,), Pa, 0 off the patch, from the tractions at the corners that face the shape."""
        where, weights = self._where, self._weights
        result = np.zeros(len(self._surface.vertices))
        if not len(where):
            return result
        nodes, back = np.unique(boundary.corner_nodes.ravel()[self._corners], return_inverse=True)
        rows = (3 * nodes[:, None] + np.arange(3)).ravel()
        tractions = steady.times(boundary.tractions[rows], displacements.ravel()).reshape(-1, 3)
        tractions *= modulus
        normal = np.einsum("ij,ij->i", tractions[back.ravel()], self._normals[where])
        count = len(self._patch)
        total = np.bincount(where, weights * normal, count) / np.maximum(np.bincount(where, weights, count), 1e-300)
        result[self._patch] = np.maximum(total, 0.0)
        return result

    def ellipse(self) -> tuple[float, float, float] | None:
        """Semi-axes (m) and peak (Pa) of the Hertzian pressure with the forces' sum and second moments; None for few.

        p = p₀ (1 − x²/a² − y²/b²)^½ has ∫p = ⅔π a b p₀ and ∫x²p = a²/5 ∫p. Forces at vertices are ∫N p: their moments
        are those of x² interpolated in each triangle, larger by ¼ Σ (v − c)(v − c)ᵀ over its corners v with middle c.
        Places are undeformed ones, as Hertz's are.
        """
        surface, patch = self._surface, self._patch
        if len(patch) < _FEWEST:
            return None
        normal = np.einsum("ij,ij->i", self._forces, self._normals)
        total = float(normal.sum())
        axis = normal @ self._normals
        axis /= np.linalg.norm(axis)
        plane = np.linalg.svd(axis[None])[2][1:]
        places = surface.vertices[patch] @ plane.T
        triangles = surface.vertices[surface.faces[self._corners // 3]] @ plane.T
        triangles = triangles - triangles.mean(axis=1, keepdims=True)
        excess = 0.25 * np.einsum("fka,fkb->fab", triangles, triangles)
        share = np.bincount(self._where, self._weights, len(patch))
        weights = self._weights * (normal / np.maximum(share, 1e-300))[self._where]
        offset = places - normal @ places / total
        second = np.einsum("i,ia,ib->ab", normal, offset, offset) - np.einsum("f,fab->ab", weights, excess)
        values = 5.0 * np.linalg.eigvalsh(second / total)
        if not values[0] > 0.0:
            return None
        a, b = float(np.sqrt(values[1])), float(np.sqrt(values[0]))
        return a, b, 1.5 * total / (np.pi * a * b)
