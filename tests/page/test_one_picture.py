"""Each picture that a browser draws is of one moment: what moves by its pose and what moves by its vertices agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from references.windows import Window, wait_until

import sennit as sn
from sennit.live.scene_play import ScenePlay
from sennit.view import View

pytestmark = pytest.mark.slow

SPEED = 0.02  # m/s: where things are tells the time
BOXES = 80
SIDE = 0.03  # m, of a box

STAMPS = """(() => {
  const d = sennit.drawing, gl = d.gl, plain = d.draw.bind(d), frame = gl.createFramebuffer();
  const [perPart, perStation, row] = sennit.texels;
  gl.getExtension("EXT_color_buffer_float");
  const texels = (texture, count) => {
    const rows = Math.ceil(count / row), read = new Float32Array(4 * row * rows);
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    gl.readPixels(0, 0, row, rows, gl.RGBA, gl.FLOAT, read);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return read;
  };
  const boxes = d.parts.filter((p) => p.kind === "solid"), rod = d.parts.find((p) => p.kind === "tube");
  window.stamps = [];
  d.draw = (look) => {
    plain(look);
    const parts = texels(d.partTexture, perPart * d.parts.length);
    const stations = texels(d.stationTexture, perStation * rod.count);
    const x = boxes.map((p) => parts[4 * perPart * p.number]);
    const mean = (v) => v.reduce((sum, value) => sum + value, 0) / v.length;
    const bent = mean(Array.from({ length: rod.count }, (_, i) => stations[4 * perStation * (rod.first + i)]));
    window.stamps.push([Math.min(...x), Math.max(...x), bent, sennit.page.status.time]);
  };
  return boxes.length;
})()"""
"""Reads the stamps back from the textures that the graphics library has drawn from: least and largest place of the
boxes, mean of the rod's stations; and the time that the page shows beside the picture.
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


def test_all_that_is_drawn_is_of_the_same_moment(show: Callable[..., View], look: Callable[..., Window]) -> None:
    window = look(show(marching()))
    assert window.tell(STAMPS) == BOXES
    wait_until(lambda: window.tell("new Set(stamps.map((stamp) => stamp[2])).size") > 8)
    stamps = np.array(window.tell("stamps"))
    times = np.column_stack((stamps[:, :3] / SPEED, stamps[:, 3]))
    assert np.ptp(times[:, 2]) > 0.05  # time went on meanwhile
    tear = np.ptp(times, axis=1)
    np.testing.assert_array_less(tear, 1e-3)  # a fifth of a step; single precision is finer
    assert not window.errors


def test_no_picture_waits_for_another(show: Callable[..., View], look: Callable[..., Window]) -> None:
    """However slow a browser is, what it draws was the newest frame when it began to draw."""
    window = look(show(marching()))
    slow = "sennit.drawing.draw = (d => look => { const end = performance.now() + 300; d.call(sennit.drawing, look); "
    window.tell("void (" + slow + "while (performance.now() < end); })(sennit.drawing.draw))")
    window.tell("sennit.pictures.length = 0")
    wait_until(lambda: window.tell("sennit.pictures.length") > 8)
    pictures = window.tell("sennit.pictures.slice(2)")
    waited = [picture["age"] - 1e-3 * picture["took"] for picture in pictures]
    assert np.median(waited) < 0.15  # s: not one of the pictures before, which takes 0.3
    assert min(picture["took"] for picture in pictures) >= 300.0
