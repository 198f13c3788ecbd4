"""Rods that would pass through each other, or through themselves, on the way that a step makes.

Where a step ends the sides of a closest pair tell whether rods have passed through each other, as long as the pair is
that of before. Of a step that takes a rod by many radii it is another one, or there is none. So the way itself is
looked at. Centre lines are taken as chains of chords, whose corners are
material places and go straight on from where the step begins to where it ends. Two chords that move so have passed
through each other if their distance was 0 in between. It changes no faster than their corners move relative to each
other: so it is asked for, and the time goes on by what it takes to be used up, until the step ends or the distance is
below `NEAR`. Closed rods can change their linking number in no other way. Nor may centre lines come nearer than `DEEP`
by and by.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.contact.kernels.closest import closest_on_pieces
from sennit.contact.kernels.curves import place_in
from sennit.contact.kernels.outline import GROUP, find_near, meet, sort_rods, sweep_axis
from sennit.contact.kernels.put import put
from sennit.contact.kernels.rods import CROSSING, OWN_REACH, is_tied, radius_in, spans_between
from sennit.geometry.kernels.algebra import add3, dot3, scale3, sub3

NEAR = 0.1
"""Of both radii: centre lines that have come so near have met; what begins nearer may come half as near."""
DEEP = 0.5
"""Of both radii: as near centre lines of two rods may end only if they were nearer, whether there is a contact or not;
a rod that is folded or compressed comes as near to itself without passing through.
"""
SAG = 0.05
"""Of both radii, by which a chord may be off its centre line."""
MOST_CHORDS = 16
"""Chords of a span at most."""
MOMENTS = 200
"""Of a step, at which the distance of two chords is asked for; where that is not enough, they may have met."""


@kernel
def keep_outline(search):
    """Keep the centre lines as they were found, for they are looked for where the step ends."""
    spans = search.spans
    for row in range(spans.sag.size):
        spans.sag_before[row] = spans.sag[row]
        for i in range(4):
            for c in range(3):
                spans.curve_before[row, i, c] = spans.curve[row, i, c]


@inlined
def _fastest(a, b, c, d):
    """The largest way of the ends of one chord relative to those of another: a, b are those of the one, c, d of the
    other.
    """
    ac, ad, bc, bd = sub3(a, c), sub3(a, d), sub3(b, c), sub3(b, d)
    return math.sqrt(max(max(dot3(ac, ac), dot3(ad, ad)), max(dot3(bc, bc), dot3(bd, bd))))


@kernel
def chords_meet(first, first_way, second, second_way, near, deep):
    """Whether two moving chords come nearer than `near`, or end nearer than `deep` and than they were.

    Of each its ends before, and their ways.
    """
    (p0, p1), (v0, v1), (r0, r1), (w0, w1) = first, first_way, second, second_way
    speed = _fastest(v0, v1, w0, w1)
    time = before = 0.0
    for moment in range(MOMENTS):
        distance = closest_on_pieces(
            add3(p0, scale3(time, v0)), add3(p1, scale3(time, v1)),
            add3(r0, scale3(time, w0)), add3(r1, scale3(time, w1)),
        )[2]  # fmt: skip
        if moment == 0:
            before, near = distance, min(near, 0.5 * distance)
        if not distance > near:
            return True
        time += (distance - 0.5 * near) / max(speed, 1e-300)
        if time >= 1.0:
            break
    else:
        return True
    distance = closest_on_pieces(add3(p0, v0), add3(p1, v1), add3(r0, w0), add3(r1, w1))[2]
    return distance < min(deep, before)


@inlined
def _chords(spans, row, radii):
    """How many chords a span is taken as."""
    sag = max(spans.sag[row], spans.sag_before[row])
    return min(math.floor(math.sqrt(sag / (SAG * radii))) + 1, MOST_CHORDS)


@inlined
def _ends(spans, row, t, s):
    """A chord's ends before the step, and their ways."""
    p0, p1 = place_in(spans.curve_before, row, t), place_in(spans.curve_before, row, s)
    return (p0, p1), (sub3(place_in(spans.curve, row, t), p0), sub3(place_in(spans.curve, row, s), p1))


@kernel
def spans_cross(search, ties, pair, rows):
    """Where the first chords of two spans that have passed through each other are, as places u; -1 twice: nowhere."""
    rods, spans = search.rods, search.spans
    (a, b, tied), (row_a, row_b) = pair, rows
    radii = radius_in(search, a, row_a, 0.5) + radius_in(search, b, row_b, 0.5)
    m, n = _chords(spans, row_a, radii), _chords(spans, row_b, radii)
    deep = DEEP * radii if a != b else 0.0
    for i in range(m):
        u = row_a - rods.first_span[a] + (i + 0.5) / m
        ends, way = _ends(spans, row_a, i / m, (i + 1) / m)
        for k in range(n):
            v = row_b - rods.first_span[b] + (k + 0.5) / n
            if a == b:
                between = spans_between(rods, a, u, v) - 0.5 / m - 0.5 / n
                if between * rods.arc[a] < OWN_REACH * radius_in(search, a, row_a, 0.5):
                    continue
            other_ends, other_way = _ends(spans, row_b, k / n, (k + 1) / n)
            if chords_meet(ends, way, other_ends, other_way, NEAR * radii, deep):
                if tied == 0 or not is_tied(ties, rods, rods.collider[a], a, u, rods.collider[b], b, v):
                    return u, v
    return -1.0, -1.0


@kernel
def pair_crosses(search, ties, pair):
    """Where two rods, or one with itself, have passed through each other: places u; -1 twice: nowhere."""
    rods, groups, spans = search.rods, search.groups, search.spans
    a, b = pair[0], pair[1]
    for g in range(rods.groups[a]):
        group_a = rods.first_group[a] + g
        if not meet(groups.low, groups.high, group_a, rods.low, rods.high, b):
            continue
        for e in range(GROUP * g, min(GROUP * (g + 1), rods.spans[a])):
            row_a = rods.first_span[a] + e
            if not meet(spans.low, spans.high, row_a, rods.low, rods.high, b):
                continue
            for f in range(e + 1 if a == b else 0, rods.spans[b]):
                row_b = rods.first_span[b] + f
                if meet(spans.low, spans.high, row_a, spans.low, spans.high, row_b):
                    u, v = spans_cross(search, ties, pair, (row_a, row_b))
                    if u >= 0.0:
                        return u, v
    return -1.0, -1.0


@kernel
def find_crossing(touch):
    """Look for rods that the step takes through each other, `outline` having found them where it ends, with margins of
    twice the way that they make. Returns by how much they have passed (m; 0: none have), and notes them as first of
    the `ends`.
    """
    colliders, search = touch.colliders, touch.search
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
            radii = rods.radius[a] + rods.radius[b]
            if law == 0:
                continue
            tied = min(colliders.tied[rods.collider[a]], colliders.tied[rods.collider[b]])
            u, v = pair_crosses(search, touch.ties, (a, b, tied))
            if u >= 0.0:
                kinds, numbers, nowhere = (rods.kind[a], rods.kind[b]), (rods.row[a], rods.row[b]), (0.0, 0.0, 0.0)
                features = 2 * math.floor(u) + CROSSING, 2 * math.floor(v) + CROSSING
                put(touch.ends, 0, kinds, numbers, features, -1, law, 0, (u, v), (nowhere, nowhere), nowhere, -radii)
                return radii
    return 0.0
