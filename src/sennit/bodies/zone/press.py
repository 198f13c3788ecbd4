"""A rigid shape pressed into a zone: contact with friction, what it feels, and the imprint that it leaves."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sennit import validation
from sennit.bodies.zone.conditions import PerFace, PerVertex, checked_conditions
from sennit.bodies.zone.state import ZoneState
from sennit.elastostatics import steady
from sennit.elastostatics.contact.press import Before, Pressed, press_shape, shape_motion
from sennit.elastostatics.patch import locate
from sennit.elastostatics.surface import IntArray
from sennit.errors import InputError, SolveError, SolveReport
from sennit.geometry.shapes import AbstractShape, Sphere
from sennit.validation import FloatArray, quoted

if TYPE_CHECKING:
    from sennit.bodies.zone.zone import Zone

__all__ = ["PressState", "held_by_friction", "press"]

_STICKING = 1e-6
"""A node sticks if its tangential force is below the limit by more than this part of it."""
_FEW = 3
"""Vertices in contact below which a press says that its mesh is too coarse."""
_FEWEST = 7
"""Vertices below which an ellipse is not fitted: one and its six neighbours."""


def press(
    zone: Zone, shape: AbstractShape, *, friction: float = 0.0, after: ZoneState | None = None,
    loads: PerVertex = None, tractions: PerVertex = None, face_tractions: PerFace = None, throw: bool = True,
) -> PressState:  # fmt: skip
    """The equilibrium of `zone` with a rigid `shape` that reaches into it.

    No free vertex may be inside the shape; forces f push, and friction holds the vertices up to Coulomb's limit::

        0 ≤ f_n ⊥ d(x + u) ≥ 0,   |f_t| ≤ μ f_n,   f_t = −μ f_n σ/|σ| where the vertex slips by σ ≠ 0

    Arguments: `shape`, a `Sphere`, `Plane`, `Box` or `Mesh`, in the frame of the zone's vertices; `friction` μ ≥ 0;
    `after`, the state before, from which friction goes on; `loads`, `tractions` and `face_tractions` besides, as in
    `Zone.solve`; `throw`: whether a solve that does not converge raises.

    History. With `after=` a state pressed by the same shape, each vertex that it touched then sticks to that place of
    the shape, which has since moved and turned from its pose then to its pose now (``shape.moved(pose)`` keeps the
    turn); a vertex that did not touch was met on the straight way between the two poses. So a path is followed in steps
    that are small beside what sliding changes; on which side of an edge a vertex lies comes from the path too. Without
    `after`, or after another shape, a `solve` or a press that failed, the shape is taken
    to have come straight to where it is, without turning: a plane along its normal, other shapes along the mean normal
    of the surface that they cover.

    Returns a state with the shape's `force` and `torque`, `pressures`, `patch` and fits. Contact is at vertices: an
    imprint has to be several triangles wide. Strains are small; normals of the shape are taken at displaced places.

    With μ above 1 Coulomb's law may have several solutions, or none: then a long step may fail, or jam.

    Raises `InputError` for a body that nothing holds and for bad arguments, `SolveError` if contact forces are not
    found, or if the shape reaches into fixed vertices; with ``throw=False`` the state's `report` says so.
    """
    if not isinstance(shape, AbstractShape):
        raise InputError(f"shape must be a Sphere, a Plane, a Box or a Mesh, got {quoted(shape)}")
    mu = validation.number("friction", friction, minimum=0.0, maximum=1e9)
    throwing = validation.flag("throw", throw)
    if after is not None and (not isinstance(after, ZoneState) or after.zone is not zone):
        raise InputError(f"after must be a state of this zone ({zone.name}), got {quoted(after)}")
    if not zone._greens.held:
        raise InputError(
            "nothing holds the body that is pressed: fix three vertices or more that are not on a line (fixed=)"
        )
    carried: FloatArray | None = None
    base = np.zeros(zone._surface.vertices.shape)
    if loads is not None or tractions is not None or face_tractions is not None:
        given = checked_conditions(zone._surface, zone._fixed, None, tractions, face_tractions, loads, ())
        carried = given.loads
        free = zone._greens.free
        base[free] = zone._greens.displacements(carried[free].ravel() / zone._modulus).reshape(-1, 3)
    pressed = press_shape(zone._greens, base, shape, mu, _before(after, shape))
    state = PressState(zone, shape, mu, pressed, base if carried is not None else None, carried)
    if throwing and not state.report.converged:
        raise SolveError(state.report, state)
    return state


def _before(after: ZoneState | None, shape: AbstractShape) -> Before | None:
    if not isinstance(after, PressState) or not shape._same_form(after.shape) or not after.report.converged:
        return None
    return Before(after._pressed.displacements, after._pressed.forces, shape_motion(after.shape, shape))


class PressState(ZoneState):
    """A zone with a rigid shape pressed into it.

    A `ZoneState` whose `force` and `torque` are what the shape applies; `forces`, `tractions`, `energy` and so on are
    those of the whole surface, other loads and supports included.
    """

    def __init__(
        self, zone: Zone, shape: AbstractShape, friction: float, pressed: Pressed, base: FloatArray | None,
        loads: FloatArray | None,
    ) -> None:  # fmt: skip
        patch = pressed.vertices
        contact = pressed.forces[patch] * zone._modulus
        for values in (patch, contact, pressed.normals):
            values.flags.writeable = False
        if loads is None:
            vertices, applied = patch, contact
        else:
            total = loads.copy()
            total[patch] += contact
            vertices = np.flatnonzero(total.any(axis=1) & (zone._greens.slot >= 0))
            applied = total[vertices]
        # A view is made read-only: the next press reads the array itself, compiled for arrays that may be written.
        super().__init__(zone, vertices, applied, displacements=pressed.displacements.view(), report=pressed.report)
        self.shape = shape
        """The shape that presses."""
        self.friction = friction
        """μ"""
        self._pressed = pressed
        self._base = base
        self._contact = contact

    @cached_property
    def report(self) -> SolveReport:
        """How it was solved. A message in a converged one says that too few vertices touch for it to mean much."""
        found = super().report
        if found.converged and len(self.patch) < _FEW and self.approach > 0.0:
            text = (
                f"{len(self.patch)} vertices touch a shape that is {self.approach:.2g} m deep: contact is at vertices, "
                "and this imprint is smaller than the triangles. Refine the mesh there, or use touch"
            )
            return replace(found, message=text)
        return found

    def __repr__(self) -> str:
        x, y, z = self.force
        return f"PressState({self.zone.name!r}, {len(self.patch)} contacts, force ({x:.4g}, {y:.4g}, {z:.4g}) N)"

    @cached_property
    def force(self) -> FloatArray:
        """What the shape applies to the zone, (3,), N; the shape feels the opposite."""
        return _read_only(self._pressed.force * self.zone._modulus)

    @cached_property
    def torque(self) -> FloatArray:
        """Torque of the shape on the zone about the origin of the zone's frame, (3,), N·m.

        At undeformed places, as everywhere in linear elasticity: so it balances that of the supports exactly.
        """
        return _read_only(self._pressed.torque * self.zone._modulus)

    @property
    def patch(self) -> IntArray:
        """Sorted ids of the vertices on which the shape presses, (k,)."""
        return self._pressed.vertices

    @property
    def contact_forces(self) -> FloatArray:
        """What the shape applies to each vertex of `patch`, (k, 3), N."""
        return self._contact

    @property
    def contact_normals(self) -> FloatArray:
        """Normals of the shape at the vertices of `patch`, into the zone, (k, 3)."""
        return self._pressed.normals

    @cached_property
    def _sticks(self) -> NDArray[np.bool_]:
        return held_by_friction(self._contact, self.contact_normals, self.friction)

    @property
    def sticking(self) -> IntArray:
        """Ids of the vertices of `patch` that friction holds; none without friction."""
        return self.patch[self._sticks]

    @property
    def slipping(self) -> IntArray:
        """Ids of the vertices of `patch` whose friction is at its limit."""
        return self.patch[~self._sticks]

    @property
    def approach(self) -> float:
        """How far the shape has come beyond its first touch, m: its depth in the surface without contact; 0 if none.

        Taken at the deepest vertex; for a sphere at the nearest point of the surface, which may lie inside a face,
        unless there are other loads.
        """
        if isinstance(self.shape, Sphere) and self._base is None:
            surface = self.zone._surface
            face, _, foot, distance = locate(surface, self.shape.centre)
            outside = float(surface.normals[face] @ (self.shape.centre - foot)) >= 0.0
            return max(self.shape.radius - distance if outside else self.shape.radius + distance, 0.0)
        return max(self._pressed.depth, 0.0)

    @cached_property
    def _facing(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Corners of faces at the patch that face the shape: place in `patch`, corner (3 face + corner), weight, m²."""
        surface = self.zone._surface
        place = np.full(len(surface.vertices), -1, dtype=np.int64)
        place[self.patch] = np.arange(len(self.patch))
        corners = np.flatnonzero(place[surface.faces.ravel()] >= 0)
        where = place[surface.faces.ravel()[corners]]
        cosine = -np.einsum("ij,ij->i", surface.normals[corners // 3], self.contact_normals[where])
        kept = cosine > 0.3
        return where[kept], corners[kept], (surface.areas[corners // 3] * cosine / 3.0)[kept]

    @cached_property
    def pressures(self) -> FloatArray:
        """Pressures (n,), Pa, 0 off the patch.

        The normal parts of the tractions at the corners that face the shape, averaged over the faces round each vertex:
        nearer to the truth than forces over areas, which are 4 % low in the middle of a round imprint. At the rim,
        where the true pressure falls to 0 within a triangle, neither is good: read `force` and the fits.
        """
        boundary = self.zone._boundary
        where, corners, weights = self._facing
        result = np.zeros(len(self.zone._surface.vertices))
        if not len(where):
            return _read_only(result)
        nodes, back = np.unique(boundary.corner_nodes.ravel()[corners], return_inverse=True)
        rows = (3 * nodes[:, None] + np.arange(3)).ravel()
        tractions = steady.times(boundary.tractions[rows], self.displacements.ravel()).reshape(-1, 3)
        tractions *= self.zone._modulus
        normal = np.einsum("ij,ij->i", tractions[back.ravel()], self.contact_normals[where])
        count = len(self.patch)
        total = np.bincount(where, weights * normal, count) / np.maximum(np.bincount(where, weights, count), 1e-300)
        result[self.patch] = np.maximum(total, 0.0)
        return _read_only(result)

    @cached_property
    def area(self) -> float:
        """Sum of the areas (a third of each face) of the vertices in contact, m², seen along the shape's normals.

        It counts the triangles at the rim as touching: 16 % too large with six triangles to the radius of an imprint.
        """
        return float(self._facing[2].sum())

    @cached_property
    def _ellipse(self) -> tuple[float, float, float] | None:
        """Semi-axes and peak of the Hertzian pressure with the force and the second moments of the contact forces.

        p = p₀ (1 − x²/a² − y²/b²)^½ has ∫p = ⅔π a b p₀ and ∫x²p = a²/5 ∫p. Forces at vertices are ∫N p: their moments
        are those of x² interpolated in each triangle, larger by ¼ Σ (v − c)(v − c)ᵀ over its corners v with middle c.
        Places are undeformed ones, as Hertz's are.
        """
        if not isinstance(self.shape, Sphere) or len(self.patch) < _FEWEST:
            return None
        surface, patch = self.zone._surface, self.patch
        normal = np.einsum("ij,ij->i", self._contact, self.contact_normals)
        total = float(normal.sum())
        axis = normal @ self.contact_normals
        axis /= np.linalg.norm(axis)
        plane = np.linalg.svd(axis[None])[2][1:]
        places = surface.vertices[patch] @ plane.T
        where, corners, weights = self._facing
        triangles = surface.vertices[surface.faces[corners // 3]] @ plane.T
        triangles = triangles - triangles.mean(axis=1, keepdims=True)
        excess = 0.25 * np.einsum("fka,fkb->fab", triangles, triangles)
        share = np.bincount(where, weights, len(patch))
        weights = weights * (normal / np.maximum(share, 1e-300))[where]
        offset = places - normal @ places / total
        second = np.einsum("i,ia,ib->ab", normal, offset, offset) - np.einsum("f,fab->ab", weights, excess)
        values = 5.0 * np.linalg.eigvalsh(second / total)
        if not values[0] > 0.0:
            return None
        a, b = float(np.sqrt(values[1])), float(np.sqrt(values[0]))
        return a, b, 1.5 * total / (np.pi * a * b)

    @property
    def contact_radii(self) -> tuple[float, float] | None:
        """Semi-axes of the elliptical imprint of a sphere, larger first, m; None as for `contact_radius`."""
        return None if self._ellipse is None else self._ellipse[:2]

    @property
    def contact_radius(self) -> float | None:
        """Radius of a circle as large as the elliptical imprint of a sphere, m.

        Fitted to the force and the second moments of the contact forces as if pressures were Hertz's. None for other
        shapes, whose imprints are no ellipses (a plane's has the form of the body, a box's the form of the box), and
        for imprints of fewer than seven vertices, which have no shape.
        """
        return None if self._ellipse is None else float(np.sqrt(self._ellipse[0] * self._ellipse[1]))

    @property
    def peak_pressure(self) -> float | None:
        """Pressure in the middle of the imprint of a sphere by the same fit, Pa; None as for `contact_radius`."""
        return None if self._ellipse is None else self._ellipse[2]

    def plot(self, axes: Any = None, *, show: str = "pressure", scale: float | None = None) -> Any:
        """Draw the deformed surface coloured by pressures; arguments are those of `ZoneState.plot`."""
        return super().plot(axes, show=show, scale=scale)


def held_by_friction(forces: FloatArray, normals: FloatArray, friction: float) -> NDArray[np.bool_]:
    """Which of the contact `forces` (k, 3) are off the limit that `friction` sets; `normals` (k, 3) into the body."""
    normal = np.einsum("ij,ij->i", forces, normals)
    tangential = np.linalg.norm(forces - normal[:, None] * normals, axis=1)
    return np.asarray(tangential < (1.0 - _STICKING) * friction * normal)


def _read_only(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array
