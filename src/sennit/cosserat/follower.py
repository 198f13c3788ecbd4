"""Newton's method on the general system, with the loads raised in steps where that is needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sennit.cosserat.guess import interpolated
from sennit.cosserat.kernels.follower import BAND, LONG, MIDDLE, PLACE, SHORT, TURN, residual_and_band, slot_loads
from sennit.cosserat.kernels.newton import MAX_TURN
from sennit.cosserat.kernels.system import assemble, evaluate
from sennit.cosserat.model import TIP_SPRINGS, Conditions, TipLoad
from sennit.cosserat.newton import TOLERANCE, Workspace
from sennit.cosserat.solution import Solution
from sennit.cosserat.tables import GeneralState, GeneralSystem, Loads, Plan, TipTerms
from sennit.errors import SolveReport
from sennit.geometry.rotations import quaternion_product, quaternion_rotate, rotation_exp
from sennit.validation import FloatArray

__all__ = ["solve_along_path", "solve_directly", "stationary_state", "stopped_at"]

_DIRECT_CAP = 40
_CORRECTOR_CAP = 10
_SHORTEST_STEP = 1e-4


@dataclass(frozen=True, slots=True)
class Applied:
    """All that acts on a strand, at one share of its loads."""

    loads: Loads
    tip: TipLoad
    tip_force: FloatArray


class GeneralMethod:
    """Rotations, positions of the element ends and forces at the elements' ends as unknowns, under scaled loads."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        problem = self.problem = conditions.problem
        elements, stride = problem.elements, problem.stride
        self.width = LONG if stride == 2 else SHORT
        self.size = elements * self.width + 6
        system = self.system = GeneralSystem(one=1, ends=elements + 1, nodes=len(problem.s), unknowns=self.size)
        for hold, item in zip(problem.holds, conditions.held, strict=True):
            system.held[hold.end] = True
            system.place[hold.end] = item.position
        system.weight[:] = problem.node_weights()
        system.tip_follows[0], system.tip_compliance[0] = conditions.tip_follows, conditions.spring_compliance
        self.tip = TipTerms(one=1, springs=TIP_SPRINGS)
        # every element is a segment of its own, and no rotation is given
        self.plan = Plan(one=1, elements=elements, segments=elements, ends=elements + 1)
        self.plan.order[0], self.plan.stride[0] = problem.order, stride
        self.plan.segment[:], self.plan.held[:] = np.arange(elements), True
        self.space = Workspace(elements, stride, elements, problem.law)
        self.space.load(problem)

    def linearise(self, state: GeneralState, applied: Applied, tangent: bool) -> float:
        """Right-hand side (and matrix, with `tangent`) at a state; returns the largest residual."""
        space, system, plan = self.space, self.system, self.plan
        slot_loads(space.P, plan, state.q, applied.loads)
        space.state.q[...], space.state.lam[...] = state.q, state.n
        space.asked.target[...] = np.diff(state.r, axis=0)
        residual = space.work.residual
        evaluate(space.P, plan, space.law, space.asked, space.state, residual)
        if tangent:
            assemble(space.P, plan, space.law)
        system.tip_force[0] = applied.tip_force
        applied.tip.write(self.tip)
        residual_and_band(space.P, self.problem.plan, system, state, residual, applied.loads, self.tip, tangent)
        largest = float(np.max(np.abs(system.right)))
        return largest if np.isfinite(largest) else np.inf

    def newton(self, state: GeneralState, applied: Applied, cap: int) -> tuple[bool, int, float]:
        """Damped Newton in place; whether it converged, its iterations and the residual.

        It goes on below the tolerance while that still helps: residuals of many nodes add up in the total balance.
        """
        residual = self.linearise(state, applied, True)
        polishing = 0
        for iteration in range(cap):
            if residual <= TOLERANCE:
                polishing += 1
                if residual <= 1e-3 * TOLERANCE or polishing > 3:
                    return True, iteration, residual
            if not np.isfinite(residual):
                return False, iteration, residual
            before = float(np.linalg.norm(self.system.right))
            try:
                x = self._solved(self.system.right)
            except np.linalg.LinAlgError:
                return False, iteration, residual
            longest = float(np.max(np.abs(self._split(x)[0])))
            if not np.isfinite(longest):
                return False, iteration, residual
            length = min(1.0, MAX_TURN / max(longest, 1e-300))
            for _ in range(10):
                trial = self.moved(state, length * x)
                residual = self.linearise(trial, applied, True)
                if float(np.linalg.norm(self.system.right)) < (1.0 - 1e-4 * length) * before:
                    break
                length *= 0.5
            else:
                residual = self.linearise(state, applied, True)
                return residual <= TOLERANCE, iteration + 1, residual
            state.fill(trial)
        return residual <= TOLERANCE, cap, residual

    def _solved(self, right: FloatArray) -> FloatArray:
        """Solution of the linearised system for one right-hand side or several columns."""
        from scipy.linalg import solve_banded  # here, because it takes long to import and is seldom needed

        return np.asarray(solve_banded((BAND, BAND), self.system.band, right, check_finite=False))

    def _share_slope(self, state: GeneralState, path: LoadPath, share: float) -> FloatArray:
        """Derivative of the right-hand side in the share of the loads."""
        step = 1e-4
        self.linearise(state, path.at(share + step), False)
        ahead = self.system.right.copy()
        self.linearise(state, path.at(share - step), False)
        return np.asarray((ahead - self.system.right) / (2.0 * step))

    def _inner(self, x: FloatArray, y: FloatArray) -> float:
        """Mean product of rotations."""
        return float(np.mean(np.sum(self._split(x)[0] * self._split(y)[0], axis=1)))

    def path_tangent(
        self, state: GeneralState, path: LoadPath, share: float, old: tuple[FloatArray, float] | None
    ) -> tuple[FloatArray, float]:
        """Unit tangent (unknowns, share) of the curve of equilibria; `linearise` was called with the tangent there."""
        along = self._solved(self._share_slope(state, path, share))
        size = np.sqrt(self._inner(along, along) + 1.0)
        sign = 1.0
        if old is not None and self._inner(along, old[0]) + old[1] < 0.0:
            sign = -1.0
        return sign * along / size, sign / size

    def correct(
        self, state: GeneralState, path: LoadPath, share: float, tangent: FloatArray, slope: float
    ) -> tuple[bool, int, float, float]:
        """Newton back to the curve, in place, normal to the tangent; also the share, and the residual."""
        moved, start = np.zeros(self.size), share
        residual = np.inf
        for iteration in range(_CORRECTOR_CAP):
            residual = self.linearise(state, path.at(share), True)
            if residual <= TOLERANCE:
                return True, iteration, share, residual
            if not residual < 1e6:
                break
            right = self.system.right.copy()
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
            state.fill(self.moved(state, step))
            moved += step
            share += change
        return False, _CORRECTOR_CAP, share, residual

    def moved(self, state: GeneralState, x: FloatArray) -> GeneralState:
        """The state after a step x."""
        turns, moves, pulls = self._split(x)
        q = quaternion_product(state.q, rotation_exp(turns))
        return GeneralState.of(q=q, r=state.r + moves, n=state.n + pulls)

    def _split(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rotations of all nodes, moves of the ends, changes of the element forces."""
        stride = self.problem.stride
        # an element's rows as the kernels order them; the tip has a rotation and a position alone
        rows, tip = x[: -2 * 3].reshape(-1, self.width // 3, 3), x[-2 * 3 :].reshape(2, 3)
        turns = np.empty((len(self.problem.s), 3))
        turns[:-1:stride], turns[-1] = rows[:, TURN // 3], tip[TURN // 3]
        if stride == 2:
            turns[1::2] = rows[:, MIDDLE // 3]
        moves = np.concatenate((rows[:, PLACE // 3], tip[None, PLACE // 3]))
        return turns, moves, rows[:, -1]


@dataclass(frozen=True, slots=True)
class LoadPath:
    """Loads as a function of a share from 0 to 1: those without potential, or all of them."""

    conditions: Conditions
    everything: bool

    def at(self, share: float) -> Applied:
        """What acts at one share."""
        loads = self.conditions.problem.loads
        dead = share if self.everything else 1.0
        with_potential = ("dead_force", "dead_weight", "dead_point")
        scaled = Loads.of(**{
            name: (dead if name in with_potential else share) * array for name, array in loads.fields().items()
        })  # fmt: skip
        force = self.conditions.tip_force * (share if self.conditions.tip_follows else dead)
        return Applied(scaled, self.conditions.tip.scaled(share), force)


def solve_directly(conditions: Conditions, near: Solution, cap: int) -> tuple[Solution, SolveReport]:
    """Newton from a nearby state, of this strand or another."""
    system = GeneralMethod(conditions)
    state = _state_near(near, conditions)
    done, used, residual = system.newton(state, LoadPath(conditions, False).at(1.0), min(cap, _DIRECT_CAP))
    return _finished(conditions, state, used, residual, done, cap)


def solve_along_path(
    conditions: Conditions, resting: Solution, *, everything: bool, used: int, cap: int
) -> tuple[Solution, SolveReport]:
    """From `resting`, under fewer loads: at once, and if that fails along the equilibria as the loads rise.

    With the base alone held, `resting` is the strand without loads and `everything` rises: its equilibria are then a
    curve that starts at one point and cannot end before the full loads (a map of the rotations onto themselves that is
    the identity without loads covers every rotation). Otherwise `resting` is under the dead forces.
    """
    system = GeneralMethod(conditions)
    path = LoadPath(conditions, everything)
    state = _state_near(resting, conditions)
    done, more, residual = system.newton(state, path.at(1.0), min(cap - used, _DIRECT_CAP))
    used += more
    if not done and used < cap:
        state = _state_near(resting, conditions)
        done, more, residual = follow_path(system, path, state, cap - used)
        used += more
    return _finished(conditions, state, used, residual, done, cap)


def stationary_state(conditions: Conditions, guess: Solution) -> tuple[Solution, SolveReport] | None:
    """The equilibrium, stable or not, that plain Newton finds from a guess under dead forces; None if it finds none."""
    problem = conditions.problem
    state = _state_near(guess, conditions)
    full_loads = LoadPath(conditions, False).at(1.0)
    done, used, residual = GeneralMethod(conditions).newton(state, full_loads, _DIRECT_CAP)
    if not done:
        return None
    last = np.append(np.flatnonzero(np.diff(problem.plan.segment)), problem.elements - 1)
    lam, held = guess.lam.copy(), problem.plan.held != 0
    lam[held] = (state.n - problem.load_n[:, 2])[last][held]
    return Solution(conditions, state.q, lam), SolveReport("converged", used, residual, "follower", len(problem.s))


def stopped_at(conditions: Conditions, reached: Solution, used: int, cap: int) -> tuple[Solution, SolveReport]:
    """What to return when not even the start of the path was found: the state reached, judged under all loads."""
    state = _state_near(reached, conditions)
    residual = GeneralMethod(conditions).linearise(state, LoadPath(conditions, False).at(1.0), False)
    return _finished(conditions, state, used, residual, False, cap)


def follow_path(system: GeneralMethod, path: LoadPath, state: GeneralState, cap: int) -> tuple[bool, int, float]:
    """Pseudo-arclength continuation in the share of the loads, in place: it passes folds, where the share turns back.

    A step goes along the tangent; Newton then returns to the curve within the plane normal to it. Lengths are measured
    in rotations (root mean square over the nodes) and share.
    """
    share, length, used = 0.0, 0.2, 0
    residual = system.linearise(state, path.at(0.0), True)
    old: tuple[FloatArray, float] | None = None
    while used < cap:
        tangent, slope = system.path_tangent(state, path, share, old)
        target, before = None, state.copy()
        step = length
        if slope > 0.0 and share + step * slope >= 1.0:
            # the last step: to the full loads, at fixed share
            step = (1.0 - share) / slope
            target = 1.0
        trial = system.moved(before, step * tangent)
        if target is not None:
            done, more, residual = system.newton(trial, path.at(1.0), _CORRECTOR_CAP)
            new_share = 1.0
        else:
            done, more, new_share, residual = system.correct(trial, path, share + step * slope, tangent, slope)
        used += more + 1
        if not done:
            length *= 0.4
            if length < _SHORTEST_STEP:
                break
            system.linearise(before, path.at(share), True)
            continue
        state.fill(trial)
        share, old = new_share, (tangent, slope)
        if target is not None:
            return True, used, residual
        length = min(length * (1.6 if more <= 3 else 1.0 if more <= 6 else 0.6), 1.0)
        system.linearise(state, path.at(share), True)
    return False, used, system.linearise(state, path.at(1.0), False)


def _state_near(near: Solution, conditions: Conditions) -> GeneralState:
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
    return GeneralState.of(q=q, r=r, n=n)


def _interpolated_rows(s: FloatArray, rows: FloatArray, at: FloatArray) -> FloatArray:
    return np.column_stack([np.interp(at, s, rows[:, k]) for k in range(3)])


def _finished(
    conditions: Conditions, state: GeneralState, used: int, residual: float, done: bool, cap: int
) -> tuple[Solution, SolveReport]:  # fmt: skip
    problem, q = conditions.problem, state.q
    solution = Solution(
        conditions, q, np.zeros((problem.segments, 3)), load_n=_forces_at_slots(conditions, q, state.n), settled=done
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
    return n[:, None, :] + problem.loads_within(density) + problem.weight_within()
