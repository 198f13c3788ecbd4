"""The compliance of a solid held at some vertices is kept: the same bits come back, damaged files do no harm."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from references.meshes import block

from sennit.compilation import kernel_folder
from sennit.elastostatics import kept
from sennit.elastostatics.boundary.elements import boundary_stiffness
from sennit.elastostatics.greens import GreensFunctions
from sennit.elastostatics.kept import MOST, stored_greens
from sennit.elastostatics.stiffness import BoundaryStiffness
from sennit.elastostatics.store import described, stored_files, stored_stiffness
from sennit.elastostatics.storefile import read_arrays, write_arrays
from sennit.elastostatics.surface import Surface

SURFACE = Surface(*block(cells=(2, 2, 1)))
COUNT = len(SURFACE.vertices)
BELOW = np.flatnonzero(SURFACE.vertices[:, 2] < 1e-9)


@pytest.fixture
def boundary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BoundaryStiffness:
    kernel_folder("zone")  # compiled code stays where it is
    monkeypatch.setenv("SENNIT_CACHE_DIR", str(tmp_path / "cache"))
    return stored_stiffness(SURFACE, 0.3)


@pytest.fixture
def inverses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often a compliance was computed."""
    made: list[int] = []
    original = GreensFunctions._inverse

    def counted(self: GreensFunctions) -> np.ndarray:
        made.append(len(self.fixed))
        return original(self)

    monkeypatch.setattr(GreensFunctions, "_inverse", counted)
    return made


def the_file() -> Path:
    (path,) = (path for path in stored_files() if "-" in path.stem)
    return path


def test_it_is_computed_once_and_comes_back_bit_by_bit(boundary, inverses):
    first = stored_greens(SURFACE, boundary, BELOW)
    again = stored_greens(SURFACE, stored_stiffness(SURFACE, 0.3), BELOW[::-1])
    assert len(inverses) == 1
    assert np.array_equal(first.compliance, again.compliance)
    assert again.compliance.flags.c_contiguous
    assert again.compliance.flags.writeable
    assert described(the_file()).startswith(
        f"Green's functions: {COUNT - len(BELOW)} free and {len(BELOW)} fixed vertices of "
    )
    assert the_file().stat().st_size == 4096 + -(-72 * (COUNT - len(BELOW)) ** 2 // 4096) * 4096


def test_every_set_has_its_own_and_those_used_last_are_kept(boundary, inverses):
    sets = [BELOW[BELOW != k] for k in BELOW.tolist()][: MOST + 1]
    assert len(sets) == MOST + 1
    for age, fixed in enumerate(sets[:MOST]):
        stored_greens(SURFACE, boundary, fixed)
        new = max((path for path in stored_files() if "-" in path.stem), key=lambda path: path.stat().st_mtime_ns)
        os.utime(new, (1e9 + age, 1e9 + age))
    stored_greens(SURFACE, boundary, sets[0])  # used again: the second is now the oldest
    stored_greens(SURFACE, boundary, sets[MOST])
    assert len(stored_files()) == 1 + MOST
    assert len(inverses) == MOST + 1
    for fixed in (sets[0], *sets[2:]):
        stored_greens(SURFACE, boundary, fixed)
    assert len(inverses) == MOST + 1
    stored_greens(SURFACE, boundary, sets[1])
    assert len(inverses) == MOST + 2


def test_a_stiffness_that_is_not_stored_leaves_no_file(boundary, inverses):
    stored_greens(SURFACE, boundary_stiffness(SURFACE, 0.3), BELOW)
    assert len(stored_files()) == 1


def test_that_of_another_stiffness_of_the_solid_is_not_used(boundary, inverses):
    before = stored_greens(SURFACE, boundary, BELOW).compliance
    boundary.stiffness[:] *= 1.0 + 1e-15
    after = stored_greens(SURFACE, boundary, BELOW).compliance
    assert len(inverses) == 2
    assert not np.array_equal(before, after)


@pytest.mark.parametrize(
    "what", ["byte", "cut", "nan", "asymmetric", "sign", "shape", "name", "order", "key", "format"]
)
def test_damaged_files_are_computed_again(boundary, inverses, what):
    good = stored_greens(SURFACE, boundary, BELOW).compliance.copy()
    path = the_file()
    notes, arrays = read_arrays(path)
    C = arrays["C"]
    content = bytearray(path.read_bytes())
    if what == "byte":
        content[5000] ^= 4
        path.write_bytes(content)
    elif what == "cut":
        path.write_bytes(content[:-1])
    else:
        if what == "nan":
            C[3, 3] = np.nan
        elif what == "asymmetric":
            C[:] += np.triu(np.full(C.shape, 1e-9))
        elif what == "sign":
            C[:] *= -1.0
        elif what == "shape":
            C = C[:-3, :-3].copy()
        elif what == "order":
            C = np.asfortranarray(C)
        elif what == "key":
            notes["key"] = "0" * 64
        elif what == "format":
            notes["format"] = 99
        write_arrays(path, notes, {"D" if what == "name" else "C": C})
    with pytest.warns(UserWarning, match="computed again"):
        again = stored_greens(SURFACE, boundary, BELOW)
    assert len(inverses) == 2
    np.testing.assert_array_equal(again.compliance, good)
    stored_greens(SURFACE, boundary, BELOW)
    assert len(inverses) == 2


def test_what_can_not_be_written_is_said(boundary, monkeypatch):
    def full(*_):
        raise OSError("the disk has too little room")

    monkeypatch.setattr(kept, "write_arrays", full)
    with pytest.warns(UserWarning, match="too little room.*computed again next time"):
        stored_greens(SURFACE, boundary, BELOW)
