"""Fewer ties for a seam: means of its vertices that are held together, in place of each vertex.

A seam that is tied at the means Σ_i Ψ_im x_i can only be pulled by the forces Ψ λ. Where a seam moves in the modes Φ
(`modes`), which bones and loads move it in, the forces that this takes are K Φ, K its stiffness: Ψ spans these. What is
left open is what such forces can't close; it falls with their number.
"""

from __future__ import annotations

import numpy as np

from sennit.elastostatics.chain.condensed import CondensedZone
from sennit.elastostatics.chain.few import block_of
from sennit.elastostatics.chain.modes import seam_modes
from sennit.validation import FloatArray

__all__ = ["seam_ties"]


def seam_ties(zones: tuple[CondensedZone, CondensedZone], sides: tuple[int, int], moduli: tuple[float, float],
              count: int) -> FloatArray | None:  # fmt: skip
    """Ψ (n, count), whose columns sum to 1, of the seam that is one of the `sides` of two zones; None: each vertex."""
    own, other = (E * block_of(zone, side) for zone, side, E in zip(zones, sides, moduli, strict=True))
    rest = zones[0].sides[sides[0]].rest
    n = len(rest)
    if count >= n:
        return None
    stiffness = sum(K.reshape(3, n, 3, n)[c, :, c] for K in (own, other) for c in range(3))
    basis, _ = np.linalg.qr(stiffness @ seam_modes(own, other, rest, count))
    # A reflection that makes the sums of all columns alike, as `seam_modes` does with rows.
    sums = basis.sum(axis=0)
    away = sums / np.linalg.norm(sums) - np.ones(count) / np.sqrt(count)
    square = float(away @ away)
    turned = basis if square < 1e-30 else basis - np.outer(basis @ away, away) * (2.0 / square)
    return np.asarray(turned / turned.sum(axis=0))
