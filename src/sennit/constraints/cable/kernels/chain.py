"""Tensions of the parts of cables on both sides of what they rub on, together with all other bounded rows.

Find λ (k) and feeds f (one per divider) with

    y = C λ + b + Σ_d f_d (e_after(d) − e_before(d)),   lo ≤ λ ≤ hi

and, row by row, the conditions of `linalg.kernels.bounded`: y_i = 0 inside the bounds, y_i ≥ 0 at lo, y_i ≤ 0 at hi. A
part of a cable is a row whose λ is its tension (lo = 0; hi = ∞ or a winch's largest pull) and whose y is its slack.
Divider d lies between the parts before(d) and after(d) of one cable. f_d is the length that runs past it from the one
to the other beyond what sticking gives: the part that it leaves gets tauter, the other one slacker. ρ_d ≥ 1 is the
largest ratio of the two tensions, e^{μθ} on a capstan:

    sticks (grip 0)             f = 0,  λ_before/ρ ≤ λ_after ≤ ρ λ_before
    slips forward (grip +1)     f ≥ 0,  λ_after = ρ λ_before
    slips backward (grip −1)    f ≤ 0,  λ_before = ρ λ_after

ρ = 1: no friction, f of any sign; ρ > NEVER: it never slips. Where both tensions are 0, both slips hold at once, so
that f may have any sign; it is 0 unless a part needs length that another one has to spare.

Method: parts joined by dividers that slip form a group with one unknown tension (times powers of ρ), and one equation,
the sum of their y, in which the feeds cancel. Every other free row has its own unknown and equation. The system is not
symmetric: the slip is not normal to the cone of tensions. After each solve what breaks its condition is flipped: all of
it as long as fewer conditions are broken each time, then the worst or the first alone (Júdice & Pires, Computers &
Operations Research 21, 1994; Murty, Opsearch 11, 1974). It can turn in a circle where 1ᵀCw < 0 for the weights w of a
group, so that more tension leaves less slack: such problems may have several answers or none. Then it starts elsewhere.

Dependent rows: as in `linalg.kernels.bounded`. `problem` is a `BoundedProblem`, `dividers` a `Dividers`, and `work` a
`ChainWork` of max(2k, dividers) or more.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.constraints.cable.kernels.faults import BOX, KEEP, PART, SETTLED, clear, group_end, judge, mend
from sennit.linalg.kernels.bounded import (
    CONTRADICTION, CONTRADICTORY, DEPENDENT, INVALID, ITERATION_CAP, REGULARISATION, SOLVED, residual, solve_bounded,
    within,
)  # fmt: skip

NEVER = 1e12
"""Dividers with a larger ratio never slip: the products of the ratios along a cable stay within range."""

PATIENCE = 4
"""Solves after which all that is wrong is still flipped although no fewer conditions are broken than before."""


@inlined
def copy(source, target, count):
    """Copy the first entries."""
    for i in range(count):
        target[i] = source[i]


@kernel
def prepare(problem, k, dividers, work):
    """Check and sort the rows, tidy the warm start. Returns status, number of parts and the largest |b_i|/√C_ii."""
    C, b, lo, hi, lam, state = (
        problem.matrix, problem.gap, problem.lower, problem.upper, problem.multiplier, problem.side,
    )  # fmt: skip
    status, parts, largest, target = SOLVED, 0, 0.0, 0.0
    clear(lam, k, 0.0)
    copy(b, problem.residual, k)
    clear(dividers.feed, dividers.feed.size, 0.0)
    clear(work.kind, k, BOX)
    clear(work.behind, k, -1)
    clear(work.ahead, k, -1)
    for i in range(k):
        boxed = lo[i] <= hi[i] and lo[i] < math.inf and hi[i] > -math.inf
        if not (boxed and math.isfinite(b[i]) and math.isfinite(C[i, i])):
            status = INVALID
        largest = max(largest, C[i, i])
    for d in range(dividers.ratio.size):
        if not dividers.ratio[d] >= 1.0:
            status = INVALID
        elif dividers.ratio[d] <= NEVER:
            i, j = dividers.before[d], dividers.after[d]
            # a part has one divider at either end, and its tension is never below 0
            if work.behind[i] >= 0 or work.ahead[j] >= 0 or lo[i] != 0.0 or lo[j] != 0.0:
                status = INVALID
            work.behind[i] = work.ahead[j] = d
            work.kind[i] = work.kind[j] = PART
    if status == INVALID:
        return status, 0, 0.0
    p = 0
    for first in range(k):
        i = first if work.ahead[first] < 0 else -1
        while i >= 0:
            d = work.behind[i]
            work.order[p], work.link[p] = i, d
            p += 1
            i = dividers.after[d] if d >= 0 else -1
    if p < k:
        return INVALID, 0, 0.0  # a closed loop has no first row
    for i in range(k):
        work.size[i] = C[i, i]
        state[i] = min(max(state[i], -1), 1)
        if work.kind[i] == PART:
            parts += 1
            if C[i, i] <= 0.0:
                # nothing that the part is tied to moves or stretches; as a member of a group it still has a tension
                work.size[i] = REGULARISATION() * largest if largest > 0.0 else 1.0
            if hi[i] == 0.0:
                state[i] = -1
        elif lo[i] == hi[i] or C[i, i] <= 0.0:
            work.kind[i] = SETTLED
            lam[i] = within(0.0, lo[i], hi[i])
            state[i] = -1 if lo[i] == hi[i] or b[i] > 0.0 else 1 if b[i] < 0.0 else 0
            bound = lo[i] if state[i] < 0 else hi[i] if state[i] > 0 else lam[i]
            if math.isfinite(bound):
                lam[i] = bound
            else:
                status = CONTRADICTORY
            continue
        target = max(target, abs(b[i]) / math.sqrt(work.size[i]))
    for d in range(dividers.ratio.size):
        dividers.grip[d] = min(max(dividers.grip[d], -1), 1) if dividers.ratio[d] <= NEVER else 0
        if dividers.ratio[d] == 1.0 and (state[dividers.before[d]] >= 0 or state[dividers.after[d]] >= 0):
            dividers.grip[d] = 1
    return status, parts, target


@kernel
def form_groups(problem, k, dividers, work):
    """Weights of the groups; work.column ← number of each row's unknown, −1 if λ is known. Returns the unknowns.

    A part at its upper bound gives its group its tension. A group with no tension is taken apart.
    """
    lo, hi, lam, state = problem.lower, problem.upper, problem.multiplier, problem.side
    unknowns, start = 0, 0
    while start < k:
        end = group_end(work, dividers, start)
        weight, biggest, pull, holder, slack, off = 1.0, 1.0, math.inf, -1, True, False
        for p in range(start, end):
            i = work.order[p]
            work.weight[i] = weight
            biggest = max(biggest, weight)
            if (state[i] < 0 and lo[i] == -math.inf) or (state[i] > 0 and hi[i] == math.inf):
                state[i] = 0
            slack &= state[i] < 0
            off |= end - start > 1 and hi[i] == 0.0
            if state[i] > 0 and hi[i] / weight < pull:
                holder, pull = i, hi[i] / weight
            if p + 1 < end:
                d = work.link[p]
                weight = weight * dividers.ratio[d] if dividers.grip[d] > 0 else weight / dividers.ratio[d]
        known = slack or off or holder >= 0 or work.kind[work.order[start]] == SETTLED
        for p in range(start, end):
            i = work.order[p]
            work.column[i] = -1 if known else unknowns
            if work.kind[i] == SETTLED:
                pass
            elif slack or off:
                state[i] = -1
                lam[i] = lo[i]
                if p + 1 < end:
                    dividers.grip[work.link[p]] = 0
            else:
                state[i] = 1 if i == holder else 0
                if holder >= 0:
                    lam[i] = hi[i] if i == holder else pull * work.weight[i]
            work.weight[i] /= biggest
        unknowns += not known
        start = end
    return unknowns


@kernel
def solve_system(problem, k, epsilon, n, work):
    """λ of the unknowns by elimination with row pivots. Returns 0 if rows depend on each other and ε = 0.

    Row u, column v of the system: Σ_{i in u} Σ_{j in v} C_ij w_j. Columns are scaled by √(Σ w² C_ii), then rows by
    their largest entry: pivots are compared with 1, in whatever units.
    """
    C, b, lam, matrix = problem.matrix, problem.gap, problem.multiplier, problem.factor
    clear(work.vector, n, 0.0)
    clear(work.column_size, n, 0.0)
    for u in range(n):
        for v in range(n):
            matrix[u, v] = 0.0
    for i in range(k):
        u = work.column[i]
        if u >= 0:
            weight = work.weight[i]
            work.column_size[u] += weight * weight * work.size[i]
            work.vector[u] -= b[i]
            matrix[u, u] += ((1.0 + epsilon) * work.size[i] - C[i, i]) * weight
            for j in range(k):
                v = work.column[j]
                if v >= 0:
                    matrix[u, v] += C[i, j] * work.weight[j]
                else:
                    work.vector[u] -= C[i, j] * lam[j]
    for u in range(n):
        largest = 0.0
        for v in range(n):
            matrix[u, v] /= math.sqrt(work.column_size[v])
            largest = max(largest, abs(matrix[u, v]))
        largest = largest if largest > 0.0 else 1.0
        work.vector[u] /= largest
        for v in range(n):
            matrix[u, v] /= largest
    for c in range(n):
        best = c
        for u in range(c + 1, n):
            if abs(matrix[u, c]) > abs(matrix[best, c]):
                best = u
        work.vector[c], work.vector[best] = work.vector[best], work.vector[c]
        for v in range(c, n):
            matrix[c, v], matrix[best, v] = matrix[best, v], matrix[c, v]
        pivot = matrix[c, c]
        if not abs(pivot) > DEPENDENT():
            if epsilon == 0.0:
                return 0
            # rounding may have eaten a part of what the regularisation gave
            matrix[c, c] = pivot = math.copysign(max(abs(pivot), 0.1 * REGULARISATION()), pivot)
        for u in range(c + 1, n):
            x = matrix[u, c] / pivot
            work.vector[u] -= x * work.vector[c]
            for v in range(c + 1, n):
                matrix[u, v] -= x * matrix[c, v]
    for c in range(n - 1, -1, -1):
        x = work.vector[c]
        for v in range(c + 1, n):
            x -= matrix[c, v] * work.vector[v]
        work.vector[c] = x / matrix[c, c]
    for i in range(k):
        u = work.column[i]
        if u >= 0:
            lam[i] = work.vector[u] / math.sqrt(work.column_size[u]) * work.weight[i]
    return 1


@kernel
def shuffle(k, dividers, problem, work, chance):
    """Another start: half of the best states so far, the others by chance (always the same). Returns the last draw."""
    for q in range(k + dividers.ratio.size):
        chance = (1103515245 * chance + 12345) % 2147483648
        draw = (chance >> 16) % 6 - 1
        if q >= k and dividers.ratio[q - k] <= NEVER:
            dividers.grip[q - k] = work.best_grip[q - k] if draw > 1 else draw
        elif q < k and work.kind[q] != SETTLED:
            problem.side[q] = work.best_state[q] if draw > 1 else draw
    return chance


@kernel
def solve_chain(problem, k, dividers, work, max_iterations):
    """Solve the problem of the module's docstring for the first k rows. Returns (status as of `solve_bounded`, solves).

    A row is `before` of one divider at most and `after` of one at most. In and out: `side` of the problem and `grip` of
    the dividers; λ itself is not needed. Cold: −1 for parts and one-sided rows, grip 0.
    """
    C, lo, hi, lam, y, state = (
        problem.matrix, problem.lower, problem.upper, problem.multiplier, problem.residual, problem.side,
    )  # fmt: skip
    status, parts, top = prepare(problem, k, dividers, work)
    if status == INVALID:
        return status, 0
    if parts == 0:
        return solve_bounded(problem, k, max_iterations)

    count = dividers.ratio.size
    epsilon, iterations, chance, wrong = 0.0, 0, 1, 1
    fewest, patience, least = 2 * k + 1, PATIENCE, math.inf
    while iterations < max(max_iterations, 1):
        iterations += 1
        n = form_groups(problem, k, dividers, work)
        if solve_system(problem, k, epsilon, n, work) == 0:
            epsilon = REGULARISATION()
            solve_system(problem, k, epsilon, n, work)
        judge(problem, k, epsilon, dividers, work)
        wrong, worst, first, chosen = 0, 0.0, -1, -1
        for q in range(2 * k):
            if work.action[q] != KEEP:
                wrong += 1
                first = q if first < 0 else first
                if chosen < 0 or work.worst[q] > worst:
                    worst, chosen = work.worst[q], q
        if wrong == 0:
            break
        if worst < least:
            least = worst
            copy(lam, work.best_lam, k)
            copy(dividers.feed, work.best_feed, count)
            copy(state, work.best_state, k)
            copy(dividers.grip, work.best_grip, count)
        patience = PATIENCE if wrong < fewest else patience - 1
        fewest = min(fewest, wrong)
        if patience < -(k + count) // 2:
            # it turns in a circle: elsewhere it may not
            chance = shuffle(k, dividers, problem, work, chance)
            fewest = 2 * k + 1
            continue
        if (chance >> 16) % 2 == 1:
            chosen = first
        for q in range(2 * k):
            if work.action[q] != KEEP and (patience > 0 or q == chosen):
                mend(q, k, problem, dividers, work)

    if wrong > 0:
        status = ITERATION_CAP
        for i in range(k):
            lam[i] = within(work.best_lam[i], lo[i], hi[i])
        copy(work.best_feed, dividers.feed, count)
        copy(work.best_state, state, k)
        copy(work.best_grip, dividers.grip, count)
    residual(problem, k)
    for d in range(dividers.ratio.size):
        if dividers.ratio[d] <= NEVER:
            y[dividers.before[d]] -= dividers.feed[d]
            y[dividers.after[d]] += dividers.feed[d]
            if lam[dividers.before[d]] == 0.0 and lam[dividers.after[d]] == 0.0:
                dividers.grip[d] = 1 if dividers.feed[d] > 0.0 else -1 if dividers.feed[d] < 0.0 else 0
    for i in range(k):
        if not math.isfinite(y[i]):
            clear(lam, k, 0.0)
            clear(dividers.feed, count, 0.0)
            return INVALID, iterations
        if wrong == 0 and state[i] == 0 and work.kind[i] != SETTLED and (epsilon > 0.0 or work.size[i] != C[i, i]):
            if abs(y[i]) > CONTRADICTION() * top * math.sqrt(work.size[i]):
                status = CONTRADICTORY
    return status, iterations
