"""What a step's contacts mean for the account: who presses on whom, and what work is done on the scene."""

from __future__ import annotations

from sennit.bodies.kernels.points import DISCRETE, RIGID, SLIDER, SPLINE, ZONE
from sennit.compilation import inlined, merged
from sennit.contact.kernels.rows import along


@inlined
def vertex_of_side(k, second, touch):
    """A row of `Skins` that the zone on a side of contact k has."""
    return touch.faces.corner[touch.contacts.second_shape[k], 0] if second else touch.contacts.first_shape[k]


@inlined
def group_of_side(k, second, touch, groups):
    """The group of a side of contact k, of a zone that of what carries it; -1: the world."""
    contacts = touch.contacts
    kind = contacts.second_kind[k] if second else contacts.first_kind[k]
    body = contacts.second[k] if second else contacts.first[k]
    if kind == ZONE:
        carrier = touch.skins.carrier[vertex_of_side(k, second, touch)]
        return groups.of_rigid[carrier] if carrier >= 0 else -1
    if kind == RIGID:
        return groups.of_rigid[body]
    if kind == SLIDER:
        return groups.of_slider[body]
    if kind == SPLINE:
        return groups.of_spline[body]
    return groups.of_discrete[body] if kind == DISCRETE else -1


@merged
def note_touched(scene):
    """Which groups something presses on, and the work that contacts do on the scene in the step: moving obstacles, and
    those that push apart what overlaps.
    """
    touch, groups = scene.touch, scene.groups
    contacts, rows = touch.contacts, touch.rows
    touch.state.work[0] = 0.0
    for g in range(groups.touched.size):
        groups.touched[g] = 0
    for s in range(touch.slots.contact.size):
        k = touch.slots.contact[s]
        if k >= 0 and rows.force[contacts.pressed_by[k], 0] > 0.0:
            first = group_of_side(k, False, touch, groups)
            second = group_of_side(k, True, touch, groups)
            if first >= 0 and first != second:
                groups.touched[first] = 1
            if second >= 0 and first != second:
                groups.touched[second] = 1
            for row in range(3):
                for a in range(3):
                    touch.state.work[0] += rows.force[k, row] * rows.axes[k, row, a] * rows.shift[k, a]
            if rows.lever[k] == 0.0 and rows.start[k] < 0.0:
                taken_back = along(k, 0, scene.trial.dq, rows) + rows.flight[k] - rows.start[k]
                touch.state.work[0] += rows.force[k, 0] * max(taken_back, 0.0)
    scene.ledger.work[0] += touch.state.work[0]


@inlined
def collider_of(k, second, touch):
    """Number of the collider on a side of contact k."""
    contacts = touch.contacts
    kind = contacts.second_kind[k] if second else contacts.first_kind[k]
    body = contacts.second[k] if second else contacts.first[k]
    if kind == SPLINE:
        return touch.splines.collider[body]
    if kind == DISCRETE:
        return touch.discretes.collider[body]
    if kind == ZONE:
        return touch.skins.collider[vertex_of_side(k, second, touch)]
    return touch.shapes.collider[contacts.second_shape[k] if second else contacts.first_shape[k]]


@merged
def note_pairs(scene):
    """Note which colliders press on each other. Returns whether some have just met or parted."""
    touch = scene.touch
    state, rows, memory, pressed = touch.state, touch.rows, touch.memory, touch.colliders.pressed
    state.step[0] += 1
    now, changed = state.step[0], False
    for s in range(touch.slots.contact.size):
        k = touch.slots.contact[s]
        if k >= 0 and rows.force[touch.contacts.pressed_by[k], 0] > 0.0:
            a, b = collider_of(k, False, touch), collider_of(k, True, touch)
            rows.pair[k, 0], rows.pair[k, 1] = a, b
            changed = changed or pressed[a, b] < now - 1 or pressed[a, b] == 0
            pressed[a, b] = pressed[b, a] = now
    for i in range(memory.count[0]):
        changed = changed or pressed[memory.pair[i, 0], memory.pair[i, 1]] < now
    return changed
