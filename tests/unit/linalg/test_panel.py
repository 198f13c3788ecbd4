"""Transient rows against dense Schur complements."""

from __future__ import annotations

import numpy as np
import pytest
from unit.linalg.systems import System, bridge, dense, mixed

from sennit.linalg import Factorisation, plan
from sennit.linalg.kernels.ldlt import backward, forward, permute, unpermute
from sennit.linalg.kernels.panel import add_row, clear_row, panel_row, row_dot, schur
from sennit.linalg.panel_rows import PanelRows


def forest() -> System:
    """Three rods that share nothing: three roots."""
    s = System()
    for points in (7, 5, 9):
        s.rows(3, s.rod(points)[:1])
    return s


@pytest.mark.parametrize("front", [plan.WIDE, 0])  # 0: panels are packed
@pytest.mark.parametrize("make", [mixed, bridge, forest])
def test_schur_complement_and_constrained_solution(make, front: int, monkeypatch) -> None:
    monkeypatch.setattr(plan, "WIDE", front)
    s = make()
    row, col, values = s.matrix(3)
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    f.factorise(values)
    a = dense(s.n, row, col, values)
    rng = np.random.default_rng(6)
    rows = 7
    b = np.zeros((rows, s.n))
    added = PanelRows(rows=rows, size=f.size, panels=f.panels, width=6)
    primal = np.flatnonzero(s.kinds() == 0)
    for attempt in range(2):
        b[:] = 0.0
        index = np.array([rng.choice(primal, 6) for _ in range(rows)])  # some come twice
        coefficient = rng.normal(size=index.shape)
        for r in range(rows):
            if attempt == 1:
                clear_row(added, r)
                assert not np.any(added.vectors[r])
            np.add.at(b[r], index[r], coefficient[r])
            added.index[:], added.coefficient[:] = index[r], coefficient[r]
            panel_row(f.plan, f.factor, 6, added, r)
            assert not np.any(added.mark)
            listed = added.reach[r, : added.reached[r]]
            assert len(set(listed.tolist())) == len(listed)
            assert set(np.flatnonzero(np.any(added.vectors[r].reshape(-1, 4) != 0.0, axis=1))) <= set(listed.tolist())
        complement = np.zeros((rows, rows))
        schur(f.diagonal, added, rows, complement)
        expected = b @ np.linalg.solve(a, b.T)
        np.testing.assert_allclose(complement, expected, rtol=0.0, atol=1e-11 * abs(expected).max())

        # K x + Bᵀ λ = f, B x = g.
        right, goal = rng.normal(size=s.n), rng.normal(size=rows)
        w = f.work
        permute(f.plan, right, w)
        forward(f.plan, f.factor, w)
        free = np.array([row_dot(f.diagonal, added, r, w) for r in range(rows)])
        multiplier = np.linalg.solve(complement, free - goal)
        for r in range(rows):
            add_row(added, r, -multiplier[r], w)
        backward(f.plan, f.factor, f.diagonal, w)
        x = np.empty(s.n)
        unpermute(f.plan, w, x)
        whole = np.linalg.solve(np.block([[a, b.T], [b, np.zeros((rows, rows))]]), np.r_[right, goal])
        np.testing.assert_allclose(x, whole[: s.n], rtol=0.0, atol=1e-9 * abs(whole).max())
        np.testing.assert_allclose(multiplier, whole[s.n :], rtol=0.0, atol=1e-9 * abs(whole).max())


def test_reach_is_sparse() -> None:
    """A row on one of three separate rods touches no panel of the others."""
    s = forest()
    row, col, values = s.matrix()
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    f.factorise(values)
    added = PanelRows(rows=1, size=f.size, panels=f.panels, width=1)
    first = s.start[8]  # the second rod, after 7 points and its rows
    added.index[0], added.coefficient[0] = first, 1.0
    panel_row(f.plan, f.factor, 1, added, 0)
    own = set((f.position[first : first + 23] >> 2).tolist())
    assert 0 < added.reached[0] <= 6
    assert set(added.reach[0, : added.reached[0]].tolist()) <= own
