"""The tables of ``sennit bench micado``: a few samples of each. No time is asserted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csc_matrix, random_array

from sennit.bench import micado as bench
from sennit.bench.table import Table


def silent(text: str, done: float) -> None:
    assert text and 0.0 <= done <= 1.0


def check(table: Table) -> None:
    assert table.rows and len({row.name for row in table.rows}) == len(table.rows)
    assert all(0.0 < row.median <= row.p99 <= row.worst for row in table.rows)
    assert all(np.isfinite(aim.value) for aim in table.aims)
    assert json.loads(json.dumps(table.as_dict())) == table.as_dict()


def test_the_papers_method_solves() -> None:
    """A saddle-point matrix with zeros on its diagonal: the pivots must be found."""
    rng = np.random.default_rng(3)
    n, m = 60, 12
    A = random_array((n, n), density=0.05, rng=rng).toarray()
    A = A @ A.T + np.eye(n)
    J = np.zeros((m, n))
    for k in range(m):
        J[k, 5 * k : 5 * k + 3] = rng.normal(size=3)
    K = csc_matrix(np.block([[A, J.T], [J, np.zeros((m, m))]]))
    right = rng.normal(size=n + m)
    method = bench.BandedLU(K, right)
    for _ in range(2):  # prepare makes it repeatable
        method.prepare()
        method()
        assert np.linalg.norm(K @ method.solution() - right) < 1e-9 * np.linalg.norm(right)
    assert 0 < method.band < n + m


def test_blas_is_kept_to_one_thread_and_let_go() -> None:
    with bench.one_blas_thread() as first, bench.one_blas_thread() as second:
        assert first == second
    with bench.one_blas_thread() as third:
        assert third == first


def test_a_line_is_a_line() -> None:
    fixed, each, quality = bench.linear_fit((0, 1, 2, 4), (3.0, 5.0, 7.0, 11.0))
    assert (fixed, each, quality) == (pytest.approx(3.0), pytest.approx(2.0), pytest.approx(1.0))
    assert bench.linear_fit((0, 1, 2, 4), (0.0, 1.0, 4.0, 16.0))[2] < 0.95


def test_the_subjects_are_the_papers() -> None:
    for subject in bench.SUBJECTS.values():
        assert subject.make().scene.multipliers == subject.multipliers


def test_six_scenes_and_their_matrices() -> None:
    plays = {name: bench.Play(subject) for name, subject in bench.SUBJECTS.items()}
    table = bench.six(silent, plays, samples=2)
    check(table)
    assert [row.name for row in table.rows] == list(bench.SUBJECTS)
    assert [aim.at_most for aim in table.aims] == [0.06] * 6
    table = bench.solves(silent, plays, samples=2)
    check(table)
    assert [aim.at_least for aim in table.aims] == [2.0] * 6
    for row in table.rows:
        assert float(row.values["residual"]) < 1e-6


def test_our_solve_is_the_papers() -> None:
    """Both columns must answer the same question."""
    play = bench.Play(bench.SUBJECTS["bridge"])
    play.prepare()
    play()
    matrix, right = play.scene.saddle_point()
    own, banded = bench.OwnSolve(play.scene, right), bench.BandedLU(matrix, right)
    own.prepare()
    own()
    banded.prepare()
    banded()
    scale = np.abs(banded.solution()).max()
    assert np.abs(own.x - banded.solution()).max() < 1e-6 * scale


def test_a_play_begins_again() -> None:
    play = bench.Play(bench.SUBJECTS["bow"])
    times = []
    for _ in range(800):
        play.prepare()
        play()
        times.append(play.scene.time)
    assert max(times) <= play.end and min(np.diff(times)) < 0.0
    assert play.scene.multipliers == (11, 16)


def test_sliding() -> None:
    tables = bench.sliding(silent, (2, 4), control_points=20, samples=2)
    assert len(tables) == 2
    for table in tables:
        check(table)
        assert len(table.rows) == 3 and len(table.aims) == 1
    assert bench.with_keyholes(4, 20).multipliers == (3 + 3 * 4, 0)
    assert bench.with_pearls(4, 20).multipliers[0] >= 6


def test_growth() -> None:
    table = bench.growth(silent, (200, 400), samples=1)
    check(table)
    assert len(table.rows) == 6 and len(table.aims) == 3
    for row in table.rows:
        assert 150 <= float(row.values["DOF"]) <= 400


def test_nets() -> None:
    table = bench.nets(silent, (3, 5), samples=1)
    check(table)
    assert [row.values["DOF"] for row in table.rows] == [8 * 3 * 16, 8 * 5 * 20]
    assert [row.values["rows"] for row in table.rows] == [3 * 3**2 + 12 * 3, 3 * 5**2 + 12 * 5]
