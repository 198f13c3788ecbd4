"""Reference frames of rods made anew at an equilibrium, so that it does not depend on the way that led there."""

from __future__ import annotations

import numpy as np

from sennit.bodies.rod.point import RodPoint
from sennit.bodies.rod.rod import Rod
from sennit.solve.system import System
from sennit.validation import FloatArray

__all__ = ["EVEN", "frames_are_stale", "renew_frames"]

EVEN = 1e-7
"""rad, or rad per span: what frames that are parallel along the rod may be off by."""


def frames_are_stale(system: System) -> bool:
    """Whether the way to the present shape has left frames that twist along a rod, or points that are off its frames.

    What moves in a plane keeps its frames parallel: there is nothing to do.
    """
    return any(_is_stale(rod, _points_on(rod, system)) for rod in system.layout.of_kind(Rod))


def renew_frames(system: System) -> float:
    """Make the frames of all rods, and of the points on them, anew; returns the largest turn of a section, rad."""
    largest = 0.0
    for rod in system.layout.of_kind(Rod):
        points = _points_on(rod, system)
        before = [_across(point) for point in points]
        references, left = rod._renew_frames(np.array([point._u for point in points]))
        for point, reference in zip(points, references, strict=True):
            point._set_reference(reference)
        turns = [_angle(old, _across(point)) for point, old in zip(points, before, strict=True)]
        largest = max(largest, left, *turns)
    system.refresh()
    return largest


def _points_on(rod: Rod, system: System) -> list[RodPoint]:
    return [point for point in system.layout.points if isinstance(point, RodPoint) and point.body is rod]


def _is_stale(rod: Rod, points: list[RodPoint]) -> bool:
    m = rod._tables.bend.twist
    if float(np.max(np.abs(m - (m[0] if rod.closed else 0.0)))) > EVEN:
        return True
    if not points:
        return False
    there = rod._references(np.array([point._u for point in points]))
    return max(_angle(a[3:6], point._frames.reference[0]) for a, point in zip(there, points, strict=True)) > EVEN


def _across(point: RodPoint) -> FloatArray:
    """Its director d1."""
    return np.asarray(point.frame[:, 0])


def _angle(a: FloatArray, b: FloatArray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
