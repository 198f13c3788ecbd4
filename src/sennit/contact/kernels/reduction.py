"""The few of many points of contact that hold two shapes as all of them would."""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, tolerance
from sennit.contact.kernels.forms import beside
from sennit.geometry.kernels.algebra import dot3, row3

MOST = 8
"""Points that remain for one direction of normals."""
_ALIKE = 0.995
"""Cosine of the angle up to which normals count as one direction."""

_FARTHER = tolerance(1e-9, 1e-6)
"""Part by which a point must be farther out than the one before."""
_DEPTH = 20.0
"""How much farther out a point must be to make up for being less deep: rounding at rest does not exchange points, and
on rough ground deep ones come before high ones at the rim."""


@inlined
def _copy(found, to, start):
    if to != start:
        for k in range(3):
            found.first_place[to, k] = found.first_place[start, k]
            found.second_place[to, k] = found.second_place[start, k]
            found.normal[to, k] = found.normal[start, k]
        found.gap[to] = found.gap[start]
        found.feature[to] = found.feature[start]


@inlined
def _swap(found, i, j):
    if i != j:
        P, Q, N, gap, feature = found.first_place, found.second_place, found.normal, found.gap, found.feature
        for k in range(3):
            P[i, k], P[j, k] = P[j, k], P[i, k]
            Q[i, k], Q[j, k] = Q[j, k], Q[i, k]
            N[i, k], N[j, k] = N[j, k], N[i, k]
        gap[i], gap[j] = gap[j], gap[i]
        feature[i], feature[j] = feature[j], feature[i]


@kernel
def drop_twins(found, start, count, size):
    """Leave out points that lie within `size` (m) of another one with the same normal: how many remain.

    The earlier one stays, unless the later one is clearly deeper.
    """
    P, N = found.first_place, found.normal
    kept = start
    for i in range(start, count):
        twin = False
        for j in range(kept):
            dx, dy, dz = P[i, 0] - P[j, 0], P[i, 1] - P[j, 1], P[i, 2] - P[j, 2]
            if dx * dx + dy * dy + dz * dz <= size * size and dot3(row3(N, i), row3(N, j)) > _ALIKE:
                twin = True
                if found.gap[i] < found.gap[j] - 1e-3 * size:
                    _copy(found, j, i)
                break
        if not twin:
            _copy(found, kept, i)
            kept += 1
    return kept


@kernel
def reduce_points(found, count):
    """Keep of each direction of normals up to `MOST` points, those farthest out: how many remain.

    Points of one direction that span an area are held by its extreme ones; the deepest stays besides if it is clearly
    deeper than these.
    """
    if count <= MOST:
        return count
    done = 0
    while done < count:
        # Points with normals like that of the first one that is left come next.
        n = row3(found.normal, done)
        end = done + 1
        for i in range(done + 1, count):
            if dot3(row3(found.normal, i), n) > _ALIKE:
                _swap(found, end, i)
                end += 1
        if end - done > MOST:
            kept = _keep_extremes(found, done, end, n)
            for i in range(end, count):
                _copy(found, kept + i - end, i)
            count -= end - kept
            end = kept
        done = end
    return count


@kernel
def _keep_extremes(found, start, end, n):
    """Move the points of start … end that are farthest along eight directions across n to the front: where they end."""
    e1, e2 = beside(n)
    P = found.first_place
    low, high = math.inf, -math.inf
    for i in range(start, end):
        low, high = min(low, found.gap[i]), max(high, found.gap[i])
    kept = start
    shallow = math.inf
    for turn in range(MOST - 1):
        angle = 2.0 * math.pi * turn / (MOST - 1)
        du, dv = math.cos(angle), math.sin(angle)
        best, most = -1, -math.inf
        for i in range(start, end):
            u, v = dot3(row3(P, i), e1), dot3(row3(P, i), e2)
            out = du * u + dv * v - _DEPTH * (found.gap[i] - low)
            if best < 0 or out > most + _FARTHER() * abs(most):
                best, most = i, out
        if best >= kept:
            _swap(found, kept, best)
            kept += 1
    for i in range(start, kept):
        shallow = min(shallow, found.gap[i])
    for i in range(kept, end):
        if found.gap[i] == low and low < shallow - 1e-3 * (high - low):
            _swap(found, kept, i)
            return kept + 1
    return kept
