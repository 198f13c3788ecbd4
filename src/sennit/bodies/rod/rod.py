"""The rod: a thin elastic solid that moves, as a spline or as a chain of edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.attributes import unchanging
from sennit.bodies.body import Home
from sennit.bodies.rod.along import Along
from sennit.bodies.rod.discrete.model import DISCRETE
from sennit.bodies.rod.matter import MadeRod, checked_material, checked_section
from sennit.bodies.rod.model import RodModel
from sennit.bodies.rod.point import RodPoint
from sennit.bodies.rod.spline.model import SPLINE
from sennit.bodies.rod.table import RodTables, joined_rods
from sennit.bodies.table import Motion
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.tables import Table
from sennit.validation import FloatArray, quoted

__all__ = ["MODELS", "Rod", "RodEnergy"]

MODELS: dict[str, RodModel] = {model.name: model for model in (SPLINE, DISCRETE)}
"""What a rod can be made with, by the names that users know."""


@unchanging
@dataclass(frozen=True)
class RodEnergy:
    """Elastic energy of a rod, J, by what is strained."""

    stretch: float
    """Of stretching."""
    bend: float
    """Of bending."""
    twist: float
    """Of twisting."""

    @property
    def total(self) -> float:
        """Their sum, J."""
        return self.stretch + self.bend + self.twist


class Rod(MadeRod):
    """An elastic rod: rope, thread, cable, wire or beam, with exact geometry at any bending.

    Made by `Rod.straight` or `Rod.through`. Each of its control points has 4 degrees of freedom: its position and the
    roll of the section. ``model="spline"`` is a cubic B-spline (tip errors fall with the 4th power of the number of
    control points; does not lock however stiff in stretching); ``model="discrete"`` is a chain of straight edges
    (2nd power; open rods; nothing slides on it), kept as an independent check.

    It has no shear: for sections as wide as a tenth of the bend radius use `Strand`.
    """

    _rank = 0

    def __init__(
        self,
        tables: RodTables,
        section: Section,
        material: Material,
        name: str | None = None,
    ) -> None:
        super().__init__(tables, section, material, name)
        self._motion = Motion(dofs=4 * tables.n)
        self._motion.q[:] = tables.rest.ravel()
        self._home = Home.of(self._motion)
        self._places: dict[int, FloatArray] = {}
        """Parameters of equal steps of rest length, by their number: they never change."""

    # ---------------------------------------------------------------------------------------------------- makers

    @classmethod
    def straight(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        *,
        section: Section,
        material: Material,
        control_points: int = 30,
        rest_curvature: Along | None = None,
        rest_twist: float = 0.0,
        up: ArrayLike = (0.0, 0.0, 1.0),
        model: Literal["spline", "discrete"] = "spline",
        bending_points: int = 2,
        name: str | None = None,
    ) -> Rod:
        """A rod that is laid straight from `start` to `end` (m), which is its length at rest.

        `control_points`: 4 or more. `rest_curvature`: κ1, κ2 (1/m) about d1, d2 and, if a third is given, twist (rad/m)
        that it takes when nothing acts on it: constant, an array of them at equal steps from end to end, or a
        function of s; `rest_twist` (rad/m) adds to the twist. Both can be set later.
        `up`: d2 starts as close to it as the tangent allows (along x if the tangent is vertical).
        """
        made = _chosen(model)
        count = validation.count("control_points", control_points, made.smallest(closed=False))
        a, b = validation.vector("start", start), validation.vector("end", end)
        with validation.in_range("start and end"):
            length = np.linalg.norm(b - a)
        if length == 0.0:
            raise InputError(f"start and end of a rod must differ, got {quoted(start)} twice")
        points = made.straight_points(a, b, count)
        return cls._built(made, points, section, material, closed=False, straight=rest_curvature is None,
                          rest_curvature=rest_curvature, rest_twist=rest_twist, up=up, bending_points=bending_points,
                          name=name)  # fmt: skip

    @classmethod
    def through(
        cls,
        points: ArrayLike,
        *,
        section: Section,
        material: Material,
        control_points: int | None = None,
        closed: bool = False,
        straight: bool = False,
        rest_curvature: Along | None = None,
        rest_twist: float = 0.0,
        up: ArrayLike = (0.0, 0.0, 1.0),
        model: Literal["spline", "discrete"] = "spline",
        bending_points: int = 2,
        name: str | None = None,
    ) -> Rod:
        """A rod along the curve through `points`, (k, 3), m; `closed` joins its ends.

        The curve is the shape at rest, unless `straight` (it is bent and springs back) or `rest_curvature` is given
        (see `straight`). `control_points`: as many as there are points, 30 at least, if left out.
        """
        closed, straight = validation.flag("closed", closed), validation.flag("straight", straight)
        made = _chosen(model)
        least = made.smallest(closed)
        given = validation.array("points", points, (None, 3))
        wanted = max(len(given), 30) if control_points is None else control_points
        count = validation.count("control_points", wanted, least)
        fitted = made.fitted_points(given, count, closed)
        return cls._built(made, fitted, section, material, closed=closed, straight=straight,
                          rest_curvature=rest_curvature, rest_twist=rest_twist, up=up, bending_points=bending_points,
                          name=name)  # fmt: skip

    @classmethod
    def _built(cls, model: RodModel, points: FloatArray, section: Section, material: Material, *, name: str | None,
               **options: Any) -> Rod:  # fmt: skip
        checked_section(section)
        checked_material(material)
        return cls(model.tables(points, section, material, **options), section, material, name)

    # ---------------------------------------------------------------------------------------------------- points

    @property
    def length(self) -> float:
        """Length at rest, m."""
        return self._tables.length

    @property
    def closed(self) -> bool:
        """Whether its ends are joined."""
        return self._tables.closed

    @property
    def model(self) -> str:
        """``"spline"`` or ``"discrete"``."""
        return self._tables.model.name

    @property
    def tables(self) -> RodTables:
        """The numbers that it was made of."""
        return self._tables

    def at(self, s: float) -> RodPoint:
        """The point at the rest length `s` from the start: 0 to `length`, m. On a closed rod s goes round."""
        return RodPoint(self, self._checked_s("s", s))

    def _checked_s(self, name: str, s: float) -> float:
        value = validation.number(name, s)
        slack = 1e-9 * self.length
        if self.closed:
            return value % self.length
        if not -slack <= value <= self.length + slack:
            raise InputError(f"{name} must be from 0 to the rod's length {self.length:g} m, got {quoted(s)}")
        return min(max(value, 0.0), self.length)

    def _u_at(self, s: ArrayLike) -> FloatArray:
        """Parameters u at the rest lengths `s`."""
        return self._tables.model.parameter_at(self._tables, s)

    def _s_at(self, u: ArrayLike) -> FloatArray:
        """Rest lengths at the parameters `u`."""
        return self._tables.model.length_at(self._tables, u)

    def _mass_felt(self, first: int, basis: FloatArray) -> float:
        """The mass that a push at a point with this basis (4,) meets in the first moment, kg: 1/(Nᵀ M⁻¹ N)."""
        t = self._tables
        # The inverse of the mass matrix falls off within a few control points: a window of it tells.
        size = min(24, t.n)
        start = first - (size - 4) // 2 if t.closed else min(max(first - (size - 4) // 2, 0), t.n - size)
        places = (start + np.arange(size)) % t.n
        window = np.zeros((size, size))
        for k in range(4):
            for i in range(size - k):
                window[i, i + k] = window[i + k, i] = t.masses.mass[places[i], k]
        push = np.zeros(size)
        push[(first - start) % t.n + np.arange(4)] = basis
        return float(1.0 / (push @ np.linalg.solve(window, push)))

    def _reference_at(self, s: float) -> FloatArray:
        """Tangent and reference director (6,) at s, from the integration points next to it."""
        return np.asarray(self._tables.model.references(self._tables, self._nodal("q"), self._u_at(s))[0, :6])

    def _nodal(self, group: str) -> FloatArray:
        """Its degrees of freedom "q", or their rates "v": (n, 4)."""
        nodal: FloatArray = getattr(self._motion, group).reshape(-1, 4)
        return nodal

    # ----------------------------------------------------------------------------------------- shape and motion

    @property
    def control_points(self) -> FloatArray:
        """Control points (n, 3), m, in the world. Setting them keeps the roll of the sections as near as it can."""
        return self._nodal("q")[:, :3].copy()

    @control_points.setter
    def control_points(self, value: ArrayLike) -> None:
        self._set_q(validation.array("control_points", value, (self._tables.n, 3)), None)

    @property
    def rolls(self) -> FloatArray:
        """Roll of the sections at the control points against the carried reference frame: (n,), rad."""
        return self._nodal("q")[:, 3].copy()

    @rolls.setter
    def rolls(self, value: ArrayLike) -> None:
        self._set_q(None, validation.array("rolls", value, (self._tables.n,)))

    def _set_q(self, points: ArrayLike | None, rolls: ArrayLike | None) -> None:
        n = self._tables.n
        new = self._nodal("q").copy()
        if points is not None:
            new[:, :3] = validation.array("control_points", points, (n, 3))
            if not np.all(np.linalg.norm(np.diff(new[:, :3], axis=0), axis=1) > 0.0):
                raise InputError("neighbouring control points must differ")
        if rolls is not None:
            new[:, 3] = validation.array("rolls", rolls, (n,))
            self._tables.model.hold_rolls(new[:, 3])
        self._motion.q[:] = new.ravel()
        self._carry()
        self._touched(moved=True)

    def _carry(self) -> None:
        """Frames, strains and tensions of the shape in q."""
        t, q, kind = self._tables, self._home.q, self._tables.kind
        t.model.carry_frames(t.row, kind, q, kind.bend, kind.bend)
        t.model.accept_strains(t.row, kind, q, kind.bend, kind.stretch)
        t.stretch.tension[:] = t.stretch_stiffness * t.stretch.strain

    def _references(self, u: FloatArray) -> FloatArray:
        """Tangents and reference vectors, in the first six columns of (k, …), at the parameters `u`."""
        return self._tables.model.references(self._tables, self._nodal("q"), u)

    def _renew_frames(self, u: FloatArray) -> tuple[FloatArray, float]:
        """Frames that depend on its present shape alone; see `RodModel.fresh_frames`."""
        t = self._tables
        made = t.model.fresh_frames(t, self._nodal("q"), u)
        t.model.accept_strains(t.row, t.kind, self._home.q, t.kind.bend, t.kind.stretch)
        return made

    def _speed_ratio(self) -> float:
        """How evenly its curve runs: 1, or less where it is nearly folded between its control points."""
        t = self._tables
        return t.model.speed_ratio(t, self._home.q)

    @property
    def control_velocities(self) -> FloatArray:
        """Velocities of the control points: (n, 3), m/s. Can be set."""
        return self._nodal("v")[:, :3].copy()

    @control_velocities.setter
    def control_velocities(self, value: ArrayLike) -> None:
        new = validation.array("control_velocities", value, (3,), (self._tables.n, 3))
        self._nodal("v")[:, :3] = new
        self._touched()

    @property
    def roll_rates(self) -> FloatArray:
        """Rates at which the sections turn about the tangent, at the control points: (n,), rad/s. Can be set."""
        return self._nodal("v")[:, 3].copy()

    @roll_rates.setter
    def roll_rates(self, value: ArrayLike) -> None:
        new = validation.array("roll_rates", value, (self._tables.n,))
        self._tables.model.hold_rolls(new)
        self._nodal("v")[:, 3] = new
        self._touched()

    def set_shape(self, points: ArrayLike) -> None:
        """Lay the rod along the curve through `points`, (k, 3), m: stretched or bent as that needs, velocities kept."""
        t = self._tables
        self.control_points = t.model.fitted_points(points, t.n, t.closed)

    def set_velocity(self, velocity: ArrayLike, angular_velocity: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Move the rod as a rigid body: `velocity` (m/s) of the mean of its control points, and rotation (rad/s)."""
        linear, spin = validation.vector("velocity", velocity), validation.vector("angular_velocity", angular_velocity)
        points = self.control_points
        self.control_velocities = linear + np.cross(spin, points - points.mean(axis=0))

    # -------------------------------------------------------------------------------------------------- reading

    def _stations(self, count: int) -> FloatArray:
        """Parameters of `count` equal steps of the rest length from end to end."""
        k = validation.count("count", count, 2)
        if k not in self._places:
            self._places[k] = self._tables.model.stations(self._tables, k)
        return self._places[k]

    def centerline(self, count: int = 200) -> FloatArray:
        """`count` points at equal steps of rest length from end to end: (count, 3), m."""
        return self._along("q", count)

    def velocities(self, count: int = 200) -> FloatArray:
        """Velocities at the places of `centerline`: (count, 3), m/s."""
        return self._along("v", count)

    def _along(self, group: str, count: int) -> FloatArray:
        return self._tables.model.values_along(self._tables, self._nodal(group), self._stations(count))

    def frames(self, count: int = 200) -> FloatArray:
        """Frames at the places of `centerline`: (count, 3, 3), columns d1, d2, d3."""
        return self._tables.model.frames(self._tables, self._nodal("q"), self._stations(count))

    def curvatures(self, count: int = 200) -> FloatArray:
        """κ1, κ2 about d1, d2 and twist at the places of `centerline`: (count, 3), 1/m (twist in rad/m)."""
        return self._tables.model.curvatures(self._tables, self._nodal("q"), self._stations(count))

    def tensions(self, count: int = 200) -> FloatArray:
        """Tension EA ε at the places of `centerline`: (count,), N; negative where the rod is pushed."""
        return self._tables.model.tensions(self._tables, self._nodal("q"), self._stations(count))

    @property
    def minimum_bend_radius(self) -> float:
        """The smallest radius to which it is bent anywhere, m; inf if it is straight."""
        return self._tables.model.minimum_bend_radius(self._tables, self._nodal("q"))

    @property
    def energy(self) -> RodEnergy:
        """Elastic energy by what is strained, J."""
        t = self._tables
        parts = t.model.energy(t.row, t.kind, self._home.q, t.kind.bend)
        return RodEnergy(*map(float, parts))

    @property
    def mass(self) -> float:
        """Mass of the whole rod, kg."""
        return float(self._tables.masses.total.sum())

    # ------------------------------------------------------------------------------------------------- for scenes

    @classmethod
    def _join(cls, bodies: Sequence[Rod]) -> dict[str, Table]:
        tables: dict[str, Table] = {}
        for model in MODELS.values():
            members = [rod for rod in bodies if rod._tables.model is model]
            tables[model.table] = joined_rods(model.kind, [rod._tables for rod in members])
        for i, rod in enumerate(bodies):
            rod._index = rod._tables.row
            rod._tables.rods.index[0] = i
        return tables

    def _take_place(self, motion: Motion, home: Home, dof: int, block: int) -> int:
        super()._take_place(motion, home, dof, block)
        self._tables.rods.dof[0], self._tables.rods.band[0] = dof, block
        return block + 64 * self._tables.n

    def _leave_tables(self) -> None:
        super()._leave_tables()
        self._tables.leave()

    def _own_tables(self) -> dict[str, Table]:
        return self._tables.states()

    def _describe(self, out: Any) -> dict[str, Any]:
        self._tables.describe(out)
        entry = {"model": self.model, "section": out.section(self.section), "material": out.material(self.material)}
        return entry

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Rod:
        tables = RodTables.rebuilt(MODELS[entry["model"]], read)
        return cls(tables, read.section(entry["section"]), read.material(entry["material"]), entry["name"])

    def _point_from(self, entry: dict[str, Any]) -> RodPoint:
        return RodPoint(self, validation.number("s", entry["s"], minimum=0.0, maximum=self.length))

    def _hold_frames(self) -> None:
        """A row holds its direction somewhere: it does not turn as a whole."""
        self._tables.rods.tumbles[0] = 0

    def _hold_rolls(self, moved: FloatArray) -> None:
        self._tables.model.hold_rolls(moved[3::4])

    def _home_table(self) -> str:
        return self._tables.model.table

    def _size(self) -> float:
        return self.length

    def _angles(self) -> NDArray[np.int64]:
        return np.arange(3, 4 * self._tables.n, 4, dtype=np.int64)

    def _softness(self) -> float:
        return min(self._tables.bend_stiffness) / self.length

    def _firmness(self) -> float:
        return self._tables.stretch_stiffness

    def _stiff_force(self) -> float:
        return max(self._tables.bend_stiffness) / self.length**2

    def _weight_mass(self) -> float:
        return self.mass

    def _natural_rate(self) -> float:
        return max(self._tables.bend_stiffness) / (self._tables.mass_per_length * self.length**4)


def _chosen(model: object) -> RodModel:
    validation.choice("model", model, tuple(MODELS))
    return MODELS[str(model)]
