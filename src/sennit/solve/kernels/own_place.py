"""Where the machine code of a kernel is, so that other machine code can call it, with the same bits."""

from __future__ import annotations

from sennit.compilation import PLAIN, intrinsic


@intrinsic
def own_place(typing_context):
    """The address of the kernel that asks, whose arguments and result are handed over as Numba does."""
    from llvmlite import ir
    from numba.core import types

    def generate(context, builder, signature, arguments):
        return builder.ptrtoint(builder.function, ir.IntType(64))

    return types.int64(), generate


if PLAIN:

    def own_place():
        return 0
