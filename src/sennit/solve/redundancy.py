"""Rows that depend on other rows: which they are, on which they depend, and whether they agree.

With S = J A⁻¹ Jᵀ + Σ, a row i that depends on the rows A has w = S_AA⁻¹ S_Ai with J_i = wᵀ J_A; its partners are where
w is not zero. If e_i = wᵀ e_A it is redundant, and gets a compliance that leaves the load to its partners; if
not, the rows contradict each other.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import splu

from sennit.errors import InputError, SolveError, SolveReport
from sennit.linalg.kernels.ldlt import DEPENDENT
from sennit.solve.plan import MatrixPlan
from sennit.solve.system import System
from sennit.validation import FloatArray

__all__ = ["redundant_rows_disagree", "soften_redundant_rows"]

PARTNER = 1e-6
"""Weights above this make a row a partner."""
AGREEMENT = 1e-6
"""Largest disagreement of redundant rows over the scene's size (rows of one scene are metres or radians)."""
INDEPENDENT = 1e-11
"""Part of S_ii that is left to a row that does not depend on the others."""
SPARE = 1e-8
"""Compliance of a redundant row over S_ii: its partners are firm, and carry all that it could."""


GIVE = 1e3
"""Compliance of a row over S_ii that others contradict: it gives way to them."""


def redundant_rows_disagree(system: System) -> bool:
    """Whether a row that was redundant has since been moved away from the rows that it depends on.

    Or one that gave way to them is back where it belongs.
    """
    rows = system.model.rows
    apart = np.abs(rows.value) > AGREEMENT * max(system.size, 1e-3)
    return bool(((rows.spare > 0.0) & (apart != (rows.spare_share >= GIVE))).any())


def soften_redundant_rows(
    system: System, plan: MatrixPlan, yielding: bool = False
) -> tuple[list[int], list[str], float]:
    """Give the redundant rows of the last factorisation a compliance, and return them (numbers of equality rows).

    If they contradict the rows that they depend on it raises `InputError`, naming the constraints; or they give way
    (`yielding`), and their names are returned too, with the largest gap. Raises `SolveError` if the matrix is so near
    to a singular one, or so large, that it cannot be told.
    """
    try:
        with np.errstate(all="raise", under="ignore"):
            return _soften(system, plan, yielding)
    except (ArithmeticError, RuntimeError, np.linalg.LinAlgError) as problem:  # splu raises a RuntimeError
        text = f"rows depend on others, and which ones cannot be told: {problem}"
        raise SolveError(SolveReport("failed", 1, float("nan"), "step", system.dofs, text)) from None


def _soften(system: System, plan: MatrixPlan, yielding: bool) -> tuple[list[int], list[str], float]:
    n, m = system.dofs, system.duals
    rows = system.model.rows
    S = _complement(plan.whole(), n)
    wanted, spare = np.zeros(m), np.zeros(m)
    equal = rows.dual >= 0
    # a row that is spare is kept from changing: what it is wanted for is its value
    wanted[rows.dual[equal]] = np.where(rows.spare > 0.0, -rows.g, rows.wanted)[equal]
    spare[rows.dual[equal]] = rows.spare[equal]
    S -= np.diag(spare)
    flagged = np.flatnonzero((plan.row_ratios() < DEPENDENT) | (spare > 0.0))
    sound = np.setdiff1d(np.arange(m), flagged)
    free: list[int] = []
    yielded: list[int] = []
    names: list[str] = []
    gap = 0.0
    for i in flagged.tolist():
        scale = np.sqrt(np.maximum(np.diag(S)[sound], 1e-300))
        A = S[np.ix_(sound, sound)] / np.outer(scale, scale) + 1e-13 * np.eye(len(sound))
        w = np.linalg.solve(A, S[sound, i] / scale) / scale
        if S[i, i] - S[sound, i] @ w > INDEPENDENT * S[i, i]:
            free.append(i)  # it was redundant in a passing pose, and is no longer
            continue
        mismatch = abs(float(wanted[i] - w @ wanted[sound]))
        if mismatch > AGREEMENT * max(system.size, 1e-3):
            names += [system.owner_of(i).name]
            names += [system.owner_of(int(j)).name for j in sound[np.abs(w) > PARTNER]]
            if yielding:
                yielded.append(i)
                gap = max(gap, mismatch)
                continue
            listed = ", ".join(dict.fromkeys(names))
            raise InputError(
                f"constraints contradict each other by {mismatch:.3g} m (or rad): {listed}. Remove one of them, give "
                "one a compliance, or move its target"
            )
    for i in flagged.tolist():
        row = int(np.flatnonzero(rows.dual == i)[0])
        share = GIVE if i in yielded else SPARE
        rows.spare[row] = 0.0 if i in free else share * max(float(S[i, i]), 1e-300)
        rows.spare_share[row] = 0.0 if i in free else share
    return [int(i) for i in flagged if i not in free], list(dict.fromkeys(names)), gap


def _complement(K: scipy.sparse.csc_matrix, n: int) -> FloatArray:
    """S = J A⁻¹ Jᵀ + Σ, dense."""
    J = K[n:, :n].toarray()
    solved = splu(scipy.sparse.csc_matrix(K[:n, :n])).solve(J.T)
    return np.asarray(J @ solved - K[n:, n:].toarray())
