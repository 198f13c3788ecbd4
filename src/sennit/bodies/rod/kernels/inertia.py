"""Mass, drag and gravity of rods, their kinetic energy and momentum: the same for both models.

`kind` is a table of `Splines` or `Discretes`; the masses between control points i and i + k, k = 0 … 3, are numbers of
its `masses`, and the block of a rod in `values` is laid out as `assemble` of its model says.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.momentum import add_momentum
from sennit.compilation import kernel
from sennit.geometry.kernels.algebra import dot3


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
            for k in range(4):
                c = i + k
                if c >= n:
                    if rods.closed[rod] == 0:
                        break
                    c -= n
                p = dof + 4 * c
                for a in range(4):
                    m = masses.mass[first + i, k] if a < 3 else masses.roll[first + i, k]
                    x, y = weight * (q_trial[o + a] - q_base[o + a]), weight * (q_trial[p + a] - q_base[p + a])
                    force[o + a] -= m * (y + drag * v_base[p + a])
                    if k > 0:
                        force[p + a] -= m * (x + drag * v_base[o + a])


@kernel
def motion_energy(rod, kind, q, v, gravity):
    """Return the kinetic energy of a rod, and that of its weight against the origin, J."""
    rods, masses = kind.rods, kind.masses
    dof, n, first = rods.dof[rod], rods.count[rod], rods.mass_first[rod]
    kinetic, potential = 0.0, 0.0
    for i in range(n):
        o = dof + 4 * i
        mass = masses.total[first + i]
        potential -= mass * (gravity[0] * q[o] + gravity[1] * q[o + 1] + gravity[2] * q[o + 2])
        for k in range(4):
            c = i + k
            if c >= n:
                if rods.closed[rod] == 0:
                    break
                c -= n
            p = dof + 4 * c
            double = 0.5 if k == 0 else 1.0
            for a in range(4):
                m = masses.mass[first + i, k] if a < 3 else masses.roll[first + i, k]
                kinetic += double * m * v[o + a] * v[p + a]
    return kinetic, potential


@kernel
def add_rod_momenta(rod, kind, rolls, q, v, out):
    """Add a rod's linear momentum and angular momentum about the origin to `out` (6,).

    `rolls` is how many of its control points, from the first on, have a roll that moves.
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
        lo, hi = max(i - 1, 0), min(i + 1, n - 1)
        if closed == 1:
            lo, hi = (i + n - 1) % n, (i + 1) % n
        a, b = dof + 4 * lo, dof + 4 * hi
        chord = (q[b] - q[a], q[b + 1] - q[a + 1], q[b + 2] - q[a + 2])
        total = 0.0
        for k in range(4):
            if closed == 1 or i + k < n:
                total += masses.roll[first + i, k] * v[dof + 4 * ((i + k) % n) + 3]
            if k > 0 and (closed == 1 or i - k >= 0):
                total += masses.roll[first + (i - k + n) % n, k] * v[dof + 4 * ((i - k + n) % n) + 3]
        scale = total / math.sqrt(dot3(chord, chord))
        for k in range(3):
            out[3 + k] += scale * chord[k]
