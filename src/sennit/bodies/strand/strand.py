"""The quasi-static Cosserat strand: a thin elastic solid in equilibrium."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.attributes import guarded
from sennit.bodies.making import FunctionOfS
from sennit.bodies.strand.made import law_of, made_of
from sennit.bodies.strand.posing import Posing, TipWrench
from sennit.bodies.strand.state import StrandState
from sennit.compile_once import compile_once
from sennit.cosserat.adapt import solve_adaptively
from sennit.cosserat.law.laws import Law
from sennit.cosserat.loads import PointLoad, Profile, kept_profile
from sennit.cosserat.model import Conditions, StrandModel
from sennit.cosserat.solve import MAX_ITERATIONS, distinct_equilibria, solve_conditions
from sennit.coupling import VirtualCoupling
from sennit.errors import InputError, SolveError
from sennit.geometry.pose import Pose
from sennit.material import Material, Properties, Section
from sennit.validation import FloatArray

__all__ = ["Strand"]


@guarded()
class Strand:
    """A thin elastic solid that bends, twists, and (if extensible) shears and stretches; always in equilibrium.

    Arguments:
        length: arclength at rest, m.
        section, material: give the stiffness, and the weight under gravity: each one for all, a list of two or more at
            equal steps from end to end (sizes and numbers are linear between), or a function of the rest length s (m).
            Or, instead of them:
        pieces: (length, section, material) one after the other from the base, a length of None taking what is left.
            Nodes stand where pieces meet: only pieces say where a strand jumps. Or:
        properties: `Properties`, numbers given directly; the strand then stretches by EA and does not shear, like rods
            in scenes. Or:
        stiffness: (6, 6), symmetric and positive definite, ordered bend d1, bend d2, twist (N·m²), shear d1, shear d2,
            stretch (N); off-diagonal 3×3 blocks (N·m) couple. Or (k, 6, 6) at equal steps from end to end, with
            straight lines between, or a function of s. Or:
        law: a `Law`, for an energy density that is not quadratic, the same all along.
        nodes: number of nodes; odd for order 4. ``"auto"`` places as many as `tolerance` asks for.
        tolerance: with ``nodes="auto"``: wanted position error over length.
        rest_curvature: û, 1/m: bending about d1 and d2 and twist of the unloaded strand; constant (3,), at the evenly
            spaced nodes (nodes, 3), or a function of s.
        rest_stretch: v̂, dimensionless, likewise.
        extensible: False fixes v = v̂: neither stretch nor shear.
        order: of accuracy: 4, or 2 or 1 for comparison (1 is the scheme of Pai 2002).
        mass_per_length: kg/m; only needed where nothing else tells it and gravity acts: a number, numbers (k,) at equal
            steps, or a function of s.

    Functions of s are called with each place twice, and must tell the same; also later, where holds and loads move
    nodes. Raises `InputError` for values that make no strand, with the place s where they vary.

    References: D. K. Pai, "STRANDS: Interactive Simulation of Thin Solids using Cosserat Models", Eurographics 2002;
    S. S. Antman, "Nonlinear Problems of Elasticity", chapter VIII.

    Example:
        >>> import sennit as sn
        >>> suture = sn.Strand(0.25, sn.Section.circle(radius=2e-4), sn.Material(2.7e9, 0.39, 1150), nodes=51)
        >>> state = suture.solve(base=sn.Pose(), tip_force=(0, 1e-4, 0))
        >>> state.report.converged
        True
    """

    length: float
    """Arclength at rest, m."""
    section: Section | None
    """Its cross-section; None for one that was given anything else, or sections that vary."""
    material: Material | None
    """What it is made of; None likewise."""
    radius: float | None
    """Of what is drawn, m: of a circle of its section's area, the largest; None if nothing tells it."""
    law: Law | None
    """Its elastic law, if it was given one."""
    extensible: bool
    """Whether it stretches and shears."""
    order: Literal[1, 2, 4]
    """Of accuracy."""
    tolerance: float | None
    """With ``nodes="auto"``: wanted position error over length; None for a fixed mesh."""
    nodes: int
    """Number of nodes; with ``nodes="auto"`` that of the evenly spaced ones of profiles."""
    mass_per_length: float | FloatArray | None
    """Mass of a metre, kg/m; where it varies, at `s`, (nodes,); None if nothing tells it."""

    def __init__(
        self,
        length: float,
        section: Section | Sequence[Section] | FunctionOfS | None = None,
        material: Material | Sequence[Material] | FunctionOfS | None = None,
        nodes: int | Literal["auto"] = 201,
        *,
        pieces: Sequence[tuple[float | None, Section | FunctionOfS, Material | FunctionOfS]] | None = None,
        properties: Properties | None = None,
        rest_curvature: Profile = (0.0, 0.0, 0.0),
        rest_stretch: Profile = (0.0, 0.0, 1.0),
        extensible: bool = False,
        order: Literal[1, 2, 4] = 4,
        stiffness: ArrayLike | Callable[[float], ArrayLike] | None = None,
        law: Law | None = None,
        tolerance: float | None = None,
        mass_per_length: ArrayLike | Callable[[float], float] | None = None,
    ) -> None:
        self.length = validation.number("length", length, positive=True)
        self.law = law
        self.extensible = validation.flag("extensible", extensible)
        self.order = order = _checked_order(order)
        self.tolerance = _checked_tolerance(nodes, tolerance)
        made = made_of(self.length, section, material, pieces, properties, stiffness, law, mass_per_length)
        self.section = section if isinstance(section, Section) else None
        self.material = material if isinstance(material, Material) else None
        self.radius = made.radius
        self.nodes = _checked_nodes(nodes, order, 0 if made.matter is None else len(made.matter.jumps))
        data = law_of(made, self.length, law, self.extensible, self.nodes, order)
        if order != 4 and not data.linear:
            raise InputError(f"a law that is not linear or couples strains needs order=4, got order={order}")
        curvature = kept_profile("rest_curvature", rest_curvature, self.nodes)
        stretch = kept_profile("rest_stretch", rest_stretch, self.nodes)
        self._model = StrandModel(self.length, data, order, self.nodes, curvature, stretch, made.matter)
        mass: float | FloatArray | None = made.mass
        if made.matter is not None and mass is None:
            along = made.matter.mass(self._model.uniform[:, None])
            mass = None if along is None else _read_only(along[:, 0].copy())
        self.mass_per_length = mass
        self._posing = Posing(self._model, self.mass_per_length)

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
        """Stiffness at rest (6, 6): bend d1, bend d2, twist (N·m²), shear d1, shear d2, stretch (N).

        Where it varies, at `s`: (nodes, 6, 6). Infinite in shear, if properties were given.
        """
        law = self._model.law
        if law.matter is None:
            return law.stiffness.copy()
        return law.matter.stiffness(self._model.uniform[:, None])[:, 0].copy()

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
        arclength (m) and point or pose between the ends. The dampers of a coupling need the `hand_velocity` (6,), m/s
        and rad/s, and the time `dt` (s) since the state before.

        What loads it: `tip_force` (N) and `tip_torque` (N·m) on a tip that is not held that way, turning with the tip
        if `follower`; `gravity` (m/s²); `force` (N/m) and `torque` (N) per length, constant, per node or a function
        of s, turning with the strand if `line_follower`; `point_loads`. All in the world frame unless they turn.

        How: from `guess`, a nearby state (and for the dampers of a coupling the one before; without it they rest), or
        cold; at most `max_iterations` (one more where a warm start must begin anew), 600 if it is left out, when a warm
        start that fails begins anew. ``throw=False`` returns what was found and leaves it to you to read
        ``state.report``: for a place out of reach the strand pulled taut towards it. ``method="shooting"`` is Pai's
        single shooting, for comparison; it may find an unstable equilibrium, and its report says so.

        Raises `InputError` for conditions that make no sense, among them (unless ``throw=False``) places that an
        inextensible strand can't reach, and `SolveError` when no equilibrium was found.
        """
        compile_once("strand", FIRST_SOLVE)
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
        posing = self._posing
        grips = posing.grips(
            base=base, tip=tip, tip_position=tip_position, via=via, coupling=coupling, hand=hand,
            hand_velocity=hand_velocity, dt=dt, guess=guess, throwing=throwing,
        )  # fmt: skip
        wrench = TipWrench.checked(
            tip=tip, tip_position=tip_position, coupling=coupling, tip_force=tip_force, tip_torque=tip_torque
        )
        line = posing.line_loads(gravity, force, torque, validation.flag("line_follower", line_follower), point_loads)
        conditions = posing.conditions(grips, line, wrench, validation.flag("follower", follower))
        if not conditions.conservative:
            compile_once("follower", FOLLOWERS)
        start = None if guess is None else guess._solution
        if method == "shooting":
            from sennit.cosserat.shooting import solve_by_shooting

            solution, report = solve_by_shooting(conditions, cap)
        elif self.tolerance is not None:
            solution, report = solve_adaptively(
                self._model, conditions, line, start, cap, self.tolerance, gathered=bool(grips.tight)
            )
        else:
            solution, report = solve_conditions(conditions, start, cap)
        if grips.missed:
            report = replace(report, status="failed", message=grips.missed)
        state = StrandState(self, solution, report, coupling is not None)
        if throwing and not report.converged:
            raise SolveError(report, state)
        return state

    def _prepare_stability(self) -> None:
        """Compile what judges stability, before it is used for the first time on a machine."""
        compile_once("stability", STABILITY)

    def equilibria(self, **conditions: Any) -> list[StrandState]:
        """The distinct equilibria that a multi-start finds under the conditions of `solve`, lowest energy first.

        A local search from many starts: it proves no completeness. Each state says whether it is `stable`; unstable
        ones are what the strand passes on its way from one stable state to another. Where a
        symmetry lets the strand lie in any direction, as a round one between coaxial clamps, several of its directions
        are listed.
        """
        compile_once("strand", FIRST_SOLVE)
        self._prepare_stability()
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
        grips = self._posing.grips(base=base, tip=tip, tip_position=tip_position, via=via)
        wrench = TipWrench.checked(tip=tip, tip_position=tip_position, tip_force=tip_force, tip_torque=tip_torque)
        line = self._posing.line_loads(gravity, force, torque, line_follower, point_loads)
        return self._posing.conditions(grips, line, wrench, follower)


def _read_only(array: FloatArray) -> FloatArray:
    array.flags.writeable = False
    return array


def _checked_tolerance(nodes: object, tolerance: float | None) -> float | None:
    """Tolerance of an automatic mesh, or None for a mesh of a given size."""
    if isinstance(nodes, str):
        if nodes != "auto":
            raise InputError(f'nodes must be a whole number or "auto", got {validation.quoted(nodes)}')
        wanted = 1e-6 if tolerance is None else tolerance
        return validation.number("tolerance", wanted, minimum=1e-10, maximum=0.1)
    if tolerance is not None:
        raise InputError(f'tolerance= goes with nodes="auto", got nodes={validation.quoted(nodes)}')
    return None


def _checked_order(order: Any) -> Literal[1, 2, 4]:
    """Order of accuracy."""
    value = validation.count("order", order, 1, 4, why="but 3")
    if value == 3:
        raise InputError("order must be 1, 2 or 4, got 3")
    return value  # type: ignore[return-value]


def _checked_nodes(nodes: object, order: int, jumps: int) -> int:
    """Number of nodes (of the first mesh, if it is automatic) of a strand that jumps so often."""
    if isinstance(nodes, str) and nodes == "auto":
        if order != 4:
            raise InputError(f'nodes="auto" needs order=4, got order={order}')
        return max(41, 4 * jumps + 5)
    return validation.count("nodes", nodes, 3, odd=order == 4, why="(order=4 pairs the elements)" if order == 4 else "")


def _small_strand() -> Strand:
    return Strand(1.0, stiffness=np.eye(6), nodes=5)


FIRST_SOLVE = (lambda: _small_strand().solve(base=Pose(), tip_force=(0.1, 0, 0)),)
STABILITY = (lambda: _small_strand().solve(base=Pose(), tip_force=(0.1, 0, 0)).stable,)
FOLLOWERS = (
    lambda: _small_strand().solve(base=Pose(), tip_force=(0.1, 0, 0), follower=True),
    lambda: _small_strand().solve(base=Pose(), torque=(0.1, 0, 0)),
)
"""Steps for `compile_once`: a solve under dead forces, its stability, and solves under loads without a potential."""
