"""The multipliers of rows with bounds: one-sided ones, motors, friction, and the tensions of cables.

They are found after the factorisation, from the Schur complement of the few rows that matter (`linalg.kernels.panel`).
"""

from __future__ import annotations

import math

from sennit.bodies.rod.kernels.point import place_moved
from sennit.compilation import kernel, merged, tolerance
from sennit.constraints.cable.kernels.kinds import IMPLICIT
from sennit.constraints.kernels.rows import ROW_WIDTH, SLIDING, row_dof
from sennit.geometry.kernels.algebra import dot3, sub3
from sennit.linalg.kernels.bounded import CONTRADICTORY, SOLVED as BOUNDS_SOLVED, solve_bounded
from sennit.linalg.kernels.ldlt import backward, forward, unpermute
from sennit.linalg.kernels.panel import add_row, clear_row, panel_row, row_dot
from sennit.bodies.kernels.frames import get3, place_of, tangent_of
from sennit.solve.kernels.assemble import row_is_on
from sennit.solve.kernels.glide import sweep_rows
from sennit.solve.kernels.codes import SOLVED, UNBOUNDED
from sennit.solve.kernels.tensions import (
    add_cable_candidate, add_rotors, bounds_of, moves_nothing, note_cables, pull_at, set_cable_row, soften_firm,
    solve_divided,
)  # fmt: skip

HELD = tolerance(1e-10, 1e-5)  # part of its terms that is left of the compliance of a row that equality rows hold
SAME_BOUND = tolerance(1e-9, 1e-5)  # part of a bound of friction by which it may still change
NEARLY = tolerance(1e-7, 1e-5)  # gap of such a row that counts as none


@kernel
def normal_force(s, scene):
    """The force with which slider `s` presses on its rod, N: all else that acts on it, less its inertia, across t."""
    rows, points, places, sliders, step = scene.rows, scene.points, scene.places, scene.sliders, scene.step
    dq = scene.trial.dq
    p = sliders.point[s]
    f0 = f1 = f2 = 0.0
    for r in range(rows.kind.size):
        if rows.kind[r] != SLIDING and (rows.first[r] == p or rows.second[r] == p):
            k = rows.found[r] if rows.first[r] == p else -rows.found[r]
            f0 += k * rows.force[r, 0]
            f1 += k * rows.force[r, 1]
            f2 += k * rows.force[r, 2]
    pull = pull_at(p, scene.rigging)
    f0 += pull[0]
    f1 += pull[1]
    f2 += pull[2]
    mass = sliders.mass[s]
    if mass > 0.0:
        f0 += mass * step.gravity[0, 0]
        f1 += mass * step.gravity[0, 1]
        f2 += mass * step.gravity[0, 2]
        if scene.settings.static[0] == 0:
            x0, x1, x2 = place_moved(p, sub3(place_of(places, p), get3(sliders.position_base, s)), points, dq)
            slide = dq[sliders.dof[s]]
            k = mass * step.mass_weight[0]
            f0 -= k * (x0 + slide * places.slope[p, 0])
            f1 -= k * (x1 + slide * places.slope[p, 1])
            f2 -= k * (x2 + slide * places.slope[p, 2])
    t = tangent_of(places, p)
    along = f0 * t[0] + f1 * t[1] + f2 * t[2]
    return math.sqrt(max(f0 * f0 + f1 * f1 + f2 * f2 - along * along, 0.0))


@merged
def unpack(scene, own, count):
    """Displacements and multipliers of every row from the solved vector; `gain` is 1 but for anchored rows."""
    rows, matrix, dq = scene.rows, scene.matrix, scene.trial.dq
    natural = matrix.natural
    unpermute(scene.plan, matrix.solved, natural)
    n = scene.layout.dofs[0]
    for i in range(n):
        dq[i] = natural[i]
    for r in range(rows.kind.size):
        dual = rows.dual[r]
        rows.found[r] = -rows.gain[r] * natural[n + dual] if dual >= 0 else 0.0
    for k in range(own, count):
        r = scene.candidates.chosen[k]
        rows.found[r] = rows.gain[r] * scene.bounded.multiplier[k]


@merged
def add_candidate(k, r, scene):
    """Panel row of bounded row `r` as number k of the small problem."""
    rows, points, panel, values = scene.rows, scene.points, scene.panel, scene.matrix.values
    at = scene.layout.row_slots[0] + ROW_WIDTH * r
    m = 0
    for i in range(ROW_WIDTH):
        dof = row_dof(r, i, rows, points)
        if dof >= 0 and values[at + i] != 0.0:
            panel.index[m] = dof
            panel.coefficient[m] = values[at + i]
            m += 1
    panel_row(scene.plan, scene.matrix.factor, m, panel, k)


@kernel
def row_size(diagonal, panel, r):
    """The sum of the magnitudes of the terms of y_rᵀ D⁻¹ y_r."""
    vectors = panel.vectors
    total = 0.0
    for k in range(int(panel.reached[r])):
        c = 4 * int(panel.reach[r, k])
        for lane in range(4):
            total += abs(vectors[r, c + lane] * vectors[r, c + lane] / diagonal[c + lane])
    return total


@merged
def is_candidate(r, scene):
    """Whether a row with bounds acts at all."""
    return scene.rows.dual[r] < 0 and row_is_on(r, scene.rows, scene.points, scene.sliders)


@merged
def begin_cable_rows(own, scene):
    """The part of the small problem that belongs to cables: rotors, compliances, right sides, bounds."""
    C, b, lower, upper = scene.bounded.matrix, scene.bounded.gap, scene.bounded.lower, scene.bounded.upper
    rigging, mode = scene.rigging, scene.settings.cables[0]
    if mode == IMPLICIT and scene.settings.static[0] == 0:
        sweep_rows(scene)
    cable_rows = rigging.rows
    for i in range(own):
        if moves_nothing(i, rigging, scene.points):
            for j in range(own):
                C[i, j] = C[j, i] = 0.0  # what is there is rounding
        b[i] = row_dot(scene.matrix.diagonal, scene.panel, i, scene.matrix.forward)
        cable_rows.left_over[i] = b[i]
        scene.candidates.limit[i] = 0.0
        lower[i], upper[i] = bounds_of(i, rigging)
    add_rotors(mode, scene.scheme, scene.step, rigging, C, b)
    for i in range(own):
        set_cable_row(i, C[i, i], mode, scene.ledger.mass[0], scene.settings, scene.step, rigging)
        b[i] -= cable_rows.wanted[i]
    soften_firm(own, rigging, C)
    for i in range(own):
        C[i, i] += cable_rows.softness[i]
        if C[i, i] == 0.0:
            lower[i] = upper[i] = 0.0  # all of a firm cable between places that cannot move


@merged
def begin_rows(first, count, scene):
    """Right sides and compliances of the candidates first … count; those that equality rows hold are set apart."""
    rows, C, b = scene.rows, scene.bounded.matrix, scene.bounded.gap
    chosen, limit, diagonal = scene.candidates.chosen, scene.candidates.limit, scene.matrix.diagonal
    for i in range(first, count):
        r = chosen[i]
        b[i] = row_dot(diagonal, scene.panel, i, scene.matrix.forward) - rows.wanted[r]
        limit[i] = 0.0
        if rows.softness[r] == 0.0 and C[i, i] < HELD() * row_size(diagonal, scene.panel, i):
            # Equality rows hold what it could move: it carries nothing, unless they break it.
            limit[i] = -1.0
            b[i] = 0.0 if b[i] > -NEARLY() else b[i]
        C[i, i] += rows.softness[r] * rows.gain[r]
        for j in range(i + 1):
            if limit[i] < 0.0 or limit[j] < 0.0:
                C[i, j] = C[j, i] = 0.0


@merged
def set_bounds(turn, own, count, scene):
    """Bounds of the candidates; of friction rows by the present pressure. Returns the largest change of these."""
    rows, candidates, bounded = scene.rows, scene.candidates, scene.bounded
    limit = candidates.limit
    change = 0.0
    for k in range(own, count):
        r = candidates.chosen[k]
        bounded.lower[k], bounded.upper[k] = rows.lower[r], rows.upper[r]
        if rows.slider[r] >= 0 and limit[k] >= 0.0:
            slope = get3(scene.places.slope, scene.sliders.point[rows.slider[r]])
            # a force along the rod, seen by the coordinate σ
            bound = rows.friction[r] * math.sqrt(dot3(slope, slope)) * normal_force(rows.slider[r], scene)
            if turn > 0:
                change = max(change, abs(bound - limit[k]) - SAME_BOUND() * bound)
            limit[k] = bound
            bounded.lower[k], bounded.upper[k] = -bound, bound
    return change


@merged
def add_broken(own, count, scene):
    """Add the rows that were left out and that this solution would break; returns how many candidates there are."""
    rows, points, values, dq = scene.rows, scene.points, scene.matrix.values, scene.trial.dq
    chosen = scene.candidates.chosen
    before = count
    for r in range(rows.kind.size):
        if not is_candidate(r, scene):
            continue
        known = False
        for k in range(own, before):
            known = known or chosen[k] == r
        if known:
            continue
        gap = -rows.wanted[r]
        at = scene.layout.row_slots[0] + ROW_WIDTH * r
        for i in range(ROW_WIDTH):
            dof = row_dof(r, i, rows, points)
            if dof >= 0:
                gap += values[at + i] * dq[dof]
        if gap < 0.0:
            chosen[count] = r
            count += 1
    return count


@merged
def note_sides(own, count, scene):
    """Keep on which side of their bounds rows ended; something was struck or came free where that is another one."""
    rows, chosen, side = scene.rows, scene.candidates.chosen, scene.bounded.side
    for r in range(rows.kind.size):
        if rows.dual[r] < 0:
            ended = -1.0
            for k in range(own, count):
                if chosen[k] == r:
                    ended = float(side[k])
            if rows.lower[r] == 0.0 and rows.side[r] != ended:
                scene.report.struck[0] = 1
            rows.side[r] = ended


@kernel
def solve_rows(scene):
    """Solve the factorised system with the one-sided, motor and friction rows; displacements go to `trial.dq`.

    Rows that stay clear of their bound are left out until a solution touches them. The bound of a friction row is μ
    times the normal force that the same solution gives: found by repetition, from the last step's.
    """
    rows, rigging, panel, bounded, matrix = scene.rows, scene.rigging, scene.panel, scene.bounded, scene.matrix
    report, plan, chosen, C = scene.report, scene.plan, scene.candidates.chosen, scene.bounded.matrix
    status = SOLVED
    # Rows of cables come first, and are always in.
    own = rigging.rows.found.size
    count = own
    rubs = False
    for r in range(rows.kind.size):
        rows.found[r] = rows.multiplier[r]
        rows.gave[r] = 0
        if not is_candidate(r, scene):
            continue
        # A row that can push and pull is always in; a one-sided one if it pressed before or is touched.
        if rows.lower[r] < 0.0 or rows.side[r] == 0.0 or rows.wanted[r] > 0.0:
            chosen[count] = r
            count += 1
            rubs = rubs or rows.slider[r] >= 0
    forward(plan, matrix.factor, matrix.forward)
    done = 0
    for _attempt in range(60):
        for k in range(done, count):
            if k < own:
                add_cable_candidate(k, scene)
                bounded.side[k] = int(rigging.rows.side[k])
            else:
                add_candidate(k, chosen[k], scene)
                bounded.side[k] = int(rows.side[chosen[k]])
        for i in range(done, count):
            for j in range(i + 1):
                # y_i is nonzero on its reach alone
                C[i, j] = row_dot(matrix.diagonal, panel, i, panel.vectors[j])
                C[j, i] = C[i, j]
        if done == 0 and own > 0:
            begin_cable_rows(own, scene)
        begin_rows(max(done, own), count, scene)
        done = count
        for turn in range(20 if rubs else 1):
            change = set_bounds(turn, own, count, scene)
            if turn > 0 and change <= 0.0:
                break
            if count > 0:
                cap = 50 + 20 * count
                if rigging.dividers.element.size > 0:
                    code, solves = solve_divided(count, cap, scene)
                else:
                    code, solves = solve_bounded(bounded, count, cap)
                report.active_solves[0] += solves
                if code == CONTRADICTORY:
                    # What the regularisation leaves of the gap is next to nothing where strings lie straight.
                    for k in range(own, count):
                        gap = abs(bounded.residual[k]) if bounded.side[k] == 0 else 0.0
                        if scene.candidates.limit[k] < 0.0:
                            gap = max(-bounded.gap[k], 0.0)
                        rows.gave[chosen[k]] = 1 if gap > NEARLY() else 0
                        report.yielded[0] = max(report.yielded[0], gap)
                elif code != BOUNDS_SOLVED:
                    status = UNBOUNDED
            for i in range(matrix.solved.size):
                matrix.solved[i] = matrix.forward[i]
            for k in range(count):
                if bounded.multiplier[k] != 0.0:
                    add_row(panel, k, bounded.multiplier[k], matrix.solved)
            backward(plan, matrix.factor, matrix.diagonal, matrix.solved)
            unpack(scene, own, count)
            for k in range(own):
                rigging.rows.found[k] = bounded.multiplier[k]
            report.friction_turns[0] += 1
        before = count
        count = add_broken(own, count, scene)
        if count == before:
            break
    note_sides(own, count, scene)
    note_cables(scene)
    for k in range(count):
        clear_row(panel, k)
    return status
