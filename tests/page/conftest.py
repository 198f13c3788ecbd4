"""Pages and windows on them. No request may leave this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from references.windows import Window

from sennit.view import View, view


@pytest.fixture
def show() -> Iterator[Callable[..., View]]:
    """Opens pages without a browser; they are closed after the test."""
    opened: list[View] = []

    def show(play: Any, **options: Any) -> View:
        opened.append(view(play, port=0, browser=False, block=False, **options))
        return opened[-1]

    yield show
    for shown in opened:
        shown.close()


@pytest.fixture
def look(chromium: Any) -> Iterator[Callable[..., Window]]:
    """Opens windows on pages; they are closed after the test."""
    windows: list[Window] = []

    def look(shown: View, width: int = 900, height: int = 600, init: str = "", **options: Any) -> Window:
        windows.append(Window(chromium, shown, width, height, init, **options))
        return windows[-1]

    yield look
    for window in windows:
        window.close()
