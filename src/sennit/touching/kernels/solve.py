"""Contact in a step: the forces of everything that touches, in passes of Newton's method.

Bounds of friction follow from the normal forces, and these from them: a pass solves for given bounds (`newton`). Where
something strikes that rebounds, shocks that follow from it are looked for first (`shocks`).
"""

from __future__ import annotations

import math

from sennit.compilation import kernel, merged, tolerance
from sennit.contact.kernels.law import ON_CIRCLE, clip
from sennit.contact.kernels.memory import still_holds
from sennit.contact.kernels.rows import along
from sennit.solve.kernels.codes import SOLVED, TOO_FAR, TOUCHED
from sennit.touching.kernels.find import soften
from sennit.touching.kernels.held import meets_other_walls, passes_wall
from sennit.touching.kernels.newton import BROKEN, MOST, NEAR, largest_force, newton_step, put_gradient, solve_under
from sennit.touching.kernels.reach import goes_too_far
from sennit.touching.kernels.shocks import follow_shocks, gains_energy, throw_back

BRIEF, PASSES = 6, 3
"""How often bounds of friction are taken from the normal forces: after each of so many Newton steps, as long as that
changes them, for bounds and forces most often come to their ends together, and exact forces for bounds of before would
be in vain; and after so many passes that end with exact forces, where they do not."""
STATIC_PASSES = 2
"""How many passes there are in a static iteration: the next one goes on."""
ROUGH = 1e-3
"""Change of forces over the largest at which a pass may be the last because its bounds stay; that ends at `NEAR`."""
FAR = 1e-3
"""The same of a pass that has come to its limit, above which the solve is said not to have converged."""
SAME_BOUND = 1e-3
"""Change of bounds over the largest at which there is no further pass."""
SLID = tolerance(1e-6, 1e-5)
"""Part of the bound by which a force that slides may miss it."""
MOST_SHORTER = 8
"""How often the ways after shocks are shortened where they would gain energy: more and more, at last to nothing."""
WALLS = 4
"""How often walls of tubes are looked for in a solve."""


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
                if not (abs(rows.force[k, 0]) < rows.most[k] * (1.0 - ON_CIRCLE()) and abs(rows.force[k, 0]) < twist):
                    change = max(change, abs(twist - rows.most[k]))
            bound = friction * pressing
            size = math.sqrt(rows.force[k, 1] * rows.force[k, 1] + rows.force[k, 2] * rows.force[k, 2])
            largest = max(largest, bound)
            if not (size < rows.bound[k] * (1.0 - ON_CIRCLE()) and size < bound):
                change = max(change, abs(bound - rows.bound[k]))
            if look:
                continue
            before, rows.bound[k], rows.most[k] = rows.bound[k], bound, twist
            rows.least[k] = -twist if rows.lever[k] > 0.0 else 0.0
            if size > 0.0 and (rows.slides[k] == 1 or 0.0 < (1.0 - ON_CIRCLE()) * before < size):
                # What slides goes on doing so: inside its circle it would be taken to stick, and overshoot.
                rows.force[k, 1] *= bound / size
                rows.force[k, 2] *= bound / size
            clip(k, rows.force, rows)
    return change / largest


@kernel
def make_passes(scene):
    """Solve for the forces of contacts and for their bounds of friction. Returns how the last solve ended."""
    touch = scene.touch
    state, rows, slots, contacts = touch.state, touch.rows, touch.slots, touch.contacts
    state.exact[0] = 0
    for s in range(slots.contact.size):
        k = slots.contact[s]
        if k >= 0:
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
            if settled and size <= NEAR() * least:
                break
        if size > FAR * least and settled:
            state.converged[0] = 0
        if settled:
            break
        set_friction(False, rows, slots, touch.laws, contacts)
        status = solve_under(rows.force, scene)
        put_gradient(rows.force, rows.gradient, rows, slots)
        state.exact[0] = 0
    return status


@kernel
def find_contact_forces(scene):
    """Forces of contacts, of rows with bounds and of cables, and the displacements that they make."""
    touch = scene.touch
    state, rows, slots = touch.state, touch.rows, touch.slots
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
            rows.bound[k] = rows.least[k] = rows.most[k] = rows.before[k] = 0.0
    if state.rebounds[0] == 1 and not follow_shocks(scene):
        return TOUCHED
    status = make_passes(scene)
    if state.rebounds[0] == 1:
        for attempt in range(1, MOST_SHORTER + 1):
            if not gains_energy(scene):
                break
            throw_back(1.0 - (attempt / MOST_SHORTER) ** 2, scene)
            status = make_passes(scene)
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
            slid = math.hypot(rows.force[k, 1], rows.force[k, 2]) >= (1.0 - SLID()) * rows.bound[k]
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
        if along(k, 0, dq, rows) + rows.offset[k, 0] < -BROKEN() * scene.trial.size[0] or passes_wall(k, scene):
            missed = True
            state.again[0] = 1
            state.reach[0] = max(state.reach[0], 1.5 * rows.flight[k] + BROKEN() * scene.trial.size[0])
    return missed
