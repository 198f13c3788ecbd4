"""Machine code from object files: loaded by LLVM's loader, called by Python as a built-in function; without Numba.

An object file holds one function that Python can call as it stands, ``PyObject *f(self, arguments, count)``:
`python_entry` writes it. Its `self` is an array of addresses: what is called when arguments are of other kinds than
the function was compiled for, and the types that it compares them with.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from sennit.kernel_arguments import Kind, expected

__all__ = ["PYTHON_FUNCTIONS", "fits_this_python", "is_resolved", "loaded", "relocation"]

PYTHON_FUNCTIONS = (
    "PyBool_FromLong", "PyErr_Occurred", "PyErr_SetString", "PyEval_RestoreThread", "PyEval_SaveThread",
    "PyFloat_AsDouble", "PyFloat_FromDouble", "PyLong_AsLongLong", "PyLong_FromLongLong", "PyLong_FromUnsignedLongLong",
    "PyObject_GetAttr", "PyObject_IsTrue", "PyObject_Vectorcall", "PyTuple_New", "PyTuple_SetItem", "Py_DecRef",
    "Py_IncRef",
)  # fmt: skip
"""What machine code may call of Python's."""

_FASTCALL = 0x80


class _Method(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)
    ]  # fmt: skip


def relocation(target: Any) -> str:
    """How code finds its own data: LLVM's loader wants it static on x86."""
    return "static" if target.name.startswith("x86") else "default"


@functools.cache
def _engine() -> Any:
    """LLVM's loader. It knows Python's functions by their addresses: not every system shows them to it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in PYTHON_FUNCTIONS:
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    triple = llvm.get_process_triple()
    target = llvm.Target.from_triple(triple)
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), reloc=relocation(target), codemodel="jitdefault", jit=True
    )
    return llvm.create_mcjit_compiler(llvm.parse_assembly(f'target triple = "{triple}"'), machine)


@functools.cache
def _system() -> list[Any]:
    """The libraries that a program finds functions of C and mathematics in."""
    if sys.platform == "win32":
        return [ctypes.CDLL("ucrtbase")]
    return [ctypes.CDLL(None)]


def is_resolved(name: str) -> bool:
    """Whether machine code may call a function by this name in a process without Numba."""
    return name in PYTHON_FUNCTIONS or any(hasattr(library, name) for library in _system())


@functools.cache
def fits_this_python() -> bool:
    """Whether objects, tuples and arrays lie in memory as `python_entry` reads them: not so in free-threaded Python."""
    pair = (None, True)
    words = (ctypes.c_size_t * 5).from_address(id(pair))
    if sys.maxsize != 2**63 - 1 or list(words)[1:] != [id(tuple), 2, id(None), id(True)]:
        return False
    array = np.zeros((2, 3))[:, :2]
    words = (ctypes.c_size_t * 8).from_address(id(array))
    if words[1] != id(np.ndarray) or words[2] != array.ctypes.data:
        return False
    if words[3] & 0xFFFFFFFF != 2 or words[7] != id(array.dtype):
        return False
    sizes = [list((ctypes.c_ssize_t * 2).from_address(words[k])) for k in (4, 5)]
    flags = ctypes.c_int.from_address(id(array) + 64).value
    return sizes == [[2, 2], [24, 8]] and flags == array.flags.num


_kept: list[Any] = []
"""What loaded functions hold addresses of."""


def loaded(
    code: bytes, symbol: str, name: str, kinds: Iterable[Kind], otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """The function `symbol` of an object file. It calls `otherwise` with arguments that are not of these `kinds`."""
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(symbol)
    if not address:
        raise OSError(f"no function {symbol} in the object file of {name}")
    facts: list[Any] = [otherwise, None, RuntimeError]
    for kind in kinds:
        facts += (sys.intern(word) if isinstance(word, str) else word for word in expected(kind))
    method = _Method(name.encode(), address, _FASTCALL, None)
    _kept.extend((facts, method))
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.argtypes, make.restype = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p), ctypes.py_object
    function: Callable[..., Any] = make(ctypes.addressof(method), np.array([id(fact) for fact in facts]), None)
    return function
