"""Scissors in a real browser: what is clicked or crossed by a stroke is cut, and made whole again."""

from __future__ import annotations

from collections.abc import Callable
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
CAMERA = ((0.5, -3.0, 1.2), (0.5, 0.0, 1.2))
SPANS = 12


def ropes() -> tuple[sn.Scene, list[sn.Rod]]:
    """Two ropes between walls, one above the other, and a ring before a box that hides a third rope."""
    scene = sn.Scene(drag=2.0)
    rubber = sn.Material(2e7, 0.49, 1000.0)
    made = [
        scene.add(
            sn.Rod.straight(
                (0, y, z), (1, y, z), section=sn.Section.circle(0.012), material=rubber, control_points=SPANS + 3,
                name=name,
            )
        )
        for y, z, name in ((0.0, 1.5, "upper"), (0.0, 1.2, "lower"), (0.5, 1.35, "hidden"))
    ]  # fmt: skip
    angles = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    circle = np.column_stack((0.5 + 0.2 * np.cos(angles), np.full(24, -0.2), 0.8 + 0.2 * np.sin(angles)))
    ring = sn.Rod.through(circle, section=sn.Section.circle(0.012), material=rubber, closed=True, name="ring")
    for rope in made:
        scene.add(sn.Clamp(rope.at(0.0)))
        scene.add(sn.Clamp(rope.at(rope.length)))
    made.append(scene.add(ring))
    scene.add(sn.Fix(ring.at(0.25 * ring.length), name="peg"))
    scene.add(sn.Obstacle(sn.Box((1.2, 0.1, 0.12), sn.Pose((0.5, 0.3, 1.35))), name="board"))
    scene.settle()
    return scene, made


def cuts(scene: sn.Scene) -> int:
    return sum(event.kind == "cut" for event in scene.events)


def test_a_click_and_a_stroke_cut_and_are_undone(show: Show, look: Look) -> None:
    scene, (upper, lower, hidden, ring) = ropes()
    view = show(ScenePlay(scene, title="Scissors", camera=CAMERA))
    window, truth = look(view), Truth(view)
    window.press("Pause")
    wait_until(lambda: truth.status("paused") == 1.0)
    whole = len(scene.bodies)
    keys, mouse = window.page.keyboard, window.page.mouse

    keys.press("x")
    window.page.locator("#scissors[aria-pressed=true]").wait_for()
    mouse.click(*window.pixel(upper.at(0.25).position))
    wait_until(lambda: len(scene.bodies) == whole + 1)
    assert upper.length == pytest.approx(0.25, abs=0.5 / SPANS)
    window.page.get_by_text("upper was cut").first.wait_for()

    # A stroke down through the rest of the upper rope and the lower one; a board hides what is between them.
    wait_until(lambda: len(window.tell("sennit.page.header.cuttable")) == 5)
    x, y = window.pixel((0.7, 0.0, 1.6))
    mouse.move(x, y)
    mouse.down()
    mouse.move(*window.pixel((0.7, 0.0, 1.1)), steps=7)
    wait_until(lambda: not window.tell("document.getElementById('over').hidden"))  # where it goes is seen
    assert len(scene.bodies) == whole + 1  # nothing is cut before it ends
    mouse.up()
    wait_until(lambda: len(scene.bodies) == whole + 3)
    assert lower.length == pytest.approx(0.7, abs=0.5 / SPANS) and hidden.length == pytest.approx(1.0)
    assert truth.status("holding") == 0.0

    # Two places of a ring: one opens it, the other makes two pieces.
    wait_until(lambda: len(window.tell("sennit.page.header.cuttable")) == 7)
    mouse.move(*window.pixel((0.2, -0.2, 0.82)))
    mouse.down()
    mouse.move(*window.pixel((0.8, -0.2, 0.82)), steps=9)
    mouse.up()
    wait_until(lambda: len(scene.bodies) == whole + 4)
    assert not ring.closed

    # What was cut falls apart.
    window.press("Run")
    wait_until(lambda: truth.tip("lower")[2] < 1.0)
    window.press("Pause")
    for left in (whole + 3, whole + 1, whole):
        keys.press("z")
        wait_until(lambda left=left: len(scene.bodies) == left)  # type: ignore[misc]
    assert ring.closed and upper.length == pytest.approx(1.0) and lower.length == pytest.approx(1.0)
    wait_until(lambda: truth.part("lower").centres[:, 2].min() > 1.1)
    assert not window.errors


def test_what_can_not_be_cut_is_said(show: Show, look: Look) -> None:
    scene, (upper, *_) = ropes()
    box = scene.add(sn.RigidBody.box((0.1, 0.1, 0.1), mass=1.0, position=(0.1, -0.4, 0.8), name="crate"))
    scene.add(sn.Clamp(box.at()))
    view = show(ScenePlay(scene, title="Scissors", camera=CAMERA))
    window, truth = look(view), Truth(view)
    window.press("Pause")
    wait_until(lambda: truth.status("paused") == 1.0)
    whole = len(scene.bodies)
    window.press("Scissors")
    window.page.mouse.click(*window.pixel(upper.at(0.01).position))
    window.page.get_by_text("upper was not cut: s must be from").first.wait_for()
    window.page.mouse.click(*window.pixel(box.position))
    window.page.get_by_text("crate can't be cut: scissors cut rods").first.wait_for()
    assert len(scene.bodies) == whole and cuts(scene) == 0
    assert window.page.get_by_role("button", name="Undo").is_disabled()
    window.page.keyboard.press("Escape")  # put away: it is the hand again
    window.page.locator("#scissors[aria-pressed=false]").wait_for()
    window.hold(upper.at(0.5).position, (0, -20))
    wait_until(lambda: truth.status("holding") == 1.0)
    window.let_go()
    assert not window.errors


def test_a_finger_cuts_and_two_fingers_do_not(show: Show, look: Look) -> None:
    scene, (_, lower, *_) = ropes()
    view = show(ScenePlay(scene, title="Scissors", camera=CAMERA))
    window, truth = look(view, 390, 844, has_touch=True, is_mobile=True), Truth(view)
    devtools = window.page.context.new_cdp_session(window.page)
    whole = len(scene.bodies)

    def touch(kind: str, *places: tuple[float, float]) -> None:
        points: list[dict[str, Any]] = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def stroked(*more: tuple[float, float]) -> None:
        x, y = window.pixel((0.5, 0.0, 1.3))
        touch("touchStart", (x, y))
        for k in range(1, 9):
            touch("touchMove", (x, y + 5 * k))
        if more:
            touch("touchStart", (x, y + 40), *more)
            touch("touchMove", (x, y + 50), *more)
        touch("touchEnd")

    window.press("Scissors")
    distance = window.tell("sennit.camera.distance")
    stroked((100.0, 700.0))
    wait_until(lambda: window.tell("sennit.camera.distance") != distance)
    assert len(scene.bodies) == whole
    window.press("Fit view")
    stroked()
    wait_until(lambda: len(scene.bodies) == whole + 1)
    assert lower.length == pytest.approx(0.5, abs=0.5 / SPANS)
    assert truth.status("holding") == 0.0 and not window.errors


def test_where_there_is_no_rod_there_are_no_scissors(show: Show, look: Look) -> None:
    scene = sn.Scene()
    scene.add(sn.RigidBody.sphere(0.1, mass=1.0))
    window = look(show(scene))
    assert not window.page.locator("#scissors").is_visible()
    window.page.keyboard.press("x")
    window.page.get_by_text("There is nothing here that scissors cut").first.wait_for()
    assert window.canvas.is_visible() and not window.errors
