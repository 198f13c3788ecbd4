"""The page in a real browser: what a person does with the mouse reaches the simulation, and what it does is seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from references.windows import Truth, Window, wait_until

import sennit as sn
from sennit.live.scene_play import ScenePlay
from sennit.view import View

LENGTH = 1.0  # m, of the rope
CAMERA = ((0.4, -2.6, 1.1), (0.4, 0.0, 1.1))

pytestmark = pytest.mark.slow

Show = Callable[..., View]
Look = Callable[..., Window]


def rope_play() -> ScenePlay:
    """A soft rod, clamped at one end, at rest; a slider pulls its tip sideways."""
    scene = sn.Scene(drag=3.0)
    material = sn.Material(2e6, 0.49, 1000.0)
    rope = scene.add(
        sn.Rod.straight(
            (0, 0, 1.6), (LENGTH, 0, 1.6), section=sn.Section.circle(0.012), material=material, control_points=16,
            name="rope",
        )
    )  # fmt: skip
    scene.add(sn.Clamp(rope.at(0.0), name="wall"))
    load = scene.add(sn.Load(rope.at(LENGTH), force=(0, 0, 0)))

    def pull(force: float) -> None:
        load.force = (force, 0.0, 0.0)

    scene.control("pull", pull, 0.0, range=(0.0, 4.0), unit="N")
    scene.watch("height", lambda: float(rope.centerline(2)[-1, 2]), "m")
    scene.settle()
    return ScenePlay(scene, title="A rope", camera=CAMERA)


@pytest.fixture
def rope(show: Show) -> View:
    """The rope's page."""
    return show(rope_play())


def test_all_that_is_loaded_comes_from_this_machine(rope: View, look: Look) -> None:
    window = look(rope)
    assert window.page.title() == "A rope"
    assert window.requests and not window.refused and not window.errors


def test_things_are_drawn_where_they_are(rope: View, look: Look) -> None:
    """By the geometry of a camera that sees 40° up and down, and by the colours of what is seen there."""
    window, truth = look(rope), Truth(rope)
    window.press("Pause")
    insets = window.tell("sennit.camera.insets")
    eye, target = (np.asarray(x) for x in CAMERA)
    box = window.canvas.bounding_box()
    free = (box["width"] - insets["left"] - insets["right"], box["height"] - insets["top"] - insets["bottom"])
    tall, narrow = box["height"] / free[1], 1.6 / (free[0] / free[1])
    near = np.linalg.norm(eye - target) * tall * max(1.0, 0.5 * narrow)
    distance = window.tell("sennit.camera.distance")
    assert narrow > 1.2 and near <= distance <= 2.6 * near  # in so narrow a window from further away
    eye = target + (eye - target) / np.linalg.norm(eye - target) * distance
    ahead = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    focal = 0.5 * box["height"] / np.tan(np.radians(20.0))
    centre = np.array((insets["left"] + 0.5 * free[0], insets["top"] + 0.5 * free[1]))
    image = window.image(still=True)
    ends = np.array([window.pixel(place) for place in truth.part("rope").centres])[:, 0]
    assert 0.0 < ends.min() and ends.max() < insets["left"] + free[0]  # all of the rope is seen
    for place in truth.part("rope").centres[3:-3:4]:
        away = place - eye
        where = centre + focal / (away @ ahead) * np.array((away @ right, -away @ np.cross(right, ahead)))
        np.testing.assert_allclose(window.pixel(place), where, atol=0.5)
        x, y = np.round(where).astype(int)
        there, above = image[y - 72 : y - 67, x - 2 : x + 3], image[y - 70 - 25, x]
        assert np.abs(there - above).max() > 60.0  # the rope before the sky


def test_a_rope_follows_the_mouse_and_springs_back(rope: View, look: Look) -> None:
    window, truth = look(rope), Truth(rope)
    begin = truth.tip("rope")
    metres = window.metres_per_pixel(begin)
    window.hold(begin, (20, -20), (110, -90))
    wanted = begin + np.array((110 * metres, 0.0, 90 * metres))
    wait_until(lambda: np.linalg.norm(truth.tip("rope") - wanted) < 0.05 * LENGTH)
    assert truth.status("holding") == 1.0
    assert np.linalg.norm(wanted - begin) > 0.3 * LENGTH  # or nothing would have been shown
    time.sleep(0.5)  # it stays there
    assert np.linalg.norm(truth.tip("rope") - wanted) < 0.05 * LENGTH
    window.let_go()
    wait_until(lambda: truth.status("holding") == 0.0)
    wait_until(lambda: np.linalg.norm(truth.tip("rope") - begin) < 0.02 * LENGTH)
    assert not window.errors


def test_a_slider_changes_the_physics(rope: View, look: Look) -> None:
    window, truth = look(rope), Truth(rope)
    begin = truth.tip("rope")
    entry = window.page.locator("input[inputmode=decimal]:visible").first
    entry.fill("3")
    entry.press("Enter")
    wait_until(lambda: rope.host.play.controls[0].value == 3.0)
    wait_until(lambda: truth.tip("rope")[0] > begin[0] + 0.2 * LENGTH)


def test_pause_step_and_reset(rope: View, look: Look) -> None:
    window, truth = look(rope), Truth(rope)
    window.press("Pause")
    wait_until(lambda: truth.status("paused") == 1.0)
    stopped = truth.status("time")
    window.press("Step")
    wait_until(lambda: truth.status("time") > stopped)
    assert truth.status("time") == pytest.approx(stopped + rope.host.play.dt)
    window.press("Reset")
    wait_until(lambda: truth.status("time") < stopped)
    window.press("Run")
    now = truth.status("time")
    wait_until(lambda: truth.status("paused") == 0.0 and truth.status("time") > now)


def test_a_right_click_pins_and_releases(rope: View, look: Look) -> None:
    window, truth = look(rope), Truth(rope)
    middle = truth.part("rope").centres[truth.part("rope").centres.shape[0] // 2].copy()
    window.page.mouse.click(*window.point_at(middle), button="right")
    wait_until(lambda: any(tie.name == "pin 1" for tie in rope.host.play.ties))
    window.page.mouse.click(*window.point_at(middle), button="right")
    wait_until(lambda: not any(tie.name == "pin 1" for tie in rope.host.play.ties))


def test_a_constraint_is_switched_off_and_removed_in_the_panel(rope: View, look: Look) -> None:
    window, truth = look(rope), Truth(rope)
    height = truth.part("rope").centres[0, 2]
    window.unfold("Constraints")
    window.switch("wall")
    wait_until(lambda: truth.part("rope").centres[0, 2] < height - 0.1)
    window.press("Reset")
    wait_until(lambda: rope.host.play.ties[0].enabled)
    window.press("Remove wall")
    wait_until(lambda: len(rope.host.play.ties) == 0)


def test_a_second_window_sees_the_same_and_can_not_take_the_hand(rope: View, look: Look) -> None:
    first, truth = look(rope), Truth(rope)
    second = look(rope)
    assert rope.viewers == 2
    first.press("Pause")
    wait_until(lambda: truth.status("paused") == 1.0)
    second.page.get_by_role("button", name="Run", exact=True).wait_for()
    for window in (first, second):
        window.point_at(truth.tip("rope"))  # it is drawn there
    assert np.abs(first.image(still=True) - second.image(still=True)).mean() < 1.0
    first.press("Run")
    tip = truth.tip("rope")
    first.hold(tip, (20, -30))
    wait_until(lambda: truth.status("holding") == 1.0)
    held = truth.status("time")
    wait_until(lambda: truth.status("time") > held + 2.0)  # by then it has come to rest where the first window wants it
    second.hold(truth.tip("rope"), (20, -30))
    second.page.get_by_text("Another window holds the hand").first.wait_for()
    second.let_go()
    now = truth.status("time")
    wait_until(lambda: truth.status("time") > now + 0.3)  # a wrong release would be seen by then
    assert truth.status("holding") == 1.0
    first.close()  # a window that goes lets go
    wait_until(lambda: truth.status("holding") == 0.0)


def test_closing_the_browser_leaves_the_simulation_running(rope: View, look: Look) -> None:
    window, truth = look(rope), Truth(rope)
    window.close()
    wait_until(lambda: rope.viewers == 0)
    now = truth.status("time")
    wait_until(lambda: truth.status("time") > now + 0.2)
    assert rope.running


def test_colours_of_a_field_have_a_legend(rope: View, look: Look) -> None:
    window = look(rope)
    window.press("Pause")
    plain = window.image(still=True)
    window.unfold("Look")
    window.choose("colour by", "curvature")
    window.page.locator("#legend").get_by_text("1/m").wait_for()
    wait_until(lambda: np.abs(window.image() - plain).max() > 60.0)


def test_a_quiet_badge_says_what_is_done_to_steps(rope: View, look: Look) -> None:
    window, truth = look(rope), Truth(rope)
    badge = window.page.locator(".sennit-spell")
    assert not badge.is_visible()
    scene = rope.host.play.scene  # type: ignore[attr-defined]
    # In one look, and told again if need be: on a busy machine it may be gone before the browser has drawn it.
    seen = (
        "(() => { const e = document.querySelector('.sennit-spell'); return !e.hidden && [e.innerText, e.title]; })()"
    )
    found: Any = None

    def shows() -> Any:
        nonlocal found
        scene._events.append(sn.Event(scene.time, "divided", (), "the rope was too fast"))
        found = window.tell(seen)
        return found

    wait_until(shows)
    text, title = found
    assert text.split()[0] == "DIVIDED" and text.split()[2].startswith("step")
    assert title == "the rope was too fast"
    assert window.page.get_by_text("the rope was too fast").count() == 0  # it interrupts nobody
    began = truth.status("time")
    wait_until(lambda: truth.status("time") > began + 2.5)
    badge.wait_for(state="hidden")
    assert not window.errors


def test_what_failed_is_said_beside_the_last_good_picture(show: Show, look: Look) -> None:
    play = rope_play()
    fails: list[bool] = []

    def before(dt: float) -> None:
        if fails:
            raise sn.SolveError(sn.SolveReport("failed", 1, 1.0, "step", 3, "<b>no</b> solution"))

    shown = show(ScenePlay(play.scene, before_step=before, title="A rope", camera=CAMERA))
    window, truth = look(shown), Truth(shown)
    fails.append(True)
    failure = window.page.locator(".sennit-failure")
    failure.wait_for()
    assert failure.inner_text() == "Failed: <b>no</b> solution"
    window.page.locator("#notes .error").first.wait_for()
    window.point_at(truth.tip("rope"))  # it is still drawn there
    window.page.reload()  # who comes later is told, too
    failure.wait_for()
    fails.clear()
    window.press("Run")
    failure.wait_for(state="hidden")
    assert not window.errors


def test_a_menu_a_text_and_a_score(show: Show, look: Look) -> None:
    """A person chooses a scenario, types a name, and reads the score in large letters."""
    scene = sn.Scene(gravity=(0, 0, 0))
    ball = scene.add(sn.RigidBody.sphere(0.1, mass=1.0, name="ball"))
    scene.scenario("at rest", scene.snapshot())
    scene.scenario("thrown", lambda: setattr(ball, "velocity", (0.2, 0, 0)))
    named = scene.control("your name", lambda text: None, "nobody")
    scene.show("score", lambda: f"{named.value}: {ball.position[0]:.1f} m")
    view = show(ScenePlay(scene, title="A game", camera=CAMERA))
    window = look(view)
    board = window.page.locator(".sennit-board")
    wait_until(lambda: "nobody: 0.0 m" in (board.text_content() or ""))
    window.page.get_by_label("your name", exact=True).fill("Ada")
    window.page.keyboard.press("Enter")
    wait_until(lambda: named.value == "Ada")
    window.choose("scenario", "thrown")
    wait_until(lambda: ball.position[0] > 0.1)
    wait_until(lambda: "Ada: " in (board.text_content() or "") and "Ada: 0.0 m" not in (board.text_content() or ""))
    assert not window.errors


def test_gravity_time_scale_and_plots_are_chosen_in_the_panel(rope: View, look: Look) -> None:
    window, truth = look(rope), Truth(rope)
    page, begin = window.page, truth.tip("rope")
    window.unfold("Gravity")
    page.get_by_label("gravity along z", exact=True).fill("3")
    page.keyboard.press("Enter")
    wait_until(lambda: rope.host.play.gravity[2] == 3.0)  # type: ignore[index]
    wait_until(lambda: truth.tip("rope")[2] > begin[2] + 0.1 * LENGTH)  # it rises
    window.choose("time scale", "0.1×")
    wait_until(lambda: truth.status("speed") == 0.1)
    wait_until(lambda: truth.status("pace") < 0.15)
    assert page.locator("figure").count() == 1  # of the watch that the scene declares
    window.unfold("choose")
    window.switch("total energy (J)")
    page.locator("figcaption", has_text="total energy").wait_for()
    number = page.locator("figcaption", has_text="total energy").locator("b")
    wait_until(lambda: number.inner_text() not in ("", "–"))
    window.switch("total energy (J)")
    page.locator("figcaption", has_text="total energy").wait_for(state="hidden")
    assert not window.errors
