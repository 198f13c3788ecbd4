"""Meshes from flat pieces with four corners each, as painters draw them: for `Scene.decorate`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["mesh_of_facets"]

_SAME = 1e-7
"""Corners nearer to each other than this, over the size of the whole, are one vertex."""


def mesh_of_facets(
    corners: ArrayLike, colours: ArrayLike, normals: ArrayLike | None = None
) -> tuple[FloatArray, NDArray[np.int64], NDArray[np.uint8]]:
    """Vertices (v, 3), m, faces (f, 3) and colours of the faces (f, 3) of the pieces with `corners` (n, 4, 3), m.

    `colours`: (3,) or (n, 3), 0 to 255. A piece is wound as its corners are, or by the outward `normals` (n, 3). Equal
    corners become one vertex; a piece with two equal corners is a triangle, one without an area is left out.

        scene.decorate(*mesh_of_facets(facets.corners, facets.colours)[:2])
    """
    given = validation.array("corners", corners, (None, 4, 3))
    if not len(given):
        raise InputError("corners must hold one piece or more, got none")
    painted = np.broadcast_to(validation.array("colours", colours, (3,), (len(given), 3)), (len(given), 3))
    if normals is not None:
        outward = validation.array("normals", normals, (len(given), 3))
        across = np.cross(given[:, 2] - given[:, 0], given[:, 3] - given[:, 1])
        wrong = np.einsum("ij,ij->i", across, outward) < 0.0
        given[wrong] = given[wrong][:, ::-1]
    points = given.reshape(-1, 3)
    size = float(np.ptp(points, axis=0).max())
    keys = np.round((points - points.min(axis=0)) / (_SAME * size if size > 0.0 else 1.0)).astype(np.int64)
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    quads = number.reshape(-1, 4)
    faces = np.concatenate((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]))
    shades = np.round(np.clip(np.concatenate((painted, painted)), 0.0, 255.0)).astype(np.uint8)
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return points[first], faces[whole], shades[whole]
