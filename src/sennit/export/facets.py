"""Flat pieces of surfaces, coloured: what the painter paints and a page shows as decor. It needs no picture library.

Lengths are in metres, colours (red, green, blue) from 0 to 255.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sennit.validation import FloatArray

__all__ = ["LIGHT", "Facets", "circle", "loft"]

LIGHT = np.array((-0.36, -0.28, 0.89)) / np.linalg.norm((-0.36, -0.28, 0.89))
"""Where the light comes from."""


@dataclass(frozen=True, slots=True)
class Facets:
    """Flat pieces of surfaces: corners (n, 4, 3), m; outward normals (n, 3); colours (n, 3); gloss (n,), 0 to 1."""

    corners: FloatArray
    normals: FloatArray
    colours: FloatArray
    gloss: FloatArray

    @classmethod
    def joined(cls, parts: Iterable[Facets]) -> Facets:
        """All of `parts` as one."""
        listed = list(parts)
        return cls(*(np.concatenate([getattr(part, name) for part in listed]) for name in cls.__slots__))

    def shaded(self, eye: FloatArray) -> FloatArray:
        """Colours (n, 3) under the light, for an eye at (3,), m."""
        towards = eye - self.corners.mean(axis=1)
        towards /= np.linalg.norm(towards, axis=1, keepdims=True)
        half = towards + LIGHT
        half /= np.linalg.norm(half, axis=1, keepdims=True)
        diffuse = np.clip(self.normals @ LIGHT, 0.0, 1.0)
        sky = 0.5 + 0.5 * self.normals[:, 2]
        bright = 0.42 + 0.16 * sky + 0.50 * diffuse
        shine = self.gloss * np.clip(np.einsum("ij,ij->i", self.normals, half), 0.0, 1.0) ** 18
        lit = self.colours * bright[:, None] + 190.0 * shine[:, None]
        return np.asarray(np.clip(lit, 0.0, 255.0))


def circle(sides: int) -> FloatArray:
    """Corners (sides, 2) of a regular polygon of radius 1; the middle of its first side is on the first axis."""
    angles = 2.0 * math.pi * (np.arange(sides) - 0.5) / sides
    return np.column_stack((np.cos(angles), np.sin(angles)))


def loft(
    centres: FloatArray,
    first: FloatArray,
    second: FloatArray,
    outline: FloatArray,
    colour: ArrayLike,
    *,
    gloss: float = 0.3,
    capped: bool = False,
) -> Facets:
    """A surface through cross-sections: `outline`, (k, 2), counterclockwise, spanned by two axes at each centre.

    Arguments: `centres`, `first`, `second`, (m, 3), m: the axes' lengths scale the outline, and first × second points
    along the loft; `colour`, (3,), or (k, 3) for the sides; `gloss`, 0 to 1; `capped` closes both ends.
    """
    rings = centres[:, None] + first[:, None] * outline[:, :1] + second[:, None] * outline[:, 1:]
    after = np.roll(rings, -1, axis=1)
    quads = np.stack((rings[:-1], after[:-1], after[1:], rings[1:]), axis=2)
    count, sides = quads.shape[:2]
    corners = quads.reshape(-1, 4, 3)
    colours = np.tile(np.broadcast_to(np.asarray(colour, dtype=np.float64), (sides, 3)), (count, 1))
    if capped:
        ends = []
        for ring, middle, turn in ((rings[0], centres[0], -1), (rings[-1], centres[-1], 1)):
            ordered = ring[::turn]
            hub = np.broadcast_to(middle, ordered.shape)
            ends.append(np.stack((hub, ordered, np.roll(ordered, -1, axis=0), hub), axis=1))
        corners = np.concatenate((corners, *ends))
        colours = np.concatenate((colours, colours[:sides], colours[:sides][::-1]))
    normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    return Facets(corners, normals / np.where(size > 0.0, size, 1.0), colours, np.full(len(corners), gloss))
