"""Steps of a graphics card beside those of the processor: no card is trusted that was not seen to compute the same.

A program that is right on one machine may be wrong on another: what makes it the card's own is part of the card's
driver. So at the first use of a program, and at its 2nd, 3rd, 5th, 9th, … (each twice as late), a few of what is
stepped make one step on both, from the same numbers. What the processor's step makes of numbers that differ in their
last digit is the measure: a hundred times as far from it, and a `FLOOR` of the size of things, the card's may be.
"""

from __future__ import annotations

import numpy as np

from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["COPIES", "Trials", "blurred"]

MANY = 100.0
"""How much farther off a card may be than numbers that differ in their last digit make a step."""
FLOOR = {"float64": 1e-8, "float32": 1e-5}
"""The same over the size of things: how near Newton's method comes to forces of contact, and more."""
COPIES = 4
"""Steps of the processor from numbers that differ in their last digit."""


class Trials:
    """When to compare, and what was found."""

    def __init__(self, dtype: str) -> None:
        self._dtype = dtype
        self._uses = 0
        self._found = ""

    @property
    def grain(self) -> float:
        """Relative distance of neighbouring numbers."""
        return float(np.finfo(self._dtype).eps)

    def is_due(self) -> bool:
        """Whether this use is one to compare at. Raises `InputError` if the card was found to be wrong."""
        if self._found:
            raise InputError(self._found)
        uses, self._uses = self._uses, self._uses + 1
        return uses & (uses - 1) == 0

    def allowed(self, exact: FloatArray, others: FloatArray, size: float) -> float:
        """How far a card's numbers may be from `exact`; `others` (COPIES, …) are from numbers that are blurred."""
        return MANY * float(np.abs(others - exact).max(initial=0.0)) + FLOOR[self._dtype] * size

    def refuse(self, where: str, off: float, allowed: float) -> None:
        """The card is wrong: say so now, and whenever it is used again."""
        self._found = (
            f"the graphics card does not compute what the processor does: after one step {where} is {off:.2g} (m or "
            f"rad) off, where {allowed:.2g} is allowed for rounding in {self._dtype}; the step was not made, "
            f'use device="cpu"'
        )
        raise InputError(self._found)


def blurred(numbers: FloatArray, grain: float, seed: int) -> FloatArray:
    """Numbers that differ from these by rounding, at the size of the largest of them."""
    chance = np.random.default_rng(seed)
    size = float(np.abs(numbers).max(initial=0.0))
    return numbers + 0.5 * grain * size * chance.uniform(-1.0, 1.0, numbers.shape)
