"""Steps of a rod of hair, or of four in the lanes of packs: what is tried, and what is made of it."""

from __future__ import annotations

from sennit.compilation import kernel
from sennit.hair.kernels.accept import accept, clear_head, keep_rates, stand_still
from sennit.hair.kernels.matrix import find_moves, make_front
from sennit.hair.kernels.strand import FACTOR, STATUS, offsets, touches
from sennit.lanes import every, load, store, where

WIDEST = 0.0873321925451609
"""sin²(0.3 rad): where a tangent turns further, the exact stiffness has led too far, as in a scene."""
HUGE = 1e6
"""Displacement over the length of a rod that no step makes."""
PARTS = 8
"""Of a step that leads too far as a whole."""
SHARE = 0.25
"""Of the energy of motion and stretching: what a step may put into stretching without knowing, as in a scene."""
LENIENT, MANY = 1.0, 100.0
"""The same where it can't be divided any more, and by how much more energy then does not matter."""
ROUND = 1.0
"""Measure of a right angle, by which no tangent turns in a step."""
MODES = 4
"""Ways to make the matrix, the most exact first."""
DONE, FAILED, LED = 4.0, 5.0, 6.0


@kernel
def try_step(hair, base, stride, at, h, start, end, strict, waiting, work):
    """A step of h from one of the head's poses to another, of the lanes that are `waiting` (1). Returns 0 for those
    that have made it, 1 for those that are as they were.

    The matrix is that of a scene's step: exact; where it is not positive definite without the part of pushing tensions,
    where a tangent turns too far by Gauss and Newton, at last with neither. A lane that is done waits for the others.
    `strict`: one that the step stretches by more than it has in motion, turns round, or leads deep into the head, has
    not made it. If not, by more still; then it stands still at its root, and is put out of the head.
    """
    frames, pulls, presses, own = offsets(hair)
    numbers = hair.numbers
    EA = load(hair.state, base + stride * (own + FACTOR)) * numbers[15]
    stage = where(waiting == 1.0, 0.0, FAILED)
    limit = HUGE * HUGE * numbers[20] * numbers[20]
    for mode in range(MODES):
        tried = stage == float(mode)
        if every(stage != float(mode)):
            continue
        exact, push = 1 if mode < 2 else 0, 1 if mode % 2 == 0 else 0
        least = make_front(hair, base, stride, at, h, start, end, exact, push, work)
        size, widest, missed, kinetic, stored = find_moves(hair, base, stride, at, h, end, float(mode), stage, work)
        sound = (least > 0.0) & (size < limit) & (widest == widest)
        then = where(sound, DONE, FAILED if mode == 3 else 3.0)
        if mode < 2:
            far, indefinite = (2.0, 1.0) if mode == 0 else (3.0, 3.0)
            then = where(sound & (widest <= WIDEST), DONE, where(least > 0.0, far, indefinite))
        share, still = (SHARE, numbers[21]) if strict == 1 else (LENIENT, MANY * numbers[21])
        calm = (EA * missed <= share * (kinetic + EA * stored) + still) & (widest < ROUND)
        then = where(then == DONE, where(calm, DONE, LED), then)
        finite = (size == size) & (widest == widest) & (missed == missed) & (kinetic == kinetic)
        then = where((then == FAILED) & finite, LED, then)
        stage = where(tried, then, stage)
    good = stage == DONE
    keep_rates(hair, base, stride, at, h)
    if strict == 0 and not every(stage != LED):
        stand_still(hair, base, stride, at, h, end, stage == LED)
        good = good | (stage == LED)
    if touches(hair):
        deepest = clear_head(hair, base, stride, at, h, end, good)
        good = good & (deepest <= (numbers[1] if strict == 1 else HUGE))
    accept(hair, base, stride, at, h, good)
    return where(good, 0.0 * waiting, waiting)


@kernel
def step_rods(hair, base, stride, at, step, work):
    """Step number `step` of the rods at `base`, with their factors at `at`: as a whole, or in `PARTS` parts of those
    that it would lead too far. One for which nothing finite is found has the status 1, and stays.
    """
    frames, pulls, presses, own = offsets(hair)
    o = base + stride * (own + STATUS)
    status, h, first = load(hair.state, o), hair.numbers[0], PARTS * step
    waiting = where(status == 0.0, 1.0, 0.0 * status)
    left = try_step(hair, base, stride, at, h, first, first + PARTS, 1, waiting, work)
    if every(left == 0.0):
        return
    for part in range(first, first + PARTS):
        undone = try_step(hair, base, stride, at, h / PARTS, part, part + 1, 0, left, work)
        status = where(undone == 1.0, 1.0, status)
        left = where(undone == 1.0, 0.0, left)
    store(hair.state, o, status)
