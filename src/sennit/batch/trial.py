"""One step of a few scenes of a batch, by the graphics card and by the processor: see `card_trial`."""

from __future__ import annotations

from typing import Any

import numpy as np

from sennit.batch.memory import Words
from sennit.card_trial import COPIES, Trials, blurred
from sennit.solve.kernels.codes import LOOK_AT_ROWS, QUIET
from sennit.solve.solver import WHOLE
from sennit.validation import FloatArray

__all__ = ["try_step"]

Step = tuple[int, FloatArray, FloatArray]
"""How it ended, places, velocities."""
_TRIED = 4
"""Scenes whose step is compared: first and last of those that wait, and some between."""


def try_step(batch: Any, trials: Trials, rows: Words, left: Words) -> None:
    """Raises `InputError`, and leaves all scenes as they are, if a step of the card is not that of the processor.

    Steps that the card does not accept count for nothing: the processor makes them again.
    """
    chosen = np.unique(rows[np.linspace(0, len(rows) - 1, min(_TRIED, len(rows)), dtype=int)])
    kept = [(i, batch._main.get_row(i), batch._rooms[i][0].get_row(batch._rooms[i][1])) for i in chosen.tolist()]
    counts = np.zeros(batch.count, np.int64)
    counts[chosen] = 1
    ended, _ = batch._launch(chosen, counts, left)
    motion = batch._shop.system.model.motion
    found = {}
    for i, words, room in kept:
        batch._shop.main.write(batch._numbers.widen(batch._main.get_row(i)))
        found[i] = motion.q.copy(), motion.v.copy()
        batch._main.put_row(i, words)
        batch._rooms[i][0].put_row(batch._rooms[i][1], room)
    for i in chosen[ended[chosen] == QUIET].tolist():
        _compare(batch, trials, i, int(left[i]), *found[i])


def _compare(batch: Any, trials: Trials, i: int, left: int, q: FloatArray, v: FloatArray) -> None:
    for coarse in (1.0, 1e3):  # a step that seems wrong is looked at again: it may be near where another way begins
        steps = [_step(batch, i, left, coarse * trials.grain, k) for k in range(1 + COPIES)]
        if {ended for ended, _, _ in steps} - {QUIET, LOOK_AT_ROWS}:
            return  # which way it goes hangs on rounding, or the processor would have divided it
        found = _farthest(batch, trials, steps, q, v)
        if found is None:
            return
        name, off, allowed = found
    trials.refuse(f"{name} of scene {i}", off, allowed)


def _farthest(
    batch: Any, trials: Trials, steps: list[Step], q: FloatArray, v: FloatArray
) -> tuple[str, float, float] | None:  # fmt: skip
    """What is too far from the processor's step, which is the first of `steps`; None: nothing."""
    h, size = abs(float(batch._shop.system.model.step.total[0])), max(float(np.abs(q).max(initial=0.0)), 1e-3)
    for name, number, own, scale in (("a place", 1, q, 1.0), ("a velocity, times the step,", 2, v, h)):
        made = scale * np.array([step[number] for step in steps])
        off = float(np.abs(scale * own - made[0]).max(initial=0.0))
        allowed = trials.allowed(made[0], made[1:], size)
        if not off <= allowed:
            return name, off, allowed
    return None


def _step(batch: Any, i: int, left: int, grain: float, copy: int) -> Step:
    """How the processor's step of scene i ends, its places and its velocities; copies from blurred numbers."""
    batch._bring(i)
    system = batch._shop.system
    model = system.model
    if batch._led is not None:
        anchors, path = batch._led
        model.points.anchor[anchors] = path[i, batch._asked - left]
    if copy:
        for name in ("q", "v"):
            array = getattr(model.motion, name)
            array[:] = blurred(array, grain, copy)
    ended = int(system.march(WHOLE, 1, batch._shop.root()))
    return ended, model.motion.q.copy(), model.motion.v.copy()
