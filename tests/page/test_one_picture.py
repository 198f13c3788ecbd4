"""Each picture that a browser draws is of one moment: what moves by its pose and what moves by its vertices agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from references.windows import Window, wait_until

import sennit as sn
from sennit.live.scene_play import ScenePlay
from sennit.portrait.meshing import tube_stations
from sennit.portrait.parts import Tube
from sennit.view import View

pytestmark = pytest.mark.slow

SPEED = 0.02  # m/s: where things are tells the time
BOXES = 80  # two messages each: more than viser sends in one piece by itself
SIDE = 0.03  # m, of a box

STAMPS = """(() => {
  window.stamps = [];
  const tools = new EventTarget();
  window.__THREE_DEVTOOLS__ = tools;
  const placed = (node) => (node.position.y || !node.parent ? node.position : placed(node.parent));
  const read = (scene) => {
    let posed = [], bent = null, size = 0;
    scene.traverse((node) => {
      const places = node.geometry?.attributes?.position;
      if (!node.isMesh || !places) return;
      const x = Array.from({ length: places.count }, (_, k) => places.getX(k));
      if (places.count === CORNERS) {
        posed.push(placed(node).x);
        size = Math.max(...x) - Math.min(...x);
      }
      if (places.count === VERTICES) bent = x.reduce((sum, value) => sum + value, 0) / x.length;
    });
    if (posed.length === BOXES && bent !== null) {
      window.stamps.push([Math.min(...posed), Math.max(...posed), bent, size]);
    }
  };
  tools.addEventListener("observe", (event) => {
    const renderer = event.detail;
    if (typeof renderer.render !== "function") return;
    const plain = renderer.render;
    renderer.render = function (scene, ...more) {
      const answer = plain.call(this, scene, ...more);
      if (scene.isScene) read(scene);
      return answer;
    };
  });
})()"""
"""Reads the stamps from what three.js has just drawn: least and largest place of the boxes, mean of the rod's vertices,
and the size of a box. Boxes and rod are known by the numbers of their vertices.
"""


def marching() -> ScenePlay:
    """Boxes, drawn by their poses, and a rod, drawn by its vertices, side by side at x = speed · time."""
    scene = sn.Scene(gravity=(0, 0, 0))
    for k in range(BOXES):
        place = (0.0, 0.3 + 0.05 * (k % 10), 0.3 + 0.05 * (k // 10))
        scene.add(sn.RigidBody.box((SIDE,) * 3, mass=1.0, position=place)).velocity = (SPEED, 0.0, 0.0)
    rod = scene.add(
        sn.Rod.straight(
            (0, -0.5, 0.5), (0, 0.2, 0.5), section=sn.Section.circle(0.02), material=sn.Material(1e6, 0.4, 1000),
            control_points=8,
        )
    )  # fmt: skip
    rod.set_velocity((SPEED, 0.0, 0.0))
    return ScenePlay(scene, title="March", camera=((0.3, -2.0, 0.8), (0.3, 0.0, 0.5)))


def drawn_times(window: Window, pictures: int) -> Any:
    """Simulated times, s, that are drawn: by the hindmost and the foremost box and by the rod, one row a picture, of so
    many different pictures in succession.
    """
    window.page.evaluate("stamps.length = 0")
    wait_until(lambda: window.page.evaluate("new Set(stamps.map((stamp) => stamp[2])).size") > pictures)
    stamps = np.array(window.page.evaluate("stamps"))
    return stamps[:, :3] * (SIDE / SPEED / stamps[:, 3:])


def test_all_that_is_drawn_is_of_the_same_moment(show: Callable[..., View], look: Callable[..., Window]) -> None:
    play = marching()
    tube = next(part for part in play.portrait.cast.parts if isinstance(part, Tube))
    script = STAMPS
    for name, count in (("CORNERS", 8), ("VERTICES", len(tube_stations(tube, 10))), ("BOXES", BOXES)):
        script = script.replace(name, str(count))
    window = look(show(play), init=script)
    drawn_times(window, 1)  # a page that opens late draws the rod where it began, until its first frame has come
    times = drawn_times(window, 6)
    assert np.ptp(times[:, 2]) > 0.05  # time went on meanwhile
    tear = np.ptp(times, axis=1)
    np.testing.assert_array_less(tear, 1e-3)  # a fifth of a step; single precision is finer
    assert not window.errors
