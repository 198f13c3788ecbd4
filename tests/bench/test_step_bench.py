"""The tables of ``sennit bench step``: a few samples of two scenes. No time is asserted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sennit.bench import step as bench
from sennit.bench.table import Table
from sennit.compilation import PLAIN

pytestmark = pytest.mark.skipif(PLAIN, reason="kernels are not compiled")


def silent(text: str, done: float) -> None:
    assert text and 0.0 <= done <= 1.0


def check(table: Table) -> None:
    assert table.rows and len({row.name for row in table.rows}) == len(table.rows)
    assert all(0.0 < row.median <= row.p99 <= row.worst for row in table.rows)
    assert all(np.isfinite(aim.value) for aim in table.aims)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()


@pytest.fixture(scope="module")
def subjects() -> dict[str, bench.Timed]:
    return {name: bench.Timed(bench.SUBJECTS[name]) for name in ("hoist", "rope 10")}


def test_every_subject_runs_without_an_event() -> None:
    """What is timed is steps in which nothing happens, all of them in compiled runs."""
    for subject in bench.SUBJECTS.values():
        scene = subject.build()
        scene.run(5 * subject.dt, dt=subject.dt)
        before = scene.time
        scene.step(subject.dt)
        assert scene._run_on(7, subject.dt) == 7
        assert scene.time == pytest.approx(before + 8 * subject.dt)


def test_steps_in_runs_and_one_by_one(subjects: dict[str, bench.Timed]) -> None:
    table = bench.steps(silent, subjects, samples=2)
    check(table)
    assert [row.name for row in table.rows] == [f"{name}, {way}" for name in subjects for way in ("run", "step")]
    aims = [1e6 * goal for timed in subjects.values() for goal in (timed.subject.in_run, timed.subject.in_step)]
    assert [aim.at_most for aim in table.aims] == pytest.approx(aims)


def test_parts_of_a_step_leave_the_step_what_it_is(subjects: dict[str, bench.Timed]) -> None:
    """Each part, asked for by itself after those before it, makes up whole steps: they end where steps do."""
    timed = subjects["rope 10"]
    for code in (bench.PREDICT, bench.SOLVE, bench.JUDGE, bench.ACCEPT):
        timed.back()
        timed.scene.run(bench.STEPS * timed.subject.dt, dt=timed.subject.dt)
        expected = timed.scene._compiled().system.model.motion.q.copy()
        timed.back()
        assert timed.part(code, look=code == bench.SOLVE) > 0.0
        assert np.array_equal(timed.scene._compiled().system.model.motion.q, expected)


def test_the_table_of_parts(subjects: dict[str, bench.Timed]) -> None:
    table = bench.parts(silent, subjects)
    check(table)
    parts = {"predict", "assemble", "factor", "rows", "judge", "accept", "hand-over", "Python"}
    assert all(set(row.values) == parts for row in table.rows)
    assert all(float(value) >= 0.0 for row in table.rows for value in row.values.values())


def test_readings() -> None:
    table = bench.readings(silent, samples=2)
    check(table)
    assert [aim.at_most for aim in table.aims] == [5.0 if row.name == "pearl.s" else 10.0 for row in table.rows]
