"""Two sweeps for a strand that is held at its base alone and whose loads all turn with it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from sennit.cosserat.fields import Fields
from sennit.cosserat.kernels.newton import TIP_DEAD, TIP_FOLLOWER, TIP_SPRING
from sennit.cosserat.kernels.sweep import LANES, SWEEP_BLOCK, two_sweeps
from sennit.cosserat.model import Conditions
from sennit.cosserat.solution import Solution, slot_forces
from sennit.errors import SolveReport
from sennit.geometry.rotations import quaternion_rotate
from sennit.validation import FloatArray

__all__ = ["applies", "solve_by_sweeps", "sweep_arguments"]


def applies(conditions: Conditions) -> bool:
    """Whether two sweeps give the answer: base posed, nothing else held, a linear law, and no dead loads."""
    problem, held = conditions.problem, conditions.held
    if len(held) != 1 or held[0].s != 0.0 or held[0].quaternion is None:
        return False
    if not (problem.law.linear and problem.all_follow):
        return False
    dead_force = not conditions.tip_follows and conditions.tip_force.any()
    tip = conditions.tip.tolist()
    return not (dead_force or any(tip[TIP_DEAD : TIP_DEAD + 3]) or any(tip[TIP_SPRING::5]))


_local = threading.local()


def _workspace(intervals: int) -> FloatArray:
    """This thread's workspace, at least as large as needed."""
    size = -(-intervals // LANES) * SWEEP_BLOCK
    work: FloatArray | None = getattr(_local, "work", None)
    if work is None or len(work) < size:
        work = _local.work = np.zeros(size)
    return work


def sweep_arguments(conditions: Conditions) -> tuple[Any, ...]:
    """Everything that ``two_sweeps`` takes, the arrays for its results included."""
    problem = conditions.problem
    data = problem.sweep_data()
    nodes = len(problem.s)
    points, moments = np.zeros((nodes, 3)), np.zeros((nodes, 3))
    if data.points:
        points[:: problem.stride] = problem.loads.follower_point
        moments[:: problem.stride] = problem.loads.follower_moment
    points[-1] += conditions.tip_force
    moments[-1] += conditions.tip[TIP_FOLLOWER : TIP_FOLLOWER + 3]
    n, m, r, u, v = np.empty((5, nodes, 3))
    q = np.empty((nodes, 4))
    q[0], r[0] = conditions.held[0].quaternion, conditions.held[0].position
    return (
        problem.order, data.h, data.rest_u, () if data.unit_stretch else data.rest_v, data.force, data.torque, points,
        moments, *problem.law.sweep_compliances, n, m, q, r, u, v, _workspace(nodes - 1),
    )  # fmt: skip


def solve_by_sweeps(conditions: Conditions) -> tuple[Solution, SolveReport]:
    """Explicit and linear in the nodes."""
    problem = conditions.problem
    arguments = sweep_arguments(conditions)
    points, (n, m, q, r, u, v) = arguments[6], arguments[10:16]
    finite = two_sweeps(*arguments)

    def fields() -> tuple[Fields, FloatArray]:
        found = Fields(r, quaternion_rotate(q, n), quaternion_rotate(q, m), u, v)
        return found, slot_forces(problem, found.forces, quaternion_rotate(q, n - points))

    solution = Solution(conditions, q, np.zeros((1, 3)), later=fields)
    if finite:
        return solution, SolveReport("converged", 0, 0.0, "sweep", len(q))
    message = "the loads are so large that the sweeps overflow: check their units, or raise nodes"
    return solution, SolveReport("failed", 0, float("inf"), "sweep", len(q), message)
