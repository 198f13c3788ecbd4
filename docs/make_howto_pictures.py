"""Makes the pictures of the how-tos anew: ``uv run python docs/make_howto_pictures.py``, or with names for some.

Each runs the programs of its own page, so that it shows what the page tells.
"""

from __future__ import annotations

import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from make_stills import last_frame
from make_zone_figures import FLESH, skin, stage
from matplotlib import pyplot as plt
from PIL import Image

import sennit as sn
from sennit.export.film import Painter
from sennit.export.painting import Facets
from sennit.export.recording import record_frames
from sennit.export.solids import ball, bar, ramp, tube

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "howto"
WIDE = (900, 560)
RAISED = np.array((0.0, 0.0, 0.075))  # m: of the finger above the ground


@contextmanager
def in_a_folder() -> Iterator[Path]:
    """Work where programs may leave their files, and find modules there."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
        try:
            yield Path(folder)
        finally:
            sys.path.remove(folder)
            os.chdir(home)


def names_of(page: str, blocks: int | None = None) -> dict[str, Any]:
    """The names that the first `blocks` programs of a page (all, if None) leave behind."""
    text = (DOCS / page).read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "pictures"}
    with in_a_folder() as folder:
        for source in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)[:blocks]:
            named = re.match(r"# (\w+\.py)\n", source)
            if named:
                (folder / named[1]).write_text(source, encoding="utf-8")
            else:
                exec(compile(source, page, "exec"), names)
    return names


def write(picture: Image.Image, name: str) -> None:
    """Save a picture with as few colours as it needs."""
    path = IMAGES / f"{name}.png"
    picture.convert("RGB").quantize(220, kmeans=1).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def paint(scene: sn.Scene, name: str, field: str | None = None, **options: Any) -> None:
    """Paint a scene as it is."""
    recording = last_frame(record_frames(scene, options.pop("seconds", 1e-3), dt=1e-3, fps=1000, **options))
    write(Painter(recording, WIDE, field=field, captions=False).picture(0), name)


def plotted(figure: Any, name: str) -> None:
    """Save a diagram."""
    figure.savefig(IMAGES / f"{name}.png", dpi=110)
    plt.close(figure)
    with Image.open(IMAGES / f"{name}.png") as picture:
        write(picture, name)


def panels(count: int, width: float = 4.4) -> tuple[Any, Any]:
    """A figure with `count` axes in a row."""
    figure, axes = plt.subplots(1, count, figsize=(width * count, 3.4), layout="constrained", squeeze=False)
    for each in axes[0]:
        each.grid(alpha=0.3)
    return figure, axes[0]


def make_start() -> None:
    """The rope at rest with its load, from the front."""
    scene = names_of("start.md", 2)["scene"]
    recording = record_frames(scene, 1e-3, dt=1e-3, fps=1000)
    camera = np.array((0.4, -0.85, 0.9)), np.array((0.4, 0.0, 0.82))
    write(Painter(last_frame(recording, camera), WIDE, field="tension", captions=False).picture(0), "start")


def make_harness() -> None:
    """The harness at rest, and its study of slack."""
    names = names_of("howto/harness.md", 4)
    scene, _, _ = names["harness"](0.010)
    scene.settle()
    paint(scene, "harness", "curvature")
    figure, (axes,) = panels(1, 6.4)
    slacks = np.linspace(0.0, 0.04, 21)
    rows = []
    for slack in slacks:
        scene, cables, _ = names["harness"](slack)
        scene.settle()
        rows.append([1e3 * cable.minimum_bend_radius for cable in cables.values()])
    for k, (name, (_, allowed, _)) in enumerate(names["CABLES"].items()):
        (line,) = axes.plot(1e3 * slacks, np.array(rows)[:, k], label=name)
        axes.axhline(1e3 * allowed, color=line.get_color(), linestyle=":")
    axes.set(xlabel="slack (mm)", ylabel="smallest bend radius (mm)", ylim=(40, 140))
    axes.legend()
    plotted(figure, "harness_study")


def make_crane() -> None:
    """The crane while it slews, and what its lesson showed."""
    names = names_of("howto/crane.md", 3)
    rows = np.concatenate([names[part] for part in ("lift", "turn", "wait", "down")])
    figure, (left, right) = panels(2)
    left.plot(rows[:, 0], rows[:, 1])
    left.set(xlabel="time (s)", ylabel="sway along the arc (m)")
    right.plot(rows[:, 0], rows[:, 2] / 1e3, color="tab:orange")
    right.set(xlabel="time (s)", ylabel="tension (kN)", ylim=(0, None))
    for axes in (left, right):
        for at, text in ((0, "lift"), (6, "slew"), (16, "wait"), (36, "lower")):
            axes.axvline(at, color="0.7", linewidth=0.8)
            axes.annotate(text, (at, 1.01), (3, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
                          color="0.4", fontsize=9)  # fmt: skip
    plotted(figure, "crane_sway")

    names = names_of("howto/crane.md", 2)
    names["wanted"].update(slew=0.15)
    before = names["before_step"]
    recording = record_frames(names["scene"], 3.6, dt=1 / 60, fps=10, before_step=before)
    write(Painter(last_frame(recording), WIDE, captions=False).picture(0), "crane")


def make_tentacle() -> None:
    """Shapes of the arm side by side, and where its tip goes."""
    names = names_of("howto/tentacle.md", 1)
    parts, least, most = [], math.inf, -math.inf
    for k, drawn in enumerate((0.0, 0.01, 0.02, 0.03, 0.04)):
        scene, rod, tendons = names["arm"]((0, 0, -9.81))
        for part in np.linspace(0, 1, 5)[1:]:
            names["draw"](tendons, (part * drawn, -part * drawn, -part * drawn))
            scene.settle()
        line = rod.centerline(81)
        sideways = np.linalg.norm(line[:, :2], axis=1)
        flat = np.column_stack((sideways + 0.24 * k, 0 * sideways, line[:, 2] + 0.36))
        bend = np.linalg.norm(rod.curvatures(81)[:, :2], axis=1)
        parts.append(tube(flat, 0.008, ramp(bend, 0.0, 12.0), sides=14))
        for at in range(8, 81, 8):
            along = (flat[at] - flat[at - 1]) / np.linalg.norm(flat[at] - flat[at - 1])
            parts.append(bar(flat[at] - 1.5e-3 * along, flat[at] + 1.5e-3 * along, 0.0144, (88, 92, 100), sides=16))
        least, most = min(least, flat[:, 0].min()), max(most, flat[:, 0].max())
    middle = (least + most) / 2
    view = stage((middle, -2.4, 0.62), (middle, 0.0, 0.21), (900, 400), most - least + 0.16)
    write(view.frame(Facets.joined(parts)), "tentacle")

    names = names_of("howto/tentacle.md", 3)
    tips, pulls = 1e3 * names["tips"], names["pulls"].max(axis=1)
    figure, (left, right) = panels(2, 4.2)
    left.scatter(tips[:, 0], tips[:, 2], c=pulls, s=22)
    left.set(xlabel="x (mm)", ylabel="z (mm)", aspect="equal", title="from the side")
    dots = right.scatter(tips[:, 0], tips[:, 1], c=pulls, s=22)
    right.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal", title="from above")
    figure.colorbar(dots, ax=(left, right), label="largest tension (N)", shrink=0.85)
    plotted(figure, "tentacle_workspace")

    figure, (axes,) = panels(1, 5.6)
    pulls = np.concatenate((np.linspace(0.05, 3, 24), np.linspace(2.9, 0.05, 24)))
    for friction in (0.0, 0.1, 0.3):
        scene, rod, tendons = names["arm"]((0, 0, 0), friction)
        for tendon in tendons[1:]:
            tendon.release()
        angles = []
        for pull in pulls:
            tendons[0].pull = pull
            scene.settle()
            angles.append(math.degrees(math.acos(-rod.at(rod.length).frame[2, 2])))
        axes.plot(pulls, angles, label=f"friction {friction:g}")
    axes.set(xlabel="pull (N)", ylabel="angle of the tip (°)", xlim=(0, None), ylim=(0, None))
    axes.legend()
    plotted(figure, "tentacle_hysteresis")


def make_finger() -> None:
    """The finger on its ball, and how it slips."""
    names = names_of("howto/finger.md", 3)
    pressed, mesh = names["pressed"], names["mesh"]
    parts = []
    inner = np.abs(np.asarray(mesh.triangles_center)[:, 0]) > 0.4999 * names["LENGTH"]
    for k, (places, u) in enumerate(zip(pressed.positions(), pressed.displacements, strict=True)):
        middle = np.asarray(mesh.triangles_center)[:, 0]
        seam = inner & ((middle < 0) if k == 2 else (middle > 0) if k == 0 else inner)
        parts.append(skin(places + RAISED, np.asarray(mesh.faces)[~seam], np.linalg.norm(u, axis=1), 2e-3, FLESH))
    shape = pressed.shape
    parts.append(ball(shape.centre + RAISED, shape.radius, (116, 138, 166), sides=28))
    view = stage((0.05, -0.36, 0.14), (0.026, 0.0, 0.052), WIDE, 0.112)
    write(view.frame(Facets.joined(parts)), "finger")

    slide, push, drag = np.array(names["steps"]).T
    figure, (axes,) = panels(1, 6.0)
    axes.plot(1e3 * slide, drag / push, "o-")
    axes.axhline(names["FRICTION"], color="k", linestyle=":", label="coefficient of friction")
    axes.set(xlabel="ball drawn by (mm)", ylabel="drag / push")
    axes.legend(loc="lower right")
    plotted(figure, "finger_slip")


def make_arm() -> None:
    """The arm at the end of its journey."""
    paint(names_of("howto/arm.md", 3)["scene"], "arm", seconds=0.0)


def make_suture() -> None:
    """The stitch drawn tight, and what the hand felt."""
    names = names_of("howto/suture.md", 3)
    mesh, thread, needle = names["block"], names["thread"], names["needle"]
    up = np.array((0.0, 0.0, names["SKIN"]))  # the pad stands on the ground
    u = names["pad"].state.displacements
    blue = (46, 74, 140)
    parts = [skin(mesh.vertices + u + up, np.asarray(mesh.faces), np.linalg.norm(u, axis=1), 5e-3, FLESH)]
    line = thread.centerline(481) + up
    inner = np.linspace(0.0, thread.length, 481) < names["stitch"].s
    line[inner, 2] += 6e-4  # what lies on the skin is drawn on it: the thread is drawn thicker than it is
    parts.append(tube(line, 3e-4, blue, sides=8))
    parts.append(ball(line[0], 8e-4, blue))
    ends = [needle.at((0, 0, at)).position + up for at in (-0.01, 0.01)]
    parts.append(bar(*ends, 6e-4, (96, 104, 114), sides=12, pieces=12))
    view = stage((0.05, -0.30, 0.15), (0.018, 0.0, 0.0405), (760, 640), 0.106)
    write(view.frame(Facets.joined(parts)), "suture")
    figure, (axes,) = panels(1, 6.4)
    axes.plot(np.arange(len(names["pull"])) / 1e3, names["pull"])
    axes.set(xlabel="time (s)", ylabel="force at the hand (N)")
    plotted(figure, "suture_force")


def side_by_side(shapes: list[tuple[Any, list[Any]]], gap: float, name: str, height: float) -> None:
    """Curves in the plane of x and z, each with its radius and colours, in a row from left to right."""
    parts, least, most = [], math.inf, -math.inf
    for k, (_, tubes) in enumerate(shapes):
        for line, radius, colour in tubes:
            flat = line + np.array((gap * k, 0.0, 0.0))
            parts.append(tube(flat, radius, colour, sides=14))
            least, most = min(least, flat[:, 0].min()), max(most, flat[:, 0].max())
    middle, wide = (least + most) / 2, 1.12 * (most - least)
    view = stage((middle, -2.4 * wide, height + 0.3 * wide), (middle, 0.0, height), (900, 400), wide)
    write(view.frame(Facets.joined(parts)), name)


def make_tubes() -> None:
    """The nest of the page, as its inner tubes come out, and as the innermost turns."""
    names = names_of("howto/tubes.md", 1)
    nest, scene = names["nest"], names["scene"]
    nest.advance(2, -0.05)
    nest.advance(1, -0.03)
    moves: list[Callable[[], None]] = [
        lambda: None, lambda: nest.advance(1, 0.03), lambda: nest.advance(2, 0.05), lambda: nest.turn(2, 3.1)
    ]  # fmt: skip
    looks = ((4e-3, (70, 90, 120)), (2.8e-3, (120, 150, 190)), (1.8e-3, (225, 140, 60)))
    shapes = []
    for move in moves:
        move()
        scene.settle()
        drawn = []
        for rod, (radius, colour) in zip(nest.tubes, looks, strict=True):
            line = rod.centerline(121)
            line = line[line[:, 2] >= 0.0]
            drawn.append((np.column_stack((-line[:, 1], line[:, 0], line[:, 2])), radius, colour))
        shapes.append((None, drawn))
    side_by_side(shapes, 0.17, "tubes", 0.1)


def make_pneumatic() -> None:
    """The arm under rising pressure, and with a weight at its tip."""
    names = names_of("howto/pneumatic.md", 1)
    shapes = []
    for weight in (0.0, 0.01):
        scene, rod, fill = names["arm"]((0, 0, -9.81) if weight else (0, 0, 0))
        if weight:
            scene.add(sn.Load(rod.at(rod.length), (0, 0, -9.81 * weight)))
        for pressure in (0.0, 20e3, 40e3, 60e3):
            for part in np.linspace(0, 1, 4)[1:]:
                fill((0, part * pressure, 0))
                scene.settle()
            line = rod.centerline(81)
            flat = np.column_stack((np.linalg.norm(line[:, :2], axis=1), 0 * line[:, 0], line[:, 2] + 0.2))
            bend = np.linalg.norm(rod.curvatures(81)[:, :2], axis=1)
            shapes.append((None, [(flat, 0.01, ramp(bend, 0.0, 14.0))]))
    side_by_side(shapes, 0.15, "pneumatic", 0.13)


def make_magnetic() -> None:
    """The rod in fields of eight directions; the angle of its tip over the field."""
    names = names_of("howto/magnetic.md", 2)
    length = names["LENGTH"]
    figure, (left, right) = panels(2)
    for angle in np.radians(np.arange(-157.5, 180, 45)):
        scene, rod, magnet = names["steered"]()
        for part in np.linspace(0, 1, 9)[1:]:
            way = part * angle
            magnet.feel(lambda x, way=way: 5e-3 * np.array((math.cos(way), math.sin(way), 0)))
            scene.settle()
        line = 1e3 * rod.centerline(81)
        (drawn,) = left.plot(line[:, 0], line[:, 1], linewidth=3)
        tip = line[-1, :2]
        left.annotate("", tip + 5 * np.array((math.cos(angle), math.sin(angle))), tip,
                      arrowprops={"arrowstyle": "->", "color": drawn.get_color()})  # fmt: skip
    left.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal", xlim=(-3, 27), ylim=(-23, 23))
    fields, angles = np.linspace(0.1, 20, 40), []
    scene, rod, magnet = names["steered"]()
    for field in fields:
        magnet.feel(lambda x, field=field: (0, 1e-3 * field, 0))
        scene.settle()
        tangent = rod.at(length).frame[:, 2]
        angles.append(math.degrees(math.atan2(tangent[1], tangent[0])))
    right.plot(fields, angles)
    some = fields[[2, 5, 9, 14, 20, 28, 39]]
    right.plot(some, [math.degrees(names["expected"](1e-3 * field)) for field in some], "o")
    right.set(xlabel="field (mT)", ylabel="angle of the tip (°)", ylim=(0, 90))
    plotted(figure, "magnetic")


def make_learning() -> None:
    """One episode under three policies."""
    from sennit.learning import CraneSwing, Environment

    figure, (left, right) = panels(2)
    policies = {
        "mark alone": lambda seen, time: 1.2 * seen[:, :1],
        "the script": CraneSwing.script,
        "at random": lambda seen, time: chance.uniform(-1, 1, (1, 1)),
    }
    for text, policy in policies.items():
        chance = np.random.default_rng(1)
        env = Environment(CraneSwing)
        seen, rows = env.reset(seed=3)[0], []
        for time in range(CraneSwing.LENGTH):
            seen = env.step(policy(seen[None], time)[0])[0]
            rows.append((env.task.batch.positions(env.task.load)[0, 0], env.task.place[0, 0]))
        times = (1 + np.arange(len(rows))) * CraneSwing.EVERY * CraneSwing.DT
        left.plot(times, np.array(rows)[:, 0], label=text)
        right.plot(times, np.array(rows)[:, 1])
    for axes, what in ((left, "load (m)"), (right, "hand (m)")):
        axes.axhline(env.task.mark[0, 0], color="k", linestyle=":")
        axes.set(xlabel="time (s)", ylabel=what, ylim=(-0.2, 0.6))
    left.legend()
    plotted(figure, "learning")


PICTURES: dict[str, Callable[[], None]] = {
    "start": make_start,
    "harness": make_harness,
    "crane": make_crane,
    "tentacle": make_tentacle,
    "tubes": make_tubes,
    "pneumatic": make_pneumatic,
    "magnetic": make_magnetic,
    "finger": make_finger,
    "suture": make_suture,
    "arm": make_arm,
    "learning": make_learning,
}


def main(names: list[str]) -> None:
    """Make the pictures with these `names`, or all."""
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        raise SystemExit(f"no picture is called {unknown[0]!r}: {', '.join(PICTURES)}")
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in names or PICTURES:
        PICTURES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
