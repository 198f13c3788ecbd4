"""A driver that pretends: libcuda's functions by the memory and the processor of this machine.

Programs are made for the target "host" (`gpu_program`): the very program that a card gets, of the same lowered text, in
the same type of numbers; a launch runs its threads one after the other. Addresses are those of this process: what
writes outside its memory may crash, as it would there. `PtxDriver` runs the PTX that a card gets (`references.ptx`).
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from references.ptx import machine_code
from sennit import gpu_driver
from sennit.batch.device import CardBatch
from sennit.batch.kernels.march import march_many
from sennit.batch.running import _NOT_LED
from sennit.machine_code import _engine
from sennit.solve.kernels.codes import PLACE, QUIET
from sennit.solve.solver import WHOLE

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
    processor = "host"
    """What programs are made for."""

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
        for thread in filter(self.runs, range(grid * block)):
            run(thread, *words)

    def runs(self, thread: int) -> bool:
        """Whether a thread does anything: cards that are broken can be pretended, too."""
        return True

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


class PtxDriver(PretendDriver):
    """One that is given PTX, as a card's is; `fuse`: with all fused multiply-adds that an assembler may make."""

    processor = "sm_90"
    _loaded = 0

    def __init__(self, fuse: bool = False) -> None:
        self.fuse = fuse
        self._ends: dict[int, str] = {}

    def on_cuModuleLoadDataEx(self, out: Any, code: bytes, *_: Any) -> int:
        PtxDriver._loaded += 1
        self._ends[PtxDriver._loaded] = end = f".{PtxDriver._loaded}"
        _engine().add_object_file(llvm.ObjectFileRef.from_data(machine_code(code[:-1].decode(), end, self.fuse)))
        _engine().finalize_object()
        _out(out).value = PtxDriver._loaded
        return 0

    def on_cuModuleGetFunction(self, out: Any, module: Any, name: bytes) -> int:
        return super().on_cuModuleGetFunction(out, module, name + self._ends[_value(module)].encode())


@contextlib.contextmanager
def pretended(driver: Any = None) -> Iterator[Any]:
    """`gpu_driver` finds this driver meanwhile, and programs are made for this processor."""
    own = driver or PretendDriver()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu_driver, "_library", lambda: own)
        patch.setattr(gpu_driver.Device, "processor", own.processor)
        CALLS.clear()
        yield own


def by_processor(batch: Any, rows: Any, counts: Any, left: Any) -> tuple[Any, Any]:
    """What `CardBatch._launch` does, by the machine code of processors: a pretended card's memory is this process's."""
    system = batch._shop.system
    ended, made = np.full(batch.count, QUIET), np.zeros(batch.count, np.int64)
    anchors, path = batch._led or _NOT_LED
    march_many(
        int(system.march(PLACE, 0, batch._shop.root())), WHOLE, rows, counts, batch._roots, np.zeros(1, np.int64),
        ended, made, anchors, path, batch._asked - left, batch._shop.root(),
    )  # fmt: skip
    return ended, made


@pytest.fixture
def stepped_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Batches on a card are stepped by the processor."""
    monkeypatch.setattr(CardBatch, "_program", lambda self: None)
    monkeypatch.setattr(CardBatch, "_launch", by_processor)
    with pretended():
        yield monkeypatch
