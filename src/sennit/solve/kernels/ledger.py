"""An account of energy, and of the momentum of what nothing holds: the net below all that a step may get wrong.

Kinetic and weight energy never exceed what was there plus what was put in. `limit` is that sum, J: it grows by the work
of targets, motors, winches and loads, and falls to what is really there whenever all energies are read (damping has
taken the rest away). Where more shows up all the same, rates are scaled down, and the report says by how much. Kin to
the projection of Dinev and others (FEPR, ACM Trans. Graph. 37(4), 2018), but one-sided: it only ever takes away.

A group of bodies that nothing ties to the world keeps its momentum and its angular momentum: it is its motion about the
rigid one that is scaled.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels import kinds
from sennit.bodies.kernels.frames import get3, place_of, put3
from sennit.bodies.kernels.points import DISCRETE, RIGID, SLIDER, SPLINE
from sennit.compilation import inlined, kernel, merged, tolerance
from sennit.constraints.kernels.loads import load_wrench
from sennit.geometry.kernels.algebra import add3, cross3, dot3, inverse3, mat_vec, row9, scale3, sub3
from sennit.solve.kernels.energy import (
    cable_swing, elastic_energy, moving_energy, work_of_cables, work_of_loads, work_of_rows,
)  # fmt: skip

SLACK = 0.005  # of the energy turned over, by which the limit may be passed
READ_EVERY = 16  # steps between two readings of all energies
READ_SWINGS, WINDOW = 4, 64  # the same with cables, and steps of which the best reading counts
SWAY = 0.03  # the same in scenes with cables, and as much again where they swing
INSTANT = 1e-3  # s, of a fall that does not matter
ROUNDING = tolerance(1e-12, 1e-5)
GRAIN = tolerance(1e-13, 1e-6)  # of the scene's size, by which rounding may move things in a step

# ----------------------------------------------------------------------------------------------------------- groups


@inlined
def group_of(p, points, groups):
    """The group of the body that a point belongs to; -1: none."""
    kind, body = points.kind[p], points.body[p]
    if kind == RIGID:
        return groups.of_rigid[body]
    if kind == SPLINE:
        return groups.of_spline[body]
    if kind == DISCRETE:
        return groups.of_discrete[body]
    return groups.of_slider[body] if kind == SLIDER else -1


@merged
def inverse_inertia(g, groups):
    """Inverse of a group's inertia; of a mere line, whose spin about itself is nothing, with a floor."""
    tensor = row9(groups.inertia, g, 0)
    floor = ROUNDING() * (tensor[0] + tensor[4] + tensor[8])
    tensor = (
        tensor[0] + floor, tensor[1], tensor[2], tensor[3], tensor[4] + floor, tensor[5], tensor[6], tensor[7],
        tensor[8] + floor,
    )  # fmt: skip
    inverse, _ = inverse3(tensor)
    return inverse


@merged
def keep_spins(scene):
    """Give free groups back the angular momentum that the scheme has lost.

    Backward formulas take forces where a step ends and their levers where it began: L changes by −h² Σ v × F a step.
    The balance is S₊ (1 + c d) = D S + E S₋ + c τ, in the scheme's numbers, with drag d and the torque τ of loads about
    the centre; what is missing is added as a rigid rotation, which no tie between the bodies feels.
    """
    groups, scheme, points, places = scene.groups, scene.scheme, scene.points, scene.places
    any_free = False
    for g in range(groups.free.size):
        any_free = any_free or groups.keeps_spin[g] == 1
        for k in range(3):
            groups.velocity[g, k] = groups.turning[g, k] = groups.torque[g, k] = 0.0
    if not any_free:
        return
    kinds.weigh_groups(scene)
    kinds.measure_groups(scene)
    loads = scene.loads
    for i in range(loads.point.size):
        g = group_of(loads.point[i], points, groups)
        if loads.enabled[i] == 1 and g >= 0:
            f, m = load_wrench(i, loads, places)
            arm = sub3(place_of(places, loads.point[i]), get3(groups.centre, g))
            put3(groups.torque, g, add3(get3(groups.torque, g), add3(m, cross3(arm, f))))
    c, given = scheme.reach[0], 0.0
    for g in range(groups.free.size):
        if groups.keeps_spin[g] == 1 and groups.mass[g] > 0.0:
            lost = (0.0, 0.0, 0.0)
            if scheme.mean[0] == 0.0 and scene.ledger.fresh[0] == 0 and groups.touched[g] == 0:
                kept = add3(
                    scale3(scheme.d[0], get3(groups.spin_kept, g)), scale3(scheme.e[0], get3(groups.spin_last, g))
                )
                wanted = scale3(1.0 / (1.0 + c * scene.step.drag[0]), add3(kept, scale3(c, get3(groups.torque, g))))
                lost = sub3(wanted, get3(groups.spin, g))
            turning = mat_vec(inverse_inertia(g, groups), lost)
            put3(groups.turning, g, turning)
            given += dot3(turning, get3(groups.spin, g)) + 0.5 * dot3(turning, lost)
            put3(groups.spin_last, g, get3(groups.spin_kept, g))
            put3(groups.spin_kept, g, add3(get3(groups.spin, g), lost))
    kinds.blend_motion(scene, 1.0)
    scene.ledger.kinetic[0] += given


@merged
def find_rigid_motion(scene):
    """Rigid part of the motion of every free group, none of the others. Returns its kinetic energy, J."""
    groups = scene.groups
    kinds.weigh_groups(scene)
    kinds.measure_groups(scene)
    kinetic = 0.0
    for g in range(groups.free.size):
        for k in range(3):
            groups.velocity[g, k] = groups.turning[g, k] = 0.0
        if groups.free[g] == 1 and groups.mass[g] > 0.0:
            momentum, spin = get3(groups.momentum, g), get3(groups.spin, g)
            put3(groups.velocity, g, scale3(1.0 / groups.mass[g], momentum))
            put3(groups.turning, g, mat_vec(inverse_inertia(g, groups), spin))
            kinetic += 0.5 * dot3(momentum, get3(groups.velocity, g)) + 0.5 * dot3(spin, get3(groups.turning, g))
    return kinetic


@kernel
def slow_down(scene, share):
    """Scale all motion by `share` about the rigid one of what nothing holds, which must be known."""
    groups = scene.groups
    for g in range(groups.free.size):
        for k in range(3):
            groups.velocity[g, k] *= 1.0 - share
            groups.turning[g, k] *= 1.0 - share
    kinds.blend_motion(scene, share)
    elements = scene.rigging.elements
    for e in range(elements.spin.size):
        elements.spin[e] *= share


# ----------------------------------------------------------------------------------------------------------- ledger


@merged
def open_ledger(scene):
    """Begin anew with the energy that is there."""
    ledger, groups = scene.ledger, scene.groups
    kinetic, weight = moving_energy(scene)
    stored = elastic_energy(scene, False)
    ledger.limit[0] = kinetic + weight + stored
    ledger.turned[0] += kinetic + stored
    ledger.lowest[0] = weight
    ledger.steps[0] = 0
    ledger.fresh[0] = 0
    ledger.mass[0] = 0.0
    kinds.weigh_groups(scene)
    kinds.measure_groups(scene)
    for g in range(groups.free.size):
        ledger.mass[0] += groups.mass[g]
        for k in range(3):
            groups.spin_kept[g, k] = groups.spin_last[g, k] = groups.spin[g, k]


@merged
def slack_of(scene, kinetic, weight):
    """By how much the limit may be passed, J: a part of the energy turned over, what a millisecond's fall gives, and
    what rounding moves in a step, which is all there is in a scene at rest.
    """
    gravity = get3(scene.step.gravity, 0)
    fall = min(scene.step.advance[0], INSTANT)
    grain = GRAIN() * scene.trial.size[0] / max(abs(scene.step.advance[0]), 1e-9)
    quantum = 0.5 * scene.ledger.mass[0] * (dot3(gravity, gravity) * fall * fall + grain * grain)
    turned = scene.ledger.turned[0]
    share = SLACK * turned
    if scene.rigging.cables.first.size > 0:
        # A cable's tension does not fit its elongation while it swings fast beside the step, and what it carries sways.
        share = SWAY * turned + min(cable_swing(scene.rigging), SWAY * turned)
    return share + quantum + ROUNDING() * (abs(kinetic) + abs(weight))


@merged
def calm(scene, kinetic, weight):
    """Scale rates down until kinetic and weight energy are within the limit."""
    ledger = scene.ledger
    allowed = max(ledger.limit[0] - weight, 0.0)
    rigid = find_rigid_motion(scene)
    share = 0.0
    if kinetic > rigid and allowed > rigid:
        share = math.sqrt((allowed - rigid) / (kinetic - rigid))
    slow_down(scene, min(share, 1.0))
    scene.report.calmed[0] = kinetic - max(allowed, rigid)
    scene.report.struck[0] = 1  # velocities that are not to be extrapolated


@kernel
def balance(scene):
    """Enter the step that was just accepted into the account, and calm the scene if it has more than it may."""
    ledger = scene.ledger
    work = ledger.work[0] + work_of_rows(scene) + work_of_loads(scene, scene.motion.v) + work_of_cables(scene)
    ledger.limit[0] += work
    ledger.turned[0] += max(work, 0.0)
    ledger.steps[0] += 1
    bound, weight = ledger.kinetic[0], ledger.weight[0]
    if weight < ledger.lowest[0]:
        ledger.turned[0] += ledger.lowest[0] - weight
        ledger.lowest[0] = weight
    # A cable's tension and elongation need not fit while it swings: its readings are taken often, and the best counts.
    swings = scene.rigging.cables.first.size > 0
    read = ledger.steps[0] % READ_SWINGS == 0 if swings else ledger.steps[0] >= READ_EVERY
    if not read and bound + weight <= ledger.limit[0] + slack_of(scene, bound, weight):
        return
    kinetic, weight = moving_energy(scene)
    if kinetic + weight > ledger.limit[0] + slack_of(scene, kinetic, weight):
        calm(scene, kinetic, weight)
        kinetic, weight = moving_energy(scene)
    if read:
        there = kinetic + weight + elastic_energy(scene, True)
        ledger.best[0] = there if ledger.steps[0] <= READ_SWINGS or not swings else max(ledger.best[0], there)
        if not swings or ledger.steps[0] >= WINDOW:
            ledger.limit[0] = min(ledger.limit[0], ledger.best[0] + slack_of(scene, kinetic, weight))
            ledger.steps[0] = 0
