"""A zone with a rigid shape pressed into it: what the shape feels, and the imprint that it leaves."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sennit.bodies.zone.imprint import Imprint
from sennit.bodies.zone.pressing import Pressing
from sennit.bodies.zone.state import ZoneState, read_only
from sennit.elastostatics.contact.press import Pressed
from sennit.elastostatics.patch import locate
from sennit.elastostatics.surface import IntArray
from sennit.errors import SolveReport
from sennit.geometry.shapes import AbstractShape, Sphere
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.zone.zone import Zone

__all__ = ["PressState"]

_FEW = 3
"""Vertices in contact below which a press says that its mesh is too coarse."""


class PressState(ZoneState):
    """A zone with a rigid shape pressed into it.

    A `ZoneState` whose `force` and `torque` are what the shape applies; `forces`, `tractions`, `energy` and so on are
    those of the whole surface, other loads and supports included.
    """

    shape: AbstractShape
    """The shape that presses."""
    friction: float
    """Coulomb's coefficient μ."""
    _pressing: Pressing
    _pressed: Pressed
    _base: FloatArray | None
    _contact: FloatArray

    def __init__(
        self, zone: Zone, pressing: Pressing, pressed: Pressed, base: FloatArray | None, loads: FloatArray | None
    ) -> None:
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
        own = self.__dict__
        own["shape"], own["friction"], own["_pressing"] = pressing.shape, pressing.friction, pressing
        own["_pressed"], own["_base"], own["_contact"] = pressed, base, contact

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
        return read_only(self._pressed.force * self.zone._modulus)

    @cached_property
    def torque(self) -> FloatArray:
        """Torque of the shape on the zone about the origin of the zone's frame, (3,), N·m.

        At undeformed places, as everywhere in linear elasticity: so it balances that of the supports exactly.
        """
        return read_only(self._pressed.torque * self.zone._modulus)

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
        return self._pressing.sticks(self._contact, self.contact_normals)

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
    def _imprint(self) -> Imprint:
        return Imprint(self.zone._surface, self.patch, self._contact, self.contact_normals)

    @cached_property
    def pressures(self) -> FloatArray:
        """Pressures (n,), Pa, 0 off the patch.

        The normal parts of the tractions at the corners that face the shape, averaged over the faces round each vertex:
        nearer to the truth than forces over areas, which are 4 % low in the middle of a round imprint. At the rim,
        where the true pressure falls to 0 within a triangle, neither is good: read `force` and the fits.
        """
        return read_only(self._imprint.pressures(self.zone._boundary, self.displacements, self.zone._modulus))

    @cached_property
    def area(self) -> float:
        """Sum of the areas (a third of each face) of the vertices in contact, m², seen along the shape's normals.

        It counts the triangles at the rim as touching: 16 % too large with six triangles to the radius of an imprint.
        """
        return self._imprint.area

    @cached_property
    def _ellipse(self) -> tuple[float, float, float] | None:
        return self._imprint.ellipse() if isinstance(self.shape, Sphere) else None

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
        """Draw the deformed surface, coloured by pressures; `axes`, `show` and `scale` as in `ZoneState.plot`."""
        return super().plot(axes, show=show, scale=scale)
