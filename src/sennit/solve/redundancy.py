"""Rows that depend on other rows: which they are, on which they depend, and whether they agree.

With S = J A⁻¹ Jᵀ + Σ, a row i that depends on the rows A has w = S_AA⁻¹ S_Ai with J_i = wᵀ J_A; its partners are where
w is not zero. If e_i = wᵀ e_A it is redundant, and gets a compliance that leaves the load to its partners; if
not, the rows contradict each other.

Where free flight takes a body that turns, rows that curve are off by second order in its way, and sound rows seem to
disagree. So e is taken where the step begins, and what a target's own move d leaves at second order, d²/(lever), is
granted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.errors import InputError, SolveError, SolveReport
from sennit.linalg.kernels.ldlt import DEPENDENT
from sennit.solve.kernels.accept import evaluate_all, measure_rows
from sennit.solve.plan import MatrixPlan
from sennit.solve.system import System
from sennit.tables import STATE
from sennit.validation import FloatArray

__all__ = ["AGREEMENT", "contradiction", "redundant_rows_disagree", "soften_redundant_rows"]

PARTNER = 1e-6
"""Weights above this make a row a partner."""
AGREEMENT = 1e-5
"""Largest disagreement of redundant rows over the scene's size (rows of one scene are metres or radians)."""
INDEPENDENT = 1e-11
"""Part of S_ii that is left to a row that does not depend on the others."""
SPARE, STATIC_SPARE = 1e-8, 0.5
"""Compliance of a redundant row over S_ii: its partners are firm, and carry all that it could. In statics S_ii is up to
1/γ, compliances must be less than that (γ: stiffness of the anchors), and what rows disagree by at second order must
strain nothing."""
GIVE = 1e3
"""Compliance of a row over S_ii that others contradict: it gives way to them."""
CURVED = 0.1
"""Largest part of a move that may be its second-order part: moves of more than 0.1 rad are not granted it."""


def contradiction(size: float, names: Iterable[str]) -> str:
    """What is said of constraints that contradict each other by `size` (m or rad)."""
    return (
        f"constraints contradict each other by {size:.3g} m (or rad): {', '.join(names)}. Remove one of them, give one "
        "a compliance, or move its target"
    )


def redundant_rows_disagree(system: System) -> bool:
    """Whether a row that was redundant has since been moved away from the rows that it depends on.

    Or one that gave way to them is back where it belongs.
    """
    rows = system.model.rows
    apart = np.abs(rows.value) > AGREEMENT * max(system.size, 1e-3)
    return bool(((rows.spare > 0.0) & (apart != (rows.spare_share >= GIVE))).any())


def soften_redundant_rows(
    system: System, plan: MatrixPlan, *, refuse: bool = True, moved: bool = True, yielding: bool = False
) -> tuple[list[int], list[str], float]:
    """Give the redundant rows of the last factorisation a compliance, and return them (numbers of equality rows).

    `refuse` False: whether they agree or not. `moved`: the iterate is where free flight took it, not the state, and
    rows are judged at the state; places and the work of rows are those of the state then.

    If they contradict the rows that they depend on it raises `InputError`, naming the constraints; or they give way
    (`yielding`), and their names are returned too, with the largest gap. Raises `SolveError` if the matrix is so near
    to a singular one, or so large, that it cannot be told.
    """
    try:
        with np.errstate(all="raise", under="ignore"):
            return _soften(system, plan, refuse, moved, yielding)
    except (ArithmeticError, RuntimeError, np.linalg.LinAlgError) as problem:  # splu raises a RuntimeError
        text = f"rows depend on others, and which ones cannot be told: {problem}"
        raise SolveError(SolveReport("failed", 1, float("nan"), "step", system.dofs, text)) from None


def _soften(
    system: System, plan: MatrixPlan, refuse: bool, moved: bool, yielding: bool
) -> tuple[list[int], list[str], float]:
    n, m = system.dofs, system.duals
    rows = system.model.rows
    S, added = _complement(plan.whole(), n)
    wanted, spare, own = np.zeros(m), np.zeros(m), np.zeros(m)
    equal = rows.dual >= 0
    wanted[rows.dual[equal]] = (_wanted_at_state(system) if moved else rows.wanted)[equal]
    spare[rows.dual[equal]] = rows.spare[equal]
    own[rows.dual[equal]] = (rows.softness - rows.spare)[equal]
    # What was given to rows before is taken off; in statics anchors have changed it.
    S += np.diag(np.where(spare > 0.0, own, added))
    flagged = np.flatnonzero((plan.row_ratios() < DEPENDENT()) | (spare > 0.0))
    sound = np.setdiff1d(np.arange(m), flagged)
    softened: dict[int, float] = {}
    names: list[str] = []
    gap = 0.0
    for i in flagged.tolist():
        scale = np.sqrt(np.maximum(np.diag(S)[sound], 1e-300))
        A = S[np.ix_(sound, sound)] / np.outer(scale, scale) + 1e-13 * np.eye(len(sound))
        w = np.linalg.solve(A, S[sound, i] / scale) / scale
        if S[i, i] - S[sound, i] @ w > INDEPENDENT * S[i, i]:
            sound = np.append(sound, i)  # it was redundant in a passing pose, and is no longer
            continue
        partners = np.append(sound[np.abs(w) > PARTNER], i)
        mismatch = abs(float(wanted[i] - w @ wanted[sound]))
        # The row that yields is the one that has most to do with it, which need not be the one that was met last.
        shares = np.abs(w) * scale / max(float(S[i, i]) ** 0.5, 1e-150)
        most = int(np.argmax(shares)) if len(shares) else 0
        chosen = i
        if len(shares) and shares[most] > 1.0:
            mismatch /= abs(float(w[most]))
            chosen = int(sound[most])
            sound[most] = i
        softened[chosen] = SPARE if moved else STATIC_SPARE
        if refuse and mismatch > AGREEMENT * max(system.size, 1e-3) + _second_order(system, wanted, partners):
            names += [system.owner_of(int(j)).name for j in (i, *partners)]
            if not yielding:
                raise InputError(contradiction(mismatch, dict.fromkeys(names)))
            gap = max(gap, mismatch)
            softened[chosen] = GIVE
    rows.spare[equal] = rows.spare_share[equal] = 0.0
    for i, share in softened.items():
        row = int(np.flatnonzero(rows.dual == i)[0])
        rows.spare[row], rows.spare_share[row] = share * max(float(S[i, i]), 1e-300), share
    return sorted(softened), list(dict.fromkeys(names)), gap


def _wanted_at_state(system: System) -> FloatArray:
    """Right sides of all rows if the iterate were at the state."""
    model, rows = system.model, system.model.rows
    kept = rows.words(STATE).copy()
    # what is spare is kept from changing: what it is wanted for is its value
    right = np.where(rows.spare > 0.0, 0.0, rows.wanted + rows.g)
    evaluate_all(model)
    measure_rows(model)
    right -= rows.value + rows.ahead  # the whole gap, however slowly it would be closed
    np.copyto(rows.words(STATE), kept)
    on = rows.softness != 1.0  # a row that is switched off wants nothing
    return np.where(on | (rows.wanted != 0.0), right, 0.0)


def _second_order(system: System, wanted: FloatArray, duals: NDArray[np.int64]) -> float:
    """What rows that agree may be off by, since they curve: d²/(lever), d the furthest that one of them has to go."""
    rows, places = system.model.rows, system.model.places
    involved = np.isin(rows.dual, duals)
    points = places.position[np.concatenate((rows.first[involved], rows.second[involved]))]
    lever = float(np.max(np.linalg.norm(points - points.mean(axis=0), axis=1), initial=0.0))
    way = float(np.max(np.abs(wanted[duals]), initial=0.0))
    return min(way * way / lever, CURVED * way) if lever > 0.0 else 0.0


def _complement(K: Any, n: int) -> tuple[FloatArray, FloatArray]:
    """S = J A⁻¹ Jᵀ, dense, and the diagonal Σ, of a sparse K."""
    from scipy.sparse import csc_matrix  # here, because it takes long to import and is seldom needed
    from scipy.sparse.linalg import splu

    J = K[n:, :n].toarray()
    solved = splu(csc_matrix(K[:n, :n])).solve(J.T)
    return np.asarray(J @ solved), np.asarray(-K[n:, n:].diagonal())
