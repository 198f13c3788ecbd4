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
from sennit.elastostatics.kernels.places import LEAF, nearest, touch, weigh
from sennit.elastostatics.surface import IntArray, Surface, along_curve
from sennit.elastostatics.tables import PlaceWork, Skin, Touched
from sennit.errors import InputError
from sennit.tables import WORK
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
        order = np.full(leaves * LEAF, -1, dtype=np.int64)
        curve = np.argsort(_morton(triangles.mean(axis=1)), kind="stable")
        order[(np.arange(len(faces)) * len(order)) // len(faces)] = curve  # spread evenly over the leaves
        corners = np.zeros((len(order), 3, 3))
        used = order >= 0
        corners[used] = triangles[order[used]]
        low, high = _boxes(corners, used, leaves)
        # A vertex has twice as many faces as vertices round it: the mean area of vertices near it is twice that of
        # faces, and smoother from vertex to vertex. Averaged over as many faces as a patch has, it is even in one.
        means = 2.0 * surface.areas
        count = np.maximum(np.bincount(faces.ravel(), minlength=len(surface.vertices)), 1)
        for _ in range(10):
            near = np.bincount(faces.ravel(), np.repeat(means, 3), minlength=len(count)) / count
            means = near[faces].mean(axis=1)
        self.skin = Skin.of(
            low=low, high=high, corners=corners, order=order,
            vertices=np.ascontiguousarray(surface.vertices), faces=np.ascontiguousarray(faces), areas=surface.areas,
            beside=_beside(faces, len(surface.vertices)), spacing=USUAL_RADIUS * np.sqrt(near),
        )  # fmt: skip
        """The surface with what finds places on it."""
        self._local = threading.local()

    def touch(
        self, greens: GreensFunctions, modulus: float, place: FloatArray, radius: float, given: FloatArray, moves: bool
    ) -> tuple[int, PlaceWork, Touched]:
        """What a probe feels at `place`: see the kernel.

        Returns its count, and two tables of the calling thread's own: what it looked at, and what it felt.
        """
        work = self.work
        touched: Touched = self._local.touched
        touched.place[0] = place
        touched.given[0] = given
        return touch(self.skin, greens.answers, work, touched, modulus, radius, moves), work, touched

    def recalled(self, words: IntArray) -> Touched:
        """What was felt by a probe that left these `words`, in a table of the calling thread's own."""
        _ = self.work
        touched: Touched = self._local.touched
        touched.words(WORK)[:] = words
        return touched

    @property
    def work(self) -> PlaceWork:
        """Scratch of the calling thread's own."""
        try:
            work: PlaceWork = self._local.work
        except AttributeError:
            skin = self.skin
            work = PlaceWork(levels=64, faces=len(skin.faces), vertices=len(skin.vertices))
            self._local.work = work
            self._local.touched = Touched(rows=1)
        return work


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
    square, face, *shares = nearest(places.skin, places.work, x, y, z)
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
        radius = float(barycentric @ places.skin.spacing[corners])
    rho = validation.number("radius", radius, minimum=0.0)
    if rho == 0.0:
        return corners.copy(), barycentric
    farthest = float(np.linalg.norm(surface.vertices[corners] - foot, axis=1).max())
    if not rho > farthest:
        raise InputError(small_radius(rho, farthest, face))
    work = places.work
    count = weigh(places.skin, work, face, *foot.tolist(), rho)
    return work.ids[:count].copy(), work.weights[:count].copy()


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
    return along_curve(np.minimum((points - low) / span * 1024.0, 1023.0).astype(np.int64))


def _boxes(
    corners: FloatArray, used: np.ndarray[tuple[int], np.dtype[np.bool_]], leaves: int
) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest corners (2 leaves − 1, 3) of a complete binary tree of boxes; empty ones are inside out."""
    points = corners.reshape(leaves, LEAF, 3, 3)
    there = used.reshape(leaves, LEAF, 1, 1)
    low = [np.where(there, points, np.inf).min(axis=(1, 2))]
    high = [np.where(there, points, -np.inf).max(axis=(1, 2))]
    while len(low[-1]) > 1:
        low.append(low[-1].reshape(-1, 2, 3).min(axis=1))
        high.append(high[-1].reshape(-1, 2, 3).max(axis=1))
    return np.concatenate(low[::-1]), np.concatenate(high[::-1])
