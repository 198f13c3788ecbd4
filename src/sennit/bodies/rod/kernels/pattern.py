"""The part of the matrix that rods of either model fill: a band of 4×4 blocks between neighbouring control points.

The entry between degree of freedom a of control point i and b of control point i + k, k = 0 … 3, stands at
64 i + 16 a + 4 k + b of the rod's numbers.
"""

from __future__ import annotations

from sennit.bodies.kernels.entries import put, put_block
from sennit.compilation import inlined, kernel


@kernel
def list_rod(rod, rods, n, row, col, slot):
    """Entries of one rod's band, from number `n` on."""
    dof, count, band = rods.dof[rod], rods.count[rod], rods.band[rod]
    for i in range(count):
        for k in range(4):
            c = i + k
            if c >= count:
                if rods.closed[rod] == 0:
                    break
                c -= count
            for a in range(4):
                for b in range(a if k == 0 else 0, 4):
                    n = put(n, dof + 4 * i + a, dof + 4 * c + b, band + 64 * i + 16 * a + 4 * k + b, row, col, slot)
    return n


@inlined
def spline_is_next(a, b, splines, discretes):
    """Whether spline rod `a` was added before discrete rod `b`, or is the only one left."""
    return b == discretes.dof.size or (a < splines.dof.size and splines.index[a] < discretes.index[b])


@kernel
def list_rods(splines, discretes, n, row, col, slot):
    """Entries of all rods of both models, in the order in which they were added."""
    a = b = 0
    while a < splines.dof.size or b < discretes.dof.size:
        if spline_is_next(a, b, splines, discretes):
            n = list_rod(a, splines, n, row, col, slot)
            a += 1
        else:
            n = list_rod(b, discretes, n, row, col, slot)
            b += 1
    return n


@kernel
def list_blocks(control_points, b, at, primal, start, kind):
    """A block of four unknowns for each control point of all rods."""
    for _ in range(control_points):
        b = put_block(b, at, primal, start, kind)
        at += 4
    return b, at
