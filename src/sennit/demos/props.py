"""What is only looked at: facets as parts of a picture that a page shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit.export.facets import Facets, loft
from sennit.geometry.pose import Pose
from sennit.portrait.parts import Role, Solid, SolidView
from sennit.validation import FloatArray

__all__ = ["layers", "mesh", "placed", "plate", "solid", "still"]


def mesh(facets: Facets) -> tuple[FloatArray, NDArray[np.int64], NDArray[np.uint8]]:
    """Vertices (n, 3), m, triangles (m, 3) and a colour for each, (m, 3), of `facets`; corners that meet are one."""
    corners = facets.corners.reshape(-1, 3)
    size = max(float(np.abs(corners).max()), 1e-300)
    _, first, back = np.unique(np.rint(corners / (1e-7 * size)), axis=0, return_index=True, return_inverse=True)
    quads = back.reshape(-1, 4)
    faces = np.concatenate((quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]))
    colours = np.tile(np.clip(np.rint(facets.colours), 0, 255).astype(np.uint8), (2, 1))
    flat = (faces == np.roll(faces, -1, axis=1)).any(axis=1)  # a facet with three corners has one of them twice
    return corners[first], faces[~flat].astype(np.int64), colours[~flat]


def solid(
    name: str, facets: Facets, *, role: Role = "decor", smooth: bool = False, opacity: float = 1.0
) -> Solid:  # fmt: skip
    """`facets` as a part that moves as a rigid body."""
    vertices, faces, colours = mesh(facets)
    red, green, blue = colours.mean(axis=0).round().astype(int).tolist()
    return Solid(
        name=name, colour=(red, green, blue), role=role, opacity=opacity, vertices=vertices, faces=faces,
        face_colours=colours, smooth=smooth,
    )  # fmt: skip


def still(view: SolidView) -> None:
    """Reads what never moves."""
    view.position[:], view.quaternion[:] = 0.0, (1.0, 0.0, 0.0, 0.0)


def plate(rim: FloatArray, low: float, high: float, colour: ArrayLike) -> Facets:
    """What stands over `rim`, (k, 2), m, counter-clockwise from above and seen whole from its middle."""
    x, y = rim.mean(axis=0).tolist()
    ends = np.array(((x, y, low), (x, y, high)))
    ones = np.ones((2, 1))
    return loft(ends, ones * (1.0, 0.0, 0.0), ones * (0.0, 1.0, 0.0), rim - (x, y), colour, gloss=0.0, capped=True)


def layers(rim: FloatArray, heights: Sequence[float], colours: Sequence[ArrayLike]) -> Facets:
    """Plates of one outline upon each other, without what lies hidden between them: `heights` has one more, m."""
    x, y = rim.mean(axis=0).tolist()
    ends, ones = np.array([(x, y, z) for z in heights]), np.ones((len(heights), 1))
    made = loft(ends, ones * (1.0, 0.0, 0.0), ones * (0.0, 1.0, 0.0), rim - (x, y), colours[0], gloss=0.0, capped=True)
    middle = made.corners[:, :, 2].mean(axis=1)
    layer = np.clip(np.searchsorted(np.asarray(heights), middle) - 1, 0, len(colours) - 1)
    return Facets(made.corners, made.normals, np.asarray(colours, dtype=np.float64)[layer], made.gloss)


def placed(facets: Facets, pose: Pose) -> Facets:
    """`facets` at another place."""
    corners = (pose @ facets.corners.reshape(-1, 3)).reshape(facets.corners.shape)
    return Facets(corners, facets.normals @ pose.rotation.T, facets.colours, facets.gloss)
