"""What acts on one zone of a chain."""

from __future__ import annotations

import numpy as np

from sennit.elastostatics.chain.condensed import CondensedZone, HeldNodes
from sennit.elastostatics.greens import rows_of
from sennit.elastostatics.mixed import support_forces
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["ZoneLoad"]


class ZoneLoad:
    """What acts on one zone of a chain: forces, nodes held besides, a support that is moved; at E = 1.

    Raises `InputError` if a vertex of a seam is to be held.
    """

    def __init__(
        self, zone: CondensedZone, modulus: float, loads: FloatArray, displacements: FloatArray | None = None,
        known: HeldNodes | None = None, pull: FloatArray | None = None,
    ) -> None:  # fmt: skip
        greens = zone.greens
        self.loads = loads
        """Forces on the zone's vertices, (n, 3), N."""
        self.pull = pull
        """Weight, (3,), N/m³, in the zone's frame, which is among them; None: it has none."""
        self.forces = loads[greens.free].ravel() / modulus
        """Forces on the free rows, (3k,), at E = 1; what a moved support does is in it."""
        self.moves = np.zeros((len(greens.fixed), 3))
        """Displacements of the fixed vertices."""
        self.targets = np.zeros(0)
        """Displacements at which nodes are held, m."""
        self._first = np.zeros(0)
        self.held = None if displacements is None else self._hold(zone, displacements, known)
        seams = zone.seam_forces(self.forces)
        if self.held is not None:
            seams = seams + self.held.P.T @ self._first
        self.seams = modulus * seams
        """Forces that reach the seams held still, N."""

    def _hold(self, zone: CondensedZone, displacements: FloatArray, known: HeldNodes | None) -> HeldNodes | None:
        """Take up `displacements` (n, 3), NaN where nothing is prescribed."""
        greens = zone.greens
        self.moves = np.nan_to_num(displacements[greens.fixed])
        if self.moves.any():
            self.forces -= support_forces(greens, rows_of(greens.fixed), self.moves.ravel(), greens.rows)
        wanted = displacements[greens.free].ravel()
        rows = np.flatnonzero(np.isfinite(wanted))
        if not len(rows):
            return None
        on_seam = np.intersect1d(rows, zone.interface)
        if len(on_seam):
            vertices = np.unique(greens.free[on_seam // 3])
            raise InputError(
                f"displacements must leave vertices on seams free, got {vertices[:5].tolist()}: what joins them "
                "decides where they go"
            )
        self.targets = wanted[rows]
        held = known if known is not None and np.array_equal(known.rows, rows) else HeldNodes(zone, rows)
        u = greens.displacements(self.forces)
        at_rest = u[rows] - zone.raw_rows(rows) @ zone.to_columns(u[zone.interface])
        self._first = held.solve(self.targets - at_rest)
        return held

    def total(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Forces of the free rows with those that hold nodes, (3k,), at seam displacements `v`; the latter alone."""
        if self.held is None:
            return self.forces, self._first
        lam = self._first - self.held.GP @ v
        total = self.forces.copy()
        total[self.held.rows] += lam
        return total, lam
