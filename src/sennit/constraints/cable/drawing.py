"""A cable as a line, for pictures."""

from __future__ import annotations

import numpy as np

from sennit.constraints.cable.kernels.kinds import CYLINDER, EDGE, END, SPHERE
from sennit.constraints.cable.sag import hang_spans
from sennit.constraints.cable.table import Elements
from sennit.validation import FloatArray

__all__ = ["polyline"]

ARC_STEP = np.radians(7.5)
"""Angle between the points of an arc."""


def polyline(elements: Elements, used: int, slack: float, gravity: FloatArray, count: int) -> FloatArray:
    """Points (n, 3), m, along a cable whose path was evaluated; `slack` (m) of it sags between what it touches.

    `elements`: those of one cable, the first `used` of them. A taut span is two points, a sagging one `count`.
    """
    on = np.flatnonzero(elements.on[:used] == 1)
    starts, ends = elements.leave[on[:-1]], elements.arrive[on[1:]]
    if slack > 0.0:
        spans = hang_spans(starts, ends, float(elements.span[on[:-1]].sum()) + slack, gravity, count)
    else:
        spans = [np.stack(pair) for pair in zip(starts, ends, strict=True)]
    pieces = []
    for e, span in zip(on[:-1], spans, strict=True):
        pieces.append(_arc(e, elements))
        pieces.append(span)
    line = np.concatenate(pieces)
    # where an arc and a span meet there are two equal points
    apart = np.linalg.norm(np.diff(line, axis=0), axis=1) > 0.0
    return np.asarray(line[np.concatenate(([True], apart))])


def _arc(e: int, elements: Elements) -> FloatArray:
    """Points of the cable on element `e`."""
    first, last = elements.arrive[e], elements.leave[e]
    kind = elements.kind[e]
    if kind in (END, EDGE):
        return np.stack([last])
    centre, axis = elements.centre_now[e], elements.axis_now[e]
    start = first - centre
    rise = float((last - first) @ axis) if kind == CYLINDER else 0.0
    if kind == SPHERE:
        turn = float(np.arctan2(np.cross(start, last - centre) @ axis, start @ (last - centre)))
    else:
        turn = elements.sense[e] * (elements.wrap_before[e] + elements.wrap_after[e])
    steps = max(int(np.ceil(abs(turn) / ARC_STEP)), 1)
    share = np.linspace(0.0, 1.0, steps + 1)[:, None]
    along = (start @ axis) * axis
    across = start - along
    angle = turn * share
    ring = np.cos(angle) * across + np.sin(angle) * np.cross(axis, across)
    return np.asarray(centre + along + rise * share * axis + ring)
