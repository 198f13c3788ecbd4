"""Calls the compiled Newton iteration with a workspace of the calling thread's own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sennit.cosserat.kernels.chain import END_WIDTH, SEGMENT_WIDTH, gather_residual
from sennit.cosserat.kernels.element import BLOCK, CONSTANTS, LANES, QUAT0, QUAT1, QUATM, WIDTH
from sennit.cosserat.kernels.newton import TIP_WIDTH, assemble, evaluate, factor, solve_strand
from sennit.cosserat.model import Conditions
from sennit.cosserat.problem import Problem, pack
from sennit.validation import FloatArray

__all__ = ["TOLERANCE", "EnergyResult", "applied_moments", "no_tip_load", "solve_energy", "unstable_modes"]

Equilibrium = tuple[FloatArray, FloatArray, FloatArray]
"""Rotations (nodes, 4), segment forces (segments, 3), and the target (segments, 3) that they reach."""

TOLERANCE = 1e-9
"""Largest unbalanced moment (in B/L) and position error (in L) of an equilibrium."""


class Workspace:
    """All arrays that the kernels write, for one size of problem: about 140 numbers per node."""

    def __init__(self, elements: int, stride: int, segments: int) -> None:
        nodes = elements * stride + 1
        blocks = -(-elements // LANES)
        self.P = np.zeros(blocks * BLOCK)
        by_component = self.P.reshape(blocks, WIDTH, LANES)
        for quaternion in (QUAT0, QUATM, QUAT1):  # unused lanes of the last block stay finite
            by_component[:, int(quaternion) // LANES] = 1.0
        self._constants = by_component[:, :CONSTANTS]
        self._loaded: Problem | None = None
        self.arrays = (
            np.zeros((elements + 1, END_WIDTH)),
            np.zeros((segments, SEGMENT_WIDTH)),
            np.zeros((nodes, 3)),
            np.zeros((segments, 3)),
            np.zeros((nodes, 3)),
            np.zeros((segments, 3)),
            np.zeros((nodes, 3)),
            np.zeros((segments, 3)),
            np.zeros((nodes, 4)),
            np.zeros((segments, 3)),
        )
        self.info = np.zeros(3)
        self.law = (np.zeros(6), np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6)), np.zeros((3 * elements, 3)))

    def set_forces(self, load_n: FloatArray) -> None:
        """Replace the known forces at the slots (elements, 3, 3); the next `load` restores the problem's."""
        self._constants[:, 19:28] = pack(load_n.reshape(-1, 9))
        self._loaded = None

    def forget(self) -> None:
        """Let a cold solve depend on nothing that was solved before."""
        self.law[4][:] = 0.0

    def load(self, problem: Problem) -> tuple[Any, ...]:
        """Copy the problem's constants in, unless they are there; returns the law as the kernels take it."""
        law = problem.law
        if self._loaded is not problem:
            self._constants[:] = problem.constants
            self.law[3][:] = law.stiffness
            self.law[4][:] = 0.0
            self._loaded = problem
        return law.K, law.C, law.address, law.scales, self.law


_local = threading.local()


def workspace_for(problem: Problem) -> Workspace:
    """This thread's workspace for problems of this size."""
    spaces: dict[tuple[int, int, int], Workspace] = _local.__dict__.setdefault("spaces", {})
    key = (problem.elements, problem.stride, len(problem.held))
    space = spaces.get(key)
    if space is None:
        if len(spaces) > 8:
            spaces.clear()
        space = spaces[key] = Workspace(*key)
    return space


class EnergyResult(NamedTuple):
    """How `solve_energy` ended; the state is in the arrays that it was given."""

    status: int
    iterations: int
    residual: float


def no_tip_load() -> FloatArray:
    """A tip row (see ``newton.kernels``) that does nothing."""
    return np.zeros(TIP_WIDTH)


def solve_energy(
    conditions: Conditions,
    q: FloatArray,
    lam: FloatArray,
    *,
    history: Sequence[Equilibrium] = (),
    settled: bool = True,
    cap: int = 500,
) -> EnergyResult:
    """Find an equilibrium from the guess (q, lam), in place.

    `q` (nodes, 4) holds the given rotations already, `lam` (segments, 3) the given force on a free tip. With `history`,
    one to three nearby equilibria, newest first, the rest of (q, lam) does not matter: the guess is extrapolated from
    them. If the newest is not `settled`, a state on its way, the safe iteration goes on from it at once.
    """
    problem, target = conditions.problem, conditions.target
    space = workspace_for(problem)
    law = space.load(problem)
    count = len(history)
    if count == 0:
        space.forget()
    one = history[0] if count > 0 else (q, lam, target)
    two = history[1] if count > 1 else one
    three = history[2] if count > 2 else two
    mesh = (problem.elements, problem.stride, problem.order)
    solve_strand(
        space.P, mesh, problem.segment, problem.held, target, conditions.compliance, problem.fixed, conditions.tip,
        law, q, lam, one, two, three, count, settled, space.arrays, TOLERANCE, cap, problem.floor, space.info,
    )  # fmt: skip
    return EnergyResult(int(space.info[0]), int(space.info[1]), float(space.info[2]))


def _evaluated(
    conditions: Conditions, q: FloatArray, lam: FloatArray, load_n: FloatArray | None
) -> tuple[Workspace, tuple[int, int, int], Any]:
    """Evaluate the elements in the state (q, lam); returns the workspace, the mesh and the law."""
    problem = conditions.problem
    space = workspace_for(problem)
    law = space.load(problem)
    if load_n is not None:
        space.set_forces(load_n)
    mesh = (problem.elements, problem.stride, problem.order)
    evaluate(
        space.P, mesh, problem.segment, problem.held, conditions.target, conditions.compliance, problem.fixed, q, lam,
        conditions.tip, law, space.arrays[2], space.arrays[3],
    )  # fmt: skip
    return space, mesh, law


def unstable_modes(conditions: Conditions, q: FloatArray, lam: FloatArray) -> int:
    """Number of ways in which the equilibrium (q, lam) is unstable: 0 if it is a minimum of the energy."""
    problem = conditions.problem
    space, mesh, law = _evaluated(conditions, q, lam, None)
    assemble(space.P, mesh, law)
    negative = factor(
        space.P, mesh, problem.segment, problem.held, conditions.compliance, problem.fixed, q, conditions.tip,
        problem.floor,
        space.arrays[0], space.arrays[1],
    )  # fmt: skip
    return int(negative) - 3 * int(problem.held.sum())


def applied_moments(
    conditions: Conditions, q: FloatArray, lam: FloatArray, load_n: FloatArray | None = None
) -> FloatArray:
    """Moments (nodes, 3), body frame, that the outside must apply at the nodes to keep the state (q, lam).

    They vanish at free nodes of an equilibrium, but for the torques that act there. `load_n` replaces the problem's
    known forces (where followers have changed them).
    """
    problem = conditions.problem
    space, mesh, _ = _evaluated(conditions, q, lam, load_n)
    G, gap = space.arrays[2], space.arrays[3]
    gather_residual(
        space.P, mesh[0], mesh[1], problem.segment, problem.held, conditions.target, conditions.compliance, lam, G, gap
    )
    return G.copy()
