"""Parts of a cable between the bodies that it rubs on: cut where it comes to lie on one, joined where it leaves.

A body of `around` with friction divides the cable at each place where it bends: at an edge of a box, round a cylinder,
round a sphere. The parts on both sides meet at a mark: the edge, or a place of the body's surface under the cable. What
sticks there stays at the mark. Friction acts along the cable alone; across itself it slides to the shortest way, and
the mark goes with it: it becomes the foot of the perpendicular on the present way, from which on a shortest way no
length changes to first order.

Where the cable comes to lie on a body the part there is cut in two, equally stretched and with equal rates; where it
leaves, both become one. In general (at a vertex several places are exchanged for others) the new parts are cut out of
the old ones in proportion to their ways, each with the mean of what it gets. Stretches of cable that mix store less
than before, s being their strain: (Σ L s)²/Σ L ≤ Σ L s².

A body that turns under a cable that sticks carries the mark out of the angle of wrap. There the mark stays behind, and
what runs over it is as much stretched as the part that it comes from: what lies on a drum has the strain with which it
came to lie, as in the theory of belts.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3, put3
from sennit.compilation import inlined, kernel
from sennit.constraints.cable.kernels.kinds import CYLINDER, SPHERE
from sennit.constraints.cable.kernels.lengths import arc_to_mark, part_length
from sennit.constraints.cable.kernels.path import step3
from sennit.constraints.cable.kernels.wrap import turn_in
from sennit.geometry.kernels.algebra import cross3, dot3, scale3, sub3

SHORT = 1e-12  # of a cable's way: parts count as no shorter


@kernel
def note_parts(c, cables, elements, rows):
    """Keep which parts there are and how long they are, before the cable comes to lie elsewhere."""
    part = 0
    for e in range(cables.first[c], cables.first[c] + cables.count[c]):
        if elements.divides[e] == 1:
            part += 1
        elements.was[e] = part if elements.divides[e] == 1 else 0
    least, row = 0.0, cables.row[c]
    for d in range(cables.parts[c]):
        least += SHORT * abs(rows.trial[row + d] + rows.rest[row + d])
    for d in range(cables.parts[c]):
        rows.way[row + d] = max(rows.trial[row + d] + rows.rest[row + d], least)
    for d in range(cables.row_room[c]):
        rows.fresh[row + d] = 0


@inlined
def exchange(first, last, start, end, row, rows):
    """The new parts first … last, ways in `new_way`, take the place of the old ones start … end − 1."""
    total = old = 0.0
    for n in range(first, last + 1):
        total += rows.new_way[row + n]
    for d in range(start, end):
        old += rows.way[row + d]
    at = 0.0
    for n in range(first, last + 1):
        rows.old_first[row + n], rows.old_end[row + n], rows.group[row + n] = start, end, first
        rows.cut_start[row + n] = at
        at = old if n == last else at + old * rows.new_way[row + n] / total
        rows.cut_end[row + n] = at
        rows.fresh[row + n] = 0 if first == last and end == start + 1 else 1


@kernel
def share_numbers(numbers, row, count, old_count, mean, rows):
    """Cut the numbers of the old parts to those of the new ones: sums, or the mean over their ways."""
    for d in range(old_count):
        rows.old[row + d] = numbers[row + d]
    for n in range(count):
        start, end = rows.old_first[row + n], rows.old_end[row + n]
        if rows.fresh[row + n] == 0:
            numbers[row + n] = rows.old[row + start]
            continue
        total, at = 0.0, 0.0
        low, high = rows.cut_start[row + n], rows.cut_end[row + n]
        for d in range(start, end):
            way = rows.way[row + d]
            shared = min(at + way, high) - max(at, low)
            if shared > 0.0:
                total += rows.old[row + d] * (shared / (high - low if mean else way))
            at += way
        numbers[row + n] = total
    for d in range(count, old_count):
        numbers[row + d] = 0.0


@inlined
def share_sides(row, count, old_count, rows):
    """Which parts pull: those that were cut out of one that did, and the winch's is that of the first part alone."""
    for d in range(old_count):
        rows.old[row + d] = float(rows.side[row + d])
    for n in range(count):
        start, end = rows.old_first[row + n], rows.old_end[row + n]
        side = -1
        for d in range(start, end):
            side = max(side, int(rows.old[row + d]))
        rows.side[row + n] = side if n == 0 else min(side, 0)
    for d in range(count, old_count):
        rows.side[row + d] = -1


@kernel
def cut_parts(c, cables, elements, rows):
    """Cut the cable anew where its dividers are now, after it came to lie elsewhere and its path was evaluated."""
    row, old_count = cables.row[c], cables.parts[c]
    count = 1
    for e in range(cables.first[c], cables.first[c] + cables.count[c]):
        count += elements.divides[e]
    least = 0.0
    for n in range(count):
        rows.new_way[row + n] = part_length(c, n, cables, elements)
        least += SHORT * abs(rows.new_way[row + n])
    for n in range(count):
        rows.new_way[row + n] = max(rows.new_way[row + n], least)
    # between two dividers that were there before, what was there becomes what is there now
    first = start = part = 0
    for e in range(cables.first[c], cables.first[c] + cables.count[c]):
        if elements.divides[e] == 1:
            if elements.was[e] > 0:
                exchange(first, part, start, elements.was[e], row, rows)
                first, start = part + 1, elements.was[e]
            part += 1
    exchange(first, part, start, old_count, row, rows)
    share_numbers(rows.rest, row, count, old_count, False, rows)
    share_numbers(rows.value_last, row, count, old_count, False, rows)
    share_numbers(rows.rest_rate, row, count, old_count, False, rows)
    share_numbers(rows.world_rate, row, count, old_count, False, rows)
    share_numbers(rows.ran_rate, row, count, old_count, False, rows)
    share_numbers(rows.driven, row, count, old_count, False, rows)
    share_numbers(rows.driven_rate, row, count, old_count, False, rows)
    share_numbers(rows.driven_rate_last, row, count, old_count, False, rows)
    share_numbers(rows.paid, row, count, old_count, False, rows)
    share_numbers(rows.tension, row, count, old_count, True, rows)
    share_numbers(rows.tension_before, row, count, old_count, True, rows)
    share_sides(row, count, old_count, rows)
    cables.parts[c] = count
    for n in range(count):
        rows.trial[row + n] = part_length(c, n, cables, elements) - rows.rest[row + n]
    for n in range(count, cables.row_room[c]):
        rows.trial[row + n] = rows.value[row + n] = rows.found[row + n] = rows.way[row + n] = 0.0
        rows.joined_rows[row + n] = rows.fresh[row + n] = 0


@inlined
def put_mark(e, at, elements, places):
    """Put the mark of a round body under the cable, `at` metres of the arc from where it arrives."""
    arc, r = elements.arc[e], elements.radius[e]
    arrive, n = sub3(get3(elements.arrive, e), get3(elements.centre_now, e)), get3(elements.axis_now, e)
    if elements.kind[e] == SPHERE:
        mark = step3(scale3(math.cos(at / r) / r, arrive), math.sin(at / r) / r, cross3(n, arrive))
        put3(elements.mark, e, turn_in(places, elements.carrier[e], mark))
        elements.wrap_before[e], elements.wrap_after[e] = at / r, (arc - at) / r
    else:
        wrap, share = elements.wrap_before[e] + elements.wrap_after[e], at / arc
        turn, mark, axis = share * wrap - elements.wrap_before[e], get3(elements.mark, e), get3(elements.axis, e)
        side = scale3(elements.sense[e], cross3(axis, mark))
        put3(elements.mark, e, step3(scale3(math.cos(turn), mark), math.sin(turn), side))
        elements.wrap_before[e], elements.wrap_after[e] = share * wrap, (1.0 - share) * wrap
        leave = sub3(get3(elements.leave, e), get3(elements.centre_now, e))
        elements.u[e] = dot3(arrive, n) + share * (dot3(leave, n) - dot3(arrive, n))


@inlined
def run_over(way, before, rows):
    """Let `way` metres run over the mark into the part `before` (out of it if negative), as stretched as they are."""
    source, target = (before + 1, before) if way > 0.0 else (before, before + 1)
    length = rows.trial[source] + rows.rest[source]
    share = min(abs(way) / length, 1.0) if length > 0.0 else 0.0
    rest = rows.rest[source] * share
    stretch = abs(way) - rest
    rows.rest[source] -= rest
    rows.rest[target] += rest
    rows.trial[source] -= stretch
    rows.trial[target] += stretch
    rows.value_last[source] -= stretch
    rows.value_last[target] += stretch
    if rows.paid[source] < math.inf:
        paid = rows.paid[source] * share
        rows.paid[source] -= paid
        rows.paid[target] += paid


@kernel
def hold_marks(c, cables, elements, rows, places):
    """Lead the marks of round bodies along with the way of the cable, and hold them within the angle of wrap."""
    row = cables.row[c]
    for e in range(cables.first[c], cables.first[c] + cables.count[c]):
        if elements.divides[e] == 0:
            continue
        kind = elements.kind[e]
        if elements.obstacle[e] >= 0 and (kind == CYLINDER or kind == SPHERE) and elements.arc[e] > 0.0:
            is_at = arc_to_mark(e, -1.0, elements)
            held_at = min(max(is_at, 0.0), elements.arc[e])
            put_mark(e, held_at, elements, places)
            if held_at != is_at:
                run_over(held_at - is_at, row, rows)
        row += 1


@inlined
def same_rates(c, cables, rows):
    """Let parts that were cut anew lengthen alike: what ran past the new marks in the last step is what does that.

    `past` holds the rates of their ways.
    """
    row = cables.row[c]
    first = 0
    while first < cables.parts[c]:
        last = first
        while last + 1 < cables.parts[c] and rows.group[row + last + 1] == first and rows.fresh[row + last + 1] == 1:
            last += 1
        if rows.fresh[row + first] == 1:
            rate = way = 0.0
            for n in range(row + first, row + last + 1):
                rate += rows.past[n] + rows.world_rate[n] - rows.rest_rate[n]
                way += rows.way[n]
            for n in range(row + first, row + last + 1):
                rows.rest_rate[n] = rows.past[n] + rows.world_rate[n] - rate * rows.way[n] / way
        first = last + 1


@inlined
def give_slack(source, target, rows):
    """What a part has too much goes to one that has too little, where neither pulls."""
    if rows.tension[source] == 0.0 and rows.tension[target] == 0.0:
        way = min(max(-rows.trial[source], 0.0), max(rows.trial[target], 0.0))
        rows.rest[source] -= way
        rows.rest[target] += way
        rows.trial[source] += way
        rows.trial[target] -= way
        rows.value_last[source] += way
        rows.value_last[target] -= way


@kernel
def level_slack(c, cables, elements, rows):
    """Let slack run over bodies to where the cable is too short and does not pull: no friction holds a loose cable.

    Bodies that were put elsewhere leave it so, and what nothing was paid for is not taken back by tension.
    """
    first, last = cables.first[c], cables.first[c] + cables.count[c]
    row = cables.row[c]
    for e in range(first, last):
        if elements.divides[e] == 1:
            if elements.obstacle[e] >= 0:
                give_slack(row, row + 1, rows)
            row += 1
    for e in range(last - 1, first - 1, -1):
        if elements.divides[e] == 1:
            row -= 1
            if elements.obstacle[e] >= 0:
                give_slack(row + 1, row, rows)
