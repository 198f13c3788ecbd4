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


def main(names: list[str]) -> None:
    """Make the pictures called `names`, or all."""
    for name in names or MOMENTS:
        target = IMAGES / f"page_{name}.jpg"
        taken(name).save(target, quality=88, optimize=True)
        print(f"{target.name}: {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
