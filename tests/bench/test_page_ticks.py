"""The tables of ``sennit bench page`` that are about the haptic loop: a few ticks of each. No time is asserted."""

from __future__ import annotations

import json

import pytest

from sennit.bench import page as bench
from sennit.haptics import Statistics


def silent(text: str, done: float) -> None:
    assert text and 0.0 <= done <= 1.0


@pytest.mark.parametrize("allowed", [False, True])
def test_ticks(allowed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With loops that are not started: the table is made of what they count."""

    class Loop:
        def __init__(self, seconds: float, realtime: bool) -> None:
            late = 1 if realtime else 3
            self.statistics = Statistics(
                round(1000 * seconds) - 1, late, 1, 1e-7, 1e-5, 2e-3, 1e-4, 2e-4, 3e-3, 0, 0, realtime, False
            )

        def __enter__(self) -> Loop:
            return self

        def __exit__(self, *error: object) -> None: ...

        def wait(self) -> None: ...

    monkeypatch.setattr(bench, "realtime_is_allowed", lambda: allowed)
    table = bench.ticks(silent, 2.0, (("strand", Loop), ("bridge", Loop)))  # type: ignore[arg-type]
    assert [row.name for row in table.rows] == [
        f"{name}, {how}"
        for name in ("strand", "bridge")
        for how in (["ordinary", "real time"] if allowed else ["ordinary"])
    ]
    # two parts of 1000 periods, of each 3 (1) that overran and one that was skipped
    assert table.rows[0].values["late %"] == pytest.approx(0.4) and table.rows[0].samples == 1998
    assert table.rows[0].values["over 1 ms %"] == pytest.approx(0.1)
    assert [aim.met for aim in table.aims] == ([True, False] if allowed else [True])
    assert any("not allowed" in note for note in table.notes) is not allowed
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()


@pytest.mark.parametrize("make", [make for _, make in bench.LOOPS])
def test_the_loops_run(make: bench.Make) -> None:
    with make(0.05, False) as loop:
        loop.wait()
    stats = loop.statistics
    assert stats.ticks == 50 and stats.failed == 0 and not stats.lost
