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

from sennit.compilation import kernel
from sennit.cosserat.kernels.chain import clear
from sennit.cosserat.kernels.lanes import C0, block_and_lane, load3, load9, store3
from sennit.cosserat.kernels.system import tip_terms
from sennit.cosserat.kernels.rows import row4
from sennit.geometry.kernels.algebra import (
    add3, add9, mat_mul, mul_skew, quat_matrix, quat_rotate, quat_rotate_back, row3, scale3, scale9, skew, sub3,
    transpose,
)  # fmt: skip

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
BAND = 14  # diagonals on either side
# Rows and columns of an element, three each, in the order of the unknowns: at its start rotation and position, at order
# 4 the rotation of its middle, and its force last. They share one vector, since LAPACK solves for all of them at once.
TURN, PLACE, MIDDLE = 0, 3, 6
LONG, SHORT = 12, 9  # unknowns of an element with a middle, and without; at the tip rotation and position follow


@kernel
def slot_loads(P, plan, q, loads):
    """Write into the elements the force of the loads per length between each slot and the element's end."""
    dead, follower, stride = loads.dead_force, loads.follower_force, plan.stride[0]
    weight, weighs = loads.dead_weight, loads.dead_weight.shape[0] > 0
    for e in range(plan.segment.shape[0]):
        o, i = block_and_lane(e)
        h = P.length[o, C0, i]
        a = stride * e
        b = a + stride
        f0 = add3(row3(dead, a), quat_rotate(row4(q, a), row3(follower, a)))
        f1 = add3(row3(dead, b), quat_rotate(row4(q, b), row3(follower, b)))
        if weighs:
            f0, f1 = add3(f0, row3(weight, 3 * e)), add3(f1, row3(weight, 3 * e + 2))
        store3(P.load_n1, o, i, (0.0, 0.0, 0.0))
        if stride == 2:
            fm = add3(row3(dead, a + 1), quat_rotate(row4(q, a + 1), row3(follower, a + 1)))
            if weighs:
                fm = add3(fm, row3(weight, 3 * e + 1))
            store3(P.load_n0, o, i, scale3(h / 6.0, add3(add3(f0, f1), scale3(4.0, fm))))
            store3(P.load_nm, o, i, scale3(h / 24.0, add3(sub3(scale3(5.0, f1), f0), scale3(8.0, fm))))
        else:
            store3(P.load_n0, o, i, scale3(0.5 * h, add3(f0, f1)))


@kernel
def add_block(band, row, column, m):
    """Add a 3×3 block to the matrix in LAPACK's band storage with the row of the diagonal at BAND."""
    for a in range(3):
        for b in range(3):
            band[BAND + row + a - column - b, column + b] += m[3 * a + b]


@kernel
def put_row(right, row, a):
    for k in range(3):
        right[row + k] = a[k]


@kernel
def load_turning(q, i, follower, weight):
    """Derivative of weight·R f in φ, for a load f per length that turns with node i: −weight·R [f]."""
    return scale9(-weight, mul_skew(quat_matrix(row4(q, i)), row3(follower, i)))


@kernel
def applied_moment(q, i, weight, end, loads):
    """Moment on node i (body frame) and its derivative: line loads with their weight, end loads (end ≥ 0)."""
    turn = row4(q, i)
    dead = quat_rotate_back(turn, scale3(weight, row3(loads.dead_torque, i)))
    moment = add3(dead, scale3(weight, row3(loads.follower_torque, i)))
    if end >= 0:
        more = quat_rotate_back(turn, row3(loads.dead_moment, end))
        dead = add3(dead, more)
        moment = add3(moment, add3(more, row3(loads.follower_moment, end)))
    return moment, skew(dead)


@kernel
def residual_and_band(P, plan, system, state, residual, loads, tip, tangent):
    """Right-hand side (minus the residual) and, with `tangent`, the band matrix of the system.

    `residual` comes from the elements, evaluated with r₁ − r₀ as the span.
    """
    elements, stride = plan.segment.shape[0], plan.stride[0]
    q, band, right = state.q, system.band, system.right
    width = LONG if stride == 2 else SHORT
    if tangent:
        clear(band)
    for end in range(elements + 1):
        row = end * width
        node = stride * end
        o, i = block_and_lane(end if end < elements else 0)
        turn = row4(q, node)
        # moment balance, or the given rotation
        if plan.fixed[end]:
            put_row(right, row + TURN, (0.0, 0.0, 0.0))
            if tangent:
                add_block(band, row + TURN, row + TURN, IDENTITY)
        else:
            moment, block = applied_moment(q, node, system.weight[node], end, loads)
            g = sub3(moment, row3(residual.moment, node))
            if end == elements:
                _, more, tip_block, _ = tip_terms(turn, tip)
                g = sub3(g, more)
                if tangent:
                    add_block(band, row + TURN, row + TURN, tip_block)
            put_row(right, row + TURN, g)
            if tangent:
                add_block(band, row + TURN, row + TURN, scale9(-1.0, block))
        # force balance, or the given position
        point = row3(loads.follower_point, end)
        force = add3(row3(loads.dead_point, end), quat_rotate(turn, point))
        turning = scale9(-1.0, mul_skew(quat_matrix(turn), point))
        compliance = 0.0
        if end == elements:
            compliance = system.tip_compliance[0]
            tip_force = row3(system.tip_force, 0)
            if system.tip_follows[0]:
                force = add3(force, quat_rotate(turn, tip_force))
                turning = add9(turning, scale9(-1.0, mul_skew(quat_matrix(turn), tip_force)))
            else:
                force = add3(force, tip_force)
        before = row3(state.n, end - 1) if end > 0 else (0.0, 0.0, 0.0)
        force_before, force_after = row - 3, row + width - 3  # of the elements on either side
        if system.held[end]:
            miss = sub3(row3(system.place, end), row3(state.r, end))
            if compliance > 0.0:
                miss = sub3(miss, scale3(compliance, sub3(before, force)))
            put_row(right, row + PLACE, miss)
            if tangent:
                add_block(band, row + PLACE, row + PLACE, IDENTITY)
                if compliance > 0.0:
                    add_block(band, row + PLACE, force_before, scale9(compliance, IDENTITY))
        else:
            after = (0.0, 0.0, 0.0)
            if end < elements:
                after = add3(row3(state.n, end), load3(P.load_n0, o, i))
            put_row(right, row + PLACE, sub3(add3(after, force), before))
            if tangent:
                if end > 0:
                    add_block(band, row + PLACE, force_before, IDENTITY)
                add_block(band, row + PLACE, row + TURN, scale9(-1.0, turning))
                if end < elements:
                    add_block(band, row + PLACE, force_after, scale9(-1.0, IDENTITY))
        if end < elements:
            element_rows(P, plan, system, q, residual, loads, end, tangent)


@kernel
def element_rows(P, plan, system, q, residual, loads, e, tangent):
    """Rows of an element's middle and span, and its columns in the moment and force balance of its ends."""
    stride, band, right, follower = plan.stride[0], system.band, system.right, loads.follower_force
    o, i = block_and_lane(e)
    width = LONG if stride == 2 else SHORT
    row = e * width
    after = row + width
    middle = row + MIDDLE
    force = row + width - 3
    node = stride * e
    put_row(right, force, scale3(-1.0, row3(residual.gap, e)))
    if stride == 2:
        moment, block = applied_moment(q, node + 1, system.weight[node + 1], -1, loads)
        put_row(right, middle, sub3(moment, row3(residual.moment, node + 1)))
    if not tangent:
        return
    h = P.length[o, C0, i]
    add_block(band, force, after + PLACE, IDENTITY)
    add_block(band, force, row + PLACE, scale9(-1.0, IDENTITY))
    if stride == 2:
        d00, d11, o01 = load9(P.d00, o, i), load9(P.d11, o, i), load9(P.o01, o, i)
        b0, b1 = load9(P.b0, o, i), load9(P.b1, o, i)
        o0m, om1, bm = load9(P.o0m, o, i), load9(P.om1, o, i), load9(P.bm, o, i)
        add_block(band, middle, middle, add9(load9(P.dmm, o, i), scale9(-1.0, block)))
        add_block(band, middle, row, transpose(o0m))
        add_block(band, middle, after, om1)
        add_block(band, middle, force, bm)
        add_block(band, force, middle, transpose(bm))
        add_block(band, force, force, load9(P.s, o, i))
        # known forces that turn: N0 and Nm depend on all three rotations
        whole0, wholem, whole1 = (
            load_turning(q, node, follower, h / 6.0),
            load_turning(q, node + 1, follower, 4.0 * h / 6.0),
            load_turning(q, node + 2, follower, h / 6.0),
        )
        half0, halfm, half1 = (
            load_turning(q, node, follower, -h / 24.0),
            load_turning(q, node + 1, follower, 8.0 * h / 24.0),
            load_turning(q, node + 2, follower, 5.0 * h / 24.0),
        )
        add_block(band, middle, row, mat_mul(bm, half0))
        add_block(band, middle, middle, mat_mul(bm, halfm))
        add_block(band, middle, after, mat_mul(bm, half1))
        if not plan.fixed[e]:
            add_block(band, row, middle, add9(o0m, mat_mul(b0, wholem)))
        if not plan.fixed[e + 1]:
            add_block(band, after, middle, transpose(om1))
        if not system.held[e]:
            add_block(band, row + PLACE, middle, scale9(-1.0, wholem))
    else:
        d00, d11, o01 = load9(P.cd00, o, i), load9(P.cd11, o, i), load9(P.co01, o, i)
        b0, b1 = load9(P.cb0, o, i), load9(P.cb1, o, i)
        add_block(band, force, force, load9(P.cs, o, i))
        whole0 = load_turning(q, node, follower, 0.5 * h)
        whole1 = load_turning(q, node + 1, follower, 0.5 * h)
    add_block(band, force, row, transpose(b0))
    add_block(band, force, after, transpose(b1))
    if not plan.fixed[e]:
        add_block(band, row, row, add9(d00, mat_mul(b0, whole0)))
        add_block(band, row, after, add9(o01, mat_mul(b0, whole1)))
        add_block(band, row, force, b0)
    if not plan.fixed[e + 1]:
        add_block(band, after, after, d11)
        add_block(band, after, row, transpose(o01))
        add_block(band, after, force, b1)
    if not system.held[e]:
        add_block(band, row + PLACE, row, scale9(-1.0, whole0))
        add_block(band, row + PLACE, after, scale9(-1.0, whole1))
