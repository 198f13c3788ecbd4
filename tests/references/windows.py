"""A window of a browser on a page, and what the simulation itself says: for the tests of the page."""

from __future__ import annotations

import io
import itertools
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from sennit.live.channel import STATUS, FrameReader
from sennit.view import View

PATIENCE = 120.0  # s: a busy machine draws a picture in software in seconds; nothing waits longer than it must


class Window:
    """A window of the browser that shows a page."""

    def __init__(
        self, browser: Any, shown: View, width: int, height: int, init: str = "", drawn: bool = True, **options: Any
    ) -> None:
        self.view = shown
        self.requests: list[str] = []
        self.refused: list[str] = []
        self.errors: list[str] = []
        self._context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.page = self._context.new_page()
        self.page.set_default_timeout(1e3 * PATIENCE)
        if init:
            self.page.add_init_script(init)
        self.page.route("**/*", self._checked)
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        self.canvas = self.page.locator("#view")
        before, paused = shown.viewers, shown.host.paused
        shown.host.paused = True  # a picture that stands still leaves the processor to what is being loaded
        self.page.goto(shown.url)
        there = "!!(window.sennit && sennit.page.header" + (" && sennit.pictures.length)" if drawn else ")")
        wait_until(lambda: self.tell(there))
        wait_until(lambda: shown.viewers > before)
        shown.host.paused = paused
        wait_until(lambda: self.tell("sennit.page.over || sennit.page.status.paused") == float(shown.host.paused))

    def _checked(self, route: Any) -> None:
        url = route.request.url
        self.requests.append(url)
        if urlsplit(url).hostname in ("127.0.0.1", "localhost") or url.startswith(("data:", "blob:")):
            route.continue_()
        else:
            self.refused.append(url)
            route.abort()

    def tell(self, script: str, argument: Any = None) -> Any:
        """What a script says in the page, where `sennit` is what the page gives to scripts."""
        return self.page.evaluate(script, argument)

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def switch(self, label: str) -> None:
        """Press a checkbox of the panel."""
        self.page.get_by_label(label, exact=True).click()

    def unfold(self, folder: str) -> None:
        """Open or close a folder of the panel."""
        self.page.locator("summary", has_text=re.compile(f"^{folder}$")).click()

    def choose(self, label: str, choice: str) -> None:
        """Choose in a menu."""
        self.page.get_by_label(label, exact=True).select_option(choice)

    def pixel(self, place: Any) -> tuple[float, float]:
        """Where a place, (3,), m, is drawn, as the page says."""
        x, y, _ = self.tell("place => sennit.camera.pixelOf(place)", np.asarray(place, float).tolist())
        return float(x), float(y)

    def metres_per_pixel(self, place: Any) -> float:
        """At a place, (3,), m, across the line of sight."""
        (x, y), (other_x, other_y) = self.pixel(place), self.pixel(np.add(place, (0.0, 0.0, 1e-3)))
        return float(1e-3 / np.hypot(other_x - x, other_y - y))

    def point_at(self, place: Any) -> tuple[float, float]:
        """Move the mouse to a place, (3,), m, of something that can be grabbed; returns where that is drawn."""
        x, y = self.pixel(place)
        nudge = itertools.cycle((0.0, 1.0))

        def met() -> bool:  # the pointer shows it, as soon as what is drawn is there
            self.page.mouse.move(x + next(nudge), y)
            return self.canvas.evaluate("canvas => canvas.style.cursor") not in ("", "auto", "default")

        wait_until(met)
        return x, y

    def hold(self, place: Any, *way: tuple[float, float]) -> None:
        """Press the left button at a place, (3,), m, and move by each (x, y), pixels, of `way`, measured from there."""
        x, y = self.point_at(place)
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        for dx, dy in way:
            mouse.move(x + dx, y + dy, steps=8)

    def let_go(self) -> None:
        """Let go of the left button."""
        self.page.mouse.up()

    def image(self, still: bool = False) -> Any:
        """The picture left of the panel and between the lines of words, (height, width, 3); `still`: one that stays."""
        from PIL import Image

        if still:
            wide = "sennit.drawing.canvas.width >= sennit.drawing.canvas.clientWidth"
            wait_until(lambda: self.tell(f"{wide} && sennit.page.status.paused > 0.5"))
        size = self.page.viewport_size
        clip = {"x": 0, "y": 70, "width": size["width"] - 345, "height": size["height"] - 150}
        return np.asarray(Image.open(io.BytesIO(self.page.screenshot(clip=clip))).convert("RGB"), float)

    def close(self) -> None:
        """Close the window."""
        self._context.close()


class Truth:
    """What the simulation itself says: the newest frame that it has written."""

    def __init__(self, shown: View) -> None:
        self._view = shown

    def _pieces(self) -> tuple[Any, dict[str, Any]]:
        host = self._view.host
        for _ in range(100):
            # What is there may change between these lines: then names and numbers do not belong together.
            shown, layout, writer = host._shown, host._layout, host._writer
            reader = FrameReader(writer.name)
            read = reader.read()
            reader.close()
            if read is not None and host._writer is writer and read[1].size == layout.size:
                return shown[0].cast, layout.split(read[1])
            time.sleep(0.02)
        raise AssertionError("no frame")

    def status(self, name: str) -> float:
        """One of `STATUS`."""
        return float(self._pieces()[1]["status"][STATUS.index(name)])

    def part(self, name: str) -> Any:
        """The view of the part of that name."""
        cast, pieces = self._pieces()
        number = next(k for k, part in enumerate(cast.parts) if part.name == name)
        return cast.views(pieces["parts"].copy())[number]

    def tip(self, name: str) -> Any:
        """The last station of a tube, (3,), m."""
        return self.part(name).centres[-1].copy()


def wait_until(true: Callable[[], Any], patience: float = PATIENCE) -> None:
    """Return as soon as `true` is; fails after `patience`, s."""
    end = time.monotonic() + patience
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
