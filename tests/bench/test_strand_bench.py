"""The tables of ``sennit bench strand``: a few samples of each on short strands. No time is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sennit as sn
from sennit import cli
from sennit.bench import strand as bench
from sennit.bench import strand_samples as samples
from sennit.bench.table import Table


def silent(text: str, done: float) -> None:
    assert text and 0.0 <= done <= 1.0


def check(table: Table) -> None:
    """Every row has times, every aim a number, and the table survives its file."""
    assert table.rows and len({row.name for row in table.rows}) == len(table.rows)
    for row in table.rows:
        assert row.mean is not None
        assert 0.0 <= row.median <= row.p99 <= row.worst and 0.0 < row.mean <= row.worst
        assert table.baseline is None or row.ratio is not None
    assert all(np.isfinite(aim.value) for aim in table.aims)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()


def test_sweeps() -> None:
    table = bench.sweeps(silent, (11, 21, 41), samples=2)
    check(table)
    names = {aim.name for aim in table.aims}
    assert {"growth exponent, order 4", "ns a node, order 4, 41 nodes"} <= names
    for name in ("order 1, 11 nodes", "order 4, extensible, 21 nodes", "order 4, full K, 21 nodes", "copy, 41 nodes"):
        assert table[name].samples == 2


def test_public_sweeps() -> None:
    table = bench.public_sweeps(silent, (11, 21), samples=2)
    check(table)
    assert len(table.rows) == 3 * 2 + 1 and len(table.aims) == 3


def test_compiled_sweeps_do_what_solve_does() -> None:
    strand = samples.nylon_strand(21)
    state = bench._follower_call(strand)()
    assert isinstance(state, sn.StrandState) and state.report.method == "sweep"
    call, count = bench._sweep_call(strand)
    assert call() and count > 21 * 19 * 8


def test_warm() -> None:
    table = bench.warm(21, silent, samples=12, steps=400)
    check(table)
    public = table["solve()"]
    assert float(public.values["iterations"]) >= 1.0 and public.values["moving"] == 0
    assert float(table[bench.CAPPED].values["most"]) <= 3
    assert any("solves a second" in note for note in table.notes)
    assert any("tracemalloc" in note for note in table.notes)


def test_the_goals_stand_under_201_nodes() -> None:
    table = bench.warm(201, silent, samples=3)
    bounds = {aim.name: (aim.at_least, aim.at_most) for aim in table.aims}
    assert bounds["solves a second, from the median"] == (8000, None)
    assert bounds["solves a second, from the mean"] == (8000, None)
    assert bounds["99th percentile, ms"] == (None, 0.3)


def test_both_drags_are_one() -> None:
    """What is timed without Python must be what `solve` does."""
    public, alone = samples.Drag(samples.nylon_strand(21), 400), samples.KernelDrag(samples.nylon_strand(21), 400)
    for _ in range(30):
        public()
        alone()
    q, lam, _ = alone.ring[0][1]
    np.testing.assert_array_equal(public.state.quaternions, q)
    np.testing.assert_array_equal(public.state._solution.lam, lam)
    assert public.iterations == alone.iterations


def test_the_drag_is_closed_and_reaches_as_far_as_it_says() -> None:
    poses = samples.drag_poses(2.0, 100)
    distances = [np.linalg.norm(pose.position) / 2.0 for pose in poses]
    assert min(distances) == pytest.approx(0.62) and max(distances) == pytest.approx(0.9)
    steps = [np.linalg.norm(a.position - b.position) for a, b in zip(poses, poses[1:] + poses[:1], strict=True)]
    assert max(steps) < 0.1  # the last one leads back to the first
    # seen along the tangent, forth and back by two turns: half-way it has turned 4π
    assert np.abs(poses[0].rotation - poses[50].rotation).max() < 0.2


def test_a_warm_solve_allocates_its_state_only() -> None:
    small, large = (bench._memory(samples.Drag(samples.nylon_strand(nodes), 400)) for nodes in (21, 201))
    assert small.arrays < small.kept < small.arrays + 5000
    # beyond the arrays, nothing grows with the nodes: 180 of them, 8 bytes for even one number each would be 1,440
    assert abs(large.beyond - small.beyond) < 500


def test_cold() -> None:
    table = bench.cold(silent, (21,), poses=3, samples=4)
    check(table)
    assert table["solve(), 21 nodes"].values["failed"] == "0 of 3"
    assert all(aim.met for aim in table.aims)


def test_newton_step() -> None:
    table = bench.newton_step(silent, 41, samples=2)
    check(table)
    parts = ("evaluate", "assemble", "factor", "solve", "move")
    assert [row.name for row in table.rows] == [*parts, "one iteration", bench.LAPACK]


def test_threads() -> None:
    table = bench.threads(silent, (21,), samples=1, solves=2, steps=400)
    check(table)
    assert "throughput of two" in table["solve(), 21 nodes, two threads"].values


def test_the_command_writes_all_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole way through the command, each table at its smallest."""
    small = {
        "sweeps": lambda progress: tables["sweeps"](progress, (11, 21), samples=1),
        "public_sweeps": lambda progress: tables["public_sweeps"](progress, (11, 21), samples=1),
        "warm": lambda nodes, progress, seconds: tables["warm"](21, progress, samples=2, steps=400),
        "cold": lambda progress: tables["cold"](progress, (21,), poses=2, samples=2),
        "newton_step": lambda progress: tables["newton_step"](progress, 21, samples=1),
        "threads": lambda progress: tables["threads"](progress, (21,), samples=1, solves=1, steps=400),
    }
    tables = {name: getattr(bench, name) for name in small}
    for name, builder in small.items():
        monkeypatch.setattr(bench, name, builder)
    target = tmp_path / "strand.json"
    assert cli.main(["bench", "strand", "--json", str(target)]) == 0
    content = json.loads(target.read_text(encoding="utf-8"))
    assert content["bench"] == "strand" and len(content["tables"]) == 8
    shown = capsys.readouterr().out
    for table in content["tables"]:
        assert table["title"] in shown
        assert all(row["samples"] > 0 for row in table["rows"])
        assert all(set(aim) == {"name", "value", "at_most", "at_least", "met"} for aim in table["aims"])
