"""Newton's method on the energy of one strand: plain from a near guess, inertia-controlled from anywhere.

The Lagrangian 𝓛(R, λ) is stationary at an equilibrium. Plain Newton finds *some* stationary point, and may find an
unstable one or run away. The safe iteration adds δ to the diagonal until the inertia is that of a constrained minimum,
keeps rotations per step below MAX_TURN, and accepts a step only if it lowers the merit, potential + ν·|gap|.

A moment applied at the tip has no potential; but the work that it does along one trial step, a turn about an axis that
is fixed in space and in the body, is exact, so the merit's change along a step is still well defined.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, kernel, merged
from sennit.geometry.kernels.algebra import add3, dot3, put3, row3
from sennit.cosserat.kernels.chain import clear, copy_into, inner, largest_square, solve_chain
from sennit.cosserat.kernels.history import extrapolate
from sennit.cosserat.kernels.rows import put4, row4
from sennit.cosserat.kernels.system import (
    assemble, coarsest_bend, evaluate, factor, gap_norm, keep, move, multipliers, tip_terms,
)  # fmt: skip
from sennit.cosserat.kernels.valley import follow_valley

MAX_TURN = 0.8  # rad: longest rotation of a node in one step
SADDLE_NUDGE, CREEP = 0.1, 0.05  # rad: how far to move off a saddle; steps off one that are too short
MAX_NUDGES, MAX_STALLS = 6, 12
MAX_WATCHED, FULL_STEPS = 3, 5  # how often, and how many, full steps are taken whose merit may rise
MAX_DELTA, SLIGHT_DELTA = 1e12, 1e-4  # B/L²: shifts; the slight one rights a mode that is almost neutral
NEUTRAL = 1e-6  # B/L: modes of less stiffness count as neutral: rounding decides the sign of what costs nothing
CONVERGED, MOVING, FAILED = 0, 1, 2


@merged
def plain_newton(P, plan, law, asked, state, work, tolerance, cap):
    """Newton steps from a near guess, in place. Returns (status, iterations, residual).

    FAILED means: the step was too long, the residual grew, or the inertia is not that of a stable equilibrium; the
    caller then starts the safe iteration from the state that it had.
    """
    step, floor = work.step, plan.floor[0]
    expected = multipliers(plan.held)
    _, residual = evaluate(P, plan, law, asked, state, work.residual)
    first = residual
    for iteration in range(cap):
        assemble(P, plan, law)
        negative = factor(P, plan, asked, state, floor, work.factors)
        if negative != expected and factor(P, plan, asked, state, NEUTRAL, work.factors) != expected:
            return FAILED, iteration, residual
        if residual <= tolerance:
            return CONVERGED, iteration, residual
        solve_chain(P, plan, work.factors, work.residual, work.step)
        turn = np.sqrt(largest_square(step.turn))
        if not turn < MAX_TURN:
            return FAILED, iteration, residual
        move(state, step, 1.0, state)
        before = residual
        _, residual = evaluate(P, plan, law, asked, state, work.residual)
        pulled = largest_square(step.pull)
        if residual <= tolerance and turn < 1e-4 and pulled < 1e-8 * (100.0 + largest_square(state.lam)):
            # the inertia was read so short a step before that it need not be read again
            return CONVERGED, iteration + 1, residual
        if iteration > 2 and residual > 0.5 * before:
            return FAILED, iteration + 1, residual
    return (MOVING if residual < first else FAILED), cap, residual


@inlined
def raise_delta(delta):
    return max(4.0 * delta, 1.0)


@inlined
def right_delta(delta):
    """The next shift to try where the inertia is wrong.

    A slight one first: near a bifurcation one mode is almost neutral and the next one soft, which 1 would stiffen.
    """
    return SLIGHT_DELTA if delta < SLIGHT_DELTA else raise_delta(delta)


@kernel
def safe_newton(P, plan, law, asked, state, work, tolerance, cap, polish):
    """Inertia-controlled Newton with a merit line search, in place. Returns (status, iterations, residual).

    Every accepted step lowers the merit or the residual, so a state returned as MOVING is a better guess than the one
    that came in.
    """
    expected = multipliers(plan.held)
    floor, tip = plan.floor[0], asked.tip
    conservative = True
    for k in range(3):
        if tip.dead_moment[0, k] != 0.0 or tip.follower_moment[0, k] != 0.0:
            conservative = False
    potential, residual = evaluate(P, plan, law, asked, state, work.residual)
    nu = 1.0
    delta = floor
    nudges = 0
    stalls = 0
    slow, creeps, eased, watched, extra = 0, 0, 0, 0, 0
    cut = False
    for iteration in range(cap):
        if iteration + extra >= cap:
            break
        assemble(P, plan, law)
        negative = factor(P, plan, asked, state, floor, work.factors)
        if residual <= tolerance and negative != expected:
            negative = factor(P, plan, asked, state, NEUTRAL, work.factors)
        if residual <= tolerance and (negative == expected or not conservative or nudges >= MAX_NUDGES):
            if polish:
                residual = one_more_step(P, plan, law, asked, state, work, residual)
            return CONVERGED, iteration + extra, residual
        if residual <= tolerance or (creeps > 1 and nudges < MAX_NUDGES // 2):
            nudges += 1
            creeps = 0
            potential, residual = leave_saddle(P, plan, law, asked, state, work, expected)
            delta = floor
            continue
        if conservative and slow > 1 and stalls == 0 and expected <= negative <= expected + 1.0:
            found, nu, potential, residual = follow_valley(
                P, plan, law, asked, state, work, nu, potential, residual, negative > expected
            )
            if found:
                continue
            if cut and negative == expected and watched < MAX_WATCHED and iteration + extra + FULL_STEPS < cap:
                # the merit of a good step may rise on the way over the flank of a valley
                watched += 1
                steps, potential, residual = full_steps(P, plan, law, asked, state, work, potential, residual)
                extra += abs(steps)
                if steps > 0:
                    slow, cut = 0, False
                    continue
                assemble(P, plan, law)
                negative = factor(P, plan, asked, state, floor, work.factors)
        before = residual
        delta, turn = shifted_step(P, plan, asked, state, work, negative, expected, delta, stalls)
        if turn < 1e6:
            turned, nu, potential, residual = line_search(
                P, plan, law, asked, state, work, turn, nu, potential, residual, delta == floor
            )
            stalls = 0 if turned >= 0.0 else stalls + 1
            cut = 0.0 <= turned < 0.1 * turn
            # small steps off a saddle, or a residual that does not fall as Newton's should
            creeps = creeps + 1 if negative != expected and turned < CREEP and residual > 0.5 * before else 0
            slow = slow + 1 if delta > floor or residual > 0.25 * before else 0
            if slow == 3 and eased < MAX_NUDGES:
                # forces far too large on the way leave a ν that lets no step bend the gap: it is found anew
                nu, slow = 1.0, 2
                eased += 1
        else:
            stalls += 1
        if stalls > MAX_STALLS:
            return FAILED, iteration + extra + 1, residual
    return (CONVERGED if residual <= tolerance else MOVING), cap, residual


@merged
def full_steps(P, plan, law, asked, state, work, potential, residual):
    """Newton steps whose merit may rise, until the residual is a tenth of what it was; or back to where it was.

    Returns the number of steps (negative if the state is the old one), potential and residual.
    """
    keep(work.kept, state)
    for k in range(FULL_STEPS):
        assemble(P, plan, law)
        factor(P, plan, asked, state, plan.floor[0], work.factors)
        solve_chain(P, plan, work.factors, work.residual, work.step)
        if not largest_square(work.step.turn) < MAX_TURN * MAX_TURN:
            break
        move(state, work.step, 1.0, state)
        trial_potential, trial_residual = evaluate(P, plan, law, asked, state, work.residual)
        if trial_residual < 0.1 * residual:
            return k + 1, trial_potential, trial_residual
    keep(state, work.kept)
    potential, residual = evaluate(P, plan, law, asked, state, work.residual)
    return -FULL_STEPS, potential, residual


@merged
def one_more_step(P, plan, law, asked, state, work, residual):
    """A last Newton step with the present factors, kept if it helps: it squares what error is left."""
    solve_chain(P, plan, work.factors, work.residual, work.step)
    move(state, work.step, 1.0, work.trial)
    _, after = evaluate(P, plan, law, asked, work.trial, work.residual)
    if after < residual:
        keep(state, work.trial)
    return min(after, residual)


@merged
def leave_saddle(P, plan, law, asked, state, work, expected):
    """Move an unstable equilibrium along its softest mode, to the side of lower energy; returns potential, residual."""
    delta, negative = plan.floor[0], -1.0
    while negative != expected and delta < MAX_DELTA:
        delta = right_delta(delta)
        negative = factor(P, plan, asked, state, delta, work.factors)
    softest_mode(P, plan, work)
    clear(work.step.pull)
    lower, side = np.inf, 1.0
    for k in range(2):
        length = SADDLE_NUDGE if k == 0 else -SADDLE_NUDGE
        move(state, work.step, length, work.trial)
        potential, _ = evaluate(P, plan, law, asked, work.trial, work.residual)
        if potential < lower:
            lower, side = potential, length
    move(state, work.step, side, work.trial)
    keep(state, work.trial)
    return evaluate(P, plan, law, asked, state, work.residual)


@merged
def shifted_step(P, plan, asked, state, work, negative, expected, delta, stalls):
    """Step with the smallest shift that gives the right inertia, raised while that shortens a long step.

    After a step that was not accepted the shift is raised in any case. Returns the shift and the longest rotation.
    """
    floor = plan.floor[0]
    delta = floor if stalls == 0 else raise_delta(delta)
    if delta > floor:
        negative = factor(P, plan, asked, state, delta, work.factors)
    while negative != expected and delta < MAX_DELTA:
        delta = right_delta(delta)
        negative = factor(P, plan, asked, state, delta, work.factors)
    solve_chain(P, plan, work.factors, work.residual, work.step)
    turn = np.sqrt(largest_square(work.step.turn))
    tries = 0
    while turn > MAX_TURN and tries < 6:
        tries += 1
        larger = raise_delta(delta)
        factor(P, plan, asked, state, larger, work.factors)
        solve_chain(P, plan, work.factors, work.residual, work.step)
        shorter = np.sqrt(largest_square(work.step.turn))
        if shorter < 0.9 * turn:
            delta, turn = larger, shorter
        else:
            factor(P, plan, asked, state, delta, work.factors)
            solve_chain(P, plan, work.factors, work.residual, work.step)
            tries = 6
    return delta, turn


@merged
def line_search(P, plan, law, asked, state, work, turn, nu, potential, residual, unshifted):
    """Go along the step until the merit has fallen enough; corrections of second order before the step is halved.

    Returns the longest rotation (`state` is then the step's end; −1 if none was taken), ν, potential and residual.
    """
    elements = plan.segment.shape[0]
    tip, gap = plan.stride[0] * elements, work.residual.gap
    # along the step the gap changes by −gap to first order, so d(potential) = G·φ + λ·gap
    norm = gap_norm(gap)
    slope = inner(work.residual.moment, work.step.turn) + inner(state.lam, gap)
    for s in range(plan.held.shape[0]):
        force = add3(row3(state.lam, s), row3(work.step.pull, s))
        nu = max(nu, 1.2 * np.sqrt(dot3(force, force)))
    if norm > 1e-14 and slope > 0.8 * nu * norm:
        nu = 1.25 * slope / norm
    descent = min(slope - nu * norm, 0.0)
    _, _, _, moment = tip_terms(row4(state.q, tip), asked.tip)
    work_rate = dot3(moment, row3(work.step.turn, tip)) if not plan.fixed[elements] else 0.0
    merit = potential + nu * norm
    noise = 1e-13 * (1.0 + abs(potential) + nu * norm)
    length = 1.0 if turn <= MAX_TURN else MAX_TURN / turn
    corrections = 0
    for trial in range(30):
        move(state, work.step, length, work.trial)
        trial_potential, trial_residual = evaluate(P, plan, law, asked, work.trial, work.residual)
        change = trial_potential - length * work_rate + nu * gap_norm(gap) - merit
        falls = change <= 1e-4 * length * descent + noise and (change < 0.0 or trial_residual < residual)
        # close to the solution the merit is all rounding, and the residual tells
        if falls or (unshifted and length == 1.0 and turn < 0.1 and trial_residual < 0.1 * residual):
            keep(state, work.trial)
            return length * turn, nu, trial_potential, trial_residual
        if corrections < 4 and trial == corrections and norm > 0.0:
            # the gap's curvature spoils the merit of a good step: correct the gap alone, with the same factors
            corrections += 1
            second_order_correction(P, plan, work, length)
            turn = np.sqrt(largest_square(work.step.turn))
            if turn * length < 1.5 * MAX_TURN:
                continue
        if corrections > 0:
            # drop the corrections: back to the first direction, shorter
            evaluate(P, plan, law, asked, state, work.residual)
            solve_chain(P, plan, work.factors, work.residual, work.step)
            turn = np.sqrt(largest_square(work.step.turn))
            corrections = 5
        length *= 0.5
    potential, residual = evaluate(P, plan, law, asked, state, work.residual)
    return -1.0, nu, potential, residual


@merged
def second_order_correction(P, plan, work, length):
    """Add to the step the rotation that cancels the gap found at its end (the residual is the trial's)."""
    step, more = work.step, work.correction
    clear(work.residual.moment)
    solve_chain(P, plan, work.factors, work.residual, work.correction)
    for i in range(step.turn.shape[0]):
        for k in range(3):
            step.turn[i, k] += more.turn[i, k] / length
    for s in range(step.pull.shape[0]):
        for k in range(3):
            step.pull[s, k] += more.pull[s, k] / length


@merged
def softest_mode(P, plan, work):
    """Inverse iterations with the present factors: the step becomes the softest mode, its largest rotation one."""
    G, step = work.residual.moment, work.step.turn
    clear(work.residual.gap)
    for i in range(G.shape[0]):
        # any vector without symmetry will do
        G[i, 0] = np.sin(1.0 + 0.37 * i) + 0.3
        G[i, 1] = np.cos(0.7 + 0.23 * i) - 0.2
        G[i, 2] = np.sin(2.0 + 0.11 * i) * 0.5
    for _ in range(6):
        solve_chain(P, plan, work.factors, work.residual, work.step)
        size = np.sqrt(largest_square(step))
        for i in range(step.shape[0]):
            for k in range(3):
                step[i, k] /= size
                G[i, k] = step[i, k]


@kernel
def solve_strand(P, plan, space, known, settled, tolerance, cap):
    """Solve in place. Returns (status, iterations, residual) and the ratio of `coarsest_bend`.

    Cold (`known` 0), the state is the guess. Otherwise only the given rotations and forces in it count: newest, older
    and oldest are equilibria for slightly different data, as many as are `known`, and plain Newton begins at their
    continuation. If that fails, or the newest is not `settled`, the safe iteration goes on from the newest, so that the
    nearest stable branch is followed; one step at least, whatever the cap, so that capped calls in a row get on. The
    plan's floor is a small shift that is always there: it holds the rigid turns that cost no energy when no rotation is
    given.
    """
    law, asked, work, state, newest = space.law, space.asked, space.work, space.state, space.newest
    copy_into(state.target, asked.target)
    used = 0
    status = FAILED
    residual = np.inf
    stride = plan.stride[0]
    if known > 0:
        extrapolate(plan, asked, state, newest, space.older, space.oldest, known)
        if settled:
            # to a tenth of the tolerance, since no further step follows as after a cold solve
            status, used, residual = plain_newton(P, plan, law, asked, state, work, 0.1 * tolerance, min(cap, 10))
        if status == FAILED:
            for i in range(state.q.shape[0]):
                if i % stride != 0 or not plan.fixed[i // stride]:
                    put4(state.q, i, row4(newest.q, i))
            for s in range(plan.held.shape[0]):
                if plan.held[s]:
                    put3(state.lam, s, row3(newest.lam, s))
    if status == FAILED:
        status, more, residual = safe_newton(
            P, plan, law, asked, state, work, tolerance, max(cap - used, 1), known == 0
        )
        used += more
    coarse = 0.0
    if plan.longest[0] * plan.longest[0] * (np.sqrt(largest_square(state.lam)) + plan.strongest[0]) > 1.0:
        coarse, _ = coarsest_bend(P, plan, state)
    return status, used, residual, coarse
