"""From what users say of a strand's grips and loads to the conditions that the numerics solve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.cosserat.loads import PointLoad, Profile, checked_point_loads, kept_profile
from sennit.cosserat.model import NO_TIP_LOAD, Conditions, Held, LineLoads, StrandModel, TipLoad, TipSpring
from sennit.cosserat.problem import Problem
from sennit.cosserat.taut import gathered_density, lost_on_mesh, rounded_layer, taut_stretch
from sennit.coupling import VirtualCoupling
from sennit.errors import InputError
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import quaternion_product, rotation_exp
from sennit.validation import FloatArray

if TYPE_CHECKING:
    from sennit.bodies.strand.state import StrandState

__all__ = ["Grips", "Posing", "TipWrench"]

_CACHED_PROBLEMS = 8
_NEAREST = 0.9999  # of its reach: where a point is held that is beyond it
_NO_SLACK = 1e-7  # of its reach: less is none for a strand whose ends point elsewhere
_NO_LINE_LOADS = LineLoads()
_NO_FORCE = np.zeros(3)
_NO_FORCE.flags.writeable = False


class Grips(NamedTuple):
    """What holds a strand."""

    held: list[Held]
    """Points whose positions are given, in order of s."""
    springs: tuple[TipSpring, ...]
    """Rotational springs of a coupling, at the tip."""
    compliance: float
    """Of the spring that holds the tip's position, in the kernels' units; 0 if it is held rigidly, or not at all."""
    missed: str = ""
    """What was out of reach, in words, where `held` is pulled within it."""
    tight: tuple[tuple[int, float], ...] = ()
    """Stretches that a uniform mesh is too coarse to pull so straight: the hold that each begins at, and its reach."""


class TipWrench(NamedTuple):
    """What a user applies at the tip, in SI units; None where nothing is said."""

    force: FloatArray | None = None
    torque: FloatArray | None = None

    @classmethod
    def checked(
        cls,
        *,
        tip: Pose | None = None,
        tip_position: ArrayLike | None = None,
        coupling: VirtualCoupling | None = None,
        tip_force: ArrayLike | None = None,
        tip_torque: ArrayLike | None = None,
    ) -> TipWrench:
        """Force and torque on the tip; refuses those that what holds the tip would swallow."""
        if tip_force is None and tip_torque is None:
            return _NO_WRENCH
        if tip_force is not None:
            for name, value in (("tip", tip), ("tip_position", tip_position), ("coupling", coupling)):
                if value is not None:
                    raise InputError(
                        f"give {name}= or tip_force=, not both: the force on a held tip is part of the answer"
                    )
        if tip_torque is not None and tip is not None:
            raise InputError("give tip= or tip_torque=, not both: the torque on a held tip is part of the answer")
        return cls(
            None if tip_force is None else validation.vector("tip_force", tip_force),
            None if tip_torque is None else validation.vector("tip_torque", tip_torque),
        )


_NO_WRENCH = TipWrench()


class Posing:
    """Poses the problems of one strand: it checks what holds and loads it, and keeps the problems posed last."""

    def __init__(self, model: StrandModel, mass_per_length: float | FloatArray | None) -> None:
        self.model, self.length, self.mass_per_length = model, model.length, mass_per_length
        with validation.in_range("rest_stretch and length"):
            self._reach = model.reach()
        self._h = 1.0 / model.elements
        self.problems: dict[Any, Problem] = {}
        self._base: tuple[Pose, Held] | None = None

    def grips(
        self,
        *,
        base: Pose | None = None,
        tip: Pose | None = None,
        tip_position: ArrayLike | None = None,
        via: Sequence[tuple[float, ArrayLike | Pose]] = (),
        coupling: VirtualCoupling | None = None,
        hand: Pose | None = None,
        hand_velocity: ArrayLike | None = None,
        dt: float | None = None,
        guess: StrandState | None = None,
        throwing: bool = True,
    ) -> Grips:
        """What holds the strand, as `Strand.solve` says it. Unless `throwing`, it is pulled within reach."""
        scale = 1.0 / self.length
        held = []
        if base is not None:
            known = self._base
            if known is None or known[0] is not base:  # a pose never changes: the same one needs no second look
                known = self._base = base, Held(0.0, _checked_pose("base", base).position * scale, base.quaternion)
            held.append(known[1])
        if type(via) is not tuple or via:  # most strands are held at their ends alone
            if not isinstance(via, Sequence) or cast(object, type(via)) in (str, bytes):
                raise InputError(f"via must be a list of pairs (s, point or Pose), got {validation.quoted(via)}")
            for item in via:
                held.append(self._via(item))
        springs: tuple[TipSpring, ...] = ()
        compliance = 0.0
        if coupling is not None:
            if tip is not None or tip_position is not None:
                raise InputError("give one of coupling=, tip= and tip_position=: each of them holds the tip")
            place, springs, compliance = self._coupled(coupling, hand, hand_velocity, dt, guess)
            held.append(place)
        elif hand is not None:
            raise InputError("hand= needs coupling=: a sennit.VirtualCoupling between hand and tip")
        elif tip is not None:
            if tip_position is not None:
                raise InputError("give tip= (a pose) or tip_position= (a point), not both")
            held.append(Held(1.0, _checked_pose("tip", tip).position * scale, tip.quaternion))
        elif tip_position is not None:
            held.append(Held(1.0, validation.vector("tip_position", tip_position) * scale, None))
        if len(via):
            held.sort(key=lambda item: item.s)
            for a, b in zip(held, held[1:], strict=False):
                if a.s == b.s:
                    raise InputError(f"via: two conditions hold the strand at s = {a.s * self.length:g} m")
        if not held:
            raise InputError("nothing holds the strand: give base=, tip=, tip_position= or via=")
        if self.model.law.extensible:
            return Grips(held, springs, compliance)
        missed, tight = self._within_reach(held, coupling is not None, throwing)
        return Grips(held, springs, compliance, missed, tight)

    def _via(self, item: object) -> Held:
        try:
            s, where = cast(tuple[Any, Any], item)
        except Exception:  # whatever the value's own methods raise
            raise InputError(f"via must hold pairs (s, point or Pose), got {validation.quoted(item)}") from None
        at = validation.number("via: s", s, minimum=0.0, maximum=self.length) / self.length
        if isinstance(where, Pose):
            return Held(at, where.position / self.length, where.quaternion)
        return Held(at, validation.vector("via: point", where) / self.length, None)

    def _within_reach(
        self, held: list[Held], coupled: bool, throwing: bool
    ) -> tuple[str, tuple[tuple[int, float], ...]]:
        """Raise `InputError` if places are too far apart for the strand; or pull them within reach, and say so.

        Returns what was out of reach, and which stretches are tight, see `Grips`.
        """
        missed = ""
        tight: tuple[tuple[int, float], ...] = ()
        h = self._h
        for k in range(len(held) - (2 if coupled else 1)):
            a, b = held[k], held[k + 1]
            distance = math.dist(a.position.tolist(), b.position.tolist())
            if self._reach is None:
                reach = b.s - a.s
            else:
                reach = float(np.diff(np.interp((a.s, b.s), *self._reach))[0])
            if distance > reach * (1.0 + 1e-12):
                missed = missed or (
                    f"an inextensible strand reaches {reach * self.length:.6g} m from s = {a.s * self.length:g} m to "
                    f"s = {b.s * self.length:g} m, but these points are {distance * self.length:.6g} m apart: bring "
                    f"them closer, or make the strand with extensible=True"
                )
                if throwing:
                    raise InputError(missed)
                held[k + 1], distance = _nearest(a, b, reach, distance)
            # (1 − cos α) is 2 at most, which spares most strands a closer look
            if reach - distance < h and reach - distance < 1.5 * lost_on_mesh(held, k, h):
                if reach - distance < _NO_SLACK * reach and not throwing:
                    missed = missed or (
                        f"from s = {a.s * self.length:g} m to s = {b.s * self.length:g} m the strand is asked to be "
                        f"straight, but its ends there point elsewhere, which takes a force without bound: bring these "
                        f"points closer, or make the strand with extensible=True"
                    )
                    held[k + 1], _ = _nearest(a, b, reach, distance)
                tight = *tight, (k, reach)
        return missed, tight

    def _coupled(
        self,
        coupling: VirtualCoupling,
        hand: Pose | None,
        hand_velocity: ArrayLike | None,
        dt: float | None,
        guess: StrandState | None,
    ) -> tuple[Held, tuple[TipSpring, ...], float]:
        """Spring and damper of one time step as springs: a damper d pulls like a spring d/dt towards where the tip
        would be had it moved with the hand.
        """
        if not isinstance(coupling, VirtualCoupling):
            raise InputError(f"coupling must be a sennit.VirtualCoupling, got {validation.quoted(coupling)}")
        if hand is None:
            raise InputError("coupling= needs hand=, the pose of the hand")
        hand = _checked_pose("hand", hand)
        twist = np.zeros(6) if hand_velocity is None else validation.array("hand_velocity", hand_velocity, (6,))
        k, k_turn = coupling.stiffness, coupling.rotational_stiffness
        target = k * hand.position
        springs = []
        if k_turn > 0.0:
            springs.append(TipSpring(k_turn / self.model.moment_unit, hand.quaternion))
        if coupling.damped:
            if dt is None:
                raise InputError("a coupling with damping needs dt=, the time since the previous state, in seconds")
            dt = validation.number("dt", dt, positive=True)
            # the first tick of a loop has no previous state, and no damping: the tip comes to where the springs pull
            if guess is not None:
                previous = guess.tip_pose
                moved = previous.position + twist[:3] * dt
                k += coupling.damping / dt
                target = target + coupling.damping / dt * moved
                if coupling.rotational_damping > 0.0:
                    turned = quaternion_product(rotation_exp(twist[3:] * dt), previous.quaternion)
                    springs.append(TipSpring(coupling.rotational_damping / dt / self.model.moment_unit, turned))
        place = Held(1.0, target / k / self.length, None)
        return place, tuple(springs), self.model.force_unit / (k * self.length)

    def line_loads(
        self,
        gravity: ArrayLike | None,
        force: Profile | None = None,
        torque: Profile | None = None,
        line_follower: bool = False,
        point_loads: Sequence[PointLoad] = (),
    ) -> LineLoads:
        """What loads the strand between its ends, as `Strand.solve` says it."""
        points = checked_point_loads(point_loads, self.length)
        if gravity is None and force is None and torque is None and not points:
            return _NO_LINE_LOADS
        weight, varied = (0.0, 0.0, 0.0), None
        if gravity is not None:
            g = validation.vector("gravity", gravity)
            if g.any():
                if self.mass_per_length is None:
                    raise InputError("gravity needs the strand's mass: give section and material, or mass_per_length=")
                mass = self.mass_per_length
                if isinstance(mass, np.ndarray):
                    varied, mass = (float(g[0]), float(g[1]), float(g[2])), float(np.mean(mass))
                x, y, z = g * mass
                weight = (float(x), float(y), float(z))
        return LineLoads(
            weight,
            varied,
            None if force is None else kept_profile("force", force, self.model.nodes),
            None if torque is None else kept_profile("torque", torque, self.model.nodes),
            line_follower,
            points,
        )

    def conditions(self, grips: Grips, line: LineLoads, wrench: TipWrench, follower: bool = False) -> Conditions:
        """The problem of these grips and loads, and the numbers that may change without another problem."""
        (held, springs, compliance, _, tight), (force, torque) = grips, wrench
        if force is not None and held[-1].s == 1.0:
            raise InputError("tip_force= acts on a tip that nothing holds: leave it out, or the via= at the tip")
        if torque is not None and held[-1].s == 1.0 and held[-1].quaternion is not None:
            raise InputError("tip_torque= acts on a tip that can turn: leave it out, or give via= a point at the tip")
        problem = self._problem(held, line, compliance > 0.0, tight)
        target = np.zeros((problem.segments, 3))
        k = 0 if problem.holds[0].end == 0 else 1
        for i in range(1, len(held)):
            np.subtract(held[i].position, held[i - 1].position, out=target[k])
            k += 1
        tip = NO_TIP_LOAD
        if torque is not None or springs:
            none = NO_TIP_LOAD.dead_moment
            moment = none if torque is None else torque / self.model.moment_unit
            tip = TipLoad(none if follower else moment, moment if follower else none, springs)
        tip_force = _NO_FORCE if force is None else force / self.model.force_unit
        return Conditions(problem, held, target, tip, tip_force, follower, compliance)

    def _problem(
        self, held: list[Held], line: LineLoads, springy_tip: bool, tight: tuple[tuple[int, float], ...]
    ) -> Problem:
        """The problem of these holds and loads; kept while only poses, hands and tip loads change."""
        layers: tuple[tuple[int, float], ...] = ()
        if tight:
            weight = np.array(line.weight) * self.length / self.model.force_unit
            layers = tuple((k, rounded_layer(taut_stretch(held, k, reach, weight).layer)) for k, reach in tight)
        key = (springy_tip, line.key, layers, *[(item.s, item.quaternion is None) for item in held])
        problem = self.problems.get(key)
        if problem is None:
            places = [item.s for item in held] + [point.s / self.length for point in line.points]
            ends = self.model.ends(places, gathered_density(held, dict(layers)) if layers else None)
            problem = self.model.problem(line, ends, held, springy_tip)
            if len(self.problems) >= _CACHED_PROBLEMS:
                self.problems.clear()
            self.problems[key] = problem
        return problem


def _nearest(a: Held, b: Held, reach: float, distance: float) -> tuple[Held, float]:
    """The hold b pulled towards a until the strand reaches it, nearly straight; and how far it is then."""
    place = a.position + (_NEAREST * reach / distance) * (b.position - a.position)
    return Held(b.s, place, b.quaternion), _NEAREST * reach


def _checked_pose(name: str, value: object) -> Pose:
    """`value`, which must be a pose."""
    if not isinstance(value, Pose):
        raise InputError(
            f"{name} must be a sennit.Pose, got {validation.quoted(value)}: for a point use via= or tip_position="
        )
    return value
