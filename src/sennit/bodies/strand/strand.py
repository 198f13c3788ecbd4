"""The quasi-static Cosserat strand: a thin elastic solid in equilibrium."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.strand.arguments import (
    checked_mass,
    checked_nodes,
    checked_order,
    checked_pose,
    checked_tip_loads,
    checked_tolerance,
    kept_profile,
    law_data,
    profile_key,
    reach_of,
)
from sennit.bodies.strand.state import StrandState
from sennit.compilation import compile_once
from sennit.cosserat.adapt import solve_adaptively
from sennit.cosserat.kernels.newton import TIP_DEAD, TIP_FOLLOWER, TIP_SPRING
from sennit.cosserat.law.laws import Law
from sennit.cosserat.loads import PointLoad, Profile, checked_point_loads
from sennit.cosserat.model import Conditions, Held, LineLoads, StrandModel
from sennit.cosserat.newton import no_tip_load
from sennit.cosserat.problem import Problem
from sennit.cosserat.solve import MAX_ITERATIONS, distinct_equilibria, solve_conditions
from sennit.coupling import VirtualCoupling
from sennit.errors import InputError, SolveError
from sennit.geometry.pose import Pose
from sennit.geometry.rotations import quaternion_product, rotation_exp
from sennit.material import Material, Section
from sennit.validation import FloatArray

__all__ = ["Strand"]

_CACHED_PROBLEMS = 8
_NO_LINE_LOADS = LineLoads()


class Strand:
    """A thin elastic solid that bends, twists, and (if extensible) shears and stretches; always in equilibrium.

    Arguments:
        length: arclength at rest, m.
        section, material: give the stiffness, and the weight under gravity. Or, instead of them:
        stiffness: (6, 6), symmetric and positive definite, ordered bend d1, bend d2, twist (N·m²), shear d1, shear d2,
            stretch (N); off-diagonal 3×3 blocks (N·m) couple. Or:
        law: a `Law`, for an energy density that is not quadratic.
        nodes: number of nodes; odd for order 4. ``"auto"`` places as many as `tolerance` asks for.
        tolerance: with ``nodes="auto"``: wanted position error over length.
        rest_curvature: û, 1/m: bending about d1 and d2 and twist of the unloaded strand; constant (3,), at the evenly
            spaced nodes (nodes, 3), or a function of s.
        rest_stretch: v̂, dimensionless, likewise.
        extensible: False fixes v = v̂: neither stretch nor shear.
        order: of accuracy: 4, or 2 or 1 for comparison (1 is the scheme of Pai 2002).
        mass_per_length: kg/m; only needed where there are no section and material and gravity acts.

    Raises `InputError` for values that make no strand.

    References: D. K. Pai, "STRANDS: Interactive Simulation of Thin Solids using Cosserat Models", Eurographics 2002;
    S. S. Antman, "Nonlinear Problems of Elasticity", chapter VIII.

    Example:
        >>> import sennit as sn
        >>> suture = sn.Strand(0.25, sn.Section.circle(radius=2e-4), sn.Material(2.7e9, 0.39, 1150), nodes=51)
        >>> state = suture.solve(base=sn.Pose(), tip_force=(0, 1e-4, 0))
        >>> state.report.converged
        True
    """

    def __init__(
        self,
        length: float,
        section: Section | None = None,
        material: Material | None = None,
        nodes: int | Literal["auto"] = 201,
        *,
        rest_curvature: Profile = (0.0, 0.0, 0.0),
        rest_stretch: Profile = (0.0, 0.0, 1.0),
        extensible: bool = False,
        order: Literal[1, 2, 4] = 4,
        stiffness: ArrayLike | None = None,
        law: Law | None = None,
        tolerance: float | None = None,
        mass_per_length: float | None = None,
    ) -> None:
        self.length = validation.number("length", length, positive=True)
        self.section, self.material, self.law = section, material, law
        self.extensible = validation.flag("extensible", extensible)
        self.order = order = checked_order(order)
        self.tolerance = checked_tolerance(nodes, tolerance)
        with validation.in_range("length and stiffness of a strand"):
            data = law_data(self.length, section, material, stiffness, law, self.extensible)
        if order != 4 and not data.linear:
            raise InputError(f"a law that is not linear or couples strains needs order=4, got order={order}")
        self.nodes = checked_nodes(nodes, order)
        self.mass_per_length = checked_mass(section, material, mass_per_length)
        curvature = kept_profile("rest_curvature", rest_curvature, self.nodes)
        stretch = kept_profile("rest_stretch", rest_stretch, self.nodes)
        self._model = StrandModel(self.length, data, order, self.nodes, curvature, stretch)
        with validation.in_range("rest_stretch and length"):
            self._reach = reach_of(self._model)
        self._problems: dict[Any, Problem] = {}
        self._base: tuple[Pose, Held] | None = None

    def __repr__(self) -> str:
        size = "auto" if self.tolerance is not None else self.nodes
        return f"Strand(length={self.length:g}, nodes={size}, order={self.order}, extensible={self.extensible})"

    @property
    def model(self) -> StrandModel:
        """Its numbers without units, and the units."""
        return self._model

    @property
    def s(self) -> FloatArray:
        """Evenly spaced arclengths (nodes,), m, at which profiles given as arrays have their values."""
        return self._model.uniform.copy()

    @property
    def stiffness(self) -> FloatArray:
        """Stiffness at rest (6, 6): bend d1, bend d2, twist (N·m²), shear d1, shear d2, stretch (N)."""
        return self._model.law.stiffness.copy()

    # -------------------------------------------------------------------------------------------------------- solving

    @np.errstate(over="ignore", invalid="ignore")  # what overflows comes out as a solve that failed
    def solve(
        self,
        *,
        base: Pose | None = None,
        tip: Pose | None = None,
        tip_position: ArrayLike | None = None,
        tip_force: ArrayLike | None = None,
        tip_torque: ArrayLike | None = None,
        gravity: ArrayLike | None = None,
        force: Profile | None = None,
        torque: Profile | None = None,
        point_loads: Sequence[PointLoad] = (),
        via: Sequence[tuple[float, ArrayLike | Pose]] = (),
        follower: bool = False,
        line_follower: bool = False,
        coupling: VirtualCoupling | None = None,
        hand: Pose | None = None,
        hand_velocity: ArrayLike | None = None,
        dt: float | None = None,
        guess: StrandState | None = None,
        max_iterations: int | None = None,
        throw: bool = True,
        method: Literal["shooting"] | None = None,
    ) -> StrandState:
        """Find an equilibrium.

        What holds the strand: `base`, the pose of its first cross-section (None: free); at the tip one of `tip` (a
        pose), `tip_position` (a point, m; no moment there), a `coupling` to a `hand`, or nothing; `via`, pairs of
        arclength (m) and point or pose between the ends.

        What loads it: `tip_force` (N) and `tip_torque` (N·m) on a tip that is not held that way, turning with the tip
        if `follower`; `gravity` (m/s²); `force` (N/m) and `torque` (N) per length, constant, per node or a function
        of s, turning with the strand if `line_follower`; `point_loads`. All in the world frame unless they turn.

        How: from `guess`, a nearby state (and for the dampers of a coupling the one before; without it they rest), or
        cold; at most `max_iterations` (one more where a warm start must begin anew). ``throw=False`` returns what was
        found and leaves it to you to read ``state.report``. ``method="shooting"`` is Pai's single shooting, for
        comparison.

        Raises `InputError` for conditions that make no sense, and `SolveError` when no equilibrium was found.
        """
        compile_once("strand", _COMPILATION)
        throwing = validation.flag("throw", throw)
        if coupling is None:
            for name, value in (("hand_velocity", hand_velocity), ("dt", dt)):
                if value is not None:
                    raise InputError(
                        f"{name}= goes with coupling=, got {validation.quoted(value)}: give both or neither"
                    )
        if method is not None:
            validation.choice("method", method, ("shooting",))
        cap = MAX_ITERATIONS
        if max_iterations is not None:
            cap = validation.count("max_iterations", max_iterations, 1, validation.UNLIMITED)
        if guess is not None and not isinstance(guess, StrandState):
            raise InputError(f"guess must be a state that solve returned, got {validation.quoted(guess)}")
        held, springs, compliance = self._held(base, tip, tip_position, via, coupling, hand, hand_velocity, dt, guess)
        applied = checked_tip_loads(tip, tip_position, coupling, tip_force, tip_torque)
        line = self._line_loads(gravity, force, torque, validation.flag("line_follower", line_follower), point_loads)
        conditions = self._conditions(held, line, compliance, springs, applied, validation.flag("follower", follower))
        start = None if guess is None else guess._solution
        if method == "shooting":
            from sennit.cosserat.shooting import solve_by_shooting

            solution, report = solve_by_shooting(conditions, cap)
        elif self.tolerance is not None:
            solution, report = solve_adaptively(self._model, conditions, line, start, cap, self.tolerance)
        else:
            solution, report = solve_conditions(conditions, start, cap)
        state = StrandState(self, solution, report, coupling is not None)
        if throwing and not report.converged:
            raise SolveError(report, state)
        return state

    def equilibria(self, **conditions: Any) -> list[StrandState]:
        """The distinct equilibria that a multi-start finds under the conditions of `solve`, lowest energy first.

        A local search from many starts: it proves no completeness. Each state says whether it is `stable`; unstable
        ones are what the strand passes on its way from one stable state to another. Where a
        symmetry lets the strand lie in any direction, as a round one between coaxial clamps, several of its directions
        are listed.
        """
        compile_once("strand", _COMPILATION)
        for name in ("guess", "max_iterations", "throw", "method", "coupling", "hand", "hand_velocity", "dt"):
            if name in conditions:
                raise InputError(f"equilibria takes the holds and loads of solve, not {name}=")
        if self.tolerance is not None:
            raise InputError('equilibria needs a fixed mesh: give nodes as a number, not "auto"')
        posed = self._posed(**conditions)
        if not posed.conservative:
            raise InputError(
                "equilibria compares energies: follower loads and moments have none; give dead forces only"
            )
        states = [StrandState(self, solution, report) for solution, report in distinct_equilibria(posed)]
        return sorted(states, key=lambda state: state.energy.total)

    def _posed(
        self,
        *,
        base: Pose | None = None,
        tip: Pose | None = None,
        tip_position: ArrayLike | None = None,
        tip_force: ArrayLike | None = None,
        tip_torque: ArrayLike | None = None,
        gravity: ArrayLike | None = None,
        force: Profile | None = None,
        torque: Profile | None = None,
        point_loads: Sequence[PointLoad] = (),
        via: Sequence[tuple[float, ArrayLike | Pose]] = (),
        follower: bool = False,
        line_follower: bool = False,
    ) -> Conditions:
        held, springs, compliance = self._held(base, tip, tip_position, via, None, None, None, None, None)
        applied = checked_tip_loads(tip, tip_position, None, tip_force, tip_torque)
        line = self._line_loads(gravity, force, torque, line_follower, point_loads)
        return self._conditions(held, line, compliance, springs, applied, follower)

    # ----------------------------------------------------------------------------------------- from words to numbers

    def _held(
        self,
        base: Pose | None,
        tip: Pose | None,
        tip_position: ArrayLike | None,
        via: Sequence[tuple[float, ArrayLike | Pose]],
        coupling: VirtualCoupling | None,
        hand: Pose | None,
        hand_velocity: ArrayLike | None,
        dt: float | None,
        guess: StrandState | None,
    ) -> tuple[list[Held], list[tuple[float, FloatArray]], float]:
        """Held points in order of s, the tip's rotational springs and the compliance of its translational one."""
        scale = 1.0 / self.length
        held = []
        if base is not None:
            known = self._base
            if known is None or known[0] is not base:  # a pose never changes: the same one needs no second look
                known = self._base = base, Held(0.0, checked_pose("base", base).position * scale, base.quaternion)
            held.append(known[1])
        if not isinstance(via, Sequence) or cast(object, type(via)) in (str, bytes):
            raise InputError(f"via must be a list of pairs (s, point or Pose), got {validation.quoted(via)}")
        for item in via:
            held.append(self._via(item))
        springs: list[tuple[float, FloatArray]] = []
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
            held.append(Held(1.0, checked_pose("tip", tip).position * scale, tip.quaternion))
        elif tip_position is not None:
            held.append(Held(1.0, validation.vector("tip_position", tip_position) * scale, None))
        if len(via):
            held.sort(key=lambda item: item.s)
            for a, b in zip(held, held[1:], strict=False):
                if a.s == b.s:
                    raise InputError(f"via: two conditions hold the strand at s = {a.s * self.length:g} m")
        if not held:
            raise InputError("nothing holds the strand: give base=, tip=, tip_position= or via=")
        if not self.extensible:
            self._check_reach(held, coupling is not None)
        return held, springs, compliance

    def _via(self, item: object) -> Held:
        try:
            s, where = cast(tuple[Any, Any], item)
        except Exception:  # whatever the value's own methods raise
            raise InputError(f"via must hold pairs (s, point or Pose), got {validation.quoted(item)}") from None
        at = validation.number("via: s", s, minimum=0.0, maximum=self.length) / self.length
        if isinstance(where, Pose):
            return Held(at, where.position / self.length, where.quaternion)
        return Held(at, validation.vector("via: point", where) / self.length, None)

    def _check_reach(self, held: list[Held], coupled: bool) -> None:
        for k in range(len(held) - (2 if coupled else 1)):
            a, b = held[k], held[k + 1]
            distance = math.dist(a.position.tolist(), b.position.tolist())
            if self._reach is None:
                reach = b.s - a.s
            else:
                reach = float(np.diff(np.interp((a.s, b.s), *self._reach))[0])
            if distance > reach * (1.0 + 1e-12):
                raise InputError(
                    f"an inextensible strand reaches {reach * self.length:.6g} m from s = {a.s * self.length:g} m to "
                    f"s = {b.s * self.length:g} m, but these points are {distance * self.length:.6g} m apart: bring "
                    f"them closer, or make the strand with extensible=True"
                )

    def _coupled(
        self,
        coupling: VirtualCoupling,
        hand: Pose | None,
        hand_velocity: ArrayLike | None,
        dt: float | None,
        guess: StrandState | None,
    ) -> tuple[Held, list[tuple[float, FloatArray]], float]:
        """Spring and damper of one time step as springs: a damper d pulls like a spring d/dt towards where the tip
        would be had it moved with the hand.
        """
        if not isinstance(coupling, VirtualCoupling):
            raise InputError(f"coupling must be a sennit.VirtualCoupling, got {validation.quoted(coupling)}")
        if hand is None:
            raise InputError("coupling= needs hand=, the pose of the hand")
        hand = checked_pose("hand", hand)
        twist = np.zeros(6) if hand_velocity is None else validation.array("hand_velocity", hand_velocity, (6,))
        k, k_turn = coupling.stiffness, coupling.rotational_stiffness
        target, springs = k * hand.position, []
        if k_turn > 0.0:
            springs.append((k_turn / self._model.moment_unit, hand.quaternion))
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
                    springs.append((coupling.rotational_damping / dt / self._model.moment_unit, turned))
        place = Held(1.0, target / k / self.length, None)
        return place, springs, self._model.force_unit / (k * self.length)

    def _line_loads(
        self,
        gravity: ArrayLike | None,
        force: Profile | None,
        torque: Profile | None,
        line_follower: bool,
        point_loads: Sequence[PointLoad],
    ) -> LineLoads:
        points = checked_point_loads(point_loads, self.length)
        if gravity is None and force is None and torque is None and not points:
            return _NO_LINE_LOADS
        weight = (0.0, 0.0, 0.0)
        if gravity is not None:
            g = validation.vector("gravity", gravity)
            if g.any():
                if self.mass_per_length is None:
                    raise InputError("gravity needs the strand's mass: give section and material, or mass_per_length=")
                x, y, z = g * self.mass_per_length
                weight = (float(x), float(y), float(z))
        return LineLoads(
            weight,
            None if force is None else kept_profile("force", force, self.nodes),
            None if torque is None else kept_profile("torque", torque, self.nodes),
            line_follower,
            points,
        )

    def _conditions(
        self,
        held: list[Held],
        line: LineLoads,
        compliance: float,
        springs: list[tuple[float, FloatArray]],
        applied: tuple[FloatArray | None, FloatArray | None],
        follower: bool,
    ) -> Conditions:
        force, torque = applied
        if force is not None and held[-1].s == 1.0:
            raise InputError("tip_force= acts on a tip that nothing holds: leave it out, or the via= at the tip")
        if torque is not None and held[-1].s == 1.0 and held[-1].quaternion is not None:
            raise InputError("tip_torque= acts on a tip that can turn: leave it out, or give via= a point at the tip")
        problem = self._problem(held, line, compliance > 0.0)
        target = np.zeros((len(problem.held), 3))
        k = 0 if problem.holds[0].end == 0 else 1
        for i in range(1, len(held)):
            np.subtract(held[i].position, held[i - 1].position, out=target[k])
            k += 1
        tip = no_tip_load()
        if torque is not None:
            tip[TIP_FOLLOWER if follower else TIP_DEAD :][:3] = torque / self._model.moment_unit
        for k, (stiffness, towards) in enumerate(springs):
            o = TIP_SPRING + 5 * k
            tip[o], tip[o + 1 : o + 5] = stiffness, towards
        tip_force = np.zeros(3) if force is None else force / self._model.force_unit
        return Conditions(problem, held, target, tip, tip_force, follower, compliance)

    def _problem(self, held: list[Held], line: LineLoads, springy_tip: bool) -> Problem:
        """The problem of these holds and loads; kept while only poses, hands and tip loads change."""
        key = (
            springy_tip,
            line.weight,
            profile_key(line.force),
            profile_key(line.torque),
            line.follower,
            line.points,
            *((item.s, item.quaternion is None) for item in held),
        )
        problem = self._problems.get(key)
        if problem is None:
            ends = self._model.ends([item.s for item in held] + [point.s / self.length for point in line.points])
            problem = self._model.problem(ends, self._model.loads(line, ends), held, springy_tip)
            if len(self._problems) >= _CACHED_PROBLEMS:
                self._problems.clear()
            self._problems[key] = problem
        return problem


def _small_strand() -> Strand:
    return Strand(1.0, stiffness=np.eye(6), nodes=5)


_COMPILATION = (
    ("two sweeps", lambda: _small_strand().solve(base=Pose(), tip_force=(0.1, 0, 0), follower=True)),
    ("energy method", lambda: _small_strand().solve(base=Pose(), tip_force=(0.1, 0, 0))),
    ("stability", lambda: _small_strand().solve(base=Pose(), tip_force=(0.1, 0, 0)).stable),
    ("general method", lambda: _small_strand().solve(base=Pose(), torque=(0.1, 0, 0))),
)
