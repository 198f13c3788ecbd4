"""What pictures made with matplotlib share: colours, units, and three axes whose labels keep clear of everything."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.validation import FloatArray

__all__ = ["COLOURS", "equal_scales", "fit", "metric_prefix"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D1F", "#333333")
"""Okabe and Ito's, told apart by eyes that see red and green alike."""

_LABEL_PADS = (15.0, 15.0, 22.0)
"""Room between the axes in space and their names, for the numbers that stand there, in points."""

_SEEN = np.array((0.9, 0.45, 0.9))
"""How long the axes look, as parts of their lengths."""


def metric_prefix(largest: float) -> tuple[str, float]:
    """Metric prefix, and what it means, with which `largest` is written by a number of at least 1."""
    for prefix, scale in (("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9)):
        if largest >= scale:
            return prefix, scale
    return "", 1.0


def equal_scales(axes: Any, low: FloatArray, high: FloatArray, unit: str, margin: float, depth: float) -> None:
    """Limits from `low` to `high` (3,) with a `margin`, so that a metre is as long in x as in y and z.

    What is plane keeps some room around it: `depth` times the largest extent. Axes have as many numbers as there is
    room for, and names that stand upright: "x (mm)".
    """
    from matplotlib.ticker import MaxNLocator

    span = float((high - low).max()) or 1.0
    half = np.maximum((0.5 + margin) * (high - low), depth * span)
    seen = _SEEN * half
    for k, name in enumerate("xyz"):
        middle = 0.5 * (low[k] + high[k])
        getattr(axes, f"set_{name}lim")(middle - half[k], middle + half[k])
        axis = getattr(axes, f"{name}axis")
        bins = max(1, round(4.5 * seen[k] / seen.max()))
        axis.set_major_locator(MaxNLocator(nbins=bins, steps=[1, 2, 5, 10], min_n_ticks=1))
        axis.set_rotate_label(False)
        getattr(axes, f"set_{name}label")(f"{name} ({unit})", rotation=0, labelpad=_LABEL_PADS[k])
    axes.set_box_aspect(half, zoom=1.2)


def fit(axes: Any) -> None:
    """Make what is drawn in space smaller, until its names and numbers are within their part of the figure.

    Layouts of matplotlib leave the names of such axes out: they would run into the diagram beside them.
    """
    from matplotlib.transforms import Bbox

    figure = axes.get_figure()
    zoom = 1.2
    for _ in range(4):
        figure.draw_without_rendering()
        renderer = figure.canvas.get_renderer()
        box = Bbox.union([axis.get_tightbbox(renderer) for axis in (axes.xaxis, axes.yaxis, axes.zaxis)])
        slot = axes.get_position(original=True).transformed(figure.transFigure)
        parts = (
            2.0 * max(slot.x0 - box.x0, box.x1 - slot.x1) / slot.width,
            2.0 * max(slot.y0 - box.y0, box.y1 - slot.y1) / slot.height,
        )
        over = max(parts)
        if over <= 0.01:
            return
        zoom /= 1.0 + over
        axes.set_box_aspect(axes.get_box_aspect(), zoom=zoom)
