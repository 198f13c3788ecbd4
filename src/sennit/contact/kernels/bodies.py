"""Contacts of rigid bodies with each other and with obstacles."""

from __future__ import annotations

from sennit.bodies.kernels.points import RIGID, WORLD
from sennit.compilation import inlined, kernel
from sennit.contact.kernels.pairs import touch_shapes
from sennit.contact.kernels.put import put
from sennit.geometry.kernels.algebra import row3, scale3
from sennit.geometry.kernels.distances import box_round


@inlined
def _near(shapes, a, b, margin):
    """Whether the boxes of two shapes are closer than the margin."""
    near = True
    for c in range(3):
        near = (
            near and shapes.low[a, c] - margin <= shapes.high[b, c] and shapes.low[b, c] - margin <= shapes.high[a, c]
        )
    return near


@kernel
def rigid_rigid(touch, contacts, count):
    """Add all contacts of rigid bodies to the `count` that there are: how many then.

    Shapes are where free flight takes them. Pairs come in the order of their numbers.
    """
    shapes, found = touch.shapes, touch.manifold
    for s in range(shapes.collider.size):
        box_round(shapes.shapes, s, shapes.low, shapes.high)
    total = shapes.collider.size
    for i in range(total):
        for j in range(i):
            # the first side is a rigid body
            a, b = (i, j) if shapes.rigid[i] >= 0 else (j, i)
            law = int(touch.colliders.law[shapes.collider[a], shapes.collider[b]])
            if law == 0 or shapes.rigid[a] < 0 or shapes.collider[a] == shapes.collider[b]:
                continue
            margin = shapes.margin[a] + shapes.margin[b] + touch.laws.margin[law]
            if not _near(shapes, a, b, margin):
                continue
            points = touch_shapes(shapes.shapes, a, b, margin, found)
            kinds = RIGID, RIGID if shapes.rigid[b] >= 0 else WORLD
            for k in range(points):
                places = row3(found.first_place, k), row3(found.second_place, k)
                features = int(found.feature[k]), total * a + b
                put(
                    contacts, count, kinds, (shapes.rigid[a], shapes.rigid[b]), features, b, law, 0, (0.0, 0.0), places,
                    scale3(1.0, row3(found.normal, k)), found.gap[k],
                )  # fmt: skip
                if count < contacts.gap.size:
                    contacts.first_shape[count] = a
                count += 1
    return count
