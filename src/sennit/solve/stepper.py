"""Time steps of a `System`: what runs between two states of a scene.

A step is solved, judged, and accepted. One that cannot be accepted is undone and made in two halves, each of which may
be divided again; targets are led along. At the last level the scene stands still for that part of the time. What
happened on the way is told in a `StepTale`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sennit.bodies.kernels.points import WORLD
from sennit.constraints.cable.kernels.kinds import IMPLICIT, MEAN, SPOOK
from sennit.errors import InputError, SolveError, SolveReport
from sennit.solve import schemes
from sennit.solve.kernels.accept import stand_still
from sennit.solve.kernels.codes import (
    ACCEPT,
    CROSSED,
    JUDGE,
    LOOK_AT_ROWS,
    MISSED,
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
from sennit.solve.redundancy import GIVE, redundant_rows_disagree, soften_redundant_rows
from sennit.solve.system import System
from sennit.tables import STATE
from sennit.validation import FloatArray

__all__ = ["StepTale", "Stepper"]

DEPTH = 10
"""How often a step may be halved."""
THRIFTY = 4
"""Level from which a step that gains energy is accepted, and calmed."""
DAMPED = 5
"""Level from which a step of "midpoint" for which Newton finds no solution is made by Euler."""
MOST_HELD = 8
"""Parts of one step for which the scene stands still, before it does for the rest of it."""
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
    cause: tuple[int, int, int, float] | None = None
    """Why it was divided: status of the solve, what it missed, number of who did, and by how much."""
    calmed: float = 0.0
    """Kinetic energy that was taken away, J."""
    yielded: float = 0.0
    """Largest gap that rows were left with that contradict each other, m or rad."""
    contradicting: list[str] = field(default_factory=list)
    """Names of these, where they are known."""
    last: float = 0.0
    """Length of the last part, s; 0 if velocities after it are not to be extrapolated."""


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
        self.depth = DEPTH
        """How often a step may be halved."""
        self.moved = False
        """Whether a step was accepted already: rows that contradict each other then are not an error in the input."""
        self._against: list[str] = []
        """Names of the constraints that contradicted each other last."""
        self._whole: tuple[Any, ...] = ()
        self._before = 0.0
        self._given: tuple[Any, ...] | None = None

    def step(self, integrator: str, h: float, before: float, drag: float, gravity: FloatArray) -> StepTale:
        """One step of `h` (s) after one of `before` (s; 0: none).

        Raises `SolveError`, or `InputError` for rows that contradict each other, if nothing was ever accepted; the
        state is as it was then.
        """
        tale = StepTale()
        self._whole, self._before, self._given = (integrator, h, drag, *gravity.tolist()), before, None
        if self.moved:
            self._go(0.0, 1.0, 0, tale)
        else:
            self._go_first(tale)
        if tale.parts > 1:
            self._tell()
        return tale

    def _go_first(self, tale: StepTale) -> None:
        """A step that may raise: nothing is changed then."""
        kept = {name: array.copy() for name, array in self.system.account().items()}
        try:
            self._go(0.0, 1.0, 0, tale)
        except (InputError, SolveError):
            self.system.set_account(kept)
            if self._given is not None:
                self._give_back()
            raise

    def _go(self, start: float, end: float, level: int, tale: StepTale) -> None:
        """Make the part of the step between two shares of it."""
        integrator, whole = self._whole[:2]
        h = whole if level == 0 else (end - start) * whole
        last = level >= self.depth or tale.held >= MOST_HELD
        before = self._before if h <= LARGEST_RATIO * self._before else 0.0
        kind = "euler" if integrator == "bdf2" and before == 0.0 else integrator
        if level > 0:
            self._lead_world(start, end)
        status = self._attempt((kind, h, before if kind == "bdf2" else 0.0, start, end), level, last, tale)
        if status != SOLVED and kind == "midpoint" and (level >= DAMPED or last):
            # so short a step of Euler loses next to nothing, and has a solution where Newton finds none
            status = self._attempt(("euler", h, 0.0, start, end), level, last, tale)
        if status == SOLVED:
            return
        if last:
            self._stand_still(h, level, status, tale)
            return
        if level == 0:
            self._begin_division()
        middle = 0.5 * (start + end)
        self._go(start, middle, level + 1, tale)
        self._go(middle, end, level + 1, tale)

    def _attempt(self, made: tuple[Any, ...], level: int, last: bool, tale: StepTale) -> int:
        """Try one step: kind, time, time before, shares. Returns SOLVED if it was accepted, or why not."""
        wanted = (*made, int(level < THRIFTY), int(last and level > 0), *self._whole[1:])
        if wanted != self._prepared:
            self._prepare(wanted)
        report = self.system.model.report
        status = self.advance(tale)
        if status == SOLVED:
            self.moved = True
            tale.parts += 1
            tale.depth = max(tale.depth, level)
            tale.calmed += float(report.calmed[0])
            tale.yielded = max(tale.yielded, float(report.yielded[0]))
            if self.softened:
                self._note_yielding(tale)
            self._before = tale.last = 0.0 if report.struck[0] else made[1]
            if level > 0:
                self._note()
        elif tale.cause is None:
            missed = status == MISSED
            what = (int(report.cause[0]), int(report.culprit[0]), float(report.missed[0])) if missed else (0, 0, 0.0)
            tale.cause = (status, *what)
        return status

    def _stand_still(self, h: float, level: int, status: int, tale: StepTale) -> None:
        """Let time pass; raise `SolveError` if there was never a step that could be solved."""
        if not self.moved and status != MISSED:
            iterations = int(self.system.model.report.iterations[0])
            raise SolveError(SolveReport("failed", iterations, float("nan"), "step", self.system.dofs, _CAUSES[status]))
        self._prepared = ()
        stand_still(self.system.plan(False).scene)
        self.system.find_spans()
        tale.parts, tale.held, tale.held_time = tale.parts + 1, tale.held + 1, tale.held_time + h
        tale.depth = max(tale.depth, level)
        self._before = tale.last = 0.0
        if level == 0:
            self._begin_division()

    # ----------------------------------------------------------------------------------------- steps made in parts

    def _begin_division(self) -> None:
        """Keep what a whole step is led by besides its rows: world points of cables, and lengths that are asked for."""
        model = self.system.model
        elements, obstacles, points = model.rigging.elements, model.rigging.obstacles, model.points
        carriers = np.unique(np.concatenate((elements.carrier, obstacles.point)))
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
        """Move the world's points that carry cables along, and let lengths change by their share."""
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

    def _note_yielding(self, tale: StepTale) -> None:
        """Tell which rows give way to others, and by how much."""
        rows = self.system.model.rows
        giving = np.flatnonzero(rows.spare_share >= GIVE)
        if len(giving):
            names = [self.system.layout.constraints[int(owner)].name for owner in rows.owner[giving]]
            tale.contradicting = [*names, *self._against]
            tale.yielded = max(tale.yielded, float(np.max(np.abs(rows.value[giving] + rows.ahead[giving]))))

    def _tell(self) -> None:
        """Report the whole step, not its last part."""
        assert self._given is not None
        report, (left, happenings, iterations) = self.system.model.report, self._given[-1]
        report.left[0], report.happenings[0], report.iterations[0] = left, happenings, iterations
        self._prepared = ()

    # ------------------------------------------------------------------------------------------------- one solve

    def _prepare(self, wanted: tuple[Any, ...]) -> None:
        """Set the numbers and settings of a step, which stay until another kind of step is asked for."""
        kind, h, before, start, end, thrifty, lenient, whole, drag, gx, gy, gz = wanted
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
        step.share_before[0], step.share_after[0], step.total[0] = start, end, whole
        settings.turns[0], settings.path[0] = (16, 3) if kind == "midpoint" else (1, 1)
        settings.exact[0] = settings.push[0] = settings.strict[0] = 1
        settings.static[0], settings.thrifty[0], settings.lenient[0] = 0, thrifty, lenient
        settings.cables[0] = {"euler": SPOOK, "bdf2": IMPLICIT, "midpoint": MEAN}[kind]
        self._prepared = wanted

    def forget(self) -> None:
        """Set the numbers of a solve to 0, for one of another kind."""
        self._prepared = ()
        for numbers in self.system.model.step.fields().values():
            numbers[:] = 0.0

    def advance(self, tale: StepTale) -> int:
        """From one state to the next, as the system's numbers are set: all that needs Python on the way.

        A slider that enters another span asks for a new plan of the matrix; rows that depend on others are looked into
        before the solve is accepted. Returns SOLVED, or why it was not accepted, with the state as it was.

        Raises `InputError` for rows that contradict each other in a first step.
        """
        s = self.system
        self.keep()
        rest = JUDGE + ACCEPT
        parts = PREDICT + SOLVE if self.softened else PREDICT + SOLVE + rest
        looked = False
        while True:
            status = int(march(parts, s.plan(False).scene))
            if status == CROSSED:
                s.forget_plans()
                parts &= ~PREDICT
            elif status == LOOK_AT_ROWS or (status == SOLVED and not parts & ACCEPT and not looked):
                looked = True
                parts = PREDICT + SOLVE if self.look_into_rows(s.plan(False), PREDICT + SOLVE, tale) else rest
            elif status == SOLVED and not parts & ACCEPT:
                parts = rest
            else:
                break
        if status != SOLVED:
            self.undo()
        return status

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

    def look_into_rows(self, plan: MatrixPlan, parts: int, tale: StepTale) -> bool:
        """Where rows depend on others: soften them if they agree; if not, let them yield, or in a first step raise
        `InputError`, with nothing changed.

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
            self.redundant, names, gap = soften_redundant_rows(s, plan, yielding=self.moved)
        except (InputError, SolveError):
            self.undo()
            raise
        if names:
            self._against, tale.yielded = names, max(tale.yielded, gap)
        return True


def _between(frame: FloatArray, aim: FloatArray, share: float) -> FloatArray:
    """Frames (k, 9) on the way from `frame` to `aim`, by the rotation between them."""
    if share == 1.0 or np.array_equal(frame, aim):
        return aim
    from scipy.spatial.transform import Rotation

    start = Rotation.from_matrix(frame.reshape(-1, 3, 3))
    turn = Rotation.from_matrix(aim.reshape(-1, 3, 3)) * start.inv()
    return np.asarray((Rotation.from_rotvec(share * turn.as_rotvec()) * start).as_matrix().reshape(-1, 9))
