"""The law of contact, and a step of Newton's method for the forces that obey it.

With u = W λ + b the way that rows make in the step, the forces are the λ that obey

    λ_n = max(0, −u_n/R),    λ_t = m − u_t/R clipped to the disk |λ_t| ≤ bound

where m is the tangential force of the last step, so that what sticks does not creep, and the bound is friction times
the normal force of the pass before. (Rows that resist turning have bounds of both signs for λ_n, see `turning`.) For
given bounds that is the minimum of a convex function,

    f(λ) = ½ λᵀ(W + R) λ + (b − R m)ᵀ λ  over  least ≤ λ_n ≤ most, |λ_t| ≤ bound,   ∇f = u + R (λ − m) =: g,

found by projected Newton steps: rows at their bound whose gradient holds them there are left out; a tangential force on
its circle moves along it, with the circle's curvature, g_t·λ_t/bound², added to the diagonal.
"""

from __future__ import annotations

import math

from sennit.compilation import inlined, kernel, merged, tolerance
from sennit.contact.kernels.rows import SIDE

ON_CIRCLE = tolerance(1e-9, 1e-6)
"""Part of the bound within which a force counts as on it."""
LARGEST_ANGLE = 1.5
"""rad by which one step may turn a force on its circle."""
OFF = -1.0
"""Diagonal of a row that is left out."""


@merged
def clip(k, force, rows):
    """Bring the force of contact k within its law."""
    force[k, 0] = min(max(force[k, 0], rows.least[k]), rows.most[k])
    s = math.sqrt(force[k, 1] * force[k, 1] + force[k, 2] * force[k, 2])
    if s > rows.bound[k]:
        share = rows.bound[k] / s
        force[k, 1] *= share
        force[k, 2] *= share


@inlined
def numbers_of(second):
    """Numbers of a row that are in the matrix; `second`: the first degree of freedom of the second side, -1: none."""
    return SIDE if second < 0 else 2 * SIDE


@kernel
def put_slot(k, s, slots, rows, values, right, begin):
    """Write the rows of contact k, which has slot s, into the matrix, and their right sides −g into right[begin :].

    Returns which rows are in: 1 the normal, 2 the tangents, 4 the tangents on their circle.
    """
    g, force = rows.gradient, rows.force
    at = slots.place[s]
    presses = (force[k, 0] > rows.least[k] or g[k, 0] < 0.0) and (force[k, 0] < rows.most[k] or g[k, 0] > 0.0)
    first, second, curvature = 1.0, 0.0, 0.0
    rubs, both = rows.bound[k] > 0.0, rows.bound[k] > 0.0
    rows.slides[k] = 0
    if rubs:
        size = math.sqrt(force[k, 1] * force[k, 1] + force[k, 2] * force[k, 2])
        outwards = -(g[k, 1] * force[k, 1] + g[k, 2] * force[k, 2])
        if size > (1.0 - ON_CIRCLE()) * rows.bound[k] and outwards > 0.0:
            rows.slides[k], both = 1, False
            first, second = -force[k, 2] / size, force[k, 1] / size
            curvature = outwards / (rows.bound[k] * rows.bound[k])
    J = rows.jacobian
    for i in range(numbers_of(slots.index[s, SIDE])):
        values[at + i] = J[k, 0, i] if presses else 0.0
        values[at + 2 * SIDE + i] = first * J[k, 1, i] + second * J[k, 2, i] if rubs else 0.0
        values[at + 4 * SIDE + i] = J[k, 2, i] if both else 0.0
    end = at + 6 * SIDE
    values[end] = -rows.softness[k, 0] if presses else OFF
    values[end + 1] = -(rows.softness[k, 1] + curvature) if rubs else OFF
    values[end + 2] = -rows.softness[k, 2] if both else OFF
    right[begin] = -g[k, 0] if presses else 0.0
    right[begin + 1] = -(first * g[k, 1] + second * g[k, 2]) if rubs else 0.0
    right[begin + 2] = -g[k, 2] if both else 0.0
    return int(presses) + (2 if both else 4 if rubs else 0)


@kernel
def empty_slot(s, slots, values):
    """Rows that hold nothing."""
    at = slots.place[s]
    for row in range(0, 6 * SIDE, 2 * SIDE):
        for i in range(numbers_of(slots.index[s, SIDE])):
            values[at + row + i] = 0.0
    for row in range(3):
        values[at + 6 * SIDE + row] = OFF


@kernel
def go(k, share, step, at, rows):
    """Force of contact k after a `share` of the Newton step (step[at :]), within the law, into `trial_force`.

    Returns 1 if the law cut it off.
    """
    force, trial = rows.force, rows.trial_force
    trial[k, 0] = force[k, 0] + share * step[at]
    if rows.slides[k] == 1:
        angle = min(max(share * step[at + 1] / rows.bound[k], -LARGEST_ANGLE), LARGEST_ANGLE)
        c, s = math.cos(angle), math.sin(angle)
        trial[k, 1] = c * force[k, 1] - s * force[k, 2]
        trial[k, 2] = s * force[k, 1] + c * force[k, 2]
    else:
        trial[k, 1] = force[k, 1] + share * step[at + 1]
        trial[k, 2] = force[k, 2] + share * step[at + 2]
    cut = not rows.least[k] <= trial[k, 0] <= rows.most[k]
    cut = cut or math.sqrt(trial[k, 1] * trial[k, 1] + trial[k, 2] * trial[k, 2]) > (1.0 + ON_CIRCLE()) * rows.bound[k]
    clip(k, trial, rows)
    return 1 if cut else 0


@merged
def share_of_limit(k, d, x, y, rows):
    """Share of a step (d, x, y) at which the force of contact k meets a limit of its law that it is not on yet; 1.0 if
    it does not.
    """
    force, least = rows.force, 1.0
    if d < 0.0 and force[k, 0] > rows.least[k]:
        least = min(least, (rows.least[k] - force[k, 0]) / d)
    elif d > 0.0 and force[k, 0] < rows.most[k]:
        least = min(least, (rows.most[k] - force[k, 0]) / d)
    inside = rows.bound[k] * rows.bound[k] - force[k, 1] * force[k, 1] - force[k, 2] * force[k, 2]
    square = x * x + y * y
    if rows.slides[k] == 0 and square > 0.0 and inside > 2.0 * ON_CIRCLE() * rows.bound[k] * rows.bound[k]:
        # |force + share step| = bound
        along = force[k, 1] * x + force[k, 2] * y
        least = min(least, (math.sqrt(along * along + square * inside) - along) / square)
    return least
