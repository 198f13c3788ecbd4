"""Mass, drag and gravity of rods, their kinetic energy and momentum: the same for both models.

`kind` is a table of `Splines` or `Discretes`; the masses between control points i and i + k, k = 0 … 3, are numbers of
its `masses`, and the block of a rod in `values` is laid out as `assemble` of its model says. A control point's x, y, z
and roll are one pack (`lanes`).
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3, put3
from sennit.bodies.kernels.momentum import add_momentum
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, cross3, dot3, scale3, sub3
from sennit.lanes import WIDTH, add_lanes, add_pack_at, pack, pack_at


@inlined
def masses_between(masses, row, k):
    """The masses between a control point and the k-th one after it, for x, y, z and roll."""
    m = masses.mass[row, k]
    return pack(m, m, m, masses.roll[row, k])


@inlined
def after(i, k, n):
    """The k-th control point after i of a closed rod; beyond an open end, where masses are 0, one that there is."""
    beyond = i + k - n
    return i + k if beyond < 0 else min(beyond, n - 1)


@kernel
def add_inertia(kind, moved, weight, drag, gravity, q_trial, q_base, v_base, force, values):
    """Mass, drag and gravity of the rods; `moved` 0 says that q is still q̂ and the inertial force zero.

    `weight` is that of the mass in the matrix (1/s²), `drag` in 1/s, `gravity` a 3-tuple (m/s²).
    """
    rods, masses = kind.rods, kind.masses
    for rod in range(rods.dof.size):
        dof, n, band, first = rods.dof[rod], rods.count[rod], rods.band[rod], rods.mass_first[rod]
        for i in range(n):
            mass = masses.total[first + i]
            o = dof + 4 * i
            force[o] += mass * gravity[0]
            force[o + 1] += mass * gravity[1]
            force[o + 2] += mass * gravity[2]
            at = band + 64 * i
            for k in range(4):
                m, s = weight * masses.mass[first + i, k], weight * masses.roll[first + i, k]
                values[at + 4 * k] += m
                values[at + 4 * k + 17] += m
                values[at + 4 * k + 34] += m
                values[at + 4 * k + 51] += s
        if moved == 0 and drag == 0.0:
            continue
        for i in range(n):
            o = dof + 4 * i
            x = weight * (pack_at(q_trial, o) - pack_at(q_base, o)) + drag * pack_at(v_base, o)
            add_pack_at(force, o, -(masses_between(masses, first + i, 0) * x))
            for k in range(1, 4):
                p, m = dof + 4 * after(i, k, n), masses_between(masses, first + i, k)
                y = weight * (pack_at(q_trial, p) - pack_at(q_base, p)) + drag * pack_at(v_base, p)
                add_pack_at(force, o, -(m * y))
                add_pack_at(force, p, -(m * x))


@kernel
def kinetic_energy(rod, kind, v):
    """Kinetic energy of a rod with the rates v, J."""
    rods, masses = kind.rods, kind.masses
    dof, n, first = rods.dof[rod], rods.count[rod], rods.mass_first[rod]
    kinetic = pack(0.0, 0.0, 0.0, 0.0)
    for i in range(n):
        o = dof + 4 * i
        momentum = 0.5 * masses_between(masses, first + i, 0) * pack_at(v, o)
        for k in range(1, 4):
            momentum += masses_between(masses, first + i, k) * pack_at(v, dof + 4 * after(i, k, n))
        kinetic += momentum * pack_at(v, o)
    return add_lanes(0.0, kinetic, WIDTH)


@kernel
def kinetic_bound(rod, kind, v):
    """What a rod's kinetic energy is not above, J.

    The masses between control points are positive, and 2 x y ≤ x² + y²: half of them on the diagonal of each is more.
    """
    rods, masses = kind.rods, kind.masses
    dof, n, first = rods.dof[rod], rods.count[rod], rods.mass_first[rod]
    bound = pack(0.0, 0.0, 0.0, 0.0)
    for i in range(n):
        o = dof + 4 * i
        m, rate = masses.total[first + i], pack_at(v, o)
        bound += pack(m, m, m, masses.roll[first + i, 0]) * rate * rate
        for k in range(1, 4):
            other = pack_at(v, dof + 4 * after(i, k, n))
            bound += pack(0.0, 0.0, 0.0, masses.roll[first + i, k]) * (rate * rate + other * other)
    return 0.5 * add_lanes(0.0, bound, WIDTH)


@kernel
def weight_energy(rod, kind, q, gravity):
    """Energy of a rod's weight against the origin, J."""
    rods, masses = kind.rods, kind.masses
    dof, first = rods.dof[rod], rods.mass_first[rod]
    energy = 0.0
    for i in range(rods.count[rod]):
        o = dof + 4 * i
        energy -= masses.total[first + i] * (gravity[0] * q[o] + gravity[1] * q[o + 1] + gravity[2] * q[o + 2])
    return energy


# ----------------------------------------------------------------------------------------------- as part of a group


@inlined
def chord_at(i, n, dof, closed, edges, q):
    """Unit vector along the rod at the roll of control point `i`: across its neighbours, or (`edges`) to the next."""
    lo, hi = (min(i, n - 2), min(i + 1, n - 1)) if edges else (max(i - 1, 0), min(i + 1, n - 1))
    if closed == 1:
        lo, hi = (i if edges else (i + n - 1) % n), (i + 1) % n
    a, b = dof + 4 * lo, dof + 4 * hi
    chord = (q[b] - q[a], q[b + 1] - q[a + 1], q[b + 2] - q[a + 2])
    return scale3(1.0 / math.sqrt(dot3(chord, chord)), chord)


@kernel
def weigh(rod, kind, q, groups, g):
    """Add a rod's mass and its first moment to group g."""
    rods, masses = kind.rods, kind.masses
    dof, first = rods.dof[rod], rods.mass_first[rod]
    mass, moment = 0.0, (0.0, 0.0, 0.0)
    for i in range(rods.count[rod]):
        m, o = masses.total[first + i], dof + 4 * i
        mass += m
        moment = add3(moment, scale3(m, (q[o], q[o + 1], q[o + 2])))
    groups.mass[g] += mass
    put3(groups.centre, g, add3(get3(groups.centre, g), moment))


@inlined
def add_products(moments, weight, x, y):
    """Add weight · (x yᵀ + y xᵀ) to the numbers xx, yy, zz, xy, yz, zx of a symmetric matrix."""
    return (
        moments[0] + 2.0 * weight * x[0] * y[0],
        moments[1] + 2.0 * weight * x[1] * y[1],
        moments[2] + 2.0 * weight * x[2] * y[2],
        moments[3] + weight * (x[0] * y[1] + x[1] * y[0]),
        moments[4] + weight * (x[1] * y[2] + x[2] * y[1]),
        moments[5] + weight * (x[2] * y[0] + x[0] * y[2]),
    )


@kernel
def add_rod_to_group(rod, kind, rolls, edges, q, v, groups, g):
    """Add a rod's momentum, angular momentum and inertia about its group's centre; `rolls` as in `add_rod_momenta`.

    Σ mᵢₖ ρᵢ × vₖ, and with vₖ = ω × ρₖ and rolls ω·t the same as (Σ mᵢₖ (ρᵢ·ρₖ − ρₖρᵢᵀ) + Σ sᵢₖ tᵢtₖᵀ) ω. Masses and
    partners are added up first, half of each pair: one product for each control point instead of four.
    """
    rods, masses = kind.rods, kind.masses
    dof, n, closed, first = rods.dof[rod], rods.count[rod], rods.closed[rod], rods.mass_first[rod]
    for i in range(rolls):
        put3(masses.chord, first + i, chord_at(i, n, dof, closed, edges, q))
    centre = get3(groups.centre, g)
    momentum = spin = (0.0, 0.0, 0.0)
    moments = turned = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(n):
        o = dof + 4 * i
        x, vx = sub3((q[o], q[o + 1], q[o + 2]), centre), (v[o], v[o + 1], v[o + 2])
        momentum = add3(momentum, scale3(masses.total[first + i], vx))
        m, s = 0.5 * masses.mass[first + i, 0], 0.5 * masses.roll[first + i, 0]
        t = get3(masses.chord, first + i)
        y, vy, u, rate = scale3(m, x), scale3(m, vx), scale3(s, t), s * v[o + 3]
        for k in range(1, 4):
            c = after(i, k, n)
            p = dof + 4 * c
            m, s = masses.mass[first + i, k], masses.roll[first + i, k]
            y = add3(y, scale3(m, sub3((q[p], q[p + 1], q[p + 2]), centre)))
            vy = add3(vy, scale3(m, (v[p], v[p + 1], v[p + 2])))
            if c < rolls:
                u, rate = add3(u, scale3(s, get3(masses.chord, first + c))), rate + s * v[p + 3]
        spin = add3(spin, add3(cross3(x, vy), cross3(y, vx)))
        moments = add_products(moments, 1.0, x, y)
        if i < rolls:
            spin = add3(spin, add3(scale3(rate, t), scale3(v[o + 3], u)))
            turned = add_products(turned, 1.0, t, u)
    put3(groups.momentum, g, add3(get3(groups.momentum, g), momentum))
    put3(groups.spin, g, add3(get3(groups.spin, g), spin))
    trace = moments[0] + moments[1] + moments[2]
    for a in range(3):
        groups.inertia[g, 4 * a] += trace + turned[a] - moments[a]
        b, c = 3 * a + (a + 1) % 3, 3 * ((a + 1) % 3) + a
        groups.inertia[g, b] += turned[3 + a] - moments[3 + a]
        groups.inertia[g, c] += turned[3 + a] - moments[3 + a]


@kernel
def blend_rod_motion(rod, kind, rolls, edges, q, v, share, groups, g):
    """Rates become `share` times their own plus the rigid motion of the group."""
    rods = kind.rods
    dof, n, closed = rods.dof[rod], rods.count[rod], rods.closed[rod]
    centre, velocity, turning = get3(groups.centre, g), get3(groups.velocity, g), get3(groups.turning, g)
    for i in range(n):
        o = dof + 4 * i
        lever = cross3(turning, sub3((q[o], q[o + 1], q[o + 2]), centre))
        for k in range(3):
            v[o + k] = share * v[o + k] + velocity[k] + lever[k]
        if i < rolls:
            v[o + 3] = share * v[o + 3] + dot3(turning, chord_at(i, n, dof, closed, edges, q))


@kernel
def shift(rod, kind, q, move, g):
    """Move a rod by row g of `move`."""
    dof = kind.rods.dof[rod]
    for i in range(kind.rods.count[rod]):
        for k in range(3):
            q[dof + 4 * i + k] += move[g, k]


@kernel
def add_rod_momenta(rod, kind, rolls, edges, q, v, out):
    """Add a rod's linear momentum and angular momentum about the origin to `out` (6,).

    `rolls` is how many of its control points, from the first on, have a roll that moves; `edges`: rolls are of edges.
    """
    rods, masses = kind.rods, kind.masses
    dof, n, closed, first = rods.dof[rod], rods.count[rod], rods.closed[rod], rods.mass_first[rod]
    for i in range(n):
        for k in range(4):
            c = i + k
            if c >= n:
                if closed == 0:
                    break
                c -= n
            for way in range(1 if k == 0 else 2):
                o, p = (dof + 4 * i, dof + 4 * c) if way == 0 else (dof + 4 * c, dof + 4 * i)
                m = masses.mass[first + i, k]
                add_momentum(m, (q[o], q[o + 1], q[o + 2]), (v[p], v[p + 1], v[p + 2]), out)
    # Spin of the section about the tangent, control point by control point.
    for i in range(rolls):
        along = chord_at(i, n, dof, closed, edges, q)
        total = 0.0
        for k in range(4):
            if closed == 1 or i + k < n:
                total += masses.roll[first + i, k] * v[dof + 4 * ((i + k) % n) + 3]
            if k > 0 and (closed == 1 or i - k >= 0):
                total += masses.roll[first + (i - k + n) % n, k] * v[dof + 4 * ((i - k + n) % n) + 3]
        for k in range(3):
            out[3 + k] += total * along[k]
