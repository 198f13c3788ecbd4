"""Tensions of the parts of cables on both sides of what they rub on, together with all other bounded rows.

Find λ (k) and feeds f (one per divider) with

    y = C λ + b + Σ_d f_d (e_after(d) − e_before(d)),   lo ≤ λ ≤ hi

and, row by row, the conditions of `linalg.bounded.kernels`: y_i = 0 inside the bounds, y_i ≥ 0 at lo, y_i ≤ 0 at hi. A
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

Dependent rows: as in `linalg.bounded.kernels`. Nothing is allocated: `matrix` (≥ k, ≥ k), `vector` (≥ k),
`work` (CHAIN_WORK_ROWS, ≥ max(2k, dividers)) and `marks` (MARK_ROWS, ≥ max(2k, dividers); int64) are scratch.
"""

from __future__ import annotations

import math

from sennit.compilation import allocating, inlined, kernel
from sennit.linalg.kernels.bounded import (
    CONTRADICTION, CONTRADICTORY, DEPENDENT, INVALID, ITERATION_CAP, REGULARISATION, SOLVED, TOLERANCE, residual,
    solve_bounded, within,
)  # fmt: skip

NEVER = 1e12
"""Dividers with a larger ratio never slip: the products of the ratios along a cable stay within range."""

# `work`. `residual` writes row 2.
WEIGHT, SIZE, SCALE, WORST, SPARE, FREE_Y, BEST_LAM, BEST_FEED = 0, 1, 2, 3, 4, 5, 6, 7
CHAIN_WORK_ROWS = 8
# `marks`. ORDER: the rows, those of a cable one after the other; LINK: the divider behind a place of ORDER that can
# slip, or −1. Groups and runs of slack parts are stretches of ORDER. ACTION and WORST: what happens next, and why; at p
# to the row at place p, at k + p to the divider behind it.
COLUMN, ORDER, LINK, ACTION, BEST_STATE, BEST_GRIP, KIND = 0, 1, 2, 3, 4, 5, 6
MARK_ROWS = 7

BOX, SETTLED, PART = 0, 1, 2
"""Kinds of rows: bounds only; never an unknown; beside a divider that can slip."""
KEEP, TO_LOWER, TO_FREE, TO_UPPER, TO_ZERO, OPEN = 0, 1, 2, 3, 4, 5
"""What happens to a row next; the last two: to the group, or to the run of slack parts, that starts with it."""
BACKWARD, STICK, FORWARD = 1, 2, 3
PATIENCE = 4
"""Solves after which all that is wrong is still flipped although no fewer conditions are broken than before."""


@allocating
def prepare(C, b, lo, hi, k, before, after, rho, dividers, lam, y, state, grip, feed, work, marks):
    """Check and sort the rows, tidy the warm start. Returns status, number of parts and the largest |b_i|/√C_ii."""
    status, parts, largest, target = SOLVED, 0, 0.0, 0.0
    lam[:k] = 0.0
    y[:k] = b[:k]
    feed[:dividers] = 0.0
    marks[KIND, :k] = BOX
    marks[ACTION, :k] = marks[COLUMN, :k] = -1  # for now: the divider behind the row, and the one before it
    for i in range(k):
        boxed = lo[i] <= hi[i] and lo[i] < math.inf and hi[i] > -math.inf
        if not (boxed and math.isfinite(b[i]) and math.isfinite(C[i, i])):
            status = INVALID
        largest = max(largest, C[i, i])
    for d in range(dividers):
        if not rho[d] >= 1.0:
            status = INVALID
        elif rho[d] <= NEVER:
            i, j = before[d], after[d]
            # a part has one divider at either end, and its tension is never below 0
            if marks[ACTION, i] >= 0 or marks[COLUMN, j] >= 0 or lo[i] != 0.0 or lo[j] != 0.0:
                status = INVALID
            marks[ACTION, i] = marks[COLUMN, j] = d
            marks[KIND, i] = marks[KIND, j] = PART
    if status == INVALID:
        return status, 0, 0.0
    p = 0
    for first in range(k):
        i = first if marks[COLUMN, first] < 0 else -1
        while i >= 0:
            d = marks[ACTION, i]
            marks[ORDER, p], marks[LINK, p] = i, d
            p += 1
            i = after[d] if d >= 0 else -1
    if p < k:
        return INVALID, 0, 0.0  # a closed loop has no first row
    for i in range(k):
        work[SIZE, i] = C[i, i]
        state[i] = min(max(state[i], -1), 1)
        if marks[KIND, i] == PART:
            parts += 1
            if C[i, i] <= 0.0:
                # nothing that the part is tied to moves or stretches; as a member of a group it still has a tension
                work[SIZE, i] = REGULARISATION * largest if largest > 0.0 else 1.0
            if hi[i] == 0.0:
                state[i] = -1
        elif lo[i] == hi[i] or C[i, i] <= 0.0:
            marks[KIND, i] = SETTLED
            lam[i] = within(0.0, lo[i], hi[i])
            state[i] = -1 if lo[i] == hi[i] or b[i] > 0.0 else 1 if b[i] < 0.0 else 0
            bound = lo[i] if state[i] < 0 else hi[i] if state[i] > 0 else lam[i]
            if math.isfinite(bound):
                lam[i] = bound
            else:
                status = CONTRADICTORY
            continue
        target = max(target, abs(b[i]) / math.sqrt(work[SIZE, i]))
    for d in range(dividers):
        grip[d] = min(max(grip[d], -1), 1) if rho[d] <= NEVER else 0
        if rho[d] == 1.0 and (state[before[d]] >= 0 or state[after[d]] >= 0):
            grip[d] = 1
    return status, parts, target


@inlined
def group_end(marks, grip, p):
    """Place after the last one of the group that starts at place p of the order."""
    while marks[LINK, p] >= 0 and grip[marks[LINK, p]] != 0:
        p += 1
    return p + 1


@inlined
def run_end(marks, state, p):
    """Place after the last one of the run of slack parts that starts at place p of the order."""
    while marks[LINK, p] >= 0 and state[marks[ORDER, p + 1]] < 0:
        p += 1
    return p + 1


@kernel
def form_groups(lo, hi, k, rho, lam, state, grip, work, marks):
    """Weights of the groups; marks[COLUMN] ← number of each row's unknown, −1 if λ is known. Returns the unknowns.

    A part at its upper bound gives its group its tension. A group with no tension is taken apart.
    """
    unknowns, start = 0, 0
    while start < k:
        end = group_end(marks, grip, start)
        weight, biggest, pull, holder, slack, off = 1.0, 1.0, math.inf, -1, True, False
        for p in range(start, end):
            i = marks[ORDER, p]
            work[WEIGHT, i] = weight
            biggest = max(biggest, weight)
            if (state[i] < 0 and lo[i] == -math.inf) or (state[i] > 0 and hi[i] == math.inf):
                state[i] = 0
            slack &= state[i] < 0
            off |= end - start > 1 and hi[i] == 0.0
            if state[i] > 0 and hi[i] / weight < pull:
                holder, pull = i, hi[i] / weight
            if p + 1 < end:
                d = marks[LINK, p]
                weight = weight * rho[d] if grip[d] > 0 else weight / rho[d]
        known = slack or off or holder >= 0 or marks[KIND, marks[ORDER, start]] == SETTLED
        for p in range(start, end):
            i = marks[ORDER, p]
            marks[COLUMN, i] = -1 if known else unknowns
            if marks[KIND, i] == SETTLED:
                pass
            elif slack or off:
                state[i] = -1
                lam[i] = lo[i]
                if p + 1 < end:
                    grip[marks[LINK, p]] = 0
            else:
                state[i] = 1 if i == holder else 0
                if holder >= 0:
                    lam[i] = hi[i] if i == holder else pull * work[WEIGHT, i]
            work[WEIGHT, i] /= biggest
        unknowns += not known
        start = end
    return unknowns


@allocating
def solve_system(C, b, k, epsilon, n, lam, matrix, vector, work, marks):
    """λ of the unknowns by elimination with row pivots. Returns 0 if rows depend on each other and ε = 0.

    Row u, column v of the system: Σ_{i in u} Σ_{j in v} C_ij w_j. Columns are scaled by √(Σ w² C_ii), then rows by
    their largest entry: pivots are compared with 1, in whatever units.
    """
    vector[:n] = 0.0
    work[SPARE, :n] = 0.0
    matrix[:n, :n] = 0.0
    for i in range(k):
        u = marks[COLUMN, i]
        if u >= 0:
            weight = work[WEIGHT, i]
            work[SPARE, u] += weight * weight * work[SIZE, i]
            vector[u] -= b[i]
            matrix[u, u] += ((1.0 + epsilon) * work[SIZE, i] - C[i, i]) * weight
            for j in range(k):
                v = marks[COLUMN, j]
                if v >= 0:
                    matrix[u, v] += C[i, j] * work[WEIGHT, j]
                else:
                    vector[u] -= C[i, j] * lam[j]
    for u in range(n):
        largest = 0.0
        for v in range(n):
            matrix[u, v] /= math.sqrt(work[SPARE, v])
            largest = max(largest, abs(matrix[u, v]))
        largest = largest if largest > 0.0 else 1.0
        vector[u] /= largest
        matrix[u, :n] /= largest
    for c in range(n):
        best = c
        for u in range(c + 1, n):
            if abs(matrix[u, c]) > abs(matrix[best, c]):
                best = u
        vector[c], vector[best] = vector[best], vector[c]
        for v in range(c, n):
            matrix[c, v], matrix[best, v] = matrix[best, v], matrix[c, v]
        pivot = matrix[c, c]
        if not abs(pivot) > DEPENDENT:
            if epsilon == 0.0:
                return 0
            # rounding may have eaten a part of what the regularisation gave
            matrix[c, c] = pivot = math.copysign(max(abs(pivot), 0.1 * REGULARISATION), pivot)
        for u in range(c + 1, n):
            x = matrix[u, c] / pivot
            vector[u] -= x * vector[c]
            for v in range(c + 1, n):
                matrix[u, v] -= x * matrix[c, v]
    for c in range(n - 1, -1, -1):
        x = vector[c]
        for v in range(c + 1, n):
            x -= matrix[c, v] * vector[v]
        vector[c] = x / matrix[c, c]
    for i in range(k):
        u = marks[COLUMN, i]
        if u >= 0:
            lam[i] = vector[u] / math.sqrt(work[SPARE, u]) * work[WEIGHT, i]
    return 1


@inlined
def note(work, marks, q, action, violation):
    marks[ACTION, q] = action
    work[WORST, q] = violation


@inlined
def sums(work, marks, start, end):
    """Over a stretch of the order: y, what rounding in it is measured against, and C_ii."""
    total, scale, size = 0.0, 0.0, 0.0
    for p in range(start, end):
        i = marks[ORDER, p]
        total += work[FREE_Y, i]
        scale += work[SCALE, i]
        size += work[SIZE, i]
    return total, scale, size


@kernel
def judge_group(hi, k, start, end, rho, lam, state, grip, feed, work, marks):
    """Feeds inside a group, and what is wrong with it.

    Along the group y_j = 0 = y⁰_j + f_{j−1} − f_j, so that feeds are sums of y⁰ = Cλ + b from the start; behind a part
    at its upper bound, which keeps what the others leave over, they are sums from the end.
    """
    total, scale, size = sums(work, marks, start, end)
    passed = 0.0
    for p in range(start, end):
        i = marks[ORDER, p]
        if lam[i] < 0.0:
            # so are all the others; the one with weight 1 counts
            if work[WEIGHT, i] == 1.0:
                note(work, marks, start, TO_ZERO, -lam[i] * math.sqrt(work[SIZE, i]))
            continue
        passed += work[FREE_Y, i]
        if state[i] > 0:
            passed -= total
            if total > TOLERANCE * scale:
                note(work, marks, p, TO_FREE, total / math.sqrt(size))
        elif lam[i] > hi[i]:
            note(work, marks, p, TO_UPPER, (lam[i] - hi[i]) * math.sqrt(work[SIZE, i]))
        if p + 1 < end:
            d = marks[LINK, p]
            feed[d] = passed
            if rho[d] > 1.0 and grip[d] * passed < -TOLERANCE * scale:
                note(work, marks, k + p, STICK, abs(passed) / math.sqrt(sums(work, marks, p, p + 2)[2]))


@kernel
def judge_run(hi, start, end, feed, work, marks):
    """Feeds along a run of slack parts between which length can pass, and whether they are slack all together.

    S_d, the sum of y up to divider d, may be moved by −f_d to any sequence that does not fall, from 0 to the total.
    Taken is the mean of the smallest one above S and the largest one below it, within those ends: no feed where S does
    not fall, the same one in both directions of the cable. A part that holds nothing (hi = 0) gives whatever is needed.
    """
    total, scale, size = sums(work, marks, start, end)
    everything, off, short = 0.0, 0, 0
    for p in range(start, end):
        i = marks[ORDER, p]
        everything += abs(work[FREE_Y, i])
        off += hi[i] == 0.0
        short += hi[i] > 0.0 and work[FREE_Y, i] < -TOLERANCE * work[SCALE, i]
    if short == 0:
        return
    if off == 0 and total < -TOLERANCE * (scale if end - start > 1 else 0.0):
        note(work, marks, start, OPEN, -total / math.sqrt(size))
        return
    top = max(total + off * everything, 0.0)
    passed, above, below = 0.0, 0.0, top
    for p in range(start, end - 1):
        i = marks[ORDER, p]
        passed += work[FREE_Y, i] + (everything if hi[i] == 0.0 else 0.0)
        above = min(max(above, passed), top)
        feed[marks[LINK, p]] = passed
        work[SPARE, p] = above
    for p in range(end - 2, start - 1, -1):
        d = marks[LINK, p]
        below = max(min(below, feed[d]), 0.0)
        feed[d] -= 0.5 * (work[SPARE, p] + below)


@allocating
def judge(C, b, lo, hi, k, epsilon, rho, dividers, lam, y, state, grip, feed, work, marks):
    """What is wrong, and how to mend it: marks[ACTION], and by how much, work[WORST], as the root of an energy.

    λ outside its bounds counts times √C_ii, y of the wrong sign over √C_ii, so that they can be compared.
    """
    residual(C, b, k, lam, y, work)
    marks[ACTION, : 2 * k] = KEEP
    feed[:dividers] = 0.0
    for i in range(k):
        work[FREE_Y, i] = y[i] + ((1.0 + epsilon) * work[SIZE, i] - C[i, i]) * lam[i]
    start = 0
    while start < k:
        i = marks[ORDER, start]
        end = group_end(marks, grip, start)
        if marks[KIND, i] == PART and state[i] < 0:
            end = run_end(marks, state, start)
            judge_run(hi, start, end, feed, work, marks)
        elif end - start > 1:
            judge_group(hi, k, start, end, rho, lam, state, grip, feed, work, marks)
        elif marks[KIND, i] != SETTLED:
            outside = max(lo[i] - lam[i], lam[i] - hi[i])
            if state[i] == 0 and outside > 0.0:
                note(work, marks, start, TO_LOWER if lam[i] < lo[i] else TO_UPPER, outside * math.sqrt(work[SIZE, i]))
            elif state[i] * work[FREE_Y, i] > TOLERANCE * work[SCALE, i]:
                note(work, marks, start, TO_FREE, abs(work[FREE_Y, i]) / math.sqrt(work[SIZE, i]))
        start = end
    for p in range(k):
        d = marks[LINK, p]
        if d < 0 or grip[d] != 0:
            continue
        i, j = marks[ORDER, p], marks[ORDER, p + 1]
        forward = lam[j] - rho[d] * max(lam[i], 0.0)
        backward = lam[i] - rho[d] * max(lam[j], 0.0)
        worst = max(forward, backward)
        if worst > TOLERANCE * max(lam[i], lam[j]):
            tauter, other = (j, i) if forward > backward else (i, j)
            violation = worst / math.sqrt(1.0 / work[SIZE, tauter] + rho[d] ** 2 / work[SIZE, other])
            note(work, marks, k + p, FORWARD if tauter == j else BACKWARD, violation)
            if lam[other] < 0.0:
                # beside a tension it cannot be slack: it has to slip, with the grips that it has
                start = p + 1 if other == j else p
                while other == i and start > 0 and group_end(marks, grip, start - 1) > start:
                    start -= 1
                marks[ACTION, start] = KEEP


@kernel
def mend(q, k, state, grip, work, marks):
    """Do what was decided about the row at place q, the group or run that starts there, or the divider behind q − k."""
    start = q if q < k else q - k
    i = marks[ORDER, start]
    action = marks[ACTION, q]
    if q >= k:
        # slack parts beside a divider that slips follow: finite ρ allows no zero there
        first, last = start, start + 1
        if action != STICK:
            while first > 0 and state[marks[ORDER, first - 1]] < 0 and run_end(marks, state, first - 1) > first:
                first -= 1
            last = run_end(marks, state, last) - 1 if state[marks[ORDER, last]] < 0 else last
        for p in range(first, last):
            grip[marks[LINK, p]] = action - STICK
    elif action == TO_ZERO:
        for p in range(start, group_end(marks, grip, start)):
            state[marks[ORDER, p]] = -1
    elif action == OPEN:
        # one group, that slips the way it would without friction, were C diagonal
        end = run_end(marks, state, start)
        total, _, size = sums(work, marks, start, end)
        passed = 0.0
        for p in range(start, end):
            i = marks[ORDER, p]
            state[i] = 0
            passed += work[FREE_Y, i] - total * work[SIZE, i] / size
            if p + 1 < end:
                grip[marks[LINK, p]] = -1 if passed < 0.0 else 1
    else:
        state[i] = action - TO_FREE


@kernel
def shuffle(k, dividers, state, grip, rho, marks, chance):
    """Another start: half of the best states so far, the others by chance (always the same). Returns the last draw."""
    for q in range(k + dividers):
        chance = (1103515245 * chance + 12345) % 2147483648
        draw = (chance >> 16) % 6 - 1
        if q >= k and rho[q - k] <= NEVER:
            grip[q - k] = marks[BEST_GRIP, q - k] if draw > 1 else draw
        elif q < k and marks[KIND, q] != SETTLED:
            state[q] = marks[BEST_STATE, q] if draw > 1 else draw
    return chance


@allocating
def solve_chain(
    C, b, lo, hi, k, before, after, rho, dividers, lam, y, state, grip, feed, matrix, vector, work, marks,
    max_iterations,
):  # fmt: skip
    """Solve the problem of the module's docstring. Returns (status of `linalg.bounded.kernels`, solves).

    C: (≥ k, ≥ k), its first k rows and columns are read; b, lo, hi: (≥ k,). before, after (int64), rho: (≥ dividers,);
    a row is `before` of one divider at most and `after` of one at most. Out: lam, y, feed. In and out: state, −1 at lo,
    0 free, +1 at hi, and grip, −1, 0, +1; λ itself is not needed. Cold: −1 for parts and one-sided rows, grip 0.
    """
    status, parts, top = prepare(C, b, lo, hi, k, before, after, rho, dividers, lam, y, state, grip, feed, work, marks)
    if status == INVALID:
        return status, 0
    if parts == 0:
        return solve_bounded(C, b, lo, hi, k, lam, y, state, matrix, work, marks, max_iterations)

    epsilon, iterations, chance, wrong = 0.0, 0, 1, 1
    fewest, patience, least = 2 * k + 1, PATIENCE, math.inf
    while iterations < max(max_iterations, 1):
        iterations += 1
        n = form_groups(lo, hi, k, rho, lam, state, grip, work, marks)
        if solve_system(C, b, k, epsilon, n, lam, matrix, vector, work, marks) == 0:
            epsilon = REGULARISATION
            solve_system(C, b, k, epsilon, n, lam, matrix, vector, work, marks)
        judge(C, b, lo, hi, k, epsilon, rho, dividers, lam, y, state, grip, feed, work, marks)
        wrong, worst, first, chosen = 0, 0.0, -1, -1
        for q in range(2 * k):
            if marks[ACTION, q] != KEEP:
                wrong += 1
                first = q if first < 0 else first
                if chosen < 0 or work[WORST, q] > worst:
                    worst, chosen = work[WORST, q], q
        if wrong == 0:
            break
        if worst < least:
            least = worst
            work[BEST_LAM, :k] = lam[:k]
            work[BEST_FEED, :dividers] = feed[:dividers]
            marks[BEST_STATE, :k] = state[:k]
            marks[BEST_GRIP, :dividers] = grip[:dividers]
        patience = PATIENCE if wrong < fewest else patience - 1
        fewest = min(fewest, wrong)
        if patience < -(k + dividers) // 2:
            # it turns in a circle: elsewhere it may not
            chance = shuffle(k, dividers, state, grip, rho, marks, chance)
            fewest = 2 * k + 1
            continue
        if (chance >> 16) % 2 == 1:
            chosen = first
        for q in range(2 * k):
            if marks[ACTION, q] != KEEP and (patience > 0 or q == chosen):
                mend(q, k, state, grip, work, marks)

    if wrong > 0:
        status = ITERATION_CAP
        for i in range(k):
            lam[i] = within(work[BEST_LAM, i], lo[i], hi[i])
        feed[:dividers] = work[BEST_FEED, :dividers]
        state[:k] = marks[BEST_STATE, :k]
        grip[:dividers] = marks[BEST_GRIP, :dividers]
    residual(C, b, k, lam, y, work)
    for d in range(dividers):
        if rho[d] <= NEVER:
            y[before[d]] -= feed[d]
            y[after[d]] += feed[d]
            if lam[before[d]] == 0.0 and lam[after[d]] == 0.0:
                grip[d] = 1 if feed[d] > 0.0 else -1 if feed[d] < 0.0 else 0
    for i in range(k):
        if not math.isfinite(y[i]):
            lam[:k] = 0.0
            feed[:dividers] = 0.0
            return INVALID, iterations
        if wrong == 0 and state[i] == 0 and marks[KIND, i] != SETTLED and (epsilon > 0.0 or work[SIZE, i] != C[i, i]):
            if abs(y[i]) > CONTRADICTION * top * math.sqrt(work[SIZE, i]):
                status = CONTRADICTORY
    return status, iterations
