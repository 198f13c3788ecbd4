"""Reference frames of discrete rods made anew, so that they depend on the present shape alone."""

from __future__ import annotations

import numpy as np

from sennit.bodies.rod.discrete import fields
from sennit.bodies.rod.discrete.tables import BendStates
from sennit.bodies.rod.table import RodTables
from sennit.validation import FloatArray

__all__ = ["fresh_frames"]


def fresh_frames(t: RodTables, q: FloatArray, bend: BendStates, places: FloatArray) -> tuple[FloatArray, float]:
    """Replace u1 of `bend` by vectors that are parallel from edge to edge of `q` (n, 4); sections stay as they are.

    The old vector of edge e is turned by α_e = Σ m from the one that is parallel. Each edge has a roll of its own,
    which takes α_e over exactly. `q` and `bend` are changed in place. Returns t and u1 (k, 6) at the parameters
    `places`, and 0: nothing is left over. Only points on the rod, which were carried on ways of their own, are changed.
    """
    angle = np.cumsum(bend.twist)[:, None]  # the first edge's m is 0
    bend.reference[:] = np.cos(angle) * bend.reference - np.sin(angle) * np.cross(bend.tangent, bend.reference)
    bend.twist[:] = 0.0
    q[:-1, 3] += angle[:, 0]
    return fields.references(t, q, bend, places), 0.0
