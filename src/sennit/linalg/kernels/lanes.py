"""Operations on four neighbouring numbers of an array, as vector instructions.

Loops of four are unrolled into single operations before the compiler looks for vectors, so these are written in its
intermediate language. Every processor has them: where its vectors are shorter, they become several instructions.
"""

from __future__ import annotations

from llvmlite import ir

from sennit.compilation import CONTRACT, PLAIN, intrinsic

_VECTOR = ir.VectorType(ir.DoubleType(), 4)
_INDEX = ir.IntType(32)
_FLAGS = CONTRACT


def _address(context, builder, array_type, array, at):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())


def _vector(builder, four):
    """Vector of a tuple of four numbers; outside a loop if the numbers are."""
    vector = ir.Constant(_VECTOR, ir.Undefined)
    for lane in range(4):
        vector = builder.insert_element(vector, builder.extract_value(four, lane), ir.Constant(_INDEX, lane))
    return vector


def _minus_product(builder, total, x, y):
    return builder.fsub(total, builder.fmul(x, y, flags=_FLAGS), flags=_FLAGS)


@intrinsic
def add_four(typingctx, target, at, source, of):
    """``target[at:at + 4] += source[of:of + 4]``."""
    from numba.core import types

    def generate(context, builder, signature, arguments):
        there = _address(context, builder, signature.args[0], arguments[0], arguments[1])
        here = _address(context, builder, signature.args[2], arguments[2], arguments[3])
        builder.store(builder.fadd(builder.load(there, align=8), builder.load(here, align=8)), there, align=8)
        return context.get_dummy_value()

    return types.void(target, at, source, of), generate


def _less_products(builder, totals, data, of, columns):
    """Vectors `totals` less ``data[of + k]`` times the k-th of their four columns, one k after the other."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    everywhere = ir.Constant(ir.VectorType(_INDEX, 4), [0] * 4)
    for k in range(4):
        number = builder.load(builder.gep(data, [builder.add(of, ir.Constant(of.type, k))]))
        spread = builder.insert_element(undefined, number, ir.Constant(_INDEX, 0))
        spread = builder.shuffle_vector(spread, undefined, everywhere)
        totals = [
            _minus_product(builder, total, spread, _vector(builder, four[k]))
            for total, four in zip(totals, columns, strict=True)
        ]
    return totals


@intrinsic
def subtract_product(typingctx, array, at, of, b0, b1, b2, b3):
    """``array[at:at + 4] -= array[of] b0 + array[of + 1] b1 + array[of + 2] b2 + array[of + 3] b3``; b are 4-tuples."""
    from numba.core import types

    def generate(context, builder, signature, arguments):
        there = _address(context, builder, signature.args[0], arguments[0], arguments[1])
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        total = builder.load(there, align=8)
        (total,) = _less_products(builder, [total], data, arguments[2], [arguments[3:7]])
        builder.store(total, there, align=8)
        return context.get_dummy_value()

    return types.void(array, at, of, b0, b1, b2, b3), generate


@intrinsic
def subtract_two_products(typingctx, array, at, other, of, b0, b1, b2, b3, c0, c1, c2, c3):
    """`subtract_product` at ``at`` with b and at ``other`` with c, of the same four numbers."""
    from numba.core import types

    def generate(context, builder, signature, arguments):
        one = _address(context, builder, signature.args[0], arguments[0], arguments[1])
        two = _address(context, builder, signature.args[0], arguments[0], arguments[2])
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        totals = [builder.load(one, align=8), builder.load(two, align=8)]
        totals = _less_products(builder, totals, data, arguments[3], [arguments[4:8], arguments[8:12]])
        builder.store(totals[0], one, align=8)
        builder.store(totals[1], two, align=8)
        return context.get_dummy_value()

    return types.void(array, at, other, of, b0, b1, b2, b3, c0, c1, c2, c3), generate


@intrinsic
def divide_four(typingctx, array, at, l0, l1, l2, r):
    """``x = array[at:at + 4]`` is divided by a unit triangle, then scaled; all 4-tuples.

    For k = 0, 1, 2 in turn ``x -= x[k] l_k``, where l_k is zero up to lane k; then ``x *= r``.
    """
    from numba.core import types

    def generate(context, builder, signature, arguments):
        there = _address(context, builder, signature.args[0], arguments[0], arguments[1])
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        x = builder.load(there, align=8)
        for k in range(3):
            spread = builder.shuffle_vector(x, undefined, ir.Constant(ir.VectorType(_INDEX, 4), [k] * 4))
            x = _minus_product(builder, x, spread, _vector(builder, arguments[2 + k]))
        builder.store(builder.fmul(x, _vector(builder, arguments[5])), there, align=8)
        return context.get_dummy_value()

    return types.void(array, at, l0, l1, l2, r), generate


if PLAIN:

    def add_four(target, at, source, of):
        for k in range(4):
            target[at + k] += source[of + k]

    def subtract_product(array, at, of, b0, b1, b2, b3):
        x0, x1, x2, x3 = array[of], array[of + 1], array[of + 2], array[of + 3]
        for k in range(4):
            array[at + k] = (((array[at + k] - x0 * b0[k]) - x1 * b1[k]) - x2 * b2[k]) - x3 * b3[k]

    def subtract_two_products(array, at, other, of, b0, b1, b2, b3, c0, c1, c2, c3):
        subtract_product(array, at, of, b0, b1, b2, b3)
        subtract_product(array, other, of, c0, c1, c2, c3)

    def divide_four(array, at, l0, l1, l2, r):
        x = [array[at + k] for k in range(4)]
        for k, column in enumerate((l0, l1, l2)):
            pivot = x[k]
            x = [x[i] - pivot * column[i] for i in range(4)]
        for i in range(4):
            array[at + i] = x[i] * r[i]
