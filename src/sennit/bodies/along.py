"""Strains that users give along a rod: the same everywhere, at places, or as a function of the rest length s."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.errors import InputError
from sennit.validation import FloatArray, quoted

__all__ = ["Along", "function_along", "numbers_along", "rest_strains"]

Along: TypeAlias = ArrayLike | Callable[[float], ArrayLike]
"""What users give along a rod."""


def numbers_along(name: str, given: Along, s: FloatArray, length: float, *widths: int) -> FloatArray:
    """Numbers at the rest lengths `s` (k,) of a rod of `length` (m): (k, w), w being one of `widths`.

    `given`: w numbers; an array (m, w) of them, at the k places if m is k, else at m equal steps from end to end, with
    straight lines between; or a function of s (m), which is called with each place twice, and must tell the same. For
    one number, shapes (m,) and () stand for (m, 1) and (1,).
    """
    bare: list[tuple[int, ...]] = [()] if widths == (1,) else [(w,) for w in widths]
    if callable(given):
        return function_along(name, given, s, bare)
    rows = [(None, *shape) for shape in bare]
    value = validation.array(name, given, *bare, *rows)
    if value.ndim == len(bare[0]):
        return np.tile(value.reshape(1, -1), (len(s), 1))
    value = value.reshape(len(value), -1)
    if len(value) == len(s):
        return value
    if len(value) < 2:
        raise InputError(f"{name} must have two rows or more, for equal steps from end to end, got {quoted(given)}")
    at = np.linspace(0.0, length, len(value))
    return np.stack([np.interp(s, at, column) for column in value.T], axis=1)


def rest_strains(given: Along, s: FloatArray, length: float) -> FloatArray:
    """κ̂1, κ̂2, τ̂ (k, 3), 1/m, at the rest lengths `s`, of a rod that is made with them; without τ̂ that is 0."""
    told = numbers_along("rest_curvature", given, s, length, 2, 3)
    return np.hstack((told, np.zeros((len(s), 3 - told.shape[1]))))


def function_along(
    name: str, given: Callable[[float], ArrayLike], s: FloatArray, shapes: list[tuple[int, ...]]
) -> FloatArray:
    """What a function of s tells at places (k,), which must not depend on when it is asked: (k, w), of arrays of w
    numbers that have one of `shapes`.
    """
    places = s.tolist()
    told = [validation.array(f"{name}({at:g})", given(at), *shapes) for at in places]
    for at, first in zip(reversed(places), reversed(told), strict=True):
        again = validation.array(f"{name}({at:g})", given(at), *shapes)
        if not np.array_equal(first, again):
            raise InputError(
                f"{name} must be a function of s alone: at s = {at:g} m it told {quoted(first)}, then {quoted(again)}"
            )
        if first.shape != told[0].shape:
            raise InputError(
                f"{name} must tell as many numbers everywhere: {told[0].size} at s = {places[0]:g} m, but {first.size} "
                f"at s = {at:g} m"
            )
    return np.array([value.reshape(-1) for value in told]).reshape(len(places), -1)
