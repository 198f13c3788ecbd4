"""Time steps and static solves of a `System`: what runs between two states of a scene."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sennit.constraints.cable.kernels.tables import IMPLICIT, MEAN, SPOOK
from sennit.errors import InputError, SolveError, SolveReport
from sennit.linalg.kernels.ldlt import multiply, unpermute
from sennit.solve import schemes
from sennit.solve.kernels.accept import evaluate_all
from sennit.solve.kernels.assembly import (
    ANCHOR,
    CABLES,
    CROSSED,
    DEPENDENT_ROWS,
    EXACT,
    FOLLOWS,
    GX,
    ITERATIONS,
    LOOK,
    LOOK_AT_ROWS,
    NOT_FINITE,
    PATH,
    PUSH,
    REACH_LIMIT,
    SOLVED,
    STATIC,
    STRICT,
    THRESHOLD,
    TOO_FAR,
    TURNS,
    UNBOUNDED,
    UNCONVERGED,
    WM,
    WRONG_INERTIA,
)
from sennit.solve.kernels.bundle import Bundle, pack
from sennit.solve.kernels.motion import hold
from sennit.solve.kernels.stage import ACCEPT, PREDICT, SOLVE, march
from sennit.solve.redundancy import redundant_rows_disagree, soften_redundant_rows
from sennit.solve.report import SettleReport
from sennit.solve.system import Pattern, System
from sennit.validation import FloatArray

__all__ = ["Stepper"]

LEAST_SHIFT = 1e-5
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
        self._kept_rows = system.row_state.copy()
        self._bundle: Bundle | None = None
        self._bundled: Pattern | None = None
        """The arrays that `march` takes, and the pattern whose workspaces are among them."""
        self._plan: tuple[Any, ...] = ()
        """The kind of step that the system's numbers are set for."""
        self.softened = False
        """Whether redundant rows were found, and given a compliance."""
        self.redundant: list[int] | None = None
        """Equality rows that were found superfluous in the last solve, until the scene has read it."""

    # ---------------------------------------------------------------------------------------------- time steps

    def step(self, integrator: str, h: float, before: float, drag: float, gravity: FloatArray) -> str:
        """One step of `h` (s) after one of `before` (s; 0: none). Returns the method that made it.

        Raises `SolveError` with the state as it was.
        """
        kind = "euler" if integrator == "bdf2" and before == 0.0 else integrator
        plan = (kind, h, before if kind == "bdf2" else 0.0, drag, *gravity.tolist())
        if plan != self._plan:
            self._prepare(plan)
        if integrator != "midpoint":
            self._stage()
            return integrator
        try:
            self._stage()
        except SolveError:
            return self._two_stages(h, drag)
        return integrator

    def _prepare(self, plan: tuple[Any, ...]) -> None:
        """Set the numbers and settings of a step, which stay until another kind of step is asked for."""
        kind, h, before, drag, gx, gy, gz = plan
        s = self.system
        s.parameters[:] = 0.0
        s.parameters[GX : GX + 3] = gx, gy, gz
        s.parameters[THRESHOLD] = 2.0 * h * math.hypot(gx, gy, gz) + 1e-6
        s.gain[:] = 1.0
        if kind == "euler":
            schemes.euler(s.scheme, s.parameters, h, drag)
        elif kind == "bdf2":
            schemes.bdf2(s.scheme, s.parameters, h, drag, before)
        else:
            schemes.mean_force(s.scheme, s.parameters, h, drag)
        newton = kind == "midpoint"
        turns, path = (16, 3) if newton else (1, 1)
        s.settings[[TURNS, PATH, EXACT, PUSH, STATIC, STRICT]] = turns, path, 1, 1, 0, 1
        s.settings[CABLES] = {"euler": SPOOK, "bdf2": IMPLICIT, "midpoint": MEAN}[kind]
        self._plan = plan

    def _two_stages(self, h: float, drag: float) -> str:
        """A step by SDIRK2, or if need be by Euler; returns which."""
        s = self.system
        kept = s.kept()
        self._plan = ()
        s.settings[[TURNS, PATH, CABLES]] = 30, 1, IMPLICIT
        try:
            schemes.sdirk2_first(s.scheme, s.parameters, h, drag)
            self._stage()
            schemes.sdirk2_second(s.scheme, s.parameters, h, drag)
            self._stage()
        except SolveError:
            # At last the linearised step, which always has a solution.
            s.put_back(kept)
            s.settings[TURNS] = 1
            schemes.euler(s.scheme, s.parameters, h, drag)
            self._stage()
            return "euler"
        return "sdirk2"

    def _march(self, parts: int, pattern: Pattern) -> int:
        if pattern is not self._bundled:
            s = self.system
            self._bundle = pack(
                s.scheme, s.turns, s.settings, s.parameters, s.rod_tables, s.other_tables, s.point_tables,
                s.row_tables, s.cables.arrays, s.state_arrays, s.last_arrays, s.trial, s.point_state, pattern.work,
                pattern.linear, pattern.bounded, s.report,
            )  # fmt: skip
            self._bundled = pattern
        status: int = march(parts, self._bundle)
        return status

    def _stage(self) -> None:
        """Predict, solve, accept."""
        s = self.system
        self._keep()
        pattern = s.pattern(False)
        careful = SOLVE if self.softened else SOLVE + ACCEPT
        status = self._march(PREDICT + careful, pattern)
        if status == CROSSED:
            s.forget_patterns()
            pattern = s.pattern(False)
            status = self._march(careful, pattern)
        if status == LOOK_AT_ROWS or (self.softened and status == SOLVED):
            if self._look_into_rows(pattern, PREDICT + SOLVE):
                status = self._march(PREDICT + SOLVE, pattern)
            else:
                status = SOLVED
            if status == SOLVED:
                status = self._march(ACCEPT, pattern)
        if status != SOLVED:
            self._undo()
            iterations = int(s.report[ITERATIONS])
            raise SolveError(SolveReport("failed", iterations, float("nan"), "step", s.dofs, _CAUSES[status]))

    def _keep(self) -> None:
        """Remember what a solve changes before it is accepted."""
        np.copyto(self._kept_rows, self.system.row_state)
        if self.system.cables.rows:
            self.system.cables.keep()

    def _undo(self) -> None:
        """Forget a solve that was not accepted."""
        s = self.system
        np.copyto(s.row_state, self._kept_rows)
        s.cables.put_back()
        s.find_spans()
        points = (s.point_ints, s.point_floats, s.point_state, s.point_place)
        evaluate_all(s.rod_tables, s.other_tables, points, s.state["q"], s.state["quat"])

    def _look_into_rows(self, pattern: Pattern, parts: int) -> bool:
        """Where rows depend on others: soften them if they agree, raise `InputError`, with nothing changed, if not.

        Returns True if rows were softened, so that the solve must be made again. `parts` are those of `march` that make
        the matrix; it is made afresh, since forces of rows that contradict each other may have got into it.
        """
        s = self.system
        if s.report[DEPENDENT_ROWS] == 0 and not (self.softened and redundant_rows_disagree(s)):
            return False
        self.softened = True
        np.copyto(s.row_state, self._kept_rows)
        s.settings[LOOK] = 1
        self._march(parts, pattern)
        s.settings[LOOK] = 0
        try:
            self.redundant = soften_redundant_rows(s, pattern)
        except (InputError, SolveError):
            self._undo()
            raise
        return True

    # ------------------------------------------------------------------------------------------------- statics

    def settle(self, gravity: FloatArray, max_iterations: int, tolerance: float) -> SettleReport:
        """Static equilibrium, with loads that have no potential (torques, followers) brought up bit by bit.

        Their stiffness is not symmetric, and the symmetric part that the solve uses takes it only a small way; a step
        of the load that fails is cut.
        """
        s = self.system
        given = s.load_floats.copy()
        free = s.load_floats[:, 3:].any(axis=1) | (s.load_ints[:, FOLLOWS] == 1)
        if not free.any():
            return self._newton(gravity, max_iterations, tolerance)
        # each bit bends the softest rod by some 0.4 rad
        softest = min((min(r._tables.constants[1:3]) / r.length for r in s.rods), default=math.inf)
        moments = np.abs(given[free, 3:]).sum() + s.size * np.abs(given[s.load_ints[:, FOLLOWS] == 1, :3]).sum()
        largest = min(0.4 * softest / moments if moments > 0.0 else 1.0, 1.0)
        done, step, count = 0.0, largest, 0
        history: tuple[float, ...] = ()
        start = s.kept()
        try:
            while True:
                part = min(done + step, 1.0)
                s.load_floats[free, 3:] = part * given[free, 3:]
                follows = s.load_ints[:, FOLLOWS] == 1
                s.load_floats[follows, :3] = part * given[follows, :3]
                kept = s.kept()
                report = self._newton(gravity, min(25, max_iterations - count), tolerance)
                count += report.iterations
                history += report.history
                if report.converged:
                    done, step = part, min(2.0 * step, largest)
                    if done == 1.0:
                        return replace(report, iterations=count, history=history)
                else:
                    step *= 0.25
                    s.put_back(kept)
                if count >= max_iterations or step < 1e-4:
                    if done == 0.0:
                        s.put_back(start)
                    return replace(report, status="failed", stable=False, iterations=count, history=history)
        finally:
            s.load_floats[:] = given

    def _newton(self, gravity: FloatArray, max_iterations: int, tolerance: float) -> SettleReport:
        """Newton's method for static equilibrium, with a mass-weighted shift where the stiffness is not definite.

        Independent tensions take it there in few iterations without a merit function: the shift grows until the
        inertia is right and no tangent turns by more than 0.8 rad, and goes when they turn by less.
        """
        s = self.system
        self._keep()
        self._plan = ()
        s.parameters[:] = 0.0
        s.parameters[GX : GX + 3] = gravity
        s.parameters[REACH_LIMIT] = 0.8
        hold(
            s.rod_tables, s.other_tables, s.point_tables, s.row_tables, s.cables.arrays, s.state_arrays, s.trial,
            s.point_state,
        )  # fmt: skip
        s.forget_patterns()
        settings = s.settings
        settings[TURNS], settings[PATH], settings[EXACT], settings[PUSH] = 1, 1, 1, 1
        settings[STATIC], settings[CABLES] = 1, IMPLICIT
        # Torques and loads that follow have no potential: pivots of the symmetric part then tell nothing.
        potential = not (s.load_floats[:, 3:].any() or s.load_ints[:, FOLLOWS].any())
        settings[STRICT] = int(potential)
        force, unit = self._typical_force(gravity), self._lowest_rate(gravity)
        s.parameters[ANCHOR] = 10.0 * force / s.size
        # What rounding leaves of forces that balance: those of stretching cancel, and are far larger than the rest.
        stiffest = max((r._tables.constants[0] for r in s.rods), default=0.0)
        tolerance = max(tolerance, 200.0 * np.finfo(float).eps * stiffest / force)
        shift = floor = 0.0
        history: list[float] = []
        residual = np.inf
        status = UNCONVERGED
        dq, q_base, q_trial, quat_base, quat_trial, turned = (s.trial[i] for i in (9, 0, 2, 3, 4, 5))
        rejected = 0
        for _ in range(max_iterations):
            if s.spans_left():
                s.forget_patterns()
            pattern = s.pattern(True)
            s.parameters[WM] = shift
            turned[:] = 0.0
            np.copyto(q_base, q_trial)
            np.copyto(quat_base, quat_trial)
            status = self._march(SOLVE, pattern)
            if status in (WRONG_INERTIA, TOO_FAR, NOT_FINITE):
                rejected += 1
                if shift == 0.0 and s.cables.rows:
                    # What cables alone hold has no stiffness along them: a shift that is small against all stays.
                    floor = LEAST_SHIFT * unit
                if status == WRONG_INERTIA and shift > 0.0 and rejected > 60:
                    break
                shift = max(4.0 * shift, unit)
                continue
            if shift == 0.0:
                # A shift that is small leaves free bodies so light that sound rows look dependent.
                if self._look_into_rows(pattern, SOLVE):
                    continue
            rejected = 0
            unbalanced = self._unbalanced(pattern)
            residual = unbalanced / force
            size = float(np.max(np.abs(dq) / s.scales[:-1], initial=0.0))
            history.append(size)
            offset = float(np.max(np.abs(s.wanted - s.softness * s.multipliers), initial=0.0)) if s.rows else 0.0
            if residual < tolerance and size < 1e-7 and np.isfinite(offset):
                break
            if shift > 0.0:
                shift = max(0.25 * shift if 0.25 * shift > 1e-6 * unit else 0.0, floor)
        converged = residual < tolerance and status in (SOLVED, UNBOUNDED)
        negative = self._negative_directions() if converged else 0
        count = len(history)
        if not converged and not np.isfinite(residual):
            self._undo()
            return SettleReport("failed", False, count, float(residual), 0, _unsettled(s), tuple(history))
        s.scheme[:] = 0.0
        self._march(ACCEPT, s.pattern(True))
        if converged:
            message = "" if negative == 0 else f"the equilibrium is unstable in {negative} direction(s)"
            return SettleReport("converged", negative == 0, count, float(residual), negative, message, tuple(history))
        return SettleReport("failed", False, count, float(residual), 0, _unsettled(s), tuple(history))

    def _unbalanced(self, pattern: Pattern) -> float:
        """Largest generalised force that was left before this iteration: A Δq, N (moments over the scene's size)."""
        s = self.system
        x, y = np.zeros(s.dofs + s.duals), np.zeros(s.dofs + s.duals)
        x[: s.dofs] = s.trial[9]
        multiply(pattern.values, pattern.row, pattern.col, pattern.slot, x, y)
        return float(np.max(np.abs(y[: s.dofs]) * s.scales[:-1], initial=0.0)) / s.size

    def _negative_directions(self) -> int:
        """Wrong pivots of the unshifted system at the iterate: directions in which the scene would move off."""
        s = self.system
        if s.spans_left():
            s.forget_patterns()
        pattern = s.pattern(True)
        # A direction in which nothing changes (a hanging ball that spins) is not one in which it would move off.
        s.parameters[WM] = 1e-6 * self._lowest_rate(s.parameters[GX : GX + 3])
        s.settings[LOOK] = s.settings[STRICT] = 1
        self._march(SOLVE, pattern)
        s.settings[LOOK] = 0
        # Rounding decides the sign of a pivot that should be zero (a rope held by its ends may spin about itself).
        diagonal = np.zeros(s.dofs + s.duals)
        own = pattern.row == pattern.col
        np.add.at(diagonal, pattern.row[own], pattern.values[pattern.slot[own]])
        pivots = np.zeros(s.dofs + s.duals)
        unpermute(pattern.plan, pattern.diagonal, pivots)
        neutral = (pivots < 0.0) & (np.abs(pivots) < 1e-9 * np.abs(diagonal)) & (np.arange(len(pivots)) < s.dofs)
        return max(int(np.sum((pivots < 0.0) & ~neutral)) - s.duals, 0)

    def _typical_force(self, gravity: FloatArray) -> float:
        """EI/L² of the stiffest rod, the weight, and the loads: what a force is small against, N."""
        s = self.system
        total = sum(max(r._tables.constants[1:3]) / r.length**2 for r in s.rods)
        weight = sum(r.mass for r in s.rods) + sum(b.mass for b in s.rigid) + sum(x.mass for x in s.sliders)
        total += weight * float(np.linalg.norm(gravity))
        total += float(np.abs(s.load_floats[:, :3]).sum() + np.abs(s.load_floats[:, 3:]).sum() / s.size)
        return total or 1.0

    def _lowest_rate(self, gravity: FloatArray) -> float:
        """Square of the slowest natural rate, 1/s²: the unit of the shift."""
        s = self.system
        rates = [float(np.linalg.norm(gravity)) / s.size]
        rates += [max(r._tables.constants[1:3]) / (r._tables.constants[7] * r.length**4) for r in s.rods]
        return max(rates) or 1.0


def _unsettled(system: System) -> str:
    return (
        "no static equilibrium was found: a body that nothing holds, or a load that it cannot carry. "
        f"{system.dofs} degrees of freedom, {system.duals} rows; run the scene with drag to see where it goes"
    )
