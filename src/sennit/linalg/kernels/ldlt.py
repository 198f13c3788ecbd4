"""Numeric LDLᵀ factorisation of a symmetric quasi-definite matrix along a plan, and the triangular solves.

P K Pᵀ = L D Lᵀ with L unit lower triangular and D diagonal, without pivoting: the order keeps every pivot away from
zero (`ordering.py`). Panels of four columns are computed from left to right. Panel t first gathers what the
panels d to its left subtract from it, row by row,

    T[i, :] -= L_d[i, :] (D_d L_d[t, :]ᵀ),

a row of four times a 4 × 4 matrix that stays in registers; then its own four pivots are taken and the rows below are
divided. A group of panels gathers together, so that the rows of each d come from memory once for all of them; inside
the group a panel that is done is subtracted from the next ones at once. No list is searched and nothing is allocated.

Vectors `w` are in the permuted numbering of the `plan` (`sennit.linalg.plan`), of length 4 panels.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, kernel, tolerance
from sennit.linalg.kernels.lanes import add_four, divide_four, subtract_product, subtract_two_products

# A constraint row whose pivot is less than this part of what made it negative depends on the rows before it; it then
# gets this compliance, relative to the same sum. Measured limits: healthy rows 4e-8 and above, dependent ones 4e-16.
DEPENDENT = tolerance(1e-12, 1e-6)
COMPLIANCE = tolerance(1e-13, 1e-6)
# A primal pivot below this part of its diagonal is rounding error.
VANISHING = tolerance(1e-15, 5e-7)


@inlined
def add_entries(plan, p, values, factor):
    """Add the matrix's entries to panel p."""
    goal, slot = plan.along_goal, plan.along_slot
    for k in range(np.int64(plan.first_along[p]), np.int64(plan.first_along[p + 1])):
        add_four(factor, np.int64(goal[k]), values, np.int64(slot[k]))
    goal, slot = plan.down_goal, plan.down_slot
    for k in range(np.int64(plan.first_down[p]), np.int64(plan.first_down[p + 1])):
        g = np.int64(goal[k])
        s = np.int64(slot[k])
        factor[g] += values[s]
        factor[g + 4] += values[s + 1]
        factor[g + 8] += values[s + 2]
        factor[g + 12] += values[s + 3]
    goal, slot = plan.single_goal, plan.single_slot
    for k in range(np.int64(plan.first_single[p]), np.int64(plan.first_single[p + 1])):
        factor[np.int64(goal[k])] += values[np.int64(slot[k])]


@inlined
def weighted_square(factor, at, d0, d1, d2, d3):
    x0, x1, x2, x3 = factor[at], factor[at + 1], factor[at + 2], factor[at + 3]
    return d0 * x0 * x0 + d1 * x1 * x1 + d2 * x2 * x2 + d3 * x3 * x3


@inlined
def own_sum(sign, now, updated, lost):
    """Sum of the parts of a diagonal number that have the pivot's expected sign.

    The number was 0 − P + N after the updates (`updated`), P from positive pivots and N = `lost` from negative ones;
    then the matrix's own entry was added (`now`). A row is made negative by P, a massless primal unknown positive by N.
    """
    if sign == 2:
        return lost - updated + max(updated - now, 0.0)
    return lost + max(now - updated, 0.0)


@inlined
def gain(sign, part):
    """What subtracting `part` adds to the sum of `own_sum`."""
    return max(part, 0.0) if sign == 2 else max(-part, 0.0)


@inlined
def pivot(d, sign, own, column, ratio, at):
    """Safe pivot from the computed `d`. Returns it, 1 if it is a dependent row's, 1 if it is a bad primal one.

    `sign`: 0 padding, 1 primal, 2 row; `own`: sum of what gave it its expected sign; `column`: largest entry below.
    """
    if sign == 0:
        return 1.0, 0, 0
    if sign == 2:
        r = abs(d) / own if own > 0.0 else (0.0 if d == 0.0 else 1.0)
        ratio[at] = r
        if r < DEPENDENT():
            return (min(d, 0.0) - COMPLIANCE() * own if own > 0.0 else -1.0), 1, 0
        return d, 0, 0
    if d > VANISHING() * own and d > 0.0:
        return d, 0, 0
    if d < -VANISHING() * own and d < 0.0:
        return d, 0, 1
    # Whatever is below must stay finite after the division.
    tiny = VANISHING() * max(own, column)
    return (tiny if tiny > 0.0 else 1.0), 0, 1


@inlined
def largest_below(factor, begin, end, lane):
    m = 0.0
    for i in range(begin + lane, end, 4):
        m = max(m, abs(factor[i]))
    return m


@inlined
def scaled_lanes(plan, u, factor, diagonal):
    """D_d L_d[t, :]ᵀ of update u, as four rows: 4-tuples."""
    lanes = plan.update_lanes
    c = np.int64(plan.update_column[u])
    i0 = np.int64(lanes[u, 0])
    i1 = np.int64(lanes[u, 1])
    i2 = np.int64(lanes[u, 2])
    i3 = np.int64(lanes[u, 3])
    d0 = diagonal[c]
    d1 = diagonal[c + 1]
    d2 = diagonal[c + 2]
    d3 = diagonal[c + 3]
    return (
        (d0 * factor[i0], d0 * factor[i1], d0 * factor[i2], d0 * factor[i3]),
        (d1 * factor[i0 + 1], d1 * factor[i1 + 1], d1 * factor[i2 + 1], d1 * factor[i3 + 1]),
        (d2 * factor[i0 + 2], d2 * factor[i1 + 2], d2 * factor[i2 + 2], d2 * factor[i3 + 2]),
        (d3 * factor[i0 + 3], d3 * factor[i1 + 3], d3 * factor[i2 + 3], d3 * factor[i3 + 3]),
    )


@inlined
def losses(plan, u, factor, diagonal):
    """What update u takes from the diagonal of its panel by negative pivots, for each lane."""
    lanes = plan.update_lanes
    c = np.int64(plan.update_column[u])
    d0 = min(diagonal[c], 0.0)
    d1 = min(diagonal[c + 1], 0.0)
    d2 = min(diagonal[c + 2], 0.0)
    d3 = min(diagonal[c + 3], 0.0)
    return (
        -weighted_square(factor, np.int64(lanes[u, 0]), d0, d1, d2, d3),
        -weighted_square(factor, np.int64(lanes[u, 1]), d0, d1, d2, d3),
        -weighted_square(factor, np.int64(lanes[u, 2]), d0, d1, d2, d3),
        -weighted_square(factor, np.int64(lanes[u, 3]), d0, d1, d2, d3),
    )


@inlined
def add_losses(plan, u, factor, diagonal):
    """`losses` of update u are added to its panel's sums, which stand where its pivots will: see `own_sum`."""
    t = np.int64(plan.update_panel[u])
    if plan.special[t] != 0 and plan.update_has_rows[u] != 0:
        x0, x1, x2, x3 = losses(plan, u, factor, diagonal)
        diagonal[4 * t] += x0
        diagonal[4 * t + 1] += x1
        diagonal[4 * t + 2] += x2
        diagonal[4 * t + 3] += x3


@kernel
def subtract_updates(plan, leader, begin, end, factor, diagonal):
    """Subtract updates from `begin` to `end` from the panels of the group that `leader` leads.

    Of the same source, two panels at a time: their rows are read once for both.
    """
    target, column = plan.target, plan.update_column
    u = begin
    while u < end:
        t = np.int64(plan.update_panel[u])
        m = np.int64(plan.update_count[u])
        source = np.int64(plan.update_source[u])
        at = np.int64(plan.update_target[u])
        base = np.int64(plan.place[t]) - 16 * (t - leader)
        b0, b1, b2, b3 = scaled_lanes(plan, u, factor, diagonal)
        add_losses(plan, u, factor, diagonal)
        u += 1
        if u < end and column[u] == column[u - 1]:
            other = np.int64(plan.update_panel[u])
            both = np.int64(plan.update_count[u])
            second = np.int64(plan.place[other]) - 16 * (other - leader)
            c0, c1, c2, c3 = scaled_lanes(plan, u, factor, diagonal)
            add_losses(plan, u, factor, diagonal)
            u += 1
            for k in range(at, at + m - both):
                subtract_product(factor, base + np.int64(target[k]), source, b0, b1, b2, b3)
                source += 4
            for k in range(at + m - both, at + m):
                i = np.int64(target[k])
                subtract_two_products(factor, base + i, second + i, source, b0, b1, b2, b3, c0, c1, c2, c3)
                source += 4
        else:
            for k in range(at, at + m):
                subtract_product(factor, base + np.int64(target[k]), source, b0, b1, b2, b3)
                source += 4


@kernel
def factorise(plan, values, factor, diagonal, ratio):
    """Factorise the matrix whose entries are ``values[slot]``.

    Writes `factor` (numbers of L, the plan's `factor_length`), `diagonal` (pivots, permuted) and, for constraint rows,
    `ratio`: |pivot| over the sum of what made it negative, which is 1 for a row that shares nothing with
    the rows before it and 0 for a dependent one.

    Returns the number of negative pivots, the number of dependent rows (they got a small compliance), and the position
    of the first primal pivot that is not positive, or -1. A negative one is used as it is.
    """
    panels = plan.parent.shape[0]
    place, sign, target = plan.place, plan.sign, plan.target
    negative = 0
    dependent = 0
    bad = -1
    zeros = np.int64(place[panels])
    for i in range(zeros, zeros + 4):
        factor[i] = 0.0
    leader = 0
    stop = 0
    update = 0
    for p in range(panels):
        base = np.int64(place[p])
        end = np.int64(place[p + 1])
        lost0, lost1, lost2, lost3 = 0.0, 0.0, 0.0, 0.0
        if p >= stop:
            leader = p
            stop = np.int64(plan.group_end[p])
            for i in range(base, np.int64(place[stop])):
                factor[i] = 0.0
        if stop == leader + 1:
            special = plan.special[p] != 0
            for u in range(np.int64(plan.first_update[p]), np.int64(plan.first_update[p + 1])):
                b0, b1, b2, b3 = scaled_lanes(plan, u, factor, diagonal)
                if special and plan.update_has_rows[u] != 0:
                    x0, x1, x2, x3 = losses(plan, u, factor, diagonal)
                    lost0 += x0
                    lost1 += x1
                    lost2 += x2
                    lost3 += x3
                source = np.int64(plan.update_source[u])
                at = np.int64(plan.update_target[u])
                for k in range(at, at + np.int64(plan.update_count[u])):
                    subtract_product(factor, base + np.int64(target[k]), source, b0, b1, b2, b3)
                    source += 4
        else:
            if p == leader:
                for i in range(4 * p, 4 * stop):
                    diagonal[i] = 0.0
                update = np.int64(plan.first_update[p])
                outer = np.int64(plan.first_update[stop]) - (stop - p) * (stop - p - 1) // 2
                subtract_updates(plan, leader, update, outer, factor, diagonal)
                update = outer
            lost0, lost1, lost2, lost3 = diagonal[4 * p], diagonal[4 * p + 1], diagonal[4 * p + 2], diagonal[4 * p + 3]

        # The entries come last: a vector loaded from where single numbers were just stored waits for them.
        u0, u1, u2, u3 = factor[base], factor[base + 5], factor[base + 10], factor[base + 15]
        add_entries(plan, p, values, factor)
        s0 = np.int64(sign[4 * p])
        s1 = np.int64(sign[4 * p + 1])
        s2 = np.int64(sign[4 * p + 2])
        s3 = np.int64(sign[4 * p + 3])
        own0 = own_sum(s0, factor[base], u0, lost0)
        own1 = own_sum(s1, factor[base + 5], u1, lost1)
        own2 = own_sum(s2, factor[base + 10], u2, lost2)
        own3 = own_sum(s3, factor[base + 15], u3, lost3)

        # The four pivots, from the upper triangle of the panel's own rows. Padding lanes: a column of the identity.
        d0 = factor[base]
        if not (s0 == 1 and d0 > VANISHING() * own0):
            d0, x, y = pivot(d0, s0, own0, largest_below(factor, base + 16, end, 0), ratio, 4 * p)
            dependent += x
            if y == 1 and bad < 0:
                bad = 4 * p
        r0 = 1.0 / d0
        y01 = factor[base + 1]
        y02 = factor[base + 2]
        y03 = factor[base + 3]
        l10 = y01 * r0
        l20 = y02 * r0
        l30 = y03 * r0
        d1 = factor[base + 5] - l10 * y01
        y12 = factor[base + 6] - l10 * y02
        y13 = factor[base + 7] - l10 * y03
        d2 = factor[base + 10] - l20 * y02
        y23 = factor[base + 11] - l20 * y03
        d3 = factor[base + 15] - l30 * y03
        if not (s1 == 1 and d1 > VANISHING() * own1):
            own1 += gain(s1, l10 * y01)
            d1, x, y = pivot(d1, s1, own1, largest_below(factor, base + 16, end, 1), ratio, 4 * p + 1)
            dependent += x
            if y == 1 and bad < 0:
                bad = 4 * p + 1
        r1 = 1.0 / d1
        l21 = y12 * r1
        l31 = y13 * r1
        d2 -= l21 * y12
        y23 -= l21 * y13
        d3 -= l31 * y13
        if not (s2 == 1 and d2 > VANISHING() * own2):
            own2 += gain(s2, l20 * y02) + gain(s2, l21 * y12)
            d2, x, y = pivot(d2, s2, own2, largest_below(factor, base + 16, end, 2), ratio, 4 * p + 2)
            dependent += x
            if y == 1 and bad < 0:
                bad = 4 * p + 2
        r2 = 1.0 / d2
        l32 = y23 * r2
        d3 -= l32 * y23
        if not (s3 == 1 and d3 > VANISHING() * own3):
            own3 += gain(s3, l30 * y03) + gain(s3, l31 * y13) + gain(s3, l32 * y23)
            d3, x, y = pivot(d3, s3, own3, largest_below(factor, base + 16, end, 3), ratio, 4 * p + 3)
            dependent += x
            if y == 1 and bad < 0:
                bad = 4 * p + 3
        r3 = 1.0 / d3
        diagonal[4 * p] = d0
        diagonal[4 * p + 1] = d1
        diagonal[4 * p + 2] = d2
        diagonal[4 * p + 3] = d3
        negative += int(d0 < 0.0) + int(d1 < 0.0) + int(d2 < 0.0) + int(d3 < 0.0)
        factor[base + 4] = l10
        factor[base + 8] = l20
        factor[base + 9] = l21
        factor[base + 12] = l30
        factor[base + 13] = l31
        factor[base + 14] = l32
        t0 = (0.0, l10, l20, l30)
        t1 = (0.0, 0.0, l21, l31)
        t2 = (0.0, 0.0, 0.0, l32)
        r = (r0, r1, r2, r3)
        for i in range(base + 16, end, 4):
            divide_four(factor, i, t0, t1, t2, r)
        if p + 1 < stop:
            subtract_updates(plan, leader, update, update + stop - p - 1, factor, diagonal)
            update += stop - p - 1
    return negative, dependent, bad


@kernel
def forward(plan, factor, w):
    """w <- L⁻¹ w."""
    for p in range(plan.parent.shape[0]):
        forward_panel(plan, p, factor, w)


@inlined
def forward_panel(plan, p, factor, w):
    """Panel p's part of `forward`."""
    base = np.int64(plan.place[p])
    rows = plan.rows
    c = 4 * p
    x0 = w[c]
    x1 = w[c + 1] - factor[base + 4] * x0
    x2 = w[c + 2] - factor[base + 8] * x0 - factor[base + 9] * x1
    x3 = w[c + 3] - factor[base + 12] * x0 - factor[base + 13] * x1 - factor[base + 14] * x2
    w[c + 1] = x1
    w[c + 2] = x2
    w[c + 3] = x3
    i = base + 16
    for k in range(np.int64(plan.first_row[p]), np.int64(plan.first_row[p + 1])):
        w[np.int64(rows[k])] -= factor[i] * x0 + factor[i + 1] * x1 + factor[i + 2] * x2 + factor[i + 3] * x3
        i += 4


@kernel
def backward(plan, factor, diagonal, w):
    """w <- L⁻ᵀ D⁻¹ w."""
    rows = plan.rows
    for p in range(plan.parent.shape[0] - 1, -1, -1):
        base = np.int64(plan.place[p])
        c = 4 * p
        x0 = w[c] / diagonal[c]
        x1 = w[c + 1] / diagonal[c + 1]
        x2 = w[c + 2] / diagonal[c + 2]
        x3 = w[c + 3] / diagonal[c + 3]
        i = base + 16
        for k in range(np.int64(plan.first_row[p]), np.int64(plan.first_row[p + 1])):
            y = w[np.int64(rows[k])]
            x0 -= factor[i] * y
            x1 -= factor[i + 1] * y
            x2 -= factor[i + 2] * y
            x3 -= factor[i + 3] * y
            i += 4
        x2 -= factor[base + 14] * x3
        x1 -= factor[base + 13] * x3 + factor[base + 9] * x2
        x0 -= factor[base + 12] * x3 + factor[base + 8] * x2 + factor[base + 4] * x1
        w[c] = x0
        w[c + 1] = x1
        w[c + 2] = x2
        w[c + 3] = x3


@kernel
def permute(plan, natural, w):
    """Write a vector in natural numbering to the permuted one; padding gets zero."""
    position = plan.position
    for i in range(plan.sign.shape[0]):
        w[i] = 0.0
    for i in range(position.shape[0]):
        w[np.int64(position[i])] = natural[i]


@kernel
def unpermute(plan, w, natural):
    """Write a vector in permuted numbering to the natural one."""
    position = plan.position
    for i in range(position.shape[0]):
        natural[i] = w[np.int64(position[i])]


@kernel
def solve(plan, factor, diagonal, natural, w):
    """natural <- K⁻¹ natural, with `w` as workspace (permuted)."""
    permute(plan, natural, w)
    forward(plan, factor, w)
    backward(plan, factor, diagonal, w)
    unpermute(plan, w, natural)


@kernel
def multiply(values, row, col, slot, x, y):
    """y <- K x in natural numbering, from the list of entries."""
    for i in range(len(y)):
        y[i] = 0.0
    for e in range(len(row)):
        v = values[slot[e]]
        i = row[e]
        j = col[e]
        y[i] += v * x[j]
        if i != j:
            y[j] += v * x[i]
