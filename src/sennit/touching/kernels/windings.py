"""Rods that wind about each other, or about themselves: more tightly than their spans, or a step, can follow.

**Steps.** Rows of contacts keep the normals of where the step begins. How these turn as rods move is not in the matrix:
where forces λ are large against what inertia resists over the distance d of centre lines, λ h²/(d m) ≫ 1 with m the
mass of a span, nothing but elasticity keeps a winding from swinging from step to step about where it would rest. Knots
were seen to shake themselves loose above some 150, and to come to rest below 60. So a step that begins with more than
`STIFF` is divided, if rods touch at three places or more: rods that merely cross are held by their own tension.

**Spans.** Where rods lie along each other each span is held at one place, the foot of its middle. In a winding of
radius r and angle α the normal turns by ℓ sin α/r from one span of length ℓ to the next: spans of five radii were seen
to let a plectoneme overlap by 7 % of the diameter between these places, spans of three radii by less than 1 %.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import DISCRETE, SPLINE
from sennit.compilation import inlined, kernel, merged
from sennit.contact.kernels.rods import FOOT
from sennit.geometry.kernels.algebra import dot3
from sennit.touching.kernels.ends import radius_of

CONTACT_STIFF = 9
"""What a step missed, besides `solve.kernels.codes`: it is too long for the forces in a winding."""
STIFF = 60.0
"""λ h²/(d m) above which a step is divided."""
BRIEF = 1e-3
"""s: steps that are so short are not divided for that."""
WINDING = 3
"""Contacts between two rods, or of one with itself, that make a winding."""
LONGEST = 3.0
"""Radii that a span of a rod that winds tightly may be long."""
TURN = math.cos(0.5)
"""Of the angle by which the normals of neighbouring spans differ in a tight winding."""


@inlined
def is_long(kind, body, scene):
    """Whether the spans of a rod are too long for tight windings."""
    rods = scene.splines.rods if kind == SPLINE else scene.discretes.rods
    return rods.length[body] > LONGEST * rods.radius[body] * rods.spans[body]


@inlined
def note_coarse(kind, body, scene):
    """Note a rod that is coarse. Returns whether that is new."""
    sides = scene.touch.splines if kind == SPLINE else scene.touch.discretes
    if sides.coarse[body] == 1 or not is_long(kind, body, scene):
        return False
    sides.coarse[body] = 1
    return True


@merged
def lies_along(k, scene):
    """Whether contact k presses a rod that is coarse along another, or along itself."""
    contacts, rows = scene.touch.contacts, scene.touch.rows
    kind, other = contacts.first_kind[k], contacts.second_kind[k]
    if (kind != SPLINE and kind != DISCRETE) or (other != SPLINE and other != DISCRETE):
        return False
    if rows.force[k, 0] <= 0.0 or contacts.first_feature[k] & 1 != FOOT or contacts.pressed_by[k] != k:
        return False
    return is_long(kind, contacts.first[k], scene) or is_long(other, contacts.second[k], scene)


@kernel
def note_windings(scene):
    """Note rods that wind too tightly for their spans. Returns whether one is new."""
    contacts, slots = scene.touch.contacts, scene.touch.slots
    news = False
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k < 0 or not lies_along(k, scene):
            continue
        for t in range(slots.contact.size):
            j = slots.contact[t]
            if j < 0 or contacts.first_feature[j] != contacts.first_feature[k] + 2 or not lies_along(j, scene):
                continue
            same = contacts.first[j] == contacts.first[k] and contacts.second[j] == contacts.second[k]
            same = same and contacts.first_kind[j] == contacts.first_kind[k]
            same = same and contacts.second_kind[j] == contacts.second_kind[k]
            # the other side goes on, too: not another winding
            same = same and abs(contacts.second_feature[j] - contacts.second_feature[k]) <= 4
            if same and dot3(get3(contacts.normal, k), get3(contacts.normal, j)) < TURN:
                news = note_coarse(contacts.first_kind[k], contacts.first[k], scene) or news
                news = note_coarse(contacts.second_kind[k], contacts.second[k], scene) or news
    return news


@inlined
def mass_of_span(kind, body, scene):
    """Mass of one span of a rod, kg."""
    rods = scene.splines.rods if kind == SPLINE else scene.discretes.rods
    return rods.mass_per_length[body] * rods.length[body] / rods.spans[body]


@merged
def is_winding(k, count, scene):
    """Whether the two rods of contact k, or the one, pressed on each other at several of the `count` places."""
    contacts, rows = scene.touch.contacts, scene.touch.rows
    places = 0
    for j in range(count):
        same = contacts.first[j] == contacts.first[k] and contacts.second[j] == contacts.second[k]
        same = same and contacts.first_kind[j] == contacts.first_kind[k]
        same = same and contacts.second_kind[j] == contacts.second_kind[k]
        if same and rows.pressed[j] == 1 and contacts.pressed_by[j] == j:
            places += 1
    return places >= WINDING


@kernel
def too_stiff(scene):
    """The largest λ h²/(d m) of a winding with the forces of the last step, and its contact; -1: all below `STIFF`."""
    contacts, rows = scene.touch.contacts, scene.touch.rows
    h = abs(scene.step.step[0])
    worst, culprit = STIFF, -1
    if h <= BRIEF or scene.settings.static[0] == 1 or scene.settings.lenient[0] == 1:
        return worst, culprit
    count = min(scene.touch.state.found[0], contacts.gap.size)
    for k in range(count):
        kind, other_kind = contacts.first_kind[k], contacts.second_kind[k]
        if rows.pressed[k] == 0 or contacts.pressed_by[k] != k or (other_kind != SPLINE and other_kind != DISCRETE):
            continue
        body, other = contacts.first[k], contacts.second[k]
        distance = radius_of(kind, body, contacts.first_at[k], scene)
        distance += radius_of(other_kind, other, contacts.second_at[k], scene)
        mass = min(mass_of_span(kind, body, scene), mass_of_span(other_kind, other, scene))
        ratio = rows.force[k, 0] * h * h / (distance * mass)
        if ratio > worst and is_winding(k, count, scene):
            worst, culprit = ratio, k
    return worst, culprit
