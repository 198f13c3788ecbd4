"""Time steps of a `System`: what runs between two states of a scene."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sennit.constraints.cable.kernels.kinds import IMPLICIT, MEAN, SPOOK
from sennit.errors import InputError, SolveError, SolveReport
from sennit.solve import schemes
from sennit.solve.kernels.accept import evaluate_all
from sennit.solve.kernels.codes import (
    ACCEPT,
    CROSSED,
    LOOK_AT_ROWS,
    NOT_FINITE,
    PREDICT,
    SOLVE,
    SOLVED,
    UNBOUNDED,
    UNCONVERGED,
    WRONG_INERTIA,
)  # fmt: skip
from sennit.solve.kernels.entries import march
from sennit.solve.plan import MatrixPlan
from sennit.solve.redundancy import redundant_rows_disagree, soften_redundant_rows
from sennit.solve.system import System
from sennit.tables import STATE
from sennit.validation import FloatArray

__all__ = ["Stepper"]

_CAUSES = {
    NOT_FINITE: "the step gave numbers that are not finite: forces or targets are too large for this dt",
    WRONG_INERTIA: "the step's matrix is not definite: a body without mass, or a time step far too long for this load",
    UNBOUNDED: "the one-sided rows contradict each other",
    UNCONVERGED: "Newton's method did not converge: take a shorter dt",
}


class Stepper:
    """Advances a system. It holds no state of its own but the workspaces of `System`."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._kept_rows = system.model.rows.words(STATE).copy()
        self._prepared: tuple[Any, ...] = ()
        """The kind of step that the system's numbers are set for."""
        self.softened = False
        """Whether redundant rows were found, and given a compliance."""
        self.redundant: list[int] | None = None
        """Equality rows that were found superfluous in the last solve, until the scene has read it."""

    def step(self, integrator: str, h: float, before: float, drag: float, gravity: FloatArray) -> str:
        """One step of `h` (s) after one of `before` (s; 0: none). Returns the method that made it.

        Raises `SolveError` with the state as it was.
        """
        kind = "euler" if integrator == "bdf2" and before == 0.0 else integrator
        wanted = (kind, h, before if kind == "bdf2" else 0.0, drag, *gravity.tolist())
        if wanted != self._prepared:
            self._prepare(wanted)
        if integrator != "midpoint":
            self.advance()
            return integrator
        try:
            self.advance()
        except SolveError:
            return self._two_stages(h, drag)
        return integrator

    def _prepare(self, wanted: tuple[Any, ...]) -> None:
        """Set the numbers and settings of a step, which stay until another kind of step is asked for."""
        kind, h, before, drag, gx, gy, gz = wanted
        model = self.system.model
        step, settings, scheme = model.step, model.settings, model.scheme
        self.forget()
        step.gravity[0] = gx, gy, gz
        step.threshold[0] = 2.0 * h * math.hypot(gx, gy, gz) + 1e-6
        model.rows.gain[:] = 1.0
        if kind == "euler":
            schemes.euler(scheme, step, h, drag)
        elif kind == "bdf2":
            schemes.bdf2(scheme, step, h, drag, before)
        else:
            schemes.mean_force(scheme, step, h, drag)
        settings.turns[0], settings.path[0] = (16, 3) if kind == "midpoint" else (1, 1)
        settings.exact[0] = settings.push[0] = settings.strict[0] = 1
        settings.static[0] = 0
        settings.cables[0] = {"euler": SPOOK, "bdf2": IMPLICIT, "midpoint": MEAN}[kind]
        self._prepared = wanted

    def forget(self) -> None:
        """Set the numbers of a solve to 0, for one of another kind."""
        self._prepared = ()
        for field in self.system.model.step.fields().values():
            field[:] = 0.0

    def _two_stages(self, h: float, drag: float) -> str:
        """A step by SDIRK2, or if need be by Euler; returns which."""
        s = self.system
        step, settings, scheme = s.model.step, s.model.settings, s.model.scheme
        kept = s.kept()
        self._prepared = ()
        settings.turns[0], settings.path[0], settings.cables[0] = 30, 1, IMPLICIT
        try:
            schemes.sdirk2_first(scheme, step, h, drag)
            self.advance()
            schemes.sdirk2_second(scheme, step, h, drag)
            self.advance()
        except SolveError:
            # At last the linearised step, which always has a solution.
            s.put_back(kept)
            settings.turns[0] = 1
            schemes.euler(scheme, step, h, drag)
            self.advance()
            return "euler"
        return "sdirk2"

    def advance(self) -> None:
        """From one state to the next, as the system's numbers are set: all that needs Python on the way.

        A slider that enters another span asks for a new plan of the matrix; rows that depend on others are looked into
        before the solve is accepted.

        Raises `SolveError`, or `InputError` for rows that contradict each other, with the state as it was.
        """
        s = self.system
        self.keep()
        parts = PREDICT + SOLVE if self.softened else PREDICT + SOLVE + ACCEPT
        looked = False
        while True:
            status = int(march(parts, s.plan(False).scene))
            if status == CROSSED:
                s.forget_plans()
                parts &= ~PREDICT
            elif status == LOOK_AT_ROWS or (status == SOLVED and not parts & ACCEPT and not looked):
                looked = True
                parts = PREDICT + SOLVE if self.look_into_rows(s.plan(False), PREDICT + SOLVE) else ACCEPT
            elif status == SOLVED and not parts & ACCEPT:
                parts = ACCEPT
            else:
                break
        if status != SOLVED:
            self.undo()
            iterations = int(s.model.report.iterations[0])
            raise SolveError(SolveReport("failed", iterations, float("nan"), "step", s.dofs, _CAUSES[status]))

    def keep(self) -> None:
        """Remember what a solve changes before it is accepted."""
        np.copyto(self._kept_rows, self.system.model.rows.words(STATE))
        if self.system.layout.cables.rows:
            self.system.layout.cables.keep()

    def undo(self) -> None:
        """Forget a solve that was not accepted."""
        s = self.system
        np.copyto(s.model.rows.words(STATE), self._kept_rows)
        s.layout.cables.put_back()
        s.find_spans()
        evaluate_all(s.model)

    def look_into_rows(self, plan: MatrixPlan, parts: int) -> bool:
        """Where rows depend on others: soften them if they agree, raise `InputError`, with nothing changed, if not.

        Returns True if rows were softened, so that the solve must be made again. `parts` are those of `march` that make
        the matrix; it is made afresh, since forces of rows that contradict each other may have got into it.
        """
        s = self.system
        if s.model.report.dependent[0] == 0 and not (self.softened and redundant_rows_disagree(s)):
            return False
        self.softened = True
        np.copyto(s.model.rows.words(STATE), self._kept_rows)
        s.model.settings.look[0] = 1
        march(parts, plan.scene)
        s.model.settings.look[0] = 0
        try:
            self.redundant = soften_redundant_rows(s, plan)
        except (InputError, SolveError):
            self.undo()
            raise
        return True
