"""One solve of a `System`: prepared, solved, looked into, judged, and accepted or undone."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sennit.constraints.cable.kernels.kinds import IMPLICIT, MEAN, SPOOK
from sennit.errors import InputError, SolveError
from sennit.solve import schemes
from sennit.solve.kernels.codes import (
    ACCEPT,
    CROSSED,
    JUDGE,
    KEEP,
    LOOK_AT_ROWS,
    PREDICT,
    QUIET,
    SOLVE,
    SOLVED,
    TOUCHED,
)
from sennit.solve.kernels.entries import keep
from sennit.solve.kernels.stages import STAGES, SUZUKI
from sennit.solve.plan import MatrixPlan
from sennit.solve.redundancy import GIVE, redundant_rows_disagree, soften_redundant_rows
from sennit.solve.system import System
from sennit.solve.table import Model

__all__ = ["Part", "Solver"]

WHOLE = KEEP + PREDICT + SOLVE + JUDGE + ACCEPT
"""The parts of a step."""
TURNS, TURNS_OF_FLOW = 16, 48
"""Newton's turns of a step of "midpoint" or "fourth" at most: of rods that stay elastic, and of those that yield or
transform, where the tangent jumps."""
CONVERGED, NEAR, LEFT = 1e-10, 1e-8, 1e-10
"""Displacement of Newton's last turn over the scene's size: of "midpoint", which keeps energy, and of "fourth", whose
error is larger than what a turn leaves after so small a one. There, what the next turn would move is enough, too."""


class Part(NamedTuple):
    """A part of a step, or the whole of it."""

    kind: str
    """Scheme that makes it: "euler", "bdf2", "midpoint" or "fourth", which is composed of steps of "midpoint"."""
    h: float
    """Its time, s."""
    before: float
    """Time of the part before it, s, if the scheme is one of two steps."""
    start: float
    end: float
    """Shares of the whole step where it begins and ends."""
    thrifty: bool
    """Whether one that gains energy is refused, rather than calmed."""
    lenient: bool
    """Whether it may miss more than others: it can't be divided further."""
    whole: float
    """Time of the whole step, s."""
    drag: float
    """Drag of the scene, 1/s."""
    gravity: tuple[float, float, float]
    """Acceleration of free fall, m/s²."""
    yields: bool = False
    """Whether firm rows whose targets move stay where they are: see `kernels.lead`."""
    backward: bool = False
    """Whether cables pull by where they end, in Euler's formula, too. It begins after a step of fourth order, with
    velocities of the same time as the places; their own form, which takes those for half a step older, would gain
    energy from that."""


class Solver:
    """Solves a system as its numbers are set. It holds no state of the scene but what it may have to put back."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._kept = system.model.kept
        self.prepared: Part | None = None
        """The part that the system's numbers are set for."""
        self.softened = False
        """Whether redundant rows were found, and given a compliance."""
        self.redundant: list[int] | None = None
        """Equality rows that were found superfluous in the last solve, until the scene has read it."""
        self.moved = False
        """Whether a step was accepted already: rows that contradict each other then are not an error in the input."""
        self._against: list[str] = []
        """Names of the constraints that contradicted each other last."""
        self._gap = 0.0
        """By how much they did in the last solve, m or rad."""

    def note_softened(self) -> None:
        """The state was put in from outside: see whether some of its rows are superfluous."""
        self.softened = bool(self.system.model.rows.spare.any())

    def prepare(self, part: Part) -> None:
        """Set the numbers and settings of a part of a step, which stay until another one is asked for."""
        model = self.system.model
        step, settings, scheme = model.step, model.settings, model.scheme
        self.forget()
        step.gravity[0] = part.gravity
        step.threshold[0] = 2.0 * abs(part.h) * math.hypot(*part.gravity) + 1e-6
        model.rows.gain[:] = 1.0
        if part.kind == "euler":
            schemes.euler(scheme, step, part.h, part.drag)
        elif part.kind == "bdf2":
            schemes.bdf2(scheme, step, part.h, part.drag, part.before)
        else:
            schemes.mean_force(scheme, step, part.h, part.drag)
        step.share_before[0], step.share_after[0], step.total[0] = part.start, part.end, part.whole
        settings.turns[0], settings.path[0] = (1, 1) if part.kind in ("euler", "bdf2") else (_turns(model), 3)
        step.converged[0] = CONVERGED
        if part.kind == "fourth":
            whole = (part.start, part.end) == (0.0, 1.0)
            settings.stages[0], settings.stage[0] = (STAGES, 0) if whole else (1, SUZUKI.index(part.start))
            step.converged[0], step.left[0] = NEAR, LEFT
            if not (len(model.splines.rods) or len(model.discretes.rods)):
                settings.path[0] = 2  # one point is enough for a symmetric scheme, whose energy nobody promises
        settings.exact[0] = settings.push[0] = settings.strict[0] = 1
        settings.static[0], settings.thrifty[0], settings.lenient[0] = 0, part.thrifty, part.lenient
        settings.yields[0] = part.yields
        settings.cables[0] = {"euler": IMPLICIT if part.backward else SPOOK, "bdf2": IMPLICIT}.get(part.kind, MEAN)
        self.prepared = part

    def forget(self) -> None:
        """Set the numbers of a solve to 0, for one of another kind."""
        self.prepared = None
        settings = self.system.model.settings
        settings.stages[0], settings.stage[0] = 1, 0
        for numbers in self.system.model.step.fields().values():
            numbers[:] = 0.0

    def begin_at(self, time: float) -> None:
        """Tell the kernels the time (s) at which the next whole step begins."""
        self.system.model.report.time[0] = time

    def advance(self) -> int:
        """From one state to the next, as the system's numbers are set: all that needs Python on the way.

        A slider that enters another span asks for a new plan of the matrix; rows that depend on others are looked into
        before the solve is accepted. Returns QUIET, SOLVED, or why it was not accepted, with the state as it was.

        Raises `InputError` for rows that contradict each other in a first step.
        """
        parts = KEEP + PREDICT + SOLVE if self.softened else WHOLE
        status = self.system.march(parts, 1, self.system.plan(False).scene)
        return QUIET if status == QUIET else self._go_on(parts, int(status))

    def run(self, count: int, time: float) -> tuple[int, float, int]:
        """Up to `count` steps from `time` (s) on, as long as nothing happens: how many were made, the time after them,
        and how the last one tried has ended, as from `advance`. One that is composed of stages ends anywhere on the way
        unless it is QUIET, and must be put back: what `advance` does then is for each of them.
        """
        scene = self.system.plan(False).scene
        self.begin_at(time)
        status = int(self.system.march(WHOLE, count, scene))
        made, time = int(scene.report.made[0]), float(scene.report.time[0])
        if status != QUIET and scene.settings.stages[0] == 1:
            status = self._go_on(WHOLE, status)
            if status == QUIET:  # a slider has entered another span, no more
                made, time = made + 1, time + float(scene.step.total[0])
        return made, time, status

    def _go_on(self, parts: int, status: int) -> int:
        """Go on where `march` has stopped with `status` after `parts` of a step."""
        s, rest = self.system, JUDGE + ACCEPT
        self._gap = 0.0
        looked = False
        while True:
            if status == QUIET:
                return QUIET
            if status == CROSSED:
                s.forget_plans()
                parts &= ~(KEEP + PREDICT)
            elif status == TOUCHED:
                touching: Any = s.touching
                if touching.makes_room():
                    parts &= ~(KEEP + PREDICT)
                else:  # the step was solved, and is made again
                    self.undo()
                    parts = parts & ~KEEP | PREDICT | SOLVE
            elif status == LOOK_AT_ROWS or (status == SOLVED and not parts & ACCEPT and not looked):
                looked = True
                parts = PREDICT + SOLVE if self.look_into_rows(s.plan(False), PREDICT + SOLVE) else rest
            elif status == SOLVED and not parts & ACCEPT:
                parts = rest
            else:
                break
            status = int(s.march(parts, 1, s.plan(False).scene))
        if status != SOLVED:
            self.undo()
        return status

    def keep(self) -> None:
        """Remember what a solve changes before it is accepted."""
        keep(self._kept)

    def note_rates(self, part: Part) -> None:
        """Set the last values of cables to those of a time of `part` ago by the present rates: the last step was made
        of stages, the last value is that of one of them, and catches are judged by the difference.
        """
        rows = self.system.model.rigging.rows
        if len(rows):
            self.prepare(part)
            self.system.march(KEEP + PREDICT, 1, self.system.plan(False).scene)
            before = rows.past.copy()
            self.undo()
            rows.value_last[:] = before

    def undo(self) -> None:
        """Forget a solve that was not accepted."""
        s = self.system
        np.copyto(self._kept.rows, self._kept.rows_before)
        np.copyto(self._kept.cables, self._kept.cables_before)
        s.find_spans()

    def look_into_rows(self, plan: MatrixPlan, parts: int) -> bool:
        """Where rows depend on others: soften them if they agree; if not, let them yield, or in a first step raise
        `InputError`, with nothing changed.

        Returns True if rows were softened, so that the solve must be made again. `parts` are those of `march` that make
        the matrix; it is made afresh, since forces of rows that contradict each other may have got into it.
        """
        s = self.system
        if s.model.report.dependent[0] == 0 and not (self.softened and redundant_rows_disagree(s)):
            return False
        self.softened = True
        np.copyto(self._kept.rows, self._kept.rows_before)
        s.model.settings.look[0] = 1
        s.march(parts, 1, plan.scene)
        s.model.settings.look[0] = 0
        try:
            self.redundant, names, gap = soften_redundant_rows(s, plan, yielding=self.moved)
        except (InputError, SolveError):
            self.undo()
            raise
        if names:
            self._against, self._gap = names, gap
        return True

    def yielding(self) -> tuple[float, list[str]]:
        """By how much rows give way that contradict each other, m or rad, and whose they are."""
        rows = self.system.model.rows
        giving = np.flatnonzero(rows.spare_share >= GIVE)
        if not self.softened or not len(giving):
            return self._gap, self._against if self._gap > 0.0 else []
        names = [self.system.layout.constraints[int(owner)].name for owner in rows.owner[giving]]
        gap = float(np.max(np.abs(rows.value[giving] + rows.ahead[giving])))
        return max(self._gap, gap), [*names, *self._against]


def _turns(model: Model) -> int:
    """Newton's turns at most."""
    branched = len(model.splines.branches) + len(model.discretes.branches) > 0
    return TURNS_OF_FLOW if branched else TURNS
