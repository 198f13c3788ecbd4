"""Solids that fly too far in a step for what they may meet in it.

Contacts of rigid shapes are found where free flight takes them. A ball that has flown beyond the middle of a board is
pushed out on its far side; one that has flown through it has the board behind it. Either way the row's gap, where the
step begins or where free flight ends it, is deeper than half of the thinner of the two. Such a step is divided.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.points import RIGID, SLIDER, ZONE
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.distances import BOX, CAPSULE, CYLINDER, MESH, SPHERE

CONTACT_FAST = 10
"""What a step missed, besides `solve.kernels.codes`: solids would have passed through each other."""
THROUGH = 0.5
"""Of the radius of the thinner solid, by which free flight may take them into each other."""
OF_BALL = 0.25
"""Radius of what is in a mesh, over that of the ball about it, as it is taken here."""


@inlined
def inner_radius(s, shapes):
    """Radius of the largest ball in a shape, m; infinite if it has no far side."""
    kind = shapes.kind[s]
    if kind == SPHERE or kind == CAPSULE:
        return shapes.size[s, 0]
    if kind == BOX:
        return min(shapes.size[s, 0], shapes.size[s, 1], shapes.size[s, 2])
    if kind == CYLINDER:
        return min(shapes.size[s, 0], shapes.size[s, 1])
    return OF_BALL * shapes.ball[s] if kind == MESH else math.inf


@kernel
def flies_through(scene):
    """How deep solids would be in each other beyond what a step can follow (m), and their contact; -1: none do."""
    touch = scene.touch
    contacts, rows, shapes = touch.contacts, touch.rows, touch.shapes.shapes
    worst, culprit = 0.0, -1
    for k in range(min(touch.state.found[0], contacts.gap.size)):
        soft = contacts.first_kind[k] == ZONE
        solid = contacts.first_kind[k] == RIGID or contacts.first_kind[k] == SLIDER or soft
        if not solid or contacts.pressed_by[k] != k or contacts.second_kind[k] == ZONE:
            continue  # what meets zones stays on its side of their faces: see `contact.kernels.skin_faces`
        thin = inner_radius(contacts.second_shape[k], shapes)
        if not soft:
            thin = min(inner_radius(contacts.first_shape[k], shapes), thin)
        flown = abs(rows.start[k] - rows.flight[k])
        deep = -min(rows.start[k], rows.flight[k]) - THROUGH * thin
        if deep > worst and flown > 0.5 * THROUGH * thin:
            worst, culprit = deep, k
    return worst, culprit
