"""Signed distance from rigid shapes, their closest points and normals, inside compiled loops.

`shapes` is a `ShapeTable`, and s a row of it: see `geometry.tables`.

In its own frame a plane is z = 0 with the solid below; a sphere and a box are centred, and so are cylinders and
capsules, about z. Tubes are their walls: see `tubes`. The distance is negative inside the solid; its gradient is the
normal. Nothing is allocated.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.heights import closest_on_heights
from sennit.geometry.kernels.triangles import closest_on_mesh
from sennit.geometry.kernels.tubes import bore_and_outside, closest_on_tubes

SPHERE = 0
PLANE = 1
BOX = 2
MESH = 3
CYLINDER = 4
CAPSULE = 5
HEIGHTS = 6
TUBES = 7


@inlined
def has_edges(kind):
    """Whether a shape of this kind has edges that stand out."""
    return kind == BOX or kind == MESH or kind == CYLINDER or kind == HEIGHTS


@inlined
def is_round(kind):
    """Whether its surface is curved, without an edge."""
    return kind == SPHERE or kind == CAPSULE


@inlined
def may_be_hollow(kind):
    """Whether a shape of this kind may have edges that go in."""
    return kind == MESH or kind == HEIGHTS


@inlined
def to_own(shapes, s, x, y, z):
    """Components of the place (x, y, z) in the shape's own frame."""
    p, R = shapes.place, shapes.turn
    dx, dy, dz = x - p[s, 0], y - p[s, 1], z - p[s, 2]
    return (
        R[s, 0, 0] * dx + R[s, 1, 0] * dy + R[s, 2, 0] * dz,
        R[s, 0, 1] * dx + R[s, 1, 1] * dy + R[s, 2, 1] * dz,
        R[s, 0, 2] * dx + R[s, 1, 2] * dy + R[s, 2, 2] * dz,
    )


@inlined
def turned(shapes, s, x, y, z):
    """A vector of the shape's own frame, turned to the world."""
    R = shapes.turn
    return (
        R[s, 0, 0] * x + R[s, 0, 1] * y + R[s, 0, 2] * z,
        R[s, 1, 0] * x + R[s, 1, 1] * y + R[s, 1, 2] * z,
        R[s, 2, 0] * x + R[s, 2, 1] * y + R[s, 2, 2] * z,
    )


@inlined
def to_world(shapes, s, x, y, z):
    """The place in the world of a place in the shape's own frame."""
    a, b, c = turned(shapes, s, x, y, z)
    return a + shapes.place[s, 0], b + shapes.place[s, 1], c + shapes.place[s, 2]


# ------------------------------------------------------------------------------------------------- shapes by themselves


@inlined
def around(x, y):
    """Distance from the z axis and the direction away from it: x on the axis itself."""
    r = math.sqrt(x * x + y * y)
    return (r, x / r, y / r) if r > 0.0 else (0.0, 1.0, 0.0)


@kernel
def closest_on_cylinder(radius, half, x, y, z):
    """(signed distance, closest place, normal) for a place in the cylinder's own frame; half: of its length."""
    r, ex, ey = around(x, y)
    q, h = min(r, radius), min(max(z, -half), half)
    dr, dz = r - q, z - h
    distance = math.sqrt(dr * dr + dz * dz)
    if distance > 0.0:
        n = dr / distance
        return distance, q * ex, q * ey, h, n * ex, n * ey, dz / distance
    # Inside, the round side or an end, whichever is nearer; the round side of both, the upper of two ends.
    if radius - r <= half - abs(z):
        return r - radius, radius * ex, radius * ey, z, ex, ey, 0.0
    end = 1.0 if z >= 0.0 else -1.0
    return abs(z) - half, x, y, end * half, 0.0, 0.0, end


@kernel
def closest_on_capsule(radius, half, x, y, z):
    """(signed distance, closest place, normal) for a place in the capsule's own frame; half: of its straight part."""
    h = min(max(z, -half), half)
    dz = z - h
    r = math.sqrt(x * x + y * y + dz * dz)
    n1, n2, n3 = (x / r, y / r, dz / r) if r > 0.0 else (1.0, 0.0, 0.0)  # on its middle line: to the side
    return r - radius, radius * n1, radius * n2, h + radius * n3, n1, n2, n3


@kernel
def closest_on_box(hx, hy, hz, x, y, z):
    """(signed distance, closest place, normal) for a place in the box's own frame; hx, hy, hz: half its edges."""
    qx, qy, qz = min(max(x, -hx), hx), min(max(y, -hy), hy), min(max(z, -hz), hz)
    rx, ry, rz = x - qx, y - qy, z - qz
    distance = math.sqrt(rx * rx + ry * ry + rz * rz)
    if distance > 0.0:
        return distance, qx, qy, qz, rx / distance, ry / distance, rz / distance
    # Inside, the nearest side counts; the first of sides that are equally near.
    dx, dy, dz = hx - abs(x), hy - abs(y), hz - abs(z)
    if dx <= dy and dx <= dz:
        side = 1.0 if x >= 0.0 else -1.0
        return -dx, side * hx, y, z, side, 0.0, 0.0
    if dy <= dz:
        side = 1.0 if y >= 0.0 else -1.0
        return -dy, x, side * hy, z, 0.0, side, 0.0
    side = 1.0 if z >= 0.0 else -1.0
    return -dz, x, y, side * hz, 0.0, 0.0, side


# ------------------------------------------------------------------------------------------------------- every shape


@kernel
def closest(shapes, s, x, y, z):
    """(signed distance, closest place, normal) of a shape for the place (x, y, z), all in the world's frame."""
    kind, size = shapes.kind[s], shapes.size
    a, b, c = to_own(shapes, s, x, y, z)
    if kind == SPHERE:
        radius = size[s, 0]
        r = math.sqrt(a * a + b * b + c * c)
        if r > 0.0:
            n1, n2, n3 = a / r, b / r, c / r
        else:
            n1, n2, n3 = 0.0, 0.0, 1.0
        d, q1, q2, q3 = r - radius, radius * n1, radius * n2, radius * n3
    elif kind == PLANE:
        d, q1, q2, q3 = c, a, b, 0.0
        n1, n2, n3 = 0.0, 0.0, 1.0
    elif kind == BOX:
        d, q1, q2, q3, n1, n2, n3 = closest_on_box(size[s, 0], size[s, 1], size[s, 2], a, b, c)
    elif kind == MESH:
        d, q1, q2, q3, n1, n2, n3 = closest_on_mesh(
            shapes.tree, shapes.first[s], shapes.end[s], shapes.ball[s], a, b, c
        )
    elif kind == CYLINDER:
        d, q1, q2, q3, n1, n2, n3 = closest_on_cylinder(size[s, 0], size[s, 1], a, b, c)
    elif kind == CAPSULE:
        d, q1, q2, q3, n1, n2, n3 = closest_on_capsule(size[s, 0], size[s, 1], a, b, c)
    elif kind == HEIGHTS:
        d, q1, q2, q3, n1, n2, n3 = closest_on_heights(shapes, s, a, b, c)
    else:  # tubes
        d, q1, q2, q3, n1, n2, n3 = closest_on_tubes(shapes.tubes, shapes.first[s], shapes.end[s], a, b, c)
    q1, q2, q3 = to_world(shapes, s, q1, q2, q3)
    n1, n2, n3 = turned(shapes, s, n1, n2, n3)
    return d, q1, q2, q3, n1, n2, n3


@kernel
def in_bore(shapes, s, x, y, z):
    """`closest` of tubes for a place that is held in one of their bores, however far beyond its wall: −∞ if in none."""
    a, b, c = to_own(shapes, s, x, y, z)
    d, n1, n2, n3, _, _, _, _ = bore_and_outside(shapes.tubes, shapes.first[s], shapes.end[s], a, b, c)
    n1, n2, n3 = turned(shapes, s, n1, n2, n3)
    return d, x - d * n1, y - d * n2, z - d * n3, n1, n2, n3


@inlined
def out_of_reach(shapes, s, x, y, z):
    """Whether the place is certainly outside the solid: a cheap test before a costly one."""
    place, kind, ball = shapes.place, shapes.kind[s], shapes.ball[s]
    dx, dy, dz = x - place[s, 0], y - place[s, 1], z - place[s, 2]
    if kind == PLANE or kind == HEIGHTS:
        R = shapes.turn
        top = shapes.size[s, 3] if kind == HEIGHTS else 0.0
        return R[s, 0, 2] * dx + R[s, 1, 2] * dy + R[s, 2, 2] * dz > top
    return dx * dx + dy * dy + dz * dz > ball * ball


@kernel
def box_round(shapes, s, low, high):
    """A box along the axes of the world that holds a shape: its corners into row s of low and high, (n, 3), m.

    It is as small as can be but for meshes, of which it holds the box along their own axes, and tubes, of which it
    holds the ball about their origin.
    """
    kind, size, R = shapes.kind[s], shapes.size, shapes.turn
    for a in range(3):
        middle, half = shapes.place[s, a], 0.0
        if kind == SPHERE:
            half = size[s, 0]
        elif kind == BOX:
            half = abs(R[s, a, 0]) * size[s, 0] + abs(R[s, a, 1]) * size[s, 1] + abs(R[s, a, 2]) * size[s, 2]
        elif kind == MESH:
            root = shapes.first[s]
            for b in range(3):
                middle += R[s, a, b] * 0.5 * (shapes.tree.low[root, b] + shapes.tree.high[root, b])
                half += abs(R[s, a, b]) * 0.5 * (shapes.tree.high[root, b] - shapes.tree.low[root, b])
        elif kind == CYLINDER:
            across = math.sqrt(max(1.0 - R[s, a, 2] * R[s, a, 2], 0.0))
            half = across * size[s, 0] + abs(R[s, a, 2]) * size[s, 1]
        elif kind == CAPSULE:
            half = size[s, 0] + abs(R[s, a, 2]) * size[s, 1]
        elif kind == TUBES:
            half = shapes.ball[s]
        else:
            half = math.inf
        low[s, a], high[s, a] = middle - half, middle + half
        if kind == HEIGHTS:
            # it has no end downwards: bounded on a side of the world that no part of that way leads to
            sides = abs(R[s, a, 0]) * size[s, 0] + abs(R[s, a, 1]) * size[s, 1]
            if R[s, a, 2] >= 0.0:
                high[s, a] = middle + sides + R[s, a, 2] * size[s, 3]
            if R[s, a, 2] <= 0.0:
                low[s, a] = middle - sides + R[s, a, 2] * size[s, 3]
        elif kind == PLANE and abs(R[s, a, 2]) == 1.0:
            # one that stands along an axis of the world ends there
            if R[s, a, 2] > 0.0:
                high[s, a] = middle
            else:
                low[s, a] = middle


@kernel
def closest_many(shapes, s, points, distances, places, normals):
    """`closest` for points (n, 3) into distances (n,), places and normals (n, 3)."""
    for i in range(len(points)):
        d, q1, q2, q3, n1, n2, n3 = closest(shapes, s, points[i, 0], points[i, 1], points[i, 2])
        distances[i] = d
        places[i, 0], places[i, 1], places[i, 2] = q1, q2, q3
        normals[i, 0], normals[i, 1], normals[i, 2] = n1, n2, n3


@kernel
def crossing(shapes, s, x0, y0, z0, x1, y1, z1, tolerance):
    """Where the way from (x0, y0, z0), outside, to (x1, y1, z1), inside, passes the surface.

    False position with Illinois's rule on the signed distance along the way, until it is below `tolerance`. One end is
    returned where both are on the same side: the one nearer to the surface.
    """
    d0 = closest(shapes, s, x0, y0, z0)[0]
    d1 = closest(shapes, s, x1, y1, z1)[0]
    if (d0 <= 0.0) == (d1 <= 0.0):
        return (x0, y0, z0) if abs(d0) < abs(d1) else (x1, y1, z1)
    lower, upper = 0.0, 1.0
    t = 1.0
    kept = 0
    for _ in range(80):
        t = (lower * d1 - upper * d0) / (d1 - d0)
        d = closest(shapes, s, x0 + t * (x1 - x0), y0 + t * (y1 - y0), z0 + t * (z1 - z0))[0]
        if abs(d) <= tolerance:
            break
        if (d <= 0.0) == (d1 <= 0.0):
            upper, d1 = t, d
            d0 *= 0.5 if kept == 1 else 1.0
            kept = 1
        else:
            lower, d0 = t, d
            d1 *= 0.5 if kept == -1 else 1.0
            kept = -1
    return x0 + t * (x1 - x0), y0 + t * (y1 - y0), z0 + t * (z1 - z0)
