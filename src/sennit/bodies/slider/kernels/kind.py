"""What a slider does in a step: mass, weight and drag of what slides, and whether it leaves its rod."""

from __future__ import annotations

import math

from sennit.bodies.kernels.entries import put, put_block
from sennit.bodies.kernels.momentum import add_momentum, add_to_group
from sennit.bodies.kernels.points import WIDTH, add_point_stiffness, add_wrench, dof_of
from sennit.bodies.rod.kernels.point import SLIDE, place_moved
from sennit.bodies.rod.spline.kernels.basis import spline_span
from sennit.compilation import merged
from sennit.geometry.kernels.algebra import cross3, dot3, scale3, sub3
from sennit.bodies.kernels.frames import get3, place_of


@merged
def list_entries(sliders, points, n, row, col, slot):
    """Entries of the sliders' own rows, from number `n` on."""
    for s in range(sliders.dof.size):
        p, at = sliders.point[s], sliders.slots[s]
        for entry in range(WIDTH):
            dof = dof_of(p, entry, points)
            if dof >= 0:
                n = put(n, sliders.dof[s], dof, at + entry, row, col, slot)
    return n


@merged
def list_blocks(sliders, b, at, floating, start, kind):
    """A block of one unknown each, to be eliminated after the rows that hold it."""
    for _ in range(sliders.dof.size):
        b = put_block(b, at, floating, start, kind)
        at += 1
    return b, at


@merged
def predict(sliders, rods, points, scheme, q, q_base, v_base):
    """Free flight of what slides; returns 1 if a slider enters another span, which changes the pattern of its rows."""
    A, B, C, D, E = scheme.a[0], scheme.b[0], scheme.c[0], scheme.d[0], scheme.e[0]
    reach = scheme.reach[0]
    crossed = 0
    for s in range(sliders.dof.size):
        dof, p, rod = sliders.dof[s], sliders.point[s], sliders.rod[s]
        for k in range(3):
            w = D * sliders.velocity[s, k] + E * sliders.velocity_last[s, k]
            sliders.velocity_base[s, k] = w
            sliders.position_base[s, k] = (
                A * sliders.position[s, k] + B * sliders.position_last[s, k] + C * sliders.velocity[s, k] + reach * w
            )
        if sliders.attached[s] == 0:
            v_base[dof] = 0.0
            q_base[dof] = q[dof]
            continue
        span, _ = spline_span(q_base[dof] * sliders.scale[s], rods.spans[rod], rods.closed[rod] == 1)
        points.first[p] = span
        if span != sliders.span[s]:
            crossed = 1
    return crossed


@merged
def hold(sliders):
    """A static solve begins at the state."""
    for s in range(sliders.dof.size):
        for k in range(3):
            sliders.position_base[s, k] = sliders.position[s, k]
            sliders.velocity_base[s, k] = sliders.velocity[s, k]


@merged
def assemble(sliders, points, places, step, moved, motion, trial, values):
    """Mass, weight and viscous drag of what slides, where the points are. A bead off its rod holds nothing.

    `moved`: -1 in statics, 0 where the iterate is still free flight, else 1.
    """
    q, q_trial, force, gravity = motion.q, trial.q, trial.force, step.gravity
    for s in range(sliders.dof.size):
        p, dof, at = sliders.point[s], sliders.dof[s], sliders.slots[s]
        if sliders.attached[s] == 0:
            values[at + SLIDE] = 1.0
            continue
        mass = sliders.mass[s]
        if mass > 0.0:
            w = mass * (step.mass_weight[0] + step.drag_weight[0])
            add_point_stiffness(p, (w, 0.0, 0.0, 0.0, w, 0.0, 0.0, 0.0, w), points, places, values)
            f = (mass * gravity[0, 0], mass * gravity[0, 1], mass * gravity[0, 2])
            if moved >= 0:
                gap = sub3(place_of(places, p), get3(sliders.position_base, s))
                f = sub3(f, scale3(w, gap))
                f = sub3(f, scale3(mass * step.drag[0], get3(sliders.velocity_base, s)))
            add_wrench(p, f, (0.0, 0.0, 0.0), 1.0, points, places, trial.small, force)
            if moved < 0:
                # how the weight's pull along the rod changes as it slides and as the rod turns
                scale = points.scale[p]
                values[at + SLIDE] -= scale * dot3(f, get3(places.bend, p))
                for k in range(4):
                    for a in range(3):
                        values[at + 4 * k + a] -= scale * points.slope_basis[p, k] * f[a]
        if sliders.drag[s] > 0.0 and moved >= 0:
            slope = get3(places.slope, p)
            # the rate by the scheme's own formula, as of a damper
            c = sliders.drag[s] * dot3(slope, slope) * step.strain_rate[0]
            values[at + SLIDE] += c
            force[dof] -= c * (q_trial[dof] - q[dof] - step.memory[0] * (motion.q_last[dof] - q[dof]))


@merged
def largest_turn(sliders, rods, dq):
    """Largest move by `dq`, in mean span lengths."""
    largest = 0.0
    for s in range(sliders.dof.size):
        rod = sliders.rod[s]
        largest = max(largest, abs(dq[sliders.dof[s]]) * rods.spans[rod] / rods.length[rod])
    return largest


@merged
def land(sliders, points, places, dq):
    """Where the linearised solve puts them, x + Σ Nᵢ ΔPᵢ + r′ Δσ from the iterate's x.

    It is there that the solve has balanced the inertia of a mass, and its velocity follows from there: that of the
    place on the bent rod, about ½ r″ Δσ² off, would be momentum from nothing.
    """
    for s in range(sliders.dof.size):
        p = sliders.point[s]
        x = place_moved(p, place_of(places, p), points, dq)
        slide = dq[sliders.dof[s]]
        for k in range(3):
            sliders.landed[s, k] = x[k] + slide * places.slope[p, k]


@merged
def find_rates(sliders, beta):
    """Velocities that the step gives the masses."""
    for s in range(sliders.dof.size):
        for k in range(3):
            w = sliders.velocity_base[s, k] + beta * (sliders.landed[s, k] - sliders.position_base[s, k])
            sliders.velocity_trial[s, k] = w if sliders.attached[s] == 1 else 0.0


@merged
def leave(sliders, rods, motion):
    """Keep the state before, and let go of what has passed the end of its rod; returns how many have."""
    q, v = motion.q, motion.v
    left = 0
    for s in range(sliders.dof.size):
        rod, dof = sliders.rod[s], sliders.dof[s]
        for k in range(3):
            sliders.position_last[s, k] = sliders.position[s, k]
            sliders.velocity_last[s, k] = sliders.velocity[s, k]
        spans, closed = rods.spans[rod], rods.closed[rod]
        u = q[dof] * sliders.scale[s]
        if sliders.attached[s] == 1 and closed == 0 and (u < -1e-9 * spans or u > (1.0 + 1e-9) * spans):
            sliders.attached[s] = 0
            left += 1
        if sliders.attached[s] == 0:
            v[dof] = 0.0
            q[dof] = min(max(u, 0.0), float(spans)) / sliders.scale[s] if closed == 0 else q[dof]
        elif closed == 1:
            turn = spans * math.floor(u / spans) / sliders.scale[s]
            q[dof] -= turn
            motion.q_last[dof] -= turn
    return left


@merged
def accept(sliders, places, static):
    """Places of the masses, where their points are, and their velocities."""
    for s in range(sliders.dof.size):
        for k in range(3):
            sliders.position[s, k] = places.position[sliders.point[s], k]
            moves = static == 0 and sliders.attached[s] == 1
            sliders.velocity[s, k] = sliders.velocity_trial[s, k] if moves else 0.0


@merged
def kinetic_energy(sliders, velocity):
    """Of the masses that slide, with these velocities, J."""
    total = 0.0
    for s in range(sliders.dof.size):
        if sliders.attached[s] == 1:
            w = get3(velocity, s)
            total += 0.5 * sliders.mass[s] * dot3(w, w)
    return total


@merged
def weight_energy(sliders, places, gravity, moved):
    """Of the masses that slide against the origin, J, at the state or (`moved`) where their points are evaluated."""
    total = 0.0
    for s in range(sliders.dof.size):
        if sliders.attached[s] == 1:
            x = place_of(places, sliders.point[s]) if moved else get3(sliders.position, s)
            total -= sliders.mass[s] * dot3(gravity, x)
    return total


@merged
def weigh(sliders, groups):
    """Add masses and their first moments to the groups."""
    for s in range(sliders.dof.size):
        if sliders.attached[s] == 1:
            g = groups.of_slider[s]
            groups.mass[g] += sliders.mass[s]
            for k in range(3):
                groups.centre[g, k] += sliders.mass[s] * sliders.position[s, k]


@merged
def add_to_groups(sliders, groups):
    """Add momenta, angular momenta and inertias to the groups'."""
    for s in range(sliders.dof.size):
        if sliders.attached[s] == 1:
            g = groups.of_slider[s]
            arm = sub3(get3(sliders.position, s), get3(groups.centre, g))
            add_to_group(sliders.mass[s], arm, get3(sliders.velocity, s), groups, g)


@merged
def blend_motion(sliders, v, share, groups):
    """Velocities become `share` times their own plus the rigid motion of the group; of the sliding, the share stays."""
    for s in range(sliders.dof.size):
        if sliders.attached[s] == 1:
            g = groups.of_slider[s]
            lever = cross3(get3(groups.turning, g), sub3(get3(sliders.position, s), get3(groups.centre, g)))
            for k in range(3):
                sliders.velocity[s, k] = share * sliders.velocity[s, k] + groups.velocity[g, k] + lever[k]
            v[sliders.dof[s]] *= share


@merged
def energies(sliders, gravity, out, first):
    """Kinetic and gravitational energy of each slider, into the rows of `out` from `first` on, J."""
    for s in range(sliders.dof.size):
        i = first + s
        mass = sliders.mass[s]
        if sliders.attached[s] == 1:
            for a in range(3):
                out.kinetic[i] += 0.5 * mass * sliders.velocity[s, a] * sliders.velocity[s, a]
                out.gravity[i] -= mass * gravity[a] * sliders.position[s, a]


@merged
def momenta(sliders, out):
    """Add linear and angular momentum about the origin to out (6,)."""
    for s in range(sliders.dof.size):
        if sliders.attached[s] == 1:
            add_momentum(sliders.mass[s], get3(sliders.position, s), get3(sliders.velocity, s), out)
