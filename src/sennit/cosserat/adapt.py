"""Meshes that place nodes where the strand bends fast, as many as the wanted accuracy asks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sennit.cosserat.mesh import equidistributed_ends, nodes_of
from sennit.cosserat.model import Conditions, LineLoads, StrandModel
from sennit.cosserat.solution import Solution
from sennit.cosserat.solve import solve_conditions
from sennit.errors import SolveReport
from sennit.validation import FloatArray

__all__ = ["solve_adaptively"]

_PASSES = 2
_PATIENCE = 60  # iterations on a mesh that may be halved instead
_MAX_NODES = 10_001


def solve_adaptively(
    model: StrandModel,
    conditions: Conditions,
    line: LineLoads,
    start: Solution | None,
    cap: int,
    tolerance: float,
    gathered: bool = False,
) -> tuple[Solution, SolveReport]:
    """Solve, spread the nodes by the error's density, halve all elements, compare; repeat until the error is small.

    The error of the finer solution is estimated as a quarter of the largest distance to the coarser one. Order 4 would
    say a fifteenth, but where loads and holds make the curvature jump the mesh is not yet that regular. A mesh that is
    too coarse to have an equilibrium at all, or to be solved in a few dozen iterations, is halved as well. `gathered`:
    the nodes stand where a strand pulled nearly straight needs them already; differences of its curvature would not
    tell, and the mesh is halved only.
    """
    breaks = model.breaks([*(item.s for item in conditions.held), *(p.s / model.length for p in line.points)])
    near = start
    ends = conditions.problem.ends
    if start is not None and not gathered and np.isin(breaks, start.conditions.problem.ends[::2]).all():
        ends = start.conditions.problem.ends[::2]  # the coarser one of the two meshes that were compared
    used = 0
    while True:
        # at this number of elements, the mesh follows the solution
        passes = 0
        while passes <= _PASSES:
            finest = 4 * len(ends) >= _MAX_NODES
            patience = cap - used if finest else min(cap - used, _PATIENCE)
            coarse, report = _solve_on(model, conditions, line, ends, near, patience)
            used += report.iterations
            if not report.converged and used < cap and near is not None:
                near = None  # the same mesh from the first guesses
                continue
            if not report.converged and used < cap and not finest:
                ends = nodes_of(ends, 2)
                continue
            if not report.converged:
                return coarse, replace(report, iterations=used)
            if used >= cap:
                return coarse, _interrupted(report, used)
            near = coarse
            passes += 1
            if gathered:
                break
            curvature = coarse.slots().logs.sum(axis=1) / coarse.conditions.problem.h[:, None]
            ends = equidistributed_ends(
                coarse.conditions.problem.elements, breaks, coarse.conditions.problem.ends, curvature
            )
        finer = nodes_of(coarse.conditions.problem.ends, 2)
        solution, report = _solve_on(model, conditions, line, finer, coarse, min(cap - used, _PATIENCE))
        used += report.iterations
        if not report.converged and used < cap:
            solution, report = _solve_on(model, conditions, line, finer, None, cap - used)
            used += report.iterations
        if not report.converged:
            return solution, replace(report, iterations=used)
        if used >= cap:
            return solution, _interrupted(report, used)
        estimate = _distance(coarse, solution) / 4.0
        if estimate <= tolerance or 2 * len(finer) - 1 > _MAX_NODES:
            break
        near, ends = solution, finer
    # bends that are too short for this mesh are shorter than the tolerance
    report = replace(report, iterations=used, error_estimate=float(estimate), message="")
    if estimate > tolerance:
        message = (
            f"{report.nodes} nodes give an error of {estimate:.1e} of the length, not tolerance={tolerance:g}: loosen "
            f"the tolerance, or smooth the loads and the rest shape"
        )
        report = replace(report, status="failed", message=message)
    return solution, report


def _solve_on(
    model: StrandModel, conditions: Conditions, line: LineLoads, ends: FloatArray, near: Solution | None, cap: int
) -> tuple[Solution, SolveReport]:
    """Solve the same conditions on other elements."""
    finer = model.with_nodes((len(ends) - 1) * model.stride + 1)
    problem = finer.problem(line, ends, conditions.held, conditions.problem.springy_tip)
    posed = Conditions(
        problem,
        conditions.held,
        conditions.target,
        conditions.tip,
        conditions.tip_force,
        conditions.tip_follows,
        conditions.spring_compliance,
    )
    return solve_conditions(posed, near, cap)


def _interrupted(report: SolveReport, used: int) -> SolveReport:
    """An equilibrium on a mesh that the tolerance was not compared with yet."""
    message = f"in equilibrium, but the mesh was not refined to the end in {used} iterations: raise max_iterations"
    return replace(report, status="moving", iterations=used, message=message)


def _distance(coarse: Solution, fine: Solution) -> float:
    """Largest distance between the two at the coarse nodes, in units of the length."""
    apart = coarse.fields().positions - fine.fields().positions[::2]
    return float(np.max(np.linalg.norm(apart, axis=1)))
