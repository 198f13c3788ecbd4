"""Which thread a kernel runs in: for kernels that a graphics card runs in many threads at once (`gpu_program`).

In plain Python `running_as` says which one it is, so that one can walk through what a thread does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from sennit.compilation import PLAIN, intrinsic

__all__ = ["THREAD", "running_as", "thread"]

THREAD = "sennit.thread"
"""Name of the function of threaded programs, i64 THREAD(), that is the number of the thread."""

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


@intrinsic
def thread(typing_context: Any) -> Any:
    """Number of the thread among all of a launch, from 0 on: for threaded programs alone."""
    from llvmlite import ir
    from numba.core import cgutils, types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(64), [])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, THREAD), [])

    return types.int64(), generate


if PLAIN:

    def thread() -> int:  # noqa: F811
        return _now
