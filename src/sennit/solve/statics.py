"""Static equilibria of a `System`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from sennit.bodies.kernels.kinds import flow_branches
from sennit.bodies.kinds import KINDS
from sennit.constraints.cable.kernels.kinds import IMPLICIT
from sennit.errors import InputError, SolveError
from sennit.linalg.kernels.ldlt import multiply
from sennit.solve.folds import Led, folded_rods
from sennit.solve.frames import EVEN, frames_are_stale, renew_frames
from sennit.solve.kernels.accept import evaluate_all
from sennit.solve.kernels.advance import CAUTIOUS, SOFTEST
from sennit.solve.kernels.codes import (
    ACCEPT,
    NOT_FINITE,
    SOLVE,
    SOLVED,
    TOO_FAR,
    TOUCHED,
    UNBOUNDED,
    UNCONVERGED,
    WRONG_INERTIA,
)
from sennit.solve.kernels.entries import hold
from sennit.solve.plan import MatrixPlan
from sennit.solve.redundancy import AGREEMENT, contradiction, redundant_rows_disagree, soften_redundant_rows
from sennit.solve.report import SettleReport
from sennit.solve.resting import Resting
from sennit.solve.solver import Solver
from sennit.solve.stepper import Stepper
from sennit.solve.system import System
from sennit.tables import STATE
from sennit.validation import FloatArray

__all__ = ["Statics"]

LEAST_SHIFT = 1e-5
TURN, SHORT_TURN = 0.8, 0.2
"""Largest turn of a tangent or a body in an iteration, rad; and where a rod has folded before."""
MILD = 8
"""How often the milder stiffness is taken in a solve: it leaves a straight rod that is pushed, but then it creeps."""
ROUGH, STILL = 1e-3, 1e-7
"""Displacement of the last iteration over the scene's size: on the way to a target, and in the end."""
BOLD, MODEST = 7, 0.15
"""Iterations after which those of rods with branches become more cautious, twice; and the part of their stiffness that
is taken at least in between."""
PRESSED = 1e-9
"""Part of the scene's typical force above which a contact counts as one that holds, where stability is looked at."""
STEPS_OF_TIME, WALK, WALKS, TRIES = 16, 40, 6, 100
"""Steps in the time that things take to fall by the scene's size; steps between two tries of Newton's method, how many
tries there are, and iterations of each."""


class Statics:
    """Finds static equilibria of what a solver advances."""

    def __init__(self, solver: Solver) -> None:
        self.solver, self.system = solver, solver.system
        self._turn = TURN
        self._time = math.inf
        """In which what is viscous relaxes, s."""
        self._resting = Resting(self.system)
        self._done: list[SettleReport] = []
        """The solves that the present `settle` has made."""
        self._rows = self.system.model.rows.words(STATE).copy()
        """The state of the rows where the present solve began."""

    def settle(
        self, gravity: FloatArray, max_iterations: int, tolerance: float, friction: bool = True, instant: bool = False
    ) -> SettleReport:
        """Equilibrium after a long time, or at once (`instant`); without the friction of contacts unless `friction`.

        What flows in rods does so in the end, from where it was before: the iterates are no history.
        """
        self._time = 0.0 if instant else math.inf
        report = self._at_rest(gravity, max_iterations, tolerance, friction)
        model = self.system.model
        if len(model.splines.branches) + len(model.discretes.branches) > 0:
            model.settings.static[0] = 1
            flow_branches(model, self._time if report.converged else 0.0)
        return report

    def _at_rest(self, gravity: FloatArray, max_iterations: int, tolerance: float, friction: bool) -> SettleReport:
        """`_settled`, without the friction of contacts unless `friction`."""
        touching: Any = self.system.touching
        if touching is None:
            return self._settled(gravity, max_iterations, tolerance)
        try:
            with nullcontext() if friction else touching.without_friction():
                report = self._settled(gravity, max_iterations, tolerance)
        finally:
            touching.come_to_rest()
        self.system.model.report.happenings[0] = 1  # what has met and parted is seen then
        return replace(report, touching=touching.pairs())

    def _settled(self, gravity: FloatArray, max_iterations: int, tolerance: float) -> SettleReport:
        """Static equilibrium that is not folded, and does not depend on the way that the iterates took.

        A rod that folds on the way, or that was led in vain, is put back and led more carefully; if it folds again,
        that is a failure.
        """
        s = self.system
        start, spare, led = self._kept(), s.model.rows.spare.copy(), Led(s)
        self._turn, self._done = TURN, []
        self._resting.begin()
        whole, touching = max_iterations, s.touching is not None
        if touching:
            max_iterations = (whole + 1) // 2  # the rest is for what steps in time lead to
        try:
            report = self._found(gravity, max_iterations, tolerance, led, led.parts)
            folded = folded_rods(s)
            in_vain = led.parts > 0 and not report.converged
            if (folded or in_vain) and self._left(max_iterations) > 0:
                self._put_back(start)
                self._turn = SHORT_TURN
                report = self._found(gravity, max_iterations, tolerance, led, max(4 * led.parts, 8))
                folded = folded_rods(s)
            if touching and (folded or not report.converged):
                self._put_back(start)
                report = self._walked(gravity, whole, tolerance)
                folded, max_iterations = folded_rods(s), whole
            if folded:
                self._put_back(start)
                names = ", ".join(rod.name for rod in folded)
                text = f"{names}: folded between its control points. Give it more of them, or lead it there in steps"
                return self._told(replace(report, status="failed", stable=False, message=text))
            return self._told(self._with_fresh_frames(report, gravity, max_iterations, tolerance))
        except (InputError, SolveError):
            self.solver.undo()
            self._put_back(start)
            s.model.rows.spare[:] = spare
            self.solver.redundant = None
            raise

    def _kept(self) -> tuple[list[Any], Any]:
        """Copies of all that a solve changes."""
        touching: Any = self.system.touching
        return self.system.kept(), None if touching is None else touching.kept()

    def _put_back(self, kept: tuple[list[Any], Any]) -> None:
        self.system.put_back(kept[0])
        evaluate_all(self.system.model)
        if kept[1] is not None:
            touching: Any = self.system.touching
            touching.go_on(kept[1])

    def _left(self, max_iterations: int) -> int:
        """Iterations that are left."""
        return max_iterations - sum(report.iterations for report in self._done)

    def _told(self, report: SettleReport) -> SettleReport:
        """The last report with the iterations of all."""
        history = tuple(size for done in self._done for size in done.history)
        return replace(report, iterations=len(history), history=history)

    def _found(self, gravity: FloatArray, max_iterations: int, tolerance: float, led: Led, parts: int) -> SettleReport:
        """Equilibrium, with points that are far from where they are held brought there first in so many parts.

        On the way, where the exact stiffness is not definite (a straight rod that is pushed has many ways to buckle),
        that of Gauss and Newton is taken, without tensions that push. Two thirds of the iterations at most are for
        that: the rest of the way, if any, is gone at once.
        """
        spare = self._left(max_iterations) // 3
        done, step = 0.0, 1.0 / max(parts, 1)
        while parts > 0 and done < 1.0 and step > 1e-3 / parts:
            room = self._left(max_iterations) - spare
            if room <= 0:
                break
            part = min(done + step, 1.0)
            with led.at(part), self._without_free_loads():
                report = self._newton(gravity, min(room, 40), max(tolerance, 1e-4), ROUGH)
            if report.iterations > 0:  # converged or not: it is on its way
                done, step = part, min(2.0 * step, 1.0 / parts)
            else:
                step *= 0.5
        return self._loaded(gravity, max_iterations, tolerance)

    def _walked(self, gravity: FloatArray, max_iterations: int, tolerance: float) -> SettleReport:
        """Equilibrium of things that touch, by steps in time with drag, and Newton's method from where they lead.

        Where much comes into touch and parts again Newton's method may find no end; motion does.
        """
        s, touching = self.system, self.system.touching
        assert touching is not None
        pull = float(np.linalg.norm(gravity))
        time = math.sqrt(s.size / pull if pull > 0.0 else 1.0 / self._lowest_rate(gravity))
        h, now = time / STEPS_OF_TIME, float(s.model.report.time[0])
        stepper = Stepper(s)
        stepper.solver.moved = True  # so that nothing raises on the way
        for walk in range(WALKS):
            touching.come_to_rest()
            for _ in range(WALK):
                stepper.solver.begin_at(now - h)  # what is led stays where it is now
                stepper.step("euler", h, 0.0, 2.0 / time, gravity)
            kept = self._kept()
            report = self._newton(gravity, min(max(self._left(max_iterations), 20), TRIES), tolerance)
            if (report.converged and not folded_rods(s)) or walk == WALKS - 1:
                break
            self._put_back(kept)
            h *= 1.5
        s.model.report.time[0] = now
        return report

    @contextmanager
    def _without_free_loads(self) -> Iterator[None]:
        """Loads that have no potential at 0, for a while."""
        loads = self.system.model.loads
        given = loads.copy()
        loads.torque[:] = 0.0
        loads.force[loads.follows == 1] = 0.0
        try:
            yield
        finally:
            loads.fill(given)

    def _loaded(self, gravity: FloatArray, max_iterations: int, tolerance: float) -> SettleReport:
        """Equilibrium, with loads that have no potential (torques, followers) brought up bit by bit.

        Their stiffness is not symmetric, and the symmetric part that the solve uses takes it only a small way; a step
        of the load that fails is cut.
        """
        s, loads = self.system, self.system.model.loads
        follows = loads.follows == 1
        free = loads.torque.any(axis=1) | follows
        if not free.any():
            return self._newton(gravity, max(self._left(max_iterations), 1), tolerance)
        given = loads.copy()
        # each bit bends the softest rod by some 0.4 rad
        softest = min((body._softness() for body in s.layout.bodies), default=math.inf)
        moments = np.abs(given.torque[free]).sum() + s.size * np.abs(given.force[follows]).sum()
        largest = min(0.4 * softest / moments if moments > 0.0 else 1.0, 1.0)
        done, step = 0.0, largest
        start = self._kept()
        try:
            while True:
                part = min(done + step, 1.0)
                loads.torque[free] = part * given.torque[free]
                loads.force[follows] = part * given.force[follows]
                kept = self._kept()
                report = self._newton(gravity, min(25, max(self._left(max_iterations), 1)), tolerance)
                if report.converged:
                    done, step = part, min(2.0 * step, largest)
                    if done == 1.0:
                        return report
                else:
                    step *= 0.25
                    self._put_back(kept)
                if self._left(max_iterations) <= 0 or step < 1e-4:
                    if done == 0.0:
                        self._put_back(start)
                    return replace(report, status="failed", stable=False)
        finally:
            loads.fill(given)

    def _with_fresh_frames(
        self, report: SettleReport, gravity: FloatArray, max_iterations: int, tolerance: float
    ) -> SettleReport:
        """The same equilibrium with frames that depend on the rods' shapes alone: their twist has no memory then.

        Each renewal takes two to four iterations more, and leaves an error that is of second order in what it moved.
        """
        s = self.system
        for _ in range(3):
            if not report.converged or self._left(max_iterations) <= 0 or not frames_are_stale(s):
                break
            kept, count = self._kept(), len(self._done)
            if renew_frames(s) < EVEN:
                self._put_back(kept)
                break
            again = self._newton(gravity, self._left(max_iterations), tolerance)
            if not again.converged or folded_rods(s):
                self._put_back(kept)
                del self._done[count:]
                break
            report = again
        return report

    def _begin(self, gravity: FloatArray) -> None:
        """Set the numbers of a static solve, and put its iterate where the state is."""
        s, model = self.system, self.system.model
        self.solver.keep()
        self.solver.forget()
        self._rows = model.rows.words(STATE).copy()
        model.step.gravity[0] = gravity
        model.step.relaxing[0] = self._time
        model.step.reach_limit[0] = self._turn
        hold(s.plan(False).bare)
        s.forget_plans()
        settings, loads = model.settings, model.loads
        settings.turns[0] = settings.path[0] = settings.exact[0] = settings.push[0] = settings.static[0] = 1
        settings.cables[0] = IMPLICIT
        self._resting.begin_solve()
        # Torques and loads that follow have no potential: pivots of the symmetric part then tell nothing.
        settings.strict[0] = int(not (loads.torque.any() or loads.follows.any()))

    def _newton(self, gravity: FloatArray, max_iterations: int, tolerance: float, still: float = STILL) -> SettleReport:
        """Newton's method for static equilibrium, with a mass-weighted shift where the stiffness is not definite.

        Independent tensions take it there in few iterations without a merit function: the shift grows until the
        inertia is right and no tangent turns by more than 0.8 rad, and goes when they turn by less. With a large
        `still` it is on the way only: what it finds is taken as it is.
        """
        report = self._iterated(gravity, max_iterations, tolerance, still)
        self._done.append(report)
        return report

    def _iterated(self, gravity: FloatArray, max_iterations: int, tolerance: float, still: float) -> SettleReport:
        s, model, resting = self.system, self.system.model, self._resting
        self._begin(gravity)
        force, unit = self._typical_force(gravity), self._lowest_rate(gravity)
        model.step.anchor[0] = 10.0 * force / s.size
        mild, mild_left = False, MILD if still > STILL else 0
        # What rounding leaves of forces that balance: those of stretching cancel, and are far larger than the rest.
        stiffest = max((body._firmness() for body in s.layout.bodies), default=0.0)
        tolerance = max(tolerance, 200.0 * np.finfo(float).eps * stiffest / force)
        shift = floor = 0.0
        history: list[float] = []
        residual, met = np.inf, True
        status = UNCONVERGED
        rows, trial = model.rows, model.trial
        rejected = 0
        for number in range(max_iterations):
            if s.spans_left():
                s.forget_plans()
            model.step.mass_weight[0] = shift
            model.step.softest[0] = SOFTEST if number < BOLD else MODEST if number < 2 * BOLD else CAUTIOUS
            status, plan = self._solve()
            if status in (WRONG_INERTIA, TOO_FAR, NOT_FINITE):
                rejected += 1
                if status == TOO_FAR and resting.looks_further():
                    continue
                if shift == 0.0 and (s.layout.cables.rows or s.touching is not None):
                    # What cables or contacts alone hold has no stiffness along them: a shift that is small against all
                    # stays.
                    floor = LEAST_SHIFT * unit
                if (rejected > 12 and still > STILL) or (status == WRONG_INERTIA and shift > 0.0 and rejected > 60):
                    break
                if status == TOO_FAR and self._dependent(shift, unit):
                    self._soften(plan, unit)
                    continue
                if status == WRONG_INERTIA and resting.straightens():
                    continue
                if status == WRONG_INERTIA and mild_left > 0 and not mild:
                    mild, mild_left = self._set_mild(True), mild_left - 1
                    continue
                shift = max(4.0 * shift, unit)
                continue
            if self._dependent(shift, unit):
                np.copyto(rows.words(STATE), self._rows)  # forces that contradict each other may have got into it
                self._soften(plan, unit)
                continue
            stopped, rejected = rejected > 0, 0
            if mild:
                mild = self._set_mild(False)
            residual = self._unbalanced(plan) / force
            size = float(np.max(np.abs(trial.dq) / trial.scales, initial=0.0))
            history.append(size)
            floor = max(floor, LEAST_SHIFT * unit * resting.damping(history))
            offset = float(np.max(np.abs(rows.wanted - rows.softness * rows.found), initial=0.0)) if len(rows) else 0.0
            met = resting.note(plan)
            if residual < tolerance and size < still and np.isfinite(offset) and met:
                break
            if self.solver.softened and redundant_rows_disagree(s):
                self._soften(plan, unit)  # one may have become independent
            if not resting.waits(stopped) and (shift > 0.0 or floor > 0.0):
                shift = max(0.25 * shift if 0.25 * shift > 1e-6 * unit else 0.0, floor)
        converged = residual < tolerance and status in (SOLVED, UNBOUNDED) and met
        if converged and still == STILL:
            self._judge_rows(unit)
        negative = self._negative_directions(force) if converged else 0
        count = len(history)
        if not converged and not np.isfinite(residual):
            self.solver.undo()
            return SettleReport("failed", False, count, float(residual), 0, _unsettled(s), tuple(history))
        for field in model.scheme.fields().values():
            field[:] = 0.0
        s.march(ACCEPT, 1, s.plan(True).scene)
        if converged:
            message = "" if negative == 0 else f"the equilibrium is unstable in {negative} direction(s)"
            return SettleReport("converged", negative == 0, count, float(residual), negative, message, tuple(history))
        return SettleReport("failed", False, count, float(residual), 0, _unsettled(s), tuple(history))

    def _solve(self) -> tuple[int, MatrixPlan]:
        """One iteration, with room for the contacts that it finds: how it ended, and the plan that it was made by."""
        s, touching = self.system, self.system.touching
        trial, rigids = s.model.trial, s.model.rigids
        rigids.turned[:] = 0.0
        np.copyto(trial.q_base, trial.q)
        np.copyto(rigids.quat_base, rigids.quat_trial)
        s.model.step.way[0] = self._resting.way
        while True:
            plan = s.plan(True)
            status = int(s.march(SOLVE, 1, plan.scene))
            if status != TOUCHED:  # else not all that was found has been measured
                self._resting.check_overlaps()
                return status, plan
            touching.makes_room()  # type: ignore[union-attr]

    def _set_mild(self, mild: bool) -> bool:
        """Take the stiffness of Gauss and Newton, without tensions that push, or the exact one again."""
        settings = self.system.model.settings
        settings.exact[0] = settings.push[0] = int(not mild)
        return mild

    def _dependent(self, shift: float, unit: float) -> bool:
        """Whether the last solve has met rows that depend on others, and were not softened yet.

        A shift that is small leaves free bodies so light that sound rows look dependent.
        """
        return bool(self.system.model.report.dependent[0]) and (shift == 0.0 or shift >= unit)

    def _soften(self, plan: MatrixPlan, unit: float, refuse: bool = False) -> None:
        """Give rows that depend on others a compliance.

        On the way rows that curve disagree by second order in how far there is to go: only in the end, with `refuse`,
        that is an `InputError`.
        """
        s, model, solver = self.system, self.system.model, self.solver
        solver.softened = True
        model.step.mass_weight[0] = max(unit, float(model.step.mass_weight[0]))
        model.settings.look[0] = 1
        s.march(SOLVE, 1, plan.scene)
        model.settings.look[0] = 0
        solver.redundant, _, _ = soften_redundant_rows(self.system, plan, refuse=refuse, moved=False)

    def _judge_rows(self, unit: float) -> None:
        """Raise `InputError` if there are rows that are not met where forces balance: they contradict each other."""
        s, rows = self.system, self.system.model.rows
        if not self.solver.softened and s.model.report.dependent[0] == 0:
            return
        found = rows.found.copy()
        self._soften(s.plan(True), unit, refuse=True)
        firm = (rows.dual >= 0) & (rows.compliance == 0.0) & (rows.softness != 1.0)
        off = np.where(firm, np.abs(rows.wanted), 0.0)
        worst = float(np.max(off, initial=0.0))
        rows.found[:] = found
        if worst > AGREEMENT * max(s.size, 1e-3):
            names = dict.fromkeys(s.layout.constraints[int(owner)].name for owner in rows.owner[off > 0.5 * worst])
            raise InputError(contradiction(worst, names))

    def _unbalanced(self, plan: MatrixPlan) -> float:
        """Largest generalised force that was left before this iteration: A Δq, N (moments over the scene's size)."""
        s, trial = self.system, self.system.model.trial
        x, y = np.zeros(s.dofs + s.duals), np.zeros(s.dofs + s.duals)
        x[: s.dofs] = trial.dq
        multiply(plan.matrix.values, plan.row, plan.col, plan.slot, x, y)
        return float(np.max(np.abs(y[: s.dofs]) * trial.scales, initial=0.0)) / s.size

    def _negative_directions(self, force: float) -> int:
        """Wrong pivots of the unshifted system at the iterate: directions in which the scene would move off.

        Contacts that press by more than next to nothing of the typical `force` (N) hold; others don't.
        """
        s, model = self.system, self.system.model
        if s.spans_left():
            s.forget_plans()
        # A direction in which nothing changes (a hanging ball that spins) is not one in which it would move off.
        model.step.mass_weight[0] = 1e-6 * self._lowest_rate(model.step.gravity[0])
        model.settings.look[0] = model.settings.strict[0] = 1
        self._resting.turn_forces()
        _, plan = self._solve()
        model.settings.look[0] = 0
        # Rounding decides the sign of a pivot that should be zero (a rope held by its ends may spin about itself).
        if s.touching is not None:
            pivots, diagonal, held = s.touching.held_pivots(plan.scene, PRESSED * force)
        else:
            diagonal, held = np.zeros(s.dofs + s.duals), s.duals
            own = plan.row == plan.col
            np.add.at(diagonal, plan.row[own], plan.matrix.values[plan.slot[own]])
            pivots = plan.natural(plan.matrix.diagonal)
        neutral = (pivots < 0.0) & (np.abs(pivots) < 1e-9 * np.abs(diagonal)) & (np.arange(len(pivots)) < s.dofs)
        return int(max(np.sum((pivots < 0.0) & ~neutral) - held, 0))

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
