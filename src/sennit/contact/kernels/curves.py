"""The centre lines of rods: where they are at u, and each span as a cubic.

In span e, with t = u − e from 0 to 1, a centre line is r = c0 + c1 t + c2 t² + c3 t³. That is exact for both models: an
edge of a discrete rod has c2 = c3 = 0. What looks for contacts reads these coefficients (`Spans.curve`) and needs to
know neither the model nor its basis.
"""

from __future__ import annotations

import math

from sennit.bodies.rod.spline.kernels.basis import control_dofs, span_basis, spline_span
from sennit.compilation import inlined
from sennit.geometry.kernels.algebra import add3, scale3

# ------------------------------------------------------------------------------------------------ at u, from q itself


@inlined
def blended(q, dofs, n0, n1, n2, n3):
    """Σ Nᵢ Pᵢ of the four control points whose degrees of freedom begin at `dofs`."""
    i0, i1, i2, i3 = dofs
    return (
        n0 * q[i0] + n1 * q[i1] + n2 * q[i2] + n3 * q[i3],
        n0 * q[i0 + 1] + n1 * q[i1 + 1] + n2 * q[i2 + 1] + n3 * q[i3 + 1],
        n0 * q[i0 + 2] + n1 * q[i1 + 2] + n2 * q[i2 + 2] + n3 * q[i3 + 2],
    )


@inlined
def spline_at(rods, rod, q, u):
    """r, r′ and r″ (by u) of a spline at u: three vectors. u goes round a closed rod."""
    spans, closed = rods.spans[rod], rods.closed[rod] == 1
    e, u = spline_span(u, spans, closed)
    dofs = control_dofs(e, rods.dof[rod], rods.count[rod])
    b = span_basis(e, u, spans, closed)
    return (
        blended(q, dofs, b[0], b[1], b[2], b[3]),
        blended(q, dofs, b[4], b[5], b[6], b[7]),
        blended(q, dofs, b[8], b[9], b[10], b[11]),
    )


@inlined
def discrete_at(rods, rod, q, u):
    """r, r′ and r″ of a discrete rod at u: its edges are straight, so that r″ = 0 and r′ jumps at nodes."""
    e = min(max(math.floor(u), 0), rods.spans[rod] - 1)
    c0, c1 = edge_line(rods, rod, q, e)
    return add3(c0, scale3(u - e, c1)), c1, (0.0, 0.0, 0.0)


@inlined
def radius_at(kind, rod, u):
    """Radius of a rod of one kind (`RodKind`) at u, m: linear in each span."""
    rods, thinner = kind.rods, kind.girths.thinner
    e = min(max(math.floor(u), 0), rods.spans[rod] - 1)
    row = rods.girth_first[rod] + e
    return rods.radius[rod] * (1.0 - (thinner[row, 0] + (u - e) * (thinner[row, 1] - thinner[row, 0])))


# --------------------------------------------------------------------------------------------- coefficients of a span


@inlined
def edge_line(rods, rod, q, e):
    """c0 and c1 of edge e of a discrete rod."""
    o = rods.dof[rod] + 4 * e
    return (q[o], q[o + 1], q[o + 2]), (q[o + 4] - q[o], q[o + 5] - q[o + 1], q[o + 6] - q[o + 2])


@inlined
def spline_cubic(rods, rod, q, e):
    """c0, c1, c2 and c3 of span e of a spline."""
    spans, closed = rods.spans[rod], rods.closed[rod] == 1
    dofs = control_dofs(e, rods.dof[rod], rods.count[rod])
    if closed or (e >= 2 and e <= spans - 3):  # knots at equal distances: the basis is known
        return (
            blended(q, dofs, 1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0, 0.0),
            blended(q, dofs, -0.5, 0.0, 0.5, 0.0),
            blended(q, dofs, 0.5, -1.0, 0.5, 0.0),
            blended(q, dofs, -1.0 / 6.0, 0.5, -0.5, 1.0 / 6.0),
        )
    b = span_basis(e, float(e), spans, closed)
    s = span_basis(e, e + 1.0, spans, closed)
    h, k = 0.5, 1.0 / 6.0
    return (
        blended(q, dofs, b[0], b[1], b[2], b[3]),
        blended(q, dofs, b[4], b[5], b[6], b[7]),
        blended(q, dofs, h * b[8], h * b[9], h * b[10], h * b[11]),
        blended(q, dofs, k * (s[8] - b[8]), k * (s[9] - b[9]), k * (s[10] - b[10]), k * (s[11] - b[11])),
    )


# -------------------------------------------------------------------------------------------------- from coefficients


@inlined
def place_in(curve, row, t):
    """r at t in the span of a row of `Spans.curve`."""
    c = curve
    return (
        c[row, 0, 0] + t * (c[row, 1, 0] + t * (c[row, 2, 0] + t * c[row, 3, 0])),
        c[row, 0, 1] + t * (c[row, 1, 1] + t * (c[row, 2, 1] + t * c[row, 3, 1])),
        c[row, 0, 2] + t * (c[row, 1, 2] + t * (c[row, 2, 2] + t * c[row, 3, 2])),
    )


@inlined
def slope_in(curve, row, t):
    """r′ at t."""
    c, a, b = curve, 2.0 * t, 3.0 * t * t
    return (
        c[row, 1, 0] + a * c[row, 2, 0] + b * c[row, 3, 0],
        c[row, 1, 1] + a * c[row, 2, 1] + b * c[row, 3, 1],
        c[row, 1, 2] + a * c[row, 2, 2] + b * c[row, 3, 2],
    )


@inlined
def thinner_in(spans, row, t):
    """By how much a rod is thinner at t in the span of a row than where it is thickest, m."""
    return spans.thinner[row, 0] + t * (spans.thinner[row, 1] - spans.thinner[row, 0])


@inlined
def bend_in(curve, row, t):
    """r″ at t."""
    c, b = curve, 6.0 * t
    return (
        2.0 * c[row, 2, 0] + b * c[row, 3, 0],
        2.0 * c[row, 2, 1] + b * c[row, 3, 1],
        2.0 * c[row, 2, 2] + b * c[row, 3, 2],
    )
