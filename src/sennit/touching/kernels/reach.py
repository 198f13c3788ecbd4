"""How far a static iteration goes: not beyond where contacts were looked for, and not through anything."""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import DISCRETE, RIGID, SLIDER, SPLINE, ZONE
from sennit.compilation import inlined, kernel, merged
from sennit.contact.kernels.curves import spline_at
from sennit.contact.kernels.rows import along
from sennit.contact.kernels.skins import frame_of, vertex_at
from sennit.geometry.kernels.algebra import add3, cross3, dot3, mat_vec, scale3, sub3
from sennit.geometry.kernels.distances import closest
from sennit.touching.kernels.ends import place_on, radius_of, ways_cross
from sennit.touching.kernels.find import OVERLAP, pearl_radius

MOST_LOOKS = 16
"""How often a way is looked at; rods that may meet do not move further past each other, in radii of the thinner one."""


@inlined
def pearl_moved(slider, u, scene):
    """Where the centre of a pearl at u is, and the way of the iteration that was solved, m."""
    sliders, rods, trial = scene.sliders, scene.splines.rods, scene.trial
    rod = sliders.rod[slider]
    x, slope, _ = spline_at(rods, rod, trial.q, u)
    slid = scale3(sliders.scale[slider] * trial.dq[sliders.dof[slider]], slope)
    return x, add3(spline_at(rods, rod, trial.dq, u)[0], slid)


@kernel
def vertex_moved(i, scene):
    """Where vertex i of a zone is, and the way of the iteration that was solved, m."""
    skins, trial, quat = scene.touch.skins, scene.trial, scene.rigids.quat_trial
    dq, o = trial.dq, skins.dof[i]
    x = vertex_at(i, scene, trial.q, quat, False)
    origin, m = frame_of(i, scene, trial.q, quat, False)
    way = mat_vec(m, (dq[o], dq[o + 1], dq[o + 2]))
    if skins.carrier[i] >= 0:
        c = scene.rigids.dof[skins.carrier[i]]
        turn = cross3((dq[c + 3], dq[c + 4], dq[c + 5]), sub3(x, origin))
        way = add3(way, add3((dq[c], dq[c + 1], dq[c + 2]), turn))
    return x, way


@merged
def largest_way(scene):
    """Largest way of the iteration that was solved: of a control point, or of a place on a rigid body's shapes, m."""
    touch, dq = scene.touch, scene.trial.dq
    largest = 0.0
    for kind in range(2):
        rods = scene.splines.rods if kind == 0 else scene.discretes.rods
        sides = touch.splines if kind == 0 else touch.discretes
        for rod in range(rods.dof.size):
            if sides.collider[rod] >= 0:
                for i in range(rods.count[rod]):
                    o = rods.dof[rod] + 4 * i
                    largest = max(largest, math.sqrt(dq[o] * dq[o] + dq[o + 1] * dq[o + 1] + dq[o + 2] * dq[o + 2]))
    for s in range(touch.shapes.collider.size):
        body, slider = touch.shapes.rigid[s], touch.shapes.slider[s]
        if slider >= 0:
            _, way = pearl_moved(slider, touch.shapes.at[s], scene)
            largest = max(largest, math.sqrt(dot3(way, way)))
        elif body >= 0:
            o = scene.rigids.dof[body]
            away = get3(touch.shapes.place, s)
            reach = min(touch.shapes.shapes.ball[s], 1e9) + math.sqrt(dot3(away, away))
            way = math.sqrt(dq[o] * dq[o] + dq[o + 1] * dq[o + 1] + dq[o + 2] * dq[o + 2])
            turn = math.sqrt(dq[o + 3] * dq[o + 3] + dq[o + 4] * dq[o + 4] + dq[o + 5] * dq[o + 5])
            largest = max(largest, way + reach * turn)
    for i in range(touch.skins.collider.size):
        _, moved = vertex_moved(i, scene)
        largest = max(largest, math.sqrt(dot3(moved, moved)))
    return largest


@merged
def crosses(k, scene):
    """Whether a rod, a pearl or a zone would overlap what it may touch, by more than is allowed and was so before."""
    touch, q, dq = scene.touch, scene.trial.q, scene.trial.dq
    contacts, rows = touch.contacts, touch.rows
    kind, body, u = contacts.first_kind[k], contacts.first[k], contacts.first_at[k]
    other, second = contacts.second_kind[k], contacts.second[k]
    if kind == SLIDER:
        x, way = pearl_moved(body, u, scene)
        radii = pearl_radius(k, False, scene)
    elif kind == ZONE:
        x, way = vertex_moved(contacts.first_shape[k], scene)
        radii = 0.0
    else:
        x, way = place_on(kind, body, u, q, scene), place_on(kind, body, u, dq, scene)
        radii = radius_of(kind, body, u, scene)
    on_rod = other == SPLINE or other == DISCRETE
    if on_rod:
        v = contacts.second_at[k]
        x, way = sub3(x, place_on(other, second, v, q, scene)), sub3(way, place_on(other, second, v, dq, scene))
        radii += radius_of(other, second, v, scene)
    elif other == SLIDER:
        way = sub3(way, pearl_moved(second, contacts.second_at[k], scene)[1])
    elif other == RIGID:
        o = scene.rigids.dof[second]
        arm = sub3(x, (q[o], q[o + 1], q[o + 2]))
        turn = cross3((dq[o + 3], dq[o + 4], dq[o + 5]), arm)
        way = sub3(way, add3((dq[o], dq[o + 1], dq[o + 2]), turn))
    allowed = OVERLAP * rows.size[k] + max(-rows.start[k], 0.0)
    if other == ZONE:
        # A face is as good as a plane, which moves with its corners.
        return not -(contacts.gap[k] + along(k, 0, dq, rows)) <= allowed
    far = math.sqrt(dot3(way, way)) / rows.size[k]
    if on_rod and far > MOST_LOOKS:
        return True  # between two looks one rod could pass through the other
    looks = min(int(far) + 1, MOST_LOOKS)
    for i in range(1, looks + 1):
        y = add3(x, scale3(i / looks, way))
        if on_rod:
            gap = math.sqrt(dot3(y, y)) - radii
        else:
            gap = closest(touch.shapes.shapes, contacts.second_shape[k], y[0], y[1], y[2])[0] - radii
        if not -gap <= allowed:
            return True
    return False


@merged
def goes_too_far(scene):
    """Whether the iteration moves anything beyond where contacts were looked for, or through something."""
    touch = scene.touch
    contacts, way = touch.contacts, largest_way(scene)
    touch.state.way[0] = way
    if not way <= scene.step.way[0]:
        return True
    for k in range(min(touch.state.found[0], contacts.gap.size)):
        kind = contacts.first_kind[k]
        turns = contacts.pressed_by[k] != k
        if not turns and kind != RIGID and crosses(k, scene):
            return True
    return ways_cross(scene)
