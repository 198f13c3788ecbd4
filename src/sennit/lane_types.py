"""What Numba knows of packs (`lanes`): a vector of four doubles of LLVM's, which becomes one register or two.

Whether products and sums are fused is decided for packs as for numbers, by the options of the kernel. In programs of a
graphics card (`compilation.single`) rows are made one by one, and a memory of packs holds numbers, one after the other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default
from numba.core.errors import TypingError
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast

from sennit import lanes
from sennit.lanes import WIDTH
from sennit.numba_release import is_for_threads

__all__ = ["PACK", "PackType"]

_DOUBLE, _WORD, _INDEX = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_DOUBLE, WIDTH)
_NUMBER_ALIGNED = 8  # bytes; of rows no more is known


class PackType(types.Type):  # type: ignore[misc]
    """Numba's type of a pack."""

    def __init__(self) -> None:
        super().__init__("Pack")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """A number is the same in every lane."""
        return Conversion.promote if isinstance(other, types.Float) else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        """What is a number on one way and a pack on the other is a pack."""
        return self if isinstance(other, types.Float) else None


class ConditionType(types.Type):  # type: ignore[misc]
    """The type of a comparison of packs: a truth for each lane."""

    def __init__(self) -> None:
        super().__init__("PackCondition")


PACK, CONDITION = PackType(), ConditionType()


@register_default(PackType)
class _PackModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: PackType) -> None:
        super().__init__(manager, kind, _VECTOR)


@register_default(ConditionType)
class _ConditionModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: ConditionType) -> None:
        super().__init__(manager, kind, ir.VectorType(ir.IntType(1), WIDTH))


def _operation(
    function: Any, resolve: Callable[..., Any], *lowered: tuple[Callable[..., Any], tuple[Any, ...]]
) -> None:
    """Tell Numba what `function` returns for arguments of some types (None: not ours), and how it is lowered."""

    class Operation(AbstractTemplate):  # type: ignore[misc]
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            found = resolve(*args) if not kws else None
            return None if found is None else signature(found, *args)

    infer_global(function)(Operation)
    for lower, kinds in lowered:
        lower_builtin(function, *kinds)(lower)


# ---------------------------------------------------------------------------------------------------- arithmetic


def _number(k: int) -> Any:
    return ir.Constant(_INDEX, k)


def _spread(builder: Any, x: Any) -> Any:
    """A number in every lane."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    one = builder.insert_element(nothing, x, _number(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_INDEX, WIDTH), [0] * WIDTH))


def _packs(context: Any, builder: Any, kinds: Any, values: Any) -> list[Any]:
    """The arguments of an operation as vectors."""
    return [
        x if kind is PACK else _spread(builder, context.cast(builder, x, kind, types.float64))
        for kind, x in zip(kinds, values, strict=True)
    ]


def _of_packs(result: Any, *args: Any) -> Any:
    """`result` if one of the arguments is a pack and the others are numbers."""
    return result if PACK in args and all(kind is PACK or isinstance(kind, types.Number) for kind in args) else None


@lower_cast(types.Float, PackType)
def _number_to_pack(context: Any, builder: Any, kind: Any, target: Any, x: Any) -> Any:
    return _packs(context, builder, [kind], [x])[0]


def _binary(function: Any, instruction: str) -> None:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*_packs(context, builder, sig.args, args))

    kinds = ((PackType, PackType), (PackType, types.Number), (types.Number, PackType))
    _operation(function, lambda x, y: _of_packs(PACK, x, y), *((lower, pair) for pair in kinds))


def _comparison(function: Any, sign: str) -> None:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        # as Python compares numbers: with NaN all are false but !=
        compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        return compare(sign, *_packs(context, builder, sig.args, args))

    kinds = ((PackType, PackType), (PackType, types.Number), (types.Number, PackType))
    _operation(function, lambda x, y: _of_packs(CONDITION, x, y), *((lower, pair) for pair in kinds))


for _function, _instruction in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
    (operator.iadd, "fadd"), (operator.isub, "fsub"), (operator.imul, "fmul"), (operator.itruediv, "fdiv"),
):  # fmt: skip
    _binary(_function, _instruction)
for _function, _sign in (
    (operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">="), (operator.eq, "=="),
    (operator.ne, "!="),
):  # fmt: skip
    _comparison(_function, _sign)


def _both(function: Any, instruction: str) -> None:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, instruction)(*args)

    def resolve(x: Any, y: Any) -> Any:
        return CONDITION if x is CONDITION and y is CONDITION else None

    _operation(function, resolve, (lower, (ConditionType, ConditionType)))


_both(operator.or_, "or_")
_both(operator.and_, "and_")


def _negative(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


_operation(operator.neg, lambda x: x if x is PACK else None, (_negative, (PackType,)))


def _intrinsic(builder: Any, name: str, *args: Any) -> Any:
    kind = args[0].type
    function_type = ir.FunctionType(kind, [kind] * len(args))
    suffix = f"v{WIDTH}f64" if kind == _VECTOR else "f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, f"llvm.{name}.{suffix}"), args)


def _root(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _intrinsic(builder, "sqrt", *args)


def _float_or_pack(x: Any) -> Any:
    return x if x is PACK or x == types.float64 else None


_operation(lanes.root, _float_or_pack, (_root, (PackType,)), (_root, (types.Float,)))


def _where(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    condition, *values = args
    if sig.return_type is PACK:
        return builder.select(condition, *_packs(context, builder, sig.args[1:], values))
    return builder.select(condition, *values)


def _larger(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    x, y = _packs(context, builder, sig.args, args) if sig.return_type is PACK else args
    return builder.select(builder.fcmp_ordered(">", y, x), y, x)


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    if condition is CONDITION:
        return PACK
    return x if isinstance(condition, types.Boolean) and x == y == types.float64 else None


def _largest(x: Any, y: Any) -> Any:
    return types.float64 if x == y == types.float64 else _of_packs(PACK, x, y)


_operation(
    lanes.where,
    _chosen,
    (_where, (ConditionType, types.Any, types.Any)),
    (_where, (types.Boolean, types.Float, types.Float)),
)
_operation(lanes.larger, _largest, (_larger, (types.Any, types.Any)))


def _every(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    if sig.args[0] is not CONDITION:
        return args[0]
    bits = builder.bitcast(args[0], ir.IntType(WIDTH))
    return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, 2**WIDTH - 1))


def _condition(x: Any) -> Any:
    return types.boolean if x is CONDITION or isinstance(x, types.Boolean) else None


_operation(lanes.every, _condition, (_every, (ConditionType,)), (_every, (types.Boolean,)))


def _pack(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _joined(builder, args)


def _joined(builder: Any, numbers: Any) -> Any:
    made = ir.Constant(_VECTOR, ir.Undefined)
    for k, x in enumerate(numbers):
        made = builder.insert_element(made, x, _number(k))
    return made


def _four_floats(*args: Any) -> Any:
    return PACK if args == (types.float64,) * WIDTH else None


_operation(lanes.pack, _four_floats, (_pack, (types.Float,) * WIDTH))


def _taken_apart(builder: Any, x: Any) -> list[Any]:
    return [builder.extract_element(x, _number(k)) for k in range(WIDTH)]


def _lanes_of(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.make_tuple(builder, sig.return_type, _taken_apart(builder, args[0]))


_operation(
    lanes.lanes_of, lambda x: types.UniTuple(types.float64, WIDTH) if x is PACK else None, (_lanes_of, (PackType,))
)


def _add_lanes(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    total, x, count = args
    if sig.args[1] is not PACK:
        return builder.fadd(total, x)
    for k, number in enumerate(_taken_apart(builder, x)):
        is_in = builder.icmp_signed("<", ir.Constant(_WORD, k), count)
        total = builder.select(is_in, builder.fadd(total, number), total)
    return total


def _sum(total: Any, x: Any, count: Any) -> Any:
    ours = total == types.float64 and (x is PACK or x == types.float64)
    return types.float64 if ours and isinstance(count, types.Integer) else None


_operation(lanes.add_lanes, _sum, (_add_lanes, (types.Float, types.Any, types.Integer)))


# -------------------------------------------------------------------------------------------------------- arrays

_PLACES = types.UniTuple(types.int64, WIDTH)


def _is_place(kind: Any) -> bool:
    return kind == _PLACES or isinstance(kind, types.Integer)


def _check_array(array: Any, *ndims: int) -> None:
    if array.dtype != types.float64 or array.layout != "C" or array.ndim not in ndims:
        raise TypingError(f"packs are read from arrays of doubles without gaps, not from {array}")


def _reader(width: int) -> Callable[..., Any]:
    """What `at` (width 0), `three_at` and `four_at` return."""

    def resolve(array: Any, place: Any) -> Any:
        if not isinstance(array, types.Array) or not _is_place(place):
            return None
        _check_array(array, *{0: (1,), 3: (2,), 4: (1, 2)}[width])
        kind = PACK if place == _PLACES else types.float64
        return types.UniTuple(kind, width) if width else kind

    return resolve


def _places(builder: Any, kind: Any, value: Any) -> list[Any]:
    """The four places of a pack, or the one place."""
    return list(cgutils.unpack_tuple(builder, value)) if kind == _PLACES else [value]


def _pointers(context: Any, builder: Any, kinds: Any, values: Any) -> list[Any]:
    """Where the places of an array are: of rows, their first numbers."""
    array = context.make_array(kinds[0])(context, builder, values[0])
    columns = 1
    if kinds[0].ndim == 2:
        columns = builder.extract_value(array.shape, 1)
    pointers = []
    for place in _places(builder, kinds[1], values[1]):
        pointers.append(builder.gep(array.data, [place if columns == 1 else builder.mul(place, columns)]))
    return pointers


def _read(builder: Any, pointers: Any, column: int) -> Any:
    numbers = [builder.load(builder.gep(pointer, [ir.Constant(_WORD, column)])) for pointer in pointers]
    return numbers[0] if len(numbers) == 1 else _joined(builder, numbers)


def _at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _read(builder, _pointers(context, builder, sig.args, args), 0)


def _three_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointers = _pointers(context, builder, sig.args, args)
    return context.make_tuple(builder, sig.return_type, [_read(builder, pointers, k) for k in range(3)])


def _vector_at(builder: Any, pointer: Any) -> Any:
    return builder.load(builder.bitcast(pointer, _VECTOR.as_pointer()), align=_NUMBER_ALIGNED)


def _set_vector(builder: Any, x: Any, pointer: Any) -> None:
    builder.store(x, builder.bitcast(pointer, _VECTOR.as_pointer()), align=_NUMBER_ALIGNED)


def _transposed(builder: Any, rows: Any) -> list[Any]:
    """Four vectors of the first, second, third and fourth numbers of four."""

    def mixed(x: Any, y: Any, order: list[int]) -> Any:
        return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(_INDEX, WIDTH), order))

    low, high, halves, other_halves = [0, 4, 2, 6], [1, 5, 3, 7], [0, 1, 4, 5], [2, 3, 6, 7]
    a, b = mixed(rows[0], rows[1], low), mixed(rows[0], rows[1], high)
    c, d = mixed(rows[2], rows[3], low), mixed(rows[2], rows[3], high)
    return [mixed(a, c, halves), mixed(b, d, halves), mixed(a, c, other_halves), mixed(b, d, other_halves)]


def _four_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointers = _pointers(context, builder, sig.args, args)
    if len(pointers) == 1:
        numbers = [_read(builder, pointers, k) for k in range(4)]
    else:
        numbers = _transposed(builder, [_vector_at(builder, pointer) for pointer in pointers])
    return context.make_tuple(builder, sig.return_type, numbers)


for _function, _width, _lower in ((lanes.at, 0, _at), (lanes.three_at, 3, _three_at), (lanes.four_at, 4, _four_at)):
    _operation(
        _function, _reader(_width), (_lower, (types.Array, types.UniTuple)), (_lower, (types.Array, types.Integer))
    )


def _writes(width: int) -> Callable[..., Any]:
    def resolve(array: Any, place: Any, x: Any) -> Any:
        kind = PACK if place == _PLACES else types.float64
        if not isinstance(array, types.Array) or x != (types.UniTuple(kind, width) if width else kind):
            return None
        _check_array(array, 2 if width else 1)
        return types.none

    return resolve


def _write(builder: Any, pointers: Any, column: int, x: Any) -> None:
    numbers = [x] if len(pointers) == 1 else _taken_apart(builder, x)
    for pointer, number in zip(pointers, numbers, strict=True):
        builder.store(number, builder.gep(pointer, [ir.Constant(_WORD, column)]))


def _put_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    _write(builder, _pointers(context, builder, sig.args, args), 0, args[2])
    return context.get_dummy_value()


def _put_three_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointers = _pointers(context, builder, sig.args, args)
    for k, x in enumerate(cgutils.unpack_tuple(builder, args[2])):
        _write(builder, pointers, k, x)
    return context.get_dummy_value()


_operation(lanes.put_at, _writes(0), (_put_at, (types.Array, types.Any, types.Any)))
_operation(lanes.put_three_at, _writes(3), (_put_three_at, (types.Array, types.Any, types.UniTuple)))


def _adds_four(array: Any, place: Any, stride: Any, offset: Any, count: Any, x: Any) -> Any:
    kind = PACK if place == _PLACES else types.float64
    if not isinstance(array, types.Array) or x != types.UniTuple(kind, 4):
        return None
    _check_array(array, 1)
    return types.none


def _add_four_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = context.make_array(sig.args[0])(context, builder, args[0])
    (stride, offset, count), numbers = args[2:5], cgutils.unpack_tuple(builder, args[5])
    rows = [_joined(builder, numbers)] if sig.args[1] != _PLACES else _transposed(builder, numbers)
    for lane, (place, row) in enumerate(zip(_places(builder, sig.args[1], args[1]), rows, strict=True)):
        pointer = builder.gep(array.data, [builder.add(builder.mul(stride, place), offset)])
        if lane > 0:
            # A lane that is none adds to numbers that nobody reads: no jump, and the others wait for nothing.
            nowhere = builder.bitcast(cgutils.alloca_once(builder, _VECTOR), pointer.type)
            pointer = builder.select(builder.icmp_signed("<", ir.Constant(_WORD, lane), count), pointer, nowhere)
        _set_vector(builder, builder.fadd(_vector_at(builder, pointer), row), pointer)
    return context.get_dummy_value()


_operation(
    lanes.add_four_at,
    _adds_four,
    (_add_four_at, (types.Array, types.Any, types.Integer, types.Integer, types.Integer, types.UniTuple)),
)


def _pack_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    (pointer,) = _pointers(context, builder, sig.args, args)
    return _vector_at(builder, pointer)


def _add_pack_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    (pointer,) = _pointers(context, builder, sig.args, args)
    _set_vector(builder, builder.fadd(_vector_at(builder, pointer), args[2]), pointer)
    return context.get_dummy_value()


def _line(array: Any, place: Any, x: Any = None) -> Any:
    _check_array(array, 1)
    if not isinstance(place, types.Integer):
        return None
    return PACK if x is None else (types.none if x is PACK else None)


_operation(lanes.pack_at, _line, (_pack_at, (types.Array, types.Integer)))
_operation(lanes.add_pack_at, _line, (_add_pack_at, (types.Array, types.Integer, PackType)))


def _holds_packs(memory: Any) -> bool:
    return bool(memory.ndim == 2) and not is_for_threads()


def _memory(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
    array = context.make_array(kinds[0])(context, builder, values[0])
    width = ir.Constant(_WORD, WIDTH if _holds_packs(kinds[0]) else 1)
    return builder.gep(array.data, [builder.mul(values[1], width)])


def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer = _memory(context, builder, sig.args, args)
    return _vector_at(builder, pointer) if sig.return_type is PACK else builder.load(pointer)


def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    pointer, x = _memory(context, builder, sig.args, args), args[2]
    if _holds_packs(sig.args[0]):
        _set_vector(builder, _packs(context, builder, sig.args[2:], [x])[0], pointer)
    else:
        builder.store(x, pointer)
    return context.get_dummy_value()


def _loads(memory: Any, row: Any) -> Any:
    _check_array(memory, 1, 2)
    return PACK if _holds_packs(memory) else types.float64


def _stores(memory: Any, row: Any, x: Any) -> Any:
    _check_array(memory, 1, 2)
    return types.none if x == types.float64 or (x is PACK and _holds_packs(memory)) else None


_operation(lanes.load, _loads, (_load, (types.Array, types.Integer)))
_operation(lanes.store, _stores, (_store, (types.Array, types.Integer, types.Any)))
