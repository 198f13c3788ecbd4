"""The store of Green's functions: the same bits come back, and nothing that happens to its files does harm."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import resource
import signal
import stat
import struct
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from references.meshes import block

from sennit.compilation import kernel_folder
from sennit.elastostatics import store, storefile
from sennit.elastostatics.boundary.elements import boundary_stiffness, traction_nodes
from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.store import described, store_folder, stored_files, stored_stiffness
from sennit.elastostatics.surface import Surface
from sennit.errors import InputError

SURFACE = Surface(*block(cells=(2, 2, 1)))
PREFIX = struct.Struct("<8sII")


def made_up(surface=SURFACE, nu=0.3, method="bem", tetrahedra=None, progress=None):
    """A boundary stiffness of the right shape, at once."""
    generator = np.random.default_rng(int(1000 * nu))
    nodes = traction_nodes(surface)
    rows = 3 * len(surface.vertices)
    root = generator.normal(size=(rows, rows))
    Y = np.asfortranarray(generator.normal(size=(3 * (nodes.max() + 1), rows)))
    return BoundaryStiffness(root + root.T, Y, nodes, method)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    kernel_folder("zone")  # compiled code stays where it is
    monkeypatch.setenv("SENNIT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "greens"


@pytest.fixture
def calls(folder, monkeypatch):
    """How often it was computed."""
    made = []

    def compute(*arguments):
        made.append(arguments)
        return made_up(*arguments)

    monkeypatch.setattr(store, "_compute", compute)
    return made


def same(one, two):
    for name in ("stiffness", "tractions", "corner_nodes"):
        a, b = getattr(one, name), getattr(two, name)
        assert a.dtype == b.dtype
        assert a.flags.f_contiguous == b.flags.f_contiguous
        assert a.flags.writeable
        assert type(a) is np.ndarray
        assert type(b) is np.ndarray
        np.testing.assert_array_equal(a, b)
    return one.source == two.source


def the_file():
    (path,) = stored_files()
    return path


# Keeping


def test_boundary_elements_are_computed_once_and_come_back_bit_by_bit(folder):
    first = stored_stiffness(SURFACE, 0.3)
    before = the_file().stat().st_mtime_ns
    second = stored_stiffness(SURFACE, 0.3)
    assert same(first, second)
    assert same(first, boundary_stiffness(SURFACE, 0.3))
    assert the_file().stat().st_mtime_ns == before
    assert described(the_file()) == f"Green's functions: {len(SURFACE.vertices)} vertices, ν = 0.3, bem"


def test_what_is_read_can_be_changed_without_harm(calls):
    stored_stiffness(SURFACE, 0.3)
    read = stored_stiffness(SURFACE, 0.3)
    read.tractions[:] = 0.0
    read.stiffness[:] = 0.0
    assert same(stored_stiffness(SURFACE, 0.3), made_up())
    assert len(calls) == 1


def test_geometry_ratio_and_method_make_another_file(calls):
    stored_stiffness(SURFACE, 0.3)
    moved = SURFACE.vertices.copy()
    moved[0, 0] = np.nextafter(moved[0, 0], 1.0)
    others = [
        (Surface(moved, SURFACE.faces), 0.3, "bem"),
        (Surface(SURFACE.vertices, SURFACE.faces[::-1]), 0.3, "bem"),
        (SURFACE, 0.31, "bem"),
        (SURFACE, 0.3, "fem"),
    ]
    for surface, nu, method in others:
        stored_stiffness(surface, nu, method)
    assert len(calls) == 5
    assert len(stored_files()) == 5
    negative_zero = np.where(SURFACE.vertices == 0.0, -0.0, SURFACE.vertices)
    stored_stiffness(Surface(negative_zero, SURFACE.faces), 0.3)
    assert len(calls) == 5


def test_an_edit_of_the_numerics_makes_another_file(calls, monkeypatch):
    stored_stiffness(SURFACE, 0.3)
    monkeypatch.setattr(store, "_numerics", lambda method: b"another")
    stored_stiffness(SURFACE, 0.3)
    assert len(calls) == 2


def test_every_source_pattern_names_files():
    root = Path(store.__file__).parent
    for patterns in store._SOURCES.values():
        for pattern in patterns:
            assert list(root.glob(pattern)), pattern


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((SURFACE, 0.5), "poisson_ratio"),
        ((SURFACE, "0.3"), "poisson_ratio"),
        ((SURFACE, 0.3, "dem"), "'dem'"),
        ((SURFACE, 0.3, "bem", ([], [])), "tetrahedra"),
        ((SURFACE, 0.3, "fem", ([], [])), "tetrahedra"),
    ],
)
def test_wrong_arguments(calls, folder, arguments, word):
    with pytest.raises(InputError, match=word):
        stored_stiffness(*arguments)
    assert not calls
    assert not folder.exists()


# Damage


def damaged(calls, word="computed again"):
    """The file is reported by name, computed again and written anew."""
    path, before = the_file(), len(calls)
    with pytest.warns(UserWarning, match=word) as caught:
        result = stored_stiffness(SURFACE, 0.3)
    assert any(str(path) in str(warning.message) for warning in caught)
    assert len(calls) == before + 1
    assert same(result, made_up())
    assert same(stored_stiffness(SURFACE, 0.3), made_up())
    assert len(calls) == before + 1


def test_every_kind_of_flipped_byte_is_noticed(calls):
    stored_stiffness(SURFACE, 0.3)
    path = the_file()
    content = path.read_bytes()
    generator = np.random.default_rng(5)
    places = [0, 7, 8, 11, 12, 15, 16, 40, len(content) - 1, *generator.integers(len(content), size=120).tolist()]
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 1 << int(generator.integers(8))
        path.write_bytes(changed)
        with pytest.raises(storefile.DamagedFileError):
            storefile.read_arrays(path)
    damaged(calls)


def test_truncated_and_lengthened_files(calls):
    stored_stiffness(SURFACE, 0.3)
    path = the_file()
    content = path.read_bytes()
    for length in (0, 1, 15, 16, 100, 4096, 5000, len(content) - 4096, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(storefile.DamagedFileError):
            storefile.read_arrays(path, frozenset("Y"))
    path.write_bytes(content + bytes(4096))
    damaged(calls, "bytes in place of")


def rewritten(path, change):
    """The file with another description, whose checksum is right."""
    content = path.read_bytes()
    _, length, _ = PREFIX.unpack(content[:16])
    description = change(json.loads(content[16 : 16 + length]))
    text = description if isinstance(description, bytes) else json.dumps(description).encode()
    begin, new = -(-(16 + length) // 4096) * 4096, -(-(16 + len(text)) // 4096) * 4096
    head = PREFIX.pack(content[:8], len(text), zlib.crc32(text)) + text
    path.write_bytes(head + bytes(new - len(head)) + content[begin:])


def in_notes(**changes):
    return lambda d: d | {"notes": d["notes"] | changes}


def in_array(k, **changes):
    return lambda d: d | {"arrays": [a | changes if i == k else a for i, a in enumerate(d["arrays"])]}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: b"",
        lambda d: b"null",
        lambda d: b"[" * 100_000,
        lambda d: b"\xff\xfe",
        lambda d: b"x" * (2 << 20),
        lambda d: {},
        lambda d: d | {"notes": None},
        lambda d: d | {"arrays": 7},
        lambda d: d | {"arrays": d["arrays"] * 2},
        lambda d: d | {"arrays": d["arrays"][:2]},
        in_notes(format=2),
        in_notes(format="9" * 1000),
        in_notes(key="0" * 64),
        in_notes(key=None),
        in_array(0, dtype="O"),
        in_array(0, dtype="<i8"),
        in_array(0, dtype=[["a", "O"]]),
        in_array(0, shape=[10**9, 10**9]),
        in_array(0, shape=[-1, 9]),
        in_array(0, shape=[1.5]),
        in_array(0, shape=[0, 0]),
        in_array(0, shape="ab"),
        in_array(0, shape=[1] * 60),
        in_array(0, order="K"),
        in_array(0, crc=[]),
        in_array(0, crc="x"),
        in_array(0, name=["S"]),
        in_array(0, name="Z"),
    ],
)
def test_hostile_descriptions(calls, change):
    stored_stiffness(SURFACE, 0.3)
    rewritten(the_file(), change)
    described(the_file())
    damaged(calls)


@pytest.mark.parametrize("what", ["nan", "asymmetric", "corners", "shape", "other"])
def test_sound_files_with_wrong_numbers(calls, what):
    result = made_up()
    S, Y, nodes = result.stiffness.copy(), result.tractions.copy(), result.corner_nodes.copy()
    if what == "nan":
        Y[5, 5] = np.nan
    elif what == "asymmetric":
        S = S + np.triu(np.ones_like(S))
    elif what == "corners":
        nodes[3, 1] = -1
    elif what == "shape":
        S = S[:-3, :-3].copy()
    else:
        S = np.ones((4, 4))
    stored_stiffness(SURFACE, 0.3)
    store._write(the_file(), store._key(SURFACE, 0.3, "bem", None), 0.3, BoundaryStiffness(S, Y, nodes, "bem"))
    damaged(calls)


def test_a_folder_in_the_place_of_the_file(calls):
    stored_stiffness(SURFACE, 0.3)
    path = the_file()
    path.unlink()
    path.mkdir()
    with pytest.warns(UserWarning) as caught:
        assert same(stored_stiffness(SURFACE, 0.3), made_up())
    assert len(caught) == 2  # neither read nor kept
    assert not list(path.parent.glob("*.part"))


# Writing


def test_a_folder_that_cannot_be_written(calls, folder, monkeypatch):
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="could not be kept"):
        assert same(stored_stiffness(SURFACE, 0.3), made_up())
    folder.unlink()
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)

    def refuse(*arguments, **options):  # as for anybody but the administrator, who runs some tests
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(storefile.tempfile, "mkstemp", refuse)
    with pytest.warns(UserWarning, match="Permission denied"):
        assert same(stored_stiffness(SURFACE, 0.3), made_up())
    folder.chmod(stat.S_IRWXU)


def test_a_full_disk(calls, folder, monkeypatch):
    usage = type("Usage", (), {"free": 1000})
    with monkeypatch.context() as patch:
        patch.setattr(storefile.shutil, "disk_usage", lambda path: usage)
        with pytest.warns(UserWarning, match="too little room"):
            assert same(stored_stiffness(SURFACE, 0.3), made_up())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:  # the disk's end comes in the middle
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
        with pytest.warns(UserWarning, match="could not be kept"):
            assert same(stored_stiffness(SURFACE, 0.3), made_up())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert list(folder.iterdir()) == []


PROGRAM = """
import os, signal, sys
sys.path.insert(0, {tests!r})
sys.path.insert(0, {here!r})
from sennit.elastostatics import store, storefile
import test_store
store._compute = test_store.made_up
if "kill" in sys.argv:
    storefile.os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
store.stored_stiffness(test_store.SURFACE, 0.3)
"""


def program():
    here = Path(__file__).parent
    return PROGRAM.format(tests=str(here.parents[1]), here=str(here))


def test_a_writer_that_is_killed_leaves_no_file_of_that_name(calls, folder):
    done = subprocess.run([sys.executable, "-c", program(), "kill"], capture_output=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (part,) = stored_files()
    assert part.suffix == ".part"
    assert "killed" in described(part)
    assert same(stored_stiffness(SURFACE, 0.3), made_up())
    assert len(calls) == 1
    assert len(stored_files()) == 2
    os.utime(part, (0, 0))  # long ago: the next writer tidies up
    stored_stiffness(SURFACE, 0.31)
    assert not part.exists()
    assert len(stored_files()) == 2


def _write_often(cache, count):
    os.environ["SENNIT_CACHE_DIR"] = cache
    key = store._key(SURFACE, 0.3, "bem", None)
    for _ in range(count):
        store._write(store_folder() / (key[:16] + ".greens"), key, 0.3, made_up())


def test_two_writers_and_a_reader(calls, folder):
    """Whoever reads while others write sees a whole file, always."""
    stored_stiffness(SURFACE, 0.3)
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads
        writers = [context.Process(target=_write_often, args=(str(folder.parent), 60)) for _ in range(2)]
        for writer in writers:
            writer.start()
    reads = 0
    while any(writer.is_alive() for writer in writers):
        assert same(stored_stiffness(SURFACE, 0.3), made_up())
        reads += 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert reads > 3
    assert len(calls) == 1
    assert len(stored_files()) == 1


def test_interruption_leaves_nothing(calls, folder, monkeypatch):
    def interrupt(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(storefile.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        stored_stiffness(SURFACE, 0.3)
    assert list(folder.iterdir()) == []


# Memory and progress


def test_too_little_memory_is_said_before_anything_is_done(calls, folder, monkeypatch):
    n = len(SURFACE.vertices)
    monkeypatch.setattr(store, "_available_memory", lambda: 72 * n * n)
    with pytest.raises(InputError, match="are free") as caught:
        stored_stiffness(SURFACE, 0.3)
    assert f"{n} of them" in str(caught.value)
    assert not calls
    assert not folder.exists()
    monkeypatch.setattr(store, "_available_memory", lambda: None)
    stored_stiffness(SURFACE, 0.3)
    # what is on the disk is read even so
    monkeypatch.setattr(store, "_available_memory", lambda: 72 * n * n)
    stored_stiffness(SURFACE, 0.3)


def test_the_number_of_vertices_that_would_fit_does_fit(monkeypatch):
    surfaces = [Surface(*block(cells=(k, k, k))) for k in (2, 4, 8)]
    monkeypatch.setattr(store, "_available_memory", lambda: 10_000_000)
    store._check_memory(surfaces[0], "bem")
    with pytest.raises(InputError, match="about 2.* vertices"):
        store._check_memory(surfaces[2], "bem")


def test_available_memory_is_a_sensible_number():
    found = store._available_memory()
    assert found is None or 1e6 < found < 1e14


def test_progress_is_one_plain_line_where_there_is_no_terminal(capsys):
    with store.Bar("Computing", quick=False, expected=60.0) as bar:
        bar("this", 0.1)
        bar("that", 0.9)
    with store.Bar("Computing", quick=True, expected=0.1) as bar:
        bar("this", 0.1)
    assert capsys.readouterr().err == "Computing ...\n"


def test_progress_in_a_terminal(monkeypatch):
    text = io.StringIO()
    text.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", text)
    monkeypatch.setenv("TERM", "xterm")
    with store.Bar("Computing", quick=False, expected=60.0) as bar:
        bar("half of it", 0.5)
    assert "half of it" in text.getvalue() and "about 1:00 left" in text.getvalue()


def test_the_time_left_follows_what_was_measured():
    assert store.time_left(0.0, 0.0, 0.0, 90.0) == 90.0
    assert store.time_left(0.1, 4.0, 10.0, 90.0) == 80.0  # integrals tell nothing of the solve
    assert store.time_left(0.5, 20.0, 25.0, 90.0) == pytest.approx(15.0)
    assert store.time_left(0.5, 20.0, 50.0, 90.0) == 0.0
