"""The chain of element ends: one symmetric indefinite elimination from base to tip, linear in the elements.

Unknowns are the rotations φ of the element ends and one force λ per *held* segment, that is a part of the strand
between two points whose positions are given. A segment's λ is carried along as a border of three columns and
eliminated at the segment's end, so that the matrix stays block tridiagonal however many points hold the strand.

The pivots' signs give the inertia: an equilibrium is a local minimum of the energy under its constraints exactly when
the number of negative pivots equals the number of multipliers, three per held segment. A moment applied at the tip has
no potential; it makes the last block unsymmetric, and that block alone is solved as such.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import (
    add3, add9, dot3, inverse3, mat_mul, mat_t_mul, mat_t_vec, mat_vec, put3, row3, scale3, sub3, sub9,
)  # fmt: skip
from sennit.cosserat.kernels.element import factor_symmetric, solve_columns, solve_pivots, times_identity
from sennit.cosserat.kernels.lanes import C0, block_and_lane, load3, load6, load9
from sennit.cosserat.kernels.rows import put6, put9, row6, row9

ZERO3 = (0.0, 0.0, 0.0)
ZERO9 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined
def largest_square(A):
    """Largest squared row length; infinite if anything is not a number."""
    largest = 0.0
    for i in range(A.shape[0]):
        x = A[i, 0] * A[i, 0] + A[i, 1] * A[i, 1] + A[i, 2] * A[i, 2]
        if not x <= largest:
            largest = x if x == x else np.inf
    return largest


@inlined
def copy_into(A, B):
    # element by element: Numba's slice assignment compiles an error message, for seconds
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] = B[i, k]


@inlined
def clear(A):
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            A[i, k] = 0.0


@inlined
def inner(A, B):
    total = 0.0
    for i in range(A.shape[0]):
        total += A[i, 0] * B[i, 0] + A[i, 1] * B[i, 1] + A[i, 2] * B[i, 2]
    return total


@kernel
def gather_residual(P, plan, asked, state, residual):
    """Unbalanced moments and position gaps from the elements; returns the potential.

    A held segment's gap is target − ∫R v − compliance·λ: the vector that it should span less the one it spans. In a
    segment that is not held λ is a given force (the load on the free tip), whose work counts in the potential.
    """
    G, gap, lam, held, stride = residual.moment, residual.gap, state.lam, plan.held, plan.stride[0]
    potential = 0.0
    put3(G, 0, ZERO3)
    for s in range(held.shape[0]):
        if held[s]:
            compliance = asked.compliance[s]
            for k in range(3):
                gap[s, k] = asked.target[s, k] - compliance * lam[s, k]
                potential += 0.5 * compliance * lam[s, k] * lam[s, k]
        else:
            put3(gap, s, ZERO3)
    for e in range(plan.segment.shape[0]):
        o, i = block_and_lane(e)
        first = stride * e
        put3(G, first, add3(row3(G, first), load3(P.g0, o, i)))
        if stride == 2:
            put3(G, first + 1, load3(P.gm, o, i))
        put3(G, first + stride, load3(P.g1, o, i))
        s = np.uint64(plan.segment[e])
        if held[s]:
            put3(gap, s, sub3(row3(gap, s), load3(P.chord, o, i)))
        else:
            potential -= dot3(row3(lam, s), load3(P.chord, o, i))
        potential += P.potential[o, C0, i]
    return potential


@kernel
def factor_chain(P, plan, asked, tip_block, delta, factors):
    """Factor the tangent with δ times each node's share of the length added to its diagonal.

    `tip_block` is added to the last diagonal block. Returns the number of negative pivots.
    """
    elements, segment, held, fixed = plan.segment.shape[0], plan.segment, plan.held, plan.fixed
    negative = 0.0
    D, B, Z = ZERO9, ZERO9, ZERO9  # of the present end: diagonal, border; of the present segment: λλ block
    before = 0.0  # length of the element before
    last = np.uint64(0)
    for e in range(elements):
        o, i = block_and_lane(e)
        s = np.uint64(segment[e])
        if e == 0 or s != last:
            if e > 0 and held[last]:
                D, more = close_segment(factors, last, D, B, Z, fixed[e] != 0)
                negative += more
            B = ZERO9
            Z = times_identity(-asked.compliance[s])
        negative += P.negative[o, C0, i]
        D = add9(D, load9(P.cd00, o, i))
        O = load9(P.co01, o, i)
        shift = 0.25 * delta * (P.length[o, C0, i] + before)
        if held[s]:
            B = add9(B, load9(P.cb0, o, i))
            Z = add9(Z, load9(P.cs, o, i))
        if fixed[e]:
            D = load9(P.cd11, o, i)
            B = load9(P.cb1, o, i)
        else:
            f, more = factor_symmetric(D, shift)
            negative += more
            x = solve_columns(f, O)
            put6(factors.pivots, e, f)
            put9(factors.onward, e, x)
            D = sub9(load9(P.cd11, o, i), mat_t_mul(O, x))
            if held[s]:
                xb = solve_columns(f, B)
                put9(factors.border, e, xb)
                Z = sub9(Z, mat_t_mul(B, xb))
                B = sub9(load9(P.cb1, o, i), mat_t_mul(O, xb))
        before, last = P.length[o, C0, i], s
    # the tip: its block may be unsymmetric
    if not fixed[elements]:
        D = add9(add9(D, tip_block), times_identity(0.25 * delta * before))
        _, more = factor_symmetric(D, 0.0)
        negative += more
        inverse, _ = inverse3(D)
        put9(factors.tip_inverse, 0, inverse)
        if held[last]:
            xb = mat_mul(inverse, B)
            put9(factors.border, elements, xb)
            put9(factors.tip_border, 0, mat_t_mul(B, inverse))
            Z = sub9(Z, mat_t_mul(B, xb))
    if held[last]:
        _, more = factor_symmetric(Z, 0.0)
        negative += more
        inverse, _ = inverse3(Z)
        put9(factors.last_inverse, 0, inverse)
    return negative


@kernel
def close_segment(factors, s, D, B, Z, fixed):
    """Eliminate a segment's force at the segment's end, where border B and diagonal D stand: D − B Z⁻¹Bᵀ."""
    f, negative = factor_symmetric(Z, 0.0)
    put6(factors.closing_pivots, s, f)
    if not fixed:
        x = solve_columns(f, (B[0], B[3], B[6], B[1], B[4], B[7], B[2], B[5], B[8]))
        put9(factors.closing_border, s, x)
        D = sub9(D, mat_mul(B, x))
    return D, negative


@kernel
def solve_chain(P, plan, factors, residual, step):
    """Solve for the step that cancels the residual (which may be any right-hand side) to first order."""
    elements, stride, segment, held, fixed = plan.segment.shape[0], plan.stride[0], plan.segment, plan.held, plan.fixed
    turn, pull = step.turn, step.pull
    # forward
    g, z = ZERO3, ZERO3
    last = np.uint64(0)
    for e in range(elements):
        o, i = block_and_lane(e)
        s = np.uint64(segment[e])
        first = stride * e
        if e == 0 or s != last:
            if e > 0 and held[last]:
                put3(pull, last, solve_pivots(row6(factors.closing_pivots, last), z))
                if not fixed[e]:
                    # B Z⁻¹ z = (Z⁻¹Bᵀ)ᵀ z
                    g = sub3(g, mat_t_vec(row9(factors.closing_border, last), z))
            z = row3(residual.gap, s)
        g = add3(g, row3(residual.moment, first))
        g1 = ZERO3
        if stride == 2:
            gm = row3(residual.moment, first + 1)
            y = solve_pivots(load6(P.pivots, o, i), gm)
            put3(turn, first + 1, y)
            g = sub3(g, mat_vec(load9(P.o0m, o, i), y))
            g1 = scale3(-1.0, mat_t_vec(load9(P.om1, o, i), y))
            if held[s]:
                z = sub3(z, mat_t_vec(load9(P.bm, o, i), y))
        if fixed[e]:
            put3(turn, first, ZERO3)
            g = g1
        else:
            x = solve_pivots(row6(factors.pivots, e), g)
            put3(turn, first, x)
            if held[s]:
                # Bᵀx = (D⁻¹B)ᵀ g
                z = sub3(z, mat_t_vec(row9(factors.border, e), g))
            g = sub3(g1, mat_t_vec(load9(P.co01, o, i), x))
        last = s
    tip = stride * elements
    g = add3(g, row3(residual.moment, tip))
    phi = ZERO3
    force = ZERO3
    if fixed[elements]:
        if held[last]:
            force = scale3(-1.0, mat_vec(row9(factors.last_inverse, 0), z))
    else:
        phi = scale3(-1.0, mat_vec(row9(factors.tip_inverse, 0), g))
        if held[last]:
            z = sub3(z, mat_vec(row9(factors.tip_border, 0), g))
            force = scale3(-1.0, mat_vec(row9(factors.last_inverse, 0), z))
            phi = sub3(phi, mat_vec(row9(factors.border, elements), force))
    put3(turn, tip, phi)
    put3(pull, last, force)
    # backward
    for e in range(elements - 1, -1, -1):
        o, i = block_and_lane(e)
        first = stride * e
        s = np.uint64(segment[e])
        after = phi
        if fixed[e]:
            phi = ZERO3
        else:
            phi = scale3(-1.0, add3(row3(turn, first), mat_vec(row9(factors.onward, e), after)))
            if held[s]:
                phi = sub3(phi, mat_vec(row9(factors.border, e), force))
        put3(turn, first, phi)
        if stride == 2:
            ends = add3(mat_vec(load9(P.x0, o, i), phi), mat_vec(load9(P.x1, o, i), after))
            mid = add3(row3(turn, first + 1), ends)
            if held[s]:
                mid = add3(mid, mat_vec(load9(P.xb, o, i), force))
            put3(turn, first + 1, scale3(-1.0, mid))
        if e > 0 and s != np.uint64(segment[e - 1]):
            p = np.uint64(segment[e - 1])
            force = ZERO3
            if held[p]:
                force = row3(pull, p)
                if not fixed[e]:
                    force = add3(force, mat_vec(row9(factors.closing_border, p), phi))
                force = scale3(-1.0, force)
            put3(pull, p, force)
