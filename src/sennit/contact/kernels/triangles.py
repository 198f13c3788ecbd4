"""The triangles of meshes and height fields near a place, and whether their corners and edges stand out there.

`shapes` is a `ShapeTable`, s a row of it with a mesh or a height field. Places are in the world's frame unless a name
says "own".
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel
from sennit.contact.kernels.forms import along_axes, out_of
from sennit.geometry.kernels.algebra import cross3, dot3, row3, sub3
from sennit.geometry.kernels.distances import MESH

_AT = 1e-7
"""Part of a triangle's size within which a place counts as on it."""
_FLAT = 1.0 - 1e-9
"""Cosine of the angle between two faces up to which they are one."""

_UPRIGHT = 1e-6
"""Sine by which what touches the side of a height field may point up."""


@kernel
def next_triangle(shapes, s, low, high, node, t):
    """The next triangle whose box meets the box low … high of the shape's own frame: (node, t), t = −1 behind the last.

    Begin with node = −1, t = −1.
    """
    if shapes.kind[s] == MESH:
        return _next_of_mesh(shapes.tree, shapes.first[s], shapes.end[s], low, high, node, t)
    return _next_of_field(shapes, s, low, high, t)


@kernel
def _next_of_mesh(tree, begin, end, low, high, node, t):
    if node < 0:
        node = begin
    elif t + 1 < tree.first[node] + tree.count[node]:
        return node, t + 1
    else:
        node += 1
    while node < end:
        apart = False
        for k in range(3):
            apart = apart or tree.low[node, k] > high[k] or tree.high[node, k] < low[k]
        if apart:
            node = tree.skip[node]
        elif tree.count[node] > 0:
            return node, tree.first[node]
        else:
            node += 1
    return node, -1


@kernel
def _next_of_field(shapes, s, low, high, t):
    a, b, nx, ny = shapes.size[s, 0], shapes.size[s, 1], shapes.cells[s, 0], shapes.cells[s, 1]
    if high[0] < -a or low[0] > a or high[1] < -b or low[1] > b or low[2] > shapes.size[s, 3]:
        return 0, -1
    dx, dy = 2.0 * a / nx, 2.0 * b / ny
    i0, i1 = min(max(int((low[0] + a) / dx), 0), nx - 1), min(max(int((high[0] + a) / dx), 0), nx - 1)
    j0, j1 = min(max(int((low[1] + b) / dy), 0), ny - 1), min(max(int((high[1] + b) / dy), 0), ny - 1)
    if t < 0:
        return 0, 2 * (i0 * ny + j0)
    if t % 2 == 0:
        return 0, t + 1
    i, j = (t // 2) // ny, (t // 2) % ny
    if j < j1:
        return 0, t + 1
    return (0, 2 * ((i + 1) * ny + j0)) if i < i1 else (0, -1)


@kernel
def own_corner(shapes, s, t, k):
    """Corner k of triangle t in the shape's own frame."""
    if shapes.kind[s] == MESH:
        C = shapes.tree.corners
        return C[t, k, 0], C[t, k, 1], C[t, k, 2]
    a, b, nx, ny = shapes.size[s, 0], shapes.size[s, 1], shapes.cells[s, 0], shapes.cells[s, 1]
    i, j = (t // 2) // ny, (t // 2) % ny
    if t % 2 == 0:
        i, j = (i, j) if k == 0 else ((i + 1, j) if k == 1 else (i + 1, j + 1))
    else:
        i, j = (i, j) if k == 0 else ((i + 1, j + 1) if k == 1 else (i, j + 1))
    # Mirrored sums, so that neighbours get the same numbers.
    return 2.0 * a / nx * i - a, 2.0 * b / ny * j - b, shapes.heights.z[shapes.first[s] + i * (ny + 1) + j]


@inlined
def corner_at(shapes, s, t, k):
    """Corner k of triangle t in the world."""
    x, y, z = own_corner(shapes, s, t, k)
    return out_of(shapes, s, row3(shapes.place, s), x, y, z)


@inlined
def normal_of(p, q, r):
    """Unit normal of a triangle."""
    n = cross3(sub3(q, p), sub3(r, p))
    k = 1.0 / math.sqrt(dot3(n, n))
    return k * n[0], k * n[1], k * n[2]


@inlined
def is_before(p, q):
    """An order of places: of the two triangles at an edge one has its ends in this order."""
    return p[0] < q[0] or (p[0] == q[0] and (p[1] < q[1] or (p[1] == q[1] and p[2] < q[2])))


@kernel
def edge_bends(shapes, s, t, k, n):
    """Whether the edge from corner k of triangle t, with normal n (own frame), stands out: (yes, whether it is t's).

    Each edge belongs to one of its two triangles, so that it is looked at once.
    """
    x, y = own_corner(shapes, s, t, k), own_corner(shapes, s, t, (k + 1) % 3)
    away = sub3(x, own_corner(shapes, s, t, (k + 2) % 3))
    if shapes.kind[s] == MESH:
        if not is_before(x, y):
            return False, False
        m = shapes.tree.normals
        e = (m[t, 1 + k, 0], m[t, 1 + k, 1], m[t, 1 + k, 2])
        twice = 2.0 * dot3(e, n)
        other = (twice * e[0] - n[0], twice * e[1] - n[1], twice * e[2] - n[2])  # e is the middle of both normals
    else:
        nx, ny = shapes.cells[s, 0], shapes.cells[s, 1]
        i, j = (t // 2) // ny, (t // 2) % ny
        if t % 2 == 0:
            i, j = (i, j - 1) if k == 0 else ((i + 1, j) if k == 1 else (i, j))
        else:
            i, j = (i, j) if k == 0 else ((i, j + 1) if k == 1 else (i - 1, j))
        if i < 0 or j < 0 or i >= nx or j >= ny:
            return True, True  # the rim of the field
        if t % 2 == 1:
            return False, False
        u = 2 * (i * ny + j) + 1
        other = normal_of(own_corner(shapes, s, u, 0), own_corner(shapes, s, u, 1), own_corner(shapes, s, u, 2))
    return dot3(other, away) > 1e-6 * math.sqrt(dot3(away, away)), True


@inlined
def owns_corner(shapes, s, t, k):
    """Whether the node of a height field is to be looked at with this triangle; of meshes all are."""
    if shapes.kind[s] == MESH or (k == 0 and t % 2 == 0):
        return True
    nx, ny = shapes.cells[s, 0], shapes.cells[s, 1]
    i, j = (t // 2) // ny, (t // 2) % ny
    return k > 0 and (i == nx - 1 or j == ny - 1)


@inlined
def shares(p, q, r, x):
    """Barycentric coordinates of the place x over a triangle: those of its second and third corner."""
    e, f, g = sub3(q, p), sub3(r, p), sub3(x, p)
    ee, ef, ff, ge, gf = dot3(e, e), dot3(e, f), dot3(f, f), dot3(g, e), dot3(g, f)
    k = 1.0 / (ee * ff - ef * ef)
    return k * (ff * ge - ef * gf), k * (ee * gf - ef * ge)


@inlined
def angle_at(p, q, r, u, v, w, slack):
    """Angle of a triangle at its place with the shares u, v and w: at its corners; π on its edges."""
    x, y, z = p, q, r
    if v > 1.0 - slack:
        x, y, z = q, r, p
    elif w > 1.0 - slack:
        x, y, z = r, p, q
    elif not u > 1.0 - slack:
        return math.pi
    e, f = sub3(y, x), sub3(z, x)
    c = cross3(e, f)
    return math.atan2(math.sqrt(dot3(c, c)), dot3(e, f))


@kernel
def standing_out(shapes, s, x, n, tolerance):
    """Whether the surface about its place x lies wholly on the side of n: (yes, number of a triangle's feature there).

    That is so where a solid with outward normal −n can touch it at x: all faces there run away from it, to within the
    sine `tolerance`, and what is on the side of −n is outside: the bottom of a valley does not stand out upwards. Of a
    mesh that is told by the mean of the faces' normals, weighted by their angles at x (J. A. Bærentzen, H. Aanæs, IEEE
    TVCG 11, 2005); of a height field, whose sides are no triangles, by n alone. A place in a flat part does not stand
    out. The feature is 8 t + k with the first triangle t that has x on its corner k = 0 … 2, on its edge k = 3 … 5, or
    inside, k = 6.
    """
    own = along_axes(shapes, s, sub3(x, row3(shapes.place, s)))
    m = along_axes(shapes, s, n)
    reach = shapes.ball[s] if shapes.kind[s] == MESH else shapes.size[s, 0] + shapes.size[s, 1]
    near = _AT * reach
    low = (own[0] - near, own[1] - near, own[2] - near)
    high = (own[0] + near, own[1] + near, own[2] + near)
    feature = -1
    flat = True
    outwards = 0.0
    first = (0.0, 0.0, 0.0)
    node, t = next_triangle(shapes, s, low, high, -1, -1)
    while t >= 0:
        p, q, r = own_corner(shapes, s, t, 0), own_corner(shapes, s, t, 1), own_corner(shapes, s, t, 2)
        v, w = shares(p, q, r, own)
        u = 1.0 - v - w
        f = normal_of(p, q, r)
        slack = 1e-6
        if min(u, v, w) > -slack and abs(dot3(f, sub3(own, p))) <= near:
            for c in (p, q, r):
                e = sub3(c, own)
                if dot3(e, m) < -tolerance * math.sqrt(dot3(e, e)) - near:
                    return False, -1
            outwards += angle_at(p, q, r, u, v, w, slack) * dot3(f, m)
            if feature < 0:
                part = 6
                for k in range(3):
                    share = u if k == 0 else (v if k == 1 else w)
                    if share < slack:
                        part = 3 + (k + 1) % 3
                for k in range(3):
                    share = u if k == 0 else (v if k == 1 else w)
                    if share > 1.0 - slack:
                        part = k
                feature, first = 8 * t + part, f
            elif dot3(f, first) < _FLAT:
                flat = False
        node, t = next_triangle(shapes, s, low, high, node, t)
    outside = outwards < 0.0 if shapes.kind[s] == MESH else m[2] < _UPRIGHT
    return feature >= 0 and not flat and outside, feature
