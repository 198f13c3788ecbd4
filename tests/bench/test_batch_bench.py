"""The tables of ``sennit bench batch``: a few samples of each. No time is asserted."""

from __future__ import annotations

import json

from sennit.bench import batch as bench
from sennit.bench.table import Table


def silent(text: str, done: float) -> None:
    assert text
    assert 0.0 <= done <= 1.0


def check(table: Table) -> None:
    assert len({row.name for row in table.rows}) == len(table.rows) > 3
    assert all(0.0 < row.median <= row.p99 <= row.worst for row in table.rows)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()


def test_steps_of_many_scenes() -> None:
    check(bench.steps(silent, "rope on a table", (1, 3), samples=2, seconds=0.1))


def test_building_and_resetting() -> None:
    check(bench.building(silent, 4, samples=2))
