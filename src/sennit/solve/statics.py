"""Static equilibria of a `System`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sennit.bodies.kinds import KINDS
from sennit.constraints.cable.kernels.kinds import IMPLICIT
from sennit.linalg.kernels.ldlt import multiply
from sennit.solve.kernels.codes import ACCEPT, NOT_FINITE, SOLVE, SOLVED, TOO_FAR, UNBOUNDED, UNCONVERGED, WRONG_INERTIA
from sennit.solve.kernels.entries import hold, march
from sennit.solve.plan import MatrixPlan
from sennit.solve.report import SettleReport
from sennit.solve.stepper import Stepper
from sennit.solve.system import System
from sennit.validation import FloatArray

__all__ = ["Statics"]

LEAST_SHIFT = 1e-5


class Statics:
    """Finds static equilibria of what a stepper advances."""

    def __init__(self, stepper: Stepper) -> None:
        self.stepper, self.system = stepper, stepper.system

    def settle(self, gravity: FloatArray, max_iterations: int, tolerance: float) -> SettleReport:
        """Static equilibrium, with loads that have no potential (torques, followers) brought up bit by bit.

        Their stiffness is not symmetric, and the symmetric part that the solve uses takes it only a small way; a step
        of the load that fails is cut.
        """
        s, loads = self.system, self.system.model.loads
        follows = loads.follows == 1
        free = loads.torque.any(axis=1) | follows
        if not free.any():
            return self._newton(gravity, max_iterations, tolerance)
        given = loads.copy()
        # each bit bends the softest rod by some 0.4 rad
        softest = min((body._softness() for body in s.layout.bodies), default=math.inf)
        moments = np.abs(given.torque[free]).sum() + s.size * np.abs(given.force[follows]).sum()
        largest = min(0.4 * softest / moments if moments > 0.0 else 1.0, 1.0)
        done, step, count = 0.0, largest, 0
        history: tuple[float, ...] = ()
        start = s.kept()
        try:
            while True:
                part = min(done + step, 1.0)
                loads.torque[free] = part * given.torque[free]
                loads.force[follows] = part * given.force[follows]
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
            loads.fill(given)

    def _begin(self, gravity: FloatArray) -> None:
        """Set the numbers of a static solve, and put its iterate where the state is."""
        s, model = self.system, self.system.model
        self.stepper.keep()
        self.stepper.forget()
        model.step.gravity[0] = gravity
        model.step.reach_limit[0] = 0.8
        hold(s.plan(False).scene)
        s.forget_plans()
        settings, loads = model.settings, model.loads
        settings.turns[0] = settings.path[0] = settings.exact[0] = settings.push[0] = settings.static[0] = 1
        settings.cables[0] = IMPLICIT
        # Torques and loads that follow have no potential: pivots of the symmetric part then tell nothing.
        settings.strict[0] = int(not (loads.torque.any() or loads.follows.any()))

    def _newton(self, gravity: FloatArray, max_iterations: int, tolerance: float) -> SettleReport:
        """Newton's method for static equilibrium, with a mass-weighted shift where the stiffness is not definite.

        Independent tensions take it there in few iterations without a merit function: the shift grows until the
        inertia is right and no tangent turns by more than 0.8 rad, and goes when they turn by less.
        """
        s, model = self.system, self.system.model
        self._begin(gravity)
        force, unit = self._typical_force(gravity), self._lowest_rate(gravity)
        model.step.anchor[0] = 10.0 * force / s.size
        # What rounding leaves of forces that balance: those of stretching cancel, and are far larger than the rest.
        stiffest = max((body._firmness() for body in s.layout.bodies), default=0.0)
        tolerance = max(tolerance, 200.0 * np.finfo(float).eps * stiffest / force)
        shift = floor = 0.0
        history: list[float] = []
        residual = np.inf
        status = UNCONVERGED
        rows, trial, rigids = model.rows, model.trial, model.rigids
        rejected = 0
        for _ in range(max_iterations):
            if s.spans_left():
                s.forget_plans()
            plan = s.plan(True)
            model.step.mass_weight[0] = shift
            rigids.turned[:] = 0.0
            np.copyto(trial.q_base, trial.q)
            np.copyto(rigids.quat_base, rigids.quat_trial)
            status = int(march(SOLVE, plan.scene))
            if status in (WRONG_INERTIA, TOO_FAR, NOT_FINITE):
                rejected += 1
                if shift == 0.0 and s.layout.cables.rows:
                    # What cables alone hold has no stiffness along them: a shift that is small against all stays.
                    floor = LEAST_SHIFT * unit
                if status == WRONG_INERTIA and shift > 0.0 and rejected > 60:
                    break
                shift = max(4.0 * shift, unit)
                continue
            if shift == 0.0:
                # A shift that is small leaves free bodies so light that sound rows look dependent.
                if self.stepper.look_into_rows(plan, SOLVE):
                    continue
            rejected = 0
            residual = self._unbalanced(plan) / force
            size = float(np.max(np.abs(trial.dq) / trial.scales, initial=0.0))
            history.append(size)
            offset = float(np.max(np.abs(rows.wanted - rows.softness * rows.found), initial=0.0)) if len(rows) else 0.0
            if residual < tolerance and size < 1e-7 and np.isfinite(offset):
                break
            if shift > 0.0:
                shift = max(0.25 * shift if 0.25 * shift > 1e-6 * unit else 0.0, floor)
        converged = residual < tolerance and status in (SOLVED, UNBOUNDED)
        negative = self._negative_directions() if converged else 0
        count = len(history)
        if not converged and not np.isfinite(residual):
            self.stepper.undo()
            return SettleReport("failed", False, count, float(residual), 0, _unsettled(s), tuple(history))
        for field in model.scheme.fields().values():
            field[:] = 0.0
        march(ACCEPT, s.plan(True).scene)
        if converged:
            message = "" if negative == 0 else f"the equilibrium is unstable in {negative} direction(s)"
            return SettleReport("converged", negative == 0, count, float(residual), negative, message, tuple(history))
        return SettleReport("failed", False, count, float(residual), 0, _unsettled(s), tuple(history))

    def _unbalanced(self, plan: MatrixPlan) -> float:
        """Largest generalised force that was left before this iteration: A Δq, N (moments over the scene's size)."""
        s, trial = self.system, self.system.model.trial
        x, y = np.zeros(s.dofs + s.duals), np.zeros(s.dofs + s.duals)
        x[: s.dofs] = trial.dq
        multiply(plan.matrix.values, plan.row, plan.col, plan.slot, x, y)
        return float(np.max(np.abs(y[: s.dofs]) * trial.scales, initial=0.0)) / s.size

    def _negative_directions(self) -> int:
        """Wrong pivots of the unshifted system at the iterate: directions in which the scene would move off."""
        s, model = self.system, self.system.model
        if s.spans_left():
            s.forget_plans()
        plan = s.plan(True)
        # A direction in which nothing changes (a hanging ball that spins) is not one in which it would move off.
        model.step.mass_weight[0] = 1e-6 * self._lowest_rate(model.step.gravity[0])
        model.settings.look[0] = model.settings.strict[0] = 1
        march(SOLVE, plan.scene)
        model.settings.look[0] = 0
        # Rounding decides the sign of a pivot that should be zero (a rope held by its ends may spin about itself).
        diagonal = np.zeros(s.dofs + s.duals)
        own = plan.row == plan.col
        np.add.at(diagonal, plan.row[own], plan.matrix.values[plan.slot[own]])
        pivots = plan.natural(plan.matrix.diagonal)
        neutral = (pivots < 0.0) & (np.abs(pivots) < 1e-9 * np.abs(diagonal)) & (np.arange(len(pivots)) < s.dofs)
        return max(int(np.sum((pivots < 0.0) & ~neutral)) - s.duals, 0)

    def _typical_force(self, gravity: FloatArray) -> float:
        """EI/L² of the stiffest rod, the weight, and the loads: what a force is small against, N."""
        s, loads = self.system, self.system.model.loads
        total = sum(body._stiff_force() for body in s.layout.bodies)
        kinds = [[b._weight_mass() for b in s.layout.bodies if b._rank == rank] for rank in range(len(KINDS))]
        total += sum(sum(masses) for masses in kinds) * float(np.linalg.norm(gravity))
        total += float(np.abs(loads.force).sum() + np.abs(loads.torque).sum() / s.size)
        return total or 1.0

    def _lowest_rate(self, gravity: FloatArray) -> float:
        """Square of the slowest natural rate, 1/s²: the unit of the shift."""
        s = self.system
        rates = [float(np.linalg.norm(gravity)) / s.size]
        rates += [body._natural_rate() for body in s.layout.bodies]
        return max(rates) or 1.0


def _unsettled(system: System) -> str:
    return (
        "no static equilibrium was found: a body that nothing holds, or a load that it cannot carry. "
        f"{system.dofs} degrees of freedom, {system.duals} rows; run the scene with drag to see where it goes"
    )
