"""The symmetric boundary stiffness of a solid, which every fixed set, contact and seam is a choice of rows of."""

from __future__ import annotations

from dataclasses import dataclass

from sennit.elastostatics.surface import IntArray
from sennit.validation import FloatArray

__all__ = ["BoundaryStiffness"]


@dataclass(frozen=True, eq=False)
class BoundaryStiffness:
    """What a solid of Young's modulus 1 Pa answers to displacements of its surface, f = S u and t = Y u.

    Numbers of vertex i stand at 3i, 3i+1, 3i+2. Multiply by E.
    """

    stiffness: FloatArray
    """S (3n, 3n), N/m per Pa: nodal displacements to the nodal forces that the outside applies; symmetric, positive
    semidefinite with the six rigid motions as its null space."""
    tractions: FloatArray
    """Y (3g, 3n): nodal displacements to the tractions of the g traction nodes, Pa/m per Pa."""
    corner_nodes: IntArray
    """(m, 3): traction node of each corner of each face."""
    source: str
    """``"bem"`` or ``"fem"``."""
