"""Weight of a zone in a scene: what it does to the places that the scene holds, and to what carries it.

The zone is in equilibrium under its weight and what its places are pulled by. With γ = Rᵀg the scene's gravity in the
zone's frame, w the nodal forces of a unit force on each unit of volume (`elastostatics.weight`) and s = ρ WᵀC w / E,
what the places sag by for a unit of γ, the energy that is left is a function of the places' displacements and of γ::

    Π = ½ uᵀK u − (B γ)ᵀ u − ½ γᵀA γ,    B = K s (kg),    A = ρ² (wᵀC w + inner) / E − sᵀK s (kg s²)

So the places are pulled by B γ, the centre of mass is displaced by D/m with D = Bᵀu + A γ (kg m), and what carries the
zone is turned by R (D × γ). Its weight itself, m g, is that of the carrier, whose mass is to have the zone's in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit.bodies.zone.point import ZonePoint
from sennit.elastostatics import steady
from sennit.validation import FloatArray

__all__ = ["Heft"]


class Heft:
    """The weight of a `zone`; `hold` it again when the zone's places change."""

    def __init__(self, zone: Any) -> None:
        self._zone = zone
        rho = zone._material.density
        self._forces = rho * zone._weight.forces
        """ρ w at all vertices, (3n, 3)."""
        compliance = zone._greens.compliance
        pushed = self._forces[zone._greens.rows]
        self.hanging = np.stack([steady.times(compliance, pushed[:, a]) for a in range(3)], axis=1) / zone._modulus
        """Displacements of the free vertices for a unit of γ where nothing else is held, (3 free, 3), s²."""
        whole = np.einsum("ia,ib->ab", pushed, self.hanging) + rho * rho * zone._weight.inner / zone._modulus
        self._whole = 0.5 * (whole + whole.T)
        self.hold((), np.zeros((0, 0)))

    def hold(self, places: Sequence[ZonePoint], stiffness: FloatArray) -> None:
        """Take over the places that a scene holds now, and their K."""
        sag = np.zeros((len(stiffness), 3))
        if places:
            sag[:] = np.vstack([self._zone._gathered(place, self.hanging) for place in places])
        self.borne = steady.product(stiffness, sag)
        """B, (numbers of the places, 3), kg: what places bear of the mass."""
        self.give = self._whole - np.einsum("ia,ib->ab", sag, self.borne)
        """A, (3, 3), kg s²: mass times displacement of the centre between the places, for a unit of γ."""

    @property
    def gravity(self) -> FloatArray:
        """Gravity γ in the zone's frame, (3,), m/s²."""
        zone = self._zone
        if zone._scene is None:
            return np.zeros(3)
        return np.asarray(zone.pose.rotation.T @ zone._scene._gravity)

    @property
    def pull(self) -> FloatArray:
        """Weight of each unit of volume, (3,), N/m³, in the zone's frame."""
        return np.asarray(self._zone._material.density * self.gravity)

    @property
    def forces(self) -> FloatArray:
        """At the vertices, (n, 3), N."""
        return np.asarray((self._forces @ self.gravity).reshape(-1, 3))

    def energies(self, q: FloatArray) -> tuple[float, float]:
        """What it adds to the elastic energy ½ uᵀK u, and the energy of the displaced centre of mass, J."""
        gravity = self.gravity
        stored = 0.5 * float(gravity @ self.give @ gravity)
        return stored, -float(gravity @ (self.borne.T @ q)) - 2.0 * stored
