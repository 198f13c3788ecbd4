"""Strains of a discrete elastic rod, its frames, tensions and energy, node by node and edge by edge.

Nodes P_i are joined by straight edges a = P_{e+1} − P_e with unit tangents t. Edge e has a roll φ_e (the fourth degree
of freedom of the node that it starts from) and the frame d1 = cos φ u1 + sin φ u2, d2 = t × d1 on a reference vector
u1 ⟂ t, which is carried from shape to shape without turning about t. The node between the edges a (t, d1ᵃ, …) and
b (s, d1ᵇ, …) turns the rod by (Bergou et al., Discrete Elastic Rods, 2008, §4; Discrete Viscous Threads, 2010, §4)::

    k = 2 t × s/χ     χ = 1 + t·s               curvature binormal, |k| = 2 tan(turn/2)
    K1 = k·(d1ᵃ + d1ᵇ)/2     K2 = k·(d2ᵃ + d2ᵇ)/2     T = φ_b − φ_a + m
    κ1 = K1/l    κ2 = K2/l    τ = T/l           l: mean rest length of the two edges
    energy = Σ_edges J/2 EA ε² + Σ_nodes w l/2 [B1 (κ1 − κ̂1)² + B2 (κ2 − κ̂2)² + GJ (τ − τ̂)²]

m is the angle about s from u1 of a, turned by the smallest rotation from t to s, to u1 of b. The weight w is 1, and
3/2 at the second node and at the last but one: their cells reach to the rod's ends, so that the cells cover the rod.
With tangent and roll extrapolated to the ends (`discrete_basis`) a clamp, a torque or a free end then costs an error of
second order in the edges' length; w = 1 everywhere would cost one of first order.

In all functions `rod` is a row of `kind.rods`, `kind` a table of `Discretes`, `q` the degrees of freedom of the scene.
A row of the bending tables is an edge: its frame and, but for a rod's first edge, the node at which it starts. A row of
the stretching tables is an edge too. Rods are open. The roll of the last node belongs to no edge: no force acts on it
and its stiffness is a number on the diagonal, so that it never moves.
"""

from __future__ import annotations

import math

from sennit.bodies.rod.branches.kernels.act import has_branches, stored
from sennit.bodies.rod.discrete.kernels.basis import edge_of
from sennit.compilation import inlined, kernel
from sennit.geometry.kernels.algebra import add3, angle_of, cross3, dot3, mat_vec, scale3, wider
from sennit.geometry.kernels.angles import sincos

# -------------------------------------------------------------------------------------------------- one edge, one node


@inlined
def combine3(x, a, y, b):
    """x a + y b."""
    return x * a[0] + y * b[0], x * a[1] + y * b[1], x * a[2] + y * b[2]


@inlined
def row3(vectors, row):
    """A row of `vectors`, as a tuple."""
    return vectors[row, 0], vectors[row, 1], vectors[row, 2]


@inlined
def directors(theta, t, u1):
    """d1 and d2 of an edge from its roll and reference vector."""
    u2 = cross3(t, u1)
    s, c = sincos(theta)
    return combine3(c, u1, s, u2), combine3(-s, u1, c, u2)


@inlined
def carried(u, p, t):
    """u ⟂ p after the smallest rotation that takes p to t, freed of rounding along t and in its length."""
    # A tangent turned right round has no smallest rotation; u then stays as it is.
    k = dot3(u, t) / max(1.0 + dot3(p, t), 1e-12)
    u = u[0] - k * (p[0] + t[0]), u[1] - k * (p[1] + t[1]), u[2] - k * (p[2] + t[2])
    u = combine3(1.0, u, -dot3(u, t), t)
    return scale3(1.5 - 0.5 * dot3(u, u), u)


@inlined
def turn_at(t, s):
    """1/χ and the curvature binormal k between two edges. A rod folded right back has a huge one, not an infinite."""
    per = 1.0 / max(1.0 + dot3(t, s), 1e-9)
    return per, scale3(2.0 * per, cross3(t, s))


@inlined
def node_strains(q, at, bends, frames, row):
    """κ1, κ2, τ at the node where edge `row` starts (degrees of freedom from `at`); frames carried to q."""
    t, s = row3(frames.tangent, row - 1), row3(frames.tangent, row)
    per, k = turn_at(t, s)
    a1, a2 = directors(q[at - 1], t, row3(frames.reference, row - 1))
    b1, b2 = directors(q[at + 3], s, row3(frames.reference, row))
    per_rest = 1.0 / bends.speed[row]
    return (
        0.5 * per_rest * (dot3(k, a1) + dot3(k, b1)),
        0.5 * per_rest * (dot3(k, a2) + dot3(k, b2)),
        per_rest * (q[at + 3] - q[at - 1] + frames.twist[row]),
    )


@inlined
def edge_strain(q, at, rest):
    """ε of the edge whose degrees of freedom begin at `at`, with its length at rest."""
    a = edge_of(q, at)
    return math.sqrt(dot3(a, a)) / rest - 1.0


# ------------------------------------------------------------------------------------------------------------ frames


@kernel
def carry_frames(rod, kind, q, source, target):
    """Carry a rod's frames from the shape that `source` (`BendStates`) belongs to, to the shape q.

    u1 follows its edge by the smallest rotation. m is read off the new reference vectors, exactly, and given the whole
    turns that bring it next to the old m. `target` receives t, u1, m and the unchanged strains; it may be `source`
    itself.
    """
    rods = kind.rods
    first = rods.bend_first[rod]
    t, u = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    for row in range(first, rods.bend_end[rod]):
        edge = edge_of(q, rods.dof[rod] + 4 * (row - first))
        s = scale3(1.0 / math.sqrt(dot3(edge, edge)), edge)
        v = carried(row3(source.reference, row), row3(source.tangent, row), s)
        m = source.twist[row]
        if row > first:
            along = carried(u, t, s)
            angle = math.atan2(dot3(s, cross3(along, v)), dot3(along, v))
            m = angle + 2.0 * math.pi * math.floor((m - angle) / (2.0 * math.pi) + 0.5)
        t, u = s, v
        for i in range(3):
            target.strain[row, i] = source.strain[row, i]
        target.tangent[row, 0], target.tangent[row, 1], target.tangent[row, 2] = s
        target.reference[row, 0], target.reference[row, 1], target.reference[row, 2] = v
        target.twist[row] = m


@kernel
def rotate_frames(rod, kind, source, target, matrix):
    """Turn t and u1 of a rod's frames in `source` by a rotation matrix, into `target`: as of spline rods."""
    for row in range(kind.rods.bend_first[rod], kind.rods.bend_end[rod]):
        t, u = mat_vec(matrix, row3(source.tangent, row)), mat_vec(matrix, row3(source.reference, row))
        target.tangent[row, 0], target.tangent[row, 1], target.tangent[row, 2] = t
        target.reference[row, 0], target.reference[row, 1], target.reference[row, 2] = u
        target.twist[row] = source.twist[row]


@inlined
def copy_frame(row, source, target):
    """t, u1 and m of a row of `source`, into `target`."""
    for i in range(3):
        target.tangent[row, i] = source.tangent[row, i]
        target.reference[row, i] = source.reference[row, i]
    target.twist[row] = source.twist[row]


@kernel
def largest_turn(rod, kind, q, dq):
    """Return the largest angle (rad, 0 to π) between an edge's tangents at q and at q + dq."""
    widest = 0.0
    for e in range(kind.rods.count[rod] - 1):
        at = kind.rods.dof[rod] + 4 * e
        a, da = edge_of(q, at), edge_of(dq, at)
        widest = wider(widest, a, add3(a, da))
    return angle_of(widest)


# ----------------------------------------------------------------------------------------- tensions, strains, energy


@kernel
def update_tensions(rod, kind, q, dq, tensions, per_time):
    """Store N = EA (1 + rate)(ε + ∇ε·Δq) − EA rate ε_last, ε and ∇ε at the iterate q *before* `dq` is added to it."""
    rods, stretches = kind.rods, kind.stretches
    first = rods.stretch_first[rod]
    for row in range(first, rods.stretch_end[rod]):
        EA, rate = stretches.stiffness[row], per_time * stretches.relaxation[row]
        at = rods.dof[rod] + 4 * (row - first)
        a, da = edge_of(q, at), edge_of(dq, at)
        j, J = math.sqrt(dot3(a, a)), stretches.speed[row]
        strain = j / J - 1.0 + dot3(a, da) / (j * J)
        tensions.tension[row] = EA * ((1.0 + rate) * strain - rate * tensions.strain[row])


@kernel
def missed_energy(rod, kind, q, per_time):
    """Energy of stretching at the iterate q beyond what its trial tensions expect, J: Σ l/2 EA max(ε² − ε_lin², 0)."""
    rods, tensions, stretches, speed = kind.rods, kind.stretch_trial, kind.stretches, kind.stretches.speed
    first = rods.stretch_first[rod]
    missed = 0.0
    for row in range(first, rods.stretch_end[rod]):
        EA, rate = stretches.stiffness[row], per_time * stretches.relaxation[row]
        strain = edge_strain(q, rods.dof[rod] + 4 * (row - first), speed[row])
        linear = (tensions.tension[row] / EA + rate * tensions.strain[row]) / (1.0 + rate)
        missed += speed[row] * EA * max(strain * strain - linear * linear, 0.0)
    return 0.5 * missed


@kernel
def find_strains(rod, kind, q, frames, out):
    """Write the strains κ1, κ2, τ of `frames`, which are carried to q already, into `out`, a row for each edge."""
    rods, dof = kind.rods, kind.rods.dof[rod]
    first = rods.bend_first[rod]
    for row in range(first + 1, rods.bend_end[rod]):
        out[row, 0], out[row, 1], out[row, 2] = node_strains(q, dof + 4 * (row - first), kind.bends, frames, row)


@kernel
def accept_strains(rod, kind, q, frames, tensions):
    """Write the strains κ1, κ2, τ of `frames`, which are carried to q already, and the strains ε of `tensions`."""
    rods, dof = kind.rods, kind.rods.dof[rod]
    find_strains(rod, kind, q, frames, frames.strain)
    first = rods.stretch_first[rod]
    for row in range(first, rods.stretch_end[rod]):
        tensions.strain[row] = edge_strain(q, dof + 4 * (row - first), kind.stretches.speed[row])


@kernel
def strains_at_nodes(q, bends, frames, out):
    """κ1, κ2, τ at the inner nodes of one rod, into out (n − 2, 3); q, `bends` and `frames` are that rod's alone."""
    for row in range(1, bends.weight.size):
        out[row - 1, 0], out[row - 1, 1], out[row - 1, 2] = node_strains(q, 4 * row, bends, frames, row)


@kernel
def energy(rod, kind, q, frames, time):
    """Return the energies of stretching, bending and twist, J, of the shape q, to which the frames are carried.

    `time`: as of spline rods.
    """
    rods, bends, stretches, dof = kind.rods, kind.bends, kind.stretches, kind.rods.dof[rod]
    stretching, bending, twisting = 0.0, 0.0, 0.0
    first = start = rods.bend_first[rod]
    if has_branches(rod, kind):
        find_strains(rod, kind, q, frames, kind.acting.strain)
        bending, twisting = stored(rod, kind, time)
        start = rods.bend_end[rod]
    for row in range(start + 1, rods.bend_end[rod]):
        kappa1, kappa2, tau = node_strains(q, dof + 4 * (row - first), bends, frames, row)
        x1, x2, xt = kappa1 - bends.rest[row, 0], kappa2 - bends.rest[row, 1], tau - bends.rest[row, 2]
        half = 0.5 * bends.weight[row] * bends.speed[row]
        B1, B2, GJ = row3(bends.stiffness, row)
        bending += half * (B1 * x1 * x1 + B2 * x2 * x2)
        twisting += half * GJ * xt * xt
    first = rods.stretch_first[rod]
    for row in range(first, rods.stretch_end[rod]):
        strain = edge_strain(q, dof + 4 * (row - first), stretches.speed[row])
        stretching += 0.5 * stretches.speed[row] * stretches.stiffness[row] * strain * strain
    return stretching, bending, twisting
