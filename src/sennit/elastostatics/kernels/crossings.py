"""Segments against triangles on a uniform grid.

A segment p + t(q − p), 0 ≤ t ≤ 1, meets a triangle with unit normal n when some t satisfies, within a tolerance ε,

    |n·(x − a)| ≤ ε,        m_k·(x − a_k) ≥ −ε,   k = 0, 1, 2        (m_k: unit, in the plane, inwards from edge k)

Five linear inequalities in t are clipped one after the other (Cyrus & Beck, Computers & Graphics 3, 1978), so that
crossing, touching and lying in the plane of the triangle are one case. Every pair is looked at once: in the lowest grid
cell that both bounding boxes have in common. Faces that have a vertex in common with the owner of a segment are left
out.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel


@kernel
def count_cells(first, last, shape, counts):
    """counts[cell] = number of boxes over that cell; first, last (k, 3): ranges of cells of each box."""
    for i in range(first.shape[0]):
        for x in range(first[i, 0], last[i, 0] + 1):
            for y in range(first[i, 1], last[i, 1] + 1):
                for z in range(first[i, 2], last[i, 2] + 1):
                    counts[(x * shape[1] + y) * shape[2] + z] += 1


@kernel
def fill_cells(first, last, shape, cursor, entries):
    """entries: the boxes of each cell one after the other; cursor: where each cell begins, afterwards where it ends."""
    for i in range(first.shape[0]):
        for x in range(first[i, 0], last[i, 0] + 1):
            for y in range(first[i, 1], last[i, 1] + 1):
                for z in range(first[i, 2], last[i, 2] + 1):
                    cell = (x * shape[1] + y) * shape[2] + z
                    entries[cursor[cell]] = i
                    cursor[cell] += 1


@inlined
def clip(low, high, value, slope):
    """The part of [low, high] where value + slope t ≥ 0."""
    if slope > 0.0:
        low = max(low, -value / slope)
    elif slope < 0.0:
        high = min(high, -value / slope)
    elif value < 0.0:
        high = -1.0
    return low, high


@kernel
def meets(p, q, vertices, face, normal, tolerance):
    """Whether the segment from p to q comes within `tolerance` of the triangle."""
    nx, ny, nz = normal[0], normal[1], normal[2]
    a = vertices[face[0]]
    height_p = nx * (p[0] - a[0]) + ny * (p[1] - a[1]) + nz * (p[2] - a[2])
    height_q = nx * (q[0] - a[0]) + ny * (q[1] - a[1]) + nz * (q[2] - a[2])
    if min(height_p, height_q) > tolerance or max(height_p, height_q) < -tolerance:
        return False
    slope = height_q - height_p
    low, high = clip(0.0, 1.0, height_p + tolerance, slope)
    low, high = clip(low, high, tolerance - height_p, -slope)
    for k in range(3):
        a, b = vertices[face[k]], vertices[face[(k + 1) % 3]]
        ex, ey, ez = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        mx, my, mz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
        scale = 1.0 / math.sqrt(mx * mx + my * my + mz * mz)
        value = scale * (mx * (p[0] - a[0]) + my * (p[1] - a[1]) + mz * (p[2] - a[2])) + tolerance
        slope = scale * (mx * (q[0] - p[0]) + my * (q[1] - p[1]) + mz * (q[2] - p[2]))
        low, high = clip(low, high, value, slope)
        if low > high:
            return False
    return True


@kernel
def find_meetings(segments, grid, tolerance, pairs):
    """Number of meetings; the first ones are written to `pairs`. Tables: `Segments`, `FaceGrid` and `Pairs`."""
    owners, seg_first, seg_last = segments.owners, segments.first, segments.last
    faces, face_first, face_low, face_high = grid.faces, grid.first, grid.low, grid.high
    shape, starts, entries = grid.shape, grid.starts, grid.entries
    found = 0
    for s in range(len(owners)):
        p, q = segments.ends[s, 0], segments.ends[s, 1]
        x0, x1 = min(p[0], q[0]), max(p[0], q[0])
        y0, y1 = min(p[1], q[1]), max(p[1], q[1])
        z0, z1 = min(p[2], q[2]), max(p[2], q[2])
        for x in range(seg_first[s, 0], seg_last[s, 0] + 1):
            for y in range(seg_first[s, 1], seg_last[s, 1] + 1):
                for z in range(seg_first[s, 2], seg_last[s, 2] + 1):
                    cell = (x * shape[1] + y) * shape[2] + z
                    for k in range(starts[cell], starts[cell + 1]):
                        f = entries[k]
                        if (
                            x1 < face_low[f, 0] or x0 > face_high[f, 0]
                            or y1 < face_low[f, 1] or y0 > face_high[f, 1]
                            or z1 < face_low[f, 2] or z0 > face_high[f, 2]
                            or x != max(seg_first[s, 0], face_first[f, 0])
                            or y != max(seg_first[s, 1], face_first[f, 1])
                            or z != max(seg_first[s, 2], face_first[f, 2])
                        ):  # fmt: skip
                            continue
                        shared = False
                        for i in range(owners.shape[1]):
                            own = owners[s, i]
                            if own == faces[f, 0] or own == faces[f, 1] or own == faces[f, 2]:
                                shared = True
                        if not shared and meets(p, q, grid.vertices, faces[f], grid.normals[f], tolerance):
                            if found < len(pairs.segment):
                                pairs.segment[found] = s
                                pairs.face[found] = f
                            found += 1
    return found
