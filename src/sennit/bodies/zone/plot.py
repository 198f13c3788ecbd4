"""Pictures of a solved zone, with matplotlib (``pip install 'sennit[export]'``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sennit import validation
from sennit.errors import InputError
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.zone.state import ZoneState

__all__ = ["plot_zone"]

_SHOWN = ("traction", "pressure", "displacement")
_VISIBLE = 0.04
"""A largest displacement below this share of the body's size is drawn larger, up to it."""
_LIGHT = np.array((0.35, -0.55, 0.76))


def plot_zone(state: ZoneState, axes: Any = None, show: str = "traction", scale: float | None = None) -> Any:
    """Draw a zone's deformed surface in colours that show its tractions, with the undeformed outline behind it.

    Arguments as in `ZoneState.plot`. Returns the figure. Raises `InputError` for other axes, names and scales.
    """
    if not isinstance(show, str) or show not in _SHOWN:
        raise InputError(f"show must be one of {', '.join(map(repr, _SHOWN))}, got {validation.quoted(show)}")
    factor = _scale(state) if scale is None else validation.number("scale", scale, minimum=0.0, maximum=1e12)
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.figure(figsize=(8.0, 6.5), layout="constrained").add_subplot(projection="3d")
    elif not hasattr(axes, "set_zlabel"):
        raise InputError(f'axes must be made with projection="3d", got {validation.quoted(axes)}')
    values, name, unit = _values(state, show)
    prefix, size = _prefix(float(np.abs(values).max()), unit)
    places = 1e3 * (state.zone._surface.vertices + factor * state.displacements)
    mapping = _draw(axes, state, places, values / size, show)
    _dress(axes, places, 1e3 * state.zone._surface.vertices)
    beyond = np.abs(values / size).max() > 1.001 * mapping.norm.vmax
    ends = ("both" if mapping.norm.vmin < 0.0 else "max") if beyond else "neither"
    bar = axes.get_figure().colorbar(mapping, ax=axes, shrink=0.65, pad=0.09, extend=ends)
    bar.set_label(f"{name} ({prefix}{unit})")
    x, y, z = state.force
    force_prefix, force_size = _prefix(float(np.abs(state.force).max()), "N")
    drawn = "" if factor == 1.0 else f", displacements drawn × {factor:.3g}"
    force = ", ".join(f"{part / force_size:.3g}" for part in (x, y, z))
    axes.set_title(f"{state.zone.name}: force ({force}) {force_prefix}N{drawn}", fontsize="medium")
    return axes.get_figure()


def _scale(state: ZoneState) -> float:
    """1 where displacements can be seen, else the 1, 2 or 5 times a power of ten that makes them so."""
    largest = float(np.linalg.norm(state.displacements, axis=1).max())
    size = float(np.ptp(state.zone._surface.vertices, axis=0).max())
    if largest == 0.0 or largest >= 0.5 * _VISIBLE * size:
        return 1.0
    wanted = _VISIBLE * size / largest
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(power * max(step for step in (1, 2, 5) if step * power <= wanted * (1.0 + 1e-12)))


def _values(state: ZoneState, show: str) -> tuple[FloatArray, str, str]:
    """One value for each corner of each face, (m, 3): tractions jump at edges, and shall do so in the picture."""
    surface = state.zone._surface
    if show == "displacement":
        return np.linalg.norm(state.displacements, axis=1)[surface.faces], "displacement", "m"
    if show == "pressure":
        return -np.einsum("fkc,fc->fk", state.corner_tractions, surface.normals), "pressure", "Pa"
    return np.linalg.norm(state.corner_tractions, axis=2), "traction", "Pa"


def _draw(axes: Any, state: ZoneState, places: FloatArray, values: FloatArray, show: str) -> Any:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection

    # Tractions are infinite at the rim of a support, which shall not take all colours from the rest.
    free = ~np.isin(state.zone._surface.faces, state._support)
    largest = float(np.abs(values[free]).max(initial=0.0)) or float(np.abs(values).max()) or 1.0
    signed = show == "pressure" and bool(values.min() < -0.1 * largest)
    norm = Normalize(-largest, largest) if signed else Normalize(0.0, largest)
    mapping = ScalarMappable(norm, "RdBu_r" if signed else "viridis")
    # Each triangle in four: the colours of corners and middles of edges are told apart, and jumps at edges kept.
    corners, levels = _quartered(places[state.zone._surface.faces], values)
    colours = colormaps[mapping.cmap.name](norm(levels.mean(axis=1)))
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    shade = 0.72 + 0.28 * np.clip(normals @ (_LIGHT / np.linalg.norm(_LIGHT)), -0.4, 1.0)
    colours[:, :3] *= shade[:, None]
    axes.add_collection3d(Poly3DCollection(corners, facecolors=colours, linewidths=0.0, antialiased=False))
    rest = 1e3 * state.zone._surface.vertices
    edges = _outline(state)
    if len(edges):
        axes.add_collection3d(
            Line3DCollection(rest[edges], colors="#555555", linewidths=0.8, linestyles="--", zorder=10)
        )
    fixed = places[state._support]
    if len(fixed):
        axes.scatter(*fixed.T, s=7, color="#222222", marker="^", depthshade=False, label="fixed", zorder=11)
        axes.legend(loc="upper left", fontsize="small")
    return mapping


def _quartered(corners: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    a, b, c = np.moveaxis(np.concatenate((corners, values[:, :, None]), axis=2), 1, 0)
    ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
    parts = np.concatenate([np.stack(part, axis=1) for part in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    return parts[:, :, :3], parts[:, :, 3]


def _outline(state: ZoneState) -> Any:
    """Vertex pairs of edges at which the undeformed surface turns by more than 40°."""
    surface, beside = state.zone._surface, state.zone._places.skin.beside
    turns = np.einsum("fc,fkc->fk", surface.normals, surface.normals[beside]) < np.cos(np.radians(40.0))
    pairs = np.stack((surface.faces, np.roll(surface.faces, -1, axis=1)), axis=2)[turns]
    return pairs[pairs[:, 0] < pairs[:, 1]]


def _dress(axes: Any, places: FloatArray, rest: FloatArray) -> None:
    from matplotlib.ticker import MaxNLocator

    low = np.minimum(places.min(axis=0), rest.min(axis=0))
    high = np.maximum(places.max(axis=0), rest.max(axis=0))
    half = 0.53 * np.maximum(high - low, 0.2 * float((high - low).max()))
    for name, middle, reach in zip("xyz", 0.5 * (low + high), half, strict=True):
        getattr(axes, f"set_{name}lim")(middle - reach, middle + reach)
        axis = getattr(axes, f"{name}axis")
        axis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis._axinfo["grid"].update(color="#E0E0E0", linewidth=0.6)
        getattr(axes, f"set_{name}label")(f"{name} (mm)")
    axes.set_box_aspect(half, zoom=0.86)


def _prefix(largest: float, unit: str) -> tuple[str, float]:
    """Metric prefix, and what it means, with which `largest` is written by a number of at least 1."""
    names = (("m", 1e-3), ("µ", 1e-6), ("n", 1e-9)) if unit == "m" else (
        ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9),
    )  # fmt: skip
    for prefix, size in names:
        if largest >= size:
            return prefix, size
    return "", 1.0
