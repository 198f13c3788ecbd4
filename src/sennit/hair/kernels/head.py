"""The head that hair meets: spheres, capsules and a grid of distances, all in the head's own frame.

Every function takes numbers, or packs of four rods: see `room`.
"""

from __future__ import annotations

from sennit.compilation import inlined, kernel
from sennit.hair.kernels.cells import cell_of
from sennit.lanes import at, larger, root, where

FAR = 1e6
"""Distance where nothing is near, m."""
POSE = 12
"""Numbers of a pose: the rotation row by row, and the place."""


@inlined
def smaller(x, y):
    """The smaller of two."""
    return -larger(-x, -y)


@inlined
def to_head(poses, pose, x):
    """A place of the world as the head sees it in a pose."""
    o = POSE * pose
    a, b, c = x[0] - poses[o + 9], x[1] - poses[o + 10], x[2] - poses[o + 11]
    return (
        poses[o] * a + poses[o + 3] * b + poses[o + 6] * c,
        poses[o + 1] * a + poses[o + 4] * b + poses[o + 7] * c,
        poses[o + 2] * a + poses[o + 5] * b + poses[o + 8] * c,
    )


@inlined
def turned(poses, pose, x):
    """A vector of the head's frame, turned to the world."""
    o = POSE * pose
    return (
        poses[o] * x[0] + poses[o + 1] * x[1] + poses[o + 2] * x[2],
        poses[o + 3] * x[0] + poses[o + 4] * x[1] + poses[o + 5] * x[2],
        poses[o + 6] * x[0] + poses[o + 7] * x[1] + poses[o + 8] * x[2],
    )


@inlined
def to_world(poses, pose, x):
    """A place of the head's frame in the world."""
    o = POSE * pose
    y = turned(poses, pose, x)
    return y[0] + poses[o + 9], y[1] + poses[o + 10], y[2] + poses[o + 11]


@inlined
def nearer(d, n, other, m):
    """The lesser of two distances, with its normal."""
    first = other < d
    return where(first, other, d), (where(first, m[0], n[0]), where(first, m[1], n[1]), where(first, m[2], n[2]))


@kernel
def distance_to_shape(shapes, row, x):
    """Signed distance of a place from a capsule of `shapes`, a sphere if it has no length, and the normal."""
    a, b, c = x[0] - shapes[row, 0], x[1] - shapes[row, 1], x[2] - shapes[row, 2]
    u, v, w = shapes[row, 3], shapes[row, 4], shapes[row, 5]
    along = smaller(larger((a * u + b * v + c * w) * shapes[row, 6], 0.0), 1.0)
    a, b, c = a - along * u, b - along * v, c - along * w
    r = root(larger(a * a + b * b + c * c, 1e-24))
    return r - shapes[row, 7], (a / r, b / r, c / r)


@inlined
def within(x, most):
    """x, but not below 0, and not above `most`; 0 for what is no number."""
    return smaller(where(x > 0.0, x, 0.0), most)


@kernel
def distance_in_grid(hair, x):
    """Signed distance of a place by the grid, linear in each cell, and its normal; FAR where the grid has ended."""
    grid, values = hair.grid, hair.values
    rows, columns = hair.cells[1], hair.cells[2]
    a, b, c = (x[0] - grid[0]) * grid[3], (x[1] - grid[1]) * grid[3], (x[2] - grid[2]) * grid[3]
    # no differences: fused with the product above, a − p is what a is rounded by, and 0 nowhere
    beyond = (a < 0.0) | (a > grid[4]) | (b < 0.0) | (b > grid[5]) | (c < 0.0) | (c > grid[6])
    p, q, r = within(a, grid[4]), within(b, grid[5]), within(c, grid[6])
    place, i, j, k = cell_of(p, q, r, rows, columns)
    p, q, r = p - i, q - j, r - k
    d000, d001 = at(values, place), at(values[1:], place)
    d010, d011 = at(values[columns:], place), at(values[columns + 1 :], place)
    across = rows * columns
    d100, d101 = at(values[across:], place), at(values[across + 1 :], place)
    d110, d111 = at(values[across + columns :], place), at(values[across + columns + 1 :], place)
    # along z, then y, then x; differences are the gradient
    e00, e01 = d000 + r * (d001 - d000), d010 + r * (d011 - d010)
    e10, e11 = d100 + r * (d101 - d100), d110 + r * (d111 - d110)
    f0, f1 = e00 + q * (e01 - e00), e10 + q * (e11 - e10)
    d = f0 + p * (f1 - f0)
    nx = f1 - f0
    ny = (e01 - e00) + p * ((e11 - e10) - (e01 - e00))
    g00, g01, g10, g11 = d001 - d000, d011 - d010, d101 - d100, d111 - d110
    g0, g1 = g00 + q * (g01 - g00), g10 + q * (g11 - g10)
    nz = g0 + p * (g1 - g0)
    length = root(larger(nx * nx + ny * ny + nz * nz, 1e-24))
    return where(beyond, FAR, d), (nx / length, ny / length, nz / length)


@kernel
def distance(hair, pose, x):
    """Signed distance of a place from the head in one of its poses, m, and the normal there; both in the world."""
    y = to_head(hair.poses, pose, x)
    d = 0.0 * y[0] + FAR
    n = (0.0 * y[0], 0.0 * y[1], 0.0 * y[2])
    for row in range(hair.shapes.shape[0]):
        other, m = distance_to_shape(hair.shapes, row, y)
        d, n = nearer(d, n, other, m)
    if hair.values.size > 0:
        other, m = distance_in_grid(hair, y)
        d, n = nearer(d, n, other, m)
    return d, turned(hair.poses, pose, n)


@inlined
def surface_velocity(hair, h, start, end, x):
    """How fast the place of the head that is at x at the end of a step of h has come there, as its mean, m/s."""
    before = to_world(hair.poses, start, to_head(hair.poses, end, x))
    return (x[0] - before[0]) / h, (x[1] - before[1]) / h, (x[2] - before[2]) / h
