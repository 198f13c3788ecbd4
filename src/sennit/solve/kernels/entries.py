"""What Python calls: a step, a static solve's beginning, and readings of the whole scene."""

from __future__ import annotations

import math

from sennit.bodies.kernels import kinds
from sennit.compilation import kernel, merged, tolerance
from sennit.constraints.cable.kernels.kinds import IMPLICIT, SPOOK
from sennit.constraints.kernels.routes import follow_routes
from sennit.constraints.kernels.rows import note_headings
from sennit.solve.kernels.accept import accept
from sennit.solve.kernels.advance import advance
from sennit.solve.kernels.cables import begin_cables, move_world, note_tensions
from sennit.solve.kernels.glide import glide_cables
from sennit.solve.kernels.codes import (
    ACCEPT,
    CROSSED,
    JUDGE,
    KEEP,
    LOOK_AT_ROWS,
    PLACE,
    PREDICT,
    QUIET,
    SHOCKED,
    SOLVE,
    SOLVED,
)
from sennit.solve.kernels.drives import falls_short, grip_of, pace_drives
from sennit.solve.kernels.energy import begin_loads
from sennit.solve.kernels.judge import judge
from sennit.solve.kernels.lead import lead
from sennit.solve.kernels.ledger import open_ledger
from sennit.solve.kernels.own_place import own_place
from sennit.solve.kernels.stages import begin_stage
from sennit.solve.kernels.touching import find_contacts, strikes


UNSEEN = tolerance(0.0, math.inf)
"""How many rows may depend on others with nobody to look: in float32 hardly independent ones can't be told apart."""


@kernel
def predict(scene):
    """Free flight of everything, which is where the solve begins. Returns 1 if the pattern of a row has changed.

    From the state (x, v) and the one before it (x₋, v₋), with five numbers that make the scheme (`schemes.py`)::

        X̂ = A x + B x₋ + C v,  V̂ = D v + E v₋,  free flight x̂ = X̂ + c V̂,  after the solve v₊ = V̂ + β (x₊ − x̂)
    """
    scheme, rows, trial = scene.scheme, scene.rows, scene.trial
    mode = scene.settings.cables[0]
    note_headings(rows, scene.places)
    scene.ledger.work[0] = lead(scene)
    begin_loads(scene)
    note_tensions(scene.rigging)
    lies_elsewhere = begin_cables(mode, scene)
    if scene.ledger.fresh[0] == 1:
        open_ledger(scene)  # cables are measured by now
    for r in range(rows.kind.size):
        rows.force_before[r] = rows.multiplier[r]
        rows.side_before[r] = rows.side[r]
        rows.start[r] = rows.value[r]
        if scheme.ratio[0] > 0.0 and rows.rate[r] == 0 and rows.restitution[r] == 0.0:
            # a damper's rate is taken by the same two-step formula
            rows.start[r] = scheme.a[0] * rows.value[r] + scheme.b[0] * rows.value_last[r]
    pace_drives(scene)
    crossed = kinds.predict(scene)
    for i in range(trial.q.size):
        trial.q[i] = trial.q_base[i]
    if mode == SPOOK:
        glide_cables(scene)
    else:
        move_world(scene)
    return max(crossed, lies_elsewhere)


@kernel
def hold(scene):
    """The iterate of a static solve begins at the state itself, at rest."""
    rows, trial, motion = scene.rows, scene.trial, scene.motion
    for r in range(rows.kind.size):
        rows.start[r] = rows.value[r]
        rows.pace[r] = rows.give[r] = rows.ahead[r] = 0.0
        rows.heading[r, 0] = rows.heading[r, 1] = rows.heading[r, 2] = 0.0
    begin_cables(IMPLICIT, scene)
    for i in range(trial.q.size):
        trial.q_base[i] = trial.q[i] = motion.q[i]
        trial.v_base[i] = 0.0
    return kinds.hold(scene)


@merged
def is_shocked(scene):
    """Whether a firm one-sided row struck, or (where velocities are extrapolated) came free, in a step of second order
    that can't follow it.

    Its velocities follow from places on both sides of the shock: from x ahead of a stop that is reached within the step
    "midpoint" makes v₊ = 2 (x₊ − x)/h − v, thrown back in full. Euler's are right: one step to the stop, and one in
    which it comes to rest there. Rows that do rebound are told where they must end (`drives.thrown_back`), unless that
    were beyond the stop.
    """
    rows, two_step = scene.rows, scene.scheme.ratio[0] > 0.0
    least, grip = scene.step.threshold[0] * abs(scene.step.step[0]), grip_of(scene)
    if scene.scheme.mean[0] == 0.0 and not two_step:
        return False
    if strikes(scene):
        return True
    for r in range(rows.kind.size):
        if rows.dual[r] < 0 and rows.lower[r] == 0.0 and rows.compliance[r] == 0.0:
            if rows.restitution[r] > 0.0 and not falls_short(r, grip, rows):
                continue
            struck, free = rows.side[r] == 0.0, rows.side_before[r] != 0.0
            closed = rows.value_last[r] - rows.value[r] > least
            if (struck and (free or closed)) or (two_step and not struck and not free):
                return True
    return False


@merged
def has_news(report):
    """Whether something happened in a step that Python must look at."""
    troubles = report.calmed[0] + report.yielded[0] + report.stalled[0]
    return report.left[0] + report.happenings[0] + report.struck[0] > 0 or troubles > 0.0


@kernel
def keep(kept):
    """Keep what a solve changes before it is accepted."""
    for i in range(kept.rows.size):
        kept.rows_before[i] = kept.rows[i]
    for i in range(kept.cables.size):
        kept.cables_before[i] = kept.cables[i]


@kernel
def march_once(parts, scene):
    """The `parts` (a sum of codes) of a step: keep, predict, solve, judge, accept. Returns how it ended."""
    if parts & KEEP:
        keep(scene.kept)
    if parts & PREDICT and predict(scene) == 1:
        return CROSSED
    if parts & SOLVE:
        status = find_contacts(scene)
        if status != SOLVED:
            return status
        status = advance(scene)
        if status != SOLVED:
            return status
        if scene.report.dependent[0] > UNSEEN() and parts & ACCEPT:
            return LOOK_AT_ROWS
    if parts & JUDGE:
        if is_shocked(scene):
            return SHOCKED
        status = judge(scene)
        if status != SOLVED:
            return status
    if parts & ACCEPT:
        scene.report.left[0] = accept(scene)
        return SOLVED if has_news(scene.report) else QUIET
    return SOLVED


@kernel
def march_stages(parts, scene):
    """The `parts` of a step, or of each of the steps that it is composed of. Returns how it ended."""
    stages = scene.settings.stages[0]
    for stage in range(max(stages, 1)):
        if stages > 1:
            begin_stage(stage, scene)
        status = march_once(parts, scene)
        if status != QUIET:
            return status
    return QUIET


@kernel
def march(parts, count, scene):
    """Make up to `count` steps as the numbers are set, of each the `parts`, while they are QUIET.

    Returns how the last one ended: QUIET if it was accepted and there is nothing to tell. It stops before what cannot
    go on in compiled code: with CROSSED after the prediction if a slider has entered another span, with LOOK_AT_ROWS
    after the solve if rows depend on others, with MISSED if it can't be accepted, with SHOCKED if Euler must make it,
    with TOUCHED if contacts were found that the matrix has no room for.
    Asked for PLACE alone, it makes none and returns the address of its machine code, for those who step many scenes.
    `report.made` counts the quiet ones, and `report.time` goes on by each. One entry for one step and for many: so both
    have the same bits. Routes are followed to where they are at the end of each step.
    """
    if parts == PLACE:
        return own_place()
    report, h, routes = scene.report, scene.step.total[0], scene.routes
    report.made[0] = 0
    while True:
        if routes.point.size > 0 and parts & KEEP:
            if scene.settings.stages[0] > 1 or scene.step.share_before[0] == 0.0:
                follow_routes(report.time[0] + h, routes, scene.points)
        status = march_stages(parts, scene)
        if status != QUIET:
            return status
        report.made[0] += 1
        report.time[0] += h
        if report.made[0] == count:
            return QUIET
