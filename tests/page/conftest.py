"""A real browser: Debian's Chromium, driven by playwright. No request may leave this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from references.windows import Window

from sennit.view import View, view

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")


def _without_browser(reason: str) -> None:
    """Skip, but not where everything must be tested."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests."""
    program = os.environ.get("SENNIT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        _without_browser("no Chromium was found: install Debian's package `chromium`, or set SENNIT_CHROMIUM")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        _without_browser("the tests of the page need playwright, and Debian's package `chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()


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

    def look(shown: View, width: int = 900, height: int = 600) -> Window:
        windows.append(Window(chromium, shown, width, height))
        return windows[-1]

    yield look
    for window in windows:
        window.close()
