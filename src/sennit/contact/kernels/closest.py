"""Closest places of two spans: cubics, see `curves`."""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, tolerance
from sennit.contact.kernels.curves import bend_in, place_in, slope_in
from sennit.geometry.kernels.algebra import add3, dot3, scale3, sub3

_TURNS = 24
"""Newton steps at most."""
_STILL = tolerance(1e-10, 1e-6)
"""A move of t below which the places are found."""
_NO_FARTHER = tolerance(1e-14, 1e-6)
"""Part of a squared distance by which rounding may make it larger."""
_ACROSS = tolerance(1e-9, 1e-5)
"""Cosine of an angle that counts as a right one: with a smaller one, rounding could take a place from both spans."""
_PARALLEL = tolerance(1e-12, 1e-6)
"""Squared sine of the angle of pieces that count as parallel."""


@inlined
def unit(t):
    """t, but not below 0 nor above 1."""
    return min(max(t, 0.0), 1.0)


@inlined
def closest_on_chords(curve, a, b):
    """Closest places t and w of the chords of spans a and b: where Newton's method begins.

    For chords that are as good as parallel, the middle of where they run side by side.
    """
    p, r = place_in(curve, a, 0.0), place_in(curve, b, 0.0)
    along, other = sub3(place_in(curve, a, 1.0), p), sub3(place_in(curve, b, 1.0), r)
    way = sub3(p, r)
    aa, bb, ab = dot3(along, along), dot3(other, other), dot3(along, other)
    aw, bw = dot3(along, way), dot3(other, way)
    det = aa * bb - ab * ab
    if det > 1e-4 * aa * bb:
        t = unit((ab * bw - aw * bb) / det)
    else:
        begin, end = -aw / aa, (ab - aw) / aa
        t = 0.5 * (unit(min(begin, end)) + unit(max(begin, end)))
    w = (ab * t + bw) / bb
    if w < 0.0:
        return unit(-aw / aa), 0.0
    if w > 1.0:
        return unit((ab - aw) / aa), 1.0
    return t, w


@inlined
def chord_distance2(curve, a, b, t, w):
    """Squared distance of the places t and w of the chords of spans a and b."""
    p, r = place_in(curve, a, 0.0), place_in(curve, b, 0.0)
    along, other = sub3(place_in(curve, a, 1.0), p), sub3(place_in(curve, b, 1.0), r)
    d = sub3(add3(p, scale3(t, along)), add3(r, scale3(w, other)))
    return dot3(d, d)


@inlined
def closest_on_pieces(p0, p1, r0, r1):
    """Closest places t and w of two straight pieces, each from its first to its second end, and their distance."""
    along, other, way = sub3(p1, p0), sub3(r1, r0), sub3(p0, r0)
    aa, bb, ab = dot3(along, along), dot3(other, other), dot3(along, other)
    aw, bw = dot3(along, way), dot3(other, way)
    det = aa * bb - ab * ab
    t = unit((ab * bw - aw * bb) / det) if det > _PARALLEL() * aa * bb else 0.0
    w = (ab * t + bw) / bb if bb > 0.0 else 0.0
    if w < 0.0 or w > 1.0:
        w = unit(w)
        t = unit((ab * w - aw) / aa) if aa > 0.0 else 0.0
    d = add3(way, sub3(scale3(t, along), scale3(w, other)))
    return t, w, math.sqrt(dot3(d, d))


@inlined
def distance2(curve, a, b, t, w):
    """Squared distance of place t of span a from place w of span b."""
    d = sub3(place_in(curve, a, t), place_in(curve, b, w))
    return dot3(d, d)


@inlined
def downhill(slope, curvature):
    """Newton's step along one place, of at most half a span; where the distance is arched, half a span down."""
    if curvature * 0.5 > abs(slope):
        return -slope / curvature
    return -0.5 if slope > 0.0 else 0.5


@kernel
def closest_pair(curve, a, b, t, w, slides):
    """Places t and w of spans a and b, in 0 … 1, where their distance has a local minimum; w alone if not `slides`.

    Newton's method on ½|r_a(t) − r_b(w)|² with bounds: a place at a bound that wants to go on is held. Where the second
    derivatives are not those of a minimum, Gauss and Newton's take their place; where spans run side by side, so that
    these are singular too, w alone moves. A step that does not come closer is halved.
    """
    now = distance2(curve, a, b, t, w)
    for _ in range(_TURNS):
        d = sub3(place_in(curve, a, t), place_in(curve, b, w))
        along, other = slope_in(curve, a, t), slope_in(curve, b, w)
        pull, pull_other = dot3(d, along), -dot3(d, other)
        aa, bb, ab = dot3(along, along), dot3(other, other), -dot3(along, other)
        haa, hbb = aa + dot3(d, bend_in(curve, a, t)), bb - dot3(d, bend_in(curve, b, w))
        free = slides and not ((t <= 0.0 and pull > 0.0) or (t >= 1.0 and pull < 0.0))
        free_other = not ((w <= 0.0 and pull_other > 0.0) or (w >= 1.0 and pull_other < 0.0))
        dt, dw = 0.0, 0.0
        if free and free_other:
            det = haa * hbb - ab * ab
            if haa <= 0.0 or hbb <= 0.0 or det < 1e-3 * aa * bb:
                haa, hbb = aa, bb
                det = aa * bb - ab * ab
            if det > 1e-3 * aa * bb:
                dt, dw = (pull_other * ab - pull * hbb) / det, (pull * ab - pull_other * haa) / det
            else:
                dw = downhill(pull_other, hbb)
        elif free:
            dt = downhill(pull, haa)
        elif free_other:
            dw = downhill(pull_other, hbb)
        t_next, w_next = unit(t + dt), unit(w + dw)
        found = distance2(curve, a, b, t_next, w_next)
        for _half in range(8):
            if found <= now * (1.0 + _NO_FARTHER()):
                break
            dt, dw = 0.5 * dt, 0.5 * dw
            t_next, w_next = unit(t + dt), unit(w + dw)
            found = distance2(curve, a, b, t_next, w_next)
        moved = abs(t_next - t) + abs(w_next - w)
        t, w, now = t_next, w_next, found
        if moved < _STILL():
            break
    return t, w


CUT, INNER, END = 0, 1, 2
"""What a place t of a span is where the distance from something is least within the span, see `standing`."""


@inlined
def standing(curve, t, before, after, d):
    """INNER where the distance is least on both sides of t, END at the end of a rod, CUT if it falls in the next span.

    `before` and `after`: rows of the spans that go on from this one, -1: the rod ends; d: from the other place to this
    one. At a node of a discrete rod, where r′ jumps, the distance can grow to both sides: then both spans have it.
    """
    if t <= 0.0:
        if before < 0:
            return END
        back = slope_in(curve, before, 1.0)
        return CUT if dot3(d, back) > _ACROSS() * (dot3(d, d) * dot3(back, back)) ** 0.5 else INNER
    if t >= 1.0:
        if after < 0:
            return END
        on = slope_in(curve, after, 0.0)
        return CUT if dot3(d, on) < -_ACROSS() * (dot3(d, d) * dot3(on, on)) ** 0.5 else INNER
    return INNER
