"""What the page offers besides dragging, in a real browser: keys, help, undo, recording, measuring, forces, gizmos,
touch, small windows, names for screen readers, and what it says when something is wrong.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from references.windows import Truth, Window, wait_until

import sennit as sn
from sennit.live.scene_play import ScenePlay
from sennit.view import View

pytestmark = pytest.mark.slow

Show = Callable[..., View]
Look = Callable[..., Window]
CAMERA = ((0.5, -3.0, 1.0), (0.5, 0.0, 1.0))


def boxes(**options: Any) -> tuple[sn.Scene, list[sn.RigidBody]]:
    """Two boxes that hang in the air, one held by a clamp."""
    scene = sn.Scene(gravity=(0, 0, 0), drag=4.0)
    made = [
        scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(x, 0, 1.0), name=name))
        for x, name in ((0.0, "left"), (1.0, "right"))
    ]
    scene.add(sn.Clamp(made[0].at(), name="held"))
    return scene, made


def test_keys_and_help(show: Show, look: Look) -> None:
    scene, _ = boxes()
    pressed: list[Any] = []
    scene.control("<i>shove</i>", lambda: pressed.append("shove"), key="g")
    scene.control("brake", pressed.append, False, key="b")
    view = show(ScenePlay(scene, title="Keys", camera=CAMERA))
    window, truth = look(view), Truth(view)
    keys = window.page.keyboard
    keys.press(" ")
    wait_until(lambda: truth.status("paused") == 1.0)
    stopped = truth.status("time")
    keys.press(".")
    wait_until(lambda: truth.status("time") > stopped)
    keys.press("g")
    wait_until(lambda: pressed == ["shove"])
    keys.press("b")
    wait_until(lambda: pressed == ["shove", True])
    keys.press("d")
    assert window.tell("document.documentElement.classList.contains('dark')")
    keys.press("d")
    assert not window.tell("document.documentElement.classList.contains('dark')")
    keys.press("p")
    assert window.tell("document.getElementById('panel').classList.contains('away')")
    keys.press("p")
    keys.press("?")
    text = window.page.locator("#help").inner_text()
    for word in ("Drag", "Right click", "long touch", "space", "<i>shove</i>", "brake"):
        assert word in text
    assert window.page.locator("#panel i, #help i").count() == 0  # names are no markup
    keys.press("Escape")
    assert not window.tell("document.getElementById('help').open")
    keys.press("r")
    wait_until(lambda: truth.status("time") == 0.0)
    assert not window.errors


def test_a_drag_and_a_switch_are_undone(show: Show, look: Look) -> None:
    scene, _ = boxes()
    view = show(ScenePlay(scene, title="Undo", camera=CAMERA))
    window, truth = look(view), Truth(view)
    assert window.page.get_by_role("button", name="Undo").is_disabled()
    window.hold((1.0, -0.1, 1.0), (0, -60))
    wait_until(lambda: truth.part("right").position[2] > 1.1)
    window.let_go()
    wait_until(lambda: truth.status("holding") == 0.0)
    window.unfold("Constraints")
    window.switch("held")
    wait_until(lambda: not scene.constraints[0].enabled)
    window.press("Pause")
    window.press("Undo")
    wait_until(lambda: scene.constraints[0].enabled)
    assert truth.part("right").position[2] > 1.1
    window.press("Undo")
    wait_until(lambda: abs(truth.part("right").position[2] - 1.0) < 1e-3)
    wait_until(lambda: window.page.get_by_role("button", name="Undo").is_disabled())
    assert not window.errors


def film_frames(path: Path) -> Any:
    """All pictures of a film, (k, height, width, 3)."""
    import subprocess

    ffmpeg = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    said = subprocess.run([ffmpeg, "-i", path], capture_output=True, check=False).stderr.decode()
    width, height = map(int, re.search(r" (\d+)x(\d+)[, ]", said).groups())  # type: ignore[union-attr]
    plain = [ffmpeg, "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    pictures = subprocess.run(plain, capture_output=True, check=True).stdout
    return np.frombuffer(pictures, np.uint8).reshape(-1, height, width, 3).astype(float)


def test_what_is_seen_is_recorded(show: Show, look: Look, tmp_path: Path) -> None:
    scene, (_, right) = boxes()
    right.velocity = (0.0, 0.0, 0.6)
    scene.drag = 0.0
    view = show(ScenePlay(scene, title="A film: boxes", camera=CAMERA))
    window, truth = look(view), Truth(view)
    window.unfold("Record")
    for kind, begins, seconds in (("html", b"<!doctype html>", 0.4), ("glb", b"glTF", 0.4), ("mp4", b"\0\0\0", 0.1)):
        window.choose("record as", kind)
        window.press("Record")
        wait_until(lambda: view.host._tape is not None)
        enough = truth.status("time") + seconds
        wait_until(lambda enough=enough: truth.status("time") > enough)  # type: ignore[misc]
        if kind == "mp4":
            window.press("Pause")  # each picture of a film takes a second in software
        with window.page.expect_download() as download:
            window.press("Stop recording")
        assert download.value.suggested_filename == f"A_film__boxes.{kind}"
        download.value.save_as(tmp_path / kind)
        data = (tmp_path / kind).read_bytes()
        assert data.startswith(begins)
    html = (tmp_path / "html").read_text(encoding="utf-8")
    header = json.loads(html.partition('<script id="header" type="application/json">')[2].partition("</script>")[0])
    assert header["count"] >= 10 and {part["name"] for part in header["parts"]} >= {"left", "right"}
    pictures = film_frames(tmp_path / "mp4")
    assert len(pictures) >= 3
    moved = np.abs(pictures[-1] - pictures[0]).max(axis=2) > 40.0
    columns = np.flatnonzero(moved.sum(axis=0) > 2)
    assert columns.min() > 0.5 * moved.shape[1]  # the right one moves, the left one does not
    assert not view.host._writings and not window.errors


def test_rulers_angles_and_paths_follow_what_was_clicked(show: Show, look: Look) -> None:
    scene, (_, right) = boxes()
    right.velocity = (0.0, 0.0, 0.02)
    scene.drag = 0.0
    view = show(ScenePlay(scene, title="Ruler", camera=CAMERA))
    window, truth = look(view), Truth(view)
    words: list[str] = []
    window.tell(
        "void (window.words = [], CanvasRenderingContext2D.prototype.fillText = (plain => function (text, ...at) { "
        "if (this.canvas.id === 'over') words.push(text); return plain.call(this, text, ...at); })"
        "(CanvasRenderingContext2D.prototype.fillText))"
    )

    def click(name: str, off: float) -> None:
        place = np.add(truth.part(name).position, (off, -0.1, 0.0))
        window.page.mouse.click(*window.pixel(place))

    window.page.keyboard.press("m")
    click("left", 0.05)
    click("right", -0.05)

    def said() -> float:
        words.extend(window.tell("words.splice(0)"))
        return float(words[-1].partition(" ")[0]) if words else 0.0

    # Clicks are on pixels of 3 mm and more.
    wait_until(lambda: said() > 0.0)
    there = np.hypot(0.9, truth.part("right").position[2] - 1.0)
    assert words[-1].endswith(" cm") or words[-1].endswith(" m")
    value = said() * (0.01 if words[-1].endswith(" cm") else 1.0)
    assert value == pytest.approx(there, abs=0.02)
    window.page.keyboard.press("a")
    for name, off in (("left", 0.0), ("right", 0.0), ("left", 0.05)):
        click(name, off)
    wait_until(lambda: any("°" in text for text in window.tell("words")))
    window.page.keyboard.press("t")
    click("right", 0.0)
    begin = truth.status("time")
    wait_until(lambda: truth.status("time") > begin + 1.0)
    overlay = "(() => { const c = document.getElementById('over'); return !c.hidden && c.getContext('2d')"
    count = f"{overlay}.getImageData(0, 0, c.width, c.height).data.filter((x, k) => k % 4 === 3 && x > 0).length; }})()"
    assert window.tell(count) > 100
    window.unfold("Measure")
    window.press("Clear")
    wait_until(lambda: window.tell("document.getElementById('over').hidden"))
    assert not window.errors


def test_forces_are_shown_as_arrows(show: Show, look: Look) -> None:
    """A box that hangs on a clamp, one that lies on the ground: both push with their weight."""
    scene = sn.Scene()
    hangs = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 1)))
    lies = scene.add(sn.RigidBody.box((0.2, 0.2, 0.2), mass=1.0, position=(1, 0, 0.1)))
    scene.add(sn.Obstacle(sn.Plane((0, 0, 0), (0, 0, 1))))
    scene.collide()
    scene.add(sn.Clamp(hangs.at()))
    view = show(ScenePlay(scene, title="Forces", camera=CAMERA))
    window = look(view)
    window.unfold("Measure")
    window.switch("forces of constraints")
    window.switch("forces of contacts")

    def arrows() -> Any:
        rows = np.array(window.tell("[...sennit.page.arrows]")).reshape(-1, 6)
        return rows[np.abs(rows[:, 3:]).max(axis=1) > 0.0] if len(rows) else rows

    weight = 9.81
    wait_until(lambda: len(arrows()) > 1 and abs(arrows()[1:, 5].sum() - weight) < 0.02 * weight)
    rows = arrows()
    np.testing.assert_allclose(rows[0], (0, 0, 1, 0, 0, 2 * weight), atol=0.02 * weight)
    assert np.abs(rows[1:, 0] - 1.0).max() < 0.11 and np.abs(rows[1:, 2]).max() < 0.01
    wait_until(lambda: not window.tell("document.getElementById('over').hidden"))
    window.switch("forces of constraints")
    window.switch("forces of contacts")
    wait_until(lambda: len(window.tell("[...sennit.page.arrows]")) == 0)
    assert lies.mass == 1.0 and not window.errors


def test_gizmos_move_and_turn_what_is_held(show: Show, look: Look) -> None:
    scene, _ = boxes()
    view = show(ScenePlay(scene, title="Gizmos", camera=CAMERA))
    window, truth = look(view), Truth(view)
    window.unfold("Constraints")
    window.switch("gizmos")
    wait_until(lambda: not window.tell("document.getElementById('over').hidden"))
    x, y = window.pixel((0.0, 0.0, 1.0))
    mouse = window.page.mouse
    mouse.move(x, y - 50)  # on the upward arrow, above the box
    mouse.down()
    mouse.move(x, y - 90, steps=6)
    mouse.up()
    metres = window.metres_per_pixel((0.0, 0.0, 1.0))
    wait_until(lambda: abs(truth.part("left").position[2] - 1.0 - 40 * metres) < 0.1 * 40 * metres)
    assert truth.status("holding") == 0.0  # it was the gizmo, not the hand
    window.press("Undo")
    wait_until(lambda: abs(truth.part("left").position[2] - 1.0) < 1e-3)
    # The page has it, too, before its ring is taken: a busy browser draws it late.
    back = "Array.from(sennit.page.handles).some((x, k, all) => k % 7 === 2 && Math.hypot(all[k - 2], x - 1) < 1e-3)"
    wait_until(lambda: window.tell(back))
    window.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    # The ring about y is seen from the front: a quarter of it.
    ring = 0.72 * 64
    x, y = window.pixel((0.0, 0.0, 1.0))
    mouse.move(x + 0.707 * ring, y - 0.707 * ring)
    mouse.down()
    mouse.move(x + ring, y, steps=6)
    mouse.up()
    wait_until(lambda: abs(abs(truth.part("left").quaternion[2]) - np.sin(np.pi / 8)) < 0.05)
    assert not window.errors


def test_touch_drags_and_pins(show: Show, look: Look) -> None:
    """A finger that moves drags, one that stays pins, two come nearer."""
    scene, _ = boxes()
    view = show(ScenePlay(scene, title="Touch", camera=CAMERA))
    window, truth = look(view, 390, 844, has_touch=True, is_mobile=True), Truth(view)
    devtools = window.page.context.new_cdp_session(window.page)

    def touch(kind: str, *places: tuple[float, float]) -> None:
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x, y = window.pixel((1.0, -0.1, 1.0))
    touch("touchStart", (x, y))
    for k in range(1, 7):
        touch("touchMove", (x, y - 10 * k))
    wait_until(lambda: truth.status("holding") == 1.0)
    wait_until(lambda: truth.part("right").position[2] > 1.1)
    touch("touchEnd")
    wait_until(lambda: truth.status("holding") == 0.0)
    window.tell("document.getElementById('undo').click()")
    wait_until(lambda: abs(truth.part("right").position[2] - 1.0) < 1e-3)
    touch("touchStart", window.pixel((1.0, -0.1, 1.0)))
    wait_until(lambda: any(tie.name == "pin 1" for tie in view.host.play.ties))
    touch("touchEnd")
    distance = window.tell("sennit.camera.distance")
    touch("touchStart", (100, 500), (200, 500))
    for k in range(1, 6):
        touch("touchMove", (100 - 10 * k, 500), (200 + 10 * k, 500))
    touch("touchEnd")
    wait_until(lambda: window.tell("sennit.camera.distance") < 0.8 * distance)
    assert not window.errors


@pytest.mark.parametrize(("width", "height"), [(390, 844), (800, 600), (1400, 900), (3840, 2160)])
def test_it_fits_into_every_window(width: int, height: int, show: Show, look: Look) -> None:
    """Nothing sticks out, the buttons can be pressed, captions lie beside what they are about."""
    scene, _ = boxes()
    scene.show("score", lambda: "3 of 10")
    scene.control("a slider with a long name that wraps", lambda value: None, 0.0, range=(0.0, 1.0), unit="m/s")
    view = show(scene, title="A title that is so long that it hardly fits beside the buttons of a telephone")
    view.host.paused = True
    window = look(view, width, height)
    assert window.tell("document.documentElement.scrollWidth") <= width
    assert window.tell("document.documentElement.scrollHeight") <= height
    boxes_of = """(names) => names.map((name) => {
      const b = document.querySelector(name).getBoundingClientRect();
      return [b.left, b.top, b.right, b.bottom];
    })"""
    names = ["header", "nav", "footer", *(["#panel"] if width > 820 else [])]
    found = dict(zip(names, window.tell(boxes_of, names), strict=True))
    for name, (left, top, right, bottom) in found.items():
        assert left >= 0 and top >= 0 and right <= width and bottom <= height, name
    for a in names:
        for b in names[names.index(a) + 1 :]:
            if {a, b} == {"nav", "#panel"}:
                continue
            (l0, t0, r0, b0), (l1, t1, r1, b1) = found[a], found[b]
            assert r0 <= l1 or r1 <= l0 or b0 <= t1 or b1 <= t0, (a, b)
    # All corners of both boxes are seen between the captions.
    for x in (-0.1, 0.1, 0.9, 1.1):
        for z in (0.9, 1.1):
            px, py = window.pixel((x, -0.1, z))
            for name, (left, top, right, bottom) in found.items():
                assert not (left <= px <= right and top <= py <= bottom), (name, px, py)
            assert 0 < px < width and 0 < py < height
    if width <= 820:
        window.press("Panel")
    window.page.get_by_label("a slider with a long name that wraps (m/s)", exact=True).wait_for()
    window.press("Step")
    assert not window.errors


def test_squares_of_the_ground_are_labelled(show: Show, look: Look) -> None:
    """With the side that the lines which are drawn have; where there is no ground, with nothing."""
    view = show(ScenePlay(boxes()[0], title="Ground", camera=CAMERA))
    view.host.paused = True
    window = look(view)
    label, grid = window.page.locator("#scale"), window.tell("sennit.drawing.grid")
    wait_until(label.is_visible)
    value, unit = label.inner_text().removeprefix("squares of ").split(" ")
    assert float(value) * {"mm": 1e-3, "cm": 1e-2, "m": 1.0}[unit] == pytest.approx(grid)
    window.unfold("Look")
    window.switch("ground")
    label.wait_for(state="hidden")


def test_it_is_dark_where_a_person_wants_it_dark(show: Show, look: Look) -> None:
    """Each window for itself, as the system says."""
    view = show(boxes()[0])
    view.host.paused = True
    light, dark = look(view, color_scheme="light"), look(view, color_scheme="dark")
    assert light.image().mean() > 190.0 and dark.image().mean() < 90.0
    dark.page.emulate_media(color_scheme="light")
    wait_until(lambda: dark.image().mean() > 190.0)
    light.page.keyboard.press("d")
    wait_until(lambda: light.image().mean() < 90.0)


def test_everything_has_a_name(show: Show, look: Look) -> None:
    """For screen readers; and all of it is reached by the Tab key."""
    scene, _ = boxes()
    scene.control("speed", lambda value: None, 0.0, range=(0.0, 1.0))
    scene.control("on", lambda value: None, False)
    scene.control("what", lambda value: None, choices=["a", "b"])
    scene.control("who", lambda value: None, "nobody")
    window = look(show(scene))
    for name in ("Gravity", "Constraints", "Look", "Measure", "Record"):
        window.unfold(name)
    nameless = window.tell(
        """[...document.querySelectorAll("button, select, input, summary, canvas#view")].filter((e) => {
          const label = e.getAttribute("aria-label") || (e.labels && e.labels[0] && e.labels[0].textContent) || "";
          return !(label.trim() || /[a-z]/i.test(e.textContent));
        }).map((e) => e.outerHTML)"""
    )
    assert nameless == []
    seen = set()
    for _ in range(60):
        window.page.keyboard.press("Tab")
        seen.add(window.tell("document.activeElement.id || document.activeElement.getAttribute('aria-label')"))
    assert {"view", "fit", "dark", "ask", "open", "play", "step", "reset", "record", "speed"} <= seen
    window.canvas.focus()
    yaw = window.tell("sennit.camera.yaw")
    window.page.keyboard.press("ArrowLeft")
    assert window.tell("sennit.camera.yaw") != yaw


def test_what_is_wrong_is_said_in_a_sentence(show: Show, look: Look) -> None:
    scene, (_, right) = boxes()

    def breaks() -> None:
        raise RuntimeError("<b>boom</b>")

    scene.control("breaks", breaks)
    scene.watch("<u>place</u>", lambda: right.position)  # type: ignore[arg-type, return-value]
    view = show(scene)
    window, truth = look(view), Truth(view)
    window.page.get_by_text("<u>place</u> can't be read: it must be one number").first.wait_for()
    window.press("breaks")
    window.page.get_by_text("control failed: RuntimeError: <b>boom</b>").first.wait_for()
    assert window.page.locator("#notes b, #panel u, figcaption u").count() == 0
    now = truth.status("time")
    wait_until(lambda: truth.status("time") > now)  # it runs on
    assert not window.errors


def test_a_browser_without_webgl_is_told_so(show: Show, look: Look) -> None:
    view = show(boxes()[0])
    without = (
        "const plain = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = "
        "function (kind, ...more) { return kind.startsWith('webgl') ? null : plain.call(this, kind, ...more); }"
    )
    window, truth = look(view, init=without, drawn=False), Truth(view)
    problem = window.page.locator("#problem").inner_text()
    assert "no WebGL 2" in problem and "another browser" in problem
    now = truth.status("time")
    window.press("Pause")  # the panel works, and the scene runs on
    wait_until(lambda: truth.status("paused") == 1.0)
    assert truth.status("time") >= now and not window.errors


def test_it_says_when_the_simulation_has_ended(show: Show, look: Look) -> None:
    view = show(boxes()[0])
    window = look(view)
    view.close()
    window.page.get_by_text("The simulation has ended.").first.wait_for()
    time.sleep(0.3)
    assert not window.errors


def test_three_hundred_constraints_and_many_watches_are_usable(show: Show, look: Look) -> None:
    scene = sn.Scene(gravity=(0, 0, 0))
    for k in range(100):
        box = scene.add(sn.RigidBody.box((0.05, 0.05, 0.05), mass=1.0, position=(0.1 * (k % 10), 0, 0.1 * (k // 10))))
        scene.add(sn.Fix(box.at(), name=f"tie {k}"))
    window = look(show(scene))
    window.unfold("Constraints")
    assert window.page.locator(".tie").count() == 60
    window.choose("others", "tie 99")
    window.press("Switch")
    wait_until(lambda: not scene.constraints[99].enabled)
    assert not window.errors
