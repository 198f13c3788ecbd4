"""The same program gives the same bits in another process, with any number of threads of Numba and of BLAS.

Scenes run on one thread. LAPACK takes as many as it is given for the Green's functions of a zone, and its sums depend
on their number: the first process keeps them in a store, from which the others read them.
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
from random import Random
import numpy as np
import sennit as sn
from references import meshes, random_scenes
from references.scene_runner import bits, run
from references.touching_families import TOUCHING
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

# Large enough that BLAS would take more than one thread for it
vertices, faces = meshes.block((0.3, 0.2, 0.1), (7, 6, 3))
below, above = np.flatnonzero(vertices[:, 2] < 1e-9), np.flatnonzero(vertices[:, 2] > 0.0999)
block = sn.Zone.from_mesh(vertices, faces, material=sn.Material(2e4, 0.45, 1000), fixed=below)
tell("zone: Green's functions of a block", block._greens.compliance)
loads = np.random.default_rng(3).normal(size=vertices.shape)
loads[below] = 0.0
loaded = block.solve(loads=loads)
tell("zone: loads everywhere", loaded.displacements, loaded.forces, loaded.tractions)
moved = block.solve(displacements={v: (1e-3, 0.0, -1e-3) for v in above.tolist()})
tell("zone: many held", moved.displacements, moved.forces)
let_go = block.solve(displacements={int(above[0]): (1e-3, 0.0, 0.0)}, released=below[: len(below) // 2])
tell("zone: released", let_go.displacements, let_go.forces)
for friction in (0.0, 0.4):
    pressed = block.press(sn.Sphere((0.15, 0.1, 0.13), radius=0.06), friction=friction)
    tell(f"zone: press on a block, friction {friction}", pressed.force, pressed.displacements, pressed.pressures)
loose = block.with_fixed([])
held = loose.solve(displacements={v: (0.0, 0.0, 1e-3 * (v % 3)) for v in above.tolist()})
tell("zone: nothing fixed", held.displacements)
pull = np.zeros(vertices.shape)
pull[above[0]], pull[above[-1]] = vertices[above[0]] - vertices[above[-1]], vertices[above[-1]] - vertices[above[0]]
tell("zone: balanced loads", loose.solve(loads=pull, rigid_modes="removed").displacements)
strand = sn.Strand(0.25, sn.Section.circle(radius=2e-4), sn.Material(2.7e9, 0.39, 1150), nodes=51)
state = strand.solve(base=sn.Pose(), tip=sn.Pose((0.1, 0.0, 0.1), (1, 0, 0, 0)), gravity=(0, 0, -9.81))
tell("strand", state.tip_force, state.tip_torque)
for seed in map(int, sys.argv[1:]):
    scene = run(random_scenes.wild(seed, steps=15), careful=False)["scene"]
    soft = any(isinstance(body, sn.Zone) for body in scene.bodies)
    tell(f"zone: scene {seed}" if soft else f"scene {seed}", repr(bits(scene)).encode())
for family in ("poured", "struck", "piled_and_caught"):
    played = TOUCHING[family](Random(f"{family} everywhere"))
    met = 0
    for _ in range(120):
        if played.drive:
            played.drive(played.scene.time)
        played.scene.step(1 / 240)
        met += len(played.scene.contacts)
    assert met > 20, family
    told = [(event.time, event.kind, event.message) for event in played.scene.events]
    forces = [contact.force for contact in played.scene.contacts]
    tell(f"touching: {family}", repr((bits(played.scene), told)).encode(), *forces)
"""
STORE = """
import pathlib, sys
from sennit.elastostatics import store
folder = pathlib.Path(sys.argv.pop(1))
store.store_folder = lambda: folder
"""
"""Green's functions in a folder of the test's own; compiled code stays where it is."""
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def result(store: Path, threads: int, hashing: int, algebra: int) -> dict[str, str]:
    """What the program prints in a process of its own, with so many threads for Numba and for BLAS, and this store."""
    count = min(threads, os.cpu_count() or 1)  # Numba refuses more than there are cores
    settings = dict(zip(THREADS, (str(count), str(algebra), str(algebra)), strict=True))
    path = os.pathsep.join([str(TESTS), *(p for p in sys.path if p)])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(hashing), **settings}
    seeds = [str(seed) for seed in SEEDS]
    done = subprocess.run(
        [sys.executable, "-c", STORE + PROGRAM, str(store), *seeds],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def first(folder: Path) -> dict[str, str]:
    """By two threads, where there are two: what the first process stores is what others with one have to repeat."""
    found = result(folder, threads=1, hashing=1, algebra=2)
    assert len(found) == 16 + len(SEEDS)
    return found


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_and_processes(tried, folder: Path, first: dict[str, str], threads: int) -> None:
    """Another process, another seed of hashes, another number of threads of Numba and of BLAS: the same bits."""
    tried.count("random scenes, zones and a strand in processes of 1, 2 and 4 threads", len(SEEDS))
    assert result(folder, threads, hashing=2 + threads, algebra=threads) == first
