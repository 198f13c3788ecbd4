"""Two sweeps for a strand that is held at its base alone and whose loads all turn with it."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from sennit.cosserat.fields import Fields
from sennit.cosserat.kernels.sweep import two_sweeps
from sennit.cosserat.law.fields import strains_from_stress
from sennit.cosserat.model import Conditions
from sennit.cosserat.solution import Solution, slot_forces
from sennit.cosserat.tables import NodeLoads, SweepWork
from sennit.errors import SolveReport
from sennit.geometry.rotations import quaternion_rotate
from sennit.validation import FloatArray

__all__ = ["Swept", "applies", "solve_by_sweeps", "sweep_arguments"]


def applies(conditions: Conditions) -> bool:
    """Whether two sweeps give the answer: base posed, nothing else held, a linear law, and no dead loads."""
    problem, held, tip = conditions.problem, conditions.held, conditions.tip
    if len(held) != 1 or held[0].s != 0.0 or held[0].quaternion is None:
        return False
    if not (problem.law.linear and problem.all_follow):
        return False
    dead_force = not conditions.tip_follows and conditions.tip_force.any()
    return not (dead_force or any(tip.dead_moment.tolist()) or tip.springs)


_local = threading.local()


class _Workspace(NamedTuple):
    loads: NodeLoads
    strains: SweepWork


def _workspace(nodes: int) -> _Workspace:
    """This thread's workspace for strands of this size."""
    spaces: dict[int, _Workspace] = _local.__dict__.setdefault("spaces", {})
    space = spaces.get(nodes)
    if space is None:
        if len(spaces) > 8:
            spaces.clear()
        space = spaces[nodes] = _Workspace(NodeLoads(nodes=nodes), SweepWork(nodes - 1))
    return space


class Swept(NamedTuple):
    """What the sweeps find, one row for each node: body frame, but for the frames themselves."""

    n: FloatArray
    """Internal force just before the node."""
    m: FloatArray
    """Internal moment just before the node."""
    q: FloatArray
    """Rotations (nodes, 4)."""
    r: FloatArray
    """Positions (nodes, 3)."""
    u: FloatArray
    """Curvature just beyond the node."""
    v: FloatArray
    """Stretch just beyond the node."""

    @classmethod
    def blank(cls, conditions: Conditions) -> Swept:
        """Arrays for the results, with the base in its place."""
        nodes = len(conditions.problem.s)
        n, m, r, u, v = np.empty((5, nodes, 3))
        q = np.empty((nodes, 4))
        q[0], r[0] = conditions.held[0].quaternion, conditions.held[0].position
        return cls(n, m, q, r, u, v)


def sweep_arguments(conditions: Conditions, found: Swept) -> tuple[Any, ...]:
    """What ``two_sweeps`` takes, to fill arrays that were made beforehand."""
    problem = conditions.problem
    loads, strains = _workspace(len(found.q))
    _write_node_loads(conditions, loads.force, loads.moment)
    return problem.order, problem.sweep_intervals(), loads, *problem.law.sweep_compliances, *found, strains


def _write_node_loads(conditions: Conditions, force: FloatArray, moment: FloatArray) -> None:
    """What acts at the nodes (nodes, 3), the tip's load included, body frame."""
    problem = conditions.problem
    force.fill(0.0)
    moment.fill(0.0)
    if problem.points_follow:
        force[:: problem.stride] = problem.loads.follower_point
        moment[:: problem.stride] = problem.loads.follower_moment
    force[-1] += conditions.tip_force
    moment[-1] += conditions.tip.follower_moment


def solve_by_sweeps(conditions: Conditions) -> tuple[Solution, SolveReport]:
    """Explicit and linear in the nodes."""
    problem = conditions.problem
    found = Swept.blank(conditions)
    finite = two_sweeps(*sweep_arguments(conditions, found))
    n, m, q, r, u, v = found

    def fields() -> tuple[Fields, FloatArray]:
        points, moments = np.empty((2, len(q), 3))
        _write_node_loads(conditions, points, moments)
        strains = u, v
        if problem.law.varies:  # the sweeps leave what is just beyond each node
            rest_u, rest_v = problem.rest_at_nodes()
            bent, stretched = strains_from_stress(problem.law, m, n, varied=problem.at_nodes())
            strains = bent + rest_u, stretched + rest_v
        along = Fields(r, quaternion_rotate(q, n), quaternion_rotate(q, m), *strains)
        return along, slot_forces(problem, along.forces, quaternion_rotate(q, n - points))

    solution = Solution(conditions, q, np.zeros((1, 3)), later=fields)
    if finite:
        return solution, SolveReport("converged", 0, 0.0, "sweep", len(q))
    message = "the loads are so large that the sweeps overflow: check their units, or raise nodes"
    return solution, SolveReport("failed", 0, float("inf"), "sweep", len(q), message)
