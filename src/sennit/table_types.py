"""What Numba knows of a `Table`: a pointer to the block that describes its arrays, whose fields are loaded where used.

A block never changes while a kernel runs, and LLVM is told so (``invariant.load``): a field's place is loaded once, not
in every turn of a loop. Nobody counts the uses of the arrays: the table keeps them as long as it lives, and no kernel
may return one of them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, typeof_impl, unbox

from sennit.tables import Table

__all__ = ["TableType", "type_of"]

_WORD, _PLACE = ir.IntType(64), ir.IntType(8).as_pointer()


class TableType(types.Type):  # type: ignore[misc]
    """Numba's type of a `Table`: the same for all that are made of one class."""

    def __init__(self, name: str, fields: tuple[tuple[str, Any], ...]) -> None:
        self.fields = fields
        super().__init__(f"{name}({', '.join(f'{field}: {kind}' for field, kind in fields)})")

    @property
    def mangling_args(self) -> tuple[str, tuple[Any, ...]]:
        """What symbols are called by: the class alone."""
        return self.name.partition("(")[0], ()


def type_of(kind: type[Table]) -> TableType:
    """The type of a class of tables."""
    known: TableType | None = vars(kind).get("_numba_type_")
    if known is not None:
        return known
    scalars = {float: types.float64, int: types.int64}
    fields = tuple(
        (name, types.Array(scalars[field.kind], len(field.shape), "C") if field.shape else type_of(field.kind))
        for name, field in kind._fields.items()
    )
    made = TableType(kind.__name__, fields)
    kind._numba_type_ = made  # where Numba looks first: four times faster than to ask us
    return made


@typeof_impl.register(Table)
def _typeof(value: Table, context: object) -> TableType:
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
    n = found.ndim
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    array.nitems = _loaded(builder, pointer, at + 2, _WORD)
    array.itemsize = ir.Constant(_WORD, found.dtype.bitwidth // 8)
    array.data = _loaded(builder, pointer, at + 4, array.data.type)
    words = [_loaded(builder, pointer, at + 5 + i, _WORD) for i in range(2 * n)]
    array.shape = cgutils.pack_array(builder, words[:n], ty=_WORD)
    array.strides = cgutils.pack_array(builder, words[n:], ty=_WORD)
    return array._getvalue()
