"""The page that plays a recording, in Debian's Chromium: it plays, stops, turns, and fetches nothing."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sennit.export.record import write
from sennit.export.recording import Recording

SIZE = (480, 320)


@pytest.fixture
def page(chromium: Any, recording: Recording, tmp_path: Path) -> Iterator[Any]:
    path = write(recording, tmp_path / "trial.html")
    page = chromium.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
    page.asked, page.wrong = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.set_default_timeout(120_000)  # machines that test are busy
    page.goto(path.as_uri())
    wait(page, "window.replay")
    yield page
    assert page.asked == [path.as_uri()] and page.wrong == []
    assert page.locator("#problem").is_hidden()
    page.close()


def wait(page: Any, true: str) -> None:
    """Until the expression `true` is. Playwright's own waiting evaluates texts in the page, which that forbids."""
    end = time.monotonic() + 120.0
    while not page.evaluate(f"Boolean({true})"):
        assert time.monotonic() < end, f"never: {true}"
        page.wait_for_timeout(20)


def picture(page: Any) -> Any:
    """The middle of the window: neither title nor controls."""
    from PIL import Image

    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    return np.asarray(shot, dtype=np.int64)[40 : SIZE[1] - 70]


def test_it_plays_by_itself_and_pauses(page: Any) -> None:
    assert page.evaluate("replay.playing") is True
    wait(page, "replay.time > 2.05")
    page.click("#play")
    assert page.evaluate("replay.playing") is False
    stopped = page.evaluate("replay.time")
    page.wait_for_timeout(200)
    assert page.evaluate("replay.time") == stopped
    page.keyboard.press(" ")
    assert page.evaluate("replay.playing") is True


def test_it_shows_the_recording(page: Any, recording: Recording) -> None:
    pictures = []
    for k in (0, 12):
        page.evaluate(f"replay.seek({float(recording.times[k])!r})")
        tip = page.evaluate("replay.place('rope', 20)")
        assert np.allclose(tip, recording.track(0).centres[k, -1], atol=1e-4)
        pictures.append(picture(page))
    codes = [np.unique(each @ (65536, 256, 1)) for each in pictures]
    assert min(map(len, codes)) > 200
    assert (np.abs(pictures[0] - pictures[1]).max(axis=2) > 50).mean() > 2e-3
    # between two frames it is between them
    middle = 0.5 * (recording.times[3] + recording.times[4])
    page.evaluate(f"replay.seek({float(middle)!r})")
    wanted = 0.5 * (recording.track(0).centres[3, -1] + recording.track(0).centres[4, -1])
    assert np.allclose(page.evaluate("replay.place('rope', 20)"), wanted, atol=1e-4)


def test_it_turns_and_comes_back(page: Any) -> None:
    page.evaluate("replay.seek(2.0)")
    before = picture(page)
    page.mouse.move(240, 150)
    page.mouse.down()
    page.mouse.move(330, 170, steps=4)
    page.mouse.up()
    turned = picture(page)
    assert (np.abs(turned - before).max(axis=2) > 30).mean() > 0.01
    page.mouse.wheel(0, -400)
    nearer = picture(page)
    assert (np.abs(nearer - turned).max(axis=2) > 30).mean() > 0.01
    page.click("#home")
    assert (np.abs(picture(page) - before).max(axis=2) > 30).mean() < 1e-3


def test_time_can_be_scrubbed(page: Any) -> None:
    box = page.locator("#scrub").bounding_box()
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    wait(page, "!replay.playing")
    wait(page, "Math.abs(replay.time - 2.25) < 0.05")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Home")
    assert page.evaluate("replay.time") == 2.0
    page.keyboard.press("ArrowRight")
    assert page.evaluate("replay.time") == pytest.approx(2.0 + 1 / 24)


def test_colours_show_a_field_with_a_legend(page: Any) -> None:
    page.evaluate("replay.seek(2.2)")
    before = picture(page)
    assert page.locator("#legend").is_hidden()
    page.select_option("#colour", "pressure")
    assert page.locator("#legend").is_visible() and page.locator("#legend-name").inner_text() == "pressure (Pa)"
    assert (np.abs(picture(page) - before).max(axis=2) > 40).mean() > 5e-3
    page.select_option("#colour", "")
    assert page.locator("#legend").is_hidden()


def test_dark_and_light(page: Any) -> None:
    page.evaluate("replay.seek(2.0); replay.theme(false)")
    light = picture(page)
    page.click("#theme")
    assert picture(page)[:5].mean() < 60 < 200 < light[:5].mean()
