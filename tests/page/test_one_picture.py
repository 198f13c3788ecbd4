"""Each picture that a browser draws is of one moment: what moves by its pose and what moves by its vertices agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from references.windows import Window, wait_until

from sennit.bench.page_browser import BOXES, SPEED, STAMPS, marching
from sennit.view import View

pytestmark = pytest.mark.slow


def test_all_that_is_drawn_is_of_the_same_moment(show: Callable[..., View], look: Callable[..., Window]) -> None:
    window = look(show(marching()))
    assert window.tell(STAMPS) == BOXES
    wait_until(lambda: window.tell("new Set(stamps.map((stamp) => stamp[2])).size") > 8)
    stamps = np.array(window.tell("stamps"))
    times = np.column_stack((stamps[:, :3] / SPEED, stamps[:, 3]))
    assert np.ptp(times[:, 2]) > 0.05  # time went on meanwhile
    tear = np.ptp(times, axis=1)
    np.testing.assert_array_less(tear, 1e-3)  # a fifth of a step; single precision is finer
    assert not window.errors


def test_no_picture_waits_for_another(show: Callable[..., View], look: Callable[..., Window]) -> None:
    """However slow a browser is, what it draws was the newest frame when it began to draw."""
    window = look(show(marching()))
    slow = "sennit.drawing.draw = (d => look => { const end = performance.now() + 300; d.call(sennit.drawing, look); "
    window.tell("void (" + slow + "while (performance.now() < end); })(sennit.drawing.draw))")
    window.tell("sennit.pictures.length = 0")
    wait_until(lambda: window.tell("sennit.pictures.length") > 8)
    pictures = window.tell("sennit.pictures.slice(2)")
    waited = [picture["age"] - 1e-3 * picture["took"] for picture in pictures]
    assert np.median(waited) < 0.15  # s: not one of the pictures before, which takes 0.3
    assert min(picture["took"] for picture in pictures) >= 300.0
