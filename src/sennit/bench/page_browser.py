"""Pictures in a real browser: how many are drawn, how old what they show is, and whether each is of one moment.

Needs playwright and Chromium. The age of a picture is real time from when the page's process read the frame that it
shows to when the browser had finished drawing it. Tear is measured on boxes, which are drawn by their poses, and a rod,
drawn by its stations, that march side by side: where they were drawn, read back from the graphics library, tells the
time; tear is the largest difference between two of them in one picture.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from typing import Any

import numpy as np

import sennit as sn
from sennit.bench.table import Progress, Row, Seconds, Table
from sennit.demos import load
from sennit.live.scene_play import ScenePlay
from sennit.view import view

__all__ = ["BOXES", "SPEED", "STAMPS", "marching", "pictures"]

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
"""Reads back what the graphics library has drawn from: least and largest place of the boxes, mean of the rod's
stations; and the time that the page shows beside the picture.
"""
FLAGS = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--no-first-run"]
NAMES = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1400, "height": 900}
DEMOS = ("bridge", "crane", "suture", "finger")


def marching() -> ScenePlay:
    """Boxes, drawn by their poses, and a rod, drawn by its stations, side by side at x = speed · time."""
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


def pictures(progress: Progress, seconds: float = 8.0) -> Table:
    """Pages of demonstrations in a window of 1400 × 900 pixels; a row's times are those of a picture."""
    title = "Pictures that a browser draws"
    program = os.environ.get("SENNIT_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        program = None
    if program is None:
        table = Table(title, [], per="picture")
        table.notes.append("not measured: it needs playwright and Chromium")
        return table
    rows, tears = [], math.nan
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        cases: list[tuple[str, Any]] = [(name, load(name).play()) for name in DEMOS]
        for k, (name, play) in enumerate([*cases, ("march", marching())]):
            progress(f"{title}: {name}", k / (len(DEMOS) + 1))
            row, renderer, tear = _looked_at(browser, name, play, seconds)
            rows.append(row)
            tears = tear if math.isfinite(tear) else tears
        browser.close()
    progress(title, 1.0)
    table = Table(title, rows, per="picture")
    for row in rows[:-1]:
        table.aim(f"pictures a second, {row.name}", float(row.values["pictures/s"]), at_least=4.0)
        table.aim(f"age, {row.name}, ms", 1e3 * float(row.values["age"]), at_most=100.0)
    table.aim("tear, ms", 1e3 * tears, at_most=1.0)
    table.notes.append(f"drawn by {renderer}; no other was tried")
    table.notes.append("pixels: the share of the window's, in each direction, that pictures had while things moved")
    return table


def _looked_at(browser: Any, name: str, play: Any, seconds: float) -> tuple[Row, str, float]:
    with view(play, port=0, browser=False, block=False) as shown:
        page = browser.new_page(viewport=SIZE)
        page.goto(shown.url)
        _wait(lambda: page.evaluate("!!window.sennit && sennit.pictures.length > 5"))
        if name == "march":
            page.evaluate(STAMPS)
        time.sleep(0.5 * seconds)  # until the number of pixels is found
        page.evaluate("sennit.pictures.length = 0")
        begin, simulated = time.perf_counter(), play.time
        time.sleep(seconds)
        real, advanced = time.perf_counter() - begin, play.time - simulated
        drawn = page.evaluate("sennit.pictures.map((p) => [p.at, p.age, p.took])")
        sharpness = float(page.evaluate("sennit.drawing.sharpness"))
        stamps = np.array(page.evaluate("window.stamps || []"))
        renderer = str(page.evaluate(
            "(() => { const gl = sennit.drawing.gl, info = gl.getExtension('WEBGL_debug_renderer_info');"
            " return info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : 'an unnamed renderer'; })()"
        ))  # fmt: skip
        page.close()
    _, age, took = np.array(drawn).T if drawn else np.full((3, 1), math.nan)
    tear = math.nan
    if len(stamps):
        times = np.column_stack((stamps[:, :3] / SPEED, stamps[:, 3]))
        tear = float(np.ptp(times, axis=1).max())
    values = {
        "pictures/s": len(drawn) / real, "age": Seconds(np.median(age)), "age p95": Seconds(np.quantile(age, 0.95)),
        "tear": "" if math.isnan(tear) else Seconds(tear), "pixels": sharpness, "pace": advanced / real,
    }  # fmt: skip
    return Row.from_samples(name, [1e-3 * x for x in took.tolist()], values=values), renderer, tear


def _wait(true: Any, patience: float = 120.0) -> None:
    end = time.monotonic() + patience
    while not true():
        if time.monotonic() > end:
            raise RuntimeError("the browser drew nothing within two minutes")
        time.sleep(0.05)
