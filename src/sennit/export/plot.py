"""Pictures of a scene, with matplotlib (``pip install 'sennit[export]'``): shapes, and diagrams along its rods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit import validation
from sennit.bodies.rod.rod import Rod
from sennit.diagrams import COLOURS, equal_scales, fit, metric_prefix
from sennit.errors import InputError
from sennit.portrait.of_scene import portrait_of
from sennit.portrait.parts import Tube
from sennit.portrait.sizes import rod_of, rods_in
from sennit.scene.scene import Scene
from sennit.validation import FloatArray, quoted

__all__ = ["moments", "plot_scene"]

_STATIONS = 201
_LISTED = 8
"""More rods than this are not told apart by colours and a legend."""

# Lines differ in their strokes as well as in their colours.
_STROKES = ("-", "--", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (7, 2)), (0, (3, 1, 1, 1)), (0, (2, 1)))
_LIGHT = np.array((-0.36, -0.28, 0.89))


def plot_scene(scene: Scene, axes: Any = None, rods: Sequence[Rod] | None = None) -> Any:
    """Draw what is in a scene, and curvature, tension and moment along its rods; see `Scene.plot`."""
    chosen = _checked_rods(scene, rods)
    panels = _panels(axes, bool(chosen))
    own = axes is None
    _plot_shape(panels[0], scene, chosen, legend=not own or len(chosen) < 2)
    if len(panels) == 4:
        _plot_diagrams(panels[1:], chosen, legend=not own)
    figure = panels[0].get_figure()
    if own:
        lines, names = panels[0].get_legend_handles_labels()
        if len(names) > 1:  # once for all panels, where it hides nothing
            figure.legend(lines, names, loc="outside lower center", ncols=min(len(names), 4), fontsize="small")
        fit(panels[0])
    return figure


def moments(rod: Rod, count: int = _STATIONS) -> FloatArray:
    """Internal moments M1, M2 about d1, d2, and the twisting one, at the places of `Rod.centerline`: (count, 3), N·m.

    M = (E I1 (κ1 − κ̂1), E I2 (κ2 − κ̂2), G J (τ − τ̂)) with the strains at rest, without damping.
    """
    s = np.linspace(0.0, rod.length, count)
    places, rest = rod.rest_strains()
    period = rod.length if rod.closed else None
    unstrained = np.column_stack([np.interp(s, places, rest[:, k], period=period) for k in range(3)])
    return np.asarray(rod.stiffness[1:] * (rod.curvatures(count) - unstrained))


def _checked_rods(scene: Scene, rods: Sequence[Rod] | None) -> list[Rod]:
    present = rods_in(scene)
    if rods is None:
        return present
    one: Any = rods
    given: object = [one] if rod_of(one) is one else rods
    chosen: list[Rod] = validation.listed("rods", given, (Rod,), "rods of this scene")
    for rod in chosen:
        if not any(rod is other for other in present):
            raise InputError(f"rods must be rods of this scene, got {quoted(rod)}")
    return chosen


def _panels(axes: Any, diagrams: bool) -> list[Any]:
    if axes is None:
        import matplotlib.pyplot as plt

        if not diagrams:
            return [plt.figure(figsize=(7.0, 6.0), layout="constrained").add_subplot(projection="3d")]
        figure = plt.figure(figsize=(11.0, 8.0), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=(1.15, 1.0))
        return [
            figure.add_subplot(cell, projection="3d" if k == 0 else None)
            for k, cell in enumerate(grid[i, j] for i in (0, 1) for j in (0, 1))
        ]
    listed = list(np.asarray(axes, dtype=object).ravel())
    if len(listed) not in (1, 4) or not all(hasattr(item, "plot") for item in listed):
        raise InputError(f"axes must be one or four matplotlib axes, got {quoted(axes)}")
    if not hasattr(listed[0], "set_zlabel"):
        raise InputError('the first of axes must be made with projection="3d": it shows the shape')
    return listed


# --------------------------------------------------------------------------------------------------------------- shape


def _plot_shape(axes: Any, scene: Scene, rods: list[Rod], *, legend: bool) -> None:
    """Centrelines in the colours of the diagrams, bodies as shaded solids, marks of what is held, equal scales."""
    portrait = portrait_of(scene)
    cast = portrait.cast
    views = cast.views(portrait.capture())
    shown = [k for k, view in enumerate(views) if view.shown[0] > 0.5 and cast.parts[k].role != "decor"]
    places = [np.asarray(cast.parts[k].places(views[k])) for k in shown if cast.parts[k].role == "body"]
    places += [np.asarray(cast.parts[k].places(views[k])) for k in shown if isinstance(cast.parts[k], Tube)]
    if not places:
        places = [np.zeros((1, 3)), np.ones((1, 3))]
    low, high = np.min([p.min(axis=0) for p in places], axis=0), np.max([p.max(axis=0) for p in places], axis=0)
    span = float((high - low).max()) or 1.0
    unit, scale = ("mm", 1e3) if span < 2.0 else ("m", 1.0)
    styles = dict(zip(map(id, rods), _styles(len(rods)), strict=True))
    present = set(map(id, rods_in(scene)))
    for k in shown:
        part, view, subject = cast.parts[k], views[k], portrait.subject(k)
        tint = [c / 255.0 for c in part.colour]
        if isinstance(part, Tube) and id(subject) in present:
            colour = styles.get(id(subject), ("#AAAAAA", "-"))[0]
            label = part.name if 1 < len(rods) <= _LISTED and id(subject) in styles else None
            axes.plot(*(scale * view.centres.T), color=colour, linewidth=2.2, label=label)
            if len(rods) == 1 and id(subject) in styles and not part.closed:
                axes.scatter(*(scale * view.centres[0]), color=colour, s=30, depthshade=False, label="s = 0")
        elif isinstance(part, Tube):
            axes.plot(*(scale * view.centres.T), color=tint, linewidth=1.1)
        else:
            _plot_mesh(axes, part, scale * part.places(view), tint)
    if legend and axes.get_legend_handles_labels()[1]:
        axes.legend(loc="upper left", fontsize="small")
    equal_scales(axes, scale * low, scale * high, unit, margin=0.05, depth=0.2)
    axes.view_init(elev=22.0, azim=-66.0)
    axes.set_title(f"{scene.name or 'scene'} at {scene.time:.3g} s")


def _plot_mesh(axes: Any, part: Any, places: FloatArray, tint: list[float]) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    corners = places[part.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    bright = 0.74 + 0.26 * normals @ (_LIGHT / np.linalg.norm(_LIGHT))
    tints = np.tile(np.array(tint), (len(corners), 1))
    if getattr(part, "face_colours", None) is not None:
        tints = part.face_colours / 255.0
    colours = np.column_stack((np.clip(tints * bright[:, None], 0.0, 1.0), np.full(len(corners), part.opacity)))
    axes.add_collection3d(Poly3DCollection(corners, facecolors=colours, linewidths=0.0, antialiased=False))


# ------------------------------------------------------------------------------------------------------------ diagrams


def _plot_diagrams(panels: list[Any], rods: list[Rod], *, legend: bool) -> None:
    """Curvature, tension and moment over s: the components of one rod, or the sizes for several."""
    lengths = [rod.length for rod in rods]
    long_unit, long_scale = ("mm", 1e3) if max(lengths, default=1.0) < 2.0 else ("m", 1.0)
    strains, pulls = [rod.curvatures(_STATIONS) for rod in rods], [rod.tensions(_STATIONS) for rod in rods]
    twisted = [moments(rod) for rod in rods]
    curvature, force, moment = panels
    if len(rods) == 1:
        s = [np.linspace(0.0, lengths[0], _STATIONS)] * 3
        _plot_lines(curvature, s, list(strains[0].T), "curvature", "1/m", ["about d1", "about d2", "twist"])
        _plot_lines(force, s[:1], pulls, "tension", "N", [""])
        _plot_lines(moment, s, list(twisted[0].T), "internal moment", "N·m", ["about d1", "about d2", "twisting"])
    else:
        s = [np.linspace(0.0, length, _STATIONS) for length in lengths]
        names = [rod.name for rod in rods]
        bent = [np.hypot(each[:, 0], each[:, 1]) for each in strains]
        sizes = [np.linalg.norm(each, axis=1) for each in twisted]
        _plot_lines(curvature, s, bent, "curvature", "1/m", names, legend)
        _plot_lines(force, s, pulls, "tension", "N", names, legend)
        _plot_lines(moment, s, sizes, "internal moment", "N·m", names, legend)
    for axes in panels:
        axes.set_xlabel(f"rest length s ({long_unit})")
        axes.xaxis.set_major_formatter(lambda x, _: f"{x * long_scale:g}")


def _plot_lines(
    axes: Any, s: list[FloatArray], values: list[FloatArray], name: str, unit: str, labels: list[str],
    legend: bool = True,
) -> None:  # fmt: skip
    """Lines over s; the unit gets a prefix (m, µ, ...) that suits the largest value."""
    largest = max((float(np.abs(each).max()) for each in values), default=0.0)
    prefix, scale = ("", 1.0) if unit == "1/m" else metric_prefix(largest)
    axes.axhline(0.0, color="#BBBBBB", linewidth=0.8)
    for each, row, label, (colour, stroke) in zip(s, values, labels, _styles(len(values)), strict=True):
        axes.plot(each, row / scale, color=colour, linestyle=stroke, linewidth=1.7, label=label)
    if largest * max(1.0, 1.0 / scale) < 1e-9:  # rounding is not worth a scale of its own
        axes.set_ylim(-1.0, 1.0)
    axes.set_ylabel(f"{name} ({prefix}{unit})")
    axes.set_title(name)
    axes.margins(x=0.0)
    axes.grid(color="#E6E6E6", linewidth=0.6)
    axes.set_axisbelow(True)
    if legend and 1 < len(values) <= _LISTED:
        axes.legend(fontsize="small")


def _styles(count: int) -> list[tuple[Any, Any]]:
    """Colour and stroke of each of `count` lines."""
    if count <= _LISTED:
        return list(zip(COLOURS[:count], _STROKES[:count], strict=True))
    from matplotlib import colormaps

    return [(colormaps["viridis"](0.9 * k / (count - 1)), "-") for k in range(count)]
