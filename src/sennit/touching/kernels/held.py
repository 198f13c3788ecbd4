"""What tubes hold, looked at where a solve takes it.

A bore has walls on all sides, and a contact one plane of them: that where the rod rests, or that which free flight
leads to. Forces may lead to another side within the same step, and narrow bores are no planes. Where the solution
passes a wall the contact is measured again there, and solved again.
"""

from __future__ import annotations

from sennit.bodies.kernels.frames import get3
from sennit.bodies.kernels.points import DISCRETE, SLIDER, SPLINE
from sennit.compilation import kernel, merged
from sennit.contact.kernels.curves import spline_at
from sennit.contact.kernels.rod_in_rod import line_at, off_axis
from sennit.contact.kernels.rod_shape import distance_of
from sennit.geometry.kernels.algebra import add3, dot3, put3, scale3, sub3
from sennit.touching.kernels.find import measure, pearl_radius

BEYOND = 0.02
"""Part of a contact's size by which the solution may pass the wall."""
_OTHER = 0.5
"""Cosine of the angle between two normals from which on they are those of different walls."""


@merged
def at_solution(k, scene):
    """Gap and normal of what contact k holds where the solve takes it, the way from free flight to there, and the place
    of its surface at free flight.
    """
    touch, dq, splines, discretes = scene.touch, scene.trial.dq, scene.splines, scene.discretes
    base = scene.trial.q if scene.settings.static[0] == 1 else scene.trial.q_base
    contacts = touch.contacts
    kind, body, u = contacts.first_kind[k], contacts.first[k], contacts.first_at[k]
    if kind == SLIDER:
        sliders, rod, radius = scene.sliders, scene.sliders.rod[body], pearl_radius(k, False, scene)
        flown, slope, _ = spline_at(splines.rods, rod, base, u)
        slid = scale3(sliders.scale[body] * dq[sliders.dof[body]], slope)
        way = add3(spline_at(splines.rods, rod, dq, u)[0], slid)
    else:
        # Places are linear in the degrees of freedom.
        way = line_at(kind, body, u, splines, discretes, dq)[0]
        flown, _, radius = line_at(kind, body, u, splines, discretes, base)
    x = add3(flown, way)
    other, tube, v = contacts.second_kind[k], contacts.second[k], contacts.second_at[k]
    if other == SPLINE or other == DISCRETE:
        y, along, _ = line_at(other, tube, v, splines, discretes, base)
        moved, turned, _ = line_at(other, tube, v, splines, discretes, dq)
        distance, away = off_axis(x, add3(y, moved), add3(along, turned))
        gap, normal, way = contacts.bore[k] - distance - radius, scale3(-1.0, away), sub3(way, moved)
    else:
        d, _, _, _, n1, n2, n3 = distance_of(k, x, touch.shapes, contacts)
        gap, normal = d - radius, (n1, n2, n3)
    return gap, normal, way, sub3(flown, scale3(radius, normal))


@kernel
def passes_wall(k, scene):
    """Whether the solution takes what contact k holds through a wall."""
    touch = scene.touch
    return touch.contacts.bore[k] > 0.0 and at_solution(k, scene)[0] < -BEYOND * touch.rows.size[k]


@kernel
def measure_again(k, scene):
    """Measure contact k from the wall that the solution passes; on another wall it forgets its friction."""
    contacts, rows = scene.touch.contacts, scene.touch.rows
    gap, normal, way, place = at_solution(k, scene)
    same = dot3(normal, get3(contacts.normal, k)) > _OTHER
    memory, force = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for row in range(1, 3):
        axis = (rows.axes[k, row, 0], rows.axes[k, row, 1], rows.axes[k, row, 2])
        memory = add3(memory, scale3(rows.memory[k, row], axis))
        force = add3(force, scale3(rows.force[k, row], axis))
    put3(contacts.first_place, k, place)
    put3(contacts.second_place, k, place)
    put3(contacts.normal, k, normal)
    contacts.gap[k] = gap - dot3(normal, way)
    contacts.at_start[k] = 0
    measure(k, scene)
    if not same:
        rows.pressed[k] = rows.stuck[k] = 0
        rows.force[k, 0] = 0.0
    for row in range(1, 3):
        axis = (rows.axes[k, row, 0], rows.axes[k, row, 1], rows.axes[k, row, 2])
        rows.memory[k, row] = dot3(memory, axis) if same else 0.0
        rows.force[k, row] = dot3(force, axis) if same else 0.0


@kernel
def meets_other_walls(scene):
    """Measure what the solution takes through walls again. Returns whether there is any."""
    slots, found = scene.touch.slots, False
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0 and scene.touch.rows.lever[k] == 0.0 and passes_wall(k, scene):
            measure_again(k, scene)
            found = True
    return found
