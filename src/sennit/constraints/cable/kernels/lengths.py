"""How long the parts of a cable are on its path, from mark to mark, and by which angle it turns at an element."""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.compilation import inlined, kernel
from sennit.constraints.cable.kernels.kinds import ARRIVES, CYLINDER, EDGE, END, LEAVES, SPHERE
from sennit.constraints.cable.kernels.path import norm3
from sennit.geometry.kernels.algebra import cross3, dot3, sub3


@inlined
def arc_to_mark(e, way, elements):
    """Length on a divider from where the cable arrives to its mark (way −1), or from the mark to where it leaves."""
    kind, arc = elements.kind[e], elements.arc[e]
    if kind == EDGE or kind == END:
        return 0.0
    b_in, b_out, r = elements.wrap_before[e], elements.wrap_after[e], elements.radius[e]
    if elements.on[e] == 0:
        return 0.5 * way * r * (b_out - b_in)
    if kind == CYLINDER:
        if arc == 0.0:
            return 0.0
        # To the foot of the perpendicular from the mark, on the unrolled helix
        n, centre = get3(elements.axis_now, e), get3(elements.centre_now, e)
        z_in, z_out = dot3(sub3(get3(elements.arrive, e), centre), n), dot3(sub3(get3(elements.leave, e), centre), n)
        run = (r * b_in * r * (b_in + b_out) + (elements.u[e] - z_in) * (z_out - z_in)) / arc
        return run if way < 0.0 else arc - run
    return r * b_in if way < 0.0 else (arc - r * b_in if kind == SPHERE else r * b_out)


@kernel
def turn_of(e, elements):
    """Angle by which the cable turns at an element, in its own plane, rad: ∫ κ ds, θ cos β on a helix."""
    kind, r = elements.kind[e], elements.radius[e]
    if elements.on[e] == 0:
        return 0.0
    if kind == EDGE or kind == END:  # of the ends themselves one of the two is nothing, and so is the angle
        w = elements.wrench
        before = w[e, ARRIVES, 0], w[e, ARRIVES, 1], w[e, ARRIVES, 2]
        after = -w[e, LEAVES, 0], -w[e, LEAVES, 1], -w[e, LEAVES, 2]
        return math.atan2(norm3(cross3(before, after)), dot3(before, after))
    if kind == SPHERE:
        return elements.arc[e] / r
    angle = max(elements.wrap_before[e] + elements.wrap_after[e], 0.0)
    if kind == CYLINDER and elements.arc[e] > 0.0:
        return angle * r * angle / elements.arc[e]
    return angle


@kernel
def part_length(c, d, cables, elements):
    """Length of part `d` of cable `c`, from mark to mark, on its path. The parts' sum is the cable's length."""
    first = cables.first[c]
    last = first + cables.count[c] - 1
    length, part, before = 0.0, 0, first
    for e in range(first + 1, last + 1):
        divides = elements.divides[e] == 1 and e != last
        if elements.on[e] == 0 and not divides:
            continue
        if part == d:
            length += dot3(sub3(get3(elements.arrive, e), get3(elements.leave, before)), get3(elements.along, before))
            if divides:
                length += arc_to_mark(e, -1.0, elements)
            elif e != last:
                length += elements.arc[e]
        if divides:
            part += 1
            if part == d:
                length += arc_to_mark(e, 1.0, elements)
        before = e
    return length
