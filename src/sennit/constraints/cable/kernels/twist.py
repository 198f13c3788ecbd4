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

from sennit.constraints.cable.kernels.path import follow_grooves, groove_at, norm3, step3
from sennit.constraints.cable.kernels.kinds import CYLINDER, EDGE, SHEAVE, SPHERE, TWISTS
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
from sennit.bodies.kernels.frames import get3, place_of, turn_out

# Spans shorter than this part of the cable have no direction of their own
SHORT = 1e-3
# Least 1 + u·u⁺ and 1 − c²: a cable folded back on itself has no smallest rotation
FOLD = 1e-9


@inlined
def bends(e, elements):
    """False for a sphere that the cable passes straight."""
    return elements.kind[e] != SPHERE or elements.arc[e] > 0.0


@kernel
def node_after(e, elements):
    e = elements.following[e]
    while not bends(e, elements):
        e = elements.following[e]
    return e


@kernel
def node_before(e, elements):
    e -= 1
    while elements.on[e] == 0 or not bends(e, elements):
        e -= 1
    return e


@inlined
def pull(e, x, f, elements, places):
    """Add the force f at x to the twist's wrench on the carrier of `e`."""
    m = cross3(sub3(x, place_of(places, elements.carrier[e])), f)
    for a in range(3):
        elements.wrench[e, TWISTS, a] += f[a]
        elements.wrench[e, TWISTS, 3 + a] += m[a]


@inlined
def turn(e, m, elements):
    for a in range(3):
        elements.wrench[e, TWISTS, 3 + a] += m[a]


@kernel
def turn_sphere(e, s, f, way, g, elements, places):
    """Wrenches of g·ṫ for the span before (way −1) or after (1) the sphere `s`, with neighbours `e` and `f`.

    In the plane of the neighbours a = p − c, b = q − c, normal n: with ê towards the span's other end at distance D,
    f̂ = n × ê and η = acos(r/D), the direction is t = way sin η ê + cos η f̂ and the radius m = cos η ê − way sin η f̂.
    t turns with (ê, f̂, n) and by −η̇ m, or η̇ m.
    """
    c, n, r = get3(elements.centre_now, s), get3(elements.axis_now, s), elements.radius[s]
    p, q = get3(elements.leave, e), get3(elements.arrive, f)
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
    pull(e, p, on_p, elements, places)
    pull(f, q, on_q, elements, places)
    pull(s, c, scale3(-1.0, add3(on_p, on_q)), elements, places)


@inlined
def in_plane(n, a):
    return step3(a, -dot3(a, n), n)


@kernel
def climb_cylinder(e, s, f, way, push, elements, places):
    """Wrenches of the axial force `push` on where the cable meets (way −1) or leaves (1) cylinder `s`, sliding on it.

    Unrolled, the way from p to q is straight: with ℓ' the in-plane length of the span, S that of the whole way and
    λ = ℓ'/S, heights are z_in = z_p + λ (z_q − z_p), z_out = z_q − λ (z_q − z_p), and dλ = (dℓ' − λ dS)/S, where
    dS = −k'_in·dp + k'_out·dq and dℓ' = (p − c)'·dp/ℓ'.
    """
    c, n = get3(elements.centre_now, s), get3(elements.axis_now, s)
    p, q = get3(elements.leave, e), get3(elements.arrive, f)
    span_p, span_q = sub3(get3(elements.arrive, s), p), sub3(q, get3(elements.leave, s))
    flat_p, flat_q = in_plane(n, span_p), in_plane(n, span_q)
    ahead_p, ahead_q = max(norm3(flat_p), 1e-12), max(norm3(flat_q), 1e-12)
    whole = max(norm3(span_p) + elements.arc[s] + norm3(span_q), 1e-12)
    if way < 0.0:
        share, climb = norm3(span_p) / whole, dot3(span_p, n) / ahead_p
        on_p = step3(scale3(1.0 - share, n), climb / ahead_p, step3(in_plane(n, sub3(p, c)), share, flat_p))
        on_q = step3(scale3(share, n), -climb * share / ahead_q, flat_q)
    else:
        share, climb = norm3(span_q) / whole, dot3(span_q, n) / ahead_q
        on_q = step3(scale3(1.0 - share, n), -climb / ahead_q, step3(in_plane(n, sub3(q, c)), -share, flat_q))
        on_p = step3(scale3(share, n), -climb * share / ahead_p, flat_p)
    pull(e, p, scale3(push, on_p), elements, places)
    pull(s, p, scale3(-push, on_p), elements, places)
    pull(f, q, scale3(push, on_q), elements, places)
    pull(s, q, scale3(-push, on_q), elements, places)


@kernel
def pull_span(e, f, g, elements, places):
    """Add the wrenches of g·ṫ, t the direction of the span from `e` to `f`."""
    kind1, kind2 = elements.kind[e], elements.kind[f]
    if kind1 == SPHERE and kind2 != SPHERE:
        turn_sphere(node_before(e, elements), e, f, 1.0, g, elements, places)
        return
    if kind2 == SPHERE and kind1 != SPHERE:
        turn_sphere(e, f, node_after(f, elements), -1.0, g, elements, places)
        return
    x1, x2 = get3(elements.leave, e), get3(elements.arrive, f)
    line = sub3(x2, x1)
    length = max(norm3(line), 1e-12)
    k = scale3(1.0 / length, line)
    force = scale3(1.0 / length, step3(g, -dot3(g, k), k))
    pull(f, x2, force, elements, places)
    pull(e, x1, scale3(-1.0, force), elements, places)
    zero = (0.0, 0.0, 0.0)
    r1, m1, t1, r2, m2, t2 = 0.0, zero, k, 0.0, zero, k
    if kind1 == SHEAVE or kind1 == CYLINDER:
        r1, m1, t1 = groove_at(e, x1, elements)
    if kind2 == SHEAVE or kind2 == CYLINDER:
        r2, m2, t2 = groove_at(f, x2, elements)
    s1, s2 = -r1 * dot3(force, t1), r2 * dot3(force, t2)
    tangent, mu1, mu2 = follow_grooves(length, k, r1, m1, t1, r2, m2, t2, s1, s2)
    if tangent:
        pull(f, x2, scale3(-mu1, m1), elements, places)
        pull(e, x2, scale3(mu1, m1), elements, places)
        pull(f, x1, scale3(mu2, m2), elements, places)
        pull(e, x1, scale3(-mu2, m2), elements, places)
    if kind1 == CYLINDER:
        push = -dot3(force, get3(elements.axis_now, e))
        climb_cylinder(node_before(e, elements), e, f, 1.0, push, elements, places)
    if kind2 == CYLINDER:
        push = dot3(force, get3(elements.axis_now, f))
        climb_cylinder(e, f, node_after(f, elements), -1.0, push, elements, places)


@kernel
def close_direction(e, f, u, g, elements, places):
    """Add the wrenches of g·u̇: of the span from `e` to `f`, or, f = −1, of a direction held by the carrier of `e`."""
    if f < 0:
        turn(e, cross3(u, g), elements)
        return
    pull_span(e, f, g, elements, places)
    for s, sign in ((e, -1.0), (f, 1.0)):
        if elements.kind[s] == EDGE:
            line = sub3(get3(elements.arrive, f), get3(elements.leave, e))
            length = max(norm3(line), 1e-12)
            d = get3(elements.axis_now, s)
            elements.adjoint_side[s] += sign * (dot3(g, d) - dot3(g, u) * dot3(u, d)) / length


@inlined
def square_part(d, d_next, line):
    """d·(I − kkᵀ) d_next/|line|, k along the line."""
    length = max(norm3(line), 1e-12)
    return (dot3(d, d_next) - dot3(d, line) * dot3(d_next, line) / (length * length)) / length


@kernel
def slide_on_edges(first, last, elements, places):
    """Wrenches that come from places sliding on edges: D·(k_in − k_out) = 0 holds while the carriers move.

    The multipliers solve the tridiagonal system of the length's second derivative; an edge held at its end has none.
    """
    e = first
    while e != last:  # eliminate, forwards
        after = node_after(e, elements)
        if elements.kind[e] == EDGE:
            before = node_before(e, elements)
            d, x = get3(elements.axis_now, e), get3(elements.arrive, e)
            line = sub3(x, get3(elements.leave, before))
            pivot = square_part(d, d, line) + square_part(d, d, sub3(get3(elements.arrive, after), x))
            if elements.kind[before] == EDGE and elements.adjoint_pivot[before] > 0.0:
                share = -square_part(d, get3(elements.axis_now, before), line) / elements.adjoint_pivot[before]
                pivot -= share * share * elements.adjoint_pivot[before]
                elements.adjoint_side[e] -= share * elements.adjoint_side[before]
            elements.adjoint_pivot[e] = pivot if 0.0 < elements.u[e] < 1.0 and pivot > 1e-12 * dot3(d, d) else 0.0
        e = after
    while e != first:  # substitute, backwards
        e = node_before(e, elements)
        if elements.kind[e] == EDGE:
            after = node_after(e, elements)
            d, side = get3(elements.axis_now, e), elements.adjoint_side[e]
            if elements.kind[after] == EDGE:
                line = sub3(get3(elements.arrive, after), get3(elements.leave, e))
                side += square_part(d, get3(elements.axis_now, after), line) * elements.adjoint[after]
            elements.adjoint[e] = side / elements.adjoint_pivot[e] if elements.adjoint_pivot[e] > 0.0 else 0.0
    e = first
    while e != last:
        after = node_after(e, elements)
        if elements.kind[e] == EDGE:
            before = node_before(e, elements)
            x, d, mu = get3(elements.arrive, e), get3(elements.axis_now, e), elements.adjoint[e]
            a, b = sub3(x, get3(elements.leave, before)), sub3(get3(elements.arrive, after), x)
            bend = sub3(scale3(1.0 / max(norm3(a), 1e-12), a), scale3(1.0 / max(norm3(b), 1e-12), b))
            turn(e, scale3(-mu, cross3(d, bend)), elements)
            pull_span(before, e, scale3(-mu, d), elements, places)
            pull_span(e, after, scale3(mu, d), elements, places)
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
def axis_spin(e, n, u, sign, elements):
    """Add sign·(rate at which n spins about u): the moment on `e`; returns the part of u̇."""
    c = dot3(n, u)
    k = sign / max(1.0 - c * c, FOLD)
    turn(e, scale3(k, step3(u, -c, n)), elements)
    return scale3(-k * c, cross3(u, n))


@kernel
def twist_of(c, cables, elements, places):
    """Angle of twist of cable `c`, in (−π, π], for the path as it was placed, with its wrenches.

    Spans shorter than SHORT of the cable are left out, unless nothing else lies between two sheaves. The angle steps
    where a span comes in or goes out (`spans_of_twist` then changes).
    """
    first = cables.first[c]
    last = first + cables.count[c] - 1
    total, edges = 0.0, False
    for e in range(first, last + 1):
        for a in range(6):
            elements.wrench[e, TWISTS, a] = 0.0
        total += elements.span[e] + elements.arc[e]
        if elements.on[e] != 0 and elements.kind[e] == EDGE:
            edges = True
            elements.adjoint_side[e], elements.adjoint_pivot[e], elements.adjoint[e] = 0.0, 0.0, 0.0
    p, q = elements.carrier[first], elements.carrier[last]
    # the direction now: held by carrier e0 (f0 = −1) or along the span from e0 to f0; `cut` is a sheave whose piece has
    # no direction yet
    u, a = turn_out(places, p, get3(cables.first_direction, c)), turn_out(places, p, get3(cables.first_director, c))
    turn(first, scale3(-1.0, u), elements)
    e0, f0, cut = first, -1, -1
    g, angle = (0.0, 0.0, 0.0), 0.0
    e = first
    while e != last:
        f = node_after(e, elements)
        x1, x2 = get3(elements.leave, e), get3(elements.arrive, f)
        line = sub3(x2, x1)
        length = norm3(line)
        cuts = elements.kind[f] == SHEAVE or elements.kind[f] == CYLINDER
        if length > SHORT * total or (cuts and cut >= 0 and length > 0.0):
            v = scale3(1.0 / length, line)
            if cut >= 0:
                n = get3(elements.axis_now, cut)
                a = step3(n, -dot3(n, v), v)
                a = scale3(1.0 / max(norm3(a), FOLD), a)
                g = axis_spin(cut, n, v, -1.0, elements)
            else:
                half = scale3(0.5, bend_between(u, v))
                close_direction(e0, f0, u, add3(g, half), elements, places)
                a, g = carried(a, u, v), half
            u, e0, f0, cut = v, e, f, -1
        if cuts:
            if cut < 0:
                n = get3(elements.axis_now, f)
                angle += angle_between(a, n, u)
                g = add3(g, axis_spin(f, n, u, 1.0, elements))
                close_direction(e0, f0, u, g, elements, places)
            cut = f
        e = f
    v, b = turn_out(places, q, get3(cables.last_direction, c)), turn_out(places, q, get3(cables.last_director, c))
    g_last = (0.0, 0.0, 0.0)
    if cut >= 0:
        n = get3(elements.axis_now, cut)
        a = step3(n, -dot3(n, v), v)
        g_last = axis_spin(cut, n, v, -1.0, elements)
    else:
        g_last = scale3(0.5, bend_between(u, v))
        close_direction(e0, f0, u, add3(g, g_last), elements, places)
        a = carried(a, u, v)
    angle += angle_between(a, b, v)
    turn(last, add3(v, cross3(v, g_last)), elements)
    if edges:
        slide_on_edges(first, last, elements, places)
    return angle - 2.0 * math.pi * math.ceil((angle - math.pi) / (2.0 * math.pi))


@kernel
def spans_of_twist(c, cables, elements):
    """Number of spans that are long enough to count in the twist, over the places where it is cut."""
    first = cables.first[c]
    last = first + cables.count[c] - 1
    total, count = 0.0, 0
    for e in range(first, last + 1):
        total += elements.span[e] + elements.arc[e]
    e = first
    while e != last:
        f = node_after(e, elements)
        if norm3(sub3(get3(elements.arrive, f), get3(elements.leave, e))) > SHORT * total:
            count += 1
        if elements.kind[f] == SHEAVE or elements.kind[f] == CYLINDER:
            count += 1000
        e = f
    return count
