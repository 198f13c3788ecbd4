"""What Numba knows of a `Table`: a pointer to the block that describes its arrays, whose fields are loaded where used.

A block never changes while a kernel runs, and LLVM is told so (``invariant.load``): a field's place is loaded once, not
in every turn of a loop. Nobody counts the uses of the arrays: the table keeps them as long as it lives, and no kernel
may return one of them. Columns that a field declares by a number are known to the compiler, and so are the strides.

In programs of a graphics card (`gpu_program`) sizes are asked for by functions without a body, one for each size of a
class, and so is the length of a number: there they become 0 where a scene has none, and 4 bytes.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_cast, lower_getattr_generic, typeof_impl, unbox

from sennit.tables import Table

__all__ = ["NUMBER_BYTES", "SIZE", "TableType", "owner_and_class", "threaded_type_of", "type_of"]

_WORD, _PLACE = ir.IntType(64), ir.IntType(8).as_pointer()

SIZE, NUMBER_BYTES = "sennit.size.", "sennit.number_bytes"
"""Names of functions of threaded programs: i64 SIZE.Owner/Class.size(i64), which is its argument or 0, and i64
NUMBER_BYTES().
"""


class TableType(types.Type):  # type: ignore[misc]
    """Numba's type of a `Table`: the same for all that are made of one class."""

    def __init__(
        self, name: str, fields: tuple[tuple[str, Any], ...], shapes: dict[str, tuple[int | str, ...]],
        threaded: type[Table] | None,
    ) -> None:  # fmt: skip
        self.fields = fields
        self.shapes = shapes
        self.threaded = threaded
        """The class, in programs of a graphics card."""
        super().__init__(f"{name}({', '.join(f'{field}{shapes[field]}: {kind}' for field, kind in fields)})")

    @property
    def mangling_args(self) -> tuple[str, tuple[Any, ...]]:
        """What symbols are called by: the class alone."""
        return self.name.partition("(")[0], ()

    def unify(self, typingctx: Any, other: Any) -> Any:
        """In programs of a graphics card, what is a table inside of one class on one way and inside of another class
        on the other is a table inside of none, no size of which is known.
        """
        if self.threaded is None or not isinstance(other, TableType) or other.threaded is not self.threaded:
            return None
        return threaded_type_of(cast(Any, self.threaded))

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """To that inside of none: see `unify`."""
        return Conversion.safe if self.unify(typingctx, other) == other else None


def type_of(kind: type[Table]) -> Any:
    """The type of a class of tables."""
    known = vars(kind).get("_numba_type_")
    if known is not None:
        return known
    if kind._compiler_types != __name__:
        return importlib.import_module(kind._compiler_types).type_of(kind)
    # Numba looks there first, four times faster
    made = kind._numba_type_ = _made(kind, type_of, threaded=False)
    for extended in kind.__subclasses__():
        type_of(extended)  # which would be taken for this one else: attributes are inherited
    return made


@functools.cache
def threaded_type_of(kind: type[Table], owner: str = "") -> Any:
    """The type of a class of tables in programs of a graphics card, inside a table of the class `owner`.

    The same class inside another one is another type there: rods of one model may be none where those of the other are
    some. Without an `owner` it is the outermost table, or one that may be inside of either of two classes
    (`TableType.unify`), of which a program takes no size as 0.
    """
    if kind._compiler_types != __name__:
        raise TypeError(f"{kind.__name__} is no table of a scene: programs of a graphics card can't take it")
    return _made(kind, lambda inner: threaded_type_of(inner, kind.__name__), threaded=True, owner=owner)


def _made(kind: type[Table], inner: Callable[[Any], Any], threaded: bool, owner: str = "") -> TableType:
    fields = tuple(
        (name, types.Array(from_dtype(np.dtype(field.kind)), len(field.shape), "C"))
        if field.shape
        else (name, inner(field.kind))
        for name, field in kind._fields.items()
    )
    shapes = {name: field.shape for name, field in kind._fields.items()}
    if not threaded:
        return TableType(kind.__name__, fields, shapes, None)
    return TableType(owner_and_class(owner, kind), fields, shapes, kind)


def owner_and_class(owner: str, kind: type[Table]) -> str:
    """What threaded programs call a class of tables inside one of the class `owner`."""
    return f"{owner}/{kind.__name__}"


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


@lower_cast(TableType, TableType)
def _as_of_none(context: Any, builder: Any, kind: TableType, target: TableType, pointer: Any) -> Any:
    return pointer


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
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    array.data = _loaded(builder, pointer, at + 4, array.data.type)
    describe = _describe_threaded if kind.threaded else _describe
    describe(builder, kind, pointer, name, at, array)
    return array._getvalue()


def _describe(builder: Any, kind: TableType, pointer: Any, name: str, at: int, array: Any) -> None:
    """Number of items, their size, shape and strides of an array."""
    found = dict(kind.fields)[name]
    n, itemsize = found.ndim, found.dtype.bitwidth // 8
    array.nitems = _loaded(builder, pointer, at + 2, _WORD)
    array.itemsize = ir.Constant(_WORD, itemsize)
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


def _describe_threaded(builder: Any, kind: TableType, pointer: Any, name: str, at: int, array: Any) -> None:
    """The same in programs of a graphics card: all from the lengths of its axes."""
    found = dict(kind.fields)[name]
    itemsize: Any = ir.Constant(_WORD, found.dtype.bitwidth // 8)
    if found.dtype == types.float64:
        itemsize = builder.call(_function(builder, NUMBER_BYTES, 0), [])
    owner = kind.name.partition("(")[0]
    shape: list[Any] = []
    strides: list[Any] = []
    items: Any = ir.Constant(_WORD, 1)
    for axis, length in enumerate(kind.shapes[name]):
        if isinstance(length, str):
            read = _loaded(builder, pointer, at + 5 + axis, _WORD)
            shape.append(builder.call(_function(builder, f"{SIZE}{owner}.{length}", 1), [read]))
        else:
            shape.append(ir.Constant(_WORD, length))
    for words in reversed(shape):
        strides.insert(0, builder.mul(items, itemsize))
        items = builder.mul(items, words)
    array.nitems, array.itemsize = items, itemsize
    array.shape = cgutils.pack_array(builder, shape, ty=_WORD)
    array.strides = cgutils.pack_array(builder, strides, ty=_WORD)


def _function(builder: Any, name: str, words: int) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(_WORD, [_WORD] * words), name)
