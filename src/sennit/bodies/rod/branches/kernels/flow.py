"""What a bending point answers to its strains, and how the strains of its branches flow.

Beside an elastic part, a rod has branches in parallel at each bending point, springs in series with something that
flows. With x = κ − κ̂ (κ1, κ2, τ; all that follows by components), the parts aₖ of the stiffness B, and what has flowed
in each, pₖ, the moment is::

    M = B [(1 − Σ aₖ) x + Σ aₖ (x − pₖ)]

    MAXWELL   ṗ = (x − p)/t: viscous. Over a time h in which x grows evenly, with z = h/t,
              (x − p)₊ = e^(−z) (x − p) + (1 − e^(−z))/z Δx, exactly
    SLIDER    |x − p| ≤ 1, in units of the branch's limits, each component by its own: a dry friction element (Iwan,
              J. Appl. Mech. 33 (1966) 893). Beyond, p follows: x − p is scaled back to 1 (radial return)
    FLAG      superelastic: p is along x, |p| = s between 0 and `most`. |x| − s ≤ 1, or else s grows; |x| − s ≥ `lower`,
              or else it shrinks

Whatever the step, a branch takes no more out of a rod than was put in. Sliders: a return only shrinks their energy; and
where it is taken on the way (Newton's method), the work up to the end is E₊ − E₋ + the dissipation, which is
(n − 1) Q(e₊) + ∫ Q dn ≥ 0 in terms of what the return divides by, n, since n grows along any straight way out of an
ellipsoid. Maxwell: it is the exact solution. Flags: the moment is the derivative of a convex potential.

A step with one solve is linear in the strains. There sliders and flags are springs whose p stays, which flows when the
step is accepted; Maxwell's are as exact as ever. Newton's method sees them flow, by the tangent of a point::

    ∂M/∂x = B [s 1 + (h − s) n nᵀ],   s = |x − p|₊/|x − p|, n along it, h = 1 while it does not flow, else 0

of which a solve takes the diagonal, and half of the rest's sizes by rows on it: then its iterations converge (that is
at least half of the matrix), and where one component bends alone it is exact.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.compilation import inlined, kernel

MAXWELL, SLIDER, FLAG = 0, 1, 2
ROUNDING = 1e-9  # beyond its limit, by which a branch does not flow: increments begin elastically


@inlined
def decay(z):
    """e^(−z) and (1 − e^(−z))/z, from z = 0 to infinity."""
    if z < 1e-8:
        return 1.0 - z, 1.0 - 0.5 * z
    return math.exp(-z), -math.expm1(-z) / z


@inlined
def size_of(e, limit):
    """|e| in units of the limits, and the direction n in these units; (1, 0, 0) of nothing."""
    n0, n1, n2 = e[0] / limit[0], e[1] / limit[1], e[2] / limit[2]
    size = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
    if size > 0.0:
        return size, (n0 / size, n1 / size, n2 / size)
    return 0.0, (1.0, 0.0, 0.0)


@inlined
def tangents(s, h, n):
    """What a solve takes for the tangent s 1 + (h − s) n nᵀ, by components."""
    c = h - s
    half = 0.5 * abs(c)
    a0, a1, a2 = abs(n[0]), abs(n[1]), abs(n[2])
    return (
        s + c * n[0] * n[0] + half * a0 * (a1 + a2),
        s + c * n[1] * n[1] + half * a1 * (a0 + a2),
        s + c * n[2] * n[2] + half * a2 * (a0 + a1),
    )


@inlined
def transformed(size, before, lower, most):
    """How much of |x| = `size` has transformed, s, of a flag with so much `before`; and whether it changes."""
    held = size - before
    if held > 1.0 + ROUNDING and before < most:
        return min(size - 1.0, most), size - 1.0 < most
    if held < lower - ROUNDING and before > 0.0:
        return max(size - lower, 0.0), size > lower
    return before, False


@inlined
def maxwell(x, x_before, p, z):
    """What a viscous branch holds after the time z, in relaxation times, and its tangent."""
    e, phi = decay(z)
    held = (
        e * (x_before[0] - p[0]) + phi * (x[0] - x_before[0]),
        e * (x_before[1] - p[1]) + phi * (x[1] - x_before[1]),
        e * (x_before[2] - p[2]) + phi * (x[2] - x_before[2]),
    )
    return held, (phi, phi, phi)


@inlined
def lost_to_flow(x, x_before, p, z, stiffness):
    """What a viscous branch has dissipated in the meantime, J/m: ∫ B (x − p)²/t dt."""
    e, phi = decay(z)
    total = 0.0
    for i in range(3):
        # x − p = A + b e^(−z′), with A = Δx/z
        slow = (x[i] - x_before[i]) / z if z > 0.0 else 0.0
        if math.isfinite(z):
            b = x_before[i] - p[i] - slow
            part = slow * slow * z + 2.0 * slow * b * (1.0 - e) + 0.5 * b * b * (1.0 - e * e)
        else:
            part = 0.5 * (x_before[i] - p[i]) * (x_before[i] - p[i])
        total += stiffness[i] * part
    return total


@inlined
def slid(x, p, limit):
    """What a slider holds, its tangent, and what its return divides by, 1 if it does not slip."""
    e = x[0] - p[0], x[1] - p[1], x[2] - p[2]
    size, n = size_of(e, limit)
    if size <= 1.0 + ROUNDING:
        return e, (1.0, 1.0, 1.0), 1.0
    s = 1.0 / size
    return (s * e[0], s * e[1], s * e[2]), tangents(s, 0.0, n), size


@inlined
def flagged(x, p, limit, lower, most):
    """What a flag holds, its tangent, and the change of s."""
    size, n = size_of(x, limit)
    before, _ = size_of(p, limit)
    after, flows = transformed(size, before, lower, most)
    s = (size - after) / size if size > 0.0 else 1.0
    return (s * x[0], s * x[1], s * x[2]), tangents(s, 0.0 if flows else 1.0, n), after - before


@inlined
def spring(e, stiffness):
    """½ B e², J/m, of bending and of twist."""
    bent = 0.5 * (stiffness[0] * e[0] * e[0] + stiffness[1] * e[1] * e[1])
    return bent, 0.5 * stiffness[2] * e[2] * e[2]


@inlined
def stored_by_flag(e, p, stiffness, limit, lower):
    """What a flag stores beside its springs, ½ (1 + `lower`) s B limit², J/m, of bending and of twist."""
    s, n = size_of(p, limit)
    bent = stiffness[0] * limit[0] * limit[0] * n[0] * n[0] + stiffness[1] * limit[1] * limit[1] * n[1] * n[1]
    twisted = stiffness[2] * limit[2] * limit[2] * n[2] * n[2]
    return 0.5 * (1.0 + lower) * s * bent, 0.5 * (1.0 + lower) * s * twisted


@kernel
def respond(x, x_before, B, first, count, branches, slips, time, frozen, length):
    """Answer of a bending point with strains x, which were `x_before` a `time` ago, from rest.

    `first`: its first row of `branches` and `slips`, of `count`; B: its stiffnesses. `frozen` 1: sliders and flags are
    springs. `length` > 0: let them flow, and enter what that length dissipates, J. Returns M/B (3), the
    tangents over B (3), and the energies of bending and twist, J/m.
    """
    m0, m1, m2 = x
    t0 = t1 = t2 = 1.0
    # what the branches leave of the stiffness
    left0 = left1 = left2 = 1.0
    bent = twisted = 0.0
    for k in range(first, first + count):
        a, limit, p, law = get3(branches.share, k), get3(branches.limit, k), get3(slips.strain, k), branches.kind[k]
        own = a[0] * B[0], a[1] * B[1], a[2] * B[2]
        lower, z = branches.lower[k], 0.0
        sprung = x[0] - p[0], x[1] - p[1], x[2] - p[2]
        held, tangent, over, change = sprung, (1.0, 1.0, 1.0), 1.0, 0.0
        beside_b, beside_t = 0.0, 0.0
        if law == MAXWELL:
            z = time / branches.time[k]
            held, tangent = maxwell(x, x_before, p, z)
        elif frozen == 0 or length > 0.0:
            if law == SLIDER:
                held, tangent, over = slid(x, p, limit)
            else:
                held, tangent, change = flagged(x, p, limit, lower, branches.most[k])
        flowed = x[0] - held[0], x[1] - held[1], x[2] - held[2]
        if law == FLAG:
            beside_b, beside_t = stored_by_flag(held, flowed, own, limit, lower)
        in_bending, in_twist = spring(held, own)
        bent, twisted = bent + in_bending + beside_b, twisted + in_twist + beside_t
        m0, m1, m2 = m0 - a[0] * flowed[0], m1 - a[1] * flowed[1], m2 - a[2] * flowed[2]
        t0, t1, t2 = (
            t0 - a[0] * (1.0 - tangent[0]), t1 - a[1] * (1.0 - tangent[1]), t2 - a[2] * (1.0 - tangent[2]),
        )  # fmt: skip
        left0, left1, left2 = left0 - a[0], left1 - a[1], left2 - a[2]
        if length > 0.0:
            lost = 0.0
            if law == MAXWELL:
                lost = lost_to_flow(x, x_before, p, z, own)
            elif frozen == 1:
                # it was a spring until now
                before_b, before_t = spring(sprung, own)
                lost = before_b + before_t - in_bending - in_twist
                if law == FLAG:
                    before_b, before_t = stored_by_flag(sprung, p, own, limit, lower)
                    lost += before_b + before_t - beside_b - beside_t
            elif law == SLIDER:
                lost = 2.0 * (over - 1.0) * (in_bending + in_twist)
            elif change != 0.0:
                lost = 0.5 * (1.0 - lower) * own[0] * limit[0] * limit[0] * abs(change)
            slips.lost[k] += length * lost
            for i in range(3):
                slips.strain[k, i] = flowed[i]
    elastic_b, elastic_t = spring(x, (left0 * B[0], left1 * B[1], left2 * B[2]))
    return (m0, m1, m2), (t0, t1, t2), (bent + elastic_b, twisted + elastic_t)
