"""The film of the README: ``uv run python docs/make_readme_film.py``.

Twenty seconds of demonstrations, drawn by the page's own drawing in Chromium, as an animated WebP. Needs Chromium and
playwright, as the tests of the page do; without a graphics card it takes some minutes.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

from sennit.demos import load
from sennit.export.painting import font
from sennit.export.record import write
from sennit.export.recording import record_frames

TARGET = Path(__file__).parent / "images" / "film.webp"
SIZE, BAND = (640, 400), 30  # pixels: of the picture, and height of the line below it
RATE = 12  # pictures a second
TURN = 0.22  # rad: that the camera goes round what is seen in each clip
FLAGS = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]
HIDE = "header, footer { display: none !important; }"


class Clip(NamedTuple):
    """A stretch of a demonstration: from `start` on, `seconds` of the film, so many times `quicker` than it happens."""

    name: str
    start: float
    seconds: float
    quicker: float
    text: str
    nearer: float = 1.0
    """Share of the page's distance that the camera looks from."""


CLIPS = (
    Clip("bridge", 2.0, 4.0, 1.0, "a person walks over a bridge of four ropes", 0.85),
    Clip("crane", 8.0, 4.0, 3.0, "a tower crane carries 1.5 t by its cables", 0.92),
    Clip("net", 0.2, 4.0, 0.4, "a spider's net is plucked, in slow motion", 0.9),
    Clip("necklace", 2.5, 4.0, 1.0, "pearls slide on a string and knock against each other", 0.62),
    Clip("sew", 4.0, 4.0, 1.5, "a curved needle sews soft tissue"),
)


def pictures(clip: Clip, browser: Any, folder: Path) -> list[Image.Image]:
    """The frames of a clip, with what they show written below."""
    play = load(clip.name).play()
    while play.time < clip.start:
        play.step()
    recording = record_frames(play, clip.seconds * clip.quicker, fps=RATE / clip.quicker)
    page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light")
    page.set_default_timeout(240e3)
    page.goto(write(recording, folder / f"{clip.name}.html").as_uri())
    while not page.evaluate("Boolean(window.replay)"):
        page.wait_for_timeout(50)
    page.add_style_tag(content=HIDE)
    page.evaluate("replay.toggle(false); document.getElementById('home').click()")
    found = []
    page.evaluate(f"replay.drawing.camera.zoom({clip.nearer})")
    for time in recording.times[: round(clip.seconds * RATE)]:
        page.evaluate(f"replay.drawing.camera.yaw += {TURN / (clip.seconds * RATE)!r}; replay.seek({float(time)!r})")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        whole = Image.new("RGB", (SIZE[0], SIZE[1] + BAND), (250, 250, 251))
        whole.paste(shot)
        place = (14, SIZE[1] + BAND // 2)
        ImageDraw.Draw(whole).text(place, clip.text, fill=(45, 52, 62), font=font(15), anchor="lm")
        found.append(whole)
    page.close()
    return found


def main() -> None:
    """Make the film."""
    program = os.environ.get("SENNIT_CHROMIUM") or shutil.which("chromium")
    frames: list[Image.Image] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for clip in CLIPS:
            frames += pictures(clip, browser, Path(folder))
            print(f"{clip.name}: {len(frames)} pictures", flush=True)
        browser.close()
    frames[0].save(
        TARGET, save_all=True, append_images=frames[1:], duration=round(1000 / RATE), loop=0, quality=58, method=5
    )
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
