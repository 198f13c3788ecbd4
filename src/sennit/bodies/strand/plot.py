"""Pictures of a solved strand, with matplotlib (``pip install 'sennit[export]'``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sennit import validation
from sennit.diagrams import COLOURS, equal_scales, fit, metric_prefix
from sennit.errors import InputError
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.strand.state import StrandState

__all__ = ["plot_state"]

# Lines differ in their strokes as well as in their colours.
_LINES = tuple(zip(COLOURS[:3], ("-", "--", "-."), strict=True))
_DIRECTORS = COLOURS[4:6]


def plot_state(state: StrandState, axes: Any = None) -> Any:
    """Draw the shape of a strand and the diagrams of curvature, internal force and internal moment over s.

    Arguments: `state`; `axes`, four matplotlib axes to draw on, the first of them made with ``projection="3d"``, in the
    order shape, curvatures (1/m, body frame), forces (N) and moments (N·m, both world frame). By default a new figure.

    Returns the figure. Raises `InputError` for other axes.
    """
    if axes is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(11.0, 8.0), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1.0))
        shape = figure.add_subplot(grid[0, 0], projection="3d")
        diagrams = [figure.add_subplot(cell) for cell in (grid[0, 1], grid[1, 0], grid[1, 1])]
    else:
        shape, *diagrams = _checked_axes(axes)
        figure = shape.get_figure()
    _plot_shape(shape, state)
    world = ("x", "y", "z")
    force, moment = state.forces, state.moments
    _plot_diagram(diagrams[0], state.s, state.curvatures, "curvature", "1/m", ("about d1", "about d2", "twist"))
    _plot_diagram(diagrams[1], state.s, force, "internal force", "N", world)
    _plot_diagram(diagrams[2], state.s, moment, "internal moment", "N·m", world)
    if axes is None:
        fit(shape)
    return figure


def _checked_axes(axes: Any) -> list[Any]:
    try:
        listed = list(np.asarray(axes, dtype=object).ravel())
    except Exception:  # whatever the value's own methods raise
        listed = []
    if len(listed) != 4 or not all(hasattr(item, "plot") for item in listed):
        raise InputError(f"axes must be four matplotlib axes, got {validation.quoted(axes)}")
    if not hasattr(listed[0], "set_zlabel"):
        raise InputError('the first of axes must be made with projection="3d": it shows the shape')
    return listed


def _plot_shape(axes: Any, state: StrandState) -> None:
    """Centreline with the base marked, and arrows along d1 and d2 at some nodes; equal scales, millimetres."""
    places = 1e3 * state.positions
    axes.plot(*places.T, color="#333333", linewidth=2.2)
    axes.scatter(*places[0], color="#333333", s=36, depthshade=False, label="base")
    span = np.ptp(places, axis=0).max()
    shown = np.unique(np.linspace(0, len(places) - 1, 13).round().astype(int))
    for k, colour in enumerate(_DIRECTORS):
        arrows = 0.09 * span * state.rotations[shown, :, k]
        axes.quiver(
            *places[shown].T, *arrows.T, color=colour, linewidth=1.3, arrow_length_ratio=0.25, label=f"d{k + 1}"
        )
    equal_scales(axes, places.min(axis=0), places.max(axis=0), "mm", margin=0.06, depth=0.25)
    axes.set_title("shape")
    axes.legend(loc="upper left", fontsize="small")


def _plot_diagram(axes: Any, s: FloatArray, values: FloatArray, name: str, unit: str, parts: tuple[str, ...]) -> None:
    """Three components over s; the unit gets a prefix (m, µ, ...) that suits the largest."""
    prefix, scale = ("", 1.0) if unit == "1/m" else metric_prefix(float(np.abs(values).max()))
    axes.axhline(0.0, color="#BBBBBB", linewidth=0.8)
    for k, (colour, stroke) in enumerate(_LINES):
        axes.plot(1e3 * s, values[:, k] / scale, color=colour, linestyle=stroke, linewidth=1.8, label=parts[k])
    axes.set_xlabel("arclength s (mm)")
    axes.set_ylabel(f"{name} ({prefix}{unit})")
    axes.set_title(name)
    axes.margins(x=0.0)
    axes.grid(color="#E6E6E6", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(fontsize="small")
