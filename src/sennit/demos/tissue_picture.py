"""How tissue is drawn: a smooth skin in the colours of its stretch.

Lengths are in metres, colours (red, green, blue) from 0 to 255.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit.elastostatics.surface import IntArray
from sennit.export.painting import Camera, Facets, Stage
from sennit.export.solids import floor
from sennit.validation import FloatArray

__all__ = ["Skin", "draped", "flesh", "skin_of", "stretched", "stretches"]

_DRAPE = (150, 188, 180)

_FLESH = np.array(((243, 214, 196), (236, 178, 156), (222, 122, 108), (176, 48, 56), (112, 18, 44)), dtype=np.float64)


def flesh(values: ArrayLike, low: float, high: float) -> FloatArray:
    """Colours (n, 3) of `values` (n,): pale at `low` and below, dark red at `high` and above."""
    part = np.clip((np.asarray(values, dtype=np.float64) - low) / max(high - low, 1e-300), 0.0, 1.0)
    place = part * (len(_FLESH) - 1)
    return np.column_stack([np.interp(place, np.arange(len(_FLESH)), _FLESH[:, k]) for k in range(3)])


def stretches(rest: FloatArray, moved: FloatArray, faces: IntArray) -> FloatArray:
    """Largest elongation of the surface at each vertex, (n,): the mean of its faces', weighted by their areas.

    With edges e1, e2 of a face, G = (e_i · e_j) before and after: elongations are λ − 1, λ² the eigenvalues of G0⁻¹ G.
    """
    metrics = []
    for places in (rest, moved):
        first, second = places[faces[:, 1]] - places[faces[:, 0]], places[faces[:, 2]] - places[faces[:, 0]]
        sides = np.stack((first, second), axis=1)
        metrics.append(np.einsum("fik,fjk->fij", sides, sides))
    before, after = metrics
    mixed = np.linalg.solve(before, after)
    half = 0.5 * np.trace(mixed, axis1=1, axis2=2)
    largest = half + np.sqrt(np.maximum(half**2 - np.linalg.det(mixed), 0.0))
    areas = np.repeat(0.5 * np.sqrt(np.linalg.det(before)), 3)
    each = np.repeat(np.sqrt(largest) - 1.0, 3)
    total, weight = (np.bincount(faces.ravel(), values, minlength=len(rest)) for values in (areas * each, areas))
    return np.asarray(total / weight)


class Skin:
    """Draws the surface with these `faces`, (m, 3), whose edges at `rest`, (n, 3), m, stay sharp where they are sharp.

    A triangle that looks up is drawn as `pieces`² smaller ones, with normals and colours between those of its corners.
    """

    def __init__(self, rest: FloatArray, faces: IntArray, pieces: int = 3) -> None:
        self.rest, self.faces = rest, faces
        normals = _normals(rest, faces)
        around: list[list[int]] = [[] for _ in rest]
        for face, corners in enumerate(faces.tolist()):
            for corner in corners:
                around[corner].append(face)
        pairs = np.array(
            [
                (3 * face + k, other)
                for face, corners in enumerate(faces.tolist())
                for k, corner in enumerate(corners)
                for other in around[corner]
            ]
        )
        smooth = np.einsum("ij,ij->i", normals[pairs[:, 0] // 3], normals[pairs[:, 1]]) > 0.75
        self._pairs = pairs[smooth]
        """Corners, and the faces that share their normal."""
        up = normals[:, 2] > 0.3
        self._groups = [(np.flatnonzero(up), _smaller(pieces)), (np.flatnonzero(~up), _smaller(1))]

    def facets(self, moved: FloatArray, colours: FloatArray, gloss: float = 0.25) -> Facets:
        """The skin with its vertices at `moved`, (n, 3), m, painted in `colours`, (n, 3)."""
        flat = _normals(moved, self.faces)
        at, others = self._pairs.T
        corners = np.column_stack([np.bincount(at, flat[others, k], 3 * len(flat)) for k in range(3)]).reshape(-1, 3, 3)
        parts = []
        for chosen, weights in self._groups:
            faces, middle = self.faces[chosen], weights.mean(axis=1)
            places = np.einsum("pcb,fbk->fpck", weights, moved[faces]).reshape(-1, 3, 3)
            normals = np.einsum("pb,fbk->fpk", middle, corners[chosen]).reshape(-1, 3)
            normals /= np.linalg.norm(normals, axis=1, keepdims=True)
            painted = np.einsum("pb,fbk->fpk", middle, colours[faces]).reshape(-1, 3)
            # a facet of the painter has four corners: here the last two are one
            parts.append(Facets(places[:, (0, 1, 2, 2)], normals, painted, np.full(len(normals), gloss)))
        return Facets.joined(parts)


def skin_of(pads: Sequence[Any]) -> list[Skin]:
    """The skins of zones of a scene, at rest where they are carried."""
    return [Skin(pad.vertices @ pad.pose.rotation.T + pad.pose.position, pad.faces) for pad in pads]


def stretched(skins: Sequence[Skin], places: Sequence[FloatArray], most: float) -> list[Facets]:
    """Skins with their vertices at `places`, coloured by stretch from none to `most`."""
    return [
        skin.facets(moved, flesh(stretches(skin.rest, moved, skin.faces), 0.0, most))
        for skin, moved in zip(skins, places, strict=True)
    ]


def draped(camera: Camera) -> Stage:
    """A stage on a surgical drape."""
    drape = floor(camera, (-5.0, -5.0), (5.0, 5.0))
    stage = Stage(camera, _DRAPE, drape)
    stage.polygon(drape, _DRAPE)
    return stage


def _normals(places: FloatArray, faces: IntArray) -> FloatArray:
    """Unit normals of faces, (m, 3)."""
    a, b, c = (places[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))


def _smaller(pieces: int) -> FloatArray:
    """Barycentric coordinates of the corners of the `pieces`² triangles within one: (pieces², 3, 3)."""
    found = []
    for i in range(pieces):
        for j in range(pieces - i):
            found.append(((i, j), (i + 1, j), (i, j + 1)))
            if i + j < pieces - 1:
                found.append(((i + 1, j), (i + 1, j + 1), (i, j + 1)))
    at = np.array(found, dtype=np.float64) / pieces
    return np.concatenate((1.0 - at.sum(axis=2, keepdims=True), at), axis=2)
