"""Rolling and twisting friction: three more rows for a contact whose law has it.

They measure by what angle the first side turns against the second in the step, about the normal (twisting) and about
two tangents (rolling), times a lever, so that their multipliers are forces like those of all other rows::

    |twisting torque| ≤ twisting_friction · λ_n        |rolling torque| ≤ rolling_friction · λ_n

with λ_n the normal force of the contact that they belong to (Coulomb and Contensou; both coefficients are lengths: of a
round contact patch of radius a, 2/3 μ a of twisting for an even pressure).
"""

from __future__ import annotations

from sennit.bodies.kernels.points import WORLD
from sennit.compilation import inlined, kernel, merged
from sennit.contact.kernels.rows import along, put_rows
from sennit.geometry.kernels.algebra import dot3

TURNING = 1 << 40
"""Added to a contact's first feature, so that memory does not take its torques for forces."""


@inlined
def resists_turning(law, laws):
    """Whether a law has rows of turning."""
    return laws.rolling_friction[law] > 0.0 or laws.twisting_friction[law] > 0.0


@merged
def turn_of(s, touch):
    """Rotation vector by which an obstacle's shape turns in the step, rad (of small turns)."""
    before, after = touch.shapes.turn_before, touch.shapes.shapes.turn
    x = y = z = 0.0
    for b in range(3):
        x += 0.5 * (after[s, 2, b] * before[s, 1, b] - after[s, 1, b] * before[s, 2, b])
        y += 0.5 * (after[s, 0, b] * before[s, 2, b] - after[s, 2, b] * before[s, 0, b])
        z += 0.5 * (after[s, 1, b] * before[s, 0, b] - after[s, 0, b] * before[s, 1, b])
    return x, y, z


@kernel
def put_turning(k, i, scene):
    """Contact i resists the turning of contact k, which is measured."""
    touch = scene.touch
    contacts, rows = touch.contacts, touch.rows
    contacts.first_kind[i], contacts.second_kind[i] = contacts.first_kind[k], contacts.second_kind[k]
    contacts.first[i], contacts.second[i] = contacts.first[k], contacts.second[k]
    contacts.first_feature[i] = contacts.first_feature[k] + TURNING
    contacts.second_feature[i] = contacts.second_feature[k]
    contacts.first_shape[i], contacts.second_shape[i] = contacts.first_shape[k], contacts.second_shape[k]
    contacts.first_at[i], contacts.second_at[i] = contacts.first_at[k], contacts.second_at[k]
    contacts.law[i], contacts.at_start[i], contacts.pressed_by[i] = contacts.law[k], contacts.at_start[k], k
    contacts.gap[i], contacts.bore[i], contacts.begun[i] = contacts.gap[k], 0.0, contacts.begun[k]
    for a in range(3):
        contacts.first_place[i, a] = contacts.first_place[k, a]
        contacts.second_place[i, a] = contacts.second_place[k, a]
        contacts.normal[i, a] = contacts.normal[k, a]
        contacts.shares[i, a] = contacts.shares[k, a]
    rows.size[i] = rows.lever[i] = rows.size[k]
    rows.start[i], rows.flight[i], rows.overlap[i] = rows.start[k], rows.flight[k], rows.overlap[k]
    put_rows(i, contacts, rows, scene, scene.trial.q_base)
    turn = (0.0, 0.0, 0.0)
    if contacts.second_kind[i] == WORLD and contacts.second_shape[i] >= 0:
        turn = turn_of(contacts.second_shape[i], touch)
    for a in range(3):
        rows.shift[i, a] = rows.lever[i] * turn[a]
    for row in range(3):
        d = (rows.axes[i, row, 0], rows.axes[i, row, 1], rows.axes[i, row, 2])
        rows.offset[i, row] = along(i, row, touch.flight, rows) - rows.lever[i] * dot3(d, turn)


@kernel
def add_turning(count, scene):
    """Rows against turning for those of `count` contacts whose law asks for them. Returns how many there are then:
    tables may have room for fewer.
    """
    touch = scene.touch
    contacts, total = touch.contacts, count
    for k in range(count):
        if resists_turning(contacts.law[k], touch.laws):
            if total < contacts.gap.size:
                put_turning(k, total, scene)
            total += 1
    return total
