"""Kernels: how they are compiled, and how Python calls them.

A kernel is compiled at its first call, for the kinds of its arguments, as a whole program (`whole_program`), and kept
on disk (`kernel_cache`), unless it came with the wheel (`shipped_kernels`). The next process loads what was kept
(`machine_code`) and never imports Numba, which is why nothing here does so at module level.

``SENNIT_KERNELS`` says how, in words joined by "-"::

    python   kernels stay plain Python, for debuggers and for comparisons of bits (a thousand times slower)
    strict   without fused multiply-adds, which move with what LLVM inlines
    numba    by plain ``njit``, each kernel by itself: the reference for whole programs
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import threading
from collections.abc import Callable
from typing import Any, cast

from sennit import numba_release
from sennit.kernel_arguments import Kind, NotForKernels, description, exact, kind_of
from sennit.kernel_cache import MODE, cache_folder, keep_code, kept_code, kernel_folder, part_of
from sennit.shipped_kernels import shipped_code

__all__ = [
    "CONTRACT",
    "ONE_BY_ONE",
    "PLAIN",
    "Kernel",
    "cache_folder",
    "inlined",
    "intrinsic",
    "kernel",
    "kernel_folder",
    "left_to_numba",
    "loaded_files",
    "merged",
    "overload",
    "parallel",
    "prange",
    "single",
    "tolerance",
]

_WORDS = frozenset(MODE.split("-"))

PLAIN = "python" in _WORDS
"""Whether kernels are left as they are written."""
ONE_BY_ONE = "numba" in _WORDS
"""Whether each is compiled by itself, by plain Numba."""

CONTRACT: tuple[str, ...] = () if "strict" in _WORDS else ("contract",)
"""What LLVM may do with sums and products beyond the letter: fuse them."""
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": set(CONTRACT) or False,
    "no_cfunc_wrapper": True,  # nobody calls kernels through pointers
}
_MERGED = {"inline": "always"}

loaded_files: set[tuple[str, str]] = set()
"""Part and name of each object file that this process loaded or made."""
left_to_numba: set[str] = set()
"""Kernels that were called and left to plain Numba: no object file can be kept of them."""

_compiling = threading.RLock()


class Kernel:
    """A function that is compiled at its first call, for each kind of arguments by itself."""

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], *, kept: bool) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.targetoptions = options
        """Numba asks for both where kernels call each other."""
        self.origins: dict[tuple[Kind, ...], str] = {}
        """Where each signature's machine code came from: "wheel", "disk", "compiled", or "numba" for plain Numba's."""
        self._kept = kept
        self._entries: dict[tuple[Kind, ...], Callable[..., Any]] = {}
        self._choose = self._chosen  # one object, whose address machine code holds
        self._code: Callable[..., Any] = self._choose
        self._sole = ONE_BY_ONE or bool(options.get("parallel"))
        self.single: Kernel | None = None
        """What stands for it in programs of a graphics card: see `single`."""

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code of the last call's signature, which turns to `_chosen` if it does not fit."""
        return self._code(*arguments)

    def prepare(self, *kinds: Kind) -> bool:
        """Have machine code for arguments of these kinds, here and on disk, without a call. Returns whether there is
        some: plain Numba compiles when it is called.
        """
        if self._sole:
            return False
        with _compiling:
            if kinds not in self._entries:
                self._entries[kinds] = self._entry(kinds)
            return self.origins[kinds] != "numba"

    def __reduce__(self) -> str:
        return self.__qualname__  # it is where it was defined, in every process

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self.__qualname__}>"

    def _chosen(self, *arguments: Any) -> Any:
        """Find machine code for these arguments, and run it."""
        if self._sole:
            self._code = self.plain
            return self._code(*arguments)
        try:
            kinds = tuple(map(kind_of, arguments))
        except NotForKernels:
            left_to_numba.add(self.__qualname__)
            return self.plain(*arguments)
        if kinds not in self._entries:
            self.prepare(*kinds)
        code = self._entries[kinds]
        if self.origins[kinds] == "numba":
            left_to_numba.add(self.__qualname__)
            return code(*arguments)
        self._code = code
        return code(*map(exact, arguments, kinds))

    def _entry(self, kinds: tuple[Kind, ...]) -> Callable[..., Any]:
        """Machine code from disk, or a new one."""
        from sennit.machine_code import fits_this_python, loaded

        part, name = part_of(self.__module__), f"{self.__module__}.{self.__qualname__}"
        if part is None:
            name += f"-{id(self)}"  # outside the package, two may be called the same
        digest = hashlib.sha256(f"{name}({', '.join(map(description, kinds))})".encode()).hexdigest()[:16]
        name, symbol = f"{name}-{digest}", f"sennit_{digest}"
        code, origin = None, "wheel"
        if part is not None and fits_this_python():
            code = shipped_code(part, name)
            if code is None:
                code, origin = kept_code(part, name), "disk"
        if code is None:
            if numba_release.is_known():
                from sennit import whole_program  # which a release that is not known may refuse

                code = whole_program.compiled_entry(self.lowered, symbol, kinds)
            origin = "compiled"
            if code is None:
                self.origins[kinds] = "numba"
                return self.plain  # type: ignore[no-any-return]
            if part is not None:
                keep_code(part, name, code)
        if part is not None:
            loaded_files.add((part, name))
        self.origins[kinds] = origin
        return loaded(code, symbol, self.__name__, kinds, self._choose)

    # What Numba sees of it

    @property
    def _numba_type_(self) -> Any:
        if numba_release.is_lowering():
            return (self.threaded if numba_release.is_for_threads() else self.lowered)._numba_type_
        return self.plain._numba_type_

    @functools.cached_property
    def lowered(self) -> Any:
        """Numba's function for whole programs."""
        return _dispatcher(self.py_func, self.targetoptions)

    @functools.cached_property
    def threaded(self) -> Any:
        """Numba's function for programs of a graphics card."""
        return self.single.threaded if self.single else _dispatcher(self.py_func, self.targetoptions)

    @functools.cached_property
    def plain(self) -> Any:
        """Numba's function for plain Numba, which keeps its machine code itself."""
        made = _dispatcher(self.py_func, self.targetoptions)
        if self._kept and part_of(self.__module__) is not None:
            with contextlib.suppress(ImportError):  # from a release that moved its parts: each process compiles
                from sennit.numba_cache import NumbaCache

                made._cache = NumbaCache(self.py_func)
        return made


def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    import numba

    from sennit import lane_types, table_types  # noqa: F401  tell Numba what packs and tables are

    for declare in _declarations:
        declare()
    _declarations.clear()
    if options.get("parallel"):
        function.__globals__["prange"] = numba.prange
    return numba.njit(**options)(function)


_declarations: list[Callable[[], object]] = []
"""What Numba is to be told when it is next asked to compile."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call, without the GIL, and keep the machine code on disk.

    ``fastmath={'contract'}`` allows fused multiply-adds only: NaN, infinity and the order of sums keep their meaning.

    Kernels make no arrays, so that Numba's counting of the uses of arrays, a good part of a scene's step, is left out.
    One that does make arrays does not compile: what it needs room for comes from its caller.
    """
    return function if PLAIN else Kernel(function, _OPTIONS | {"_nrt": False}, kept=True)


def inlined(function: Callable[..., Any]) -> Any:
    """Like `kernel`, for a function that other kernels call in their innermost loops.

    Its code always goes into the caller's: a loop that contains a call does not become vector instructions.
    """
    return function if PLAIN else Kernel(function, _OPTIONS | {"_nrt": False, "forceinline": True}, kept=False)


def merged(function: Callable[..., Any]) -> Any:
    """For a part of one large kernel: it is copied into its caller before compilation, and never compiled alone."""
    return function if PLAIN else Kernel(function, _MERGED, kept=False)


def single(replaced: Any) -> Callable[[Any], Any]:
    """Let a kernel stand for `replaced` in programs of a graphics card (`gpu_program`), with one row where that one has
    a pack of four (`lanes`): a thread there has no vector registers, and four rows at once do not fit into its own.
    """

    def decorate(function: Any) -> Any:
        if not PLAIN:
            replaced.single = function
        return function

    return decorate


class _Tolerance:
    """A number that kernels ask for by a call: another one where they compute with float32."""

    def __init__(self, double: float, float32: float) -> None:
        self.double, self.float32 = double, float32

    def __call__(self) -> float:
        return self.double

    @functools.cached_property
    def _numba_type_(self) -> Any:
        return numba_release.type_of_tolerance(self.double, self.float32)


def tolerance(double: float, float32: float) -> Any:
    """A limit that depends on how numbers round: ``LIMIT = tolerance(1e-12, 1e-5)``, of which kernels say ``LIMIT()``.

    `float32` is what it is in programs that compute with 24 bits (`gpu_program`).
    """
    return _Tolerance(double, float32)


prange = range
"""The turns of a loop that `parallel` shares among cores."""

_one_parallel_loop = threading.Lock()


def parallel(function: Callable[..., Any]) -> Any:
    """Like `kernel`, but it may make arrays, and the turns of its ``prange`` loops are shared among the cores.

    It is called from Python alone, one such call at a time: the plainest of Numba's ways to share loops ends the
    program when two threads begin at once. Keep a loop's body in a `kernel` of its own, which compiles faster. It needs
    Numba's library when it runs, and is compiled by plain Numba.
    """
    if PLAIN:
        return function
    compiled = Kernel(function, _OPTIONS | {"parallel": True}, kept=True)

    @functools.wraps(function)
    def alone(*arguments: Any) -> Any:
        left_to_numba.add(function.__qualname__)
        with _one_parallel_loop:
            return compiled(*arguments)

    return alone


class _Intrinsic:
    """An operation in LLVM's language, which Numba is told of when a kernel that uses it is compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @functools.cached_property
    def _numba_type_(self) -> Any:
        return numba_release.type_of_intrinsic(self._function)


def intrinsic(function: Callable[..., Any]) -> Any:
    """``numba.extending.intrinsic``, for a function whose body imports what it needs of Numba."""
    return _Intrinsic(function)


def overload(replaced: Callable[..., Any], **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``numba.extending.overload`` with the options of kernels: what to compile where a kernel calls `replaced`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def declare() -> None:
            from numba.extending import overload as numba_overload

            own = {key: _OPTIONS[key] for key in ("error_model", "fastmath")}
            numba_overload(replaced, jit_options=cast(Any, own | options))(function)

        _declarations.append(declare)
        return function

    return decorate
