"""The same function for many parameters: in order, with failures as values, kept on the disk, on any executor."""

from __future__ import annotations

import math
import operator
import pickle
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

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
    scenes = [falling(height) for height in (1.0, 2.0)]
    look = operator.attrgetter("energy.total")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert sn.sweep(look, scenes, pool) == [look(scene) for scene in scenes]
        assert isinstance(sn.sweep(lambda x: x, [1], pool)[0], sn.SweepFailure), "what can't be sent is a failure"


def falling(height):
    """A scene in which a ball has fallen for a while."""
    scene = sn.Scene()
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, height)))
    scene.run(0.05, 1e-2)
    return scene


@pytest.mark.slow
def test_dask_s_local_cluster_gives_what_a_loop_gives(tmp_path) -> None:
    """Scenes go to its processes, results come back in order, failures are values; and are kept."""
    distributed = pytest.importorskip("distributed")
    look = operator.attrgetter("energy.total")
    scenes = [falling(height) for height in (1.0, 2.0, 3.0)]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path / "dask")
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        pool = client.get_executor()
        assert sn.sweep(look, scenes, pool, keep=tmp_path / "kept") == [look(scene) for scene in scenes]
        first, failed, last = sn.sweep(math.sqrt, [4.0, -1.0, 9.0], pool)
        assert (first, last) == (2.0, 3.0)
        assert isinstance(failed, sn.SweepFailure)
        assert (failed.parameters, failed.kind) == (-1.0, "ValueError")
    assert len(list((tmp_path / "kept").glob("*.npz"))) == 3


MPI = """
import math
import operator
import sennit as sn
from mpi4py.futures import MPIPoolExecutor

scenes = []
for height in (1.0, 2.0, 3.0):
    scene = sn.Scene()
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(0, 0, height)))
    scene.run(0.05, 1e-2)
    scenes.append(scene)
look = operator.attrgetter("energy.total")
if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        print(sn.sweep(look, scenes, pool) == [look(scene) for scene in scenes])
        print([result or result.kind for result in sn.sweep(math.sqrt, [4.0, -1.0], pool)])
"""


def test_mpi_gives_what_a_loop_gives(tmp_path) -> None:
    """Where mpi4py is installed, with what starts its processes."""
    pytest.importorskip("mpi4py")
    start = shutil.which("mpiexec", path=str(Path(sys.executable).parent)) or shutil.which("mpiexec")
    if start is None:
        pytest.skip("there is no mpiexec")
    (tmp_path / "job.py").write_text(MPI)
    command = [start, "-n", "2", sys.executable, "-m", "mpi4py.futures", "job.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert found.stdout.splitlines() == ["True", "[2.0, 'ValueError']"], found.stderr


JOB = """
import os
import signal
import sennit as sn

def work(k):
    with open("calls", "a") as file:
        file.write(f"{k} ")
    if k == 3 and not os.path.exists("killed"):
        open("killed", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"k": [k / 3]}

print(sn.sweep(work, range(5), keep="kept"))
"""


def test_a_sweep_whose_process_was_killed_goes_on_where_it_was(tmp_path) -> None:
    """By a signal that no program can answer."""
    (tmp_path / "job.py").write_text(JOB)

    def run():
        return subprocess.run([sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)

    killed, again = run(), run()
    assert killed.returncode == -signal.SIGKILL
    assert not killed.stdout
    assert again.stdout.strip() == str([{"k": [k / 3]} for k in range(5)]), again.stderr
    assert (tmp_path / "calls").read_text().split() == ["0", "1", "2", "3", "3", "4"]


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
