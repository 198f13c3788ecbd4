"""What remains of a step of hair when it is solved: out of the head, frames, strains, tensions, the new state."""

from __future__ import annotations

from sennit.bodies.rod.spline.kernels.basis import blend3
from sennit.bodies.rod.spline.kernels.strain import frame_carried, strains_of
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, dot3, scale3, sub3
from sennit.hair.kernels.front import KEPT, PLACED, SOLVED
from sennit.hair.kernels.head import distance, smaller
from sennit.hair.kernels.strand import (
    FACTOR, FRAME, PULL, bases_at, chosen3, flown, four, offsets, put_three, root_frame, three,
)  # fmt: skip
from sennit.lanes import four_at, larger, load, root, store, where

SHARES = (0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0)
"""Of what a sample is moved by, for the control points of its span."""


@inlined
def put_out(hair, base, stride, at, h, end, e, basis, sample, good):
    """Note what presses on a sample of span e at its new place, and put it out of the head where it is too deep.

    The displacements in `factors` change: of the span's control points the more the farther they are from the root, so
    that the rod is turned there and hardly stretched. Returns by how much all that follow are to be moved, and how deep
    it was.
    """
    factors, numbers = hair.factors, hair.numbers
    frames, pulls, presses, own = offsets(hair)
    a, _ = flown(hair, base, stride, h, e)
    b, _ = flown(hair, base, stride, h, e + 1)
    c, _ = flown(hair, base, stride, h, e + 2)
    d, _ = flown(hair, base, stride, h, e + 3)
    slot = at + stride * (KEPT * e + PLACED)
    x = blend3((a, b, c, d), basis)
    for i in range(4):
        o = slot + stride * KEPT * i
        x = (
            x[0] + basis[i] * load(factors, o), x[1] + basis[i] * load(factors, o + stride),
            x[2] + basis[i] * load(factors, o + 2 * stride),
        )  # fmt: skip
    far, n = distance(hair, end, x)
    gap = far - numbers[10]
    o = base + stride * (presses + sample)
    store(hair.state, o, where(good, larger(-numbers[11] / (h * h) * gap, 0.0), load(hair.state, o)))
    # the second control point of a rod is the root's
    push = where(gap < -numbers[19], -gap / (SHARES[1] * basis[1] + SHARES[2] * basis[2] + basis[3]), 0.0 * gap)
    push = smaller(push, numbers[2])
    for i in range(1, 4):
        o = slot + stride * KEPT * i
        for k in range(3):
            place = o + stride * k
            store(factors, place, load(factors, place) + SHARES[i] * push * n[k])
    return (push * n[0], push * n[1], push * n[2]), -gap


@inlined
def shift(hair, stride, at, i, move):
    """Move the place of control point i."""
    o = at + stride * (KEPT * i + PLACED)
    for k in range(3):
        store(hair.factors, o + stride * k, load(hair.factors, o + stride * k) + move[k])


@kernel
def clear_head(hair, base, stride, at, h, end, good):
    """Go through all samples once, from root to tip: see `put_out`. Returns how deep the deepest was."""
    spans = hair.counts[1]
    zero = 0.0 * load(hair.state, base)
    move, deepest = (zero, zero, zero), zero
    for e in range(1, spans):
        shift(hair, stride, at, e + 3, move)
        for row in range(2 * e, 2 * e + 2):
            basis = four_at(hair.bend_basis, row)
            push, deep = put_out(hair, base, stride, at, h, end, e, basis, row, good)
            move, deepest = add3(move, push), larger(deepest, deep)
    push, deep = put_out(hair, base, stride, at, h, end, spans - 1, (0.0, 0.0, 0.0, 1.0), 2 * spans, good)
    return larger(deepest, deep)


@inlined
def moved(hair, at, stride, i, q):
    """Displacement of control point i and its place after the step."""
    x = four(hair.factors, at + stride * KEPT * i, stride, PLACED)
    return x, (q[0] + x[0], q[1] + x[1], q[2] + x[2], q[3] + x[3])


@kernel
def accept_span(hair, base, stride, h, e, points, moves, places, good):
    """Carry frames, strains and tensions of span e to where its control points are."""
    state, numbers = hair.state, hair.numbers
    frames, pulls, presses, own = offsets(hair)
    rate, EA = numbers[14] / h, load(state, base + stride * (own + FACTOR)) * numbers[15]
    for row in range(2 * e, 2 * e + 2):
        bases, o = bases_at(hair, row), frames + FRAME * row
        a, b = blend3(points, bases[1]), blend3(points, bases[2])
        p, u, dp = three(state, base, stride, o), three(state, base, stride, o + 3), three(state, base, stride, o + 6)
        m, before = load(state, base + stride * (o + 9)), three(state, base, stride, o + 10)
        t, new, beta, twist = frame_carried(a, b, p, u, dp, m)
        a, b = blend3(places, bases[1]), blend3(places, bases[2])
        t, new, beta, twist = frame_carried(a, b, t, new, beta, twist)
        strains = strains_of(places, bases, new, twist, hair.bend_speed[row])
        put_three(state, base, stride, o, chosen3(good, t, p))
        put_three(state, base, stride, o + 3, chosen3(good, new, u))
        put_three(state, base, stride, o + 6, chosen3(good, beta, dp))
        store(state, base + stride * (o + 9), where(good, twist, m))
        put_three(state, base, stride, o + 10, chosen3(good, strains, before))
    for row in range(hair.stretch_first[e], hair.stretch_first[e + 1]):
        o = base + stride * (pulls + PULL * row)
        slopes, J = four_at(hair.stretch_slope, row), hair.stretch_speed[row]
        a, change = blend3(points, slopes), blend3(moves, slopes)
        j, old, last = root(dot3(a, a)), load(state, o), load(state, o + stride)
        strain = j / J - 1.0 + dot3(a, change) / (j * J)
        store(state, o, where(good, EA * ((1.0 + rate) * strain - rate * last), old))
        a = blend3(places, slopes)
        store(state, o + stride, where(good, root(dot3(a, a)) / J - 1.0, last))


@kernel
def keep_rates(hair, base, stride, at, h):
    """The rates after the step: what puts samples out of the head, later, is no motion."""
    n, per_step = hair.counts[0], 1.0 / h
    for i in range(n):
        slot = at + stride * (KEPT * i)
        for k in range(4):
            x = load(hair.factors, slot + stride * (PLACED + k))
            o = base + stride * (4 * n + 4 * i + k)
            v = load(hair.state, o)
            # where free flight took it is still needed: the new rate waits where the solution was
            store(hair.factors, slot + stride * (SOLVED + k), v + per_step * x)


@kernel
def stand_still(hair, base, stride, at, h, end, which):
    """Let some lanes stay where they are, at rest, but for their roots, which go where the head takes them."""
    n, factors, state = hair.counts[0], hair.factors, hair.state
    place, d1, d2, d3 = root_frame(hair, base, stride, end)
    gap = sub3(three(state, base, stride, 4), three(state, base, stride, 0))
    first = root(dot3(gap, gap))
    second = add3(place, scale3(first, d3))
    for i in range(n):
        slot = at + stride * KEPT * i
        for k in range(4):
            v = load(state, base + stride * (4 * n + 4 * i + k))
            x = -h * v
            if k < 3 and i == 1:
                x = second[k] - load(state, base + stride * (4 + k)) + x
            elif i == 0:
                x = load(factors, slot + stride * PLACED + stride * k)
            o, p = slot + stride * (PLACED + k), slot + stride * (SOLVED + k)
            store(factors, o, where(which, x, load(factors, o)))
            store(factors, p, where(which, 0.0 * v, load(factors, p)))


@kernel
def accept(hair, base, stride, at, h, good):
    """Make the places in `factors` the state."""
    n, spans, state = hair.counts[0], hair.counts[1], hair.state
    a, _ = flown(hair, base, stride, h, 0)
    b, _ = flown(hair, base, stride, h, 1)
    c, _ = flown(hair, base, stride, h, 2)
    d, _ = flown(hair, base, stride, h, 3)
    da, pa = moved(hair, at, stride, 0, a)
    db, pb = moved(hair, at, stride, 1, b)
    dc, pc = moved(hair, at, stride, 2, c)
    dd, pd = moved(hair, at, stride, 3, d)
    for e in range(spans):
        if e > 0:
            a, b, c, da, db, dc, pa, pb, pc = b, c, d, db, dc, dd, pb, pc, pd
            d, _ = flown(hair, base, stride, h, e + 3)
            dd, pd = moved(hair, at, stride, e + 3, d)
        accept_span(hair, base, stride, h, e, (a, b, c, d), (da, db, dc, dd), (pa, pb, pc, pd), good)
    for i in range(n):
        q, _ = flown(hair, base, stride, h, i)
        _, place = moved(hair, at, stride, i, q)
        for k in range(4):
            o, p = base + stride * (4 * i + k), base + stride * (4 * n + 4 * i + k)
            store(state, o, where(good, place[k], load(state, o)))
            store(state, p, where(good, load(hair.factors, at + stride * (KEPT * i + SOLVED + k)), load(state, p)))
