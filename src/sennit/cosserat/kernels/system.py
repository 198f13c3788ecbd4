"""One strand as a system of equations: residual, tangent, its factors, and states moved along a step."""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import (
    add3, beta, dot3, log_jacobian, put3, quat_between, quat_corrected, quat_exp, quat_log, quat_mul, quat_rotate,
    quat_rotate_back, row3, scale3, scale9, skew, sub3, sub9, transpose,
)  # fmt: skip
from sennit.cosserat.kernels.chain import ZERO3, ZERO9, copy_into, factor_chain, gather_residual, largest_square
from sennit.cosserat.kernels.element import (
    LINEAR, VARIED, assemble_elements, assemble_varied_elements, condense_elements, element_logarithms,
    evaluate_elements, evaluate_short_elements, evaluate_varied_elements, scatter_state,
)  # fmt: skip
from sennit.cosserat.kernels.lanes import C0, LANES, block_and_lane, load3
from sennit.cosserat.kernels.law import evaluate_law_elements
from sennit.cosserat.kernels.rows import put4, row4

STRONG = 1e5  # B/L²: a force whose rounding, 1e-14 of it, is the tolerance of moments
AXIAL = (0.0, 0.0, 1.0)
BENT, JUMP = 0.02, 0.01  # rad that an element turns where it counts as bent; of the force: a jump that bends the strand


@inlined
def tip_terms(turn, tip):
    """Potential, unbalanced moment and tangent of what acts on the tip's rotation; and the moment without potential."""
    dead = quat_rotate_back(turn, row3(tip.dead_moment, 0))
    moment = add3(dead, row3(tip.follower_moment, 0))
    g = scale3(-1.0, moment)
    block = scale9(-1.0, skew(dead))
    potential = 0.0
    for spring in range(tip.spring.shape[0]):
        k = tip.spring[spring]
        if k > 0.0:
            rho = quat_log(quat_between(turn, row4(tip.towards, spring)))
            b, _ = beta(dot3(rho, rho))
            potential += 0.5 * k * dot3(rho, rho)
            g = sub3(g, scale3(k, rho))
            block = sub9(block, scale9(-k, transpose(log_jacobian(rho, b))))
    return potential, g, block, moment


@kernel
def evaluate(P, plan, law, asked, state, residual):
    """Residual of a state. Returns (potential, largest residual).

    Forces beyond STRONG leave moments that rounding does not balance any better: these then count over the force.
    """
    elements, stride = plan.segment.shape[0], plan.stride[0]
    G = residual.moment
    scatter_state(P, plan, state)
    if stride == 2:
        element_logarithms(P, LANES)
    evaluate_all(P, plan, law, elements < 0)
    potential = gather_residual(P, plan, asked, state, residual)
    last = stride * elements
    more, g, _, _ = tip_terms(row4(state.q, last), asked.tip)
    put3(G, last, add3(row3(G, last), g))
    for e in range(elements + 1):
        if plan.fixed[e]:
            put3(G, stride * e, ZERO3)
    moment = largest_square(G) * min(1.0, STRONG * STRONG / (largest_square(state.lam) + 1e-300))
    return potential + more, np.sqrt(max(moment, largest_square(residual.gap)))


@kernel
def evaluate_all(P, plan, law, tangent):
    """Elements of whichever kind, with or without their tangents (`tangent` must not be a literal: it would compile
    everything twice).
    """
    varied = law.address[0] == VARIED
    if not varied and law.address[0] != LINEAR:
        evaluate_law_elements(P, plan, law, tangent)
    elif plan.stride[0] == 1:
        evaluate_short_elements(P, plan, law, tangent)
    elif varied and tangent:
        assemble_varied_elements(P, LANES)
    elif varied:
        evaluate_varied_elements(P, LANES)
    elif tangent:
        assemble_elements(P, LANES, law)
    else:
        evaluate_elements(P, LANES, law)


@kernel
def assemble(P, plan, law):
    """Tangents of all elements in the state that `evaluate` saw last."""
    evaluate_all(P, plan, law, plan.segment.shape[0] > 0)


@kernel
def factor(P, plan, asked, state, delta, factors):
    """Factor the assembled tangent shifted by δ; returns the number of negative pivots."""
    elements, stride = plan.segment.shape[0], plan.stride[0]
    if stride == 2:
        condense_elements(P, LANES, delta)
    block = ZERO9
    if not plan.fixed[elements]:
        _, _, block, _ = tip_terms(row4(state.q, stride * elements), asked.tip)
    return factor_chain(P, plan, asked, block, delta, factors)


@kernel
def move(state, step, length, out):
    """The state `out` at the end of the step, `length` times as long, from `state`."""
    for i in range(state.q.shape[0]):
        turn = quat_exp(scale3(length, row3(step.turn, i)))
        put4(out.q, i, quat_corrected(quat_mul(row4(state.q, i), turn)))
    for s in range(state.lam.shape[0]):
        for k in range(3):
            out.lam[s, k] = state.lam[s, k] + length * step.pull[s, k]


@kernel
def coarsest_bend(P, plan, state):
    """How many times longer than the bend at its end an element is, and which: where a hold or a load kinks the strand.

    Under a force T the strand bends there over √(EI/T). Returns (h √(T/EI), element) of the coarsest element that turns
    at all, or (0, −1).
    """
    elements, stride = plan.segment.shape[0], plan.stride[0]
    worst, where = 0.0, -1
    before = ZERO3
    for e in range(elements):
        o, i = block_and_lane(e)
        lam = row3(state.lam, np.uint64(plan.segment[e]))
        first, last = add3(lam, load3(P.load_n0, o, i)), add3(lam, load3(P.load_n1, o, i))
        h = P.length[o, C0, i]
        force = max(dot3(first, first), dot3(last, last))
        # of h √(T/EI) the fourth power: most elements need no root
        coarse = h * h * h * h * force * P.limp[o, C0, i]
        if coarse > max(worst, 1.0):
            # kinked at its start, or at its end
            jump = sub3(first, before)
            kinked = plan.fixed[e] or plan.fixed[e + 1] or (e > 0 and dot3(jump, jump) > JUMP * JUMP * force)
            if not kinked and e + 1 < elements:
                o, i = block_and_lane(e + 1)
                jump = sub3(add3(row3(state.lam, np.uint64(plan.segment[e + 1])), load3(P.load_n0, o, i)), last)
                kinked = dot3(jump, jump) > JUMP * JUMP * force
            a, b = (
                quat_rotate(row4(state.q, stride * e), AXIAL),
                quat_rotate(row4(state.q, stride * e + stride), AXIAL),
            )
            turn = sub3(b, a)
            if kinked and dot3(turn, turn) > BENT * BENT:
                worst, where = coarse, e
        before = last
    return np.sqrt(np.sqrt(worst)), where


@inlined
def keep(state, trial):
    """Let `state` be `trial`."""
    copy_into(state.q, trial.q)
    copy_into(state.lam, trial.lam)


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
