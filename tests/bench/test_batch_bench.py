"""The tables of ``sennit bench batch``: a few samples of each. No time is asserted."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from references.pretend_card import pretended, stepped_here  # noqa: F401  a fixture

from sennit.batch.device import CardBatch
from sennit.batch.near import NearBatch
from sennit.bench import batch as bench
from sennit.bench import batch_card, batch_cores, batch_peer
from sennit.bench.table import Table
from sennit.compilation import PLAIN


def silent(text: str, done: float) -> None:
    assert text
    assert 0.0 <= done <= 1.0


def check(table: Table) -> None:
    assert len({row.name for row in table.rows}) == len(table.rows) > 3
    assert all(0.0 < row.median <= row.p99 <= row.worst for row in table.rows)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()


def test_steps_of_many_scenes() -> None:
    check(bench.steps(silent, "rope on a table", (1, 3), samples=2, seconds=0.1))


def test_steps_by_threads() -> None:
    made: list[tuple[int, int]] = []

    def batch(count: int, threads: int) -> Callable[[], None]:
        made.append((count, threads))
        return lambda: None

    table = batch_cores.by_threads("rope", batch, 20, silent, each=3, samples=2, seconds=0.1)
    most = batch_cores.cores()
    assert made == [(3 * most, threads) for threads in batch_cores.numbers_of_threads(most)]
    assert [row.name for row in table.rows] == [f"{threads} threads" for _, threads in made]
    assert [aim.name for aim in table.aims] == [f"efficiency of {most} cores"] * (most > 1)
    assert batch_cores.numbers_of_threads(12) == [1, 2, 4, 8, 12]
    assert batch_cores.numbers_of_threads(16) == [1, 2, 4, 8, 16]


def test_building_and_resetting() -> None:
    check(bench.building(silent, 4, samples=2))


@pytest.mark.skipif(PLAIN, reason="rows of numbers are stepped by machine code")
def test_tables_of_a_card(stepped_here: pytest.MonkeyPatch) -> None:  # noqa: F811
    """On one that is pretended: both layouts, floors, and what it has no memory for in a note."""
    told = SimpleNamespace(registers=255, local_bytes=3000)
    for kind in (CardBatch, NearBatch):
        stepped_here.setattr(kind, "_program", lambda self: told)
    table = batch_card.on_card(silent, "rope", bench.rope, [1, 3, 40_000], "float64", seconds=0.1)
    check(table)
    assert [row.name for row in table.rows] == ["1 in rows", "1 brought near", "3 in rows", "3 brought near"]
    assert table.rows[0].values["registers"] == 255
    assert sum("MiB left" in note for note in table.notes) == 2
    assert "0.0e+00 m from the processor" in table.notes[-1]
    for name in ("rope on a table", "crane"):
        lying = batch_card.on_card(silent, name, bench.SUBJECTS[name], [2, 3], "float64", seconds=0.1)
        assert lying.rows[0].name == "2 in rows"
        assert "0.0e+00 m from the processor" in lying.notes[-1]


def test_the_table_of_hair_on_a_card() -> None:
    with pretended():
        check(batch_card.hair_on_card(silent, [2, 5], "float64", seconds=0.1))


def test_the_rope_of_the_comparison_converges() -> None:
    """And its runs have the errors that are published."""
    fine = batch_peer.middle(batch_peer.ours(40, 1e-3, 1))
    runs = [batch_peer.middle(batch_peer.ours(points, dt, 2)) for points, dt in batch_peer.OURS]
    errors = [float(np.linalg.norm(run - fine)) for run in runs]
    assert errors[0] == pytest.approx(1.8e-3, abs=1e-4)
    assert errors[1] == pytest.approx(0.94e-3, abs=1e-4)
    assert errors[2] < 2e-4


def test_beside_mujoco() -> None:
    pytest.importorskip("mujoco")
    found = [batch_peer.middle(run) for run in (batch_peer.mujocos(20, 1e-3, 2), batch_peer.ours(16, 5e-3, 1))]
    assert np.linalg.norm(found[0] - found[1]) < 4e-3
