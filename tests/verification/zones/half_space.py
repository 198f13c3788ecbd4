"""Large bodies with a flat top that is fine about the origin, for contacts that ask for a half-space."""

from __future__ import annotations

from functools import cache

import numpy as np

from sennit.bodies.zone.zone import Zone
from sennit.material import Material
from tests.references.graded import hemisphere

E = 5e4
PATCH = 1e-3  # radius of the imprint for which the mesh was made, m


@cache
def body(poisson_ratio: float, depth: float, per_patch: int = 4) -> Zone:
    """Half a ball with a radius of `depth` imprints, held all over its round side."""
    vertices, faces = hemisphere(PATCH, per_patch, depth * PATCH, around=16)
    fixed = np.linalg.norm(vertices, axis=1) > (1.0 - 1e-9) * depth * PATCH
    return Zone.from_mesh(vertices, faces, material=Material(E, poisson_ratio, 1000.0), fixed=fixed)
