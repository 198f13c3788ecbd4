"""Factorisation and solves against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from unit.linalg.systems import System, bridge, dense, ladder, mixed, net

from sennit.linalg import Factorisation

EPS = np.finfo(float).eps


def factorised(s: System, seed: int = 0):
    row, col, values = s.matrix(seed)
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    return f, f.factorise(values), dense(s.n, row, col, values), values


SYSTEMS = {"mixed": mixed(), "bridge": bridge(), "ladder": ladder(30), "net": net(3, 9)}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SYSTEMS)
def test_solution_and_inertia(name: str, seed: int) -> None:
    s = SYSTEMS[name]
    f, inertia, a, values = factorised(s, seed)
    eigenvalues = np.linalg.eigvalsh(a)
    assert inertia.negative == np.count_nonzero(eigenvalues < 0.0) == np.count_nonzero(s.kinds() == 1)
    assert (inertia.dependent, inertia.bad) == (0, -1)
    right = np.random.default_rng(seed).normal(size=s.n)
    x = f.solve(right)
    condition = abs(eigenvalues).max() / abs(eigenvalues).min()
    # No pivoting: the growth of a quasi-definite factorisation, at most 1e3 here, multiplies rounding.
    assert np.linalg.norm(x - np.linalg.solve(a, right)) <= 1e3 * EPS * condition * np.linalg.norm(x)
    assert np.linalg.norm(a @ x - right) <= 1e-11 * np.linalg.norm(right)
    refined = f.solve(right, values, refinements=1)
    assert np.linalg.norm(a @ refined - right) <= 1e-14 * np.linalg.norm(abs(a) @ abs(refined))
    np.testing.assert_allclose(f.multiply(values, x), a @ x, rtol=0.0, atol=1e-12 * abs(a).max() * abs(x).max())


def test_factor_times_its_transpose() -> None:
    """P K Pᵀ = L D Lᵀ, read from the panels; padding is a column of the identity."""
    f, _, a, _ = factorised(mixed())
    size, plan = f.size, f.plan
    lower = np.eye(size)
    for p in range(f.panels):
        block = f.factor[plan.place[p] : plan.place[p + 1]].reshape(-1, 4)
        rows = plan.rows[plan.first_row[p] : plan.first_row[p + 1]]
        assert np.all(rows[1:] > rows[:-1])
        lower[4 * p : 4 * p + 4, 4 * p : 4 * p + 4] = np.tril(block[:4], -1) + np.eye(4)
        lower[rows, 4 * p : 4 * p + 4] = block[4:]
    product = lower @ np.diag(f.diagonal) @ lower.T
    padded = np.eye(size)
    at = f.position.astype(int)
    assert len(set(at.tolist())) == f.n
    padded[np.ix_(at, at)] = a
    np.testing.assert_allclose(product, padded, rtol=0.0, atol=1e-12 * abs(a).max())


def test_large_system_against_sparse_lu() -> None:
    s = System()
    last: list[int] = []
    for _ in range(30):
        rod = s.rod(20)
        s.rows(6, [*last[-2:], *rod[:2]])
        last = rod
    row, col, values = s.matrix()
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    assert f.factorise(values).negative == 180
    off = row != col
    a = scipy.sparse.coo_matrix(
        (np.r_[values, values[off]], (np.r_[row, col[off]], np.r_[col, row[off]])), (s.n, s.n)
    ).tocsc()
    right = np.random.default_rng(5).normal(size=s.n)
    np.testing.assert_allclose(f.solve(right), scipy.sparse.linalg.splu(a).solve(right), rtol=1e-9, atol=1e-11)


def test_repeated_entries_and_shared_slots() -> None:
    """Values of a repeated pair are added; several entries may read one slot; either triangle will do."""
    s = mixed()
    row, col, values = s.matrix()
    rng = np.random.default_rng(11)
    more = rng.integers(0, len(row), 200)
    twice = np.r_[row, row[more]], np.r_[col, col[more]]
    slot = np.r_[np.arange(len(row)), more]
    values[row == col] += 10.0 * (s.kinds()[row[row == col]] == 0)
    swap = rng.random(len(slot)) < 0.5
    r, c = np.where(swap, twice[1], twice[0]), np.where(swap, twice[0], twice[1])
    shuffle = rng.permutation(len(slot))
    r, c, slot = r[shuffle], c[shuffle], slot[shuffle]
    f = Factorisation(s.start, s.kind, r, c, slot)
    f.factorise(values)
    a = dense(s.n, r, c, values[slot])
    right = rng.normal(size=s.n)
    x = f.solve(right)
    assert np.linalg.norm(a @ x - right) <= 1e-11 * np.linalg.norm(right)


def test_quads_move_with_their_slots() -> None:
    """Slots laid out as a rod's band are read in fours both along rows and down columns, wherever the band starts."""
    s = System()
    points = 12
    s.rod(points)
    fixed = s.rows(3, [5])
    rng = np.random.default_rng(2)
    band0 = 7
    values = np.zeros(band0 + 64 * points + 12)
    row, col, slot = [], [], []
    for i in range(points):
        for a in range(4):
            for k in range(min(4, points - i)):
                for b in range(a if k == 0 else 0, 4):
                    row.append(4 * i + a)
                    col.append(4 * (i + k) + b)
                    slot.append(band0 + 64 * i + 16 * a + 4 * k + b)
                    values[slot[-1]] = rng.uniform(-1.0, 1.0) + (30.0 if row[-1] == col[-1] else 0.0)
    for r in range(3):
        for b in range(4):
            row.append(s.start[fixed] + r)
            col.append(20 + b)
            slot.append(band0 + 64 * points + 4 * r + b)
            values[slot[-1]] = rng.uniform(-1.0, 1.0)
    f = Factorisation(s.start, s.kind, row, col, slot)
    f.factorise(values)
    a = dense(s.n, np.array(row), np.array(col), values[slot])
    right = rng.normal(size=s.n)
    np.testing.assert_allclose(f.solve(right), np.linalg.solve(a, right), rtol=1e-11, atol=1e-13)
    along, down, single = len(f.plan.along_goal), len(f.plan.down_goal), len(f.plan.single_goal)
    assert along + down > 9 * points  # most of the 13 rows of four in a point's band
    assert single < points
    assert along > 6 * points


@pytest.mark.parametrize("compliance", [1.0, 1e-4, 1e-8, 1e-12, 1e-16, 0.0])
def test_accuracy_does_not_depend_on_compliance(compliance: float) -> None:
    s = bridge()
    row, col, values = s.matrix()
    values[(row == col) & (s.kinds()[row] == 1)] = -compliance
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    f.factorise(values)
    exact = np.random.default_rng(4).normal(size=s.n)
    right = dense(s.n, row, col, values) @ exact
    assert abs(f.solve(right) - exact).max() <= 1e-12 * abs(exact).max() * 20.0


def test_dependent_rows_are_named_and_harmless() -> None:
    """A copy of a row, a sum of two rows, and an empty row; a nearly equal row is healthy and stays exact."""
    s = System()
    rod = s.rod(15)
    other = s.rod(15)
    blocks = [s.rows(1, rod[3:7] + other[3:7]) for _ in range(3)]
    blocks += [s.rows(1, rod[3:7] + other[3:7]) for _ in range(3)]
    near = s.rows(1, rod[3:7] + other[3:7])
    s.rows(3, rod[:1])
    row, col, values = s.matrix(9)

    def coefficients(b: int):
        return (row == s.start[b]) & (row != col)

    values[coefficients(blocks[3])] = -2.0 * values[coefficients(blocks[0])]
    values[coefficients(blocks[4])] = values[coefficients(blocks[1])] + 0.5 * values[coefficients(blocks[2])]
    values[coefficients(blocks[5])] = 0.0
    values[coefficients(near)] = values[coefficients(blocks[1])] + 1e-3 * values[coefficients(near)]
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    inertia = f.factorise(values)
    ratio = f.row_ratio()
    rows = np.flatnonzero(s.kinds() == 1)
    flagged = rows[ratio[rows] < 1e-9]
    assert inertia.dependent == len(flagged) == 3
    assert inertia.negative == len(rows)
    assert s.start[blocks[5]] in flagged
    # Whichever of a dependent set comes last is flagged: one of {0, 3}, one of {1, 2, 4}.
    assert len({s.start[blocks[k]] for k in (0, 3)} & set(flagged.tolist())) == 1
    assert len({s.start[blocks[k]] for k in (1, 2, 4)} & set(flagged.tolist())) == 1
    healthy = np.setdiff1d(rows, flagged)
    assert ratio[healthy].min() > 1e-8
    assert ratio[healthy].max() <= 1.0 + 1e-12
    # Consistent right-hand side: the primal unknowns are those of the system without the dependent rows.
    a = dense(s.n, row, col, values)
    keep = np.setdiff1d(np.arange(s.n), flagged)
    primal = np.flatnonzero(s.kinds() == 0)
    wanted = np.zeros(s.n)
    wanted[primal] = np.random.default_rng(1).normal(size=len(primal))
    right = a @ wanted
    right[primal] = np.random.default_rng(2).normal(size=len(primal))
    x = f.solve(right, values, refinements=2)
    reference = np.linalg.solve(a[np.ix_(keep, keep)], right[keep])
    np.testing.assert_allclose(x[primal], reference[: len(primal)], rtol=0.0, atol=1e-8 * abs(reference).max())


def test_ratio_is_the_pivot_over_what_made_it_negative() -> None:
    """Against a dense LDLᵀ in the same order; for a matrix whose rows all come last, against the Schur complement."""
    for s in (mixed(), bridge()):
        f, _, a, _ = factorised(s)
        order = np.argsort(f.position)
        rest = a[np.ix_(order, order)].copy()
        own = np.maximum(-np.diag(rest), 0.0)
        for k in range(s.n):
            part = rest[k, k + 1 :] ** 2 / rest[k, k]
            own[k + 1 :] += np.maximum(part, 0.0)
            rest[k + 1 :, k + 1 :] -= np.outer(rest[k + 1 :, k], rest[k, k + 1 :]) / rest[k, k]
        rows = s.kinds()[order] == 1
        np.testing.assert_allclose(f.row_ratio()[order][rows], -np.diag(rest)[rows] / own[rows], rtol=1e-9)
        np.testing.assert_allclose(f.pivots()[order], np.diag(rest), rtol=1e-9)

    s = System()
    points = [s.block(4, 0) for _ in range(5)]
    for _ in range(3):
        s.rows(2, points)
    f, _, a, _ = factorised(s)
    schur = a[20:, :20] @ np.linalg.solve(a[:20, :20], a[:20, 20:])
    by_turn = np.argsort(f.position[20:])
    triangle = np.linalg.cholesky(schur[np.ix_(by_turn, by_turn)])
    expected = np.diag(triangle) ** 2 / np.diag(schur)[by_turn]
    np.testing.assert_allclose(f.row_ratio()[20:][by_turn], expected, rtol=1e-10)


def test_indefinite_primal_block_keeps_its_inertia() -> None:
    s = System()
    rod = s.rod(12)
    s.rows(3, rod[:1])
    row, col, values = s.matrix()
    values[(row == col) & np.isin(row, (20, 33))] -= 20.0
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    inertia = f.factorise(values)
    a = dense(s.n, row, col, values)
    assert inertia.negative == np.count_nonzero(np.linalg.eigvalsh(a) < 0.0) == 5
    assert inertia.bad in (20, 33)
    right = np.ones(s.n)
    np.testing.assert_allclose(f.solve(right), np.linalg.solve(a, right), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("coupled", [False, True])
def test_vanishing_pivot_is_reported_without_nan(coupled: bool) -> None:
    """A zero diagonal at the first unknown eliminated, with or without entries beside it; a singular free rod."""
    s = System()
    s.rod(6)
    row, col, values = s.matrix()
    values[(row == 0) & (col == 0)] = 0.0
    if not coupled:
        values[(row == 0) | (col == 0)] = 0.0
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    assert f.factorise(values).bad == 0
    assert np.all(np.isfinite(f.factor))
    assert np.all(np.isfinite(f.solve(np.ones(s.n))))


def test_factorising_twice_gives_the_same_bits() -> None:
    f, _, _, values = factorised(mixed())
    factor, diagonal = f.factor.copy(), f.diagonal.copy()
    f.factorise(2.0 * values)
    f.factorise(values)
    np.testing.assert_array_equal(f.factor, factor)
    np.testing.assert_array_equal(f.diagonal, diagonal)


def test_numbers_beside_a_short_row_do_no_harm() -> None:
    """Rows of a point's own triangle are read four at a time; what stands before them is not the matrix's."""
    s = System()
    s.block(4, 0)
    row, col = np.triu_indices(4)
    values = np.full(16, np.nan)
    slot = 4 * row + col
    a = np.diag([4.0, 5.0, 6.0, 7.0]) + 1.0
    values[slot] = a[row, col]
    f = Factorisation(s.start, s.kind, row, col, slot)
    f.factorise(values)
    np.testing.assert_allclose(f.solve(np.ones(4)), np.linalg.solve(a, np.ones(4)), rtol=1e-14)


def test_no_unknowns() -> None:
    f = Factorisation([0], [], [], [], [])
    assert f.factorise(np.zeros(0)).negative == 0
    assert f.solve(np.zeros(0)).shape == (0,)


def test_blocks_of_every_size() -> None:
    """Sizes 1 to 9 in a chain: panels that join blocks and panels that cut them."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        s = System()
        blocks = [s.block(int(rng.integers(1, 10)), 0) for _ in range(12)]
        for a in range(12):
            for b in range(a):
                if rng.random() < 0.25:
                    s.pairs.append((blocks[a], blocks[b]))
        for _ in range(4):
            s.rows(int(rng.integers(1, 7)), rng.choice(blocks, 3, replace=False).tolist())
        row, col, values = s.matrix(int(rng.integers(1000)))
        f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
        f.factorise(values)
        a = dense(s.n, row, col, values)
        right = rng.normal(size=s.n)
        x = f.solve(right, values, refinements=1)
        if abs(np.linalg.eigvalsh(a)).min() > 1e-6:
            assert np.linalg.norm(a @ x - right) <= 1e-9 * np.linalg.norm(right)


def test_not_a_number_is_reported() -> None:
    s = System()
    s.rod(5)
    row, col, values = s.matrix()
    values[(row == 9) & (col == 9)] = np.nan
    f = Factorisation(s.start, s.kind, row, col, np.arange(len(row)))
    assert f.factorise(values).bad == 9
