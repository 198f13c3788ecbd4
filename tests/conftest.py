"""Makes ``references`` importable from every test folder; one browser for all that need one; tables of records.

The whole suite is shared out among processes (pytest-xdist), file by file; tests in a browser stay in one of them. A
part of it, or one that writes tables, runs in a single process, where a debugger finds it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
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


KERNELS = (
    ("scene", "step", "energy", "cable"),
    ("strand", "stability", "follower", "zone", "contact"),
    ("touching",),
)
COMPILE = """
from sennit.compile_once import compile_once
from sennit.pack_kernels import GROUPS, _steps
for group in {groups}:
    compile_once(group, _steps(GROUPS[group]))
"""
"""What compiles most kernels, group by group, in programs that may run side by side."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Processes for ``-n auto``: as many as there are cores for the whole suite, none for a part of it."""
    whole = config.args == config.getini("testpaths") and not config.option.keyword and not config.option.markexpr
    return min(os.cpu_count() or 1, 4) if whole and not config.option.write_tables else 0


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels before several processes ask for them at once."""
    if session.config.getoption("numprocesses", None) and not hasattr(session.config, "workerinput"):
        for program in [subprocess.Popen([sys.executable, "-c", COMPILE.format(groups=groups)]) for groups in KERNELS]:
            program.wait()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of one file share a process, which makes what they share once; so do all that need a browser."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            browser = "chromium" in getattr(item, "fixturenames", ())
            item.add_marker(pytest.mark.xdist_group("browser" if browser else str(item.path)))


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
