"""The part of a scene that knows time: steps, runs, static equilibria, and what happens in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.body import AbstractBody
from sennit.bodies.rod.cutting import LEAST_SPANS
from sennit.errors import InputError, SolveError, SolveReport
from sennit.scene.changing import Changing
from sennit.scene.cutting import cut_rod, told
from sennit.scene.falling import Falling
from sennit.scene.skins import fit_skins, skins_miss
from sennit.scene.troubles import Troubles
from sennit.solve.report import Event, SettleReport, StepReport
from sennit.solve.stepper import Stepper, StepTale

__all__ = ["MOST_STEPS", "Moving"]

INTEGRATORS = ("euler", "bdf2", "midpoint", "fourth")
SHORTEST_STEP = 1e-15
"""Shortest step, s: at shorter ones inertia over dt² leaves the range in which forces are more than rounding."""
ANSWER = 0.1
"""s of a run between two of Python's looks at what else there is to do."""
MOST_FITS = 8
"""Times that a static solve is gone on with since more of a zone is touched than was looked at."""
MOST_STEPS = 1e9
"""Of one run: half a day of steps of a small scene."""


class Moving(Falling, Changing):
    """Bodies that move, in a field of gravity and with drag, by one of the time schemes: see `Scene`."""

    def __init__(self, gravity: ArrayLike, drag: float, integrator: str) -> None:
        super().__init__()
        self._fall(gravity, drag)
        self._integrator = validation.choice("integrator", integrator, INTEGRATORS)
        self._events: list[Event] = []
        self._troubles = Troubles(self._events)

    def _check_pull(self, name: str) -> None:
        self._check_here(name)

    def _pulled_otherwise(self) -> None:
        self._forces_jumped()
        if self._system is not None:
            self._system.account_anew()

    @property
    def integrator(self) -> str:
        """``"euler"``, ``"bdf2"``, ``"midpoint"`` or ``"fourth"``. Can be set."""
        return self._integrator

    @integrator.setter
    def integrator(self, value: str) -> None:
        wanted = validation.choice("integrator", value, INTEGRATORS)
        self._check_here("integrator")
        self._integrator = wanted
        self._clock.last_step = 0.0

    # ----------------------------------------------------------------------------------------------------- time

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._clock.time

    def _go_on_from(self, clock: Sequence[float], released: Iterable[AbstractBody], events: Iterable[Event]) -> None:
        """Go on from the state that was put into the scene's arrays.

        `clock`: its time and its last step, s; `released`: what has left its rod; `events`: what happened besides.
        """
        stepper = self._compiled()
        stepper.system.find_spans()
        stepper.solver.note_softened()
        self._clock.time, self._clock.last_step = clock
        self._released = set(released)
        self._events += events

    def _set_time(self, value: float) -> None:
        """Set the clock to `value`, s; nothing else changes."""
        self._clock.time = validation.number("value", value)

    @property
    def events(self) -> tuple[Event, ...]:
        """What has happened so far, oldest first."""
        return tuple(self._events)

    @property
    def report(self) -> StepReport:
        """How the last step was solved."""
        if self._system is None:
            return StepReport(0, 0, self._integrator, self._redundant)
        report, tale = self._system.model.report, self._clock.tale
        iterations, solves = int(report.iterations[0]), int(report.active_solves[0])
        return StepReport(iterations, solves, self._integrator, self._redundant, tale.parts, tale.depth, tale.held_time)

    def step(self, dt: float) -> None:
        """Advance by `dt` (s). `report` says how the step was solved.

        Raises `SolveError`, with the last good state kept, when the step has no solution, and `InputError` when
        constraints contradict each other (it names them).
        """
        h = validation.number("dt", dt, minimum=SHORTEST_STEP)
        self._check_free()
        clock = self._clock
        if self._new_tubes:
            self._check_tubes()
        stepper = self._compiled() if self._bodies else None
        if self._soft:
            fit_skins(self, h)
            stepper = self._compiled()
        if stepper is None or stepper.system.dofs == 0:  # nothing, or zones that nothing holds
            self._lead(clock.time + h, [obstacle for obstacle in self._obstacles if obstacle.path is not None])
            clock.time += h
            return
        places: Sequence[tuple[Any, Any]] = ()
        if self._leads or self._routed:
            places = [(led, led._anchor.pose) for led in (*self._leads, *self._routed)]
            stepper.solver.begin_at(clock.time)
            self._lead(clock.time + h, self._leads)  # the kernels follow routes
        try:
            tale = stepper.step(self._integrator, h, clock.last_step, self._drag, self._gravity)
        except (InputError, SolveError):
            for led, place in places:
                led._anchor._set(place)
            raise
        self._enter(tale, clock.time + h, stepper)
        for tie in self._attentive:
            self._events += [Event(clock.time, kind, (tie,), text) for kind, text in tie._attend()]
        for rod in self._fragile:
            self._break(rod)

    def _enter(self, tale: StepTale, time: float, stepper: Stepper) -> None:
        """Enter a step that ends at `time`, s: what happened in it."""
        clock = self._clock
        clock.time = time
        # After a shock or the end of a contact a two-step scheme starts afresh: its last velocity is another motion's.
        clock.last_step = tale.last
        clock.tale = tale
        if tale.quiet:
            self._troubles.quiet()
            return
        if tale.overlap is not None:
            self._note_overlap(tale.overlap, clock.time)
        if tale.cause is not None or tale.instead or tale.calmed + tale.yielded + tale.stalled > 0.0:
            self._troubles.tell(tale, stepper.system, clock.time)
        else:
            self._troubles.quiet()
        self._after_solve(stepper, tale.parts - tale.held)

    def run(self, duration: float, dt: float = 1e-2, *, each: Callable[[Any], object] | None = None) -> None:
        """Advance by `duration` (s) in steps of `dt` (s), the last one shorter if they do not divide; `each` is called
        with the scene after every step.
        """
        total, h = validation.number("duration", duration, minimum=0.0), validation.number("dt", dt, positive=True)
        if total / h > MOST_STEPS:
            raise InputError(f"{total:g} s in steps of {h:g} s are more than {MOST_STEPS:g} steps: choose a longer dt")
        steps = int(total / h + 1e-9)
        self._make_steps(steps, h, each)
        rest = total - steps * h
        if rest > max(1e-9 * h, SHORTEST_STEP):
            self._make_steps(1, rest, each)

    def _make_steps(self, count: int, h: float, each: Callable[[Any], object] | None = None) -> None:
        """Make `count` steps of `h` (s): in compiled calls, unless `each` is to be called after every one."""
        left, most = count, 1
        while left > 0:
            made, begun = 0, perf_counter()
            if each is None and left < count:
                made = self._run_on(min(left, most), h)
                # compiled calls of about this long, so that Ctrl-C is heard
                pace = (perf_counter() - begun) / max(made, 1)
                most = min(max(int(ANSWER / max(pace, 1e-9)), 1), 100 * most)
            if made == 0:
                self.step(h)
                made = 1
                if each is not None:
                    each(self)
            left -= made

    def _run_on(self, count: int, h: float) -> int:
        """Make up to `count` more steps of `h` (s) in one compiled call; returns how many were made.

        It ends with a step in which something happens, and makes none where Python is needed between steps.
        """
        clock, stepper = self._clock, self._stepper
        if self._leads or self._attentive or self._fragile or self._soft or stepper is None or not clock.tale.quiet:
            return 0
        asked = self._integrator, h, clock.last_step, self._drag, self._gravity
        made, clock.time, tale = stepper.run(*asked, count, clock.time)
        self._troubles.quiet(made)
        if tale.quiet:
            return made
        self._enter(tale, clock.time + h, stepper)
        return made + 1

    def settle(
        self,
        *,
        friction: bool = True,
        instant: bool = False,
        max_iterations: int = 300,
        tolerance: float = 1e-8,
        throw: bool = True,
    ) -> SettleReport:
        """Find a static equilibrium near the present shape, and take it: velocities become zero, time stands.

        Where things touch, the friction of contacts acts as in steps: what sticks holds its place, from the forces on
        that the last step left, so that a scene at rest stays as it is. What the answer is depends on the way there.
        ``friction=False`` leaves the friction of contacts out, and with it the way.

        Rods that are not elastic: what creeps has done so for ever, or, if `instant`, not at all yet; what yields was
        loaded evenly from the last state on, whatever way the iterates took. So where rods yield, a way in two calls is
        another one than in one call, and may end elsewhere.

        The report says in how many iterations (`max_iterations` at most), and whether the equilibrium is stable.
        `tolerance`: largest unbalanced
        force over the scene's typical force (EI/L², weight and loads). Targets may be far away: points are led there.
        Raises `SolveError` if none is found, with the best state reached in the scene, or the scene as it was where a
        rod would fold between its control points; ``throw=False`` returns the report instead.
        """
        count = validation.count("max_iterations", max_iterations, 1, validation.UNLIMITED)
        limit = validation.number("tolerance", tolerance, positive=True)
        at_once = validation.flag("instant", instant)
        throwing, rubbing = validation.flag("throw", throw), validation.flag("friction", friction)
        self._check_free()
        if not self._bodies:
            return SettleReport("converged", True, 0, 0.0)
        self._compiled()
        self._lead(self._clock.time, (*self._leads, *self._routed))
        report = self._settled(count, limit, rubbing, at_once)
        for _ in range(MOST_FITS if self._soft and not self._frozen else 0):
            if not report.converged or not skins_miss(self):
                break
            report = self._settled(count, limit, rubbing, at_once)
        if throwing and not report.converged:
            dofs = self._compiled().system.dofs
            details = SolveReport("failed", report.iterations, report.residual, "settle", dofs, report.message)
            raise SolveError(details, report)
        return report

    def _settled(self, count: int, limit: float, rubbing: bool, at_once: bool) -> SettleReport:
        """`settle` with the vertices of zones that are held now, or nearest to what may touch them."""
        if self._soft:
            fit_skins(self, None)
        stepper = self._compiled()
        if stepper.system.dofs == 0:
            return SettleReport("converged", True, 0, 0.0)
        stepper.system.model.rows.ahead[:] = 0.0
        assert self._statics is not None
        stepper.solver.begin_at(self._clock.time)
        report = self._statics.settle(self._gravity, count, limit, rubbing, at_once)
        stepper.system.account_anew()
        self._clock.last_step = 0.0
        self._after_solve(stepper)
        return report

    def _lead(self, time: float, paths: Iterable[Any]) -> None:
        """Move what follows `paths` to where they are at `time` (s); nothing moves if one fails."""
        places = [(led, led._place_at(time)) for led in paths]
        for led, place in places:
            led._anchor._set(place)

    def _after_solve(self, stepper: Stepper, parts: int = 1) -> None:
        solver = stepper.solver
        if solver.redundant is not None:
            duals, solver.redundant = solver.redundant, None
            known = self._redundant
            self._redundant = tuple(dict.fromkeys(stepper.system.owner_of(dual) for dual in duals))
            if self._redundant != known:
                number = {id(c): i for i, c in enumerate(stepper.system.layout.constraints)}
                self._troubles.superfluous(self._redundant, [number[id(c)] for c in self._redundant], self._clock.time)
        report = stepper.system.model.report
        if report.left[0]:
            for body in self._bodies:
                if body._has_left() and body not in self._released:
                    self._released.add(body)
                    holder: Any = next((c for c in self._constraints if c._holds(body)), body)
                    (rod,) = body._rides_on()
                    text = f"{rod.name} ran out of {holder.name}"
                    self._events.append(Event(self._clock.time, "released", (holder, rod), text))
        if report.happenings[0]:
            self._note_meetings(self._clock.time, parts)
            for constraint in self._constraints:
                self._events += [
                    Event(self._clock.time, kind, (constraint,), text) for kind, text in constraint._news()
                ]

    def _cut(self, rod: Any, begins: Sequence[tuple[int, int]]) -> list[Any]:
        """Cut a rod into pieces: see `Rod.cut`."""
        rods = cut_rod(self, rod, begins)
        self._events.append(told(rods, self._clock.time))
        return rods

    def _break(self, rod: Any) -> None:
        """Cut a rod where it exceeds a limit, or next to there if that is an end."""
        s = rod._breaks_at()
        if s is None:
            return
        try:
            knots, least = rod.knots, LEAST_SPANS[rod.model]
            inner = knots if rod.closed else knots[least : len(knots) - least]
            rods = cut_rod(self, rod, rod._begins(float(inner[np.argmin(np.abs(inner - s))])))
        except InputError as problem:
            rod._set_limits(None, None)
            text = f"{rod.name} would break at {s:.4g} m and does not, nor will it: {problem}"
            self._events.append(Event(self._clock.time, "unbroken", (rod,), text))
            return
        for piece in rods:
            if piece._tables.spans < 2 * LEAST_SPANS[piece.model]:
                piece._set_limits(None, None)  # it is too short to break once more
        self._events.append(told(rods, self._clock.time, "broken"))

    def _forces_jumped(self) -> None:
        """A force was changed at once: a two-step scheme, which would see it before it acts, starts afresh."""
        self._clock.last_step = 0.0

    def _rows_switched(self) -> None:
        """A constraint was switched: rows that were superfluous may be needed now."""
        self._forces_jumped()
        self._redundant = ()
        if self._system is not None:
            self._system.model.rows.spare[:] = 0.0
            self._system.layout.find_groups()
            self._system.account_anew()
