"""The page where it is not by itself: behind a proxy with a path of its own, in a notebook, of a haptic loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from references.reverse_proxy import ReverseProxy
from references.windows import wait_until

import sennit as sn
from sennit.haptics import HapticLoop, MouseDevice
from sennit.live.scene_play import ScenePlay
from sennit.view import View

pytestmark = pytest.mark.slow

Show = Callable[..., View]
CAMERA = ((0.0, -3.0, 1.0), (0.0, 0.0, 1.0))
DRAWN = "!!(window.sennit && sennit.pictures.length)"
FORGIVEN = "favicon"


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """An empty window."""
    context = chromium.new_context(viewport={"width": 900, "height": 600})
    opened = context.new_page()
    opened.set_default_timeout(120e3)
    opened.errors = []
    opened.on("pageerror", lambda error: opened.errors.append(str(error)))
    yield opened
    context.close()


@pytest.fixture
def ball() -> sn.Scene:
    """A ball in the air."""
    scene = sn.Scene(gravity=(0, 0, 0), drag=4.0)
    scene.add(sn.RigidBody.sphere(0.15, mass=1.0, position=(0, 0, 1), name="ball"))
    return scene


def dragged(page: Any, frame: Any, place: Any, off: tuple[float, float] = (0.0, 0.0)) -> None:
    """Press at a place, (3,), m, in a page that `frame` shows, `off` from where that frame is, and move up."""
    wait_until(lambda: frame.evaluate(DRAWN))
    x, y, _ = frame.evaluate("place => sennit.camera.pixelOf(place)", np.asarray(place, float).tolist())
    page.mouse.move(x + off[0], y + off[1])
    page.mouse.down()
    page.mouse.move(x + off[0], y + off[1] - 70, steps=8)


def parts_of(url: str) -> tuple[int, str]:
    """Port and secret of a page's address."""
    _, _, place, token, _ = url.split("/")
    return int(place.rpartition(":")[2]), token


@pytest.mark.parametrize("tells", [True, False])
def test_behind_a_proxy_with_a_path_of_its_own(
    tells: bool, ball: sn.Scene, show: Show, page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that says which name the browser used; one that says nothing, where notebooks are known to be behind it."""
    if not tells:
        monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/ada/")
    view = show(ScenePlay(ball, title="Behind", camera=CAMERA))
    port, token = parts_of(view.url)
    prefix = f"/user/ada/proxy/{port}/"
    proxy = ReverseProxy(port, prefix, tells=tells)
    page.goto(f"{proxy.origin}{prefix}{token}")  # it is led on to the stroke at the end
    dragged(page, page, (0, -0.15, 1))
    wait_until(lambda: ball.bodies[0].position[2] > 1.05)
    page.mouse.up()
    assert page.url == f"{proxy.origin}{prefix}{token}/"
    own = [path for path in proxy.paths if FORGIVEN not in path]
    assert own and all(path.startswith(prefix) for path in own) and f"{prefix}{token}/ws" in own
    assert view.viewers == 1 and not page.errors
    proxy.close()


def test_a_proxy_that_says_nothing_is_no_way_in(ball: sn.Scene, show: Show, page: Any) -> None:
    """Where nothing says that notebooks are behind one, a page of another address is refused, whatever it knows."""
    view = show(ScenePlay(ball, title="Behind", camera=CAMERA))
    port, token = parts_of(view.url)
    proxy = ReverseProxy(port, "/p/", tells=False)
    page.goto(f"{proxy.origin}/p/{token}/")
    wait_until(lambda: "/p/" + token + "/ws" in proxy.paths)
    page.wait_for_timeout(300)
    assert view.viewers == 0 and not page.evaluate(DRAWN)
    proxy.close()


def test_in_a_notebook(ball: sn.Scene, show: Show, page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub's notebook shows a page below one cell, a scene below another, a recording below a third."""
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/ada/")
    still = sn.Scene(name="A box")
    still.add(sn.RigidBody.box((0.3, 0.3, 0.3), mass=1.0))
    film = sn.record(still, 0.2, fps=20)
    view = show(ScenePlay(ball, title="Below a cell", camera=CAMERA))
    port, _ = parts_of(view.url)
    cells = "".join(f"<div>{cell._repr_html_()}</div>" for cell in (view, still, film))
    proxy = ReverseProxy(
        port, f"/user/ada/proxy/{port}/", tells=False, pages={"/user/ada/lab": f"<!doctype html><body>{cells}</body>"}
    )
    page.goto(f"{proxy.origin}/user/ada/lab")
    shown = page.locator("iframe").first
    frame = shown.element_handle().content_frame()
    wait_until(lambda: frame.evaluate(DRAWN))
    box = shown.bounding_box()
    dragged(page, frame, (0, -0.15, 1), (box["x"] + 1, box["y"] + 1))
    wait_until(lambda: ball.bodies[0].position[2] > 1.05)
    page.mouse.up()
    picture = page.get_by_alt_text("A box")
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 300
    page.get_by_text("A box at 0.2 s: RigidBody").wait_for()
    player = page.locator("iframe").nth(1)
    player.scroll_into_view_if_needed()
    inside = player.element_handle().content_frame()
    wait_until(lambda: inside.evaluate("!!document.querySelector('canvas')"))
    assert inside.evaluate("document.querySelector('canvas').clientWidth") > 300
    assert not page.errors
    proxy.close()


def test_the_page_of_a_haptic_loop(page: Any) -> None:
    """The mouse is the loop's hand; what was pinned is undone in the loop, too, and forces are arrows."""
    scene = sn.Scene(drag=4.0)
    rope = scene.add(
        sn.Rod.straight(
            (0, 0, 1.4), (0, 0, 0.6), section=sn.Section.circle(0.02), material=sn.Material(1e6, 0.4, 1000.0),
            control_points=8, name="rope",
        )
    )  # fmt: skip
    scene.add(sn.Clamp(rope.at(0.0), name="hook"))
    scene.settle()
    mouse = MouseDevice()
    coupling = sn.VirtualCoupling(300.0, 5.0)
    with HapticLoop(scene, mouse, coupling=coupling) as loop:
        page.goto(loop.view(port=0, browser=False))
        tip = rope.at(rope.length).position
        wait_until(lambda: page.evaluate(DRAWN))
        x, y, _ = page.evaluate("place => sennit.camera.pixelOf(place)", tip.tolist())
        page.mouse.move(x, y - 3)
        page.mouse.down()
        page.mouse.move(x + 120, y - 20, steps=8)
        wait_until(lambda: np.linalg.norm(rope.at(rope.length).position - tip) > 0.1)
        page.mouse.up()
        page.keyboard.press(" ")
        wait_until(lambda: page.evaluate("sennit.page.status.paused > 0.5"))
        page.wait_for_timeout(500)  # until it is drawn where it stands
        middle = page.evaluate("place => sennit.camera.pixelOf(place)", rope.at(0.3).position.tolist())
        page.mouse.click(middle[0], middle[1], button="right")
        wait_until(lambda: "pin 1" in [c.name for c in scene.constraints])
        page.locator("#undo:enabled").wait_for()
        page.keyboard.press("z")
        wait_until(lambda: "pin 1" not in [c.name for c in scene.constraints])
        page.keyboard.press(" ")
        page.locator("summary", has_text="Measure").click()
        page.get_by_label("forces of constraints", exact=True).click()
        weight = rope.mass * 9.81
        up = "[...sennit.page.arrows].length && sennit.page.arrows[5]"
        wait_until(lambda: abs((page.evaluate(up) or 0.0) - weight) < 0.5 * weight)
        before = scene.time
        wait_until(lambda: scene.time > before)
    assert not page.errors and {note.kind for note in loop.notes} <= {"overrun"}


def test_the_page_of_a_haptic_loop_cuts_and_shows_contacts(page: Any) -> None:
    """A ball on a rope lies on a board: the board's push is an arrow; the rope is cut through, and undone."""
    scene = sn.Scene(drag=2.0)
    rope = scene.add(
        sn.Rod.straight(
            (0, 0, 1.6), (0, 0, 0.8), section=sn.Section.circle(0.02), material=sn.Material(1e6, 0.4, 1000.0),
            control_points=14, name="rope",
        )
    )  # fmt: skip
    scene.add(sn.Clamp(rope.at(0.0), name="hook"))
    box = scene.add(sn.RigidBody.box((0.3, 0.3, 0.3), mass=2.0, position=(0.6, 0, 0.45), name="box"))
    board = scene.add(sn.Obstacle(sn.Box((3, 3, 0.3), sn.Pose((0, 0, 0.15))), name="board"))
    scene.collide([rope, box], board)
    scene.settle()
    with HapticLoop(scene, MouseDevice(), coupling=sn.VirtualCoupling(300.0, 5.0)) as loop:
        page.goto(loop.view(port=0, browser=False))
        wait_until(lambda: page.evaluate(DRAWN))
        page.locator("summary", has_text="Measure").click()
        page.get_by_label("forces of contacts", exact=True).click()
        pushed = "[...sennit.page.arrows].filter((x, k) => k % 6 === 5).reduce((sum, x) => sum + x, 0)"
        wait_until(lambda: abs(page.evaluate(pushed) - 2.0 * 9.81) < 0.05)
        page.wait_for_timeout(300)
        middle = page.evaluate("place => sennit.camera.pixelOf(place)", rope.at(0.4).position.tolist())
        page.keyboard.press("x")
        page.locator("#scissors[aria-pressed=true]").wait_for()
        page.mouse.click(middle[0], middle[1])
        wait_until(lambda: len(scene.bodies) == 3)
        assert rope.length == pytest.approx(0.4, abs=0.05)
        page.get_by_text("rope was cut").first.wait_for()
        piece = scene.bodies[-1]
        wait_until(lambda: float(piece.centerline(9)[:, 2].max()) < 1.0)  # type: ignore[attr-defined]  # it falls
        assert rope.at(rope.length).position[2] > 1.0
        page.keyboard.press("Escape")
        page.keyboard.press("z")
        wait_until(lambda: len(scene.bodies) == 2)
        assert rope.length == pytest.approx(0.8)
        before = scene.time
        wait_until(lambda: scene.time > before + 0.1)
        page.keyboard.press("x")
        page.mouse.click(middle[0], middle[1])
        wait_until(lambda: len(scene.bodies) == 3)
    assert not page.errors and {note.kind for note in loop.notes} <= {"overrun", "divided"}
    assert len(scene.bodies) == 3 and [event.kind for event in scene.events if event.kind == "cut"] == ["cut"]
    scene.step(1e-3)
