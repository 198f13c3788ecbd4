"""Makes ``references`` importable from every test folder; one browser for all that need one; tables of records."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = str(Path(__file__).parent)
if HERE not in sys.path:
    sys.path.insert(0, HERE)

pytest_plugins = ["records"]

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
    """Debian's Chromium, driven by playwright."""
    program = os.environ.get("SENNIT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        _without_browser("no Chromium was found: install Debian's package `chromium`, or set SENNIT_CHROMIUM")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        _without_browser("the tests of pages need playwright, and Debian's package `chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield browser
        browser.close()
