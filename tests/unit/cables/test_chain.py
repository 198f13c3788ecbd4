"""Tensions of cables that rub: conditions checked row by row in numpy, closed forms, warm and cold starts.

Tolerances: the solver's own is 1e-10 of a row's terms, and feeds add up the rows of a group.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from sennit.constraints.cable.kernels import chain as kernels
from sennit.constraints.cable.table import ChainWork, Dividers
from sennit.linalg.bounded import BoundedProblem
from sennit.linalg.kernels import bounded as bounded

INF = math.inf


class Problem:
    def __init__(self, C: object, b: object, lo: object, hi: object, dividers: list[tuple[int, int, float]]) -> None:
        self.C, self.b = np.asarray(C, dtype=float), np.asarray(b, dtype=float)
        self.k = len(self.b)
        self.lo, self.hi = (np.broadcast_to(np.asarray(x, dtype=float), self.k).copy() for x in (lo, hi))
        self.before = np.array([d[0] for d in dividers], dtype=np.int64)
        self.after = np.array([d[1] for d in dividers], dtype=np.int64)
        self.rho = np.array([d[2] for d in dividers], dtype=float)


class Answer:
    def __init__(self, problem: Problem, state: np.ndarray | None, grip: np.ndarray | None, cap: int) -> None:
        k, dividers = problem.k, len(problem.rho)
        table, work, tied = BoundedProblem(rows=k), ChainWork(rows=max(2 * k, dividers)), Dividers(rows=dividers)
        for field in [*table.fields().values(), *work.fields().values()]:
            field[...] = np.nan if field.dtype == float else -7
        table.matrix[:], table.gap[:], table.lower[:], table.upper[:] = problem.C, problem.b, problem.lo, problem.hi
        table.side[:] = -1 if state is None else state
        self.lam, self.y, self.state = table.multiplier, table.residual, table.side
        tied.before[:], tied.after[:], tied.ratio[:], tied.feed[:] = problem.before, problem.after, problem.rho, np.nan
        tied.grip[:] = 0 if grip is None else grip
        self.grip, self.feed = tied.grip, tied.feed
        self.status, self.solves = kernels.solve_chain(table, k, tied, work, cap)


def solve(
    problem: Problem, state: np.ndarray | None = None, grip: np.ndarray | None = None, cap: int = 500
) -> Answer:  # fmt: skip
    """Cold, from every row at its lower bound and all dividers sticking, unless a warm start is given."""
    return Answer(problem, state, grip, cap)


def check(problem: Problem, answer: Answer, tol: float = 1e-9) -> None:
    """Every condition, from λ, feeds and grips alone."""
    lam, feed = answer.lam, answer.feed
    y = problem.C @ lam + problem.b
    scale = np.abs(problem.b) + np.abs(problem.C) @ np.abs(lam) + 1e-300
    np.subtract.at(y, problem.before, feed)
    np.add.at(y, problem.after, feed)
    np.add.at(scale, problem.before, np.abs(feed))
    np.add.at(scale, problem.after, np.abs(feed))
    # a feed is a sum over its group: rounding in it comes from all rows that slip together
    joined = list(range(problem.k))
    for d in np.flatnonzero(answer.grip):
        old, new = joined[problem.after[d]], joined[problem.before[d]]
        joined = [new if g == old else g for g in joined]
    joined = np.array(joined)
    total = np.array([scale[joined == g].sum() for g in joined])
    assert answer.status == bounded.SOLVED
    assert (lam >= problem.lo).all() and (lam <= problem.hi * (1 + 1e-15)).all()
    above, below = lam > problem.lo, lam < problem.hi
    assert (y[above] <= tol * total[above]).all()
    assert (y[below] >= -tol * total[below]).all()
    assert np.allclose(y, answer.y, rtol=0, atol=1e-12 * scale.max())
    for d, rho in enumerate(problem.rho):
        one, other = lam[problem.before[d]], lam[problem.after[d]]
        room = 1 + 1e-9
        if rho > kernels.NEVER:
            assert feed[d] == 0.0 and answer.grip[d] == 0
            continue
        assert one <= rho * other * room and other <= rho * one * room
        if answer.grip[d] == 0:
            assert feed[d] == 0.0
        elif one > 0.0:
            i, j = (one, other) if answer.grip[d] > 0 else (other, one)
            assert j == pytest.approx(rho * i, rel=1e-12)
        if rho > 1.0:
            assert feed[d] * answer.grip[d] >= -tol * total[problem.before[d]]


def random_problem(rng: np.random.Generator, count: int, boxes: int) -> Problem:
    """A cable over `count` dividers on moving or fixed bodies, EA to taste, and box rows between random bodies."""
    h = 1 / 60
    bodies = count + 2
    inverse = np.where(rng.random(bodies) < 0.3, 0.0, 1 / 10 ** rng.uniform(0, 4, bodies))
    positions = rng.normal(size=(bodies, 3)) * 3
    parts = count + 1
    J = np.zeros((parts + boxes, 3 * bodies))
    for i in range(parts):
        t = positions[i + 1] - positions[i]
        t /= np.linalg.norm(t)
        J[i, 3 * i : 3 * i + 3], J[i, 3 * i + 3 : 3 * i + 6] = t, -t
    lo, hi = np.zeros(parts + boxes), np.full(parts + boxes, INF)
    for i in range(parts, parts + boxes):
        J[i] = rng.normal(size=3 * bodies) * np.repeat(rng.random(bodies) < 0.4, 3)
        kind = rng.integers(3)
        if kind == 1:
            hi[i] = 10 ** rng.uniform(0, 4)
            lo[i] = -hi[i]
        elif kind == 2:
            lo[i] = -INF
    if rng.random() < 0.3:
        hi[0] = 10 ** rng.uniform(1, 4)
    C = h**2 * (J * np.repeat(inverse, 3)) @ J.T
    C[np.diag_indices_from(C)] += 10 ** rng.uniform(-9, -5, parts + boxes)
    b = rng.normal(size=parts + boxes) * 10 ** rng.uniform(-4, -1)
    b[:parts] -= rng.choice([0.0, 0.02])
    rho = rng.choice([1.0, INF, 1.1, 1.369, 3.0, 50.0], size=count)
    rho = np.where(rho == 3.0, rng.uniform(1, 10, count), rho)
    return Problem(C, b, lo, hi, [(i, i + 1, rho[i]) for i in range(count)])


# Solves from a cold start: (median, 99th percentile, most). A cable alone, then with four box rows, with which a
# problem may have 1ᵀCw < 0 for some group: there the search can go in circles and starts again elsewhere.
COLD = {
    (1, 0): (2, 5, 5), (3, 0): (2, 7, 9), (6, 0): (3, 9, 12), (12, 0): (4, 16, 35),
    (1, 4): (3, 9, 80), (3, 4): (4, 9, 40), (6, 4): (4, 13, 130), (12, 4): (5, 20, 150),
}  # fmt: skip


@pytest.mark.parametrize("count, boxes", COLD)
def test_random_chains(count: int, boxes: int) -> None:
    """300 problems each, all of them solved; a warm start after a change of 1 % needs little more than one solve."""
    rng = np.random.default_rng(100 * count + boxes)
    cold, warm = [], []
    for _ in range(300):
        problem = random_problem(rng, count, boxes)
        answer = solve(problem)
        check(problem, answer)
        cold.append(answer.solves)
        again = solve(problem, answer.state, answer.grip)
        assert again.solves == 1
        problem.b = problem.b * (1 + 0.01 * rng.normal(size=problem.k))
        again = solve(problem, answer.state, answer.grip)
        check(problem, again)
        warm.append(again.solves)
    median, usual, most = COLD[count, boxes]
    assert np.median(cold) <= median and np.percentile(cold, 99) <= usual and max(cold) <= most
    assert np.mean(warm) <= 1.05


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e7, 1e-3), (1e-3, 1.0), (1e5, 1e-7)])
def test_units(units: tuple[float, float]) -> None:
    """λ in other units, y in others: the same answer in as many solves."""
    force, length = units
    for seed in range(20):
        problem = random_problem(np.random.default_rng(seed), 4, 3)
        scaled = Problem(
            problem.C * length / force, problem.b * length, problem.lo * force, problem.hi * force,
            list(zip(problem.before, problem.after, problem.rho, strict=True)),
        )  # fmt: skip
        one, other = solve(problem), solve(scaled)
        assert one.solves == other.solves
        assert np.allclose(one.lam * force, other.lam, rtol=1e-6, atol=1e-9 * force * np.abs(one.lam).max())
        assert np.array_equal(one.grip, other.grip)


@pytest.mark.parametrize("beside", [False, True])
def test_without_dividers_as_bounded(beside: bool) -> None:
    """Also when a cable that touches none of the rows makes the other method solve them."""
    rng = np.random.default_rng(5)
    for _ in range(200):
        k = int(rng.integers(1, 9))
        B = rng.normal(size=(k, k + 2))
        C, b = B @ B.T, rng.normal(size=k)
        lo = rng.choice([0.0, -0.3, -INF], size=k)
        hi = np.where(lo == -0.3, 0.3, INF)
        table = BoundedProblem(rows=k)
        table.matrix[:], table.gap[:], table.lower[:], table.upper[:], table.side[:] = C, b, lo, hi, -1
        status, _ = bounded.solve_bounded(table, k, 100)
        lam, y, state = table.multiplier, table.residual, table.side
        if beside:
            wide = np.zeros((k + 2, k + 2))
            wide[:k, :k], wide[k:, k:] = C, np.diag([1.0, 2.0])
            problem = Problem(wide, [*b, -1, -1], [*lo, 0, 0], [*hi, INF, INF], [(k, k + 1, 1.5)])
        else:
            problem = Problem(C, b, lo, hi, [])
        answer = solve(problem)
        assert answer.status == status == bounded.SOLVED
        assert np.allclose(answer.lam[:k], lam, rtol=1e-8, atol=1e-10)
        assert np.allclose(answer.y[:k], y, atol=1e-10)
        assert np.array_equal(answer.state[:k], state)


def test_bollard() -> None:
    """A held rope (part 0, stiff) and a load of given force on part 1: λ_1/λ_0 = e^{μπ}, and less than that holds."""
    rho = math.exp(0.1 * math.pi)
    for pull, grip in ((2.0, 1), (1.3, 0), (0.9, 0), (0.5, -1)):
        # part i is stretched by g_i: tension g_i / c without slip
        problem = Problem(np.diag([1e-6, 1e-6]), [-1e-6, -pull * 1e-6], 0, INF, [(0, 1, rho)])
        answer = solve(problem)
        check(problem, answer)
        assert answer.grip[0] == grip
        ratio = answer.lam[1] / answer.lam[0]
        assert ratio == pytest.approx({1: rho, 0: pull, -1: 1 / rho}[grip], rel=1e-14)
        assert answer.lam.sum() == pytest.approx(1 + pull, rel=1e-14)


def test_never_slips() -> None:
    problem = Problem(np.diag([1.0, 1.0]), [-1.0, 3.0], 0, INF, [(0, 1, INF)])
    answer = solve(problem, grip=np.array([1]))
    assert np.allclose(answer.lam, [1, 0]) and answer.feed[0] == 0.0 and answer.grip[0] == 0
    check(problem, answer)


def test_frictionless_chain_is_one_row() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        k = 5
        B = rng.normal(size=(k, k + 3))
        C, b = B @ B.T, rng.normal(size=k)
        problem = Problem(C, b, 0, INF, [(i, i + 1, 1.0) for i in range(k - 1)])
        answer = solve(problem)
        check(problem, answer)
        assert np.allclose(answer.lam, max(-b.sum() / C.sum(), 0.0), rtol=1e-10, atol=1e-14)
        assert answer.solves <= 3


def test_both_slack() -> None:
    for rho in (1.0, 2.0, INF):
        problem = Problem(np.eye(2), [0.5, 0.1], 0, INF, [(0, 1, rho)])
        answer = solve(problem)
        check(problem, answer)
        assert not answer.lam.any() and answer.feed[0] == 0.0 and answer.grip[0] == 0 and answer.solves == 1


@pytest.mark.parametrize("rho", [1.0, 2.0, 50.0])
def test_slack_passes_without_tension(rho: float) -> None:
    """One part short, the other with more than that to spare: no tension, and just so much runs over."""
    for b, feed in (([-1.0, 3.0], -1.0), ([3.0, -1.0], 1.0)):
        problem = Problem(np.eye(2), b, 0, INF, [(0, 1, rho)])
        answer = solve(problem)
        check(problem, answer)
        assert not answer.lam.any() and answer.feed[0] == feed and answer.grip[0] == np.sign(feed)
    # from both sides alike
    problem = Problem(np.eye(3), [2.0, -1.0, 2.0], 0, INF, [(0, 1, rho), (1, 2, rho)])
    answer = solve(problem)
    check(problem, answer)
    assert np.allclose(answer.feed, [0.5, -0.5]) and np.allclose(answer.y, [1.5, 0, 1.5])
    # not enough: all of it is taut
    problem = Problem(np.eye(2), [-1.0, 0.4], 0, INF, [(0, 1, rho)])
    answer = solve(problem)
    check(problem, answer)
    assert (answer.lam > 0).all() and answer.lam.sum() == pytest.approx(0.6)


def test_largest_pull() -> None:
    """A winch that slips at 100 N holds, over a bollard, a load with 100 ρ at most; the rest runs out at the winch."""
    rho = 1.369
    problem = Problem(np.diag([1e-4, 1e-4]), [-0.001, -0.1], 0, [100.0, INF], [(0, 1, rho)])
    answer = solve(problem)
    check(problem, answer)
    assert answer.lam == pytest.approx([100.0, 100.0 * rho], rel=1e-14)
    assert answer.state[0] == 1 and answer.grip[0] == 1 and answer.y[0] < 0.0 and answer.y[1] == pytest.approx(0.0)
    assert answer.feed[0] == pytest.approx(0.1 - 0.01 * rho)
    # a brake that holds nothing: cable runs out freely
    problem = Problem(np.diag([1e-4, 1e-4]), [-0.001, -0.1], 0, [0.0, INF], [(0, 1, rho)])
    answer = solve(problem)
    assert not answer.lam.any() and answer.y == pytest.approx([-0.101, 0.0], abs=1e-12)


def test_dependent_parts_share() -> None:
    """Two cables side by side, without stretch, each over its divider."""
    C = np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    problem = Problem(C, [-1.0, -1, -1, -1], 0, INF, [(0, 2, 2.0), (1, 3, 2.0)])
    answer = solve(problem)
    assert answer.status == bounded.SOLVED
    assert np.allclose(answer.lam, 0.5, rtol=1e-6)


def test_refused_and_capped() -> None:
    good = Problem(np.eye(2), [-1, -1], 0, INF, [(0, 1, 2.0)])
    for change in ("rho", "b", "lo", "loop"):
        problem = Problem(np.eye(2), [-1, -1], 0, INF, [(0, 1, 2.0)])
        if change == "rho":
            problem.rho[0] = 0.5
        elif change == "b":
            problem.b[0] = np.nan
        elif change == "lo":
            problem.lo[0] = -1.0
        else:
            problem = Problem(np.eye(2), [-1, -1], 0, INF, [(0, 1, 2.0), (1, 0, 2.0)])
        answer = solve(problem)
        assert answer.status == bounded.INVALID and not answer.lam.any() and not answer.feed.any()
    answer = solve(good, cap=1)
    assert answer.status == bounded.ITERATION_CAP and answer.solves == 1 and (answer.lam >= 0).all()
