"""How large things are drawn, where the camera stands, and what the ground's grid measures."""

from __future__ import annotations

import math

import numpy as np

from sennit.portrait.bounds import camera_for
from sennit.validation import FloatArray

__all__ = ["DRAWN", "FIELD_OF_VIEW", "MEANT", "fitted", "grid_cell", "scale_for"]

DRAWN = 4.0
"""Diagonal of a scene as it is drawn. A browser's shadows, near plane and arrows are made for things of a few units, so
a thread and a crane are both drawn at this size."""
FIELD_OF_VIEW = math.radians(40.0)
"""Of the camera, vertically, rad."""
MEANT = 1.6
"""Aspect of the picture that a scene's own camera is meant for."""


def scale_for(low: FloatArray, high: FloatArray, present: float | None) -> float:
    """Drawn length of a metre for a scene from `low` to `high`; the `present` one as long as it fits."""
    size = float(np.linalg.norm(high - low))
    if not (size > 0.0 and math.isfinite(size)):
        return 1.0 if present is None else present
    if present is not None and 0.25 * DRAWN < present * size < 6.0 * DRAWN:
        return present
    return DRAWN / size


def fitted(
    low: FloatArray, high: FloatArray, aspect: float, given: tuple[FloatArray, FloatArray] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Eye and target, (3,) each, m, from which the box from `low` to `high` fills a picture of `aspect` (width over
    height). With `given` eye and target, which are meant for a picture of `MEANT`, only the way back is longer in a
    narrower one.
    """
    if given is not None:
        eye, target = given
        narrow = max(1.0, MEANT / max(aspect, 0.2))
        return target + narrow * (eye - target), target
    eye, target = camera_for(low, high)
    back = (eye - target) / np.linalg.norm(eye - target)
    right = np.cross((0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * (high - low) + low - target
    tangent = 0.86 * math.tan(0.5 * FIELD_OF_VIEW)  # a margin of a seventh
    # Each corner must be in sight: distance d from the target, depth d - back·corner.
    needed = corners @ back + np.maximum(np.abs(corners @ up), np.abs(corners @ right) / aspect) / tangent
    return target + max(float(needed.max()), 1e-9) * back, target


def grid_cell(size: float) -> float:
    """Side of the ground's cells, m: a power of ten, about a tenth of `size`."""
    return float(10.0 ** round(math.log10(max(size, 1e-9) / 8.0)))
