"""The general method: rotations, positions and element forces as unknowns of one unsymmetric banded system.

Loads that turn with the strand, and torques along it, have no potential; the force in one place then depends on the
rotations of all places beyond. With positions and forces as unknowns of their own every equation is local again:

    at an element end   moment balance                         G = applied moment      (or the rotation is given)
                        force balance     n(before) − n(after) = applied force         (or the position is given)
    at a middle         moment balance
    in an element       r₁ − r₀ = ∫ R v

The elements are those of the energy method. Unknowns are ordered as they stand along the strand, so the matrix has
fourteen diagonals on either side and a banded LU with pivoting solves it in linear time.
"""

from __future__ import annotations

import numpy as np

from sennit.compilation import kernel
from sennit.cosserat.kernels.chain import clear
from sennit.cosserat.kernels.element import (
    B0, B1, BM, CB0, CB1, CD00, CD11, CO01, CS, D00, D11, DMM, H, LOAD_N0, LOAD_N1, LOAD_NM, O01, O0M, OM1, S, U8,
    element_offset, load9, store3,
)  # fmt: skip
from sennit.cosserat.kernels.newton import tip_terms
from sennit.geometry.kernels.algebra import (
    add3, add9, mat_mul, mul_skew, quat_matrix, quat_rotate, quat_rotate_back, row3, scale3, scale9, skew, sub3,
    transpose,
)  # fmt: skip

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
BAND = 14  # diagonals on either side


@kernel
def quat(q, i):
    return q[i, 0], q[i, 1], q[i, 2], q[i, 3]


@kernel
def slot_loads(P, elements, stride, q, dead, follower):
    """Write into the elements the force of the loads per length between each slot and the element's end."""
    for e in range(elements):
        i = element_offset(e)
        h = P[i + H]
        a = stride * e
        b = a + stride
        f0 = add3(row3(dead, a), quat_rotate(quat(q, a), row3(follower, a)))
        f1 = add3(row3(dead, b), quat_rotate(quat(q, b), row3(follower, b)))
        store3(P, i + LOAD_N1, (0.0, 0.0, 0.0))
        if stride == 2:
            fm = add3(row3(dead, a + 1), quat_rotate(quat(q, a + 1), row3(follower, a + 1)))
            store3(P, i + LOAD_N0, scale3(h / 6.0, add3(add3(f0, f1), scale3(4.0, fm))))
            store3(P, i + LOAD_NM, scale3(h / 24.0, add3(sub3(scale3(5.0, f1), f0), scale3(8.0, fm))))
        else:
            store3(P, i + LOAD_N0, scale3(0.5 * h, add3(f0, f1)))


@kernel
def first_slot_load(P, i):
    return P[i + LOAD_N0], P[i + LOAD_N0 + U8], P[i + LOAD_N0 + np.uint64(16)]


@kernel
def add_block(band, row, column, m):
    """Add a 3×3 block to the matrix in LAPACK's band storage with the row of the diagonal at BAND."""
    for a in range(3):
        for b in range(3):
            band[BAND + row + a - column - b, column + b] += m[3 * a + b]


@kernel
def put_row(right, row, a):
    right[row] = a[0]
    right[row + 1] = a[1]
    right[row + 2] = a[2]


@kernel
def load_turning(q, i, follower, weight):
    """Derivative of weight·R f in φ, for a load f per length that turns with node i: −weight·R [f]."""
    return scale9(-weight, mul_skew(quat_matrix(quat(q, i)), row3(follower, i)))


@kernel
def applied_moment(q, i, weight, end, loads):
    """Moment on node i (body frame) and its derivative: line loads with their weight, end loads (end ≥ 0)."""
    dead_torque, follower_torque, dead_moment, follower_moment = loads
    turn = quat(q, i)
    dead = quat_rotate_back(turn, scale3(weight, row3(dead_torque, i)))
    moment = add3(dead, scale3(weight, row3(follower_torque, i)))
    if end >= 0:
        more = quat_rotate_back(turn, row3(dead_moment, end))
        dead = add3(dead, more)
        moment = add3(moment, add3(more, row3(follower_moment, end)))
    return moment, skew(dead)


@kernel
def residual_and_band(
    P, elements, stride, q, r, n, G, gap, fixed, held, place, tip, tip_force, tip_follows, tip_compliance,
    follower_force, weights, loads, points, tangent, band, right,
):  # fmt: skip
    """Right-hand side (minus the residual) and, with `tangent`, the band matrix.

    G and gap come from the elements, evaluated with r₁ − r₀ as the span. `held[i]` marks element ends whose position
    `place[i]` is given; `points` are the dead and follower forces at the ends.
    """
    dead_point, follower_point = points
    width = 12 if stride == 2 else 9
    force_at = width - 3
    if tangent:
        clear(band)
    for end in range(elements + 1):
        row = end * width
        node = stride * end
        i = element_offset(end) if end < elements else element_offset(0)
        turn = quat(q, node)
        # moment balance, or the given rotation
        if fixed[end]:
            put_row(right, row, (0.0, 0.0, 0.0))
            if tangent:
                add_block(band, row, row, IDENTITY)
        else:
            moment, block = applied_moment(q, node, weights[node], end, loads)
            g = sub3(moment, row3(G, node))
            if end == elements:
                _, more, tip_block, _ = tip_terms(q[node], tip)
                g = sub3(g, more)
                if tangent:
                    add_block(band, row, row, tip_block)
            put_row(right, row, g)
            if tangent:
                add_block(band, row, row, scale9(-1.0, block))
        # force balance, or the given position
        force = add3(row3(dead_point, end), quat_rotate(turn, row3(follower_point, end)))
        turning = scale9(-1.0, mul_skew(quat_matrix(turn), row3(follower_point, end)))
        compliance = 0.0
        if end == elements:
            compliance = tip_compliance
            if tip_follows:
                force = add3(force, quat_rotate(turn, tip_force))
                turning = add9(turning, scale9(-1.0, mul_skew(quat_matrix(turn), tip_force)))
            else:
                force = add3(force, tip_force)
        before = row3(n, end - 1) if end > 0 else (0.0, 0.0, 0.0)
        if held[end]:
            miss = sub3(row3(place, end), row3(r, end))
            if compliance > 0.0:
                miss = sub3(miss, scale3(compliance, sub3(before, force)))
            put_row(right, row + 3, miss)
            if tangent:
                add_block(band, row + 3, row + 3, IDENTITY)
                if compliance > 0.0:
                    add_block(band, row + 3, row - 3, scale9(compliance, IDENTITY))
        else:
            after = (0.0, 0.0, 0.0)
            if end < elements:
                after = add3(row3(n, end), first_slot_load(P, i))
            put_row(right, row + 3, sub3(add3(after, force), before))
            if tangent:
                if end > 0:
                    add_block(band, row + 3, row - 3, IDENTITY)
                add_block(band, row + 3, row, scale9(-1.0, turning))
                if end < elements:
                    add_block(band, row + 3, row + force_at, scale9(-1.0, IDENTITY))
        if end < elements:
            element_rows(
                P, i, end, stride, width, q, fixed, held, follower_force, weights, loads, G, gap, tangent, band, right
            )


@kernel
def element_rows(P, i, e, stride, width, q, fixed, held, follower_force, weights, loads, G, gap, tangent, band, right):
    """Rows of an element's middle and span, and its columns in the moment and force balance of its ends."""
    row = e * width
    after = row + width
    force = row + width - 3
    node = stride * e
    span = row3(gap, e)
    put_row(right, force, scale3(-1.0, span))
    if stride == 2:
        moment, block = applied_moment(q, node + 1, weights[node + 1], -1, loads)
        put_row(right, row + 6, sub3(moment, row3(G, node + 1)))
    if not tangent:
        return
    h = P[i + H]
    add_block(band, force, after + 3, IDENTITY)
    add_block(band, force, row + 3, scale9(-1.0, IDENTITY))
    if stride == 2:
        middle = row + 6
        d00, d11, o01, b0, b1 = (
            load9(P, i + D00), load9(P, i + D11), load9(P, i + O01), load9(P, i + B0), load9(P, i + B1),
        )  # fmt: skip
        o0m, om1, bm = load9(P, i + O0M), load9(P, i + OM1), load9(P, i + BM)
        add_block(band, middle, middle, add9(load9(P, i + DMM), scale9(-1.0, block)))
        add_block(band, middle, row, transpose(o0m))
        add_block(band, middle, after, om1)
        add_block(band, middle, force, bm)
        add_block(band, force, middle, transpose(bm))
        add_block(band, force, force, load9(P, i + S))
        # known forces that turn: N0 and Nm depend on all three rotations
        whole0, wholem, whole1 = (
            load_turning(q, node, follower_force, h / 6.0),
            load_turning(q, node + 1, follower_force, 4.0 * h / 6.0),
            load_turning(q, node + 2, follower_force, h / 6.0),
        )
        half0, halfm, half1 = (
            load_turning(q, node, follower_force, -h / 24.0),
            load_turning(q, node + 1, follower_force, 8.0 * h / 24.0),
            load_turning(q, node + 2, follower_force, 5.0 * h / 24.0),
        )
        add_block(band, middle, row, mat_mul(bm, half0))
        add_block(band, middle, middle, mat_mul(bm, halfm))
        add_block(band, middle, after, mat_mul(bm, half1))
        if not fixed[e]:
            add_block(band, row, middle, add9(o0m, mat_mul(b0, wholem)))
        if not fixed[e + 1]:
            add_block(band, after, middle, transpose(om1))
        if not held[e]:
            add_block(band, row + 3, middle, scale9(-1.0, wholem))
    else:
        d00, d11, o01, b0, b1 = (
            load9(P, i + CD00), load9(P, i + CD11), load9(P, i + CO01), load9(P, i + CB0), load9(P, i + CB1),
        )  # fmt: skip
        add_block(band, force, force, load9(P, i + CS))
        whole0 = load_turning(q, node, follower_force, 0.5 * h)
        whole1 = load_turning(q, node + 1, follower_force, 0.5 * h)
    add_block(band, force, row, transpose(b0))
    add_block(band, force, after, transpose(b1))
    if not fixed[e]:
        add_block(band, row, row, add9(d00, mat_mul(b0, whole0)))
        add_block(band, row, after, add9(o01, mat_mul(b0, whole1)))
        add_block(band, row, force, b0)
    if not fixed[e + 1]:
        add_block(band, after, after, d11)
        add_block(band, after, row, transpose(o01))
        add_block(band, after, force, b1)
    if not held[e]:
        add_block(band, row + 3, row, scale9(-1.0, whole0))
        add_block(band, row + 3, after, scale9(-1.0, whole1))
