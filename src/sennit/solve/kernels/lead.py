"""Targets that have moved since the last step, and how a step leads its rows to them.

A row's value is g − a, where a says how far its target is ahead of where the step leads it to. Of a whole step, of
which parts may be made one after the other, a falls linearly: from where things are to the target, or as far towards it
as the row's closing speed allows. A row that is firm starts from its whole gap, however that came about (its target
was moved, or it was switched on far off); a spring from what its target has moved by. In a part of a step for which
there is no solution with rows led on, firm rows may stay where they are instead: what is left of the way remains ahead.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels import world
from sennit.bodies.kernels.points import WORLD
from sennit.compilation import inlined, merged
from sennit.constraints.kernels.rows import ANGULAR, TRAITS, evaluate_rows


@inlined
def has_moved(p, points):
    """Whether a point of the world was put elsewhere since the last step."""
    moved = False
    if points.kind[p] == WORLD:
        for a in range(3):
            moved = moved or points.anchor[p, a] != points.anchor_last[p, a]
        for a in range(9):
            moved = moved or points.anchor_frame[p, a] != points.anchor_frame_last[p, a]
    return moved


@inlined
def is_firm(r, rows):
    """Whether a row holds its value, and gives way to nothing."""
    return rows.enabled[r] == 1 and rows.rate[r] == 0 and rows.compliance[r] == 0.0


@inlined
def is_spring(r, rows):
    """Whether a row stores energy."""
    return rows.enabled[r] == 1 and rows.rate[r] == 0 and rows.compliance[r] > 0.0 and rows.compliance[r] < math.inf


@inlined
def pressed(r, value, rows):
    """The part of a row's value that a row with bounds feels."""
    return value if rows.dual[r] >= 0 else min(value, 0.0)


@inlined
def spring_energy(r, value, rows):
    """Energy that a spring stores at a value, J."""
    x = pressed(r, value, rows)
    return 0.5 * x * x / rows.compliance[r]


@merged
def share_gaps(first, end, h, rows):
    """Gaps of one constraint's rows, evaluated without being led, and what its closing speed leaves of them.

    A row whose target has not moved has the value of the last step. It is led if it is far off all the same: switched
    on there, which is work put in like a move, or missed by steps before.
    """
    length = angle = 0.0
    for r in range(first, end):
        moved = rows.ahead[r] != 0.0 or rows.origin[r] != rows.value[r]
        rows.driven[r] = 1 if moved or rows.acted[r] == 0 else 0
        rows.gap[r] = rows.gap_after[r] = 0.0
        if is_firm(r, rows):
            far_off = abs(pressed(r, rows.origin[r], rows)) > rows.tolerance[r]
            rows.gap[r] = pressed(r, rows.origin[r], rows) if moved or far_off else 0.0
            if TRAITS[rows.kind[r]] & ANGULAR:
                angle += rows.gap[r] * rows.gap[r]
            else:
                length += rows.gap[r] * rows.gap[r]
        elif rows.rate[r] == 0:
            rows.gap[r] = rows.origin[r] - rows.value[r]
    # as one vector, so that the way is straight
    length, angle = math.sqrt(length), math.sqrt(angle)
    for r in range(first, end):
        if is_firm(r, rows) and rows.gap[r] != 0.0:
            far = angle if TRAITS[rows.kind[r]] & ANGULAR else length
            rows.gap_after[r] = max(1.0 - rows.closing[r] * h / far, 0.0) * rows.gap[r]


@merged
def find_gaps(scene):
    """How far targets are ahead when a whole step begins, and will be when it ends."""
    rows, points, places = scene.rows, scene.points, scene.places
    first = 0
    while first < rows.kind.size:
        end = first + 1
        while end < rows.kind.size and rows.owner[end] == rows.owner[first]:
            end += 1
        p, q = rows.first[first], rows.second[first]
        looked_at = has_moved(p, points) or has_moved(q, points)
        for r in range(first, end):
            looked_at = looked_at or rows.target[r] != rows.target_seen[r] or rows.ahead[r] != 0.0
            looked_at = looked_at or rows.enabled[r] != rows.acted[r]
            looked_at = looked_at or (is_firm(r, rows) and abs(pressed(r, rows.value[r], rows)) > rows.tolerance[r])
        if looked_at:
            for point in (p, q):
                if points.kind[point] == WORLD:
                    world.place(point, points, places)
            evaluate_rows(first, end, rows, places, scene.motion.q, points)
            for r in range(first, end):
                rows.origin[r] = rows.g[r] + rows.ahead[r]
            share_gaps(first, end, scene.step.total[0], rows)
            for r in range(first, end):
                rows.ahead[r] = 0.0
        else:
            for r in range(first, end):
                rows.gap[r] = rows.gap_after[r] = 0.0
                rows.origin[r], rows.driven[r] = rows.value[r], 0
        first = end


@merged
def lead(scene):
    """Lead the rows on for this part of the step. Returns the work that moving the springs' targets does, J."""
    rows, before, after = scene.rows, scene.step.share_before[0], scene.step.share_after[0]
    if before == 0.0:
        find_gaps(scene)
    work = 0.0
    for r in range(rows.kind.size):
        if before > 0.0:
            rows.origin[r] = rows.value[r] + rows.ahead[r]
        if rows.gap[r] != 0.0:
            fall = rows.gap[r] - rows.gap_after[r]
            rows.ahead[r] = rows.gap[r] - after * fall
            if scene.settings.yields[0] == 1 and is_firm(r, rows):
                rows.ahead[r] = pressed(r, rows.origin[r], rows)
            if is_spring(r, rows):
                moved = rows.value[r] + (after - before) * fall
                work += spring_energy(r, moved, rows) - spring_energy(r, rows.value[r], rows)
    return work
