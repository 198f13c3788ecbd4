"""A solution in the kernels' units: what follows from rotations and forces, whichever method found them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sennit.cosserat.fields import Fields, Slots, fields_of, slots_of
from sennit.cosserat.model import Conditions
from sennit.cosserat.newton import Reached, applied_moments, bend_resolution, unstable_modes
from sennit.cosserat.problem import Problem
from sennit.geometry.rotations import (
    quaternion_conjugate,
    quaternion_product,
    quaternion_rotate,
    rotation_log,
)  # fmt: skip
from sennit.validation import FloatArray

__all__ = ["Solution", "slot_forces"]


def slot_forces(problem: Problem, before: FloatArray, beyond: FloatArray) -> FloatArray:
    """Internal forces at the elements' slots from those just before and just beyond each node (n, 3)."""
    first = beyond.copy()
    first[0] = before[0]
    if problem.stride == 2:
        return np.stack((first[:-2:2], before[1:-1:2], before[2::2]), axis=1)
    return np.stack((first[:-1], 0.5 * (first[:-1] + before[1:]), before[1:]), axis=1)


@dataclass(eq=False)
class Solution:
    """Rotations q (nodes, 4) and segment forces lam (segments, 3) under the conditions that they satisfy.

    `load_n` (elements, 3, 3), if given, is the known part of the force at the slots instead of the problem's own: with
    follower loads it depends on the solution. `given` are the fields, where a method has computed them itself.
    `previous` are the last one or two equilibria before this one on the same mesh: in a row they predict the next.
    `settled` is False for a state on its way.
    """

    conditions: Conditions
    q: FloatArray
    lam: FloatArray
    load_n: FloatArray | None = None
    given: Fields | None = None
    later: Callable[[], tuple[Fields, FloatArray]] | None = None
    """Makes `given` and `load_n` when something first asks for them."""
    previous: tuple[Reached, ...] = ()
    settled: bool = True
    _slots: Slots | None = None
    _moments: FloatArray | None = None
    _fields: Fields | None = None

    @property
    def history(self) -> tuple[Reached, ...]:
        """This equilibrium and those before it, newest first, as `solve_energy` takes them."""
        return Reached(self.q, self.lam, self.conditions.target), *self.previous

    @property
    def has_own_forces(self) -> bool:
        """Whether `load_n` replaces the problem's known forces."""
        return self.load_n is not None or self.later is not None

    def _known(self) -> tuple[Fields | None, FloatArray | None]:
        """`given` and `load_n`."""
        if self.later is not None:
            (self.given, self.load_n), self.later = self.later(), None
        return self.given, self.load_n

    def slots(self) -> Slots:
        """The elements' slots."""
        if self._slots is None:
            self._slots = slots_of(self.conditions.problem, self.q, self.lam, self._known()[1])
        return self._slots

    def fields(self) -> Fields:
        """Positions, forces, moments and strains at the nodes."""
        given, _ = self._known()
        if given is not None:
            return given
        if self._fields is None:
            problem = self.conditions.problem
            chords = np.sum(self.slots().weights[..., None] * self.slots().tangents, axis=1)
            start = self._first_held_position() - chords[: problem.holds[0].end].sum(axis=0)
            tip = self._end_moment(problem.elements)
            self._fields = fields_of(problem, self.q, self.slots(), start, tip, self._moments_beyond())
        return self._fields

    def _first_held_position(self) -> FloatArray:
        """Position of the first held point; a spring that holds the strand alone gives way to its weight."""
        held = self.conditions.held
        if len(held) > 1 or self.conditions.spring_compliance == 0.0:
            return held[0].position
        return held[0].position - self.conditions.spring_compliance * self.hold_force(self.conditions.problem.elements)

    # ------------------------------------------------------------------------------------------ moments at the nodes

    def _unbalanced(self) -> FloatArray:
        """Moments (nodes, 3), body frame, that the outside must apply for equilibrium of the elastic strand."""
        if self._moments is None:
            self._moments = applied_moments(self.conditions, self.q, self.lam, self._known()[1])
        return self._moments

    def _given_moment(self, end: int) -> FloatArray:
        """Moment that loads and springs apply at an element end, world frame."""
        loads, problem = self.conditions.problem.loads, self.conditions.problem
        q = self.q[end * problem.stride]
        moment = loads.dead_moment[end] + quaternion_rotate(q, loads.follower_moment[end])
        if end == problem.elements:
            tip = self.conditions.tip
            moment = moment + tip.dead_moment + quaternion_rotate(q, tip.follower_moment) + self.spring_torque()
        return np.asarray(moment)

    def spring_torque(self) -> FloatArray:
        """Torque of the rotational springs at the tip."""
        torque, q = np.zeros(3), self.q[-1]
        for spring in self.conditions.tip.springs:
            rho = rotation_log(quaternion_product(quaternion_conjugate(q), spring.towards))
            torque += quaternion_rotate(q, spring.stiffness * rho)
        return torque

    def _end_moment(self, end: int) -> FloatArray:
        """All that the outside applies at an element end (loads and, where the rotation is held, the grip)."""
        problem = self.conditions.problem
        given, _ = self._known()
        if given is not None and end in (0, problem.elements):
            return np.asarray(-given.moments[0] if end == 0 else given.moments[-1])
        if problem.plan.fixed[end]:
            node = end * problem.stride
            line = self._line_moment(node)
            return np.asarray(quaternion_rotate(self.q[node], self._unbalanced()[node]) - line)
        return self._given_moment(end)

    def _line_moment(self, node: int) -> FloatArray:
        """Share of the distributed torque that the discrete balance puts on one node, world frame."""
        loads = self.conditions.problem.loads
        density = loads.dead_torque[node] + quaternion_rotate(self.q[node], loads.follower_torque[node])
        return np.asarray(self.conditions.problem.node_weights()[node] * density)

    def _moments_beyond(self) -> FloatArray:
        """Moment (nodes, 3) of all torques applied from each node on, the tip's excluded, world frame."""
        problem, loads = self.conditions.problem, self.conditions.problem.loads
        beyond = np.zeros((len(self.q), 3))
        if loads.dead_torque.any() or loads.follower_torque.any():
            density = loads.dead_torque + quaternion_rotate(self.q, loads.follower_torque)
            beyond += problem.integral_beyond(density)
        acts = (problem.plan.fixed != 0) | loads.dead_moment.any(axis=1) | loads.follower_moment.any(axis=1)
        for end in np.flatnonzero(acts[1:-1]) + 1:
            beyond[: end * problem.stride + 1] += self._end_moment(int(end))
        return beyond

    # ------------------------------------------------------------------------------------------------- what grips feel

    def inner_holds(self) -> list[int]:
        """Held element ends between base and tip."""
        elements = self.conditions.problem.elements
        return [hold.end for hold in self.conditions.problem.holds if 0 < hold.end < elements]

    def _point_force(self, end: int) -> FloatArray:
        loads, stride = self.conditions.problem.loads, self.conditions.problem.stride
        return np.asarray(loads.dead_point[end] + quaternion_rotate(self.q[end * stride], loads.follower_point[end]))

    def hold_force(self, end: int) -> FloatArray:
        """Force that the grip at an element end applies; zero where there is none."""
        problem = self.conditions.problem
        if end not in (hold.end for hold in problem.holds):
            return np.zeros(3)
        given, load_n = self._known()
        if given is not None and end == 0:
            return np.asarray(-given.forces[0] - self._point_force(0))
        known = problem.load_n if load_n is None else load_n
        before = known[end - 1, 2] + self.lam[problem.plan.segment[end - 1]] if end > 0 else np.zeros(3)
        after = known[end, 0] + self.lam[problem.plan.segment[end]] if end < problem.elements else np.zeros(3)
        return np.asarray(before - after - self._point_force(end))

    def hold_torque(self, end: int) -> FloatArray:
        """Torque that the grip at an element end applies; zero where no rotation is held."""
        problem = self.conditions.problem
        if not problem.plan.fixed[end]:
            return np.zeros(3)
        return self._end_moment(end) - self._given_moment(end)

    def tip_force(self) -> FloatArray:
        """Force of the grip or load at the tip."""
        c = self.conditions
        if c.problem.holds[-1].end == c.problem.elements:
            return self.hold_force(c.problem.elements)
        return quaternion_rotate(self.q[-1], c.tip_force) if c.tip_follows else c.tip_force.copy()

    def tip_torque(self) -> FloatArray:
        """Torque of the grip, spring or load at the tip."""
        c = self.conditions
        end = c.problem.elements
        if c.problem.plan.fixed[end]:
            return self.hold_torque(end)
        loads = c.problem.loads
        points = loads.dead_moment[end] + quaternion_rotate(self.q[-1], loads.follower_moment[end])
        return np.asarray(self._given_moment(end) - points)

    # ------------------------------------------------------------------------------------------ energy and stability

    def energies(self) -> tuple[float, float, float, float, float]:
        """Bending, twist, shear, stretch energy, and the potential of the dead forces about the world's origin."""
        problem, law, slots = self.conditions.problem, self.conditions.problem.law, self.slots()
        if law.linear:
            K = law.K
            weights = slots.strain_weights[..., None]
            moments = slots.u @ K if problem.varied is None else np.einsum("esij,esj->esi", problem.varied.K, slots.u)
            parts = 0.5 * np.sum(weights * slots.u * moments, axis=(0, 1))
            stretch = 0.5 * np.sum(slots.weights[..., None] * slots.b * (slots.v - problem.rest_v), axis=(0, 1))
            elastic = (parts[0] + parts[1], parts[2], stretch[0] + stretch[1], stretch[2])
        else:
            rows = slots.u.reshape(-1, 3), (slots.v - problem.rest_v).reshape(-1, 3)
            density = law.densities(*rows, None if problem.varied is None else problem.varied.in_a_row().matrices)
            elastic = (float(np.sum(slots.strain_weights.ravel() * density)), 0.0, 0.0, 0.0)
        bend, twist, shear, stretched = (float(part) for part in elastic)
        return bend, twist, shear, stretched, self._load_potential()

    def _load_potential(self) -> float:
        """−∫f·r − Σ F·r over the dead forces, as the discrete energy has it.

        With N = ∫ f beyond s, ∫ f·r = N(start)·r(start) + ∫ N·r′; before the first hold N = −∫ f before s.
        """
        problem, slots = self.conditions.problem, self.slots()
        ends = np.array([item.position for item in self.conditions.held])
        n = problem.load_n
        total = -float(np.sum(slots.weights[..., None] * n * slots.tangents))
        for k, hold in enumerate(problem.holds):
            if hold.end < problem.elements:
                total -= float(n[hold.end, 0] @ ends[k])
            if k == 0 and hold.end > 0:
                total += float(n[hold.end - 1, 2] @ ends[k])
            if not (problem.springy_tip and hold.end == problem.elements):
                total -= float(problem.loads.dead_point[hold.end] @ ends[k])
        if not (self.conditions.tip_follows or problem.holds[-1].end == problem.elements):
            chords = np.sum(slots.weights[..., None] * slots.tangents, axis=1)
            tip = ends[-1] + chords[problem.holds[-1].end :].sum(axis=0)
            total -= float(self.conditions.tip_force @ tip)
        return total

    def bend_resolution(self) -> tuple[float, int]:
        """How many times longer than the bend at its end the coarsest element is that is bent there, and which."""
        return bend_resolution(self.conditions, self.q, self.lam, self._known()[1])

    def stable(self) -> bool | None:
        """Whether the state minimises the energy; None where the loads have none."""
        c = self.conditions
        if not c.conservative:
            return None
        return unstable_modes(c, self.q, self.lam, self._known()[1]) == 0
