"""The soak: what it would see if something grew or drifted."""

from __future__ import annotations

import numpy as np
import pytest

from sennit.bench import soak


def test_growth_is_a_slope_after_the_warm_up() -> None:
    hours = np.linspace(0.1, 1.0, 10)
    numbers = np.column_stack((100.0 + 3.0 * hours, np.full(10, 7.0)))
    numbers[:2] = 0.0  # the first fifth is the warm-up
    assert soak.growth(hours, numbers) == pytest.approx([3.0, 0.0])


def test_what_a_process_holds_is_seen(tmp_path) -> None:
    looks = soak.Looks()
    looks.look(0.0)
    kept = [[] for _ in range(100_000)]
    memory = np.ones(10_000_000)
    with open(tmp_path / "open", "w"):
        looks.look(1.0)
    before, after = looks.numbers
    assert after[0] > before[0] + 60.0
    assert after[1] >= before[1] + len(kept)
    assert after[2] == before[2] + 1
    assert memory.all()


def test_laps_of_the_crane_end_where_they_began() -> None:
    laps = soak.CraneLaps()
    laps.lap()
    laps.lap()
    findings = laps.findings()
    assert findings["steps that failed"] == 0
    assert findings["drives against the first lap, m or rad"] < 1e-6
    # what is left of the first swing after a lap: e^(-drag lap / 2) of metres
    assert findings["hook and load, last lap against the one before, m"] < 5.0 * np.exp(
        -0.5 * soak.DRAG * soak.CRANE_LAP
    )
