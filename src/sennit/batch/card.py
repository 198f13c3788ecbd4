"""Memory and programs of a graphics card, as batches use them: arrays there, jobs for many threads, rows of words."""

from __future__ import annotations

import contextlib
import ctypes
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sennit.batch.kernels.rows_each import fill_each, put_each, take_each
from sennit.batch.launch import Columns, Fill, Halves
from sennit.batch.memory import Words
from sennit.compile_once import told
from sennit.errors import InputError
from sennit.gpu_driver import Device, Function, Memory
from sennit.gpu_program import Target, compiled, is_kept
from sennit.tables import Table

__all__ = ["Card", "CardArray", "CardRows", "loaded"]

NO_SIZES: frozenset[tuple[str, str]] = frozenset()


class CardArray:
    """An array in the memory of a graphics card.

    CuPy, PyTorch, JAX and Numba take it as it is (``torch.from_dlpack(array)``, ``cupy.asarray(array)``); `numpy`
    copies it. What it is an array of keeps being written by steps.
    """

    def __init__(
        self, memory: Memory, dtype: Any, shape: tuple[int, ...], offset: int = 0,
        strides: tuple[int, ...] | None = None,
    ) -> None:  # fmt: skip
        self.memory = memory
        self.dtype = np.dtype(dtype)
        self.shape = tuple(shape)
        self.offset = offset
        """Its first byte in the memory."""
        if strides is None:
            strides = tuple(self.dtype.itemsize * math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))
        self.strides = tuple(strides)

    def __repr__(self) -> str:
        return f"<CardArray {self.shape} of {self.dtype} on {self.memory.device.name}>"

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def address(self) -> int:
        """Where it begins."""
        return self.memory.address + self.offset

    @property
    def ndim(self) -> int:
        """Number of its axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of its numbers."""
        return math.prod(self.shape)

    @property
    def device(self) -> str:
        """The device that it is on, as PyTorch calls it."""
        return f"cuda:{self.memory.device.number}"

    def columns(self, first: int, end: int) -> CardArray:
        """The part [:, first:end] of an array with two axes, where it is."""
        shape, offset = (self.shape[0], end - first), self.offset + first * self.strides[1]
        return CardArray(self.memory, self.dtype, shape, offset, self.strides)

    def column(self, k: int) -> CardArray:
        """The part [:, k] of it, where it is."""
        return CardArray(self.memory, self.dtype, self.shape[:1], self.offset + k * self.strides[1], self.strides[:1])

    def numpy(self) -> NDArray[Any]:
        """A copy in the memory of this process."""
        if not self.size:
            return np.zeros(self.shape, self.dtype)
        inner = sum((n - 1) * step for n, step in zip(self.shape[1:], self.strides[1:], strict=True))
        width = inner + self.dtype.itemsize
        rows = np.empty((self.shape[0], width), np.uint8)
        if self.strides[0] == width or self.shape[0] == 1:
            self.memory.get(rows, self.offset)
        else:
            self.memory.get_rows(rows, self.offset, self.strides[0])
        view = np.ndarray(self.shape, self.dtype, rows, 0, (width, *self.strides[1:]))
        return np.ascontiguousarray(view)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array on a graphics card can't be used by NumPy without a copy")
        made = self.numpy()
        return made if dtype is None else made.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        return self.numpy()[key]

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "strides": self.strides,
            "version": 3,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DL_CUDA, self.memory.device.number

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        self.memory.device.wait()  # whatever stream the other one uses
        return _capsule(self)


class CardRows:
    """Rows of words in the memory of a card."""

    def __init__(self, card: Card, count: int, size: int) -> None:
        self.card, self.count, self.size = card, count, size
        self.memory = card.device.memory(8 * count * size)
        self._words = CardArray(self.memory, np.int64, (count * size,))
        self._halves = CardArray(self.memory, np.int32, (2 * count * size,))
        self.base: Words = self.memory.address + 8 * size * np.arange(count, dtype=np.int64)
        """Where each row begins."""

    def fill(self, rows: Words, at: Words, value: Words, base: Words | None = None) -> None:
        """Write ``value[j]`` (and `base` of the row, if there is one) to the words ``at[j]`` of each of `rows`."""
        if len(rows) and len(at):
            added = np.zeros(len(rows), np.int64) if base is None else base
            self.card.launch(
                fill_each, len(rows) * len(at), Fill, memory=self._words, pitch=np.array([self.size]), rows=rows,
                base=added, at=at, value=value,
            )  # fmt: skip

    def take(self, rows: Words, at: Words) -> Words:
        """The words `at` of `rows`: (rows, words)."""
        made = np.empty((len(rows), len(at)), np.int64)
        if made.size:
            room = self.card.device.memory(made.nbytes)
            self._copy(take_each, rows, at, CardArray(room, np.int64, made.shape))
            room.get(made)
        return made

    def put(self, rows: Words, at: Words, values: NDArray[Any]) -> None:
        """Write the words `at` of `rows`; of `values` of 4 bytes, the numbers of 4 bytes."""
        if len(rows) and len(at):
            self._copy(put_each, rows, at, np.ascontiguousarray(values))

    def take_over(self, rows: Words, first: int, other: CardRows) -> None:
        """Write the words from `first` on of `rows` as they are in the same rows of others."""
        at = np.arange(first, self.size)
        if len(rows):
            room = CardArray(self.card.device.memory(8 * len(rows) * len(at)), np.int64, (len(rows), len(at)))
            other._copy(take_each, rows, at, room)
            self._copy(put_each, rows, at, room)

    def _copy(self, kernel: Any, rows: Words, at: Words, values: Any) -> None:
        halves = values.dtype.itemsize == 4
        self.card.launch(
            kernel, len(rows) * len(at), Halves if halves else Columns, memory=self._halves if halves else self._words,
            pitch=np.array([2 * self.size if halves else self.size]), rows=rows, at=at, values=values,
        )  # fmt: skip

    def get_row(self, i: int) -> Words:
        """A row."""
        return self.memory.get(np.empty(self.size, np.int64), 8 * self.size * i)

    def put_row(self, i: int, words: Words, first: int = 0) -> None:
        """Write a row, from the word `first` on."""
        self.memory.put(words[first:], 8 * (self.size * i + first))

    def copy(self) -> CardRows:
        """Rows of their own with the same words: their addresses are those of these."""
        made = CardRows(self.card, self.count, self.size)
        made.memory.copy_from(self.memory)
        return made


def loaded(device: Device, kernel: Any, kinds: tuple[Any, ...], target: Target, small: bool = False) -> Function:
    """A kernel's program in a device: compiled, with a bar unless it is `small`, if this machine has not got it yet."""
    with contextlib.nullcontext() if small or is_kept(kernel, kinds, target) else told("graphics card"):
        program = compiled(kernel, kinds, target)
    return device.load(program.code).function(program.symbol)


class Card:
    """A device and the programs that it has."""

    def __init__(self, dtype: str, number: int = 0) -> None:
        self.device = Device(number)
        self.dtype = dtype
        self._functions: dict[Any, Function] = {}

    def function(
        self, kernel: Any, kinds: tuple[Any, ...], empty: frozenset[tuple[str, str]], *, small: bool = False,
        own_words: int = 0,
    ) -> Function:  # fmt: skip
        """A kernel's program in the device, compiled if need be."""
        key = kernel, kinds, empty, own_words
        if key not in self._functions:
            target = Target(self.device.processor, self.dtype, empty, own_words)
            self._functions[key] = loaded(self.device, kernel, kinds, target, small)
        return self._functions[key]

    def launch(self, kernel: Any, count: int, kind: type[Table], **arrays: Any) -> None:
        """Let `count` threads run a kernel that takes a table of the class `kind` with these arrays."""
        memory, kept = self.block(kind, arrays)
        self.function(kernel, (kind,), NO_SIZES, small=True).launch(count, [memory.address])
        del kept

    def block(self, kind: type[Table], arrays: dict[str, Any]) -> tuple[Memory, list[CardArray]]:
        """The block of a table of arrays on the card; those of NumPy are copied there. Both must be kept while it is
        used.
        """
        sizes: dict[str, int] = {}
        words: list[int] = []
        kept: list[CardArray] = []
        for name, field in kind._fields.items():
            array = arrays[name]
            if isinstance(array, np.ndarray):
                array = self.array(array)
            for length, declared in zip(array.shape, field.shape, strict=True):
                if length != (sizes.setdefault(declared, length) if isinstance(declared, str) else declared):
                    raise TypeError(f"{kind.__name__}.{name} can't be an array of shape {array.shape}")
            words += (0, 0, array.size, array.dtype.itemsize, array.address, *array.shape, *array.strides)
            kept.append(array)
        memory = self.device.memory(8 * len(words))
        memory.put(np.array(words, np.int64))
        return memory, kept

    def array(self, given: NDArray[Any]) -> CardArray:
        """A copy of an array on the card: floats become the card's."""
        own = given.astype(self.dtype) if given.dtype == np.float64 else given
        memory = self.device.memory(own.nbytes)
        if own.nbytes:
            memory.put(own)
        return CardArray(memory, own.dtype, own.shape)


# --------------------------------------------------------------------------------------------------------- DLPack

_DL_CUDA = 2
_CODES = {"f": 2, "i": 0, "u": 1}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    ]  # fmt: skip


_lent: dict[int, Any] = {}
"""What others hold tensors of, by the addresses of these."""


def _give_back(address: int) -> None:
    _lent.pop(address, None)


_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


def _end_capsule(capsule: int) -> None:
    if _is_valid(capsule, b"dltensor"):  # nobody has taken it
        _give_back(_pointer_of(capsule, b"dltensor"))


_NOTICE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_given_back, _capsule_ends = _NOTICE(_give_back), _NOTICE(_end_capsule)


def _capsule(array: CardArray) -> Any:
    itemsize = array.dtype.itemsize
    if any(step % itemsize for step in array.strides):
        raise InputError("an array whose numbers are not a whole number of items apart can't be handed over by DLPack")
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(step // itemsize for step in array.strides))
    deleter = ctypes.cast(_given_back, ctypes.c_void_p)
    tensor = _Tensor(
        array.address, _DL_CUDA, array.memory.device.number, array.ndim, _CODES[array.dtype.kind], 8 * itemsize, 1,
        shape, strides, 0, None, deleter,
    )  # fmt: skip
    address = ctypes.addressof(tensor)
    _lent[address] = array, tensor, shape, strides
    return _new_capsule(address, b"dltensor", ctypes.cast(_capsule_ends, ctypes.c_void_p))
