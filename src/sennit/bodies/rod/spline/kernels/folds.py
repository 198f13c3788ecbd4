"""Whether a spline rod is folded: how fast its curve runs half-way between the places where stretch is measured.

Stretch is measured at one point in the middle of each span, and at two in the end spans of an open rod. Between them,
at the knots (and in the middle of the end spans), the curve may stand still or race, |r′|/J far from 1, and hardly any
energy tells of it: a cusp there is a minimum of the discrete energy. With x = |r′|/J half-way, and a, b at the
stretching points on both sides::

    speed ratio = x/min(a, b) where x < min(a, b);    max(a, b)/x where x > max(a, b);    else 1

At an end there is one neighbour a, and b = 1.2 a: a clamped end races where the bend is hardly wider than the span.
Sound shapes have 0.96 and more, folded ones mostly less than a quarter.
"""

from __future__ import annotations

import math

from sennit.bodies.rod.spline.kernels.basis import blend3, control_dofs, controls
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import dot3
from sennit.lanes import four_at

FOLDED = 0.6
"""A rod with a smaller speed ratio is folded."""
AT_END = 1.2
"""By how much an end may race."""


@inlined
def square_speed(q, dof, n, places, row):
    """(|r′|/J)² at a stretching point or at a place half-way."""
    a = blend3(controls(q, control_dofs(places.span[row], dof, n)), four_at(places.slope_basis, row))
    return dot3(a, a) / (places.speed[row] * places.speed[row])


@inlined
def lesser(least, x, low, high):
    """The lesser of `least` and the ratio of x between low and high; NaN is kept, so that no test passes."""
    if x < low:
        return x / low if x < least * low else least
    if x > high:
        return high / x if high < least * x else least
    return least if x >= low else math.nan


@kernel
def speed_ratio(rod, kind, q):
    """The least speed ratio of a rod in the shape q: 1 where it runs evenly, 0 at a cusp; NaN stays NaN.

    `rod` is a row of `kind.rods`, `kind` a table of `Splines`, `q` the degrees of freedom of the scene (of the state or
    of an iterate): no frames are needed. Its square is sought.
    """
    rods, stretches, halfway = kind.rods, kind.stretches, kind.halfway
    dof, n, spans, closed = rods.dof[rod], rods.count[rod], rods.spans[rod], rods.closed[rod] == 1
    first, row, last = rods.stretch_first[rod], rods.mass_first[rod], rods.stretch_end[rod] - 1
    # Place k lies between the stretching points k and k + 1 of an open rod, k - 1 and k of a closed one.
    count, after = (spans, 0) if closed else (spans + 1, 1)
    left = square_speed(q, dof, n, stretches, last if closed else first)
    least = 1.0
    if not closed:
        least = lesser(least, square_speed(q, dof, n, halfway, row + count), left, AT_END * AT_END * left)
    for k in range(count):
        right = square_speed(q, dof, n, stretches, first + k + after)
        least = lesser(least, square_speed(q, dof, n, halfway, row + k), min(left, right), max(left, right))
        left = right
    if not closed:
        least = lesser(least, square_speed(q, dof, n, halfway, row + count + 1), left, AT_END * AT_END * left)
    return math.sqrt(least)


@kernel
def least_speed_ratio(kind, q):
    """The least speed ratio of all spline rods of a scene in the shape q; 1 if there are none."""
    least = 1.0
    for rod in range(kind.rods.dof.size):
        ratio = speed_ratio(rod, kind, q)
        if not ratio >= least:
            least = ratio
            if ratio != ratio:
                break
    return least
