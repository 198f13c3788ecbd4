"""Places on a surface and patches round them: what point-like contact acts on.

The stiffness of a bare point of a mesh depends on where in its triangle it lies, by a factor of about two. A patch of
weights spreads the contact over a disc of fixed radius instead, and evens that out: the same weights gather
displacements and spread forces, so that the two stay conjugate to each other. The weights are integrals of a smooth
bump times the hats of the vertices; the bump's values at the vertices times their areas would ripple ten times as much.
"""

from __future__ import annotations

import threading
import weakref

import numpy as np

from sennit import validation
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.kernels.places import LEAF, RESULT, nearest, touch, weigh
from sennit.elastostatics.surface import IntArray, Surface
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["USUAL_RADIUS", "Places", "locate", "patch_weights", "places_of"]

USUAL_RADIUS = 2.5
"""Radius of a patch where none is given, in square roots of the mean vertex area near it: about 40 vertices."""


class Places:
    """What finds places on a surface: a tree of boxes round its triangles, and the neighbours of its vertices."""

    def __init__(self, surface: Surface) -> None:
        faces = surface.faces
        triangles = surface.vertices[faces]
        leaves = 1 << max(int(np.ceil(np.log2(max(len(faces) / LEAF, 1.0)))), 0)
        self.order = np.full(leaves * LEAF, -1, dtype=np.int64)
        """(leaves · LEAF,): faces along a space-filling curve, spread evenly over the leaves; −1: none."""
        curve = np.argsort(_morton(triangles.mean(axis=1)), kind="stable")
        self.order[(np.arange(len(faces)) * len(self.order)) // len(faces)] = curve
        self.corners = np.zeros((len(self.order), 9))
        used = self.order >= 0
        self.corners[used] = triangles[self.order[used]].reshape(-1, 9)
        self.boxes = _tree(self.corners, used, leaves)
        self.beside = _beside(faces, len(surface.vertices))
        """(m, 3): the face across the edge from each corner to the next."""
        # A vertex has twice as many faces as vertices round it: the mean area of vertices near it is twice that of
        # faces, and smoother from vertex to vertex. Averaged over as many faces as a patch has, it is even in one.
        means = 2.0 * surface.areas
        count = np.maximum(np.bincount(faces.ravel(), minlength=len(surface.vertices)), 1)
        for _ in range(10):
            near = np.bincount(faces.ravel(), np.repeat(means, 3), minlength=len(count)) / count
            means = near[faces].mean(axis=1)
        self.spacing = USUAL_RADIUS * np.sqrt(near)
        """(n,), m: usual radius of a patch at each vertex; between vertices it is interpolated."""
        self._local = threading.local()

    def touch(
        self, greens: GreensFunctions, modulus: float, place: FloatArray, radius: float, given: FloatArray, moves: bool
    ) -> tuple[int, IntArray, FloatArray, FloatArray, FloatArray]:
        """What a probe feels at `place`: see the kernel.

        Returns its count, vertices and weights of the patch, compliance (3, 3) at E = 1 and its other results.
        """
        stack, queue, mark, used, ids, weights = self.workspace()
        compliance, result = np.empty((3, 3)), np.empty(RESULT)
        surface = greens.surface
        count = touch(
            self.boxes, self.corners, self.order, stack, surface.vertices, surface.faces, surface.areas, self.spacing,
            self.beside, queue, mark, used, greens.compliance, greens.slot, modulus, place, radius, given, moves, ids,
            weights, compliance, result,
        )  # fmt: skip
        found = max(count, 0)
        return count, ids[:found].copy(), weights[:found].copy(), compliance, result

    def workspace(self) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, FloatArray]:
        """Arrays of the calling thread's own: stack, queue and marks of faces, marks of vertices, ids and weights."""
        try:
            arrays: tuple[IntArray, IntArray, IntArray, IntArray, IntArray, FloatArray] = self._local.arrays
        except AttributeError:
            n, m = len(self.spacing), len(self.beside)
            arrays = (*(np.zeros(size, np.int64) for size in (64, m, m, n, n)), np.zeros(n))  # type: ignore[assignment]
            self._local.arrays = arrays
        return arrays


_known: weakref.WeakKeyDictionary[Surface, Places] = weakref.WeakKeyDictionary()


def places_of(surface: Surface) -> Places:
    """The `Places` of `surface`, made at the first call."""
    places = _known.get(surface)
    if places is None:
        places = _known[surface] = Places(surface)
    return places


def locate(surface: Surface, place: FloatArray) -> tuple[int, FloatArray, FloatArray, float]:
    """The point of `surface` nearest to `place` (3,), m: face, barycentric coordinates (3,), itself (3,), distance."""
    places = places_of(surface)
    x, y, z = (float(c) for c in place)
    square, face, *shares = nearest(places.boxes, places.corners, places.order, places.workspace()[0], x, y, z)
    barycentric = np.array(shares)
    return int(face), barycentric, barycentric @ surface.vertices[surface.faces[face]], float(np.sqrt(square))


def patch_weights(surface: Surface, place: FloatArray, radius: float | None = None) -> tuple[IntArray, FloatArray]:
    """Vertices (k,) and weights (k,), Σw = 1, of a patch on `surface` round the point nearest to `place` (3,), m.

    w_i = ∮ N_i φ dA / ∮ φ dA with φ = (1 − r²/ρ²)² within `radius` ρ (m) of that point, over faces that neighbours
    inside the ball join to it: the far side of a thin wall stays out. Without a radius it is 2.5 times the square root
    of the mean vertex area near there; 0 gives the bare point with its barycentric weights.

    Raises `InputError` for a radius that is negative or does not reach the corners of the triangle touched.
    """
    places = places_of(surface)
    face, barycentric, foot, _ = locate(surface, validation.vector("place", place))
    corners = surface.faces[face]
    if radius is None:
        radius = float(barycentric @ places.spacing[corners])
    rho = validation.number("radius", radius, minimum=0.0)
    if rho == 0.0:
        return corners.copy(), barycentric
    farthest = float(np.linalg.norm(surface.vertices[corners] - foot, axis=1).max())
    if not rho > farthest:
        raise InputError(small_radius(rho, farthest, face))
    _, queue, mark, used, ids, weights = places.workspace()
    tables = (surface.vertices, surface.faces, surface.areas, places.beside, queue, mark, used)
    count = weigh(*tables, face, *foot.tolist(), rho, ids, weights)
    return ids[:count].copy(), weights[:count].copy()


def small_radius(radius: float, farthest: float, face: int) -> str:
    """What to say of a patch that its mesh can't show."""
    return (
        f"radius must reach the corners of the triangle that is touched (face {face}), up to {farthest:.4g} m away, "
        f"got {radius:.4g} m: give a larger one, refine the mesh there, or give 0 for the bare point"
    )


def _beside(faces: IntArray, vertices: int) -> IntArray:
    """The face across each edge of each face, (m, 3); half-edges that run in opposite senses belong together.

    At the border of a surface that is not closed it is the face itself.
    """
    start, end = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    there, back = start * vertices + end, end * vertices + start
    order = np.argsort(there)
    found = np.minimum(np.searchsorted(there[order], back), len(order) - 1)
    other = np.where(there[order[found]] == back, order[found], np.arange(len(order)))
    return np.asarray(other // 3, dtype=np.int64).reshape(-1, 3)


def _morton(points: FloatArray) -> IntArray:
    """Numbers along Morton's curve, 10 bits an axis."""
    low, span = points.min(axis=0), max(float(np.ptp(points, axis=0).max()), 1e-300)
    cells = np.minimum((points - low) / span * 1024.0, 1023.0).astype(np.int64)
    code = np.zeros(len(points), dtype=np.int64)
    for bit in range(10):
        for axis in range(3):
            code |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return code


def _tree(corners: FloatArray, used: np.ndarray[tuple[int], np.dtype[np.bool_]], leaves: int) -> FloatArray:
    """Boxes (2 leaves − 1, 6), lowest and highest corner, of a complete binary tree; empty ones are inside out."""
    points = corners.reshape(leaves, LEAF, 3, 3)
    there = used.reshape(leaves, LEAF, 1, 1)
    low = np.where(there, points, np.inf).min(axis=(1, 2))
    high = np.where(there, points, -np.inf).max(axis=(1, 2))
    levels = [np.hstack((low, high))]
    while len(levels[-1]) > 1:
        low, high = levels[-1][:, :3].reshape(-1, 2, 3), levels[-1][:, 3:].reshape(-1, 2, 3)
        levels.append(np.hstack((low.min(axis=1), high.max(axis=1))))
    return np.ascontiguousarray(np.concatenate(levels[::-1]))
