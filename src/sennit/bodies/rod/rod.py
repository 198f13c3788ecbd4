"""The rod: a thin elastic solid that moves, as a spline or as a chain of edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sennit import validation
from sennit.bodies.body import AbstractBody
from sennit.bodies.rod.discrete import fields as discrete_fields
from sennit.bodies.rod.discrete import shape as discrete_shape
from sennit.bodies.rod.discrete.kernels.forces import accept_strains_discrete, carry_frames_discrete, energy_discrete
from sennit.bodies.rod.discrete.tables import discrete_tables
from sennit.bodies.rod.spline import fields as spline_fields
from sennit.bodies.rod.spline import shape as spline_shape
from sennit.bodies.rod.spline.kernels.forces import accept_strains_spline, carry_frames_spline, energy_spline
from sennit.bodies.rod.spline.tables import spline_tables
from sennit.bodies.rod.tables import RodTables
from sennit.errors import InputError
from sennit.material import Material, Section
from sennit.point.point import RodPoint
from sennit.validation import FloatArray, quoted

__all__ = ["Rod", "RodEnergy"]


@dataclass(frozen=True)
class RodEnergy:
    """Elastic energy of a rod, J, by what is strained."""

    stretch: float
    bend: float
    twist: float

    @property
    def total(self) -> float:
        """Their sum, J."""
        return self.stretch + self.bend + self.twist


class Rod(AbstractBody):
    """An elastic rod: rope, thread, cable, wire or beam, with exact geometry at any bending.

    Made by `Rod.straight` or `Rod.through`. Each of its control points has 4 degrees of freedom: its position and the
    roll of the section. ``model="spline"`` is a cubic B-spline (tip errors fall with the 4th power of the number of
    control points; does not lock however stiff in stretching); ``model="discrete"`` is a chain of straight edges
    (2nd power; open rods; nothing slides on it), kept as an independent check.

    It has no shear: for sections as wide as a tenth of the bend radius use `Strand`.
    """

    def __init__(
        self,
        tables: RodTables,
        section: Section,
        material: Material,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._tables = tables
        self.section = section
        """Its cross-section."""
        self.material = material
        """What it is made of."""
        n = tables.n
        self._own(q=tables.rest.ravel().copy(), v=np.zeros(4 * n), bend=tables.bend_state.copy(),
                  stretch=tables.stretch_state.copy())  # fmt: skip
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
        rest_curvature: ArrayLike | Callable[[float], ArrayLike] | None = None,
        rest_twist: float = 0.0,
        up: ArrayLike = (0.0, 0.0, 1.0),
        model: Literal["spline", "discrete"] = "spline",
        bending_points: int = 2,
        name: str | None = None,
    ) -> Rod:
        """A rod that is laid straight from `start` to `end` (m), which is its length at rest.

        `control_points`: 4 or more. `rest_curvature`: κ1, κ2 (1/m) about d1, d2 and, if a third is given, twist (rad/m)
        that it takes when nothing acts on it, constant or a function of s; `rest_twist` (rad/m) adds to the twist.
        `up`: d2 starts as close to it as the tangent allows (along x if the tangent is vertical).
        """
        _check_model(model, closed=False)
        count = validation.count("control_points", control_points, 4)
        a, b = validation.vector("start", start), validation.vector("end", end)
        with validation.in_range("start and end"):
            length = np.linalg.norm(b - a)
        if length == 0.0:
            raise InputError(f"start and end of a rod must differ, got {quoted(start)} twice")
        maker = discrete_shape if model == "discrete" else spline_shape
        points = maker.straight_points(a, b, count)
        return cls._built(points, section, material, model=model, closed=False, straight=rest_curvature is None,
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
        rest_curvature: ArrayLike | Callable[[float], ArrayLike] | None = None,
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
        _check_model(model, closed=closed)
        given = validation.array("points", points, (None, 3))
        least = spline_shape.SMALLEST_CLOSED if closed else 4
        wanted = max(len(given), 30) if control_points is None else control_points
        count = validation.count("control_points", wanted, least)
        if model == "discrete":
            fitted = discrete_shape.fitted_points(given, count)
        else:
            fitted = spline_shape.fitted_points(given, count, closed=closed)
        return cls._built(fitted, section, material, model=model, closed=closed, straight=straight,
                          rest_curvature=rest_curvature, rest_twist=rest_twist, up=up, bending_points=bending_points,
                          name=name)  # fmt: skip

    @classmethod
    def _built(cls, points: FloatArray, section: Section, material: Material, *, model: str, name: str | None,
               **options: Any) -> Rod:  # fmt: skip
        if not isinstance(section, Section):
            raise InputError(f"section must be a sennit.Section, got {quoted(section)}")
        if not isinstance(material, Material):
            raise InputError(f"material must be a sennit.Material, got {quoted(material)}")
        build = discrete_tables if model == "discrete" else spline_tables
        return cls(build(points, section, material, **options), section, material, name)

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
        return self._tables.model

    @property
    def tables(self) -> RodTables:
        """The numbers that it was made of."""
        return self._tables

    @property
    def stiffness(self) -> FloatArray:
        """EA (N), E I1, E I2 and G J (N·m²): (4,)."""
        return self._tables.constants[:4].copy()

    def parameters_at(self, s: ArrayLike) -> FloatArray:
        """Parameters u of the curve at the rest lengths `s`, m."""
        return self._u_at(s)

    def station_parameters(self, count: int) -> FloatArray:
        """Parameters u of a spline at the places of `centerline`: (count,)."""
        return np.asarray(self._stations(count))

    def rest_strains(self) -> tuple[FloatArray, FloatArray]:
        """Rest lengths (k,), m, of the places where it is bent, and κ1, κ2 and twist there without load: (k, 3)."""
        t = self._tables
        if t.model == "discrete":  # strains belong to inner nodes, rows 1, 2, ...
            return t.knot_lengths[1:-1], t.bend_table[1:, 14:17]
        return self._s_at(t.bend_u), t.bend_table[:, 14:17]

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
        t = self._tables
        if t.model == "discrete":
            return discrete_shape.parameter_at(t.rest[:, :3], t.knot_lengths, s)
        return spline_shape.parameter_at(t.rest[:, :3], t.closed, t.knot_lengths, s)

    def _s_at(self, u: ArrayLike) -> FloatArray:
        t = self._tables
        if t.model == "discrete":
            return discrete_shape.length_at(t.rest[:, :3], t.knot_lengths, u)
        return spline_shape.length_at(t.rest[:, :3], t.closed, t.knot_lengths, u)

    def _basis_at(self, s: float) -> tuple[int, FloatArray]:
        """First control point and N, N′, NR, N″ (16,) at the rest length s."""
        t = self._tables
        u = self._u_at(s)
        if t.model == "discrete":
            first, rows = discrete_shape.basis(u, t.n)
            order = [0, 1, 3, 2]
        else:
            first, rows = spline_shape.basis(u, t.spans, t.closed)
            order = [0, 1, 0, 2]
        return int(first[0]), rows[0][order].ravel()

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
                window[i, i + k] = window[i + k, i] = t.mass_table[places[i], k]
        push = np.zeros(size)
        push[(first - start) % t.n + np.arange(4)] = basis
        return float(1.0 / (push @ np.linalg.solve(window, push)))

    def _reference_at(self, s: float) -> FloatArray:
        """Tangent and reference director (6,) at s, from the integration points next to it."""
        q, bend = self._arrays["q"].reshape(-1, 4), self._arrays["bend"]
        return np.asarray(self._fields().references(self._tables, q, bend, self._u_at(s))[0, :6])

    # ----------------------------------------------------------------------------------------- shape and motion

    @property
    def control_points(self) -> FloatArray:
        """Control points (n, 3), m, in the world. Setting them keeps the roll of the sections as near as it can."""
        return self._arrays["q"].reshape(-1, 4)[:, :3].copy()

    @control_points.setter
    def control_points(self, value: ArrayLike) -> None:
        self._set_q(validation.array("control_points", value, (self._tables.n, 3)), None)

    @property
    def rolls(self) -> FloatArray:
        """Roll of the sections at the control points against the carried reference frame: (n,), rad."""
        return self._arrays["q"].reshape(-1, 4)[:, 3].copy()

    @rolls.setter
    def rolls(self, value: ArrayLike) -> None:
        self._set_q(None, validation.array("rolls", value, (self._tables.n,)))

    def _set_q(self, points: ArrayLike | None, rolls: ArrayLike | None) -> None:
        n = self._tables.n
        new = self._arrays["q"].reshape(-1, 4).copy()
        if points is not None:
            new[:, :3] = validation.array("control_points", points, (n, 3))
            if not np.all(np.linalg.norm(np.diff(new[:, :3], axis=0), axis=1) > 0.0):
                raise InputError("neighbouring control points must differ")
        if rolls is not None:
            new[:, 3] = validation.array("rolls", rolls, (n,))
            if self.model == "discrete":
                new[-1, 3] = 0.0
        self._arrays["q"][:] = new.ravel()
        self._carry()
        self._touched(moved=True)

    def _carry(self) -> None:
        """Frames, strains and tensions of the shape in q."""
        t, bend, stretch = self._tables, self._arrays["bend"], self._arrays["stretch"]
        q = self._arrays["q"]
        spline = t.model == "spline"
        carry, measure = (
            (carry_frames_spline, accept_strains_spline) if spline else (carry_frames_discrete, accept_strains_discrete)
        )
        carry(q, 0, t.n, int(t.closed), t.bend_table, t.bend_span, bend, bend, 0, len(bend))
        measure(q, 0, t.n, int(t.closed), t.bend_table, t.bend_span, bend, 0, len(bend), t.stretch_table,
                t.stretch_span, stretch, 0, len(stretch))  # fmt: skip
        stretch[:, 0] = t.constants[0] * stretch[:, 1]

    @property
    def control_velocities(self) -> FloatArray:
        """Velocities of the control points: (n, 3), m/s. Can be set."""
        return self._arrays["v"].reshape(-1, 4)[:, :3].copy()

    @control_velocities.setter
    def control_velocities(self, value: ArrayLike) -> None:
        new = validation.array("control_velocities", value, (3,), (self._tables.n, 3))
        self._arrays["v"].reshape(-1, 4)[:, :3] = new
        self._touched()

    @property
    def roll_rates(self) -> FloatArray:
        """Rates at which the sections turn about the tangent, at the control points: (n,), rad/s. Can be set."""
        return self._arrays["v"].reshape(-1, 4)[:, 3].copy()

    @roll_rates.setter
    def roll_rates(self, value: ArrayLike) -> None:
        new = validation.array("roll_rates", value, (self._tables.n,))
        if self.model == "discrete":
            new[-1] = 0.0
        self._arrays["v"].reshape(-1, 4)[:, 3] = new
        self._touched()

    def set_shape(self, points: ArrayLike) -> None:
        """Lay the rod along the curve through `points`, (k, 3), m: stretched or bent as that needs, velocities kept."""
        t = self._tables
        if t.model == "discrete":
            self.control_points = discrete_shape.fitted_points(points, t.n)
        else:
            self.control_points = spline_shape.fitted_points(points, t.n, closed=t.closed)

    def set_velocity(self, velocity: ArrayLike, angular_velocity: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Move the rod as a rigid body: `velocity` (m/s) of the mean of its control points, and rotation (rad/s)."""
        linear, spin = validation.vector("velocity", velocity), validation.vector("angular_velocity", angular_velocity)
        points = self.control_points
        self.control_velocities = linear + np.cross(spin, points - points.mean(axis=0))

    # -------------------------------------------------------------------------------------------------- reading

    def _fields(self) -> Any:
        return discrete_fields if self.model == "discrete" else spline_fields

    def _stations(self, count: int) -> FloatArray | int:
        """Places at `count` equal steps of the rest length from end to end, as the model's fields want them."""
        k = validation.count("count", count, 2)
        if self.model == "discrete":
            return k
        if k not in self._places:
            self._places[k] = spline_fields.stations(self._tables, k)
        return self._places[k]

    def centerline(self, count: int = 200) -> FloatArray:
        """`count` points at equal steps of rest length from end to end: (count, 3), m."""
        return self._along("q", count)

    def velocities(self, count: int = 200) -> FloatArray:
        """Velocities at the places of `centerline`: (count, 3), m/s."""
        return self._along("v", count)

    def _along(self, group: str, count: int) -> FloatArray:
        nodal = self._arrays[group].reshape(-1, 4)
        read = discrete_fields.centerline if self.model == "discrete" else spline_fields.positions
        return np.asarray(read(self._tables, nodal, self._stations(count)))  # type: ignore[arg-type]

    def frames(self, count: int = 200) -> FloatArray:
        """Frames at the places of `centerline`: (count, 3, 3), columns d1, d2, d3."""
        q = self._arrays["q"].reshape(-1, 4)
        return np.asarray(self._fields().frames(self._tables, q, self._arrays["bend"], self._stations(count)))

    def curvatures(self, count: int = 200) -> FloatArray:
        """κ1, κ2 about d1, d2 and twist at the places of `centerline`: (count, 3), 1/m (twist in rad/m)."""
        q = self._arrays["q"].reshape(-1, 4)
        return np.asarray(self._fields().curvatures(self._tables, q, self._arrays["bend"], self._stations(count)))

    def tensions(self, count: int = 200) -> FloatArray:
        """Tension EA ε at the places of `centerline`: (count,), N; negative where the rod is pushed."""
        q = self._arrays["q"].reshape(-1, 4)
        return np.asarray(self._fields().tensions(self._tables, q, self._stations(count)))

    @property
    def minimum_bend_radius(self) -> float:
        """The smallest radius to which it is bent anywhere, m; inf if it is straight."""
        q = self._arrays["q"].reshape(-1, 4)
        if self.model == "discrete":
            return float(discrete_fields.minimum_bend_radius(self._tables, q, self._arrays["bend"]))
        return float(spline_fields.minimum_bend_radius(self._tables, q))

    @property
    def energy(self) -> RodEnergy:
        """Elastic energy by what is strained, J."""
        t, q, bend, stretch = self._tables, self._arrays["q"], self._arrays["bend"], self._arrays["stretch"]
        measure = energy_spline if t.model == "spline" else energy_discrete
        parts = measure(q, 0, t.n, int(t.closed), t.constants.reshape(1, -1), 0, t.bend_table, t.bend_span, bend, 0,
                       len(bend), t.stretch_table, t.stretch_span, stretch, 0, len(stretch))  # fmt: skip
        return RodEnergy(*map(float, parts))

    @property
    def mass(self) -> float:
        """Kg."""
        return float(self._tables.mass_table[:, 8].sum())


def _check_model(model: object, *, closed: bool) -> None:
    validation.choice("model", model, ("spline", "discrete"))
    if model == "discrete" and closed:
        raise InputError('a discrete rod is open: use model="spline" for a closed one')
