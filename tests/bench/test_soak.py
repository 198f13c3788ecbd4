"""The soak: what it would see if something grew or drifted."""

from __future__ import annotations

import numpy as np
import pytest

from sennit.bench import soak
from sennit.haptics.board import Board


def test_growth_is_a_slope_after_the_warm_up() -> None:
    hours = np.linspace(0.1, 1.0, 10)
    numbers = np.column_stack((100.0 + 3.0 * hours, np.full(10, 7.0)))
    numbers[:2] = 0.0  # the first fifth is the warm-up
    assert soak.growth(hours, numbers) == pytest.approx([3.0, 0.0])


def test_what_a_process_holds_is_seen(tmp_path) -> None:
    looks = soak.Looks(str(tmp_path))
    looks.look(0.0)
    kept = [[] for _ in range(100_000)]
    memory = np.ones(10_000_000)
    with open(tmp_path / "open", "w"):
        looks.look(1.0)
    board = Board(tmp_path / "board", make=True)
    looks.look(2.0)
    before, after, last = looks.numbers
    assert after[0] > before[0] + 60.0
    assert after[1] > before[1] + 0.99 * len(kept)  # some that were there may have gone
    assert after[2] == before[2] + 1
    assert last[3] == after[3] + 1 == before[3] + 1
    assert memory.all() and board is not None


def test_laps_of_the_crane_end_where_they_began() -> None:
    laps = soak.CraneLaps()
    laps.lap()
    laps.lap()
    findings = laps.findings()
    assert findings["steps that failed"] == 0
    assert findings["drives against their beginning, m or rad"] < 1e-6
    # what is left of the first swing after a lap: e^(-drag lap / 2) of metres
    assert findings["hook and load, last lap against the one before, m"] < 5.0 * np.exp(
        -0.5 * soak.DRAG * soak.CRANE_LAP
    )


def test_everything_that_may_grow_or_drift_has_an_aim() -> None:
    [sheet] = soak._soak(lambda *_: None, 0.01, ("crane",))
    names = " ".join(aim.name for aim in sheet.aims)
    for word in ("memory", "open files", "maps", "drives", "hook and load", "failed"):
        assert word in names
    assert all(aim.met for aim in sheet.aims if "memory" not in aim.name)
