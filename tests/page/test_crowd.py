"""A scene of ten thousand bodies in a real browser: it is seen, goes on, and one of them can be dragged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from references.windows import Truth, Window, wait_until

import sennit as sn
from sennit.live.scene_play import ScenePlay
from sennit.view import View

pytestmark = pytest.mark.slow

EDGE, EACH = 0.1, (25, 20, 20)
CAMERA = ((4.0, -12.0, 5.0), (2.5, 2.0, 2.0))


def test_ten_thousand_bodies(show: Callable[..., View], look: Callable[..., Window]) -> None:
    scene = sn.Scene(gravity=(0, 0, 0), drag=2.0)
    places = 0.2 * np.stack(np.meshgrid(*map(np.arange, EACH), indexing="ij"), axis=-1).reshape(-1, 3)
    boxes = [scene.add(sn.RigidBody.box((EDGE, EDGE, EDGE), mass=0.1, position=place)) for place in places]
    near = boxes[int(np.argmin(np.linalg.norm(places - (2.4, 0.0, 3.8), axis=1)))]
    near._name = "near"
    assert len(boxes) == 10_000
    play = ScenePlay(scene, title="A crowd", camera=CAMERA)
    assert len(play.portrait.cast.to_bytes()) < 4e6  # what never changes: one box, and names
    view = show(play)
    window, truth = look(view), Truth(view)
    assert window.tell("sennit.drawing.groups.map((group) => group.instances)") == [10_000]  # by one call
    now = truth.status("time")
    wait_until(lambda: truth.status("time") > now)
    window.press("Pause")
    begin = near.position
    x, y = window.point_at(np.add(begin, (0.0, -0.5 * EDGE, 0.0)))
    window.page.mouse.down()
    window.page.mouse.move(x + 20, y - 60, steps=4)
    wait_until(lambda: truth.status("holding") == 1.0)
    window.page.keyboard.press(" ")  # it goes up, and what it does not hold stays
    wait_until(lambda: near.position[2] > begin[2] + 0.1)
    window.page.mouse.up()
    wait_until(lambda: truth.status("holding") == 0.0)
    assert sum(np.linalg.norm(box.position - place) > 1e-9 for box, place in zip(boxes, places, strict=True)) == 1
    window.page.get_by_role("button", name="Undo").click()
    wait_until(lambda: np.linalg.norm(near.position - begin) < 1e-9)
    assert not window.errors
