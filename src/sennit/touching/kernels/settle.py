"""What a static solve asks of contacts between its iterations, and at its end."""

from __future__ import annotations

from sennit.compilation import kernel
from sennit.contact.kernels.law import OFF, clip
from sennit.contact.kernels.memory import remember
from sennit.contact.kernels.rows import SIDE
from sennit.linalg.kernels.ldlt import factorise
from sennit.touching.kernels.find import soften
from sennit.touching.kernels.account import collider_of
from sennit.touching.kernels.newton import put_bounded_rows, put_cable_rows

HARD = 1e-8
"""Compliance of a contact's rows, where the inertia is looked at, times the stiffness of its anchor."""


@kernel
def note_forces(scene):
    """Keep the forces of an iteration, those of anchors with them, for the next one to go on from."""
    touch = scene.touch
    rows, slots = touch.rows, touch.slots
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            if rows.lever[k] == 0.0:
                rows.force[k, 0] = max(rows.force[k, 0] - rows.anchor[k] * rows.way[k, 0], 0.0)
                for row in range(1, 3):
                    rows.force[k, row] -= rows.anchor_along[k] * rows.way[k, row]
                law = touch.contacts.law[k]
                rows.bound[k] = max(touch.laws.friction[law], touch.laws.static_friction[law]) * rows.force[k, 0]
                clip(k, rows.force, rows)
            rows.pair[k, 0], rows.pair[k, 1] = collider_of(k, False, touch), collider_of(k, True, touch)
    touch.state.reach[0] = 0.0
    touch.state.active[0] = remember(min(touch.state.found[0], rows.slot.size), touch.contacts, rows, touch.memory)


@kernel
def factorise_held(least, scene):
    """Factorise the second matrix with the contacts that press by more than `least` (N) as rows that hold.

    The scene's own matrix is that of a solve that only looks. Contacts that do not slide hold along the surface, too.
    """
    touch, whole = scene.touch, scene.whole_matrix
    rows, slots, laws, values = touch.rows, touch.slots, touch.laws, scene.whole_matrix.values
    soften(scene)
    for i in range(scene.matrix.values.size):
        values[i] = scene.matrix.values[i]
    if scene.candidates.chosen.size > 0:
        put_bounded_rows(scene)
        put_cable_rows(scene)
    for s in range(slots.contact.size):
        k, at = slots.contact[s], slots.place[s]
        by = touch.contacts.pressed_by[k] if k >= 0 else -1
        for row in range(3):
            holds = k >= 0 and rows.force[by, 0] > least
            if holds and rows.lever[k] > 0.0:
                law = touch.contacts.law[k]
                most = laws.twisting_friction[law] if row == 0 else laws.rolling_friction[law]
                holds = rows.stuck[k] == 1 and most > 0.0
            elif holds and row > 0:
                holds = rows.stuck[k] == 1 and laws.friction[touch.contacts.law[k]] > 0.0
            for i in range(2 * SIDE):
                values[at + 2 * SIDE * row + i] = rows.jacobian[k, row, i] if holds else 0.0
            values[at + 6 * SIDE + row] = -HARD / rows.anchor[by] if holds else OFF
    factorise(scene.whole_plan, values, whole.factor, whole.diagonal, whole.ratio)
