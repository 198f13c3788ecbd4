"""Boxes about rods, groups of spans and spans, and which of them meet: the wide part of the search.

Three levels and no sorting of spans: boxes of rods are swept along the axis on which they spread most; those that meet
are compared group by group (`GROUP` spans), then span by span. Pairs come in the order of their numbers, whatever the
rods do: contacts that stay keep their order.

The box of a span is that of the control points of its cubic (Bézier's), which it never leaves, widened by the radius
and half the margin: two surfaces that come closer than the mean of their margins have boxes that meet.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.contact.kernels.curves import edge_line, spline_cubic
from sennit.geometry.kernels.algebra import put3

GROUP = 8
"""Spans of a group."""


@inlined
def meet(low, high, i, other_low, other_high, j):
    """Whether two boxes have a place in common."""
    return (
        low[i, 0] <= other_high[j, 0]
        and other_low[j, 0] <= high[i, 0]
        and low[i, 1] <= other_high[j, 1]
        and other_low[j, 1] <= high[i, 1]
        and low[i, 2] <= other_high[j, 2]
        and other_low[j, 2] <= high[i, 2]
    )


@inlined
def _clear(box, row):
    for c in range(3):
        box.low[row, c] = math.inf
        box.high[row, c] = -math.inf


@inlined
def _widen(box, row, inner, i):
    """Let the box of a row hold another one."""
    for c in range(3):
        box.low[row, c] = min(box.low[row, c], inner.low[i, c])
        box.high[row, c] = max(box.high[row, c], inner.high[i, c])


@kernel
def _bound_span(spans, row, grow):
    """The box of a span, from the control points c0, c0 + c1/3, c0 + (2 c1 + c2)/3 and c0 + c1 + c2 + c3; its sag.

    At t it is t (t − 1) (c2 + c3 (1 + t)) away from its chord.
    """
    curve = spans.curve
    begin = end = 0.0
    for c in range(3):
        x = curve[row, 0, c]
        first = curve[row, 1, c] / 3.0
        second = 2.0 * first + curve[row, 2, c] / 3.0
        third = curve[row, 1, c] + curve[row, 2, c] + curve[row, 3, c]
        spans.low[row, c] = x + min(min(0.0, first), min(second, third)) - grow
        spans.high[row, c] = x + max(max(0.0, first), max(second, third)) + grow
        a = curve[row, 2, c] + curve[row, 3, c]
        begin += a * a
        a += curve[row, 3, c]
        end += a * a
    spans.sag[row] = 0.25 * math.sqrt(max(begin, end))


@kernel
def _bound_rod(search, rod, grow):
    """The boxes of a rod, of its groups and of its spans."""
    rods, groups, spans = search.rods, search.groups, search.spans
    _clear(rods, rod)
    for g in range(rods.groups[rod]):
        group = rods.first_group[rod] + g
        _clear(groups, group)
        for e in range(GROUP * g, min(GROUP * (g + 1), rods.spans[rod])):
            row = rods.first_span[rod] + e
            _bound_span(spans, row, grow)
            _widen(groups, group, spans, row)
        _widen(rods, rod, groups, group)


@inlined
def _take_rod(search, rod, own, sides, i, extra):
    """What `RodOutlines` has of rod i of one kind; returns by how much boxes are wider than centre lines."""
    rods = search.rods
    rods.collider[rod], rods.margin[rod] = sides.collider[i], sides.margin[i]
    rods.radius[rod], rods.arc[rod] = own.rods.radius[i], own.rods.length[i] / own.rods.spans[i]
    first, thinner = own.rods.girth_first[i], own.girths.thinner
    for e in range(rods.spans[rod]):
        for end in range(2):
            search.spans.thinner[rods.first_span[rod] + e, end] = rods.radius[rod] * thinner[first + e, end]
    return rods.radius[rod] + 0.5 * (rods.margin[rod] + extra)


@kernel
def widest_margin(laws):
    """The largest margin of all laws."""
    widest = 0.0
    for law in range(laws.margin.size):
        widest = max(widest, laws.margin[law])
    return widest


@kernel
def outline(splines, discretes, spline_sides, discrete_sides, colliders, laws, ties, q, search):
    """Fill `search` for the degrees of freedom `q`: coefficients and boxes of all rods that can touch.

    `splines`, `discretes`: `RodKind` of each model; the sides are their `RodColliders`. Boxes count with the largest
    margin of the `laws`.
    """
    rods, curve = search.rods, search.spans.curve
    extra = widest_margin(laws)
    rod = 0
    for i in range(splines.rods.dof.size):
        grow = _take_rod(search, rod, splines, spline_sides, i, extra)
        if rods.collider[rod] >= 0:
            for e in range(rods.spans[rod]):
                c0, c1, c2, c3 = spline_cubic(splines.rods, i, q, e)
                row = rods.first_span[rod] + e
                put3(curve[row], 0, c0)
                put3(curve[row], 1, c1)
                put3(curve[row], 2, c2)
                put3(curve[row], 3, c3)
            _bound_rod(search, rod, grow)
        rod += 1
    for i in range(discretes.rods.dof.size):
        grow = _take_rod(search, rod, discretes, discrete_sides, i, extra)
        if rods.collider[rod] >= 0:
            for e in range(rods.spans[rod]):
                c0, c1 = edge_line(discretes.rods, i, q, e)
                row = rods.first_span[rod] + e
                put3(curve[row], 0, c0)
                put3(curve[row], 1, c1)  # c2 and c3 are 0 and stay so
            _bound_rod(search, rod, grow)
        rod += 1
    for collider in range(colliders.tied.size):
        colliders.tied[collider] = 0
    for tie in range(ties.first.size):
        if ties.first[tie] >= 0 and ties.second[tie] >= 0:
            colliders.tied[ties.first[tie]] += 1
            colliders.tied[ties.second[tie]] += 1


# ------------------------------------------------------------------------------------------------------ rods that meet


@kernel
def sweep_axis(rods):
    """The axis along which the middles of rods are spread most."""
    axis, most = 0, -1.0
    for c in range(3):
        total = square = 0.0
        count = 0
        for rod in range(rods.collider.size):
            if rods.collider[rod] >= 0:
                x = 0.5 * (rods.low[rod, c] + rods.high[rod, c])
                total += x
                square += x * x
                count += 1
        spread = square - total * total / max(count, 1)
        if spread > most:
            axis, most = c, spread
    return axis


@inlined
def _stands_before(rods, axis, a, b):
    """Whether rod a comes before rod b in the sweep; rods that touch nothing come last."""
    if rods.collider[a] < 0 or rods.collider[b] < 0:
        return rods.collider[b] < 0 and (rods.collider[a] >= 0 or a < b)
    x, y = rods.low[a, axis], rods.low[b, axis]
    return x < y or (x == y and a < b)


@kernel
def sort_rods(rods, axis):
    """Put `order` in order by Shell's method; returns how many can touch, and the largest width of their boxes.

    No two rods are equal in this order: it does not depend on the one before, which only makes it quicker.
    """
    order, count = rods.order, rods.order.size
    gap = 1
    while 3 * gap + 1 < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            rod = order[i]
            j = i
            while j >= gap and _stands_before(rods, axis, rod, order[j - gap]):
                order[j] = order[j - gap]
                j -= gap
            order[j] = rod
        gap //= 3
    touching, width = 0, 0.0
    for rod in range(count):
        if rods.collider[rod] >= 0:
            touching += 1
            width = max(width, rods.high[rod, axis] - rods.low[rod, axis])
    return touching, width


@kernel
def find_near(rods, rod, axis, touching, width):
    """Write the rods after this one in number whose boxes meet its box into `near`, ascending; returns how many."""
    low, high, order, near = rods.low, rods.high, rods.order, rods.near
    begin, end = 0, touching
    while begin < end:  # the first that may reach this far
        middle = (begin + end) // 2
        if low[order[middle], axis] < low[rod, axis] - width:
            begin = middle + 1
        else:
            end = middle
    count = 0
    for i in range(begin, touching):
        other = order[i]
        if low[other, axis] > high[rod, axis]:
            break
        if other > rod and meet(low, high, rod, low, high, other):
            j = count
            while j > 0 and near[j - 1] > other:
                near[j] = near[j - 1]
                j -= 1
            near[j] = other
            count += 1
    return count
