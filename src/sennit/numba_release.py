"""Which release of Numba there is, and what is asked of it both by whole programs and by plain Numba.

`whole_program` and `python_entry` reach into Numba's private parts when they are imported: that a release moved one of
them must not be an `ImportError`. So nothing private is imported here at module level, and they are imported only if
`is_known`. Else kernels are compiled by plain ``njit``, for which `lane_types`, `table_types` and
`cosserat.kernels.lane_types` still need what Numba documents for extensions and a little more: ``pyproject.toml`` asks
for releases with which that was tried.
"""

from __future__ import annotations

import contextlib
import functools
import struct
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from sennit.machine_code import fits_this_python

__all__ = [
    "KNOWN_RELEASES",
    "TOLERANCE",
    "for_threads",
    "is_for_threads",
    "is_known",
    "is_lowering",
    "type_of_intrinsic",
    "type_of_tolerance",
    "watch",
]

KNOWN_RELEASES = ("0.68",)
"""Of Numba."""


def _unwatched(units: int) -> None:
    pass


watch: Callable[[int], None] = _unwatched
"""Called while whole programs are compiled, with what was done: 2 for each function that was lowered, and 1 for each
function of a program that became machine code, which takes about half as long. Plain Numba calls it never."""


@functools.cache
def is_known() -> bool:
    """Whether `whole_program` knows this release of Numba, and Python's objects lie as they should; says so if not."""
    import numba

    if numba.__version__.rpartition(".")[0] in KNOWN_RELEASES and fits_this_python():
        return True
    warnings.warn(
        f"Numba {numba.__version__} with this Python is not known to sennit, which knows {', '.join(KNOWN_RELEASES)}: "
        f"kernels take about twice as long to compile, and a second more to load",
        RuntimeWarning,
        stacklevel=2,
    )
    return False


def is_lowering() -> bool:
    """Whether Numba now compiles for a whole program. Only the thread that holds Numba's lock may ask."""
    whole_program = sys.modules.get("sennit.whole_program")
    return whole_program is not None and whole_program.is_lowering()


_for_threads = False


def is_for_threads() -> bool:
    """Whether what is compiled now is a program of a graphics card: see `gpu_program`."""
    return _for_threads


@contextlib.contextmanager
def for_threads() -> Iterator[None]:
    """What is compiled meanwhile is such a program. Only the thread that holds Numba's lock may say so."""
    global _for_threads
    _for_threads = True
    try:
        yield
    finally:
        _for_threads = False


def type_of_intrinsic(function: Callable[..., Any]) -> Any:
    """Numba's type of an operation that is written in LLVM's language."""
    from numba.core import types
    from numba.core.typing.templates import make_intrinsic_template
    from numba.extending import intrinsic

    made = intrinsic(function)
    make: Any = make_intrinsic_template
    return types.Function(make(made, function, function.__name__))


TOLERANCE = "sennit.tolerance."
"""Name of functions of threaded programs that are a number, ``double TOLERANCE bits.bits()``."""


def type_of_tolerance(double: float, float32: float) -> Any:
    """Numba's type of a number that is another one in float32: see `compilation.tolerance`."""

    def tolerance(typing_context: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils, types

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if not is_for_threads():
                return ir.Constant(ir.DoubleType(), double)
            bits = ".".join(struct.pack(">d", number).hex() for number in (double, float32))
            kind, name = ir.FunctionType(ir.DoubleType(), []), f"{TOLERANCE}{bits}"
            return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [])

        return types.float64(), generate

    return type_of_intrinsic(tolerance)
