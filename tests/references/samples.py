"""The rods that many tests share: length 1, bending stiffness about 1."""

from __future__ import annotations

import numpy as np

from .rods import Field, Rod, constant
from .rotation import exp

TURN = exp(np.array([0.3, -0.2, 0.4]))

ROUND = np.diag([1.0, 1.0, 0.77])
"""Isotropic bending, as of a circular section with nu = 0.3; no shear, no stretch."""

FLAT = np.diag([1.0, 3.0, 0.7])
"""Two bending stiffnesses, soft about d1."""

FULL = TURN @ np.diag([1.0, 2.0, 0.7]) @ TURN.T
"""A full 3x3 stiffness."""

EXTENSIBLE = np.zeros((6, 6))
"""FULL, with shear and stretch."""
EXTENSIBLE[:3, :3] = FULL
EXTENSIBLE[3:, 3:] = TURN.T @ np.diag([80.0, 120.0, 200.0]) @ TURN

COUPLED = EXTENSIBLE.copy()
"""Bending and twist coupled to shear and stretch as well."""
COUPLED[:3, 3:] = np.arange(9.0).reshape(3, 3) / 6.0
COUPLED[3:, :3] = COUPLED[:3, 3:].T

CURVED: Field = constant((0.4, -0.7, 0.9))


def wavy(s: np.ndarray) -> np.ndarray:
    """A rest curvature that varies along the strand."""
    s = np.asarray(s, dtype=float)
    return np.vstack([0.8 * np.sin(3.0 * s), 0.5 + 0.4 * s, 0.9 * np.cos(2.0 * s)])


def tapered(stiffness: np.ndarray, **options) -> Rod:
    """A rod whose stiffness falls to a quarter while its principal axes turn."""

    def along(s: np.ndarray) -> np.ndarray:
        turns = np.zeros((len(s), *stiffness.shape))
        for k, at in enumerate(s):
            turn = exp(float(at) * np.array([0.5, 0.8, -0.6]))
            for part in range(0, len(stiffness), 3):
                turns[k, part : part + 3, part : part + 3] = turn
        size = (1.0 - 0.5 * np.asarray(s)) ** 2
        return size[:, None, None] * (turns @ stiffness @ np.swapaxes(turns, 1, 2))

    return Rod(1.0, along(np.zeros(1))[0], along=along, **options)


def round_rod(**options) -> Rod:
    return Rod(1.0, ROUND, **options)


def flat_rod(**options) -> Rod:
    return Rod(1.0, FLAT, **options)


def full_rod(**options) -> Rod:
    return Rod(1.0, FULL, rest_curvature=CURVED, **options)


def extensible_rod(**options) -> Rod:
    return Rod(1.0, EXTENSIBLE, rest_curvature=CURVED, **options)


def coupled_rod(**options) -> Rod:
    return Rod(1.0, COUPLED, rest_curvature=wavy, **options)
