"""Points of the world that routes lead."""

from __future__ import annotations

import math

from sennit.compilation import kernel
from sennit.geometry.kernels.algebra import quat_matrix


@kernel
def follow_routes(time, routes, points):
    """Put the points where their routes are at `time`, s: see `constraints.route.Route`."""
    for i in range(routes.point.size):
        p, first, last = routes.point[i], routes.first[i], routes.first[i] + routes.count[i] - 1
        begin, end = routes.time[first], routes.time[last]
        t = time
        if routes.repeats[i] == 1 and t > end:
            t -= (end - begin) * math.floor((t - begin) / (end - begin))
        t = min(max(t, begin), end)
        low, high = first, last
        while high - low > 1:
            middle = (low + high) // 2
            if routes.time[middle] <= t:
                low = middle
            else:
                high = middle
        s, c = t - routes.time[low], routes.cubic
        for a in range(3):
            points.anchor[p, a] = ((c[low, 0, a] * s + c[low, 1, a]) * s + c[low, 2, a]) * s + c[low, 3, a]
        if routes.turns[i] == 1:
            w = ((c[low, 0, 3] * s + c[low, 1, 3]) * s + c[low, 2, 3]) * s + c[low, 3, 3]
            x = ((c[low, 0, 4] * s + c[low, 1, 4]) * s + c[low, 2, 4]) * s + c[low, 3, 4]
            y = ((c[low, 0, 5] * s + c[low, 1, 5]) * s + c[low, 2, 5]) * s + c[low, 3, 5]
            z = ((c[low, 0, 6] * s + c[low, 1, 6]) * s + c[low, 2, 6]) * s + c[low, 3, 6]
            size = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
            frame = quat_matrix((w * size, x * size, y * size, z * size))
            for a in range(9):
                points.anchor_frame[p, a] = frame[a]
