"""The walls of tubes: round bores along lines that may bend, widen and meet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sennit.geometry.kernels.distances import TUBES
from sennit.geometry.kernels.tubes import JOINED_AHEAD, JOINED_BEHIND, OPEN_AHEAD, OPEN_BEHIND
from sennit.geometry.pose import Pose
from sennit.geometry.shapes import AbstractShape
from sennit.geometry.tables import TubeParts
from sennit.validation import FloatArray

__all__ = ["Tubes"]

WALL = 0.5
"""Half the thickness of a tube's wall, over the inner radius there."""


class Tubes(AbstractShape):
    """The walls of tubes that may meet: `axes`, each (n, 3), m, in the frame of `pose`, with `radii` of their bores,
    each (n,), m. See `geometry.kernels.tubes`.

    An end that lies inside another of the tubes, bore and wall, is joined to it; the others are open, or, if not
    `open_ends`, closed by half a ball. Arguments are not checked: `Inside` does that.
    """

    __slots__ = ("_axes", "_open_ends", "_parts", "_radii")

    _axes: tuple[FloatArray, ...]
    _radii: tuple[FloatArray, ...]
    _open_ends: bool
    _parts: TubeParts

    def __init__(
        self, axes: Sequence[FloatArray], radii: Sequence[FloatArray], open_ends: bool, pose: Pose = Pose()  # noqa: B008
    ) -> None:  # fmt: skip
        lines, widths = tuple(np.array(line, float) for line in axes), tuple(np.array(width, float) for width in radii)
        for array in (*lines, *widths):
            array.setflags(write=False)
        self._fill_tubes(pose, lines, widths, open_ends, _parts_of(lines, widths, open_ends))

    def _fill_tubes(
        self, pose: Pose, axes: tuple[FloatArray, ...], radii: tuple[FloatArray, ...], open_ends: bool, parts: TubeParts
    ) -> None:
        for name, value in (("_axes", axes), ("_radii", radii), ("_open_ends", open_ends), ("_parts", parts)):
            object.__setattr__(self, name, value)
        reach = max(
            float(np.max(np.linalg.norm(line, axis=1) + (1.0 + 2.0 * WALL) * width))
            for line, width in zip(axes, radii, strict=True)
        )
        self._fill(pose, TUBES, (), reach, tubes=parts)

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """The axis of each tube as a chain of places, (n, 3), m, in the shape's own frame, read-only."""
        return self._axes

    @property
    def radii(self) -> tuple[FloatArray, ...]:
        """The inner radii at those places, (n,), m, read-only."""
        return self._radii

    @property
    def open_ends(self) -> bool:
        """Whether rods can leave through ends that meet no other tube."""
        return self._open_ends

    def clearance(self, points: FloatArray) -> FloatArray:
        """Distance of places (n, 3), m, from the wall that holds them, negative outside of it, ∞ in front of an open
        end: (n,), m. Widening bores are taken as if they did not.
        """
        own = (points - self._pose.position) @ self._pose.rotation
        parts = self._parts
        way = own[:, None] - parts.begin
        s = np.einsum("nik,ik->ni", way, parts.axis)
        t = np.clip(s, 0.0, parts.length)
        away = np.linalg.norm(way - t[:, :, None] * parts.axis, axis=2)
        held = parts.radius + parts.widening * t - away
        nearest = np.argmax(held, axis=1)
        rows = np.arange(len(own))
        out = (s < 0.0) & (parts.opens & OPEN_BEHIND > 0) | (s > parts.length) & (parts.opens & OPEN_AHEAD > 0)
        return np.where(out[rows, nearest], math.inf, held[rows, nearest])

    def _at(self, pose: Pose) -> Tubes:
        other = object.__new__(Tubes)
        other._fill_tubes(pose, self._axes, self._radii, self._open_ends, self._parts)
        return other

    def _form(self) -> tuple[Any, ...]:
        return self._open_ends, *(array.tobytes() for array in (*self._axes, *self._radii))

    def __repr__(self) -> str:
        return f"Tubes({len(self._axes)} tubes, {len(self._parts.length)} straight parts, pose={self._pose!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Tubes, (self._axes, self._radii, self._open_ends, self._pose)


def _parts_of(axes: Sequence[FloatArray], radii: Sequence[FloatArray], open_ends: bool) -> TubeParts:
    parts = TubeParts(parts=sum(len(line) - 1 for line in axes))
    at = 0
    for k, (line, radius) in enumerate(zip(axes, radii, strict=True)):
        here = slice(at, at + len(line) - 1)
        way = np.diff(line, axis=0)
        length = np.linalg.norm(way, axis=1)
        parts.begin[here], parts.axis[here], parts.length[here] = line[:-1], way / length[:, None], length
        parts.radius[here], parts.widening[here] = radius[:-1], np.diff(radius) / length
        parts.wall[here] = 0.5 * WALL * (radius[:-1] + radius[1:])
        parts.opens[at + 1 : here.stop] += JOINED_BEHIND
        parts.opens[at : here.stop - 1] += JOINED_AHEAD
        if open_ends:
            others = [(axes[j], radii[j]) for j in range(len(axes)) if j != k]
            if not _is_within(line[0], others):
                parts.opens[at] += OPEN_BEHIND
            if not _is_within(line[-1], others):
                parts.opens[here.stop - 1] += OPEN_AHEAD
        at = here.stop
    parts.cosine[:] = 1.0 / np.hypot(1.0, parts.widening)
    return parts


def _is_within(place: FloatArray, tubes: Sequence[tuple[FloatArray, FloatArray]]) -> bool:
    """Whether a place lies inside one of some tubes, bore and wall."""
    for line, radius in tubes:
        way = np.diff(line, axis=0)
        t = np.clip(np.einsum("ik,ik->i", place - line[:-1], way) / np.einsum("ik,ik->i", way, way), 0.0, 1.0)
        away = np.linalg.norm(place - line[:-1] - t[:, None] * way, axis=1)
        if np.any(away < (1.0 + 2.0 * WALL) * (radius[:-1] + t * np.diff(radius))):
            return True
    return False
