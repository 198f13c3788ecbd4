"""Cubic basis functions of open and closed curves, and vectors carried along a curve.

The parameter u runs from 0 to `spans`, with a knot at every integer; span e belongs to the control points e to e + 3,
which go round on a closed curve.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, single
from sennit.geometry.kernels.algebra import dot3
from sennit.lanes import WIDTH, four_at


@inlined
def spline_span(u, spans, closed):
    """The span that u lies in, and u, which goes round a closed rod; beyond an open rod the end spans go on."""
    if closed:
        u -= spans * math.floor(u / spans)
    return min(max(math.floor(u), 0), spans - 1), u


@inlined
def span_basis(e, u, spans, closed):
    """N, N′ and N″ at u of the four control points of span e: twelve numbers.

    Cox's and de Boor's recursion on the knots …, e − 1, e, e + 1, …, which pile up at the ends of an open rod, so that
    the first and last control points are its ends.
    """
    before2, before1, after1, after2 = e - 2.0, e - 1.0, e + 2.0, e + 3.0
    if not closed:
        before2, before1 = max(before2, 0.0), max(before1, 0.0)
        after1, after2 = min(after1, float(spans)), min(after2, float(spans))
    # Distances to the knots on the left and on the right.
    l1, l2, l3 = u - e, u - before1, u - before2
    r1, r2, r3 = e + 1.0 - u, after1 - u, after2 - u
    # Degree 1 is (r1, l1); degree 2:
    k0, k1 = 1.0 / (r1 + l2), 1.0 / (r2 + l1)
    b0, b1, b2 = r1 * r1 * k0, l2 * r1 * k0 + r2 * l1 * k1, l1 * l1 * k1
    db0, db2 = -2.0 * r1 * k0, 2.0 * l1 * k1
    db1 = -db0 - db2
    # Degree 3.
    h0, h1, h2 = 1.0 / (r1 + l3), 1.0 / (r2 + l2), 1.0 / (r3 + l1)
    x0, x1, x2 = b0 * h0, b1 * h1, b2 * h2
    y0, y1, y2 = 3.0 * db0 * h0, 3.0 * db1 * h1, 3.0 * db2 * h2
    return (
        r1 * x0, l3 * x0 + r2 * x1, l2 * x1 + r3 * x2, l1 * x2,
        -3.0 * x0, 3.0 * (x0 - x1), 3.0 * (x1 - x2), 3.0 * x2,
        -y0, y0 - y1, y1 - y2, y2,
    )  # fmt: skip


@kernel
def spline_basis(u, spans, closed, out):
    """Write N, N′, N″ at u into out (12,), and return the first control point of the span (the others are the next 3).

    Control points go round modulo n on a closed rod, and so does u.
    """
    e, u = spline_span(u, spans, closed)
    values = span_basis(e, u, spans, closed)
    for i in range(12):
        out[i] = values[i]
    return e


@kernel
def spline_basis_rows(u, spans, closed, first, out):
    """`spline_basis` for every entry of u (k,), into out (k, 12), the first control points into first (k,) int64."""
    for row in range(u.shape[0]):
        first[row] = spline_basis(u[row], spans, closed, out[row])


@kernel
def rest_length(points, closed, knots, nodes, weights, u):
    """The length s(u) = ∫|r′| du from the curve's start to u, by the Gauss quadrature of `nodes` and `weights` in the
    span of u; `knots` has it at u = 0, 1, …
    """
    spans = knots.shape[0] - 1
    e = min(max(math.floor(u), 0), spans - 1)
    half = 0.5 * (u - e)
    total = 0.0
    for k in range(nodes.shape[0]):
        values = span_basis(e, e + half + half * nodes[k], spans, closed)
        square = 0.0
        for axis in range(3):
            slope = 0.0
            for i in range(4):
                slope += values[4 + i] * points[(e + i) % points.shape[0], axis]
            square += slope * slope
        total += weights[k] * math.sqrt(square)
    return knots[e] + half * total


@kernel
def transport_along(positions, tangents, out):
    """Carry out[0] (3,), a unit vector across tangents[0], along the curve without turning about it: out (k, 3).

    Two reflections take each sample's frame to the next one's; the error is of order 4 in their distance.

    Reference: W. Wang, B. Jüttler, D. Zheng and Y. Liu, Computation of rotation minimizing frames, ACM Trans. Graph. 27
    (2008) 2.
    """
    for row in range(positions.shape[0] - 1):
        u = out[row, 0], out[row, 1], out[row, 2]
        t = tangents[row, 0], tangents[row, 1], tangents[row, 2]
        new = tangents[row + 1, 0], tangents[row + 1, 1], tangents[row + 1, 2]
        x = (
            positions[row + 1, 0] - positions[row, 0],
            positions[row + 1, 1] - positions[row, 1],
            positions[row + 1, 2] - positions[row, 2],
        )
        square = dot3(x, x)
        if square > 0.0:
            k = 2.0 * dot3(x, u) / square
            u = u[0] - k * x[0], u[1] - k * x[1], u[2] - k * x[2]
            k = 2.0 * dot3(x, t) / square
            t = t[0] - k * x[0], t[1] - k * x[1], t[2] - k * x[2]
            y = new[0] - t[0], new[1] - t[1], new[2] - t[2]
            k = 2.0 * dot3(y, u) / dot3(y, y)
            u = u[0] - k * y[0], u[1] - k * y[1], u[2] - k * y[2]
        out[row + 1, 0], out[row + 1, 1], out[row + 1, 2] = u


# ------------------------------------------------------------------------------------------------- blends over a span


@inlined
def control_dofs(first, dof, n):
    """The first degrees of freedom of a span's four control points: of a rod with `n` of them from `dof` on."""
    i1, i2, i3 = first + 1, first + 2, first + 3
    if i1 >= n:
        i1 -= n
    if i2 >= n:
        i2 -= n
    if i3 >= n:
        i3 -= n
    return dof + 4 * first, dof + 4 * i1, dof + 4 * i2, dof + 4 * i3


@inlined
def control_dofs_of_four(spans, dof, n):
    """`control_dofs` of four spans: for each of the four control points a tuple of four."""
    a, b = control_dofs(spans[0], dof, n), control_dofs(spans[1], dof, n)
    c, d = control_dofs(spans[2], dof, n), control_dofs(spans[3], dof, n)
    return (
        (a[0], b[0], c[0], d[0]), (a[1], b[1], c[1], d[1]), (a[2], b[2], c[2], d[2]), (a[3], b[3], c[3], d[3])
    )  # fmt: skip


@inlined
def four_from(start, last):
    """Four places from `start` on; beyond `last`, that one again."""
    return start, min(start + 1, last), min(start + 2, last), min(start + 3, last)


@inlined
def at_once():
    """How many rows are made at once."""
    return WIDTH


@single(at_once)
@inlined
def one_at_once():
    """`at_once` where a row is made after the other."""
    return 1


@single(four_from)
@inlined
def one_from(start, last):
    """`four_from` where a row is made after the other: the place `start`."""
    return start


@single(control_dofs_of_four)
@inlined
def control_dofs_of_one(span, dof, n):
    """`control_dofs_of_four` of one span."""
    return control_dofs(span, dof, n)


@inlined
def controls(q, dofs):
    """The span's four control points, each x, y, z and roll."""
    return four_at(q, dofs[0]), four_at(q, dofs[1]), four_at(q, dofs[2]), four_at(q, dofs[3])


@inlined
def blend3(points, weights):
    """Σ Nᵢ Pᵢ with four weights."""
    a, b, c, d = points
    n0, n1, n2, n3 = weights
    return (
        n0 * a[0] + n1 * b[0] + n2 * c[0] + n3 * d[0],
        n0 * a[1] + n1 * b[1] + n2 * c[1] + n3 * d[1],
        n0 * a[2] + n1 * b[2] + n2 * c[2] + n3 * d[2],
    )


@inlined
def blend_roll(points, weights):
    """Σ Nᵢ φᵢ with four weights."""
    a, b, c, d = points
    return weights[0] * a[3] + weights[1] * b[3] + weights[2] * c[3] + weights[3] * d[3]
