"""Contact in a step: the forces of everything that touches, by Newton's method.

Rows of contacts stand in a second matrix, with the rows with bounds and those of cables, as far as these act: it gives
Newton's method its steps. Gradients come from the scene's own matrix and its small problem of rows with bounds, so that
these and the contacts are solved together: the forces of contacts are the minimum of a convex function from which the
others' are eliminated (`contact.kernels.law`).
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.points import WIDTH
from sennit.compilation import kernel, merged
from sennit.constraints.kernels.rows import ROW_WIDTH, row_dof
from sennit.touching.kernels.find import soften
from sennit.touching.kernels.held import meets_other_walls, passes_wall
from sennit.touching.kernels.reach import goes_too_far
from sennit.contact.kernels.law import ON_CIRCLE, clip, empty_slot, go, put_slot, share_of_limit
from sennit.contact.kernels.memory import still_holds
from sennit.contact.kernels.rows import SIDE, along
from sennit.linalg.kernels.ldlt import factorise, permute, solve
from sennit.solve.kernels.active import is_candidate, solve_rows
from sennit.solve.kernels.codes import SOLVED, TOO_FAR, TOUCHED
from sennit.solve.kernels.cables import pull_start, row_uses

BRIEF, PASSES = 6, 3
"""How often bounds of friction are taken from the normal forces: after each of so many Newton steps, as long as that
changes them, for bounds and forces most often come to their ends together, and exact forces for bounds of before would
be in vain; and after so many passes that end with exact forces, where they do not."""
STATIC_PASSES = 2
"""How many passes there are in a static iteration: the next one goes on."""
MOST, MOST_TRIES = 60, 20
"""Newton steps of a pass, and shares of one step that are tried."""
NEAR, ROUGH = 1e-6, 1e-3
"""Change of forces over the largest at which the last pass ends, and at which one may be the last because its bounds
stay. Rows that hardly differ are known to no more digits."""
ALMOST = 1e-5
"""The same of a Newton step after which only circles are left to turn on, which adds some hundredths of it: if the same
rows act then, there is no further step."""
FAR = 1e-3
"""The same of a pass that has come to its limit, above which the solve is said not to have converged."""
SAME_BOUND = 1e-3
"""Change of bounds over the largest at which there is no further pass."""
BROKEN = 1e-9
"""Gap, over the scene's size, below which a contact that was left out is broken."""
WALLS = 4
"""How often walls of tubes are looked for in a solve."""
TINY = 1e-9
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
            values[layout.diagonals[0] + r] = -(rows.softness[r] * rows.gain[r] + TINY * give)
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
        values[at] = -(rows.softness[k] + TINY * give) if taut else -1.0
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
    """Solve the scene with the contacts' forces as given; their ways go to `way`. Returns how it ended."""
    touch, trial, matrix, own = scene.touch, scene.trial, scene.matrix, scene.rows
    rows, slots = touch.rows, touch.slots
    n = scene.layout.dofs[0]
    for i in range(n):
        matrix.natural[i] = trial.force[i]
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for row in range(3):
                if force[k, row] != 0.0:
                    for side in range(0, 2 * SIDE, SIDE):
                        if rows.index[k, side] < 0:
                            continue  # the world, which has no degrees of freedom
                        for i in range(side, side + SIDE):
                            dof = rows.index[k, i]
                            if dof >= 0:
                                matrix.natural[dof] += force[k, row] * rows.jacobian[k, row, i]
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
    state.exact[0] = 1 if whole_step and (sliding == 0 or size <= ALMOST * largest_force(rows, slots)) else 0
    return size / share, status


@kernel
def set_friction(look, rows, slots, laws, contacts):
    """Bounds from the normal forces. Returns the largest change that matters, over the largest bound.

    `look`: only tell, change nothing.
    """
    largest, change = 1e-300, 0.0
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            law, pressing = contacts.law[k], max(rows.force[contacts.pressed_by[k], 0], 0.0)
            friction = laws.static_friction[law] if rows.stuck[k] == 1 else laws.friction[law]
            twist = math.inf
            if rows.lever[k] > 0.0:
                friction = laws.rolling_friction[law] / rows.lever[k]
                twist = laws.twisting_friction[law] / rows.lever[k] * pressing
                largest = max(largest, twist)
                if not (abs(rows.force[k, 0]) < rows.most[k] * (1.0 - 1e-9) and abs(rows.force[k, 0]) < twist):
                    change = max(change, abs(twist - rows.most[k]))
            bound = friction * pressing
            size = math.sqrt(rows.force[k, 1] * rows.force[k, 1] + rows.force[k, 2] * rows.force[k, 2])
            largest = max(largest, bound)
            if not (size < rows.bound[k] * (1.0 - 1e-9) and size < bound):
                change = max(change, abs(bound - rows.bound[k]))
            if look:
                continue
            before, rows.bound[k], rows.most[k] = rows.bound[k], bound, twist
            rows.least[k] = -twist if rows.lever[k] > 0.0 else 0.0
            if size > 0.0 and (rows.slides[k] == 1 or 0.0 < (1.0 - ON_CIRCLE) * before < size):
                # What slides goes on doing so: inside its circle it would be taken to stick, and overshoot.
                rows.force[k, 1] *= bound / size
                rows.force[k, 2] *= bound / size
            clip(k, rows.force, rows)
    return change / largest


@kernel
def find_contact_forces(scene):
    """Forces of contacts, of rows with bounds and of cables, and the displacements that they make."""
    touch = scene.touch
    state, rows, slots, contacts = touch.state, touch.rows, touch.slots, touch.contacts
    again = state.again[0] == 2 and scene.settings.static[0] == 0
    state.newton[0] = state.passes[0] = state.exact[0] = state.again[0] = 0
    state.converged[0] = 1
    for i in range(scene.trial.dq.size):
        scene.trial.dq[i] = 0.0
    if state.chosen[0] == 0:
        return looked_over(solve_under(rows.force, scene), scene)
    soften(scene)
    values = scene.whole_matrix.values
    for i in range(scene.matrix.values.size):
        values[i] = scene.matrix.values[i]
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            for row in range(3):
                rows.force[k, row] = rows.trial_force[k, row] if again else rows.force[k, row]
            rows.bound[k] = rows.least[k] = rows.most[k] = 0.0
            rows.inside[k] = -1
            rows.slides[k] = 1 if rows.pressed[k] == 1 and rows.stuck[k] == 0 else 0
    set_friction(False, rows, slots, touch.laws, contacts)
    status = solve_under(rows.force, scene)
    put_gradient(rows.force, rows.gradient, rows, slots)
    static = scene.settings.static[0] == 1
    brief = 0 if static else BRIEF
    passes = STATIC_PASSES if static else BRIEF + PASSES
    for p in range(passes):
        state.passes[0] = p + 1
        settled, size, least = p == passes - 1, 0.0, 0.0
        for _ in range(MOST):
            size, ended = newton_step(scene)
            status = ended if size >= 0.0 else status
            least = largest_force(rows, slots)
            if not settled and (size <= ROUGH * least or p < brief):
                if set_friction(True, rows, slots, touch.laws, contacts) > SAME_BOUND:
                    break
                settled = size <= ROUGH * least  # bounds stay: there is no further pass
            if settled and size <= NEAR * least:
                break
        if size > FAR * least and settled:
            state.converged[0] = 0
        if settled:
            break
        set_friction(False, rows, slots, touch.laws, contacts)
        status = solve_under(rows.force, scene)
        put_gradient(rows.force, rows.gradient, rows, slots)
        state.exact[0] = 0
    finish(scene)
    return looked_over(status, scene)


@merged
def looked_over(status, scene):
    """How a solve has ended: with contacts that were left out and are needed, or too far away in a static iteration."""
    if misses_contacts(scene):
        return TOUCHED
    return TOO_FAR if scene.settings.static[0] == 1 and goes_too_far(scene) else status


@kernel
def solve_with_contacts(scene):
    """`find_contact_forces`, again where they lead through a wall of a tube that was not looked at."""
    status = SOLVED
    for _ in range(WALLS):
        status = find_contact_forces(scene)
        if status == TOUCHED or not meets_other_walls(scene):
            break
    return status


@merged
def finish(scene):
    """Say which contacts slide, and whether rows with bounds ended on another side than the step began with."""
    rows, slots, own, contacts = scene.touch.rows, scene.touch.slots, scene.rows, scene.touch.contacts
    least = scene.step.threshold[0] * scene.step.step[0]
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
            slid = math.hypot(rows.force[k, 1], rows.force[k, 2]) >= (1.0 - 1e-6) * rows.bound[k]
            slid = (slid or rows.slides[k] == 1) and not still_holds(k, least, contacts, rows, scene.touch.laws)
            rows.stuck[k] = 0 if slid else 1
    if scene.touch.state.struck[0] == 1:
        scene.report.struck[0] = 1
    for r in range(own.kind.size):
        if own.dual[r] < 0 and own.lower[r] == 0.0 and own.side[r] != own.side_before[r]:
            scene.report.struck[0] = 1


@merged
def misses_contacts(scene):
    """Whether the solution breaks a contact that was left out; such ones are then let in, up to their gap."""
    touch, dq = scene.touch, scene.trial.dq
    rows, state = touch.rows, touch.state
    missed = False
    for k in range(min(state.found[0], rows.slot.size)):
        if rows.slot[k] >= 0 or rows.lever[k] > 0.0:
            continue
        if along(k, 0, dq, rows) + rows.offset[k, 0] < -BROKEN * scene.trial.size[0] or passes_wall(k, scene):
            missed = True
            state.again[0] = 1
            state.reach[0] = max(state.reach[0], 1.5 * rows.flight[k] + BROKEN * scene.trial.size[0])
    return missed
