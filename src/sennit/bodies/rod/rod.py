"""The rod: a thin elastic solid that moves, as a spline or as a chain of edges."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sennit import validation
from sennit.attributes import unchanging
from sennit.bodies.along import Along
from sennit.bodies.body import Home
from sennit.bodies.making import FunctionOfS
from sennit.bodies.rod.cutting import Piece, pieces_at
from sennit.bodies.rod.discrete.model import DISCRETE
from sennit.bodies.rod.filling import built, fill_girths
from sennit.bodies.rod.made import (
    AddedMass,
    Materials,
    Numbers,
    RodMatter,
    Sections,
    described_matter,
    read_matter,
)  # fmt: skip
from sennit.bodies.rod.matter import MadeRod
from sennit.bodies.rod.model import RodModel
from sennit.bodies.rod.point import RodPoint, checked_offset
from sennit.bodies.rod.spline.model import SPLINE
from sennit.bodies.rod.table import RodTables, joined_rods
from sennit.bodies.table import Motion
from sennit.errors import InputError
from sennit.given import remembers_maker
from sennit.material import Material, Properties, Section
from sennit.tables import Table
from sennit.validation import FloatArray, quoted

__all__ = ["MODELS", "Rod", "RodEnergy"]

MODELS: dict[str, RodModel] = {model.name: model for model in (SPLINE, DISCRETE)}
"""What a rod can be made with, by the names that users know."""


_cuts = itertools.count(1)


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
        section: Section | Sections | None,
        material: Material | Materials | None,
        name: str | None = None,
        properties: Numbers | None = None,
        added: Sequence[AddedMass] = (),
    ) -> None:
        super().__init__(tables, section, material, name, properties, added)
        self._motion = Motion(dofs=4 * tables.n)
        self._motion.q[:] = tables.rest.ravel()
        self._home = Home.of(self._motion)
        self._ends: tuple[int, int] = (0, 0)
        """Numbers of the cuts that its start and its end are one side of; 0: of none."""
        self._places: dict[int, FloatArray] = {}
        """Parameters of equal steps of rest length, by their number: they never change."""

    # ---------------------------------------------------------------------------------------------------- makers

    @classmethod
    @remembers_maker
    def straight(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        *,
        section: Section | Sequence[Section] | FunctionOfS | None = None,
        material: Material | Sequence[Material] | FunctionOfS | None = None,
        pieces: Sequence[tuple[float | None, Section | FunctionOfS, Material | FunctionOfS]] | None = None,
        properties: Properties | None = None,
        control_points: int = 30,
        rest_curvature: Along | None = None,
        rest_twist: float = 0.0,
        up: ArrayLike = (0.0, 0.0, 1.0),
        model: Literal["spline", "discrete"] = "spline",
        bending_points: int = 2,
        name: str | None = None,
    ) -> Rod:
        """A rod that is laid straight from `start` to `end` (m), which is its length at rest.

        What it is made of: a `section` and a `material`, each one for all, a list of two or more at equal steps from
        end to end (sizes and numbers are linear between), or a function of the rest length s (m); or `pieces`, (length,
        section, material) one after the other from the start, a length of None taking what is left; or `properties`,
        numbers given directly. Where functions are smooth, errors fall as on uniform rods; where they jump, only
        `pieces` say so, and errors fall with the third power of the spans there.

        `control_points`: 4 or more. `rest_curvature`: κ1, κ2 (1/m) about d1, d2 and, if a third is given, twist (rad/m)
        that it takes when nothing acts on it: constant, an array of them at equal steps from end to end, or a
        function of s; `rest_twist` (rad/m) adds to the twist. Both can be set later.
        `up`: d2 starts as close to it as the tangent allows (along x if the tangent is vertical). `model`: see `Rod`.
        `bending_points`: places in each span of a spline where its bending is measured, 2 or 3.
        """
        made = _chosen(model)
        count = validation.count("control_points", control_points, made.smallest(closed=False))
        a, b = validation.vector("start", start), validation.vector("end", end)
        with validation.in_range("start and end"):
            length = np.linalg.norm(b - a)
        if length == 0.0:
            raise InputError(f"start and end of a rod must differ, got {quoted(start)} twice")
        points = made.straight_points(a, b, count)
        return cls._built(made, points, (section, material, pieces, properties), closed=False,
                          straight=rest_curvature is None, rest_curvature=rest_curvature, rest_twist=rest_twist, up=up,
                          bending_points=bending_points, name=name)  # fmt: skip

    @classmethod
    @remembers_maker
    def through(
        cls,
        points: ArrayLike,
        *,
        section: Section | Sequence[Section] | FunctionOfS | None = None,
        material: Material | Sequence[Material] | FunctionOfS | None = None,
        pieces: Sequence[tuple[float | None, Section | FunctionOfS, Material | FunctionOfS]] | None = None,
        properties: Properties | None = None,
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

        What it is made of (`section` and `material`, `pieces`, or `properties`): see `straight`. The curve is the shape
        at rest, unless `straight` (it is bent and springs back) or `rest_curvature` is given (see `straight`).
        `control_points`: as many as there are points, 30 at least, if left out. `rest_twist`, `up`, `model` and
        `bending_points` are as of `straight`.
        """
        closed, straight = validation.flag("closed", closed), validation.flag("straight", straight)
        made = _chosen(model)
        least = made.smallest(closed)
        given = validation.array("points", points, (None, 3))
        wanted = max(len(given), 30) if control_points is None else control_points
        count = validation.count("control_points", wanted, least)
        fitted = made.fitted_points(given, count, closed)
        return cls._built(made, fitted, (section, material, pieces, properties), closed=closed, straight=straight,
                          rest_curvature=rest_curvature, rest_twist=rest_twist, up=up, bending_points=bending_points,
                          name=name)  # fmt: skip

    @classmethod
    def _built(
        cls, model: RodModel, points: FloatArray, of: tuple[Any, Any, Any, Any], *, name: str | None, **options: Any
    ) -> Rod:
        tables, made = built(model, points, of, options, name if isinstance(name, str) else "a rod")
        return cls(tables, made.section, made.material, name, made.properties)

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

    def at(self, s: float, offset: ArrayLike = (0.0, 0.0)) -> RodPoint:
        """The point at the rest length `s` from the start: 0 to `length`, m. On a closed rod s goes round.

        `offset`: (x, y), m: it lies beside the axis, at x d1 + y d2, and goes and turns with the section there.
        """
        return RodPoint(self, self._checked_s("s", s), checked_offset(offset))

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

    # -------------------------------------------------------------------------------------------------- cutting

    def cut(self, s: float) -> tuple[Rod, ...]:
        """Cut the rod through at the rest length `s`, m, and return its pieces.

        This object is the piece from its start on; the other one, a new `Rod`, has the rest, and is in the same scene.
        A closed rod becomes an open one that begins there. Rods are cut at a knot (or node), the one nearest to `s`:
        see `knots`. Shape, strains, velocities, momentum and rest shape are those from before, and what the rod was
        tied by, loaded by and touched stays where it was; `scene.events` has an event of kind "cut".

        Raises `InputError`, and changes nothing, for a place at or next to an end, and for rods in or around a tube
        (`Inside`), which must be removed first.
        """
        begins = self._begins(s)
        if self._scene is not None:
            return tuple(self._scene._cut(self, begins))
        return tuple(self._cut(begins))

    def _begins(self, s: float) -> list[tuple[int, int]]:
        """The pieces of a cut at `s`: the span with which each begins, and its spans."""
        return pieces_at(self._tables, self._checked_s("s", s), self.name)

    @property
    def knots(self) -> FloatArray:
        """Rest lengths at which its spans meet, ends included: (k,), m. It is cut at one of them."""
        return self._tables.knot_lengths.copy()

    def _cut(self, begins: Sequence[tuple[int, int]]) -> list[Rod]:
        """Its pieces, each from a span on and so many long; the first of them is this rod."""
        self._tables.matter = self._matter()
        made = [Piece(self._tables, self._motion, self._matter(), *begin) for begin in begins]
        rods, number = [self], next(_cuts)
        ends = [(number, number)] if self.closed else [(self._ends[0], number), (number, self._ends[1])]
        for k, piece in enumerate(made[1:], 2):
            rod = Rod(piece.tables, None, None, self._name and f"{self._name} ({k})")
            rod._limits = self._limits
            rods.append(rod)
        for rod, piece, own in zip(rods, made, ends, strict=True):
            rod._sit((piece.tables, own))
            for field, array in piece.motion.fields().items():
                getattr(rod._motion, field)[:] = array
        return rods

    def _seat(self) -> tuple[RodTables, tuple[int, int]]:
        return self._tables, self._ends

    def _sit(self, seat: tuple[RodTables, tuple[int, int]]) -> None:
        """Be the rod of these tables, as it was made; where its control points are is to be told after it."""
        self._tables, self._ends = seat
        matter: RodMatter = self._tables.matter
        self._section, self._material, self._made_of = matter.section, matter.material, None
        self._properties, self._added = matter.properties, matter.added
        self._motion = Motion(dofs=4 * self._tables.n)
        self._motion.q[:] = self._tables.rest.ravel()
        self._home, self._dof0, self._block0, self._index = Home.of(self._motion), 0, 0, 0
        self._places.clear()

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
        t.stretch.tension[:] = t.stretches.stiffness * t.stretch.strain

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
        """Move the rod as a rigid body.

        `velocity`, (3,), m/s, is that of the mean of its control points; `angular_velocity`, (3,), rad/s.
        """
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
        parts = t.model.energy(t.row, t.kind, self._home.q, t.kind.bend, 0.0)
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
        entry: dict[str, Any] = {"model": self.model} | described_matter(self._matter(), out)
        entry |= {"breaks": list(self._limits)} if any(self._limits) else {}
        return entry | ({"ends": list(self._ends)} if any(self._ends) else {})

    @classmethod
    def _rebuilt(cls, entry: dict[str, Any], read: Any) -> Rod:
        tables = RodTables.rebuilt(MODELS[entry["model"]], read)
        section, material, properties, added = read_matter(entry, read, tables)
        made = cls(tables, section, material, entry["name"], properties, added)
        fill_girths(tables, made._matter().numbers)
        made.breaking_load, made.breaking_curvature = entry.get("breaks", (None, None))
        start, end = (validation.count("ends", number, 0) for number in entry.get("ends", (0, 0)))
        made._ends = read.cut(start, next(_cuts)), read.cut(end, next(_cuts))
        return made

    def _point_from(self, entry: dict[str, Any]) -> RodPoint:
        s = validation.number("s", entry["s"], minimum=0.0, maximum=self.length)
        return RodPoint(self, s, checked_offset(entry.get("offset", (0.0, 0.0))))

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
        return float(self._tables.stiffness[1:3].min()) / self.length

    def _firmness(self) -> float:
        return float(self._tables.stretches.stiffness.max())

    def _stiff_force(self) -> float:
        return self._stiffest() / self.length**2

    def _weight_mass(self) -> float:
        return self.mass

    def _natural_rate(self) -> float:
        return self._stiffest() / (self._tables.mass_per_length * self.length**4)

    def _stiffest(self) -> float:
        """The largest of E I1 and E I2, N·m²."""
        return float(self._tables.bends.stiffness[:, :2].max())


def _chosen(model: object) -> RodModel:
    validation.choice("model", model, tuple(MODELS))
    return MODELS[str(model)]
