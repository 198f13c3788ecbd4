"""Algebra in blocks gives what LAPACK gives; that its bits do not depend on threads is tested in tests/determinism."""

from __future__ import annotations

import numpy as np
import pytest

from sennit.elastostatics import steady

SIZES = (1, 5, 59, 60, 61, 121, 200)


def matrix(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, n))


@pytest.mark.parametrize("n", SIZES)
def test_products(n):
    A, B, x = matrix(n), matrix(n, 1), matrix(n, 2)[0]
    for columns in {1, min(n, 6), n}:
        np.testing.assert_allclose(steady.product(A, B[:, :columns]), A @ B[:, :columns], atol=1e-12 * n)
    np.testing.assert_allclose(steady.product(A[:3], A.T), A[:3] @ A.T, atol=1e-12 * n)
    for given in (A, A.T, np.repeat(A, 2, axis=1)[:, ::2]):
        np.testing.assert_allclose(steady.times(given, x), given @ x, atol=1e-12 * n)


def test_empty():
    nothing = np.zeros((0, 0))
    assert steady.cholesky(nothing).shape == (0, 0)
    assert steady.upper_inverse(nothing).shape == (0, 0)
    assert steady.product(np.zeros((4, 0)), np.zeros((0, 3))).tolist() == np.zeros((4, 3)).tolist()


@pytest.mark.parametrize("n", SIZES)
def test_factors(n):
    A = matrix(n)
    K = A @ A.T + n * np.eye(n)
    R = steady.cholesky(K)
    np.testing.assert_allclose(R, np.linalg.cholesky(K).T, atol=1e-12 * n)
    np.testing.assert_allclose(steady.upper_inverse(R) @ R, np.eye(n), atol=1e-12)
    K[n // 2, n // 2] = -1.0
    assert steady.cholesky(K) is None


@pytest.mark.parametrize("n", SIZES)
def test_elimination_exchanges_rows(n):
    A, b = matrix(n, 4), matrix(n, 5)[0]
    if n > 2:
        A[0, 0] = A[1, 1] = 0.0
    x = steady.solve(A, b)
    assert np.abs(A @ x - b).max() <= 1e-13 * n * np.abs(A).max() * np.abs(x).max()
    A[:, n // 2] = 0.0
    with pytest.raises(np.linalg.LinAlgError):
        steady.solve(A, b)
