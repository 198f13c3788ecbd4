"""Sennit's own runs of the tasks of ``sennit bench peers``: they reach their references, at the orders they claim."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from peers import our_models, ours, tasks


def test_the_cantilever_converges_to_its_reference() -> None:
    problem = tasks.problem("a")
    errors = []
    for n in (20, 40):
        scene, rod = our_models.cantilever(problem, n, "euler")
        scene.run(problem["duration"], 0.5)
        errors.append(ours._tip_error(problem, rod))
    assert errors[0] < 1e-3 and errors[1] < 5e-5
    assert math.log2(errors[0] / errors[1]) > 3.5  # spans double from 17 to 37: order 4, nearly
    # The error at rest is the shape's: another step has the same.
    scene, rod = our_models.cantilever(problem, 20, "euler")
    scene.run(problem["duration"], 0.1)
    assert ours._tip_error(problem, rod) == pytest.approx(errors[0], rel=1e-2)


def test_the_vibration_has_second_order_in_time() -> None:
    problem = tasks.problem("b")
    coarse, fine = (ours._vibration(problem, "midpoint", 12, dt, 1)[0] for dt in (2e-2, 1e-2))
    assert coarse["signed_error"] / fine["signed_error"] == pytest.approx(4.0, rel=0.05)
    assert abs(fine["error"]) < 1e-3 and abs(fine["decay_per_s"]) < 1e-4
    (damped, again) = ours._vibration(problem, "bdf2", 12, 1e-2, 1)
    assert again["variant"] == "rod n=12 bdf2 laid out" and again["error"] == damped["error"]
    assert 1e-3 < damped["decay_per_s"] < 2e-3


def test_the_hoist_swings_with_its_period_as_a_cable_and_as_a_rod() -> None:
    problem = tasks.problem("c")
    cable = ours._swing(problem, "euler", 0, 0.01, 1)[0]
    assert cable["error"] < 2e-5 and abs(cable["elongation_error"]) < 2e-3
    rod = ours._swing(problem, "bdf2", 4, 0.01, 1)[0]
    assert rod["reference"] == "massive cable" and rod["error"] < 2e-4 and abs(rod["elongation_error"]) < 1e-3


def test_fourth_order_is_seen_in_both_swings() -> None:
    """The hoist's first step is no shock: it hangs on its cable already. The vibration ends at its reference, which
    knows of the amplitude: without that it would be off by 2.4e-6.
    """
    problem = tasks.problem("c")
    coarse, fine = (ours._swing(problem, "fourth", 0, dt, 1)[0]["error"] for dt in (0.1, 0.05))
    assert 10.0 < coarse / fine < 25.0 and fine < 1e-7
    vibration = ours._vibration(tasks.problem("b"), "fourth", 24, 0.005, 1)[0]
    assert vibration["error"] < 1e-6


def test_the_bridge_comes_to_its_sag() -> None:
    problem = tasks.problem("d")
    errors = []
    for n in (23, 63):
        scene, ropes = our_models.rope_bridge(problem, n)
        scene.settle()
        errors.append(ours._sag_error(problem, ropes))
    assert 3e-3 < -errors[0] < 4e-3 and abs(errors[1]) < 2e-4
    scene, ropes = our_models.rope_bridge(problem, 23)
    scene.run(problem["duration"], 0.1)
    assert ours._sag_error(problem, ropes) == pytest.approx(errors[0], rel=1e-6)


def test_static_answers_keep_the_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks.write_problems(tmp_path / "p.json", ("e", "f"))
    assert ours.main(["--tasks", "e,f", "--problems", str(tmp_path / "p.json"), "--quick"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["task"] for row in rows} == {"e", "f"} and not any("failed" in row for row in rows)
    assert all(row["error"] < 1.1 * tasks.ERROR_BOUND for row in rows)
    warm = [row["warm_error"] for row in rows if "warm_error" in row]
    assert len(warm) == 5 and max(warm) < 1e-4


def test_the_same_step_is_answered_with_the_smallest_size() -> None:
    requests = [
        {"task": "a", "dt": 0.01, "error": 5e-3, "against": "X"},
        {"task": "c", "dt": 0.05, "error": 1e-3, "against": "Y"},
        {"task": "c", "dt": 0.05, "error": 1e-9, "against": "Z"},
    ]
    problems = {task: tasks.problem(task) for task in "ac"}
    found = list(ours.same_step(problems, requests))
    assert [(row["task"], row["note"]) for row in found] == [("a", "X"), ("c", "Y")]
    assert found[0]["n"] == 14 and found[0]["dt"] == 0.01 and found[0]["wall_s"] > 0.0


def test_a_task_that_fails_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(problem: object, quick: bool) -> object:
        raise ValueError("no crossing")

    monkeypatch.setitem(ours.TASKS, "c", broken)
    [row] = ours.results({"c": {}}, ["c"], True)
    assert row["failed"] == "no crossing"


def test_the_bridge_of_cables_sags_as_the_string() -> None:
    row, _ = ours._cable_bridge_rows(tasks.problem("d"), 0.05)
    assert row["reference"] == "string" and row["error"] < 1e-5
