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
from sennit.geometry.kernels.algebra import (
    add3, beta, dot3, log_jacobian, put3, quat_between, quat_exp, quat_log, quat_corrected, quat_mul,
    quat_rotate_back, row3, scale3, scale9, skew, sub3, sub9, transpose,
)  # fmt: skip
from sennit.cosserat.kernels.chain import (
    ZERO3, ZERO9, clear, copy_into, factor_chain, gather_residual, inner, largest_square, solve_chain,
)  # fmt: skip
from sennit.cosserat.kernels.element import (
    LANES, assemble_elements, condense_elements, element_logarithms, evaluate_elements, evaluate_short_elements,
    scatter_state,
)  # fmt: skip
from sennit.cosserat.kernels.history import extrapolate
from sennit.cosserat.kernels.law import evaluate_law_elements

MAX_TURN = 0.8  # rad: longest rotation of a node in one step
SADDLE_NUDGE = 0.1  # rad: how far to move off a saddle
MAX_NUDGES, MAX_STALLS = 6, 12
MAX_DELTA = 1e12
CONVERGED, MOVING, FAILED = 0, 1, 2

# What is applied at the tip (one row): dead moment (world), follower moment (body), two rotational springs.
TIP_DEAD, TIP_FOLLOWER, TIP_SPRING = 0, 3, 6  # a spring: stiffness, then the quaternion that it pulls towards
TIP_WIDTH = 16


@inlined
def tip_terms(q, tip):
    """Potential, unbalanced moment and tangent of what acts on the tip's rotation; and the moment without potential."""
    turn = (q[0], q[1], q[2], q[3])
    dead = quat_rotate_back(turn, (tip[0], tip[1], tip[2]))
    moment = add3(dead, (tip[3], tip[4], tip[5]))
    g = scale3(-1.0, moment)
    block = scale9(-1.0, skew(dead))
    potential = 0.0
    for spring in range(2):
        o = 6 + 5 * spring
        k = tip[o]
        if k > 0.0:
            rho = quat_log(quat_between(turn, (tip[o + 1], tip[o + 2], tip[o + 3], tip[o + 4])))
            b, _ = beta(dot3(rho, rho))
            potential += 0.5 * k * dot3(rho, rho)
            g = sub3(g, scale3(k, rho))
            block = sub9(block, scale9(-k, transpose(log_jacobian(rho, b))))
    return potential, g, block, moment


@kernel
def evaluate(P, mesh, segment, held, target, compliance, fixed, q, lam, tip, law, G, gap):
    """Residual of the state (q, lam). Returns (potential, largest residual)."""
    elements, stride, order = mesh
    scatter_state(P, elements, stride, q, lam, segment)
    if stride == 2:
        element_logarithms(P, (elements + LANES - 1) // LANES, LANES)
    evaluate_all(P, mesh, law, elements < 0)
    potential = gather_residual(P, elements, stride, segment, held, target, compliance, lam, G, gap)
    last = stride * elements
    more, g, _, _ = tip_terms(q[last], tip)
    put3(G, last, add3(row3(G, last), g))
    for e in range(elements + 1):
        if fixed[e]:
            put3(G, stride * e, ZERO3)
    return potential + more, np.sqrt(max(largest_square(G), largest_square(gap)))


@kernel
def evaluate_all(P, mesh, law, tangent):
    """Elements of whichever kind, with or without their tangents (`tangent` must not be a literal: it would compile
    everything twice).
    """
    elements, stride, order = mesh
    K, C, address, scales, law_work = law
    blocks = (elements + LANES - 1) // LANES
    if address != 0:
        evaluate_law_elements(P, elements, order, address, scales, law_work, tangent)
    elif stride == 1:
        evaluate_short_elements(P, blocks, order, K, C, tangent)
    elif tangent:
        assemble_elements(P, blocks, LANES, K, C)
    else:
        evaluate_elements(P, blocks, LANES, K, C)


@kernel
def assemble(P, mesh, law):
    """Tangents of all elements in the state that `evaluate` saw last."""
    evaluate_all(P, mesh, law, mesh[0] > 0)


@kernel
def factor(P, mesh, segment, held, compliance, fixed, q, tip, delta, ends, segments):
    """Factor the assembled tangent shifted by δ; returns the number of negative pivots."""
    elements, stride, _ = mesh
    if stride == 2:
        condense_elements(P, (elements + LANES - 1) // LANES, LANES, delta)
    block = ZERO9
    if not fixed[elements]:
        _, _, block, _ = tip_terms(q[stride * elements], tip)
    return factor_chain(P, elements, segment, held, compliance, fixed, block, delta, ends, segments)


@kernel
def move(q, lam, step, lam_step, length, q_out, lam_out):
    """q_out = q exp(length·step), lam_out = lam + length·lam_step."""
    for i in range(q.shape[0]):
        turn = quat_exp(scale3(length, row3(step, i)))
        r = quat_corrected(quat_mul((q[i, 0], q[i, 1], q[i, 2], q[i, 3]), turn))
        q_out[i, 0], q_out[i, 1], q_out[i, 2], q_out[i, 3] = r
    for s in range(lam.shape[0]):
        for k in range(3):
            lam_out[s, k] = lam[s, k] + length * lam_step[s, k]


@inlined
def gap_norm(gap):
    total = 0.0
    for s in range(gap.shape[0]):
        total += np.sqrt(gap[s, 0] * gap[s, 0] + gap[s, 1] * gap[s, 1] + gap[s, 2] * gap[s, 2])
    return total


@inlined
def multipliers(held):
    count = 0.0
    for s in range(held.shape[0]):
        if held[s]:
            count += 3.0
    return count


@merged
def plain_newton(P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, tolerance, cap, floor):
    """Newton steps from a near guess, in place. Returns (status, iterations, residual).

    FAILED means: the step was too long, the residual grew, or the inertia is not that of a stable equilibrium; the
    caller then starts the safe iteration from the state that it had.
    """
    ends, segments, G, gap, step, lam_step, _, _, _, _ = work
    expected = multipliers(held)
    _, residual = evaluate(P, mesh, segment, held, target, compliance, fixed, q, lam, tip, law, G, gap)
    first = residual
    for iteration in range(cap):
        assemble(P, mesh, law)
        negative = factor(P, mesh, segment, held, compliance, fixed, q, tip, floor, ends, segments)
        if negative != expected:
            return FAILED, iteration, residual
        if residual <= tolerance:
            return CONVERGED, iteration, residual
        elements, stride, _ = mesh
        solve_chain(P, elements, stride, segment, held, fixed, ends, segments, G, gap, step, lam_step)
        turn = np.sqrt(largest_square(step))
        if not turn < MAX_TURN:
            return FAILED, iteration, residual
        move(q, lam, step, lam_step, 1.0, q, lam)
        before = residual
        _, residual = evaluate(P, mesh, segment, held, target, compliance, fixed, q, lam, tip, law, G, gap)
        if residual <= tolerance and turn < 1e-4 and largest_square(lam_step) < 1e-8 * (100.0 + largest_square(lam)):
            # the inertia was read so short a step before that it need not be read again
            return CONVERGED, iteration + 1, residual
        if iteration > 2 and residual > 0.5 * before:
            return FAILED, iteration + 1, residual
    return (MOVING if residual < first else FAILED), cap, residual


@inlined
def raise_delta(delta):
    return max(4.0 * delta, 1.0)


@merged
def safe_newton(
    P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, tolerance, cap, floor, polish
):
    """Inertia-controlled Newton with a merit line search, in place. Returns (status, iterations, residual).

    Every accepted step lowers the merit or the residual, so a state returned as MOVING is a better guess than the one
    that came in.
    """
    ends, segments, G, gap, step, lam_step, more, lam_more, q_trial, lam_trial = work
    expected = multipliers(held)
    conservative = True
    for k in range(6):
        if tip[k] != 0.0:
            conservative = False
    potential, residual = evaluate(P, mesh, segment, held, target, compliance, fixed, q, lam, tip, law, G, gap)
    nu = 1.0
    delta = floor
    nudges = 0
    stalls = 0
    for iteration in range(cap):
        assemble(P, mesh, law)
        negative = factor(P, mesh, segment, held, compliance, fixed, q, tip, floor, ends, segments)
        if residual <= tolerance and (negative == expected or not conservative or nudges >= MAX_NUDGES):
            if polish:
                residual = one_more_step(
                    P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, residual
                )
            return CONVERGED, iteration, residual
        if residual <= tolerance:
            nudges += 1
            potential, residual = leave_saddle(
                P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, expected, floor
            )
            delta = floor
            continue
        delta, turn = shifted_step(
            P, mesh, segment, held, compliance, fixed, tip, q, work, negative, expected, delta, floor, stalls
        )
        if turn < 1e6:
            accepted, nu, potential, residual = line_search(
                P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, turn, nu, potential,
                residual, delta == floor,
            )  # fmt: skip
            stalls = 0 if accepted else stalls + 1
        else:
            stalls += 1
        if stalls > MAX_STALLS:
            return FAILED, iteration + 1, residual
    return (CONVERGED if residual <= tolerance else MOVING), cap, residual


@merged
def one_more_step(P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, residual):
    """A last Newton step with the present factors, kept if it helps: it squares what error is left."""
    ends, segments, G, gap, step, lam_step, more, lam_more, q_trial, lam_trial = work
    elements, stride, _ = mesh
    solve_chain(P, elements, stride, segment, held, fixed, ends, segments, G, gap, step, lam_step)
    move(q, lam, step, lam_step, 1.0, q_trial, lam_trial)
    _, after = evaluate(P, mesh, segment, held, target, compliance, fixed, q_trial, lam_trial, tip, law, G, gap)
    if after < residual:
        copy_into(q, q_trial)
        copy_into(lam, lam_trial)
    return min(after, residual)


@merged
def leave_saddle(P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, expected, floor):
    """Move an unstable equilibrium along its softest mode, to the side of lower energy; returns potential, residual."""
    ends, segments, G, gap, step, lam_step, more, lam_more, q_trial, lam_trial = work
    delta, negative = floor, -1.0
    while negative != expected and delta < MAX_DELTA:
        delta = raise_delta(delta)
        negative = factor(P, mesh, segment, held, compliance, fixed, q, tip, delta, ends, segments)
    softest_mode(P, mesh, segment, held, fixed, ends, segments, G, gap, step, lam_step)
    clear(lam_step)
    lower, side = np.inf, 1.0
    for k in range(2):
        length = SADDLE_NUDGE if k == 0 else -SADDLE_NUDGE
        move(q, lam, step, lam_step, length, q_trial, lam_trial)
        potential, _ = evaluate(P, mesh, segment, held, target, compliance, fixed, q_trial, lam_trial, tip, law, G, gap)
        if potential < lower:
            lower, side = potential, length
    move(q, lam, step, lam_step, side, q_trial, lam_trial)
    copy_into(q, q_trial)
    copy_into(lam, lam_trial)
    return evaluate(P, mesh, segment, held, target, compliance, fixed, q, lam, tip, law, G, gap)


@merged
def shifted_step(P, mesh, segment, held, compliance, fixed, tip, q, work, negative, expected, delta, floor, stalls):
    """Step with the smallest shift that gives the right inertia, raised while that shortens a long step.

    After a step that was not accepted the shift is raised in any case. Returns the shift and the longest rotation.
    """
    ends, segments, G, gap, step, lam_step, more, lam_more, q_trial, lam_trial = work
    elements, stride, _ = mesh
    delta = floor if stalls == 0 else raise_delta(delta)
    if delta > floor:
        negative = factor(P, mesh, segment, held, compliance, fixed, q, tip, delta, ends, segments)
    while negative != expected and delta < MAX_DELTA:
        delta = raise_delta(delta)
        negative = factor(P, mesh, segment, held, compliance, fixed, q, tip, delta, ends, segments)
    solve_chain(P, elements, stride, segment, held, fixed, ends, segments, G, gap, step, lam_step)
    turn = np.sqrt(largest_square(step))
    tries = 0
    while turn > MAX_TURN and tries < 6:
        tries += 1
        larger = raise_delta(delta)
        factor(P, mesh, segment, held, compliance, fixed, q, tip, larger, ends, segments)
        solve_chain(P, elements, stride, segment, held, fixed, ends, segments, G, gap, step, lam_step)
        shorter = np.sqrt(largest_square(step))
        if shorter < 0.9 * turn:
            delta, turn = larger, shorter
        else:
            factor(P, mesh, segment, held, compliance, fixed, q, tip, delta, ends, segments)
            solve_chain(P, elements, stride, segment, held, fixed, ends, segments, G, gap, step, lam_step)
            tries = 6
    return delta, turn


@merged
def line_search(
    P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, turn, nu, potential, residual, unshifted
):
    """Go along the step until the merit has fallen enough; corrections of second order before the step is halved.

    Returns whether a step was taken (q, lam then hold its end), ν, potential and residual.
    """
    ends, segments, G, gap, step, lam_step, more, lam_more, q_trial, lam_trial = work
    elements, stride, _ = mesh
    last = stride * elements
    # along the step the gap changes by −gap to first order, so d(potential) = G·φ + λ·gap
    norm = gap_norm(gap)
    slope = inner(G, step) + inner(lam, gap)
    for s in range(held.shape[0]):
        force = add3(row3(lam, s), row3(lam_step, s))
        nu = max(nu, 1.2 * np.sqrt(dot3(force, force)))
    if norm > 1e-14 and slope > 0.8 * nu * norm:
        nu = 1.25 * slope / norm
    descent = min(slope - nu * norm, 0.0)
    _, _, _, moment = tip_terms(q[last], tip)
    work_rate = dot3(moment, row3(step, last)) if not fixed[elements] else 0.0
    merit = potential + nu * norm
    noise = 1e-13 * (1.0 + abs(potential) + nu * norm)
    length = 1.0 if turn <= MAX_TURN else MAX_TURN / turn
    corrections = 0
    for trial in range(30):
        move(q, lam, step, lam_step, length, q_trial, lam_trial)
        trial_potential, trial_residual = evaluate(
            P, mesh, segment, held, target, compliance, fixed, q_trial, lam_trial, tip, law, G, gap
        )
        change = trial_potential - length * work_rate + nu * gap_norm(gap) - merit
        falls = change <= 1e-4 * length * descent + noise and (change < 0.0 or trial_residual < residual)
        # close to the solution the merit is all rounding, and the residual tells
        if falls or (unshifted and length == 1.0 and turn < 0.1 and trial_residual < 0.1 * residual):
            copy_into(q, q_trial)
            copy_into(lam, lam_trial)
            return True, nu, trial_potential, trial_residual
        if corrections < 4 and trial == corrections and norm > 0.0:
            # the gap's curvature spoils the merit of a good step: correct the gap alone, with the same factors
            corrections += 1
            second_order_correction(P, mesh, segment, held, fixed, work, length)
            turn = np.sqrt(largest_square(step))
            if turn * length < 1.5 * MAX_TURN:
                continue
        if corrections > 0:
            # drop the corrections: back to the first direction, shorter
            evaluate(P, mesh, segment, held, target, compliance, fixed, q, lam, tip, law, G, gap)
            solve_chain(P, elements, stride, segment, held, fixed, ends, segments, G, gap, step, lam_step)
            turn = np.sqrt(largest_square(step))
            corrections = 5
        length *= 0.5
    potential, residual = evaluate(P, mesh, segment, held, target, compliance, fixed, q, lam, tip, law, G, gap)
    return False, nu, potential, residual


@merged
def second_order_correction(P, mesh, segment, held, fixed, work, length):
    """Add to `step` the rotation that cancels the gap found at its end (G, gap hold the trial's residual)."""
    ends, segments, G, gap, step, lam_step, more, lam_more, q_trial, lam_trial = work
    elements, stride, _ = mesh
    clear(G)
    solve_chain(P, elements, stride, segment, held, fixed, ends, segments, G, gap, more, lam_more)
    for i in range(step.shape[0]):
        for k in range(3):
            step[i, k] += more[i, k] / length
    for s in range(lam_step.shape[0]):
        for k in range(3):
            lam_step[s, k] += lam_more[s, k] / length


@merged
def softest_mode(P, mesh, segment, held, fixed, ends, segments, G, gap, step, lam_step):
    """Inverse iterations with the present factors: `step` becomes the softest mode, its largest rotation one."""
    elements, stride, _ = mesh
    clear(gap)
    for i in range(G.shape[0]):
        # any vector without symmetry will do
        G[i, 0] = np.sin(1.0 + 0.37 * i) + 0.3
        G[i, 1] = np.cos(0.7 + 0.23 * i) - 0.2
        G[i, 2] = np.sin(2.0 + 0.11 * i) * 0.5
    for _ in range(6):
        solve_chain(P, elements, stride, segment, held, fixed, ends, segments, G, gap, step, lam_step)
        size = np.sqrt(largest_square(step))
        for i in range(step.shape[0]):
            for k in range(3):
                step[i, k] /= size
                G[i, k] = step[i, k]


@kernel
def solve_strand(
    P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, one, two, three, history, settled, work,
    tolerance, cap, floor, info,
):  # fmt: skip
    """Solve in place; `info` receives status, iterations and residual.

    Cold (`history` 0), (q, lam) is the guess. Otherwise only the given rotations and forces in it count: `one`, `two`
    and `three` are the last equilibria (q, lam, target) for slightly different data, as many as `history` says, newest
    first, and plain Newton begins at their continuation. If that fails, or the newest is not `settled`, the safe
    iteration goes on from the newest, so that the nearest stable branch is followed; one step at least, whatever the
    cap, so that capped calls in a row get on. `floor` is a small shift that is always there: it holds the rigid turns
    that cost no energy when no rotation is given.
    """
    used = 0
    status = FAILED
    residual = np.inf
    stride = mesh[1]
    # large forces leave moments that rounding does not balance any better
    tolerance = max(tolerance, 1e-14 * np.sqrt(largest_square(lam)))
    if history > 0:
        extrapolate(target, held, fixed, stride, q, lam, one, two, three, history)
        if settled:
            # to a tenth of the tolerance, since no further step follows as after a cold solve
            status, used, residual = plain_newton(
                P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, 0.1 * tolerance,
                min(cap, 10), floor,
            )  # fmt: skip
        if status == FAILED:
            for i in range(q.shape[0]):
                if i % stride != 0 or not fixed[i // stride]:
                    for k in range(4):
                        q[i, k] = one[0][i, k]
            for s in range(held.shape[0]):
                if held[s]:
                    put3(lam, s, row3(one[1], s))
    if status == FAILED:
        status, more, residual = safe_newton(
            P, mesh, segment, held, target, compliance, fixed, tip, law, q, lam, work, tolerance, max(cap - used, 1),
            floor, history == 0,
        )  # fmt: skip
        used += more
    info[0] = status
    info[1] = used
    info[2] = residual
