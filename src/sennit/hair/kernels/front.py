"""A step's equations of a rod, eliminated from root to tip: at any time only four control points are in sight.

A span of a spline rod couples the 16 unknowns of its four control points, and no others: x, y, z and roll of each. So
the 16 × 16 matrix in which the library's functions add up a span's points (`forces`) serves as the front of Gauss's
elimination: when all spans of the first control point are in it, that one is eliminated, the others move up, and the
next span is added. What is kept of an eliminated control point, `KEPT` numbers in `factors`: rows of L (15 + 14 + 13 +
12), the right sides over the pivots, which become its displacement, and its place after the step.

The front is `work`: row i = 4 p + x of the matrix from 64 p + 16 x on, of which blocks on and above the diagonal are
there, and the right side from FORCE on.
"""

from __future__ import annotations

from sennit.bodies.rod.spline.kernels.forces import FORCE, add_at
from sennit.compilation import inlined
from sennit.geometry.kernels.algebra import dot3, mat_vec
from sennit.lanes import load, store, where

SOLVED, PLACED = 54, 58
KEPT = 62


@inlined
def row_at(i):
    """Where row i of the front begins."""
    return 16 * i


@inlined
def clear_front(work):
    """All numbers of the front 0."""
    for i in range(256):
        store(work, i, 0.0)
    for i in range(16):
        store(work, FORCE + i, 0.0)


@inlined
def move_up(work):
    """The control points 1 to 3 of the front become 0 to 2, and 3 is a new one."""
    for p in range(3):
        for x in range(4):
            for c in range(4 * p, 12):
                store(work, row_at(4 * p + x) + c, load(work, row_at(4 * p + 4 + x) + c + 4))
            for c in range(12, 16):
                store(work, row_at(4 * p + x) + c, 0.0)
    for x in range(4):
        for c in range(12, 16):
            store(work, row_at(12 + x) + c, 0.0)
    for i in range(12):
        store(work, FORCE + i, load(work, FORCE + i + 4))
    for i in range(12, 16):
        store(work, FORCE + i, 0.0)


@inlined
def turn_first(work, d1, d2, d3):
    """Let the unknowns x, y, z of the first control point be components along three directions."""
    for c in range(3, 16):
        row = load(work, c), load(work, 16 + c), load(work, 32 + c)
        store(work, c, dot3(d1, row))
        store(work, 16 + c, dot3(d2, row))
        store(work, 32 + c, dot3(d3, row))
    row = load(work, FORCE), load(work, FORCE + 1), load(work, FORCE + 2)
    store(work, FORCE, dot3(d1, row))
    store(work, FORCE + 1, dot3(d2, row))
    store(work, FORCE + 2, dot3(d3, row))
    matrix = (
        load(work, 0), load(work, 1), load(work, 2), load(work, 1), load(work, 17), load(work, 18), load(work, 2),
        load(work, 18), load(work, 34),
    )  # fmt: skip
    a1, a2, a3 = mat_vec(matrix, d1), mat_vec(matrix, d2), mat_vec(matrix, d3)
    store(work, 0, dot3(d1, a1))
    store(work, 1, dot3(d1, a2))
    store(work, 2, dot3(d1, a3))
    store(work, 17, dot3(d2, a2))
    store(work, 18, dot3(d2, a3))
    store(work, 34, dot3(d3, a3))


@inlined
def prescribe(k, value, work, factors, at, stride):
    """Unknown k of the first control point is `value`: no row of its own, what it does to the others is known."""
    for j in range(k + 1, 16):
        store(work, FORCE + j, load(work, FORCE + j) - load(work, row_at(k) + j) * value)
        store(factors, at + stride * place_in_factor(k, j), 0.0)
    store(factors, at + stride * (SOLVED + k), value)


@inlined
def place_in_factor(k, j):
    """Where the number of L between the unknowns k of a control point and j > k of the front is kept."""
    return 15 * k - (k * (k - 1)) // 2 + j - k - 1


@inlined
def eliminate(first, least, work, factors, at, stride):
    """Eliminate the unknowns of the first control point from `first` on; the least of `least` and the pivots."""
    for k in range(first, 4):
        d = load(work, row_at(k) + k)
        least = where(d < least, d, least)
        least = where(d == d, least, d)
        inverse = 1.0 / d
        y = load(work, FORCE + k)
        for i in range(k + 1, 16):
            share = inverse * load(work, row_at(k) + i)
            store(factors, at + stride * place_in_factor(k, i), share)
            for j in range(i, 16):
                o = row_at(i) + j
                store(work, o, load(work, o) - share * load(work, row_at(k) + j))
            add_at(work, FORCE + i, -share * y)
        store(factors, at + stride * (SOLVED + k), inverse * y)
    return least


@inlined
def substitute(k, work, factors, at, stride):
    """Find unknown k of a control point from those after it; the first 16 numbers of `work` are the unknowns of the
    front, its own and those of the three control points behind it.
    """
    y = load(factors, at + stride * (SOLVED + k))
    for j in range(k + 1, 16):
        y = y - load(factors, at + stride * place_in_factor(k, j)) * load(work, j)
    store(work, k, y)
