"""Steps of many rods: on processors each thread takes the next four that wait, on graphics cards a thread has one rod."""

from __future__ import annotations

from sennit.batch.kernels.march import take
from sennit.compilation import kernel
from sennit.hair.kernels.front import KEPT
from sennit.hair.kernels.room import span_room
from sennit.hair.kernels.strand import step_rods


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
def step_one(i, rods, steps, hair):
    """Make `steps` steps of rod number i of `rods`, whose numbers lie beside those of the others."""
    work = span_room(hair.state)
    for step in range(steps):
        step_rods(hair, i, rods, i, step, work)
