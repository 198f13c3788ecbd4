"""Seams between meshes that differ: one side's vertices follow the other's by a mortar projection.

Displacements u of the following side agree with v of the leading side in the mean over the seam,

    ∫ N_i (Σ_k N_k u_k − Σ_j M_j v_j) dA = 0    for each hat N_i of the following side,    so u = W v,  W = D⁻¹ B,

with D_ik = ∫ N_i N_k and B_ij = ∫ N_i M_j over what the two sides have in common: triangles of both are cut with each
other in the following one's plane. Forces go back with Wᵀ. Constant displacements are reproduced exactly, so that
forces balance; on flat seams linear ones are too, so that moments balance and a uniform stress passes where both sides
cover the same area. On curved seams the two meshes lie apart by about (edge length)²/8 times the curvature, and moments
are out of balance by the forces times that distance.

Source: C. Bernardi, Y. Maday, A. T. Patera, "A new nonconforming approach to domain decomposition: the mortar element
method", 1994; cutting as in M. A. Puso, T. A. Laursen, "A mortar segment-to-segment contact method", 2004, §3.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from sennit.elastostatics.surface import IntArray
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["mortar_weights", "seam_faces"]

_FACING = -0.5
"""Cosine between normals above which two faces do not face each other."""
_COVERED = 1e-3
"""Least share of a vertex's area on its seam that the other side must cover."""


def seam_faces(faces: IntArray, vertices: IntArray) -> IntArray:
    """The faces (q, 3) all of whose corners are on a seam, as places in the list of its `vertices`."""
    place = np.full(int(faces.max()) + 1, -1, dtype=np.int64)
    place[vertices] = np.arange(len(vertices))
    on = place[faces]
    return np.asarray(on[(on >= 0).all(axis=1)])


def mortar_weights(
    name: str, followers: FloatArray, follower_faces: IntArray, leaders: FloatArray, leader_faces: IntArray
) -> tuple[FloatArray, float]:
    """Weights W (k, m) with which `followers` (k, 3) follow `leaders` (m, 3), and the largest gap between the sides.

    Faces are places in those lists, wound outwards in each of the two bodies; all in one frame, m.

    Raises `InputError` if a follower has no face, or if the other side covers next to nothing of its faces.
    """
    k, m = len(followers), len(leaders)
    D, B = np.zeros((k, k)), np.zeros((k, m))
    area, covered = np.zeros(k), np.zeros(k)
    gap = 0.0
    theirs = leaders[leader_faces]
    their_normals = np.cross(theirs[:, 1] - theirs[:, 0], theirs[:, 2] - theirs[:, 0])
    their_normals /= np.linalg.norm(their_normals, axis=1, keepdims=True)
    low, high = theirs.min(axis=1), theirs.max(axis=1)
    for face in follower_faces:
        corners = followers[face]
        cross = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        size = np.linalg.norm(cross)
        normal = cross / size
        area[face] += size / 6.0
        reach = np.ptp(corners, axis=0).max()
        near = (their_normals @ normal < _FACING) & (low < corners.max(axis=0) + 0.5 * reach).all(axis=1)
        near &= (high > corners.min(axis=0) - 0.5 * reach).all(axis=1)
        axes = np.stack(((corners[1] - corners[0]) / np.linalg.norm(corners[1] - corners[0]), normal))
        axes = np.stack((axes[0], np.cross(normal, axes[0])))
        ours = (corners - corners[0]) @ axes.T
        for other in np.flatnonzero(near):
            flat = (theirs[other] - corners[0]) @ axes.T
            points, weights = _quadrature(_cut(ours, flat[::-1]))
            if not len(weights):
                continue
            N, M = _barycentric(ours, points), _barycentric(flat, points)
            height = np.abs((M @ theirs[other] - N @ corners) @ normal)
            gap = max(gap, float(height.max()))
            D[np.ix_(face, face)] += N.T * weights @ N
            B[np.ix_(face, leader_faces[other])] += N.T * weights @ M
            covered[face] += N.T @ weights
    bare = np.flatnonzero(covered <= _COVERED * area)
    if len(bare):
        raise InputError(
            f"{name} must have two sides that cover each other: nothing lies opposite entries {bare[:5].tolist()} of "
            "the longer list. Give all vertices of both sides, of whole faces"
        )
    return np.asarray(scipy.linalg.solve(D, B, assume_a="pos")), gap


def _cut(triangle: FloatArray, other: FloatArray) -> FloatArray:
    """What two triangles in a plane, both counter-clockwise, have in common: a polygon (q, 2)."""
    polygon = triangle
    for start, end in zip(other, np.roll(other, -1, axis=0), strict=True):
        if not len(polygon):
            break
        edge = end - start
        side = edge[0] * (polygon[:, 1] - start[1]) - edge[1] * (polygon[:, 0] - start[0])
        kept = []
        for i, j in zip(range(len(polygon)), np.roll(np.arange(len(polygon)), -1), strict=True):
            if side[i] >= 0.0:
                kept.append(polygon[i])
            if (side[i] >= 0.0) != (side[j] >= 0.0):
                kept.append(polygon[i] + side[i] / (side[i] - side[j]) * (polygon[j] - polygon[i]))
        polygon = np.array(kept).reshape(-1, 2)
    return polygon


def _quadrature(polygon: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points and weights over a convex polygon, exact for quadratics: edge midpoints of its triangles."""
    if len(polygon) < 3:
        return np.zeros((0, 2)), np.zeros(0)
    a, b, c = polygon[0], polygon[1:-1], polygon[2:]
    areas = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    points = np.concatenate((0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)))
    return points, np.tile(areas / 3.0, 3)


def _barycentric(triangle: FloatArray, points: FloatArray) -> FloatArray:
    """Barycentric coordinates (q, 3) of points in the plane of a triangle."""
    matrix = np.column_stack((triangle[1] - triangle[0], triangle[2] - triangle[0]))
    rest = np.linalg.solve(matrix, (points - triangle[0]).T).T
    return np.column_stack((1.0 - rest.sum(axis=1), rest))
