"""Twist of a cable between its ends: its angle, and the wrenches by which it changes.

Each end holds an exit direction d3 and a director d1 across it, fixed to its carrier. The first end's director is
carried along the directions u = (d3, t_1 … t_J, d3) of the path by the smallest rotations; the angle Ω from it to the
last end's director, about the last direction, is the twist::

    Ω̇ = ω_b·d3_b − ω_a·d3_a + Σ g_i·u̇_i,    g_i = ½ (κ_{i−1} + κ_i),    κ = 2 u × u⁺/(1 + u·u⁺)

A sheave or cylinder that the cable lies on cuts it: the director there is the axis n, whatever the angle of wrap, and Ω
is the sum over the pieces. n spins about a direction u that it is not square to (c = n·u) at the rate

    ω·(u − c n)/(1 − c²) − c (u × n)·u̇/(1 − c²)

What a span's direction does is exact for points and sheaves and, between points, for all others: the places slide on
them. With g on a span from x1 to x2 of length ℓ, f = g/ℓ pulls at x2 and −f at x1, and

- the tangent points of a groove turn by dα, which the adjoint of their tangency carries, as in the path's wrenches;
- a place on an edge moves so that D·(k_in − k_out) stays zero, by the adjoint of the chain of edges;
- on a sphere the plane through both neighbours and the centre turns;
- on a cylinder the height of a place follows the heights of both neighbours, each by its share of the length.

Left out is how the sliding on one makes that on its neighbour of another kind (edge beside sheave, and the like).
"""

from __future__ import annotations

import math

from sennit.constraints.cable.kernels.path import get3, groove_at, norm3, set3, step3
from sennit.constraints.cable.kernels.tables import (
    ARC, AXIS_NOW, CARRIER, CENTRE, CENTRE_NOW, COUNT, CYLINDER, EDGE, FIRST, KIND, NEXT, ON, RADIUS, SHEAVE, SPAN,
    SPHERE, U, W_TWIST, X_IN, X_OUT,
)  # fmt: skip
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
from sennit.point.kernels.points import place_of, turn_out

# Spans shorter than this part of the cable have no direction of their own
SHORT = 1e-3
# Least 1 + u·u⁺ and 1 − c²: a cable folded back on itself has no smallest rotation
FOLD = 1e-9
# Columns of TF: exit direction and director of the first end, then of the last
D3_FIRST, D1_FIRST, D3_LAST, D1_LAST = 0, 3, 6, 9
TWIST_FLOATS = 12
# What the edges' adjoint keeps while it is solved, in the columns of their centres: right side, pivot, multiplier
SIDE, PIVOT, MULTIPLIER = CENTRE_NOW, CENTRE_NOW + 1, CENTRE_NOW + 2


@inlined
def bends(e, EI, EX):
    """False for a sphere that the cable passes straight."""
    return EI[e, KIND] != SPHERE or EX[e, ARC] > 0.0


@kernel
def node_after(e, EI, EX):
    e = int(EX[e, NEXT])
    while not bends(e, EI, EX):
        e = int(EX[e, NEXT])
    return e


@kernel
def node_before(e, EI, ES, EX):
    e -= 1
    while ES[e, ON] == 0.0 or not bends(e, EI, EX):
        e -= 1
    return e


@inlined
def pull(e, x, f, EI, EX, PX):
    """Add the force f at x to the twist's wrench on the carrier of `e`."""
    m = cross3(sub3(x, place_of(PX, EI[e, CARRIER])), f)
    for a in range(3):
        EX[e, W_TWIST + a] += f[a]
        EX[e, W_TWIST + 3 + a] += m[a]


@inlined
def turn(e, m, EX):
    for a in range(3):
        EX[e, W_TWIST + 3 + a] += m[a]


@kernel
def turn_sphere(e, s, f, way, g, EI, EF, EX, PX):
    """Wrenches of g·ṫ for the span before (way −1) or after (1) the sphere `s`, with neighbours `e` and `f`.

    In the plane of the neighbours a = p − c, b = q − c, normal n: with ê towards the span's other end at distance D,
    f̂ = n × ê and η = acos(r/D), the direction is t = way sin η ê + cos η f̂ and the radius m = cos η ê − way sin η f̂.
    t turns with (ê, f̂, n) and by −η̇ m, or η̇ m.
    """
    c, n, r = get3(EX, s, CENTRE_NOW), get3(EX, s, AXIS_NOW), EF[s, RADIUS]
    p, q = get3(EX, e, X_OUT), get3(EX, f, X_IN)
    a, b = sub3(p, c), sub3(q, c)
    far = a if way < 0.0 else b
    apart = norm3(far)
    e1 = scale3(1.0 / apart, far)
    e2 = cross3(n, e1)
    cos = min(1.0, r / apart)
    sin = max(math.sqrt((1.0 - cos) * (1.0 + cos)), 1e-9)
    t = step3(scale3(way * sin, e1), cos, e2)
    m = step3(scale3(cos, e1), -way * sin, e2)
    h = cross3(t, g)
    # the turn of ê, and η̇ = r Ḋ/(D² sin η)
    direct = scale3(1.0 / apart, cross3(h, e1))
    direct = step3(direct, way * dot3(m, g) * r / (apart * apart * sin), e1)
    # the plane's turn about ê, by how far the neighbours leave it
    about = -dot3(h, e1) / max(norm3(cross3(a, b)), 1e-12 * apart * apart)
    on_p, on_q = scale3(about * dot3(cross3(n, b), e2), n), scale3(about * dot3(cross3(a, n), e2), n)
    if way < 0.0:
        on_p = add3(on_p, direct)
    else:
        on_q = add3(on_q, direct)
    pull(e, p, on_p, EI, EX, PX)
    pull(f, q, on_q, EI, EX, PX)
    pull(s, c, scale3(-1.0, add3(on_p, on_q)), EI, EX, PX)


@inlined
def in_plane(n, a):
    return step3(a, -dot3(a, n), n)


@kernel
def climb_cylinder(e, s, f, way, push, EI, EX, PX):
    """Wrenches of the axial force `push` on where the cable meets (way −1) or leaves (1) cylinder `s`, sliding on it.

    Unrolled, the way from p to q is straight: with ℓ' the in-plane length of the span, S that of the whole way and
    λ = ℓ'/S, heights are z_in = z_p + λ (z_q − z_p), z_out = z_q − λ (z_q − z_p), and dλ = (dℓ' − λ dS)/S, where
    dS = −k'_in·dp + k'_out·dq and dℓ' = (p − c)'·dp/ℓ'.
    """
    c, n = get3(EX, s, CENTRE_NOW), get3(EX, s, AXIS_NOW)
    p, q = get3(EX, e, X_OUT), get3(EX, f, X_IN)
    span_p, span_q = sub3(get3(EX, s, X_IN), p), sub3(q, get3(EX, s, X_OUT))
    flat_p, flat_q = in_plane(n, span_p), in_plane(n, span_q)
    ahead_p, ahead_q = max(norm3(flat_p), 1e-12), max(norm3(flat_q), 1e-12)
    whole = max(norm3(span_p) + EX[s, ARC] + norm3(span_q), 1e-12)
    if way < 0.0:
        share, climb = norm3(span_p) / whole, dot3(span_p, n) / ahead_p
        on_p = step3(scale3(1.0 - share, n), climb / ahead_p, step3(in_plane(n, sub3(p, c)), share, flat_p))
        on_q = step3(scale3(share, n), -climb * share / ahead_q, flat_q)
    else:
        share, climb = norm3(span_q) / whole, dot3(span_q, n) / ahead_q
        on_q = step3(scale3(1.0 - share, n), -climb / ahead_q, step3(in_plane(n, sub3(q, c)), -share, flat_q))
        on_p = step3(scale3(share, n), -climb * share / ahead_p, flat_p)
    pull(e, p, scale3(push, on_p), EI, EX, PX)
    pull(s, p, scale3(-push, on_p), EI, EX, PX)
    pull(f, q, scale3(push, on_q), EI, EX, PX)
    pull(s, q, scale3(-push, on_q), EI, EX, PX)


@kernel
def pull_span(e, f, g, EI, EF, ES, EX, PX):
    """Add the wrenches of g·ṫ, t the direction of the span from `e` to `f`."""
    kind1, kind2 = EI[e, KIND], EI[f, KIND]
    if kind1 == SPHERE and kind2 != SPHERE:
        turn_sphere(node_before(e, EI, ES, EX), e, f, 1.0, g, EI, EF, EX, PX)
        return
    if kind2 == SPHERE and kind1 != SPHERE:
        turn_sphere(e, f, node_after(f, EI, EX), -1.0, g, EI, EF, EX, PX)
        return
    x1, x2 = get3(EX, e, X_OUT), get3(EX, f, X_IN)
    line = sub3(x2, x1)
    length = max(norm3(line), 1e-12)
    k = scale3(1.0 / length, line)
    force = scale3(1.0 / length, step3(g, -dot3(g, k), k))
    pull(f, x2, force, EI, EX, PX)
    pull(e, x1, scale3(-1.0, force), EI, EX, PX)
    zero = (0.0, 0.0, 0.0)
    r1, m1, t1, r2, m2, t2 = 0.0, zero, k, 0.0, zero, k
    if kind1 == SHEAVE or kind1 == CYLINDER:
        r1, m1, t1 = groove_at(e, X_OUT, EF, EX)
    if kind2 == SHEAVE or kind2 == CYLINDER:
        r2, m2, t2 = groove_at(f, X_IN, EF, EX)
    a11, a22 = length * dot3(k, t1), -length * dot3(k, t2)
    a12, a21 = r2 * dot3(t2, m1), r1 * dot3(t1, m2)
    det = a11 * a22 - a12 * a21
    if abs(det) > 1e-12 * length * length:
        s1, s2 = -r1 * dot3(force, t1), r2 * dot3(force, t2)
        mu1, mu2 = (s1 * a22 - s2 * a21) / det, (s2 * a11 - s1 * a12) / det
        pull(f, x2, scale3(-mu1, m1), EI, EX, PX)
        pull(e, x2, scale3(mu1, m1), EI, EX, PX)
        pull(f, x1, scale3(mu2, m2), EI, EX, PX)
        pull(e, x1, scale3(-mu2, m2), EI, EX, PX)
    if kind1 == CYLINDER:
        push = -dot3(force, get3(EX, e, AXIS_NOW))
        climb_cylinder(node_before(e, EI, ES, EX), e, f, 1.0, push, EI, EX, PX)
    if kind2 == CYLINDER:
        push = dot3(force, get3(EX, f, AXIS_NOW))
        climb_cylinder(e, f, node_after(f, EI, EX), -1.0, push, EI, EX, PX)


@kernel
def close_direction(e, f, u, g, EI, EF, ES, EX, PX):
    """Add the wrenches of g·u̇: of the span from `e` to `f`, or, f = −1, of a direction held by the carrier of `e`."""
    if f < 0:
        turn(e, cross3(u, g), EX)
        return
    pull_span(e, f, g, EI, EF, ES, EX, PX)
    for s, sign in ((e, -1.0), (f, 1.0)):
        if EI[s, KIND] == EDGE:
            line = sub3(get3(EX, f, X_IN), get3(EX, e, X_OUT))
            length = max(norm3(line), 1e-12)
            d = get3(EX, s, AXIS_NOW)
            EX[s, SIDE] += sign * (dot3(g, d) - dot3(g, u) * dot3(u, d)) / length


@inlined
def square_part(d, d_next, line):
    """d·(I − kkᵀ) d_next/|line|, k along the line."""
    length = max(norm3(line), 1e-12)
    return (dot3(d, d_next) - dot3(d, line) * dot3(d_next, line) / (length * length)) / length


@kernel
def slide_on_edges(first, last, EI, EF, ES, EX, PX):
    """Wrenches that come from places sliding on edges: D·(k_in − k_out) = 0 holds while the carriers move.

    The multipliers solve the tridiagonal system of the length's second derivative; an edge held at its end has none.
    """
    e = first
    while e != last:  # eliminate, forwards
        after = node_after(e, EI, EX)
        if EI[e, KIND] == EDGE:
            before = node_before(e, EI, ES, EX)
            d, x = get3(EX, e, AXIS_NOW), get3(EX, e, X_IN)
            line = sub3(x, get3(EX, before, X_OUT))
            pivot = square_part(d, d, line) + square_part(d, d, sub3(get3(EX, after, X_IN), x))
            if EI[before, KIND] == EDGE and EX[before, PIVOT] > 0.0:
                share = -square_part(d, get3(EX, before, AXIS_NOW), line) / EX[before, PIVOT]
                pivot -= share * share * EX[before, PIVOT]
                EX[e, SIDE] -= share * EX[before, SIDE]
            EX[e, PIVOT] = pivot if 0.0 < ES[e, U] < 1.0 and pivot > 1e-12 * dot3(d, d) else 0.0
        e = after
    while e != first:  # substitute, backwards
        e = node_before(e, EI, ES, EX)
        if EI[e, KIND] == EDGE:
            after = node_after(e, EI, EX)
            d, side = get3(EX, e, AXIS_NOW), EX[e, SIDE]
            if EI[after, KIND] == EDGE:
                line = sub3(get3(EX, after, X_IN), get3(EX, e, X_OUT))
                side += square_part(d, get3(EX, after, AXIS_NOW), line) * EX[after, MULTIPLIER]
            EX[e, MULTIPLIER] = side / EX[e, PIVOT] if EX[e, PIVOT] > 0.0 else 0.0
    e = first
    while e != last:
        after = node_after(e, EI, EX)
        if EI[e, KIND] == EDGE:
            before = node_before(e, EI, ES, EX)
            x, d, mu = get3(EX, e, X_IN), get3(EX, e, AXIS_NOW), EX[e, MULTIPLIER]
            p = EI[e, CARRIER]
            set3(EX, e, CENTRE_NOW, add3(place_of(PX, p), turn_out(PX, p, get3(EF, e, CENTRE))))
            a, b = sub3(x, get3(EX, before, X_OUT)), sub3(get3(EX, after, X_IN), x)
            bend = sub3(scale3(1.0 / max(norm3(a), 1e-12), a), scale3(1.0 / max(norm3(b), 1e-12), b))
            turn(e, scale3(-mu, cross3(d, bend)), EX)
            pull_span(before, e, scale3(-mu, d), EI, EF, ES, EX, PX)
            pull_span(e, after, scale3(mu, d), EI, EF, ES, EX, PX)
        e = after


@inlined
def bend_between(u, v):
    """κ = 2 u × v/(1 + u·v)."""
    return scale3(2.0 / max(1.0 + dot3(u, v), FOLD), cross3(u, v))


@inlined
def carried(a, u, v):
    """a ⟂ u, carried to v by the smallest rotation."""
    return step3(a, -dot3(a, v) / max(1.0 + dot3(u, v), FOLD), add3(u, v))


@inlined
def angle_between(a, b, u):
    """From a to b about u."""
    return math.atan2(dot3(u, cross3(a, b)), dot3(a, b))


@inlined
def axis_spin(e, n, u, sign, EX):
    """Add sign·(rate at which n spins about u): the moment on `e`; returns the part of u̇."""
    c = dot3(n, u)
    k = sign / max(1.0 - c * c, FOLD)
    turn(e, scale3(k, step3(u, -c, n)), EX)
    return scale3(-k * c, cross3(u, n))


@kernel
def twist_of(c, CI, EI, EF, ES, EX, PX, TF):
    """Angle of twist of cable `c`, in (−π, π], for the path in EX; its wrenches into W_TWIST.

    Spans shorter than SHORT of the cable are left out, unless nothing else lies between two sheaves. The angle steps
    where a span comes in or goes out (`spans_of_twist` then changes).
    """
    first = CI[c, FIRST]
    last = first + CI[c, COUNT] - 1
    total, edges = 0.0, False
    for e in range(first, last + 1):
        for a in range(6):
            EX[e, W_TWIST + a] = 0.0
        total += EX[e, SPAN] + EX[e, ARC]
        if ES[e, ON] != 0.0 and EI[e, KIND] == EDGE:
            edges = True
            EX[e, SIDE], EX[e, PIVOT], EX[e, MULTIPLIER] = 0.0, 0.0, 0.0
    p, q = EI[first, CARRIER], EI[last, CARRIER]
    # the direction now: held by carrier e0 (f0 = −1) or along the span from e0 to f0; `cut` is a sheave whose piece has
    # no direction yet
    u, a = turn_out(PX, p, get3(TF, c, D3_FIRST)), turn_out(PX, p, get3(TF, c, D1_FIRST))
    turn(first, scale3(-1.0, u), EX)
    e0, f0, cut = first, -1, -1
    g, angle = (0.0, 0.0, 0.0), 0.0
    e = first
    while e != last:
        f = node_after(e, EI, EX)
        x1, x2 = get3(EX, e, X_OUT), get3(EX, f, X_IN)
        line = sub3(x2, x1)
        length = norm3(line)
        cuts = EI[f, KIND] == SHEAVE or EI[f, KIND] == CYLINDER
        if length > SHORT * total or (cuts and cut >= 0 and length > 0.0):
            v = scale3(1.0 / length, line)
            if cut >= 0:
                n = get3(EX, cut, AXIS_NOW)
                a = step3(n, -dot3(n, v), v)
                a = scale3(1.0 / max(norm3(a), FOLD), a)
                g = axis_spin(cut, n, v, -1.0, EX)
            else:
                half = scale3(0.5, bend_between(u, v))
                close_direction(e0, f0, u, add3(g, half), EI, EF, ES, EX, PX)
                a, g = carried(a, u, v), half
            u, e0, f0, cut = v, e, f, -1
        if cuts:
            if cut < 0:
                n = get3(EX, f, AXIS_NOW)
                angle += angle_between(a, n, u)
                g = add3(g, axis_spin(f, n, u, 1.0, EX))
                close_direction(e0, f0, u, g, EI, EF, ES, EX, PX)
            cut = f
        e = f
    v, b = turn_out(PX, q, get3(TF, c, D3_LAST)), turn_out(PX, q, get3(TF, c, D1_LAST))
    g_last = (0.0, 0.0, 0.0)
    if cut >= 0:
        n = get3(EX, cut, AXIS_NOW)
        a = step3(n, -dot3(n, v), v)
        g_last = axis_spin(cut, n, v, -1.0, EX)
    else:
        g_last = scale3(0.5, bend_between(u, v))
        close_direction(e0, f0, u, add3(g, g_last), EI, EF, ES, EX, PX)
        a = carried(a, u, v)
    angle += angle_between(a, b, v)
    turn(last, add3(v, cross3(v, g_last)), EX)
    if edges:
        slide_on_edges(first, last, EI, EF, ES, EX, PX)
    return angle - 2.0 * math.pi * math.ceil((angle - math.pi) / (2.0 * math.pi))


@kernel
def spans_of_twist(c, CI, EI, ES, EX):
    """Number of spans that are long enough to count in the twist, over the places where it is cut."""
    first = CI[c, FIRST]
    last = first + CI[c, COUNT] - 1
    total, count = 0.0, 0
    for e in range(first, last + 1):
        total += EX[e, SPAN] + EX[e, ARC]
    e = first
    while e != last:
        f = node_after(e, EI, EX)
        if norm3(sub3(get3(EX, f, X_IN), get3(EX, e, X_OUT))) > SHORT * total:
            count += 1
        if EI[f, KIND] == SHEAVE or EI[f, KIND] == CYLINDER:
            count += 1000
        e = f
    return count
