"""Kernels compiled as one program: each entry, a kernel that Python calls, is linked with all that it calls, optimised
once and made machine code once.

Numba by itself optimises a callee's library, links it into each caller, optimises it again and makes machine code of it
again, with a wrapper for Python around each: five times the work, and functions that stay apart. Here callees are typed
and lowered only (`_Lowered`). An entry's modules are linked, all functions in them become internal, and LLVM sees the
program as a whole.

All that touches Numba's private parts is here, in `python_entry`, `lane_types`, `table_types`, `numba_cache` and
`cosserat.kernels.lane_types`. Whole programs are known to work with the releases of Numba that `numba_release` knows,
which is asked before this file is imported; with others, kernels are compiled by plain ``njit``.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import operator
from collections.abc import Hashable, Iterator
from typing import Any, cast

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.targetconfig import TargetConfig

from sennit import numba_release
from sennit.kernel_arguments import Array, Kind, Several
from sennit.machine_code import is_resolved, relocation
from sennit.numba_release import for_threads, is_for_threads
from sennit.processor import host, target
from sennit.python_entry import CannotReturn, add_entry

__all__ = ["compiled_entry", "is_lowering", "native_machine", "threaded_program"]

# Functions that are lowered, no more


class _Lowered(JITCodeLibrary):
    """A function that is typed and lowered: its text waits for the programs that it becomes part of."""

    def __init__(self, codegen: Any, name: str) -> None:
        super(CPUCodeLibrary, self).__init__(codegen, name)
        self._linking_libraries: list[Any] = []
        self._texts: list[str] = []
        self._bitcode: bytes | None = None
        self._shared_module = None

    def add_ir_module(self, ir_module: Any) -> None:
        self._texts.append(cgutils.normalize_ir_text(str(ir_module)))

    def add_llvm_module(self, ll_module: Any) -> None:
        self._texts.append(str(ll_module))

    def finalize(self) -> None:
        self._finalized = True
        numba_release.watch(2)

    def get_pointer_to_function(self, name: str) -> int:
        return 0  # nobody calls it from Python

    def module(self) -> Any:
        """Its own functions, in a new module."""
        if self._bitcode is None:
            made = _linked([llvm.parse_assembly(text) for text in self._texts])
            self._bitcode, self._texts = made.as_bitcode(), []
            return made
        return llvm.parse_bitcode(self._bitcode)

    def _get_module_for_linking(self) -> Any:
        """What plain Numba links into a caller: with all callees, as its own libraries have them."""
        if self._shared_module is None:
            self._shared_module = _program(self)
            for function in self._shared_module.functions:
                if not function.is_declaration:
                    function.linkage = "linkonce_odr"
        return self._shared_module


def _reached(library: Any) -> list[Any]:
    """A library and all that it calls, directly or not."""
    found = {id(library): library}
    pending = [library]
    while pending:
        for other in pending.pop()._linking_libraries:
            if id(other) not in found:
                found[id(other)] = other
                pending.append(other)
    return list(found.values())


def _program(library: Any) -> Any:
    """The modules of a library and of all that it calls, linked: every function in it once."""
    modules = []
    for part in _reached(library):
        own = isinstance(part, _Lowered)
        module = part.module() if own else part._get_module_for_linking().clone()
        for function in module.functions:
            if not function.is_declaration:
                function.linkage = "weak_odr"  # the same in two libraries is one; "linkonce" would be left out
        modules.append(module)
    return _linked(modules)


def _linked(modules: list[Any]) -> Any:
    """One module of many, in pairs: LLVM looks through the whole of what it links to, each time."""
    while len(modules) > 1:
        pairs = [modules[k : k + 2] for k in range(0, len(modules), 2)]
        for first, *second in pairs:
            for module in second:
                first.link_in(module)
        modules = [first for first, *_ in pairs]
    return modules[0]


_depth = 0


def is_lowering() -> bool:
    """Whether Numba now compiles for a whole program. Only the thread that holds Numba's lock may ask."""
    return _depth > 0


@contextlib.contextmanager
def _lowering() -> Iterator[Any]:
    """Functions that Numba compiles meanwhile are lowered only: no wrappers, no passes, no machine code."""
    global _depth
    context = cpu_target.target_context
    context.refresh()
    rtsys.initialize(context)
    codegen = context.codegen()
    pace, config, operations = gc.get_threshold(), cast(Any, TargetConfig), cast(Any, types.BaseFunction)
    compare, resolve = (config.__hash__, config.__eq__), operations.get_call_type
    gc.set_threshold(300_000, 10**6)  # the heap is large and keeps growing: to look through what is old costs a tenth
    config.__hash__, config.__eq__ = _hash_of_flags, _flags_are_equal
    operations.get_call_type = _remembering(resolve)
    contexts, find = cast(Any, BaseContext), BaseContext.get_function
    contexts.get_function = _giving_up_at_once(find)
    _depth += 1
    codegen._library_class = _Lowered
    context.create_cpython_wrapper = context.create_cfunc_wrapper = lambda *_, **__: None
    codegen.set_env = lambda *_: None  # objects that a function needs, which is Python's: kernels have none
    try:
        yield context
    finally:
        _depth -= 1
        del codegen._library_class, codegen.set_env, context.create_cpython_wrapper, context.create_cfunc_wrapper
        contexts.get_function = find
        config.__hash__, config.__eq__ = compare
        operations.get_call_type = resolve
        gc.set_threshold(*pace)


@functools.cache
def _hash_of_options(kind: Hashable) -> int:
    return hash(tuple(sorted(cast(Any, kind).options)))


def _hash_of_flags(flags: Any) -> int:
    """What Numba finds each time, at a tenth of the cost of typing: it depends on the names of options alone."""
    return _hash_of_options(cast(Hashable, type(flags)))


def _flags_are_equal(flags: Any, other: Any) -> bool:
    """The same as Numba's, which compares what is set on neither side, too."""
    if type(flags) is not type(other):
        return isinstance(other, TargetConfig) and flags.values() == other.values()
    return flags._values == other._values or all(
        getattr(flags, name) == getattr(other, name) for name in flags._values.keys() | other._values.keys()
    )


_OPERATORS = frozenset(value for value in vars(operator).values() if callable(value))
_known_operations: dict[int, tuple[Any, dict[Any, Any]]] = {}
"""Types of operations that were found, for each of Numba's types of operators: these hold what is found, too."""


def _remembering(resolve: Any) -> Any:
    """What tells the type of an operation (``a[i]``, ``a + b``) from those of its operands, asked once for each.

    Numba tries all that is declared for an operator, strings and lists first, for each place where it is written, and
    again when it lowers that: a fifth of the time. What there is for numbers, arrays, tuples, tables and packs depends
    on nothing but the types.
    """

    def resolved(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or self.typing_key not in _OPERATORS:
            return resolve(self, context, args, kws)
        _, known = _known_operations.setdefault(id(self), (self, {}))
        found = known.get(args)
        if found is None:
            found = known[args] = resolve(self, context, args, kws)
        return found

    return resolved


_plain_arrays: set[Any] = set()
"""Types of arrays that are known to be no guise of other ones."""


def _giving_up_at_once(find: Any) -> Any:
    """What finds how an operation is lowered. For each access to an array Numba asks whether it is a guise of another
    one, and looks through all that can be imported, each time in vain.
    """

    def found(self: Any, operation: Any, signature: Any, *rest: Any, **more: Any) -> Any:
        if operation != "__array__":
            return find(self, operation, signature, *rest, **more)
        if signature.args in _plain_arrays:
            raise NotImplementedError
        try:
            return find(self, operation, signature, *rest, **more)
        except NotImplementedError:
            _plain_arrays.add(signature.args)
            raise

    return found


# Types


def _type_of(kind: Kind) -> Any:
    """Numba's type of an argument."""
    if isinstance(kind, Array):
        dtype = numba.from_dtype(np.dtype(kind.dtype))
        return types.Array(dtype, kind.ndim, kind.layout)  # type: ignore[call-overload]
    if isinstance(kind, Several):
        return types.Tuple([_type_of(inner) for inner in kind.kinds])
    numbers = {int: types.int64, float: types.float64, bool: types.boolean, type(None): types.none}
    if is_for_threads() and kind not in numbers:
        from sennit.table_types import threaded_type_of

        return threaded_type_of(kind)
    return numbers[kind] if kind in numbers else importlib.import_module(kind._compiler_types).type_of(kind)


# Programs of a graphics card


def threaded_program(kernel: Any, kinds: tuple[Kind, ...], symbol: str) -> Any:
    """A kernel and all that it calls as one module, typed and lowered for `gpu_program`, and not optimised.

    Its function `symbol` takes words, as many as there are `kinds` (``int`` and classes of tables, which are given by
    the addresses of their blocks), calls the kernel and drops what it returns.
    """
    with global_compiler_lock, _lowering() as context:
        with for_threads():
            signature = tuple(map(_type_of, kinds))
            kernel.threaded.compile(signature)
            result = kernel.threaded.overloads[signature]
        entry, word = ir.Module(symbol), ir.IntType(64)
        entry.triple, entry.data_layout = llvm.get_process_triple(), context.codegen()._data_layout
        function = ir.Function(entry, ir.FunctionType(ir.VoidType(), [word] * len(kinds)), symbol)
        builder, description = ir.IRBuilder(function.append_basic_block()), result.fndesc
        values = []
        for kind, given in zip(description.argtypes, function.args, strict=True):
            wanted = context.get_value_type(kind)
            values.append(builder.inttoptr(given, wanted) if isinstance(wanted, ir.PointerType) else given)
        own = context.call_conv.get_function_type(description.restype, description.argtypes)
        called = ir.Function(entry, own, description.llvm_func_name)
        context.call_conv.call_function(builder, called, description.restype, description.argtypes, values)
        builder.ret_void()
        program = _program(result.library)
        program.link_in(llvm.parse_assembly(str(entry)))
        return program


def native_machine() -> Any:
    """What LLVM makes code of this processor for."""
    return cpu_target.target_context.codegen()._tm


# Entries

_NO_COUNTING = "define void @NRT_MemInfo_call_dtor(i8* %unused) { ret void }"
"""Arrays of kernels belong to Python: nobody gives one back."""


def compiled_entry(dispatcher: Any, symbol: str, kinds: tuple[Kind, ...]) -> bytes | None:
    """Object file of a kernel with the function `symbol`, which Python can call with arguments of these kinds.

    None if it must be left to plain Numba: one that makes arrays, or calls what only Numba's library has.
    """
    with global_compiler_lock, _lowering() as context:
        signature = tuple(map(_type_of, kinds))
        dispatcher.compile(signature)
        result = dispatcher.overloads[signature]
        entry = ir.Module(symbol)
        entry.triple, entry.data_layout = llvm.get_process_triple(), context.codegen()._data_layout
        try:
            add_entry(entry, symbol, context, result.fndesc, kinds)
        except CannotReturn:
            return None
        return _object_file(context.codegen(), llvm.parse_assembly(str(entry)), result.library, symbol)


@contextlib.contextmanager
def _machine(codegen: Any) -> Iterator[Any]:
    """What LLVM makes code for; Numba's passes ask it for the width of vectors. Numba's own is of this machine."""
    own = codegen._tm
    if target() != host():
        codegen._tm = _machine_of(target())
    try:
        yield codegen._tm
    finally:
        codegen._tm = own


@functools.cache
def _machine_of(processor: str) -> Any:
    """As Numba makes its own, but for another processor."""
    found = llvm.Target.from_triple(llvm.get_process_triple())
    return found.create_target_machine(
        cpu=processor, opt=numba.config.OPT, reloc=relocation(found), codemodel="jitdefault", jit=True
    )


def _object_file(codegen: Any, entry: Any, library: Any, symbol: str) -> bytes | None:
    program = _program(library)
    program.link_in(entry)
    if any(function.name == "NRT_MemInfo_call_dtor" for function in program.functions):
        program.link_in(llvm.parse_assembly(_NO_COUNTING))
    for value in (*program.functions, *program.global_variables):
        if not value.is_declaration and value.name != symbol:
            value.linkage = "internal"
    half = len(_reached(library)) // 2
    with _machine(codegen) as machine:
        passes, options = codegen._module_pass_manager()
        passes.run(program, options)
    numba_release.watch(half)
    outside = [f.name for f in program.functions if f.is_declaration and not f.name.startswith("llvm.")]
    outside += [variable.name for variable in program.global_variables if variable.is_declaration]
    if not all(map(is_resolved, outside)):
        return None
    code = bytes(machine.emit_object(program))
    numba_release.watch(half)
    return code
