"""Draws ``docs/images/architecture.png``: one step of a scene, and the tables that each part of it reads and writes.

``uv run python docs/make_architecture_figure.py``. Rows and columns are those of ``docs/architecture.md``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.patches import FancyBboxPatch, Rectangle

IMAGES = Path(__file__).parent / "images"
INK, PALE, LINE, MADE = "#262c36", "#5b6470", "#c9ced6", "#8a93a0"
ROLES = {"P": ("#6b7380", "PLAN"), "A": ("#2f7d4f", "PARAMETER"), "S": ("#00728c", "STATE"), "W": ("#c44e14", "WORK")}
LAYERS = {"bodies": "#e3eef6", "constraints": "#e6f2e6", "solve": "#f6ecdf", "linalg": "#ece8f4"}
PYTHON, COMPILED = "#f3f5f8", "#fbf7ef"

TABLES = [
    ("bodies", "motion", "S"), ("bodies", "splines, discretes,\nrigids, sliders, zones", "PASW"),
    ("bodies", "points", "PAS"),
    ("bodies", "frames, trial_frames", "S"), ("bodies", "places", "W"), ("constraints", "rows", "PASW"),
    ("constraints", "loads", "PA"), ("constraints", "rigging", "PASW"), ("solve", "settings, step, scheme", "A"),
    ("solve", "trial, candidates", "W"), ("solve", "report", "W"), ("solve", "layout, blocks", "P"),
    ("solve", "matrix", "W"), ("linalg", "plan", "P"), ("linalg", "panel, bounded", "W"),
]  # fmt: skip
"""Layer, names in the scene's table, roles of their fields."""

# A letter for each table: r reads, w writes, b both, m makes it anew, . leaves it alone.
STEPS = [
    ("python", "Scene.step", "scene/scene.py", "..............."),
    ("python", "Contents._compiled", "solve/layout.py, solve/plan.py", "mmmmmmmmmmmmmmm"),
    ("python", "Stepper.step, advance", "solve/stepper.py, solve/schemes.py", ".....b.rw......"),
    ("compiled", "predict", "entries.py, cables.py; kinds.predict", "rbbbwb.brw....."),
    ("compiled", "assemble", "assemble.py; kinds, points, rows", "rbbbbbrbrb.rw.."),
    ("compiled", "factorise", "linalg/kernels/ldlt.py", "..........w.br."),
    ("compiled", "solve_rows", "active.py; linalg/kernels/panel.py", ".rr.rb.brbwrbrw"),
    ("compiled", "move", "advance.py; kinds.move", ".br..b.bbbw...."),
    ("compiled", "accept", "accept.py, tensions.py; kinds.accept", "bbbbwb.brrw...."),
    ("python", "Scene._after_solve", "scene/scene.py: events", ".r...r.b..r...."),
    ("reader", "snapshot, save, haptic loop", "scene/, storage/, haptics/", "rrrr.rrr......."),
    ("reader", "page, recording, plot", "portrait/, live/, export/", "rrrr.r.r......."),
]  # fmt: skip

LEFT, WIDTH, TOP, HEIGHT, HEAD = 3.2, 0.36, 0.0, 0.54, 2.34


def row_y(k: int) -> float:
    """Middle of a row: the readers stand apart."""
    return TOP - HEIGHT * (k + 0.5) - (0.2 if STEPS[k][0] == "reader" else 0.0)


def draw_columns(axes: Any, bottom: float) -> None:
    """The tables, layer by layer, with the roles of their fields."""
    first = 0
    for layer, colour in LAYERS.items():
        count = sum(table[0] == layer for table in TABLES)
        x = LEFT + WIDTH * first
        axes.add_patch(Rectangle((x, bottom), WIDTH * count, HEAD - bottom, color=colour, linewidth=0))
        axes.text(
            x + 0.5 * WIDTH * count, HEAD - 0.17, f"{layer}/", ha="center", va="center", fontsize=10, weight="bold"
        )
        first += count
    for k, (_, names, roles) in enumerate(TABLES):
        x = LEFT + WIDTH * (k + 0.5)
        axes.plot([x, x], [bottom, TOP], color="white", linewidth=1.2, zorder=1)
        axes.text(x, TOP + 0.42, names, rotation=90, ha="center", va="bottom", fontsize=9.6, linespacing=1.0)
        for i, role in enumerate(roles):
            colour, _ = ROLES[role]
            place = x + 0.088 * (i - 0.5 * (len(roles) - 1))
            axes.add_patch(Rectangle((place - 0.037, TOP + 0.18), 0.074, 0.15, color=colour, linewidth=0))


def draw_mark(axes: Any, x: float, y: float, what: str) -> None:
    """How a part of the step uses a table."""
    if what == "m":
        axes.plot(x, y, "s", markersize=5.5, markerfacecolor="none", markeredgecolor=MADE, markeredgewidth=1.1)
    elif what == "r":
        axes.plot(x, y, "o", markersize=7.0, markerfacecolor="white", markeredgecolor=INK, markeredgewidth=1.2)
    elif what in "wb":
        axes.plot(x, y, "o", markersize=7.0, color=INK, markeredgewidth=1.2, markeredgecolor=INK)
        if what == "b":
            axes.plot(x, y, "o", markersize=2.6, color="white")


def draw_steps(axes: Any, right: float) -> None:
    """The parts of a step, one below the other."""
    for k, (kind, name, files, marks) in enumerate(STEPS):
        y = row_y(k)
        fill = {"python": "#ffffff", "compiled": "#fff3dc", "reader": "#ffffff"}[kind]
        box = FancyBboxPatch(
            (0.42, y - 0.215), LEFT - 0.57, 0.43, boxstyle="round,pad=0,rounding_size=0.06", facecolor=fill,
            edgecolor=INK if kind != "reader" else PALE, linewidth=1.0, linestyle="-" if kind != "reader" else "--",
        )  # fmt: skip
        axes.add_patch(box)
        axes.text(0.52, y + 0.085, name, va="center", fontsize=10.4, weight="bold", color=INK)
        axes.text(0.52, y - 0.1, files, va="center", fontsize=8.8, color=PALE)
        axes.plot([LEFT - 0.13, right], [y, y], color=LINE, linewidth=0.6, zorder=1.5)
        for i, what in enumerate(marks):
            draw_mark(axes, LEFT + WIDTH * (i + 0.5), y, what)


def draw_bands(axes: Any, left: float, right: float) -> None:
    """What is Python and what is compiled."""
    bands = (
        ("Python", 0, 2, PYTHON), ("march: compiled", 3, 8, COMPILED), ("Python", 9, 9, PYTHON),
        ("besides", 10, 11, PYTHON),
    )  # fmt: skip
    for name, first, last, colour in bands:
        low, high = row_y(last) - 0.5 * HEIGHT, row_y(first) + 0.5 * HEIGHT
        axes.add_patch(Rectangle((left, low), LEFT - 0.03 - left, high - low, color=colour, linewidth=0, zorder=0))
        size = 8.8 if name != "Python" or last > first else 7.8
        axes.text(
            left + 0.1, 0.5 * (low + high), name, rotation=90, ha="center", va="center", fontsize=size, color=PALE
        )
        axes.plot([left, right], [low, low], color=LINE, linewidth=0.8, zorder=1.5)


def arrow(
    axes: Any, start: tuple[float, float], end: tuple[float, float], bend: float = 0.0, colour: str = INK
) -> None:
    """From one part of the step to another."""
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.1, "mutation_scale": 8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=style | {"connectionstyle": f"arc3,rad={bend}"}, zorder=4)


def draw_arrows(axes: Any) -> None:
    """The way of a step, and the ways back."""
    for k in range(9):
        arrow(axes, (1.9, row_y(k) - 0.215), (1.9, row_y(k + 1) + 0.215))
    back = "#b03a2e"
    x = 0.42
    # ways back run in lanes left of the boxes
    for lane, start, end, text in ((-0.28, 3, 2, "CROSSED"), (-0.62, 7, 2, "LOOK_AT_ROWS")):
        y0, y1 = row_y(start), row_y(end) + (0.07 if lane < -0.5 else -0.07)
        axes.plot([x, lane, lane], [y0, y0, y1], color=back, linewidth=1.1, zorder=4)
        arrow(axes, (lane, y1), (x, y1), colour=back)
        label = {"rotation": 90, "ha": "center", "va": "center", "fontsize": 8.4, "color": back}
        axes.text(lane - 0.07, 0.5 * (y0 + y1), text, **label)
    lane = -0.1
    axes.plot([x, lane, lane], [row_y(7) + 0.08, row_y(7) + 0.08, row_y(4)], color=INK, linewidth=1.1, zorder=4)
    arrow(axes, (lane, row_y(4)), (x, row_y(4)))
    middle = 0.5 * (row_y(4) + row_y(7))
    axes.text(lane - 0.07, middle, "Newton's turns", rotation=90, ha="center", va="center", fontsize=8.4, color=INK)


def draw_legend(axes: Any) -> None:
    """What there is to see, and what marks and colours mean."""
    axes.text(0.12, HEAD - 0.17, "one scene.step(dt)", fontsize=13, weight="bold", va="center", color=INK)
    text = (
        "Downwards: what is called, and where it\nstands. Across: the tables of the scene, by\n"
        "the layer that declares them, and the\nroles of their fields."
    )
    axes.text(0.12, HEAD - 0.36, text, fontsize=9.2, va="top", color=PALE, linespacing=1.3)
    for what, x, y, meaning in (
        ("r", 0.12, 1.0, "reads"), ("w", 0.85, 1.0, "writes"), ("b", 1.63, 1.0, "reads and writes"),
        ("m", 0.12, 0.76, "makes, if the scene has changed"),
    ):  # fmt: skip
        draw_mark(axes, x + 0.1, y, what)
        axes.text(x + 0.24, y, meaning, va="center", fontsize=9.0)
    for (colour, name), (x, y) in zip(
        ROLES.values(), ((0.12, 0.5), (1.2, 0.5), (0.12, 0.26), (1.2, 0.26)), strict=True
    ):
        axes.add_patch(Rectangle((x + 0.06, y - 0.075), 0.08, 0.15, color=colour, linewidth=0))
        axes.text(x + 0.24, y, name, va="center", fontsize=9.0)


def main() -> None:
    """Draw it."""
    plt.rcParams["font.family"] = "DejaVu Sans"
    right, bottom = LEFT + WIDTH * len(TABLES), row_y(len(STEPS) - 1) - 0.5 * HEIGHT
    left, low, high = -0.85, bottom - 0.06, HEAD + 0.04
    figure = plt.figure(figsize=(right + 0.05 - left, high - low), facecolor="white")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(left, right + 0.05), ylim=(low, high))
    axes.axis("off")
    draw_columns(axes, bottom)
    draw_bands(axes, 0.1, right)
    draw_steps(axes, right)
    draw_arrows(axes)
    draw_legend(axes)
    figure.savefig(IMAGES / "architecture.png", dpi=170, metadata={"Software": None})


if __name__ == "__main__":
    main()
