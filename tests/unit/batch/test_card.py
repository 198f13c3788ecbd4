"""Programs of graphics cards, the driver and rows on a card: on this processor, by a driver that pretends."""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from references.pretend_card import CALLS, PretendDriver, pretended

from sennit import gpu_driver, gpu_program
from sennit.batch.card import Card, CardArray, CardRows
from sennit.batch.kernels.rows_each import fill_each
from sennit.batch.launch import Fill
from sennit.compilation import PLAIN, inlined, kernel, single, tolerance
from sennit.errors import InputError
from sennit.gpu_program import Target
from sennit.lanes import at, load, put_at, root, store
from sennit.tables import PARAMETER, WORK, Table, number, table, whole
from sennit.threads import hidden, read_word, thread, write_word

pytestmark = pytest.mark.skipif(PLAIN, reason="programs are compiled")
DTYPES = ("float64", "float32")
LIMIT = tolerance(1e-12, 1e-5)


class Inner(Table):
    x = number(PARAMETER, "numbers of the one", of="items")


class Left(Table):
    inner = table(Inner, "numbers of the one")


class Right(Table):
    inner = table(Inner, "numbers of the other")


class Pair(Table):
    left = table(Left, "one of two")
    right = table(Right, "the other")
    out = number(WORK, "results", of="threads")


class Task(Table):
    a = number(PARAMETER, "numbers", of="items")
    pairs = number(PARAMETER, "two for each", 2, of="items")
    n = whole(PARAMETER, "whole numbers", of="items", kind=np.uint32)
    out = number(WORK, "results", of="items")
    room = number(WORK, "packs", 4, of="items")
    extra = number(WORK, "sometimes none", of="extras")


@inlined
def four():
    return 4


@single(four)
@inlined
def one():
    return 1


@kernel
def each(task):
    i = thread()
    if i < task.a.size:
        store(task.room, i, at(task.a, i))
        x = root(load(task.room, i)) + math.sin(task.pairs[i, 0]) * math.atan2(task.pairs[i, 1], 2.0)
        for k in range(task.extra.size):
            x += 1000.0 * task.extra[k]
        put_at(task.out, i, x + task.n[i] * LIMIT() + max(task.a[i] - 1e3, 1e-300) + 0.5 * four())


@kernel
def total(inner):
    x = 0.0
    for k in range(inner.x.size):
        x += inner.x[k]
    return x


@kernel
def either(pair):
    i = thread()
    if i < pair.out.size:
        chosen = pair.left.inner if i == 0 else pair.right.inner
        pair.out[i] = total(chosen) + 100.0 * total(pair.left.inner)


@kernel
def lossy(task):
    task.out[0] = task.a[0] * 1e-200


@kernel
def own_memory(task, own):
    i = thread()
    if i < task.n.size:
        write_word(own + 8 * i, np.int64(task.n[i]) + 7)
        task.out[i] = read_word(hidden(own) + 8 * i)


def given(count=5, extras=0):
    chance = np.random.default_rng(0)
    return {
        "a": chance.uniform(1, 2, count), "pairs": chance.normal(size=(count, 2)),
        "n": np.arange(count, dtype=np.uint32), "out": np.zeros(count), "room": np.zeros((count, 4)),
        "extra": np.ones(extras),
    }  # fmt: skip


def expected(task, limit, extras=0.0):
    turned = np.sin(task["pairs"][:, 0]) * np.arctan2(task["pairs"][:, 1], 2.0)
    return np.sqrt(task["a"]) + turned + task["n"] * limit + 0.5 + 1000.0 * extras


def launched(card, function, count, tables, *more):
    memory, kept = card.block(Task, tables)
    function.launch(count, [memory.address, *more], block=2)
    return kept[list(Task._fields).index("out")].numpy()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_kernel_computes_the_same_in_its_threads(dtype) -> None:
    """Numbers of 8 and of 4 bytes, rows made one by one, limits of each type; more threads than there is work for."""
    with pretended():
        card = Card(dtype)
        task = given(5, 1)
        found = launched(card, card.function(each, (Task,), frozenset()), 5, task)
        assert found.dtype == dtype
        wanted = expected(task, {"float64": 1e-12, "float32": 1e-5}[dtype], 1.0)
        assert np.allclose(found, wanted, rtol={"float64": 1e-15, "float32": 2e-7}[dtype], atol=0)
        assert "cuLaunchKernel" in CALLS


def test_sizes_that_are_said_to_be_empty_are_left_out() -> None:
    """A table that has some of them after all shows it: nothing looks."""
    with pretended():
        card = Card("float64")
        task = given(3, 2)
        function = card.function(each, (Task,), frozenset({("/Task", "extras")}))
        assert np.allclose(launched(card, function, 3, task), expected(task, 1e-12), rtol=1e-15, atol=0)


def test_a_kernel_chooses_between_tables_of_one_class() -> None:
    """Of which one has no rows, said to be empty, and the other one has some: what was chosen has its own."""
    pair = Pair(left=Left(inner=Inner(items=0)), right=Right(inner=Inner(items=3)), threads=2)
    pair.right.inner.x[:] = 1.0, 2.0, 4.0
    for empty in (frozenset(), frozenset({("Left/Inner", "items")})):
        program = gpu_program.compiled(either, (Pair,), Target("host", empty=empty))
        with pretended():
            pair.out[:] = -1.0
            gpu_driver.Device().load(program.code).function(program.symbol).launch(2, [pair._address])
        assert pair.out.tolist() == [0.0, 7.0]
    pair = Pair(left=Left(inner=Inner(items=2)), right=pair.right, threads=2)
    pair.left.inner.x[:] = 3.0
    program = gpu_program.compiled(either, (Pair,), Target("host", empty=frozenset({("Left/Inner", "items")})))
    with pretended():
        gpu_driver.Device().load(program.code).function(program.symbol).launch(2, [pair._address])
    assert pair.out.tolist() == [6.0, 7.0], "the call with one of them alone is left out, not that with either"


def test_threads_have_memory_of_their_own() -> None:
    """Its address is the last argument, which a launch does not give."""
    with pretended():
        card = Card("float64")
        program = gpu_program.compiled(own_memory, (Task, int), Target("host", own_words=8))
        function = card.device.load(program.code).function(program.symbol)
        assert launched(card, function, 5, given()).tolist() == [7, 8, 9, 10, 11]


def test_constants_that_float32_has_not_got_are_refused() -> None:
    """1e-200 would be 0."""
    with pytest.raises(InputError, match=r"1e-200.*tolerance"):
        gpu_program.compiled(lossy, (Task,), Target("host", "float32"))
    gpu_program.compiled(lossy, (Task,), Target("host", "float64"))
    with pytest.raises(ValueError, match="float16"):
        gpu_program.compiled(lossy, (Task,), Target("host", "float16"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_programs_become_ptx(dtype, tmp_path) -> None:
    """An entry, numbers of one type alone, no function that the card has not got; NVIDIA's assembler takes them."""
    jobs = [(fill_each, (Fill,)), (lossy, (Task,))] if dtype == "float64" else [(fill_each, (Fill,))]
    try:
        gpu_program.libdevice()
        jobs.append((each, (Task,)))
    except InputError as problem:
        assert "sennit[cuda]" in str(problem)
    for function, kinds in jobs:
        program = gpu_program.compiled(function, kinds, Target("sm_90", dtype))
        text = program.code.decode()
        assert f".visible .entry {program.symbol}(" in text
        assert ".target sm_90" in text
        assert not re.search(r"^\.extern", text, re.MULTILINE)
        if function is each:
            own, other = (".f64", ".f32") if dtype == "float64" else (".f32", ".f64")
            assert f"sqrt.rn{own}" in text
            assert f"sqrt.rn{other}" not in text
            assert not (dtype == "float32" and re.search(r"ld(\.\w+)*\.f64", text))
        if shutil.which("ptxas"):
            path = tmp_path / "program.ptx"
            path.write_bytes(program.code)
            done = subprocess.run(["ptxas", "-arch=sm_90", str(path), "-o", str(path) + ".out"], capture_output=True)
            assert done.returncode == 0, done.stderr


def test_cards_have_all_functions_that_kernels_call() -> None:
    """By name: a program that asks for another one is refused when it is made, which takes minutes to see."""
    known = {*gpu_program._NAMED, *gpu_program._INSTRUCTIONS, "isfinite", "isnan", "copysign", "inf", "nan", "pi"}
    package = Path(gpu_program.__file__).parent
    called = {
        name: path
        for path in package.rglob("kernels/*.py")
        for name in re.findall(r"\bmath\.(\w+)", path.read_text())
    }  # fmt: skip
    assert len(called) > 10
    assert {name: str(path) for name, path in called.items() if name not in known} == {}


# ------------------------------------------------------------------------------------------------------- the driver


class Without(PretendDriver):
    """A driver that finds no card."""

    count = 0


class Broken(PretendDriver):
    """One that can't launch."""

    def on_cuLaunchKernel(self, *_) -> int:
        return 700


def test_a_machine_without_a_card_is_told_what_is_missing(monkeypatch) -> None:
    """Neither a driver, nor a card, nor one of that number."""
    monkeypatch.setattr(gpu_driver.ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError(name)))
    gpu_driver._library.cache_clear()
    try:
        with pytest.raises(InputError, match=r"driver \(libcuda\).*device=\"cpu\""):
            gpu_driver.Device()
    finally:
        gpu_driver._library.cache_clear()
    with pretended(Without()), pytest.raises(InputError, match="finds none"):
        gpu_driver.Device()
    with pretended(), pytest.raises(InputError, match="1 graphics cards, numbered from 0 on, got 3"):
        gpu_driver.Device(3)


def test_the_driver_is_used_as_it_wants_to_be() -> None:
    """Copies there and back, whole, from an offset and by rows; what does not fit or fails is told; all is freed."""
    with pretended():
        device = gpu_driver.Device()
        assert repr(device) == "<Device 0: Pretended card>"
        assert device.capability == (9, 0)
        memory = device.memory(96)
        memory.clear()
        memory.put(np.arange(4.0), 32)
        assert memory.get(np.empty(12)).tolist() == [0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0]
        memory.put_rows(np.array([[5.0], [6.0], [7.0]]), 8, 32)
        assert memory.get_rows(np.empty((3, 2)), 0, 32).tolist() == [[0, 5], [0, 6], [0, 7]]
        spread = np.zeros((2, 4))
        memory.get(spread[:, ::2], 64)
        assert spread.tolist() == [[0, 0, 7, 0], [0, 0, 0, 0]]
        other = device.memory(96)
        other.copy_from(memory)
        assert np.array_equal(other.get(np.empty(12)), memory.get(np.empty(12)))
        with pytest.raises(ValueError, match="not in a memory of 96"):
            memory.put(np.zeros(12), 8)
        with pytest.raises(InputError, match="no 2048 MiB left, only 1024"):
            device.memory(1 << 31)
        with pytest.raises(gpu_driver.DeviceError, match=r"take a program.*code 218"):
            device.load(b"nonsense")
        with device.clock() as clock:
            device.wait()
        assert clock.seconds == pytest.approx(1.5e-3)
        CALLS.clear()
        del memory, other, clock
        assert CALLS.count("cuMemFree_v2") == 2
        assert CALLS.count("cuEventDestroy_v2") == 2
    with pretended(Broken()), pytest.raises(gpu_driver.DeviceError, match=r"launch a function: pretended \(code 700\)"):
        card = Card("float64")
        launched(card, card.function(each, (Task,), frozenset()), 1, given())


@pytest.mark.parametrize(("capability", "processor"), [((9, 0), "sm_90"), ((7, 5), "sm_75"), ((10, 0), "sm_90")])
def test_programs_are_made_for_the_card(monkeypatch, capability, processor) -> None:
    """Newer ones than 9.0 translate what is made for it."""
    own = gpu_driver.Device.processor
    with pretended() as driver:
        monkeypatch.setattr(type(driver), "capability", capability)
        assert own.fget(gpu_driver.Device()) == processor


# ------------------------------------------------------------------------------------------------------ arrays, rows


def test_arrays_on_a_card_are_handed_over_without_a_copy() -> None:
    """By CUDA's array interface and by DLPack, strides and all; to NumPy as a copy."""
    with pretended():
        device = gpu_driver.Device()
        memory = device.memory(8 * 24)
        memory.put(np.arange(24.0))
        array = CardArray(memory, "float64", (3, 2), 8, (64, 16))
        wanted = np.arange(24.0).reshape(3, 8)[:, 1:5:2]
        assert np.array_equal(array.numpy(), wanted)
        assert np.array_equal(np.asarray(array), wanted)
        assert np.array_equal(array[1], wanted[1])
        assert (len(array), array.ndim, array.size, array.device) == (3, 2, 6, "cuda:0")
        told = array.__cuda_array_interface__
        assert told["data"] == (memory.address + 8, False)
        assert (told["shape"], told["strides"], told["typestr"]) == ((3, 2), (64, 16), "<f8")
        with pytest.raises(ValueError, match="without a copy"):
            np.array(array, copy=False)
        assert array.__dlpack_device__() == (2, 0)
        capsule = array.__dlpack__()
        form = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
        look = form(("PyCapsule_GetPointer", ctypes.pythonapi))
        place = look(capsule, b"dltensor")
        words = (ctypes.c_int64 * 8).from_address(place)
        assert words[0] == array.address
        assert list((ctypes.c_int64 * 2).from_address(words[3])) == [3, 2]
        assert list((ctypes.c_int64 * 2).from_address(words[4])) == [8, 2], "DLPack counts items"
        held = sys.getrefcount(array)
        del capsule
        assert sys.getrefcount(array) == held - 1, "nobody took it: it is given back"


def test_rows_of_words_are_filled_read_and_written() -> None:
    """The same words in some rows, with each one's address added; columns of words and of halves; copies."""
    with pretended():
        rows = CardRows(Card("float64"), 4, 6)
        every = np.arange(4)
        rows.fill(every, np.arange(6), np.arange(6))
        rows.fill(np.array([1, 3]), np.array([2]), np.array([16]), rows.base[[1, 3]])
        wanted = np.tile(np.arange(6), (4, 1))
        wanted[[1, 3], 2] = rows.base[[1, 3]] + 16
        assert np.array_equal(rows.memory.get(np.empty((4, 6), np.int64)), wanted)
        kept = rows.copy()
        rows.put(np.array([0, 2]), np.array([5, 4]), np.array([[10, 11], [12, 13]]))
        assert rows.take(np.array([2, 0]), np.array([4, 5])).tolist() == [[13, 12], [11, 10]]
        rows.put(np.array([3]), np.array([2, 3]), np.array([[1, 1]], np.int32))
        assert rows.get_row(3).tolist() == [0, (1 << 32) + 1, wanted[3, 2], 3, 4, 5]
        rows.take_over(np.array([2, 3]), 1, kept)
        assert np.array_equal(rows.take(np.array([1, 2, 3]), np.arange(6)), wanted[1:])
        rows.put_row(0, np.arange(6) + 100, 4)
        assert rows.get_row(0).tolist() == [0, 1, 2, 3, 104, 105]
