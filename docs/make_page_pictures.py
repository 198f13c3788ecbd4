"""Pictures of pages for the documents: ``uv run python docs/make_page_pictures.py [NAME ...]``.

Needs Chromium and playwright, as the tests of the page do. Without a graphics card a picture takes half a minute.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from sennit.demos import load
from sennit.view import view

IMAGES = Path(__file__).parent / "images"
MOMENTS = {"suture": 7.0, "bridge": 5.0, "crane": 9.0, "finger": 6.0, "sew": 8.6}
"""Demonstrations, and the simulated time at which each is shown, s."""
FLAGS = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]
SIZE = (1180, 700)  # pixels


def taken(name: str) -> Image.Image:
    """The page of a demonstration at its moment, where it is paused."""
    shown = view(load(name).play(), port=0, browser=False, block=False)
    program = os.environ.get("SENNIT_CHROMIUM") or shutil.which("chromium")
    shown.host.paused = True  # until there is a page
    with shown, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
        page.set_default_timeout(240e3)
        page.goto(f"{shown.url}?fine")
        page.get_by_role("button", name="Reset").wait_for()
        shown.host.paused = False
        while shown.host.play.time < MOMENTS[name]:
            page.wait_for_timeout(20)
        shown.host.paused = True
        page.wait_for_timeout(5000)  # a picture of that moment, and not of one before
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    return picture


def report_of_harness() -> Image.Image:
    """The report that docs/howto/harness.md makes, as a browser shows it."""
    import re
    import tempfile

    from sennit.cli import main as sennit

    text = (IMAGES.parent / "howto" / "harness.md").read_text(encoding="utf-8")
    tables = dict(re.findall(r"```text\n# (\w+\.csv)\n(.*?)```", text, re.S))
    words = re.search(r"```sh\nsennit (harness route\.csv .*?)--csv", text, re.S)
    assert words is not None
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for name, table in tables.items():
            (Path(folder) / name).write_text(table)
        given = [str(Path(folder) / word) if word in tables else word for word in words[1].replace("\\\n", " ").split()]
        report = Path(folder) / "harness.html"
        sennit([*given, "--report", str(report)])
        program = os.environ.get("SENNIT_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1000, "height": 1290})
        page.goto(f"file://{report}")
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        browser.close()
    return picture


def main(names: list[str]) -> None:
    """Make the pictures called `names`, or all."""
    if "harness" in names or not names:
        target = IMAGES / "howto" / "harness_report.png"
        report_of_harness().quantize(256).save(target, optimize=True)
        print(f"{target.name}: {target.stat().st_size / 1e3:.0f} kB")
    for name in [name for name in names if name != "harness"] or ([] if names else MOMENTS):
        target = IMAGES / f"page_{name}.jpg"
        taken(name).save(target, quality=88, optimize=True)
        print(f"{target.name}: {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
