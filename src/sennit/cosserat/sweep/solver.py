"""Two sweeps for a strand that is held at its base alone and whose loads all turn with it."""

from __future__ import annotations

import numpy as np

from sennit.cosserat.fields import Fields
from sennit.cosserat.model import Conditions
from sennit.cosserat.newton.kernels import TIP_DEAD, TIP_FOLLOWER, TIP_SPRING
from sennit.cosserat.solution import Solution, slot_forces
from sennit.cosserat.sweep.kernels import two_sweeps
from sennit.errors import SolveReport
from sennit.geometry.rotations import quaternion_rotate
from sennit.validation import FloatArray

__all__ = ["applies", "shortest", "solve_by_sweeps"]


def applies(conditions: Conditions) -> bool:
    """Whether two sweeps give the answer: base posed, nothing else held, a linear law, and no dead loads."""
    problem, held = conditions.problem, conditions.held
    if len(held) != 1 or held[0].s != 0.0 or held[0].quaternion is None:
        return False
    tip_dead = (conditions.tip_force.any() and not conditions.tip_follows) or conditions.tip[
        TIP_DEAD : TIP_DEAD + 3
    ].any()
    springs = conditions.tip[TIP_SPRING::5].any()
    return problem.law.linear and problem.all_follow and not tip_dead and not springs


def shortest(matrix: FloatArray) -> tuple[float, ...]:
    """A matrix as the kernels take it: nothing if it is zero, three numbers if it is diagonal, all nine otherwise."""
    if not matrix.any():
        return ()
    diagonal = np.diag(matrix)
    values = diagonal if np.array_equal(matrix, np.diag(diagonal)) else matrix.ravel()
    return tuple(float(x) for x in values)


def solve_by_sweeps(conditions: Conditions) -> tuple[Solution, SolveReport]:
    """Explicit and linear in the nodes."""
    problem, law = conditions.problem, conditions.problem.law
    data = problem.sweep_data()
    nodes = len(problem.s)
    points, moments = np.zeros((nodes, 3)), np.zeros((nodes, 3))
    points[:: problem.stride] = problem.loads.follower_point
    moments[:: problem.stride] = problem.loads.follower_moment
    points[-1] += conditions.tip_force
    moments[-1] += conditions.tip[TIP_FOLLOWER : TIP_FOLLOWER + 3]
    n, m, r, u, v = (np.empty((nodes, 3)) for _ in range(5))
    q = np.empty((nodes, 4))
    q[0], r[0] = conditions.held[0].quaternion, conditions.held[0].position
    K_inverse = np.linalg.inv(np.array(law.K).reshape(3, 3))
    C = np.array(law.C).reshape(3, 3)
    finite = two_sweeps(
        problem.order, data.h, data.rest_u, data.rest_v, data.force, data.torque, points, moments,
        shortest(0.5 * (K_inverse + K_inverse.T)), shortest(C), n, m, q, r, u, v,
    )  # fmt: skip
    fields = Fields(r, quaternion_rotate(q, n), quaternion_rotate(q, m), u, v)
    load_n = slot_forces(problem, fields.forces, quaternion_rotate(q, n - points))
    solution = Solution(conditions, q, np.zeros((1, 3)), load_n=load_n, given=fields)
    if finite:
        return solution, SolveReport("converged", 0, 0.0, "sweep", nodes)
    message = "the loads are so large that the sweeps overflow: check their units, or raise nodes"
    return solution, SolveReport("failed", 0, float("inf"), "sweep", nodes, message)
