"""Arrays of small dense problems with bounds: see `sennit.linalg.kernels.bounded`."""

from __future__ import annotations

from sennit.tables import PARAMETER, WORK, Table, number, whole

__all__ = ["BoundedProblem", "FollowedBounds"]


class BoundedProblem(Table):
    """One problem of up to `rows` rows, its answer, and what its solver works with."""

    matrix = number(WORK, "C: symmetric, positive semidefinite", "rows")
    gap = number(WORK, "b: what y is without multipliers")
    lower = number(WORK, "smallest multiplier")
    upper = number(WORK, "largest multiplier")
    multiplier = number(WORK, "λ")
    residual = number(WORK, "y = C λ + b")
    side = whole(WORK, "−1: λ at its lower bound, 0: free, 1: at its upper one; the solver begins where it left off")

    order = whole(WORK, "the free rows, in the order of the factor's columns")
    free = whole(WORK, "1 for each of them")
    factor = number(WORK, "U, upper triangle: UᵀU is C (and its regularisation) on the free rows", "rows")
    column = number(WORK, "of C, while it becomes one of U")
    solved = number(WORK, "multipliers of the free rows, in their order, that make their y 0")
    scale = number(WORK, "|b_i| + Σ|C_ij λ_j|: what rounding in y is measured against")


class FollowedBounds(Table):
    """Bounds of a `BoundedProblem` that follow the multipliers of other rows."""

    law = whole(PARAMETER, "LAW_BOX or LAW_PAIR")
    row = whole(PARAMETER, "the row that is followed; −1: lower and upper are fixed")
    factor = number(PARAMETER, "bound over what is followed")
    change = number(WORK, "by which the last answer asks for more than its bound")
    change_before = number(WORK, "the same of the pass before")
