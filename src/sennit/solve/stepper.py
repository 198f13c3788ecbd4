"""Time steps of a `System`: what runs between two states of a scene.

A step is solved, judged, and accepted. One that cannot be accepted is undone and made in two halves, each of which may
be divided again; targets are led along. At the last level the scene stands still for that part of the time. What
happened on the way is told in a `StepTale`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sennit.bodies.kernels.points import WORLD
from sennit.errors import InputError, SolveError, SolveReport
from sennit.solve.fourth import SHOCK, UNSOLVED, State, keeps_time, make_stages, unfit
from sennit.solve.kernels.accept import stand_still
from sennit.solve.kernels.codes import MISSED, NOT_FINITE, QUIET, SHOCKED, SOLVED, UNBOUNDED, UNCONVERGED, WRONG_INERTIA
from sennit.solve.solver import Part, Solver
from sennit.solve.system import System
from sennit.validation import FloatArray

__all__ = ["StepTale", "Stepper"]

DEPTH, SHORTEST = 10, 1e-5
"""How often a step may be halved: so often, or until its parts last no longer than this, s."""
DEEP, SHALLOW = 1.0, 0.01
"""Overlap that is there at first, in radii of a rod or tenths of a body's size, above which a scene is refused, and
above which it is told.
"""
THRIFTY = 4
"""Level from which a step that gains energy is accepted, and calmed."""
DAMPED = 5
"""Level from which a step of "midpoint" for which Newton finds no solution is made by Euler."""
MOST_HELD = 8
"""Parts of one step for which the scene stands still, or hands give way, before it does for the rest of it."""
YIELDING = 6
"""Level from which hands give way to what touches: where a step has no solution with targets led on. Once they have
given way, they do so in the rest of the step wherever it has none.
"""
LARGEST_RATIO = 4.0
"""Of a step to the one before it, up to which a two-step scheme goes on; beyond it starts afresh."""
YIELDED = 1e-6
"""Gap over the scene's size from which rows that contradict each other count as having given way."""

_CAUSES = {
    NOT_FINITE: "the step gave numbers that are not finite: forces or targets are too large for this dt",
    WRONG_INERTIA: "the step's matrix is not definite: a body without mass, or a time step far too long for this load",
    UNBOUNDED: "the one-sided rows could not be solved",
    UNCONVERGED: "Newton's method did not converge: take a shorter dt",
}


@dataclass
class StepTale:
    """What happened in a whole step."""

    parts: int = 0
    """Steps that were accepted, or for which the scene stood still."""
    depth: int = 0
    """How often the shortest of them was halved."""
    held: int = 0
    """Parts for which the scene stood still."""
    held_time: float = 0.0
    """Time of these, s."""
    gave: int = 0
    """Parts in which hands gave way to what touches."""
    cause: tuple[int, int, int, float] | None = None
    """Why it was divided: status of the solve, what it missed, number of who did, and by how much."""
    between: tuple[Any, Any] | None = None
    """The two things of that, if it was a contact, whose number is gone with the next try."""
    calmed: float = 0.0
    """Kinetic energy that was taken away, J."""
    yielded: float = 0.0
    """Largest gap that rows were left with that contradict each other, m or rad."""
    contradicting: list[str] = field(default_factory=list)
    """Names of these, where they are known."""
    stalled: float = 0.0
    """Largest way that a drive or a hand was held back by what it met, m or rad."""
    stalling: list[int] = field(default_factory=list)
    """Rows of those that were held back."""
    last: float = 0.0
    """Length of the last part, s; 0 if velocities after it are not to be extrapolated."""
    overlap: tuple[float, tuple[Any, Any]] | None = None
    """What overlapped most when the scene began, by how much (m) and whose."""
    instead: int = 0
    """Why a step that was to be of fourth order was made by "bdf2", see `fourth`; 0: it was not."""
    quiet: bool = False
    """Whether nothing has happened: one whole step, no event, no shock, nothing that has left its rod."""


class Stepper:
    """Advances a system, and divides steps that are too long. It holds no state of the scene."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.solver = Solver(system)
        self.looked = system.touching is None
        """Whether it was seen that nothing overlaps deeply where the scene begins."""
        self.depth: int | None = None
        """How often a step may be halved; None: see DEPTH."""
        self._depth = DEPTH
        self._asked: tuple[Any, ...] = ()
        """What the last step was asked for with: scheme, its time, the time before it, drag."""
        self._gravity: FloatArray | None = None
        self._whole = Part("", 0.0, 0.0, 0.0, 1.0, True, False, 0.0, 0.0, (0.0, 0.0, 0.0))
        """The step as a whole."""
        self._quiet = StepTale()
        """What is told of it if nothing happens."""
        self._before = 0.0
        self._given: tuple[Any, ...] | None = None

    def step(self, integrator: str, h: float, before: float, drag: float, gravity: FloatArray) -> StepTale:
        """One step of `h` (s) after one of `before` (s; 0: none); `gravity` (m/s²) is another array when it changes.

        Raises `SolveError`, or `InputError` for rows that contradict each other, if nothing was ever accepted; the
        state is as it was then.
        """
        if integrator == "fourth":
            return self._step_fourth(h, before, drag, gravity)
        asked, solver, status = (integrator, h, before, drag), self.solver, None
        if asked == self._asked and gravity is self._gravity:
            if solver.prepared is self._whole and solver.moved:
                # the same step once more, and most often nothing to tell: this way costs the least
                status = solver.advance()
                if status == QUIET and not solver.softened:
                    return self._quiet
        else:
            self._ask(integrator, h, before, drag, gravity)
        return self.finished(h, before, status)

    def finished(self, h: float, before: float, status: int | None) -> StepTale:
        """The step that was asked for last, whose first try has ended with `status` (None: there was none yet)."""
        self._depth = max(DEPTH, math.ceil(math.log2(h / SHORTEST))) if self.depth is None else self.depth
        return self._made(before, status)

    def run(
        self, integrator: str, h: float, before: float, drag: float, gravity: FloatArray, count: int, time: float
    ) -> tuple[int, float, StepTale]:
        """Up to `count` such steps (see `step`) from `time` (s) on, until something happens.

        Returns how many were made in which nothing did, the time after them, and the tale of the last one: of one more
        where it is not quiet. None is made where the last step was not the same.
        """
        solver = self.solver
        same = (integrator, h, before, drag) == self._asked and gravity is self._gravity
        if not same or not solver.moved or solver.softened or solver.prepared is not self._whole:
            return 0, time, self._quiet
        if integrator == "fourth":
            return self._run_fourth(count, time)
        made, time, status = solver.run(count, time)
        return made, time, self._quiet if status == QUIET else self._made(before, status)

    def _run_fourth(self, count: int, time: float) -> tuple[int, float, StepTale]:
        """`run` of steps of fourth order, of which one that fails leaves the state between two stages: the quiet ones
        are then made again, and the next is made one by one.
        """
        _, h, before, drag = self._asked
        assert self._gravity is not None
        if unfit(self.system, h, drag) or not keeps_time(self.system):
            return 0, time, self._quiet
        state = State(self.system)
        made, end, status = self.solver.run(count, time)
        if status == QUIET:
            return made, end, self._quiet
        state.put_back()
        if made:
            made, time, status = self.solver.run(made, time)
            assert status == QUIET
        tale = self._step_fourth(h, before, drag, self._gravity)
        return (made + 1, time + h, tale) if tale.quiet else (made, time, tale)

    def _step_fourth(self, h: float, before: float, drag: float, gravity: FloatArray) -> StepTale:
        """A step of fourth order, or one of "bdf2" where that can't be."""
        why = unfit(self.system, h, drag)
        if not why:
            self._ask("fourth", h, before, drag, gravity)
            state = State(self.system)
            try:
                status = self._compose(state)
            except (InputError, SolveError):
                state.put_back()
                raise
            if status == QUIET:
                self.solver.moved = True
                return self._quiet
            struck = bool(self.system.model.report.struck[0])
            state.put_back()
            why = SHOCK if struck else UNSOLVED
            return replace(self._step_instead(h, before, drag, gravity, state), quiet=False, instead=why)
        return replace(self.step("bdf2", h, before, drag, gravity), quiet=False, instead=why)

    def _step_instead(self, h: float, before: float, drag: float, gravity: FloatArray, state: State) -> StepTale:
        """A step of "bdf2" from `state`, among those of fourth order, with `Part.backward`."""
        self._ask("bdf2", h, before, drag, gravity)
        if self._whole.kind == "euler":
            self.solver.note_rates(self._whole)
        self._whole = self._whole._replace(backward=True)
        try:
            return self.finished(h, before, None)
        except (InputError, SolveError):
            state.put_back()
            raise
        finally:
            self._asked = ()  # for "bdf2" alone, the whole is another

    def _compose(self, state: State) -> int:
        """Make the stages of a step of fourth order from `state`: at once where nothing needs Python in between.

        Returns how it ended: unless QUIET, anywhere on the way.
        """
        solver, whole = self.solver, self._whole
        if not solver.softened and keeps_time(self.system):
            if solver.prepared is not whole:
                solver.prepare(whole)
            if solver.run(1, float(self.system.model.report.time[0]))[2] == QUIET:
                return QUIET
            state.put_back()
        self._begin_division()
        status = make_stages(solver, whole, self._lead_world)
        self._give_back()
        solver.prepared = None
        return status

    def _ask(self, integrator: str, h: float, before: float, drag: float, gravity: FloatArray) -> None:
        """Note what is asked for, and what the whole step is then."""
        asked = (integrator, h, before, drag)
        if asked == self._asked and gravity is self._gravity:
            return
        self._asked, self._gravity = asked, gravity
        kind = "euler" if integrator == "bdf2" and not 0.0 < h <= LARGEST_RATIO * before else integrator
        gx, gy, gz = gravity.tolist()
        self._whole = Part(
            kind, h, before if kind == "bdf2" else 0.0, 0.0, 1.0, True, False, h, drag, (gx, gy, gz)
        )  # fmt: skip
        # a two-step formula can't go on from the stages of a composed step
        self._quiet = StepTale(parts=1, last=0.0 if kind == "fourth" else h, quiet=True)

    def _made(self, before: float, status: int | None) -> StepTale:
        """Make the whole step, which was tried and has ended with `status`, or (None) was not tried yet."""
        tale, self._before, self._given = StepTale(), before, None
        if self.solver.moved and self.looked:
            self._go(self._whole, 0, tale, status)
        else:
            self._go_first(tale)
        if tale.parts > 1:
            self._tell()
        return tale

    def _go_first(self, tale: StepTale) -> None:
        """A step that may raise: nothing is changed then."""
        kept = {name: array.copy() for name, array in self.system.account().items()}
        state = None if self.system.touching is None else State(self.system)
        moved = self.solver.moved
        try:
            status = None if state is None else self._attempted(self._whole)
            if state is not None:
                self._check_overlaps(state, tale)
            self._go(self._whole, 0, tale, status)
            self.looked = True
        except (InputError, SolveError):
            self.solver.moved = moved
            self.system.set_account(kept)
            if self._given is not None:
                self._give_back()
            raise

    def _check_overlaps(self, state: State, tale: StepTale) -> None:
        """Note what overlapped when the first step, which was tried as a whole, began; raise `InputError` if it was
        deep: the state is as it was then.
        """
        touching: Any = self.system.touching
        depth, length, pair = touching.overlap_at_start()
        if depth > SHALLOW and pair is not None:
            tale.overlap = length, pair
        if depth > DEEP and pair is not None:
            touching.forget()
            state.put_back()
            names = f"{pair[0].name} and {'itself' if pair[1] is pair[0] else pair[1].name}"
            raise InputError(
                f"{names} overlap where the scene begins, by more than could be pushed apart: put them apart, or let "
                f"them pass through each other (Scene.ignore)"
            )

    def _go(self, part: Part, level: int, tale: StepTale, status: int | None = None) -> None:
        """Make a part of the step, in halves if need be; `status`: how a first try at it has ended."""
        last = level >= self._depth or tale.held + tale.gave >= MOST_HELD
        if level > 0:
            self._lead_world(part.start, part.end)
        if status is None:
            status = self._tried(part, level, tale)
        else:
            self._enter(status, part.h, level, tale)
        if status == SHOCKED:
            status = self._tried(part._replace(kind="euler", before=0.0), level, tale)
        if not _accepted(status) and part.kind == "midpoint" and (level >= DAMPED or last):
            # so short a step of Euler loses next to nothing, and has a solution where Newton finds none
            status = self._tried(part._replace(kind="euler"), level, tale)
        if _accepted(status):
            return
        if self._may_yield(last or level >= YIELDING or tale.gave > 0, part):
            status = self._tried(part._replace(yields=True), level, tale)
            if _accepted(status):
                self._note_yielded(part, tale)
                return
        if last:
            self._stand_still(part.h, level, status, tale)
            return
        if level == 0:
            self._begin_division()
        middle = 0.5 * (part.start + part.end)
        self._go(self._part(part.start, middle, level + 1, tale), level + 1, tale)
        self._go(self._part(middle, part.end, level + 1, tale), level + 1, tale)

    def _may_yield(self, late: bool, part: Part) -> bool:
        """Whether hands may give way: it is late enough for it, something may touch, and firm rows are led on."""
        if self.system.touching is None or not late or part.kind == "fourth":
            return False
        rows = self.system.model.rows
        return bool(np.any((rows.gap != 0.0) & (rows.compliance == 0.0) & (rows.enabled == 1)))

    def _note_yielded(self, part: Part, tale: StepTale) -> None:
        """Enter by how much hands have given way in a part of the step, and which."""
        rows = self.system.model.rows
        led = rows.gap - part.end * (rows.gap - rows.gap_after)
        lag = np.where((rows.gap != 0.0) & (rows.compliance == 0.0), np.abs(rows.ahead - led), 0.0)
        tale.gave += 1
        tale.stalled = max(tale.stalled, float(lag.max()))
        tale.stalling += np.flatnonzero(lag > 0.5 * lag.max()).tolist()

    def _part(self, start: float, end: float, level: int, tale: StepTale) -> Part:
        """The part of the step between two shares of it."""
        integrator = self._asked[0]
        h = (end - start) * self._whole.h
        two_step = integrator == "bdf2" and 0.0 < h <= LARGEST_RATIO * self._before
        last = level >= self._depth or tale.held + tale.gave >= MOST_HELD
        return self._whole._replace(
            kind="euler" if integrator == "bdf2" and not two_step else integrator, h=h,
            before=self._before if two_step else 0.0, start=start, end=end, thrifty=level < THRIFTY, lenient=last,
        )  # fmt: skip

    def _tried(self, part: Part, level: int, tale: StepTale) -> int:
        """Try one part of the step, and enter what happened into the tale. Returns how it ended."""
        status = self._attempted(part)
        self._enter(status, part.h, level, tale)
        return status

    def _attempted(self, part: Part) -> int:
        """Try one part of the step. Returns how it ended."""
        if part != self.solver.prepared:
            self.solver.prepare(part)
        self.solver.prepared = part
        return self.solver.advance()

    def _enter(self, status: int, h: float, level: int, tale: StepTale) -> None:
        """Enter what was tried into the tale."""
        solver, report = self.solver, self.system.model.report
        gap, names = solver.yielding()
        if gap > 0.0:
            tale.yielded, tale.contradicting = max(tale.yielded, gap), names
        if _accepted(status):
            solver.moved = True
            tale.parts += 1
            tale.depth = max(tale.depth, level)
            tale.calmed += float(report.calmed[0])
            tale.yielded = max(tale.yielded, float(report.yielded[0]))
            if report.stalled[0] > 0.0:
                tale.stalled = max(tale.stalled, float(report.stalled[0]))
                tale.stalling += np.flatnonzero(self.system.model.rows.stalled).tolist()
            self._before = tale.last = 0.0 if report.struck[0] else h
            if level > 0:
                self._note()
        elif status != SHOCKED and tale.cause is None:
            missed = status == MISSED
            what = (int(report.cause[0]), int(report.culprit[0]), float(report.missed[0])) if missed else (0, 0, 0.0)
            tale.cause = (status, *what)
            if missed and self.system.touching is not None:
                tale.between = self.system.touching.blamed(*what[:2])

    def _stand_still(self, h: float, level: int, status: int, tale: StepTale) -> None:
        """Let time pass; raise `SolveError` if there was never a step that could be solved."""
        if not self.solver.moved and status != MISSED:
            iterations = int(self.system.model.report.iterations[0])
            raise SolveError(SolveReport("failed", iterations, float("nan"), "step", self.system.dofs, _CAUSES[status]))
        self.solver.prepared = None
        stand_still(self.system.plan(False).scene)
        self.system.find_spans()
        tale.parts, tale.held, tale.held_time = tale.parts + 1, tale.held + 1, tale.held_time + h
        tale.depth = max(tale.depth, level)
        self._before = tale.last = 0.0
        if level == 0:
            self._begin_division()

    # ----------------------------------------------------------------------------------------- steps made in parts

    def _begin_division(self) -> None:
        """Keep what leads a whole step besides its rows: points of cables and obstacles, lengths that are asked for."""
        model = self.system.model
        elements, obstacles, points = model.rigging.elements, model.rigging.obstacles, model.points
        touched = () if self.system.touching is None else self.system.touching.points()
        carriers = np.unique(np.concatenate((elements.carrier, obstacles.point, np.array(touched, np.int64))))
        carriers = carriers[(carriers >= 0) & (carriers < len(points))]
        carriers = carriers[points.kind[carriers] == WORLD]
        self._given = (
            carriers, points.anchor_last[carriers].copy(), points.anchor[carriers].copy(),
            points.anchor_frame_last[carriers].copy(), points.anchor_frame[carriers].copy(),
            model.rigging.cables.asked.copy(), [0, 0, 0],
        )  # fmt: skip

    def _give_back(self) -> None:
        """Put what leads the step back to where it was set."""
        assert self._given is not None
        carriers, _, goal, _, aim, asked, _ = self._given
        points = self.system.model.points
        points.anchor[carriers], points.anchor_frame[carriers] = goal, aim
        self.system.model.rigging.cables.asked[:] = asked

    def _lead_world(self, start: float, end: float) -> None:
        """Move the world's points that carry cables and obstacles along, and let lengths change by their share."""
        assert self._given is not None
        carriers, place, goal, frame, aim, asked, _ = self._given
        model = self.system.model
        points = model.points
        points.anchor[carriers] = place + end * (goal - place)
        points.anchor_frame[carriers] = _between(frame, aim, end)
        model.rigging.cables.asked[:] = (end - start) * asked

    def _note(self) -> None:
        """Add up what the parts of a divided step report."""
        assert self._given is not None
        report, total = self.system.model.report, self._given[-1]
        total[0] += int(report.left[0])
        total[1] |= int(report.happenings[0])
        total[2] += int(report.iterations[0])

    def _tell(self) -> None:
        """Report the whole step, not its last part."""
        assert self._given is not None
        report, (left, happenings, iterations) = self.system.model.report, self._given[-1]
        report.left[0], report.happenings[0], report.iterations[0] = left, happenings, iterations
        self.solver.prepared = None


def _accepted(status: int) -> bool:
    """Whether a try has become the state."""
    return status in (QUIET, SOLVED)


def _between(frame: FloatArray, aim: FloatArray, share: float) -> FloatArray:
    """Frames (k, 9) on the way from `frame` to `aim`, by the rotation between them."""
    if share == 1.0 or np.array_equal(frame, aim):
        return aim
    from scipy.spatial.transform import Rotation

    start = Rotation.from_matrix(frame.reshape(-1, 3, 3))
    turn = Rotation.from_matrix(aim.reshape(-1, 3, 3)) * start.inv()
    return np.asarray((Rotation.from_rotvec(share * turn.as_rotvec()) * start).as_matrix().reshape(-1, 9))
