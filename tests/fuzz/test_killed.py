"""kill −9 while a file is written: the old one is there or the new one, whole; what is left besides harms nobody.

A child process writes the same file over and over, two contents in turn, and says so before each; it is killed after a
random time. Every format of `record` must then still read, and each file have the bytes of one of the two.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import records

KILLS = 2 * records.thorough()
LONGEST = 0.15
"""S after the first complete file, within which the writer is killed: several of its turns."""

PROGRAM = """
import os, sys, itertools, warnings
from pathlib import Path
import numpy as np
import sennit as sn
from sennit.bench.table import write_json
from sennit.elastostatics.storefile import write_arrays
from sennit.export.record import write
from sennit.export.recording import record_frames

def scene(kind):
    made = sn.Scene()
    for k in range(8 + 4 * kind):
        made.add(sn.RigidBody.sphere(0.1, mass=1.0, position=(k, kind, 0)))
    return made

scenes = [scene(0), scene(1)]
arrays = [{"S": np.full((200 + 100 * kind, 200), float(kind))} for kind in (0, 1)]
recordings = [record_frames(scene(kind), 0.1, dt=0.05, fps=20) for kind in (0, 1)]
numbers = [list(range(20_000 + 10_000 * kind)) for kind in (0, 1)]
warnings.simplefilter("ignore")  # of forks

def turn(name, folder, suffix, kind):
    if name == "save":
        scenes[kind].save(folder / "file.npz")
    elif name == "store":
        write_arrays(folder / "file.greens", {"kind": kind}, arrays[kind])
    elif name == "write_json":
        write_json(folder / "file.json", {"kind": kind, "numbers": numbers[kind]})
    else:
        write(recordings[kind], folder / ("file" + suffix))

for line in sys.stdin:
    name, suffix, folder = line.rstrip().split(" ", 2)
    child = os.fork()
    if child == 0:
        for kind in (0, 1):  # each alone, to compare with
            alone = Path(folder).with_name("alone") / str(kind)
            if not alone.exists():
                alone.mkdir(parents=True)
                turn(name, alone, suffix, kind)
        for k in itertools.count():
            turn(name, Path(folder), suffix, k % 2)
            if k == 1:
                print(os.getpid(), flush=True)
    print("status", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
SUFFIXES = (".npz", ".glb", ".gltf", ".usda", ".vtu", ".xdmf", ".html", ".gif", ".mp4", ".stl", ".csv")
CASES = [("save", ""), ("store", ""), ("write_json", "")] + [("record", suffix) for suffix in SUFFIXES]


def content(folder: Path) -> dict[str, str]:
    """Hash of each finished file; a name that begins with a dot, or ends in .part, is not finished."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    seen = [path.relative_to(folder) for path in files]
    return {
        str(name): hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in seen
        if not any(part.startswith(".") or part.endswith(".part") for part in name.parts)
    }


@pytest.fixture(scope="module")
def writers():
    """A process that has loaded everything, and forks one that writes for each line that it is given."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield parent
    parent.communicate()
    assert parent.returncode == 0


def written_by(writers: subprocess.Popen[str], name: str, suffix: str, folder: Path, seconds: float) -> str:
    """Let one write until `seconds` after both contents were there once, then kill it."""
    assert writers.stdin is not None and writers.stdout is not None
    writers.stdin.write(f"{name} {suffix} {folder}\n")
    writers.stdin.flush()
    child = writers.stdout.readline()
    assert child.strip().isdigit(), child
    time.sleep(seconds)
    os.kill(int(child), signal.SIGKILL)
    return writers.stdout.readline().strip()


def readable(path: Path) -> None:
    """Read the file as its readers do: half of one raises."""
    suffix = path.suffix
    if path.name == "file.npz" and path.with_name("is_scene").exists():
        import sennit as sn

        sn.Scene.load(path)
    elif suffix == ".npz":
        import numpy as np

        with np.load(path, allow_pickle=False) as data:
            assert dict(data)
    elif suffix == ".greens":
        from sennit.elastostatics.storefile import read_arrays

        notes, arrays = read_arrays(path)
        assert len(arrays["S"]) == 200 + 100 * notes["kind"]
    elif suffix in (".json", ".gltf"):
        json.loads(path.read_text(encoding="utf-8"))
    elif suffix in (".pvd", ".vtu", ".xdmf"):
        assert path.read_bytes().rstrip().endswith(b">")
    elif suffix == ".html":
        assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    elif suffix == ".glb":
        data = path.read_bytes()
        assert int.from_bytes(data[8:12], "little") == len(data)
    elif suffix == ".usda":
        from pxr import Usd

        assert Usd.Stage.Open(str(path))
    else:
        assert path.stat().st_size > 100


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_killed_while_writing(name: str, suffix: str, tmp_path: Path, writers, tried) -> None:
    folder = tmp_path / "written"
    folder.mkdir()
    for package in {".usda": ("pxr",), ".vtu": ("meshio",), ".mp4": ("PIL", "imageio_ffmpeg"), ".gif": ("PIL",)}.get(
        suffix, ()
    ):
        pytest.importorskip(package)
    rng = random.Random(f"{name}{suffix}")
    if name == "save":
        (folder / "is_scene").touch()
    for _ in range(KILLS):
        status = written_by(writers, name, suffix, folder, rng.uniform(0.0, LONGEST))
        tried.count("kill −9 while a file is written")
        assert status == f"status {-signal.SIGKILL}"
        found = content(folder)
        one, two = (content(tmp_path / "alone" / kind) for kind in "01")
        assert any(Path(file).stem == "file" for file in found), f"nothing is left of {name}{suffix}"
        for file, bits in found.items():
            if file != "is_scene":
                readable(folder / file)
                assert bits in (one.get(file), two.get(file)), f"{file} is neither the old one nor the new one"
