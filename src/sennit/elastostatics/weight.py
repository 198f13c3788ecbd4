"""Weight: the nodal forces that an even force on every part of a body leaves on its surface.

A body of Young's modulus E under the force b on each unit of volume has one displacement that needs no volume
integral, that of the pressure −b·x in it::

    σ = −(b·x) 1,   div σ + b = 0,   u = −(1 − 2ν)/E [(b·x) x − ½|x|² b],   t = −(b·x) n

What is left of any other is free of forces inside, and the boundary stiffness knows it: f = E S (u − û) + ∮N t̂ dA are
the forces that the outside applies at the vertices. So weight is the nodal forces w with E S u = f + w, ::

    w = ∮ N (b·x) n dA − (1 − 2ν) S [(b·x) x − ½|x|² b]

Their sum is b V and their moment that of b V at the centre of volume, both exactly. They do not depend on E, nor on the
origin of x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sennit.elastostatics import steady
from sennit.elastostatics.surface import Surface
from sennit.validation import FloatArray

__all__ = ["Weight"]


@dataclass(frozen=True, eq=False)
class Weight:
    """What a body of Young's modulus 1 Pa has of a unit force on each unit of its volume, along each of the axes."""

    surface: Surface
    """Its surface."""
    poisson_ratio: float
    """Poisson's ratio ν."""
    forces: FloatArray
    """w (3n, 3), m³: forces at the vertices for the force along each axis."""
    inner: FloatArray
    """(3, 3), m⁵: what the displacements inside add to ∫u dV, which is wᵀu + `inner` b / E."""

    @classmethod
    def of(cls, surface: Surface, stiffness: FloatArray, poisson_ratio: float) -> Weight:
        """From the boundary stiffness S (3n, 3n) at E = 1.

        ∫u dV follows from Betti's theorem between u and the displacement û above; what is in it besides wᵀu is the
        energy of û less that which S has for its values at the vertices.
        """
        x = _places(surface)
        flat = _pressed(x, poisson_ratio).reshape(-1, 3)
        answer = steady.product(stiffness, flat)
        corners = x[surface.faces]
        shares = (corners.sum(axis=1, keepdims=True) + corners) * (surface.areas / 12.0)[:, None, None]
        pushed = np.zeros((len(x), 3, 3))
        for corner in range(3):
            np.add.at(pushed, surface.faces[:, corner], surface.normals[:, :, None] * shares[:, corner, None, :])
        a, b, c = np.moveaxis(corners, 1, 0)
        volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
        middle = corners.sum(axis=1)
        moments = np.einsum("i,ika,ikb->ab", volumes, corners, corners)
        moments += np.einsum("i,ia,ib->ab", volumes, middle, middle)
        inner = 3.0 * (1.0 - 2.0 * poisson_ratio) * moments / 20.0 - np.einsum("ia,ib->ab", flat, answer)
        return cls(surface, poisson_ratio, pushed.reshape(-1, 3) + answer, 0.5 * (inner + inner.T))

    def displacements(self, force: FloatArray) -> FloatArray:
        """û of the vertices, (n, 3), at E = 1 for the `force` b (3,) on each unit of volume."""
        return np.asarray(_pressed(_places(self.surface), self.poisson_ratio) @ force)

    def tractions(self, force: FloatArray) -> FloatArray:
        """t̂ at the corners of the faces, (m, 3, 3)."""
        pressure = _places(self.surface)[self.surface.faces] @ force
        return np.asarray(-pressure[:, :, None] * self.surface.normals[:, None, :])


def _places(surface: Surface) -> FloatArray:
    """X from the middle of the vertices, where numbers are smallest."""
    return np.asarray(surface.vertices - surface.vertices.mean(axis=0))


def _pressed(x: FloatArray, poisson_ratio: float) -> FloatArray:
    """û for b along each axis, (n, 3, 3)."""
    squares = np.einsum("ij,ij->i", x, x)
    return np.asarray(
        (2.0 * poisson_ratio - 1.0) * (x[:, :, None] * x[:, None, :] - 0.5 * squares[:, None, None] * np.eye(3))
    )
