"""Scenes that mean ill or are wrong, and browsers that can't draw: a sentence says so, and the scene runs on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from references.windows import Truth, Window, wait_until

import sennit as sn
from sennit.live.scene_play import ScenePlay
from sennit.view import View

pytestmark = pytest.mark.slow

Show = Callable[..., View]
Look = Callable[..., Window]
EVIL = "<img src=x onerror=window.hacked=1>"
"""What a page that took names for markup would run."""


def ball(**options: Any) -> tuple[sn.Scene, sn.RigidBody]:
    """A ball that floats."""
    scene = sn.Scene(gravity=(0, 0, 0), **options)
    return scene, scene.add(sn.RigidBody.sphere(0.2, mass=1.0, name=f"ball {EVIL}"))


def runs_on(view: View) -> None:
    """The simulation goes on."""
    truth = Truth(view)
    now = truth.status("time")
    wait_until(lambda: truth.status("time") > now)


def test_nothing_that_has_a_name_is_taken_for_markup(show: Show, look: Look) -> None:
    scene, body = ball(name=EVIL)
    scene.add(sn.Fix(body.at(), name=f"tie {EVIL}"))
    scene.add(sn.Load(body.at(), force=(0, 0, 1), name=f"load {EVIL}"))
    scene.control(f"slider {EVIL}", lambda value: None, 0.0, range=(0.0, 1.0), unit=EVIL)
    scene.control(f"button {EVIL}", lambda: None, key="g")
    scene.control(f"menu {EVIL}", lambda value: None, choices=[EVIL, "b"])
    scene.control(f"text {EVIL}", lambda value: None, EVIL)
    scene.watch(f"watch {EVIL}", lambda: 1.0, unit=EVIL)
    scene.show(f"board {EVIL}", lambda: EVIL)
    scene.scenario(f"beginning {EVIL}", lambda: None)
    fails: list[bool] = []

    def before(dt: float) -> None:
        if fails:
            raise ValueError(EVIL)

    view = show(ScenePlay(scene, before_step=before))
    window = look(view)
    for folder in ("Gravity", "Constraints", "Look", "Measure", "Record", "choose"):
        window.unfold(folder)
    window.press("Help")
    window.page.keyboard.press("Escape")
    window.page.mouse.click(*window.point_at((0, -0.2, 0)), button="right")  # a pin is named after it
    fails.append(True)
    window.page.locator(".sennit-failure").wait_for()
    assert EVIL in window.page.locator(".sennit-failure").inner_text()
    assert EVIL in (window.page.locator("#board").text_content() or "")
    assert window.page.title() == EVIL and window.page.locator("h1").inner_text() == EVIL
    window.page.wait_for_timeout(300)
    assert window.tell("window.hacked") is None
    made = "img, body script:not(:last-of-type), h1 *, #board dd *"
    assert window.tell("made => document.querySelectorAll(made).length", made) == 0
    fails.clear()
    window.press("Run")
    runs_on(view)
    assert not window.errors


@pytest.mark.parametrize("kind", ["slider", "switch", "menu", "text", "button"])
def test_a_control_that_raises_is_told_and_keeps_its_value(kind: str, show: Show, look: Look) -> None:
    scene, _ = ball()

    def raises(value: Any = None) -> None:
        if value not in (0.0, False, "a", "nobody"):
            raise ZeroDivisionError(f"not with {value!r}")

    given: dict[str, Any] = {
        "slider": {"start": 0.0, "range": (0.0, 1.0)}, "switch": {"start": False}, "menu": {"choices": ["a", "b"]},
        "text": {"start": "nobody"}, "button": {},
    }  # fmt: skip
    options = given[kind]
    start = [options.pop("start")] if "start" in options else []
    control = scene.control("it", raises, *start, **options)
    before = control.value
    view = show(ScenePlay(scene, title="Raises"))
    window = look(view)
    if kind == "button":
        window.press("it")
    elif kind == "switch":
        window.switch("it")
    elif kind == "menu":
        window.choose("it", "b")
    else:
        entry = window.page.get_by_label("it", exact=True).last
        entry.fill("1" if kind == "slider" else "Ada")
        entry.press("Enter")
        entry.press("Tab")  # what somebody is typing in stays
    window.page.get_by_text("control failed: ZeroDivisionError: not with").first.wait_for()
    assert control.value == before
    runs_on(view)
    if kind == "slider":
        wait_until(lambda: window.page.get_by_label("it", exact=True).first.input_value() == "0")
    elif kind == "switch":
        wait_until(lambda: not window.page.get_by_label("it", exact=True).is_checked())
    elif kind == "menu":
        wait_until(lambda: window.page.get_by_label("it", exact=True).evaluate("e => e.selectedOptions[0].text") == "a")
    elif kind == "text":
        wait_until(lambda: window.page.get_by_label("it", exact=True).input_value() == "nobody")
    assert not window.errors


def test_watches_and_texts_that_give_rubbish(show: Show, look: Look) -> None:
    scene, _ = ball()
    rubbish: dict[str, Any] = {"none": None, "list": [1.0, 2.0], "words": "fast", "thing": object(), "dict": {}}
    for name, value in rubbish.items():
        scene.watch(name, lambda value=value: value)
    scene.watch("nan", lambda: float("nan"))
    scene.watch("huge", lambda: 1e308 * 10.0)
    scene.watch("grows", lambda: 10.0 ** min(300.0, 50.0 * scene.time))
    scene.watch("steady", lambda: 7.0)

    class Mute:
        def __str__(self) -> str:
            raise RuntimeError("no words")

    scene.show("mute", lambda: Mute())  # type: ignore[arg-type, return-value]
    scene.show("long", lambda: "x" * 100_000)
    scene.show("odd", lambda: "\x00\u202e\ud800 end")
    told: list[str] = []
    view = show(ScenePlay(scene, title="Rubbish"))
    note = view.host.note
    view.host.note = lambda text, level="info": (told.append(text), note(text, level))[0]  # type: ignore[method-assign, assignment, func-returns-value]
    window = look(view)
    wait_until(lambda: (window.page.locator("#board").text_content() or "").count("–") >= 1)
    steady = window.page.locator("figcaption", has_text="steady").locator("b").last
    wait_until(lambda: "7" in steady.inner_text())
    runs_on(view)
    wait_until(lambda: view.host.play.time > 7.0)  # numbers that no plot of single precision holds
    runs_on(view)
    named = set(view.host._broken)
    assert {"none", "list", "words", "thing", "dict", "mute"} <= named and not {"nan", "huge", "steady"} & named
    assert window.tell("document.documentElement.scrollWidth") <= 900
    assert not window.errors


def test_a_browser_that_is_too_slow_is_told_so(show: Show, look: Look) -> None:
    """Once, in a sentence; meanwhile what moves has no shadows, and the scene goes on."""
    scene, body = ball()
    body.velocity = (0.01, 0.0, 0.0)
    view = show(ScenePlay(scene, title="Slow"))
    window = look(view)
    window.tell(
        """void (() => {
          const d = sennit.drawing, draw = d.draw.bind(d);
          window.looks = [];
          d.draw = (look) => {
            looks.push(look.shadows);
            const end = performance.now() + 1100;
            while (performance.now() < end);
            draw(look);
          };
        })()"""
    )
    note = window.page.get_by_text("s for a picture of all that is here: what moves is seen by jumps")
    note.first.wait_for()
    assert "The simulation goes on meanwhile." in note.first.inner_text()
    wait_until(lambda: window.tell("looks.at(-1) === false"))
    runs_on(view)
    assert note.count() == 1 and not window.errors


@pytest.mark.parametrize("flag", ["--disable-3d-apis", "--disable-webgl2"])
def test_a_browser_that_can_not_draw(flag: str, show: Show, chromium: Any) -> None:
    """Another program than that of all other tests, without WebGL: a sentence, a panel that works, plots."""
    import os
    import shutil

    scene, body = ball()
    scene.control("push", lambda: setattr(body, "velocity", (1.0, 0.0, 0.0)))
    scene.watch("way", lambda: float(body.position[0]), unit="m")
    view = show(ScenePlay(scene, title="Blind"))
    program = os.environ.get("SENNIT_CHROMIUM") or shutil.which("chromium")
    blind = chromium.browser_type.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu", flag])
    try:
        page = blind.new_page(viewport={"width": 900, "height": 600})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(view.url)
        page.locator("#problem").wait_for()
        text = page.locator("#problem").inner_text()
        assert "WebGL 2" in text and text.endswith("another browser will show the picture.")
        page.get_by_role("button", name="push", exact=True).click()
        wait_until(lambda: body.position[0] > 0.1)
        value = page.locator("figcaption", has_text="way").locator("b").last
        wait_until(lambda: value.inner_text() not in ("", "–", "0"))
        runs_on(view)
        assert not errors
    finally:
        blind.close()
