"""The same function for many parameters: in order, with failures as values, kept on the disk, on any executor."""

from __future__ import annotations

import math
import operator
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

import sennit as sn


def told(value):
    """A result of every kind that can be kept."""
    arrays = [np.arange(3) * value, np.float32(value), np.array("text")]
    return {"n": value, "x": value / 3, "z": 1j * value, "none": None, "both": (True, ["a", arrays]), "inf": -math.inf}


def plain(result):
    """What is compared: texts of everything."""
    return repr(result)


def test_results_come_in_order_and_failures_are_values() -> None:
    results = sn.sweep(math.sqrt, [4.0, -1.0, 9.0], progress=False)
    assert results[0] == 2.0
    assert results[2] == 3.0
    failed = results[1]
    assert isinstance(failed, sn.SweepFailure)
    assert (failed.parameters, failed.kind) == (-1.0, "ValueError")
    assert failed.message == "math domain error"
    assert "Traceback" in failed.trace
    assert not failed


def test_executors_give_what_a_loop_gives() -> None:
    """Threads, and processes that are started afresh: scenes go there and results come back."""
    wanted = [math.factorial(k) for k in range(6)]
    with ThreadPoolExecutor(2) as pool:
        assert sn.sweep(math.factorial, range(6), pool) == wanted
    scenes = []
    for height in (1.0, 2.0):
        scene = sn.Scene()
        scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, height)))
        scene.run(0.1, 1e-2)
        scenes.append(scene)
    look = operator.attrgetter("energy.total")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert sn.sweep(look, scenes, pool) == [look(scene) for scene in scenes]
        assert isinstance(sn.sweep(lambda x: x, [1], pool)[0], sn.SweepFailure), "what can't be sent is a failure"


CALLS: list[object] = []
"""What `work` was called with."""


def work(value):
    """Is killed at its third call, and fails for 1."""
    CALLS.append(value)
    if len(CALLS) == 3:
        raise KeyboardInterrupt
    if value == 1:
        raise ValueError("not this time")
    return told(value)


def test_a_sweep_that_was_killed_goes_on_where_it_was(tmp_path) -> None:
    calls = CALLS
    with pytest.raises(KeyboardInterrupt):
        sn.sweep(work, range(5), keep=tmp_path / "kept")
    calls[:] = [None] * 5  # never interrupted again; the first is on the disk, the second failed
    results = sn.sweep(work, range(5), keep=tmp_path / "kept")
    assert calls[5:] == [1, 2, 3, 4]
    assert isinstance(results[1], sn.SweepFailure)
    assert [plain(results[k]) for k in (0, 2, 3, 4)] == [plain(told(k)) for k in (0, 2, 3, 4)]
    again = sn.sweep(work, range(5), keep=tmp_path / "kept")
    assert calls[9:] == [1], "failures are tried again"
    assert plain(again[4]) == plain(told(4))


def test_a_file_that_is_not_whole_is_made_again(tmp_path) -> None:
    sn.sweep(told, range(2), keep=tmp_path)
    damaged = tmp_path / "1.npz"
    damaged.write_bytes(damaged.read_bytes()[:-40])
    assert plain(sn.sweep(told, range(2), keep=tmp_path)) == plain([told(0), told(1)])


def test_other_sweeps_are_refused(tmp_path) -> None:
    sn.sweep(math.sqrt, [1.0, 2.0], keep=tmp_path)
    for function, parameters, what in (
        (math.sqrt, [1.0, 3.0], "parameters"), (math.sqrt, [1.0], "parameters"), (math.exp, [1.0, 2.0], "function"),
        (partial(math.pow, 2.0), [1.0, 2.0], "function"),
    ):  # fmt: skip
        with pytest.raises(sn.InputError, match=rf"another sweep \({what}\)"):
            sn.sweep(function, parameters, keep=tmp_path)
    factor = 2.0
    sn.sweep(lambda x: factor * x, [1.0], keep=tmp_path / "closure")


def test_what_can_not_be_kept_is_refused(tmp_path) -> None:
    """No pickle is written."""
    for k, result in enumerate((object(), {1: 2}, np.array([object()]), {"deep": [sn.Pose()]})):
        with pytest.raises(sn.InputError, match="the result of call 0 can't be kept"):
            sn.sweep(lambda _, result=result: result, [0], keep=tmp_path / str(k))
    for path in tmp_path.rglob("*"):
        if path.is_file():
            with pytest.raises(Exception, match=r".*"):
                pickle.loads(path.read_bytes())


def test_bad_input() -> None:
    with pytest.raises(sn.InputError, match="function must"):
        sn.sweep(3, [1])
    with pytest.raises(sn.InputError, match="parameters"):
        sn.sweep(math.sqrt, 3)
    with pytest.raises(sn.InputError, match="executor must have submit"):
        sn.sweep(math.sqrt, [1.0], "processes")
    with pytest.raises(sn.InputError, match="keep must"):
        sn.sweep(math.sqrt, [1.0], keep=3)
