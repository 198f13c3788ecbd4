"""One row of the contacts that a step looks at."""

from __future__ import annotations

import math

from sennit.bodies.kernels.points import RIGID, SLIDER, WORLD
from sennit.compilation import inlined
from sennit.geometry.kernels.algebra import put3


@inlined
def carrier_of(s, shapes):
    """What carries a shape: its kind (`bodies.kernels.points`), its number among those (-1: the world), and of a pearl
    its place u on its rod.
    """
    if shapes.rigid[s] >= 0:
        return RIGID, shapes.rigid[s], 0.0
    if shapes.slider[s] >= 0:
        return SLIDER, shapes.slider[s], shapes.at[s]
    return WORLD, shapes.rigid[s], 0.0


@inlined
def put(contacts, row, kinds, numbers, features, shape, law, at_start, at, places, normal, gap):
    """Fill a row of `Contacts`, if there is room for it; pairs are of the first and of the second side.

    `shape`: that of the second side; -1: it is a rod.
    """
    if row < contacts.gap.size:
        contacts.first_kind[row], contacts.second_kind[row] = kinds
        contacts.first[row], contacts.second[row] = numbers
        contacts.first_feature[row], contacts.second_feature[row] = features
        contacts.second_shape[row] = shape
        contacts.law[row], contacts.at_start[row] = law, at_start
        contacts.first_at[row], contacts.second_at[row] = at
        put3(contacts.first_place, row, places[0])
        put3(contacts.second_place, row, places[1])
        put3(contacts.normal, row, normal)
        contacts.gap[row], contacts.bore[row] = gap, 0.0
        contacts.begun[row] = gap if at_start == 1 else math.inf


@inlined
def copy_contact(contacts, source, target):
    """Let row `target` be what row `source` is."""
    c = contacts
    if source != target:
        c.first_kind[target], c.second_kind[target] = c.first_kind[source], c.second_kind[source]
        c.first[target], c.second[target] = c.first[source], c.second[source]
        c.first_feature[target], c.second_feature[target] = c.first_feature[source], c.second_feature[source]
        c.second_shape[target] = c.second_shape[source]
        c.law[target], c.at_start[target] = c.law[source], c.at_start[source]
        c.first_at[target], c.second_at[target] = c.first_at[source], c.second_at[source]
        for i in range(3):
            c.first_place[target, i] = c.first_place[source, i]
            c.second_place[target, i] = c.second_place[source, i]
            c.normal[target, i] = c.normal[source, i]
        c.gap[target], c.bore[target] = c.gap[source], c.bore[source]
        c.begun[target] = c.begun[source]
        for i in range(3):
            c.shares[target, i] = c.shares[source, i]
