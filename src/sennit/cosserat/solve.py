"""Which method solves which problem, from which start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sennit.cosserat.follower import solve_along_path, solve_directly, stationary_state, stopped_at
from sennit.cosserat.guess import cold_guesses, interpolated, multi_start_guesses
from sennit.cosserat.kernels.newton import CONVERGED, MOVING
from sennit.cosserat.model import Conditions
from sennit.cosserat.newton import EnergyResult, Reached, solve_energy
from sennit.cosserat.problem import Problem
from sennit.cosserat.solution import Solution
from sennit.cosserat.sweep import applies as sweeps_apply
from sennit.cosserat.sweep import solve_by_sweeps
from sennit.cosserat.taut import taut_guess
from sennit.errors import SolveReport
from sennit.geometry.rotations import quaternion_conjugate, quaternion_product, rotation_log
from sennit.validation import FloatArray

__all__ = ["MAX_ITERATIONS", "distinct_equilibria", "fixed_rotations", "solve_conditions"]

MAX_ITERATIONS = 600
"""Of a solve from the first guess to the last. Most need ten, hardly any more than thirty."""
_PATIENCE = 150  # iterations from one guess before the next is tried
_CAP_WITH_TIP_MOMENT = 40
_SAME_TURN = 1e-3  # rad: closer solutions are one


def solve_conditions(
    conditions: Conditions, start: Solution | None = None, cap: int = MAX_ITERATIONS
) -> tuple[Solution, SolveReport]:
    """Two sweeps if everything follows the strand, the energy method if there is an energy, else the general method."""
    problem = conditions.problem
    if problem.all_follow and sweeps_apply(conditions):
        return solve_by_sweeps(conditions)
    follows = bool(conditions.tip_follows and conditions.tip_force.any())
    if problem.dead_forces_only and not follows:
        if not conditions.tip.has_moment:
            return solve_by_energy(conditions, start, cap)
        # a moment on the tip has no potential: descent finds most equilibria, but may turn for ever
        solution, report = solve_by_energy(conditions, start, min(cap, _CAP_WITH_TIP_MOMENT))
        if report.converged or report.iterations >= cap:
            return solution, report
    solution, report = _solve_without_potential(conditions, start, cap)
    if report.converged:
        report = replace(report, message=_coarse_mesh(solution))
    return solution, report


def _solve_without_potential(conditions: Conditions, start: Solution | None, cap: int) -> tuple[Solution, SolveReport]:
    """The general method from a nearby state; if that fails, from the equilibrium under fewer loads."""
    used = 0
    if start is not None:
        solution, report = solve_directly(conditions, start, cap)
        used = report.iterations
        if report.converged or used >= cap:
            return solution, report
    alone = len(conditions.held) == 1
    resting, report = solve_by_energy(conditions.dead_part(keep=not alone), None, cap - used)
    used += report.iterations
    if not report.converged or used >= cap:
        return stopped_at(conditions, resting, used, cap)
    return solve_along_path(conditions, resting, everything=alone, used=used, cap=cap)


def fixed_rotations(conditions: Conditions, q: FloatArray) -> None:
    """Write the given rotations into q."""
    stride = conditions.problem.stride
    for hold, item in zip(conditions.problem.holds, conditions.held, strict=True):
        if item.quaternion is not None:
            q[hold.end * stride] = item.quaternion


def start_forces(conditions: Conditions) -> FloatArray:
    """Segment forces (segments, 3) to start from: zero where they are sought, the tip's load on a free tip."""
    problem = conditions.problem
    lam = np.zeros((problem.segments, 3))
    if problem.holds[-1].end != problem.elements:
        lam[-1] = conditions.tip_force
    return lam


def solve_by_energy(
    conditions: Conditions, start: Solution | None = None, cap: int = MAX_ITERATIONS
) -> tuple[Solution, SolveReport]:
    """The energy method: from `start` if there is one, otherwise from cold guesses until one leads somewhere.

    What fails from `start` begins anew, unless the caller has set a cap, which belongs to a loop that will call again.
    """
    used = 0
    best: tuple[Solution, EnergyResult] | None = None
    if start is not None:
        solution, result = _warm(conditions, start, min(cap, _PATIENCE) if cap == MAX_ITERATIONS else cap)
        if result.status == CONVERGED or cap < MAX_ITERATIONS:
            return solution, _report(solution, result)
        best, used = (solution, result), result.iterations
    for q, lam in _cold_starts(conditions):
        result = solve_energy(conditions, q, lam, cap=min(cap - used, _PATIENCE))
        used += result.iterations
        solution = Solution(conditions, q, lam, settled=result.status == CONVERGED)
        if best is None or result.residual < best[1].residual or result.status == CONVERGED:
            best = solution, result
        if result.status == CONVERGED or used >= cap:
            break
    assert best is not None
    return best[0], _report(best[0], best[1]._replace(iterations=used))


def _cold_starts(conditions: Conditions) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Rotations and forces to begin with, one pair after the other."""
    for number, q in enumerate(cold_guesses(conditions)):
        fixed_rotations(conditions, q)
        lam = start_forces(conditions)
        if number == 0:
            pulled, forces = q.copy(), lam.copy()
            if taut_guess(conditions, pulled, forces):
                yield pulled, forces
        yield q, lam


def _warm(conditions: Conditions, start: Solution, cap: int) -> tuple[Solution, EnergyResult]:
    """Newton from a nearby solution, and from the way that the last ones took."""
    problem, old = conditions.problem, start.conditions.problem
    q = np.empty((len(problem.s), 4))
    lam = start_forces(conditions)
    fixed_rotations(conditions, q)
    own = old is problem and not start.has_own_forces
    if own:
        history = start.history if start.settled else start.history[:1]
    else:
        rotations = start.q if old is problem else interpolated(old.s, start.q, problem.s)
        history = (Reached(rotations, _forces_of(start, problem), conditions.target),)
    result = solve_energy(conditions, q, lam, history=history, settled=start.settled, cap=cap)
    settled = result.status == CONVERGED
    return Solution(conditions, q, lam, previous=history[:2] if own and settled else (), settled=settled), result


def _forces_of(start: Solution, problem: Problem) -> FloatArray:
    """Segment forces for another division into segments, or another strand: the force at the segments' ends."""
    lam = np.zeros((problem.segments, 3))
    old = start.conditions.problem.law
    forces, s = start.fields().forces * (old.force_unit / problem.law.force_unit), start.conditions.problem.s
    last = np.append(np.flatnonzero(np.diff(problem.plan.segment)), problem.elements - 1)
    for k, element in enumerate(last):
        if problem.plan.held[k]:
            at = problem.ends[element + 1]
            lam[k] = [np.interp(at, s, forces[:, c]) for c in range(3)]
    return lam


def _report(solution: Solution, result: EnergyResult) -> SolveReport:
    nodes = len(solution.q)
    if result.status == CONVERGED:
        message = _coarse_mesh(solution) if result.coarse > 1.0 else ""
        return SolveReport("converged", result.iterations, result.residual, "energy", nodes, message)
    if result.status == MOVING:
        message = (
            f"still moving after {result.iterations} iterations (residual {result.residual:.1e}): "
            f"go on with guess=state, or raise max_iterations"
        )
        return SolveReport("moving", result.iterations, result.residual, "energy", nodes, message)
    message = (
        f"no equilibrium found in {result.iterations} iterations (residual {result.residual:.1e}). A strand that is "
        f"pulled nearly straight needs more nodes near its ends, nodes='auto' or extensible=True; otherwise approach "
        f"the conditions in steps, with guess="
    )
    return SolveReport("failed", result.iterations, result.residual, "energy", nodes, message)


def _coarse_mesh(solution: Solution) -> str:
    """What to say of a mesh in which an element is longer than the bend at its end."""
    coarse, element = solution.bend_resolution()
    if coarse <= 1.0:
        return ""
    problem = solution.conditions.problem
    h = float(problem.h[element]) * problem.law.length
    s = float(problem.ends[element] + problem.ends[element + 1]) / 2.0 * problem.law.length
    return (
        f"the mesh is too coarse for the bend at s = {s:.4g} m: it is √(EI/force) = {h / coarse:.2g} m long, the "
        f"element there {h:.2g} m, {coarse:.1f} times as much; give more nodes, or nodes='auto'"
    )


def distinct_equilibria(conditions: Conditions) -> list[tuple[Solution, SolveReport]]:
    """All different equilibria that the multi-start leads to: minima by the safe iteration, others by plain Newton."""
    found: list[tuple[Solution, SolveReport]] = []
    for q in multi_start_guesses(conditions):
        fixed_rotations(conditions, q)
        lam = start_forces(conditions)
        candidates = [stationary_state(conditions, Solution(conditions, q.copy(), lam.copy()))]
        result = solve_energy(conditions, q, lam)
        if result.status == CONVERGED:
            solution = Solution(conditions, q, lam)
            candidates.insert(0, (solution, _report(solution, result)))
        for candidate in candidates:
            if candidate is not None and not any(_same(candidate[0].q, known.q) for known, _ in found):
                found.append(candidate)
    return found


def _same(q: FloatArray, other: FloatArray) -> bool:
    turns = rotation_log(quaternion_product(quaternion_conjugate(q), other))
    return float(np.max(np.abs(turns))) < _SAME_TURN
