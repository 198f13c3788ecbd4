"""Pictures of every demonstration, kept under docs/_build/screenshots: look at them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import records
from references.windows import Truth, Window, wait_until

from sennit.demos import DEMOS, load
from sennit.view import View

FOLDER = Path(__file__).parents[2] / "docs" / "_build" / "screenshots"

pytestmark = pytest.mark.slow


LOOKED_AT = tuple(DEMOS) if records.thorough() > 1 else ("suture", "crane", "dna", "pile", "vessel")
"""A picture takes half a minute where the browser has no GPU: all of them with ``--thorough``."""


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_demonstration_is_worth_looking_at(name: str, show: Callable[..., View], look: Callable[..., Window]) -> None:
    shown = show(load(name).play())
    truth = Truth(shown)
    # A little of it, so that things have moved; then it stands still, which leaves the processor to the browser.
    wait_until(lambda: truth.status("time") > 0.5 or truth.status("paused") == 1.0)
    assert truth.status("paused") == 0.0, "a step has failed"
    shown.host.paused = True
    window = look(shown, 1000, 640)

    def edges() -> int:
        # Things, not the background alone: steps of colour that a gradient and a faint grid do not have.
        return int(np.count_nonzero(np.abs(np.diff(window.image(), axis=1)).max(axis=2) > 25.0))

    wait_until(lambda: edges() > 200)
    FOLDER.mkdir(parents=True, exist_ok=True)
    window.page.screenshot(path=FOLDER / f"{name}.png")
    assert not window.errors and not window.refused
