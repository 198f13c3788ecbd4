"""Kernels as programs of a graphics card: the same sources, lowered by Numba, made PTX by LLVM; no compiler of CUDA's.

A kernel of a card takes whole numbers and addresses of tables' blocks (`tables`), each a word of 8 bytes, and says by
``thread()`` (`threads`) which of many threads it is::

    class Launch(Table):                        # in the card's memory: its block, and the arrays that it points to
        scenes = whole(PLAN, "where the tables of each scene are")
        ...

    @kernel
    def each(launch): ...                       # one thread's work: i = thread(); if i < launch.scenes.size: ...

    program = gpu_program.compiled(each, (Launch,), Target("sm_90", "float32"))
    function = gpu_driver.Device().load(program.code).function(program.symbol)
    function.launch(count, [address_of_block])

`compiled` keeps what it makes in the folder of kernels (`kernel_cache`), by the kernels' sources, and so does not need
Numba the second time. Differences from programs of processors:

- Rows of four are made one by one, see `compilation.single`.
- ``float32``: every number of the kernels and of the tables has 24 bits; arrays lie where they do in tables of float64
  (each begins at the same byte, `sizes` of words stay), in half of the room. Limits that hang on rounding are
  `compilation.tolerance`; a constant that would become 0 or infinite is refused when the program is made.
- ``empty``: sizes of tables that are 0 in all tables that the program will be given, ``("Rigging", "cables")``. What is
  done for each of them is left out, which makes a program several times smaller.

A target "host" is the same program for this processor: its function takes the number of the thread first. Tests run it.
Sines and the like come from libdevice, a file of CUDA's that ``pip install sennit[cuda]`` brings.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import math
import os
import re
import struct
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sennit.errors import InputError
from sennit.kernel_arguments import Kind, description
from sennit.kernel_cache import keep_code, kept_code, part_of, part_of_tables, stamp
from sennit.tables import Table

__all__ = ["Program", "Target", "compiled", "is_kept", "libdevice"]

HOST = "host"
_DTYPES = ("float64", "float32")


@dataclass(frozen=True)
class Target:
    """What a program is made for."""

    processor: str = "sm_90"
    """``"sm_90"`` for cards of compute capability 9.0 and newer, which translate it; ``"host"``: this processor."""
    dtype: str = "float64"
    empty: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """Sizes that are 0: class of tables, with that of the one that they are in before it, and name of the size."""
    own_words: int = 0
    """Words of memory that each thread has of its own: their address is the kernel's last argument, which a launch then
    does not give."""

    def __str__(self) -> str:
        digest = hashlib.sha256(repr((sorted(self.empty), self.own_words)).encode() + _own_source()).hexdigest()[:8]
        return f"{self.processor}-{self.dtype}-{digest}"


@functools.cache
def _own_source() -> bytes:
    return Path(__file__).read_bytes()


@dataclass(frozen=True)
class Program:
    """PTX (or, for the host, an object file) and the name of the function to launch."""

    code: bytes
    symbol: str


def compiled(kernel: Any, kinds: tuple[Kind, ...], target: Target) -> Program:
    """The program of a `kernel` whose arguments are of these `kinds`: ``int`` and classes of tables.

    Raises `InputError` where libdevice or Numba's own compiler is not to be had.
    """
    if target.dtype not in _DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(_DTYPES)}, got {target.dtype!r}")
    name, digest = _named(kernel, kinds)
    body, part = f"sennit_{digest}{_BODY}", part_of(kernel.__module__)
    symbol = f"sennit_{digest}_{hashlib.sha256(str(target).encode()).hexdigest()[:8]}"
    kept = f"{name}-{digest}-{target}"
    with _compiling:
        if part is not None and (code := kept_code(part, kept)) is not None:
            return Program(code, symbol)
        lowered = _lowered(kernel, kinds, body, f"{name}-{digest}-lowered", part)
        code = _translated(lowered, body, symbol, len(kinds), target)
        if part is not None:
            keep_code(part, kept, code)
    return Program(code, symbol)


def is_kept(kernel: Any, kinds: tuple[Kind, ...], target: Target) -> bool:
    """Whether a program was made on this machine before."""
    part = part_of(kernel.__module__)
    return part is not None and kept_code(part, f"{'-'.join(_named(kernel, kinds))}-{target}") is not None


def _named(kernel: Any, kinds: tuple[Kind, ...]) -> tuple[str, str]:
    name, own = f"{kernel.__module__}.{kernel.__qualname__}", part_of(kernel.__module__)
    # What a kernel asks of a table may be answered by kernels that it does not import: those where things touch.
    parts = {part_of_tables(kind) for kind in kinds if isinstance(kind, type) and issubclass(kind, Table)}
    answers = [stamp(part) for part in sorted(part for part in parts if part is not None and part != own)]
    words = [f"{name}({', '.join(map(description, kinds))})", *answers]
    return name, hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


_compiling = threading.RLock()


_BODY = "_body"
"""Ends the name of the function that a program's own one calls."""


def _lowered(kernel: Any, kinds: tuple[Kind, ...], body: str, kept: str, part: str | None) -> bytes:
    """The bitcode of a program that is lowered, not optimised: the same for all targets."""
    if part is not None and (found := kept_code(part, kept)) is not None:
        return found
    from sennit import numba_release

    if not numba_release.is_known():
        raise InputError("this release of Numba is not known: programs of graphics cards can't be made with it")
    from sennit import whole_program

    made = bytes(whole_program.threaded_program(kernel, kinds, body).as_bitcode())
    if part is not None:
        keep_code(part, kept, made)
    return made


# ------------------------------------------------------------------------------------------- functions of mathematics

_NAMED = (
    "atan2",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "hypot",
    "pow",
    "exp",
    "expm1",
    "log",
    "fmod",
    "sin",
    "cos",
    "tan",
)
_INTRINSIC = "sin", "cos", "exp", "log", "pow"
_INSTRUCTIONS = "sqrt", "floor", "ceil"
"""Functions of C that are one instruction."""

_PLACES = ("nvvm/libdevice/libdevice.10.bc",)
_PACKAGES = ("nvidia.cuda_nvcc", "nvidia.cu13", "nvidia.cu12", "nvidia.nvvm", "nvidia")


@functools.cache
def libdevice() -> Path:
    """The file with sines and the like. Raises `InputError` if it is nowhere."""
    roots = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    for package in _PACKAGES:
        try:
            found = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            continue
        roots += [Path(place) for place in (found and found.submodule_search_locations) or ()]
    roots += [Path("/usr/local/cuda"), Path("/opt/cuda"), Path("/usr/lib/cuda")]
    for root in roots:
        for path in (*(root / place for place in _PLACES), *sorted(root.glob("*/nvvm/libdevice/libdevice*.bc"))):
            if path.is_file():
                return path
    raise InputError(
        "libdevice, CUDA's file of mathematical functions, was not found: pip install sennit[cuda], or set CUDA_HOME "
        "to where CUDA is installed"
    )


# ------------------------------------------------------------------------------------------------------- translation


def _translated(bitcode: bytes, body: str, symbol: str, words: int, target: Target) -> bytes:
    """Machine code or PTX of a lowered program."""
    import llvmlite.binding as llvm

    module, machine = _linked(bitcode, body, symbol, words, target)
    options = llvm.create_pipeline_tuning_options(3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    if target.processor == HOST:
        return bytes(machine.emit_object(module))
    _check_outside(module, "llvm.")
    return str(machine.emit_assembly(module)).encode()


def _linked(bitcode: bytes, body: str, symbol: str, words: int, target: Target) -> tuple[Any, Any]:
    """A lowered program with all that it asks for, not optimised yet, and the machine that it is for.

    Raises `InputError` if it asks for what a graphics card has not got.
    """
    import llvmlite.binding as llvm

    from sennit.whole_program import native_machine

    card = target.processor != HOST
    if card:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        found = llvm.Target.from_triple("nvptx64-nvidia-cuda")
        machine = found.create_target_machine(cpu=target.processor, opt=3)
        triple = "nvptx64-nvidia-cuda"
    else:
        machine, triple = native_machine(), llvm.get_process_triple()
    text = _rewritten(str(llvm.parse_bitcode(bitcode)), card, target.dtype == "float32")
    text = re.sub(r'^target triple = ".*"', f'target triple = "{triple}"', text, count=1, flags=re.M)
    text = re.sub(
        r'^target datalayout = ".*"', f'target datalayout = "{machine.target_data}"', text, count=1, flags=re.M
    )
    module = llvm.parse_assembly(text)
    asked = [f.name for f in module.functions if f.is_declaration]
    module.link_in(llvm.parse_assembly(_answers(asked, body, symbol, words, target)))
    _keep_only(module, symbol)
    _prune(module, machine)
    if card:
        _check_outside(module, "llvm.", "__nv_")
    if card and any(f.name.startswith("__nv_") for f in module.functions):
        device = llvm.parse_bitcode(libdevice().read_bytes())
        device.triple, device.data_layout = triple, str(machine.target_data)
        module.link_in(device)
        _keep_only(module, symbol)
    module.verify()
    return module, machine


def _keep_only(module: Any, entry: str) -> None:
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != entry:
            value.linkage = "internal"


def _prune(module: Any, machine: Any) -> None:
    """Leave out what is never called where sizes are 0, before anything of it is optimised."""
    import llvmlite.binding as llvm

    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(2))

    def each(*names: str) -> None:
        passes = llvm.create_new_function_pass_manager()
        for name in names:
            getattr(passes, f"add_{name}_pass")()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def whole(name: str) -> None:
        passes = llvm.create_new_module_pass_manager()
        getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)

    each("sroa", "simplify_cfg")  # before anything is inlined: what this costs grows with the square of a function
    whole("always_inliner")
    whole("global_dead_code_eliminate")
    each("sroa", "instruction_combine", "sccp", "simplify_cfg")
    whole("global_dead_code_eliminate")
    for function in module.functions:
        forced = any(b"alwaysinline" in bytes(words) for words in function.attributes)
        if not function.is_declaration and not forced and _is_large(function):
            function.add_function_attribute("noinline")


_LARGE = 500
"""Instructions of a function, pruned, from which on it stays one: what loops and registers cost in optimisation grows
faster than functions, and a thread has no more registers for a larger one."""


def _is_large(function: Any) -> bool:
    count = 0
    for block in function.blocks:
        for _ in block.instructions:
            count += 1
            if count > _LARGE:
                return True
    return False


def _check_outside(module: Any, *known: str) -> None:
    """Refuse functions without a body, but those whose names begin as those that are `known`."""
    outside = sorted(f.name for f in module.functions if f.is_declaration and not f.name.startswith(known))
    if outside:
        raise InputError(f"a graphics card has no function {', '.join(outside)}")


# ------------------------------------------------------------------------------------- functions of threaded programs


def _answers(asked: Iterable[str], body: str, symbol: str, words: int, target: Target) -> str:
    """What the functions that lowered programs ask for are in this one, in LLVM's language; and the entry."""
    from sennit.numba_release import TOLERANCE
    from sennit.table_types import NUMBER_BYTES, SIZE
    from sennit.threads import HIDDEN, THREAD

    card, single = target.processor != HOST, target.dtype == "float32"
    real = "float" if single else "double"
    lines = []
    for name in asked:
        if name.startswith(SIZE):
            owner, _, size = name[len(SIZE) :].rpartition(".")
            value = "0" if (owner, size) in target.empty else "%n"
            lines.append(f'define i64 @"{name}"(i64 %n) alwaysinline {{ ret i64 {value} }}')
        elif name == NUMBER_BYTES:
            lines.append(f'define i64 @"{name}"() alwaysinline {{ ret i64 {4 if single else 8} }}')
        elif name.startswith(TOLERANCE):
            double, _, float32 = name[len(TOLERANCE) :].partition(".")
            number = _literal(struct.unpack(">d", bytes.fromhex(float32 if single else double))[0], single)
            lines.append(f'define {real} @"{name}"() alwaysinline {{ ret {real} {number} }}')
        elif name == THREAD:
            lines.append(_THREAD_OF_CARD if card else _THREAD_OF_HOST)
        elif name == HIDDEN:
            asm = '"mov.b64 $0, $1;", "=l,l,~{memory}"' if card else '"", "=r,0,~{memory}"'
            body_of = f"%y = call i64 asm sideeffect {asm}(i64 %x) ret i64 %y"
            lines.append(f'define i64 @"{name}"(i64 %x) alwaysinline {{ {body_of} }}')
        elif name == "NRT_MemInfo_call_dtor":
            lines.append(f"define void @{name}(ptr %unused) {{ ret void }}")
    lines.append(f"declare void @{body}({', '.join(['i64'] * words)})")
    given = [f"i64 %a{k}" for k in range(words)]
    begin = ""
    if target.own_words:
        begin = f"%own = alloca [{target.own_words} x i64], align 16 %a{words - 1} = ptrtoint ptr %own to i64 "
    call = f"call void @{body}({', '.join(given)}) ret void"
    taken = given[: words - 1] if target.own_words else given
    if card:
        lines.append(f"define ptx_kernel void @{symbol}({', '.join(taken)}) {{ {begin}{call} }}")
    else:
        if THREAD not in asked:
            lines.append("@sennit_thread_now = internal global i64 0")
        note = "store i64 %number, ptr @sennit_thread_now "
        lines.append(f"define void @{symbol}({', '.join(['i64 %number', *taken])}) {{ {note}{begin}{call} }}")
    return "\n".join(lines)


_THREAD_OF_CARD = """
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define i64 @"sennit.thread"() alwaysinline {
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %own = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %wide = zext i32 %block to i64
  %many = zext i32 %width to i64
  %before = mul i64 %wide, %many
  %rest = zext i32 %own to i64
  %all = add i64 %before, %rest
  ret i64 %all
}"""
_THREAD_OF_HOST = """
@sennit_thread_now = internal global i64 0
define i64 @"sennit.thread"() alwaysinline {
  %number = load i64, ptr @sennit_thread_now
  ret i64 %number
}"""


# -------------------------------------------------------------------------------------------------- text of a program


def _rewritten(text: str, card: bool, single: bool) -> str:
    """The text of a program with the functions of mathematics that the target has, and with numbers of 4 bytes."""
    if card:
        for name in _INTRINSIC:
            text = text.replace(f"@llvm.{name}.f64", f"@__nv_{name}")
        for name in _NAMED:
            text = re.sub(rf"@{name}\b", f"@__nv_{name}", text)
        for name in _INSTRUCTIONS:
            text = re.sub(rf"@{name}\b", f"@llvm.{name}.f64", text)
    if single:
        text = _in_float32(text, card)
    # Arrays belong to tables: nobody counts their uses.
    text = re.sub(
        r"^(define [^\n]*@NRT_(?:incref|decref)\([^\n]*\{)\n.*?^\}", r"\1\nret void\n}", text, flags=re.M | re.S
    )
    return _each_declared_once(text)


def _each_declared_once(text: str) -> str:
    seen: set[str] = set()
    lines = []
    for line in text.split("\n"):
        if line.startswith("declare"):
            name = line[line.index("@") : line.index("(", line.index("@"))]
            if name in seen:
                continue
            seen.add(name)
        lines.append(line)
    return "\n".join(lines)


_NUMBER = re.compile(r"\b0x[0-9A-Fa-f]{16}\b|(?<![\w.%@#!\"-])-?\d+\.\d+e[+-]\d+\b")


def _in_float32(text: str, card: bool) -> str:
    """The same program with float for double: it was never optimised, so that no place is a number of bytes.

    Raises `InputError` for constants that are not 0, or finite, but would be.
    """
    lost: set[float] = set()

    def rounded(found: re.Match[str]) -> str:
        written = found.group(0)
        value = struct.unpack("<d", int(written, 16).to_bytes(8, "little"))[0] if "x" in written else float(written)
        return _literal(value, True, lost)

    suffix = re.compile(r"@(__nv_\w+)") if card else re.compile(rf"@({'|'.join((*_NAMED, *_INSTRUCTIONS))})\b")
    text = suffix.sub(r"@\1f", text)
    text = _NUMBER.sub(rounded, text)
    text = re.sub(r"((?:load|store) [^\n]*?\b(?:double|<4 x double>)\b[^\n]*?), align 8", r"\1, align 4", text)
    text = re.sub(r"((?:load|store) [^\n]*?<4 x double>[^\n]*?), align 32", r"\1, align 16", text)
    text = re.sub(r"\bdouble\b", "float", text)
    text = re.sub(r"(@llvm\.[\w.]*?)\bv4f64\b", r"\1v4f32", text)
    text = re.sub(r"(@llvm\.[\w.]*?)\bf64\b", r"\1f32", text)
    if lost:
        numbers = ", ".join(f"{x:g}" for x in sorted(lost, key=abs))
        raise InputError(f"constants of kernels that float32 does not have: {numbers}; make them a tolerance()")
    return text


_STAND_FOR = {1e-300: 1e-37, 1e300: 1e37}
"""What kernels write for the least and the largest of numbers, and what is written for them in float32."""


def _literal(value: float, single: bool, lost: set[float] | None = None) -> str:
    """A number as LLVM writes it: by the bits of a double, also where it is none."""
    if single:
        value = math.copysign(_STAND_FOR.get(abs(value), value), value)
    if single and value == value and abs(value) != float("inf"):
        try:
            rounded = struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            rounded = float("inf")
        if lost is not None and (value != 0.0) and (rounded == 0.0 or abs(rounded) == float("inf")):
            lost.add(value)
        value = rounded
    return f"0x{int.from_bytes(struct.pack('<d', value), 'little'):016X}"
