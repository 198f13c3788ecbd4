"""What users pass is checked, copied and, where it is wrong, named, quoted and explained."""

from __future__ import annotations

import itertools
import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sennit import validation
from sennit.errors import InputError

NOT_NUMBERS = [
    True,
    np.True_,
    1j,
    "1",
    None,
    [1.0],
    np.ones(1),
    float("nan"),
    float("inf"),
    -np.inf,
    10**400,
    Decimal(1),
]


class TestNumber:
    @pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2), np.uint64(2), np.array(2.0), Fraction(2)])
    def test_takes_every_real_number(self, value: object) -> None:
        result = validation.number("length", value)
        assert type(result) is float
        assert result == 2.0

    @pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
    def test_refuses_what_is_no_finite_number(self, value: object) -> None:
        with pytest.raises(InputError, match=r"^length must be a finite number, got "):
            validation.number("length", value)

    def test_positive(self) -> None:
        assert validation.number("length", 1e-300, positive=True) == 1e-300
        for value in (0.0, -0.0, -1, np.float64(-2.0)):
            with pytest.raises(InputError, match=r"length must be a finite number above 0, got -?[0-9.]+$"):
                validation.number("length", value, positive=True)

    def test_bounds(self) -> None:
        assert validation.number("nu", 0.5, above=-1.0, maximum=0.5) == 0.5
        assert validation.number("s", 0.0, minimum=0.0, below=1.0) == 0.0
        for value in (-1.0, 0.5000001):
            with pytest.raises(InputError, match=f"nu must be a finite number above -1 and at most 0.5, got {value}"):
                validation.number("nu", value, above=-1.0, maximum=0.5)
        for value in (-1e-9, 1.0):
            with pytest.raises(InputError, match="s must be a finite number at least 0 and below 1, got"):
                validation.number("s", value, minimum=0.0, below=1.0)


class TestCount:
    @pytest.mark.parametrize("value", [3, np.int32(3), np.uint8(3), np.array(3)])
    def test_takes_whole_numbers(self, value: object) -> None:
        result = validation.count("nodes", value, 3, 3)
        assert type(result) is int
        assert result == 3

    @pytest.mark.parametrize("value", [2, -1, 3.0, "3", True, np.True_, None, float("nan"), [3], 3j], ids=repr)
    def test_refuses_others(self, value: object) -> None:
        with pytest.raises(InputError, match=r"^nodes must be a whole number of at least 3, got "):
            validation.count("nodes", value, 3)

    def test_upper_bound(self) -> None:
        with pytest.raises(InputError, match="nodes must be a whole number from 1 to 9, got 10"):
            validation.count("nodes", 10, 1, 9)

    def test_odd_names_the_next(self) -> None:
        assert validation.count("nodes", 201, 3, odd=True) == 201
        with pytest.raises(InputError, match=re.escape("nodes must be odd (order=4), got 200: the next is 201")):
            validation.count("nodes", 200, 3, odd=True, why="(order=4)")
        with pytest.raises(InputError, match="nodes must be an odd whole number of at least 3, got 2"):
            validation.count("nodes", 2, 3, odd=True)


class TestArray:
    @pytest.mark.parametrize(
        "value",
        [[[1, 2, 3]], ((1, 2, 3),), np.array([[1, 2, 3]]), np.ones((1, 3), np.float32), [np.ones(3)], [(1, 2.5, 3)]],
    )
    def test_takes_nested_numbers(self, value: object) -> None:
        result = validation.array("points", value, (None, 3))
        assert result.dtype == np.float64
        assert result.shape == (1, 3)
        assert result.flags.c_contiguous
        assert result.flags.writeable
        np.testing.assert_array_equal(result, np.asarray(value))

    @pytest.mark.parametrize("value", [np.ones((4, 3)), np.ones((3, 4)).T, np.ones((8, 3))[::2]])
    def test_never_aliases(self, value: np.ndarray) -> None:
        result = validation.array("points", value, (None, 3))
        assert not np.shares_memory(result, value)
        assert result.flags.c_contiguous

    @pytest.mark.parametrize(
        "value",
        [
            [True, 0.0, 1.0],
            [np.True_, 0, 1],
            np.ones(3, bool),
            np.ones(3, complex),
            ["1", "2", "3"],
            "123",
            None,
            [None, 1, 2],
            [1, [2, 3], 4],
            [Decimal(1), 2, 3],
            [10**400, 0, 0],
            {1, 2, 3},
            np.zeros(3, "M8[s]"),
        ],
        ids=repr,
    )
    @pytest.mark.parametrize("check", [validation.vector, lambda name, value: validation.array(name, value, (3,))])
    def test_refuses_what_is_no_real_number(self, check: object, value: object) -> None:
        with pytest.raises(InputError, match=r"^force must be an array (of real numbers )?of shape \(3,\), got "):
            check("force", value)  # type: ignore[operator]

    def test_booleans_hidden_in_rows(self) -> None:
        with pytest.raises(InputError, match="real numbers"):
            validation.array("points", [[1.0, 2.0, 3.0], [1.0, False, 3.0]], (None, 3))
        with pytest.raises(InputError, match="real numbers"):
            validation.array("points", [np.ones(3, bool), np.ones(3)], (None, 3))

    def test_shapes_are_named(self) -> None:
        with pytest.raises(InputError, match=re.escape("of shape (3,) or (n, 3), got [1, 2] of shape (2,)")):
            validation.array("force", [1, 2], (3,), (None, 3))
        with pytest.raises(InputError, match=re.escape("of shape (2, 2)")):
            validation.array("force", np.ones((2, 2)), (3,), (None, 3))
        assert validation.array("force", np.ones((0, 3)), (3,), (None, 3)).shape == (0, 3)

    def test_first_bad_entry_is_named(self) -> None:
        points = np.zeros((50, 3))
        points[17, 2] = np.nan
        points[18, 0] = np.inf
        with pytest.raises(
            InputError, match=re.escape("points must hold finite numbers only, got points[17, 2] = nan")
        ):
            validation.array("points", points, (None, 3))

    def test_quotes_are_short_and_on_one_line(self) -> None:
        with pytest.raises(InputError) as caught:
            validation.array("points", np.ones((40, 40)), (3,))
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 200


class TestVector:
    @pytest.mark.parametrize(
        "value", [(1, 2, 3), [1.0, 2.0, 3.0], np.array([1.0, 2.0, 3.0]), np.array([1, 2, 3], np.int8)]
    )
    def test_takes_three_numbers(self, value: object) -> None:
        result = validation.vector("force", value)
        assert result.dtype == np.float64
        assert result.flags.writeable
        np.testing.assert_array_equal(result, (1.0, 2.0, 3.0))
        assert result is not value

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("kind", [tuple, list, np.array])
    def test_refuses_numbers_that_are_not_finite(self, kind: type, bad: float) -> None:
        with pytest.raises(InputError, match=r"force must hold finite numbers only, got \[0.0, -?(nan|inf), 0.0\]"):
            validation.vector("force", kind([0.0, bad, 0.0]))

    @pytest.mark.parametrize("value", [(1, 2), (1, 2, 3, 4), 1.0, np.ones((1, 3)), [], np.array(1.0)], ids=repr)
    def test_refuses_other_shapes(self, value: object) -> None:
        with pytest.raises(InputError, match=re.escape("force must be an array of shape (3,), got")):
            validation.vector("force", value)

    def test_direction(self) -> None:
        np.testing.assert_array_equal(validation.direction("axis", (0, 0, 5)), (0, 0, 1))
        for scale in (1e-320, 1e-200, 1.0, 1e200, 1e308):
            unit = validation.direction("axis", np.array((3.0, 4.0, 0.0)) / 4 * scale)
            np.testing.assert_allclose(unit, (0.6, 0.8, 0.0), rtol=3e-3 if scale < 1e-300 else 1e-15)
        with pytest.raises(InputError, match=re.escape("axis must be a vector that is not zero, got (0, 0, 0)")):
            validation.direction("axis", (0, 0, 0))


class TestQuaternion:
    @pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-3, 1.0, 7.0, 1e160, 1e307])
    def test_normalises_at_every_magnitude(self, scale: float) -> None:
        given = scale * np.array((1.0, -2.0, 3.0, -4.0))
        kept = given.copy()
        result = validation.quaternion("quaternion", given)
        np.testing.assert_allclose(result, np.array((1.0, -2.0, 3.0, -4.0)) / np.sqrt(30.0), rtol=4e-16)
        np.testing.assert_array_equal(given, kept)

    def test_normalising_twice_changes_nothing(self) -> None:
        for given in np.random.default_rng(1).normal(size=(2000, 4)):
            once = validation.quaternion("quaternion", given)
            np.testing.assert_array_equal(validation.quaternion("quaternion", once), once)

    @pytest.mark.parametrize(
        "value",
        [(0, 0, 0, 0), np.zeros(4), (np.nan, 0, 0, 1), (np.inf, 0, 0, 0), (1, 0, 0), np.eye(4), "1000"],
        ids=repr,
    )
    def test_refuses_what_has_no_direction(self, value: object) -> None:
        with pytest.raises(InputError, match="^quaternion must "):
            validation.quaternion("quaternion", value)


class TestRotationMatrix:
    def test_takes_rotations_and_makes_them_orthogonal(self) -> None:
        rng = np.random.default_rng(2)
        exact = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        exact *= np.sign(np.linalg.det(exact))
        rough = np.round(exact, 7)
        result = validation.rotation_matrix("matrix", rough)
        np.testing.assert_allclose(result.T @ result, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(result, exact, atol=1e-7)
        np.testing.assert_array_equal(validation.rotation_matrix("matrix", np.eye(3)), np.eye(3))

    @pytest.mark.parametrize("scale", [0.0, 0.999, 1.001, 1e200])
    def test_refuses_what_stretches(self, scale: float) -> None:
        with pytest.raises(InputError, match="matrix must be a rotation matrix: .RᵀR − 1. may be 1e-06 at most"):
            validation.rotation_matrix("matrix", scale * np.eye(3))

    def test_refuses_reflections(self) -> None:
        with pytest.raises(InputError, match="reflection"):
            validation.rotation_matrix("matrix", np.diag((1.0, 1.0, -1.0)))

    def test_refuses_other_shapes_and_nan(self) -> None:
        for value in (np.eye(4), np.ones(3), np.full((3, 3), np.nan), None):
            with pytest.raises(InputError, match="^matrix must "):
                validation.rotation_matrix("matrix", value)


class Mute:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


def test_a_value_without_a_text_is_quoted_by_its_class() -> None:
    assert "Mute" in validation.quoted(Mute())
    with pytest.raises(InputError, match="Mute"):
        validation.number("x", Mute())


@pytest.mark.parametrize("value", [0, 1, "yes", None, np.zeros(3), [], 1.0])
def test_only_booleans_are_flags(value: object) -> None:
    assert validation.flag("open", np.False_) is False
    with pytest.raises(InputError, match="open must be True or False"):
        validation.flag("open", value)


@pytest.mark.parametrize("value", ["", " ", "two\nlines", "\ud800", "x" * 201, b"rope", 3])
def test_labels_are_short_texts_of_one_line(value: object) -> None:
    assert validation.label("name", "rope") == "rope" and validation.label("name", None) is None
    with pytest.raises(InputError, match="name must be a text of one line"):
        validation.label("name", value)


@pytest.mark.parametrize("value", ["c", 1, None, np.array(["a", "b"]), {}])
def test_choices(value: object) -> None:
    assert validation.choice("way", "b", ("a", "b")) == "b"
    with pytest.raises(InputError, match='way must be "a" or "b"'):
        validation.choice("way", value, ("a", "b"))


def test_a_list_ends_at_the_first_wrong_entry() -> None:
    assert validation.listed("texts", iter("ab"), (str,), "texts") == ["a", "b"]
    for value in (itertools.repeat(1), 5, None, {"a": 1}, "ab"):
        with pytest.raises(InputError, match="texts must be a list of texts"):
            validation.listed("texts", value, (str,), "texts")


def test_what_overflows_is_an_input_error() -> None:
    for wrong in (
        lambda: np.float64(1e200) * 1e200,
        lambda: 1e200**2,
        lambda: 1 / 0.0,
        lambda: np.linalg.inv(np.zeros((2, 2))),
    ):
        with pytest.raises(InputError, match="sizes are too large or too small"), validation.in_range("sizes"):
            wrong()


def test_an_unlimited_count_ends_somewhere() -> None:
    with pytest.raises(InputError, match="from 1 to"):
        validation.count("n", 2**31, 1)
    assert validation.count("n", 2**31, 1, 2**40) == 2**31


def test_entries_end_or_are_refused() -> None:
    assert validation.entries("ids", (i % 3 for i in range(7)), "numbers") == [0, 1, 2, 0, 1, 2, 0]
    for endless in (itertools.count(), itertools.repeat(1), 3, None):
        with pytest.raises(InputError, match="ids must be numbers"):
            validation.entries("ids", endless, "numbers")


@pytest.mark.parametrize("text", ["Nadel\u00a01", "縫合\u3000糸", "soft\u00adhyphen", "Seil 2", "👩\u200d⚕️"])
def test_names_in_any_language(text: str) -> None:
    assert validation.label("name", text) == text


@pytest.mark.parametrize("text", ["", " ", "two\nlines", "bell\a", "line\u2028separator", "half \ud800", "x" * 201])
def test_names_are_one_line(text: str) -> None:
    with pytest.raises(InputError, match="name must be a text of one line"):
        validation.label("name", text)


def test_infinity_of_any_float() -> None:
    assert all(validation.infinite(value) for value in (math.inf, np.float32(np.inf), np.float64(np.inf)))
    assert not any(validation.infinite(value) for value in (-math.inf, math.nan, 1e308, "inf", np.array(np.inf), None))
