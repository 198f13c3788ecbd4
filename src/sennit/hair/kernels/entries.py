"""Steps of many rods: a processor's threads take the next four that wait, a graphics card has a thread for each."""

from __future__ import annotations

from sennit.batch.kernels.march import take
from sennit.compilation import kernel
from sennit.hair.kernels.front import KEPT
from sennit.hair.kernels.room import span_room
from sennit.hair.kernels.steps import step_rods
from sennit.threads import thread


@kernel
def step_fours(fours, steps, room, counter, hair):
    """Make `steps` steps of `fours` times four rods, of which several threads with the same `counter`, [0] at first,
    share the work; `room` numbers the threads, which have factors of their own.
    """
    work = span_room(hair.state)
    at = room * KEPT * hair.counts[0]
    while True:
        k = take(counter)
        if k >= fours:
            return 0
        for step in range(steps):
            step_rods(hair, k * hair.counts[4], 1, at, step, work)


@kernel
def step_some(first, end, room, hair):
    """Make steps of the rods `first` to `end`, one after the other, with the factors of `room`."""
    work = span_room(hair.state)
    for i in range(first, end):
        for step in range(hair.counts[6]):
            step_rods(hair, i * hair.counts[4], 1, room * KEPT * hair.counts[0], step, work)


@kernel
def step_each(hair):
    """Make steps of the rod that this thread has; its numbers lie beside those of the others."""
    i, rods = thread(), hair.counts[5]
    if i < rods:
        work = span_room(hair.state)
        for step in range(hair.counts[6]):
            step_rods(hair, i, rods, i, step, work)
