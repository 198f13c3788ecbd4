"""The closest points of height fields, inside compiled loops.

`shapes` is a `ShapeTable` and s a row of it whose kind is HEIGHTS. In its own frame the solid is what lies below the
surface z = h(x, y), for |x| ≤ a, |y| ≤ b: its sides are upright and go down without end. h is given at the nodes of a
grid. Each cell is two triangles that share the diagonal from its lowest x and y to its highest.

A triangle's distance is exact and costs some dozens of operations; a bilinear cell's would need iterations. Nothing is
allocated.
"""

from __future__ import annotations

import math

from sennit.compilation import kernel
from sennit.geometry.kernels.triangles import FACE, ON_SURFACE, closest_of_triangle


@kernel
def height_at(shapes, s, x, y):
    """Height of the surface over a place within the field, m."""
    a, b, nx, ny = shapes.size[s, 0], shapes.size[s, 1], shapes.cells[s, 0], shapes.cells[s, 1]
    u, v = (x + a) / (2.0 * a) * nx, (y + b) / (2.0 * b) * ny
    i, j = min(max(int(u), 0), nx - 1), min(max(int(v), 0), ny - 1)
    u, v = u - i, v - j
    z, k = shapes.heights.z, shapes.first[s] + i * (ny + 1) + j
    low, high = z[k], z[k + ny + 2]
    if u >= v:
        beside = z[k + ny + 1]
        return low + u * (beside - low) + v * (high - beside)
    beside = z[k + 1]
    return low + v * (beside - low) + u * (high - beside)


@kernel
def closest_on_heights(shapes, s, x, y, z):
    """(signed distance, closest place, normal) for a place in the field's own frame.

    Cells are looked at in square rings about the one that is nearest in x and y, until those further out are too far:
    of a place near the surface, a few.
    """
    a, b, low, high = shapes.size[s, 0], shapes.size[s, 1], shapes.size[s, 2], shapes.size[s, 3]
    nx, ny = shapes.cells[s, 0], shapes.cells[s, 1]
    dx, dy = 2.0 * a / nx, 2.0 * b / ny
    qx, qy = min(max(x, -a), a), min(max(y, -b), b)
    buried = z <= height_at(shapes, s, qx, qy)
    rx, ry = x - qx, y - qy
    aside = math.sqrt(rx * rx + ry * ry)
    if buried and aside > 0.0:  # beside an upright side
        return aside, qx, qy, z, rx / aside, ry / aside, 0.0
    best = math.inf
    cx, cy, cz = qx, qy, z
    nx1, ny1, nz1 = 0.0, 0.0, 1.0
    flat = True
    # The upright sides, as far as they reach up to z; above that their rims are edges of triangles.
    for side in range(4):
        sign = 1.0 if side % 2 == 0 else -1.0
        wx, wy = (sign * a, qy) if side < 2 else (qx, sign * b)
        d2 = (x - wx) * (x - wx) + (y - wy) * (y - wy)
        if d2 < best and z <= height_at(shapes, s, wx, wy):
            best, cx, cy, cz = d2, wx, wy, z
            nx1, ny1, nz1 = (sign, 0.0, 0.0) if side < 2 else (0.0, sign, 0.0)
            flat = aside == 0.0
    ci = min(max(int((qx + a) / dx), 0), nx - 1)
    cj = min(max(int((qy + b) / dy), 0), ny - 1)
    dz = max(0.0, z - high, low - z)
    ring = 0
    while True:
        # How far cells beyond the rings before are at least: each side that has some.
        gap = math.inf
        if ci - ring >= 0:
            gap = min(gap, x + a - (ci - ring + 1) * dx)
        if ci + ring < nx:
            gap = min(gap, (ci + ring) * dx - a - x)
        if cj - ring >= 0:
            gap = min(gap, y + b - (cj - ring + 1) * dy)
        if cj + ring < ny:
            gap = min(gap, (cj + ring) * dy - b - y)
        if gap == math.inf or (ring > 0 and gap > 0.0 and gap * gap + dz * dz >= best):
            break
        for i in range(max(ci - ring, 0), min(ci + ring, nx - 1) + 1):
            whole = i == ci - ring or i == ci + ring or ring == 0
            for j in range(cj - ring, cj + ring + 1, 1 if whole else 2 * ring):
                if j < 0 or j >= ny:
                    continue
                k = shapes.first[s] + i * (ny + 1) + j
                h00, h01 = shapes.heights.z[k], shapes.heights.z[k + 1]
                h10, h11 = shapes.heights.z[k + ny + 1], shapes.heights.z[k + ny + 2]
                px, py, pz = x + a - i * dx, y + b - j * dy, z - h00
                ox, oy = max(-px, 0.0, px - dx), max(-py, 0.0, py - dy)
                oz = max(min(h00, h01, h10, h11) - z, 0.0, z - max(h00, h01, h10, h11))
                if ox * ox + oy * oy + oz * oz >= best:
                    continue
                for half in range(2):
                    # corners 1 and 2 from the cell's lowest: wound upwards
                    ux, uy, uz = (dx, 0.0, h10 - h00) if half == 0 else (dx, dy, h11 - h00)
                    vx, vy, vz = (dx, dy, h11 - h00) if half == 0 else (0.0, dy, h01 - h00)
                    d2, f, g, feature = closest_of_triangle(ux, uy, uz, vx, vy, vz, px, py, pz)
                    if d2 < best:
                        best = d2
                        cx, cy, cz = i * dx - a + f * ux + g * vx, j * dy - b + f * uy + g * vy, h00 + f * uz + g * vz
                        n1, n2, n3 = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
                        size = math.sqrt(n1 * n1 + n2 * n2 + n3 * n3)
                        nx1, ny1, nz1 = n1 / size, n2 / size, n3 / size
                        flat = feature == FACE
        ring += 1
    sign = -1.0 if buried else 1.0
    distance = math.sqrt(best)
    if not flat and distance > ON_SURFACE * (a + b):
        nx1, ny1, nz1 = sign * (x - cx) / distance, sign * (y - cy) / distance, sign * (z - cz) / distance
    return sign * distance, cx, cy, cz, nx1, ny1, nz1
