"""What a static solve does about things that touch: how far an iteration may go, and how boldly the next is made."""

from __future__ import annotations

from typing import Any

from sennit.errors import InputError
from sennit.solve.plan import MatrixPlan
from sennit.solve.system import System

__all__ = ["Resting"]

LEAST_WAY, FIRST_WAY, TOUCHING_WAY, MOST_WAY = 1e-4, 0.05, 0.1, 0.5
"""How far an iteration may move what can touch, over the scene's size: contacts are looked for that far away. At least,
at first, at most where something presses, and where nothing does."""
CIRCLE = 12
"""Iterations in which displacements must have become half as large, or else they are damped."""
MOST_PATIENCE = 7
"""Iterations for which nothing bolder is tried at most."""
DEEP = 1.0
"""Overlap that is there at first, in radii of a rod or tenths of a body's size, above which a scene is refused."""


class Resting:
    """Contacts between the iterations of static solves. Where nothing may touch, it changes nothing."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._touching: Any = system.touching
        self._way, self._unseen = FIRST_WAY, False
        self._dampings = self._patience = self._waiting = 0

    def begin(self) -> None:
        """A `settle` begins: what overlaps is looked at in its first iteration."""
        self._way, self._unseen = FIRST_WAY, True

    def begin_solve(self) -> None:
        """One of its solves begins."""
        self._dampings = self._patience = self._waiting = 0
        self.turn_forces()

    def turn_forces(self) -> None:
        """Take it into account that the forces of contacts turn as things move."""
        if self._touching is not None:
            self._touching.touch_state().straight[0] = 0

    @property
    def way(self) -> float:
        """How far the next iteration may move what can touch, m."""
        return self._way * self._system.size

    def check_overlaps(self) -> None:
        """Raise `InputError` if things overlap deeply where a `settle` begins."""
        if self._touching is None or not self._unseen:
            return
        self._unseen = False
        depth, _, pair = self._touching.overlap_at_start()
        if depth > DEEP and pair is not None:
            names = f"{pair[0].name} and {'itself' if pair[1] is pair[0] else pair[1].name}"
            raise InputError(
                f"{names} overlap by more than could be pushed apart: put them apart, or let them pass through each "
                f"other (Scene.ignore)"
            )

    def looks_further(self) -> bool:
        """Whether the last iteration went further than contacts were looked for, and the next one is to look there."""
        if self._touching is None:
            return False
        way, most = self._went()
        if not self._way < way <= most:
            return False
        self._way = min(2.0 * way, most)
        return True

    def _went(self) -> tuple[float, float]:
        """How far the last iteration went, and how far one may go, over the scene's size."""
        state = self._touching.touch_state()
        return float(state.way[0]) / self._system.size, TOUCHING_WAY if state.active[0] else MOST_WAY

    def straightens(self) -> bool:
        """Leave it out that forces turn: a rope that may slide off what it lies on has a stiffness with a wrong sign,
        and the shift that its small mass asks for would stop everything else. Returns False if it was left out already.
        """
        if self._touching is None:
            return False
        state = self._touching.touch_state()
        if state.straight[0] == 1 or state.active[0] == 0:
            return False
        state.straight[0] = 1
        return True

    def damping(self, history: list[float]) -> float:
        """What the least shift is to be multiplied by for iterations, with displacements as in `history`, that go
        round in a circle as contacts come and go; else 0.
        """
        if self._touching is None or len(history) % CIRCLE or len(history) < 2 * CIRCLE:
            return 0.0
        if min(history[-CIRCLE:]) < 0.5 * min(history[:-CIRCLE]):
            return 0.0
        self._dampings += 1
        return float(10.0**self._dampings)

    def note(self, plan: MatrixPlan) -> bool:
        """Go on from the forces of an iteration. Returns whether these are found, and no gaps are left."""
        if self._touching is None:
            return True
        self._touching.note_iteration(plan.scene)
        way, most = self._went()
        self._way = min(max(2.0 * way, LEAST_WAY), most)
        return bool(self._touching.is_converged())

    def waits(self, stopped: bool) -> bool:
        """Whether the next iteration is to be like the last one, which was `stopped` before it could be made: the more
        often that is so, the longer less shift, and forces that turn, are not tried again.
        """
        if self._touching is None:
            return False
        if stopped:
            self._patience = min(2 * self._patience + 1, MOST_PATIENCE)
            self._waiting = self._patience
        if self._waiting > 0:
            self._waiting -= 1
            return True
        self.turn_forces()
        return False
