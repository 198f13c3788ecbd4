"""The rows of cables in a step, the tensions that solve them, and what a step changes of the cables.

A part of a cable with the path's length ℓ and the unstretched length L has the elongation φ = ℓ − L and pulls with
T ≥ 0. Its row is one of the bounded ones, with the tension as its multiplier::

    y = −(J Δq + free flight) + e + Σ T ≥ 0,   0 ≤ T ≤ pull of the winch,   y T = 0,   J = ∂φ/∂q

The compliance Σ and the right side e make the scheme. In "euler" it is Lacoursière's (A regularized time stepper for
multibody simulations, 2006), ε T = (φ₊ + 2φ + φ₋)/4 + τ φ̇ with J where the step begins::

    Σ = 4Υε + hξ,   e = −Υ(φ + 2φ⁺ + φ₋⁺) − 4Υτ(φ − φ⁺)/h + ΔL,   Υ = 1/(1 + 4τ/h),   φ⁺ = max(φ, 0)

It keeps the amplitude of slow vibration (frequency (2/h) atan(ωh/2)) and does not damp the swing of a load. Past gaps
are clipped: with a slack cable's negative φ it would catch with more energy than there is. τ = 2h x⁴/(1 + x⁴),
x = ωh/2, ω² = J M⁻¹ Jᵀ/ε, damps only what is too fast for the step. ΔL is what the winch lets out, ξ its slip. The
backward form is Σ = ε, e = −φ. "bdf2" and static solves take ε T = φ₊ + τ φ̇₊, "midpoint" ε T = (φ₊ + φ)/2 + τ φ̇, both
with J on the way. No part asks for more than was put into it (`paid`). A winch that keeps a tension has that as its
largest pull, and hauls in as if it would take in all that there is. A twist's row is the same with the angle for φ, and
torque of either sign.
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.chain import solve_chain
from sennit.constraints.cable.kernels.kinds import ARRIVES, BROKE, IMPLICIT, LEAVES, PAID_OUT, SPOOK, WOUND_IN
from sennit.constraints.cable.kernels.kinds import MEAN as MEAN_ROWS
from sennit.constraints.cable.kernels.lengths import turn_of
from sennit.compilation import inlined, kernel, merged, tolerance
from sennit.linalg.kernels.panel import panel_row
from sennit.bodies.kernels.points import RIGID
from sennit.solve.kernels.cables import cables_whirl, carried_turn, entries_of, pull_start, row_uses
from sennit.solve.kernels.paid import elongation_paid, least_side, least_side_implicit, lightness

ROUNDING = tolerance(1e-12, 1e-6)  # of a length
STILL = 1e-6  # of a length, which a winch that keeps a tension moves at each step without running
FIRM = tolerance(1e-9, 1e-6)  # compliance of an inextensible part over what its cable gives in a step
TAUT = 0.3  # ωh above which the peak of a catch is told by the closed form, as a step cannot see it


@inlined
def cable_length(c, cables, rows):
    """Unstretched length of a cable, m."""
    total = 0.0
    for d in range(cables.parts[c]):
        total += rows.rest[cables.row[c] + d]
    return total


@inlined
def has_more(c, cables, rows):
    """Whether there is cable left on the drum."""
    return cable_length(c, cables, rows) < (1.0 - ROUNDING()) * cables.longest[c]


@inlined
def gives_way(c, cables, rows):
    """Whether the winch holds no more than its pull. One that keeps a tension and has run out holds more, until what
    pulls on the cable is less again.
    """
    return (cables.pull[c] >= 0.0 and cables.at_end[c] != 1) or has_more(c, cables, rows)


@inlined
def let_out(c, h, cables, rows):
    """What the winch lets out in a step before it slips, m, within what there is on its drum.

    One that keeps a tension would haul in all, and lets out what its pull does not hold (`accept_cables`).
    """
    length = cable_length(c, cables, rows)
    wanted = cables.asked[c] + h * cables.winch_speed[c]
    if cables.pull[c] >= 0.0:
        wanted = -length if gives_way(c, cables, rows) else 0.0
    if cables.limit[c] == 1:
        wanted = max(wanted, 0.0)
    return min(max(wanted, cables.shortest[c] - length), cables.longest[c] - length)


@inlined
def slip_of(c, cables, rows):
    """Slip of the winch, m/s per N: none where there is nothing left to run out."""
    return cables.slip[c] if has_more(c, cables, rows) else 0.0


@inlined
def compliance_of(row, c, mode, step, cables, rows):
    """ε of a row: m/N or rad/(N·m). A part that has nearly run through its sheave stays as stiff as a thousandth.

    "euler" takes it where the step begins; the schemes of second order where they take the elongation, by what the
    winch lets out and by what ran over the sheaves in the last step.
    """
    length, h = cable_length(c, cables, rows), step.advance[0]
    rest, out = rows.rest[row], 0.0
    if mode != SPOOK and h != 0.0 and cables.pull[c] < 0.0:
        share = 0.5 if mode == MEAN_ROWS else 1.0
        out = share * let_out(c, h, cables, rows)
        rest += share * h * rows.ran_rate[row] + (out if rows.part_number[row] == 0 else 0.0)
    if rows.part_number[row] < 0:
        return (length + out) / cables.twist_stiffness[c]
    return max(rest, 1e-3 * length) / cables.stretch_stiffness[c]


@inlined
def set_cable_row(row, give, mode, mass, settings, step, rigging):
    """Compliance Σ and right side of a cable's row, whose diagonal entry of J A⁻¹ Jᵀ is `give`; `mass`: of all."""
    cables, rows = rigging.cables, rigging.rows
    c, h, passing = rows.cable[row], step.step[0], step.advance[0]
    twist = rows.part_number[row] < 0
    soft = compliance_of(row, c, mode, step, cables, rows)
    tau = cables.twist_time[c] if twist else cables.stretch_time[c]
    out = slip = 0.0
    if rows.part_number[row] == 0:
        out, slip = let_out(c, passing, cables, rows), passing * slip_of(c, cables, rows)
    value = rows.value[row]
    pull = value if twist else max(value, 0.0)
    if mode == SPOOK:
        free = rows.free[row]
        if cables.backward[c] == 1:
            sigma, e = soft, -value
        else:
            square = give / (4.0 * soft) if soft > 0.0 else math.inf
            x4 = square * square
            tau += 2.0 * h * (x4 / (1.0 + x4) if x4 < 1e30 else 1.0)
            ups = 1.0 / (1.0 + 4.0 * tau / h)
            past = rows.past[row] if twist else max(rows.past[row], 0.0)
            sigma = 4.0 * ups * soft
            e = -ups * (value + 2.0 * pull + past) - 4.0 * ups * tau / h * (value - pull)
            if not twist:
                e = max(e, least_side(row, ups, square, lightness(give, mass, step), step, rows))
    else:
        free = rows.trial[row]
        if mode == MEAN_ROWS:
            half, more = 0.5 + tau / h, 0.5 - tau / h
            sigma, e = soft / half, -pull * more / half
        else:
            rate = tau * step.strain_rate[0]
            start = value + step.memory[0] * (rows.value_last[row] - value)
            sigma, e = soft / (1.0 + rate), start * rate / (1.0 + rate)
    rows.softness[row] = sigma + slip
    rows.wanted[row] = free - e - out
    if mode == IMPLICIT and settings.static[0] == 0 and settings.turns[0] == 1 and not twist:
        square = give / (4.0 * soft) if soft > 0.0 else math.inf
        least = least_side_implicit(row, square, lightness(give, mass, step), step, rows)
        rows.wanted[row] = min(rows.wanted[row], -least - out)


@kernel
def moves_nothing(row, rigging, points):
    """Whether all of a row's elements are carried by one rigid body: its pull does nothing."""
    elements, rows = rigging.elements, rigging.rows
    p = elements.carrier[rows.first[row]]
    for e in range(rows.first[row], rows.last[row] + 1):
        q = elements.carrier[e]
        if points.kind[q] != RIGID or points.body[q] != points.body[p]:
            return False
    return True


@inlined
def soften_firm(own, rigging, C):
    """Give rows without compliance a billionth of what their cable gives: nothing may move a part between two places of
    one body, or of the world.
    """
    rows = rigging.rows
    for i in range(own):
        largest = 0.0
        for j in range(own):
            if rows.cable[j] == rows.cable[i] and (rows.part_number[j] < 0) == (rows.part_number[i] < 0):
                largest = max(largest, C[j, j])
        rows.softness[i] = max(rows.softness[i], FIRM() * largest)


@inlined
def most_pull(c, cables):
    """Largest pull of the winch, N."""
    return cables.pull[c] if cables.pull[c] >= 0.0 else cables.max_pull[c]


@inlined
def bounds_of(row, rigging):
    """Smallest and largest multiplier of a cable's row."""
    cables, rows = rigging.cables, rigging.rows
    c = rows.cable[row]
    lower, upper = 0.0, math.inf
    spare = rows.part_number[row] >= cables.parts[c]
    if spare or cables.acts[c] == 0 or cables.broken[c] == 1 or cables.adrift[c] == 1:
        upper = 0.0
    elif rows.part_number[row] < 0:
        lower = -math.inf
    elif rows.part_number[row] == 0 and gives_way(c, cables, rows):
        upper = most_pull(c, cables)
    return lower, upper


@merged
def add_cable_candidate(row, scene):
    """Panel row of a cable's row, with the sign of the gap: −J."""
    rows, pulls, panel = scene.rigging.rows, scene.rigging.pulls, scene.panel
    m = 0
    for e in range(rows.first[row], rows.last[row] + 1):
        for part in range(3):
            if row_uses(row, e, part, rows):
                at = pull_start(e, part)
                for i in range(entries_of(e, pulls)):
                    if pulls.dof[e, i] >= 0 and pulls.jacobian[at + i] != 0.0:
                        panel.index[m] = pulls.dof[e, i]
                        panel.coefficient[m] = -pulls.jacobian[at + i]
                        m += 1
    panel_row(scene.plan, scene.matrix.factor, m, panel, row)


@inlined
def rotor_give(e, mode, scheme, elements):
    """r²/(I wM) of a rotor: how far its rim gives way to a pull in a step."""
    c = scheme.reach[0]
    share = 0.5 if mode == MEAN_ROWS else 1.0
    return share * c * c * elements.radius[e] * elements.radius[e] / elements.inertia[e]


@inlined
def free_spin(e, scheme, elements):
    """Rate Ω̂ = D ω + E ω₋ that a rotor ends with if nothing turns it, as the velocities of bodies do (`schemes`)."""
    return scheme.d[0] * elements.spin[e] + scheme.e[0] * elements.spin_last[e]


@inlined
def add_rotors(mode, scheme, step, rigging, C, b):
    """What the rotors that the cables turn add to the small problem: their inertia and their motion so far.

    By the formula of the bodies, with A + B = 1 and θ₋ the turn of the last step: the rim runs by
    r (c Ω̂ − B θ₋) + (c² r²/I) (T_after − T_before). Another formula would not keep what two ends of a cable exchange.
    """
    elements, dividers = rigging.elements, rigging.dividers
    for d in range(dividers.element.size):
        e, i, j = dividers.element[d], dividers.before[d], dividers.after[d]
        if e >= 0 and elements.rotor[e] == 1 and elements.on[e] == 1 and step.advance[0] != 0.0:
            k = rotor_give(e, mode, scheme, elements)
            C[i, i] += k
            C[j, j] += k
            C[i, j] -= k
            C[j, i] -= k
            run = elements.sense[e] * elements.radius[e] * scheme.reach[0] * free_spin(e, scheme, elements)
            run -= elements.sense[e] * elements.radius[e] * scheme.b[0] * elements.turn_last[e]
            b[i] -= run
            b[j] += run


@inlined
def hold_ratio(e, static, elements):
    """Largest ratio of the tensions on both sides of a divider, e^{μθ}. A rotor at rest holds nothing back."""
    if elements.on[e] == 0 or (static and elements.rotor[e] == 1):
        return 1.0
    return math.exp(elements.friction[e] * turn_of(e, elements)) if elements.friction[e] < math.inf else math.inf


@inlined
def judge_peak(row, give, fallen, mode, step, rigging):
    """Greatest tension of a step in which a part became taut: the closed form of a mass caught by a spring.

    T = F + √(F² + k m v²), F = m a the pull that it is caught under; m = 1/(wM give). A step that is long against the
    vibration sees only the mean. `fallen` is the change of φ that forces other than the cable's make in the step.
    """
    cables, rows = rigging.cables, rigging.rows
    c, h = rows.cable[row], step.step[0]
    found = rows.found[row]
    soft = compliance_of(row, c, mode, step, cables, rows)
    if h == 0.0 or rows.value[row] >= 0.0 or found <= 0.0 or not (soft > 0.0 and give > TAUT * TAUT * soft):
        return found
    mass = 1.0 / (give * step.mass_weight[0])
    rate = fallen * step.mass_weight[0]
    speed = (rows.free[row] if mode == SPOOK else rows.value[row] - rows.value_last[row]) / h
    square = max(speed * speed + 2.0 * rate * max(-rows.value[row], 0.0), 0.0)
    force = mass * rate
    return max(found, force + math.sqrt(force * force + mass * square / soft))


@inlined
def note_driven(row, driven, scene):
    """Keep by how much a step has `driven` a row's value, and the rate of that by the formula of the bodies."""
    rows, scheme, c = scene.rigging.rows, scene.scheme, scene.scheme.reach[0]
    rate = (driven + scheme.b[0] * rows.driven[row]) / c if scene.step.advance[0] > 0.0 else 0.0
    rows.driven_rate_last[row], rows.driven_rate[row], rows.driven[row] = rows.driven_rate[row], rate, driven


@inlined
def turn_rotor(e, pull, scene):
    """Turn a rotor by the moment `pull`, N·m: its new rate, and the angle of the step, rad. In statics it stands."""
    elements, scheme, c = scene.rigging.elements, scene.scheme, scene.scheme.reach[0]
    share = 0.5 if scene.settings.cables[0] == MEAN_ROWS else 1.0
    rate = free_spin(e, scheme, elements)
    turn = c * rate + share * c * c * pull / elements.inertia[e] - scheme.b[0] * elements.turn_last[e]
    ended = rate + c * pull / elements.inertia[e]
    before = elements.spin[e]
    if scene.settings.static[0] == 1:
        turn = ended = before = 0.0
    elements.spin[e], elements.spin_last[e], elements.turn_last[e] = ended, before, turn
    return turn


@kernel
def accept_cables(scene):
    """Let out what the winches let out and what ran past sheaves; turn rotors; break what is overloaded."""
    rigging, places = scene.rigging, scene.places
    cables, elements, rows, dividers = rigging.cables, rigging.elements, rigging.rows, rigging.dividers
    mode, static, h = scene.settings.cables[0], scene.settings.static[0] == 1, scene.step.advance[0]
    for row in range(rows.tension.size):
        rows.value_last[row] = rows.value[row]
        rows.rest_rate[row] = rows.rest[row]
        rows.world_rate[row] = rows.world_move[row] / h if h > 0.0 and mode != MEAN_ROWS else 0.0
    for c in range(cables.first.size):
        row = cables.row[c]
        length = cable_length(c, cables, rows)
        out = let_out(c, h, cables, rows) + h * slip_of(c, cables, rows) * rows.tension[row]
        more, kept = has_more(c, cables, rows), cables.pull[c] >= 0.0
        at_pull = kept and rows.tension[row] == cables.pull[c]
        if kept and not more and not at_pull:
            out = 0.0
        if at_pull or (more and rows.tension[row] >= most_pull(c, cables)):
            # It gives way as far as its pull does not hold: the elongation that is left is that of the pull.
            before = rows.value[row] + rows.free[row] if mode == SPOOK else rows.trial[row]
            after = before - rows.wanted[row] + rows.softness[row] * rows.tension[row] - rows.left_over[row]
            strain = rows.tension[row] / cables.stretch_stiffness[c]
            out = max(out, (after - strain * rows.rest[row]) / (1.0 + strain))
        for d in range(cables.parts[c]):
            soft = compliance_of(row + d, c, mode, scene.step, cables, rows)
            rows.paid[row + d] = elongation_paid(row + d, soft, out if d == 0 else 0.0, scene)
        t = cables.twist_row[c]
        if t >= 0:
            rows.paid[t] = elongation_paid(t, compliance_of(t, c, mode, scene.step, cables, rows), 0.0, scene)
        asked = cables.asked[c] + h * cables.winch_speed[c]
        if kept:
            asked = out if abs(out) > STILL * length else 0.0
        # Told once, until the winch runs the other way
        if asked * cables.at_end[c] < 0.0 or (kept and cables.at_end[c] == 1 and rows.tension[row] < cables.pull[c]):
            cables.at_end[c] = 0
        run_out = length + max(out, asked) >= (1.0 - ROUNDING()) * cables.longest[c]
        if (more or at_pull) and run_out and cables.at_end[c] != 1:
            cables.happened[c] += PAID_OUT
            cables.at_end[c] = 1
        ended = cables.limit[c] == 1 or length + min(out, asked) <= (1.0 + ROUNDING()) * cables.shortest[c]
        if asked < 0.0 and ended and cables.at_end[c] != -1:
            cables.happened[c] += WOUND_IN
            cables.at_end[c] = -1
        rows.rest[row] += min(max(out, cables.shortest[c] - length), cables.longest[c] - length)
        cables.asked[c] = 0.0
        if cables.broken[c] == 0 and cables.peak[c] > cables.breaking_load[c]:
            cables.broken[c] = 1
            cables.happened[c] += BROKE
        if cables.happened[c] > 0:
            scene.report.happenings[0] = 1
    for row in range(rows.tension.size):
        rows.ran_rate[row] = 0.0
    for d in range(dividers.element.size):
        e, i, j = dividers.element[d], dividers.before[d], dividers.after[d]
        if e < 0:
            continue
        run = elements.feed[e]
        carried = 0.0
        if elements.rotor[e] == 1 and elements.on[e] == 0:
            elements.spin_last[e], elements.turn_last[e] = elements.spin[e], h * elements.spin[e]
        elif elements.rotor[e] == 1:
            rim = elements.sense[e] * elements.radius[e]
            turn = turn_rotor(e, rim * (rows.tension[j] - rows.tension[i]), scene)
            turned = carried_turn(e, elements, places)
            elements.angle[e] += turn - turned
            # What passes the mark, which turns with the carrier
            run += rim * (turn - turned)
            carried = rim * turned
        rows.rest[i] -= run
        rows.rest[j] += run
        if h != 0.0 and not static:
            rows.ran_rate[i] -= run / h
            rows.ran_rate[j] += run / h
        # No rate of the cable's, but of where it is measured from
        rows.rest_rate[i] += carried
        rows.rest_rate[j] -= carried
    for row in range(rows.tension.size):
        rows.rest_rate[row] = (rows.rest[row] - rows.rest_rate[row]) / h if h > 0.0 and not static else 0.0
        note_driven(row, h * (rows.world_rate[row] - rows.rest_rate[row]), scene)


@kernel
def pull_at(p, rigging):
    """Force of all cables on point `p`, N."""
    cables, elements, rows = rigging.cables, rigging.elements, rigging.rows
    x = y = z = 0.0
    for c in range(cables.first.size):
        row = cables.row[c]
        for e in range(cables.first[c], cables.first[c] + cables.count[c]):
            t_in = rows.found[row]
            if elements.divides[e] == 1:
                row += 1
            t_out = rows.found[row]
            if elements.carrier[e] == p and elements.on[e] == 1:
                x -= t_in * elements.wrench[e, ARRIVES, 0] + t_out * elements.wrench[e, LEAVES, 0]
                y -= t_in * elements.wrench[e, ARRIVES, 1] + t_out * elements.wrench[e, LEAVES, 1]
                z -= t_in * elements.wrench[e, ARRIVES, 2] + t_out * elements.wrench[e, LEAVES, 2]
    return x, y, z


@kernel
def take_tensions(rigging):
    """Make the tensions that a solve found those of the next matrix."""
    rows = rigging.rows
    for k in range(rows.tension.size):
        rows.tension[k] = rows.found[k]


@inlined
def pulled_before(row, mode, step, rigging):
    """Whether a part that was not solved for yet pulls already by its elongation, as that of a load that hangs at rest
    when its scene begins. One that flies into its cable does not: it finds far more than it began with.
    """
    rows = rigging.rows
    soft = compliance_of(row, rows.cable[row], mode, step, rigging.cables, rows)
    return mode == MEAN_ROWS and soft > 0.0 and rows.value[row] > 0.5 * soft * rows.found[row] > 0.0


@merged
def note_cables(scene):
    """Keep what the small problem says of the cables: sides, what is left of rows, and the greatest tension."""
    rigging, mode, bounded = scene.rigging, scene.settings.cables[0], scene.bounded
    cables, rows = rigging.cables, rigging.rows
    if rows.tension.size > 0 and mode != MEAN_ROWS and cables_whirl(scene):
        scene.report.struck[0] = 1
    for c in range(cables.first.size):
        cables.peak[c] = 0.0
    for k in range(rows.tension.size):
        fallen = -rows.left_over[k]
        if rows.part_number[k] >= 0:
            c = rows.cable[k]
            give = bounded.matrix[k, k] - rows.softness[k]
            cables.peak[c] = max(cables.peak[c], judge_peak(k, give, fallen, mode, scene.step, rigging))
            changed = rows.fresh[k] == 1 or (rows.found[k] > 0.0) != (rows.tension[k] > 0.0)
            if changed and not pulled_before(k, mode, scene.step, rigging):
                scene.report.struck[0] = 1
        rows.left_over[k] = bounded.residual[k]
        rows.side[k] = bounded.side[k]


@merged
def solve_divided(count, cap, scene):
    """The small problem with cables that rub on dividers or turn them."""
    elements, dividers = scene.rigging.elements, scene.rigging.dividers
    static = scene.settings.static[0] == 1
    for d in range(dividers.element.size):
        e = dividers.element[d]
        dividers.ratio[d], dividers.grip[d] = math.inf, 0
        if e >= 0:
            dividers.ratio[d], dividers.grip[d] = hold_ratio(e, static, elements), elements.grip[e]
    code, solves = solve_chain(scene.bounded, count, dividers, scene.rigging.chain, max(cap, 400))
    for d in range(dividers.element.size):
        e = dividers.element[d]
        if e >= 0:
            elements.grip[e], elements.feed[e] = dividers.grip[d], dividers.feed[d]
    return code, solves
