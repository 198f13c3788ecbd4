"""When steps of a graphics card are compared with those of the processor, and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from sennit.card_trial import Trials, blurred
from sennit.errors import InputError


def test_trials_are_due_ever_more_seldom() -> None:
    trials = Trials("float64")
    assert [use for use in range(70) if trials.is_due()] == [0, 1, 2, 4, 8, 16, 32, 64]


@pytest.mark.parametrize(("dtype", "grain"), [("float64", 2.2e-16), ("float32", 1.2e-7)])
def test_rounding_is_allowed_and_no_more(dtype, grain) -> None:
    """What a step makes of numbers that are blurred is the measure; of a step that forgets them the size of things."""
    trials = Trials(dtype)
    numbers = np.array((0.0, -3.0, 2.0))
    copies = np.array([blurred(numbers, trials.grain, seed) for seed in range(200)])
    assert np.abs(copies - numbers).max() == pytest.approx(1.5 * grain, rel=0.05)
    assert trials.allowed(numbers, copies, 0.0) == pytest.approx(150.0 * grain, rel=0.05)
    assert trials.allowed(numbers, np.array([numbers]), 2.0) == {"float64": 2e-8, "float32": 2e-5}[dtype]


def test_a_card_that_was_refused_stays_refused() -> None:
    trials = Trials("float32")
    trials.is_due()
    with pytest.raises(InputError, match=r"strand 3 is 0\.2 .* off, where 1e-05 is allowed.*float32"):
        trials.refuse("strand 3", 0.2, 1e-5)
    with pytest.raises(InputError, match="strand 3"):
        trials.is_due()
