"""The tables of ``sennit bench felt``: a few samples of each on a coarse finger. No time is asserted."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sennit.bench import felt as bench


def silent(text: str, done: float) -> None:
    assert text and 0.0 <= done <= 1.0


def test_ticks_and_methods() -> None:
    table = bench.ticks(silent, 16, samples=150, seconds=5.0, balls=60)
    assert len(table.rows) == 5 and all(0.0 < row.median <= row.p99 for row in table.rows)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()
    table = bench.tools(silent, 16, seconds=0.4, only=1)
    assert len(table.rows) == 1 and all(row.values["contacts"] > 3 for row in table.rows)
    assert not any("no solution" in note for note in table.notes)
    table = bench.methods(silent, 16, samples=5, seconds=2.0)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()
    off = {row.name: row.values["surface, %"] for row in table.rows}
    assert off["direct"] == 0.0 and off["sweeps"] < 1e-5
    assert off["modes, 32"] < off["modes, 16"] < off["kinematic"]
    assert np.isfinite(off["rim of the seams alone"])
    # Factors that are interpolated between near angles are the factors, up to cubics' error of fourth order.
    assert off["block LU interpolated, 15° apart"] < off["block LU interpolated, 30° apart"] / 8.0
    assert off["block LU interpolated, 15° apart"] < 0.3
    assert off["D interpolated, 15° apart"] == pytest.approx(off["block_diagonal"], rel=0.1)
