"""Where the cables of a scene run when a step begins, and how the lengths of their parts and their twists change.

Every element of a path pulls on its carrier with a wrench; `pull_cables` turns these into Jacobians of the rows, with
the degrees of freedom behind them: for each element the arriving part's, the leaving part's, and the twist's.

Kernels take all tables of cables as one, `rigging` (`constraints.cable.table.Rigging`).
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.lengths import part_length
from sennit.constraints.cable.kernels.path import place_path
from sennit.constraints.cable.kernels.kinds import ARRIVES, LEAVES, SPOOK, TWISTS
from sennit.constraints.cable.kernels.twist import spans_of_twist, twist_of
from sennit.constraints.cable.kernels.parts import cut_parts, hold_marks, level_slack, note_parts, same_rates
from sennit.constraints.cable.kernels.wrap import update_wraps
from sennit.compilation import inlined, kernel, merged
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
from sennit.bodies.kernels import world
from sennit.bodies.kernels.frames import get3, put3, turn_out
from sennit.bodies.kernels.points import RIGID, SLIDER, WIDTH, WORLD, dof_of, evaluate_point, pull_back

JUMP = 0.5  # rad in a step beyond which a twist is looked at whether it was paid for
FAR = 0.3  # rad by which a span or a body on it turns in a step beyond which velocities are not extrapolated
NEAR = 0.02  # span over the cable's length at which a winch without sheaves stops


@inlined
def reduced(angle):
    """An angle's remainder in (−π, π]."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@inlined
def carried_turn(e, elements, places):
    """Angle about a sheave's axis by which its carrier has turned since the step began, rad."""
    p = elements.carrier[e]
    n, mark = turn_out(places, p, get3(elements.axis, e)), turn_out(places, p, get3(elements.mark, e))
    start = get3(elements.start_mark, e)
    return math.atan2(dot3(n, cross3(start, mark)), dot3(start, mark))


@kernel
def place_cables(rigging, places):
    """Paths, and values of the rows at the iterate, where the points are."""
    cables, elements, rows = rigging.cables, rigging.elements, rigging.rows
    for c in range(cables.first.size):
        place_path(c, cables, elements, places)
        for e in range(cables.first[c], cables.first[c] + cables.count[c]):
            for k in range(3):
                elements.point_now[e, k] = places.position[elements.carrier[e], k]
        row0, t = cables.row[c], cables.twist_row[c]
        for d in range(cables.parts[c]):
            rows.trial[row0 + d] = part_length(c, d, cables, elements) - rows.rest[row0 + d]
        row = row0
        for e in range(cables.first[c], cables.first[c] + cables.count[c]):
            if elements.divides[e] == 1:
                row += 1
                if elements.rotor[e] == 1 and elements.on[e] == 1:
                    # A rotor's axle does not drag the cable along: the mark's turn is no change of the parts.
                    run = elements.sense[e] * elements.radius[e] * carried_turn(e, elements, places)
                    rows.trial[row - 1] -= run
                    rows.trial[row] += run
        if t >= 0:
            raw = twist_of(c, cables, elements, places)
            rows.trial[t] = cables.twist[c] + reduced(raw - cables.twist_angle[c])


@inlined
def count_turns(c, counted, rigging):
    """Take the measured twist over into the state, unless it was measured along other spans than before."""
    cables, elements, rows = rigging.cables, rigging.elements, rigging.rows
    t = cables.twist_row[c]
    if t >= 0:
        moved = rows.trial[t] - cables.twist[c]
        cables.twist_angle[c] = reduced(cables.twist_angle[c] + moved)
        if abs(moved) > JUMP and abs(rows.trial[t]) > rows.paid[t]:
            # Past a fold the angle is another one, but nothing has wound the cable up.
            rows.trial[t] = math.copysign(rows.paid[t], rows.trial[t])
        along = spans_of_twist(c, cables, elements)
        if counted and along == cables.measured_along[c]:
            cables.twist[c] = rows.trial[t]
        else:
            rows.trial[t] = cables.twist[c]
        cables.measured_along[c] = along


@kernel
def wrap_cable(c, rigging, places):
    """Let a cable come to lie on its obstacles and leave them; 1 if elements changed."""
    cables, elements, obstacles, rows = rigging.cables, rigging.elements, rigging.obstacles, rigging.rows
    first, base = cables.first[c], cables.first_obstacle[c]
    rubs = cables.row_room[c] > 1
    if rubs:
        note_parts(c, cables, elements, rows)
    for e in range(first, first + cables.count[c]):
        if elements.obstacle[e] >= 0:
            elements.obstacle[e] += base
    changed = update_wraps(c, cables, elements, obstacles, places)
    for e in range(first, first + cables.count[c]):
        if elements.obstacle[e] >= 0:
            elements.obstacle[e] -= base
    if rubs and changed == 1:
        place_path(c, cables, elements, places)
        cut_parts(c, cables, elements, rows)
    return changed


@kernel
def find_ranges(rigging):
    """First and last element of every row, and the dividers with the rows that they part."""
    cables, elements, rows, dividers = rigging.cables, rigging.elements, rigging.rows, rigging.dividers
    d = 0
    for c in range(cables.first.size):
        row, last = cables.row[c], cables.first[c] + cables.count[c] - 1
        rows.first[row] = cables.first[c]
        for e in range(cables.first[c], last):
            if elements.divides[e] == 1:
                rows.last[row] = e
                dividers.element[d], dividers.before[d], dividers.after[d] = e, row, row + 1
                d += 1
                row += 1
                rows.first[row] = e
        rows.last[row] = last
        for spare in range(cables.row[c] + cables.parts[c], cables.row[c] + cables.row_room[c]):
            rows.first[spare] = rows.last[spare] = cables.first[c]
        if cables.twist_row[c] >= 0:
            rows.first[cables.twist_row[c]], rows.last[cables.twist_row[c]] = cables.first[c], last
    for spare in range(d, dividers.element.size):
        dividers.element[spare] = -1


@kernel
def place_carrier(p, scene):
    """Evaluate point `p` at the state; one of the world where it was when that was reached."""
    points, places = scene.points, scene.places
    if points.kind[p] == WORLD:
        world.place_last(p, points, places)
    else:
        evaluate_point(p, points, scene.frames, scene.motion.q, scene.rigids.quat, places)


@kernel
def place_at_state(scene):
    """Evaluate what carries cables, and them, at the state."""
    rigging, places = scene.rigging, scene.places
    cables, elements, obstacles = rigging.cables, rigging.elements, rigging.obstacles
    for c in range(cables.first.size):
        for e in range(cables.first[c], cables.first[c] + cables.count[c]):
            place_carrier(elements.carrier[e], scene)
            if elements.rotor[e] == 1:
                put3(elements.start_mark, e, turn_out(places, elements.carrier[e], get3(elements.mark, e)))
    for o in range(obstacles.point.size):
        place_carrier(obstacles.point[o], scene)
    place_cables(rigging, places)


@kernel
def forget_pulls(pulls):
    """Make room for new Jacobians."""
    for i in range(pulls.jacobian.size):
        pulls.jacobian[i] = 0.0


@inlined
def pull_start(e, part):
    """Where the Jacobian of element `e` for its wrench of kind `part` begins."""
    return WIDTH * (3 * e + part)


@kernel
def pull_cables(weight, rigging, points, places):
    """Add weight·(pull-backs of every element's wrenches) to the Jacobians, and find the degrees of freedom behind."""
    cables, elements, pulls = rigging.cables, rigging.elements, rigging.pulls
    for c in range(cables.first.size):
        for e in range(cables.first[c], cables.first[c] + cables.count[c]):
            p = elements.carrier[e]
            still = points.kind[p] == WORLD
            for i in range(WIDTH):
                # also of a sheave that is passed clear: it may have been pulled elsewhere on the way
                pulls.dof[e, i] = -1 if still else dof_of(p, i, points)
            if still or elements.on[e] == 0:
                continue
            for part in range(TWISTS + 1 if cables.twist_row[c] >= 0 else TWISTS):
                w = elements.wrench
                f = (w[e, part, 0], w[e, part, 1], w[e, part, 2])
                m = (w[e, part, 3], w[e, part, 4], w[e, part, 5])
                pull_back(p, f, m, weight, points, places, pulls.jacobian, pull_start(e, part))


@inlined
def entries_of(e, pulls):
    """Entries of the pull-backs of element `e` that can be other than zero: none, a rigid body's 6, or all.

    A zone that rides on the world has none of the first six.
    """
    if pulls.dof[e, 6] >= 0:
        return WIDTH
    return 0 if pulls.dof[e, 0] < 0 else 6


@inlined
def row_uses(row, e, part, rows):
    """Whether the pull of kind `part` of element `e` belongs to a row."""
    if rows.part_number[row] < 0:
        return part == TWISTS
    return (part == ARRIVES and e > rows.first[row]) or (part == LEAVES and e < rows.last[row])


@kernel
def along_row(row, vector, rigging):
    """J · vector of a cable's row."""
    rows, pulls = rigging.rows, rigging.pulls
    total = 0.0
    for e in range(rows.first[row], rows.last[row] + 1):
        for part in range(3):
            if row_uses(row, e, part, rows):
                at = pull_start(e, part)
                for i in range(entries_of(e, pulls)):
                    if pulls.dof[e, i] >= 0:
                        total += pulls.jacobian[at + i] * vector[pulls.dof[e, i]]
    return total


@inlined
def world_shift(p, points):
    """How far a point of the world was moved and turned since the last state."""
    shift = sub3(get3(points.anchor, p), get3(points.anchor_last, p))
    # new·oldᵀ − 1, whose antisymmetric half is the turn (sine of the angle)
    x = y = z = 0.0
    for k in range(3):
        a0, a1, a2 = points.anchor_frame[p, k], points.anchor_frame[p, 3 + k], points.anchor_frame[p, 6 + k]
        b0, b1, b2 = (
            points.anchor_frame_last[p, k], points.anchor_frame_last[p, 3 + k], points.anchor_frame_last[p, 6 + k],
        )  # fmt: skip
        x += 0.5 * (a2 * b1 - a1 * b2)
        y += 0.5 * (a0 * b2 - a2 * b0)
        z += 0.5 * (a1 * b0 - a0 * b1)
    return shift, (x, y, z)


@kernel
def world_motion(row, rigging, points):
    """Change of a row's value as the world's points go to where they were put."""
    elements, rows = rigging.elements, rigging.rows
    total = 0.0
    for e in range(rows.first[row], rows.last[row] + 1):
        p = elements.carrier[e]
        if points.kind[p] != WORLD:
            continue
        shift, turn = world_shift(p, points)
        for part in range(3):
            if row_uses(row, e, part, rows):
                for k in range(3):
                    total += elements.wrench[e, part, k] * shift[k] + elements.wrench[e, part, 3 + k] * turn[k]
    return total


@merged
def move_world(scene):
    """What the motion of the world's points changes of all rows."""
    rows = scene.rigging.rows
    for row in range(rows.found.size):
        rows.world_move[row] = world_motion(row, scene.rigging, scene.points)


@merged
def note_tensions(rigging):
    """Keep the tensions with which a step begins."""
    rows = rigging.rows
    for row in range(rows.found.size):
        rows.tension_before[row] = rows.tension[row]


@inlined
def share_out(first, last, numbers, ways):
    """Share the sum of the numbers first … last in proportion to the lengths of the rows' ways."""
    total = way = 0.0
    for row in range(first, last + 1):
        total += numbers[row]
        way += ways[row]
    for row in range(first, last + 1):
        numbers[row] = total * ways[row] / way


@kernel
def join_loose_parts(c, rigging):
    """Parts that no sheave holds apart, since the cable passes it clear, are one: equally stretched.

    Where exactly they meet on the passing span is of no meaning, and turns with it: left apart, one would be taut with
    what the other has too much.
    """
    cables, elements, rows = rigging.cables, rigging.elements, rigging.rows
    row = first = cables.row[c]
    for d in range(cables.parts[c]):
        rows.way[row + d] = rows.trial[row + d] + rows.rest[row + d]
        rows.joined_rows[row + d] = 0
    end = cables.first[c] + cables.count[c] - 1
    for e in range(cables.first[c], end + 1):
        parts = elements.divides[e] == 1 and elements.on[e] == 1
        if (parts or e == end) and row > first:
            share_out(first, row, rows.rest, rows.way)
            for r in range(first, row + 1):
                rows.trial[r] = rows.way[r] - rows.rest[r]
                rows.joined_rows[r] = row - first
        if elements.divides[e] == 1:
            row += 1
        if parts:
            first = row


@kernel
def look_ahead(c, rigging, points, sliders):
    """Whether the winch may haul in further, and whether what carries the cable still does.

    It stops, as the limit switch of a crane does, where a moving body comes close to the next entry, and where the way
    is twice the cable's length already.
    """
    cables, elements, rows = rigging.cables, rigging.elements, rigging.rows
    length = stretch = 0.0
    for d in range(cables.parts[c]):
        length += rows.rest[cables.row[c] + d]
        stretch += rows.trial[cables.row[c] + d]
    cables.limit[c] = 1 if stretch > length else 0
    cables.adrift[c] = 0
    several = cables.count[c] > 2
    for e in range(cables.first[c], cables.first[c] + cables.count[c]):
        p, n = elements.carrier[e], elements.following[e]
        if points.kind[p] == SLIDER and sliders.attached[points.body[p]] == 0:
            cables.adrift[c] = 1
        if n < 0 or elements.on[e] == 0 or not several or elements.obstacle[e] >= 0 or elements.obstacle[n] >= 0:
            continue
        q = elements.carrier[n]
        still = points.kind[p] == WORLD and points.kind[q] == WORLD
        if still or (points.kind[p] == points.kind[q] and points.kind[p] != WORLD and points.body[p] == points.body[q]):
            continue
        radii = elements.radius[e] + elements.radius[n]
        if elements.span[e] < (0.5 * radii if radii > 0.0 else NEAR * length):
            cables.limit[c] = 1


@inlined
def rigid_way(e, x, h, scene):
    """Displacement in a step, at the present velocities, of the place `x` on element `e` of a rigid body."""
    p = scene.rigging.elements.carrier[e]
    if scene.points.kind[p] != RIGID:
        return 0.0, 0.0, 0.0
    o, q, v = scene.points.base[p], scene.motion.q, scene.motion.v
    arm = sub3(x, (q[o], q[o + 1], q[o + 2]))
    return scale3(h, add3((v[o], v[o + 1], v[o + 2]), cross3((v[o + 3], v[o + 4], v[o + 5]), arm)))


@kernel
def cables_whirl(scene):
    """Whether a span between rigid bodies or the world, or a body that carries one, turns by FAR in a step."""
    elements, points, cables = scene.rigging.elements, scene.points, scene.rigging.cables
    h, v = scene.step.step[0], scene.motion.v
    for c in range(cables.first.size):
        for e in range(cables.first[c], cables.first[c] + cables.count[c]):
            p, n = elements.carrier[e], elements.following[e]
            if points.kind[p] == RIGID and elements.on[e] == 1:
                o = points.base[p] + 3
                if h * h * (v[o] * v[o] + v[o + 1] * v[o + 1] + v[o + 2] * v[o + 2]) > FAR * FAR:
                    return True
            if elements.on[e] == 0 or n < 0:
                continue
            kinds = points.kind[p], points.kind[elements.carrier[n]]
            if (kinds[0] == RIGID or kinds[0] == WORLD) and (kinds[1] == RIGID or kinds[1] == WORLD):
                start, end = get3(elements.leave, e), get3(elements.arrive, n)
                span = sub3(end, start)
                across = cross3(span, sub3(rigid_way(n, end, h, scene), rigid_way(e, start, h, scene)))
                square = dot3(span, span)
                if dot3(across, across) > FAR * FAR * square * square:
                    return True
    return False


@kernel
def begin_cables(mode, scene):
    """Look at the cables where the step begins: what they lie on, values, Jacobians and rates of their rows.

    Returns 1 if a cable has come to lie on a body or left one: the matrix has another pattern then.
    """
    rigging, points, places = scene.rigging, scene.points, scene.places
    cables, rows = rigging.cables, rigging.rows
    if cables.first.size == 0:
        return 0
    place_at_state(scene)
    changed = 0
    for c in range(cables.first.size):
        count_turns(c, True, rigging)
        if cables.obstacles[c] > 0 and wrap_cable(c, rigging, places) == 1:
            changed = 1
    find_ranges(rigging)
    if changed == 1:
        # The way along new elements is another one, but the cable has not turned: its angle starts from here.
        place_cables(rigging, places)
        for c in range(cables.first.size):
            count_turns(c, False, rigging)
    for c in range(cables.first.size):
        if cables.obstacles[c] > 0 and cables.row_room[c] > 1:
            hold_marks(c, cables, rigging.elements, rows, places)
            level_slack(c, cables, rigging.elements, rows)
        join_loose_parts(c, rigging)
        look_ahead(c, rigging, points, scene.sliders)
    for row in range(rows.tension.size):
        rows.value[row] = rows.trial[row]
        rows.kept[row] = rows.tension[row]
    if mode == SPOOK:
        forget_pulls(rigging.pulls)
        pull_cables(1.0, rigging, points, places)
        for row in range(rows.tension.size):
            rows.past[row] = along_row(row, scene.motion.v, rigging)  # a rate, until the step is known
        for c in range(cables.first.size):
            if changed == 1 and cables.row_room[c] > 1:
                same_rates(c, cables, rows)
    return changed
