"""The function of an object file that Python calls: takes arguments apart, calls the kernel, makes an object of what
it returns.

Arguments are compared with the types that the kernel was compiled for; if one is of another, all are handed on to
Python, which chooses. An array is read where it lies, from the object's own words (`machine_code.fits_this_python`
holds that they are where they are looked for); a table is asked for its address. Python's lock is let go meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from sennit.kernel_arguments import Array, Kind, Several, expected

__all__ = ["CannotReturn", "add_entry"]

_WORD, _INT, _DOUBLE, _VOID = ir.IntType(64), ir.IntType(32), ir.DoubleType(), ir.VoidType()
_OBJECT = ir.IntType(8).as_pointer()
_SIGNATURES = {
    "PyBool_FromLong": (_OBJECT, _WORD),
    "PyErr_Occurred": (_OBJECT,),
    "PyErr_SetString": (_VOID, _OBJECT, _OBJECT),
    "PyEval_RestoreThread": (_VOID, _OBJECT),
    "PyEval_SaveThread": (_OBJECT,),
    "PyFloat_AsDouble": (_DOUBLE, _OBJECT),
    "PyFloat_FromDouble": (_OBJECT, _DOUBLE),
    "PyLong_AsLongLong": (_WORD, _OBJECT),
    "PyLong_FromLongLong": (_OBJECT, _WORD),
    "PyLong_FromUnsignedLongLong": (_OBJECT, _WORD),
    "PyObject_GetAttr": (_OBJECT, _OBJECT, _OBJECT),
    "PyObject_IsTrue": (_INT, _OBJECT),
    "PyObject_Vectorcall": (_OBJECT, _OBJECT, _OBJECT.as_pointer(), _WORD, _OBJECT),
    "PyTuple_New": (_OBJECT, _WORD),
    "PyTuple_SetItem": (_INT, _OBJECT, _WORD, _OBJECT),
    "Py_DecRef": (_VOID, _OBJECT),
    "Py_IncRef": (_VOID, _OBJECT),
}

# Bytes from the beginning of an object, of an array and of a tuple.
_TYPE, _DATA, _NDIM, _SHAPE, _STRIDES, _DTYPE, _FLAGS = 8, 16, 24, 32, 40, 56, 64
_LENGTH, _ITEMS = 16, 24
_ROWS, _COLUMNS = 1, 2
_MASK = {"C": _ROWS, "F": _ROWS | _COLUMNS, "A": _ROWS | _COLUMNS}
_FLAG = {"C": _ROWS, "F": _COLUMNS, "A": 0}

_OTHERWISE, _NONE, _ERROR, _FIRST_FACT = 0, 1, 2, 3


class CannotReturn(Exception):
    """What a kernel returns is nothing that Python could be given: its signature."""


class _Writer:
    """The instructions of one entry."""

    def __init__(self, context: Any, module: ir.Module, symbol: str) -> None:
        self.context, self.module = context, module
        kind = ir.FunctionType(_OBJECT, [_OBJECT, _OBJECT.as_pointer(), _WORD])
        self.function = ir.Function(module, kind, symbol)
        own, self.arguments, self.count = self.function.args
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.facts = self.load(own, _DATA, _OBJECT)
        self.other = self.function.append_basic_block("other")
        self.failed = self.function.append_basic_block("failed")
        self.builder.position_at_end(self.other)
        again = (self.fact(_OTHERWISE), self.arguments, self.count, _OBJECT(None))
        self.builder.ret(self.call("PyObject_Vectorcall", *again))
        self.builder.position_at_end(self.failed)
        self.builder.ret(_OBJECT(None))
        self.builder.position_at_end(self.function.entry_basic_block)

    def call(self, name: str, *values: Any) -> Any:
        result, *kinds = _SIGNATURES[name]
        function = cgutils.get_or_insert_function(self.module, ir.FunctionType(result, kinds), name)
        return self.builder.call(function, values)

    def load(self, place: Any, offset: int, kind: Any) -> Any:
        at = self.builder.gep(place, [_WORD(offset)])
        return self.builder.load(self.builder.bitcast(at, kind.as_pointer()))

    def fact(self, number: int) -> Any:
        return self.load(self.facts, 8 * number, _OBJECT)

    def need(self, true: Any, otherwise: Any) -> None:
        """Go on if a condition holds, else to another block."""
        following = self.builder.append_basic_block("checked")
        self.builder.cbranch(true, following, otherwise)
        self.builder.position_at_end(following)

    def same(self, a: Any, b: Any) -> Any:
        return self.builder.icmp_unsigned("==", a, b)

    # Arguments

    def check(self, kind: Kind, value: Any, facts: Iterator[int]) -> None:
        """Compare the types of an argument."""
        b = self.builder
        own = self.load(value, _TYPE, _OBJECT)
        if isinstance(kind, Several):
            self.need(self.same(own, self.fact(next(facts))), self.other)
            self.need(self.same(self.load(value, _LENGTH, _WORD), _WORD(len(kind.kinds))), self.other)
            for k, inner in enumerate(kind.kinds):
                self.check(inner, self.load(value, _ITEMS + 8 * k, _OBJECT), facts)
        elif isinstance(kind, Array):
            self.need(self.same(own, self.fact(next(facts))), self.other)
            self.need(self.same(self.load(value, _DTYPE, _OBJECT), self.fact(next(facts))), self.other)
            self.need(self.same(self.load(value, _NDIM, _INT), _INT(kind.ndim)), self.other)
            flags = b.and_(self.load(value, _FLAGS, _INT), _INT(_MASK[kind.layout]))
            self.need(self.same(flags, _INT(_FLAG[kind.layout])), self.other)
        elif kind in (int, float, bool):
            python, numpy = self.fact(next(facts)), self.fact(next(facts))
            self.need(b.or_(self.same(own, python), self.same(own, numpy)), self.other)
        else:
            self.need(self.same(own, self.fact(next(facts))), self.other)
            for _ in expected(kind)[1:]:
                next(facts)

    def whole_number(self, value: Any) -> Any:
        number = self.call("PyLong_AsLongLong", value)
        suspicious, following = (self.builder.append_basic_block(name) for name in ("minus_one", "number"))
        self.builder.cbranch(self.same(number, _WORD(-1)), suspicious, following)
        self.builder.position_at_end(suspicious)
        self.builder.cbranch(self.same(self.call("PyErr_Occurred"), _OBJECT(None)), following, self.failed)
        self.builder.position_at_end(following)
        return number

    def take(self, kind: Kind, own: Any, value: Any, facts: Iterator[int]) -> Any:
        """The value of an argument, as the kernel's type `own` has it."""
        b = self.builder
        if isinstance(kind, Several):
            next(facts)
            parts = [
                self.take(inner, own[k], self.load(value, _ITEMS + 8 * k, _OBJECT), facts)
                for k, inner in enumerate(kind.kinds)
            ]
            return self.context.make_tuple(b, own, parts)
        numbers = [next(facts) for _ in expected(kind)]
        if isinstance(kind, Array):
            return self.array(own, value)
        if kind is int:
            return self.whole_number(value)
        if kind is float:
            return self.call("PyFloat_AsDouble", value)
        if kind is bool:
            return b.icmp_signed("!=", self.call("PyObject_IsTrue", value), _INT(0))
        if kind is type(None):
            return self.context.get_dummy_value()
        words = []
        for number in numbers[1:]:
            attribute = self.call("PyObject_GetAttr", value, self.fact(number))
            self.need(b.icmp_unsigned("!=", attribute, _OBJECT(None)), self.failed)
            words.append(self.whole_number(attribute))
            self.call("Py_DecRef", attribute)
        return self.handed_over(own, words)

    def handed_over(self, own: Any, words: list[Any]) -> Any:
        """A table: an address, or a structure of an address and numbers."""
        b, kind = self.builder, self.context.get_value_type(own)
        if isinstance(kind, ir.PointerType):
            return b.inttoptr(words[0], kind)
        made = ir.Constant(kind, ir.Undefined)
        for k, (word, element) in enumerate(zip(words, kind.elements, strict=True)):
            part = b.inttoptr(word, element) if isinstance(element, ir.PointerType) else word
            made = b.insert_value(made, part, k)
        return made

    def array(self, own: Any, value: Any) -> Any:
        b, n = self.builder, own.ndim
        made = self.context.make_array(own)(self.context, b)
        shape, strides = (self.load(value, place, _OBJECT) for place in (_SHAPE, _STRIDES))
        lengths = [self.load(shape, 8 * axis, _WORD) for axis in range(n)]
        items = _WORD(1)
        for length in lengths:
            items = b.mul(items, length)
        made.meminfo = cgutils.get_null_value(made.meminfo.type)
        made.parent = cgutils.get_null_value(made.parent.type)
        made.nitems = items
        made.itemsize = _WORD(own.dtype.bitwidth // 8)
        made.data = b.bitcast(self.load(value, _DATA, _OBJECT), made.data.type)
        made.shape = cgutils.pack_array(b, lengths, ty=_WORD)
        made.strides = cgutils.pack_array(b, [self.load(strides, 8 * axis, _WORD) for axis in range(n)], ty=_WORD)
        return made._getvalue()

    # What comes back

    def give(self, own: Any, value: Any) -> Any:
        """An object of a value of type `own`."""
        b = self.builder
        own = types.unliteral(own)
        if isinstance(own, types.NoneType):
            self.call("Py_IncRef", self.fact(_NONE))
            return self.fact(_NONE)
        if isinstance(own, types.Boolean):
            return self.call("PyBool_FromLong", b.zext(value, _WORD))
        if isinstance(own, types.Integer):
            name, wider = ("PyLong_FromLongLong", b.sext) if own.signed else ("PyLong_FromUnsignedLongLong", b.zext)
            return self.call(name, wider(value, _WORD) if own.bitwidth < 64 else value)
        if isinstance(own, types.Float):
            return self.call("PyFloat_FromDouble", b.fpext(value, _DOUBLE) if own.bitwidth < 64 else value)
        if isinstance(own, types.BaseAnonymousTuple):
            made = self.call("PyTuple_New", _WORD(len(own)))
            for k, inner in enumerate(own.types):
                self.call("PyTuple_SetItem", made, _WORD(k), self.give(inner, b.extract_value(value, k)))
            return made
        raise CannotReturn(str(own))


def _numbers(first: int) -> Iterator[int]:
    while True:
        yield first
        first += 1


def add_entry(module: ir.Module, symbol: str, context: Any, description: Any, kinds: tuple[Kind, ...]) -> None:
    """Write the entry `symbol` into `module`, for a kernel that Numba has described (``fndesc``)."""
    writer = _Writer(context, module, symbol)
    b = writer.builder
    writer.need(writer.same(writer.count, _WORD(len(kinds))), writer.other)
    given = [b.load(b.gep(writer.arguments, [_WORD(k)])) for k in range(len(kinds))]
    facts = _numbers(_FIRST_FACT)
    for kind, value in zip(kinds, given, strict=True):
        writer.check(kind, value, facts)
    facts = _numbers(_FIRST_FACT)
    own = description.argtypes
    values = [writer.take(kind, own[k], given[k], facts) for k, kind in enumerate(kinds)]
    kernel = ir.Function(
        module, context.call_conv.get_function_type(description.restype, own), description.llvm_func_name
    )
    thread = writer.call("PyEval_SaveThread")
    status, result = context.call_conv.call_function(b, kernel, description.restype, own, values)
    writer.call("PyEval_RestoreThread", thread)
    with b.if_then(status.is_error, likely=False):
        text = context.insert_const_string(module, f"the kernel {description.qualname} failed")
        writer.call("PyErr_SetString", writer.fact(_ERROR), text)
        b.ret(_OBJECT(None))
    b.ret(writer.give(description.restype, result))
