"""Which thread a kernel runs in: for kernels that a graphics card runs in many threads at once (`gpu_program`).

In plain Python `running_as` says which one it is, so that one can walk through what a thread does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from sennit.compilation import PLAIN, intrinsic

__all__ = ["HIDDEN", "THREAD", "hidden", "read_word", "running_as", "thread", "write_word"]

THREAD = "sennit.thread"
"""Name of the function of threaded programs, i64 THREAD(), that is the number of the thread."""

HIDDEN = "sennit.hidden"
"""Name of the function of threaded programs, i64 HIDDEN(i64), that is its argument."""

_now = 0


@contextlib.contextmanager
def running_as(number: int) -> Iterator[None]:
    """Kernels in plain Python run as this thread meanwhile."""
    global _now
    before, _now = _now, number
    try:
        yield
    finally:
        _now = before


def _asked(builder: Any, name: str, arguments: Any) -> Any:
    """What a function of words answers, which `gpu_program` writes."""
    from llvmlite import ir
    from numba.core import cgutils

    word = ir.IntType(64)
    insert: Any = cgutils.get_or_insert_function
    function = insert(builder.module, ir.FunctionType(word, [word] * len(arguments)), name)
    return builder.call(function, arguments)


@intrinsic
def thread(typing_context: Any) -> Any:
    """Number of the thread among all of a launch, from 0 on: for threaded programs alone."""
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _asked(builder, THREAD, [])

    return types.int64(), generate


def _pretended() -> int:
    return _now


if PLAIN:
    thread = _pretended


@intrinsic
def hidden(typing_context: Any, address: Any) -> Any:
    """The same address. Nothing that is read there is read before what comes before: blocks of tables count as never
    written (`table_types`), also where a kernel has just written them.
    """
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _asked(builder, HIDDEN, arguments)

    return types.int64(types.int64), generate


@intrinsic
def read_word(typing_context: Any, address: Any) -> Any:
    """The word of 8 bytes at an address."""
    from llvmlite import ir
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))

    return types.int64(types.int64), generate


@intrinsic
def write_word(typing_context: Any, address: Any, word: Any) -> Any:
    """Write the word of 8 bytes at an address."""
    from llvmlite import ir
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[1], builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate
