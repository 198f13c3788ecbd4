"""Stiffness of strands that vary along their length, at the places where elements and sweeps need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sennit.validation import FloatArray

__all__ = ["Matter", "VariedStiffness", "compliance", "mean_stiffness"]


class Matter(Protocol):
    """What a strand is made of, where that varies along its length.

    Places are arclengths (k, m), m. Each row lies within one piece of the strand, which its middle one tells: at the
    end of a piece, where numbers jump, one row has those before the jump and the next those behind it.
    """

    length: float
    """Of the strand, m."""
    jumps: FloatArray
    """Where its numbers jump, m, ascending, ends left out."""

    def stiffness(self, places: FloatArray) -> FloatArray:
        """Stiffness at places, (k, m, 6, 6), SI units; infinite on the diagonal where there is no shear."""

    def mass(self, places: FloatArray) -> FloatArray | None:
        """Mass per length at places, (k, m), kg/m; None where nothing tells it."""


@dataclass(frozen=True, eq=False, slots=True)
class VariedStiffness:
    """Stiffness at slots: (elements, 3, …)."""

    matrices: FloatArray
    """(…, 6, 6), SI units."""
    K: FloatArray
    """In bending and twist (…, 3, 3), in the kernels' units."""
    C: FloatArray
    """Compliance in shear and stretch (…, 3, 3), in the kernels' units; 0 if inextensible."""

    @classmethod
    def of(cls, matrices: FloatArray, bending: float, length: float, extensible: bool) -> VariedStiffness:
        """In the units of a strand of this length whose unit of bending stiffness is `bending`."""
        K = np.ascontiguousarray(matrices[..., :3, :3]) / bending
        C = np.zeros_like(K)
        if extensible:
            C = compliance(matrices[..., 3:, 3:]) * (bending / length**2)
        return cls(matrices, K, C)

    def in_a_row(self) -> VariedStiffness:
        """The same with one row for each slot."""
        return VariedStiffness(self.matrices.reshape(-1, 6, 6), self.K.reshape(-1, 3, 3), self.C.reshape(-1, 3, 3))


def compliance(stiffness: FloatArray) -> FloatArray:
    """The inverses of symmetric matrices (…, 3, 3); of those that are diagonal, infinite numbers count as rigid."""
    diagonal = np.diagonal(stiffness, axis1=-2, axis2=-1)
    if np.count_nonzero(stiffness) == np.count_nonzero(diagonal):
        return np.asarray((1.0 / diagonal)[..., None] * np.eye(3))
    inverse = np.linalg.inv(stiffness)
    return np.asarray(0.5 * (inverse + np.swapaxes(inverse, -1, -2)))


def mean_stiffness(matrices: FloatArray, weights: FloatArray) -> FloatArray:
    """The stiffness (6, 6) whose compliances are the means of those at places (k, m, 6, 6) with `weights` (k, m).

    Couplings of bending with shear are left out: it is for units and first guesses.
    """
    mean = np.zeros((6, 6))
    for part in (slice(0, 3), slice(3, 6)):
        give = np.einsum("km,kmij->ij", weights / weights.sum(), compliance(matrices[..., part, part]))
        rigid = np.diag(give) == 0.0
        give[rigid, rigid] = 1.0
        inner = compliance(give)
        inner[rigid, rigid] = np.inf
        mean[part, part] = inner
    return mean
