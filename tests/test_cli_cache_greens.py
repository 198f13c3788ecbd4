"""``sennit cache`` shows and deletes the Green's functions that are kept, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sennit import cli
from sennit.elastostatics import storefile
from sennit.kernel_cache import kernel_folder


@pytest.fixture
def greens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("SENNIT_CACHE_DIR", str(tmp_path / "cache"))
    kernel_folder.cache_clear()
    yield tmp_path / "cache" / "greens"
    kernel_folder.cache_clear()


def keep(folder: Path, name: str) -> Path:
    notes = {"vertices": 12, "poisson_ratio": 0.45, "method": "bem"}
    storefile.write_arrays(folder / name, notes, {"S": np.zeros((4, 4))})
    return folder / name


def test_cache_shows_green_s_functions(greens: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(greens, "0123456789abcdef.greens")
    (greens / "fedcba9876543210.greens").write_bytes(b"nonsense")
    assert cli.main(["cache"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "8.2 kB" in lines[1]
    assert lines[1].endswith("Green's functions: 12 vertices, ν = 0.45, bem")
    assert lines[2].endswith("Green's functions, damaged")
    assert lines[3].startswith("2 entries, 8.2 kB")


def test_clear_deletes_them_and_nothing_else(greens: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ours = [keep(greens, "0123456789abcdef.greens"), greens / "0123456789abcdef-a_b8.part"]
    ours[1].write_bytes(bytes(10))
    outside = greens.parent.parent / "outside"
    others = [greens / "notes.txt", greens / "mine.greens", greens / "0123456789abcdee.greens" / "x", outside]
    for path in others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(10))
    (greens / "00000000000000ff.greens").symlink_to(outside)
    assert cli.main(["cache", "--clear"]) == 0
    assert "deleted: 2 entries, 8.2 kB" in capsys.readouterr().out
    assert not any(path.exists() for path in ours)
    assert all(path.exists() for path in others)
