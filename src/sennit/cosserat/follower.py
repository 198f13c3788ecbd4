"""Newton's method on the general system, with the loads raised in steps where that is needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sennit.cosserat.guess import interpolated
from sennit.cosserat.kernels.follower import BAND, residual_and_band, slot_loads
from sennit.cosserat.kernels.newton import MAX_TURN, assemble, evaluate
from sennit.cosserat.model import Conditions
from sennit.cosserat.newton import TOLERANCE, Workspace, no_tip_load
from sennit.cosserat.problem import Loads
from sennit.cosserat.solution import Solution
from sennit.errors import SolveReport
from sennit.geometry.rotations import quaternion_product, quaternion_rotate, rotation_exp
from sennit.validation import FloatArray

__all__ = ["solve_along_path", "solve_directly", "stationary_state", "stopped_at"]

_DIRECT_CAP = 40
_CORRECTOR_CAP = 10
_SHORTEST_STEP = 1e-4

State = tuple[FloatArray, FloatArray, FloatArray]
"""Rotations (nodes, 4), positions of the element ends, forces at the elements' ends."""


class GeneralSystem:
    """Rotations q, positions r of the element ends, forces n at the elements' ends, under scaled loads."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        problem = self.problem = conditions.problem
        elements, stride = problem.elements, problem.stride
        self.width = 12 if stride == 2 else 9
        self.size = elements * self.width + 6
        self.held = np.zeros(elements + 1, dtype=bool)
        self.place = np.zeros((elements + 1, 3))
        for hold, item in zip(problem.holds, conditions.held, strict=True):
            self.held[hold.end] = True
            self.place[hold.end] = item.position
        self.weights = problem.node_weights()
        self.band = np.zeros((2 * BAND + 1, self.size))
        self.right = np.zeros(self.size)
        # every element is a segment of its own
        self.space = Workspace(elements, stride, elements)
        self.law = self.space.load(problem)
        self.segment = np.arange(elements, dtype=np.uint32)
        self.all = np.ones(elements, dtype=bool)
        self.none = np.zeros(elements + 1, dtype=bool)
        self.no_compliance = np.zeros(elements)
        self.no_tip = no_tip_load()

    def linearise(self, q: FloatArray, r: FloatArray, n: FloatArray, loads: Loads, tip: FloatArray, force: FloatArray,
                  tangent: bool) -> float:  # fmt: skip
        """Right-hand side (and matrix, with `tangent`) at a state; returns the largest residual."""
        problem, space = self.problem, self.space
        elements, stride = problem.elements, problem.stride
        G, gap = space.arrays[2], space.arrays[3]
        mesh = (elements, stride, problem.order)
        slot_loads(space.P, elements, stride, q, loads.dead_force, loads.follower_force)
        evaluate(space.P, mesh, self.segment, self.all, np.diff(r, axis=0), self.no_compliance, self.none, q, n,
                 self.no_tip, self.law, G, gap)  # fmt: skip
        if tangent:
            assemble(space.P, mesh, self.law)
        residual_and_band(
            space.P, elements, stride, q, r, n, G, gap, problem.fixed, self.held, self.place, tip, force,
            self.conditions.tip_follows, self.conditions.spring_compliance, loads.follower_force, self.weights,
            (loads.dead_torque, loads.follower_torque, loads.dead_moment, loads.follower_moment),
            (loads.dead_point, loads.follower_point), tangent, self.band, self.right,
        )  # fmt: skip
        largest = float(np.max(np.abs(self.right)))
        return largest if np.isfinite(largest) else np.inf

    def newton(self, q: FloatArray, r: FloatArray, n: FloatArray, loads: Loads, tip: FloatArray, force: FloatArray,
               cap: int) -> tuple[bool, int, float]:  # fmt: skip
        """Damped Newton in place; whether it converged, its iterations and the residual.

        It goes on below the tolerance while that still helps: residuals of many nodes add up in the total balance.
        """
        residual = self.linearise(q, r, n, loads, tip, force, True)
        polishing = 0
        for iteration in range(cap):
            if residual <= TOLERANCE:
                polishing += 1
                if residual <= 1e-3 * TOLERANCE or polishing > 3:
                    return True, iteration, residual
            if not np.isfinite(residual):
                return False, iteration, residual
            before = float(np.linalg.norm(self.right))
            try:
                x = self._solved(self.right)
            except np.linalg.LinAlgError:
                return False, iteration, residual
            longest = float(np.max(np.abs(self._split(x)[0])))
            if not np.isfinite(longest):
                return False, iteration, residual
            length = min(1.0, MAX_TURN / max(longest, 1e-300))
            for _ in range(10):
                trial = self.moved((q, r, n), length * x)
                residual = self.linearise(*trial, loads, tip, force, True)
                if float(np.linalg.norm(self.right)) < (1.0 - 1e-4 * length) * before:
                    break
                length *= 0.5
            else:
                residual = self.linearise(q, r, n, loads, tip, force, True)
                return residual <= TOLERANCE, iteration + 1, residual
            q[:], r[:], n[:] = trial
        return residual <= TOLERANCE, cap, residual

    def _solved(self, right: FloatArray) -> FloatArray:
        """Solution of the linearised system for one right-hand side or several columns."""
        from scipy.linalg import solve_banded  # here, because it takes long to import and is seldom needed

        return np.asarray(solve_banded((BAND, BAND), self.band, right, check_finite=False))

    def _share_slope(self, state: State, path: LoadPath, share: float) -> FloatArray:
        """Derivative of the right-hand side in the share of the loads."""
        step = 1e-4
        self.linearise(*state, *path.at(share + step), False)
        ahead = self.right.copy()
        self.linearise(*state, *path.at(share - step), False)
        return (ahead - self.right) / (2.0 * step)

    def _inner(self, x: FloatArray, y: FloatArray) -> float:
        """Mean product of rotations."""
        return float(np.mean(np.sum(self._split(x)[0] * self._split(y)[0], axis=1)))

    def path_tangent(
        self, state: State, path: LoadPath, share: float, old: tuple[FloatArray, float] | None
    ) -> tuple[FloatArray, float]:
        """Unit tangent (unknowns, share) of the curve of equilibria; `linearise` was called with the tangent there."""
        along = self._solved(self._share_slope(state, path, share))
        size = np.sqrt(self._inner(along, along) + 1.0)
        sign = 1.0
        if old is not None and self._inner(along, old[0]) + old[1] < 0.0:
            sign = -1.0
        return sign * along / size, sign / size

    def correct(
        self, state: State, path: LoadPath, share: float, tangent: FloatArray, slope: float
    ) -> tuple[bool, int, float, float]:
        """Newton back to the curve, in place, normal to the tangent; also the share, and the residual."""
        moved, start = np.zeros(self.size), share
        residual = np.inf
        for iteration in range(_CORRECTOR_CAP):
            residual = self.linearise(*state, *path.at(share), True)
            if residual <= TOLERANCE:
                return True, iteration, share, residual
            if not residual < 1e6:
                break
            right = self.right.copy()
            columns = np.column_stack((right, self._share_slope(state, path, share)))
            try:
                x, y = self._solved(columns).T
            except np.linalg.LinAlgError:
                break
            along = self._inner(moved, tangent) + (share - start) * slope
            change = -(along + self._inner(x, tangent)) / (self._inner(y, tangent) + slope)
            step = x + change * y
            if not np.max(np.abs(step)) < 1e3 or np.max(np.abs(self._split(step)[0])) > MAX_TURN:
                break
            for part, new in zip(state, self.moved(state, step), strict=True):
                part[:] = new
            moved += step
            share += change
        return False, _CORRECTOR_CAP, share, residual

    def moved(self, state: State, x: FloatArray) -> State:
        """The state after a step x."""
        q, r, n = state
        turns, moves, pulls = self._split(x)
        return quaternion_product(q, rotation_exp(turns)), r + moves, n + pulls

    def _split(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rotations of all nodes, moves of the ends, changes of the element forces."""
        stride = self.problem.stride
        rows = x[:-6].reshape(-1, self.width)
        turns = np.empty((len(self.problem.s), 3))
        turns[:-1:stride], turns[-1] = rows[:, :3], x[-6:-3]
        if stride == 2:
            turns[1::2] = rows[:, 6:9]
        moves = np.concatenate((rows[:, 3:6], x[None, -3:]))
        return turns, moves, rows[:, -3:]


@dataclass(frozen=True, slots=True)
class LoadPath:
    """Loads as a function of a share from 0 to 1: those without potential, or all of them."""

    conditions: Conditions
    everything: bool

    def at(self, share: float) -> tuple[Loads, FloatArray, FloatArray]:
        """Loads, tip row and tip force at one share."""
        loads = self.conditions.problem.loads
        dead = share if self.everything else 1.0
        scaled = Loads(
            dead * loads.dead_force, share * loads.dead_torque, share * loads.follower_force,
            share * loads.follower_torque, dead * loads.dead_point, share * loads.dead_moment,
            share * loads.follower_point, share * loads.follower_moment,
        )  # fmt: skip
        tip = self.conditions.tip.copy()
        tip[:6] *= share
        force = self.conditions.tip_force * (share if self.conditions.tip_follows else dead)
        return scaled, tip, force


def solve_directly(conditions: Conditions, near: Solution, cap: int) -> tuple[Solution, SolveReport]:
    """Newton from a nearby state, of this strand or another."""
    system = GeneralSystem(conditions)
    state = _state_near(near, conditions)
    done, used, residual = system.newton(*state, *LoadPath(conditions, False).at(1.0), min(cap, _DIRECT_CAP))
    return _finished(conditions, state, used, residual, done, cap)


def solve_along_path(
    conditions: Conditions, resting: Solution, *, everything: bool, used: int, cap: int
) -> tuple[Solution, SolveReport]:
    """From `resting`, under fewer loads: at once, and if that fails along the equilibria as the loads rise.

    With the base alone held, `resting` is the strand without loads and `everything` rises: its equilibria are then a
    curve that starts at one point and cannot end before the full loads (a map of the rotations onto themselves that is
    the identity without loads covers every rotation). Otherwise `resting` is under the dead forces.
    """
    system = GeneralSystem(conditions)
    path = LoadPath(conditions, everything)
    state = _state_near(resting, conditions)
    done, more, residual = system.newton(*state, *path.at(1.0), min(cap - used, _DIRECT_CAP))
    used += more
    if not done and used < cap:
        state = _state_near(resting, conditions)
        done, more, residual = follow_path(system, path, state, cap - used)
        used += more
    return _finished(conditions, state, used, residual, done, cap)


def stationary_state(conditions: Conditions, guess: Solution) -> tuple[Solution, SolveReport] | None:
    """The equilibrium, stable or not, that plain Newton finds from a guess under dead forces; None if it finds none."""
    problem = conditions.problem
    q, r, n = _state_near(guess, conditions)
    full_loads = LoadPath(conditions, False).at(1.0)
    done, used, residual = GeneralSystem(conditions).newton(q, r, n, *full_loads, _DIRECT_CAP)
    if not done:
        return None
    last = np.append(np.flatnonzero(np.diff(problem.segment)), problem.elements - 1)
    lam = guess.lam.copy()
    lam[problem.held] = (n - problem.load_n[:, 2])[last][problem.held]
    return Solution(conditions, q, lam), SolveReport("converged", used, residual, "follower", len(problem.s))


def stopped_at(conditions: Conditions, reached: Solution, used: int, cap: int) -> tuple[Solution, SolveReport]:
    """What to return when not even the start of the path was found: the state reached, judged under all loads."""
    state = _state_near(reached, conditions)
    residual = GeneralSystem(conditions).linearise(*state, *LoadPath(conditions, False).at(1.0), False)
    return _finished(conditions, state, used, residual, False, cap)


def follow_path(system: GeneralSystem, path: LoadPath, state: State, cap: int) -> tuple[bool, int, float]:
    """Pseudo-arclength continuation in the share of the loads, in place: it passes folds, where the share turns back.

    A step goes along the tangent; Newton then returns to the curve within the plane normal to it. Lengths are measured
    in rotations (root mean square over the nodes) and share.
    """
    share, length, used = 0.0, 0.2, 0
    residual = system.linearise(*state, *path.at(0.0), True)
    old: tuple[FloatArray, float] | None = None
    while used < cap:
        tangent, slope = system.path_tangent(state, path, share, old)
        target, before = None, (state[0].copy(), state[1].copy(), state[2].copy())
        step = length
        if slope > 0.0 and share + step * slope >= 1.0:
            # the last step: to the full loads, at fixed share
            step = (1.0 - share) / slope
            target = 1.0
        trial = system.moved(before, step * tangent)
        if target is not None:
            done, more, residual = system.newton(*trial, *path.at(1.0), _CORRECTOR_CAP)
            new_share = 1.0
        else:
            done, more, new_share, residual = system.correct(trial, path, share + step * slope, tangent, slope)
        used += more + 1
        if not done:
            length *= 0.4
            if length < _SHORTEST_STEP:
                break
            system.linearise(*before, *path.at(share), True)
            continue
        for part, new in zip(state, trial, strict=True):
            part[:] = new
        share, old = new_share, (tangent, slope)
        if target is not None:
            return True, used, residual
        length = min(length * (1.6 if more <= 3 else 1.0 if more <= 6 else 0.6), 1.0)
        system.linearise(*state, *path.at(share), True)
    return False, used, system.linearise(*state, *path.at(1.0), False)


def _state_near(near: Solution, conditions: Conditions) -> State:
    """Rotations, positions and forces of another solution on this problem's mesh and in its units."""
    problem, old = conditions.problem, near.conditions.problem
    fields = near.fields()
    stretch = old.law.length / problem.law.length
    strength = old.law.force_unit / problem.law.force_unit
    q = near.q.copy() if np.array_equal(old.s, problem.s) else interpolated(old.s, near.q, problem.s)
    for hold, item in zip(problem.holds, conditions.held, strict=True):
        if item.quaternion is not None:
            q[hold.end * problem.stride] = item.quaternion
    r = _interpolated_rows(old.s, fields.positions * stretch, problem.ends)
    n = _interpolated_rows(old.s, fields.forces * strength, problem.ends[1:])
    return q, r, n


def _interpolated_rows(s: FloatArray, rows: FloatArray, at: FloatArray) -> FloatArray:
    return np.column_stack([np.interp(at, s, rows[:, k]) for k in range(3)])


def _finished(
    conditions: Conditions, state: State, used: int, residual: float, done: bool, cap: int
) -> tuple[Solution, SolveReport]:  # fmt: skip
    q, _, n = state
    problem = conditions.problem
    solution = Solution(
        conditions, q, np.zeros((len(problem.held), 3)), load_n=_forces_at_slots(conditions, q, n), settled=done
    )
    nodes = len(problem.s)
    if done:
        return solution, SolveReport("converged", used, residual, "follower", nodes)
    if used >= cap:
        message = f"still moving after {used} iterations (residual {residual:.1e}): raise max_iterations"
        return solution, SolveReport("moving", used, residual, "follower", nodes, message)
    message = (
        f"no equilibrium found in {used} iterations (residual {residual:.1e}). Loads that turn with the strand, and "
        f"torques, need not have one: lower them, or approach them in steps, with guess="
    )
    return solution, SolveReport("failed", used, residual, "follower", nodes, message)


def _forces_at_slots(conditions: Conditions, q: FloatArray, n: FloatArray) -> FloatArray:
    """World-frame forces at the slots (elements, 3, 3) from those at the elements' ends."""
    problem = conditions.problem
    density = problem.loads.dead_force + quaternion_rotate(q, problem.loads.follower_force)
    return n[:, None, :] + problem.loads_within(density)
