"""Small bounded problems: against scipy, against every set there is, with rows that depend on or contradict others.

Tolerances: the solver's own is 1e-10 of a row's terms; λ itself is worse by the condition of C (below 1e4 here).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

from sennit.linalg.bounded import BoundedProblem, FollowedBounds
from sennit.linalg.kernels import bounded as kernels

INF = math.inf


class Answer:
    def __init__(self, status: int, iterations: int, lam: np.ndarray, y: np.ndarray, state: np.ndarray) -> None:
        self.status, self.iterations, self.lam, self.y, self.state = status, iterations, lam, y, state


def problem_of(C: np.ndarray, b: object, lo: object, hi: object, room: int = 0) -> BoundedProblem:
    """A problem with `room` more rows than needed; what nobody has written is not a number."""
    k = len(C)
    problem = BoundedProblem(rows=k + room)
    for field in problem.fields().values():
        field[...] = np.nan if field.dtype == float else -7
    problem.matrix[:k, :k] = C
    problem.gap[:k], problem.lower[:k], problem.upper[:k] = b, lo, hi
    return problem


def solve(
    C: np.ndarray, b: np.ndarray, lo: object, hi: object, *, state: np.ndarray | None = None, cap: int = 500,
    room: int = 0,
) -> Answer:  # fmt: skip
    """Cold from every row at its lower bound, unless `state` is given; `room` more rows and columns in every array."""
    k = len(b)
    problem = problem_of(C, b, lo, hi, room)
    problem.side[:k] = -1 if state is None else state
    status, iterations = kernels.solve_bounded(problem, k, cap)
    return Answer(status, iterations, problem.multiplier[:k], problem.residual[:k], problem.side[:k])


def check_conditions(C: np.ndarray, b: np.ndarray, lo: object, hi: object, lam: np.ndarray, tol: float = 1e-9) -> None:
    """The problem's conditions, in numpy; and the kernel that reports violations must agree."""
    lo, hi = np.broadcast_to(lo, b.shape).astype(float), np.broadcast_to(hi, b.shape).astype(float)
    y = C @ lam + b
    scale = np.abs(b) + np.abs(C) @ np.abs(lam) + 1e-300
    assert (lam >= lo).all() and (lam <= hi).all()
    assert (y[lam > lo] <= tol * scale[lam > lo]).all()
    assert (y[lam < hi] >= -tol * scale[lam < hi]).all()
    assert violation(C, b, lo, hi, lam)[1] <= tol


def violation(C: np.ndarray, b: object, lo: object, hi: object, lam: np.ndarray) -> tuple[int, float]:
    problem = problem_of(C, b, lo, hi)
    problem.multiplier[:] = lam
    return kernels.largest_violation(problem, len(C))


def least_squares(B: np.ndarray, c: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """argmin |Bλ − c| in the box, by scipy; it wants room between the bounds, so closed rows are moved to c."""
    lam, free = lo.copy(), hi > lo
    if free.any():
        rest = c - B[:, ~free] @ lam[~free]
        found = lsq_linear(B[:, free], rest, (lo[free], hi[free]), method="bvls", tol=1e-14, max_iter=1000)
        assert found.status > 0
        lam[free] = found.x
    return lam


def random_box(rng: np.random.Generator, k: int) -> tuple[np.ndarray, np.ndarray]:
    """One-sided, two-sided, equality and closed rows."""
    lo = np.where(rng.random(k) < 0.5, 0.0, -rng.random(k))
    hi = np.where(rng.random(k) < 0.5, INF, lo + rng.random(k))
    kind = rng.random(k)
    lo[kind < 0.1], hi[kind < 0.1] = -INF, INF
    closed = (kind > 0.95) & np.isfinite(hi)
    hi[closed] = lo[closed]
    return lo, hi


# -------------------------------------------------------------------------------------------------- random problems


@pytest.mark.parametrize("k", [1, 2, 5, 13, 40])
def test_boxes_against_least_squares(k: int) -> None:
    """C = BᵀB, b = −Bᵀc: scipy's own active set on |Bλ − c|²; a warm start takes one solve."""
    rng = np.random.default_rng(k)
    for _ in range(60):
        B, c = rng.normal(size=(2 * k, k)), rng.normal(size=2 * k)
        lo, hi = random_box(rng, k)
        C, b = B.T @ B, -B.T @ c
        got = solve(C, b, lo, hi, room=int(rng.integers(0, 3)))
        assert got.status == kernels.SOLVED
        check_conditions(C, b, lo, hi, got.lam)
        np.testing.assert_allclose(got.y, C @ got.lam + b, atol=1e-12 * k)
        free = (got.lam > lo) & (got.lam < hi)
        assert np.array_equal(got.state == 0, free)
        np.testing.assert_allclose(got.lam, least_squares(B, c, lo, hi), atol=1e-8)
        again = solve(C, b, lo, hi, state=got.state.copy())
        assert again.iterations == 1
        np.testing.assert_allclose(again.lam, got.lam, atol=1e-12)


def test_one_sided_rows_against_nnls() -> None:
    rng = np.random.default_rng(7)
    for k in (1, 3, 10, 30):
        for _ in range(40):
            B, c = rng.normal(size=(k + 3, k)), rng.normal(size=k + 3)
            got = solve(B.T @ B, -B.T @ c, 0.0, INF)
            np.testing.assert_allclose(got.lam, nnls(B, c)[0], atol=1e-8)


def test_boxes_against_every_set() -> None:
    """Each row at lo, free or at hi, 3^k sets: exactly one candidate of them meets the conditions (C is definite)."""
    rng = np.random.default_rng(11)
    for k in range(1, 7):
        for _ in range(6):
            B = rng.normal(size=(k, k)) * 10.0 ** rng.uniform(-2, 2, size=k)  # rows of different units
            C = B.T @ B + 1e-2 * np.diag(np.diag(B.T @ B))
            b = rng.normal(size=k) * np.sqrt(np.diag(C))
            lo = -rng.random(k) / np.sqrt(np.diag(C))
            hi = rng.random(k) / np.sqrt(np.diag(C))
            found = []
            for places in itertools.product((-1, 0, 1), repeat=k):
                place = np.array(places)
                lam = np.where(place < 0, lo, hi)
                free = place == 0
                if free.any():
                    fixed = ~free
                    lam[free] = np.linalg.solve(C[np.ix_(free, free)], -b[free] - C[np.ix_(free, fixed)] @ lam[fixed])
                y = C @ lam + b
                inside = (lam[free] >= lo[free]).all() and (lam[free] <= hi[free]).all()
                if inside and (y[place < 0] >= 0).all() and (y[place > 0] <= 0).all():
                    found.append(lam)
            assert len(found) == 1
            np.testing.assert_allclose(solve(C, b, lo, hi).lam, found[0], rtol=1e-9, atol=1e-12 * np.abs(lo).max())


def test_any_start_gives_the_same_answer() -> None:
    rng = np.random.default_rng(5)
    k = 20
    B = rng.normal(size=(k, k + 5))
    C, b = B @ B.T, 5.0 * rng.normal(size=k)
    lo, hi = random_box(rng, k)
    first = solve(C, b, lo, hi)
    for _ in range(50):
        again = solve(C, b, lo, hi, state=rng.integers(-1, 2, size=k))
        assert again.status == kernels.SOLVED
        np.testing.assert_allclose(again.lam, first.lam, atol=1e-9)


# ------------------------------------------------------------------------------------------------- degenerate problems


def test_duplicate_rows_share_their_load() -> None:
    """Two equal one-sided rows in the warm set: half each; cold, one of them is enough. y is zero either way."""
    C, b = np.ones((2, 2)), np.array([-1.0, -1.0])
    warm = solve(C, b, 0.0, INF, state=np.zeros(2, dtype=int))
    np.testing.assert_allclose(warm.lam, [0.5, 0.5], rtol=1e-9)
    assert warm.status == kernels.SOLVED and warm.iterations == 1
    cold = solve(C, b, 0.0, INF)
    assert cold.lam.sum() == pytest.approx(1.0) and cold.status == kernels.SOLVED
    for got in (warm, cold):
        np.testing.assert_allclose(got.y, 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_rank_deficient_problems(seed: int) -> None:
    """20 rows over 6 degrees of freedom, three of them twice: λ is not unique, the motion Jᵀλ and y are."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(20, 6))
    J[17:] = J[:3]
    wanted = rng.normal(size=6)
    lo, hi = random_box(rng, 20)
    lo[:], hi[lo == -INF] = np.where(lo == -INF, 0.0, lo), INF
    C, b = J @ J.T, J @ wanted
    for state in (None, rng.integers(-1, 2, size=20)):
        got = solve(C, b, lo, hi, state=state)
        assert got.status == kernels.SOLVED
        check_conditions(C, b, lo, hi, got.lam, tol=1e-8)
        np.testing.assert_allclose(got.lam @ J, least_squares(J.T, -wanted, lo, hi) @ J, atol=1e-7)


def test_zero_rows() -> None:
    """A row that moves nothing goes to the bound that b asks for; with no such bound it contradicts."""
    C = np.diag([0.0, 2.0, 0.0, 0.0])
    got = solve(C, np.array([1.0, -1.0, -1.0, 0.0]), [0.0, 0.0, -3.0, 0.0], [INF, INF, 4.0, INF])
    assert got.status == kernels.SOLVED
    np.testing.assert_allclose(got.lam, [0.0, 0.5, 4.0, 0.0])
    got = solve(C, np.array([-1.0, -1.0, 0.0, 0.0]), 0.0, INF)
    assert got.status == kernels.CONTRADICTORY
    np.testing.assert_allclose(got.lam, [0.0, 0.5, 0.0, 0.0])
    assert violation(C, [-1.0, -1.0, 0.0, 0.0], 0.0, INF, got.lam) == (
        0, 1.0
    )  # fmt: skip


def test_contradictions_are_reported() -> None:
    """v ≥ 1 and −v ≥ 1; v = 0 twice, once with another b; an equality against a stop."""
    opposed = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for C, b, lo in [
        (opposed, [-1.0, -1.0], [0.0, 0.0]),
        (np.ones((2, 2)), [1.0, 2.0], [-INF, -INF]),
        (np.ones((2, 2)), [0.0, -1.0], [-INF, 0.0]),
    ]:
        got = solve(C, np.array(b), lo, INF)
        assert got.status == kernels.CONTRADICTORY
        assert np.isfinite(got.lam).all()
        # with a compliance on the diagonal the same rows are a good problem
        soft = C + 1e-3 * np.eye(2)
        assert solve(soft, np.array(b), lo, INF).status == kernels.SOLVED
    # with a box they are too: both motors push as hard as they can
    got = solve(opposed, np.array([-1.0, -1.0]), 0.0, 5.0)
    assert got.status == kernels.SOLVED
    np.testing.assert_allclose(got.lam, [5.0, 5.0])


@pytest.mark.parametrize(
    ("b", "lo", "hi"),
    [
        ([1.0, 1.0], [0.0, 1.0], [1.0, 0.5]),
        ([1.0, np.nan], [0.0, 0.0], [1.0, 1.0]),
        ([1.0, 1.0], [0.0, np.nan], [1.0, 1.0]),
        ([1.0, 1.0], [0.0, INF], [1.0, INF]),
    ],
)
def test_invalid_problems_give_zero(b: list[float], lo: list[float], hi: list[float]) -> None:
    got = solve(np.eye(2), np.array(b), lo, hi)
    assert got.status == kernels.INVALID
    assert (got.lam == 0.0).all()


def test_nan_off_the_diagonal_is_invalid() -> None:
    got = solve(np.array([[1.0, np.nan], [np.nan, 1.0]]), np.array([-1.0, -1.0]), 0.0, INF)
    assert got.status == kernels.INVALID
    assert (got.lam == 0.0).all()


def test_the_cap_leaves_lambda_within_its_bounds() -> None:
    rng = np.random.default_rng(2)
    B = rng.normal(size=(30, 30))
    C, b = B @ B.T, 3.0 * rng.normal(size=30)
    needed = solve(C, b, 0.0, 1.0).iterations
    assert needed > 5
    for cap in range(needed):
        for state in (None, np.zeros(30, dtype=int)):
            got = solve(C, b, 0.0, 1.0, cap=cap, state=None if state is None else state.copy())
            assert got.status == kernels.ITERATION_CAP or state is not None
            assert got.iterations <= cap
            assert (got.lam >= 0.0).all() and (got.lam <= 1.0).all()


# ----------------------------------------------------------------------------------------------- a string over stops


def string_over_stops(points: int, stops: int, duplicates: int = 0) -> tuple[np.ndarray, ...]:
    """A string with `points` free points, pressed by a load against `stops` one-sided stops; (A, J, wanted, gap)."""
    h = 1.0 / (points + 1)
    A = (2.0 * np.eye(points) - np.eye(points, k=1) - np.eye(points, k=-1)) / h
    x = np.linspace(0.01, 0.99, stops)
    x[stops - duplicates :] = x[:duplicates]
    J = np.maximum(0.0, 1.0 - np.abs(x[:, None] / h - np.arange(1, points + 1)))
    load = np.full(points, -8.0 * h)
    return A, J, np.linalg.solve(A, load), -0.1 - 0.8 * x * (1.0 - x) + 0.03 * np.sin(25.0 * x)


def least_distance(A: np.ndarray, J: np.ndarray, wanted: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """argmin (x − wanted)ᵀA(x − wanted) with Jx ≥ gap, as Lawson & Hanson's LDP (ch. 23.4) on scipy's nnls."""
    L = np.linalg.cholesky(A)
    G = np.linalg.solve(L, J.T).T  # x = wanted + L⁻ᵀz, |z| least
    rows = np.vstack([G.T, gap - J @ wanted])
    target = np.append(np.zeros(len(wanted)), 1.0)
    u, _ = nnls(rows, target)
    r = rows @ u - target
    return wanted + np.linalg.solve(L.T, -r[:-1] / r[-1])


@pytest.mark.parametrize(("points", "duplicates"), [(60, 0), (24, 0), (24, 12)])
def test_a_string_on_fifty_stops(points: int, duplicates: int) -> None:
    """Fifty stops; with 24 points C has rank 24. The string's shape against a least-distance problem, cold and warm."""
    A, J, wanted, gap = string_over_stops(points, 50, duplicates)
    C, b = J @ np.linalg.solve(A, J.T), J @ wanted - gap
    got = solve(C, b, 0.0, INF)
    assert got.status == kernels.SOLVED
    assert got.iterations <= 60
    check_conditions(C, b, 0.0, INF, got.lam)
    shape = wanted + np.linalg.solve(A, J.T @ got.lam)
    np.testing.assert_allclose(shape, least_distance(A, J, wanted, gap), atol=1e-8)
    assert 3 <= (got.lam > 0).sum() < 50

    assert solve(C, b, 0.0, INF, state=got.state.copy()).iterations == 1
    # every stop in the warm set: dependent rows, most of them with the wrong sign
    full = solve(C, b, 0.0, INF, state=np.zeros(50, dtype=int))
    assert full.status == kernels.SOLVED
    shape = wanted + np.linalg.solve(A, J.T @ full.lam)
    np.testing.assert_allclose(shape, least_distance(A, J, wanted, gap), atol=1e-8)


def test_a_moving_load_changes_few_rows() -> None:
    """Warm starts over a slow sweep: on the average less than two solves, where a cold start takes ten or more."""
    A, J, wanted, gap = string_over_stops(24, 50)
    C = J @ np.linalg.solve(A, J.T)
    state = np.full(50, -1)
    counts, cold = [], []
    for step in range(200):
        b = J @ wanted * (1.0 + 0.3 * math.sin(0.03 * step)) - gap
        got = solve(C, b, 0.0, INF, state=state)
        assert got.status == kernels.SOLVED
        check_conditions(C, b, 0.0, INF, got.lam)
        state = got.state
        counts.append(got.iterations)
        cold.append(solve(C, b, 0.0, INF).iterations)
    assert np.mean(counts[1:]) < 2.0
    assert np.mean(cold) > 10.0


# ------------------------------------------------------------------------------------------------------ friction rows


def solve_rows(C, b, lo, hi, law, bound_row, bound_factor, lam=None, state=None, passes=50):  # type: ignore[no-untyped-def]
    k = len(b)
    problem = problem_of(C, b, lo, hi)
    problem.multiplier[:] = 0.0 if lam is None else lam
    problem.side[:] = -1 if state is None else state
    followed = FollowedBounds(rows=k)
    followed.law[:], followed.row[:], followed.factor[:] = law, bound_row, bound_factor
    status, solves, used = kernels.solve_rows(problem, followed, k, 500, passes)
    return status, solves, used, problem.multiplier, problem.residual, problem.side


def block_on_incline(slope: float, h: float, *, side: float = 0.1, mass: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """A square block at rest in the plane, with a normal and a tangential row at both lower corners: C and b.

    Velocities (down the incline, off it, spin); rows n1 n2 t1 t2, corner 2 downhill. The tangential rows are equal, so
    that C is singular; both normals couple with both tangents through the spin.
    """
    inverse_mass = np.diag([1 / mass, 1 / mass, 6.0 / (mass * side**2)])
    r = 0.5 * side
    J = np.array([[0.0, 1.0, -r], [0.0, 1.0, r], [1.0, 0.0, r], [1.0, 0.0, r]])
    falling = 9.81 * h * np.array([math.sin(slope), -math.cos(slope), 0.0])
    return J @ inverse_mass @ J.T, J @ falling


@pytest.mark.parametrize("factor", [0.5, 0.97, 0.999, 1.001, 1.03, 1.5])
def test_a_block_slips_where_the_slope_exceeds_friction(factor: float) -> None:
    """tan α < μ: it sticks; else it gains h g (sin α − μ cos α). λ are impulses: the normals' sum is m g h cos α."""
    h, mu, mass = 1e-2, 0.4, 2.0
    slope = math.atan(factor * mu)
    C, b = block_on_incline(slope, h, mass=mass)
    inf = [INF] * 4
    status, _, passes, lam, y, state = solve_rows(
        C, b, [0, 0, 0, 0], inf, [0] * 4, [-1, -1, 0, 1], [0, 0, mu, mu]
    )  # fmt: skip
    assert status == kernels.SOLVED
    weight = mass * 9.81 * h
    assert lam[:2].sum() == pytest.approx(weight * math.cos(slope), rel=1e-8)
    expected = max(0.0, 9.81 * h * (math.sin(slope) - mu * math.cos(slope)))
    np.testing.assert_allclose(y[2:], expected, atol=1e-8 * 9.81 * h)
    np.testing.assert_allclose(y[:2], 0.0, atol=1e-9)
    pull = min(weight * math.sin(slope), mu * weight * math.cos(slope))
    assert lam[2:].sum() == pytest.approx(-pull, rel=1e-7)
    # friction's moment about the centre, half a side above it, loads the downhill corner: n2 − n1 = −(t1 + t2)
    assert lam[1] - lam[0] == pytest.approx(-lam[2:].sum(), rel=1e-6)
    assert passes <= 12
    # the next step finds its bounds and its set where this one left them
    status, solves, passes, again, _, _ = solve_rows(
        C, b, [0, 0, 0, 0], inf, [0] * 4, [-1, -1, 0, 1], [0, 0, mu, mu], lam=lam, state=state
    )
    assert (status, solves, passes) == (kernels.SOLVED, 1, 1)
    np.testing.assert_allclose(again, lam, rtol=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_contacts_meet_their_own_bounds(seed: int) -> None:
    """Five contacts (one normal, two tangents) on two bodies: the conditions hold with bounds μ λ_n of the answer."""
    rng = np.random.default_rng(seed)
    J = np.zeros((15, 12))
    for contact in range(5):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        arm, body = rng.normal(size=3), 6 * int(rng.integers(2))
        J[3 * contact : 3 * contact + 3, body : body + 6] = np.hstack([axes, np.cross(arm, axes)])
    C = J @ J.T
    C += 1e-3 * np.diag(np.diag(C))
    b = J @ rng.normal(size=12)
    normal = 3 * (np.arange(15) // 3)
    tangent = np.arange(15) != normal
    factor = np.where(tangent, 0.2, 0.0)
    status, _, _, lam, _, _ = solve_rows(
        C, b, np.zeros(15), np.full(15, INF), np.zeros(15, dtype=int), np.where(tangent, normal, -1), factor
    )
    assert status == kernels.SOLVED
    limit = 0.2 * lam[normal]
    assert (np.abs(lam) <= limit * (1.0 + 1e-8))[tangent].all()
    # a multiplier within 1e-8 of its bound is at the bound
    bound = np.where(tangent & (np.abs(lam) > limit * (1.0 - 1e-8)), np.abs(lam), limit)
    check_conditions(C, b, np.where(tangent, -bound, 0.0), np.where(tangent, bound, INF), lam)


def test_a_bound_that_follows_a_pair() -> None:
    """A bead held by two equality rows, 3 N and 4 N, μ = 0.2: pulled by 0.9 N it stays, by 1.5 N it feels 0.5."""
    for pull, force in [(0.9, -0.9), (1.5, -1.0), (-1.5, 1.0)]:
        C, b = np.diag([1.0, 1.0, 0.5]), [3.0, -4.0, 0.5 * pull]
        status, _, passes, lam, y, _ = solve_rows(
            C, b, [-INF] * 3, [INF] * 3, [kernels.LAW_BOX, kernels.LAW_BOX, kernels.LAW_PAIR], [-1, -1, 0], [0, 0, 0.2]
        )
        assert status == kernels.SOLVED and passes == 2
        np.testing.assert_allclose(lam, [-3.0, 4.0, force], rtol=1e-9)
        assert y[2] == pytest.approx(0.5 * (pull + force), abs=1e-9)


def test_fixed_bounds_are_kept() -> None:
    """No row follows another: one pass, the same as the plain solve."""
    C, b = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([-3.0, 4.0])
    status, _, passes, lam, _, _ = solve_rows(C, b, [0.0, -1.0], [INF, 1.0], [0, 0], [-1, -1], [0.0, 0.0])
    assert (status, passes) == (kernels.SOLVED, 1)
    np.testing.assert_allclose(lam, solve(C, b, [0.0, -1.0], [INF, 1.0]).lam)


def test_bounds_that_still_move_are_reported() -> None:
    """A wedge that jams: friction presses the normal row by 0.9·2 of what it is allowed by it, so that bounds grow.

    Slipping (t = −2n) would need n − 1.8 n = 1; sticking needs Cλ = −b, and there |t| = 1.11 n is allowed.
    """
    C, b = np.array([[1.0, 0.9], [0.9, 1.0]]), [-1.0, 100.0]
    problem = (C, b, [0, 0], [INF, INF], [0, 0], [-1, 0], [0, 2.0])
    status, _, passes, lam, _, _ = solve_rows(*problem, passes=3)
    assert (status, passes) == (kernels.BOUNDS_MOVE, 3)
    assert np.isfinite(lam).all()
    status, _, _, lam, _, _ = solve_rows(*problem, passes=50)
    assert status == kernels.SOLVED
    np.testing.assert_allclose(lam, np.linalg.solve(C, -np.array(b)), rtol=1e-9)


def test_an_unknown_law_is_invalid() -> None:
    status, *_, lam, _, _ = solve_rows(np.eye(1), [-1.0], [0.0], [INF], [kernels.LAW_DISK], [-1], [0.0])
    assert status == kernels.INVALID and lam[0] == 0.0
