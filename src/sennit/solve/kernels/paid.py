"""How much of a cable's elongation was paid for, and how much a step may take out of it.

A step moves bodies along straight lines and turns them about arms that it takes as they were. The path of a cable that
sweeps round, or that a body turns on, is longer afterwards than its row says: elongation that no work was done for. A
stiff cable closes it in a few steps, and the shorter the step, the faster. Where it came about on a light body and is
closed on a heavy one, energy comes from nothing, up to 10⁹ times what there was.

Impulses change the kinetic energy by their product with the mean of the velocities before and after. With a = h J v
before the step and b = h J v₊ after it, a cable of tension T does the work −T m, m = (a + b)/2. So an elongation p is
kept beside the one that is measured, whose energy p²/2ε has been paid for::

    p₊ = min(p + m, √(p² + 2εT m), max(p, 2εT)),   0 when slack

and the row may not ask for more than it holds: in terms of Υ (`tensions`), J Δq + … = e + Σ T with

    e ≥ −4Υp − a      if the cable lengthens (a > 0): it may bounce back as fast as it came, and draw on p,

for which T m ≥ −(p² − p₊²)/2ε. Where nothing is unpaid, that is no bound: e = −4Υp − Υa is the scheme itself. The rest
is taken back slowly (`creeping`). What bodies are put to from outside, static solves and "midpoint" leaves counts as
paid for (p = ∞).

Passing a fold, the angle of a twist jumps: there √(Ω² + 2ε Q m) bounds what it may have become.
"""

from __future__ import annotations

import math

from sennit.bodies.kernels.frames import get3
from sennit.compilation import inlined
from sennit.constraints.cable.kernels.kinds import IMPLICIT
from sennit.constraints.cable.kernels.kinds import MEAN as MEAN_ROWS
from sennit.geometry.kernels.algebra import dot3

SOFT = 0.0225  # (ωh/2)² below which a step follows the vibration, and all elongation counts as paid for
LITTLE = 0.1  # of what is paid for, up to which what is not counts as well
RECOVERY = 1.0  # s in which elongation that nothing was paid for is taken back


@inlined
def back_up(row, mean, square, rows):
    """Share out an elongation, m, between what was paid for, which goes to `backed`, and the rest, which is returned.

    `square` is (ωh/2)².
    """
    backed = min(rows.paid[row], mean)
    unpaid = mean - backed
    little = max(1.0 - unpaid / (LITTLE * backed), 0.0) if backed > 0.0 else 0.0
    rows.backed[row] = backed + unpaid * max(little, 1.0 / (1.0 + (square / SOFT) * (square / SOFT)))
    return unpaid


@inlined
def slowed(row, rows):
    """`came`, less what forces other than the cable's take from it: in a stiff mode they do that before it bounces."""
    fallen = -rows.left_over[row]
    return max(rows.came[row] + min(fallen, 0.0), 0.0) if rows.came[row] > 0.0 else rows.came[row]


@inlined
def lightness(give, mass, step):
    """Share of a cable's way in which what it moves is moved as if it hung there freely, at most 1.

    A way c costs the energy m c²/h² with the mass m = h²/`give` that the cable feels. A cable that lies nearly straight
    feels far more than all `mass` there is: to shorten it by a little, its bodies must go a long way across it.
    """
    return min(math.sqrt(mass * max(give, 0.0)) / step.step[0], 1.0)


@inlined
def creeping(unpaid, light, step):
    """How far a step may take back an elongation that nothing was paid for, m.

    At least by as much as a fall from rest makes in a step: so far places and velocities stand apart anyway.
    """
    h, g = step.step[0], get3(step.gravity, 0)
    return light * max(h / RECOVERY * unpaid, min(unpaid, 0.5 * math.sqrt(dot3(g, g)) * h * h))


@inlined
def least_side(row, ups, square, light, step, rows):
    """Least right side e of a part's row in "euler"."""
    unpaid = back_up(row, max(rows.value[row] - 0.5 * rows.came[row], 0.0), square, rows)
    rows.slowed[row] = slowed(row, rows)
    came, backed, creep = rows.slowed[row], rows.backed[row], creeping(unpaid, light, step)
    # It shortens already, by more than it holds: whatever pulls it open again is not held back by what there was.
    closing = max(-came - 2.0 * backed - creep, 0.0)
    bounce = -(1.0 - ups) * closing if closing > 0.0 else max((1.0 - ups) * came, creep)
    return -ups * (4.0 * backed + came) - bounce - rows.turned[row]


@inlined
def least_side_implicit(row, square, light, step, rows):
    """Least J Δq of a part's row in a linearised step of the backward formula, with J where free flight ends."""
    unpaid = back_up(row, max(rows.value[row], 0.0), square, rows)
    came, backed, creep = rows.came[row], rows.backed[row], creeping(unpaid, light, step)
    closing = max(-came - 2.0 * backed - creep, 0.0)
    # half of the approach: velocities are extrapolated, and thrown right back they would grow
    least = closing - 2.0 * backed - max(0.5 * came, creep)
    return least - rows.turned[row] - rows.world_move[row]


@inlined
def elongation_paid(row, soft, out, scene):
    """Elongation whose energy the tension has paid for when a step ends, in which the winch let `out` out, m.

    `soft` is ε. Of a twist the largest angle that it can have come to, rad.
    """
    rows, mode = scene.rigging.rows, scene.settings.cables[0]
    tension, twist, backward = rows.tension[row], rows.part_number[row] < 0, scene.rigging.cables.backward
    if mode == MEAN_ROWS or scene.step.step[0] == 0.0 or backward[rows.cable[row]] == 1 or (twist and mode == IMPLICIT):
        return math.inf
    if tension <= 0.0 and not twist:
        return 0.0
    came, backed = rows.came[row], rows.backed[row]
    if mode == IMPLICIT:
        if scene.settings.turns[0] > 1:
            return soft * tension
        went = rows.turned[row] + rows.world_move[row] - rows.wanted[row] + rows.softness[row] * tension
        mean = 0.5 * (came + went - rows.left_over[row] - out)
        return min(soft * tension, math.sqrt(max(backed * backed + 2.0 * soft * tension * mean, 0.0)))
    went = rows.free[row] - rows.wanted[row] + rows.softness[row] * tension - rows.left_over[row] - out
    mean = 0.5 * (came + went + rows.turned[row])
    if twist:
        start = rows.value[row] - 0.5 * came
        return math.sqrt(max(start * start + 2.0 * soft * tension * mean, 0.0)) + 0.5 * abs(went)
    work = tension * (mean - 0.5 * (came - rows.slowed[row]))
    stored = math.sqrt(max(backed * backed + 2.0 * soft * work, 0.0))
    return min(max(backed + mean, 0.0), stored, max(backed, 2.0 * soft * tension))
