"""Guesses for a warm start: the last one, two or three equilibria, continued as polynomials."""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, merged
from sennit.cosserat.kernels.rows import put4, row4
from sennit.geometry.kernels.algebra import (
    dot3,
    quat_between,
    quat_corrected,
    quat_exp,
    quat_log,
    quat_mul,
    scale3,
    sub3,
)


@inlined
def weights_ahead(terms):
    """Weights of the newest, older and oldest state in an extrapolation by `terms` states."""
    if terms == 3:
        return 3.0, -3.0, 1.0
    if terms == 2:
        return 2.0, -1.0, 0.0
    return 1.0, 0.0, 0.0


@inlined
def small_turn(p, q):
    """The rotation vector from p to q, a fifth of a percent too short at 0.2 rad: for a guess that is enough."""
    r = quat_between(p, q)
    k = 2.0 if r[0] >= 0.0 else -2.0
    return k * r[1], k * r[2], k * r[3]


@inlined
def turn_ahead(newest, older, oldest, terms):
    """Rotation vector (frame of the newest) that goes on from three rotations by polynomials of `terms` terms."""
    turn = (0.0, 0.0, 0.0)
    if terms >= 2:
        turn = small_turn(older, newest)
    if terms >= 3:
        turn = sub3(scale3(2.0, turn), small_turn(oldest, older))
    return turn


@merged
def prediction_error(plan, asked, state, one, two, three, terms):
    """How far the extrapolation with `terms` states misses what is given: positions, forces and rotations."""
    error = 0.0
    a, b, c = weights_ahead(terms)
    for s in range(plan.held.shape[0]):
        for k in range(3):
            if plan.held[s]:
                miss = asked.target[s, k] - a * one.target[s, k] - b * two.target[s, k] - c * three.target[s, k]
            else:
                miss = state.lam[s, k] - a * one.lam[s, k] - b * two.lam[s, k] - c * three.lam[s, k]
            error += miss * miss
    for e in range(plan.fixed.shape[0]):
        if plan.fixed[e]:
            i = plan.stride[0] * e
            newest = row4(one.q, i)
            ahead = quat_exp(turn_ahead(newest, row4(two.q, i), row4(three.q, i), terms))
            miss_turn = quat_log(quat_between(quat_mul(newest, ahead), row4(state.q, i)))
            error += dot3(miss_turn, miss_turn)
    return error


@merged
def extrapolate(plan, asked, state, one, two, three, known):
    """Guess the state from the last one, two or three, as many as are `known`, whichever predict best what is given.

    On entry the state holds the given rotations and the given forces of the new problem; the rest is overwritten.
    """
    terms, best = 1, np.inf
    for n in range(1, known + 1):
        error = prediction_error(plan, asked, state, one, two, three, n)
        if error < best:
            terms, best = n, error
    a, b, c = weights_ahead(terms)
    stride = plan.stride[0]
    for i in range(state.q.shape[0]):
        if i % stride == 0 and plan.fixed[i // stride]:
            continue
        r = row4(one.q, i)
        if terms > 1:
            ahead = turn_ahead(r, row4(two.q, i), row4(three.q, i), terms)
            r = quat_corrected(quat_mul(r, quat_exp(ahead)))
        put4(state.q, i, r)
    for s in range(plan.held.shape[0]):
        if plan.held[s]:
            for k in range(3):
                state.lam[s, k] = a * one.lam[s, k] + b * two.lam[s, k] + c * three.lam[s, k]
