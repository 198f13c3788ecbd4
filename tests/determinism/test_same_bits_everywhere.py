"""The same program gives the same bits in another process, and with any number of threads.

Scenes run on one thread. What could take several is the algebra on stored Green's functions (LAPACK's), and the
kernels that share their loops among the cores; so zones are solved, touched and pressed here too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import records

TESTS = Path(__file__).parents[1]
SEEDS = tuple(range(1000, 1000 + 6 * records.thorough()))
PROGRAM = """
import hashlib, sys
import numpy as np
import sennit as sn
from references import random_scenes
from references.scene_runner import bits, run
from unit.scene.kit import tissue

def tell(what, *arrays):
    text = b"".join(a if isinstance(a, bytes) else np.ascontiguousarray(a).tobytes() for a in arrays)
    print(what, hashlib.sha256(text).hexdigest())

pad = tissue()
tell("Green's functions", pad._greens.compliance)
top = int(np.argmax(pad.vertices[:, 2]))
held = pad.solve(displacements={top: (1e-3, 0.0, -2e-3)}, tractions={20: (10.0, 0.0, 5.0)})
tell("solve", held.displacements)
touched = pad.touch((0.15, 0.1, 0.1), displacement=(1e-3, 0.0, -1e-3))
tell("touch", touched.force, touched.displacements)
pressed = pad.press(sn.Sphere((0.15, 0.1, 0.145), radius=0.05), friction=0.4)
tell("press", pressed.force, pressed.displacements)
strand = sn.Strand(0.25, sn.Section.circle(radius=2e-4), sn.Material(2.7e9, 0.39, 1150), nodes=51)
state = strand.solve(base=sn.Pose(), tip=sn.Pose((0.1, 0.0, 0.1), (1, 0, 0, 0)), gravity=(0, 0, -9.81))
tell("strand", state.tip_force, state.tip_torque)
for seed in map(int, sys.argv[1:]):
    scene = run(random_scenes.wild(seed, steps=15), careful=False)["scene"]
    tell(f"scene {seed}", repr(bits(scene)).encode())
"""
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def result(threads: int, hashing: int) -> dict[str, str]:
    """What the program prints in a process of its own."""
    count = min(threads, os.cpu_count() or 1) if threads else 0  # Numba refuses more than there are cores
    settings = {THREADS[0]: str(count), THREADS[1]: str(threads), THREADS[2]: str(threads)} if threads else {}
    path = os.pathsep.join([str(TESTS), *(p for p in sys.path if p)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(hashing), **settings}
    seeds = [str(seed) for seed in SEEDS]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *seeds], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def first() -> dict[str, str]:
    return result(threads=1, hashing=1)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_and_processes(tried, first: dict[str, str], threads: int) -> None:
    """Another process, another seed of hashes, another number of threads: the same bits."""
    tried.count("random scenes and zones in processes of 1, 2 and 4 threads", len(SEEDS))
    assert len(first) == 5 + len(SEEDS)
    assert result(threads, hashing=2 + threads) == first
