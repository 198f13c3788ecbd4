"""One picture of all runs: error against wall time, a panel for each task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peers.results import Result
from peers.tasks import ERROR_BOUND, NAMES, TITLES
from sennit.export.files import replacing

__all__ = ["draw", "write_picture"]

_COLOURS = ("#0b6e4f", "#d1495b", "#2e5eaa", "#e6a117", "#7b4b94", "#5c677d")
_MARKS = ("o", "s", "^", "D", "v", "P")
_FLOOR = 1e-8
"""Errors below are drawn here: the references are no better."""


def front(rows: Sequence[Result]) -> list[Result]:
    """The rows that no other of them beats in both time and error, by time; of those on the floor, the fastest."""
    best: list[Result] = []
    for row in sorted(rows, key=lambda r: (r.wall, r.error)):
        if not best or max(row.error, _FLOOR) < best[-1].error:
            best.append(row)
    return best


def draw(results: Sequence[Result], tools: Sequence[str]) -> Any:
    """The figure; `tools` in the order of the legend, sennit first."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    figure = Figure(figsize=(11.0, 7.0), layout="constrained")
    panels = figure.subplots(2, 3)
    styles = {tool: (_COLOURS[i % 6], _MARKS[i % 6]) for i, tool in enumerate(tools)}
    for panel, task in zip(panels.flat, NAMES, strict=True):
        empty = True
        for tool in reversed(tools):  # the first on top
            rows = [row for row in results if row.tool == tool and row.task == task and not row.failed]
            if not rows:
                continue
            empty = False
            colour, mark = styles[tool]
            first = tool == tools[0]
            panel.scatter(
                [row.wall for row in rows], [max(row.error, _FLOOR) for row in rows], s=26 if first else 20,
                marker=mark, color=colour, alpha=0.45, linewidths=0, zorder=3,
            )  # fmt: skip
            line = front(rows)
            panel.plot(
                [row.wall for row in line], [max(row.error, _FLOOR) for row in line], color=colour,
                linewidth=2.4 if first else 1.5, marker=mark, markersize=5, zorder=4 if first else 3,
            )  # fmt: skip
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_title(f"{task}  {TITLES[task]}", loc="left", fontsize=11, fontweight="bold")
        panel.set_xlabel("wall time per simulated second, s" if task in "abcd" else "wall time to the answer, s")
        panel.set_ylabel(_WHAT[task])
        panel.grid(True, which="major", color="#dddddd", linewidth=0.7)
        panel.set_axisbelow(True)
        if task in "ef":
            panel.axhline(ERROR_BOUND, color="#555555", linewidth=1.0, linestyle="--")
            panel.annotate(
                f"{ERROR_BOUND:.1%}", (1.0, ERROR_BOUND), xycoords=("axes fraction", "data"), xytext=(-3, 3),
                textcoords="offset points", ha="right", fontsize=8, color="#555555",
            )  # fmt: skip
        panel.yaxis.set_minor_formatter(NullFormatter())
        low, high = panel.get_ylim()
        middle = math.sqrt(low * high)
        panel.set_ylim(min(low, 0.1 * middle), max(high, 10.0 * middle))  # two decades at least
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
        if empty:
            panel.text(0.5, 0.5, "not run", transform=panel.transAxes, ha="center", color="#777777")
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=styles[tool][0], marker=styles[tool][1], linewidth=2.4 if tool == tools[0] else 1.5)
        for tool in tools
    ]
    figure.legend(handles, tools, loc="outside lower center", ncols=len(tools), frameon=False, fontsize=10)
    figure.suptitle(
        f"Error against wall time: left and low is better. One core each. Errors below {_FLOOR:g} stand there.",
        fontsize=11,
    )
    return figure


_WHAT = {
    "a": "tip error / length",
    "b": "frequency error",
    "c": "period error",
    "d": "sag error",
    "e": "tip error / length",
    "f": "error of the middle / length",
}


def write_picture(path: Path, results: Sequence[Result], tools: Sequence[str]) -> None:
    """Write the picture as PNG, whole or not at all."""
    with replacing(path) as partial:
        draw(results, tools).savefig(partial, format="png", dpi=100)
