"""Contacts of solids with each other: rigid bodies, pearls, obstacles."""

from __future__ import annotations

from sennit.bodies.kernels.points import WORLD
from sennit.compilation import inlined, kernel
from sennit.contact.kernels.pairs import touch_shapes
from sennit.contact.kernels.put import carrier_of, put
from sennit.geometry.kernels.algebra import row3, scale3
from sennit.geometry.kernels.distances import TUBES, box_round


@inlined
def _near(shapes, a, b, margin):
    """Whether the boxes of two shapes are closer than the margin."""
    near = True
    for c in range(3):
        near = (
            near and shapes.low[a, c] - margin <= shapes.high[b, c] and shapes.low[b, c] - margin <= shapes.high[a, c]
        )
    return near


@inlined
def _rank(s, shapes):
    """Which of two shapes is on the first side: pearls before rigid bodies before obstacles."""
    if shapes.slider[s] >= 0:
        return 2
    return 1 if shapes.rigid[s] >= 0 else 0


@kernel
def rigid_rigid(touch, contacts, count):
    """Add all contacts of rigid bodies and pearls to the `count` that there are: how many then.

    Shapes are where free flight takes them. Pairs come in the order of their numbers.
    """
    shapes, found = touch.shapes, touch.manifold
    for s in range(shapes.collider.size):
        box_round(shapes.shapes, s, shapes.low, shapes.high)
    total = shapes.collider.size
    for i in range(total):
        for j in range(i):
            a, b = (i, j) if _rank(i, shapes) >= _rank(j, shapes) else (j, i)
            kind, number, at = carrier_of(a, shapes)
            law = int(touch.colliders.law[shapes.collider[a], shapes.collider[b]])
            if law == 0 or kind == WORLD or shapes.collider[a] == shapes.collider[b]:
                continue
            if shapes.shapes.kind[b] == TUBES:
                continue  # of pearls: see `pearls`
            margin = shapes.margin[a] + shapes.margin[b] + touch.laws.margin[law]
            if not _near(shapes, a, b, margin):
                continue
            points = touch_shapes(shapes.shapes, a, b, margin, found)
            other_kind, other, other_at = carrier_of(b, shapes)
            for k in range(points):
                places = row3(found.first_place, k), row3(found.second_place, k)
                features = int(found.feature[k]), total * a + b
                put(
                    contacts, count, (kind, other_kind), (number, other), features, b, law, 0, (at, other_at), places,
                    scale3(1.0, row3(found.normal, k)), found.gap[k],
                )  # fmt: skip
                if count < contacts.gap.size:
                    contacts.first_shape[count] = a
                count += 1
    return count
