"""Time steps and static solves of a `System`: what runs between two states of a scene."""

from __future__ import annotations

import numpy as np

from sennit.errors import InputError, SolveError, SolveReport
from sennit.linalg.ldlt.kernels import multiply
from sennit.solve import schemes
from sennit.solve.accept.kernels import accept
from sennit.solve.assembly.kernels import ANCHOR, GX, REACH_LIMIT, THRESHOLD, WM
from sennit.solve.motion.kernels import hold, predict
from sennit.solve.redundancy import redundant_rows_disagree, soften_redundant_rows
from sennit.solve.report import SettleReport
from sennit.solve.stage.kernels import (
    DEPENDENT_ROWS,
    EXACT,
    ITERATIONS,
    LOOK,
    NEGATIVE,
    NOT_FINITE,
    PATH,
    PUSH,
    SOLVED,
    STATIC,
    TOO_FAR,
    TURNS,
    UNBOUNDED,
    UNCONVERGED,
    WRONG_INERTIA,
    advance,
)  # fmt: skip
from sennit.solve.system import Pattern, System
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
        self._kept_rows = system.row_state.copy()
        self.softened = False
        """Whether redundant rows were found, and given a compliance."""
        self.redundant: list[int] | None = None
        """Equality rows that were found superfluous in the last solve, until the scene has read it."""

    # ---------------------------------------------------------------------------------------------- time steps

    def step(self, integrator: str, h: float, before: float, drag: float, gravity: FloatArray) -> str:
        """One step of `h` (s) after one of `before` (s; 0: none). Returns the method that made it.

        Raises `SolveError` with the state as it was.
        """
        s = self.system
        s.parameters[GX : GX + 3] = gravity
        s.parameters[THRESHOLD] = 2.0 * h * float(np.sqrt(gravity @ gravity)) + 1e-6
        if integrator == "euler":
            schemes.euler(s.scheme, s.parameters, h, drag)
            self._stage(h, turns=1, path=1, exact=0)
        elif integrator == "bdf2":
            if before > 0.0:
                schemes.bdf2(s.scheme, s.parameters, h, drag, before)
            else:
                schemes.euler(s.scheme, s.parameters, h, drag)
            self._stage(h, turns=1, path=1, exact=1)
        else:
            schemes.mean_force(s.scheme, s.parameters, h, drag)
            try:
                self._stage(h, turns=8, path=2, exact=1)
            except SolveError:
                self._two_stages(h, drag)
                return "sdirk2"
        return integrator

    def _two_stages(self, h: float, drag: float) -> None:
        s = self.system
        kept = s.kept()
        try:
            schemes.sdirk2_first(s.scheme, s.parameters, h, drag)
            self._stage(schemes.GAMMA * h, turns=30, path=1, exact=1)
            schemes.sdirk2_second(s.scheme, s.parameters, h, drag)
            self._stage(schemes.GAMMA * h, turns=30, path=1, exact=1)
        except SolveError:
            s.put_back(kept)
            raise

    def _stage(self, h: float, *, turns: int, path: int, exact: int) -> None:
        """Predict, solve, accept."""
        s = self.system
        np.copyto(self._kept_rows, s.row_state)
        crossed = predict(
            s.scheme, h, s.rod_tables, s.other_tables, s.point_tables, s.row_tables, s.state_arrays, s.last_arrays,
            s.trial, s.turns, s.point_state,
        )  # fmt: skip
        if crossed:
            s.forget_patterns()
        pattern = s.pattern(False)
        settings = s.settings
        settings[TURNS], settings[PATH], settings[EXACT], settings[PUSH] = turns, path, exact, 1
        settings[STATIC] = 0
        s.parameters[REACH_LIMIT] = 0.0
        s.gain[:] = 1.0
        status = advance(
            settings, s.parameters, s.rod_tables, s.other_tables, s.point_tables, s.row_tables, s.state_arrays, s.trial,
            pattern.work, pattern.linear, pattern.bounded, s.report,
        )  # fmt: skip
        if status != SOLVED:
            self._undo()
            raise SolveError(SolveReport("failed", int(s.report[ITERATIONS]), float("nan"), "step", s.dofs, _CAUSES[status]))
        self._look_into_rows(pattern)
        s.left += accept(
            s.scheme, 0, s.rod_tables, s.other_tables, s.point_tables, s.row_tables, s.state_arrays, s.last_arrays,
            s.trial, s.point_state,
        )  # fmt: skip

    def _undo(self) -> None:
        """Forget a solve that was not accepted."""
        np.copyto(self.system.row_state, self._kept_rows)
        self.system.find_spans()

    def _look_into_rows(self, pattern: Pattern) -> None:
        """Where rows depend on others: note it if they agree, raise `InputError` with nothing changed if they do not."""
        s = self.system
        if s.report[DEPENDENT_ROWS] == 0 and not (self.softened and redundant_rows_disagree(s)):
            return
        self.softened = True
        try:
            self.redundant = soften_redundant_rows(self.system, pattern)
        except InputError:
            self._undo()
            raise

    # ------------------------------------------------------------------------------------------------- statics

    def settle(self, gravity: FloatArray, max_iterations: int, tolerance: float) -> SettleReport:
        """Newton's method for static equilibrium, with a mass-weighted shift where the stiffness is not definite.

        Independent tensions (RODS.md §3) take it there in few iterations without a merit function: the shift grows until
        the inertia is right and no tangent turns by more than 0.8 rad, and goes when they turn by less than 0.5.
        """
        s = self.system
        np.copyto(self._kept_rows, s.row_state)
        s.parameters[:] = 0.0
        s.parameters[GX : GX + 3] = gravity
        s.parameters[REACH_LIMIT] = 0.8
        hold(s.rod_tables, s.other_tables, s.point_tables, s.state_arrays, s.trial, s.point_state)
        s.forget_patterns()
        settings = s.settings
        settings[TURNS], settings[PATH], settings[EXACT], settings[PUSH] = 1, 1, 1, 1
        settings[STATIC] = 1
        force, unit = self._typical_force(gravity), self._lowest_rate(gravity)
        s.parameters[ANCHOR] = 10.0 * force / s.size
        shift = 0.0
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
            status = advance(
                settings, s.parameters, s.rod_tables, s.other_tables, s.point_tables, s.row_tables, s.state_arrays,
                s.trial, pattern.work, pattern.linear, pattern.bounded, s.report,
            )  # fmt: skip
            if status in (WRONG_INERTIA, TOO_FAR, NOT_FINITE):
                rejected += 1
                if status == WRONG_INERTIA and shift > 0.0 and rejected > 60:
                    break
                shift = max(4.0 * shift, unit)
                continue
            self._look_into_rows(pattern)
            rejected = 0
            unbalanced = self._unbalanced(pattern)
            residual = unbalanced / force
            size = float(np.max(np.abs(dq) / s.scales[:-1], initial=0.0))
            history.append(size)
            offset = float(np.max(np.abs(s.wanted - s.softness * s.multipliers), initial=0.0)) if s.rows else 0.0
            if residual < tolerance and size < 1e-7 and np.isfinite(offset):
                break
            if shift > 0.0:
                shift = 0.25 * shift if 0.25 * shift > 1e-6 * unit else 0.0
        converged = residual < tolerance and status in (SOLVED, UNBOUNDED)
        negative = self._negative_directions() if converged else 0
        count = len(history)
        if not converged and not np.isfinite(residual):
            self._undo()
            return SettleReport("failed", False, count, float(residual), 0, _unsettled(s), tuple(history))
        s.scheme[:] = 0.0
        s.left += accept(
            s.scheme, 1, s.rod_tables, s.other_tables, s.point_tables, s.row_tables, s.state_arrays, s.last_arrays,
            s.trial, s.point_state,
        )  # fmt: skip
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
        s.settings[LOOK] = 1
        advance(
            s.settings, s.parameters, s.rod_tables, s.other_tables, s.point_tables, s.row_tables, s.state_arrays, s.trial,
            pattern.work, pattern.linear, pattern.bounded, s.report,
        )  # fmt: skip
        s.settings[LOOK] = 0
        negative = s.report[NEGATIVE]
        return max(int(negative) - s.duals, 0)

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

