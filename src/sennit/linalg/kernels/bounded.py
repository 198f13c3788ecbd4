"""Small dense problems with bounds on the unknowns, behind one-sided rows, motors and friction.

Find λ (k) with

    y = C λ + b,  lo ≤ λ ≤ hi,  y_i = 0 where lo_i < λ_i < hi_i,  y_i ≥ 0 where λ_i = lo_i,  y_i ≤ 0 where λ_i = hi_i

C (k, k): symmetric, positive semidefinite, compliance on its diagonal; b: what y is without multipliers (a gap's
velocity, or its displacement in the step). It is the minimum of ½ λᵀCλ + bᵀλ in the box. One-sided row: 0, ∞; motor and
friction: ± their bound; equality: ±∞; a row switched off: 0, 0. Units are the caller's: every threshold is relative.

Method: primal active set. The warm set is solved first and what leaves its bounds is dropped; then the most violated
row is freed, one at a time, and a step that would cross a bound stops there and fixes that row (Lawson & Hanson,
Solving Least Squares Problems, 1974, ch. 23; with two bounds Stark & Parker, Computational Statistics 10, 1995). The
objective falls at every step, so that no set comes twice.

Dependent rows: when a pivot falls below DEPENDENT of its diagonal, REGULARISATION · diag(C) is added to C for the rest
of the solve, to every row, so that equal rows share their load equally.

A problem is a table `sennit.linalg.bounded.BoundedProblem`, of which the first k rows (and columns) are used: C is its
`matrix`, b its `gap`, y its `residual`. Nothing is allocated.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, tolerance

SOLVED = 0
CONTRADICTORY = 1
"""Solved with the regularisation as compliance, but rows contradict each other: λ is huge, y not what it should be."""
ITERATION_CAP = 2
"""λ is within its bounds, and the best so far."""
BOUNDS_MOVE = 3
"""λ solves the problem for the last bounds, but bounds that follow other rows still changed at the last pass."""
INVALID = 4
"""lo > hi, a law that is not known, or a number that is not finite: λ is 0."""

LAW_BOX = 0
"""|λ_i| ≤ factor |λ_r|, r the row that it follows; lo and hi as given where r < 0."""
LAW_PAIR = 1
"""|λ_i| ≤ factor √(λ_r² + λ_{r+1}²): friction of what two rows press together."""
LAW_DISK = 2
"""Reserved for contact: rows r, r + 1, r + 2 with |(λ_{r+1}, λ_{r+2})| ≤ factor λ_r. Not accepted yet."""

REGULARISATION = tolerance(1e-10, 1e-6)
DEPENDENT = tolerance(1e-9, 1e-5)
TOLERANCE = tolerance(1e-10, 1e-5)
"""A row at a bound is violated if y has the wrong sign by more than this part of |b_i| + Σ|C_ij λ_j|."""
CONTRADICTION = tolerance(1e-6, 1e-4)
BOUND_TOLERANCE = tolerance(1e-9, 1e-5)


@inlined
def within(x, lower, upper):
    return min(max(x, lower), upper)


@inlined
def fixed_for_good(problem, i):
    """Rows that are never unknowns: no room between the bounds, or λ_i moves nothing (C ⪰ 0: the whole row is 0)."""
    return problem.lower[i] == problem.upper[i] or problem.matrix[i, i] <= 0.0


@kernel
def extend_factor(problem, epsilon, first, count):
    """Columns first … count−1 of U, UᵀU = C + ε diag(C) on the free rows. Returns the columns done.

    Columns before `first` are kept: freeing a row costs one column, not a factorisation. It stops before a dependent
    column if ε = 0.
    """
    C, order, factor, column = problem.matrix, problem.order, problem.factor, problem.column
    for j in range(first, count):
        row = order[j]
        for i in range(j):
            column[i] = C[row, order[i]]
        diagonal = C[row, row]
        pivot = (1.0 + epsilon) * diagonal
        for i in range(j):
            x = column[i] / factor[i, i]
            factor[i, j] = x
            pivot -= x * x
            for m in range(i + 1, j):
                column[m] -= x * factor[i, m]
        if not pivot > DEPENDENT() * diagonal:
            if epsilon == 0.0:
                return j
            # the exact pivot is at least ε·diagonal; rounding may have eaten a part of it
            pivot = max(pivot, epsilon * diagonal)
        factor[j, j] = math.sqrt(pivot)
    return count


@kernel
def solve_free(problem, k, count):
    """`solved` ← the multipliers of the `count` free rows that make their y zero, others held. 1 if finite."""
    C, b, lam = problem.matrix, problem.gap, problem.multiplier
    order, free, factor, solved = problem.order, problem.free, problem.factor, problem.solved
    for j in range(count):
        solved[j] = -b[order[j]]
    for i in range(k):
        if free[i] == 0 and lam[i] != 0.0:
            for j in range(count):
                solved[j] -= C[i, order[j]] * lam[i]
    for i in range(count):
        x = solved[i] / factor[i, i]
        solved[i] = x
        for m in range(i + 1, count):
            solved[m] -= x * factor[i, m]
    finite = 1
    for i in range(count - 1, -1, -1):
        x = solved[i]
        for m in range(i + 1, count):
            x -= factor[i, m] * solved[m]
        solved[i] = x / factor[i, i]
        if not math.isfinite(solved[i]):
            finite = 0
    return finite


@kernel
def residual(problem, k):
    """`residual` ← y = Cλ + b; `scale` ← |b_i| + Σ|C_ij λ_j|, what rounding in y is measured against."""
    C, b, lam = problem.matrix, problem.gap, problem.multiplier
    y, scale = problem.residual, problem.scale
    for i in range(k):
        y[i] = b[i]
        scale[i] = abs(b[i])
    for j in range(k):
        x = lam[j]
        if x != 0.0:
            for i in range(k):
                y[i] += C[j, i] * x
                scale[i] += abs(C[j, i] * x)


@inlined
def fix_row(problem, i, at_upper):
    """Hold row i at one of its bounds."""
    problem.multiplier[i] = problem.upper[i] if at_upper else problem.lower[i]
    problem.side[i] = 1 if at_upper else -1
    problem.free[i] = 0


@kernel
def solve_bounded(problem, k, max_iterations):
    """Solve the first k rows of a problem: see the module's docstring. Returns (status, solves of the free block).

    Reads matrix, gap, lower and upper; writes multiplier and residual. In and out: side, −1 at lower, 0 free, +1 at
    upper; a warm start takes the set from there (λ itself is not needed); cold: −1 for one-sided rows.
    """
    C, b, lo, hi = problem.matrix, problem.gap, problem.lower, problem.upper
    lam, y, state = problem.multiplier, problem.residual, problem.side
    order, free, solved, scale = problem.order, problem.free, problem.solved, problem.scale
    status = SOLVED
    largest = 0.0
    count = 0
    for i in range(k):
        lam[i] = 0.0
        y[i] = b[i]
        free[i] = 0
        boxed = lo[i] <= hi[i] and lo[i] < math.inf and hi[i] > -math.inf
        if not (boxed and math.isfinite(b[i]) and math.isfinite(C[i, i])):
            status = INVALID
    if status == INVALID:
        return status, 0

    # Equality rows first: they never leave, so that what follows them in the factor is all that is ever redone.
    for turn in range(2):
        for i in range(k):
            equality = lo[i] == -math.inf and hi[i] == math.inf
            if equality != (turn == 0):
                continue
            lam[i] = within(0.0, lo[i], hi[i])
            if fixed_for_good(problem, i):
                if lo[i] == hi[i]:
                    state[i] = -1
                    lam[i] = lo[i]
                elif b[i] == 0.0:
                    state[i] = 0
                else:
                    state[i] = -1 if b[i] > 0.0 else 1
                    bound = lo[i] if b[i] > 0.0 else hi[i]
                    if math.isfinite(bound):
                        lam[i] = bound
                    else:
                        status = CONTRADICTORY
                continue
            largest = max(largest, abs(b[i]) / math.sqrt(C[i, i]))
            if state[i] < 0 and lo[i] > -math.inf:
                fix_row(problem, i, 0)
            elif state[i] > 0 and hi[i] < math.inf:
                fix_row(problem, i, 1)
            else:
                state[i] = 0
                order[count] = i
                free[i] = 1
                count += 1

    epsilon = 0.0
    done = 0
    iterations = 0
    warm = 1
    freed = -1  # the row freed last, until the solve that follows
    skipped = -1  # a row that rounding freed: it went straight back
    finished = 0
    while iterations < max_iterations:
        iterations += 1
        done = extend_factor(problem, epsilon, done, count)
        if done < count:
            epsilon = REGULARISATION()
            done = extend_factor(problem, epsilon, 0, count)
        if solve_free(problem, k, count) == 0:
            for i in range(k):
                lam[i] = 0.0
            return INVALID, iterations

        # How far towards the solution of the free rows λ may go. The warm set has no λ to start from: it drops instead.
        alpha = 1.0
        blocking = -1
        outside = 0
        for j in range(count):
            i = order[j]
            z = solved[j]
            if z < lo[i] or z > hi[i]:
                outside += 1
                a = ((hi[i] if z > hi[i] else lo[i]) - lam[i]) / (z - lam[i])
                if a < alpha or blocking < 0:
                    alpha = a
                    blocking = i
        if outside > 0:
            kept = 0
            for j in range(count):
                i = order[j]
                z = solved[j]
                drop = 0
                if z < lo[i] or z > hi[i]:
                    upper = z > hi[i]
                    if warm == 1 or i == blocking:
                        drop = 1
                    else:
                        lam[i] += alpha * (z - lam[i])
                        if (upper and lam[i] >= hi[i]) or (not upper and lam[i] <= lo[i]):
                            drop = 1
                    if drop == 1:
                        fix_row(problem, i, upper)
                        done = min(done, kept)
                elif warm == 0:
                    lam[i] += alpha * (z - lam[i])
                if drop == 0:
                    order[kept] = i
                    kept += 1
            count = kept
            wrong_way = blocking == freed and alpha <= 0.0
            if wrong_way:
                skipped = freed
            freed = -1
            if not wrong_way:
                continue
        else:
            for j in range(count):
                lam[order[j]] = solved[j]
            warm = 0
            if freed >= 0:
                skipped = -1
            freed = -1

        # Free the row whose y has the wrong sign, and lowers the objective most when it moves alone: y²/C_ii.
        residual(problem, k)
        worst = 0.0
        for i in range(k):
            if free[i] == 1 or i == skipped or fixed_for_good(problem, i):
                continue
            violation = state[i] * (y[i] + epsilon * C[i, i] * lam[i])
            if violation > TOLERANCE() * scale[i]:
                violation /= math.sqrt(C[i, i])
                if violation > worst:
                    worst = violation
                    freed = i
        if freed < 0:
            finished = 1
            break
        state[freed] = 0
        order[count] = freed
        free[freed] = 1
        count += 1

    residual(problem, k)
    for i in range(k):
        if not math.isfinite(y[i]):
            for j in range(k):
                lam[j] = 0.0
            return INVALID, iterations
    for j in range(count):
        i = order[j]
        if abs(y[i]) > CONTRADICTION() * largest * math.sqrt(C[i, i]) and epsilon > 0.0:
            status = CONTRADICTORY
    if finished == 0:
        status = ITERATION_CAP
    return status, iterations


# ------------------------------------------------------------------------------------- bounds that follow other rows


@inlined
def followed_bound(problem, followed, i):
    """Bound of row i that the multipliers ask for."""
    lam = problem.multiplier
    r = followed.row[i]
    pressed = abs(lam[r]) if followed.law[i] == LAW_BOX else math.hypot(lam[r], lam[r + 1])
    return followed.factor[i] * pressed


@kernel
def solve_rows(problem, followed, k, max_iterations, max_passes):
    """`solve_bounded` for rows whose bounds follow other rows of the problem. Returns (status, solves, passes).

    `followed`: a table `sennit.linalg.bounded.FollowedBounds`; where it names a row, lower and upper are overwritten.
    In and out: multiplier too, since the first pass takes its bounds from there (the last step's; zeros are fine).
    Every pass solves with bounds held and then asks for them anew: a fixed point, relaxed by Aitken's rule (Irons &
    Tuck, Int. J. Numer. Meth. Eng. 1, 1969). `max_iterations` caps each pass.
    """
    C, lo, hi, lam, state = problem.matrix, problem.lower, problem.upper, problem.multiplier, problem.side
    law, row, changes, before = followed.law, followed.row, followed.change, followed.change_before
    following = 0
    for i in range(k):
        if law[i] != LAW_BOX and law[i] != LAW_PAIR:
            for j in range(k):
                lam[j] = 0.0
            return INVALID, 0, 0
        if row[i] >= 0:
            following = 1
            hi[i] = followed_bound(problem, followed, i)
            lo[i] = -hi[i]
            before[i] = 0.0
    relaxation = 1.0
    total = 0
    status = BOUNDS_MOVE
    for turn in range(max_passes):
        status, iterations = solve_bounded(problem, k, max_iterations)
        total += iterations
        if status == INVALID or status == ITERATION_CAP or following == 0:
            return status, total, turn + 1
        moved = 0
        top = 0.0
        bottom = 0.0
        for i in range(k):
            if row[i] < 0:
                continue
            bound = followed_bound(problem, followed, i)
            change = bound - hi[i]
            if state[i] == 0 and abs(lam[i]) <= bound:
                # it sticks, with the old bound and with the new one: the bound decides nothing
                hi[i] = bound
                lo[i] = -bound
                changes[i] = 0.0
                continue
            if abs(change) > BOUND_TOLERANCE() * (bound + hi[i]):
                moved = 1
            changes[i] = change
            difference = change - before[i]
            top += C[i, i] * before[i] * difference
            bottom += C[i, i] * difference * difference
        if moved == 0:
            return status, total, turn + 1
        if turn > 0 and bottom > 0.0:
            # Below zero: each bound asks for more than it was given, until its row sticks; go there quickly.
            relaxation = -relaxation * top / bottom
            relaxation = within(relaxation, 0.05, 4.0) if relaxation > 0.0 else 4.0
        for i in range(k):
            if row[i] >= 0:
                hi[i] = max(hi[i] + relaxation * changes[i], 0.0)
                lo[i] = -hi[i]
                before[i] = changes[i]
    return BOUNDS_MOVE, total, max_passes


@kernel
def largest_violation(problem, k):
    """The row that breaks the conditions of the module's docstring most, and by how much, for reports.

    Violations are dimensionless: λ outside its bounds over the largest |λ|, y of the wrong sign over the row's
    |b_i| + Σ|C_ij λ_j|. Row −1 if there is none.
    """
    C, b, lo, hi, lam = problem.matrix, problem.gap, problem.lower, problem.upper, problem.multiplier
    row = -1
    worst = 0.0
    size = 0.0
    for i in range(k):
        size = max(size, abs(lam[i]))
    for i in range(k):
        y = b[i]
        scale = abs(b[i])
        for j in range(k):
            y += C[i, j] * lam[j]
            scale += abs(C[i, j] * lam[j])
        outside = max(lo[i] - lam[i], lam[i] - hi[i])
        wrong = 0.0
        if lam[i] > lo[i]:
            wrong = max(wrong, y)
        if lam[i] < hi[i]:
            wrong = max(wrong, -y)
        violation = wrong / scale if wrong > 0.0 else 0.0
        if outside > 0.0:
            violation = max(violation, outside / size if size > 0.0 else math.inf)
        if violation > worst or violation != violation:
            worst = violation
            row = i
    return row, worst
