"""Mixed boundary problems on stored Green's functions: loads, held rows, a moved support, supports let go.

All at Young's modulus 1 Pa: forces are divided by E before they come here.
"""

from __future__ import annotations

import numpy as np

from sennit.elastostatics import steady
from sennit.elastostatics.capacitance import Capacitance
from sennit.elastostatics.greens import GreensFunctions, rows_of
from sennit.elastostatics.kernels.capacitance import solve
from sennit.elastostatics.kernels.compliance import spread
from sennit.elastostatics.surface import IntArray
from sennit.validation import FloatArray

__all__ = ["Release", "solve_held", "support_forces"]


def support_forces(greens: GreensFunctions, rows: IntArray, moves: FloatArray, onto: IntArray) -> FloatArray:
    """What `rows` of the support displaced by `moves` do to the rows `onto` held at rest: S_onto,rows moves."""
    moving = np.flatnonzero(moves)
    everywhere = np.empty(len(greens.stiffness))
    spread(greens.stiffness, rows[moving], moves[moving], everywhere)
    return np.asarray(everywhere[onto])


def solve_held(
    greens: GreensFunctions, capacitance: Capacitance, forces: FloatArray, rows: IntArray, targets: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Free rows under `forces` (3k,), some of which, `rows` (m,), are held at `targets` (m,).

    λ = C_DD⁻¹(ū − (C f)_D), u = C (f + λ). Where rigid modes B are left, the held rows must take them up: u = C (f + λ)
    + B c with Bᵀ(f + λ) = 0.

    Returns u (3k,), λ (m,), and by how much u missed the targets before they were put in.
    """
    held = np.zeros(len(rows))
    total = forces
    rigid = None
    if len(rows):
        capacitance.hold(rows)
        order = capacitance.rows
        rank = np.empty(len(forces), dtype=np.int64)
        rank[rows] = np.arange(len(rows))
        wanted = targets[rank[order]] - greens.displacements_at(order, forces)
        lam = capacitance.solve(wanted)
        if not greens.held:
            B = greens.modes[order]
            answers = np.column_stack([capacitance.solve(column) for column in B.T])
            balance = np.einsum("ia,i->a", greens.modes, forces) + np.einsum("ia,i->a", B, lam)
            rigid = np.linalg.solve(np.einsum("ia,ib->ab", B, answers), balance)
            lam = lam - np.einsum("ia,a->i", answers, rigid)
        total = forces.copy()
        total[order] += lam
        held[rank[order]] = lam
    u = greens.displacements(total)
    if rigid is not None:
        u += np.einsum("ia,a->i", greens.modes, rigid)
    missed = float(np.abs(u[rows] - targets).max()) if len(rows) else 0.0
    u[rows] = targets
    return u, held, missed


class Release:
    """Fixed nodes R let go: their capacitance is K = S_RR − S_Rf C S_fR, and the compliance grows by W Wᵀ.

    Rows of the free nodes come first, then those of R: C̃ = [[C, 0], [0, 0]] + W Wᵀ with W = [−C S_fR; 1] R⁻¹ and
    K = RᵀR. Columns of C S_fR are taken over from `before`, an earlier release of the same zone.

    Raises `ArithmeticError` if K is not positive: the nodes still fixed do not hold the body.
    """

    def __init__(self, greens: GreensFunctions, vertices: IntArray, before: Release | None = None) -> None:
        self.vertices = vertices
        self._greens = greens
        rows = rows_of(vertices)
        S = greens.stiffness[rows]
        across = S[:, greens.rows]
        self._answer = np.empty((len(greens.rows), len(rows)))
        known = np.zeros(len(vertices), dtype=bool)
        if before is not None:
            known = np.isin(vertices, before.vertices)
            source = rows_of(np.searchsorted(before.vertices, vertices[known]))
            self._answer[:, rows_of(np.flatnonzero(known))] = before._answer[:, source]
        new = rows_of(np.flatnonzero(~known))
        self._answer[:, new] = -steady.product(greens.compliance, across[new].T)
        stiffness = S[:, rows] + steady.product(across, self._answer)
        factor = steady.cholesky(0.5 * (stiffness + stiffness.T))
        if factor is None:
            raise ArithmeticError("the nodes still fixed do not hold the body")
        W = np.concatenate((self._answer, np.eye(len(rows))))
        self._W = steady.product(W, steady.upper_inverse(factor))

    def _displacements(self, forces: FloatArray) -> FloatArray:
        u = steady.times(self._W, steady.times(self._W.T, forces))
        count = len(self._greens.rows)
        u[:count] += self._greens.displacements(forces[:count])
        return np.asarray(u)

    def solve(self, forces: FloatArray, rows: IntArray, targets: FloatArray) -> tuple[FloatArray, FloatArray, float]:
        """What `solve_held` gives, over free rows and rows of R: (3k + 3r,)."""
        if not len(rows):
            return self._displacements(forces), np.zeros(0), 0.0
        count = len(self._greens.rows)
        stored = rows < count
        block = steady.product(self._W[rows], self._W[rows].T)
        block[np.ix_(stored, stored)] += self._greens.compliance[np.ix_(rows[stored], rows[stored])]
        factor = steady.cholesky(block)
        if factor is None:
            raise ArithmeticError("the capacitance matrix is not positive")
        lam = targets - self._displacements(forces)[rows]
        solve(factor, len(lam), lam)
        total = forces.copy()
        total[rows] += lam
        u = self._displacements(total)
        missed = float(np.abs(u[rows] - targets).max())
        u[rows] = targets
        return u, lam, missed
