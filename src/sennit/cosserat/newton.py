"""Calls the compiled Newton iteration with a workspace of the calling thread's own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sennit.cosserat.kernels.chain import gather_residual
from sennit.cosserat.kernels.element import VARIED_COUPLED
from sennit.cosserat.kernels.newton import NEUTRAL, solve_strand
from sennit.cosserat.kernels.system import assemble, coarsest_bend, evaluate, factor
from sennit.cosserat.law.laws import LawData
from sennit.cosserat.model import TIP_SPRINGS, Conditions, TipLoad
from sennit.cosserat.problem import Problem
from sennit.cosserat.tables import (
    Asked,
    ElementData,
    Elements,
    EnergySpace,
    Equilibrium,
    Factors,
    NewtonWork,
    Residual,
    SoftMode,
    Step,
    TipTerms,
    Unknowns,
)
from sennit.validation import FloatArray

__all__ = [
    "TOLERANCE",
    "EnergyResult",
    "Reached",
    "Workspace",
    "applied_moments",
    "bend_resolution",
    "solve_energy",
    "unstable_modes",
]

TOLERANCE = 1e-9
"""Largest unbalanced moment (in B/L) and position error (in L) of an equilibrium."""


class Reached(NamedTuple):
    """An equilibrium that was found."""

    q: FloatArray
    """Rotations (nodes, 4)."""
    lam: FloatArray
    """Segment forces (segments, 3)."""
    target: FloatArray
    """What the segments were asked to span, and do (segments, 3)."""


_BEFORE = ((1, 2, 3), (2, 3, 0), (3, 0, 1), (0, 1, 2))
"""Where in a ring of four the newest, older and oldest equilibrium stand, for each place of the state."""


class Workspace:
    """All tables that the kernels write, for one size of problem: about 170 numbers per node.

    Laws of problems that are loaded must be as large as `law`: of other strands that couple strains and vary.
    """

    def __init__(self, elements: int, stride: int, segments: int, law: LawData) -> None:
        sizes = {"nodes": elements * stride + 1, "segments": segments}
        self.P = Elements(elements)
        self.law = law.table(slots=3 * elements)
        self.asked = Asked(segments=segments, tip=TipTerms(one=1, springs=TIP_SPRINGS))
        self.state = Unknowns(**sizes)
        self.work = NewtonWork(
            residual=Residual(**sizes),
            step=Step(**sizes),
            correction=Step(**sizes),
            trial=Unknowns(**sizes),
            kept=Unknowns(**sizes),
            factors=Factors(one=1, ends=elements + 1, segments=segments),
            soft=SoftMode(mode=Step(**sizes), response=Step(**sizes), load=Residual(**sizes)),
        )
        # The last equilibria, and room for another, which goes round.
        ring = self._ring = [Equilibrium(**sizes) for _ in range(4)]
        self._holding: list[FloatArray | None] = [None] * 4
        self._now = 0
        self._spaces = [
            EnergySpace(
                law=self.law, asked=self.asked, work=self.work,
                state=ring[now], newest=ring[a], older=ring[b], oldest=ring[c],
            )
            for now, (a, b, c) in enumerate(_BEFORE)
        ]  # fmt: skip
        self._loaded: Problem | None = None
        self._tip: TipLoad | None = None
        self._compliance = 0.0

    def set_forces(self, load_n: FloatArray) -> None:
        """Replace the known forces at the slots (elements, 3, 3); the next `load` restores the problem's."""
        for slot, name in enumerate("0m1"):
            self.P.put(f"load_n{name}", load_n[:, slot])
        self._loaded = None

    def forget(self) -> None:
        """Let a cold solve depend on nothing that was solved before."""
        self.law.stretch[:] = 0.0

    def load(self, problem: Problem) -> None:
        """Copy in what the elements are given, and the law, unless they are there."""
        if self._loaded is not problem:
            for name in ElementData._fields:
                getattr(self.P, name)[...] = getattr(problem.data, name)
            problem.law.write(self.law, None if problem.varied is None else problem.varied.matrices)
            if problem.varied is not None:
                for slot, name in enumerate("0m1"):
                    self.P.put(f"stiff{name}", problem.varied.K[:, slot])
                    self.P.put(f"give{name}", problem.varied.C[:, slot])
            self.forget()
            self._loaded = problem

    def remember(self, history: Sequence[Reached]) -> EnergySpace:
        """Room for another state, with the last equilibria beside it; a missing one repeats the one before it.

        Those that were solved for here last stand there already, and need not be copied.
        """
        if history:
            reached = history[0]
            for k, at in enumerate(_BEFORE[self._now]):
                if k < len(history):
                    reached = history[k]
                if self._holding[at] is not reached.q:
                    into = self._ring[at]
                    into.q[...], into.lam[...], into.target[...] = reached
                    self._holding[at] = reached.q
        return self._spaces[self._now]

    def solved(self, q: FloatArray) -> None:
        """The state that was solved for is in the solution's array q too, by which it will be known."""
        self._holding[self._now] = q
        self._now = self._now - 1 if self._now else 3

    def ask(self, conditions: Conditions) -> None:
        """Copy in what may change from solve to solve."""
        self.asked.target[...] = conditions.target
        if self._compliance != conditions.spring_compliance:
            self.asked.compliance[-1] = self._compliance = conditions.spring_compliance
        if self._tip is not conditions.tip:
            self._tip = conditions.tip
            conditions.tip.write(self.asked.tip)


_local = threading.local()


def workspace_for(problem: Problem) -> Workspace:
    """This thread's workspace for problems of this size."""
    spaces: dict[tuple[int, int, int, bool], Workspace] = _local.__dict__.setdefault("spaces", {})
    key = (problem.elements, problem.stride, problem.segments, problem.law.address == VARIED_COUPLED)
    space = spaces.get(key)
    if space is None:
        if len(spaces) > 8:
            spaces.clear()
        space = spaces[key] = Workspace(*key[:3], problem.law)
    return space


class EnergyResult(NamedTuple):
    """How `solve_energy` ended; the state is in the arrays that it was given."""

    status: int
    iterations: int
    residual: float
    coarse: float
    """How many times longer than the bend at its end the coarsest element is that a hold or a load bends; 0: none."""


def solve_energy(
    conditions: Conditions,
    q: FloatArray,
    lam: FloatArray,
    *,
    history: Sequence[Reached] = (),
    settled: bool = True,
    cap: int = 500,
) -> EnergyResult:
    """Find an equilibrium from the guess (q, lam), in place.

    `q` (nodes, 4) holds the given rotations already, `lam` (segments, 3) the given force on a free tip. With `history`,
    one to three nearby equilibria, newest first, the rest of (q, lam) does not matter: the guess is extrapolated from
    them. If the newest is not `settled`, a state on its way, the safe iteration goes on from it at once. What was found
    here is remembered by its array `q`, which must not change while it may be part of a history.
    """
    problem = conditions.problem
    space = workspace_for(problem)
    space.load(problem)
    space.ask(conditions)
    known = len(history)
    tables = space.remember(history)
    state = tables.state
    state.lam[...] = lam
    if known == 0:
        space.forget()
        state.q[...] = q
    else:
        for node in problem.turned:
            state.q[node] = q[node]
    ended = solve_strand(space.P, problem.plan, tables, known, settled, TOLERANCE, cap)
    q[...], lam[...] = state.q, state.lam
    space.solved(q)
    return EnergyResult(*ended)


def _evaluated(conditions: Conditions, q: FloatArray, lam: FloatArray, load_n: FloatArray | None) -> Workspace:
    """Evaluate the elements in the state (q, lam); returns the workspace."""
    problem = conditions.problem
    space = workspace_for(problem)
    space.load(problem)
    space.ask(conditions)
    if load_n is not None:
        space.set_forces(load_n)
    space.state.q[...], space.state.lam[...] = q, lam
    evaluate(space.P, problem.plan, space.law, space.asked, space.state, space.work.residual)
    return space


def unstable_modes(conditions: Conditions, q: FloatArray, lam: FloatArray, load_n: FloatArray | None = None) -> int:
    """Number of ways in which the equilibrium (q, lam) is unstable: 0 if it is a minimum of the energy, or neutral.

    `load_n` replaces the problem's known forces, where another method has found them.
    """
    plan = conditions.problem.plan
    space = _evaluated(conditions, q, lam, load_n)
    assemble(space.P, plan, space.law)
    negative = factor(space.P, plan, space.asked, space.state, max(plan.floor[0], NEUTRAL), space.work.factors)
    return int(negative) - 3 * int(plan.held.sum())


def bend_resolution(
    conditions: Conditions, q: FloatArray, lam: FloatArray, load_n: FloatArray | None = None
) -> tuple[float, int]:
    """How many times longer than the bend at its end the coarsest element is, see `EnergyResult`, and which."""
    space = _evaluated(conditions, q, lam, load_n)
    coarse, element = coarsest_bend(space.P, conditions.problem.plan, space.state)
    return float(coarse), int(element)


def applied_moments(
    conditions: Conditions, q: FloatArray, lam: FloatArray, load_n: FloatArray | None = None
) -> FloatArray:
    """Moments (nodes, 3), body frame, that the outside must apply at the nodes to keep the state (q, lam).

    They vanish at free nodes of an equilibrium, but for the torques that act there. `load_n` replaces the problem's
    known forces (where followers have changed them).
    """
    space = _evaluated(conditions, q, lam, load_n)
    residual = space.work.residual
    gather_residual(space.P, conditions.problem.plan, space.asked, space.state, residual)
    return np.array(residual.moment)
