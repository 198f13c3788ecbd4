"""The table of first steps: what it is made of, and that a wheel's kernels are used."""

from __future__ import annotations

from pathlib import Path

import pytest

from sennit.bench import start
from sennit.compilation import PLAIN
from sennit.processor import NATIVE


def test_the_best_of_each_kind_is_shown_beside_plain_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(float(k) for k in range(100, 0, -1))
    kinds: list[tuple[str, bool]] = []

    def fake(program: str, mode: str, cache: Path, wheel: Path | None = None) -> start.Start:
        kinds.append((mode, wheel is not None))
        return start.Start(next(seconds), 0.5)

    monkeypatch.setattr(start, "start_of", fake)
    monkeypatch.setattr(start, "unpack_wheel", lambda folder: folder)
    (sheet,) = start.run(lambda text, share: None)
    rows = {row[:2]: dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows}
    first = rows["scene", "whole programs"]
    assert (first["cold, one core, CPU s"], first["warm, CPU s"], first["wheel, CPU s"]) == ("100.0", "90.00", "89.00")
    assert rows["scene", "plain Numba"]["wheel, CPU s"] == "–" and len(rows) == 2 * len(start.PROGRAMS)
    assert kinds.count(("whole", True)) == 5 * len(start.PROGRAMS) and ("numba", True) not in kinds
    assert {aim.name for aim in sheet.aims} >= {"scene, wheel, CPU s", "zone, cold, over plain Numba's"}


@pytest.mark.slow
@pytest.mark.skipif(PLAIN, reason="kernels are not compiled")
def test_programs_start_from_a_wheel_without_a_compiler(tmp_path: Path) -> None:
    wheel = start.unpack_wheel(tmp_path / "installed", NATIVE)
    for program in (start.PROGRAMS[name] for name in ("scene", "strand")):
        hidden = "import sys; sys.modules.update(numba=None, scipy=None)\n" + program
        assert start.start_of(hidden, "whole", tmp_path / "cache", wheel).processor > 0.0
    assert not (tmp_path / "cache").exists()
