"""Where two shapes touch: the one function that chooses by their kinds.

`shapes` is a `ShapeTable`, a and b are rows of it, `found` is a `Manifold`. Two planes, two height fields, a plane and
a height field stand in the world and are not looked at; tubes hold rods alone.
"""

from __future__ import annotations

from sennit.compilation import inlined, kernel
from sennit.contact.kernels.convex import touch_convex, touch_plane
from sennit.contact.kernels.reduction import drop_twins, reduce_points
from sennit.contact.kernels.rounds import touch_sphere
from sennit.contact.kernels.surfaces import touch_surface, touch_surfaces
from sennit.geometry.kernels.distances import TUBES, HEIGHTS, MESH, PLANE, SPHERE

_TWINS = 1e-4
"""Part of the shapes' size below which two points are one: corners of equal boxes in a stack."""


@inlined
def _rank(kind):
    """Which of two shapes comes first: convex ones but spheres, spheres, meshes, planes, height fields."""
    if kind == MESH:
        return 2
    if kind == PLANE:
        return 3
    if kind == HEIGHTS:
        return 4
    return 0 if kind == SPHERE else 1


@kernel
def touch_shapes(shapes, a, b, margin, found):
    """Points where shapes a and b are closer than `margin` (m): how many, in the first rows of `found`.

    Each has a place on the surface of a and one on that of b, the unit normal from b to a, the distance of the two
    along it (negative where they overlap), and a feature that stays the same while the same parts touch. For convex
    shapes and planes the deepest point has their signed distance. For meshes and height fields distances are those of
    corners and edges of one from the other, a face's or an edge's at a time.
    """
    swapped = _rank(shapes.kind[a]) > _rank(shapes.kind[b])
    count = _touch_in_order(shapes, b, a, margin, found) if swapped else _touch_in_order(shapes, a, b, margin, found)
    if swapped:
        P, Q, N = found.first_place, found.second_place, found.normal
        for i in range(count):
            for k in range(3):
                P[i, k], Q[i, k] = Q[i, k], P[i, k]
                N[i, k] = -N[i, k]
    return count


@kernel
def _touch_in_order(shapes, a, b, margin, found):
    first, second = _rank(shapes.kind[a]), _rank(shapes.kind[b])
    if first >= 3 or shapes.kind[a] == TUBES or shapes.kind[b] == TUBES:
        return 0
    if first == 2:
        return reduce_points(found, touch_surfaces(shapes, a, b, margin, found))
    if second == 2 or second == 4:
        return reduce_points(found, touch_surface(shapes, a, b, margin, found))
    if first == 0:
        return touch_sphere(shapes, a, b, margin, found)
    if second == 3:
        count = touch_plane(shapes, a, b, margin, found)
    else:
        count = touch_convex(shapes, a, b, margin, found)
    for i in range(count):
        for k in range(3):
            found.first_place[i, k] += shapes.place[a, k]
            found.second_place[i, k] += shapes.place[a, k]
    if second == 1 and count > 1:
        count = drop_twins(found, 0, count, _TWINS * (shapes.ball[a] + shapes.ball[b]))
    return reduce_points(found, count)
