"""What a closed triangle mesh keeps for its signed distance: a tree of boxes and the normals of its features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sennit.errors import InputError
from sennit.geometry.tables import MeshTree
from sennit.validation import FloatArray, array, quoted

__all__ = ["IntArray", "checked_mesh", "mesh_tree"]

IntArray = NDArray[np.int64]

_LEAF = 4


def checked_mesh(vertices: object, faces: object) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) and faces (m, 3) of a closed mesh that is wound outwards, or an `InputError`."""
    places = array("vertices", vertices, (None, 3))
    try:
        given = np.asarray(faces)
    except Exception:  # whatever the value's own methods raise
        given = np.empty(0)
    if given.ndim != 2 or given.shape[1:] != (3,) or given.dtype.kind not in "iu" or len(given) == 0:
        raise InputError(f"faces must be an array of vertex numbers of shape (n, 3), got {quoted(faces)}")
    triangles = np.array(given, dtype=np.int64)
    low, high = int(triangles.min()), int(triangles.max())
    if low < 0 or high >= len(places):
        wrong = low if low < 0 else high
        raise InputError(
            f"faces must hold numbers from 0 to {len(places) - 1} (vertices has {len(places)}), got {wrong}"
        )
    import trimesh  # here, because it takes long to import

    mesh = trimesh.Trimesh(places, triangles, process=False)
    if not (mesh.is_watertight and mesh.is_winding_consistent):
        raise InputError(
            "faces must close the mesh, each edge between two faces that are wound alike: this mesh is open, or its "
            "faces are turned differently (trimesh.repair may help; vertices that coincide must be merged)"
        )
    a, b, c = (places[triangles[:, k]] - places[0] for k in range(3))
    cross = np.cross(b - a, c - a)
    areas = np.linalg.norm(cross, axis=1)
    if not areas.min() > 1e-14 * areas.max():
        raise InputError(f"faces must have an area: that of faces[{int(areas.argmin())}] is zero; leave it out")
    volume = np.einsum("ij,ij->", a, cross)
    if not volume > 1e-14 * float(np.abs(np.einsum("ij,ij->i", a, cross)).sum()):
        raise InputError("faces must be wound outwards round a volume: these are wound inwards (reverse them) or flat")
    return places, triangles


def mesh_tree(vertices: FloatArray, faces: IntArray) -> MeshTree:
    """The table of a mesh that was checked."""
    corners = vertices[faces]
    order, tree = _boxes(corners)
    tree.corners[:] = corners[order]
    tree.normals[:] = _pseudonormals(vertices, faces)[order]
    return tree


def _pseudonormals(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """(m, 7, 3): unit normals of each face, of its edges 01, 12, 20 (sum of two faces) and of its corners (angles)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    face = cross / np.linalg.norm(cross, axis=1, keepdims=True)
    result = np.empty((len(faces), 7, 3))
    result[:, 0] = face
    ends = np.sort(np.stack([faces[:, [k, (k + 1) % 3]] for k in range(3)], axis=1), axis=2).reshape(-1, 2)
    _, edge = np.unique(ends, axis=0, return_inverse=True)
    edge = edge.ravel()
    total = np.zeros((int(edge.max()) + 1, 3))
    np.add.at(total, edge, np.repeat(face, 3, axis=0))
    result[:, 1:4] = total[edge].reshape(-1, 3, 3)
    corner = np.zeros_like(vertices)
    for k in range(3):
        here, one, two = (vertices[faces[:, (k + j) % 3]] for j in range(3))
        angle = np.arctan2(np.linalg.norm(cross, axis=1), np.einsum("ij,ij->i", one - here, two - here))
        np.add.at(corner, faces[:, k], angle[:, None] * face)
    result[:, 4:] = corner[faces]
    size = np.linalg.norm(result, axis=2, keepdims=True)
    # Two faces that lie on each other have no direction between them: the face's own does no harm there.
    result = np.where(size > 1e-12, result / np.maximum(size, 1e-12), face[:, None])
    return np.asarray(result)


def _boxes(corners: FloatArray) -> tuple[IntArray, MeshTree]:
    """Order of triangles, corners (m, 3, 3), in the leaves of a tree of boxes, and the tree, without its triangles.

    Each box is cut at the median of its triangles' centres along its longest side.
    """
    low, high = corners.min(axis=1), corners.max(axis=1)
    centres = corners.mean(axis=1)
    inside: list[IntArray] = []  # the triangles in each box
    skip: list[int] = []
    # Triangles of a box that is to be visited; a number closes the box of that place.
    pending: list[IntArray | int] = [np.arange(len(corners))]
    while pending:
        item = pending.pop()
        if isinstance(item, int):
            skip[item] = len(skip)
            continue
        box = len(skip)
        inside.append(item)
        skip.append(box + 1)
        if len(item) > _LEAF:
            axis = int(np.argmax(np.ptp(centres[item], axis=0)))
            split = item[np.argsort(centres[item, axis], kind="stable")]
            half = len(item) // 2
            pending += [box, split[half:], split[:half]]
    tree = MeshTree(boxes=len(skip), triangles=len(corners))
    tree.skip[:] = skip
    tree.low[:] = [low[item].min(axis=0) for item in inside]
    tree.high[:] = [high[item].max(axis=0) for item in inside]
    is_leaf = tree.skip == np.arange(1, len(skip) + 1)
    tree.count[is_leaf] = [len(item) for item in inside if len(item) <= _LEAF]
    tree.first[is_leaf] = np.cumsum(tree.count[is_leaf]) - tree.count[is_leaf]
    return np.concatenate([item for item in inside if len(item) <= _LEAF]), tree
