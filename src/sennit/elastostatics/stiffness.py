"""The symmetric boundary stiffness of a solid, which every fixed set, contact and seam is a choice of rows of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sennit.elastostatics.surface import IntArray, Surface
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["BoundaryStiffness", "traction_mass"]


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
    """Traction node of each corner of each face, (m, 3)."""
    source: str
    """What it was made by: ``"bem"``, boundary elements, or ``"fem"``, tetrahedra."""


def traction_mass(surface: Surface, corner_nodes: IntArray) -> csr_array:
    """M (n, g), m², with f_i = Σ_k M_ik t_k for each component: tractions of the nodes to forces at the vertices.

    M_ik = ∫N_i N_k, which is area/12 for two corners of a triangle and area/6 for one corner with itself;
    `corner_nodes` (m, 3) are the traction nodes 0 … g−1 of the faces' corners.
    """
    from scipy.sparse import coo_array  # here, because it takes long to import and only zones need it

    faces = surface.faces
    row = np.repeat(faces, 3, axis=1).ravel()
    column = np.tile(corner_nodes, (1, 3)).ravel()
    value = (surface.areas[:, None, None] / 12.0 * (1.0 + np.eye(3))).ravel()
    shape = (len(surface.vertices), int(corner_nodes.max()) + 1)
    return coo_array((value, (row, column)), shape=shape).tocsr()
