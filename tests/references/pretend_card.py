"""A driver that pretends: libcuda's functions by the memory and the processor of this machine.

Programs are made for the target "host" (`gpu_program`): the very program that a card gets, of the same lowered text, in
the same type of numbers; a launch runs its threads one after the other. Addresses are those of this process: what
writes outside its memory may crash, as it would there.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
import pytest

from sennit import gpu_driver
from sennit.machine_code import _engine

CALLS: list[str] = []
"""Names of the functions that were called."""
_memory: dict[int, Any] = {}
_codes: dict[int, Any] = {}


def _out(place: Any) -> Any:
    return place._obj


def _value(number: Any) -> int:
    return int(getattr(number, "value", number) or 0)


class PretendDriver:
    """What `gpu_driver` calls of libcuda."""

    capability = 9, 0
    count = 1

    def __getattr__(self, name: str) -> Any:
        own = getattr(type(self), f"on_{name}")

        def call(*arguments: Any) -> int:
            CALLS.append(name)
            return int(own(self, *arguments) or 0)

        return call

    def on_cuInit(self, flags: Any) -> None:
        pass

    def on_cuDeviceGetCount(self, out: Any) -> None:
        _out(out).value = self.count

    def on_cuDeviceGet(self, out: Any, number: int) -> None:
        _out(out).value = number

    def on_cuDevicePrimaryCtxRetain(self, out: Any, device: Any) -> None:
        _out(out).value = 1

    def on_cuDevicePrimaryCtxRelease_v2(self, device: Any) -> None:
        pass

    def on_cuCtxSetCurrent(self, context: Any) -> None:
        pass

    def on_cuCtxSynchronize(self) -> None:
        pass

    def on_cuDeviceGetName(self, label: Any, size: int, device: Any) -> None:
        label.value = b"Pretended card"

    def on_cuDeviceGetAttribute(self, out: Any, which: int, device: Any) -> None:
        _out(out).value = {75: self.capability[0], 76: self.capability[1]}.get(which, 1)

    def on_cuGetErrorString(self, code: Any, out: Any) -> None:
        _out(out).value = b"pretended"

    def on_cuMemGetInfo_v2(self, free: Any, total: Any) -> None:
        _out(free).value = _out(total).value = 1 << 30

    def on_cuMemAlloc_v2(self, out: Any, size: Any) -> int:
        if _value(size) > 1 << 30:
            return 2
        room = (ctypes.c_char * (_value(size) + 64))()
        address = -(-ctypes.addressof(room) // 64) * 64
        _memory[address] = room
        _out(out).value = address
        return 0

    def on_cuMemFree_v2(self, address: Any) -> None:
        del _memory[_value(address)]

    def on_cuMemcpyHtoD_v2(self, to: Any, source: Any, size: Any) -> None:
        ctypes.memmove(_value(to), _value(source), _value(size))

    on_cuMemcpyDtoH_v2 = on_cuMemcpyDtoD_v2 = on_cuMemcpyHtoD_v2

    def on_cuMemsetD8_v2(self, to: Any, byte: Any, size: Any) -> None:
        ctypes.memset(_value(to), byte.value, _value(size))

    def on_cuMemcpy2DUnaligned_v2(self, plan: Any) -> None:
        p = _out(plan)
        source = p.src_host if p.src_kind == 1 else p.src_device
        to = p.dst_host if p.dst_kind == 1 else p.dst_device
        for row in range(p.height):
            ctypes.memmove(to + row * p.dst_pitch, source + row * p.src_pitch, p.width)

    def on_cuModuleLoadDataEx(self, out: Any, code: bytes, *_: Any) -> int:
        if not code.startswith(b"\x7fELF"):
            return 218
        _engine().add_object_file(llvm.ObjectFileRef.from_data(code[:-1]))
        _engine().finalize_object()
        _out(out).value = 1
        return 0

    def on_cuModuleUnload(self, module: Any) -> None:
        pass

    def on_cuModuleGetFunction(self, out: Any, module: Any, name: bytes) -> int:
        _out(out).value = _engine().get_function_address(name.decode())
        return 0 if _out(out).value else 500

    def on_cuFuncGetAttribute(self, out: Any, which: int, function: Any) -> None:
        _out(out).value = 0

    def on_cuLaunchKernel(self, function: Any, *given: Any) -> None:
        grid, block, places = given[0].value, given[3].value, given[8]
        words = [ctypes.c_uint64.from_address(place).value for place in places if place]
        run = ctypes.CFUNCTYPE(None, *([ctypes.c_uint64] * (1 + len(words))))(_value(function))
        for thread in range(grid * block):
            run(thread, *words)

    def on_cuEventCreate(self, out: Any, flags: int) -> None:
        _out(out).value = 1

    def on_cuEventDestroy_v2(self, event: Any) -> None:
        pass

    def on_cuEventRecord(self, event: Any, stream: Any) -> None:
        pass

    def on_cuEventSynchronize(self, event: Any) -> None:
        pass

    def on_cuEventElapsedTime(self, out: Any, begin: Any, end: Any) -> None:
        _out(out).value = 1.5


@contextlib.contextmanager
def pretended(driver: Any = None) -> Iterator[Any]:
    """`gpu_driver` finds this driver meanwhile, and programs are made for this processor."""
    own = driver or PretendDriver()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu_driver, "_library", lambda: own)
        patch.setattr(gpu_driver.Device, "processor", "host")
        CALLS.clear()
        yield own
