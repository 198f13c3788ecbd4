"""The equations of a step of hair, linearised backward Euler as a scene makes it: their elimination and their solution.

The root's unknowns are known: the place and the roll of the first control point, and the second one but for its place
along d3. Poses of the head are numbered: a step goes from `start` to `end`, in h (s).
"""

from __future__ import annotations

from sennit.bodies.rod.spline.kernels.basis import blend3
from sennit.bodies.rod.spline.kernels.forces import FORCE, add_at, add_bending, add_stretching
from sennit.bodies.rod.spline.kernels.strain import frame_carried
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, dot3, scale3, sub3, wider
from sennit.hair.kernels.front import (
    KEPT, PLACED, clear_front, eliminate, move_up, prescribe, row_at, substitute, turn_first,
)  # fmt: skip
from sennit.hair.kernels.head import distance, surface_velocity
from sennit.hair.kernels.strand import (
    FACTOR, FRAME, PULL, REST, bases_at, flown, four, offsets, root_frame, root_roll, three, touches,
)  # fmt: skip
from sennit.lanes import four_at, larger, load, root, store, where


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
    what the linearised step expects, over E A, the kinetic energy after the step, with the masses lumped, and the
    energy of stretching before it, over E A.
    """
    n, spans, factors = hair.counts[0], hair.counts[1], hair.factors
    for i in range(16):
        store(work, i, 0.0)
    place, d1, d2, d3 = root_frame(hair, base, stride, end)
    size = 0.0 * place[0]
    widest, missed, kinetic, stored = size, size, size, size
    frames, pulls, presses, own = offsets(hair)
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
                last = load(hair.state, base + stride * (pulls + PULL * row + 1))
                missed = missed + (0.5 * hair.stretch_weight[row] * J) * excess
                stored = stored + (0.5 * hair.stretch_weight[row] * J) * last * last
    return size, widest, missed, kinetic, stored
