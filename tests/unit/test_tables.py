"""Tables: what Python sees and what kernels get are the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from sennit.compilation import PLAIN
from sennit.table_types import type_of
from sennit.tables import PARAMETER, PLAN, STATE, WORK, Table, number, table, whole


class Rows(Table):
    kind = whole(PLAN, "kind")
    axis = number(PARAMETER, "direction", 3)
    value = number(STATE, "value, m")
    turns = whole(STATE, "whole turns")
    block = number(WORK, "scratch", 2, 2)
    mark = whole(WORK, "marks", kind=np.uint8)


class Pair(Table):
    first = table(Rows, "some rows")
    second = table(Rows, "others")
    q = number(STATE, "degrees of freedom", of="dofs")
    once = number(STATE, "a number", of=1)


class MorePairs(Pair):
    third = table(Rows, "more rows")


def numbered(rows: int) -> Rows:
    made = Rows(rows=rows)
    for k, field in enumerate(made.fields().values()):
        field[...] = 10 * k + np.arange(field.size).reshape(field.shape)
    return made


def test_shapes_types_and_zeros() -> None:
    rows = Rows(rows=4)
    shapes = {name: (field.shape, field.dtype) for name, field in rows.fields().items()}
    assert shapes == {
        "kind": ((4,), np.int64), "axis": ((4, 3), np.float64), "value": ((4,), np.float64),
        "turns": ((4,), np.int64), "block": ((4, 2, 2), np.float64), "mark": ((4,), np.uint8),
    }  # fmt: skip
    assert not any(field.any() for field in rows.fields().values())
    assert len(rows) == 4
    assert set(rows.fields(PARAMETER, STATE)) == {"axis", "value", "turns"}


def test_words_of_a_role_are_its_fields() -> None:
    """What a snapshot copies: all numbers of a role and no other, whatever their types."""
    rows = numbered(3)
    kept = rows.words(STATE).copy()
    before = rows.copy()
    rows.value[:], rows.turns[:] = -1.0, -1
    rows.axis[:] = 7.0
    rows.words(STATE)[:] = kept
    assert np.array_equal(rows.value, before.value) and np.array_equal(rows.turns, before.turns)
    assert (rows.axis == 7.0).all()


def test_parts_share_numbers_and_copies_do_not() -> None:
    rows = numbered(5)
    part, copied = rows.part(1, 3), rows.copy()
    part.axis[0] = 99.0
    assert (rows.axis[1] == 99.0).all() and (copied.axis[1] != 99.0).all()
    joined = Rows.joined((part, copied))
    assert len(joined) == 7 and (joined.axis[0] == 99.0).all() and np.array_equal(joined.value[2:], copied.value)
    joined.axis[0] = 0.0
    assert (part.axis[0] == 99.0).all()


def test_arrays_are_filled_never_exchanged() -> None:
    """A kernel holds their addresses: an array put in their place would not be seen."""
    rows = Rows(rows=2)
    with pytest.raises(AttributeError, match=r"never exchanged, only filled: \.axis\[\.\.\.\] = value"):
        rows.axis = np.zeros((2, 3))
    with pytest.raises(AttributeError, match="Rows has no field 'direction'"):
        rows.direction  # noqa: B018


def test_adopted_arrays_must_fit() -> None:
    fields = numbered(2).fields()
    assert Rows.of(**fields).axis is fields["axis"]
    for name, wrong in (
        ("axis", np.zeros((2, 4))), ("axis", np.zeros((3, 3))), ("kind", np.zeros(2)), ("axis", np.zeros((3, 2)).T),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=f"Rows.{name} can't be an array"):
            Rows.of(**{**fields, name: wrong})


@pytest.mark.parametrize("name", ["part", "joined", "fields", "words", "fill", "copy", "of"])
def test_names_of_methods_are_refused(name: str) -> None:
    with pytest.raises(TypeError, match=f"can't have fields called {name}"):
        type("Wrong", (Table,), {name: number(WORK, "hidden")})


def touch(pair):
    total = 0.0
    for i in range(pair.first.kind.size):
        pair.first.axis[i, 1] += pair.second.value[i]
        pair.first.turns[i] -= 2
        pair.first.block[i, 1, 0] = pair.first.mark[i]
        total += pair.first.axis[i, 1] + pair.q[i]
    pair.once[0] = total
    return total


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
@pytest.mark.parametrize("view", [False, True])
def test_kernels_see_the_same_numbers(view: bool) -> None:
    """Compiled and as plain Python, of whole tables and of parts of larger ones."""
    from numba import njit

    compiled = njit(touch)

    def made() -> Pair:
        first, second = numbered(6), numbered(6)
        parts = (first.part(1, 5), second.part(2, 6)) if view else (first, second)
        pair = Pair(first=parts[0], second=parts[1], dofs=6)
        pair.q[:] = np.arange(6.0)
        return pair

    plain, kernel = made(), made()
    assert touch(plain) == compiled(kernel)
    for name in ("first", "second"):
        for field, array in getattr(plain, name).fields().items():
            assert np.array_equal(array, getattr(getattr(kernel, name), field)), field
    assert plain.once[0] == kernel.once[0]


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
def test_a_table_that_extends_another_is_not_taken_for_it() -> None:
    """Numba asks the class for its type, and attributes are inherited."""
    from numba import njit

    pair = Pair(first=numbered(2), second=numbered(2), dofs=2)
    more = MorePairs(first=numbered(2), second=numbered(2), third=numbered(3), dofs=2)
    last = njit(lambda tables: tables.third.axis[2, 2])
    assert njit(touch)(pair) == njit(touch)(more)
    assert last(more) == more.third.axis[2, 2]
    assert type_of(MorePairs) is not type_of(Pair)
