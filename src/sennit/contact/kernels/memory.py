"""What a contact remembers: the force of the last step, found again by what touched.

A contact that wanders to a neighbouring span takes the force of the nearest old contact of the same pair that no other
has taken: a force handed on twice would put energy in. Old forces are found by their keys, in order.
"""

from __future__ import annotations

from sennit.compilation import inlined, kernel, merged
from sennit.bodies.kernels.points import DISCRETE, SPLINE

NEAR = 3
"""Steps of half a span within which a neighbour's force is taken over."""
STILL = 1e-3
"""Way in a step over that of a weight from rest, twice, up to which a contact at its bound has not begun to slide."""


@inlined
def comes_before(i, j, key):
    """Whether old force i stands before j: by their keys, and of equal ones by their numbers."""
    for c in range(6):
        if key[i, c] != key[j, c]:
            return key[i, c] < key[j, c]
    return i < j


@kernel
def sort_forces(memory):
    """Put the forces of the last step in the order of their keys (Shell's sort: no room, the same order always)."""
    order, count = memory.order, memory.count[0]
    for i in range(count):
        order[i] = i
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            this, at = order[i], i
            while at >= gap and comes_before(this, order[at - gap], memory.key):
                order[at] = order[at - gap]
                at -= gap
            order[at] = this
        gap //= 3


@inlined
def side_of(i, k, memory, contacts):
    """Whether the bodies of an old force stand before (-1) or after (1) those of contact k; 0: they are the same."""
    key = memory.key
    if key[i, 0] != contacts.first_kind[k]:
        return -1 if key[i, 0] < contacts.first_kind[k] else 1
    if key[i, 1] != contacts.first[k]:
        return -1 if key[i, 1] < contacts.first[k] else 1
    if key[i, 2] != contacts.second_kind[k]:
        return -1 if key[i, 2] < contacts.second_kind[k] else 1
    if key[i, 3] != contacts.second[k]:
        return -1 if key[i, 3] < contacts.second[k] else 1
    return 0


@kernel
def first_from(k, feature, memory, contacts):
    """Place in the order of the first old force of the bodies of contact k whose first feature is at least `feature`;
    where there is none, of what comes after it.
    """
    low, high = 0, memory.count[0]
    while low < high:
        middle = (low + high) // 2
        i = memory.order[middle]
        side = side_of(i, k, memory, contacts)
        if side < 0 or (side == 0 and memory.key[i, 4] < feature):
            low = middle + 1
        else:
            high = middle
    return low


@merged
def take_over(i, k, memory, rows):
    """Contact k goes on from old force i."""
    memory.taken[i] = 1
    rows.pressed[k] = 1
    rows.stuck[k] = memory.stuck[i]
    rows.force[k, 0] = memory.normal[i]
    if rows.lever[k] > 0.0:
        rows.memory[k, 0] = memory.normal[i]
    for row in range(1, 3):
        rows.force[k, row] = (
            memory.force[i, 0] * rows.axes[k, row, 0]
            + memory.force[i, 1] * rows.axes[k, row, 1]
            + memory.force[i, 2] * rows.axes[k, row, 2]
        )
        rows.memory[k, row] = rows.force[k, row]


@kernel
def recall(count, contacts, rows, memory):
    """Hand the forces of the last step on to the `count` contacts of this one."""
    kept = memory.count[0]
    sort_forces(memory)
    for i in range(kept):
        memory.taken[i] = 0
    for k in range(count):
        rows.pressed[k] = rows.stuck[k] = 0
        for row in range(3):
            rows.force[k, row] = rows.memory[k, row] = 0.0
        for place in range(first_from(k, contacts.first_feature[k], memory, contacts), kept):
            i = memory.order[place]
            if memory.key[i, 4] != contacts.first_feature[k] or side_of(i, k, memory, contacts) != 0:
                break
            if memory.key[i, 5] == contacts.second_feature[k] and memory.taken[i] == 0:
                take_over(i, k, memory, rows)
                break
    for k in range(count):
        if rows.pressed[k] == 1 or (contacts.first_kind[k] != SPLINE and contacts.first_kind[k] != DISCRETE):
            continue
        on_rod = contacts.second_kind[k] == SPLINE or contacts.second_kind[k] == DISCRETE
        best, nearest = -1, 2 * NEAR + 1
        for place in range(first_from(k, contacts.first_feature[k] - NEAR, memory, contacts), kept):
            i = memory.order[place]
            if memory.key[i, 4] > contacts.first_feature[k] + NEAR or side_of(i, k, memory, contacts) != 0:
                break
            first = abs(memory.key[i, 4] - contacts.first_feature[k])
            second = abs(memory.key[i, 5] - contacts.second_feature[k])
            fits = memory.taken[i] == 0 and (second <= NEAR if on_rod else second == 0)
            if fits and (first + second < nearest or (first + second == nearest and i < best)):
                best, nearest = i, first + second
        if best >= 0:
            take_over(best, k, memory, rows)


@inlined
def still_holds(k, least, contacts, rows, laws):
    """Whether static friction, where it is larger than that of sliding, still acts in the next step on a contact that
    is at its bound: it hardly moved, for others hold what it can't; or it came to rest and would slide back.

    `least`: way in a step, m, that a weight makes from rest, twice.
    """
    law = contacts.law[k]
    if rows.lever[k] > 0.0 or laws.static_friction[law] <= laws.friction[law]:
        return False
    way = rows.way[k, 1] * rows.way[k, 1] + rows.way[k, 2] * rows.way[k, 2]
    turned = rows.force[k, 1] * rows.memory[k, 1] + rows.force[k, 2] * rows.memory[k, 2] < 0.0
    return way < (STILL * least) ** 2 or (turned and rows.pressed[k] == 1 and rows.stuck[k] == 0)


@kernel
def remember(count, contacts, rows, memory):
    """Keep the forces of the step that was accepted. Returns how many carry one."""
    kept = 0
    for k in range(count):
        if rows.slot[k] >= 0 and rows.force[contacts.pressed_by[k], 0] > 0.0 and kept < memory.normal.size:
            memory.key[kept, 0], memory.key[kept, 1] = contacts.first_kind[k], contacts.first[k]
            memory.key[kept, 2], memory.key[kept, 3] = contacts.second_kind[k], contacts.second[k]
            memory.key[kept, 4], memory.key[kept, 5] = contacts.first_feature[k], contacts.second_feature[k]
            memory.normal[kept] = rows.force[k, 0]
            memory.stuck[kept] = rows.stuck[k]
            memory.pair[kept, 0], memory.pair[kept, 1] = rows.pair[k, 0], rows.pair[k, 1]
            for c in range(3):
                memory.force[kept, c] = rows.force[k, 1] * rows.axes[k, 1, c] + rows.force[k, 2] * rows.axes[k, 2, c]
            kept += 1
    memory.count[0] = kept
    return kept
