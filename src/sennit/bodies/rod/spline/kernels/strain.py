"""Strains of a spline rod, its frames, tensions and energy, point by point.

The centreline r(u) = Σ Nᵢ Pᵢ and the roll θ(u) = Σ Nᵢ φᵢ are cubic splines; u runs over the spans, a prime is d/du.
With a = r′, b = r″, j = |a|, t = a/j, the frame d1 = cos θ u1 + sin θ u2, d2 = t × d1, d3 = t stands on a reference
vector u1 ⟂ t that is carried from shape to shape without turning about t; m is its twist along the rod::

    β = t′ = (b − (b·t) t)/j      β₃ = b·t/j
    ε = j/J − 1    κ1 = −β·d2/J    κ2 = β·d1/J    τ = (θ′ + m)/J          J = |r0′| at rest
    energy = Σ w J/2 [EA ε² + B1 (κ1 − κ̂1)² + B2 (κ2 − κ̂2)² + GJ (τ − τ̂)²]

In all functions `rod` is a row of `kind.rods`, `kind` a table of `Splines`, `q` the degrees of freedom of the scene.
`frames` (`BendStates`) and `tensions` (`StretchStates`) are one of the states that `kind` holds.

Four rows are made at once, in the lanes of a pack (`lanes`): functions of one point take a row, or four of them and
return packs. Where less than four are left, the last one fills the other lanes, and is written again with the same
numbers.
"""

from __future__ import annotations

from sennit.bodies.rod.branches.kernels.act import has_branches, stored
from sennit.bodies.rod.spline.kernels.basis import (
    at_once, blend3, blend_roll, control_dofs_of_four, controls, four_from,
)  # fmt: skip
from sennit.compilation import inlined, kernel, single
from sennit.geometry.kernels.algebra import add3, angle_of, cross3, dot3, mat_vec, scale3, wider
from sennit.geometry.kernels.angles import sincos
from sennit.lanes import (
    add_lanes, at, four_at, lanes_of, larger, pack, put_at, put_three_at, root, three_at,
)  # fmt: skip

# ---------------------------------------------------------------------------------------------------- one point of it


@inlined
def controls_of_four(q, places, rows, dof, n):
    """The control points of the spans in which four `rows` of `places` lie, of a rod of `n` from `dof` on."""
    span = places.span
    spans = span[rows[0]], span[rows[1]], span[rows[2]], span[rows[3]]
    return controls(q, control_dofs_of_four(spans, dof, n))


@single(controls_of_four)
@inlined
def controls_of_one(q, places, row, dof, n):
    """`controls_of_four` of one row."""
    return controls(q, control_dofs_of_four(places.span[row], dof, n))


@inlined
def tangent_of(a, b):
    """1/j, t, β and β₃ of a = r′ and b = r″."""
    per_j = 1.0 / root(dot3(a, a))
    t = scale3(per_j, a)
    along = dot3(b, t)
    beta = (b[0] - along * t[0]) * per_j, (b[1] - along * t[1]) * per_j, (b[2] - along * t[2]) * per_j
    return per_j, t, beta, along * per_j


@inlined
def directors(theta, t, u1):
    """d1 and d2 from the roll and the reference vector u1 of a frame."""
    u2 = cross3(t, u1)
    s, c = sincos(theta)
    d1 = c * u1[0] + s * u2[0], c * u1[1] + s * u2[1], c * u1[2] + s * u2[2]
    d2 = c * u2[0] - s * u1[0], c * u2[1] - s * u1[1], c * u2[2] - s * u1[2]
    return d1, d2


@inlined
def bend_strains(points, bends, frames, row):
    """κ1, κ2, τ at a bending point whose frame was carried to where its control points are."""
    bases = four_at(bends.basis, row), four_at(bends.slope_basis, row), four_at(bends.bend_basis, row)
    return strains_of(points, bases, three_at(frames.reference, row), at(frames.twist, row), at(bends.speed, row))


@inlined
def strains_of(points, bases, u1, m, J):
    """`bend_strains` of a frame u1, m; J: the speed at rest."""
    values, slopes, curves = bases
    a, b = blend3(points, slopes), blend3(points, curves)
    theta, dtheta = blend_roll(points, values), blend_roll(points, slopes)
    per_j, t, beta, beta3 = tangent_of(a, b)
    d1, d2 = directors(theta, t, u1)
    per_rest = 1.0 / J
    return -dot3(beta, d2) * per_rest, dot3(beta, d1) * per_rest, (dtheta + m) * per_rest


@inlined
def stretch_strain(points, stretches, row):
    """ε at a stretching point."""
    a = blend3(points, four_at(stretches.slope_basis, row))
    return root(dot3(a, a)) / at(stretches.speed, row) - 1.0


# ------------------------------------------------------------------------------------------------------------ frames


@inlined
def frame_carried(a, b, p, u, dp, m):
    """t, u1, t′ and m at a = r′ and b = r″ of a frame with p, u, p′ and m, see `carry_frames`."""
    per_j, t, beta, beta3 = tangent_of(a, b)
    # A tangent turned right round has no smallest rotation; u1 then stays as it is.
    k = 1.0 / larger(1.0 + dot3(p, t), 1e-12)
    m = m + k * dot3(cross3(t, p), add3(dp, beta))
    ku = k * dot3(u, t)
    u = u[0] - ku * (p[0] + t[0]), u[1] - ku * (p[1] + t[1]), u[2] - ku * (p[2] + t[2])
    # Rounding must not build up over millions of steps.
    ku = dot3(u, t)
    u = u[0] - ku * t[0], u[1] - ku * t[1], u[2] - ku * t[2]
    return t, scale3(1.5 - 0.5 * dot3(u, u), u), beta, m


@inlined
def carry_frame(points, bends, row, source, target):
    """Carry one frame, see `carry_frames`."""
    a, b = blend3(points, four_at(bends.slope_basis, row)), blend3(points, four_at(bends.bend_basis, row))
    p, u, dp = three_at(source.tangent, row), three_at(source.reference, row), three_at(source.bending, row)
    t, u, beta, m = frame_carried(a, b, p, u, dp, at(source.twist, row))
    put_three_at(target.strain, row, three_at(source.strain, row))
    put_three_at(target.tangent, row, t)
    put_three_at(target.reference, row, u)
    put_three_at(target.bending, row, beta)
    put_at(target.twist, row, m)


@kernel
def carry_frames(rod, kind, q, source, target):
    """Carry a rod's frames from the shape that `source` (`BendStates`) belongs to, to the shape q.

    From the old tangent p to the new one t, by the smallest rotation; exact for steps of any size below π::

        u1 ← u1 − (u1·t)(p + t)/(1 + p·t)        m ← m + (t × p)·(p′ + t′)/(1 + p·t)

    `target` receives t, u1, t′, m and the unchanged strains; it may be `source` itself.
    """
    rods, bends = kind.rods, kind.bends
    dof, n, end = rods.dof[rod], rods.count[rod], rods.bend_end[rod]
    for first in range(rods.bend_first[rod], end, at_once()):
        rows = four_from(first, end - 1)
        carry_frame(controls_of_four(q, bends, rows, dof, n), bends, rows, source, target)


@kernel
def rotate_frames(rod, kind, source, target, matrix):
    """Turn t, u1 and t′ of a rod's frames in `source` by a rotation matrix (9-tuple, row by row), into `target`.

    With the control points turned alike this is a rigid rotation: strains, energy and m stay. Done before a step by the
    rod's own rigid rotation, it keeps the roll of a tumbling rod small (roll alone follows ω·t, which is no spline).
    `target` receives m too; it may be `source` itself.
    """
    end = kind.rods.bend_end[rod]
    for first in range(kind.rods.bend_first[rod], end, at_once()):
        rows = four_from(first, end - 1)
        t, u, dt = three_at(source.tangent, rows), three_at(source.reference, rows), three_at(source.bending, rows)
        put_three_at(target.tangent, rows, mat_vec(matrix, t))
        put_three_at(target.reference, rows, mat_vec(matrix, u))
        put_three_at(target.bending, rows, mat_vec(matrix, dt))
        put_at(target.twist, rows, at(source.twist, rows))


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
    dof, n, end = rods.dof[rod], rods.count[rod], rods.bend_end[rod]
    widest = pack(0.0, 0.0, 0.0, 0.0)
    for first in range(rods.bend_first[rod], end, at_once()):
        rows = four_from(first, end - 1)
        slopes = four_at(bends.slope_basis, rows)
        a = blend3(controls_of_four(q, bends, rows, dof, n), slopes)
        da = blend3(controls_of_four(dq, bends, rows, dof, n), slopes)
        widest = wider(widest, a, add3(a, da))
    x, y, z, w = lanes_of(widest)
    widest_of_all = x
    for other in (y, z, w):
        if other > widest_of_all or other != other:
            widest_of_all = other
    return angle_of(widest_of_all)


@single(largest_turn)
@kernel
def largest_turn_by_one(rod, kind, q, dq):
    """`largest_turn` where a row is made after the other."""
    rods, bends = kind.rods, kind.bends
    dof, n = rods.dof[rod], rods.count[rod]
    widest = 0.0
    for row in range(rods.bend_first[rod], rods.bend_end[rod]):
        slopes = four_at(bends.slope_basis, row)
        a = blend3(controls_of_four(q, bends, row, dof, n), slopes)
        da = blend3(controls_of_four(dq, bends, row, dof, n), slopes)
        widest = wider(widest, a, add3(a, da))
    return angle_of(widest)


# ----------------------------------------------------------------------------------------- tensions, strains, energy


@kernel
def update_tensions(rod, kind, q, dq, tensions, per_time):
    """Store N = EA (1 + rate)(ε + ∇ε·Δq) − EA rate ε_last, ε and ∇ε at the iterate q *before* `dq` is added to it.

    Linear in Δq: the tension that the linearised step expects. `per_time`: one over the step, or 0.
    """
    rods, stretches = kind.rods, kind.stretches
    dof, n, end = rods.dof[rod], rods.count[rod], rods.stretch_end[rod]
    for first in range(rods.stretch_first[rod], end, at_once()):
        rows = four_from(first, end - 1)
        EA, rate = at(stretches.stiffness, rows), per_time * at(stretches.relaxation, rows)
        slopes = four_at(stretches.slope_basis, rows)
        a = blend3(controls_of_four(q, stretches, rows, dof, n), slopes)
        da = blend3(controls_of_four(dq, stretches, rows, dof, n), slopes)
        j, J = root(dot3(a, a)), at(stretches.speed, rows)
        strain = j / J - 1.0 + dot3(a, da) / (j * J)
        put_at(tensions.tension, rows, EA * ((1.0 + rate) * strain - rate * at(tensions.strain, rows)))


@kernel
def missed_energy(rod, kind, q, per_time):
    """Energy of stretching at the iterate q beyond what its trial tensions expect, Σ w J/2 EA max(ε² − ε_lin², 0)."""
    rods, stretches, tensions = kind.rods, kind.stretches, kind.stretch_trial
    dof, n, end = rods.dof[rod], rods.count[rod], rods.stretch_end[rod]
    missed = 0.0
    for first in range(rods.stretch_first[rod], end, at_once()):
        rows = four_from(first, end - 1)
        EA, rate = at(stretches.stiffness, rows), per_time * at(stretches.relaxation, rows)
        strain = stretch_strain(controls_of_four(q, stretches, rows, dof, n), stretches, rows)
        linear = (at(tensions.tension, rows) / EA + rate * at(tensions.strain, rows)) / (1.0 + rate)
        excess = EA * larger(strain * strain - linear * linear, 0.0)
        missed = add_lanes(missed, at(stretches.weight, rows) * at(stretches.speed, rows) * excess, end - first)
    return 0.5 * missed


@kernel
def find_strains(rod, kind, q, frames, out):
    """Write the strains κ1, κ2, τ of `frames`, which are carried to q already, into `out`, a row for each point."""
    rods, bends = kind.rods, kind.bends
    dof, n, end = rods.dof[rod], rods.count[rod], rods.bend_end[rod]
    for first in range(rods.bend_first[rod], end, at_once()):
        rows = four_from(first, end - 1)
        put_three_at(out, rows, bend_strains(controls_of_four(q, bends, rows, dof, n), bends, frames, rows))


@kernel
def accept_strains(rod, kind, q, frames, tensions):
    """Write the strains κ1, κ2, τ of `frames`, which are carried to q already, and the strains ε of `tensions`."""
    rods, stretches = kind.rods, kind.stretches
    dof, n, end = rods.dof[rod], rods.count[rod], rods.stretch_end[rod]
    find_strains(rod, kind, q, frames, frames.strain)
    for first in range(rods.stretch_first[rod], end, at_once()):
        rows = four_from(first, end - 1)
        put_at(tensions.strain, rows, stretch_strain(controls_of_four(q, stretches, rows, dof, n), stretches, rows))


@kernel
def energy(rod, kind, q, frames, time):
    """Return the energies of stretching, bending and twist, J, of the shape q, to which the frames are carried.

    `time`: since the state, s, in which branches relax; 0: it is the state.
    """
    rods, bends, stretches = kind.rods, kind.bends, kind.stretches
    dof, n, end = rods.dof[rod], rods.count[rod], rods.bend_end[rod]
    stretching, bending, twisting = 0.0, 0.0, 0.0
    start = rods.bend_first[rod]
    if has_branches(rod, kind):
        find_strains(rod, kind, q, frames, kind.acting.strain)
        bending, twisting = stored(rod, kind, time)
        start = end
    for first in range(start, end, at_once()):
        rows = four_from(first, end - 1)
        kappa1, kappa2, tau = bend_strains(controls_of_four(q, bends, rows, dof, n), bends, frames, rows)
        rest1, rest2, rest_twist = three_at(bends.rest, rows)
        x1, x2, xt = kappa1 - rest1, kappa2 - rest2, tau - rest_twist
        half = 0.5 * at(bends.weight, rows) * at(bends.speed, rows)
        B1, B2, GJ = three_at(bends.stiffness, rows)
        bending = add_lanes(bending, half * (B1 * x1 * x1 + B2 * x2 * x2), end - first)
        twisting = add_lanes(twisting, half * GJ * xt * xt, end - first)
    end = rods.stretch_end[rod]
    for first in range(rods.stretch_first[rod], end, at_once()):
        rows = four_from(first, end - 1)
        strain = stretch_strain(controls_of_four(q, stretches, rows, dof, n), stretches, rows)
        half = 0.5 * at(stretches.weight, rows) * at(stretches.speed, rows)
        stretching = add_lanes(stretching, half * at(stretches.stiffness, rows) * strain * strain, end - first)
    return stretching, bending, twisting
