"""The tables of ``sennit bench zones``: a few samples of each. No time is asserted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sennit.bench import zones as bench
from sennit.bench.compressed import compression
from sennit.bench.table import Table
from sennit.elastostatics.surface import checked_surface


def silent(text: str, done: float) -> None:
    assert text and 0.0 <= done <= 1.0


def check(table: Table, rows: int) -> None:
    assert len(table.rows) == rows and len({row.name for row in table.rows}) == rows
    assert all(0.0 < row.median <= row.p99 <= row.worst for row in table.rows)
    assert all(np.isfinite(aim.value) for aim in table.aims)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()


@pytest.mark.parametrize("count", [60, 500])
def test_the_ball_is_a_ball(count: int) -> None:
    vertices, faces, fixed = bench.ball(count)
    surface = checked_surface(vertices, faces)
    assert len(faces) == 2 * count - 4
    assert np.ptp(surface.vertex_areas) < surface.vertex_areas.mean()
    assert 0.1 < len(fixed) / count < 0.3


def test_precomputation() -> None:
    table = bench.precomputation(silent, (60, 100), least=0.0)
    check(table, 4)
    assert all(row.values["× LAPACK"] > 0.0 for row in table.rows[::2])


def test_touch_press_and_surface() -> None:
    check(bench.touches(silent, 200, samples=5, seconds=0.5), 3)
    pressed = bench.presses(silent, 200, samples=3, seconds=0.5)
    check(pressed, 3)
    assert "vertices touch" in pressed.notes[0]
    check(bench.surfaces(silent, 200, loaded=(3, 10), samples=3, seconds=0.5), 4)
    check(bench.capacitance(silent, 200, held=(4,), samples=3, seconds=0.5), 2)


def test_chains() -> None:
    check(bench.chains(silent, (2, 3, 4), samples=2, seconds=0.5), 6)


def test_ticks() -> None:
    table = bench.ticks(silent, 16, samples=3, seconds=0.5, loop=0.05)
    check(table, 6)
    assert len(table.aims) == 4


def test_late_ticks_are_counted() -> None:
    """By a clock of the test's own: every tenth call takes two periods and a half, and so makes three ticks late."""
    now, calls = [0.0], [0]

    def clock() -> float:
        now[0] += 1e-6
        return now[0]

    def call() -> None:
        calls[0] += 1
        now[0] += 2.5e-3 if calls[0] % 10 == 5 else 0.6e-3

    late, total, waited = bench.late_ticks(call, 0.12, clock=clock)
    # 12 ticks pass with every ten calls
    assert (late, total) == (30, 120)
    assert waited == pytest.approx((9 * 0.4 + 0.5) / 12, abs=0.02)


def test_compression() -> None:
    table = compression(silent, bench.soft_ball, (500,), (1e-3,), samples=3)
    check(table, 3)
    whole, single, thin = (row.values for row in table.rows)
    assert whole["error"] == 0.0 and single["error"] < 1e-5 and 0.0 < thin["error"] < 1e-3
    assert single["MB"] < 0.26 * whole["MB"] and thin["MB"] < 0.6 * whole["MB"]
