"""Forces and stiffness of a spline rod, summed over its integration points. The equations are those of `strain`.

Kelvin–Voigt damping adds rate (ε − ε_last) to each strain in excess of rest, rate = relaxation time / step. Stiffness
and relaxation time are numbers of each point.

Four spans are made at once, in the lanes of packs (`lanes`): the k-th point of each, then the next one. What the points
of a span add up to is kept in `work`, one pack to a row, and then added to the scene's force and matrix span by span.
The functions of one point take the rows of four of them; with one row they compute one span with plain numbers, where
`work` has one number to a row (so do the tests).
"""

from __future__ import annotations

from sennit.bodies.rod.branches.kernels.act import has_branches
from sennit.bodies.rod.spline.kernels.basis import (
    at_once, blend3, blend_roll, control_dofs_of_four, controls, four_from,
)  # fmt: skip
from sennit.bodies.rod.spline.kernels.strain import directors, tangent_of
from sennit.compilation import inlined, kernel, single
from sennit.geometry.kernels.algebra import cross3, dot3, scale3
from sennit.lanes import add_four_at, at, four_at, larger, load, pack, root, store, three_at

# Rows of `work`: the span's stiffness, 16 × 16, of which blocks on and above the diagonal are used; H B of one point,
# 8 × 16; the span's force; N, N′ and N″ of one point.
HALF = 256
FORCE = HALF + 128
BASIS = FORCE + 16


@inlined
def bending(points, bases, w, B1, B2, GJ, J, rest, last, u1, m, rate):
    """What force and stiffness share at a bending point: 1/j, t, β, β₃, d1, d2, M1, M2 and Mt.

    `J` is its speed at rest, `rest` and `last` its strains without load and in the state, u1 and m its frame.
    """
    values, slopes, curves = bases
    theta, dtheta = blend_roll(points, values), blend_roll(points, slopes)
    k, t, beta, beta3 = tangent_of(blend3(points, slopes), blend3(points, curves))
    d1, d2 = directors(theta, t, u1)
    per_rest = 1.0 / J
    kappa1, kappa2 = -dot3(beta, d2) * per_rest, dot3(beta, d1) * per_rest
    tau = (dtheta + m) * per_rest
    M1 = w * B1 * (kappa1 - rest[0] + rate * (kappa1 - last[0]))
    M2 = w * B2 * (kappa2 - rest[1] + rate * (kappa2 - last[1]))
    Mt = w * GJ * (tau - rest[2] + rate * (tau - last[2]))
    return k, t, beta, beta3, d1, d2, M1, M2, Mt


@inlined
def add_at(work, row, x):
    """Add x to a row of `work`."""
    store(work, row, load(work, row) + x)


@inlined
def keep_bases(bases, work):
    """N, N′ and N″ of a point in `work`, where loops over control points find them."""
    for k in range(3):
        n0, n1, n2, n3 = bases[k]
        store(work, BASIS + 4 * k, n0)
        store(work, BASIS + 4 * k + 1, n1)
        store(work, BASIS + 4 * k + 2, n2)
        store(work, BASIS + 4 * k + 3, n3)


@inlined
def basis_of(i, work):
    """N, N′ and N″ of the span's control point i."""
    return load(work, BASIS + i), load(work, BASIS + 4 + i), load(work, BASIS + 8 + i)


@inlined
def add_bending_force(k, t, beta, beta3, d1, d2, M1, M2, Mt, weight, work):
    """Subtract weight × the gradient of a bending point's energy from the span's force.

    With M = M1 d1 + M2 d2 and p = t × M it is, by a, b, θ and θ′: (β₃ p + Mt t×β + (p·β) t)/j, −p/j, M·β and Mt. The
    term t×β/j is how the reference twist m follows the shape; leaving it out gives wrong equilibria, not slow ones.
    """
    on1, on2 = dot3(beta, d1), dot3(beta, d2)
    p_beta, f = M1 * on2 - M2 * on1, -weight * k
    turn = cross3(t, beta)
    fp, fb, ft = f * beta3, f * Mt, f * p_beta
    p0, p1, p2 = M1 * d2[0] - M2 * d1[0], M1 * d2[1] - M2 * d1[1], M1 * d2[2] - M2 * d1[2]
    a0, a1, a2 = (
        fp * p0 + fb * turn[0] + ft * t[0],
        fp * p1 + fb * turn[1] + ft * t[1],
        fp * p2 + fb * turn[2] + ft * t[2],
    )
    b0, b1, b2 = -f * p0, -f * p1, -f * p2
    roll, twist = -weight * (M1 * on1 + M2 * on2), -weight * Mt
    for i in range(4):
        value, slope, curve = basis_of(i, work)
        o = FORCE + 4 * i
        add_at(work, o, slope * a0 + curve * b0)
        add_at(work, o + 1, slope * a1 + curve * b1)
        add_at(work, o + 2, slope * a2 + curve * b2)
        add_at(work, o + 3, value * roll + slope * twist)


@inlined
def bending_rows(x, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact):
    """Rows a_x and b_x of the Hessian by a, b, θ, θ′: over a (3), over b (3), over a (3), over b (3), aθ, bθ, aθ′.

    Gauss–Newton from the rows of J κ1, J κ2 and J τ::

        κ1: (β₃ d2 + (β·d2) t)/j, −d2/j, β·d1, 0     κ2: −(β₃ d1 + (β·d1) t)/j, d1/j, β·d2, 0     τ: t×β/j, 0, 0, 1

    and the rest of the exact one::

        aa: [½(p βᵀ + β pᵀ) + (p·β)(1 − 3 t tᵀ) + t qᵀ + q tᵀ]/j²,  q = −2 β₃ p − (3/2) Mt t×β
        ab: [p tᵀ + t pᵀ + ½ Mt [t]]/j²    bb: 0    aθ: −(β₃ M + (M·β) t)/j    bθ: M/j    θθ: p·β
    """
    on1, on2 = dot3(beta, d1), dot3(beta, d2)
    turn = cross3(t, beta)
    k1, k2 = k * beta3, k * on2
    c1 = k1 * d2[0] + k2 * t[0], k1 * d2[1] + k2 * t[1], k1 * d2[2] + k2 * t[2]
    k2 = k * on1
    c2 = -k1 * d1[0] - k2 * t[0], -k1 * d1[1] - k2 * t[1], -k1 * d1[2] - k2 * t[2]
    wa1, wa2, wat, wb1, wb2 = w1 * c1[x], w2 * c2[x], wt * k * turn[x], -w1 * k * d2[x], w2 * k * d1[x]
    kt = k * wat
    aa0 = wa1 * c1[0] + wa2 * c2[0] + kt * turn[0]
    aa1 = wa1 * c1[1] + wa2 * c2[1] + kt * turn[1]
    aa2 = wa1 * c1[2] + wa2 * c2[2] + kt * turn[2]
    ba0, ba1, ba2 = wb1 * c1[0] + wb2 * c2[0], wb1 * c1[1] + wb2 * c2[1], wb1 * c1[2] + wb2 * c2[2]
    k1, k2 = k * wa1, k * wa2
    ab0, ab1, ab2 = k2 * d1[0] - k1 * d2[0], k2 * d1[1] - k1 * d2[1], k2 * d1[2] - k1 * d2[2]
    k1, k2 = k * wb1, k * wb2
    bb = k2 * d1[0] - k1 * d2[0], k2 * d1[1] - k1 * d2[1], k2 * d1[2] - k1 * d2[2]
    a_roll, b_roll = wa1 * on1 + wa2 * on2, wb1 * on1 + wb2 * on2
    if exact:
        p = M1 * d2[0] - M2 * d1[0], M1 * d2[1] - M2 * d1[1], M1 * d2[2] - M2 * d1[2]
        p_beta, kk = M1 * on2 - M2 * on1, k * k
        g, h = -2.0 * beta3, -1.5 * Mt
        # Row x of the sum is a combination of p, β, t and t×β, and (p·β) on the diagonal.
        by_p, by_beta, by_turn = kk * (0.5 * beta[x] + g * t[x]), 0.5 * kk * p[x], kk * h * t[x]
        by_t = kk * (g * p[x] + h * turn[x] - 3.0 * p_beta * t[x])
        aa0 += by_p * p[0] + by_beta * beta[0] + by_turn * turn[0] + by_t * t[0]
        aa1 += by_p * p[1] + by_beta * beta[1] + by_turn * turn[1] + by_t * t[1]
        aa2 += by_p * p[2] + by_beta * beta[2] + by_turn * turn[2] + by_t * t[2]
        by_p, by_t, spin = kk * t[x], kk * p[x], 0.5 * kk * Mt
        e0, e1, e2 = by_p * p[0] + by_t * t[0], by_p * p[1] + by_t * t[1], by_p * p[2] + by_t * t[2]
        if x == 0:
            aa0 += kk * p_beta
            s0, s1, s2 = 0.0, -spin * t[2], spin * t[1]
        elif x == 1:
            aa1 += kk * p_beta
            s0, s1, s2 = spin * t[2], 0.0, -spin * t[0]
        else:
            aa2 += kk * p_beta
            s0, s1, s2 = -spin * t[1], spin * t[0], 0.0
        ab0, ab1, ab2 = ab0 + e0 + s0, ab1 + e1 + s1, ab2 + e2 + s2
        ba0, ba1, ba2 = ba0 + e0 - s0, ba1 + e1 - s1, ba2 + e2 - s2
        Mx = M1 * d1[x] + M2 * d2[x]
        a_roll -= k * (beta3 * Mx + (M1 * on1 + M2 * on2) * t[x])
        b_roll += k * Mx
    return (aa0, aa1, aa2), (ab0, ab1, ab2), (ba0, ba1, ba2), bb, a_roll, b_roll, wat


@inlined
def put_bending(x, rows, work):
    """Write rows x, 3 + x of G = H B (8, 16), which follows the 16 × 16 numbers of a span in `work`; see `HALF`.

    B holds the derivatives of the 8 local variables a, b, θ, θ′ by the span's 16 degrees of freedom.
    """
    aa, ab, ba, bb, a_roll, b_roll, a_twist = rows
    for i in range(4):
        value, slope, curve = basis_of(i, work)
        o = HALF + 16 * x + 4 * i
        store(work, o, slope * aa[0] + curve * ab[0])
        store(work, o + 1, slope * aa[1] + curve * ab[1])
        store(work, o + 2, slope * aa[2] + curve * ab[2])
        store(work, o + 3, value * a_roll + slope * a_twist)
        store(work, o + 48, slope * ba[0] + curve * bb[0])
        store(work, o + 49, slope * ba[1] + curve * bb[1])
        store(work, o + 50, slope * ba[2] + curve * bb[2])
        store(work, o + 51, value * b_roll)
        store(work, HALF + 96 + 4 * i + x, slope * a_roll + curve * b_roll)
        store(work, HALF + 112 + 4 * i + x, slope * a_twist)


@inlined
def add_bending_stiffness(k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact, weight, first, work):
    """Add weight × the Hessian of a bending point's energy to the span's 16 × 16 numbers in `work`: Bᵀ (H B).

    `first`: it is the span's first point, and what was there is of no interest.
    """
    put_bending(0, bending_rows(0, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact), work)
    put_bending(1, bending_rows(1, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact), work)
    put_bending(2, bending_rows(2, k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact), work)
    on1, on2 = dot3(beta, d1), dot3(beta, d2)
    roll = w1 * on1 * on1 + w2 * on2 * on2
    if exact:
        roll += M1 * on2 - M2 * on1
    for i in range(4):
        value, slope, curve = basis_of(i, work)
        store(work, HALF + 99 + 4 * i, value * roll)
        store(work, HALF + 115 + 4 * i, slope * wt)
    for p in range(4):
        value, slope, curve = basis_of(p, work)
        value, slope, curve = weight * value, weight * slope, weight * curve
        for x in range(3):
            for c in range(16 * x + 4 * p, 16 * x + 16):
                total = slope * load(work, HALF + c) + curve * load(work, HALF + 48 + c)
                if not first:
                    total = load(work, 64 * p + c) + total
                store(work, 64 * p + c, total)
        for c in range(4 * p, 16):
            total = value * load(work, HALF + 96 + c) + slope * load(work, HALF + 112 + c)
            if not first:
                total = load(work, 64 * p + 48 + c) + total
            store(work, 64 * p + 48 + c, total)


@inlined
def add_bending_point(points, row, share, bends, elastic, frames, per_time, exact, weight_f, weight_k, first, work):
    """Add force and stiffness of a bending point to those of its span in `work`.

    `share` is 1, or 0 where there is no such point. `elastic`: its stiffness and rest strains. `first`: see
    `add_bending_stiffness`.
    """
    stiffness, free = elastic
    bases = four_at(bends.basis, row), four_at(bends.slope_basis, row), four_at(bends.bend_basis, row)
    w, J = share * at(bends.weight, row), at(bends.speed, row)
    rest, last = three_at(free, row), three_at(frames.strain, row)
    u1, m = three_at(frames.reference, row), at(frames.twist, row)
    B1, B2, GJ = three_at(stiffness, row)
    rate = per_time * at(bends.relaxation, row)
    add_bending(points, bases, w, B1, B2, GJ, J, rest, last, u1, m, rate, exact, weight_f, weight_k, first, work)


@inlined
def add_bending(points, bases, w, B1, B2, GJ, J, rest, last, u1, m, rate, exact, weight_f, weight_k, first, work):
    """`add_bending_point` of the numbers of a point: see `bending`."""
    k, t, beta, beta3, d1, d2, M1, M2, Mt = bending(points, bases, w, B1, B2, GJ, J, rest, last, u1, m, rate)
    keep_bases(bases, work)
    add_bending_force(k, t, beta, beta3, d1, d2, M1, M2, Mt, weight_f, work)
    if weight_k != 0.0:
        scale = (1.0 + rate) * w / J
        w1, w2, wt = scale * B1, scale * B2, scale * GJ
        add_bending_stiffness(k, t, beta, beta3, d1, d2, M1, M2, Mt, w1, w2, wt, exact, weight_k, first, work)


@inlined
def add_stretching_stiffness(t, along, across, slopes, work):
    """Add N′ᵢ N′ⱼ (along t tᵀ + across 1) to the span's 16 × 16 numbers in `work`."""
    a0, a1, a2 = along * t[0], along * t[1], along * t[2]
    rows = (
        (a0 * t[0] + across, a0 * t[1], a0 * t[2]),
        (a1 * t[0], a1 * t[1] + across, a1 * t[2]),
        (a2 * t[0], a2 * t[1], a2 * t[2] + across),
    )
    for i in range(4):
        for j in range(i, 4):
            both = slopes[i] * slopes[j]
            for x in range(3):
                o = 64 * i + 16 * x + 4 * j
                add_at(work, o, both * rows[x][0])
                add_at(work, o + 1, both * rows[x][1])
                add_at(work, o + 2, both * rows[x][2])


@inlined
def add_stretching_point(points, row, share, stretches, tensions, per_time, weight_f, weight_k, push, work):
    """Add `share` (1, or 0 where there is no such point) of a stretching point to its span's force and stiffness.

    Force from N = EA (ε + rate (ε − ε_last)): the gradient of its energy by a is w N t. Stiffness (EA w/J) t tᵀ +
    (w N/j)(1 − t tᵀ), where N is the stored tension: an unknown of its own, which the step updates linearly.
    """
    slopes = four_at(stretches.slope_basis, row)
    w, J = share * at(stretches.weight, row), at(stretches.speed, row)
    last, tension = at(tensions.strain, row), at(tensions.tension, row)
    EA, rate = at(stretches.stiffness, row), per_time * at(stretches.relaxation, row)
    add_stretching(points, slopes, w, EA, J, last, tension, rate, weight_f, weight_k, push, work)


@inlined
def add_stretching(points, slopes, w, EA, J, last, tension, rate, weight_f, weight_k, push, work):
    """`add_stretching_point` of the numbers of a point: its speed J at rest, its strain and tension in the state."""
    a = blend3(points, slopes)
    j = root(dot3(a, a))
    t = scale3(1.0 / j, a)
    strain = j / J - 1.0
    pull = -weight_f * w * EA * (strain + rate * (strain - last))
    for i in range(4):
        slope = pull * slopes[i]
        add_at(work, FORCE + 4 * i, slope * t[0])
        add_at(work, FORCE + 4 * i + 1, slope * t[1])
        add_at(work, FORCE + 4 * i + 2, slope * t[2])
    if weight_k != 0.0:
        if push == 0:
            tension = larger(tension, 0.0)
        across = weight_k * w * tension / j
        along = weight_k * w * EA * (1.0 + rate) / J - across
        add_stretching_stiffness(t, along, across, slopes, work)


@inlined
def add_control_point(p, place, dof, band, count, weight_k, work, force, values):
    """Add what `work` has for the control point p of `count` spans, whose degrees of freedom begin at `place`."""
    o = FORCE + 4 * p
    add_four_at(force, place, 1, 0, count, (load(work, o), load(work, o + 1), load(work, o + 2), load(work, o + 3)))
    if weight_k == 0.0:
        return
    for x in range(4):
        for i in range(p, 4):
            o = 64 * p + 16 * x + 4 * i
            block = (load(work, o), load(work, o + 1), load(work, o + 2), load(work, o + 3))
            add_four_at(values, place, 16, band - 16 * dof + 16 * x + 4 * (i - p), count, block)


@inlined
def add_spans(dofs, dof, band, count, weight_k, work, force, values):
    """Add the forces and stiffnesses of `count` spans in `work` to the scene's.

    The last control point first: so a control point gets its sums in the order of the spans.
    """
    add_control_point(3, dofs[3], dof, band, count, weight_k, work, force, values)
    add_control_point(2, dofs[2], dof, band, count, weight_k, work, force, values)
    add_control_point(1, dofs[1], dof, band, count, weight_k, work, force, values)
    add_control_point(0, dofs[0], dof, band, count, weight_k, work, force, values)


@inlined
def count_points(span, row, end, e):
    """How many of the rows from `row` on, before `end`, are points of span e."""
    count = 0
    while row + count < end and span[row + count] == e:
        count += 1
    return count


@inlined
def rows_of_four(span, row, end, spans):
    """First rows and numbers of the points in four spans, the most that one of them has, and the row after them.

    Points come span by span, from `row` on. A span that stands for none, since there are less than four, has none.
    """
    a = count_points(span, row, end, spans[0])
    b = count_points(span, row + a, end, spans[1])
    c = count_points(span, row + a + b, end, spans[2])
    d = count_points(span, row + a + b + c, end, spans[3])
    first = row, row + a, row + a + b, row + a + b + c
    return first, (a, b, c, d), max(max(a, b), max(c, d)), row + a + b + c + d


@inlined
def point_of_four(k, first, count, end):
    """Rows of the k-th points of four spans, and 1 for each; where a span has no such point, another row and 0."""
    rows = (
        first[0] + k if k < count[0] else min(first[0], end - 1),
        first[1] + k if k < count[1] else min(first[1], end - 1),
        first[2] + k if k < count[2] else min(first[2], end - 1),
        first[3] + k if k < count[3] else min(first[3], end - 1),
    )
    share = pack(
        1.0 if k < count[0] else 0.0, 1.0 if k < count[1] else 0.0,
        1.0 if k < count[2] else 0.0, 1.0 if k < count[3] else 0.0,
    )  # fmt: skip
    return rows, share


@single(rows_of_four)
@inlined
def rows_of_one(span, row, end, e):
    """`rows_of_four` of the span e."""
    count = count_points(span, row, end, e)
    return row, count, count, row + count


@single(point_of_four)
@inlined
def point_of_one(k, first, count, end):
    """`point_of_four` of one span."""
    return (first + k, 1.0) if k < count else (min(first, end - 1), 0.0)


@kernel
def assemble(rod, kind, q, frames, tensions, per_time, exact, weight_f, weight_k, push, force, values):
    """Add weight_f × (elastic and damping force) of a rod to `force`, weight_k × (its stiffness) to `values`.

    `frames` are carried to q. `per_time` is one over the step (0.0 in statics); `exact` 1 for the exact Hessian of
    bending and twist, 0 for Gauss–Newton; `weight_k` 0.0 skips the stiffness; `push` 1 to use a negative stored tension
    as it is, 0 to take 0 for it.

    The entry between DOF a of control point i and DOF b of control point i + k is at values[band + 64 i + 16 a + 4 k +
    b]; at k = 0 both triangles are written. Both outputs are added to: the caller clears them.
    """
    rods, bends, stretches, work = kind.rods, kind.bends, kind.stretches, kind.span_block
    dof, n, band, spans = rods.dof[rod], rods.count[rod], rods.band[rod], rods.spans[rod]
    bend, bend_end = rods.bend_first[rod], rods.bend_end[rod]
    stretch, stretch_end = rods.stretch_first[rod], rods.stretch_end[rod]
    elastic = bends.stiffness, bends.rest
    if has_branches(rod, kind):
        elastic = kind.acting.stiffness, kind.acting.rest
    for start in range(0, spans, at_once()):
        four = four_from(start, spans - 1)
        dofs = control_dofs_of_four(four, dof, n)
        points = controls(q, dofs)
        for i in range(16):
            store(work, FORCE + i, 0.0)
        first, count, most, bend = rows_of_four(bends.span, bend, bend_end, four)
        for k in range(max(most, 1)):
            rows, share = point_of_four(k, first, count, bend_end)
            add_bending_point(
                points, rows, share, bends, elastic, frames, per_time, exact, weight_f, weight_k, k == 0, work
            )
        first, count, most, stretch = rows_of_four(stretches.span, stretch, stretch_end, four)
        for k in range(most):
            rows, share = point_of_four(k, first, count, stretch_end)
            add_stretching_point(points, rows, share, stretches, tensions, per_time, weight_f, weight_k, push, work)
        add_spans(dofs, dof, band, spans - start, weight_k, work, force, values)
