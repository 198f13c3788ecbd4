"""What is wrong with tensions that `chain` has tried, and how it is mended.

A trial gives every free row and every group of parts that slip past each other its λ. Here each is held against its
conditions; what breaks one is noted with what is to be done about it (`work.action`, by the place in the order; for
dividers k places further) and how bad it is (`work.worst`).
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.linalg.kernels.bounded import TOLERANCE, residual

BOX, SETTLED, PART = 0, 1, 2
"""Kinds of rows: bounds only; never an unknown; beside a divider that can slip."""
KEEP, TO_LOWER, TO_FREE, TO_UPPER, TO_ZERO, OPEN = 0, 1, 2, 3, 4, 5
"""What happens to a row next; the last two: to the group, or to the run of slack parts, that starts with it."""
BACKWARD, STICK, FORWARD = 1, 2, 3


@inlined
def clear(numbers, count, value):
    """Set the first entries to a value."""
    for i in range(count):
        numbers[i] = value


@inlined
def group_end(work, dividers, p):
    """Place after the last one of the group that starts at place p of the order."""
    while work.link[p] >= 0 and dividers.grip[work.link[p]] != 0:
        p += 1
    return p + 1


@inlined
def run_end(work, state, p):
    """Place after the last one of the run of slack parts that starts at place p of the order."""
    while work.link[p] >= 0 and state[work.order[p + 1]] < 0:
        p += 1
    return p + 1


@inlined
def note(work, q, action, violation):
    work.action[q] = action
    work.worst[q] = violation


@inlined
def sums(problem, work, start, end):
    """Over a stretch of the order: y, what rounding in it is measured against, and C_ii."""
    total, scale, size = 0.0, 0.0, 0.0
    for p in range(start, end):
        i = work.order[p]
        total += work.free_y[i]
        scale += problem.scale[i]
        size += work.size[i]
    return total, scale, size


@kernel
def judge_group(problem, k, start, end, dividers, work):
    """Feeds inside a group, and what is wrong with it.

    Along the group y_j = 0 = y⁰_j + f_{j−1} − f_j, so that feeds are sums of y⁰ = Cλ + b from the start; behind a part
    at its upper bound, which keeps what the others leave over, they are sums from the end.
    """
    hi, lam, state = problem.upper, problem.multiplier, problem.side
    total, scale, size = sums(problem, work, start, end)
    passed = 0.0
    for p in range(start, end):
        i = work.order[p]
        if lam[i] < 0.0:
            # so are all the others; the one with weight 1 counts
            if work.weight[i] == 1.0:
                note(work, start, TO_ZERO, -lam[i] * math.sqrt(work.size[i]))
            continue
        passed += work.free_y[i]
        if state[i] > 0:
            passed -= total
            if total > TOLERANCE() * scale:
                note(work, p, TO_FREE, total / math.sqrt(size))
        elif lam[i] > hi[i]:
            note(work, p, TO_UPPER, (lam[i] - hi[i]) * math.sqrt(work.size[i]))
        if p + 1 < end:
            d = work.link[p]
            dividers.feed[d] = passed
            if dividers.ratio[d] > 1.0 and dividers.grip[d] * passed < -TOLERANCE() * scale:
                note(work, k + p, STICK, abs(passed) / math.sqrt(sums(problem, work, p, p + 2)[2]))


@kernel
def judge_run(problem, start, end, dividers, work):
    """Feeds along a run of slack parts between which length can pass, and whether they are slack all together.

    S_d, the sum of y up to divider d, may be moved by −f_d to any sequence that does not fall, from 0 to the total.
    Taken is the mean of the smallest one above S and the largest one below it, within those ends: no feed where S does
    not fall, the same one in both directions of the cable. A part that holds nothing (hi = 0) gives whatever is needed.
    """
    hi = problem.upper
    total, scale, size = sums(problem, work, start, end)
    everything, off, short = 0.0, 0, 0
    for p in range(start, end):
        i = work.order[p]
        everything += abs(work.free_y[i])
        off += 1 if hi[i] == 0.0 else 0
        short += 1 if hi[i] > 0.0 and work.free_y[i] < -TOLERANCE() * problem.scale[i] else 0
    if short == 0:
        return
    if off == 0 and total < -TOLERANCE() * (scale if end - start > 1 else 0.0):
        note(work, start, OPEN, -total / math.sqrt(size))
        return
    top = max(total + off * everything, 0.0)
    passed, above, below = 0.0, 0.0, top
    for p in range(start, end - 1):
        i = work.order[p]
        passed += work.free_y[i] + (everything if hi[i] == 0.0 else 0.0)
        above = min(max(above, passed), top)
        dividers.feed[work.link[p]] = passed
        work.above[p] = above
    for p in range(end - 2, start - 1, -1):
        d = work.link[p]
        below = max(min(below, dividers.feed[d]), 0.0)
        dividers.feed[d] -= 0.5 * (work.above[p] + below)


@kernel
def judge(problem, k, epsilon, dividers, work):
    """What is wrong, and how to mend it: `work.action`, and by how much, `work.worst`, as the root of an energy.

    λ outside its bounds counts times √C_ii, y of the wrong sign over √C_ii, so that they can be compared.
    """
    C, lo, hi, lam, y, state = (
        problem.matrix, problem.lower, problem.upper, problem.multiplier, problem.residual, problem.side,
    )  # fmt: skip
    residual(problem, k)
    clear(work.action, 2 * k, KEEP)
    clear(dividers.feed, dividers.feed.size, 0.0)
    for i in range(k):
        work.free_y[i] = y[i] + ((1.0 + epsilon) * work.size[i] - C[i, i]) * lam[i]
    start = 0
    while start < k:
        i = work.order[start]
        end = group_end(work, dividers, start)
        if work.kind[i] == PART and state[i] < 0:
            end = run_end(work, state, start)
            judge_run(problem, start, end, dividers, work)
        elif end - start > 1:
            judge_group(problem, k, start, end, dividers, work)
        elif work.kind[i] != SETTLED:
            outside = max(lo[i] - lam[i], lam[i] - hi[i])
            if state[i] == 0 and outside > 0.0:
                note(work, start, TO_LOWER if lam[i] < lo[i] else TO_UPPER, outside * math.sqrt(work.size[i]))
            elif state[i] * work.free_y[i] > TOLERANCE() * problem.scale[i]:
                note(work, start, TO_FREE, abs(work.free_y[i]) / math.sqrt(work.size[i]))
        start = end
    for p in range(k):
        d = work.link[p]
        if d < 0 or dividers.grip[d] != 0:
            continue
        i, j = work.order[p], work.order[p + 1]
        forward = lam[j] - dividers.ratio[d] * max(lam[i], 0.0)
        backward = lam[i] - dividers.ratio[d] * max(lam[j], 0.0)
        worst = max(forward, backward)
        if worst > TOLERANCE() * max(lam[i], lam[j]):
            tauter, other = (j, i) if forward > backward else (i, j)
            violation = worst / math.sqrt(1.0 / work.size[tauter] + dividers.ratio[d] ** 2 / work.size[other])
            note(work, k + p, FORWARD if tauter == j else BACKWARD, violation)
            if lam[other] < 0.0:
                # beside a tension it cannot be slack: it has to slip, with the grips that it has
                start = p + 1 if other == j else p
                while other == i and start > 0 and group_end(work, dividers, start - 1) > start:
                    start -= 1
                work.action[start] = KEEP


@kernel
def mend(q, k, problem, dividers, work):
    """Do what was decided about the row at place q, the group or run that starts there, or the divider behind q − k."""
    state = problem.side
    start = q if q < k else q - k
    i = work.order[start]
    action = work.action[q]
    if q >= k:
        # slack parts beside a divider that slips follow: finite ρ allows no zero there
        first, last = start, start + 1
        if action != STICK:
            while first > 0 and state[work.order[first - 1]] < 0 and run_end(work, state, first - 1) > first:
                first -= 1
            last = run_end(work, state, last) - 1 if state[work.order[last]] < 0 else last
        for p in range(first, last):
            dividers.grip[work.link[p]] = action - STICK
    elif action == TO_ZERO:
        for p in range(start, group_end(work, dividers, start)):
            state[work.order[p]] = -1
    elif action == OPEN:
        # one group, that slips the way it would without friction, were C diagonal
        end = run_end(work, state, start)
        total, _, size = sums(problem, work, start, end)
        passed = 0.0
        for p in range(start, end):
            i = work.order[p]
            state[i] = 0
            passed += work.free_y[i] - total * work.size[i] / size
            if p + 1 < end:
                dividers.grip[work.link[p]] = -1 if passed < 0.0 else 1
    else:
        state[i] = action - TO_FREE
