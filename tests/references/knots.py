"""Which knot a curve is, by colourings: the determinant of a knot, from a picture of it.

Nothing of the package is used. A curve whose ends go on outside is closed by a wide detour. In its picture arcs run
from one under-crossing to the next; at each crossing twice the colour of the arc above equals the sum of the two that
end below it. The determinant of these equations, less one arc and one crossing, is 1 without a knot, 3 for the trefoil
(overhand), 5 for the figure-eight, 9 for reef and granny (Fox; Livingston, Knot Theory, 1993, chapter 3).
"""

from __future__ import annotations

import numpy as np


def closed_up(curve):
    """The curve with its ends joined on a wide detour: from each straight on, then about everything."""
    places = np.asarray(curve, dtype=float)
    middle = places.mean(axis=0)
    size = np.abs(places - middle).max()
    first, last = places[0] - places[3], places[-1] - places[-4]
    a = places[0] + 30.0 * size * first / np.linalg.norm(first)
    b = places[-1] + 30.0 * size * last / np.linalg.norm(last)
    across = np.cross(b - a, (0.21, 0.33, 0.92))
    far = 90.0 * size * across / np.linalg.norm(across)
    return np.concatenate(([a], places, [b], [b + far], [a + far]))


def determinant(curve, view=(0.37, -0.41, 0.83)):
    """Of a closed curve, (n, 3), as it is seen along `view`."""
    places = np.asarray(curve, dtype=float)
    up = np.asarray(view, dtype=float) / np.linalg.norm(view)
    side = np.cross(up, (0.0, 1.0, 0.0))
    side /= np.linalg.norm(side)
    seen = np.stack((places @ side, places @ np.cross(up, side), places @ up), axis=1)
    following = np.roll(seen, -1, axis=0)
    met = []
    for i in range(len(seen)):
        for j in range(i + 2, len(seen)):
            if i == 0 and j == len(seen) - 1:
                continue
            p, q, r, s = seen[i], following[i], seen[j], following[j]
            if max(p[0], q[0]) < min(r[0], s[0]) or max(r[0], s[0]) < min(p[0], q[0]):
                continue
            if max(p[1], q[1]) < min(r[1], s[1]) or max(r[1], s[1]) < min(p[1], q[1]):
                continue
            system = np.array(((q[0] - p[0], r[0] - s[0]), (q[1] - p[1], r[1] - s[1])))
            if abs(np.linalg.det(system)) < 1e-300:
                continue
            t, u = np.linalg.solve(system, (r - p)[:2])
            if 0.0 <= t < 1.0 and 0.0 <= u < 1.0:
                above = p[2] + t * (q[2] - p[2]) > r[2] + u * (s[2] - r[2])
                met.append((i + t, j + u, above))
    if len(met) < 3:
        return 1
    # where the curve passes below, in order: an arc ends there and the next begins
    below = sorted((second if above else first, number) for number, (first, second, above) in enumerate(met))
    at = np.array([place for place, _ in below])
    count = len(met)
    matrix = np.zeros((count, count))
    for arc, (_, number) in enumerate(below):
        first, second, above = met[number]
        over = int(np.searchsorted(at, first if above else second)) % count
        matrix[number, over] += 2.0
        matrix[number, arc] -= 1.0
        matrix[number, (arc + 1) % count] -= 1.0
    return round(abs(np.linalg.det(matrix[1:, 1:])))
