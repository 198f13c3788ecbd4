"""The solve of a step or of a static iteration, compiled into one kernel.

`advance` repeats: assemble at the iterate, factorise, find the one-sided rows' forces, move. One turn is a step of
MICADO's linearised backward Euler or of BDF2; several are Newton's method for the energy-keeping scheme, whose elastic
force is the mean over the step's path (average vector field, three Gauss points).
"""

from __future__ import annotations

import math

import numpy as np

from sennit.constraints.cable.kernels.tables import FOUND, SPOOK, TENSION
from sennit.compilation import allocating, kernel, merged
from sennit.constraints.kernels.rows import (
    COMPLIANCE, DAMPING, DISTANCE, DUAL, FIRST, KIND as ROW_KIND, LAMBDA, ROW_WIDTH, SECOND, G,
    evaluate_rows, pull_rows,
)  # fmt: skip
from sennit.geometry.kernels.algebra import quat_exp, quat_log, quat_mul, scale3
from sennit.linalg.kernels.ldlt import factorise, permute
from sennit.point.kernels.points import (
    KIND, RIGID, accept_point, evaluate_point,
)  # fmt: skip
from sennit.solve.kernels.accept import accept
from sennit.solve.kernels.assembly import (
    ANCHOR, BAD, CABLES, CROSSED, CURVED, DAMP, DEPENDENT_ROWS, DIAGONAL0, DOFS, EXACT, ITERATIONS, LEFT, LOOK,
    LOOK_AT_ROWS, NEGATIVE, NOT_FINITE, PATH, PUSH, REACH_LIMIT, SLOT0, SLOW, SOLVED, STATIC, STEP, STRICT, TOO_FAR,
    TURNS, UNCONVERGED, WRONG_INERTIA, add_loads, add_rigid_bodies, add_rod_inertia, add_rods, add_row_stiffness,
    add_sliders, add_zones, interpolate_state, place_sliders, row_is_on, set_row,
)  # fmt: skip
from sennit.solve.kernels.active import solve_rows
from sennit.solve.kernels.cables import forget_pulls, place_cables, pull_cables
from sennit.solve.kernels.curvature import add_anchors, add_curvature
from sennit.solve.kernels.motion import largest_turn, move, predict, update_tensions
from sennit.solve.kernels.tautness import add_cable_stiffness
from sennit.solve.kernels.tensions import STRUCK, take_tensions

# What `march` does
PREDICT, SOLVE, ACCEPT = 1, 2, 4
BEYOND = 1e6  # displacement over the scene's size that no step makes
LARGEST_TURN = 0.3  # rad by which the exact stiffness may turn a tangent away from free flight
CONVERGED, NEARLY = 1e-10, 1e-7  # displacement of Newton's last turn over the scene's size: aimed at, and accepted
GAUSS = 0.38729833462074168852  # √(3/20): the three Gauss points of the way are ½ and ½ ± this


@kernel
def rotate_between(fraction, quat, quat_trial, quat_eval):
    """Attitudes on the way from `quat` to `quat_trial`."""
    for body in range(quat.shape[0]):
        old = (quat[body, 0], quat[body, 1], quat[body, 2], quat[body, 3])
        new = (quat_trial[body, 0], quat_trial[body, 1], quat_trial[body, 2], quat_trial[body, 3])
        turn = quat_log(quat_mul(new, (old[0], -old[1], -old[2], -old[3])))
        x = quat_mul(quat_exp(scale3(fraction - 1.0, turn)), new)
        quat_eval[body, 0], quat_eval[body, 1], quat_eval[body, 2], quat_eval[body, 3] = x


@kernel
def assemble(turn, settings, par, rods, others, points, rows, cables, PS, state, trial, work):
    """Forces and the matrix at the iterate."""
    RODI = rods[0]
    RIGIDI, RIGIDF, SLI, SLF, LOADI, LOADF, ZONEI, ZONEF, ZONEK = others
    PI, PF, PT, PX = points
    RI, RF, RS, start, predicted, wanted, softness, RW = rows
    q, quat = state[0], state[2]
    q_base, v_base, q_trial, quat_base, quat_trial, turned, bend, stretch, bead_base, dq = trial
    values, force, q_eval, quat_eval, bend_eval, small = work[0], work[1], work[2], work[3], work[4], work[5]
    swift, stretch_eval, stretch_state = work[10], work[11], state[5]
    static = settings[STATIC] == 1
    path = settings[PATH]
    n_dofs = settings[DOFS]
    slot0, diagonal0 = settings[SLOT0], settings[DIAGONAL0]
    for i in range(values.size):
        values[i] = 0.0
    for i in range(n_dofs):
        force[i] = 0.0
    bend_out = bend if path == 1 else bend_eval
    # Jacobians of cables: of the step's start, or made on the way
    on_the_way = cables[0].shape[0] > 0 and settings[CABLES] != SPOOK
    if on_the_way:
        forget_pulls(cables[12])
    for gauss in range(path):
        fraction, weight = 1.0, 1.0
        if path > 1:
            fraction = 0.5 + GAUSS * (gauss - 1)
            weight = 4.0 / 9.0 if gauss == 1 else 5.0 / 18.0
        interpolate_state(fraction, q, q_trial, q_eval)
        rotate_between(fraction, quat, quat_trial, quat_eval)
        for row in range(stretch.shape[0]):
            # tension on the way: the geometric stiffness of the mean force wants it there, not at the end
            stretch_eval[row, 0] = stretch[row, 0] + (fraction - 1.0) * (stretch[row, 0] - stretch_state[row, 0])
            stretch_eval[row, 1] = stretch[row, 1]
        add_rods(
            fraction, weight, weight * fraction, settings[EXACT], settings[PUSH], par, rods, q_eval, bend, bend_out,
            stretch_eval, force, values,
        )  # fmt: skip
        place_sliders(SLI, SLF, RODI, PI, PF, q_eval)
        for p in range(PI.shape[0]):
            evaluate_point(p, PI, PF, PT, q_eval, quat_eval, PX)
        add_loads(weight, LOADI, LOADF, bead_base, PI, PF, PX, small, force)
        evaluate_rows(0, RI.shape[0], RI, RF, RS, PX, q_eval, PI, RW)
        pull_rows(0, RI.shape[0], weight, RI, RF, PI, PF, PX, RW, values, slot0)
        if on_the_way:
            place_cables(cables, PX)
            pull_cables(weight, cables, PI, PF, PX)
    if path > 1:
        place_sliders(SLI, SLF, RODI, PI, PF, q_trial)
        for p in range(PI.shape[0]):
            evaluate_point(p, PI, PF, PT, q_trial, quat_trial, PX)
        evaluate_rows(0, RI.shape[0], RI, RF, RS, PX, q_trial, PI, RW)
        if on_the_way:
            place_cables(cables, PX)
    else:
        for p in range(PI.shape[0]):
            accept_point(p, PI, PF, PT, q_trial, PX)
    moved = -1 if static else min(turn, 1)
    add_rod_inertia(max(moved, 0), par, rods, q_trial, q_base, v_base, force, values)
    add_rigid_bodies(par, RIGIDI, RIGIDF, q_trial, q_base, v_base, quat_base, turned, force, values)
    add_zones(par, ZONEI, ZONEF, ZONEK, q_trial, q_base, v_base, force, values)
    add_sliders(moved, par, SLI, SLF, bead_base, PI, PF, PX, q, q_trial, small, force, values)
    for r in range(RI.shape[0]):
        on = row_is_on(r, RI, PI, bead_base)
        # an infinite compliance without a damper that acts holds nothing
        on = on and not (RF[r, COMPLIANCE] == math.inf and RF[r, DAMPING] * par[DAMP] == 0.0)
        if turn == 0:
            predicted[r] = RW[r, G]
        if not on:
            RS[r, LAMBDA] = 0.0
            for i in range(slot0 + ROW_WIDTH * r, slot0 + ROW_WIDTH * (r + 1)):
                values[i] = 0.0
        set_row(r, RW[r, G], par, RI, RF, start, predicted, wanted, softness, values, diagonal0, on)
    if static:
        scales, blocks, gain = work[7], work[8], work[9]
        add_curvature(rods, others, points, rows, q_trial, quat_trial, values, small, blocks, scales[n_dofs])
        add_anchors(slot0, diagonal0, points, rows, blocks, par[ANCHOR], scales[n_dofs], values, force, gain)
    else:
        swift[0] = add_row_stiffness(par, settings[CURVED], RI, RF, RS, RW, PI, PF, PX, values)
    ratio = add_cable_stiffness(settings[CABLES], static, par, cables, points, PS, values, force)
    swift[0] = max(swift[0], ratio)


@merged
def forces_changed(rows, points, cables, lam_rows):
    """Whether forces on distances and rigid bodies differ by a third of the largest from those in the matrix."""
    RI, RS = rows[0], rows[2]
    PI = points[0]
    largest = 0.0
    change = 0.0
    for r in range(RI.shape[0]):
        rigid = PI[RI[r, FIRST], KIND] == RIGID or PI[RI[r, SECOND], KIND] == RIGID
        if rigid or RI[r, ROW_KIND] == DISTANCE:
            largest = max(largest, abs(lam_rows[r]))
            change = max(change, abs(lam_rows[r] - RS[r, LAMBDA]))
    KS = cables[11]
    for k in range(KS.shape[0]):
        largest = max(largest, abs(KS[k, FOUND]))
        change = max(change, abs(KS[k, FOUND] - KS[k, TENSION]))
    return change > 0.3 * largest


@merged
def advance(settings, par, rods, others, points, rows, cables, PS, state, trial, work, linear, bounded, report):
    """Solve from the iterate in `trial` and move it. Returns how it ended; the accepted state is not touched.

    `settings`[TURNS] 1: the linearised step. More: Newton's method until the displacement is 1e-10 of the scene's
    size (`report` says how many turns it took).
    """
    q_trial, quat_trial, turned, stretch, dq = trial[2], trial[4], trial[5], trial[7], trial[9]
    plan, L, diagonal, ratio, w0, w, natural = linear
    values, force, lam_rows, scales = work[0], work[1], work[6], work[7]
    RI, RS, wanted = rows[0], rows[2], rows[5]
    n = settings[DOFS]
    duals = natural.size - n
    exact, push = settings[EXACT], settings[PUSH]
    for i in range(report.size):
        report[i] = 0
    status = SOLVED
    turns = settings[TURNS]
    settings[CURVED] = 1
    settings[EXACT], settings[PUSH] = exact, push
    turn = np.int64(0)  # not a literal, for which `assemble` would be compiled once more
    again = 0
    size = 0.0
    while turn < turns:
        assemble(turn, settings, par, rods, others, points, rows, cables, PS, state, trial, work)
        # Solving again with the forces that were found: not if no tie is swift against the mass that it holds.
        solve = again == 0 or work[10][0] > SLOW
        if solve:
            report[NEGATIVE], report[DEPENDENT_ROWS], report[BAD] = factorise(plan, values, L, diagonal, ratio)
            milder = settings[STATIC] == 0 and settings[EXACT] + settings[PUSH] + settings[CURVED] > 0
            if report[NEGATIVE] != duals and milder:
                # A stiffness that is not definite: without the sliders' curvature, without pushing tensions, and at
                # last by Gauss and Newton.
                if settings[CURVED] == 1:
                    settings[CURVED] = 0
                elif settings[PUSH] == 1:
                    settings[PUSH] = 0
                else:
                    settings[EXACT] = 0
                continue
        report[ITERATIONS] = turn + 1
        if settings[LOOK] == 1:
            return SOLVED
        if settings[STRICT] == 1 and (report[NEGATIVE] != duals or (settings[STATIC] == 1 and report[BAD] >= 0)):
            settings[EXACT], settings[PUSH] = exact, push
            return WRONG_INERTIA
        if solve:
            for i in range(n):
                natural[i] = force[i]
                dq[i] = 0.0
            for r in range(RI.shape[0]):
                if RI[r, DUAL] >= 0:
                    natural[n + RI[r, DUAL]] = wanted[r]
            permute(plan, natural, w0)
            status = solve_rows(
                settings, par, others, points, rows, cables, trial, linear, bounded, values, lam_rows, work[9], report
            )
        size = 0.0
        total = 0.0
        for i in range(n):
            size = max(size, abs(dq[i]) / scales[i])
            total += dq[i]
        for r in range(RI.shape[0]):
            total += lam_rows[r]
        if not math.isfinite(total) or not size < BEYOND:
            return NOT_FINITE
        if solve and settings[STATIC] == 0 and again < 6 and forces_changed(rows, points, cables, lam_rows):
            again += 1
            for r in range(RI.shape[0]):
                RS[r, LAMBDA] = lam_rows[r]
            take_tensions(cables)
            continue
        if solve and turns == 1 and settings[STATIC] == 0:
            if largest_turn(rods, others[0], others[2], q_trial, dq) > LARGEST_TURN:
                # Velocities of so violent a step must not be extrapolated: a two-step scheme starts afresh.
                report[STRUCK] = 1
                if settings[EXACT] == 1:
                    # A stiffness that is hardly definite takes the linearised step too far; that of Gauss and Newton
                    # goes less far.
                    settings[EXACT] = settings[CURVED] = 0
                    continue
        again = 0
        settings[CURVED] = 1
        settings[EXACT], settings[PUSH] = exact, push
        if settings[STATIC] == 1 and largest_turn(rods, others[0], others[2], q_trial, dq) > par[REACH_LIMIT]:
            return TOO_FAR
        update_tensions(par[DAMP], rods, q_trial, dq, stretch)
        move(others[0], dq, q_trial, quat_trial, turned)
        for r in range(RI.shape[0]):
            RS[r, LAMBDA] = lam_rows[r]
        take_tensions(cables)
        if turns > 1 and size < CONVERGED:
            return status
        turn += 1
    return UNCONVERGED if turns > 1 and size > NEARLY else status


@allocating
def march(parts, bundle):
    """The `parts` (sum of PREDICT, SOLVE and ACCEPT) of a step, in this order. Returns how it ended.

    It stops before what cannot go on in compiled code: with CROSSED after the prediction if a slider has entered
    another span, with LOOK_AT_ROWS before acceptance if rows depend on others.
    """
    settings, par, report = bundle.settings, bundle.par, bundle.report
    rods, others, points, rows, cables = bundle.rods, bundle.others, bundle.points, bundle.rows, bundle.cables
    state, last, trial, PS = bundle.state, bundle.last, bundle.trial, bundle.PS
    scheme, mode = bundle.scheme, settings[CABLES]
    if parts & PREDICT:
        turns = bundle.turns
        if predict(scheme, mode, par[STEP], rods, others, points, rows, cables, state, last, trial, turns, PS) == 1:
            return CROSSED
    if parts & SOLVE:
        work, linear, bounded = bundle.work, bundle.linear, bundle.bounded
        status = advance(
            settings, par, rods, others, points, rows, cables, PS, state, trial, work, linear, bounded, report
        )
        if status != SOLVED:
            return status
        if report[DEPENDENT_ROWS] > 0 and parts & ACCEPT:
            return LOOK_AT_ROWS
    if parts & ACCEPT:
        static = settings[STATIC]
        report[LEFT] = accept(
            scheme, mode, static, par, rods, others, points, rows, cables, state, last, trial, PS, report
        )
    return SOLVED
