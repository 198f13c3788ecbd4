"""What a solve's linearisation missed: looked at before the step is accepted.

The iterate is where the linearised solve went. There rows are not quite met, what slides is not quite on its rod where
it was expected, and rods are stretched by what their turning adds in second order. While that is little, it is what
the scheme's order allows. A miss beyond `rows.tolerance`, or energy that nobody put in, is a step too long for what
happens in it: it is not accepted, and divided (`solve.divide`).
"""

from __future__ import annotations

import math

from sennit.bodies.kernels import kinds
from sennit.bodies.rod.spline.kernels.folds import FOLDED
from sennit.bodies.kernels.frames import get3, place_of
from sennit.bodies.kernels.points import accept_point, evaluate_point
from sennit.compilation import kernel, merged
from sennit.constraints.kernels.rows import ANGULAR, TRAITS, evaluate_rows
from sennit.constraints.cable.kernels.kinds import END, SPOOK
from sennit.geometry.kernels.algebra import dot3, sub3
from sennit.solve.kernels.assemble import row_is_on
from sennit.solve.kernels.codes import (
    BEAD_MISSED,
    ENERGY_MISSED,
    FOLDED_UP,
    MISSED,
    MOTION_MISSED,
    ROW_MISSED,
    SOLVED,
    TOUCHED,
    WAY_MISSED,
)
from sennit.solve.kernels.energy import spring_energies, work_of_loads, work_of_rows
from sennit.solve.kernels.lead import is_firm
from sennit.solve.kernels.ledger import group_of, slack_of
from sennit.solve.kernels.touching import judge_contacts

LENIENCY = 10.0  # times as much may be missed by a step that can't be divided further; of angles, anything
BEAD = 0.01  # of its rod's length, by which what slides may miss its place
WAY = 0.01  # of a cable's way, by which it may be longer or shorter than a winch that keeps a tension reckons with
FOLDING = 0.1  # rad of a turn from which a step may fold a rod
ENERGY = 0.25  # of the kinetic energy and the work, by which the energy of rods may be off


@kernel
def evaluate_trial(scene):
    """Places and frames of all points, and the rows, at the iterate; frames are carried there."""
    points, trial, places, frames = scene.points, scene.trial, scene.places, scene.trial_frames
    kinds.find_spans(scene, trial.q)
    kinds.place_sliders(scene, trial.q)
    for p in range(points.kind.size):
        evaluate_point(p, points, frames, trial.q, scene.rigids.quat_trial, places)
        accept_point(p, points, frames, places)
    evaluate_rows(0, scene.rows.kind.size, scene.rows, places, trial.q, points)


@merged
def note(scene, cause, culprit, missed):
    """Say what was missed."""
    scene.report.cause[0], scene.report.culprit[0], scene.report.missed[0] = cause, culprit, missed


@merged
def judge_rows(scene):
    """Rows that were to be met and are not."""
    rows, before, after = scene.rows, scene.step.share_before[0], scene.step.share_after[0]
    worst = LENIENCY if scene.settings.lenient[0] == 1 else 1.0
    for r in range(rows.kind.size):
        off = abs(rows.g[r]) if rows.dual[r] >= 0 else max(-rows.g[r], 0.0)
        if scene.settings.lenient[0] == 1 and TRAITS[rows.kind[r]] & ANGULAR and math.isfinite(off):
            continue
        if not off <= rows.tolerance[r] and is_firm(r, rows) and rows.spare[r] == 0.0 and rows.gave[r] == 0:
            fall = rows.gap[r] - rows.gap_after[r]
            start = rows.origin[r] - rows.ahead[r] - (after - before) * fall
            allowed = max(rows.tolerance[r], abs(start))
            if not off <= worst * allowed and row_is_on(r, rows, scene.points, scene.sliders):
                worst = off / allowed
                note(scene, ROW_MISSED, r, off)


@merged
def judge_sliders(scene):
    """What slides and is not where the linearised solve put it."""
    sliders, rods, places = scene.sliders, scene.splines.rods, scene.places
    worst = LENIENCY if scene.settings.lenient[0] == 1 else 1.0
    for s in range(sliders.dof.size):
        if sliders.attached[s] == 1 and sliders.mass[s] > 0.0:
            gap = sub3(place_of(places, sliders.point[s]), get3(sliders.landed, s))
            off = math.sqrt(dot3(gap, gap))
            allowed = BEAD * rods.length[sliders.rod[s]]
            if not off <= worst * allowed:
                worst = off / allowed
                note(scene, BEAD_MISSED, s, off)


@merged
def judge_ways(scene):
    """Cables at a kept tension whose way is not as long as the solve expects.

    No row holds their points together, so that nothing else tells when a step goes astray: the winch would take in, or
    let out, whatever the linearisation missed. Told of cables that run from point to point, by the places of these.
    """
    cables, elements, rows, places = scene.rigging.cables, scene.rigging.elements, scene.rigging.rows, scene.places
    spook = scene.settings.cables[0] == SPOOK
    worst = LENIENCY if scene.settings.lenient[0] == 1 else 1.0
    for c in range(cables.first.size):
        if cables.pull[c] < 0.0 or cables.acts[c] == 0 or cables.broken[c] == 1:
            continue
        expected = way = 0.0
        for row in range(cables.row[c], cables.row[c] + cables.parts[c]):
            before = rows.value[row] + rows.free[row] if spook else rows.trial[row]
            after = before - rows.wanted[row] + rows.softness[row] * rows.tension[row] - rows.left_over[row]
            expected += rows.rest[row] + after
        straight = elements.kind[cables.first[c]] == END
        for e in range(cables.first[c] + 1, cables.first[c] + cables.count[c]):
            straight = straight and elements.kind[e] == END
            span = sub3(place_of(places, elements.carrier[e]), place_of(places, elements.carrier[e - 1]))
            way += math.sqrt(dot3(span, span))
        off = abs(way - expected)
        if straight and not off <= worst * WAY * way:
            worst = off / (WAY * way)
            note(scene, WAY_MISSED, c, off)


@merged
def judge_motion(scene):
    """Kinetic and weight energy beyond what is there and is put in, by more than the ledger should have to mend."""
    ledger, trial, rigids, sliders = scene.ledger, scene.trial, scene.rigids, scene.sliders
    ledger.kinetic[0] = kinds.kinetic_bound(scene, trial.v, rigids.spin_trial, sliders.velocity_trial)
    ledger.weight[0] = kinds.weight_energy(scene, trial.q, True)
    allowed = ledger.limit[0] + slack_of(scene, ledger.kinetic[0], ledger.weight[0])
    if ledger.kinetic[0] + ledger.weight[0] <= allowed or scene.settings.thrifty[0] == 0:
        return
    if scene.rigging.cables.first.size > 0:
        return  # what a cable gives is told by its own account
    work = ledger.work[0] + work_of_rows(scene) + work_of_loads(scene, trial.v)
    motion = scene.motion
    before = kinds.kinetic_energy(scene, motion.v, rigids.spin, sliders.velocity)
    after = kinds.kinetic_energy(scene, trial.v, rigids.spin_trial, sliders.velocity_trial)
    gained = after + ledger.weight[0] - allowed - work
    if not gained <= ENERGY * (before + abs(work)):
        note(scene, MOTION_MISSED, 0, gained)


@merged
def judge_energy(scene):
    """Rods whose energy has grown by what nobody put in.

    The energy that the linearisation missed, stretch by stretch, tells whether it is worth while to reckon all of it.
    """
    missed, rod = kinds.missed_energy(scene)
    if missed == 0.0:
        return
    motion, trial, rigids, sliders = scene.motion, scene.trial, scene.rigids, scene.sliders
    after = kinds.kinetic_energy(scene, trial.v, rigids.spin_trial, sliders.velocity_trial)
    if missed <= ENERGY * after + slack_of(scene, after, 0.0):
        return
    before = kinds.kinetic_energy(scene, motion.v, rigids.spin, sliders.velocity)
    work = scene.ledger.work[0] + work_of_rows(scene) + work_of_loads(scene, trial.v)
    gained = after - before - work
    gained += kinds.weight_energy(scene, trial.q, True) - kinds.weight_energy(scene, motion.q, False)
    gained += kinds.strain_energy(scene, True) - kinds.strain_energy(scene, False)
    gained += spring_energies(scene, True) - spring_energies(scene, False)
    allowed = ENERGY * (max(before, after) + abs(work)) + slack_of(scene, after, 0.0)
    if not gained <= allowed:
        note(scene, ENERGY_MISSED, rod, gained)


@merged
def centre_groups(scene):
    """Put free groups where their momentum takes them.

    What slides is not quite where the solve put it, and would shift the common centre of mass.
    """
    groups, sliders, places = scene.groups, scene.sliders, scene.places
    for g in range(groups.free.size):
        for k in range(3):
            groups.velocity[g, k] = 0.0
    off = False
    for s in range(sliders.dof.size):
        g = groups.of_slider[s]
        if sliders.attached[s] == 1 and sliders.mass[s] > 0.0 and groups.free[g] == 1 and groups.mass[g] > 0.0:
            off = True
            x = place_of(places, sliders.point[s])
            for k in range(3):
                groups.velocity[g, k] += sliders.mass[s] / groups.mass[g] * (sliders.landed[s, k] - x[k])
    if not off:
        return
    kinds.shift_groups(scene, scene.trial.q, groups.velocity)
    for p in range(scene.points.kind.size):
        g = group_of(p, scene.points, groups)
        if g >= 0:
            for k in range(3):
                places.position[p, k] += groups.velocity[g, k]


@merged
def judge_folds(scene):
    """Rods that a step would fold between their control points, where no energy tells."""
    if scene.report.turn[0] < FOLDING or scene.settings.thrifty[0] == 0:
        return
    if not kinds.least_speed_ratio(scene, scene.trial.q) >= FOLDED:
        if kinds.least_speed_ratio(scene, scene.motion.q) >= FOLDED:
            note(scene, FOLDED_UP, 0, 0.0)


@kernel
def judge(scene):
    """Look at the iterate. Returns SOLVED, MISSED with its cause in the report, or TOUCHED if it must be made again."""
    scene.report.cause[0] = 0
    kinds.find_rates(scene)
    evaluate_trial(scene)
    judge_rows(scene)
    if judge_contacts(scene) == TOUCHED:
        return TOUCHED
    if scene.report.cause[0] == 0:
        judge_sliders(scene)
        judge_ways(scene)
    kinds.carry_rods(scene)
    judge_motion(scene)
    judge_folds(scene)
    if scene.report.cause[0] == 0 and scene.rigging.cables.first.size == 0:
        judge_energy(scene)
    if scene.report.cause[0] != 0:
        return MISSED
    if scene.sliders.dof.size > 0:
        centre_groups(scene)
    return SOLVED
