"""Where a cable runs: its places on the elements, its length, and the wrenches by which the length changes.

Angles on a circle (sheave, cylinder) are counted forward, the way the cable runs: a direction at the right-handed angle
ψ about the axis n from the mark has α = sψ, s the sense. With D a neighbour's distance from the axis::

    arrives at α = α_p + acos(r/D_p)        wrap_before = −α    (from there forward to the mark)
    leaves at  α = α_q − acos(r/D_q)        wrap_after = α      (from the mark to there)

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
its centre, ½(wrap_after − wrap_before) r from the mark, and the sheave's wrenches are ±k on the line of the span. That
is exact where the cable touches and leaves out terms of the order (distance − r)/span beyond.
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.kinds import ARRIVES, CYLINDER, EDGE, END, LEAVES, SHEAVE, SPHERE
from sennit.compilation import inlined, kernel, tolerance
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
from sennit.bodies.kernels.frames import get3, place_of, put3, turn_out

TURN = 2.0 * math.pi
SWEEPS = 100
NO_LONGER, STILL = tolerance(1e-15, 1e-6), tolerance(1e-13, 1e-6)  # of a way: what rounding makes of it


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
def place_carriers(c, cables, elements, places):
    """Centres and axes for the carriers' places, and places to start from where none are known."""
    first = cables.first[c]
    for e in range(first, first + cables.count[c]):
        kind, p = elements.kind[e], elements.carrier[e]
        gap = sub3(get3(elements.arrive, e), get3(elements.centre_now, e))
        if kind != SPHERE:
            gap = step3(gap, -dot3(gap, get3(elements.axis_now, e)), get3(elements.axis_now, e))
        centre = add3(place_of(places, p), turn_out(places, p, get3(elements.centre, e)))
        put3(elements.centre_now, e, centre)
        if kind != SPHERE:  # a sphere's is the normal of the cable's plane, found later
            put3(elements.axis_now, e, turn_out(places, p, get3(elements.axis, e)))
        x = step3(centre, elements.u[e], get3(elements.axis_now, e)) if kind == EDGE else centre
        # Places from the last time lie on the surface they were on; a new row's do not.
        if kind == END or kind == EDGE or not abs(norm3(gap) - elements.radius[e]) < 1e-6 * elements.radius[e]:
            put3(elements.arrive, e, x)
            put3(elements.leave, e, x)


@kernel
def tangent_from(e, x, way, elements, places):
    """Forward angle at which the cable leaves towards x (way 1) or arrives from x (−1), in-plane distance, height of x.

    A point inside the circle counts as one on it.
    """
    n, mark = get3(elements.axis_now, e), turn_out(places, elements.carrier[e], get3(elements.mark, e))
    d = sub3(x, get3(elements.centre_now, e))
    z = dot3(d, n)
    d = step3(d, -z, n)
    r, apart = elements.radius[e], norm3(d)
    angle = elements.sense[e] * math.atan2(dot3(d, cross3(n, mark)), dot3(d, mark))
    if apart <= r:
        return angle, 0.0, z
    ahead = math.sqrt((apart - r) * (apart + r))
    return angle - way * math.atan2(ahead, r), ahead, z


@inlined
def radial_at(e, angle, elements, places):
    """Unit vector from the axis at a forward angle."""
    n, mark = get3(elements.axis_now, e), turn_out(places, elements.carrier[e], get3(elements.mark, e))
    return step3(scale3(math.cos(angle), mark), elements.sense[e] * math.sin(angle), cross3(n, mark))


@kernel
def touch(e, p, q, elements, places):
    """Where the shortest way from p to q by element `e` arrives and leaves, into the table; how far these moved."""
    kind = elements.kind[e]
    centre = get3(elements.centre_now, e)
    x_in, x_out = centre, centre
    r = elements.radius[e]
    if kind == EDGE:
        # Unfolded about the edge the way is straight: it divides the edge's direction by the distances from it.
        d = get3(elements.axis_now, e)
        dd = dot3(d, d)
        to_p, to_q = sub3(p, centre), sub3(q, centre)
        u_p, u_q = dot3(to_p, d) / dd, dot3(to_q, d) / dd
        h_p, h_q = norm3(step3(to_p, -u_p, d)), norm3(step3(to_q, -u_q, d))
        u = (h_q * u_p + h_p * u_q) / (h_p + h_q) if h_p + h_q > 0.0 else 0.5 * (u_p + u_q)
        u = min(1.0, max(0.0, u))
        elements.u[e] = u
        x_in = x_out = step3(centre, u, d)
    elif kind == SPHERE:
        to_p, to_q = sub3(p, centre), sub3(q, centre)
        apart_p, apart_q = max(norm3(to_p), r), max(norm3(to_q), r)
        n = cross3(to_p, to_q)
        sine = norm3(n)
        angle = math.atan2(sine, dot3(to_p, to_q))
        if sine < 1e-12 * apart_p * apart_q:  # p and q in line with the centre: any plane serves, keep the last
            n = get3(elements.axis_now, e)
            n = step3(n, -dot3(n, to_p) / (apart_p * apart_p), to_p)
            if norm3(n) < 1e-3:
                n = cross3(to_p, (1.0, 0.0, 0.0) if abs(to_p[0]) < 0.6 * apart_p else (0.0, 1.0, 0.0))
        n = scale3(1.0 / norm3(n), n)
        put3(elements.axis_now, e, n)
        near_p = math.atan2(math.sqrt((apart_p - r) * (apart_p + r)), r)
        near_q = math.atan2(math.sqrt((apart_q - r) * (apart_q + r)), r)
        if angle < near_p + near_q:  # the straight line is clear of it
            line = sub3(q, p)
            x_in = x_out = step3(p, -dot3(to_p, line) / max(dot3(line, line), 1e-300), line)
            elements.arc[e] = 0.0
        else:
            a, b = scale3(r / apart_p, to_p), scale3(r / apart_q, to_q)
            x_in = add3(centre, step3(scale3(math.cos(near_p), a), math.sin(near_p), cross3(n, a)))
            x_out = add3(centre, step3(scale3(math.cos(near_q), b), -math.sin(near_q), cross3(n, b)))
            elements.arc[e] = r * (angle - near_p - near_q)
    elif kind != END:
        a_in, ahead_in, z_in = tangent_from(e, p, -1.0, elements, places)
        a_out, ahead_out, z_out = tangent_from(e, q, 1.0, elements, places)
        around = r * (nearest_turn(-a_in, elements.wrap_before[e]) + nearest_turn(a_out, elements.wrap_after[e]))
        x_in = step3(centre, r, radial_at(e, a_in, elements, places))
        x_out = step3(centre, r, radial_at(e, a_out, elements, places))
        if kind == CYLINDER:
            # Unrolled, the way is straight: it climbs evenly along the in-plane length.
            total = max(ahead_in + ahead_out + around, 1e-12 * r)
            climb = (z_out - z_in) / total
            n = get3(elements.axis_now, e)
            x_in = step3(x_in, z_in + climb * ahead_in, n)
            x_out = step3(x_out, z_out - climb * ahead_out, n)
            around *= math.sqrt(1.0 + climb * climb)
        elements.arc[e] = around
    moved = max(norm3(sub3(x_in, get3(elements.arrive, e))), norm3(sub3(x_out, get3(elements.leave, e))))
    put3(elements.arrive, e, x_in)
    put3(elements.leave, e, x_out)
    return moved


# ---------------------------------------------------------------------------------------------------- the whole path


@inlined
def edge_at(e, scale, elements):
    """Place on an edge after the part `scale` of its step, and its u there."""
    u = min(1.0, max(0.0, elements.u[e] + scale * elements.slide_step[e]))
    return step3(get3(elements.centre_now, e), u, get3(elements.axis_now, e)), u


@kernel
def slide_edges(first, p, elements):
    """One Newton step for the edges that adjoin each other from `first` on, the cable coming from p.

    The length Σ|x_{i+1} − x_i|, x_i = A_i + u_i D_i, is convex in u, with a tridiagonal second derivative; edges held
    at an end of theirs stay. A step that lengthens the way is shortened, and at last not taken.
    """
    before, e, x_before, old = -1, first, p, 0.0
    while elements.kind[e] == EDGE:
        following = elements.following[e]
        x, d = get3(elements.arrive, e), get3(elements.axis_now, e)
        a, b = sub3(x, x_before), sub3(get3(elements.arrive, following), x)
        la, lb = max(norm3(a), 1e-12), max(norm3(b), 1e-12)
        ka, kb = dot3(a, d) / la, dot3(b, d) / lb
        slope = ka - kb
        pivot = (dot3(d, d) - ka * ka) / la + (dot3(d, d) - kb * kb) / lb
        u = elements.u[e]
        free = pivot > 0.0 and not (u <= 0.0 and slope > 0.0) and not (u >= 1.0 and slope < 0.0)
        side = -slope
        if before >= 0:
            if free:
                share = elements.slide_coupling[before] / elements.slide_pivot[before]
                pivot -= share * elements.slide_coupling[before]
                side -= share * elements.slide_side[before]
            else:
                elements.slide_coupling[before] = 0.0
        coupling = 0.0
        if free and elements.kind[following] == EDGE:
            d_next = get3(elements.axis_now, following)
            coupling = -(dot3(d, d_next) - kb * dot3(b, d_next) / lb) / lb
        if not (free and pivot > 0.0):
            pivot, side, coupling = 1.0, 0.0, 0.0
        elements.slide_pivot[e], elements.slide_side[e] = pivot, side
        elements.slide_coupling[e], elements.slide_before[e] = coupling, before
        old += la
        before, x_before, e = e, x, following
    last = get3(elements.arrive, e)
    old += norm3(sub3(last, x_before))
    step, e = 0.0, before
    while e >= 0:
        step = (elements.slide_side[e] - elements.slide_coupling[e] * step) / elements.slide_pivot[e]
        elements.slide_step[e] = step
        e = elements.slide_before[e]
    scale = 1.0
    for _ in range(4):
        new, x_before, e = 0.0, p, first
        while elements.kind[e] == EDGE:
            x, _u = edge_at(e, scale, elements)
            new += norm3(sub3(x, x_before))
            x_before, e = x, elements.following[e]
        new += norm3(sub3(last, x_before))
        if new <= old * (1.0 + NO_LONGER()):
            moved, e = 0.0, first
            while elements.kind[e] == EDGE:
                x, u = edge_at(e, scale, elements)
                moved = max(moved, norm3(sub3(x, get3(elements.arrive, e))))
                elements.u[e] = u
                put3(elements.arrive, e, x)
                put3(elements.leave, e, x)
                e = elements.following[e]
            return moved
        scale *= 0.5
    return 0.0


@kernel
def relax(c, cables, elements, places):
    """What follows on what, and places on what the cable touches: each from its neighbours', until none moves.

    Where no two of them adjoin that can move, one sweep is exact.
    """
    first = cables.first[c]
    last = first + cables.count[c] - 1
    following = -1
    for e in range(last, first - 1, -1):
        elements.following[e] = following
        if elements.on[e] != 0:
            following = e
    for _ in range(SWEEPS):
        moved, length = 0.0, 0.0
        before, adjoin = first, False
        e = elements.following[first]
        while e != last:
            following = elements.following[e]
            p = get3(elements.leave, before)
            both = elements.kind[e] != END and elements.kind[following] != END
            adjoin = adjoin or both
            if both and elements.kind[e] == EDGE and elements.kind[following] == EDGE and elements.kind[before] != EDGE:
                moved = max(moved, slide_edges(e, p, elements))
            moved = max(moved, touch(e, p, get3(elements.arrive, following), elements, places))
            length += norm3(sub3(get3(elements.arrive, e), p))
            before, e = e, following
        length += norm3(sub3(get3(elements.arrive, last), get3(elements.leave, before)))
        if not adjoin or moved <= STILL() * length:
            return


@kernel
def line_clears(e, p, q, elements):
    """Whether the straight way from p to q passes a circle without touching, on the side that its sense winds."""
    c, n = get3(elements.centre_now, e), get3(elements.axis_now, e)
    a, t = sub3(p, c), sub3(q, p)
    a, t = step3(a, -dot3(a, n), n), step3(t, -dot3(t, n), n)
    reach, size = -dot3(a, t), norm3(t)
    if not 0.0 <= reach <= size * size or size == 0.0:
        return False
    return -elements.sense[e] * dot3(a, cross3(n, t)) >= elements.radius[e] * size


@inlined
def track_sphere(e, elements, places):
    """Angles on a sphere with friction, from where the cable arrives to its mark, and on to where it leaves."""
    n, x = get3(elements.axis_now, e), sub3(get3(elements.arrive, e), get3(elements.centre_now, e))
    mark = turn_out(places, elements.carrier[e], get3(elements.mark, e))
    angle = nearest_turn(math.atan2(dot3(n, cross3(x, mark)), dot3(x, mark)), elements.wrap_before[e])
    elements.wrap_before[e], elements.wrap_after[e] = angle, elements.arc[e] / elements.radius[e] - angle


@kernel
def track_angles(c, cables, elements, places):
    """Unwrap the angles of all sheaves, touched or not, and of the cylinders that the cable lies on."""
    first = cables.first[c]
    before = first
    for e in range(first + 1, first + cables.count[c] - 1):
        on = elements.on[e] != 0
        if elements.kind[e] == SHEAVE or (on and elements.kind[e] == CYLINDER):
            p, q = get3(elements.leave, before), get3(elements.arrive, elements.following[e])
            b_in = nearest_turn(-tangent_from(e, p, -1.0, elements, places)[0], elements.wrap_before[e])
            b_out = nearest_turn(tangent_from(e, q, 1.0, elements, places)[0], elements.wrap_after[e])
            if not on:
                wrap = b_in + b_out
                if line_clears(e, p, q, elements):  # θ is in (−π, 0]: a turn miscounted over the centre is put right
                    b_out += nearest_turn(wrap, -0.5 * math.pi) - wrap
                elif wrap >= math.pi:
                    b_out -= TURN * math.ceil((wrap - math.pi) / TURN + 1e-12)
            elements.wrap_before[e], elements.wrap_after[e] = b_in, b_out
        if on and elements.kind[e] == SPHERE and elements.divides[e] == 1:
            track_sphere(e, elements, places)
        if on:
            before = e


@kernel
def settle(c, cables, elements, places):
    """Places and angles; sheaves that the cable lifts off are passed by, those that it comes back to are touched."""
    first = cables.first[c]
    last = first + cables.count[c] - 1
    relax(c, cables, elements, places)
    track_angles(c, cables, elements, places)
    # One at a time, the worst first: what one does decides about its neighbours. First all that let go, then all that
    # take hold, so that it ends.
    for hold in range(2):
        for _ in range(first + 1, last):
            worst, chosen = 0.0, -1
            for e in range(first + 1, last):
                if elements.kind[e] == SHEAVE and (elements.on[e] == 0) == (hold == 1):
                    wrap = elements.wrap_before[e] + elements.wrap_after[e]
                    if (hold == 0 and wrap < worst) or (hold == 1 and wrap > worst):
                        worst, chosen = wrap, e
            if chosen < 0:
                break
            elements.on[chosen] = hold
            relax(c, cables, elements, places)
            track_angles(c, cables, elements, places)


@kernel
def start_sheave(c, e, turns, cables, elements, places):
    """Set the angles of the sheave or cylinder `e`, wound by `turns` whole turns more than it must be.

    All sheaves of the cable are to be on before; call it for each. A sheave without turns that the straight way passes
    clear of, on the side its sense winds, is passed by (on 0); with turns, that way counts as a little less than them.
    """
    place_carriers(c, cables, elements, places)
    relax(c, cables, elements, places)
    before = e - 1
    while elements.on[before] == 0:
        before -= 1
    p, q = get3(elements.leave, before), get3(elements.arrive, elements.following[e])
    b_in = nearest_turn(-tangent_from(e, p, -1.0, elements, places)[0], 0.0)
    wrap = b_in + tangent_from(e, q, 1.0, elements, places)[0]
    clear = line_clears(e, p, q, elements)
    # zero, but for rounding, is no whole turn
    wrap = nearest_turn(wrap, -0.5 * math.pi if clear else math.pi - 1e-9)
    elements.wrap_before[e], elements.wrap_after[e] = b_in, wrap + TURN * turns - b_in
    if clear and turns <= 0 and elements.kind[e] == SHEAVE:
        elements.on[e] = 0


# --------------------------------------------------------------------------------------------------------- wrenches


@inlined
def groove_at(e, x, elements):
    """Radius, radial direction and direction of travel of a circle at its place `x`."""
    n, m = get3(elements.axis_now, e), scale3(1.0 / elements.radius[e], sub3(x, get3(elements.centre_now, e)))
    m = step3(m, -dot3(m, n), n)
    return elements.radius[e], m, scale3(elements.sense[e], cross3(n, m))


@inlined
def follow_grooves(length, k, r1, m1, t1, r2, m2, t2, s1, s2):
    """μ of [∂F/∂α]ᵀ μ = s for a span along k between two grooves, or points: r = 0, s = 0, m = 0, and any pivot.

    The first number is False where the neighbour stands above the groove itself: no tangent to follow.
    """
    a11, a22 = length * dot3(k, t1), -length * dot3(k, t2)
    a12, a21 = r2 * dot3(t2, m1), r1 * dot3(t1, m2)
    det = a11 * a22 - a12 * a21
    if not abs(det) > 1e-12 * length * length:
        return False, 0.0, 0.0
    return True, (s1 * a22 - s2 * a21) / det, (s2 * a11 - s1 * a12) / det


@kernel
def span_forces(e, f, k, elements):
    """Forces on the second body of the span from `e` to `f`: one at its end x2, one at its start x1."""
    length, zero = elements.span[e], (0.0, 0.0, 0.0)
    r1, m1, t1, r2, m2, t2 = 0.0, zero, k, 0.0, zero, k
    if elements.kind[e] == SHEAVE:
        r1, m1, t1 = groove_at(e, get3(elements.leave, e), elements)
    if elements.kind[f] == SHEAVE:
        r2, m2, t2 = groove_at(f, get3(elements.arrive, f), elements)
    s1, s2 = r1 * (1.0 - dot3(k, t1)), -r2 * (1.0 - dot3(k, t2))
    tangent, mu1, mu2 = follow_grooves(length, k, r1, m1, t1, r2, m2, t2, s1, s2)
    if not tangent:
        return k, zero
    return step3(k, -mu1, m1), scale3(mu2, m2)


@kernel
def put_wrench(e, part, sign, x2, f2, x1, f1, elements, places):
    """sign·(f2 at x2, f1 at x1) as force and moment about the carrier's point; a rotor takes that about its axis."""
    place = place_of(places, elements.carrier[e])
    f = scale3(sign, add3(f1, f2))
    m = scale3(sign, add3(cross3(sub3(x2, place), f2), cross3(sub3(x1, place), f1)))
    if elements.rotor[e] == 1:
        n = get3(elements.axis_now, e)
        about = add3(m, cross3(sub3(place, get3(elements.centre_now, e)), f))
        m = step3(m, -dot3(about, n), n)
    for a in range(3):
        elements.wrench[e, part, a] = f[a]
        elements.wrench[e, part, 3 + a] = m[a]


@kernel
def place_path(c, cables, elements, places):
    """Path of cable `c` for the places of its carriers in PX: all but the twist; returns its length.

    Angles, places on edges and what is on are carried on.
    """
    first = cables.first[c]
    last = first + cables.count[c] - 1
    place_carriers(c, cables, elements, places)
    settle(c, cables, elements, places)
    zero = (0.0, 0.0, 0.0)
    for e in range(first, last + 1):
        for a in range(6):
            elements.wrench[e, ARRIVES, a] = 0.0
            elements.wrench[e, LEAVES, a] = 0.0
        elements.span[e] = 0.0
        if elements.on[e] == 0 or elements.kind[e] == END or elements.kind[e] == EDGE:
            elements.arc[e] = 0.0
    total = 0.0
    e = first
    while e != last:
        f = elements.following[e]
        x1, x2 = get3(elements.leave, e), get3(elements.arrive, f)
        line = sub3(x2, x1)
        length = norm3(line)
        if length > 0.0:
            put3(elements.along, e, scale3(1.0 / length, line))
        k = get3(elements.along, e)  # a span without length keeps its direction
        elements.span[e] = length
        total += length + elements.arc[e]
        f2, f1 = span_forces(e, f, k, elements)
        put_wrench(e, LEAVES, -1.0, x2, f2, x1, f1, elements, places)
        put_wrench(f, ARRIVES, 1.0, x2, f2, x1, f1, elements, places)
        for g in range(e + 1, f):  # passed by: the nearest place of the span
            reach = min(length, max(0.0, dot3(sub3(get3(elements.centre_now, g), x1), k)))
            x = step3(x1, reach, k)
            put3(elements.arrive, g, x)
            put3(elements.leave, g, x)
            put3(elements.along, g, k)
            if elements.divides[g] == 1:
                put_wrench(g, ARRIVES, 1.0, x, k, x, zero, elements, places)
                put_wrench(g, LEAVES, -1.0, x, k, x, zero, elements, places)
        e = f
    put3(elements.along, last, zero)
    return total
