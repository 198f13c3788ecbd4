"""Every file reader with damaged and hostile files: `InputError`, at once, without a large allocation or pickle.

The store of Green's functions, the wire between processes and the kernels' cache have such tests of their own, in
tests/unit; here they meet random damage as well.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import struct
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import records
from fuzz.calls import GEL, ROPE, SOFT, STEEL, Kit, gel
from fuzz.trial import finite

import sennit as sn
from sennit.cli import main
from sennit.elastostatics.storefile import DamagedFileError, read_arrays, read_description, write_arrays

DAMAGES = 24 * records.thorough()
MOST_MEMORY = 200e6
"""Bytes that a reader may take for a file of a few kilobytes."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    """A scene with one of everything that can be saved, in a file."""
    kit = Kit()
    kit.scene.remove(kit.follow)
    kit.scene.add(sn.Keyhole(kit.rope, 0.5, sn.World.at((0.5, 0, 1)), friction=0.1))
    wheel = sn.Sheave(sn.World.at((1, 0, 5)), axis=(0, 1, 0), radius=0.1, inertia=0.1)
    points = [sn.World.at((0, 0, 4)), wheel, kit.box.at()]
    kit.scene.add(sn.Cable(points, section=ROPE, material=STEEL, around=[kit.ball]))
    floor = kit.scene.add(sn.Obstacle(sn.Box((1, 1, 0.1), sn.Pose((3, 0, -0.15))), name="floor"))
    kit.scene.collide(kit.crate, floor, friction=0.4)
    kit.scene.ignore(kit.rope)
    pad = kit.scene.add(gel().with_material(GEL, "pad"), on=sn.World.at((6, 0, 0)))
    cord = sn.Rod.straight((6.05, 0.1, 0.105), (6.25, 0.1, 0.105), section=ROPE, material=SOFT, control_points=6)
    on_pad = kit.scene.collide(kit.scene.add(cord), pad, friction=0.4)
    kit.scene.run(3e-3, dt=1e-3)
    assert len(kit.scene.contacts)
    assert on_pad.touching
    path = tmp_path_factory.mktemp("saved") / "scene.npz"
    kit.scene.save(path)
    return path


@pytest.fixture(scope="module")
def parts(saved) -> tuple[dict, dict[str, np.ndarray]]:
    with np.load(saved, allow_pickle=False) as data:
        arrays = dict(data)
    return json.loads(bytes(arrays.pop("description")).decode()), arrays


def write(path: Path, description: object, arrays: dict) -> Path:
    np.savez(path, description=np.frombuffer(json.dumps(description).encode(), np.uint8), **arrays)
    return path


def loaded_or_refused(path: Path) -> bool:
    """Load; only `InputError` may come out. What is accepted steps on, or says why not, and stays finite."""
    try:
        scene = sn.Scene.load(path)
    except sn.InputError as error:
        assert len(str(error)) < 1000 and "\n" not in str(error)
        return False
    try:
        for _ in range(2):
            scene.step(1e-3)
    except (sn.InputError, sn.SolveError):
        pass
    assert finite(scene), path.name
    return True


def test_the_sound_file_loads(saved) -> None:
    assert loaded_or_refused(saved)


def test_cut_off_anywhere(saved, tmp_path, tried) -> None:
    data = saved.read_bytes()
    rng = random.Random(1)
    for length in [0, 1, 4, 30, len(data) - 1, len(data) - 22, *(rng.randrange(len(data)) for _ in range(30))]:
        path = tmp_path / "cut.npz"
        path.write_bytes(data[:length])
        assert not loaded_or_refused(path), length
        tried.count("damaged and hostile files")


def test_flipped_bits(saved, tmp_path, tried) -> None:
    data = saved.read_bytes()
    rng = random.Random(2)
    for _ in range(DAMAGES):
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 1, 8))):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        path = tmp_path / "flipped.npz"
        path.write_bytes(damaged)
        loaded_or_refused(path)
        tried.count("damaged and hostile files")


POISONED_NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1.0, 0.0, 1e-308, 7.5)
POISONED_INTS = (-1, -(2**63), 2**63 - 1, 10**6, 7, 100)


def test_poisoned_arrays(parts, tmp_path, tried) -> None:
    """A right checksum does not make sound numbers: one entry of one array is replaced in each file."""
    description, arrays = parts
    rng = np.random.default_rng(3)
    names = [name for name, array in arrays.items() if array.size]
    for _ in range(DAMAGES):
        name = names[rng.integers(len(names))]
        array = arrays[name].copy()
        values = POISONED_NUMBERS if array.dtype.kind == "f" else POISONED_INTS
        at, value = rng.integers(array.size), values[rng.integers(len(values))]
        array.flat[at] = value
        print(name, at, value)  # shown if it fails
        loaded_or_refused(write(tmp_path / "poisoned.npz", description, arrays | {name: array}))
        tried.count("damaged and hostile files")


def test_poisoned_memory_of_contact(parts, tmp_path, tried) -> None:
    """These are few among the arrays, and kernels use them as indices."""
    description, arrays = parts
    for name in [name for name in arrays if name.startswith("contact/")]:
        array = arrays[name].copy()
        for value in POISONED_NUMBERS if array.dtype.kind == "f" else POISONED_INTS:
            poisoned = array.copy()
            poisoned.flat[-1] = value
            print(name, value)  # shown if it fails
            loaded_or_refused(write(tmp_path / "poisoned.npz", description, arrays | {name: poisoned}))
            tried.count("damaged and hostile files")


def test_a_spin_beyond_all_rates_is_refused(parts, tmp_path) -> None:
    """Finite itself, but not once it is divided by the body's inertia."""
    description, arrays = parts
    number = next(k for k, body in enumerate(description["bodies"]) if body["kind"] == "RigidBody")
    name = f"state/{number}/rigids.spin"
    spin = np.full_like(arrays[name], 1e308)
    path = write(tmp_path / "spin.npz", description, arrays | {name: spin})
    with pytest.raises(sn.InputError, match="not a scene that sennit saved"):
        sn.Scene.load(path)


def test_arrays_of_other_shapes_and_types(parts, tmp_path, tried) -> None:
    description, arrays = parts
    others = (
        lambda a: a[:0], lambda a: a[:-1], lambda a: np.concatenate((a, a)), lambda a: a.astype(np.float32),
        lambda a: a.astype(np.complex128), lambda a: a.astype("U8"), lambda a: a.reshape(-1), lambda a: a[None],
        lambda a: np.zeros(a.shape, np.uint8), lambda a: np.array(1.0),
    )  # fmt: skip
    for k, name in enumerate(sorted(arrays)[:: max(1, 12 // records.thorough())]):
        change = others[k % len(others)]
        loaded_or_refused(write(tmp_path / "shapes.npz", description, arrays | {name: change(arrays[name])}))
        missing = {key: value for key, value in arrays.items() if key != name}
        accepted = loaded_or_refused(write(tmp_path / "missing.npz", description, missing))
        assert not accepted or not arrays[name].size or name.startswith("body/"), name
        tried.count("damaged and hostile files", 2)


def leaves(node: object, way: tuple = ()) -> list[tuple]:
    if isinstance(node, dict):
        return [leaf for key, value in node.items() for leaf in leaves(value, (*way, key))]
    if isinstance(node, list):
        return [leaf for key, value in enumerate(node) for leaf in leaves(value, (*way, key))]
    return [way]


JUNK = (None, -1, 10**30, 1e308, float("nan"), "", "../../x", "Rod", [], {}, [[]], True, "\ud800", {"id": 0})


def test_poisoned_descriptions(parts, tmp_path, tried) -> None:
    description, arrays = parts
    ways = leaves(description)
    rng = random.Random(4)
    for _ in range(DAMAGES):
        changed = json.loads(json.dumps(description))
        way = rng.choice(ways)
        cut = rng.randrange(1, len(way) + 1)  # a leaf, or a branch with all that grows on it
        node = changed
        for key in way[: cut - 1]:
            node = node[key]
        if rng.random() < 0.25 and isinstance(node, dict):
            del node[way[cut - 1]]
        else:
            node[way[cut - 1]] = rng.choice(JUNK)
        loaded_or_refused(write(tmp_path / "description.npz", changed, arrays))
        tried.count("damaged and hostile files")


def member(array: bytes, shape: str, descr: str = "'<f8'") -> bytes:
    head = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + array


HOSTILE = {
    "huge shape": {"description.npy": member(b"", "(1000000000000,)")},
    "negative shape": {"description.npy": member(b"12345678", "(-1,)")},
    "pickled objects": {"description.npy": member(b"cos\nsystem\n(S'true'\ntR.", "(1,)", "'|O'")},
    "path traversal": {"../../../tmp/description.npy": member(b"12345678", "(1,)")},
    "no array": {"description": b"hello"},
    "header of code": {"description.npy": member(b"12345678", "__import__('os').getcwd()")},
    "list of everything": {"description.npy": member(b"[]      ", "(8,)", "'|u1'")},
    "deep list": {"description.npy": member(b"[" * 100_000, "(100000,)", "'|u1'")},
    "empty": {},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives(name: str, tmp_path, tried) -> None:
    path = tmp_path / "hostile.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for member_name, content in HOSTILE[name].items():
            archive.writestr(member_name, content)
    tracemalloc.start()
    try:
        assert not loaded_or_refused(path)
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
    tried.count("damaged and hostile files")


def test_a_zip_bomb_is_not_unpacked(tmp_path, tried) -> None:
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("description.npy", bytes(64 << 20))
    # The directory at the end says three gigabytes: that much is never asked for.
    data = path.read_bytes().replace(struct.pack("<I", 64 << 20), struct.pack("<I", 3 << 30))
    path.write_bytes(data)
    tracemalloc.start()
    try:
        assert not loaded_or_refused(path)
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
    tried.count("damaged and hostile files")


@pytest.mark.parametrize("kind", ["missing", "folder", "loop", "unreadable", "pipe's name", "text"])
def test_things_that_are_no_files(kind: str, tmp_path, tried) -> None:
    path = tmp_path / "thing.npz"
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "unreadable":
        path.write_bytes(b"x")
        path.chmod(0)
    elif kind == "pipe's name":
        os.mkfifo(path)  # opening it would wait for ever
    elif kind == "text":
        path.write_text("a text")
    assert not loaded_or_refused(path)
    status = main(["run", str(path), "--headless"]) if kind in ("missing", "folder", "loop", "pipe's name") else 2
    assert status == 2
    tried.count("damaged and hostile files")


def test_the_store_with_random_damage(tmp_path, tried) -> None:
    """Every byte of the store's files is under a checksum."""
    path = tmp_path / "file.greens"
    given = {"S": np.arange(600.0).reshape(20, 30), "nodes": np.arange(12).reshape(4, 3)}
    write_arrays(path, {"kind": 1}, given)
    data = path.read_bytes()
    rng = random.Random(5)
    for k in range(DAMAGES):
        damaged = bytearray(data)
        if k % 3 == 0:
            del damaged[rng.randrange(len(data)) :]
        elif k % 3 == 1:
            damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        else:
            damaged += bytes(rng.randrange(1, 5000))
        path.write_bytes(damaged)
        with pytest.raises(DamagedFileError):
            read_arrays(path)
        with contextlib.suppress(DamagedFileError):
            read_description(path)
        tried.count("damaged and hostile files")


def test_a_mesh_from_hostile_text(tmp_path, tried) -> None:
    """What trimesh reads from a broken file is refused as a mesh, whatever it is."""
    trimesh = pytest.importorskip("trimesh")
    sound = trimesh.creation.box((0.1, 0.1, 0.1)).export(file_type="obj")
    text = sound if isinstance(sound, str) else sound.decode()
    rng = random.Random(6)
    lines = text.splitlines()
    for _ in range(20):
        damaged = lines.copy()
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.choice(("f 1 2 3", "v nan 0 0", "v 1e400 0 0", "f 1 1 1", ""))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                mesh = trimesh.load_mesh(io.StringIO("\n".join(damaged)), file_type="obj")
            except Exception:  # its own
                continue
        with contextlib.suppress(sn.InputError):
            sn.Zone.from_mesh(mesh, material=sn.Material(1e5, 0.4, 1000.0), fixed=[0, 1, 2])
        tried.count("damaged and hostile files")
