"""Contacts of rods with shapes.

A rod touches a shape at its knots, one for each span: material places, which friction can remember. Between two knots
the minimum of the signed distance d counts where it is deeper than both, at the edge of a box or on a thin cylinder;
knots near it are left out, so that there is one contact for each span and never two. In statics they stay, and so does
a minimum that presses, however deep it is: iterations would not come to rest if contacts came and went.

Radii are those of the rod where it touches, each section being that of a sphere: where the rod gets thinner by a part
r′ of its length, a cone is missed by r′²/2 of its radius. Along the rod, what is least is the gap, not the distance.

Candidates are found at the start of the step, shapes being where they were then, and measured where free flight takes
both: that follows the curvature of the way to second order. A normal that has turned by more than 60° since says that
the rod has passed an edge or the whole shape: then all is measured at the start, and the rod stays on its side. For
tubes see `stays_on_wall`.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.points import SPLINE
from sennit.compilation import inlined, kernel
from sennit.contact.kernels.curves import discrete_at, place_in, radius_at, slope_in, spline_at, thinner_in
from sennit.contact.kernels.outline import GROUP, widest_margin
from sennit.contact.kernels.put import carrier_of, copy_contact, put
from sennit.contact.kernels.rods import is_tied
from sennit.geometry.kernels.algebra import dot3, put3, row3, scale3, sub3
from sennit.geometry.kernels.distances import HEIGHTS, MESH, TUBES, box_round, closest, in_bore

KNOT, BETWEEN = 0, 1
"""How a contact was found: at the knot where a span begins, or within it."""
BESIDE = 0.6
"""Spans within which a knot is left out beside a minimum."""
BENT = 0.25
"""Radii by which a span leaves its chord that is no longer as good as straight."""
DEEPER = 0.02
"""Radii by which a minimum must be deeper than the knots beside it."""
RESTING = 0.25
"""Radii from the wall of a tube within which a rod rests there."""
_TURNED = 0.5
"""Cosine of the angle between normals at the start and at free flight from which on the start counts."""


@kernel
def exchange_poses(shapes):
    """Take all shapes from where they are to where they were when the step began, or back."""
    inner = shapes.shapes
    for s in range(shapes.collider.size):
        for i in range(3):
            inner.place[s, i], shapes.place_before[s, i] = shapes.place_before[s, i], inner.place[s, i]
            for j in range(3):
                inner.turn[s, i, j], shapes.turn_before[s, i, j] = shapes.turn_before[s, i, j], inner.turn[s, i, j]


@inlined
def near_box(low, high, i, shapes, s, wider):
    """Whether a box meets that about a shape, widened."""
    return (
        low[i, 0] <= shapes.high[s, 0] + wider
        and shapes.low[s, 0] - wider <= high[i, 0]
        and low[i, 1] <= shapes.high[s, 1] + wider
        and shapes.low[s, 1] - wider <= high[i, 1]
        and low[i, 2] <= shapes.high[s, 2] + wider
        and shapes.low[s, 2] - wider <= high[i, 2]
    )


@kernel
def near_shape(low, high, i, shapes, s, wider):
    """Whether a box may come closer than `wider` to a shape: from the distance of its middle."""
    x, y, z = 0.5 * (low[i, 0] + high[i, 0]), 0.5 * (low[i, 1] + high[i, 1]), 0.5 * (low[i, 2] + high[i, 2])
    half = sub3(row3(high, i), (x, y, z))
    reach = wider + math.sqrt(dot3(half, half))
    return closest(shapes.shapes, s, x, y, z)[0] <= reach


@inlined
def probe(spans, row, t, shapes, s):
    """d at a place of a span, and how it changes with t; more by what the rod is thinner there."""
    x, y, z = place_in(spans.curve, row, t)
    d, _, _, _, n1, n2, n3 = closest(shapes.shapes, s, x, y, z)
    slope = dot3((n1, n2, n3), slope_in(spans.curve, row, t))
    return d + thinner_in(spans, row, t), slope + (spans.thinner[row, 1] - spans.thinner[row, 0])


@kernel
def least_between(spans, row, shapes, s, begin, end, first, last):
    """Place t of the minimum of d between two places, where d falls at `begin` and grows at `end`; and d there.

    `first`, `last`: d′ at both. False position with Illinois's rule on d′, which may jump.
    """
    t, d = begin, math.inf
    kept = 0
    for _ in range(24):
        t = (begin * last - end * first) / (last - first)
        d, slope = probe(spans, row, t, shapes, s)
        if slope == 0.0 or end - begin < 1e-6:
            break
        if slope < 0.0:
            moved = t - begin
            begin, first = t, slope
            last *= 0.5 if kept == -1 else 1.0
            kept = -1
        else:
            moved = end - t
            end, last = t, slope
            first *= 0.5 if kept == 1 else 1.0
            kept = 1
        if moved < 1e-6:
            break
    return t, d


@kernel
def minimum_within(spans, row, bent, shapes, s, d0, slope0, d1, slope1, deep, limit):
    """Place t of a minimum of d within a span, deeper than both ends by `deep` and below `limit`; -1: there is none.

    d is convex along a line by a convex shape, so that the tangents at both ends bound it from below: a rod that lies
    on a shape is known by them, without a search. Meshes and height fields may have bumps between: they are asked at
    two more places, any shape at three more along a span that is `bent`. In a tube d is not convex, and has edges where
    bores meet: it is asked there, too, and searched.
    """
    best, found = min(d0, d1) - deep, -1.0
    kind = shapes.shapes.kind[s]
    parts = 4 if kind == TUBES or bent else (3 if kind == MESH or kind == HEIGHTS else 1)
    width = 1.0 / parts
    left, slope_left = d0, slope0
    for i in range(parts):
        begin, end = i * width, (i + 1) * width
        right, slope_right = (d1, slope1) if i == parts - 1 else probe(spans, row, end, shapes, s)
        if slope_left < 0.0 and slope_right > 0.0:
            t = (right - left - slope_right * end + slope_left * begin) / (slope_left - slope_right)
            bound = left + slope_left * (t - begin)
            if bound < min(best, limit) or t <= begin or t >= end or kind == TUBES:
                t, d = least_between(spans, row, shapes, s, begin, end, slope_left, slope_right)
                if d < best and d < limit:
                    best, found = d, t
        if i < parts - 1 and right < best and right < limit:
            best, found = right, end
        left, slope_left = right, slope_right
    return found


@kernel
def touch(search, ties, pair, e, t, way, limit, shapes, contacts, count):
    """Add the contact of a shape with place t of span e of a rod, if it is closer than `limit`: how many then.

    `pair`: rod, shape, law, and whether there are ties at both.
    """
    rods, curve = search.rods, search.spans.curve
    rod, s, law, tied = pair
    last = rods.spans[rod] - 1  # the end of the rod has no span of its own
    row = rods.first_span[rod] + min(e, last)
    x = place_in(curve, row, t + (e - min(e, last)))
    radius = rods.radius[rod] - thinner_in(search.spans, row, t + (e - min(e, last)))
    d, p1, p2, p3, n1, n2, n3 = closest(shapes.shapes, s, x[0], x[1], x[2])
    gap = d - radius
    u = e + t
    # What a tube holds is looked at wherever it is: forces may take it to any wall within a step.
    held = False
    if shapes.shapes.kind[s] == TUBES:
        held = in_bore(shapes.shapes, s, x[0], x[1], x[2])[0] > d - 1e-9 * radius
    if not (gap <= limit or held):
        return count
    if tied > 0 and is_tied(ties, rods, rods.collider[rod], rod, u, shapes.collider[s], -1, 0.0):
        return count
    carrier, number, at = carrier_of(s, shapes)
    kinds, numbers, features = (rods.kind[rod], carrier), (rods.row[rod], number), (2 * e + way, s)
    normal = n1, n2, n3
    if held and way == BETWEEN:
        # Where two bores meet the wall has a sharp edge, and d a kink: the rod slides along it, square to its normal.
        along = slope_in(curve, row, t)
        normal = sub3(normal, scale3(dot3(normal, along) / dot3(along, along), along))
        normal = scale3(1.0 / math.sqrt(dot3(normal, normal)), normal)
    places = sub3(x, scale3(radius, normal)), (p1, p2, p3)
    put(contacts, count, kinds, numbers, features, s, law, 1, (u, at), places, normal, gap)
    if held and count < contacts.gap.size:
        contacts.bore[count] = 1.0
    return count + 1


@kernel
def touch_spans(search, ties, pair, limit, wider, shapes, contacts, count):
    """All contacts of a rod with a shape whose boxes meet, at the start of the step."""
    rods, groups, spans = search.rods, search.groups, search.spans
    rod, s = pair[0], pair[1]
    first, radius = rods.first_span[rod], rods.radius[rod]
    closed, last = rods.closed[rod] == 1, rods.spans[rod] - 1
    begin = count
    known, here = False, False  # whether the span before, and this one, may touch
    covered = False  # whether it is too near to a minimum
    for e in range(last + 1):
        group, row = rods.first_group[rod] + e // GROUP, first + e
        if e % GROUP == 0:
            here = near_box(groups.low, groups.high, group, shapes, s, wider)
            if shapes.shapes.kind[s] != TUBES:
                here = here and near_shape(groups.low, groups.high, group, shapes, s, wider)
        if not (here and near_box(spans.low, spans.high, row, shapes, s, wider)):
            if known and not covered:
                count = touch(search, ties, pair, e, 0.0, KNOT, limit, shapes, contacts, count)
            known, covered = False, False
            continue
        d0, slope0 = probe(spans, row, 0.0, shapes, s)
        d1, slope1 = probe(spans, row, 1.0, shapes, s)
        deep = DEEPER * radius if spans.rests[row] < 2 else -math.inf
        bent = spans.sag[row] > BENT * radius
        t = minimum_within(spans, row, bent, shapes, s, d0, slope0, d1, slope1, deep, limit + radius)
        if spans.rests[row] > 0 or (not covered and not 0.0 <= t < BESIDE):
            count = touch(search, ties, pair, e, 0.0, KNOT, limit, shapes, contacts, count)
        if t >= 0.0:
            count = touch(search, ties, pair, e, t, BETWEEN, limit, shapes, contacts, count)
        known, covered = True, t > 1.0 - BESIDE and spans.rests[row] == 0
    if not closed:
        if known and not covered:
            count = touch(search, ties, pair, last + 1, 0.0, KNOT, limit, shapes, contacts, count)
    elif covered and begin < count <= contacts.gap.size and contacts.first_feature[begin] == KNOT:
        for i in range(begin + 1, count):  # the first knot was there before the minimum in the last span
            copy_contact(contacts, i, i - 1)
        count -= 1
    return count


@inlined
def stays_on_wall(cosine, start, flown, radius):
    """Whether what a bore holds is measured where the step begins, from the angle between both normals and both gaps.

    A bore pushes what slides round its wall back, with a stiffness of N/c for a clearance c. A normal taken from free
    flight would follow the velocities of the step before, and light rods would shake: what rests on a wall is measured
    there. What crosses the bore in one step is measured from the wall that it comes nearer to.
    """
    if cosine <= _TURNED:
        return flown >= start
    return start < RESTING * radius


@kernel
def distance_of(i, x, shapes, contacts):
    """`closest` for the place x of contact i: what a tube holds is measured from its bore, however far out it is."""
    s = contacts.second_shape[i]
    if contacts.bore[i] > 0.0:
        found = in_bore(shapes.shapes, s, x[0], x[1], x[2])
        if found[0] > -math.inf:
            return found
    return closest(shapes.shapes, s, x[0], x[1], x[2])


@kernel
def measure_flown(splines, discretes, shapes, q_flown, contacts, begin, end):
    """Measure contacts of rods with shapes at free flight, but for those whose normals turn too far."""
    for i in range(begin, end):
        rod, u = contacts.first[i], contacts.first_at[i]
        if contacts.first_kind[i] == SPLINE:
            x, radius = spline_at(splines.rods, rod, q_flown, u)[0], radius_at(splines, rod, u)
        else:
            x, radius = discrete_at(discretes.rods, rod, q_flown, u)[0], radius_at(discretes, rod, u)
        d, p1, p2, p3, n1, n2, n3 = distance_of(i, x, shapes, contacts)
        normal = n1, n2, n3
        cosine = dot3(normal, row3(contacts.normal, i))
        if contacts.bore[i] > 0.0:
            stays = contacts.first_feature[i] & 1 == BETWEEN
            stays = stays or stays_on_wall(cosine, contacts.gap[i], d - radius, radius)
        else:
            stays = cosine <= _TURNED
        if not stays:
            put3(contacts.first_place, i, sub3(x, scale3(radius, normal)))
            put3(contacts.second_place, i, (p1, p2, p3))
            put3(contacts.normal, i, normal)
            contacts.gap[i] = d - radius
            contacts.at_start[i] = 0


@kernel
def rod_shape(splines, discretes, colliders, laws, ties, shapes, q_flown, search, contacts, count):
    """Add all contacts of rods with shapes to the `count` that there are: how many then.

    `outline` has filled `search` at the start of the step; `q_flown`: degrees of freedom where free flight takes the
    rods; `shapes`: `ShapeColliders`, whose `low` and `high` are filled here, as they were at the start. A pair is
    looked at that is closer than the margins of rod, shape and law together. More than `contacts` has rows: see
    `rod_rod`.
    """
    rods, begin = search.rods, count
    extra = widest_margin(laws)
    exchange_poses(shapes)
    for s in range(shapes.collider.size):
        box_round(shapes.shapes, s, shapes.low, shapes.high)
    for rod in range(rods.collider.size):
        if rods.collider[rod] < 0:
            continue
        for s in range(shapes.collider.size):
            wider = 0.5 * (rods.margin[rod] + extra) + shapes.margin[s]  # boxes of rods have the other half
            law = int(colliders.law[rods.collider[rod], shapes.collider[s]])
            if law > 0 and near_box(rods.low, rods.high, rod, shapes, s, wider):
                limit = rods.margin[rod] + shapes.margin[s] + laws.margin[law]
                tied = min(colliders.tied[rods.collider[rod]], colliders.tied[shapes.collider[s]])
                count = touch_spans(search, ties, (rod, s, law, tied), limit, wider, shapes, contacts, count)
    exchange_poses(shapes)
    measure_flown(splines, discretes, shapes, q_flown, contacts, begin, min(count, contacts.gap.size))
    return count
