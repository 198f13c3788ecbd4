"""Contacts of meshes and height fields: corners of one against faces of the other, both ways, and edges.

With a convex shape there are three kinds of points:

- corners, ends and rims of the shape that face a triangle and lie over it, as over a plane;
- corners of the surface, by the signed distance of the shape, whose gradient is the normal;
- edges of the surface, where that distance along the edge is smallest. It is convex, so that shrinking intervals find
  it; where the shape is flat there, both ends of the part of the edge that lies over the flat part.

Corners and edges count only if the surface stands out there, against the normal: a box that slides over a floor of many
triangles does not catch on their edges. Two surfaces: corners by signed distance both ways, and edges that cross.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.contact.kernels.forms import along_axes, axis_of, beside, radius_of, reach
from sennit.contact.kernels.patches import lay_side
from sennit.contact.kernels.reduction import reduce_points
from sennit.contact.kernels.rounds import put_contact
from sennit.contact.kernels.triangles import (
    corner_at,
    edge_bends,
    next_triangle,
    normal_of,
    own_corner,
    owns_corner,
    shares,
    standing_out,
)
from sennit.geometry.kernels.algebra import cross3, dot3, row3, sub3
from sennit.geometry.kernels.distances import BOX, HEIGHTS, MESH, PLANE, closest

CORNERS = 1 << 20
"""Features from here on: corners of the second, a surface."""
FIRST_CORNERS = 1 << 40
"""Corners of the first, if it is a surface."""
EDGES = 1 << 41
_STRICT = 1e-4
_LENIENT = 0.02
"""Sines by which a surface may lean over and still stands out: against round shapes and against flat ones, whose
corners would come and go with rounding if there were no play."""
_UNSEEN = 1e-3
"""Part of a mesh's size by which it may overlap without a contact."""


@kernel
def _room(found, count):
    """Make room where too many points were found."""
    return reduce_points(found, count) if count > len(found.gap) - 4 else count


@inlined
def _is_known(found, count, feature):
    for i in range(count):
        if found.feature[i] == feature:
            return True
    return False


@kernel
def touch_surface(shapes, a, b, margin, found):
    """A convex shape a and a mesh or a height field b."""
    between = along_axes(shapes, b, sub3(row3(shapes.place, a), row3(shapes.place, b)))
    x = reach(shapes, a, axis_of(shapes, b, 0)) + margin
    y = reach(shapes, a, axis_of(shapes, b, 1)) + margin
    z = reach(shapes, a, axis_of(shapes, b, 2)) + margin
    low = (between[0] - x, between[1] - y, between[2] - z)
    high = (between[0] + x, between[1] + y, between[2] + z)
    if shapes.kind[b] == HEIGHTS:
        high = (high[0], high[1], math.inf)
    count = 0
    node, t = next_triangle(shapes, b, low, high, -1, -1)
    while t >= 0:
        count = _touch_triangle(shapes, a, b, t, low, high, margin, _room(found, count), found)
        node, t = next_triangle(shapes, b, low, high, node, t)
    return count


@kernel
def _touch_triangle(shapes, a, b, t, low, high, margin, count, found):
    o0, o1, o2 = own_corner(shapes, b, t, 0), own_corner(shapes, b, t, 1), own_corner(shapes, b, t, 2)
    for k in range(3):
        if min(o0[k], o1[k], o2[k]) > high[k] or max(o0[k], o1[k], o2[k]) < low[k]:
            return count
    p, q, r = corner_at(shapes, b, t, 0), corner_at(shapes, b, t, 1), corner_at(shapes, b, t, 2)
    n = normal_of(p, q, r)
    own_normal = along_axes(shapes, b, n)
    c = row3(shapes.place, a)
    if dot3(n, sub3(c, p)) - reach(shapes, a, n) >= margin:
        return count
    count = _touch_face(shapes, a, b, p, q, r, n, c, margin, count, found)
    for k in range(3):
        x = p if k == 0 else (q if k == 1 else r)
        y = q if k == 0 else (r if k == 1 else p)
        if owns_corner(shapes, b, t, k):
            count = _touch_corner(shapes, a, b, x, margin, count, CORNERS, found)[0]
        if edge_bends(shapes, b, t, k, own_normal)[0]:
            count = _touch_edge(shapes, a, b, x, y, margin, count, found)
    return count


@kernel
def _touch_face(shapes, a, b, p, q, r, n, c, margin, count, found):
    """Corners, ends and rims of a over a triangle."""
    e1, e2 = beside(n)
    _, corners = lay_side(shapes, a, 0, c, (-n[0], -n[1], -n[2]), e1, e2, n, found)
    below = dot3(p, n)
    for i in range(corners):
        u, v, h = found.corner[0, i, 0], found.corner[0, i, 1], found.corner[0, i, 2]
        gap = h - below
        if gap >= margin:
            continue
        x = (u * e1[0] + v * e2[0] + h * n[0], u * e1[1] + v * e2[1] + h * n[1], u * e1[2] + v * e2[2] + h * n[2])
        f, g = shares(p, q, r, x)
        if min(f, g, 1.0 - f - g) < -1e-9:
            continue
        # Inside, the face must be about the nearest way out: others are the way for other triangles.
        # Where the core of a round shape is outside, it is the nearest in any case.
        if (
            gap + radius_of(shapes, a) < 0.0
            and closest(shapes, b, x[0], x[1], x[2])[0] > 0.9 * gap + 1e-9 * shapes.ball[a]
        ):
            continue
        feature = found.label[0, i]
        known = False
        for j in range(count):
            if found.feature[j] % 64 == feature and found.feature[j] < CORNERS:
                # Over an edge between two faces of one plane it is the same point; elsewhere another one.
                if dot3(row3(found.normal, j), n) > 0.999999:
                    known = True
        if known:
            continue
        while _is_known(found, count, feature):
            feature += 64
        y = (x[0] - gap * n[0], x[1] - gap * n[1], x[2] - gap * n[2])
        count = put_contact(found, count, x, y, n, gap, feature)
    return count


@kernel
def _touch_corner(shapes, a, b, x, margin, count, base, found):
    """The corner x of the surface b against the signed distance of a: how many points there are then, and the distance
    of one that does not stand out; 0 of others.
    """
    d, qx, qy, qz, nx, ny, nz = closest(shapes, a, x[0], x[1], x[2])
    if d >= margin:
        return count, 0.0
    # Flat shapes leave play; see _LENIENT. A plane is below all corners: each that is near may be the one that lands.
    tolerance = _LENIENT if shapes.kind[a] == BOX or shapes.kind[a] == MESH or shapes.kind[a] == HEIGHTS else _STRICT
    if shapes.kind[a] == PLANE:
        tolerance = 2.0
    out, feature = standing_out(shapes, b, x, (nx, ny, nz), tolerance)
    if not out:
        return count, d
    if feature % 8 > 2 or _is_known(found, count, base + feature):
        return count, 0.0
    return put_contact(found, count, (qx, qy, qz), x, (-nx, -ny, -nz), d, base + feature), 0.0


@inlined
def _on(x, y, t):
    return x[0] + t * (y[0] - x[0]), x[1] + t * (y[1] - x[1]), x[2] + t * (y[2] - x[2])


@kernel
def _touch_edge(shapes, a, b, x, y, margin, count, found):
    """The edge from x to y of the surface b against the signed distance of a convex a."""
    e = sub3(y, x)
    length = math.sqrt(dot3(e, e))
    m = _on(x, y, 0.5)
    if closest(shapes, a, m[0], m[1], m[2])[0] >= margin + 0.5 * length:
        return count
    # The smallest value of a convex function: golden section, to 1e-9 of the edge.
    lower, upper, ratio = 0.0, 1.0, 0.5 * (math.sqrt(5.0) - 1.0)
    s, t = 1.0 - ratio, ratio
    m = _on(x, y, s)
    ds = closest(shapes, a, m[0], m[1], m[2])[0]
    m = _on(x, y, t)
    dt = closest(shapes, a, m[0], m[1], m[2])[0]
    for _ in range(44):
        if ds <= dt:
            upper, t, dt = t, s, ds
            s = upper - ratio * (upper - lower)
            m = _on(x, y, s)
            ds = closest(shapes, a, m[0], m[1], m[2])[0]
        else:
            lower, s, ds = s, t, dt
            t = lower + ratio * (upper - lower)
            m = _on(x, y, t)
            dt = closest(shapes, a, m[0], m[1], m[2])[0]
    s = 0.5 * (lower + upper)
    m = _on(x, y, s)
    d, qx, qy, qz, nx, ny, nz = closest(shapes, a, m[0], m[1], m[2])
    if d >= margin or s < 1e-6 or s > 1.0 - 1e-6:
        return count
    kink = False
    if d < 0.0:
        # Inside, where the nearest side of the shape changes, the normal is the mean of both that is across the edge:
        # that of two crossed edges, or of an edge and a rim.
        kink, nx, ny, nz = _mean_across(shapes, a, x, y, e, length, s)
        if kink:
            n = (nx, ny, nz)
            d = dot3(n, sub3(m, row3(shapes.place, a))) - reach(shapes, a, n)
            qx, qy, qz = m[0] - d * nx, m[1] - d * ny, m[2] - d * nz
        else:
            _, _, _, _, nx, ny, nz = closest(shapes, a, m[0], m[1], m[2])
    tolerance = _LENIENT if shapes.kind[a] == BOX else _STRICT
    out, feature = standing_out(shapes, b, m, (nx, ny, nz), tolerance)
    if not out or feature % 8 < 3 or _is_known(found, count, EDGES + 4 * feature) or _is_known(
            found, count, EDGES + 4 * feature + 1) or _is_known(found, count, EDGES + 4 * feature + 2):  # fmt: skip
        return count
    # How far the shape stays as it is there to both sides: not up to the corners, which are points of their own.
    first = _stays(shapes, a, x, y, s, 0.0, (nx, ny, nz))
    last = _stays(shapes, a, x, y, s, 1.0, (nx, ny, nz))
    if kink or (last - first) * length <= 1e-3 * shapes.ball[a]:
        return put_contact(found, count, (qx, qy, qz), m, (-nx, -ny, -nz), d, EDGES + 4 * feature)
    for way in range(2):
        end = first if way == 0 else last
        if 0.0 < end < 1.0:
            z = _on(x, y, end)
            k = closest(shapes, a, z[0], z[1], z[2])
            if k[0] < margin:
                place = (k[1], k[2], k[3])
                count = put_contact(found, count, place, z, (-nx, -ny, -nz), k[0], EDGES + 4 * feature + 1 + way)
    return count


@kernel
def _mean_across(shapes, a, x, y, e, length, s):
    """(True, mean of the gradients on both sides of the place s of an edge e that is across e), if they differ."""
    step = 1e-6
    z = _on(x, y, s - step)
    before = closest(shapes, a, z[0], z[1], z[2])
    z = _on(x, y, s + step)
    after = closest(shapes, a, z[0], z[1], z[2])
    one, two = (before[4], before[5], before[6]), (after[4], after[5], after[6])
    falls, rises = -dot3(one, e), dot3(two, e)
    if not (falls > 1e-4 * length and rises > 1e-4 * length):
        return False, 0.0, 0.0, 1.0
    n = (rises * one[0] + falls * two[0], rises * one[1] + falls * two[1], rises * one[2] + falls * two[2])
    k = 1.0 / math.sqrt(dot3(n, n))
    return True, k * n[0], k * n[1], k * n[2]


@kernel
def _stays(shapes, a, x, y, inner, outer, n):
    """How far from `inner` towards `outer` the gradient of the signed distance along the edge is n."""
    z = _on(x, y, outer)
    k = closest(shapes, a, z[0], z[1], z[2])
    if k[4] * n[0] + k[5] * n[1] + k[6] * n[2] > 1.0 - 1e-9:
        return outer
    for _ in range(40):
        middle = 0.5 * (inner + outer)
        z = _on(x, y, middle)
        k = closest(shapes, a, z[0], z[1], z[2])
        if k[4] * n[0] + k[5] * n[1] + k[6] * n[2] > 1.0 - 1e-9:
            inner = middle
        else:
            outer = middle
    return inner


# ------------------------------------------------------------------------------------------------------- two surfaces


@kernel
def touch_surfaces(shapes, a, b, margin, found):
    """A mesh a and a plane, a mesh or a height field b.

    Where they overlap and nothing that stands out was found, as far inside another part of the surface is nearest, the
    deepest corner counts: no overlap goes unseen.
    """
    count, deep, triangle, corner = _touch_corners(shapes, b, a, margin, 0, FIRST_CORNERS, found)
    # These were found as corners of the second.
    for i in range(count):
        for k in range(3):
            P, Q, N = found.first_place, found.second_place, found.normal
            P[i, k], Q[i, k], N[i, k] = Q[i, k], P[i, k], -N[i, k]
    if shapes.kind[b] == PLANE:
        return count
    count, other_deep, other_triangle, other_corner = _touch_corners(shapes, a, b, margin, count, CORNERS, found)
    count = _touch_edges(shapes, a, b, margin, count, found)
    if min(deep, other_deep) < -_UNSEEN * min(shapes.ball[a], _size_of(shapes, b)):
        for i in range(count):
            if found.gap[i] < 0.0:
                return count
        if deep <= other_deep:
            x = corner_at(shapes, a, triangle, corner)
            d, qx, qy, qz, nx, ny, nz = closest(shapes, b, x[0], x[1], x[2])
            return put_contact(found, count, x, (qx, qy, qz), (nx, ny, nz), d, FIRST_CORNERS + 8 * triangle + corner)
        x = corner_at(shapes, b, other_triangle, other_corner)
        d, qx, qy, qz, nx, ny, nz = closest(shapes, a, x[0], x[1], x[2])
        return put_contact(
            found, count, (qx, qy, qz), x, (-nx, -ny, -nz), d, CORNERS + 8 * other_triangle + other_corner
        )
    return count


@inlined
def _size_of(shapes, s):
    """Half the size of a mesh; of a height field none."""
    return shapes.ball[s] if shapes.kind[s] == MESH else math.inf


@inlined
def _box_of(shapes, s, other, margin):
    """A box in the own frame of `other` that holds the shape s, a mesh, and the margin; without an end for others."""
    if shapes.kind[s] == PLANE:
        # Of the box round the mesh only what is below the plane and the margin: halves along the mesh's steepest axis.
        n = along_axes(shapes, other, axis_of(shapes, s, 2))
        k = 0 if abs(n[0]) >= abs(n[1]) and abs(n[0]) >= abs(n[2]) else (1 if abs(n[1]) >= abs(n[2]) else 2)
        top, tree = shapes.first[other], shapes.tree
        most = dot3(sub3(row3(shapes.place, s), row3(shapes.place, other)), axis_of(shapes, s, 2)) + margin
        for j in range(3):
            if j != k:
                most -= min(n[j] * tree.low[top, j], n[j] * tree.high[top, j])
        # n_k x_k < most for all that can touch.
        bound = most / n[k]
        up = bound if n[k] > 0.0 else math.inf
        down = bound if n[k] < 0.0 else -math.inf
        low = (down if k == 0 else -math.inf, down if k == 1 else -math.inf, down if k == 2 else -math.inf)
        return low, (up if k == 0 else math.inf, up if k == 1 else math.inf, up if k == 2 else math.inf)
    if shapes.kind[s] != MESH:
        return (-math.inf, -math.inf, -math.inf), (math.inf, math.inf, math.inf)
    top, tree = shapes.first[s], shapes.tree
    x, y, z = sub3(row3(shapes.place, s), row3(shapes.place, other))
    half = (0.0, 0.0, 0.0)
    for j in range(3):
        m, h = 0.5 * (tree.low[top, j] + tree.high[top, j]), 0.5 * (tree.high[top, j] - tree.low[top, j])
        axis = axis_of(shapes, s, j)
        x, y, z = x + m * axis[0], y + m * axis[1], z + m * axis[2]
        d = along_axes(shapes, other, axis)
        half = (half[0] + h * abs(d[0]), half[1] + h * abs(d[1]), half[2] + h * abs(d[2]))
    c = along_axes(shapes, other, (x, y, z))
    low = (c[0] - half[0] - margin, c[1] - half[1] - margin, c[2] - half[2] - margin)
    return low, (c[0] + half[0] + margin, c[1] + half[1] + margin, c[2] + half[2] + margin)


@kernel
def _touch_corners(shapes, a, b, margin, count, base, found):
    """Corners of the surface b against the signed distance of a: their number, and the deepest one that does not stand
    out: its distance, its triangle and its number there.
    """
    deep, triangle, corner = 0.0, 0, 0
    low, high = _box_of(shapes, a, b, margin)
    if shapes.kind[b] == HEIGHTS:
        high = (high[0], high[1], math.inf)
    node, t = next_triangle(shapes, b, low, high, -1, -1)
    while t >= 0:
        for k in range(3):
            own = own_corner(shapes, b, t, k)
            inside = True
            for j in range(3):
                inside = inside and low[j] <= own[j] <= high[j]
            if inside and owns_corner(shapes, b, t, k):
                x = corner_at(shapes, b, t, k)
                count, d = _touch_corner(shapes, a, b, x, margin, _room(found, count), base, found)
                if d < deep:
                    deep, triangle, corner = d, t, k
        node, t = next_triangle(shapes, b, low, high, node, t)
    return count, deep, triangle, corner


@kernel
def _touch_edges(shapes, a, b, margin, count, found):
    """Edges of two surfaces that cross, within twice the margin of each other."""
    low, high = _box_of(shapes, b, a, margin)
    node, t = next_triangle(shapes, a, low, high, -1, -1)
    while t >= 0:
        for k in range(3):
            n = normal_of(own_corner(shapes, a, t, 0), own_corner(shapes, a, t, 1), own_corner(shapes, a, t, 2))
            if edge_bends(shapes, a, t, k, n)[0]:
                x, y = corner_at(shapes, a, t, k), corner_at(shapes, a, t, (k + 1) % 3)
                count = _cross_surface(shapes, a, b, x, y, margin, count, found)
        node, t = next_triangle(shapes, a, low, high, node, t)
    return count


@kernel
def _cross_surface(shapes, a, b, x, y, margin, count, found):
    """Edges of b that the edge from x to y of a crosses."""
    p, q = along_axes(shapes, b, sub3(x, row3(shapes.place, b))), along_axes(shapes, b, sub3(y, row3(shapes.place, b)))
    r = 2.0 * margin
    low = (min(p[0], q[0]) - r, min(p[1], q[1]) - r, min(p[2], q[2]) - r)
    high = (max(p[0], q[0]) + r, max(p[1], q[1]) + r, max(p[2], q[2]) + r)
    node, t = next_triangle(shapes, b, low, high, -1, -1)
    while t >= 0:
        for k in range(3):
            n = normal_of(own_corner(shapes, b, t, 0), own_corner(shapes, b, t, 1), own_corner(shapes, b, t, 2))
            if edge_bends(shapes, b, t, k, n)[0]:
                z, v = corner_at(shapes, b, t, k), corner_at(shapes, b, t, (k + 1) % 3)
                count = _cross_edges(shapes, a, b, x, y, z, v, margin, _room(found, count), found)
        node, t = next_triangle(shapes, b, low, high, node, t)
    return count


@inlined
def _is_across(shapes, a, b, p, q, gap, margin):
    """Whether p on a and q on b, which face each other, have both solids between them: the far edges of two rings.

    What is deeper than both fly in the step (half the margin) overlaps there only if each is inside the other one.
    """
    if gap >= -0.5 * margin:
        return False
    return closest(shapes, b, p[0], p[1], p[2])[0] > 0.0 or closest(shapes, a, q[0], q[1], q[2])[0] > 0.0


@kernel
def _cross_edges(shapes, a, b, x, y, z, w, margin, count, found):
    """The edge from x to y of a and that from z to w of b, if their closest places are inside both."""
    e, f, g = sub3(y, x), sub3(w, z), sub3(x, z)
    n = cross3(e, f)
    square = dot3(n, n)
    if not square > 1e-8 * dot3(e, e) * dot3(f, f):
        return count  # parallel: corners say where they touch
    s, t = dot3(cross3(f, g), n) / square, dot3(cross3(e, g), n) / square
    if not (1e-6 < s < 1.0 - 1e-6 and 1e-6 < t < 1.0 - 1e-6):
        return count
    k = 1.0 / math.sqrt(square)
    d = k * dot3(n, g)
    if abs(d) >= 2.0 * margin:
        return count
    p, q = _on(x, y, s), _on(z, w, t)
    for way in range(2):
        sign = k if way == 0 else -k
        m = (sign * n[0], sign * n[1], sign * n[2])
        gap = d if way == 0 else -d
        if gap < margin and not _is_across(shapes, a, b, p, q, gap, margin):
            out_a, one = standing_out(shapes, a, p, m, _LENIENT)
            if out_a:
                out_b, two = standing_out(shapes, b, q, (-m[0], -m[1], -m[2]), _LENIENT)
                # Feature numbers of both fit below 2^62 for up to 2^17 triangles of each.
                feature = EDGES + (one + (two << 20)) * 2
                if out_b and not _is_known(found, count, feature):
                    return put_contact(found, count, p, q, m, gap, feature)
    return count
