"""Newton's method for the forces of everything that touches: the second matrix, gradients, and one of its steps.

Rows of contacts stand in a second matrix, with the rows with bounds and those of cables, as far as these act: it gives
Newton's method its steps. Gradients come from the scene's own matrix and its small problem of rows with bounds, so that
these and the contacts are solved together: the forces of contacts are the minimum of a convex function from which the
others' are eliminated (`contact.kernels.law`).
"""

from __future__ import annotations

from sennit.bodies.kernels.points import WIDTH
from sennit.compilation import kernel, merged, tolerance
from sennit.constraints.kernels.rows import ROW_WIDTH, row_dof
from sennit.contact.kernels.law import empty_slot, go, put_slot, share_of_limit
from sennit.contact.kernels.rows import SIDE, along
from sennit.linalg.kernels.ldlt import factorise, permute, solve
from sennit.solve.kernels.active import is_candidate, solve_rows
from sennit.solve.kernels.codes import SOLVED
from sennit.solve.kernels.cables import pull_start, row_uses

MOST, MOST_TRIES = 60, 20
"""Newton steps of a pass, and shares of one step that are tried."""
NEAR = tolerance(1e-6, 1e-4)
"""Change of forces over the largest at which they are found. Rows that hardly differ are known to no more digits."""
ALMOST = tolerance(1e-5, 1e-4)
"""The same of a Newton step after which only circles are left to turn on, which adds some hundredths of it: if the same
rows act then, there is no further step."""
BROKEN = tolerance(1e-9, 1e-6)
"""Gap, over the scene's size, below which a contact that was left out is broken."""
TINY = tolerance(1e-9, 1e-6)
"""Compliance of a row with bounds in the second matrix, over what its own degrees of freedom give way."""


# ------------------------------------------------------------------------------------------------ the second matrix


@merged
def put_bounded_rows(scene):
    """Rows with bounds in the second matrix: those that are off, or at a bound, hold nothing."""
    rows, values, layout = scene.rows, scene.whole_matrix.values, scene.layout
    for r in range(rows.kind.size):
        if rows.dual[r] >= 0:
            continue
        at = layout.row_slots[0] + ROW_WIDTH * r
        if is_candidate(r, scene) and rows.side[r] == 0.0:
            give = 0.0
            for i in range(ROW_WIDTH):
                values[at + i] = scene.matrix.values[at + i]
                dof = row_dof(r, i, rows, scene.points)
                if dof >= 0:
                    give += values[at + i] * values[at + i] / scene.touch.diagonal[dof]
            values[layout.diagonals[0] + r] = -(rows.softness[r] * rows.gain[r] + TINY() * give)
        else:
            for i in range(ROW_WIDTH):
                values[at + i] = 0.0
            values[layout.diagonals[0] + r] = -1.0


@merged
def cable_numbers(scene):
    """Numbers that the rows of cables have in the second matrix, as they run now."""
    rows = scene.rigging.rows
    count = 0
    for k in range(rows.found.size):
        for e in range(rows.first[k], rows.last[k] + 1):
            for part in range(3):
                if row_uses(k, e, part, rows):
                    count += WIDTH
        count += 1
    return count


@merged
def put_cable_rows(scene):
    """Rows of cables in the second matrix."""
    rows, pulls, values = scene.rigging.rows, scene.rigging.pulls, scene.whole_matrix.values
    at = scene.touch.state.cables[0]
    for k in range(rows.found.size):
        taut = rows.side[k] == 0.0
        give = 0.0
        for e in range(rows.first[k], rows.last[k] + 1):
            for part in range(3):
                if row_uses(k, e, part, rows):
                    start = pull_start(e, part)
                    for i in range(WIDTH):
                        x = -pulls.jacobian[start + i] if taut and pulls.dof[e, i] >= 0 else 0.0
                        values[at] = x
                        if x != 0.0:
                            give += x * x / scene.touch.diagonal[pulls.dof[e, i]]
                        at += 1
        values[at] = -(rows.softness[k] + TINY() * give) if taut else -1.0
        at += 1


@kernel
def put_contact_rows(scene):
    """Write the rows of contacts as they act at present into the second matrix, and their right sides.

    Returns how many contacts act otherwise than in the Newton step before, and how many slide.
    """
    touch, whole = scene.touch, scene.whole_matrix
    slots, rows, natural = touch.slots, touch.rows, whole.natural
    for i in range(natural.size):
        natural[i] = 0.0
    first, changed, sliding = touch.state.dual[0], 0, 0
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k < 0:
            empty_slot(s, slots, whole.values)
            continue
        inside = put_slot(k, s, slots, rows, whole.values, natural, first + 3 * s)
        sliding += rows.slides[k]
        if inside != rows.inside[k]:
            changed += 1
            rows.inside[k] = inside
    return changed, sliding


# ---------------------------------------------------------------------------------------------------------- gradients


@kernel
def solve_under(force, scene):
    """Solve the scene with the contacts' forces as given, beside those of shocks; their ways go to `way`.

    Returns how it ended.
    """
    touch, trial, matrix, own = scene.touch, scene.trial, scene.matrix, scene.rows
    rows, slots = touch.rows, touch.slots
    n = scene.layout.dofs[0]
    for i in range(n):
        matrix.natural[i] = trial.force[i]
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for row in range(3):
                whole = force[k, row] + rows.before[k] if row == 0 else force[k, row]
                if whole != 0.0:
                    for side in range(0, 2 * SIDE, SIDE):
                        if rows.index[k, side] < 0:
                            continue  # the world, which has no degrees of freedom
                        for i in range(side, side + SIDE):
                            dof = rows.index[k, i]
                            if dof >= 0:
                                matrix.natural[dof] += whole * rows.jacobian[k, row, i]
    for r in range(own.kind.size):
        if own.dual[r] >= 0:
            matrix.natural[n + own.dual[r]] = own.wanted[r]
    permute(scene.plan, matrix.natural, matrix.forward)
    scene.report.struck[0] = 0
    status = solve_rows(scene)
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for row in range(3):
                rows.way[k, row] = along(k, row, trial.dq, rows) + rows.offset[k, row]
    return status


@merged
def put_gradient(force, gradient, rows, slots):
    """g = u + R (λ − m)."""
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for row in range(3):
                off = force[k, row] - rows.memory[k, row]
                gradient[k, row] = rows.way[k, row] + rows.softness[k, row] * off


# ------------------------------------------------------------------------------------------------------------- Newton


@merged
def largest_force(rows, slots):
    """Largest component of a contact's force, N."""
    largest = 1e-300
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for row in range(3):
                largest = max(largest, abs(rows.force[k, row]))
    return largest


@kernel
def first_limit(step, scene):
    """Share of a Newton step at which the first force meets the limit of its law.

    Up to there f falls, and there that force is on its limit: in shorter shares it would come near without end.
    """
    rows, slots, least = scene.touch.rows, scene.touch.slots, 1.0
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            at = scene.touch.state.dual[0] + 3 * s
            least = min(least, share_of_limit(k, step[at], step[at + 1], step[at + 2], rows))
    return least


@kernel
def newton_step(scene):
    """One Newton step with the forces' bounds as they are. Returns its size (N) without a line search, -1.0 if there is
    nothing left to do, and how the last solve ended.
    """
    touch, whole = scene.touch, scene.whole_matrix
    rows, slots, state = touch.rows, touch.slots, touch.state
    changed, sliding = put_contact_rows(scene)
    if changed == 0 and state.exact[0] == 1:
        return -1.0, SOLVED  # the same linear problem as before, which is solved
    if scene.candidates.chosen.size > 0:
        put_bounded_rows(scene)
        put_cable_rows(scene)
    factorise(scene.whole_plan, whole.values, whole.factor, whole.diagonal, whole.ratio)
    solve(scene.whole_plan, whole.factor, whole.diagonal, whole.natural, whole.solved)
    state.newton[0] += 1
    first, natural = state.dual[0], whole.natural
    for i in range(first, natural.size):
        natural[i] = -natural[i]
    share, size, cut, status, least = 1.0, 0.0, 0, SOLVED, 0.0
    for attempt in range(MOST_TRIES):
        cut = 0
        for s in range(slots.contact.size):
            k = slots.contact[s]
            if k >= 0:
                cut += go(k, share, natural, first + 3 * s, rows)
        status = solve_under(rows.trial_force, scene)
        put_gradient(rows.trial_force, rows.trial_gradient, rows, slots)
        before = after = size = 0.0
        for s in range(slots.contact.size):
            k = slots.contact[s]
            if k >= 0:
                for row in range(3):
                    moved = rows.trial_force[k, row] - rows.force[k, row]
                    size = max(size, abs(moved))
                    before += rows.gradient[k, row] * moved
                    after += rows.trial_gradient[k, row] * moved
        # f is convex: its change is at most half the sum of the slopes at both ends where it is quadratic between them.
        if before + after <= 1e-4 * before or attempt == MOST_TRIES - 1:
            break
        shorter = share * (min(max(before / (before - after), 0.1), 0.7) if before < after else 0.5)
        if attempt == 0:
            least = first_limit(natural, scene)
        share = max(shorter, least) if share > least else shorter
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for row in range(3):
                rows.force[k, row] = rows.trial_force[k, row]
                rows.gradient[k, row] = rows.trial_gradient[k, row]
    whole_step = cut == 0 and share == 1.0
    state.exact[0] = 1 if whole_step and (sliding == 0 or size <= ALMOST() * largest_force(rows, slots)) else 0
    return size / share, status
