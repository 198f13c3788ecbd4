"""Steps along the floor of a valley of the energy: a mode so soft that straight steps along it leave the floor at once.

A buckled round strand between coaxial clamps swings about their axis at no cost. With the ends a little off one axis,
or some weight across it, the swing has a stiffness of 1e-6 to 1e-3 EI/L where the next mode has 40, and the valley is
bent: a Newton step of 0.3 rad leaves its floor by the square of that, and a line search takes a millionth of it.

So a step p is split, p = p⊥ + α d with d the softest mode. p⊥ goes to the floor. Along it the trial is, where d is the
swing φ_i = R_iᵀe − e₃ (e the axis), that swing by a finite angle ψ, R → exp(ψe) R exp(−ψe₃); elsewhere the straight
step α d. Then Newton steps with the same factors (turned by ψ, if it swung) bring everything but d back to the floor:
the amplitude of d is kept by adding κ H⁻¹Md to each of them, with M the nodes' shares of the length.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, merged
from sennit.cosserat.kernels.chain import ZERO3, clear, copy_into, largest_square, solve_chain
from sennit.cosserat.kernels.lanes import C0, block_and_lane
from sennit.cosserat.kernels.rows import put4, row4
from sennit.cosserat.kernels.system import evaluate, gap_norm, keep, move
from sennit.geometry.kernels.algebra import (
    add3, dot3, put3, quat_exp, quat_mul, quat_rotate, quat_rotate_back, row3, scale3, sub3,
)  # fmt: skip

SOFT = 2.0  # EI/L: a mode with less than this stiffness may be a valley's
OFF_FLOOR, ALONG, ROUND = 0.3, 0.35, 1.0  # rad: how far off the floor a step may begin; along it, straight and swinging
PURE = 0.8  # squared cosine between a soft mode, or a mixture of some, and what a load of its shape does
CORRECTIONS = 10
AXIAL = (0.0, 0.0, 1.0)


@inlined
def share(P, plan, node):
    """A node's share of the length, as `factor` weighs its shift."""
    stride = plan.stride[0]
    e = node // stride
    o, i = block_and_lane(e)
    if node % stride == 1:
        return 0.5 * P.length[o, C0, i]
    total = P.length[o, C0, i] if e < plan.segment.shape[0] else 0.0
    if e > 0:
        o, i = block_and_lane(e - 1)
        total += P.length[o, C0, i]
    return 0.25 * total


@inlined
def weighed(P, plan, A, B):
    """Inner product of two fields of rotations, by the nodes' shares of the length."""
    total = 0.0
    for i in range(A.shape[0]):
        total += share(P, plan, i) * dot3(row3(A, i), row3(B, i))
    return total


@inlined
def add_times(A, k, B):
    for i in range(A.shape[0]):
        for j in range(3):
            A[i, j] += k * B[i, j]


@inlined
def turn_rows(A, axis, angle):
    turn = quat_exp(scale3(angle, axis))
    for i in range(A.shape[0]):
        put3(A, i, quat_rotate(turn, row3(A, i)))


@inlined
def swing_axis(q, s):
    """Axis that a round strand may swing about at s: from the tangent at its base to that at its tip."""
    axis = add3(scale3(1.0 - s, quat_rotate(row4(q, 0), AXIAL)), scale3(s, quat_rotate(row4(q, q.shape[0] - 1), AXIAL)))
    return scale3(1.0 / np.sqrt(dot3(axis, axis) + 1e-300), axis)


@merged
def swing_rates(P, plan, q, out):
    """Rotations (nodes, 3) per angle of a swing of all cross-sections that are free: R_iᵀe − e₃."""
    stride = plan.stride[0]
    s = 0.0
    for i in range(q.shape[0]):
        if i > 0:
            o, lane = block_and_lane((i - 1) // stride)
            s += P.length[o, C0, lane] / stride
        held = i % stride == 0 and plan.fixed[i // stride]
        put3(out, i, ZERO3 if held else sub3(quat_rotate_back(row4(q, i), swing_axis(q, s)), AXIAL))


@merged
def swing(P, plan, q, angle):
    """Turn every free cross-section about the axis in space, and back about its own: the shape swings, untwisted."""
    stride = plan.stride[0]
    s = 0.0
    # free ends turn as well: their axes are read before they do
    base, tip = swing_axis(q, 0.0), swing_axis(q, 1.0)
    back = quat_exp((0.0, 0.0, -angle))
    for i in range(q.shape[0]):
        if i > 0:
            o, lane = block_and_lane((i - 1) // stride)
            s += P.length[o, C0, lane] / stride
        if not (i % stride == 0 and plan.fixed[i // stride]):
            axis = add3(scale3(1.0 - s, base), scale3(s, tip))
            axis = scale3(1.0 / np.sqrt(dot3(axis, axis) + 1e-300), axis)
            put4(q, i, quat_mul(quat_mul(quat_exp(scale3(angle, axis)), row4(q, i)), back))


@merged
def turn_sought_forces(plan, lam, axis, angle):
    """Turn the segments' forces, but those that are given."""
    turn = quat_exp(scale3(angle, axis))
    for s in range(plan.held.shape[0]):
        if plan.held[s]:
            put3(lam, s, quat_rotate(turn, row3(lam, s)))


@merged
def valley_mode(P, plan, work, uphill, rounds):
    """What is soft in the Newton step, by inverse iterations with the present factors; one round leaves the step.

    Two soft modes may share the step: two rounds leave their mixture. `uphill`: the mode that spoils the inertia need
    not be in the step, and is sought from any vector. Returns 1/stiffness, and whether it is that of a soft mode.
    """
    mode, load, response = work.soft.mode.turn, work.soft.load, work.soft.response
    for i in range(mode.shape[0]):
        if uphill:
            # any vector without symmetry will do
            mode[i, 0] = np.sin(1.0 + 0.37 * i) + 0.3
            mode[i, 1] = np.cos(0.7 + 0.23 * i) - 0.2
            mode[i, 2] = np.sin(2.0 + 0.11 * i) * 0.5
        else:
            put3(mode, i, row3(work.step.turn, i))
    clear(load.gap)
    for turn in range(rounds):
        size = 1.0 / np.sqrt(weighed(P, plan, mode, mode) + 1e-300)
        for i in range(mode.shape[0]):
            k = -share(P, plan, i)
            for j in range(3):
                mode[i, j] *= size
                load.moment[i, j] = k * mode[i, j]
        solve_chain(P, plan, work.factors, load, response)
        if turn < rounds - 1:
            copy_into(mode, response.turn)
    inverse, square = weighed(P, plan, mode, response.turn), weighed(P, plan, response.turn, response.turn)
    return inverse, inverse * inverse > PURE * square


@merged
def relax(P, plan, law, asked, work, inverse, axis, angle):
    """Bring the trial back to the floor at its amplitude of the mode; returns its potential, residual and gap."""
    soft, residual, more = work.soft, work.residual, work.correction
    last = np.inf
    for correction in range(CORRECTIONS + 1):
        potential, largest = evaluate(P, plan, law, asked, work.trial, residual)
        missed = gap_norm(residual.gap)
        # the factors are those of the strand before it swung
        turn_rows(residual.moment, AXIAL, -angle)
        turn_rows(residual.gap, axis, -angle)
        solve_chain(P, plan, work.factors, residual, more)
        k = -weighed(P, plan, soft.mode.turn, more.turn) / inverse
        add_times(more.turn, k, soft.response.turn)
        add_times(more.pull, k, soft.response.pull)
        size = np.sqrt(largest_square(more.turn))
        if size < 1e-10 or not size < 0.6 * last or correction == CORRECTIONS:
            break
        last = size
        turn_rows(more.turn, AXIAL, angle)
        turn_rows(more.pull, axis, angle)
        move(work.trial, more, 1.0, work.trial)
    return potential, largest, missed


@merged
def follow_valley(P, plan, law, asked, state, work, nu, potential, residual, uphill):
    """A step along the floor of a valley, with the unshifted factors. `uphill`: the mode's stiffness is negative, the
    inertia wrong by it; the step then goes away from the maximum along the floor.

    Returns whether a step was taken (`state` is then its end), ν, potential and residual. It is accepted by the merit
    of the line search, or if the residual falls to a tenth.
    """
    soft, step, more = work.soft, work.step, work.correction
    mode, response = soft.mode, soft.response
    rounds = 4 if uphill else 2
    fits = False
    length, inverse, largest = 0.0, 1.0, 1.0
    while rounds > 0 and not fits:
        solve_chain(P, plan, work.factors, work.residual, step)
        inverse, sure = valley_mode(P, plan, work, uphill, rounds)
        length = weighed(P, plan, mode.turn, step.turn)
        add_times(step.turn, -length / inverse, response.turn)
        add_times(step.pull, -length / inverse, response.pull)
        largest = np.sqrt(largest_square(mode.turn))
        fits = sure and abs(inverse) * SOFT > 1.0 and not (uphill and inverse > 0.0)
        fits = fits and largest_square(step.turn) < OFF_FLOOR * OFF_FLOOR and abs(length) * largest >= 1e-7
        # the softest mode need not be the one that the step follows: then the step itself is taken for it
        rounds = 0 if uphill else rounds - 1
    if not fits:
        return False, nu, potential, residual
    if inverse < 0.0:
        length = -length
    swing_rates(P, plan, state.q, more.turn)
    reach = np.sqrt(weighed(P, plan, more.turn, more.turn))
    along = weighed(P, plan, mode.turn, more.turn)
    swings = abs(along) > 0.9 * reach
    limit = ROUND * reach if swings else ALONG / largest
    length = min(max(length, -limit), limit)
    norm = gap_norm(work.residual.gap)
    for s in range(plan.held.shape[0]):
        force = add3(row3(state.lam, s), row3(step.pull, s))
        nu = max(nu, 1.2 * np.sqrt(dot3(force, force)))
    noise = 1e-13 * (1.0 + abs(potential) + nu * norm)
    axis = swing_axis(state.q, 0.5)
    angle = 0.0
    for _ in range(6):
        move(state, step, 1.0, work.trial)
        if swings:
            angle = length / reach if along > 0.0 else -length / reach
            swing(P, plan, work.trial.q, angle)
            turn_sought_forces(plan, work.trial.lam, axis, angle)
        else:
            move(work.trial, response, length / inverse, work.trial)
        trial_potential, trial_residual, missed = relax(P, plan, law, asked, work, inverse, axis, angle)
        change = trial_potential + nu * missed - potential - nu * norm
        if (change <= noise and (change < 0.0 or trial_residual < residual)) or trial_residual < 0.1 * residual:
            keep(state, work.trial)
            # the residual that was turned back
            potential, residual = evaluate(P, plan, law, asked, state, work.residual)
            return True, nu, potential, residual
        length *= 0.4
    potential, residual = evaluate(P, plan, law, asked, state, work.residual)
    return False, nu, potential, residual
