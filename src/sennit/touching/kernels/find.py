"""What may touch in a step: shapes are put where they are, contacts found and measured, and slots handed out."""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import DISCRETE, RIGID, SLIDER, SPLINE, WORLD, ZONE
from sennit.bodies.rod.kernels.point import SLIDE
from sennit.compilation import inlined, kernel, merged
from sennit.contact.kernels.bodies import rigid_rigid
from sennit.contact.kernels.curves import spline_at
from sennit.contact.kernels.memory import recall
from sennit.contact.kernels.outline import outline
from sennit.contact.kernels.pearls import pearl_tube
from sennit.contact.kernels.rod_in_rod import line_at, off_axis, rod_in_rod
from sennit.contact.kernels.rod_shape import distance_of, rod_shape
from sennit.contact.kernels.rods import mark_crossings, rod_rod
from sennit.contact.kernels.rows import SIDE, along, put_offsets, put_rows, put_softness
from sennit.contact.kernels.skin_faces import (
    nearest_at,
    place_faces,
    put_faces,
    put_normals,
    rod_skin,
    shift_on_face,
    skin_skin,
)
from sennit.contact.kernels.skins import place_skins, shift_of_vertex, skin_shape, vertex_at
from sennit.contact.kernels.turning import TURNING, add_turning
from sennit.geometry.kernels.algebra import add3, dot3, mat_vec, quat_matrix, row9, scale3, sub3
from sennit.touching.kernels.ends import judge_ends, place_on, radius_of
from sennit.touching.kernels.margins import set_margins

CHOSEN = 0.1
"""Radii of a rod, or of the size of a body, that free flight may leave between what is in the problem all the same."""
OVERLAP, LENIENCY = 0.1, 5.0
"""Radii by which an accepted step may let things overlap that did not so before, and times as much by one that can't be
divided any further.
"""
BODY = 0.1
"""Of a rigid body's size, what counts as a radius."""
EDGE = 0.5
"""Of the length of a zone's edges, what counts as a radius."""


# ------------------------------------------------------------------------------------------------------------- shapes


@inlined
def turn_into(out, s, m, turn):
    """out[s] <- m turn[s]."""
    for a in range(3):
        for b in range(3):
            out[s, a, b] = m[3 * a] * turn[s, 0, b] + m[3 * a + 1] * turn[s, 1, b] + m[3 * a + 2] * turn[s, 2, b]


@merged
def carry_shapes(shapes, scene, q, quat, place, turn):
    """Where the shapes of rigid bodies and pearls are for `q` and the attitudes `quat`."""
    rigids, sliders, rods = scene.rigids, scene.sliders, scene.splines.rods
    for s in range(shapes.collider.size):
        body, slider = shapes.rigid[s], shapes.slider[s]
        if slider >= 0:
            shapes.at[s] = q[sliders.dof[slider]] * sliders.scale[slider]
            x = spline_at(rods, sliders.rod[slider], q, shapes.at[s])[0]
            for a in range(3):
                place[s, a] = x[a]
                for b in range(3):
                    turn[s, a, b] = shapes.turn[s, a, b]  # of a ball: any
        if body >= 0:
            m = quat_matrix((quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3]))
            o = rigids.dof[body]
            for a in range(3):
                place[s, a] = q[o + a]
                for b in range(3):
                    place[s, a] += m[3 * a + b] * shapes.place[s, b]
            turn_into(turn, s, m, shapes.turn)


@merged
def lead_shapes(shapes, obstacles, points, static):
    """Where the shapes of obstacles are when the step begins, and when it ends; in statics both are now."""
    own = shapes.shapes
    for s in range(shapes.collider.size):
        if shapes.obstacle[s] >= 0:
            p = obstacles.point[shapes.obstacle[s]]
            before, after = row9(points.anchor_frame_last, p, 0), row9(points.anchor_frame, p, 0)
            for a in range(3):
                shapes.place_before[s, a], own.place[s, a] = points.anchor_last[p, a], points.anchor[p, a]
                for b in range(3):
                    shapes.place_before[s, a] += before[3 * a + b] * shapes.place[s, b]
                    own.place[s, a] += after[3 * a + b] * shapes.place[s, b]
            turn_into(shapes.turn_before, s, before, shapes.turn)
            turn_into(own.turn, s, after, shapes.turn)
            if static:
                for a in range(3):
                    shapes.place_before[s, a] = own.place[s, a]
                turn_into(shapes.turn_before, s, after, shapes.turn)


@merged
def place_shapes(scene):
    """Shapes where the step begins and where free flight ends it."""
    touch, quat = scene.touch, scene.rigids.quat_trial
    shapes = touch.shapes
    own = shapes.shapes
    static = scene.settings.static[0] == 1
    lead_shapes(shapes, touch.obstacles, scene.points, static)
    if static:
        carry_shapes(shapes, scene, scene.trial.q, quat, shapes.place_before, shapes.turn_before)
        carry_shapes(shapes, scene, scene.trial.q, quat, own.place, own.turn)
    else:
        carry_shapes(shapes, scene, scene.motion.q, scene.rigids.quat, shapes.place_before, shapes.turn_before)
        carry_shapes(shapes, scene, scene.trial.q_base, scene.rigids.quat_base, own.place, own.turn)


@inlined
def shift_of(s, x, touch, points, h):
    """How far the surface of an obstacle's shape moves in the step at a place x of its end, m."""
    shapes = touch.shapes
    own, o = shapes.shapes, shapes.obstacle[s]
    d = sub3(x, get3(own.place, s))
    belt = get3(touch.obstacles.surface_velocity, o)
    out = scale3(h, mat_vec(row9(points.anchor_frame, touch.obstacles.point[o], 0), belt))
    for b in range(3):
        local = own.turn[s, 0, b] * d[0] + own.turn[s, 1, b] * d[1] + own.turn[s, 2, b] * d[2]
        out = (
            out[0] + (own.turn[s, 0, b] - shapes.turn_before[s, 0, b]) * local,
            out[1] + (own.turn[s, 1, b] - shapes.turn_before[s, 1, b]) * local,
            out[2] + (own.turn[s, 2, b] - shapes.turn_before[s, 2, b]) * local,
        )
    return add3(out, sub3(get3(own.place, s), get3(shapes.place_before, s)))


# ------------------------------------------------------------------------------------------------------------- flight


@merged
def note_flight(scene):
    """How far free flight takes the degrees of freedom; of angles, by their rates: frames turn with the bodies."""
    motion, trial, flight, h = scene.motion, scene.trial, scene.touch.flight, scene.step.step[0]
    static = scene.settings.static[0] == 1
    for i in range(flight.size):
        flight[i] = 0.0 if static else trial.q_base[i] - motion.q[i]
    if static:
        return
    for kind in range(2):
        rods = scene.splines.rods if kind == 0 else scene.discretes.rods
        for rod in range(rods.dof.size):
            for i in range(rods.count[rod]):
                o = rods.dof[rod] + 4 * i + 3
                flight[o] = h * motion.v[o]
    for body in range(scene.rigids.dof.size):
        for a in range(3, 6):
            o = scene.rigids.dof[body] + a
            flight[o] = h * motion.v[o]


@merged
def note_diagonal(scene):
    """Diagonal of the last matrix by degrees of freedom: what one of them resists by itself."""
    diagonal, values = scene.touch.diagonal, scene.matrix.values
    for kind in range(2):
        rods = scene.splines.rods if kind == 0 else scene.discretes.rods
        for rod in range(rods.dof.size):
            for i in range(rods.count[rod]):
                for c in range(4):
                    diagonal[rods.dof[rod] + 4 * i + c] = values[rods.band[rod] + 64 * i + 17 * c]
    for body in range(scene.rigids.dof.size):
        for a in range(6):
            diagonal[scene.rigids.dof[body] + a] = values[scene.rigids.block[body] + 7 * a]
    sliders, rods = scene.sliders, scene.splines.rods
    for slider in range(sliders.dof.size):
        own = values[sliders.slots[slider] + SLIDE]
        if scene.settings.static[0] == 1:
            # At rest nothing holds it along its rod, or its weight does so with either sign: what gives way is the rod.
            own = max(abs(own), abs(values[rods.band[sliders.rod[slider]]]))
        diagonal[sliders.dof[slider]] = own
    zones = scene.zones
    for z in range(zones.dof.size):
        for i in range(zones.count[z]):
            diagonal[zones.dof[z] + i] = values[zones.block[z] + (zones.count[z] + 1) * i]
    if scene.settings.static[0] == 0:
        return
    rows, slots = scene.touch.rows, scene.touch.slots
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for i in range(2 * SIDE):
                if rows.index[k, i] >= 0:
                    dof = rows.index[k, i]
                    diagonal[dof] = abs(diagonal[dof]) + abs(values[slots.bend[s] + i * (i + 1) // 2 + i])


# ------------------------------------------------------------------------------------------------------------- choice


@inlined
def pearl_radius(k, second, scene):
    """Radius of the pearl on a side of contact k, m."""
    contacts = scene.touch.contacts
    return scene.touch.shapes.shapes.size[contacts.second_shape[k] if second else contacts.first_shape[k], 0]


@inlined
def size_of(k, contacts, scene):
    """What an overlap of contact k is small against, m: the radius of its thinnest rod, or a part of its solid."""
    size = math.inf
    for side in range(2):
        kind = contacts.first_kind[k] if side == 0 else contacts.second_kind[k]
        body = contacts.first[k] if side == 0 else contacts.second[k]
        if kind == SPLINE or kind == DISCRETE:
            u = contacts.first_at[k] if side == 0 else contacts.second_at[k]
            size = min(size, radius_of(kind, body, u, scene))
        elif kind == SLIDER:
            size = min(size, BODY * 2.0 * pearl_radius(k, side == 1, scene))
        elif kind == ZONE:
            i = contacts.first_shape[k] if side == 0 else scene.touch.faces.corner[contacts.second_shape[k], 0]
            size = min(size, EDGE * scene.touch.skins.edge[i])
        elif kind == RIGID:
            # twice the mean radius of gyration
            moments = scene.rigids.inertia[body, 0] + scene.rigids.inertia[body, 4] + scene.rigids.inertia[body, 8]
            size = min(size, BODY * 2.0 * math.sqrt(0.5 * moments / scene.rigids.mass[body]))
    return size


@merged
def measure(k, scene):
    """Rows, offsets and what is known of contact k before the solve."""
    touch, step = scene.touch, scene.step
    contacts, rows = touch.contacts, touch.rows
    contacts.pressed_by[k], rows.lever[k] = k, 0.0
    put_rows(k, contacts, rows, scene, scene.trial.q_base)
    shift = (0.0, 0.0, 0.0)
    if contacts.second_kind[k] == WORLD:
        shift = shift_of(contacts.second_shape[k], get3(contacts.second_place, k), touch, scene.points, step.step[0])
    if contacts.second_kind[k] == ZONE:
        shift = shift_on_face(contacts.second_shape[k], get3(contacts.shares, k), scene)
    if contacts.first_kind[k] == ZONE:
        shift = sub3(shift, shift_of_vertex(contacts.first_shape[k], scene))
    for a in range(3):
        rows.shift[k, a] = shift[a]
    rows.size[k] = size_of(k, contacts, scene)
    put_offsets(k, contacts, rows, shift, touch.flight, step.step[0])
    if scene.settings.static[0] == 1:
        # All of an overlap is taken back, as far as an iteration may go.
        rows.offset[k, 0] = max(contacts.gap[k], -0.5 * step.way[0])
    rows.ordinary[k] = rows.offset[k, 0]


@merged
def begin_stuck(k, scene):
    """What has just come to lie there, and free flight would hardly move along, sticks: it has not begun to slide."""
    rows, step = scene.touch.rows, scene.step
    if rows.pressed[k] == 0 and scene.settings.static[0] == 0:
        way = math.sqrt(rows.offset[k, 1] * rows.offset[k, 1] + rows.offset[k, 2] * rows.offset[k, 2])
        if way <= step.threshold[0] * step.step[0]:
            rows.stuck[k] = 1


@merged
def rebound(k, scene):
    """Note whether contact k is struck faster than the threshold: a shock, after which it leaves with −restitution
    times its speed (`shocks`).

    Without restitution a shock takes two steps: one that ends where they meet, and one that takes the speed which is
    left. So what pressed before is struck, too, but does not rebound once more.
    """
    touch, step = scene.touch, scene.step
    rows, law = touch.rows, touch.contacts.law[k]
    approach = rows.start[k] - rows.flight[k]
    h = step.step[0]
    rows.strikes[k] = 0
    if rows.flight[k] < 0.0 and approach > step.threshold[0] * h and h > 0.0:
        touch.state.struck[0] = 1
        if rows.pressed[k] == 0:
            rows.strikes[k] = 1
            if touch.laws.restitution[law] > 0.0:
                touch.state.rebounds[0] = 1


@inlined
def side_of_key(s, k, slots, rows):
    """Whether the key of slot s comes before (-1) or after (1) that of contact k; 0: they are the same."""
    for i in range(6):
        if slots.key[s, i] != rows.key[k, i]:
            return -1 if slots.key[s, i] < rows.key[k, i] else 1
    return 0


@inlined
def free_slot(k, slots, rows):
    """The first slot for contact k that no other has; -2: there is none. Slots stand in the order of their keys."""
    low, high = 0, slots.contact.size
    while low < high:
        middle = (low + high) // 2
        if side_of_key(middle, k, slots, rows) < 0:
            low = middle + 1
        else:
            high = middle
    while low < slots.contact.size and side_of_key(low, k, slots, rows) == 0:
        if slots.contact[low] < 0:
            return low
        low += 1
    return -2


@merged
def hand_out(count, scene):
    """Give each contact that is in the problem a slot of its pattern. Returns 1 if there are not enough."""
    touch = scene.touch
    rows, slots, state = touch.rows, touch.slots, touch.state
    for s in range(slots.contact.size):
        slots.contact[s] = -1
    state.chosen[0], missing = 0, 0
    for k in range(count):
        rows.slot[k] = -1
        by = touch.contacts.pressed_by[k]
        if by != k:
            if rows.slot[by] == -1:
                continue
        elif rows.pressed[k] == 0 and rows.flight[k] > CHOSEN * rows.size[k] + state.reach[0]:
            continue
        state.chosen[0] += 1
        s = free_slot(k, slots, rows)
        rows.slot[k] = s
        if s >= 0:
            slots.contact[s] = k
        else:
            missing = 1
    for s in range(slots.contact.size):
        slots.idle[s] = 0 if slots.contact[s] >= 0 else slots.idle[s] + 1
    return missing


@merged
def note_between(touch):
    """Which spans pressed on a shape between their knots in the static iteration before."""
    memory, rods, rests = touch.memory, touch.search.rods, touch.search.spans.rests
    for row in range(rests.size):
        rests[row] = 1
    for i in range(memory.count[0]):
        on_rod = memory.key[i, 2] == SPLINE or memory.key[i, 2] == DISCRETE
        if on_rod or memory.key[i, 4] & 1 == 0 or memory.key[i, 4] >= TURNING:
            continue
        for rod in range(rods.kind.size):
            if rods.kind[rod] == memory.key[i, 0] and rods.row[rod] == memory.key[i, 1]:
                rests[rods.first_span[rod] + memory.key[i, 4] // 2] = 2


@kernel
def find_all(scene):
    """Find and measure all contacts of a step. Returns 1 if there is no room for them."""
    touch = scene.touch
    state, contacts, rows = touch.state, touch.contacts, touch.rows
    static = scene.settings.static[0] == 1
    q, flown = (scene.trial.q, scene.trial.q) if static else (scene.motion.q, scene.trial.q_base)
    place_shapes(scene)
    place_skins(scene)
    place_faces(scene)
    note_flight(scene)
    set_margins(scene)
    state.struck[0] = state.rebounds[0] = 0
    if state.ended[0] > touch.ends.gap.size:
        return 1
    if static:
        note_between(touch)
    outline(
        scene.splines, scene.discretes, touch.splines, touch.discretes, touch.colliders, touch.laws, touch.ties, q,
        touch.search,
    )  # fmt: skip
    mark_crossings(touch.search, touch.memory)
    count = rod_rod(touch.colliders, touch.laws, touch.ties, touch.search, contacts, 0)
    count = rod_in_rod(scene.splines, scene.discretes, touch.sleeves, flown, touch.search, contacts, count)
    count = rod_shape(
        scene.splines, scene.discretes, touch.colliders, touch.laws, touch.ties, touch.shapes, flown, touch.search,
        contacts, count,
    )  # fmt: skip
    count = pearl_tube(touch, contacts, count)
    count = rigid_rigid(touch, contacts, count)
    count = skin_shape(touch, contacts, count)
    if touch.faces.face.size > 0:
        count = rod_skin(scene.splines, scene.discretes, touch, flown, contacts, count)
        count = skin_skin(touch, contacts, count)
    state.found[0] = count
    if count > contacts.gap.size:
        return 1
    for k in range(count):
        measure(k, scene)
    total = add_turning(count, scene)
    state.found[0] = total
    if total > contacts.gap.size:
        return 1
    if state.again[0] == 1:
        state.again[0] = 2
        for k in range(total):
            for row in range(3):
                rows.trial_force[k, row] = rows.force[k, row]
    recall(total, contacts, rows, touch.memory)
    for k in range(count):
        begin_stuck(k, scene)
        rebound(k, scene)
        if static:
            far = contacts.gap[k] > CHOSEN * rows.size[k]
            for row in range(3):
                if far:
                    rows.force[k, row] = 0.0
                rows.memory[k, row] = rows.force[k, row]  # along the normal, too: nothing is left of R where it rests
    return hand_out(total, scene)


@kernel
def soften(scene):
    """Compliances of the contacts in the problem, from the matrix as it was assembled."""
    touch = scene.touch
    note_diagonal(scene)
    for s in range(touch.slots.contact.size):
        k = touch.slots.contact[s]
        if k >= 0:
            put_softness(k, touch.rows, touch.diagonal)


# ----------------------------------------------------------------------------------------------------- after the solve


@merged
def gap_to_face(k, x, scene):
    """Gap of a place x where the step ends, of the first side of contact k, to the zone on its second side, whose faces
    are placed there; as the rows have it where the nearest face is another side of the zone.
    """
    touch = scene.touch
    contacts = touch.contacts
    z = touch.faces.soft[contacts.second_shape[k]]
    f, _, _, d, n0, n1, n2 = nearest_at(touch.faces.place, touch.fans.normal, z, x, touch)
    if dot3((n0, n1, n2), get3(contacts.normal, k)) > 0.0 and d >= -touch.faces.reach[f]:
        kind, body, u = contacts.first_kind[k], contacts.first[k], contacts.first_at[k]
        return d - (0.0 if kind == ZONE else radius_of(kind, body, u, scene))
    return along(k, 0, scene.trial.dq, touch.rows) + touch.rows.flight[k]


@merged
def gap_at_end(k, scene):
    """Gap of contact k where the step ends: of rods and pearls from their surfaces, of bodies as the rows have it."""
    touch, q = scene.touch, scene.trial.q
    contacts, rows = touch.contacts, touch.rows
    kind = contacts.first_kind[k]
    if contacts.second_kind[k] == ZONE:
        if kind == ZONE:
            return gap_to_face(k, vertex_at(contacts.first_shape[k], scene, q, scene.rigids.quat_trial, False), scene)
        return gap_to_face(k, place_on(kind, contacts.first[k], contacts.first_at[k], q, scene), scene)
    if kind == SLIDER:
        x = get3(touch.shapes.shapes.place, contacts.first_shape[k])
        return distance_of(k, x, touch.shapes, contacts)[0] - pearl_radius(k, False, scene)
    if kind == ZONE:
        x = vertex_at(contacts.first_shape[k], scene, q, scene.rigids.quat_trial, False)
        return distance_of(k, x, touch.shapes, contacts)[0]
    if kind != SPLINE and kind != DISCRETE:
        return along(k, 0, scene.trial.dq, rows) + rows.flight[k]
    x = place_on(kind, contacts.first[k], contacts.first_at[k], q, scene)
    radii = radius_of(kind, contacts.first[k], contacts.first_at[k], scene)
    other = contacts.second_kind[k]
    if other == SPLINE or other == DISCRETE:
        y, tangent, _ = line_at(other, contacts.second[k], contacts.second_at[k], scene.splines, scene.discretes, q)
        if contacts.bore[k] > 0.0:
            return contacts.bore[k] - off_axis(x, y, tangent)[0] - radii
        radii += radius_of(other, contacts.second[k], contacts.second_at[k], scene)
        d = sub3(x, y)
        return math.sqrt(dot3(d, d)) - radii
    return distance_of(k, x, touch.shapes, contacts)[0] - radii


@kernel
def judge_rods(scene):
    """`judge_ends` by what a step may leave."""
    return judge_ends(OVERLAP * (LENIENCY if scene.settings.lenient[0] == 1 else 1.0), scene)


@kernel
def judge_all(scene):
    """The largest overlap beyond what a step may leave (m), and the contact that it belongs to; -1: none."""
    touch = scene.touch
    contacts, rows, shapes = touch.contacts, touch.rows, touch.shapes
    carry_shapes(shapes, scene, scene.trial.q, scene.rigids.quat_trial, shapes.shapes.place, shapes.shapes.turn)
    put_faces(touch.faces.place, scene, scene.trial.q, scene.rigids.quat_trial, False)
    put_normals(touch.fans.normal, touch.faces.place, touch.faces)
    worst, culprit, touch.state.deepest[0] = 0.0, -1, 0.0
    lenient = LENIENCY if scene.settings.lenient[0] == 1 else 1.0
    for k in range(min(touch.state.found[0], contacts.gap.size)):
        if contacts.pressed_by[k] != k:
            continue
        gap = gap_at_end(k, scene)
        touch.state.deepest[0] = max(touch.state.deepest[0], -gap)
        # not by so much more than it was: many such steps would let things pass
        allowed = max(lenient * OVERLAP * rows.size[k], rows.overlap[k])
        if not -gap <= allowed and -gap - allowed > worst:
            worst, culprit = -gap - allowed, k
    return worst, culprit
