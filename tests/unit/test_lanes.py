"""Packs of four numbers: every operation in machine code against NumPy's, lane by lane; sine and cosine."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from sennit import compilation
from sennit.compilation import kernel
from sennit.geometry.kernels.angles import SMALL_ANGLE, sincos, sincos_of_number
from sennit.lanes import (
    add_four_at,
    add_lanes,
    add_pack_at,
    at,
    every,
    four_at,
    lanes_of,
    larger,
    load,
    pack,
    pack_at,
    put_at,
    put_three_at,
    root,
    store,
    three_at,
    where,
)  # fmt: skip

AWKWARD = (0.0, -0.0, 1.0, -1.5, 3.0, -7.25e-300, 1e300, math.inf, -math.inf, math.nan)


@kernel
def arithmetic(x, y, k, out):
    """Each operation by itself, so that none is fused with another."""
    p, q = pack_at(x, 0), at(y, (0, 1, 2, 3))
    store(out, 0, p + q)
    store(out, 1, p - q)
    store(out, 2, p * q)
    store(out, 3, p / q)
    store(out, 4, -p)
    store(out, 5, p + k)
    store(out, 6, k - p)
    store(out, 7, p * 2)
    store(out, 8, k / p)
    store(out, 9, root(p))
    store(out, 10, larger(p, q))
    store(out, 11, larger(p, k))
    store(out, 12, where(p < q, p, q))
    store(out, 13, where(p <= q, 1.0, 0.0))
    store(out, 14, where(p > k, 1.0, 0.0))
    store(out, 15, where(k >= p, 1.0, 0.0))
    store(out, 16, where(p == q, 1.0, 0.0))
    store(out, 17, where(p != q, 1.0, 0.0))
    store(out, 18, where((p > 0.0) | (q > 0.0), 1.0, 0.0))
    store(out, 19, where((p > 0.0) & (q > 0.0), 1.0, 0.0))
    store(out, 20, k)
    a, b, c, d = lanes_of(p)
    store(out, 21, pack(d, c, b, a))
    return every(p > q), every(p == p)


def by_numpy(p, q, k):
    with np.errstate(all="ignore"):
        truths = [p <= q, p > k, k >= p, p == q, p != q, (p > 0) | (q > 0), (p > 0) & (q > 0)]
        rows = [p + q, p - q, p * q, p / q, -p, p + k, k - p, p * 2, k / p, np.sqrt(p)]
        rows += [np.where(q > p, q, p), np.where(k > p, k, p), np.where(p < q, p, q)]
        return np.array([*rows, *truths, np.full(4, k), p[::-1]], float), (bool((p > q).all()), bool((p == p).all()))


def test_operations_are_those_of_numpy_to_the_last_bit():
    rng = np.random.default_rng(1)
    for case in range(60):
        p, q = (rng.choice(AWKWARD, 4) if case % 2 else rng.standard_normal(4) for _ in range(2))
        k, out = float(rng.choice(AWKWARD)), np.full((22, 4), 9.0)
        with np.errstate(all="ignore"):
            truths = arithmetic(p, q, k, out)
        expected, expected_truths = by_numpy(p, q, k)
        assert np.array_equal(out, expected, equal_nan=True)
        zero = expected == 0.0
        assert np.array_equal(np.signbit(out[zero]), np.signbit(expected[zero]))
        assert tuple(truths) == expected_truths


@kernel
def read(a, b, c, d, flat, threes, fours, out):
    places = (a, b, c, d)
    x, y, z = three_at(threes, places)
    store(out, 0, at(flat, places))
    store(out, 1, x)
    store(out, 2, y)
    store(out, 3, z)
    p, q, r, s = four_at(fours, places)
    store(out, 4, p)
    store(out, 5, q)
    store(out, 6, r)
    store(out, 7, s)
    p, q, r, s = four_at(flat, places)
    store(out, 8, p)
    store(out, 9, q)
    store(out, 10, r)
    store(out, 11, s)
    store(out, 12, load(fours, a))


@kernel
def write(a, b, c, d, given, flat, threes):
    places = (a, b, c, d)
    put_at(flat, places, load(given, 0))
    put_three_at(threes, places, (load(given, 1), load(given, 2), load(given, 3)))


@pytest.mark.parametrize("places", [(0, 1, 2, 3), (5, 5, 0, 2), (3, 1, 4, 0)])
def test_packs_are_read_from_any_places_and_written_to_them(places):
    rng = np.random.default_rng(2)
    flat, threes, fours = rng.standard_normal(9), rng.standard_normal((6, 3)), rng.standard_normal((6, 4))
    out, rows = np.zeros((13, 4)), list(places)
    read(*places, flat, threes, fours, out)
    lines = [flat[[p + k for p in rows]] for k in range(4)]
    assert np.array_equal(out, [flat[rows], *threes[rows].T, *fours[rows].T, *lines, fours[rows[0]]])
    new_flat, new_threes = np.zeros(6), np.zeros((6, 3))
    write(*places, fours, new_flat, new_threes)
    expected_flat, expected_threes = np.zeros(6), np.zeros((6, 3))
    for lane, row in enumerate(rows):  # the last one stays where places are the same
        expected_flat[row], expected_threes[row] = fours[0, lane], fours[1:4, lane]
    assert np.array_equal(new_flat, expected_flat) and np.array_equal(new_threes, expected_threes)


@kernel
def add(a, b, c, d, stride, offset, count, given, array):
    four = (load(given, 0), load(given, 1), load(given, 2), load(given, 3))
    add_four_at(array, (a, b, c, d), stride, offset, count, four)
    add_pack_at(array, 1, load(given, 0))
    return add_lanes(0.5, load(given, 1), count)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_sums_take_the_first_lanes_one_after_the_other(count):
    """Of lanes beyond the count nothing is added, and places that overlap get all they should."""
    rng = np.random.default_rng(3)
    given, array = rng.standard_normal((4, 4)), rng.standard_normal(20)
    expected, total = array.copy(), 0.5
    for lane, place in list(enumerate((0, 1, 2, 5)))[:count]:
        expected[2 * place + 3 : 2 * place + 7] += given[:, lane]
        total += given[1, lane]
    expected[1:5] += given[0]
    assert add(0, 1, 2, 5, 2, 3, count, given, array) == total
    assert np.array_equal(array, expected)


@kernel
def one_and_four(x, fours, single, four):
    """The same formula for numbers and for packs."""
    for row in range(4):
        a, b, c, d = four_at(fours, row)
        store(single, row, larger(where(a > b, root(c * c), d / b), at(x, row)))
        add_four_at(single, row, 1, 4, 1, (a, b, c, d))
    rows = (0, 1, 2, 3)
    a, b, c, d = four_at(fours, rows)
    store(four, 0, larger(where(a > b, root(c * c), d / b), at(x, rows)))


def test_a_formula_holds_for_numbers_as_for_packs():
    rng = np.random.default_rng(4)
    x, fours, single, four = rng.standard_normal(4), rng.standard_normal((4, 4)), np.zeros(12), np.zeros((1, 4))
    one_and_four(x, fours, single, four)
    assert np.array_equal(single[:4], four[0])
    shifted = np.zeros(8)
    for row in range(4):
        shifted[row : row + 4] += fours[row]
    assert np.array_equal(single[4:], shifted)


@pytest.mark.skipif(compilation.PLAIN, reason="nothing is compiled")
@pytest.mark.parametrize("array", [np.zeros(8, np.int64), np.zeros(8)[::2], np.zeros((2, 2, 2))])
def test_packs_are_of_doubles_that_lie_together(array):
    from numba.core.errors import TypingError

    @kernel
    def take(array):
        return lanes_of(at(array, (0, 1, 2, 3)))[0]

    with pytest.raises(TypingError, match="packs are read from arrays of doubles"):
        take(array)


# ------------------------------------------------------------------------------------------------- sine and cosine


@kernel
def sincos_of_all(x, out):
    for k in range(0, x.size, 4):
        s, c = sincos(pack_at(x, k))
        put_at(out[0], (k, k + 1, k + 2, k + 3), s)
        put_at(out[1], (k, k + 1, k + 2, k + 3), c)


def exact(x):
    """(2, n) numbers of 50 digits."""
    with mpmath.workdps(50):
        return np.array([[mpmath.sin(mpmath.mpf(v)) for v in x], [mpmath.cos(mpmath.mpf(v)) for v in x]])


def test_sine_and_cosine_of_small_angles_are_right_to_a_unit_in_the_last_place():
    """Series: 8e-17 of sin and 5e-18 of cos are left out; rounding makes it a unit in the last place, 2.2e-16."""
    rng = np.random.default_rng(5)
    x = np.concatenate(
        (rng.uniform(-SMALL_ANGLE, SMALL_ANGLE, 1994), (SMALL_ANGLE, -SMALL_ANGLE, 1e-9, -1e-200, 0, 0.5))
    )
    out = np.zeros((2, x.size))
    sincos_of_all(x, out)
    for found, true in zip(out, exact(x.tolist()), strict=True):
        assert max(abs(f - t) / abs(t) if t else abs(f) for f, t in zip(found.tolist(), true, strict=True)) < 2.3e-16


def test_sine_and_cosine_beyond_are_libm_s_and_lanes_know_nothing_of_each_other():
    x = np.array((0.3, 2.0, -0.79, 1e5, math.nan, 0.1, math.inf, -0.81))
    out = np.zeros((2, 8))
    with np.errstate(invalid="ignore"):
        if compilation.PLAIN:
            x[6] = 1e300  # of which Python's own refuses infinity
        sincos_of_all(x, out)
        for k, v in enumerate(x.tolist()):
            assert np.array_equal(out[:, k], sincos_of_number(v), equal_nan=True)
            if SMALL_ANGLE < abs(v) < math.inf:
                assert tuple(out[:, k]) == (math.sin(v), math.cos(v))
    assert np.isnan(out[:, 4]).all()
