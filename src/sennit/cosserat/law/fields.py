"""Strains from stresses, for whole arrays of points."""

from __future__ import annotations

import numpy as np

from sennit.cosserat.kernels.law import invert_law
from sennit.cosserat.law.laws import LawData
from sennit.cosserat.law.varied import VariedStiffness
from sennit.validation import FloatArray

__all__ = ["strains_from_stress"]


def strains_from_stress(
    law: LawData,
    m: FloatArray,
    b: FloatArray,
    *,
    given_curvature: bool = False,
    varied: VariedStiffness | None = None,
) -> tuple[FloatArray, FloatArray]:
    """(u − û, v − v̂) for moments m and forces b (k, 3), body frame, in the kernels' units.

    With `given_curvature`, `m` holds u − û and only the stretch is found. `varied`: the stiffness at the same places
    (k, …), of a strand that varies.
    """
    if law.linear and varied is not None:
        u = m if given_curvature else np.linalg.solve(varied.K, m[..., None])[..., 0]
        return np.asarray(u), np.einsum("kij,kj->ki", varied.C, b)
    if law.linear:
        u = m if given_curvature else np.asarray(np.linalg.solve(law.K, m.T).T, dtype=np.float64)
        return u, b @ law.C
    u, v = np.zeros_like(m), np.zeros_like(b)
    table = law.own_table(None if varied is None else varied.matrices)
    invert_law(table, np.ascontiguousarray(m), np.ascontiguousarray(b), given_curvature, u, v)
    return u, v
