"""The curve along which a cable is laid: through its route and its holders, as long as it is cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from scipy.optimize import brentq

from sennit.harness.plan import FIXED, Cable, Holder
from sennit.validation import FloatArray, quoted

__all__ = ["Laid", "lay"]

_SAMPLES = 600
_MOST_SLACK = 1.0
"""Over the length of a route."""
_STRAIGHT = 0.01
"""Mean deviation from the straight way, over its length, below which a gap counts as straight."""
_AT_END = 2e-3
"""Share of a route within which a holder is at its end."""


@dataclass(frozen=True)
class Laid:
    """A cable as it is laid before it comes to rest."""

    curve: FloatArray
    """Places along it, (n, 3), m."""
    route: FloatArray
    """The same places on its route, (n, 3), m."""
    route_length: float
    """Length of the route, m."""
    cut_length: float
    """The same with its slack, m."""
    at: dict[str, float]
    """Share of its length at which each holder is."""


def lay(cable: Cable, holders: list[Holder]) -> Laid:
    """Lay a cable. Raises `InputError` for routes that cross themselves and holders that it doesn't reach."""
    chord = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(cable.route, axis=0), axis=1))))
    u = np.unique(np.concatenate((np.linspace(0.0, chord[-1], _SAMPLES), chord)))
    base = (
        CubicSpline(chord, cable.route, bc_type=_ends(cable, holders))(u)
        if len(chord) > 2
        else _straight(cable.route, u / chord[-1])
    )
    _check_crossing(cable, base, chord, u)
    length = _length(base)
    cut = length + cable.slack
    if cable.slack > _MOST_SLACK * length:
        raise cable.lines[0].refused(
            f"the slack of {quoted(cable.name)}, {1e3 * cable.slack:g} mm, is more than its route is long, "
            f"{1e3 * length:.0f} mm: where it would lie is not told by clips"
        )
    held = sorted(((_nearest(base, u, holder.place), holder) for holder in holders), key=lambda pair: pair[0])
    _check_reach(cable, held, base, u, cut)
    for (at, one), (after, other) in zip(held[:-1], held[1:], strict=True):
        if not after > at:
            raise other.line.refused(
                f"{quoted(other.name)} holds the cable where {quoted(one.name)} does, at {at:.3f} m"
            )
    curve = _as_long(_through(base, u, held), held, u, cut)
    s = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))))
    return Laid(curve, base, length, cut, {holder.name: float(np.interp(at, u, s)) / s[-1] for at, holder in held})


def _ends(cable: Cable, holders: list[Holder]) -> Any:
    """How a route begins and ends: as the connectors there say."""
    ends: list[Any] = ["not-a-knot", "not-a-knot"]
    for k, place in enumerate((cable.route[0], cable.route[-1])):
        near = [one for one in holders if one.kind in FIXED and np.linalg.norm(one.place - place) < cable.diameter]
        if near and near[0].direction is not None:
            ends[k] = (1, near[0].direction)
    return tuple(ends)


def _straight(route: FloatArray, share: FloatArray) -> FloatArray:
    return np.asarray(route[0] + share[:, None] * (route[1] - route[0]))


def _length(curve: FloatArray) -> float:
    return float(np.linalg.norm(np.diff(curve, axis=0), axis=1).sum())


def _nearest(curve: FloatArray, u: FloatArray, place: FloatArray) -> float:
    at = float(u[int(np.argmin(np.linalg.norm(curve - place, axis=1)))])
    return 0.0 if at < _AT_END * u[-1] else float(u[-1]) if at > (1.0 - _AT_END) * u[-1] else at


def _check_crossing(cable: Cable, curve: FloatArray, chord: FloatArray, u: FloatArray) -> None:
    """Raise `InputError` where a route comes back to itself by less than the cable's diameter."""
    s = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))))
    apart = np.abs(s[:, None] - s[None, :])
    gap = np.linalg.norm(curve[:, None, :] - curve[None, :, :], axis=2)
    # Places that are close along the cable are close anyhow: a half circle of one diameter is the tightest way back.
    reach = max(cable.diameter, s[-1] / len(s))
    gap[apart < 0.5 * np.pi * reach + 2.0 * s[-1] / len(s)] = np.inf
    i, j = np.unravel_index(int(np.argmin(gap)), gap.shape)
    if gap[i, j] < reach:
        one, other = (int(np.clip(np.searchsorted(chord, u[k], side="right") - 1, 0, len(chord) - 2)) for k in (i, j))
        first, second = sorted((one, other))
        where = ", ".join(f"{x:.3f}" for x in curve[i])
        raise cable.lines[second + 1].refused(
            f"the route of {quoted(cable.name)} crosses itself near ({where}): what runs to this place meets what runs "
            f"to that of line {cable.lines[first + 1].number}"
        )


def _check_reach(
    cable: Cable, held: list[tuple[float, Holder]], base: FloatArray, u: FloatArray, cut: float
) -> None:  # fmt: skip
    """Raise `InputError` for holders that no cable of this length reaches."""
    if not held:
        return
    away = [float(np.linalg.norm(base - holder.place, axis=1).min()) for _, holder in held]
    farthest = int(np.argmax(away))
    holder = held[farthest][1]
    straight = sum(float(np.linalg.norm(b.place - a.place)) for (_, a), (_, b) in zip(held[:-1], held[1:], strict=True))
    ends = float(u[-1] - held[-1][0] + held[0][0])  # beyond the outer holders it hangs free
    if straight + ends > cut * (1.0 + 1e-9) or away[farthest] > 0.5 * cut:
        raise holder.line.refused(
            f"{quoted(holder.name)} is {1e3 * away[farthest]:.0f} mm from the route of {quoted(cable.name)}, further "
            f"than the cable reaches: the way through its holders is {1e3 * (straight + ends):.0f} mm, the cable "
            f"{1e3 * cut:.0f} mm. Move the holder, or give slack"
        )


def _through(base: FloatArray, u: FloatArray, held: list[tuple[float, Holder]]) -> FloatArray:
    """The route, moved smoothly so that it runs through its holders."""
    if not held:
        return base
    at = np.array([where for where, _ in held])
    off = np.array([holder.place - base[int(np.searchsorted(u, where))] for where, holder in held])
    off[np.abs(off) < 1e-12] = 0.0
    if len(held) == 1:
        return np.asarray(base + off[0])
    return np.asarray(base + PchipInterpolator(at, off)(np.clip(u, at[0], at[-1])))


def _as_long(curve: FloatArray, held: list[tuple[float, Holder]], u: FloatArray, wanted: float) -> FloatArray:
    """A curve through the same holders of this length: with a belly in its longest gap, or drawn tighter."""
    marks = [0, *(int(np.searchsorted(u, at)) for at, _ in held), len(u) - 1]
    excess = _length(curve) - wanted
    if abs(excess) <= 1e-9 * wanted:
        return curve
    if excess > 0.0:
        tight = curve.copy()
        for a, b in zip(marks[:-1], marks[1:], strict=True):
            if b > a:
                tight[a : b + 1] = _straight(curve[[a, b]], (u[a : b + 1] - u[a]) / (u[b] - u[a]))
        share = float(brentq(lambda x: _length(curve + x * (tight - curve)) - wanted, 0.0, 1.0)) if (
            _length(tight) < wanted
        ) else 1.0  # fmt: skip
        return np.asarray(curve + share * (tight - curve))
    spans = [(u[b] - u[a], a, b) for a, b in zip(marks[:-1], marks[1:], strict=True) if 0 < a or len(held) < 2]
    inner = [(u[b] - u[a], a, b) for a, b in zip(marks[1:-2], marks[2:-1], strict=True)]
    _, a, b = max(inner or spans)
    t = np.clip((u - u[a]) / (u[b] - u[a]), 0.0, 1.0)[:, None]
    chord = curve[b] - curve[a]
    # It bulges on where it bulges already; what runs straight sags.
    apart = (curve[a : b + 1] - _straight(curve[[a, b]], (u[a : b + 1] - u[a]) / (u[b] - u[a]))).mean(axis=0)
    sags = np.linalg.norm(apart) < _STRAIGHT * np.linalg.norm(chord)
    down = _across(np.array((0.0, 0.0, -1.0)) if sags else apart / np.linalg.norm(apart), chord)
    bulge = 16.0 * (t * (1.0 - t)) ** 2 * down
    most = 4.0 * wanted
    return np.asarray(curve + float(brentq(lambda x: _length(curve + x * bulge) - wanted, 0.0, most)) * bulge)


def _across(wanted: FloatArray, chord: FloatArray) -> FloatArray:
    """The direction across a chord that is nearest to the one wanted; any across it where that runs along it."""
    along = chord / max(float(np.linalg.norm(chord)), 1e-300)
    for way in (wanted, np.array((1.0, 0.0, 0.0)), np.array((0.0, 1.0, 0.0))):
        rest = way - (way @ along) * along
        if np.linalg.norm(rest) > 0.1:
            return np.asarray(rest / np.linalg.norm(rest))
    return wanted
