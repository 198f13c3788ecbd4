"""A strand as the numerics see it: law, rest shape and mesh, and the problems that conditions at its points pose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sennit.cosserat.law.laws import LawData
from sennit.cosserat.law.varied import Matter
from sennit.cosserat.loads import PointLoad, profile_key, sampled
from sennit.cosserat.mesh import element_ends, nodes_of, thirds_of
from sennit.cosserat.problem import Hold, Problem, element_samples
from sennit.cosserat.tables import Loads, TipTerms
from sennit.errors import InputError
from sennit.validation import FloatArray

__all__ = ["NO_TIP_LOAD", "Conditions", "Held", "LineLoads", "StrandModel", "TipLoad", "TipSpring", "first_ends"]

_CLOSE = 1e-9  # of the length: what is nearer stands at one place
TIP_SPRINGS = 2
"""As many springs turn the tip at most: that of a coupling, and its damper."""


@dataclass(slots=True)
class Held:
    """A given position, and rotation if `quaternion` is not None, at s (in units of the length, like the position)."""

    s: float
    position: FloatArray
    quaternion: FloatArray | None


class TipSpring(NamedTuple):
    """A rotational spring at the tip."""

    stiffness: float
    """How strongly it pulls, in B/L."""
    towards: FloatArray
    """Quaternion (4,) that it pulls towards."""


@dataclass(frozen=True, slots=True, eq=False)
class TipLoad:
    """What acts on the tip's rotation, in the kernels' units."""

    dead_moment: FloatArray = field(default_factory=lambda: np.zeros(3))
    """Moment whose direction stays in space, world frame."""
    follower_moment: FloatArray = field(default_factory=lambda: np.zeros(3))
    """Moment that turns with the tip, body frame."""
    springs: tuple[TipSpring, ...] = ()
    has_moment: bool = field(init=False)
    """Whether a moment is applied, which has no potential."""

    def __post_init__(self) -> None:
        moment = any(self.dead_moment.tolist()) or any(self.follower_moment.tolist())
        object.__setattr__(self, "has_moment", moment)

    def scaled(self, share: float) -> TipLoad:
        """The same springs, and a share of the moments."""
        return TipLoad(share * self.dead_moment, share * self.follower_moment, self.springs)

    def write(self, terms: TipTerms) -> None:
        """Fill the kernels' table."""
        terms.dead_moment[0], terms.follower_moment[0] = self.dead_moment, self.follower_moment
        terms.spring[:] = 0.0
        for k, spring in enumerate(self.springs):
            terms.spring[k], terms.towards[k] = spring


NO_TIP_LOAD = TipLoad()


@dataclass(frozen=True, slots=True)
class LineLoads:
    """Loads between the ends as users give them, in SI units."""

    weight: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Weight per length, N/m: the mean, where masses vary."""
    gravity: tuple[float, float, float] | None = None
    """Where masses vary: gravity, m/s²."""
    force: Any = None
    torque: Any = None
    follower: bool = False
    points: tuple[PointLoad, ...] = ()
    key: tuple[Any, ...] = field(init=False, compare=False)
    """Equal for equal loads."""

    def __post_init__(self) -> None:
        key = self.weight, self.gravity, profile_key(self.force), profile_key(self.torque), self.follower, self.points
        object.__setattr__(self, "key", key)


@dataclass(eq=False, slots=True)
class Conditions:
    """A problem and the numbers that may change from solve to solve without rebuilding it."""

    problem: Problem
    held: list[Held]
    target: FloatArray
    """What each held segment should span (segments, 3)."""
    tip: TipLoad
    """Moments and springs at the tip."""
    tip_force: FloatArray
    """Force on the free tip (world frame, or body frame if it follows); zero if the tip is held."""
    tip_follows: bool = False
    spring_compliance: float = 0.0
    """Of the spring that holds the tip's position: 0 if it is held rigidly, or not at all."""

    @property
    def conservative(self) -> bool:
        """Whether all loads have a potential, so that stability is defined."""
        return (
            self.problem.dead_forces_only
            and not self.tip.has_moment
            and not (self.tip_follows and self.tip_force.any())
        )

    def dead_part(self, keep: bool = True) -> Conditions:
        """The same holds under the dead forces alone, which have a potential; or, without `keep`, under no loads."""
        old = self.problem
        loads = Loads(nodes=len(old.s), ends=len(old.ends), slots=len(old.loads.dead_weight) if keep else 0)
        if keep:
            loads.fill_fields(old.loads, ("dead_force", "dead_weight", "dead_point"))
        problem = Problem(
            old.ends, old.order, old.law, old.rest_u, old.rest_v, loads, old.holds, old.springy_tip,
            old.matter, old.gravity if keep else None,
        )  # fmt: skip
        tip = TipLoad(springs=self.tip.springs)
        force = self.tip_force if keep and not self.tip_follows else np.zeros(3)
        return Conditions(problem, self.held, self.target, tip, force, spring_compliance=self.spring_compliance)


@dataclass(eq=False)
class StrandModel:
    """Length, law, rest shape and resolution of a strand."""

    length: float
    law: LawData
    order: int
    nodes: int
    rest_curvature: Any
    rest_stretch: Any
    matter: Matter | None = None
    """Where what it is made of varies along its length."""

    def __post_init__(self) -> None:
        self.stride = 2 if self.order == 4 else 1
        self.elements = (self.nodes - 1) // self.stride
        self.uniform = np.linspace(0.0, self.length, self.nodes)
        self._rest: tuple[bytes, FloatArray, FloatArray] | None = None

    @property
    def force_unit(self) -> float:
        """What a force of 1 is in the kernels' units: B/L², N."""
        return self.law.bending / self.length**2

    @property
    def moment_unit(self) -> float:
        """What a moment, or an energy, of 1 is in the kernels' units: B/L, N·m or J."""
        return self.law.bending / self.length

    def with_nodes(self, nodes: int) -> StrandModel:
        """The same strand with another number of nodes."""
        other = StrandModel(
            self.length, self.law, self.order, nodes, self.rest_curvature, self.rest_stretch, self.matter
        )
        other.uniform = self.uniform  # profiles given as arrays keep their places
        return other

    def rest_strains(self, ends: FloatArray) -> tuple[FloatArray, FloatArray]:
        """û (in 1/L) and v̂ at the slots (elements, 3, 3)."""
        key = ends.tobytes()
        if self._rest is None or self._rest[0] != key:
            slots_at = nodes_of(ends, 2)  # two-node elements need their middles as well
            pairs = []
            for name, profile, unit in (
                ("rest_curvature", self.rest_curvature, self.length),
                ("rest_stretch", self.rest_stretch, 1.0),
            ):
                values = sampled(name, profile, slots_at * self.length, self.uniform) * unit
                pairs.append(element_samples(values, 2))
            self._rest = key, pairs[0], pairs[1]
        return self._rest[1], self._rest[2]

    def sampled_matter(self) -> dict[str, Any]:
        """What it is made of at the slots of its own elements, where that varies: see `SampledMatter`."""
        assert self.matter is not None
        ends = self.ends([])
        places = self.length * thirds_of(ends)
        matrices = (
            self.matter.stiffness(places) if self.law.varies else np.tile(self.law.stiffness, (*places.shape, 1, 1))
        )
        return {"jumps": self.matter.jumps, "places": places, "matrices": matrices, "masses": self.matter.mass(places)}

    def reach(self) -> tuple[FloatArray, FloatArray] | None:
        """Arclengths and ∫|v̂| up to them, both in units of the length; None if |v̂| = 1 everywhere."""
        ends = self.ends([])
        size = np.linalg.norm(self.rest_strains(ends)[1], axis=2)
        if not (size > 0.0).all():
            raise InputError(f"rest_stretch must not vanish: its smallest length is {size.min():g}")
        if np.array_equal(size, np.ones_like(size)):
            return None
        pieces = np.diff(ends) * (size[:, 0] + 4.0 * size[:, 1] + size[:, 2]) / 6.0
        return ends, np.concatenate(([0.0], np.cumsum(pieces)))

    def loads(self, line: LineLoads, ends: FloatArray) -> Loads:
        """The line's loads on this mesh, in the kernels' units."""
        s = nodes_of(ends, self.stride)
        loads = Loads(nodes=len(s), ends=len(ends), slots=0 if line.gravity is None else 3 * (len(ends) - 1))
        per_length, moment_per_length = self.length / self.force_unit, self.length / self.moment_unit
        if line.gravity is None:
            loads.dead_force[:] = np.array(line.weight) * per_length
        else:
            assert self.matter is not None
            mass = self.matter.mass(self.length * thirds_of(ends))
            assert mass is not None
            loads.dead_weight[:] = mass.reshape(-1, 1) * np.array(line.gravity) * per_length
        if line.force is not None:
            into = loads.follower_force if line.follower else loads.dead_force
            into += sampled("force", line.force, s * self.length, self.uniform) * per_length
        if line.torque is not None:
            into = loads.follower_torque if line.follower else loads.dead_torque
            into += sampled("torque", line.torque, s * self.length, self.uniform) * moment_per_length
        for point in line.points:
            end = end_at(ends, point.s / self.length)
            force, moment = point.force / self.force_unit, point.torque / self.moment_unit
            if point.follower:
                loads.follower_point[end] += force
                loads.follower_moment[end] += moment
            else:
                loads.dead_point[end] += force
                loads.dead_moment[end] += moment
        return loads

    def ends(self, places: list[float], density: FloatArray | None = None) -> FloatArray:
        """Element ends with one at each of `places` (held points and point loads, in units of the length).

        They are evenly spaced between these, or as `density` (m, 2) says, columns s and density.
        """
        return element_ends(self.elements, self.breaks(places), density)

    def breaks(self, places: list[float]) -> FloatArray:
        """Where elements must end, from 0 to 1: at `places`, and where the strand's own numbers jump."""
        breaks = np.array(sorted({0.0, 1.0, *places}))
        close = np.diff(breaks) < _CLOSE
        if close.any():
            s = breaks[:-1][close][0] * self.length
            raise InputError(f"two held points or point loads are closer than 1e-9 of the length, at s = {s:g} m")
        return _with_jumps(breaks, self.length, self.matter)

    def problem(self, line: LineLoads, ends: FloatArray, held: list[Held], springy_tip: bool) -> Problem:
        """The problem that these holds and loads pose on this mesh."""
        loads = self.loads(line, ends)
        gravity = None if line.gravity is None else np.array(line.gravity) * (self.length / self.force_unit)
        rest_u, rest_v = self.rest_strains(ends)
        holds = [Hold(end_at(ends, item.s), item.quaternion is not None) for item in held]
        return Problem(
            ends, self.order, self.law, rest_u, rest_v, loads, holds, springy_tip, self.matter, gravity
        )  # fmt: skip


def _with_jumps(breaks: FloatArray, length: float, matter: Matter | None) -> FloatArray:
    """`breaks` (k,), in units of the length, and where `matter` jumps, but for what stands there already."""
    if matter is None or not len(matter.jumps):
        return breaks
    jumps = matter.jumps / length
    return np.union1d(breaks, jumps[np.abs(jumps[:, None] - breaks).min(axis=1) >= _CLOSE])


def first_ends(nodes: int, order: int, length: float, matter: Matter | None) -> FloatArray:
    """Ends of the elements of a strand that nothing holds or loads between its ends, in units of the length."""
    elements = (nodes - 1) // (2 if order == 4 else 1)
    return element_ends(elements, _with_jumps(np.array((0.0, 1.0)), length, matter))


def end_at(ends: FloatArray, s: float) -> int:
    """Index of the element end at s (which is there: the mesh was made so)."""
    return int(np.argmin(np.abs(ends - s)))
