"""The solve of a step or of a static iteration.

`advance` repeats: assemble at the iterate, factorise, find the one-sided rows' forces, move. One turn is a step of
MICADO's linearised backward Euler or of BDF2; several are Newton's method for the energy-keeping scheme, whose elastic
force is the mean over the step's path (average vector field, three Gauss points).
"""

from __future__ import annotations

import math

import numpy as np

from sennit.bodies.kernels import kinds
from sennit.bodies.kernels.points import RIGID
from sennit.compilation import merged, tolerance
from sennit.constraints.kernels.rows import DISTANCE
from sennit.linalg.kernels.ldlt import factorise
from sennit.solve.kernels.assemble import assemble
from sennit.solve.kernels.codes import NOT_FINITE, SOLVED, TOO_FAR, TOUCHED, UNCONVERGED, WRONG_INERTIA
from sennit.solve.kernels.stages import is_near, lead_ahead, leads_ahead, note_stage
from sennit.solve.kernels.stiffness import SLOW
from sennit.solve.kernels.tensions import take_tensions
from sennit.solve.kernels.touching import bend_contacts, find_forces

# Part of their stiffness that is taken of rods with branches, at least; after so many turns, in which iterations go
# round in a circle, since the tangent jumps, it is enough to end that.
SOFTEST, CAUTIOUS, PATIENT = 1e-3, 0.55, 8
BEYOND = 1e6  # displacement over the scene's size that no step makes
LARGEST_TURN = 0.3  # rad by which the exact stiffness may turn a tangent away from free flight
# Displacement of Newton's last turn over the scene's size that is accepted if it gets no smaller.
NEARLY = tolerance(1e-7, 1e-5)


@merged
def forces_changed(scene):
    """Whether forces on distances and rigid bodies differ by a third of the largest from those in the matrix."""
    rows, points, cable_rows = scene.rows, scene.points, scene.rigging.rows
    largest = 0.0
    change = 0.0
    for r in range(rows.kind.size):
        rigid = points.kind[rows.first[r]] == RIGID or points.kind[rows.second[r]] == RIGID
        if rigid or rows.kind[r] == DISTANCE:
            largest = max(largest, abs(rows.found[r]))
            change = max(change, abs(rows.found[r] - rows.multiplier[r]))
    for k in range(cable_rows.found.size):
        largest = max(largest, abs(cable_rows.found[k]))
        change = max(change, abs(cable_rows.found[k] - cable_rows.tension[k]))
    return change > 0.3 * largest


@merged
def take_forces(scene):
    """Make the forces that a solve found those of the next matrix."""
    rows = scene.rows
    for r in range(rows.kind.size):
        rows.multiplier[r] = rows.found[r]
    take_tensions(scene.rigging)


@merged
def advance(scene):
    """Solve from the iterate in `trial` and move it. Returns how it ended; the accepted state is not touched.

    `settings.turns` 1: the linearised step. More: Newton's method until the displacement over the scene's size is below
    `step.converged`, or the next turn's would not matter (`is_near`; `report` says how many turns it took).
    """
    settings, trial, rows, report, matrix = scene.settings, scene.trial, scene.rows, scene.report, scene.matrix
    n = scene.layout.dofs[0]
    duals = matrix.natural.size - n
    static = settings.static[0] == 1
    exact, push = settings.exact[0], settings.push[0]
    report.iterations[0] = report.negative[0] = report.dependent[0] = report.bad[0] = 0
    report.active_solves[0] = report.friction_turns[0] = report.left[0] = 0
    report.struck[0] = report.happenings[0] = 0
    report.yielded[0] = report.calmed[0] = 0.0
    report.turn[0] = math.inf
    status = SOLVED
    turns = settings.turns[0]
    settings.curved[0] = 1
    turn = np.int64(0)  # not a literal, for which `assemble` would be compiled once more
    again = 0
    size = before = 0.0
    if settings.stage[0] == 0:
        trial.shrinks[0] = math.inf
    if leads_ahead(scene):
        lead_ahead(scene)
    while turn < turns:
        if not static:
            scene.step.softest[0] = SOFTEST if turn < PATIENT else CAUTIOUS
        assemble(turn, scene)
        if static:
            bend_contacts(scene)
        # Solving again with the forces that were found: not if no tie is swift against the mass that it holds.
        solve = again == 0 or trial.swift[0] > SLOW
        if solve:
            report.negative[0], report.dependent[0], report.bad[0] = factorise(
                scene.plan, matrix.values, matrix.factor, matrix.diagonal, matrix.ratio
            )
            milder = not static and settings.exact[0] + settings.push[0] + settings.curved[0] > 0
            if report.negative[0] != duals and milder:
                # A stiffness that is not definite: without the sliders' curvature, without pushing tensions, and at
                # last by Gauss and Newton.
                if settings.curved[0] == 1:
                    settings.curved[0] = 0
                elif settings.push[0] == 1:
                    settings.push[0] = 0
                else:
                    settings.exact[0] = 0
                continue
        report.iterations[0] = turn + 1
        if settings.look[0] == 1:
            return SOLVED
        if settings.strict[0] == 1 and (report.negative[0] != duals or (static and report.bad[0] >= 0)):
            settings.exact[0], settings.push[0] = exact, push
            return WRONG_INERTIA
        if solve:
            status = find_forces(scene)
            if status == TOUCHED or status == TOO_FAR:
                settings.exact[0], settings.push[0] = exact, push
                return status
        size = 0.0
        total = 0.0
        for i in range(n):
            size = max(size, abs(trial.dq[i]) / trial.scales[i])
            total += trial.dq[i]
        for r in range(rows.kind.size):
            total += rows.found[r]
        if not math.isfinite(total) or not size < BEYOND:
            return NOT_FINITE
        if solve and not static and again < 6 and forces_changed(scene):
            again += 1
            take_forces(scene)
            continue
        if solve and turns == 1 and not static:
            report.turn[0] = kinds.largest_turn(scene)
            if report.turn[0] > LARGEST_TURN:
                # Velocities of so violent a step must not be extrapolated: a two-step scheme starts afresh.
                report.struck[0] = 1
                if settings.exact[0] == 1:
                    # A stiffness that is hardly definite takes the linearised step too far; that of Gauss and Newton
                    # goes less far.
                    settings.exact[0] = settings.curved[0] = 0
                    continue
        again = 0
        settings.curved[0] = 1
        settings.exact[0], settings.push[0] = exact, push
        if static and kinds.largest_turn(scene) > scene.step.reach_limit[0]:
            return TOO_FAR
        kinds.update_tensions(scene)
        kinds.move(scene)
        take_forces(scene)
        if turns > 1:
            if turn > 0 and before > 0.0:
                trial.shrinks[0] = size / before
            before = size
            if settings.stage[0] == 0 and turn == 0:
                trial.drawn[0] = size
            if size < scene.step.converged[0] or is_near(size, scene):
                if scene.step.left[0] > 0.0:
                    note_stage(scene)
                return status
        turn += 1
    return UNCONVERGED if turns > 1 and size > NEARLY() else status
