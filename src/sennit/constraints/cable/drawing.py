"""A cable as a line, for pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.constraints.cable.kernels.tables import (
    AXIS_NOW,
    BETA_IN,
    BETA_OUT,
    CENTRE_NOW,
    COUNT,
    CYLINDER,
    EDGE,
    END,
    KIND,
    ON,
    SENSE,
    SPAN,
    SPHERE,
    X_IN,
    X_OUT,
)
from sennit.constraints.cable.sag import hang_spans
from sennit.validation import FloatArray

__all__ = ["polyline"]

ARC_STEP = np.radians(7.5)
"""Angle between the points of an arc."""


def polyline(tables: tuple[Any, ...], slack: float, gravity: FloatArray, count: int) -> FloatArray:
    """Points (n, 3), m, along a cable whose path was evaluated; `slack` (m) of it sags between what it touches.

    `tables`: those of one cable, numbered from 0. A taut span is two points, a sagging one `count`.
    """
    ints, kinds, floats, state, place = tables
    on = [e for e in range(int(ints[0, COUNT])) if state[e, ON] == 1.0]
    starts, ends = place[on[:-1], X_OUT : X_OUT + 3], place[on[1:], X_IN : X_IN + 3]
    if slack > 0.0:
        spans = hang_spans(starts, ends, float(place[on[:-1], SPAN].sum()) + slack, gravity, count)
    else:
        spans = [np.stack(pair) for pair in zip(starts, ends, strict=True)]
    pieces = []
    for e, span in zip(on[:-1], spans, strict=True):
        pieces.append(_arc(e, kinds, floats, state, place))
        pieces.append(span)
    line = np.concatenate(pieces)
    # where an arc and a span meet there are two equal points
    apart = np.linalg.norm(np.diff(line, axis=0), axis=1) > 0.0
    return np.asarray(line[np.concatenate(([True], apart))])


def _arc(e: int, kinds: Any, floats: Any, state: Any, place: Any) -> FloatArray:
    """Points of the cable on element `e`."""
    first, last = place[e, X_IN : X_IN + 3], place[e, X_OUT : X_OUT + 3]
    kind = kinds[e, KIND]
    if kind in (END, EDGE):
        return np.stack([last])
    centre, axis = place[e, CENTRE_NOW : CENTRE_NOW + 3], place[e, AXIS_NOW : AXIS_NOW + 3]
    start = first - centre
    rise = float((last - first) @ axis) if kind == CYLINDER else 0.0
    if kind == SPHERE:
        turn = float(np.arctan2(np.cross(start, last - centre) @ axis, start @ (last - centre)))
    else:
        turn = floats[e, SENSE] * (state[e, BETA_IN] + state[e, BETA_OUT])
    steps = max(int(np.ceil(abs(turn) / ARC_STEP)), 1)
    share = np.linspace(0.0, 1.0, steps + 1)[:, None]
    along = (start @ axis) * axis
    across = start - along
    angle = turn * share
    ring = np.cos(angle) * across + np.sin(angle) * np.cross(axis, across)
    return np.asarray(centre + along + rise * share * axis + ring)
