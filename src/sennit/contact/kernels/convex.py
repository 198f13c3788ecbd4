"""Contacts of boxes, cylinders and capsules with each other and with planes.

First the directions that can separate flat and straight parts are tried: faces, axes, crossed edges. For two boxes
that overlap these are all there are (S. Gottschalk, M. C. Lin, D. Manocha, OBBTree, SIGGRAPH 1996); else the best of
them is the right one if the sides that face each other along it do lie over each other and

- the shapes are apart: two places at a distance sep(n) show that this is their distance, or
- they overlap and a place of one is as deep inside the other as sep(n) says: nothing can move it out by a shorter way.

Two boxes that stand edge on edge have a normal of their own: see `edges`. Else the normal comes from `depth`. A normal
of flat parts is thus exactly that of the part, at rest and in sliding.
"""

from __future__ import annotations

import math

from sennit.compilation import kernel, tolerance
from sennit.contact.kernels.boxes import EDGES_LAST, FACES_FIRST, separate_boxes
from sennit.contact.kernels.depth import deepest, nearest
from sennit.contact.kernels.edges import touch_edges
from sennit.contact.kernels.forms import axis_of, beside, radius_of, reach, separation
from sennit.contact.kernels.patches import lay_side, overlay
from sennit.contact.kernels.rounds import put_contact, side_by_side, touch_segments
from sennit.geometry.kernels.algebra import cross3, dot3, row3, sub3
from sennit.geometry.kernels.distances import BOX, CAPSULE, CYLINDER, closest

_SAME = tolerance(1e-9, 1e-6)
"""Part of the shapes' size below which two distances count as the same."""
_CERTAIN = tolerance(1e-7, 1e-5)
"""Part of it within which points show that a distance is the least."""
_SHORT = tolerance(1e-12, 1e-4)
"""Square of a vector across two unit vectors, or over the size, that is no direction."""
_WITNESS = 1 << 11
"""Feature of the closest places, where they are no corners and no crossing."""


@kernel
def _tried(shapes, a, b, between, n, best, kept):
    """The better of the kept direction and ±n, of any length: (separation, direction)."""
    square = dot3(n, n)
    if not square > _SHORT():
        return best, kept
    k = 1.0 / math.sqrt(square)
    if dot3(n, between) < 0.0:
        k = -k
    m = (k * n[0], k * n[1], k * n[2])
    s = separation(shapes, a, b, between, m)
    return (s, m) if s > best else (best, kept)


@kernel
def _separated(shapes, a, b, between, scale):
    """The best of the directions of flat and straight parts: (separation, unit normal)."""
    best, n = -math.inf, (0.0, 0.0, 1.0)
    box_a, box_b = shapes.kind[a] == BOX, shapes.kind[b] == BOX
    for k in range(3):
        if box_a or (k == 2 and shapes.kind[a] == CYLINDER):
            best, n = _tried(shapes, a, b, between, axis_of(shapes, a, k), best, n)
    # Faces of b count only if they are better by more than rounding, so that equal ones do not take turns.
    for k in range(3):
        if box_b or (k == 2 and shapes.kind[b] == CYLINDER):
            s, m = _tried(shapes, a, b, between, axis_of(shapes, b, k), -math.inf, n)
            if s > best + FACES_FIRST() * scale:
                best, n = s, m
    # Edges must be better still: crossed edges of parallel faces are the faces' normals, but for rounding.
    edge, m = -math.inf, n
    for i in range(3):
        if box_a or i == 2:
            for j in range(3):
                if box_b or j == 2:
                    edge, m = _tried(
                        shapes, a, b, between, cross3(axis_of(shapes, a, i), axis_of(shapes, b, j)), edge, m
                    )
    if not box_a and not box_b:
        for i in range(2):
            z = axis_of(shapes, a if i == 0 else b, 2)
            along = dot3(between, z)
            across = (between[0] - along * z[0], between[1] - along * z[1], between[2] - along * z[2])
            if dot3(across, across) > _SHORT() * scale * scale:
                edge, m = _tried(shapes, a, b, between, across, edge, m)
    if edge > best + EDGES_LAST() * scale:
        best, n = edge, m
    return best, n


@kernel
def _lay_both(shapes, a, b, ca, cb, n, scale, margin, found):
    """Points where the sides of both that face each other along n lie over each other."""
    e1, e2 = beside(n)
    form_a, count_a = lay_side(shapes, a, 0, ca, (-n[0], -n[1], -n[2]), e1, e2, n, found)
    form_b, count_b = lay_side(shapes, b, 1, cb, n, e1, e2, n, found)
    return overlay(form_a, count_a, form_b, count_b, e1, e2, n, scale, margin, found)


@kernel
def _is_certain(shapes, a, b, ca, sep, count, scale, found):
    """Whether the points show that `sep` is the signed distance: see the module. Places are relative to c_a."""
    near = _CERTAIN() * scale
    number = 0
    px, py, pz, qx, qy, qz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    P, Q = found.first_place, found.second_place
    for i in range(count):
        if found.gap[i] <= sep + near:
            number += 1
            px, py, pz = px + P[i, 0], py + P[i, 1], pz + P[i, 2]
            qx, qy, qz = qx + Q[i, 0], qy + Q[i, 1], qz + Q[i, 2]
    if number == 0:
        return False
    if sep >= 0.0 or (shapes.kind[a] == BOX and shapes.kind[b] == BOX):
        return True
    k = 1.0 / number
    x, y, z = row3(shapes.place, a)
    if closest(shapes, b, x + k * px, y + k * py, z + k * pz)[0] <= sep + near:
        return True
    return closest(shapes, a, x + k * qx, y + k * qy, z + k * qz)[0] <= sep + near


@kernel
def touch_convex(shapes, a, b, margin, found):
    """Boxes, cylinders and capsules: points of contact closer than `margin`, relative to the origin of a."""
    ca = (0.0, 0.0, 0.0)
    cb = sub3(row3(shapes.place, b), row3(shapes.place, a))
    between = (-cb[0], -cb[1], -cb[2])
    kind_a, kind_b = shapes.kind[a], shapes.kind[b]
    scale = shapes.ball[a] + shapes.ball[b]
    if dot3(between, between) > (scale + margin) ** 2:
        return 0
    if kind_a == CAPSULE and kind_b == CAPSULE:
        return touch_segments(shapes, a, b, ca, cb, margin, found)
    if kind_a == BOX and kind_b == BOX:
        sep, n = separate_boxes(shapes, a, b, between, scale)
        count = touch_edges(shapes, a, b, cb, between, sep, scale, margin, found)
        if count >= 0:
            return count
    else:
        sep, n = _separated(shapes, a, b, between, scale)
    if sep >= margin:
        return 0
    if kind_a != BOX and kind_b != BOX:
        flat = -math.inf
        if kind_a == CYLINDER:
            flat = _tried(shapes, a, b, between, axis_of(shapes, a, 2), flat, n)[0]
        if kind_b == CYLINDER:
            flat = _tried(shapes, a, b, between, axis_of(shapes, b, 2), flat, n)[0]
        if side_by_side(shapes, a, b, ca, cb, flat):
            return touch_segments(shapes, a, b, ca, cb, margin, found)
    count = _lay_both(shapes, a, b, ca, cb, n, scale, margin, found)
    if _is_certain(shapes, a, b, ca, sep, count, scale, found):
        return count
    distance, m, p, corners = nearest(shapes, a, b, ca, cb, scale, found)
    ra, rb = radius_of(shapes, a), radius_of(shapes, b)
    if distance <= 0.0:
        known, m, p = deepest(shapes, a, b, ca, cb, corners, scale, found)
        if not known:
            return count
    better = separation(shapes, a, b, between, m)
    if better > sep + _SAME() * scale:
        sep, n = better if distance <= 0.0 else distance - ra - rb, m
        if sep >= margin:
            return 0
        count = _lay_both(shapes, a, b, ca, cb, n, scale, margin, found)
    for i in range(count):
        if found.gap[i] <= sep + 1e-6 * scale:
            return count
    # No corner and no crossing: a rim on an edge, a rim on a rim. The closest places themselves then.
    p = (p[0] - ra * n[0], p[1] - ra * n[1], p[2] - ra * n[2])
    q = (p[0] - sep * n[0], p[1] - sep * n[1], p[2] - sep * n[2])
    return put_contact(found, count, p, q, n, sep, _WITNESS)


@kernel
def touch_plane(shapes, a, b, margin, found):
    """Any convex shape a over a plane b: corners, rims and ends closer than `margin`, relative to the origin of a."""
    n = axis_of(shapes, b, 2)
    cb = sub3(row3(shapes.place, b), row3(shapes.place, a))
    if -dot3(cb, n) - reach(shapes, a, n) >= margin:
        return 0
    return _lay_both(shapes, a, b, (0.0, 0.0, 0.0), cb, n, shapes.ball[a], margin, found)
