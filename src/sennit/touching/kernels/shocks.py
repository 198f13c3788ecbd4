"""Shocks that follow from a shock in the same instant.

A ball that strikes a row of balls which touch each other throws off the last one: the first shock starts to close the
next contact, and that is struck in its turn. So where something strikes that rebounds, shocks are followed one after
the other before the step is solved. In each of them the contacts that are approaching act, and no others: with the
ways y that they would make in the step with the shocks so far, and W what forces make of them,

    y ← y + W λ,    λ ≥ 0 ⟂ y ≥ −e y_before    of those with y_before < 0,

without friction. Its work is ½ λ·(y + y_before) = ½ Σ λ (1 − e) y_before ≤ 0: no shock adds energy. Then those approach
that the shock has set going towards each other, the first ones again perhaps, until none does, or by next to nothing.
The step itself is solved once, with the ways that are left as what struck contacts must make at least: momentum is
kept as always, and friction acts with the forces of all shocks together.

What carries something, or is squeezed, does not approach by its load: ways are those of velocities, and what shocks
add.
"""

from __future__ import annotations

import math

from sennit.compilation import kernel, merged
from sennit.contact.kernels.rows import along
from sennit.touching.kernels.newton import BROKEN, MOST, NEAR, largest_force, newton_step, put_gradient, solve_under

MOST_SHOCKS = 32
"""That are followed in a step; what approaches after the last one comes to rest."""
FADED = 1e-4
"""Of the first approach, below which another one is no shock."""


@merged
def begin_shocks(scene):
    """Leave all contacts out, put their forces by, and note the ways that they would make. Returns the largest approach
    of those that strike.
    """
    touch, dq = scene.touch, scene.trial.dq
    rows, slots = touch.rows, touch.slots
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for row in range(3):
                rows.put_by[k, row], rows.force[k, row] = rows.force[k, row], 0.0
            rows.inside[k] = -1
            rows.slides[k] = 0
    solve_under(rows.force, scene)
    largest = 0.0
    for k in range(min(touch.state.found[0], rows.slot.size)):
        if rows.lever[k] == 0.0:
            way = rows.flight[k] - rows.start[k]
            # what pressed and is struck by its own motion has rebounded before
            rows.pace[k] = way if rows.pressed[k] == 0 else max(way, 0.0)
            rows.base[k] = rows.pace[k] - along(k, 0, dq, rows)
            if rows.strikes[k] == 1:
                largest = max(largest, -way)
    return largest


@merged
def is_struck(k, shock, least, rows):
    """Whether contact k is struck in this shock: in the first one those are that free flight leads into each other, then
    those that would meet. What was struck is where it meets, though a step leaves it where it began.
    """
    if rows.lever[k] > 0.0:
        return False
    if shock == 0:
        return rows.strikes[k] == 1
    return -rows.pace[k] > least and (rows.start[k] + rows.pace[k] < 0.0 or rows.before[k] > 0.0)


@merged
def choose_struck(shock, least, scene):
    """Let those contacts act that are struck. Returns how many there are; -1: one of them was left out, and is needed."""
    touch = scene.touch
    rows, state, contacts, chosen = touch.rows, touch.state, touch.contacts, 0
    for k in range(min(state.found[0], rows.slot.size)):
        rows.least[k] = rows.most[k] = rows.force[k, 0] = 0.0
        if is_struck(k, shock, least, rows):
            if rows.slot[k] < 0:
                state.again[0] = 1
                state.reach[0] = max(state.reach[0], 1.5 * rows.flight[k] + BROKEN * scene.trial.size[0])
                return -1
            rows.most[k] = math.inf
            rows.offset[k, 0] = rows.base[k] + touch.laws.restitution[contacts.law[k]] * rows.pace[k]
            chosen += 1
    return chosen


@merged
def make_shock(scene):
    """Forces of the contacts that act, added to those of the shocks before, and the ways that are left."""
    touch, dq = scene.touch, scene.trial.dq
    rows, slots = touch.rows, touch.slots
    touch.state.exact[0] = 0
    solve_under(rows.force, scene)
    put_gradient(rows.force, rows.gradient, rows, slots)
    for _ in range(MOST):
        size, _ = newton_step(scene)
        if size <= NEAR * largest_force(rows, slots):
            break
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            rows.before[k] += rows.force[k, 0]
            rows.force[k, 0] = 0.0
    for k in range(min(touch.state.found[0], rows.slot.size)):
        rows.pace[k] = rows.base[k] + along(k, 0, dq, rows)


@merged
def end_shocks(scene):
    """Give what was struck and rebounds the way that it must make at least, and its forces to begin with."""
    touch = scene.touch
    rows, slots, laws, contacts = touch.rows, touch.slots, touch.laws, touch.contacts
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k < 0:
            continue
        rows.offset[k, 0] = rows.ordinary[k]
        if rows.before[k] > 0.0 and laws.restitution[contacts.law[k]] > 0.0:
            gentle = rows.flight[k] - rows.offset[k, 0]  # where a deep overlap ends that is taken back in part
            begun = rows.start[k] if gentle < 0.0 else max(rows.start[k], 0.0)
            rows.offset[k, 0] = rows.flight[k] - max(gentle, begun + max(rows.pace[k], 0.0))
        for row in range(3):
            rows.force[k, row] = rows.put_by[k, row]
        rows.force[k, 0] += rows.before[k]
        rows.before[k] = 0.0


@kernel
def follow_shocks(scene):
    """Follow shocks one after the other. Returns False if contacts are needed for that which were left out."""
    step, touch = scene.step, scene.touch
    least = max(step.threshold[0] * step.step[0], FADED * begin_shocks(scene))
    for shock in range(MOST_SHOCKS):
        chosen = choose_struck(shock, least, scene)
        if chosen <= 0:
            end_shocks(scene)
            return chosen == 0
        make_shock(scene)
    touch.state.exact[0] = 0
    end_shocks(scene)
    return True
