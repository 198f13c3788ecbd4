"""What a thread has for itself: a few hundred numbers in fast memory.

Hair is computed rod by rod with numbers (on graphics cards, a thread for each rod) or four rods at once with packs (on
processors, `lanes`). Which of the two, the shape of the memory says: (n,) or (n, 4).
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import PLAIN, intrinsic

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


if PLAIN:

    def span_room(memory):
        return np.zeros((SPAN, *memory.shape[1:]), memory.dtype)
