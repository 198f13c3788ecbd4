"""Points of the world: they are where they were put."""

from __future__ import annotations

from sennit.compilation import inlined


@inlined
def place(p, points, places):
    """Place and frame as they were set."""
    for a in range(3):
        places.position[p, a] = points.anchor[p, a]
    for a in range(9):
        places.frame[p, a] = points.anchor_frame[p, a]


@inlined
def place_last(p, points, places):
    """Place and frame when the state was reached."""
    for a in range(3):
        places.position[p, a] = points.anchor_last[p, a]
    for a in range(9):
        places.frame[p, a] = points.anchor_frame_last[p, a]


@inlined
def accept(p, points):
    """What was set is part of the state now."""
    for a in range(3):
        points.anchor_last[p, a] = points.anchor[p, a]
    for a in range(9):
        points.anchor_frame_last[p, a] = points.anchor_frame[p, a]
