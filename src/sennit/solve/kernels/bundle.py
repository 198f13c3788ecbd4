"""All arrays of a solve in one object, which a kernel takes faster than the arrays.

Numba looks at every array that Python hands over, also inside tuples: some 0.1 µs each, at every call. A `Bundle` is
made once and is handed over as one pointer; a kernel reads its fields as attributes. What it reads there is not counted
as a use of the arrays, which spares the kernels atomic additions at every call among themselves: the bundle holds on to
the arrays as long as it lives, and so must live as long as the kernel runs. A kernel must not return such an array.
"""

from __future__ import annotations

from numba.core import cgutils, types
from numba.experimental import structref
from numba.extending import intrinsic

from sennit.compilation import allocating

__all__ = ["Bundle", "pack"]


@structref.register
class BundleType(types.StructRef):
    """Numba's type of a `Bundle`, made of the types of its fields."""


class Bundle(structref.StructRefProxy):
    """What `march` takes: its arrays, and tuples of them, and in `kept` what holds on to them."""


structref.define_proxy(
    Bundle,
    BundleType,
    [
        "scheme", "turns", "settings", "par", "rods", "others", "points", "rows", "cables", "state", "last", "trial",
        "PS", "work", "linear", "bounded", "report", "kept",
    ],
)  # fmt: skip


def without_owner(context, builder, kind, value):
    """Code for an array, or a tuple of them, at the same place in memory that nobody counts the uses of."""
    if isinstance(kind, types.BaseTuple):
        for i, part in enumerate(kind.types):
            bare = without_owner(context, builder, part, builder.extract_value(value, i))
            value = builder.insert_value(value, bare, i)
        return value
    array = context.make_array(kind)(context, builder, value=value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()


@intrinsic
def lent(typing_context, arrays):
    """The array, or the tuple of arrays, without its owner: good as long as somebody else holds on to it."""

    def code(context, builder, signature, arguments):
        return without_owner(context, builder, signature.args[0], arguments[0])

    return arrays(arrays), code


@allocating
def pack(
    scheme, turns, settings, par, rods, others, points, rows, cables, state, last, trial, PS, work, linear, bounded,
    report,
):  # fmt: skip
    """The `Bundle` of these arrays."""
    kept = (
        scheme, turns, settings, par, rods, others, points, rows, cables, state, last, trial, PS, work, linear, bounded,
        report,
    )  # fmt: skip
    return Bundle(
        lent(scheme), lent(turns), lent(settings), lent(par), lent(rods), lent(others), lent(points), lent(rows),
        lent(cables), lent(state), lent(last), lent(trial), lent(PS), lent(work), lent(linear), lent(bounded),
        lent(report), kept,
    )  # fmt: skip
