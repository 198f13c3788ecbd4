"""Fewer unknowns for a seam: modes of its stiffness, as seam nodes that the seam's vertices follow.

A seam moves as v_i = Σ_j Φ_ij w_j, the same Φ for all three components: a rotation then acts on the w as it does on
vertices, and nothing else of a chain has to know. Three kinds of functions are in Φ, each orthogonal to those before:

- 1, x, y, z: rigid motions and what a joint's turn displaces, exactly;
- what answers to those, −A⁻¹ K_b g for affine g at some turns of the two zones against each other, by singular values:
  the shapes that bones bend a seam into;
- the softest modes of Σ_c K_cc, the seam's own stiffness: for what touches the skin beside it.

D. L. James and D. K. Pai (2002), section VII, ask for a multiresolution basis; these modes are one that is made for the
seam. Φ is turned so that its rows sum to 1, and w are nodes at "rest places" Φ⁺X like those of any seam.
"""

from __future__ import annotations

import numpy as np

from sennit.geometry.pose import Pose
from sennit.geometry.rotations import rotation_exp
from sennit.validation import FloatArray

__all__ = ["seam_modes"]

_TURN = 0.6
"""Angle of the turns at which a seam's answers are looked at, rad."""


def seam_modes(own: FloatArray, other: FloatArray, rest: FloatArray, count: int) -> FloatArray:
    """Φ (n, count) of a seam with n nodes at `rest` (n, 3), m, whose rows sum to 1.

    `own` and `other` (3n, 3n) are the stiffnesses of its two zones on it, by component. With `count` n it is whole.
    """
    n = len(rest)
    affine = np.c_[np.ones(n), (rest - rest.mean(axis=0)) / max(float(np.ptp(rest, axis=0).max()), 1e-300)]
    basis = _grown(np.zeros((n, 0)), affine, 4)
    gaps = np.kron(np.eye(3), affine)
    answers = []
    turns = [np.zeros(3), *(sign * _TURN * axis for axis in np.eye(3) for sign in (-1.0, 1.0))]
    for turn in turns:
        T = np.kron(Pose((0.0, 0.0, 0.0), rotation_exp(turn)).rotation, np.eye(n))
        guest = T.T @ other
        answers.append(
            np.linalg.solve(own + guest @ T, guest @ gaps).reshape(3, n, 12).transpose(1, 0, 2).reshape(n, 36)
        )
    basis = _grown(basis, np.hstack(answers), min((count + 4) // 2, count) - basis.shape[1])
    scalar = sum(K.reshape(3, n, 3, n)[c, :, c] for K in (own, other) for c in range(3))
    apart = np.eye(n) - basis @ basis.T
    _, vectors = np.linalg.eigh(apart @ scalar @ apart)
    left = vectors[:, basis.shape[1] :]  # the first ones are those that are there already
    basis = np.hstack((basis, left[:, : count - basis.shape[1]]))
    # A reflection that makes the coefficients of the function 1 all alike.
    ones = basis.T @ np.ones(n)
    r = basis.shape[1]
    away = ones / np.linalg.norm(ones) - np.ones(r) / np.sqrt(r)
    square = float(away @ away)
    turned = basis if square < 1e-30 else basis - np.outer(basis @ away, away) * (2.0 / square)
    return np.asarray(turned * np.sqrt(n / r))


def _grown(basis: FloatArray, more: FloatArray, count: int) -> FloatArray:
    """`basis` and the `count` strongest directions of `more` that are orthogonal to it (fewer, if there are fewer)."""
    rest = more - basis @ (basis.T @ more)
    U, values, _ = np.linalg.svd(rest, full_matrices=False)
    kept = int((values > 1e-10 * max(float(np.linalg.norm(more)), 1e-300)).sum())
    return np.hstack((basis, U[:, : max(min(count, kept), 0)]))
