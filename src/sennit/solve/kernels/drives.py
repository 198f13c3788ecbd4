"""Drives that meet what stops them: how far each may go in a step.

A drive without a greatest force holds a rate, whatever it takes. Against a stop, or against another drive, that is a
contradiction: with a force that no number is large enough for, or, where pearls that touch are between them, with a rod
that is torn between two of its places. It is the drive that gives way. Before each step it is told how far it can go:

    d_A − d_B ≤ room,

A and B two neighbours on a rod of which each is driven or a stop (d = 0), room what is left of the gaps between them,
along the rod. Two that come towards each other share the room; of two that go the same way the faster one follows the
slower one.

A drive of a slider that is held back is soft as well: what it has pressed together, or a rod that it has stretched in
between, pushes it back until nothing is strained.

What is thrown to and fro between them has no more room either: where rebounds would need more than is left in the step
they are scaled to fit.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import SLIDER
from sennit.compilation import inlined, merged, tolerance
from sennit.constraints.kernels.rows import BEADS, SLIDING
from sennit.geometry.kernels.algebra import dot3

NOBODY = -1
"""What is next on a rod: nothing that could stop a drive."""
STOP = -2
"""What is next on a rod: its end."""


AT_IT = tolerance(1e-12, 1e-6)  # change of ways over the ways, above which neighbours are looked at once more
HELD_BACK = tolerance(1e-9, 1e-5)  # of the way that was asked for, above which a drive is held back


@inlined
def is_drive(r, rows):
    """Whether a row holds a rate with any force that it takes."""
    return rows.rate[r] == 1 and rows.dual[r] >= 0 and rows.enabled[r] == 1


@inlined
def grip_of(scene):
    """Part of a step's length over which its forces change a velocity: h times the inverse of β = dv₊/dx₊."""
    h = scene.step.step[0]
    return 1.0 / (scene.scheme.beta[0] * h) if h != 0.0 else 1.0


@inlined
def way_to_rate(r, grip, step, rows):
    """Change of a driven row's value in a step after which its rate is its pace: v₊ = V̂ + β (x₊ − x̂)."""
    return (1.0 - grip) * (rows.predicted[r] - rows.start[r]) + grip * rows.pace[r] * step.step[0]


@inlined
def thrown_back(r, predicted, grip, rows):
    """Value of a row that is struck, after a step that ends with −restitution times the rate of free flight."""
    approach = rows.start[r] - predicted
    return max(predicted + (1.0 + rows.restitution[r]) * grip * approach, 0.0)


@inlined
def falls_short(r, grip, rows):
    """Whether the step of a row that is struck would have to end beyond the stop for the rate that it should have."""
    approach = rows.start[r] - rows.predicted[r]
    return rows.predicted[r] + (1.0 + rows.restitution[r]) * grip * approach < 0.0


@inlined
def stretch_of(s, scene):
    """Metres along the rod for a metre of a slider's coordinate, where it is."""
    slope = get3(scene.places.slope, scene.sliders.point[s])
    return math.sqrt(dot3(slope, slope))


@merged
def thread_pearls(scene):
    """Note which rows drive and stop each slider, and keep it from its neighbours. Returns whether any is driven."""
    rows, points, sliders = scene.rows, scene.points, scene.sliders
    driven = False
    for r in range(rows.kind.size):
        driven = driven or (rows.kind[r] == SLIDING and is_drive(r, rows))
    if not driven:
        return False
    for s in range(sliders.dof.size):
        sliders.drive[s] = sliders.first_stop[s] = sliders.last_stop[s] = -1
        sliders.next_row[s] = sliders.last_row[s] = -1
    for r in range(rows.kind.size):
        p, q = rows.first[r], rows.second[r]
        if rows.enabled[r] == 0 or points.kind[p] != SLIDER or sliders.attached[points.body[p]] == 0:
            continue
        s = points.body[p]
        if rows.kind[r] == SLIDING:
            if is_drive(r, rows):
                sliders.drive[s] = r
            elif rows.rate[r] == 0 and rows.sign[r] > 0.0:
                sliders.first_stop[s] = r
            elif rows.rate[r] == 0:
                sliders.last_stop[s] = r
        elif rows.kind[r] == BEADS and sliders.attached[points.body[q]] == 1:
            sliders.last_row[s] = sliders.next_row[points.body[q]] = r
    return True


@merged
def room_from(s, way, scene):
    """Room (m) from slider `s` on towards its rod's end (`way` 1) or start (-1), and the next driven slider there.

    Or STOP, or NOBODY: then the room has no bounds.
    """
    rows, points, sliders = scene.rows, scene.points, scene.sliders
    room = 0.0
    at = s
    for _ in range(sliders.dof.size):
        r = sliders.next_row[at] if way > 0 else sliders.last_row[at]
        if r < 0:
            stop = sliders.last_stop[at] if way > 0 else sliders.first_stop[at]
            if stop < 0:
                return math.inf, NOBODY
            return room + max(rows.value[stop], 0.0) * stretch_of(at, scene), STOP
        room += max(rows.value[r], 0.0)
        at = points.body[rows.first[r]] if way > 0 else points.body[rows.second[r]]
        if sliders.drive[at] >= 0:
            return room, at
    return math.inf, NOBODY


@merged
def share_room(s, scene):
    """Shorten the way of slider `s`, or of the next driven one, to the room between them. Returns whether it did."""
    way = scene.sliders.way
    changed = False
    room, other = room_from(s, 1, scene)
    if other == STOP and way[s] > room:
        way[s] = room
        changed = True
    elif other >= 0 and other != s and way[s] - way[other] > room:
        a, b = way[s], way[other]
        if a > 0.0 and b < 0.0:
            way[s], way[other] = room * a / (a - b), room * b / (a - b)
        elif a > 0.0:
            way[s] = room + b
        else:
            way[other] = a - room
        # Rounding must not keep them at it.
        changed = max(abs(way[s] - a), abs(way[other] - b)) > AT_IT() * (abs(a) + abs(b))
    room, other = room_from(s, -1, scene)
    if other == STOP and -way[s] > room:
        way[s] = -room
        changed = True
    return changed


@merged
def way_of(s, scene):
    """Way (m) that a slider's drive would take it in this step.

    Where velocities are those of the step's end, what it has now takes it on, and half a step more is needed to stop.
    """
    r, step = scene.sliders.drive[s], scene.step
    way = scene.rows.speed[r] * step.step[0]
    if step.mean[0] == 1.0:
        way += 0.5 * step.step[0] * scene.motion.v[scene.sliders.dof[s]]
    return way * stretch_of(s, scene)


@merged
def pace_sliders(scene):
    """Speeds that the drives of sliders can have in this step."""
    rows, sliders, h = scene.rows, scene.sliders, scene.step.step[0]
    for s in range(sliders.dof.size):
        sliders.way[s] = way_of(s, scene) if sliders.drive[s] >= 0 else 0.0
    for _ in range(sliders.dof.size + 1):
        changed = False
        for s in range(sliders.dof.size):
            if sliders.drive[s] >= 0 and share_room(s, scene):
                changed = True
        if not changed:
            break
    for s in range(sliders.dof.size):
        r = sliders.drive[s]
        if r >= 0:
            asked = way_of(s, scene)
            held_back = sliders.way[s] - asked
            if abs(held_back) > HELD_BACK() * abs(asked):
                rows.pace[r] = rows.speed[r] + held_back / (h * stretch_of(s, scene))
                rows.give[r] = sliders.give[s]


@merged
def pace_drives(scene):
    """Set the speed that every drive can have in this step, and report how far they are held back, m or rad."""
    rows, report, h = scene.rows, scene.report, scene.step.step[0]
    report.stalled[0] = 0.0
    any_drive = False
    for r in range(rows.kind.size):
        rows.pace[r], rows.rebound[r] = rows.speed[r], math.inf
        rows.stalled[r] = rows.give[r] = 0.0
        any_drive = any_drive or is_drive(r, rows)
    scene.report.threaded[0] = 0
    if not any_drive or not h > 0.0:
        return
    if thread_pearls(scene):
        scene.report.threaded[0] = 1
        pace_sliders(scene)
    for r in range(rows.kind.size):
        if is_drive(r, rows):
            rows.stalled[r] = abs(rows.speed[r] - rows.pace[r]) * h if rows.give[r] > 0.0 else 0.0
            report.stalled[0] = max(report.stalled[0], rows.stalled[r])


@inlined
def rebound_of(r, grip, scene):
    """Gap that a row which is struck in this step would be left with, in its own unit; 0 if it is not struck."""
    rows, step = scene.rows, scene.step
    approach = rows.start[r] - rows.g[r]
    struck = rows.restitution[r] > 0.0 and rows.g[r] < 0.0 and approach > step.threshold[0] * step.step[0]
    return thrown_back(r, rows.g[r], grip, rows) if struck else 0.0


@merged
def fit_rebounds(s, way, grip, scene):
    """Scale what is thrown back between driven slider `s` and the next driven one, or the rod's end, to the room.

    Towards the rod's start (`way` -1) only for its end: all else belongs to the driven slider there.
    """
    rows, points, sliders = scene.rows, scene.points, scene.sliders
    room, other = room_from(s, way, scene)
    if other == NOBODY or (way < 0 and other != STOP):
        return
    room = max(room - way * sliders.way[s] + (sliders.way[other] if other >= 0 else 0.0), 0.0)
    needed = 0.0
    for turn in range(2):
        if turn == 1 and needed <= room:
            return
        share = room / needed if turn == 1 else 1.0
        at = s
        for _ in range(sliders.dof.size):
            r = sliders.next_row[at] if way > 0 else sliders.last_row[at]
            end = r < 0
            if end:
                r = sliders.last_stop[at] if way > 0 else sliders.first_stop[at]
            x = rebound_of(r, grip, scene)
            if turn == 0:
                needed += x * stretch_of(at, scene) if end else x
            else:
                rows.rebound[r] = share * x
            if end:
                break
            at = points.body[rows.first[r]] if way > 0 else points.body[rows.second[r]]
            if sliders.drive[at] >= 0:
                break


@merged
def limit_rebounds(grip, scene):
    """Where rows are evaluated after free flight: see that what drives push has room to be thrown back."""
    if scene.report.threaded[0] == 0:
        return
    for s in range(scene.sliders.dof.size):
        if scene.sliders.drive[s] >= 0:
            fit_rebounds(s, 1, grip, scene)
            fit_rebounds(s, -1, grip, scene)
