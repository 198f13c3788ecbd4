"""A graphics card of NVIDIA's, spoken to through the driver alone (libcuda): memory, programs, launches, clocks.

Nothing of CUDA's tools is needed, and nothing is loaded until a `Device` is made::

    device = Device()                            # InputError, and what is missing, where there is none
    memory = device.memory(array.nbytes)         # freed when nobody holds it any more
    memory.put(array)
    function = device.load(program.code).function(program.symbol)
    with device.clock() as clock:
        function.launch(count, [memory.address]) # count threads or a few more; arguments are words of 8 bytes
    print(clock.seconds)                         # waits
    memory.get(array)

Launches and copies follow one another in the order in which they are asked for. A program that fails (a bad address)
makes the device of this process useless: `DeviceError` says so. This file needs NumPy and no other file of the package
but its errors.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from sennit.errors import InputError
except ImportError:  # copied beside a program for a machine without the package

    class InputError(ValueError):  # type: ignore[no-redef]
        """Stands for sennit's own."""


__all__ = ["Clock", "Device", "DeviceError", "Function", "Memory", "Module"]

_Address, _Handle = ctypes.c_uint64, ctypes.c_void_p
_MAJOR, _MINOR, _PROCESSORS, _CLOCK = 75, 76, 16, 13
_REGISTERS, _LOCAL_BYTES = 4, 3


class DeviceError(RuntimeError):
    """The driver could not do something."""


@functools.cache
def _library() -> Any:
    names = {"win32": ("nvcuda.dll",), "linux": ("libcuda.so.1", "libcuda.so")}.get(sys.platform, ())
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise InputError(
        'device="cuda" needs a graphics card of NVIDIA\'s and its driver (libcuda), which is not on this machine: use '
        'device="cpu"'
    )


def _check(code: int, what: str) -> None:
    if code == 0:
        return
    text = ctypes.c_char_p()
    _library().cuGetErrorString(ctypes.c_int(code), ctypes.byref(text))
    message = (text.value or b"unknown error").decode()
    raise DeviceError(f"the graphics card's driver can't {what}: {message} (code {code})")


def _call(name: str, what: str, *arguments: Any) -> None:
    _check(getattr(_library(), name)(*arguments), what)


class Device:
    """A graphics card, by its number. Everything that is made of it keeps it."""

    def __init__(self, number: int = 0) -> None:
        library = _library()
        count = ctypes.c_int()
        if library.cuInit(0) != 0 or library.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
            raise InputError(
                'device="cuda" needs a graphics card of NVIDIA\'s: there is a driver on this machine, but it finds '
                'none; use device="cpu"'
            )
        if not 0 <= number < count.value:
            raise InputError(f"there are {count.value} graphics cards, numbered from 0 on, got {number}")
        own = ctypes.c_int()
        _call("cuDeviceGet", "find the device", ctypes.byref(own), number)
        self._device, self._context = own, _Handle()
        _call("cuDevicePrimaryCtxRetain", "begin to use the device", ctypes.byref(self._context), own)
        weakref.finalize(self, library.cuDevicePrimaryCtxRelease_v2, own)
        self.use()
        label = ctypes.create_string_buffer(128)
        _call("cuDeviceGetName", "tell the device's name", label, 128, own)
        self.name = label.value.decode()
        self.number = number
        self.capability = self._attribute(_MAJOR), self._attribute(_MINOR)
        self.processors = self._attribute(_PROCESSORS)
        self.clock_rate = 1e3 * self._attribute(_CLOCK)

    def _attribute(self, which: int) -> int:
        value = ctypes.c_int()
        _call("cuDeviceGetAttribute", "tell what it is", ctypes.byref(value), which, self._device)
        return value.value

    def __repr__(self) -> str:
        return f"<Device {self.number}: {self.name}>"

    @property
    def processor(self) -> str:
        """What programs are made for, as LLVM calls it: newer cards translate what is made for 9.0."""
        major, minor = min(self.capability, (9, 0))
        return f"sm_{major}{minor}"

    def use(self) -> None:
        """Have the calling thread speak to this device."""
        _call("cuCtxSetCurrent", "take the device", self._context)

    @property
    def free_bytes(self) -> int:
        """Memory that is not in use."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        _call("cuMemGetInfo_v2", "tell its memory", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def memory(self, nbytes: int) -> Memory:
        """So many bytes of the device's memory. Raises `InputError` if it has not got them."""
        self.use()
        address = _Address()
        if _library().cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(int(nbytes), 1))) != 0:
            raise InputError(
                f"{self.name} has no {nbytes / 2**20:.0f} MiB left, only {self.free_bytes / 2**20:.0f}: make batches "
                f"of fewer scenes"
            )
        return Memory(self, address.value, int(nbytes))

    def load(self, code: bytes) -> Module:
        """A program: PTX (which the driver translates, and keeps) or machine code."""
        self.use()
        return Module(self, code)

    def clock(self) -> Clock:
        """For the time between two places in the row of launches."""
        self.use()
        return Clock()

    def wait(self) -> None:
        """Until all is done that was asked for."""
        self.use()
        _call("cuCtxSynchronize", "finish what was asked for")


class Memory:
    """A stretch of a device's memory."""

    def __init__(self, device: Device, address: int, nbytes: int) -> None:
        self.device, self.address, self.nbytes = device, address, nbytes
        weakref.finalize(self, _freed, _library(), device, address)

    def __repr__(self) -> str:
        return f"<{self.nbytes} bytes of {self.device.name}>"

    def put(self, array: NDArray[Any], offset: int = 0) -> None:
        """Copy an array to the byte `offset`."""
        given = np.ascontiguousarray(array)
        self._within(offset, given.nbytes)
        self.device.use()
        what = _Address(self.address + offset), _pointer(given), ctypes.c_size_t(given.nbytes)
        _call("cuMemcpyHtoD_v2", "take numbers", *what)

    def get(self, array: NDArray[Any], offset: int = 0) -> NDArray[Any]:
        """Fill an array from the byte `offset` on; the array."""
        if not array.flags.c_contiguous:
            array[...] = self.get(np.empty(array.shape, array.dtype), offset)
            return array
        self._within(offset, array.nbytes)
        self.device.use()
        what = _pointer(array), _Address(self.address + offset), ctypes.c_size_t(array.nbytes)
        _call("cuMemcpyDtoH_v2", "give numbers back", *what)
        return array

    def put_rows(self, array: NDArray[Any], offset: int, pitch: int) -> None:
        """Copy the rows of an array to bytes that are `pitch` apart, the first of them at `offset`."""
        given = np.ascontiguousarray(array)
        if given.nbytes:
            self._copy_rows(given, offset, pitch, to_device=True)

    def get_rows(self, array: NDArray[Any], offset: int, pitch: int) -> NDArray[Any]:
        """Fill the rows of a contiguous array from bytes that are `pitch` apart; the array."""
        if array.nbytes:
            self._copy_rows(array, offset, pitch, to_device=False)
        return array

    def _copy_rows(self, array: NDArray[Any], offset: int, pitch: int, to_device: bool) -> None:
        width = array.nbytes // len(array)
        self._within(offset, (len(array) - 1) * pitch + width)
        self.device.use()
        plan = _Copy2D()
        here, there = ("src", "dst") if to_device else ("dst", "src")
        for side, kind, step in ((here, _HOST, width), (there, _DEVICE, pitch)):
            setattr(plan, f"{side}_kind", kind)
            setattr(plan, f"{side}_pitch", step)
        setattr(plan, f"{here}_host", array.ctypes.data)
        setattr(plan, f"{there}_device", self.address + offset)
        plan.width, plan.height = width, len(array)
        _call("cuMemcpy2DUnaligned_v2", "copy rows", ctypes.byref(plan))

    def copy_from(self, other: Memory) -> None:
        """Take over all bytes of another memory of the same device and size."""
        self._within(0, other.nbytes)
        self.device.use()
        what = _Address(self.address), _Address(other.address), ctypes.c_size_t(other.nbytes)
        _call("cuMemcpyDtoD_v2", "copy memory", *what)

    def clear(self) -> None:
        """Set every byte to 0."""
        self.device.use()
        _call("cuMemsetD8_v2", "clear memory", _Address(self.address), ctypes.c_ubyte(0), ctypes.c_size_t(self.nbytes))

    def _within(self, offset: int, nbytes: int) -> None:
        if offset < 0 or offset + nbytes > self.nbytes:
            raise ValueError(f"bytes {offset} to {offset + nbytes} are not in a memory of {self.nbytes}")


_HOST, _DEVICE = 1, 2


class _Copy2D(ctypes.Structure):
    _fields_ = [
        ("src_x", ctypes.c_size_t), ("src_y", ctypes.c_size_t), ("src_kind", ctypes.c_uint),
        ("src_host", ctypes.c_void_p), ("src_device", _Address), ("src_array", ctypes.c_void_p),
        ("src_pitch", ctypes.c_size_t),
        ("dst_x", ctypes.c_size_t), ("dst_y", ctypes.c_size_t), ("dst_kind", ctypes.c_uint),
        ("dst_host", ctypes.c_void_p), ("dst_device", _Address), ("dst_array", ctypes.c_void_p),
        ("dst_pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
    ]  # fmt: skip


def _pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _freed(library: Any, device: Device, address: int) -> None:
    library.cuCtxSetCurrent(device._context)
    library.cuMemFree_v2(_Address(address))


class Module:
    """A program in a device."""

    def __init__(self, device: Device, code: bytes) -> None:
        self.device, self._handle = device, _Handle()
        self._code = code + b"\0"
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # where errors are told, and in how many bytes
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 8192)
        failed = _library().cuModuleLoadDataEx(ctypes.byref(self._handle), self._code, 2, options, values)
        if failed:
            told = log.value.decode(errors="replace").strip()
            _check(failed, f"take a program{': ' + told if told else ''}")
        weakref.finalize(self, _unloaded, _library(), device, self._handle)

    def function(self, symbol: str) -> Function:
        """One that can be launched."""
        handle = _Handle()
        self.device.use()
        _call("cuModuleGetFunction", f"find {symbol}", ctypes.byref(handle), self._handle, symbol.encode())
        return Function(self, handle)


def _unloaded(library: Any, device: Device, handle: Any) -> None:
    library.cuCtxSetCurrent(device._context)
    library.cuModuleUnload(handle)


class Function:
    """What many threads run."""

    def __init__(self, module: Module, handle: Any) -> None:
        self.module, self._handle = module, handle

    def _attribute(self, which: int) -> int:
        value = ctypes.c_int()
        _call("cuFuncGetAttribute", "tell of a function", ctypes.byref(value), which, self._handle)
        return value.value

    @property
    def registers(self) -> int:
        """Registers of a thread."""
        return self._attribute(_REGISTERS)

    @property
    def local_bytes(self) -> int:
        """Memory of a thread of its own, bytes."""
        return self._attribute(_LOCAL_BYTES)

    def launch(self, count: int, arguments: Sequence[int], block: int = 128) -> None:
        """Run it in `count` threads, and a few more to fill the last block of `block`: with `arguments`, words."""
        if count <= 0:
            return
        self.module.device.use()
        words = (ctypes.c_uint64 * max(len(arguments), 1))(*arguments)
        places = (ctypes.c_void_p * max(len(arguments), 1))(
            *(ctypes.addressof(words) + 8 * k for k in range(len(arguments)))
        )
        shape = [ctypes.c_uint(n) for n in (-(-count // block), 1, 1, block, 1, 1, 0)]
        _call("cuLaunchKernel", "launch a function", self._handle, *shape, _Handle(), places, None)


class Clock:
    """Seconds between the beginning and the end of a ``with`` block, as the device counts them."""

    def __init__(self) -> None:
        self._events = [_Handle(), _Handle()]
        for event in self._events:
            _call("cuEventCreate", "make a clock", ctypes.byref(event), 0)
            weakref.finalize(self, _library().cuEventDestroy_v2, event)

    def __enter__(self) -> Clock:
        _call("cuEventRecord", "start a clock", self._events[0], _Handle())
        return self

    def __exit__(self, *_: object) -> None:
        _call("cuEventRecord", "stop a clock", self._events[1], _Handle())

    @property
    def seconds(self) -> float:
        """How long it took; waits until it is done."""
        _call("cuEventSynchronize", "wait", self._events[1])
        milliseconds = ctypes.c_float()
        _call("cuEventElapsedTime", "read a clock", ctypes.byref(milliseconds), *self._events)
        return milliseconds.value * 1e-3
