"""Whether a spline rod is folded: how fast its curve runs at the knots beside the places where stretch is measured.

Stretch is measured at one point in the middle of each span (two in the end spans). Half-way between them, at a knot,
the curve may stand still or race, |r′|/J far from 1, and hardly any energy tells of it: a cusp there is a minimum of
the discrete energy. With x = |r′|/J at a knot and a, b at the stretching points on both sides::

    speed ratio = x/min(a, b) where x < min(a, b);    max(a, b)/x where x > max(a, b);    else 1

Sound shapes have 0.96 and more, folded ones less than a quarter.
"""

from __future__ import annotations

import math

from sennit.bodies.rod.spline.kernels.basis import blend3, control_dofs
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import dot3

FOLDED = 0.6
"""A rod with a smaller speed ratio is folded."""


@inlined
def speed_at(q, dof, n, places, row):
    """|r′|/J at a knot or at a stretching point."""
    a = blend3(q, control_dofs(places.span[row], dof, n), places.slope_basis, row)
    return math.sqrt(dot3(a, a)) / places.speed[row]


@kernel
def speed_ratio(rod, kind, q):
    """The least speed ratio of a rod in the shape q: 1 where it runs evenly, 0 at a cusp; NaN stays NaN.

    `rod` is a row of `kind.rods`, `kind` a table of `Splines`, `q` the degrees of freedom of the scene (of the state or
    of an iterate): no frames are needed.
    """
    rods, stretches, knots = kind.rods, kind.stretches, kind.knots
    dof, n, spans = rods.dof[rod], rods.count[rod], rods.spans[rod]
    first, knot = rods.stretch_first[rod], rods.mass_first[rod]
    # An open rod has the stretching points k and k + 1 on the sides of knot k, a closed one k - 1 and k.
    count, after = (spans, 0) if rods.closed[rod] == 1 else (spans + 1, 1)
    left = speed_at(q, dof, n, stretches, rods.stretch_end[rod] - 1 if after == 0 else first)
    least = 1.0
    for k in range(count):
        right = speed_at(q, dof, n, stretches, first + k + after)
        x = speed_at(q, dof, n, knots, knot + k)
        low, high = min(left, right), max(left, right)
        ratio = x / low if x < low else (high / x if x > high else 1.0)
        sound = math.isfinite(x + left + right)
        # NaN is kept, so that no test against a limit passes.
        if not sound or ratio < least:
            least = ratio if sound else math.nan
        left = right
    return least


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
