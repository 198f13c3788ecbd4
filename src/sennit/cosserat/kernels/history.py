"""Guesses for a warm start: the last one, two or three equilibria, continued as polynomials."""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, merged
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
def quat_row(q, i):
    return q[i, 0], q[i, 1], q[i, 2], q[i, 3]


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
def prediction_error(target, held, fixed, stride, q, lam, one, two, three, terms):
    """How far the extrapolation with `terms` states misses what is given: positions, forces and rotations."""
    error = 0.0
    a, b, c = weights_ahead(terms)
    for s in range(held.shape[0]):
        for k in range(3):
            if held[s]:
                miss = target[s, k] - a * one[2][s, k] - b * two[2][s, k] - c * three[2][s, k]
            else:
                miss = lam[s, k] - a * one[1][s, k] - b * two[1][s, k] - c * three[1][s, k]
            error += miss * miss
    for e in range(fixed.shape[0]):
        if fixed[e]:
            i = stride * e
            newest = quat_row(one[0], i)
            ahead = quat_exp(turn_ahead(newest, quat_row(two[0], i), quat_row(three[0], i), terms))
            miss_turn = quat_log(quat_between(quat_mul(newest, ahead), quat_row(q, i)))
            error += dot3(miss_turn, miss_turn)
    return error


@merged
def extrapolate(target, held, fixed, stride, q, lam, one, two, three, history):
    """Guess (q, lam) from the last one, two or three states (q, lam, target), whichever predict best what is given.

    On entry q holds the given rotations, and lam the given forces, of the new problem; the rest is overwritten.
    """
    terms, best = 1, np.inf
    for n in range(1, history + 1):
        error = prediction_error(target, held, fixed, stride, q, lam, one, two, three, n)
        if error < best:
            terms, best = n, error
    a, b, c = weights_ahead(terms)
    for i in range(q.shape[0]):
        if i % stride == 0 and fixed[i // stride]:
            continue
        r = quat_row(one[0], i)
        if terms > 1:
            ahead = turn_ahead(r, quat_row(two[0], i), quat_row(three[0], i), terms)
            r = quat_corrected(quat_mul(r, quat_exp(ahead)))
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = r
    for s in range(held.shape[0]):
        if held[s]:
            for k in range(3):
                lam[s, k] = a * one[1][s, k] + b * two[1][s, k] + c * three[1][s, k]
