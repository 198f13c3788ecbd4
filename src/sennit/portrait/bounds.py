"""How much room a picture takes, and where to look at it from."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit.portrait.cast import Cast
from sennit.portrait.parts import Tube
from sennit.validation import FloatArray

__all__ = ["bounds", "camera_for"]

_FIELD_OF_VIEW = math.radians(45.0)
_ROOM = 1.12
"""Distance of the eye over that from which a box just fits into the picture."""


def bounds(cast: Cast, frame: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest corner (3,), m, of the box round what is shown.

    Decor counts as far as it is near the rest: a floor that goes on for ever does not make everything else small.
    """
    boxes: dict[bool, list[tuple[FloatArray, FloatArray]]] = {True: [], False: []}
    for part, view in zip(cast.parts, cast.views(frame), strict=True):
        if view.shown[0] > 0.0:
            box = _box(part, view)
            if box is not None:
                boxes[part.role == "decor"].append(box)
    decor, rest = _joined(boxes[True]), _joined(boxes[False])
    if rest is None:
        return (np.full(3, -0.5), np.full(3, 0.5)) if decor is None else decor
    low, high = rest
    if decor is not None:
        reach = 0.5 * float((high - low).max())
        low, high = (
            np.minimum(low, np.maximum(decor[0], low - reach)),
            np.maximum(high, np.minimum(decor[1], high + reach)),
        )
    return low, high


def _box(part: Any, view: Any) -> tuple[FloatArray, FloatArray] | None:
    margin, points = 0.0, part.places(view)
    if isinstance(part, Tube):
        margin = math.hypot(*part.half) if part.rectangular else max(part.half)
    if not len(points) or not np.isfinite(points).all():
        return None
    return points.min(axis=0) - margin, points.max(axis=0) + margin


def _joined(boxes: list[tuple[FloatArray, FloatArray]]) -> tuple[FloatArray, FloatArray] | None:
    if not boxes:
        return None
    return np.min([low for low, _ in boxes], axis=0), np.max([high for _, high in boxes], axis=0)


def camera_for(
    low: ArrayLike, high: ArrayLike, *, field_of_view: float = _FIELD_OF_VIEW, aspect: float = 1.5
) -> tuple[FloatArray, FloatArray]:
    """Eye and target (3,), m, from which the box from `low` to `high` (m) fills a picture whose top is up (z).

    The longer one of its horizontal sides lies across the picture. `field_of_view`: the vertical one, rad; `aspect`:
    width of the picture over its height.
    """
    bottom, top = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    target, size = 0.5 * (bottom + top), top - bottom
    back = np.array((0.42, -1.0, 0.38) if size[0] >= size[1] else (1.0, -0.42, 0.38))
    back /= np.linalg.norm(back)
    right = np.cross((0.0, 0.0, 1.0), back)
    right /= np.linalg.norm(right)
    up = np.cross(back, right)
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * (size if size.any() else 1.0)
    # a corner is inside the picture if it is as far before the eye as its height and its width ask for
    slope = math.tan(0.5 * field_of_view)
    asked = np.maximum(np.abs(corners @ up) / slope, np.abs(corners @ right) / (slope * aspect)) + corners @ back
    return target + _ROOM * float(asked.max()) * back, target
