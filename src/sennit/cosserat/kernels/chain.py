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
from sennit.cosserat.kernels.element import (
    BM, CB0, CB1, CD00, CD11, CHORD, CO01, CS, G0, G1, GM, H, NEGATIVE, O0M, OM1, PIVOTS, POTENTIAL, U24, X0, X1, XB,
    element_offset, factor_symmetric, load3, load9, solve_columns, solve_pivots,
)  # fmt: skip

ZERO3 = (0.0, 0.0, 0.0)
ZERO9 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
END_WIDTH = 24  # pivots 6, D⁻¹O 9, D⁻¹B 9: one row of `ends` per element end
SEGMENT_WIDTH = 18  # pivots of S 6 (or its inverse 9), S⁻¹Bᵀ 9: one row of `segments` per segment


@inlined
def put9(A, row, column, m):
    for k in range(9):
        A[row, column + k] = m[k]


@inlined
def get9(A, row, c):
    return (A[row, c], A[row, c + 1], A[row, c + 2], A[row, c + 3], A[row, c + 4], A[row, c + 5], A[row, c + 6],
            A[row, c + 7], A[row, c + 8])  # fmt: skip


@inlined
def get6(A, row):
    return A[row, 0], A[row, 1], A[row, 2], A[row, 3], A[row, 4], A[row, 5]


@inlined
def identity_times(k):
    return k, 0.0, 0.0, 0.0, k, 0.0, 0.0, 0.0, k


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
def gather_residual(P, elements, stride, segment, held, target, compliance, lam, G, gap):
    """Unbalanced moments G (nodes, 3) and position gaps (segments, 3) from the elements; returns the potential.

    A held segment's gap is target − ∫R v − compliance·λ: the vector that it should span less the one it spans. In a
    segment that is not held λ is a given force (the load on the free tip), whose work counts in the potential.
    """
    potential = 0.0
    put3(G, 0, ZERO3)
    for s in range(held.shape[0]):
        if held[s]:
            for k in range(3):
                gap[s, k] = target[s, k] - compliance[s] * lam[s, k]
                potential += 0.5 * compliance[s] * lam[s, k] * lam[s, k]
        else:
            put3(gap, s, ZERO3)
    for e in range(elements):
        i = element_offset(e)
        first = stride * e
        put3(G, first, add3(row3(G, first), load3(P, i + G0)))
        if stride == 2:
            put3(G, first + 1, load3(P, i + GM))
        put3(G, first + stride, load3(P, i + G1))
        s = segment[e]
        if held[s]:
            put3(gap, s, sub3(row3(gap, s), load3(P, i + CHORD)))
        else:
            potential -= dot3(row3(lam, s), load3(P, i + CHORD))
        potential += P[i + POTENTIAL]
    return potential


@kernel
def factor_chain(P, elements, segment, held, compliance, fixed, tip_block, delta, ends, segments):
    """Factor the tangent with δ times each node's share of the length added to its diagonal.

    `fixed[i]` marks element ends whose rotation is given; `tip_block` is added to the last diagonal block. Returns
    the number of negative pivots.
    """
    negative = 0.0
    D, B, Z = ZERO9, ZERO9, ZERO9  # of the present end: diagonal, border; of the present segment: λλ block
    for e in range(elements):
        i = element_offset(e)
        s = segment[e]
        if e == 0 or s != segment[e - 1]:
            if e > 0 and held[segment[e - 1]]:
                D, more = close_segment(segments, segment[e - 1], D, B, Z, fixed[e])
                negative += more
            B = ZERO9
            Z = identity_times(-compliance[s])
        negative += P[i + NEGATIVE]
        D = add9(D, load9(P, i + CD00))
        O = load9(P, i + CO01)
        shift = 0.25 * delta * (P[i + H] + (P[element_offset(e - 1) + H] if e > 0 else 0.0))
        if held[s]:
            B = add9(B, load9(P, i + CB0))
            Z = add9(Z, load9(P, i + CS))
        if fixed[e]:
            D = load9(P, i + CD11)
            B = load9(P, i + CB1)
        else:
            f, more = factor_symmetric(D, shift)
            negative += more
            x = solve_columns(f, O)
            for k in range(6):
                ends[e, k] = f[k]
            put9(ends, e, 6, x)
            D = sub9(load9(P, i + CD11), mat_t_mul(O, x))
            if held[s]:
                xb = solve_columns(f, B)
                put9(ends, e, 15, xb)
                Z = sub9(Z, mat_t_mul(B, xb))
                B = sub9(load9(P, i + CB1), mat_t_mul(O, xb))
    # the tip: its block may be unsymmetric
    s = segment[elements - 1]
    if not fixed[elements]:
        shift = 0.25 * delta * P[element_offset(elements - 1) + H]
        D = add9(add9(D, tip_block), identity_times(shift))
        _, more = factor_symmetric(D, 0.0)
        negative += more
        inverse, _ = inverse3(D)
        put9(ends, elements, 6, inverse)
        if held[s]:
            xb = mat_mul(inverse, B)
            put9(ends, elements, 15, xb)
            # rows of the border for the unsymmetric block: Bᵀ D⁻¹
            put9(segments, s, 9, mat_t_mul(B, inverse))
            Z = sub9(Z, mat_t_mul(B, xb))
    if held[s]:
        _, more = factor_symmetric(Z, 0.0)
        negative += more
        inverse, _ = inverse3(Z)
        put9(segments, s, 0, inverse)
    return negative


@kernel
def close_segment(segments, s, D, B, Z, fixed):
    """Eliminate a segment's force at the segment's end, where border B and diagonal D stand: D − B Z⁻¹Bᵀ."""
    f, negative = factor_symmetric(Z, 0.0)
    for k in range(6):
        segments[s, k] = f[k]
    if not fixed:
        x = solve_columns(f, (B[0], B[3], B[6], B[1], B[4], B[7], B[2], B[5], B[8]))
        put9(segments, s, 9, x)
        D = sub9(D, mat_mul(B, x))
    return D, negative


@kernel
def solve_chain(P, elements, stride, segment, held, fixed, ends, segments, G, gap, step, lam_step):
    """Solve for the rotations `step` (nodes, 3) and `lam_step` (segments, 3) that cancel G and gap to first order.

    G and gap are read as right-hand sides (they may be any); `step` and `lam_step` are overwritten.
    """
    # forward
    g, z = ZERO3, ZERO3
    for e in range(elements):
        i = element_offset(e)
        s = segment[e]
        first = stride * e
        if e == 0 or s != segment[e - 1]:
            if e > 0 and held[segment[e - 1]]:
                p = segment[e - 1]
                put3(lam_step, p, solve_pivots(get6(segments, p), z))
                if not fixed[e]:
                    # B Z⁻¹ z = (Z⁻¹Bᵀ)ᵀ z
                    g = sub3(g, mat_t_vec(get9(segments, p, 9), z))
            z = row3(gap, s)
        g = add3(g, row3(G, first))
        g1 = ZERO3
        if stride == 2:
            gm = row3(G, first + 1)
            f = load3(P, i + PIVOTS) + load3(P, i + PIVOTS + U24)
            y = solve_pivots(f, gm)
            put3(step, first + 1, y)
            g = sub3(g, mat_vec(load9(P, i + O0M), y))
            g1 = scale3(-1.0, mat_t_vec(load9(P, i + OM1), y))
            if held[s]:
                z = sub3(z, mat_t_vec(load9(P, i + BM), y))
        if fixed[e]:
            put3(step, first, ZERO3)
            g = g1
        else:
            x = solve_pivots(get6(ends, e), g)
            put3(step, first, x)
            if held[s]:
                # Bᵀx = (D⁻¹B)ᵀ g
                z = sub3(z, mat_t_vec(get9(ends, e, 15), g))
            g = sub3(g1, mat_t_vec(load9(P, i + CO01), x))
    last = stride * elements
    s = segment[elements - 1]
    g = add3(g, row3(G, last))
    phi = ZERO3
    force = ZERO3
    if fixed[elements]:
        if held[s]:
            force = scale3(-1.0, mat_vec(get9(segments, s, 0), z))
    else:
        inverse = get9(ends, elements, 6)
        phi = scale3(-1.0, mat_vec(inverse, g))
        if held[s]:
            z = sub3(z, mat_vec(get9(segments, s, 9), g))
            force = scale3(-1.0, mat_vec(get9(segments, s, 0), z))
            phi = sub3(phi, mat_vec(get9(ends, elements, 15), force))
    put3(step, last, phi)
    put3(lam_step, s, force)
    # backward
    for e in range(elements - 1, -1, -1):
        i = element_offset(e)
        first = stride * e
        s = segment[e]
        after = phi
        if fixed[e]:
            phi = ZERO3
        else:
            phi = scale3(-1.0, add3(row3(step, first), mat_vec(get9(ends, e, 6), after)))
            if held[s]:
                phi = sub3(phi, mat_vec(get9(ends, e, 15), force))
        put3(step, first, phi)
        if stride == 2:
            mid = add3(row3(step, first + 1), add3(mat_vec(load9(P, i + X0), phi), mat_vec(load9(P, i + X1), after)))
            if held[s]:
                mid = add3(mid, mat_vec(load9(P, i + XB), force))
            put3(step, first + 1, scale3(-1.0, mid))
        if e > 0 and s != segment[e - 1]:
            p = segment[e - 1]
            force = ZERO3
            if held[p]:
                force = row3(lam_step, p)
                if not fixed[e]:
                    force = add3(force, mat_vec(get9(segments, p, 9), phi))
                force = scale3(-1.0, force)
            put3(lam_step, p, force)
