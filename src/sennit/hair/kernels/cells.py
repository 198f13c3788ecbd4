"""The cell of a grid in which a place lies: of numbers, or of each lane of packs."""

from __future__ import annotations

import math

import numpy as np

from sennit.compilation import overload
from sennit.lanes import lanes_of, pack


def cell_of(x, y, z, rows, columns):
    """Place of the number of the cell (⌊x⌋, ⌊y⌋, ⌊z⌋) in a grid with `rows` along y and `columns` along z, and the
    three whole numbers: of a number each, or of each lane of a pack.
    """
    if isinstance(x, float):
        i, j, k = math.floor(x), math.floor(y), math.floor(z)
        return (i * rows + j) * columns + k, float(i), float(j), float(k)
    cells = [cell_of(float(a), float(b), float(c), rows, columns) for a, b, c in zip(x, y, z, strict=True)]
    places, i, j, k = zip(*cells, strict=True)
    return places, pack(*i), pack(*j), pack(*k)


@overload(cell_of)
def _cell_of(x, y, z, rows, columns):
    from numba.core import types

    def of_number(x, y, z, rows, columns):
        i, j, k = np.int64(x), np.int64(y), np.int64(z)
        return (i * rows + j) * columns + k, float(i), float(j), float(k)

    if x == types.float64:
        return of_number

    def by_lanes(x, y, z, rows, columns):
        x0, x1, x2, x3 = lanes_of(x)
        y0, y1, y2, y3 = lanes_of(y)
        z0, z1, z2, z3 = lanes_of(z)
        p0, i0, j0, k0 = cell_of(x0, y0, z0, rows, columns)
        p1, i1, j1, k1 = cell_of(x1, y1, z1, rows, columns)
        p2, i2, j2, k2 = cell_of(x2, y2, z2, rows, columns)
        p3, i3, j3, k3 = cell_of(x3, y3, z3, rows, columns)
        return (p0, p1, p2, p3), pack(i0, i1, i2, i3), pack(j0, j1, j2, j3), pack(k0, k1, k2, k3)

    return by_lanes
