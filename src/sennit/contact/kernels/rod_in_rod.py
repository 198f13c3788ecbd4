"""Contacts of rods with the bores of other rods that they are inside.

As in a tube of the world (`rod_shape`) the inner rod touches at its knots, material places. Each has its foot on the
axis of the outer one; with the distance ρ from there the gap is R − ρ − r, and the normal points to the axis. Where the
foot is beyond an end of the outer rod, the inner one is out of it. Where it passes such an end it is held there, too:
at the place of the inner rod that is nearest to the end of the axis, beside which knots are left out.

They are found at the start of the step, and measured there where the rod rests on the wall, else where free flight
takes both: see `stays_on_wall`.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.points import SPLINE
from sennit.compilation import inlined, kernel
from sennit.contact.kernels.closest import closest_pair, distance2, unit
from sennit.contact.kernels.curves import discrete_at, place_in, radius_at, slope_in, spline_at, thinner_in
from sennit.contact.kernels.put import put
from sennit.contact.kernels.rod_shape import BESIDE, BETWEEN, KNOT, stays_on_wall
from sennit.contact.kernels.rods import neighbours
from sennit.geometry.kernels.algebra import add3, cross3, dot3, put3, row3, scale3, sub3

OUTSIDE = 2.0
"""Inner radii from the axis, from which on a rod is outside of the wall."""


@inlined
def off_axis(x, y, along):
    """Distance of x from the line through y along a vector, and the unit vector away from it."""
    d = sub3(x, y)
    d = sub3(d, scale3(dot3(d, along) / dot3(along, along), along))
    distance = math.sqrt(dot3(d, d))
    if distance > 0.0:
        return distance, scale3(1.0 / distance, d)
    across = cross3(along, (0.0, 0.0, 1.0) if along[0] * along[0] > along[2] * along[2] else (1.0, 0.0, 0.0))
    return 0.0, scale3(1.0 / math.sqrt(dot3(across, across)), across)


@kernel
def foot_on(search, row, t, rod):
    """The foot of place t of the span of a row on another rod: the row of its span, and the place w there."""
    rods, curve = search.rods, search.spans.curve
    x = place_in(curve, row, t)
    nearest, at, w = math.inf, 0, 0.0
    for other in range(rods.first_span[rod], rods.first_span[rod] + rods.spans[rod]):
        p = place_in(curve, other, 0.0)
        chord, way = sub3(place_in(curve, other, 1.0), p), sub3(x, p)
        s = unit(dot3(way, chord) / dot3(chord, chord))
        d = sub3(way, scale3(s, chord))
        if dot3(d, d) < nearest:
            nearest, at, w = dot3(d, d), other, s
    w = closest_pair(curve, row, at, t, w, False)[1]
    for _ in range(3):  # chords may be nearest where the curve is not
        before, after = neighbours(rods, rod, at)
        beside = before if w <= 0.0 else (after if w >= 1.0 else -1)
        if beside < 0:
            break
        v = closest_pair(curve, row, beside, t, 1.0 if w <= 0.0 else 0.0, False)[1]
        if distance2(curve, row, beside, t, v) >= distance2(curve, row, at, t, w):
            break
        at, w = beside, v
    return at, w


@kernel
def is_beyond(search, rod, at, w, x):
    """Whether x, whose foot on a rod is the place w of the span of row `at`, is beyond the end of that."""
    before, after = neighbours(search.rods, rod, at)
    along = dot3(sub3(x, place_in(search.spans.curve, at, w)), slope_in(search.spans.curve, at, w))
    return (w <= 0.0 and before < 0 and along < 0.0) or (w >= 1.0 and after < 0 and along > 0.0)


@kernel
def hold(search, sleeves, k, row, t, at, w, way, contacts, count):
    """Add the contact at places t and w of the spans of two rows, of the inner and the outer rod, if it is inside.

    However far from the wall: forces may take it to any side within a step.
    """
    rods, curve = search.rods, search.spans.curve
    a, b, bore = sleeves.inner[k], sleeves.outer[k], sleeves.bore[k]
    radius = rods.radius[a] - thinner_in(search.spans, row, t)
    x, y = place_in(curve, row, t), place_in(curve, at, w)
    distance, away = off_axis(x, y, slope_in(curve, at, w))
    gap = bore - distance - radius
    if distance > OUTSIDE * bore:
        return count
    e, f = row - rods.first_span[a], at - rods.first_span[b]
    # A knot has the number of the span that begins there.
    feature = 2 * (e + int(t)) + KNOT if way == KNOT else 2 * e + BETWEEN
    places = add3(x, scale3(radius, away)), add3(y, scale3(bore, away))
    kinds, numbers = (rods.kind[a], rods.kind[b]), (rods.row[a], rods.row[b])
    law = int(sleeves.law[k])
    put(
        contacts, count, kinds, numbers, (feature, 2 * f + way), -1, law, 1, (e + t, f + w), places,
        scale3(-1.0, away), gap,
    )  # fmt: skip
    if count < contacts.gap.size:
        contacts.bore[count] = bore
    return count + 1


@kernel
def hold_rod(search, sleeves, k, contacts, count):
    """All contacts of an inner rod with its outer one, at the start of the step."""
    rods, curve = search.rods, search.spans.curve
    a, b = sleeves.inner[k], sleeves.outer[k]
    spans, first, last = rods.spans[a], rods.first_span[a], rods.first_span[b] + rods.spans[b] - 1
    tip, other_tip = -math.inf, -math.inf  # places u of the inner rod at the ends of the outer one
    for end in range(2 if rods.closed[b] == 0 else 0):
        at, w = (rods.first_span[b], 0.0) if end == 0 else (last, 1.0)
        row, t = foot_on(search, at, w, a)
        if is_beyond(search, a, row, t, place_in(curve, at, w)):
            continue
        before = count
        count = hold(search, sleeves, k, row, t, at, w, BETWEEN, contacts, count)
        if count > before:
            if end == 0:
                tip = row - first + t
            else:
                other_tip = row - first + t
    for e in range(spans + 1 if rods.closed[a] == 0 else spans):
        if abs(e - tip) < BESIDE or abs(e - other_tip) < BESIDE:
            continue
        row, t = (first + e, 0.0) if e < spans else (first + spans - 1, 1.0)
        at, w = foot_on(search, row, t, b)
        if not is_beyond(search, b, at, w, place_in(curve, row, t)):
            count = hold(search, sleeves, k, row, t, at, w, KNOT, contacts, count)
    return count


@inlined
def line_at(kind, rod, u, splines, discretes, q):
    """r, r′ and radius of a rod at u."""
    if kind == SPLINE:
        r, along, _ = spline_at(splines.rods, rod, q, u)
        return r, along, radius_at(splines, rod, u)
    r, along, _ = discrete_at(discretes.rods, rod, q, u)
    return r, along, radius_at(discretes, rod, u)


@kernel
def measure_held(splines, discretes, q_flown, contacts, begin, end):
    """Measure contacts of rods inside rods at free flight, but for those that rest on their wall."""
    for i in range(begin, end):
        first = contacts.first_kind[i], contacts.first[i], contacts.first_at[i]
        second = contacts.second_kind[i], contacts.second[i], contacts.second_at[i]
        x, _, radius = line_at(first[0], first[1], first[2], splines, discretes, q_flown)
        y, along, _ = line_at(second[0], second[1], second[2], splines, discretes, q_flown)
        distance, away = off_axis(x, y, along)
        gap = contacts.bore[i] - distance - radius
        if not stays_on_wall(-dot3(away, row3(contacts.normal, i)), contacts.gap[i], gap, radius):
            put3(contacts.first_place, i, add3(x, scale3(radius, away)))
            put3(contacts.second_place, i, add3(y, scale3(contacts.bore[i], away)))
            put3(contacts.normal, i, scale3(-1.0, away))
            contacts.gap[i] = gap
            contacts.at_start[i] = 0


@kernel
def rod_in_rod(splines, discretes, sleeves, q_flown, search, contacts, count):
    """Add all contacts of rods inside rods to the `count` that there are: how many then.

    `outline` has filled `search` at the start of the step; `q_flown`: degrees of freedom where free flight takes them.
    More than `contacts` has rows: see `rod_rod`.
    """
    begin = count
    for k in range(sleeves.law.size):
        if sleeves.law[k] > 0:
            count = hold_rod(search, sleeves, k, contacts, count)
    measure_held(splines, discretes, q_flown, contacts, begin, min(count, contacts.gap.size))
    return count
