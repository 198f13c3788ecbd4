"""The tables of ``sennit bench contact``: a few steps of each. No time is asserted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sennit.bench import contact as bench
from sennit.bench import contact_scenes as scenes
from sennit.bench.table import Table


def silent(text: str, done: float) -> None:
    assert text and 0.0 <= done <= 1.0


def check(table: Table) -> None:
    assert table.rows and len({row.name for row in table.rows}) == len(table.rows)
    assert all(0.0 < row.median <= row.p99 <= row.worst for row in table.rows)
    assert all(np.isfinite(aim.value) for aim in table.aims)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()


def test_growth() -> None:
    families = (("boxes", lambda n: scenes.stacks(n, height=2), (2, 4), 1 / 240, 0.02),)
    table = bench.growth(silent, families, steps=3)
    check(table)
    assert [row.values["contacts"] for row in table.rows] == [8, 16]
    assert all(row.values["Newton"] >= 1 and row.values["floor"] > 0.0 for row in table.rows)


def test_budgets() -> None:
    table = bench.budgets(silent, ((8, 1 / 240, (("boxes", lambda: scenes.stacks(2), 0.02),)),), steps=3)
    check(table)
    assert len(table.aims) == 1


def test_a_rope_at_rest() -> None:
    table = bench.at_rest(silent, points=12, samples=2, seconds=1.0)
    check(table)
    assert table.baseline == "free" and len(table.aims) == 2


def test_parts() -> None:
    table = bench.parts(silent, (("boxes", lambda: scenes.stacks(3), 1 / 240, 0.02),), steps=3)
    check(table)
    parts = ("predict", "find, assemble", "factors", "rest of Newton", "judge", "rest")
    assert all(float(table.rows[0].values[part]) >= 0.0 for part in parts)


def test_the_scenes_are_what_they_say() -> None:
    rope = scenes.rope_on_table(13)
    rope.run(0.05, 1 / 240)
    assert len(rope.contacts) == 11  # a knot each
    boxes = scenes.stacks(20, height=5)
    boxes.run(0.02, 1 / 240)
    assert len(boxes.contacts) == 80
    drum = scenes.capstan(40)
    drum.run(0.4, 1 / 240)
    assert drum.constraints[-1].force[2] == pytest.approx(-40.0 * np.exp(0.3 * np.pi * 100 / 102), rel=0.05)
    line = scenes.line_of_knot()
    assert np.linalg.norm(np.diff(line, axis=0), axis=1).max() < 0.01
