"""How stiff a tie may be against the mass that it holds, before a step must take its stiffness into the matrix."""

from __future__ import annotations

import math

from sennit.bodies.kernels.points import (
    DISCRETE, RIGID, SLIDER, SPLINE, WORLD, ZONE, add_point_stiffness,
)  # fmt: skip
from sennit.bodies.rod.kernels.point import SLIDE, add_entries, is_beside, turn_ratio
from sennit.compilation import inlined, kernel
from sennit.constraints.kernels.rows import DISTANCE, SLIDING
from sennit.geometry.kernels.algebra import add3, dot3, sub3
from sennit.bodies.kernels.frames import get3, place_of

SLOW = 0.7  # ratio of stiffness to inertia below which a step takes a tie's force as it is


@inlined
def needed(ratio):
    """How much of a row's transverse stiffness a step must take, by its ratio to the inertia: 0 if slow, 1 if fast.

    Left out, a mode of ratio ρ is stable below 4/3.
    """
    return min(max((ratio - SLOW) / 0.8, 0.0), 1.0)


@inlined
def inertia_at(p, weight, points, values):
    """Mass that one of the ties at point `p` may reckon with, times `weight`; infinite for a point of the world.

    A zone has no mass: there it is the least of its own stiffness.
    """
    if points.kind[p] == WORLD:
        return math.inf
    if points.kind[p] == ZONE:
        at, n = points.block[p], points.row_length[p] + 1
        return min(values[at], values[at + n], values[at + 2 * n])
    return weight * points.felt[p]


@inlined
def turns_section(p, points):
    """Whether a force at point `p` turns the section of a rod."""
    return (points.kind[p] == SPLINE or points.kind[p] == DISCRETE) and is_beside(p, points)


@inlined
def across_arm(k, arm):
    """k (1 − a aᵀ/a²): stiffness against turns that move the end of the arm `a`."""
    x, y, z = arm
    c = k / dot3(arm, arm)
    return (
        k - c * x * x, -c * x * y, -c * x * z, -c * x * y, k - c * y * y, -c * y * z,
        -c * x * z, -c * y * z, k - c * z * z,
    )  # fmt: skip


@kernel
def add_row_stiffness(step, curved, rows, points, places, values):
    """What the rows' forces change as their points move, where a step would be unstable without it.

    A taut distance row of tension T and length ℓ holds its ends across it with T/ℓ (twice that, which bounds the pair's
    coupling); a rigid body, or a rod's section, pulled by F at the arm ρ turns against (ρ·F). They go to each body's
    own block, and only as far as they are `needed`: light bodies on taut ties blow up without them, but momentum is
    kept to rounding only where they are not. A slider pressed by F on its rod feels −F·r″ along it and −F N′ with the
    rod's control points (`curved` 1; else the positive part of the first).

    Returns the largest ratio of such a stiffness to its inertia: where it is not SLOW the forces must be known well.
    """
    largest = 0.0
    r = 0
    while r < rows.kind.size:
        end = r + 1
        while end < rows.kind.size and rows.owner[end] == rows.owner[r]:
            end += 1
        for side in range(2):
            p = rows.first[r] if side == 0 else rows.second[r]
            kind = points.kind[p]
            carried = kind == ZONE and points.carrier_dof[p] >= 0
            beside = turns_section(p, points)
            if kind != RIGID and kind != SLIDER and not carried and not beside:
                continue
            pull = (0.0, 0.0, 0.0)
            for i in range(r, end):
                if rows.enabled[i] == 1:
                    k = rows.multiplier[i] if side == 0 else -rows.multiplier[i]
                    pull = add3(pull, (k * rows.force[i, 0], k * rows.force[i, 1], k * rows.force[i, 2]))
            if kind == RIGID or carried:
                arm = get3(places.arm, p)
                k = dot3(arm, pull)
                if k > 0.0:
                    at = points.block[p] if kind == RIGID else points.carrier_block[p]
                    # twice, for the ties of others
                    ratio = 2.0 * k / min(values[at + 21], values[at + 28], values[at + 35])
                    largest = max(largest, ratio)
                    k *= needed(ratio)
                    c = k / dot3(arm, arm)
                    for a in range(3):
                        values[at + 6 * (3 + a) + 3 + a] += k
                        for b in range(3):
                            values[at + 6 * (3 + a) + 3 + b] -= c * arm[a] * arm[b]
            elif beside:
                arm = get3(places.arm, p)
                k = dot3(arm, pull)
                if k > 0.0:
                    ratio = 2.0 * k * turn_ratio(p, points, places, values)
                    largest = max(largest, ratio)
                    if ratio > SLOW:
                        add_entries(p, across_arm(k * needed(ratio), arm), True, points, places, values)
            elif rows.kind[r] != SLIDING:
                at, scale = points.slots[p], points.scale[p]
                k = -scale * dot3(pull, get3(places.bend, p))
                values[at + SLIDE] += k if curved == 1 else max(k, 0.0)
                if curved == 1:
                    for i in range(4):
                        d = scale * points.slope_basis[p, i]
                        for a in range(3):
                            values[at + 4 * i + a] -= d * pull[a]
        p, q = rows.first[r], rows.second[r]
        tension = -rows.multiplier[r] * rows.sign[r]
        if rows.kind[r] == DISTANCE and rows.enabled[r] == 1 and tension > 0.0:
            gap = sub3(place_of(places, p), place_of(places, q))
            square = dot3(gap, gap)
            for side in range(2):
                point = p if side == 0 else q
                inertia = inertia_at(point, step.mass_weight[0], points, values)
                if square > 0.0 and inertia < math.inf:
                    k = 2.0 * tension / math.sqrt(square)
                    largest = max(largest, k / inertia)
                    k *= needed(k / inertia)
                    if k > 0.0:
                        x, y, z = gap
                        c = k / square
                        K = (
                            k - c * x * x, -c * x * y, -c * x * z, -c * x * y, k - c * y * y, -c * y * z,
                            -c * x * z, -c * y * z, k - c * z * z,
                        )  # fmt: skip
                        add_point_stiffness(point, K, points, places, values)
        r = end
    return largest
