"""What the scripts of all peers share, without the peers."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import pytest

from peers.scripts import common


@pytest.mark.parametrize(("limit", "start"), [(3.7e-4, 1e-3), (3.7e-4, 1e-6), (3.7e-4, 3.7e-4), (0.049, 1e-3)])
def test_the_largest_stable_step_is_found_from_either_side(limit: float, start: float) -> None:
    found = common.largest_stable_step(lambda dt: dt <= limit, start, refinements=4)
    assert limit / 2 ** (1 / 16) * (1 - 1e-12) <= found <= limit  # the last factor of two, halved four times


def test_a_step_is_bounded_above_and_below() -> None:
    assert common.largest_stable_step(lambda dt: True, 1e-3, largest=0.02) == 0.02
    assert common.largest_stable_step(lambda dt: True, 1.0, largest=0.02) == 0.02
    assert common.largest_stable_step(lambda dt: False, 1e-3) == 0.0


def test_an_answer_counts_from_when_it_stays() -> None:
    times = [0.0, 1.0, 2.0, 3.0, 4.0]
    assert common.time_to_stay(times, [9.0, 0.5, 2.0, 0.9, 0.1], 1.0) == 3.0  # it left again at 2 s
    assert common.time_to_stay(times, [0.5, 0.5, 0.5, 0.5, 0.5], 1.0) == 0.0
    assert common.time_to_stay(times, [9.0, 0.5, 0.5, 0.5, 1.0], 1.0) is None
    assert common.time_to_stay(times, [9.0, 0.5, 0.5, 0.5, math.nan], 1.0) is None


@pytest.mark.parametrize("decay", [0.0, 0.0123, -0.01])
def test_the_decay_of_a_swing(decay: float) -> None:
    t = np.arange(0.0, 9.5, 0.13)  # no sample at a peak
    x = 0.4 * np.exp(-decay * t) * np.cos(2 * math.pi / 4.0 * t)
    # A parabola through samples 0.2 rad apart misses a cosine's peak by less than 0.2⁴/24, here over 8 s; the largest
    # sample alone would miss it by up to 0.1²/2.
    assert common.swing_decay(list(t), x) == pytest.approx(decay, abs=6e-5)


def test_a_row_is_one_line_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    common.emit_result(
        "b",
        "tool",
        "v",
        n=3,
        dt=np.float64(0.5),
        wall_s=1.0,
        error=-0.25,
        reference="r",
        more=np.array([math.nan, 1.0]),
    )
    (row,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (row["error"], row["signed_error"], row["dt"], row["more"]) == (0.25, -0.25, 0.5, [None, 1.0])


def test_a_task_that_raises_does_not_stop_the_others(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "problems.json"
    file.write_text(json.dumps({"a": {"x": 1}, "b": {"x": 2}, "c": {}}), encoding="utf-8")

    def bad(problem: dict[str, Any], quick: bool) -> None:
        raise ValueError(f"no {problem['x']}")

    def good(problem: dict[str, Any], quick: bool) -> None:
        common.emit(task="b", x=problem["x"], quick=quick)

    monkeypatch.setattr(sys, "argv", ["script", "--problems", str(file), "--tasks", "a,b,c", "--quick"])
    assert common.main("tool 1", {"a": bad, "b": good}) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["task"] for row in rows] == ["a", "b", "c"]
    assert rows[0]["failed"] == "ValueError: no 1"
    assert rows[1] == {"task": "b", "x": 2, "quick": True}
    assert "no such task" in rows[2]["failed"]
