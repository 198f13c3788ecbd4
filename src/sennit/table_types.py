"""What Numba knows of a `Table`: a pointer to the block that describes its arrays, whose fields are loaded where used.

A block never changes while a kernel runs, and LLVM is told so (``invariant.load``): a field's place is loaded once, not
in every turn of a loop. Nobody counts the uses of the arrays: the table keeps them as long as it lives, and no kernel
may return one of them. Columns that a field declares by a number are known to the compiler, and so are the strides.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, typeof_impl, unbox

from sennit.tables import Table

__all__ = ["TableType", "type_of"]

_WORD, _PLACE = ir.IntType(64), ir.IntType(8).as_pointer()


class TableType(types.Type):  # type: ignore[misc]
    """Numba's type of a `Table`: the same for all that are made of one class."""

    def __init__(
        self, name: str, fields: tuple[tuple[str, Any], ...], shapes: dict[str, tuple[int | str, ...]]
    ) -> None:
        self.fields = fields
        self.shapes = shapes
        super().__init__(f"{name}({', '.join(f'{field}{shapes[field]}: {kind}' for field, kind in fields)})")

    @property
    def mangling_args(self) -> tuple[str, tuple[Any, ...]]:
        """What symbols are called by: the class alone."""
        return self.name.partition("(")[0], ()


def type_of(kind: type[Table]) -> Any:
    """The type of a class of tables."""
    known = vars(kind).get("_numba_type_")
    if known is not None:
        return known
    if kind._compiler_types != __name__:
        return importlib.import_module(kind._compiler_types).type_of(kind)
    fields = tuple(
        (name, types.Array(from_dtype(np.dtype(field.kind)), len(field.shape), "C"))
        if field.shape
        else (name, type_of(field.kind))
        for name, field in kind._fields.items()
    )
    shapes = {name: field.shape for name, field in kind._fields.items()}
    made = kind._numba_type_ = TableType(kind.__name__, fields, shapes)  # Numba looks there first, four times faster
    for extended in kind.__subclasses__():
        type_of(extended)  # which would be taken for this one else: attributes are inherited
    return made


@typeof_impl.register(Table)
def _typeof(value: Table, context: object) -> Any:
    return type_of(type(value))


@register_default(TableType)
class _TableModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: TableType) -> None:
        super().__init__(manager, kind, _PLACE)


@infer_getattr
class _TableFields(AttributeTemplate):  # type: ignore[misc]
    key = TableType

    def generic_resolve(self, kind: TableType, name: str) -> Any:
        return dict(kind.fields).get(name)


@unbox(TableType)
def _unboxed(kind: TableType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "_address")
    pointer = c.builder.inttoptr(c.pyapi.long_as_longlong(address), _PLACE)
    c.pyapi.decref(address)
    return NativeValue(pointer)


def _words(kind: Any) -> int:
    return 1 if isinstance(kind, TableType) else 5 + 2 * kind.ndim


def _loaded(builder: Any, pointer: Any, at: int, kind: Any) -> Any:
    """Word number `at` of a block."""
    place = builder.gep(pointer, [ir.Constant(_WORD, 8 * at)])
    load = builder.load(builder.bitcast(place, kind.as_pointer()))
    load.set_metadata("invariant.load", builder.module.add_metadata([]))
    return load


@lower_getattr_generic(TableType)
def _field(context: Any, builder: Any, kind: TableType, pointer: Any, name: str) -> Any:
    names = [field for field, _ in kind.fields]
    at, found = sum(_words(k) for _, k in kind.fields[: names.index(name)]), dict(kind.fields)[name]
    if isinstance(found, TableType):
        return _loaded(builder, pointer, at, _PLACE)
    array = context.make_array(found)(context, builder)
    n, itemsize = found.ndim, found.dtype.bitwidth // 8
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    array.nitems = _loaded(builder, pointer, at + 2, _WORD)
    array.itemsize = ir.Constant(_WORD, itemsize)
    array.data = _loaded(builder, pointer, at + 4, array.data.type)
    words = [_loaded(builder, pointer, at + 5 + i, _WORD) for i in range(2 * n)]
    stride = itemsize
    for axis, length in reversed(list(enumerate(kind.shapes[name]))):
        words[n + axis] = ir.Constant(_WORD, stride)
        if isinstance(length, str):
            break
        words[axis] = ir.Constant(_WORD, length)
        stride *= length
    array.shape = cgutils.pack_array(builder, words[:n], ty=_WORD)
    array.strides = cgutils.pack_array(builder, words[n:], ty=_WORD)
    return array._getvalue()
