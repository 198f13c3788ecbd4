"""What a thread has for itself: a few hundred numbers in fast memory, and the cell of a grid in which a place lies.

Hair is computed rod by rod with numbers (on graphics cards, a thread for each rod) or four rods at once with packs (on
processors, `lanes`). Which of the two, the shape of the memory says: (n,) or (n, 4).
"""

from __future__ import annotations

import math

import numpy as np

from sennit.compilation import PLAIN, intrinsic, overload
from sennit.lanes import lanes_of, pack

SPAN = 412
"""Numbers of a front: what `bodies.rod.spline.kernels.forces` keeps of a span."""


@intrinsic
def span_room(typing_context, memory):
    """Room for a front, of the kind of `memory`: numbers (SPAN,) or packs (SPAN, 4). It holds what was there."""
    from llvmlite import ir
    from numba.core import cgutils, types

    def generate(context, builder, signature, arguments):
        kind = signature.return_type
        shape = (SPAN, 4)[: kind.ndim]
        size = SPAN * 4 ** (kind.ndim - 1)
        place = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), size))
        place.align = 32
        array = context.make_array(kind)(context, builder)
        strides = tuple(8 * 4 ** (kind.ndim - 1 - axis) for axis in range(kind.ndim))
        word = ir.IntType(64)
        array.data = builder.bitcast(place, ir.DoubleType().as_pointer())
        array.nitems, array.itemsize = ir.Constant(word, size), ir.Constant(word, 8)
        array.shape = cgutils.pack_array(builder, [ir.Constant(word, n) for n in shape], ty=word)
        array.strides = cgutils.pack_array(builder, [ir.Constant(word, n) for n in strides], ty=word)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()

    return types.Array(types.float64, memory.ndim, "C")(memory), generate


if PLAIN:  # type: ignore[misc]  # of two decorators with names that it knows

    def span_room(memory):
        return np.zeros((SPAN, *memory.shape[1:]), memory.dtype)


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
