"""The same program gives the same bits in another process, and with any number of Numba's threads.

Scenes run on one thread. LAPACK takes as many as it is given for the Green's functions of a zone, and its sums depend
on their number: with as many as in the first process everything is the same to the bit, with others all but zones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import records

TESTS = Path(__file__).parents[1]
SEEDS = tuple(range(1000, 1000 + 4 * records.thorough()))
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
tell("zone: Green's functions", pad._greens.compliance)
top = int(np.argmax(pad.vertices[:, 2]))
held = pad.solve(displacements={top: (1e-3, 0.0, -2e-3)}, tractions={20: (10.0, 0.0, 5.0)})
tell("zone: solve", held.displacements)
touched = pad.touch((0.15, 0.1, 0.1), displacement=(1e-3, 0.0, -1e-3))
tell("zone: touch", touched.force, touched.displacements)
pressed = pad.press(sn.Sphere((0.15, 0.1, 0.145), radius=0.05), friction=0.4)
tell("zone: press", pressed.force, pressed.displacements)
strand = sn.Strand(0.25, sn.Section.circle(radius=2e-4), sn.Material(2.7e9, 0.39, 1150), nodes=51)
state = strand.solve(base=sn.Pose(), tip=sn.Pose((0.1, 0.0, 0.1), (1, 0, 0, 0)), gravity=(0, 0, -9.81))
tell("strand", state.tip_force, state.tip_torque)
for seed in map(int, sys.argv[1:]):
    scene = run(random_scenes.wild(seed, steps=15), careful=False)["scene"]
    soft = any(isinstance(body, sn.Zone) for body in scene.bodies)
    tell(f"zone: scene {seed}" if soft else f"scene {seed}", repr(bits(scene)).encode())
"""
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def result(threads: int, hashing: int, algebra: int) -> dict[str, str]:
    """What the program prints in a process of its own, with so many threads for Numba and for LAPACK."""
    count = min(threads, os.cpu_count() or 1)  # Numba refuses more than there are cores
    settings = dict(zip(THREADS, (str(count), str(algebra), str(algebra)), strict=True))
    path = os.pathsep.join([str(TESTS), *(p for p in sys.path if p)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(hashing), **settings}
    seeds = [str(seed) for seed in SEEDS]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *seeds],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def first() -> dict[str, str]:
    found = result(threads=1, hashing=1, algebra=1)
    assert len(found) == 5 + len(SEEDS)
    return found


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_and_processes(tried, first: dict[str, str], threads: int) -> None:
    """Another process, another seed of hashes, another number of Numba's threads: the same bits."""
    tried.count("random scenes, zones and a strand in processes of 1, 2 and 4 threads", len(SEEDS))
    assert result(threads, hashing=2 + threads, algebra=1) == first


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_of_the_algebra(tried, first: dict[str, str], threads: int) -> None:
    """More threads for LAPACK: scenes without zones, and strands, keep their bits."""
    tried.count("random scenes and a strand with 2 and 4 threads of LAPACK", len(SEEDS))
    found = result(threads, hashing=1, algebra=threads)
    kept = {what for what in first if not what.startswith("zone: ")}
    assert {what: found.get(what) for what in kept} == {what: first[what] for what in kept}
