"""Strains of a spline rod, its frames, tensions and energy, point by point.

The centreline r(u) = Σ Nᵢ Pᵢ and the roll θ(u) = Σ Nᵢ φᵢ are cubic splines; u runs over the spans, a prime is d/du.
With a = r′, b = r″, j = |a|, t = a/j, the frame d1 = cos θ u1 + sin θ u2, d2 = t × d1, d3 = t stands on a reference
vector u1 ⟂ t that is carried from shape to shape without turning about t; m is its twist along the rod::

    β = t′ = (b − (b·t) t)/j      β₃ = b·t/j
    ε = j/J − 1    κ1 = −β·d2/J    κ2 = β·d1/J    τ = (θ′ + m)/J          J = |r0′| at rest
    energy = Σ w J/2 [EA ε² + B1 (κ1 − κ̂1)² + B2 (κ2 − κ̂2)² + GJ (τ − τ̂)²]

In all functions `rod` is a row of `kind.rods`, `kind` a table of `Splines`, `q` the degrees of freedom of the scene.
`frames` (`BendStates`) and `tensions` (`StretchStates`) are one of the states that `kind` holds.
"""

from __future__ import annotations

import math

from sennit.bodies.rod.spline.kernels.basis import blend3, blend_roll, control_dofs
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, angle_of, cross3, dot3, mat_vec, scale3, wider

# ---------------------------------------------------------------------------------------------------- one point of it


@inlined
def tangent_of(a, b):
    """1/j, t, β and β₃ of a = r′ and b = r″."""
    per_j = 1.0 / math.sqrt(dot3(a, a))
    t = scale3(per_j, a)
    along = dot3(b, t)
    beta = (b[0] - along * t[0]) * per_j, (b[1] - along * t[1]) * per_j, (b[2] - along * t[2]) * per_j
    return per_j, t, beta, along * per_j


@inlined
def directors(theta, t, frames, row):
    """d1 and d2 from the roll and the reference vector u1 of a frame."""
    u1 = frames.reference[row, 0], frames.reference[row, 1], frames.reference[row, 2]
    u2 = cross3(t, u1)
    c, s = math.cos(theta), math.sin(theta)
    d1 = c * u1[0] + s * u2[0], c * u1[1] + s * u2[1], c * u1[2] + s * u2[2]
    d2 = c * u2[0] - s * u1[0], c * u2[1] - s * u1[1], c * u2[2] - s * u1[2]
    return d1, d2


@inlined
def bend_strains(q, dofs, bends, frames, row):
    """κ1, κ2, τ at a bending point whose frame was carried to q."""
    a, b = blend3(q, dofs, bends.slope_basis, row), blend3(q, dofs, bends.bend_basis, row)
    theta, dtheta = blend_roll(q, dofs, bends.basis, row), blend_roll(q, dofs, bends.slope_basis, row)
    per_j, t, beta, beta3 = tangent_of(a, b)
    d1, d2 = directors(theta, t, frames, row)
    per_rest = 1.0 / bends.speed[row]
    return -dot3(beta, d2) * per_rest, dot3(beta, d1) * per_rest, (dtheta + frames.twist[row]) * per_rest


@inlined
def stretch_strain(q, dofs, stretches, row):
    """ε at a stretching point."""
    a = blend3(q, dofs, stretches.slope_basis, row)
    return math.sqrt(dot3(a, a)) / stretches.speed[row] - 1.0


# ------------------------------------------------------------------------------------------------------------ frames


@kernel
def carry_frames(rod, kind, q, source, target):
    """Carry a rod's frames from the shape that `source` (`BendStates`) belongs to, to the shape q.

    From the old tangent p to the new one t, by the smallest rotation; exact for steps of any size below π::

        u1 ← u1 − (u1·t)(p + t)/(1 + p·t)        m ← m + (t × p)·(p′ + t′)/(1 + p·t)

    `target` receives t, u1, t′, m and the unchanged strains; it may be `source` itself.
    """
    rods, bends = kind.rods, kind.bends
    dof, n = rods.dof[rod], rods.count[rod]
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        dofs = control_dofs(bends.span[row], dof, n)
        a, b = blend3(q, dofs, bends.slope_basis, row), blend3(q, dofs, bends.bend_basis, row)
        per_j, t, beta, beta3 = tangent_of(a, b)
        p = source.tangent[row, 0], source.tangent[row, 1], source.tangent[row, 2]
        u = source.reference[row, 0], source.reference[row, 1], source.reference[row, 2]
        dp = source.bending[row, 0], source.bending[row, 1], source.bending[row, 2]
        # A tangent turned right round has no smallest rotation; u1 then stays as it is.
        k = 1.0 / max(1.0 + dot3(p, t), 1e-12)
        m = source.twist[row] + k * dot3(cross3(t, p), (dp[0] + beta[0], dp[1] + beta[1], dp[2] + beta[2]))
        ku = k * dot3(u, t)
        u = u[0] - ku * (p[0] + t[0]), u[1] - ku * (p[1] + t[1]), u[2] - ku * (p[2] + t[2])
        # Rounding must not build up over millions of steps.
        ku = dot3(u, t)
        u = u[0] - ku * t[0], u[1] - ku * t[1], u[2] - ku * t[2]
        u = scale3(1.5 - 0.5 * dot3(u, u), u)
        for i in range(3):
            target.strain[row, i] = source.strain[row, i]
        target.tangent[row, 0], target.tangent[row, 1], target.tangent[row, 2] = t
        target.reference[row, 0], target.reference[row, 1], target.reference[row, 2] = u
        target.bending[row, 0], target.bending[row, 1], target.bending[row, 2] = beta
        target.twist[row] = m


@inlined
def turned3(vectors, row, rotation):
    """A row of `vectors` turned by a rotation matrix."""
    return mat_vec(rotation, (vectors[row, 0], vectors[row, 1], vectors[row, 2]))


@kernel
def rotate_frames(rod, kind, frames, matrix):
    """Turn t, u1 and t′ of a rod's `frames` by a rotation matrix (9-tuple, row by row).

    With the control points turned alike this is a rigid rotation: strains, energy and m stay. Done before a step by the
    rod's own rigid rotation, it keeps the roll of a tumbling rod small (roll alone follows ω·t, which is no spline).
    """
    t, u, dt = frames.tangent, frames.reference, frames.bending
    for row in range(kind.rods.bend_first[rod], kind.rods.bend_end[rod]):
        t[row, 0], t[row, 1], t[row, 2] = turned3(t, row, matrix)
        u[row, 0], u[row, 1], u[row, 2] = turned3(u, row, matrix)
        dt[row, 0], dt[row, 1], dt[row, 2] = turned3(dt, row, matrix)


@inlined
def copy_frame(row, source, target):
    """t, u1, t′ and m of a row of `source`, into `target`."""
    for i in range(3):
        target.tangent[row, i] = source.tangent[row, i]
        target.reference[row, i] = source.reference[row, i]
        target.bending[row, i] = source.bending[row, i]
    target.twist[row] = source.twist[row]


@kernel
def largest_turn(rod, kind, q, dq):
    """Return the largest angle (rad, 0 to π) between a bending point's tangents at q and at q + dq."""
    rods, bends = kind.rods, kind.bends
    dof, n = rods.dof[rod], rods.count[rod]
    widest = 0.0
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        dofs = control_dofs(bends.span[row], dof, n)
        a, da = blend3(q, dofs, bends.slope_basis, row), blend3(dq, dofs, bends.slope_basis, row)
        widest = wider(widest, a, add3(a, da))
    return angle_of(widest)


# ----------------------------------------------------------------------------------------- tensions, strains, energy


@kernel
def update_tensions(rod, kind, q, dq, tensions, rate):
    """Store N = EA (1 + rate)(ε + ∇ε·Δq) − EA rate ε_last, ε and ∇ε at the iterate q *before* `dq` is added to it.

    Linear in Δq: the tension that the linearised step expects.
    """
    rods, stretches = kind.rods, kind.stretches
    dof, n, EA = rods.dof[rod], rods.count[rod], rods.stretch_stiffness[rod]
    for row in range(rods.stretch_first[rod], rods.stretch_end[rod]):
        dofs = control_dofs(stretches.span[row], dof, n)
        a, da = blend3(q, dofs, stretches.slope_basis, row), blend3(dq, dofs, stretches.slope_basis, row)
        j, J = math.sqrt(dot3(a, a)), stretches.speed[row]
        strain = j / J - 1.0 + dot3(a, da) / (j * J)
        tensions.tension[row] = EA * ((1.0 + rate) * strain - rate * tensions.strain[row])


@kernel
def missed_energy(rod, kind, q, rate):
    """Energy of stretching at the iterate q beyond what its trial tensions expect, Σ w J/2 EA max(ε² − ε_lin², 0)."""
    rods, stretches, tensions = kind.rods, kind.stretches, kind.stretch_trial
    dof, n, EA = rods.dof[rod], rods.count[rod], rods.stretch_stiffness[rod]
    per_tension, memory = 1.0 / (EA * (1.0 + rate)), rate / (1.0 + rate)
    missed = 0.0
    for row in range(rods.stretch_first[rod], rods.stretch_end[rod]):
        dofs = control_dofs(stretches.span[row], dof, n)
        strain = stretch_strain(q, dofs, stretches, row)
        linear = per_tension * tensions.tension[row] + memory * tensions.strain[row]
        missed += stretches.weight[row] * stretches.speed[row] * max(strain * strain - linear * linear, 0.0)
    return 0.5 * EA * missed


@kernel
def accept_strains(rod, kind, q, frames, tensions):
    """Write the strains κ1, κ2, τ of `frames`, which are carried to q already, and the strains ε of `tensions`."""
    rods, bends, stretches = kind.rods, kind.bends, kind.stretches
    dof, n, strain = rods.dof[rod], rods.count[rod], frames.strain
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        dofs = control_dofs(bends.span[row], dof, n)
        strain[row, 0], strain[row, 1], strain[row, 2] = bend_strains(q, dofs, bends, frames, row)
    for row in range(rods.stretch_first[rod], rods.stretch_end[rod]):
        dofs = control_dofs(stretches.span[row], dof, n)
        tensions.strain[row] = stretch_strain(q, dofs, stretches, row)


@kernel
def energy(rod, kind, q, frames):
    """Return the energies of stretching, bending and twist, J, of the shape q, to which the frames are carried."""
    rods, bends, stretches = kind.rods, kind.bends, kind.stretches
    dof, n = rods.dof[rod], rods.count[rod]
    stretching, bending, twisting = 0.0, 0.0, 0.0
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        dofs = control_dofs(bends.span[row], dof, n)
        kappa1, kappa2, tau = bend_strains(q, dofs, bends, frames, row)
        x1, x2, xt = kappa1 - bends.rest[row, 0], kappa2 - bends.rest[row, 1], tau - bends.rest[row, 2]
        half = 0.5 * bends.weight[row] * bends.speed[row]
        bending += half * (rods.bend_stiffness1[rod] * x1 * x1 + rods.bend_stiffness2[rod] * x2 * x2)
        twisting += half * rods.twist_stiffness[rod] * xt * xt
    for row in range(rods.stretch_first[rod], rods.stretch_end[rod]):
        dofs = control_dofs(stretches.span[row], dof, n)
        strain = stretch_strain(q, dofs, stretches, row)
        half = 0.5 * stretches.weight[row] * stretches.speed[row]
        stretching += half * rods.stretch_stiffness[rod] * strain * strain
    return stretching, bending, twisting
