"""Where a cable runs: its places on the elements, its length, and the wrenches by which the length changes.

Angles on a circle (sheave, cylinder) are counted forward, the way the cable runs: a direction at the right-handed angle
ψ about the axis n from the mark has α = sψ, s the sense. With D a neighbour's distance from the axis::

    arrives at α = α_p + acos(r/D_p)        BETA_IN = −α        (from there forward to the mark)
    leaves at  α = α_q − acos(r/D_q)        BETA_OUT = α        (from the mark to there)

Each is unwrapped against its last value, so that their sum, the angle of wrap θ, counts turns. θ is tracked off the
sheave too, with the tangents that the cable would have: it is negative while the cable passes clear, below −π on the
wrong side, and turns positive only where the cable comes back the way it went. Touching is θ ≥ 0.

Wrenches. Let a span run from x1 to x2, k its direction. On a shortest path the places may be held on their carriers
while these move, so the span pulls with k along its own line. A groove is no shortest path when the span leaves its
plane (fleet angle): there (x2 − x1)·m = 0 fixes the angle α, m the radial direction, and

    dL = k·(dx2 − dx1) + s1 dα1 + s2 dα2,        s1 = r1 (1 − k·t1),  s2 = −r2 (1 − k·t2)      (t along the groove)

With F1 = (x2 − x1)·m1, F2 = (x1 − x2)·m2 and [∂F/∂α]ᵀ μ = s this is k·(dx2 − dx1) − μ·∂F/∂X: a force −μ1 m1 at x2
and a force μ2 m2 at x1 on the second body, and the opposite on the first. A neighbour that is no sheave counts as held
at its place.

A sheave that the cable passes clear of may still divide it: the parts then meet at the foot of the perpendicular from
its centre, ½(BETA_OUT − BETA_IN) r from the mark, and the sheave's wrenches are ±k on the line of the span. That is
exact where the cable touches and leaves out terms of the order (distance − r)/span beyond.
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.tables import (
    ALONG, ARC, AXIS, AXIS_NOW, BETA_IN, BETA_OUT, CARRIER, CENTRE, CENTRE_NOW, COUNT, CYLINDER, DIVIDES, EDGE, END,
    FIRST, KIND, MARK, NEXT, ON, RADIUS, ROTOR, SENSE, SHEAVE, SPAN, SPHERE, U, W_IN, W_OUT, X_IN, X_OUT,
)  # fmt: skip
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
from sennit.point.kernels.points import place_of, turn_out

TURN = 2.0 * math.pi
SWEEPS = 100
# Numbers that the sliding of adjoining edges keeps in the columns of the wrenches: pivot, right side, coupling to the
# next edge, step, edge before
PIVOT, SIDE, COUPLING, STEP, BEFORE = W_IN, W_IN + 1, W_IN + 2, W_IN + 3, W_IN + 4


@inlined
def get3(A, row, column):
    return A[row, column], A[row, column + 1], A[row, column + 2]


@inlined
def set3(A, row, column, a):
    A[row, column] = a[0]
    A[row, column + 1] = a[1]
    A[row, column + 2] = a[2]


@inlined
def step3(x, k, a):
    """x + k a."""
    return x[0] + k * a[0], x[1] + k * a[1], x[2] + k * a[2]


@inlined
def norm3(a):
    return math.sqrt(dot3(a, a))


@inlined
def nearest_turn(angle, last):
    """The angle, whole turns added, that is nearest to its last value."""
    return angle + TURN * round((last - angle) / TURN)


# ------------------------------------------------------------------------------------------------- single elements


@kernel
def place_carriers(c, CI, EI, EF, ES, EX, PX):
    """Centres and axes for the carriers' places, and places to start from where none are known."""
    first = CI[c, FIRST]
    for e in range(first, first + CI[c, COUNT]):
        kind, p = EI[e, KIND], EI[e, CARRIER]
        gap = sub3(get3(EX, e, X_IN), get3(EX, e, CENTRE_NOW))
        if kind != SPHERE:
            gap = step3(gap, -dot3(gap, get3(EX, e, AXIS_NOW)), get3(EX, e, AXIS_NOW))
        centre = add3(place_of(PX, p), turn_out(PX, p, get3(EF, e, CENTRE)))
        set3(EX, e, CENTRE_NOW, centre)
        if kind != SPHERE:  # a sphere's is the normal of the cable's plane, found later
            set3(EX, e, AXIS_NOW, turn_out(PX, p, get3(EF, e, AXIS)))
        x = step3(centre, ES[e, U], get3(EX, e, AXIS_NOW)) if kind == EDGE else centre
        # Places from the last time lie on the surface they were on; a new row's do not.
        if kind == END or kind == EDGE or not abs(norm3(gap) - EF[e, RADIUS]) < 1e-6 * EF[e, RADIUS]:
            set3(EX, e, X_IN, x)
            set3(EX, e, X_OUT, x)


@kernel
def tangent_from(e, x, way, EI, EF, EX, PX):
    """Forward angle at which the cable leaves towards x (way 1) or arrives from x (−1), in-plane distance, height of x.

    A point inside the circle counts as one on it.
    """
    n, mark = get3(EX, e, AXIS_NOW), turn_out(PX, EI[e, CARRIER], get3(EF, e, MARK))
    d = sub3(x, get3(EX, e, CENTRE_NOW))
    z = dot3(d, n)
    d = step3(d, -z, n)
    r, apart = EF[e, RADIUS], norm3(d)
    angle = EF[e, SENSE] * math.atan2(dot3(d, cross3(n, mark)), dot3(d, mark))
    if apart <= r:
        return angle, 0.0, z
    ahead = math.sqrt((apart - r) * (apart + r))
    return angle - way * math.atan2(ahead, r), ahead, z


@inlined
def radial_at(e, angle, EI, EF, EX, PX):
    """Unit vector from the axis at a forward angle."""
    n, mark = get3(EX, e, AXIS_NOW), turn_out(PX, EI[e, CARRIER], get3(EF, e, MARK))
    return step3(scale3(math.cos(angle), mark), EF[e, SENSE] * math.sin(angle), cross3(n, mark))


@kernel
def touch(e, p, q, EI, EF, ES, EX, PX):
    """Where the shortest way from p to q by element `e` arrives and leaves, into EX; how far these moved."""
    kind = EI[e, KIND]
    centre = get3(EX, e, CENTRE_NOW)
    x_in, x_out = centre, centre
    r = EF[e, RADIUS]
    if kind == EDGE:
        # Unfolded about the edge the way is straight: it divides the edge's direction by the distances from it.
        d = get3(EX, e, AXIS_NOW)
        dd = dot3(d, d)
        to_p, to_q = sub3(p, centre), sub3(q, centre)
        u_p, u_q = dot3(to_p, d) / dd, dot3(to_q, d) / dd
        h_p, h_q = norm3(step3(to_p, -u_p, d)), norm3(step3(to_q, -u_q, d))
        u = (h_q * u_p + h_p * u_q) / (h_p + h_q) if h_p + h_q > 0.0 else 0.5 * (u_p + u_q)
        u = min(1.0, max(0.0, u))
        ES[e, U] = u
        x_in = x_out = step3(centre, u, d)
    elif kind == SPHERE:
        to_p, to_q = sub3(p, centre), sub3(q, centre)
        apart_p, apart_q = max(norm3(to_p), r), max(norm3(to_q), r)
        n = cross3(to_p, to_q)
        sine = norm3(n)
        angle = math.atan2(sine, dot3(to_p, to_q))
        if sine < 1e-12 * apart_p * apart_q:  # p and q in line with the centre: any plane serves, keep the last
            n = get3(EX, e, AXIS_NOW)
            n = step3(n, -dot3(n, to_p) / (apart_p * apart_p), to_p)
            if norm3(n) < 1e-3:
                n = cross3(to_p, (1.0, 0.0, 0.0) if abs(to_p[0]) < 0.6 * apart_p else (0.0, 1.0, 0.0))
        n = scale3(1.0 / norm3(n), n)
        set3(EX, e, AXIS_NOW, n)
        near_p = math.atan2(math.sqrt((apart_p - r) * (apart_p + r)), r)
        near_q = math.atan2(math.sqrt((apart_q - r) * (apart_q + r)), r)
        if angle < near_p + near_q:  # the straight line is clear of it
            line = sub3(q, p)
            x_in = x_out = step3(p, -dot3(to_p, line) / max(dot3(line, line), 1e-300), line)
            EX[e, ARC] = 0.0
        else:
            a, b = scale3(r / apart_p, to_p), scale3(r / apart_q, to_q)
            x_in = add3(centre, step3(scale3(math.cos(near_p), a), math.sin(near_p), cross3(n, a)))
            x_out = add3(centre, step3(scale3(math.cos(near_q), b), -math.sin(near_q), cross3(n, b)))
            EX[e, ARC] = r * (angle - near_p - near_q)
    elif kind != END:
        a_in, ahead_in, z_in = tangent_from(e, p, -1.0, EI, EF, EX, PX)
        a_out, ahead_out, z_out = tangent_from(e, q, 1.0, EI, EF, EX, PX)
        around = r * (nearest_turn(-a_in, ES[e, BETA_IN]) + nearest_turn(a_out, ES[e, BETA_OUT]))
        x_in = step3(centre, r, radial_at(e, a_in, EI, EF, EX, PX))
        x_out = step3(centre, r, radial_at(e, a_out, EI, EF, EX, PX))
        if kind == CYLINDER:
            # Unrolled, the way is straight: it climbs evenly along the in-plane length.
            total = max(ahead_in + ahead_out + around, 1e-12 * r)
            climb = (z_out - z_in) / total
            n = get3(EX, e, AXIS_NOW)
            x_in = step3(x_in, z_in + climb * ahead_in, n)
            x_out = step3(x_out, z_out - climb * ahead_out, n)
            around *= math.sqrt(1.0 + climb * climb)
        EX[e, ARC] = around
    moved = max(norm3(sub3(x_in, get3(EX, e, X_IN))), norm3(sub3(x_out, get3(EX, e, X_OUT))))
    set3(EX, e, X_IN, x_in)
    set3(EX, e, X_OUT, x_out)
    return moved


# ---------------------------------------------------------------------------------------------------- the whole path


@inlined
def edge_at(e, scale, ES, EX):
    """Place on an edge after the part `scale` of its step, and its u there."""
    u = min(1.0, max(0.0, ES[e, U] + scale * EX[e, STEP]))
    return step3(get3(EX, e, CENTRE_NOW), u, get3(EX, e, AXIS_NOW)), u


@kernel
def slide_edges(first, p, EI, ES, EX):
    """One Newton step for the edges that adjoin each other from `first` on, the cable coming from p.

    The length Σ|x_{i+1} − x_i|, x_i = A_i + u_i D_i, is convex in u, with a tridiagonal second derivative; edges held
    at an end of theirs stay. A step that lengthens the way is shortened, and at last not taken.
    """
    before, e, x_before, old = -1, first, p, 0.0
    while EI[e, KIND] == EDGE:
        following = int(EX[e, NEXT])
        x, d = get3(EX, e, X_IN), get3(EX, e, AXIS_NOW)
        a, b = sub3(x, x_before), sub3(get3(EX, following, X_IN), x)
        la, lb = max(norm3(a), 1e-12), max(norm3(b), 1e-12)
        ka, kb = dot3(a, d) / la, dot3(b, d) / lb
        slope = ka - kb
        pivot = (dot3(d, d) - ka * ka) / la + (dot3(d, d) - kb * kb) / lb
        u = ES[e, U]
        free = pivot > 0.0 and not (u <= 0.0 and slope > 0.0) and not (u >= 1.0 and slope < 0.0)
        side = -slope
        if before >= 0:
            if free:
                share = EX[before, COUPLING] / EX[before, PIVOT]
                pivot -= share * EX[before, COUPLING]
                side -= share * EX[before, SIDE]
            else:
                EX[before, COUPLING] = 0.0
        coupling = 0.0
        if free and EI[following, KIND] == EDGE:
            d_next = get3(EX, following, AXIS_NOW)
            coupling = -(dot3(d, d_next) - kb * dot3(b, d_next) / lb) / lb
        if not (free and pivot > 0.0):
            pivot, side, coupling = 1.0, 0.0, 0.0
        EX[e, PIVOT], EX[e, SIDE], EX[e, COUPLING], EX[e, BEFORE] = pivot, side, coupling, before
        old += la
        before, x_before, e = e, x, following
    last = get3(EX, e, X_IN)
    old += norm3(sub3(last, x_before))
    step, e = 0.0, before
    while e >= 0:
        step = (EX[e, SIDE] - EX[e, COUPLING] * step) / EX[e, PIVOT]
        EX[e, STEP] = step
        e = int(EX[e, BEFORE])
    scale = 1.0
    for _ in range(4):
        new, x_before, e = 0.0, p, first
        while EI[e, KIND] == EDGE:
            x, _u = edge_at(e, scale, ES, EX)
            new += norm3(sub3(x, x_before))
            x_before, e = x, int(EX[e, NEXT])
        new += norm3(sub3(last, x_before))
        if new <= old * (1.0 + 1e-15):
            moved, e = 0.0, first
            while EI[e, KIND] == EDGE:
                x, u = edge_at(e, scale, ES, EX)
                moved = max(moved, norm3(sub3(x, get3(EX, e, X_IN))))
                ES[e, U] = u
                set3(EX, e, X_IN, x)
                set3(EX, e, X_OUT, x)
                e = int(EX[e, NEXT])
            return moved
        scale *= 0.5
    return 0.0


@kernel
def relax(c, CI, EI, EF, ES, EX, PX):
    """NEXT of all elements, and places on those that the cable touches: each from its neighbours', until none moves.

    Where no two of them adjoin that can move, one sweep is exact.
    """
    first = CI[c, FIRST]
    last = first + CI[c, COUNT] - 1
    following = -1
    for e in range(last, first - 1, -1):
        EX[e, NEXT] = following
        if ES[e, ON] != 0.0:
            following = e
    for _ in range(SWEEPS):
        moved, length = 0.0, 0.0
        before, adjoin = first, False
        e = int(EX[first, NEXT])
        while e != last:
            following = int(EX[e, NEXT])
            p = get3(EX, before, X_OUT)
            both = EI[e, KIND] != END and EI[following, KIND] != END
            adjoin = adjoin or both
            if both and EI[e, KIND] == EDGE and EI[following, KIND] == EDGE and EI[before, KIND] != EDGE:
                moved = max(moved, slide_edges(e, p, EI, ES, EX))
            moved = max(moved, touch(e, p, get3(EX, following, X_IN), EI, EF, ES, EX, PX))
            length += norm3(sub3(get3(EX, e, X_IN), p))
            before, e = e, following
        length += norm3(sub3(get3(EX, last, X_IN), get3(EX, before, X_OUT)))
        if not adjoin or moved <= 1e-13 * length:
            return


@kernel
def line_clears(e, p, q, EF, EX):
    """Whether the straight way from p to q passes a circle without touching, on the side that its sense winds."""
    c, n = get3(EX, e, CENTRE_NOW), get3(EX, e, AXIS_NOW)
    a, t = sub3(p, c), sub3(q, p)
    a, t = step3(a, -dot3(a, n), n), step3(t, -dot3(t, n), n)
    reach, size = -dot3(a, t), norm3(t)
    if not 0.0 <= reach <= size * size or size == 0.0:
        return False
    return -EF[e, SENSE] * dot3(a, cross3(n, t)) >= EF[e, RADIUS] * size


@kernel
def track_angles(c, CI, EI, EF, ES, EX, PX):
    """Unwrap the angles of all sheaves, touched or not, and of the cylinders that the cable lies on."""
    first = CI[c, FIRST]
    before = first
    for e in range(first + 1, first + CI[c, COUNT] - 1):
        on = ES[e, ON] != 0.0
        if EI[e, KIND] == SHEAVE or (on and EI[e, KIND] == CYLINDER):
            p, q = get3(EX, before, X_OUT), get3(EX, int(EX[e, NEXT]), X_IN)
            b_in = nearest_turn(-tangent_from(e, p, -1.0, EI, EF, EX, PX)[0], ES[e, BETA_IN])
            b_out = nearest_turn(tangent_from(e, q, 1.0, EI, EF, EX, PX)[0], ES[e, BETA_OUT])
            if not on:
                wrap = b_in + b_out
                if line_clears(e, p, q, EF, EX):  # θ is in (−π, 0]: a turn miscounted over the centre is put right
                    b_out += nearest_turn(wrap, -0.5 * math.pi) - wrap
                elif wrap >= math.pi:
                    b_out -= TURN * math.ceil((wrap - math.pi) / TURN + 1e-12)
            ES[e, BETA_IN], ES[e, BETA_OUT] = b_in, b_out
        if on:
            before = e


@kernel
def settle(c, CI, EI, EF, ES, EX, PX):
    """Places and angles; sheaves that the cable lifts off are passed by, those that it comes back to are touched."""
    first = CI[c, FIRST]
    last = first + CI[c, COUNT] - 1
    relax(c, CI, EI, EF, ES, EX, PX)
    track_angles(c, CI, EI, EF, ES, EX, PX)
    # One at a time, the worst first: what one does decides about its neighbours. First all that let go, then all that
    # take hold, so that it ends.
    for hold in range(2):
        for _ in range(first + 1, last):
            worst, chosen = 0.0, -1
            for e in range(first + 1, last):
                if EI[e, KIND] == SHEAVE and (ES[e, ON] == 0.0) == (hold == 1):
                    wrap = ES[e, BETA_IN] + ES[e, BETA_OUT]
                    if (hold == 0 and wrap < worst) or (hold == 1 and wrap > worst):
                        worst, chosen = wrap, e
            if chosen < 0:
                break
            ES[chosen, ON] = float(hold)
            relax(c, CI, EI, EF, ES, EX, PX)
            track_angles(c, CI, EI, EF, ES, EX, PX)


@kernel
def start_sheave(c, e, turns, CI, EI, EF, ES, EX, PX):
    """Set the angles of the sheave or cylinder `e`, wound by `turns` whole turns more than it must be.

    All sheaves of the cable are to be ON before; call it for each. A sheave without turns that the straight way passes
    clear of, on the side its sense winds, is passed by (ON 0); with turns, that way counts as a little less than them.
    """
    place_carriers(c, CI, EI, EF, ES, EX, PX)
    relax(c, CI, EI, EF, ES, EX, PX)
    before = e - 1
    while ES[before, ON] == 0.0:
        before -= 1
    p, q = get3(EX, before, X_OUT), get3(EX, int(EX[e, NEXT]), X_IN)
    b_in = nearest_turn(-tangent_from(e, p, -1.0, EI, EF, EX, PX)[0], 0.0)
    wrap = b_in + tangent_from(e, q, 1.0, EI, EF, EX, PX)[0]
    clear = line_clears(e, p, q, EF, EX)
    # zero, but for rounding, is no whole turn
    wrap = nearest_turn(wrap, -0.5 * math.pi if clear else math.pi - 1e-9)
    ES[e, BETA_IN], ES[e, BETA_OUT] = b_in, wrap + TURN * turns - b_in
    if clear and turns <= 0 and EI[e, KIND] == SHEAVE:
        ES[e, ON] = 0.0


# --------------------------------------------------------------------------------------------------------- wrenches


@inlined
def groove_at(e, column, EF, EX):
    """Radius, radial direction and direction of travel of a circle at its place in `column`."""
    n, m = get3(EX, e, AXIS_NOW), scale3(1.0 / EF[e, RADIUS], sub3(get3(EX, e, column), get3(EX, e, CENTRE_NOW)))
    m = step3(m, -dot3(m, n), n)
    return EF[e, RADIUS], m, scale3(EF[e, SENSE], cross3(n, m))


@kernel
def span_forces(e, f, k, EI, EF, EX):
    """Forces on the second body of the span from `e` to `f`: one at its end x2, one at its start x1."""
    length, zero = EX[e, SPAN], (0.0, 0.0, 0.0)
    r1, m1, t1, r2, m2, t2 = 0.0, zero, k, 0.0, zero, k
    if EI[e, KIND] == SHEAVE:
        r1, m1, t1 = groove_at(e, X_OUT, EF, EX)
    if EI[f, KIND] == SHEAVE:
        r2, m2, t2 = groove_at(f, X_IN, EF, EX)
    # [∂F/∂α]ᵀ μ = s; a point has r = 0, s = 0, m = 0, and any pivot
    a11, a22 = length * dot3(k, t1), -length * dot3(k, t2)
    a12, a21 = r2 * dot3(t2, m1), r1 * dot3(t1, m2)
    s1, s2 = r1 * (1.0 - dot3(k, t1)), -r2 * (1.0 - dot3(k, t2))
    det = a11 * a22 - a12 * a21
    if not abs(det) > 1e-12 * length * length:
        return k, zero  # the neighbour stands above the groove itself: no tangent to follow
    mu1, mu2 = (s1 * a22 - s2 * a21) / det, (s2 * a11 - s1 * a12) / det
    return step3(k, -mu1, m1), scale3(mu2, m2)


@kernel
def put_wrench(e, column, sign, x2, f2, x1, f1, EI, EX, PX):
    """sign·(f2 at x2, f1 at x1) as force and moment about the carrier's point; a rotor takes that about its axis."""
    place = place_of(PX, EI[e, CARRIER])
    f = scale3(sign, add3(f1, f2))
    m = scale3(sign, add3(cross3(sub3(x2, place), f2), cross3(sub3(x1, place), f1)))
    if EI[e, ROTOR] == 1:
        n = get3(EX, e, AXIS_NOW)
        about = add3(m, cross3(sub3(place, get3(EX, e, CENTRE_NOW)), f))
        m = step3(m, -dot3(about, n), n)
    set3(EX, e, column, f)
    set3(EX, e, column + 3, m)


@kernel
def place_path(c, CI, EI, EF, ES, EX, PX):
    """Path of cable `c` for the places of its carriers in PX: all of EX but the twist; returns its length.

    Angles, places on edges and ON are carried on in ES.
    """
    first = CI[c, FIRST]
    last = first + CI[c, COUNT] - 1
    place_carriers(c, CI, EI, EF, ES, EX, PX)
    settle(c, CI, EI, EF, ES, EX, PX)
    zero = (0.0, 0.0, 0.0)
    for e in range(first, last + 1):
        for a in range(12):
            EX[e, W_IN + a] = 0.0
        EX[e, SPAN] = 0.0
        if ES[e, ON] == 0.0 or EI[e, KIND] == END or EI[e, KIND] == EDGE:
            EX[e, ARC] = 0.0
    total = 0.0
    e = first
    while e != last:
        f = int(EX[e, NEXT])
        x1, x2 = get3(EX, e, X_OUT), get3(EX, f, X_IN)
        line = sub3(x2, x1)
        length = norm3(line)
        if length > 0.0:
            set3(EX, e, ALONG, scale3(1.0 / length, line))
        k = get3(EX, e, ALONG)  # a span without length keeps its direction
        EX[e, SPAN] = length
        total += length + EX[e, ARC]
        f2, f1 = span_forces(e, f, k, EI, EF, EX)
        put_wrench(e, W_OUT, -1.0, x2, f2, x1, f1, EI, EX, PX)
        put_wrench(f, W_IN, 1.0, x2, f2, x1, f1, EI, EX, PX)
        for g in range(e + 1, f):  # passed by: the nearest place of the span
            reach = min(length, max(0.0, dot3(sub3(get3(EX, g, CENTRE_NOW), x1), k)))
            x = step3(x1, reach, k)
            set3(EX, g, X_IN, x)
            set3(EX, g, X_OUT, x)
            set3(EX, g, ALONG, k)
            if EI[g, DIVIDES] == 1:
                put_wrench(g, W_IN, 1.0, x, k, x, zero, EI, EX, PX)
                put_wrench(g, W_OUT, -1.0, x, k, x, zero, EI, EX, PX)
        e = f
    set3(EX, last, ALONG, zero)
    return total


@inlined
def arc_to_mark(e, way, EI, EF, ES, EX):
    """Length on a divider from where the cable arrives to its mark (way −1), or from the mark to where it leaves."""
    if EI[e, KIND] != SHEAVE and EI[e, KIND] != CYLINDER:
        return 0.0 if way < 0.0 else EX[e, ARC]
    b_in, b_out, r = ES[e, BETA_IN], ES[e, BETA_OUT], EF[e, RADIUS]
    if ES[e, ON] == 0.0:
        return 0.5 * way * r * (b_out - b_in)
    around = r * (b_in + b_out)
    longer = EX[e, ARC] / around if EI[e, KIND] == CYLINDER and around != 0.0 else 1.0
    return longer * r * (b_in if way < 0.0 else b_out)


@kernel
def part_length(c, d, CI, EI, EF, ES, EX):
    """Length of part `d` of cable `c`, from mark to mark, for the path in EX. The parts' sum is the cable's length."""
    first = CI[c, FIRST]
    last = first + CI[c, COUNT] - 1
    length, part, before = 0.0, 0, first
    for e in range(first + 1, last + 1):
        divides = EI[e, DIVIDES] == 1 and e != last
        if ES[e, ON] == 0.0 and not divides:
            continue
        if part == d:
            length += dot3(sub3(get3(EX, e, X_IN), get3(EX, before, X_OUT)), get3(EX, before, ALONG))
            if divides:
                length += arc_to_mark(e, -1.0, EI, EF, ES, EX)
            elif e != last:
                length += EX[e, ARC]
        if divides:
            part += 1
            if part == d:
                length += arc_to_mark(e, 1.0, EI, EF, ES, EX)
        before = e
    return length
