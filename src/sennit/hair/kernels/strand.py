"""One step of a rod of hair, or of four in the lanes of packs: linearised backward Euler, as a scene makes it.

The numbers of a rod lie at ``base + stride * k`` of `hair.state`, k = 0, 1, …::

    4 n         control points: x, y, z (m), roll (rad)
    4 n         their rates
    13 nb       bending points: t, u1, t′, m, κ1, κ2, τ            (`Bends` and `BendStates` of spline rods)
    2 ns        stretching points: stored tension (N), strain
    nb + 1      samples, which are the bending points and the tip: force between it and the head, N
    14          stiffness factor; κ̂1, κ̂2, τ̂; root in the head's frame: place, d3, d1; status

The root's unknowns are known: the place and the roll of the first control point, and the second one but for its place
along d3. `hair.numbers` is what `sennit.hair.tables` says.
"""

from __future__ import annotations

from sennit.bodies.rod.spline.kernels.basis import blend3
from sennit.bodies.rod.spline.kernels.forces import FORCE, add_at, add_bending, add_stretching
from sennit.bodies.rod.spline.kernels.strain import frame_carried, strains_of
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3, wider
from sennit.geometry.kernels.angles import sincos
from sennit.hair.kernels.front import (
    KEPT, PLACED, SOLVED, clear_front, eliminate, move_up, prescribe, row_at, substitute, turn_first,
)  # fmt: skip
from sennit.hair.kernels.head import distance, smaller, surface_velocity, to_world, turned
from sennit.lanes import every, four_at, larger, load, root, store, where

FRAME, PULL, OWN = 13, 2, 14
FACTOR, REST, ROOT, STATUS = 0, 1, 4, 13
"""Among a rod's own numbers."""
WIDEST = 0.0873321925451609
"""sin²(0.3 rad): where a tangent turns further, the exact stiffness has led too far, as in a scene."""
HUGE = 1e6
"""Displacement over the length of a rod that no step makes."""
SHARES = (0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0)
"""Of what a sample is moved by, for the control points of its span."""
PARTS = 8
"""Of a step that leads too far as a whole."""
SHARE = 0.25
"""Of the kinetic energy: what a step may put into stretching without knowing, as in a scene."""
ROUND = 1.0
"""Measure of a right angle, by which no tangent turns in a step."""
MODES = 4
"""Ways to make the matrix, the most exact first."""
DONE, FAILED = 4.0, 5.0


# --------------------------------------------------------------------------------------------------------- its numbers


@inlined
def four(memory, base, stride, k):
    """Four numbers of a rod, from number k on."""
    o = base + stride * k
    return load(memory, o), load(memory, o + stride), load(memory, o + 2 * stride), load(memory, o + 3 * stride)


@inlined
def three(memory, base, stride, k):
    """Three numbers of a rod, from number k on."""
    o = base + stride * k
    return load(memory, o), load(memory, o + stride), load(memory, o + 2 * stride)


@inlined
def put_three(memory, base, stride, k, x):
    """Write three numbers of a rod."""
    o = base + stride * k
    store(memory, o, x[0])
    store(memory, o + stride, x[1])
    store(memory, o + 2 * stride, x[2])


@inlined
def chosen3(condition, x, y):
    """`where` of vectors."""
    return where(condition, x[0], y[0]), where(condition, x[1], y[1]), where(condition, x[2], y[2])


@inlined
def offsets(hair):
    """Where frames, tensions, forces of samples and the rod's own numbers begin."""
    n, bends, stretches = hair.counts[0], hair.counts[2], hair.counts[3]
    frames = 8 * n
    pulls = frames + FRAME * bends
    presses = pulls + PULL * stretches
    return frames, pulls, presses, presses + bends + 1


@inlined
def flown(hair, base, stride, h, i):
    """Where free flight takes control point i in h (s), and its rates."""
    n = hair.counts[0]
    q, v = four(hair.state, base, stride, 4 * i), four(hair.state, base, stride, 4 * n + 4 * i)
    return (q[0] + h * v[0], q[1] + h * v[1], q[2] + h * v[2], q[3] + h * v[3]), v


@inlined
def bases_at(hair, row):
    """N, N′ and N″ at a bending point."""
    return four_at(hair.bend_basis, row), four_at(hair.bend_slope, row), four_at(hair.bend_curve, row)


# -------------------------------------------------------------------------------------------------------------- root


@inlined
def root_frame(hair, base, stride, pose):
    """Place, d1, d2 and d3 of the root in one of the head's poses."""
    frames, pulls, presses, own = offsets(hair)
    place = to_world(hair.poses, pose, three(hair.state, base, stride, own + ROOT))
    d3 = turned(hair.poses, pose, three(hair.state, base, stride, own + ROOT + 3))
    d1 = turned(hair.poses, pose, three(hair.state, base, stride, own + ROOT + 6))
    return place, d1, cross3(d3, d1), d3


@kernel
def root_roll(hair, base, stride, start, end):
    """By what angle the root turns about its own direction between two poses, rad, beyond what carries its frame."""
    _, u, _, p = root_frame(hair, base, stride, start)
    _, d1, _, t = root_frame(hair, base, stride, end)
    k = dot3(u, t) / larger(1.0 + dot3(p, t), 1e-12)
    u = u[0] - k * (p[0] + t[0]), u[1] - k * (p[1] + t[1]), u[2] - k * (p[2] + t[2])
    sine, cosine = dot3(cross3(u, d1), t), dot3(u, d1)
    angle = 2.0 * sine / larger(1.0 + cosine, 0.1)
    for _ in range(4):
        s, c = sincos(angle)
        angle = angle + sine * c - cosine * s
    return angle


@inlined
def hold_first(hair, base, stride, start, end, q, work, at):
    """The first control point goes where the root goes."""
    place, d1, d2, d3 = root_frame(hair, base, stride, end)
    roll = load(hair.state, base + 3 * stride) + root_roll(hair, base, stride, start, end)
    prescribe(0, place[0] - q[0], work, hair.factors, at, stride)
    prescribe(1, place[1] - q[1], work, hair.factors, at, stride)
    prescribe(2, place[2] - q[2], work, hair.factors, at, stride)
    prescribe(3, roll - q[3], work, hair.factors, at, stride)


@inlined
def hold_second(hair, base, stride, end, q, work, at):
    """The second control point stays on the line along which the root points; its unknowns are turned."""
    place, d1, d2, d3 = root_frame(hair, base, stride, end)
    gap = sub3(place, (q[0], q[1], q[2]))
    turn_first(work, d1, d2, d3)
    prescribe(0, dot3(gap, d1), work, hair.factors, at, stride)
    prescribe(1, dot3(gap, d2), work, hair.factors, at, stride)


# ------------------------------------------------------------------------------------------------------------- matrix


@inlined
def mass_weight(hair, h):
    """Weight of mass in the matrix of a step of h, 1/s²."""
    return 1.0 / (h * h) + hair.numbers[3] / h


@inlined
def add_masses(hair, h, c, k, v, w, work):
    """Mass and drag between control point c, the last of the front, and the one k before it; weight if k is 0.

    v and w are the rates of the two.
    """
    numbers, weight = hair.numbers, mass_weight(hair, h)
    o, p = 4 * (3 - k), FORCE + 12 - 4 * k
    m, s = hair.mass[c - k, k], hair.roll[c - k, k]
    for x in range(4):
        share = s if x == 3 else m
        drag = numbers[3] * share
        add_at(work, row_at(o + x) + 12 + x, weight * share)
        wind = 0.0 if x == 3 else numbers[7 + x]
        add_at(work, p + x, -drag * (v[x] - wind))
        if k > 0:
            add_at(work, FORCE + 12 + x, -drag * (w[x] - wind))
        elif x < 3:
            add_at(work, p + x, hair.total[c] * numbers[4 + x])


@inlined
def add_contact(hair, h, start, end, basis, points, rates, press, work):
    """The head's one-sided spring against a sample, and friction as a damper along the surface.

    It acts where free flight ends in the head, and where the head pressed in the last step, else what rests on it would
    fall for a step whenever rounding lifts it: weight is not in free flight.
    """
    x, numbers = blend3(points, basis), hair.numbers
    d, n = distance(hair, end, x)
    gap = d - numbers[10]
    acts = (gap < 0.0) | ((press > 0.0) & (gap < numbers[10]))
    stiff = where(acts, numbers[11] / (h * h), 0.0 * gap)
    slip = sub3(blend3(rates, basis), surface_velocity(hair, h, start, end, x))
    slip = sub3(slip, scale3(dot3(slip, n), n))
    drag = numbers[12] * press / larger(root(dot3(slip, slip)), numbers[13])
    drag = where(acts, drag, 0.0 * gap)
    pull, across = -stiff * gap, drag / h
    f = (pull * n[0] - drag * slip[0], pull * n[1] - drag * slip[1], pull * n[2] - drag * slip[2])
    along = stiff - across
    rows = (
        (along * n[0] * n[0] + across, along * n[0] * n[1], along * n[0] * n[2]),
        (along * n[1] * n[0], along * n[1] * n[1] + across, along * n[1] * n[2]),
        (along * n[2] * n[0], along * n[2] * n[1], along * n[2] * n[2] + across),
    )
    for i in range(4):
        for a in range(3):
            add_at(work, FORCE + 4 * i + a, basis[i] * f[a])
        for j in range(i, 4):
            both = basis[i] * basis[j]
            for a in range(3):
                for b in range(3):
                    add_at(work, row_at(4 * i + a) + 4 * j + b, both * rows[a][b])


@inlined
def touches(hair):
    """Whether there is a head to be touched."""
    return hair.shapes.shape[0] + hair.values.size > 0


@inlined
def add_span(hair, base, stride, h, start, end, e, points, rates, exact, push, work):
    """Add the points of span e to the front."""
    state, numbers = hair.state, hair.numbers
    frames, pulls, presses, own = offsets(hair)
    factor, rate = load(state, base + stride * (own + FACTOR)), numbers[14] / h
    rest = three(state, base, stride, own + REST)
    B1, B2, GJ, EA = factor * numbers[16], factor * numbers[17], factor * numbers[18], factor * numbers[15]
    for row in range(2 * e, 2 * e + 2):
        bases, o = bases_at(hair, row), frames + FRAME * row
        a, b = blend3(points, bases[1]), blend3(points, bases[2])
        p, u, dp = three(state, base, stride, o), three(state, base, stride, o + 3), three(state, base, stride, o + 6)
        t, u, beta, m = frame_carried(a, b, p, u, dp, load(state, base + stride * (o + 9)))
        last = three(state, base, stride, o + 10)
        w, J = hair.bend_weight[row], hair.bend_speed[row]
        add_bending(points, bases, w, B1, B2, GJ, J, rest, last, u, m, rate, exact, 1.0, 1.0, False, work)
        if e > 0 and touches(hair):
            press = load(state, base + stride * (presses + row))
            add_contact(hair, h, start, end, bases[0], points, rates, press, work)
    for row in range(hair.stretch_first[e], hair.stretch_first[e + 1]):
        o = base + stride * (pulls + PULL * row)
        w, J, slopes = hair.stretch_weight[row], hair.stretch_speed[row], four_at(hair.stretch_slope, row)
        tension, last = load(state, o), load(state, o + stride)
        add_stretching(points, slopes, w, EA, J, last, tension, rate, 1.0, 1.0, push, work)
    if e + 1 == hair.counts[1] and touches(hair):
        press = load(state, base + stride * (presses + 2 * e + 2))
        add_contact(hair, h, start, end, (0.0, 0.0, 0.0, 1.0), points, rates, press, work)


@kernel
def make_front(hair, base, stride, at, h, start, end, exact, push, work):
    """Make the matrix from root to tip and eliminate it on the way; the least of the pivots."""
    n, spans = hair.counts[0], hair.counts[1]
    clear_front(work)
    a, va = flown(hair, base, stride, h, 0)
    b, vb = flown(hair, base, stride, h, 1)
    c, vc = flown(hair, base, stride, h, 2)
    d, vd = flown(hair, base, stride, h, 3)
    least = 0.0 * a[0] + 1e30
    for e in range(n):
        if e > 0:
            move_up(work)
        if e > 0 and e < spans:
            a, b, c, va, vb, vc = b, c, d, vb, vc, vd
            d, vd = flown(hair, base, stride, h, e + 3)
        if e < spans:
            rates = va, vb, vc, vd
            if e == 0:
                add_first_masses(hair, h, rates, work)
            else:
                add_masses(hair, h, e + 3, 3, vd, va, work)
                add_masses(hair, h, e + 3, 2, vd, vb, work)
                add_masses(hair, h, e + 3, 1, vd, vc, work)
                add_masses(hair, h, e + 3, 0, vd, vd, work)
            add_span(hair, base, stride, h, start, end, e, (a, b, c, d), rates, exact, push, work)
        slot = at + stride * KEPT * e
        if e == 0:
            hold_first(hair, base, stride, start, end, a, work, slot)
        elif e == 1:
            hold_second(hair, base, stride, end, a, work, slot)
            least = eliminate(2, least, work, hair.factors, slot, stride)
        else:
            least = eliminate(0, least, work, hair.factors, slot, stride)
    return least


@inlined
def add_first_masses(hair, h, rates, work):
    """Mass and drag among the first four control points, and their weight."""
    numbers, weight = hair.numbers, mass_weight(hair, h)
    for i in range(4):
        for x in range(3):
            add_at(work, FORCE + 4 * i + x, hair.total[i] * numbers[4 + x])
        for k in range(4 - i):
            m, s = hair.mass[i, k], hair.roll[i, k]
            for x in range(4):
                share = s if x == 3 else m
                drag = numbers[3] * share
                wind = 0.0 if x == 3 else numbers[7 + x]
                add_at(work, row_at(4 * i + x) + 4 * (i + k) + x, weight * share)
                add_at(work, FORCE + 4 * i + x, -drag * (rates[i + k][x] - wind))
                if k > 0:
                    add_at(work, FORCE + 4 * (i + k) + x, -drag * (rates[i][x] - wind))


@kernel
def find_moves(hair, base, stride, at, h, end, mode, stage, work):
    """Displacements of all control points, from tip to root, kept for the lanes whose `stage` is `mode`.

    Returns their sum of squares, the measure of the widest turn of a tangent (`wider`), the energy of stretching beyond
    what the linearised step expects, over E A, and the kinetic energy after the step, with the masses lumped.
    """
    n, spans, factors = hair.counts[0], hair.counts[1], hair.factors
    for i in range(16):
        store(work, i, 0.0)
    place, d1, d2, d3 = root_frame(hair, base, stride, end)
    size = 0.0 * place[0]
    widest, missed, kinetic = size, size, size
    a, v = flown(hair, base, stride, h, n - 1)
    b, c, d = a, a, a
    for back in range(n):
        e = n - 1 - back
        if back > 0:
            for i in range(15, 3, -1):
                store(work, i, load(work, i - 4))
            b, c, d = a, b, c
            a, v = flown(hair, base, stride, h, e)
        slot = at + stride * KEPT * e
        substitute(3, work, factors, slot, stride)
        substitute(2, work, factors, slot, stride)
        substitute(1, work, factors, slot, stride)
        substitute(0, work, factors, slot, stride)
        x = load(work, 0), load(work, 1), load(work, 2)
        if e == 1:
            x = add3(add3(scale3(x[0], d1), scale3(x[1], d2)), scale3(x[2], d3))
            store(work, 0, x[0])
            store(work, 1, x[1])
            store(work, 2, x[2])
        size = size + dot3(x, x)
        rate = v[0] + x[0] / h, v[1] + x[1] / h, v[2] + x[2] / h
        kinetic = kinetic + (0.5 * hair.total[e]) * dot3(rate, rate)
        for k in range(4):
            o = slot + stride * (PLACED + k)
            store(factors, o, where(stage == mode, load(work, k), load(factors, o)))
        if e < spans:
            points = a, b, c, d
            moves = four(work, 0, 1, 0), four(work, 0, 1, 4), four(work, 0, 1, 8), four(work, 0, 1, 12)
            for row in range(2 * e, 2 * e + 2):
                slopes = four_at(hair.bend_slope, row)
                before, change = blend3(points, slopes), blend3(moves, slopes)
                widest = wider(widest, before, add3(before, change))
            for row in range(hair.stretch_first[e], hair.stretch_first[e + 1]):
                slopes, J = four_at(hair.stretch_slope, row), hair.stretch_speed[row]
                before, change = blend3(points, slopes), blend3(moves, slopes)
                j, after = root(dot3(before, before)), add3(before, change)
                linear = j / J - 1.0 + dot3(before, change) / (j * J)
                strain = root(dot3(after, after)) / J - 1.0
                excess = larger(strain * strain - linear * linear, 0.0)
                missed = missed + (0.5 * hair.stretch_weight[row] * J) * excess
    return size, widest, missed, kinetic


# ----------------------------------------------------------------------------------------------------------- accepted


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


# --------------------------------------------------------------------------------------------------------------- step


@kernel
def try_step(hair, base, stride, at, h, start, end, strict, waiting, work):
    """A step of h from one of the head's poses to another, of the lanes that are `waiting` (1); 1 for those that still
    are, as they were.

    The matrix is that of a scene's step: exact; where it is not positive definite without the part of pushing tensions,
    where a tangent turns too far by Gauss and Newton, at last with neither. A lane that is done waits for the others.
    `strict`: one that the step stretches by more than it has in motion, turns round, or leads deep into the head, is not
    accepted.
    """
    frames, pulls, presses, own = offsets(hair)
    numbers = hair.numbers
    EA = load(hair.state, base + stride * (own + FACTOR)) * numbers[15]
    stage = where(waiting == 1.0, 0.0, FAILED)
    limit = HUGE * HUGE * numbers[20] * numbers[20]
    for mode in range(MODES):
        tried = stage == float(mode)
        if every(stage != float(mode)):
            continue
        exact, push = 1 if mode < 2 else 0, 1 if mode % 2 == 0 else 0
        least = make_front(hair, base, stride, at, h, start, end, exact, push, work)
        size, widest, missed, kinetic = find_moves(hair, base, stride, at, h, end, float(mode), stage, work)
        sound = (least > 0.0) & (size < limit) & (widest == widest)
        then = where(sound, DONE, FAILED if mode == 3 else 3.0)
        if mode < 2:
            far, indefinite = (2.0, 1.0) if mode == 0 else (3.0, 3.0)
            then = where(sound & (widest <= WIDEST), DONE, where(least > 0.0, far, indefinite))
        if strict == 1:
            calm = (EA * missed <= SHARE * kinetic + numbers[21]) & (widest < ROUND)
            then = where(then == DONE, where(calm, DONE, FAILED), then)
        stage = where(tried, then, stage)
    good = stage == DONE
    keep_rates(hair, base, stride, at, h)
    if touches(hair):
        deepest = clear_head(hair, base, stride, at, h, end, good)
        good = good & (deepest <= (numbers[1] if strict == 1 else HUGE))
    accept(hair, base, stride, at, h, good)
    return where(good, 0.0 * waiting, waiting)


@kernel
def step_rods(hair, base, stride, at, step, work):
    """Step number `step` of the rods at `base`, with their factors at `at`: as a whole, or in `PARTS` parts of those
    that it would lead too far. What can't be solved even then has the status 1, and stays.
    """
    frames, pulls, presses, own = offsets(hair)
    o = base + stride * (own + STATUS)
    status, h, first = load(hair.state, o), hair.numbers[0], PARTS * step
    waiting = where(status == 0.0, 1.0, 0.0 * status)
    left = try_step(hair, base, stride, at, h, first, first + PARTS, 1, waiting, work)
    if every(left == 0.0):
        return
    for part in range(first, first + PARTS):
        undone = try_step(hair, base, stride, at, h / PARTS, part, part + 1, 0, left, work)
        status = where(undone == 1.0, 1.0, status)
        left = where(undone == 1.0, 0.0, left)
    store(hair.state, o, status)
