"""What Numba knows of `Lanes`: a pointer and the number of blocks; fields stand at distances that the compiler knows.

A field ``P.log_a`` is an array of shape (blocks, width, LANES) that begins at the field's first component, so that
``P.log_a[block, k, lane]`` is component k of one row. Every access is the one pointer plus a distance that is known
when the kernel is compiled: LLVM sees that different fields never overlap, and loops over lanes become vector
instructions. With a pointer for each field it could not know, and would not.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default  # type: ignore[attr-defined]
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, unbox

from sennit.cosserat.kernels.lanes import LANES

_WORD = ir.IntType(64)


class LanesType(types.Type):
    """Numba's type of a class of `Lanes`: where each field begins, and how many components there are in all."""

    def __init__(self, name: str, starts: tuple[tuple[str, int], ...], width: int) -> None:
        self.starts, self.width = dict(starts), width
        super().__init__(f"{name}({', '.join(f'{field}: {start}' for field, start in starts)}, {width})")

    @property
    def mangling_args(self) -> tuple[str, tuple[Any, ...]]:
        """What symbols are called by: the class alone."""
        return self.name.partition("(")[0], ()


_FIELD = types.Array(types.float64, 3, "C")


@register_default(LanesType)
class _LanesModel(models.StructModel):
    def __init__(self, manager: Any, kind: LanesType) -> None:
        pointer: Any = types.CPointer(types.float64)
        super().__init__(manager, kind, [("data", pointer), ("blocks", types.int64)])


@infer_getattr
class _LanesFields(AttributeTemplate):
    key = LanesType

    def generic_resolve(self, kind: LanesType, name: str) -> Any:  # type: ignore[override]
        return _FIELD if name in kind.starts else None


@unbox(LanesType)
def _unboxed(kind: LanesType, value: Any, c: Any) -> NativeValue:
    lanes = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    for member, name in (("data", "_address"), ("blocks", "blocks")):
        number = c.pyapi.object_getattr_string(value, name)
        word = c.pyapi.long_as_longlong(number)
        c.pyapi.decref(number)
        setattr(lanes, member, c.builder.inttoptr(word, lanes.data.type) if member == "data" else word)
    return NativeValue(lanes._getvalue())


@lower_getattr_generic(LanesType)
def _field(context: Any, builder: Any, kind: LanesType, value: Any, name: str) -> Any:
    lanes = cgutils.create_struct_proxy(kind)(context, builder, value)
    array = context.make_array(_FIELD)(context, builder)
    block = kind.width * LANES
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    array.nitems = builder.mul(lanes.blocks, ir.Constant(_WORD, block))
    array.itemsize = ir.Constant(_WORD, 8)
    array.data = builder.gep(lanes.data, [ir.Constant(_WORD, kind.starts[name] * LANES)])
    shape = [lanes.blocks, ir.Constant(_WORD, kind.width), ir.Constant(_WORD, LANES)]
    array.shape = cgutils.pack_array(builder, shape, ty=_WORD)
    strides = [ir.Constant(_WORD, 8 * n) for n in (block, LANES, 1)]
    array.strides = cgutils.pack_array(builder, strides, ty=_WORD)
    return array._getvalue()


def type_of(kind: Any) -> LanesType:
    """The type of a class of `Lanes`."""
    known: LanesType | None = vars(kind).get("_numba_type_")
    if known is None:
        known = kind._numba_type_ = LanesType(kind.__name__, kind._starts, kind._width)
    return known
