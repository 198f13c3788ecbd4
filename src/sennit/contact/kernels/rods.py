"""Contacts of rods with each other and with themselves.

Each pair of spans that come near gives at most two contacts:

- their *closest pair*, where the distance has a minimum, for rods that cross. Where rods run side by side it wanders
  along them and takes friction's memory with it: there it is left out (`is_flat`), but never at a rod's end;
- the *foot* on the one of the middle of the other's span, a material place, for rods that lie along each other. Feet
  near a closest pair are left out.

So there is one contact for each span that touches, and never two: a cubic spline has one freedom a span to give way
along the normal, and two rows would be more than it can satisfy. Of two rods the one with longer spans is sampled; of
equal ones the first.

Radii are those where rods touch, of sections that are spheres there (`rod_shape`); the places are those of the least
gap.

All is measured at the start of the step, where the sides are known: rods that pass each other within the step are held
on the sides on which they were.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.points import DISCRETE, SPLINE
from sennit.compilation import inlined, kernel
from sennit.contact.kernels.closest import (
    CUT, END, chord_distance2, closest_on_chords, closest_on_pieces, closest_pair, standing,
)  # fmt: skip
from sennit.contact.kernels.curves import bend_in, place_in, slope_in, thinner_in
from sennit.contact.kernels.outline import GROUP, find_near, meet, sort_rods, sweep_axis
from sennit.contact.kernels.put import copy_contact, put
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3

CROSSING, FOOT = 0, 1
"""How a contact was found: a closest pair, or the foot of the middle of a span."""
BESIDE = 0.6
"""Spans within which a foot is left out beside a closest pair, along the sampled rod; twice that along the other."""
NEAR_TWICE, TWICE = 0.15, 0.05
"""Spans within which two crossings are one, even if both touch; radii of a gap that counts as touching."""
OWN_REACH = 4.0
"""Radii along a rod within which it does not touch itself."""
STAYS = 0.4
"""Of what counts as flat, where rods crossed before: else a place at the bound changes its kind for ever."""
CHORDS = 0.01
"""Spans by which chords that are as good as parallel may be closer than where they are taken."""
BENT, MOST_PIECES = 0.5, 4
"""Of both radii, by which a span may be off its chord to be looked at in one piece; pieces at most."""
SAME = 1e-3
"""Spans within which two closest pairs that were found from different pieces are one."""
LEAST = 0.05
"""Of what the distance of straight rods grows by along them, below which a place is not moved to the least gap."""
_STRAIGHT = 16
"""Spans up to which a rod is asked whether it runs on without turning back."""


@inlined
def neighbours(rods, rod, row):
    """Rows of the spans before and after that of a row; -1 at the ends of an open rod."""
    first, spans = rods.first_span[rod], rods.spans[rod]
    before, after = row - 1, row + 1
    if before < first:
        before = first + spans - 1 if rods.closed[rod] == 1 else -1
    if after >= first + spans:
        after = first if rods.closed[rod] == 1 else -1
    return before, after


@inlined
def spans_between(rods, rod, u, v):
    """|u − v|, the shorter way round a closed rod."""
    way = abs(u - v)
    return min(way, rods.spans[rod] - way) if rods.closed[rod] == 1 else way


@inlined
def _leans(v, axis, square):
    """Whether a vector is within 45° of `axis`, whose square is given."""
    along = dot3(v, axis)
    return along > 0.0 and 2.0 * along * along >= square * dot3(v, v)


@kernel
def runs_on(curve, first, spans, begin, end):
    """Whether the spans from `begin` to `end` of a rod, which may go round, never turn back on themselves.

    If all of its tangents are within 45° of one direction, no two of them have a right angle between them: the distance
    of two places grows with the way between them, and has no minimum. Tangents stay in the cone of the control vectors
    c1, c1 + c2, c1 + 2 c2 + 3 c3 of r′.
    """
    if end - begin > _STRAIGHT:
        return False
    last = first + (end if end < spans else end - spans)
    axis = sub3(place_in(curve, last, 1.0), place_in(curve, first + begin, 0.0))
    square = dot3(axis, axis)
    for e in range(begin, end + 1):
        row = first + (e if e < spans else e - spans)
        c1 = curve[row, 1, 0], curve[row, 1, 1], curve[row, 1, 2]
        c2 = curve[row, 2, 0], curve[row, 2, 1], curve[row, 2, 2]
        if not (_leans(c1, axis, square) and _leans(add3(c1, c2), axis, square)):
            return False
        if not _leans(slope_in(curve, row, 1.0), axis, square):
            return False
    return True


@inlined
def _in_reach(rods, rod, u, at, reach):
    return rod < 0 or spans_between(rods, rod, u, at) * rods.arc[rod] <= reach


@kernel
def is_tied(ties, rods, first, a, u, second, b, v):
    """Whether a tie holds two colliders together near place u of rod a and v of rod b; a rod -1 is none."""
    for tie in range(ties.first.size):
        reach, first_at, second_at = ties.reach[tie], ties.first_at[tie], ties.second_at[tie]
        if ties.first[tie] == first and ties.second[tie] == second:
            if _in_reach(rods, a, u, first_at, reach) and _in_reach(rods, b, v, second_at, reach):
                return True
        if ties.first[tie] == second and ties.second[tie] == first:
            if _in_reach(rods, a, u, second_at, reach) and _in_reach(rods, b, v, first_at, reach):
                return True
    return False


@inlined
def bend_of(search, rod, row, t):
    """r″ in the span of a row; of a discrete rod, whose edges have none, from the edges beside it."""
    rods, curve = search.rods, search.spans.curve
    if rods.kind[rod] != DISCRETE:
        return bend_in(curve, row, t)
    before, after = neighbours(rods, rod, row)
    if before < 0 or after < 0:
        return 0.0, 0.0, 0.0
    return scale3(0.5, sub3(slope_in(curve, after, 0.0), slope_in(curve, before, 0.0)))


@inlined
def is_flat(haa, hbb, ab, aa, bb, radius_a, radius_b, first, part):
    """Whether rods run side by side at a closest pair: the distance hardly grows along them.

    Along the sampled rod, the other place following, ½|d|² grows by ½ (haa − ab²/hbb) Δu². Flat is where |d|² grows by
    less than r²/5 over half a span, and rods are not at more than 30°: for straight ones sin² < min(¼, 0.8 r²/ℓ²) with
    spans of ℓ. Rods that wind about each other are flat at any pitch. `part`: of these bounds, where a closest pair
    pressed before.
    """
    r = 0.5 * (radius_a + radius_b)
    square, other = (aa, hbb) if first else (bb, haa)
    return haa * hbb - ab * ab < part * min(0.25 * square, 0.8 * r * r) * other


@inlined
def normal_between(d, distance, along, other, radius):
    """Unit vector of d; where centre lines meet, across both tangents, for which there is no better side."""
    if distance > 1e-9 * radius:
        return scale3(1.0 / distance, d)
    across = cross3(along, other)
    square = dot3(across, across)
    if square <= 1e-12 * dot3(along, along) * dot3(other, other):
        across = cross3(along, (0.0, 0.0, 1.0) if along[0] * along[0] > along[2] * along[2] else (1.0, 0.0, 0.0))
        square = dot3(across, across)
    return scale3(1.0 / math.sqrt(square), across)


@inlined
def radius_in(search, rod, row, t):
    """Radius of a rod at t in the span of a row, m."""
    return search.rods.radius[rod] - thinner_in(search.spans, row, t)


@inlined
def inside(t, step):
    """Where a place within a span goes by a step; at its ends it stays."""
    return min(max(t + step, 0.0), 1.0) if 0.0 < t < 1.0 else t


@kernel
def least_gap(search, pair, rows, way, t, w):
    """Places t and w where the gap is least, from those where the distance is, of rods of which one tapers.

    One step of Newton's: what is least is ½|d|² − D (r_a + r_b), with the distance D from before. A foot moves alone.
    """
    rods, spans = search.rods, search.spans
    row_a, row_b = rows
    taper_a = spans.thinner[row_a, 0] - spans.thinner[row_a, 1]
    taper_b = spans.thinner[row_b, 0] - spans.thinner[row_b, 1]
    if taper_a == 0.0 and taper_b == 0.0:
        return t, w
    d = sub3(place_in(spans.curve, row_a, t), place_in(spans.curve, row_b, w))
    along, other = slope_in(spans.curve, row_a, t), slope_in(spans.curve, row_b, w)
    aa, bb, ab = dot3(along, along), dot3(other, other), dot3(along, other)
    haa, hbb = aa + dot3(d, bend_of(search, pair[0], row_a, t)), bb - dot3(d, bend_of(search, pair[1], row_b, w))
    distance = math.sqrt(dot3(d, d))
    step_a, step_b = distance * taper_a, distance * taper_b
    if way == FOOT:
        if rods.arc[pair[0]] >= rods.arc[pair[1]]:
            return t, (inside(w, step_b / hbb) if hbb > LEAST * bb else w)
        return (inside(t, step_a / haa) if haa > LEAST * aa else t), w
    free_a, free_b = 0.0 < t < 1.0, 0.0 < w < 1.0
    left = haa * hbb - ab * ab
    if free_a and free_b:
        if left > LEAST * aa * bb and haa > 0.0:
            return inside(t, (hbb * step_a + ab * step_b) / left), inside(w, (haa * step_b + ab * step_a) / left)
    elif free_a and haa > LEAST * aa:
        return inside(t, step_a / haa), w
    elif free_b and hbb > LEAST * bb:
        return t, inside(w, step_b / hbb)
    return t, w


@kernel
def add_contact(search, ties, pair, rows, way, t, w, limit, contacts, count):
    """Add the contact at places t and w of the spans of two rows, if it is one: how many there are then.

    `pair`: rods, law, and whether there are ties at both.
    """
    rods, curve = search.rods, search.spans.curve
    (a, b, law, tied), (row_a, row_b) = pair, rows
    e, f = row_a - rods.first_span[a], row_b - rods.first_span[b]
    t, w = least_gap(search, pair, rows, way, t, w)
    x, y = place_in(curve, row_a, t), place_in(curve, row_b, w)
    d = sub3(x, y)
    distance = math.sqrt(dot3(d, d))
    radius_a, radius_b = radius_in(search, a, row_a, t), radius_in(search, b, row_b, w)
    gap = distance - radius_a - radius_b
    if not gap <= limit:
        return count
    before, after = neighbours(rods, a, row_a)
    kind_a = standing(curve, t, before, after, d)
    before, after = neighbours(rods, b, row_b)
    kind_b = standing(curve, w, before, after, scale3(-1.0, d))
    if kind_a == CUT or kind_b == CUT:
        return count
    ends = (kind_a == END) + (kind_b == END)
    if way == FOOT and ends > 0:
        return count  # not beside the rod but beyond its end, which has its closest pair
    along, other = slope_in(curve, row_a, t), slope_in(curve, row_b, w)
    aa, bb, ab = dot3(along, along), dot3(other, other), dot3(along, other)
    if way == CROSSING and ends == 0:
        haa = aa + dot3(d, bend_of(search, a, row_a, t))
        hbb = bb - dot3(d, bend_of(search, b, row_b, w))
        pressed = search.spans.crossed[row_a] == 1 and search.spans.crossed[row_b] == 1
        part = STAYS if pressed else 1.0
        if is_flat(haa, hbb, ab, aa, bb, radius_a, radius_b, rods.arc[a] >= rods.arc[b], part):
            return count
    u, v = e + t, f + w
    if a == b:
        if spans_between(rods, a, u, v) * rods.arc[a] < OWN_REACH * radius_a:
            return count
        facing = min(abs(dot3(d, along)) / math.sqrt(aa), abs(dot3(d, other)) / math.sqrt(bb))
        if facing > 0.5 * distance and ends < 2:
            return count
    if tied > 0 and is_tied(ties, rods, rods.collider[a], a, u, rods.collider[b], b, v):
        return count
    normal = normal_between(d, distance, along, other, radius_a)
    places = sub3(x, scale3(radius_a, normal)), add3(y, scale3(radius_b, normal))
    kinds, numbers = (rods.kind[a], rods.kind[b]), (rods.row[a], rods.row[b])
    put(contacts, count, kinds, numbers, (2 * e + way, 2 * f + way), -1, law, 1, (u, v), places, normal, gap)
    return count + 1


# ---------------------------------------------------------------------------------------------- all of a pair of rods


@inlined
def _covers(rods, a, b, contacts, i, j, foot_i, foot_j):
    """Whether contact j of rods a and b makes contact i one too many."""
    length = max(rods.arc[a], rods.arc[b])
    way_a = spans_between(rods, a, contacts.first_at[i], contacts.first_at[j]) * rods.arc[a] / length
    way_b = spans_between(rods, b, contacts.second_at[i], contacts.second_at[j]) * rods.arc[b] / length
    first = rods.arc[a] >= rods.arc[b]
    sampled, other = (way_a, way_b) if first else (way_b, way_a)
    if foot_i and not foot_j:
        return sampled < BESIDE and other < 2.0 * BESIDE
    if foot_i != foot_j:
        return False
    # Two feet of one middle on neighbouring spans, or one crossing found from two spans: the deeper stays.
    deeper = contacts.gap[j] < contacts.gap[i] or (contacts.gap[j] == contacts.gap[i] and j < i)
    if foot_i:
        return deeper and sampled < 0.25 and other < 2.0 * BESIDE
    # A rod that bends round another may touch it on both sides of the bend: both hold, while they do.
    near = NEAR_TWICE if contacts.gap[i] < TWICE * min(rods.radius[a], rods.radius[b]) else 0.5
    return deeper and sampled < near and other < near


@kernel
def thin_out(rods, a, b, begin, end, contacts):
    """Leave out those of the contacts of two rods that another one makes superfluous: how many rows are left."""
    for i in range(begin, end):
        foot = contacts.first_feature[i] & 1 == FOOT
        for j in range(begin, end):
            if j != i and _covers(rods, a, b, contacts, i, j, foot, contacts.first_feature[j] & 1 == FOOT):
                contacts.law[i] = 0
                break
    left = begin
    for i in range(begin, end):
        if contacts.law[i] > 0:
            copy_contact(contacts, i, left)
            left += 1
    return left


@inlined
def foot(search, pair, rows):
    """Places t and w of the middle of the span that is sampled and of its foot on the other."""
    rods, curve = search.rods, search.spans.curve
    if rods.arc[pair[0]] >= rods.arc[pair[1]]:
        return closest_pair(curve, rows[0], rows[1], 0.5, 0.5, False)
    w, t = closest_pair(curve, rows[1], rows[0], 0.5, 0.5, False)
    return t, w


@inlined
def tip(search, pair, rows, t, w):
    """Where that foot is beyond a rod's end: whether it is, and the end itself and its own foot.

    Ends of two rods that overlap by less than half a span, side by side, have no other contact.
    """
    rods, curve = search.rods, search.spans.curve
    first = rods.arc[pair[0]] >= rods.arc[pair[1]]
    sampled, other, place = (rows[0], rows[1], w) if first else (rows[1], rows[0], t)
    before, after = neighbours(rods, pair[1] if first else pair[0], other)
    if (place <= 0.0 and before < 0) or (place >= 1.0 and after < 0):
        place, middle = closest_pair(curve, other, sampled, place, 0.5, False)
        return True, middle if first else place, place if first else middle
    return False, t, w


@inlined
def pieces_of(spans, row, radii):
    """In how many pieces a span is looked at for its closest pairs: one, unless it bends far from its chord."""
    return min(math.floor(math.sqrt(spans.sag[row] / (BENT * radii))) + 1, MOST_PIECES)


@kernel
def bent_pair(search, ties, pair, rows, pieces, limit, contacts, count):
    """The closest pairs of spans of two rods, of which one bends so much that there may be several: from all pieces."""
    rods, spans = search.rods, search.spans
    (a, b, _, _), (row_a, row_b), (m, n) = pair, rows, pieces
    reach = limit + rods.radius[a] + rods.radius[b]
    reach += spans.sag[row_a] / (m * m) + spans.sag[row_b] / (n * n)
    begin = count
    for i in range(m):
        p0, p1 = place_in(spans.curve, row_a, i / m), place_in(spans.curve, row_a, (i + 1) / m)
        for k in range(n):
            r0, r1 = place_in(spans.curve, row_b, k / n), place_in(spans.curve, row_b, (k + 1) / n)
            t, w, distance = closest_on_pieces(p0, p1, r0, r1)
            if distance > reach:
                continue
            t, w = closest_pair(spans.curve, row_a, row_b, (i + t) / m, (k + w) / n, True)
            u, v, known = row_a - rods.first_span[a] + t, row_b - rods.first_span[b] + w, False
            for j in range(begin, min(count, contacts.gap.size)):
                known = known or abs(contacts.first_at[j] - u) + abs(contacts.second_at[j] - v) < SAME
            if not known:
                count = add_contact(search, ties, pair, rows, CROSSING, t, w, limit, contacts, count)
    return count


@kernel
def span_pair(search, ties, pair, rows, limit, contacts, count):
    """Both kinds of contacts of two spans whose boxes meet."""
    rods = search.rods
    a, b = pair[0], pair[1]
    if a == b:
        first, total = rods.first_span[a], rods.spans[a]
        e, f = rows[0] - first, rows[1] - first
        reach = OWN_REACH * radius_in(search, a, rows[0], 0.5)
        if (f - e + 1) * rods.arc[a] < reach or runs_on(search.spans.curve, first, total, e, f):
            return count
        if rods.closed[a] == 1:
            if (total - f + e + 1) * rods.arc[a] < reach:
                return count
            if runs_on(search.spans.curve, first, total, f, e + total):
                return count
    spans = search.spans
    row_a, row_b = rows
    start = closest_on_chords(spans.curve, row_a, row_b)
    reach = limit + rods.radius[a] + rods.radius[b] + spans.sag[row_a] + spans.sag[row_b]
    reach += CHORDS * max(rods.arc[a], rods.arc[b])
    if chord_distance2(spans.curve, row_a, row_b, start[0], start[1]) > reach * reach:
        return count
    t, w = start
    if a == b and row_b == row_a + 1:
        t, w = 0.0, 1.0  # away from the knot that they share
    before = count
    radii = rods.radius[a] + rods.radius[b]
    m, n = pieces_of(spans, row_a, radii), pieces_of(spans, row_b, radii)
    if a != b and m * n > 1:
        count = bent_pair(search, ties, pair, rows, (m, n), limit, contacts, count)
    else:
        t, w = closest_pair(spans.curve, row_a, row_b, t, w, True)
        count = add_contact(search, ties, pair, rows, CROSSING, t, w, limit, contacts, count)
    t, w = foot(search, pair, rows)
    count = add_contact(search, ties, pair, rows, FOOT, t, w, limit, contacts, count)
    if count == before:
        found, t, w = tip(search, pair, rows, t, w)
        if found:
            count = add_contact(search, ties, pair, rows, CROSSING, t, w, limit, contacts, count)
    return count


@kernel
def rod_pair(search, ties, pair, limit, contacts, count):
    """All contacts of two rods, or of one with itself, whose boxes meet."""
    rods, groups, spans = search.rods, search.groups, search.spans
    a, b = pair[0], pair[1]
    begin = count
    for g in range(rods.groups[a]):
        group_a = rods.first_group[a] + g
        if not meet(groups.low, groups.high, group_a, rods.low, rods.high, b):
            continue
        for k in range(g if a == b else 0, rods.groups[b]):
            group_b = rods.first_group[b] + k
            if not meet(groups.low, groups.high, group_a, groups.low, groups.high, group_b):
                continue
            if a == b and k <= g + 1:
                end = min(GROUP * (k + 1), rods.spans[a]) - 1
                if runs_on(spans.curve, rods.first_span[a], rods.spans[a], GROUP * g, end):
                    continue
            for e in range(GROUP * g, min(GROUP * (g + 1), rods.spans[a])):
                row_a = rods.first_span[a] + e
                if not meet(spans.low, spans.high, row_a, groups.low, groups.high, group_b):
                    continue
                for f in range(max(GROUP * k, e + 1 if a == b else 0), min(GROUP * (k + 1), rods.spans[b])):
                    row_b = rods.first_span[b] + f
                    if meet(spans.low, spans.high, row_a, spans.low, spans.high, row_b):
                        count = span_pair(search, ties, pair, (row_a, row_b), limit, contacts, count)
    if count > contacts.gap.size:
        return count  # more than there is room for: all are counted, and found again in a larger table
    return thin_out(rods, a, b, begin, count, contacts)


@inlined
def _mark(search, rod, span):
    """Mark a span of a rod and its neighbours as crossed."""
    rods, crossed = search.rods, search.spans.crossed
    row = rods.first_span[rod] + span
    before, after = neighbours(rods, rod, row)
    crossed[row] = 1
    if before >= 0:
        crossed[before] = 1
    if after >= 0:
        crossed[after] = 1


@kernel
def mark_crossings(search, memory):
    """Mark the spans whose closest pairs pressed in the last step, and their neighbours."""
    rods, crossed = search.rods, search.spans.crossed
    for row in range(crossed.size):
        crossed[row] = 0
    splines = 0
    for rod in range(rods.kind.size):
        splines += 1 if rods.kind[rod] == SPLINE else 0
    for i in range(memory.count[0]):
        kind, other = memory.key[i, 0], memory.key[i, 2]
        if (kind != SPLINE and kind != DISCRETE) or (other != SPLINE and other != DISCRETE):
            continue
        first, second = memory.key[i, 4], memory.key[i, 5]
        a = memory.key[i, 1] + (splines if kind == DISCRETE else 0)
        b = memory.key[i, 3] + (splines if other == DISCRETE else 0)
        if first & 1 == CROSSING and first >> 1 < rods.spans[a] and second >> 1 < rods.spans[b]:
            _mark(search, a, first >> 1)
            _mark(search, b, second >> 1)


@kernel
def rod_rod(colliders, laws, ties, search, contacts, count):
    """Add all contacts of rods with each other and with themselves to the `count` that there are: how many then.

    `outline` has filled `search`. A pair is looked at whose surfaces are closer than the mean of both rods' margins and
    that of their law. Where the answer is more than `contacts` has rows, no row beyond is written: it is what a table
    must hold, or more, to be asked again.
    """
    rods = search.rods
    axis = sweep_axis(rods)
    touching, width = sort_rods(rods, axis)
    for a in range(rods.collider.size):
        if rods.collider[a] < 0:
            continue
        near = find_near(rods, a, axis, touching, width)
        for i in range(-1, near):
            b = a if i < 0 else rods.near[i]
            law = int(colliders.law[rods.collider[a], rods.collider[b]])
            if law > 0:
                limit = 0.5 * (rods.margin[a] + rods.margin[b]) + laws.margin[law]
                tied = min(colliders.tied[rods.collider[a]], colliders.tied[rods.collider[b]])
                count = rod_pair(search, ties, (a, b, law, tied), limit, contacts, count)
    return count
