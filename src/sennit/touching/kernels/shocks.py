"""Shocks that follow from a shock in the same instant.

A ball that strikes a row of balls which touch each other throws off the last one: the first shock starts to close the
next contact, and that is struck in its turn. So where something strikes that rebounds, shocks are followed one after
the other before the step is solved. In each of them the contacts that are approaching act, and no others: with the
ways y that they would make in the step with the shocks so far, and W what forces make of them,

    y ← y + W λ,    λ ≥ 0 ⟂ y ≥ −e y_before    of those with y_before < 0,

without friction. Its work is ½ λ·(y + y_before) = ½ Σ λ (1 − e) y_before ≤ 0: no shock adds energy. Then those approach
that the shock has set going towards each other, the first ones again perhaps, until none does, or by next to nothing.
The step itself is solved with the ways that are left as what struck contacts must make at least: momentum is kept as
always, and friction acts with the forces of all shocks together. Where that would gain energy, the ways are shortened
(`gains_energy`); with none of them left it can't.

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
GAIN = 1e-4
"""Energy over that of the shocks, from which on it counts as gained."""


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
    """Whether contact k is struck in this shock: in the first one those are that free flight leads into each other,
    then those that would meet. What was struck is where it meets, though a step leaves it where it began.
    """
    if rows.lever[k] > 0.0:
        return False
    if shock == 0:
        return rows.strikes[k] == 1
    return -rows.pace[k] > least and (rows.start[k] + rows.pace[k] < 0.0 or rows.before[k] > 0.0)


@merged
def choose_struck(shock, least, scene):
    """Let those contacts act that are struck. Returns how many there are; -1: one is needed that was left out."""
    touch = scene.touch
    rows, state, contacts, chosen = touch.rows, touch.state, touch.contacts, 0
    for k in range(min(state.found[0], rows.slot.size)):
        rows.least[k] = rows.most[k] = rows.force[k, 0] = 0.0
        if is_struck(k, shock, least, rows):
            if rows.slot[k] < 0:
                state.again[0] = 1
                state.reach[0] = max(state.reach[0], 1.5 * rows.flight[k] + BROKEN() * scene.trial.size[0])
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
        if size <= NEAR() * largest_force(rows, slots):
            break
    for k in range(min(touch.state.found[0], rows.slot.size)):
        # R gives way a little to the forces: not once for each shock
        rows.pace[k] = rows.base[k] + along(k, 0, dq, rows) + rows.softness[k, 0] * rows.force[k, 0]
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            rows.before[k] += rows.force[k, 0]
            rows.force[k, 0] = 0.0


@merged
def end_shocks(scene):
    """Note the way that what was struck and rebounds must make, and take the forces back that were put by."""
    touch = scene.touch
    rows, slots, laws, contacts = touch.rows, touch.slots, touch.laws, touch.contacts
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k < 0:
            continue
        for row in range(3):
            rows.force[k, row] = rows.put_by[k, row]
        if rows.lever[k] > 0.0:
            continue
        rows.thrown[k] = -1.0
        if rows.before[k] > 0.0 and laws.restitution[contacts.law[k]] > 0.0:
            way = rows.pace[k]
            if rows.strikes[k] == 0:
                # With what other forces do to it in the step. Of what strikes they are left out: Euler's method takes
                # as much from flight, and a ball goes on bouncing to the same height.
                way = rows.flight[k] - rows.start[k] + along(k, 0, scene.trial.dq, rows)
            rows.thrown[k] = max(way, 0.0)
        rows.before[k] = 0.0
    throw_back(1.0, scene)


@kernel
def throw_back(share, scene):
    """Let contacts that were struck and rebound make a `share` of their ways at least."""
    touch = scene.touch
    rows, slots = touch.rows, touch.slots
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0 and rows.lever[k] == 0.0:
            rows.offset[k, 0] = rows.ordinary[k]
            if rows.thrown[k] >= 0.0:
                gentle = rows.flight[k] - rows.ordinary[k]  # where a deep overlap ends that is taken back in part
                begun = rows.start[k] if gentle < 0.0 else max(rows.start[k], 0.0)
                rows.offset[k, 0] = rows.flight[k] - max(gentle, begun + share * rows.thrown[k])


@kernel
def gains_energy(scene):
    """Whether the forces of contacts put energy into the motion: ½ λ·(u + u of free flight) in all.

    Friction may do so where it changes the ways of what rebounds (Kane and Levinson 1985).
    """
    touch, dq = scene.touch, scene.trial.dq
    rows, slots, gained, size = touch.rows, touch.slots, 0.0, 0.0
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for row in range(3):
                before = rows.offset[k, row]
                if row == 0 and rows.lever[k] == 0.0:
                    before = rows.flight[k] - rows.start[k]
                gained += 0.5 * rows.force[k, row] * (2.0 * before + along(k, row, dq, rows))
                size += abs(rows.force[k, row] * before)
    return gained > GAIN * size


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
