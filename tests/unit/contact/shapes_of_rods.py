"""Curves that touch themselves and each other: points (k, 3), m."""

from __future__ import annotations

import numpy as np


def smooth(rng, size=1.0, terms=3, count=400):
    """A random smooth curve through the middle of a box."""
    t = np.linspace(0.0, 1.0, count)[:, None]
    start, way = rng.normal(0.0, 0.1 * size, 3), rng.normal(0.0, 1.0, 3)
    points = start + size * (t - 0.5) * way / np.linalg.norm(way)
    for k in range(1, terms + 1):
        points = points + size * 0.25 / k * np.sin(np.pi * k * t + rng.uniform(0, 6.28, 3)) * rng.normal(0, 1, 3)
    return points


def overhand(radius, loop=12.0, tail=40.0, count=1200):
    """An overhand knot on a straight line: a trefoil that is cut open, its strands about 2 `radius` apart.

    The trefoil (sin t + 2 sin 2t, cos t − 2 cos 2t, −sin 3t) with `loop` radii for its unit, and both ends led away.
    """
    t = np.linspace(0.35, 2.0 * np.pi - 0.35, count)
    knot = np.stack((np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)), axis=-1)
    ends = []
    for end, inner in ((knot[0], knot[1]), (knot[-1], knot[-2])):
        away = (end - inner) / np.linalg.norm(end - inner)
        ends.append(end + away * np.linspace(0.0, tail / loop, count // 4)[1:, None])
    return radius * loop * 0.25 * np.concatenate((ends[0][::-1], knot, ends[1]))


def ring(size, centre=(0.0, 0.0, 0.0), normal=2, count=200):
    """A circle about an axis, not closed twice."""
    t = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    points = np.zeros((count, 3))
    points[:, (normal + 1) % 3], points[:, (normal + 2) % 3] = size * np.cos(t), size * np.sin(t)
    return points + centre


def twisted_pair(radius, pitch, length, distance, count=800):
    """Two helices about one axis, whose centre lines are `distance` apart across it."""
    z = np.linspace(0.0, length, count)
    both = []
    for phase in (0.0, np.pi):
        angle = 2.0 * np.pi * z / pitch + phase
        both.append(np.stack((0.5 * distance * np.cos(angle), 0.5 * distance * np.sin(angle), z), axis=-1))
    return both
