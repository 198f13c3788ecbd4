"""Meshes of large bodies that are fine where something small presses on them."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay


def _rings(radii, counts):
    """Points in the plane: the origin, then rings of `counts` points, every other one turned by half a step."""
    points = [np.zeros((1, 2))]
    for k, (radius, count) in enumerate(zip(radii, counts, strict=True)):
        angle = 2.0 * np.pi * (np.arange(count) + 0.5 * (k % 2)) / count
        points.append(radius * np.column_stack((np.cos(angle), np.sin(angle))))
    return np.concatenate(points)


def hemisphere(patch, per_patch, radius, around=24):
    """Half a ball, z ≤ 0, flat on top, with triangles of patch/per_patch about the origin: (vertices, faces).

    Rings of 6, 12, 18, ... points lie `patch`/`per_patch` apart up to 1.35 `patch`; from there each is as far from the
    next as its own points are from each other, with `around` points in the end, and the half-sphere below has as many.
    All vertices but those on the flat top have |x| = radius.
    """
    h = patch / per_patch
    inner = int(np.ceil(1.35 * per_patch))
    radii = [h * (k + 1) for k in range(inner)]
    counts = [6 * (k + 1) for k in range(inner)]
    growth = np.exp(2.0 * np.pi / around * 0.95)
    while True:
        step = max(1.3 * (radii[-1] - (radii[-2] if len(radii) > 1 else 0.0)), 0.0)
        step = min(step, radii[-1] * (growth - 1.0))
        if radii[-1] + 1.5 * step > radius:
            break
        radii.append(radii[-1] + step)
        counts.append(max(around, min(counts[-1], int(np.ceil(2.0 * np.pi * radii[-1] / step)))))
    radii.append(radius)
    counts.append(around)
    top = _rings(radii, counts)
    upper = Delaunay(top).simplices
    # Below: the rim again, then rings towards the pole, laid out flat by their polar angle.
    rows = around // 4
    angles = np.pi / 2.0 * (1.0 - np.arange(rows) / rows)
    turn = 0.5 * (((len(radii) - 1) + np.arange(rows)) % 2)
    below = np.concatenate(
        [
            angle * np.column_stack([g(2.0 * np.pi * (np.arange(around) + t) / around) for g in (np.cos, np.sin)])
            for angle, t in zip(angles[: rows - 1], turn[: rows - 1], strict=True)
        ]
        + [np.zeros((1, 2))]
    )
    lower = Delaunay(below).simplices
    polar = np.linalg.norm(below, axis=1)
    flat = np.divide(below, polar[:, None], out=np.zeros_like(below), where=polar[:, None] > 0.0)
    ball = radius * np.column_stack((flat * np.sin(polar)[:, None], -np.cos(polar)))
    count = len(top)
    number = np.concatenate((np.arange(count - around, count), count + np.arange(len(below) - around)))
    vertices = np.concatenate((np.column_stack((top, np.zeros(count))), ball[around:]))
    faces = np.concatenate((upper, number[lower]))
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    cross = np.cross(b - a, c - a)
    outward = np.concatenate((np.tile((0.0, 0.0, 1.0), (len(upper), 1)), (a + b + c)[len(upper) :]))
    inwards = np.einsum("ij,ij->i", cross, outward) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    return vertices, faces.astype(np.int64)
