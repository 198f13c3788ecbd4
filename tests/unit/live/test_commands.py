"""What a browser may ask for: everything else changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sennit.errors import InputError
from sennit.live.commands import Counts, checked_command

COUNTS = Counts(generation=3, parts=4, ties=2, handles=1, controls=2, watches=3)
GOOD: list[dict[str, Any]] = [
    {"do": "pause"},
    {"do": "speed", "value": 0.5},
    {"do": "gravity", "value": [0, 0, -9.81]},
    {"do": "grab", "part": 3, "place": 0.25, "generation": 3},
    {"do": "grab", "part": 0, "place": [0.1, 0, 0], "generation": 3},
    {"do": "pin", "part": 0, "place": 12, "generation": 3},
    {"do": "drag", "hand": [1, 2, 3]},
    {"do": "switch", "tie": 1, "on": False, "generation": 3},
    {"do": "remove", "tie": 0, "generation": 3},
    {"do": "handle", "handle": 0, "position": [0, 0, 1], "quaternion": [1, 0, 0, 0], "generation": 3},
    {"do": "control", "control": 1, "value": 2.5, "generation": 3},
    {"do": "control", "control": 1, "value": True, "generation": 3},
    {"do": "control", "control": 1, "generation": 3},
    {"do": "watch", "watch": 2, "on": True, "generation": 3},
    {"do": "undo"},
    {"do": "arrows", "constraints": True, "contacts": False},
    {"do": "record", "on": True, "kind": "mp4"},
    {"do": "cut", "cuts": [{"part": 3, "place": 0.25}, {"part": 0, "place": 1}], "generation": 3},
]


@pytest.mark.parametrize("message", GOOD)
def test_good_ones_pass(message: dict[str, Any]) -> None:
    name, arguments = checked_command(message, COUNTS)
    assert name == message["do"]
    assert len(arguments) == len([key for key in message if key not in ("do", "generation")]) - (name == "handle") or (
        name == "control"
    )


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"do": "explode"},
        {"do": ["pause"]},
        {"do": "__init__"},
        {"do": "speed"},
        {"do": "speed", "value": 0},
        {"do": "speed", "value": 1e9},
        {"do": "speed", "value": "1"},
        {"do": "speed", "value": 10**400},
        {"do": "speed", "value": True},
        {"do": "speed", "value": float("nan")},
        {"do": "gravity", "value": [0, 0]},
        {"do": "gravity", "value": [0, 0, float("inf")]},
        {"do": "gravity", "value": "down"},
        {"do": "gravity", "value": [0, 0, 1e9]},
        {"do": "grab", "part": 4, "place": 0.5, "generation": 3},
        {"do": "grab", "part": -1, "place": 0.5, "generation": 3},
        {"do": "grab", "part": 0, "place": 1.5, "generation": 3},
        {"do": "grab", "part": 0, "place": -3, "generation": 3},
        {"do": "grab", "part": 0, "place": None, "generation": 3},
        {"do": "grab", "part": 0, "place": [1, 2, float("nan")], "generation": 3},
        {"do": "grab", "part": True, "place": 0.5, "generation": 3},
        {"do": "grab", "part": 0, "place": 0.5, "generation": 2},
        {"do": "grab", "part": 0, "place": 0.5},
        {"do": "drag", "hand": [1, 2, 1e300]},
        {"do": "drag", "hand": {"x": 1}},
        {"do": "switch", "tie": 1, "on": 1, "generation": 3},
        {"do": "switch", "tie": 2, "on": True, "generation": 3},
        {"do": "remove", "tie": 1.0, "generation": 3},
        {"do": "handle", "handle": 0, "position": [0, 0, 1], "quaternion": [0, 0, 0, 0], "generation": 3},
        {"do": "handle", "handle": 0, "position": [0, 0], "quaternion": [1, 0, 0, 0], "generation": 3},
        {"do": "watch", "watch": 3, "on": True, "generation": 3},
        {"do": "watch", "watch": 0, "on": None, "generation": 3},
        {"do": "control", "control": 7, "value": 1, "generation": 3},
        {"do": "control", "control": 0, "value": "x" * 201, "generation": 3},
        {"do": "grab", "part": 0, "place": 0.5, "generation": 3.0},
        {"do": "arrows", "constraints": 1, "contacts": False},
        {"do": "record", "on": True, "kind": "../../film.html"},
        {"do": "record", "on": "yes", "kind": "html"},
        {"do": "cut", "cuts": [], "generation": 3},
        {"do": "cut", "cuts": [{"part": 3, "place": 0.25}] * 65, "generation": 3},
        {"do": "cut", "cuts": [{"part": 3, "place": 0.25}], "generation": 2},
        {"do": "cut", "cuts": [{"part": 3, "place": 0.25}, {"part": 4, "place": 0.25}], "generation": 3},
        {"do": "cut", "cuts": [[3, 0.25]], "generation": 3},
        {"do": "cut", "part": 3, "place": 0.25, "generation": 3},
    ],
)
def test_bad_ones_are_refused(message: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        checked_command(message, COUNTS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


WORDS = sorted({word for message in GOOD for word in message if word != "do"})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from([message["do"] for message in GOOD]),
    st.dictionaries(st.sampled_from(WORDS), JSON),
)
def test_nothing_but_input_errors_and_finite_numbers_come_out(name: str, rest: dict[str, Any]) -> None:
    try:
        _, arguments = checked_command({"do": name, **rest}, COUNTS)
    except InputError:
        return
    for argument in arguments:
        if isinstance(argument, float | np.ndarray):
            assert np.all(np.isfinite(argument))
