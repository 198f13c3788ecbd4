"""Pai's method for two-point problems, with an analytic Jacobian and backtracking: for comparison.

It fails on long limp strands and on far targets, where the energy method does not; the handbook shows where.
"""

from __future__ import annotations

import numpy as np

from sennit.cosserat.fields import Fields
from sennit.cosserat.kernels.shooting import shoot
from sennit.cosserat.law.fields import strains_from_stress
from sennit.cosserat.model import Conditions
from sennit.cosserat.newton import TOLERANCE
from sennit.cosserat.solution import Solution, slot_forces
from sennit.cosserat.solve import solve_by_energy
from sennit.cosserat.tables import NodeLoads, Path, Sensitivity
from sennit.errors import InputError, SolveReport
from sennit.geometry.rotations import quaternion_conjugate, quaternion_product, quaternion_rotate, rotation_log
from sennit.validation import FloatArray

__all__ = ["solve_by_shooting"]


def _check(conditions: Conditions) -> None:
    problem = conditions.problem
    first, last = conditions.held[0], conditions.held[-1]
    ends_only = (
        first.s == 0.0 and first.quaternion is not None and all(item.s in (0.0, 1.0) for item in conditions.held)
    )
    if not ends_only or len(conditions.held) > 2 or (len(conditions.held) == 2 and last.s != 1.0):
        raise InputError('method="shooting" needs base=, a pose, and holds nothing but base and tip: leave via= out')
    follows = problem.loads.follower_force.any() or problem.loads.follower_point.any()
    turns = (
        problem.loads.follower_torque.any()
        or problem.loads.follower_moment.any()
        or conditions.tip.follower_moment.any()
    )
    if follows or turns or (conditions.tip_follows and conditions.tip_force.any()):
        raise InputError(
            'method="shooting" takes loads in the world frame only: leave follower= and line_follower= out'
        )
    springs = conditions.tip.springs or conditions.spring_compliance > 0.0
    if not problem.law.linear or problem.order != 4 or springs:
        raise InputError('method="shooting" needs order=4, a linear law without coupled strains, and no coupling=')


def solve_by_shooting(conditions: Conditions, cap: int) -> tuple[Solution, SolveReport]:
    """Newton on the base wrench, each step halved until the miss at the tip gets smaller. It takes no guess."""
    _check(conditions)
    problem, law = conditions.problem, conditions.problem.law
    nodes = len(problem.s)
    intervals = problem.intervals(problem.loads.dead_force, problem.loads.dead_torque)
    if law.varies or problem.gravity is not None:
        intervals = problem.with_matter(intervals)
    at_nodes = NodeLoads(nodes=nodes)
    at_nodes.force[:: problem.stride] = problem.loads.dead_point
    at_nodes.moment[:: problem.stride] = problem.loads.dead_moment
    K_inverse = np.linalg.inv(law.K)
    compliances = tuple(K_inverse.ravel()), tuple(law.C.ravel())
    path, sensitivity = Path(nodes=nodes), Sensitivity(components=6)
    q, r, n, m = path.q, path.r, path.n, path.m
    q[0], r[0] = conditions.held[0].quaternion, conditions.held[0].position

    def miss(wrench: FloatArray) -> tuple[FloatArray, FloatArray]:
        n[0], m[0] = wrench[:3], wrench[3:]
        shoot(intervals, at_nodes, *compliances, path, sensitivity)
        return _tip_miss(conditions, path, at_nodes, sensitivity)

    wrench = _first_wrench(conditions)
    with np.errstate(all="ignore"):
        error, jacobian = miss(wrench)
        used = 0
        while used < cap and not np.max(np.abs(error)) <= TOLERANCE:
            used += 1
            try:
                # least squares: at a straight strand that cannot stretch the axial force is undetermined
                step = -np.linalg.lstsq(jacobian, error, rcond=1e-13)[0]
            except np.linalg.LinAlgError:
                break
            before, length = float(np.linalg.norm(error)), 1.0
            while length > 1e-4:
                error, jacobian = miss(wrench + length * step)
                if float(np.linalg.norm(error)) < (1.0 - 1e-4 * length) * before:
                    break
                length *= 0.5
            else:
                error, jacobian = miss(wrench)
                break
            wrench = wrench + length * step
    residual = float(np.max(np.abs(error)))
    stress = quaternion_rotate(quaternion_conjugate(q), m), quaternion_rotate(quaternion_conjugate(q), n)
    u, v = strains_from_stress(law, *stress, varied=problem.at_nodes())
    rest_u, rest_v = problem.rest_at_nodes()
    fields = Fields(r, n, m, u + rest_u, v + rest_v)
    load_n = slot_forces(problem, n, n - at_nodes.force)
    solution = Solution(conditions, q, np.zeros((problem.segments, 3)), load_n=load_n, given=fields)
    if residual <= TOLERANCE:
        return solution, SolveReport("converged", used, residual, "shooting", nodes, _stability(solution))
    message = f"shooting missed the tip by {residual:.1e} after {used} iterations: leave method= out"
    return solution, SolveReport("moving" if used >= cap else "failed", used, residual, "shooting", nodes, message)


def _stability(solution: Solution) -> str:
    """What to say of an equilibrium that the strand would leave: shooting finds any, the energy's maxima too."""
    if solution.stable() is not False:
        return ""
    settled, report = solve_by_energy(solution.conditions, solution)
    message = "an unstable equilibrium, which a strand would leave: leave method= out"
    if report.converged:
        law = solution.conditions.problem.law
        more = (sum(solution.energies()) - sum(settled.energies())) * law.bending / law.length
        message += f" to find the stable one beside it, whose energy is less by {more:.3g} J"
    return message


def _first_wrench(conditions: Conditions) -> FloatArray:
    """No force, and the moment that turns the strand evenly into the tip's rotation."""
    wrench = np.zeros(6)
    base, tip = conditions.held[0].quaternion, conditions.held[-1].quaternion
    if len(conditions.held) == 2 and base is not None and tip is not None:
        turn = rotation_log(quaternion_product(quaternion_conjugate(base), tip))
        K = conditions.problem.law.K
        wrench[3:] = quaternion_rotate(base, K @ (turn - conditions.problem.rest_u[0, 0]))
    return wrench


def _tip_miss(
    conditions: Conditions, path: Path, at_nodes: NodeLoads, sensitivity: Sensitivity
) -> tuple[FloatArray, FloatArray]:
    """What is missed at the tip (6,), and its derivative in the base wrench (6, 6)."""
    q, r = path.q[-1], path.r[-1]
    n, m = path.n[-1] - at_nodes.force[-1], path.m[-1] - at_nodes.moment[-1]
    error, jacobian = np.empty(6), np.empty((6, 6))
    tip = conditions.held[-1]
    held = len(conditions.held) == 2
    if held:
        error[:3] = r - tip.position
        jacobian[:3] = sensitivity.move.T
    else:
        error[:3] = n - conditions.tip_force
        jacobian[:3] = np.eye(3, 6)
    if held and tip.quaternion is not None:
        # log(R_target Rᵀ) changes by −A δφ
        rho = rotation_log(quaternion_product(tip.quaternion, quaternion_conjugate(q)))
        x = float(rho @ rho)
        beta = 1 / 12 + x / 720 if x < 1e-6 else (1.0 - 0.5 * np.sqrt(x) / np.tan(0.5 * np.sqrt(x))) / x
        cross = np.cross(rho, np.eye(3)).T  # [ρ]: its columns are ρ × eᵢ
        error[3:] = rho
        jacobian[3:] = -(np.eye(3) + 0.5 * cross + beta * cross @ cross) @ np.ascontiguousarray(sensitivity.turn.T)
    else:
        error[3:] = m - conditions.tip.dead_moment
        jacobian[3:] = sensitivity.moment.T
    return error, jacobian
