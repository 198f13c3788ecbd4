"""Pictures of a harness at rest, as SVG that stands in a page: views of it, and curves along its cables."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence

import numpy as np

from sennit.harness.rest import Along, Held
from sennit.validation import FloatArray

__all__ = ["CLASSES", "chart", "class_of", "views"]

CLASSES = (
    (0.5, "#3b6ea5", "up to half of what is allowed"),
    (0.8, "#2a9d8f", "up to 80 %"),
    (1.0, "#e09f1f", "up to the limit"),
    (math.inf, "#c1121f", "sharper than allowed"),
)
"""Allowed bend radius over bend radius: up to what, colour, and words."""
_WIDTH, _HEIGHT, _MARGIN = 460.0, 330.0, 34.0
_PLACES = [(dx, dy) for dy in (-8, 16, 4, -22, 30, -36, 44) for dx in (9, -9)]
"""Where the name of a holder can stand: right and left of it, above and below."""
_LINES = ("#3b6ea5", "#b5541c", "#4f772d", "#7b2d8b", "#8a6d00", "#00707a", "#a3005c", "#444444")


def class_of(share: float) -> int:
    """The class of an allowed radius over a radius."""
    return next(k for k, (most, _, _) in enumerate(CLASSES) if share <= most)


def views(cables: Sequence[Along], held: Sequence[Held]) -> str:
    """Views from the front, from above and from the side; those that show a line alone are left out."""
    points = np.concatenate([one.line for one in cables])
    size = np.ptp(points, axis=0)
    found: list[str] = []
    for i, j, label in ((0, 2, "from the front (x, z)"), (0, 1, "from above (x, y)"), (1, 2, "from the side (y, z)")):
        if min(size[i], size[j]) > 0.02 * size.max() or not found:
            found.append(_view(cables, held, i, j, label))
    return "\n".join(found)


def _view(cables: Sequence[Along], held: Sequence[Held], i: int, j: int, label: str) -> str:
    points = np.concatenate([one.line for one in cables] + [[one.holder.place] for one in held])[:, [i, j]]
    low, size = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-6)
    scale = min((_WIDTH - 2 * _MARGIN) / size[0], (_HEIGHT - 2 * _MARGIN) / size[1])
    height = size[1] * scale + 2 * _MARGIN + 18

    def at(place: FloatArray) -> tuple[float, float]:
        x, y = (np.asarray(place) - low) * scale
        return _MARGIN + float(x), height - 18 - _MARGIN - float(y)

    parts = [_scale_bar(scale, height)]
    for one in cables:
        parts += _coloured(one, lambda k, one=one: at(one.line[k, [i, j]]))  # type: ignore[misc]
    lines = [at(place) for one in cables for place in one.line[:: max(1, len(one.line) // 80)][:, [i, j]]]
    lines += [at(holder.holder.place[[i, j]]) for holder in held for _ in range(4)]
    names: list[tuple[float, float, float]] = []
    for holder in held:
        parts.append(_mark(holder, at(holder.holder.place[[i, j]]), lines, names))
    body = "".join(parts)
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH:.0f} {height:.0f}" width="{_WIDTH:.0f}" role="img" '
        f'aria-label="{html.escape(label)}">{body}</svg><figcaption>{html.escape(label)}</figcaption></figure>'
    )


def _coloured(one: Along, at: Callable[[int], tuple[float, float]]) -> list[str]:
    """A cable as lines of one colour each."""
    kinds = [class_of(float(x)) for x in one.cable.bend_radius / one.radius]
    parts, begin = [], 0
    for k in range(1, len(kinds) + 1):
        if k == len(kinds) or kinds[k] != kinds[begin]:
            path = " ".join("{:.1f},{:.1f}".format(*at(m)) for m in range(begin, min(k + 1, len(kinds)), 2))
            end = "{:.1f},{:.1f}".format(*at(min(k, len(kinds) - 1)))
            wide = 5 if kinds[begin] == len(CLASSES) - 1 else 3.5
            parts.append(
                f'<polyline points="{path} {end}" fill="none" stroke="{CLASSES[kinds[begin]][1]}" '
                f'stroke-width="{wide}" stroke-linejoin="round" stroke-linecap="round"/>'
            )
            begin = k
    return parts


def _mark(
    one: Held, at: tuple[float, float], lines: list[tuple[float, float]], names: list[tuple[float, float, float]]
) -> str:
    """A holder with its name where there is room for it."""
    x, y = at
    wide = 6.6 * len(one.holder.name)
    best, where = math.inf, (x, y)
    for dx, dy in _PLACES:
        left, low = x + dx - (wide if dx < 0 else 0.0), y + dy
        cost = sum(1.0 for u, v in lines if left - 3 < u < left + wide + 3 and low - 13 < v < low + 5)
        cost += 30.0 * sum(left < u + w and u < left + wide and abs(low - v) < 13 for u, v, w in names)
        cost += 0.02 * (abs(dx) + abs(dy))
        cost += 50.0 * (left < 2 or left + wide > _WIDTH - 2 or low < 12)
        if cost < best:
            best, where = cost, (left, low)
    names.append((*where, wide))
    shape = {
        "connector": f'<rect x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12" rx="2"',
        "tie": f'<path d="M{x:.1f} {y - 7:.1f}l6 11h-12z"',
        "junction": f'<path d="M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7 -7z"',
    }.get(one.holder.kind, f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5.5"')
    name = html.escape(one.holder.name)
    fill = "#fff" if one.holder.kind == "eye" else "#222"
    return (
        f'{shape} fill="{fill}" stroke="#222" stroke-width="2"><title>{name}, {one.holder.kind}</title>'
        f"{'</rect>' if 'rect' in shape else '</path>' if 'path' in shape else '</circle>'}"
        f'<text x="{where[0]:.1f}" y="{where[1]:.1f}" class="name">{name}</text>'
    )


def _scale_bar(scale: float, height: float) -> str:
    step = _nice(90.0 / scale)
    x, y = _MARGIN, height - 8
    label = f"{1e3 * step:g} mm"
    return (
        f'<path d="M{x:.1f} {y - 5:.1f}v5h{step * scale:.1f}v-5" fill="none" stroke="#777"/>'
        f'<text x="{x + step * scale + 6:.1f}" y="{y:.1f}" class="tick">{label}</text>'
    )


def _nice(value: float) -> float:
    """The nearest of 1, 2, 5 times a power of ten below a value."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(next(k * power for k in (5.0, 2.0, 1.0) if k * power <= value * (1.0 + 1e-9)))


def chart(
    cables: Sequence[Along], values: Sequence[FloatArray], title: str, unit: str, *, most: float | None = None,
    limits: Sequence[float] = (), marks: Sequence[Held] = (),
) -> str:  # fmt: skip
    """Curves along the cables; `most`: where the axis is cut off; `limits`: dashed lines, one for each cable."""
    wide, high, left, low = 940.0, 228.0, 56.0, 38.0
    length = max(float(one.s[-1]) for one in cables)
    top = max(float(np.max(value)) for value in values)
    top = min(top, most) if most is not None else top
    bottom = min(0.0, *(float(np.min(value)) for value in values))
    top = max(top, *(1.15 * x for x in limits)) if limits else top
    span = max(top - bottom, 1e-9)

    def at(s: float, value: float) -> tuple[float, float]:
        y = min(max((value - bottom) / span, 0.0), 1.0)
        return left + (wide - left - 14) * s / length, high - low - (high - low - 20) * y

    parts = []
    for value in _ticks(bottom, top):
        y = at(0.0, value)[1]
        parts.append(f'<path d="M{left} {y:.1f}H{wide - 14}" class="grid"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" class="tick" text-anchor="end">{value:g}</text>')
    for s in _ticks(0.0, 1e3 * length):
        x = at(1e-3 * s, bottom)[0]
        parts.append(f'<text x="{x:.1f}" y="{high - low + 16}" class="tick" text-anchor="middle">{s:g}</text>')
    if len(cables) == 1:
        for held in marks:
            x, name = at(held.at, bottom)[0], html.escape(held.holder.name)
            parts.append(f'<path d="M{x:.1f} 14V{high - low}" class="mark"><title>{name}</title></path>')
            parts.append(f'<text x="{x + 3:.1f}" y="11" class="tick">{name}</text>')
    for k, (one, curve) in enumerate(zip(cables, values, strict=True)):
        colour = _LINES[k % len(_LINES)]
        line = " ".join("{:.1f},{:.1f}".format(*at(float(s), float(v))) for s, v in zip(one.s, curve, strict=True))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if limits:
            y = at(0.0, limits[k])[1]
            shade = CLASSES[-1][1] if len(cables) == 1 else colour
            parts.append(f'<path d="M{left} {y:.1f}H{wide - 14}" stroke="{shade}" class="limit"/>')
    return (
        f'<figure class="wide"><figcaption>{html.escape(title)}, {unit}</figcaption>'
        f'<svg viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" role="img" aria-label="{html.escape(title)}">'
        f'{"".join(parts)}<text x="{wide - 14}" y="{high - 5}" class="tick" text-anchor="end">mm along the cable</text>'
        "</svg>"
        f"{_legend(cables)}</figure>"
    )


def _legend(cables: Sequence[Along]) -> str:
    if len(cables) < 2:
        return ""
    words = [
        f'<span><i style="background:{_LINES[k % len(_LINES)]}"></i>{html.escape(one.cable.name)}</span>'
        for k, one in enumerate(cables)
    ]
    return f'<p class="legend">{"".join(words)}</p>'


def _ticks(low: float, high: float) -> list[float]:
    step = _nice(max(high - low, 1e-12) / 4.0)
    first = math.ceil(low / step - 1e-9)
    return [float(f"{k * step:.10g}") for k in range(first, math.floor(high / step + 1e-9) + 1)]
