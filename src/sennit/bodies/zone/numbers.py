"""The numbers of a place of a zone's surface: how they are made of its vertices' displacements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["frame_of", "patch_numbers"]


def patch_numbers(name: str, places: FloatArray, shares: FloatArray, centre: FloatArray, radius: float) -> FloatArray:
    """Weights (k, 6, 3) of a patch's displacement at `centre` and of its rotation.

    With arms r_i from the mean of the patch, θ = I⁻¹ Σ w_i r_i × u_i and I = Σ w_i (|r_i|² − r_i r_iᵀ); the
    transposed weights spread a force at the centre, and a moment, with the same resultant.
    """
    middle = shares @ places
    r = places - middle
    inertia = np.einsum("i,ij,ij->", shares, r, r) * np.eye(3) - np.einsum("i,ij,ik->jk", shares, r, r)
    values = np.linalg.eigvalsh(inertia)
    if len(places) < 3 or values[0] < 1e-6 * values[2]:
        raise InputError(
            f"radius={radius:g} covers {len(places)} vertices of {name}, which is too few to turn: give a larger one"
        )
    turns = shares[:, None, None] * (np.linalg.inv(inertia) @ _skew(r))
    moved = shares[:, None, None] * np.eye(3) - _skew((centre - middle)[None])[0] @ turns
    return np.concatenate((moved, turns), axis=1)


def _skew(r: FloatArray) -> FloatArray:
    """[r]×, (k, 3, 3)."""
    zero = np.zeros(len(r))
    x, y, z = r.T
    return np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=1).reshape(-1, 3, 3)


def frame_of(normal: NDArray[np.float64]) -> FloatArray:
    """Columns d1, d2, d3 with d3 the outward normal."""
    start = np.eye(3)[int(np.argmin(np.abs(normal)))]
    d1 = np.cross(start, normal)
    d1 /= np.linalg.norm(d1)
    return np.stack((d1, np.cross(normal, d1), normal), axis=1)
